// SPDX-License-Identifier: Apache-2.0
// Scenes of many bodies: `bodies`, `potentials`, `walls`, `collisions`.
#include "io/io_internal.h"

#include <math.h>
#include <string.h>

#include "carom/dense.h"
#include "io/number.h"

enum { MOST_BODIES = 1000000, MOST_BONDS = 10000000, MOST_PLANES = 1000 };

#define PI 3.141592653589793

enum { SPACE, FOUR, ROWS, PAIR, MANY_BONDS, MANY_PLANES, LENGTHS };

static void set_lengths(carom_length lengths[LENGTHS]) {
    memcpy(lengths,
           (carom_length[LENGTHS]){[SPACE] = {.least = 3, .most = 3, .value = 3},
                                   [FOUR] = {.least = 4, .most = 4, .value = 4},
                                   [ROWS] = {.least = 3, .most = 3, .value = 3},
                                   [PAIR] = {.least = 2, .most = 2, .value = 2},
                                   [MANY_BONDS] = {.least = 1, .most = MOST_BONDS},
                                   [MANY_PLANES] = {.least = 1, .most = MOST_PLANES}},
           LENGTHS * sizeof *lengths);
}

static carom_status read_map(carom_scene *scene, const carom_node *node, const carom_field *fields, int count, void *values,
                             carom_error *error) {
    carom_length lengths[LENGTHS];
    set_lengths(lengths);
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

static carom_status take_whole(const carom_scene *scene, const carom_node *map, const char *key, double value, int64_t *whole,
                               carom_error *error) {
    *whole = (int64_t)value;
    if (value == floor(value)) return CAROM_OK;
    return carom_document_refuse(scene->document, carom_node_find(map, key), error, "must be a whole number");
}

// -------------------------------------------------------------------------------------------------------------- bodies

typedef struct body_fields {
    double mass, radius;
    const carom_node *inertia, *repeat;
    const double *position, *attitude, *velocity, *angular_velocity;
} body_fields;

static const carom_field BODY[] = {
    {"mass", CAROM_FIELD_NUMBER, .required = true, .offset = offsetof(body_fields, mass), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"inertia", CAROM_FIELD_NODE, .required = true, .offset = offsetof(body_fields, inertia)},
    {"radius", CAROM_FIELD_NUMBER, .offset = offsetof(body_fields, radius), .least = 0, .most = HUGE_VAL},
    {"position", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, position), .rows = SPACE},
    {"attitude", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, attitude), .rows = FOUR},
    {"velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, velocity), .rows = SPACE},
    {"angular_velocity", CAROM_FIELD_VECTOR, .offset = offsetof(body_fields, angular_velocity), .rows = SPACE},
    {"repeat", CAROM_FIELD_MAP, .offset = offsetof(body_fields, repeat)},
};

// Copies of a body: on a ring in the plane of the first two axes, or on a grid; both about the body's position.
typedef struct repeat_fields {
    double ring, diameter, spacing, speed, seed;
    const double *grid;
} repeat_fields;

static const carom_field REPEAT[] = {
    {"ring", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, ring), .least = 1, .most = MOST_BODIES},
    {"diameter", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, diameter), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"grid", CAROM_FIELD_VECTOR, .offset = offsetof(repeat_fields, grid), .rows = SPACE, .least = 1, .most = MOST_BODIES},
    {"spacing", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, spacing), .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"speed", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, speed), .least = 0, .most = HUGE_VAL},
    {"seed", CAROM_FIELD_NUMBER, .offset = offsetof(repeat_fields, seed), .least = 0, .most = CAROM_MOST_SEED},
};

typedef struct repetition {
    int64_t ring, grid[3], seed, count;
    double diameter, spacing, speed;
} repetition;

