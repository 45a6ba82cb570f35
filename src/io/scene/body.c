// SPDX-License-Identifier: Apache-2.0
// The form `body`: one body above one plane, with `gravity`, `plane` and `initial`.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "io/io_internal.h"

// Of a scene that does not say [m/s^2].
#define STANDARD_GRAVITY 9.80665

// Differences from uniform density that are worth a warning: of the inertia relative to its largest entry, of the center of mass relative
// to the body's radius. Printed tables of papers are rounded to less.
#define UNIFORM_TOLERANCE 1e-2
// Defect of an attitude that is more than the rounding of printed digits would explain; up to the integrator's limit it is projected.
#define ATTITUDE_NOTE 1e-12

// Ellipsoids up to which a given inertia is compared with that of uniform density: more take longer than a warning is worth.
enum { MOST_COMPARED = 4 };

// --------------------------------------------------------------------------------------------------------------- shape

enum { ELLIPSOIDS, VERTICES, LENGTHS };

// A shape is one of ellipsoids, the hull of vertices, or a box with sides [m]; rounded by a distance [m].
typedef struct shape_fields {
    const carom_node *ellipsoids;
    const char *combine;
    const double *vertices, *box;
    double rounding;
} shape_fields;

static const carom_field SHAPE[] = {
    {"ellipsoids", CAROM_FIELD_LIST, .offset = offsetof(shape_fields, ellipsoids), .rows = ELLIPSOIDS},
    {"combine", CAROM_FIELD_TEXT, .offset = offsetof(shape_fields, combine)},
    {"vertices", CAROM_FIELD_MATRIX, .offset = offsetof(shape_fields, vertices), .rows = VERTICES, .columns = CAROM_EXACTLY(3)},
    {"box", CAROM_FIELD_VECTOR, .offset = offsetof(shape_fields, box), .rows = CAROM_EXACTLY(3), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"rounding", CAROM_FIELD_NUMBER, .offset = offsetof(shape_fields, rounding), .least = 0, .most = HUGE_VAL},
};

// An ellipsoid with axes along the frame's: semiaxes and center [m].
typedef struct ellipsoid_fields {
    const double *semiaxes, *center;
} ellipsoid_fields;

static const carom_field ELLIPSOID[] = {
    {"semiaxes", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(ellipsoid_fields, semiaxes), .rows = CAROM_EXACTLY(3),
     .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"center", CAROM_FIELD_VECTOR, .offset = offsetof(ellipsoid_fields, center), .rows = CAROM_EXACTLY(3)},
};

// Centers that are left out are at the origin, as zeroed memory has them.
static carom_status read_ellipsoids(carom_scene *scene, const carom_node *list, carom_shape_data *shape, carom_error *error) {
    const size_t count = (size_t)list->count;
    double *semiaxes = carom_document_allocate(scene->document, 3 * count * sizeof *semiaxes);
    double *centers = carom_document_allocate(scene->document, 3 * count * sizeof *centers);
    if (!semiaxes || !centers) return carom_fail_memory(error, carom_scene_path(scene));
    for (const carom_node *entry = list->first; entry; entry = entry->next) {
        ellipsoid_fields fields = {0};
        const carom_status status = carom_fields_read(scene->document, entry, CAROM_FIELD_ROWS(ELLIPSOID), NULL, &fields, error);
        if (status) return status;
        memcpy(semiaxes + 3 * entry->index, fields.semiaxes, 3 * sizeof *semiaxes);
        if (fields.center) memcpy(centers + 3 * entry->index, fields.center, 3 * sizeof *centers);
    }
    shape->ellipsoids = list->count;
    shape->semiaxes = semiaxes;
    shape->centers = centers;
    return CAROM_OK;
}

