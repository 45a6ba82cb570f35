// SPDX-License-Identifier: Apache-2.0
// Pointedness of the friction cones and the constants of the termination theory (Halm & Posa, Assumption 2, Lemmas 1 and 6,
// Theorem 8).
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
// mu = 1; in multipliers of the edges it would square mu in the condition number.
static carom_status solve_least_norm(const carom_impact *impact, int edges, carom_stepper *stepper, double *w, double *z, bool *solved,
                                     carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t size = (size_t)carom_stepper_lcp_size(stepper), m = (size_t)data->contacts, gamma = m * (1 + (size_t)edges);
    double *matrix = malloc(size * size * sizeof *matrix);
    if (!matrix) return carom_fail_memory(error, "pointedness");
    memcpy(matrix, carom_stepper_lcp_matrix(stepper), size * size * sizeof *matrix);
    for (size_t i = 0; i < size; i++) w[i] = i < m ? -1 : 0;
    for (size_t i = 0; i < m; i++) matrix[i * size + gamma + i] = -data->friction[i];
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(&carom_lcp_lemke, (int)size, matrix, &lcp, error);
    if (!status) {
        carom_lcp_info info;
        carom_lcp_solve(lcp, w, z, &info);
        *solved = info.verdict == CAROM_COMPLETE;
        carom_lcp_free(lcp);
    }
    free(matrix);
    return status;
}

// r = M^-1 J'(p, q) from z = (p, edges of q, gamma).
static void assemble_r(const carom_impact *impact, int edges, const double *directions, const double *z, double *r) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int m = data->contacts, dim = data->tangent_dim, nv = data->nv;
    memset(r, 0, (size_t)nv * sizeof *r);
    for (int i = 0; i < m; i++) {
        const double *response = carom_impact_response(impact) + (size_t)(i * (1 + dim)) * (size_t)nv;
        for (int c = 0; c <= dim; c++) {
            double impulse = c ? 0 : z[i];
            for (int j = 0; c && j < edges; j++) impulse += directions[j * dim + c - 1] * z[m + i * edges + j];
            for (int k = 0; k < nv; k++) r[k] += impulse * response[(size_t)c * (size_t)nv + (size_t)k];
        }
    }
}

// r.M^-1 f >= 1 for every edge: the certificate, up to round-off of its terms.
static bool is_certificate(const carom_impact *impact, int edges, const double *directions, const double *r) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int dim = data->tangent_dim, nv = data->nv;
    for (int i = 0; i < data->contacts; i++) {
        const double *response = carom_impact_response(impact) + (size_t)(i * (1 + dim)) * (size_t)nv;
        const double normal = carom_dot(nv, response, r);
        double tangent[2] = {0, 0};
        for (int p = 0; p < dim; p++) tangent[p] = carom_dot(nv, response + (size_t)(1 + p) * (size_t)nv, r);
        for (int j = 0; j < edges; j++)
            if (!(normal + data->friction[i] * carom_dot(dim, directions + j * dim, tangent) >= 1 - CERTIFICATE_TOLERANCE)) return false;
    }
    return true;
}

// The same contacts with the operator J M^-2 J', in contact space.
static carom_status square_impact(const carom_impact *impact, carom_impact **squared, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact);
    double *work = calloc(n * n + n, sizeof *work);
    if (!work) return carom_fail_memory(error, "pointedness");
    carom_gram((int)n, data->nv, carom_impact_response(impact), work);
    const carom_delassus_data square = {.contacts = data->contacts,
                                        .tangent_dim = data->tangent_dim,
                                        .delassus = work,
                                        .velocity = work + n * n,
                                        .friction = data->friction};
    const carom_status status = carom_impact_create_delassus(&square, squared, error);
    free(work);
    return status;
}

static carom_status find_certificate(const carom_impact *impact, int edges, carom_stepper *stepper, carom_reach_bounds *bounds,
                                     carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t size = (size_t)carom_stepper_lcp_size(stepper), nv = (size_t)data->nv,
                 directions_size = (size_t)edges * (size_t)data->tangent_dim;
    double *w = malloc((2 * size + nv + directions_size) * sizeof *w);
    if (!w) return carom_fail_memory(error, "pointedness");
    double *z = w + size, *r = z + size, *directions = r + nv;
    bool solved = false;
    const carom_status status = solve_least_norm(impact, edges, stepper, w, z, &solved, error);
    if (solved) {
        carom_cone_directions(data->tangent_dim, edges, directions);
        assemble_r(impact, edges, directions, z, r);
        bounds->pointed = is_certificate(impact, edges, directions, r);
        if (bounds->pointed) bounds->r_norm = sqrt(carom_dot(data->nv, r, r));
    }
    free(w);
    return status;
}

