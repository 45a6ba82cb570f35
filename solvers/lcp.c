// SPDX-License-Identifier: Apache-2.0
// The LCP layer: binds a matrix to a solver, and verifies what the solver says.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "solvers/lemke/kernel.h"
#include "solvers/solvers_internal.h"

// Columns are padded to cache lines.
enum { CHECK_LANES = CAROM_ARENA_ALIGNMENT / sizeof(double) };

struct carom_lcp {
    carom_arena arena;
    const carom_lcp_solver *solver;
    int n;
    double *W;
    carom_lcp_columns columns;  // of W, for the check
    const carom_lemke_kernel *kernel;
    double *best;      // [n] of the attempts
    bool *best_basic;  // [n] its basis, for a solver of the `lemke` family
    void *state;
};

carom_status carom_lcp_create(const carom_lcp_solver *solver, int n, const double *W, carom_lcp **lcp, carom_error *error) {
    *lcp = NULL;
    const int most = solver->max_size ? solver->max_size : CAROM_MAX_LCP;
    if (n < 1 || n > most) return carom_fail(error, CAROM_BAD_INPUT, "an LCP of size %d: %s takes sizes 1 to %d", n, solver->name, most);
    const size_t size = (size_t)n, rows = (size + CHECK_LANES - 1) / CHECK_LANES * CHECK_LANES;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            // Solvers may assume finite numbers.
            if (!isfinite(W[i * size + j])) return carom_fail(error, CAROM_BAD_INPUT, "W[%zu][%zu] is not a finite number", i, j);

    carom_lcp *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "LCP");
    made->W = carom_arena_take(&made->arena, size * size, sizeof *made->W);
    made->best = carom_arena_take(&made->arena, size, sizeof *made->best);
    made->best_basic = carom_arena_take(&made->arena, size, sizeof *made->best_basic);
    // The matrix by columns, with reciprocal units: what the check of a solution reads.
    double *y_per_unit = carom_arena_take(&made->arena, size, sizeof *y_per_unit);
    double *z_per_unit = carom_arena_take(&made->arena, size, sizeof *z_per_unit);
    double *columns = carom_arena_take(&made->arena, size * rows, sizeof *columns);
    double *slacks = carom_arena_take(&made->arena, rows, sizeof *slacks);
    carom_status status = made->arena.failed ? carom_fail_memory(error, "LCP") : CAROM_OK;
    if (!status) {
        memcpy(made->W, W, size * size * sizeof *W);
        carom_lcp_units(n, W, y_per_unit, z_per_unit);
        for (size_t i = 0; i < size; i++) {
            // Reciprocals of powers of two are exact.
            y_per_unit[i] = 1 / y_per_unit[i];
            z_per_unit[i] = 1 / z_per_unit[i];
            for (size_t j = 0; j < size; j++) columns[j * rows + i] = W[i * size + j];
        }
        made->solver = solver;
        made->n = n;
        made->kernel = carom_lemke_kernel_fastest();
        made->columns = (carom_lcp_columns){n, rows, columns, slacks, y_per_unit, z_per_unit};
        status = solver->create(solver, n, made->W, &made->state, error);
    }
    if (status) {
        carom_arena_free(&made->arena);
        free(made);
        return status;
    }
    *lcp = made;
    return CAROM_OK;
}

void carom_lcp_free(carom_lcp *lcp) {
    if (!lcp) return;
    lcp->solver->free(lcp->state);
    carom_arena_free(&lcp->arena);
    free(lcp);
}

bool carom_lcp_cover(carom_lcp *lcp, const double *covering) {
    if (!lcp->solver->cover) return false;
    // Scratch that no solve is using.
    for (int i = 0; i < lcp->n; i++) {
        lcp->best[i] = covering ? covering[i] : 1;
        if (!(lcp->best[i] > 0 && isfinite(lcp->best[i]))) return false;
    }
    lcp->solver->cover(lcp->state, lcp->best);
    return true;
}

