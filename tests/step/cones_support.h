// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sampled sets by paths that are compared with each other.
#ifndef CAROM_TESTS_CONES_SUPPORT_H
#define CAROM_TESTS_CONES_SUPPORT_H

#include "carom/reach.h"
#include "support.h"

typedef struct set {
    carom_status status;
    carom_error error;
    carom_sample_statistics statistics;
    carom_table *outcomes;
} set;

static inline set sample(const carom_impact *impact, const carom_sample_options *options, int threads) {
    set s = {.status = CAROM_OK};
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &s.error), s.error);
    assert_ok(carom_outcomes_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &s.outcomes, &s.error), s.error);
    const carom_sink sink = carom_table_sink(s.outcomes);
    const carom_control control = {.threads = threads};
    s.status = carom_reach_sample(impact, options, registry, &control, &sink, &s.statistics, &s.error);
    carom_registry_free(registry);
    return s;
}

static inline set sample_by(const carom_impact *impact, carom_sample_options options, const char *path) {
    options.path = path;
    set s = sample(impact, &options, 1);
    assert_ok(s.status, s.error);
    return s;
}

static inline carom_sample_options tabulated(double step, int64_t max_steps, int64_t samples) {
    carom_sample_options options = carom_sample_defaults();
    options.step = step;
    options.max_steps = max_steps;
    options.samples = samples;
    options.seed = 1;
    options.sampler = CAROM_SAMPLER_LCP;
    options.method.selection = CAROM_SELECT_LEMKE;
    return options;
}

static inline void assert_same_column(const set *a, const set *b, int column, int width, double tolerance) {
    const size_t values = (size_t)carom_table_rows(a->outcomes) * (size_t)width;
    assert_all_close(carom_table_real_column(a->outcomes, column), carom_table_real_column(b->outcomes, column), values, tolerance);
}

// The same samples, step counts and flags; velocities and impulses to 1e-12 of the largest.
static inline void assert_same_outcomes(const carom_impact *impact, const set *a, const set *b) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(carom_table_rows(a->outcomes), carom_table_rows(b->outcomes));
    assert_int_equal(a->statistics.lcp_solves, b->statistics.lcp_solves);
    assert_int_equal(a->statistics.counts.terminated, b->statistics.counts.terminated);
    assert_int_equal(a->statistics.counts.closed, b->statistics.counts.closed);
    const size_t rows = (size_t)carom_table_rows(a->outcomes);
    static const int integers[] = {CAROM_OUTCOME_STEPS, CAROM_OUTCOME_TERMINATED, CAROM_OUTCOME_FLAGS, CAROM_OUTCOME_COLUMNS};
    for (size_t k = 0; k < sizeof integers / sizeof *integers && rows; k++)
        assert_memory_equal(carom_table_integer_column(a->outcomes, integers[k]), carom_table_integer_column(b->outcomes, integers[k]),
                            rows * sizeof(int64_t));
    assert_same_column(a, b, CAROM_OUTCOME_VELOCITY, data->nv, 1e-12);
    assert_same_column(a, b, CAROM_OUTCOME_NORMAL_VELOCITY, data->contacts, 1e-12);
}

static inline void assert_sound(const set *s) {
    assert_int_equal(s->statistics.counts.unsolved, 0);
    assert_true(s->statistics.counts.max_residual <= CAROM_LCP_TOLERANCE);
    assert_true(s->statistics.max_relative_energy_gain <= 1e-12);
    assert_true(s->statistics.counts.looked_up <= s->statistics.lcp_solves);
}

#endif
