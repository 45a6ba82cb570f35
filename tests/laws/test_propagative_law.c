// SPDX-License-Identifier: Apache-2.0
// The propagative model: plastic and inelastic outcomes, and the law `propagative`.
#include <math.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "propagative_support.h"

// ----------------------------------------------------------------------------------------------- plastic and inelastic

static void plastic_outcomes_obey_their_laws(void **state) {
    (void)state;
    const int count = support_count(100, 1000, 20000);
    int adhesive_pairs = 0;
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, support_random_integer(&stream, 1, 4), 5, k % 2);
        carom_propagative *p = bind(impact);
        const carom_impact_data *data = carom_impact_get_data(impact);
        const double scale = sqrt(2 * carom_impact_initial_energy(impact));
        carom_error error;
        for (int kind = 0; kind < 2; kind++) {
            double impulse[4], v[5];
            bool adhesive;
            assert_ok(carom_propagative_plastic(p, (carom_plastic_kind)kind, impulse, &adhesive, &error), error);
            assert_ok(carom_propagative_velocity(p, impulse, v, &error), error);
            assert_true(carom_impact_kinetic_energy(impact, v) <= carom_impact_initial_energy(impact) * (1 + 1e-12));
            bool pulls = false;
            for (int c = 0; c < data->contacts; c++) {
                const double rate = carom_dot(data->nv, data->normal + c * data->nv, v);
                pulls = pulls || impulse[c] < -1e-9 * scale;
                if (kind == CAROM_PLASTIC_BILATERAL) {
                    assert_true(fabs(rate) <= 1e-10 * scale);
                } else {
                    assert_true(impulse[c] >= 0 && rate >= -1e-10 * scale);
                    assert_true(impulse[c] * rate <= 1e-9 * scale * scale);
                }
            }
            if (kind == CAROM_PLASTIC_UNILATERAL) assert_false(adhesive);
            if (pulls) assert_true(adhesive);
            adhesive_pairs += adhesive;
        }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
    assert_true(adhesive_pairs > count / 4);
}

static void blends_measure_their_restitution(void **state) {
    (void)state;
    const int count = support_count(50, 500, 5000);
    carom_stream stream;
    carom_stream_start(&stream, 8, 0);
    for (int k = 0; k < count; k++) {
        carom_impact *impact = make_random(&stream, support_random_integer(&stream, 1, 3), 4, true);
        carom_propagative *p = bind(impact);
        const outcomes greedy = follow(p, &(carom_word_order){.kind = CAROM_ORDER_ARGMIN});
        const carom_impact_data *data = carom_impact_get_data(impact);
        const double before = carom_impact_initial_energy(impact);
        // Hundreds of letters in a flat wedge leave the round-off of as many reflections in the elastic outcome.
        const double letters = fmax(1, 0.01 * (double)greedy.list[0].min_length);
        static const double restitutions[] = {0, 0.1, 0.5, 0.7, 0.99, 1};
        carom_error error;
        for (int kind = 0; kind < 2; kind++)
            for (int r = 0; r < 6; r++) {
                double plastic[3], impulse[3], v[4], stopped[4];
                bool adhesive;
                assert_ok(carom_propagative_plastic(p, (carom_plastic_kind)kind, plastic, &adhesive, &error), error);
                assert_ok(carom_propagative_velocity(p, plastic, stopped, &error), error);
                carom_propagative_blend(p, restitutions[r], plastic, greedy.list[0].impulse, impulse);
                assert_ok(carom_propagative_velocity(p, impulse, v, &error), error);
                const double lost = before - carom_impact_kinetic_energy(impact, stopped);
                if (lost < 1e-3 * before) continue;
                const double measured = sqrt(fmax(1 - (before - carom_impact_kinetic_energy(impact, v)) / lost, 0));
                // The root of a difference of energies: near 0 round-off of 1e-16 shows as 1e-8, so squares are compared there.
                assert_true(fabs(measured * measured - restitutions[r] * restitutions[r]) <= 1e-11 * letters);
                if (restitutions[r] >= 0.1) assert_true(fabs(measured - restitutions[r]) <= 1e-11 * letters);
                for (int c = 0; c < data->contacts; c++)
                    assert_true(carom_dot(data->nv, data->normal + c * data->nv, v) >= -1e-10 * sqrt(2 * before));
            }
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// ------------------------------------------------------------------------------------------------------------- the law

static carom_registry *registry;

static int64_t integer_of(const carom_table *table, const char *column, int64_t row) {
    return carom_table_integer_column(table, carom_table_find(table, column))[row];
}

// The unit cradle: v+ = ((1-R)/3, (1-R)/3, (1+2R)/3) and E+/E- = (1 + 2 R^2)/3.
static void law_blends_the_unit_cradle(void **state) {
    (void)state;
    static const double masses[] = {1, 1, 1}, v[] = {1, 0, 0};
    static const char *const texts[] = {"0", "0.25", "0.7", "1"};
    carom_impact *impact = make_cradle(masses, v, 3);
    for (int i = 0; i < 4; i++)
        for (int kind = 0; kind < 2; kind++) {
            double R;
            assert_true(carom_parse_number(texts[i], &R));
            const double expected[] = {(1 - R) / 3, (1 - R) / 3, (1 + 2 * R) / 3};
            carom_answer answer = support_ask(registry, impact, "propagative",
                                              (const char *[]){"restitution", texts[i], "plastic", carom_plastic_kind_names[kind], NULL});
            assert_int_equal(carom_table_rows(answer.outcomes), 1);
            assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), expected, 3, 1e-14);
            assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO), (1 + 2 * R * R) / 3, 1e-14);
            assert_int_equal(integer_of(answer.outcomes, "count", 0), i == 0 ? 0 : 1);
            carom_answer_free(&answer);
        }
    carom_impact_free(impact);
}

