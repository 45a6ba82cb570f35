// SPDX-License-Identifier: Apache-2.0
// Result files: outcomes are gathered in memory up to a few megabytes and then appended to datasets, so that any number of them fits.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/io.h"
#include "carom/temporary.h"
#include "io/hdf5_driver.h"
#include "io/result/columns.h"

enum {
    STAGED_BYTES = 4 << 20,  // outcomes gathered before they are written
    OPTION_TEXT_SIZE = 1 << 14,
};

struct carom_result_writer {
    carom_temporary temporary;
    carom_hdf5_medium medium;
    hid_t file;
    char *name;  // of the target, for messages
    carom_sizes sizes;
    bool failed;    // something could not be written: the file must not be kept
    bool complete;  // every law so far is

    // The law or integrator whose group is open, and the latter's group of states
    hid_t group, states;
    carom_table *staged;
    int64_t staged_bytes;
    carom_result_columns *columns;  // NULL before the first rows are written
};

// True when the last HDF5 call and all writes before it went well.
static carom_status check_write(carom_result_writer *writer, bool written, carom_error *error) {
    if (!written || writer->medium.lost) writer->failed = true;
    if (!writer->failed) return CAROM_OK;
    const char *reason = writer->medium.lost ? strerror(writer->medium.lost) : "HDF5 reports an error";
    return carom_fail(error, CAROM_IO_FAILED, "%s: the file could not be written (disk full?): %s", writer->name, reason);
}

// --------------------------------------------------------------------------------------------------- metadata and impact

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool write_metadata(hid_t file, const carom_scene *scene) {
    return carom_hdf5_put_text(file, "carom_version", CAROM_VERSION) && carom_hdf5_put_text(file, "scene_name", carom_scene_name(scene)) &&
           carom_hdf5_put_text(file, "scene_hash", carom_scene_hash(scene)) &&
           carom_hdf5_put_text(file, "scene_file", base_name(carom_scene_path(scene)));
}

static bool write_matrices(hid_t group, const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = data->nv, m = data->contacts, n = carom_impact_contact_size(impact);
    const carom_hdf5_matrix friction = {"mu", "", "Coulomb friction coefficients", m, 0, data->friction};
    const carom_hdf5_matrix restitution = {"restitution", "", "coefficients of restitution", m, 0, data->restitution};
    const carom_hdf5_matrix system[] = {
        {"M", "", "mass matrix", nv, nv, data->mass},
        {"Jn", "", "normal Jacobian: Jn v is the separation speed of each contact", m, nv, data->normal},
        {"Jt", "", "tangential Jacobian, contact by contact", m * data->tangent_dim, nv, data->tangent},
        {"v", "", "pre-impact velocity, in the order and units of the model", nv, 0, data->velocity},
    };
    const carom_hdf5_matrix contact_space[] = {
        {"W", "1/kg", "Delassus operator; per contact the normal, then the tangents", n, n, carom_impact_delassus(impact)},
        {"u", "m/s", "pre-impact contact velocity; per contact the normal, then the tangents", n, 0, data->velocity},
    };
    const bool has_system = carom_impact_has_system(impact);
    const carom_hdf5_matrix *matrices = has_system ? system : contact_space;
    const size_t count = has_system ? sizeof system / sizeof *system : sizeof contact_space / sizeof *contact_space;
    bool written = carom_hdf5_put_matrix(group, &friction) && carom_hdf5_put_matrix(group, &restitution);
    for (size_t i = 0; i < count && written; i++) written = carom_hdf5_put_matrix(group, &matrices[i]);
    return written;
}

static bool write_impact(hid_t file, const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    if (!carom_hdf5_put_texts(file, "contacts", data->names, data->contacts) ||
        !carom_hdf5_put_integer(file, "tangent_dim", data->tangent_dim))
        return false;
    const hid_t group = carom_hdf5_create_group(file, "impact");
    if (group < 0) return false;
    const bool written = write_matrices(group, impact);
    return H5Gclose(group) >= 0 && written;
}

// ------------------------------------------------------------------------------------------------------ opening a file

