// SPDX-License-Identifier: Apache-2.0
// What a result file stores, by libhdf5, whose messages are muted within each function.
#include "io/result/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/impact.h"
#include "io/hdf5/support.h"

struct carom_stored {
    hid_t file;
    hsize_t size;
};

void carom_stored_top_release(carom_stored_top *top) {
    carom_hdf5_free_texts(top->scene_name, 1);
    carom_hdf5_free_texts(top->contacts, top->contact_count);
    carom_hdf5_free_texts(top->laws, top->law_count);
    *top = (carom_stored_top){0};
}

static carom_status refuse(const char *path, carom_error *error, const char *why) {
    return carom_fail(error, CAROM_BAD_INPUT, "%s: not a carom result file: %s", path, why);
}

// Every group at the top but `impact` is a law's, or that of a motion, which has states. A failed allocation, an absurd number of laws or
// an absurd name ends the iteration with an error.
static herr_t add_law(hid_t file, const char *name, const H5L_info_t *link, void *user) {
    (void)link;
    carom_stored_top *top = user;
    if (!strcmp(name, "impact")) return 0;
    const hid_t group = carom_hdf5_open(file, name, H5I_GROUP);
    if (group < 0) return 0;
    const bool motion = H5Lexists(group, "states", H5P_DEFAULT) > 0;
    H5Oclose(group);
    top->has_motion = top->has_motion || motion;
    if (motion) return 0;
    if (top->law_count == CAROM_STORED_MOST_LAWS || strlen(name) >= CAROM_STORED_NAME) return -1;
    top->laws[top->law_count] = strdup(name);
    return top->laws[top->law_count++] ? 0 : -1;
}

static carom_status read_top(hid_t file, const char *path, carom_stored_top *top, carom_error *error) {
    // Any version is read, because the layout is checked column by column; but for old files with texts of variable length.
    char **version;
    int count;
    const bool ours = carom_hdf5_get_texts(file, "carom_version", 1, 1, &version, &count);
    carom_hdf5_free_texts(version, count);
    if (!ours && carom_hdf5_has_variable_text(file, "carom_version"))
        return refuse(path, error, "an older carom wrote it, with texts that cannot be read safely; make it again");
    if (!ours) return refuse(path, error, "it lacks the attribute carom_version");
    if (!carom_hdf5_get_texts(file, "scene_name", 1, 1, &top->scene_name, &count))
        return refuse(path, error, "it lacks the attribute scene_name");
    if (!carom_hdf5_get_texts(file, "contacts", 1, CAROM_MAX_CONTACTS, &top->contacts, &top->contact_count))
        return refuse(path, error, "it lacks the attribute contacts: it holds no impact (motions are drawn by `carom simulate --figures`)");
    // One tangent in the plane, two in space.
    int64_t tangent_dim;
    if (!carom_hdf5_get_integer(file, "tangent_dim", &tangent_dim) || tangent_dim < 1 || tangent_dim > 2)
        return refuse(path, error, "its tangent_dim is neither 1 nor 2");
    top->tangent_dim = (int)tangent_dim;
    top->laws = calloc(CAROM_STORED_MOST_LAWS, sizeof *top->laws);
    if (!top->laws) return carom_fail_memory(error, path);
    if (H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, add_law, top) < 0) return refuse(path, error, "its groups cannot be listed");
    return CAROM_OK;
}

carom_status carom_stored_open(const char *path, int64_t file_size, carom_stored **stored, carom_stored_top *top, carom_error *error) {
    *top = (carom_stored_top){0};
    carom_stored *made = *stored = malloc(sizeof *made);
    if (!made) return carom_fail_memory(error, path);
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    // Objects that are still open are closed with the file. Whoever has it open in this process, such as h5py, may have chosen otherwise,
    // and libhdf5 opens a file twice only in the same way.
    static const H5F_close_degree_t degrees[] = {H5F_CLOSE_STRONG, H5F_CLOSE_WEAK, H5F_CLOSE_SEMI};
    *made = (carom_stored){-1, (hsize_t)file_size};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees && made->file < 0; i++) {
        H5Pset_fclose_degree(access, degrees[i]);
        made->file = H5Fopen(path, H5F_ACC_RDONLY, access);
    }
    H5Pclose(access);
    const carom_status status =
        made->file < 0 ? refuse(path, error, "it is not an HDF5 file, or not a whole one") : read_top(made->file, path, top, error);
    carom_hdf5_unmute(reporting);
    if (!status) return CAROM_OK;
    carom_stored_top_release(top);
    carom_stored_close(made);
    *stored = NULL;
    return status;
}