// The arrays of the shape belong to the document.
static carom_status read_shape(carom_scene *scene, const carom_node *node, carom_shape_data *shape, carom_error *error) {
    shape_fields fields = {0};
    carom_length lengths[LENGTHS] = {
        [ELLIPSOIDS] = {.least = 1, .most = CAROM_MAX_ELLIPSOIDS}, [VERTICES] = {.least = 4, .most = CAROM_MAX_VERTICES}};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(SHAPE), lengths, &fields, error);
    if (status) return status;
    if ((fields.ellipsoids != NULL) + (fields.vertices != NULL) + (fields.box != NULL) != 1)
        return carom_document_refuse(scene->document, node, error, "needs one of the keys 'ellipsoids', 'vertices' and 'box'");
    *shape = (carom_shape_data){.rounding = fields.rounding};

    // A box is the hull of its corners.
    if (fields.box) {
        double *vertex = carom_document_allocate(scene->document, 24 * sizeof *vertex);
        if (!vertex) return carom_fail_memory(error, carom_scene_path(scene));
        for (int i = 0; i < 24; i++) vertex[i] = (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * fields.box[i % 3];
        shape->vertices = 8;
        shape->vertex = vertex;
        return CAROM_OK;
    }
    if (fields.ellipsoids) {
        status = read_ellipsoids(scene, fields.ellipsoids, shape, error);
    } else {
        shape->vertices = lengths[VERTICES].value;
        shape->vertex = fields.vertices;
    }
    if (status || !fields.combine) return status;

    const carom_node *combine = carom_node_find(node, "combine");
    const bool intersection = !strcmp(fields.combine, "intersection");
    if (!fields.ellipsoids) return carom_document_refuse(scene->document, combine, error, "belongs to 'ellipsoids'");
    if (!intersection && strcmp(fields.combine, "union") != 0)
        return carom_document_refuse(scene->document, combine, error, "'%.60s' is not one of: union, intersection", fields.combine);
    shape->combine = intersection ? CAROM_COMBINE_INTERSECTION : CAROM_COMBINE_UNION;
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- body

// Mass [kg]; inertia [kg m^2] about the centre of mass, that of uniform density where it is left out.
typedef struct body_fields {
    double mass;
    const double *inertia;
    const carom_node *shape;
} body_fields;

static const carom_field BODY[] = {
    {"mass", CAROM_FIELD_NUMBER, .required = true, .offset = offsetof(body_fields, mass), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"inertia", CAROM_FIELD_MATRIX, .offset = offsetof(body_fields, inertia), .rows = CAROM_EXACTLY(3), .columns = CAROM_EXACTLY(3)},
    {"shape", CAROM_FIELD_MAP, .required = true, .offset = offsetof(body_fields, shape)},
};

// Warns of an inertia or a centre of mass that a uniform body of this shape does not have. A given inertia is used as it is: it may be
// right for a body that is not uniform, or a slip.
static carom_status warn_of_mass(carom_scene *scene, const carom_node *node, const carom_body_data *data, carom_error *error) {
    carom_mass_properties uniform = *carom_body_uniform(scene->body);
    const bool compares = data->inertia && data->shape.ellipsoids <= MOST_COMPARED;
    carom_status status = compares ? carom_shape_mass(&data->shape, &uniform, error) : CAROM_OK;
    const double *c = uniform.centroid;
    const bool off_centre = carom_max_abs(3, c) / carom_body_radius(scene->body) > UNIFORM_TOLERANCE;
    if (!status && uniform.known && compares) {
        if (off_centre)
            status =
                carom_scene_warn(scene, node, error, "the centroid of the shape is (%.9g, %.9g, %.9g), not the origin", c[0], c[1], c[2]);
        const double *inertia = carom_body_inertia(scene->body);
        double largest = 0;
        for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(inertia[i] - data->mass * uniform.inertia[i]));
        if (!status && largest > UNIFORM_TOLERANCE * carom_max_abs(9, inertia))
            status = carom_scene_warn(scene, node, error, "'inertia' differs by more than %g %% from that of uniform density",
                                      100 * UNIFORM_TOLERANCE);
    }
    if (!status && !data->inertia && off_centre)
        status = carom_scene_warn(scene, node, error, "the shape is moved by (%.9g, %.9g, %.9g), so that its centroid is the origin", -c[0],
                                  -c[1], -c[2]);
    if (!status && !carom_body_holds_center(scene->body))
        status = carom_scene_warn(scene, node, error, "the center of mass lies outside the convex hull of the shape");
    return status;
}

// Creates the body; what is wrong with its shape or inertia is said of the map `body`.
static carom_status read_body(carom_scene *scene, const carom_node *node, carom_error *error) {
    body_fields fields = {0};
    carom_body_data data = {0};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(BODY), NULL, &fields, error);
    if (!status) status = read_shape(scene, fields.shape, &data.shape, error);
    if (status) return status;
    data.mass = fields.mass;
    data.inertia = fields.inertia;
    carom_error inner;
    status = carom_body_create(&data, &scene->body, &inner);
    if (status) return carom_document_pass_on(scene->document, node, &inner, error);
    scene->body_motion.body = scene->body;
    return warn_of_mass(scene, node, &data, error);
}

// ------------------------------------------------------------------------------------------------- plane and initial state

