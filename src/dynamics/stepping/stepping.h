// SPDX-License-Identifier: Apache-2.0
/// @file
/// Time stepping of mechanisms with detected contacts and set-valued impacts (Moreau 1988; Jean & Moreau 1992; Anitescu & Potra 1997):
/// what its files share.
///
/// A step of length h takes q, v to q', v', with contacts found at the middle q_m = q (+) (h/2) v:
///     A (v' - v) = h f(t, q, v) - h^2 K v + J' p,    A = M + h D + h^2 K,    q' = q (+) (h/2) (v + v'),
///     0 <= p_n _|_ Jn v' + shift >= 0,               p_t of largest dissipation in the linearised friction cone,
/// where the shift lets open contacts close and pushes penetrating ones apart. Contacts that hit are impacts, which a law decides.
#ifndef CAROM_DYNAMICS_STEPPING_STEPPING_H
#define CAROM_DYNAMICS_STEPPING_STEPPING_H

#include "carom/dense.h"
#include "carom/step.h"
#include "dynamics/dynamics_internal.h"

/// Where velocity-dependent forces are evaluated.
enum { STEPPING_START, STEPPING_MIDDLE };

typedef struct stepping_options {
    double step, duration;
    const char *law;      // "auto": that of the scene
    double impact_speed;  // NaN: from the step
    bool locate;
    double stabilisation, margin, tolerance;  // the last two relative to the mechanism's length
    double energy_limit, penetration_limit;   // beyond which a motion is not complete
    int gyroscopic;
    int64_t cone_edges, seed, every;
    const char *record;
} stepping_options;

/// Who touches, from step to step.
typedef struct stepping_key {
    int kind, first, second, ordinal;
} stepping_key;

/// A closed constraint in the contact problem of a step.
typedef struct stepping_contact {
    carom_touch touch;
    int row;            // of its normal in J; its tangents follow
    int tangents;       // 0, 1 or 2: directions in which its points can move
    int edges;          // of its friction cone
    double turn[2][2];  // its tangents as combinations of the touch's axes
    double rate;        // Jn v at the start of the step [m/s]
    double shift;       // of its normal velocity [m/s]
} stepping_contact;

/// The contact problem of a step: 0 <= p_n _|_ u_n >= 0 and friction, with u = free + W p. Rows of dry friction follow those of contacts.
typedef struct stepping_problem {
    int contacts, rows, dry;    // closed constraints; their rows; coordinates with dry friction
    stepping_contact *contact;  // [contacts]
    int *dry_coordinate;        // [dry]
    double *bound;              // [dry] largest impulse
    double *J;                  // [(rows + dry) x nv]
    double *half;               // [(rows + dry) x nv] L^-1 J', with A = L L', without what equations take
    double *W;                  // [(rows + dry)^2]
    double *free, *after;       // [rows + dry] velocities with shifts, without impulses and with them
    double *impulse;            // [rows + dry]
} stepping_problem;

/// How a contact problem was solved.
typedef struct stepping_solution {
    bool solved;
    double residual;
} stepping_solution;

typedef struct stepping_solver stepping_solver;

/// Energies that left or entered since the start [J].
typedef struct stepping_work {
    double actuators, resistance, friction, contact, impact;
} stepping_work;

/// What the verdict needs of energies [J] and penetrations.
typedef struct stepping_balance {
    double kinetic;          // largest
    double lowest, highest;  // potential energy
    double excess;           // largest energy above that of the start with the work of actuators, dampers and drag
    double implicit;         // sum of the work of the implicit terms, which is in that of resistance
    double taken_back;       // added by taking back penetrations
    double added;            // added by contact problems and impacts beyond what they may
    double depth;            // largest penetration, relative to what is deep
} stepping_balance;

/// A run.
typedef struct stepping {
    const carom_motion_call *call;
    const stepping_options *options;
    const carom_mechanism *mechanism;
    void *workspace;  // of the mechanism
    carom_motion_law law;
    int nq, nv;
    size_t n;  // nv, as a size
    double impact_speed, tolerance, margin;
    carom_arena arena;  // arrays by coordinates
    carom_arena rows;   // arrays by touches, which grow
    int touch_room, equation_room;

    // The state.
    int64_t step;
    double t;
    double *q, *v;
    double *activation;    // of actuators
    stepping_key *closed;  // [closed_count] of the last solved part of a step
    int closed_count;
    stepping_work work;

    // At (t, q, v), if `fresh`.
    carom_mechanism_terms terms;
    bool fresh;
    // Of the part of a step that is being taken.
    double h, reach;                            // its length; how far detection looks
    double *factor;                             // L
    double *change;                             // [nv] A^-1 (h f - h^2 K v)
    double *start;                              // [nv] v at the start of the part
    double *next;                               // [nv] v'
    double *q_middle, *q_trial;                 // [nq]
    carom_touches touches;                      // found there
    bool *chosen;                               // [touches] closed
    double *rate, *predicted;                   // [touches] Jn v, and Jn of the velocity without contacts
    int equations;                              // that are independent
    double *equation, *half_equation, *target;  // [equations x nv], orthonormal rows L^-1 G', G in the same combinations, [equations]
    stepping_problem problem;
    stepping_solver *solver;
    double *spring;                     // [nv] K v
    double *work_vector, *work_square;  // [nv], [nv x nv] scratch

    // The impact that is being taken.
    carom_mechanism_terms frozen;
    double *normal_impulse, *tangent_impulse, *rows_normal, *rows_tangent, *friction, *restitution, *before;

    // What is counted.
    int64_t steps, failures, impacts, pivots, solves;
    double scale;  // of energies: the initial one, or the largest kinetic one [J]
    double initial, energy_error, penetration, gain, residual;
    stepping_balance balance;
    carom_verdict verdict;
    // Names of constraints that were reported, in the order of their appearance.
    stepping_key *named;
    int named_count, named_room;
    int64_t *records;  // grid steps to be recorded
    int record_count;
    carom_table *states;  // a block of them; NULL: nobody wants them
} stepping;

