// SPDX-License-Identifier: Apache-2.0
// What a scene looks like: its bodies as solids, and where its contacts are.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/quaternion.h"
#include "carom/vector3.h"
#include "io/io_internal.h"

enum { NAME_SIZE = 32 };

static const char *number_body(const char *kind, int index, carom_arena *arena) {
    char *text = carom_arena_take(arena, NAME_SIZE, 1);
    if (text) snprintf(text, NAME_SIZE, "%s%d", kind, index + 1);
    return text ? text : "";
}

// A plane where normal.x + offset = 0, which is solid below; no motion moves it.
static carom_solid make_plane(const char *name, const double normal[3], double offset) {
    carom_solid plane = {.kind = CAROM_SOLID_PLANE, .name = name, .body = "world", .fixed = true};
    double unit[3], tangents[6];
    const double length = carom_norm3(normal);
    for (int k = 0; k < 3; k++) unit[k] = normal[k] / length;
    carom_complete_frame3(unit, tangents);
    for (int k = 0; k < 3; k++) {
        plane.rotation[3 * k] = tangents[k];
        plane.rotation[3 * k + 1] = tangents[3 + k];
        plane.rotation[3 * k + 2] = unit[k];
        plane.position[k] = -offset / length * unit[k];
    }
    return plane;
}

static carom_status take_body(const carom_body_motion *motion, carom_arena *arena, carom_solids *solids, carom_error *error) {
    carom_solids parts;
    const carom_body_state *state = &motion->initial;
    const carom_status status = carom_body_solids(motion->body, state->position, state->attitude, arena, &parts, error);
    if (status) return status;
    solids->count = parts.count + 1;
    solids->solid = carom_arena_take(arena, (size_t)solids->count, sizeof *solids->solid);
    solids->tree = carom_arena_take(arena, 1, sizeof *solids->tree);
    if (arena->failed) return carom_fail_memory(error, "solids");
    solids->solid[0] = make_plane("plane", motion->plane_normal, motion->plane_offset);
    memcpy(solids->solid + 1, parts.solid, (size_t)parts.count * sizeof *parts.solid);
    solids->trees = 1;
    solids->tree[0].name = "body";
    for (int k = 0; k < 3; k++) {
        solids->tree[0].center[k] = state->position[k];
        solids->tree[0].velocity[k] = state->momentum[k] / carom_body_mass(motion->body);
    }
    return CAROM_OK;
}

// Spheres, and planes of walls and of forces between bodies and planes.
static carom_status take_bodies(const carom_bodies_motion *motion, carom_arena *arena, carom_solids *solids, carom_error *error) {
    int planes = motion->walls;
    for (int i = 0; i < motion->potentials; i++)
        if (motion->potential[i].type == CAROM_POTENTIAL_HERTZ) planes += motion->potential[i].hertz.planes;
    solids->solid = carom_arena_take(arena, (size_t)motion->bodies + (size_t)planes, sizeof *solids->solid);
    solids->tree = carom_arena_take(arena, (size_t)motion->bodies, sizeof *solids->tree);
    if (arena->failed) return carom_fail_memory(error, "solids");
    for (int i = 0; i < motion->walls; i++)
        solids->solid[solids->count++] = make_plane("wall", motion->wall[i].normal, motion->wall[i].offset);
    for (int i = 0; i < motion->potentials; i++)
        for (int k = 0; motion->potential[i].type == CAROM_POTENTIAL_HERTZ && k < motion->potential[i].hertz.planes; k++) {
            const double *plane = motion->potential[i].hertz.plane + 4 * k;
            solids->solid[solids->count++] = make_plane("plane", plane, plane[3]);
        }
    solids->trees = motion->bodies;
    for (int i = 0; i < motion->bodies; i++) {
        const carom_particle *body = &motion->body[i];
        carom_solid *solid = &solids->solid[solids->count++];
        *solid = (carom_solid){
            .kind = CAROM_SOLID_SPHERE, .name = "", .body = number_body("body", i, arena), .body_index = i + 1, .size = {body->radius}};
        memcpy(solid->position, body->position, sizeof solid->position);
        for (int k = 0; k < 3; k++) {
            double axis[3] = {0}, turned[3];
            axis[k] = 1;
            carom_quaternion_rotate(body->attitude, axis, turned);
            for (int r = 0; r < 3; r++) solid->rotation[3 * r + k] = turned[r];
        }
        solids->tree[i].name = solid->body;
        memcpy(solids->tree[i].center, body->position, sizeof solid->position);
        memcpy(solids->tree[i].velocity, body->velocity, sizeof solid->position);
    }
    return arena->failed ? carom_fail_memory(error, "solids") : CAROM_OK;
}

