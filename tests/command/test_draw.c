// SPDX-License-Identifier: Apache-2.0
// `carom draw`: what is drawn is the scene's mechanism, its contacts, and what laws make of them; pictures of every form of scene;
// refusals.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A person who falls on the hands and knees: every type of limb, and a floor.
static const char humanoid[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='0 0 1'/>"
    "<body name='trunk' pos='0 0 0.6'><freejoint/>"
    "<geom type='capsule' fromto='-0.3 0 0 0.3 0 0' size='0.1'/><geom type='sphere' pos='0.5 0 0.05' size='0.1'/>"
    "<body name='left_arm' pos='0.25 0.2 0'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -0.5' size='0.04'/>"
    "<geom name='left_hand' type='sphere' pos='0 0 -0.55' size='0.05'/></body>"
    "<body name='right_arm' pos='0.25 -0.2 0'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -0.5' size='0.04'/>"
    "<geom name='right_hand' type='sphere' pos='0 0 -0.55' size='0.05'/></body>"
    "<body name='left_leg' pos='-0.3 0.1 0'><joint axis='0 1 0'/><geom type='cylinder' fromto='0 0 0 0 0 -0.5' size='0.06'/>"
    "<geom name='left_knee' type='sphere' pos='0 0 -0.53' size='0.07'/><geom type='box' pos='-0.2 0 -0.5' size='0.2 0.05 0.05'/></body>"
    "<body name='right_leg' pos='-0.3 -0.1 0'><joint axis='0 1 0'/><geom type='cylinder' fromto='0 0 0 0 0 -0.5' size='0.06'/>"
    "<geom name='right_knee' type='sphere' pos='0 0 -0.53' size='0.07'/><geom type='box' pos='-0.2 0 -0.5' size='0.2 0.05 0.05'/></body>"
    "</body></worldbody></mujoco>";

static double sum_of(const json_t *document, const char *list, int rows, int column) {
    double sum = 0;
    for (int i = 0; i < rows; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s.%d.%d", list, i, column);
        sum += number(document, place);
    }
    return sum;
}

// -------------------------------------------------------------------------------------------------------------- scenes

// The contacts drawn are those of `carom info`, to the bit: points, normals, friction, and velocities in space.
static void contacts_are_those_of_the_scene(void **state) {
    static const char *const stems[] = {"block", "compass", "disks", "quadruped", "ramone", "box-on-box"};
    for (size_t s = 0; s < sizeof stems / sizeof *stems; s++) {
        char path[PATH_SIZE];
        motion_path(stems[s], path);
        json_t *drawn = ask(*state, "draw", path), *info = ask(*state, "info", path);
        const size_t contacts = length(info, "contact_names");
        assert_int_equal(length(drawn, "contacts"), contacts);
        for (size_t i = 0; i < contacts; i++) {
            char place[64], other[64];
            snprintf(place, sizeof place, "contacts.%zu.name", i);
            snprintf(other, sizeof other, "contact_names.%zu", i);
            assert_string_equal(text(drawn, place), text(info, other));
            double normal_velocity = 0;
            for (int k = 0; k < 3; k++) {
                snprintf(place, sizeof place, "contacts.%zu.point.%d", i, k);
                snprintf(other, sizeof other, "contact_points.%zu.%d", i, k);
                assert_close(number(drawn, place), number(info, other), 0);
                snprintf(place, sizeof place, "contacts.%zu.normal.%d", i, k);
                snprintf(other, sizeof other, "contact_normals.%zu.%d", i, k);
                const double normal = number(drawn, place);
                assert_close(normal, number(info, other), 0);
                snprintf(place, sizeof place, "contacts.%zu.velocity.%d", i, k);
                normal_velocity += normal * number(drawn, place);
            }
            snprintf(other, sizeof other, "normal_velocity.%zu", i);
            assert_close(normal_velocity, number(info, other), 1e-12);
            snprintf(place, sizeof place, "contacts.%zu.friction", i);
            snprintf(other, sizeof other, "mu.%zu", i);
            assert_close(number(drawn, place), number(info, other), 0);
        }
        json_decref(drawn);
        json_decref(info);
    }
}

// A block that stands on (0, 0), 1 m wide and 2 m high, is that rectangle in its plane, above ground that its contacts tell of.
static void a_planar_scene_is_drawn_in_its_plane(void **state) {
    char path[PATH_SIZE];
    json_t *drawn = ask(*state, "draw", motion_path("block", path));
    assert_int_equal(length(drawn, "views"), 1);
    assert_string_equal(text(drawn, "views.0.name"), "side");
    assert_int_equal(length(drawn, "solids"), 2);
    assert_string_equal(text(drawn, "solids.0.kind"), "box");
    assert_string_equal(text(drawn, "solids.1.kind"), "plane");
    assert_true(is_true(drawn, "solids.1.fixed"));
    check_numbers(drawn, "solids.1.position", (const double[]){-0.5, 0, 0}, 3, 1e-15);
    assert_int_equal(length(drawn, "views.0.outlines.0"), 4);
    assert_int_equal(length(drawn, "views.0.outlines.1"), 0);
    for (int i = 0; i < 4; i++) {
        char place[64];
        snprintf(place, sizeof place, "views.0.outlines.0.%d.0", i);
        assert_close(fabs(number(drawn, place)), 0.5, 1e-15);
        snprintf(place, sizeof place, "views.0.outlines.0.%d.1", i);
        assert_close(fabs(number(drawn, place) - 1), 1, 1e-15);
    }
    json_decref(drawn);
}

// Scenes of carom's own bodies: an ellipsoid of semi-axes 2, 3, 4 above its plane, whose extents are these; three balls of a cradle, which
// touch halfway between their centres.
static void own_bodies_have_their_outlines(void **state) {
    char path[PATH_SIZE];
    json_t *drawn = ask(*state, "draw", motion_path("ellipsoid", path));
    assert_int_equal(length(drawn, "contacts"), 0);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < length(drawn, "views.0.outlines.1"); i++)
        for (int k = 0; k < 2; k++) {
            char place[64];
            snprintf(place, sizeof place, "views.0.outlines.1.%zu.%d", i, k);
            low[k] = fmin(low[k], number(drawn, place));
            high[k] = fmax(high[k], number(drawn, place));
        }
    assert_close(high[0] - low[0], 4, 1e-12);
    assert_close(high[1] - low[1], 8, 1e-12);
    check_numbers(drawn, "trees.0.velocity", (const double[]){2, 2, 10}, 3, 1e-15);
    json_decref(drawn);

    drawn = ask(*state, "draw", motion_path("cradle", path));
    assert_int_equal(length(drawn, "solids"), 3);
    assert_int_equal(length(drawn, "contacts"), 2);
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 3; k++) {
            char place[64], from[64], to[64];
            snprintf(place, sizeof place, "contacts.%d.point.%d", c, k);
            snprintf(from, sizeof from, "solids.%d.position.%d", c, k);
            snprintf(to, sizeof to, "solids.%d.position.%d", c + 1, k);
            assert_close(number(drawn, place), 0.5 * (number(drawn, from) + number(drawn, to)), 1e-15);
            snprintf(place, sizeof place, "contacts.%d.normal.%d", c, k);
            assert_close(number(drawn, place), k == 0, 1e-15);
        }
    json_decref(drawn);
}

