// SPDX-License-Identifier: Apache-2.0
// What is sampled by default: all solutions of a step, time stepping and walks in turn, and what results say of both.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"
#include "support.h"

typedef struct set {
    carom_sample_statistics statistics;
    carom_table *outcomes;
} set;

static set sample_impact(const carom_impact *impact, const carom_sample_options *options, const carom_control *control) {
    set s;
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_outcomes_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &s.outcomes, &error), error);
    const carom_sink sink = carom_table_sink(s.outcomes);
    assert_ok(carom_reach_sample(impact, options, registry, control, &sink, &s.statistics, &error), error);
    carom_registry_free(registry);
    return s;
}

static set sample(const carom_impact_data *data, const carom_sample_options *options) {
    carom_impact *impact = support_impact(data);
    const set s = sample_impact(impact, options, NULL);
    carom_impact_free(impact);
    return s;
}

static carom_sample_options tabulated(double step, int64_t max_steps, int64_t samples) {
    carom_sample_options options = carom_sample_defaults();
    options.step = step;
    options.max_steps = max_steps;
    options.samples = samples;
    return options;
}

static const int64_t *integers(const set *s, const char *column) {
    return carom_table_integer_column(s->outcomes, carom_table_find(s->outcomes, column));
}

static const double *velocity(const set *s, int64_t row) {
    const int nv = carom_table_sizes(s->outcomes)->nv;
    return carom_table_real_column(s->outcomes, CAROM_OUTCOME_VELOCITY) + row * nv;
}

static const struct {
    const carom_impact_data *data;
    double step;
    int64_t max_steps;
} scenes[] = {{&reference_block, 0.3, 10}, {&reference_boxwall, 2, 5}, {&reference_compass, 0.25, 5}, {&reference_ramone, 1, 10}};
enum { SCENES = sizeof scenes / sizeof *scenes };

// ------------------------------------------------------------------------------------------------------------- samplers

// Row `row` of `mixed` is a row of `pure`, bit by bit; `at` is where to look, and moves on.
static void assert_member(const set *mixed, int64_t row, const set *pure, int64_t *at) {
    const int64_t index = integers(mixed, "sample")[row];
    while (*at < carom_table_rows(pure->outcomes) && integers(pure, "sample")[*at] < index) ++*at;
    assert_true(*at < carom_table_rows(pure->outcomes) && integers(pure, "sample")[*at] == index);
    assert_memory_equal(velocity(mixed, row), velocity(pure, *at), (size_t)carom_table_sizes(mixed->outcomes)->nv * sizeof(double));
    assert_int_equal(integers(mixed, "steps")[row], integers(pure, "steps")[*at]);
    assert_int_equal(integers(mixed, "flags")[row], integers(pure, "flags")[*at]);
}

// Even samples are those of `lcp`, odd ones those of `walk`, in their order; counts and LCP figures are of the part that they concern.
static void samplers_take_turns(void **state) {
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        carom_sample_options options = tabulated(scenes[i].step, scenes[i].max_steps, 1001);
        const carom_impact_data *data = scenes[i].data;
        set mixed = sample(data, &options);
        options.sampler = CAROM_SAMPLER_LCP;
        set stepped = sample(data, &options);
        options.sampler = CAROM_SAMPLER_WALK;
        options.max_steps = 0;
        set walked = sample(data, &options);
        assert_int_equal(mixed.statistics.walks, 500);
        assert_int_equal(stepped.statistics.walks, 0);
        assert_int_equal(walked.statistics.walks, 1001);
        int64_t at_stepped = 0, at_walked = 0, ended = 0, solves = 0;
        for (int64_t row = 0; row < carom_table_rows(mixed.outcomes); row++, ended++) {
            const int64_t index = integers(&mixed, "sample")[row], sampler = integers(&mixed, "sampler")[row];
            assert_true(row == 0 || index > integers(&mixed, "sample")[row - 1]);
            assert_int_equal(sampler, index % 2 ? CAROM_SAMPLER_WALK : CAROM_SAMPLER_LCP);
            if (index % 2)
                assert_member(&mixed, row, &walked, &at_walked);
            else
                assert_member(&mixed, row, &stepped, &at_stepped);
            solves += index % 2 ? 0 : integers(&mixed, "steps")[row];
        }
        assert_int_equal(ended, mixed.statistics.counts.terminated);
        // Samples that have not terminated have taken all their steps; there are few.
        const int64_t missing = 1001 - ended;
        assert_true(mixed.statistics.lcp_solves <= solves + missing * scenes[i].max_steps && mixed.statistics.lcp_solves >= solves);
        assert_close(mixed.statistics.lcps_per_sample, (double)mixed.statistics.lcp_solves / 501, 1e-15);
        assert_string_equal(mixed.statistics.solver, stepped.statistics.solver);
        assert_int_equal(strncmp(mixed.statistics.path, stepped.statistics.path, strlen(stepped.statistics.path)), 0);
        assert_string_equal(mixed.statistics.path + strlen(stepped.statistics.path), "+walk");
        assert_true(mixed.statistics.step == scenes[i].step && isnan(walked.statistics.step));
        carom_table_free(mixed.outcomes);
        carom_table_free(stepped.outcomes);
        carom_table_free(walked.outcomes);
    }
}

