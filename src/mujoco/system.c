// SPDX-License-Identifier: Apache-2.0
// A MuJoCo model in motion: the terms of its equation of motion M v' + bias = J' lambda, gaps, contact Jacobians and their rates.
//
// MuJoCo has no second derivatives of positions. Slides and hinges make them simple: dJ/dt v is the acceleration of a point at zero joint
// acceleration, and d2p/dq2 has cross products of axes with columns of the Jacobian.
//
// What touches a plane is a sphere about a point of a body; its radius is zero where the point itself touches. A sphere rolls: always
// another material point of it is the lowest one. It lies at c - r n, so that the gap n.c - r - offset has the rate n.dc/dt, and the slip
// is t.(dc/dt - omega x r n), in which only c and omega change with time.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// Who asks for a mechanism with listed contacts.
#define UNHEEDING " (integrators inclusion and propagative, carom compliant)"

// A listed contact, or a joint before one of its stops.
typedef struct model_contact {
    model_plane_contact plane;
    int dof;              // of the joint with the stop; -1: this is no stop
    double sign, offset;  // +1 at the lower stop, -1 at the upper one: the gap is sign q - offset
} model_contact;

// A carom_system whose terms MuJoCo computes.
typedef struct model_system {
    carom_system base;
    const carom_model *model;
    model_contact *contacts;
    bool *turns;  // [nv] the coordinate is an angle
    carom_arena arena;
} model_system;

// What one thread computes with.
typedef struct workspace {
    const model_system *system;
    mjData *data;
    mjModel dry;           // the model without the fluid around it; shares the model's arrays
    double *acceleration;  // [nbody x 6] of bodies at zero joint acceleration, about the centers of their trees
    double *jacobian;      // [3 x nv]
} workspace;

// ---------------------------------------------------------------------------------------------------------- evaluation

// Positions, velocities, M, the bias forces and those of actuators, without collisions and constraints.
static void compute_motion(void *argument) {
    workspace *work = argument;
    const mjModel *compiled = work->system->model->compiled;
    mjData *data = work->data;
    mj_kinematics(compiled, data);
    mj_comPos(compiled, data);
    model_compute_inertia(compiled, data);
    mj_transmission(compiled, data);
    mj_energyPos(compiled, data);
    mj_fwdVelocity(compiled, data);
    mj_fwdActuation(compiled, data);
}

