// SPDX-License-Identifier: Apache-2.0
// `carom modes`: certified lists of exact sets, lists seen in samples, and what makes the one into the other.
#include "command_support.h"

#include "carom/exact.h"

static void small_planar_scenes_are_certified(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    json_t *modes = ask(*state, "modes", join(path, scenes_path, "block.yaml"));
    assert_string_equal(text(modes, "schema"), "carom.modes/1");
    assert_string_equal(text(modes, "verdict"), "complete");
    assert_true(json_is_true(at(modes, "certified")));
    assert_int_equal(length(modes, "modes"), 3);
    assert_string_equal(text(modes, "modes.1.contacts.A"), "stick");
    assert_string_equal(text(modes, "modes.1.contacts.B"), "lift");
    assert_close(number(modes, "modes.1.normal_velocity.1.1"), .0930184, 1e-7);
    assert_int_equal(length(modes, "modes.1.witness"), 3);
    json_decref(modes);
}

static void other_sets_are_sampled(void **state) {
    char path[PATH_SIZE];
    // The samples' statistics stand beside the modes, which together hold every outcome.
    const char *const lines[][4] = {{"block.yaml", "--sampled", "--samples", "1024"},
                                    {"block.yaml", "--hypothesis=stronge", "--restitution=0.5", "--samples=1024"},
                                    {"cube-k4.yaml", "--sampler=walk", "--samples", "64"}};
    for (int i = 0; i < 3; i++) {
        json_t *modes = ask(*state, "modes", join(path, scenes_path, lines[i][0]), lines[i][1], lines[i][2], lines[i][3]);
        assert_true(json_is_false(at(modes, "certified")));
        int64_t outcomes = 0;
        for (size_t k = 0; k < length(modes, "modes"); k++) outcomes += (int64_t)number(json_array_get(at(modes, "modes"), k), "count");
        assert_int_equal(outcomes, (int64_t)number(modes, "terminated"));
        json_decref(modes);
    }
    // A budget that is too small says so, and samples.
    if (!carom_exact_available()) return;
    json_t *modes = ask(*state, "modes", join(path, scenes_path, "compass.yaml"), "--seconds", "1e-6", "--samples", "256");
    assert_true(json_is_false(at(modes, "certified")));
    check_text(text(modes, "reason"), "raise --seconds");
    json_decref(modes);
}

static void bad_input_is_refused_in_one_line(void **state) {
    static const refusal refusals[] = {
        {"modes case.yaml --seconds -1", "--seconds: -1 is not", "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
        {"modes case.yaml --hypothesis newton", "--hypothesis: 'newton' is not one of",
         "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
        {"modes case.yaml --restitution .5", "--restitution: has no meaning", "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
    };
    // What bounds the exact set is not looked at where there is none.
    if (!carom_exact_available()) skip();
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_planar_scenes_are_certified, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_sets_are_sampled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
