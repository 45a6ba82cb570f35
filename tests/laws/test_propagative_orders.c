// SPDX-License-Identifier: Apache-2.0
// The propagative model: contacts that approach alike are taken in their order, whatever round-off says, and one word is enough where all
// words lead to one outcome.
#include "propagative_support.h"

enum { MOST_IN_ROW = 24 };

// Balls in a row as in make_cradle, of any number; their contacts are listed from `first` on in steps of `stride`, modulo their number.
static carom_impact *make_row(const double *masses, const double *v, int balls, int first, int stride) {
    double mass[MOST_IN_ROW * MOST_IN_ROW] = {0}, normal[MOST_IN_ROW * MOST_IN_ROW] = {0};
    const int contacts = balls - 1;
    for (int i = 0; i < balls; i++) mass[i * balls + i] = masses[i];
    for (int c = 0; c < contacts; c++) {
        const int i = (first + c * stride) % contacts;
        normal[c * balls + i] = -1;
        normal[c * balls + i + 1] = 1;
    }
    return support_impact(
        &(carom_impact_data){.nv = balls, .contacts = contacts, .tangent_dim = 1, .mass = mass, .normal = normal, .velocity = v});
}

// The word of a greedy order.
static outcome greedy(const carom_impact *impact, carom_word_order_kind kind) {
    carom_propagative *p = bind(impact);
    const outcomes one = follow(p, &(carom_word_order){.kind = kind});
    assert_int_equal(one.verdict, CAROM_COMPLETE);
    carom_propagative_free(p);
    return one.list[0];
}

// Four equal balls with velocities 4, 3, 2, 1 in any unit: all rates are equal, and the first contact of the list comes first. By hand:
// ABCABA for the fastest contact, ACBACB for the slowest. Reversed, the list gives the mirror image.
static void equal_rates_are_taken_in_the_order_of_contacts(void **state) {
    (void)state;
    static const double units[] = {1, 0.1, 3, 7e-9, 1.3e11};
    for (int m = 0; m < 5; m++)
        for (int s = 0; s < 5; s++) {
            double masses[4], v[4];
            for (int i = 0; i < 4; i++) {
                masses[i] = units[m];
                v[i] = (4 - i) * units[s];
            }
            carom_impact *impact = make_row(masses, v, 4, 0, 1), *reversed = make_row(masses, v, 4, 2, 2);
            assert_string_equal(greedy(impact, CAROM_ORDER_ARGMIN).word, "012010");
            assert_string_equal(greedy(impact, CAROM_ORDER_ARGMAX).word, "021021");
            assert_string_equal(greedy(reversed, CAROM_ORDER_ARGMIN).word, "012010");
            assert_string_equal(greedy(reversed, CAROM_ORDER_ARGMAX).word, "021021");
            carom_impact_free(impact);
            carom_impact_free(reversed);
        }
}

// Rows of balls of random small masses, symmetric about their middle, that fall together: mirror images approach alike. Words do not
// depend on units, and outcomes of the row and of its mirror image are mirror images where the list of contacts is mirrored, too.
static void words_do_not_depend_on_units(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 31, 0);
    for (int trial = 0; trial < support_count(40, 400, 4000); trial++) {
        enum { BALLS = 6 };
        double masses[BALLS], v[BALLS];
        for (int i = 0; i < BALLS / 2; i++) {
            masses[i] = masses[BALLS - 1 - i] = 1e-9 * (0.5 + carom_stream_uniform(&stream));
            v[i] = (double)(BALLS - i) + (double)(int)(2 * carom_stream_uniform(&stream));
            v[BALLS - 1 - i] = -v[i];
        }
        for (int kind = CAROM_ORDER_ARGMIN; kind <= CAROM_ORDER_ARGMAX; kind++) {
            carom_impact *impact = make_row(masses, v, BALLS, 0, 1);
            const outcome word = greedy(impact, (carom_word_order_kind)kind);
            carom_impact_free(impact);
            for (int unit = 0; unit < 3; unit++) {
                static const double mass_units[] = {0.1, 3, 1e12}, speed_units[] = {0.3, 7, 1e-5};
                double other_masses[BALLS], other_v[BALLS];
                for (int i = 0; i < BALLS; i++) {
                    other_masses[i] = mass_units[unit] * masses[i];
                    other_v[i] = speed_units[unit] * v[i];
                }
                impact = make_row(other_masses, other_v, BALLS, 0, 1);
                const outcome other = greedy(impact, (carom_word_order_kind)kind);
                assert_string_equal(other.word, word.word);
                for (int i = 0; i < BALLS; i++) assert_true(fabs(other.v[i] / speed_units[unit] - word.v[i]) <= 1e-11 * BALLS);
                carom_impact_free(impact);
            }
            // The mirror image of the row is the row itself, with its contacts listed from the other end: mirrored velocities.
            impact = make_row(masses, v, BALLS, BALLS - 2, BALLS - 2);
            const outcome mirrored = greedy(impact, (carom_word_order_kind)kind);
            assert_string_equal(mirrored.word, word.word);
            for (int i = 0; i < BALLS; i++) assert_true(fabs(mirrored.v[BALLS - 1 - i] + word.v[i]) <= 1e-11 * BALLS);
            carom_impact_free(impact);
        }
    }
}

