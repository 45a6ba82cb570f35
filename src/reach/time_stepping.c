// SPDX-License-Identifier: Apache-2.0
// One sample of the impact inclusion: `Sim(h, v0, N)` of Algorithm 1 (Halm & Posa, section 5.1).
#include <stdlib.h>
#include <string.h>

#include "reach/reach_internal.h"

struct carom_simulator {
    const carom_impact *impact;
    carom_stepper *stepper;
    double step;
    int64_t max_steps;
    double *lmax;          // [contacts]
    double *u;             // [n] contact velocity
    double *step_impulse;  // [n]
    carom_stream selection;
    const carom_control *control;
    carom_draw_caps draw;
    carom_draw_state draws;
    double *path;  // [path_capacity x n]; NULL when paths are not recorded
    int path_rows, path_capacity;
};

carom_status carom_simulator_create(const carom_impact *impact, const carom_stepper_options *stepper, double step, int64_t max_steps,
                                    carom_draw draw, carom_simulator **simulator, carom_error *error) {
    *simulator = NULL;
    // Written so that NaN is refused, too.
    if (!(step > 0)) return carom_fail(error, CAROM_BAD_INPUT, "step: %g is not greater than 0", step);
    if (max_steps < 1) return carom_fail(error, CAROM_BAD_INPUT, "max_steps: %lld is below the least value 1", (long long)max_steps);
    carom_simulator *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "simulator");
    const size_t n = (size_t)carom_impact_contact_size(impact);
    *made = (carom_simulator){.impact = impact, .step = step, .max_steps = max_steps, .draw = carom_draw_function(draw)};
    made->draws.direction = malloc((size_t)carom_impact_get_data(impact)->contacts * sizeof(double));
    made->lmax = malloc((size_t)carom_impact_get_data(impact)->contacts * sizeof(double));
    made->u = malloc(n * sizeof(double));
    made->step_impulse = malloc(n * sizeof(double));
    carom_status status = CAROM_OK;
    if (!made->lmax || !made->u || !made->step_impulse || !made->draws.direction) status = carom_fail_memory(error, "simulator");
    if (!status) status = carom_stepper_create(impact, stepper, &made->stepper, error);
    if (status)
        carom_simulator_free(made);
    else
        *simulator = made;
    return status;
}

void carom_simulator_free(carom_simulator *simulator) {
    if (!simulator) return;
    carom_stepper_free(simulator->stepper);
    free(simulator->lmax);
    free(simulator->u);
    free(simulator->step_impulse);
    free(simulator->draws.direction);
    free(simulator->path);
    free(simulator);
}

carom_selection carom_simulator_selection(const carom_simulator *simulator) { return carom_stepper_selection(simulator->stepper); }

carom_status carom_simulator_record(carom_simulator *simulator, bool record, carom_error *error) {
    simulator->path_rows = 0;
    if (!record || simulator->path) {
        if (!record) free(simulator->path), simulator->path = NULL;
        return CAROM_OK;
    }
    // Room for the closing step, too.
    simulator->path_capacity = (int)(simulator->max_steps < CAROM_MOST_PATH_STEPS ? simulator->max_steps : CAROM_MOST_PATH_STEPS) + 2;
    simulator->path = malloc((size_t)simulator->path_capacity * (size_t)carom_impact_contact_size(simulator->impact) * sizeof(double));
    return simulator->path ? CAROM_OK : carom_fail_memory(error, "path of a sample");
}

const double *carom_simulator_path(const carom_simulator *simulator, int *rows) {
    *rows = simulator->path ? simulator->path_rows : 0;
    return simulator->path;
}

// Appends the contact velocity u to the path.
static void record(carom_simulator *s) {
    if (!s->path || s->path_rows == s->path_capacity) return;
    const size_t n = (size_t)carom_impact_contact_size(s->impact);
    memcpy(s->path + (size_t)s->path_rows++ * n, s->u, n * sizeof *s->u);
}

void carom_simulator_watch(carom_simulator *simulator, const carom_control *control) {
    simulator->control = control;
    carom_stepper_watch(simulator->stepper, control);
}

static bool has_terminated(carom_simulator *s, const double *v) {
    carom_impact_contact_velocity(s->impact, v, s->u);
    record(s);
    return carom_impact_terminated(s->impact, s->u);
}

// One step under the caps in lmax; adds to the impulse and to the tally.
static void take_step(carom_simulator *s, double *v, double *impulse, carom_simulation *result) {
    carom_step_info info;
    carom_stepper_solve(s->stepper, v, s->lmax, v, s->step_impulse, &info);
    result->interrupted = info.verdict == CAROM_INTERRUPTED;
    result->unsolved = info.verdict != CAROM_COMPLETE && !result->interrupted;
    result->fallbacks += info.fallbacks > 0;
    if (info.verdict != CAROM_COMPLETE) return;
    for (int c = 0; c < carom_impact_contact_size(s->impact); c++) impulse[c] += s->step_impulse[c];
    if (info.residual > result->max_residual) result->max_residual = info.residual;
    if (info.energy_change > result->max_energy_gain) result->max_energy_gain = info.energy_change;
}

void carom_simulator_run(carom_simulator *s, int64_t seed, int64_t index, double *v, double *impulse, carom_simulation *result) {
    const carom_impact_data *data = carom_impact_get_data(s->impact);
    s->path_rows = 0;
    s->draws.has_direction = false;
    carom_stream_start_use(&s->selection, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_SELECTION);
    carom_stepper_set_stream(s->stepper, &s->selection);
    carom_stream_start_use(&s->draws.stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_CAPS);
    memcpy(v, data->velocity, (size_t)data->nv * sizeof *v);
    memset(impulse, 0, (size_t)carom_impact_contact_size(s->impact) * sizeof *impulse);
    *result = (carom_simulation){0};
    while (!(result->terminated = has_terminated(s, v)) && result->steps < s->max_steps && !result->unsolved && !result->interrupted) {
        result->interrupted = carom_control_cancelled(s->control);
        if (result->interrupted) return;
        s->draw(&s->draws, data->contacts, s->step, s->lmax);
        take_step(s, v, impulse, result);
        result->steps++;
    }
}

void carom_simulator_close(carom_simulator *s, double cap, double *v, double *impulse, carom_simulation *result) {
    for (int i = 0; i < carom_impact_get_data(s->impact)->contacts; i++) s->lmax[i] = cap;
    take_step(s, v, impulse, result);
    result->terminated = has_terminated(s, v);
}
