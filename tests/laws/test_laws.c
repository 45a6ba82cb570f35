// SPDX-License-Identifier: Apache-2.0
// The laws: Appendix A's outcomes, words and orders, and what every row of the table must have.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static carom_registry *registry;

static int start(void **state) {
    (void)state;
    return carom_registry_create(&registry, NULL) != CAROM_OK;
}

static int stop(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

static const double *normal_of(const carom_answer *answer, int64_t row) {
    const carom_sizes *sizes = carom_table_sizes(answer->outcomes);
    return carom_table_real_column(answer->outcomes, CAROM_OUTCOME_NORMAL_VELOCITY) + row * sizes->contacts;
}

static const double *tangent_of(const carom_answer *answer, int64_t row) {
    const carom_sizes *sizes = carom_table_sizes(answer->outcomes);
    return carom_table_real_column(answer->outcomes, CAROM_OUTCOME_TANGENT_VELOCITY) + row * sizes->tangents;
}

// ------------------------------------------------------------------------------------------------------ Anitescu-Potra

static void block_and_boxwall_come_to_rest(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_disks};
    for (int i = 0; i < 3; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        carom_answer answer = support_ask(registry, impact, "anitescu-potra", NULL);
        assert_true(carom_answer_complete(&answer));
        assert_int_equal(carom_table_rows(answer.outcomes), 1);
        for (int c = 0; c < scenes[i]->contacts; c++) {
            assert_true(fabs(normal_of(&answer, 0)[c]) <= 1e-12);
            assert_true(fabs(tangent_of(&answer, 0)[c]) <= 1e-12);
        }
        assert_string_equal(carom_table_text(answer.result, CAROM_RESULT_SELECTION, 0), "lemke");
        carom_answer_free(&answer);
        carom_impact_free(impact);
    }
}

// Of the three solutions, Lemke's method with the canonical covering vector takes the one that lifts the trailing foot.
static void compass_lifts(void **state) {
    (void)state;
    static const double normal[] = {0, 0.099555175630902715}, tangent[] = {0, 0.19801960392433349};
    carom_impact *impact = support_impact(&reference_compass);
    carom_answer answer = support_ask(registry, impact, "anitescu-potra", NULL);
    assert_all_close(normal_of(&answer, 0), normal, 2, 1e-12);
    assert_all_close(tangent_of(&answer, 0), tangent, 2, 1e-12);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO), 0.60177929747639025, 1e-12);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE), 0.12282448055309748, 1e-12);
    assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_IMPULSE), 0.23941697371449339, 1e-12);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// The cube of scenes/cube-k4.yaml and cube-k8.yaml.
static void cube_comes_to_rest(void **state) {
    (void)state;
    static const double corners[4][2] = {{-.5, -.5}, {.5, -.5}, {.5, .5}, {-.5, .5}};
    double mass[36] = {0}, normal[24] = {0}, tangent[48] = {0};
    static const double mu[] = {.6, .6, .6, .6}, v[] = {0, 0, -1, 0, 0, 0};
    for (int k = 0; k < 6; k++) mass[7 * k] = k < 3 ? 1 : 1.0 / 6;
    for (int c = 0; c < 4; c++) {
        // The velocity of the corner r is v + omega x r.
        const double x = corners[c][0], y = corners[c][1], z = -.5;
        const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
        memcpy(normal + 6 * c, rows[0], sizeof rows[0]);
        memcpy(tangent + 12 * c, rows[1], 2 * sizeof rows[1]);
    }
    const carom_impact_data data = {
        .nv = 6, .contacts = 4, .tangent_dim = 2, .mass = mass, .normal = normal, .tangent = tangent, .friction = mu, .velocity = v};
    carom_impact *impact = support_impact(&data);
    const char *const edges[] = {"4", "8"};
    for (int i = 0; i < 2; i++) {
        carom_answer answer = support_ask(registry, impact, "anitescu-potra", (const char *[]){"cone_edges", edges[i], NULL});
        assert_true(carom_answer_complete(&answer));
        static const double rest[4] = {0};
        assert_all_close(normal_of(&answer, 0), rest, 4, 1e-12);
        assert_all_close(tangent_of(&answer, 0), rest, 4, 1e-12);
        carom_answer_free(&answer);
        // It does so in no other way: 10,000 combinations of contact modes, or 104,976, of which few have a velocity.
        answer = support_ask(registry, impact, "anitescu-potra", (const char *[]){"cone_edges", edges[i], "selection", "all", NULL});
        assert_true(carom_answer_complete(&answer));
        assert_int_equal(carom_table_rows(answer.outcomes), 1);
        assert_all_close(normal_of(&answer, 0), rest, 4, 1e-12);
        carom_answer_free(&answer);
        answer = support_ask(registry, impact, "halm-posa",
                             (const char *[]){"cone_edges", edges[i], "samples", "500", "step", "0.4", "max_steps", "12", NULL});
        const int unsolved = carom_table_find(answer.result, "unsolved");
        assert_int_equal(*carom_table_integer_column(answer.result, unsolved), 0);
        assert_true(carom_table_rows(answer.outcomes) > 450);
        carom_answer_free(&answer);
    }
    carom_impact_free(impact);
}