// n equal balls that all approach: n(n-1)/2 letters in every word. Nine have 9! momenta, more than the budget: one word, complete.
static void one_word_is_enough_where_all_lead_to_one_outcome(void **state) {
    (void)state;
    for (int balls = 9; balls <= MOST_IN_ROW; balls += 5) {
        double masses[MOST_IN_ROW], v[MOST_IN_ROW];
        for (int i = 0; i < balls; i++) {
            masses[i] = 0.3;
            v[i] = 0.1 * (balls - i);
        }
        carom_impact *impact = make_row(masses, v, balls, 0, 1);
        carom_propagative *p = bind(impact);
        carom_law_call call = {.impact = impact};
        carom_answer answer;
        carom_error error;
        assert_ok(carom_law_resolve(&carom_law_propagative, &call, &answer, &error), error);
        assert_true(carom_answer_complete(&answer));
        assert_int_equal(carom_table_rows(answer.outcomes), 1);
        const int64_t letters = balls * (balls - 1) / 2;
        static const char *const columns[] = {"count", "min_length", "max_length"};
        const int64_t expected[] = {CAROM_NO_INTEGER, letters, letters};
        for (int c = 0; c < 3; c++)
            assert_int_equal(*carom_table_integer_column(answer.outcomes, carom_table_find(answer.outcomes, columns[c])), expected[c]);
        const double *after = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY);
        for (int i = 0; i < balls; i++) assert_close(after[i], v[balls - 1 - i], 1e-12);
        carom_answer_free(&answer);
        carom_propagative_free(p);
        carom_impact_free(impact);
    }
}

// Below the budget words are counted; at it, each set has the first of them. Words that are cut off are no proof. Balls that only almost
// fulfil the condition keep their verdict.
static void the_budget_decides_what_is_counted(void **state) {
    (void)state;
    static const double masses[] = {1, 1, 1, 1}, others[] = {1, 1, 1.001, 1}, v[] = {4, 3, 2, 1};
    carom_impact *impact = make_cradle(masses, v, 4), *unequal = make_cradle(others, v, 4);
    carom_propagative *p = bind(impact), *q = bind(unequal);
    for (int set = CAROM_WORDS_ADMISSIBLE; set <= CAROM_WORDS_LITERAL; set++) {
        const outcomes all = enumerate(p, (carom_word_set)set), some = enumerate_within(p, (carom_word_set)set, 4);
        assert_int_equal(all.verdict, CAROM_COMPLETE);
        // Literal words pass the default budget, too: any letter may follow.
        assert_true(all.list[0].count == (set == CAROM_WORDS_LITERAL ? CAROM_NO_INTEGER : 16));
        assert_int_equal(some.verdict, CAROM_COMPLETE);
        assert_int_equal(some.count, 1);
        assert_true(some.list[0].count == CAROM_NO_INTEGER);
        assert_int_equal(some.list[0].min_length, 6);
        assert_int_equal(some.list[0].max_length, 6);
        assert_string_equal(some.list[0].word, all.list[0].word);
        for (int i = 0; i < 4; i++) assert_true(some.list[0].v[i] == all.list[0].v[i]);
        assert_int_equal(enumerate_within(q, (carom_word_set)set, 4).verdict, CAROM_INCOMPLETE);
    }
    outcomes cut = {.p = p};
    carom_error error;
    const carom_word_limits short_words = {.max_states = 1000, .max_length = 5};
    assert_ok(carom_propagative_enumerate(p, CAROM_WORDS_ADMISSIBLE, &short_words, NULL, keep, &cut, &cut.verdict, &error), error);
    assert_int_equal(cut.verdict, CAROM_INCOMPLETE);
    assert_int_equal(cut.count, 0);
    carom_propagative_free(p);
    carom_propagative_free(q);
    carom_impact_free(impact);
    carom_impact_free(unequal);
}

