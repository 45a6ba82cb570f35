// SPDX-License-Identifier: Apache-2.0
// What reading and writing HDF5 files share. Errors are muted here, so that closing an identifier that was never opened is a harmless
// failure.
#include "io/hdf5/support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/files.h"
#include "carom/utf8.h"

// Texts that are read are padded to the length of the longest; this is far beyond what any law writes.
#define MOST_TEXT_BYTES ((hsize_t)1 << 30)

// HDF5 keeps one setting for each thread.
const char *carom_hdf5_version(char text[CAROM_HDF5_VERSION]) {
    unsigned parts[3];
    H5get_libversion(&parts[0], &parts[1], &parts[2]);
    snprintf(text, CAROM_HDF5_VERSION, "%u.%u.%u", parts[0], parts[1], parts[2]);
    return text;
}

void carom_hdf5_prepare(void) { H5dont_atexit(); }

carom_hdf5_reporting carom_hdf5_mute(void) {
    carom_hdf5_reporting before = {0};
    H5Eget_auto2(H5E_DEFAULT, &before.report, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

void carom_hdf5_unmute(carom_hdf5_reporting before) { H5Eset_auto2(H5E_DEFAULT, before.report, before.data); }

// ------------------------------------------------------------------------------------------------------------- writing

// A block of several chunks is asked for. A compiler may leave out an allocation that nobody looks at, but not a volatile one.
bool carom_hdf5_has_memory(void) {
    void *volatile block = malloc((size_t)4 << 20);
    const bool has = block != NULL;
    free(block);
    return has;
}

// Property list of this class without times.
static hid_t timeless(hid_t class) {
    const hid_t properties = H5Pcreate(class);
    H5Pset_obj_track_times(properties, 0);
    return properties;
}

// Groups and datasets record when they were made, unless they are told not to.
hid_t carom_hdf5_create_group(hid_t parent, const char *name) {
    const hid_t properties = timeless(H5P_GROUP_CREATE);
    const hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    return group;
}

// Text of any length in UTF-8, as h5py and MATLAB read it.
hid_t carom_hdf5_text_type(void) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

// Text of a fixed length in UTF-8, its final zero included.
static hid_t fixed_text_type(size_t size) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

// Creates, writes and closes an attribute of `count` values, of a single one where that is 0.
static bool put_attribute(hid_t object, const char *name, hid_t file_type, hid_t memory_type, hsize_t count, const void *values) {
    if (!carom_hdf5_has_memory()) return false;
    const hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool written = attribute >= 0 && H5Awrite(attribute, memory_type, values) >= 0;
    H5Sclose(space);
    return H5Aclose(attribute) >= 0 && written;
}

void carom_hdf5_free_texts(char **texts, int count) {
    for (int i = 0; i < count && texts; i++) free(texts[i]);
    free(texts);
}

// Copies of the texts, made by `copy`; NULL when out of memory. Missing texts become empty.
static char **copy_texts(const char *const *texts, int count, char *(*copy)(const char *)) {
    char **copies = calloc((size_t)count + 1, sizeof *copies);
    for (int i = 0; i < count && copies; i++) {
        copies[i] = copy(texts[i] ? texts[i] : "");
        if (copies[i]) continue;
        carom_hdf5_free_texts(copies, i);
        copies = NULL;
    }
    return copies;
}

// Texts as an attribute: an array of `size`, or a single one where that is 0. All have the length of the longest: texts of variable length
// stand in a heap of the file, in which libhdf5 loses its way when the file is damaged.
static bool put_texts(hid_t object, const char *name, const char *const *texts, int count, hsize_t size) {
    char **repaired = copy_texts(texts, count, carom_utf8_repair);
    size_t longest = 1;
    for (int i = 0; i < count && repaired; i++) longest = strlen(repaired[i]) >= longest ? strlen(repaired[i]) + 1 : longest;
    // A single text that is too long for an attribute is cut, between characters.
    if (count == 1 && longest > CAROM_HDF5_ATTRIBUTE_BYTES && repaired) {
        repaired[0][CAROM_HDF5_ATTRIBUTE_BYTES - 16] = '\0';
        char *whole = carom_utf8_repair(repaired[0]);
        free(repaired[0]);
        repaired[0] = whole;
        longest = CAROM_HDF5_ATTRIBUTE_BYTES;
    }
    char *block = repaired && (count > 1 || repaired[0]) ? calloc((size_t)count + 1, longest) : NULL;
    for (int i = 0; i < count && block; i++) memcpy(block + (size_t)i * longest, repaired[i], strlen(repaired[i]));
    const hid_t type = fixed_text_type(longest);
    const bool written = block && put_attribute(object, name, type, type, size, block);
    H5Tclose(type);
    free(block);
    carom_hdf5_free_texts(repaired, count);
    return written;
}

bool carom_hdf5_put_text(hid_t object, const char *name, const char *text) { return put_texts(object, name, &text, 1, 0); }

bool carom_hdf5_put_texts(hid_t object, const char *name, const char *const *texts, int count) {
    return put_texts(object, name, texts, count, (hsize_t)count);
}

bool carom_hdf5_put_real(hid_t object, const char *name, double value) {
    return put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &value);
}

bool carom_hdf5_put_integer(hid_t object, const char *name, int64_t value) {
    return put_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 0, &value);
}

