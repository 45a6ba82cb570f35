// SPDX-License-Identifier: Apache-2.0
// Arrays in files: NumPy's archive byte by byte, tables, and what is refused.
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/io.h"

static char folder[] = "/tmp/carom-arrays-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *place(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static unsigned char *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    bytes[*size] = 0;
    fclose(file);
    unlink(path);
    return bytes;
}

static uint32_t get(const unsigned char *at, int size) {
    uint32_t value = 0;
    for (int i = 0; i < size; i++) value |= (uint32_t)at[i] << 8 * i;
    return value;
}

// The definition, bit by bit.
static uint32_t crc_of(const unsigned char *bytes, size_t size) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static const double times[] = {0, 0.1, 1.0 / 3}, rows[] = {1, -2, 3e300, 4e-300, -0.0, 1e-5};
static const carom_named_array arrays[] = {{"t", 3, 0, times}, {"qpos", 3, 2, rows}};

// Checks the record of a file at `at`, with a shape in words and numbers; returns what follows it.
static const unsigned char *check_file(const unsigned char *at, const char *name, const char *shape, const double *values, size_t count) {
    const uint32_t size = get(at + 18, 4), length = get(at + 26, 2);
    assert_int_equal(get(at, 4), 0x04034b50);
    assert_int_equal(get(at + 8, 2), 0);  // stored
    assert_int_equal(get(at + 22, 4), size);
    assert_int_equal(get(at + 28, 2), 0);
    assert_int_equal(length, strlen(name));
    assert_memory_equal(at + 30, name, length);
    const unsigned char *data = at + 30 + length;
    assert_int_equal(get(at + 14, 4), crc_of(data, size));
    // The array: its numbers follow a text that ends a line at a multiple of 64.
    assert_memory_equal(data, "\x93NUMPY\x01\x00", 8);
    const uint32_t start = 10 + get(data + 8, 2);
    assert_int_equal(start % 64, 0);
    assert_int_equal(data[start - 1], '\n');
    assert_non_null(strstr((const char *)data + 10, shape));
    assert_int_equal(size, start + count * sizeof *values);
    assert_memory_equal(data + start, values, count * sizeof *values);
    return data + size;
}

static void archives_are_numpys(void **state) {
    (void)state;
    carom_error error;
    size_t size;
    assert_ok(carom_arrays_write(place("a.npz"), arrays, 2, &error), error);
    unsigned char *bytes = read_all(place("a.npz"), &size);
    const unsigned char *second = check_file(bytes, "t.npy", "'fortran_order': False, 'shape': (3,), }", times, 3);
    const unsigned char *directory = check_file(second, "qpos.npy", "'shape': (3, 2), }", rows, 6);
    // The directory names both files, where they are and their sums, and the end says where it is.
    const unsigned char *end = bytes + size - 22;
    assert_int_equal(get(end, 4), 0x06054b50);
    assert_int_equal(get(end + 10, 2), 2);
    assert_int_equal(get(end + 16, 4), directory - bytes);
    assert_int_equal(get(end + 12, 4), end - directory);
    const unsigned char *places[] = {bytes, second};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(get(directory, 4), 0x02014b50);
        assert_int_equal(get(directory + 42, 4), places[i] - bytes);
        // From the version that is needed to the lengths of name and extra field, as before the file.
        assert_memory_equal(directory + 6, places[i] + 4, 26);
        directory += 46 + get(directory + 28, 2);
    }
    assert_ptr_equal(directory, end);
    free(bytes);
}

static void tables_have_every_digit(void **state) {
    (void)state;
    carom_error error;
    size_t size;
    assert_ok(carom_arrays_write(place("a.csv"), arrays, 2, &error), error);
    unsigned char *bytes = read_all(place("a.csv"), &size);
    char *at = (char *)bytes;
    static const char names[] = "t,qpos.1,qpos.2\n";
    assert_memory_equal(at, names, strlen(names));
    at += strlen(names);
    for (int i = 0; i < 3; i++) {
        assert_true(strtod(at, &at) == times[i]);
        for (int k = 0; k < 2; k++) assert_true(*at == ',' && strtod(at + 1, &at) == rows[2 * i + k]);
        assert_int_equal(*at++, '\n');
    }
    assert_int_equal(*at, '\0');
    free(bytes);
}

static void other_files_are_refused(void **state) {
    (void)state;
    carom_error error;
    assert_int_equal(carom_arrays_write(place("a.h5"), arrays, 2, &error), CAROM_BAD_INPUT);
    assert_non_null(strstr(error.message, "does not end in .npz or .csv"));
    const carom_named_array uneven[] = {arrays[0], {"x", 2, 0, rows}};
    assert_int_equal(carom_arrays_write(place("a.csv"), uneven, 2, &error), CAROM_BAD_INPUT);
    // A table that somebody wrote by hand stays.
    FILE *file = fopen(place("mine.csv"), "w");
    fputs("mass,length\n1,2\n", file);
    fclose(file);
    assert_int_equal(carom_arrays_check(place("mine.csv"), &error), CAROM_BAD_INPUT);
    assert_int_equal(carom_arrays_write(place("mine.csv"), arrays, 2, &error), CAROM_BAD_INPUT);
    unlink(place("mine.csv"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_are_numpys),
        cmocka_unit_test(tables_have_every_digit),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
