// SPDX-License-Identifier: Apache-2.0
// Result files: what is written comes back, the same bytes every time, whole or not at all; whatever else is fed to the reader is refused.
#define _XOPEN_SOURCE 700  // symlink and friends
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carom/json.h"

// ------------------------------------------------------------------------------------------------------------- a fake law

typedef struct fake_options {
    int64_t samples;
    double step;
    int mode;
    const char *word;
} fake_options;

static const char *const modes[] = {"slow", "fast", NULL};

static const carom_option fake_option_rows[] = {
    {"samples", CAROM_OPTION_INTEGER, offsetof(fake_options, samples), 1, 1e9, "", "4", "number of samples", NULL},
    {"step", CAROM_OPTION_REAL, offsetof(fake_options, step), 0, 10, "N s", "auto", "step", NULL},
    {"mode", CAROM_OPTION_CHOICE, offsetof(fake_options, mode), 0, 0, "", "slow", "mode", modes},
    {"order", CAROM_OPTION_TEXT, offsetof(fake_options, word), 0, 0, "", "", "order", NULL},
};

static void fake_defaults(void *options) { *(fake_options *)options = (fake_options){4, NAN, 1, "A,B"}; }

static const char *const bits[] = {"hot", "cold", "wet", NULL};

enum { FAKE_TEMPERATURE = CAROM_OUTCOME_COLUMNS, FAKE_COUNTS, FAKE_OPEN, FAKE_MARKS, FAKE_NOTE, FAKE_PATH };

static const carom_column fake_columns[] = {
    {"temperature", CAROM_COLUMN_REAL, 1, "K", "a number", NULL},
    {"counts", CAROM_COLUMN_INTEGER, 2, "", "two whole numbers", NULL},
    {"open", CAROM_COLUMN_BOOLEAN, 1, "", "a truth", NULL},
    {"marks", CAROM_COLUMN_FLAGS, 1, "", "some flags", bits},
    {"note", CAROM_COLUMN_TEXT, 1, "", "a text", NULL},
    {"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s", "a series", NULL},
};

static const carom_column fake_results[] = {
    {"verdict", CAROM_COLUMN_TEXT, 1, "", "how far", NULL},     {"selection", CAROM_COLUMN_TEXT, 1, "", "which", NULL},
    {"samples", CAROM_COLUMN_INTEGER, 1, "", "finished", NULL}, {"mean", CAROM_COLUMN_REAL, 1, "", "average", NULL},
    {"extent", CAROM_COLUMN_REAL, 4, "m/s", "extent", NULL},
};

static const carom_law fake_law = {
    .name = "fake-law",
    .summary = "a law for tests",
    .options = fake_option_rows,
    .option_count = 4,
    .options_size = sizeof(fake_options),
    .defaults = fake_defaults,
    .outcome_columns = fake_columns,
    .outcome_column_count = 6,
};

static const char scene_text[] =
    "name: two contacts\n"
    "matrices: {M: [[2, 0], [0, 1]], Jn: [[1, 0], [0, 1]], Jt: [[0, 1], [1, 0]], mu: [0.5, 0.25], v: [-1, -2], names: [\"Aö\", B]}\n";

// What every test of this file stands on.
typedef struct bench {
    char *directory, *target;
    carom_registry *registry;
    carom_scene *scene;
} bench;

static carom_scene *read_scene(const bench *b, const char *text) {
    carom_error error = {0};
    carom_scene *scene;
    char *path = support_write_file(b->directory, "two.yaml", text);
    assert_ok(carom_scene_read(path, b->registry, &scene, &error), error);
    assert_int_equal(unlink(path), 0);
    free(path);
    return scene;
}

static bench start(void) {
    carom_error error = {0};
    bench b = {.directory = support_make_directory()};
    assert_ok(carom_registry_create_empty(&b.registry, &error), error);
    b.target = support_join_path(b.directory, "result.h5");
    b.scene = read_scene(&b, scene_text);
    return b;
}

static void finish(bench *b) {
    carom_scene_free(b->scene);
    carom_registry_free(b->registry);
    free(b->target);
    support_remove_directory(b->directory);
}

// ------------------------------------------------------------------------------------------------------------ what is told

