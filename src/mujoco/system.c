// SPDX-License-Identifier: Apache-2.0
// A MuJoCo model in motion: the terms of its equation of motion M v' + bias = J' lambda, gaps, contact Jacobians and their rates.
//
// MuJoCo has no second derivatives of positions. Slides and hinges make them simple: dJ/dt v is the acceleration of a point at zero joint
// acceleration, and d2p/dq2 has cross products of axes with columns of the Jacobian.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// A point of a body above a plane fixed in the world.
typedef struct plane_contact {
    int body;
    double point[3];  // in the body's frame
    double normal[3], tangent[3], offset;
} plane_contact;

// A carom_system whose terms MuJoCo computes.
typedef struct model_system {
    carom_system base;
    const carom_model *model;
    plane_contact *contacts;
    bool *turns;  // [nv] the coordinate is an angle
    carom_arena arena;
} model_system;

// What one thread computes with.
typedef struct workspace {
    const model_system *system;
    mjData *data;
    double *acceleration;  // [nbody x 6] of bodies at zero joint acceleration, about the centers of their trees
    double *jacobian;      // [3 x nv]
} workspace;

// ---------------------------------------------------------------------------------------------------------- evaluation

// Positions, velocities, M and the bias forces, without collisions and constraints.
static void compute_motion(void *argument) {
    workspace *work = argument;
    const mjModel *compiled = work->system->model->compiled;
    mjData *data = work->data;
    mj_kinematics(compiled, data);
    mj_comPos(compiled, data);
    model_compute_inertia(compiled, data);
    mj_energyPos(compiled, data);
    mj_fwdVelocity(compiled, data);
}

// The point p of a contact in the world, and its Jacobian dp/dq into the workspace.
static void locate_point(const workspace *work, const plane_contact *contact, double point[3]) {
    mju_rotVecMat(point, contact->point, work->data->xmat + 9 * contact->body);
    mju_addTo3(point, work->data->xpos + 3 * contact->body);
    mj_jac(work->system->model->compiled, work->data, work->jacobian, NULL, point, contact->body);
}

// row = direction . dp/dq.
static void project_jacobian(const workspace *work, const double direction[3], double *row) {
    const int nv = work->system->base.nv;
    for (int j = 0; j < nv; j++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += direction[k] * work->jacobian[k * nv + j];
        row[j] = sum;
    }
}

// Mass matrix, bias and contact rows at a position and velocity.
static void evaluate(void *opened, const double *position, const double *velocity, carom_system_terms *terms) {
    workspace *work = opened;
    const mjModel *compiled = work->system->model->compiled;
    const int nv = work->system->base.nv;
    mjData *data = work->data;
    // M; bias = Coriolis, centrifugal and gravitational forces less springs and dampers; potential energy.
    mju_copy(data->qpos, position, nv);
    mju_copy(data->qvel, velocity, nv);
    compute_motion(work);
    model_fill_mass(compiled, data, terms->mass);
    mju_sub(terms->bias, data->qfrc_bias, data->qfrc_passive, nv);
    terms->potential = data->energy[0];

    // Spatial accelerations of all bodies at zero joint acceleration, from the rates of the joint axes: a_body = a_parent + sum S' v.
    mju_zero(work->acceleration, 6);
    for (int body = 1; body < compiled->nbody; body++) {
        double *own = work->acceleration + 6 * body;
        mju_copy(own, work->acceleration + 6 * compiled->body_parentid[body], 6);
        for (int k = 0; k < compiled->body_dofnum[body]; k++) {
            const int dof = compiled->body_dofadr[body] + k;
            mju_addToScl(own, data->cdof_dot + 6 * dof, data->qvel[dof], 6);
        }
    }

    for (int i = 0; i < work->system->base.contacts; i++) {
        const plane_contact *contact = &work->system->contacts[i];
        double point[3];
        locate_point(work, contact, point);
        terms->gap[i] = mju_dot3(contact->normal, point) - contact->offset;
        project_jacobian(work, contact->normal, terms->normal + i * nv);
        project_jacobian(work, contact->tangent, terms->tangent + i * nv);

        // dJ/dt v, the acceleration of the body's material point: a + alpha x r + omega x (v + omega x r), with r from the center about
        // which MuJoCo writes spatial vectors, whose angular part comes first.
        const double *center = data->subtree_com + 3 * compiled->body_rootid[contact->body];
        const double *spatial = work->acceleration + 6 * contact->body, *twist = data->cvel + 6 * contact->body;
        double arm[3], turned[3], speed[3], drift[3];
        mju_sub3(arm, point, center);
        mju_cross(turned, twist, arm);
        mju_add3(speed, twist + 3, turned);
        mju_cross(turned, spatial, arm);
        mju_add3(drift, spatial + 3, turned);
        mju_cross(turned, twist, speed);
        mju_addTo3(drift, turned);
        terms->normal_drift[i] = mju_dot3(contact->normal, drift);
        terms->tangent_drift[i] = mju_dot3(contact->tangent, drift);
    }
}

