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

#include "carom/arena.h"
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
    double *trace;  // [trace_capacity x n]; NULL when traces are not recorded
    int trace_rows, trace_capacity;
    carom_arena arena;
};

// ------------------------------------------------------------------------------------------------------------- lifetime

carom_status carom_walker_create(const carom_impact *impact, int64_t max_steps, carom_walker **walker, carom_error *error) {
    *walker = NULL;
    if (carom_impact_get_data(impact)->tangent_dim != 1)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "sampler: walk takes planar contacts only: in space, solutions with friction are curved; use lcp");
    if (max_steps < 1) return carom_fail(error, CAROM_BAD_INPUT, "max_steps: %lld is below the least value 1", (long long)max_steps);
    carom_walker *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "walk");
    const size_t n = (size_t)carom_impact_contact_size(impact);
    *made = (carom_walker){.impact = impact,
                           .max_steps = max_steps,
                           .contacts = carom_impact_get_data(impact)->contacts,
                           .n = (int)n,
                           .zero_velocity = AT_REST * carom_impact_velocity_scale(impact),
                           .regularisation = REGULARISATION * carom_max_abs(n * n, carom_impact_delassus(impact))};
    made->u = carom_arena_take(&made->arena, n, sizeof(double));
    made->du = carom_arena_take(&made->arena, n, sizeof(double));
    made->p = carom_arena_take(&made->arena, n, sizeof(double));
    made->resting = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof(int));
    carom_status status = made->arena.failed ? carom_fail_memory(error, "walk") : CAROM_OK;
    if (!status) status = carom_box_create(made->contacts, &made->friction, error);
    if (status)
        carom_walker_free(made);
    else
        *walker = made;
    return status;
}

void carom_walker_free(carom_walker *walker) {
    if (!walker) return;
    carom_arena_free(&walker->arena);
    carom_box_free(walker->friction);
    free(walker->trace);
    free(walker);
}

void carom_walker_watch(carom_walker *walker, const carom_control *control) { walker->control = control; }

carom_status carom_walker_record(carom_walker *walker, bool record, carom_error *error) {
    walker->trace_rows = 0;
    if (!record) {
        free(walker->trace);
        walker->trace = NULL;
    }
    if (!record || walker->trace) return CAROM_OK;
    walker->trace_capacity = (int)(walker->max_steps < CAROM_MOST_TRACE_STEPS ? walker->max_steps : CAROM_MOST_TRACE_STEPS) + 1;
    walker->trace = malloc((size_t)walker->trace_capacity * (size_t)walker->n * sizeof(double));
    return walker->trace ? CAROM_OK : carom_fail_memory(error, "path of a walk");
}

const double *carom_walker_trace(const carom_walker *walker, int *rows) {
    *rows = walker->trace ? walker->trace_rows : 0;
    return walker->trace;
}

static void record_velocity(carom_walker *walker) {
    if (!walker->trace || walker->trace_rows == walker->trace_capacity) return;
    memcpy(walker->trace + (size_t)walker->trace_rows++ * (size_t)walker->n, walker->u, (size_t)walker->n * sizeof *walker->u);
}

// ---------------------------------------------------------------------------------------------------------- one direction

// Random weights of a random non-empty subset of the active contacts, n_i v <= 0. With large mu, friction makes itself felt under normal
// impulses that are smaller by the factor mu: weights are drawn down to there.
static void draw_weights(carom_walker *walker) {
    const double *mu = carom_impact_get_data(walker->impact)->friction;
    memset(walker->p, 0, (size_t)walker->n * sizeof *walker->p);
    // Octaves of weights, spread evenly; contacts that take no part have the weight zero.
    int active = 0, drawn = 0, one = 0;
    for (int i = 0; i < walker->contacts; i++) {
        if (walker->u[2 * i] > 0) continue;
        // Each active contact is the one that takes part alone, should no other, with the same probability.
        if (carom_stream_uniform(&walker->stream) * ++active < 1) one = i;
        // The others take part at random.
        if (carom_stream_uniform(&walker->stream) >= TAKES_PART) continue;
        // Without a logarithm, whose last bits differ between machines.
        const int octave = (int)((OCTAVES + ilogb(1 + mu[i])) * carom_stream_uniform(&walker->stream));
        walker->p[2 * i] = ldexp(1 + carom_stream_uniform(&walker->stream), -octave);
        drawn++;
    }
    if (!drawn) walker->p[2 * one] = 1;
}

