// SPDX-License-Identifier: Apache-2.0
// The form `bodies`: many bodies, with `potentials`, `walls` and `collisions`.
#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "io/io_internal.h"
#include "io/number.h"

enum { MOST_BODIES = 1000000, MOST_PLANES = 1000 };

#define PI 3.141592653589793

enum { MANY_PLANES, LENGTHS };

// Reads a map of this form; the only length that varies is the number of a potential's planes.
static carom_status read_map(carom_scene *scene, const carom_node *node, const carom_field *fields, int count, void *values,
                             carom_error *error) {
    carom_length lengths[LENGTHS] = {[MANY_PLANES] = {.least = 1, .most = MOST_PLANES}};
    return carom_fields_read(scene->document, node, fields, count, lengths, values, error);
}

// Zeroed memory of the scene's document; never none, also where nothing is to be stored.
static carom_status allocate(carom_scene *scene, int64_t count, size_t size, void *memory, carom_error *error) {
    void *room = carom_document_allocate(scene->document, (size_t)count * size + 1);
    memcpy(memory, &room, sizeof room);
    return room ? CAROM_OK : carom_fail_memory(error, carom_scene_path(scene));
}

// A list that may be empty or left out.
static carom_status count_list(const carom_scene *scene, const carom_node *list, int *count, carom_error *error) {
    *count = 0;
    if (!list) return CAROM_OK;
    if (list->kind != CAROM_NODE_LIST) return carom_document_refuse(scene->document, list, error, "must be a list");
    *count = list->count;
    return CAROM_OK;
}

// A number of the map that must be a whole one.
static carom_status take_whole(const carom_scene *scene, const carom_node *map, const char *key, double value, int64_t *whole,
                               carom_error *error) {
    *whole = (int64_t)value;
    if (value == floor(value)) return CAROM_OK;
    return carom_document_refuse(scene->document, carom_node_find(map, key), error, "must be a whole number");
}

// -------------------------------------------------------------------------------------------------------------- bodies

// One entry of `bodies`: mass [kg], radius [m], moments of inertia [kg m^2], position [m], attitude (quaternion w x y z), velocities
// [m/s, rad/s], and copies of it.
typedef struct body_fields {
    double mass, radius, moment;
    const carom_node *inertia, *repeat;
    const double *moments, *position, *attitude, *velocity, *angular_velocity;
} body_fields;

static const carom_field BODY[] = {
    {"mass", CAROM_FIELD_NUMBER, .required = true, .offset = offsetof(body_fields, mass), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"inertia", CAROM_FIELD_NODE, .required = true, .offset = offsetof(body_fields, inertia)},
    {"radius", CAROM_FIELD_NUMBER, .offset = offsetof(body_fields, radius), .least = 0, .most = HUGE_VAL},
    {"position", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, position), .rows = CAROM_EXACTLY(3)},
    {"attitude", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, attitude), .rows = CAROM_EXACTLY(4)},
    {"velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, velocity), .rows = CAROM_EXACTLY(3)},
    {"angular_velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, angular_velocity), .rows = CAROM_EXACTLY(3)},
    {"repeat", CAROM_FIELD_MAP, .offset = offsetof(body_fields, repeat)},
};

// `inertia` is read by one of two rows, by its form: a number for a sphere, or three principal moments.
static const carom_field_table BODY_TABLES[] = {CAROM_FIELD_TABLE(BODY)};
static const carom_field SPHERE_INERTIA = {"inertia", CAROM_FIELD_NUMBER, .offset = offsetof(body_fields, moment), .least = CAROM_POSITIVE,
                                           .most = HUGE_VAL};
static const carom_field PRINCIPAL_INERTIA = {"inertia",
                                              CAROM_FIELD_VECTOR,
                                              .required = true,
                                              .offset = offsetof(body_fields, moments),
                                              .rows = CAROM_EXACTLY(3),
                                              .least = CAROM_POSITIVE,
                                              .most = HUGE_VAL};

// Copies of a body: on a ring in the plane of the first two axes, or on a grid; both about the body's position.
typedef struct repeat_fields {
    double ring, diameter, spacing, speed, seed;
    const double *grid;
} repeat_fields;

static const carom_field REPEAT[] = {
    {"ring", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, ring), .least = 1, .most = MOST_BODIES},
    {"diameter", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, diameter), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"grid", CAROM_FIELD_VECTOR, .offset = offsetof(repeat_fields, grid), .rows = CAROM_EXACTLY(3), .least = 1, .most = MOST_BODIES},
    {"spacing", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, spacing), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"speed", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, speed), .least = 0, .most = HUGE_VAL},
    {"seed", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, seed), .least = 0, .most = CAROM_MOST_SEED},
};

