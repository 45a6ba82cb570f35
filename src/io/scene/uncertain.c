// SPDX-License-Identifier: Apache-2.0
// The key `uncertain` of a scene: which numbers of its impact are not known, and how they are distributed.
#include <math.h>

#include "carom/pose.h"
#include "io/io_internal.h"

enum { VELOCITIES, VERTICES, COORDINATES, LENGTHS };

typedef struct uncertain_fields {
    const carom_node *velocity, *friction, *restitution, *qpos, *mass;
} uncertain_fields;

static const carom_field UNCERTAIN[] = {
    {"velocity", CAROM_FIELD_MAP, .offset = offsetof(uncertain_fields, velocity)},
    {"friction", CAROM_FIELD_MAP, .offset = offsetof(uncertain_fields, friction)},
    {"restitution", CAROM_FIELD_MAP, .offset = offsetof(uncertain_fields, restitution)},
    {"qpos", CAROM_FIELD_MAP, .offset = offsetof(uncertain_fields, qpos)},
    {"mass", CAROM_FIELD_MAP, .offset = offsetof(uncertain_fields, mass)},
};

typedef struct velocity_fields {
    const double *box, *std, *covariance, *vertices;
} velocity_fields;

static const carom_field VELOCITY[] = {
    {"box", CAROM_FIELD_VECTOR, .offset = offsetof(velocity_fields, box), .rows = VELOCITIES, .least = 0, .most = HUGE_VAL},
    {"std", CAROM_FIELD_VECTOR, .offset = offsetof(velocity_fields, std), .rows = VELOCITIES, .least = 0, .most = HUGE_VAL},
    {"covariance", CAROM_FIELD_MATRIX, .offset = offsetof(velocity_fields, covariance), .rows = VELOCITIES, .columns = VELOCITIES},
    {"vertices", CAROM_FIELD_MATRIX, .offset = offsetof(velocity_fields, vertices), .rows = VERTICES, .columns = VELOCITIES},
};

// One of the forms of the velocity.
static carom_status read_velocity(carom_scene *scene, const carom_node *node, carom_length *lengths, carom_uncertainty_data *data,
                                  carom_error *error) {
    velocity_fields fields = {0};
    const carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(VELOCITY), lengths, &fields, error);
    if (status) return status;
    if (node->count != 1)
        return carom_document_refuse(scene->document, node, error, "must have %s of the keys 'box', 'std', 'covariance' and 'vertices'",
                                     node->count ? "only one" : "one");
    data->velocity_spread = fields.box          ? CAROM_VELOCITY_BOX
                            : fields.std        ? CAROM_VELOCITY_DEVIATIONS
                            : fields.covariance ? CAROM_VELOCITY_COVARIANCE
                                                : CAROM_VELOCITY_VERTICES;
    data->velocity = fields.box ? fields.box : fields.std ? fields.std : fields.covariance ? fields.covariance : fields.vertices;
    data->vertices = lengths[VERTICES].value;
    return CAROM_OK;
}

// [least, most], which `field` describes, in order.
static carom_status read_interval(carom_scene *scene, const carom_node *map, const carom_field *field, carom_interval *range,
                                  carom_error *error) {
    const double *ends = NULL;
    carom_status status = carom_fields_take(scene->document, map, field, 1, NULL, &ends, error);
    if (!status && ends[0] > ends[1])
        status = carom_document_refuse(scene->document, carom_node_find(map, field->key), error, "%g, the first number, is above %g",
                                       ends[0], ends[1]);
    if (!status) *range = (carom_interval){ends[0], ends[1]};
    return status;
}

