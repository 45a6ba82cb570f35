// SPDX-License-Identifier: Apache-2.0
// Batches that choose among the solutions of a step: `random` against enumeration one by one, `scattered`, the same bits everywhere.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cones_support.h"
#include "support.h"

static const struct {
    const carom_impact_data *data;
    double step;
    int64_t max_steps;
} scenes[] = {{&reference_block, 0.3, 10}, {&reference_boxwall, 2, 5}, {&reference_compass, 0.25, 5}, {&reference_ramone, 1, 10}};
enum { SCENES = sizeof scenes / sizeof *scenes };

static carom_sample_options selecting(int selection, double step, int64_t max_steps, int64_t samples) {
    carom_sample_options options = tabulated(step, max_steps, samples);
    options.method.selection = selection;
    return options;
}

// The cones of all contact modes hold the solutions that enumeration finds, in its order, and the same numbers choose among them.
static void random_scenes_agree_with_enumeration(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++) {
        carom_impact *impact = support_impact(scenes[k].data);
        const carom_sample_options options =
            selecting(CAROM_SELECT_RANDOM, scenes[k].step, scenes[k].max_steps, support_count(300, 2000, 50000));
        set modes = sample_by(impact, options, "modes"), map = sample_by(impact, options, "cone-map");
        assert_same_outcomes(impact, &map, &modes);
        assert_sound(&map);
        assert_int_equal(map.statistics.selection, CAROM_SELECT_RANDOM);
        assert_true((double)map.statistics.counts.looked_up >= 0.98 * (double)map.statistics.lcp_solves);
        carom_table_free(modes.outcomes);
        carom_table_free(map.outcomes);
        carom_impact_free(impact);
    }
}

static void random_impacts_agree_with_enumeration(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 23, 5);
    for (int i = 0; i < support_count(10, 50, 500); i++) {
        const int dim = 1 + i % 5 / 4;
        carom_impact *impact = support_random_impact(&stream, (support_family)(i % FAMILIES), dim == 1 ? 3 : 1, dim, 2);
        carom_sample_options options = selecting(CAROM_SELECT_RANDOM, NAN, 20, 40);
        options.seed = i;
        set modes = sample_by(impact, options, "modes"), map = sample_by(impact, options, "cone-map");
        assert_same_outcomes(impact, &map, &modes);
        assert_sound(&map);
        carom_table_free(modes.outcomes);
        carom_table_free(map.outcomes);
        carom_impact_free(impact);
    }
}

// A closing step, draws that are correlated, and traces do not disturb the choices.
static void variants_agree_with_enumeration(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    for (int variant = 0; variant < 3; variant++) {
        carom_sample_options options = selecting(CAROM_SELECT_RANDOM, 0.1, 40, 500);
        if (variant == 0) options.draw = CAROM_DRAW_CORRELATED;
        if (variant == 1) options.paths = 20;
        set modes = sample_by(impact, options, "modes"), map = sample_by(impact, options, "cone-map");
        assert_same_outcomes(impact, &map, &modes);
        carom_table_free(modes.outcomes);
        carom_table_free(map.outcomes);
    }
    carom_impact_free(impact);
}

static void threads_and_instructions_do_not_matter(void **state) {
    (void)state;
    static const int selections[] = {CAROM_SELECT_RANDOM, CAROM_SELECT_SCATTERED};
    for (int k = 0; k < 4; k++) {
        carom_impact *impact = support_impact(k < 2 ? &reference_compass : &reference_disks);
        carom_sample_options options = selecting(selections[k % 2], 0.2, 30, 1500);
        options.path = "cone-map";
        char digest[CAROM_DIGEST_TEXT_SIZE] = "";
        for (int set_index = 0; set_index < CAROM_INSTRUCTIONS && !(k == 2); set_index++) {
            char path[40];
            snprintf(path, sizeof path, "cone-map:%s", carom_instructions_names[set_index]);
            if (!carom_instructions_available((carom_instructions)set_index)) continue;
            options.path = path;
            for (int threads = 1; threads <= 3; threads += 2) {
                set s = sample(impact, &options, threads);
                assert_ok(s.status, s.error);
                assert_string_equal(s.statistics.path, path);
                if (!*digest) memcpy(digest, s.statistics.digest, sizeof digest);
                assert_string_equal(s.statistics.digest, digest);
                carom_table_free(s.outcomes);
            }
        }
        carom_impact_free(impact);
    }
}

// The compass gait's first step with a large cap has three solutions (Halm & Posa, table 6); Lemke's method with random covering vectors
// reaches two of them, B lifting and both sticking, and so do batches.
static void scattered_reaches_several_outcomes(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    carom_sample_options options = selecting(CAROM_SELECT_SCATTERED, 100, 1, 4000);
    set s = sample_by(impact, options, "cone-map");
    assert_sound(&s);
    assert_int_equal(s.statistics.selection, CAROM_SELECT_SCATTERED);
    int lifts = 0, sticks = 0;
    const double *normal = carom_table_real_column(s.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *v = carom_table_real_column(s.outcomes, CAROM_OUTCOME_VELOCITY);
    const int64_t rows = carom_table_rows(s.outcomes);
    for (int64_t i = 0; i < rows; i++) {
        double largest = 0;
        for (int j = 0; j < 4; j++) largest = fmax(largest, fabs(v[4 * i + j]));
        lifts += fabs(normal[2 * i + 1] - 0.099555175630902715) < 1e-9;
        sticks += largest < 1e-9;
    }
    assert_true(lifts > rows / 10);
    assert_true(sticks > rows / 10);
    carom_table_free(s.outcomes);
    carom_impact_free(impact);
}

// In the plane and in space: every step is verified, and what no cone serves is solved by Lemke's method.
static void scattered_is_sound(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 24, 5);
    for (int i = 0; i < support_count(4, 12, 100); i++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(i % FAMILIES), 3, 1 + i % 2, 2);
        carom_sample_options options = selecting(CAROM_SELECT_SCATTERED, NAN, 20, 200);
        options.seed = i;
        set s = sample_by(impact, options, "cone-map");
        assert_sound(&s);
        carom_table_free(s.outcomes);
        carom_impact_free(impact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_scenes_agree_with_enumeration), cmocka_unit_test(random_impacts_agree_with_enumeration),
        cmocka_unit_test(variants_agree_with_enumeration),      cmocka_unit_test(threads_and_instructions_do_not_matter),
        cmocka_unit_test(scattered_reaches_several_outcomes),   cmocka_unit_test(scattered_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
