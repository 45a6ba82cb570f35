// SPDX-License-Identifier: Apache-2.0
// Event-exact random solutions of the planar impact inclusion (Halm & Posa 2023, section 3)
//
//     dv/ds in M^-1 conv { n_i' - mu_i e t_i' : n_i v <= 0, e in Sgn(t_i v) },   Sgn(0) = [-1, 1].
//
// With constant weights w_i >= 0 on the active contacts, the solution is straight until a normal or tangential velocity changes sign.
// Friction is then no further choice: at contacts with t_i v = 0 the rates x_i of the frictional impulses minimise x'W_tt x/2 + b'x over
// the box |x_i| <= mu_i w_i, because the tangential acceleration b + W_tt x must oppose x: the optimality condition. That problem is
// convex, and where x is open (equal tangents share their friction in many ways), dv/ds is not.
#include "reach/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "reach/box.h"

// Contact velocities within this share of the impact's velocity scale are zero: the rounding of thousands of pieces is below.
#define AT_REST 1e-12
// Rates within this share of the terms they are a sum of are zero.
#define STEADY 1e-12
// Added to the diagonal of W_tt, as a share of the largest entry of W: equal tangent rows then share friction evenly. Sticking contacts
// creep by as much, which stays below AT_REST on a whole walk.
#define REGULARISATION 1e-14
// Probabilities that a contact takes part in a piece, and that a piece ends at a sign change; weights spread evenly over this many
// octaves, so that nearly one contact alone acts now and then. They decide how evenly walks cover the set, not which of its points they can
// reach: these cover the sets of the rocking block, the box and wall and the compass gait best among those tried.
#define TAKES_PART    0.7
#define RUNS_TO_EVENT 0.4
#define OCTAVES       9

// Probability that a contact which friction pulls down from Jn_i v = 0 is held there by a smaller weight.
#define HOLDS 0.25

// Secants for the weight that holds a contact: rates are piecewise linear in it, so that a few suffice.
enum { MOST_SECANTS = 60 };

// Draws of weights for one piece, before contacts that would open at once are left out, and in all. Most first draws are consistent.
enum { PATIENT_DRAWS = 16, MOST_DRAWS = 64 };

struct carom_walker {
    const carom_impact *impact;
    const carom_control *control;
    int64_t max_steps;
    int contacts, n;
    double zero_velocity;   // AT_REST in m/s
    double regularisation;  // REGULARISATION in 1/kg
    double *u;              // [n] contact velocity, contact-major: normal, tangent
    double *du;             // [n] its rate
    double *p;              // [n] rates of the impulses: weights, and friction
    int *resting;           // [contacts] that take part with friction and t_i v = 0
    carom_box *friction;    // of those
    carom_stream stream;
    double *path;  // [path_capacity x n]; NULL when paths are not recorded
    int path_rows, path_capacity;
};

// ------------------------------------------------------------------------------------------------------------- lifetime
static double delassus(const carom_walker *w, int row, int column) {
    return carom_impact_delassus(w->impact)[(size_t)row * (size_t)w->n + (size_t)column];
}

static carom_status prepare(carom_walker *w, carom_error *error) {
    const size_t n = (size_t)w->n;
    w->u = malloc(3 * n * sizeof(double));
    w->resting = malloc((size_t)w->contacts * sizeof(int));
    if (!w->u || !w->resting) return carom_fail_memory(error, "walk");
    w->du = w->u + n;
    w->p = w->du + n;
    w->zero_velocity = AT_REST * carom_impact_velocity_scale(w->impact);
    w->regularisation = REGULARISATION * carom_max_abs(n * n, carom_impact_delassus(w->impact));
    return carom_box_create(w->contacts, &w->friction, error);
}

carom_status carom_walker_create(const carom_impact *impact, int64_t max_steps, carom_walker **walker, carom_error *error) {
    *walker = NULL;
    if (carom_impact_get_data(impact)->tangent_dim != 1)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "sampler: walk takes planar contacts only: in space, solutions with friction are curved; use lcp");
    if (max_steps < 1) return carom_fail(error, CAROM_BAD_INPUT, "max_steps: %lld is below the least value 1", (long long)max_steps);
    carom_walker *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "walk");
    *made = (carom_walker){.impact = impact,
                           .max_steps = max_steps,
                           .contacts = carom_impact_get_data(impact)->contacts,
                           .n = carom_impact_contact_size(impact)};
    const carom_status status = prepare(made, error);
    if (status)
        carom_walker_free(made);
    else
        *walker = made;
    return status;
}

void carom_walker_free(carom_walker *walker) {
    if (!walker) return;
    free(walker->u);
    free(walker->resting);
    carom_box_free(walker->friction);
    free(walker->path);
    free(walker);
}

void carom_walker_watch(carom_walker *walker, const carom_control *control) { walker->control = control; }

