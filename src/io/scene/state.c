// SPDX-License-Identifier: Apache-2.0
// The key `state` of a scene with a model: a keyframe, vectors in MuJoCo's order, joints by their names, the base, and where it stands.
//
// Each part changes what the parts before it have left, in this order: key, qpos and qvel, base, joints and rates, place.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/suggest.h"
#include "io/io_internal.h"

enum { POSITIONS, VELOCITIES };

typedef struct state_fields {
    const char *key, *place;
    const double *position, *velocity;
    const carom_node *joints, *rates, *base;
} state_fields;

static const carom_field STATE[] = {
    {"key", CAROM_FIELD_TEXT, .offset = offsetof(state_fields, key)},
    {"qpos", CAROM_FIELD_VECTOR, .offset = offsetof(state_fields, position), .rows = POSITIONS},
    {"qvel", CAROM_FIELD_VECTOR, .offset = offsetof(state_fields, velocity), .rows = VELOCITIES},
    {"base", CAROM_FIELD_MAP, .offset = offsetof(state_fields, base)},
    {"joints", CAROM_FIELD_MAP, .offset = offsetof(state_fields, joints)},
    {"rates", CAROM_FIELD_MAP, .offset = offsetof(state_fields, rates)},
    {"place", CAROM_FIELD_TEXT, .offset = offsetof(state_fields, place)},
};

// The first free joint: place and linear velocity of its body's origin in world axes, angular velocity in the body's.
typedef struct base_fields {
    const double *position, *quaternion, *velocity, *angular_velocity;
} base_fields;

static const carom_field BASE[] = {
    {"position", CAROM_FIELD_VECTOR, .offset = offsetof(base_fields, position), .rows = CAROM_EXACTLY(3)},
    {"quaternion", CAROM_FIELD_VECTOR, .offset = offsetof(base_fields, quaternion), .rows = CAROM_EXACTLY(4)},
    {"velocity", CAROM_FIELD_VECTOR, .offset = offsetof(base_fields, velocity), .rows = CAROM_EXACTLY(3)},
    {"angular_velocity", CAROM_FIELD_VECTOR, .offset = offsetof(base_fields, angular_velocity), .rows = CAROM_EXACTLY(3)},
};

enum { FREE_POSITIONS = 7, NAMES_SIZE = CAROM_MESSAGE_SIZE / 2 };

// What a joint's entry holds: one number, or as many as the joint has.
typedef union joint_value {
    double number;
    const double *vector;
} joint_value;

// ---------------------------------------------------------------------------------------------------------------- base

static void put(double *values, const double *given, int count) {
    if (given) memcpy(values, given, (size_t)count * sizeof *values);
}

// A rotation of length zero is no rotation; others need not have unit length.
static carom_status check_quaternion(const carom_scene *scene, const carom_node *node, const double *q, carom_error *error) {
    const double length = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
    if (length > 0 && isfinite(length * length) && length * length > 0) return CAROM_OK;
    return carom_document_refuse(scene->document, node, error, "a quaternion [w, x, y, z] needs a finite length greater than zero");
}

static carom_status read_base(carom_scene *scene, const carom_node *node, const carom_model *model, double *qpos, double *qvel,
                              carom_error *error) {
    base_fields fields = {0};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(BASE), NULL, &fields, error);
    if (!status && fields.quaternion) status = check_quaternion(scene, carom_node_find(node, "quaternion"), fields.quaternion, error);
    if (status) return status;
    for (int i = 0; i < carom_model_joints(model); i++) {
        const carom_model_joint joint = carom_model_get_joint(model, i);
        if (joint.positions != FREE_POSITIONS) continue;
        put(qpos + joint.position, fields.position, 3);
        put(qpos + joint.position + 3, fields.quaternion, 4);
        put(qvel + joint.velocity, fields.velocity, 3);
        put(qvel + joint.velocity + 3, fields.angular_velocity, 3);
        return CAROM_OK;
    }
    return carom_document_refuse(
        scene->document, node, error,
        "the model has no free joint: its joints stand under 'joints' and 'rates', and 'root: free' beside 'model' "
        "lets a robot move that is welded to the world");
}

// -------------------------------------------------------------------------------------------------------------- joints

// No joint has the name of this entry: which one was meant, or which there are.
static carom_status refuse_joint(const carom_scene *scene, const carom_node *entry, const carom_model *model, carom_error *error) {
    char names[NAMES_SIZE] = "", phrase[CAROM_SUGGESTION_SIZE];
    size_t used = 0;
    carom_suggestion suggestion = {.wanted = entry->key};
    for (int i = 0; i < carom_model_joints(model); i++) {
        const char *name = carom_model_get_joint(model, i).name;
        if (!name) continue;
        carom_suggestion_offer(&suggestion, name);
        if (used < sizeof names) used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", *names ? ", " : "", name);
    }
    carom_suggestion_phrase(&suggestion, phrase);
    return carom_document_refuse(scene->document, entry, error, "the model has no joint called '%s'%s%s%s", entry->key,
                                 *phrase  ? phrase
                                 : *names ? "; its joints are "
                                          : ", and none that has a name",
                                 *phrase ? "" : names, !*phrase && used >= sizeof names ? "..." : "");
}