void carom_stored_close(carom_stored *stored) {
    if (!stored) return;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    if (stored->file >= 0) H5Fclose(stored->file);
    carom_hdf5_unmute(reporting);
    free(stored);
}

// A group at the top, or within one there. Only hard links.
static hid_t open_group(const carom_stored *stored, const char *path) {
    const char *slash = strchr(path, '/');
    if (!slash) return carom_hdf5_open(stored->file, path, H5I_GROUP);
    char outer[CAROM_STORED_NAME];
    snprintf(outer, sizeof outer, "%.*s", (int)(slash - path), path);
    const hid_t group = carom_hdf5_open(stored->file, outer, H5I_GROUP);
    if (group < 0) return -1;
    const hid_t inner = carom_hdf5_open(group, slash + 1, H5I_GROUP);
    H5Oclose(group);
    return inner;
}

static hid_t open_dataset(const carom_stored *stored, const char *group_name, const char *name) {
    const hid_t group = open_group(stored, group_name);
    if (group < 0) return -1;
    const hid_t dataset = carom_hdf5_open(group, name, H5I_DATASET);
    H5Oclose(group);
    return dataset;
}

bool carom_stored_has(const carom_stored *stored, const char *group, const char *name) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t dataset = open_dataset(stored, group, name);
    if (dataset >= 0) H5Oclose(dataset);
    carom_hdf5_unmute(reporting);
    return dataset >= 0;
}

carom_stored_found carom_stored_read(const carom_stored *stored, const char *group, const char *name, carom_stored_type type, void **values,
                                     carom_stored_extent *extent) {
    *values = NULL;
    *extent = (carom_stored_extent){0};
    carom_hdf5_extent size;
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t dataset = open_dataset(stored, group, name);
    const bool found = dataset >= 0;
    // The size of the file bounds what is allocated.
    const hid_t memory_type = type == CAROM_STORED_REALS ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    bool read = false;
    if (found && type == CAROM_STORED_CHARACTERS)
        read = carom_hdf5_get_characters(dataset, stored->size, values, &size);
    else if (found && type == CAROM_STORED_TEXTS)
        read = carom_hdf5_get_texts_dataset(dataset, stored->size, values, &size);
    else if (found)
        read = carom_hdf5_get_dataset(dataset, memory_type, stored->size, values, &size);
    if (found) H5Oclose(dataset);
    carom_hdf5_unmute(reporting);
    if (read) *extent = (carom_stored_extent){size.lines, size.width};
    return read ? CAROM_STORED_READ : found ? CAROM_STORED_DAMAGED : CAROM_STORED_MISSING;
}

bool carom_stored_text(const carom_stored *stored, const char *group_name, const char *name, char text[CAROM_STORED_TEXT]) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t group = open_group(stored, group_name);
    char **texts = NULL;
    int count = 0;
    double real;
    int64_t integer;
    const bool is_text = group >= 0 && carom_hdf5_get_texts(group, name, 1, 1, &texts, &count);
    const bool is_real = group >= 0 && !is_text && carom_hdf5_get_real(group, name, &real);
    const bool is_integer = group >= 0 && !is_text && !is_real && carom_hdf5_get_integer(group, name, &integer);
    if (is_text) snprintf(text, CAROM_STORED_TEXT, "%s", texts[0]);
    if (is_real) carom_print_number(real, text, CAROM_STORED_TEXT);
    if (is_integer) snprintf(text, CAROM_STORED_TEXT, "%" PRId64, integer);
    if (group >= 0) H5Oclose(group);
    carom_hdf5_free_texts(texts, count);
    carom_hdf5_unmute(reporting);
    return is_text || is_real || is_integer;
}