// -------------------------------------------------------------------------------------------------------------- moreau

// Without friction Newton's law turns every approaching normal velocity around, as far as the contacts are independent.
static void moreau_reverses_the_normal_velocity(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    const char *const coefficients[] = {"0", "0.25", "1"};
    for (int i = 0; i < 3; i++) {
        carom_answer answer = support_ask(registry, impact, "moreau", (const char *[]){"restitution", coefficients[i], NULL});
        const double e = strtod(coefficients[i], NULL);
        for (int c = 0; c < 2; c++) assert_close(normal_of(&answer, 0)[c], e * 0.44294469180700202, 1e-12);
        // The block's own energy has no tangential part: K+ / K- = e^2.
        assert_close(*carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO), e * e, 1e-12);
        carom_answer_free(&answer);
    }
    carom_impact_free(impact);
}

// Without restitution it is Anitescu-Potra, and the scene's coefficients are used where no option says otherwise.
static void moreau_without_restitution_is_anitescu_potra(void **state) {
    (void)state;
    const carom_impact_data *scenes[] = {&reference_block, &reference_boxwall, &reference_compass, &reference_ramone, &reference_disks};
    for (int i = 0; i < 5; i++) {
        carom_impact *impact = support_impact(scenes[i]);
        carom_answer newton = support_ask(registry, impact, "moreau", NULL),
                     inelastic = support_ask(registry, impact, "anitescu-potra", NULL);
        assert_memory_equal(carom_table_real_column(newton.outcomes, CAROM_OUTCOME_VELOCITY),
                            carom_table_real_column(inelastic.outcomes, CAROM_OUTCOME_VELOCITY), (size_t)scenes[i]->nv * sizeof(double));
        carom_answer_free(&newton);
        carom_answer_free(&inelastic);
        carom_impact_free(impact);
    }
    static const double restitution[] = {0.5, 0.5};
    carom_impact_data elastic = reference_block;
    elastic.restitution = restitution;
    carom_impact *impact = support_impact(&elastic);
    carom_answer answer = support_ask(registry, impact, "moreau", NULL);
    assert_close(normal_of(&answer, 0)[0], 0.5 * 0.44294469180700202, 1e-12);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// A pivot whose friction and normal directions are strongly coupled gains energy under Newton's law (Kane's example): that is flagged.
static void moreau_flags_energy_gains(void **state) {
    (void)state;
    int gains = 0;
    for (uint64_t i = 0; i < 300; i++) {
        carom_stream stream;
        carom_stream_start(&stream, 31, i);
        carom_impact *impact = support_random_impact(&stream, FAMILY_PLAIN, 2, 1, 2);
        carom_answer answer = support_ask(registry, impact, "moreau", (const char *[]){"restitution", "1", NULL});
        if (carom_table_rows(answer.outcomes)) {
            const double ratio = *carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO);
            const bool flagged = *carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_FLAGS) & CAROM_FLAG_ENERGY_GAIN;
            if (fabs(ratio - 1) > 1e-9) assert_int_equal(flagged, ratio > 1);
            gains += flagged;
        }
        carom_answer_free(&answer);
        carom_impact_free(impact);
    }
    assert_true(gains > 0);
}

// ---------------------------------------------------------------------------------------------------------- sequential

typedef struct sequential_row {
    const carom_impact_data *data;
    const char *order, *word;
    int64_t impacts;
    double normal[2], tangent[2];
} sequential_row;

