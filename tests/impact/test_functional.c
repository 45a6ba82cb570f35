// SPDX-License-Identifier: Apache-2.0
// Linear functionals and axes by name: any name of a contact, what is refused, and where the factors go.
#include "support.h"

#include <math.h>
#include <string.h>

// Two spatial contacts whose names hold what an expression is made of.
static carom_impact *make_impact(void) {
    static const double mass[] = {2, 0, 0, 0, 1, 0, 0, 0, 1}, normal[] = {0, 0, 1, 0, 1, 1}, velocity[] = {1, 0, -1};
    static const double tangent[] = {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0}, friction[] = {0.5, 0.5};
    static const char *const names[] = {"A", "A - b.2 (c)"};
    const carom_impact_data data = {.nv = 3,
                                    .contacts = 2,
                                    .tangent_dim = 2,
                                    .mass = mass,
                                    .normal = normal,
                                    .tangent = tangent,
                                    .friction = friction,
                                    .velocity = velocity,
                                    .names = names};
    return support_impact(&data);
}

static void factors_stand_where_they_belong(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double factors[9];  // of contact velocities, contact-major, then of velocities
    } known[] = {
        {"Jn.A", {1}},
        {" -Jt.A + 2 * Jt.A.2 ", {0, -1, 2}},
        {"2*Jn.A - Jn.A - b.2 (c) + 0.5*v.3", {2, 0, 0, -1, 0, 0, 0, 0, 0.5}},
        {"-1e-2*v.1 - -.5*v.1", {0, 0, 0, 0, 0, 0, 0.49}},
        {"(Jn.A + 3*(v.2 - Jt.A - b.2 (c)))/2", {0.5, 0, 0, 0, -1.5, 0, 0, 1.5}},
        {"Jn.A*sqrt(4) - (2 - 2) - -v.1", {2, 0, 0, 0, 0, 0, 1}},
    };
    carom_impact *impact = make_impact();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        carom_functional f;
        carom_error error = {0};
        assert_ok(carom_functional_parse(impact, known[i].text, &f, &error), error);
        assert_all_close(f.contact, known[i].factors, 6, 1e-15);
        assert_all_close(f.velocity, known[i].factors + 6, 3, 1e-15);
        carom_functional_release(&f);
    }
    carom_impact_free(impact);
}

static void what_is_not_linear_is_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"", "ends too early"},           {"Jn.B", "one of Jn.A, Jn.A - b.2 (c), Jt.A, Jt.A.2"},
        {"Jn.A Jn.A", "does not begin"},  {"v.4", "does not begin"},
        {"Jn.A + 1", "sum of multiples"}, {"3", "sum of multiples"},
        {"Jn.A*Jt.A", "not linear"},      {"2/Jn.A", "not linear"},
        {"Jn.A^2", "not linear"},         {"sqrt(Jn.A)", "not linear"},
        {"(Jn.A", "closing parenthesis"}, {"1e999*Jn.A", "'1e999', which is not a finite number"},
    };
    carom_impact *impact = make_impact();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        carom_functional f;
        carom_error error = {0};
        assert_refused(carom_functional_parse(impact, wrong[i][0], &f, &error), CAROM_BAD_INPUT, error, wrong[i][1]);
        assert_null(f.contact);
    }
    carom_impact_free(impact);
}

static void axes_are_read_from_lists(void **state) {
    (void)state;
    const char *const names[] = {"A", "A,Jn.B", "B"};
    carom_axes axes;
    carom_error error = {0};
    int chosen[9], count;
    assert_ok(carom_axes_create(3, 2, names, &axes, &error), error);
    assert_int_equal(axes.count, 9);
    assert_string_equal(axes.names[8], "Jt.B.2");
    assert_int_equal(axes.places[8], 8);
    assert_int_equal(axes.places[1], 3);
    assert_ok(carom_axes_parse(&axes, " Jn.A,Jn.B , Jt.B.2", 2, 9, chosen, &count, &error), error);
    assert_int_equal(count, 2);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 8);
    assert_refused(carom_axes_parse(&axes, "Jn.A", 2, 9, chosen, &count, &error), CAROM_BAD_INPUT, error, "only one");
    assert_refused(carom_axes_parse(&axes, "Jn.A, Jn.B,", 2, 9, chosen, &count, &error), CAROM_BAD_INPUT, error, "does not begin");
    assert_refused(carom_axes_parse(&axes, "Jn.A, Jn.B, Jt.B", 2, 2, chosen, &count, &error), CAROM_BAD_INPUT, error, "too many");
    carom_axes_free(&axes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_stand_where_they_belong),
        cmocka_unit_test(what_is_not_linear_is_refused),
        cmocka_unit_test(axes_are_read_from_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
