// SPDX-License-Identifier: Apache-2.0
// What the actuators of a model in motion get.
#include <math.h>
#include <stdio.h>

#include "mujoco/mechanism.h"

int carom_model_controls(const carom_model *model) { return model_count(model->compiled->nu); }

void carom_model_name_control(const carom_model *model, int index, char *name, size_t size) {
    // Where actuators have one control each, that is called like the actuator.
    for (int i = 0; i < model_count_actuators(model->compiled); i++) {
        if (model_find_control(model->compiled, i) != index) continue;
        model_write_name(model, mjOBJ_ACTUATOR, i, "actuator", name, size);
        return;
    }
    snprintf(name, size, "control%d", index);
}

carom_status carom_model_key_controls(const carom_model *model, const char *name, const double **values, carom_error *error) {
    const mjModel *compiled = model->compiled;
    const int key = name && *name ? mj_name2id(compiled, mjOBJ_KEY, name) : -1;
    char phrase[CAROM_SUGGESTION_SIZE];
    *values = NULL;
    if (key < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "there is no keyframe called '%s' in %s%s", name ? name : "", model->path,
                          model_suggest(model, mjOBJ_KEY, model_count(compiled->nkey), name ? name : "", phrase));
    *values = compiled->key_ctrl + (size_t)key * (size_t)compiled->nu;
    return CAROM_OK;
}

carom_status model_take_controls(model_mechanism *mechanism, const carom_model_control *control, carom_error *error) {
    const mjModel *compiled = mechanism->model->compiled;
    const size_t nu = (size_t)compiled->nu, rows = (size_t)control->rows;
    mechanism->times = carom_arena_take(&mechanism->arena, rows, sizeof *mechanism->times);
    mechanism->controls = carom_arena_take(&mechanism->arena, rows * nu, sizeof *mechanism->controls);
    if (mechanism->arena.failed) return carom_fail_memory(error, mechanism->model->path);
    const bool clamps = !(compiled->opt.disableflags & mjDSBL_CLAMPCTRL);
    for (size_t i = 0; i < rows; i++) {
        mechanism->times[i] = control->times[i];
        if (!isfinite(control->times[i]) || (i && !(control->times[i] > control->times[i - 1])))
            return carom_fail(error, CAROM_BAD_INPUT, "control: the times of its rows do not increase: row %zu has %g s", i + 1,
                              control->times[i]);
        for (size_t k = 0; k < nu; k++) {
            const double value = mechanism->controls[i * nu + k] = control->values[i * nu + k];
            const double *range = compiled->actuator_ctrlrange + 2 * k;
            const bool outside = clamps && compiled->actuator_ctrllimited[k] && !(value >= range[0] && value <= range[1]);
            if (isfinite(value) && !outside) continue;
            char name[MODEL_LABEL_SIZE];
            carom_model_name_control(mechanism->model, (int)k, name, sizeof name);
            if (!isfinite(value)) return carom_fail(error, CAROM_BAD_INPUT, "control: '%s' gets a number that is not finite", name);
            return carom_fail(error, CAROM_BAD_INPUT, "control: '%s' gets %g, outside its range from %g to %g", name, value, range[0],
                              range[1]);
        }
    }
    mechanism->rows = control->rows;
    return CAROM_OK;
}

// The controls at a time: between two rows of the table in proportion, outside the first or the last row.
void model_set_controls(mechanism_work *work, double time) {
    const model_mechanism *mechanism = work->mechanism;
    const int nu = model_count(work->compiled->nu);
    if (!mechanism->rows) return;
    // The last row that is not later, by bisection.
    int low = 0, high = mechanism->rows;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (mechanism->times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    const double *from = mechanism->controls + (size_t)low * (size_t)nu;
    double share = 0;
    if (high < mechanism->rows && time > mechanism->times[low])
        share = (time - mechanism->times[low]) / (mechanism->times[high] - mechanism->times[low]);
    for (int i = 0; i < nu; i++) work->data->ctrl[i] = share > 0 ? from[i] + share * (from[nu + i] - from[i]) : from[i];
}
