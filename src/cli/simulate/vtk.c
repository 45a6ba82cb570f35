// SPDX-License-Identifier: Apache-2.0
// VTK files of a motion: one for each recorded state, a list of them for ParaView, and the final state under the name given. Many bodies
// are points with their radii and axes, everything else the surfaces of its solids. The files of states stand in a temporary folder until
// the run ends: of one that is killed, the next run for the same name removes them.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/json.h"
#include "carom/quaternion.h"
#include "carom/temporary.h"
#include "cli/simulate/simulate.h"

enum { AXES = 3, NUMBER_SIZE = 24, FOLDER_NAME = 200 };  // room for "-000000" and more digits; a name that has room for a suffix

// Series of the state columns that files hold.
enum { POSITION, ATTITUDE, VELOCITY, ANGULAR_VELOCITY, SERIES };
static const char *const series_names[SERIES] = {"position", "attitude", "velocity", "angular_velocity"};

// Planes without an edge are shown this many times as far as anything else reaches from the origin.
#define PLANE_REACH 2

struct cli_vtk {
    char *path;
    const char *title, *directory;  // made for the files; NULL: none
    const carom_scene *scene;
    bool surfaces;         // of solids, instead of points of bodies
    double reach;          // of planes [m]; 0: not known yet
    double *radii, *axes;  // [bodies], [AXES x bodies x 3]
    carom_vtk_step *steps;
    int64_t count, capacity;
    carom_temporary_folder folder;  // of the files of states, beside their place
    int64_t written;                // states whose files are in their place
    bool finished;                  // so are the final state and the list
};

// States of many bodies, by the series that the integrator records.
static carom_status check_series(const carom_integrator *integrator, carom_error *error) {
    for (int k = 0; k < SERIES; k++) {
        int i = 0;
        while (i < integrator->state_column_count && strcmp(integrator->state_columns[i].name, series_names[k]) != 0) i++;
        if (i == integrator->state_column_count)
            return carom_fail(error, CAROM_UNSUPPORTED, "--vtk: states of the integrator '%s' have no %s", integrator->name,
                              series_names[k]);
    }
    return CAROM_OK;
}

carom_status cli_vtk_create(const char *path, const carom_integrator *integrator, const carom_scene *scene, cli_vtk **vtk,
                            carom_error *error) {
    *vtk = NULL;
    const carom_motion *motion = carom_scene_motion(scene);
    const bool many = motion->form == CAROM_MOTION_BODIES, file = carom_vtk_is_name(path);
    carom_status status = many ? check_series(integrator, error) : CAROM_OK;
    // A name without ending is a directory.
    carom_error inner;
    bool made_directory = false;
    if (!status && !file) {
        status = cli_make_directory(path, &made_directory, &inner);
        if (status) carom_fail(error, status, "--vtk: %s", inner.message);
    }
    if (status) return status;
    const int bodies = many ? motion->bodies->bodies : 0;
    cli_vtk *made = calloc(1, sizeof *made);
    double *radii = malloc(((size_t)bodies + 1) * (1 + 3 * AXES) * sizeof *radii);
    char *name = file ? strdup(path) : cli_join_path(path, "motion.vtp");
    if (!made || !radii || !name) {
        free(made);
        free(radii);
        free(name);
        if (made_directory) rmdir(path);
        return carom_fail_memory(error, path);
    }
    *made = (cli_vtk){.path = name,
                      .title = carom_scene_name(scene),
                      .directory = made_directory ? path : NULL,
                      .scene = scene,
                      .surfaces = !many,
                      .radii = radii,
                      .axes = radii + bodies};
    for (int i = 0; i < bodies; i++) radii[i] = motion->bodies->body[i].radius;
    *vtk = made;
    return CAROM_OK;
}

// The place of a file of a state, or where it waits for the end of the run. To be freed; NULL when out of memory.
static char *state_path(const cli_vtk *vtk, int64_t state, bool waiting) {
    if (waiting) return cli_join_path(vtk->folder.path, vtk->steps[state].name);
    const char *slash = strrchr(vtk->path, '/');
    const size_t folder = slash ? (size_t)(slash - vtk->path) + 1 : 0, size = folder + strlen(vtk->steps[state].name) + 1;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%.*s%s", (int)folder, vtk->path, vtk->steps[state].name);
    return path;
}

