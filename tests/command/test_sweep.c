// SPDX-License-Identifier: Apache-2.0
// `carom sweep`: extents and modes over parameters, and the values at which modes change.
#include "command_support.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "carom/exact.h"

// The set is not monotone in friction.
static void lift_of_the_block_over_friction(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    const struct {
        const char *friction;
        double lift;
    } cases[] = {{"mu=0.1:0.1:1", .0468}, {"mu=0.15:0.15:1", .0432}, {"mu=0.25:0.25:1", .0564}, {"mu=0.4:0.4:1", .0930}};
    for (int i = 0; i < 4; i++) {
        json_t *sweep = ask(*state, "sweep", join(path, scenes_path, "block.yaml"), "--vary", cases[i].friction);
        assert_close(number(sweep, "points.0.extent.normal.0.1"), cases[i].lift, 5e-5);
        assert_int_equal(length(sweep, "critical"), 0);
        json_decref(sweep);
    }
}

// All friction equal: the leading foot sticks above 1.949261; the set is one velocity up to 3.040506.
static void critical_friction_of_the_compass_gait(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    json_t *sweep = ask(*state, "sweep", join(path, scenes_path, "compass.yaml"), "--vary", "mu=0:5:2.5", "--critical");
    assert_string_equal(text(sweep, "schema"), "carom.sweep/1");
    assert_int_equal(length(sweep, "points"), 3);
    assert_true(json_is_true(at(sweep, "points.0.unique")) && json_is_false(at(sweep, "points.2.unique")));
    const size_t count = length(sweep, "critical");
    bool sticks = false, parts = false;
    double last = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *change = json_array_get(at(sweep, "critical"), i);
        const double value = number(change, "value");
        assert_true(value > last);
        last = value;
        sticks |= fabs(value - 1.949261) <= 1e-6 && !strcmp(text(change, "after.0.A"), "stick");
        parts |= fabs(value - 3.040506) <= 1e-6 && json_is_true(at(change, "unique_before")) && json_is_false(at(change, "unique_after"));
    }
    assert_true(sticks && parts);
    json_decref(sweep);
}

// Two parameters make a grid, whose first one runs fastest; mirrored velocities have mirrored sets.
static void two_parameters_make_a_grid(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    json_t *sweep = ask(*state, "sweep", join(path, scenes_path, "block-matrices.yaml"), "--vary", "v.1=-0.2:0.2:0.2", "--vary",
                        "mu=0.2:0.5:0.3", "-o", "map.png");
    assert_int_equal(length(sweep, "points"), 6);
    assert_close(number(json_object_get(at(sweep, "points.4.parameters"), "v.1") ? at(sweep, "points.4.parameters") : NULL, "mu"), .5, 0);
    for (int line = 0; line < 6; line += 3) {
        const json_t *left = json_array_get(at(sweep, "points"), (size_t)line),
                     *right = json_array_get(at(sweep, "points"), (size_t)line + 2);
        assert_close(number(left, "extent.normal.0.1"), number(right, "extent.normal.1.1"), 1e-12);
        assert_close(number(left, "extent.tangent.0.1"), -number(right, "extent.tangent.1.0"), 1e-12);
        assert_int_equal(length(left, "modes"), length(right, "modes"));
    }
    assert_true(is_png(join(path, *state, "map.png")));
    json_decref(sweep);
}

static void other_sets_are_sampled(void **state) {
    char path[PATH_SIZE];
    json_t *sweep = ask(*state, "sweep", join(path, scenes_path, "block.yaml"), "--hypothesis", "stronge", "--vary", "restitution=0:1:0.5",
                        "--samples", "256");
    assert_int_equal(length(sweep, "points"), 3);
    assert_true(json_is_false(at(sweep, "points.1.certified")) && json_is_null(at(sweep, "points.1.unique")));
    assert_true(number(sweep, "points.0.extent.normal.0.1") < number(sweep, "points.2.extent.normal.0.0"));
    json_decref(sweep);
}

