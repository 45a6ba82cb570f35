// SPDX-License-Identifier: Apache-2.0
// One outcome for each of many impacts: the same as one by one, for every number of threads, and always as many rows.
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/many.h"

static carom_registry *registry;

enum { COUNT = 100, MOST = 64 };

// Impacts of different sizes, planar and spatial.
typedef struct family {
    carom_impact *impacts[COUNT];
    carom_impact_data data[COUNT];
} family;

static family make_family(void) {
    family made;
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    for (int i = 0; i < COUNT; i++) {
        made.impacts[i] = support_random_impact(&stream, FAMILY_PLAIN, 3, 1 + i % 2, 1);
        made.data[i] = *carom_impact_get_data(made.impacts[i]);
    }
    return made;
}

static void free_family(family *made) {
    for (int i = 0; i < COUNT; i++) carom_impact_free(made->impacts[i]);
}

// Outcomes with room for their arrays, which one block holds.
typedef struct outcomes {
    carom_many_outcome rows[COUNT];
    double numbers[COUNT][3][MOST];
} outcomes;

static outcomes *make_outcomes(void) {
    outcomes *made = calloc(1, sizeof *made);
    assert_non_null(made);
    for (int i = 0; i < COUNT; i++)
        made->rows[i] = (carom_many_outcome){
            .velocity = made->numbers[i][0], .normal_impulse = made->numbers[i][1], .tangent_impulse = made->numbers[i][2]};
    return made;
}

static outcomes *sample(const char *name, const family *from, bool by_data, int threads) {
    carom_error error = {0};
    outcomes *made = make_outcomes();
    const carom_control control = {.threads = threads};
    carom_many_call call = {.count = COUNT, .seed = 5, .registry = registry, .control = &control};
    if (by_data)
        call.data = from->data;
    else
        call.impacts = (const carom_impact *const *)from->impacts;
    assert_ok(carom_law_sample_many(carom_law_find(registry, name), &call, made->rows, &error), error);
    return made;
}

static void each_outcome_is_that_of_the_law(void **state) {
    (void)state;
    carom_error error = {0};
    family from = make_family();
    outcomes *many = sample("routh", &from, false, 2);
    int finished = 0;
    for (int i = 0; i < COUNT; i++) {
        char seed[32];
        snprintf(seed, sizeof seed, "%lld", (long long)carom_many_seed(5, i));
        carom_selection selection;
        assert_ok(carom_step_selection_unproved(from.impacts[i], 4, CAROM_STEP_CAPPED, &selection, &error), error);
        const char *const options[] = {"seed", seed, "selection", carom_selection_name(selection), NULL};
        carom_answer answer = support_ask(registry, from.impacts[i], "routh", options);
        const carom_many_outcome *one = &many->rows[i];
        const size_t nv = (size_t)from.data[i].nv, m = (size_t)from.data[i].contacts;
        assert_int_equal(one->verdict, carom_answer_verdict(&answer));
        assert_int_equal(one->finished, *carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED));
        finished += one->finished;
        if (one->finished) {
            assert_memory_equal(one->velocity, carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), nv * sizeof(double));
            assert_memory_equal(one->normal_impulse, carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE),
                                m * sizeof(double));
            assert_int_equal(one->steps, *carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_STEPS));
        } else {
            assert_true(isnan(one->velocity[0]) && isnan(one->normal_impulse[0]) && isnan(one->energy_ratio));
            assert_int_not_equal(one->verdict, CAROM_COMPLETE);
        }
        carom_answer_free(&answer);
    }
    assert_true(finished > COUNT / 2);
    free(many);
    free_family(&from);
}

