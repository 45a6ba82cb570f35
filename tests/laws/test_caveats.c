// SPDX-License-Identifier: Apache-2.0
// What is given and a law does not use, and what is said of it; impacts in which nothing approaches, and contacts that rest and slide.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

// Two contacts below a disc that falls, with these coefficients of restitution, friction and normal velocities.
static carom_impact *create(const double restitution[2], const double friction[2], const double u[4]) {
    static const char *const names[] = {"left", "right"};
    const double W[] = {2, 0, 1, 0, 0, 2, 0, 1, 1, 0, 2, 0, 0, 1, 0, 2};
    const carom_delassus_data data = {
        .contacts = 2, .tangent_dim = 1, .delassus = W, .velocity = u, .friction = friction, .restitution = restitution, .names = names};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
    return impact;
}

// The bits of a law with one option set, or none; they give the sentences of the law alone.
static int unused(const char *law_name, const carom_given *given, const char *option, const char *value, carom_caveats *caveats) {
    carom_registry *registry;
    carom_error error;
    assert_ok(carom_registry_create(&registry, &error), error);
    const carom_law *law = carom_law_find(registry, law_name);
    void *options = malloc(law->options_size);
    assert_non_null(options);
    law->defaults(options);
    if (option) assert_ok(carom_law_set(law, options, option, value, &error), error);
    const int bits = carom_law_unused(law, options, given);
    carom_law_caveats(given, &law, &bits, 1, CAROM_SPELL_FLAGS, caveats);
    free(options);
    carom_registry_free(registry);
    return bits;
}

static const double falling[] = {-1, 0.5, -1, 0.5}, rough[] = {0.5, 0.5}, smooth[] = {0, 0}, elastic[] = {0, 0.8}, plastic[] = {0, 0};

static void restitution_that_a_law_lacks_is_said(void **state) {
    (void)state;
    static const struct {
        const char *law, *option, *value, *said;
    } cases[] = {
        {"anitescu-potra", NULL, NULL, "restitution of contact right is given, and anitescu-potra does not use it: moreau and lzb do"},
        {"halm-posa", NULL, NULL,
         "restitution of contact right is given, and halm-posa does not use it: --hypothesis poisson makes it bounce"},
        {"routh", NULL, NULL, "and routh does not use it: --hypothesis poisson makes it bounce"},
        {"sequential", NULL, NULL, "and sequential does not use it: --rule stronge makes it bounce"},
        {"propagative", NULL, NULL, "and propagative does not use it: --restitution E gives one for all contacts"},
        {"halm-posa", "hypothesis", "stronge", NULL},
        {"sequential", "rule", "stronge", NULL},
        {"propagative", "restitution", "0.5", NULL},
        {"moreau", NULL, NULL, NULL},
        {"lzb", NULL, NULL, NULL},
        {"stronge", NULL, NULL, NULL},
    };
    carom_impact *impact = create(elastic, smooth, falling);
    carom_caveats caveats;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int bits = unused(cases[i].law, &(carom_given){.impact = impact}, cases[i].option, cases[i].value, &caveats);
        assert_int_equal(bits, cases[i].said ? CAROM_UNUSED_RESTITUTION : 0);
        assert_int_equal(caveats.count, cases[i].said != NULL);
        if (cases[i].said && !strstr(caveats.text[0], cases[i].said)) fail_msg("'%s' is not in '%s'", cases[i].said, caveats.text[0]);
    }
    carom_impact_free(impact);
}

static void nothing_is_said_where_nothing_is_given(void **state) {
    (void)state;
    carom_impact *impact = create(plastic, smooth, falling);
    carom_caveats caveats;
    static const char *const laws[] = {"anitescu-potra", "moreau", "sequential", "propagative", "routh", "halm-posa", "lzb", "stronge"};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        assert_int_equal(unused(laws[i], &(carom_given){.impact = impact}, NULL, NULL, &caveats), 0);
    // A setting beside the impact is given, too, and so is an option that a hypothesis would need.
    assert_int_equal(unused("routh", &(carom_given){.impact = impact, .restitution = true}, NULL, NULL, &caveats),
                     CAROM_UNUSED_RESTITUTION);
    assert_int_equal(unused("halm-posa", &(carom_given){.impact = impact}, "restitution", "0.5", &caveats), CAROM_UNUSED_RESTITUTION);
    assert_int_equal(unused("halm-posa", &(carom_given){.impact = impact}, "hypothesis", "poisson", &caveats), CAROM_UNUSED_HYPOTHESIS);
    assert_non_null(strstr(caveats.text[0], "nothing bounces"));
    carom_impact_free(impact);
}

static void friction_that_a_law_lacks_is_said(void **state) {
    (void)state;
    carom_impact *impact = create(plastic, rough, falling);
    carom_caveats caveats;
    assert_int_equal(unused("propagative", &(carom_given){.impact = impact}, NULL, NULL, &caveats), CAROM_UNUSED_FRICTION);
    assert_string_equal(caveats.text[0],
                        "friction of contacts left, right is given, and propagative has none: impacts are along the normals alone");
    assert_int_equal(unused("moreau", &(carom_given){.impact = impact}, NULL, NULL, &caveats), 0);
    carom_impact_free(impact);
}

