// SPDX-License-Identifier: Apache-2.0
// Sampling and bounds: reference counts and extents, determinism, interruption, Algorithm 2, the constants of Appendix B.
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct set {
    carom_sample_statistics statistics;
    carom_table *outcomes;
    carom_extent *extent;
} set;

static set sample(const carom_impact_data *data, const carom_sample_options *options, const carom_control *control) {
    set s;
    carom_error error;
    carom_registry *registry;
    carom_impact *impact = support_impact(data);
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_outcomes_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &s.outcomes, &error), error);
    assert_ok(carom_extent_create(impact, &s.extent, &error), error);
    const carom_sink sink = carom_table_sink(s.outcomes);
    assert_ok(carom_reach_sample(impact, options, registry, control, &sink, &s.statistics, &error), error);
    carom_extent_widen(s.extent, s.outcomes);
    carom_registry_free(registry);
    carom_impact_free(impact);
    return s;
}

static void release(set *s) {
    carom_table_free(s->outcomes);
    carom_extent_free(s->extent);
}

// Time stepping with Lemke's solution of every step.
static carom_sample_options tabulated(double step, int64_t max_steps, int64_t samples) {
    carom_sample_options options = carom_sample_defaults();
    options.sampler = CAROM_SAMPLER_LCP;
    options.method.selection = CAROM_SELECT_LEMKE;
    options.step = step;
    options.max_steps = max_steps;
    options.samples = samples;
    options.seed = 1;
    return options;
}

// Halm & Posa's scenes with the h and N of docs/paper.md: LCPs per sample, and the extents of the sequential outcomes.
static void scenes_have_the_reference_statistics(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        double step, lcps;
        int64_t max_steps;
    } rows[] = {{&reference_block, 0.3, 2.470, 10}, {&reference_boxwall, 2, 1.535, 5}, {&reference_compass, 0.25, 1.633, 5}};
    const int samples = support_count(2048, 65536, 65536);
    // Four standard errors of the larger deviation, 0.8 LCPs.
    const double tolerance = samples == 65536 ? 0.02 : 4 * 0.8 / sqrt(samples);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const carom_sample_options options = tabulated(rows[i].step, rows[i].max_steps, samples);
        set s = sample(rows[i].data, &options, NULL);
        assert_true(fabs(s.statistics.lcps_per_sample - rows[i].lcps) <= tolerance);
        assert_int_equal(s.statistics.counts.unsolved, 0);
        assert_int_equal(s.statistics.counts.fallbacks, 0);
        assert_true((double)s.statistics.counts.terminated >= 0.99 * samples);
        assert_true(s.statistics.counts.max_residual <= 1e-9);
        assert_true(s.statistics.max_relative_energy_gain <= 1e-12);
        assert_int_equal(carom_table_rows(s.outcomes), s.statistics.counts.terminated);
        release(&s);
    }
}

static void assert_at_most(double value, double limit) { assert_true(value <= limit); }

static void extents_stay_within_the_sequential_outcomes(void **state) {
    (void)state;
    const int samples = support_count(2048, 65536, 65536);
    carom_sample_options options = tabulated(0.3, 10, samples);
    set block = sample(&reference_block, &options, NULL);
    for (int i = 0; i < 2; i++) {
        assert_at_most(block.extent->normal[2 * i + 1], 0.0930184);
        if (samples == 65536) assert_true(block.extent->normal[2 * i + 1] >= 0.092);
        assert_at_most(fabs(block.extent->tangent[2 * i]), 1e-12);
        assert_at_most(fabs(block.extent->tangent[2 * i + 1]), 1e-12);
    }
    release(&block);
    options = tabulated(2, 5, samples);
    set boxwall = sample(&reference_boxwall, &options, NULL);
    assert_at_most(boxwall.extent->normal[3], 0.1056423);
    assert_at_most(boxwall.extent->tangent[1], 0.3720979);
    assert_at_most(boxwall.extent->tangent[3], 0.0725422);
    release(&boxwall);
    options = tabulated(0.25, 5, samples);
    set compass = sample(&reference_compass, &options, NULL);
    assert_at_most(compass.extent->normal[3], 0.0995552);
    release(&compass);
}

