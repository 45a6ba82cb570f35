// SPDX-License-Identifier: Apache-2.0
// Pictures that several integrators share: energies, energy error, convergence.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dynamics/dynamics_internal.h"

// Impacts that lose less than this share of the initial energy count as lossless.
#define LEAST_LOSS 1e-9

const double *carom_motion_column(const carom_table *table, const char *name) {
    const int index = carom_table_find(table, name);
    return index < 0 ? NULL : carom_table_real_column(table, index);
}

const double *carom_motion_times(const carom_table *states) {
    const double *times = carom_motion_column(states, "time");
    return times ? times : carom_motion_column(states, "t");
}

carom_status carom_figure_energy(const carom_figures *figures, carom_error *error) {
    static const char *const parts[][2] = {{"translational_energy", "translation"},
                                           {"rotational_energy", "rotation"},
                                           {"kinetic_energy", "kinetic"},
                                           {"potential_energy", "potential"},
                                           {"energy", "sum"},
                                           {"actuator_work", "work of actuators"},
                                           {"friction_work", "work of friction"},
                                           {"impact_work", "change by impacts"}};
    enum { PARTS = sizeof parts / sizeof *parts };
    carom_plot_series series[PARTS];
    int count = 0;
    for (int k = 0; k < PARTS; k++) {
        const double *values = carom_motion_column(figures->states, parts[k][0]);
        if (!values) continue;
        series[count++] = (carom_plot_series){parts[k][1], CAROM_PLOT_LINE, carom_table_rows(figures->states),
                                              carom_motion_times(figures->states), values};
    }
    const carom_plot plot = {
        .title = figures->title, .x_label = "time [s]", .y_label = "energy [J]", .series = series, .series_count = count};
    return figures->receive(figures->user, "energy", &plot, error);
}

carom_status carom_figure_energy_error(const carom_figures *figures, carom_error *error) {
    const carom_table *states = figures->states, *impacts = figures->answer->impacts;
    const int64_t rows = carom_table_rows(states), hits = carom_table_rows(impacts);
    const double *time = carom_motion_column(states, "time"), *energy = carom_motion_column(states, "energy");
    const double *hit = carom_motion_column(impacts, "time"), *change = carom_motion_column(impacts, "energy_change");
    const double initial = fabs(energy[0]), scale = initial > 0 ? initial : 1;
    double *errors = malloc((size_t)rows * sizeof *errors);
    if (!errors) return carom_fail_memory(error, "figure");
    for (int64_t i = 0; i < rows; i++) errors[i] = (energy[i] - energy[0]) / scale;
    // Energy that impacts have taken is not an error, unless they took no more than rounding does.
    bool loses = false;
    for (int64_t i = 0; i < hits; i++) loses = loses || change[i] < -LEAST_LOSS * scale;
    double sum = 0;
    for (int64_t i = 0, k = 0; i < rows && loses; i++) {
        for (; k < hits && hit[k] <= time[i]; k++) sum += hit[k] > time[0] ? change[k] : 0;
        errors[i] -= sum / scale;
    }
    // Errors of the size of rounding would all read as zero: the label has a power of ten as unit.
    double largest = 0;
    for (int64_t i = 0; i < rows; i++) largest = fmax(largest, fabs(errors[i]));
    const double unit = largest > 0 ? pow(10, floor(log10(largest))) : 1;
    for (int64_t i = 0; i < rows; i++) errors[i] /= unit;
    char label[64];
    snprintf(label, sizeof label, initial > 0 ? "relative energy error [%g]" : "energy error [%g J]", unit);
    const carom_plot_series series = {"", CAROM_PLOT_LINE, rows, time, errors};
    const carom_plot plot = {.title = figures->title, .x_label = "time [s]", .y_label = label, .series = &series, .series_count = 1};
    const carom_status status = figures->receive(figures->user, "energy-error", &plot, error);
    free(errors);
    return status;
}

carom_status carom_figure_convergence(const carom_figures *figures, const carom_convergence_hooks *hooks, carom_error *error) {
    const carom_table *table = figures->convergence;
    const int64_t rows = table ? carom_table_rows(table) : 0;
    if (!rows) return CAROM_OK;
    const size_t columns = (size_t)hooks->count + 1;
    carom_arena arena = {0};
    double *logs = carom_arena_take(&arena, columns * (size_t)rows, sizeof *logs);
    carom_plot_series *series = carom_arena_take(&arena, columns, sizeof *series);
    carom_status status = arena.failed ? carom_fail_memory(error, "figure") : CAROM_OK;
    int count = 0;
    for (int c = 0; !status && c <= hooks->count; c++) {
        const double *values = carom_table_real_column(table, c);
        for (int64_t i = 0; i < rows; i++) logs[c * rows + i] = values[i] > 0 ? log10(values[i]) : NAN;
        // The first column is the step; errors that are zero or rounding in every run are left out.
        if (c > 0 && values[0] > 0)
            series[count++] = (carom_plot_series){hooks->labels[c - 1], CAROM_PLOT_LINE, rows, logs, logs + c * rows};
    }
    const carom_plot plot = {.title = figures->title,
                             .x_label = "log10 of the step [s]",
                             .y_label = "log10 of the error",
                             .series = series,
                             .series_count = count};
    if (!status) status = figures->receive(figures->user, "convergence", &plot, error);
    carom_arena_free(&arena);
    return status;
}
