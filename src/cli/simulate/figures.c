// SPDX-License-Identifier: Apache-2.0
// Figures of a body's motion: energies, energy error, snapshots, sensitivity.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/simulate/simulate.h"

enum {
    SHOWN_IMPACTS = 4,     // in the snapshots: later ones overlap
    BETWEEN = 2,           // snapshots between two impacts
    OUTLINE_POINTS = 181,  // of one part, its first point again at the end
};

// Impacts that lose less than this share of the initial energy keep it, up to rounding.
#define LEAST_LOSS 1e-9
// Distances below this are not drawn: log10 of an exact agreement is no number.
#define LEAST_DISTANCE 1e-300

carom_status cli_write_figure(cli_motion *motion, const char *prefix, const char *name, const carom_plot *plot, carom_error *error) {
    const size_t size = strlen(prefix) + strlen(name) + 8;
    char *path = malloc(size);
    if (!path) return carom_fail_memory(error, "figure");
    snprintf(path, size, "%s-%s.png", prefix, name);
    const carom_status status = carom_plot_write(plot, path, error);
    if (!status) json_array_append_new(motion->files, carom_json_text(path));
    free(path);
    return status;
}

const double *cli_column(const carom_table *table, const char *name) {
    const int index = carom_table_find(table, name);
    return index < 0 ? NULL : carom_table_real_column(table, index);
}

// -------------------------------------------------------------------------------------------------------------- energy

static carom_status draw_energy(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const int64_t rows = carom_table_rows(states);
    const double *time = cli_column(states, "time");
    const carom_plot_series series[] = {
        {"translation", CAROM_PLOT_LINE, rows, time, cli_column(states, "translational_energy")},
        {"rotation", CAROM_PLOT_LINE, rows, time, cli_column(states, "rotational_energy")},
        {"potential", CAROM_PLOT_LINE, rows, time, cli_column(states, "potential_energy")},
        {"sum", CAROM_PLOT_LINE, rows, time, cli_column(states, "energy")},
    };
    const carom_plot plot = {carom_scene_name(motion->scene), "time [s]", "energy [J]", series,
                             sizeof series / sizeof *series,  false,      false};
    return cli_write_figure(motion, prefix, "energy", &plot, error);
}

// The power of ten at or below the largest of them; 1 when all are zero.
static double unit_of(const double *values, int64_t count) {
    double largest = 0;
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(values[i]));
    return largest > 0 ? pow(10, floor(log10(largest))) : 1;
}

// Do impacts take away more than rounding does?
static bool loses_energy(const cli_motion *motion, double scale) {
    const double *change = cli_column(motion->answer.impacts, "energy_change");
    for (int64_t i = 0; i < carom_table_rows(motion->answer.impacts); i++)
        if (change[i] < -LEAST_LOSS * scale) return true;
    return false;
}

// What impacts do to the energy, since the first state, is then no error.
static void take_out_changes(const cli_motion *motion, double scale, double *errors) {
    const carom_table *impacts = motion->answer.impacts;
    const double *time = cli_column(motion->states, "time"), *hit = cli_column(impacts, "time"),
                 *change = cli_column(impacts, "energy_change");
    double sum = 0;
    for (int64_t i = 0, k = 0; i < carom_table_rows(motion->states); i++) {
        for (; k < carom_table_rows(impacts) && hit[k] <= time[i]; k++) sum += hit[k] > time[0] ? change[k] : 0;
        errors[i] -= sum / scale;
    }
}

// Rounding is far below what axes show beside a time: the unit is on the label.
static carom_status draw_energy_error(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *states = motion->states;
    const int64_t rows = carom_table_rows(states);
    const double *energy = cli_column(states, "energy"), initial = fabs(energy[0]), scale = initial > 0 ? initial : 1;
    double *errors = malloc((size_t)rows * sizeof *errors);
    if (!errors) return carom_fail_memory(error, "figure");
    for (int64_t i = 0; i < rows; i++) errors[i] = (energy[i] - energy[0]) / scale;
    if (loses_energy(motion, scale)) take_out_changes(motion, scale, errors);
    const double unit = unit_of(errors, rows);
    for (int64_t i = 0; i < rows; i++) errors[i] /= unit;
    char label[64];
    snprintf(label, sizeof label, initial > 0 ? "relative energy error [%g]" : "energy error [%g J]", unit);
    const carom_plot_series series = {"", CAROM_PLOT_LINE, rows, cli_column(states, "time"), errors};
    const carom_plot plot = {carom_scene_name(motion->scene), "time [s]", label, &series, 1, false, false};
    const carom_status status = cli_write_figure(motion, prefix, "energy-error", &plot, error);
    free(errors);
    return status;
}

// ----------------------------------------------------------------------------------------------------------- snapshots

// Points of outlines, one behind the other.
typedef struct outline {
    double *x, *z;
    int64_t count;
} outline;

