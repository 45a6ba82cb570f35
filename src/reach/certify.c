// SPDX-License-Identifier: Apache-2.0
// Which steps of time stepping are solutions of the inclusion, and which may leave its set (docs/laws.md, "What is not").
#include "reach/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/instruction_sets.h"
#include "carom/reach.h"
#include "reach/corners.h"

// Velocities below this share of the velocity scale are zero; the ends of step and solution may differ by as much.
#define AT_REST 1e-9
// Round-off of friction against its bound mu lam_n.
#define ROUND_OFF 1e-9
// Added to W_tt, as a share of the largest entry of W, so that equal tangents have a solution.
#define REGULARISATION 1e-14
// Up to so many contacts, factors of W_tt are kept, one for each set of resting contacts.
enum { MOST_KEPT = 6 };

struct carom_certifier {
    const carom_impact *impact;
    const double *mu;  // [contacts]
    int contacts, dim, n;
    double rest;
    double *nothing;               // [contacts] normal impulse that moves no velocity by more than `rest`
    carom_corners corners;         // in the plane
    carom_corners_follow *follow;  // NULL in space
    carom_arena arena;
};

// What is needed of steps with corners.
static carom_status prepare_corners(carom_certifier *made, double regularisation, carom_error *error) {
    const size_t contacts = (size_t)made->contacts, filled = (contacts + CAROM_STEP_LANES - 1) / CAROM_STEP_LANES * CAROM_STEP_LANES;
    const bool keeps = made->contacts <= MOST_KEPT;
    carom_arena *arena = &made->arena;
    carom_corners *corners = &made->corners;
    *corners = (carom_corners){.impact = made->impact,
                               .contacts = made->contacts,
                               .filled = (int)filled,
                               .rest = made->rest,
                               .regularisation = regularisation,
                               .nothing = made->nothing,
                               .u = carom_arena_take(arena, 2 * filled, sizeof(double)),
                               .end = carom_arena_take(arena, 2 * filled, sizeof(double)),
                               .du = carom_arena_take(arena, 2 * filled, sizeof(double)),
                               .left = carom_arena_take(arena, filled, sizeof(double)),
                               .weight = carom_arena_take(arena, filled, sizeof(double)),
                               .mu = carom_arena_take(arena, filled, sizeof(double)),
                               .response = carom_arena_take(arena, 4 * filled * filled, sizeof(double)),
                               .shares = carom_arena_take(arena, 2 * filled, sizeof(double)),
                               .columns = carom_arena_take(arena, 2 * filled, sizeof(int)),
                               .resting = carom_arena_take(arena, contacts, sizeof(int))};
    if (keeps) corners->factor = carom_arena_take(arena, contacts * contacts << contacts, sizeof(double));
    if (keeps) corners->has_factor = carom_arena_take(arena, (size_t)1 << contacts, sizeof *corners->has_factor);
    if (arena->failed) return carom_fail_memory(error, "certificates of steps");
    memcpy(corners->mu, made->mu, contacts * sizeof *made->mu);
    const double *W = carom_impact_delassus(made->impact);
    for (size_t j = 0; j < 2 * contacts; j++) {
        double *column = corners->response + (j / 2 + j % 2 * filled) * 2 * filled;
        for (size_t k = 0; k < 2 * contacts; k++) column[k / 2 + k % 2 * filled] = W[k * 2 * contacts + j];
    }
    return carom_box_create(made->contacts, &corners->friction, error);
}

carom_status carom_certifier_create(const carom_impact *impact, carom_instructions instructions, carom_certifier **certifier,
                                    carom_error *error) {
    static carom_corners_follow *const follow_of[CAROM_INSTRUCTIONS] = {
        [CAROM_INSTRUCTIONS_SCALAR] = carom_corners_follow_scalar,
        [CAROM_INSTRUCTIONS_PORTABLE] = carom_corners_follow_portable,
        [CAROM_INSTRUCTIONS_AVX2] = CAROM_X86_KERNEL(carom_corners_follow_avx2),
        [CAROM_INSTRUCTIONS_AVX512] = CAROM_X86_KERNEL(carom_corners_follow_avx512)};
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
                              .rest = AT_REST * carom_impact_velocity_scale(impact),
                              .follow = data->tangent_dim == 1 ? follow_of[instructions] : NULL};
    const double inverse_mass = carom_max_abs(n * n, carom_impact_delassus(impact));
    made->nothing = carom_arena_take(&made->arena, contacts, sizeof(double));
    carom_status status = made->arena.failed ? carom_fail_memory(error, "certificates of steps") : CAROM_OK;
    for (size_t i = 0; i < contacts && !status; i++) made->nothing[i] = made->rest / ((1 + data->friction[i]) * inverse_mass);
    if (!status && made->follow) status = prepare_corners(made, REGULARISATION * inverse_mass, error);
    if (status)
        carom_certifier_free(made);
    else
        *certifier = made;
    return status;
}

