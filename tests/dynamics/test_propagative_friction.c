// SPDX-License-Identifier: Apache-2.0
// Coulomb friction between propagative impacts: sliding, sticking and rolling in closed form, its work, and where the impacts leave it out.
#include <math.h>
#include <stdlib.h>

#include "integrators.h"

// A point, a ball of radius 0.2, and a block 1 wide and 2 high with its corners, that slide in x and z and turn counter-clockwise there.
#define BODY(inside)                                                                                                                       \
    "<mujoco><worldbody><body name='body'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>" inside   \
    "</body></worldbody></mujoco>"
#define TURN  "<joint name='turn' axis='0 -1 0'/>"
#define POINT BODY("<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/><site name='foot' pos='0 0 0'/>")
#define BALL  BODY(TURN "<geom name='ball' size='0.2' mass='2'/>")
#define BLOCK BODY(TURN "<geom type='box' size='0.5 0.25 1' mass='1'/><site name='a' pos='-0.5 0 -1'/><site name='b' pos='0.5 0 -1'/>")
#define FLOOR(name, place, friction)                                                                                                       \
    "{name: " name ", " place ", normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: " friction ", offset: 0}"
// 30 degrees down in x.
#define SLOPE(place, friction)                                                                                                             \
    "{model: model.xml, contacts: [{name: slope, " place ", normal: [0.5, 0, 0.86602540378443865], tangents: [[0.86602540378443865, 0, "   \
    "-0.5]], friction: " friction "}]}"
#define G 9.81

static double energy_error(const carom_motion_answer *answer) {
    return carom_table_real_column(answer->result, CAROM_MOTION_ENERGY_ERROR)[0];
}

static bool ignored(const carom_motion_answer *answer) {
    return carom_table_integer_column(answer->result, carom_table_find(answer->result, "friction_ignored"))[0] != 0;
}

// Sliding is a parabola, which the steps give exactly; the stop falls into one of them.
static void a_sliding_point_stops(void **state) {
    (void)state;
    static const char scene[] = "{model: model.xml, state: {qvel: [2, 0]}, contacts: [" FLOOR("floor", "site: foot", "0.3") "]}";
    carom_motion_answer answer = run_model(POINT, scene, "propagative", (const char *[]){"step", "0.01", "duration", "0.5", NULL});
    assert_close(reals(answer.final, "qpos")[0], 2 * 0.5 - 0.5 * 0.3 * G * 0.25, 1e-13);
    assert_close(reals(answer.final, "qvel")[0], 2 - 0.3 * G * 0.5, 1e-13);
    assert_true(energy_error(&answer) <= 1e-14);
    assert_false(ignored(&answer));
    carom_motion_answer_free(&answer);
    const char *const steps[] = {"0.01", "0.001"};
    for (int i = 0; i < 2; i++) {
        const double h = i ? 0.001 : 0.01;
        answer = run_model(POINT, scene, "propagative", (const char *[]){"step", steps[i], "duration", "2", NULL});
        // At most the path of the last step is missing, and its energy.
        assert_true(fabs(reals(answer.final, "qpos")[0] - 4 / (2 * 0.3 * G)) <= 0.3 * G * h * h);
        assert_true(energy_error(&answer) <= 0.5 * 0.3 * 0.3 * G * G * h * h);
        assert_close(reals(answer.final, "qvel")[0], 0, 1e-15);
        assert_close(reals(answer.final, "qpos")[1], 0, 1e-15);
        carom_motion_answer_free(&answer);
    }
}

// Below tan 30 = 0.577 a point slides, above it sticks, to the last bit of its place.
static void a_point_on_a_slope_slides_or_sticks(void **state) {
    (void)state;
    carom_motion_answer answer =
        run_model(POINT, SLOPE("site: foot", "0.4"), "propagative", (const char *[]){"step", "0.01", "duration", "1", NULL});
    const double down = 0.5 * G * (0.5 - 0.4 * cos((3.14159265358979324 / 6)));
    assert_close(reals(answer.final, "qpos")[0], down * cos((3.14159265358979324 / 6)), 1e-12);
    assert_close(reals(answer.final, "qpos")[1], -down * sin((3.14159265358979324 / 6)), 1e-12);
    carom_motion_answer_free(&answer);
    answer = run_model(POINT, SLOPE("site: foot", "0.6"), "propagative", (const char *[]){"step", "0.01", "duration", "10", NULL});
    for (int k = 0; k < 2; k++) {
        assert_close(reals(answer.final, "qpos")[k], 0, 1e-14);
        assert_close(reals(answer.final, "qvel")[k], 0, 1e-14);
    }
    carom_motion_answer_free(&answer);
}

