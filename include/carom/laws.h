// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impact laws. Every law is a set-valued map from an impact to an outcome set, and a row in one table.
#ifndef CAROM_LAWS_H
#define CAROM_LAWS_H

#include "carom/reach.h"

CAROM_API_BEGIN

/// One question to a law. Everything is borrowed.
typedef struct carom_law_call {
    const carom_impact *impact;
    const void *options;             ///< the law's option struct
    const carom_registry *registry;  ///< where named solvers are found
    const carom_control *control;    ///< threads, cancellation, progress
    const carom_sink *outcomes;      ///< receives blocks of outcomes in order
    carom_table *result;             ///< one row with the law's result columns, already added
} carom_law_call;

/// A law as a table row. Flags, scene keys, `--help`, JSON, HDF5 and docs are made from it.
typedef struct carom_law {
    const char *name;
    const char *summary;  ///< one line
    const char *source;   ///< paper and equation
    const carom_option *options;
    int option_count;
    size_t options_size;
    void (*defaults)(void *options);
    const char *const
        *thorough;  ///< option, value, ..., NULL: what a comparison asks for where it can be had and nobody says otherwise; or NULL
    bool (*applies)(const carom_impact *impact);  ///< is the question worth asking? Comparisons pass over other laws. NULL: always
    const carom_column *outcome_columns;          ///< the law's own, behind the common ones
    int outcome_column_count;
    const carom_column *result_columns;  ///< the law's own, behind `verdict`, `selection`
    int result_column_count;
    carom_status (*resolve)(const carom_law_call *call, carom_error *error);
} carom_law;

/// Result columns that every law has, in this order.
typedef enum carom_result_column {
    CAROM_RESULT_VERDICT,    ///< text: name of a carom_verdict; "complete" when what was asked for was finished
    CAROM_RESULT_SELECTION,  ///< text: selection that was served; "" where a law has none
    CAROM_RESULT_COLUMNS
} carom_result_column;

/// An answer: the outcome set in memory and the result row.
typedef struct carom_answer {
    carom_table *outcomes;
    carom_table *result;
} carom_answer;

/// Asks `law`; outcomes go to `sink`, or into `answer->outcomes` when `sink` is NULL. `options` NULL means the defaults.
/// @return CAROM_BAD_INPUT naming the option; a computation that could not finish is a verdict in the result row
carom_status carom_law_resolve(const carom_law *law, const carom_impact *impact, const void *options, const carom_registry *registry,
                               const carom_control *control, const carom_sink *sink, carom_answer *answer, carom_error *error);
void carom_answer_free(carom_answer *answer);
/// True when the result row's verdict is "complete".
bool carom_answer_complete(const carom_answer *answer);

// What `resolve` of a law calls at its end; laws of side libraries and of programs do, too.

/// Sets the two common result columns.
carom_status carom_law_conclude(const carom_law_call *call, carom_verdict verdict, carom_selection selection, carom_error *error);

/// Hands a finished table of outcomes to the call's sink.
carom_status carom_law_emit(const carom_law_call *call, const carom_table *outcomes, carom_error *error);

/// A registry with the core's solvers and laws.
carom_status carom_registry_create(carom_registry **registry, carom_error *error);
const carom_law *carom_law_find(const carom_registry *registry, const char *name);

// ------------------------------------------------------------------------------- one contact with friction and restitution

/// When the restitution of a single contact is over. All agree where normal and tangential motion are not coupled (d = 0).
typedef enum carom_restitution {
    CAROM_RESTITUTION_STRONGE,  ///< energetic: the normal work of restitution is e^2 times that of compression
    CAROM_RESTITUTION_POISSON,  ///< kinetic: the normal impulse of restitution is e times that of compression
    CAROM_RESTITUTION_NEWTON,   ///< kinematic: the normal velocity is -e times the initial one; may add energy
} carom_restitution;

/// A vector of contact space: along the two tangents and the normal.
typedef struct carom_contact_vector {
    double tangent[2], normal;
} carom_contact_vector;

/// One contact: the change of its velocity by an impulse I is W I with W = [[B, d], [d', w]] in the order tangents, normal.
/// A planar contact has zeros for what belongs to the second tangent.
typedef struct carom_contact_problem {
    double tangential[3];           ///< B: entries 11, 12, 22 [1/kg]
    double coupling[2];             ///< d [1/kg]
    double normal;                  ///< w > 0 [1/kg]
    double friction, restitution;   ///< mu >= 0, e in [0, 1]
    carom_contact_vector velocity;  ///< v- [m/s]; normal < 0: approaching
} carom_contact_problem;

/// A state of the process, as it goes on.
typedef struct carom_contact_state {
    carom_contact_vector velocity;  ///< [m/s]
    carom_contact_vector impulse;   ///< accumulated [N s]
} carom_contact_state;

typedef struct carom_contact_options {
    carom_restitution hypothesis;
    double tolerance;  ///< of the integration, relative to |v-|: 1e-15 to 1e-3
    bool tangential;   ///< at an approach speed of exactly zero, compute the limit of vanishing speeds
    /// Receives states in the order of the process: ends of its parts, and points between them on curved ones. NULL: not wanted.
    void (*trace)(void *user, const carom_contact_state *state);
    void *user;
} carom_contact_options;

/// Stronge's hypothesis, tolerance 1e-12: good for 1e-10 relative on well-conditioned contacts.
carom_contact_options carom_contact_defaults(void);