// The first coordinate of a ball is x, the second z.
static void place_ball(const carom_ball_data *data, const double *values, int ball, double place[3]) {
    place[0] = values[ball * data->dim];
    place[1] = 0;
    place[2] = data->dim > 1 ? values[ball * data->dim + 1] : 0;
}

static carom_status take_balls(const carom_ball_data *data, const double *velocity, double time, carom_arena *arena, carom_solids *solids,
                               carom_error *error) {
    solids->solid = carom_arena_take(arena, (size_t)data->count, sizeof *solids->solid);
    solids->tree = carom_arena_take(arena, (size_t)data->count, sizeof *solids->tree);
    if (arena->failed) return carom_fail_memory(error, "solids");
    solids->count = solids->trees = data->count;
    for (int i = 0; i < data->count; i++) {
        carom_solid *solid = &solids->solid[i];
        carom_solid_tree *tree = &solids->tree[i];
        *solid = (carom_solid){.kind = CAROM_SOLID_SPHERE,
                               .name = "",
                               .body = number_body("ball", i, arena),
                               .body_index = i + 1,
                               .size = {carom_ball_radius(data, i)}};
        memcpy(solid->rotation, CAROM_IDENTITY3, sizeof solid->rotation);
        place_ball(data, data->positions, i, solid->position);
        place_ball(data, velocity ? velocity : data->velocities, i, tree->velocity);
        carom_add3(time, tree->velocity, solid->position);
        tree->name = solid->body;
        memcpy(tree->center, solid->position, sizeof tree->center);
    }
    return arena->failed ? carom_fail_memory(error, "solids") : CAROM_OK;
}

// The impact's velocities are those of the free bodies: of the centre of mass, then angular. A segment turns as its body does; to first
// order in the time, which is short.
static carom_status take_pair(const carom_two_bodies_data *pair, const double *velocity, double time, carom_arena *arena,
                              carom_solids *solids, carom_error *error) {
    solids->solid = carom_arena_take(arena, 2, sizeof *solids->solid);
    solids->tree = carom_arena_take(arena, 2, sizeof *solids->tree);
    if (arena->failed) return carom_fail_memory(error, "solids");
    for (int i = 0; i < 2; i++) {
        const carom_touching_body *body = &pair->body[i];
        if (body->fixed) {
            // What does not move is a plane at the contact: below it where it is the first body.
            double normal[3];
            for (int k = 0; k < 3; k++) normal[k] = i ? -pair->directions[0][k] : pair->directions[0][k];
            solids->solid[solids->count++] = make_plane("body", normal, 0);
            continue;
        }
        const double rest[3] = {0}, *linear = velocity ? velocity : body->velocity ? body->velocity : rest;
        const double *angular = velocity ? velocity + 3 : body->angular_velocity ? body->angular_velocity : rest;
        if (velocity) velocity += 6;
        // The arm turned about the angular velocity, at its length.
        double arm[3], turn[3];
        const double length = carom_norm3(body->arm);
        carom_cross3(angular, body->arm, turn);
        for (int k = 0; k < 3; k++) arm[k] = body->arm[k] + time * turn[k];
        const double stretched = carom_norm3(arm);
        for (int k = 0; k < 3 && stretched > 0; k++) arm[k] *= length / stretched;
        carom_solid *solid = &solids->solid[solids->count++];
        carom_solid_tree *tree = &solids->tree[solids->trees++];
        tree->name = number_body("body", i, arena);
        for (int k = 0; k < 3; k++) {
            tree->velocity[k] = linear[k];
            tree->center[k] = -body->arm[k] + time * linear[k];
        }
        *solid = (carom_solid){.kind = length > 0 ? CAROM_SOLID_CAPSULE : CAROM_SOLID_SPHERE,
                               .name = "",
                               .body = tree->name,
                               .body_index = i + 1,
                               .size = {0, 0.5 * length}};
        double along[3] = {0, 0, 1}, tangents[6];
        for (int k = 0; k < 3 && length > 0; k++) along[k] = arm[k] / length;
        carom_complete_frame3(along, tangents);
        for (int k = 0; k < 3; k++) {
            solid->rotation[3 * k] = tangents[k];
            solid->rotation[3 * k + 1] = tangents[3 + k];
            solid->rotation[3 * k + 2] = along[k];
            solid->position[k] = tree->center[k] + 0.5 * arm[k];
        }
    }
    return arena->failed ? carom_fail_memory(error, "solids") : CAROM_OK;
}