// d2 p / dq_j dq_l of a point p, for dofs j and l on the way from the world to its body, j the nearer to the world: a hinge j turns what
// dof l does to p, a_j x dp/dq_l; a slide only moves it.
static void curve(void *opened, int index, double *normal, double *tangent) {
    const workspace *work = opened;
    const mjModel *compiled = work->system->model->compiled;
    const plane_contact *contact = &work->system->contacts[index];
    const int nv = work->system->base.nv;
    double point[3];
    locate_point(work, contact, point);
    mju_zero(normal, nv * nv);
    mju_zero(tangent, nv * nv);
    // From the last joint that moves the body towards the world.
    int body = contact->body;
    while (body && !compiled->body_dofnum[body]) body = compiled->body_parentid[body];
    const int last = body ? compiled->body_dofadr[body] + compiled->body_dofnum[body] - 1 : -1;
    for (int l = last; l >= 0; l = compiled->dof_parentid[l]) {
        const double column[3] = {work->jacobian[l], work->jacobian[nv + l], work->jacobian[2 * nv + l]};
        for (int j = l; j >= 0; j = compiled->dof_parentid[j]) {
            if (!work->system->turns[j]) continue;
            double turned[3];
            mju_cross(turned, work->data->xaxis + 3 * compiled->dof_jntid[j], column);
            normal[j * nv + l] = normal[l * nv + j] = mju_dot3(contact->normal, turned);
            tangent[j * nv + l] = tangent[l * nv + j] = mju_dot3(contact->tangent, turned);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- workspaces

// Data of its own for a workspace: a model is shared between threads, its data are not.
static void make_data(void *argument) {
    workspace *work = argument;
    const carom_model *model = work->system->model;
    work->data = mj_makeData(model->compiled);
    if (work->data) mj_copyData(work->data, model->compiled, model->data);
}

static void close_workspace(void *opened) {
    workspace *work = opened;
    if (!work) return;
    if (work->data) mj_deleteData(work->data);
    free(work->acceleration);
    free(work->jacobian);
    free(work);
}

// The first evaluation is guarded: whatever MuJoCo has to say against a model it says there.
static carom_status open_workspace(const void *self, void **opened, carom_error *error) {
    const model_system *system = self;
    *opened = NULL;
    workspace *work = calloc(1, sizeof *work);
    if (!work) return carom_fail_memory(error, system->model->path);
    work->system = system;
    work->acceleration = calloc(6 * (size_t)system->model->compiled->nbody, sizeof *work->acceleration);
    work->jacobian = calloc(3 * (size_t)system->base.nv, sizeof *work->jacobian);
    carom_status status = model_guard_call(make_data, work, error);
    if (!status && (!work->acceleration || !work->jacobian || !work->data)) status = carom_fail_memory(error, system->model->path);
    if (!status) status = model_guard_call(compute_motion, work, error);
    if (status)
        close_workspace(work);
    else
        *opened = work;
    return status;
}

// ------------------------------------------------------------------------------------------------------------ creation

// Puts a point of one body above a plane through the point at the model's state, or at the contact's offset.
static carom_status place_contact(const carom_model *model, const carom_model_contact *contact, int index, plane_contact *placed,
                                  carom_error *error) {
    char label[MODEL_LABEL_SIZE];
    model_label_contact(label, contact->name, index);
    if (contact->places != 1 || contact->place[0].kind == CAROM_PLACE_GEOM)
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "%s: contacts of a motion are points of one body, at a site or with 'body' and 'point', above fixed planes",
                          label);
    model_touch touch;
    const carom_status status = model_locate_contact(model, contact, index, &touch, error);
    if (status) return status;
    placed->body = touch.body[1];
    mju_copy3(placed->normal, touch.normal);
    mju_copy3(placed->tangent, touch.tangent[0]);
    double arm[3];
    mju_sub3(arm, touch.point[1], model->data->xpos + 3 * placed->body);
    mju_rotVecMatT(placed->point, arm, model->data->xmat + 9 * placed->body);
    placed->offset = isnan(contact->offset) ? mju_dot3(touch.normal, touch.point[1]) : contact->offset;
    return CAROM_OK;
}

void carom_model_free_system(carom_system *system) {
    if (!system) return;
    model_system *own = (model_system *)system;
    carom_arena_free(&own->arena);
    free(own);
}

carom_status carom_model_create_system(carom_model *model, const carom_model_contact *contacts, int count, carom_system **system,
                                       carom_error *error) {
    *system = NULL;
    if (count < 1 || count > CAROM_MAX_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT, "a motion needs 1 to %d contacts, not %d", CAROM_MAX_CONTACTS, count);
    mjModel *compiled = model->compiled;
    for (int joint = 0; joint < compiled->njnt; joint++) {
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_JOINT, joint, "number ", name, sizeof name);
        if (compiled->jnt_type[joint] != mjJNT_SLIDE && compiled->jnt_type[joint] != mjJNT_HINGE)
            return carom_fail(error, CAROM_UNSUPPORTED, "%s: joint '%s': motions have slide and hinge joints only", model->path, name);
        if (compiled->jnt_limited[joint] && model_is_enabled(model, mjDSBL_LIMIT))
            return carom_fail(error, CAROM_UNSUPPORTED, "%s: joint '%s': motions do not cover joint stops", model->path, name);
    }
    for (int tendon = 0; tendon < compiled->ntendon; tendon++) {
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_TENDON, tendon, "number ", name, sizeof name);
        if (compiled->tendon_limited[tendon] && model_is_enabled(model, mjDSBL_LIMIT))
            return carom_fail(error, CAROM_UNSUPPORTED, "%s: tendon '%s': motions do not cover limits of tendons", model->path, name);
    }
    if (model_has_friction(model)) return carom_fail(error, CAROM_UNSUPPORTED, "%s: motions do not cover frictionloss", model->path);
    if (compiled->neq) return carom_fail(error, CAROM_UNSUPPORTED, "%s: motions do not cover equality constraints", model->path);
    carom_status status = model_prepare_freeze(model, error);
    if (!status && model_has_actuators(model)) status = model_warn(model, error, "actuators are left out of the motion");
    if (status) return status;

    model_system *created = calloc(1, sizeof *created);
    if (!created) return carom_fail_memory(error, model->path);
    const size_t nv = (size_t)compiled->nv, room = (size_t)count;
    carom_arena *arena = &created->arena;
    double *friction = carom_arena_take(arena, room, sizeof *friction), *restitution = carom_arena_take(arena, room, sizeof *restitution);
    double *position = carom_arena_take(arena, nv, sizeof *position), *velocity = carom_arena_take(arena, nv, sizeof *velocity);
    char(*labels)[MODEL_LABEL_SIZE] = carom_arena_take(arena, nv, sizeof *labels);
    const char **names = carom_arena_take(arena, nv, sizeof *names);
    created->model = model;
    created->contacts = carom_arena_take(arena, room, sizeof *created->contacts);
    created->turns = carom_arena_take(arena, nv, sizeof *created->turns);
    status = arena->failed ? carom_fail_memory(error, model->path) : CAROM_OK;

    bool spatial = false;
    for (int i = 0; i < count && !status; i++) {
        friction[i] = contacts[i].friction;
        restitution[i] = contacts[i].restitution;
        spatial = spatial || contacts[i].tangents == 2;
        status = place_contact(model, &contacts[i], i, &created->contacts[i], error);
    }
    if (status) {
        carom_model_free_system(&created->base);
        return status;
    }
    // Slides and hinges: a joint is a coordinate.
    for (int joint = 0; joint < compiled->njnt; joint++) {
        const int dof = compiled->jnt_dofadr[joint];
        created->turns[dof] = compiled->jnt_type[joint] == mjJNT_HINGE;
        model_write_name(model, mjOBJ_JOINT, joint, "joint ", labels[dof], sizeof labels[dof]);
        names[dof] = labels[dof];
    }
    mju_copy(position, model->data->qpos, carom_model_nv(model));
    mju_copy(velocity, model->data->qvel, carom_model_nv(model));
    compiled->opt.enableflags |= mjENBL_ENERGY;  // MuJoCo computes energies only when told to
    created->base = (carom_system){.self = created,
                                   .nv = carom_model_nv(model),
                                   .contacts = count,
                                   .tangent_dim = spatial ? 2 : 1,
                                   .friction = friction,
                                   .restitution = restitution,
                                   .turns = created->turns,
                                   .names = names,
                                   .position = position,
                                   .velocity = velocity,
                                   .mass = mj_getTotalmass(compiled),
                                   .length = compiled->stat.extent,
                                   .open = open_workspace,
                                   .close = close_workspace,
                                   .evaluate = evaluate,
                                   .curve = curve};
    *system = &created->base;
    return CAROM_OK;
}