static carom_status start_file(carom_result_writer *writer, const carom_scene *scene, carom_error *error) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    writer->file = carom_hdf5_create_file(writer->temporary.path, &writer->medium);
    const carom_impact *impact = carom_scene_impact(scene);
    const bool written = writer->file >= 0 && write_metadata(writer->file, scene) && (!impact || write_impact(writer->file, impact)) &&
                         H5Fflush(writer->file, H5F_SCOPE_LOCAL) >= 0;
    const carom_status status = check_write(writer, written, error);
    carom_hdf5_unmute(reporting);
    return status;
}

carom_status carom_result_writer_create(const char *path, const carom_scene *scene, carom_result_writer **writer, carom_error *error) {
    *writer = NULL;
    carom_result_writer *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, path);
    made->medium.descriptor = -1;
    made->file = made->group = made->states = -1;
    made->complete = true;
    if (carom_scene_impact(scene)) made->sizes = carom_impact_sizes(carom_scene_impact(scene));
    made->name = strdup(path);
    carom_status status = made->name ? CAROM_OK : carom_fail_memory(error, path);
    if (!status) status = carom_temporary_create(path, &carom_file_hdf5, &made->temporary, &made->medium.descriptor, error);
    if (!status) status = start_file(made, scene, error);
    if (status) {
        carom_result_writer_free(made);
        return status;
    }
    *writer = made;
    return CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------- a law's group

static bool close_group(carom_result_writer *writer) {
    bool closed = carom_result_columns_close(writer->columns);
    if (writer->states >= 0 && H5Gclose(writer->states) < 0) closed = false;
    if (writer->group >= 0 && H5Gclose(writer->group) < 0) closed = false;
    carom_table_free(writer->staged);
    writer->columns = NULL;
    writer->staged = NULL;
    writer->group = writer->states = -1;
    return closed;
}

// Writes the staged rows and empties the stage. The datasets are created with the first of them.
static bool write_staged(carom_result_writer *writer, bool last) {
    if (!writer->columns) writer->columns = carom_result_columns_create(writer->group, writer->staged, last);
    const bool written = writer->columns && carom_result_columns_append(writer->columns, writer->staged);
    carom_table_clear(writer->staged);
    writer->staged_bytes = 0;
    return written;
}

static carom_status receive_rows(void *user, const carom_table *rows, carom_error *error) {
    carom_result_writer *writer = user;
    const carom_status status = carom_table_append(writer->staged, rows, error);
    if (status) {
        writer->failed = true;
        return status;
    }
    writer->staged_bytes += carom_result_columns_size(rows);
    if (writer->staged_bytes < STAGED_BYTES) return CAROM_OK;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = write_staged(writer, false);
    carom_hdf5_unmute(reporting);
    return check_write(writer, written, error);
}

// What a law or an integrator was asked with.
typedef struct used_options {
    const carom_option *rows;
    int count;
    size_t size;
    void (*defaults)(void *options);
    const void *values;  // NULL: the defaults
} used_options;

static bool print_options(hid_t group, const used_options *used, const void *values) {
    char *text = malloc(OPTION_TEXT_SIZE);
    bool written = text != NULL;
    for (int i = 0; i < used->count && written; i++) {
        carom_option_print(&used->rows[i], values, text, OPTION_TEXT_SIZE);
        written = carom_hdf5_put_text(group, used->rows[i].name, text);
    }
    free(text);
    return written;
}

static bool write_options(hid_t parent, const used_options *used) {
    void *defaults = used->values ? NULL : calloc(1, used->size + 1);
    if (defaults && used->defaults) used->defaults(defaults);
    const void *values = used->values ? used->values : defaults;
    const hid_t group = values ? carom_hdf5_create_group(parent, "options") : -1;
    const bool written = group >= 0 && print_options(group, used, values);
    free(defaults);
    return group >= 0 && H5Gclose(group) >= 0 && written;
}

static bool start_group(carom_result_writer *writer, const char *name, const char *doc, const used_options *used) {
    writer->group = carom_hdf5_create_group(writer->file, name);
    return writer->group >= 0 && carom_hdf5_put_text(writer->group, "doc", doc) && write_options(writer->group, used);
}