// What laws use, and a sentence about several of them.
static void laws_name_their_coefficients(void **state) {
    (void)state;
    carom_impact *impact = create(elastic, smooth, falling);
    const carom_moreau_options moreau = carom_moreau_defaults();
    carom_halm_posa_options sampled = carom_halm_posa_defaults();
    const carom_propagative_options orders = carom_propagative_defaults();
    carom_interval range;
    assert_true(carom_law_restitution(&carom_law_moreau, &moreau, impact, &range));
    assert_true(range.least == 0 && range.most == 0.8);
    assert_true(carom_law_restitution(&carom_law_propagative, &orders, impact, &range));
    assert_true(range.least == 1 && range.most == 1);
    assert_false(carom_law_restitution(&carom_law_halm_posa, &sampled, impact, &range));
    assert_true(isnan(range.least) && !carom_law_hypothesis(&carom_law_halm_posa, &sampled));
    sampled.rebound.hypothesis = CAROM_HYPOTHESIS_POISSON;
    sampled.rebound.restitution = (carom_interval){0.1, 0.3};
    assert_true(carom_law_restitution(&carom_law_halm_posa, &sampled, impact, &range));
    assert_true(range.least == 0.1 && range.most == 0.3);
    assert_string_equal(carom_law_hypothesis(&carom_law_halm_posa, &sampled), "poisson");

    const carom_law *const laws[] = {&carom_law_anitescu_potra, &carom_law_sequential, &carom_law_routh, &carom_law_halm_posa};
    const int bits[] = {CAROM_UNUSED_RESTITUTION, CAROM_UNUSED_RESTITUTION, CAROM_UNUSED_RESTITUTION, CAROM_UNUSED_RESTITUTION};
    carom_caveats caveats;
    carom_law_caveats(&(carom_given){.impact = impact}, laws, bits, 4, CAROM_SPELL_KEYWORDS, &caveats);
    assert_int_equal(caveats.count, 1);
    assert_string_equal(caveats.text[0],
                        "restitution of contact right is given, and anitescu-potra, sequential, routh and halm-posa do not use it: "
                        "rule=\"stronge\" (sequential), hypothesis=\"poisson\" (routh, halm-posa) let them bounce");
    carom_impact_free(impact);
}

// ---------------------------------------------------------------------------------------------------------------- rest

static void rest_is_described(void **state) {
    (void)state;
    // W_nn = 2, W_nt = 1: along a slip of 1 m/s friction presses a contact in from mu = 2 on, and against it never.
    static const struct {
        double u[4], friction;
        const char *said, *not_said;
    } cases[] = {
        {{0, 0, 0, 0}, 1, "every contact is at rest", "collision"},
        {{1, 0, 0, 0}, 1, "nothing collides in this state", "rests"},
        {{0, 1, 1, 0}, 0.5, "friction of contact left, which rests and slides, is a force over time", "presses"},
        {{0, 1, 1, 0}, 0, "nothing collides in this state", "rests"},
        {{0, 1, 1, 0}, 2.1, "but contact left rests and slides, and friction would press it in: an impact without collision", "force"},
        {{0, -1, 1, 0}, 2.1, "is a force over time", "press it in"},
        {{0, 1, -1, 0}, 2.1, "contact left rests and slides, and friction would press it in", "no contact approaches"},
        {{0, 1, 1, 0}, 1.9, "is a force over time", "press it in"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        // W with W_nt between the normal and the tangent of each contact.
        const double W[] = {2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 2, 1, 0, 0, 1, 2}, friction[] = {cases[i].friction, cases[i].friction};
        static const char *const names[] = {"left", "right"};
        const carom_delassus_data data = {
            .contacts = 2, .tangent_dim = 1, .delassus = W, .velocity = cases[i].u, .friction = friction, .names = names};
        carom_impact *impact;
        carom_error error;
        char text[CAROM_MESSAGE_SIZE];
        assert_ok(carom_impact_create_delassus(&data, &impact, &error), error);
        assert_ok(carom_impact_describe_rest(impact, text, &error), error);
        if (!strstr(text, cases[i].said) || strstr(text, cases[i].not_said)) fail_msg("case %zu: '%s'", i, text);
        carom_impact_free(impact);
    }
    char text[CAROM_MESSAGE_SIZE];
    carom_error error;
    carom_impact *impact = create(plastic, rough, falling);
    assert_ok(carom_impact_describe_rest(impact, text, &error), error);
    assert_string_equal(text, "");
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restitution_that_a_law_lacks_is_said),
        cmocka_unit_test(nothing_is_said_where_nothing_is_given),
        cmocka_unit_test(friction_that_a_law_lacks_is_said),
        cmocka_unit_test(laws_name_their_coefficients),
        cmocka_unit_test(rest_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
