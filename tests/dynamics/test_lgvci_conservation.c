// SPDX-License-Identifier: Apache-2.0
// The integrator `lgvci`: what is conserved, motions run backwards and seen from other frames, single steps, and symplecticity.
#include <math.h>
#include <string.h>

#include "carom/rotation.h"
#include "lgvci_support.h"

// ---------------------------------------------------------------------------------------------------------- conservation

static double spin_about(const double normal[3], const double attitude[9], const double angular[3]) {
    double inertial[3];
    carom_multiply3(attitude, angular, inertial);
    return carom_dot3(normal, inertial);
}

// momentum.t + m g t3 time for a direction t in the plane: constant in flight, and through impacts without friction.
static double along_plane(const double t[3], const double momentum[3], double weight, double time) {
    return carom_dot3(t, momentum) + weight * t[2] * time;
}

static void check_impacts(const carom_body_motion *motion, const carom_motion_answer *answer, double radius, double tolerance) {
    const double *n = motion->plane_normal, side[] = {0, 1, 0}, weight = carom_body_mass(motion->body) * motion->gravity;
    double along[3], across[3];
    carom_cross3(side, n, along);
    carom_cross3(n, along, across);
    const carom_body_state *first = &motion->initial;
    const double spin = spin_about(n, first->attitude, first->angular_momentum), *time = reals(answer->impacts, "time");
    for (int64_t i = 0; i < carom_table_rows(answer->impacts); i++) {
        const double *R = reals(answer->impacts, "attitude") + 9 * i;
        assert_close(spin_about(n, R, reals(answer->impacts, "angular_momentum_after") + 3 * i), spin, tolerance);
        for (int k = 0; k < 2; k++) {
            const double *t = k ? across : along;
            assert_close(along_plane(t, reals(answer->impacts, "momentum_after") + 3 * i, weight, time[i]), carom_dot3(t, first->momentum),
                         tolerance);
        }
        assert_true(reals(answer->impacts, "normal_impulse")[i] > 0);
        assert_true(reals(answer->impacts, "gap")[i] >= -1e-13 * (radius + carom_norm3(reals(answer->impacts, "position") + 3 * i)));
    }
}

static void long_runs_conserve(void **state) {
    (void)state;
    const double duration = support_count(20, 100, 1000);
    for (int i = 0; i < CASES; i++) {
        carom_body *body = create_body(&cases[i].shape, 1, cases[i].inertia);
        const carom_body_motion motion = motion_of(body, cases[i].tilted);
        for (int order = 2; order <= 4; order += 2) {
            carom_motion_answer answer = run_for(&motion, order == 2 ? "2" : "4", 0.01, duration);
            assert_string_equal(verdict(&answer), "complete");
            assert_true(reals(answer.result, "max_relative_energy_error")[0] <= (i == 1 ? 6e-12 : 6e-13));
            assert_true(reals(answer.result, "max_orthogonality_error")[0] <= 1e-12);
            check_impacts(&motion, &answer, carom_body_radius(body), 1e-11);
            // Counts of chaotic motions: bands around those of twenty perturbed runs.
            const double hundred = (double)carom_table_rows(answer.impacts) * 1000 / duration;
            if (duration >= 1000) assert_in_range((int64_t)hundred, i < 2 ? 500 : 580, i < 2 ? 620 : i == 2 ? 920 : 720);
            carom_motion_answer_free(&answer);
        }
        carom_body_free(body);
    }
}

static carom_body_state final_state(const carom_motion_answer *answer) {
    carom_body_state last;
    memcpy(last.position, reals(answer->final, "position"), sizeof last.position);
    memcpy(last.attitude, reals(answer->final, "attitude"), sizeof last.attitude);
    memcpy(last.momentum, reals(answer->final, "momentum"), sizeof last.momentum);
    memcpy(last.angular_momentum, reals(answer->final, "angular_momentum"), sizeof last.angular_momentum);
    return last;
}

