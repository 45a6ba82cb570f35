// SPDX-License-Identifier: Apache-2.0
// FCLIB local problems, written with HDF5 alone: FCLIB's own writer ends the process when a disk is full.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/io.h"
#include "carom/temporary.h"
#include "io/hdf5_driver.h"
#include "io/hdf5_support.h"

enum { COMPRESSED_ROWS = -2 };  // FCLIB's mark of storage

#define DESCRIPTION                                                                                                                        \
    "Contacts of a rigid-body system at the instant of an impact. W: Delassus operator [1/kg], q: pre-impact contact velocity [m/s], "     \
    "r: impulses [N s]; per contact the normal, then the tangents. Written by carom " CAROM_VERSION "."

// The stored entries of W in compressed rows: those that are not zero, and the diagonal.
typedef struct sparse {
    int size, count;
    int *starts, *columns;  // [size + 1], [count]
    double *values;         // [count]
} sparse;

static bool is_stored(int row, int column, double value) { return row == column || value != 0; }

static int count_entries(int n, const double *W) {
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) count += is_stored(i, j, W[(size_t)i * (size_t)n + (size_t)j]);
    return count;
}

static void release_sparse(sparse *matrix) {
    free(matrix->starts);
    free(matrix->columns);
    free(matrix->values);
}

static carom_status compress(int n, const double *W, sparse *matrix, carom_error *error) {
    const int count = count_entries(n, W);
    *matrix = (sparse){.size = n,
                       .count = count,
                       .starts = calloc((size_t)n + 1, sizeof *matrix->starts),
                       .columns = calloc((size_t)count, sizeof *matrix->columns),
                       .values = calloc((size_t)count, sizeof *matrix->values)};
    if (!matrix->starts || !matrix->columns || !matrix->values) {
        release_sparse(matrix);
        return carom_fail_memory(error, "FCLIB problem");
    }
    for (int i = 0, k = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double value = W[(size_t)i * (size_t)n + (size_t)j];
            if (!is_stored(i, j, value)) continue;
            matrix->columns[k] = j;
            matrix->values[k++] = value;
        }
        matrix->starts[i + 1] = k;
    }
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------- datasets

// What the groups are written from.
typedef struct contents {
    const char *title;
    const carom_impact_data *data;
    const double *velocity;  // q
    sparse delassus;
} contents;

static bool write_delassus(hid_t group, const contents *from) {
    const sparse *W = &from->delassus;
    const carom_hdf5_matrix values = {"x", "1/kg", "entries of the Delassus operator", W->count, 0, W->values};
    return carom_hdf5_put_integers(group, "nzmax", 1, &W->count) && carom_hdf5_put_integers(group, "m", 1, &W->size) &&
           carom_hdf5_put_integers(group, "n", 1, &W->size) && carom_hdf5_put_integers(group, "nz", 1, &(int){COMPRESSED_ROWS}) &&
           carom_hdf5_put_integers(group, "p", W->size + 1, W->starts) && carom_hdf5_put_integers(group, "i", W->count, W->columns) &&
           carom_hdf5_put_matrix(group, &values);
}

static bool write_vectors(hid_t group, const contents *from) {
    const carom_hdf5_matrix velocity = {
        "q", "m/s", "pre-impact contact velocity; per contact the normal, then the tangents", from->delassus.size, 0, from->velocity};
    const carom_hdf5_matrix friction = {"mu", "", "Coulomb friction coefficients", from->data->contacts, 0, from->data->friction};
    return carom_hdf5_put_matrix(group, &velocity) && carom_hdf5_put_matrix(group, &friction);
}

static bool write_info(hid_t group, const contents *from) {
    return carom_hdf5_put_fixed_text(group, "title", from->title) && carom_hdf5_put_fixed_text(group, "description", DESCRIPTION) &&
           carom_hdf5_put_fixed_text(group, "math_info", "W is symmetric positive semidefinite");
}

static bool write_group(hid_t parent, const char *name, bool (*write)(hid_t, const contents *), const contents *from) {
    const hid_t group = carom_hdf5_create_group(parent, name);
    if (group < 0) return false;
    const bool written = write(group, from);
    return H5Gclose(group) >= 0 && written;
}

static bool write_local(hid_t group, const contents *from) {
    return carom_hdf5_put_integers(group, "spacedim", 1, &(int){1 + from->data->tangent_dim}) &&
           write_group(group, "W", write_delassus, from) && write_group(group, "vectors", write_vectors, from) &&
           write_group(group, "info", write_info, from);
}

// ---------------------------------------------------------------------------------------------------------------- files

// Writes and closes the temporary file. What the medium lost is known only when its descriptor is closed.
static carom_status write_file(const char *path, const char *temporary, carom_hdf5_medium *medium, const contents *from,
                               carom_error *error) {
    const carom_hdf5_reporting reporting = carom_hdf5_mute();
    const hid_t file = carom_hdf5_create_file(temporary, medium);
    bool written = file >= 0 && write_group(file, "fclib_local", write_local, from);
    if (file >= 0 && !carom_hdf5_close_file(file, medium)) written = false;
    carom_hdf5_unmute(reporting);
    if (close(medium->descriptor) && !medium->lost) medium->lost = errno;
    if (written && !medium->lost) return CAROM_OK;
    return carom_fail(error, CAROM_IO_FAILED, "%s: the file could not be written (disk full?): %s", path,
                      medium->lost ? strerror(medium->lost) : "HDF5 reports an error");
}

static carom_status write_contents(const char *path, const contents *from, carom_error *error) {
    carom_temporary temporary;
    carom_hdf5_medium medium = {0};
    carom_status status = carom_temporary_create(path, &carom_file_hdf5, &temporary, &medium.descriptor, error);
    if (status) return status;
    status = write_file(path, temporary.path, &medium, from, error);
    if (!status) status = carom_temporary_commit(&temporary, error);
    carom_temporary_discard(&temporary);
    return status;
}

carom_status carom_fclib_write(const char *path, const char *title, const carom_impact *impact, carom_error *error) {
    const int n = carom_impact_contact_size(impact);
    contents from = {.title = title, .data = carom_impact_get_data(impact)};
    double *velocity = malloc((size_t)n * sizeof *velocity);
    carom_status status = velocity ? compress(n, carom_impact_delassus(impact), &from.delassus, error) : carom_fail_memory(error, path);
    if (!status) {
        carom_impact_contact_velocity(impact, from.data->velocity, velocity);
        from.velocity = velocity;
        status = write_contents(path, &from, error);
        release_sparse(&from.delassus);
    }
    free(velocity);
    return status;
}
