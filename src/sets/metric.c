// SPDX-License-Identifier: Apache-2.0
// Metrics of contact velocities as linear coordinates, and the way back to generalised velocities.
//
// With W = J M^-1 J' = sum_i w_i q_i q_i', the kinetic coordinates of a change of contact velocities are q_i.(u - u0) / sqrt(w_i): their
// length is the square root of (u - u0)' W^+ (u - u0) = (v - v-)' M (v - v-), because v - v- = M^-1 J' W^+ (u - u0).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/sets.h"

// Eigenvalues of W below this share of the largest are rounding: the contacts are redundant in these directions.
#define RANK 1e-12

const char *const carom_metric_names[] = {[CAROM_METRIC_EUCLIDEAN] = "euclidean", [CAROM_METRIC_KINETIC] = "kinetic", NULL};

struct carom_metric {
    const carom_impact *impact;
    carom_metric_kind kind;
    int n;
    double *u0;       // [n] pre-impact contact velocity
    double *values;   // [n] eigenvalues of W, 0 where they are rounding
    double *vectors;  // [n x n] eigenvectors as rows
};

carom_status carom_metric_create(const carom_impact *impact, carom_metric_kind kind, carom_metric **metric, carom_error *error) {
    *metric = NULL;
    const int size = carom_impact_contact_size(impact);
    const size_t n = (size_t)size;
    carom_metric *made = calloc(1, sizeof *made);
    double *numbers = malloc((n * n + 2 * n) * sizeof *numbers);
    if (!made || !numbers) {
        free(made);
        free(numbers);
        return carom_fail_memory(error, "metric");
    }
    *made = (carom_metric){impact, kind, size, .u0 = numbers, .values = numbers + n, .vectors = numbers + 2 * n};
    carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, made->u0);
    // W = sum_i values_i vectors_i vectors_i'.
    memcpy(made->vectors, carom_impact_delassus(impact), n * n * sizeof *made->vectors);
    const carom_status status = carom_symmetric_eigen(size, made->vectors, made->values, error);
    if (status) {
        carom_metric_free(made);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        if (made->values[i] <= RANK * made->values[n - 1]) made->values[i] = 0;
    *metric = made;
    return CAROM_OK;
}

void carom_metric_free(carom_metric *metric) {
    if (!metric) return;
    free(metric->u0);
    free(metric);
}

void carom_metric_map(const carom_metric *metric, const double *u, double *x) {
    const size_t n = (size_t)metric->n;
    // Kinetic: x_i = vectors_i . (u - u0) / sqrt(values_i), 0 in directions that W does not have.
    for (size_t i = 0; i < n; i++) {
        x[i] = metric->kind == CAROM_METRIC_EUCLIDEAN ? u[i] - metric->u0[i] : 0;
        if (metric->kind == CAROM_METRIC_EUCLIDEAN || metric->values[i] == 0) continue;
        for (size_t k = 0; k < n; k++) x[i] += metric->vectors[i * n + k] * (u[k] - metric->u0[k]);
        x[i] /= sqrt(metric->values[i]);
    }
}

// u = u0 + x, or u0 + sum_i sqrt(w_i) x_i q_i.
void carom_metric_unmap(const carom_metric *metric, const double *x, double *u) {
    const size_t n = (size_t)metric->n;
    for (size_t k = 0; k < n; k++) {
        u[k] = metric->u0[k] + (metric->kind == CAROM_METRIC_EUCLIDEAN ? x[k] : 0);
        for (size_t i = 0; i < n && metric->kind == CAROM_METRIC_KINETIC; i++)
            u[k] += metric->vectors[i * n + k] * sqrt(metric->values[i]) * x[i];
    }
}

// v = v- + M^-1 J' p with p = W^+ (u - u0), an impulse that brings the contact velocity u about.
void carom_metric_velocity(const carom_metric *metric, const double *u, double *v) {
    const carom_impact_data *data = carom_impact_get_data(metric->impact);
    const double *response = carom_impact_response(metric->impact);
    const size_t n = (size_t)metric->n, nv = (size_t)data->nv;
    memcpy(v, data->velocity, nv * sizeof *v);
    for (size_t c = 0; c < n; c++) {
        double impulse = 0;
        for (size_t i = 0; i < n; i++) {
            if (metric->values[i] == 0) continue;
            double along = 0;
            for (size_t k = 0; k < n; k++) along += metric->vectors[i * n + k] * (u[k] - metric->u0[k]);
            impulse += metric->vectors[i * n + c] * along / metric->values[i];
        }
        for (size_t k = 0; k < nv; k++) v[k] += response[c * nv + k] * impulse;
    }
}

double carom_metric_unreachable(const carom_metric *metric, const double *v) {
    const carom_impact_data *data = carom_impact_get_data(metric->impact);
    const int nv = data->nv;
    double *work = malloc((size_t)(metric->n + nv) * sizeof *work);
    if (!work) return NAN;
    // The rest of v after the velocity that an impulse can reach, and its kinetic length sqrt(rest' M rest).
    double *rest = work + metric->n, square = 0;
    carom_impact_contact_velocity(metric->impact, v, work);
    carom_metric_velocity(metric, work, rest);
    for (int k = 0; k < nv; k++) rest[k] = v[k] - rest[k];
    for (int k = 0; k < nv; k++) square += rest[k] * (data->mass ? carom_dot(nv, data->mass + (size_t)k * (size_t)nv, rest) : rest[k]);
    free(work);
    return sqrt(fmax(square, 0));
}
