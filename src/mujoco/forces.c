// SPDX-License-Identifier: Apache-2.0
// Bounded forces: an impact leaves them out, because the impulse of a bounded force vanishes with the duration. A simulator of impacts,
// whose soft contacts take their time, switches them off.
#include <stdio.h>

#include "mujoco/mujoco_internal.h"

void model_switch_off_forces(mjModel *shadow, double *zeros) {
    mju_zero3(shadow->opt.gravity);
    shadow->opt.disableflags |= mjDSBL_ACTUATION | mjDSBL_FRICTIONLOSS;
    model_switch_off_damping(shadow, zeros);
}

// Is one of the numbers above zero?
static bool any(int64_t count, const double *values) {
    for (int64_t i = 0; i < count; i++)
        if (values[i] > 0) return true;
    return false;
}

bool model_has_friction(const carom_model *model) {
    const mjModel *compiled = model->compiled;
    return model_is_enabled(model, mjDSBL_FRICTIONLOSS) &&
           (any(compiled->nv, compiled->dof_frictionloss) || any(compiled->ntendon, compiled->tendon_frictionloss));
}

bool model_has_actuators(const carom_model *model) {
    return model->compiled->nu > 0 && !(model->compiled->opt.disableflags & mjDSBL_ACTUATION);
}

carom_status model_warn_of_forces(carom_model *model, carom_error *error) {
    const mjModel *compiled = model->compiled;
    const int64_t nv = compiled->nv, tendons = compiled->ntendon;
    const struct {
        const char *name;
        bool exists;
    } kinds[] = {
        {"frictionloss", model_has_friction(model)},
        {"damping", any(nv, compiled->dof_damping) || any(tendons, compiled->tendon_damping)},
        {"springs", any(compiled->njnt, compiled->jnt_stiffness) || any(tendons, compiled->tendon_stiffness)},
        {"actuators", model_has_actuators(model)},
    };
    int found = 0, last = 0;
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
        found += kinds[i].exists;
        if (kinds[i].exists) last = i;
    }
    if (!found) return CAROM_OK;
    // "damping", "damping and actuators", or "frictionloss, damping and actuators".
    char list[MODEL_LABEL_SIZE];
    size_t used = 0;
    for (int i = 0; i <= last; i++) {
        if (!kinds[i].exists) continue;
        const char *joint = !used ? "" : i == last ? " and " : ", ";
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", joint, kinds[i].name);
    }
    return model_warn(model, error, "left out: %s; the impulse of a bounded force vanishes with the duration of an impact", list);
}
