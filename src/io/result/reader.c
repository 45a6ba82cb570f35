// SPDX-License-Identifier: Apache-2.0
// Result files, read back. Nothing in a file is trusted: not its types, not its sizes, not its offsets.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/result/apart.h"
#include "io/result/description.h"
#include "io/result/file.h"
#include "io/result/stored.h"

// What is known of an open file. Columns are read when they are asked for.
struct carom_result {
    char *path;
    carom_stored *stored;       // where this process reads the file itself, or
    carom_stored_apart *apart;  // where a child does
    const carom_control *control;
    carom_stored_top top;
    carom_velocity_names velocities;
    carom_arena memory;  // of these names
};

carom_status carom_result_refuse(const carom_result *result, carom_error *error, const char *format, ...) {
    char why[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: not a carom result file: %s", result->path, why);
}

// -------------------------------------------------------------------------------------------------------------- opening

static carom_status open_result(const char *path, bool apart, const carom_control *control, carom_result **result, carom_error *error) {
    *result = NULL;
    carom_result *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, path);
    made->path = strdup(path);
    made->control = control;

    // HDF5 would wait for ever on a fifo, and its own messages do not say why a file cannot be opened.
    struct stat about;
    FILE *file = NULL;
    carom_status status = CAROM_OK;
    if (!made->path)
        status = carom_fail_memory(error, path);
    else if (stat(path, &about))
        status = carom_fail_system(error, errno, "%s: the file cannot be read", path);
    else if (!S_ISREG(about.st_mode))
        status = carom_result_refuse(made, error, "it is not a regular file");
    else if (!(file = fopen(path, "rb")))
        status = carom_fail_system(error, errno, "%s: the file cannot be read", path);
    if (file) fclose(file);
    if (!status && apart)
        status = carom_stored_apart_open(path, (int64_t)about.st_size, control, &made->apart, &made->top, error);
    else if (!status)
        status = carom_stored_open(path, (int64_t)about.st_size, &made->stored, &made->top, error);
    // A file of motions alone has no outcomes that anybody could draw or query.
    if (!status && made->top.has_motion && !made->top.law_count)
        status = carom_fail(error, CAROM_BAD_INPUT,
                            "%s: it holds a motion and no outcomes of an impact (`carom simulate --figures` draws it)", path);
    if (!status) status = carom_result_read_velocity_names(made, &made->velocities, &made->memory, error);
    if (status)
        carom_result_close(made);
    else
        *result = made;
    return status;
}

carom_status carom_result_open(const char *path, carom_result **result, carom_error *error) {
    return open_result(path, false, NULL, result, error);
}

carom_status carom_result_open_apart(const char *path, const carom_control *control, carom_result **result, carom_error *error) {
    return open_result(path, true, control, result, error);
}

void carom_result_close(carom_result *result) {
    if (!result) return;
    carom_stored_close(result->stored);
    carom_stored_apart_close(result->apart);
    carom_stored_top_release(&result->top);
    carom_arena_free(&result->memory);
    free(result->path);
    free(result);
}

const char *carom_result_scene_name(const carom_result *result) { return result->top.scene_name[0]; }
int carom_result_contacts(const carom_result *result) { return result->top.contact_count; }
int carom_result_tangent_dim(const carom_result *result) { return result->top.tangent_dim; }
const char *carom_result_contact_name(const carom_result *result, int contact) { return result->top.contacts[contact]; }
const char *const *carom_result_contact_names(const carom_result *result) { return (const char *const *)result->top.contacts; }
carom_quantities carom_result_quantities(const carom_result *result) {
    return (carom_quantities){.contacts = result->top.contact_count,
                              .tangent_dim = result->top.tangent_dim,
                              .contact_names = carom_result_contact_names(result),
                              .nv = result->velocities.nv,
                              .velocity_names = result->velocities.names,
                              .velocity_turns = result->velocities.turns};
}
int carom_result_laws(const carom_result *result) { return result->top.law_count; }
const char *carom_result_law_name(const carom_result *result, int law) { return result->top.laws[law]; }

// -------------------------------------------------------------------------------------------------------------- columns

bool carom_result_has_dataset(const carom_result *result, const char *group, const char *name) {
    if (result->apart) return carom_stored_apart_has(result->apart, group, name);
    return carom_stored_has(result->stored, group, name);
}

carom_status carom_result_check(const carom_result *result, carom_error *error) {
    return result->apart ? carom_stored_apart_explain(result->apart, error) : CAROM_OK;
}

carom_status carom_result_poll(const carom_result *result, carom_error *error) {
    if (!carom_control_cancelled(result->control)) return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "%s: the caller stopped the reading", result->path);
}

