// SPDX-License-Identifier: Apache-2.0
// Result files: what is written comes back, in the documented layout, and the same bytes every time.
#include "result_support.h"

#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static void check_reals(const carom_result *result, int64_t count) {
    carom_error error = {0};
    double *v, *temperature;
    int64_t rows;
    int width;
    assert_ok(carom_result_read_reals(result, 0, "v_plus", &v, &rows, &width, &error), error);
    assert_int_equal(rows, count);
    assert_int_equal(width, 2);
    for (int64_t i = 0; i < count; i++) assert_true(v[2 * i] == (double)i && v[2 * i + 1] == 0.5 * (double)i);
    free(v);
    assert_ok(carom_result_read_reals(result, 0, "temperature", &temperature, &rows, &width, &error), error);
    assert_int_equal(rows, count);
    assert_int_equal(width, 1);
    for (int64_t i = 0; i < count; i++) assert_true(i % 3 ? temperature[i] == 1.0 / (double)(i + 1) : isnan(temperature[i]));
    free(temperature);
}

static void check_series(const carom_result *result, int64_t count) {
    carom_error error = {0};
    double *values;
    int64_t *offsets, rows;
    assert_ok(carom_result_read_series(result, 0, "path", &values, &offsets, &rows, &error), error);
    assert_int_equal(rows, count);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(offsets[i + 1] - offsets[i], 4 * (i % 3));
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) assert_true(values[k] == (double)(100 * i + k - offsets[i]));
    }
    free(values);
    free(offsets);
    assert_ok(carom_result_read_series(result, 0, "nothing", &values, &offsets, &rows, &error), error);
    assert_int_equal(rows, 0);
    assert_null(values);
}

static void check_round_trip(int64_t count, int64_t block) {
    bench b = start();
    carom_error error = {0};
    carom_result *result;
    assert_ok(write_file(&b, b.target, count, block, "complete", &error), error);
    assert_int_equal(count_entries(b.directory), 1);
    assert_ok(carom_result_open(b.target, &result, &error), error);
    assert_string_equal(carom_result_scene_name(result), "two contacts");
    assert_int_equal(carom_result_contacts(result), 2);
    assert_int_equal(carom_result_tangent_dim(result), 1);
    assert_string_equal(carom_result_contact_name(result, 0), "A\xc3\xb6");
    assert_string_equal(carom_result_contact_name(result, 1), "B");
    assert_int_equal(carom_result_laws(result), 1);
    assert_string_equal(carom_result_law_name(result, 0), "fake-law");
    check_reals(result, count);
    check_series(result, count);
    carom_result_close(result);
    finish(&b);
}

static void rows_come_back(void **state) {
    (void)state;
    check_round_trip(0, 1);
    check_round_trip(1, 1);
    check_round_trip(11, 3);
    check_round_trip(11, 11);
    // So many rows that they are written in several pieces
    check_round_trip(support_count(2000, 60000, 400000), 512);
}

static hid_t open_dataset(hid_t file, const char *name) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(dataset >= 0);
    return dataset;
}

static void read_integers(hid_t file, const char *name, int64_t *values, int expected) {
    const hid_t dataset = open_dataset(file, name), space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), expected);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void check_text_attribute(hid_t object, const char *name, const char *expected) {
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    const hid_t type = H5Aget_type(attribute);
    // Of fixed length, its final zero included.
    assert_int_equal(H5Tis_variable_str(type), 0);
    char *text = calloc(H5Tget_size(type) + 1, 1);
    assert_true(text && H5Aread(attribute, type, text) >= 0);
    assert_string_equal(text, expected);
    free(text);
    H5Tclose(type);
    H5Aclose(attribute);
}

