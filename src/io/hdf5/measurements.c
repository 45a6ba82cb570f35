// SPDX-License-Identifier: Apache-2.0
// Measured impacts in HDF5: the group `impacts`, and in it a group for each impact, `0`, `1`, ..., with the keys as datasets, and with kind
// and toss as attributes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/child.h"
#include "io/hdf5/support.h"
#include "io/measurements/measurements.h"

enum { NAME_SIZE = 16, GROUP_TEXT = 32, MOST_IMPACTS = 1 << 20 };

// The arrays of one impact, and what owns them.
enum { MASS, NORMAL, TANGENT, FRICTION, RESTITUTION, BEFORE, AFTER, COVARIANCE, ATTITUDE, INERTIA, ARRAYS };

typedef struct stored_impact {
    double *values[ARRAYS];
    carom_hdf5_extent size[ARRAYS];
    char **kind, **group;
    int kinds, groups;
    char number[GROUP_TEXT];  // of a group that is a whole number
} stored_impact;

static void release(stored_impact *one) {
    for (int i = 0; i < ARRAYS; i++) free(one->values[i]);
    carom_hdf5_free_texts(one->kind, one->kinds);
    carom_hdf5_free_texts(one->group, one->groups);
}

// A dataset of the impact, or where it has none that of the file, for which it is a default.
static carom_status read_array(hid_t group, hid_t file, hsize_t file_size, const char *name, double **values, carom_hdf5_extent *size,
                               carom_error *error) {
    hid_t dataset = carom_hdf5_open(group, name, H5I_DATASET);
    if (dataset < 0 && file >= 0) dataset = carom_hdf5_open(file, name, H5I_DATASET);
    *values = NULL;
    *size = (carom_hdf5_extent){0};
    if (dataset < 0) return CAROM_OK;
    void *read;
    bool done = carom_hdf5_get_dataset(dataset, H5T_NATIVE_DOUBLE, file_size, &read, size);
    if (!done && (done = carom_hdf5_get_dataset(dataset, H5T_NATIVE_INT64, file_size, &read, size))) {
        // Whole numbers, converted where they stand: both take 8 bytes.
        const int64_t *whole = read;
        double *real = read;
        for (int64_t i = 0; i < size->lines * size->width; i++) real[i] = (double)whole[i];
    }
    H5Oclose(dataset);
    if (!done) return carom_fail(error, CAROM_BAD_INPUT, "%s: does not hold numbers in one or two dimensions, uncompressed", name);
    *values = read;
    for (int64_t i = 0; i < size->lines * size->width; i++)
        if (!isfinite((*values)[i])) return carom_fail(error, CAROM_BAD_INPUT, "%s: the number %lld is not finite", name, (long long)i);
    return CAROM_OK;
}

// A text attribute of fixed length, or for a group a whole number.
static carom_status read_text(hid_t group, const char *name, char ***texts, int *count, char number[GROUP_TEXT], const char **text,
                              carom_error *error) {
    int64_t value;
    *text = NULL;
    if (H5Aexists(group, name) <= 0) return CAROM_OK;
    if (carom_hdf5_get_texts(group, name, 1, 1, texts, count)) {
        *text = (*texts)[0];
        return CAROM_OK;
    }
    if (number && carom_hdf5_get_integer(group, name, &value)) {
        snprintf(number, GROUP_TEXT, "%lld", (long long)value);
        *text = number;
        return CAROM_OK;
    }
    const bool variable = carom_hdf5_has_variable_text(group, name);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: must be a text of fixed length%s%s", name, number ? ", or a whole number" : "",
                      variable ? ", as numpy.bytes_ is" : "");
}

// Refuses an array of other sizes; 0 lines stand for an array that is left out.
static carom_status check_size(const char *name, const carom_hdf5_extent *size, int64_t lines, int width, bool required,
                               carom_error *error) {
    if (!size->width && !required) return CAROM_OK;
    if (!size->width) return carom_fail(error, CAROM_BAD_INPUT, "%s: is missing", name);
    if (size->lines == lines && size->width == width) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: has %lld x %d numbers, must have %lld x %d", name, (long long)size->lines, size->width,
                      (long long)lines, width);
}

