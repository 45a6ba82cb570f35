// SPDX-License-Identifier: Apache-2.0
// Convex hulls by Qhull in any dimension. Flat sets, which Qhull refuses, are put into coordinates of their affine hull first.
#include "sets/hull.h"

#include <libqhull_r/libqhull_r.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/sets.h"

// A set that is thinner than this share of its extent in some direction is flat there.
#define FLAT 1e-9

// --------------------------------------------------------------------------------------------------------------- Qhull

static carom_status copy_facets(qhT *qh, int dimension, int **facets, int *facet_count, carom_error *error) {
    facetT *facet;
    vertexT *vertex, **vertexp;
    int count = 0;
    FORALLfacets count++;
    *facets = malloc((size_t)count * (size_t)dimension * sizeof **facets + 1);
    if (!*facets) return carom_fail_memory(error, "convex hull");
    int *corner = *facets;
    FORALLfacets {
        // Qt leaves simplices only; a facet that rounding kept from being one is cut to one.
        int taken = 0;
        FOREACHvertex_(facet->vertices) {
            if (taken++ < dimension) *corner++ = qh_pointid(qh, vertex->point);
        }
        if (taken < dimension) return carom_fail(error, CAROM_INTERNAL, "convex hull: a facet has too few vertices");
    }
    *facet_count = count;
    return CAROM_OK;
}

static carom_status run_qhull(int dimension, int count, coordT *points, FILE *messages, int **facets, int *facet_count,
                              carom_error *error) {
    qhT state;
    qhT *qh = &state;
    qh_zero(qh, messages);
    char command[] = "qhull Qt Pp";
    const int failure = qh_new_qhull(qh, dimension, count, points, False, command, NULL, messages);
    const carom_status status = failure ? carom_fail(error, CAROM_INTERNAL, "convex hull: Qhull failed with exit code %d", failure)
                                        : copy_facets(qh, dimension, facets, facet_count, error);
    qh_freeqhull(qh, qh_ALL);
    int leaked_blocks, leaked_bytes;
    qh_memfreeshort(qh, &leaked_blocks, &leaked_bytes);
    return status;
}

carom_status carom_hull_facets(int dimension, int count, const double *points, int **facets, int *facet_count, carom_error *error) {
    *facets = NULL;
    *facet_count = 0;
    // Qhull prints its messages to stderr unless it is given a file for them, and may exchange coordinates of its points.
    char *text = NULL;
    size_t size = 0;
    const size_t bytes = (size_t)count * (size_t)dimension * sizeof(coordT);
    FILE *messages = open_memstream(&text, &size);
    coordT *copy = malloc(bytes + 1);
    carom_status status = messages && copy ? CAROM_OK : carom_fail_memory(error, "convex hull");
    if (!status) {
        memcpy(copy, points, bytes);
        status = run_qhull(dimension, count, copy, messages, facets, facet_count, error);
    }
    if (messages) fclose(messages);
    free(text);
    free(copy);
    if (status) {
        free(*facets);
        *facets = NULL;
    }
    return status;
}

// --------------------------------------------------------------------------------------------------------- affine hulls

// Points in coordinates of their affine hull, scaled to the order of 1.
typedef struct flat_points {
    int width, count, dimension;
    const double *points;
    double extent;
    double *basis;        // [width x width], orthonormal rows, `dimension` of them
    double *coordinates;  // [count x dimension]
} flat_points;

// The part of a point's offset from the first one that is orthogonal to the basis; its length.
static double remainder_of(const flat_points *flat, int point, double *offset) {
    const int width = flat->width;
    for (int k = 0; k < width; k++) offset[k] = flat->points[(size_t)point * (size_t)width + (size_t)k] - flat->points[k];
    // Twice is enough for orthogonality to rounding.
    for (int pass = 0; pass < 2; pass++)
        for (int b = 0; b < flat->dimension; b++) {
            const double *row = flat->basis + (size_t)b * (size_t)width, along = carom_dot(width, row, offset);
            for (int k = 0; k < width; k++) offset[k] -= along * row[k];
        }
    return sqrt(carom_dot(width, offset, offset));
}

// Adds the direction of the point farthest from the flat so far; false when all lie in it.
static bool extend_basis(flat_points *flat) {
    double *row = flat->basis + (size_t)flat->dimension * (size_t)flat->width, most = 0;
    int farthest = 0;
    for (int i = 1; i < flat->count; i++) {
        const double distance = remainder_of(flat, i, row);
        if (distance > most) {
            most = distance;
            farthest = i;
        }
    }
    if (!flat->dimension) flat->extent = most;
    if (!(most > FLAT * flat->extent)) return false;
    remainder_of(flat, farthest, row);
    for (int k = 0; k < flat->width; k++) row[k] /= most;
    flat->dimension++;
    return true;
}

static carom_status flatten(flat_points *flat, carom_error *error) {
    const size_t width = (size_t)flat->width;
    flat->basis = malloc(width * width * sizeof *flat->basis);
    flat->coordinates = malloc((size_t)flat->count * width * sizeof *flat->coordinates);
    double *offset = malloc(width * sizeof *offset);
    carom_status status = flat->basis && flat->coordinates && offset ? CAROM_OK : carom_fail_memory(error, "convex hull");
    while (!status && flat->dimension < flat->width && extend_basis(flat)) continue;
    for (int i = 0; !status && i < flat->count; i++) {
        for (size_t k = 0; k < width; k++) offset[k] = flat->points[(size_t)i * width + k] - flat->points[k];
        for (int b = 0; b < flat->dimension; b++)
            flat->coordinates[i * flat->dimension + b] = carom_dot(flat->width, flat->basis + (size_t)b * width, offset) / flat->extent;
    }
    free(offset);
    return status;
}

