// SPDX-License-Identifier: Apache-2.0
// Convex hulls in any dimension: triangulations and volumes, from Qhull's facets.
//
// Qhull computes in the affine hull of the points, scaled to the order of 1, because its tolerances are absolute and it refuses flat sets.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/set.h"

// A set that is thinner than this share of its extent in some direction is flat there.
#define FLAT 1e-9

// ------------------------------------------------------------------------------------------------------- triangulations

// The affine hull of points, which Qhull needs for flat sets: it refuses those that do not span their space.
typedef struct affine_hull {
    int width, dimension;
    const double *points;
    double *basis;  // [width x width], orthonormal rows, `dimension` of them
} affine_hull;

// Writes the part of a point's offset from the first one that is orthogonal to the basis, and returns its length.
static double find_remainder(const affine_hull *hull, int point, double *offset) {
    const int width = hull->width;
    for (int k = 0; k < width; k++) offset[k] = hull->points[(size_t)point * (size_t)width + (size_t)k] - hull->points[k];
    // Twice is enough for orthogonality to rounding.
    for (int pass = 0; pass < 2; pass++)
        for (int b = 0; b < hull->dimension; b++) {
            const double *row = hull->basis + (size_t)b * (size_t)width, along = carom_dot(width, row, offset);
            for (int k = 0; k < width; k++) offset[k] -= along * row[k];
        }
    return sqrt(carom_dot(width, offset, offset));
}

// Coordinates of the points in their affine hull, scaled to the order of 1, into `coordinates` [count x dimension]. Returns the dimension.
static int flatten(affine_hull *hull, int count, double *offset, double *coordinates) {
    const size_t width = (size_t)hull->width;
    double extent = 0;
    while (hull->dimension < hull->width) {
        // The next direction is that of the point farthest from the flat so far, until all lie in it.
        double *row = hull->basis + (size_t)hull->dimension * width, most = 0;
        int farthest = 0;
        for (int i = 1; i < count; i++) {
            const double distance = find_remainder(hull, i, row);
            if (distance > most) {
                most = distance;
                farthest = i;
            }
        }
        if (!hull->dimension) extent = most;
        if (!(most > FLAT * extent)) break;
        find_remainder(hull, farthest, row);
        for (size_t k = 0; k < width; k++) row[k] /= most;
        hull->dimension++;
    }
    // x_i = B (p_i - p_0) / extent.
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < width; k++) offset[k] = hull->points[(size_t)i * width + k] - hull->points[k];
        for (int b = 0; b < hull->dimension; b++)
            coordinates[i * hull->dimension + b] = carom_dot(hull->width, hull->basis + (size_t)b * width, offset) / extent;
    }
    return hull->dimension;
}

carom_status carom_hull_triangulate(int width, int count, const double *points, const carom_control *control, carom_arena *arena,
                                    carom_triangulation *triangulation, carom_error *error) {
    *triangulation = (carom_triangulation){0};
    affine_hull hull = {.width = width, .points = points};
    hull.basis = carom_arena_take(arena, (size_t)width * (size_t)width, sizeof *hull.basis);
    double *offset = carom_arena_take(arena, (size_t)width, sizeof *offset);
    double *coordinates = carom_arena_take(arena, (size_t)count * (size_t)width, sizeof *coordinates);
    if (arena->failed) return carom_fail_memory(error, "convex hull");
    const int dimension = flatten(&hull, count, offset, coordinates);
    triangulation->size = dimension + 1;

    if (dimension < 2) {
        // Points on a line: from the least to the largest coordinate. A single point: itself.
        int *ends = triangulation->corners = carom_arena_take(arena, (size_t)triangulation->size, sizeof *ends);
        if (!ends) return carom_fail_memory(error, "convex hull");
        triangulation->count = 1;
        for (int i = 1; i < count && dimension; i++) {
            if (coordinates[i] < coordinates[ends[0]]) ends[0] = i;
            if (coordinates[i] > coordinates[ends[1]]) ends[1] = i;
        }
        return CAROM_OK;
    }
    if (dimension > CAROM_HULL_MOST_DIMENSIONS)
        return carom_fail(error, CAROM_UNSUPPORTED, "convex hull: %d dimensions are more than %d", dimension, CAROM_HULL_MOST_DIMENSIONS);

    // Pyramids over the facets with one vertex of the hull as their common tip.
    carom_facets facets;
    const carom_status status = carom_hull_facets(dimension, count, coordinates, control, arena, &facets, error);
    if (status) return status;
    triangulation->interrupted = facets.interrupted;
    const size_t simplex = (size_t)triangulation->size;
    triangulation->corners = carom_arena_take(arena, (size_t)facets.count * simplex, sizeof *triangulation->corners);
    if (!triangulation->corners) return carom_fail_memory(error, "convex hull");
    const int tip = facets.corners[0];
    for (int f = 0; f < facets.count; f++) {
        const int *facet = facets.corners + f * dimension;
        bool has_tip = false;
        for (int i = 0; i < dimension; i++) has_tip = has_tip || facet[i] == tip;
        if (has_tip) continue;
        int *corners = triangulation->corners + (size_t)triangulation->count++ * simplex;
        corners[0] = tip;
        memcpy(corners + 1, facet, (size_t)dimension * sizeof *corners);
    }
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- volume

carom_status carom_hull_volume(int dimension, int64_t count, const double *points, const carom_control *control, double *volume,
                               carom_error *error) {
    // Flat sets have no volume, and bad input none either.
    *volume = 0;
    if (dimension < 1 || dimension > CAROM_HULL_MOST_DIMENSIONS)
        return carom_fail(error, CAROM_BAD_INPUT, "convex hull: the number of dimensions, %d, is not between 1 and %d", dimension,
                          CAROM_HULL_MOST_DIMENSIONS);
    if (count < 1 || count > INT_MAX)
        return carom_fail(error, CAROM_BAD_INPUT, "convex hull: the number of points, %lld, is not between 1 and 2^31", (long long)count);
    const size_t d = (size_t)dimension;
    if (!carom_all_finite((size_t)count * d, points)) return carom_fail(error, CAROM_BAD_INPUT, "convex hull: a coordinate is not finite");
    carom_arena arena = {0};
    carom_triangulation cells;
    const carom_status status = carom_hull_triangulate(dimension, (int)count, points, control, &arena, &cells, error);
    // The volume of a simplex is |det| of its edges from one corner, over dimension!.
    double edges[CAROM_HULL_MOST_DIMENSIONS * CAROM_HULL_MOST_DIMENSIONS];
    int exchanges[CAROM_HULL_MOST_DIMENSIONS];
    for (int i = 0; !status && i < cells.count && cells.size == dimension + 1; i++) {
        const int *corners = cells.corners + i * cells.size;
        for (size_t a = 0; a < d; a++)
            for (size_t k = 0; k < d; k++) edges[a * d + k] = points[(size_t)corners[a + 1] * d + k] - points[(size_t)corners[0] * d + k];
        if (!carom_lu_factor(dimension, edges, exchanges)) continue;
        double product = 1;
        for (size_t a = 0; a < d; a++) product *= edges[a * d + a] / (double)(a + 1);
        *volume += fabs(product);
    }
    if (cells.interrupted) *volume = NAN;
    carom_arena_free(&arena);
    return status;
}
