// SPDX-License-Identifier: Apache-2.0
// Worst cases: known sets are reached, tapes play their walks again, and the answer depends neither on threads nor on luck.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/worst.h"
#include "support.h"

enum { MOST = 64 };

static carom_worst_options options_of(int64_t evaluations) {
    carom_worst_options options = carom_worst_defaults();
    options.evaluations = evaluations;
    return options;
}

// Searches for one expression.
static carom_worst search(const carom_impact *impact, const char *expression, const carom_worst_options *options,
                          const carom_control *control) {
    carom_error error;
    carom_functional functional;
    carom_worst worst;
    carom_verdict verdict;
    assert_ok(carom_functional_parse(impact, expression, &functional, &error), error);
    assert_ok(carom_worst_search(impact, &functional, 1, options, control, &worst, &verdict, &error), error);
    assert_int_equal(verdict, CAROM_COMPLETE);
    // The witness has the same value, and is one.
    carom_witness witness;
    assert_ok(carom_witness_create(impact, options, &worst.tape, worst.member, &witness, &error), error);
    assert_true(carom_witness_value(&witness, &functional) == worst.value);
    assert_true(witness.verified);
    carom_witness_release(&witness);
    carom_functional_release(&functional);
    return worst;
}

// ------------------------------------------------------------------------------------------------------------ known sets

// Extremes of exact sets [m/s].
static void known_extremes_are_reached(void **state) {
    (void)state;
    static const struct {
        const carom_impact_data *data;
        const char *expression;
        double most;
    } cases[] = {
        {&reference_block, "Jn.A", 0.21 * 0.44294469180700202},
        {&reference_block, "Jn.B", 0.21 * 0.44294469180700202},
        {&reference_boxwall, "Jt.A", 0.372097803},
        {&reference_boxwall, "Jn.B", 0.10564229},
        {&reference_boxwall, "Jt.B", 0.0725421692},
        {&reference_compass, "Jn.A", 0.037450441},
        {&reference_compass, "Jn.B", 0.0995551492},
        {&reference_compass, "Jt.B", 0.198019601},
        {&reference_compass, "-Jt.A", 0.0744905857},
    };
    const carom_worst_options options = options_of(1 << 13);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        carom_impact *impact = support_impact(cases[k].data);
        carom_worst worst = search(impact, cases[k].expression, &options, NULL);
        assert_true(worst.value >= (1 - 1e-3) * cases[k].most);
        assert_true(worst.value <= cases[k].most + 1e-7);
        carom_worst_release(&worst);
        carom_impact_free(impact);
    }
}

// A light coordinate beside heavy ones: W has condition 1.4e9, impulses move a contact by 1e5 times its velocity and cancel, and so walks
// end off their impulses by the rounding of that.
static void members_are_found_where_impulses_cancel(void **state) {
    (void)state;
    const carom_impact_data data = {.nv = 4,
                                    .contacts = 2,
                                    .tangent_dim = 1,
                                    .mass = (double[]){4e-5, 0, 0, 0, 0, 1300, 0, 0, 0, 0, 120, 0, 0, 0, 0, 26},
                                    .normal = (double[]){1.34, 1.69, -0.05, -0.79, -1.57, 0.71, 0.85, 0.31},
                                    .tangent = (double[]){0.37, 0.7, -0.34, -1.46, -1.42, -0.77, -0.9, -1.58},
                                    .friction = (double[]){1.1, 0.36},
                                    .velocity = (double[]){-0.21, -0.68, -0.015, 0.96}};
    carom_impact *impact = support_impact(&data);
    const carom_worst_options options = options_of(448);
    carom_worst worst = search(impact, "Jn.A", &options, NULL);
    assert_close(worst.value, 0, 1e-6);
    carom_worst_release(&worst);
    carom_impact_free(impact);
}