// Appendix A, two contacts. The word leaves out contacts that did not approach.
static const sequential_row sequential_rows[] = {
    {&reference_block, "A,B", "AB", 2, {0.093018385279470386, 0}, {0, 0}},
    {&reference_block, "B,A", "BA", 2, {0, 0.093018385279470386}, {0, 0}},
    {&reference_compass, "A,B", "A", 1, {0, 0.099555175630902659}, {0, 0.19801960392433346}},
    {&reference_compass, "B,A", "A", 2, {0, 0.099555175630902659}, {0, 0.19801960392433346}},
    {&reference_boxwall, "A,B", "BA", 3, {0, 0.10564228654184135}, {0.30576480579161885, 0.072542170433207764}},
    {&reference_boxwall, "B,A", "BA", 2, {0, 0.10564228654184135}, {0.30576480579161885, 0.072542170433207764}},
    {&reference_ramone, "A,B", "A", 1, {0, 0.00033082304514997496}, {0, -0.027350089620414408}},
    {&reference_ramone, "B,A", "A", 2, {0, 0.00033082304514997496}, {0, -0.027350089620414408}},
};

static void sequential_outcomes_are_those_of_appendix_a(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sequential_rows / sizeof *sequential_rows; i++) {
        const sequential_row *row = &sequential_rows[i];
        carom_impact *impact = support_impact(row->data);
        carom_answer answer = support_ask(registry, impact, "sequential", (const char *[]){"order", row->order, NULL});
        assert_int_equal(carom_table_rows(answer.outcomes), 1);
        assert_all_close(normal_of(&answer, 0), row->normal, 2, 1e-10);
        assert_all_close(tangent_of(&answer, 0), row->tangent, 2, 1e-10);
        assert_int_equal(*carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_STEPS), row->impacts);
        int count;
        const int *word = carom_table_list(answer.outcomes, CAROM_OUTCOME_WORD, 0, &count);
        assert_int_equal(count, strlen(row->word));
        for (int k = 0; k < count; k++) assert_int_equal(word[k], row->word[k] - 'A');
        carom_answer_free(&answer);
        carom_impact_free(impact);
    }
}

// The disks need well over a hundred impacts; the last digits depend on the tolerance.
static void disks_converge_geometrically(void **state) {
    (void)state;
    static const struct {
        const char *order;
        int64_t impacts;
        double normal[5], tangent[5];
    } rows[] = {
        {"A,B,C,D,E", 129, {0, 0, 0.041710, 0, 0.023303}, {0, 0, 0.026130, 0, 0.013414}},
        {"C,D,E,A,B", 127, {0, 0, 0.041710, 0, 0.023303}, {0, 0, 0.026130, 0, 0.013414}},
        {"D,E,A,B,C", 130, {0, 0, 0, 0.041710, 0.023303}, {0, 0, 0, -0.026130, -0.013414}},
        {"C,A,E,D,B", 129, {0, 0, 0.041710, 0, 0.023303}, {0, 0, 0.026130, 0, 0.013414}},
    };
    carom_impact *impact = support_impact(&reference_disks);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_answer answer = support_ask(registry, impact, "sequential", (const char *[]){"order", rows[i].order, NULL});
        for (int c = 0; c < 5; c++) {
            assert_true(fabs(normal_of(&answer, 0)[c] - rows[i].normal[c]) <= 1e-6);
            assert_true(fabs(tangent_of(&answer, 0)[c] - rows[i].tangent[c]) <= 1e-6);
        }
        const int64_t impacts = *carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_STEPS);
        assert_true(llabs(impacts - rows[i].impacts) <= 5);
        carom_answer_free(&answer);
    }
    // Five contacts have 120 orders, which are the default, and five cyclic starts.
    carom_answer all = support_ask(registry, impact, "sequential", NULL);
    carom_answer cyclic = support_ask(registry, impact, "sequential", (const char *[]){"orders", "cyclic", NULL});
    assert_int_equal(carom_table_rows(all.outcomes), 120);
    assert_int_equal(carom_table_rows(cyclic.outcomes), 5);
    for (int i = 0; i < 5; i++) {
        // Where the cyclic starts stand among all permutations, in the order of the alphabet.
        static const int places[5] = {0, 33, 64, 90, 96};
        assert_memory_equal(normal_of(&cyclic, i), normal_of(&all, places[i]), 5 * sizeof(double));
    }
    carom_answer random = support_ask(registry, impact, "sequential", (const char *[]){"orders", "random", "draws", "7", NULL});
    carom_answer more = support_ask(registry, impact, "sequential", (const char *[]){"orders", "random", "draws", "9", NULL});
    assert_int_equal(carom_table_rows(random.outcomes), 7);
    for (int i = 0; i < 7; i++) assert_memory_equal(normal_of(&random, i), normal_of(&more, i), 5 * sizeof(double));
    carom_answer_free(&all);
    carom_answer_free(&cyclic);
    carom_answer_free(&random);
    carom_answer_free(&more);
    carom_impact_free(impact);
}

