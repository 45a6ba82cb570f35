// SPDX-License-Identifier: Apache-2.0
// The LCP layer: binds a matrix to a solver, and verifies what the solver says.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/lcp.h"
#include "solvers/lemke/kernel.h"

// Columns are padded to cache lines.
enum { CHECK_LANES = 8 };

struct carom_lcp {
    const carom_lcp_solver *solver;
    int n;
    double *W;
    carom_lcp_columns columns;  // of W, for the check
    const carom_lemke_kernel *kernel;
    double *units;  // [2n] reciprocal units of y, then of z
    double *best;   // [n]
    void *state;
};

double carom_lcp_residual(int n, const double *W, const double *w, const double *z) {
    double worst = 0;
    for (int i = 0; i < n; i++) {
        const double y = w[i] + carom_dot(n, W + (size_t)i * (size_t)n, z);
        const double violation = fabs(y < z[i] ? y : z[i]);
        if (!isfinite(y) || !isfinite(z[i])) return INFINITY;
        if (violation > worst) worst = violation;
    }
    const double scale = 1 + carom_max_abs((size_t)n, w);
    return isfinite(scale) ? worst / scale : INFINITY;
}

static carom_status check_matrix(const carom_lcp_solver *solver, int n, const double *W, carom_error *error) {
    const int most = solver->max_size ? solver->max_size : CAROM_MAX_LCP;
    if (n < 1 || n > most) return carom_fail(error, CAROM_BAD_INPUT, "an LCP of size %d: %s takes sizes 1 to %d", n, solver->name, most);
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j < (size_t)n; j++)
            if (!isfinite(W[i * (size_t)n + j])) return carom_fail(error, CAROM_BAD_INPUT, "W[%zu][%zu] is not a finite number", i, j);
    return CAROM_OK;
}

// Reciprocals of powers of two are exact.
static void set_units(carom_lcp *lcp) {
    carom_lcp_units(lcp->n, lcp->W, lcp->units, lcp->units + lcp->n);
    for (int i = 0; i < 2 * lcp->n; i++) lcp->units[i] = 1 / lcp->units[i];
    lcp->columns.y_per_unit = lcp->units;
    lcp->columns.z_per_unit = lcp->units + lcp->n;
}

static void set_columns(carom_lcp *lcp) {
    const size_t n = (size_t)lcp->n, rows = lcp->columns.rows;
    memset(lcp->columns.columns, 0, n * rows * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) lcp->columns.columns[j * rows + i] = lcp->W[i * n + j];
}

static carom_status allocate(carom_lcp *lcp, carom_error *error) {
    const size_t n = (size_t)lcp->n, rows = (n + CHECK_LANES - 1) / CHECK_LANES * CHECK_LANES;
    lcp->columns = (carom_lcp_columns){.n = lcp->n, .rows = rows};
    lcp->W = malloc(n * n * sizeof(double));
    lcp->units = malloc(2 * n * sizeof(double));
    lcp->best = malloc(n * sizeof(double));
    lcp->columns.columns = aligned_alloc(CHECK_LANES * sizeof(double), n * rows * sizeof(double));
    lcp->columns.slacks = aligned_alloc(CHECK_LANES * sizeof(double), rows * sizeof(double));
    if (lcp->W && lcp->units && lcp->best && lcp->columns.columns && lcp->columns.slacks) return CAROM_OK;
    return carom_fail_memory(error, "LCP");
}

static void release(carom_lcp *lcp) {
    free(lcp->W);
    free(lcp->units);
    free(lcp->best);
    free(lcp->columns.columns);
    free(lcp->columns.slacks);
    free(lcp);
}

carom_status carom_lcp_create(const carom_lcp_solver *solver, int n, const double *W, carom_lcp **lcp, carom_error *error) {
    *lcp = NULL;
    carom_status status = check_matrix(solver, n, W, error);
    if (status) return status;
    carom_lcp *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "LCP");
    made->solver = solver;
    made->n = n;
    made->kernel = carom_lemke_kernel_fastest();
    status = allocate(made, error);
    if (!status) {
        memcpy(made->W, W, (size_t)n * (size_t)n * sizeof *W);
        set_units(made);
        set_columns(made);
        status = solver->create(n, made->W, &made->state, error);
    }
    if (status)
        release(made);
    else
        *lcp = made;
    return status;
}

void carom_lcp_free(carom_lcp *lcp) {
    if (!lcp) return;
    lcp->solver->free(lcp->state);
    release(lcp);
}

const bool *carom_lcp_lemke_basic(const carom_lcp *lcp) { return carom_lemke_basis(lcp->state); }

// Tries until one attempt reaches its goal, or takes the best. The relative residual of z is returned, the other one stands in `info`.
static double search(carom_lcp *lcp, const double *w, double *z, carom_lcp_info *info) {
    const int attempts = lcp->solver->attempts > 0 ? lcp->solver->attempts : 1;
    double best = INFINITY, best_residual = INFINITY;
    for (int k = 0; k < attempts; k++) {
        double residual, relative;
        lcp->solver->solve(lcp->state, k, w, z, info);
        lcp->kernel->check(&lcp->columns, w, z, &residual, &relative);
        info->residual = residual;
        if (attempts == 1 || (info->verdict == CAROM_COMPLETE && fmax(residual, relative) <= lcp->solver->goals[k])) return relative;
        if (info->verdict != CAROM_COMPLETE || !(relative < best)) continue;
        best = relative;
        best_residual = residual;
        memcpy(lcp->best, z, (size_t)lcp->n * sizeof *z);
    }
    if (!isinf(best)) memcpy(z, lcp->best, (size_t)lcp->n * sizeof *z);
    info->residual = best_residual;
    return best;
}

void carom_lcp_solve(carom_lcp *lcp, const double *w, double *z, carom_lcp_info *info) {
    *info = (carom_lcp_info){.verdict = CAROM_UNVERIFIED, .residual = INFINITY};
    memset(z, 0, (size_t)lcp->n * sizeof *z);
    if (!carom_all_finite((size_t)lcp->n, w)) return;
    // The first residual compares with 1 and is blind to problems that are small; the second has the problem's own units.
    const double relative = search(lcp, w, z, info);
    if (info->residual <= CAROM_LCP_TOLERANCE && relative <= CAROM_LCP_TOLERANCE)
        info->verdict = CAROM_COMPLETE;
    else if (info->verdict == CAROM_COMPLETE)
        info->verdict = CAROM_UNVERIFIED;
    // "No candidate" is zero, not rubbish.
    if (isinf(info->residual)) memset(z, 0, (size_t)lcp->n * sizeof *z);
}