// The plane normal.z + offset = 0; through the origin and horizontal where it is left out.
typedef struct plane_fields {
    const double *normal;
    double offset;
} plane_fields;

static const carom_field PLANE[] = {
    {"normal", CAROM_FIELD_VECTOR, .offset = offsetof(plane_fields, normal), .rows = CAROM_EXACTLY(3)},
    {"offset", CAROM_FIELD_NUMBER, .offset = offsetof(plane_fields, offset)},
};

// The state at time 0: position [m], attitude (rotation matrix), momentum [N s], angular momentum in the body frame [N m s].
typedef struct initial_fields {
    const double *position, *attitude, *momentum, *angular_momentum;
} initial_fields;

static const carom_field INITIAL[] = {
    {"position", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(initial_fields, position), .rows = CAROM_EXACTLY(3)},
    {"attitude", CAROM_FIELD_MATRIX, .offset = offsetof(initial_fields, attitude), .rows = CAROM_EXACTLY(3), .columns = CAROM_EXACTLY(3)},
    {"momentum", CAROM_FIELD_VECTOR, .offset = offsetof(initial_fields, momentum), .rows = CAROM_EXACTLY(3)},
    {"angular_momentum", CAROM_FIELD_VECTOR, .offset = offsetof(initial_fields, angular_momentum), .rows = CAROM_EXACTLY(3)},
};

// Upright and at rest, as far as the scene does not say otherwise.
static carom_status read_initial(carom_scene *scene, const carom_node *node, carom_error *error) {
    static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, rest[3] = {0};
    initial_fields fields = {.attitude = upright, .momentum = rest, .angular_momentum = rest};
    const carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(INITIAL), NULL, &fields, error);
    if (status) return status;
    carom_body_state *state = &scene->body_motion.initial;
    memcpy(state->position, fields.position, sizeof state->position);
    memcpy(state->attitude, fields.attitude, sizeof state->attitude);
    memcpy(state->momentum, fields.momentum, sizeof state->momentum);
    memcpy(state->angular_momentum, fields.angular_momentum, sizeof state->angular_momentum);

    // The largest entry of R'R - I.
    const double *R = state->attitude;
    double defect = 0;
    for (int i = 0; i < 9; i++) {
        const int row = i / 3, column = i % 3;
        const double entry = R[row] * R[column] + R[3 + row] * R[3 + column] + R[6 + row] * R[6 + column] - (row == column);
        defect = fmax(defect, fabs(entry));
    }
    if (defect <= ATTITUDE_NOTE) return CAROM_OK;
    return carom_scene_warn(scene, node, error, "the attitude misses a rotation by %.2g; the nearest one is used", defect);
}

// ---------------------------------------------------------------------------------------------------------------- form

// The keys of the top level. Gravity [m/s^2] acts along -e3.
typedef struct form_fields {
    const carom_node *body, *plane, *initial;
    double gravity;
} form_fields;

static const carom_field KEYS[] = {
    {"body", CAROM_FIELD_MAP, .offset = offsetof(form_fields, body)},
    {"gravity", CAROM_FIELD_NUMBER, .offset = offsetof(form_fields, gravity), .least = 0, .most = HUGE_VAL},
    {"plane", CAROM_FIELD_MAP, .offset = offsetof(form_fields, plane)},
    {"initial", CAROM_FIELD_MAP, .required = true, .offset = offsetof(form_fields, initial)},
};

// A motion, not an impact: the body meets the plane later.
static carom_status read_form(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    (void)digest;
    static const double up[3] = {0, 0, 1};
    form_fields fields = {.gravity = STANDARD_GRAVITY};
    plane_fields plane = {.normal = up};
    carom_status status = carom_fields_take(scene->document, root, CAROM_FIELD_ROWS(KEYS), NULL, &fields, error);
    if (!status) status = read_body(scene, fields.body, error);
    if (!status && fields.plane) status = carom_fields_read(scene->document, fields.plane, CAROM_FIELD_ROWS(PLANE), NULL, &plane, error);
    if (!status) status = read_initial(scene, fields.initial, error);
    if (status) return status;
    scene->body_motion.gravity = fields.gravity;
    scene->body_motion.plane_offset = plane.offset;
    memcpy(scene->body_motion.plane_normal, plane.normal, sizeof scene->body_motion.plane_normal);
    scene->motion.form = CAROM_MOTION_BODY;
    scene->motion.body = &scene->body_motion;
    return CAROM_OK;
}

const carom_scene_form carom_scene_form_body = {"body", CAROM_FIELD_TABLE(KEYS), .motion_only = true, .read = read_form};
