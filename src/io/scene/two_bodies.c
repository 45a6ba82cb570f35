// SPDX-License-Identifier: Apache-2.0
// The form `two_bodies`: two rigid bodies that touch at one point, in world axes: mass, inertia, arm of the contact, velocities. A fixed
// body has no velocities of its own.
#include <math.h>
#include <string.h>

#include "io/io_internal.h"

enum { BODY_VELOCITIES = 6, MOST_VELOCITIES = 2 * BODY_VELOCITIES };

// Given directions may miss unit length and orthogonality by this, the precision of coordinates written by hand.
#define ORTHOGONALITY_TOLERANCE 1e-6

// Mass [kg], inertia about the centre of mass [kg m^2], arm from there to the contact [m], velocities [m/s, rad/s]; all along world axes.
typedef struct body_fields {
    const char *fixed;
    double mass;
    const double *inertia, *arm, *velocity, *angular_velocity;
} body_fields;

static const carom_field BODY[] = {
    {"fixed", CAROM_FIELD_TEXT, .offset = offsetof(body_fields, fixed)},
    {"mass", CAROM_FIELD_NUMBER, .offset = offsetof(body_fields, mass)},
    {"inertia_world", CAROM_FIELD_MATRIX, .offset = offsetof(body_fields, inertia), .rows = CAROM_EXACTLY(3), .columns = CAROM_EXACTLY(3)},
    {"contact_arm", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, arm), .rows = CAROM_EXACTLY(3)},
    {"velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, velocity), .rows = CAROM_EXACTLY(3)},
    {"angular_velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, angular_velocity), .rows = CAROM_EXACTLY(3)},
};

enum { TANGENTS };

// The keys of the top level.
typedef struct pair_fields {
    const carom_node *bodies;
    const double *normal, *tangents;
    int tangent_count;
    double friction, restitution;
} pair_fields;

static const carom_field KEYS[] = {
    {"two_bodies", CAROM_FIELD_LIST, .offset = offsetof(pair_fields, bodies), .rows = CAROM_EXACTLY(2)},
    {"normal", CAROM_FIELD_VECTOR, .offset = offsetof(pair_fields, normal), .rows = CAROM_EXACTLY(3)},
    {"tangents", CAROM_FIELD_MATRIX, .offset = offsetof(pair_fields, tangents), .rows = TANGENTS, .columns = CAROM_EXACTLY(3)},
    {"friction", CAROM_FIELD_NUMBER, .offset = offsetof(pair_fields, friction), .least = 0, .most = HUGE_VAL},
    {"restitution", CAROM_FIELD_NUMBER, .offset = offsetof(pair_fields, restitution), .least = 0, .most = 1},
};

// A contact between bodies, as matrices. Velocities are those of the bodies that are not fixed: of the mass centre, then angular.
typedef struct pair_matrices {
    int nv;
    double mass[MOST_VELOCITIES * MOST_VELOCITIES];
    double rows[3][MOST_VELOCITIES];  // normal, tangents
    double velocity[MOST_VELOCITIES];
} pair_matrices;

// ---------------------------------------------------------------------------------------------------------- directions

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double c[3]) {
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

// Brings a direction to unit length; false where it has none.
static bool normalise(const double vector[3], double unit[3]) {
    const double length = hypot(hypot(vector[0], vector[1]), vector[2]);
    for (int i = 0; i < 3; i++) unit[i] = vector[i] / length;
    return length > 0 && isfinite(length);
}

// Unit directions: the normal, then the tangents that are given, or both of the default rule.
static carom_status read_directions(const carom_scene *scene, const pair_fields *pair, double directions[3][3], carom_error *error) {
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

static carom_status read_body(carom_scene *scene, const carom_node *node, body_fields *fields, carom_error *error) {
    *fields = (body_fields){.mass = NAN};
    const carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(BODY), NULL, fields, error);
    if (status) return status;
    if (!fields->fixed) {
        const char *missing = isnan(fields->mass) ? "mass" : !fields->inertia ? "inertia_world" : !fields->arm ? "contact_arm" : NULL;
        return missing ? carom_document_refuse(scene->document, node, error, "the key '%s' is missing", missing) : CAROM_OK;
    }
    if (strcmp(fields->fixed, "true") != 0 || node->count > 1)
        return carom_document_refuse(scene->document, node, error, "a fixed body is {fixed: true}, without other keys");
    return CAROM_OK;
}

// Adds a free body: the velocity of its contact point along a direction c is c.(v + omega x arm) = c.v + (arm x c).omega.
static void add_body(pair_matrices *m, const body_fields *body, double side, double directions[3][3]) {
    const int first = m->nv;
    m->nv += BODY_VELOCITIES;
    for (int i = 0; i < 3; i++) {
        m->mass[(first + i) * MOST_VELOCITIES + first + i] = body->mass;
        for (int k = 0; k < 3; k++) m->mass[(first + 3 + i) * MOST_VELOCITIES + first + 3 + k] = body->inertia[3 * i + k];
        if (body->velocity) m->velocity[first + i] = body->velocity[i];
        if (body->angular_velocity) m->velocity[first + 3 + i] = body->angular_velocity[i];
    }
    for (int row = 0; row < 3; row++) {
        double moment[3];
        cross(body->arm, directions[row], moment);
        for (int i = 0; i < 3; i++) {
            m->rows[row][first + i] = side * directions[row][i];
            m->rows[row][first + 3 + i] = side * moment[i];
        }
    }
}

// M and J without the room for a second body where there is none.
static void pack(const double *wide, int rows, int columns, double *narrow) {
    for (int i = 0; i < rows; i++) memmove(narrow + i * columns, wide + i * MOST_VELOCITIES, (size_t)columns * sizeof *narrow);
}

static carom_status create_impact(carom_scene *scene, const pair_fields *pair, pair_matrices *m, carom_error *error) {
    pack(m->mass, m->nv, m->nv, m->mass);
    pack(m->rows[0], 3, m->nv, m->rows[0]);
    const carom_impact_data data = {.nv = m->nv,
                                    .contacts = 1,
                                    .tangent_dim = pair->tangents ? pair->tangent_count : 2,
                                    .mass = m->mass,
                                    .normal = m->rows[0],
                                    .tangent = m->rows[0] + m->nv,
                                    .friction = &pair->friction,
                                    .restitution = &pair->restitution,
                                    .velocity = m->velocity};
    carom_error inner;
    const carom_status status = carom_impact_create(&data, &scene->impact, &inner);
    return status ? carom_document_pass_on(scene->document, pair->bodies, &inner, error) : CAROM_OK;
}

// The contact velocity is that of the second body minus that of the first, the normal points from the first to the second.
static carom_status read_two_bodies(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    (void)digest;
    pair_fields pair = {0};
    carom_length lengths[] = {[TANGENTS] = {.least = 1, .most = 2}};
    double directions[3][3] = {{0}};
    pair_matrices matrices = {0};
    carom_status status = carom_fields_take(scene->document, root, CAROM_FIELD_ROWS(KEYS), lengths, &pair, error);
    pair.tangent_count = lengths[TANGENTS].value;
    if (!status) status = read_directions(scene, &pair, directions, error);
    for (const carom_node *node = status ? NULL : pair.bodies->first; !status && node; node = node->next) {
        body_fields body;
        status = read_body(scene, node, &body, error);
        if (!status && !body.fixed) add_body(&matrices, &body, node->index ? 1 : -1, directions);
    }
    if (!status && !matrices.nv) return carom_document_refuse(scene->document, pair.bodies, error, "one of the two bodies must be free");
    return status ? status : create_impact(scene, &pair, &matrices, error);
}

const carom_scene_form carom_scene_form_two_bodies = {"two_bodies", CAROM_FIELD_TABLE(KEYS), .read = read_two_bodies};
