// SPDX-License-Identifier: Apache-2.0
// Figures of a system's motion over time and over accumulated impulse (Halm & Posa 2023, Figures 6 and 8). What is drawn of the state is
// its last coordinate, which in a planar chain is an angle.
#include <math.h>
#include <stdlib.h>

#include "cli/simulate.h"

static const double *column(const carom_table *table, const char *name) {
    return carom_table_real_column(table, carom_table_find(table, name));
}

// The last entry of every row of a column of velocities or positions.
static void copy_last(const carom_table *states, const char *name, double *values) {
    const size_t nv = (size_t)carom_table_sizes(states)->nv;
    const double *all = column(states, name);
    for (int64_t row = 0; row < carom_table_rows(states); row++) values[row] = all[((size_t)row + 1) * nv - 1];
}

carom_status cli_add_to_bundle(cli_motion *motion, const carom_table *states, carom_error *error) {
    const int64_t rows = carom_table_rows(states), start = motion->bundle_count;
    double *grown = realloc(motion->bundle, (size_t)(2 * (start + rows + 1)) * sizeof *grown), *last;
    if (!grown) return carom_fail_memory(error, "figure");
    motion->bundle = grown;
    motion->bundle_count += rows + 1;
    last = malloc((size_t)(rows + 1) * sizeof *last);
    if (!last) return carom_fail_memory(error, "figure");
    copy_last(states, "qpos", last);
    const double *t = column(states, "t");
    for (int64_t i = 0; i < rows; i++) {
        grown[2 * (start + i)] = t[i];
        grown[2 * (start + i) + 1] = last[i];
    }
    grown[2 * (start + rows)] = grown[2 * (start + rows) + 1] = NAN;
    free(last);
    return CAROM_OK;
}

static carom_status draw_bundle(cli_motion *motion, const char *prefix, const double *last, carom_error *error) {
    const int64_t count = motion->bundle_count;
    double *x = malloc((size_t)(2 * count) * sizeof *x), *y = x + count;
    if (!x) return carom_fail_memory(error, "figure");
    for (int64_t i = 0; i < count; i++) {
        x[i] = motion->bundle[2 * i];
        y[i] = motion->bundle[2 * i + 1];
    }
    const carom_plot_series series[] = {
        {"members of the ensemble", CAROM_PLOT_TRACES, count, x, y},
        {"first", CAROM_PLOT_LINE, carom_table_rows(motion->states), column(motion->states, "t"), last},
    };
    const carom_plot plot = {carom_scene_name(motion->scene), "time t [s]", "last coordinate [m or rad]", series, 2, false};
    const carom_status status = cli_write_figure(motion, prefix, "bundle", &plot, error);
    free(x);
    return status;
}

static carom_status draw_over(cli_motion *motion, const char *prefix, const char *name, const char *label, const double *x,
                              const double *last, const double *rate, carom_error *error) {
    const int64_t rows = carom_table_rows(motion->states);
    const carom_plot_series series[] = {{"last coordinate", CAROM_PLOT_LINE, rows, x, last}, {"its rate", CAROM_PLOT_LINE, rows, x, rate}};
    const carom_plot plot = {carom_scene_name(motion->scene), label, "[m, m/s] or [rad, rad/s]", series, 2, false};
    return cli_write_figure(motion, prefix, name, &plot, error);
}

static carom_status draw_rates(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const int64_t rows = carom_table_rows(states);
    const carom_plot_series series[] = {
        {"time, dt/ds", CAROM_PLOT_LINE, rows, column(states, "s"), column(states, "time_rate")},
        {"normal impulse", CAROM_PLOT_LINE, rows, column(states, "s"), column(states, "impulse_rate")},
    };
    const carom_plot plot = {carom_scene_name(motion->scene), "s", "share of ds", series, 2, false};
    return cli_write_figure(motion, prefix, "rates", &plot, error);
}

static carom_status draw_phase(cli_motion *motion, const char *prefix, const double *last, const double *rate, carom_error *error) {
    const carom_plot_series series = {"", CAROM_PLOT_LINE, carom_table_rows(motion->states), last, rate};
    const carom_plot plot = {carom_scene_name(motion->scene), "last coordinate [m or rad]", "its rate [m/s or rad/s]", &series, 1, false};
    return cli_write_figure(motion, prefix, "phase", &plot, error);
}

carom_status cli_draw_system(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const int64_t rows = carom_table_rows(states);
    double *last = malloc((size_t)(2 * rows + 1) * sizeof *last), *rate = last + rows;
    if (!last) return carom_fail_memory(error, "figure");
    copy_last(states, "qpos", last);
    copy_last(states, "qvel", rate);
    carom_status status = draw_over(motion, prefix, "time", "time t [s]", column(states, "t"), last, rate, error);
    if (!status) status = draw_over(motion, prefix, "impulse", "s", column(states, "s"), last, rate, error);
    if (!status) status = draw_rates(motion, prefix, error);
    if (!status) status = draw_phase(motion, prefix, last, rate, error);
    if (!status && motion->bundle) status = draw_bundle(motion, prefix, last, error);
    free(last);
    return status;
}