// Appends the outline of every part as seen along the second axis: the points that lie furthest in the directions of the first and third.
static void add_outlines(outline *drawn, const carom_body *body, const double position[3], const double R[9]) {
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

// The recorded state next to a time.
static int64_t find_state(const double *time, int64_t rows, double wanted) {
    int64_t low = 0, high = rows - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (time[middle] <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void add_states_between(const cli_motion *motion, const carom_body *body, double from, double to, outline *drawn) {
    const carom_table *states = motion->states;
    for (int i = 1; i <= BETWEEN; i++) {
        const int64_t row = find_state(cli_column(states, "time"), carom_table_rows(states), from + (to - from) * i / (BETWEEN + 1));
        add_outlines(drawn, body, cli_column(states, "position") + 3 * row, cli_column(states, "attitude") + 9 * row);
    }
}

// Two ends of the plane's line in the picture, below all that is drawn.
static void find_ground(const carom_body_motion *body, const outline *first, const outline *second, outline *ground) {
    double least = INFINITY, most = -INFINITY;
    const outline *both[] = {first, second};
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < both[k]->count; i++) {
            least = fmin(least, both[k]->x[i]);
            most = fmax(most, both[k]->x[i]);
        }
    }
    const double *n = body->plane_normal;
    ground->count = 2;
    for (int i = 0; i < 2; i++) {
        ground->x[i] = i ? most : least;
        ground->z[i] = -(body->plane_offset + n[0] * ground->x[i]) / n[2];
    }
}

static void collect_snapshots(const cli_motion *motion, const carom_body *body, outline *touching, outline *flying) {
    const carom_table *states = motion->states, *impacts = motion->answer.impacts;
    const int64_t rows = carom_table_rows(impacts), shown = rows < SHOWN_IMPACTS ? rows : SHOWN_IMPACTS;
    const double *time = cli_column(states, "time"), *hit = cli_column(impacts, "time");
    double from = time[0];
    add_outlines(flying, body, cli_column(states, "position"), cli_column(states, "attitude"));
    for (int64_t i = 0; i < shown; i++) {
        add_states_between(motion, body, from, hit[i], flying);
        add_outlines(touching, body, cli_column(impacts, "position") + 3 * i, cli_column(impacts, "attitude") + 9 * i);
        from = hit[i];
    }
    if (!shown) add_states_between(motion, body, from, time[carom_table_rows(states) - 1], flying);
}

static carom_status draw_snapshots(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_body_motion *problem = carom_scene_motion(motion->scene)->body;
    const size_t parts = (size_t)carom_body_parts(problem->body), each = parts * (OUTLINE_POINTS + 1);
    const size_t most = (1 + (BETWEEN + 1) * (SHOWN_IMPACTS + 1)) * each;
    double *room = malloc((4 * most + 4) * sizeof *room);
    if (!room) return carom_fail_memory(error, "figure");
    outline touching = {room, room + most, 0}, flying = {room + 2 * most, room + 3 * most, 0};
    outline ground = {room + 4 * most, room + 4 * most + 2, 0};
    collect_snapshots(motion, problem->body, &touching, &flying);
    find_ground(problem, &touching, &flying, &ground);
    const carom_plot_series series[] = {
        {"in flight", CAROM_PLOT_TRACES, flying.count, flying.x, flying.z},
        {"at impacts", CAROM_PLOT_LINE, touching.count, touching.x, touching.z},
        {"plane, where the second coordinate is 0", CAROM_PLOT_LINE, ground.count, ground.x, ground.z},
    };
    const carom_plot plot = {carom_scene_name(motion->scene), "first coordinate [m]", "third coordinate [m]", series, 3, false, true};
    const carom_status status = cli_write_figure(motion, prefix, "snapshots", &plot, error);
    free(room);
    return status;
}

// --------------------------------------------------------------------------------------------------------- sensitivity

static carom_status draw_sensitivity(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_table *members = motion->ensemble;
    int64_t total = 0, filled = 0;
    int count;
    for (int64_t row = 0; row < carom_table_rows(members); row++) {
        carom_table_series(members, CLI_MEMBER_DISTANCES, row, &count);
        total += count + 1;
    }
    double *x = malloc((size_t)(2 * total + 1) * sizeof *x), *y = x + total;
    if (!x) return carom_fail_memory(error, "figure");
    for (int64_t row = 0; row < carom_table_rows(members); row++) {
        const double *distances = carom_table_series(members, CLI_MEMBER_DISTANCES, row, &count);
        for (int k = 0; k <= count; k++) {
            x[filled] = k + 1;
            y[filled++] = k < count && distances[k] > LEAST_DISTANCE ? log10(distances[k]) : NAN;
        }
    }
    char label[96];
    const char *what = motion->perturbed == CAROM_PERTURB_BOTH ? "position and attitude" : carom_perturbed_names[motion->perturbed];
    snprintf(label, sizeof label, "members, %s perturbed by %g", what, motion->perturbation);
    const carom_plot_series series = {label, CAROM_PLOT_TRACES, filled, x, y};
    const carom_plot plot = {
        carom_scene_name(motion->scene), "impact", "log10 of the distance |dx| + |dR| from the reference", &series, 1, false, false};
    const carom_status status = cli_write_figure(motion, prefix, "sensitivity", &plot, error);
    free(x);
    return status;
}

carom_status cli_draw_motion(cli_motion *motion, const char *prefix, carom_error *error) {
    const carom_motion *problem = carom_scene_motion(motion->scene);
    const bool mechanism = carom_table_find(motion->states, "kinetic_energy") >= 0;
    if (problem->system) return mechanism ? cli_draw_mechanism(motion, prefix, error) : cli_draw_system(motion, prefix, error);
    if (!problem->body && !problem->bodies)
        return carom_fail(error, CAROM_UNSUPPORTED,
                          "--figures: only motions of scenes with 'body', 'bodies', 'balls' or 'model' are drawn");
    carom_status status = draw_energy(motion, prefix, error);
    if (!status) status = draw_energy_error(motion, prefix, error);
    if (!status && problem->bodies) status = cli_draw_momenta(motion, prefix, error);
    if (!status && motion->convergence && carom_table_rows(motion->convergence)) status = cli_draw_convergence(motion, prefix, error);
    if (!status && problem->bodies) return cli_draw_frames(motion, prefix, error);
    if (!status) status = draw_snapshots(motion, prefix, error);
    if (!status && motion->ensemble) status = draw_sensitivity(motion, prefix, error);
    return status;
}
