// SPDX-License-Identifier: Apache-2.0
// Outcome sets: columns, what an outcome writes into its row, and extents.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "impact_support.h"

// -------------------------------------------------------------------------------------------------------- outcome sets

static void test_outcome_columns(void **state) {
    (void)state;
    const char *const names[] = {"v_plus",       "normal_impulse", "tangent_impulse", "normal_velocity", "tangent_velocity",
                                 "energy_ratio", "word",           "steps",           "terminated",      "flags"};
    const carom_column own[] = {{"count", CAROM_COLUMN_INTEGER, 1, "", "a law's own", NULL}};
    carom_impact *impact = support_impact(&reference_disks);
    carom_error error;
    carom_table *outcomes = NULL;
    assert_ok(carom_outcomes_create(impact, own, 1, &outcomes, &error), error);
    assert_int_equal(carom_table_columns(outcomes), CAROM_OUTCOME_COLUMNS + 1);
    for (int i = 0; i < CAROM_OUTCOME_COLUMNS; i++) {
        assert_int_equal(carom_table_find(outcomes, names[i]), i);
        assert_ptr_equal(carom_table_column(outcomes, i), &carom_outcome_columns()[i]);
    }
    assert_int_equal(carom_table_find(outcomes, "count"), CAROM_OUTCOME_COLUMNS);
    assert_int_equal(carom_column_width(carom_table_column(outcomes, CAROM_OUTCOME_VELOCITY), carom_table_sizes(outcomes)), 9);
    assert_int_equal(carom_column_width(carom_table_column(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE), carom_table_sizes(outcomes)), 5);
    // Each flag's bit is that of its name.
    const char *const *flags = carom_outcome_columns()[CAROM_OUTCOME_FLAGS].flags;
    assert_int_equal(CAROM_FLAG_UNSOLVED, 1 << 0);
    assert_string_equal(flags[0], "unsolved");
    assert_int_equal(CAROM_FLAG_ENERGY_GAIN, 1 << 1);
    assert_string_equal(flags[1], "energy-gain");
    assert_int_equal(CAROM_FLAG_FRICTION_IGNORED, 1 << 2);
    assert_string_equal(flags[2], "friction-ignored");
    assert_int_equal(CAROM_FLAG_MARGINAL, 1 << 3);
    assert_string_equal(flags[3], "marginal");
    assert_int_equal(CAROM_FLAG_ADHESIVE, 1 << 4);
    assert_string_equal(flags[4], "adhesive");
    assert_int_equal(CAROM_FLAG_APPROXIMATE, 1 << 5);
    assert_string_equal(flags[5], "approximate");
    assert_null(flags[6]);
    carom_table_free(outcomes);
    carom_impact_free(impact);
}

static carom_table *start_outcomes(const carom_impact *impact) {
    carom_error error;
    carom_table *outcomes = NULL;
    assert_ok(carom_outcomes_create(impact, NULL, 0, &outcomes, &error), error);
    return outcomes;
}

static void add_outcome(carom_table *outcomes, const carom_impact *impact, const double *v, const double *impulse, int64_t steps,
                        int64_t flags) {
    carom_error error;
    assert_ok(carom_outcomes_add(outcomes, impact, v, impulse, steps, flags, &error), error);
}

static const double *reals(const carom_table *outcomes, carom_outcome_column column, int width, int64_t row) {
    return carom_table_real_column(outcomes, (int)column) + row * width;
}

