// SPDX-License-Identifier: Apache-2.0
// HDF5 files in a build without HDF5: what would open or create one says so, and nothing else is ever called.
#include "carom/io.h"
#include "io/fclib/file.h"
#include "io/measurements/measurements.h"
#include "io/result/stored.h"

static carom_status refuse(const char *path, carom_error *error) { return carom_fail(error, CAROM_UNSUPPORTED, "%s: " WITHOUT_HDF5, path); }

// -------------------------------------------------------------------------------------------------------------- the library

void carom_hdf5_prepare(void) {}
const char *carom_hdf5_version(char text[CAROM_HDF5_VERSION]) {
    (void)text;
    return NULL;
}

// ------------------------------------------------------------------------------------------------------- results, written

carom_status carom_result_writer_create(const char *path, const carom_scene *scene, carom_result_writer **writer, carom_error *error) {
    (void)scene;
    *writer = NULL;
    return refuse(path, error);
}

carom_status carom_result_writer_create_impact(const char *path, const char *name, const carom_impact *impact, carom_result_writer **writer,
                                               carom_error *error) {
    (void)name, (void)impact;
    *writer = NULL;
    return refuse(path, error);
}

carom_status carom_result_writer_create_tables(const char *path, const char *name, const char *source, const char *hash,
                                               carom_result_writer **writer, carom_error *error) {
    (void)name, (void)source, (void)hash;
    *writer = NULL;
    return refuse(path, error);
}

carom_status carom_result_writer_put_table(carom_result_writer *writer, const char *group, const carom_table *table, carom_error *error) {
    (void)writer, (void)group, (void)table;
    return refuse("a result", error);
}

carom_status carom_result_writer_open_law(carom_result_writer *writer, const carom_law *law, const void *options, carom_sink *sink,
                                          carom_error *error) {
    (void)writer, (void)law, (void)options, (void)sink;
    return refuse("a result", error);
}

carom_status carom_result_writer_put_extent(carom_result_writer *writer, const char *keep, const carom_extent *extent, carom_error *error) {
    (void)writer, (void)keep, (void)extent;
    return refuse("a result", error);
}

carom_status carom_result_writer_close_law(carom_result_writer *writer, const carom_table *result, carom_error *error) {
    (void)writer, (void)result;
    return refuse("a result", error);
}

carom_status carom_result_writer_open_motion(carom_result_writer *writer, const carom_integrator *integrator, const void *options,
                                             carom_sink *states, carom_error *error) {
    (void)writer, (void)integrator, (void)options, (void)states;
    return refuse("a result", error);
}

carom_status carom_result_writer_close_motion(carom_result_writer *writer, const carom_motion_answer *answer, const carom_table *ensemble,
                                              const carom_table *ensemble_states, carom_error *error) {
    (void)writer, (void)answer, (void)ensemble, (void)ensemble_states;
    return refuse("a result", error);
}

void carom_result_writer_mark_incomplete(carom_result_writer *writer) { (void)writer; }

carom_status carom_result_writer_commit(carom_result_writer *writer, carom_error *error) {
    (void)writer;
    return refuse("a result", error);
}

void carom_result_writer_free(carom_result_writer *writer) { (void)writer; }

// ---------------------------------------------------------------------------------------------------------- results, read

void carom_stored_top_release(carom_stored_top *top) { *top = (carom_stored_top){0}; }

carom_status carom_stored_open(const char *path, int64_t file_size, carom_stored **stored, carom_stored_top *top, carom_error *error) {
    (void)file_size;
    *stored = NULL;
    *top = (carom_stored_top){0};
    return refuse(path, error);
}

void carom_stored_close(carom_stored *stored) { (void)stored; }

bool carom_stored_has(const carom_stored *stored, const char *group, const char *name) {
    (void)stored, (void)group, (void)name;
    return false;
}

carom_stored_found carom_stored_read(const carom_stored *stored, const char *group, const char *name, carom_stored_type type, void **values,
                                     carom_stored_extent *extent) {
    (void)stored, (void)group, (void)name, (void)type;
    *values = NULL;
    *extent = (carom_stored_extent){0};
    return CAROM_STORED_MISSING;
}

bool carom_stored_text(const carom_stored *stored, const char *group, const char *name, char text[CAROM_STORED_TEXT]) {
    (void)stored, (void)group, (void)name, (void)text;
    return false;
}

// ------------------------------------------------------------------------------------------------ problems and measurements

carom_status carom_fclib_write(const char *path, const char *title, const carom_impact *impact, carom_error *error) {
    (void)title, (void)impact;
    return refuse(path, error);
}

carom_status carom_fclib_parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error) {
    (void)bytes, (void)size;
    *problem = (carom_fclib_problem){0};
    return refuse(path, error);
}

carom_status carom_measurements_read_hdf5(const char *path, size_t size, measured_file *file, const carom_measurements_options *options,
                                          carom_measurements *into, carom_error *error) {
    (void)size, (void)file, (void)options, (void)into;
    return refuse(path, error);
}
