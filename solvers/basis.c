// SPDX-License-Identifier: Apache-2.0
// Solving an LCP again on its basis: a factorisation of the original matrix forgets the round-off of the pivots that led there.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "solvers/solvers_internal.h"

// Sweeps of iterative refinement after the first solution: the second only confirms, except on ill-conditioned bases.
enum { REFINEMENTS = 2 };

struct carom_lcp_basis {
    carom_arena arena;
    int n;
    const double *W;
    int *members;     // [n] indices of the basic variables
    double *factors;  // LU of W on them
    int *exchanges;
    double *step;       // right-hand side and correction of the refinement
    double *candidate;  // [n]
};

carom_status carom_lcp_basis_create(int n, const double *W, carom_lcp_basis **basis, carom_error *error) {
    const size_t size = (size_t)n;
    carom_lcp_basis *made = *basis = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "LCP basis");
    made->n = n;
    made->W = W;
    made->members = carom_arena_take(&made->arena, size, sizeof *made->members);
    made->factors = carom_arena_take(&made->arena, size * size, sizeof *made->factors);
    made->exchanges = carom_arena_take(&made->arena, size, sizeof *made->exchanges);
    made->step = carom_arena_take(&made->arena, size, sizeof *made->step);
    made->candidate = carom_arena_take(&made->arena, size, sizeof *made->candidate);
    if (!made->arena.failed) return CAROM_OK;
    carom_lcp_basis_free(made);
    *basis = NULL;
    return carom_fail_memory(error, "LCP basis");
}

void carom_lcp_basis_free(carom_lcp_basis *basis) {
    if (!basis) return;
    carom_arena_free(&basis->arena);
    free(basis);
}

// W_aa z_a = -w_a into basis->candidate, refined. False when W_aa is singular.
static bool solve_members(carom_lcp_basis *basis, const bool *basic, const double *w) {
    const size_t n = (size_t)basis->n;
    // W_aa, the rows and columns of the basic variables, and its factors.
    const int *members = basis->members;
    double *z = basis->candidate;
    int count = 0;
    for (int i = 0; i < basis->n; i++)
        if (basic[i]) basis->members[count++] = i;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            basis->factors[(size_t)a * (size_t)count + (size_t)b] = basis->W[(size_t)members[a] * n + (size_t)members[b]];
    if (!carom_lu_factor(count, basis->factors, basis->exchanges)) return false;
    memset(z, 0, n * sizeof *z);
    for (int sweep = 0; sweep <= REFINEMENTS; sweep++) {
        // What is left, -(w + W z), in twice the digits: they cancel, and the refinement needs those that remain.
        for (int a = 0; a < count; a++) basis->step[a] = -carom_dot_rest(basis->n, basis->W + (size_t)members[a] * n, z, -w[members[a]]);
        carom_lu_solve(count, basis->factors, basis->exchanges, basis->step);
        for (int a = 0; a < count; a++) z[members[a]] += basis->step[a];
    }
    return true;
}

bool carom_lcp_basis_solve(carom_lcp_basis *basis, const bool *basic, const double *w, double *z) {
    if (!solve_members(basis, basic, w)) return false;
    memcpy(z, basis->candidate, (size_t)basis->n * sizeof *z);
    return true;
}

double carom_lcp_basis_polish(carom_lcp_basis *basis, const bool *basic, const double *w, double *z) {
    const int n = basis->n;
    carom_lcp_clip(n, z);
    const double residual = carom_lcp_residual(n, basis->W, w, z);
    if (!solve_members(basis, basic, w)) return residual;
    carom_lcp_clip(n, basis->candidate);
    const double solved = carom_lcp_residual(n, basis->W, w, basis->candidate);
    // Written so that NaN keeps the given z.
    if (!(solved <= residual)) return residual;
    memcpy(z, basis->candidate, (size_t)n * sizeof *z);
    return solved;
}
