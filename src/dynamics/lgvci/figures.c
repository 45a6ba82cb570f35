// SPDX-License-Identifier: Apache-2.0
// Pictures of one body's motion: energies, energy error, snapshots, and how fast the members of an ensemble part.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "dynamics/lgvci/lgvci.h"

enum {
    SHOWN_IMPACTS = 4,     // in the snapshots: later ones overlap
    BETWEEN = 2,           // snapshots between two impacts
    OUTLINE_POINTS = 181,  // of one part, its first point again at the end
};

// Length of the marks of impacts, as a share of what is drawn above them.
#define TICK 0.06
// Distances below this are not drawn: log10 of an exact agreement is no number.
#define LEAST_DISTANCE 1e-300

// |dx| + |dR|, the largest singular value.
static double pose_distance(const double x[3], const double R[9], const double y[3], const double S[9]) {
    double D[9], gram[9], values[3], moved = 0;
    for (int i = 0; i < 3; i++) moved += (x[i] - y[i]) * (x[i] - y[i]);
    for (int i = 0; i < 9; i++) D[i] = R[i] - S[i];
    // Of D = R - S, by the eigenvalues of D'D.
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) gram[3 * i + j] = D[i] * D[j] + D[3 + i] * D[3 + j] + D[6 + i] * D[6 + j];
    return sqrt(moved) + (carom_symmetric_eigen(3, gram, values, NULL) ? NAN : sqrt(fmax(values[2], 0)));
}

double lgvci_impact_distance(const carom_table *first, const carom_table *second, int64_t index) {
    return pose_distance(carom_motion_column(first, "position") + 3 * index, carom_motion_column(first, "attitude") + 9 * index,
                         carom_motion_column(second, "position") + 3 * index, carom_motion_column(second, "attitude") + 9 * index);
}

// What pictures need of a member's state.
enum { TRACE_TIME, TRACE_POSITION, TRACE_ATTITUDE = 4, TRACE_WIDTH = LGVCI_TRACE_WIDTH };

void lgvci_trace(const carom_table *states, int64_t row, double *values) {
    values[TRACE_TIME] = carom_motion_times(states)[row];
    memcpy(values + TRACE_POSITION, carom_motion_column(states, "position") + 3 * row, 3 * sizeof *values);
    memcpy(values + TRACE_ATTITUDE, carom_motion_column(states, "attitude") + 9 * row, 9 * sizeof *values);
}

// ----------------------------------------------------------------------------------------------------------- snapshots

// Points of outlines, one after the other, NaN between them.
typedef struct outline {
    double *x, *z;
    int64_t count;
} outline;

// Appends the outline of every part as seen along the second axis: the points that lie furthest in the directions of the first and third.
static void add_outlines(outline *drawn, const carom_body *body, const carom_table *table, int64_t row) {
    const double *position = carom_motion_column(table, "position") + 3 * row, *R = carom_motion_column(table, "attitude") + 9 * row;
    for (int part = 0; part < carom_body_parts(body); part++) {
        for (int i = 0; i < OUTLINE_POINTS; i++) {
            const double angle = 6.283185307179586 * (double)(i % (OUTLINE_POINTS - 1)) / (OUTLINE_POINTS - 1);
            double u[3], rho[3], point[3];
            for (int k = 0; k < 3; k++) u[k] = -(cos(angle) * R[k] + sin(angle) * R[6 + k]);
            carom_body_part_support(body, part, u, rho);
            for (int k = 0; k < 3; k++) point[k] = position[k] + R[3 * k] * rho[0] + R[3 * k + 1] * rho[1] + R[3 * k + 2] * rho[2];
            drawn->x[drawn->count] = point[0];
            drawn->z[drawn->count++] = point[2];
        }
        drawn->x[drawn->count] = drawn->z[drawn->count] = NAN;
        drawn->count++;
    }
}