static void time_runs_backwards(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        carom_body *body = create_body(&cases[i].shape, 1, cases[i].inertia);
        carom_body_motion motion = motion_of(body, cases[i].tilted);
        carom_motion_answer forward = run_for(&motion, "4", 0.01, 7);
        assert_true(carom_table_rows(forward.impacts) >= 3 - (i == 1));
        motion.initial = final_state(&forward);
        for (int k = 0; k < 3; k++) motion.initial.momentum[k] *= -1, motion.initial.angular_momentum[k] *= -1;
        carom_motion_answer backward = run_for(&motion, "4", 0.01, 7);
        assert_all_close(reals(backward.final, "position"), COMMON_START.position, 3, 1e-9);
        assert_all_close(reals(backward.final, "attitude"), COMMON_START.attitude, 9, 1e-9);
        for (int k = 0; k < 3; k++) {
            assert_close(reals(backward.final, "momentum")[k], -COMMON_START.momentum[k], 1e-9);
            assert_close(reals(backward.final, "angular_momentum")[k], -COMMON_START.angular_momentum[k], 1e-9);
        }
        carom_motion_answer_free(&forward);
        carom_motion_answer_free(&backward);
        carom_body_free(body);
    }
}

static void random_bodies_conserve(void **state) {
    (void)state;
    const int count = support_count(6, 60, 600);
    for (int i = 0; i < count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 21, (uint64_t)i);
        random_case drawn;
        draw_case(&stream, i % 3, &drawn);
        carom_motion_answer answer = run_for(&drawn.motion, "4", 0.01, 10);
        assert_string_equal(verdict(&answer), "complete");
        assert_true(reals(answer.result, "max_relative_energy_error")[0] <= 1e-11);
        check_impacts(&drawn.motion, &answer, carom_body_radius(drawn.body), 1e-10);
        carom_motion_answer_free(&answer);
        carom_body_free(drawn.body);
    }
}

// Turning the body's frame changes nothing: J, attitude, momentum and vertices turn along.
static void body_frames_are_equivalent(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 22, (uint64_t)i);
        random_case drawn;
        draw_case(&stream, 2, &drawn);
        double frame[9], turned[9], J[9], vertex[30];
        random_rotation(&stream, frame);
        for (int k = 0; k < 10; k++) carom_multiply3_transposed(frame, drawn.vertex + 3 * k, vertex + 3 * k);
        carom_product3(drawn.inertia, frame, turned);
        for (int k = 0; k < 9; k++) {
            J[k] = 0;
            for (int l = 0; l < 3; l++) J[k] += frame[3 * l + k / 3] * turned[3 * l + k % 3];
        }
        carom_body_motion other = drawn.motion;
        carom_body *body = create_body(&(carom_shape_data){.vertices = 10, .vertex = vertex, .rounding = 0.1}, 1.3, J);
        other.body = body;
        carom_product3(drawn.motion.initial.attitude, frame, other.initial.attitude);
        carom_multiply3_transposed(frame, drawn.motion.initial.angular_momentum, other.initial.angular_momentum);
        carom_motion_answer a = run_for(&drawn.motion, "4", 0.01, 2), b = run_for(&other, "4", 0.01, 2);
        assert_true(carom_table_rows(a.impacts) > 0);
        assert_close(reals(a.impacts, "time")[0], reals(b.impacts, "time")[0], 1e-12);
        assert_close(reals(a.impacts, "normal_impulse")[0], reals(b.impacts, "normal_impulse")[0], 1e-12);
        carom_motion_answer_free(&a);
        carom_motion_answer_free(&b);
        carom_body_free(body);
        carom_body_free(drawn.body);
    }
}