// The center of a contact's sphere in the world.
static void locate_center(const workspace *work, const model_plane_contact *plane, double center[3]) {
    mju_rotVecMat(center, plane->point, work->data->xmat + 9 * plane->body);
    mju_addTo3(center, work->data->xpos + 3 * plane->body);
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
    // M; bias = Coriolis, centrifugal and gravitational forces less springs, dampers, drag and actuators; potential energy.
    mju_copy(data->qpos, position, nv);
    mju_copy(data->qvel, velocity, nv);
    compute_motion(work);
    model_fill_mass(compiled, data, terms->mass);
    mju_sub(terms->bias, data->qfrc_bias, data->qfrc_passive, nv);
    mju_subFrom(terms->bias, data->qfrc_actuator, nv);
    terms->potential = data->energy[0];
    if (terms->actuation) mju_copy(terms->actuation, data->qfrc_actuator, nv);
    // Dampers and drag are what passive forces lose where nothing moves and nothing flows.
    if (terms->resistance) {
        mju_copy(terms->resistance, data->qfrc_passive, nv);
        mju_zero(data->qvel, nv);
        mju_zero(data->ten_velocity, model_count(compiled->ntendon));
        mj_passive(&work->dry, data);
        mju_subFrom(terms->resistance, data->qfrc_passive, nv);
    }

    // Spatial accelerations of all bodies at zero joint acceleration, from the rates of the joint axes: a_body = a_parent + sum S' v.
    mju_zero(work->acceleration, 6);
    for (int body = 1; body < compiled->nbody; body++) {
        double *own = work->acceleration + 6 * body;
        mju_copy(own, work->acceleration + 6 * compiled->body_parentid[body], 6);
        for (int k = 0; k < compiled->body_dofnum[body]; k++) {
            const int dof = compiled->body_dofadr[body] + k;
            mju_addToScl(own, data->cdof_dot + 6 * dof, velocity[dof], 6);
        }
    }

    for (int i = 0; i < work->system->base.contacts; i++) {
        const model_contact *contact = &work->system->contacts[i];
        double *normal = terms->normal + (size_t)i * (size_t)nv, *tangent = terms->tangent + (size_t)i * (size_t)nv;
        if (contact->dof >= 0) {
            terms->gap[i] = contact->sign * position[contact->dof] - contact->offset;
            mju_zero(normal, nv);
            mju_zero(tangent, nv);
            normal[contact->dof] = contact->sign;
            terms->normal_drift[i] = terms->tangent_drift[i] = 0;
            continue;
        }
        // The velocity of the material point that is nearest to the plane: along the normal it is that of the center.
        double center[3], nearest[3];
        locate_center(work, &contact->plane, center);
        terms->gap[i] = mju_dot3(contact->plane.normal, center) - contact->plane.radius - contact->plane.offset;
        mju_addScl3(nearest, center, contact->plane.normal, -contact->plane.radius);
        mj_jac(compiled, data, work->jacobian, NULL, nearest, contact->plane.body);
        project_jacobian(work, contact->plane.normal, normal);
        project_jacobian(work, contact->plane.tangent[0], tangent);

        // dJ/dt v = a_c - alpha x r n, with the center's acceleration a_c = a + alpha x s + omega x (v + omega x s). The arm s leads from
        // the point about which MuJoCo writes spatial vectors, whose angular part comes first.
        const double *origin = data->subtree_com + 3 * compiled->body_rootid[contact->plane.body];
        const double *spatial = work->acceleration + 6 * contact->plane.body, *twist = data->cvel + 6 * contact->plane.body;
        double arm[3], turned[3], speed[3], drift[3];
        mju_sub3(arm, center, origin);
        mju_cross(turned, twist, arm);
        mju_add3(speed, twist + 3, turned);
        mju_sub3(arm, nearest, origin);
        mju_cross(turned, spatial, arm);
        mju_add3(drift, spatial + 3, turned);
        mju_cross(turned, twist, speed);
        mju_addTo3(drift, turned);
        terms->normal_drift[i] = mju_dot3(contact->plane.normal, drift);
        terms->tangent_drift[i] = mju_dot3(contact->plane.tangent[0], drift);
    }
}

