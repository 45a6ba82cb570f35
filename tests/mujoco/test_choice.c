// SPDX-License-Identifier: Apache-2.0
// Which of the contacts found an impact takes: patterns of names, one robot's own bodies, joints at their stops, corners of patches.
#include "robot_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A table on two feet and a middle, with an arm at its stop that touches a foot; a ball beside it.
static const char table[] =
    "<mujoco><worldbody>" FLOOR "<body name='table' pos='0 0 0.1'><freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>"
    "<geom name='left_foot' type='box' size='0.1 0.1 0.1' pos='-0.3 0 0'/>"
    "<geom name='middle' type='box' size='0.05 0.05 0.1'/><geom name='right_foot' type='box' size='0.1 0.1 0.1' pos='0.3 0 0'/>"
    "<body name='arm' pos='0 0 0.3'><joint name='elbow' axis='0 1 0' limited='true' range='0 90'/><inertial pos='0 0 0' mass='1' "
    "diaginertia='1 1 1'/>"
    "<body name='lever' pos='0.3 0 0'><joint name='wrist' axis='0 1 0'/><geom name='hand' size='0.1' pos='0 0 -0.1' mass='1'/></body>"
    "</body></body><body name='ball' pos='2 0 0.2'><freejoint/><geom name='ball' size='0.2'/></body></worldbody></mujoco>";

// The names of the contacts that a choice leaves, with blanks between them.
static void assert_chosen(carom_model *model, const carom_detection *detection, const char *names) {
    carom_error error;
    carom_impact *impact;
    assert_ok(carom_model_detect(model, detection, &impact, &error), error);
    const carom_impact_data *data = carom_impact_get_data(impact);
    char found[1024] = "";
    size_t used = 0;
    for (int i = 0; i < data->contacts; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%s", i ? " " : "", data->names[i]);
    assert_string_equal(found, names);
    carom_impact_free(impact);
}

static void assert_choice_refused(carom_model *model, const carom_detection *detection, const char *message) {
    carom_error error;
    carom_impact *impact;
    assert_refused(carom_model_detect(model, detection, &impact, &error), CAROM_BAD_INPUT, error, message);
    assert_null(impact);
}

// Names are the same whatever is chosen: those of all contacts.
static void test_patterns(void **state) {
    (void)state;
    fixture f = load_text(table);
    const carom_detection defaults = carom_detection_defaults();
    carom_detection d = defaults;
    assert_chosen(f.model, &d,
                  "left_foot:1 left_foot:2 left_foot:3 left_foot:4 middle:1 middle:2 middle:3 middle:4 right_foot:1 right_foot:2 "
                  "right_foot:3 right_foot:4 ball hand:right_foot LIMIT:elbow");
    // By a geom, a contact of its own name, and a body.
    d.only = (const char *const[]){"mid*", "left_foot:[23]", "lever"};
    d.only_count = 3;
    assert_chosen(f.model, &d, "left_foot:2 left_foot:3 middle:1 middle:2 middle:3 middle:4 hand:right_foot");
    d.exclude = (const char *const[]){"hand", "middle:?"};
    d.exclude_count = 2;
    assert_chosen(f.model, &d, "left_foot:2 left_foot:3");
    d = defaults;
    d.exclude = (const char *const[]){"floor"};
    d.exclude_count = 1;
    assert_chosen(f.model, &d, "hand:right_foot LIMIT:elbow");
    d.drop_self = true;
    assert_chosen(f.model, &d, "LIMIT:elbow");
    assert_true(warns(f.model, "none of the 14 contacts found is left: 'exclude' leaves out 13, 'self: false' leaves out 1"));
    d.drop_stops = true;
    assert_choice_refused(f.model, &d,
                          "none of the 14 contacts found is left: 'exclude' leaves out 13, 'self: false' leaves out 1; what is at its "
                          "limit is left out, too");
    // A joint at its stop is a contact by its name.
    d = defaults;
    d.only = (const char *const[]){"ball", "LIMIT:*"};
    d.only_count = 2;
    assert_chosen(f.model, &d, "ball LIMIT:elbow");
    d.only_count = 1;
    assert_chosen(f.model, &d, "ball");
    free_fixture(&f);
}

static void test_unknown_patterns(void **state) {
    (void)state;
    fixture f = load_text(table);
    carom_detection d = carom_detection_defaults();
    d.only = (const char *const[]){"foot_left"};
    d.only_count = 1;
    assert_choice_refused(f.model, &d, "only: 'foot_left' is no body, geom or contact of the model; near names: 'left_foot', 'right_foot'");
    d.only = NULL;
    d.only_count = 0;
    d.exclude = (const char *const[]){"ball", "xyz"};
    d.exclude_count = 2;
    assert_choice_refused(f.model, &d, "exclude: 'xyz' is no body, geom or contact of the model");
    d.exclude_count = 1;
    d.merge = -1;
    assert_choice_refused(f.model, &d, "merge is -1");
    free_fixture(&f);
}

// Bodies of two robots are no self-contact; the world is no robot.
static void test_self(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body name='a' pos='0 0 0.1'><freejoint/><geom name='a' size='0.1'/>"
                          "<body name='b' pos='0.2 0 0'><joint axis='0 0 1'/><geom name='b' size='0.1' mass='1'/>"
                          "<body name='c' pos='-0.1 0.1732 0'><joint axis='1 0 0'/><geom name='c' size='0.1'/></body></body></body>"
                          "<body name='d' pos='0.2 -0.2 0.1'><freejoint/><geom name='d' size='0.1'/></body>"
                          "<body name='e' pos='0.2 0 0.3'><freejoint/><geom name='e' size='0.1'/></body></worldbody></mujoco>");
    carom_detection d = carom_detection_defaults();
    assert_chosen(f.model, &d, "a b c d a:c b:d b:e");
    d.drop_self = true;
    assert_chosen(f.model, &d, "a b c d b:d b:e");
    free_fixture(&f);
}

