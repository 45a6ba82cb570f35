// SPDX-License-Identifier: Apache-2.0
// Result files, read back. Nothing in a file is trusted: not its types, not its sizes, not its offsets.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/hdf5_support.h"
#include "io/result/file.h"

enum { NAME_SIZE = 256, MAX_LAWS = 1024 };

// What is known of an open file. Columns are read when they are asked for.
struct carom_result {
    char *path;
    hid_t file;
    hsize_t file_size;
    char **scene_name;  // one text
    char **contacts;
    int contact_count;
    int64_t tangent_dim;
    char **laws;
    int law_count;
    bool has_motion;
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

// Every group at the top but `impact` is a law's, or that of a motion, which has states. A failed allocation or an absurd number of laws
// ends the iteration with an error.
static herr_t add_law(hid_t file, const char *name, const H5L_info_t *link, void *user) {
    (void)link;
    carom_result *result = user;
    if (!strcmp(name, "impact")) return 0;
    const hid_t group = carom_hdf5_open(file, name, H5I_GROUP);
    if (group < 0) return 0;
    const bool motion = H5Lexists(group, "states", H5P_DEFAULT) > 0;
    H5Oclose(group);
    result->has_motion = result->has_motion || motion;
    if (motion) return 0;
    if (result->law_count == MAX_LAWS) return -1;
    result->laws[result->law_count] = strdup(name);
    return result->laws[result->law_count++] ? 0 : -1;
}

// Opens the file with HDF5 and reads its attributes and the names of its laws.
static carom_status read_top(carom_result *result, carom_error *error) {
    // Objects that are still open are closed with the file.
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    result->file = H5Fopen(result->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (result->file < 0) return carom_result_refuse(result, error, "it is not an HDF5 file, or not a whole one");

    // Any version is read: its layout is checked column by column.
    char **version;
    int count;
    const bool ours = carom_hdf5_get_texts(result->file, "carom_version", 1, 1, &version, &count);
    carom_hdf5_free_texts(version, count);
    if (!ours) return carom_result_refuse(result, error, "it lacks the attribute carom_version");
    if (!carom_hdf5_get_texts(result->file, "scene_name", 1, 1, &result->scene_name, &count))
        return carom_result_refuse(result, error, "it lacks the attribute scene_name");
    if (!carom_hdf5_get_texts(result->file, "contacts", 1, CAROM_MAX_CONTACTS, &result->contacts, &result->contact_count))
        return carom_result_refuse(result, error,
                                   "it lacks the attribute contacts: it holds no impact (motions are drawn by `carom simulate --figures`)");
    // One tangent in the plane, two in space.
    if (!carom_hdf5_get_integer(result->file, "tangent_dim", &result->tangent_dim) || result->tangent_dim < 1 || result->tangent_dim > 2)
        return carom_result_refuse(result, error, "its tangent_dim is neither 1 nor 2");

    result->laws = calloc(MAX_LAWS, sizeof *result->laws);
    if (!result->laws) return carom_fail_memory(error, result->path);
    if (H5Literate(result->file, H5_INDEX_NAME, H5_ITER_INC, NULL, add_law, result) < 0)
        return carom_result_refuse(result, error, "its groups cannot be listed");
    // A file of motions alone has no outcomes that anybody could draw or query.
    if (!result->has_motion || result->law_count) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: it holds a motion and no outcomes of an impact (`carom simulate --figures` draws it)",
                      result->path);
}

carom_status carom_result_open(const char *path, carom_result **result, carom_error *error) {
    *result = NULL;
    carom_result *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, path);
    made->file = -1;
    made->path = strdup(path);

    // HDF5 would wait for ever on a fifo, and its own messages do not say why a file cannot be opened.
    struct stat about;
    FILE *file = NULL;
    carom_status status = CAROM_OK;
    if (!made->path)
        status = carom_fail_memory(error, path);
    else if (stat(path, &about))
        status = carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be read: %s", path, strerror(errno));
    else if (!S_ISREG(about.st_mode))
        status = carom_result_refuse(made, error, "it is not a regular file");
    else if (!(file = fopen(path, "rb")))
        status = carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be read: %s", path, strerror(errno));
    if (file) fclose(file);
    if (!status) {
        made->file_size = (hsize_t)about.st_size;
        const carom_hdf5_reporting reporting = carom_hdf5_mute();
        status = read_top(made, error);
        carom_hdf5_unmute(reporting);
    }
    if (status)
        carom_result_close(made);
    else
        *result = made;
    return status;
}

void carom_result_close(carom_result *result) {
    if (!result) return;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    if (result->file >= 0) H5Fclose(result->file);
    carom_hdf5_unmute(reporting);
    carom_hdf5_free_texts(result->scene_name, 1);
    carom_hdf5_free_texts(result->contacts, result->contact_count);
    carom_hdf5_free_texts(result->laws, result->law_count);
    free(result->path);
    free(result);
}

