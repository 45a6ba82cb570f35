// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of `carom simulate` share.
#ifndef CAROM_CLI_SIMULATE_SIMULATE_H
#define CAROM_CLI_SIMULATE_SIMULATE_H

#include "cli/cli_internal.h"

/// An integrator's run with what came along.
typedef struct cli_motion {
    const cli_arguments *arguments;
    const carom_scene *scene;
    const carom_integrator *integrator;
    void *options;
    cli_arguments law_arguments;  ///< options of the impact law: those that the integrator does not have
    carom_control control;
    carom_motion_answer answer;
    carom_table *states;       ///< kept for figures; NULL otherwise
    carom_table *ensemble;     ///< a row for each member; NULL without an ensemble
    int64_t members;           ///< asked for
    carom_table *convergence;  ///< a row for each step; NULL where none was asked for
    int halvings;              ///< runs of it, 0 for none
    carom_table *orders;       ///< a row for each scene whose orders were compared; NULL where nobody asked
    double perturbation;
    double *bundle;        ///< time, last coordinate and its rate of all members of a system, interleaved, NaN between members
    int64_t bundle_count;  ///< of triples
    carom_perturbed perturbed;
    double seconds;
    json_t *files;  ///< pictures that were drawn
} cli_motion;

/// Columns of a table of errors against a more exact run.
typedef enum cli_convergence_column {
    CLI_ERROR_STEP,
    CLI_ERROR_POSITION,
    CLI_ERROR_VELOCITY,
    CLI_ERROR_ATTITUDE,
    CLI_ERROR_ANGULAR_VELOCITY,
    CLI_ERROR_ENERGY,
    CLI_ERROR_NORM,
    CLI_CONVERGENCE_COLUMNS
} cli_convergence_column;

/// Runs `halvings` steps, each half of the one before, and a reference.
carom_status cli_run_convergence(cli_motion *motion, carom_error *error);
void cli_print_convergence(const carom_table *table);
carom_status cli_draw_convergence(cli_motion *motion, const char *prefix, carom_error *error);

/// PREFIX-NAME.png; its name is added to `files`.
carom_status cli_write_figure(cli_motion *motion, const char *prefix, const char *name, const carom_plot *plot, carom_error *error);
/// A real column by its name; NULL when there is none.
const double *cli_column(const carom_table *table, const char *name);

/// Pictures of many bodies: PREFIX-momentum.png, and PREFIX-frames.png where bodies have a size.
carom_status cli_draw_momenta(cli_motion *motion, const char *prefix, carom_error *error);
carom_status cli_draw_frames(cli_motion *motion, const char *prefix, carom_error *error);

/// VTK files of the states of many bodies.
typedef struct cli_vtk cli_vtk;

/// @param path  of the final state; states go beside it with numbers before the ending
carom_status cli_vtk_create(const char *path, const carom_scene *scene, cli_vtk **vtk, carom_error *error);
void cli_vtk_free(cli_vtk *vtk);
/// Receives states.
carom_sink cli_vtk_sink(cli_vtk *vtk);
/// Writes the final state and the list of the states.
carom_status cli_vtk_finish(cli_vtk *vtk, const carom_table *final, carom_error *error);

/// Columns of an ensemble's table.
typedef enum cli_ensemble_column {
    CLI_MEMBER_INDEX,
    CLI_MEMBER_VERDICT,
    CLI_MEMBER_STEPS,
    CLI_MEMBER_TIME,
    CLI_MEMBER_ENERGY_ERROR,
    CLI_MEMBER_IMPACTS,
    CLI_MEMBER_DISTANCES,  ///< from the reference run just after each impact that both have
    CLI_MEMBER_FINAL,      ///< of a system
    CLI_ENSEMBLE_COLUMNS
} cli_ensemble_column;

/// Columns of a table of the distances between two orders of impacts.
typedef enum cli_orders_column {
    CLI_ORDERS_SCENE,
    CLI_ORDERS_COMPLETE,
    CLI_ORDERS_LARGEST,
    CLI_ORDERS_TIMES,
    CLI_ORDERS_DISTANCES,
    CLI_ORDERS_COLUMNS
} cli_orders_column;

/// What the scene's `impact` says about a law's options.
carom_law_settings cli_motion_settings(const cli_motion *motion);

/// Runs the members from perturbed starts, in parallel; the order of rows and every number are those of one thread.
carom_status cli_run_ensemble(cli_motion *motion, carom_error *error);

/// |dx| + |dR| (largest singular value) of row `index` of two tables of impacts.
double cli_impact_distance(const carom_table *first, const carom_table *second, int64_t index);

/// Keeps a member's last coordinate for the figures of the bundle.
carom_status cli_add_to_bundle(cli_motion *motion, const carom_table *states, carom_error *error);

/// Draws a system's last coordinate: PREFIX-time.png and -impulse.png with its rate, over t and s, -rates.png (of time and impulse over s),
/// -phase.png and, with an ensemble, -bundle.png.
carom_status cli_draw_system(cli_motion *motion, const char *prefix, carom_error *error);

/// Runs the motion with the orders argmin and argmax; `designed`: and the solution of the scene's design, too.
carom_status cli_run_orders(cli_motion *motion, bool designed, carom_error *error);
void cli_print_orders(const carom_table *orders);
/// False when a run ended early.
bool cli_orders_complete(const cli_motion *motion);

/// Draws PREFIX-energy.png, -coordinates.png (PREFIX-paths.png of balls in a plane) and, where orders were compared, -orders.png.
carom_status cli_draw_mechanism(cli_motion *motion, const char *prefix, carom_error *error);

/// Draws PREFIX-energy.png, -energy-error.png, then -snapshots.png and, with an ensemble, -sensitivity.png, or -momentum.png and
/// -frames.png; adds their names to `files`.
carom_status cli_draw_motion(cli_motion *motion, const char *prefix, carom_error *error);

#endif