bool carom_hdf5_describe(hid_t dataset, const char *unit, const char *doc) {
    return carom_hdf5_put_text(dataset, "unit", unit) && carom_hdf5_put_text(dataset, "doc", doc);
}

// Creates and writes a dataset of fixed size, which stays open; takes over `space`. Negative when that fails.
static hid_t put_dataset(hid_t parent, const char *name, hid_t file_type, hid_t memory_type, hid_t space, const void *values) {
    const hid_t properties = timeless(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (carom_hdf5_has_memory()) dataset = H5Dcreate2(parent, name, file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (dataset >= 0 && H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        H5Dclose(dataset);
        dataset = -1;
    }
    H5Sclose(space);
    H5Pclose(properties);
    return dataset;
}

bool carom_hdf5_put_matrices(hid_t parent, size_t count, const carom_hdf5_matrix *matrices) {
    // Each with its unit and doc; the first failure ends it.
    bool written = true;
    for (const carom_hdf5_matrix *matrix = matrices; matrix < matrices + count && written; matrix++) {
        const hsize_t size[2] = {(hsize_t)matrix->rows, (hsize_t)matrix->columns};
        const hid_t space = H5Screate_simple(matrix->columns ? 2 : 1, size, NULL);
        const hid_t dataset = put_dataset(parent, matrix->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, matrix->values);
        written = dataset >= 0 && carom_hdf5_describe(dataset, matrix->unit, matrix->doc);
        if (H5Dclose(dataset) < 0) written = false;
    }
    return written;
}

bool carom_hdf5_put_counts(hid_t parent, const char *name, const char *doc, int rows, int columns, const int64_t *counts) {
    const hid_t space = H5Screate_simple(2, (const hsize_t[]){(hsize_t)rows, (hsize_t)columns}, NULL);
    const hid_t dataset = put_dataset(parent, name, H5T_STD_I64LE, H5T_NATIVE_INT64, space, counts);
    const bool written = dataset >= 0 && carom_hdf5_describe(dataset, "", doc);
    return H5Dclose(dataset) >= 0 && written;
}

bool carom_hdf5_put_text_dataset(hid_t parent, const carom_hdf5_texts *texts) {
    const int count = texts->rows * (texts->columns ? texts->columns : 1);
    char **repaired = copy_texts(texts->texts, count, carom_utf8_repair);
    size_t longest = 1;
    for (int i = 0; i < count && repaired; i++) longest = strlen(repaired[i]) >= longest ? strlen(repaired[i]) + 1 : longest;
    char *block = repaired ? calloc((size_t)count + 1, longest) : NULL;
    for (int i = 0; i < count && block; i++) memcpy(block + (size_t)i * longest, repaired[i], strlen(repaired[i]));
    carom_hdf5_free_texts(repaired, count);
    if (!block) return false;
    const hsize_t size[2] = {(hsize_t)texts->rows, (hsize_t)texts->columns};
    const hid_t type = fixed_text_type(longest), space = H5Screate_simple(texts->columns ? 2 : 1, size, NULL);
    const hid_t dataset = put_dataset(parent, texts->name, type, type, space, block);
    const bool written = dataset >= 0 && carom_hdf5_describe(dataset, texts->unit, texts->doc);
    H5Tclose(type);
    free(block);
    return H5Dclose(dataset) >= 0 && written;
}

// Closing a dataset that could not be made fails as well.
bool carom_hdf5_put_integers(hid_t parent, const char *name, int count, const int *values) {
    const hid_t space = H5Screate_simple(1, &(hsize_t){(hsize_t)count}, NULL);
    return H5Dclose(put_dataset(parent, name, H5T_STD_I32LE, H5T_NATIVE_INT, space, values)) >= 0;
}

bool carom_hdf5_put_fixed_text(hid_t parent, const char *name, const char *text) {
    char *repaired = carom_utf8_repair(text);
    if (!repaired) return false;
    const hid_t type = fixed_text_type(strlen(repaired) + 1);
    const hid_t dataset = put_dataset(parent, name, type, type, H5Screate(H5S_SCALAR), repaired);
    H5Tclose(type);
    free(repaired);
    return H5Dclose(dataset) >= 0;
}

hid_t carom_hdf5_create_dataset(hid_t parent, const char *name, const carom_hdf5_layout *layout) {
    if (!carom_hdf5_has_memory()) return -1;
    // No lines yet, and room for any number of them.
    const int rank = layout->width ? 2 : 1;
    const hsize_t size[2] = {0, layout->width}, most[2] = {H5S_UNLIMITED, layout->width}, chunk[2] = {layout->chunk, layout->width};
    const hid_t space = H5Screate_simple(rank, size, most), properties = timeless(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    // The unused end of the last chunk is filled, so that no stray memory gets into the file.
    if (H5Pset_chunk(properties, rank, chunk) >= 0 && H5Pset_fill_time(properties, H5D_FILL_TIME_ALLOC) >= 0)
        dataset = H5Dcreate2(parent, name, layout->type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(properties);
    return dataset;
}

// Reads the dataset's dimensions, one or two, and returns how many there are; a second one that is missing is 1. -1 for any other number.
static int dataset_size(hid_t dataset, hsize_t size[2]) {
    size[0] = 0;
    size[1] = 1;
    const hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > 2 || H5Sget_simple_extent_dims(space, size, NULL) < 0) rank = -1;
    H5Sclose(space);
    return rank;
}

bool carom_hdf5_append(hid_t dataset, hid_t memory_type, hsize_t lines, const void *values) {
    if (!lines) return true;
    if (!carom_hdf5_has_memory()) return false;
    hsize_t size[2];
    const int rank = dataset_size(dataset, size);
    // The dataset grows, then the new lines at its end are selected and written.
    const hsize_t start[2] = {size[0], 0}, count[2] = {lines, size[1]}, grown[2] = {size[0] + lines, size[1]};
    if (rank < 1 || H5Dset_extent(dataset, grown) < 0) return false;
    const hid_t file_space = H5Dget_space(dataset), memory_space = H5Screate_simple(rank, count, NULL);
    const bool written = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                         H5Dwrite(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, values) >= 0;
    H5Sclose(file_space);
    H5Sclose(memory_space);
    return written;
}

bool carom_hdf5_append_texts(hid_t dataset, const char *const *texts, hsize_t count) {
    char **repaired = copy_texts(texts, (int)count, carom_utf8_repair);
    const hid_t type = carom_hdf5_text_type();
    const bool written = repaired && carom_hdf5_append(dataset, type, count, repaired);
    H5Tclose(type);
    carom_hdf5_free_texts(repaired, (int)count);
    return written;
}

// ------------------------------------------------------------------------------------------------------------- reading

bool carom_hdf5_get_texts(hid_t object, const char *name, int least, int most, char ***texts, int *count) {
    *texts = NULL;
    *count = 0;
    // Only texts of fixed length, as many as expected, and no longer than an attribute may be.
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    if (points >= least && points <= most && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) && size >= 1 &&
        size <= CAROM_HDF5_ATTRIBUTE_BYTES && (size_t)points <= CAROM_HDF5_ATTRIBUTE_BYTES / size) {
        char *block = calloc((size_t)points + 1, size), **cut = calloc((size_t)points + 1, sizeof *cut);
        // The file's own type: HDF5 does not convert between ASCII and UTF-8.
        bool read = block && cut && H5Aread(attribute, type, block) >= 0;
        for (hssize_t i = 0; i < points && read; i++) read = (cut[i] = strndup(block + (size_t)i * size, size)) != NULL;
        if (read) {
            *count = (int)points;
            *texts = cut;
        } else {
            carom_hdf5_free_texts(cut, (int)points);
        }
        free(block);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    return *texts != NULL;
}

bool carom_hdf5_has_variable_text(hid_t object, const char *name) {
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    const bool variable = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
    H5Tclose(type);
    H5Aclose(attribute);
    return variable;
}

// A single number of this class, of any size.
static bool get_number(hid_t object, const char *name, H5T_class_t class, hid_t memory_type, void *value) {
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const bool read =
        H5Tget_class(type) == class && H5Sget_simple_extent_npoints(space) == 1 && H5Aread(attribute, memory_type, value) >= 0;
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    return read;
}

bool carom_hdf5_get_integer(hid_t object, const char *name, int64_t *value) {
    *value = 0;
    return get_number(object, name, H5T_INTEGER, H5T_NATIVE_INT64, value);
}

bool carom_hdf5_get_real(hid_t object, const char *name, double *value) {
    *value = 0;
    return get_number(object, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value);
}

hid_t carom_hdf5_open(hid_t parent, const char *name, H5I_type_t kind) {
    // Is there such a link, and a hard one? What it leads to must be of this kind.
    H5L_info_t link;
    if (H5Lexists(parent, name, H5P_DEFAULT) <= 0 || H5Lget_info(parent, name, &link, H5P_DEFAULT) < 0) return -1;
    if (link.type != H5L_TYPE_HARD) return -1;
    const hid_t object = H5Oopen(parent, name, H5P_DEFAULT);
    if (object >= 0 && H5Iget_type(object) == kind) return object;
    H5Oclose(object);
    return -1;
}

// Is the dataset stored as ours are: in this file, without filters, and in pieces that the file can hold?
static bool is_plain(hid_t dataset, size_t entry, hsize_t file_size) {
    const hid_t properties = H5Dget_create_plist(dataset);
    hsize_t chunk[2] = {1, 1};
    bool plain = H5Pget_nfilters(properties) == 0 && H5Pget_external_count(properties) <= 0;
    switch (H5Pget_layout(properties)) {
    case H5D_COMPACT:
    case H5D_CONTIGUOUS: break;
    case H5D_CHUNKED: plain = plain && H5Pget_chunk(properties, 2, chunk) > 0; break;
    default: plain = false;
    }
    H5Pclose(properties);
    return plain && chunk[0] >= 1 && chunk[1] >= 1 && chunk[0] <= file_size && chunk[1] <= file_size / chunk[0] / entry;
}

bool carom_hdf5_get_dataset(hid_t dataset, hid_t memory_type, hsize_t file_size, void **values, carom_hdf5_extent *extent) {
    *values = NULL;
    *extent = (carom_hdf5_extent){0};
    // HDF5 converts between integers of all sizes, and between floating-point numbers, but not from one class to the other.
    hsize_t size[2];
    const hid_t type = H5Dget_type(dataset);
    const size_t entry = H5Tget_size(type);
    const bool fits = H5Tget_class(type) == H5Tget_class(memory_type) && entry >= 1 && entry <= 8 && dataset_size(dataset, size) > 0;
    H5Tclose(type);
    // Nothing is compressed: a dataset that would be larger than its file is damage.
    const bool plausible = fits && size[1] >= 1 && size[1] <= INT_MAX && size[0] <= INT64_MAX / 8 / size[1] &&
                           size[0] * size[1] <= file_size / entry && (!size[0] || is_plain(dataset, entry, file_size));
    if (plausible) *values = malloc(size[0] * size[1] * 8 + 1);
    if (!*values) return false;
    if (size[0] && H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
        free(*values);
        *values = NULL;
        return false;
    }
    *extent = (carom_hdf5_extent){(int64_t)size[0], (int)size[1]};
    return true;
}

bool carom_hdf5_get_texts_dataset(hid_t dataset, hsize_t file_size, void **values, carom_hdf5_extent *extent) {
    char *texts = NULL;
    *extent = (carom_hdf5_extent){0, 1};
    hsize_t size[2];
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const size_t entry = H5Tget_size(type);
    // Each text takes a place in the file that says where it stands.
    const bool fits = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0 && entry >= 1 && dataset_size(dataset, size) == 1 &&
                      size[0] <= file_size / entry && (!size[0] || is_plain(dataset, entry, file_size));
    char **read = fits ? calloc(size[0] + 1, sizeof *read) : NULL;
    if (read && (!size[0] || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0)) {
        size_t longest = 0;
        for (hsize_t i = 0; i < size[0]; i++) longest = read[i] && strlen(read[i]) > longest ? strlen(read[i]) : longest;
        // Texts that are much longer than the others would need more room than the file suggests.
        const size_t width = longest + 1;
        if (width <= INT_MAX && size[0] <= MOST_TEXT_BYTES / width) texts = calloc(size[0] + 1, width);
        for (hsize_t i = 0; i < size[0] && texts; i++)
            if (read[i]) memcpy(texts + i * width, read[i], strlen(read[i]));
        if (texts) *extent = (carom_hdf5_extent){(int64_t)size[0], (int)width};
        if (size[0]) H5Dvlen_reclaim(type, space, H5P_DEFAULT, read);
    }
    free(read);
    H5Sclose(space);
    H5Tclose(type);
    *values = texts;
    return texts != NULL;
}

bool carom_hdf5_get_characters(hid_t dataset, hsize_t file_size, void **values, carom_hdf5_extent *extent) {
    *values = NULL;
    *extent = (carom_hdf5_extent){0};
    hsize_t size[2];
    const hid_t type = H5Dget_type(dataset);
    const size_t entry = H5Tget_size(type);
    // The file's own type, as for attributes, and no longer than one of them.
    const bool fits = H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) && entry >= 1 && entry <= CAROM_HDF5_ATTRIBUTE_BYTES &&
                      dataset_size(dataset, size) > 0;
    const bool plausible = fits && size[1] >= 1 && size[1] <= INT_MAX && size[0] <= file_size / entry / size[1] &&
                           (!size[0] || is_plain(dataset, entry, file_size));
    if (plausible) *values = malloc(size[0] * size[1] * entry + 1);
    const bool read = *values && (!size[0] || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) >= 0);
    H5Tclose(type);
    if (read) {
        *extent = (carom_hdf5_extent){(int64_t)(size[0] * size[1]), (int)entry};
        return true;
    }
    free(*values);
    *values = NULL;
    return false;
}
