// SPDX-License-Identifier: Apache-2.0
/// @file
/// The integrator of the time-augmented inclusion (Halm & Posa 2023, section 4): what its files share.
///
/// A solution runs over accumulated impulse s, with the state (q, v, t); w is the work of actuators, dampers and fluids. Between switches
/// the set of closed contacts and what each of them does is constant, and the motion is a smooth differential equation that is integrated
/// over t, with s' = 1 + |lambda_n|_1. Impacts are steps of s at constant t.
#ifndef CAROM_DYNAMICS_INCLUSION_INCLUSION_H
#define CAROM_DYNAMICS_INCLUSION_INCLUSION_H

#include "carom/dense.h"
#include "dynamics/dynamics_internal.h"

/// Contacts of a system: their sets are bits of a word. Contacts that are closed at once: their modes are enumerated, 4 for each.
enum { INCLUSION_MOST_CONTACTS = 64, INCLUSION_MOST_CLOSED = 6 };

typedef struct inclusion_options {
    double step, duration;
    const char *law;  // "auto": that of the scene
    double tolerance;
    int64_t seed, max_impacts, every;
} inclusion_options;

// What a contact does while the motion is smooth. Slip along +tangent is forward.
typedef enum inclusion_mode { INCLUSION_STICKS, INCLUSION_SLIPS_FORWARD, INCLUSION_SLIPS_BACKWARD, INCLUSION_OPEN } inclusion_mode;

// An impact as the search for accumulations remembers it.
typedef struct inclusion_record {
    double t, s, work;
    uint64_t contacts;
    double *state;  // [2 nv] q, v after it
} inclusion_record;

enum { INCLUSION_LONGEST_PERIOD = 8, INCLUSION_RECORDS = 3 * INCLUSION_LONGEST_PERIOD + 1 };

// The motion: its state, and what the last evaluation found there.
typedef struct inclusion {
    const carom_motion_call *call;
    const inclusion_options *options;
    const carom_system *system;
    void *workspace;  // of the system
    carom_motion_law law;
    carom_stream choices;  // which of several solutions is taken
    int nv, contacts;
    carom_arena arena;  // all arrays

    double t;
    double *y;             // [2 nv + 2] q, v, s, w
    uint64_t closed;       // contacts without distance and normal velocity
    inclusion_mode *mode;  // [contacts]
    double fastest;        // largest |J v| so far: the scale of speeds

    // Of the last evaluation: rows of contacts are normal, tangent, normal, ...
    carom_system_terms terms;
    double *factor;        // Cholesky factor of M
    double *smooth;        // [nv] acceleration without contact forces
    double *response;      // [2 contacts x nv] M^-1 J'
    double *delassus;      // [2 contacts x 2 contacts]
    double *free;          // [2 contacts] contact accelerations without contact forces
    double *force;         // [2 contacts]
    double *acceleration;  // [nv]
    double *work;          // scratch: two copies of a system of modes and its null space, rows of an impact, or a displacement
    int *exchanges;

    double *stages;                      // [7 x (2 nv + 2)] of Runge-Kutta
    double *next, *trial, *error;        // [2 nv + 2]
    double *before, *located;            // [3 contacts] monitors
    double *rate_before, *rate_located;  // [contacts] rates of gaps
    double substep;                      // length of the next substep that the error control proposes

    inclusion_record records[INCLUSION_RECORDS];  // ring
    int64_t record_count;
} inclusion;

// What an impact did.
typedef struct inclusion_outcome {
    uint64_t contacts;
    int64_t index, count;  // which outcome of the law's
    double *velocity;      // [nv]
    double *impulse;       // [2 contacts] normal, tangent, ...
    bool solved;
} inclusion_outcome;

// A run: the motion, and what is counted on the way.
typedef struct inclusion_loop {
    inclusion run;
    int64_t steps, step;  // grid steps to do; those done
    int64_t impacts, accumulations, switches;
    int64_t unresolved_hops;  // too low for gaps, or too short for the time
    double accumulation[2];   // t, s of the first
    double initial, energy, energy_error, kinetic, penetration;
    carom_verdict verdict;  // CAROM_COMPLETE until something ends the run early
    carom_table *states;    // a block of them; NULL: nobody wants them
    inclusion_outcome outcome;
} inclusion_loop;

/// Numbers in y.
static inline int inclusion_size(const inclusion *run) { return 2 * run->nv + 2; }

static inline uint64_t inclusion_bit(int contact) { return (uint64_t)1 << contact; }

// Speeds of a contact: along its normal, > 0 opening, and along its tangent.
static inline double inclusion_opening(const inclusion *run, int contact) {
    return carom_dot(run->nv, run->terms.normal + contact * run->nv, run->y + run->nv);
}
static inline double inclusion_slip(const inclusion *run, int contact) {
    return carom_dot(run->nv, run->terms.tangent + contact * run->nv, run->y + run->nv);
}

