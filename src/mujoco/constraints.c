// SPDX-License-Identifier: Apache-2.0
// What takes part in an impact besides contacts: joints at their stops and tendons at their limits become contacts. Equality constraints
// are in project.c, and what is left out in forces.c.
#include <math.h>
#include <stdio.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// A value this close to its limit, relative to the width of the range, counts as being there.
#define LIMIT_TOLERANCE 1e-9
// One this close that is not there gives a warning.
#define NEAR_TOLERANCE 1e-3

carom_status carom_model_set_limit_restitution(carom_model *model, double stops, double strings, carom_error *error) {
    if (!(stops >= 0 && stops <= 1 && strings >= 0 && strings <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "the restitution of stops and strings is between 0 and 1, not %g and %g", stops, strings);
    model->limit_restitution[0] = stops;
    model->limit_restitution[1] = strings;
    return CAROM_OK;
}

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

// ---------------------------------------------------------------------------------------------------------- limits

model_limit_end model_measure_limit(const mjModel *compiled, const mjData *data, const model_limit *limit) {
    const bool tendon = limit->type == mjOBJ_TENDON;
    const int id = limit->id;
    if (tendon ? !compiled->tendon_limited[id] : !compiled->jnt_limited[id] || compiled->jnt_type[id] == mjJNT_FREE)
        return (model_limit_end){.exists = false};
    const double *range = tendon ? compiled->tendon_range + 2 * id : compiled->jnt_range + 2 * id;
    const double margin = tendon ? compiled->tendon_margin[id] : compiled->jnt_margin[id];
    if (!tendon && compiled->jnt_type[id] == mjJNT_BALL) {
        // The limit is the larger number of the range.
        double axis[3];
        mju_quat2Vel(axis, data->qpos + compiled->jnt_qposadr[id], 1);
        const double most = fmax(range[0], range[1]);
        return (model_limit_end){.exists = limit->sign < 0, .distance = most - margin - mju_normalize3(axis), .width = most};
    }
    const double value = tendon ? data->ten_length[id] : data->qpos[compiled->jnt_qposadr[id]];
    return (model_limit_end){
        .exists = true, .distance = limit->sign > 0 ? value - range[0] - margin : range[1] - margin - value, .width = range[1] - range[0]};
}

// The limit that a joint or a tendon is nearer to.
typedef struct nearest_limit {
    bool exists;
    double sign;  // +1: the lower one, -1: the upper one
    double distance, width;
} nearest_limit;

static nearest_limit find_nearest_limit(const mjModel *compiled, const mjData *data, int type, int id) {
    const model_limit_end lower = model_measure_limit(compiled, data, &(model_limit){type, id, 1});
    const model_limit_end upper = model_measure_limit(compiled, data, &(model_limit){type, id, -1});
    const bool above = !lower.exists || upper.distance < lower.distance;
    const model_limit_end nearer = above ? upper : lower;
    return (nearest_limit){.exists = nearer.exists, .sign = above ? -1 : 1, .distance = nearer.distance, .width = nearer.width};
}

static bool is_reached(const nearest_limit *limit) { return limit->exists && !(limit->distance > LIMIT_TOLERANCE * limit->width); }

int model_find_limits(const carom_model *model, model_limit *limits) {
    const mjModel *compiled = model->compiled;
    if (!model_is_enabled(model, mjDSBL_LIMIT)) return 0;
    const int joints = model_count(compiled->njnt), tendons = model_count(compiled->ntendon);
    int count = 0;
    for (int i = 0; i < joints + tendons; i++) {
        const int type = i < joints ? mjOBJ_JOINT : mjOBJ_TENDON, id = i < joints ? i : i - joints;
        const nearest_limit nearest = find_nearest_limit(compiled, model->data, type, id);
        if (!is_reached(&nearest)) continue;
        if (limits) limits[count] = (model_limit){type, id, nearest.sign};
        count++;
    }
    return count;
}

void model_copy_row(int nv, const double *matrix, int index, const int *lengths, const int *starts, const int *columns, double *row) {
    if (!columns) {
        mju_copy(row, matrix + (size_t)index * (size_t)nv, nv);
        return;
    }
    mju_zero(row, nv);
    for (int k = 0; k < lengths[index]; k++) row[columns[starts[index] + k]] = matrix[starts[index] + k];
}

void model_fill_limit_row(const mjModel *compiled, const mjData *data, const model_limit *limit, double *row) {
    const int nv = model_count(compiled->nv);
    if (limit->type == mjOBJ_TENDON) {
        model_fill_tendon_row(compiled, data, limit->id, row);
        mju_scl(row, row, limit->sign, nv);
        return;
    }
    const int dof = compiled->jnt_dofadr[limit->id];
    mju_zero(row, nv);
    if (compiled->jnt_type[limit->id] != mjJNT_BALL) {
        row[dof] = limit->sign;
        return;
    }
    // The angle of rotation grows by the angular velocity along the axis of rotation.
    double axis[3];
    mju_quat2Vel(axis, data->qpos + compiled->jnt_qposadr[limit->id], 1);
    mju_normalize3(axis);
    for (int i = 0; i < 3; i++) row[dof + i] = limit->sign * axis[i];
}

double model_scale_limit_row(const mjModel *compiled, const mjData *data, const model_limit *limit, double *jacobian) {
    if (limit->type != mjOBJ_TENDON) return 1;
    double scale = 0;
    for (int i = compiled->tendon_adr[limit->id]; i < compiled->tendon_adr[limit->id] + compiled->tendon_num[limit->id]; i++) {
        const int type = compiled->wrap_type[i], object = compiled->wrap_objid[i];
        if (type == mjWRAP_JOINT) scale = fmax(scale, fabs(compiled->wrap_prm[i]));
        if (type == mjWRAP_JOINT || type == mjWRAP_PULLEY) continue;
        const int body = type == mjWRAP_SITE ? compiled->site_bodyid[object] : compiled->geom_bodyid[object];
        mj_jac(compiled, data, jacobian, NULL, (type == mjWRAP_SITE ? data->site_xpos : data->geom_xpos) + 3 * object, body);
        scale = fmax(scale, carom_max_abs(3 * (size_t)compiled->nv, jacobian));
    }
    return scale;
}

carom_status model_warn_of_near_limits(carom_model *model, carom_error *error) {
    static const char *const kinds[] = {[mjJNT_BALL] = "ball joint", [mjJNT_SLIDE] = "slide", [mjJNT_HINGE] = "hinge"};
    const mjModel *compiled = model->compiled;
    if (!model_is_enabled(model, mjDSBL_LIMIT)) return CAROM_OK;
    const int joints = model_count(compiled->njnt), tendons = model_count(compiled->ntendon);
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < joints + tendons; i++) {
        const bool tendon = i >= joints;
        const int type = tendon ? mjOBJ_TENDON : mjOBJ_JOINT, id = tendon ? i - joints : i;
        const nearest_limit nearest = find_nearest_limit(compiled, model->data, type, id);
        if (!nearest.exists || !(nearest.distance < NEAR_TOLERANCE * nearest.width) || is_reached(&nearest)) continue;
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, type, id, tendon ? "tendon" : "joint", name, sizeof name);
        // The length of a tendon over joints has the unit that its coefficients give it.
        if (tendon)
            status = model_warn(model, error, "tendon '%s' is %.3g%s from its limit; it counts as free", name, nearest.distance,
                                compiled->wrap_type[compiled->tendon_adr[id]] == mjWRAP_JOINT ? "" : " m");
        else
            status = model_warn(model, error, "%s '%s' is %.3g %s from its stop; it counts as free", kinds[compiled->jnt_type[id]], name,
                                nearest.distance, compiled->jnt_type[id] == mjJNT_SLIDE ? "m" : "rad");
    }
    return status;
}