// Two geoms of one body share a corner. Leaving out the rougher one leaves the friction of the other.
static void test_equal_contacts_keep_the_friction_of_what_stays(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1' friction='0'/><body name='twin' pos='0 0 0.1'>"
                          "<freejoint/><geom name='rough' size='0.1' friction='0.9' mass='1'/>"
                          "<geom name='smooth' size='0.1' friction='0.2' mass='1'/></body></worldbody></mujoco>");
    carom_detection d = carom_detection_defaults();
    d.exclude = (const char *const[]){"rough"};
    carom_error error;
    for (int exclude = 0; exclude < 2; exclude++) {
        carom_impact *impact;
        d.exclude_count = exclude;
        assert_ok(carom_model_detect(f.model, &d, &impact, &error), error);
        assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
        assert_close(carom_impact_get_data(impact)->friction[0], exclude ? 0.2 : 0.9, 0);
        carom_impact_free(impact);
    }
    free_fixture(&f);
}

// ------------------------------------------------------------------------------------------------------------- patches

// A grid of small spheres, turned about the vertical, on the floor: of 25 points the four corners stay, whatever the turn.
static void test_corners_of_a_grid(void **state) {
    (void)state;
    for (int turn = 0; turn < 7; turn++) {
        char text[8192];
        int used = snprintf(text, sizeof text, "<mujoco><worldbody>" FLOOR "<body pos='1 2 0.01' euler='0 0 %d'><freejoint/>", 17 * turn);
        for (int i = 0; i < 25; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "<geom name='p%d' size='0.01' pos='%g %g 0' mass='0.1'/>", i,
                             0.1 * (i % 5), 0.07 * (i / 5));
        snprintf(text + used, sizeof text - (size_t)used, "</body></worldbody></mujoco>");
        fixture f = load_text(text);
        carom_detection d = carom_detection_defaults();
        d.merge = 1e-4;
        assert_chosen(f.model, &d, "p0 p4 p20 p24");
        // As wide as the shorter side: one of the two corners at each end goes.
        d.merge = 0.281;
        carom_impact *impact;
        carom_error error;
        assert_ok(carom_model_detect(f.model, &d, &impact, &error), error);
        assert_int_equal(carom_impact_get_data(impact)->contacts, 2);
        carom_impact_free(impact);
        free_fixture(&f);
    }
}

