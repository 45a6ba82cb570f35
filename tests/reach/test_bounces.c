// SPDX-License-Identifier: Apache-2.0
// Restitution of several contacts: walks against law `stronge`, known sets, the propagative law, and what holds for every bounce.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounce_support.h"
#include "carom/dense.h"

static carom_walker *make_walker(const carom_impact *impact, carom_hypothesis hypothesis, double restitution, carom_weights weights) {
    return make_bouncer(impact, hypothesis, restitution, weights, 10000);
}

// The least and the largest of `walks` values that `measure` takes of bounces; all must end.
typedef struct range {
    double least, most;
} range;

typedef double (*measure_function)(const carom_impact *impact, const bounce *b);

static range measure_walks(carom_walker *walker, const carom_impact *impact, int walks, measure_function measure) {
    range found = {INFINITY, -INFINITY};
    for (int i = 0; i < walks; i++) {
        const bounce b = run(walker, impact, i);
        assert_true(b.counts.terminated);
        const double value = measure(impact, &b);
        found.least = fmin(found.least, value);
        found.most = fmax(found.most, value);
    }
    return found;
}

static double energy_ratio(const carom_impact *impact, const bounce *b) {
    return carom_impact_kinetic_energy(impact, b->v) / carom_impact_initial_energy(impact);
}
static double first_normal(const carom_impact *impact, const bounce *b) {
    (void)impact;
    return b->u[0];
}
static double second_normal(const carom_impact *impact, const bounce *b) {
    (void)impact;
    return b->u[2];
}

// --------------------------------------------------------------------------------------------------------- one contact

// One contact has no freedom: the outcome of law `stronge`, jamming contacts included, with both hypotheses.
static void one_contact_is_that_of_the_law_stronge(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    int jams = 0, compared = 0;
    for (int k = 0; k < support_count(300, 2000, 20000); k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 1, 1, 1.5);
        // One coordinate alone has no direction for its slip: friction may cancel all forces.
        if (carom_impact_get_data(impact)->nv == 1) {
            carom_impact_free(impact);
            continue;
        }
        compared++;
        const double e = k % 10 ? carom_stream_uniform(&stream) : (double)(k % 20 > 0);
        const carom_hypothesis hypothesis = k % 2 ? CAROM_HYPOTHESIS_POISSON : CAROM_HYPOTHESIS_STRONGE;
        carom_walker *walker = make_walker(impact, hypothesis, e, CAROM_WEIGHTS_MIXED);
        carom_error error;
        assert_ok(carom_walker_record(walker, true, &error), error);
        const bounce b = run(walker, impact, 0);
        assert_true(b.counts.terminated);
        // The contact velocity as the walk goes, without the rounding of v+ and of J v+.
        int rows;
        const double *end = carom_walker_trace(walker, &rows);
        end += 2 * (rows - 1);
        // The same contact alone.
        double u[2];
        carom_contact_problem problem;
        carom_contact_options options = carom_contact_defaults();
        carom_contact_result result;
        carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
        carom_contact_extract(impact, 0, u, &problem);
        problem.restitution = e;
        options.hypothesis = k % 2 ? CAROM_RESTITUTION_POISSON : CAROM_RESTITUTION_STRONGE;
        assert_ok(carom_contact_solve(&problem, &options, &result, &error), error);
        const double scale = hypot(u[0], u[1]);
        // W that is nearly singular magnifies rounding.
        const double product = problem.normal * problem.tangential[0], determinant = product - problem.coupling[0] * problem.coupling[0];
        const double tolerance = determinant > 1e-6 * product ? 1e-12 : 1e-10;
        assert_close(end[0] / scale, result.velocity.normal / scale, tolerance);
        assert_close(end[1] / scale, result.velocity.tangent[0] / scale, tolerance);
        if (k % 2 == 0) {
            assert_close(b.record[CAROM_REBOUND_STORED], result.compression_work, 1e-11 * scale * scale);
            assert_close(b.record[CAROM_REBOUND_RESTORED], result.restitution_work, 1e-11 * scale * scale);
            assert_int_equal((int)b.record[CAROM_REBOUND_COMPRESSIONS], result.compressions);
        }
        jams += result.jams;
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
    assert_true(jams > 0 && compared > support_count(100, 1000, 10000));
}

// ---------------------------------------------------------------------------------------------------------- known sets

