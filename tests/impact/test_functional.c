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
        {"", "ends too early"},
        {"Jn.B", "one of Jn.A, Jn.A - b.2 (c), Jt.A, Jt.A.2"},
        {"Jn.A Jn.A", "does not begin"},
        {"v.4", "does not begin"},
        {"Jn.A + 1", "sum of multiples"},
        {"3", "sum of multiples"},
        {"Jn.A*Jt.A", "not linear"},
        {"2/Jn.A", "not linear"},
        {"Jn.A^2", "not linear"},
        {"sqrt(Jn.A)", "not linear"},
        {"(Jn.A", "closing parenthesis"},
        {"1e999*Jn.A", "'1e999', which is not a finite number"},
        {"Jn.A/ - 5e-324", "too large for double precision"},
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

// The velocities of a quadruped's trunk, and joints whose names mean something else in expressions.
static const char *const robot[] = {"trunk.x", "trunk.y", "trunk.z", "trunk.wx", "trunk.wy", "trunk.wz",
                                    "knee",    "knee-2",  "K",       "3",        "Jn.foot",  "sqrt"};
static const bool turns[] = {false, false, false, true, true, true, true, false, true, true, true, true};
enum { VELOCITIES = sizeof robot / sizeof *robot };
static const char *const feet[] = {"foot", "foot.2"};
static const carom_quantities quantities = {
    .contacts = 2, .tangent_dim = 2, .contact_names = feet, .nv = VELOCITIES, .velocity_names = robot, .velocity_turns = turns};

// Everything has a name, and some have two; `place` is among u (6), v (12), P (6) and K.
static void names_stand_for_quantities(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int place;
        const char *unit;
    } known[] = {
        {"Jn.foot", 0, "m/s"},       {"Jt.foot.1", 1, "m/s"},    {"Jt.foot.2", 2, "m/s"}, {"Jn.foot.2", 3, "m/s"},
        {"Jt.foot.2.1", 4, "m/s"},   {"trunk.z", 8, "m/s"},      {"base.z", 8, "m/s"},    {"base.wx", 9, "rad/s"},
        {"v.trunk.wz", 11, "rad/s"}, {"knee", 12, "rad/s"},      {"knee-2", 13, "m/s"},   {"K", 24, ""},
        {"v.K", 14, "rad/s"},        {"v.3", 8, "m/s"},          {"v.10", 15, "rad/s"},   {"v.Jn.foot", 16, "rad/s"},
        {"v.sqrt", 17, "rad/s"},     {"Pn.foot", 18, "N s"},     {"Pt.foot", 19, "N s"},  {"Pt.foot.1", 19, "N s"},
        {"Pn.foot.2", 21, "N s"},    {"Pt.foot.2.2", 23, "N s"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        carom_functional f;
        carom_error error = {0};
        assert_ok(carom_functional_read(&quantities, known[i].text, &f, &error), error);
        for (int k = 0; k < 24; k++) {
            const double factor = k < 6 ? f.contact[k] : k < 18 ? f.velocity[k - 6] : f.impulse[k - 18];
            assert_true(factor == (k == known[i].place));
        }
        assert_true(f.energy == (known[i].place == 24));
        assert_string_equal(f.unit, known[i].unit);
        carom_functional_release(&f);
    }
}

// base is the first free joint; a velocity of that name wins, and without a free joint there is none.
static void base_is_the_first_free_joint(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b.x", "b.y", "b.z", "b.wx", "b.wy", "b.wz", "base.x"};
    const carom_quantities own = {.contacts = 1, .tangent_dim = 1, .contact_names = feet, .nv = 8, .velocity_names = names};
    carom_functional f;
    carom_error error = {0};
    assert_ok(carom_functional_read(&own, "2*base.y - base.x", &f, &error), error);
    assert_true(f.velocity[2] == 2 && f.velocity[7] == -1 && f.velocity[1] == 0);
    assert_string_equal(f.unit, "");
    carom_functional_release(&f);
    const carom_quantities few = {.contacts = 1, .tangent_dim = 1, .contact_names = feet, .nv = 5, .velocity_names = names};
    assert_refused(carom_functional_read(&few, "base.y", &f, &error), CAROM_BAD_INPUT, error, "does not begin");
}

