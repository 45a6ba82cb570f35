// SPDX-License-Identifier: Apache-2.0
// What is kept of a sampled set: the corners of its hulls, its extent.
#include "support.h"

#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

// ---------------------------------------------------------------------------------------------------- streams of points

enum { AXES = 4 };  // two planar contacts in contact space: an outcome's velocities are its point

static carom_impact *make_impact(void) {
    carom_impact *impact;
    carom_error error;
    const carom_delassus_data data = {
        .contacts = 2,
        .tangent_dim = 1,
        .delassus = (const double[]){2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2},
        .velocity = (const double[]){-1, 0, -1, 0},
        .friction = (const double[]){1, 1},
    };
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    return impact;
}

typedef void (*cloud)(carom_stream *stream, int64_t index, double point[AXES]);

static void ball(carom_stream *stream, int64_t index, double point[AXES]) {
    (void)index;
    double length = 0;
    for (int k = 0; k < AXES; k++) {
        point[k] = carom_stream_normal(stream);
        length += point[k] * point[k];
    }
    const double radius = sqrt(carom_stream_uniform(stream));
    for (int k = 0; k < AXES; k++) point[k] *= radius / sqrt(length);
}

// Many points at the same places, many on one line.
static void lattice(carom_stream *stream, int64_t index, double point[AXES]) {
    (void)index;
    for (int k = 0; k < AXES; k++) point[k] = 0.1 * support_random_integer(stream, -3, 3);
}

// Two segments, as the rocking block's, with rounding across them.
static void segments(carom_stream *stream, int64_t index, double point[AXES]) {
    for (int k = 0; k < AXES; k++) point[k] = 1e-17 * carom_stream_normal(stream);
    point[index % 2 * 2] = carom_stream_uniform(stream);
}

// Each outside of all before.
static void spiral(carom_stream *stream, int64_t index, double point[AXES]) {
    (void)stream;
    const double angle = 2.4 * (double)index, radius = 1 + 1e-3 * (double)index;
    point[0] = radius * cos(angle);
    point[1] = radius * sin(angle);
    point[2] = 3 + point[0];
    point[3] = -1e-6 * radius;
}

static void one_place(carom_stream *stream, int64_t index, double point[AXES]) {
    (void)stream;
    (void)index;
    for (int k = 0; k < AXES; k++) point[k] = 0.25 * k;
}

static const cloud clouds[] = {ball, lattice, segments, spiral, one_place};
enum { CLOUDS = sizeof clouds / sizeof *clouds };

static carom_table *make_stream(const carom_impact *impact, cloud which, int64_t rows) {
    carom_table *outcomes;
    carom_error error;
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    assert_ok(carom_outcomes_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &outcomes, &error), error);
    for (int64_t i = 0; i < rows; i++) {
        double point[AXES];
        which(&stream, i, point);
        assert_ok(carom_outcomes_add(outcomes, impact, point, NULL, i, 0, &error), error);
        *carom_table_integers(outcomes, CAROM_OUTCOME_COLUMNS) = i;
    }
    return outcomes;
}

// Feeds a table in blocks of so many rows.
static carom_corners *feed(const carom_impact *impact, const carom_table *stream, int64_t block_rows) {
    carom_corners *corners;
    carom_table *block;
    carom_error error;
    assert_ok(carom_corners_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &corners, &error), error);
    assert_ok(carom_outcomes_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &block, &error), error);
    const carom_sink sink = carom_corners_sink(corners);
    const int64_t rows = carom_table_rows(stream);
    for (int64_t row = 0; row < rows; row++) {
        assert_ok(carom_table_append_rows(block, stream, row, 1, &error), error);
        if ((row + 1) % block_rows && row + 1 < rows) continue;
        assert_ok(sink.receive(sink.user, block, &error), error);
        carom_table_clear(block);
    }
    carom_table_free(block);
    return corners;
}

static const carom_table *kept_by(carom_corners *corners) {
    const carom_table *kept;
    carom_error error;
    assert_ok(carom_corners_outcomes(corners, &kept, &error), error);
    return kept;
}

// ----------------------------------------------------------------------------------------------------------- the corners of a stream

// How far the outcomes reach in a direction of a plane.
static double reach(const carom_table *outcomes, int first, int second, double angle) {
    const double *v = carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY);
    double most = -INFINITY;
    for (int64_t row = 0; row < carom_table_rows(outcomes); row++)
        most = fmax(most, cos(angle) * v[AXES * row + first] + sin(angle) * v[AXES * row + second]);
    return most;
}

static void test_what_is_kept_has_the_hulls_of_the_stream(void **state) {
    (void)state;
    enum { DIRECTIONS = 64 };
    carom_impact *impact = make_impact();
    for (int c = 0; c < CLOUDS; c++) {
        carom_table *stream = make_stream(impact, clouds[c], support_count(300, 3000, 100000));
        carom_corners *corners = feed(impact, stream, 256);
        const carom_table *kept = kept_by(corners);
        for (int first = 0; first < AXES; first++)
            for (int second = first + 1; second < AXES; second++)
                for (int k = 0; k < DIRECTIONS; k++) {
                    const double angle = 2 * 3.14159265358979323846 * k / DIRECTIONS;
                    assert_close(reach(kept, first, second, angle), reach(stream, first, second, angle), 1e-8);
                }
        carom_corners_free(corners);
        carom_table_free(stream);
    }
    carom_impact_free(impact);
}

