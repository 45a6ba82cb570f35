// SPDX-License-Identifier: Apache-2.0
// Runs of the integrator `lgvci`: every way in which one may end, what is refused, recorded states, and perturbed starts.
#include <math.h>
#include <string.h>

#include "carom/rotation.h"
#include "lgvci_support.h"

// ------------------------------------------------------------------------------------------------------------------ ends

static void hops_may_be_many_in_a_step(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion motion = lying(body, 1e-8);
    carom_motion_answer answer = run(&motion, (const char *[]){"duration", "0.01", NULL});
    assert_string_equal(verdict(&answer), "complete");
    // h / (2 sqrt(2 d / g)), the first hop being half of one
    assert_in_range(carom_table_rows(answer.impacts), 110, 112);
    assert_true(reals(answer.result, "max_relative_energy_error")[0] <= 1e-12);
    carom_motion_answer_free(&answer);
    answer = run(&motion, (const char *[]){"duration", "1", "max_impacts", "20", NULL});
    assert_string_equal(verdict(&answer), "zeno-limit");
    assert_int_equal(carom_table_rows(answer.impacts), 20);
    assert_true(reals(answer.result, "time")[0] > 0 && reals(answer.result, "time")[0] < 0.01);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

static void resting_bodies_end_the_flight(void **state) {
    (void)state;
    carom_body *bodies[] = {create_body(&cases[0].shape, 1, cases[0].inertia), create_body(&cases[3].shape, 1, cases[3].inertia)};
    for (int i = 0; i < 2; i++) {
        carom_body_motion motion = lying(bodies[i], 0);
        if (i) motion.initial.position[2] = Q;
        carom_motion_answer answer = run(&motion, NULL);
        assert_string_equal(verdict(&answer), "persistent-contact");
        assert_int_equal(carom_table_rows(answer.impacts), 0);
        assert_true(reals(answer.result, "time")[0] == 0);
        assert_false(carom_motion_answer_complete(&answer));
        carom_motion_answer_free(&answer);
        // hops that die out come to rest, after a geometric series of times
        motion.initial.position[2] += 1;
        answer = run(&motion, (const char *[]){"restitution", "0.5", NULL});
        assert_string_equal(verdict(&answer), "persistent-contact");
        assert_close(reals(answer.result, "time")[0], 3 * sqrt(2 / 9.80665), 1e-6);
        assert_close(reals(answer.impacts, "energy_change")[0], -0.75 * 9.80665, 1e-12);
        carom_motion_answer_free(&answer);
        carom_body_free(bodies[i]);
    }
}

// Impacts without restitution leave points whose gaps neither open nor close, while others come down within rounding of the same instant:
// the run ends in rest or goes on, and does not stand still until the limit of impacts.
static void plastic_impacts_do_not_stall(void **state) {
    (void)state;
    const int count = support_count(10, 200, 2000);
    int rested = 0;
    for (int i = 0; i < count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 25, (uint64_t)i);
        random_case drawn;
        draw_case(&stream, i % 4 ? 2 : 0, &drawn);
        carom_motion_answer answer =
            run(&drawn.motion, (const char *[]){"restitution", i % 2 ? "0" : "0.7", "duration", "20", "step", "0.05", NULL});
        const bool rests = !strcmp(verdict(&answer), "persistent-contact");
        if (!rests) assert_string_equal(verdict(&answer), "complete");
        rested += rests;
        assert_true(reals(answer.result, "max_relative_energy_error")[0] <= 1e-12);
        carom_motion_answer_free(&answer);
        carom_body_free(drawn.body);
    }
    assert_true(rested > count / 2);
}

// At the start the body touches: one that approaches bounces at once, one that leaves is let go, and so is one whose surface curves away.
static void starts_that_touch_are_understood(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    carom_body_motion motion = lying(body, 0);
    motion.initial.momentum[2] = -3;
    carom_motion_answer answer = run(&motion, (const char *[]){"duration", "0.3", NULL});
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    assert_true(reals(answer.impacts, "time")[0] == 0);
    assert_close(reals(answer.final, "momentum")[2], 3 - 0.3 * 9.80665, 1e-14);
    carom_motion_answer_free(&answer);

    motion.initial.momentum[2] = 3;
    answer = run(&motion, (const char *[]){"duration", "0.3", NULL});
    assert_int_equal(carom_table_rows(answer.impacts), 0);
    assert_string_equal(verdict(&answer), "complete");
    carom_motion_answer_free(&answer);

    // On its shorter axis and tipping so fast that its flank would turn into the plane: the gap's second derivative is
    // -g + (c^2 - b^2)/c Omega1^2 with the axis c up; negative, since c is the longest. On the shortest axis it is positive.
    const double low[] = {4, 3, 2};
    carom_body *flat = create_body(&(carom_shape_data){.ellipsoids = 1, .semiaxes = low}, 1, NULL);
    carom_body_motion grazing = {flat, 9.80665, {0, 0, 1}, 0, {{0, 0, 2}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}, {0}}};
    grazing.initial.angular_momentum[0] = 20;
    answer = run(&grazing, (const char *[]){"duration", "0.01", NULL});
    assert_int_not_equal(strcmp(verdict(&answer), "complete"), 0);
    carom_motion_answer_free(&answer);
    carom_body_free(flat);

    motion.initial.momentum[2] = 0;
    motion.initial.angular_momentum[0] = 20;  // Omega1 = 4: -9.8 + (16 - 9)/4 16 = 18.2 > 0: it lifts itself
    answer = run(&motion, (const char *[]){"duration", "0.02", NULL});
    assert_string_equal(verdict(&answer), "complete");
    assert_int_equal(carom_table_rows(answer.impacts), 0);
    assert_true(reals(answer.final, "gap")[0] > 1e-3);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

