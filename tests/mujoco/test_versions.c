// SPDX-License-Identifier: Apache-2.0
// Versions of MuJoCo: what the room does whatever the version, and what it says about a model for another one.
#include "robot_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

#define BALL(attributes) "<body name='ball' pos='0 0 0.1' " attributes "><freejoint/><geom name='ball' size='0.1'/></body>"

// ------------------------------------------------------------------------------------------------------------- messages

static void assert_load_refused(const char *text, const char *first, const char *second) {
    char *directory = support_make_directory(), *path = support_write_file(directory, "model.xml", text);
    carom_error error;
    carom_model *model;
    assert_refused(carom_model_load(path, &model, &error), CAROM_BAD_INPUT, error, first);
    const bool advised = strstr(error.message, "this carom is linked with MuJoCo") != NULL;
    assert_int_equal(advised, second != NULL);
    if (second) assert_non_null(strstr(error.message, second));
    free(path);
    support_remove_directory(directory);
}

// Behind MuJoCo's own sentence about a word that it does not know stands which MuJoCo this is, and how to build with a newer one; behind
// other sentences nothing does.
static void test_unknown_words_name_the_version(void **state) {
    (void)state;
    char linked[CAROM_MESSAGE_SIZE];
    snprintf(linked, sizeof linked, "; this carom is linked with MuJoCo %s: ", carom_model_mujoco_version());
    static const struct {
        const char *text, *message;
    } unknown[] = {
        {"<mujoco><worldbody><geom size='1' newer='3'/></worldbody></mujoco>", "unrecognized attribute: 'newer'"},
        {"<mujoco><worldbody><newer/></worldbody></mujoco>", "unrecognized element"},
        {"<mujoco><option integrator='newer'/><worldbody/></mujoco>", "invalid keyword: 'newer'"},
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_load_refused(unknown[i].text, unknown[i].message, linked);
        assert_load_refused(unknown[i].text, "'make MUJOCO=pip'", "'make MUJOCO=DIR'");
    }
    assert_load_refused("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "mass", NULL);
    assert_load_refused(
        "<mujoco><asset><mesh file='nowhere.stl'/></asset><worldbody><geom type='mesh' mesh='nowhere'/></worldbody></mujoco>",
        "nowhere.stl", NULL);
}

static void test_version_is_that_of_the_headers(void **state) {
    (void)state;
    carom_error error;
    assert_ok(model_check_version(&error), error);
    assert_true(strlen(carom_model_mujoco_version()) >= strlen("2.2.2"));
}

// -------------------------------------------------------------------------------------------------------------- models

// The margin is that of a pair of geoms, also where each geom adds its own: balls 1.5 margins from the floor, and from each other, do not
// touch; 0.9 margins from it they do.
static void test_margin_is_of_the_pair(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int contacts;
    } cases[] = {
        {"<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1009'><freejoint/><geom name='a' size='0.1'/></body></worldbody></mujoco>", 1},
        {"<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1009'><freejoint/><geom name='a' size='0.1'/><geom name='b' pos='1 0 0.0006' "
         "size='0.1'/></body></worldbody></mujoco>",
         1},
        {"<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><freejoint/><geom size='0.1'/></body>"
         "<body pos='0.2015 0 0.1'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
         2},
        // Bodies of many geoms are looked at as a whole first.
        {"<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom name='a' size='0.1'/><geom pos='-1 0 0' size='0.1'/></body>"
         "<body pos='0.2009 0 1'><freejoint/><geom name='b' size='0.1'/><geom pos='1 0 0' size='0.1'/></body></worldbody></mujoco>",
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = load_text(cases[i].text);
        carom_impact *impact = detect(f.model);
        assert_int_equal(carom_impact_get_data(impact)->contacts, cases[i].contacts);
        carom_impact_free(impact);
        free_fixture(&f);
    }
}

// Corners of a cube that lies on a box are numbered along the cube's axes, whatever its angle.
static void test_corners_of_boxes_keep_their_order(void **state) {
    (void)state;
    static const double corners[4][2] = {{-0.1, 0.1}, {-0.1, -0.1}, {0.1, 0.1}, {0.1, -0.1}};
    fixture f = load_text("<mujoco><worldbody><geom type='box' size='0.3 0.3 0.1' pos='0 0 -0.1'/><body name='cube' pos='0 0 0.1'>"
                          "<freejoint/><geom name='cube' type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    for (int angle = 0; angle < 360; angle += 15) {
        const double half = angle * acos(-1) / 360, qpos[] = {0.02, 0.01, 0.1, cos(half), 0, 0, sin(half)};
        carom_error error;
        assert_ok(carom_model_set_state(f.model, qpos, 7, NULL, 0, &error), error);
        carom_impact *impact = detect(f.model);
        const carom_impact_data *data = carom_impact_get_data(impact);
        assert_int_equal(data->contacts, 4);
        // A row of Jn is z, and y and -x of the corner in the cube's axes.
        for (int i = 0; i < 4; i++) {
            assert_close(data->normal[6 * i + 3], corners[i][1], 1e-12);
            assert_close(data->normal[6 * i + 4], -corners[i][0], 1e-12);
        }
        carom_impact_free(impact);
    }
    free_fixture(&f);
}

// Contacts of a cube that stands out over a corner of a box lie on the cube: corners of the box beside it are none.
static void test_contacts_of_boxes_lie_on_both(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><geom type='box' size='0.3 0.3 0.1' pos='0 0 -0.1'/><body name='cube' pos='0 0 0.1'>"
                          "<freejoint/><geom name='cube' type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    for (int angle = 4; angle < 360; angle += 5) {
        const double half = angle * acos(-1) / 360, qpos[] = {0.28, 0.29, 0.1, cos(half), 0, 0, sin(half)};
        carom_error error;
        assert_ok(carom_model_set_state(f.model, qpos, 7, NULL, 0, &error), error);
        carom_impact *impact = detect(f.model);
        const carom_impact_data *data = carom_impact_get_data(impact);
        assert_true(data->contacts >= 3);
        // Of a row of Jn, the entries about the cube's axes are y and -x.
        for (int i = 0; i < data->contacts; i++)
            assert_true(fabs(data->normal[6 * i + 3]) < 0.1 + 1e-9 && fabs(data->normal[6 * i + 4]) < 0.1 + 1e-9);
        carom_impact_free(impact);
    }
    free_fixture(&f);
}