// A longer run begins with the samples of a shorter one; nothing depends on the number of threads, on traces or on the step method's
// instruction set.
static void mixed_samples_are_a_function_of_seed_and_index(void **state) {
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        carom_impact *impact = support_impact(scenes[i].data);
        carom_sample_options options = tabulated(scenes[i].step, scenes[i].max_steps, 1300);
        const set all = sample_impact(impact, &options, NULL);
        for (int threads = 1; threads <= 3; threads++) {
            const carom_control control = {.threads = threads};
            options.paths = threads == 2 ? 300 : 0;
            const set again = sample_impact(impact, &options, &control);
            assert_string_equal(again.statistics.digest, all.statistics.digest);
            assert_int_equal(again.statistics.lcp_solves, all.statistics.lcp_solves);
            const int column = carom_table_find(again.outcomes, "path"), n = carom_impact_contact_size(impact);
            for (int64_t row = 0; row < carom_table_rows(again.outcomes); row++) {
                int count;
                carom_table_series(again.outcomes, column, row, &count);
                const int64_t steps = integers(&again, "steps")[row];
                assert_int_equal(count, integers(&again, "sample")[row] < options.paths ? n * (steps + 1) : 0);
            }
            carom_table_free(again.outcomes);
        }
        options.paths = 0;
        options.samples = 777;
        const set few = sample_impact(impact, &options, NULL);
        const int64_t rows = carom_table_rows(few.outcomes);
        assert_memory_equal(velocity(&few, 0), velocity(&all, 0), (size_t)(rows * scenes[i].data->nv) * sizeof(double));
        carom_table_free(few.outcomes);
        carom_table_free(all.outcomes);
        carom_impact_free(impact);
    }
}

// In space there are no walks: `auto` is time stepping, with the same bits.
static void spatial_samples_are_stepped(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 18, 0);
    for (int i = 0; i < 5; i++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, 2, 1);
        carom_sample_options options = tabulated(NAN, 50, 300);
        const set mixed = sample_impact(impact, &options, NULL);
        options.sampler = CAROM_SAMPLER_LCP;
        const set stepped = sample_impact(impact, &options, NULL);
        assert_string_equal(mixed.statistics.digest, stepped.statistics.digest);
        assert_string_equal(mixed.statistics.path, stepped.statistics.path);
        assert_int_equal(mixed.statistics.walks, 0);
        carom_table_free(mixed.outcomes);
        carom_table_free(stepped.outcomes);
        carom_impact_free(impact);
    }
}

// Algorithm 2 closes time-stepped samples alone; walks have ended or not.
static void closing_steps_are_for_time_stepping(void **state) {
    (void)state;
    carom_sample_options options = tabulated(0.3, 2, 2048);
    const set open = sample(&reference_block, &options);
    options.epsilon = 0.29;
    const set closed = sample(&reference_block, &options);
    assert_true(closed.statistics.counts.closed > 0);
    assert_int_equal(closed.statistics.counts.terminated, open.statistics.counts.terminated + closed.statistics.counts.closed);
    for (int64_t row = 0, at = 0; row < carom_table_rows(open.outcomes); row++) assert_member(&open, row, &closed, &at);
    carom_table_free(open.outcomes);
    carom_table_free(closed.outcomes);
}

// Cancels after some polls.
static bool cancel_soon(void *user) { return ++*(int *)user >= 8000; }