// A mass on an arm of 1 m that slides over the fixed body below it: a segment from the mass to the contact, and the plane of that body.
static void two_bodies_touch_at_the_origin(void **state) {
    write_text(*state, "pair.yaml",
               "two_bodies: [{fixed: true}, {mass: 1, inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], contact_arm: [0, 0, -1], velocity: "
               "[1, 0, -1]}]\n"
               "normal: [0, 0, 1]\nfriction: 0.5\n");
    json_t *drawn = ask(*state, "draw", "pair.yaml", "--outcome", "anitescu-potra");
    assert_string_equal(text(drawn, "solids.0.kind"), "plane");
    assert_string_equal(text(drawn, "solids.1.kind"), "capsule");
    check_numbers(drawn, "solids.1.position", (const double[]){0, 0, 0.5}, 3, 1e-15);
    check_numbers(drawn, "contacts.0.point", (const double[]){0, 0, 0}, 3, 0);
    check_numbers(drawn, "contacts.0.velocity", (const double[]){1, 0, -1}, 3, 1e-15);
    // The arm keeps its length when it turns.
    const double time = number(drawn, "outcomes.0.time");
    assert_true(time > 0);
    assert_close(number(drawn, "outcomes.0.solids.1.size.1"), 0.5, 1e-15);
    json_decref(drawn);
}

// ------------------------------------------------------------------------------------------------------------- outcomes

