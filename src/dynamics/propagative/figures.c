// SPDX-License-Identifier: Apache-2.0
// Pictures of mechanisms and balls: energies, coordinates or paths of balls, and the distance between orders, which is measured here too.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dynamics/propagative/flight.h"
#include "dynamics/propagative/motion.h"

enum { OUTLINE_POINTS = 49 };  // of a ball, its first point again at the end

// A distance of zero has no logarithm: smaller ones are drawn here.
#define LEAST_DISTANCE 1e-17

carom_status propagative_order_distances(const carom_motion *motion, const carom_table *first, const carom_table *second, int64_t count,
                                         double *distances, carom_error *error) {
    const size_t nv = (size_t)motion->system->nv;
    const double *position = carom_motion_column(first, "qpos");
    const double *p = carom_motion_column(first, "momentum"), *other = carom_motion_column(second, "momentum");
    propagative_flight *flight = NULL;
    double *difference = malloc(nv * sizeof *difference);
    carom_status status = difference ? propagative_flight_create(motion->system, &flight, error) : carom_fail_memory(error, "orders");
    // In the kinetic metric at the first run's position: |p|^2 is twice the kinetic energy.
    for (int64_t i = 0; !status && i < count; i++) {
        const size_t at = (size_t)i * nv;
        for (size_t k = 0; k < nv; k++) difference[k] = p[at + k] - other[at + k];
        const double apart = propagative_flight_kinetic_energy(flight, position + at, difference);
        const double whole = propagative_flight_kinetic_energy(flight, position + at, p + at);
        distances[i] = apart > 0 && whole > 0 ? sqrt(apart / whole) : 0;
    }
    propagative_flight_free(flight);
    free(difference);
    return status;
}

// ---------------------------------------------------------------------------------------------------- balls in a plane

// Points of lines, NaN between them.
typedef struct curve {
    double *x, *y;
    int64_t count;
} curve;

static void add_point(curve *c, double x, double y) {
    c->x[c->count] = x;
    c->y[c->count++] = y;
}

// Circles of all balls at one position.
static void add_outlines(curve *c, const carom_system *system, const double *q) {
    for (int k = 0; k < system->nv; k += 2) {
        for (int i = 0; i < OUTLINE_POINTS; i++) {
            const double angle = 6.283185307179586 * (double)(i % (OUTLINE_POINTS - 1)) / (OUTLINE_POINTS - 1);
            add_point(c, q[k] + system->radii[k / 2] * cos(angle), q[k + 1] + system->radii[k / 2] * sin(angle));
        }
        add_point(c, NAN, NAN);
    }
}

// Where the balls' centers go, and the balls at the start and at the end.
static carom_status figure_paths(const carom_figures *figures, carom_error *error) {
    const carom_table *states = figures->states;
    const carom_system *system = figures->motion->system;
    int64_t start;
    const size_t nv = (size_t)system->nv, balls = nv / 2, rows = (size_t)carom_motion_shown(figures, &start);
    const size_t track = balls * (rows + 1), outline = balls * (OUTLINE_POINTS + 1);
    const double *positions = carom_motion_column(states, "qpos") + (size_t)start * nv;
    double *room = malloc(2 * (track + 2 * outline) * sizeof *room);
    if (!room) return carom_fail_memory(error, "figure");
    curve tracks = {room, room + track, 0}, first = {room + 2 * track, room + 2 * track + outline, 0};
    curve last = {first.y + outline, first.y + 2 * outline, 0};
    // A line for each ball, over all states.
    for (size_t k = 0; k < nv; k += 2) {
        for (size_t i = 0; i < rows; i++) add_point(&tracks, positions[i * nv + k], positions[i * nv + k + 1]);
        add_point(&tracks, NAN, NAN);
    }
    add_outlines(&first, system, positions);
    add_outlines(&last, system, positions + (rows - 1) * nv);
    const carom_plot_series series[] = {
        {"paths", CAROM_PLOT_TRACES, tracks.count, tracks.x, tracks.y},
        {"start", CAROM_PLOT_LINE, first.count, first.x, first.y},
        {"end", CAROM_PLOT_LINE, last.count, last.x, last.y},
    };
    const carom_plot plot = {
        .title = figures->title, .x_label = "x [m]", .y_label = "y [m]", .series = series, .series_count = 3, .equal = true};
    const carom_status status = figures->receive(figures->user, "paths", &plot, error);
    free(room);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- orders

static carom_status figure_orders(const carom_figures *figures, carom_error *error) {
    const carom_table *orders = figures->orders;
    const int scenes = (int)carom_table_rows(orders);
    int count;
    size_t total = 0;
    for (int k = 0; k < scenes; k++) {
        carom_table_series(orders, CAROM_ORDERS_DISTANCES, k, &count);
        total += (size_t)count;
    }
    // A line for each scene: as given, and designed.
    carom_arena arena = {0};
    carom_plot_series *series = carom_arena_take(&arena, (size_t)scenes, sizeof *series);
    double *next = carom_arena_take(&arena, total, sizeof *next);
    carom_status status = arena.failed ? carom_fail_memory(error, "figure") : CAROM_OK;
    bool has_zero = false;
    for (int k = 0; !status && k < scenes; k++) {
        const double *times = carom_table_series(orders, CAROM_ORDERS_TIMES, k, &count);
        const double *distances = carom_table_series(orders, CAROM_ORDERS_DISTANCES, k, &count);
        // Without the start, where the two are the same.
        const int first = count > 1;
        series[k] =
            (carom_plot_series){carom_table_text(orders, CAROM_ORDERS_SCENE, k), CAROM_PLOT_LINE, count - first, times + first, next};
        for (int i = first; i < count; i++) {
            has_zero = has_zero || distances[i] < LEAST_DISTANCE;
            *next++ = log10(fmax(distances[i], LEAST_DISTANCE));
        }
    }
    const char *label = has_zero ? "log10 of |p - p'|/|p|; 0 is drawn at -17" : "log10 of |p - p'|/|p|";
    const carom_plot plot = {.title = figures->title, .x_label = "time [s]", .y_label = label, .series = series, .series_count = scenes};
    if (!status) status = figures->receive(figures->user, "orders", &plot, error);
    carom_arena_free(&arena);
    return status;
}

carom_status propagative_figures(const carom_figures *figures, carom_error *error) {
    const carom_system *system = figures->motion->system;
    carom_status status = carom_figure_energy(figures, error);
    if (!status) status = carom_figure_energy_change(figures, error);
    if (!status) status = system->radii ? figure_paths(figures, error) : carom_figure_coordinates(figures, error);
    return status || !figures->orders ? status : figure_orders(figures, error);
}