// `repeat` as whole numbers: `count` copies on a ring or on a grid, with random velocities of this speed [m/s].
typedef struct repetition {
    int64_t ring, grid[3], seed, count;
    double diameter, spacing, speed;
} repetition;

// Without `repeat` a body stands for itself.
static carom_status read_repeat(carom_scene *scene, const carom_node *node, repetition *copies, carom_error *error) {
    *copies = (repetition){.count = 1};
    if (!node) return CAROM_OK;
    repeat_fields fields = {0};
    carom_status status = read_map(scene, node, CAROM_FIELD_ROWS(REPEAT), &fields, error);
    if (!status) status = take_whole(scene, node, "ring", fields.ring, &copies->ring, error);
    if (!status) status = take_whole(scene, node, "seed", fields.seed, &copies->seed, error);
    if (status) return status;
    copies->diameter = fields.diameter;
    copies->spacing = fields.spacing;
    copies->speed = fields.speed;
    if ((copies->ring > 0) == (fields.grid != NULL))
        return carom_document_refuse(scene->document, node, error, "needs one of the keys 'ring' and 'grid'");
    if (!fields.grid) {
        copies->count = copies->ring;
        return fields.diameter > 0 ? CAROM_OK : carom_document_refuse(scene->document, node, error, "the key 'diameter' is missing");
    }
    if (!(fields.spacing > 0)) return carom_document_refuse(scene->document, node, error, "the key 'spacing' is missing");
    for (int k = 0; k < 3; k++) {
        status = take_whole(scene, node, "grid", fields.grid[k], &copies->grid[k], error);
        if (status) return status;
        // Each factor is at most MOST_BODIES, and the product is checked each time: it cannot overflow.
        copies->count *= copies->grid[k];
        if (copies->count > MOST_BODIES) return carom_document_refuse(scene->document, node, error, "more than %d bodies", MOST_BODIES);
    }
    return CAROM_OK;
}

// A vector that may be left out, and then stays as it is.
static void copy_vector(const double *given, int count, double *to) {
    if (given) memcpy(to, given, (size_t)count * sizeof *to);
}

// A pattern and its copies: what is left out is at the origin, upright and at rest.
static carom_status read_body(carom_scene *scene, const carom_node *node, carom_particle *body, repetition *copies, carom_error *error) {
    body_fields fields = {0};
    carom_status status = carom_fields_check(scene->document, node, BODY_TABLES, 1, error);
    if (status) return status;
    // An inertia is one number for a sphere, or three principal moments.
    const carom_node *inertia = carom_node_find(node, "inertia");
    if (inertia && inertia->kind == CAROM_NODE_SCALAR) {
        status = carom_fields_take(scene->document, node, &SPHERE_INERTIA, 1, NULL, &fields, error);
        for (int k = 0; k < 3; k++) body->inertia[k] = fields.moment;
    } else {
        status = carom_fields_take(scene->document, node, &PRINCIPAL_INERTIA, 1, NULL, &fields, error);
        copy_vector(fields.moments, 3, body->inertia);
    }
    if (!status) status = carom_fields_take(scene->document, node, CAROM_FIELD_ROWS(BODY), NULL, &fields, error);
    if (!status) status = read_repeat(scene, fields.repeat, copies, error);
    if (status) return status;
    body->mass = fields.mass;
    body->radius = fields.radius;
    body->attitude[0] = 1;
    copy_vector(fields.position, 3, body->position);
    copy_vector(fields.attitude, 4, body->attitude);
    copy_vector(fields.velocity, 3, body->velocity);
    copy_vector(fields.angular_velocity, 3, body->angular_velocity);
    return CAROM_OK;
}