// The path starts at the pre-impact contact velocity and ends at the outcome's.
static void paths_lead_to_the_outcome(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    carom_answer answer = support_ask(registry, impact, "sequential", NULL);
    const int column = carom_table_find(answer.outcomes, "path");
    for (int64_t row = 0; row < carom_table_rows(answer.outcomes); row++) {
        int count;
        const double *path = carom_table_series(answer.outcomes, column, row, &count);
        assert_int_equal(count, 3 * 4);
        assert_close(path[0], -0.44294469180700202, 1e-15);
        assert_close(path[count - 4], normal_of(&answer, row)[0], 1e-12);
        assert_close(path[count - 2], normal_of(&answer, row)[1], 1e-12);
    }
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// Options by field and by name are the same, and a call without a registry finds the core's solvers.
static void options_are_typed(void **state) {
    (void)state;
    carom_error error;
    carom_answer answer, by_name;
    carom_impact *impact = support_impact(&reference_block);
    carom_sequential_options options = carom_sequential_defaults();
    options.order = "B,A";
    options.rule = CAROM_RULE_STRONGE;
    options.restitution = 0.5;
    assert_ok(carom_law_resolve(&carom_law_sequential, &(carom_law_call){.impact = impact, .options = &options}, &answer, &error), error);
    by_name = support_ask(registry, impact, "sequential", (const char *[]){"order", "B,A", "rule", "stronge", "restitution", "0.5", NULL});
    assert_int_equal(carom_table_rows(answer.outcomes), 1);
    assert_memory_equal(normal_of(&answer, 0), normal_of(&by_name, 0), 2 * sizeof(double));
    assert_refused(carom_law_set(&carom_law_sequential, &options, "orders", "B,A", &error), CAROM_BAD_INPUT, error,
                   "orders: 'B,A' is not one of: auto, cyclic, all, random");
    assert_refused(carom_law_set(&carom_law_sequential, &options, "words", "B,A", &error), CAROM_BAD_INPUT, error,
                   "words: the law 'sequential' has no such option");
    assert_refused(carom_law_set(&carom_law_sequential, &options, "restitution", "2", &error), CAROM_BAD_INPUT, error, "restitution: ");
    carom_answer_free(&answer);
    carom_answer_free(&by_name);
    carom_impact_free(impact);
}

static void orders_are_checked(void **state) {
    (void)state;
    static const char *const orders[][2] = {
        {"A", "every contact"}, {"A,A", "twice"}, {"A,C", "does not have"}, {"A,B,A", "twice"}, {"A,,B", "does not have"}};
    carom_impact *impact = support_impact(&reference_block);
    const carom_law *law = carom_law_find(registry, "sequential");
    void *options = malloc(law->options_size);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        carom_error error;
        carom_answer answer;
        law->defaults(options);
        assert_ok(carom_law_set(law, options, "order", orders[i][0], &error), error);
        assert_refused(carom_law_resolve(law, &(carom_law_call){.impact = impact, .options = options}, &answer, &error), CAROM_BAD_INPUT,
                       error, orders[i][1]);
        assert_null(answer.outcomes);
    }
    free(options);
    carom_impact_free(impact);
}

// Too few impacts allowed: the outcome is there, not terminated, and the answer is not complete.
static void a_spent_budget_is_reported(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_disks);
    carom_answer answer = support_ask(registry, impact, "sequential", (const char *[]){"order", "A,B,C,D,E", "max_impacts", "10", NULL});
    assert_false(carom_answer_complete(&answer));
    assert_string_equal(carom_table_text(answer.result, CAROM_RESULT_VERDICT, 0), "budget-spent");
    assert_int_equal(*carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED), 0);
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

// -------------------------------------------------------------------------------------------------- routh, halm-posa

// `routh` with a seed is the first sample of `halm-posa` with that seed; bits are those of one path.
static void routh_is_the_first_sample(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_boxwall);
    const char *const seeds[] = {"0", "1", "17"};
    for (int i = 0; i < 3; i++) {
        carom_answer one = support_ask(registry, impact, "routh", (const char *[]){"seed", seeds[i], "step", "2", "path", "lemke", NULL});
        carom_answer set = support_ask(registry, impact, "halm-posa",
                                       (const char *[]){"seed", seeds[i], "step", "2", "samples", "1", "path", "lemke", NULL});
        assert_int_equal(carom_table_rows(one.outcomes), 1);
        assert_memory_equal(carom_table_real_column(one.outcomes, CAROM_OUTCOME_VELOCITY),
                            carom_table_real_column(set.outcomes, CAROM_OUTCOME_VELOCITY), 3 * sizeof(double));
        carom_answer_free(&one);
        carom_answer_free(&set);
    }
    carom_impact_free(impact);
}