// The disks' plain walks miss nearly half of this extreme.
static void search_goes_farther_than_plain_walks(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    const carom_worst_options options = options_of(1 << 12);
    carom_worst worst = search(impact, "Jn.A", &options, NULL);
    assert_int_equal(worst.samples, 1 << 10);
    assert_true(worst.value > 1.2 * worst.samples_value);
    carom_worst_release(&worst);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------------------ invariants

static void assert_same_tape(const carom_tape *one, const carom_tape *other) {
    assert_int_equal(one->count, other->count);
    for (int64_t k = 0; k < one->count; k++) {
        assert_int_equal(one->numbers[k].piece, other->numbers[k].piece);
        assert_int_equal(one->numbers[k].what, other->numbers[k].what);
        assert_true(one->numbers[k].value == other->numbers[k].value);
    }
}

// A walk and the tape of it: the same bits, also when the tape is played, and recorded, again.
static void tapes_play_walks_again(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    const int impacts = support_count(4, 20, 200);
    for (int k = 0; k < impacts; k++) {
        const int dim = 1 + k % 2;
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 3, dim, 1);
        carom_error error;
        carom_walker *walker;
        carom_tape first = {0}, second = {0};
        carom_walker_options options = {.max_steps = 2000, .weights = k % 3, .rebound = {.restitution = {NAN, NAN}}};
        if (k % 4 > 1) options.rebound = (carom_rebound_options){k % 4 - 1, {0.2, 0.6}};
        assert_ok(carom_walker_create(impact, &options, &walker, &error), error);
        for (int index = 0; index < 10; index++) {
            double v[3][MOST], impulse[3][MOST];
            carom_sample_counts counts[3];
            const size_t nv = (size_t)carom_impact_get_data(impact)->nv;
            carom_walker_run(walker, 3, index, v[0], impulse[0], &counts[0]);
            carom_walker_play(walker, NULL, 3, index, v[1], impulse[1], &first, &counts[1]);
            // Another stream: all that counts is on the tape.
            carom_walker_play(walker, &first, 77, 5, v[2], impulse[2], &second, &counts[2]);
            assert_memory_equal(v[0], v[1], nv * sizeof(double));
            assert_memory_equal(v[0], v[2], nv * sizeof(double));
            assert_int_equal(counts[0].steps, counts[2].steps);
            assert_same_tape(&first, &second);
        }
        carom_tape_release(&first);
        carom_tape_release(&second);
        carom_walker_free(walker);
        carom_impact_free(impact);
    }
}

static void threads_change_no_bit(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    const carom_worst_options options = options_of(1 << 12);
    carom_worst one = search(impact, "Jt.B - Jn.C", &options, &(carom_control){.threads = 1});
    carom_worst three = search(impact, "Jt.B - Jn.C", &options, &(carom_control){.threads = 3});
    assert_true(one.value == three.value && one.samples_value == three.samples_value);
    assert_int_equal(one.evaluations, three.evaluations);
    assert_same_tape(&one.tape, &three.tape);
    carom_worst_release(&one);
    carom_worst_release(&three);
    carom_impact_free(impact);
}

// Functionals that are searched for together help each other: with the same walks for each they reach farther than alone, and their
// witnesses are the same for every number of threads.
static void functionals_share_what_is_found(void **state) {
    (void)state;
    static const char *const expressions[] = {"Jn.A", "Jn.B", "Jt.A", "-Jt.A", "Jn.A + Jn.B", "Jt.C", "-Jt.E", "Jn.D"};
    enum { COUNT = sizeof expressions / sizeof *expressions };
    carom_error error;
    carom_verdict verdict;
    carom_impact *impact = support_impact(&reference_disks);
    const carom_worst_options options = options_of(1 << 11);
    carom_functional functionals[COUNT];
    carom_worst one[COUNT], three[COUNT];
    for (int f = 0; f < COUNT; f++) assert_ok(carom_functional_parse(impact, expressions[f], &functionals[f], &error), error);
    assert_ok(carom_worst_search(impact, functionals, COUNT, &options, &(carom_control){.threads = 1}, one, &verdict, &error), error);
    assert_ok(carom_worst_search(impact, functionals, COUNT, &options, &(carom_control){.threads = 3}, three, &verdict, &error), error);
    double together = 0, apart = 0;
    for (int f = 0; f < COUNT; f++) {
        assert_true(one[f].value == three[f].value);
        assert_same_tape(&one[f].tape, &three[f].tape);
        carom_worst alone = search(impact, expressions[f], &options, NULL);
        together += one[f].value;
        apart += alone.value;
        carom_worst_release(&alone);
        carom_worst_release(&one[f]);
        carom_worst_release(&three[f]);
        carom_functional_release(&functionals[f]);
    }
    assert_true(together > apart);
    carom_impact_free(impact);
}

// Effort never lowers the value.
static void values_grow_with_effort(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    const carom_worst_options options = options_of(1 << 14);
    carom_worst worst = search(impact, "Jn.A + Jt.B", &options, NULL);
    assert_true(worst.grown > 2);
    assert_true(worst.growth[0].value == worst.samples_value);
    for (int k = 1; k < worst.grown; k++) {
        assert_true(worst.growth[k].value >= worst.growth[k - 1].value);
        assert_true(worst.growth[k].evaluations > worst.growth[k - 1].evaluations);
    }
    assert_true(worst.growth[worst.grown - 1].value == worst.value);
    assert_int_equal(worst.growth[worst.grown - 1].evaluations, worst.evaluations);
    carom_worst_release(&worst);
    carom_impact_free(impact);
}