static carom_status read_grid(carom_scene *scene, const carom_node *node, const repeat_fields *fields, repetition *copies,
                              carom_error *error) {
    if (!(fields->spacing > 0)) return carom_document_refuse(scene->document, node, error, "the key 'spacing' is missing");
    copies->count = 1;
    for (int k = 0; k < 3; k++) {
        const carom_status status = take_whole(scene, node, "grid", fields->grid[k], &copies->grid[k], error);
        if (status) return status;
        // Each factor is at most MOST_BODIES, and the product is looked at each time.
        copies->count *= copies->grid[k];
        if (copies->count > MOST_BODIES) return carom_document_refuse(scene->document, node, error, "more than %d bodies", MOST_BODIES);
    }
    return CAROM_OK;
}

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
    if (fields.grid) return read_grid(scene, node, &fields, copies, error);
    if (!(fields.diameter > 0)) return carom_document_refuse(scene->document, node, error, "the key 'diameter' is missing");
    copies->count = copies->ring;
    return CAROM_OK;
}

// One number for a sphere, or three principal moments.
static carom_status read_inertia(carom_scene *scene, const carom_node *node, double moments[3], carom_error *error) {
    static const carom_field NUMBER[] = {{"inertia", CAROM_FIELD_NUMBER, .offset = 0, .least = CAROM_POSITIVE, .most = HUGE_VAL}};
    static const carom_field VECTOR[] = {
        {"inertia", CAROM_FIELD_VECTOR, .offset = 0, .rows = SPACE, .least = CAROM_POSITIVE, .most = HUGE_VAL}};
    // The node alone, as the only entry of a map.
    carom_node entry = *node;
    entry.next = NULL;
    const carom_node map = {.parent = node->parent->parent,
                            .first = &entry,
                            .key = node->parent->key,
                            .line = node->parent->line,
                            .index = node->parent->index,
                            .count = 1,
                            .kind = CAROM_NODE_MAP};
    double number;
    const double *vector;
    const bool scalar = node->kind == CAROM_NODE_SCALAR;
    const carom_status status =
        scalar ? read_map(scene, &map, NUMBER, 1, &number, error) : read_map(scene, &map, VECTOR, 1, &vector, error);
    for (int k = 0; !status && k < 3; k++) moments[k] = scalar ? number : vector[k];
    return status;
}

static void copy_vector(const double *given, int count, double *to) {
    if (given) memcpy(to, given, (size_t)count * sizeof *to);
}

// Body `index` of the repetition; random velocities come from the stream (seed, index).
static void place_copy(const repetition *copies, int64_t index, carom_particle *body) {
    if (copies->ring) {
        // The first stands at the left, where a wall may be.
        const double angle = PI + 2 * PI * (double)index / (double)copies->ring;
        body->position[0] += 0.5 * copies->diameter * cos(angle);
        body->position[1] += 0.5 * copies->diameter * sin(angle);
    } else if (copies->grid[0]) {
        const int64_t place[] = {index % copies->grid[0], index / copies->grid[0] % copies->grid[1],
                                 index / copies->grid[0] / copies->grid[1]};
        for (int k = 0; k < 3; k++) body->position[k] += copies->spacing * ((double)place[k] - 0.5 * (double)(copies->grid[k] - 1));
    }
    if (!(copies->speed > 0)) return;
    carom_stream stream;
    carom_stream_start(&stream, (uint64_t)copies->seed, (uint64_t)index);
    for (int k = 0; k < 3; k++) body->velocity[k] += copies->speed * carom_stream_normal(&stream);
}

