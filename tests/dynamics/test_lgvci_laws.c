// SPDX-License-Identifier: Apache-2.0
// The integrator `lgvci` with impact laws: reflection, friction, random numbers, closed forms, and energy.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lgvci_support.h"

// Moreau's law of one frictionless contact with restitution 1 is the reflection.
static void a_law_may_decide_the_impacts(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[2].shape, 1, cases[2].inertia);
    const carom_body_motion motion = motion_of(body, true);
    carom_motion_answer plain = run_for(&motion, "4", 0.01, 6);
    carom_motion_answer law = run(&motion, (const char *[]){"law", "moreau", "restitution", "1", "duration", "6", NULL});
    assert_int_equal(carom_table_rows(law.impacts), carom_table_rows(plain.impacts));
    for (int64_t i = 0; i < carom_table_rows(plain.impacts); i++)
        assert_close(reals(law.impacts, "time")[i], reals(plain.impacts, "time")[i], 1e-10);
    carom_motion_answer_free(&plain);
    carom_motion_answer_free(&law);
    carom_body_free(body);
}

// A box that turns about an edge lands on it: both corners are equally fast, and a law of one contact takes the first of them, in whatever
// frame the box is described.
static void equally_fast_corners_are_taken_in_order(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 41, 0);
    const double c = cos(0.3), s = sin(0.3), tilt[] = {c, 0, s, 0, 1, 0, -s, 0, c}, spin[] = {0, 0.9, 0};
    for (int k = 0; k < 40; k++) {
        // The box and its motion, in a random frame of the body.
        double S[9], vertex[24], rho[3];
        random_rotation(&stream, S);
        for (int i = 0; i < 8; i++) carom_multiply3(S, BOX + 3 * i, vertex + 3 * i);
        const carom_shape_data shape = {.vertices = 8, .vertex = vertex, .rounding = 1e-13};
        carom_body *body = create_body(&shape, 1, BOX_INERTIA);
        carom_body_motion motion = motion_of(body, false);
        motion.initial = (carom_body_state){.position = {0, 0, 3}, .momentum = {0.1, -0.7, -4}};
        carom_multiply3(S, spin, motion.initial.angular_momentum);
        for (int i = 0; i < 3; i++) carom_multiply3(S, tilt + 3 * i, motion.initial.attitude + 3 * i);
        carom_motion_answer answer = run(&motion, (const char *[]){"law", "stronge", "restitution", "0.5", "duration", "0.3", NULL});
        assert_true(carom_table_rows(answer.impacts) >= 1);
        carom_multiply3_transposed(S, reals(answer.impacts, "contact_point"), rho);
        assert_close(rho[1], -Q, 1e-9);
        carom_motion_answer_free(&answer);
        carom_body_free(body);
    }
}

static double speed_of_point(const carom_body_motion *motion, const carom_motion_answer *answer, int64_t row, double tangent[3]) {
    const double *rho = reals(answer->impacts, "contact_point") + 3 * row, *R = reals(answer->impacts, "attitude") + 9 * row;
    double inverse[9], Omega[3], turned[3], velocity[3];
    carom_invert3(carom_body_inertia(motion->body), inverse);
    carom_multiply3(inverse, reals(answer->impacts, "angular_momentum_after") + 3 * row, Omega);
    carom_cross3(Omega, rho, turned);
    carom_multiply3(R, turned, velocity);
    carom_add3(1 / carom_body_mass(motion->body), reals(answer->impacts, "momentum_after") + 3 * row, velocity);
    const double normal = carom_dot3(velocity, motion->plane_normal);
    for (int i = 0; i < 3; i++) tangent[i] = velocity[i] - normal * motion->plane_normal[i];
    return normal;
}