static void law_says_when_it_is_jammed(void **state) {
    (void)state;
    static const double walls[] = {1, -1}, v[] = {-1};
    carom_impact *impact = make_particle(walls, 2, v, 1);
    carom_answer answer = support_ask(registry, impact, "propagative", NULL);
    assert_true(carom_answer_complete(&answer));
    assert_int_equal(integer_of(answer.result, "jammed", 0), 1);
    assert_int_equal(carom_table_rows(answer.outcomes), 1);
    assert_int_equal(integer_of(answer.outcomes, "jammed", 0), 1);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), 0, 1e-15);
    const double *certificate = carom_table_real_column(answer.result, carom_table_find(answer.result, "certificate"));
    assert_close(certificate[0], 0.5, 1e-12);
    assert_close(certificate[1], 0.5, 1e-12);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static void law_flags_what_it_leaves_out(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_answer answer = support_ask(registry, impact, "propagative", NULL);
    assert_true(carom_table_rows(answer.outcomes) >= 1);
    for (int64_t row = 0; row < carom_table_rows(answer.outcomes); row++)
        assert_int_equal(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_FLAGS)[row], CAROM_FLAG_FRICTION_IGNORED);
    carom_answer_free(&answer);
    carom_impact_free(impact);
    // Only the left ball approaches: stopping both contacts makes the right one pull.
    static const double masses[] = {1, 1, 1}, v[] = {1, 0, 2};
    impact = make_cradle(masses, v, 3);
    answer = support_ask(registry, impact, "propagative", (const char *[]){"restitution", "0.5", "plastic", "bilateral", NULL});
    assert_int_equal(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_FLAGS)[0], CAROM_FLAG_ADHESIVE);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static void law_takes_orders(void **state) {
    (void)state;
    static const double masses[] = {1, 3, 1}, v[] = {1, 0, -1};
    carom_impact *impact = make_cradle(masses, v, 3);
    static const struct {
        const char *order;
        int first;
    } orders[] = {{"argmin", 0}, {"A,B", 0}, {"B,A", 1}, {"B", 1}};
    for (int i = 0; i < 4; i++) {
        carom_answer answer = support_ask(registry, impact, "propagative", (const char *[]){"order", orders[i].order, NULL});
        int count;
        assert_int_equal(carom_table_list(answer.outcomes, CAROM_OUTCOME_WORD, 0, &count)[0], orders[i].first);
        assert_int_equal(integer_of(answer.outcomes, "count", 0), 1);
        // A list that leaves a contact out may leave it approaching.
        assert_int_equal(carom_answer_complete(&answer), i != 3);
        assert_int_equal(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[0], i != 3);
        carom_answer_free(&answer);
    }
    const carom_law *law = carom_law_find(registry, "propagative");
    void *options = malloc(law->options_size);
    law->defaults(options);
    carom_error error;
    carom_answer answer;
    assert_ok(carom_law_set(law, options, "order", "A,,B", &error), error);
    assert_refused(carom_law_resolve(law, &(carom_law_call){.impact = impact, .options = options}, &answer, &error), CAROM_BAD_INPUT, error,
                   "order: ");
    free(options);
    carom_impact_free(impact);
}

static int start(void **state) {
    (void)state;
    return carom_registry_create(&registry, NULL) != CAROM_OK;
}

static int stop(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plastic_outcomes_obey_their_laws), cmocka_unit_test(blends_measure_their_restitution),
        cmocka_unit_test(law_blends_the_unit_cradle),       cmocka_unit_test(law_says_when_it_is_jammed),
        cmocka_unit_test(law_flags_what_it_leaves_out),     cmocka_unit_test(law_takes_orders),
    };
    return cmocka_run_group_tests_name("propagative law", tests, start, stop);
}