// A coordinate of the pose: the block turned by an angle and by its negative has mirrored extents, and at 0 those of the scene.
static void poses_are_swept(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    json_t *sweep = ask(*state, "sweep", join(path, scenes_path, "block.yaml"), "--vary", "qpos.3=-0.1:0.1:0.1");
    assert_int_equal(length(sweep, "points"), 3);
    assert_close(number(sweep, "points.1.extent.normal.0.1"), .0930184, 1e-7);
    assert_close(number(sweep, "points.0.extent.normal.0.1"), .111511, 1e-6);
    assert_close(number(sweep, "points.0.extent.normal.0.1"), number(sweep, "points.2.extent.normal.1.1"), 1e-9);
    assert_close(number(sweep, "points.0.extent.normal.1.1"), number(sweep, "points.2.extent.normal.0.1"), 1e-9);
    json_decref(sweep);
}

// Outcomes of laws at each point: those of the law alone on that impact. A file has them all, and the points.
static void laws_and_files(void **state) {
    char path[PATH_SIZE];
    size_t size[2];
    json_t *sweep = ask(*state, "sweep", join(path, scenes_path, "compass.yaml"), "--vary", "mu=2:3:0.5", "--laws", "moreau,sequential",
                        "--sampled", "--samples", "16", "-o", "s.h5");
    assert_int_equal(length(sweep, "points"), 3);
    assert_int_equal(length(sweep, "points.0.laws.moreau"), 1);
    assert_int_equal(length(sweep, "points.2.laws.sequential"), 2);
    // A sticks with the scene's friction and with that of the last two points: the same answer.
    json_t *alone = ask(*state, "resolve", path, "--law", "moreau");
    for (int i = 1; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "points.%d.laws.moreau.0.normal_velocity.1", i);
        assert_close(number(sweep, name), number(alone, "outcomes.0.normal_velocity.1"), 1e-12);
    }
    json_decref(alone);
    json_decref(sweep);
    read_size(join(path, *state, "s.h5"), "points/normal_extent", size);
    assert_true(size[0] == 3 && size[1] == 4);
    read_size(path, "sequential/v_plus", size);
    assert_true(size[0] == 6 && size[1] == 4);
    read_size(path, "moreau/point", size);
    assert_int_equal(size[0], 3);
    json_t *most = ask(*state, "query", "s.h5", "--law", "moreau", "--max", "Jn.B");
    assert_close(number(most, "maximum"), 0.0995551492, 1e-6);
    json_decref(most);
}

// A law that refuses some points is left out there and said to be; the points and the other laws keep their answers. `stronge` takes one
// contact, and the block has two.
static void laws_that_refuse_a_point_are_left_out(void **state) {
    char path[PATH_SIZE];
    json_t *sweep = ask_for(1, *state, "sweep", join(path, scenes_path, "block.yaml"), "--vary", "mu=0:1:0.5", "--laws", "moreau,stronge",
                            "--sampled", "--samples", "16", "-o", "s.h5");
    assert_false(is_true(sweep, "complete"));
    assert_string_equal(text(sweep, "verdict"), "incomplete");
    assert_int_equal(length(sweep, "points"), 3);
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "points.%d.laws.moreau", i);
        assert_int_equal(length(sweep, name), 1);
        snprintf(name, sizeof name, "points.%d.left_out.stronge", i);
        check_text(text(sweep, name), "this law takes one");
        snprintf(name, sizeof name, "points.%d.left_out", i);
        assert_int_equal(json_object_size(at(sweep, name)), 1);
    }
    json_decref(sweep);
    report said = run(*state, "sweep", path, "--vary", "mu=0:1:0.5", "--laws", "stronge,moreau", "--sampled", "--samples", "16");
    assert_int_equal(said.status, 1);
    assert_int_equal(count_text(said.out, "left out: contact"), 3);
    assert_int_equal(count_text(said.out, "    moreau"), 3);
    release(&said);
    // Where every law answers, nothing is left out.
    sweep = ask(*state, "sweep", path, "--vary", "mu=0:1:0.5", "--laws", "moreau", "--sampled", "--samples", "16");
    assert_true(is_true(sweep, "complete"));
    assert_int_equal(json_object_size(at(sweep, "points.1.left_out")), 0);
    json_decref(sweep);
}