static inline inclusion_mode inclusion_slip_mode(double slip) { return slip > 0 ? INCLUSION_SLIPS_FORWARD : INCLUSION_SLIPS_BACKWARD; }

// Gaps of contacts that count as touching, relative to the system's length; speeds that count as zero, relative to the fastest.
#define INCLUSION_TOUCH 1e-10
#define INCLUSION_REST  1e-9
static inline double inclusion_slow(const inclusion *run) { return INCLUSION_REST * run->fastest; }

extern const carom_integrator carom_integrator_inclusion;

// --------------------------------------------------------------------------------------------------------------- loop

/// Runs the motion over the grid. A run that cannot go on ends with a verdict.
carom_status inclusion_run_grid(inclusion_loop *loop, carom_error *error);

/// Fills in the last row of a table of states, with the forces of the present modes; in an impact time stands still.
void inclusion_fill_state(inclusion_loop *loop, bool in_impact, carom_table *table);
carom_status inclusion_record_state(inclusion_loop *loop, bool in_impact, carom_error *error);
/// Adds the loop's outcome to the table of impacts. To be called while y still has the velocity before the impact.
carom_status inclusion_record_impact(inclusion_loop *loop, const char *kind, carom_error *error);

// ---------------------------------------------------------------------------------------------------------------- flow

/// Terms, factors, Delassus operator and contact-free accelerations at (q, v).
/// @return false when M is not positive definite or a number is not finite
bool inclusion_assemble(inclusion *run, const double *y);

/// Contact forces and accelerations for given modes, of least norm where they are not determined.
/// @return false when the modes contradict each other
bool inclusion_solve_modes(inclusion *run, const inclusion_mode *mode);

/// y of a time h later in the present modes, by one step of Dormand & Prince's method of order 5.
/// @param error  [2 nv + 2] estimate; NULL: not wanted
bool inclusion_advance(inclusion *run, double h, double *y, double *error);

/// The error of a step relative to the tolerance.
double inclusion_error_ratio(const inclusion *run, double h, const double *y, const double *error);

/// Takes the round-off of gaps and velocities of closed contacts out of y, by the nearest points in the kinetic metric.
bool inclusion_project(inclusion *run, double *y);

/// Kinetic and potential energy of the last evaluation, with velocity v.
double inclusion_energy(const inclusion *run, const double *v);

// ------------------------------------------------------------------------------------------------------------- switches

/// The first switch within (0, h] after y: a gap closes, a force ends, friction gives way, slip ends.
/// @param end   the state at h
/// @param when  of the switch
bool inclusion_find_switch(inclusion *run, double h, const double *end, double *when);

/// Modes of the closed contacts that satisfy the laws of contact with the accelerations; one of several is drawn. Contacts that open are
/// taken out of the closed ones.
/// @param leave     modes not to be taken while there are others; NULL for none
/// @param jams      receives, where no modes are consistent or an impact is drawn instead, the contact that jams; otherwise -1
/// @return false when no modes were taken
bool inclusion_choose_modes(inclusion *run, const inclusion_mode *leave, int *jams);

// -------------------------------------------------------------------------------------------------------------- impacts

/// Asks the law about the touching contacts. `outcome->solved` is false where the law has no outcome after which nothing approaches.
/// @param index  of the impact: each draws its own random numbers
carom_status inclusion_collide(inclusion *run, uint64_t touching, int64_t index, inclusion_outcome *outcome, carom_error *error);

/// The impact without collision of one slipping contact whose sustained force would have to pull (Painleve): that of vanishing approach
/// speeds, by Routh's method. Slip ends, and the contact sticks until nothing approaches (Genot & Brogliato 1999).
carom_status inclusion_jam(inclusion *run, int contact, inclusion_outcome *outcome, carom_error *error);

// --------------------------------------------------------------------------------------------------------- accumulations

/// Remembers an impact that just happened.
void inclusion_remember(inclusion *run, uint64_t contacts);

/// Do the remembered impacts accumulate, and is the limit known? Then t, s, q and v become those of the limit.
/// @param contacts  those that take part
bool inclusion_pass_accumulation(inclusion *run, uint64_t *contacts);

// ------------------------------------------------------------------------------------------------ figures and studies

/// The numbers of a recorded state that pictures show.
enum { INCLUSION_TRACE_TIME, INCLUSION_TRACE_COORDINATE, INCLUSION_TRACE_RATE, INCLUSION_TRACE_WIDTH };

void inclusion_describe(const carom_motion_answer *answer, char *text, size_t size);
void inclusion_trace(const carom_table *states, int64_t row, double *values);
carom_status inclusion_figures(const carom_figures *figures, carom_error *error);

#endif