// Spec D.6: the block's outcomes lie in the triangle (0,0), (a,0), (0,a).
static void block_outcomes_lie_in_the_triangle(void **state) {
    (void)state;
    const double a = 0.21 * 0.44294469180700204;
    const carom_sample_options options = tabulated(0.3, 10, 8192);
    set s = sample(&reference_block, &options, NULL);
    const double *normal = carom_table_real_column(s.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    for (int64_t row = 0; row < carom_table_rows(s.outcomes); row++) {
        assert_true(normal[2 * row] >= -1e-8 && normal[2 * row + 1] >= -1e-8);
        assert_true(normal[2 * row] + normal[2 * row + 1] <= a + 1e-9);
    }
    release(&s);
}

static void digests_do_not_depend_on_threads(void **state) {
    (void)state;
    const carom_sample_options options = tabulated(2, 5, 5000);
    char digest[CAROM_DIGEST_TEXT_SIZE] = "";
    for (int threads = 1; threads <= 3; threads++)
        for (int repeat = 0; repeat < 2; repeat++) {
            const carom_control control = {.threads = threads};
            set s = sample(&reference_boxwall, &options, &control);
            if (!*digest) strcpy(digest, s.statistics.digest);
            assert_string_equal(s.statistics.digest, digest);
            release(&s);
        }
}

// Every instruction set gives the same bits.
static void digests_do_not_depend_on_the_instruction_set(void **state) {
    (void)state;
    static const char *const paths[] = {"lemke", "lemke:scalar", "lemke:portable", "lemke:avx2", "lemke:avx512"};
    const carom_impact_data *scenes[] = {&reference_block, &reference_compass, &reference_disks};
    for (int k = 0; k < 3; k++) {
        char digest[CAROM_DIGEST_TEXT_SIZE] = "";
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            carom_sample_options options = tabulated(0.3, 50, 500);
            options.path = paths[i];
            carom_registry *registry;
            carom_error error;
            carom_sample_statistics statistics;
            carom_impact *impact = support_impact(scenes[k]);
            assert_ok(carom_registry_create(&registry, &error), error);
            const carom_status status = carom_reach_sample(impact, &options, registry, NULL, NULL, &statistics, &error);
            if (status != CAROM_UNSUPPORTED) {
                assert_ok(status, error);
                if (i) assert_string_equal(statistics.path, paths[i]);
                if (!*digest) strcpy(digest, statistics.digest);
                assert_string_equal(statistics.digest, digest);
            }
            carom_registry_free(registry);
            carom_impact_free(impact);
        }
    }
}

// A sample is a function of (seed, index): fewer samples are a prefix, another seed is another set.
static void samples_are_a_prefix_of_more(void **state) {
    (void)state;
    carom_sample_options options = tabulated(0.3, 10, 700);
    set all = sample(&reference_block, &options, NULL);
    options.samples = 300;
    set few = sample(&reference_block, &options, NULL);
    const size_t rows = (size_t)carom_table_rows(few.outcomes);
    assert_memory_equal(carom_table_real_column(all.outcomes, CAROM_OUTCOME_VELOCITY),
                        carom_table_real_column(few.outcomes, CAROM_OUTCOME_VELOCITY), rows * 3 * sizeof(double));
    options.seed = 2;
    set other = sample(&reference_block, &options, NULL);
    assert_string_not_equal(few.statistics.digest, other.statistics.digest);
    release(&all);
    release(&few);
    release(&other);
}

// Masses of a picogram and of a million tons, velocities of a picometre and of a gigametre a second: v' of the block is unique, so that the
// set scales with the velocity and with nothing else, and every step counts the same.
static void sets_do_not_depend_on_units(void **state) {
    (void)state;
    static const double masses[] = {1e-12, 1e-9, 1e9, 1e12}, velocities[] = {1e-12, 1, 1e9};
    carom_sample_options options = tabulated(0.3, 50, 100);
    set expected = sample(&reference_block, &options, NULL);
    for (size_t i = 0; i < sizeof masses / sizeof *masses; i++)
        for (size_t k = 0; k < sizeof velocities / sizeof *velocities; k++) {
            double mass[9], v[3];
            for (int j = 0; j < 9; j++) mass[j] = masses[i] * reference_block.mass[j];
            for (int j = 0; j < 3; j++) v[j] = velocities[k] * reference_block.velocity[j];
            carom_impact_data data = reference_block;
            data.mass = mass;
            data.velocity = v;
            options.step = 0.3 * masses[i] * velocities[k];
            set scaled = sample(&data, &options, NULL);
            assert_int_equal(scaled.statistics.counts.unsolved, 0);
            assert_int_equal(scaled.statistics.lcp_solves, expected.statistics.lcp_solves);
            assert_true(scaled.statistics.max_relative_energy_gain <= 1e-12);
            for (int j = 0; j < 2; j++)
                assert_close(scaled.extent->normal[2 * j + 1] / velocities[k], expected.extent->normal[2 * j + 1], 1e-9);
            release(&scaled);
        }
    release(&expected);
}

