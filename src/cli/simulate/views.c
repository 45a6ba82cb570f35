// SPDX-License-Identifier: Apache-2.0
// What a motion looks like: snapshots of all bodies in a view, paths of centres of mass, and animations of both.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/outline.h"
#include "cli/simulate/simulate.h"

enum {
    SNAPSHOTS = 6,       // evenly over what is shown, where no times are given
    PATH_STATES = 1000,  // of which a path goes through at most
    MOST_PATHS = 12,     // more are a tangle
    RATE = 25,           // frames in a second of an animation, which is a second of the motion unless it is too short or too long
    LEAST_FRAMES = 50,
    MOST_FRAMES = 250,
};

// Planes are shown this far from the middle of everything else, as a share of its extent, unless they end before.
#define PLANE_SIZE 0.6

// Series of a picture that grows. Points belong to the arena.
typedef struct scenery {
    const cli_motion *motion;
    carom_view view;
    carom_arena arena;
    carom_plot_series *series;
    int *looks;
    int count, capacity;
    double middle[3], size;  // of everything but planes, over all states that are shown [m]
    double least[2], most[2];
} scenery;

static carom_status add_series(scenery *s, carom_plot_series one, int look, carom_error *error) {
    if (s->count == s->capacity) {
        const int capacity = 2 * s->capacity + 64;
        carom_plot_series *series = realloc(s->series, (size_t)capacity * sizeof *series);
        if (series) s->series = series;
        int *looks = series ? realloc(s->looks, (size_t)capacity * sizeof *looks) : NULL;
        if (!looks) return carom_fail_memory(error, "a picture");
        s->looks = looks;
        s->capacity = capacity;
    }
    s->looks[s->count] = look;
    s->series[s->count++] = one;
    return CAROM_OK;
}

// A series of points [count x 2], one after the other; `closed` repeats the first at the end.
static carom_status add_points(scenery *s, carom_plot_style style, const char *label, int look, int count, const double *points,
                               bool closed, carom_error *error) {
    double *x = carom_arena_take(&s->arena, 2 * ((size_t)count + 1), sizeof *x);
    if (s->arena.failed) return carom_fail_memory(error, "a picture");
    const int all = count + (closed && count > 0);
    for (int i = 0; i < all; i++) {
        x[i] = points[2 * (i % count)];
        x[all + i] = points[2 * (i % count) + 1];
    }
    return add_series(s, (carom_plot_series){label, style, all, x, x + all}, look, error);
}

// Widens the extents by what is seen and where it is.
static carom_status cover_state(scenery *s, const carom_table *states, int64_t row, double box[2][3], carom_error *error) {
    carom_arena arena = {0};
    carom_solids solids;
    carom_status status = carom_scene_solids_at(s->motion->scene, states, row, &arena, &solids, error);
    for (int i = 0; !status && i < solids.count; i++) {
        if (solids.solid[i].kind == CAROM_SOLID_PLANE) continue;
        carom_outline outline;
        status = carom_solid_outline(&solids.solid[i], &s->view, &arena, &outline, error);
        for (int k = 0; !status && k < 2 * outline.corners; k++) {
            s->least[k % 2] = fmin(s->least[k % 2], outline.corner[k]);
            s->most[k % 2] = fmax(s->most[k % 2], outline.corner[k]);
        }
        for (int k = 0; k < 3; k++) {
            box[0][k] = fmin(box[0][k], solids.solid[i].position[k]);
            box[1][k] = fmax(box[1][k], solids.solid[i].position[k]);
        }
    }
    carom_arena_free(&arena);
    return status;
}

// What is seen of a plane: its part in a square around the middle of everything; edge on, a line.
static carom_status add_plane(scenery *s, const carom_solid *plane, carom_error *error) {
    double from[2], to[2], points[8];
    for (int axis = 0; axis < 2; axis++) {
        double center = 0;
        for (int k = 0; k < 3; k++) center += plane->rotation[3 * k + axis] * (s->middle[k] - plane->position[k]);
        const double edge = plane->size[axis] > 0 ? plane->size[axis] : INFINITY, reach = PLANE_SIZE * s->size;
        from[axis] = fmax(-edge, center - reach);
        to[axis] = fmin(edge, center + reach);
        // Everything is far from this plane.
        if (!(from[axis] < to[axis])) return CAROM_OK;
    }
    for (int corner = 0; corner < 4; corner++) {
        const double along = corner == 1 || corner == 2 ? to[0] : from[0], across = corner > 1 ? to[1] : from[1];
        double point[3];
        for (int k = 0; k < 3; k++) point[k] = plane->position[k] + along * plane->rotation[3 * k] + across * plane->rotation[3 * k + 1];
        carom_view_project(&s->view, point, points + 2 * corner);
    }
    return add_points(s, CAROM_PLOT_TRACES, "", 0, 4, points, true, error);
}

