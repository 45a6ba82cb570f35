// SPDX-License-Identifier: Apache-2.0
// What the search for worst cases is among with each law: its list of outcomes as a whole, or the set that it draws from.
#include <math.h>
#include <stdlib.h>

#include "carom/laws.h"
#include "support.h"

// The largest value that a search with this law finds, and its witness.
static carom_worst search(const carom_impact *impact, const carom_law *law, const void *options, const carom_functional *functional,
                          int64_t evaluations, carom_witness *witness) {
    carom_error error;
    carom_member_source source;
    carom_worst worst;
    carom_verdict verdict;
    const carom_law_call call = {.impact = impact, .options = options};
    carom_worst_options how = carom_worst_defaults();
    assert_ok(carom_law_members(law, &call, &source, &error), error);
    how.evaluations = evaluations;
    how.source = &source;
    assert_ok(carom_worst_search(impact, functional, 1, &how, NULL, &worst, &verdict, &error), error);
    assert_int_equal(verdict, CAROM_COMPLETE);
    assert_ok(carom_witness_create(impact, &how, &worst.tape, worst.member, witness, &error), error);
    assert_true(carom_witness_value(witness, functional) == worst.value);
    assert_true(witness->verified);
    carom_member_source_release(&source);
    return worst;
}

// The largest value among the outcomes of the law itself.
static double largest_outcome(const carom_impact *impact, const carom_law *law, const void *options, const carom_functional *functional,
                              int64_t *count) {
    carom_error error;
    carom_answer answer;
    const carom_law_call call = {.impact = impact, .options = options};
    assert_ok(carom_law_resolve(law, &call, &answer, &error), error);
    const int nv = carom_impact_get_data(impact)->nv;
    double u[16], most = -INFINITY;
    *count = carom_table_rows(answer.outcomes);
    for (int64_t i = 0; i < *count; i++) {
        const double *v = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY) + i * nv;
        carom_impact_contact_velocity(impact, v, u);
        most = fmax(most, carom_functional_value(functional, &(carom_outcome_point){.u = u, .v = v}));
    }
    carom_answer_free(&answer);
    return most;
}

// Every law of the table that answers with a list: the best of it, once, and nothing has more.
static void lists_are_looked_through_once(void **state) {
    (void)state;
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    static const carom_impact_data *const problems[] = {&reference_block, &reference_boxwall, &reference_compass};
    static const char *const expressions[] = {"Jn.A", "-Jn.B", "Jt.A - Jt.B", "v.2"};
    int asked = 0;
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        void *options = malloc(law->options_size);
        for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
            carom_impact *impact = support_impact(problems[p]);
            law->defaults(options);
            const char *const *preset = law->exhaustive ? law->exhaustive : law->thorough;
            for (; preset && *preset; preset += 2) assert_ok(carom_law_set(law, options, preset[0], preset[1], &error), error);
            for (size_t e = 0; e < sizeof expressions / sizeof *expressions && !law->members; e++) {
                if (law->applies && !law->applies(impact)) continue;
                carom_functional functional;
                carom_witness witness;
                int64_t count;
                assert_ok(carom_functional_parse(impact, expressions[e], &functional, &error), error);
                carom_worst worst = search(impact, law, options, &functional, 0, &witness);
                assert_close(worst.value, largest_outcome(impact, law, options, &functional, &count), 1e-14);
                assert_int_equal(worst.members, count);
                assert_true(worst.complete && worst.evaluations == 1 && witness.path == CAROM_PATH_JUMP);
                asked++;
                carom_witness_release(&witness);
                carom_worst_release(&worst);
                carom_functional_release(&functional);
            }
            carom_impact_free(impact);
        }
        free(options);
    }
    assert_true(asked >= 4 * 3 * 4);
    carom_registry_free(registry);
}

// Laws that draw from a set are searched: farther than the first draw of `routh`, and of time stepping as far as of the known set.
static void sets_are_searched(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    carom_error error;
    carom_functional functional;
    assert_ok(carom_functional_parse(impact, "Jn.B", &functional, &error), error);
    carom_sample_options options = carom_halm_posa_defaults();
    static const struct {
        carom_sampler sampler;
        const char *name;
    } cases[] = {{CAROM_SAMPLER_WALK, "walk"}, {CAROM_SAMPLER_LCP, "lcp"}, {CAROM_SAMPLER_AUTO, "auto"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        carom_witness witness;
        options.sampler = (int)cases[k].sampler;
        carom_worst worst = search(impact, &carom_law_halm_posa, &options, &functional, 1 << 11, &witness);
        assert_close(worst.value, 0.0995551492, 1e-6);
        assert_false(worst.complete);
        assert_true(cases[k].sampler != CAROM_SAMPLER_WALK || witness.path == CAROM_PATH_SOLUTION);
        assert_true(cases[k].sampler != CAROM_SAMPLER_LCP || witness.path == CAROM_PATH_STEPS);
        carom_witness_release(&witness);
        carom_worst_release(&worst);
    }
    carom_routh_options one = carom_routh_defaults();
    int64_t count;
    carom_witness witness;
    carom_worst worst = search(impact, &carom_law_routh, &one, &functional, 1 << 9, &witness);
    assert_true(worst.value >= largest_outcome(impact, &carom_law_routh, &one, &functional, &count));
    carom_witness_release(&witness);
    carom_worst_release(&worst);
    carom_functional_release(&functional);
    carom_impact_free(impact);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_error error;
    carom_member_source source;
    carom_sample_options options = carom_halm_posa_defaults();
    options.sampler = CAROM_SAMPLER_LCP;
    options.rebound.hypothesis = CAROM_HYPOTHESIS_STRONGE;
    const carom_law_call call = {.impact = impact, .options = &options};
    assert_refused(carom_law_members(&carom_law_halm_posa, &call, &source, &error), CAROM_BAD_INPUT, error, "sampler: ");
    options = carom_halm_posa_defaults();
    options.sampler = CAROM_SAMPLER_LCP;
    options.method.solver = "nothing";
    assert_refused(carom_law_members(&carom_law_halm_posa, &call, &source, &error), CAROM_BAD_INPUT, error, "nothing");
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_looked_through_once),
        cmocka_unit_test(sets_are_searched),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
