// SPDX-License-Identifier: Apache-2.0
// Equality constraints, and joints at their stops.
#include "robot_support.h"

#include <math.h>
#include <stdlib.h>

#include "mujoco/compatible.h"

// ------------------------------------------------------------------------------------------------- equality constraints

// Two equal bars in the plane, hinged at their tops and welded together by a constraint, and the same as one body.
#define BAR(name, x) "<body name='" name "' pos='" x " 0 1'>" PLANE_JOINTS "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/>"
#define PLANE_JOINTS "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 -1 0'/>"

static const char welded_bars[] = "<mujoco><worldbody>" BAR("left", "-1") "<site name='a' pos='-0.5 0 -1'/></body>" BAR(
    "right",
    "1") "<site name='b' pos='0.5 0 -1'/></body></worldbody><equality><weld name='glue' body1='left' body2='right'/></equality></mujoco>";
static const char one_bar[] =
    "<mujoco><worldbody><body name='left' pos='0 0 1'>" PLANE_JOINTS "<inertial pos='0 0 0' mass='2' diaginertia='2.2 2.2 2.2'/>"
    "<site name='a' pos='-1.5 0 -1'/><site name='b' pos='1.5 0 -1'/></body></worldbody></mujoco>";

// A weld makes one body of two: same Delassus operator, same contact velocities, same outcome, and v+ keeps the weld.
static void test_weld_is_one_body(void **state) {
    (void)state;
    const carom_model_contact contacts[2] = {site_contact("A", "a"), site_contact("B", "b")};
    fixture two = load_text(welded_bars), one = load_text(one_bar);
    // The middle moves with (0.3, -1) and turns at 0.4: the bars' centres are at -1 and 1 on it.
    set_velocity(two.model, (double[]){0.3, -1.4, 0.4, 0.3, -0.6, 0.4});
    set_velocity(one.model, (double[]){0.3, -1, 0.4});
    carom_impact *constrained = freeze(two.model, contacts, 2), *body = freeze(one.model, contacts, 2);
    assert_int_equal(carom_impact_get_data(constrained)->nv, 6);
    assert_int_equal(carom_impact_get_data(constrained)->tangent_dim, 1);
    assert_all_close(carom_impact_delassus(constrained), carom_impact_delassus(body), 16, 1e-12);
    double *v = resolve(constrained), *w = resolve(body), u[4], x[4];
    carom_impact_contact_velocity(constrained, v, u);
    carom_impact_contact_velocity(body, w, x);
    assert_all_close(u, x, 4, 1e-12);
    assert_close(v[2], v[5], 1e-12);
    assert_close(v[0], v[3], 1e-12);
    assert_close(v[4] - v[1], 2 * v[2], 1e-12);
    assert_close(v[2], w[2], 1e-12);
    assert_close(carom_impact_kinetic_energy(constrained, v), carom_impact_kinetic_energy(body, w), 1e-12);
    free(v);
    free(w);
    carom_impact_free(constrained);
    carom_impact_free(body);
    free_fixture(&two);
    free_fixture(&one);
}

static void test_velocities_that_break_constraints_are_refused(void **state) {
    (void)state;
    fixture f = load_text(welded_bars);
    const carom_model_contact contact = site_contact("A", "a");
    set_velocity(f.model, (double[]){0.3, -1.4, 0.4, 0.3, -0.6, 0.5});
    carom_error error;
    carom_impact *impact;
    assert_refused(carom_model_freeze(f.model, &contact, 1, &impact, &error), CAROM_BAD_INPUT, error,
                   "the velocity breaks equality constraint 'glue'");
    assert_null(impact);

    // A velocity that is off by rounding alone is projected.
    set_velocity(f.model, (double[]){0.3, -1.4, 0.4, 0.3, -0.6, 0.4000001});
    impact = freeze(f.model, &contact, 1);
    const double *v = carom_impact_get_data(impact)->velocity;
    assert_close(v[4] - v[1], 2 * v[2], 1e-14);
    assert_close(v[2], v[5], 1e-14);
    assert_close(v[2], 0.4, 1e-7);
    carom_impact_free(impact);
    free_fixture(&f);
}