// A ball slides at 3 m/s until 2 v/(7 mu g), then rolls at 5/7 v; on a slope it rolls with 5/7 g sin 30 from the start.
static void balls_come_to_roll(void **state) {
    (void)state;
    const double v = 3, mu = 0.3, slips = 2 * v / (7 * mu * G), far = 12 * v * v / (49 * mu * G);
    double error[2];
    for (int i = 0; i < 2; i++) {
        carom_motion_answer answer = run_model(
            BALL, "{model: model.xml, state: {qpos: [0, 0.2, 0], qvel: [3, 0, 0]}, contacts: [" FLOOR("floor", "geom: ball", "0.3") "]}",
            "propagative", (const char *[]){"step", i ? "0.001" : "0.01", "duration", "1", NULL});
        assert_close(reals(answer.final, "qvel")[0], 5 * v / 7, 1e-12);
        assert_close(reals(answer.final, "qvel")[2], -5 * v / 7 / 0.2, 1e-12);
        error[i] = fabs(reals(answer.final, "qpos")[0] - (far + 5 * v / 7 * (1 - slips)));
        carom_motion_answer_free(&answer);
    }
    assert_true(error[0] <= 1e-3 && error[1] <= 1e-5);
    carom_motion_answer answer =
        run_model(BALL, SLOPE("geom: ball", "1"), "propagative", (const char *[]){"step", "0.01", "duration", "0.8", NULL});
    const double down = 5. / 7 * G * 0.5 * 0.32;
    assert_close(reals(answer.final, "qpos")[0], down * cos((3.14159265358979324 / 6)), 1e-12);
    assert_close(reals(answer.final, "qpos")[2], -down / 0.2, 1e-12);
    carom_motion_answer_free(&answer);
}

// A block that slides on both corners, one of which may have no friction: the front corner carries more by mu z/b, so that friction is
// mu times its share. The same motion by `inclusion`.
static void a_block_slides_on_its_corners(void **state) {
    (void)state;
    static const char *const scenes[] = {"{model: model.xml, state: {qpos: [0, 1, 0], qvel: [1, 0, 0]}, contacts: [" FLOOR(
                                             "A", "site: a", "0.2") ", " FLOOR("B", "site: b", "0.2") "]}",
                                         "{model: model.xml, state: {qpos: [0, 1, 0], qvel: [1, 0, 0]}, contacts: [" FLOOR(
                                             "A", "site: a", "0.3") ", " FLOOR("B", "site: b", "0") "]}",
                                         "{model: model.xml, state: {qpos: [0, 1, 0], qvel: [1, 0, 0]}, contacts: [" FLOOR(
                                             "A", "site: a", "0") ", " FLOOR("B", "site: b", "0.3") "]}"};
    for (int i = 0; i < 3; i++) {
        carom_motion_answer ours = run_model(BLOCK, scenes[i], "propagative", (const char *[]){"step", "0.001", "duration", "2", NULL});
        carom_motion_answer other = run_model(BLOCK, scenes[i], "inclusion", (const char *[]){"duration", "2", NULL});
        assert_all_close(reals(ours.final, "qpos"), reals(other.final, "qpos"), 3, 2e-6);
        assert_all_close(reals(ours.final, "qvel"), reals(other.final, "qvel"), 3, 1e-12);
        assert_true(energy_error(&ours) <= 1e-5);
        carom_motion_answer_free(&ours);
        carom_motion_answer_free(&other);
    }
}

