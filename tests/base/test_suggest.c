// SPDX-License-Identifier: Apache-2.0
// "Did you mean": which name is the nearest to a misspelt one.
#include <string.h>

#include "carom/suggest.h"
#include "support.h"

static const char *const names[] = {"friction", "restitution", "site", "left_front_foot", "left_hind_foot", "mu"};
enum { NAMES = sizeof names / sizeof *names };

static void assert_suggests(const char *wanted, const char *phrase) {
    char text[CAROM_SUGGESTION_SIZE];
    assert_string_equal(carom_suggest(wanted, names, NAMES, text), phrase);
}

static void test_slips_of_one_or_two_letters(void **state) {
    (void)state;
    assert_suggests("frition", "; did you mean 'friction'?");
    assert_suggests("frictoin", "; did you mean 'friction'?");
    assert_suggests("sites", "; did you mean 'site'?");
    assert_suggests("left_hind_fot", "; did you mean 'left_hind_foot'?");
    // Letters that change places are one slip, also in a short word. Two make another word.
    assert_suggests("stie", "; did you mean 'site'?");
    assert_suggests("um", "; did you mean 'mu'?");
    assert_suggests("seat", "");
    assert_suggests("velocity", "");
}

static void test_a_beginning_is_the_last_resort(void **state) {
    (void)state;
    assert_suggests("left_front", "; did you mean 'left_front_foot'?");
    assert_suggests("left", "; did you mean 'left_front_foot'?");
    assert_suggests("rest", "; did you mean 'restitution'?");
    assert_suggests("le", "");
}

static void test_long_and_empty_names(void **state) {
    (void)state;
    char text[CAROM_SUGGESTION_SIZE], wanted[301] = "", name[300] = "";
    memset(wanted, 'a', 300);
    memset(name, 'a', 299);
    assert_string_equal(carom_suggest(wanted, (const char *const[]){name}, 1, text), "");
    assert_string_equal(carom_suggest("", names, NAMES, text), "");
    assert_string_equal(carom_suggest("a", names, 0, text), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slips_of_one_or_two_letters),
        cmocka_unit_test(test_a_beginning_is_the_last_resort),
        cmocka_unit_test(test_long_and_empty_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
