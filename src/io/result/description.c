// SPDX-License-Identifier: Apache-2.0
// What a result file says of its impact beside the matrices, read. Texts stand in datasets of fixed length, empty where there is none.
#include "io/result/description.h"

#include <stdlib.h>
#include <string.h>

static const char group_name[] = "impact";

// Texts that must be `count`; NULL for empty ones, and no list where there is no such dataset.
static carom_status read_texts(const carom_result *result, const char *name, int count, const char *const **texts, carom_arena *memory,
                               carom_error *error) {
    *texts = NULL;
    if (!carom_result_has_dataset(result, group_name, name)) return CAROM_OK;
    char *block = NULL;
    int64_t rows = 0;
    int width = 0;
    carom_status status = carom_result_read_characters(result, group_name, name, &block, &rows, &width, error);
    if (!status && rows != count) status = carom_result_refuse(result, error, "%s of its impact has another size than it should", name);
    const char **made = carom_arena_take(memory, (size_t)count, sizeof *made);
    for (int i = 0; i < count && !status; i++) {
        char *copy = carom_arena_take(memory, (size_t)width + 1, 1);
        if (!made || !copy) {
            status = carom_fail_memory(error, "result file");
            break;
        }
        memcpy(copy, block + (size_t)i * (size_t)width, (size_t)width);
        made[i] = *copy ? copy : NULL;
    }
    free(block);
    if (!status) *texts = made;
    return status;
}

// A matrix of `rows` x `columns` numbers; any number of rows where `rows` is negative.
static carom_status read_numbers(const carom_result *result, const char *name, int rows, int columns, const double **numbers, int *count,
                                 carom_arena *memory, carom_error *error) {
    double *values = NULL;
    int64_t lines = 0;
    int width = 0;
    *numbers = NULL;
    carom_status status = carom_result_read_dataset(result, group_name, name, &values, &lines, &width, error);
    if (!status && (width != columns || (rows >= 0 ? lines != rows : lines > 2 * CAROM_MAX_VELOCITIES)))
        status = carom_result_refuse(result, error, "%s of its impact has another size than it should", name);
    if (!status) {
        const size_t size = (size_t)lines * (size_t)width;
        double *copy = carom_arena_take(memory, size, sizeof *copy);
        if (copy)
            memcpy(copy, values, size * sizeof *copy);
        else
            status = carom_fail_memory(error, "result file");
        *numbers = copy;
        if (count) *count = (int)lines;
    }
    free(values);
    return status;
}

carom_status carom_result_read_velocity_names(const carom_result *result, carom_velocity_names *velocities, carom_arena *memory,
                                              carom_error *error) {
    *velocities = (carom_velocity_names){0};
    if (!carom_result_has_dataset(result, group_name, "v")) return CAROM_OK;
    const double *v;
    const char *const *names, *const *units;
    carom_status status = read_numbers(result, "v", -1, 1, &v, &velocities->nv, memory, error);
    const int nv = velocities->nv;
    if (!status) status = read_texts(result, "velocity_names", nv, &names, memory, error);
    if (!status) status = read_texts(result, "velocity_units", nv, &units, memory, error);
    if (status) return status;
    for (int i = 0; i < nv && names; i++)
        if (!names[i]) return carom_result_refuse(result, error, "velocity_names of its impact has an empty name");
    velocities->names = names;
    bool *turns = units ? carom_arena_take(memory, (size_t)nv, sizeof *turns) : NULL;
    for (int i = 0; i < nv && turns; i++) turns[i] = units[i] && !strcmp(units[i], "rad/s");
    velocities->turns = turns;
    return memory->failed ? carom_fail_memory(error, "result file") : CAROM_OK;
}

carom_status carom_result_read_geometry(const carom_result *result, const carom_contact_geometry **geometry, carom_arena *memory,
                                        carom_error *error) {
    *geometry = NULL;
    if (!carom_result_has_dataset(result, group_name, "contact_points")) return CAROM_OK;
    const int contacts = carom_result_contacts(result), tangents = contacts * carom_result_tangent_dim(result);
    carom_contact_geometry *made = carom_arena_take(memory, 1, sizeof *made);
    if (!made) return carom_fail_memory(error, "result file");
    carom_status status = read_numbers(result, "contact_points", contacts, 3, &made->points, NULL, memory, error);
    if (!status) status = read_numbers(result, "contact_normals", contacts, 3, &made->normals, NULL, memory, error);
    if (!status) status = read_numbers(result, "contact_tangents", tangents, 3, &made->tangents, NULL, memory, error);
    if (!status && carom_result_has_dataset(result, group_name, "qpos"))
        status = read_numbers(result, "qpos", -1, 1, &made->qpos, &made->nq, memory, error);
    if (!status) status = read_texts(result, "contact_bodies", 2 * contacts, &made->bodies, memory, error);
    if (!status) status = read_texts(result, "contact_geoms", 2 * contacts, &made->geoms, memory, error);
    if (!status) *geometry = made;
    return status;
}