typedef enum carom_contact_status {
    CAROM_CONTACT_IMPACT,
    CAROM_CONTACT_NO_IMPACT,   ///< the contact does not approach: no impulse
    CAROM_CONTACT_TANGENTIAL,  ///< approach speed zero, but sliding would drive the bodies together: no impulse unless asked for
} carom_contact_status;

/// How the tangential motion goes.
typedef enum carom_contact_course {
    CAROM_COURSE_NONE,          ///< no impulse
    CAROM_COURSE_FRICTIONLESS,  ///< mu = 0
    CAROM_COURSE_SLIP,          ///< slides all the time, in changing directions
    CAROM_COURSE_SLIP_STICK,    ///< slides, stops, sticks to the end
    CAROM_COURSE_SLIP_RESUME,   ///< slides, stops, slides on along the centrifugal direction
    CAROM_COURSE_LINE,          ///< slides along an invariant direction
    CAROM_COURSE_LINE_STICK,
    CAROM_COURSE_LINE_RESUME,
    CAROM_COURSE_STICK,   ///< starts without slip and sticks
    CAROM_COURSE_RESUME,  ///< starts without slip and slides along the centrifugal direction
} carom_contact_course;

const char *carom_contact_status_name(carom_contact_status status);
const char *carom_contact_course_name(carom_contact_course course);

/// Room for events: a contact has at most two compressions, and stops slipping once.
enum { CAROM_MOST_CONTACT_EVENTS = 16 };

/// What happened. Letters of events: l starts on an invariant ray, s slip is zero, c a compression ends, k the contact approaches again
/// before its restitution is over, r the end.
typedef struct carom_contact_result {
    carom_contact_status status;
    carom_contact_course course;
    carom_contact_vector impulse;   ///< [N s]
    carom_contact_vector velocity;  ///< v+ = v- + W I [m/s]; its slip is exactly zero when the contact sticks
    char events[CAROM_MOST_CONTACT_EVENTS + 1];
    double event_impulse[CAROM_MOST_CONTACT_EVENTS];  ///< normal impulse at each event [N s]
    carom_contact_vector compression;                 ///< impulse at the end of the first compression [N s]
    int compressions;
    bool sticks;
    bool jams;                ///< at first, the normal velocity falls although the impulse pushes the bodies apart
    bool may_jam;             ///< w <= mu |d|: there are directions of slip in which it does
    double compression_work;  ///< taken from the bodies by the normal impulse, over all compressions [J]
    double restitution_work;  ///< given back [J]
    double friction_work;     ///< taken by friction [J]
    int steps;                ///< of the numerical integration; closed forms take none
} carom_contact_result;

/// Impact of one contact with Coulomb friction and energetic (or another) restitution in the plane or in space: Jia & Wang 2017.
/// The accumulated normal impulse is the clock; slip obeys gamma' = -mu B gamma/|gamma| + d. Integrated as Taylor
/// series in the clock dtau = dIz / |gamma|, which has no singularity at zero slip; closed forms on invariant rays and without slip. After
/// a recompression the works (impulses for Poisson) of all compressions are pooled.
/// @return CAROM_BAD_INPUT for numbers that are not finite, mu < 0, e outside [0,1], W that is not positive definite (a tangential
///         direction without any motion may be missing); `result` is then that of no impact
/// Cost: 1 to 3 microseconds. No allocation; thread-safe.
carom_status carom_contact_solve(const carom_contact_problem *problem, const carom_contact_options *options, carom_contact_result *result,
                                 carom_error *error);

/// The problem of one contact of an impact at the contact velocity u ([n], contact-major); restitution is that of the impact.
void carom_contact_extract(const carom_impact *impact, int contact, const double *u, carom_contact_problem *problem);

/// What the law `stronge` solves with these options of its own: which contact, its problem, and how.
/// @return CAROM_BAD_INPUT when the contact is not named, or is not there
carom_status carom_stronge_prepare(const carom_impact *impact, const void *law_options, int *contact, carom_contact_problem *problem,
                                   carom_contact_options *options, carom_error *error);

/// What slip along an invariant direction does.
typedef enum carom_ray_type {
    CAROM_RAY_ATTRACTING,   ///< slows down; neighbouring directions turn towards it
    CAROM_RAY_REPELLING,    ///< slows down; neighbouring directions turn away
    CAROM_RAY_CENTRIFUGAL,  ///< speeds up, and attracts
    CAROM_RAY_MERGED,       ///< attracts on one side and repels on the other, or neither: a multiple root
} carom_ray_type;

const char *carom_ray_type_name(carom_ray_type type);

/// A direction in which slip stays straight.
typedef struct carom_invariant_ray {
    double direction[2];  ///< unit
    double angle;         ///< of the direction, in (-pi, pi]
    double rate;          ///< change of the slip speed with the normal impulse [1/kg]; > 0: centrifugal
    carom_ray_type type;
} carom_invariant_ray;

enum { CAROM_MOST_RAYS = 4 };

/// All invariant directions, by angle: 2, 3 or 4. 0 where every direction is one (B isotropic, d = 0), or mu = 0.
/// @return CAROM_BAD_INPUT as carom_contact_solve
carom_status carom_contact_invariant_rays(const carom_contact_problem *problem, carom_invariant_ray rays[CAROM_MOST_RAYS], int *count,
                                          carom_error *error);

CAROM_API_END

#endif
