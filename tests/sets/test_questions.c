// SPDX-License-Identifier: Apache-2.0
// Questions about the outcomes of a law: from an answer in memory and from a file the same bits, against brute force, and refusals.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"
#include "support.h"

enum { SAMPLES = 500 };

// The block of the shipped scene, its samples, and both forms of their set.
typedef struct asked {
    carom_scene *scene;
    const carom_impact *impact;
    carom_answer answer;
    carom_result *file;
    carom_outcome_set memory, read;
} asked;

static int prepare(void **state) {
    asked *a = calloc(1, sizeof *a);
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_scene_read("scenes/block.yaml", registry, &a->scene, &error), error);
    a->impact = carom_scene_impact(a->scene);
    carom_halm_posa_options options = carom_halm_posa_defaults();
    options.samples = SAMPLES;
    const carom_law *law = carom_law_find(registry, "halm-posa");
    const carom_law_call call = {.impact = a->impact, .options = &options};
    assert_ok(carom_law_resolve(law, &call, &a->answer, &error), error);
    assert_ok(carom_outcome_set_create(a->impact, a->answer.outcomes, a->answer.result, law->name, false, &a->memory, &error), error);

    char *directory = support_make_directory(), *path = support_join_path(directory, "block.h5");
    carom_result_writer *writer;
    carom_sink sink;
    assert_ok(carom_result_writer_create_impact(path, "block", a->impact, &writer, &error), error);
    assert_ok(carom_result_writer_open_law(writer, law, &options, &sink, &error), error);
    assert_ok(sink.receive(sink.user, a->answer.outcomes, &error), error);
    assert_ok(carom_result_writer_close_law(writer, a->answer.result, &error), error);
    assert_ok(carom_result_writer_commit(writer, &error), error);
    carom_result_writer_free(writer);
    assert_ok(carom_result_open(path, &a->file, &error), error);
    assert_ok(carom_result_set_read(a->file, 0, a->impact, &a->read, &error), error);
    support_remove_directory(directory);
    free(path);
    carom_registry_free(registry);
    *state = a;
    return 0;
}

static int clean_up(void **state) {
    asked *a = *state;
    carom_outcome_set_release(&a->memory);
    carom_outcome_set_release(&a->read);
    carom_result_close(a->file);
    carom_answer_free(&a->answer);
    carom_scene_free(a->scene);
    free(a);
    return 0;
}

static carom_functional functional(const carom_impact *impact, const char *text) {
    carom_functional f;
    carom_error error;
    assert_ok(carom_functional_parse(impact, text, &f, &error), error);
    return f;
}

static void worst_cases_are_those_of_all_rows(void **state) {
    asked *a = *state;
    static const char *const texts[] = {"Jn.A", "2*Jt.B - Jn.A", "Pn.A + Pt.B", "K", "-K", "v.3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        carom_functional f = functional(a->impact, texts[i]);
        carom_error error;
        assert_ok(carom_result_set_read_for(a->file, 0, &f, &a->read, &error), error);
        carom_maximum memory, read;
        assert_ok(carom_outcome_set_maximum(&a->memory, &f, &memory, &error), error);
        assert_ok(carom_outcome_set_maximum(&a->read, &f, &read, &error), error);
        assert_true(memory.value == read.value && memory.point == read.point && !memory.certified);
        for (int64_t row = 0; row < a->memory.points; row++) {
            const carom_outcome_point point = carom_outcome_set_point(&a->memory, row);
            assert_true(carom_functional_value(&f, &point) <= memory.value);
        }
        carom_functional_release(&f);
    }
}

static void hulls_are_the_same(void **state) {
    asked *a = *state;
    carom_functional axes[] = {functional(a->impact, "Jn.A"), functional(a->impact, "Jn.B")};
    double memory, read;
    carom_error error;
    assert_ok(carom_outcome_set_hull(&a->memory, 2, axes, NULL, &memory, &error), error);
    assert_ok(carom_outcome_set_hull(&a->read, 2, axes, NULL, &read, &error), error);
    assert_true(memory == read && memory > 0);
    for (int i = 0; i < 2; i++) carom_functional_release(&axes[i]);
}

static void outcomes_are_in_their_set(void **state) {
    asked *a = *state;
    const int nv = a->memory.nv;
    double u[2][4], v[2][8], wanted[16];
    assert_true(a->memory.n == 4 && nv <= 8);
    // The last outcome, and the same moved by the scale of the impact.
    memcpy(wanted, a->memory.v + (a->memory.points - 1) * nv, (size_t)nv * sizeof *wanted);
    memcpy(wanted + nv, wanted, (size_t)nv * sizeof *wanted);
    wanted[nv + 1] += 1;
    int64_t answered;
    for (int kind = 0; kind < 2; kind++) {
        carom_containment answers[2] = {{.u = u[0], .v = v[0]}, {.u = u[1], .v = v[1]}};
        carom_error error;
        assert_ok(carom_outcome_set_contain(&a->memory, a->impact, (carom_metric_kind)kind, CAROM_CONTAINED, 2, wanted, NULL, answers,
                                            &answered, &error),
                  error);
        assert_true(answers[0].contained && answers[0].distance < 1e-9 && answers[0].unreachable < 1e-9);
        assert_true(!answers[1].contained && answers[1].distance > 0.1);
        assert_all_close(v[0], wanted, nv, 1e-9);
    }
    carom_error error;
    carom_containment answers[2] = {{.u = u[0], .v = v[0]}, {.u = u[1], .v = v[1]}};
    wanted[nv] = 1e308;
    assert_int_equal(carom_outcome_set_contain(&a->memory, a->impact, CAROM_METRIC_KINETIC, CAROM_CONTAINED, 2, wanted, NULL, answers,
                                               &answered, &error),
                     CAROM_BAD_INPUT);
    assert_non_null(strstr(error.message, "v[1]: "));
}

