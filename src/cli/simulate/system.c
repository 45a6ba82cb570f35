// SPDX-License-Identifier: Apache-2.0
// Figures of a system's motion over time and over accumulated impulse (Halm & Posa 2023, Figures 6 and 8). What is drawn of the state is
// its last coordinate, which for a planar body is its angle.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/simulate/simulate.h"

#define IMPULSE_LABEL "s: time and accumulated normal impulse [s, N s]"

// The last entry of every row of a column of velocities or positions.
static void copy_last(const carom_table *states, const char *name, double *values) {
    const size_t nv = (size_t)carom_table_sizes(states)->nv;
    const double *all = cli_column(states, name);
    for (int64_t row = 0; row < carom_table_rows(states); row++) values[row] = all[((size_t)row + 1) * nv - 1];
}

// Axis labels of the last coordinate and of its rate, for the joint's name.
typedef struct labels {
    char coordinate[96], rate[96];
} labels;

static labels label_last(const cli_motion *motion) {
    const carom_system *system = carom_scene_motion(motion->scene)->system;
    const char *name = system->names[system->nv - 1], *unit = system->turns[system->nv - 1] ? "rad" : "m";
    labels text;
    snprintf(text.coordinate, sizeof text.coordinate, "%.60s [%s]", name, unit);
    snprintf(text.rate, sizeof text.rate, "rate of %.60s [%s/s]", name, unit);
    return text;
}

enum { BUNDLE_TIME, BUNDLE_COORDINATE, BUNDLE_RATE, BUNDLE_FIELDS };

carom_status cli_add_to_bundle(cli_motion *motion, const carom_table *states, carom_error *error) {
    const int64_t rows = carom_table_rows(states), count = motion->bundle_count + rows + 1;
    double *grown = realloc(motion->bundle, (size_t)(BUNDLE_FIELDS * count) * sizeof *grown);
    if (!grown) return carom_fail_memory(error, "figure");
    const size_t nv = (size_t)carom_table_sizes(states)->nv;
    const double *t = cli_column(states, "t"), *q = cli_column(states, "qpos"), *v = cli_column(states, "qvel");
    double *next = grown + BUNDLE_FIELDS * motion->bundle_count;
    for (int64_t i = 0; i < rows; i++, next += BUNDLE_FIELDS) {
        next[BUNDLE_TIME] = t[i];
        next[BUNDLE_COORDINATE] = q[((size_t)i + 1) * nv - 1];
        next[BUNDLE_RATE] = v[((size_t)i + 1) * nv - 1];
    }
    next[BUNDLE_TIME] = next[BUNDLE_COORDINATE] = next[BUNDLE_RATE] = NAN;
    motion->bundle = grown;
    motion->bundle_count = count;
    return CAROM_OK;
}

// What is drawn of a motion and of the members of its ensemble.
typedef struct curves {
    int64_t rows;
    double *last, *rate;  // [rows] of the motion
    double *members;      // [BUNDLE_FIELDS x bundle_count]
    labels text;
} curves;

static carom_status gather(const cli_motion *motion, curves *all, carom_error *error) {
    const int64_t rows = carom_table_rows(motion->states), count = motion->bundle_count;
    *all =
        (curves){.rows = rows, .last = malloc((size_t)(2 * rows + BUNDLE_FIELDS * count + 1) * sizeof(double)), .text = label_last(motion)};
    if (!all->last) return carom_fail_memory(error, "figure");
    all->rate = all->last + rows;
    all->members = all->rate + rows;
    copy_last(motion->states, "qpos", all->last);
    copy_last(motion->states, "qvel", all->rate);
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < BUNDLE_FIELDS; k++) all->members[k * count + i] = motion->bundle[BUNDLE_FIELDS * i + k];
    return CAROM_OK;
}

// The motion over its members, if there are any.
static carom_status draw_bundle(cli_motion *motion, const char *prefix, const char *name, const carom_plot_series *own, int x, int y,
                                const curves *all, carom_error *error) {
    const char *const axes[BUNDLE_FIELDS] = {
        [BUNDLE_TIME] = "time t [s]", [BUNDLE_COORDINATE] = all->text.coordinate, [BUNDLE_RATE] = all->text.rate};
    const int64_t count = motion->bundle_count;
    const carom_plot_series series[] = {
        {"members of the ensemble", CAROM_PLOT_TRACES, count, all->members + x * count, all->members + y * count}, *own};
    const int members = count > 0;
    const carom_plot plot = {.title = carom_scene_name(motion->scene),
                             .x_label = axes[x],
                             .y_label = axes[y],
                             .series = series + !members,
                             .series_count = 1 + members};
    return cli_write_figure(motion, prefix, name, &plot, error);
}

static carom_status draw_over(cli_motion *motion, const char *prefix, const char *name, const char *label, const double *x,
                              const curves *all, carom_error *error) {
    const carom_plot_series series[] = {{all->text.coordinate, CAROM_PLOT_LINE, all->rows, x, all->last},
                                        {all->text.rate, CAROM_PLOT_LINE, all->rows, x, all->rate}};
    const carom_plot plot = {
        .title = carom_scene_name(motion->scene), .x_label = label, .y_label = "", .series = series, .series_count = 2};
    return cli_write_figure(motion, prefix, name, &plot, error);
}

static carom_status draw_rates(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const int64_t rows = carom_table_rows(states);
    const carom_plot_series series[] = {
        {"time, dt/ds", CAROM_PLOT_LINE, rows, cli_column(states, "s"), cli_column(states, "time_rate")},
        {"normal impulse", CAROM_PLOT_LINE, rows, cli_column(states, "s"), cli_column(states, "impulse_rate")},
    };
    const carom_plot plot = {
        .title = carom_scene_name(motion->scene), .x_label = IMPULSE_LABEL, .y_label = "rate over s", .series = series, .series_count = 2};
    return cli_write_figure(motion, prefix, "rates", &plot, error);
}

carom_status cli_draw_system(cli_motion *motion, const char *prefix, carom_error *error) {
    const double *t = cli_column(motion->states, "t"), *s = cli_column(motion->states, "s");
    curves all;
    carom_status status = gather(motion, &all, error);
    if (status) return status;
    const char *own = motion->bundle_count ? "first" : "";
    const carom_plot_series path = {own, CAROM_PLOT_LINE, all.rows, all.last, all.rate};
    const carom_plot_series course = {own, CAROM_PLOT_LINE, all.rows, t, all.last};
    status = draw_over(motion, prefix, "time", "time t [s]", t, &all, error);
    if (!status) status = draw_over(motion, prefix, "impulse", IMPULSE_LABEL, s, &all, error);
    if (!status) status = draw_rates(motion, prefix, error);
    if (!status) status = draw_bundle(motion, prefix, "phase", &path, BUNDLE_COORDINATE, BUNDLE_RATE, &all, error);
    if (!status && motion->bundle_count)
        status = draw_bundle(motion, prefix, "bundle", &course, BUNDLE_TIME, BUNDLE_COORDINATE, &all, error);
    free(all.last);
    return status;
}