static double delassus(const carom_walker *walker, int row, int column) {
    return carom_impact_delassus(walker->impact)[(size_t)row * (size_t)walker->n + (size_t)column];
}

// A sum of W p; 0 within rounding.
static double rate_of(const carom_walker *walker, int row) {
    // A sum that is round-off of its terms is zero, so that steady contacts stay steady.
    double sum = 0, magnitude = 0;
    for (int c = 0; c < walker->n; c++) {
        const double term = delassus(walker, row, c) * walker->p[c];
        sum += term;
        magnitude += fabs(term);
    }
    return fabs(sum) <= STEADY * magnitude ? 0 : sum;
}

// Friction of all contacts in p, and du. Contacts at rest between the bounds stick: their tangential rate is exactly zero. False where the
// friction of the contacts at rest is not solved.
static bool apply_friction(carom_walker *walker) {
    const double *mu = carom_impact_get_data(walker->impact)->friction;
    carom_box *box = walker->friction;
    // Sliding contacts have the friction of their slip; those at rest are collected.
    box->size = 0;
    for (int i = 0; i < walker->contacts; i++) {
        const double slip = walker->u[2 * i + 1], limit = mu[i] * walker->p[2 * i];
        walker->p[2 * i + 1] = slip > 0 ? -limit : slip < 0 ? limit : 0;
        if (slip == 0 && limit > 0) walker->resting[box->size++] = i;
    }
    // At rest, the rates minimise x'W_tt x/2 + b'x over |x_i| <= mu_i w_i.
    for (int a = 0; a < box->size; a++) {
        const int i = walker->resting[a], row = 2 * i + 1;
        box->b[a] = rate_of(walker, row);
        box->bound[a] = mu[i] * walker->p[2 * i];
        for (int k = 0; k < box->size; k++)
            box->A[a * box->size + k] = delassus(walker, row, 2 * walker->resting[k] + 1) + (a == k ? walker->regularisation : 0);
    }
    if (box->size && !carom_box_solve(box)) return false;
    for (int a = 0; a < box->size; a++) walker->p[2 * walker->resting[a] + 1] = box->x[a];
    for (int c = 0; c < walker->n; c++) walker->du[c] = rate_of(walker, c);
    for (int a = 0; a < box->size; a++) walker->du[2 * walker->resting[a] + 1] = box->slope[a];
    return true;
}

// A contact with n_i v = 0 that takes part must stay closed: an open contact has no impulse.
static int find_opening(const carom_walker *walker) {
    for (int i = 0; i < walker->contacts; i++)
        if (walker->p[2 * i] > 0 && walker->u[2 * i] == 0 && walker->du[2 * i] > 0) return i;
    return -1;
}

// The rate of a contact's normal velocity under that weight; everything else follows. NaN where friction is not solved.
static double weigh(carom_walker *walker, int contact, double weight) {
    walker->p[2 * contact] = weight;
    return apply_friction(walker) ? walker->du[2 * contact] : NAN;
}