// What a patch is: two bodies, one plane, one normal, one friction.
static void test_patches_are_of_one_plane_and_friction(void **state) {
    (void)state;
    fixture f =
        load_text("<mujoco><worldbody>" FLOOR "<geom name='ledge' type='box' size='0.5 5 0.05' pos='3.5 0 0.05'/>"
                  "<body name='sled' pos='0 0 0'><freejoint/><inertial pos='0 0 0.5' mass='5' diaginertia='1 1 1'/>"
                  "<geom name='a' size='0.1' pos='0 0 0.1'/><geom name='b' size='0.1' pos='0.5 0 0.1'/>"
                  "<geom name='c' size='0.1' pos='1 0 0.1'/><geom name='d' size='0.1' pos='1.5 0 0.1' friction='2'/>"
                  "<geom name='e' size='0.1' pos='2 0 0.1'/><geom name='f' size='0.1' pos='3.3 0 0.2'/>"
                  "<geom name='g' size='0.1' pos='3.5 0 0.2'/><geom name='h' size='0.1' pos='3.8 0 0.2'/></body></worldbody></mujoco>");
    carom_detection d = carom_detection_defaults();
    d.merge = 0.01;
    assert_chosen(f.model, &d, "a d e f h");
    free_fixture(&f);
}

// Points within the hull change no frictionless outcome.
static void test_merging_keeps_frictionless_outcomes(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body name='plate' pos='0 0 0.1'><freejoint/><inertial pos='0.1 0.05 0.2' mass='3' "
                          "diaginertia='1 2 2.5'/><geom type='box' size='0.1 0.1 0.1' pos='-0.3 0 0'/>"
                          "<geom type='box' size='0.05 0.05 0.1'/><geom type='box' size='0.1 0.1 0.1' pos='0.3 0 0'/></body></worldbody>"
                          "</mujoco>");
    set_velocity(f.model, (double[]){0.3, 0.1, -1, 0.4, 2, 0.2});
    carom_detection d = carom_detection_defaults();
    d.friction = 0;
    double *outcomes[2];
    for (int merged = 0; merged < 2; merged++) {
        carom_error error;
        carom_impact *impact;
        d.merge = merged ? 1e-3 : 0;
        assert_ok(carom_model_detect(f.model, &d, &impact, &error), error);
        assert_int_equal(carom_impact_get_data(impact)->contacts, merged ? 4 : 12);
        outcomes[merged] = resolve(impact);
        carom_impact_free(impact);
    }
    assert_all_close(outcomes[1], outcomes[0], 6, 1e-9);
    free(outcomes[0]);
    free(outcomes[1]);
    free_fixture(&f);
}

// ------------------------------------------------------------------------------------------------------- nothing touches

static void test_nearest_pairs_are_named(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body name='a' pos='0 0 1'><freejoint/><geom name='low' size='0.1'/>"
                          "<geom name='high' size='0.1' pos='0 0 0.6'/></body><body name='b' pos='0 0 3'><freejoint/>"
                          "<geom name='top' size='0.1'/></body></worldbody></mujoco>");
    assert_detection_refused(f.model,
                             "no geoms touch: the nearest, 'floor' and 'low', are 0.9 m apart, more than the margin of 0.001 m; then "
                             "'high' and 'top' 1.2 m, 'floor' and 'high' 1.5 m; no joint is at its stop either");
    // Of those that are asked for.
    carom_detection d = carom_detection_defaults();
    d.only = (const char *const[]){"top"};
    d.only_count = 1;
    assert_choice_refused(f.model, &d, "the nearest, 'high' and 'top', are 1.2 m apart");
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_unknown_patterns),
        cmocka_unit_test(test_self),
        cmocka_unit_test(test_equal_contacts_keep_the_friction_of_what_stays),
        cmocka_unit_test(test_corners_of_a_grid),
        cmocka_unit_test(test_patches_are_of_one_plane_and_friction),
        cmocka_unit_test(test_merging_keeps_frictionless_outcomes),
        cmocka_unit_test(test_nearest_pairs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