// d2 p / dq_j dq_l of a point p, for dofs j and l on the way from the world to its body, j the nearer to the world: a hinge j turns what
// dof l does to p, a_j x dp/dq_l; a slide only moves it. The turning of a sphere adds nothing to that of its center: its slip is linear in
// the angle.
static void curve(void *opened, int index, double *normal, double *tangent) {
    const workspace *work = opened;
    const mjModel *compiled = work->system->model->compiled;
    const model_contact *contact = &work->system->contacts[index];
    const int nv = work->system->base.nv;
    double center[3];
    mju_zero(normal, nv * nv);
    mju_zero(tangent, nv * nv);
    if (contact->dof >= 0) return;
    locate_center(work, &contact->plane, center);
    mj_jac(compiled, work->data, work->jacobian, NULL, center, contact->plane.body);
    // From the last joint that moves the body towards the world.
    int body = contact->plane.body;
    while (body && !compiled->body_dofnum[body]) body = compiled->body_parentid[body];
    const int last = body ? compiled->body_dofadr[body] + compiled->body_dofnum[body] - 1 : -1;
    for (int l = last; l >= 0; l = compiled->dof_parentid[l]) {
        const double column[3] = {work->jacobian[l], work->jacobian[nv + l], work->jacobian[2 * nv + l]};
        for (int j = l; j >= 0; j = compiled->dof_parentid[j]) {
            if (!work->system->turns[j]) continue;
            double turned[3];
            mju_cross(turned, work->data->xaxis + 3 * compiled->dof_jntid[j], column);
            normal[j * nv + l] = normal[l * nv + j] = mju_dot3(contact->plane.normal, turned);
            tangent[j * nv + l] = tangent[l * nv + j] = mju_dot3(contact->plane.tangent[0], turned);
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
    work->dry = *system->model->compiled;
    work->dry.opt.density = work->dry.opt.viscosity = 0;
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

// Refuses by its name what a motion of slides and hinges would not heed.
static carom_status refuse_unheeded(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    char name[MODEL_LABEL_SIZE];
    const bool rubs = model_has_friction(model), limits = model_is_enabled(model, mjDSBL_LIMIT);
    for (int joint = 0; joint < model_count(compiled->njnt); joint++) {
        model_write_name(model, mjOBJ_JOINT, joint, "number ", name, sizeof name);
        if (compiled->jnt_type[joint] != mjJNT_SLIDE && compiled->jnt_type[joint] != mjJNT_HINGE)
            return carom_fail(error, CAROM_UNSUPPORTED,
                              "%s: joint '%s': mechanisms with listed contacts have slide and hinge joints only" UNHEEDING, model->path,
                              name);
        if (rubs && compiled->dof_frictionloss[compiled->jnt_dofadr[joint]] > 0)
            return carom_fail(error, CAROM_UNSUPPORTED,
                              "%s: joint '%s' has frictionloss, which mechanisms with listed contacts do not heed" UNHEEDING, model->path,
                              name);
    }
    for (int tendon = 0; tendon < model_count(compiled->ntendon); tendon++) {
        model_write_name(model, mjOBJ_TENDON, tendon, "number ", name, sizeof name);
        const bool rubbing = rubs && compiled->tendon_frictionloss[tendon] > 0;
        if (rubbing || (limits && compiled->tendon_limited[tendon]))
            return carom_fail(error, CAROM_UNSUPPORTED,
                              "%s: tendon '%s' has %s, which mechanisms with listed contacts do not heed" UNHEEDING, model->path, name,
                              rubbing ? "frictionloss" : "limits");
    }
    if (model_has_foreign_parts(compiled))
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "%s: mechanisms with listed contacts do not heed deformable bodies (flex) and plugins" UNHEEDING, model->path);
    if (compiled->neq && model_is_enabled(model, mjDSBL_EQUALITY)) {
        model_write_name(model, mjOBJ_EQUALITY, 0, "number ", name, sizeof name);
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "%s: equality constraint '%s': mechanisms with listed contacts do not heed any" UNHEEDING, model->path, name);
    }
    for (int i = 0; model_has_actuators(model) && i < model_count_actuators(compiled); i++) {
        model_write_name(model, mjOBJ_ACTUATOR, i, "number ", name, sizeof name);
        const char *what = compiled->actuator_gaintype[i] > mjGAIN_AFFINE   ? "a gain that is not affine"
                           : compiled->actuator_biastype[i] > mjBIAS_AFFINE ? "a bias that is not affine"
                           : compiled->actuator_trntype[i] == mjTRN_BODY    ? "adhesion to a body"
                                                                            : NULL;
        if (what)
            return carom_fail(error, CAROM_UNSUPPORTED,
                              "%s: actuator '%s' has %s, which mechanisms with listed contacts do not heed" UNHEEDING, model->path, name,
                              what);
    }
    if (model_has_actuators(model) && model_has_delays(compiled))
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: mechanisms with listed contacts do not heed delays of actuators" UNHEEDING,
                          model->path);
    return CAROM_OK;
}