carom_status carom_walker_record(carom_walker *walker, bool record, carom_error *error) {
    walker->path_rows = 0;
    if (!record) {
        free(walker->path);
        walker->path = NULL;
    }
    if (!record || walker->path) return CAROM_OK;
    walker->path_capacity = (int)(walker->max_steps < CAROM_MOST_PATH_STEPS ? walker->max_steps : CAROM_MOST_PATH_STEPS) + 1;
    walker->path = malloc((size_t)walker->path_capacity * (size_t)walker->n * sizeof(double));
    return walker->path ? CAROM_OK : carom_fail_memory(error, "path of a walk");
}

const double *carom_walker_path(const carom_walker *walker, int *rows) {
    *rows = walker->path ? walker->path_rows : 0;
    return walker->path;
}

static void record_velocity(carom_walker *w) {
    if (!w->path || w->path_rows == w->path_capacity) return;
    memcpy(w->path + (size_t)w->path_rows++ * (size_t)w->n, w->u, (size_t)w->n * sizeof *w->u);
}

// ---------------------------------------------------------------------------------------------------------- one direction

// Random weights of a random non-empty subset of the active contacts, n_i v <= 0. With large mu, friction makes itself felt under normal
// impulses smaller by as much: the weights go down there, too.
static void draw_weights(carom_walker *w) {
    const double *mu = carom_impact_get_data(w->impact)->friction;
    memset(w->p, 0, (size_t)w->n * sizeof *w->p);
    int active = 0, drawn = 0, one = 0;
    for (int i = 0; i < w->contacts; i++) {
        if (w->u[2 * i] > 0) continue;
        // Each active contact is the one that takes part alone, should no other, with the same probability.
        if (carom_stream_uniform(&w->stream) * ++active < 1) one = i;
        if (carom_stream_uniform(&w->stream) >= TAKES_PART) continue;
        // Without a logarithm, whose last bits differ between machines.
        const int octave = (int)((OCTAVES + ilogb(1 + mu[i])) * carom_stream_uniform(&w->stream));
        w->p[2 * i] = ldexp(1 + carom_stream_uniform(&w->stream), -octave);
        drawn++;
    }
    if (!drawn) w->p[2 * one] = 1;
}

// A sum of W p; 0 within rounding.
static double rate_of(const carom_walker *w, int row) {
    double sum = 0, magnitude = 0;
    for (int c = 0; c < w->n; c++) {
        const double term = delassus(w, row, c) * w->p[c];
        sum += term;
        magnitude += fabs(term);
    }
    return fabs(sum) <= STEADY * magnitude ? 0 : sum;
}

// Friction of the sliding contacts in p; collects the resting ones.
static void apply_sliding_friction(carom_walker *w) {
    const double *mu = carom_impact_get_data(w->impact)->friction;
    w->friction->size = 0;
    for (int i = 0; i < w->contacts; i++) {
        const double slip = w->u[2 * i + 1], limit = mu[i] * w->p[2 * i];
        w->p[2 * i + 1] = slip > 0 ? -limit : slip < 0 ? limit : 0;
        if (slip == 0 && limit > 0) w->resting[w->friction->size++] = i;
    }
}

// Friction of the resting contacts in p; du of all. Contacts between the bounds stick: their tangential rate is exactly zero.
static bool apply_friction(carom_walker *w) {
    const double *mu = carom_impact_get_data(w->impact)->friction;
    carom_box *box = w->friction;
    apply_sliding_friction(w);
    for (int a = 0; a < box->size; a++) {
        const int i = w->resting[a], row = 2 * i + 1;
        box->b[a] = rate_of(w, row);
        box->bound[a] = mu[i] * w->p[2 * i];
        for (int k = 0; k < box->size; k++)
            box->A[a * box->size + k] = delassus(w, row, 2 * w->resting[k] + 1) + (a == k ? w->regularisation : 0);
    }
    if (box->size && !carom_box_solve(box)) return false;
    for (int a = 0; a < box->size; a++) w->p[2 * w->resting[a] + 1] = box->x[a];
    for (int c = 0; c < w->n; c++) w->du[c] = rate_of(w, c);
    for (int a = 0; a < box->size; a++) w->du[2 * w->resting[a] + 1] = box->slope[a];
    return true;
}

// A contact with n_i v = 0 that takes part must not open: then it would take part no more.
static int find_opening(const carom_walker *w) {
    for (int i = 0; i < w->contacts; i++)
        if (w->p[2 * i] > 0 && w->u[2 * i] == 0 && w->du[2 * i] > 0) return i;
    return -1;
}

static bool has_weight(const carom_walker *w) {
    for (int i = 0; i < w->contacts; i++)
        if (w->p[2 * i] > 0) return true;
    return false;
}

// The rate of a contact's normal velocity under that weight; everything else follows. NaN where friction is not solved.
static double weigh(carom_walker *w, int contact, double weight) {
    w->p[2 * contact] = weight;
    return apply_friction(w) ? w->du[2 * contact] : NAN;
}

