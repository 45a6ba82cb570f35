// SPDX-License-Identifier: Apache-2.0
// Scenes of equal-sized balls on a line or in a plane, without friction and spin: Newton's cradle, a billiard break.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/io_internal.h"

enum { BALLS, DIMENSION, LENGTHS, MOST_BALLS = CAROM_MAX_VELOCITIES / 2, NAME_SIZE = 32 };

// Balls touch when their gap is no larger than this share of their diameter: the round-off of positions that people type.
#define TOUCHING_GAP 1e-9
// Balls that overlap by more than this share of their diameter are a mistake.
#define MOST_OVERLAP 1e-6

typedef struct balls_fields {
    const double *masses, *positions, *velocities, *rest;
    double radius, gravity, stiffness;
} balls_fields;

#define COMMON_ROWS                                                                                                                        \
    {"masses",      CAROM_FIELD_VECTOR,      .required = true, .offset = offsetof(balls_fields, masses),                                   \
     .rows = BALLS, .least = CAROM_POSITIVE, .most = HUGE_VAL},                                                                            \
        {"gravity", CAROM_FIELD_NUMBER, .offset = offsetof(balls_fields, gravity), .least = 0, .most = HUGE_VAL},                          \
        {"stiffness", CAROM_FIELD_NUMBER, .offset = offsetof(balls_fields, stiffness), .least = 0, .most = HUGE_VAL}, {                    \
        "radius", CAROM_FIELD_NUMBER, .required = true, .offset = offsetof(balls_fields, radius), .least = CAROM_POSITIVE,                 \
                                      .most = HUGE_VAL                                                                                     \
    }

static const carom_field LINE[] = {
    COMMON_ROWS,
    {"positions", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(balls_fields, positions), .rows = BALLS},
    {"velocities", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(balls_fields, velocities), .rows = BALLS},
    {"rest", CAROM_FIELD_VECTOR, .offset = offsetof(balls_fields, rest), .rows = BALLS},
};

static const carom_field PLANE[] = {
    COMMON_ROWS,
    {"positions", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(balls_fields, positions), .rows = BALLS, .columns = DIMENSION},
    {"velocities", CAROM_FIELD_MATRIX, .required = true, .offset = offsetof(balls_fields, velocities), .rows = BALLS, .columns = DIMENSION},
    {"rest", CAROM_FIELD_MATRIX, .offset = offsetof(balls_fields, rest), .rows = BALLS, .columns = DIMENSION},
};

carom_status carom_scene_read_ball_data(carom_scene *scene, const carom_node *balls, carom_ball_data *data, carom_error *error) {
    balls_fields fields = {0};
    carom_length lengths[LENGTHS] = {[BALLS] = {.least = 2, .most = MOST_BALLS}, [DIMENSION] = {.least = 2, .most = 2, .value = 2}};
    const carom_node *positions = carom_node_find(balls, "positions");
    const bool plane = positions && positions->first && positions->first->kind == CAROM_NODE_LIST;
    const carom_status status = plane ? carom_fields_read(scene->document, balls, CAROM_FIELD_ROWS(PLANE), lengths, &fields, error)
                                      : carom_fields_read(scene->document, balls, CAROM_FIELD_ROWS(LINE), lengths, &fields, error);
    const carom_node *lonely = carom_node_find(balls, fields.rest ? "rest" : "stiffness");
    if (!status && (fields.rest != NULL) != (carom_node_find(balls, "stiffness") != NULL))
        return carom_document_refuse(scene->document, lonely, error, "'stiffness' and 'rest' belong together: the springs of the balls");
    *data = (carom_ball_data){.count = lengths[BALLS].value,
                              .dim = plane ? 2 : 1,
                              .radius = fields.radius,
                              .masses = fields.masses,
                              .positions = fields.positions,
                              .velocities = fields.velocities,
                              .gravity = fields.gravity,
                              .stiffness = fields.stiffness,
                              .rest = fields.rest};
    return status;
}

static carom_status check_overlap(carom_scene *scene, const carom_node *balls, const carom_ball_data *data, carom_error *error) {
    for (int i = 0; i < data->count; i++)
        for (int j = i + 1; j < data->count; j++)
            if (carom_ball_distance(data, i, j) < 2 * data->radius * (1 - MOST_OVERLAP))
                return carom_document_refuse(scene->document, balls, error, "balls %d and %d overlap: their centres are %g apart", i + 1,
                                             j + 1, carom_ball_distance(data, i, j));
    return CAROM_OK;
}