// With much friction the point that hits sticks, and Newton's law sends it off at e times its speed of approach.
static void friction_makes_points_stick(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion motion = motion_of(body, true);
    carom_motion_answer answer =
        run(&motion, (const char *[]){"law", "moreau", "restitution", "0.6", "friction", "50", "duration", "3", NULL});
    assert_true(carom_table_rows(answer.impacts) >= 1);
    double tangent[3];
    assert_true(speed_of_point(&motion, &answer, 0, tangent) > 1);
    assert_true(carom_norm3(tangent) < 1e-9);
    assert_true(reals(answer.impacts, "energy_change")[0] < -1);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

// Routh's law uses random numbers: the same seed gives the same run, another seed another one; impacts lose energy.
static void routh_draws_by_its_seed(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    carom_body_motion motion = motion_of(body, true);
    motion.initial.momentum[0] = 5;
    carom_motion_answer runs[3];
    static const char *const seeds[] = {"1", "1", "2"};
    for (int i = 0; i < 3; i++)
        runs[i] = run(&motion, (const char *[]){"law", "routh", "friction", "0.3", "seed", seeds[i], "duration", "3", NULL});
    const double *first = reals(runs[0].impacts, "momentum_after"), *again = reals(runs[1].impacts, "momentum_after");
    assert_memory_equal(first, again, 3 * sizeof *first);
    assert_true(fabs(reals(runs[2].impacts, "momentum_after")[0] - first[0]) > 1e-12);
    assert_true(reals(runs[0].impacts, "energy_change")[0] < 0);
    for (int i = 0; i < 3; i++) carom_motion_answer_free(&runs[i]);
    carom_body_free(body);
}

// With restitution 1 and no friction, the law `stronge` is the reflection, impulse for impulse.
static void energetic_restitution_without_loss_reflects(void **state) {
    (void)state;
    for (int i = 0; i < support_count(6, 60, 600); i++) {
        carom_stream stream;
        carom_stream_start(&stream, 22, (uint64_t)i);
        random_case drawn;
        draw_case(&stream, i % 3, &drawn);
        carom_motion_answer plain = run_for(&drawn.motion, "4", 0.01, 3);
        carom_motion_answer law = run(&drawn.motion, (const char *[]){"law", "stronge", "restitution", "1", "duration", "3", NULL});
        assert_true(carom_table_rows(plain.impacts) >= 1 && carom_table_rows(law.impacts) >= 1);
        assert_true(reals(law.impacts, "time")[0] == reals(plain.impacts, "time")[0]);
        assert_close(reals(law.impacts, "normal_impulse")[0], reals(plain.impacts, "normal_impulse")[0], 1e-13);
        for (int k = 0; k < 3; k++) {
            const double size =
                carom_norm3(reals(plain.impacts, "angular_momentum_after")) + carom_norm3(reals(plain.impacts, "momentum_after"));
            assert_true(fabs(reals(law.impacts, "momentum_after")[k] - reals(plain.impacts, "momentum_after")[k]) <= 1e-13 * size);
            assert_true(fabs(reals(law.impacts, "angular_momentum_after")[k] - reals(plain.impacts, "angular_momentum_after")[k]) <=
                        1e-13 * size);
        }
        assert_true(reals(law.result, "max_relative_energy_error")[0] <= 1e-11);
        carom_motion_answer_free(&plain);
        carom_motion_answer_free(&law);
        carom_body_free(drawn.body);
    }
}

// A ball with spin: impulse (1 + e) m vz along the normal, against the slip the smaller of mu times that and 2/7 m |slip|, which stops it.
static void rough_balls_slide_or_roll(void **state) {
    (void)state;
    const double radius = 0.5, mass = 2, moment = 0.4 * mass * radius * radius, e = 0.7, v[] = {1.5, -0.5, -2}, spin[] = {4, 3, -2};
    const double semiaxes[] = {radius, radius, radius}, inertia[] = {moment, 0, 0, 0, moment, 0, 0, 0, moment};
    carom_body *body = create_body(&(carom_shape_data){.ellipsoids = 1, .semiaxes = semiaxes}, mass, inertia);
    carom_body_motion motion = motion_of(body, false);
    motion.initial = (carom_body_state){.position = {0, 0, radius}};
    memcpy(motion.initial.attitude, CAROM_IDENTITY3, sizeof CAROM_IDENTITY3);
    for (int i = 0; i < 3; i++) {
        motion.initial.momentum[i] = mass * v[i];
        motion.initial.angular_momentum[i] = moment * spin[i];
    }
    const double slip[] = {v[0] - radius * spin[1], v[1] + radius * spin[0]}, speed = hypot(slip[0], slip[1]);
    const double normal = (1 + e) * mass * -v[2], stopping = 2.0 / 7 * mass * speed;
    static const char *const frictions[] = {"0", "0.05", "0.1", "0.2", "5"};
    int rolling = 0;
    for (size_t i = 0; i < sizeof frictions / sizeof *frictions; i++) {
        carom_motion_answer answer =
            run(&motion, (const char *[]){"law", "stronge", "restitution", "0.7", "friction", frictions[i], "duration", "0", NULL});
        assert_int_equal(carom_table_rows(answer.impacts), 1);
        const double tangential = fmin(atof(frictions[i]) * normal, stopping);
        rolling += tangential == stopping;
        const double *after = reals(answer.impacts, "momentum_after"), *turning = reals(answer.impacts, "angular_momentum_after");
        const double I[] = {-tangential * slip[0] / speed, -tangential * slip[1] / speed};
        for (int k = 0; k < 2; k++) assert_close(after[k], mass * v[k] + I[k], 1e-13);
        assert_close(after[2], -e * mass * v[2], 1e-13);
        assert_close(turning[0], moment * spin[0] + radius * I[1], 1e-13);
        assert_close(turning[1], moment * spin[1] - radius * I[0], 1e-13);
        assert_close(turning[2], moment * spin[2], 1e-13);
        carom_motion_answer_free(&answer);
    }
    assert_int_equal(rolling, 2);
    carom_body_free(body);
}

// A body on one corner, moving in a plane: W of the corner, and Routh's two courses in closed form, with energetic restitution.
static void rough_corners_slide_or_stick(void **state) {
    (void)state;
    static const double octahedron[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1.5, 0, 0, -1.5};
    const double mass = 1.2, moment = 0.6, inertia[] = {0.5, 0, 0, 0, moment, 0, 0, 0, 0.7}, tilt = 0.3, e = 0.6;
    const double x = -1.5 * sin(tilt), z = -1.5 * cos(tilt);
    const double tt = 1 / mass + z * z / moment, nn = 1 / mass + x * x / moment, tn = -x * z / moment;
    carom_body *body = create_body(&(carom_shape_data){.vertices = 6, .vertex = octahedron}, mass, inertia);
    carom_body_motion motion = motion_of(body, false);
    const struct {
        double slip, friction;
        const char *text;
    } courses[] = {{3, 0.1, "0.1"}, {-3, 0.1, "0.1"}, {0.5, 1, "1"}, {-0.3, 1, "1"}};
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        const double slip = courses[i].slip, mu = courses[i].friction, sign = slip > 0 ? 1 : -1, spin = 0.8, v0 = -1;
        motion.initial = (carom_body_state){{0, 0, -z},
                                            {cos(tilt), 0, sin(tilt), 0, 1, 0, -sin(tilt), 0, cos(tilt)},
                                            {mass * (slip - spin * z), 0, mass * (v0 + spin * x)},
                                            {0, moment * spin, 0}};
        carom_motion_answer answer =
            run(&motion, (const char *[]){"law", "stronge", "restitution", "0.6", "friction", courses[i].text, "duration", "0", NULL});
        assert_int_equal(carom_table_rows(answer.impacts), 1);
        double tangent[3];
        const double opening = speed_of_point(&motion, &answer, 0, tangent);
        const double rate = nn - mu * sign * tn, slip_rate = tn - mu * sign * tt, stop = -slip / slip_rate;
        if (mu < 1) {
            // slides to the end: the normal velocity grows at one rate, and all laws of restitution agree
            const double impulse = (1 + e) / rate;
            assert_true(sign * (slip + slip_rate * impulse) > 0);
            assert_close(opening, e, 1e-12);
            assert_close(reals(answer.impacts, "normal_impulse")[0], impulse, 1e-12);
            assert_close(reals(answer.impacts, "momentum_after")[0], motion.initial.momentum[0] - mu * sign * impulse, 1e-12);
        } else {
            // slip stops while the bodies approach, and friction holds the corner to the end
            const double held = nn - tn * tn / tt, then = v0 + rate * stop;
            assert_true(then < 0 && fabs(tn) <= mu * tt);
            const double compression = -(v0 + 0.5 * rate * stop) * stop + then * then / (2 * held);
            assert_close(opening, e * sqrt(2 * held * compression), 1e-12);
            assert_true(carom_norm3(tangent) <= 1e-12);
        }
        carom_motion_answer_free(&answer);
    }
    carom_body_free(body);
}