const char *carom_result_scene_name(const carom_result *result) { return result->scene_name[0]; }
int carom_result_contacts(const carom_result *result) { return result->contact_count; }
int carom_result_tangent_dim(const carom_result *result) { return (int)result->tangent_dim; }
const char *carom_result_contact_name(const carom_result *result, int contact) { return result->contacts[contact]; }
const char *const *carom_result_contact_names(const carom_result *result) { return (const char *const *)result->contacts; }
int carom_result_laws(const carom_result *result) { return result->law_count; }
const char *carom_result_law_name(const carom_result *result, int law) { return result->laws[law]; }

// -------------------------------------------------------------------------------------------------------------- columns

// Only hard links, at two levels: group and dataset.
static hid_t open_dataset(const carom_result *result, const char *group_name, const char *name) {
    const hid_t group = carom_hdf5_open(result->file, group_name, H5I_GROUP);
    if (group < 0) return -1;
    const hid_t dataset = carom_hdf5_open(group, name, H5I_DATASET);
    H5Oclose(group);
    return dataset;
}

bool carom_result_has_dataset(const carom_result *result, const char *group, const char *name) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t dataset = open_dataset(result, group, name);
    if (dataset >= 0) H5Oclose(dataset);
    carom_hdf5_unmute(reporting);
    return dataset >= 0;
}

// Reads a dataset that must be there. NULL and no lines where that fails.
static void *read_dataset(const carom_result *result, const char *group, const char *name, hid_t memory_type, carom_hdf5_extent *extent,
                          carom_status *status, carom_error *error) {
    // The size of the file bounds what is allocated.
    void *values = NULL;
    *extent = (carom_hdf5_extent){0};
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t dataset = open_dataset(result, group, name);
    const bool found = dataset >= 0, read = found && carom_hdf5_get_dataset(dataset, memory_type, result->file_size, &values, extent);
    if (found) H5Oclose(dataset);
    carom_hdf5_unmute(reporting);
    const char *what = found ? "has another type or size than it should, or is damaged" : "is missing";
    *status = read ? CAROM_OK : carom_result_refuse(result, error, "%s of %s %s", name, group, what);
    return values;
}

carom_status carom_result_read_dataset(const carom_result *result, const char *group, const char *name, double **values, int64_t *rows,
                                       int *width, carom_error *error) {
    carom_hdf5_extent extent;
    carom_status status;
    *values = read_dataset(result, group, name, H5T_NATIVE_DOUBLE, &extent, &status, error);
    *rows = extent.lines;
    *width = extent.width;
    return status;
}

carom_status carom_result_read_reals(const carom_result *result, int law, const char *column, double **values, int64_t *rows, int *width,
                                     carom_error *error) {
    return carom_result_read_dataset(result, result->laws[law], column, values, rows, width, error);
}

carom_status carom_result_read_integers(const carom_result *result, int law, const char *column, int64_t **values, int64_t *rows,
                                        int *width, carom_error *error) {
    carom_hdf5_extent extent;
    carom_status status;
    *values = read_dataset(result, result->laws[law], column, H5T_NATIVE_INT64, &extent, &status, error);
    *rows = extent.lines;
    *width = extent.width;
    return status;
}

bool carom_result_read_attribute(const carom_result *result, int law, const char *name, char *text, size_t size) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t group = carom_hdf5_open(result->file, result->laws[law], H5I_GROUP);
    char **texts = NULL;
    int count = 0;
    const bool read = group >= 0 && carom_hdf5_get_texts(group, name, 1, 1, &texts, &count);
    // Attributes of a law are the scalars of its result row.
    if (read) snprintf(text, size, "%s", texts[0]);
    if (group >= 0) H5Oclose(group);
    carom_hdf5_free_texts(texts, count);
    carom_hdf5_unmute(reporting);
    return read;
}

carom_status carom_result_read_series(const carom_result *result, int law, const char *column, double **values, int64_t **offsets,
                                      int64_t *rows, carom_error *error) {
    *values = NULL;
    *offsets = NULL;
    *rows = 0;
    const char *group = result->laws[law];
    if (!carom_result_has_dataset(result, group, column)) return CAROM_OK;
    // The entries, and where each row of them starts.
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s_offsets", column);
    carom_hdf5_extent lines, starts = {0};
    carom_status status;
    *values = read_dataset(result, group, column, H5T_NATIVE_DOUBLE, &lines, &status, error);
    if (!status) *offsets = read_dataset(result, group, name, H5T_NATIVE_INT64, &starts, &status, error);
    if (!status) {
        // The offsets start at 0, never fall, and end at the last line.
        const int64_t *at = *offsets;
        bool ordered = starts.width == 1 && starts.lines >= 1 && at[0] == 0 && at[starts.lines - 1] == lines.lines;
        for (int64_t i = 1; i < starts.lines && ordered; i++) ordered = at[i] >= at[i - 1];
        if (!ordered) status = carom_result_refuse(result, error, "its offsets are out of order: %s", name);
    }
    if (status) {
        free(*values);
        free(*offsets);
        *values = NULL;
        *offsets = NULL;
        return status;
    }
    // They count lines in the file, entries here.
    for (int64_t i = 0; i < starts.lines; i++) (*offsets)[i] *= lines.width;
    *rows = starts.lines - 1;
    return CAROM_OK;
}
