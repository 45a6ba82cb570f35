// SPDX-License-Identifier: Apache-2.0
// Column tables against a plain model.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char *const bit_names[] = {"low", "high", NULL};

enum { POINT, IMPULSE, SPAN, TALLY, PAIRS, DONE, BITS, LABEL, WORD, CURVE, TABLE_COLUMNS, FIRST_COLUMNS = 4 };

static const carom_column all_columns[TABLE_COLUMNS] = {
    [POINT] = {"point", CAROM_COLUMN_REAL, CAROM_WIDTH_VELOCITY, "m/s", "a velocity", NULL},
    [IMPULSE] = {"impulse", CAROM_COLUMN_REAL, CAROM_WIDTH_CONTACT_SPACE, "N s", "an impulse", NULL},
    [SPAN] = {"span", CAROM_COLUMN_REAL, 1, "", "a number", NULL},
    [TALLY] = {"tally", CAROM_COLUMN_INTEGER, 1, "", "a count", NULL},
    [PAIRS] = {"pairs", CAROM_COLUMN_INTEGER, CAROM_WIDTH_CONTACTS, "", "a count for each contact", NULL},
    [DONE] = {"done", CAROM_COLUMN_BOOLEAN, 1, "", "yes or no", NULL},
    [BITS] = {"bits", CAROM_COLUMN_FLAGS, 1, "", "two bits", bit_names},
    [LABEL] = {"label", CAROM_COLUMN_TEXT, 1, "", "a text", NULL},
    [WORD] = {"word", CAROM_COLUMN_CONTACTS, 1, "", "contacts in order", NULL},
    [CURVE] = {"curve", CAROM_COLUMN_SERIES, 2, "m/s", "points of a curve", NULL},
};

static const carom_sizes table_sizes = {.nv = 3, .contacts = 2, .tangents = 4};

static carom_table *make_table(void) {
    carom_error error;
    carom_table *table = NULL;
    assert_ok(carom_table_create(all_columns, FIRST_COLUMNS, all_columns + FIRST_COLUMNS, TABLE_COLUMNS - FIRST_COLUMNS, &table_sizes,
                                 &table, &error),
              error);
    return table;
}

static void test_column_widths(void **state) {
    (void)state;
    const int widths[TABLE_COLUMNS] = {3, 6, 1, 1, 2, 1, 1, 1, 1, 2};
    for (int i = 0; i < TABLE_COLUMNS; i++) assert_int_equal(carom_column_width(&all_columns[i], &table_sizes), widths[i]);
    const carom_column tangents = {"t", CAROM_COLUMN_REAL, CAROM_WIDTH_TANGENTS, "", "", NULL};
    assert_int_equal(carom_column_width(&tangents, &table_sizes), 4);
}

static void test_an_empty_table_knows_its_columns(void **state) {
    (void)state;
    carom_table *table = make_table();
    assert_int_equal(carom_table_rows(table), 0);
    assert_int_equal(carom_table_columns(table), TABLE_COLUMNS);
    assert_memory_equal(carom_table_sizes(table), &table_sizes, sizeof table_sizes);
    for (int i = 0; i < TABLE_COLUMNS; i++) {
        assert_ptr_equal(carom_table_column(table, i), &all_columns[i]);
        assert_int_equal(carom_table_find(table, all_columns[i].name), i);
    }
    assert_int_equal(carom_table_find(table, "pair"), -1);
    assert_int_equal(carom_table_find(table, ""), -1);
    carom_table_free(table);
    carom_table_free(NULL);
}

static void test_a_table_without_columns_counts_rows(void **state) {
    (void)state;
    carom_error error;
    carom_table *table = NULL;
    assert_ok(carom_table_create(NULL, 0, NULL, 0, &table_sizes, &table, &error), error);
    assert_int_equal(carom_table_columns(table), 0);
    assert_ok(carom_table_add_row(table, &error), error);
    assert_int_equal(carom_table_rows(table), 1);
    carom_table_free(table);
}

static void test_a_new_row_holds_nothing(void **state) {
    (void)state;
    carom_error error;
    carom_table *table = make_table();
    for (int64_t row = 0; row < 3; row++) {
        assert_ok(carom_table_add_row(table, &error), error);
        int count = 7;
        for (int i = 0; i < 3; i++) assert_true(isnan(carom_table_real_column(table, POINT)[3 * row + i]));
        assert_true(isnan(carom_table_real_column(table, SPAN)[row]));
        assert_int_equal(carom_table_integer_column(table, TALLY)[row], 0);
        for (int i = 0; i < 2; i++) assert_int_equal(carom_table_integer_column(table, PAIRS)[2 * row + i], 0);
        assert_int_equal(carom_table_integer_column(table, DONE)[row], 0);
        assert_int_equal(carom_table_integer_column(table, BITS)[row], 0);
        assert_string_equal(carom_table_text(table, LABEL, row), "");
        assert_null(carom_table_list(table, WORD, row, &count));
        assert_int_equal(count, -1);
        carom_table_series(table, CURVE, row, &count);
        assert_int_equal(count, 0);
    }
    carom_table_free(table);
}

