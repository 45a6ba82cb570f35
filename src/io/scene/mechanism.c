// SPDX-License-Identifier: Apache-2.0
// Scenes with `model` whose contacts are found as they move: the mechanism, and `control`, what its actuators get.
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

enum { ROWS, MOST_ROWS = 1000000 };

// `control`: the name of a keyframe, a list of numbers, or rows of a time and numbers. Arrays are the document's or the model's but for
// `*split`, to be freed: the times of rows, then their numbers.
static carom_status read_control(carom_scene *scene, const carom_node *node, carom_model_control *control, double **split,
                                 carom_error *error) {
    static const double start = 0;
    const int controls = carom_model_controls(scene->model);
    if (!controls) return carom_document_refuse(scene->document, node, error, "the model has no actuators");
    *control = (carom_model_control){.rows = 1, .times = &start};
    if (node->kind == CAROM_NODE_SCALAR) {
        carom_error inner;
        carom_status status = carom_text_check(scene->document, node, error);
        if (status) return status;
        status = carom_model_key_controls(scene->model, node->text, &control->values, &inner);
        return status ? carom_document_pass_on(scene->document, node, &inner, error) : CAROM_OK;
    }
    if (node->kind != CAROM_NODE_LIST || !node->count)
        return carom_document_refuse(
            scene->document, node, error,
            "must be the name of a keyframe, a list of the %d controls, or a list of rows of a time and the controls", controls);
    const bool table = node->first->kind == CAROM_NODE_LIST;
    const carom_field field = {"control", table ? CAROM_FIELD_MATRIX : CAROM_FIELD_VECTOR, .rows = table ? ROWS : CAROM_EXACTLY(controls),
                               .columns = CAROM_EXACTLY(controls + 1)};
    carom_length lengths[] = {[ROWS] = {.least = 1, .most = MOST_ROWS}};
    const double *numbers;
    const carom_status status =
        carom_fields_take(scene->document, carom_document_root(scene->document), &field, 1, lengths, &numbers, error);
    if (status) return status;
    control->values = numbers;
    if (!table) return CAROM_OK;
    const size_t rows = (size_t)lengths[ROWS].value, columns = (size_t)controls;
    double *times = *split = malloc(rows * (columns + 1) * sizeof *times);
    if (!times) return carom_fail_memory(error, carom_scene_path(scene));
    for (size_t i = 0; i < rows; i++) {
        times[i] = numbers[i * (columns + 1)];
        memcpy(times + rows + i * columns, numbers + i * (columns + 1) + 1, columns * sizeof *times);
    }
    *control = (carom_model_control){.rows = (int)rows, .times = times, .values = times + rows};
    return CAROM_OK;
}

carom_status carom_scene_create_mechanism(carom_scene *scene, const carom_node *contacts, const carom_node *control, carom_error *error) {
    carom_model_motion motion = {0};
    carom_model_contact *listed = NULL;
    double *split = NULL;
    carom_status status = CAROM_OK;
    if (contacts && contacts->kind == CAROM_NODE_MAP) {
        status = carom_scene_read_detection(scene, contacts, &scene->detection, error);
        motion.detection = &scene->detection;
    } else if (contacts) {
        int touching;
        status = carom_scene_list_contacts(scene, contacts, &listed, &touching, error);
        motion.contacts = listed;
        motion.contact_count = contacts->count;
    }
    if (!status && control) status = read_control(scene, control, &motion.control, &split, error);
    carom_error inner;
    const carom_status created = status ? CAROM_OK : carom_model_create_mechanism(scene->model, &motion, &scene->mechanism, &inner);
    if (created) {
        // What is wrong with a control begins with its key; what a motion does not cover is the model's, or that of a listed contact.
        static const char key[] = "control: ";
        const bool of_control = control && !strncmp(inner.message, key, strlen(key));
        if (of_control) memmove(inner.message, inner.message + strlen(key), strlen(inner.message) - strlen(key) + 1);
        const carom_node *model = carom_node_find(carom_document_root(scene->document), "model");
        const carom_node *place = of_control ? control : created == CAROM_UNSUPPORTED && !listed ? model : contacts;
        status = place ? carom_document_pass_on(scene->document, place, &inner, error) : carom_fail(error, created, "%s", inner.message);
    }
    free(listed);
    free(split);
    scene->motion.form = CAROM_MOTION_MECHANISM;
    scene->motion.mechanism = scene->mechanism;
    return status;
}
