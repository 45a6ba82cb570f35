// SPDX-License-Identifier: Apache-2.0
/// @file
/// Motions in time: problems, integrators and their table. In libcarom-dynamics. Studies of many runs: carom/studies.h.
#ifndef CAROM_DYNAMICS_H
#define CAROM_DYNAMICS_H

#include "carom/bodies.h"
#include "carom/laws.h"
#include "carom/mechanism.h"
#include "carom/picture.h"

CAROM_API_BEGIN

// --------------------------------------------------------------------------------------------------------------------------------- motions

/// The form of a problem in time. An integrator takes one of them.
typedef enum carom_motion_form {
    CAROM_MOTION_NONE,       ///< an impact alone
    CAROM_MOTION_BODY,       ///< one body above one plane
    CAROM_MOTION_BODIES,     ///< many bodies under potentials
    CAROM_MOTION_SYSTEM,     ///< a mechanism, or balls, with contacts that open and close
    CAROM_MOTION_MECHANISM,  ///< a mechanism whose contacts are detected as it moves
} carom_motion_form;

/// A problem in time. Everything is borrowed.
typedef struct carom_motion {
    carom_motion_form form;
    union {
        const carom_body_motion *body;      ///< CAROM_MOTION_BODY
        const carom_bodies_motion *bodies;  ///< CAROM_MOTION_BODIES
        const carom_system *system;         ///< CAROM_MOTION_SYSTEM
        const carom_mechanism *mechanism;   ///< CAROM_MOTION_MECHANISM
        const void *problem;                ///< whichever it is
    };
    const carom_impact
        *impact;           ///< of a system: has its numbers of velocities and contacts, and the contacts' names; otherwise may be NULL
    const char *obstacle;  ///< a sentence: why the model of a scene is not a system; NULL for none
    int64_t member;        ///< of an ensemble: raises seeds; 0 for a motion of its own
    double displacement;   ///< of a system's start: normal random numbers times this are added to its coordinates [m, rad]
} carom_motion;

/// What a perturbation changes.
typedef enum carom_perturbed { CAROM_PERTURB_BOTH, CAROM_PERTURB_POSITION, CAROM_PERTURB_ATTITUDE } carom_perturbed;

/// Names of these, NULL-terminated.
extern const char *const carom_perturbed_names[];

/// Memory for the part of a perturbed motion that differs.
typedef struct carom_motion_room {
    carom_body_motion body;
} carom_motion_room;

/// Member `index` of an ensemble: the same motion from another start.
///
/// Every coordinate of a body's position [m] and rotation vector [rad] moves by a normal random number of the stream (seed, index) times
/// `size`. A system's coordinates, [m] or [rad], move likewise, all of them; its integrator draws those numbers, and uses other seeds.
/// @param room  belongs to `perturbed`, which shares the rest with `motion`
/// @return CAROM_UNSUPPORTED for a form that cannot be perturbed
carom_status carom_motion_perturb(const carom_motion *motion, carom_perturbed what, double size, int64_t seed, int64_t index,
                                  carom_motion_room *room, carom_motion *perturbed, carom_error *error);

// -------------------------------------------------------------------------------------------------------------------------------- requests

/// Fills in what the scene's `impact` says about the options of a law.
typedef struct carom_law_settings {
    void *user;
    carom_status (*apply)(void *user, const carom_law *law, void *options, carom_error *error);
    const char *law;  ///< the law that the scene names; NULL for none
} carom_law_settings;

typedef struct carom_integrator carom_integrator;

/// One question to an integrator. Everything is borrowed.
typedef struct carom_motion_request {
    const carom_integrator *integrator;
    const carom_motion *motion;
    const void *options;                 ///< the integrator's option struct; NULL: the defaults
    const carom_registry *registry;      ///< where named laws and solvers are found
    const carom_law_settings *settings;  ///< may be NULL
    const carom_control *control;        ///< cancellation, progress; may be NULL
    const carom_table *resume;           ///< a saved state from which the motion goes on; NULL: from its start
} carom_motion_request;

