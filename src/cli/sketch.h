// SPDX-License-Identifier: Apache-2.0
/// @file
/// From a scene, and outcomes of laws, to a picture of its mechanism.
#ifndef CAROM_CLI_SKETCH_H
#define CAROM_CLI_SKETCH_H

#include "cli/cli_internal.h"

/// A picture under way. All zero is an empty one, to be freed in every case.
typedef struct cli_sketch {
    carom_arena arena;
    const carom_scene *scene;
    carom_stage stage;
    const double *after[CAROM_STAGE_OUTCOMES];  ///< [nv] velocities of the outcomes
    const char *law[CAROM_STAGE_OUTCOMES];
    int64_t number[CAROM_STAGE_OUTCOMES], of[CAROM_STAGE_OUTCOMES];  ///< counted from 1
} cli_sketch;

/// The scene at its impact, or a motion at its start, in the views that show it: a planar scene in its plane, any other from the side and
/// in space. Ground that the scene does not have as a solid is added where contacts touch the world.
/// @param scene  borrowed
/// @return CAROM_UNSUPPORTED for a scene of matrices
carom_status cli_sketch_start(cli_sketch *sketch, const carom_scene *scene, carom_error *error);
/// Adds an outcome of a law.
/// @param outcomes  with the columns that all laws have
/// @param row       from 0
carom_status cli_sketch_add(cli_sketch *sketch, const carom_law *law, const carom_table *outcomes, int64_t row, carom_error *error);
/// Finds how soon after the impact the outcomes' poses are shown, so that motion is seen, and takes these poses.
carom_status cli_sketch_finish(cli_sketch *sketch, carom_error *error);
/// The views of a list with commas.
/// @return CAROM_BAD_INPUT for a name that no view has
carom_status cli_sketch_views(cli_sketch *sketch, const char *names, carom_error *error);
/// What is drawn, to be freed.
/// @return NULL where a drawing fails, with the error
json_t *cli_sketch_json(cli_sketch *sketch, carom_error *error);
void cli_sketch_free(cli_sketch *sketch);

#endif
