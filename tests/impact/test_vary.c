// SPDX-License-Identifier: Apache-2.0
// The same impact with other numbers, by name.
#include "carom/vary.h"

#include "impact_support.h"

static carom_impact *vary(const carom_impact *impact, const char *name, double value) {
    carom_parameter parameter;
    carom_impact *varied;
    carom_error error;
    assert_ok(carom_parameter_find(impact, name, &parameter, &error), error);
    assert_ok(carom_impact_vary(impact, 1, &parameter, &value, &varied, &error), error);
    return varied;
}

static carom_impact *make(const carom_impact_data *data) {
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create(data, &impact, &error), error);
    return impact;
}

static void one_number_changes_and_nothing_else(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    static const char *const joints[] = {"x", "height", "turn"};
    made.data.velocity_names = joints;
    carom_impact *impact = make(&made.data);
    const struct {
        const char *name;
        double value, *place;
    } cases[] = {{"mu.right", .125, &made.friction[1]},
                 {"restitution.left", .75, &made.restitution[0]},
                 {"v.3", -2, &made.velocity[2]},
                 {"height", -3, &made.velocity[1]}};
    for (int i = 0; i < 4; i++) {
        const double before = *cases[i].place;
        *cases[i].place = cases[i].value;
        carom_impact *expected = make(&made.data), *varied = vary(impact, cases[i].name, cases[i].value);
        const carom_impact_data *a = carom_impact_get_data(expected), *b = carom_impact_get_data(varied);
        assert_true(same_bits(a->mass, b->mass, 9) && same_bits(a->normal, b->normal, 6) && same_bits(a->tangent, b->tangent, 6));
        assert_true(same_bits(a->friction, b->friction, 2) && same_bits(a->restitution, b->restitution, 2));
        assert_true(same_bits(a->velocity, b->velocity, 3));
        assert_string_equal(b->velocity_names[1], "height");
        assert_string_equal(b->names[1], "right");
        carom_impact_free(expected);
        carom_impact_free(varied);
        *cases[i].place = before;
    }
    carom_impact_free(impact);
}

// All contacts at once, and masses as a factor, also in contact space.
static void several_numbers_and_masses(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    carom_impact *impact = make(&made.data), *contact_space;
    carom_error error;
    carom_impact *slippery = vary(impact, "mu", .25), *heavy = vary(impact, "mass", 4);
    for (int i = 0; i < 2; i++) assert_true(carom_impact_get_data(slippery)->friction[i] == .25);
    for (int i = 0; i < 9; i++) assert_true(carom_impact_get_data(heavy)->mass[i] == 4 * made.mass[i]);
    for (int i = 0; i < 16; i++) assert_close(carom_impact_delassus(heavy)[i], carom_impact_delassus(impact)[i] / 4, 1e-16);

    memcpy(made.delassus, carom_impact_delassus(impact), sizeof made.delassus);
    const carom_delassus_data reduced = {.contacts = 2,
                                         .tangent_dim = 1,
                                         .delassus = made.delassus,
                                         .velocity = made.contact_velocity,
                                         .friction = made.friction,
                                         .restitution = made.restitution};
    assert_ok(carom_impact_create_delassus(&reduced, &contact_space, &error), error);
    carom_impact *light = vary(contact_space, "mass", .5);
    assert_false(carom_impact_has_system(light));
    for (int i = 0; i < 16; i++) assert_true(carom_impact_delassus(light)[i] == 2 * made.delassus[i]);
    carom_impact *all[] = {impact, slippery, heavy, contact_space, light};
    for (int i = 0; i < 5; i++) carom_impact_free(all[i]);
}

// The friction of one contact goes before that of all, whichever comes first.
static void one_contact_goes_before_all(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    carom_impact *impact = make(&made.data);
    const carom_parameter all = {.kind = CAROM_PARAMETER_FRICTION, .index = -1}, one = {.kind = CAROM_PARAMETER_FRICTION, .index = 1};
    for (int order = 0; order < 2; order++) {
        const carom_parameter parameters[] = {order ? one : all, order ? all : one};
        const double values[] = {order ? .75 : .25, order ? .25 : .75};
        carom_impact *varied;
        carom_error error;
        assert_ok(carom_impact_vary(impact, 2, parameters, values, &varied, &error), error);
        const double *friction = carom_impact_get_data(varied)->friction;
        assert_true(friction[0] == .25 && friction[1] == .75);
        carom_impact_free(varied);
    }
    carom_impact_free(impact);
}

// Exact texts stay where they are the number still, and a value is exactly the double that it is.
static void texts_follow(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    const char *velocity[] = {"0", "-1", "1/3"}, *friction[] = {"1", "1"};
    made.velocity[0] = 0, made.velocity[1] = -1, made.velocity[2] = 1. / 3;
    made.friction[0] = made.friction[1] = 1;
    const carom_impact_texts texts = {.velocity = velocity, .friction = friction};
    carom_impact *impact;
    carom_error error;
    assert_ok(carom_impact_create_exact(&made.data, &texts, &impact, &error), error);
    carom_impact *varied = vary(impact, "v.1", .1);
    const carom_impact_texts *kept = carom_impact_get_texts(varied);
    assert_string_equal(kept->velocity[2], "1/3");
    assert_true(strtod(kept->velocity[0], NULL) == .1);
    assert_null(kept->mass);
    // Of an impact in doubles one text alone would say nothing.
    carom_impact *plain = make(&made.data), *one = vary(plain, "mu.left", .1);
    assert_null(carom_impact_get_texts(one)->friction);
    carom_impact *all[] = {impact, varied, plain, one};
    for (int i = 0; i < 4; i++) carom_impact_free(all[i]);
}

static void bad_names_and_values_are_refused(void **state) {
    (void)state;
    draft made;
    start_draft(&made);
    carom_impact *impact = make(&made.data), *varied;
    carom_parameter parameter;
    carom_error error;
    static const char *const names[] = {"", "m", "mu.", "mu.Left", "muleft", "v.0", "v.4", "v.1x", "v.", "restitution.9", "height"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(carom_parameter_find(impact, names[i], &parameter, &error), CAROM_BAD_INPUT);
    assert_int_equal(carom_parameter_find(impact, "mu.Left", &parameter, &error), CAROM_BAD_INPUT);
    assert_non_null(strstr(error.message, "did you mean 'mu.left'"));
    const struct {
        const char *name;
        double value;
    } values[] = {{"mu", -1}, {"mu", NAN}, {"restitution", 1.5}, {"v.1", INFINITY}, {"mass", 0}, {"mass", -1}, {"mass", NAN}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_ok(carom_parameter_find(impact, values[i].name, &parameter, &error), error);
        assert_int_equal(carom_impact_vary(impact, 1, &parameter, &values[i].value, &varied, &error), CAROM_BAD_INPUT);
        assert_null(varied);
    }
    carom_impact_free(impact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_changes_and_nothing_else), cmocka_unit_test(several_numbers_and_masses),
        cmocka_unit_test(one_contact_goes_before_all),         cmocka_unit_test(texts_follow),
        cmocka_unit_test(bad_names_and_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
