// SPDX-License-Identifier: Apache-2.0
// Whole answers of laws from result files: every cell comes back, with the options that were used.
#include "result_support.h"

#include <string.h>

// Options of those laws that have them.
static const char *const given[] = {"samples", "64", "paths", "3", "restitution", "0.5", NULL};

// Cells of both tables as the bytes that they are packed into.
static void assert_same_table(const carom_table *actual, const carom_table *expected) {
    carom_error error = {0};
    carom_bytes *bytes[2];
    const void *data[2];
    size_t size[2];
    const carom_table *const tables[2] = {actual, expected};
    for (int i = 0; i < 2; i++) {
        assert_ok(carom_bytes_create(&bytes[i], &error), error);
        assert_ok(carom_table_pack(tables[i], bytes[i], &error), error);
        data[i] = carom_bytes_data(bytes[i], &size[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(data[0], data[1], size[1]);
    for (int i = 0; i < 2; i++) carom_bytes_free(bytes[i]);
}

// Asks the law, writes the answer under `path`, and reads it by each of the two ways of opening a file.
static void check_round_trip(const carom_law *law, const carom_impact *impact, const carom_registry *registry, const char *path) {
    carom_error error = {0};
    void *options = calloc(1, law->options_size);
    law->defaults(options);
    for (const char *const *option = given; *option; option += 2)
        if (carom_option_find(law->options, law->option_count, *option) >= 0)
            assert_ok(carom_law_set(law, options, option[0], option[1], &error), error);
    carom_answer answer, read;
    const carom_law_call call = {.impact = impact, .options = options, .registry = registry};
    assert_ok(carom_law_resolve(law, &call, &answer, &error), error);
    carom_result_writer *writer;
    carom_sink sink;
    assert_ok(carom_result_writer_create_impact(path, "no scene", impact, &writer, &error), error);
    assert_ok(carom_result_writer_open_law(writer, law, options, &sink, &error), error);
    assert_ok(sink.receive(sink.user, answer.outcomes, &error), error);
    assert_ok(carom_result_writer_close_law(writer, answer.result, &error), error);
    assert_ok(carom_result_writer_commit(writer, &error), error);
    carom_result_writer_free(writer);
    for (int apart = 0; apart < 2; apart++) {
        carom_result *result;
        assert_ok(apart ? carom_result_open_apart(path, NULL, &result, &error) : carom_result_open(path, &result, &error), error);
        assert_string_equal(carom_result_scene_name(result), "no scene");
        assert_ok(carom_result_read_answer(result, 0, impact, law, &read, &error), error);
        assert_same_table(read.outcomes, answer.outcomes);
        assert_same_table(read.result, answer.result);
        for (int i = 0; i < law->option_count; i++) {
            char stored[256], used[256];
            carom_option_print(&law->options[i], options, used, sizeof used);
            assert_true(carom_result_read_option(result, 0, law->options[i].name, stored, sizeof stored));
            assert_string_equal(stored, used);
        }
        char stored[8];
        assert_false(carom_result_read_option(result, 0, "no_such_option", stored, sizeof stored));
        carom_answer_free(&read);
        carom_result_close(result);
    }
    carom_answer_free(&answer);
    free(options);
}

static void answers_of_all_laws_come_back(void **state) {
    (void)state;
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "answer.h5");
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_exact_register(registry, &error), error);
    carom_impact *impact = support_impact(&reference_block);
    // One contact of it alone, for the law that takes no more.
    carom_impact_data first = *carom_impact_get_data(impact);
    first.contacts = 1;
    carom_impact *single = support_impact(&first);
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        if (law == &carom_exact_law && !carom_exact_available()) continue;
        check_round_trip(law, law == &carom_law_stronge ? single : impact, registry, path);
    }
    carom_impact_free(single);
    carom_impact_free(impact);
    carom_registry_free(registry);
    free(path);
    support_remove_directory(directory);
}