static carom_status warn_of_held_activations(carom_model *model, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && model_has_actuators(model) && i < model_count_actuators(model->compiled); i++) {
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_ACTUATOR, i, "number ", name, sizeof name);
        if (model->compiled->actuator_dyntype[i] != mjDYN_NONE)
            status = model_warn(model, error, "actuator '%s' keeps the activation that it has at the start" UNHEEDING, name);
    }
    return status;
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
    mjModel *compiled = model->compiled;
    carom_status status = refuse_unheeded(model, error);
    if (!status) status = model_prepare_freeze(model, error);
    if (status) return status;
    // What a freeze says it leaves out acts in a motion.
    model_clear_warnings(model);
    status = warn_of_held_activations(model, error);
    if (status) return status;

    model_system *created = calloc(1, sizeof *created);
    if (!created) return carom_fail_memory(error, model->path);
    const bool limits = model_is_enabled(model, mjDSBL_LIMIT);
    const int joints = model_count(compiled->njnt);
    const size_t nv = (size_t)compiled->nv, room = 2 * ((size_t)count + (size_t)joints);
    carom_arena *arena = &created->arena;
    double *friction = carom_arena_take(arena, room, sizeof *friction), *restitution = carom_arena_take(arena, room, sizeof *restitution);
    double *position = carom_arena_take(arena, nv, sizeof *position), *velocity = carom_arena_take(arena, nv, sizeof *velocity);
    char(*labels)[MODEL_LABEL_SIZE] = carom_arena_take(arena, nv, sizeof *labels);
    char(*contact_labels)[2 * MODEL_LABEL_SIZE] = carom_arena_take(arena, room, sizeof *contact_labels);
    const char **names = carom_arena_take(arena, nv, sizeof *names), **contact_names = carom_arena_take(arena, room, sizeof *names);
    created->model = model;
    created->contacts = carom_arena_take(arena, room, sizeof *created->contacts);
    created->turns = carom_arena_take(arena, nv, sizeof *created->turns);
    status = arena->failed ? carom_fail_memory(error, model->path) : CAROM_OK;

    // Contacts as they are listed, then the stops of joints, which have no friction.
    bool spatial = false;
    int placed = 0;
    model_plane_contacts listed = {0};
    if (!status) status = model_place_contacts(model, contacts, count, arena, &listed, error);
    for (int i = 0; i < count; i++) spatial = spatial || contacts[i].tangents == 2;
    for (; placed < listed.count && !status; placed++) {
        created->contacts[placed] = (model_contact){.plane = listed.contact[placed], .dof = -1};
        contact_names[placed] = listed.names[placed];
        friction[placed] = listed.friction[placed];
        restitution[placed] = listed.restitution[placed];
    }
    for (int joint = 0; joint < joints && !status; joint++) {
        for (int upper = 0; upper < 2 && limits && compiled->jnt_limited[joint]; upper++, placed++) {
            char name[MODEL_LABEL_SIZE];
            model_write_name(model, mjOBJ_JOINT, joint, "joint", name, sizeof name);
            contact_names[placed] = contact_labels[placed];
            snprintf(contact_labels[placed], sizeof *contact_labels, "LIMIT:%s:%s", name, upper ? "upper" : "lower");
            restitution[placed] = model->limit_restitution[0];
            const double sign = upper ? -1 : 1, stop = compiled->jnt_range[2 * joint + upper];
            created->contacts[placed] =
                (model_contact){.dof = compiled->jnt_dofadr[joint], .sign = sign, .offset = sign * stop + compiled->jnt_margin[joint]};
        }
    }
    if (!status && (placed < 1 || placed > CAROM_MAX_CONTACTS))
        status = carom_fail(error, CAROM_BAD_INPUT, "a motion needs 1 to %d contacts and stops, not %d", CAROM_MAX_CONTACTS, placed);
    if (status) {
        carom_model_free_system(&created->base);
        return status;
    }
    // Slides and hinges: a joint is a coordinate.
    for (int joint = 0; joint < joints; joint++) {
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
                                   .contacts = placed,
                                   .tangent_dim = spatial ? 2 : 1,
                                   .friction = friction,
                                   .restitution = restitution,
                                   .turns = created->turns,
                                   .names = names,
                                   .contact_names = contact_names,
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
