// SPDX-License-Identifier: Apache-2.0
// VTK files of a motion of many bodies: one for each recorded state, a list of them for ParaView, and the final state under the name given.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/json.h"
#include "carom/quaternion.h"
#include "cli/simulate/simulate.h"

enum { AXES = 3, NUMBER_SIZE = 24 };  // room for "-000000" and more digits

// Series of the state columns that files hold.
enum { POSITION, ATTITUDE, VELOCITY, ANGULAR_VELOCITY, SERIES };
static const char *const series_names[SERIES] = {"position", "attitude", "velocity", "angular_velocity"};

struct cli_vtk {
    const char *path, *title;
    double *radii, *axes;  // [bodies], [AXES x bodies x 3]
    carom_vtk_step *steps;
    int64_t count, capacity;
    int64_t written;  // states whose files are there
    bool finished;    // so are the final state and the list
};

carom_status cli_vtk_create(const char *path, const carom_integrator *integrator, const carom_scene *scene, cli_vtk **vtk,
                            carom_error *error) {
    *vtk = NULL;
    const carom_motion *motion = carom_scene_motion(scene);
    if (!carom_vtk_is_name(path)) return carom_fail(error, CAROM_BAD_INPUT, "--vtk: '%.200s' does not end in .vtk or .vtp", path);
    if (motion->form != CAROM_MOTION_BODIES)
        return carom_fail(error, CAROM_UNSUPPORTED, "--vtk: only motions of scenes with 'bodies' are written");
    // Any integrator of many bodies will do whose states have these series.
    for (int k = 0; k < SERIES; k++) {
        int i = 0;
        while (i < integrator->state_column_count && strcmp(integrator->state_columns[i].name, series_names[k]) != 0) i++;
        if (i == integrator->state_column_count)
            return carom_fail(error, CAROM_UNSUPPORTED, "--vtk: states of the integrator '%s' have no %s", integrator->name,
                              series_names[k]);
    }
    const carom_bodies_motion *bodies = motion->bodies;
    cli_vtk *made = calloc(1, sizeof *made);
    double *radii = malloc(((size_t)bodies->bodies + 1) * (1 + 3 * AXES) * sizeof *radii);
    if (!made || !radii) {
        free(made);
        free(radii);
        return carom_fail_memory(error, path);
    }
    *made = (cli_vtk){.path = path, .title = carom_scene_name(scene), .radii = radii, .axes = radii + bodies->bodies};
    for (int i = 0; i < bodies->bodies; i++) radii[i] = bodies->body[i].radius;
    *vtk = made;
    return CAROM_OK;
}

// Removes the files of a series that did not come to its end.
static void remove_series(const cli_vtk *vtk) {
    const char *slash = strrchr(vtk->path, '/');
    const size_t folder = slash ? (size_t)(slash - vtk->path) + 1 : 0, size = strlen(vtk->path) + NUMBER_SIZE;
    char *path = malloc(size);
    for (int64_t i = 0; i < vtk->written && path; i++) {
        snprintf(path, size, "%.*s%s", (int)folder, vtk->path, vtk->steps[i].name);
        unlink(path);
    }
    free(path);
}

void cli_vtk_free(cli_vtk *vtk) {
    if (!vtk) return;
    if (!vtk->finished) remove_series(vtk);
    for (int64_t i = 0; i < vtk->count; i++) free(vtk->steps[i].name);
    free(vtk->steps);
    free(vtk->radii);
    free(vtk);
}

// One state as points with data.
static carom_status write_row(const cli_vtk *vtk, const char *path, const carom_table *table, int64_t row, carom_error *error) {
    int count = 0;
    const double *values[SERIES];
    // The positions come last: their number says how many bodies there are.
    for (int k = SERIES - 1; k >= 0; k--) values[k] = carom_table_series(table, carom_table_find(table, series_names[k]), row, &count);
    const int64_t bodies = count / 3;
    // Where the bodies' axes point.
    static const double unit[AXES][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int64_t i = 0; i < bodies; i++)
        for (int a = 0; a < AXES; a++) carom_quaternion_rotate(values[ATTITUDE] + 4 * i, unit[a], vtk->axes + 3 * (a * bodies + i));
    const carom_vtk_array arrays[] = {{"radius", 1, vtk->radii},
                                      {"velocity", 3, values[VELOCITY]},
                                      {"angular_velocity", 3, values[ANGULAR_VELOCITY]},
                                      {"attitude", 4, values[ATTITUDE]},
                                      {"axis_1", 3, vtk->axes},
                                      {"axis_2", 3, vtk->axes + 3 * bodies},
                                      {"axis_3", 3, vtk->axes + 6 * bodies}};
    const carom_vtk_points points = {.title = vtk->title,
                                     .time = carom_table_real_column(table, carom_table_find(table, "time"))[row],
                                     .count = bodies,
                                     .positions = values[POSITION],
                                     .arrays = arrays,
                                     .array_count = sizeof arrays / sizeof *arrays};
    return carom_vtk_write(path, &points, error);
}

// Writes every state under the next number, and notes it for the list.
static carom_status receive(void *user, const carom_table *rows, carom_error *error) {
    cli_vtk *vtk = user;
    const char *ending = strrchr(vtk->path, '.');
    carom_status status = CAROM_OK;
    const double *times = carom_table_real_column(rows, carom_table_find(rows, "time"));
    for (int64_t row = 0; !status && row < carom_table_rows(rows); row++) {
        if (vtk->count == vtk->capacity) {
            const int64_t capacity = 2 * vtk->capacity + 64;
            carom_vtk_step *grown = realloc(vtk->steps, (size_t)capacity * sizeof *grown);
            if (!grown) return carom_fail_memory(error, vtk->path);
            vtk->steps = grown;
            vtk->capacity = capacity;
        }
        const size_t size = strlen(vtk->path) + NUMBER_SIZE;
        char *path = malloc(size);
        if (!path) return carom_fail_memory(error, vtk->path);
        snprintf(path, size, "%.*s-%06lld%s", (int)(ending - vtk->path), vtk->path, (long long)vtk->count, ending);
        // Names in the list are without folders, as it lies beside the files.
        const char *slash = strrchr(path, '/');
        char *name = strdup(slash ? slash + 1 : path);
        if (name) vtk->steps[vtk->count++] = (carom_vtk_step){name, times[row]};
        status = name ? write_row(vtk, path, rows, row, error) : carom_fail_memory(error, vtk->path);
        if (!status) vtk->written = vtk->count;
        free(path);
    }
    return status;
}

carom_sink cli_vtk_sink(cli_vtk *vtk) { return (carom_sink){vtk, receive}; }

carom_status cli_vtk_finish(cli_vtk *vtk, const carom_table *final, carom_error *error) {
    const size_t size = strlen(vtk->path) + 8;
    char *list = malloc(size);
    if (!list) return carom_fail_memory(error, vtk->path);
    snprintf(list, size, "%s.series", vtk->path);
    carom_status status = write_row(vtk, vtk->path, final, 0, error);
    if (!status) {
        status = carom_vtk_write_series(list, vtk->steps, vtk->count, error);
        if (status) unlink(vtk->path);
    }
    vtk->finished = !status;
    free(list);
    return status;
}
