// SPDX-License-Identifier: Apache-2.0
// Measurements in kinetic coordinates, and the bases and cones of their contacts in them.
#include <math.h>
#include <string.h>

#include "measure/measure_internal.h"

void carom_measurements_free(carom_measurements *measurements) {
    for (int i = 0; i < measurements->count; i++) carom_impact_free((carom_impact *)(uintptr_t)measurements->list[i].impact);
    carom_arena_free(&measurements->arena);
    *measurements = (carom_measurements){0};
}

carom_status measure_frame_make(const carom_measurement *measurement, const double *metric, measure_frame *frame, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(measurement->impact);
    const size_t nv = (size_t)data->nv;
    *frame = (measure_frame){.nv = data->nv};
    frame->factor = carom_arena_take(&frame->arena, nv * nv, sizeof(double));
    frame->before = carom_arena_take(&frame->arena, nv, sizeof(double));
    frame->after = carom_arena_take(&frame->arena, nv, sizeof(double));
    if (frame->arena.failed) {
        carom_arena_free(&frame->arena);
        return carom_fail_memory(error, "measured impact");
    }
    // M has been factored before; another metric is a mass matrix, too.
    memcpy(frame->factor, metric ? metric : data->mass, nv * nv * sizeof(double));
    if (carom_cholesky_factor(data->nv, frame->factor)) {
        carom_arena_free(&frame->arena);
        return carom_fail(error, CAROM_BAD_INPUT, "the metric of distances is not positive definite");
    }
    measure_whiten(frame, data->velocity, frame->before);
    measure_whiten(frame, measurement->after, frame->after);
    frame->scale = sqrt(carom_dot(data->nv, frame->before, frame->before));
    return CAROM_OK;
}

void measure_whiten(const measure_frame *frame, const double *v, double *y) {
    const int nv = frame->nv;
    for (int i = 0; i < nv; i++) {
        double sum = 0;
        for (int k = i; k < nv; k++) sum += frame->factor[k * nv + i] * v[k];
        y[i] = sum;
    }
}

void measure_unwhiten(const measure_frame *frame, const double *y, double *v) {
    if (v != y) memcpy(v, y, (size_t)frame->nv * sizeof *v);
    carom_cholesky_backward(frame->nv, frame->factor, v);
}

int measure_basis(int count, int nv, double *rows, double *basis) {
    int rank = 0;
    for (double longest = 0; rank < nv && rank < count; rank++) {
        // The row that stands out most of the span so far.
        int best = 0;
        double most = 0;
        for (int i = 0; i < count; i++) {
            const double length = sqrt(carom_dot(nv, rows + i * nv, rows + i * nv));
            if (length > most) {
                most = length;
                best = i;
            }
        }
        if (rank == 0) longest = most;
        if (most <= MEASURE_RANK * longest) break;
        double *q = basis + rank * nv;
        for (int k = 0; k < nv; k++) q[k] = rows[best * nv + k] / most;
        // What rounding has left of the earlier directions in it is taken out once more.
        for (int j = 0; j < rank; j++) {
            const double share = carom_dot(nv, q, basis + j * nv);
            for (int k = 0; k < nv; k++) q[k] -= share * basis[j * nv + k];
        }
        const double length = sqrt(carom_dot(nv, q, q));
        for (int k = 0; k < nv; k++) q[k] /= length;
        for (int i = 0; i < count; i++) {
            const double share = carom_dot(nv, q, rows + i * nv);
            for (int k = 0; k < nv; k++) rows[i * nv + k] -= share * q[k];
        }
    }
    return rank;
}

void measure_complete_basis(int rank, int nv, double *basis) {
    for (; rank < nv; rank++) {
        // Of the unit vectors, the one that is farthest from the span: at least sqrt((nv - rank) / nv) away.
        int best = 0;
        double most = -1;
        for (int i = 0; i < nv; i++) {
            double rest = 1;
            for (int j = 0; j < rank; j++) rest -= basis[j * nv + i] * basis[j * nv + i];
            if (rest > most) {
                most = rest;
                best = i;
            }
        }
        double *q = basis + rank * nv;
        for (int k = 0; k < nv; k++) q[k] = k == best;
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < rank; j++) {
                const double share = carom_dot(nv, q, basis + j * nv);
                for (int k = 0; k < nv; k++) q[k] -= share * basis[j * nv + k];
            }
        const double length = sqrt(carom_dot(nv, q, q));
        for (int k = 0; k < nv; k++) q[k] /= length;
    }
}

void measure_responses(const carom_measurement *measurement, const measure_frame *frame, double *rows) {
    const int n = carom_impact_contact_size(measurement->impact), nv = frame->nv;
    for (int c = 0; c < n; c++) measure_whiten(frame, carom_impact_response(measurement->impact) + c * nv, rows + c * nv);
}

int measure_cone_edges(const carom_measurement *measurement, const double *responses, double friction, int edges, double *rows) {
    const carom_impact_data *data = carom_impact_get_data(measurement->impact);
    const int nv = data->nv, dim = data->tangent_dim;
    double directions[2 * CAROM_MAX_CONE_EDGES];
    carom_cone_directions(dim, edges, directions);
    int count = 0;
    for (int i = 0; i < data->contacts; i++) {
        const double mu = isnan(friction) ? data->friction[i] : friction;
        const double *contact = responses + i * (1 + dim) * nv;
        for (int e = 0; e < (mu > 0 ? edges : 1); e++, count++)
            for (int k = 0; k < nv; k++) {
                double sum = contact[k];
                for (int t = 0; t < dim && mu > 0; t++) sum += mu * directions[e * dim + t] * contact[(1 + t) * nv + k];
                rows[count * nv + k] = sum;
            }
    }
    return count;
}