// A body that only a user moves does not yield: a contact with it is named after the other body alone.
static void test_user_moved_bodies_do_not_move(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body name='hand' mocap='true'><geom name='palm' type='box' size='1 1 0.1' pos='0 0 -0.1'/>"
                          "</body>" BALL("") "</worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_find_contact(impact, "ball"), 0);
    carom_impact_free(impact);
    free_fixture(&f);
}

#if mjVERSION_HEADER >= 333
// Since 3.3 a tendon may have inertia, which belongs to M: a tendon of 3 kg that a slide of 2 kg and one of 4 kg upon it pull apart.
static void test_tendons_have_inertia(void **state) {
    (void)state;
    fixture f =
        load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><joint name='p' type='slide' axis='0 0 1'/><geom size='0.1' mass='2'/>"
                  "<body pos='1 0 5'><joint name='q' type='slide' axis='0 0 1'/><geom size='0.1' mass='4'/></body></body></worldbody>"
                  "<tendon><fixed armature='3'><joint joint='p' coef='1'/><joint joint='q' coef='-1'/></fixed></tendon></mujoco>");
    carom_impact *impact = detect(f.model);
    static const double mass[] = {9, 1, 1, 7};
    assert_all_close(carom_impact_get_data(impact)->mass, mass, 4, 1e-14);
    carom_impact_free(impact);
    free_fixture(&f);
}
#endif

#if mjVERSION_HEADER >= 340
// A body that sleeps from the start is where the state says.
static void test_nobody_sleeps(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><option><flag sleep='enable'/></option><worldbody>" FLOOR BALL("sleep='init'") "</worldbody></mujoco>");
    const double qpos[] = {0, 0, 0.5, 1, 0, 0, 0};
    carom_error error;
    carom_impact *impact;
    assert_ok(carom_model_set_state(f.model, qpos, 7, NULL, 0, &error), error);
    assert_refused(carom_model_detect(f.model, NULL, &impact, &error), CAROM_BAD_INPUT, error, "are 0.4 m apart");
    free_fixture(&f);
}
#endif

#if mjVERSION_HEADER >= 320
// A deformable body is no rigid one: where it touches something, no impact is made of it.
static void test_deformable_bodies_are_refused(void **state) {
    (void)state;
    static const char cloth[] = "<mujoco><worldbody>" FLOOR "<body pos='0 0 %s'><freejoint/><geom name='ball' size='0.1'/></body>"
                                "<flexcomp name='cloth' type='grid' count='3 3 1' spacing='0.1 0.1 0.1' pos='2 0 0.001' radius='0.01' "
                                "mass='1' dim='2'/></worldbody></mujoco>";
    char text[sizeof cloth + 16];
    snprintf(text, sizeof text, cloth, "0.1");
    fixture f = load_text(text);
    carom_error error;
    carom_impact *impact;
    assert_refused(carom_model_detect(f.model, NULL, &impact, &error), CAROM_BAD_INPUT, error,
                   "a deformable body (flex) touches something");
    free_fixture(&f);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_words_name_the_version),
        cmocka_unit_test(test_version_is_that_of_the_headers),
        cmocka_unit_test(test_margin_is_of_the_pair),
        cmocka_unit_test(test_user_moved_bodies_do_not_move),
        cmocka_unit_test(test_corners_of_boxes_keep_their_order),
        cmocka_unit_test(test_contacts_of_boxes_lie_on_both),
#if mjVERSION_HEADER >= 333
        cmocka_unit_test(test_tendons_have_inertia),
#endif
#if mjVERSION_HEADER >= 340
        cmocka_unit_test(test_nobody_sleeps),
#endif
#if mjVERSION_HEADER >= 320
        cmocka_unit_test(test_deformable_bodies_are_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