// Patterns first, so that all bodies are counted before they are allocated; then the copies of each.
static carom_status read_bodies(carom_scene *scene, const carom_node *list, carom_error *error) {
    int entries;
    carom_particle *patterns, *bodies;
    repetition *copies;
    carom_status status = count_list(scene, list, &entries, error);
    if (!status) status = allocate(scene, entries, sizeof *patterns, &patterns, error);
    if (!status) status = allocate(scene, entries, sizeof *copies, &copies, error);
    if (status) return status;
    if (!entries) return carom_document_refuse(scene->document, list, error, "must not be empty");
    int64_t total = 0, filled = 0;
    for (const carom_node *entry = list->first; entry; entry = entry->next) {
        status = read_body(scene, entry, &patterns[entry->index], &copies[entry->index], error);
        if (status) return status;
        total += copies[entry->index].count;
        if (total > MOST_BODIES) return carom_document_refuse(scene->document, list, error, "more than %d bodies", MOST_BODIES);
    }
    status = allocate(scene, total, sizeof *bodies, &bodies, error);
    if (status) return status;
    for (int e = 0; e < entries; e++) {
        const repetition *repeated = &copies[e];
        for (int64_t index = 0; index < repeated->count; index++) {
            carom_particle *body = &bodies[filled++];
            *body = patterns[e];
            if (repeated->ring) {
                // The first stands at the left, where a wall may be.
                const double angle = PI + 2 * PI * (double)index / (double)repeated->ring;
                body->position[0] += 0.5 * repeated->diameter * cos(angle);
                body->position[1] += 0.5 * repeated->diameter * sin(angle);
            } else if (repeated->grid[0]) {
                const int64_t place[] = {index % repeated->grid[0], index / repeated->grid[0] % repeated->grid[1],
                                         index / repeated->grid[0] / repeated->grid[1]};
                for (int k = 0; k < 3; k++)
                    body->position[k] += repeated->spacing * ((double)place[k] - 0.5 * (double)(repeated->grid[k] - 1));
            }
            if (!(repeated->speed > 0)) continue;
            // Random velocities come from the stream (seed, index).
            carom_stream stream;
            carom_stream_start(&stream, (uint64_t)repeated->seed, (uint64_t)index);
            for (int k = 0; k < 3; k++) body->velocity[k] += repeated->speed * carom_stream_normal(&stream);
        }
    }
    scene->bodies_motion.body = bodies;
    scene->bodies_motion.bodies = (int)total;
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------- potentials

// The parameters of all types together, called by their symbols in Baker & Gonzalez; each type reads its own.
typedef struct potential_fields {
    const char *type, *shear;
    double gravity, moment, trap, Km, Ka, Ks, break_force, break_energy, Kpp, Kpw;
    const double *acceleration, *offset, *direction, *field, *gradient;
    const carom_node *pairs, *planes;
} potential_fields;

#define TYPE_ROW                                                                                                                           \
    { "type", CAROM_FIELD_TEXT, .required = true, .offset = offsetof(potential_fields, type) }
#define NUMBER_ROW(name, lowest, highest)                                                                                                  \
    { #name, CAROM_FIELD_NUMBER, .offset = offsetof(potential_fields, name), .least = (lowest), .most = (highest) }
#define VECTOR_ROW(name, needed)                                                                                                           \
    { #name, CAROM_FIELD_VECTOR, .required = (needed), .offset = offsetof(potential_fields, name), .rows = CAROM_EXACTLY(3) }

static const carom_field GRAVITY[] = {TYPE_ROW, VECTOR_ROW(acceleration, true)};
static const carom_field OFFSET_MASS[] = {TYPE_ROW, NUMBER_ROW(gravity, 0, 0), VECTOR_ROW(offset, true)};
static const carom_field DIPOLE[] = {
    TYPE_ROW,
    NUMBER_ROW(moment, 0, 0),
    VECTOR_ROW(direction, true),
    VECTOR_ROW(field, false),
    {"gradient", CAROM_FIELD_MATRIX, .offset = offsetof(potential_fields, gradient), .rows = CAROM_EXACTLY(3), .columns = CAROM_EXACTLY(3)},
    NUMBER_ROW(trap, 0, 0),
    NUMBER_ROW(gravity, 0, 0)};
static const carom_field BONDS[] = {TYPE_ROW,
                                    {"pairs", CAROM_FIELD_NODE, .required = true, .offset = offsetof(potential_fields, pairs)},
                                    {"shear", CAROM_FIELD_TEXT, .offset = offsetof(potential_fields, shear)},
                                    NUMBER_ROW(Km, 0, HUGE_VAL),
                                    NUMBER_ROW(Ka, 0, HUGE_VAL),
                                    NUMBER_ROW(Ks, 0, HUGE_VAL),
                                    NUMBER_ROW(break_force, CAROM_POSITIVE, HUGE_VAL),
                                    NUMBER_ROW(break_energy, CAROM_POSITIVE, HUGE_VAL)};
static const carom_field HERTZ[] = {TYPE_ROW,
                                    NUMBER_ROW(Kpp, 0, HUGE_VAL),
                                    NUMBER_ROW(Kpw, 0, HUGE_VAL),
                                    {"planes", CAROM_FIELD_LIST, .offset = offsetof(potential_fields, planes), .rows = MANY_PLANES}};

// The types of potentials: a name, and the rows of its parameters.
static const struct {
    const char *name;
    carom_potential_type type;
    const carom_field *fields;
    int count;
} types[] = {{"gravity", CAROM_POTENTIAL_GRAVITY, CAROM_FIELD_ROWS(GRAVITY)},
             {"offset-mass", CAROM_POTENTIAL_OFFSET_MASS, CAROM_FIELD_ROWS(OFFSET_MASS)},
             {"dipole", CAROM_POTENTIAL_DIPOLE, CAROM_FIELD_ROWS(DIPOLE)},
             {"bonds", CAROM_POTENTIAL_BONDS, CAROM_FIELD_ROWS(BONDS)},
             {"hertz", CAROM_POTENTIAL_HERTZ, CAROM_FIELD_ROWS(HERTZ)}};

// Bonds join pairs of bodies; how stiff they are against bending, stretching and shear are Km, Ka and Ks [J].
static carom_status read_bonds(carom_scene *scene, const carom_node *map, const potential_fields *fields, carom_bonds *bonds,
                               carom_error *error) {
    *bonds = (carom_bonds){
        .Km = fields->Km, .Ka = fields->Ka, .Ks = fields->Ks, .break_force = fields->break_force, .break_energy = fields->break_energy};
    if (fields->shear && !strcmp(fields->shear, "published"))
        bonds->shear = CAROM_SHEAR_PUBLISHED;
    else if (fields->shear && strcmp(fields->shear, "objective") != 0)
        return carom_document_refuse(scene->document, carom_node_find(map, "shear"), error, "'%.60s' is not one of: objective, published",
                                     fields->shear);

    const carom_node *node = fields->pairs;
    const int bodies = scene->bodies_motion.bodies;
    const bool ring = node->kind == CAROM_NODE_SCALAR && !strcmp(node->text, "ring");
    if (ring && bodies < 3) return carom_document_refuse(scene->document, node, error, "a ring needs three bodies or more");
    if (!ring && node->kind != CAROM_NODE_LIST)
        return carom_document_refuse(scene->document, node, error, "must be 'ring' or a list of pairs of bodies, numbered from 0");
    int *pairs;
    bonds->count = ring ? bodies : node->count;
    const carom_status status = allocate(scene, 2 * (int64_t)bonds->count, sizeof *pairs, &pairs, error);
    if (status) return status;
    bonds->pairs = pairs;

    // A ring joins every body with the next, and the last with the first.
    for (int i = 0; ring && i < bodies; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = (i + 1) % bodies;
    }
    for (const carom_node *entry = ring ? NULL : node->first; entry; entry = entry->next) {
        if (entry->kind != CAROM_NODE_LIST || entry->count != 2)
            return carom_document_refuse(scene->document, entry, error, "must be a pair of bodies, numbered from 0");
        for (const carom_node *end = entry->first; end; end = end->next) {
            double value = -1;
            if (end->kind != CAROM_NODE_SCALAR || !carom_number_read(end->text, &value) || value != floor(value) || value < 0 ||
                value >= bodies)
                return carom_document_refuse(scene->document, end, error, "must be a whole number from 0 to %d, the last body", bodies - 1);
            pairs[2 * entry->index + end->index] = (int)value;
        }
    }
    return CAROM_OK;
}

// A plane: the points x with normal.x + offset = 0; bodies are where that is positive.
typedef struct plane_fields {
    const double *normal;
    double offset;
} plane_fields;

static const carom_field PLANE[] = {
    {"normal", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(plane_fields, normal), .rows = CAROM_EXACTLY(3)},
    {"offset", CAROM_FIELD_NUMBER, .offset = offsetof(plane_fields, offset)},
};

// A normal of any length but zero.
static carom_status check_normal(const carom_scene *scene, const carom_node *node, const double *normal, carom_error *error) {
    if (carom_max_abs(3, normal) > 0) return CAROM_OK;
    return carom_document_refuse(scene->document, carom_node_find(node, "normal"), error, "must not be zero");
}

// Hertzian contact between bodies (Kpp [J]), and between bodies and planes (Kpw [J]).
static carom_status read_hertz(carom_scene *scene, const potential_fields *fields, carom_potential *potential, carom_error *error) {
    potential->hertz.Kpp = fields->Kpp;
    potential->hertz.Kpw = fields->Kpw;
    if (!fields->planes) return CAROM_OK;
    double *planes;
    carom_status status = allocate(scene, 4 * (int64_t)fields->planes->count, sizeof *planes, &planes, error);
    for (const carom_node *entry = fields->planes->first; !status && entry; entry = entry->next) {
        plane_fields plane = {0};
        status = read_map(scene, entry, CAROM_FIELD_ROWS(PLANE), &plane, error);
        if (!status) status = check_normal(scene, entry, plane.normal, error);
        if (status) return status;
        memcpy(planes + 4 * entry->index, plane.normal, 3 * sizeof *planes);
        planes[4 * entry->index + 3] = plane.offset;
    }
    potential->hertz.planes = fields->planes->count;
    potential->hertz.plane = planes;
    return status;
}

// A potential begins with its type, which says what other keys it has.
static carom_status read_potential(carom_scene *scene, const carom_node *node, carom_potential *potential, carom_error *error) {
    const carom_node *type = node->kind == CAROM_NODE_MAP ? carom_node_find(node, "type") : NULL;
    if (!type || type->kind != CAROM_NODE_SCALAR)
        return carom_document_refuse(scene->document, node, error, "must be a map with the key 'type'");
    size_t t = 0;
    while (t < sizeof types / sizeof *types && strcmp(types[t].name, type->text) != 0) t++;
    if (t == sizeof types / sizeof *types)
        return carom_document_refuse(scene->document, type, error, "'%.60s' is not one of: gravity, offset-mass, dipole, bonds, hertz",
                                     type->text);

    // g is 1 where a pendulum does not say it.
    potential_fields fields = {.gravity = types[t].type == CAROM_POTENTIAL_OFFSET_MASS ? 1 : 0};
    potential->type = types[t].type;
    const carom_status status = read_map(scene, node, types[t].fields, types[t].count, &fields, error);
    if (status) return status;
    switch (potential->type) {
    case CAROM_POTENTIAL_GRAVITY: copy_vector(fields.acceleration, 3, potential->acceleration); return CAROM_OK;
    case CAROM_POTENTIAL_OFFSET_MASS:
        potential->offset_mass.gravity = fields.gravity;
        copy_vector(fields.offset, 3, potential->offset_mass.offset);
        return CAROM_OK;
    case CAROM_POTENTIAL_DIPOLE: {
        const double *d = fields.direction, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (!(length > 0)) return carom_document_refuse(scene->document, carom_node_find(node, "direction"), error, "must not be zero");
        potential->dipole.moment = fields.moment;
        potential->dipole.trap = fields.trap;
        potential->dipole.gravity = fields.gravity;
        for (int k = 0; k < 3; k++) potential->dipole.direction[k] = d[k] / length;
        copy_vector(fields.field, 3, potential->dipole.field);
        copy_vector(fields.gradient, 9, potential->dipole.gradient);
        return CAROM_OK;
    }
    case CAROM_POTENTIAL_BONDS: return read_bonds(scene, node, &fields, &potential->bonds, error);
    case CAROM_POTENTIAL_HERTZ: return read_hertz(scene, &fields, potential, error);
    case CAROM_POTENTIAL_USER: break;  // of C programs
    }
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- walls

// A wall, or `collisions` of bodies with each other, which have no plane.
typedef struct wall_fields {
    plane_fields plane;
    const char *surface;
    double restitution, friction;
} wall_fields;

#define LAW_ROWS                                                                                                                           \
    {"restitution", CAROM_FIELD_NUMBER, .offset = offsetof(wall_fields, restitution), .least = 0, .most = 1},                              \
        {"surface", CAROM_FIELD_TEXT, .offset = offsetof(wall_fields, surface)}, {                                                         \
        "friction", CAROM_FIELD_NUMBER, .offset = offsetof(wall_fields, friction), .least = 0, .most = HUGE_VAL                            \
    }

static const carom_field WALL[] = {
    {"normal", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(wall_fields, plane.normal), .rows = CAROM_EXACTLY(3)},
    {"offset", CAROM_FIELD_NUMBER, .offset = offsetof(wall_fields, plane.offset)},
    LAW_ROWS};
static const carom_field COLLISIONS[] = {LAW_ROWS};

// Friction belongs to the surface `coulomb` alone. A surface that is left out is smooth.
static carom_status read_surface_law(const carom_scene *scene, const carom_node *node, const wall_fields *fields, carom_surface_law *law,
                                     carom_error *error) {
    *law = (carom_surface_law){.restitution = fields->restitution, .friction = fields->friction};
    const carom_node *friction = carom_node_find(node, "friction");
    for (int s = 0; carom_surface_names[s]; s++) {
        if (fields->surface && strcmp(carom_surface_names[s], fields->surface) != 0) continue;
        law->surface = (carom_surface)s;
        if (friction && law->surface != CAROM_SURFACE_COULOMB)
            return carom_document_refuse(scene->document, friction, error, "belongs to 'surface: coulomb'");
        return CAROM_OK;
    }
    return carom_document_refuse(scene->document, carom_node_find(node, "surface"), error, "'%.60s' is not one of: smooth, rough, coulomb",
                                 fields->surface);
}

// Walls restitute fully where they do not say otherwise.
static carom_status read_walls(carom_scene *scene, const carom_node *list, carom_error *error) {
    carom_wall *walls;
    int count;
    carom_status status = count_list(scene, list, &count, error);
    if (!status) status = allocate(scene, count, sizeof *walls, &walls, error);
    for (const carom_node *entry = list ? list->first : NULL; !status && entry; entry = entry->next) {
        wall_fields fields = {.restitution = 1};
        carom_wall *wall = &walls[entry->index];
        status = read_map(scene, entry, CAROM_FIELD_ROWS(WALL), &fields, error);
        if (!status) status = check_normal(scene, entry, fields.plane.normal, error);
        if (!status) status = read_surface_law(scene, entry, &fields, &wall->law, error);
        if (status) return status;
        memcpy(wall->normal, fields.plane.normal, sizeof wall->normal);
        wall->offset = fields.plane.offset;
    }
    if (status) return status;
    scene->bodies_motion.wall = walls;
    scene->bodies_motion.walls = count;
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- form

// The keys of the top level; `bodies` alone is needed.
typedef struct form_fields {
    const carom_node *bodies, *potentials, *walls, *collisions;
} form_fields;

static const carom_field KEYS[] = {
    {"bodies", CAROM_FIELD_NODE, .offset = offsetof(form_fields, bodies)},
    {"potentials", CAROM_FIELD_NODE, .offset = offsetof(form_fields, potentials)},
    {"walls", CAROM_FIELD_NODE, .offset = offsetof(form_fields, walls)},
    {"collisions", CAROM_FIELD_MAP, .offset = offsetof(form_fields, collisions)},
};

// Everything belongs to the document, and the motion refers to it.
static carom_status read_form(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    (void)digest;
    form_fields fields = {0};
    carom_bodies_motion *motion = &scene->bodies_motion;
    carom_status status = carom_fields_take(scene->document, root, CAROM_FIELD_ROWS(KEYS), NULL, &fields, error);
    if (!status) status = read_bodies(scene, fields.bodies, error);
    if (!status) status = count_list(scene, fields.potentials, &motion->potentials, error);
    carom_potential *potentials = NULL;
    if (!status) status = allocate(scene, motion->potentials, sizeof *potentials, &potentials, error);
    for (const carom_node *entry = fields.potentials ? fields.potentials->first : NULL; !status && entry; entry = entry->next)
        status = read_potential(scene, entry, &potentials[entry->index], error);
    motion->potential = potentials;
    if (!status) status = read_walls(scene, fields.walls, error);
    if (!status && fields.collisions) {
        wall_fields collisions = {.restitution = 1};
        status = read_map(scene, fields.collisions, CAROM_FIELD_ROWS(COLLISIONS), &collisions, error);
        if (!status) status = read_surface_law(scene, fields.collisions, &collisions, &scene->collisions, error);
        motion->collisions = &scene->collisions;
    }
    if (!status) {
        scene->motion.form = CAROM_MOTION_BODIES;
        scene->motion.bodies = motion;
    }
    return status;
}

const carom_scene_form carom_scene_form_bodies = {"bodies", CAROM_FIELD_TABLE(KEYS), .motion_only = true, .read = read_form};
