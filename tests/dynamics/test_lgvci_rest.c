// SPDX-License-Identifier: Apache-2.0
// Runs that go on after their first rest: sliding, rolling and sticking against closed forms, energy that never rises, bodies that leave.
#include <math.h>
#include <string.h>

#include "lgvci_support.h"

static const double g = 9.80665;

// A body at rest on a plane that is tilted by `angle` about the second axis, pushed along it.
static carom_body_motion sliding(const carom_body *body, double height, double angle, double speed) {
    const double c = cos(angle), s = sin(angle);
    carom_body_motion motion = {body, g, {s, 0, c}, 0, {{s * height, 0, c * height}, {c, 0, s, 0, 1, 0, -s, 0, c}, {0}, {0}}};
    motion.initial.momentum[0] = c * speed * carom_body_mass(body);
    motion.initial.momentum[2] = -s * speed * carom_body_mass(body);
    return motion;
}

static double speed_along(const carom_motion_answer *answer, double angle, double mass) {
    const double *p = reals(answer->final, "momentum");
    return (cos(angle) * p[0] - sin(angle) * p[2]) / mass;
}

// A box slides for v/(mu g) and v^2/(2 mu g), and lies still. The stop is found to a step, and the way to the speed lost in one.
static void boxes_slide_and_stop(void **state) {
    (void)state;
    const double box[] = {-1, -0.5, -0.5, 1, -0.5, -0.5, -1, 0.5, -0.5, 1, 0.5, -0.5,
                          -1, -0.5, 0.5,  1, -0.5, 0.5,  -1, 0.5, 0.5,  1, 0.5, 0.5};
    carom_body *body = create_body(&(carom_shape_data){.vertices = 8, .vertex = box}, 2, NULL);
    const carom_body_motion motion = sliding(body, 0.5, 0, 3);
    double errors[2];
    for (int fine = 0; fine < 2; fine++) {
        const double step = fine ? 0.005 : 0.01;
        carom_motion_answer answer = run(&motion, (const char *[]){"law", "stronge", "friction", "0.5", "rest", "go-on", "step",
                                                                   fine ? "0.005" : "0.01", "duration", "2", NULL});
        assert_string_equal(verdict(&answer), "complete");
        assert_true(reals(answer.result, "rest_time")[0] == 0);
        assert_true(fabs(reals(answer.result, "still_time")[0] - 3 / (0.5 * g)) <= 3 * step);
        errors[fine] = fabs(reals(answer.final, "position")[0] - 9 / g);
        assert_true(errors[fine] <= 3 * step);
        assert_true(fabs(reals(answer.final, "position")[2] - 0.5) <= 1e-12);
        assert_true(fabs(reals(answer.final, "energy")[0] - 2 * g * 0.5) <= 1e-12);
        carom_motion_answer_free(&answer);
    }
    assert_true(errors[1] < 0.6 * errors[0]);
    carom_body_free(body);
}

