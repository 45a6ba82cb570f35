// SPDX-License-Identifier: Apache-2.0
// What takes part in an impact besides contacts. Until it is modelled it is refused: leaving it out would change the outcome.
#include <math.h>
#include <stdio.h>

#include "model_internal.h"

// A value this close to its limit, relative to the width of the range, counts as being there.
#define LIMIT_TOLERANCE 1e-9

static bool is_enabled(const mjModel *compiled, int disable_bit) {
    return !(compiled->opt.disableflags & (mjDSBL_CONSTRAINT | disable_bit));
}

static carom_status fail_constraint(const carom_model *model, int type, int id, const char *what, carom_error *error) {
    const char *kind = type == mjOBJ_EQUALITY ? "equality constraint" : type == mjOBJ_JOINT ? "joint" : "tendon";
    const char *name = mj_id2name(model->compiled, type, id);
    char number[32];
    snprintf(number, sizeof number, "number %d", id);
    return carom_fail(
        error, CAROM_BAD_INPUT,
        "%s: %s '%s' %s, which takes part in the impact: only contacts are supported, and leaving it out would change the outcome",
        model->path, kind, name && *name ? name : number, what);
}

static bool is_at_limit(double value, const double range[2]) {
    const double tolerance = LIMIT_TOLERANCE * (range[1] - range[0]);
    return !(value > range[0] + tolerance && value < range[1] - tolerance);
}

static bool joint_is_at_limit(const mjModel *compiled, const double *qpos, int joint) {
    if (!compiled->jnt_limited[joint]) return false;
    const double *range = compiled->jnt_range + 2 * joint;
    qpos += compiled->jnt_qposadr[joint];
    switch (compiled->jnt_type[joint]) {
    case mjJNT_SLIDE:
    case mjJNT_HINGE: return is_at_limit(*qpos, range);
    case mjJNT_BALL: {
        // The limit of a ball joint is on its angle of rotation, from zero.
        double rotation[3];
        mju_quat2Vel(rotation, qpos, 1);
        return !(mju_norm3(rotation) < range[1] * (1 - LIMIT_TOLERANCE));
    }
    default: return false;
    }
}

static carom_status check_equalities(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    if (!is_enabled(compiled, mjDSBL_EQUALITY)) return CAROM_OK;
    for (int i = 0; i < compiled->neq; i++) {
        if (compiled->eq_active[i]) return fail_constraint(model, mjOBJ_EQUALITY, i, "is active", error);
    }
    return CAROM_OK;
}

static carom_status check_limits(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    if (!is_enabled(compiled, mjDSBL_LIMIT)) return CAROM_OK;
    for (int i = 0; i < compiled->njnt; i++) {
        if (joint_is_at_limit(compiled, model->data->qpos, i)) return fail_constraint(model, mjOBJ_JOINT, i, "is at its limit", error);
    }
    for (int i = 0; i < compiled->ntendon; i++) {
        if (compiled->tendon_limited[i] && is_at_limit(model->data->ten_length[i], compiled->tendon_range + 2 * i)) {
            return fail_constraint(model, mjOBJ_TENDON, i, "is at its limit", error);
        }
    }
    return CAROM_OK;
}

static carom_status check_dry_friction(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    if (!is_enabled(compiled, mjDSBL_FRICTIONLOSS)) return CAROM_OK;
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
    carom_status status = check_equalities(model, error);
    if (!status) status = check_limits(model, error);
    return status ? status : check_dry_friction(model, error);
}