/// Result columns that every integrator has, in this order.
typedef enum carom_motion_result_column {
    CAROM_MOTION_VERDICT,       ///< text: name of a carom_verdict; "complete" when the duration was reached
    CAROM_MOTION_STEPS,         ///< grid steps done
    CAROM_MOTION_TIME,          ///< reached [s]
    CAROM_MOTION_ENERGY_ERROR,  ///< largest relative energy error; NaN where the initial energy is 0
    CAROM_MOTION_MESSAGE,       ///< text: why the motion is not complete, with its numbers; empty where the verdict says it all
    CAROM_MOTION_RESULT_COLUMNS
} carom_motion_result_column;

/// Columns of the names of constraints, and of notes.
enum { CAROM_MOTION_NAME };
enum { CAROM_MOTION_NOTE };

/// What an integrator found; states went to the sink.
typedef struct carom_motion_answer {
    carom_table *impacts;   ///< a row for each impact
    carom_table *final;     ///< one row of state columns
    carom_table *result;    ///< one row: the common columns, then the integrator's own
    carom_table *recorded;  ///< states at the times that the options ask for
    carom_table *saved;     ///< the end as a state from which a run goes on, bit by bit; NULL or empty: there is none
    carom_table *names;     ///< of a mechanism: lists of contacts in its tables are rows of this one; otherwise NULL
    carom_table *notes;     ///< a sentence each: what was given and not used, what was chosen, what is wrong with the start
} carom_motion_answer;

/// Runs an integrator.
/// @param states  receives blocks of recorded states in order; NULL: nobody wants them
/// @return CAROM_BAD_INPUT naming the option or the key of the scene; a run that ends early is a verdict in the result row
carom_status carom_integrator_run(const carom_motion_request *request, const carom_sink *states, carom_motion_answer *answer,
                                  carom_error *error);
void carom_motion_answer_free(carom_motion_answer *answer);
/// True when the result row's verdict is "complete".
bool carom_motion_answer_complete(const carom_motion_answer *answer);
/// An empty table for a saved state.
/// @return CAROM_UNSUPPORTED when the integrator has none
carom_status carom_motion_create_saved(const carom_integrator *integrator, const carom_motion *motion, carom_table **saved,
                                       carom_error *error);
/// An empty table for the states that an integrator records of a motion.
carom_status carom_motion_create_states(const carom_integrator *integrator, const carom_motion *motion, carom_table **states,
                                        carom_error *error);

/// Times of recorded states, the column "time" or "t"; NULL where there is neither.
const double *carom_motion_times(const carom_table *states);
/// The row of the recorded state nearest to a time; of several at one time the last.
int64_t carom_motion_find_state(const carom_table *states, double time);

// ----------------------------------------------------------------------------------------------------------------------------- integrators

/// What an integrator's `run` is given.
typedef struct carom_motion_call {
    const carom_motion *motion;  ///< of the integrator's form
    const void *options;         ///< the integrator's option struct
    const carom_registry *registry;
    const carom_law_settings *settings;  ///< may be NULL
    const carom_control *control;        ///< may be NULL
    const carom_sink *states;            ///< receives blocks of recorded states in order; NULL: nobody wants them
    carom_table *impacts;                ///< receives a row for each impact
    carom_table *names;                  ///< of a mechanism: receives the names of constraints that lists of contacts refer to
    carom_table *notes;                  ///< receives sentences for people
    carom_table *saved;                  ///< receives the end as a state to go on from; NULL where the integrator has no columns for it
    const carom_table *resume;           ///< such a state, one row; NULL: the motion's start
    carom_table *recorded;               ///< receives a row of state columns for each time that the options ask for
    carom_table *final;                  ///< one row with the state columns, already added
    carom_table *result;                 ///< one row with the result columns, already added
} carom_motion_call;

typedef struct carom_ensemble carom_ensemble;