static carom_status read_body(carom_scene *scene, const carom_node *node, carom_particle *body, repetition *copies, carom_error *error) {
    body_fields fields = {0};
    carom_status status = read_map(scene, node, CAROM_FIELD_ROWS(BODY), &fields, error);
    *body = (carom_particle){.mass = fields.mass, .radius = fields.radius, .attitude = {1}};
    if (!status) status = read_inertia(scene, fields.inertia, body->inertia, error);
    if (!status) status = read_repeat(scene, fields.repeat, copies, error);
    if (status) return status;
    copy_vector(fields.position, 3, body->position);
    copy_vector(fields.attitude, 4, body->attitude);
    copy_vector(fields.velocity, 3, body->velocity);
    copy_vector(fields.angular_velocity, 3, body->angular_velocity);
    return CAROM_OK;
}

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
        for (int64_t k = 0; k < copies[e].count; k++) {
            bodies[filled] = patterns[e];
            place_copy(&copies[e], k, &bodies[filled++]);
        }
    }
    scene->bodies_motion.body = bodies;
    scene->bodies_motion.bodies = (int)total;
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------- potentials

typedef struct potential_fields {
    const char *type, *shear;
    double gravity, moment, trap, Km, Ka, Ks, Kpp, Kpw;
    const double *acceleration, *offset, *direction, *field, *gradient;
    const carom_node *pairs, *planes;
} potential_fields;

#define TYPE_ROW                                                                                                                           \
    { "type", CAROM_FIELD_TEXT, .required = true, .offset = offsetof(potential_fields, type) }