void carom_certifier_free(carom_certifier *certifier) {
    if (!certifier) return;
    carom_box_free(certifier->corners.friction);
    carom_arena_free(&certifier->arena);
    free(certifier);
}

// ------------------------------------------------------------------------------------------------------ straight steps

// Friction is that of the inclusion at this slip where it dissipates the most that the round cone allows, -limit slip/|slip|. Where the end
// of a step is a solution with linearised cones, its friction may still be another.
static bool dissipates_most(const carom_certifier *c, const double *slip, const double *friction, double limit, size_t stride) {
    if (c->dim == 1) return fabs(*slip) <= c->rest || -*friction * *slip >= (1 - ROUND_OFF) * limit * fabs(*slip);
    const double speed = hypot(slip[0], slip[stride]);
    const double off = hypot(friction[0] * speed + limit * slip[0], friction[stride] * speed + limit * slip[stride]);
    return speed <= c->rest || off <= limit * (ROUND_OFF * speed + c->rest);
}

// The friction of a spatial contact is that of the slip at the end of the step, too. In the plane every verified step has it.
static bool ends_dissipating_most(const carom_certifier *c, const double *u, const double *impulse, int contact, size_t stride) {
    if (c->dim == 1) return true;
    const double *W = carom_impact_delassus(c->impact);
    const size_t row = (size_t)(contact * (1 + c->dim));
    double slip[2];
    for (size_t p = 0; p < 2; p++) {
        slip[p] = u[(row + 1 + p) * stride];
        for (int j = 0; j < c->n; j++) slip[p] += W[(row + 1 + p) * (size_t)c->n + (size_t)j] * impulse[(size_t)j * stride];
    }
    const double friction[2] = {impulse[(row + 1) * stride], impulse[(row + 2) * stride]};
    return dissipates_most(c, slip, friction, c->mu[contact] * impulse[row * stride], 1);
}

// A step is a straight solution where no contact presses before it has closed, and where its friction is that of its start, too: what holds
// at both ends holds between them.
static bool is_straight(const carom_certifier *c, const double *u, const double *impulse, size_t stride) {
    for (int contact = 0; contact < c->contacts; contact++) {
        const size_t row = (size_t)(contact * (1 + c->dim)) * stride;
        if (!(impulse[row] > c->nothing[contact])) continue;
        if (u[row] > c->rest) return false;
        if (!dissipates_most(c, u + row + stride, impulse + row + stride, c->mu[contact] * impulse[row], stride)) return false;
        if (!ends_dissipating_most(c, u, impulse, contact, stride)) return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------- steps with corners

// W_tt of the resting contacts, regularised, into A [size x size].
static void take_resting(const carom_corners *c, int size, double *A) {
    const double *W = carom_impact_delassus(c->impact);
    for (int a = 0; a < size; a++)
        for (int k = 0; k < size; k++)
            A[a * size + k] = W[(2 * c->resting[a] + 1) * 2 * c->contacts + 2 * c->resting[k] + 1] + (a == k ? c->regularisation : 0);
}

// The Cholesky factor of that matrix, made when its set of contacts first rests. NULL where there is none.
static const double *find_factor(carom_corners *c, size_t set, int size) {
    double *factor = c->factor + set * (size_t)(c->contacts * c->contacts);
    if (c->has_factor[set]) return factor;
    take_resting(c, size, factor);
    c->has_factor[set] = !carom_cholesky_factor_in_order(size, factor);
    return c->has_factor[set] ? factor : NULL;
}

bool carom_corners_hold(carom_corners *c, size_t set) {
    carom_box *box = c->friction;
    const int size = box->size;
    const double *factor = c->factor ? find_factor(c, set, size) : NULL;
    // Friction that keeps all of them at rest, A x = -b, is the solution where |x_a| <= bound_a, as it mostly is. Substitution leaves a
    // small residual also where tangents are equal; an inverse, with entries of 1 / REGULARISATION, does not.
    bool holds = factor;
    for (int a = 0; a < size; a++) {
        box->x[a] = -box->b[a];
        box->slope[a] = 0;
    }
    if (factor) {
        carom_cholesky_forward(size, factor, box->x);
        carom_cholesky_backward(size, factor, box->x);
    }
    for (int a = 0; a < size && holds; a++) holds = fabs(box->x[a]) <= box->bound[a];
    if (holds) return true;
    take_resting(c, size, box->A);
    return carom_box_solve(box);
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

carom_status carom_reach_certify_path(const carom_impact *impact, int rows, const double *u, const double *impulse, bool *certain,
                                      carom_error *error) {
    *certain = false;
    carom_certifier *certifier;
    carom_status status = carom_certifier_create(impact, carom_instructions_widest(), &certifier, error);
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
    return is_straight(certifier, u, impulse, stride) || (certifier->follow && certifier->follow(&certifier->corners, u, impulse, stride));
}