// No law below gives energy to a body, whatever its shape, over all its impacts; contacts that come to rest end the run.
static void laws_never_add_energy(void **state) {
    (void)state;
    static const char *const laws[][2] = {{"stronge", "0.9"}, {"stronge", "0.4"}, {"stronge", "0"}, {"stronge", "1"}, {"routh", "0"}};
    static const char *const frictions[] = {"0.1", "0.5", "2"};
    for (int i = 0; i < support_count(15, 150, 3000); i++) {
        carom_stream stream;
        carom_stream_start(&stream, 23, (uint64_t)i);
        random_case drawn;
        draw_case(&stream, i % 3, &drawn);
        const char *const *law = laws[i % 5];
        carom_motion_answer answer = run(
            &drawn.motion, (const char *[]){"law", law[0], "restitution", law[1], "friction", frictions[i / 5 % 3], "duration", "6", NULL});
        assert_true(carom_motion_answer_complete(&answer) || !strcmp(verdict(&answer), "persistent-contact"));
        assert_true(carom_table_rows(answer.impacts) >= 1);
        for (int64_t row = 0; row < carom_table_rows(answer.impacts); row++)
            assert_true(reals(answer.impacts, "energy_change")[row] <= 1e-12 * reals(answer.result, "initial_energy")[0]);
        assert_true(reals(answer.result, "max_relative_energy_error")[0] <= 1e-11);
        carom_motion_answer_free(&answer);
        carom_body_free(drawn.body);
    }
}