// Removes the files of a series that did not come to its end.
static void remove_series(const cli_vtk *vtk) {
    for (int64_t i = 0; i < vtk->written; i++) {
        char *path = state_path(vtk, i, false);
        if (path) unlink(path);
        free(path);
    }
}

void cli_vtk_free(cli_vtk *vtk) {
    if (!vtk) return;
    carom_temporary_folder_remove(&vtk->folder);
    if (!vtk->finished) remove_series(vtk);
    if (!vtk->finished && vtk->directory) rmdir(vtk->directory);
    for (int64_t i = 0; i < vtk->count; i++) free(vtk->steps[i].name);
    free(vtk->steps);
    free(vtk->radii);
    free(vtk->path);
    free(vtk);
}

// The surfaces of all solids, as one set of points and of cells. Solids of one kind have as many points in every state.
static carom_status collect_surfaces(cli_vtk *vtk, carom_solids *solids, carom_arena *arena, carom_vtk_points *points, carom_error *error) {
    carom_mesh *mesh = carom_arena_take(arena, (size_t)solids->count, sizeof *mesh);
    if (arena->failed) return carom_fail_memory(error, vtk->path);
    carom_status status = CAROM_OK;
    // How far everything but planes reaches says how large planes are.
    double reach = 0;
    for (int pass = 0; pass < 2 && !status; pass++) {
        for (int i = 0; i < solids->count && !status; i++) {
            if ((solids->solid[i].kind == CAROM_SOLID_PLANE) != (pass == 1)) continue;
            status = carom_solid_mesh(&solids->solid[i], vtk->reach, arena, &mesh[i], error);
            for (int k = 0; k < 3 * mesh[i].points && !pass; k++) reach = fmax(reach, fabs(mesh[i].point[k]));
        }
        if (vtk->reach == 0) vtk->reach = reach > 0 ? PLANE_REACH * reach : 1;
    }
    // What has triangles, and what is only two points of a line or points.
    int64_t all = 0, counts[3] = {0};
    for (int i = 0; i < solids->count; i++) {
        const bool line = solids->solid[i].kind == CAROM_SOLID_CAPSULE;
        all += mesh[i].points;
        counts[mesh[i].triangles ? 2 : line ? 1 : 0] += mesh[i].triangles ? mesh[i].triangles : line ? 1 : mesh[i].points;
    }
    double *positions = carom_arena_take(arena, 3 * (size_t)all, sizeof *positions);
    carom_vtk_cells *cells = carom_arena_take(arena, 3, sizeof *cells);
    int64_t *corners[3], filled[3] = {0}, first = 0;
    double *bodies[3];
    for (int k = 0; k < 3; k++) {
        corners[k] = carom_arena_take(arena, (size_t)(k + 1) * (size_t)counts[k], sizeof *corners[k]);
        bodies[k] = carom_arena_take(arena, (size_t)counts[k], sizeof *bodies[k]);
    }
    if (!status && arena->failed) status = carom_fail_memory(error, vtk->path);
    for (int i = 0; i < solids->count && !status; i++) {
        const int kind = mesh[i].triangles ? 2 : solids->solid[i].kind == CAROM_SOLID_CAPSULE ? 1 : 0;
        const int own = mesh[i].triangles ? mesh[i].triangles : kind ? 1 : mesh[i].points;
        for (int c = 0; c < own; c++) {
            for (int k = 0; k <= kind; k++)
                corners[kind][filled[kind] * (kind + 1) + k] = first + (kind == 2 ? mesh[i].triangle[3 * c + k] : c + k);
            bodies[kind][filled[kind]++] = solids->solid[i].body_index;
        }
        memcpy(positions + 3 * first, mesh[i].point, 3 * (size_t)mesh[i].points * sizeof *positions);
        first += mesh[i].points;
    }
    for (int k = 0; k < 3 && !status; k++) cells[k] = (carom_vtk_cells){counts[k], corners[k], bodies[k]};
    points->count = all;
    points->positions = positions;
    points->cells = cells;
    return status;
}

// One state as surfaces.
static carom_status write_surfaces(cli_vtk *vtk, const char *path, const carom_table *table, int64_t row, carom_error *error) {
    carom_arena arena = {0};
    carom_solids solids;
    carom_vtk_points points = {.title = vtk->title, .time = carom_motion_times(table)[row]};
    carom_status status = carom_scene_solids_at(vtk->scene, table, row, &arena, &solids, error);
    if (!status) status = collect_surfaces(vtk, &solids, &arena, &points, error);
    if (!status) status = carom_vtk_write(path, &points, error);
    carom_arena_free(&arena);
    return status;
}

