// SPDX-License-Identifier: Apache-2.0
// What tests of the command read in HDF5 files.
#include <hdf5.h>

#include "command/command_support.h"

int64_t read_complete(const char *path) {
    int64_t complete = -1;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const hid_t attribute = H5Aopen(file, "complete", H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT64, &complete) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
    return complete;
}

void read_size(const char *path, const char *dataset, size_t size[2]) {
    hsize_t sizes[2] = {0};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), data = H5Dopen2(file, dataset, H5P_DEFAULT);
    assert_true(data >= 0);
    const hid_t space = H5Dget_space(data);
    assert_in_range(H5Sget_simple_extent_dims(space, sizes, NULL), 1, 2);
    H5Sclose(space);
    H5Dclose(data);
    H5Fclose(file);
    for (int i = 0; i < 2; i++) size[i] = (size_t)sizes[i];
}

size_t count_rows(const char *path, const char *dataset) {
    size_t size[2];
    read_size(path, dataset, size);
    return size[0];
}

void write_foreign(const char *path) {
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    H5Fclose(file);
}
