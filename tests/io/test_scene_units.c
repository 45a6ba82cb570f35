// SPDX-License-Identifier: Apache-2.0
// The shipped scenes in other units: the same answers, to the bit where units are powers of two.
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "support.h"

enum { MOST_VELOCITIES = 128 };

static carom_registry *registry;

// What a law says with the selection `lemke`: its velocities, in the units of the impact.
static carom_answer ask(const carom_impact *impact, const char *law) {
    static const char *const none[] = {"selection", "lemke", NULL};
    static const char *const sampling[] = {"selection", "lemke", "sampler", "lcp",  "samples", "128",
                                           "max_steps", "20",    "path",    "auto", NULL};
    static const char *const single[] = {"selection", "lemke", "max_steps", "20", "path", "auto", NULL};
    return support_ask(registry, impact, law, !strcmp(law, "halm-posa") ? sampling : !strcmp(law, "routh") ? single : none);
}

typedef struct unit_change {
    double mass, length, time, tolerance;
} unit_change;

static void assert_same_answers(const char *stem, const carom_impact *impact, const carom_impact *scaled, const char *law,
                                const double *factor, double tolerance) {
    carom_answer a = ask(impact, law), b = ask(scaled, law);
    const size_t nv = (size_t)carom_impact_get_data(impact)->nv;
    assert_string_equal(carom_table_text(a.result, CAROM_RESULT_VERDICT, 0), carom_table_text(b.result, CAROM_RESULT_VERDICT, 0));
    assert_int_equal(carom_table_rows(a.outcomes), carom_table_rows(b.outcomes));
    const double *v = carom_table_real_column(a.outcomes, CAROM_OUTCOME_VELOCITY);
    const double *other = carom_table_real_column(b.outcomes, CAROM_OUTCOME_VELOCITY);
    const double allowed = tolerance * carom_max_abs(nv, carom_impact_get_data(impact)->velocity);
    for (size_t i = 0; i < (size_t)carom_table_rows(a.outcomes) * nv; i++)
        if (!(fabs(other[i] / factor[i % nv] - v[i]) <= allowed))
            fail_msg("%s, %s: outcome %zu, v[%zu] is %.17g and %.17g", stem, law, i / nv, i % nv, v[i], other[i] / factor[i % nv]);
    carom_answer_free(&a);
    carom_answer_free(&b);
}

// Units of mass, length and time, one by one and together; every second velocity coordinate is a length, as translations are, the others
// are none, as angles. The automatic step follows.
static void scenes_have_the_same_answers_in_other_units(void **state) {
    (void)state;
    static const unit_change changes[] = {{4096, 1, 1, 0},   {1, 64, 1, 0},   {1, 1, 1.0 / 16, 0}, {1.0 / 1048576, 256, 1024, 0},
                                          {0.1, 1, 1, 1e-9}, {1, 3, 1, 1e-9}, {3, 0.1, 3, 1e-9}};
    DIR *directory = opendir("scenes");
    assert_non_null(directory);
    int scenes = 0;
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *ending = strrchr(entry->d_name, '.');
        if (entry->d_name[0] == '.' || !ending || strcmp(ending, ".yaml") != 0) continue;
        char path[300];
        snprintf(path, sizeof path, "scenes/%.255s", entry->d_name);
        carom_scene *scene;
        // Scenes of motions alone have no impact, some have no mass matrix or no contact that approaches.
        if (carom_scene_read(path, registry, &scene, NULL)) continue;
        const carom_impact *impact = carom_scene_impact(scene);
        const carom_impact_data *data = carom_impact_get_data(impact);
        if (carom_impact_has_system(impact) && data->nv <= MOST_VELOCITIES && data->contacts <= 8) {
            for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
                const unit_change *c = &changes[k];
                double own[MOST_VELOCITIES], factor[MOST_VELOCITIES];
                for (int j = 0; j < data->nv; j++) {
                    own[j] = j % 2 ? 1 : c->length;
                    factor[j] = own[j] * c->time;
                }
                carom_impact *scaled = support_impact_in_units(data, c->mass * c->length * c->length, c->length, c->time, own);
                assert_same_answers(entry->d_name, impact, scaled, "anitescu-potra", factor, c->tolerance);
                assert_same_answers(entry->d_name, impact, scaled, "routh", factor, c->tolerance);
                assert_same_answers(entry->d_name, impact, scaled, "halm-posa", factor, c->tolerance);
                carom_impact_free(scaled);
            }
            scenes++;
        }
        carom_scene_free(scene);
    }
    closedir(directory);
    assert_in_range(scenes, 10, 1000);
}

static int set_up(void **state) {
    (void)state;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_have_the_same_answers_in_other_units)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