// Constraints that say the same twice, or are switched off, or do not hold at the position.
static void test_constraint_corner_cases(void **state) {
    (void)state;
#define TWO_SLIDERS(equalities, flags)                                                                                                     \
    "<mujoco>" flags "<worldbody>" FLOOR "<body pos='0 0 0.1'><joint name='p' type='slide' axis='0 0 1'/><geom name='p' size='0.1' "       \
    "mass='1'/></body><body pos='1 0 0.1'><joint name='q' type='slide' axis='0 0 1'/><geom name='q' size='0.1' mass='3'/></body>"          \
    "</worldbody><equality>" equalities "</equality></mujoco>"
    static const struct {
        const char *text;
        double delassus;
    } cases[] = {
        {TWO_SLIDERS("<joint joint1='p' joint2='q'/><joint joint1='q' joint2='p'/>", ""), 0.25},
        {TWO_SLIDERS("<joint joint1='p' joint2='q' polycoef='0 2 0 0 0'/>", ""), 4 / 7.0},
        {TWO_SLIDERS("<joint joint1='p' joint2='q' active='false'/>", ""), 1},
        {TWO_SLIDERS("<joint joint1='p' joint2='q'/>", "<option><flag equality='disable'/></option>"), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = load_text(cases[i].text);
        carom_impact *impact = detect(f.model);
        assert_int_equal(carom_model_warnings(f.model), 0);
        assert_close(carom_impact_delassus(impact)[0], cases[i].delassus, 1e-14);
        carom_impact_free(impact);
        free_fixture(&f);
    }

#if mjVERSION_HEADER < 300
    // Since 3.0 a memory for all holds the rows.
    assert_text_refused(TWO_SLIDERS("<joint joint1='p' joint2='q'/><joint joint1='q' joint2='p'/>", "<size njmax='1'/>"),
                        "the equality constraints need more rows than njmax = 1, the room that the model gives; add <size njmax=");
#endif

    // Where both sliders are held, no contact is left. A position that breaks a constraint is warned of.
    assert_text_refused(TWO_SLIDERS("<joint joint1='p'/><joint joint1='q'/>", ""), "none of the 2 contacts found");
    fixture f = load_text(TWO_SLIDERS("<joint name='pair' joint1='p' joint2='q' polycoef='0.5 1 0 0 0'/>", ""));
    carom_impact_free(detect(f.model));
    assert_true(warns(f.model, "the position breaks equality constraint 'pair' by 0.5"));
    free_fixture(&f);
#undef TWO_SLIDERS
}

// -------------------------------------------------------------------------------------------------------- joint limits

// A pendulum at its stop: a contact without friction with the unit row, opening away from the stop.
static void test_joints_at_their_stops(void **state) {
    (void)state;
    fixture f =
        load_text("<mujoco><compiler angle='radian'/><worldbody><body><joint name='knee' axis='0 1 0' limited='true' range='-0.5 1'/>"
                  "<inertial pos='0 0 -1' mass='2' diaginertia='0.1 0.1 0.1'/><site name='foot' pos='1 0 -1'/>"
                  "<body><joint name='hip' type='ball' limited='true' range='0 0.75'/>"
                  "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></body></worldbody></mujoco>");
    carom_error error;
    const carom_model_contact contact = site_contact("A", "foot");
    const double upright[5] = {0.2, 1, 0, 0, 0}, at_stop[5] = {1, cos(0.4), 0, sin(0.4), 0}, below[5] = {-0.6, 1, 0, 0, 0};
    assert_ok(carom_model_set_state(f.model, upright, 5, NULL, 0, &error), error);
    carom_impact *impact = freeze(f.model, &contact, 1);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_int_equal(carom_model_warnings(f.model), 0);
    carom_impact_free(impact);

    assert_ok(carom_model_set_state(f.model, at_stop, 5, (double[]){0.5, 0, 2, 0}, 4, &error), error);
    impact = freeze(f.model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 3);
    assert_string_equal(data->names[1], "LIMIT:knee");
    assert_string_equal(data->names[2], "LIMIT:hip");
    assert_true(warns(f.model, "joints at their stops are contacts without friction: LIMIT:knee, LIMIT:hip"));
    assert_all_close(data->normal + 4, ((double[]){-1, 0, 0, 0, 0, 0, -1, 0}), 8, 1e-15);
    assert_close(data->friction[1], 0, 0);
    carom_impact_free(impact);

    assert_ok(carom_model_set_state(f.model, below, 5, NULL, 0, &error), error);
    impact = freeze(f.model, &contact, 1);
    assert_close(carom_impact_get_data(impact)->normal[4], 1, 0);
    carom_impact_free(impact);

    // Contacts without names get their letters; stops alone are an impact, too.
    carom_model_contact unnamed = contact;
    unnamed.name = NULL;
    impact = freeze(f.model, &unnamed, 1);
    assert_string_equal(carom_impact_get_data(impact)->names[1], "B");
    carom_impact_free(impact);
    impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_true(warns(f.model, "no geoms touch"));
    carom_impact_free(impact);
    free_fixture(&f);
}

// A joint whose position was rounded to a few digits is not quite at its stop: the user is warned.
static void test_joints_near_their_stops(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><compiler angle='radian'/><worldbody><body><joint name='knee' axis='0 1 0' limited='true' range='-1 1'/>"
                          "<inertial pos='0 0 -1' mass='2' diaginertia='0.1 0.1 0.1'/><site name='foot' pos='1 0 -1'/>"
                          "<body><joint name='rail' type='slide' axis='0 0 1' limited='true' range='0 4'/>"
                          "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
                          "<body><joint name='hip' type='ball' limited='true' range='0 0.75'/>"
                          "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></body></body></worldbody></mujoco>");
    carom_error error;
    const carom_model_contact contact = site_contact("A", "foot");
    const double angle = (0.75 - 5e-4) / 2;
    const double near[6] = {1 - 1e-5, 0.003, cos(angle), 0, sin(angle), 0}, away[6] = {1 - 0.0021, 0.0041, 1, 0, 0, 0};
    assert_ok(carom_model_set_state(f.model, near, 6, NULL, 0, &error), error);
    carom_impact *impact = freeze(f.model, &contact, 1);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_int_equal(carom_model_warnings(f.model), 3);
    assert_true(warns(f.model, "hinge 'knee' is 1e-05 rad from its stop; it counts as free"));
    assert_true(warns(f.model, "slide 'rail' is 0.003 m from its stop; it counts as free"));
    assert_true(warns(f.model, "ball joint 'hip' is 0.0005 rad from its stop; it counts as free"));
    carom_impact_free(impact);

    assert_ok(carom_model_set_state(f.model, away, 6, NULL, 0, &error), error);
    impact = freeze(f.model, &contact, 1);
    assert_int_equal(carom_model_warnings(f.model), 0);
    carom_impact_free(impact);

    // Stops that are switched off are not warned of.
    free_fixture(&f);
    f = load_text("<mujoco><option><flag limit='disable'/></option><worldbody>" FLOOR "<body pos='0 0 0.1'>"
                  "<joint type='slide' axis='0 0 1' limited='true' range='-0.0001 1'/><geom size='0.1'/></body></worldbody></mujoco>");
    carom_impact_free(detect(f.model));
    assert_int_equal(carom_model_warnings(f.model), 0);
    free_fixture(&f);
}

