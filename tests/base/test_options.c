// SPDX-License-Identifier: Apache-2.0
// Option tables: what is read, what is refused and with which words, and what is printed.
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct settings {
    int64_t count, whole;
    double step, share, bounded, offset, epsilon;
    carom_interval range;
    int mode;
    const char *title, *order;
    bool loud;
} settings;

static const char *const modes[] = {"fast", "exact", "exact-all", NULL};

enum { COUNT, WHOLE, STEP, SHARE, BOUNDED, OFFSET, EPSILON, RANGE, MODE, TITLE, ORDER, LOUD, ROWS };

static const carom_option rows[ROWS] = {
    [COUNT] = {"count", CAROM_OPTION_INTEGER, offsetof(settings, count), 1, 1e9, "", "10", "a count", NULL},
    [WHOLE] = {"whole", CAROM_OPTION_INTEGER, offsetof(settings, whole), -INFINITY, INFINITY, "", "0", "any whole number", NULL},
    [STEP] = {"step", CAROM_OPTION_REAL, offsetof(settings, step), CAROM_POSITIVE, INFINITY, "N s", "auto", "a step", NULL},
    [SHARE] = {"share", CAROM_OPTION_REAL, offsetof(settings, share), 0, 1, "", "0.5", "a share", NULL},
    [BOUNDED] = {"bounded", CAROM_OPTION_REAL, offsetof(settings, bounded), CAROM_POSITIVE, 2, "", "1", "at most two", NULL},
    [OFFSET] = {"offset", CAROM_OPTION_REAL, offsetof(settings, offset), -1, INFINITY, "m", "0", "an offset", NULL},
    [EPSILON] = {"epsilon", CAROM_OPTION_REAL, offsetof(settings, epsilon), CAROM_POSITIVE, INFINITY, "m/s", "none", "a tolerance", NULL},
    [RANGE] = {"range", CAROM_OPTION_INTERVAL, offsetof(settings, range), 0, 1, "", "scene", "a number or an interval", NULL},
    [MODE] = {"mode", CAROM_OPTION_CHOICE, offsetof(settings, mode), 0, 0, "", "fast", "a mode", modes},
    [TITLE] = {"title", CAROM_OPTION_TEXT, offsetof(settings, title), 0, 0, "", "", "a title", NULL},
    [ORDER] = {"order", CAROM_OPTION_CONTACTS, offsetof(settings, order), 0, 0, "", "", "an order", NULL},
    [LOUD] = {"loud", CAROM_OPTION_SWITCH, offsetof(settings, loud), 0, 0, "", "false", "a switch", NULL},
};

static const settings untouched = {7, 7, 7, 0.75, 1.75, 7, 7, {0.25, 0.75}, 2, "seven", "S,E,V", true};

static void assert_same_settings(const settings *actual, const settings *expected) {
    assert_true(actual->count == expected->count && actual->whole == expected->whole && actual->mode == expected->mode);
    assert_true(actual->step == expected->step && actual->share == expected->share && actual->bounded == expected->bounded);
    assert_true(actual->offset == expected->offset && actual->epsilon == expected->epsilon);
    assert_true(actual->range.least == expected->range.least && actual->range.most == expected->range.most);
    assert_int_equal(actual->loud, expected->loud);
    assert_string_equal(actual->title, expected->title);
    assert_string_equal(actual->order, expected->order);
}

static settings set_option(int row, const char *text) {
    settings made = untouched;
    carom_error error;
    assert_ok(carom_option_set(&rows[row], &made, text, &error), error);
    return made;
}

// The option refuses the text with a message that starts with its name and contains `fragment`; the settings stay as they are.
static void assert_option_refuses(int row, const char *text, const char *fragment) {
    settings made = untouched;
    carom_error error;
    assert_refused(carom_option_set(&rows[row], &made, text, &error), CAROM_BAD_INPUT, error, fragment);
    assert_memory_equal(error.message, rows[row].name, strlen(rows[row].name));
    assert_int_equal(error.message[strlen(rows[row].name)], ':');
    assert_same_settings(&made, &untouched);
    assert_int_equal(carom_option_set(&rows[row], &made, text, NULL), CAROM_BAD_INPUT);
}

