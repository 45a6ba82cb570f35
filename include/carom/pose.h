// SPDX-License-Identifier: Apache-2.0
/// @file
/// The impact of a scene at other poses of its model. In libcarom-io.
#ifndef CAROM_POSE_H
#define CAROM_POSE_H

#include "carom/scene.h"

CAROM_API_BEGIN

/// The model of a scene by itself, which may be moved, and the contacts that the scene lists.
typedef struct carom_scene_pose carom_scene_pose;

/// @param scene  of the form `model` with a list of contacts; borrowed as long as the pose lives
/// @return CAROM_BAD_INPUT for another scene
carom_status carom_scene_pose_create(carom_scene *scene, carom_scene_pose **pose, carom_error *error);
void carom_scene_pose_free(carom_scene_pose *pose);

/// Coordinates of the pose, and the scene's own [nq], in MuJoCo's order.
int carom_scene_pose_size(const carom_scene_pose *pose);
const double *carom_scene_pose_own(const carom_scene_pose *pose);

/// The impact at another pose: the contacts that the scene lists count as touching, wherever they are. May be called by several threads,
/// which wait for each other.
/// @param qpos  [nq]; quaternions are normalised
/// @return CAROM_BAD_INPUT for a pose that the model cannot have, and where there are other contacts, as at the stop of a joint
carom_status carom_scene_pose_freeze(carom_scene_pose *pose, const double *qpos, carom_impact **impact, carom_error *error);

CAROM_API_END

#endif
