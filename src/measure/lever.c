// SPDX-License-Identifier: Apache-2.0
// The lever test: did the impulse act at the contacts?
#include <math.h>
#include <string.h>

#include "measure/measure_internal.h"

carom_status carom_measure_lever(const carom_measurement *measurement, double *chi2, int *freedom, carom_error *error) {
    const int n = carom_impact_contact_size(measurement->impact);
    *chi2 = (double)NAN;
    *freedom = 0;
    measure_frame frame;
    carom_status status = measure_frame_make(measurement, measurement->metric, &frame, error);
    if (status) return status;
    const int nv = frame.nv;
    const size_t size = (size_t)nv;
    double *rows = carom_arena_take(&frame.arena, (size_t)n * size, sizeof *rows);
    double *basis = carom_arena_take(&frame.arena, size * size, sizeof *basis);
    double *levers = carom_arena_take(&frame.arena, size * size, sizeof *levers);
    double *covariance = carom_arena_take(&frame.arena, size * size, sizeof *covariance);
    double *z = carom_arena_take(&frame.arena, size, sizeof *z);
    if (frame.arena.failed) status = carom_fail_memory(error, "lever test");
    if (!status) {
        // M dv lies in the range of J' where L'dv lies in that of L' M^-1 J'.
        measure_responses(measurement, &frame, rows);
        const int rank = measure_basis(n, nv, rows, basis);
        measure_complete_basis(rank, nv, basis);
        *freedom = nv - rank;
        // z = Q'L'(v+ - v-), with levers the rows of Q'L'.
        for (int i = 0; i < *freedom; i++) {
            const double *q = basis + (rank + i) * nv;
            for (int k = 0; k < nv; k++) levers[i * nv + k] = carom_dot(k + 1, frame.factor + k * nv, q);
            z[i] = 0;
            for (int k = 0; k < nv; k++) z[i] += q[k] * (frame.after[k] - frame.before[k]);
        }
    }
    if (!status && *freedom && measurement->covariance) {
        // The covariance of v+ - v-, seen by the levers.
        const double *S = measurement->covariance;
        for (int i = 0; i < *freedom; i++)
            for (int j = 0; j < *freedom; j++) {
                double sum = 0;
                for (int k = 0; k < nv; k++)
                    for (int l = 0; l < nv; l++) {
                        const double before = S[k * 2 * nv + l], after = S[(nv + k) * 2 * nv + nv + l];
                        const double cross = S[(nv + k) * 2 * nv + l] + S[k * 2 * nv + nv + l];
                        sum += levers[i * nv + k] * (after + before - cross) * levers[j * nv + l];
                    }
                covariance[i * *freedom + j] = sum;
            }
        // A measurement without noise in some direction has no chi2.
        if (!carom_cholesky_factor(*freedom, covariance)) {
            carom_cholesky_forward(*freedom, covariance, z);
            *chi2 = carom_dot(*freedom, z, z);
        }
    }
    carom_arena_free(&frame.arena);
    return status;
}
