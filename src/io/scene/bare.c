// SPDX-License-Identifier: Apache-2.0
// Bare models: an MJCF or URDF file in place of a scene. It acts as a scene without settings, whose state and contacts are found.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

// An error that names the file, once.
static carom_status pass_on(const carom_scene *scene, const carom_error *inner, carom_error *error) {
    const char *path = carom_scene_path(scene);
    const bool named = !strncmp(inner->message, path, strlen(path));
    return carom_fail(error, inner->status, "%s%s%s", named ? "" : path, named ? "" : ": ", inner->message);
}

carom_status carom_scene_recognise(const char *path, const char *text, bool *bare, carom_error *error) {
    const carom_model_file kind = carom_model_recognise(text);
    *bare = kind == CAROM_MODEL_FILE_MODEL;
    if (kind == CAROM_MODEL_FILE_PART)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: is a part of a model (root element 'mujocoinclude') that other files include", path);
    if (kind == CAROM_MODEL_FILE_XML)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: is XML, but no model: the root element of MJCF is 'mujoco', of URDF 'robot'", path);
    return CAROM_OK;
}

// Warnings of the last load, or freeze.
static carom_status pass_warnings_on(carom_scene *scene, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < carom_model_warnings(scene->model); i++)
        status = carom_scene_warn(scene, NULL, error, "%s", carom_model_warning(scene->model, i));
    return status;
}

// Loads the model again with a floor. A model that has one keeps it, and says so in one more warning: then there is nothing to note.
static carom_status add_floor(carom_scene *scene, int warnings, carom_error *error) {
    const carom_ground floor = {.friction = (double)NAN, .optional = true};
    const carom_model_options options = {.ground = &floor, .free_open_root = true};
    carom_error inner;
    carom_model_free(scene->model);
    const carom_status status = carom_model_load_with(carom_scene_path(scene), &options, &scene->model, &inner);
    if (status) return pass_on(scene, &inner, error);
    if (carom_model_warnings(scene->model) > warnings) return CAROM_OK;
    return carom_scene_note(scene, error, "nothing is below the robot: a floor is added, as by `ground: true` in a scene");
}

// A motion starts where an impact would; a model without one, such as a pendulum, where its file places it, at rest.
static carom_status start_motion(carom_scene *scene, const carom_model_start *start, bool collides, carom_error *error) {
    carom_error inner;
    carom_status status = CAROM_OK;
    carom_impact_free(scene->impact);
    scene->impact = NULL;
    if (!collides) {
        carom_model_free(scene->model);
        scene->model = NULL;
        status = carom_model_load_with(carom_scene_path(scene), &(carom_model_options){.free_open_root = true}, &scene->model, &inner);
        if (status) return pass_on(scene, &inner, error);
    }
    status = carom_scene_note(scene, error, "%s", collides ? start->story : "the state is the model's initial position, at rest");
    return status ? status : carom_scene_create_mechanism(scene, NULL, NULL, error);
}

carom_status carom_scene_read_bare(carom_scene *scene, carom_error *error) {
    carom_error inner;
    carom_model_start start = {.lacks_ground = false};
    const carom_model_options options = {.free_open_root = true};
    carom_status status = carom_model_load_with(carom_scene_path(scene), &options, &scene->model, &inner);
    if (status) return pass_on(scene, &inner, error);
    const int warnings = carom_model_warnings(scene->model);
    status = pass_warnings_on(scene, error);
    if (status) return status;
    status = carom_model_freeze_bare(scene->model, false, &start, &scene->impact, &inner);
    if (!status && start.lacks_ground) {
        status = add_floor(scene, warnings, error);
        if (status) return status;
        status = carom_model_freeze_bare(scene->model, true, &start, &scene->impact, &inner);
    }
    if (carom_scene_is_mechanism(scene) && (!status || status == CAROM_BAD_INPUT))
        status = start_motion(scene, &start, !status, error);
    else if (status)
        return pass_on(scene, &inner, error);
    else
        status = carom_scene_note(scene, error, "%s", start.story);
    return status ? status : pass_warnings_on(scene, error);
}
