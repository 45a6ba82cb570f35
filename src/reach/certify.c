// SPDX-License-Identifier: Apache-2.0
// Which steps of time stepping are solutions of the inclusion, and which may leave its set (docs/laws.md, "What is not").
#include "reach/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/box.h"
#include "carom/dense.h"
#include "carom/reach.h"

// Velocities below this share of the velocity scale are zero; the ends of step and solution may differ by as much.
#define AT_REST 1e-9
// Round-off of friction against its bound mu lam_n.
#define ROUND_OFF 1e-9
// Added to W_tt, as a share of the largest entry of W, so that equal tangents have a solution.
#define REGULARISATION 1e-14
// Changes of mode that are followed, for each contact: few steps have more than one.
enum { MOST_CHANGES = 4 };

struct carom_certifier {
    const carom_impact *impact;
    const double *mu;  // [contacts]
    int contacts, dim, n, edges;
    double rest, regularisation;
    double directions[2 * CAROM_MAX_CONE_EDGES];  // [edges x dim]
    double *u, *end;                              // [n] contact velocity on the way, and at the end of the step
    double *nothing;                              // [contacts] normal impulse that moves no velocity by more than `rest`
    double *left;                                 // [contacts] normal impulse that is still to come
    double *rate, *du;                            // [n] of the impulse, and of the velocity
    double *response;                             // [n x n] W by columns
    int *resting;                                 // [contacts] that press at slip zero
    carom_box *friction;                          // of those; NULL in space
    carom_arena arena;
};

carom_status carom_certifier_create(const carom_impact *impact, int64_t cone_edges, carom_certifier **certifier, carom_error *error) {
    *certifier = NULL;
    carom_certifier *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "certificates of steps");
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), contacts = (size_t)data->contacts;
    *made = (carom_certifier){.impact = impact,
                              .mu = data->friction,
                              .contacts = data->contacts,
                              .dim = data->tangent_dim,
                              .n = (int)n,
                              .rest = AT_REST * carom_impact_velocity_scale(impact)};
    const double inverse_mass = carom_max_abs(n * n, carom_impact_delassus(impact));
    made->regularisation = REGULARISATION * inverse_mass;
    made->u = carom_arena_take(&made->arena, n, sizeof(double));
    made->end = carom_arena_take(&made->arena, n, sizeof(double));
    made->nothing = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->left = carom_arena_take(&made->arena, contacts, sizeof(double));
    made->rate = carom_arena_take(&made->arena, n, sizeof(double));
    made->du = carom_arena_take(&made->arena, n, sizeof(double));
    made->response = carom_arena_take(&made->arena, n * n, sizeof(double));
    made->resting = carom_arena_take(&made->arena, contacts, sizeof *made->resting);
    carom_status status = made->arena.failed ? carom_fail_memory(error, "certificates of steps") : CAROM_OK;
    for (size_t i = 0; i < contacts && !status; i++) made->nothing[i] = made->rest / ((1 + data->friction[i]) * inverse_mass);
    for (size_t k = 0; k < n * n && !status; k++) made->response[k] = carom_impact_delassus(impact)[k % n * n + k / n];
    if (!status) status = carom_impact_cone_edges(impact, cone_edges, &made->edges, error);
    if (!status) carom_cone_directions(made->dim, made->edges, made->directions);
    if (!status && made->dim == 1) status = carom_box_create(made->contacts, &made->friction, error);
    if (status)
        carom_certifier_free(made);
    else
        *certifier = made;
    return status;
}

void carom_certifier_free(carom_certifier *certifier) {
    if (!certifier) return;
    carom_box_free(certifier->friction);
    carom_arena_free(&certifier->arena);
    free(certifier);
}

// ------------------------------------------------------------------------------------------------------ straight steps

