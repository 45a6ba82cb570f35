// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of `carom simulate` share.
#ifndef CAROM_CLI_SIMULATE_SIMULATE_H
#define CAROM_CLI_SIMULATE_SIMULATE_H

#include "carom/outline.h"
#include "cli/cli_internal.h"

/// What pictures of a motion show.
typedef struct cli_motion_pictures {
    bool windowed;
    double window[2];  ///< of time [s]
    int time_count;
    double *times;             ///< [time_count] of snapshots [s]; NULL: chosen
    char *coordinate_text;     ///< holds the names
    const char **coordinates;  ///< [coordinate_count] that are drawn; NULL: all
    int coordinate_count;
    int view_count;
    carom_view view[CAROM_VIEWS];  ///< asked for
    carom_plot_size size;          ///< on paper
    carom_animation *animation;    ///< begun; NULL: none
    bool cut_short;                ///< it was stopped
} cli_motion_pictures;

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
    carom_table *resume;      ///< a state from which the motion goes on; NULL without one
    carom_table *states;      ///< kept for figures and arrays; NULL otherwise
    carom_ensemble ensemble;  ///< `requested` is 0 without one
    int halvings;             ///< runs of the study of convergence; 0 without one
    carom_table *convergence;
    carom_table *orders;  ///< a row for each scene whose orders were compared; NULL without such a study
    cli_motion_pictures pictures;
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

/// Reads and checks the flags of pictures.
carom_status cli_pictures_parse(cli_motion *motion, carom_error *error);
void cli_pictures_free(cli_motion_pictures *pictures);
/// Draws the motion, and the studies asked for, and adds the pictures' names to `files`.
carom_status cli_pictures_draw(cli_motion *motion, carom_error *error);

/// Draws snapshots of all bodies, at the times that are asked for or at some of these states, and the paths of centres of mass.
carom_status cli_view_snapshots(const cli_motion *motion, const carom_view *view, int64_t first, int64_t count, const char *path,
                                carom_error *error);
/// Fills and finishes an animation of these states; stops when it is to be cancelled.
carom_status cli_view_animate(cli_motion *motion, const carom_view *view, int64_t first, int64_t count, carom_animation *animation,
                              carom_error *error);

/// Refuses `--mujoco` where the motion is not one of a model, or the file cannot be written.
carom_status cli_mujoco_check(const cli_motion *motion, carom_error *error);
/// Writes times, positions and velocities of the recorded states.
carom_status cli_mujoco_write(const cli_motion *motion, carom_error *error);
/// Prints the lines of Python that play them.
void cli_mujoco_print_player(const cli_motion *motion);

/// VTK files of the states of a motion.
typedef struct cli_vtk cli_vtk;

/// @param path  of the final state; states go beside it with numbers before the ending. Without .vtk or .vtp, the directory of motion.vtp
/// @return CAROM_BAD_INPUT for a name with another ending; CAROM_UNSUPPORTED when states lack what is needed
carom_status cli_vtk_create(const char *path, const carom_integrator *integrator, const carom_scene *scene, cli_vtk **vtk,
                            carom_error *error);
void cli_vtk_free(cli_vtk *vtk);
/// Receives states.
carom_sink cli_vtk_sink(cli_vtk *vtk);
/// Writes the final state and the list of the states.
carom_status cli_vtk_finish(cli_vtk *vtk, const carom_table *final, carom_error *error);

#endif