carom_status carom_result_writer_open_law(carom_result_writer *writer, const carom_law *law, const void *options, carom_sink *sink,
                                          carom_error *error) {
    *sink = (carom_sink){writer, receive_rows};
    if (writer->group >= 0 || writer->file < 0)
        return carom_fail(error, CAROM_INTERNAL, "%s: the file is not ready for %s", writer->name, law->name);
    carom_status status = carom_table_create(carom_outcome_columns(), CAROM_OUTCOME_COLUMNS, law->outcome_columns,
                                             law->outcome_column_count, &writer->sizes, &writer->staged, error);
    if (status) return status;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const used_options used = {law->options, law->option_count, law->options_size, law->defaults, options};
    if (H5Lexists(writer->file, law->name, H5P_DEFAULT) > 0)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the file already has a group %s", writer->name, law->name);
    else
        status = check_write(writer, start_group(writer, law->name, law->summary, &used), error);
    if (status) close_group(writer);
    carom_hdf5_unmute(reporting);
    return status;
}

static bool write_extent(hid_t law, const char *keep, const carom_extent *extent) {
    const carom_hdf5_matrix ranges[] = {
        {"normal", "m/s", "least and largest Jn v_plus of all outcomes", extent->sizes.contacts, 2, extent->normal},
        {"tangent", "m/s", "least and largest Jt v_plus of all outcomes", extent->sizes.tangents, 2, extent->tangent},
        {"energy_ratio", "", "least and largest kinetic energy after over before", 2, 0, extent->energy_ratio},
    };
    const hid_t group = carom_hdf5_put_text(law, "keep", keep) ? carom_hdf5_create_group(law, "extent") : -1;
    bool written = group >= 0;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && written; i++) written = carom_hdf5_put_matrix(group, &ranges[i]);
    return group >= 0 && H5Gclose(group) >= 0 && written;
}

carom_status carom_result_writer_put_extent(carom_result_writer *writer, const char *keep, const carom_extent *extent, carom_error *error) {
    if (writer->group < 0) return carom_fail(error, CAROM_INTERNAL, "%s: no law's results are open", writer->name);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const carom_status status = check_write(writer, write_extent(writer->group, keep, extent), error);
    carom_hdf5_unmute(reporting);
    return status;
}

// -------------------------------------------------------------------------------------------------------- the result row

// A single number or text becomes an attribute of the law's group, anything else a dataset with one line in its group `result`.
static bool write_result(hid_t law, const carom_table *result, int index, hid_t *wide) {
    const carom_column *column = carom_table_column(result, index);
    if (!carom_result_column_is_scalar(column)) {
        if (*wide < 0) *wide = carom_hdf5_create_group(law, "result");
        return *wide >= 0 && carom_result_column_write(*wide, result, index);
    }
    if (column->type == CAROM_COLUMN_TEXT) return carom_hdf5_put_text(law, column->name, carom_table_text(result, index, 0));
    if (column->type == CAROM_COLUMN_REAL) return carom_hdf5_put_real(law, column->name, *carom_table_real_column(result, index));
    return carom_hdf5_put_integer(law, column->name, *carom_table_integer_column(result, index));
}

static bool write_results(hid_t law, const carom_table *result) {
    hid_t wide = -1;
    bool written = true;
    for (int i = 0; i < carom_table_columns(result) && written; i++) written = write_result(law, result, i, &wide);
    if (wide >= 0 && H5Gclose(wide) < 0) written = false;
    return written;
}

static bool is_complete(const carom_table *result) {
    const int verdict = carom_table_find(result, "verdict");
    return verdict >= 0 && !strcmp(carom_table_text(result, verdict, 0), carom_verdict_name(CAROM_COMPLETE));
}

carom_status carom_result_writer_close_law(carom_result_writer *writer, const carom_table *result, carom_error *error) {
    if (writer->group < 0) return carom_fail(error, CAROM_INTERNAL, "%s: no law's results are open", writer->name);
    if (carom_table_rows(result) != 1) return carom_fail(error, CAROM_INTERNAL, "%s: a law reports exactly one result row", writer->name);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = write_staged(writer, true) && write_results(writer->group, result);
    const bool closed = close_group(writer);
    const bool flushed = H5Fflush(writer->file, H5F_SCOPE_LOCAL) >= 0;
    carom_hdf5_unmute(reporting);
    writer->complete = writer->complete && is_complete(result);
    return check_write(writer, written && closed && flushed, error);
}

