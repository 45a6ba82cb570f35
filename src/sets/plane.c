// SPDX-License-Identifier: Apache-2.0
// Convex hulls in the plane by Qhull, which accepts neither flat sets nor single points: those are found first.
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "carom/sets.h"
#include "sets/hull.h"

// Coordinates that differ by less than this, relative to the extent of the set, count as equal.
#define EQUAL 1e-12
// A set whose extent is within the rounding of its coordinates is one point.
#define ROUNDING 1e-15

// A set with the frame that maps it onto [0,1]^2, one scale for both axes.
typedef struct point_set {
    const double *x, *y;
    int64_t count;
    double left, bottom, extent;
} point_set;

static point_set frame_points(const double *x, const double *y, int64_t count) {
    double low[2] = {x[0], y[0]}, high[2] = {x[0], y[0]};
    for (int64_t i = 1; i < count; i++) {
        low[0] = fmin(low[0], x[i]);
        high[0] = fmax(high[0], x[i]);
        low[1] = fmin(low[1], y[i]);
        high[1] = fmax(high[1], y[i]);
    }
    return (point_set){x, y, count, low[0], low[1], fmax(high[0] - low[0], high[1] - low[1])};
}

static double distance(const point_set *set, int64_t a, int64_t b) { return hypot(set->x[b] - set->x[a], set->y[b] - set->y[a]); }

static int64_t farthest_from(const point_set *set, int64_t point) {
    int64_t farthest = point;
    for (int64_t i = 0; i < set->count; i++)
        if (distance(set, point, i) > distance(set, point, farthest)) farthest = i;
    return farthest;
}

// Distance of c from the line through a and b, positive on its left. Directions first, so that tiny and huge sets neither vanish nor
// overflow.
static double offset_from_line(const point_set *set, int64_t a, int64_t b, int64_t c) {
    const double length = distance(set, a, b);
    const double dx = (set->x[b] - set->x[a]) / length, dy = (set->y[b] - set->y[a]) / length;
    return dx * (set->y[c] - set->y[a]) - dy * (set->x[c] - set->x[a]);
}

static bool is_flat(const point_set *set, int64_t a, int64_t b) {
    for (int64_t i = 0; i < set->count; i++)
        if (fabs(offset_from_line(set, a, b, i)) > EQUAL * set->extent) return false;
    return true;
}

// A vertex with its direction as seen from inside the hull.
typedef struct corner {
    double angle;
    int64_t point;
} corner;

static int compare_corners(const void *first, const void *second) {
    const corner *a = first, *b = second;
    return a->angle < b->angle ? -1 : a->angle > b->angle ? 1 : a->point < b->point ? -1 : a->point > b->point;
}

// Vertices in the order of their angles around a point inside, counter-clockwise.
static void sort_vertices(const point_set *set, int64_t *hull, int64_t vertices, corner *corners) {
    double x = 0, y = 0;
    for (int64_t i = 0; i < vertices; i++) {
        x += set->x[hull[i]] / (double)vertices;
        y += set->y[hull[i]] / (double)vertices;
    }
    for (int64_t i = 0; i < vertices; i++) corners[i] = (corner){atan2(set->y[hull[i]] - y, set->x[hull[i]] - x), hull[i]};
    qsort(corners, (size_t)vertices, sizeof *corners, compare_corners);
    for (int64_t i = 0; i < vertices; i++) hull[i] = corners[i].point;
}

// Drops vertices that lie on the line between their neighbours; Qhull keeps some where it merged facets.
static int64_t drop_flat_corners(const point_set *set, int64_t *hull, int64_t vertices) {
    for (int64_t i = 0; i < vertices && vertices > 3;) {
        const int64_t before = hull[(i + vertices - 1) % vertices], after = hull[(i + 1) % vertices];
        if (offset_from_line(set, before, after, hull[i]) < -EQUAL * set->extent) {
            i++;
            continue;
        }
        for (int64_t k = i; k + 1 < vertices; k++) hull[k] = hull[k + 1];
        vertices--;
        // The neighbour in front may have become flat.
        if (i > 0) i--;
    }
    return vertices;
}

// The points that are on a facet; `hull` receives each once.
static carom_status collect_vertices(const point_set *set, const int *facets, int facet_count, int64_t *hull, int64_t *vertices,
                                     carom_error *error) {
    bool *taken = calloc((size_t)set->count, sizeof *taken);
    if (!taken) return carom_fail_memory(error, "convex hull");
    for (int i = 0; i < 2 * facet_count; i++) {
        if (!taken[facets[i]]) hull[(*vertices)++] = facets[i];
        taken[facets[i]] = true;
    }
    free(taken);
    return CAROM_OK;
}

static carom_status find_vertices(const point_set *set, int64_t *hull, int64_t *vertices, carom_error *error) {
    double *points = malloc((size_t)set->count * 2 * sizeof *points);
    if (!points) return carom_fail_memory(error, "convex hull");
    for (int64_t i = 0; i < set->count; i++) {
        points[2 * i] = (set->x[i] - set->left) / set->extent;
        points[2 * i + 1] = (set->y[i] - set->bottom) / set->extent;
    }
    int *facets, facet_count;
    carom_status status = carom_hull_facets(2, (int)set->count, points, &facets, &facet_count, error);
    if (!status) status = collect_vertices(set, facets, facet_count, hull, vertices, error);
    free(facets);
    free(points);
    return status;
}

static carom_status hull_of_full_set(const point_set *set, int64_t *hull, int64_t *vertices, carom_error *error) {
    const carom_status status = find_vertices(set, hull, vertices, error);
    if (status) return status;

    corner *corners = malloc((size_t)*vertices * sizeof *corners + 1);
    if (!corners) {
        *vertices = 0;
        return carom_fail_memory(error, "convex hull");
    }
    sort_vertices(set, hull, *vertices, corners);
    free(corners);
    *vertices = drop_flat_corners(set, hull, *vertices);
    return CAROM_OK;
}

carom_status carom_plot_hull(const double *x, const double *y, int64_t count, int64_t *hull, int64_t *vertices, carom_error *error) {
    *vertices = 0;
    if (count < 1) return CAROM_OK;
    if (count > INT_MAX) return carom_fail(error, CAROM_BAD_INPUT, "convex hull: %lld points are too many", (long long)count);
    if (!carom_all_finite((size_t)count, x) || !carom_all_finite((size_t)count, y))
        return carom_fail(error, CAROM_BAD_INPUT, "convex hull: a coordinate is not finite");
    const point_set set = frame_points(x, y, count);
    if (!isfinite(set.extent)) return carom_fail(error, CAROM_BAD_INPUT, "convex hull: the coordinates are too far apart");

    const double largest = fmax(carom_max_abs((size_t)count, x), carom_max_abs((size_t)count, y));
    const int64_t a = farthest_from(&set, 0), b = farthest_from(&set, a);
    hull[0] = a;
    *vertices = 1;
    if (set.extent <= ROUNDING * largest || a == b) return CAROM_OK;
    if (is_flat(&set, a, b)) {
        hull[1] = b;
        *vertices = 2;
        return CAROM_OK;
    }
    *vertices = 0;
    return hull_of_full_set(&set, hull, vertices, error);
}
