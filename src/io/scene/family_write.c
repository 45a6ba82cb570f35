// SPDX-License-Identifier: Apache-2.0
// A scene with other positions and parameters, as JSON.
#define _XOPEN_SOURCE 700  // realpath
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/temporary.h"
#include "io/scene/family.h"

// Only JSON is replaced, as this file writes it: a scene in YAML was written by hand.
static const carom_file_kind json_scene = {"a scene as JSON", "{", false, ".json .yaml .yml"};

// A node of the scene as JSON. Numbers stay numbers; whole ones are written without a point.
static json_t *node_json(const carom_node *node) {
    if (node->kind == CAROM_NODE_SCALAR) {
        double value;
        if (!node->quoted && carom_parse_number(node->text, &value))
            return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value) : carom_json_real(value);
        if (!node->quoted && (!strcmp(node->text, "true") || !strcmp(node->text, "false"))) return json_boolean(*node->text == 't');
        return carom_json_text(node->text);
    }
    json_t *value = node->kind == CAROM_NODE_LIST ? json_array() : json_object();
    for (const carom_node *entry = node->first; entry; entry = entry->next) {
        if (node->kind == CAROM_NODE_LIST)
            json_array_append_new(value, node_json(entry));
        else
            json_object_set_new(value, entry->key, node_json(entry));
    }
    return value;
}

// The directory part of a path, with its slash.
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

// The state and parameters of a model. A scene in another folder than the old one names its model by an absolute path.
static carom_status put_model(const carom_family *family, const char *path, json_t *document, carom_error *error) {
    const carom_scene *scene = family->scene;
    json_t *state = json_object_get(document, "state");
    if (!state) {
        state = json_object();
        json_object_set_new(document, "state", state);
    }
    // Whatever gave the state, all of it stands here in numbers.
    json_object_clear(state);
    json_object_set_new(state, "qpos", carom_json_reals(family->position, family->position_size));
    const carom_impact_data *data = carom_impact_get_data(scene->impact);
    json_object_set_new(state, "qvel", carom_json_reals(data->velocity, data->nv));
    if (family->parameter_count) {
        json_t *parameters = json_object();
        for (int i = 0; i < family->parameter_count; i++)
            json_object_set_new(parameters, scene->parameters.names[i], carom_json_real(family->parameters[i]));
        json_object_set_new(document, "parameters", parameters);
    }

    const char *old = carom_scene_path(scene);
    const size_t folder = folder_length(old);
    if (folder == folder_length(path) && !strncmp(old, path, folder)) return CAROM_OK;
    char *joined = carom_scene_join_path(scene, json_string_value(json_object_get(document, "model")));
    char *absolute = joined ? realpath(joined, NULL) : NULL;
    free(joined);
    if (!absolute) return carom_fail_system(error, errno, "%s: the model's place cannot be found", path);
    json_object_set_new(document, "model", carom_json_text(absolute));
    free(absolute);
    return CAROM_OK;
}

static carom_status print_document(FILE *file, const void *document, carom_error *error) {
    return carom_json_write(file, *(json_t *const *)document, error);
}

// The scene as it was read, with the new values in place of its own.
carom_status carom_family_write(carom_family *family, const double *x, const char *path, carom_error *error) {
    carom_family_place(family, x);
    json_t *document = node_json(carom_document_root(family->scene->document));
    carom_status status = CAROM_OK;
    if (family->touching) {
        json_t *balls = json_object_get(document, "balls");
        json_object_set_new(balls, "masses", carom_json_reals(family->parameters, family->parameter_count));
        json_object_set_new(balls, "positions",
                            family->balls.dim == 1 ? carom_json_reals(family->position, family->position_size)
                                                   : carom_json_matrix(family->position, family->balls.count, family->balls.dim));
    } else {
        status = put_model(family, path, document, error);
    }

    if (!status) status = carom_text_write(path, &json_scene, print_document, &document, error);
    json_decref(document);
    return status;
}