#define NUMBER_ROW(name, lowest, highest)                                                                                                  \
    { #name, CAROM_FIELD_NUMBER, .offset = offsetof(potential_fields, name), .least = (lowest), .most = (highest) }
#define VECTOR_ROW(name, needed)                                                                                                           \
    { #name, CAROM_FIELD_VECTOR, .required = (needed), .offset = offsetof(potential_fields, name), .rows = SPACE }

static const carom_field GRAVITY[] = {TYPE_ROW, VECTOR_ROW(acceleration, true)};
static const carom_field OFFSET_MASS[] = {TYPE_ROW, NUMBER_ROW(gravity, 0, 0), VECTOR_ROW(offset, true)};
static const carom_field DIPOLE[] = {
    TYPE_ROW,
    NUMBER_ROW(moment, 0, 0),
    VECTOR_ROW(direction, true),
    VECTOR_ROW(field, false),
    {"gradient", CAROM_FIELD_MATRIX, .offset = offsetof(potential_fields, gradient), .rows = ROWS, .columns = SPACE},
    NUMBER_ROW(trap, 0, 0),
    NUMBER_ROW(gravity, 0, 0)};
static const carom_field BONDS[] = {TYPE_ROW,
                                    {"pairs", CAROM_FIELD_NODE, .required = true, .offset = offsetof(potential_fields, pairs)},
                                    {"shear", CAROM_FIELD_TEXT, .offset = offsetof(potential_fields, shear)},
                                    NUMBER_ROW(Km, 0, HUGE_VAL),
                                    NUMBER_ROW(Ka, 0, HUGE_VAL),
                                    NUMBER_ROW(Ks, 0, HUGE_VAL)};
static const carom_field HERTZ[] = {TYPE_ROW,
                                    NUMBER_ROW(Kpp, 0, HUGE_VAL),
                                    NUMBER_ROW(Kpw, 0, HUGE_VAL),
                                    {"planes", CAROM_FIELD_LIST, .offset = offsetof(potential_fields, planes), .rows = MANY_PLANES}};

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

// Every body with the next, and the last with the first.
static carom_status join_ring(carom_scene *scene, const carom_node *node, carom_bonds *bonds, carom_error *error) {
    const int bodies = scene->bodies_motion.bodies;
    if (bodies < 3) return carom_document_refuse(scene->document, node, error, "a ring needs three bodies or more");
    int *pairs;
    const carom_status status = allocate(scene, 2 * (int64_t)bodies, sizeof *pairs, &pairs, error);
    for (int i = 0; !status && i < bodies; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = (i + 1) % bodies;
    }
    bonds->pairs = pairs;
    bonds->count = bodies;
    return status;
}

static carom_status read_pairs(carom_scene *scene, const carom_node *node, carom_bonds *bonds, carom_error *error) {
    if (node->kind == CAROM_NODE_SCALAR && !strcmp(node->text, "ring")) return join_ring(scene, node, bonds, error);
    if (node->kind != CAROM_NODE_LIST)
        return carom_document_refuse(scene->document, node, error, "must be 'ring' or a list of pairs of bodies, numbered from 0");
    int *pairs;
    carom_status status = allocate(scene, 2 * (int64_t)node->count, sizeof *pairs, &pairs, error);
    for (const carom_node *entry = node->first; !status && entry; entry = entry->next) {
        if (entry->kind != CAROM_NODE_LIST || entry->count != 2)
            return carom_document_refuse(scene->document, entry, error, "must be a pair of bodies, numbered from 0");
        for (const carom_node *end = entry->first; !status && end; end = end->next) {
            double value = -1;
            if (end->kind != CAROM_NODE_SCALAR || !carom_number_read(end->text, &value) || value != floor(value) || value < 0 ||
                value >= scene->bodies_motion.bodies)
                return carom_document_refuse(scene->document, end, error, "must be a whole number from 0 to %d, the last body",
                                             scene->bodies_motion.bodies - 1);
            pairs[2 * entry->index + end->index] = (int)value;
        }
    }
    bonds->pairs = pairs;
    bonds->count = node->count;
    return status;
}

static carom_status set_bonds(carom_scene *scene, const carom_node *node, const potential_fields *fields, carom_bonds *bonds,
                              carom_error *error) {
    *bonds = (carom_bonds){.Km = fields->Km, .Ka = fields->Ka, .Ks = fields->Ks};
    if (fields->shear && !strcmp(fields->shear, "published"))
        bonds->shear = CAROM_SHEAR_PUBLISHED;
    else if (fields->shear && strcmp(fields->shear, "objective") != 0)
        return carom_document_refuse(scene->document, carom_node_find(node, "shear"), error, "'%.60s' is not one of: objective, published",
                                     fields->shear);
    return read_pairs(scene, fields->pairs, bonds, error);
}

typedef struct plane_fields {
    const double *normal;
    double offset;
} plane_fields;

static const carom_field PLANE[] = {
    {"normal", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(plane_fields, normal), .rows = SPACE},
    {"offset", CAROM_FIELD_NUMBER, .offset = offsetof(plane_fields, offset)},
};

static carom_status check_normal(const carom_scene *scene, const carom_node *node, const double *normal, carom_error *error) {
    if (carom_max_abs(3, normal) > 0) return CAROM_OK;
    return carom_document_refuse(scene->document, carom_node_find(node, "normal"), error, "must not be zero");
}

static carom_status set_hertz(carom_scene *scene, const potential_fields *fields, carom_potential *potential, carom_error *error) {
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

static carom_status set_dipole(carom_scene *scene, const carom_node *node, const potential_fields *fields, carom_potential *potential,
                               carom_error *error) {
    const double *d = fields->direction, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(length > 0)) return carom_document_refuse(scene->document, carom_node_find(node, "direction"), error, "must not be zero");
    potential->dipole.moment = fields->moment;
    potential->dipole.trap = fields->trap;
    potential->dipole.gravity = fields->gravity;
    for (int k = 0; k < 3; k++) potential->dipole.direction[k] = d[k] / length;
    copy_vector(fields->field, 3, potential->dipole.field);
    copy_vector(fields->gradient, 9, potential->dipole.gradient);
    return CAROM_OK;
}

static carom_status set_potential(carom_scene *scene, const carom_node *node, const potential_fields *fields, carom_potential *potential,
                                  carom_error *error) {
    switch (potential->type) {
    case CAROM_POTENTIAL_GRAVITY: copy_vector(fields->acceleration, 3, potential->acceleration); return CAROM_OK;
    case CAROM_POTENTIAL_OFFSET_MASS:
        potential->offset_mass.gravity = fields->gravity;
        copy_vector(fields->offset, 3, potential->offset_mass.offset);
        return CAROM_OK;
    case CAROM_POTENTIAL_DIPOLE: return set_dipole(scene, node, fields, potential, error);
    case CAROM_POTENTIAL_BONDS: return set_bonds(scene, node, fields, &potential->bonds, error);
    case CAROM_POTENTIAL_HERTZ: return set_hertz(scene, fields, potential, error);
    case CAROM_POTENTIAL_USER: break;  // of C programs
    }
    return CAROM_OK;
}

static carom_status read_potential(carom_scene *scene, const carom_node *node, carom_potential *potential, carom_error *error) {
    const carom_node *type = node->kind == CAROM_NODE_MAP ? carom_node_find(node, "type") : NULL;
    if (!type || type->kind != CAROM_NODE_SCALAR)
        return carom_document_refuse(scene->document, node, error, "must be a map with the key 'type'");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (strcmp(types[t].name, type->text) != 0) continue;
        // g is 1 where a pendulum does not say it.
        potential_fields fields = {.gravity = types[t].type == CAROM_POTENTIAL_OFFSET_MASS ? 1 : 0};
        potential->type = types[t].type;
        const carom_status status = read_map(scene, node, types[t].fields, types[t].count, &fields, error);
        return status ? status : set_potential(scene, node, &fields, potential, error);
    }
    return carom_document_refuse(scene->document, type, error, "'%.60s' is not one of: gravity, offset-mass, dipole, bonds, hertz",
                                 type->text);
}

static carom_status read_potentials(carom_scene *scene, const carom_node *list, carom_error *error) {
    carom_potential *potentials;
    int count;
    carom_status status = count_list(scene, list, &count, error);
    if (!status) status = allocate(scene, count, sizeof *potentials, &potentials, error);
    for (const carom_node *entry = list ? list->first : NULL; !status && entry; entry = entry->next)
        status = read_potential(scene, entry, &potentials[entry->index], error);
    if (status) return status;
    scene->bodies_motion.potential = potentials;
    scene->bodies_motion.potentials = count;
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- walls

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
    {"normal", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(wall_fields, plane.normal), .rows = SPACE},
    {"offset", CAROM_FIELD_NUMBER, .offset = offsetof(wall_fields, plane.offset)},
    LAW_ROWS};
static const carom_field COLLISIONS[] = {LAW_ROWS};

static carom_status set_law(const carom_scene *scene, const carom_node *node, const wall_fields *fields, carom_surface_law *law,
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
        if (!status) status = set_law(scene, entry, &fields, &wall->law, error);
        if (status) return status;
        memcpy(wall->normal, fields.plane.normal, sizeof wall->normal);
        wall->offset = fields.plane.offset;
    }
    if (status) return status;
    scene->bodies_motion.wall = walls;
    scene->bodies_motion.walls = count;
    return CAROM_OK;
}

static carom_status read_collisions(carom_scene *scene, const carom_node *node, carom_error *error) {
    if (!node) return CAROM_OK;
    wall_fields fields = {.restitution = 1};
    carom_status status = read_map(scene, node, CAROM_FIELD_ROWS(COLLISIONS), &fields, error);
    if (!status) status = set_law(scene, node, &fields, &scene->collisions, error);
    scene->bodies_motion.collisions = &scene->collisions;
    return status;
}

carom_status carom_scene_read_bodies(carom_scene *scene, const carom_scene_bodies_fields *fields, carom_error *error) {
    carom_status status = read_bodies(scene, fields->bodies, error);
    if (!status) status = read_potentials(scene, fields->potentials, error);
    if (!status) status = read_walls(scene, fields->walls, error);
    if (!status) status = read_collisions(scene, fields->collisions, error);
    if (!status) {
        scene->motion.form = CAROM_MOTION_BODIES;
        scene->motion.bodies = &scene->bodies_motion;
    }
    return status;
}
