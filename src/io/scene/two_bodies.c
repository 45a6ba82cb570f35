// SPDX-License-Identifier: Apache-2.0
// The form `two_bodies`: two rigid bodies that touch at one point, in world axes: mass, inertia, arm of the contact, velocities. A fixed
// body has no velocities of its own.
#include <math.h>
#include <string.h>

#include "carom/vector3.h"
#include "io/io_internal.h"

// Given directions may miss unit length and orthogonality by this, the precision of coordinates written by hand.
#define ORTHOGONALITY_TOLERANCE 1e-6

// One body: mass [kg], inertia about the centre of mass [kg m^2], arm from there to the contact [m], velocities [m/s, rad/s].
typedef struct body_fields {
    const char *fixed;
    carom_touching_body body;
} body_fields;

static const carom_field BODY[] = {
    {"fixed", CAROM_FIELD_TEXT, .offset = offsetof(body_fields, fixed)},
    {"mass", CAROM_FIELD_NUMBER, .offset = offsetof(body_fields, body.mass)},
    {"inertia_world", CAROM_FIELD_MATRIX, .offset = offsetof(body_fields, body.inertia), .rows = CAROM_EXACTLY(3),
     .columns = CAROM_EXACTLY(3)},
    {"contact_arm", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, body.arm), .rows = CAROM_EXACTLY(3)},
    {"velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, body.velocity), .rows = CAROM_EXACTLY(3)},
    {"angular_velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, body.angular_velocity), .rows = CAROM_EXACTLY(3)},
};

enum { TANGENTS };

// The keys of the top level.
typedef struct pair_fields {
    const carom_node *bodies;
    const double *normal, *tangents;
    double friction, restitution;
} pair_fields;

static const carom_field KEYS[] = {
    {"two_bodies", CAROM_FIELD_LIST, .offset = offsetof(pair_fields, bodies), .rows = CAROM_EXACTLY(2)},
    {"normal", CAROM_FIELD_VECTOR, .offset = offsetof(pair_fields, normal), .rows = CAROM_EXACTLY(3)},
    {"tangents", CAROM_FIELD_MATRIX, .offset = offsetof(pair_fields, tangents), .rows = TANGENTS, .columns = CAROM_EXACTLY(3)},
    {"friction", CAROM_FIELD_NUMBER, .offset = offsetof(pair_fields, friction), .least = 0, .most = HUGE_VAL},
    {"restitution", CAROM_FIELD_NUMBER, .offset = offsetof(pair_fields, restitution), .least = 0, .most = 1},
};

// Brings a direction to unit length; false where it has none.
static bool normalise(const double vector[3], double unit[3]) {
    const double length = hypot(hypot(vector[0], vector[1]), vector[2]);
    for (int i = 0; i < 3; i++) unit[i] = vector[i] / length;
    return length > 0 && isfinite(length);
}

// Unit directions: the normal, then the tangents that are given, or both of the default rule.
static carom_status read_directions(const carom_scene *scene, const pair_fields *pair, int tangents, double directions[3][3],
                                    carom_error *error) {
    const carom_node *root = carom_document_root(scene->document);
    if (!pair->normal) return carom_document_refuse(scene->document, root, error, "the key 'normal' is missing beside 'two_bodies'");
    if (!normalise(pair->normal, directions[0]))
        return carom_document_refuse(scene->document, carom_node_find(root, "normal"), error, "needs a finite length greater than zero");
    if (!pair->tangents) carom_impact_default_tangents(directions[0], &directions[1]);
    for (int i = 0; i < tangents; i++) {
        bool usable = normalise(pair->tangents + 3 * i, directions[1 + i]);
        for (int k = 0; k <= i && usable; k++) usable = fabs(carom_dot3(directions[1 + i], directions[k])) <= ORTHOGONALITY_TOLERANCE;
        if (!usable)
            return carom_document_refuse(scene->document, carom_node_find(root, "tangents"), error,
                                         "tangent %d needs a length, and must be orthogonal to the normal and the other tangent", i + 1);
    }
    return CAROM_OK;
}

// A free body needs mass, inertia and arm; one that is fixed has no other keys.
static carom_status read_body(carom_scene *scene, const carom_node *node, carom_touching_body *body, carom_error *error) {
    body_fields fields = {.body.mass = NAN};
    const carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(BODY), NULL, &fields, error);
    if (status) return status;
    *body = fields.body;
    body->fixed = fields.fixed;
    if (!body->fixed) {
        const char *missing = isnan(body->mass) ? "mass" : !body->inertia ? "inertia_world" : !body->arm ? "contact_arm" : NULL;
        return missing ? carom_document_refuse(scene->document, node, error, "the key '%s' is missing", missing) : CAROM_OK;
    }
    if (strcmp(fields.fixed, "true") != 0 || node->count > 1)
        return carom_document_refuse(scene->document, node, error, "a fixed body is {fixed: true}, without other keys");
    return CAROM_OK;
}

// Reads both bodies and the contact between them, and freezes the impact.
static carom_status read_two_bodies(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    (void)digest;
    pair_fields pair = {0};
    carom_two_bodies_data data = {0};
    carom_length lengths[] = {[TANGENTS] = {.least = 1, .most = 2}};
    carom_status status = carom_fields_take(scene->document, root, CAROM_FIELD_ROWS(KEYS), lengths, &pair, error);
    if (!status) status = read_directions(scene, &pair, lengths[TANGENTS].value, data.directions, error);
    for (const carom_node *node = status ? NULL : pair.bodies->first; !status && node; node = node->next)
        status = read_body(scene, node, &data.body[node->index], error);
    if (status) return status;
    data.tangent_dim = pair.tangents ? lengths[TANGENTS].value : 2;
    data.friction = pair.friction;
    data.restitution = pair.restitution;
    scene->pair = data;
    carom_error inner;
    status = carom_two_bodies_create_impact(&data, &scene->impact, &inner);
    return status ? carom_document_pass_on(scene->document, pair.bodies, &inner, error) : CAROM_OK;
}

const carom_scene_form carom_scene_form_two_bodies = {"two_bodies", CAROM_FIELD_TABLE(KEYS), .read = read_two_bodies};