// Pointed, and ||r||: the cone is pointed exactly when some r has r.M^-1 f >= 1 for all its edges f.
static carom_status least_r(const carom_impact *impact, int edges, carom_reach_bounds *bounds, carom_error *error) {
    carom_impact *squared = NULL;
    carom_stepper *stepper = NULL;
    carom_stepper_options options = carom_stepper_defaults();
    if (carom_impact_get_data(impact)->tangent_dim == 2) options.cone_edges = edges;
    carom_status status = square_impact(impact, &squared, error);
    if (!status) status = carom_stepper_create(squared, &options, &stepper, error);
    if (!status) status = find_certificate(impact, edges, stepper, bounds, error);
    carom_stepper_free(stepper);
    carom_impact_free(squared);
    return status;
}

// The extreme eigenvalues of a symmetric matrix, which is overwritten.
static carom_status extreme_eigenvalues(int n, double *A, double *least, double *largest, carom_error *error) {
    double *values = malloc((size_t)n * sizeof *values);
    if (!values) return carom_fail_memory(error, "eigenvalues");
    const carom_status status = carom_symmetric_eigen(n, A, values, error);
    if (!status) {
        *least = values[0];
        *largest = values[n - 1];
    }
    free(values);
    return status;
}

carom_status carom_reach_psi(const carom_impact *impact, int edges, double *psi, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)data->nv, stride = 1 + (size_t)data->tangent_dim;
    *psi = NAN;
    double *rows = malloc(n * nv * sizeof *rows), *gram = malloc(n * n * sizeof *gram);
    carom_status status = rows && gram ? CAROM_OK : carom_fail_memory(error, "psi");
    if (!status) {
        // k evenly spread directions satisfy sum_j d_j d_j' = k/tangent_dim identity, so that Jbar has the singular values of J with
        // tangent rows scaled by the root of that.
        const double weight = sqrt((double)edges / data->tangent_dim);
        memcpy(rows, carom_impact_response(impact), n * nv * sizeof *rows);
        for (size_t c = 0; c < n; c++)
            for (size_t k = 0; k < nv && c % stride; k++) rows[c * nv + k] *= weight;
        carom_gram((int)n, data->nv, rows, gram);
        double least = NAN, largest = NAN;
        status = extreme_eigenvalues((int)n, gram, &least, &largest, error);
        *psi = sqrt(largest) * data->contacts * (1 + carom_max_abs((size_t)data->contacts, data->friction)) + 1;
    }
    free(rows);
    free(gram);
    return status;
}

// c = 4 ceil((m+1) ||r|| / (h sqrt(lambda_min(M)))), eq. (78).
static carom_status step_bound(const carom_impact *impact, double step, carom_reach_bounds *bounds, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    if (!bounds->pointed || !data->mass) return CAROM_OK;
    const size_t nv = (size_t)data->nv;
    double *mass = malloc(nv * nv * sizeof *mass);
    if (!mass) return carom_fail_memory(error, "step bound");
    memcpy(mass, data->mass, nv * nv * sizeof *mass);
    double least = NAN, largest = NAN;
    const carom_status status = extreme_eigenvalues(data->nv, mass, &least, &largest, error);
    free(mass);
    if (status) return status;
    bounds->step_bound_c = 4 * ceil((data->contacts + 1) * bounds->r_norm / (step * sqrt(least)));
    bounds->step_bound = bounds->step_bound_c * ceil(sqrt(2 * carom_impact_initial_energy(impact)));
    return CAROM_OK;
}

carom_status carom_reach_get_bounds(const carom_impact *impact, int edges, double step, carom_reach_bounds *bounds, carom_error *error) {
    const double sides = carom_impact_get_data(impact)->contacts + 1;
    *bounds = (carom_reach_bounds){.r_norm = NAN, .psi = NAN, .step_bound_c = NAN, .step_bound = NAN, .step_tail = sides * sides};
    if (!(step > 0)) return carom_fail(error, CAROM_BAD_INPUT, "step: %g is not greater than 0", step);
    carom_status status = least_r(impact, edges, bounds, error);
    if (!status) status = carom_reach_psi(impact, edges, &bounds->psi, error);
    if (!status) status = step_bound(impact, step, bounds, error);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ samples

carom_status carom_reach_log10_samples(const carom_net_question *q, double *log10_samples, carom_error *error) {
    *log10_samples = NAN;
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
