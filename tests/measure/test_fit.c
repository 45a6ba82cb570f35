// SPDX-License-Identifier: Apache-2.0
// Fits: least values that are known, parameters of a known law, inertia of a known body.
#include "measure_support.h"

// A kink at (0.3, 0.7), and one at 0.42 in one dimension.
static carom_status kinked(void *user, const double *x, double *value, carom_error *error) {
    (void)error;
    (*(int *)user)++;
    *value = fabs(x[0] - 0.3) + 2 * fabs(x[1] - 0.7 + 0.5 * (x[0] - 0.3));
    return CAROM_OK;
}

static carom_status line(void *user, const double *x, double *value, carom_error *error) {
    (void)error;
    (*(int *)user)++;
    *value = x[0] < 0.1 ? (double)NAN : fabs(x[0] - 0.42);
    return CAROM_OK;
}

static void least_values_are_found(void **state) {
    (void)state;
    const double grid[] = {0, 0.25, 0.5, 1};
    int calls = 0;
    carom_fit_problem problem = {
        .dimension = 2, .most = {1, 1}, .start = {grid, grid}, .starts = {4, 4}, .tolerance = 1e-7, .evaluate = kinked, .user = &calls};
    double x[2], value;
    carom_error error = {0};
    assert_ok(carom_fit_minimise(&problem, x, &value, &error), error);
    assert_close(x[0], 0.3, 1e-3);
    assert_close(x[1], 0.7, 1e-3);
    // The work, so that a loss of efficiency shows.
    assert_true(calls < 250);
    problem.dimension = 1;
    problem.evaluate = line;
    assert_ok(carom_fit_minimise(&problem, x, &value, &error), error);
    assert_close(x[0], 0.42, 1e-6);
}

// The law's own parameters come back within their spread, which halves when there is four times as much data.
static void parameters_of_a_known_law_are_found(void **state) {
    (void)state;
    const truth t = {.count = 150, .contacts = 1, .mu = 0.2, .e = 0.3, .noise = 0.004, .inertia = {1.1e-3, 1e-3, 0.9e-3}};
    carom_measurements made = make_measurements(&t, 21);
    carom_stronge_options options = carom_stronge_defaults();
    const carom_measure_law law = {.law = &carom_law_stronge, .options = &options, .friction = {NAN, NAN}, .restitution = {NAN, NAN}};
    int chosen[150];
    for (int i = 0; i < 150; i++) chosen[i] = i;
    carom_error error = {0};
    carom_measure_fit fit, again;
    carom_control control = {.threads = 1};
    carom_measure_fit_request request = {.law = &law,
                                         .measurements = &made,
                                         .chosen = chosen,
                                         .count = 150,
                                         .friction = true,
                                         .restitution = true,
                                         .draws = support_count(20, 40, 200),
                                         .control = &control};
    assert_ok(carom_measure_fit_law(&request, &fit, &error), error);
    assert_true(fit.finished);
    assert_true(fit.friction_error > 0 && fit.friction_error < 0.02);
    assert_true(fabs(fit.friction - 0.2) < 4 * fit.friction_error + CAROM_MEASURE_LATTICE);
    assert_true(fabs(fit.restitution - 0.3) < 4 * fit.restitution_error + CAROM_MEASURE_LATTICE);
    // The same with more threads, bit by bit.
    control.threads = 3;
    assert_ok(carom_measure_fit_law(&request, &again, &error), error);
    assert_memory_equal(&fit, &again, offsetof(carom_measure_fit, finished));
    // One parameter alone.
    request.restitution = false;
    request.draws = 0;
    assert_ok(carom_measure_fit_law(&request, &again, &error), error);
    assert_true(isnan(again.restitution) && isnan(again.friction_error));
    assert_close(again.friction, fit.friction, 0.02);
    carom_measurements_free(&made);
}

