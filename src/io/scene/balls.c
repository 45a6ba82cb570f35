// SPDX-License-Identifier: Apache-2.0
// The form `balls`: balls on a line or in a plane, without friction and spin: Newton's cradle, a billiard break.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/io_internal.h"

enum { BALLS, LENGTHS, MOST_BALLS = CAROM_MAX_VELOCITIES / 2, NAME_SIZE = 32 };

// Balls touch when their gap is no larger than this share of the distance of their centres: the round-off of positions that people type.
#define TOUCHING_GAP 1e-9
// Balls that overlap by more than this share of it are a mistake.
#define MOST_OVERLAP 1e-6

// The map `balls`: masses [kg], radius or radii [m], positions [m], velocities [m/s]; gravity [m/s^2] along minus the last axis; springs of
// stiffness [N/m] to the places `rest`.
typedef struct balls_fields {
    const double *masses, *positions, *velocities, *rest;
    const double *radii;
    double radius, gravity, stiffness;
} balls_fields;

#define COMMON_ROWS                                                                                                                        \
    {"masses",      CAROM_FIELD_VECTOR,      .required = true, .offset = offsetof(balls_fields, masses),                                   \
     .rows = BALLS, .least = CAROM_POSITIVE, .most = HUGE_VAL},                                                                            \
        {"gravity", CAROM_FIELD_NUMBER, .offset = offsetof(balls_fields, gravity), .least = 0, .most = HUGE_VAL},                          \
        {"stiffness", CAROM_FIELD_NUMBER, .offset = offsetof(balls_fields, stiffness), .least = 0, .most = HUGE_VAL},                      \
        {"radii", CAROM_FIELD_VECTOR, .offset = offsetof(balls_fields, radii), .rows = BALLS, .least = CAROM_POSITIVE, .most = HUGE_VAL},  \
    {                                                                                                                                      \
        "radius", CAROM_FIELD_NUMBER, .offset = offsetof(balls_fields, radius), .least = CAROM_POSITIVE, .most = HUGE_VAL                  \
    }

// On a line every ball has one coordinate ...
static const carom_field LINE[] = {
    COMMON_ROWS,
    {"positions", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(balls_fields, positions), .rows = BALLS},
    {"velocities", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(balls_fields, velocities), .rows = BALLS},
    {"rest", CAROM_FIELD_VECTOR, .offset = offsetof(balls_fields, rest), .rows = BALLS},
};

// ... and in a plane a list of two.
static const carom_field PLANE[] = {
    COMMON_ROWS,
    {"positions", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(balls_fields, positions), .rows = BALLS,
     .columns = CAROM_EXACTLY(2)},
    {"velocities", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(balls_fields, velocities), .rows = BALLS,
     .columns = CAROM_EXACTLY(2)},
    {"rest", CAROM_FIELD_MATRIX, .offset = offsetof(balls_fields, rest), .rows = BALLS, .columns = CAROM_EXACTLY(2)},
};

// Whether the balls are on a line or in a plane shows in the first position: a number, or a list.
carom_status carom_scene_read_ball_data(carom_scene *scene, const carom_node *balls, carom_ball_data *data, carom_error *error) {
    balls_fields fields = {0};
    carom_length lengths[LENGTHS] = {[BALLS] = {.least = 2, .most = MOST_BALLS}};
    const carom_node *positions = carom_node_find(balls, "positions");
    const bool plane = positions && positions->first && positions->first->kind == CAROM_NODE_LIST;
    const carom_status status = plane ? carom_fields_read(scene->document, balls, CAROM_FIELD_ROWS(PLANE), lengths, &fields, error)
                                      : carom_fields_read(scene->document, balls, CAROM_FIELD_ROWS(LINE), lengths, &fields, error);
    if (!status && (fields.radii != NULL) == (carom_node_find(balls, "radius") != NULL))
        return carom_document_refuse(scene->document, balls, error, "one of 'radius', of all balls, and 'radii', of each, is needed");
    const carom_node *lonely = carom_node_find(balls, fields.rest ? "rest" : "stiffness");
    if (!status && (fields.rest != NULL) != (carom_node_find(balls, "stiffness") != NULL))
        return carom_document_refuse(scene->document, lonely, error, "'stiffness' and 'rest' belong together: the springs of the balls");
    *data = (carom_ball_data){.count = lengths[BALLS].value,
                              .dim = plane ? 2 : 1,
                              .radius = fields.radius,
                              .radii = fields.radii,
                              .masses = fields.masses,
                              .positions = fields.positions,
                              .velocities = fields.velocities,
                              .gravity = fields.gravity,
                              .stiffness = fields.stiffness,
                              .rest = fields.rest};
    return status;
}