static const double identity[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, frictionless[] = {0, 0}, no_tangents[6] = {0};
static const carom_impact_data three_balls = {.nv = 3,
                                              .contacts = 2,
                                              .tangent_dim = 1,
                                              .mass = identity,
                                              .normal = (const double[]){-1, 1, 0, 0, -1, 1},
                                              .tangent = no_tangents,
                                              .friction = frictionless,
                                              .velocity = (const double[]){1, 0, 0}};

static double last_ball(const carom_impact *impact, const bounce *b) {
    (void)impact;
    return b->v[2];
}
static double squares(const carom_impact *impact, const bounce *b) {
    (void)impact;
    return b->v[0] * b->v[0] + b->v[1] * b->v[1] + b->v[2] * b->v[2];
}

// Three equal balls: with e = 1 the arc of momentum and energy from the sequential impact to the simultaneous one; with e = 1/2 between
// the same two.
static void three_balls_fill_the_arc(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&three_balls);
    carom_walker *elastic = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, 1, CAROM_WEIGHTS_MIXED);
    carom_walker *half = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, 0.5, CAROM_WEIGHTS_MIXED);
    const int walks = support_count(500, 4000, 65536);
    for (int i = 0; i < walks; i++) {
        const bounce b = run(elastic, impact, i);
        assert_close(b.v[0] + b.v[1] + b.v[2], 1, 1e-13);
        assert_close(squares(impact, &b), 1, 1e-13);
    }
    const range last = measure_walks(elastic, impact, walks, last_ball), sum = measure_walks(half, impact, walks, squares);
    assert_close(last.least, 2.0 / 3, 1e-3);
    assert_close(last.most, 1, 1e-3);
    assert_true(last.least >= 2.0 / 3 - 1e-13 && last.most <= 1 + 1e-13);
    assert_close(sum.least, 0.41259765625, 1e-3);
    assert_close(sum.most, 0.5, 1e-3);
    assert_true(sum.least >= 0.41259765625 - 1e-13 && sum.most <= 0.5 + 1e-13);
    carom_walker_free(elastic);
    carom_walker_free(half);
    // One contact at a time: the sequential impact, which is the end of the arc.
    carom_walker *single = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, 0.5, CAROM_WEIGHTS_SINGLE);
    const bounce b = run(single, impact, 0);
    assert_all_close(b.v, ((double[]){0.203125, 0.234375, 0.5625}), 3, 1e-14);
    carom_walker_free(single);
    carom_impact_free(impact);
}

// The rocking block, dropped flat: ends of the ranges of energies and of a corner's velocity.
static void the_block_bounces_within_its_bounds(void **state) {
    (void)state;
    static const struct {
        double e, energy[2], corner[2];
    } rows[] = {{0, {0, 0.0735}, {0, 0.0930184}},
                {0.1, {0.01, 0.11398465}, {0.0102, 0.1227}},
                {0.5, {0.25, 0.3625}, {0.0221, 0.267}},
                {1, {1, 1}, {0.177, 0.4804}}};
    carom_impact *impact = support_impact(&reference_block);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        carom_walker *walker = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, rows[k].e, CAROM_WEIGHTS_MIXED);
        const int walks = support_count(8192, 8192, 65536);
        const range energy = measure_walks(walker, impact, walks, energy_ratio);
        const range corners[] = {measure_walks(walker, impact, walks, first_normal), measure_walks(walker, impact, walks, second_normal)};
        // The energies' ends are known to their last digit; corners' to the digits that are given.
        assert_true(energy.least >= rows[k].energy[0] - 1e-12 && energy.most <= rows[k].energy[1] + 5e-5);
        assert_close(energy.least, rows[k].energy[0], 2e-3);
        assert_close(energy.most, rows[k].energy[1], 2e-3);
        for (int i = 0; i < 2; i++) {
            assert_close(corners[i].least, rows[k].corner[0], 1.5e-3);
            assert_close(corners[i].most, rows[k].corner[1], 3e-3);
        }
        carom_walker_free(walker);
    }
    carom_impact_free(impact);
}

