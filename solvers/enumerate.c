// SPDX-License-Identifier: Apache-2.0
// All solutions of a small LCP, by its complementary bases.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"

// In the units of the problem: entries of z and W z + w above minus this share of the largest count as non-negative, and solutions
// closer than it as one.
#define SIGN_TOLERANCE 1e-10
#define SAME_SOLUTION  1e-8
// Pivots and right-hand sides below this share of the largest are round-off of zeros.
#define SINGULAR 1e-11

typedef struct enumeration {
    int n;
    const double *W, *w;
    double *y_unit, *z_unit;  // [n]
    int members[CAROM_LCP_MOST_ENUMERATED], exchanges[CAROM_LCP_MOST_ENUMERATED];
    double *system, *null_vectors;  // [n x n]
    double *z, *right_side;         // [n]
    double *found;                  // [found_count x n]
    int found_count, found_capacity;
    bool complete;
} enumeration;

// Shrinks [least, most] to the t with value + t slope >= 0.
static void clip_interval(double value, double slope, double negligible, double *least, double *most) {
    // A value that does not change along the line must have the sign everywhere.
    if (fabs(slope) <= SIGN_TOLERANCE) {
        if (value < -negligible) *most = -INFINITY;
    } else if (slope > 0) {
        *least = fmax(*least, -value / slope);
    } else {
        *most = fmin(*most, -value / slope);
    }
}

// Do z + t d, with d the null vector of the basis, have non-negative signs on more than a point? `size` is the largest of z and w.
static bool hides_segment(const enumeration *all, int count, double size) {
    const int *members = all->members;
    const double *direction = all->null_vectors, negligible = SIGN_TOLERANCE * size;
    double least = -INFINITY, most = INFINITY, length = 0;
    for (int a = 0; a < count; a++) length = fmax(length, fabs(direction[a]) / all->z_unit[members[a]]);
    // z of the basis >= 0.
    for (int a = 0; a < count; a++) {
        const double unit = all->z_unit[members[a]];
        clip_interval(all->z[members[a]] / unit, direction[a] / unit / length, negligible, &least, &most);
    }
    // y = w + W z >= 0.
    for (int i = 0; i < all->n; i++) {
        const double *row = all->W + (size_t)i * (size_t)all->n;
        double y = all->w[i], slope = 0;
        for (int a = 0; a < count; a++) {
            y += row[members[a]] * all->z[members[a]];
            slope += row[members[a]] * direction[a];
        }
        clip_interval(y / all->y_unit[i], slope / all->y_unit[i] / length, negligible, &least, &most);
    }
    return most - least > SAME_SOLUTION * size;
}

// The solution of one basis, a set of bits, where it has one that was not found before.
static carom_status try_basis(enumeration *all, uint32_t basis, carom_lcp_visit visit, void *user, carom_error *error) {
    const int n = all->n;
    const size_t size = (size_t)n;
    int *members = all->members, count = 0;
    for (int i = 0; i < n; i++)
        if (basis >> i & 1) members[count++] = i;

    // W_aa z_a = -w_a.
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) all->system[a * count + b] = all->W[(size_t)members[a] * size + (size_t)members[b]];
        all->right_side[a] = -all->w[members[a]];
    }
    const int rank = carom_solve_general(count, all->system, all->right_side, SINGULAR, all->null_vectors, all->exchanges);
    if (rank < 0) return CAROM_OK;
    memset(all->z, 0, size * sizeof *all->z);
    for (int a = 0; a < count; a++) all->z[members[a]] = all->right_side[a];

    // The largest entry of z, and of w, in units.
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fmax(fabs(all->z[i]) / all->z_unit[i], fabs(all->w[i]) / all->y_unit[i]));

    // A singular basis may hide a segment of solutions. With several null vectors that is assumed.
    if (rank < count) {
        if (all->complete) all->complete = count - rank == 1 && !hides_segment(all, count, largest);
        return CAROM_OK;
    }
    // Round-off below zero is clipped; the residuals judge the result.
    for (int i = 0; i < n; i++) {
        if (all->z[i] / all->z_unit[i] < -SIGN_TOLERANCE * largest) return CAROM_OK;
        all->z[i] = fmax(all->z[i], 0);
    }
    const double residual = carom_lcp_residual(n, all->W, all->w, all->z);
    const double relative = carom_lcp_relative_residual(n, all->W, all->w, all->z, all->y_unit, all->z_unit);
    if (!(residual <= CAROM_LCP_TOLERANCE && relative <= SIGN_TOLERANCE)) return CAROM_OK;

    // Several bases give a degenerate solution.
    largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fmax(fabs(all->z[i]) / all->z_unit[i], fabs(all->w[i]) / all->y_unit[i]));
    for (int k = 0; k < all->found_count; k++) {
        double difference = 0;
        for (int i = 0; i < n; i++) difference = fmax(difference, fabs(all->found[k * n + i] - all->z[i]) / all->z_unit[i]);
        if (difference <= SAME_SOLUTION * largest) return CAROM_OK;
    }
    if (all->found_count == all->found_capacity) {
        const int capacity = 2 * all->found_capacity + 8;
        double *found = realloc(all->found, (size_t)capacity * size * sizeof *found);
        if (!found) return carom_fail_memory(error, "LCP enumeration");
        all->found = found;
        all->found_capacity = capacity;
    }
    memcpy(all->found + (size_t)all->found_count++ * size, all->z, size * sizeof *all->z);
    return visit(user, all->z, residual, error);
}

carom_status carom_lcp_enumerate(int n, const double *W, const double *w, carom_lcp_visit visit, void *user, bool *complete,
                                 carom_error *error) {
    *complete = false;
    if (n < 1 || n > CAROM_LCP_MOST_ENUMERATED)
        return carom_fail(error, CAROM_BAD_INPUT, "an LCP of size %d: all solutions are enumerated up to size %d (2^n bases)", n,
                          CAROM_LCP_MOST_ENUMERATED);
    const size_t size = (size_t)n;
    if (!carom_all_finite(size * size, W) || !carom_all_finite(size, w))
        return carom_fail(error, CAROM_BAD_INPUT, "W or w holds a number that is not finite");
    enumeration all = {.n = n, .W = W, .w = w, .complete = true};
    carom_arena arena = {0};
    all.system = carom_arena_take(&arena, size * size, sizeof(double));
    all.null_vectors = carom_arena_take(&arena, size * size, sizeof(double));
    all.z = carom_arena_take(&arena, size, sizeof(double));
    all.right_side = carom_arena_take(&arena, size, sizeof(double));
    all.y_unit = carom_arena_take(&arena, size, sizeof(double));
    all.z_unit = carom_arena_take(&arena, size, sizeof(double));
    carom_status status = arena.failed ? carom_fail_memory(error, "LCP enumeration") : CAROM_OK;
    if (!status) carom_lcp_units(n, W, all.y_unit, all.z_unit);
    for (uint32_t basis = 0; basis < (uint32_t)1 << n && !status; basis++) status = try_basis(&all, basis, visit, user, error);
    *complete = !status && all.complete;
    free(all.found);
    carom_arena_free(&arena);
    return status;
}