static int64_t integer_attribute(hid_t object, const char *name) {
    int64_t value = -1;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    assert_true(H5Aread(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
    return value;
}

// The layout that docs/results.md promises, read with HDF5 alone.
static void layout_is_as_documented(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    assert_ok(write_file(&b, b.target, 5, 2, "complete", &error), error);
    const hid_t file = H5Fopen(b.target, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    check_text_attribute(file, "carom_version", CAROM_VERSION);
    check_text_attribute(file, "scene_name", "two contacts");
    check_text_attribute(file, "scene_file", "two.yaml");
    check_text_attribute(file, "scene_hash", carom_scene_hash(b.scene));
    assert_int_equal(integer_attribute(file, "complete"), 1);

    double mass[4];
    const hid_t dataset = open_dataset(file, "impact/M");
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, mass) >= 0);
    check_text_attribute(dataset, "unit", "");
    H5Dclose(dataset);
    assert_all_close(mass, ((double[]){2, 0, 0, 1}), 4, 0);

    int64_t values[16];
    read_integers(file, "fake-law/counts", values, 10);
    assert_int_equal(values[8], 4);
    assert_int_equal(values[9], -4);
    read_integers(file, "fake-law/open", values, 5);
    assert_int_equal(values[3], 1);
    read_integers(file, "fake-law/marks", values, 5);
    assert_int_equal(values[4], 4);
    // Lists of 0, 1, 2, 0, 1 contacts; an absent one is the entry -1
    read_integers(file, "fake-law/word_offsets", values, 6);
    const int64_t offsets[] = {0, 1, 2, 4, 5, 6}, word[] = {-1, 1, 1, 0, -1, 1};
    assert_memory_equal(values, offsets, sizeof offsets);
    read_integers(file, "fake-law/word", values, 6);
    assert_memory_equal(values, word, sizeof word);

    const hid_t group = H5Gopen2(file, "fake-law", H5P_DEFAULT), options = H5Gopen2(group, "options", H5P_DEFAULT);
    check_text_attribute(group, "verdict", "complete");
    assert_int_equal(integer_attribute(group, "samples"), 11);
    check_text_attribute(options, "samples", "4");
    check_text_attribute(options, "step", "auto");
    check_text_attribute(options, "mode", "fast");
    check_text_attribute(options, "order", "A,B");
    H5Gclose(options);
    H5Gclose(group);

    double extent[4];
    const hid_t wide = open_dataset(file, "fake-law/result/extent");
    assert_true(H5Dread(wide, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, extent) >= 0);
    check_text_attribute(wide, "unit", "m/s");
    H5Dclose(wide);
    assert_all_close(extent, ((double[]){0, 1, 2, 3}), 4, 0);
    H5Fclose(file);
    finish(&b);
}

static void contact_space_has_its_own_matrices(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_scene_free(b.scene);
    b.scene = read_scene(&b, "delassus: {W: [[2, 0.5], [0.5, 1]], u: [-1, 0.25], mu: [0.5]}\n");
    carom_result_writer *writer;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    assert_ok(carom_result_writer_commit(writer, &error), error);
    carom_result_writer_free(writer);
    const hid_t file = H5Fopen(b.target, H5F_ACC_RDONLY, H5P_DEFAULT);
    double W[4], u[2];
    hid_t dataset = open_dataset(file, "impact/W");
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, W) >= 0);
    H5Dclose(dataset);
    dataset = open_dataset(file, "impact/u");
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, u) >= 0);
    H5Dclose(dataset);
    assert_all_close(W, ((double[]){2, 0.5, 0.5, 1}), 4, 0);
    assert_all_close(u, ((double[]){-1, 0.25}), 2, 0);
    assert_int_equal(H5Lexists(file, "impact/M", H5P_DEFAULT), 0);
    H5Fclose(file);
    finish(&b);
}

static void reruns_give_the_same_bytes(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    char *other = support_join_path(b.directory, "other.h5");
    assert_ok(write_file(&b, b.target, 3000, 7, "complete", &error), error);
    // A time stamp in the file would differ now
    sleep(1);
    assert_ok(write_file(&b, other, 3000, 1000, "complete", &error), error);
    size_t size, other_size;
    char *bytes = support_read_file(b.target, &size), *other_bytes = support_read_file(other, &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(bytes, other_bytes, size);
    free(bytes);
    free(other_bytes);
    free(other);
    finish(&b);
}

static void several_laws_and_interruptions(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_law second = fake_law;
    second.name = "another-law";
    carom_result_writer *writer;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    assert_ok(write_law(&b, writer, &fake_law, 3, 3, "complete", &error), error);
    assert_refused(write_law(&b, writer, &fake_law, 3, 3, "complete", &error), CAROM_BAD_INPUT, error, "already has a group fake-law");
    assert_ok(write_law(&b, writer, &second, 4, 1, "interrupted", &error), error);
    // The file is not there before it is complete
    assert_int_equal(access(b.target, F_OK), -1);
    assert_ok(carom_result_writer_commit(writer, &error), error);
    carom_result_writer_free(writer);

    carom_result *result;
    assert_ok(carom_result_open(b.target, &result, &error), error);
    assert_int_equal(carom_result_laws(result), 2);
    assert_string_equal(carom_result_law_name(result, 0), "another-law");
    carom_result_close(result);
    const hid_t file = H5Fopen(b.target, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_int_equal(integer_attribute(file, "complete"), 0);
    H5Fclose(file);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back),
        cmocka_unit_test(layout_is_as_documented),
        cmocka_unit_test(contact_space_has_its_own_matrices),
        cmocka_unit_test(reruns_give_the_same_bytes),
        cmocka_unit_test(several_laws_and_interruptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
