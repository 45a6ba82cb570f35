// SPDX-License-Identifier: Apache-2.0
// `carom lcp`: linear complementarity problems from files.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lcps_are_solved(void **state) {
    static const double thirds[] = {1.0 / 3, 1.0 / 3}, corner[] = {0, 2, 0};
    static const char *const solvers[] = {"lemke", "siconos-lemke"};
    write_text(*state, "two.json", SMALL_LCP);
    write_text(*state, "three.yaml", "W: [[1, 1, 0], [0, 1, 0], [0, \"1/2\", 1]]\nw: [-1.5, -2, -0.5]\n");
    for (int i = 0; i < 1 + support_has("SICONOS"); i++) {
        json_t *two = ask(*state, "lcp", "two.json", "--solver", solvers[i]);
        assert_string_equal(text(two, "schema"), "carom.lcp/1");
        assert_int_equal(number(two, "n"), 2);
        assert_string_equal(text(two, "solver"), solvers[i]);
        assert_true(is_true(two, "complete"));
        assert_int_equal(length(two, "solutions"), 1);
        check_numbers(two, "solutions.0.z", thirds, 2, 1e-12);
        assert_true(number(two, "solutions.0.residual") <= 1e-9);
        json_decref(two);

        json_t *three = ask(*state, "lcp", "three.yaml", "--solver", solvers[i]);
        check_numbers(three, "solutions.0.z", corner, 3, 1e-12);
        json_decref(three);
    }
    json_t *usual = ask(*state, "lcp", "two.json");
    assert_string_equal(text(usual, "solver"), "lemke");
    json_decref(usual);
}

// Where a build has no Siconos, its solvers are refused by name, and say what to install.
static void solvers_of_siconos_may_be_missing(void **state) {
    if (support_has("SICONOS")) skip();
    char *file = support_write_file(*state, "case.json", SMALL_LCP), arguments[PATH_SIZE], said[CAROM_MESSAGE_SIZE];
    snprintf(arguments, sizeof arguments, "lcp %s --solver siconos-lemke", file);
    assert_int_equal(support_run_command(arguments, true, said, sizeof said), 2);
    check_text(said, "siconos-lemke: this build has no LCP solvers of Siconos: install libsiconos-numerics-dev, and build again");
    free(file);
}

// No z makes 0 z - 1 >= 0: the answer says so, and the status is that of a computation that could not finish.
static void an_lcp_without_solution_is_incomplete(void **state) {
    write_text(*state, "none.json", "{\"W\": [[0]], \"w\": [-1]}");
    json_t *none = ask_for(1, *state, "lcp", "none.json");
    assert_false(is_true(none, "complete"));
    assert_int_equal(length(none, "solutions"), 0);
    json_decref(none);
    // A ray proves nothing: here z = (1, 1, 0) is a solution, which Lemke's method does not reach.
    write_text(*state, "ray.json", "{\"W\": [[0, -1], [-1, 0]], \"w\": [-1, -1]}");
    json_t *ray = ask_for(1, *state, "lcp", "ray.json");
    assert_string_equal(text(ray, "verdict"), "ray");
    check_text(text(ray, "caveats.0"), "there may be solutions all the same, and --all looks for them");
    json_decref(ray);
    report said = run(*state, "lcp", "ray.json");
    check_text(said.out, "--all looks for them");
    assert_string_equal(said.err, "");
    release(&said);
    // What --all finds complete, or a verified solution, has no such line.
    json_t *all = ask(*state, "lcp", "ray.json", "--all");
    assert_int_equal(length(all, "caveats"), 0);
    json_decref(all);
}

// -------------------------------------------------------------------------------------------------------------------------------- bad
// input

static const refusal refusals[] = {
    // LCPs
    {"lcp case.yaml", "case.yaml:1: W: ", "{\"W\": [[2, 1]], \"w\": [-1, -1]}\n"},
    {"lcp case.yaml", "case.yaml:1: W[1]: ", "{\"W\": [[2, 1], [1]], \"w\": [-1, -1]}\n"},
    {"lcp case.yaml", "W[0][1]", "{\"W\": [[2, NaN], [1, 2]], \"w\": [-1, -1]}\n"},
    {"lcp case.yaml", "w[1]", "{\"W\": [[2, 1], [1, 2]], \"w\": [-1, 1e999]}\n"},
    {"lcp case.yaml", "'w' is missing", "{\"W\": [[2, 1], [1, 2]]}\n"},
    {"lcp case.yaml", "case.yaml:1: w: ", "{\"W\": [], \"w\": []}\n"},
    {"lcp case.yaml", "case.yaml:1: q: unknown key", "{\"W\": [[2]], \"w\": [-1], \"q\": [1]}\n"},
    {"lcp lcp.json --solver guess", "guess", NULL},
    {"lcp lcp.json --solver", "--solver needs a value", NULL},
    {"lcp flat.yaml", "flat.yaml", NULL},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lcps_are_solved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_lcp_without_solution_is_incomplete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(solvers_of_siconos_may_be_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