void carom_lcp_sharpen(carom_lcp *lcp, carom_lcp_rest fill, void *user) {
    if (lcp->solver->sharpen) lcp->solver->sharpen(lcp->state, fill, user);
}

void carom_lcp_watch(carom_lcp *lcp, const carom_control *control) {
    if (lcp->solver->watch) lcp->solver->watch(lcp->state, control);
}

bool carom_lcp_verify(carom_lcp *lcp, const double *w, const double *z, double *residual) {
    double relative;
    lcp->kernel->check(&lcp->columns, w, z, residual, &relative);
    return *residual <= CAROM_LCP_TOLERANCE && relative <= CAROM_LCP_TOLERANCE;
}

void carom_lcp_get_units(const carom_lcp *lcp, double *y_unit, double *z_unit) {
    for (int i = 0; i < lcp->n; i++) {
        y_unit[i] = 1 / lcp->columns.y_per_unit[i];
        z_unit[i] = 1 / lcp->columns.z_per_unit[i];
    }
}

static bool is_lemke(const carom_lcp *lcp) { return lcp->solver->solve == carom_lcp_lemke.solve; }

const bool *carom_lcp_lemke_basic(const carom_lcp *lcp) { return is_lemke(lcp) ? carom_lemke_basis(lcp->state) : NULL; }

bool carom_lcp_lemke_solve_basis(carom_lcp *lcp, const double *w, double *z) {
    return is_lemke(lcp) && carom_lemke_solve_basis(lcp->state, w, z);
}

void carom_lcp_solve(carom_lcp *lcp, const double *w, double *z, carom_lcp_info *info) {
    const size_t bytes = (size_t)lcp->n * sizeof *z;
    *info = (carom_lcp_info){.verdict = CAROM_UNVERIFIED, .residual = INFINITY};
    memset(z, 0, bytes);
    if (!carom_all_finite((size_t)lcp->n, w)) return;

    // Attempts until one reaches its goal, otherwise the best of them. A single attempt counts in any case.
    const int attempts = lcp->solver->attempts > 0 ? lcp->solver->attempts : 1;
    double residual = INFINITY, relative = INFINITY, best = INFINITY, best_residual = INFINITY;
    bool reached = false;
    for (int k = 0; k < attempts && !reached; k++) {
        lcp->solver->solve(lcp->state, k, w, z, info);
        if (info->verdict == CAROM_INTERRUPTED) {
            memset(z, 0, bytes);
            return;
        }
        lcp->kernel->check(&lcp->columns, w, z, &residual, &relative);
        // Solvers are never trusted: both residuals come from W, w and z alone.
        const bool complete = info->verdict == CAROM_COMPLETE;
        reached = attempts == 1 || (complete && fmax(residual, relative) <= lcp->solver->goals[k]);
        if (reached || !complete || !(relative < best)) continue;
        best = relative;
        best_residual = residual;
        memcpy(lcp->best, z, bytes);
        if (is_lemke(lcp)) memcpy(lcp->best_basic, carom_lemke_basis(lcp->state), (size_t)lcp->n * sizeof *lcp->best_basic);
    }
    if (!reached) {
        if (!isinf(best)) {
            memcpy(z, lcp->best, bytes);
            if (is_lemke(lcp)) memcpy(carom_lemke_basis(lcp->state), lcp->best_basic, (size_t)lcp->n * sizeof *lcp->best_basic);
        }
        residual = best_residual;
        relative = best;
    }

    // The first residual compares with 1 and is blind to small problems; the second has the problem's own units.
    info->residual = residual;
    if (residual <= CAROM_LCP_TOLERANCE && relative <= CAROM_LCP_TOLERANCE)
        info->verdict = CAROM_COMPLETE;
    else if (info->verdict == CAROM_COMPLETE)
        info->verdict = CAROM_UNVERIFIED;
    // "No candidate" is zero, not rubbish.
    if (isinf(residual)) memset(z, 0, bytes);
}
