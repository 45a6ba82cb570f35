// SPDX-License-Identifier: Apache-2.0
// A MuJoCo model as a mechanism in time: what it covers, its start, and the workspaces of threads.
//
// A workspace has a copy of the compiled model of its own, because the margin of collision detection is a part of a model.
#include "mujoco/mechanism.h"
#include "carom/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// ---------------------------------------------------------------------------------------------------------- workspaces

// A guarded call: the copy of the model, and a first evaluation, so that MuJoCo says here whatever it has to say against a model.
static void make_data(void *argument) {
    mechanism_work *work = argument;
    const carom_model *model = work->mechanism->model;
    work->compiled = mj_copyModel(NULL, model->compiled);
    if (work->compiled) work->data = mj_makeData(work->compiled);
    if (!work->data) return;
    work->compiled->opt.enableflags |= mjENBL_ENERGY;
    work->compiled->opt.enableflags &= ~mjENBL_OVERRIDE;
    work->compiled->opt.disableflags |= mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT;
    mj_copyData(work->data, work->compiled, model->data);
    // MuJoCo prints a warning the first time only, and evaluations are not guarded.
    for (int i = 0; i < mjNWARNING; i++) work->data->warning[i].number = 1;
    model_compute_motion(work);
    mj_energyPos(work->compiled, work->data);
    mj_fwdVelocity(work->compiled, work->data);
    mj_fwdActuation(work->compiled, work->data);
}

static void close_workspace(void *opened) {
    mechanism_work *work = opened;
    if (!work) return;
    if (work->data) mj_deleteData(work->data);
    if (work->compiled) mj_deleteModel(work->compiled);
    carom_arena_free(&work->arena);
    carom_arena_free(&work->equation_arena);
    free(work);
}

static carom_status open_workspace(const void *self, void **opened, carom_error *error) {
    const model_mechanism *mechanism = self;
    *opened = NULL;
    mechanism_work *work = calloc(1, sizeof *work);
    if (!work) return carom_fail_memory(error, mechanism->model->path);
    work->mechanism = mechanism;
    carom_status status = model_guard_call(make_data, work, error);
    if (!status && !work->data) status = carom_fail_memory(error, mechanism->model->path);
    if (!status) status = model_make_touch_room(work, 1, error);
    if (status)
        close_workspace(work);
    else
        *opened = work;
    return status;
}

// ------------------------------------------------------------------------------------------------------------ creation

// Refuses what would act in a motion and is not covered, by name.
static carom_status check_covered(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    const bool actuated = model_has_actuators(model);
    char name[MODEL_LABEL_SIZE];
    if (model_has_foreign_parts(compiled))
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: motions do not cover deformable bodies (flex) and plugins", model->path);
    if (model_has_adhesion(compiled))
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: motions do not cover geoms with adhesion", model->path);
    for (int i = 0; actuated && i < model_count_actuators(compiled); i++) {
        const char *reason = NULL;
        if (compiled->actuator_trntype[i] == mjTRN_BODY) reason = "adhesion";
        if (compiled->actuator_gaintype[i] == mjGAIN_USER || compiled->actuator_biastype[i] == mjBIAS_USER)
            reason = "a force that the user's code gives (gaintype or biastype 'user')";
        model_write_name(model, mjOBJ_ACTUATOR, i, "number ", name, sizeof name);
        if (reason)
            return carom_fail(error, CAROM_UNSUPPORTED, "%s: actuator '%s' has %s, which motions do not cover", model->path, name, reason);
    }
    if (actuated && model_has_delays(compiled))
        return carom_fail(error, CAROM_UNSUPPORTED, "%s: motions do not cover delays of actuators", model->path);
    for (int i = 0; i < compiled->ntendon && model_is_enabled(model, mjDSBL_FRICTIONLOSS); i++) {
        model_write_name(model, mjOBJ_TENDON, i, "number ", name, sizeof name);
        if (compiled->tendon_frictionloss[i] > 0)
            return carom_fail(error, CAROM_UNSUPPORTED, "%s: tendon '%s' has frictionloss: motions cover that of joints only", model->path,
                              name);
    }
    return CAROM_OK;
}