// Turning the world about the vertical, and moving it sideways, turns and moves the motion.
static void the_horizontal_has_no_direction(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[2].shape, 1, cases[2].inertia);
    carom_body_motion motion = motion_of(body, false), turned = motion;
    const double c = cos(0.7), s = sin(0.7), V[] = {c, -s, 0, s, c, 0, 0, 0, 1};
    carom_product3(V, motion.initial.attitude, turned.initial.attitude);
    carom_multiply3(V, motion.initial.momentum, turned.initial.momentum);
    turned.initial.position[0] += 3;
    carom_motion_answer a = run_for(&motion, "4", 0.01, 3), b = run_for(&turned, "4", 0.01, 3);
    double wanted[3];
    carom_multiply3(V, reals(a.final, "position"), wanted);
    wanted[0] += 3;
    assert_all_close(reals(b.final, "position"), wanted, 3, 1e-12);
    assert_all_close(reals(b.final, "angular_momentum"), reals(a.final, "angular_momentum"), 3, 1e-12);
    // Without slope nothing acts along the plane: bit for bit.
    assert_true(reals(a.final, "momentum")[0] == 2 && reals(a.final, "momentum")[1] == 2);
    carom_motion_answer_free(&a);
    carom_motion_answer_free(&b);
    carom_body_free(body);
}

// --------------------------------------------------------------------------------------------------------------- flight

static void single_steps_have_their_digits(void **state) {
    (void)state;
    const struct {
        double h, c[3], Pi[3];
    } known[] = {{0.01,
                  {0.00398960049106157956, -0.00501889780648314326, 0.00768537693390938319},
                  {3.9784017755175547, -4.02943217198801166, 3.99199144336592275}},
                 {0.1,
                  {0.0392810149794798383, -0.0523226695906664824, 0.0769169569474757921},
                  {3.77690286494353184, -4.28712433736683014, 3.9186183361917704}}};
    double inverse[9];
    carom_invert3(ONE_INERTIA, inverse);
    for (int i = 0; i < 2; i++) {
        const double Pi[] = {4, -4, 4}, a[] = {4 * known[i].h, -4 * known[i].h, 4 * known[i].h};
        double c[3], F[9], after[3], before[3], Omega[3];
        assert_true(carom_rotation_solve(ONE_INERTIA, inverse, a, c));
        assert_all_close(c, known[i].c, 3, 1e-16);
        carom_rotation_matrix(c, F);
        carom_multiply3_transposed(F, Pi, after);
        assert_all_close(after, known[i].Pi, 3, 1e-15);
        // The step keeps the energy of rotation, and not only nearly.
        carom_multiply3(inverse, Pi, before);
        carom_multiply3(inverse, after, Omega);
        assert_close(carom_dot3(after, Omega), carom_dot3(Pi, before), 1e-15);
    }
}

// Solvable for every direction while h |Pi| stays below the least principal moment.
static void rotations_are_solvable_below_the_limit(void **state) {
    (void)state;
    const int count = support_count(200, 2000, 20000);
    for (int i = 0; i < count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 23, (uint64_t)i);
        double J[9], inverse[9], a[3], c[3], F[9], turned[9], largest = 0, residual = 0;
        random_inertia(&stream, J);
        for (int k = 0; k < 3; k++) a[k] = carom_stream_normal(&stream);
        const double size = carom_norm3(a);
        carom_invert3(J, inverse);
        // 1 / |J^-1| bounds the least moment from below.
        for (int k = 0; k < 9; k++) largest += inverse[k] * inverse[k];
        for (int k = 0; k < 3; k++) a[k] *= 0.95 / sqrt(largest) / size;
        assert_true(carom_rotation_solve(J, inverse, a, c));
        // S(a) = F Jd - Jd F', Jd = (tr J / 2) I - J.
        double Jd[9], product[9];
        for (int k = 0; k < 9; k++) Jd[k] = (k % 4 == 0 ? 0.5 * (J[0] + J[4] + J[8]) : 0) - J[k];
        carom_rotation_matrix(c, F);
        carom_product3(F, Jd, product);
        for (int k = 0; k < 9; k++) turned[k] = product[k] - product[3 * (k % 3) + k / 3];
        const double S[] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
        for (int k = 0; k < 9; k++) residual = fmax(residual, fabs(turned[k] - S[k]));
        assert_true(residual <= 1e-14);
    }
}

// ------------------------------------------------------------------------------------------------------- symplectic form

