// SPDX-License-Identifier: Apache-2.0
// What terminals are shown of texts that come from files.
#include <stdlib.h>
#include <string.h>

#include "carom/status.h"
#include "carom/utf8.h"
#include "support.h"

// Against the code points that Unicode calls controls (Cc) and those of its bidirectional algorithm (UAX 9, table 4), by hand.
static void test_what_is_hidden_is_not_shown(void **state) {
    (void)state;
    static const unsigned long hidden[] = {0x00,   0x07,   0x0a,   0x1b,   0x7f,   0x80,   0x9b,   0x9f,   0x61c,  0x200e, 0x200f,  0x2028,
                                           0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xe0041, 0xfeff};
    static const unsigned long shown[] = {0x20, 0x7e, 0xa0, 0xe9, 0x3b1, 0x5d0, 0x627, 0x200d, 0x2190, 0x4e2d, 0xfffd, 0x1f600};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) assert_false(carom_utf8_is_shown(hidden[i]));
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) assert_true(carom_utf8_is_shown(shown[i]));
}

static void test_texts_are_made_plain(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"left foot", "left foot"},
        {"", ""},
        {"\xc3\xa9\xce\xb1 \xf0\x9f\x98\x80", "\xc3\xa9\xce\xb1 \xf0\x9f\x98\x80"},
        {"\x1b[31mred\nline", " [31mred line"},
        {"a\xc2\x9b\x33\x31m", "a?31m"},      // C1's own start of an escape sequence
        {"abc\xe2\x80\xaegpj", "abc?gpj"},    // from here on right to left
        {"\xe9t\xe9", "?t?"},                 // Latin-1
        {"cut \xe2\x80", "cut ??"},           // the start of a character
        {"\xed\xa0\x80 \xc0\x80", "??? ??"},  // a surrogate; a zero byte in two
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = strdup(texts[i][0]);
        carom_utf8_make_plain(text);
        assert_string_equal(text, texts[i][1]);
        free(text);
    }
}

// Messages hold names, and are cut within characters.
static void test_errors_are_plain(void **state) {
    (void)state;
    carom_error error;
    carom_fail(&error, CAROM_BAD_INPUT, "%s: no", "\x1b]0;x\x07\xe2\x80\xae\xff.yaml");
    assert_string_equal(error.message, " ]0;x ??.yaml: no");
    char longest[2 * CAROM_MESSAGE_SIZE];
    for (size_t i = 0; i + 1 < sizeof longest; i++) longest[i] = "\xc3\xa9"[i % 2];
    longest[sizeof longest - 1] = '\0';
    for (int start = 0; start < 2; start++) {
        carom_fail(&error, CAROM_BAD_INPUT, "%.*s%s", start, "-", longest);
        for (const char *c = error.message; *c;) {
            unsigned long code;
            const int length = carom_utf8_decode(c, &code);
            assert_true(length > 0);
            c += length;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_hidden_is_not_shown),
        cmocka_unit_test(test_texts_are_made_plain),
        cmocka_unit_test(test_errors_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