static void interruption_keeps_a_prefix_of_both(void **state) {
    (void)state;
    int polls = 0;
    const carom_control control = {.threads = 1, .cancelled = cancel_soon, .user = &polls};
    carom_impact *impact = support_impact(&reference_block);
    carom_sample_options options = tabulated(0.3, 10, 100000);
    const set cut = sample_impact(impact, &options, &control);
    assert_int_equal(cut.statistics.verdict, CAROM_INTERRUPTED);
    assert_true(cut.statistics.counts.samples > 0 && cut.statistics.counts.samples < 100000);
    options.samples = cut.statistics.counts.samples;
    const set whole = sample_impact(impact, &options, NULL);
    assert_string_equal(whole.statistics.digest, cut.statistics.digest);
    assert_int_equal(whole.statistics.lcp_solves, cut.statistics.lcp_solves);
    assert_int_equal(whole.statistics.walks, cut.statistics.walks);
    carom_table_free(cut.outcomes);
    carom_table_free(whole.outcomes);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------------------ selection

// What `auto` serves, and the share of steps that had several solutions: none where v' is unique, some 90 % and all on the two walkers;
// not known where nothing lists them.
static void results_say_what_served_and_how_often_it_had_a_choice(void **state) {
    (void)state;
    const double least[SCENES] = {0, 0, 0.8, 0.99};
    for (int i = 0; i < SCENES; i++) {
        carom_sample_options options = tabulated(scenes[i].step, scenes[i].max_steps, 2000);
        const set s = sample(scenes[i].data, &options);
        assert_true(s.statistics.nonunique_share >= least[i] && s.statistics.nonunique_share <= (least[i] > 0 ? 1 : 0));
        if (least[i] > 0) assert_int_equal(s.statistics.selection, CAROM_SELECT_RANDOM);
        carom_table_free(s.outcomes);
        options.sampler = CAROM_SAMPLER_LCP;
        options.method.selection = CAROM_SELECT_LEMKE;
        const set lemke = sample(scenes[i].data, &options);
        assert_true(isnan(lemke.statistics.nonunique_share));
        carom_table_free(lemke.outcomes);
        options.method.selection = CAROM_SELECT_SCATTERED;
        const set scattered = sample(scenes[i].data, &options);
        assert_true(isnan(scattered.statistics.nonunique_share));
        carom_table_free(scattered.outcomes);
    }
}

// A path, or another LCP solver, that cannot serve `random` gets what it can serve.
static void auto_serves_what_the_path_can(void **state) {
    (void)state;
    static const struct {
        const char *path, *solver;
        carom_selection served;
    } rows[] = {{"lemke", "lemke", CAROM_SELECT_SCATTERED},
                {"lemke:scalar", "lemke", CAROM_SELECT_SCATTERED},
                {"modes", "lemke", CAROM_SELECT_RANDOM},
                {"auto", "siconos-lemke", CAROM_SELECT_ANY}};
    carom_impact *impact = support_impact(&reference_compass);
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_siconos_register(registry, &error), error);
    // The last row is of Siconos.
    for (size_t i = 0; i < sizeof rows / sizeof *rows - !support_has("SICONOS"); i++) {
        carom_sample_options options = tabulated(0.25, 5, 16);
        options.path = rows[i].path;
        options.method.solver = rows[i].solver;
        carom_sample_method method;
        assert_ok(carom_sample_resolve_method(impact, &options, registry, &method, &error), error);
        assert_int_equal(method.stepper.selection, rows[i].served);
        assert_false(method.unique);
    }
    carom_impact_free(impact);
    // The velocity of the block is certified unique, and listing modes finds it, too.
    impact = support_impact(&reference_block);
    carom_sample_options options = tabulated(0.3, 10, 16);
    options.path = "modes";
    carom_sample_method method;
    assert_ok(carom_sample_resolve_method(impact, &options, registry, &method, &error), error);
    assert_int_equal(method.stepper.selection, CAROM_SELECT_RANDOM);
    assert_true(method.unique);
    carom_registry_free(registry);
    carom_impact_free(impact);
}

