// SPDX-License-Identifier: Apache-2.0
// Pictures of many bodies: energies, energy error, energies by term, momenta, convergence, and frames of the motion side by side.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/quaternion.h"
#include "dynamics/rodrigues/rodrigues.h"

enum { FRAMES = 6, MOST_FRAMES = 12, OUTLINE_POINTS = 25, SPACE = 3 };  // frames by default, and where times are given

// Space between frames, relative to their width and height.
#define FRAME_GAP 0.12
// Width over height of the area inside a picture's axes.
#define PICTURE_SHAPE 1.4
#define TWO_PI        6.283185307179586

// How much the energies of motion and each kind of potential energy have changed since the start: those that have.
static carom_status figure_energy_terms(const carom_figures *figures, carom_error *error) {
    static const char *const parts[CAROM_FIGURE_LINES][2] = {{"translational_energy", "translation"},
                                                             {"rotational_energy", "rotation"},
                                                             {"bending_energy", "bending"},
                                                             {"stretching_energy", "stretching"},
                                                             {"shear_energy", "shear"},
                                                             {"contact_energy", "contacts"},
                                                             {"plane_energy", "planes"},
                                                             {"field_energy", "fields"}};
    const int64_t rows = carom_table_rows(figures->states);
    double *changes = malloc(CAROM_FIGURE_LINES * (size_t)rows * sizeof *changes);
    if (!changes) return carom_fail_memory(error, "figure");
    const char *labels[CAROM_FIGURE_LINES];
    int count = 0;
    for (int k = 0; k < CAROM_FIGURE_LINES; k++) {
        const double *values = carom_motion_column(figures->states, parts[k][0]);
        double *own = changes + count * rows;
        bool varies = false;
        for (int64_t i = 0; i < rows; i++) {
            own[i] = values[i] - values[0];
            varies = varies || own[i] != 0;
        }
        if (varies) labels[count++] = parts[k][1];
    }
    const carom_status status =
        count ? carom_figure_changes(figures, "energy-terms", "energy since the start", "J", count, labels, changes, error) : CAROM_OK;
    free(changes);
    return status;
}

