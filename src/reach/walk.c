// SPDX-License-Identifier: Apache-2.0
// Event-exact random solutions of the planar impact inclusion (Halm & Posa 2023, section 3)
//
//     dv/ds in M^-1 conv { n_i' - mu_i e t_i' : n_i v <= 0, e in Sgn(t_i v) },   Sgn(0) = [-1, 1].
//
// With constant weights w_i >= 0 on the active contacts, the solution is straight until a normal or tangential velocity changes sign.
// Friction is then no further choice: at contacts with t_i v = 0 the rates x_i of the frictional impulses minimise x'W_tt x/2 + b'x over
// the box |x_i| <= mu_i w_i, because the tangential acceleration b + W_tt x must oppose x: the optimality condition. That problem is
// convex, and where x is open (equal tangents share their friction in many ways), dv/ds is not. With restitution, contacts that have
// something stored are active, too (rebound.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "reach/arc.h"
#include "reach/walk.h"

// Contact velocities within this share of the impact's velocity scale are zero: the rounding of thousands of pieces is below.
#define AT_REST 1e-12
// Added to the diagonal of W_tt, as a share of the largest entry of W: equal tangent rows then share friction evenly. Sticking contacts
// creep by as much times their impulse: below AT_REST on a whole walk, unless W is nearly singular or friction jams.
#define REGULARISATION 1e-14
// Probability that a piece ends at an event; of walks that bounce and of curved ones, which have more events.
#define RUNS_TO_EVENT    0.33
#define BOUNCES_TO_EVENT 0.8

// After so many pieces a walk mostly goes straight on: every active contact takes part, all with Jn_i v = 0 are held, and pieces are whole.
// Else walks in a narrow passage between two contacts go to and fro for thousands of pieces.
#define PATIENCE 64
#define SETTLES  0.9

// Pieces in a row that lead nowhere, after which a walk in one proportion ends without an answer: it draws nothing anew.
enum { MOST_STUCK = 2 };

// Sweeps of Newton's method for the weights that hold contacts: rates are piecewise linear in them, so that a few suffice.
enum { MOST_SWEEPS = 12 };

// Poisson's hypothesis may gain energy without end: a velocity so many times the first one is given up.
#define RUNAWAY 1e6
// Where cones are not pointed, impulses that cancel each other grow without end, and the velocity that they leave is their rounding. With
// impulses so many times the first velocity over the largest entry of W a walk is given up: rates that count as zero, WALK_STEADY, add up
// to 1e-5 of the first velocity by then, at worst.
#define MOST_IMPULSE 1e7

// ------------------------------------------------------------------------------------------------------------- lifetime