// A map of contacts: an interval, or {std: deviation}.
static carom_status read_spreads(carom_scene *scene, const carom_node *map, double most, const carom_spread **spreads, carom_error *error) {
    carom_status status = CAROM_OK;
    carom_spread *list = carom_document_allocate(scene->document, (size_t)carom_impact_get_data(scene->impact)->contacts * sizeof *list);
    if (!list) return carom_fail_memory(error, carom_scene_path(scene));
    *spreads = list;
    for (const carom_node *entry = map->first; entry && !status; entry = entry->next) {
        char phrase[CAROM_SUGGESTION_SIZE];
        const int contact = carom_impact_find_contact(scene->impact, entry->key);
        if (contact < 0)
            return carom_document_refuse(scene->document, entry, error, "no contact is called so%s",
                                         carom_impact_suggest_contact(scene->impact, entry->key, phrase));
        carom_spread *spread = &list[contact];
        const carom_field deviation = {"std", CAROM_FIELD_NUMBER, .required = true, .least = 0, .most = HUGE_VAL};
        const carom_field interval = {entry->key, CAROM_FIELD_VECTOR, .rows = CAROM_EXACTLY(2), .least = 0, .most = most};
        spread->kind = entry->kind == CAROM_NODE_MAP ? CAROM_SPREAD_NORMAL : CAROM_SPREAD_UNIFORM;
        if (spread->kind == CAROM_SPREAD_NORMAL)
            status = carom_fields_read(scene->document, entry, &deviation, 1, NULL, &spread->deviation, error);
        else if (entry->kind == CAROM_NODE_LIST)
            status = read_interval(scene, map, &interval, &spread->range, error);
        else
            status = carom_document_refuse(scene->document, entry, error, "must be an interval [least, most] or {std: deviation}");
    }
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- pose

static carom_status freeze(void *user, const double *qpos, carom_impact **impact, carom_error *error) {
    return carom_scene_pose_freeze(user, qpos, impact, error);
}

static carom_status read_pose(carom_scene *scene, const carom_node *node, carom_length *lengths, carom_uncertainty_data *data,
                              carom_error *error) {
    carom_error inner;
    if (carom_scene_pose_create(scene, &scene->pose, &inner)) return carom_document_pass_on(scene->document, node, &inner, error);
    lengths[COORDINATES].value = data->nq = carom_scene_pose_size(scene->pose);
    const carom_field box = {"box", CAROM_FIELD_VECTOR, .required = true, .rows = COORDINATES, .least = 0, .most = HUGE_VAL};
    data->qpos = carom_scene_pose_own(scene->pose);
    data->freeze = freeze;
    data->user = scene->pose;
    return carom_fields_read(scene->document, node, &box, 1, lengths, &data->qpos_box, error);
}

// ----------------------------------------------------------------------------------------------------------------- all

carom_status carom_scene_read_uncertain(carom_scene *scene, const carom_node *node, carom_error *error) {
    if (!scene->impact) return carom_document_refuse(scene->document, node, error, "a scene of this form has no impact of its own");
    uncertain_fields fields = {0};
    carom_uncertainty_data data = {0};
    carom_length lengths[LENGTHS] = {
        [VELOCITIES] = {.value = carom_impact_get_data(scene->impact)->nv}, [VERTICES] = {.least = 1, .most = CAROM_MAX_VELOCITIES}};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(UNCERTAIN), NULL, &fields, error);
    if (!status && !node->count)
        status = carom_document_refuse(scene->document, node, error,
                                       "must have some of the keys 'velocity', 'friction', 'restitution', 'qpos' and 'mass'");
    if (!status && fields.velocity) status = read_velocity(scene, fields.velocity, lengths, &data, error);
    if (!status && fields.friction) status = read_spreads(scene, fields.friction, HUGE_VAL, &data.friction, error);
    if (!status && fields.restitution) status = read_spreads(scene, fields.restitution, 1, &data.restitution, error);
    if (!status && fields.qpos) status = read_pose(scene, fields.qpos, lengths, &data, error);
    const carom_field scale = {"scale",         CAROM_FIELD_VECTOR, .required = true, .rows = CAROM_EXACTLY(2), .least = CAROM_POSITIVE,
                               .most = HUGE_VAL};
    if (!status && fields.mass) status = carom_fields_check(scene->document, fields.mass, &(carom_field_table){&scale, 1}, 1, error);
    if (!status && fields.mass) status = read_interval(scene, fields.mass, &scale, &data.mass, error);
    if (status) return status;
    carom_error inner;
    status = carom_uncertainty_create(scene->impact, &data, &scene->uncertainty, &inner);
    // Intervals of the scene's own numbers leave nothing uncertain.
    if (!status && !carom_uncertainty_count(scene->uncertainty)) {
        carom_uncertainty_free(scene->uncertainty);
        scene->uncertainty = NULL;
    }
    if (!status) return CAROM_OK;
    carom_error place;
    carom_error *const placed = error ? error : &place;
    carom_fail(placed, status, "uncertain.%s", inner.message);
    carom_scene_place_key_error(scene, placed);
    return status;
}
