// SPDX-License-Identifier: Apache-2.0
// Pictures of a mechanism's motion: energies, coordinates by kind, and the tubes of an ensemble.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/stepping/stepping.h"

// Kinds of coordinates with tubes, by their unit. Numbers of quaternions have none.
static const struct { const char *unit, *name; } kinds[] = {{"m", "tube-m"}, {"rad", "tube-rad"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

// The tube of the coordinate of a kind, among the chosen ones, whose members part most: extent and quantiles over the recorded times that
// are shown.
static carom_status draw_tube(const carom_figures *figures, const char *const *units, int kind, carom_error *error) {
    static const struct {
        const char *column, *label;
    } lines[] = {{"most", "most"}, {"q95", "95 %"}, {"median", "median"}, {"q05", "5 %"}, {"least", "least"}};
    enum { LINES = sizeof lines / sizeof *lines };
    const carom_mechanism *mechanism = figures->motion->mechanism;
    const carom_table *tubes = figures->ensemble->tubes;
    const size_t nq = (size_t)mechanism->nq, times = (size_t)carom_table_rows(tubes) / nq;
    const double *t = carom_motion_column(tubes, "t"), *window = figures->window;
    const double *least = carom_motion_column(tubes, "least"), *most = carom_motion_column(tubes, "most");
    // Times come in their order, with a row for every coordinate.
    size_t first = 0, end = times;
    while (window && first < end && t[first * nq] < window[0]) first++;
    while (window && end > first && t[(end - 1) * nq] > window[1]) end--;
    const size_t rows = end - first;
    size_t widest = nq;
    double width = -1;
    for (size_t k = 0; k < nq; k++) {
        bool wanted = !figures->coordinates;
        for (int c = 0; c < figures->coordinate_count; c++)
            wanted = wanted || !strcmp(figures->coordinates[c], mechanism->position_names[k]);
        if (!wanted || strcmp(units[k], kinds[kind].unit) != 0) continue;
        for (size_t row = first * nq + k; row < end * nq; row += nq) {
            if (!(most[row] - least[row] > width)) continue;
            width = most[row] - least[row];
            widest = k;
        }
    }
    if (widest == nq) return CAROM_OK;
    double *values = malloc((LINES + 1) * rows * sizeof *values);
    if (!values) return carom_fail_memory(error, "figure");
    carom_plot_series series[LINES];
    for (size_t i = 0; i < rows; i++) values[LINES * rows + i] = t[(first + i) * nq];
    for (size_t j = 0; j < LINES; j++) {
        for (size_t i = 0; i < rows; i++) values[j * rows + i] = carom_motion_column(tubes, lines[j].column)[(first + i) * nq + widest];
        series[j] = (carom_plot_series){lines[j].label, CAROM_PLOT_LINE, (int64_t)rows, values + LINES * rows, values + j * rows};
    }
    char label[128];
    snprintf(label, sizeof label, "%.80s [%s]", mechanism->position_names[widest], kinds[kind].unit);
    const carom_plot plot = {.title = figures->title, .x_label = "time [s]", .y_label = label, .series = series, .series_count = LINES};
    const carom_status status = figures->receive(figures->user, kinds[kind].name, &plot, error);
    free(values);
    return status;
}

carom_status stepping_figures(const carom_figures *figures, carom_error *error) {
    carom_status status = carom_figure_energy(figures, error);
    if (!status) status = carom_figure_coordinates(figures, error);
    const carom_table *tubes = figures->ensemble ? figures->ensemble->tubes : NULL;
    if (status || !tubes || !carom_table_rows(tubes)) return status;
    int count;
    const char **units = carom_motion_find_units(figures->motion, &count);
    if (!units) return carom_fail_memory(error, "figure");
    for (int kind = 0; kind < KINDS && !status; kind++) status = draw_tube(figures, units, kind, error);
    free(units);
    return status;
}