// The names of coordinates: a quaternion's numbers are NAME.qw to NAME.qz, all others are called like their velocities.
static void name_positions(const mjModel *compiled, model_velocity_name *velocities, model_velocity_name *positions) {
    static const char *const parts[] = {"qw", "qx", "qy", "qz"};
    for (int joint = 0; joint < compiled->njnt; joint++) {
        const int type = compiled->jnt_type[joint], dof = compiled->jnt_dofadr[joint],
                  moves = type == mjJNT_BALL   ? 0
                          : type == mjJNT_FREE ? 3
                                               : 1;
        const int at = compiled->jnt_qposadr[joint];
        for (int k = 0; k < moves; k++) memcpy(positions[at + k], velocities[dof + k], sizeof *positions);
        const char *dot = strrchr(velocities[dof], '.');
        for (int k = 0; k < 4 && (type == mjJNT_FREE || type == mjJNT_BALL); k++)
            snprintf(positions[at + moves + k], sizeof *positions, "%.*s.%s", (int)(dot - velocities[dof]), velocities[dof], parts[k]);
    }
}

// What a motion leaves out and the model has, and controls that are not given.
static carom_status warn_of_motion(carom_model *model, const model_mechanism *mechanism, carom_error *error) {
    const mjModel *compiled = model->compiled;
    bool torsion = false;
    for (int i = 0; i < compiled->ngeom; i++)
        torsion = torsion || (compiled->geom_condim[i] > 3 && (compiled->geom_contype[i] || compiled->geom_conaffinity[i]));
    for (int i = 0; i < compiled->npair; i++) torsion = torsion || compiled->pair_dim[i] > 3;
    carom_status status = CAROM_OK;
    if (torsion && !mechanism->is_listed)
        status = model_warn(model, error,
                            "torsional and rolling friction of geoms (condim above 3) is left out: contacts have sliding friction only");
    for (int i = 0; !status && model_has_actuators(model) && i < model_count_actuators(compiled); i++) {
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_ACTUATOR, i, "number ", name, sizeof name);
        if (model_holds_activation(compiled, i))
            status = model_warn(model, error,
                                "actuator '%s' keeps the activation that it has at the start: motions do not know its dyntype", name);
    }
    // The state's keyframe has given its own.
    const bool controlled = mechanism->rows || carom_max_abs((size_t)compiled->nu, model->data->ctrl) > 0;
    if (!status && model_has_actuators(model) && !controlled)
        status = model_warn(model, error, "the actuators get no control: each of the %d controls is 0, or what its range has nearest to it",
                            model_count(compiled->nu));
    return status;
}

// Numbers and names of the start.
static carom_status describe_start(model_mechanism *mechanism, carom_error *error) {
    const carom_model *model = mechanism->model;
    const mjModel *compiled = model->compiled;
    carom_arena *arena = &mechanism->arena;
    const int nq = model_count(compiled->nq), nv = model_count(compiled->nv);
    double *position = carom_arena_take(arena, (size_t)nq, sizeof *position);
    double *velocity = carom_arena_take(arena, (size_t)nv, sizeof *velocity);
    model_velocity_name *labels = carom_arena_take(arena, (size_t)nv, sizeof *labels);
    model_velocity_name *position_labels = carom_arena_take(arena, (size_t)nq, sizeof *position_labels);
    const char **names = carom_arena_take(arena, (size_t)nv, sizeof *names);
    const char **position_names = carom_arena_take(arena, (size_t)nq, sizeof *position_names);
    bool *turns = carom_arena_take(arena, (size_t)nv, sizeof *turns);
    if (arena->failed) return carom_fail_memory(error, model->path);
    model_name_velocities(model, labels, turns);
    name_positions(compiled, labels, position_labels);
    for (int i = 0; i < nv; i++) names[i] = labels[i];
    for (int i = 0; i < nq; i++) position_names[i] = position_labels[i];
    mju_copy(position, model->data->qpos, nq);
    mju_copy(velocity, model->data->qvel, nv);
    const int activations = model_has_actuators(model) ? model_count(compiled->na) : 0;
    double *activation = carom_arena_take(arena, (size_t)activations, sizeof *activation);
    if (arena->failed) return carom_fail_memory(error, model->path);
    mju_copy(activation, model->data->act, activations);
    // The largest restitution of all that may touch.
    double restitution = fmax(model->limit_restitution[0], model->limit_restitution[1]);
    if (mechanism->is_listed && mechanism->listed.count)
        restitution = fmax(restitution, carom_max_abs((size_t)mechanism->listed.count, mechanism->listed.restitution));
    if (!mechanism->is_listed) restitution = fmax(restitution, mechanism->detection.restitution);
    for (int i = 0; !mechanism->is_listed && i < mechanism->detection.pair_count; i++)
        restitution = fmax(restitution, mechanism->detection.pairs[i].restitution);
    const bool pulls = !(compiled->opt.disableflags & mjDSBL_GRAVITY);
    double mass = 0;
    for (int body = 1; body < compiled->nbody; body++)
        if (model_weld(compiled, body)) mass += compiled->body_mass[body];
    mechanism->base = (carom_mechanism){.self = mechanism,
                                        .nq = nq,
                                        .nv = nv,
                                        .position = position,
                                        .velocity = velocity,
                                        .position_names = position_names,
                                        .velocity_names = names,
                                        .turns = turns,
                                        .mass = mass,
                                        .length = compiled->stat.extent,
                                        .gravity = pulls ? mju_norm3(compiled->opt.gravity) : 0,
                                        .restitution = restitution,
                                        .activations = activations,
                                        .activation = activation,
                                        .activate = model_activate,
                                        .advance_activation = model_advance_activation,
                                        .advise = model_advise_on_overlap,
                                        .open = open_workspace,
                                        .close = close_workspace,
                                        .evaluate = model_evaluate_terms,
                                        .detect = model_detect_touches,
                                        .advance = model_advance_position,
                                        .name = model_name_touch};
    return CAROM_OK;
}