// Row 0: rest, from the published impulses. Row 1: still approaching, impulses not determined.
static void test_an_outcome_fills_its_row(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_boxwall);
    carom_table *outcomes = start_outcomes(impact);
    const double impulse[] = {0.35010376910485408, -0.35010376910485408, 0.64989623089514525, -0.35010376910485469};
    double v[3];
    carom_impact_apply(impact, reference_boxwall.velocity, impulse, v);
    add_outcome(outcomes, impact, v, impulse, 7, 0);
    add_outcome(outcomes, impact, reference_boxwall.velocity, NULL, 0, CAROM_FLAG_UNSOLVED | CAROM_FLAG_ENERGY_GAIN);
    assert_int_equal(carom_table_rows(outcomes), 2);

    assert_true(same_bits(reals(outcomes, CAROM_OUTCOME_VELOCITY, 3, 0), v, 3));
    assert_true(same_bits(reals(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE, 2, 0), (double[]){impulse[0], impulse[2]}, 2));
    assert_true(same_bits(reals(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE, 2, 0), (double[]){impulse[1], impulse[3]}, 2));
    assert_all_close(reals(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY, 2, 0), ((double[2]){0}), 2, 1e-14);
    assert_all_close(reals(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY, 2, 0), ((double[2]){0}), 2, 1e-14);
    assert_close(*reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO, 1, 0), 0, 1e-14);

    for (int i = 0; i < 2; i++) {
        assert_true(isnan(reals(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE, 2, 1)[i]));
        assert_true(isnan(reals(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE, 2, 1)[i]));
    }
    assert_all_close(reals(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY, 2, 1), ((double[]){0, -1}), 2, 1e-15);
    assert_all_close(reals(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY, 2, 1), ((double[]){1, 0}), 2, 1e-15);
    assert_true(*reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO, 1, 1) == 1);

    const int64_t steps[] = {7, 0}, terminated[] = {1, 0}, flags[] = {0, 3};
    for (int row = 0; row < 2; row++) {
        int count;
        assert_int_equal(carom_table_integer_column(outcomes, CAROM_OUTCOME_STEPS)[row], steps[row]);
        assert_int_equal(carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED)[row], terminated[row]);
        assert_int_equal(carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS)[row], flags[row]);
        assert_null(carom_table_list(outcomes, CAROM_OUTCOME_WORD, row, &count));
    }
    carom_table_free(outcomes);
    carom_impact_free(impact);
}

// Spatial contacts have two tangential entries each, contact-major, in every column; contact space reports the same.
static void test_outcomes_of_spatial_contacts(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 37, 0);
    for (int round = 0; round < 50; round++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 4, 2, 1), *reduced = to_contact_space(impact);
        const int nv = carom_impact_get_data(impact)->nv, n = carom_impact_contact_size(impact), contacts = n / 3;
        carom_table *outcomes = start_outcomes(impact), *reduced_outcomes = start_outcomes(reduced);
        double *v = make_doubles(nv), *u = make_doubles(n), *p = make_doubles(n);
        for (int c = 0; c < n; c++) p[c] = carom_stream_normal(&stream);
        carom_impact_apply(impact, carom_impact_get_data(impact)->velocity, p, v);
        carom_impact_contact_velocity(impact, v, u);
        add_outcome(outcomes, impact, v, p, 1, 0);
        add_outcome(reduced_outcomes, reduced, u, p, 1, 0);
        const carom_table *both[] = {outcomes, reduced_outcomes};
        for (int t = 0; t < 2; t++)
            for (int c = 0; c < n; c++) {
                const int at = c % 3 ? c / 3 * 2 + c % 3 - 1 : c / 3;
                const int width = c % 3 ? 2 * contacts : contacts;
                assert_true(reals(both[t], c % 3 ? CAROM_OUTCOME_TANGENT_IMPULSE : CAROM_OUTCOME_NORMAL_IMPULSE, width, 0)[at] == p[c]);
                assert_close(reals(both[t], c % 3 ? CAROM_OUTCOME_TANGENT_VELOCITY : CAROM_OUTCOME_NORMAL_VELOCITY, width, 0)[at], u[c],
                             1e-13);
            }
        assert_int_equal(*carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED), carom_impact_terminated(impact, u));
        free(v);
        free(u);
        free(p);
        carom_table_free(outcomes);
        carom_table_free(reduced_outcomes);
        carom_impact_free(reduced);
        carom_impact_free(impact);
    }
}