// Finds a weight of a jammed contact, n_i v = 0, below the one drawn, under which it stays closed without being pulled down: friction pulls
// it down, and the others lift it. Secants with Illinois' correction. Otherwise everything is as before.
static void hold_contact(carom_walker *w, int contact) {
    const double drawn = w->p[2 * contact];
    double low = 0, high = drawn, falling = w->du[2 * contact], rising = weigh(w, contact, 0);
    for (int i = 0; i < MOST_SECANTS && rising > 0; i++) {
        const double weight = low + (high - low) * rising / (rising - falling), rate = weigh(w, contact, weight);
        if (rate == 0 && find_opening(w) < 0) return;
        if (!(fabs(rate) > 0)) break;
        if (rate < 0) {
            high = weight;
            falling = rate;
            rising /= 2;
        } else {
            low = weight;
            rising = rate;
            falling /= 2;
        }
    }
    weigh(w, contact, drawn);
}

static void hold_some(carom_walker *w) {
    for (int i = 0; i < w->contacts; i++)
        if (w->p[2 * i] > 0 && w->u[2 * i] == 0 && w->du[2 * i] < 0 && carom_stream_uniform(&w->stream) < HOLDS) hold_contact(w, i);
}

// One direction in D(v) that stays in D on a straight piece. A draw with a contact that would open at once is drawn anew; leaving such
// contacts out, one by one, comes to an end, but makes jams rare, in which friction pulls a contact down.
static bool choose_direction(carom_walker *w) {
    for (int draw = 0; draw < MOST_DRAWS; draw++) {
        draw_weights(w);
        while (has_weight(w) && apply_friction(w)) {
            const int opening = find_opening(w);
            if (opening < 0) {
                hold_some(w);
                return true;
            }
            if (draw < PATIENT_DRAWS) break;
            w->p[2 * opening] = 0;
        }
    }
    return false;
}

// ------------------------------------------------------------------------------------------------------------ one walk

// How far the piece can go: until the velocity of an active contact, or the normal one of any, changes sign. Infinite if never.
static double find_event(const carom_walker *w) {
    double event = INFINITY;
    for (int c = 0; c < w->n; c++) {
        const bool concerns = c % 2 == 0 || w->u[c - 1] <= 0;
        if (concerns && w->u[c] * w->du[c] < 0) event = fmin(event, -w->u[c] / w->du[c]);
    }
    return event;
}

// Goes along the piece; the change of the kinetic energy is (u + u')'p/2, which dissipation makes negative.
static void advance(carom_walker *w, double length, double *impulse, carom_simulation *result) {
    double energy_change = 0;
    for (int c = 0; c < w->n; c++) {
        const double before = w->u[c], after = before + length * w->du[c];
        energy_change += (before + after) / 2 * length * w->p[c];
        impulse[c] += length * w->p[c];
        w->u[c] = fabs(after) <= w->zero_velocity ? 0 : after;
    }
    result->max_energy_gain = fmax(result->max_energy_gain, energy_change);
}

static bool has_ended(const carom_walker *w) {
    for (int i = 0; i < w->contacts; i++)
        if (w->u[2 * i] < 0) return false;
    return true;
}

static void start_walk(carom_walker *w, int64_t seed, int64_t index, double *impulse, carom_simulation *result) {
    carom_stream_start_use(&w->stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_WALK);
    memset(impulse, 0, (size_t)w->n * sizeof *impulse);
    *result = (carom_simulation){0};
    w->path_rows = 0;
    carom_impact_contact_velocity(w->impact, carom_impact_get_data(w->impact)->velocity, w->u);
    // The rule of termination of all laws decides whether there is an impact at all.
    result->terminated = carom_impact_terminated(w->impact, w->u);
    for (int c = 0; c < w->n; c++)
        if (fabs(w->u[c]) <= w->zero_velocity) w->u[c] = 0;
    record_velocity(w);
}

void carom_walker_run(carom_walker *w, int64_t seed, int64_t index, double *v, double *impulse, carom_simulation *result) {
    start_walk(w, seed, index, impulse, result);
    while (!result->terminated && result->steps < w->max_steps && !result->interrupted) {
        result->interrupted = carom_control_cancelled(w->control);
        if (result->interrupted) break;
        result->steps++;
        const double event = choose_direction(w) ? find_event(w) : INFINITY;
        // Without an event nothing moves: the forces of a cone that is not pointed may cancel.
        if (isinf(event)) continue;
        const bool whole = carom_stream_uniform(&w->stream) < RUNS_TO_EVENT;
        advance(w, whole ? event : event * carom_stream_uniform(&w->stream), impulse, result);
        record_velocity(w);
        result->terminated = has_ended(w);
    }
    carom_impact_apply(w->impact, carom_impact_get_data(w->impact)->velocity, impulse, v);
}
