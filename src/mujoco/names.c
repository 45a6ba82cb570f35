// SPDX-License-Identifier: Apache-2.0
// What the parts of an impact are called: each velocity by its joint, and where each contact is.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// Room for the number of a name that is taken, and for an ending such as .wx.
enum { NUMBER_SIZE = 12, ENDING_SIZE = 4, PREFIX_SIZE = CAROM_MAX_NAME + 1 - NUMBER_SIZE - ENDING_SIZE };

// The velocities of a joint, in MuJoCo's order: a free joint's linear ones along the world's axes, then angular ones about the body's.
static const char *const endings[] = {".x", ".y", ".z", ".wx", ".wy", ".wz"};

// A joint's own name; a free joint without one has that of its body, or `base`.
static void write_prefix(const carom_model *model, int joint, char prefix[PREFIX_SIZE]) {
    const mjModel *compiled = model->compiled;
    const char *given = mj_id2name(compiled, mjOBJ_JOINT, joint);
    const int body = compiled->jnt_bodyid[joint];
    const char *bodys = mj_id2name(compiled, mjOBJ_BODY, body);
    if (compiled->jnt_type[joint] != mjJNT_FREE || (given && *given))
        model_write_name(model, mjOBJ_JOINT, joint, "joint", prefix, PREFIX_SIZE);
    else if (bodys && *bodys)
        model_write_name(model, mjOBJ_BODY, body, "body", prefix, PREFIX_SIZE);
    else
        snprintf(prefix, PREFIX_SIZE, "base");
}

const char *model_suggest(const carom_model *model, int type, int count, const char *name, char text[CAROM_SUGGESTION_SIZE]) {
    carom_suggestion suggestion = {.wanted = name};
    for (int i = 0; i < count; i++) {
        const char *own = mj_id2name(model->compiled, type, i);
        if (own && *own) carom_suggestion_offer(&suggestion, own);
    }
    return carom_suggestion_phrase(&suggestion, text);
}

void model_name_velocities(const carom_model *model, model_velocity_name *names, bool *turns) {
    const mjModel *compiled = model->compiled;
    for (int joint = 0; joint < compiled->njnt; joint++) {
        const int type = compiled->jnt_type[joint], first = compiled->jnt_dofadr[joint];
        const int count = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
        char prefix[PREFIX_SIZE];
        write_prefix(model, joint, prefix);
        // Cut or borrowed names may be taken: then the first number that makes all velocities of the joint distinct from those before.
        bool taken = true;
        for (int number = 1; taken; number++) {
            char suffix[NUMBER_SIZE] = "";
            if (number > 1) snprintf(suffix, sizeof suffix, ":%d", number);
            taken = false;
            for (int k = 0; k < count; k++) {
                const char *ending = count == 1 ? "" : endings[type == mjJNT_BALL ? 3 + k : k];
                snprintf(names[first + k], sizeof names[0], "%s%s%s", prefix, suffix, ending);
                turns[first + k] = type == mjJNT_HINGE || type == mjJNT_BALL || k >= 3;
                for (int i = 0; i < first && !taken; i++) taken = !strcmp(names[i], names[first + k]);
            }
        }
    }
}

// Joints between a body and one of those that carry it in its robot; 0 where neither carries the other.
static int count_joints(const mjModel *compiled, const int bodies[2]) {
    for (int side = 0; side < 2; side++) {
        int joints = 0;
        for (int body = bodies[side]; body > 0; body = compiled->body_parentid[body]) {
            if (body == bodies[1 - side]) return joints;
            joints += compiled->body_jntnum[body];
        }
    }
    return 0;
}

void model_describe_touches(const carom_model *model, const model_touch *const *touches, int count, int tangent_dim, carom_arena *arena,
                            carom_contact_geometry *geometry) {
    const size_t rows = (size_t)count;
    double *points = carom_arena_take(arena, 3 * rows, sizeof *points), *normals = carom_arena_take(arena, 3 * rows, sizeof *normals);
    double *tangents = carom_arena_take(arena, 3 * rows * (size_t)tangent_dim, sizeof *tangents);
    const char **bodies = carom_arena_take(arena, 2 * rows, sizeof *bodies), **geoms = carom_arena_take(arena, 2 * rows, sizeof *geoms);
    char(*texts)[MODEL_LABEL_SIZE] = carom_arena_take(arena, 4 * rows, sizeof *texts);
    double *gaps = carom_arena_take(arena, rows, sizeof *gaps);
    int *joints = carom_arena_take(arena, rows, sizeof *joints);
    if (arena->failed) return;
    for (int i = 0; i < count; i++) {
        const model_touch *touch = touches[i];
        gaps[i] = touch ? touch->gap : NAN;
        joints[i] = touch ? count_joints(model->compiled, touch->body) : 0;
        for (int k = 0; k < 3; k++) {
            points[3 * i + k] = touch ? touch->meeting[k] : NAN;
            normals[3 * i + k] = touch ? touch->normal[k] : NAN;
            for (int t = 0; t < tangent_dim; t++) tangents[3 * (i * tangent_dim + t) + k] = touch ? touch->tangent[t][k] : NAN;
        }
        for (int side = 0; touch && side < 2; side++) {
            char(*own)[MODEL_LABEL_SIZE] = texts + 4 * i + 2 * side;
            model_write_name(model, mjOBJ_BODY, touch->body[side], "body", own[0], sizeof own[0]);
            bodies[2 * i + side] = own[0];
            if (touch->geom[side] < 0) continue;
            model_write_name(model, mjOBJ_GEOM, touch->geom[side], "geom", own[1], sizeof own[1]);
            geoms[2 * i + side] = own[1];
        }
    }
    *geometry = (carom_contact_geometry){.points = points,
                                         .normals = normals,
                                         .tangents = tangents,
                                         .bodies = bodies,
                                         .geoms = geoms,
                                         .gaps = gaps,
                                         .joints = joints,
                                         .nq = model_count(model->compiled->nq),
                                         .qpos = model->data->qpos};
}