// Which contacts and limits count. Names of contacts, which have a colon, cannot be checked before two geoms meet.
static carom_status take_detection(model_mechanism *mechanism, const carom_detection *detection, carom_error *error) {
    const carom_model *model = mechanism->model;
    const int joints = model_count(model->compiled->njnt), tendons = model_count(model->compiled->ntendon);
    const size_t patterns = (size_t)detection->only_count + (size_t)detection->exclude_count;
    const char **pairs = carom_arena_take(&mechanism->arena, patterns, sizeof *pairs);
    mechanism->takes_limit = carom_arena_take(&mechanism->arena, (size_t)(joints + tendons), sizeof *mechanism->takes_limit);
    if (mechanism->arena.failed) return carom_fail_memory(error, model->path);
    mechanism->detection = *detection;
    mechanism->filters = patterns || detection->drop_self;
    int count = 0;
    for (int i = 0; i < detection->only_count; i++)
        if (strchr(detection->only[i], ':')) pairs[count++] = detection->only[i];
    for (int i = 0; i < detection->exclude_count; i++)
        if (strchr(detection->exclude[i], ':')) pairs[count++] = detection->exclude[i];
    const carom_status status = model_check_patterns(model, detection, pairs, count, error);
    for (int i = 0; i < joints + tendons && model_is_enabled(model, mjDSBL_LIMIT); i++) {
        model_limit limit = {i < joints ? mjOBJ_JOINT : mjOBJ_TENDON, i < joints ? i : i - joints, 1};
        mechanism->takes_limit[i] = model_choose_limits(model, detection, &limit, 1) == 1;
    }
    return status;
}

void carom_model_free_mechanism(carom_mechanism *mechanism) {
    if (!mechanism) return;
    model_mechanism *own = (model_mechanism *)mechanism;
    carom_arena_free(&own->arena);
    free(own);
}

carom_status carom_model_create_mechanism(carom_model *model, const carom_model_motion *motion, carom_mechanism **mechanism,
                                          carom_error *error) {
    *mechanism = NULL;
    const carom_model_motion none = {0};
    const carom_detection defaults = carom_detection_defaults();
    if (!motion) motion = &none;
    if (motion->contact_count < 0 || motion->contact_count > CAROM_MAX_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT, "a motion has up to %d listed contacts, not %d", CAROM_MAX_CONTACTS,
                          motion->contact_count);
    model_clear_warnings(model);
    carom_status status = check_covered(model, error);
    if (!status) status = model_prepare_freeze(model, error);
    if (status) return status;
    model_mechanism *created = calloc(1, sizeof *created);
    if (!created) return carom_fail_memory(error, model->path);
    created->model = model;
    status = take_detection(created, motion->detection ? motion->detection : &defaults, error);
    for (int i = 0; i < model_count(model->compiled->ngeom); i++)
        created->has_fields = created->has_fields || model->compiled->geom_type[i] == mjGEOM_HFIELD;
    created->is_listed = motion->contacts != NULL;
    if (!status && motion->contacts)
        status = model_place_contacts(model, motion->contacts, motion->contact_count, &created->arena, &created->listed, error);
    if (!status && motion->control.rows) status = model_take_controls(created, &motion->control, error);
    if (!status) status = describe_start(created, error);
    if (!status) status = warn_of_motion(model, created, error);
    if (status) {
        carom_model_free_mechanism(&created->base);
        return status;
    }
    *mechanism = &created->base;
    return CAROM_OK;
}