// Recorded states next to times that divide an interval evenly.
static void add_states_between(const carom_table *states, const carom_body *body, double from, double to, outline *drawn) {
    for (int i = 1; i <= BETWEEN; i++)
        add_outlines(drawn, body, states, carom_motion_find_state(states, from + (to - from) * i / (BETWEEN + 1)));
}

static carom_status figure_snapshots(const carom_figures *figures, carom_error *error) {
    const carom_body_motion *motion = figures->motion->body;
    const carom_table *states = figures->states, *impacts = figures->answer->impacts;
    const size_t each = (size_t)carom_body_parts(motion->body) * (OUTLINE_POINTS + 1);
    const size_t most = (1 + (BETWEEN + 1) * (SHOWN_IMPACTS + 1) + (size_t)figures->time_count) * each;
    double *room = malloc((4 * most + 4) * sizeof *room);
    if (!room) return carom_fail_memory(error, "figure");
    outline touching = {room, room + most, 0}, flying = {room + 2 * most, room + 3 * most, 0};
    // The states that are asked for; or the first that is shown, the first impacts after it, and states between them.
    const double *time = carom_motion_times(states), *hit = carom_motion_column(impacts, "time");
    int64_t first, hits = 0;
    const int64_t last = carom_motion_shown(figures, &first) + first - 1;
    double from = time[first];
    for (int i = 0; i < figures->time_count; i++)
        add_outlines(&flying, motion->body, states, carom_motion_find_state(states, figures->times[i]));
    if (!figures->times) add_outlines(&flying, motion->body, states, first);
    for (int64_t i = 0; i < carom_table_rows(impacts) && hits < SHOWN_IMPACTS && !figures->times; i++) {
        if (hit[i] < time[first] || hit[i] > time[last]) continue;
        add_states_between(states, motion->body, from, hit[i], &flying);
        add_outlines(&touching, motion->body, impacts, i);
        from = hit[i];
        hits++;
    }
    if (!hits && !figures->times) add_states_between(states, motion->body, from, time[last], &flying);
    // The plane's line in the picture, under all that is shown.
    double ground_x[2] = {INFINITY, -INFINITY}, ground_z[2];
    const outline *both[] = {&touching, &flying};
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < both[k]->count; i++) {
            ground_x[0] = fmin(ground_x[0], both[k]->x[i]);
            ground_x[1] = fmax(ground_x[1], both[k]->x[i]);
        }
    }
    const double *n = motion->plane_normal;
    for (int i = 0; i < 2; i++) ground_z[i] = -(motion->plane_offset + n[0] * ground_x[i]) / n[2];
    const carom_plot_series series[] = {
        {figures->times ? "at the times asked for" : "in flight", CAROM_PLOT_TRACES, flying.count, flying.x, flying.z},
        {hits ? "at impacts" : "", CAROM_PLOT_LINE, touching.count, touching.x, touching.z},
        {"plane, where y is 0", CAROM_PLOT_LINE, 2, ground_x, ground_z},
    };
    const carom_plot plot = {
        .title = figures->title, .x_label = "x [m]", .y_label = "z [m]", .series = series, .series_count = 3, .equal = true};
    const carom_status status = figures->receive(figures->user, "snapshots", &plot, error);
    free(room);
    return status;
}

// --------------------------------------------------------------------------------------------------------- sensitivity

