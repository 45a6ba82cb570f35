// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of integrators share: a registry, a run with options as texts, and columns by their names.
#ifndef CAROM_TESTS_INTEGRATORS_H
#define CAROM_TESTS_INTEGRATORS_H

#include <stdlib.h>

#include "carom/dynamics.h"
#include "support.h"

static carom_registry *registry;

static inline int start(void **state) {
    (void)state;
    carom_error error;
    return carom_registry_create(&registry, &error) || carom_dynamics_register(registry, &error);
}

static inline int stop(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

/// Runs an integrator with options given as name, text pairs, NULL at the end.
static inline carom_status run_integrator(const char *name, const carom_motion *motion, const char *const *pairs,
                                          const carom_control *control, const carom_sink *states, carom_motion_answer *answer,
                                          carom_error *error) {
    const carom_integrator *one = carom_integrator_find(registry, name);
    void *options = malloc(one->options_size);
    one->defaults(options);
    for (; pairs && *pairs; pairs += 2) {
        const int row = carom_option_find(one->options, one->option_count, pairs[0]);
        assert_true(row >= 0);
        assert_ok(carom_option_set(&one->options[row], options, pairs[1], error), *error);
    }
    const carom_motion_request request = {
        .integrator = one, .motion = motion, .options = options, .registry = registry, .control = control};
    const carom_status status = carom_integrator_run(&request, states, answer, error);
    free(options);
    return status;
}

static inline const double *reals(const carom_table *table, const char *name) {
    const int column = carom_table_find(table, name);
    assert_true(column >= 0);
    return carom_table_real_column(table, column);
}

static inline const char *verdict(const carom_motion_answer *answer) { return carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0); }

/// Runs a scene whose model is `xml`, called model.xml there, without any warning, until it ends with a verdict.
static inline carom_motion_answer run_model_until(const char *end, const char *xml, const char *text, const char *integrator,
                                                  const char *const *pairs) {
    char *directory = support_make_directory();
    free(support_write_file(directory, "model.xml", xml));
    char *path = support_write_file(directory, "scene.yaml", text);
    carom_scene *scene;
    carom_motion_answer answer;
    carom_error error;
    assert_ok(carom_scene_read_motion(path, registry, &scene, &error), error);
    assert_int_equal(carom_scene_warnings(scene), 0);
    assert_ok(run_integrator(integrator, carom_scene_motion(scene), pairs, NULL, NULL, &answer, &error), error);
    assert_string_equal(verdict(&answer), end);
    carom_scene_free(scene);
    free(path);
    support_remove_directory(directory);
    return answer;
}

static inline carom_motion_answer run_model(const char *xml, const char *text, const char *integrator, const char *const *pairs) {
    return run_model_until("complete", xml, text, integrator, pairs);
}

#endif
