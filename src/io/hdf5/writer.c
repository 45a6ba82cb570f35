// SPDX-License-Identifier: Apache-2.0
// Result files: outcomes are gathered in memory up to a few megabytes and then appended to datasets, so that any number of them fits.
// HDF5's own messages are muted within each public function.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/io.h"
#include "carom/temporary.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/driver.h"
#include "io/result/description.h"

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
    if (writer->medium.lost)
        return carom_fail_system(error, writer->medium.lost, "%s: the file could not be written (disk full?)", writer->name);
    return carom_fail(error, CAROM_IO_FAILED, "%s: the file could not be written (disk full?): HDF5 reports an error", writer->name);
}

// ------------------------------------------------------------------------------------------------------ opening a file

// Writes the matrices, names and velocities of the impact; false when HDF5 fails.
static bool write_impact(hid_t file, const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = data->nv, m = data->contacts, n = carom_impact_contact_size(impact);
    // A system of generalised velocities, or the same in contact space alone.
    const carom_hdf5_matrix coefficients[] = {{"mu", "", "Coulomb friction coefficients", m, 0, data->friction},
                                              {"restitution", "", "coefficients of restitution", m, 0, data->restitution}};
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
    bool written = carom_hdf5_put_texts(file, "contacts", data->names, data->contacts) &&
                   carom_hdf5_put_integer(file, "tangent_dim", data->tangent_dim);
    const hid_t group = written ? carom_hdf5_create_group(file, "impact") : -1;
    written = group >= 0 && carom_hdf5_put_matrices(group, 2, coefficients) &&
              (has_system ? carom_hdf5_put_matrices(group, sizeof system / sizeof *system, system)
                          : carom_hdf5_put_matrices(group, sizeof contact_space / sizeof *contact_space, contact_space)) &&
              carom_result_put_description(group, data);
    return group >= 0 && H5Gclose(group) >= 0 && written;
}

// What a file says of where its impact is from.
typedef struct origin {
    const char *name, *file, *hash;
} origin;

static carom_status create_writer(const char *path, const origin *from, const carom_impact *impact, carom_result_writer **writer,
                                  carom_error *error) {
    *writer = NULL;
    carom_result_writer *made = carom_hdf5_has_memory() ? calloc(1, sizeof *made) : NULL;
    if (!made) return carom_fail_memory(error, path);
    made->medium.descriptor = -1;
    made->file = made->group = made->states = -1;
    made->complete = true;
    if (impact) made->sizes = carom_impact_sizes(impact);
    made->name = strdup(path);
    carom_status status = made->name ? CAROM_OK : carom_fail_memory(error, path);
    if (!status) status = carom_temporary_create(path, &carom_file_hdf5, &made->temporary, &made->medium.descriptor, error);
    if (!status) {
        // Metadata and the impact at once, so that a place that cannot be written is known before anything is computed.
        const carom_hdf5_reporting reporting = carom_hdf5_mute();
        const hid_t file = made->file = carom_hdf5_create_file(made->temporary.path, &made->medium);
        const bool written = file >= 0 && carom_hdf5_put_text(file, "carom_version", CAROM_VERSION) &&
                             carom_hdf5_put_text(file, "scene_name", from->name) && carom_hdf5_put_text(file, "scene_hash", from->hash) &&
                             carom_hdf5_put_text(file, "scene_file", from->file) && (!impact || write_impact(file, impact)) &&
                             H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
        carom_hdf5_unmute(reporting);
        status = check_write(made, written, error);
    }
    if (status)
        carom_result_writer_free(made);
    else
        *writer = made;
    return status;
}

carom_status carom_result_writer_create(const char *path, const carom_scene *scene, carom_result_writer **writer, carom_error *error) {
    const char *file = carom_scene_path(scene), *slash = strrchr(file, '/');
    const origin from = {carom_scene_name(scene), slash ? slash + 1 : file, carom_scene_hash(scene)};
    return create_writer(path, &from, carom_scene_impact(scene), writer, error);
}