// A leg that swings into its stop stops there.
static void test_stop_is_hit(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body><joint name='door' limited='true' range='0 90'/>"
                          "<inertial pos='1 0 0' mass='2' diaginertia='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    set_velocity(f.model, (double[]){-3});
    carom_impact *impact = detect(f.model);
    double *v = resolve(impact);
    assert_close(v[0], 0, 1e-15);
    free(v);
    carom_impact_free(impact);
    free_fixture(&f);
}

// A constraint that holds a joint at its stop takes the stop out.
static void test_held_stop_is_left_out(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><joint name='z' type='slide' axis='0 0 1'/><geom size='0.1'/>"
                          "<body pos='0 0 1'><joint name='door' limited='true' range='0 90'/><geom size='0.1'/></body></body></worldbody>"
                          "<equality><joint joint1='door'/></equality></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_true(warns(f.model, "joint 'door' is at its stop, where the equality constraints hold it"));
    carom_impact_free(impact);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weld_is_one_body),        cmocka_unit_test(test_velocities_that_break_constraints_are_refused),
        cmocka_unit_test(test_constraint_corner_cases), cmocka_unit_test(test_joints_at_their_stops),
        cmocka_unit_test(test_joints_near_their_stops), cmocka_unit_test(test_stop_is_hit),
        cmocka_unit_test(test_held_stop_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
