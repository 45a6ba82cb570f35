// SPDX-License-Identifier: Apache-2.0
// Corners of flat patches of contacts: of many points of two bodies in one plane, the corners say the same.
//
// A point p of a patch with normal n has the normal row n.(J_2(p) - J_1(p)), which is affine in p across the normal and does not change
// along it. A point within the convex hull of the corners p_k, p = sum w_k p_k, therefore has the row sum w_k (row of p_k): it neither
// forbids a motion that the corners allow, nor exerts a normal impulse that they cannot.
#include <math.h>
#include <stdlib.h>

#include "carom/impact.h"

// Corners that are this close to the line between their neighbours, relative to the size of the patch, are round-off of it.
#define ON_THE_LINE 1e-9

// Distances that differ by less than this share are equal but for round-off: of symmetric corners the first around the patch is taken.
#define EQUAL_DISTANCES 1e-9
// The axes are turned by this [rad], so that corners along the sides of usual shapes do not have the same x, in an order of round-off.
#define TURN 0.6

// A point of a patch in its plane.
typedef struct corner {
    double x, y;
    int index;
} corner;

static int compare_corners(const void *left, const void *right) {
    const corner *a = left, *b = right;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    if (a->y != b->y) return a->y < b->y ? -1 : 1;
    return a->index - b->index;
}

static double distance_of(const corner *a, const corner *b) { return hypot(a->x - b->x, a->y - b->y); }

// Twice the area of the triangle; positive when it turns left.
static double turn_of(const corner *a, const corner *b, const corner *c) {
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

// How far p is from the segment between a and b.
static double distance_from_segment(const corner *p, const corner *a, const corner *b) {
    const double dx = b->x - a->x, dy = b->y - a->y, square = dx * dx + dy * dy;
    const double along = square > 0 ? fmin(1, fmax(0, ((p->x - a->x) * dx + (p->y - a->y) * dy) / square)) : 0;
    return hypot(p->x - a->x - along * dx, p->y - a->y - along * dy);
}

// The corners of the convex hull, counter-clockwise, into `hull` ([count + 1]); sorts the points (Andrew's monotone chain).
static int find_hull(corner *points, int count, corner *hull) {
    qsort(points, (size_t)count, sizeof *points, compare_corners);
    int size = 0;
    for (int pass = 0, least = 1; pass < 2; pass++, least = size) {
        // The lower chain from left to right, then the upper one back; each ends where the other starts.
        for (int i = 0; i < count; i++) {
            const corner *next = &points[pass ? count - 1 - i : i];
            while (size > least && turn_of(&hull[size - 2], &hull[size - 1], next) <= 0) size--;
            if (!(pass && i == 0)) hull[size++] = *next;
        }
    }
    return count > 1 ? size - 1 : size;
}

// Removes corners on a line with their neighbours.
static int straighten(corner *hull, int count) {
    double size = 0;
    for (int i = 1; i < count; i++) size = fmax(size, distance_of(&hull[0], &hull[i]));
    for (int i = 0; i < count && count > 2;) {
        const corner *before = &hull[(i + count - 1) % count], *after = &hull[(i + 1) % count];
        if (distance_from_segment(&hull[i], before, after) > ON_THE_LINE * size) {
            i++;
            continue;
        }
        for (int k = i; k + 1 < count; k++) hull[k] = hull[k + 1];
        count--;
    }
    return count;
}

// Marks corners to keep, the farthest from the middle first, then always the farthest from those that are kept, until all others are
// closer than `distance` to one of them. So neither the order of the points nor where a count starts decides.
static void thin_out(const corner *hull, int count, double distance, bool *kept) {
    corner middle = {0};
    for (int i = 0; i < count; i++) {
        middle.x += hull[i].x / count;
        middle.y += hull[i].y / count;
    }
    for (int chosen = 0; chosen < count; chosen++) {
        const corner *farthest = NULL;
        double most = 0;
        for (int i = 0; i < count; i++) {
            double nearest = chosen ? HUGE_VAL : distance_of(&hull[i], &middle);
            for (int k = 0; k < count && chosen; k++)
                if (kept[hull[k].index]) nearest = fmin(nearest, distance_of(&hull[i], &hull[k]));
            if (!farthest || nearest > most * (1 + EQUAL_DISTANCES)) {
                farthest = &hull[i];
                most = nearest;
            }
        }
        if (chosen && most < distance) return;
        kept[farthest->index] = true;
    }
}

carom_status carom_patch_corners(int count, const double *points, double distance, bool *kept, carom_error *error) {
    carom_arena arena = {0};
    corner *own = carom_arena_take(&arena, (size_t)count, sizeof *own), *hull = carom_arena_take(&arena, (size_t)count + 1, sizeof *hull);
    const carom_status status = arena.failed ? carom_fail_memory(error, "patch of contacts") : CAROM_OK;
    const double cosine = cos(TURN), sine = sin(TURN);
    for (int i = 0; i < count && !status; i++) {
        const double *p = points + 2 * i;
        own[i] = (corner){cosine * p[0] - sine * p[1], sine * p[0] + cosine * p[1], i};
        kept[i] = false;
    }
    if (!status) thin_out(hull, straighten(hull, find_hull(own, count, hull)), distance, kept);
    carom_arena_free(&arena);
    return status;
}
