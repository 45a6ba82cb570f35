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

// Contacts whose rates are drawn.
enum { MOST_RATES = 8 };

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

// How s grows: by time, and by the normal impulse of each contact. These rates add up to 1. In an impact they are shares of its impulses.
static carom_status figure_rates(const carom_figures *figures, int64_t first, int64_t rows, carom_error *error) {
    const carom_table *states = figures->states, *impacts = figures->answer->impacts;
    const carom_system *system = figures->motion->system;
    const int contacts = system->contacts, drawn = contacts < MOST_RATES ? contacts : MOST_RATES;
    const double *s = carom_motion_column(states, "s"), *time_rate = carom_motion_column(states, "time_rate");
    const double *force = carom_motion_column(states, "normal_force"), *impulse = carom_motion_column(impacts, "normal_impulse");
    const double *start = carom_motion_column(impacts, "s");
    const char *const *names = system->contact_names ? system->contact_names : carom_impact_get_data(figures->motion->impact)->names;
    const int64_t count = impulse && start ? carom_table_rows(impacts) : 0;
    double *rates = malloc((size_t)(drawn * rows) * sizeof *rates + 1);
    char(*labels)[96] = malloc(((size_t)drawn + 1) * sizeof *labels);
    carom_plot_series series[MOST_RATES + 1] = {{"time, dt/ds", CAROM_PLOT_LINE, rows, s + first, time_rate + first}};
    carom_status status = rates && labels ? CAROM_OK : carom_fail_memory(error, "figure");
    int64_t impact = -1;
    for (int64_t row = 0; row < first + rows && !status; row++) {
        // An impact is two states without rate of time, the first after a state with one. The limit of an accumulation is no impact.
        const bool inside = time_rate[row] <= 0;
        if (inside && (!row || time_rate[row - 1] > 0)) impact++;
        double total = 0;
        for (int i = 0; i < contacts && inside && impact < count; i++) total += impulse[impact * contacts + i];
        const bool known = total > 0 && s[row] <= start[impact] + total * (1 + 1e-9);
        for (int i = 0; i < drawn && row >= first; i++)
            rates[i * rows + row - first] = !inside ? force[row * contacts + i] * time_rate[row]
                                            : known ? impulse[impact * contacts + i] / total
                                                    : (double)NAN;
    }
    for (int i = 0; i < drawn && !status; i++) {
        snprintf(labels[i], sizeof *labels, "normal impulse of %.60s", names[i]);
        series[1 + i] = (carom_plot_series){labels[i], CAROM_PLOT_LINE, rows, s + first, rates + i * rows};
    }
    const carom_plot plot = {
        .title = figures->title, .x_label = IMPULSE_LABEL, .y_label = "rate over s", .series = series, .series_count = 1 + drawn};
    if (!status) status = figures->receive(figures->user, "rates", &plot, error);
    free(rates);
    free(labels);
    return status;
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
    if (!status) status = figure_rates(figures, first, c.rows, error);
    // Figure 8: the phase plane, and how the members of an ensemble part from one start.
    if (!status) status = figure_bundle(figures, "phase", &c, INCLUSION_TRACE_COORDINATE, INCLUSION_TRACE_RATE, error);
    if (!status && c.member_rows) status = figure_bundle(figures, "bundle", &c, INCLUSION_TRACE_TIME, INCLUSION_TRACE_COORDINATE, error);
    free(values);
    return status;
}