// In space and with restitution, witnesses obey what members obey.
static void witnesses_are_members(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    const int impacts = support_count(2, 6, 60);
    for (int k = 0; k < impacts; k++) {
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 2, 1 + k % 2, 0.8);
        carom_worst_options options = options_of(1 << 9);
        carom_error error;
        carom_member_source walks;
        const carom_rebound_options rebound = {k % 3 == 2 ? CAROM_HYPOTHESIS_STRONGE : CAROM_HYPOTHESIS_NONE, {0, 0.7}};
        assert_ok(carom_walk_members(&(carom_walker_options){.max_steps = 10000, .rebound = rebound}, &walks, &error), error);
        options.source = &walks;
        carom_functional functional;
        carom_worst worst;
        carom_verdict verdict;
        assert_ok(carom_functional_parse(impact, "Jn.A", &functional, &error), error);
        assert_ok(carom_worst_search(impact, &functional, 1, &options, NULL, &worst, &verdict, &error), error);
        if (!isinf(worst.value)) {
            carom_witness witness;
            assert_ok(carom_witness_create(impact, &options, &worst.tape, worst.member, &witness, &error), error);
            assert_true(witness.verified);
            assert_true(witness.energy_ratio <= 1 + 1e-6);
            carom_witness_release(&witness);
        }
        carom_worst_release(&worst);
        carom_member_source_release(&walks);
        carom_functional_release(&functional);
        carom_impact_free(impact);
    }
}

// An ill-conditioned mass matrix: velocities have the round-off of W P, whose terms are large and cancel.
static void witnesses_of_terms_that_cancel_are_verified(void **state) {
    (void)state;
    const carom_impact_data data = {.nv = 3,
                                    .contacts = 2,
                                    .tangent_dim = 1,
                                    .mass = (const double[]){651264.9050353928, -449369.75214851595, -555448.5076881013,
                                                             -449369.75214851595, 508287.97448375274, 157718.08808734312,
                                                             -555448.5076881013, 157718.08808734312, 730345.4310096244},
                                    .normal = (const double[]){-0.6823890983069645, -0.9269246222986611, 0.8831358777234753,
                                                               1.187113130395789, -0.30635664494041054, -0.21991821426673522},
                                    .tangent = (const double[]){-0.1192555256848944, 0.7342119857170228, -0.1253305902907768,
                                                                -0.04021620750319755, 0.6147573025748029, 0.39854494140421615},
                                    .friction = (const double[]){0.08578413217491841, 1.8717980377960086},
                                    .velocity = (const double[]){0.5371847597845562, 0.5379402484149715, -0.9451102944572554}};
    carom_impact *impact = support_impact(&data);
    carom_worst_options options = options_of(400);
    options.seed = 13;
    carom_worst worst = search(impact, "Jt.A", &options, NULL);
    carom_worst_release(&worst);
    carom_impact_free(impact);
}

// ------------------------------------------------------------------------------------------------------------- bad input

static void bad_searches_are_refused(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_error error;
    carom_functional functional;
    carom_worst worst;
    carom_verdict verdict;
    assert_ok(carom_functional_parse(impact, "Jn.A", &functional, &error), error);
    carom_worst_options options = options_of(-1);
    assert_refused(carom_worst_search(impact, &functional, 1, &options, NULL, &worst, &verdict, &error), CAROM_BAD_INPUT, error,
                   "evaluations: ");
    options = options_of(64);
    options.seconds = -1;
    assert_refused(carom_worst_search(impact, &functional, 1, &options, NULL, &worst, &verdict, &error), CAROM_BAD_INPUT, error,
                   "seconds: ");
    options = options_of(64);
    options.seed = -1;
    assert_refused(carom_worst_search(impact, &functional, 1, &options, NULL, &worst, &verdict, &error), CAROM_BAD_INPUT, error, "seed: ");
    options = options_of(64);
    carom_member_source walks;
    assert_ok(carom_walk_members(&(carom_walker_options){.max_steps = 10, .tolerance = 1}, &walks, &error), error);
    options.source = &walks;
    assert_refused(carom_worst_search(impact, &functional, 1, &options, NULL, &worst, &verdict, &error), CAROM_BAD_INPUT, error,
                   "tolerance: ");
    carom_member_source_release(&walks);
    assert_refused(carom_worst_search(impact, &functional, 0, &options, NULL, &worst, &verdict, &error), CAROM_BAD_INPUT, error,
                   "no functional");
    carom_functional_release(&functional);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_extremes_are_reached),
        cmocka_unit_test(search_goes_farther_than_plain_walks),
        cmocka_unit_test(members_are_found_where_impulses_cancel),
        cmocka_unit_test(tapes_play_walks_again),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(functionals_share_what_is_found),
        cmocka_unit_test(values_grow_with_effort),
        cmocka_unit_test(witnesses_are_members),
        cmocka_unit_test(witnesses_of_terms_that_cancel_are_verified),
        cmocka_unit_test(bad_searches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
