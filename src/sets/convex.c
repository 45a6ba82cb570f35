// SPDX-License-Identifier: Apache-2.0
// The nearest point of a convex hull: P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11 (1976).
//
// A corral of affinely independent points holds the current point c, the nearest to x of their affine hull. The point p with the least
// (p - x).(c - x) enters; the corral is then cut back to the points whose hull holds its nearest point. It is over when no point is ahead
// of c, (p - x).(c - x) >= |c - x|^2 for all p: then c is the nearest point of the hull.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "sets/set.h"

// The duality gap of the answer, as a share of its length times the largest offset: the rounding of the products in it.
#define GAP 1e-14
// An edge that sticks out of the flat of the others by less than this share of its length does not count as independent of it.
#define DEPENDENT 1e-12

// More than any run needs; rounding may make points enter and leave in turn.
enum { MOST_ROUNDS = 1000, MOST_CORNERS = CAROM_SET_MOST_DIMENSIONS + 1 };

// Wolfe's corral: affinely independent points whose convex hull holds the current point.
typedef struct corral {
    int dimension, count;
    const double *x;
    const double *corners[MOST_CORNERS];
    double weights[MOST_CORNERS];
    double current[CAROM_SET_MOST_DIMENSIONS];  // nearest point found so far, minus x
} corral;

// current = sum_i weight_i corner_i - x, and its length.
static double update_current(corral *c) {
    double square = 0;
    for (int k = 0; k < c->dimension; k++) {
        c->current[k] = 0;
        for (int i = 0; i < c->count; i++) c->current[k] += c->weights[i] * (c->corners[i][k] - c->x[k]);
        square += c->current[k] * c->current[k];
    }
    return sqrt(square);
}

// Weights, summing to one, of the point of least norm in the affine hull of the corral. With edges e_i = corner_i - corner_0 = Q R,
// orthonormal Q by modified Gram-Schmidt, they solve R w = Q'(x - corner_0). False when the last corner depends on the others.
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
    // Back substitution.
    weights[0] = 1;
    for (int e = edges; e >= 1; e--) {
        for (int b = e + 1; b <= edges; b++) weights[e] -= R[e - 1][b - 1] * weights[b];
        weights[e] /= R[e - 1][e - 1];
        weights[0] -= weights[e];
    }
    return true;
}

// Takes corner i out of the corral.
static void drop_corner(corral *c, int i) {
    c->count--;
    memmove(&c->corners[i], &c->corners[i + 1], (size_t)(c->count - i) * sizeof *c->corners);
    memmove(&c->weights[i], &c->weights[i + 1], (size_t)(c->count - i) * sizeof *c->weights);
}

// Moves to the nearest point of the corral's convex hull, and drops corners that it does not need.
static void settle(corral *c) {
    double target[MOST_CORNERS];
    while (minimise_affine(c, target)) {
        // Go from the weights towards those of the affine hull until one of them vanishes.
        double share = 1;
        int first = -1;
        for (int i = 0; i < c->count; i++) {
            if (target[i] > 0) continue;
            const double limit = c->weights[i] / (c->weights[i] - target[i]);
            if (!(limit < share) && first >= 0) continue;
            share = limit < share ? limit : share;
            first = i;
        }
        if (first < 0) {
            memcpy(c->weights, target, (size_t)c->count * sizeof *target);
            return;
        }
        for (int i = 0; i < c->count; i++) c->weights[i] += share * (target[i] - c->weights[i]);
        drop_corner(c, first);
    }
    // The new corner brings nothing that rounding does not hide.
    drop_corner(c, c->count - 1);
}

double carom_convex_distance(int dimension, int64_t count, const double *points, const double *x, double *nearest) {
    // Not initialised as a whole: that would cost more than the search.
    corral c;
    c.dimension = dimension;
    c.count = 1;
    c.x = x;
    c.weights[0] = 1;
    // Start at the point closest to x.
    c.corners[0] = points;
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++) {
        const double *point = points + (size_t)i * (size_t)dimension;
        double square = 0;
        for (int k = 0; k < dimension; k++) square += (point[k] - x[k]) * (point[k] - x[k]);
        if (square < least) {
            least = square;
            c.corners[0] = point;
        }
    }
    double length = update_current(&c);
    for (int round = 0; round < MOST_ROUNDS && count > 1; round++) {
        // The point that is farthest ahead in the direction of x, and by how much farther than the current point.
        const double *entering = points, square = carom_dot(dimension, c.current, c.current);
        double largest = 0;
        least = INFINITY;
        for (int64_t i = 0; i < count; i++) {
            const double *point = points + (size_t)i * (size_t)dimension;
            double product = 0, norm = 0;
            for (int k = 0; k < dimension; k++) {
                const double offset = point[k] - x[k];
                product += offset * c.current[k];
                norm += offset * offset;
            }
            largest = fmax(largest, norm);
            if (product < least) {
                least = product;
                entering = point;
            }
        }
        if (!(square - least > GAP * length * sqrt(largest)) || c.count > dimension) break;
        c.corners[c.count] = entering;
        c.weights[c.count++] = 0;
        settle(&c);
        // Progress is strict but for rounding.
        const double before = length;
        length = update_current(&c);
        if (!(length < before)) break;
    }
    for (int k = 0; nearest && k < dimension; k++) nearest[k] = x[k] + c.current[k];
    return length;
}
