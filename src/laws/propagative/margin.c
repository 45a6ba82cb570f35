// SPDX-License-Identifier: Apache-2.0
// The margin of the cone of feasible momenta. It is the norm of the point of least norm in the convex hull of the unit normals u_i: where
// that is not zero it is the best common direction, and where it is zero its weights combine the normals to zero.
#include <math.h>
#include <string.h>

#include "carom/step.h"
#include "laws/propagative/propagative_internal.h"

carom_status propagative_solve_lcp(int size, const double *matrix, const double *w, double *z, const char *what, carom_error *error) {
    carom_lcp *lcp;
    carom_status status = carom_lcp_create(&carom_lcp_lemke, size, matrix, &lcp, error);
    if (status) return status;
    carom_lcp_info info;
    carom_lcp_solve(lcp, w, z, &info);
    if (info.verdict != CAROM_COMPLETE)
        status = carom_fail(error, CAROM_INTERNAL, "%s was not found (%s)", what, carom_verdict_name(info.verdict));
    carom_lcp_free(lcp);
    return status;
}

// The quadratic program min |sum_i x_i u_i|^2 / 2 over x >= 0, sum x >= 1, as an LCP in (x, t), t = the squared margin:
//     0 <= x _|_ C x - t >= 0,    0 <= t _|_ sum x - 1 >= 0.
// Positive semidefinite and feasible: Lemke's method finds its solution, also where the cone is flat.
carom_status propagative_find_margin(carom_propagative *p, carom_error *error) {
    const size_t n = (size_t)p->mirrors, size = n + 1;
    carom_arena arena = {0};
    double *matrix = carom_arena_take(&arena, size * size, sizeof *matrix);
    double *w = carom_arena_take(&arena, size, sizeof *w), *z = carom_arena_take(&arena, size, sizeof *z);
    carom_status status = arena.failed ? carom_fail_memory(error, "margin") : CAROM_OK;
    for (size_t i = 0; !status && i < n; i++) {
        memcpy(matrix + i * size, p->cosine + i * n, n * sizeof *matrix);
        matrix[i * size + n] = -1;
        matrix[n * size + i] = 1;
    }
    if (!status) {
        w[n] = -1;
        status = propagative_solve_lcp((int)size, matrix, w, z, "the margin of the normals", error);
    }
    for (size_t i = 0; !status && i < n; i++) p->weights[p->contact_of[i]] = z[i];
    if (!status) p->margin = sqrt(fmax(z[n], 0));
    carom_arena_free(&arena);
    return status;
}
