// SPDX-License-Identifier: Apache-2.0
// Samples of uncertain impacts: unions of the sets of the impacts that are drawn.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

// Samples into a table with all columns.
static carom_table *sample(const carom_impact *impact, const carom_sample_options *options, int threads,
                           carom_sample_statistics *statistics) {
    carom_error error;
    carom_column *columns;
    int count;
    carom_table *rows;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_uncertainty_extend(options->uncertainty, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &columns, &count, &error), error);
    assert_ok(carom_outcomes_create(impact, columns, count, &rows, &error), error);
    const carom_sink sink = carom_table_sink(rows);
    const carom_control control = {.threads = threads};
    assert_ok(carom_reach_sample(impact, options, registry, &control, &sink, statistics, &error), error);
    carom_registry_free(registry);
    // Columns are borrowed by the table, which looks them up by name from here on.
    carom_table *copy;
    static carom_column kept[64];
    memcpy(kept, columns, (size_t)count * sizeof *kept);
    assert_ok(carom_outcomes_create(impact, kept, count, &copy, &error), error);
    assert_ok(carom_table_append(copy, rows, &error), error);
    carom_table_free(rows);
    free(columns);
    return copy;
}

// A particle that slides: v+ = (1 - mu, 0), for each friction another point.
static void a_particle_with_uncertain_friction(void **state) {
    (void)state;
    const double mass[] = {1, 0, 0, 1}, normal[] = {0, 1}, tangent[] = {1, 0}, mu = .5, velocity[] = {1, -1};
    carom_impact *impact = support_impact(&(carom_impact_data){.nv = 2,
                                                               .contacts = 1,
                                                               .tangent_dim = 1,
                                                               .mass = mass,
                                                               .normal = normal,
                                                               .tangent = tangent,
                                                               .friction = &mu,
                                                               .velocity = velocity});
    const carom_spread friction[] = {{.kind = CAROM_SPREAD_UNIFORM, .range = {.1, .6}}};
    carom_error error;
    carom_sample_options options = carom_sample_defaults();
    options.samples = 300;
    assert_ok(carom_uncertainty_create(impact, &(carom_uncertainty_data){.friction = friction}, (carom_uncertainty **)&options.uncertainty,
                                       &error),
              error);
    carom_sample_statistics statistics;
    carom_table *rows = sample(impact, &options, 1, &statistics);
    assert_int_equal(carom_table_rows(rows), 300);
    assert_int_equal(statistics.draws, 300);
    const double *v = carom_table_real_column(rows, CAROM_OUTCOME_VELOCITY);
    const double *drawn = carom_table_real_column(rows, carom_table_find(rows, "friction"));
    double least = 1, most = 0;
    for (int i = 0; i < 300; i++) {
        assert_close(v[2 * i], 1 - drawn[i], 1e-12);
        assert_close(v[2 * i + 1], 0, 1e-12);
        least = fmin(least, drawn[i]);
        most = fmax(most, drawn[i]);
    }
    // 300 uniform numbers leave 5 % of an end free with a probability of 2e-7.
    assert_true(least >= .1 && least < .125 && most <= .6 && most > .575);
    carom_table_free(rows);
    carom_uncertainty_free((carom_uncertainty *)options.uncertainty);
    carom_impact_free(impact);
}

