// SPDX-License-Identifier: Apache-2.0
// `carom bound`: documents, several questions at once, restitution, and what is refused.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command_support.h"

// The bound is never less than the member, and in the block's known set both are the same number.
static void bounds_and_members_stand_side_by_side(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *bounds = ask(*state, "bound", "block.yaml", "--max", "Jn.A", "--min", "Jn.A - Jt.B", "--max", "v.2", "--walks", "64");
    assert_int_equal(length(bounds, "bounds"), 3);
    assert_string_equal(text(bounds, "schema"), "carom.bound/1");
    assert_string_equal(text(bounds, "bounds.0.sense"), "max");
    assert_string_equal(text(bounds, "bounds.1.sense"), "min");
    assert_string_equal(text(bounds, "bounds.1.expression"), "Jn.A - Jt.B");
    for (int i = 0; i < 3; i++) {
        char upper[32], lower[32];
        snprintf(upper, sizeof upper, "bounds.%d.upper", i);
        snprintf(lower, sizeof lower, "bounds.%d.lower", i);
        assert_true(number(bounds, upper) >= number(bounds, lower) - 1e-9);
    }
    assert_close(number(bounds, "bounds.0.certified"), number(bounds, "bounds.0.upper"), 0);
    assert_close(number(bounds, "bounds.1.certified"), number(bounds, "bounds.1.lower"), 0);
    if (carom_bound_glpk_version()) {
        assert_string_equal(text(bounds, "bounds.0.method"), "fan");
        assert_true(number(bounds, "bounds.0.gap") <= 1e-9);
    } else {
        check_text(text(bounds, "bounds.0.reason"), "libglpk-dev");
    }
    json_decref(bounds);
    report r = run(*state, "bound", "block.yaml", "--max", "Jn.A", "--walks", "0");
    assert_int_equal(r.status, 0);
    check_text(r.out, "\n  max Jn.A ");
    check_text(r.out, " -             -  m/s\n");
    release(&r);
}

// A factor of a sum is a factor of its bound: linear programs see numbers near 1. Round-off is shown as zero beside it.
static void bounds_scale_with_their_sums(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *bounds = ask(*state, "bound", "block.yaml", "--max", "Jn.A", "--max", "1e200*Jn.A", "--max", "1e-300*Jn.A", "--walks", "64");
    assert_int_equal(length(bounds, "bounds"), 3);
    const double one = number(bounds, "bounds.0.upper");
    assert_close(number(bounds, "bounds.1.upper") / 1e200, one, 1e-12);
    assert_close(number(bounds, "bounds.2.upper") * 1e300, one, 1e-12);
    assert_string_equal(text(bounds, "bounds.1.method"), text(bounds, "bounds.0.method"));
    json_decref(bounds);
    report r = run(*state, "bound", "block.yaml", "--max", "-1e250*Jn.A", "--walks", "64");
    assert_int_equal(r.status, 0);
    // What walks reach stands beside a bound where the build has bounds.
    if (carom_bound_glpk_version()) assert_null(strstr(r.out, "e+2"));
    release(&r);
    r = run(*state, "bound", "block.yaml", "--max", "1e200*Jn.A - 1e-200*Jt.B");
    assert_true(is_refusal(&r, "too far apart"));
    release(&r);
}

// A number of planes without a budget of time: the same answer again.
static void planes_decide_alone(void **state) {
    char path[PATH_SIZE];
    double first[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        json_t *bounds = ask(*state, "bound", motion_path("compass", path), "--max", "Jn.B", "--planes", "1", "--walks", "8");
        first[i] = number(bounds, "bounds.0.upper");
        assert_true(number(bounds, "bounds.0.planes") <= 1);
        json_decref(bounds);
    }
    assert_true(first[0] == first[1]);
}

static void restitution_leaves_the_energy(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *bounds =
        ask(*state, "bound", "block.yaml", "--max", "Jn.A", "--hypothesis", "stronge", "--restitution", "0.2:0.5", "--walks", "64");
    assert_string_equal(text(bounds, "bounds.0.method"), "energy");
    check_text(text(bounds, "bounds.0.reason"), "restitution");
    assert_true(number(bounds, "bounds.0.upper") >= number(bounds, "bounds.0.lower"));
    json_decref(bounds);
}