// Cancels after some polls: the cone map has learnt by then.
static bool cancel_soon(void *user) { return atomic_fetch_add((atomic_int *)user, 1) >= 5000; }

static void interruption_keeps_a_prefix(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        atomic_int polls = 0;
        const carom_control control = {.threads = threads, .cancelled = cancel_soon, .user = &polls};
        carom_sample_options options = tabulated(0.3, 10, 400000);
        set cut = sample(&reference_block, &options, &control);
        assert_int_equal(cut.statistics.verdict, CAROM_INTERRUPTED);
        assert_int_equal(cut.statistics.requested, 400000);
        assert_true(cut.statistics.counts.samples > 0 && cut.statistics.counts.samples < 400000);
        options.samples = cut.statistics.counts.samples;
        set whole = sample(&reference_block, &options, NULL);
        assert_int_equal(whole.statistics.verdict, CAROM_COMPLETE);
        assert_string_equal(whole.statistics.digest, cut.statistics.digest);
        assert_int_equal(whole.statistics.lcp_solves, cut.statistics.lcp_solves);
        release(&cut);
        release(&whole);
    }
}

// Algorithm 2: samples that are cut off near termination are closed; the closing steps are not counted as LCP solves.
static void the_closing_step_terminates_what_is_near(void **state) {
    (void)state;
    carom_sample_options options = tabulated(0.3, 2, 4096);
    set open = sample(&reference_block, &options, NULL);
    options.epsilon = 0.29;
    set closed = sample(&reference_block, &options, NULL);
    assert_int_equal(open.statistics.counts.closed, 0);
    assert_true(closed.statistics.counts.closed > 0);
    assert_int_equal(closed.statistics.counts.terminated, open.statistics.counts.terminated + closed.statistics.counts.closed);
    assert_int_equal(closed.statistics.lcp_solves, open.statistics.lcp_solves);
    release(&open);
    release(&closed);
}

// Lemma 8: v' = v solves the step of a separating v, so that samples which have ended keep their velocities. Where v' is not unique,
// another solution would move them: a random one lost 18 % of the samples of the compass gait and of RAMone.
static void the_closing_step_leaves_ended_samples_alone(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        double step;
        int64_t max_steps;
    } rows[] = {{&reference_compass, 0.25, 5}, {&reference_ramone, 1, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_sample_options options = tabulated(rows[i].step, rows[i].max_steps, support_count(512, 2048, 16384));
        options.method.selection = CAROM_SELECT_RANDOM;
        set open = sample(rows[i].data, &options, NULL);
        options.epsilon = 0.01;
        set closed = sample(rows[i].data, &options, NULL);
        assert_int_equal(closed.statistics.counts.terminated, open.statistics.counts.terminated + closed.statistics.counts.closed);
        // Every sample that had ended is among the others, bit by bit.
        const int nv = rows[i].data->nv, column = carom_table_find(open.outcomes, "sample");
        const int64_t *ended = carom_table_integer_column(open.outcomes, column),
                      *all = carom_table_integer_column(closed.outcomes, column);
        const double *before = carom_table_real_column(open.outcomes, CAROM_OUTCOME_VELOCITY);
        const double *after = carom_table_real_column(closed.outcomes, CAROM_OUTCOME_VELOCITY);
        for (int64_t row = 0, at = 0; row < carom_table_rows(open.outcomes); row++, at++) {
            while (at < carom_table_rows(closed.outcomes) && all[at] != ended[row]) at++;
            assert_true(at < carom_table_rows(closed.outcomes));
            assert_memory_equal(after + at * nv, before + row * nv, (size_t)nv * sizeof *after);
        }
        release(&open);
        release(&closed);
    }
}

// A closing step from rest sees velocities of round-off alone, whose energy changes decide nothing.
static void closing_steps_from_rest_are_solved(void **state) {
    (void)state;
    carom_error error;
    carom_registry *registry;
    carom_stream stream;
    carom_stream_start(&stream, 26, 5);
    assert_ok(carom_registry_create(&registry, &error), error);
    for (int i = 0; i < support_count(20, 40, 1000); i++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_DUPLICATED, 2, 1, 5);
        carom_sample_options options = tabulated(NAN, 2, 300);
        assert_ok(carom_reach_auto_step(impact, options.method.cone_edges, &options.step, &error), error);
        options.epsilon = 0.7 * options.step;
        options.path = "lemke";
        carom_sample_statistics statistics;
        assert_ok(carom_reach_sample(impact, &options, registry, NULL, NULL, &statistics, &error), error);
        assert_int_equal(statistics.counts.unsolved, 0);
        carom_impact_free(impact);
    }
    carom_registry_free(registry);
}