carom_status carom_result_writer_create_impact(const char *path, const char *name, const carom_impact *impact, carom_result_writer **writer,
                                               carom_error *error) {
    *writer = NULL;
    char hash[CAROM_DIGEST_TEXT_SIZE];
    const carom_status status = carom_impact_digest(impact, hash, error);
    if (status) return status;
    return create_writer(path, &(origin){name, "", hash}, impact, writer, error);
}

carom_status carom_result_writer_create_tables(const char *path, const char *name, const char *source, const char *hash,
                                               carom_result_writer **writer, carom_error *error) {
    const char *slash = strrchr(source, '/');
    return create_writer(path, &(origin){name, slash ? slash + 1 : source, hash}, NULL, writer, error);
}

// ------------------------------------------------------------------------------------------------- groups and their rows

// One group is open at a time.
static carom_status check_ready(const carom_result_writer *writer, const char *what, carom_error *error) {
    if (writer->group < 0 && writer->file >= 0) return CAROM_OK;
    return carom_fail(error, CAROM_INTERNAL, "%s: the file is not ready for %s", writer->name, what);
}

// Closes the open group, if there is one, and forgets its rows.
static bool close_group(carom_result_writer *writer) {
    bool closed = carom_result_columns_close(writer->columns);
    if (writer->states >= 0 && H5Gclose(writer->states) < 0) closed = false;
    if (writer->group >= 0 && H5Gclose(writer->group) < 0) closed = false;
    carom_table_free(writer->staged);
    writer->columns = NULL;
    writer->staged = NULL;
    writer->staged_bytes = 0;
    writer->group = writer->states = -1;
    return closed;
}

// Appends rows to the open columns in `group`, which are created with the first of them.
static bool append_rows(carom_result_writer *writer, hid_t group, const carom_table *rows, bool last) {
    if (!writer->columns) writer->columns = carom_result_columns_create(group, rows, last);
    return writer->columns && carom_result_columns_append(writer->columns, rows);
}

// The sink of a law: rows are staged, and written when there are megabytes of them.
static carom_status receive_outcomes(void *user, const carom_table *rows, carom_error *error) {
    carom_result_writer *writer = user;
    const carom_status status = carom_table_append(writer->staged, rows, error);
    if (status) {
        writer->failed = true;
        return status;
    }
    writer->staged_bytes += carom_result_columns_size(rows);
    if (writer->staged_bytes < STAGED_BYTES) return CAROM_OK;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = append_rows(writer, writer->group, writer->staged, false);
    carom_hdf5_unmute(reporting);
    carom_table_clear(writer->staged);
    writer->staged_bytes = 0;
    return check_write(writer, written, error);
}

// The sink of a motion: integrators send blocks of states, which are written as they come.
static carom_status receive_states(void *user, const carom_table *rows, carom_error *error) {
    carom_result_writer *writer = user;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = append_rows(writer, writer->states, rows, false);
    carom_hdf5_unmute(reporting);
    return check_write(writer, written, error);
}

// A law or an integrator, and what it was asked with.
typedef struct asked {
    const char *name, *summary;
    const carom_option *options;
    int option_count;
    size_t size;
    void (*defaults)(void *options);
    const void *values;  // NULL: the defaults
} asked;

// Opens a group and writes the options that were used, one attribute each.
static bool start_group(carom_result_writer *writer, const asked *about) {
    void *defaults = about->values ? NULL : calloc(1, about->size + 1);
    if (defaults && about->defaults) about->defaults(defaults);
    const void *values = about->values ? about->values : defaults;
    char *text = malloc(OPTION_TEXT_SIZE);
    writer->group = values && text ? carom_hdf5_create_group(writer->file, about->name) : -1;
    bool written = writer->group >= 0 && carom_hdf5_put_text(writer->group, "doc", about->summary);
    const hid_t options = written ? carom_hdf5_create_group(writer->group, "options") : -1;
    written = options >= 0;
    for (int i = 0; i < about->option_count && written; i++) {
        carom_option_print(&about->options[i], values, text, OPTION_TEXT_SIZE);
        written = carom_hdf5_put_text(options, about->options[i].name, text);
    }
    free(defaults);
    free(text);
    return options >= 0 && H5Gclose(options) >= 0 && written;
}