static void values_are_those_of_the_outcome(void **state) {
    (void)state;
    double v[VELOCITIES] = {0}, u[6] = {1, 2, 3, 4, 5, 6}, impulse[6] = {10, 20, 30, 40, 50, 60};
    v[2] = -1;
    const carom_outcome_point point = {.u = u, .v = v, .impulse = impulse, .energy_ratio = 0.5};
    carom_functional f;
    carom_error error = {0};
    assert_ok(carom_functional_read(&quantities, "Jt.foot + 2*base.z + Pt.foot.2/10 - 4*K", &f, &error), error);
    assert_close(carom_functional_value(&f, &point), 2 - 2 + 3 - 2, 0);
    assert_true(isnan(carom_functional_value(&f, &(carom_outcome_point){.u = u, .v = v})));
    carom_functional_release(&f);
}

static void misspelt_names_get_the_nearest(void **state) {
    (void)state;
    carom_functional f;
    carom_error error = {0};
    assert_refused(carom_functional_read(&quantities, "2*kne", &f, &error), CAROM_BAD_INPUT, error, "did you mean 'knee'?");
    assert_refused(carom_functional_read(&quantities, "Jn.fot - K", &f, &error), CAROM_BAD_INPUT, error, "did you mean 'Jn.foot'?");
    assert_refused(carom_functional_read(&quantities, "bse.z", &f, &error), CAROM_BAD_INPUT, error, "did you mean 'base.z'?");
}

static void axes_are_read_from_lists(void **state) {
    (void)state;
    const char *const names[] = {"A", "C d", "B"};
    const carom_quantities q = {.contacts = 3, .tangent_dim = 2, .contact_names = names};
    carom_axes axes;
    carom_error error = {0};
    carom_functional chosen[9];
    const char *texts[9];
    carom_arena memory = {0};
    int count;
    assert_ok(carom_axes_create(3, 2, names, &axes, &error), error);
    assert_int_equal(axes.count, 9);
    assert_string_equal(axes.names[8], "Jt.B.2");
    assert_int_equal(axes.places[8], 8);
    assert_int_equal(axes.places[1], 3);
    carom_axes_free(&axes);
    assert_ok(carom_functional_read_list(&q, " Jn.C d,2*Jn.B , Jt.B.2", 2, 9, chosen, texts, &count, &memory, &error), error);
    assert_int_equal(count, 3);
    assert_true(chosen[0].contact[3] == 1 && chosen[1].contact[6] == 2 && chosen[2].contact[8] == 1);
    assert_string_equal(texts[1], "2*Jn.B");
    for (int i = 0; i < count; i++) carom_functional_release(&chosen[i]);
    const char *const wrong[][2] = {{"Jn.A", "only one"},
                                    {"Jn.A, Jn.B,", "too many"},
                                    {"Jn.A,,", "does not begin with one of Jn.A, Jn.C d"},
                                    {"Jn.A, Jn.B, Jt.B", "too many"},
                                    {"Jn.A, Jn.D", "does not begin"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_refused(carom_functional_read_list(&q, wrong[i][0], 2, 2, chosen, NULL, &count, &memory, &error), CAROM_BAD_INPUT, error,
                       wrong[i][1]);
        assert_int_equal(count, 0);
    }
    carom_arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_stand_where_they_belong), cmocka_unit_test(what_is_not_linear_is_refused),
        cmocka_unit_test(names_stand_for_quantities),      cmocka_unit_test(base_is_the_first_free_joint),
        cmocka_unit_test(values_are_those_of_the_outcome), cmocka_unit_test(misspelt_names_get_the_nearest),
        cmocka_unit_test(axes_are_read_from_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