// Accumulated impulses explain the velocity: M (v+ - v-) = J' lambda.
static void impulses_explain_the_velocities(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_compass);
    carom_answer answer = support_ask(registry, impact, "halm-posa", (const char *[]){"samples", "300", "step", "0.25", NULL});
    for (int64_t row = 0; row < carom_table_rows(answer.outcomes); row++) {
        const double *normal = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE) + 2 * row;
        const double *tangent = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_TANGENT_IMPULSE) + 2 * row;
        const double impulse[] = {normal[0], tangent[0], normal[1], tangent[1]};
        double v[4];
        carom_impact_apply(impact, reference_compass.velocity, impulse, v);
        assert_all_close(v, carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY) + 4 * row, 4, 1e-12);
    }
    carom_answer_free(&answer);
    carom_impact_free(impact);
}

static bool cancel_after(void *user) { return ++*(int *)user > 5; }

// A caller who asks to stop gets what there is, marked.
static void laws_stop_when_asked_to(void **state) {
    (void)state;
    static const struct {
        const char *law, *option, *value;
    } rows[] = {{"routh", "step", "1e-6"}, {"sequential", "order", "A,B,C,D,E"}, {"halm-posa", "step", "1e-6"}};
    carom_impact *impact = support_impact(&reference_disks);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const carom_law *law = carom_law_find(registry, rows[i].law);
        void *options = malloc(law->options_size);
        law->defaults(options);
        carom_error error;
        assert_ok(carom_law_set(law, options, rows[i].option, rows[i].value, &error), error);
        int polls = 0;
        const carom_control control = {.threads = 1, .cancelled = cancel_after, .user = &polls};
        carom_answer answer;
        assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = impact, .options = options, .control = &control}, &answer, &error),
                  error);
        assert_string_equal(carom_table_text(answer.result, CAROM_RESULT_VERDICT, 0), "interrupted");
        carom_answer_free(&answer);
        free(options);
    }
    carom_impact_free(impact);
}

// Another solver serves `any`, and says so.
static void every_row_of_the_table_is_complete(void **state) {
    (void)state;
    carom_impact *impact = support_impact(&reference_block);
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        assert_true(*law->name && *law->summary && *law->source);
        for (int k = 0; k < law->option_count; k++) {
            const carom_option *row = &law->options[k];
            assert_true(*row->name && *row->doc && row->initial && row->unit);
            assert_true(row->offset < law->options_size);
            assert_int_equal(carom_option_find(law->options, law->option_count, row->name), k);
            if (row->type == CAROM_OPTION_CHOICE) assert_non_null(row->choices);
        }
        for (int k = 0; k < law->result_column_count; k++) assert_true(*law->result_columns[k].name && *law->result_columns[k].doc);
        // Laws of a single contact have tests of their own.
        if (law->applies && !law->applies(impact)) continue;
        carom_answer answer;
        carom_error error;
        assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = impact}, &answer, &error), error);
        assert_true(carom_table_rows(answer.outcomes) >= 1);
        for (int64_t row = 0; row < carom_table_rows(answer.outcomes); row++) {
            assert_true(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO)[row] <= 1 + 1e-12);
            assert_true(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[row]);
        }
        carom_answer_free(&answer);
    }
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_and_boxwall_come_to_rest),
        cmocka_unit_test(compass_lifts),
        cmocka_unit_test(cube_comes_to_rest),
        cmocka_unit_test(moreau_reverses_the_normal_velocity),
        cmocka_unit_test(moreau_without_restitution_is_anitescu_potra),
        cmocka_unit_test(moreau_flags_energy_gains),
        cmocka_unit_test(sequential_outcomes_are_those_of_appendix_a),
        cmocka_unit_test(disks_converge_geometrically),
        cmocka_unit_test(paths_lead_to_the_outcome),
        cmocka_unit_test(options_are_typed),
        cmocka_unit_test(orders_are_checked),
        cmocka_unit_test(a_spent_budget_is_reported),
        cmocka_unit_test(routh_is_the_first_sample),
        cmocka_unit_test(impulses_explain_the_velocities),
        cmocka_unit_test(laws_stop_when_asked_to),
        cmocka_unit_test(every_row_of_the_table_is_complete),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
