// SPDX-License-Identifier: Apache-2.0
// Tangential velocities and impulses of a contact on the edges of its friction cone.
#include <math.h>

#include "carom/dense.h"
#include "step/step_internal.h"

double carom_step_sliding_speed(const carom_stepper *stepper, const double *tangent) {
    double greatest = -INFINITY;
    for (int j = 0; j < stepper->edges; j++) greatest = fmax(greatest, -carom_dot(stepper->dim, carom_step_direction(stepper, j), tangent));
    return greatest;
}

double carom_step_split_on_edges(const carom_stepper *stepper, const double *tangent, double *weights) {
    if (stepper->dim == 1) {
        weights[tangent[0] < 0] = fabs(tangent[0]);
        return fabs(tangent[0]);
    }
    // In space: solve lam_t = on_a a + on_b b in every sector between two edges.
    double least_sum = INFINITY, best[2] = {0, 0};
    int best_edge = 0;
    for (int j = 0; j < stepper->edges; j++) {
        const double *a = carom_step_direction(stepper, j), *b = carom_step_direction(stepper, j + 1);
        const double determinant = a[0] * b[1] - a[1] * b[0];
        const double on_a = (tangent[0] * b[1] - tangent[1] * b[0]) / determinant,
                     on_b = (a[0] * tangent[1] - a[1] * tangent[0]) / determinant;
        // Take the sector whose weights are least negative.
        const double misfit = fmax(0, -on_a) + fmax(0, -on_b);
        if (misfit < least_sum) {
            least_sum = misfit;
            best_edge = j;
            best[0] = fmax(0, on_a);
            best[1] = fmax(0, on_b);
        }
    }
    weights[best_edge] = best[0];
    weights[(best_edge + 1) % stepper->edges] += best[1];
    return best[0] + best[1];
}