extern const carom_integrator carom_integrator_stepping;

static inline stepping_key stepping_key_of(const carom_touch *touch) {
    return (stepping_key){(int)touch->kind, touch->first, touch->second, touch->ordinal};
}
bool stepping_was_closed(const stepping *run, const carom_touch *touch);

// -------------------------------------------------------------------------------------------------------------- smooth

/// Makes room for so many touches and equations. What the arrays held is lost, `closed` excepted.
carom_status stepping_reserve(stepping *run, int touches, int equations, carom_error *error);

/// Terms at (t, q, v), unless they are known.
void stepping_look(stepping *run);
/// Factors A, and finds the change of velocity by smooth forces over a part of length h.
/// @return false when a number is not finite, or A is not positive definite: the verdict says which
bool stepping_prepare(stepping *run, double h);

// ------------------------------------------------------------------------------------------------------------ contacts

/// Is a configuration beyond what numbers hold, as after forces that grew too large? Then the verdict says so.
bool stepping_overflows(stepping *run, const double *q);
/// Finds the touches at a configuration, with rates by the present velocity; none where it overflows.
carom_status stepping_detect(stepping *run, const double *q, double margin, carom_error *error);
/// Chooses those that are closed over the part of the step. With `strikes`, contacts that hit take part, otherwise they wait.
/// @return does one of them hit?
bool stepping_choose(stepping *run, bool strikes);
/// The contact problem of the chosen touches with the factor L.
/// @param factor        L, [nv x nv]
/// @param dry_friction  [nv] of coordinates; NULL: none
void stepping_freeze(stepping *run, const double *factor, const double *dry_friction);
/// v' of the part of the step: the contact problem is solved, again with contacts that the solution would drive in.
carom_status stepping_solve(stepping *run, carom_error *error);

// --------------------------------------------------------------------------------------------------------------- solve

carom_status stepping_solver_create(stepping_solver **solver, int cone_edges, carom_error *error);
void stepping_solver_free(stepping_solver *solver);
/// Impulses of the problem. They are in their cones also where it is not solved.
carom_status stepping_solver_solve(stepping_solver *solver, stepping_problem *problem, int64_t *pivots, stepping_solution *solution,
                                   carom_error *error);

/// Makes these the basis and the impulses of the problem before.
/// @param basis    [size] zero or not
/// @param impulse  [rows]
carom_status stepping_solver_set_start(stepping_solver *solver, const double *basis, int size, const double *impulse, int rows,
                                       carom_error *error);

// -------------------------------------------------------------------------------------------------------------- impacts

/// The impact of the chosen touches at (t, q, v), by the law: v becomes its outcome.
carom_status stepping_collide(stepping *run, double t, const double *q, carom_error *error);

// --------------------------------------------------------------------------------------------------------------- locate

/// The first time within the part of the step at which a contact hits, on the path of the solved velocity; h when none does, or when the
/// path overflows.
carom_status stepping_locate(stepping *run, double *time, carom_error *error);

// ---------------------------------------------------------------------------------------------------------------- step

/// Takes a step of the grid. A step that fails leaves its reason as the verdict.
carom_status stepping_take_step(stepping *run, carom_error *error);

// --------------------------------------------------------------------------------------------------------------- saving

carom_status stepping_save(stepping *run, carom_error *error);
/// Takes a saved state in place of the mechanism's start.
/// @return CAROM_BAD_INPUT "step: ..." or "duration: ..." when it is not one of this grid
carom_status stepping_resume(stepping *run, const carom_table *saved, carom_error *error);

// -------------------------------------------------------------------------------------------------------------- records

carom_status stepping_name(stepping *run, const carom_touch *touch, int *index, carom_error *error);
carom_status stepping_fill_state(stepping *run, carom_table *table, carom_error *error);
carom_status stepping_record_state(stepping *run, carom_error *error);
carom_status stepping_record_impact(stepping *run, double t, const double *q, const carom_motion_outcome *outcome, carom_error *error);

// ------------------------------------------------------------------------------------------------------------- verdict

/// How deep a constraint penetrates, relative to what is deep: a share of the thinner geom's half thickness, at least 0.001 of the
/// mechanism's length.
double stepping_depth(const stepping *run, const carom_touch *touch);
/// What gains of energy are compared with [J].
double stepping_energy_scale(const stepping *run);
/// Notes what penetrates deeply at the start.
carom_status stepping_note_start(stepping *run, carom_error *error);
/// A run that got to its end is complete where everything was solved, no energy was gained and nothing penetrated deeply. Otherwise the
/// verdict changes, and the message has the reasons.
carom_status stepping_judge(stepping *run, carom_error *error);

// ------------------------------------------------------------------------------------------------------------- figures

carom_status stepping_figures(const carom_figures *figures, carom_error *error);

#endif