static void fast_spins_are_cut_into_substeps(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    carom_body_motion motion = motion_of(body, false);
    // h |Pi| is eight times the limit
    carom_motion_answer answer = run_for(&motion, "4", 3, 60);
    assert_string_equal(verdict(&answer), "complete");
    assert_true(reals(answer.result, "max_relative_energy_error")[0] <= 1e-12);
    assert_true(carom_table_rows(answer.impacts) > 10);
    carom_motion_answer_free(&answer);
    motion.initial.angular_momentum[0] = 1e9;
    answer = run_for(&motion, "4", 0.01, 1);
    assert_string_equal(verdict(&answer), "step-too-large");
    assert_int_equal(carom_table_integer_column(answer.result, CAROM_MOTION_STEPS)[0], 0);
    carom_motion_answer_free(&answer);
    // the discrete jump is for whole steps
    motion = motion_of(body, false);
    answer = run(&motion, (const char *[]){"order", "2", "jump", "discrete", "step", "1", NULL});
    assert_string_equal(verdict(&answer), "step-too-large");
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

static void nothing_happens_without_gravity(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    carom_body_motion motion = motion_of(body, true);
    motion.gravity = 0;
    carom_motion_answer answer = run(&motion, NULL);
    assert_string_equal(verdict(&answer), "complete");
    assert_int_equal(carom_table_rows(answer.impacts), 0);
    assert_close(reals(answer.final, "position")[2], 110, 1e-14);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

static void bad_motions_are_refused(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion good = motion_of(body, false);
    carom_body_motion low = good, turned = good, mirrored = good, wall = good, up = good, infinite = good, huge = good;
    const double wide[] = {1e200, 1e200, 1e200};
    carom_body *giant = create_body(&(carom_shape_data){.ellipsoids = 1, .semiaxes = wide}, 1, cases[0].inertia);
    huge.body = giant;
    low.initial.position[2] = 1;
    turned.initial.attitude[0] = 1 + 1e-7;
    mirrored.initial.attitude[8] = -1;
    wall.plane_normal[0] = 1;
    wall.plane_normal[2] = 0;
    up.gravity = -1;
    infinite.initial.momentum[1] = INFINITY;
    const struct {
        const carom_body_motion *motion;
        const char *option, *value, *message;
    } refused[] = {
        {&low, "order", "4", "penetrates the plane at the start: its gap is -3 m"},
        {&turned, "order", "4", "initial.attitude: "},
        {&mirrored, "order", "4", "initial.attitude: its determinant is negative"},
        {&wall, "order", "4", "plane.normal: "},
        {&up, "order", "4", "gravity: "},
        {&infinite, "order", "4", "initial.momentum: "},
        {&good, "jump", "discrete", "jump: the discrete energy is that of order 2"},
        {&good, "law", "guess", "law: there is no law 'guess'"},
        {&good, "friction", "0.3", "friction: without a law the plane is smooth"},
        {&good, "step", "1e-300", "step: "},
        {&good, "step", "1e9", "step: 1e+09 s are too long for 10 s"},
        {&huge, "order", "4", "initial: the distance from the plane is not finite"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        carom_motion_answer answer;
        carom_error error;
        const char *const pairs[] = {refused[i].option, refused[i].value, NULL};
        assert_refused(try_run(refused[i].motion, pairs, NULL, &answer, &error), CAROM_BAD_INPUT, error, refused[i].message);
        assert_null(answer.impacts);
    }
    carom_motion_answer answer;
    carom_error error;
    assert_refused(try_run(NULL, NULL, NULL, &answer, &error), CAROM_BAD_INPUT, error, "needs a scene with 'body'");
    carom_body_free(giant);
    carom_body_free(body);
}

// The length of the plane's normal is of no matter, even where its square is no number; numbers that overflow in flight end it.
static void extreme_numbers_end_the_flight(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia), *heavy = create_body(&cases[0].shape, 1e300, cases[0].inertia);
    carom_body_motion motion = motion_of(body, true), fallen = motion;
    carom_motion_answer plain = run_for(&motion, "4", 0.01, 3);
    static const double lengths[] = {1e-300, 1e-3, 1e300};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) motion.plane_normal[k] = lengths[i] * fallen.plane_normal[k];
        carom_motion_answer scaled = run_for(&motion, "4", 0.01, 3);
        assert_int_equal(carom_table_rows(scaled.impacts), carom_table_rows(plain.impacts));
        assert_close(reals(scaled.impacts, "normal_impulse")[0], reals(plain.impacts, "normal_impulse")[0], 1e-12);
        carom_motion_answer_free(&scaled);
    }
    fallen.body = heavy;
    carom_motion_answer overflow = run_for(&fallen, "4", 0.01, 3);
    assert_string_equal(verdict(&overflow), "no-convergence");
    assert_int_equal(carom_table_rows(overflow.impacts), 0);
    carom_motion_answer_free(&overflow);
    // So fast that the time of the impact cannot be told within the step: it once happened centimeters above the plane.
    fallen.body = body;
    fallen.gravity = 1e34;
    overflow = run_for(&fallen, "4", 0.01, 3);
    assert_string_equal(verdict(&overflow), "no-convergence");
    assert_int_equal(carom_table_rows(overflow.impacts), 0);
    carom_motion_answer_free(&plain);
    carom_motion_answer_free(&overflow);
    carom_body_free(body);
    carom_body_free(heavy);
}

