// SPDX-License-Identifier: Apache-2.0
// The integrator `lgvci`: the cases of Tran & Leok 2023 (Table 3) against an event-driven integration in 113 bits, detection of impacts,
// and landings of several points.
#include <math.h>
#include <string.h>

#include "lgvci_support.h"

// ----------------------------------------------------------------------------------------------------------- the cases

static void published_impacts_are_met(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        carom_body *body = create_body(&cases[i].shape, 1, cases[i].inertia);
        const carom_body_motion motion = motion_of(body, cases[i].tilted);
        carom_motion_answer second = run_for(&motion, "2", 0.01, 9), fourth = run_for(&motion, "4", 0.01, 9);
        assert_true(carom_table_rows(second.impacts) >= 4 && carom_table_rows(fourth.impacts) >= 4);
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(reals(second.impacts, "time")[k] - cases[i].times[k]) <= cases[i].second_errors[k]);
            assert_true(fabs(reals(fourth.impacts, "time")[k] - cases[i].times[k]) <= cases[i].fourth_error);
        }
        assert_true(fabs(reals(fourth.impacts, "time")[0] - cases[i].times[0]) <= (i == 3 ? 1e-8 : 1e-10));
        assert_close(reals(fourth.result, "initial_energy")[0], cases[i].energy, 1e-14);
        carom_motion_answer_free(&second);
        carom_motion_answer_free(&fourth);
        carom_body_free(body);
    }
}

// The first impact in full, with steps so small that the order's error of the time is 1e-12 at most: the box turns fastest.
static void first_impacts_have_their_impulse(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        carom_body *body = create_body(&cases[i].shape, 1, cases[i].inertia);
        const carom_body_motion motion = motion_of(body, cases[i].tilted);
        carom_motion_answer answer = run_for(&motion, "4", 0.001, 2.7);
        assert_close(reals(answer.impacts, "time")[0], cases[i].times[0], 1e-12);
        const double tolerance = i == 3 ? 1e-9 : 1e-11;
        assert_close(reals(answer.impacts, "normal_impulse")[0], cases[i].impulse, tolerance);
        assert_all_close(reals(answer.impacts, "momentum_after"), cases[i].momentum, 3, tolerance);
        assert_all_close(reals(answer.impacts, "angular_momentum_after"), cases[i].angular, 3, tolerance);
        carom_motion_answer_free(&answer);
        carom_body_free(body);
    }
}

static double time_error(const carom_body_motion *motion, const char *order, double step, int impact, double exact) {
    carom_motion_answer answer = run_for(motion, order, step, exact + 0.1);
    assert_true(carom_table_rows(answer.impacts) > impact);
    const double error = fabs(reals(answer.impacts, "time")[impact] - exact);
    carom_motion_answer_free(&answer);
    return error;
}

static void impact_times_converge_with_their_order(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        carom_body *body = create_body(&cases[i].shape, 1, cases[i].inertia);
        const carom_body_motion motion = motion_of(body, cases[i].tilted);
        const int last = i == 3 ? 3 : 4;
        for (int k = 0; k < last; k++) {
            const double h = i == 3 ? 0.0025 : 0.005, exact = cases[i].times[k];
            const double second = log2(time_error(&motion, "2", h, k, exact) / time_error(&motion, "2", h / 2, k, exact));
            if (fabs(second - 2) > 0.1) print_error("case %d impact %d: order %g\n", i + 1, k + 1, second);
            assert_true(fabs(second - 2) <= 0.1);
            // The first errors of order 4 are near the rounding of the references.
            if (k < 2) continue;
            const double fourth = log2(time_error(&motion, "4", 0.01, k, exact) / time_error(&motion, "4", 0.005, k, exact));
            if (fabs(fourth - 4) > 0.2) print_error("case %d impact %d: order %g\n", i + 1, k + 1, fourth);
            assert_true(fabs(fourth - 4) <= 0.2);
        }
        carom_body_free(body);
    }
}

// ------------------------------------------------------------------------------------------------------------ detection