// The largest share of the velocity scale by which the outcomes of a law are away from all samples.
static double farthest_from(const carom_impact_data *data, const set *s, const char *law_name, const char *selection) {
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_impact *impact = support_impact(data);
    const carom_law *law = carom_law_find(registry, law_name);
    void *options = malloc(law->options_size);
    law->defaults(options);
    if (selection) assert_ok(carom_law_set(law, options, "selection", selection, &error), error);
    carom_answer answer;
    assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = impact, .options = options, .registry = registry}, &answer, &error),
              error);
    double farthest = 0;
    const int m = data->contacts;
    for (int64_t row = 0; row < carom_table_rows(answer.outcomes); row++) {
        double nearest = INFINITY;
        for (int64_t other = 0; other < carom_table_rows(s->outcomes); other++) {
            double squared = 0;
            for (int column = CAROM_OUTCOME_NORMAL_VELOCITY; column <= CAROM_OUTCOME_TANGENT_VELOCITY; column++)
                for (int k = 0; k < m; k++)
                    squared += pow(carom_table_real_column(answer.outcomes, column)[row * m + k] -
                                       carom_table_real_column(s->outcomes, column)[other * m + k],
                                   2);
            nearest = fmin(nearest, squared);
        }
        farthest = fmax(farthest, sqrt(nearest) / carom_impact_velocity_scale(impact));
    }
    carom_answer_free(&answer);
    free(options);
    carom_impact_free(impact);
    carom_registry_free(registry);
    return farthest;
}

// The set that is sampled by default holds the outcomes of the other laws: Anitescu-Potra's, all of them, and the sequential ones. With
// `lemke` alone the two walkers' sets do not (docs/coverage.md).
static void outcomes_of_other_laws_lie_in_the_default_set(void **state) {
    (void)state;
    const int samples = support_count(4096, 16384, 65536);
    for (int i = 0; i < SCENES; i++) {
        const carom_sample_options options = tabulated(scenes[i].step, scenes[i].max_steps, samples);
        const set s = sample(scenes[i].data, &options);
        const double all = farthest_from(scenes[i].data, &s, "anitescu-potra", "auto");
        const double sequential = farthest_from(scenes[i].data, &s, "sequential", NULL);
        assert_true(all <= 0.02);
        assert_true(sequential <= 0.02);
        carom_table_free(s.outcomes);
    }
}

// ----------------------------------------------------------------------------------------------- samples off the set

// Halm & Posa's inclusion has one outcome here, 34/75; where slip reverses within a step, time stepping ends off it by O(h), and says so.
static void samples_off_the_set_are_flagged(void **state) {
    (void)state;
    static const double W[] = {2, 1.5, 1.5, 1.5}, u[] = {-1, -0.2}, mu[] = {0.5};
    const carom_delassus_data data = {.contacts = 1, .tangent_dim = 1, .delassus = W, .velocity = u, .friction = mu};
    carom_error error;
    carom_impact *impact;
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    static const double steps[] = {1, 0.2, 0.05};
    for (int i = 0; i < 3; i++) {
        carom_sample_options options = tabulated(steps[i], 10000, 2000);
        const set s = sample_impact(impact, &options, NULL);
        const double *slip = carom_table_real_column(s.outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
        int64_t flagged = 0;
        for (int64_t row = 0; row < carom_table_rows(s.outcomes); row++) {
            const bool approximate = integers(&s, "flags")[row] & CAROM_FLAG_APPROXIMATE;
            flagged += approximate;
            assert_true(approximate || fabs(slip[row] - 34.0 / 75) <= 1e-8);
            assert_true(fabs(slip[row] - 34.0 / 75) <= 0.4 * steps[i]);
            assert_false(approximate && integers(&s, "sampler")[row] == CAROM_SAMPLER_WALK);
        }
        assert_true(flagged > 900);
        assert_int_equal(flagged, s.statistics.counts.approximate);
        carom_table_free(s.outcomes);
    }
    carom_impact_free(impact);
}

// A single spatial contact has one outcome, that of the exact contact with round cone: what has no flag ends there, also where linearised
// cones take a step for a solution. Where nothing turns the slip off an edge of their cones some samples have none.
static void spatial_samples_without_the_flag_end_where_the_contact_does(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 91, 0);
    int64_t certain = 0;
    for (int trial = 0; trial < 60; trial++) {
        double A[9], W[9], u[3], mu = 0.05 + 0.95 * carom_stream_uniform(&stream);
        const bool straight = trial % 3 == 0;
        for (int k = 0; k < 9; k++) A[k] = 2 * carom_stream_uniform(&stream) - 1;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                W[3 * i + k] = i == k ? 0.1 : 0;
                for (int l = 0; l < 3; l++) W[3 * i + k] += A[3 * i + l] * A[3 * k + l];
                if (straight && i != k) W[3 * i + k] = 0;
            }
        u[0] = -1;
        u[1] = 2 * carom_stream_uniform(&stream) - 1;
        u[2] = straight ? 0 : 2 * carom_stream_uniform(&stream) - 1;
        const carom_delassus_data data = {.contacts = 1, .tangent_dim = 2, .delassus = W, .velocity = u, .friction = &mu};
        carom_error error;
        carom_impact *impact;
        assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
        carom_contact_problem problem;
        carom_contact_result exact;
        const carom_contact_options how = carom_contact_defaults();
        carom_contact_extract(impact, 0, u, &problem);
        assert_ok(carom_contact_solve(&problem, &how, &exact, &error), error);
        carom_sample_options options = tabulated(NAN, 1000, 200);
        const set s = sample_impact(impact, &options, NULL);
        const double *slip = carom_table_real_column(s.outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
        for (int64_t row = 0; row < carom_table_rows(s.outcomes); row++) {
            if (integers(&s, "flags")[row] & CAROM_FLAG_APPROXIMATE) continue;
            certain++;
            assert_close(slip[2 * row], exact.velocity.tangent[0], 1e-7);
            assert_close(slip[2 * row + 1], exact.velocity.tangent[1], 1e-7);
        }
        carom_table_free(s.outcomes);
        carom_impact_free(impact);
    }
    assert_true(certain > 1000);
}