carom_status carom_walker_create(const carom_impact *impact, const carom_walker_options *options, carom_walker **walker,
                                 carom_error *error) {
    *walker = NULL;
    if (options->max_steps < 1)
        return carom_fail(error, CAROM_BAD_INPUT, "max_steps: %lld is below the least value 1", (long long)options->max_steps);
    if (options->weights < CAROM_WEIGHTS_MIXED || options->weights > CAROM_WEIGHTS_SINGLE)
        return carom_fail(error, CAROM_BAD_INPUT, "weights: %d is none of carom_weights", options->weights);
    const double tolerance = options->tolerance != 0 ? options->tolerance : CAROM_WALK_TOLERANCE;
    if (!(tolerance >= CAROM_WALK_LEAST_TOLERANCE && tolerance <= CAROM_WALK_MOST_TOLERANCE))
        return carom_fail(error, CAROM_BAD_INPUT, "tolerance: %g is not between %g and %g", tolerance, CAROM_WALK_LEAST_TOLERANCE,
                          CAROM_WALK_MOST_TOLERANCE);
    carom_walker *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "walk");
    const size_t n = (size_t)carom_impact_contact_size(impact), padded = n + n % WALK_ROWS;
    const double speed = carom_impact_velocity_scale(impact), mobility = carom_max_abs(n * n, carom_impact_delassus(impact));
    *made = (carom_walker){.impact = impact,
                           .data = carom_impact_get_data(impact),
                           .delassus = carom_impact_delassus(impact),
                           .max_steps = options->max_steps,
                           .weights = (carom_weights)options->weights,
                           .contacts = carom_impact_get_data(impact)->contacts,
                           .n = (int)n,
                           .stride = 1 + carom_impact_get_data(impact)->tangent_dim,
                           .zero_velocity = AT_REST * speed,
                           .most_impulse = MOST_IMPULSE * speed / mobility,
                           .regularisation = REGULARISATION * mobility};
    made->u = carom_arena_take(&made->arena, n, sizeof(double));
    made->du = carom_arena_take(&made->arena, padded, sizeof(double));
    made->columns = carom_arena_take(&made->arena, n * padded, sizeof(double));
    made->p = carom_arena_take(&made->arena, n, sizeof(double));
    made->mean = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof(double));
    made->resting = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof(int));
    made->side = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof(double));
    made->part = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof(contact_part));
    made->proportion = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof(double));
    made->octaves = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof(int));
    made->unknown = carom_arena_take(&made->arena, n, sizeof(int));
    made->exchanges = carom_arena_take(&made->arena, n, sizeof(int));
    made->matrix = carom_arena_take(&made->arena, n * n, sizeof(double));
    made->change = carom_arena_take(&made->arena, n, sizeof(double));
    carom_status status = made->arena.failed ? carom_fail_memory(error, "walk") : CAROM_OK;
    // W is symmetric: its columns are its rows.
    for (size_t c = 0; c < n && !status; c++) memcpy(made->columns + c * padded, made->delassus + c * n, n * sizeof(double));
    for (int i = 0; i < made->contacts && !status; i++) made->octaves[i] = carom_walk_octaves(made->data->friction[i]);
    if (!status) status = carom_box_create(made->contacts, &made->friction, error);
    if (!status) status = carom_rebound_create(impact, &options->rebound, &made->rebound, error);
    if (!status && made->stride == 3) status = carom_arc_create(impact, tolerance, &made->arc, error);
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
    carom_rebound_free(walker->rebound);
    carom_arc_free(walker->arc);
    carom_trace_release(&walker->trace);
    free(walker);
}

void carom_walker_watch(carom_walker *walker, const carom_control *control) { walker->control = control; }

carom_status carom_walker_record(carom_walker *walker, bool record, carom_error *error) {
    (void)error;
    if (!record) carom_trace_release(&walker->trace);
    walker->trace.wanted = record;
    walker->trace.rows = 0;
    return CAROM_OK;
}

const double *carom_walker_trace(const carom_walker *walker, int *rows) {
    *rows = walker->trace.lost ? 0 : walker->trace.rows;
    return *rows ? walker->trace.u : NULL;
}

const double *carom_walker_bounces(const carom_walker *walker) {
    return walker->rebound->hypothesis == CAROM_HYPOTHESIS_NONE ? NULL : walker->rebound->record;
}

const double *carom_walker_impulses(const carom_walker *walker, int *rows) {
    *rows = walker->trace.lost ? 0 : walker->trace.rows;
    return *rows ? walker->trace.impulse : NULL;
}

static void record(carom_walker *walker, const double *impulse) {
    if (walker->trace.wanted) carom_trace_append(&walker->trace, walker->n, walker->u, 1, impulse);
}