carom_status carom_scene_pair_balls(carom_scene *scene, const carom_node *balls, const carom_ball_data *data, carom_ball_pairs *pairs,
                                    carom_error *error) {
    *pairs = (carom_ball_pairs){0};
    const carom_status status = check_overlap(scene, balls, data, error);
    if (status) return status;
    for (int i = 0; i < data->count; i++)
        for (int j = i + 1; j < data->count; j++) {
            if (carom_ball_distance(data, i, j) > 2 * data->radius * (1 + TOUCHING_GAP)) continue;
            if (pairs->count == CAROM_MAX_CONTACTS)
                return carom_document_refuse(scene->document, balls, error, "more than %d pairs of balls touch", CAROM_MAX_CONTACTS);
            pairs->pair[pairs->count][0] = i;
            pairs->pair[pairs->count++][1] = j;
        }
    if (pairs->count == 0)
        return carom_document_refuse(scene->document, balls, error, "no two balls touch: nothing collides in this state");
    return CAROM_OK;
}

/// The pairs of a motion: all that may ever touch.
static carom_status pair_moving_balls(carom_scene *scene, const carom_node *balls, const carom_ball_data *data, carom_ball_pairs *pairs,
                                      carom_error *error) {
    const carom_status status = check_overlap(scene, balls, data, error);
    if (status || carom_ball_neighbours(data, pairs)) return status;
    return carom_document_refuse(scene->document, balls, error, "%d balls in a plane have more than %d pairs: too many for a motion",
                                 data->count, CAROM_MAX_CONTACTS);
}

/// The row of the contact between balls i and j: the normal points from i to j.
static void fill_row(const carom_ball_data *data, int i, int j, double *row) {
    const double distance = carom_ball_distance(data, i, j);
    const size_t dim = (size_t)data->dim, a = (size_t)i * dim, b = (size_t)j * dim;
    for (size_t k = 0; k < dim; k++) {
        const double component = (data->positions[b + k] - data->positions[a + k]) / distance;
        row[a + k] = -component;
        row[b + k] = component;
    }
}

carom_status carom_ball_freeze(const carom_ball_data *data, const carom_ball_pairs *pairs, carom_impact **impact, carom_error *error) {
    const size_t nv = (size_t)data->count * (size_t)data->dim, contacts = (size_t)pairs->count;
    double *mass = calloc((nv + contacts) * nv, sizeof *mass), *normal = mass + nv * nv;
    char(*texts)[NAME_SIZE] = malloc(contacts * sizeof *texts);
    const char **names = malloc(contacts * sizeof *names);
    carom_status status = mass && texts && names ? CAROM_OK : carom_fail_memory(error, "balls");
    for (size_t k = 0; !status && k < nv; k++) mass[k * nv + k] = data->masses[k / (size_t)data->dim];
    for (size_t c = 0; !status && c < contacts; c++) {
        fill_row(data, pairs->pair[c][0], pairs->pair[c][1], normal + c * nv);
        snprintf(texts[c], NAME_SIZE, "%d:%d", pairs->pair[c][0] + 1, pairs->pair[c][1] + 1);
        names[c] = texts[c];
    }
    if (!status)
        status = carom_impact_create(&(carom_impact_data){.nv = (int)nv,
                                                          .contacts = pairs->count,
                                                          .tangent_dim = 1,
                                                          .mass = mass,
                                                          .normal = normal,
                                                          .velocity = data->velocities,
                                                          .names = names},
                                     impact, error);
    free(mass);
    free(texts);
    free(names);
    return status;
}

carom_status carom_scene_read_balls(carom_scene *scene, const carom_node *balls, carom_error *error) {
    carom_ball_data data;
    carom_ball_pairs *pairs = malloc(sizeof *pairs);
    if (!pairs) return carom_fail_memory(error, carom_scene_path(scene));
    carom_error inner;
    carom_status status = carom_scene_read_ball_data(scene, balls, &data, error);
    if (!status)
        status =
            scene->moves ? pair_moving_balls(scene, balls, &data, pairs, error) : carom_scene_pair_balls(scene, balls, &data, pairs, error);
    if (!status) {
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
