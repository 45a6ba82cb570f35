// SPDX-License-Identifier: Apache-2.0
// JSON: rows of outcomes, values that are no numbers, stray bytes, and documents.
#include "result_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/json.h"

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
    // UTF-8 that is invalid (stray bytes, an overlong slash, a surrogate, a cut sequence) and valid
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

// A square matrix is a list of rows in JSON, null while it is not determined; a series of single numbers is one list.
static void json_squares(void **state) {
    (void)state;
    static const carom_column columns[] = {{"turn", CAROM_COLUMN_SQUARE, 9, "", "a matrix", NULL},
                                           {"far", CAROM_COLUMN_SERIES, 1, "", "numbers", NULL}};
    const carom_sizes sizes = {0};
    carom_error error;
    carom_table *table = NULL;
    assert_ok(carom_table_create(columns, 2, NULL, 0, &sizes, &table, &error), error);
    assert_ok(carom_table_add_row(table, &error), error);
    json_t *empty = carom_json_row(table, 0, NULL);
    assert_true(json_is_null(json_object_get(empty, "turn")));
    for (int i = 0; i < 9; i++) carom_table_reals(table, 0)[i] = i;
    assert_ok(carom_table_set_series(table, 1, (double[]){1, 2}, 2, &error), error);
    json_t *row = carom_json_row(table, 0, NULL), *wanted = json_pack("{s:[[f,f,f],[f,f,f],[f,f,f]], s:[f,f]}", "turn", 0.0, 1.0, 2.0, 3.0,
                                                                      4.0, 5.0, 6.0, 7.0, 8.0, "far", 1.0, 2.0);
    assert_true(json_equal(row, wanted));
    json_decref(empty);
    json_decref(row);
    json_decref(wanted);
    carom_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_rows),
        cmocka_unit_test(json_values),
        cmocka_unit_test(json_documents),
        cmocka_unit_test(json_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