static void a_set_is_at_no_distance_from_itself(void **state) {
    asked *a = *state;
    double u[2][4], v[2][8];
    carom_set_distances found = {.u = {u[0], u[1]}, .v = {v[0], v[1]}};
    const carom_cover_options options = carom_cover_defaults();
    carom_error error;
    assert_ok(carom_outcome_set_distances(&a->memory, &a->read, a->impact, CAROM_METRIC_EUCLIDEAN, &options, NULL, &found, &error), error);
    assert_true(found.a_to_b == 0 && found.b_to_a == 0 && found.hausdorff == 0 && found.complete);
    bool alike;
    assert_ok(carom_impact_resembles(a->impact, a->impact, &alike, &error), error);
    assert_true(alike);
}

static void impacts_that_differ_are_not_alike(void **state) {
    asked *a = *state;
    const carom_impact_data *data = carom_impact_get_data(a->impact);
    double friction[2] = {data->friction[0], data->friction[1] + 0.1}, restitution[2] = {0, 0.5}, velocity[8] = {0};
    memcpy(velocity, data->velocity, (size_t)data->nv * sizeof *velocity);
    velocity[1] -= 1e-3;
    static const char *const names[2] = {"left", "right"};
    carom_impact_data changed[5];
    for (int i = 0; i < 5; i++) changed[i] = *data;
    changed[0].friction = friction;
    changed[1].restitution = restitution;
    changed[2].velocity = velocity;
    changed[3].names = names;
    for (int i = 0; i < 5; i++) {
        carom_impact *other;
        carom_error error;
        bool alike;
        assert_ok(carom_impact_create(&changed[i], &other, &error), error);
        assert_ok(carom_impact_resembles(a->impact, other, &alike, &error), error);
        // The last one is a copy.
        assert_int_equal(alike, i == 4);
        carom_impact_free(other);
    }
}

// Asks to stop from the given poll on.
static bool stop_later(void *user) {
    int *left = user;
    return (*left)-- <= 0;
}

static void questions_can_be_stopped(void **state) {
    asked *a = *state;
    carom_functional axes[] = {functional(a->impact, "Jn.A"), functional(a->impact, "Jn.B")};
    double u[2][4], v[2][8];
    carom_containment *answers = calloc(SAMPLES, sizeof *answers);
    for (int i = 0; i < SAMPLES; i++) answers[i] = (carom_containment){.u = u[0], .v = v[0]};
    const carom_cover_options options = carom_cover_defaults();
    for (int polls = 0; polls < 3; polls++) {
        int left = polls;
        const carom_control control = {.threads = 1, .cancelled = stop_later, .user = &left};
        double area;
        int64_t answered;
        carom_error error;
        assert_ok(carom_outcome_set_contain(&a->memory, a->impact, CAROM_METRIC_EUCLIDEAN, CAROM_CONTAINED, a->memory.points, a->memory.v,
                                            &control, answers, &answered, &error),
                  error);
        assert_true(answered < a->memory.points);
        for (int64_t i = 0; i < answered; i++) assert_true(answers[i].contained);
        left = polls;
        carom_set_distances found = {.u = {u[0], u[1]}, .v = {v[0], v[1]}};
        assert_ok(carom_outcome_set_distances(&a->memory, &a->read, a->impact, CAROM_METRIC_EUCLIDEAN, &options, &control, &found, &error),
                  error);
        assert_false(found.complete);
        left = 0;
        assert_ok(carom_outcome_set_hull(&a->memory, 2, axes, &control, &area, &error), error);
        assert_true(isnan(area));
    }
    free(answers);
    for (int i = 0; i < 2; i++) carom_functional_release(&axes[i]);
}

static void answers_without_outcomes_make_no_set(void **state) {
    asked *a = *state;
    carom_table *none;
    carom_outcome_set set;
    carom_error error;
    assert_ok(carom_outcomes_create(a->impact, NULL, 0, &none, &error), error);
    assert_int_equal(carom_outcome_set_create(a->impact, none, a->answer.result, "moreau", false, &set, &error), CAROM_BAD_INPUT);
    assert_string_equal(error.message, "moreau has no outcomes in memory");
    carom_table_free(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worst_cases_are_those_of_all_rows),
        cmocka_unit_test(hulls_are_the_same),
        cmocka_unit_test(outcomes_are_in_their_set),
        cmocka_unit_test(a_set_is_at_no_distance_from_itself),
        cmocka_unit_test(impacts_that_differ_are_not_alike),
        cmocka_unit_test(questions_can_be_stopped),
        cmocka_unit_test(answers_without_outcomes_make_no_set),
    };
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