// Friction of all contacts in p, and du. Contacts at rest between the bounds stick: their tangential rate is exactly zero. False where the
// friction of the contacts at rest is not solved.
static CAROM_INLINE bool apply_friction(carom_walker *walker, int contacts) {
    const double *mu = walker->data->friction;
    carom_box *box = walker->friction;
    // Sliding contacts have the friction of their slip; those at rest are collected.
    box->size = 0;
    for (int i = 0; i < contacts; i++) {
        const double slip = walker->u[2 * i + 1], limit = mu[i] * walker->p[2 * i];
        walker->side[i] = slip == 0 ? 0 : copysign(1, -slip);
        walker->p[2 * i + 1] = walker->side[i] * limit;
        if (slip != 0 || !(limit > 0)) continue;
        walker->resting[box->size] = i;
        box->bound[box->size++] = limit;
    }
    if (!box->size) {
        walk_find_rates(walker, 2 * contacts);
        return true;
    }
    // At rest, the rates minimise x'W_tt x/2 + b'x over |x_i| <= mu_i w_i: of du only b is needed yet.
    for (int a = 0; a < box->size; a++) {
        const int i = walker->resting[a], row = 2 * i + 1;
        walk_find_rows(walker, 2 * i, 2 * contacts);
        box->b[a] = walker->du[row];
        for (int k = 0; k < box->size; k++)
            box->A[a * box->size + k] = walk_delassus(walker, row, 2 * walker->resting[k] + 1) + (a == k ? walker->regularisation : 0);
    }
    if (!carom_box_solve(box)) return false;
    for (int a = 0; a < box->size; a++) {
        walker->p[2 * walker->resting[a] + 1] = box->x[a];
        walker->side[walker->resting[a]] = box->place[a];
    }
    walk_find_rates(walker, 2 * contacts);
    for (int a = 0; a < box->size; a++) walker->du[2 * walker->resting[a] + 1] = box->slope[a];
    return true;
}

// One step of Newton's method for the weights of the held contacts, with the friction modes of apply_friction: the changes of weights and
// of the friction that sticks, under which the normal velocities of the held contacts and the slip of the sticking ones stay zero. Held
// contacts whose weight would not be positive are left out. False where the equations are singular.
static bool correct_weights(carom_walker *walker) {
    const double *mu = walker->data->friction;
    const carom_box *box = walker->friction;
    int size = 0;
    for (int i = 0; i < walker->contacts; i++)
        if (walker->part[i] == PART_HELD) walker->unknown[size++] = 2 * i;
    for (int a = 0; a < box->size; a++)
        if (box->place[a] == 0) walker->unknown[size++] = 2 * walker->resting[a] + 1;
    for (int r = 0; r < size; r++) {
        const int row = walker->unknown[r];
        walker->change[r] = -walker->du[row];
        for (int c = 0; c < size; c++) {
            const int column = walker->unknown[c], contact = column / 2;
            double entry = walk_delassus(walker, row, column);
            // Where friction does not stick, it grows with the weight.
            if (column % 2 == 0) entry += walker->side[contact] * mu[contact] * walk_delassus(walker, row, column + 1);
            if (column % 2 && row == column) entry += walker->regularisation;
            walker->matrix[r * size + c] = entry;
        }
    }
    if (!carom_lu_factor(size, walker->matrix, walker->exchanges)) return false;
    carom_lu_solve(size, walker->matrix, walker->exchanges, walker->change);
    for (int r = 0; r < size && walker->unknown[r] % 2 == 0; r++) {
        const int row = walker->unknown[r];
        const double weight = walker->p[row] + walker->change[r];
        if (weight > WALK_STEADY * walker->p[row])
            walker->p[row] = weight;
        else
            walk_leave_out(walker, row / 2);
    }
    return true;
}

// Weights of the held contacts under which their normal velocities stay 0, and all friction: rates are piecewise linear in the weights. A
// convex combination of the rates in D(v) that keeps n_i v = 0, as sticking friction is one that keeps t_i v = 0. False where there is none
// or it is not found.
static CAROM_INLINE bool hold(carom_walker *walker, int contacts) {
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        if (!apply_friction(walker, contacts)) return false;
        bool steady = true;
        for (int i = 0; i < contacts; i++)
            if (walker->part[i] == PART_HELD && walker->du[2 * i] != 0) steady = false;
        if (steady) return true;
        if (!correct_weights(walker)) return false;
    }
    return false;
}