// Impulses and velocities in space are those of `carom resolve`; the impulses change the momentum of the centre of mass; and the pose that
// is shown is the one after the time that is said.
static void outcomes_are_those_of_the_law(void **state) {
    char path[PATH_SIZE];
    motion_path("block", path);
    json_t *before = ask(*state, "draw", path),
           *drawn = ask(*state, "draw", path, "--outcome", "sequential,anitescu-potra", "--number", "1"),
           *second = ask(*state, "draw", path, "--outcome", "sequential", "--number", "2,1"),
           *resolved = ask(*state, "resolve", path, "--law", "sequential");
    assert_int_equal(length(drawn, "outcomes"), 2);
    assert_string_equal(text(drawn, "outcomes.1.law"), "anitescu-potra");
    assert_int_equal(length(second, "outcomes"), 2);
    assert_int_equal(number(second, "outcomes.0.number"), 2);
    assert_int_equal(number(second, "outcomes.0.of"), 2);
    for (int contact = 0; contact < 2; contact++) {
        char place[64], other[64];
        snprintf(place, sizeof place, "outcomes.0.impulses.%d.2", contact);
        snprintf(other, sizeof other, "outcomes.1.normal_impulse.%d", contact);
        assert_close(number(second, place), number(resolved, other), 1e-14);
        snprintf(place, sizeof place, "outcomes.1.impulses.%d.0", contact);
        snprintf(other, sizeof other, "outcomes.0.tangent_impulse.%d", contact);
        assert_close(number(second, place), number(resolved, other), 1e-14);
        snprintf(place, sizeof place, "outcomes.0.velocities.%d.2", contact);
        snprintf(other, sizeof other, "outcomes.1.normal_velocity.%d", contact);
        assert_close(number(second, place), number(resolved, other), 1e-14);
    }
    // 1 kg: the velocity of the block's centre changes by the sum of the impulses, and it moves with that velocity.
    const double time = number(drawn, "outcomes.0.time");
    assert_true(time > 0);
    for (int k = 0; k < 3; k++) {
        char place[64];
        snprintf(place, sizeof place, "trees.0.velocity.%d", k);
        const double after = number(before, place) + sum_of(drawn, "outcomes.0.impulses", 2, k);
        snprintf(place, sizeof place, "solids.0.position.%d", k);
        const double from = number(before, place);
        snprintf(place, sizeof place, "outcomes.0.solids.0.position.%d", k);
        assert_close(number(drawn, place), from + time * after, 1e-12);
    }
    json_decref(before);
    json_decref(drawn);
    json_decref(second);
    json_decref(resolved);
}

// An outcome at rest, up to round-off, has no pose of its own.
static void nothing_moves_after_a_rest(void **state) {
    char path[PATH_SIZE];
    json_t *drawn = ask(*state, "draw", motion_path("boxwall", path), "--outcome", "anitescu-potra");
    assert_int_equal(length(drawn, "outcomes.0.solids"), 0);
    assert_close(number(drawn, "outcomes.0.time"), 0, 0);
    json_decref(drawn);
}

// ------------------------------------------------------------------------------------------------------------- pictures

// The page of `compare` begins with the mechanism of a scene with bodies; one of matrices has none.
static void pages_of_comparisons_show_the_mechanism(void **state) {
    if (system("command -v gnuplot > /dev/null")) skip();
    char path[PATH_SIZE];
    static const char *const stems[] = {"block", "block-matrices"};
    for (int i = 0; i < 2; i++) {
        json_t *compared = ask(*state, "compare", motion_path(stems[i], path), "--samples", "64", "-o", stems[i]);
        char *page = read_file(join(path, *state, stems[i]), "index.md");
        assert_int_equal(count_text(page, "](figure-mechanism.png)"), i == 0);
        assert_int_equal(exists(path, "figure-mechanism.png"), i == 0);
        free(page);
        json_decref(compared);
    }
}

static void every_form_of_scene_becomes_a_picture(void **state) {
    write_text(*state, "humanoid.xml", humanoid);
    if (system("command -v gnuplot > /dev/null")) skip();
    static const struct {
        const char *stem, *options[4];
    } scenes_drawn[] = {
        {"block", {"--outcome", "sequential"}},
        {"compass", {"--size", "column"}},
        {"quadruped", {"--outcome", "anitescu-potra"}},
        {"disks", {NULL}},
        {"two-ellipsoids", {"--view", "top"}},
        {"lens", {NULL}},
        {"cradle", {"--outcome", "propagative"}},
        {"torus", {NULL}},
        {"rod", {NULL}},
    };
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof scenes_drawn / sizeof *scenes_drawn; i++) {
        const char *const *more = scenes_drawn[i].options;
        const char *arguments[] = {"draw", motion_path(scenes_drawn[i].stem, path), "-o", "a.png", more[0], more[0] ? more[1] : NULL, NULL};
        const request asked = {.directory = *state, .arguments = arguments};
        report r = run_request(&asked);
        if (r.status) show(&asked, &r);
        assert_int_equal(r.status, 0);
        assert_string_equal(r.out, "a.png\n");
        assert_true(is_png(join(path, *state, "a.png")));
        release(&r);
    }
    // A bare model, with the pictures' other formats.
    static const char *const names[] = {"a.svg", "a.pdf"}, *const starts[] = {"<?xml", "%PDF-"};
    for (int i = 0; i < 2; i++) {
        json_t *drawn;
        report r = run(*state, "draw", "humanoid.xml", "-o", names[i], "--outcome", "routh", "--view", "side,front,top,3d", "--json");
        assert_int_equal(r.status, 0);
        drawn = parse(&r);
        // 12 limbs and the floor; the hands and knees touch; each view has every outline and draws every solid once.
        assert_int_equal(length(drawn, "solids"), 13);
        assert_int_equal(length(drawn, "contacts"), 4);
        assert_int_equal(length(drawn, "views"), 4);
        for (int v = 0; v < 4; v++) {
            char place[64];
            int drawn_solids = 0;
            for (int k = 0; k < 13; k++) {
                snprintf(place, sizeof place, "views.%d.order.%d", v, k);
                drawn_solids |= 1 << (int)number(drawn, place);
            }
            assert_int_equal(drawn_solids, (1 << 13) - 1);
        }
        char start[8] = "";
        read_start(join(path, *state, names[i]), start, sizeof start);
        assert_memory_equal(start, starts[i], 5);
        json_decref(drawn);
        release(&r);
    }
    // Every word of the key is in the picture.
    char *svg = read_file(*state, "a.svg");
    check_text(svg, "routh");
    check_text(svg, "friction cone");
    free(svg);
}