// Sample i is bit for bit sample i of the impact that was drawn, on any number of threads, and draws are those of the core.
static void samples_are_those_of_the_drawn_impacts(void **state) {
    (void)state;
    enum { SAMPLES = 48, DRAWS = 6 };
    carom_impact *impact = support_impact(&reference_block);
    const double box[] = {.05, .01, .02};
    const carom_spread friction[] = {{.kind = CAROM_SPREAD_UNIFORM, .range = {.2, 1}}, {.kind = CAROM_SPREAD_NORMAL, .deviation = .1}};
    const carom_uncertainty_data data = {.velocity_spread = CAROM_VELOCITY_BOX, .velocity = box, .friction = friction, .mass = {.8, 1.2}};
    carom_error error;
    carom_uncertainty *uncertainty;
    assert_ok(carom_uncertainty_create(impact, &data, &uncertainty, &error), error);
    carom_sample_options options = carom_sample_defaults();
    options.samples = SAMPLES;
    options.seed = 5;
    options.step = .3;
    options.method.selection = CAROM_SELECT_LEMKE;
    options.path = "lemke";
    for (int nested = 0; nested < 2; nested++) {
        carom_sample_statistics one, many, known;
        options.uncertainty = uncertainty;
        options.nested = nested ? DRAWS : 0;
        carom_table *rows = sample(impact, &options, 1, &one), *again = sample(impact, &options, 3, &many);
        assert_string_equal(one.digest, many.digest);
        assert_int_equal(one.draws, nested ? DRAWS : SAMPLES);
        assert_true(carom_table_rows(rows) > SAMPLES / 2);
        const int64_t *index = carom_table_integer_column(rows, carom_table_find(rows, "sample"));
        const int64_t *draw = carom_table_integer_column(rows, carom_table_find(rows, "draw"));
        const double *v = carom_table_real_column(rows, CAROM_OUTCOME_VELOCITY);
        const double *ratio = carom_table_real_column(rows, CAROM_OUTCOME_ENERGY_RATIO);
        for (int64_t i = 0; i < carom_table_rows(rows); i++) {
            assert_int_equal(draw[i], nested ? index[i] * DRAWS / SAMPLES : index[i]);
            double uniforms[8], values[8];
            carom_impact *drawn;
            carom_uncertainty_draw(uncertainty, options.seed, draw[i], uniforms);
            carom_uncertainty_values(uncertainty, uniforms, values);
            assert_ok(carom_uncertainty_impact(uncertainty, values, &drawn, &error), error);
            carom_sample_options certain = options;
            certain.nested = 0;
            certain.uncertainty = NULL;
            carom_table *set = sample(drawn, &certain, 1, &known);
            const int64_t *other = carom_table_integer_column(set, carom_table_find(set, "sample"));
            int64_t found = -1;
            for (int64_t k = 0; k < carom_table_rows(set); k++)
                if (other[k] == index[i]) found = k;
            assert_true(found >= 0);
            assert_memory_equal(carom_table_real_column(set, CAROM_OUTCOME_VELOCITY) + 3 * found, v + 3 * i, 3 * sizeof *v);
            // The energy is that of the impact that was drawn.
            assert_true(carom_table_real_column(set, CAROM_OUTCOME_ENERGY_RATIO)[found] == ratio[i]);
            carom_table_free(set);
            carom_impact_free(drawn);
        }
        carom_table_free(rows);
        carom_table_free(again);
    }

    // As many draws as samples are one draw for each sample.
    carom_sample_statistics each, nested;
    options.nested = 0;
    carom_table_free(sample(impact, &options, 1, &each));
    options.nested = SAMPLES;
    carom_table_free(sample(impact, &options, 1, &nested));
    assert_string_equal(each.digest, nested.digest);

    // What makes no sense is refused.
    options.nested = 7;
    assert_refused(carom_reach_sample(impact, &options, NULL, NULL, NULL, &each, &error), CAROM_BAD_INPUT, error, "nested: 7 draws");
    options.nested = 0;
    options.epsilon = .01;
    assert_refused(carom_reach_sample(impact, &options, NULL, NULL, NULL, &each, &error), CAROM_BAD_INPUT, error, "epsilon: ");
    options.epsilon = NAN;
    options.uncertainty = NULL;
    options.nested = 6;
    assert_refused(carom_reach_sample(impact, &options, NULL, NULL, NULL, &each, &error), CAROM_BAD_INPUT, error, "nested: nothing");
    carom_uncertainty_free(uncertainty);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_particle_with_uncertain_friction),
        cmocka_unit_test(samples_are_those_of_the_drawn_impacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
