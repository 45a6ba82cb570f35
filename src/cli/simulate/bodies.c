// SPDX-License-Identifier: Apache-2.0
// Figures of many bodies: momenta, and frames of the motion side by side.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/quaternion.h"
#include "cli/simulate/simulate.h"

enum { FRAMES = 6, OUTLINE_POINTS = 25, SPACE = 3 };

// Room between frames, relative to their width and height.
#define FRAME_GAP 0.12
// Width over height that a picture's axes leave.
#define PICTURE_SHAPE 1.4
#define TWO_PI        6.283185307179586

// ------------------------------------------------------------------------------------------------------------- momenta

// |change since the start| of a column of vectors.
static void fill_changes(const carom_table *states, const char *name, double *changes) {
    const double *values = cli_column(states, name);
    for (int64_t i = 0; i < carom_table_rows(states); i++) {
        double change[SPACE];
        for (int k = 0; k < SPACE; k++) change[k] = values[SPACE * i + k] - values[k];
        changes[i] = carom_norm3(change);
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

// A plane of two coordinates, what the frames show of it, where the present frame stands, and points that are drawn.
typedef struct film {
    const carom_bodies_motion *problem;
    int across, up, depth, columns;
    bool section;  // where a plane through the first position of the middle body cuts bodies, instead of all of them
    double cut;    // coordinate of that plane
    double least[SPACE], most[SPACE], shift[2];
    double *x, *y;
    int64_t count;
} film;

static double length_along(const film *view, int axis) { return view->most[axis] - view->least[axis]; }

static const double *positions_of(const carom_table *states, int64_t row, int *bodies) {
    int count;
    const double *positions = carom_table_series(states, carom_table_find(states, "position"), row, &count);
    *bodies = count / SPACE;
    return positions;
}

static int64_t row_of_frame(const carom_table *states, int frame) { return (carom_table_rows(states) - 1) * frame / (FRAMES - 1); }

// Columns that come nearest to the picture's shape; bodies that would cover each other are shown as a section.
static void lay_out(film *view) {
    const double width = length_along(view, view->across), height = length_along(view, view->up);
    double worst = INFINITY, area = 0;
    for (int columns = 1; columns <= FRAMES; columns++) {
        const double shape = columns * width / ((FRAMES / columns) * height), miss = fabs(log(shape / PICTURE_SHAPE));
        if (FRAMES % columns || !(miss < worst)) continue;
        worst = miss;
        view->columns = columns;
    }
    for (int i = 0; i < view->problem->bodies; i++) area += 0.5 * TWO_PI * view->problem->body[i].radius * view->problem->body[i].radius;
    view->section = area > width * height;
    view->cut = view->problem->body[view->problem->bodies / 2].position[view->depth];
}

// Frames from left to right, then down.
static void move_to_frame(film *view, int frame) {
    view->shift[0] = (1 + FRAME_GAP) * length_along(view, view->across) * (frame % view->columns);
    view->shift[1] = -(1 + FRAME_GAP) * length_along(view, view->up) * (frame / view->columns);
}

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
    view->depth = SPACE - 1;
    for (int k = SPACE - 2; k >= 0; k--)
        if (length_along(view, k) < length_along(view, view->depth)) view->depth = k;
    view->across = view->depth == 0 ? 1 : 0;
    view->up = view->depth == 2 ? 1 : 2;
    lay_out(view);
}

static void add_point(film *view, double x, double y) {
    view->x[view->count] = x + view->shift[0];
    view->y[view->count++] = y + view->shift[1];
}

// Radius of what is seen of a body; NaN when it is nothing.
static double seen_radius(const film *view, const double x[SPACE], double radius) {
    const double away = x[view->depth] - view->cut;
    return view->section ? sqrt(radius * radius - away * away) : radius;
}

// A circle, and the spoke to where the first axis of the body points.
static void add_body(film *view, const double x[SPACE], const double q[4], double radius) {
    double axis[SPACE];
    carom_quaternion_rotate(q, (double[SPACE]){1, 0, 0}, axis);
    const double a = x[view->across], b = x[view->up], seen = seen_radius(view, x, radius);
    if (!(seen > 0)) return;
    for (int i = 0; i < OUTLINE_POINTS; i++) {
        const double angle = TWO_PI * (double)i / (OUTLINE_POINTS - 1);
        add_point(view, a + seen * cos(angle), b + seen * sin(angle));
    }
    add_point(view, NAN, NAN);
    add_point(view, a, b);
    add_point(view, a + seen * axis[view->across], b + seen * axis[view->up]);
    add_point(view, NAN, NAN);
}

// The line of a plane through the middle of the frame's box, between the box's sides.
static void add_plane(film *view, const double normal[SPACE], double offset) {
    const int a = view->across, b = view->up, depth = view->depth;
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
    // Planes far away would run into other frames.
    const double margin = FRAME_GAP * length_along(view, other);
    for (int end = 0; end < 2; end++)
        if (ends[end][!steep] < view->least[other] - margin || ends[end][!steep] > view->most[other] + margin) return;
    for (int end = 0; end < 2; end++) add_point(view, ends[end][0], ends[end][1]);
    add_point(view, NAN, NAN);
}

static void add_planes(film *view) {
    const carom_bodies_motion *problem = view->problem;
    for (int w = 0; w < problem->walls; w++) add_plane(view, problem->wall[w].normal, problem->wall[w].offset);
    for (int p = 0; p < problem->potentials; p++) {
        const carom_potential *one = &problem->potential[p];
        for (int w = 0; one->type == CAROM_POTENTIAL_HERTZ && w < one->hertz.planes; w++)
            add_plane(view, one->hertz.plane + 4 * w, one->hertz.plane[4 * w + 3]);
    }
}

static int64_t count_planes(const carom_bodies_motion *problem) {
    int64_t planes = problem->walls;
    for (int p = 0; p < problem->potentials; p++)
        if (problem->potential[p].type == CAROM_POTENTIAL_HERTZ) planes += problem->potential[p].hertz.planes;
    return planes;
}

static void fill_film(film *bodies, film *planes, const carom_table *states) {
    for (int frame = 0; frame < FRAMES; frame++) {
        int count, unused;
        const int64_t row = row_of_frame(states, frame);
        const double *x = positions_of(states, row, &count);
        const double *q = carom_table_series(states, carom_table_find(states, "attitude"), row, &unused);
        move_to_frame(bodies, frame);
        move_to_frame(planes, frame);
        for (int i = 0; i < count; i++) add_body(bodies, x + SPACE * i, q + 4 * i, bodies->problem->body[i].radius);
        add_planes(planes);
    }
}

static carom_status write_frames(cli_motion *motion, const char *prefix, const film *bodies, const film *planes, carom_error *error) {
    char label[FRAMES * 24 + 48], x_label[64], y_label[64], when[FRAMES][24];
    for (int frame = 0; frame < FRAMES; frame++)
        snprintf(when[frame], sizeof *when, "%g", cli_column(motion->states, "time")[row_of_frame(motion->states, frame)]);
    snprintf(label, sizeof label, "%s at %s, %s, %s, %s, %s and %s s", bodies->section ? "section" : "bodies", when[0], when[1], when[2],
             when[3], when[4], when[5]);
    snprintf(x_label, sizeof x_label, "coordinate %d [m], frames from left to right", bodies->across + 1);
    snprintf(y_label, sizeof y_label, "coordinate %d [m]%s", bodies->up + 1, bodies->columns < FRAMES ? ", then down" : "");
    const carom_plot_series series[] = {{label, CAROM_PLOT_LINE, bodies->count, bodies->x, bodies->y},
                                        {planes->count ? "planes" : "", CAROM_PLOT_TRACES, planes->count, planes->x, planes->y}};
    const carom_plot plot = {carom_scene_name(motion->scene), x_label, y_label, series, 2, false, true};
    return cli_write_figure(motion, prefix, "frames", &plot, error);
}

carom_status cli_draw_frames(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_bodies_motion *problem = carom_scene_motion(motion->scene)->bodies;
    double largest = 0;
    for (int i = 0; i < problem->bodies; i++) largest = fmax(largest, problem->body[i].radius);
    // Points have nothing to show.
    if (!(largest > 0)) return CAROM_OK;
    const size_t points = FRAMES * (OUTLINE_POINTS + 4) * (size_t)problem->bodies, lines = FRAMES * 3 * (size_t)count_planes(problem);
    double *room = malloc((2 * points + 2 * lines + 1) * sizeof *room);
    if (!room) return carom_fail_memory(error, "figure");
    film bodies = {.problem = problem, .x = room, .y = room + points};
    choose_view(&bodies, motion->states);
    film planes = bodies;
    planes.x = room + 2 * points;
    planes.y = planes.x + lines;
    fill_film(&bodies, &planes, motion->states);
    const carom_status status = write_frames(motion, prefix, &bodies, &planes, error);
    free(room);
    return status;
}
