// SPDX-License-Identifier: Apache-2.0
// Figures of mechanisms and balls: energies, coordinates or paths, and the distance between orders.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/simulate/simulate.h"

enum {
    MOST_LINES = 7,       // colours that can be told apart
    OUTLINE_POINTS = 49,  // of a ball, its first point again at the end
};

// Smaller distances are drawn here: none at all has no logarithm.
#define LEAST_DISTANCE 1e-17

static const double *column(const carom_table *table, const char *name) {
    return carom_table_real_column(table, carom_table_find(table, name));
}

static carom_status draw_energy(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const int64_t rows = carom_table_rows(states);
    const double *time = column(states, "time");
    const carom_plot_series series[] = {
        {"kinetic", CAROM_PLOT_LINE, rows, time, column(states, "kinetic_energy")},
        {"potential", CAROM_PLOT_LINE, rows, time, column(states, "potential_energy")},
        {"sum", CAROM_PLOT_LINE, rows, time, column(states, "energy")},
    };
    const carom_plot plot = {carom_scene_name(motion->scene), "time [s]", "energy [J]", series,
                             sizeof series / sizeof *series,  false,      false};
    return cli_write_figure(motion, prefix, "energy", &plot, error);
}

// Coordinates over time.
static carom_status draw_coordinates(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const carom_system *system = carom_scene_motion(motion->scene)->system;
    const size_t nv = (size_t)system->nv, rows = (size_t)carom_table_rows(states);
    const int lines = system->nv < MOST_LINES ? system->nv : MOST_LINES;
    const double *positions = column(states, "qpos");
    double *turned = malloc(nv * rows * sizeof *turned + 1);
    if (!turned) return carom_fail_memory(error, "figure");
    carom_plot_series series[MOST_LINES];
    char labels[MOST_LINES][96];
    for (int k = 0; k < lines; k++) {
        double *values = turned + (size_t)k * rows;
        for (size_t i = 0; i < rows; i++) values[i] = positions[i * nv + (size_t)k];
        snprintf(labels[k], sizeof labels[k], "%.60s [%s]", system->names[k], system->turns[k] ? "rad" : "m");
        series[k] = (carom_plot_series){labels[k], CAROM_PLOT_LINE, (int64_t)rows, column(states, "time"), values};
    }
    const char *what = lines < system->nv ? "first coordinates" : "coordinates";
    const carom_plot plot = {carom_scene_name(motion->scene), "time [s]", what, series, lines, false, false};
    const carom_status status = cli_write_figure(motion, prefix, "coordinates", &plot, error);
    free(turned);
    return status;
}

// Balls in a plane have coordinates x1, y1, x2, ...
static bool are_balls_in_a_plane(const carom_system *system) {
    return system->constant_mass && system->nv % 2 == 0 && system->names[0][0] == 'x' && system->names[1][0] == 'y';
}

// Points of lines, NaN between them.
typedef struct curve {
    double *x, *y;
    int64_t count;
} curve;

static void add_point(curve *c, double x, double y) {
    c->x[c->count] = x;
    c->y[c->count++] = y;
}

static void add_outlines(curve *c, const carom_system *system, const double *q) {
    for (int k = 0; k < system->nv; k += 2) {
        for (int i = 0; i < OUTLINE_POINTS; i++) {
            const double angle = 6.283185307179586 * (double)(i % (OUTLINE_POINTS - 1)) / (OUTLINE_POINTS - 1);
            add_point(c, q[k] + 0.5 * system->length * cos(angle), q[k + 1] + 0.5 * system->length * sin(angle));
        }
        add_point(c, NAN, NAN);
    }
}

// Paths of the balls' centers, and the balls at the start and at the end.
static carom_status draw_paths(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const carom_system *system = carom_scene_motion(motion->scene)->system;
    const size_t nv = (size_t)system->nv, balls = nv / 2, rows = (size_t)carom_table_rows(states);
    const size_t path = balls * (rows + 1), outline = balls * (OUTLINE_POINTS + 1);
    const double *positions = column(states, "qpos");
    double *room = malloc(2 * (path + 2 * outline) * sizeof *room);
    if (!room) return carom_fail_memory(error, "figure");
    curve paths = {room, room + path, 0}, first = {room + 2 * path, room + 2 * path + outline, 0};
    curve last = {first.y + outline, first.y + 2 * outline, 0};
    for (size_t k = 0; k < nv; k += 2) {
        for (size_t i = 0; i < rows; i++) add_point(&paths, positions[i * nv + k], positions[i * nv + k + 1]);
        add_point(&paths, NAN, NAN);
    }
    add_outlines(&first, system, positions);
    add_outlines(&last, system, positions + (rows - 1) * nv);
    const carom_plot_series series[] = {
        {"paths", CAROM_PLOT_TRACES, paths.count, paths.x, paths.y},
        {"start", CAROM_PLOT_LINE, first.count, first.x, first.y},
        {"end", CAROM_PLOT_LINE, last.count, last.x, last.y},
    };
    const carom_plot plot = {carom_scene_name(motion->scene), "x [m]", "y [m]", series, 3, false, true};
    const carom_status status = cli_write_figure(motion, prefix, "paths", &plot, error);
    free(room);
    return status;
}

static carom_status draw_orders(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *orders = motion->orders;
    enum { MOST_SCENES = 2 };
    carom_plot_series series[MOST_SCENES];
    double *logarithms[MOST_SCENES] = {NULL};
    const int scenes = (int)carom_table_rows(orders);
    carom_status status = CAROM_OK;
    for (int s = 0; !status && s < scenes; s++) {
        int count;
        const double *times = carom_table_series(orders, CLI_ORDERS_TIMES, s, &count);
        const double *distances = carom_table_series(orders, CLI_ORDERS_DISTANCES, s, &count);
        logarithms[s] = malloc((size_t)count * sizeof **logarithms + 1);
        if (!logarithms[s]) status = carom_fail_memory(error, "figure");
        for (int i = 0; !status && i < count; i++) logarithms[s][i] = log10(fmax(distances[i], LEAST_DISTANCE));
        series[s] = (carom_plot_series){carom_table_text(orders, CLI_ORDERS_SCENE, s), CAROM_PLOT_LINE, count, times, logarithms[s]};
    }
    const carom_plot plot = {carom_scene_name(motion->scene),
                             "time [s]",
                             "log10 of |p - p'|/|p| (at least 1e-17), orders argmin and argmax",
                             series,
                             scenes,
                             false,
                             false};
    if (!status) status = cli_write_figure(motion, prefix, "orders", &plot, error);
    for (int s = 0; s < MOST_SCENES; s++) free(logarithms[s]);
    return status;
}

carom_status cli_draw_mechanism(cli_motion *motion, const char *prefix, carom_error *error) {
    carom_status status = draw_energy(motion, prefix, error);
    if (!status)
        status = are_balls_in_a_plane(carom_scene_motion(motion->scene)->system) ? draw_paths(motion, prefix, error)
                                                                                 : draw_coordinates(motion, prefix, error);
    if (!status && motion->orders) status = draw_orders(motion, prefix, error);
    return status;
}