// One state, of many bodies as points with data.
static carom_status write_row(cli_vtk *vtk, const char *path, const carom_table *table, int64_t row, carom_error *error) {
    if (vtk->surfaces) return write_surfaces(vtk, path, table, row, error);
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
                                     .time = carom_motion_times(table)[row],
                                     .count = bodies,
                                     .positions = values[POSITION],
                                     .arrays = arrays,
                                     .array_count = sizeof arrays / sizeof *arrays};
    return carom_vtk_write(path, &points, error);
}

// The folder in which the files of states wait.
static carom_status create_folder(cli_vtk *vtk, carom_error *error) {
    const char *slash = strrchr(vtk->path, '/'), *base = slash ? slash + 1 : vtk->path;
    char name[FOLDER_NAME];
    snprintf(name, sizeof name, "%s", base);
    char *directory = slash ? strndup(vtk->path, slash > vtk->path ? (size_t)(slash - vtk->path) : 1) : strdup(".");
    const carom_status status =
        directory ? carom_temporary_folder_create(directory, name, &vtk->folder, error) : carom_fail_memory(error, vtk->path);
    free(directory);
    return status;
}

// Writes every state under the next number, and notes it for the list.
static carom_status receive(void *user, const carom_table *rows, carom_error *error) {
    cli_vtk *vtk = user;
    const char *ending = strrchr(vtk->path, '.');
    carom_status status = vtk->folder.path ? CAROM_OK : create_folder(vtk, error);
    const double *times = carom_motion_times(rows);
    for (int64_t row = 0; !status && row < carom_table_rows(rows); row++) {
        if (vtk->count == vtk->capacity) {
            const int64_t capacity = 2 * vtk->capacity + 64;
            carom_vtk_step *grown = realloc(vtk->steps, (size_t)capacity * sizeof *grown);
            if (!grown) return carom_fail_memory(error, vtk->path);
            vtk->steps = grown;
            vtk->capacity = capacity;
        }
        // Names in the list are without folders, as it lies beside the files.
        const char *slash = strrchr(vtk->path, '/'), *base = slash ? slash + 1 : vtk->path;
        const size_t size = strlen(base) + NUMBER_SIZE;
        char *name = malloc(size);
        if (!name) return carom_fail_memory(error, vtk->path);
        snprintf(name, size, "%.*s-%06lld%s", (int)(ending - base), base, (long long)vtk->count, ending);
        vtk->steps[vtk->count++] = (carom_vtk_step){name, times[row]};
        char *path = state_path(vtk, vtk->count - 1, true), *place = state_path(vtk, vtk->count - 1, false);
        status = path && place ? carom_vtk_check(place, error) : carom_fail_memory(error, vtk->path);
        if (!status) status = write_row(vtk, path, rows, row, error);
        free(path);
        free(place);
    }
    return status;
}

// Moves the files of states from their folder into their place.
static carom_status place_series(cli_vtk *vtk, carom_error *error) {
    carom_status status = CAROM_OK;
    for (; vtk->written < vtk->count && !status; vtk->written += !status) {
        char *path = state_path(vtk, vtk->written, true), *place = state_path(vtk, vtk->written, false);
        status = path && place ? carom_vtk_check(place, error) : carom_fail_memory(error, vtk->path);
        if (!status && rename(path, place)) status = carom_fail_system(error, errno, "%s: the file cannot be written", place);
        free(path);
        free(place);
    }
    return status;
}

carom_sink cli_vtk_sink(cli_vtk *vtk) { return (carom_sink){vtk, receive}; }

carom_status cli_vtk_finish(cli_vtk *vtk, const carom_table *final, carom_error *error) {
    const size_t size = strlen(vtk->path) + 8;
    char *list = malloc(size);
    if (!list) return carom_fail_memory(error, vtk->path);
    snprintf(list, size, "%s.series", vtk->path);
    carom_status status = place_series(vtk, error);
    if (!status) status = write_row(vtk, vtk->path, final, 0, error);
    if (!status) {
        status = carom_vtk_write_series(list, vtk->steps, vtk->count, error);
        if (status) unlink(vtk->path);
    }
    vtk->finished = !status;
    free(list);
    return status;
}