static void assert_list(const carom_table *table, int64_t row, const int *expected, int expected_count) {
    int count = 7;
    const int *list = carom_table_list(table, WORD, row, &count);
    assert_int_equal(count, expected_count);
    if (expected_count < 0)
        assert_null(list);
    else
        assert_non_null(list);
    for (int i = 0; i < expected_count; i++) assert_int_equal(list[i], expected[i]);
}

static void add_list(carom_table *table, const int *contacts, int count) {
    carom_error error;
    assert_ok(carom_table_add_row(table, &error), error);
    if (count >= 0) assert_ok(carom_table_set_list(table, WORD, contacts, count, &error), error);
}

// "No contact acted" and "this law has no order" are different answers, also before and after real lists and when joined.
static void test_an_empty_list_is_not_an_absent_one(void **state) {
    (void)state;
    const int contacts[] = {4, 0, 4};
    const int counts[] = {0, -1, 3, -1, 0, 1, 0, -1};
    enum { LISTS = sizeof counts / sizeof *counts };
    carom_table *table = make_table(), *joined = make_table();
    for (int i = 0; i < LISTS; i++) add_list(table, contacts, counts[i]);
    for (int i = 0; i < LISTS; i++) assert_list(table, i, contacts, counts[i]);
    carom_error error;
    for (int copy = 0; copy < 2; copy++) assert_ok(carom_table_append(joined, table, &error), error);
    for (int i = 0; i < 2 * LISTS; i++) assert_list(joined, i, contacts, counts[i % LISTS]);
    carom_table_free(table);
    carom_table_free(joined);
}

static void test_a_cell_may_be_set_again(void **state) {
    (void)state;
    carom_error error;
    carom_table *table = make_table();
    const int contacts[] = {3, 2, 1};
    const double values[] = {1, 2, 3, 4};
    for (int64_t row = 0; row < 4; row++) {
        assert_ok(carom_table_add_row(table, &error), error);
        assert_ok(carom_table_set_text(table, LABEL, "a text that is replaced", &error), error);
        assert_ok(carom_table_set_text(table, LABEL, row % 2 ? "odd" : "", &error), error);
        assert_ok(carom_table_set_list(table, WORD, contacts, 3, &error), error);
        assert_ok(carom_table_set_list(table, WORD, contacts, (int)row, &error), error);
        assert_ok(carom_table_set_series(table, CURVE, values, 2, &error), error);
        assert_ok(carom_table_set_series(table, CURVE, values, 4, &error), error);
    }
    for (int64_t row = 0; row < 4; row++) {
        int count;
        assert_string_equal(carom_table_text(table, LABEL, row), row % 2 ? "odd" : "");
        assert_list(table, row, contacts, (int)row);
        assert_memory_equal(carom_table_series(table, CURVE, row, &count), values, sizeof values);
        assert_int_equal(count, 4);
    }
    carom_table_free(table);
}

// Series of several rows at once stand after those of the rows before them.
static void test_rows_get_their_series_at_once(void **state) {
    (void)state;
    carom_error error;
    carom_table *table = make_table();
    const double values[] = {1, 2, 3, 4, 5, 6};
    for (int64_t round = 0; round < 2; round++) {
        assert_ok(carom_table_add_row(table, &error), error);
        assert_ok(carom_table_set_series(table, CURVE, values, 4, &error), error);
        assert_ok(carom_table_add_rows(table, 3, &error), error);
        assert_ok(carom_table_set_series_rows(table, CURVE, 3, values, 2, &error), error);
    }
    for (int64_t row = 0; row < 8; row++) {
        int count;
        const double *curve = carom_table_series(table, CURVE, row, &count);
        assert_int_equal(count, row % 4 ? 2 : 4);
        assert_memory_equal(curve, row % 4 ? values + 2 * (row % 4 - 1) : values, (size_t)count * sizeof *values);
    }
    carom_table_free(table);
}

// One row of the plain model that a table is compared with.
typedef struct plain_row {
    double point[3], impulse[6], span;
    int64_t tally, pairs[2], done, bits;
    char label[24];
    int word_count, word[9];  // count -1: no list
    int curve_count;
    double curve[12];
} plain_row;

static plain_row draw_row(carom_stream *stream) {
    plain_row row = {.span = NAN};
    for (int i = 0; i < 3; i++) row.point[i] = carom_stream_normal(stream);
    for (int i = 0; i < 6; i++) row.impulse[i] = carom_stream_normal(stream);
    if (carom_stream_uniform(stream) < 0.5) row.span = carom_stream_uniform(stream);
    row.tally = (int64_t)carom_stream_bits(stream);
    for (int i = 0; i < 2; i++) row.pairs[i] = support_random_integer(stream, -9, 9);
    row.done = support_random_integer(stream, 0, 1);
    row.bits = support_random_integer(stream, 0, 3);
    const int length = support_random_integer(stream, 0, 23);
    for (int i = 0; i < length; i++) row.label[i] = (char)support_random_integer(stream, 'a', 'z');
    row.word_count = support_random_integer(stream, -1, 9);
    for (int i = 0; i < row.word_count; i++) row.word[i] = support_random_integer(stream, 0, 1000);
    row.curve_count = 2 * support_random_integer(stream, 0, 6);
    for (int i = 0; i < row.curve_count; i++) row.curve[i] = carom_stream_normal(stream);
    return row;
}