// Poisson's hypothesis on a block and on a ball on a ball on the floor: sets that exact arithmetic gives. It may gain energy.
static void poisson_walks_end_in_known_sets(void **state) {
    (void)state;
    carom_impact_data data = reference_block;
    const double mu[] = {1, 1}, down[] = {0, -1, 0};
    data.friction = mu;
    data.velocity = down;
    carom_impact *block = support_impact(&data);
    carom_walker *walker = make_walker(block, CAROM_HYPOTHESIS_POISSON, 0.5, CAROM_WEIGHTS_MIXED);
    range energy = {INFINITY, -INFINITY};
    double reached = 0;
    for (int i = 0; i < support_count(2000, 16384, 65536); i++) {
        const bounce b = run(walker, block, i);
        assert_true(b.counts.terminated);
        assert_true(fabs(b.u[1]) <= 1e-12 && fabs(b.u[3]) <= 1e-12);
        // Within the triangle (1/2, 1/2), (1/2, 1/20), (163/200, 1/2), or its mirror image.
        const double high = fmax(b.u[0], b.u[2]), low = fmin(b.u[0], b.u[2]);
        const double area = (0.815 - 0.5) * (low - 0.05) - (0.5 - 0.05) * (high - 0.5);
        assert_true(high >= 0.5 - 1e-12 && low <= 0.5 + 1e-12 && area >= -1e-12);
        reached = fmax(reached, high);
        energy.least = fmin(energy.least, energy_ratio(block, &b));
        energy.most = fmax(energy.most, energy_ratio(block, &b));
    }
    assert_close(reached, 0.815, 0.02);
    assert_close(energy.least, 17.0 / 80, 0.01);
    assert_close(energy.most, 4583.0 / 8000, 0.02);
    carom_walker_free(walker);
    carom_impact_free(block);

    // e = (e1, 0), (0, e2) and (1, 1) of the two contacts.
    static const struct { double restitution[2], most[2]; } rows[] = {{{0.7, 0}, {0.7, 0}}, {{0, 0.7}, {0, 0.35}}, {{1, 1}, {2, 1.5}}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const carom_impact_data stack = {.nv = 2,
                                         .contacts = 2,
                                         .tangent_dim = 1,
                                         .mass = (const double[]){1, 0, 0, 1},
                                         .normal = (const double[]){1, -1, 0, 1},
                                         .tangent = no_tangents,
                                         .friction = frictionless,
                                         .restitution = rows[k].restitution,
                                         .velocity = (const double[]){-1, 0}};
        carom_impact *impact = support_impact(&stack);
        walker = make_walker(impact, CAROM_HYPOTHESIS_POISSON, NAN, CAROM_WEIGHTS_MIXED);
        const int walks = support_count(2000, 16384, 65536);
        const range first = measure_walks(walker, impact, walks, first_normal),
                    second = measure_walks(walker, impact, walks, second_normal);
        assert_true(first.least >= -1e-12 && first.most <= rows[k].most[0] + 1e-12);
        assert_true(second.least >= -1e-12 && second.most <= rows[k].most[1] + 1e-12);
        assert_close(first.most, rows[k].most[0], 0.05);
        assert_close(second.most, rows[k].most[1], 0.05);
        if (k == 2) {
            energy = measure_walks(walker, impact, walks, energy_ratio);
            assert_true(energy.least >= 0.2 - 1e-12 && energy.most <= 5 + 1e-12);
            assert_close(energy.most, 5, 0.05);
        }
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
}

// Without friction, elastic, one contact at a time until it is spent: the outcomes of law `propagative`.
static void single_elastic_impacts_are_propagative_words(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    int compared = 0;
    for (int k = 0; k < 40; k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_FRICTIONLESS, 3, 1, 0);
        carom_answer answer = support_ask(registry, impact, "propagative", (const char *const[]){"restitution", "1", NULL});
        const int nv = carom_impact_get_data(impact)->nv;
        // Contacts that oppose each other bounce for ever where nothing is lost.
        const bool opposed = nv < carom_impact_get_data(impact)->contacts;
        const int64_t words = opposed ? 0 : carom_table_rows(answer.outcomes);
        carom_walker *walker = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, 1, CAROM_WEIGHTS_SINGLE);
        for (int i = 0; i < 50 && carom_answer_complete(&answer) && words; i++) {
            const bounce b = run(walker, impact, i);
            double nearest = INFINITY;
            for (int64_t w = 0; w < words; w++) {
                const double *v = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY) + w * nv;
                double apart = 0;
                for (int j = 0; j < nv; j++) apart = fmax(apart, fabs(v[j] - b.v[j]));
                nearest = fmin(nearest, apart);
            }
            assert_true(b.counts.terminated && nearest <= 1e-11 * carom_max_abs((size_t)nv, b.v));
            compared++;
        }
        carom_walker_free(walker);
        carom_answer_free(&answer);
        carom_impact_free(impact);
    }
    carom_registry_free(registry);
    assert_true(compared > 500);
}

// ---------------------------------------------------------------------------------------------------------- invariants