// `joints` into qpos, or `rates` into qvel. A table with a row for every joint reads the map.
static carom_status read_joints(carom_scene *scene, const carom_node *node, const carom_model *model, bool rates, double *values,
                                carom_error *error) {
    const int count = carom_model_joints(model);
    carom_field *fields = calloc((size_t)count + 1, sizeof *fields);
    joint_value *given = calloc((size_t)count + 1, sizeof *given);
    carom_status status = fields && given ? CAROM_OK : carom_fail_memory(error, carom_scene_path(scene));
    int rows = 0;
    for (int i = 0; !status && i < count; i++) {
        const carom_model_joint joint = carom_model_get_joint(model, i);
        const int size = rates ? joint.velocities : joint.positions;
        if (joint.name && carom_node_find(node, joint.name))
            fields[rows++] = (carom_field){joint.name, size == 1 ? CAROM_FIELD_NUMBER : CAROM_FIELD_VECTOR,
                                           .offset = (size_t)i * sizeof *given, .rows = CAROM_EXACTLY(size)};
    }
    for (const carom_node *entry = node->first; !status && entry; entry = entry->next) {
        bool known = false;
        for (int i = 0; i < rows && !known; i++) known = !strcmp(fields[i].key, entry->key);
        if (!known) status = refuse_joint(scene, entry, model, error);
    }
    if (!status) status = carom_fields_read(scene->document, node, fields, rows, NULL, given, error);
    for (int i = 0; !status && i < count; i++) {
        const carom_model_joint joint = carom_model_get_joint(model, i);
        const int size = rates ? joint.velocities : joint.positions;
        const carom_node *entry = joint.name ? carom_node_find(node, joint.name) : NULL;
        if (!entry) continue;
        put(values + (rates ? joint.velocity : joint.position), size == 1 ? &given[i].number : given[i].vector, size);
        // The quaternion is the end of the coordinates.
        if (!rates && size > 1) status = check_quaternion(scene, entry, given[i].vector + size - 4, error);
    }
    free(fields);
    free(given);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- state

// What base, joints and rates say, on top of the model's state.
static carom_status read_names(carom_scene *scene, const carom_node *node, const state_fields *fields, carom_model *model,
                               carom_error *error) {
    const int nq = carom_model_nq(model), nv = carom_model_nv(model);
    double *qpos = malloc((size_t)nq * sizeof *qpos), *qvel = malloc((size_t)nv * sizeof *qvel);
    carom_status status = qpos && qvel ? CAROM_OK : carom_fail_memory(error, carom_scene_path(scene));
    if (!status) {
        memcpy(qpos, carom_model_qpos(model), (size_t)nq * sizeof *qpos);
        memcpy(qvel, carom_model_qvel(model), (size_t)nv * sizeof *qvel);
    }
    if (!status && fields->base) status = read_base(scene, fields->base, model, qpos, qvel, error);
    if (!status && fields->joints) status = read_joints(scene, fields->joints, model, false, qpos, error);
    if (!status && fields->rates) status = read_joints(scene, fields->rates, model, true, qvel, error);
    carom_error inner;
    if (!status && (status = carom_model_set_state(model, qpos, nq, qvel, nv, &inner)))
        carom_document_pass_on(scene->document, node, &inner, error);
    free(qpos);
    free(qvel);
    return status;
}

// What is left out stays as the model starts: its initial position, at rest.
carom_status carom_scene_read_state(carom_scene *scene, const carom_node *node, carom_model *model, carom_error *error) {
    state_fields fields = {0};
    // A free joint has 7 positions for 6 velocities, a ball joint 4 for 3.
    carom_length lengths[] = {
        [POSITIONS] = {.least = 1, .most = 2 * CAROM_MAX_VELOCITIES}, [VELOCITIES] = {.least = 1, .most = CAROM_MAX_VELOCITIES}};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(STATE), lengths, &fields, error);
    if (status) return status;
    if (fields.key && fields.position)
        return carom_document_refuse(scene->document, node, error,
                                     "'key' and 'qpos' both give the position; 'qvel', 'base', 'joints', 'rates' and 'place' may stand "
                                     "beside 'key'");

    carom_error inner;
    const carom_node *at = node;
    if (fields.key) status = carom_model_set_keyframe(model, fields.key, &inner);
    if (!status)
        status =
            carom_model_set_state(model, fields.position, lengths[POSITIONS].value, fields.velocity, lengths[VELOCITIES].value, &inner);
    if (!status && (fields.base || fields.joints || fields.rates)) {
        status = read_names(scene, node, &fields, model, error);
        if (status) return status;
    }
    if (!status && fields.place) {
        at = carom_node_find(node, "place");
        status = carom_model_lower(model, strcmp(fields.place, "ground") ? fields.place : NULL, NULL, &inner);
    }
    return status ? carom_document_pass_on(scene->document, at, &inner, error) : CAROM_OK;
}