static carom_status read_impact(hid_t group, hid_t file, hsize_t file_size, double mass, measured_file *into, carom_error *error) {
    static const char *const names[ARRAYS] = {"M", "Jn", "Jt", "mu", "restitution", "vm", "vp", "cov", "R", "inertia_body"};
    static const char *const long_names[ARRAYS] = {[BEFORE] = "v_minus", [AFTER] = "v_plus", [COVARIANCE] = "covariance"};
    stored_impact one = {0};
    measured_numbers numbers = {.body_mass = mass};
    carom_status status = CAROM_OK;
    for (int i = 0; i < ARRAYS && !status; i++) {
        const bool shared = i == FRICTION || i == RESTITUTION || i == INERTIA;
        status = read_array(group, shared ? file : -1, file_size, names[i], &one.values[i], &one.size[i], error);
        if (status || !long_names[i] || H5Lexists(group, long_names[i], H5P_DEFAULT) <= 0) continue;
        if (one.values[i])
            status = carom_fail(error, CAROM_BAD_INPUT, "only one of the keys '%s' and '%s' is allowed", names[i], long_names[i]);
        else
            status = read_array(group, -1, file_size, long_names[i], &one.values[i], &one.size[i], error);
    }
    // The velocities say how long everything is.
    const int64_t nv = one.size[BEFORE].lines, contacts = one.size[NORMAL].lines, tangents = one.size[TANGENT].lines;
    if (!status && (nv < 1 || nv > CAROM_MAX_VELOCITIES)) status = carom_fail(error, CAROM_BAD_INPUT, "vm: is missing, or too long");
    if (!status && (contacts < 1 || contacts > CAROM_MAX_CONTACTS))
        status = carom_fail(error, CAROM_BAD_INPUT, "Jn: is missing, empty, or too long");
    const struct {
        int64_t lines;
        int width;
        bool required;
    } wanted[ARRAYS] = {{nv, (int)nv, false}, {contacts, (int)nv, true},      {tangents, (int)nv, false},
                        {contacts, 1, false}, {contacts, 1, false},           {nv, 1, true},
                        {nv, 1, true},        {2 * nv, (int)(2 * nv), false}, {3, 3, false},
                        {3, 1, false}};
    for (int i = 0; i < ARRAYS && !status; i++)
        status = check_size(names[i], &one.size[i], wanted[i].lines, wanted[i].width, wanted[i].required, error);
    if (!status) status = read_text(group, "kind", &one.kind, &one.kinds, NULL, &numbers.kind, error);
    const bool grouped = H5Aexists(group, "group") > 0;
    if (!status && grouped && H5Aexists(group, "toss") > 0)
        status = carom_fail(error, CAROM_BAD_INPUT, "only one of the keys 'group' and 'toss' is allowed");
    if (!status) status = read_text(group, grouped ? "group" : "toss", &one.group, &one.groups, one.number, &numbers.group, error);
    if (!status) {
        double **v = one.values;
        numbers = (measured_numbers){.nv = (int)nv,
                                     .contacts = (int)contacts,
                                     .tangents = (int)tangents,
                                     .mass = v[MASS],
                                     .normal = v[NORMAL],
                                     .tangent = v[TANGENT],
                                     .friction = v[FRICTION],
                                     .restitution = v[RESTITUTION],
                                     .before = v[BEFORE],
                                     .after = v[AFTER],
                                     .covariance = v[COVARIANCE],
                                     .attitude = v[ATTITUDE],
                                     .inertia = v[INERTIA],
                                     .body_mass = mass,
                                     .kind = numbers.kind,
                                     .group = numbers.group};
        status = measured_file_add(into, &numbers, error);
    }
    release(&one);
    return status;
}

