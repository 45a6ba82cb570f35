// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of the integrators share.
#ifndef CAROM_DYNAMICS_INTERNAL_H
#define CAROM_DYNAMICS_INTERNAL_H

#include "carom/studies.h"

// --------------------------------------------------------------------------------------------------------------- a run

/// Coordinates [nv] of a system at the start: those of a member of an ensemble are displaced.
void carom_motion_place(const carom_motion *motion, double *position);

/// Sets the common result columns, which have the energy error relative to the initial energy.
carom_status carom_motion_conclude(const carom_motion_call *call, carom_verdict verdict, int64_t steps, double time, double energy_error,
                                   double initial_energy, carom_error *error);

/// Adds a note about the motion.
carom_status carom_motion_note(const carom_motion_call *call, carom_error *error, const char *format, ...) CAROM_PRINTF(3, 4);
/// Adds a reason to the message of the results: why the motion is not complete.
carom_status carom_motion_explain(const carom_motion_call *call, carom_error *error, const char *format, ...) CAROM_PRINTF(3, 4);
/// A motion that would be complete is not when its energy is wrong by more than 1 % of the scale: the verdict and the message say so. The
/// scale is the largest of the initial energy, the kinetic energies, and, for a system that may rest all the time, the energy of speeds
/// that move it by its own size within the time of the motion.
/// @param initial, kinetic  energy at the start, and the largest kinetic one [J]
/// @param time              that the motion took [s]
carom_status carom_motion_limit_energy(const carom_motion_call *call, double energy_error, double initial, double kinetic, double time,
                                       carom_verdict *verdict, carom_error *error);

/// Hands recorded states on and clears them; nothing where there are none, or no table of them.
carom_status carom_motion_flush(const carom_motion_call *call, carom_table *states, carom_error *error);

/// Refuses a step with which a run would have over 1e12 of them, by "step: ...".
carom_status carom_motion_check_step(double duration, double step, carom_error *error);
/// Grid steps of a run, whole ones.
/// @return CAROM_BAD_INPUT "step: ..." when they are too many, or none although there is time to be covered
carom_status carom_motion_count_steps(double duration, double step, int64_t *steps, carom_error *error);

/// Times of the option `record`, as grid steps in the order given; those after the end of a run that was made shorter are left out.
/// @param text  times, or FROM:TO:STEP, with commas between them
/// @return CAROM_BAD_INPUT "record: ..." for anything else
carom_status carom_motion_parse_times(const char *text, double step, int64_t steps, carom_arena *arena, int64_t **records, int *count,
                                      carom_error *error);

/// Sets a number among an option struct's fields by the row's name, if there is such a row.
carom_status carom_motion_set_option(const carom_law *law, void *options, const char *name, double value, carom_error *error);

// ------------------------------------------------------------------------------------------------------ laws at impacts

/// The law of all impacts of a run.
typedef struct carom_motion_law {
    const carom_law *law;
    void *options;  ///< its own, with what the scene says of them
} carom_motion_law;

/// Finds the law of this name; "auto" is the one that the scene names, or moreau where there is restitution, or anitescu-potra. Notes say
/// which law was taken because of a restitution, or that the law uses none.
/// @param restitution  largest one of the contacts
/// @return CAROM_BAD_INPUT "law: ..." where there is none
carom_status carom_motion_find_law(const carom_motion_call *call, const char *name, double restitution, carom_arena *arena,
                                   carom_motion_law *found, carom_error *error);

/// The outcome that was drawn.
typedef struct carom_motion_outcome {
    int64_t index, count;      ///< which of the law's outcomes, -1 where none has terminated; terminated ones
    bool complete;             ///< the law has finished what it was asked for
    double *velocity;          ///< [nv] of the impact
    double *normal, *tangent;  ///< [contacts], [tangents] impulses; NaN where the law leaves them open
} carom_motion_outcome;

/// Asks the law, and draws one of the outcomes after which nothing approaches.
/// @param seed, index  of the run and of the impact in it: what a random law draws
/// @param choices      which of several outcomes
carom_status carom_motion_draw(const carom_motion_call *call, const carom_motion_law *law, const carom_impact *impact, int64_t seed,
                               int64_t index, carom_stream *choices, carom_motion_outcome *outcome, carom_error *error);

// ------------------------------------------------------------------------------------------------- studies and figures

/// A copy of the request's options, or of the defaults, that a study may change; NULL when out of memory. To be freed.
void *carom_motion_copy_options(const carom_motion_request *request);
/// Sets an option of an integrator, which must have it, by its name.
carom_status carom_motion_set(const carom_integrator *integrator, void *options, const char *name, const char *text, carom_error *error);

/// A real column by its name; NULL when there is none.
const double *carom_motion_column(const carom_table *table, const char *name);

/// The states that pictures over time show: how many from `first` on.
int64_t carom_motion_shown(const carom_figures *figures, int64_t *first);

/// The units of the coordinates of a system or mechanism: "m", "rad", or "1" for a quaternion's numbers.
/// @param count  receives the number of coordinates
/// @return to be freed; NULL when out of memory
const char **carom_motion_find_units(const carom_motion *motion, int *count);

/// The picture "energy": those of the columns translational_, rotational_, kinetic_, potential_energy, energy, actuator_, friction_ and
/// impact_work that there are, over time.
carom_status carom_figure_energy(const carom_figures *figures, carom_error *error);
/// The picture "energy-error": energy since the start, less what impacts took where that is more than rounding.
carom_status carom_figure_energy_error(const carom_figures *figures, carom_error *error);
/// The picture "energy-change": energy less that of the start, on a scale of its own.
carom_status carom_figure_energy_change(const carom_figures *figures, carom_error *error);
/// A picture of lines near 0 over time, [count x all states] values, which it may scale: where they are small or large, the axis has a
/// power of ten as unit, or all numbers at it would read alike.
/// @param labels  [count] of the lines; NULL: one line without
carom_status carom_figure_changes(const carom_figures *figures, const char *name, const char *what, const char *unit, int count,
                                  const char *const *labels, double *values, carom_error *error);
enum { CAROM_FIGURE_LINES = 8 };  ///< of such a picture at most
/// Coordinates of a system or mechanism over time, those of each unit apart: the pictures "coordinates-m", "coordinates-rad" and
/// "coordinates-quaternion", of seven lines each; further ones are called "coordinates-rad-2" and so on.
carom_status carom_figure_coordinates(const carom_figures *figures, carom_error *error);
/// All of these for a system or mechanism: "energy" where its parts are known, "energy-change" and coordinates.
carom_status carom_figure_mechanics(const carom_figures *figures, carom_error *error);
/// The picture "convergence": errors over steps, by decades; nothing without rows.
carom_status carom_figure_convergence(const carom_figures *figures, const carom_convergence_hooks *hooks, carom_error *error);

#endif