// One state: its solids in the order in which they hide each other, each filled, then outlined in the look's colour. Planes come along with
// the first state only.
static carom_status add_state(scenery *s, const carom_table *states, int64_t row, bool planes, const char *label, int look,
                              carom_error *error) {
    carom_solids solids;
    carom_status status = carom_scene_solids_at(s->motion->scene, states, row, &s->arena, &solids, error);
    if (status) return status;
    carom_outline *outline = carom_arena_take(&s->arena, (size_t)solids.count, sizeof *outline);
    int *order = carom_arena_take(&s->arena, (size_t)solids.count, sizeof *order);
    if (s->arena.failed) return carom_fail_memory(error, "a picture");
    for (int i = 0; i < solids.count && !status; i++)
        if (solids.solid[i].kind != CAROM_SOLID_PLANE)
            status = carom_solid_outline(&solids.solid[i], &s->view, &s->arena, &outline[i], error);
    if (!status) status = carom_solids_order(solids.count, solids.solid, outline, &s->view, order, error);
    for (int k = 0; k < solids.count && !status; k++) {
        const carom_solid *solid = &solids.solid[order[k]];
        const carom_outline *seen = &outline[order[k]];
        if (solid->kind == CAROM_SOLID_PLANE) {
            if (planes) status = add_plane(s, solid, error);
            continue;
        }
        if (solid->fixed && !planes) continue;
        if (seen->corners > 2) status = add_points(s, CAROM_PLOT_GROUND, "", look, seen->corners, seen->corner, true, error);
        if (!status && seen->points) status = add_points(s, CAROM_PLOT_TRACES, "", look, seen->points, seen->line, false, error);
        if (!status && seen->corners) {
            status = add_points(s, CAROM_PLOT_LINE, solid->fixed ? "" : label, look, seen->corners, seen->corner, seen->corners > 2, error);
            if (!solid->fixed) label = "";
        }
    }
    return status;
}

// Where the centres of mass go, of each tree of bodies, over the states that are shown.
static carom_status add_paths(scenery *s, const carom_table *states, int64_t first, int64_t count, carom_error *error) {
    const int64_t kept = count < PATH_STATES ? count : PATH_STATES;
    double *points = NULL;
    int trees = 0;
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < kept && !status; i++) {
        const int64_t row = first + (kept > 1 ? (count - 1) * i / (kept - 1) : 0);
        carom_arena arena = {0};
        carom_solids solids;
        status = carom_scene_solids_at(s->motion->scene, states, row, &arena, &solids, error);
        if (!status && !points) {
            trees = solids.trees <= MOST_PATHS ? solids.trees : 0;
            points = carom_arena_take(&s->arena, 2 * (size_t)trees * (size_t)kept, sizeof *points);
            if (s->arena.failed) status = carom_fail_memory(error, "a picture");
        }
        for (int t = 0; t < trees && !status; t++) carom_view_project(&s->view, solids.tree[t].center, points + 2 * (t * kept + i));
        carom_arena_free(&arena);
    }
    for (int t = 0; t < trees && !status; t++)
        status = add_points(s, CAROM_PLOT_GUIDE,
                            t           ? ""
                            : trees > 1 ? "paths of centres of mass"
                                        : "path of the centre of mass",
                            0, (int)kept, points + 2 * t * kept, false, error);
    return status;
}

// Corners of all that will be seen: lines of one point each, which show nothing and keep the ranges of all frames the same.
static carom_status add_corners(scenery *s, carom_error *error) {
    const double corners[] = {s->least[0], s->least[1], NAN, NAN, s->most[0], s->most[1]};
    return add_points(s, CAROM_PLOT_TRACES, "", 0, 3, corners, false, error);
}

static void clear(scenery *s) {
    carom_arena_free(&s->arena);
    s->count = 0;
}