static void release_flat(flat_points *flat) {
    free(flat->basis);
    free(flat->coordinates);
}

// ------------------------------------------------------------------------------------------------------- triangulations

static bool contains(const int *corners, int count, int point) {
    for (int i = 0; i < count; i++)
        if (corners[i] == point) return true;
    return false;
}

// Pyramids over the facets with one vertex of the hull as their common tip.
static carom_status raise_pyramids(int dimension, const int *facets, int facet_count, carom_triangulation *made, carom_error *error) {
    const int tip = facets[0];
    made->corners = malloc((size_t)facet_count * (size_t)made->size * sizeof *made->corners);
    if (!made->corners) return carom_fail_memory(error, "convex hull");
    for (int f = 0; f < facet_count; f++) {
        const int *facet = facets + f * dimension;
        if (contains(facet, dimension, tip)) continue;
        int *corners = made->corners + made->count++ * made->size;
        corners[0] = tip;
        memcpy(corners + 1, facet, (size_t)dimension * sizeof *corners);
    }
    return CAROM_OK;
}

// Points on a line: from the least to the largest coordinate. A single point: itself.
static carom_status span_line(const flat_points *flat, carom_triangulation *made, carom_error *error) {
    made->corners = calloc((size_t)made->size, sizeof *made->corners);
    if (!made->corners) return carom_fail_memory(error, "convex hull");
    made->count = 1;
    for (int i = 1; i < flat->count && flat->dimension; i++) {
        if (flat->coordinates[i] < flat->coordinates[made->corners[0]]) made->corners[0] = i;
        if (flat->coordinates[i] > flat->coordinates[made->corners[1]]) made->corners[1] = i;
    }
    return CAROM_OK;
}

static carom_status triangulate_flat(const flat_points *flat, carom_triangulation *made, carom_error *error) {
    made->size = flat->dimension + 1;
    if (flat->dimension < 2) return span_line(flat, made, error);
    if (flat->dimension > CAROM_HULL_MOST_DIMENSIONS)
        return carom_fail(error, CAROM_UNSUPPORTED, "convex hull: %d dimensions are more than %d", flat->dimension,
                          CAROM_HULL_MOST_DIMENSIONS);
    int *facets, facet_count;
    carom_status status = carom_hull_facets(flat->dimension, flat->count, flat->coordinates, &facets, &facet_count, error);
    if (!status) status = raise_pyramids(flat->dimension, facets, facet_count, made, error);
    free(facets);
    return status;
}

carom_status carom_hull_triangulate(int width, int count, const double *points, carom_triangulation *triangulation, carom_error *error) {
    *triangulation = (carom_triangulation){0};
    flat_points flat = {.width = width, .count = count, .points = points};
    carom_status status = flatten(&flat, error);
    if (!status) status = triangulate_flat(&flat, triangulation, error);
    release_flat(&flat);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- volume

// |det| of the edges from the first corner over dimension!.
static double simplex_volume(int dimension, const double *points, const int *corners, double *edges, int *exchanges) {
    const size_t d = (size_t)dimension;
    for (size_t a = 0; a < d; a++)
        for (size_t k = 0; k < d; k++) edges[a * d + k] = points[(size_t)corners[a + 1] * d + k] - points[(size_t)corners[0] * d + k];
    if (!carom_lu_factor(dimension, edges, exchanges)) return 0;
    double volume = 1;
    for (size_t a = 0; a < d; a++) volume *= edges[a * d + a] / (double)(a + 1);
    return fabs(volume);
}

carom_status carom_hull_volume(int dimension, int64_t count, const double *points, double *volume, carom_error *error) {
    *volume = 0;
    if (dimension < 1 || dimension > CAROM_HULL_MOST_DIMENSIONS)
        return carom_fail(error, CAROM_BAD_INPUT, "convex hull: the number of dimensions, %d, is not between 1 and %d", dimension,
                          CAROM_HULL_MOST_DIMENSIONS);
    if (count < 1 || count > INT_MAX)
        return carom_fail(error, CAROM_BAD_INPUT, "convex hull: the number of points, %lld, is not between 1 and 2^31", (long long)count);
    if (!carom_all_finite((size_t)count * (size_t)dimension, points))
        return carom_fail(error, CAROM_BAD_INPUT, "convex hull: a coordinate is not finite");
    carom_triangulation cells;
    carom_status status = carom_hull_triangulate(dimension, (int)count, points, &cells, error);
    double *edges = malloc((size_t)dimension * (size_t)dimension * sizeof *edges);
    int *exchanges = malloc((size_t)dimension * sizeof *exchanges);
    if (!status && (!edges || !exchanges)) status = carom_fail_memory(error, "convex hull");
    for (int i = 0; !status && i < cells.count && cells.size == dimension + 1; i++)
        *volume += simplex_volume(dimension, points, cells.corners + i * cells.size, edges, exchanges);
    free(cells.corners);
    free(edges);
    free(exchanges);
    return status;
}
