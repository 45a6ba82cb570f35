// SPDX-License-Identifier: Apache-2.0
// Convex hulls in the plane, as lists of vertices that go around. Qhull accepts neither flat sets nor single points: those are found first.
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "carom/sets.h"

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

static double distance(const point_set *set, int64_t a, int64_t b) { return hypot(set->x[b] - set->x[a], set->y[b] - set->y[a]); }

// The first of the points that are farthest from one.
static int64_t farthest_from(const point_set *set, int64_t point) {
    int64_t farthest = point;
    for (int64_t i = 0; i < set->count; i++)
        if (distance(set, point, i) > distance(set, point, farthest)) farthest = i;
    return farthest;
}

// Distance of c from the line through a and b, positive on its left. The direction is normalised first, so that tiny and huge sets neither
// vanish nor overflow.
static double offset_from_line(const point_set *set, int64_t a, int64_t b, int64_t c) {
    const double length = distance(set, a, b);
    const double dx = (set->x[b] - set->x[a]) / length, dy = (set->y[b] - set->y[a]) / length;
    return dx * (set->y[c] - set->y[a]) - dy * (set->x[c] - set->x[a]);
}

// A vertex with its direction as seen from inside the hull.
typedef struct corner {
    double angle;
    int64_t point;
} corner;

// By angle; equal angles in the order of the points, so that results do not depend on qsort.
static int compare_corners(const void *a, const void *b) {
    const corner *p = a, *q = b;
    if (p->angle != q->angle) return p->angle < q->angle ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

// The hull of a set that has an area.
static carom_status find_hull(const point_set *set, int64_t *hull, int64_t *vertices, carom_error *error) {
    carom_arena arena = {0};
    double *points = carom_arena_take(&arena, 2 * (size_t)set->count, sizeof *points);
    bool *taken = carom_arena_take(&arena, (size_t)set->count, sizeof *taken);
    corner *corners = carom_arena_take(&arena, (size_t)set->count, sizeof *corners);
    carom_status status = arena.failed ? carom_fail_memory(error, "convex hull") : CAROM_OK;
    // In the frame [0,1]^2, for Qhull's tolerances.
    for (int64_t i = 0; !status && i < set->count; i++) {
        points[2 * i] = (set->x[i] - set->left) / set->extent;
        points[2 * i + 1] = (set->y[i] - set->bottom) / set->extent;
    }
    carom_facets facets = {0};
    if (!status) status = carom_hull_facets(2, (int)set->count, points, NULL, &arena, &facets, error);

    // The end points of its edges, each once.
    int64_t count = 0;
    for (int i = 0; !status && i < 2 * facets.count; i++) {
        if (!taken[facets.corners[i]]) hull[count++] = facets.corners[i];
        taken[facets.corners[i]] = true;
    }

    // In the order of their angles around their mean, which lies inside: counter-clockwise.
    double x = 0, y = 0;
    for (int64_t i = 0; i < count; i++) {
        x += set->x[hull[i]] / (double)count;
        y += set->y[hull[i]] / (double)count;
    }
    for (int64_t i = 0; i < count; i++) corners[i] = (corner){atan2(set->y[hull[i]] - y, set->x[hull[i]] - x), hull[i]};
    if (count) qsort(corners, (size_t)count, sizeof *corners, compare_corners);
    for (int64_t i = 0; i < count; i++) hull[i] = corners[i].point;

    // Drop vertices that lie on the line between their neighbours; Qhull keeps some where it merged facets.
    for (int64_t i = 0; i < count && count > 3;) {
        const int64_t before = hull[(i + count - 1) % count], after = hull[(i + 1) % count];
        if (offset_from_line(set, before, after, hull[i]) < -EQUAL * set->extent) {
            i++;
            continue;
        }
        for (int64_t k = i; k + 1 < count; k++) hull[k] = hull[k + 1];
        count--;
        if (i > 0) i--;  // the neighbour in front may have become flat
    }
    carom_arena_free(&arena);
    *vertices = count;
    return status;
}

carom_status carom_hull_plane(const double *x, const double *y, int64_t count, int64_t *hull, int64_t *vertices, carom_error *error) {
    *vertices = 0;
    if (count < 1) return CAROM_OK;
    if (count > INT_MAX) return carom_fail(error, CAROM_BAD_INPUT, "convex hull: %lld points are too many", (long long)count);
    if (!carom_all_finite((size_t)count, x) || !carom_all_finite((size_t)count, y))
        return carom_fail(error, CAROM_BAD_INPUT, "convex hull: a coordinate is not finite");
    double low[2] = {x[0], y[0]}, high[2] = {x[0], y[0]};
    for (int64_t i = 1; i < count; i++) {
        low[0] = fmin(low[0], x[i]);
        high[0] = fmax(high[0], x[i]);
        low[1] = fmin(low[1], y[i]);
        high[1] = fmax(high[1], y[i]);
    }
    const point_set set = {x, y, count, low[0], low[1], fmax(high[0] - low[0], high[1] - low[1])};
    if (!isfinite(set.extent)) return carom_fail(error, CAROM_BAD_INPUT, "convex hull: the coordinates are too far apart");

    // A single point, or a segment between the two points that are farthest apart when no point lies off the line through them.
    const double largest = fmax(carom_max_abs((size_t)count, x), carom_max_abs((size_t)count, y));
    const int64_t a = farthest_from(&set, 0), b = farthest_from(&set, a);
    hull[0] = a;
    *vertices = 1;
    if (set.extent <= ROUNDING * largest || a == b) return CAROM_OK;
    for (int64_t i = 0; i < count; i++)
        if (fabs(offset_from_line(&set, a, b, i)) > EQUAL * set.extent) return find_hull(&set, hull, vertices, error);
    hull[1] = b;
    *vertices = 2;
    return CAROM_OK;
}
