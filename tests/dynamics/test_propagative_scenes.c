// SPDX-License-Identifier: Apache-2.0
// Motion through propagative impacts in scenes: balls and mechanisms, order of accuracy, refusals, and studies from C.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "support.h"

// Runs a scene of the given file, or text, by the integrator of the table.
static carom_status simulate(const char *path, const char *text, const char *set, double duration, carom_motion_answer *answer,
                             carom_error *error) {
    carom_registry *registry;
    carom_scene *scene;
    char *folder = text ? support_make_directory() : NULL, *file = text ? support_write_file(folder, "scene.yaml", text) : NULL;
    assert_ok(carom_registry_create(&registry, error), *error);
    assert_ok(carom_dynamics_register(registry, error), *error);
    const carom_integrator *one = carom_integrator_find(registry, "propagative");
    carom_status status = carom_scene_read_motion(text ? file : path, registry, &scene, error);
    *answer = (carom_motion_answer){0};
    if (!status) {
        void *options = calloc(1, one->options_size);
        assert_non_null(options);
        one->defaults(options);
        assert_ok(carom_scene_apply_simulate(scene, one->options, one->option_count, options, error), *error);
        char number[32];
        snprintf(number, sizeof number, "%.17g", duration);
        assert_ok(carom_option_set(&one->options[carom_option_find(one->options, one->option_count, "duration")], options, number, error),
                  *error);
        if (set)
            assert_ok(carom_option_set(&one->options[carom_option_find(one->options, one->option_count, "step")], options, set, error),
                      *error);
        status = carom_integrator_run(&(carom_motion_request){one, carom_scene_motion(scene), options, registry, NULL, NULL, NULL}, NULL,
                                      answer, error);
        free(options);
        carom_scene_free(scene);
    }
    carom_registry_free(registry);
    free(file);
    if (folder) support_remove_directory(folder);
    return status;
}

static const double *column(const carom_table *table, const char *name) {
    const int index = carom_table_find(table, name);
    assert_true(index >= 0);
    return carom_table_real_column(table, index);
}

#define BALLS(content) "balls: {masses: [1, 1], radius: 0.5, " content "}\nsimulate: {integrator: propagative, step: 0.1}\n"

