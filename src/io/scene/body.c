// SPDX-License-Identifier: Apache-2.0
// The form `body`: one body above one plane, with `gravity`, `plane` and `initial`.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/surface.h"
#include "carom/vector3.h"
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

enum { ELLIPSOIDS, VERTICES, PARTS, DIRECTIONS, LEVELS, LENGTHS };

// Cells along the longest side of a table of a difference.
enum { DEFAULT_RESOLUTION = 64, MOST_DIRECTIONS = 100000 };

// A shape is one of ellipsoids, the hull of vertices, a box with sides [m], a surface in a file, convex parts, a table of supports (u, h)
// or of signed distances; rounded by a distance [m].
typedef struct shape_fields {
    const carom_node *ellipsoids, *parts, *levels;
    const char *combine, *mesh;
    const double *vertices, *box, *support;
    double rounding, scale, resolution;
} shape_fields;

static const carom_field SHAPE[] = {
    {"ellipsoids", CAROM_FIELD_LIST, .offset = offsetof(shape_fields, ellipsoids), .rows = ELLIPSOIDS},
    {"combine", CAROM_FIELD_TEXT, .offset = offsetof(shape_fields, combine)},
    {"vertices", CAROM_FIELD_MATRIX, .offset = offsetof(shape_fields, vertices), .rows = VERTICES, .columns = CAROM_EXACTLY(3)},
    {"box", CAROM_FIELD_VECTOR, .offset = offsetof(shape_fields, box), .rows = CAROM_EXACTLY(3), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"mesh", CAROM_FIELD_TEXT, .offset = offsetof(shape_fields, mesh)},
    {"scale", CAROM_FIELD_NUMBER, .offset = offsetof(shape_fields, scale), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"parts", CAROM_FIELD_LIST, .offset = offsetof(shape_fields, parts), .rows = PARTS},
    {"resolution", CAROM_FIELD_NUMBER, .offset = offsetof(shape_fields, resolution), .least = 4, .most = CAROM_MAX_LEVELS - 3},
    {"support", CAROM_FIELD_MATRIX, .offset = offsetof(shape_fields, support), .rows = DIRECTIONS, .columns = CAROM_EXACTLY(4)},
    {"signed_distance", CAROM_FIELD_MAP, .offset = offsetof(shape_fields, levels)},
    {"rounding", CAROM_FIELD_NUMBER, .offset = offsetof(shape_fields, rounding), .least = 0, .most = HUGE_VAL},
};

// A convex part in its own frame: semiaxes of an ellipsoid, sides of a box, vertices, or the hull of a surface in a file [m].
typedef struct part_fields {
    const double *semiaxes, *box, *vertices, *center, *rotation;
    const char *mesh;
    double scale;
} part_fields;

static const carom_field PART[] = {
    {"semiaxes", CAROM_FIELD_VECTOR, .offset = offsetof(part_fields, semiaxes), .rows = CAROM_EXACTLY(3), .least = CAROM_POSITIVE,
     .most = HUGE_VAL},
    {"box", CAROM_FIELD_VECTOR, .offset = offsetof(part_fields, box), .rows = CAROM_EXACTLY(3), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"vertices", CAROM_FIELD_MATRIX, .offset = offsetof(part_fields, vertices), .rows = VERTICES, .columns = CAROM_EXACTLY(3)},
    {"mesh", CAROM_FIELD_TEXT, .offset = offsetof(part_fields, mesh)},
    {"scale", CAROM_FIELD_NUMBER, .offset = offsetof(part_fields, scale), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"center", CAROM_FIELD_VECTOR, .offset = offsetof(part_fields, center), .rows = CAROM_EXACTLY(3)},
    {"rotation", CAROM_FIELD_MATRIX, .offset = offsetof(part_fields, rotation), .rows = CAROM_EXACTLY(3), .columns = CAROM_EXACTLY(3)},
};

// A table of a function that is negative inside, the first axis fastest: in the scene, or numbers in a file of their own.
typedef struct level_fields {
    const double *counts, *origin, *spacing, *values;
    const char *file;
} level_fields;

