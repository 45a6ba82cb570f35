// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of result files share: a law whose outcomes have every kind of column, its rows, and files of them.
#ifndef CAROM_TESTS_RESULT_SUPPORT_H
#define CAROM_TESTS_RESULT_SUPPORT_H

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"

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

static inline void fake_defaults(void *options) { *(fake_options *)options = (fake_options){4, NAN, 1, "A,B"}; }

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

/// What every test starts from.
typedef struct bench {
    char *directory, *target;
    carom_registry *registry;
    carom_scene *scene;
} bench;

static inline carom_scene *read_scene(const bench *b, const char *text) {
    carom_error error = {0};
    carom_scene *scene;
    char *path = support_write_file(b->directory, "two.yaml", text);
    assert_ok(carom_scene_read(path, b->registry, &scene, &error), error);
    assert_int_equal(unlink(path), 0);
    free(path);
    return scene;
}

static inline bench start(void) {
    carom_error error = {0};
    bench b = {.directory = support_make_directory()};
    assert_ok(carom_registry_create_empty(&b.registry, &error), error);
    b.target = support_join_path(b.directory, "result.h5");
    b.scene = read_scene(&b, scene_text);
    return b;
}

static inline void finish(bench *b) {
    carom_scene_free(b->scene);
    carom_registry_free(b->registry);
    free(b->target);
    support_remove_directory(b->directory);
}

// ------------------------------------------------------------------------------------------------------ rows and files

/// Row i is a function of i alone.
static inline void add_row(carom_table *table, const carom_impact *impact, int64_t i) {
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

static inline carom_table *fake_result(const char *verdict) {
    carom_error error = {0};
    carom_table *result;
    const carom_sizes sizes = {2, 2, 2, 2};
    assert_ok(carom_table_create(fake_results, 5, NULL, 0, &sizes, &result, &error), error);
    assert_ok(carom_table_add_row(result, &error), error);
    assert_ok(carom_table_set_text(result, 0, verdict, &error), error);
    *carom_table_integers(result, 2) = 11;
    *carom_table_reals(result, 3) = NAN;
    for (int k = 0; k < 4; k++) carom_table_reals(result, 4)[k] = k;
    return result;
}

/// Sends rows first..first+count-1 in blocks.
static inline carom_status send_rows(const bench *b, const carom_sink *sink, int64_t count, int64_t block, carom_error *error) {
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

static inline carom_status write_law(const bench *b, carom_result_writer *writer, const carom_law *law, int64_t count, int64_t block,
                                     const char *verdict, carom_error *error) {
    carom_sink sink;
    carom_status status = carom_result_writer_open_law(writer, law, NULL, &sink, error);
    if (!status) status = send_rows(b, &sink, count, block, error);
    carom_table *result = fake_result(verdict);
    if (!status) status = carom_result_writer_close_law(writer, result, error);
    carom_table_free(result);
    return status;
}

static inline carom_status write_file(const bench *b, const char *path, int64_t count, int64_t block, const char *verdict,
                                      carom_error *error) {
    carom_result_writer *writer;
    carom_status status = carom_result_writer_create(path, b->scene, &writer, error);
    if (!status) status = write_law(b, writer, &fake_law, count, block, verdict, error);
    if (!status) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    return status;
}

static inline int count_entries(const char *directory) {
    DIR *opened = opendir(directory);
    assert_non_null(opened);
    int count = 0;
    while (readdir(opened)) count++;
    closedir(opened);
    return count - 2;
}

#endif