// The closing step moves v by at most eps/3 in the 2-norm.
static void the_closing_step_is_small(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    carom_error error;
    double psi;
    assert_ok(carom_reach_psi(impact, 2, &psi, &error), error);
    carom_stepper_options stepper = carom_stepper_defaults();
    stepper.kind = CAROM_STEP_CAPPED;
    carom_time_stepping *simulator;
    assert_ok(carom_time_stepping_create(impact, &stepper, 0.25, 1, CAROM_DRAW_UNIFORM, &simulator, &error), error);
    const double epsilon = 0.1;
    for (int64_t i = 0; i < 500; i++) {
        double v[4], before[4], impulse[4];
        carom_sample_counts result;
        carom_time_stepping_run(simulator, 3, i, v, impulse, &result);
        memcpy(before, v, sizeof v);
        carom_time_stepping_close(simulator, epsilon / (3 * psi), v, impulse, &result);
        double moved = 0;
        for (int k = 0; k < 4; k++) moved += (v[k] - before[k]) * (v[k] - before[k]);
        assert_true(sqrt(moved) <= epsilon / 3);
    }
    carom_time_stepping_free(simulator);
    carom_impact_free(impact);
}

// ----------------------------------------------------------------------------------------------------------- coverage

// Distance in contact velocities from a point to the nearest outcome.
static double distance_to_set(const set *s, const double *normal, const double *tangent, int contacts) {
    const double *normals = carom_table_real_column(s->outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *tangents = carom_table_real_column(s->outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
    double nearest = INFINITY;
    for (int64_t row = 0; row < carom_table_rows(s->outcomes); row++) {
        double squared = 0;
        for (int i = 0; i < contacts; i++) {
            squared += pow(normals[row * contacts + i] - normal[i], 2);
            squared += pow(tangents[row * contacts + i] - tangent[i], 2);
        }
        nearest = fmin(nearest, sqrt(squared));
    }
    return nearest;
}

// Every outcome of a law lies within 1 % of the initial contact speed of the sampled set.
static void check_covered(const carom_impact_data *data, const set *s, const char *law_name, const char *option, const char *value) {
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_impact *impact = support_impact(data);
    const carom_law *law = carom_law_find(registry, law_name);
    void *options = malloc(law->options_size);
    law->defaults(options);
    if (option) assert_ok(carom_law_set(law, options, option, value, &error), error);
    carom_answer answer;
    assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = impact, .options = options, .registry = registry}, &answer, &error),
              error);
    const double *normal = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *tangent = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
    for (int64_t row = 0; row < carom_table_rows(answer.outcomes); row++)
        assert_true(distance_to_set(s, normal + row * data->contacts, tangent + row * data->contacts, data->contacts) <=
                    0.01 * carom_impact_velocity_scale(impact));
    carom_answer_free(&answer);
    free(options);
    carom_impact_free(impact);
    carom_registry_free(registry);
}

static void correlated_draws_reach_the_corners(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        double step;
    } rows[] = {{&reference_block, 0.3}, {&reference_boxwall, 2}, {&reference_compass, 0.25}, {&reference_ramone, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_sample_options options = tabulated(rows[i].step, 200, support_count(2048, 8192, 65536));
        options.draw = CAROM_DRAW_CORRELATED;
        options.method.selection = CAROM_SELECT_RANDOM;
        set s = sample(rows[i].data, &options, NULL);
        assert_int_equal(s.statistics.counts.unsolved, 0);
        assert_true(s.statistics.max_relative_energy_gain <= 1e-12);
        check_covered(rows[i].data, &s, "sequential", NULL, NULL);
        check_covered(rows[i].data, &s, "anitescu-potra", "selection", "all");
        release(&s);
    }
}