// All pairs are compared: n (n - 1) / 2 distances, before anything is allocated for them.
carom_status carom_scene_pair_balls(carom_scene *scene, const carom_node *balls, const carom_ball_data *data, bool moves,
                                    carom_ball_pairs *pairs, carom_error *error) {
    *pairs = (carom_ball_pairs){0};
    for (int i = 0; i < data->count; i++)
        for (int j = i + 1; j < data->count; j++)
            if (carom_ball_distance(data, i, j) < (carom_ball_radius(data, i) + carom_ball_radius(data, j)) * (1 - MOST_OVERLAP))
                return carom_document_refuse(scene->document, balls, error, "balls %d and %d overlap: their centres are %g apart", i + 1,
                                             j + 1, carom_ball_distance(data, i, j));
    // A motion has all pairs that may ever touch.
    if (moves && carom_ball_neighbours(data, pairs)) return CAROM_OK;
    if (moves)
        return carom_document_refuse(scene->document, balls, error, "%d balls in a plane have more than %d pairs: too many for a motion",
                                     data->count, CAROM_MAX_CONTACTS);
    for (int i = 0; i < data->count; i++)
        for (int j = i + 1; j < data->count; j++) {
            if (carom_ball_distance(data, i, j) > (carom_ball_radius(data, i) + carom_ball_radius(data, j)) * (1 + TOUCHING_GAP)) continue;
            if (pairs->count == CAROM_MAX_CONTACTS)
                return carom_document_refuse(scene->document, balls, error, "more than %d pairs of balls touch", CAROM_MAX_CONTACTS);
            pairs->pair[pairs->count][0] = i;
            pairs->pair[pairs->count++][1] = j;
        }
    if (pairs->count == 0)
        return carom_document_refuse(scene->document, balls, error, "no two balls touch: nothing collides in this state");
    return CAROM_OK;
}

// M is diagonal; contacts are frictionless, so that Jt is left out.
carom_status carom_ball_freeze(const carom_ball_data *data, const carom_ball_pairs *pairs, carom_impact **impact, carom_error *error) {
    const size_t dim = (size_t)data->dim, nv = (size_t)data->count * dim, contacts = (size_t)pairs->count;
    carom_arena arena = {0};
    double *mass = carom_arena_take(&arena, nv * nv, sizeof *mass);
    double *normal = carom_arena_take(&arena, contacts * nv, sizeof *normal);
    char(*texts)[NAME_SIZE] = carom_arena_take(&arena, contacts, sizeof *texts);
    const char **names = carom_arena_take(&arena, contacts, sizeof *names);
    char(*velocity_texts)[NAME_SIZE] = carom_arena_take(&arena, nv, sizeof *velocity_texts);
    const char **velocity_names = carom_arena_take(&arena, nv, sizeof *velocity_names);
    bool *turns = carom_arena_take(&arena, nv, sizeof *turns);
    carom_status status = arena.failed ? carom_fail_memory(error, "balls") : CAROM_OK;
    // Velocities are called ball1.x, ball1.y, ball2.x and so on.
    for (size_t k = 0; !status && k < nv; k++) {
        mass[k * nv + k] = data->masses[k / dim];
        snprintf(velocity_texts[k], NAME_SIZE, "ball%d.%c", (int)(k / dim) + 1, "xy"[k % dim]);
        velocity_names[k] = velocity_texts[k];
    }

    // The normal of balls i and j points from i to j: its row is -n at i and n at j.
    for (size_t c = 0; !status && c < contacts; c++) {
        const int i = pairs->pair[c][0], j = pairs->pair[c][1];
        const double distance = carom_ball_distance(data, i, j);
        const size_t a = (size_t)i * dim, b = (size_t)j * dim;
        for (size_t k = 0; k < dim; k++) {
            const double component = (data->positions[b + k] - data->positions[a + k]) / distance;
            normal[c * nv + a + k] = -component;
            normal[c * nv + b + k] = component;
        }
        snprintf(texts[c], NAME_SIZE, "%d:%d", i + 1, j + 1);
        names[c] = texts[c];
    }
    if (!status)
        status = carom_impact_create(&(carom_impact_data){.nv = (int)nv,
                                                          .contacts = pairs->count,
                                                          .tangent_dim = 1,
                                                          .mass = mass,
                                                          .normal = normal,
                                                          .velocity = data->velocities,
                                                          .names = names,
                                                          .velocity_names = velocity_names,
                                                          .velocity_turns = turns},
                                     impact, error);
    carom_arena_free(&arena);
    return status;
}

// The impact of the pairs that touch, and for an integrator the system of all that may.
static carom_status read_balls(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    (void)digest;
    const carom_node *balls = carom_node_find(root, "balls");
    carom_ball_data data;
    carom_ball_pairs *pairs = malloc(sizeof *pairs);
    if (!pairs) return carom_fail_memory(error, carom_scene_path(scene));
    carom_status status = carom_scene_read_ball_data(scene, balls, &data, error);
    if (!status) status = carom_scene_pair_balls(scene, balls, &data, scene->moves, pairs, error);
    if (!status) {
        scene->ball_data = data;
        carom_error inner;
        status = carom_ball_freeze(&data, pairs, &scene->impact, &inner);
        if (!status && scene->moves) status = carom_ball_create_system(&data, pairs, &scene->balls, &inner);
        if (status) carom_document_pass_on(scene->document, balls, &inner, error);
    }
    if (scene->balls) {
        scene->motion.form = CAROM_MOTION_SYSTEM;
        scene->motion.system = scene->balls;
    }
    free(pairs);
    return status;
}

static const carom_field KEYS[] = {{"balls", CAROM_FIELD_MAP, .offset = 0}};

const carom_scene_form carom_scene_form_balls = {"balls", CAROM_FIELD_TABLE(KEYS), .read = read_balls};