// Friction is that of the inclusion at this slip where it dissipates the most that the linearised cone allows: mu lam_n max_j -d_j.slip.
static bool dissipates_most(const carom_certifier *c, const double *slip, const double *friction, double limit, size_t stride) {
    if (c->dim == 1) return fabs(*slip) <= c->rest || -*friction * *slip >= (1 - ROUND_OFF) * limit * fabs(*slip);
    double most = 0, power = 0, speed = 0;
    for (int p = 0; p < c->dim; p++) {
        speed = fmax(speed, fabs(slip[(size_t)p * stride]));
        power -= friction[(size_t)p * stride] * slip[(size_t)p * stride];
    }
    if (speed <= c->rest) return true;
    for (int j = 0; j < c->edges; j++) {
        double along = 0;
        for (int p = 0; p < c->dim; p++) along -= c->directions[j * c->dim + p] * slip[(size_t)p * stride];
        most = fmax(most, along);
    }
    return power >= limit * (most - ROUND_OFF * speed);
}

// A step is a straight solution where no contact presses before it has closed, and where its friction is that of its start, too: what holds
// at both ends holds between them.
static bool is_straight(const carom_certifier *c, const double *u, const double *impulse, size_t stride) {
    for (int contact = 0; contact < c->contacts; contact++) {
        const size_t row = (size_t)(contact * (1 + c->dim)) * stride;
        if (!(impulse[row] > c->nothing[contact])) continue;
        if (u[row] > c->rest) return false;
        if (!dissipates_most(c, u + row + stride, impulse + row + stride, c->mu[contact] * impulse[row], stride)) return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------- steps with corners

// velocity += W impulse. Contacts that are open have no impulse.
static void add_response(const carom_certifier *c, const double *impulse, size_t stride, double *velocity) {
    for (int j = 0; j < c->n; j++) {
        const double *column = c->response + j * c->n, share = impulse[(size_t)j * stride];
        for (int k = 0; k < c->n && share != 0; k++) velocity[k] += share * column[k];
    }
}

// Rates of impulse and velocity where closed contacts press in proportion to what is left; friction at rest minimises the rate of slip.
// False where nothing presses, or friction is not solved.
static bool set_rates(carom_certifier *c) {
    const double *mu = c->mu, *W = carom_impact_delassus(c->impact);
    carom_box *box = c->friction;
    bool presses = false;
    box->size = 0;
    for (int i = 0; i < c->contacts; i++) {
        const double weight = c->u[2 * i] <= 0 ? c->left[i] : 0, slip = c->u[2 * i + 1];
        presses = presses || weight > 0;
        c->rate[2 * i] = weight;
        c->rate[2 * i + 1] = slip > 0 ? -mu[i] * weight : slip < 0 ? mu[i] * weight : 0;
        if (slip == 0 && mu[i] * weight > 0) c->resting[box->size++] = i;
    }
    if (!presses) return false;
    memset(c->du, 0, (size_t)c->n * sizeof *c->du);
    add_response(c, c->rate, 1, c->du);
    for (int a = 0; a < box->size; a++) {
        const int row = 2 * c->resting[a] + 1;
        box->b[a] = c->du[row];
        box->bound[a] = mu[c->resting[a]] * c->rate[row - 1];
        for (int k = 0; k < box->size; k++)
            box->A[a * box->size + k] = W[row * c->n + 2 * c->resting[k] + 1] + (a == k ? c->regularisation : 0);
    }
    if (!box->size) return true;
    if (!carom_box_solve(box)) return false;
    for (int a = 0; a < box->size; a++) {
        const int row = 2 * c->resting[a] + 1;
        const double *column = c->response + row * c->n;
        c->rate[row] = box->x[a];
        for (int k = 0; k < c->n; k++) c->du[k] += box->x[a] * column[k];
    }
    for (int a = 0; a < box->size; a++) c->du[2 * c->resting[a] + 1] = box->slope[a];
    return true;
}

// The solution of the inclusion in which every contact spends the step's normal impulse, evenly over the step, but not before it has
// closed: does it end where the step ends? It is followed from one change of slip or closure to the next.
static bool is_followed(carom_certifier *c, const double *u, const double *impulse, size_t stride) {
    for (int k = 0; k < c->n; k++) {
        const double start = u[(size_t)k * stride];
        c->u[k] = fabs(start) <= c->rest ? 0 : start;
        c->end[k] = start;
        const double normal = impulse[(size_t)k * stride];
        if (k % 2 == 0) c->left[k / 2] = normal > c->nothing[k / 2] ? normal : 0;
    }
    add_response(c, impulse, stride, c->end);
    for (int change = 0; change < MOST_CHANGES * c->contacts; change++) {
        if (!set_rates(c)) return false;
        // All that is left, or until the slip of a contact that presses, or the normal velocity of one that is to press, is zero.
        double length = 1;
        int at = -1;
        for (int k = 0; k < c->n; k++) {
            const bool ends = k % 2 ? c->rate[k - 1] > 0 && c->u[k] * c->du[k] < 0 : c->left[k / 2] > 0 && c->u[k] > 0 && c->du[k] < 0;
            if (!ends || -c->u[k] / c->du[k] >= length) continue;
            length = -c->u[k] / c->du[k];
            at = k;
        }
        bool done = true;
        for (int k = 0; k < c->n; k++) {
            c->u[k] = k == at ? 0 : c->u[k] + length * c->du[k];
            // A contact that presses must not open.
            if (k % 2 == 0 && c->rate[k] > 0 && c->u[k] > c->rest) return false;
            if (k % 2 == 0 && c->rate[k] > 0) c->left[k / 2] = at < 0 ? 0 : (1 - length) * c->left[k / 2];
            if (fabs(c->u[k]) <= c->rest) c->u[k] = 0;
            if (k % 2 == 0 && c->left[k / 2] > 0) done = false;
        }
        if (!done) continue;
        for (int k = 0; k < c->n; k++)
            if (fabs(c->u[k] - c->end[k]) > 2 * c->rest) return false;
        return true;
    }
    return false;
}

// What a verified step has at its end: balance, impulses in the cones, no open contact that presses, and friction against its slip.
static bool ends_as_a_step(const carom_certifier *c, const double *u, const double *next, const double *impulse) {
    const double *W = carom_impact_delassus(c->impact);
    for (int k = 0; k < c->n; k++) {
        double end = u[k];
        for (int j = 0; j < c->n; j++) end += W[k * c->n + j] * impulse[j];
        if (!(fabs(end - next[k]) <= 2 * c->rest)) return false;
    }
    for (int i = 0; i < c->contacts; i++) {
        const int row = i * (1 + c->dim);
        const double pressed = impulse[row], limit = c->mu[i] * pressed;
        double friction = 0;
        for (int p = 1; p <= c->dim; p++) friction = hypot(friction, impulse[row + p]);
        if (!(pressed >= -c->nothing[i] && friction <= limit * (1 + ROUND_OFF) + c->nothing[i])) return false;
        if (!(pressed > c->nothing[i])) continue;
        if (next[row] > c->rest || !dissipates_most(c, next + row + 1, impulse + row + 1, limit, 1)) return false;
    }
    return true;
}

carom_status carom_reach_certify_path(const carom_impact *impact, int64_t cone_edges, int rows, const double *u, const double *impulse,
                                      bool *certain, carom_error *error) {
    *certain = false;
    carom_certifier *certifier;
    carom_status status = carom_certifier_create(impact, cone_edges, &certifier, error);
    if (status) return status;
    const int n = certifier->n;
    double *step = malloc((size_t)n * sizeof *step);
    if (!step) status = carom_fail_memory(error, "certificates of steps");
    *certain = !status && carom_impact_terminated(impact, u + (rows - 1) * n);
    for (int k = 0; k + 1 < rows && *certain; k++) {
        for (int c = 0; c < n; c++) step[c] = impulse[(k + 1) * n + c] - impulse[k * n + c];
        *certain = ends_as_a_step(certifier, u + k * n, u + (k + 1) * n, step) && carom_certify_step(certifier, u + k * n, step, 1);
    }
    free(step);
    carom_certifier_free(certifier);
    return status;
}

bool carom_certify_step(carom_certifier *certifier, const double *u, const double *impulse, size_t stride) {
    return is_straight(certifier, u, impulse, stride) || (certifier->friction && is_followed(certifier, u, impulse, stride));
}