static void test_outcomes_inside_are_forgotten(void **state) {
    (void)state;
    static const int64_t most[CLOUDS] = {600, 200, 30, 0, 1};  // of the spiral about all outermost turns stay
    carom_impact *impact = make_impact();
    for (int c = 0; c < CLOUDS; c++) {
        if (!most[c]) continue;
        carom_table *stream = make_stream(impact, clouds[c], 20000);
        carom_corners *corners = feed(impact, stream, 256);
        assert_in_range(carom_table_rows(kept_by(corners)), 1, most[c]);
        carom_corners_free(corners);
        carom_table_free(stream);
    }
    carom_impact_free(impact);
}

static void test_kept_outcomes_are_whole_rows_in_their_order(void **state) {
    (void)state;
    carom_impact *impact = make_impact();
    for (int c = 0; c < CLOUDS; c++) {
        carom_table *stream = make_stream(impact, clouds[c], 3000);
        carom_corners *corners = feed(impact, stream, 100);
        const carom_table *kept = kept_by(corners);
        const int64_t *index = carom_table_integer_column(kept, CAROM_OUTCOME_COLUMNS);
        for (int64_t i = 0; i < carom_table_rows(kept); i++) {
            if (i) assert_true(index[i] > index[i - 1]);
            assert_memory_equal(carom_table_real_column(kept, CAROM_OUTCOME_VELOCITY) + AXES * i,
                                carom_table_real_column(stream, CAROM_OUTCOME_VELOCITY) + AXES * index[i], AXES * sizeof(double));
            assert_int_equal(carom_table_integer_column(kept, CAROM_OUTCOME_STEPS)[i], index[i]);
        }
        carom_corners_free(corners);
        carom_table_free(stream);
    }
    carom_impact_free(impact);
}

static void test_blocks_do_not_matter(void **state) {
    (void)state;
    static const int64_t block_rows[] = {1, 256, 3000};
    carom_impact *impact = make_impact();
    for (int c = 0; c < CLOUDS; c++) {
        carom_table *stream = make_stream(impact, clouds[c], 3000);
        carom_corners *first = feed(impact, stream, 17);
        const carom_table *expected = kept_by(first);
        const int64_t rows = carom_table_rows(expected);
        for (size_t k = 0; k < sizeof block_rows / sizeof *block_rows; k++) {
            carom_corners *corners = feed(impact, stream, block_rows[k]);
            const carom_table *kept = kept_by(corners);
            assert_int_equal(carom_table_rows(kept), rows);
            assert_memory_equal(carom_table_integer_column(kept, CAROM_OUTCOME_COLUMNS),
                                carom_table_integer_column(expected, CAROM_OUTCOME_COLUMNS), (size_t)rows * sizeof(int64_t));
            carom_corners_free(corners);
        }
        carom_corners_free(first);
        carom_table_free(stream);
    }
    carom_impact_free(impact);
}

static void test_what_cannot_be_kept_is_refused(void **state) {
    (void)state;
    enum { CONTACTS = CAROM_CORNERS_MOST_AXES / 2 + 1 };
    static double W[4 * CONTACTS * CONTACTS], u[2 * CONTACTS], mu[CONTACTS];
    for (int i = 0; i < 2 * CONTACTS; i++) {
        W[i * (2 * CONTACTS + 1)] = 1;
        u[i] = -1;
    }
    carom_impact *large, *small = make_impact();
    carom_corners *corners;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&(carom_delassus_data){CONTACTS, 1, W, u, mu, NULL, NULL}, &large, &error), error);
    assert_refused(carom_corners_create(large, NULL, 0, &corners, &error), CAROM_UNSUPPORTED, error, "at most 64");
    assert_null(corners);
    carom_table *stream = make_stream(small, one_place, 0);
    corners = feed(small, stream, 1);
    assert_int_equal(carom_table_rows(kept_by(corners)), 0);
    for (int i = 0; i < 200; i++) assert_ok(carom_outcomes_add(stream, small, (double[]){1, 2, NAN, i}, NULL, 1, 0, &error), error);
    const carom_sink sink = carom_corners_sink(corners);
    assert_refused(sink.receive(sink.user, stream, &error), CAROM_BAD_INPUT, error, "not finite");
    carom_corners_free(corners);
    carom_corners_free(NULL);
    carom_table_free(stream);
    carom_impact_free(large);
    carom_impact_free(small);
}

// ---------------------------------------------------------------------------------------------------------- the command

enum { COMMAND_SIZE = 4096, PATH_SIZE = 1024, TEXT_SIZE = 16384 };