// Energy never grows, every contact gives back e^2 of what it stored, nothing approaches, and impulses obey friction.
static void every_bounce_is_a_solution(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    int64_t ended = 0, walks = 0;
    for (int k = 0; k < support_count(20, 300, 4000); k++) {
        carom_impact *impact = support_random_impact(&stream, (support_family)(k % FAMILIES), 4, 1, 1.5);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const double e = k % 7 ? carom_stream_uniform(&stream) : 1, energy = carom_impact_initial_energy(impact);
        const double scale = carom_impact_velocity_scale(impact);
        if (!(energy > 0)) {
            carom_impact_free(impact);
            continue;
        }
        carom_walker *walker = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, e, (carom_weights)(k % 3));
        for (int i = 0; i < 20; i++) {
            const bounce b = run(walker, impact, i);
            walks++;
            assert_true(b.counts.max_energy_gain <= 1e-12 * energy);
            assert_true(carom_impact_kinetic_energy(impact, b.v) <= energy * (1 + 1e-12 * (double)(1 + b.counts.steps)));
            for (int c = 0; c < data->contacts; c++) {
                assert_true(fabs(b.impulse[2 * c + 1]) <= data->friction[c] * b.impulse[2 * c] * (1 + 1e-9) + 1e-300);
                const double *record = b.record + CAROM_REBOUND_FIELDS * c;
                if (!b.counts.terminated) continue;
                assert_true(b.u[2 * c] >= -1e-11 * scale);
                assert_close(record[CAROM_REBOUND_RESTORED] / energy, e * e * record[CAROM_REBOUND_STORED] / energy, 1e-10);
                assert_true(record[CAROM_REBOUND_STORED] == 0 || record[CAROM_REBOUND_COMPRESSIONS] >= 1);
            }
            ended += b.counts.terminated;
        }
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
    // The rest are cones that are not pointed.
    assert_true((double)ended >= 0.9 * (double)walks);
}

// Without restitution a hypothesis changes nothing, bit by bit, nor with one whose square is no number.
static void zero_restitution_is_the_inelastic_set(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_ramone);
    carom_walker *inelastic = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, 0, CAROM_WEIGHTS_MIXED),
                 *tiny = make_walker(impact, CAROM_HYPOTHESIS_STRONGE, 1e-200, CAROM_WEIGHTS_MIXED), *none;
    carom_error error;
    assert_ok(carom_walker_create(impact, &(carom_walker_options){.max_steps = 10000}, &none, &error), error);
    assert_null(carom_walker_bounces(none));
    for (int i = 0; i < 200; i++) {
        const bounce a = run(inelastic, impact, i), b = run(tiny, impact, i);
        double v[MOST], impulse[MOST];
        carom_sample_counts counts;
        carom_walker_run(none, 1, i, v, impulse, &counts);
        assert_memory_equal(a.v, v, (size_t)carom_impact_get_data(impact)->nv * sizeof *v);
        assert_memory_equal(b.v, v, (size_t)carom_impact_get_data(impact)->nv * sizeof *v);
    }
    carom_walker_free(inelastic);
    carom_walker_free(tiny);
    carom_walker_free(none);
    carom_impact_free(impact);
}

// In other units, of powers of two, and four for masses: the same bounces, bit by bit.
static void bounces_do_not_depend_on_units(void **state) {
    (void)state;
    for (int hypothesis = CAROM_HYPOTHESIS_STRONGE; hypothesis <= CAROM_HYPOTHESIS_POISSON; hypothesis++) {
        carom_impact *impact = support_impact(&reference_compass);
        carom_impact *other = support_impact_in_units(&reference_compass, 16, 4, 0.5, NULL);
        carom_walker *a = make_walker(impact, (carom_hypothesis)hypothesis, 0.6, CAROM_WEIGHTS_MIXED);
        carom_walker *b = make_walker(other, (carom_hypothesis)hypothesis, 0.6, CAROM_WEIGHTS_MIXED);
        for (int i = 0; i < 300; i++) {
            const bounce of_a = run(a, impact, i), of_b = run(b, other, i);
            assert_int_equal(of_a.counts.steps, of_b.counts.steps);
            for (int c = 0; c < 4; c++) assert_true(of_b.u[c] == 2 * of_a.u[c]);
        }
        carom_walker_free(a);
        carom_walker_free(b);
        carom_impact_free(impact);
        carom_impact_free(other);
    }
}

// --------------------------------------------------------------------------------------------------------------- sets