// A slender body that turns fast enough for its ends to dip below the plane and come out within one step.
static void draw_slender(carom_stream *stream, int kind, double semiaxes[6], double vertex[24], carom_body **body,
                         carom_body_motion *motion) {
    static const double inertia[] = {1.5, 0, 0, 0, 2, 0, 0, 0, 2.2};
    const double radius = 0.05 + 0.2 * carom_stream_uniform(stream);
    for (int i = 0; i < 24; i++) vertex[i] = (i / 3 >> i % 3 & 1 ? 1 : -1) * (i % 3 ? radius : 2);
    memcpy(semiaxes, (double[]){2, radius, radius, radius, 1.5, radius}, 6 * sizeof *semiaxes);
    const carom_shape_data shape =
        kind ? (carom_shape_data){.vertices = 8, .vertex = vertex} : (carom_shape_data){.ellipsoids = 2, .semiaxes = semiaxes};
    *body = create_body(&shape, 1, inertia);
    *motion = (carom_body_motion){.body = *body, .gravity = 0.1, .plane_normal = {0, 0, 1}};
    carom_body_state *initial = &motion->initial;
    initial->position[2] = 2.3 + 0.3 * carom_stream_uniform(stream);
    random_rotation(stream, initial->attitude);
    for (int i = 0; i < 3; i++) {
        initial->momentum[i] = 0.1 * carom_stream_normal(stream);
        initial->angular_momentum[i] = 35 * (2 * carom_stream_uniform(stream) - 1);
    }
}

// Follows one body until its first impact, and looks at every step through 200 times in it. Returns whether the step's end alone would have
// shown no impact.
static bool follow_to_impact(const carom_body_motion *motion) {
    enum { MOST_STEPS = 300, LOOKS = 200 };
    const double h = 0.02;
    lgvci run;
    lgvci_start(&run, motion, true);
    for (int step = 0; step < MOST_STEPS; step++) {
        double s, c[3], piece = fmin(h, run.longest);
        carom_body_state next, looked;
        const lgvci_search found = lgvci_find_hit(&run, piece, &s, &next, c);
        assert_int_not_equal(found, LGVCI_UNSOLVED);
        for (int i = 1; i <= LOOKS; i++) {
            const double at = s * i / LOOKS;
            assert_true(lgvci_advance(&run, at, &looked, c));
            const double gap = lgvci_gap(&run, &looked);
            if (gap < -1e-12) print_error("step %d: the gap is %g at %g of %g\n", step, gap, at, piece);
            assert_true(gap >= -1e-12);
        }
        if (found == LGVCI_HIT) {
            assert_true(lgvci_advance(&run, piece, &looked, c));
            return lgvci_gap(&run, &looked) >= 0;
        }
        run.base = next;
        run.elapsed += piece;
    }
    return false;
}

static void no_impact_is_missed(void **state) {
    (void)state;
    const int count = support_count(20, 200, 10000);
    int hidden = 0;
    for (int i = 0; i < count; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 24, (uint64_t)i);
        double semiaxes[6], vertex[24];
        carom_body *body;
        carom_body_motion motion;
        draw_slender(&stream, i % 2, semiaxes, vertex, &body, &motion);
        hidden += follow_to_impact(&motion);
        carom_body_free(body);
    }
    print_message("%d of %d first impacts leave no trace at the end of their step\n", hidden, count);
    assert_true(hidden > count / 40);
}

// ---------------------------------------------------------------------------------------------------- several points at once