// Distances of the members from the reference, by decades, over impacts.
static carom_status figure_sensitivity(const carom_figures *figures, carom_error *error) {
    const carom_ensemble *ensemble = figures->ensemble;
    const carom_table *members = ensemble->members;
    int64_t total = 0, filled = 0;
    int count;
    for (int64_t row = 0; row < carom_table_rows(members); row++) {
        carom_table_series(members, CAROM_MEMBER_DISTANCES, row, &count);
        total += count + 1;
    }
    double *x = malloc((size_t)(2 * total + 1) * sizeof *x);
    if (!x) return carom_fail_memory(error, "figure");
    double *y = x + total;
    // A line for each member, which a NaN ends.
    for (int64_t row = 0; row < carom_table_rows(members); row++) {
        const double *distances = carom_table_series(members, CAROM_MEMBER_DISTANCES, row, &count);
        for (int k = 0; k <= count; k++) {
            x[filled] = k + 1;
            y[filled++] = k < count && distances[k] > LEAST_DISTANCE ? log10(distances[k]) : NAN;
        }
    }
    char label[96];
    const char *what = ensemble->perturbed == CAROM_PERTURB_BOTH ? "position and attitude" : carom_perturbed_names[ensemble->perturbed];
    snprintf(label, sizeof label, "members, %s perturbed by %g", what, ensemble->perturbation);
    const carom_plot_series series = {label, CAROM_PLOT_TRACES, filled, x, y};
    const carom_plot plot = {.title = figures->title,
                             .x_label = "impact",
                             .y_label = "log10 of the distance |dx| + |dR| from the reference",
                             .series = &series,
                             .series_count = 1};
    const carom_status status = figures->receive(figures->user, "sensitivity", &plot, error);
    free(x);
    return status;
}

// Members over the reference at the recorded times: their paths as seen along the second axis, and their distances (Tran & Leok, Figures 7
// and 8).
static carom_status figure_members(const carom_figures *figures, carom_error *error) {
    const carom_ensemble *ensemble = figures->ensemble;
    const carom_table *states = figures->states, *impacts = figures->answer->impacts;
    int64_t first, filled = 0;
    const int64_t rows = carom_motion_shown(figures, &first), all = ensemble->trace_count, hits = carom_table_rows(impacts);
    const double *time = carom_motion_times(states), *position = carom_motion_column(states, "position");
    const double *attitude = carom_motion_column(states, "attitude"), *hit = carom_motion_column(impacts, "time");
    double *room = malloc((4 * (size_t)all + 2 * (size_t)rows + 6 * (size_t)hits + 1) * sizeof *room);
    if (!room) return carom_fail_memory(error, "figure");
    double *x = room, *z = x + all, *t = z + all, *distance = t + all, *own_x = distance + all, *own_z = own_x + rows;
    double *tick = own_z + rows, *mark = tick + 3 * hits, least = INFINITY, most = -INFINITY;
    // Members have the reference's times, and end where a NaN is.
    for (int64_t i = 0; i < all; i++) {
        const double *row = ensemble->traces + TRACE_WIDTH * i;
        const bool ends = isnan(row[TRACE_TIME]);
        if (!ends && !(row[TRACE_TIME] >= time[first] && row[TRACE_TIME] <= time[first + rows - 1])) continue;
        const int64_t same = ends ? 0 : carom_motion_find_state(states, row[TRACE_TIME]);
        const double apart =
            ends ? NAN : pose_distance(row + TRACE_POSITION, row + TRACE_ATTITUDE, position + 3 * same, attitude + 9 * same);
        x[filled] = row[TRACE_POSITION];
        z[filled] = row[TRACE_POSITION + 2];
        t[filled] = row[TRACE_TIME];
        distance[filled] = apart > LEAST_DISTANCE ? log10(apart) : NAN;
        if (!isnan(distance[filled])) {
            least = fmin(least, distance[filled]);
            most = fmax(most, distance[filled]);
        }
        filled++;
    }
    for (int64_t i = 0; i < rows; i++) {
        own_x[i] = position[3 * (first + i)];
        own_z[i] = position[3 * (first + i) + 2];
    }
    // Impacts of the reference, at the foot of the picture.
    int64_t ticks = 0;
    for (int64_t i = 0; i < hits; i++) {
        if (hit[i] < time[first] || hit[i] > time[first + rows - 1]) continue;
        for (int end = 0; end < 3; end++) {
            tick[ticks] = end < 2 ? hit[i] : NAN;
            mark[ticks++] = end < 2 ? least - TICK * (most - least) * (0.5 + end) : NAN;
        }
    }
    char label[96];
    const char *what = ensemble->perturbed == CAROM_PERTURB_BOTH ? "position and attitude" : carom_perturbed_names[ensemble->perturbed];
    snprintf(label, sizeof label, "members, %s perturbed by %g", what, ensemble->perturbation);
    const carom_plot_series paths[] = {{label, CAROM_PLOT_TRACES, filled, x, z}, {"unperturbed", CAROM_PLOT_LINE, rows, own_x, own_z}};
    const carom_plot_series distances[] = {{label, CAROM_PLOT_TRACES, filled, t, distance},
                                           {ticks ? "impacts of the unperturbed motion" : "", CAROM_PLOT_LINE, ticks, tick, mark}};
    const carom_plot seen = {
        .title = figures->title, .x_label = "x [m]", .y_label = "z [m]", .series = paths, .series_count = 2, .equal = true};
    const carom_plot over_time = {.title = figures->title,
                                  .x_label = "time [s]",
                                  .y_label = "log10 of the distance |dx| + |dR|",
                                  .series = distances,
                                  .series_count = 2};
    carom_status status = figures->receive(figures->user, "members", &seen, error);
    if (!status && least < most) status = figures->receive(figures->user, "distances", &over_time, error);
    free(room);
    return status;
}