static carom_sample_statistics sample(const carom_impact *impact, const char *restitution, int threads, double share[2]) {
    carom_registry *registry;
    carom_error error;
    carom_table *outcomes;
    carom_sample_statistics statistics;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_outcomes_create(impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &outcomes, &error), error);
    carom_sample_options options = carom_sample_defaults();
    options.samples = 2000;
    options.rebound.hypothesis = CAROM_HYPOTHESIS_STRONGE;
    for (int i = 0; i < CAROM_SAMPLE_ROWS; i++)
        if (!strcmp(carom_sample_rows[i].name, "restitution"))
            assert_ok(carom_option_set(&carom_sample_rows[i], &options, restitution, &error), error);
    const carom_control control = {.threads = threads};
    const carom_sink sink = carom_table_sink(outcomes);
    assert_ok(carom_reach_sample(impact, &options, registry, &control, &sink, &statistics, &error), error);
    // Least and largest e^2 of all contacts that were compressed.
    share[0] = INFINITY, share[1] = -INFINITY;
    const int column = carom_table_find(outcomes, "bounces"), contacts = carom_impact_get_data(impact)->contacts;
    for (int64_t row = 0; row < carom_table_rows(outcomes); row++) {
        int values;
        const double *record = carom_table_series(outcomes, column, row, &values);
        assert_int_equal(values, CAROM_REBOUND_FIELDS * contacts);
        for (int i = 0; i < contacts; i++, record += CAROM_REBOUND_FIELDS) {
            if (!(record[CAROM_REBOUND_STORED] > 1e-6)) continue;
            const double e2 = record[CAROM_REBOUND_RESTORED] / record[CAROM_REBOUND_STORED];
            assert_close(e2, record[CAROM_REBOUND_RESTITUTION] * record[CAROM_REBOUND_RESTITUTION], 1e-9);
            share[0] = fmin(share[0], e2);
            share[1] = fmax(share[1], e2);
        }
    }
    carom_table_free(outcomes);
    carom_registry_free(registry);
    return statistics;
}

// The default of a set with restitution is walks, for any number of threads; an interval is drawn for each contact and sample.
static void sets_bounce_by_walks(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    double share[2], again[2];
    const carom_sample_statistics one = sample(impact, "0.2:0.8", 1, share), three = sample(impact, "0.2:0.8", 3, again);
    assert_string_equal(one.digest, three.digest);
    assert_string_equal(one.path, "walk");
    assert_int_equal(one.walks, 2000);
    assert_true(share[0] >= 0.04 - 1e-9 && share[0] < 0.05 && share[1] <= 0.64 + 1e-9 && share[1] > 0.6);
    sample(impact, "0.3", 1, share);
    assert_close(share[0], 0.09, 1e-9);
    assert_close(share[1], 0.09, 1e-9);
    carom_impact_free(impact);
}

static void bad_bounces_are_refused(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_walker *walker;
    carom_error error;
    carom_walker_options options = {100, CAROM_WEIGHTS_MIXED, {CAROM_HYPOTHESIS_STRONGE, {0.5, 0.2}}, 0};
    assert_refused(carom_walker_create(impact, &options, &walker, &error), CAROM_BAD_INPUT, error,
                   "restitution: 0.5:0.2 is not an interval");
    options.rebound.restitution = (carom_interval){0.5, 1.5};
    assert_refused(carom_walker_create(impact, &options, &walker, &error), CAROM_BAD_INPUT, error, "is not an interval within 0 and 1");
    options.rebound = (carom_rebound_options){7, {NAN, NAN}};
    assert_refused(carom_walker_create(impact, &options, &walker, &error), CAROM_BAD_INPUT, error, "hypothesis: 7");
    options.rebound.hypothesis = 0;
    options.weights = -1;
    assert_refused(carom_walker_create(impact, &options, &walker, &error), CAROM_BAD_INPUT, error, "weights: -1");
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_contact_is_that_of_the_law_stronge),
        cmocka_unit_test(three_balls_fill_the_arc),
        cmocka_unit_test(the_block_bounces_within_its_bounds),
        cmocka_unit_test(poisson_walks_end_in_known_sets),
        cmocka_unit_test(single_elastic_impacts_are_propagative_words),
        cmocka_unit_test(every_bounce_is_a_solution),
        cmocka_unit_test(zero_restitution_is_the_inelastic_set),
        cmocka_unit_test(bounces_do_not_depend_on_units),
        cmocka_unit_test(sets_bounce_by_walks),
        cmocka_unit_test(bad_bounces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
