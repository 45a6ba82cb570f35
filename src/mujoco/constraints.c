// SPDX-License-Identifier: Apache-2.0
// What takes part in an impact besides contacts: joints at their stops become contacts; what is not modelled is refused, because leaving
// it out would change the outcome. Equality constraints are in project.c.
#include <math.h>
#include <stdio.h>

#include "mujoco/mujoco_internal.h"

// A value this close to its limit, relative to the width of the range, counts as being there.
#define LIMIT_TOLERANCE 1e-9
// One this close that is not there gives a warning.
#define NEAR_TOLERANCE 1e-3

// A model may switch off one kind of constraints, or all of them at once.
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

// Refuses a constraint by its name; `what` says why it acts.
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

// Writes the stop that a joint stands at, as a contact: its velocity is +v at a lower limit and -v at an upper one, so that opening is
// positive.
static bool joint_is_at_stop(const mjModel *compiled, const double *qpos, int joint, model_limit *limit) {
    if (!compiled->jnt_limited[joint]) return false;
    const double *range = compiled->jnt_range + 2 * joint;
    *limit = (model_limit){.joint = joint, .dof = compiled->jnt_dofadr[joint], .dofs = 1};
    qpos += compiled->jnt_qposadr[joint];
    const int type = compiled->jnt_type[joint];
    if (type == mjJNT_SLIDE || type == mjJNT_HINGE) {
        limit->row[0] = find_stop(*qpos, range);
        return limit->row[0] != 0;
    }
    if (type != mjJNT_BALL) return false;
    // The limit of a ball joint is on its angle of rotation, which grows by the angular velocity along the axis of rotation. MuJoCo takes
    // the larger number of the range.
    double axis[3];
    mju_quat2Vel(axis, qpos, 1);
    limit->dofs = 3;
    if (mju_normalize3(axis) < fmax(range[0], range[1]) * (1 - LIMIT_TOLERANCE)) return false;
    for (int i = 0; i < 3; i++) limit->row[i] = -axis[i];
    return true;
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

carom_status model_warn_of_near_limits(carom_model *model, carom_error *error) {
    static const char *const kinds[] = {[mjJNT_BALL] = "ball joint", [mjJNT_SLIDE] = "slide", [mjJNT_HINGE] = "hinge"};
    const mjModel *compiled = model->compiled;
    if (!model_is_enabled(model, mjDSBL_LIMIT)) return CAROM_OK;
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < compiled->njnt; i++) {
        const int type = compiled->jnt_type[i];
        if (!compiled->jnt_limited[i] || type == mjJNT_FREE) continue;
        // The distance from the nearer stop [rad or m], and the width of the range.
        const double *range = compiled->jnt_range + 2 * i, *qpos = model->data->qpos + compiled->jnt_qposadr[i];
        double distance = fmin(*qpos - range[0], range[1] - *qpos), width = range[1] - range[0];
        if (type == mjJNT_BALL) {
            double axis[3];
            width = fmax(range[0], range[1]);
            mju_quat2Vel(axis, qpos, 1);
            distance = width - mju_normalize3(axis);
        }
        model_limit limit;
        if (!(distance < NEAR_TOLERANCE * width) || joint_is_at_stop(compiled, model->data->qpos, i, &limit)) continue;
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_JOINT, i, "joint", name, sizeof name);
        status = model_warn(model, error, "%s '%s' is %.3g %s from its stop; it counts as free", kinds[type], name, distance,
                            type == mjJNT_SLIDE ? "m" : "rad");
    }
    return status;
}

// -------------------------------------------------------------------------------------------------------- refused

carom_status model_check_constraints(const carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    // A tendon between its limits takes no part; dry friction acts whenever anything moves.
    const bool limits = model_is_enabled(model, mjDSBL_LIMIT), friction = model_is_enabled(model, mjDSBL_FRICTIONLOSS);
    for (int i = 0; limits && i < compiled->ntendon; i++)
        if (compiled->tendon_limited[i] && find_stop(model->data->ten_length[i], compiled->tendon_range + 2 * i))
            return fail_constraint(model, mjOBJ_TENDON, i, "is at its limit", error);
    for (int i = 0; friction && i < compiled->nv; i++)
        if (compiled->dof_frictionloss[i] > 0)
            return fail_constraint(model, mjOBJ_JOINT, compiled->dof_jntid[i], "has frictionloss", error);
    for (int i = 0; friction && i < compiled->ntendon; i++)
        if (compiled->tendon_frictionloss[i] > 0) return fail_constraint(model, mjOBJ_TENDON, i, "has frictionloss", error);
    return CAROM_OK;
}