static void test_outcomes_have_no_negative_zeros(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block), *reduced = to_contact_space(impact);
    const carom_impact *both[] = {impact, reduced};
    const double zeros[] = {-0.0, -0.0, -0.0, -0.0};
    for (int t = 0; t < 2; t++) {
        carom_table *outcomes = start_outcomes(both[t]);
        add_outcome(outcomes, both[t], zeros, zeros, 1, 0);
        const carom_sizes sizes = carom_impact_sizes(both[t]);
        for (int c = CAROM_OUTCOME_VELOCITY; c <= CAROM_OUTCOME_ENERGY_RATIO; c++)
            assert_no_negative_zeros(carom_table_real_column(outcomes, c), carom_column_width(carom_table_column(outcomes, c), &sizes));
        carom_table_free(outcomes);
    }
    carom_impact_free(reduced);
    carom_impact_free(impact);
}

static void test_no_energy_ratio_at_rest(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    memset(made.velocity, 0, sizeof made.velocity);
    carom_impact *impact = support_impact(&made.data);
    carom_table *outcomes = start_outcomes(impact);
    add_outcome(outcomes, impact, made.velocity, NULL, 0, 0);
    assert_true(isnan(*reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO, 1, 0)));
    assert_int_equal(*carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED), 1);
    carom_table_free(outcomes);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------------------- extents

static void test_an_extent_starts_undetermined(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    carom_error error;
    carom_extent *extent = NULL;
    assert_ok(carom_extent_create(impact, &extent, &error), error);
    carom_table *outcomes = start_outcomes(impact);
    carom_extent_widen(extent, outcomes);
    assert_int_equal(extent->outcomes, 0);
    assert_int_equal(extent->sizes.contacts, 5);
    for (int i = 0; i < 10; i++) assert_true(isnan(extent->normal[i]) && isnan(extent->tangent[i]));
    assert_true(isnan(extent->energy_ratio[0]) && isnan(extent->energy_ratio[1]));
    carom_table_free(outcomes);
    carom_extent_free(extent);
    carom_extent_free(NULL);
    carom_impact_free(impact);
}

static void test_an_extent_covers_its_outcomes(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 38, 0);
    carom_impact *impact = support_impact(&reference_block);
    carom_error error;
    carom_extent *extent = NULL;
    assert_ok(carom_extent_create(impact, &extent, &error), error);
    double normal[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY}, tangent[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    double energy[2] = {INFINITY, -INFINITY};
    // Several blocks, as a sampler delivers them.
    for (int block = 0; block < 5; block++) {
        carom_table *outcomes = start_outcomes(impact);
        for (int row = 0; row < 20; row++) {
            double v[3], u[4];
            for (int k = 0; k < 3; k++) v[k] = carom_stream_normal(&stream);
            carom_impact_contact_velocity(impact, v, u);
            for (int i = 0; i < 2; i++) {
                normal[2 * i] = fmin(normal[2 * i], u[2 * i]);
                normal[2 * i + 1] = fmax(normal[2 * i + 1], u[2 * i]);
                tangent[2 * i] = fmin(tangent[2 * i], u[2 * i + 1]);
                tangent[2 * i + 1] = fmax(tangent[2 * i + 1], u[2 * i + 1]);
            }
            const double ratio = carom_impact_kinetic_energy(impact, v) / carom_impact_initial_energy(impact);
            energy[0] = fmin(energy[0], ratio);
            energy[1] = fmax(energy[1], ratio);
            add_outcome(outcomes, impact, v, NULL, 0, 0);
        }
        carom_extent_widen(extent, outcomes);
        carom_table_free(outcomes);
    }
    assert_int_equal(extent->outcomes, 100);
    assert_all_close(extent->normal, normal, 4, 1e-15);
    assert_all_close(extent->tangent, tangent, 4, 1e-15);
    assert_all_close(extent->energy_ratio, energy, 2, 1e-15);
    carom_extent_free(extent);
    carom_impact_free(impact);
}