// Outcomes of walks whose contacts draw e from [0.3, 0.5]: the least interval that holds nearly all of them within little lies there, wider
// for a larger share, and the same for any number of threads.
static void the_interval_of_a_known_set_is_found(void **state) {
    (void)state;
    enum { IMPACTS = 16 };
    const truth t = {.count = IMPACTS, .contacts = 2, .mu = 0.2, .e = 0.3, .inertia = {1.1e-3, 1e-3, 0.9e-3}};
    carom_measurements made = make_measurements(&t, 41);
    carom_halm_posa_options options = carom_halm_posa_defaults();
    options.samples = 1;
    options.sampler = CAROM_SAMPLER_WALK;
    options.rebound = (carom_rebound_options){CAROM_HYPOTHESIS_STRONGE, {0.3, 0.5}};
    carom_measure_law law = {
        .law = &carom_law_halm_posa, .options = &options, .friction = {NAN, NAN}, .restitution = {NAN, NAN}, .seed = 5};
    carom_error error = {0};
    int chosen[IMPACTS];
    for (int i = 0; i < IMPACTS; i++) {
        carom_measure_set set;
        assert_ok(carom_measure_ask(&law, &made.list[i], i, NULL, NULL, &set, &error), error);
        assert_int_equal(set.count, 1);
        const carom_interval drawn = set.origins[0].restitution;
        assert_true(drawn.least >= 0.3 && drawn.least <= drawn.most && drawn.most <= 0.5);
        memcpy((double *)(uintptr_t)made.list[i].after, set.members, NV * sizeof *set.members);
        carom_measure_set_free(&set);
        chosen[i] = i;
    }
    // Asked anew with other seeds.
    law.seed = 6;
    options.samples = support_count(80, 80, 400);
    const carom_control one = {.threads = 1}, three = {.threads = 3};
    carom_measure_interval_request request = {.law = &law,
                                              .measurements = &made,
                                              .chosen = chosen,
                                              .count = IMPACTS,
                                              .share = 0.9,
                                              .tolerance = 0.03,
                                              .draws = 20,
                                              .control = &one};
    carom_measure_interval found, again, half;
    assert_ok(carom_measure_fit_interval(&request, &found, &error), error);
    assert_true(found.finished && found.restitution.least >= 0.27 && found.restitution.most <= 0.53);
    assert_true(found.restitution.most - found.restitution.least > 0.05);
    assert_true(found.contained >= 0.9 - 1e-9 && found.reachable >= found.contained && found.members > 3);
    assert_true(found.least_error >= 0 && found.least_error < 0.1 && found.most_error >= 0 && found.most_error < 0.1);
    request.control = &three;
    assert_ok(carom_measure_fit_interval(&request, &again, &error), error);
    assert_memory_equal(&found, &again, offsetof(carom_measure_interval, tied));
    request.share = 0.5;
    request.draws = 0;
    assert_ok(carom_measure_fit_interval(&request, &half, &error), error);
    assert_true(half.restitution.most - half.restitution.least < found.restitution.most - found.restitution.least);
    assert_true(half.contained >= 0.5 && isnan(half.least_error) && half.reachable == found.reachable);
    // The whole of [0, 1] holds nothing within a tolerance of nothing; and not every law draws.
    request.tolerance = 1e-12;
    assert_ok(carom_measure_fit_interval(&request, &half, &error), error);
    assert_true(half.finished && isnan(half.restitution.least) && half.contained == 0);
    options.rebound.hypothesis = CAROM_HYPOTHESIS_NONE;
    assert_refused(carom_measure_fit_interval(&request, &half, &error), CAROM_BAD_INPUT, error, "'halm-posa' does not draw it");
    carom_measurements_free(&made);
}

// Without noise the body is found exactly, whatever its attitude; with some outliers nearly so.
static void the_body_is_identified(void **state) {
    (void)state;
    const truth t = {
        .count = 60, .contacts = 1, .mu = 0.3, .e = 0.4, .inertia = {1.1e-3, 1e-3, 0.9e-3}, .com = {0.004, -0.002, 0.003}, .turned = true};
    carom_measurements made = make_measurements(&t, 31);
    carom_error error = {0};
    carom_measure_identification found;
    assert_ok(carom_measure_identify(&made, true, 0, &found, &error), error);
    assert_int_equal(found.impacts, 60);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(found.inertia[k] - t.inertia[k]) < 1e-7 * t.inertia[k]);
        assert_true(fabs(found.com[k] - t.com[k]) < 1e-9);
    }
    // Every tenth outcome is wrong.
    for (int i = 0; i < made.count; i += 10) {
        double *after = (double *)(uintptr_t)made.list[i].after;
        after[3] += 3;
    }
    assert_ok(carom_measure_identify(&made, true, 20, &found, &error), error);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(found.inertia[k] - t.inertia[k]) < 1e-2 * t.inertia[k]);
        assert_true(found.inertia_error[k] > 0);
    }
    made.count = 2;
    assert_refused(carom_measure_identify(&made, true, 0, &found, &error), CAROM_BAD_INPUT, error, "2 impacts");
    made.count = 60;
    carom_measurements_free(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_values_are_found),
        cmocka_unit_test(parameters_of_a_known_law_are_found),
        cmocka_unit_test(the_interval_of_a_known_set_is_found),
        cmocka_unit_test(the_body_is_identified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
