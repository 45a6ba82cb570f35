// SPDX-License-Identifier: Apache-2.0
// Scenes of two free rigid bodies that touch at one point, in world axes: mass, inertia, arm of the contact, velocities. A fixed body has
// no velocities of its own.
#include "io/io_internal.h"

#include <math.h>
#include <string.h>

enum { AXES, LENGTHS };

// Given directions may miss unit length and orthogonality by this, the precision of coordinates written by hand.
#define ORTHOGONALITY_TOLERANCE 1e-6

typedef struct body_fields {
    const char *fixed;
    carom_touching_body body;
} body_fields;

static const carom_field BODY[] = {
    {"fixed", CAROM_FIELD_TEXT, .offset = offsetof(body_fields, fixed)},
    {"mass", CAROM_FIELD_NUMBER, .offset = offsetof(body_fields, body.mass)},
    {"inertia_world", CAROM_FIELD_MATRIX, .offset = offsetof(body_fields, body.inertia), .rows = AXES, .columns = AXES},
    {"contact_arm", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, body.arm), .rows = AXES},
    {"velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, body.velocity), .rows = AXES},
    {"angular_velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, body.angular_velocity), .rows = AXES},
};

// ---------------------------------------------------------------------------------------------------------- directions

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Brings a direction to unit length; false where it has none.
static bool normalise(const double vector[3], double unit[3]) {
    const double length = hypot(hypot(vector[0], vector[1]), vector[2]);
    for (int i = 0; i < 3; i++) unit[i] = vector[i] / length;
    return length > 0 && isfinite(length);
}

// Unit directions: the normal, then the tangents that are given, or both of the default rule.
static carom_status read_directions(const carom_scene *scene, const carom_scene_pair *pair, double directions[3][3], carom_error *error) {
    const carom_node *root = carom_document_root(scene->document);
    if (!pair->normal) return carom_document_refuse(scene->document, root, error, "the key 'normal' is missing beside 'two_bodies'");
    if (!normalise(pair->normal, directions[0]))
        return carom_document_refuse(scene->document, carom_node_find(root, "normal"), error, "needs a finite length greater than zero");
    if (!pair->tangents) carom_impact_default_tangents(directions[0], &directions[1]);
    for (int i = 0; i < pair->tangent_count; i++) {
        bool usable = normalise(pair->tangents + 3 * i, directions[1 + i]);
        for (int k = 0; k <= i && usable; k++) usable = fabs(dot(directions[1 + i], directions[k])) <= ORTHOGONALITY_TOLERANCE;
        if (!usable)
            return carom_document_refuse(scene->document, carom_node_find(root, "tangents"), error,
                                         "tangent %d needs a length, and must be orthogonal to the normal and the other tangent", i + 1);
    }
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------------- bodies

static carom_status refuse_missing(const carom_scene *scene, const carom_node *node, const carom_touching_body *body, carom_error *error) {
    const char *missing = isnan(body->mass) ? "mass" : !body->inertia ? "inertia_world" : !body->arm ? "contact_arm" : NULL;
    return missing ? carom_document_refuse(scene->document, node, error, "the key '%s' is missing", missing) : CAROM_OK;
}

static carom_status read_body(carom_scene *scene, const carom_node *node, carom_touching_body *body, carom_error *error) {
    body_fields fields = {.body.mass = NAN};
    carom_length lengths[LENGTHS] = {[AXES] = {.least = 3, .most = 3, .value = 3}};
    const carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(BODY), lengths, &fields, error);
    if (status) return status;
    *body = fields.body;
    body->fixed = fields.fixed;
    if (!body->fixed) return refuse_missing(scene, node, body, error);
    if (strcmp(fields.fixed, "true") != 0 || node->count > 1)
        return carom_document_refuse(scene->document, node, error, "a fixed body is {fixed: true}, without other keys");
    return CAROM_OK;
}

carom_status carom_scene_read_two_bodies(carom_scene *scene, const carom_scene_pair *pair, carom_error *error) {
    carom_two_bodies_data data = {
        .tangent_dim = pair->tangents ? pair->tangent_count : 2, .friction = pair->friction, .restitution = pair->restitution};
    carom_status status = read_directions(scene, pair, data.directions, error);
    for (const carom_node *node = pair->bodies->first; !status && node; node = node->next)
        status = read_body(scene, node, &data.body[node->index], error);
    if (status) return status;
    carom_error inner;
    status = carom_two_bodies_create_impact(&data, &scene->impact, &inner);
    return status ? carom_document_pass_on(scene->document, pair->bodies, &inner, error) : CAROM_OK;
}