static bool hold_contacts(carom_walker *walker) {
    switch (walker->contacts) {
    case 2: return hold(walker, 2);
    case 3: return hold(walker, 3);
    case 4: return hold(walker, 4);
    case 5: return hold(walker, 5);
    default: return hold(walker, walker->contacts);
    }
}

// ------------------------------------------------------------------------------------------------------------ one walk

// The length after which the velocity of an active contact, or the normal one of any, changes sign, if rates stay; infinite where none
// does. The normal and the tangent of a planar contact side by side, without branches that nobody could foretell.
static CAROM_INLINE double find_turn(const carom_walker *walker, int contacts) {
    const walk_rows never = {INFINITY, INFINITY};
    double event = INFINITY;
    for (int i = 0; i < contacts; i++) {
        const walk_rows u = *(const walk_rows *)(walker->u + 2 * i), du = *(const walk_rows *)(walker->du + 2 * i);
        const walk_bits turns = (u * du < 0) & (walk_bits){-1, -(int64_t)walk_active(walker, i, 2)};
        const walk_rows length = (walk_rows)(((walk_bits)(-u / du) & turns) | ((walk_bits)never & ~turns));
        const double sooner = length[0] < length[1] ? length[0] : length[1];
        event = sooner < event ? sooner : event;
    }
    return event;
}

// The same in space, where arc.c looks after slip. `*straight`: rates do stay.
static double find_turn_in_space(const carom_walker *walker, bool *straight) {
    double event = carom_arc_event(walker, straight);
    for (int c = 0; c < walker->n; c += walker->stride)
        if (walker->u[c] * walker->du[c] < 0) event = fmin(event, -walker->u[c] / walker->du[c]);
    return event;
}

// One piece: of random length to the next event, where the velocity of an active contact, or the normal one of any, changes sign, or a
// contact has given back what it had stored. Straight, or curved in space. False where nothing moved.
static CAROM_INLINE bool go_on(carom_walker *walker, double *impulse, carom_sample_counts *counts, int contacts, int stride) {
    walker->settles = counts->steps > PATIENCE && carom_numbers_take(&walker->numbers, CAROM_TAPE_SETTLE, 0) < SETTLES;
    carom_rebound *rebound = walker->rebound;
    const bool bounces = rebound->hypothesis != CAROM_HYPOTHESIS_NONE;
    if (!carom_walk_choose_direction(walker, walker->arc ? carom_arc_hold : hold_contacts)) return false;
    bool straight = true;
    const double turn = stride == 2 ? find_turn(walker, contacts) : find_turn_in_space(walker, &straight);
    const double spent = bounces ? carom_rebound_event(rebound, walker->u, walker->du, walker->p, &walker->numbers) : INFINITY;
    const double event = spent < turn ? spent : turn;
    // Without an event nothing moves: the forces of a cone that is not pointed may cancel, in space but for round-off.
    const double longest = walker->arc ? carom_arc_longest(walker) : INFINITY;
    if (straight && event >= longest) return false;
    const double runs_to_event = rebound->elastic || !straight ? BOUNCES_TO_EVENT : RUNS_TO_EVENT;
    const bool whole = walker->settles || walker->weights != CAROM_WEIGHTS_MIXED ||
                       carom_numbers_take(&walker->numbers, CAROM_TAPE_WHOLE, 0) < runs_to_event;
    double length = whole ? event : event * carom_numbers_take(&walker->numbers, CAROM_TAPE_LENGTH, 0);
    for (int i = 0; i < contacts && straight && bounces; i++) walker->mean[i] = walker->u[stride * i] + walker->du[stride * i] * length / 2;
    if (!straight) length = carom_arc_go(walker, event, whole ? longest : length);
    if (!(length > 0)) return false;
    // The change of the kinetic energy is (u + u')'p/2, which dissipation makes negative, and so is that of K + sum e_i^2 E_i.
    double energy_change = bounces ? carom_rebound_advance(rebound, walker->mean, walker->p, length) : 0;
    for (int c = 0; c < contacts * stride; c++) {
        const double before = walker->u[c], after = before + length * walker->du[c];
        energy_change += (before + after) / 2 * length * walker->p[c];
        impulse[c] += length * walker->p[c];
        walker->u[c] = fabs(after) <= walker->zero_velocity ? 0 : after;
    }
    walker->gain += energy_change;
    const double gain = rebound->hypothesis == CAROM_HYPOTHESIS_POISSON ? walker->gain : energy_change;
    if (gain > counts->max_energy_gain) counts->max_energy_gain = gain;
    record(walker, impulse);
    counts->terminated = true;
    for (int i = 0; i < contacts; i++)
        if (walk_unspent(walker, i, stride)) counts->terminated = false;
    return true;
}