/// A run with its studies, and who receives pictures of them.
typedef struct carom_figures {
    const char *title;           ///< of every picture
    const carom_motion *motion;  ///< of the integrator's form
    const carom_table *states;   ///< all that were recorded, one or more
    const double *window;        ///< [2] from when to when pictures over time go [s], with a state between; NULL: all
    const double *times;         ///< [time_count] when frames show the motion [s]; NULL: chosen
    int time_count;
    const char *const *coordinates;  ///< [coordinate_count] names of the coordinates that pictures over time show; NULL: all
    int coordinate_count;
    const carom_motion_answer *answer;
    const carom_ensemble *ensemble;           ///< NULL: none
    const carom_table *convergence, *orders;  ///< NULL: none
    void *user;
    /// @param name  of the picture: a word that a file's name may end in
    carom_status (*receive)(void *user, const char *name, const carom_plot *picture, carom_error *error);
} carom_figures;

/// Refuses names that no coordinate of a system or mechanism has. NAME.tilt is the angle between the z axis of a free or ball joint NAME
/// and the vertical; `tilt` alone that of the first one.
/// @return CAROM_BAD_INPUT naming the coordinate; CAROM_UNSUPPORTED for other forms
carom_status carom_motion_check_coordinates(const carom_motion *motion, const char *const *names, int count, carom_error *error);

/// What the study of convergence needs of an integrator.
typedef struct carom_convergence_hooks {
    const carom_column *errors;  ///< [count] real columns: errors at the end of a run
    const char *const *labels;   ///< [count] their names in pictures
    int count;
    /// Turns the options of the motion into those of a run of the study, which sets `step` itself.
    /// @param reference  the run that the others are compared with: as exact as the integrator can
    carom_status (*prepare)(const carom_motion *motion, bool reference, void *options, carom_error *error);
    /// Fills in errors [count] of one run.
    void (*measure)(const carom_motion_answer *one, const carom_motion_answer *reference, double *errors);
} carom_convergence_hooks;

/// Real result columns that a JSON document shows as one object called `name`, or null where the first is NaN. The columns are called
/// NAME_KEY.
typedef struct carom_result_group {
    const char *name;
    int first, count;
} carom_result_group;

/// An integrator as a table row. Flags, scene keys, `--help`, JSON, HDF5, tables, pictures and studies follow from it. Columns `qpos` and
/// `qvel` of the final state are shown of every member of an ensemble.
struct carom_integrator {
    const char *name;
    const char *summary;     ///< one line
    const char *source;      ///< paper and equation
    carom_motion_form form;  ///< that it takes
    const carom_option *options;
    int option_count;
    size_t options_size;
    void (*defaults)(void *options);
    const carom_column *state_columns;  ///< of the trajectory and of the final state; a series has an entry for each body
    int state_column_count;
    const carom_column *impact_columns;
    int impact_column_count;
    const carom_column *result_columns;  ///< the integrator's own, after the common ones
    int result_column_count;
    const carom_result_group *result_groups;
    int result_group_count;
    carom_status (*run)(const carom_motion_call *call, carom_error *error);

    // Each of the following may be left out.

    const carom_column *saved_columns;  ///< of states from which a run goes on
    int saved_column_count;

    /// Writes lines for people about the answer, each with its end of line; nothing when there is nothing to say.
    void (*describe)(const carom_motion_answer *answer, char *text, size_t size);
    /// Hands pictures on, one after the other.
    carom_status (*figures)(const carom_figures *figures, carom_error *error);
    /// Of an ensemble: how far apart row `index` of two tables of impacts is.
    double (*impact_distance)(const carom_table *first, const carom_table *second, int64_t index);
    /// Of an ensemble: the numbers of a recorded state that pictures need of every member.
    void (*trace)(const carom_table *states, int64_t row, double *values);
    int trace_width;  ///< numbers that `trace` writes
    const carom_convergence_hooks *convergence;
    /// Of orders: |p - p'|/|p| of the first `count` states of two runs. The integrator has an option `order` that offers argmin and argmax.
    carom_status (*order_distances)(const carom_motion *motion, const carom_table *first, const carom_table *second, int64_t count,
                                    double *distances, carom_error *error);
};

/// Adds the integrators.
carom_status carom_dynamics_register(carom_registry *registry, carom_error *error);
const carom_integrator *carom_integrator_find(const carom_registry *registry, const char *name);

CAROM_API_END

#endif