// ------------------------------------------------------------------------------------------------------------- motions

static bool append_states(carom_result_writer *writer, const carom_table *rows) {
    if (!writer->columns) writer->columns = carom_result_columns_create(writer->states, rows, false);
    return writer->columns && carom_result_columns_append(writer->columns, rows);
}

static carom_status receive_states(void *user, const carom_table *rows, carom_error *error) {
    carom_result_writer *writer = user;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = append_states(writer, rows);
    carom_hdf5_unmute(reporting);
    return check_write(writer, written, error);
}

carom_status carom_result_writer_open_motion(carom_result_writer *writer, const carom_integrator *integrator, const void *options,
                                             carom_sink *states, carom_error *error) {
    *states = (carom_sink){writer, receive_states};
    if (writer->group >= 0 || writer->file < 0)
        return carom_fail(error, CAROM_INTERNAL, "%s: the file is not ready for %s", writer->name, integrator->name);
    const used_options used = {integrator->options, integrator->option_count, integrator->options_size, integrator->defaults, options};
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    bool written = start_group(writer, integrator->name, integrator->summary, &used);
    if (written) writer->states = carom_hdf5_create_group(writer->group, "states");
    written = written && writer->states >= 0;
    carom_hdf5_unmute(reporting);
    return check_write(writer, written, error);
}

void carom_result_writer_mark_incomplete(carom_result_writer *writer) { writer->complete = false; }

// A whole table as a group of its own.
static bool write_table(hid_t parent, const char *name, const carom_table *table) {
    const hid_t group = carom_hdf5_create_group(parent, name);
    carom_result_columns *columns = group >= 0 ? carom_result_columns_create(group, table, true) : NULL;
    const bool written = columns && carom_result_columns_append(columns, table);
    const bool closed = carom_result_columns_close(columns);
    return group >= 0 && H5Gclose(group) >= 0 && written && closed;
}

carom_status carom_result_writer_close_motion(carom_result_writer *writer, const carom_motion_answer *answer, const carom_table *ensemble,
                                              carom_error *error) {
    if (writer->group < 0) return carom_fail(error, CAROM_INTERNAL, "%s: no motion is open", writer->name);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = write_table(writer->group, "impacts", answer->impacts) && write_table(writer->group, "final", answer->final) &&
                         (!ensemble || write_table(writer->group, "ensemble", ensemble)) && write_results(writer->group, answer->result);
    const bool closed = close_group(writer);
    const bool flushed = H5Fflush(writer->file, H5F_SCOPE_LOCAL) >= 0;
    carom_hdf5_unmute(reporting);
    writer->complete = writer->complete && is_complete(answer->result);
    return check_write(writer, written && closed && flushed, error);
}

// ------------------------------------------------------------------------------------------------------- closing a file

// Closes the HDF5 file and its descriptor; some file systems report a full disk only then.
static bool close_file(carom_result_writer *writer) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    bool closed = close_group(writer);
    if (writer->file >= 0 && !carom_hdf5_close_file(writer->file, &writer->medium)) closed = false;
    if (writer->medium.descriptor >= 0 && close(writer->medium.descriptor) && !writer->medium.lost) writer->medium.lost = errno;
    writer->file = -1;
    writer->medium.descriptor = -1;
    carom_hdf5_unmute(reporting);
    return closed;
}

carom_status carom_result_writer_commit(carom_result_writer *writer, carom_error *error) {
    if (writer->group >= 0 || writer->file < 0)
        return carom_fail(error, CAROM_INTERNAL, "%s: the file is not ready to be closed", writer->name);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool marked = carom_hdf5_put_integer(writer->file, "complete", writer->complete);
    carom_hdf5_unmute(reporting);
    const bool closed = close_file(writer);
    const carom_status status = check_write(writer, marked && closed, error);
    return status ? status : carom_temporary_commit(&writer->temporary, error);
}

void carom_result_writer_free(carom_result_writer *writer) {
    if (!writer) return;
    close_file(writer);
    carom_temporary_discard(&writer->temporary);
    free(writer->name);
    free(writer);
}