// What a sampled set says is true: all its outcomes are outcomes of the whole set, each order ends at one of them, xi is a lower bound of
// that of the whole set, and here most of it. The seed alone decides. The draws are not a corner of the set, as cut enumerations are.
static void sampled_sets_are_honest(void **state) {
    (void)state;
    static const double masses[] = {1, 1.7, 0.6, 1.3, 0.8}, v[] = {5, 4, 3, 2, 1};
    carom_impact *impact = make_cradle(masses, v, 5);
    carom_propagative *p = bind(impact);
    static outcomes whole, some, again, other;
    const carom_word_limits limits = {.max_states = 1000000, .max_length = 1000000};
    carom_word_limits few = {.max_states = 100, .max_length = 1000000, .draws = 200, .seed = 5};
    carom_error error;
    whole.p = some.p = again.p = other.p = p;
    assert_ok(carom_propagative_enumerate(p, CAROM_WORDS_ADMISSIBLE, &limits, NULL, keep, &whole, &whole.verdict, &error), error);
    assert_ok(carom_propagative_enumerate(p, CAROM_WORDS_ADMISSIBLE, &few, NULL, keep, &some, &some.verdict, &error), error);
    assert_ok(carom_propagative_enumerate(p, CAROM_WORDS_ADMISSIBLE, &few, NULL, keep, &again, &again.verdict, &error), error);
    few.seed = 6;
    assert_ok(carom_propagative_enumerate(p, CAROM_WORDS_ADMISSIBLE, &few, NULL, keep, &other, &other.verdict, &error), error);
    assert_int_equal(whole.verdict, CAROM_COMPLETE);
    assert_int_equal(some.verdict, CAROM_INCOMPLETE);
    assert_true(whole.count <= MOST_OUTCOMES && some.count > 10 && some.count <= whole.count);
    assert_memory_equal(some.list, again.list, sizeof some.list);
    assert_memory_not_equal(some.list, other.list, sizeof some.list);
    int64_t orders = 0;
    for (int i = 0; i < some.count; i++) {
        const outcome *drawn = &some.list[i];
        orders += drawn->count;
        int at = 0;
        while (at < whole.count && distance(impact, drawn->v, whole.list[at].v) > 1e-9) at++;
        assert_true(at < whole.count);
        assert_true(drawn->min_length >= whole.list[at].min_length && drawn->max_length <= whole.list[at].max_length);
        if (i > 0) assert_true(drawn->min_length >= some.list[i - 1].min_length);
    }
    assert_int_equal(orders, 202);

    carom_uniqueness *all, *sampled;
    assert_ok(carom_propagative_uniqueness(p, &limits, NULL, &all, &error), error);
    assert_ok(carom_propagative_uniqueness(p, &few, NULL, &sampled, &error), error);
    assert_int_equal(all->sampled, 0);
    assert_int_equal(sampled->sampled, 202);
    assert_int_equal(sampled->verdict, CAROM_UNIQUE_NOT);
    assert_true(all->complete && !sampled->complete);
    assert_true(sampled->difference <= all->difference * (1 + 1e-12) && sampled->difference >= 0.8 * all->difference);
    carom_uniqueness_free(all);
    carom_uniqueness_free(sampled);

    // The law says that it sampled, and the same xi.
    static const char *const columns[] = {"sampled", "orders"};
    const int64_t expected[] = {1, 202};
    carom_propagative_options options = carom_propagative_defaults();
    options.limits = (carom_word_limits){.max_states = 100, .max_length = 1000000, .draws = 200};
    options.seed = 5;
    carom_law_call call = {.impact = impact, .options = &options};
    carom_answer answer;
    assert_ok(carom_law_resolve(&carom_law_propagative, &call, &answer, &error), error);
    assert_false(carom_answer_complete(&answer));
    assert_int_equal(carom_table_rows(answer.outcomes), some.count);
    assert_string_equal(carom_table_text(answer.result, carom_table_find(answer.result, "words"), 0), "sampled");
    for (int c = 0; c < 2; c++)
        assert_int_equal(*carom_table_integer_column(answer.result, carom_table_find(answer.result, columns[c])), expected[c]);
    few.seed = 5;
    assert_ok(carom_propagative_uniqueness(p, &few, NULL, &sampled, &error), error);
    assert_true(*carom_table_real_column(answer.result, carom_table_find(answer.result, "xi")) == sampled->difference);
    carom_uniqueness_free(sampled);
    carom_answer_free(&answer);
    carom_propagative_free(p);
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_rates_are_taken_in_the_order_of_contacts),
        cmocka_unit_test(words_do_not_depend_on_units),
        cmocka_unit_test(one_word_is_enough_where_all_lead_to_one_outcome),
        cmocka_unit_test(the_budget_decides_what_is_counted),
        cmocka_unit_test(sampled_sets_are_honest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
