// SPDX-License-Identifier: Apache-2.0
// Pictures that several integrators share: energies, coordinates, convergence.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/suggest.h"
#include "dynamics/dynamics_internal.h"

enum { MOST_LINES = 7 };  // colours that can be told apart

// Values up to sizes between these are shown as they are, others in a power of ten.
#define PLAIN_LEAST 0.1
#define PLAIN_MOST  1e4

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

// The first row at or after a time, or, with `after`, the first one after it; the number of rows where there is none.
static int64_t find_row(const carom_table *states, double time, bool after) {
    const double *times = carom_motion_times(states);
    int64_t low = 0, high = carom_table_rows(states);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (times[middle] < time || (after && times[middle] == time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t carom_motion_find_state(const carom_table *states, double time) {
    const double *times = carom_motion_times(states);
    const int64_t next = find_row(states, time, true), rows = carom_table_rows(states);
    if (next == 0) return 0;
    return next < rows && times[next] - time < time - times[next - 1] ? next : next - 1;
}

int64_t carom_motion_shown(const carom_figures *figures, int64_t *first) {
    *first = figures->window ? find_row(figures->states, figures->window[0], false) : 0;
    return (figures->window ? find_row(figures->states, figures->window[1], true) : carom_table_rows(figures->states)) - *first;
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
    int64_t first;
    const int64_t rows = carom_motion_shown(figures, &first);
    int count = 0;
    for (int k = 0; k < PARTS; k++) {
        const double *values = carom_motion_column(figures->states, parts[k][0]);
        if (!values) continue;
        series[count++] =
            (carom_plot_series){parts[k][1], CAROM_PLOT_LINE, rows, carom_motion_times(figures->states) + first, values + first};
    }
    const carom_plot plot = {
        .title = figures->title, .x_label = "time [s]", .y_label = "energy [J]", .series = series, .series_count = count};
    return figures->receive(figures->user, "energy", &plot, error);
}

carom_status carom_figure_changes(const carom_figures *figures, const char *name, const char *what, const char *unit, int count,
                                  const char *const *labels, double *values, carom_error *error) {
    int64_t first;
    const int64_t rows = carom_motion_shown(figures, &first), all = carom_table_rows(figures->states);
    carom_plot_series series[CAROM_FIGURE_LINES];
    double largest = 0;
    for (int c = 0; c < count; c++)
        for (int64_t i = first; i < first + rows; i++) largest = fmax(largest, fabs(values[c * all + i]));
    const double scale = largest >= PLAIN_LEAST && largest < PLAIN_MOST ? 1 : largest > 0 ? pow(10, floor(log10(largest))) : 1;
    for (int c = 0; c < count; c++) {
        double *own = values + c * all + first;
        for (int64_t i = 0; i < rows; i++) own[i] /= scale;
        series[c] = (carom_plot_series){labels ? labels[c] : "", CAROM_PLOT_LINE, rows, carom_motion_times(figures->states) + first, own};
    }
    char label[96];
    if (scale == 1 && *unit)
        snprintf(label, sizeof label, "%s [%s]", what, unit);
    else if (scale == 1)
        snprintf(label, sizeof label, "%s", what);
    else
        snprintf(label, sizeof label, *unit ? "%s [%g %s]" : "%s [%g%s]", what, scale, unit);
    const carom_plot plot = {.title = figures->title, .x_label = "time [s]", .y_label = label, .series = series, .series_count = count};
    return figures->receive(figures->user, name, &plot, error);
}

carom_status carom_figure_energy_error(const carom_figures *figures, carom_error *error) {
    const carom_table *states = figures->states, *impacts = figures->answer->impacts;
    const int64_t rows = carom_table_rows(states), hits = carom_table_rows(impacts);
    const double *time = carom_motion_times(states), *energy = carom_motion_column(states, "energy");
    const double *broken = carom_motion_column(states, "broken_energy");
    const double *hit = carom_motion_column(impacts, "time"), *change = carom_motion_column(impacts, "energy_change");
    const double initial = fabs(energy[0]), scale = initial > 0 ? initial : 1;
    double *errors = malloc((size_t)rows * sizeof *errors);
    if (!errors) return carom_fail_memory(error, "figure");
    for (int64_t i = 0; i < rows; i++) errors[i] = (energy[i] - energy[0] + (broken ? broken[i] - broken[0] : 0)) / scale;
    // Energy that broken bonds or impacts have taken is not an error, unless they took no more than rounding does.
    bool loses = false;
    for (int64_t i = 0; i < hits; i++) loses = loses || change[i] < -LEAST_LOSS * scale;
    double sum = 0;
    for (int64_t i = 0, k = 0; i < rows && loses; i++) {
        for (; k < hits && hit[k] <= time[i]; k++) sum += hit[k] > time[0] ? change[k] : 0;
        errors[i] -= sum / scale;
    }
    const carom_status status = carom_figure_changes(figures, "energy-error", initial > 0 ? "relative energy error" : "energy error",
                                                     initial > 0 ? "" : "J", 1, NULL, errors, error);
    free(errors);
    return status;
}

carom_status carom_figure_energy_change(const carom_figures *figures, carom_error *error) {
    const int64_t rows = carom_table_rows(figures->states);
    const double *energy = carom_motion_column(figures->states, "energy");
    double *changes = malloc((size_t)rows * sizeof *changes);
    if (!changes) return carom_fail_memory(error, "figure");
    for (int64_t i = 0; i < rows; i++) changes[i] = energy[i] - energy[0];
    const carom_status status = carom_figure_changes(figures, "energy-change", "energy since the start", "J", 1, NULL, changes, error);
    free(changes);
    return status;
}

const char **carom_motion_find_units(const carom_motion *motion, int *count) {
    const bool system = motion->form == CAROM_MOTION_SYSTEM;
    const carom_mechanism *mechanism = motion->mechanism;
    *count = system ? motion->system->nv : mechanism->nq;
    const size_t width = (size_t)*count, nv = system ? 0 : (size_t)mechanism->nv;
    const char **units = malloc(width * sizeof *units);
    double *velocity = calloc(nv + width, sizeof *velocity), *moved = velocity + nv;
    for (size_t k = 0; units && k < width; k++) units[k] = !system ? "1" : motion->system->turns[k] ? "rad" : "m";
    // A coordinate that a velocity moves at its own rate, by 1 in a second, has its unit. A quaternion's numbers change by less than 0.5.
    for (size_t i = 0; units && velocity && i < nv; i++) {
        velocity[i] = 1;
        mechanism->advance(mechanism->self, mechanism->position, velocity, 1, moved);
        velocity[i] = 0;
        for (size_t k = 0; k < width; k++)
            if (fabs(moved[k] - mechanism->position[k] - 1) < 1e-3) units[k] = mechanism->turns[i] ? "rad" : "m";
    }
    if (!velocity) {
        free(units);
        units = NULL;
    }
    free(velocity);
    return units;
}

// The place of a coordinate, or for a tilt that of its quaternion; -1 where there is none.
static int find_coordinate(const char *const *names, int width, const char *name, bool *is_tilt) {
    *is_tilt = false;
    for (int k = 0; k < width; k++)
        if (!strcmp(names[k], name)) return k;
    static const char tilt[] = "tilt", first[] = ".qw";
    const size_t length = strlen(name), ending = sizeof tilt - 1;
    *is_tilt = !strcmp(name, tilt) || (length > ending && name[length - ending - 1] == '.' && !strcmp(name + length - ending, tilt));
    for (int k = 0; k < width && *is_tilt; k++) {
        const size_t own = strlen(names[k]), joint = length > ending ? length - ending - 1 : 0;
        if (own < sizeof first || strcmp(names[k] + own - (sizeof first - 1), first) != 0) continue;
        if (length == ending || (own == joint + sizeof first - 1 && !strncmp(names[k], name, joint))) return k;
    }
    return -1;
}

static const char *const *name_coordinates(const carom_motion *motion, int *count) {
    const bool system = motion->form == CAROM_MOTION_SYSTEM;
    *count = system ? motion->system->nv : motion->mechanism->nq;
    return system ? motion->system->names : motion->mechanism->position_names;
}

carom_status carom_motion_check_coordinates(const carom_motion *motion, const char *const *names, int count, carom_error *error) {
    if (motion->form != CAROM_MOTION_SYSTEM && motion->form != CAROM_MOTION_MECHANISM)
        return carom_fail(error, CAROM_UNSUPPORTED, "coordinates: only scenes with 'model' or 'balls' have coordinates with names");
    int width;
    const char *const *known = name_coordinates(motion, &width);
    char phrase[CAROM_SUGGESTION_SIZE];
    for (int i = 0; i < count; i++) {
        bool tilt;
        if (find_coordinate(known, width, names[i], &tilt) < 0)
            return carom_fail(error, CAROM_BAD_INPUT,
                              tilt ? "coordinates: '%.60s': there is no such free or ball joint%s"
                                   : "coordinates: there is no coordinate '%.60s'%s",
                              names[i], tilt ? "" : carom_suggest(names[i], known, width, phrase));
    }
    return CAROM_OK;
}

// A picture of each chosen coordinate.
static carom_status draw_chosen(const carom_figures *figures, const char *const *units, carom_error *error) {
    int width;
    const char *const *names = name_coordinates(figures->motion, &width);
    const double *positions = carom_motion_column(figures->states, "qpos");
    int64_t first;
    const int64_t rows = carom_motion_shown(figures, &first);
    double *values = malloc((size_t)rows * sizeof *values + 1);
    carom_status status = values ? CAROM_OK : carom_fail_memory(error, "figure");
    for (int c = 0; c < figures->coordinate_count && !status; c++) {
        bool tilt;
        const int k = find_coordinate(names, width, figures->coordinates[c], &tilt);
        for (int64_t i = 0; i < rows; i++) {
            const double *q = positions + (first + i) * width + k;
            // The body's z axis has the height 1 - 2 (x^2 + y^2), with sin(tilt / 2)^2 = x^2 + y^2.
            values[i] = tilt ? 2 * atan2(hypot(q[1], q[2]), hypot(q[0], q[3])) : *q;
        }
        char name[CAROM_MAX_NAME + 16], label[CAROM_MAX_NAME + 16];
        snprintf(name, sizeof name, "coordinate-%s", figures->coordinates[c]);
        // A name of a file has no other characters.
        for (char *at = name; *at; at++)
            if (!isalnum((unsigned char)*at) && !strchr("._-", *at)) *at = '_';
        snprintf(label, sizeof label, "%s [%s]", figures->coordinates[c], tilt ? "rad" : units[k]);
        const carom_plot_series series = {"", CAROM_PLOT_LINE, rows, carom_motion_times(figures->states) + first, values};
        const carom_plot plot = {.title = figures->title, .x_label = "time [s]", .y_label = label, .series = &series, .series_count = 1};
        status = figures->receive(figures->user, name, &plot, error);
    }
    free(values);
    return status;
}

carom_status carom_figure_coordinates(const carom_figures *figures, carom_error *error) {
    // Pictures by unit; their names, and what they show.
    static const char *const units[][3] = {
        {"m", "coordinates-m", "coordinate [m]"}, {"rad", "coordinates-rad", "angle [rad]"}, {"1", "coordinates-quaternion", "quaternion"}};
    const carom_motion *motion = figures->motion;
    const bool system = motion->form == CAROM_MOTION_SYSTEM;
    int width;
    const char **unit = carom_motion_find_units(motion, &width);
    const char *const *names = system ? motion->system->names : motion->mechanism->position_names;
    const double *positions = carom_motion_column(figures->states, "qpos");
    int64_t first;
    const int64_t rows = carom_motion_shown(figures, &first);
    double *room = malloc(MOST_LINES * (size_t)rows * sizeof *room + 1);
    carom_status status = room && unit ? CAROM_OK : carom_fail_memory(error, "figure");
    if (!status && figures->coordinates) status = draw_chosen(figures, unit, error);
    for (size_t u = 0; !status && !figures->coordinates && u < sizeof units / sizeof *units; u++) {
        carom_plot_series series[MOST_LINES];
        int lines = 0, page = 1;
        for (int k = 0; k < width && !status; k++) {
            // States have their coordinates row by row; pictures take an array for each.
            if (!strcmp(unit[k], units[u][0])) {
                double *values = room + lines * rows;
                for (int64_t i = 0; i < rows; i++) values[i] = positions[(first + i) * width + k];
                series[lines++] = (carom_plot_series){names[k], CAROM_PLOT_LINE, rows, carom_motion_times(figures->states) + first, values};
            }
            // A picture is full, or has the last of its unit.
            if (lines < MOST_LINES && (k + 1 < width || !lines)) continue;
            char name[48];
            snprintf(name, sizeof name, page > 1 ? "%s-%d" : "%s", units[u][1], page);
            const carom_plot plot = {
                .title = figures->title, .x_label = "time [s]", .y_label = units[u][2], .series = series, .series_count = lines};
            status = figures->receive(figures->user, name, &plot, error);
            lines = 0;
            page++;
        }
    }
    free(unit);
    free(room);
    return status;
}

carom_status carom_figure_mechanics(const carom_figures *figures, carom_error *error) {
    // A sum alone is in the second picture.
    const bool apart = carom_motion_column(figures->states, "kinetic_energy");
    carom_status status = apart ? carom_figure_energy(figures, error) : CAROM_OK;
    if (!status) status = carom_figure_energy_change(figures, error);
    return status ? status : carom_figure_coordinates(figures, error);
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