// How much the momenta have changed since the start, over time: each kind in a picture of its own, as kept ones change by rounding.
static carom_status figure_momenta(const carom_figures *figures, carom_error *error) {
    static const char *const kinds[][4] = {{"momentum", "momentum", "sum of m v since the start", "N s"},
                                           {"spin", "spin", "sum of J Omega since the start", "N m s"},
                                           {"angular_momentum", "angular-momentum", "angular momentum since the start", "N m s"}};
    static const char *const axes[SPACE] = {"x", "y", "z"};
    const int64_t rows = carom_table_rows(figures->states);
    double *changes = malloc(SPACE * (size_t)rows * sizeof *changes);
    if (!changes) return carom_fail_memory(error, "figure");
    carom_status status = CAROM_OK;
    for (int m = 0; m < 3 && !status; m++) {
        const double *values = carom_motion_column(figures->states, kinds[m][0]);
        for (int k = 0; k < SPACE; k++)
            for (int64_t i = 0; i < rows; i++) changes[k * rows + i] = values[SPACE * i + k] - values[k];
        status = carom_figure_changes(figures, kinds[m][1], kinds[m][2], kinds[m][3], SPACE, axes, changes, error);
    }
    free(changes);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- frames

// How frames show space: two coordinates of it, side by side. Bodies that would cover each other are shown as a section.
typedef struct view {
    const carom_bodies_motion *problem;
    int frames;
    int64_t row[MOST_FRAMES];          // of each frame's state
    int across, up, depth;             // coordinates to the right and upwards, and the one that is not seen
    double least[SPACE], most[SPACE];  // box of all frames
    double length[SPACE];              // of its sides
    int columns;                       // frames in a row
    bool section;                      // where a plane through the first position of the middle body cuts bodies, instead of all of them
    double cut;                        // coordinate of that plane
} view;

// Lines of one frame after the other, NaN between them.
typedef struct strokes {
    double *x, *y;
    int64_t count;
} strokes;

static view choose_view(const carom_figures *figures) {
    const carom_bodies_motion *problem = figures->motion->bodies;
    const carom_table *states = figures->states;
    view v = {.problem = problem, .least = {INFINITY, INFINITY, INFINITY}, .most = {-INFINITY, -INFINITY, -INFINITY}};
    // The states at the times that are asked for, or evenly over all that are shown.
    int64_t first;
    const int64_t shown = carom_motion_shown(figures, &first);
    v.frames = !figures->times ? FRAMES : figures->time_count < MOST_FRAMES ? figures->time_count : MOST_FRAMES;
    for (int frame = 0; frame < v.frames; frame++)
        v.row[frame] = figures->times ? carom_motion_find_state(states, figures->times[frame]) : first + (shown - 1) * frame / (FRAMES - 1);
    for (int frame = 0; frame < v.frames; frame++) {
        int count;
        const double *x = carom_table_series(states, carom_table_find(states, "position"), v.row[frame], &count);
        for (int i = 0; i < count; i++) {
            const double radius = problem->body[i / SPACE].radius;
            v.least[i % SPACE] = fmin(v.least[i % SPACE], x[i] - radius);
            v.most[i % SPACE] = fmax(v.most[i % SPACE], x[i] + radius);
        }
    }
    for (int k = 0; k < SPACE; k++) v.length[k] = v.most[k] - v.least[k];
    // The box's two longest sides are seen, the first coordinate before the second.
    v.depth = SPACE - 1;
    for (int k = SPACE - 2; k >= 0; k--)
        if (v.length[k] < v.length[v.depth]) v.depth = k;
    v.across = v.depth == 0 ? 1 : 0;
    v.up = v.depth == 2 ? 1 : 2;
    // As many columns as come nearest to the picture's shape.
    const double width = v.length[v.across], height = v.length[v.up];
    double worst = INFINITY, area = 0;
    for (int columns = 1; columns <= v.frames; columns++) {
        const int lines = (v.frames + columns - 1) / columns;
        const double miss = fabs(log(columns * width / (lines * height) / PICTURE_SHAPE));
        if (!(miss < worst)) continue;
        worst = miss;
        v.columns = columns;
    }
    for (int i = 0; i < problem->bodies; i++) area += 0.5 * TWO_PI * problem->body[i].radius * problem->body[i].radius;
    v.section = area > width * height;
    v.cut = problem->body[problem->bodies / 2].position[v.depth];
    return v;
}

// A point of a frame: frames stand from left to right, then down.
static void add_point(const view *v, int frame, strokes *lines, double x, double y) {
    lines->x[lines->count] = x + (1 + FRAME_GAP) * v->length[v->across] * (frame % v->columns);
    lines->y[lines->count++] = y + -(1 + FRAME_GAP) * v->length[v->up] * (frame / v->columns);
}

// A circle, and the spoke to where the first axis of the body points.
static void add_body(const view *v, int frame, strokes *lines, const double x[SPACE], const double q[4], double radius) {
    double axis[SPACE];
    carom_quaternion_rotate(q, (double[SPACE]){1, 0, 0}, axis);
    const double a = x[v->across], b = x[v->up], away = x[v->depth] - v->cut;
    // A body that the section's plane misses is left out: the root is NaN.
    const double seen = v->section ? sqrt(radius * radius - away * away) : radius;
    if (!(seen > 0)) return;
    for (int i = 0; i < OUTLINE_POINTS; i++) {
        const double angle = TWO_PI * (double)i / (OUTLINE_POINTS - 1);
        add_point(v, frame, lines, a + seen * cos(angle), b + seen * sin(angle));
    }
    add_point(v, frame, lines, NAN, NAN);
    add_point(v, frame, lines, a, b);
    add_point(v, frame, lines, a + seen * axis[v->across], b + seen * axis[v->up]);
    add_point(v, frame, lines, NAN, NAN);
}

// The line of a plane through the middle of the frame's box, between the box's sides. Planes far away would run into other frames.
static void add_plane(const view *v, int frame, strokes *lines, const double normal[SPACE], double offset) {
    const int a = v->across, b = v->up;
    const double constant = offset + normal[v->depth] * 0.5 * (v->least[v->depth] + v->most[v->depth]);
    const bool steep = fabs(normal[a]) > fabs(normal[b]);
    const int along = steep ? b : a, other = steep ? a : b;
    if (normal[other] == 0) return;
    const double margin = FRAME_GAP * v->length[other];
    double ends[2][2];
    for (int end = 0; end < 2; end++) {
        const double t = end ? v->most[along] : v->least[along], u = -(constant + normal[along] * t) / normal[other];
        if (u < v->least[other] - margin || u > v->most[other] + margin) return;
        ends[end][steep] = t;
        ends[end][!steep] = u;
    }
    for (int end = 0; end < 2; end++) add_point(v, frame, lines, ends[end][0], ends[end][1]);
    add_point(v, frame, lines, NAN, NAN);
}

static carom_status figure_frames(const carom_figures *figures, carom_error *error) {
    const carom_bodies_motion *problem = figures->motion->bodies;
    const carom_table *states = figures->states;
    double largest = 0;
    for (int i = 0; i < problem->bodies; i++) largest = fmax(largest, problem->body[i].radius);
    // Points have nothing to show.
    if (!(largest > 0)) return CAROM_OK;
    size_t planes = (size_t)problem->walls;
    for (int p = 0; p < problem->potentials; p++)
        if (problem->potential[p].type == CAROM_POTENTIAL_HERTZ) planes += (size_t)problem->potential[p].hertz.planes;
    const view v = choose_view(figures);
    const size_t points = (size_t)v.frames * (OUTLINE_POINTS + 4) * (size_t)problem->bodies, most = (size_t)v.frames * 3 * planes;
    carom_arena arena = {0};
    strokes outlines = {.x = carom_arena_take(&arena, points, sizeof(double)), .y = carom_arena_take(&arena, points, sizeof(double))};
    strokes lines = {.x = carom_arena_take(&arena, most, sizeof(double)), .y = carom_arena_take(&arena, most, sizeof(double))};
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "figure");
    }
    // Bodies and planes of every frame, and the label with the frames' times.
    char label[MOST_FRAMES * 24 + 48], x_label[64], y_label[64];
    size_t used = (size_t)snprintf(label, sizeof label, v.section ? "section at " : "bodies at ");
    for (int frame = 0; frame < v.frames; frame++) {
        int count, unused;
        const int64_t row = v.row[frame];
        const double *x = carom_table_series(states, carom_table_find(states, "position"), row, &count);
        const double *q = carom_table_series(states, carom_table_find(states, "attitude"), row, &unused);
        for (int i = 0; i < count / SPACE; i++) add_body(&v, frame, &outlines, x + SPACE * i, q + 4 * i, problem->body[i].radius);
        for (int w = 0; w < problem->walls; w++) add_plane(&v, frame, &lines, problem->wall[w].normal, problem->wall[w].offset);
        for (int p = 0; p < problem->potentials; p++) {
            const carom_potential *one = &problem->potential[p];
            for (int w = 0; one->type == CAROM_POTENTIAL_HERTZ && w < one->hertz.planes; w++)
                add_plane(&v, frame, &lines, one->hertz.plane + 4 * w, one->hertz.plane[4 * w + 3]);
        }
        const char *separator = !frame ? "" : frame + 1 < v.frames ? ", " : " and ";
        used += (size_t)snprintf(label + used, sizeof label - used, "%s%g", separator, carom_motion_times(states)[row]);
    }
    snprintf(label + used, sizeof label - used, " s");
    snprintf(x_label, sizeof x_label, "%c [m], frames from left to right", "xyz"[v.across]);
    snprintf(y_label, sizeof y_label, "%c [m]%s", "xyz"[v.up], v.columns < v.frames ? ", then down" : "");
    const carom_plot_series series[] = {{label, CAROM_PLOT_LINE, outlines.count, outlines.x, outlines.y},
                                        {lines.count ? "planes" : "", CAROM_PLOT_TRACES, lines.count, lines.x, lines.y}};
    const carom_plot plot = {
        .title = figures->title, .x_label = x_label, .y_label = y_label, .series = series, .series_count = 2, .equal = true};
    const carom_status status = figures->receive(figures->user, "frames", &plot, error);
    carom_arena_free(&arena);
    return status;
}

carom_status rodrigues_figures(const carom_figures *figures, carom_error *error) {
    carom_status status = carom_figure_energy(figures, error);
    if (!status) status = carom_figure_energy_error(figures, error);
    if (!status) status = figure_energy_terms(figures, error);
    if (!status) status = figure_momenta(figures, error);
    if (!status) status = carom_figure_convergence(figures, &rodrigues_convergence, error);
    return status ? status : figure_frames(figures, error);
}