// At a small step, uniform draws shrink the sampled set and correlated ones do not (docs/laws.md, "halm-posa").
static void correlated_draws_do_not_shrink_at_small_steps(void **state) {
    (void)state;
    carom_sample_options options = tabulated(0.02, 1000, 4096);
    set uniform = sample(&reference_block, &options, NULL);
    options.draw = CAROM_DRAW_CORRELATED;
    set correlated = sample(&reference_block, &options, NULL);
    assert_true(uniform.extent->normal[1] < 0.06);
    assert_true(correlated.extent->normal[1] > 0.08);
    release(&uniform);
    release(&correlated);
}

// The compass with a uniformly random choice among the solutions of every step.
static void random_selection_has_the_reference_count(void **state) {
    (void)state;
    carom_sample_options options = tabulated(0.25, 5, support_count(2048, 65536, 65536));
    options.method.selection = CAROM_SELECT_RANDOM;
    set s = sample(&reference_compass, &options, NULL);
    assert_true(fabs(s.statistics.lcps_per_sample - 2.252) <= (s.statistics.counts.samples == 65536 ? 0.02 : 0.1));
    assert_int_equal(s.statistics.selection, CAROM_SELECT_RANDOM);
    release(&s);
}

// The first samples keep their paths: from the pre-impact contact velocity to the outcome, a row more than steps.
static void paths_are_kept_where_asked_for(void **state) {
    (void)state;
    carom_sample_options options = tabulated(0.3, 10, 600);
    options.paths = 300;
    set s = sample(&reference_block, &options, NULL);
    const int column = carom_table_find(s.outcomes, "path"), index = carom_table_find(s.outcomes, "sample");
    const double *normals = carom_table_real_column(s.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    for (int64_t row = 0; row < carom_table_rows(s.outcomes); row++) {
        int count;
        const double *path = carom_table_series(s.outcomes, column, row, &count);
        const int64_t steps = carom_table_integer_column(s.outcomes, CAROM_OUTCOME_STEPS)[row];
        assert_int_equal(count, carom_table_integer_column(s.outcomes, index)[row] < 300 ? 4 * (steps + 1) : 0);
        if (!count) continue;
        assert_close(path[0], -0.44294469180700202, 1e-15);
        assert_close(path[count - 4], normals[2 * row], 1e-15);
    }
    release(&s);
}

// A path of many thousands of steps is whole, alone and in batches.
static void long_paths_are_whole(void **state) {
    (void)state;
    static const char *const ways[] = {"lemke", "cone-map"};
    for (int i = 0; i < 2; i++) {
        carom_sample_options options = tabulated(2e-5, 100000, 2);
        options.paths = 2;
        options.path = ways[i];
        set s = sample(&reference_block, &options, NULL);
        assert_int_equal(carom_table_rows(s.outcomes), 2);
        for (int64_t row = 0; row < 2; row++) {
            int count;
            const double *path = carom_table_series(s.outcomes, carom_table_find(s.outcomes, "path"), row, &count);
            const int64_t steps = carom_table_integer_column(s.outcomes, CAROM_OUTCOME_STEPS)[row];
            assert_true(steps > 4100);
            assert_int_equal(count, 4 * (steps + 1));
            // Many steps of batches add up their round-off.
            assert_close(path[count - 4], carom_table_real_column(s.outcomes, CAROM_OUTCOME_NORMAL_VELOCITY)[2 * row], 1e-12);
        }
        release(&s);
    }
}

// Appendix B.
static void bounds_are_those_of_appendix_b(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        double step, r_norm, psi, c;
    } rows[] = {
        {&reference_block, 0.3, 1, 22.73656339, 64},           {&reference_compass, 0.25, 2.116219829, 669.1436741, 1036},
        {&reference_boxwall, 2, 1.486093459, 32.49475593, 24}, {&reference_ramone, 1, 0.4170407076, 3972373.966, 116},
        {&reference_disks, 1, 2.867590663, 89.95583174, 100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_impact *impact = support_impact(rows[i].data);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 2, rows[i].step, &bounds, &error), error);
        assert_true(bounds.pointed && bounds.pointed_certified);
        assert_close(bounds.r_norm / rows[i].r_norm, 1, 1e-9);
        assert_close(bounds.psi / rows[i].psi, 1, 1e-8);
        assert_close(bounds.step_bound_c, rows[i].c, 0);
        carom_impact_free(impact);
    }
}