// Finds how far all reaches in these states.
static carom_status measure(scenery *s, const carom_table *states, const int64_t *rows, int count, carom_error *error) {
    double box[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    carom_status status = CAROM_OK;
    for (int k = 0; k < 2; k++) {
        s->least[k] = INFINITY;
        s->most[k] = -INFINITY;
    }
    for (int i = 0; i < count && !status; i++) status = cover_state(s, states, rows[i], box, error);
    s->size = fmax(s->most[0] - s->least[0], s->most[1] - s->least[1]);
    for (int k = 0; k < 3; k++) {
        s->middle[k] = 0.5 * (box[0][k] + box[1][k]);
        s->size = fmax(s->size, box[1][k] - box[0][k]);
    }
    if (!status && !isfinite(s->size)) status = carom_fail(error, CAROM_UNSUPPORTED, "the scene has no bodies that could be drawn");
    return status;
}

// What axes show, by the view.
static carom_plot describe(const scenery *s, const char *title) {
    const bool oblique = !strcmp(s->view.name, "3d"), top = !strcmp(s->view.name, "top"), front = !strcmp(s->view.name, "front");
    return (carom_plot){.title = title,
                        .x_label = oblique ? "to the right [m]"
                                   : front ? "y [m]"
                                           : "x [m]",
                        .y_label = oblique ? "upwards [m]"
                                   : top   ? "y [m]"
                                           : "z [m]",
                        .series = s->series,
                        .series_count = s->count,
                        .equal = true,
                        .size = s->motion->pictures.size};
}

static void release(scenery *s) {
    clear(s);
    free(s->series);
    free(s->looks);
}

carom_status cli_view_snapshots(const cli_motion *motion, const carom_view *view, int64_t first, int64_t count, const char *path,
                                carom_error *error) {
    const cli_motion_pictures *pictures = &motion->pictures;
    const carom_table *states = motion->states;
    const double *times = carom_motion_times(states);
    scenery s = {.motion = motion, .view = *view};
    // The states at the times asked for, or evenly over time; each once.
    const int most = pictures->times ? pictures->time_count : SNAPSHOTS;
    carom_arena kept = {0};
    int64_t *rows = carom_arena_take(&kept, (size_t)most, sizeof *rows);
    char(*labels)[32] = carom_arena_take(&kept, (size_t)most, sizeof *labels);
    carom_status status = kept.failed ? carom_fail_memory(error, path) : CAROM_OK;
    int shown = 0;
    for (int i = 0; i < most && !status; i++) {
        const double from = times[first], to = times[first + count - 1];
        rows[shown] = carom_motion_find_state(states, pictures->times ? pictures->times[i] : from + (to - from) * i / (SNAPSHOTS - 1));
        if (shown && rows[shown - 1] == rows[shown]) continue;
        snprintf(labels[shown], sizeof *labels, "t = %.4g s", times[rows[shown]]);
        shown++;
    }
    if (!status) status = measure(&s, states, rows, shown, error);
    for (int i = 0; i < shown && !status; i++) status = add_state(&s, states, rows[i], i == 0, labels[i], i % CAROM_PLOT_LOOKS, error);
    if (!status) status = add_paths(&s, states, first, count, error);
    if (!status) {
        const carom_plot plot = describe(&s, carom_scene_name(motion->scene));
        status = carom_plot_write_looks(&plot, s.looks, path, error);
    }
    release(&s);
    carom_arena_free(&kept);
    return status;
}

carom_status cli_view_animate(cli_motion *motion, const carom_view *view, int64_t first, int64_t count, carom_animation *animation,
                              carom_error *error) {
    const carom_table *states = motion->states;
    const double *times = carom_motion_times(states), from = times[first], duration = times[first + count - 1] - from;
    // A second of the film is a second of the motion, unless that would be too short or too long to be seen.
    const double wanted = RATE * duration;
    const int frames = wanted < LEAST_FRAMES ? LEAST_FRAMES : wanted > MOST_FRAMES ? MOST_FRAMES : (int)wanted;
    scenery s = {.motion = motion, .view = *view};
    int64_t rows[MOST_FRAMES] = {0};
    for (int i = 0; i < frames; i++) rows[i] = carom_motion_find_state(states, from + duration * i / (frames - 1));
    carom_status status = measure(&s, states, rows, frames, error);
    for (int i = 0; i < frames && !status && !carom_control_cancelled(&motion->control); i++) {
        char title[256];
        snprintf(title, sizeof title, "%.200s, t = %.3f s", carom_scene_name(motion->scene), times[rows[i]]);
        status = add_state(&s, states, rows[i], true, "", 0, error);
        if (!status) status = add_corners(&s, error);
        const carom_plot plot = describe(&s, title);
        if (!status) status = carom_animation_add(animation, &plot, s.looks, error);
        clear(&s);
    }
    release(&s);
    // What Ctrl-C ends, it also ends in gnuplot, which then has no picture: nothing is left of the film, and the motion stays.
    motion->pictures.cut_short = carom_control_cancelled(&motion->control);
    if (motion->pictures.cut_short) return CAROM_OK;
    return status ? status : carom_animation_finish(animation, RATE, error);
}