// A picture of the modes over friction: each has its entry in the key, and its line ends where the mode does.
static void modes_over_one_parameter_are_drawn(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    json_decref(
        ask(*state, "sweep", join(path, scenes_path, "compass.yaml"), "--vary", "mu=1:5:1", "--critical", "--map", "-o", "modes.svg"));
    char *picture = read_file(*state, "modes.svg");
    check_text(picture, "compass gait: which joint modes are possible");
    static const char *const modes[] = {"A backward | B lift", "A stick | B lift",     "A stick | B stick",
                                        "A stick | B forward", "A backward | B stick", "A lift | B stick"};
    for (int i = 0; i < 6; i++) {
        char label[64];
        snprintf(label, sizeof label, "%d: %s", i + 1, modes[i]);
        check_text(picture, label);
    }
    free(picture);
    // A sampled one says so; a map writes out lists that are short.
    json_decref(ask(*state, "sweep", path, "--vary", "mu=1:5:4", "--sampled", "--samples", "16", "--map", "-o", "seen.svg"));
    picture = read_file(*state, "seen.svg");
    check_text(picture, "which joint modes are possible, as far as samples reach");
    free(picture);
    json_decref(ask(*state, "sweep", path, "--vary", "mu=1:2:1", "--vary", "mass=1:2:1", "-o", "map.svg"));
    picture = read_file(*state, "map.svg");
    check_text(picture, "a: A backward | B lift");
    free(picture);
}

static void bad_input_is_refused_in_one_line(void **state) {
#define FLAT "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"
    static const refusal refusals[] = {
        {"sweep case.yaml", "--vary is missing", FLAT},
        {"sweep case.yaml --vary mu", "'mu' is not NAME=FROM:TO:STEP", FLAT},
        {"sweep case.yaml --vary mu=0:1", "three finite numbers", FLAT},
        {"sweep case.yaml --vary mu=0:1:0.1:2", "three finite numbers", FLAT},
        {"sweep case.yaml --vary mu=0:nan:0.1", "three finite numbers", FLAT},
        {"sweep case.yaml --vary mu=1:0:0.1", "FROM <= TO", FLAT},
        {"sweep case.yaml --vary mu=0:1:0", "STEP > 0", FLAT},
        {"sweep case.yaml --vary mu=0:1:1e-9", "more than 100000 values", FLAT},
        {"sweep case.yaml --vary mu.B=0:1:1", "did you mean 'mu.A'", FLAT},
        {"sweep case.yaml --vary friction=0:1:1", "not qpos.I, a coordinate of the pose, and 'friction' is none of mu", FLAT},
        {"sweep case.yaml --vary mu=-1:1:1", "mu = -1", FLAT},
        {"sweep case.yaml --vary qpos.1=0:1:1", "'qpos.1': only a scene with 'model' and a list of contacts has a pose", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --vary mu=0:1:1", "given twice", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --vary v.1=1e300:1e300:1", "mu = 0, v.1 = 1e+300: ", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --critical --hypothesis stronge", "--critical: needs exact sets", FLAT},
        {"sweep case.yaml --vary v.1=0:1:1 --vary v.01=0:1:1", "'v.01' is given twice", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --map", "--map: is about a picture", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --map -o modes.h5", "--map: is about a picture", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 -o map.gif", "map.gif", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 -o nowhere/s.h5", "nowhere", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --laws moraeu", "did you mean 'moreau'", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --laws moreau,", "there is no law ''", FLAT},
        {"sweep case.yaml --vary mu=0:1:1 --laws moreau,moreau", "named twice", FLAT},
    };
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
}

// Points and critical values that were found remain. What is asked for would take minutes.
static void an_interruption_keeps_the_points(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    json_t *sweep = stop(&(request){.directory = *state,
                                    .arguments = WORDS("sweep", join(path, scenes_path, "compass.yaml"), "--vary", "mu=1.9494:4:0.0001",
                                                       "--critical", "--json")},
                         SIGINT);
    assert_string_equal(text(sweep, "verdict"), "interrupted");
    const size_t count = length(sweep, "points");
    assert_in_range(count, 1, 20000);
    for (size_t i = 0; i < count; i++) {
        const json_t *point = json_array_get(at(sweep, "points"), i);
        assert_true(json_is_true(at(point, "certified")));
        assert_true(length(point, "modes") >= 1);
    }
    json_decref(sweep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lift_of_the_block_over_friction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(critical_friction_of_the_compass_gait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_parameters_make_a_grid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_sets_are_sampled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(poses_are_swept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws_and_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws_that_refuse_a_point_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(modes_over_one_parameter_are_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interruption_keeps_the_points, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
