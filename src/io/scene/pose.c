// SPDX-License-Identifier: Apache-2.0
// The impact of a scene at other poses of its model.
#include "carom/pose.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

// The model by itself, one caller at a time.
struct carom_scene_pose {
    const carom_scene *scene;
    pthread_mutex_t lock;
    carom_model *model;
    carom_model_contact *contacts;
    int contact_count;
};

carom_status carom_scene_pose_create(carom_scene *scene, carom_scene_pose **pose, carom_error *error) {
    const carom_node *listed = carom_node_find(carom_document_root(scene->document), "contacts");
    *pose = NULL;
    if (!scene->model || !listed || listed->kind != CAROM_NODE_LIST)
        return carom_fail(error, CAROM_BAD_INPUT, "only a scene with 'model' and a list of contacts has a pose that may change");
    carom_scene_pose *made = calloc(1, sizeof *made);
    if (!made || pthread_mutex_init(&made->lock, NULL)) {
        free(made);
        return carom_fail_memory(error, carom_scene_path(scene));
    }
    made->scene = scene;
    carom_status status = carom_scene_list_contacts(scene, listed, &made->contacts, &made->contact_count, error);
    if (!status) status = carom_scene_load_model(scene, NULL, NULL, &made->model, error);
    if (status)
        carom_scene_pose_free(made);
    else
        *pose = made;
    return status;
}

void carom_scene_pose_free(carom_scene_pose *pose) {
    if (!pose) return;
    pthread_mutex_destroy(&pose->lock);
    carom_model_free(pose->model);
    free(pose->contacts);
    free(pose);
}

int carom_scene_pose_size(const carom_scene_pose *pose) { return carom_model_nq(pose->scene->model); }
const double *carom_scene_pose_own(const carom_scene_pose *pose) { return carom_model_qpos(pose->scene->model); }

carom_status carom_scene_pose_freeze(carom_scene_pose *pose, const double *qpos, carom_impact **impact, carom_error *error) {
    *impact = NULL;
    pthread_mutex_lock(&pose->lock);
    carom_status status = carom_model_set_state(pose->model, qpos, carom_model_nq(pose->model), NULL, 0, error);
    if (!status) status = carom_model_freeze(pose->model, pose->contacts, pose->contact_count, impact, error);
    pthread_mutex_unlock(&pose->lock);
    return status;
}