static const carom_field LEVEL[] = {
    {"counts", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(level_fields, counts), .rows = CAROM_EXACTLY(3), .least = 3,
     .most = CAROM_MAX_LEVELS},
    {"origin", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(level_fields, origin), .rows = CAROM_EXACTLY(3)},
    {"spacing", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(level_fields, spacing), .rows = CAROM_EXACTLY(3),
     .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"values", CAROM_FIELD_VECTOR, .offset = offsetof(level_fields, values), .rows = LEVELS},
    {"file", CAROM_FIELD_TEXT, .offset = offsetof(level_fields, file)},
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

// The corners of a box with these sides, in the document's memory.
static const double *box_corners(carom_scene *scene, const double sides[3]) {
    double *vertex = carom_document_allocate(scene->document, 24 * sizeof *vertex);
    for (int i = 0; i < 24 && vertex; i++) vertex[i] = (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * sides[i % 3];
    return vertex;
}

// The bytes of a file that a map names, which belong to the scene's digest; to be freed.
static carom_status read_file(carom_scene *scene, const carom_node *node, const char *name, carom_digest *digest, char **path, char **bytes,
                              size_t *size, carom_error *error) {
    *bytes = NULL;
    *path = carom_scene_join_path(scene, name);
    if (!*path) return carom_fail_memory(error, carom_scene_path(scene));
    carom_error inner;
    const carom_status status = carom_file_read(*path, CAROM_MAX_FILE_SIZE, bytes, size, &inner);
    if (status) return carom_document_pass_on(scene->document, node, &inner, error);
    carom_digest_add_bytes(digest, *bytes, *size);
    return CAROM_OK;
}

// The surface in a file, scaled.
static carom_status read_mesh(carom_scene *scene, const carom_node *node, const char *name, double scale, carom_digest *digest,
                              carom_arena *arena, carom_shape_data *shape, carom_error *error) {
    char *path, *bytes;
    size_t size;
    carom_status status = read_file(scene, node, name, digest, &path, &bytes, &size, error);
    carom_error inner;
    if (!status) {
        carom_surface_points surface;
        status = carom_surface_parse(path, bytes, size, CAROM_SURFACE_BY_CONTENT, arena, &surface, &inner);
        if (status) carom_document_pass_on(scene->document, node, &inner, error);
        *shape = (carom_shape_data){
            .vertices = surface.points, .vertex = surface.point, .triangles = surface.triangles, .triangle = surface.triangle};
    }
    free(path);
    free(bytes);
    if (status || scale == 1) return status;
    double *vertex = carom_arena_take(arena, 3 * (size_t)shape->vertices, sizeof *vertex);
    if (!vertex) return carom_fail_memory(error, carom_scene_path(scene));
    for (int i = 0; i < 3 * shape->vertices; i++) vertex[i] = scale * shape->vertex[i];
    shape->vertex = vertex;
    return CAROM_OK;
}

// The list `parts`, and what combines them.
static carom_status read_parts(carom_scene *scene, const carom_node *list, carom_digest *digest, carom_arena *arena,
                               carom_shape_data *shape, carom_error *error) {
    carom_part *parts = carom_arena_take(arena, (size_t)list->count, sizeof *parts);
    if (!parts) return carom_fail_memory(error, carom_scene_path(scene));
    for (const carom_node *entry = list->first; entry; entry = entry->next) {
        part_fields fields = {.scale = 1, .rotation = CAROM_IDENTITY3};
        carom_length lengths[LENGTHS] = {[VERTICES] = {.least = 4, .most = CAROM_MAX_VERTICES}};
        carom_status status = carom_fields_read(scene->document, entry, CAROM_FIELD_ROWS(PART), lengths, &fields, error);
        if (status) return status;
        if ((fields.semiaxes != NULL) + (fields.box != NULL) + (fields.vertices != NULL) + (fields.mesh != NULL) != 1)
            return carom_document_refuse(scene->document, entry, error, "needs one of the keys 'semiaxes', 'box', 'vertices' and 'mesh'");
        carom_part *part = &parts[entry->index];
        part->semiaxes = fields.semiaxes;
        part->vertices = fields.box ? 8 : lengths[VERTICES].value;
        part->vertex = fields.box ? box_corners(scene, fields.box) : fields.vertices;
        if (fields.box && !part->vertex) return carom_fail_memory(error, carom_scene_path(scene));
        if (fields.mesh) {
            carom_shape_data surface;
            status = read_mesh(scene, carom_node_find(entry, "mesh"), fields.mesh, fields.scale, digest, arena, &surface, error);
            if (status) return status;
            part->vertices = surface.vertices;
            part->vertex = surface.vertex;
        }
        if (fields.center) memcpy(part->center, fields.center, sizeof part->center);
        memcpy(part->rotation, fields.rotation, sizeof part->rotation);
    }
    shape->parts = list->count;
    shape->part = parts;
    return CAROM_OK;
}

// The surface where a table is zero.
static carom_status read_levels(carom_scene *scene, const carom_node *node, carom_digest *digest, carom_arena *arena,
                                carom_shape_data *shape, carom_error *error) {
    level_fields fields = {0};
    carom_length lengths[LENGTHS] = {[LEVELS] = {.least = 27, .most = CAROM_MAX_LEVELS * CAROM_MAX_LEVELS * CAROM_MAX_LEVELS}};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(LEVEL), lengths, &fields, error);
    if (status) return status;
    if ((fields.values != NULL) == (fields.file != NULL))
        return carom_document_refuse(scene->document, node, error, "needs one of the keys 'values' and 'file'");
    carom_level_table table = {.values = fields.values};
    size_t points = 1;
    for (int k = 0; k < 3; k++) {
        if (fields.counts[k] != floor(fields.counts[k]))
            return carom_document_refuse(scene->document, carom_node_find(node, "counts"), error, "%g is not an integer", fields.counts[k]);
        table.counts[k] = (int)fields.counts[k];
        table.origin[k] = fields.origin[k];
        table.spacing[k] = fields.spacing[k];
        points *= (size_t)table.counts[k];
    }
    if (fields.values && (size_t)lengths[LEVELS].value != points)
        return carom_document_refuse(scene->document, carom_node_find(node, "values"), error, "there are %d, and 'counts' asks for %zu",
                                     lengths[LEVELS].value, points);
    if (fields.file) {
        // Numbers with blanks between them.
        const carom_node *file = carom_node_find(node, "file");
        char *path, *bytes;
        size_t size, found = 0;
        status = read_file(scene, file, fields.file, digest, &path, &bytes, &size, error);
        double *values = status ? NULL : carom_arena_take(arena, points, sizeof *values);
        if (!status && !values) status = carom_fail_memory(error, carom_scene_path(scene));
        static const char blanks[] = " \t\r\n";
        for (char *word = status ? NULL : bytes + strspn(bytes, blanks); word && *word && !status; found++) {
            const size_t length = strcspn(word, blanks);
            char *next = word + length + strspn(word + length, blanks);
            word[length] = 0;
            if (found == points || !carom_parse_number(word, &values[found]))
                status = carom_document_refuse(scene->document, file, error, "'%.20s' is no number, or one more than the %zu of 'counts'",
                                               word, points);
            word = next;
        }
        if (!status && found < points)
            status = carom_document_refuse(scene->document, file, error, "there are %zu numbers, and 'counts' asks for %zu", found, points);
        free(path);
        free(bytes);
        table.values = values;
    }
    carom_error inner;
    if (status) return status;
    status = carom_level_surface(&table, arena, shape, &inner);
    return status ? carom_document_pass_on(scene->document, node, &inner, error) : CAROM_OK;
}

// The arrays of the shape belong to the document or the arena.
static carom_status read_shape(carom_scene *scene, const carom_node *node, carom_digest *digest, carom_arena *arena,
                               carom_shape_data *shape, carom_error *error) {
    shape_fields fields = {.scale = 1, .resolution = DEFAULT_RESOLUTION};
    carom_length lengths[LENGTHS] = {[ELLIPSOIDS] = {.least = 1, .most = CAROM_MAX_ELLIPSOIDS},
                                     [VERTICES] = {.least = 4, .most = CAROM_MAX_VERTICES},
                                     [PARTS] = {.least = 1, .most = CAROM_MAX_PARTS},
                                     [DIRECTIONS] = {.least = 4, .most = MOST_DIRECTIONS}};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(SHAPE), lengths, &fields, error);
    if (status) return status;
    if ((fields.ellipsoids != NULL) + (fields.vertices != NULL) + (fields.box != NULL) + (fields.mesh != NULL) + (fields.parts != NULL) +
            (fields.support != NULL) + (fields.levels != NULL) !=
        1)
        return carom_document_refuse(
            scene->document, node, error,
            "needs one of the keys 'ellipsoids', 'vertices', 'box', 'mesh', 'parts', 'support' and 'signed_distance'");
    *shape = (carom_shape_data){0};
    carom_error inner;
    if (fields.box) {
        // A box is the hull of its corners.
        shape->vertices = 8;
        shape->vertex = box_corners(scene, fields.box);
        if (!shape->vertex) return carom_fail_memory(error, carom_scene_path(scene));
    } else if (fields.ellipsoids) {
        status = read_ellipsoids(scene, fields.ellipsoids, shape, error);
    } else if (fields.mesh) {
        status = read_mesh(scene, carom_node_find(node, "mesh"), fields.mesh, fields.scale, digest, arena, shape, error);
    } else if (fields.parts) {
        status = read_parts(scene, fields.parts, digest, arena, shape, error);
    } else if (fields.support) {
        status = carom_support_shape(lengths[DIRECTIONS].value, fields.support, arena, shape, &inner);
        if (status) carom_document_pass_on(scene->document, carom_node_find(node, "support"), &inner, error);
    } else if (fields.levels) {
        status = read_levels(scene, fields.levels, digest, arena, shape, error);
    } else {
        shape->vertices = lengths[VERTICES].value;
        shape->vertex = fields.vertices;
    }
    shape->rounding = fields.rounding;
    if (status || !fields.combine) return status;

    // What combines ellipsoids or parts. A difference is a table.
    const carom_node *combine = carom_node_find(node, "combine");
    if (!fields.ellipsoids && !fields.parts)
        return carom_document_refuse(scene->document, combine, error, "belongs to 'ellipsoids' or 'parts'");
    if (fields.parts && !strcmp(fields.combine, "difference")) {
        const carom_shape_data parts = *shape;
        status = carom_shape_subtract(&parts, (int)fields.resolution, arena, shape, &inner);
        shape->rounding = fields.rounding;
        return status ? carom_document_pass_on(scene->document, carom_node_find(node, "parts"), &inner, error) : CAROM_OK;
    }
    const bool intersection = !strcmp(fields.combine, "intersection");
    if (!intersection && strcmp(fields.combine, "union") != 0)
        return carom_document_refuse(scene->document, combine, error, "'%.60s' is not one of: union, intersection%s", fields.combine,
                                     fields.parts ? ", difference" : "");
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
    const bool compares = data->inertia && data->shape.ellipsoids <= MOST_COMPARED && data->shape.parts <= 1 && data->shape.triangles == 0;
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
static carom_status read_body(carom_scene *scene, const carom_node *node, carom_digest *digest, carom_error *error) {
    body_fields fields = {0};
    carom_body_data data = {0};
    carom_arena arena = {0};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(BODY), NULL, &fields, error);
    if (!status) status = read_shape(scene, fields.shape, digest, &arena, &data.shape, error);
    if (!status) {
        data.mass = fields.mass;
        data.inertia = fields.inertia;
        carom_error inner;
        status = carom_body_create(&data, &scene->body, &inner);
        if (status) carom_document_pass_on(scene->document, node, &inner, error);
    }
    scene->body_motion.body = scene->body;
    if (!status) status = warn_of_mass(scene, node, &data, error);
    carom_arena_free(&arena);
    return status;
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
    static const double up[3] = {0, 0, 1};
    form_fields fields = {.gravity = STANDARD_GRAVITY};
    plane_fields plane = {.normal = up};
    carom_status status = carom_fields_take(scene->document, root, CAROM_FIELD_ROWS(KEYS), NULL, &fields, error);
    if (!status) status = read_body(scene, fields.body, digest, error);
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