// Kinetic and potential energy in pictures of their own, to be put beneath each other (Figure 5), with the times of impacts.
static carom_status figure_steps(const carom_figures *figures, carom_error *error) {
    const carom_table *states = figures->states, *impacts = figures->answer->impacts;
    int64_t first;
    const int64_t rows = carom_motion_shown(figures, &first), hits = carom_table_rows(impacts);
    const double *time = carom_motion_times(states) + first, *hit = carom_motion_column(impacts, "time");
    const double *translation = carom_motion_column(states, "translational_energy") + first;
    const double *rotation = carom_motion_column(states, "rotational_energy") + first;
    const double *potential = carom_motion_column(states, "potential_energy") + first;
    double *values = malloc(((size_t)rows + 6 * (size_t)hits + 1) * sizeof *values);
    if (!values) return carom_fail_memory(error, "figure");
    double *tick = values + rows, *mark = tick + 3 * hits;
    static const char *const names[] = {"kinetic", "potential"}, *const labels[] = {"kinetic energy [J]", "potential energy [J]"};
    carom_status status = CAROM_OK;
    for (int which = 0; which < 2 && !status; which++) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < rows; i++) {
            values[i] = which ? potential[i] : translation[i] + rotation[i];
            least = fmin(least, values[i]);
            most = fmax(most, values[i]);
        }
        int64_t ticks = 0;
        for (int64_t i = 0; i < hits; i++) {
            if (hit[i] < time[0] || hit[i] > time[rows - 1]) continue;
            for (int end = 0; end < 3; end++) {
                tick[ticks] = end < 2 ? hit[i] : NAN;
                mark[ticks++] = end < 2 ? least - TICK * (most - least) * (0.5 + end) : NAN;
            }
        }
        const carom_plot_series series[] = {{"", CAROM_PLOT_LINE, rows, time, values},
                                            {ticks ? "impacts" : "", CAROM_PLOT_LINE, ticks, tick, mark}};
        const carom_plot plot = {
            .title = figures->title, .x_label = "time [s]", .y_label = labels[which], .series = series, .series_count = 2};
        status = figures->receive(figures->user, names[which], &plot, error);
    }
    free(values);
    return status;
}

carom_status lgvci_figures(const carom_figures *figures, carom_error *error) {
    carom_status status = carom_figure_energy(figures, error);
    if (!status) status = carom_figure_energy_error(figures, error);
    if (!status) status = figure_snapshots(figures, error);
    if (!status) status = figure_steps(figures, error);
    if (!status && figures->ensemble) status = figure_sensitivity(figures, error);
    if (!status && figures->ensemble && figures->ensemble->trace_count > 0) status = figure_members(figures, error);
    return status;
}