// Theorem 8: P(steps > c ceil(||v-||_M) + j) <= exp(-j/(m+1)^2). With `count` samples, the largest count of steps exceeds this j with
// probability 1e-6 at most. The bound is loose: no measured count comes near it.
static void step_counts_keep_to_their_bound(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        double step, bound;
    } rows[] = {{&reference_block, 0.3, 64}, {&reference_compass, 0.25, 1036}, {&reference_boxwall, 2, 24}, {&reference_ramone, 1, 232}};
    const int count = support_count(1024, 4096, 65536);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_impact *impact = support_impact(rows[i].data);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 2, rows[i].step, &bounds, &error), error);
        assert_close(bounds.step_bound, rows[i].bound, 0);
        assert_close(bounds.step_tail, 9, 0);
        const double most = bounds.step_bound + bounds.step_tail * log(1e6 * count);
        carom_sample_options options = tabulated(rows[i].step, (int64_t)most, count);
        set s = sample(rows[i].data, &options, NULL);
        assert_int_equal(s.statistics.counts.terminated, count);
        release(&s);
        carom_impact_free(impact);
    }
}

// Lemma 1 where its number of samples can be counted: Omega = 1/4 and 1/10^4; and where it cannot.
static void samples_of_a_net_are_those_of_lemma_1(void **state) {
    (void)state;
    carom_net_question q = {.lipschitz = 1, .step = 1, .caps = 1, .epsilon = 0.25, .failure = 0.01};
    double log10_samples;
    carom_error error;
    assert_ok(carom_reach_log10_samples(&q, &log10_samples, &error), error);
    assert_close(pow(10, log10_samples), log(0.01 / 4) / log(0.75), 1e-9);
    q = (carom_net_question){.lipschitz = 5, .step = 1, .caps = 4, .epsilon = 1, .failure = 0.5};
    assert_ok(carom_reach_log10_samples(&q, &log10_samples, &error), error);
    assert_close(pow(10, log10_samples) / (log(0.5e-4) / log1p(-1e-4)), 1, 1e-9);
    q.caps = 100000;
    assert_ok(carom_reach_log10_samples(&q, &log10_samples, &error), error);
    assert_close(log10_samples / (1e5 * log10(ceil(5 * sqrt(1e5)))), 1, 1e-3);
    q = (carom_net_question){.lipschitz = 1, .step = 0.1, .caps = 4, .epsilon = 1, .failure = 0.5};
    assert_ok(carom_reach_log10_samples(&q, &log10_samples, &error), error);
    assert_close(log10_samples, 0, 0);
    q.failure = 1;
    assert_refused(carom_reach_log10_samples(&q, &log10_samples, &error), CAROM_BAD_INPUT, error, "failure");
    q = (carom_net_question){.lipschitz = INFINITY, .step = 0.1, .caps = 4, .epsilon = 1, .failure = 0.5};
    assert_refused(carom_reach_log10_samples(&q, &log10_samples, &error), CAROM_BAD_INPUT, error, "finite");
}

// A ball between two walls: opposite normals cancel.
static void a_jammed_system_is_not_pointed(void **state) {
    (void)state;
    static const double mass[] = {1}, normal[] = {1, -1}, tangent[] = {0, 0}, mu[] = {0, 0}, v[] = {-1};
    const carom_impact_data data = {
        .nv = 1, .contacts = 2, .tangent_dim = 1, .mass = mass, .normal = normal, .tangent = tangent, .friction = mu, .velocity = v};
    carom_impact *impact = support_impact(&data);
    carom_reach_bounds bounds;
    carom_error error;
    assert_ok(carom_reach_get_bounds(impact, 2, 1, &bounds, &error), error);
    assert_true(!bounds.pointed && bounds.pointed_certified);
    assert_true(isnan(bounds.r_norm) && isnan(bounds.step_bound_c));
    carom_impact_free(impact);
}

// Steep cones are pointed where a certificate exists: in (p, q) the friction coefficient is no obstacle.
static void steep_cones_are_certified(void **state) {
    (void)state;
    for (double mu = 1; mu < 1e9; mu *= 10) {
        const double friction[] = {mu, mu};
        carom_impact_data data = reference_block;
        data.friction = friction;
        carom_impact *impact = support_impact(&data);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 2, 0.3, &bounds, &error), error);
        assert_true(bounds.pointed);
        assert_close(bounds.r_norm, 1, 1e-9);
        carom_impact_free(impact);
    }
}

