// SPDX-License-Identifier: Apache-2.0
// Pointedness of the friction cones and the constants of the termination theory (Halm & Posa, Assumption 2, Lemma 6, Theorem 8).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "carom/reach.h"

// Row (i, j) is (M^-1 f_ij)' with the cone edge f_ij = Jn_i' + weight_i Jt_i' d_j.
static void fill_edges(const carom_impact *impact, int edges, const double *directions, double *rows) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t nv = (size_t)data->nv, dim = (size_t)data->tangent_dim;
    for (size_t i = 0; i < (size_t)data->contacts; i++) {
        const double *response = carom_impact_response(impact) + i * (1 + dim) * nv;
        for (size_t j = 0; j < (size_t)edges; j++) {
            double *row = rows + (i * (size_t)edges + j) * nv;
            memcpy(row, response, nv * sizeof *row);
            for (size_t p = 0; p < dim; p++)
                for (size_t k = 0; k < nv; k++) row[k] += data->friction[i] * directions[j * dim + p] * response[(1 + p) * nv + k];
        }
    }
}

// min ||r||_2 with a_i.r >= b_i for all rows a_i.
typedef struct least_norm {
    int count, nv;
    double *rows;         // [count x nv], of unit length
    double *right_side;   // b_i > 0
    double *y;            // multipliers
    double *gram, *w;     // of the dual LCP
    long double *basis;   // [nv x nv] orthonormal rows
    long double *height;  // [nv] r along them
    double *r;            // [nv]
} least_norm;

static void release(least_norm *p) {
    free(p->rows);
    free(p->right_side);
    free(p->y);
    free(p->gram);
    free(p->w);
    free(p->basis);
    free(p->height);
    free(p->r);
}

static bool allocate(least_norm *p, int count, int nv) {
    const size_t size = (size_t)count, width = (size_t)nv;
    *p = (least_norm){.count = count, .nv = nv};
    p->rows = malloc(size * width * sizeof *p->rows);
    p->right_side = malloc(size * sizeof *p->right_side);
    p->y = malloc(size * sizeof *p->y);
    p->gram = malloc(size * size * sizeof *p->gram);
    p->w = malloc(size * sizeof *p->w);
    p->basis = malloc(width * width * sizeof *p->basis);
    p->height = malloc(width * sizeof *p->height);
    p->r = malloc(width * sizeof *p->r);
    return p->rows && p->right_side && p->y && p->gram && p->w && p->basis && p->height && p->r;
}

// Rows of unit length, since mu = 1e5 makes them differ as much. False when one vanishes: 0 >= 1 has no solution.
static bool scale_rows(least_norm *p) {
    for (int i = 0; i < p->count; i++) {
        double *row = p->rows + (size_t)i * (size_t)p->nv;
        const double length = sqrt(carom_dot(p->nv, row, row));
        if (!(length > 0)) return false;
        for (int k = 0; k < p->nv; k++) row[k] /= length;
        p->right_side[i] = 1 / length;
    }
    return true;
}

// The dual 0 <= y _|_ A A'y - b >= 0, r = A'y: a copositive-plus LCP, on which Lemke ends on a ray exactly when there is no such r.
static carom_status solve_dual(least_norm *p, bool *feasible, carom_error *error) {
    carom_gram(p->count, p->nv, p->rows, p->gram);
    for (int i = 0; i < p->count; i++) p->w[i] = -p->right_side[i];
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(&carom_lcp_lemke, p->count, p->gram, &lcp, error);
    if (status) return status;
    carom_lcp_info info;
    carom_lcp_solve(lcp, p->w, p->y, &info);
    *feasible = info.verdict == CAROM_COMPLETE;
    carom_lcp_free(lcp);
    return CAROM_OK;
}

static long double long_dot(int n, const long double *a, const long double *b) {
    long double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

// Adds row i to the orthonormal basis (modified Gram-Schmidt), with r's component along the new direction. Dependent rows add nothing.
static int extend_basis(const least_norm *p, int used, int i) {
    const long double dependent = 1e-12L;  // of unit rows: far above round-off, far below 1/mu for mu = 1e5
    long double *q = p->basis + (size_t)used * (size_t)p->nv, height = p->right_side[i];
    for (int k = 0; k < p->nv; k++) q[k] = p->rows[(size_t)i * (size_t)p->nv + (size_t)k];
    for (int b = 0; b < used; b++) {
        const long double *earlier = p->basis + (size_t)b * (size_t)p->nv;
        const long double along = long_dot(p->nv, q, earlier);
        for (int k = 0; k < p->nv; k++) q[k] -= along * earlier[k];
        height -= along * p->height[b];
    }
    const long double length = sqrtl(long_dot(p->nv, q, q));
    if (length < dependent) return used;
    for (int k = 0; k < p->nv; k++) q[k] /= length;
    p->height[used] = height / length;
    return used + 1;
}

// The point of least norm where the rows with y_i > 0 hold with equality, from the rows themselves in extended precision: the Gram matrix
// squares a condition number that mu = 1e5 makes 1e5.
static void find_point(least_norm *p) {
    int used = 0;
    for (int i = 0; i < p->count && used < p->nv; i++)
        if (p->y[i] > 0) used = extend_basis(p, used, i);
    for (int k = 0; k < p->nv; k++) {
        long double sum = 0;
        for (int b = 0; b < used; b++) sum += p->height[b] * p->basis[(size_t)b * (size_t)p->nv + (size_t)k];
        p->r[k] = (double)sum;
    }
}

// Pointed, and ||r||: the cone is pointed exactly when some r has r.M^-1 f >= 1 for all its edges f.
static carom_status least_r(const carom_impact *impact, int edges, carom_reach_bounds *bounds, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    double *directions = malloc((size_t)edges * (size_t)data->tangent_dim * sizeof *directions);
    least_norm p;
    carom_status status = CAROM_OK;
    if (!allocate(&p, data->contacts * edges, data->nv) || !directions) {
        status = carom_fail_memory(error, "pointedness");
    } else {
        carom_cone_directions(data->tangent_dim, edges, directions);
        fill_edges(impact, edges, directions, p.rows);
        if (scale_rows(&p)) status = solve_dual(&p, &bounds->pointed, error);
        if (bounds->pointed) {
            find_point(&p);
            bounds->r_norm = sqrt(carom_dot(p.nv, p.r, p.r));
        }
    }
    free(directions);
    release(&p);
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
    bounds->step_bound_c = NAN;
    if (!bounds->pointed || !data->mass) return CAROM_OK;
    const size_t nv = (size_t)data->nv;
    double *mass = malloc(nv * nv * sizeof *mass);
    if (!mass) return carom_fail_memory(error, "step bound");
    memcpy(mass, data->mass, nv * nv * sizeof *mass);
    double least = NAN, largest = NAN;
    const carom_status status = extreme_eigenvalues(data->nv, mass, &least, &largest, error);
    free(mass);
    if (!status) bounds->step_bound_c = 4 * ceil((data->contacts + 1) * bounds->r_norm / (step * sqrt(least)));
    return status;
}

carom_status carom_reach_get_bounds(const carom_impact *impact, int edges, double step, carom_reach_bounds *bounds, carom_error *error) {
    *bounds = (carom_reach_bounds){.r_norm = NAN, .psi = NAN, .step_bound_c = NAN};
    if (!(step > 0)) return carom_fail(error, CAROM_BAD_INPUT, "step: %g is not greater than 0", step);
    carom_status status = least_r(impact, edges, bounds, error);
    if (!status) status = carom_reach_psi(impact, edges, &bounds->psi, error);
    if (!status) status = step_bound(impact, step, bounds, error);
    return status;
}
