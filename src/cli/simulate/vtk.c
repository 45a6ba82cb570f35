// SPDX-License-Identifier: Apache-2.0
// VTK files of a motion of many bodies: one for each recorded state, a list of them for ParaView, and the final state under the name given.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/quaternion.h"
#include "cli/simulate/simulate.h"

enum { AXES = 3 };

struct cli_vtk {
    const char *path;
    const carom_scene *scene;
    double *radii, *axes;  // [bodies], [AXES x bodies x 3]
    carom_vtk_step *steps;
    int64_t count, capacity;
};

carom_status cli_vtk_create(const char *path, const carom_scene *scene, cli_vtk **vtk, carom_error *error) {
    *vtk = NULL;
    const carom_bodies_motion *motion = carom_scene_motion(scene)->bodies;
    if (!carom_vtk_is_name(path)) return carom_fail(error, CAROM_BAD_INPUT, "--vtk: '%.200s' does not end in .vtk or .vtp", path);
    if (!motion) return carom_fail(error, CAROM_UNSUPPORTED, "--vtk: only motions of scenes with 'bodies' are written");
    cli_vtk *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, path);
    *made = (cli_vtk){.path = path, .scene = scene};
    made->radii = malloc(((size_t)motion->bodies + 1) * (1 + 3 * AXES) * sizeof *made->radii);
    if (!made->radii) {
        cli_vtk_free(made);
        return carom_fail_memory(error, path);
    }
    made->axes = made->radii + motion->bodies;
    for (int i = 0; i < motion->bodies; i++) made->radii[i] = motion->body[i].radius;
    *vtk = made;
    return CAROM_OK;
}

void cli_vtk_free(cli_vtk *vtk) {
    if (!vtk) return;
    for (int64_t i = 0; i < vtk->count; i++) free(vtk->steps[i].name);
    free(vtk->steps);
    free(vtk->radii);
    free(vtk);
}

static const double *series(const carom_table *table, const char *name, int64_t row, int *count) {
    return carom_table_series(table, carom_table_find(table, name), row, count);
}

// Where the body's axes point.
static void fill_axes(const double q[4], double *const axes[AXES]) {
    static const double unit[AXES][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int a = 0; a < AXES; a++) carom_quaternion_rotate(q, unit[a], axes[a]);
}

static carom_status write_row(const cli_vtk *vtk, const char *path, const carom_table *table, int64_t row, carom_error *error) {
    int count, unused;
    const double *positions = series(table, "position", row, &count), *attitudes = series(table, "attitude", row, &unused);
    const int64_t bodies = count / 3;
    for (int64_t i = 0; i < bodies; i++)
        fill_axes(attitudes + 4 * i, (double *[AXES]){vtk->axes + 3 * i, vtk->axes + 3 * (bodies + i), vtk->axes + 3 * (2 * bodies + i)});
    const carom_vtk_array arrays[] = {{"radius", 1, vtk->radii},
                                      {"velocity", 3, series(table, "velocity", row, &unused)},
                                      {"angular_velocity", 3, series(table, "angular_velocity", row, &unused)},
                                      {"attitude", 4, attitudes},
                                      {"axis_1", 3, vtk->axes},
                                      {"axis_2", 3, vtk->axes + 3 * bodies},
                                      {"axis_3", 3, vtk->axes + 6 * bodies}};
    const carom_vtk_points points = {.title = carom_scene_name(vtk->scene),
                                     .time = carom_table_real_column(table, carom_table_find(table, "time"))[row],
                                     .count = bodies,
                                     .positions = positions,
                                     .arrays = arrays,
                                     .array_count = sizeof arrays / sizeof *arrays};
    return carom_vtk_write(path, &points, error);
}

// The next free place of the list; its name is without folders, as the list lies beside the files.
static carom_status add_step(cli_vtk *vtk, double time, char **path, carom_error *error) {
    if (vtk->count == vtk->capacity) {
        const int64_t capacity = 2 * vtk->capacity + 64;
        carom_vtk_step *grown = realloc(vtk->steps, (size_t)capacity * sizeof *grown);
        if (!grown) return carom_fail_memory(error, vtk->path);
        vtk->steps = grown;
        vtk->capacity = capacity;
    }
    const size_t size = strlen(vtk->path) + 24;
    const char *ending = strrchr(vtk->path, '.');
    *path = malloc(size);
    if (!*path) return carom_fail_memory(error, vtk->path);
    snprintf(*path, size, "%.*s-%06lld%s", (int)(ending - vtk->path), vtk->path, (long long)vtk->count, ending);
    const char *slash = strrchr(*path, '/');
    char *name = strdup(slash ? slash + 1 : *path);
    if (!name) return carom_fail_memory(error, vtk->path);
    vtk->steps[vtk->count++] = (carom_vtk_step){name, time};
    return CAROM_OK;
}

static carom_status receive(void *user, const carom_table *rows, carom_error *error) {
    cli_vtk *vtk = user;
    carom_status status = CAROM_OK;
    const double *times = carom_table_real_column(rows, carom_table_find(rows, "time"));
    for (int64_t row = 0; !status && row < carom_table_rows(rows); row++) {
        char *path = NULL;
        status = add_step(vtk, times[row], &path, error);
        if (!status) status = write_row(vtk, path, rows, row, error);
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
    if (!status) status = carom_vtk_write_series(list, vtk->steps, vtk->count, error);
    free(list);
    return status;
}