// A law of one contact goes from corner to corner of a box that lands flat, the fastest first, in one instant, until none approaches.
static void corners_collide_one_after_the_other(void **state) {
    (void)state;
    carom_body *body = create_body(&(carom_shape_data){.vertices = 8, .vertex = BOX}, 1, BOX_INERTIA);
    carom_body_motion motion = motion_of(body, false);
    motion.initial = lying(body, 0).initial;
    motion.initial.position[2] = Q + 1;
    static const char *const restitutions[] = {"0", "0.5", "1"}, *const frictions[] = {"0", "0.3", "0.3"};
    for (int i = 0; i < 3; i++) {
        carom_motion_answer answer = run(
            &motion, (const char *[]){"law", "stronge", "restitution", restitutions[i], "friction", frictions[i], "duration", "0.6", NULL});
        const double *times = reals(answer.impacts, "time");
        const int64_t rows = carom_table_rows(answer.impacts),
                      *touching = carom_table_integer_column(answer.impacts, carom_table_find(answer.impacts, "touching"));
        int64_t together = 0;
        while (together < rows && times[together] == times[0]) assert_int_equal(touching[together++], 4);
        assert_true(together >= 2);
        for (int64_t row = 0; row < rows; row++) assert_true(reals(answer.impacts, "energy_change")[row] <= 1e-13);
        // without restitution and friction it stays, and nothing is left but its height
        const double *final = reals(answer.final, "energy");
        assert_string_equal(verdict(&answer), i ? "complete" : "persistent-contact");
        if (!i) assert_close(*final, 9.80665 * Q, 1e-9);
        carom_motion_answer_free(&answer);
    }
    carom_body_free(body);
}

static carom_status set_newton(void *user, const carom_law *law, void *options, carom_error *error) {
    const int row = carom_option_find(law->options, law->option_count, "hypothesis");
    assert_true(row >= 0);
    ++*(int *)user;
    return carom_option_set(&law->options[row], options, "newton", error);
}

// The law and its options are the scene's where the integrator's own say `auto`.
static void the_scene_names_the_law(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion tilted = motion_of(body, true);
    int asked = 0;
    const carom_law_settings settings = {&asked, set_newton, "stronge"};
    const carom_integrator *one = carom_integrator_find(registry, "lgvci");
    lgvci_options options;
    assert_int_equal(one->options_size, sizeof options);
    one->defaults(&options);
    options.restitution = 0.5;
    options.friction = 0.4;
    options.duration = 3;
    const carom_motion motion = {.form = CAROM_MOTION_BODY, .body = &tilted};
    carom_motion_answer answer;
    carom_error error;
    assert_ok(carom_integrator_run(&(carom_motion_request){one, &motion, &options, registry, &settings, NULL, NULL}, NULL, &answer, &error),
              error);
    assert_int_equal(asked, 1);
    // Newton's hypothesis on a point that slides: it leaves at e times its speed of approach, from this impact's own state
    carom_motion_answer energetic =
        run(&tilted, (const char *[]){"law", "stronge", "restitution", "0.5", "friction", "0.4", "duration", "3", NULL});
    double tangent[3];
    carom_motion_answer reflected = run_for(&tilted, "4", 0.01, 3);
    assert_close(speed_of_point(&tilted, &answer, 0, tangent), 0.5 * speed_of_point(&tilted, &reflected, 0, tangent), 1e-11);
    assert_true(fabs(speed_of_point(&tilted, &energetic, 0, tangent) / speed_of_point(&tilted, &answer, 0, tangent) - 1) > 1e-3);
    carom_motion_answer_free(&answer);
    carom_motion_answer_free(&energetic);
    carom_motion_answer_free(&reflected);
    carom_body_free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_law_may_decide_the_impacts),
        cmocka_unit_test(equally_fast_corners_are_taken_in_order),
        cmocka_unit_test(friction_makes_points_stick),
        cmocka_unit_test(routh_draws_by_its_seed),
        cmocka_unit_test(energetic_restitution_without_loss_reflects),
        cmocka_unit_test(rough_balls_slide_or_roll),
        cmocka_unit_test(rough_corners_slide_or_stick),
        cmocka_unit_test(laws_never_add_energy),
        cmocka_unit_test(corners_collide_one_after_the_other),
        cmocka_unit_test(the_scene_names_the_law),
    };
    return cmocka_run_group_tests_name("lgvci laws", tests, start, stop);
}