carom_status carom_scene_solids(const carom_scene *scene, const double *velocity, double time, carom_arena *arena, carom_solids *solids,
                                carom_error *error) {
    *solids = (carom_solids){0};
    if (scene->model) return carom_model_solids(scene->model, velocity, time, arena, solids, error);
    if (scene->motion.form == CAROM_MOTION_BODY) return take_body(scene->motion.body, arena, solids, error);
    if (scene->motion.form == CAROM_MOTION_BODIES) return take_bodies(scene->motion.bodies, arena, solids, error);
    if (scene->ball_data.count) return take_balls(&scene->ball_data, velocity, time, arena, solids, error);
    if (scene->pair.tangent_dim) return take_pair(&scene->pair, velocity, time, arena, solids, error);
    return carom_fail(error, CAROM_UNSUPPORTED, "%s: the scene has matrices, and no bodies that could be drawn", carom_scene_path(scene));
}

// The numbers of a recorded state in a column of reals or a series; NULL without such a column.
static const double *find_numbers(const carom_table *states, int64_t row, const char *name) {
    const int index = carom_table_find(states, name);
    int count;
    if (index < 0) return NULL;
    const carom_column *column = carom_table_column(states, index);
    if (column->type == CAROM_COLUMN_SERIES) return carom_table_series(states, index, row, &count);
    return carom_table_real_column(states, index) + row * carom_column_width(column, carom_table_sizes(states));
}

// A model at another state, and back.
static carom_status take_model_at(carom_model *model, const double *qpos, const double *qvel, carom_arena *arena, carom_solids *solids,
                                  carom_error *error) {
    const int nq = carom_model_nq(model), nv = carom_model_nv(model);
    double *kept = carom_arena_take(arena, (size_t)nq + (size_t)nv, sizeof *kept);
    if (arena->failed) return carom_fail_memory(error, "solids");
    memcpy(kept, carom_model_qpos(model), (size_t)nq * sizeof *kept);
    memcpy(kept + nq, carom_model_qvel(model), (size_t)nv * sizeof *kept);
    carom_status status = carom_model_set_state(model, qpos, nq, qvel, nv, error);
    if (!status) status = carom_model_solids(model, NULL, 0, arena, solids, error);
    carom_error ignored;
    carom_model_set_state(model, kept, nq, kept + nq, nv, &ignored);
    return status;
}

