// SPDX-License-Identifier: Apache-2.0
// What takes part in an impact besides contacts: joints at their stops become contacts; what is not modelled is refused, because leaving
// it out would change the outcome. Equality constraints are in model_project.c.
#include <math.h>
#include <stdio.h>

#include "mujoco/mujoco_internal.h"

// A value this close to its limit, relative to the width of the range, counts as being there.
#define LIMIT_TOLERANCE 1e-9
// One this close that is not there gives a warning.
#define NEAR_TOLERANCE 1e-3

bool model_is_enabled(const carom_model *model, int disable_bit) {
    return !(model->compiled->opt.disableflags & (mjDSBL_CONSTRAINT | disable_bit));
}

void model_write_name(const carom_model *model, int type, int id, const char *kind, char *name, size_t size) {
    const char *given = mj_id2name(model->compiled, type, id);
    if (!given || !*given) {
        snprintf(name, size, "%s%d", kind, id);
        return;
    }
    snprintf(name, size, "%s", given);
    for (char *c = name; *c; c++) {
        if (*c <= ' ' || *c >= 0x7f || *c == ',') *c = '_';
    }
}

static carom_status fail_constraint(const carom_model *model, int type, int id, const char *what, carom_error *error) {
    char name[MODEL_LABEL_SIZE];
    model_write_name(model, type, id, "number ", name, sizeof name);
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s: %s '%s' %s, which takes part in the impact and is not supported: leaving it out would change the outcome",
                      model->path, type == mjOBJ_JOINT ? "joint" : "tendon", name, what);
}

// ------------------------------------------------------------------------------------------------------ joint limits

// +1 at or beyond the lower limit, -1 at or beyond the upper one, 0 between them: the sign of the motion that leaves the stop.
static int find_stop(double value, const double range[2]) {
    const double tolerance = LIMIT_TOLERANCE * (range[1] - range[0]);
    if (!(value > range[0] + tolerance)) return 1;
    return value < range[1] - tolerance ? 0 : -1;
}

// The limit of a ball joint is on its angle of rotation, which grows by the angular velocity along the axis of rotation.
static bool ball_is_at_stop(const double *quaternion, double limit, double row[3]) {
    double axis[3];
    mju_quat2Vel(axis, quaternion, 1);
    if (mju_normalize3(axis) < limit * (1 - LIMIT_TOLERANCE)) return false;
    for (int i = 0; i < 3; i++) row[i] = -axis[i];
    return true;
}

static bool joint_is_at_stop(const mjModel *compiled, const double *qpos, int joint, model_limit *limit) {
    if (!compiled->jnt_limited[joint]) return false;
    const double *range = compiled->jnt_range + 2 * joint;
    *limit = (model_limit){.joint = joint, .dof = compiled->jnt_dofadr[joint], .dofs = 1};
    qpos += compiled->jnt_qposadr[joint];
    switch (compiled->jnt_type[joint]) {
    case mjJNT_SLIDE:
    case mjJNT_HINGE: limit->row[0] = find_stop(*qpos, range); return limit->row[0] != 0;
    case mjJNT_BALL: limit->dofs = 3; return ball_is_at_stop(qpos, fmax(range[0], range[1]), limit->row);
    default: return false;
    }
}

int model_find_limits(const carom_model *model, model_limit *limits) {
    const mjModel *compiled = model->compiled;
    if (!model_is_enabled(model, mjDSBL_LIMIT)) return 0;
    int count = 0;
    for (int i = 0; i < compiled->njnt; i++) {
        model_limit limit;
        if (!joint_is_at_stop(compiled, model->data->qpos, i, &limit)) continue;
        if (limits) limits[count] = limit;
        count++;
    }
    return count;
}

// How far a joint is from the nearer of its stops [rad or m], and the width of its range. Infinite for a joint without stops.
static double stop_distance(const mjModel *compiled, const double *qpos, int joint, double *width) {
    const double *range = compiled->jnt_range + 2 * joint;
    double axis[3];
    *width = range[1] - range[0];
    qpos += compiled->jnt_qposadr[joint];
    if (!compiled->jnt_limited[joint]) return HUGE_VAL;
    switch (compiled->jnt_type[joint]) {
    case mjJNT_SLIDE:
    case mjJNT_HINGE: return fmin(*qpos - range[0], range[1] - *qpos);
    case mjJNT_BALL:
        *width = fmax(range[0], range[1]);
        mju_quat2Vel(axis, qpos, 1);
        return *width - mju_normalize3(axis);
    default: return HUGE_VAL;
    }
}

carom_status model_warn_of_near_limits(carom_model *model, carom_error *error) {
    static const char *const kinds[] = {[mjJNT_BALL] = "ball joint", [mjJNT_SLIDE] = "slide", [mjJNT_HINGE] = "hinge"};
    const mjModel *compiled = model->compiled;
    if (!model_is_enabled(model, mjDSBL_LIMIT)) return CAROM_OK;
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < compiled->njnt; i++) {
        model_limit limit;
        double width;
        const double distance = stop_distance(compiled, model->data->qpos, i, &width);
        if (!(distance < NEAR_TOLERANCE * width) || joint_is_at_stop(compiled, model->data->qpos, i, &limit)) continue;
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_JOINT, i, "joint", name, sizeof name);
        const int type = compiled->jnt_type[i];
        status = model_warn(model, error, "%s '%s' is %.3g %s from its stop; it counts as free", kinds[type], name, distance,
                            type == mjJNT_SLIDE ? "m" : "rad");
    }
    return status;
}

// -------------------------------------------------------------------------------------------------------- refused

static carom_status check_tendon_limits(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    if (!model_is_enabled(model, mjDSBL_LIMIT)) return CAROM_OK;
    for (int i = 0; i < compiled->ntendon; i++) {
        if (compiled->tendon_limited[i] && find_stop(model->data->ten_length[i], compiled->tendon_range + 2 * i))
            return fail_constraint(model, mjOBJ_TENDON, i, "is at its limit", error);
    }
    return CAROM_OK;
}

static carom_status check_dry_friction(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    if (!model_is_enabled(model, mjDSBL_FRICTIONLOSS)) return CAROM_OK;
    for (int i = 0; i < compiled->nv; i++) {
        if (compiled->dof_frictionloss[i] > 0)
            return fail_constraint(model, mjOBJ_JOINT, compiled->dof_jntid[i], "has frictionloss", error);
    }
    for (int i = 0; i < compiled->ntendon; i++) {
        if (compiled->tendon_frictionloss[i] > 0) return fail_constraint(model, mjOBJ_TENDON, i, "has frictionloss", error);
    }
    return CAROM_OK;
}

carom_status model_check_constraints(const carom_model *model, carom_error *error) {
    const carom_status status = check_tendon_limits(model, error);
    return status ? status : check_dry_friction(model, error);
}
