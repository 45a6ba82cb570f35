// SPDX-License-Identifier: Apache-2.0
// Global problems, M v = H r + f and u = H'v + b, in contact space: W = H' M^-1 H, q = H' M^-1 f + b.
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "io/fclib/file.h"

carom_status carom_fclib_reduce(const char *path, const carom_fclib_global *global, carom_fclib_problem *problem, carom_error *error) {
    const size_t nv = (size_t)global->nv, n = (size_t)(problem->contacts * (1 + problem->tangent_dim));
    // Rows of the half response are columns of L^-1 H, with M = L L'; the last one is L^-1 f.
    double *factor = malloc(nv * nv * sizeof *factor), *half = malloc((n + 1) * nv * sizeof *half);
    problem->delassus = malloc(n * n * sizeof *problem->delassus);
    problem->velocity = malloc(n * sizeof *problem->velocity);
    carom_status status = factor && half && problem->delassus && problem->velocity ? CAROM_OK : carom_fail_memory(error, path);
    carom_error inner;
    if (!status && carom_mass_check(global->nv, global->mass, NULL, &inner))
        status = carom_fail(error, inner.status, "%s: %s", path, inner.message);
    if (!status) {
        memcpy(factor, global->mass, nv * nv * sizeof *factor);
        if (carom_cholesky_factor(global->nv, factor)) status = carom_fail(error, CAROM_BAD_INPUT, "%s: M is not positive definite", path);
    }
    if (!status) {
        for (size_t c = 0; c < n; c++)
            for (size_t k = 0; k < nv; k++) half[c * nv + k] = global->directions[k * n + c];
        memcpy(half + n * nv, global->force, nv * sizeof *half);
        for (size_t c = 0; c <= n; c++) carom_cholesky_forward(global->nv, factor, half + c * nv);
        carom_gram((int)n, global->nv, half, problem->delassus);
        carom_multiply((int)n, global->nv, half, half + n * nv, problem->velocity);
        for (size_t c = 0; c < n; c++) problem->velocity[c] += global->shift[c];
    }
    free(factor);
    free(half);
    return status;
}
