// SPDX-License-Identifier: Apache-2.0
// The constants of the termination theory (Halm & Posa, Lemmas 1 and 6, Theorem 8).
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "carom/reach.h"
#include "reach/pointed.h"

// ----------------------------------------------------------------------------------------------------------- constants

carom_status carom_reach_psi(const carom_impact *impact, int edges, double *psi, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)data->nv, stride = 1 + (size_t)data->tangent_dim;
    *psi = NAN;
    // Of the two products of a matrix and its transpose the smaller, among large ones.
    const bool transposed = nv < n && n > CAROM_FIXED_ORDER_SIZE;
    const size_t size = transposed ? nv : n;
    carom_arena arena = {0};
    double *rows = carom_arena_take(&arena, n * nv, sizeof *rows), *gram = carom_arena_take(&arena, size * size, sizeof *gram);
    double *values = carom_arena_take(&arena, size, sizeof *values);
    carom_status status = arena.failed ? carom_fail_memory(error, "psi") : CAROM_OK;
    if (!status) {
        // k evenly spread directions satisfy sum_j d_j d_j' = k/tangent_dim identity, so that Jbar has the singular values of J with
        // tangent rows scaled by the root of that.
        const double weight = sqrt((double)edges / data->tangent_dim);
        for (size_t c = 0; c < n; c++)
            for (size_t k = 0; k < nv; k++)
                rows[transposed ? k * n + c : c * nv + k] = carom_impact_response(impact)[c * nv + k] * (c % stride ? weight : 1);
        carom_gram((int)size, (int)(transposed ? n : nv), rows, gram);
        status = carom_symmetric_eigen((int)size, gram, values, error);
        const double largest = status ? NAN : values[size - 1];
        *psi = sqrt(largest) * data->contacts * (1 + carom_max_abs((size_t)data->contacts, data->friction)) + 1;
    }
    carom_arena_free(&arena);
    return status;
}

carom_status carom_reach_get_bounds(const carom_impact *impact, int edges, double step, carom_reach_bounds *bounds, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double sides = data->contacts + 1;
    *bounds = (carom_reach_bounds){.r_norm = NAN, .psi = NAN, .step_bound_c = NAN, .step_bound = NAN, .step_tail = sides * sides};
    if (step <= 0) return carom_fail(error, CAROM_BAD_INPUT, "step: %g is not greater than 0", step);
    carom_status status = carom_pointed_decide(impact, edges, &bounds->pointed, &bounds->pointed_certified, error);
    if (!status && bounds->pointed) status = carom_pointed_least_r(impact, edges, &bounds->r_norm, error);
    if (!status) status = carom_reach_psi(impact, edges, &bounds->psi, error);
    if (status || isnan(step) || isnan(bounds->r_norm) || !data->mass) return status;
    // c = 4 ceil((m+1) ||r|| / (h sqrt(lambda_min(M)))), eq. (78).
    const size_t nv = (size_t)data->nv;
    carom_arena arena = {0};
    double *mass = carom_arena_take(&arena, nv * nv, sizeof *mass), *values = carom_arena_take(&arena, nv, sizeof *values);
    if (arena.failed) status = carom_fail_memory(error, "step bound");
    if (!status) {
        memcpy(mass, data->mass, nv * nv * sizeof *mass);
        status = carom_symmetric_eigen(data->nv, mass, values, error);
    }
    if (!status) {
        bounds->step_bound_c = 4 * ceil(sides * bounds->r_norm / (step * sqrt(values[0])));
        bounds->step_bound = bounds->step_bound_c * ceil(sqrt(2 * carom_impact_initial_energy(impact)));
    }
    carom_arena_free(&arena);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ samples

carom_status carom_reach_log10_samples(const carom_net_question *q, double *log10_samples, carom_error *error) {
    *log10_samples = NAN;
    // Every cap in [0,h]^caps moves the outcome by at most L h sqrt(caps).
    const double reach = q->lipschitz * q->step * sqrt((double)q->caps);
    if (!(q->lipschitz > 0 && q->step > 0 && q->caps > 0 && q->epsilon > 0 && isfinite(reach / q->epsilon)))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "samples: the Lipschitz constant, the step, the caps and epsilon must be positive and finite");
    if (!(q->failure > 0 && q->failure < 1)) return carom_fail(error, CAROM_BAD_INPUT, "failure: %g is not between 0 and 1", q->failure);
    // N ln(1 - Omega) <= ln(failure Omega); ln(1 - Omega) = -Omega to double precision where Omega is small.
    const double log_omega = -(double)q->caps * log(ceil(reach / q->epsilon)), omega = exp(log_omega);
    if (omega == 1) {
        *log10_samples = 0;
        return CAROM_OK;
    }
    const double log_rate = omega > DBL_EPSILON ? log(-log1p(-omega)) : log_omega;
    *log10_samples = fmax(0, (log(-(log(q->failure) + log_omega)) - log_rate) / log(10));
    return CAROM_OK;
}