// Two balls that touch, whose laws have one outcome.
#define BALLS "balls: {masses: [1, 1], radius: 0.5, positions: [0, 1], velocities: [1, 0]}\n"

static const refusal refusals[] = {
    {"draw case.yaml", "-o FILE is missing", BALLS},
    {"draw case.yaml -o a.gif", "must end in .png, .svg or .pdf", BALLS},
    {"draw case.yaml -o a", "must end in .png, .svg or .pdf", BALLS},
    {"draw case.yaml -o missing/a.png", "missing/a.png", BALLS},
    {"draw case.yaml -o /dev/full", "must end in .png, .svg or .pdf", BALLS},
    {"draw case.yaml --json --view below", "there is no view 'below'; there are side, front, top and 3d", BALLS},
    {"draw case.yaml --json --view frnt", "did you mean 'front'?", BALLS},
    {"draw case.yaml --json --view ''", "there is no view ''", BALLS},
    {"draw case.yaml --json --view side,side,side,side,side", "at most 4 views", BALLS},
    {"draw case.yaml --json --size 10x10", "--size: '10x10' is no size", BALLS},
    {"draw case.yaml --json --outcome sequentail", "did you mean 'sequential'?", BALLS},
    {"draw case.yaml --json --outcome ''", "there is no law ''", BALLS},
    {"draw case.yaml --json --outcome sequential --number 2", "'2' is not one of the 1 outcome of sequential", BALLS},
    {"draw case.yaml --json --outcome sequential --number 0", "'0' is not one of", BALLS},
    {"draw case.yaml --json --outcome sequential --number 1,x", "'x' is not one of", BALLS},
    {"draw case.yaml --json --outcome sequential --number ''", "'' is not one of", BALLS},
    {"draw case.yaml --json --outcome sequential --number 1,1,1,1,1,1,1,1,1,1", "at most 9 outcomes", BALLS},
    {"draw case.yaml --json --number 1", "no meaning without --outcome", BALLS},
    {"draw case.yaml --json --outcome routh", "has no impact", BALL_AT "3]}\n"},
    {"draw case.yaml --json", "has matrices, and no bodies", FLAT_SCENE},
    {"draw missing.yaml --json", "missing.yaml", NULL},
};

static void bad_questions_are_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

// A file that somebody wrote by hand is kept.
static void other_files_are_kept(void **state) {
    write_text(*state, "balls.yaml", BALLS);
    write_text(*state, "a.png", "what was here before\n");
    report r = run(*state, "draw", "balls.yaml", "-o", "a.png");
    assert_true(is_refusal(&r, "a.png: is not a PNG picture"));
    release(&r);
    char *kept = read_file(*state, "a.png");
    assert_string_equal(kept, "what was here before\n");
    free(kept);
}

static void a_missing_gnuplot_is_one_line(void **state) {
    char line[2 * PATH_SIZE], path[PATH_SIZE];
    snprintf(line, sizeof line, "PATH=. \"$carom\" draw '%s' -o a.png 2>&1 || true", motion_path("block", path));
    char *said = run_line(*state, 0, line);
    support_skip_missing(said);
    assert_string_equal(said, "carom: a.png: pictures are drawn by gnuplot, which was not found: install gnuplot-nox\n");
    assert_false(exists(*state, "a.png"));
    free(said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(contacts_are_those_of_the_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_planar_scene_is_drawn_in_its_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(own_bodies_have_their_outlines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_bodies_touch_at_the_origin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outcomes_are_those_of_the_law, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_moves_after_a_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_form_of_scene_becomes_a_picture, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_of_comparisons_show_the_mechanism, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_questions_are_refused_in_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_gnuplot_is_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
