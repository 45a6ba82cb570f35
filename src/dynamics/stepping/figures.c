// SPDX-License-Identifier: Apache-2.0
// Pictures of a mechanism's motion: energies, coordinates by kind, and the tubes of an ensemble.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/stepping/stepping.h"

// Lines in one picture: more cannot be told apart.
enum { MOST_LINES = 8 };
// A small displacement by which the kind of a coordinate shows.
#define PROBE 1e-6

// Kinds of coordinates, each with pictures of its own. Entries of quaternions have none.
typedef enum kind { LENGTH, ANGLE, KINDS, NO_KIND = KINDS } kind;
static const struct {
    const char *picture, *tube, *label;
} kinds[KINDS] = {{"lengths", "tube-lengths", "position [m]"}, {"angles", "tube-angles", "angle [rad]"}};

// The kinds of all coordinates, by what each velocity moves: a coordinate that moves at its rate has its unit.
static carom_status find_kinds(const carom_mechanism *mechanism, kind *of, carom_error *error) {
    const size_t nq = (size_t)mechanism->nq, nv = (size_t)mechanism->nv;
    double *velocity = calloc(nv + nq, sizeof *velocity), *moved = velocity + nv;
    if (!velocity) return carom_fail_memory(error, "figure");
    for (size_t k = 0; k < nq; k++) of[k] = NO_KIND;
    for (size_t i = 0; i < nv; i++) {
        velocity[i] = 1;
        mechanism->advance(mechanism->self, mechanism->position, velocity, PROBE, moved);
        velocity[i] = 0;
        for (size_t k = 0; k < nq; k++)
            if (fabs(moved[k] - mechanism->position[k] - PROBE) < 1e-3 * PROBE) of[k] = mechanism->turns[i] ? ANGLE : LENGTH;
    }
    free(velocity);
    return CAROM_OK;
}

// Coordinates of a kind in the order of their extents, the widest first; returns how many there are, at most MOST_LINES.
static int choose(const double *extent, const kind *of, int nq, kind wanted, int chosen[MOST_LINES]) {
    int count = 0;
    for (int k = 0; k < nq; k++) {
        if (of[k] != wanted) continue;
        int place = count < MOST_LINES ? count++ : MOST_LINES;
        for (; place > 0 && extent[chosen[place - 1]] < extent[k]; place--)
            if (place < MOST_LINES) chosen[place] = chosen[place - 1];
        if (place < MOST_LINES) chosen[place] = k;
    }
    return count;
}

// The coordinates of a kind over time. Pictures take arrays, states have rows.
static carom_status draw_coordinates(const carom_figures *figures, const kind *of, kind wanted, carom_error *error) {
    const carom_mechanism *mechanism = figures->motion->mechanism;
    const size_t nq = (size_t)mechanism->nq, rows = (size_t)carom_table_rows(figures->states);
    const double *q = carom_motion_column(figures->states, "qpos"), *t = carom_motion_column(figures->states, "t");
    double *values = malloc((MOST_LINES * rows + nq) * sizeof *values), *extent = values + MOST_LINES * rows;
    if (!values) return carom_fail_memory(error, "figure");
    for (size_t k = 0; k < nq; k++) {
        double least = q[k], most = q[k];
        for (size_t i = 0; i < rows; i++) {
            least = fmin(least, q[i * nq + k]);
            most = fmax(most, q[i * nq + k]);
        }
        extent[k] = most - least;
    }
    int chosen[MOST_LINES];
    const int count = choose(extent, of, mechanism->nq, wanted, chosen);
    carom_plot_series series[MOST_LINES];
    for (int j = 0; j < count; j++) {
        for (size_t i = 0; i < rows; i++) values[(size_t)j * rows + i] = q[i * nq + (size_t)chosen[j]];
        series[j] = (carom_plot_series){mechanism->position_names[chosen[j]], CAROM_PLOT_LINE, (int64_t)rows, t, values + (size_t)j * rows};
    }
    const carom_plot plot = {
        .title = figures->title, .x_label = "time [s]", .y_label = kinds[wanted].label, .series = series, .series_count = count};
    const carom_status status = count ? figures->receive(figures->user, kinds[wanted].picture, &plot, error) : CAROM_OK;
    free(values);
    return status;
}

// The tube of the coordinate of a kind whose members part most: extent and quantiles over the recorded times.
static carom_status draw_tube(const carom_figures *figures, const kind *of, kind wanted, carom_error *error) {
    static const struct {
        const char *column, *label;
    } lines[] = {{"least", "least"}, {"q05", "5 %"}, {"median", "median"}, {"q95", "95 %"}, {"most", "most"}};
    enum { LINES = sizeof lines / sizeof *lines };
    const carom_mechanism *mechanism = figures->motion->mechanism;
    const carom_table *tubes = figures->ensemble->tubes;
    const size_t nq = (size_t)mechanism->nq, rows = (size_t)carom_table_rows(tubes) / nq;
    const double *least = carom_motion_column(tubes, "least"), *most = carom_motion_column(tubes, "most");
    size_t widest = nq;
    double width = -1;
    for (size_t row = 0; row < rows * nq; row++)
        if (of[row % nq] == wanted && most[row] - least[row] > width) {
            width = most[row] - least[row];
            widest = row % nq;
        }
    if (widest == nq) return CAROM_OK;
    double *values = malloc((LINES + 1) * rows * sizeof *values);
    if (!values) return carom_fail_memory(error, "figure");
    carom_plot_series series[LINES];
    for (size_t i = 0; i < rows; i++) values[LINES * rows + i] = carom_motion_column(tubes, "t")[i * nq + widest];
    for (size_t j = 0; j < LINES; j++) {
        for (size_t i = 0; i < rows; i++) values[j * rows + i] = carom_motion_column(tubes, lines[j].column)[i * nq + widest];
        series[j] = (carom_plot_series){lines[j].label, CAROM_PLOT_LINE, (int64_t)rows, values + LINES * rows, values + j * rows};
    }
    char label[128];
    snprintf(label, sizeof label, "%.80s, %s", mechanism->position_names[widest], kinds[wanted].label);
    const carom_plot plot = {.title = figures->title, .x_label = "time [s]", .y_label = label, .series = series, .series_count = LINES};
    const carom_status status = figures->receive(figures->user, kinds[wanted].tube, &plot, error);
    free(values);
    return status;
}

carom_status stepping_figures(const carom_figures *figures, carom_error *error) {
    const carom_mechanism *mechanism = figures->motion->mechanism;
    kind *of = malloc((size_t)mechanism->nq * sizeof *of);
    if (!of) return carom_fail_memory(error, "figure");
    carom_status status = find_kinds(mechanism, of, error);
    if (!status) status = carom_figure_energy(figures, error);
    const bool has_tubes = figures->ensemble && figures->ensemble->tubes && carom_table_rows(figures->ensemble->tubes) > 0;
    for (kind k = 0; k < KINDS && !status; k++) {
        status = draw_coordinates(figures, of, k, error);
        if (!status && has_tubes) status = draw_tube(figures, of, k, error);
    }
    free(of);
    return status;
}