// ---------------------------------------------------------------------------------------------------------------- states

static void states_come_on_the_grid(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion motion = motion_of(body, false);
    const carom_integrator *one = carom_integrator_find(registry, "lgvci");
    const carom_sizes none = {0};
    carom_table *states;
    carom_error error;
    assert_ok(carom_table_create(one->state_columns, one->state_column_count, NULL, 0, &none, &states, &error), error);
    const carom_sink sink = carom_table_sink(states);
    carom_motion_answer answer;
    assert_ok(try_run(&motion, (const char *[]){"duration", "50", "every", "2", NULL}, &sink, &answer, &error), error);
    assert_int_equal(carom_table_rows(states), 2501);
    for (int64_t i = 0; i < 2501; i++) {
        assert_true(reals(states, "time")[i] == (double)(2 * i) * 0.01);
        assert_true(reals(states, "gap")[i] >= -1e-13);
        const double *q = reals(states, "quaternion") + 4 * i, *R = reals(states, "attitude") + 9 * i;
        assert_close(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-12);
        assert_close(1 - 2 * (q[2] * q[2] + q[3] * q[3]), R[0], 1e-12);
        assert_close(2 * (q[1] * q[2] + q[0] * q[3]), R[3], 1e-12);
        assert_close(2 * (q[1] * q[3] - q[0] * q[2]), R[6], 1e-12);
    }
    carom_table_free(states);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

static void perturbations_are_keyed(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion start_motion = motion_of(body, false);
    const carom_motion motion = {.form = CAROM_MOTION_BODY, .body = &start_motion};
    carom_motion_room rooms[3];
    carom_motion perturbed[3];
    carom_error error;
    const carom_perturbed what[] = {CAROM_PERTURB_BOTH, CAROM_PERTURB_POSITION, CAROM_PERTURB_ATTITUDE};
    for (int i = 0; i < 3; i++) assert_ok(carom_motion_perturb(&motion, what[i], 1e-3, 5, 7, &rooms[i], &perturbed[i], &error), error);
    const carom_body_state *both = &perturbed[0].body->initial;
    assert_memory_equal(both->position, perturbed[1].body->initial.position, sizeof both->position);
    assert_memory_equal(both->attitude, perturbed[2].body->initial.attitude, sizeof both->attitude);
    assert_memory_equal(start_motion.initial.position, perturbed[2].body->initial.position, sizeof both->position);
    assert_true(fabs(both->position[0]) > 1e-6 && fabs(both->position[0]) < 1e-2);
    assert_true(carom_rotation_defect(both->attitude) < 1e-14);
    const carom_motion nothing = {0};
    assert_refused(carom_motion_perturb(&nothing, CAROM_PERTURB_BOTH, 1, 0, 0, &rooms[0], &perturbed[0], &error), CAROM_UNSUPPORTED, error,
                   "'body'");
    carom_body_free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hops_may_be_many_in_a_step),       cmocka_unit_test(resting_bodies_end_the_flight),
        cmocka_unit_test(plastic_impacts_do_not_stall),     cmocka_unit_test(starts_that_touch_are_understood),
        cmocka_unit_test(fast_spins_are_cut_into_substeps), cmocka_unit_test(nothing_happens_without_gravity),
        cmocka_unit_test(bad_motions_are_refused),          cmocka_unit_test(extreme_numbers_end_the_flight),
        cmocka_unit_test(states_come_on_the_grid),          cmocka_unit_test(perturbations_are_keyed),
    };
    return cmocka_run_group_tests_name("lgvci runs", tests, start, stop);
}
