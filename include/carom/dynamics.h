// SPDX-License-Identifier: Apache-2.0
/// @file
/// Motions in time: what an integrator is given, and the table of integrators. In libcarom-dynamics.
#ifndef CAROM_DYNAMICS_H
#define CAROM_DYNAMICS_H

#include "carom/bodies.h"
#include "carom/laws.h"

CAROM_API_BEGIN

// --------------------------------------------------------------------------------------------------------------------------------- motions

/// A problem in time, in the form that its scene has. Integrators take one form each; the others are NULL.
typedef struct carom_motion {
    const carom_impact *impact;         ///< a system at the instant of an impact
    const carom_body_motion *body;      ///< one body above one plane
    const carom_bodies_motion *bodies;  ///< bodies under potentials
    const carom_system *system;         ///< a mechanism above planes, beside its impact
    const char *obstacle;               ///< a sentence: why the model of a scene is no such system; NULL for none
    int64_t member;                     ///< of an ensemble: raises seeds; 0 for a motion of its own
    double displacement;                ///< of a system's start: normal numbers times this are added to its coordinates [m, rad]
} carom_motion;

/// What a perturbation changes.
typedef enum carom_perturbed { CAROM_PERTURB_BOTH, CAROM_PERTURB_POSITION, CAROM_PERTURB_ATTITUDE } carom_perturbed;

/// Names of these, NULL-terminated.
extern const char *const carom_perturbed_names[];

/// Where a perturbed motion keeps what differs.
typedef struct carom_motion_room {
    carom_body_motion body;
} carom_motion_room;

/// Member `index` of an ensemble.
///
/// A motion of the same form with a start that differs by random displacements of about `size`: every coordinate of the position [m] and of
/// the rotation vector [rad] by a normal number of the stream (seed, index), times `size`. A system's coordinates, [m] or [rad], likewise,
/// all of them; its integrator draws them, and other seeds for its laws.
/// @param room  belongs to `perturbed`, which shares the rest with `motion`
/// @return CAROM_UNSUPPORTED for a form that cannot be perturbed
carom_status carom_motion_perturb(const carom_motion *motion, carom_perturbed what, double size, int64_t seed, int64_t index,
                                  carom_motion_room *room, carom_motion *perturbed, carom_error *error);

// ----------------------------------------------------------------------------------------------------------------------------- integrators

/// Fills in what the scene's `impact` says about the options of a law; NULL for nothing.
typedef struct carom_law_settings {
    void *user;
    carom_status (*apply)(void *user, const carom_law *law, void *options, carom_error *error);
    const char *law;  ///< the law that the scene names; NULL for none
} carom_law_settings;

/// One question to an integrator. Everything is borrowed.
typedef struct carom_motion_call {
    const carom_motion *motion;
    const void *options;                 ///< the integrator's option struct
    const carom_registry *registry;      ///< where named laws and solvers are found
    const carom_control *control;        ///< cancellation, progress; may be NULL
    const carom_law_settings *settings;  ///< may be NULL
    const carom_sink *states;            ///< receives blocks of recorded states in order; NULL: nobody wants them
    carom_table *impacts;                ///< receives a row for each impact
    carom_table *recorded;               ///< receives a row of state columns for each time that the options ask for
    carom_table *final;                  ///< one row with the state columns, already added
    carom_table *result;                 ///< one row with the result columns, already added
} carom_motion_call;

/// An integrator as a table row. Flags, scene keys, `--help`, JSON and HDF5 are made from it.
typedef struct carom_integrator {
    const char *name;
    const char *summary;  ///< one line
    const char *source;   ///< paper and equation
    const carom_option *options;
    int option_count;
    size_t options_size;
    void (*defaults)(void *options);
    const carom_column *state_columns;  ///< of the trajectory and of the final state; a series has an entry for each body
    int state_column_count;
    const carom_column *impact_columns;
    int impact_column_count;
    const carom_column *result_columns;  ///< the integrator's own, behind the common ones
    int result_column_count;
    carom_status (*run)(const carom_motion_call *call, carom_error *error);
} carom_integrator;

/// Result columns that every integrator has, in this order.
typedef enum carom_motion_result_column {
    CAROM_MOTION_VERDICT,       ///< text: name of a carom_verdict; "complete" when the duration was reached
    CAROM_MOTION_STEPS,         ///< grid steps done
    CAROM_MOTION_TIME,          ///< reached [s]
    CAROM_MOTION_ENERGY_ERROR,  ///< largest relative energy error; NaN where the initial energy is 0
    CAROM_MOTION_RESULT_COLUMNS
} carom_motion_result_column;

/// What an integrator found; states went to the sink.
typedef struct carom_motion_answer {
    carom_table *impacts, *final, *result;
    carom_table *recorded;  ///< states at the times that the options ask for
} carom_motion_answer;

/// Runs an integrator. `options` NULL means the defaults; `states` may be NULL.
/// @return CAROM_BAD_INPUT naming the option or the key of the scene; a run that ends early is a verdict in the result row
carom_status carom_integrator_run(const carom_integrator *integrator, const carom_motion *motion, const void *options,
                                  const carom_registry *registry, const carom_law_settings *settings, const carom_control *control,
                                  const carom_sink *states, carom_motion_answer *answer, carom_error *error);
void carom_motion_answer_free(carom_motion_answer *answer);
/// True when the result row's verdict is "complete".
bool carom_motion_answer_complete(const carom_motion_answer *answer);

/// Adds the integrators.
carom_status carom_dynamics_register(carom_registry *registry, carom_error *error);
const carom_integrator *carom_integrator_find(const carom_registry *registry, const char *name);

CAROM_API_END

#endif