static void threads_and_origin_change_no_bit(void **state) {
    (void)state;
    family from = make_family();
    static const char *const names[] = {"routh", "sequential", "anitescu-potra", "moreau"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        outcomes *first = sample(names[k], &from, false, 1);
        for (int threads = 1; threads <= 4; threads++) {
            outcomes *other = sample(names[k], &from, threads % 2, threads);
            assert_memory_equal(other->numbers, first->numbers, sizeof first->numbers);
            for (int i = 0; i < COUNT; i++) assert_int_equal(other->rows[i].verdict, first->rows[i].verdict);
            free(other);
        }
        free(first);
    }
    free_family(&from);
}

// A block that comes down flat on two corners has one outcome for each order of them.
static void every_outcome_has_its_turn(void **state) {
    (void)state;
    carom_error error = {0};
    carom_impact *impact = support_impact(&reference_block);
    const carom_impact *same[COUNT];
    for (int i = 0; i < COUNT; i++) same[i] = impact;
    outcomes *many = make_outcomes();
    const carom_many_call call = {.count = COUNT, .impacts = same, .seed = 1, .registry = registry};
    assert_ok(carom_law_sample_many(&carom_law_sequential, &call, many->rows, &error), error);
    int turns_left = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(many->rows[i].finished);
        turns_left += many->rows[i].velocity[2] > 0;
    }
    // 50 of 100, within five standard deviations.
    assert_true(turns_left > 25 && turns_left < 75);
    free(many);
    carom_impact_free(impact);
}

static void seeds_are_their_own(void **state) {
    (void)state;
    enum { SEEDS = 30 };
    int64_t seeds[SEEDS * SEEDS];
    for (int i = 0; i < SEEDS * SEEDS; i++) {
        seeds[i] = carom_many_seed(i / SEEDS, i % SEEDS);
        assert_true(seeds[i] >= 0 && (double)seeds[i] <= CAROM_MOST_SEED);
        for (int k = 0; k < i; k++) assert_true(seeds[k] != seeds[i]);
    }
}

static bool stop_at_once(void *user) {
    (void)user;
    return true;
}

static void what_is_not_reached_is_nan(void **state) {
    (void)state;
    carom_error error = {0};
    family from = make_family();
    outcomes *many = make_outcomes();
    const carom_control control = {.cancelled = stop_at_once};
    const carom_many_call call = {.count = COUNT, .data = from.data, .registry = registry, .control = &control};
    assert_ok(carom_law_sample_many(&carom_law_routh, &call, many->rows, &error), error);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(many->rows[i].verdict, CAROM_INTERRUPTED);
        assert_true(isnan(many->rows[i].velocity[0]));
    }
    free(many);
    free_family(&from);
}

static void bad_input_is_named(void **state) {
    (void)state;
    carom_error error = {0};
    family from = make_family();
    outcomes *many = make_outcomes();
    carom_many_call call = {.count = COUNT, .data = from.data, .registry = registry};
    const double no_mass[MOST * MOST] = {0};
    from.data[40].mass = no_mass;
    from.data[80].mass = no_mass;
    assert_refused(carom_law_sample_many(&carom_law_routh, &call, many->rows, &error), CAROM_BAD_INPUT, error, "impact 40: M");
    call.data = NULL;
    assert_refused(carom_law_sample_many(&carom_law_routh, &call, many->rows, &error), CAROM_BAD_INPUT, error, "either data or impacts");
    call.data = from.data;
    call.seed = -1;
    assert_refused(carom_law_sample_many(&carom_law_routh, &call, many->rows, &error), CAROM_BAD_INPUT, error, "seed");
    // No impacts are no error.
    call = (carom_many_call){.registry = registry};
    assert_ok(carom_law_sample_many(&carom_law_routh, &call, NULL, &error), error);
    free(many);
    free_family(&from);
}

static int set_up(void **state) {
    (void)state;
    return carom_registry_create(&registry, NULL) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_outcome_is_that_of_the_law), cmocka_unit_test(threads_and_origin_change_no_bit),
        cmocka_unit_test(every_outcome_has_its_turn),      cmocka_unit_test(seeds_are_their_own),
        cmocka_unit_test(what_is_not_reached_is_nan),      cmocka_unit_test(bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
