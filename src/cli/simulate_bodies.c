// SPDX-License-Identifier: Apache-2.0
// Figures of many bodies: momenta, and frames of the motion side by side.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate.h"

enum { FRAMES = 6, OUTLINE_POINTS = 25, SPACE = 3 };

// Room between frames, relative to their width.
#define FRAME_GAP 0.12

// ------------------------------------------------------------------------------------------------------------- momenta

static double length_of(const double v[SPACE]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// |change since the start| of a column of vectors.
static void fill_changes(const carom_table *states, const char *name, double *changes) {
    const double *values = cli_column(states, name);
    for (int64_t i = 0; i < carom_table_rows(states); i++) {
        double change[SPACE];
        for (int k = 0; k < SPACE; k++) change[k] = values[SPACE * i + k] - values[k];
        changes[i] = length_of(change);
    }
}

carom_status cli_draw_momenta(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const int64_t rows = carom_table_rows(states);
    double *changes = malloc(3 * (size_t)rows * sizeof *changes);
    if (!changes) return carom_fail_memory(error, "figure");
    static const char *const names[] = {"momentum", "spin", "angular_momentum"};
    static const char *const labels[] = {"sum of m v [N s]", "sum of J Omega [N m s]", "angular momentum about the origin [N m s]"};
    carom_plot_series series[3];
    for (int k = 0; k < 3; k++) {
        fill_changes(states, names[k], changes + k * rows);
        series[k] = (carom_plot_series){labels[k], CAROM_PLOT_LINE, rows, cli_column(states, "time"), changes + k * rows};
    }
    const carom_plot plot = {carom_scene_name(motion->scene), "time [s]", "size of the change since the start", series, 3, false, false};
    const carom_status status = cli_write_figure(motion, prefix, "momentum", &plot, error);
    free(changes);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- frames

// A plane of two coordinates, what the frames show of it, and points that are drawn.
typedef struct film {
    const carom_bodies_motion *problem;
    int across, up;
    double least[SPACE], most[SPACE];
    double *x, *y;
    int64_t count;
} film;

static const double *positions_of(const carom_table *states, int64_t row, int *bodies) {
    int count;
    const double *positions = carom_table_series(states, carom_table_find(states, "position"), row, &count);
    *bodies = count / SPACE;
    return positions;
}

static int64_t row_of_frame(const carom_table *states, int frame) { return (carom_table_rows(states) - 1) * frame / (FRAMES - 1); }

// The box of all frames, and its two longest sides, the first coordinate before the second.
static void choose_view(film *view, const carom_table *states) {
    for (int k = 0; k < SPACE; k++) {
        view->least[k] = INFINITY;
        view->most[k] = -INFINITY;
    }
    for (int frame = 0; frame < FRAMES; frame++) {
        int bodies;
        const double *x = positions_of(states, row_of_frame(states, frame), &bodies);
        for (int i = 0; i < SPACE * bodies; i++) {
            const double radius = view->problem->body[i / SPACE].radius;
            view->least[i % SPACE] = fmin(view->least[i % SPACE], x[i] - radius);
            view->most[i % SPACE] = fmax(view->most[i % SPACE], x[i] + radius);
        }
    }
    int shortest = SPACE - 1;
    for (int k = SPACE - 2; k >= 0; k--)
        if (view->most[k] - view->least[k] < view->most[shortest] - view->least[shortest]) shortest = k;
    view->across = shortest == 0 ? 1 : 0;
    view->up = shortest == 2 ? 1 : 2;
}

static void add_point(film *view, double x, double y) {
    view->x[view->count] = x;
    view->y[view->count++] = y;
}

// A circle, and the spoke to where the first axis of the body points.
static void add_body(film *view, const double x[SPACE], const double q[4], double radius, double shift) {
    const double axis[SPACE] = {1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] + q[0] * q[3]), 2 * (q[1] * q[3] - q[0] * q[2])};
    const double a = x[view->across] + shift, b = x[view->up];
    for (int i = 0; i < OUTLINE_POINTS; i++) {
        const double angle = 6.283185307179586 * (double)i / (OUTLINE_POINTS - 1);
        add_point(view, a + radius * cos(angle), b + radius * sin(angle));
    }
    add_point(view, NAN, NAN);
    add_point(view, a, b);
    add_point(view, a + radius * axis[view->across], b + radius * axis[view->up]);
    add_point(view, NAN, NAN);
}

