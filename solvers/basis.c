// SPDX-License-Identifier: Apache-2.0
// Solving an LCP again on its basis: a factorisation of the original matrix forgets the round-off of the pivots that led there.
#include "carom/lcp.h"

#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// Sweeps of iterative refinement after the first solution: the second only confirms, except on ill-conditioned bases.
enum { REFINEMENTS = 2 };

struct carom_lcp_basis {
    int n;
    const double *W;
    int *members;     // indices of the basic variables
    double *factors;  // LU of W on them
    int *exchanges;
    double *step;       // right-hand side and correction of the refinement
    double *candidate;  // [n]
};

carom_status carom_lcp_basis_create(int n, const double *W, carom_lcp_basis **basis, carom_error *error) {
    const size_t size = (size_t)n;
    carom_lcp_basis *s = *basis = calloc(1, sizeof *s);
    if (!s) return carom_fail_memory(error, "LCP basis");
    s->n = n;
    s->W = W;
    s->members = malloc(size * sizeof *s->members);
    s->factors = malloc(size * size * sizeof *s->factors);
    s->exchanges = malloc(size * sizeof *s->exchanges);
    s->step = malloc(size * sizeof *s->step);
    s->candidate = malloc(size * sizeof *s->candidate);
    if (s->members && s->factors && s->exchanges && s->step && s->candidate) return CAROM_OK;
    carom_lcp_basis_free(s);
    *basis = NULL;
    return carom_fail_memory(error, "LCP basis");
}

void carom_lcp_basis_free(carom_lcp_basis *basis) {
    if (!basis) return;
    free(basis->members);
    free(basis->factors);
    free(basis->exchanges);
    free(basis->step);
    free(basis->candidate);
    free(basis);
}

static int collect_members(const carom_lcp_basis *s, const bool *basic) {
    int count = 0;
    for (int i = 0; i < s->n; i++)
        if (basic[i]) s->members[count++] = i;
    return count;
}

static const double *matrix_row(const carom_lcp_basis *s, int member) { return s->W + (size_t)s->members[member] * (size_t)s->n; }

// -(w + W z) on the members, summed in extended precision: the cancellation is what refinement lives on.
static void fill_step(const carom_lcp_basis *s, int count, const double *w, const double *z) {
    for (int a = 0; a < count; a++) {
        const double *row = matrix_row(s, a);
        long double sum = w[s->members[a]];
        for (int b = 0; b < count; b++) sum += (long double)row[s->members[b]] * z[s->members[b]];
        s->step[a] = (double)-sum;
    }
}

// Solves on the members into the candidate. False when W is singular there.
static bool solve_members(carom_lcp_basis *s, int count, const double *w) {
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) s->factors[(size_t)a * (size_t)count + (size_t)b] = matrix_row(s, a)[s->members[b]];
    if (!carom_lu_factor(count, s->factors, s->exchanges)) return false;
    memset(s->candidate, 0, (size_t)s->n * sizeof *s->candidate);
    for (int sweep = 0; sweep <= REFINEMENTS; sweep++) {
        fill_step(s, count, w, s->candidate);
        carom_lu_solve(count, s->factors, s->exchanges, s->step);
        for (int a = 0; a < count; a++) s->candidate[s->members[a]] += s->step[a];
    }
    return true;
}

bool carom_lcp_basis_solve(carom_lcp_basis *basis, const bool *basic, const double *w, double *z) {
    if (!solve_members(basis, collect_members(basis, basic), w)) return false;
    memcpy(z, basis->candidate, (size_t)basis->n * sizeof *z);
    return true;
}

// NaN becomes zero, too: it is no candidate for anything.
static void clip(int n, double *z) {
    for (int i = 0; i < n; i++)
        if (!(z[i] > 0)) z[i] = 0;
}

double carom_lcp_basis_polish(carom_lcp_basis *basis, const bool *basic, const double *w, double *z) {
    carom_lcp_basis *s = basis;
    clip(s->n, z);
    const double residual = carom_lcp_residual(s->n, s->W, w, z);
    if (!solve_members(s, collect_members(s, basic), w)) return residual;
    clip(s->n, s->candidate);
    const double solved = carom_lcp_residual(s->n, s->W, w, s->candidate);
    if (!(solved <= residual)) return residual;
    memcpy(z, s->candidate, (size_t)s->n * sizeof *z);
    return solved;
}
