// SPDX-License-Identifier: Apache-2.0
// Result files, read back. Nothing in a file is trusted: not its types, not its sizes, not its offsets.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/hdf5_support.h"
#include "io/result/file.h"

enum { NAME_SIZE = 256, MAX_LAWS = 1024 };

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

static carom_status refuse(const carom_result *result, carom_error *error, const char *why, const char *name) {
    return carom_fail(error, CAROM_BAD_INPUT, "%s: not a carom result file: %s%s", result->path, why, name);
}

static carom_status refuse_motion(const carom_result *result, carom_error *error) {
    return carom_fail(error, CAROM_BAD_INPUT, "%s: it holds a motion and no outcomes of an impact (`carom simulate --figures` draws it)",
                      result->path);
}

// -------------------------------------------------------------------------------------------------------------- opening

// HDF5 would wait for ever on a fifo, and its own messages do not say why a file cannot be opened.
static carom_status check_file(carom_result *result, carom_error *error) {
    struct stat about;
    if (stat(result->path, &about))
        return carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be read: %s", result->path, strerror(errno));
    if (!S_ISREG(about.st_mode)) return refuse(result, error, "it is not a regular file", "");
    FILE *file = fopen(result->path, "rb");
    if (!file) return carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be read: %s", result->path, strerror(errno));
    fclose(file);
    result->file_size = (hsize_t)about.st_size;
    return CAROM_OK;
}

static carom_status read_metadata(carom_result *result, carom_error *error) {
    char **version;
    int count;
    const bool ours = carom_hdf5_get_texts(result->file, "carom_version", 1, 1, &version, &count);
    carom_hdf5_free_texts(version, count);
    if (!ours) return refuse(result, error, "it lacks the attribute ", "carom_version");
    if (!carom_hdf5_get_texts(result->file, "scene_name", 1, 1, &result->scene_name, &count))
        return refuse(result, error, "it lacks the attribute ", "scene_name");
    if (!carom_hdf5_get_texts(result->file, "contacts", 1, CAROM_MAX_CONTACTS, &result->contacts, &result->contact_count))
        return refuse(result, error, "it lacks the attribute contacts: it holds no impact",
                      " (motions are drawn by `carom simulate --figures`)");
    if (!carom_hdf5_get_integer(result->file, "tangent_dim", &result->tangent_dim) || result->tangent_dim < 1 || result->tangent_dim > 2)
        return refuse(result, error, "its tangent_dim is neither 1 nor 2", "");
    return CAROM_OK;
}

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

static carom_status read_laws(carom_result *result, carom_error *error) {
    result->laws = calloc(MAX_LAWS, sizeof *result->laws);
    if (!result->laws) return carom_fail_memory(error, result->path);
    if (H5Literate(result->file, H5_INDEX_NAME, H5_ITER_INC, NULL, add_law, result) < 0)
        return refuse(result, error, "its groups cannot be listed", "");
    if (result->has_motion && !result->law_count) return refuse_motion(result, error);
    return CAROM_OK;
}

static carom_status open_file(carom_result *result, carom_error *error) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    result->file = H5Fopen(result->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (result->file < 0) return refuse(result, error, "it is not an HDF5 file, or not a whole one", "");
    const carom_status status = read_metadata(result, error);
    return status ? status : read_laws(result, error);
}

carom_status carom_result_open(const char *path, carom_result **result, carom_error *error) {
    *result = NULL;
    carom_result *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, path);
    made->file = -1;
    made->path = strdup(path);
    carom_status status = made->path ? check_file(made, error) : carom_fail_memory(error, path);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    if (!status) status = open_file(made, error);
    carom_hdf5_unmute(reporting);
    if (status) {
        carom_result_close(made);
        return status;
    }
    *result = made;
    return CAROM_OK;
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
int carom_result_laws(const carom_result *result) { return result->law_count; }
const char *carom_result_law_name(const carom_result *result, int law) { return result->laws[law]; }

// -------------------------------------------------------------------------------------------------------------- columns