// Pairs of contacts, whatever their number: the first of a pair approaches and drives the second, which is open, until it closes; from then
// on both press, and friction holds their slip at zero. Such a step has a corner, and is a solution of the inclusion. Each contact has its
// own tangent, or all have the same one: W_tt is singular then.
static void check_contacts_that_close(int contacts, bool same_tangent) {
    enum { MOST = 12, SIZE = 2 * MOST };
    const int n = 2 * contacts;
    double W[SIZE * SIZE] = {0}, mu[MOST], u[2 * SIZE] = {0}, impulse[2 * SIZE] = {0};
    // In every pair W_nn = [2 -1; -1 2]; W_tt = 1 and W_nt = 0.1 for contacts with the same tangent. Friction at rest, -0.1 lam_n, takes
    // 0.01 from all W_nn of these.
    const double own = same_tangent ? 2 - 0.005 * contacts : 1.99, other = same_tangent ? -1 - 0.005 * contacts : -1;
    const double determinant = own * own - other * other, start[] = {-1, 0.1};
    const double pressed[] = {(own + 0.1 * other) / determinant, (-other - 0.1 * own) / determinant};
    for (int i = 0; i < contacts; i++) {
        const int row = 2 * i;
        W[row * n + row] = 2;
        W[row * n + 2 * (i ^ 1)] = -1;
        for (int j = 0; j < contacts; j++)
            if (same_tangent || j == i) {
                W[(row + 1) * n + 2 * j + 1] = 1;
                W[(row + 1) * n + 2 * j] = W[2 * j * n + row + 1] = 0.1;
            }
        mu[i] = 0.5;
        u[row] = start[i % 2];
        impulse[n + row] = pressed[i % 2];
        impulse[n + row + 1] = -0.1 * pressed[i % 2];
    }
    const carom_delassus_data data = {.contacts = contacts, .tangent_dim = 1, .delassus = W, .velocity = u, .friction = mu};
    carom_error error;
    carom_impact *impact;
    bool certain;
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    assert_ok(carom_reach_certify_path(impact, 2, u, impulse, &certain, &error), error);
    assert_true(certain);
    // With less friction than that the impulse is outside its cone.
    for (int i = 0; i < contacts; i++) mu[i] = 0.05;
    carom_impact_free(impact);
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    assert_ok(carom_reach_certify_path(impact, 2, u, impulse, &certain, &error), error);
    assert_false(certain);
    carom_impact_free(impact);
}

static void steps_in_which_contacts_close_are_certified(void **state) {
    (void)state;
    for (int contacts = 2; contacts <= 12; contacts += 2) {
        check_contacts_that_close(contacts, false);
        check_contacts_that_close(contacts, true);
    }
}

