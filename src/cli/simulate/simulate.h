// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of `carom simulate` share.
#ifndef CAROM_CLI_SIMULATE_SIMULATE_H
#define CAROM_CLI_SIMULATE_SIMULATE_H

#include "cli/cli_internal.h"

/// A motion with everything that was asked and found about it.
typedef struct cli_motion {
    const cli_arguments *arguments;
    const carom_scene *scene;
    carom_motion_request request;  ///< its parts are those below
    void *options;
    cli_arguments law_arguments;  ///< options of the impact law: those that the integrator does not have
    carom_law_settings settings;
    carom_control control;
    carom_motion_answer answer;
    carom_table *states;      ///< kept for figures; NULL otherwise
    carom_table *resume;      ///< a state from which the motion goes on; NULL without one
    carom_ensemble ensemble;  ///< `requested` is 0 without one
    int halvings;             ///< runs of the study of convergence; 0 without one
    carom_table *convergence;
    carom_table *orders;  ///< a row for each scene whose orders were compared; NULL without such a study
    double seconds;
    json_t *files;  ///< pictures that were drawn
} cli_motion;

/// Print the answer, and return the exit status that it means.
int cli_print_motion_json(const cli_motion *motion, const char *file);
int cli_print_motion_text(const cli_motion *motion, const char *file);

/// May a state be written there?
carom_status cli_check_state(const char *path, carom_error *error);
/// Writes the end of the motion as a state to go on from.
carom_status cli_write_state(const char *path, const cli_motion *motion, carom_error *error);
/// Reads such a state of the request's integrator and motion.
/// @param saved  to be freed in every case
carom_status cli_read_state(const char *path, const carom_motion_request *request, carom_table **saved, carom_error *error);

/// Compares the orders of the solution of the scene's design.
carom_status cli_compare_designed(cli_motion *motion, carom_error *error);

/// VTK files of the states of many bodies.
typedef struct cli_vtk cli_vtk;

/// @param path  of the final state; states go beside it with numbers before the ending
carom_status cli_vtk_create(const char *path, const carom_integrator *integrator, const carom_scene *scene, cli_vtk **vtk,
                            carom_error *error);
void cli_vtk_free(cli_vtk *vtk);
/// Receives states.
carom_sink cli_vtk_sink(cli_vtk *vtk);
/// Writes the final state and the list of the states.
carom_status cli_vtk_finish(cli_vtk *vtk, const carom_table *final, carom_error *error);

#endif