static void edges_and_faces_land_at_once(void **state) {
    (void)state;
    carom_body *body = create_body(&(carom_shape_data){.vertices = 8, .vertex = BOX}, 1, BOX_INERTIA);
    carom_body_motion motion = motion_of(body, false);
    motion.initial =
        (carom_body_state){{0, 0, 10}, {1, 0, 0, 0, cos(0.52359877559829887), -0.5, 0, 0.5, cos(0.52359877559829887)}, {0}, {0}};
    carom_motion_answer edge = run_for(&motion, "4", 0.01, 1.5);
    assert_close(reals(edge.impacts, "time")[0], 1.2477570007996461, 1e-14);
    assert_int_equal(carom_table_integer_column(edge.impacts, carom_table_find(edge.impacts, "touching"))[0], 2);
    assert_close(reals(edge.impacts, "normal_impulse")[0], 2 * 10.18876307, 1e-9);
    assert_close(reals(edge.impacts, "momentum_after")[2], 8.14120994, 1e-9);
    assert_close(reals(edge.impacts, "angular_momentum_after")[0], -12.9188339, 1e-9);
    assert_true(fabs(reals(edge.impacts, "angular_momentum_after")[1]) < 1e-12);
    assert_true(reals(edge.result, "max_relative_energy_error")[0] <= 1e-12);

    memcpy(motion.initial.attitude, CAROM_IDENTITY3, sizeof CAROM_IDENTITY3);
    carom_motion_answer face = run_for(&motion, "4", 0.01, 50);
    assert_string_equal(verdict(&face), "complete");
    assert_close(reals(face.impacts, "time")[0], 1.2985347003141492, 1e-14);
    assert_int_equal(carom_table_integer_column(face.impacts, carom_table_find(face.impacts, "touching"))[0], 4);
    assert_close(reals(face.impacts, "momentum_after")[2], 12.73427532, 1e-9);
    for (int i = 0; i < 3; i++) assert_true(fabs(reals(face.impacts, "angular_momentum_after")[i]) < 1e-12);
    // It falls flat every time, and rises to the same height.
    assert_in_range(carom_table_rows(face.impacts), 19, 19);
    assert_true(reals(face.result, "max_relative_energy_error")[0] <= 1e-12);
    carom_motion_answer_free(&edge);
    carom_motion_answer_free(&face);
    carom_body_free(body);
}

// Two equal parts side by side touch at once, and neither is picked alone.
static void parts_of_a_union_land_at_once(void **state) {
    (void)state;
    const double semiaxes[] = {1, 1, 1, 1, 1, 1}, centers[] = {1.5, 0, 0, -1.5, 0, 0};
    carom_body *body = create_body(&(carom_shape_data){.ellipsoids = 2, .semiaxes = semiaxes, .centers = centers}, 1, NULL);
    const carom_body_motion motion = {body, 9.81, {0, 0, 1}, 0, {{0, 0, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}, {0}}};
    carom_motion_answer answer = run_for(&motion, "4", 0.01, 5);
    assert_string_equal(verdict(&answer), "complete");
    assert_close(reals(answer.impacts, "time")[0], sqrt(4 / 9.81), 1e-14);
    assert_int_equal(carom_table_integer_column(answer.impacts, carom_table_find(answer.impacts, "touching"))[0], 2);
    for (int i = 0; i < 3; i++) assert_true(fabs(reals(answer.impacts, "angular_momentum_after")[i]) < 1e-12);
    assert_true(reals(answer.result, "max_relative_energy_error")[0] <= 1e-12);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

static void spheres_hop_alike(void **state) {
    (void)state;
    const double semiaxes[] = {1, 1, 1};
    carom_body *body = create_body(&(carom_shape_data){.ellipsoids = 1, .semiaxes = semiaxes}, 2, NULL);
    const carom_body_motion motion = {body, 9.81, {0, 0, 1}, 0, {{0, 0, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0}, {1, 2, 3}}};
    carom_motion_answer answer = run_for(&motion, "4", 0.03, 20);
    const double fall = sqrt(4 / 9.81);
    for (int64_t i = 0; i < carom_table_rows(answer.impacts); i++) {
        assert_close(reals(answer.impacts, "time")[i], (double)(2 * i + 1) * fall, 1e-13);
        assert_close(carom_norm3(reals(answer.impacts, "angular_momentum_after") + 3 * i), sqrt(14), 1e-14);
    }
    assert_true(carom_table_rows(answer.impacts) > 10);
    carom_motion_answer_free(&answer);
    carom_body_free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_impacts_are_met),
        cmocka_unit_test(first_impacts_have_their_impulse),
        cmocka_unit_test(impact_times_converge_with_their_order),
        cmocka_unit_test(no_impact_is_missed),
        cmocka_unit_test(edges_and_faces_land_at_once),
        cmocka_unit_test(parts_of_a_union_land_at_once),
        cmocka_unit_test(spheres_hop_alike),
    };
    return cmocka_run_group_tests_name("lgvci impacts", tests, start, stop);
}
