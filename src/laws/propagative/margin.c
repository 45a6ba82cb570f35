// SPDX-License-Identifier: Apache-2.0
// The margin of the cone of feasible momenta. It is the norm of the point of least norm in the convex hull of the unit normals u_i: where
// that is not zero it is the best common direction, and where it is zero its weights combine the normals to zero.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/step.h"
#include "laws/propagative/propagative_internal.h"

// The quadratic program min |sum_i x_i u_i|^2 / 2 over x >= 0, sum x >= 1, as an LCP in (x, t), t = the squared margin:
//     0 <= x _|_ C x - t >= 0,    0 <= t _|_ sum x - 1 >= 0.
// Positive semidefinite and feasible: Lemke's method finds its solution, also where the cone is flat.
static carom_status solve_least_norm(const carom_propagative *p, double *z, carom_error *error) {
    const size_t n = (size_t)p->mirrors, size = n + 1;
    double *matrix = calloc(size * size + size, sizeof *matrix);
    if (!matrix) return carom_fail_memory(error, "margin");
    double *w = matrix + size * size;
    for (size_t i = 0; i < n; i++) {
        memcpy(matrix + i * size, p->cosine + i * n, n * sizeof *matrix);
        matrix[i * size + n] = -1;
        matrix[n * size + i] = 1;
    }
    w[n] = -1;
    carom_lcp *lcp;
    carom_status status = carom_lcp_create(&carom_lcp_lemke, (int)size, matrix, &lcp, error);
    if (!status) {
        carom_lcp_info info;
        carom_lcp_solve(lcp, w, z, &info);
        if (info.verdict != CAROM_COMPLETE)
            status = carom_fail(error, CAROM_INTERNAL, "the margin of the normals was not found (%s)", carom_verdict_name(info.verdict));
        carom_lcp_free(lcp);
    }
    free(matrix);
    return status;
}

carom_status propagative_find_margin(carom_propagative *p, carom_error *error) {
    double *z = malloc((size_t)(p->mirrors + 1) * sizeof *z);
    if (!z) return carom_fail_memory(error, "margin");
    const carom_status status = solve_least_norm(p, z, error);
    for (int i = 0; !status && i < p->mirrors; i++) p->weights[p->contact_of[i]] = z[i];
    if (!status) p->margin = sqrt(fmax(z[p->mirrors], 0));
    free(z);
    return status;
}