static void every_kind_of_column_comes_back(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_result *result;
    carom_answer read;
    const int64_t count = 11;
    const carom_impact *impact = carom_scene_impact(b.scene);
    assert_ok(write_file(&b, b.target, count, 3, "complete", &error), error);
    assert_ok(carom_result_open(b.target, &result, &error), error);
    assert_ok(carom_result_read_answer(result, 0, impact, &fake_law, &read, &error), error);
    assert_true(carom_answer_complete(&read));
    assert_int_equal(carom_table_rows(read.outcomes), count);
    carom_table *expected;
    assert_ok(carom_outcomes_create(impact, fake_columns, 6, &expected, &error), error);
    for (int64_t i = 0; i < count; i++) add_row(expected, impact, i);
    for (int64_t i = 0; i < count; i++) {
        // Texts are made valid UTF-8 when they are written; everything else is as it was.
        const char *note = carom_table_text(expected, FAKE_NOTE, i), *got = carom_table_text(read.outcomes, FAKE_NOTE, i);
        assert_int_equal(!*note, !*got);
        if (*note) assert_string_equal(got + strlen("note \xef\xbf\xbd"), note + strlen("note \xff"));
        int sizes[4];
        const int *list = carom_table_list(read.outcomes, CAROM_OUTCOME_WORD, i, &sizes[0]);
        const int *wanted = carom_table_list(expected, CAROM_OUTCOME_WORD, i, &sizes[1]);
        const double *path = carom_table_series(read.outcomes, FAKE_PATH, i, &sizes[2]);
        const double *wanted_path = carom_table_series(expected, FAKE_PATH, i, &sizes[3]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_int_equal(sizes[2], sizes[3]);
        assert_int_equal(!list, !wanted);
        if (sizes[1] > 0) assert_memory_equal(list, wanted, (size_t)sizes[1] * sizeof *list);
        if (sizes[3] > 0) assert_memory_equal(path, wanted_path, (size_t)sizes[3] * sizeof *path);
    }
    for (int k = 0; k < carom_table_columns(expected); k++) {
        const carom_column_type type = carom_table_column(expected, k)->type;
        const size_t size = (size_t)count * (size_t)carom_column_width(carom_table_column(expected, k), carom_table_sizes(expected));
        if (type == CAROM_COLUMN_REAL)
            assert_memory_equal(carom_table_real_column(read.outcomes, k), carom_table_real_column(expected, k), size * sizeof(double));
        if (type == CAROM_COLUMN_INTEGER || type == CAROM_COLUMN_BOOLEAN || type == CAROM_COLUMN_FLAGS)
            assert_memory_equal(carom_table_integer_column(read.outcomes, k), carom_table_integer_column(expected, k),
                                size * sizeof(int64_t));
    }
    carom_table_free(expected);
    carom_answer_free(&read);
    carom_result_close(result);
    finish(&b);
}

static void what_a_file_lacks_is_not_determined(void **state) {
    (void)state;
    bench b = start();
    carom_error error = {0};
    carom_result *result;
    carom_answer read;
    assert_ok(write_file(&b, b.target, 2, 1, "complete", &error), error);
    assert_ok(carom_result_open(b.target, &result, &error), error);
    // A later version of the law may have more columns, and fewer.
    static const carom_column columns[] = {{"novelty", CAROM_COLUMN_REAL, 1, "", "a number that the file lacks", NULL},
                                           {"temperature", CAROM_COLUMN_REAL, 1, "K", "a number", NULL}};
    carom_law later = fake_law;
    later.outcome_columns = columns;
    later.outcome_column_count = 2;
    assert_ok(carom_result_read_answer(result, 0, carom_scene_impact(b.scene), &later, &read, &error), error);
    assert_int_equal(carom_table_rows(read.outcomes), 2);
    assert_true(isnan(carom_table_real_column(read.outcomes, CAROM_OUTCOME_COLUMNS)[1]));
    assert_true(carom_table_real_column(read.outcomes, CAROM_OUTCOME_COLUMNS + 1)[1] == 0.5);
    carom_answer_free(&read);
    // A column that has another width is not taken for what it is not.
    static const carom_column wide[] = {{"counts", CAROM_COLUMN_INTEGER, 3, "", "three whole numbers", NULL}};
    later.outcome_columns = wide;
    later.outcome_column_count = 1;
    assert_refused(carom_result_read_answer(result, 0, carom_scene_impact(b.scene), &later, &read, &error), CAROM_BAD_INPUT, error,
                   "counts");
    assert_null(read.outcomes);
    carom_result_close(result);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_all_laws_come_back),
        cmocka_unit_test(every_kind_of_column_comes_back),
        cmocka_unit_test(what_a_file_lacks_is_not_determined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
