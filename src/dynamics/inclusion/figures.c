// SPDX-License-Identifier: Apache-2.0
// Pictures of a system's motion over time and over accumulated impulse (Halm & Posa 2023, Figures 6 and 8), and its lines for people.
// What is shown of the state is its last coordinate, which for a planar body is its angle.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/inclusion/inclusion.h"

#define IMPULSE_LABEL "s: time and accumulated normal impulse [s, N s]"

void inclusion_describe(const carom_motion_answer *answer, char *text, size_t size) {
    const double t = *carom_motion_column(answer->result, "accumulation_t"), s = *carom_motion_column(answer->result, "accumulation_s");
    const int64_t count = *carom_table_integer_column(answer->result, carom_table_find(answer->result, "accumulation_count"));
    const int64_t hops = *carom_table_integer_column(answer->result, carom_table_find(answer->result, "unresolved_hops"));
    *text = '\0';
    if (!isnan(t))
        snprintf(text, size, "%" PRId64 " accumulation%s of impacts, the first at t = %.12g s, s = %.12g\n", count, count == 1 ? "" : "s",
                 t, s);
    const size_t used = strlen(text);
    if (hops)
        snprintf(text + used, size - used, "%" PRId64 " hop%s below double precision: not followed, as if the contact had stayed closed\n",
                 hops, hops == 1 ? "" : "s");
}

void inclusion_trace(const carom_table *states, int64_t row, double *values) {
    const size_t nv = (size_t)carom_table_sizes(states)->nv, last = ((size_t)row + 1) * nv - 1;
    values[INCLUSION_TRACE_TIME] = carom_motion_column(states, "t")[row];
    values[INCLUSION_TRACE_COORDINATE] = carom_motion_column(states, "qpos")[last];
    values[INCLUSION_TRACE_RATE] = carom_motion_column(states, "qvel")[last];
}

// The curves of the motion and of the members of its ensemble: an array for each quantity of a trace.
typedef struct curves {
    int64_t rows, member_rows;
    const double *own[INCLUSION_TRACE_WIDTH], *members[INCLUSION_TRACE_WIDTH];
    char label[INCLUSION_TRACE_WIDTH][96];
} curves;

// One quantity over another, of the motion and under it of the members, if there are any.
static carom_status figure_bundle(const carom_figures *figures, const char *name, const curves *c, int x, int y, carom_error *error) {
    const carom_plot_series series[] = {
        {"members of the ensemble", CAROM_PLOT_TRACES, c->member_rows, c->members[x], c->members[y]},
        {c->member_rows ? "first" : "", CAROM_PLOT_LINE, c->rows, c->own[x], c->own[y]},
    };
    const int members = c->member_rows > 0;
    const carom_plot plot = {
        .title = figures->title, .x_label = c->label[x], .y_label = c->label[y], .series = series + !members, .series_count = 1 + members};
    return figures->receive(figures->user, name, &plot, error);
}

// The last coordinate and its rate over time or impulse.
static carom_status figure_course(const carom_figures *figures, const char *name, const char *label, const double *x, const curves *c,
                                  carom_error *error) {
    const carom_plot_series series[] = {
        {c->label[INCLUSION_TRACE_COORDINATE], CAROM_PLOT_LINE, c->rows, x, c->own[INCLUSION_TRACE_COORDINATE]},
        {c->label[INCLUSION_TRACE_RATE], CAROM_PLOT_LINE, c->rows, x, c->own[INCLUSION_TRACE_RATE]}};
    const carom_plot plot = {.title = figures->title, .x_label = label, .y_label = "", .series = series, .series_count = 2};
    return figures->receive(figures->user, name, &plot, error);
}

carom_status inclusion_figures(const carom_figures *figures, carom_error *error) {
    enum { WIDTH = INCLUSION_TRACE_WIDTH };
    const carom_table *states = figures->states;
    const carom_system *system = figures->motion->system;
    const carom_ensemble *ensemble = figures->ensemble;
    int64_t first;
    curves c = {.rows = carom_motion_shown(figures, &first), .member_rows = ensemble ? ensemble->trace_count : 0};
    const double *s = carom_motion_column(states, "s") + first, *window = figures->window;
    double *values = malloc(WIDTH * (size_t)(c.rows + c.member_rows) * sizeof *values + 1);
    if (!values) return carom_fail_memory(error, "figure");
    // Traces have their numbers row by row; pictures take arrays.
    for (int k = 0; k < WIDTH; k++) {
        double *members = values + WIDTH * c.rows + k * c.member_rows;
        for (int64_t i = 0; i < c.member_rows; i++) {
            const double *row = ensemble->traces + WIDTH * i, t = row[INCLUSION_TRACE_TIME];
            members[i] = window && !(t >= window[0] && t <= window[1]) ? NAN : row[k];
        }
        c.own[k] = values + k * c.rows;
        c.members[k] = members;
    }
    for (int64_t i = 0; i < c.rows; i++) {
        double row[WIDTH];
        inclusion_trace(states, first + i, row);
        for (int k = 0; k < WIDTH; k++) values[k * c.rows + i] = row[k];
    }
    // Axes are called after the joint of the last coordinate.
    const char *name = system->names[system->nv - 1], *unit = system->turns[system->nv - 1] ? "rad" : "m";
    snprintf(c.label[INCLUSION_TRACE_TIME], sizeof *c.label, "time t [s]");
    snprintf(c.label[INCLUSION_TRACE_COORDINATE], sizeof *c.label, "%.60s [%s]", name, unit);
    snprintf(c.label[INCLUSION_TRACE_RATE], sizeof *c.label, "rate of %.60s [%s/s]", name, unit);
    carom_status status = carom_figure_mechanics(figures, error);
    // Figure 6: over time, over s, and the rates of both.
    if (!status) status = figure_course(figures, "time", "time t [s]", c.own[INCLUSION_TRACE_TIME], &c, error);
    if (!status) status = figure_course(figures, "impulse", IMPULSE_LABEL, s, &c, error);
    if (!status) {
        const carom_plot_series series[] = {
            {"time, dt/ds", CAROM_PLOT_LINE, c.rows, s, carom_motion_column(states, "time_rate") + first},
            {"normal impulse", CAROM_PLOT_LINE, c.rows, s, carom_motion_column(states, "impulse_rate") + first},
        };
        const carom_plot plot = {
            .title = figures->title, .x_label = IMPULSE_LABEL, .y_label = "rate over s", .series = series, .series_count = 2};
        status = figures->receive(figures->user, "rates", &plot, error);
    }
    // Figure 8: the phase plane, and how the members of an ensemble part from one start.
    if (!status) status = figure_bundle(figures, "phase", &c, INCLUSION_TRACE_COORDINATE, INCLUSION_TRACE_RATE, error);
    if (!status && c.member_rows) status = figure_bundle(figures, "bundle", &c, INCLUSION_TRACE_TIME, INCLUSION_TRACE_COORDINATE, error);
    free(values);
    return status;
}