static void add_plain_row(carom_table *table, const plain_row *row) {
    carom_error error;
    assert_ok(carom_table_add_row(table, &error), error);
    memcpy(carom_table_reals(table, POINT), row->point, sizeof row->point);
    memcpy(carom_table_reals(table, IMPULSE), row->impulse, sizeof row->impulse);
    *carom_table_reals(table, SPAN) = row->span;
    *carom_table_integers(table, TALLY) = row->tally;
    memcpy(carom_table_integers(table, PAIRS), row->pairs, sizeof row->pairs);
    *carom_table_integers(table, DONE) = row->done;
    *carom_table_integers(table, BITS) = row->bits;
    assert_ok(carom_table_set_text(table, LABEL, row->label, &error), error);
    if (row->word_count >= 0) assert_ok(carom_table_set_list(table, WORD, row->word, row->word_count, &error), error);
    assert_ok(carom_table_set_series(table, CURVE, row->curve, row->curve_count, &error), error);
}

static void assert_plain_row(const carom_table *table, int64_t at, const plain_row *row) {
    assert_memory_equal(carom_table_real_column(table, POINT) + 3 * at, row->point, sizeof row->point);
    assert_memory_equal(carom_table_real_column(table, IMPULSE) + 6 * at, row->impulse, sizeof row->impulse);
    assert_memory_equal(carom_table_real_column(table, SPAN) + at, &row->span, sizeof row->span);
    assert_true(carom_table_integer_column(table, TALLY)[at] == row->tally);
    assert_memory_equal(carom_table_integer_column(table, PAIRS) + 2 * at, row->pairs, sizeof row->pairs);
    assert_true(carom_table_integer_column(table, DONE)[at] == row->done);
    assert_true(carom_table_integer_column(table, BITS)[at] == row->bits);
    assert_string_equal(carom_table_text(table, LABEL, at), row->label);
    assert_list(table, at, row->word, row->word_count);
    int count;
    const double *curve = carom_table_series(table, CURVE, at, &count);
    assert_int_equal(count, row->curve_count);
    for (int i = 0; i < count; i++) assert_true(curve[i] == row->curve[i]);
}

// Thousands of rows, added one by one or in blocks through a sink, as samplers do.
static void test_a_growing_table_agrees_with_a_plain_model(void **state) {
    (void)state;
    enum { MOST = 5000, BLOCK = 60 };
    plain_row *model = malloc((MOST + BLOCK) * sizeof *model);
    assert_non_null(model);
    carom_table *table = make_table(), *block = make_table();
    const carom_sink sink = carom_table_sink(table);
    carom_stream stream;
    carom_stream_start(&stream, 4, 4);
    for (int round = 0; round < 2; round++) {
        int64_t count = 0;
        while (count < MOST) {
            const int size = support_random_integer(&stream, 0, BLOCK);
            const bool direct = size % 2;
            carom_table_clear(block);
            for (int i = 0; i < size; i++) {
                model[count] = draw_row(&stream);
                add_plain_row(direct ? table : block, &model[count++]);
            }
            carom_error error;
            assert_ok(sink.receive(sink.user, block, &error), error);
            assert_int_equal(carom_table_rows(block), direct ? 0 : size);
        }
        assert_int_equal(carom_table_rows(table), count);
        for (int64_t row = 0; row < count; row++) assert_plain_row(table, row, &model[row]);
        // The second round fills a table that was cleared.
        carom_table_clear(table);
        assert_int_equal(carom_table_rows(table), 0);
    }
    free(model);
    carom_table_free(block);
    carom_table_free(table);
}

static void test_tables_with_different_columns_are_not_joined(void **state) {
    (void)state;
    carom_error error;
    carom_table *table = make_table(), *other = NULL;
    assert_ok(carom_table_create(all_columns, FIRST_COLUMNS, NULL, 0, &table_sizes, &other, &error), error);
    assert_ok(carom_table_add_row(other, &error), error);
    assert_refused(carom_table_append(table, other, &error), CAROM_INTERNAL, error, "columns");
    assert_int_equal(carom_table_rows(table), 0);
    carom_table_free(other);
    carom_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column_widths),
        cmocka_unit_test(test_an_empty_table_knows_its_columns),
        cmocka_unit_test(test_a_table_without_columns_counts_rows),
        cmocka_unit_test(test_a_new_row_holds_nothing),
        cmocka_unit_test(test_an_empty_list_is_not_an_absent_one),
        cmocka_unit_test(test_a_cell_may_be_set_again),
        cmocka_unit_test(test_rows_get_their_series_at_once),
        cmocka_unit_test(test_a_growing_table_agrees_with_a_plain_model),
        cmocka_unit_test(test_tables_with_different_columns_are_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