// Row i is a function of i alone.
static void add_row(carom_table *table, const carom_impact *impact, int64_t i) {
    carom_error error = {0};
    const double v[2] = {(double)i, 0.5 * (double)i};
    assert_ok(carom_outcomes_add(table, impact, v, NULL, i, i % 2, &error), error);
    *carom_table_reals(table, FAKE_TEMPERATURE) = i % 3 ? 1.0 / (double)(i + 1) : NAN;
    carom_table_integers(table, FAKE_COUNTS)[0] = i;
    carom_table_integers(table, FAKE_COUNTS)[1] = -i;
    *carom_table_integers(table, FAKE_OPEN) = i % 2;
    *carom_table_integers(table, FAKE_MARKS) = i % 8;
    char note[32];
    snprintf(note, sizeof note, "note \xff %d", (int)i);
    assert_ok(carom_table_set_text(table, FAKE_NOTE, i % 4 ? note : "", &error), error);
    const int word[2] = {1, 0};
    if (i % 3) assert_ok(carom_table_set_list(table, CAROM_OUTCOME_WORD, word, (int)(i % 3), &error), error);
    double path[8];
    for (int k = 0; k < 8; k++) path[k] = (double)(100 * i + k);
    assert_ok(carom_table_set_series(table, FAKE_PATH, path, 4 * (int)(i % 3), &error), error);
}

static carom_table *fake_result(const char *verdict) {
    carom_error error = {0};
    carom_table *result;
    const carom_sizes sizes = {2, 2, 2};
    assert_ok(carom_table_create(fake_results, 5, NULL, 0, &sizes, &result, &error), error);
    assert_ok(carom_table_add_row(result, &error), error);
    assert_ok(carom_table_set_text(result, 0, verdict, &error), error);
    *carom_table_integers(result, 2) = 11;
    *carom_table_reals(result, 3) = NAN;
    for (int k = 0; k < 4; k++) carom_table_reals(result, 4)[k] = k;
    return result;
}

// Sends rows first..first+count-1 in blocks.
static carom_status send_rows(const bench *b, const carom_sink *sink, int64_t count, int64_t block, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(b->scene);
    carom_table *rows;
    assert_ok(carom_outcomes_create(impact, fake_columns, 6, &rows, error), *error);
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < count && !status; i += block) {
        carom_table_clear(rows);
        for (int64_t k = i; k < i + block && k < count; k++) add_row(rows, impact, k);
        status = sink->receive(sink->user, rows, error);
    }
    carom_table_free(rows);
    return status;
}

static carom_status write_law(const bench *b, carom_result_writer *writer, const carom_law *law, int64_t count, int64_t block,
                              const char *verdict, carom_error *error) {
    carom_sink sink;
    carom_status status = carom_result_writer_open_law(writer, law, NULL, &sink, error);
    if (!status) status = send_rows(b, &sink, count, block, error);
    carom_table *result = fake_result(verdict);
    if (!status) status = carom_result_writer_close_law(writer, result, error);
    carom_table_free(result);
    return status;
}

static carom_status write_file(const bench *b, const char *path, int64_t count, int64_t block, const char *verdict, carom_error *error) {
    carom_result_writer *writer;
    carom_status status = carom_result_writer_create(path, b->scene, &writer, error);
    if (!status) status = write_law(b, writer, &fake_law, count, block, verdict, error);
    if (!status) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    return status;
}

static int count_entries(const char *directory) {
    DIR *opened = opendir(directory);
    assert_non_null(opened);
    int count = 0;
    while (readdir(opened)) count++;
    closedir(opened);
    return count - 2;
}

// ------------------------------------------------------------------------------------------------------------- round trips

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
    // Several writes of the staged rows
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
    char *text = NULL;
    assert_true(H5Aread(attribute, type, &text) >= 0);
    assert_string_equal(text, expected);
    H5free_memory(text);
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
    // Times would have changed by now
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
    // Nothing is there before it is complete
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

// ---------------------------------------------------------------------------------------------------------------- places

static carom_status try_create(const bench *b, const char *path, carom_error *error) {
    carom_result_writer *writer;
    const carom_status status = carom_result_writer_create(path, b->scene, &writer, error);
    assert_true((writer == NULL) == (status != CAROM_OK));
    carom_result_writer_free(writer);
    return status;
}