// On a slope of 20 degrees a box stays where friction exceeds the tangent, to rounding, and otherwise gains g (sin - mu cos) t.
static void boxes_stick_and_slip_on_slopes(void **state) {
    (void)state;
    const double angle = 20 * 0.017453292519943295;
    carom_body *body = create_body(&cases[3].shape, 1, cases[3].inertia);
    const carom_body_motion motion = sliding(body, Q, angle, 0);
    carom_motion_answer answer =
        run(&motion, (const char *[]){"law", "stronge", "friction", "0.4", "rest", "go-on", "duration", "2", NULL});
    assert_string_equal(verdict(&answer), "complete");
    for (int k = 0; k < 3; k++) assert_true(fabs(reals(answer.final, "position")[k] - motion.initial.position[k]) <= 1e-10);
    carom_motion_answer_free(&answer);
    answer = run(&motion, (const char *[]){"law", "stronge", "friction", "0.2", "rest", "go-on", "duration", "2", NULL});
    assert_close(speed_along(&answer, angle, 1), 2 * g * (sin(angle) - 0.2 * cos(angle)), 1e-9);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

// A ball that is thrown along the plane slides until it rolls, at 5/7 of its speed, and goes on so. Down a slope it rolls with 5/7 g sin.
static void balls_slide_then_roll(void **state) {
    (void)state;
    const double ball[] = {0.3, 0.3, 0.3}, angle = 0.1;
    carom_body *body = create_body(&(carom_shape_data){.ellipsoids = 1, .semiaxes = ball}, 1.5, NULL);
    carom_body_motion motion = sliding(body, 0.3, 0, 2);
    carom_motion_answer answer =
        run(&motion, (const char *[]){"law", "stronge", "friction", "0.25", "rest", "go-on", "duration", "3", NULL});
    assert_close(speed_along(&answer, 0, 1.5), 10.0 / 7, 1e-9);
    assert_close(carom_norm3(reals(answer.final, "angular_momentum")), 0.4 * 1.5 * 0.3 * 10 / 7, 1e-9);
    assert_true(isnan(reals(answer.result, "still_time")[0]));
    carom_motion_answer_free(&answer);
    motion = sliding(body, 0.3, angle, 0);
    answer = run(&motion, (const char *[]){"law", "stronge", "friction", "0.25", "rest", "go-on", "duration", "1", NULL});
    assert_close(speed_along(&answer, angle, 1.5), 5.0 / 7 * g * sin(angle), 1e-9);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

// Random bodies bounce, come to rest and go on to the end of the time. From the first rest on no recorded energy is above the one before.
// The body stays above the plane, but for the step in which a further point comes down: by less than that moves in it, at some 5 m/s.
static void energy_falls_and_nothing_sinks(void **state) {
    (void)state;
    const int count = support_count(12, 100, 1000);
    int rested = 0, still = 0;
    int64_t sunk = 0, all = 0;
    for (int i = 0; i < count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 31, (uint64_t)i);
        random_case drawn;
        draw_case(&stream, i % 3, &drawn);
        carom_table *states;
        carom_motion_answer answer;
        carom_error error;
        const carom_motion whole = {.form = CAROM_MOTION_BODY, .body = &drawn.motion};
        assert_ok(carom_motion_create_states(carom_integrator_find(registry, "lgvci"), &whole, &states, &error), error);
        const carom_sink sink = carom_table_sink(states);
        const char *const pairs[] = {"law",         "stronge", "friction", (const char *[]){"0.1", "0.4", "1"}[i / 3 % 3],
                                     "restitution", "0.4",     "rest",     "go-on",
                                     "duration",    "12",      NULL};
        assert_ok(try_run(&drawn.motion, pairs, &sink, &answer, &error), error);
        assert_string_equal(verdict(&answer), "complete");
        const double begun = reals(answer.result, "rest_time")[0], *time = reals(states, "time"), *energy = reals(states, "energy");
        const double *gap = reals(states, "gap"), radius = carom_body_radius(drawn.body);
        for (int64_t row = 1; row < carom_table_rows(states); row++) {
            if (!(time[row - 1] >= begun)) continue;
            assert_true(energy[row] <= energy[row - 1] + 1e-12 * fabs(energy[0]));
            assert_true(gap[row] >= -5e-2 * radius);
            sunk += gap[row] < -1e-9 * radius;
            all++;
        }
        rested += !isnan(begun);
        still += !isnan(reals(answer.result, "still_time")[0]);
        carom_motion_answer_free(&answer);
        carom_table_free(states);
        carom_body_free(drawn.body);
    }
    assert_true(rested >= count / 2 && still >= 1);
    assert_true(sunk <= all / 50);
}

// Without loss there is no rest to go on from; a plain run still ends where a point stays.
static void rest_is_asked_for(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[3].shape, 1, cases[3].inertia);
    const carom_body_motion motion = sliding(body, Q, 0, 0);
    carom_motion_answer answer = run(&motion, (const char *[]){"rest", "go-on", NULL});
    assert_string_equal(verdict(&answer), "persistent-contact");
    assert_true(isnan(reals(answer.result, "rest_time")[0]));
    carom_motion_answer_free(&answer);
    answer = run(&motion, (const char *[]){"restitution", "0.5", NULL});
    assert_string_equal(verdict(&answer), "persistent-contact");
    carom_motion_answer_free(&answer);
    // Without friction it slides on for ever, and turns about the vertical.
    carom_body_motion pushed = sliding(body, Q, 0, 1);
    pushed.initial.angular_momentum[2] = 0.7;
    answer = run(&pushed, (const char *[]){"restitution", "0.5", "rest", "go-on", "duration", "2", NULL});
    assert_string_equal(verdict(&answer), "complete");
    assert_close(reals(answer.final, "position")[0], 2, 1e-9);
    assert_close(reals(answer.final, "angular_momentum")[2], 0.7, 1e-9);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_slide_and_stop),  cmocka_unit_test(boxes_stick_and_slip_on_slopes),
        cmocka_unit_test(balls_slide_then_roll), cmocka_unit_test(energy_falls_and_nothing_sinks),
        cmocka_unit_test(rest_is_asked_for),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