// Half a step would carry one ball through the other.
static void fast_balls_do_not_pass_through_each_other(void **state) {
    (void)state;
    carom_motion_answer answer;
    carom_error error;
    assert_ok(simulate(NULL, BALLS("positions: [[-2.5, 0.1], [0, 0]], velocities: [[60, 0], [0, 0]]"), NULL, 0.1, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    // Centres are one diameter apart, 0.1 aside.
    assert_close(column(answer.impacts, "time")[0], (2.5 - sqrt(0.99)) / 60, 1e-15);
    const double *v = column(answer.final, "qvel");
    assert_close(v[2], 60 * 0.99, 1e-12);
    assert_close(v[3], -60 * 0.1 * sqrt(0.99), 1e-12);
    assert_close(v[0] + v[2], 60, 1e-13);
    carom_motion_answer_free(&answer);
    assert_ok(simulate(NULL, BALLS("positions: [0, -2.5], velocities: [0, 60]"), NULL, 0.1, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    assert_close(column(answer.impacts, "time")[0], 1.5 / 60, 1e-15);
    carom_motion_answer_free(&answer);
}

// Balls of unequal radii touch where their centres are the sum of the radii apart; neighbours may leave balls of other sizes between them.
static void balls_have_radii(void **state) {
    (void)state;
    carom_motion_answer answer;
    carom_error error;
    static const char plane[] = "balls: {masses: [1, 3], radii: [0.2, 0.7], positions: [[-2.5, 0.3], [0, 0]],\n"
                                "  velocities: [[1, 0], [0, 0]]}\nsimulate: {integrator: propagative, step: 0.1}\n";
    assert_ok(simulate(NULL, plane, NULL, 3, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 1);
    assert_close(column(answer.impacts, "time")[0], 2.5 - sqrt(0.9 * 0.9 - 0.3 * 0.3), 1e-14);
    // The impulse 2 m s / (1/1 + 1/3) acts along the line of centres, whose sine is 1/3.
    const double cosine = sqrt(8.0 / 9), *v = column(answer.final, "qvel");
    assert_close(v[2], 2 * cosine / (4.0 / 3) * cosine / 3, 1e-13);
    assert_close(v[3], -2 * cosine / (4.0 / 3) / 3 / 3, 1e-13);
    carom_motion_answer_free(&answer);
    static const char line[] = "balls: {masses: [1, 1, 1], radii: [0.1, 0.4, 0.2], positions: [0, 1, 3], velocities: [1, 0, 0]}\n"
                               "simulate: {integrator: propagative, step: 0.1}\n";
    assert_ok(simulate(NULL, line, NULL, 3, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 2);
    assert_close(column(answer.impacts, "time")[0], 0.5, 1e-14);
    assert_close(column(answer.impacts, "time")[1], 0.5 + 1.4, 1e-14);
    carom_motion_answer_free(&answer);
    static const char *const bad[][2] = {
        {"radius: 1, radii: [1, 1]", "one of 'radius', of all balls, and 'radii', of each, is needed"},
        {"gravity: 1", "one of 'radius', of all balls, and 'radii', of each, is needed"},
        {"radii: [1]", "balls.radii: "},
        {"radii: [1, 0]", "balls.radii"},
        {"radii: [3, 3]", "balls 1 and 2 overlap"},
    };
    for (int i = 0; i < 5; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "balls: {masses: [1, 1], %s, positions: [0, 5], velocities: [1, 0]}\nsimulate: {integrator: propagative}\n", bad[i][0]);
        assert_refused(simulate(NULL, text, NULL, 1, &answer, &error), CAROM_BAD_INPUT, error, bad[i][1]);
    }
}

// A mechanism whose mass matrix changes: energy and impact times are of second order. Its first impact is the one of the scene.
static void mechanisms_are_of_second_order(void **state) {
    (void)state;
    static const char *const steps[] = {"0.001", "0.0005", "0.00025"};
    double drift[3], times[3];
    for (int i = 0; i < 3; i++) {
        carom_motion_answer answer;
        carom_error error;
        assert_ok(simulate("scenes/tailed-biped.yaml", NULL, steps[i], 0.01, &answer, &error), error);
        assert_int_equal(carom_table_rows(answer.impacts), 2);
        assert_close(column(answer.impacts, "time")[0], 0, 0);
        assert_true(fabs(column(answer.impacts, "xi")[0] - 2.25200709e-4) <= 1e-11);
        assert_true(fabs(column(answer.impacts, "energy_ratio")[0] - 1) <= 1e-14);
        drift[i] = carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0];
        times[i] = column(answer.impacts, "time")[1];
        carom_motion_answer_free(&answer);
    }
    assert_true(drift[2] <= 2e-5);
    for (int i = 0; i < 2; i++) assert_true(drift[i] / drift[i + 1] > 3.6 && drift[i] / drift[i + 1] < 4.4);
    const double ratio = (times[0] - times[1]) / (times[1] - times[2]);
    assert_true(ratio > 3.6 && ratio < 4.4);
}

static void scenes_move(void **state) {
    (void)state;
    carom_motion_answer answer;
    carom_error error;
    assert_ok(simulate("scenes/swinging-cradle.yaml", NULL, NULL, 10, &answer, &error), error);
    assert_int_equal(carom_table_rows(answer.impacts), 6);
    assert_true(fabs(column(answer.impacts, "time")[0] - 0.785404705) <= 1e-9);
    assert_true(carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0] <= 2e-14);
    carom_motion_answer_free(&answer);
    assert_ok(simulate("scenes/bouncing-wedge.yaml", NULL, NULL, 30, &answer, &error), error);
    assert_true(carom_table_rows(answer.impacts) > 50);
    assert_true(carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0] <= 2e-14);
    carom_motion_answer_free(&answer);
    assert_ok(simulate("scenes/rack.yaml", NULL, NULL, 2, &answer, &error), error);
    assert_true(carom_table_integer_column(answer.result, carom_table_find(answer.result, "multiple_count"))[0] >= 1);
    assert_true(carom_table_real_column(answer.result, CAROM_MOTION_ENERGY_ERROR)[0] <= 1e-14);
    carom_motion_answer_free(&answer);
}

static void bad_scenes_in_time_are_refused(void **state) {
    (void)state;
    carom_motion_answer answer;
    carom_error error;
    assert_refused(simulate(NULL, BALLS("positions: [0, 0.5], velocities: [0, 0]"), NULL, 1, &answer, &error), CAROM_BAD_INPUT, error,
                   "overlap");
    assert_refused(simulate(NULL, BALLS("positions: [0, 2], velocities: [0, 0], stiffness: 2"), NULL, 1, &answer, &error), CAROM_BAD_INPUT,
                   error, "belong together");
    assert_refused(simulate(NULL, BALLS("positions: [0, 2], velocities: [0, 0], rest: [0, 2]"), NULL, 1, &answer, &error), CAROM_BAD_INPUT,
                   error, "belong together");
    assert_refused(simulate(NULL, BALLS("positions: [0, 2], velocities: [0, 0], gravity: -1"), NULL, 1, &answer, &error), CAROM_BAD_INPUT,
                   error, "gravity");
    assert_refused(simulate("scenes/wedge.yaml", NULL, NULL, 1, &answer, &error), CAROM_BAD_INPUT, error, "needs a scene with");
    assert_refused(simulate("scenes/cube-k4.yaml", NULL, NULL, 1, &answer, &error), CAROM_UNSUPPORTED, error,
                   "slide and hinge joints only");
}

// A receiver of pictures that counts their lines and points.
typedef struct pictures {
    int count, lines;
    int64_t points;
} pictures;

static carom_status count_picture(void *user, const char *name, const carom_plot *picture, carom_error *error) {
    (void)error;
    pictures *seen = user;
    assert_true(*name);
    assert_string_equal(picture->title, "a rack");
    seen->count++;
    seen->lines += picture->series_count;
    for (int i = 0; i < picture->series_count; i++) seen->points += picture->series[i].count;
    return CAROM_OK;
}

// Studies and pictures from C, without any command: all of them by one request.
static void studies_take_one_request(void **state) {
    (void)state;
    carom_registry *registry;
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_dynamics_register(registry, &error), error);
    assert_ok(carom_scene_read_motion("scenes/rack.yaml", registry, &scene, &error), error);
    const carom_motion_request request = {
        .integrator = carom_integrator_find(registry, "propagative"), .motion = carom_scene_motion(scene), .registry = registry};
    carom_table *states, *orders = NULL, *convergence;
    carom_motion_answer answer;
    assert_ok(carom_motion_create_states(request.integrator, request.motion, &states, &error), error);
    const carom_sink sink = carom_table_sink(states);
    assert_ok(carom_integrator_run(&request, &sink, &answer, &error), error);
    // Members of a system are the same motion where neither starts nor draws differ.
    carom_ensemble ensemble = {
        .requested = 3, .traced = true, .recorded = true, .perturbation = carom_ensemble_default_perturbation(request.motion)};
    assert_ok(carom_ensemble_run(&request, &answer, &ensemble, &error), error);
    assert_int_equal(carom_table_rows(ensemble.members), 3);
    const size_t nv = (size_t)request.motion->system->nv;
    for (int64_t row = 0; row < 3; row++) {
        int count;
        const double *end = carom_table_series(ensemble.members, CAROM_MEMBER_FINAL, row, &count);
        assert_int_equal(count, 2 * nv);
        assert_memory_equal(end, column(answer.final, "qpos"), nv * sizeof *end);
    }
    // Each has recorded the motion itself, under its own index.
    const int64_t recorded = carom_table_rows(states),
                  *member = carom_table_integer_column(ensemble.states, carom_table_find(ensemble.states, "member"));
    assert_int_equal(carom_table_rows(ensemble.states), 3 * recorded);
    for (int64_t row = 0; row < 3 * recorded; row++) {
        assert_int_equal(member[row], row / recorded);
        assert_memory_equal(column(ensemble.states, "qpos") + (size_t)row * nv, column(states, "qpos") + (size_t)(row % recorded) * nv,
                            nv * sizeof(double));
    }
    assert_ok(carom_orders_run(&request, "first", &orders, &error), error);
    assert_ok(carom_orders_run(&request, "again", &orders, &error), error);
    const double *largest = carom_table_real_column(orders, CAROM_ORDERS_LARGEST);
    assert_int_equal(carom_table_rows(orders), 2);
    assert_true(largest[0] > 0.5 && largest[0] == largest[1]);
    assert_refused(carom_convergence_run(&request, 2, &convergence, &error), CAROM_UNSUPPORTED, error, "'propagative' has no study");
    // Energies and their sum's change, paths with the balls at both ends, and a line for each comparison of orders.
    pictures seen = {0};
    const carom_figures figures = {.title = "a rack",
                                   .motion = request.motion,
                                   .states = states,
                                   .answer = &answer,
                                   .ensemble = &ensemble,
                                   .orders = orders,
                                   .user = &seen,
                                   .receive = count_picture};
    assert_ok(request.integrator->figures(&figures, &error), error);
    assert_int_equal(seen.count, 4);
    assert_int_equal(seen.lines, 3 + 1 + 3 + 2);
    assert_true(seen.points > 5 * carom_table_rows(states));
    carom_ensemble_free(&ensemble);
    carom_table_free(orders);
    carom_table_free(convergence);
    carom_table_free(states);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
    carom_registry_free(registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_balls_do_not_pass_through_each_other),
        cmocka_unit_test(balls_have_radii),
        cmocka_unit_test(mechanisms_are_of_second_order),
        cmocka_unit_test(scenes_move),
        cmocka_unit_test(bad_scenes_in_time_are_refused),
        cmocka_unit_test(studies_take_one_request),
    };
    return cmocka_run_group_tests_name("propagative motion", tests, NULL, NULL);
}
