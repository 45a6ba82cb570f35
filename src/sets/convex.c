// SPDX-License-Identifier: Apache-2.0
// The nearest point of a convex hull: P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11 (1976).
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/set.h"

// The duality gap of the answer, as a share of its length times the largest offset: the rounding of the products that it is made of.
#define GAP 1e-14
// An edge that sticks out of the flat of the others by less than this share of its length does not count as independent of it.
#define DEPENDENT 1e-12

// More than any run needs; rounding may make points enter and leave in turn.
enum { MOST_ROUNDS = 1000, MOST_CORNERS = CAROM_SET_MOST_DIMENSIONS + 1 };

// The corral: affinely independent points whose convex hull holds the current point.
typedef struct corral {
    int dimension, count;
    const double *points, *x;
    const double *corners[MOST_CORNERS];
    double weights[MOST_CORNERS];
    double current[CAROM_SET_MOST_DIMENSIONS];  // nearest point found so far, minus x
} corral;

static void update_current(corral *c) {
    for (int k = 0; k < c->dimension; k++) {
        c->current[k] = 0;
        for (int i = 0; i < c->count; i++) c->current[k] += c->weights[i] * (c->corners[i][k] - c->x[k]);
    }
}

// Weights, summing to one, of the point of least norm in the affine hull of the corral, by modified Gram-Schmidt on its edges.
// False when the last corner depends on the others.
static bool minimise_affine(const corral *c, double weights[MOST_CORNERS]) {
    const int d = c->dimension, edges = c->count - 1;
    double Q[CAROM_SET_MOST_DIMENSIONS][CAROM_SET_MOST_DIMENSIONS], R[CAROM_SET_MOST_DIMENSIONS][CAROM_SET_MOST_DIMENSIONS];
    double rest[CAROM_SET_MOST_DIMENSIONS];
    for (int k = 0; k < d; k++) rest[k] = c->x[k] - c->corners[0][k];
    for (int e = 0; e < edges; e++) {
        for (int k = 0; k < d; k++) Q[e][k] = c->corners[e + 1][k] - c->corners[0][k];
        const double length = sqrt(carom_dot(d, Q[e], Q[e]));
        for (int b = 0; b < e; b++) {
            R[b][e] = carom_dot(d, Q[b], Q[e]);
            for (int k = 0; k < d; k++) Q[e][k] -= R[b][e] * Q[b][k];
        }
        R[e][e] = sqrt(carom_dot(d, Q[e], Q[e]));
        if (!(R[e][e] > DEPENDENT * length)) return false;
        for (int k = 0; k < d; k++) Q[e][k] /= R[e][e];
        weights[e + 1] = carom_dot(d, Q[e], rest);
        for (int k = 0; k < d; k++) rest[k] -= weights[e + 1] * Q[e][k];
    }
    weights[0] = 1;
    for (int e = edges; e >= 1; e--) {
        for (int b = e + 1; b <= edges; b++) weights[e] -= R[e - 1][b - 1] * weights[b];
        weights[e] /= R[e - 1][e - 1];
        weights[0] -= weights[e];
    }
    return true;
}

static void drop_corner(corral *c, int i) {
    c->count--;
    memmove(&c->corners[i], &c->corners[i + 1], (size_t)(c->count - i) * sizeof *c->corners);
    memmove(&c->weights[i], &c->weights[i + 1], (size_t)(c->count - i) * sizeof *c->weights);
}

// Goes from the weights towards `target` until one of them vanishes, and drops that corner. False when nothing stops it before.
static bool cut_back(corral *c, const double *target) {
    double share = 1;
    int first = -1;
    for (int i = 0; i < c->count; i++) {
        if (target[i] > 0) continue;
        const double limit = c->weights[i] / (c->weights[i] - target[i]);
        if (!(limit < share) && first >= 0) continue;
        share = limit < share ? limit : share;
        first = i;
    }
    if (first < 0) return false;
    for (int i = 0; i < c->count; i++) c->weights[i] += share * (target[i] - c->weights[i]);
    drop_corner(c, first);
    return true;
}

// The nearest point of the corral's convex hull; corners that it does not need are dropped.
static void settle(corral *c) {
    double target[MOST_CORNERS];
    while (true) {
        if (!minimise_affine(c, target)) {
            // The new corner brings nothing that rounding does not hide.
            drop_corner(c, c->count - 1);
            return;
        }
        if (!cut_back(c, target)) break;
    }
    memcpy(c->weights, target, (size_t)c->count * sizeof *target);
}

// The point that is farthest ahead in the direction of x, and by how much farther than the current point.
static const double *find_entering(const corral *c, int64_t count, double *lead, double *largest) {
    const double *best = c->points;
    double least = INFINITY, square = carom_dot(c->dimension, c->current, c->current);
    *largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const double *point = c->points + (size_t)i * (size_t)c->dimension;
        double product = 0, norm = 0;
        for (int k = 0; k < c->dimension; k++) {
            const double offset = point[k] - c->x[k];
            product += offset * c->current[k];
            norm += offset * offset;
        }
        *largest = fmax(*largest, norm);
        if (product < least) {
            least = product;
            best = point;
        }
    }
    *largest = sqrt(*largest);
    *lead = square - least;
    return best;
}

static const double *closest_point(int dimension, int64_t count, const double *points, const double *x) {
    const double *best = points;
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++) {
        const double *point = points + (size_t)i * (size_t)dimension;
        double square = 0;
        for (int k = 0; k < dimension; k++) square += (point[k] - x[k]) * (point[k] - x[k]);
        if (square < least) {
            least = square;
            best = point;
        }
    }
    return best;
}

static double length_of(const corral *c) { return sqrt(carom_dot(c->dimension, c->current, c->current)); }

double carom_convex_distance(int dimension, int64_t count, const double *points, const double *x, double *nearest) {
    // Not initialised as a whole: that would cost more than the search.
    corral c;
    c.dimension = dimension;
    c.count = 1;
    c.points = points;
    c.x = x;
    c.weights[0] = 1;
    c.corners[0] = closest_point(dimension, count, points, x);
    update_current(&c);
    for (int round = 0; round < MOST_ROUNDS && count > 1; round++) {
        double lead, largest;
        const double *entering = find_entering(&c, count, &lead, &largest);
        const double length = length_of(&c);
        if (!(lead > GAP * length * largest) || c.count > dimension) break;
        c.corners[c.count] = entering;
        c.weights[c.count++] = 0;
        settle(&c);
        update_current(&c);
        // Progress is strict but for rounding.
        if (!(length_of(&c) < length)) break;
    }
    for (int k = 0; nearest && k < dimension; k++) nearest[k] = x[k] + c.current[k];
    return length_of(&c);
}