enum { PHASE = 12 };

// A start moved along the coordinates (dx, z, dgamma, dPi), dR = R S(z).
static carom_body_state moved(const carom_body_state *from, const double step[PHASE]) {
    carom_body_state to = *from;
    double half[3], F[9];
    for (int i = 0; i < 3; i++) {
        to.position[i] += step[i];
        half[i] = 0.5 * step[3 + i];
        to.momentum[i] += step[6 + i];
        to.angular_momentum[i] += step[9 + i];
    }
    carom_rotation_matrix(half, F);
    carom_product3(from->attitude, F, to.attitude);
    return to;
}

// The difference of two nearby states in the same coordinates.
static void difference(const carom_body_state *a, const carom_body_state *b, double out[PHASE]) {
    double turn[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            turn[3 * i + j] =
                a->attitude[i] * b->attitude[j] + a->attitude[3 + i] * b->attitude[3 + j] + a->attitude[6 + i] * b->attitude[6 + j];
    for (int i = 0; i < 3; i++) {
        out[i] = b->position[i] - a->position[i];
        out[6 + i] = b->momentum[i] - a->momentum[i];
        out[9 + i] = b->angular_momentum[i] - a->angular_momentum[i];
    }
    out[3] = 0.5 * (turn[7] - turn[5]);
    out[4] = 0.5 * (turn[2] - turn[6]);
    out[5] = 0.5 * (turn[3] - turn[1]);
}

// W(a, b) = dx_a.dgamma_b - dx_b.dgamma_a + z_a.dPi_b - z_b.dPi_a + Pi.(z_a x z_b).
static double form(const double Pi[3], const double *a, const double *b) {
    double turned[3];
    carom_cross3(a + 3, b + 3, turned);
    return carom_dot3(a, b + 6) - carom_dot3(b, a + 6) + carom_dot3(a + 3, b + 9) - carom_dot3(b + 3, a + 9) + carom_dot3(Pi, turned);
}

// Largest change of the symplectic form over one run, by central differences of fourth order.
static double symplectic_defect(const carom_body_motion *motion, const char *const *options) {
    static const double offsets[] = {-2, -1, 1, 2}, weights[] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    const double h = 2e-4;
    carom_motion_answer center = run(motion, options);
    const carom_body_state last = final_state(&center);
    carom_motion_answer_free(&center);
    double M[PHASE][PHASE] = {{0}}, defect = 0;
    for (int j = 0; j < PHASE; j++) {
        for (int k = 0; k < 4; k++) {
            double step[PHASE] = {0}, out[PHASE];
            step[j] = offsets[k] * h;
            carom_body_motion other = *motion;
            other.initial = moved(&motion->initial, step);
            carom_motion_answer answer = run(&other, options);
            const carom_body_state end = final_state(&answer);
            difference(&last, &end, out);
            for (int i = 0; i < PHASE; i++) M[j][i] += weights[k] * out[i] / h;
            carom_motion_answer_free(&answer);
        }
    }
    for (int a = 0; a < PHASE; a++)
        for (int b = 0; b < PHASE; b++) {
            double ea[PHASE] = {0}, eb[PHASE] = {0};
            ea[a] = eb[b] = 1;
            defect = fmax(defect, fabs(form(last.angular_momentum, M[a], M[b]) - form(motion->initial.angular_momentum, ea, eb)));
        }
    return defect;
}

static const char *const STEP_NAMES[] = {"0.04", "0.02", "0.01"};

// One step of length h from a state shortly before the first impact of case I: impact at 0.43 h.
static carom_body_motion shortly_before(const carom_body *body, double h, double share) {
    carom_body_motion motion = motion_of(body, false);
    carom_motion_answer answer = run_for(&motion, "4", 0.001, cases[0].times[0] + 0.01);
    carom_motion_answer_free(&answer);
    const double until = cases[0].times[0] - share * h;
    lgvci at;
    lgvci_start(&at, &motion, true);
    const int steps = 2000;
    for (int i = 0; i < steps; i++) {
        carom_body_state next;
        double c[3];
        assert_true(lgvci_advance(&at, until / steps, &next, c));
        lgvci_launch(&at, &next);
    }
    motion.initial = at.base;
    return motion;
}

// Order 2 is symplectic exactly. At order 4 the preprocessed inertia depends on two constants of the motion, T and C, and a map
// exp(a(T,C) X_T + b(T,C) X_C) is symplectic only where da/dC = db/dT; a = 1 and b = 0 hold up to the fourth power of the step.
static void flights_are_symplectic(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion motion = motion_of(body, false);
    double fourth[2];
    for (int i = 0; i < 2; i++) {
        const char *h = i ? "0.05" : "0.1";
        assert_true(symplectic_defect(&motion, (const char *[]){"order", "2", "step", h, "duration", "1", NULL}) <= 1e-9);
        fourth[i] = symplectic_defect(&motion, (const char *[]){"order", "4", "step", h, "duration", "1", NULL});
    }
    print_message("order 4: defect %.3g at h = 0.1, %.3g at 0.05\n", fourth[0], fourth[1]);
    assert_true(fabs(log2(fourth[0] / fourth[1]) - 4) < 0.2);
    assert_true(symplectic_defect(&motion, (const char *[]){"order", "4", "step", "0.01", "duration", "1", NULL}) <= 1e-8);
    carom_body_free(body);
}

// With the discrete jump, a step with an impact is symplectic. With the jump that keeps the energy, the defect falls with the order of
// the integrator.
static void impacts_are_symplectic_in_one_way_or_the_other(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    double second[3], fourth[3];
    for (int i = 0; i < 3; i++) {
        const carom_body_motion motion = shortly_before(body, 0.04 / (1 << i), 0.43);
        const char *h = STEP_NAMES[i];
        second[i] = symplectic_defect(&motion, (const char *[]){"order", "2", "step", h, "duration", h, NULL});
        fourth[i] = symplectic_defect(&motion, (const char *[]){"order", "4", "step", h, "duration", h, NULL});
        const double discrete =
            symplectic_defect(&motion, (const char *[]){"order", "2", "jump", "discrete", "step", h, "duration", h, NULL});
        print_message("h = %s: defect %.3g at order 2, %.3g at order 4, %.3g with the discrete jump\n", h, second[i], fourth[i], discrete);
        assert_true(discrete <= 1e-8);
        assert_true(second[i] > 1e-4);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(log2(second[i] / second[i + 1]) - 2) < 0.2);
        assert_true(fabs(log2(fourth[i] / fourth[i + 1]) - 4) < 0.4);
    }
    carom_body_free(body);
}

