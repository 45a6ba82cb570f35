// SPDX-License-Identifier: Apache-2.0
// Files that are no result files, truncated ones and damaged ones are refused.
#include "result_support.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

static void write_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// Opens and reads everything; any answer but a crash or a leak is right.
static carom_status read_all(const char *path, carom_error *error) {
    carom_result *result;
    const carom_status opened = carom_result_open(path, &result, error);
    if (opened) return opened;
    carom_status status = CAROM_OK;
    const char *const names[] = {"v_plus", "normal_velocity", "tangent_velocity", "temperature", "normal_impulse"};
    for (int law = 0; law < carom_result_laws(result) && !status; law++) {
        double *values;
        int64_t *offsets, rows;
        int width;
        for (int i = 0; i < 5 && !status; i++) {
            status = carom_result_read_reals(result, law, names[i], &values, &rows, &width, error);
            free(values);
        }
        if (!status) status = carom_result_read_series(result, law, "path", &values, &offsets, &rows, error);
        if (status) continue;
        free(values);
        free(offsets);
    }
    carom_result_close(result);
    return status;
}

static void truncated_files_are_refused(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    assert_ok(write_file(&b, b.target, 20, 20, "complete", &error), error);
    size_t size;
    char *bytes = support_read_file(b.target, &size);
    const size_t stride = (size_t)support_count(1009, 101, 7);
    for (size_t length = 0; length < size; length += length < 2048 ? 13 : stride) {
        write_bytes(b.target, bytes, length);
        assert_refused(read_all(b.target, &error), CAROM_BAD_INPUT, error, "not a carom result file");
    }
    write_bytes(b.target, bytes, size - 1);
    assert_refused(read_all(b.target, &error), CAROM_BAD_INPUT, error, "not a carom result file");
    write_bytes(b.target, bytes, size);
    assert_ok(read_all(b.target, &error), error);
    free(bytes);
    finish(&b);
}

static void foreign_files_are_refused(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    char *missing = support_join_path(b.directory, "missing.h5");
    carom_result *result;
    assert_refused(carom_result_open(missing, &result, &error), CAROM_IO_FAILED, error, "missing.h5");
    assert_null(result);
    assert_refused(carom_result_open(b.directory, &result, &error), CAROM_BAD_INPUT, error, "not a carom result file");
    assert_refused(carom_result_open("/dev/zero", &result, &error), CAROM_BAD_INPUT, error, "not a carom result file");
    char *text = support_write_file(b.directory, "text.h5", "\211HDF\r\n\032\n and then nothing sensible");
    assert_refused(carom_result_open(text, &result, &error), CAROM_BAD_INPUT, error, "not an HDF5 file");
    const hid_t file = H5Fcreate(b.target, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    assert_refused(carom_result_open(b.target, &result, &error), CAROM_BAD_INPUT, error, "carom_version");
    free(missing);
    free(text);
    finish(&b);
}

static void replace_dataset(hid_t file, const char *name, hid_t type, int rank, const hsize_t *size) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, size, NULL);
    const hsize_t chunk[3] = {1, 1, 1};
    H5Pset_chunk(properties, rank, chunk);
    assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(properties);
}

typedef void (*damage)(hid_t file);

static void lose_dataset(hid_t file) { H5Ldelete(file, "fake-law/v_plus", H5P_DEFAULT); }
static void make_text(hid_t file) { replace_dataset(file, "fake-law/v_plus", H5T_C_S1, 1, (const hsize_t[]){3}); }
static void make_whole(hid_t file) { replace_dataset(file, "fake-law/v_plus", H5T_STD_I64LE, 2, (const hsize_t[]){5, 2}); }
static void make_deep(hid_t file) { replace_dataset(file, "fake-law/v_plus", H5T_IEEE_F64LE, 3, (const hsize_t[]){2, 2, 2}); }
// A chunk index of an absurd dataset costs nothing in the file, its values would take all memory there is.
static void make_huge(hid_t file) { replace_dataset(file, "fake-law/v_plus", H5T_IEEE_F64LE, 2, (const hsize_t[]){1ull << 31, 1 << 30}); }
static void lose_offsets(hid_t file) { H5Ldelete(file, "fake-law/path_offsets", H5P_DEFAULT); }
static void zero_offsets(hid_t file) { replace_dataset(file, "fake-law/path_offsets", H5T_STD_I64LE, 1, (const hsize_t[]){6}); }
static void no_offsets(hid_t file) { replace_dataset(file, "fake-law/path_offsets", H5T_STD_I64LE, 1, (const hsize_t[]){0}); }
static void wide_offsets(hid_t file) { replace_dataset(file, "fake-law/path_offsets", H5T_STD_I64LE, 2, (const hsize_t[]){3, 2}); }
static void lose_contacts(hid_t file) { H5Adelete(file, "contacts"); }
static void link_out(hid_t file) {
    H5Ldelete(file, "fake-law/v_plus", H5P_DEFAULT);
    H5Lcreate_soft("/fake-law/normal_velocity", file, "fake-law/v_plus", H5P_DEFAULT, H5P_DEFAULT);
}
static void make_group(hid_t file) {
    H5Ldelete(file, "fake-law/v_plus", H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "fake-law/v_plus", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}
static void odd_dimension(hid_t file) {
    const hid_t attribute = H5Aopen(file, "tangent_dim", H5P_DEFAULT);
    const int64_t odd = 3;
    H5Awrite(attribute, H5T_NATIVE_INT64, &odd);
    H5Aclose(attribute);
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    const damage damages[] = {lose_dataset, make_text,    make_whole, make_deep,  make_huge,     lose_offsets, zero_offsets,
                              no_offsets,   wide_offsets, link_out,   make_group, lose_contacts, odd_dimension};
    bench b = start();
    carom_error error = {0};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        assert_ok(write_file(&b, b.target, 5, 5, "complete", &error), error);
        const hid_t file = H5Fopen(b.target, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(file >= 0);
        damages[i](file);
        H5Fclose(file);
        assert_refused(read_all(b.target, &error), CAROM_BAD_INPUT, error, "not a carom result file");
    }
    finish(&b);
}

// Whether HDF5 prints its errors is left as the caller set it.
static void error_reporting_is_restored(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    H5E_auto2_t before, after;
    void *data_before, *data_after;
    H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
    assert_ok(write_file(&b, b.target, 5, 5, "complete", &error), error);
    assert_ok(read_all(b.target, &error), error);
    assert_true(read_all(b.directory, &error) != CAROM_OK);
    H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
    assert_true(before == after && data_before == data_after && before != NULL);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(error_reporting_is_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