// clang-format off
static const char *const not_numbers[] = {
    "", " ", " 1", "1 ", "1 2", "1\n", "1\t", "1abc", "0x10", "0x1p3", "nan", "NaN", "inf", "-inf", "infinity", "1e400", "-1e400",
    ".", "+", "-", "e5", ".e5", "1e", "1e+", "--1", "+-1", "1,5", "1.2.3", "1e1.5", "1e5e", "1_000", "1'0", "1/3", "1d5", "1f", "1L",
    "0b1", "#1", "$1", "1%", "none", "\xef\xbc\x91",
};
// clang-format on

static void test_switches_are_true_or_false(void **state) {
    (void)state;
    char text[16];
    for (int on = 0; on < 2; on++) {
        const settings made = set_option(LOUD, on ? "true" : "false");
        assert_int_equal(made.loud, on);
        carom_option_print(&rows[LOUD], &made, text, sizeof text);
        assert_string_equal(text, on ? "true" : "false");
    }
    static const char *const others[] = {"", "yes", "1", "True", "true "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_option_refuses(LOUD, others[i], "is neither true nor false");
}

static void test_numbers_are_whole_tokens(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        double value = 5;
        if (carom_parse_number(not_numbers[i], &value)) fail_msg("'%s' was read as %g", not_numbers[i], value);
        assert_option_refuses(SHARE, not_numbers[i], "is not a number");
        assert_option_refuses(COUNT, not_numbers[i], "is not a number");
    }
}

static void test_decimal_notation_is_read(void **state) {
    (void)state;
    const struct {
        const char *text;
        double value;
    } numbers[] = {
        // clang-format off
        {"0", 0}, {"-0", 0}, {"1", 1}, {"+1", 1}, {"-12.5", -12.5}, {".5", 0.5}, {"5.", 5}, {"007", 7}, {"0.1", 0.1},
        {"1e3", 1000}, {"1E+3", 1000}, {"25e-2", 0.25}, {"0e999", 0}, {"1e-400", 0}, {"1e308", 1e308},
        {"1.7976931348623157e308", 1.7976931348623157e308}, {"4.9406564584124654e-324", CAROM_POSITIVE},
        // clang-format on
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double value = NAN;
        assert_true(carom_parse_number(numbers[i].text, &value));
        assert_true(value == numbers[i].value);
    }
}

// A number is an interval of one point; ends are numbers in the row's range, in order. Who takes a number only does not offer intervals.
static void test_interval_options(void **state) {
    (void)state;
    const struct {
        const char *text, *printed;
        carom_interval value;
    } intervals[] = {
        {"0.5", "0.5", {0.5, 0.5}}, {"0:1", "0:1", {0, 1}}, {"1e-1:0.25", "0.10000000000000001:0.25", {0.1, 0.25}}, {"1:1", "1", {1, 1}}};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        const settings made = set_option(RANGE, intervals[i].text);
        assert_true(made.range.least == intervals[i].value.least && made.range.most == intervals[i].value.most);
        char text[80];
        carom_option_print(&rows[RANGE], &made, text, sizeof text);
        assert_string_equal(text, intervals[i].printed);
    }
    assert_true(isnan(set_option(RANGE, "scene").range.least));
    static const char *const no_numbers[] = {":", "0:", ":1", "0:1:1", "0::1", "a:b", "0 : 1", "", "nan:1"};
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) assert_option_refuses(RANGE, no_numbers[i], "is not a number");
    assert_option_refuses(RANGE, "0.5:0.2", "0.5:0.2 begins above its end");
    assert_option_refuses(RANGE, "0.5:2", "2 is not between 0 and 1");
    assert_true(carom_option_offers(&rows[RANGE], "0:1") && carom_option_offers(&rows[SHARE], "0.5"));
    assert_false(carom_option_offers(&rows[SHARE], "0:1"));
}