// Outcomes that may lie outside the set are counted; members widen another extent, and one sentence says it for everybody.
static void test_outcomes_that_may_lie_outside_are_counted(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_error error;
    carom_extent *extent = NULL, *members = NULL;
    assert_ok(carom_extent_create(impact, &extent, &error), error);
    assert_ok(carom_extent_create(impact, &members, &error), error);
    carom_table *outcomes = start_outcomes(impact);
    // Flags in runs, at both ends, and beside other flags.
    static const int64_t flags[] = {
        CAROM_FLAG_APPROXIMATE, 0, 0, CAROM_FLAG_APPROXIMATE | CAROM_FLAG_MARGINAL, CAROM_FLAG_MARGINAL, CAROM_FLAG_APPROXIMATE,
        CAROM_FLAG_APPROXIMATE};
    static const double height[] = {9, 1, 3, -9, 2, 8, 7};
    for (int row = 0; row < 7; row++) {
        const double v[3] = {0, height[row], 0};
        add_outcome(outcomes, impact, v, NULL, 0, flags[row]);
    }
    carom_extent_widen(extent, outcomes);
    carom_extent_widen_by_members(members, outcomes);
    assert_int_equal(extent->outcomes, 7);
    assert_int_equal(extent->approximate, 4);
    assert_int_equal(members->outcomes, 3);
    assert_int_equal(members->approximate, 0);
    assert_all_close(extent->normal, ((double[]){-9, 9}), 2, 1e-15);
    assert_all_close(members->normal, ((double[]){1, 3}), 2, 1e-15);
    char text[CAROM_CAVEAT_SIZE];
    assert_true(carom_outcomes_caveat(extent->sizes, extent->approximate, extent->outcomes, text));
    assert_non_null(strstr(text, "4 of 7 outcomes may lie outside the set by O(h): slip reverses"));
    assert_true(carom_outcomes_caveat((carom_sizes){.contacts = 2, .tangents = 4}, 1, 7, text));
    assert_non_null(strstr(text, "edges of their friction cones"));
    // The longest numbers have room.
    assert_true(carom_outcomes_caveat((carom_sizes){.contacts = 2, .tangents = 4}, INT64_MAX, INT64_MAX, text));
    assert_non_null(strstr(text, "never do"));
    assert_false(carom_outcomes_caveat(members->sizes, members->approximate, members->outcomes, text));
    assert_string_equal(text, "");
    assert_false(carom_outcomes_caveat(extent->sizes, CAROM_NO_INTEGER, 7, text));
    carom_table_free(outcomes);
    carom_extent_free(extent);
    carom_extent_free(members);
    carom_impact_free(impact);
}

// A value that is not determined widens nothing.
static void test_an_extent_skips_what_is_not_determined(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_error error;
    carom_extent *extent = NULL;
    assert_ok(carom_extent_create(impact, &extent, &error), error);
    carom_table *outcomes = start_outcomes(impact);
    const double v[] = {0, 1, 0};
    for (int row = 0; row < 3; row++) {
        add_outcome(outcomes, impact, v, NULL, 0, 0);
        if (row != 1) *carom_table_reals(outcomes, CAROM_OUTCOME_ENERGY_RATIO) = NAN;
    }
    carom_extent_widen(extent, outcomes);
    const double ratio = 0.5 / carom_impact_initial_energy(impact);
    assert_all_close(extent->energy_ratio, ((double[]){ratio, ratio}), 2, 1e-15);
    assert_all_close(extent->normal, ((double[]){1, 1, 1, 1}), 4, 1e-15);
    assert_int_equal(extent->outcomes, 3);
    carom_table_free(outcomes);
    carom_extent_free(extent);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcome_columns),
        cmocka_unit_test(test_an_outcome_fills_its_row),
        cmocka_unit_test(test_outcomes_of_spatial_contacts),
        cmocka_unit_test(test_outcomes_have_no_negative_zeros),
        cmocka_unit_test(test_no_energy_ratio_at_rest),
        cmocka_unit_test(test_an_extent_starts_undetermined),
        cmocka_unit_test(test_an_extent_covers_its_outcomes),
        cmocka_unit_test(test_outcomes_that_may_lie_outside_are_counted),
        cmocka_unit_test(test_an_extent_skips_what_is_not_determined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