// Writes the result row and closes the group. A single number or text becomes an attribute of the group, anything else a dataset with one
// line in its group `result`.
static carom_status end_group(carom_result_writer *writer, bool written, const carom_table *result, carom_error *error) {
    hid_t wide = -1;
    for (int i = 0; i < carom_table_columns(result) && written; i++) {
        const carom_column *column = carom_table_column(result, i);
        if (!carom_result_column_is_scalar(column)) {
            if (wide < 0) wide = carom_hdf5_create_group(writer->group, "result");
            written = wide >= 0 && carom_result_column_write(wide, result, i);
        } else if (column->type == CAROM_COLUMN_TEXT) {
            written = carom_hdf5_put_text(writer->group, column->name, carom_table_text(result, i, 0));
        } else if (column->type == CAROM_COLUMN_REAL) {
            written = carom_hdf5_put_real(writer->group, column->name, *carom_table_real_column(result, i));
        } else {
            written = carom_hdf5_put_integer(writer->group, column->name, *carom_table_integer_column(result, i));
        }
    }
    if (wide >= 0 && H5Gclose(wide) < 0) written = false;
    const bool closed = close_group(writer), flushed = H5Fflush(writer->file, H5F_SCOPE_LOCAL) >= 0;
    // The file is complete when everything in it is.
    const int verdict = carom_table_find(result, "verdict");
    if (verdict < 0 || strcmp(carom_table_text(result, verdict, 0), carom_verdict_name(CAROM_COMPLETE)) != 0) writer->complete = false;
    return check_write(writer, written && closed && flushed, error);
}

// ----------------------------------------------------------------------------------------------------------------- laws

carom_status carom_result_writer_open_law(carom_result_writer *writer, const carom_law *law, const void *options, carom_sink *sink,
                                          carom_error *error) {
    *sink = (carom_sink){writer, receive_outcomes};
    carom_status status = check_ready(writer, law->name, error);
    if (!status)
        status = carom_table_create(carom_outcome_columns(), CAROM_OUTCOME_COLUMNS, law->outcome_columns, law->outcome_column_count,
                                    &writer->sizes, &writer->staged, error);
    if (status) return status;
    const asked about = {law->name, law->summary, law->options, law->option_count, law->options_size, law->defaults, options};
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    // A law may be asked only once for a file: its group has its name.
    if (H5Lexists(writer->file, law->name, H5P_DEFAULT) > 0)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: the file already has a group %s", writer->name, law->name);
    else
        status = check_write(writer, start_group(writer, &about), error);
    if (status) close_group(writer);
    carom_hdf5_unmute(reporting);
    return status;
}

carom_status carom_result_writer_put_extent(carom_result_writer *writer, const char *keep, const carom_extent *extent, carom_error *error) {
    if (writer->group < 0) return carom_fail(error, CAROM_INTERNAL, "%s: no law's results are open", writer->name);
    const carom_hdf5_matrix ranges[] = {
        {"normal", "m/s", "least and largest Jn v_plus of all outcomes", extent->sizes.contacts, 2, extent->normal},
        {"tangent", "m/s", "least and largest Jt v_plus of all outcomes", extent->sizes.tangents, 2, extent->tangent},
        {"energy_ratio", "", "least and largest kinetic energy after over before", 2, 0, extent->energy_ratio},
    };
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t group = carom_hdf5_put_text(writer->group, "keep", keep) ? carom_hdf5_create_group(writer->group, "extent") : -1;
    bool written = group >= 0 && carom_hdf5_put_matrices(group, sizeof ranges / sizeof *ranges, ranges);
    // An extent from a file of older versions knows neither their number nor their modes.
    if (written && extent->outcomes != CAROM_NO_INTEGER)
        written = carom_hdf5_put_integer(group, "outcomes", extent->outcomes) &&
                  (extent->approximate == CAROM_NO_INTEGER || carom_hdf5_put_integer(group, "approximate", extent->approximate)) &&
                  carom_hdf5_put_counts(group, "modes", "outcomes in which each contact sticks, slides, lifts, or approaches still",
                                        extent->sizes.contacts, CAROM_CONTACT_MODES, extent->modes);
    if (group >= 0 && H5Gclose(group) < 0) written = false;
    carom_hdf5_unmute(reporting);
    return check_write(writer, written, error);
}