static void test_integer_options(void **state) {
    (void)state;
    assert_int_equal(set_option(COUNT, "12").count, 12);
    assert_int_equal(set_option(COUNT, "1e6").count, 1000000);
    assert_int_equal(set_option(COUNT, "2.50e2").count, 250);
    assert_int_equal(set_option(COUNT, "3.0").count, 3);
    assert_int_equal(set_option(COUNT, "1e9").count, 1000000000);
    assert_int_equal(set_option(WHOLE, "-9007199254740991").whole, -9007199254740991);
    assert_int_equal(set_option(WHOLE, "9007199254740991").whole, 9007199254740991);
    assert_int_equal(set_option(COUNT, "2^20").count, 1048576);
    assert_int_equal(set_option(COUNT, "10^3").count, 1000);
    assert_int_equal(set_option(WHOLE, "2^52").whole, (int64_t)1 << 52);
    static const char *const no_powers[] = {"2^", "^2", "2^3^2", "2^-1", "-2^3", "2.0^3", "2**3", "2 ^3", "2^3 ", "0x2^3"};
    for (size_t i = 0; i < sizeof no_powers / sizeof *no_powers; i++)
        assert_option_refuses(COUNT, no_powers[i], "such as 1000000, 1e6 or 2^20");
    assert_option_refuses(COUNT, "2^40", "2^40 is not between 1 and 1000000000");
    assert_option_refuses(WHOLE, "2^53", "whole: ");
    assert_option_refuses(WHOLE, "2^99999999999", "whole: ");
    assert_option_refuses(COUNT, "1.5", "is not a whole number");
    assert_option_refuses(COUNT, "1e-1", "not between 1 and 1000000000");
    assert_option_refuses(COUNT, "0", "not between 1 and 1000000000");
    assert_option_refuses(COUNT, "-1", "-1 is not between");
    assert_option_refuses(COUNT, "1000000001", "not between 1 and 1000000000");
    assert_option_refuses(COUNT, "auto", "is not a number");
}

// A double cannot tell these from their neighbours: they are refused rather than rounded.
static void test_whole_numbers_are_never_rounded(void **state) {
    (void)state;
    assert_option_refuses(WHOLE, "9007199254740993", "whole: ");
    assert_option_refuses(WHOLE, "-9007199254740993", "whole: ");
    assert_option_refuses(WHOLE, "1e300", "whole: ");
}

static void test_real_options(void **state) {
    (void)state;
    assert_true(set_option(SHARE, "0").share == 0);
    assert_true(set_option(SHARE, "1").share == 1);
    assert_true(set_option(SHARE, "0.1").share == 0.1);
    assert_true(set_option(OFFSET, "-1").offset == -1);
    assert_true(set_option(OFFSET, "1e300").offset == 1e300);
    assert_true(isnan(set_option(STEP, "auto").step));
    assert_option_refuses(SHARE, "1.0000001", "is not between 0 and 1");
    assert_option_refuses(SHARE, "-1e-9", "is not between 0 and 1");
    assert_option_refuses(SHARE, "auto", "'auto' is not a number");
    assert_option_refuses(OFFSET, "-1.5", "-1.5 is below the least value -1");
}

static void test_options_greater_than_zero(void **state) {
    (void)state;
    assert_true(set_option(STEP, "4.9406564584124654e-324").step == CAROM_POSITIVE);
    assert_true(set_option(BOUNDED, "2").bounded == 2);
    assert_option_refuses(STEP, "0", "0 is not greater than 0");
    assert_option_refuses(STEP, "-0.0", "is not greater than 0");
    assert_option_refuses(STEP, "-3", "is not greater than 0");
    assert_option_refuses(STEP, "1e-400", "is not greater than 0");
    // Nobody should have to read the least double.
    assert_option_refuses(BOUNDED, "0", "greater than 0");
    assert_option_refuses(BOUNDED, "3", "2");
}

static void test_choice_options(void **state) {
    (void)state;
    for (int i = 0; modes[i]; i++) assert_int_equal(set_option(MODE, modes[i]).mode, i);
    const char *const refused[] = {"", "Fast", "fas", "faster", "exact ", "0", "fast,exact"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) assert_option_refuses(MODE, refused[i], "fast, exact, exact-all");
}

static void test_text_options(void **state) {
    (void)state;
    const char *text = "a text, with 1abc";
    assert_ptr_equal(set_option(TITLE, text).title, text);
    assert_ptr_equal(set_option(ORDER, text).order, text);
    assert_option_refuses(TITLE, "", "empty");
    assert_option_refuses(ORDER, "", "empty");
}

