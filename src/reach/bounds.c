// SPDX-License-Identifier: Apache-2.0
// Pointedness of the friction cones and the constants of the termination theory (Halm & Posa, Assumption 2, Lemmas 1 and 6,
// Theorem 8).
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "carom/reach.h"

// Round-off of r.M^-1 f over 1 that a certificate of pointedness may have.
#define CERTIFICATE_TOLERANCE 1e-6

// ------------------------------------------------------------------------------------------------------- pointedness

// min ||r||_2 with r.M^-1 f >= 1 for all cone edges f. Its optimality conditions, in impulses p (normal) and q (along the edges) with
// r = M^-1 J'(p, q), are those of an Anitescu-Potra step whose Delassus operator is J M^-2 J', whose normal velocities are -1, and whose
// sliding speeds gamma also act on the normals, by -mu:
//
//     0 <= p _|_ W_nn p + W_nD q - mu gamma - 1 >= 0,   0 <= q _|_ W_Dn p + W_DD q + E gamma >= 0,   0 <= gamma _|_ mu p - E'q >= 0.
//
// A positive semidefinite LCP, on which Lemke ends on a ray exactly when there is no such r. Written in (p, q), mu = 1e8 is no harder than
// mu = 1; in multipliers of the edges it would square mu in the condition number. `z` receives (p, q, gamma).
static carom_status solve_least_norm(const carom_impact *impact, int edges, carom_arena *arena, double **z, bool *solved,
                                     carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), m = (size_t)data->contacts;
    const size_t gamma = m * (1 + (size_t)edges), size = gamma + m;
    double *square = carom_arena_take(arena, n * n, sizeof *square), *velocity = carom_arena_take(arena, n, sizeof *velocity);
    double *matrix = carom_arena_take(arena, size * size, sizeof *matrix), *w = carom_arena_take(arena, size, sizeof *w);
    *z = carom_arena_take(arena, size, sizeof **z);
    if (arena->failed) return carom_fail_memory(error, "pointedness");
    // The same contacts with the operator J M^-2 J', in contact space; the matrix of their step, but for -mu gamma.
    carom_gram((int)n, data->nv, carom_impact_response(impact), square);
    const carom_delassus_data squared = {
        .contacts = data->contacts, .tangent_dim = data->tangent_dim, .delassus = square, .velocity = velocity, .friction = data->friction};
    carom_stepper_options options = carom_stepper_defaults();
    if (data->tangent_dim == 2) options.cone_edges = edges;
    carom_impact *contacts = NULL;
    carom_stepper *stepper = NULL;
    carom_lcp *lcp = NULL;
    carom_status status = carom_impact_create_delassus(&squared, &contacts, error);
    if (!status) status = carom_stepper_create(contacts, &options, &stepper, error);
    if (!status) {
        memcpy(matrix, carom_stepper_lcp_matrix(stepper), size * size * sizeof *matrix);
        for (size_t i = 0; i < size; i++) w[i] = i < m ? -1 : 0;
        for (size_t i = 0; i < m; i++) matrix[i * size + gamma + i] = -data->friction[i];
        // With a thousand contacts its matrices take hundreds of megabytes.
        carom_stepper_free(stepper);
        status = carom_lcp_create(&carom_lcp_lemke, (int)size, matrix, &lcp, error);
    }
    if (!status) {
        carom_lcp_info info;
        carom_lcp_solve(lcp, w, *z, &info);
        *solved = info.verdict == CAROM_COMPLETE;
    }
    carom_lcp_free(lcp);
    carom_impact_free(contacts);
    return status;
}