// A thousand contacts in two velocities: the shortest r is found among those two.
static void the_shortest_r_of_many_contacts(void **state) {
    (void)state;
    enum { CONTACTS = 1000 };
    static const double mass[] = {1, 0, 0, 1}, v[] = {0, -1};
    static double normal[2 * CONTACTS], tangent[2 * CONTACTS], mu[CONTACTS];
    // Normals within 0.5 of the vertical: the two outermost rays decide. ||r|| is 1 over the distance of 0 from the segment between them.
    for (int i = 0; i < CONTACTS; i++) {
        const double angle = 0.5 * (2.0 * i / (CONTACTS - 1) - 1);
        normal[2 * i] = -sin(angle);
        normal[2 * i + 1] = cos(angle);
        tangent[2 * i] = cos(angle);
        tangent[2 * i + 1] = sin(angle);
        mu[i] = 0.1;
    }
    const carom_impact_data data = {
        .nv = 2, .contacts = CONTACTS, .tangent_dim = 1, .mass = mass, .normal = normal, .tangent = tangent, .friction = mu, .velocity = v};
    carom_impact *impact = support_impact(&data);
    carom_reach_bounds bounds;
    carom_error error;
    assert_ok(carom_reach_get_bounds(impact, 2, NAN, &bounds, &error), error);
    assert_true(bounds.pointed && bounds.pointed_certified);
    assert_close(bounds.r_norm, 1 / (sqrt(1.01) * cos(0.5 + atan(0.1))), 1e-12);
    assert_true(isnan(bounds.step_bound_c) && bounds.psi > 1);
    carom_impact_free(impact);
}

// Random cones with mu from 1e-3 to 1e6: nearly all are decided, and units of mass and length do not change the answer. A single contact
// whose rows are independent is always pointed; three contacts of one particle whose normals surround 0 never are.
static void random_cones_are_decided(void **state) {
    (void)state;
    enum { MOST_NV = 7, MOST_CONTACTS = 4 };
    carom_stream stream;
    carom_stream_start(&stream, 4711, 0);
    int decided = 0, pointed = 0;
    const int count = support_count(60, 300, 3000);
    for (int trial = 0; trial < count; trial++) {
        const int nv = support_random_integer(&stream, 2, MOST_NV), contacts = support_random_integer(&stream, 1, MOST_CONTACTS);
        double mass[MOST_NV * MOST_NV] = {0}, rows[2][MOST_CONTACTS * MOST_NV], friction[MOST_CONTACTS], velocity[MOST_NV] = {-1};
        for (int k = 0; k < nv; k++) mass[k * nv + k] = 0.1 + carom_stream_uniform(&stream);
        for (int k = 0; k < 2 * contacts * nv; k++) rows[k % 2][k / 2] = carom_stream_normal(&stream);
        for (int i = 0; i < contacts; i++) friction[i] = pow(10, 9 * carom_stream_uniform(&stream) - 3);
        const carom_impact_data data = {.nv = nv,
                                        .contacts = contacts,
                                        .tangent_dim = 1,
                                        .mass = mass,
                                        .normal = rows[0],
                                        .tangent = rows[1],
                                        .friction = friction,
                                        .velocity = velocity};
        carom_reach_bounds bounds[2];
        for (int scaled = 0; scaled < 2; scaled++) {
            carom_impact *impact = support_impact(&data);
            carom_error error;
            assert_ok(carom_reach_get_bounds(impact, 2, 1, &bounds[scaled], &error), error);
            carom_impact_free(impact);
            for (int k = 0; k < nv * nv; k++) mass[k] *= 0x1p30;
            for (int k = 0; k < contacts * nv; k++)
                for (int q = 0; q < 2; q++) rows[q][k] *= 0x1p-5;
        }
        assert_true(bounds[0].pointed == bounds[1].pointed && bounds[0].pointed_certified == bounds[1].pointed_certified);
        assert_true(bounds[0].pointed_certified || !bounds[0].pointed);
        // Where cones are pointed there is a shortest r, also where they are steep.
        assert_true(bounds[0].pointed == !isnan(bounds[0].r_norm));
        if (contacts == 1) assert_true(bounds[0].pointed);
        decided += bounds[0].pointed_certified;
        pointed += bounds[0].pointed;
    }
    assert_true(decided >= 0.98 * count && pointed > count / 4 && decided - pointed > count / 10);
}