// Finds a weight of a jammed contact, n_i v = 0, below the one drawn, under which it stays closed without being pulled down: friction pulls
// it down, and the others lift it. Secants with Illinois' correction. Otherwise everything is as before.
static void hold_contact(carom_walker *walker, int contact) {
    const double drawn = walker->p[2 * contact];
    // The rate rises as the weight falls: it is negative at the weight drawn, and positive at zero if anything lifts the contact.
    double low = 0, high = drawn, falling = walker->du[2 * contact], rising = weigh(walker, contact, 0);
    // Regula falsi between a weight under which the contact rises and one under which it falls.
    for (int i = 0; i < MOST_SECANTS && rising > 0; i++) {
        const double weight = low + (high - low) * rising / (rising - falling), rate = weigh(walker, contact, weight);
        if (rate == 0 && find_opening(walker) < 0) return;
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
    weigh(walker, contact, drawn);
}

// One direction in D(v) that stays in D on a straight piece. A draw with a contact that would open at once is drawn anew; leaving such
// contacts out, one by one, comes to an end, but makes jams rare, in which friction pulls a contact down.
static bool choose_direction(carom_walker *walker) {
    for (int draw = 0; draw < MOST_DRAWS; draw++) {
        draw_weights(walker);
        for (;;) {
            bool weighs = false;
            for (int i = 0; i < walker->contacts && !weighs; i++) weighs = walker->p[2 * i] > 0;
            if (!weighs || !apply_friction(walker)) break;
            const int opening = find_opening(walker);
            if (opening < 0) {
                // Some of the contacts that friction pulls down are held.
                for (int i = 0; i < walker->contacts; i++) {
                    const bool jammed = walker->p[2 * i] > 0 && walker->u[2 * i] == 0 && walker->du[2 * i] < 0;
                    if (jammed && carom_stream_uniform(&walker->stream) < HOLDS) hold_contact(walker, i);
                }
                return true;
            }
            if (draw < PATIENT_DRAWS) break;
            walker->p[2 * opening] = 0;
        }
    }
    return false;
}

// ------------------------------------------------------------------------------------------------------------ one walk

// One straight piece: of random length to the next event, where the velocity of an active contact, or the normal one of any, changes sign.
static void take_piece(carom_walker *walker, double *impulse, carom_sample_counts *counts) {
    double event = INFINITY;
    const bool found = choose_direction(walker);
    for (int c = 0; found && c < walker->n; c++) {
        const bool concerns = c % 2 == 0 || walker->u[c - 1] <= 0;
        if (concerns && walker->u[c] * walker->du[c] < 0) event = fmin(event, -walker->u[c] / walker->du[c]);
    }
    // Without an event nothing moves: the forces of a cone that is not pointed may cancel.
    if (isinf(event)) return;
    const bool whole = carom_stream_uniform(&walker->stream) < RUNS_TO_EVENT;
    const double length = whole ? event : event * carom_stream_uniform(&walker->stream);
    // The change of the kinetic energy is (u + u')'p/2, which dissipation makes negative.
    double energy_change = 0;
    for (int c = 0; c < walker->n; c++) {
        const double before = walker->u[c], after = before + length * walker->du[c];
        energy_change += (before + after) / 2 * length * walker->p[c];
        impulse[c] += length * walker->p[c];
        walker->u[c] = fabs(after) <= walker->zero_velocity ? 0 : after;
    }
    counts->max_energy_gain = fmax(counts->max_energy_gain, energy_change);
    record_velocity(walker);
    counts->terminated = true;
    for (int i = 0; i < walker->contacts; i++)
        if (walker->u[2 * i] < 0) counts->terminated = false;
}

carom_verdict carom_walker_run(carom_walker *walker, int64_t seed, int64_t index, double *v, double *impulse, carom_sample_counts *counts) {
    const double *start = carom_impact_get_data(walker->impact)->velocity;
    carom_stream_start_use(&walker->stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_WALK);
    memset(impulse, 0, (size_t)walker->n * sizeof *impulse);
    *counts = (carom_sample_counts){.samples = 1};
    walker->trace_rows = 0;
    carom_impact_contact_velocity(walker->impact, start, walker->u);
    // The rule of termination of all laws decides whether there is an impact at all.
    counts->terminated = carom_impact_terminated(walker->impact, walker->u);
    for (int c = 0; c < walker->n; c++)
        if (fabs(walker->u[c]) <= walker->zero_velocity) walker->u[c] = 0;
    record_velocity(walker);
    bool interrupted = false;
    while (!counts->terminated && counts->steps < walker->max_steps && !interrupted) {
        interrupted = carom_control_cancelled(walker->control);
        if (interrupted) break;
        // One more straight piece.
        counts->steps++;
        take_piece(walker, impulse, counts);
    }
    counts->steps_squared = (double)counts->steps * (double)counts->steps;
    carom_impact_apply(walker->impact, start, impulse, v);
    return interrupted ? CAROM_INTERRUPTED : counts->terminated ? CAROM_COMPLETE : CAROM_BUDGET_SPENT;
}