carom_status carom_scene_solids_at(const carom_scene *scene, const carom_table *states, int64_t row, carom_arena *arena,
                                   carom_solids *solids, carom_error *error) {
    *solids = (carom_solids){0};
    const double *qpos = find_numbers(states, row, "qpos"), *qvel = find_numbers(states, row, "qvel");
    const double *position = find_numbers(states, row, "position"), *attitude = find_numbers(states, row, "attitude");
    const double *momentum = find_numbers(states, row, "momentum"), *velocity = find_numbers(states, row, "velocity");
    if (scene->model && qpos && qvel) return take_model_at(scene->model, qpos, qvel, arena, solids, error);
    if (scene->ball_data.count && qpos && qvel) {
        carom_ball_data balls = scene->ball_data;
        balls.positions = qpos;
        balls.velocities = qvel;
        return take_balls(&balls, NULL, 0, arena, solids, error);
    }
    if (scene->motion.form == CAROM_MOTION_BODY && position && attitude && momentum) {
        carom_body_motion motion = *scene->motion.body;
        memcpy(motion.initial.position, position, sizeof motion.initial.position);
        memcpy(motion.initial.attitude, attitude, sizeof motion.initial.attitude);
        memcpy(motion.initial.momentum, momentum, sizeof motion.initial.momentum);
        return take_body(&motion, arena, solids, error);
    }
    if (scene->motion.form == CAROM_MOTION_BODIES && position && attitude && velocity) {
        carom_bodies_motion motion = *scene->motion.bodies;
        carom_particle *moved = carom_arena_take(arena, (size_t)motion.bodies, sizeof *moved);
        if (arena->failed) return carom_fail_memory(error, "solids");
        for (int i = 0; i < motion.bodies; i++) {
            moved[i] = motion.body[i];
            memcpy(moved[i].position, position + 3 * i, sizeof moved[i].position);
            memcpy(moved[i].attitude, attitude + 4 * i, sizeof moved[i].attitude);
            memcpy(moved[i].velocity, velocity + 3 * i, sizeof moved[i].velocity);
        }
        motion.body = moved;
        return take_bodies(&motion, arena, solids, error);
    }
    return carom_fail(error, CAROM_UNSUPPORTED, "%s: the recorded states do not say where bodies are", carom_scene_path(scene));
}

carom_status carom_scene_contacts(const carom_scene *scene, carom_arena *arena, carom_scene_places *places, carom_error *error) {
    *places = (carom_scene_places){0};
    if (!scene->impact) return CAROM_OK;
    const carom_impact_data *data = carom_impact_get_data(scene->impact);
    const carom_contact_geometry *geometry = data->geometry;
    if (geometry) {
        *places = (carom_scene_places){geometry->points, geometry->normals, geometry->tangents};
        return CAROM_OK;
    }
    const size_t contacts = (size_t)data->contacts, dim = (size_t)data->tangent_dim;
    double *points = carom_arena_take(arena, 3 * contacts, sizeof *points),
           *normals = carom_arena_take(arena, 3 * contacts, sizeof *normals);
    double *tangents = carom_arena_take(arena, 3 * contacts * dim, sizeof *tangents);
    if (arena->failed) return carom_fail_memory(error, "contacts");
    *places = (carom_scene_places){points, normals, tangents};
    for (size_t i = 0; i < contacts; i++) {
        for (size_t k = 0; k < 3; k++) points[3 * i + k] = normals[3 * i + k] = NAN;
        if (scene->pair.tangent_dim) {
            for (size_t k = 0; k < 3; k++) points[3 * i + k] = 0;
            memcpy(normals + 3 * i, scene->pair.directions[0], 3 * sizeof *normals);
            memcpy(tangents + 3 * i * dim, scene->pair.directions[1], 3 * dim * sizeof *tangents);
        }
        if (!scene->ball_data.count) continue;
        // The row of a contact tells its balls: the normal points from the first to the second.
        const carom_ball_data *balls = &scene->ball_data;
        const double *row = data->normal + i * (size_t)data->nv;
        int first = -1, second = -1;
        for (int k = 0; k < data->nv; k++)
            if (row[k] != 0) *(first < 0 || first == k / balls->dim ? &first : &second) = k / balls->dim;
        double from[3], to[3];
        place_ball(balls, balls->positions, first, from);
        place_ball(balls, balls->positions, second, to);
        place_ball(balls, row, second, normals + 3 * i);
        // Perpendicular to it in the plane; no friction acts there.
        tangents[3 * i] = normals[3 * i + 2];
        tangents[3 * i + 2] = -normals[3 * i];
        const double near = carom_ball_radius(balls, first), share = near / (near + carom_ball_radius(balls, second));
        for (size_t k = 0; k < 3; k++) points[3 * i + k] = from[k] + share * (to[k] - from[k]);
    }
    return CAROM_OK;
}