// Refuses groups behind a gap in the numbering, of which there are `count` without one.
static carom_status check_numbering(hid_t impacts, int count, carom_error *error) {
    H5G_info_t about;
    if (H5Gget_info(impacts, &about) < 0) return carom_fail(error, CAROM_BAD_INPUT, "impacts: cannot be read");
    for (hsize_t i = 0; i < about.nlinks; i++) {
        char name[NAME_SIZE] = {0};
        double number;
        if (H5Lget_name_by_idx(impacts, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) < 0) continue;
        if (carom_parse_whole(name, &number) && number >= count)
            return carom_fail(error, CAROM_BAD_INPUT, "impacts: has a group '%s', but no group '%d' (at most %d are read)", name, count,
                              MOST_IMPACTS);
    }
    return CAROM_OK;
}

static carom_status read_file(const char *path, hid_t file, hsize_t file_size, measured_file *into,
                              const carom_measurements_options *options, carom_measurements *measurements, carom_error *error) {
    const hid_t impacts = carom_hdf5_open(file, "impacts", H5I_GROUP);
    if (impacts < 0) return carom_fail(error, CAROM_BAD_INPUT, "%s: the group 'impacts' is missing", path);
    char name[NAME_SIZE];
    int count = 0;
    for (bool more = true; more && count < MOST_IMPACTS; count += more) {
        snprintf(name, sizeof name, "%d", count);
        more = H5Lexists(impacts, name, H5P_DEFAULT) > 0;
    }
    carom_error inner;
    carom_status status = CAROM_OK;
    if (!count) status = carom_fail(error, CAROM_BAD_INPUT, "%s: impacts: has no group '0'", path);
    if (!status && (status = check_numbering(impacts, count, &inner))) carom_fail(error, status, "%s: %s", path, inner.message);
    if (!status) status = measured_file_begin(into, options, count, measurements, error);
    double mass = NAN;
    if (!status && H5Aexists(file, "mass") > 0 && (!carom_hdf5_get_real(file, "mass", &mass) || !(mass > 0) || !isfinite(mass)))
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: mass: is not a number greater than 0", path);
    for (int i = 0; i < count && !status; i++) {
        snprintf(name, sizeof name, "%d", i);
        const hid_t group = carom_hdf5_open(impacts, name, H5I_GROUP);
        if (group < 0)
            status = carom_fail(error, CAROM_BAD_INPUT, "%s: impacts/%d: is not a group", path, i);
        else if ((status = read_impact(group, file, file_size, mass, into, &inner)))
            carom_fail(error, status, "%s: impacts/%d: %s", path, i, inner.message);
        if (group >= 0) H5Oclose(group);
    }
    H5Oclose(impacts);
    if (!status && (status = measured_file_end(into, &inner))) carom_fail(error, status, "%s: %s", path, inner.message);
    return status;
}

// What is read, and what it makes.
typedef struct reading {
    const char *path;
    size_t size;
    const carom_measurements_options *options;
    measured_file *file;
    carom_measurements *into;
} reading;

static carom_status read_path(const reading *asked, carom_error *error) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    // Objects that are still open are closed with the file.
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    const hid_t opened = H5Fopen(asked->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    carom_status status;
    if (opened < 0)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: it is not an HDF5 file, or not a whole one", asked->path);
    else
        status = read_file(asked->path, opened, (hsize_t)asked->size, asked->file, asked->options, asked->into, error);
    if (opened >= 0) H5Fclose(opened);
    carom_hdf5_unmute(reporting);
    return status;
}

static void rehearse(void *user) {
    carom_error error;
    read_path(user, &error);
}

carom_status carom_measurements_read_hdf5(const char *path, size_t size, measured_file *file, const carom_measurements_options *options,
                                          carom_measurements *into, carom_error *error) {
    // A child process tries the file first: libhdf5 crashes on some damaged ones.
    reading asked = {path, size, options, file, into};
    if (!carom_child_survives((int64_t)size, rehearse, &asked))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the file is damaged: libhdf5 cannot read it", path);
    return read_path(&asked, error);
}