static bool take_piece(carom_walker *walker, double *impulse, carom_sample_counts *counts) {
    return walker->n == 4 ? go_on(walker, impulse, counts, 2, 2) : go_on(walker, impulse, counts, walker->contacts, walker->stride);
}

carom_verdict carom_walker_run(carom_walker *walker, int64_t seed, int64_t index, double *v, double *impulse, carom_sample_counts *counts) {
    return carom_walker_play(walker, NULL, seed, index, v, impulse, NULL, counts);
}

carom_verdict carom_walker_play(carom_walker *walker, const carom_tape *played, int64_t seed, int64_t index, double *v, double *impulse,
                                carom_tape *recorded, carom_sample_counts *counts) {
    const double *start = carom_impact_get_data(walker->impact)->velocity;
    walker->numbers = (carom_numbers){.taped = played || recorded, .played = played, .recorded = recorded, .contacts = walker->contacts};
    if (recorded) recorded->count = 0;
    carom_stream_start_use(&walker->numbers.stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_WALK);
    carom_numbers_turn_to(&walker->numbers, 0);
    carom_rebound_begin(walker->rebound, &walker->numbers);
    for (int i = 0; i < walker->contacts && walker->weights == CAROM_WEIGHTS_CONSTANT; i++)
        walker->proportion[i] = carom_walk_draw_weight(walker, i);
    walker->single = -1;
    walker->gain = 0;
    memset(impulse, 0, (size_t)walker->n * sizeof *impulse);
    *counts = (carom_sample_counts){.samples = 1};
    walker->trace.rows = 0;
    walker->trace.lost = false;
    carom_impact_contact_velocity(walker->impact, start, walker->u);
    // The rule of termination of all laws decides whether there is an impact at all.
    counts->terminated = carom_impact_terminated(walker->impact, walker->u);
    for (int c = 0; c < walker->n; c++)
        if (fabs(walker->u[c]) <= walker->zero_velocity) walker->u[c] = 0;
    record(walker, impulse);
    bool interrupted = false;
    int stuck = 0;
    const bool poisson = walker->rebound->hypothesis == CAROM_HYPOTHESIS_POISSON;
    const double runaway = RUNAWAY * carom_impact_velocity_scale(walker->impact);
    const size_t n = (size_t)walker->n;
    while (!counts->terminated && counts->steps < walker->max_steps && (!poisson || carom_max_abs(n, walker->u) < runaway)) {
        interrupted = carom_control_cancelled(walker->control);
        if (interrupted) break;
        // One more piece.
        counts->steps++;
        carom_numbers_turn_to(&walker->numbers, counts->steps);
        stuck = take_piece(walker, impulse, counts) ? 0 : stuck + 1;
        if (walker->weights == CAROM_WEIGHTS_CONSTANT && stuck == MOST_STUCK) break;
        if (carom_max_abs(n, impulse) > walker->most_impulse) {
            counts->terminated = false;
            break;
        }
    }
    counts->steps_squared = (double)counts->steps * (double)counts->steps;
    carom_impact_apply(walker->impact, start, impulse, v);
    return interrupted ? CAROM_INTERRUPTED : counts->terminated ? CAROM_COMPLETE : CAROM_BUDGET_SPENT;
}