static void bad_places_are_refused(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    char *missing = support_join_path(b.directory, "missing/result.h5"), *fifo = support_join_path(b.directory, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_refused(try_create(&b, missing, &error), CAROM_IO_FAILED, error, "missing/result.h5");
    assert_refused(try_create(&b, b.directory, &error), CAROM_BAD_INPUT, error, "a directory");
    assert_refused(try_create(&b, "/dev/null", &error), CAROM_BAD_INPUT, error, "not a regular file");
    assert_refused(try_create(&b, fifo, &error), CAROM_BAD_INPUT, error, "not a regular file");
    assert_refused(try_create(&b, "", &error), CAROM_BAD_INPUT, error, "empty");
    assert_int_equal(count_entries(b.directory), 1);
    if (geteuid() != 0) {
        assert_int_equal(chmod(b.directory, 0500), 0);
        assert_refused(try_create(&b, b.target, &error), CAROM_IO_FAILED, error, "result.h5");
    }
    free(missing);
    free(fifo);
    finish(&b);
}

static void uncommitted_files_vanish(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    assert_ok(try_create(&b, b.target, &error), error);
    assert_int_equal(count_entries(b.directory), 0);
    // Also in the middle of a law
    carom_result_writer *writer;
    carom_sink sink;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    assert_ok(carom_result_writer_open_law(writer, &fake_law, NULL, &sink, &error), error);
    assert_ok(send_rows(&b, &sink, 30000, 1000, &error), error);
    assert_refused(carom_result_writer_commit(writer, &error), CAROM_INTERNAL, error, "not ready");
    carom_result_writer_free(writer);
    assert_int_equal(count_entries(b.directory), 0);
    finish(&b);
}

static void links_and_modes_are_kept(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    char *link = support_join_path(b.directory, "link.h5");
    free(support_write_file(b.directory, "result.h5", "\x89HDF\r\n\x1a\n, an old one"));
    assert_int_equal(symlink("result.h5", link), 0);
    const mode_t mask = umask(027);
    assert_ok(write_file(&b, link, 2, 1, "complete", &error), error);
    umask(mask);
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(b.target, &about), 0);
    assert_true(about.st_size > 1000);
    assert_int_equal(about.st_mode & 0777, 0640);
    free(link);
    finish(&b);
}

// Anything else may be the scene itself, or another input.
static void only_hdf5_files_are_replaced(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    const char *const others[] = {"name: mine\n", "\x89", "\x89PNG\r\n\x1a\n", " \x89HDF\r\n\x1a\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        free(support_write_file(b.directory, "result.h5", others[i]));
        assert_refused(try_create(&b, b.target, &error), CAROM_BAD_INPUT, error, "result.h5: is not an HDF5 file");
        size_t size;
        char *left = support_read_file(b.target, &size);
        assert_int_equal(size, strlen(others[i]));
        assert_memory_equal(left, others[i], size);
        free(left);
        assert_int_equal(count_entries(b.directory), 1);
    }
    // An empty one, as mktemp makes it, is nobody's work
    free(support_write_file(b.directory, "result.h5", ""));
    assert_ok(write_file(&b, b.target, 2, 1, "complete", &error), error);
    assert_ok(write_file(&b, b.target, 3, 1, "complete", &error), error);

    // What came while the outcomes were computed stays too
    carom_result_writer *writer;
    assert_ok(carom_result_writer_create(b.target, b.scene, &writer, &error), error);
    free(support_write_file(b.directory, "result.h5", "mine"));
    assert_refused(carom_result_writer_commit(writer, &error), CAROM_BAD_INPUT, error, "is not an HDF5 file");
    carom_result_writer_free(writer);
    assert_int_equal(count_entries(b.directory), 1);
    finish(&b);
}

static void links_to_nothing_are_replaced(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    assert_int_equal(symlink("nothing.h5", b.target), 0);
    assert_ok(write_file(&b, b.target, 2, 1, "complete", &error), error);
    struct stat about;
    assert_int_equal(lstat(b.target, &about), 0);
    assert_true(S_ISREG(about.st_mode));
    assert_int_equal(count_entries(b.directory), 1);
    finish(&b);
}

// Writes with a limit on the size of files, in a process of its own: HDF5 crashes at exit when it could not write what it holds.
static int write_limited(const bench *b, rlim_t limit) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit limits = {limit, limit};
        setrlimit(RLIMIT_FSIZE, &limits);
        carom_error error = {0};
        const carom_status status = write_file(b, b->target, 20000, 500, "complete", &error);
        const bool explained = strstr(error.message, "could not be written (disk full?)") != NULL;
        // exit, not _exit: HDF5 cleans up
        exit(!status ? 0 : status == CAROM_IO_FAILED && explained ? 1 : 2);
    }
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome));
    return WEXITSTATUS(outcome);
}

static void full_disks_leave_nothing(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    assert_ok(write_file(&b, b.target, 20000, 500, "complete", &error), error);
    struct stat about;
    assert_int_equal(stat(b.target, &about), 0);
    assert_int_equal(unlink(b.target), 0);
    const rlim_t size = (rlim_t)about.st_size, limits[] = {0, 100, 2000, 8192, size / 2, size - 40000, size - 2048, size - 1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        assert_int_equal(write_limited(&b, limits[i]), 1);
        assert_int_equal(count_entries(b.directory), 0);
    }
    assert_int_equal(write_limited(&b, size), 0);
    assert_int_equal(count_entries(b.directory), 1);
    finish(&b);
}