carom_status carom_result_writer_close_law(carom_result_writer *writer, const carom_table *result, carom_error *error) {
    if (writer->group < 0) return carom_fail(error, CAROM_INTERNAL, "%s: no law's results are open", writer->name);
    if (carom_table_rows(result) != 1) return carom_fail(error, CAROM_INTERNAL, "%s: a law reports exactly one result row", writer->name);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    // What is still staged; also of a law without outcomes, so that its columns are there.
    const bool written = append_rows(writer, writer->group, writer->staged, true);
    const carom_status status = end_group(writer, written, result, error);
    carom_hdf5_unmute(reporting);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- motions

carom_status carom_result_writer_open_motion(carom_result_writer *writer, const carom_integrator *integrator, const void *options,
                                             carom_sink *states, carom_error *error) {
    *states = (carom_sink){writer, receive_states};
    const carom_status status = check_ready(writer, integrator->name, error);
    if (status) return status;
    const carom_integrator *row = integrator;
    const asked about = {row->name, row->summary, row->options, row->option_count, row->options_size, row->defaults, options};
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = start_group(writer, &about);
    // States come in blocks, impacts and the final state at the end.
    if (written) writer->states = carom_hdf5_create_group(writer->group, "states");
    carom_hdf5_unmute(reporting);
    return check_write(writer, writer->states >= 0, error);
}

// A whole table as a group of its own; there may be none.
static bool write_table(hid_t parent, const char *name, const carom_table *table) {
    if (!table) return true;
    const hid_t group = carom_hdf5_create_group(parent, name);
    carom_result_columns *columns = group >= 0 ? carom_result_columns_create(group, table, true) : NULL;
    const bool written = columns && carom_result_columns_append(columns, table);
    const bool closed = carom_result_columns_close(columns);
    return group >= 0 && H5Gclose(group) >= 0 && written && closed;
}

carom_status carom_result_writer_put_table(carom_result_writer *writer, const char *group, const carom_table *table, carom_error *error) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const carom_status status = check_write(writer, write_table(writer->file, group, table), error);
    carom_hdf5_unmute(reporting);
    return status;
}

carom_status carom_result_writer_close_motion(carom_result_writer *writer, const carom_motion_answer *answer, const carom_table *ensemble,
                                              const carom_table *ensemble_states, carom_error *error) {
    if (writer->group < 0) return carom_fail(error, CAROM_INTERNAL, "%s: no motion is open", writer->name);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const bool written = write_table(writer->group, "impacts", answer->impacts) && write_table(writer->group, "final", answer->final) &&
                         write_table(writer->group, "names", answer->names) && write_table(writer->group, "ensemble", ensemble) &&
                         write_table(writer->group, "ensemble_states", ensemble_states);
    const carom_status status = end_group(writer, written, answer->result, error);
    carom_hdf5_unmute(reporting);
    return status;
}

void carom_result_writer_mark_incomplete(carom_result_writer *writer) { writer->complete = false; }

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
    carom_status status = check_ready(writer, "closing", error);
    if (status) return status;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    // The last attribute: a file that lacks it was never finished.
    const bool marked = carom_hdf5_put_integer(writer->file, "complete", writer->complete);
    carom_hdf5_unmute(reporting);
    const bool closed = close_file(writer);
    status = check_write(writer, marked && closed, error);
    return status ? status : carom_temporary_commit(&writer->temporary, error);
}

void carom_result_writer_free(carom_result_writer *writer) {
    if (!writer) return;
    close_file(writer);
    carom_temporary_discard(&writer->temporary);
    free(writer->name);
    free(writer);
}