// A block on three points of its edge, one more than it needs: they share its weight, and it stays, slides or falls over as one.
static void dependent_contacts_share_their_load(void **state) {
    (void)state;
    static const char table[] = BODY(TURN "<geom type='box' size='0.5 0.25 1' mass='1'/><site name='a' pos='-0.5 0 -1'/>"
                                          "<site name='b' pos='0.5 0 -1'/><site name='c' pos='0.2 0 -1'/>");
    static const char scene[] = "{model: model.xml, state: {qpos: [0, 1, 0], qvel: [1, 0, 0]}, contacts: [" FLOOR(
        "A", "site: a", "0.2") ", " FLOOR("B", "site: b", "0.2") ", " FLOOR("C", "site: c", "0.2") "]}";
    carom_motion_answer answer = run_model(table, scene, "propagative", (const char *[]){"step", "0.001", "duration", "2", NULL});
    assert_close(reals(answer.final, "qpos")[0], 1 / (2 * 0.2 * G), 1e-5);
    assert_close(reals(answer.final, "qpos")[1], 1, 1e-13);
    assert_close(reals(answer.final, "qpos")[2], 0, 1e-13);
    int held;
    carom_table_list(answer.final, carom_table_find(answer.final, "held"), 0, &held);
    assert_int_equal(held, 3);
    carom_motion_answer_free(&answer);
}

// A bounce has no friction, which the result says; after plastic impacts a point slides and stops.
static void impacts_leave_friction_out(void **state) {
    (void)state;
    static const char scene[] =
        "{model: model.xml, state: {qpos: [0, 0.5], qvel: [1, 0]}, contacts: [" FLOOR("floor", "site: foot", "0.5") "]}";
    carom_motion_answer answer = run_model(POINT, scene, "propagative", (const char *[]){"duration", "2", NULL});
    assert_true(ignored(&answer));
    assert_close(reals(answer.final, "qvel")[0], 1, 1e-15);
    carom_motion_answer_free(&answer);
    answer = run_model(POINT, scene, "propagative", (const char *[]){"step", "0.001", "duration", "2", "restitution", "0", NULL});
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    const double touch = sqrt(2 * 0.5 / G);
    assert_true(fabs(reals(answer.final, "qpos")[0] - (touch + 1 / (2 * 0.5 * G))) <= 1e-5);
    carom_motion_answer_free(&answer);
}

// The tailed biped falls on its tail and a foot, and then lies on them, on a knee and on its rear, with servos, springs and friction: no
// part of it passes through the floor, and its energy is what impacts, dampers, servos and friction left.
static void the_biped_stays_above_the_floor(void **state) {
    (void)state;
    carom_error error;
    carom_scene *scene;
    carom_table *states;
    carom_motion_answer answer;
    assert_ok(carom_scene_read_motion("scenes/tailed-biped.yaml", registry, &scene, &error), error);
    const carom_motion *motion = carom_scene_motion(scene);
    assert_int_equal(motion->system->contacts, 7);
    assert_ok(carom_motion_create_states(carom_integrator_find(registry, "propagative"), motion, &states, &error), error);
    const carom_sink sink = carom_table_sink(states);
    assert_ok(run_integrator("propagative", motion, (const char *[]){"step", "0.0005", "duration", "0.2", "restitution", "0", NULL}, NULL,
                             &sink, &answer, &error),
              error);
    assert_string_equal(verdict(&answer), "complete");
    const double *gap = reals(states, "gap");
    for (int64_t i = 0; i < 7 * carom_table_rows(states); i++) assert_true(gap[i] >= -1e-9);
    int held;
    carom_table_list(answer.final, carom_table_find(answer.final, "held"), 0, &held);
    assert_int_equal(held, 4);
    assert_true(energy_error(&answer) <= 1e-3);
    carom_motion_answer_free(&answer);
    carom_table_free(states);
    carom_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sliding_point_stops),
        cmocka_unit_test(a_point_on_a_slope_slides_or_sticks),
        cmocka_unit_test(balls_come_to_roll),
        cmocka_unit_test(a_block_slides_on_its_corners),
        cmocka_unit_test(the_biped_stays_above_the_floor),
        cmocka_unit_test(dependent_contacts_share_their_load),
        cmocka_unit_test(impacts_leave_friction_out),
    };
    return cmocka_run_group_tests_name("propagative friction", tests, start, stop);
}
