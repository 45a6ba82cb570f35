// SPDX-License-Identifier: Apache-2.0
// Conditions in texts.
#include "carom/condition.h"

#include <math.h>

#include "support.h"

static const char *const names[] = {"mu.A", "v0.1", "v-.1", "a and b"};
enum { COUNT = 4 };

static bool holds(const char *text, double mu, double v, double w, double both) {
    carom_condition *condition;
    carom_error error;
    assert_ok(carom_condition_create(text, names, COUNT, &condition, &error), error);
    const bool answer = carom_condition_holds(condition, (double[]){mu, v, w, both});
    carom_condition_free(condition);
    return answer;
}

static void comparisons(void **state) {
    (void)state;
    assert_true(holds("mu.A > 0.7", .8, 0, 0, 0) && !holds("mu.A > 0.7", .7, 0, 0, 0));
    assert_true(holds("mu.A>=0.7", .7, 0, 0, 0) && holds(" 0.7 <= mu.A ", .7, 0, 0, 0));
    assert_true(holds("mu.A == 1/2", .5, 0, 0, 0) && holds("mu.A != 1/2", .6, 0, 0, 0) && !holds("mu.A != 1/2", .5, 0, 0, 0));
    assert_true(holds("2*mu.A + 1 < v0.1 - 3", 0, 5, 0, 0) && !holds("2*mu.A + 1 < v0.1 - 3", 1, 5, 0, 0));
    // Variables that do not take part may have no value; those that do make every comparison false.
    assert_true(holds("mu.A > 0", 1, NAN, NAN, NAN) && !holds("v0.1 < 1", 1, NAN, 0, 0) && !holds("v0.1 != 1", 1, NAN, 0, 0));
}

static void words(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const double a = k & 1, b = k >> 1 & 1, c = k >> 2;
        assert_int_equal(holds("mu.A > 0 or v0.1 > 0 and v-.1 > 0", a, b, c, 0), a > 0 || (b > 0 && c > 0));
        assert_int_equal(holds("mu.A > 0 and v0.1 > 0 or v-.1 > 0", a, b, c, 0), (a > 0 && b > 0) || c > 0);
        assert_int_equal(holds("mu.A > 0 and v0.1 > 0 and v-.1 > 0", a, b, c, 0), a > 0 && b > 0 && c > 0);
        assert_int_equal(holds("mu.A > 0 or v0.1 > 0 or v-.1 > 0", a, b, c, 0), k > 0);
    }
}

static void bad_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "mu.A",
                                        "mu.A > 1 > 2",
                                        "mu.B > 1",
                                        "mu.A > ",
                                        "> 1",
                                        "mu.A =",
                                        "mu.A > 1 and ",
                                        "or mu.A > 1",
                                        "mu.A*v0.1 > 1",
                                        "mu.A > 1e999",
                                        "and",
                                        "mu.A > 1 and or v0.1 > 1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        carom_condition *condition;
        carom_error error;
        assert_int_equal(carom_condition_create(texts[i], names, COUNT, &condition, &error), CAROM_BAD_INPUT);
        assert_null(condition);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons),
        cmocka_unit_test(words),
        cmocka_unit_test(bad_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