// A scene of a contact and `nv` velocities, of which the first `uncertain` are in a box.
static void write_many(void *directory, int nv, int uncertain) {
    char scene[4096];
    int at = snprintf(scene, sizeof scene, "matrices:\n  M: [");
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++)
            at += snprintf(scene + at, sizeof scene - (size_t)at, "%s%d%s", j ? "," : i ? ", [" : "[", i == j, j + 1 < nv ? "" : "]");
    static const char *const rows[] = {"]\n  Jn: [[", "]]\n  Jt: [[", "]]\n  mu: [0.5]\n  v: [", "]\nuncertain: {velocity: {box: ["};
    for (int row = 0; row < 4; row++) {
        at += snprintf(scene + at, sizeof scene - (size_t)at, "%s", rows[row]);
        for (int j = 0; j < nv; j++) {
            const double values[] = {j == 1, j == 0, j == 1 ? -1 : 1, j < uncertain ? 0.1 : 0};
            at += snprintf(scene + at, sizeof scene - (size_t)at, "%s%g", j ? ", " : "", values[row]);
        }
    }
    snprintf(scene + at, sizeof scene - (size_t)at, "]}}\n");
    write_text(directory, "many.yaml", scene);
}

// Boxes have a fan up to 64 corners, then the bound by energy, and beyond 4096 none.
static void boxes_of_many_velocities(void **state) {
    write_many(*state, 13, 7);
    json_t *bounds = ask(*state, "bound", "many.yaml", "--max", "Jt.A", "--walks", "16");
    assert_string_equal(text(bounds, "bounds.0.method"), "energy");
    // Friction stops 0.5 of the approach of 0.9 m/s at least: 1.1 m/s become 0.65.
    assert_true(number(bounds, "bounds.0.upper") >= 0.65 - 1e-9);
    assert_true(number(bounds, "bounds.0.gap") >= 0);
    json_decref(bounds);
    write_many(*state, 13, 13);
    report r = run(*state, "bound", "many.yaml", "--max", "Jt.A", "--json");
    assert_true(is_refusal(&r, "uncertain.velocity: 13 directions have more than 4096 corners"));
    release(&r);
}

static void bad_bounds_are_refused(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    static const refusal cases[] = {
        {"bound block.yaml", "ask for an extreme with --max EXPR or --min EXPR", NULL},
        {"bound block.yaml --max Pn.A", "--max: bounds are of sums of velocities", NULL},
        {"bound block.yaml --min K", "--min: bounds are of sums of velocities", NULL},
        {"bound block.yaml --max Jn.AB", "did you mean 'Jn.A'?", NULL},
        {"bound block.yaml --max Jn.A --planes -1", "--planes: ", NULL},
        {"bound block.yaml --max Jn.A --seconds 0", "--seconds: ", NULL},
        {"bound block.yaml --max Jn.A --walks 0.5", "--walks: ", NULL},
        {"bound block.yaml --max Jn.A --restitution 0.5", "--restitution: has no meaning without", NULL},
        {"bound block.yaml --max Jn.A --hypothesis poisson --restitution 0.5", "may gain energy", NULL},
    };
    check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

// Ctrl-C ends walks and the search for planes; the bounds found until then hold.
static void an_interruption_keeps_the_bounds(void **state) {
    char path[PATH_SIZE];
    json_t *bounds =
        stop(&(request){.directory = *state,
                        .arguments = WORDS("bound", motion_path("compass", path), "--max", "Jn.A", "--walks", "1e9", "--json")},
             SIGINT);
    assert_string_equal(text(bounds, "verdict"), "interrupted");
    assert_true(number(bounds, "bounds.0.upper") >= number(bounds, "bounds.0.lower"));
    json_decref(bounds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bounds_and_members_stand_side_by_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_scale_with_their_sums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(planes_decide_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(restitution_leaves_the_energy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boxes_of_many_velocities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_bounds_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interruption_keeps_the_bounds, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