static hid_t open_column(const carom_result *result, const char *group_name, const char *column) {
    const hid_t group = carom_hdf5_open(result->file, group_name, H5I_GROUP);
    if (group < 0) return -1;
    const hid_t dataset = carom_hdf5_open(group, column, H5I_DATASET);
    H5Oclose(group);
    return dataset;
}

bool carom_result_has_dataset(const carom_result *result, const char *group, const char *name) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t dataset = open_column(result, group, name);
    if (dataset >= 0) H5Oclose(dataset);
    carom_hdf5_unmute(reporting);
    return dataset >= 0;
}

bool carom_result_has_column(const carom_result *result, int law, const char *column) {
    return carom_result_has_dataset(result, result->laws[law], column);
}

// Reads a column that is there.
static carom_status read_column(const carom_result *result, const char *group, const char *column, hid_t memory_type, void **values,
                                carom_hdf5_extent *extent, carom_error *error) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t dataset = open_column(result, group, column);
    const bool found = dataset >= 0, read = found && carom_hdf5_get_dataset(dataset, memory_type, result->file_size, values, extent);
    if (found) H5Oclose(dataset);
    carom_hdf5_unmute(reporting);
    if (read) return CAROM_OK;
    const char *what = found ? "has another type or size than it should, or is damaged" : "is missing";
    return carom_fail(error, CAROM_BAD_INPUT, "%s: not a carom result file: %s of %s %s", result->path, column, group, what);
}

carom_status carom_result_read_dataset(const carom_result *result, const char *group, const char *name, double **values, int64_t *rows,
                                       int *width, carom_error *error) {
    void *read = NULL;
    carom_hdf5_extent extent = {0};
    const carom_status status = read_column(result, group, name, H5T_NATIVE_DOUBLE, &read, &extent, error);
    *values = read;
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
    void *read = NULL;
    carom_hdf5_extent extent = {0};
    const carom_status status = read_column(result, result->laws[law], column, H5T_NATIVE_INT64, &read, &extent, error);
    *values = read;
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
    if (read) snprintf(text, size, "%s", texts[0]);
    if (group >= 0) H5Oclose(group);
    carom_hdf5_free_texts(texts, count);
    carom_hdf5_unmute(reporting);
    return read;
}

// Lines to entries. The offsets must start at 0, never fall, and end at the last line.
static bool scale_offsets(int64_t *offsets, const carom_hdf5_extent *extent, const carom_hdf5_extent *values) {
    if (extent->width != 1 || extent->lines < 1 || offsets[0] != 0 || offsets[extent->lines - 1] != values->lines) return false;
    for (int64_t i = 1; i < extent->lines; i++)
        if (offsets[i] < offsets[i - 1]) return false;
    for (int64_t i = 0; i < extent->lines; i++) offsets[i] *= values->width;
    return true;
}

static carom_status read_lists(const carom_result *result, int law, const char *column, void **values, void **offsets, int64_t *rows,
                               carom_error *error) {
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s_offsets", column);
    carom_hdf5_extent value_extent = {0}, offset_extent = {0};
    const char *group = result->laws[law];
    carom_status status = read_column(result, group, column, H5T_NATIVE_DOUBLE, values, &value_extent, error);
    if (!status) status = read_column(result, group, name, H5T_NATIVE_INT64, offsets, &offset_extent, error);
    if (!status && !scale_offsets(*offsets, &offset_extent, &value_extent))
        status = refuse(result, error, "its offsets are out of order: ", name);
    if (!status) *rows = offset_extent.lines - 1;
    return status;
}

carom_status carom_result_read_series(const carom_result *result, int law, const char *column, double **values, int64_t **offsets,
                                      int64_t *rows, carom_error *error) {
    *values = NULL;
    *offsets = NULL;
    *rows = 0;
    if (!carom_result_has_column(result, law, column)) return CAROM_OK;
    void *read = NULL, *starts = NULL;
    const carom_status status = read_lists(result, law, column, &read, &starts, rows, error);
    if (status) {
        free(read);
        free(starts);
        return status;
    }
    *values = read;
    *offsets = starts;
    return CAROM_OK;
}
