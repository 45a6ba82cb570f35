// SPDX-License-Identifier: Apache-2.0
// Numbers as text: decimal numbers and fractions are rounded correctly.
#include "support.h"

#include <math.h>
#include <stdio.h>

#include "io/number.h"

static void fractions_are_rounded_correctly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1/3", 1.0 / 3.0},
        {"-5/12", -5.0 / 12.0},
        {"+7/1", 7},
        {"0/5", 0},
        {"00010/0004", 2.5},
        {"9007199254740993/1", 9007199254740992.0},  // halfway, to even
        {"9007199254740995/1", 9007199254740996.0},
        {"18014398509481987/2", 9007199254740994.0},                                 // 2^53 + 1.5
        {"90071992547409930000000000000001/10000000000000000", 9007199254740994.0},  // just above halfway
        {"90071992547409929999999999999999/10000000000000000", 9007199254740992.0},  // just below
        {"1/1000000000000000000000000000000", 1e-30},
        {"123456789012345678901234567890/1", 123456789012345678901234567890.0},
        {"0.1", 0.1},
        {"1e3", 1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        assert_true(carom_number_read(cases[i].text, &value));
        if (value != cases[i].value) fail_msg("%s is read as %.17g, not %.17g", cases[i].text, value, cases[i].value);
    }
    static const char *const wrong[] = {"1/0", "1/",   "/2",  "1/2/3", "1 /2",  "1/-2", "1.5/2", "--1/2",
                                        "a/b", "1/00", "nan", "",      "1e999", "0x10", "/"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value;
        if (carom_number_read(wrong[i], &value)) fail_msg("'%s' is read as a number", wrong[i]);
    }
}

/// The quotient of two whole doubles is rounded correctly by the machine.
static void fractions_agree_with_division(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 0);
    for (int i = 0; i < support_count(200, 20000, 200000); i++) {
        const int shift = support_random_integer(&stream, 11, 63);
        const unsigned long long p = carom_stream_bits(&stream) >> shift, q = (carom_stream_bits(&stream) >> 11) + 1;
        char text[64];
        snprintf(text, sizeof text, "%llu/%llu", p, q);
        double value = NAN;
        assert_true(carom_number_read(text, &value));
        if (value != (double)p / (double)q) fail_msg("%s is read as %.17g", text, value);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_are_rounded_correctly),
        cmocka_unit_test(fractions_agree_with_division),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