static void test_long_texts_do_not_fill_messages(void **state) {
    (void)state;
    char text[3000];
    memset(text, '9', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_option_refuses(SHARE, text, "share: ");
    text[0] = 'x';
    assert_option_refuses(MODE, text, "fast, exact, exact-all");
}

static void test_options_are_found_by_name(void **state) {
    (void)state;
    for (int i = 0; i < ROWS; i++) assert_int_equal(carom_option_find(rows, ROWS, rows[i].name), i);
    assert_int_equal(carom_option_find(rows, ROWS, "Count"), -1);
    assert_int_equal(carom_option_find(rows, ROWS, ""), -1);
    assert_int_equal(carom_option_find(rows, 0, "count"), -1);
}

// Prints every option of `from` and reads the texts into `*to`. `texts` keeps what text options point to.
static void copy_through_text(const settings *from, settings *to, char texts[ROWS][64]) {
    for (int i = 0; i < ROWS; i++) {
        carom_error error;
        carom_option_print(&rows[i], from, texts[i], sizeof texts[i]);
        assert_ok(carom_option_set(&rows[i], to, texts[i], &error), error);
    }
}

static void test_printed_options_read_back(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 17, 0);
    for (int i = 0; i < 200; i++) {
        const settings from = {.count = support_random_integer(&stream, 1, 1000000000),
                               .whole = support_random_integer(&stream, -1000, 1000) * (int64_t)1000000007,
                               .step = exp(50 * carom_stream_normal(&stream)),
                               .share = carom_stream_uniform(&stream),
                               .bounded = 2 * carom_stream_uniform(&stream),
                               .offset = fabs(carom_stream_normal(&stream)),
                               .epsilon = CAROM_POSITIVE,
                               .mode = support_random_integer(&stream, 0, 2),
                               .title = "a title",
                               .order = "A,B"};
        settings to = untouched;
        char texts[ROWS][64];
        copy_through_text(&from, &to, texts);
        assert_same_settings(&to, &from);
    }
}

static void test_options_that_are_not_set_read_back(void **state) {
    (void)state;
    settings from = untouched, to = untouched;
    char texts[ROWS][64];
    from.step = from.epsilon = NAN;
    copy_through_text(&from, &to, texts);
    assert_string_equal(texts[STEP], "auto");
    assert_true(isnan(to.step));
    assert_true(isnan(to.epsilon));
}

static void test_printing_respects_the_size(void **state) {
    (void)state;
    char text[8] = "#######";
    settings from = untouched;
    from.title = NULL;
    carom_option_print(&rows[TITLE], &from, text, sizeof text);
    assert_string_equal(text, "");
    from.title = "longer than the text";
    carom_option_print(&rows[TITLE], &from, text, 5);
    assert_string_equal(text, "long");
}

// A locale with a decimal comma: an installed one, or one made in `directory` by the C library's own tool.
static bool set_comma_locale(const char *directory) {
    const char *const installed[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "it_IT.UTF-8", "nl_NL.UTF-8", "pt_BR.UTF-8"};
    for (size_t i = 0; i < sizeof installed / sizeof *installed; i++)
        if (setlocale(LC_ALL, installed[i])) return true;
    char command[512];
    snprintf(command, sizeof command, "localedef -c -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", directory);
    if (system(command)) return false;
    assert_int_equal(setenv("LOCPATH", directory, 1), 0);
    return setlocale(LC_ALL, "de_DE.UTF-8");
}

// The program that uses the library may have set such a locale: numbers keep their point.
static void test_a_decimal_comma_locale_changes_nothing(void **state) {
    (void)state;
    char *directory = support_make_directory();
    const bool available = set_comma_locale(directory);
    const char point = *localeconv()->decimal_point;
    double read = NAN, comma = NAN;
    const bool point_read = carom_parse_number("0.5", &read), comma_read = carom_parse_number("0,5", &comma);
    settings from = untouched;
    from.share = 0.25;
    char printed[32];
    carom_option_print(&rows[SHARE], &from, printed, sizeof printed);
    // The caller's locale is still the one it set.
    const char point_after = *localeconv()->decimal_point;
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    support_remove_directory(directory);
    if (!available) skip();
    assert_int_equal(point, ',');
    assert_int_equal(point_after, ',');
    assert_true(point_read && read == 0.5);
    assert_false(comma_read);
    assert_string_equal(printed, "0.25");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switches_are_true_or_false),
        cmocka_unit_test(test_numbers_are_whole_tokens),
        cmocka_unit_test(test_decimal_notation_is_read),
        cmocka_unit_test(test_interval_options),
        cmocka_unit_test(test_integer_options),
        cmocka_unit_test(test_whole_numbers_are_never_rounded),
        cmocka_unit_test(test_real_options),
        cmocka_unit_test(test_options_greater_than_zero),
        cmocka_unit_test(test_choice_options),
        cmocka_unit_test(test_text_options),
        cmocka_unit_test(test_long_texts_do_not_fill_messages),
        cmocka_unit_test(test_options_are_found_by_name),
        cmocka_unit_test(test_printed_options_read_back),
        cmocka_unit_test(test_options_that_are_not_set_read_back),
        cmocka_unit_test(test_printing_respects_the_size),
        cmocka_unit_test(test_a_decimal_comma_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