carom_status carom_result_read_stored(const carom_result *result, const char *group, const char *name, carom_stored_type type,
                                      void **values, int64_t *rows, int *width, carom_error *error) {
    carom_stored_extent extent = {0};
    *values = NULL;
    const carom_stored_found found = result->apart ? carom_stored_apart_read(result->apart, group, name, type, values, &extent)
                                                   : carom_stored_read(result->stored, group, name, type, values, &extent);
    *rows = extent.lines;
    *width = extent.width;
    switch (found) {
    case CAROM_STORED_READ: break;
    case CAROM_STORED_MISSING: return carom_result_refuse(result, error, "%s of %s is missing", name, group);
    case CAROM_STORED_DAMAGED:
        return carom_result_refuse(result, error, "%s of %s has another type or size than it should, or is damaged", name, group);
    case CAROM_STORED_NO_MEMORY: return carom_fail_memory(error, result->path);
    case CAROM_STORED_LOST: return carom_stored_apart_explain(result->apart, error);
    }
    return CAROM_OK;
}

carom_status carom_result_read_dataset(const carom_result *result, const char *group, const char *name, double **values, int64_t *rows,
                                       int *width, carom_error *error) {
    void *read;
    const carom_status status = carom_result_read_stored(result, group, name, CAROM_STORED_REALS, &read, rows, width, error);
    *values = read;
    return status;
}

carom_status carom_result_read_characters(const carom_result *result, const char *group, const char *name, char **characters, int64_t *rows,
                                          int *width, carom_error *error) {
    void *read;
    const carom_status status = carom_result_read_stored(result, group, name, CAROM_STORED_CHARACTERS, &read, rows, width, error);
    *characters = read;
    return status;
}

carom_status carom_result_read_reals(const carom_result *result, int law, const char *column, double **values, int64_t *rows, int *width,
                                     carom_error *error) {
    return carom_result_read_dataset(result, result->top.laws[law], column, values, rows, width, error);
}

carom_status carom_result_read_integers(const carom_result *result, int law, const char *column, int64_t **values, int64_t *rows,
                                        int *width, carom_error *error) {
    void *read;
    const carom_status status =
        carom_result_read_stored(result, result->top.laws[law], column, CAROM_STORED_INTEGERS, &read, rows, width, error);
    *values = read;
    return status;
}

bool carom_result_read_group_text(const carom_result *result, const char *group, const char *name, char *text, size_t size) {
    char found[CAROM_STORED_TEXT];
    const bool read =
        result->apart ? carom_stored_apart_text(result->apart, group, name, found) : carom_stored_text(result->stored, group, name, found);
    if (read) snprintf(text, size, "%s", found);
    return read;
}

// Attributes of a law are the scalars of its result row.
bool carom_result_read_attribute(const carom_result *result, int law, const char *name, char *text, size_t size) {
    return carom_result_read_group_text(result, result->top.laws[law], name, text, size);
}

carom_status carom_result_read_offsets(const carom_result *result, const char *group, const char *name, int64_t lines, int64_t **offsets,
                                       int64_t *rows, carom_error *error) {
    char place[CAROM_STORED_NAME];
    void *read;
    int width;
    snprintf(place, sizeof place, "%s_offsets", name);
    const carom_status status = carom_result_read_stored(result, group, place, CAROM_STORED_INTEGERS, &read, rows, &width, error);
    const int64_t *at = *offsets = read;
    if (status) return status;
    // The offsets start at 0, never fall, and end at the last line.
    bool ordered = width == 1 && *rows >= 1 && at[0] == 0 && at[*rows - 1] == lines;
    for (int64_t i = 1; i < *rows && ordered; i++) ordered = at[i] >= at[i - 1];
    (*rows)--;
    return ordered ? CAROM_OK : carom_result_refuse(result, error, "its offsets are out of order: %s", place);
}

carom_status carom_result_read_series(const carom_result *result, int law, const char *column, double **values, int64_t **offsets,
                                      int64_t *rows, carom_error *error) {
    *values = NULL;
    *offsets = NULL;
    *rows = 0;
    const char *group = result->top.laws[law];
    if (!carom_result_has_dataset(result, group, column)) return CAROM_OK;
    // The entries, and where each row of them starts.
    int64_t lines;
    int width;
    carom_status status = carom_result_read_dataset(result, group, column, values, &lines, &width, error);
    if (!status) status = carom_result_read_offsets(result, group, column, lines, offsets, rows, error);
    if (status) {
        free(*values);
        free(*offsets);
        *values = NULL;
        *offsets = NULL;
        *rows = 0;
        return status;
    }
    // They count lines in the file, entries here.
    for (int64_t i = 0; i <= *rows; i++) (*offsets)[i] *= width;
    return CAROM_OK;
}