// ------------------------------------------------------------------------------------------------------------ bad files

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

// HDF5's printing is as the caller left it.
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

// ------------------------------------------------------------------------------------------------------------------ JSON

static void check_json(json_t *value, const char *expected) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    json_decref(value);
}

static void json_rows(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    const carom_impact *impact = carom_scene_impact(b.scene);
    const char *const *names = carom_impact_get_data(impact)->names;
    carom_table *rows;
    assert_ok(carom_outcomes_create(impact, fake_columns, 6, &rows, &error), error);
    add_row(rows, impact, 0);
    add_row(rows, impact, 5);
    json_t *row = carom_json_row(rows, 0, names);
    check_json(json_incref(json_object_get(row, "word")), "null");
    check_json(json_incref(json_object_get(row, "normal_impulse")), "null");
    check_json(json_incref(json_object_get(row, "temperature")), "null");
    check_json(json_incref(json_object_get(row, "note")), "\"\"");
    check_json(json_incref(json_object_get(row, "path")), "[]");
    check_json(json_incref(json_object_get(row, "terminated")), "true");
    json_decref(row);
    row = carom_json_row(rows, 1, names);
    check_json(json_incref(json_object_get(row, "v_plus")), "[5.0,2.5]");
    check_json(json_incref(json_object_get(row, "word")), "[\"B\",\"A\xc3\xb6\"]");
    check_json(json_incref(json_object_get(row, "counts")), "[5,-5]");
    check_json(json_incref(json_object_get(row, "open")), "true");
    check_json(json_incref(json_object_get(row, "marks")), "[\"hot\",\"wet\"]");
    check_json(json_incref(json_object_get(row, "note")), "\"note \xef\xbf\xbd 5\"");
    check_json(json_incref(json_object_get(row, "temperature")), "0.16666666666666666");
    check_json(json_incref(json_object_get(row, "path")), "[[500.0,501.0,502.0,503.0],[504.0,505.0,506.0,507.0]]");
    // Columns come in their order
    assert_string_equal(json_object_iter_key(json_object_iter(row)), "v_plus");
    assert_int_equal(json_object_size(row), CAROM_OUTCOME_COLUMNS + 6);
    json_decref(row);
    carom_table_free(rows);
    finish(&b);
}

static void json_values(void **state) {
    (void)state;
    const double mixed[] = {1, NAN, -INFINITY, 0.1}, nothing[] = {NAN, NAN};
    check_json(carom_json_reals(mixed, 4), "[1.0,null,null,0.10000000000000001]");
    check_json(carom_json_reals(nothing, 2), "null");
    check_json(carom_json_reals(nothing, 0), "[]");
    check_json(carom_json_matrix(mixed, 2, 2), "[[1.0,null],[null,0.10000000000000001]]");
    check_json(carom_json_text(NULL), "null");
    // Stray bytes, an overlong slash, a surrogate, a sequence that is cut, and what is valid
    check_json(carom_json_text("a\xc0\xaf|\xed\xa0\x80|\xe2\x82|\xe2\x82\xac"),
               "\"a\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xe2\x82\xac\"");
}

static void json_documents(void **state) {
    (void)state;
    carom_error error = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    json_t *document = json_pack("{s:o, s:i}", "x", carom_json_real(1.0 / 3), "n", 2);
    assert_ok(carom_json_write(memory, document, &error), error);
    fclose(memory);
    assert_string_equal(text, "{\"x\": 0.33333333333333331, \"n\": 2}\n");
    free(text);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        assert_refused(carom_json_write(full, document, &error), CAROM_IO_FAILED, error, "could not be written");
        fclose(full);
    }
    assert_int_equal(carom_json_write(stdout, NULL, &error), CAROM_OUT_OF_MEMORY);
    json_decref(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back),
        cmocka_unit_test(layout_is_as_documented),
        cmocka_unit_test(contact_space_has_its_own_matrices),
        cmocka_unit_test(reruns_give_the_same_bytes),
        cmocka_unit_test(several_laws_and_interruptions),
        cmocka_unit_test(bad_places_are_refused),
        cmocka_unit_test(uncommitted_files_vanish),
        cmocka_unit_test(links_and_modes_are_kept),
        cmocka_unit_test(only_hdf5_files_are_replaced),
        cmocka_unit_test(links_to_nothing_are_replaced),
        cmocka_unit_test(full_disks_leave_nothing),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(error_reporting_is_restored),
        cmocka_unit_test(json_rows),
        cmocka_unit_test(json_values),
        cmocka_unit_test(json_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