// The line of a plane through the middle of the frame's box, between the box's sides.
static void add_plane(film *view, const double normal[SPACE], double offset, double shift) {
    const int a = view->across, b = view->up, depth = SPACE - a - b;
    const double constant = offset + normal[depth] * 0.5 * (view->least[depth] + view->most[depth]);
    const bool steep = fabs(normal[a]) > fabs(normal[b]);
    const int along = steep ? b : a, other = steep ? a : b;
    if (normal[other] == 0) return;
    double ends[2][2];
    for (int end = 0; end < 2; end++) {
        const double t = end ? view->most[along] : view->least[along];
        ends[end][steep] = t;
        ends[end][!steep] = -(constant + normal[along] * t) / normal[other];
    }
    for (int end = 0; end < 2; end++) add_point(view, ends[end][0] + shift, ends[end][1]);
    add_point(view, NAN, NAN);
}

static void add_planes(film *view, double shift) {
    const carom_bodies_motion *problem = view->problem;
    for (int w = 0; w < problem->walls; w++) add_plane(view, problem->wall[w].normal, problem->wall[w].offset, shift);
    for (int p = 0; p < problem->potentials; p++) {
        const carom_potential *one = &problem->potential[p];
        for (int w = 0; one->type == CAROM_POTENTIAL_HERTZ && w < one->hertz.planes; w++)
            add_plane(view, one->hertz.plane + 4 * w, one->hertz.plane[4 * w + 3], shift);
    }
}

static int64_t count_planes(const carom_bodies_motion *problem) {
    int64_t planes = problem->walls;
    for (int p = 0; p < problem->potentials; p++)
        if (problem->potential[p].type == CAROM_POTENTIAL_HERTZ) planes += problem->potential[p].hertz.planes;
    return planes;
}

static void fill_film(film *bodies, film *planes, const carom_table *states) {
    const double width = bodies->most[bodies->across] - bodies->least[bodies->across];
    for (int frame = 0; frame < FRAMES; frame++) {
        int count, unused;
        const int64_t row = row_of_frame(states, frame);
        const double *x = positions_of(states, row, &count), shift = (1 + FRAME_GAP) * width * frame;
        const double *q = carom_table_series(states, carom_table_find(states, "attitude"), row, &unused);
        for (int i = 0; i < count; i++) add_body(bodies, x + SPACE * i, q + 4 * i, bodies->problem->body[i].radius, shift);
        add_planes(planes, shift);
    }
}

carom_status cli_draw_frames(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_bodies_motion *problem = carom_scene_motion(motion->scene)->bodies;
    const carom_table *states = motion->states;
    double largest = 0;
    for (int i = 0; i < problem->bodies; i++) largest = fmax(largest, problem->body[i].radius);
    // Points have nothing to show.
    if (!(largest > 0)) return CAROM_OK;
    const size_t points = FRAMES * (OUTLINE_POINTS + 4) * (size_t)problem->bodies, lines = FRAMES * 3 * (size_t)count_planes(problem);
    double *room = malloc((2 * points + 2 * lines + 1) * sizeof *room);
    if (!room) return carom_fail_memory(error, "figure");
    film bodies = {.problem = problem, .x = room, .y = room + points};
    choose_view(&bodies, states);
    film planes = bodies;
    planes.x = room + 2 * points;
    planes.y = planes.x + lines;
    fill_film(&bodies, &planes, states);
    char label[160], x_label[64], y_label[64];
    const double *time = cli_column(states, "time");
    snprintf(label, sizeof label, "bodies at %g, %g, %g, %g, %g and %g s", time[row_of_frame(states, 0)], time[row_of_frame(states, 1)],
             time[row_of_frame(states, 2)], time[row_of_frame(states, 3)], time[row_of_frame(states, 4)], time[row_of_frame(states, 5)]);
    snprintf(x_label, sizeof x_label, "coordinate %d [m], frames moved apart", bodies.across + 1);
    snprintf(y_label, sizeof y_label, "coordinate %d [m]", bodies.up + 1);
    const carom_plot_series series[] = {{label, CAROM_PLOT_LINE, bodies.count, bodies.x, bodies.y},
                                        {"planes", CAROM_PLOT_TRACES, planes.count, planes.x, planes.y}};
    const carom_plot plot = {carom_scene_name(motion->scene), x_label, y_label, series, 2, false, true};
    const carom_status status = cli_write_figure(motion, prefix, "frames", &plot, error);
    free(room);
    return status;
}