// What the discrete jump gives up: the energy moves at every impact, by the square of the step.
static void the_discrete_jump_moves_the_energy(void **state) {
    (void)state;
    carom_body *body = create_body(&cases[0].shape, 1, cases[0].inertia);
    const carom_body_motion motion = motion_of(body, false);
    carom_motion_answer answer = run(&motion, (const char *[]){"order", "2", "jump", "discrete", "step", "0.01", "duration", "100", NULL});
    assert_string_equal(verdict(&answer), "complete");
    const double error = reals(answer.result, "max_relative_energy_error")[0];
    assert_true(error > 1e-6 && error < 1e-2);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_runs_conserve),
        cmocka_unit_test(time_runs_backwards),
        cmocka_unit_test(random_bodies_conserve),
        cmocka_unit_test(body_frames_are_equivalent),
        cmocka_unit_test(the_horizontal_has_no_direction),
        cmocka_unit_test(single_steps_have_their_digits),
        cmocka_unit_test(rotations_are_solvable_below_the_limit),
        cmocka_unit_test(flights_are_symplectic),
        cmocka_unit_test(impacts_are_symplectic_in_one_way_or_the_other),
        cmocka_unit_test(the_discrete_jump_moves_the_energy),
    };
    return cmocka_run_group_tests_name("lgvci conservation", tests, start, stop);
}