// Samples are flagged alike whatever the instructions that follow their steps, of several that this machine has.
static void flags_do_not_depend_on_instructions(void **state) {
    (void)state;
    static const char *const paths[] = {"cone-map:scalar", "cone-map:portable", "cone-map:avx2", "cone-map:avx512"};
    const int64_t samples = 2000;
    set first = {.outcomes = NULL};
    for (int i = 0; i < CAROM_INSTRUCTIONS; i++) {
        if (!carom_instructions_available((carom_instructions)i)) continue;
        carom_sample_options options = tabulated(1, 10, samples);
        options.sampler = CAROM_SAMPLER_LCP;
        options.method.selection = CAROM_SELECT_ANY;
        options.path = paths[i];
        const set s = sample(&reference_disks, &options);
        assert_in_range(s.statistics.counts.approximate, samples / 10, samples / 2);
        if (!first.outcomes) {
            first = s;
            continue;
        }
        assert_memory_equal(integers(&first, "flags"), integers(&s, "flags"), (size_t)samples * sizeof(int64_t));
        carom_table_free(s.outcomes);
    }
    carom_table_free(first.outcomes);
}

// The pieces of the exact set, by contact velocities.
static carom_set *exact_set(const carom_impact *impact, const carom_registry *registry) {
    carom_error error;
    carom_answer answer;
    carom_set *made = NULL;
    const carom_law *law = carom_law_find(registry, "halm-posa-exact");
    assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = impact, .registry = registry}, &answer, &error), error);
    const int certificate = carom_table_find(answer.result, "certificate"), n = carom_impact_contact_size(impact);
    const int64_t rows = carom_table_rows(answer.outcomes);
    if (rows && !strcmp(carom_table_text(answer.result, certificate, 0), "exact")) {
        const int64_t *piece = carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_PIECE_INDEX);
        int64_t *starts = calloc((size_t)rows + 1, sizeof *starts), pieces = 0;
        double *u = calloc((size_t)(rows * n), sizeof *u);
        for (int64_t i = 0; i < rows; i++) {
            if (i == 0 || piece[i] != piece[i - 1]) starts[pieces++] = i;
            for (int k = 0; k < n; k++) {
                const int column = k % 2 ? CAROM_OUTCOME_TANGENT_VELOCITY : CAROM_OUTCOME_NORMAL_VELOCITY;
                u[i * n + k] = carom_table_real_column(answer.outcomes, column)[i * (n / 2) + k / 2];
            }
        }
        starts[pieces] = rows;
        assert_ok(carom_set_create(n, pieces, starts, u, &made, &error), error);
        free(starts);
        free(u);
    }
    carom_answer_free(&answer);
    return made;
}

// Of random impacts: every sample without the flag lies in the exact set, whatever h; some of those with it do not.
static void samples_without_the_flag_lie_in_the_exact_set(void **state) {
    (void)state;
    carom_registry *registry;
    carom_error error;
    carom_stream stream;
    carom_stream_start(&stream, 18, 1);
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_exact_register(registry, &error), error);
    int64_t outside = 0;
    for (int i = 0; i < support_count(20, 60, 1000); i++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 2, 1, 1.5);
        carom_set *exact = exact_set(impact, registry);
        carom_sample_options options = tabulated(NAN, 1000, 200);
        options.sampler = CAROM_SAMPLER_LCP;
        const set s = sample_impact(impact, &options, NULL);
        for (int64_t row = 0; exact && row < carom_table_rows(s.outcomes); row++) {
            double u[4];
            carom_impact_contact_velocity(impact, velocity(&s, row), u);
            const bool inside = carom_set_distance(exact, u, NULL) <= 1e-7 * carom_impact_velocity_scale(impact);
            assert_true(inside || integers(&s, "flags")[row] & CAROM_FLAG_APPROXIMATE);
            outside += !inside;
        }
        carom_table_free(s.outcomes);
        carom_set_free(exact);
        carom_impact_free(impact);
    }
    assert_true(outside > 0);
    carom_registry_free(registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samplers_take_turns),
        cmocka_unit_test(mixed_samples_are_a_function_of_seed_and_index),
        cmocka_unit_test(spatial_samples_are_stepped),
        cmocka_unit_test(closing_steps_are_for_time_stepping),
        cmocka_unit_test(interruption_keeps_a_prefix_of_both),
        cmocka_unit_test(results_say_what_served_and_how_often_it_had_a_choice),
        cmocka_unit_test(auto_serves_what_the_path_can),
        cmocka_unit_test(outcomes_of_other_laws_lie_in_the_default_set),
        cmocka_unit_test(samples_off_the_set_are_flagged),
        cmocka_unit_test(spatial_samples_without_the_flag_end_where_the_contact_does),
        cmocka_unit_test(steps_in_which_contacts_close_are_certified),
        cmocka_unit_test(flags_do_not_depend_on_instructions),
        cmocka_unit_test(samples_without_the_flag_lie_in_the_exact_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
