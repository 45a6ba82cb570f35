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

typedef struct search {
    int n;
    const double *W, *w;
    double *y_unit, *z_unit;  // [n]
    int members[CAROM_LCP_MOST_ENUMERATED], exchanges[CAROM_LCP_MOST_ENUMERATED];
    double *system, *null_vectors;  // [n x n]
    double *z, *right_side;         // [n]
    double *found;                  // [found_count x n]
    int found_count, found_capacity;
    bool complete;
} search;

static double entry(const search *s, int row, int column) { return s->W[(size_t)row * (size_t)s->n + (size_t)column]; }

static int collect_members(search *s, uint32_t basis) {
    int count = 0;
    for (int i = 0; i < s->n; i++)
        if (basis >> i & 1) s->members[count++] = i;
    return count;
}

// W_aa z_a = -w_a; returns the rank, -1 without solution.
static int solve_basis(search *s, int count) {
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) s->system[a * count + b] = entry(s, s->members[a], s->members[b]);
        s->right_side[a] = -s->w[s->members[a]];
    }
    const int rank = carom_solve_general(count, s->system, s->right_side, SINGULAR, s->null_vectors, s->exchanges);
    memset(s->z, 0, (size_t)s->n * sizeof *s->z);
    for (int a = 0; a < count; a++) s->z[s->members[a]] = s->right_side[a];
    return rank;
}

// The largest entry of z, and of w, in units.
static double size_of(const search *s, const double *z) {
    double largest = 0;
    for (int i = 0; i < s->n; i++) largest = fmax(largest, fmax(fabs(z[i]) / s->z_unit[i], fabs(s->w[i]) / s->y_unit[i]));
    return largest;
}

// Shrinks [least, most] to the t with value + t slope >= 0.
static void clip_interval(double value, double slope, double negligible, double *least, double *most) {
    if (fabs(slope) <= SIGN_TOLERANCE) {
        if (value < -negligible) *most = -INFINITY;
    } else if (slope > 0) {
        *least = fmax(*least, -value / slope);
    } else {
        *most = fmin(*most, -value / slope);
    }
}

// Do z + t d, with d the one null vector, have non-negative signs on more than a point? Of larger null spaces that is assumed.
static bool hides_continuum(const search *s, int count, int rank) {
    if (count - rank > 1) return true;
    const double size = size_of(s, s->z), negligible = SIGN_TOLERANCE * size;
    double least = -INFINITY, most = INFINITY, length = 0;
    for (int a = 0; a < count; a++) length = fmax(length, fabs(s->null_vectors[a]) / s->z_unit[s->members[a]]);
    for (int a = 0; a < count; a++) {
        const int i = s->members[a];
        clip_interval(s->z[i] / s->z_unit[i], s->null_vectors[a] / s->z_unit[i] / length, negligible, &least, &most);
    }
    for (int i = 0; i < s->n; i++) {
        double y = s->w[i], slope = 0;
        for (int a = 0; a < count; a++) {
            y += entry(s, i, s->members[a]) * s->z[s->members[a]];
            slope += entry(s, i, s->members[a]) * s->null_vectors[a];
        }
        clip_interval(y / s->y_unit[i], slope / s->y_unit[i] / length, negligible, &least, &most);
    }
    return most - least > SAME_SOLUTION * size;
}

static bool is_known(const search *s) {
    const double same = SAME_SOLUTION * size_of(s, s->z);
    for (int k = 0; k < s->found_count; k++) {
        double difference = 0;
        for (int i = 0; i < s->n; i++) difference = fmax(difference, fabs(s->found[k * s->n + i] - s->z[i]) / s->z_unit[i]);
        if (difference <= same) return true;
    }
    return false;
}

static carom_status keep(search *s, carom_error *error) {
    if (s->found_count == s->found_capacity) {
        const int capacity = 2 * s->found_capacity + 8;
        double *found = realloc(s->found, (size_t)capacity * (size_t)s->n * sizeof *found);
        if (!found) return carom_fail_memory(error, "LCP enumeration");
        s->found = found;
        s->found_capacity = capacity;
    }
    memcpy(s->found + (size_t)s->found_count++ * (size_t)s->n, s->z, (size_t)s->n * sizeof *s->z);
    return CAROM_OK;
}

static carom_status try_basis(search *s, uint32_t basis, carom_lcp_visit visit, void *user, carom_error *error) {
    const int count = collect_members(s, basis), rank = solve_basis(s, count);
    if (rank < 0) return CAROM_OK;
    if (rank < count) {
        s->complete = s->complete && !hides_continuum(s, count, rank);
        return CAROM_OK;
    }
    const double negligible = SIGN_TOLERANCE * size_of(s, s->z);
    for (int i = 0; i < s->n; i++) {
        if (s->z[i] / s->z_unit[i] < -negligible) return CAROM_OK;
        s->z[i] = fmax(s->z[i], 0);
    }
    const double residual = carom_lcp_residual(s->n, s->W, s->w, s->z);
    const double relative = carom_lcp_relative_residual(s->n, s->W, s->w, s->z, s->y_unit, s->z_unit);
    if (!(residual <= CAROM_LCP_TOLERANCE && relative <= SIGN_TOLERANCE) || is_known(s)) return CAROM_OK;
    const carom_status status = keep(s, error);
    return status ? status : visit(user, s->z, residual, error);
}

static carom_status check(int n, const double *W, const double *w, carom_error *error) {
    if (n < 1 || n > CAROM_LCP_MOST_ENUMERATED)
        return carom_fail(error, CAROM_BAD_INPUT, "an LCP of size %d: all solutions are enumerated up to size %d (2^n bases)", n,
                          CAROM_LCP_MOST_ENUMERATED);
    if (!carom_all_finite((size_t)n * (size_t)n, W) || !carom_all_finite((size_t)n, w))
        return carom_fail(error, CAROM_BAD_INPUT, "W or w holds a number that is not finite");
    return CAROM_OK;
}

carom_status carom_lcp_enumerate(int n, const double *W, const double *w, carom_lcp_visit visit, void *user, bool *complete,
                                 carom_error *error) {
    *complete = false;
    carom_status status = check(n, W, w, error);
    if (status) return status;
    const size_t size = (size_t)n;
    search s = {.n = n, .W = W, .w = w, .complete = true};
    double *arena = malloc((2 * size * size + 4 * size) * sizeof *arena);
    if (!arena) return carom_fail_memory(error, "LCP enumeration");
    s.system = arena;
    s.null_vectors = arena + size * size;
    s.z = s.null_vectors + size * size;
    s.right_side = s.z + size;
    s.y_unit = s.right_side + size;
    s.z_unit = s.y_unit + size;
    carom_lcp_units(n, W, s.y_unit, s.z_unit);
    for (uint32_t basis = 0; basis < (uint32_t)1 << n && !status; basis++) status = try_basis(&s, basis, visit, user, error);
    *complete = !status && s.complete;
    free(s.found);
    free(arena);
    return status;
}
