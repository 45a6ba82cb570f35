// SPDX-License-Identifier: Apache-2.0
// Metrics of contact velocities as linear coordinates, and the way back to generalised velocities.
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

static carom_status decompose(carom_metric *metric, carom_error *error) {
    const size_t n = (size_t)metric->n;
    metric->u0 = malloc((n * n + 2 * n) * sizeof(double));
    if (!metric->u0) return carom_fail_memory(error, "metric");
    metric->values = metric->u0 + n;
    metric->vectors = metric->values + n;
    carom_impact_contact_velocity(metric->impact, carom_impact_get_data(metric->impact)->velocity, metric->u0);
    memcpy(metric->vectors, carom_impact_delassus(metric->impact), n * n * sizeof(double));
    const carom_status status = carom_symmetric_eigen(metric->n, metric->vectors, metric->values, error);
    for (size_t i = 0; !status && i < n; i++)
        if (metric->values[i] <= RANK * metric->values[n - 1]) metric->values[i] = 0;
    return status;
}

carom_status carom_metric_create(const carom_impact *impact, carom_metric_kind kind, carom_metric **metric, carom_error *error) {
    *metric = NULL;
    carom_metric *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "metric");
    *made = (carom_metric){.impact = impact, .kind = kind, .n = carom_impact_contact_size(impact)};
    const carom_status status = decompose(made, error);
    if (status)
        carom_metric_free(made);
    else
        *metric = made;
    return status;
}

void carom_metric_free(carom_metric *metric) {
    if (!metric) return;
    free(metric->u0);
    free(metric);
}

void carom_metric_map(const carom_metric *metric, const double *u, double *x) {
    const size_t n = (size_t)metric->n;
    for (size_t i = 0; i < n; i++) {
        x[i] = metric->kind == CAROM_METRIC_EUCLIDEAN ? u[i] - metric->u0[i] : 0;
        if (metric->kind == CAROM_METRIC_EUCLIDEAN || metric->values[i] == 0) continue;
        for (size_t k = 0; k < n; k++) x[i] += metric->vectors[i * n + k] * (u[k] - metric->u0[k]);
        x[i] /= sqrt(metric->values[i]);
    }
}

void carom_metric_unmap(const carom_metric *metric, const double *x, double *u) {
    const size_t n = (size_t)metric->n;
    for (size_t k = 0; k < n; k++) {
        u[k] = metric->u0[k] + (metric->kind == CAROM_METRIC_EUCLIDEAN ? x[k] : 0);
        for (size_t i = 0; i < n && metric->kind == CAROM_METRIC_KINETIC; i++)
            u[k] += metric->vectors[i * n + k] * sqrt(metric->values[i]) * x[i];
    }
}

// One entry of W^+ (u - u0), an impulse that brings the contact velocity u about.
static double impulse_entry(const carom_metric *metric, const double *u, int entry) {
    const size_t n = (size_t)metric->n;
    double impulse = 0;
    for (size_t i = 0; i < n; i++) {
        if (metric->values[i] == 0) continue;
        double along = 0;
        for (size_t k = 0; k < n; k++) along += metric->vectors[i * n + k] * (u[k] - metric->u0[k]);
        impulse += metric->vectors[i * n + (size_t)entry] * along / metric->values[i];
    }
    return impulse;
}

void carom_metric_velocity(const carom_metric *metric, const double *u, double *v) {
    const carom_impact_data *data = carom_impact_get_data(metric->impact);
    const double *response = carom_impact_response(metric->impact);
    memcpy(v, data->velocity, (size_t)data->nv * sizeof *v);
    for (int c = 0; c < metric->n; c++) {
        const double impulse = impulse_entry(metric, u, c);
        for (int k = 0; k < data->nv; k++) v[k] += response[(size_t)c * (size_t)data->nv + (size_t)k] * impulse;
    }
}

double carom_metric_unreachable(const carom_metric *metric, const double *v) {
    const carom_impact_data *data = carom_impact_get_data(metric->impact);
    const int nv = data->nv;
    double *work = malloc((size_t)(metric->n + nv) * sizeof *work);
    if (!work) return NAN;
    double *rest = work + metric->n, square = 0;
    carom_impact_contact_velocity(metric->impact, v, work);
    carom_metric_velocity(metric, work, rest);
    for (int k = 0; k < nv; k++) rest[k] = v[k] - rest[k];
    for (int k = 0; k < nv; k++) square += rest[k] * (data->mass ? carom_dot(nv, data->mass + (size_t)k * (size_t)nv, rest) : rest[k]);
    free(work);
    return sqrt(fmax(square, 0));
}