// Pointed, and ||r||: the cone is pointed exactly when some r has r.M^-1 f >= 1 for all its edges f.
static carom_status find_least_r(const carom_impact *impact, int edges, carom_reach_bounds *bounds, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int m = data->contacts, dim = data->tangent_dim, nv = data->nv;
    carom_arena arena = {0};
    double *r = carom_arena_take(&arena, (size_t)nv, sizeof *r), *z = NULL;
    double *directions = carom_arena_take(&arena, (size_t)edges * (size_t)dim, sizeof *directions);
    bool solved = false;
    const carom_status status = solve_least_norm(impact, edges, &arena, &z, &solved, error);
    if (!status && solved) {
        carom_cone_directions(dim, edges, directions);
        // r = M^-1 J'(p, q) from z = (p, edges of q, gamma).
        for (int i = 0; i < m; i++) {
            const double *response = carom_impact_response(impact) + (size_t)(i * (1 + dim)) * (size_t)nv;
            for (int c = 0; c <= dim; c++) {
                double impulse = c ? 0 : z[i];
                for (int j = 0; c && j < edges; j++) impulse += directions[j * dim + c - 1] * z[m + i * edges + j];
                for (int k = 0; k < nv; k++) r[k] += impulse * response[(size_t)c * (size_t)nv + (size_t)k];
            }
        }
        // The certificate is r itself: r.M^-1 f >= 1 for every edge, up to round-off of its terms.
        bounds->pointed = true;
        for (int i = 0; i < m; i++) {
            const double *response = carom_impact_response(impact) + (size_t)(i * (1 + dim)) * (size_t)nv;
            const double normal = carom_dot(nv, response, r);
            double tangent[2] = {0, 0};
            for (int p = 0; p < dim; p++) tangent[p] = carom_dot(nv, response + (size_t)(1 + p) * (size_t)nv, r);
            for (int j = 0; j < edges; j++) {
                const double along = carom_dot(dim, directions + j * dim, tangent);
                if (!(normal + data->friction[i] * along >= 1 - CERTIFICATE_TOLERANCE)) bounds->pointed = false;
            }
        }
        if (bounds->pointed) bounds->r_norm = sqrt(carom_dot(nv, r, r));
    }
    carom_arena_free(&arena);
    return status;
}

// ----------------------------------------------------------------------------------------------------------- constants

carom_status carom_reach_psi(const carom_impact *impact, int edges, double *psi, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)data->nv, stride = 1 + (size_t)data->tangent_dim;
    *psi = NAN;
    carom_arena arena = {0};
    double *rows = carom_arena_take(&arena, n * nv, sizeof *rows), *gram = carom_arena_take(&arena, n * n, sizeof *gram);
    double *values = carom_arena_take(&arena, n, sizeof *values);
    carom_status status = arena.failed ? carom_fail_memory(error, "psi") : CAROM_OK;
    if (!status) {
        // k evenly spread directions satisfy sum_j d_j d_j' = k/tangent_dim identity, so that Jbar has the singular values of J with
        // tangent rows scaled by the root of that.
        const double weight = sqrt((double)edges / data->tangent_dim);
        memcpy(rows, carom_impact_response(impact), n * nv * sizeof *rows);
        for (size_t c = 0; c < n; c++)
            for (size_t k = 0; k < nv && c % stride; k++) rows[c * nv + k] *= weight;
        carom_gram((int)n, data->nv, rows, gram);
        status = carom_symmetric_eigen((int)n, gram, values, error);
        const double largest = status ? NAN : values[n - 1];
        *psi = sqrt(largest) * data->contacts * (1 + carom_max_abs((size_t)data->contacts, data->friction)) + 1;
    }
    carom_arena_free(&arena);
    return status;
}

carom_status carom_reach_get_bounds(const carom_impact *impact, int edges, double step, carom_reach_bounds *bounds, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double sides = data->contacts + 1;
    *bounds = (carom_reach_bounds){.r_norm = NAN, .psi = NAN, .step_bound_c = NAN, .step_bound = NAN, .step_tail = sides * sides};
    if (!(step > 0)) return carom_fail(error, CAROM_BAD_INPUT, "step: %g is not greater than 0", step);
    carom_status status = find_least_r(impact, edges, bounds, error);
    if (!status) status = carom_reach_psi(impact, edges, &bounds->psi, error);
    if (status || !bounds->pointed || !data->mass) return status;
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