static int run_command(const char *words, char text[TEXT_SIZE]) {
    const char *build = getenv("CAROM_BUILD");
    char command[COMMAND_SIZE];
    snprintf(command, sizeof command, "%s/carom %s 2>&1", build && *build ? build : "build", words);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t size = fread(text, 1, TEXT_SIZE - 1, pipe);
    text[size] = '\0';
    const int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2) support_skip_missing(text);
    return WEXITSTATUS(status);
}

// Runs `sample` into a file; the document it prints.
static json_t *sample(const char *keep, int threads, const char *path) {
    char words[COMMAND_SIZE / 2], text[TEXT_SIZE];
    snprintf(words, sizeof words, "sample scenes/compass.yaml --samples 4096 --json --keep %s --threads %d -o %s", keep, threads, path);
    assert_int_equal(run_command(words, text), 0);
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    assert_non_null(document);
    return document;
}

static const char *digest_of(const json_t *document) { return json_string_value(json_object_get(document, "digest")); }

static int64_t rows_of(const char *path, const char *column, double **values, int *width) {
    carom_result *result;
    carom_error error;
    int64_t rows;
    assert_ok(carom_result_open(path, &result, &error), error);
    assert_ok(carom_result_read_reals(result, 0, column, values, &rows, width, &error), error);
    carom_result_close(result);
    return rows;
}

// The range of a column of the rows in a file, as the document's extent says it.
static void assert_extent(const char *path, const json_t *document) {
    double *values;
    int width;
    const int64_t rows = rows_of(path, "normal_velocity", &values, &width);
    const json_t *ranges = json_object_get(json_object_get(document, "extent"), "normal");
    assert_int_equal(json_array_size(ranges), width);
    for (int k = 0; k < width; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < rows; i++) {
            low = fmin(low, values[i * width + k]);
            high = fmax(high, values[i * width + k]);
        }
        assert_close(low, json_real_value(json_array_get(json_array_get(ranges, (size_t)k), 0)), 1e-9);
        assert_close(high, json_real_value(json_array_get(json_array_get(ranges, (size_t)k), 1)), 1e-9);
    }
    free(values);
}

// The extent that the file itself holds.
static void assert_extent_group(const char *path, const json_t *document) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const hid_t dataset = H5Dopen2(file, "/halm-posa/extent/normal", H5P_DEFAULT);
    double values[4];
    assert_true(dataset >= 0 && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    const json_t *ranges = json_object_get(json_object_get(document, "extent"), "normal");
    for (size_t k = 0; k < 4; k++) assert_true(values[k] == json_real_value(json_array_get(json_array_get(ranges, k / 2), k % 2)));
    H5Dclose(dataset);
    // Each of the outcomes has each contact in one mode.
    const hid_t counts = H5Dopen2(file, "/halm-posa/extent/modes", H5P_DEFAULT);
    int64_t modes[2][CAROM_CONTACT_MODES];
    assert_true(counts >= 0 && H5Dread(counts, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, modes) >= 0);
    for (int i = 0; i < 2; i++) {
        int64_t sum = 0;
        for (int k = 0; k < CAROM_CONTACT_MODES; k++) sum += modes[i][k];
        assert_int_equal(sum, json_integer_value(json_object_get(document, "terminated")));
    }
    H5Dclose(counts);
    H5Fclose(file);
}

static void test_sample_keeps_what_it_is_told_and_counts_all(void **state) {
    (void)state;
    static const char *const names[] = {"all", "hull", "extent"};
    char *directory = support_make_directory(), path[PATH_SIZE];
    json_t *documents[3];
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s.h5", directory, names[k]);
        documents[k] = sample(names[k], 1 + k % 2, path);
        assert_string_equal(digest_of(documents[k]), digest_of(documents[0]));
        assert_true(json_equal(json_object_get(documents[k], "extent"), json_object_get(documents[0], "extent")));
        if (k < 2) assert_extent(path, documents[k]);
        if (k) assert_extent_group(path, documents[k]);
        double *values = NULL;
        int width;
        if (k < 2) {
            const int64_t rows = rows_of(path, "v_plus", &values, &width),
                          all = json_integer_value(json_object_get(documents[k], "terminated"));
            assert_in_range(rows, k ? 3 : all, k ? 200 : all);
        }
        free(values);
    }
    for (int k = 0; k < 3; k++) json_decref(documents[k]);
    support_remove_directory(directory);
}

static void test_unknown_kinds_are_refused(void **state) {
    (void)state;
    char text[TEXT_SIZE];
    assert_int_equal(run_command("sample scenes/block.yaml --keep some", text), 2);
    assert_string_equal(text, "carom: --keep: 'some' is not one of all, extent, hull\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_kept_has_the_hulls_of_the_stream),
        cmocka_unit_test(test_outcomes_inside_are_forgotten),
        cmocka_unit_test(test_kept_outcomes_are_whole_rows_in_their_order),
        cmocka_unit_test(test_blocks_do_not_matter),
        cmocka_unit_test(test_what_cannot_be_kept_is_refused),
        cmocka_unit_test(test_sample_keeps_what_it_is_told_and_counts_all),
        cmocka_unit_test(test_unknown_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
