// SPDX-License-Identifier: Apache-2.0
// The LCP layer: binds a matrix to a solver, and verifies what the solver says.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "solvers/lcp_units.h"

struct carom_lcp {
    const carom_lcp_solver *solver;
    int n;
    double *W;
    double *y_unit, *z_unit;  // for tolerances
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

carom_status carom_lcp_create(const carom_lcp_solver *solver, int n, const double *W, carom_lcp **lcp, carom_error *error) {
    *lcp = NULL;
    carom_status status = check_matrix(solver, n, W, error);
    if (status) return status;
    carom_lcp *made = calloc(1, sizeof *made);
    const size_t size = (size_t)n;
    double *copy = malloc((size * size + 2 * size) * sizeof *copy);
    if (made && copy) {
        memcpy(copy, W, size * size * sizeof *copy);
        *made = (carom_lcp){.solver = solver, .n = n, .W = copy, .y_unit = copy + size * size, .z_unit = copy + size * size + size};
        carom_lcp_units(n, W, made->y_unit, made->z_unit);
        status = solver->create(n, copy, &made->state, error);
    } else {
        status = carom_fail_memory(error, "LCP");
    }
    if (status) {
        free(copy);
        free(made);
        return status;
    }
    *lcp = made;
    return CAROM_OK;
}

void carom_lcp_free(carom_lcp *lcp) {
    if (!lcp) return;
    lcp->solver->free(lcp->state);
    free(lcp->W);
    free(lcp);
}

void carom_lcp_solve(carom_lcp *lcp, const double *w, double *z, carom_lcp_info *info) {
    *info = (carom_lcp_info){.verdict = CAROM_UNVERIFIED, .residual = INFINITY};
    memset(z, 0, (size_t)lcp->n * sizeof *z);
    if (!carom_all_finite((size_t)lcp->n, w)) return;
    lcp->solver->solve(lcp->state, w, z, info);
    info->residual = carom_lcp_residual(lcp->n, lcp->W, w, z);
    // The first residual compares with 1 and is blind to problems that are small; the second has the problem's own units.
    const double relative = carom_lcp_relative_residual(lcp->n, lcp->W, w, z, lcp->y_unit, lcp->z_unit);
    if (info->residual <= CAROM_LCP_TOLERANCE && relative <= CAROM_LCP_TOLERANCE)
        info->verdict = CAROM_COMPLETE;
    else if (info->verdict == CAROM_COMPLETE)
        info->verdict = CAROM_UNVERIFIED;
    // "No candidate" is zero, not rubbish.
    if (isinf(info->residual)) memset(z, 0, (size_t)lcp->n * sizeof *z);
}