// A particle between three walls, or in a corner of steep ones: cones that surround 0 with a margin, and parallel walls with friction whose
// normals are opposite.
static void cones_that_surround_zero_are_certified(void **state) {
    (void)state;
    static const struct {
        int contacts;
        double normal[6], tangent[6], friction[3];
        bool pointed;
    } rows[] = {
        {3, {0, 1, 0.8, -0.6, -0.8, -0.6}, {1, 0, 0.6, 0.8, 0.6, -0.8}, {0, 0, 0}, false},
        {3, {0, 1, 0.8, -0.6, -0.8, -0.6}, {1, 0, 0.6, 0.8, 0.6, -0.8}, {0.5, 1e6, 1e-3}, false},
        {2, {0, 3, 0, -1}, {1, 0, -1, 0}, {0, 0}, false},
        {2, {0, 3, 0, -1}, {1, 0, -1, 0}, {1, 1e5}, false},
        {2, {0.6, 0.8, -0.6, 0.8}, {0.8, -0.6, -0.8, -0.6}, {0.5, 0.5}, true},
        {2, {0.6, 0.8, -0.6, 0.8}, {0.8, -0.6, -0.8, -0.6}, {2, 2}, false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const carom_impact_data data = {.nv = 2,
                                        .contacts = rows[k].contacts,
                                        .tangent_dim = 1,
                                        .mass = (const double[]){1, 0, 0, 2},
                                        .normal = rows[k].normal,
                                        .tangent = rows[k].tangent,
                                        .friction = rows[k].friction,
                                        .velocity = (const double[]){0, -1}};
        carom_impact *impact = support_impact(&data);
        carom_reach_bounds bounds;
        carom_error error;
        assert_ok(carom_reach_get_bounds(impact, 2, 1, &bounds, &error), error);
        assert_true(bounds.pointed == rows[k].pointed && bounds.pointed_certified);
        carom_impact_free(impact);
    }
}

static void the_automatic_step_is_the_impulse_of_anitescu_potra(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    double step;
    carom_error error;
    assert_ok(carom_reach_auto_step(impact, 4, &step, &error), error);
    assert_close(step, 0.44294469180700202, 1e-12);
    carom_impact_free(impact);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    carom_registry *registry;
    carom_error error;
    carom_impact *impact = support_impact(&reference_block);
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_sample_statistics statistics;
    struct {
        carom_sample_options options;
        const char *message;
    } rows[] = {{carom_sample_defaults(), "samples"}, {carom_sample_defaults(), "seed"},   {carom_sample_defaults(), "step"},
                {carom_sample_defaults(), "epsilon"}, {carom_sample_defaults(), "solver"}, {carom_sample_defaults(), "max_steps"}};
    rows[0].options.samples = 0;
    rows[1].options.seed = -1;
    rows[2].options.step = -1;
    rows[3].options.epsilon = 5;
    rows[4].options.method.solver = "guess";
    rows[5].options.max_steps = -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(carom_reach_sample(impact, &rows[i].options, registry, NULL, NULL, &statistics, &error), CAROM_BAD_INPUT, error,
                       rows[i].message);
    carom_registry_free(registry);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_have_the_reference_statistics),
        cmocka_unit_test(extents_stay_within_the_sequential_outcomes),
        cmocka_unit_test(block_outcomes_lie_in_the_triangle),
        cmocka_unit_test(digests_do_not_depend_on_threads),
        cmocka_unit_test(digests_do_not_depend_on_the_instruction_set),
        cmocka_unit_test(samples_are_a_prefix_of_more),
        cmocka_unit_test(sets_do_not_depend_on_units),
        cmocka_unit_test(interruption_keeps_a_prefix),
        cmocka_unit_test(the_closing_step_terminates_what_is_near),
        cmocka_unit_test(the_closing_step_leaves_ended_samples_alone),
        cmocka_unit_test(closing_steps_from_rest_are_solved),
        cmocka_unit_test(the_closing_step_is_small),
        cmocka_unit_test(correlated_draws_reach_the_corners),
        cmocka_unit_test(correlated_draws_do_not_shrink_at_small_steps),
        cmocka_unit_test(random_selection_has_the_reference_count),
        cmocka_unit_test(paths_are_kept_where_asked_for),
        cmocka_unit_test(long_paths_are_whole),
        cmocka_unit_test(bounds_are_those_of_appendix_b),
        cmocka_unit_test(steep_cones_are_certified),
        cmocka_unit_test(step_counts_keep_to_their_bound),
        cmocka_unit_test(samples_of_a_net_are_those_of_lemma_1),
        cmocka_unit_test(a_jammed_system_is_not_pointed),
        cmocka_unit_test(the_shortest_r_of_many_contacts),
        cmocka_unit_test(random_cones_are_decided),
        cmocka_unit_test(cones_that_surround_zero_are_certified),
        cmocka_unit_test(the_automatic_step_is_the_impulse_of_anitescu_potra),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
