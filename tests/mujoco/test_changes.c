// SPDX-License-Identifier: Apache-2.0
// Models that get a free root or a floor: MJCF with includes, classes and keyframes, and URDF.
#include "robot_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ARM(joint)                                                                                                                         \
    "<body name='trunk' pos='0 0 2' quat='0 1 0 0'>" joint "<geom name='trunk' type='box' size='0.2 0.1 0.1'/>"                            \
    "<body name='fore' pos='0.2 0 0'><joint name='elbow' axis='0 1 0'/><geom name='fore' type='capsule' size='0.05' "                      \
    "fromto='0 0 0 0.4 0 0'/></body></body>"

static const carom_ground flat = {.friction = (double)NAN, .optional = true};

static carom_model *load(const char *path, bool free_root, const carom_ground *ground) {
    carom_model *model;
    carom_error error;
    assert_ok(carom_model_load_with(path, &(carom_model_options){.free_root = free_root, .ground = ground}, &model, &error), error);
    return model;
}

static void assert_load_refused(const char *text, bool free_root, const carom_ground *ground, const char *message) {
    char *directory = support_make_directory(), *path = support_write_file(directory, "model.xml", text);
    carom_model *model;
    carom_error error;
    assert_refused(carom_model_load_with(path, &(carom_model_options){.free_root = free_root, .ground = ground}, &model, &error),
                   CAROM_BAD_INPUT, error, message);
    assert_null(model);
    free(path);
    support_remove_directory(directory);
}

// The root gets a free joint at its place in the file, also where it stands in an included file; keyframes keep their other joints.
static void test_free_root_of_mjcf(void **state) {
    (void)state;
    char *directory = support_make_directory();
    free(support_write_file(directory, "arm.xml",
                            "<mujoco><default><default class='thin'><geom density='200'/></default></default>"
                            "<worldbody><body name='table'><geom size='0.1'/></body>" ARM(
                                "") "</worldbody>"
                                    "<keyframe><key name='bent' qpos='0.5' qvel='-1'/><key name='straight'/></keyframe></mujoco>"));
    char *path = support_write_file(directory, "model.xml", "<mujoco><include file='arm.xml'/></mujoco>");
    carom_model *fixed = load(path, false, NULL), *model = load(path, true, NULL);
    assert_int_equal(carom_model_nv(fixed), 1);
    assert_int_equal(carom_model_nv(model), 7);
    assert_all_close(carom_model_qpos(model), ((double[]){0, 0, 2, 0, 1, 0, 0, 0}), 8, 0);
    assert_string_equal(carom_model_get_joint(model, 0).name, "trunk");
    carom_error error;
    assert_ok(carom_model_set_keyframe(model, "bent", &error), error);
    assert_all_close(carom_model_qpos(model), ((double[]){0, 0, 2, 0, 1, 0, 0, 0.5}), 8, 0);
    assert_all_close(carom_model_qvel(model), ((double[]){0, 0, 0, 0, 0, 0, -1}), 7, 0);
    assert_ok(carom_model_set_keyframe(model, "straight", &error), error);
    assert_all_close(carom_model_qpos(model), ((double[]){0, 0, 2, 0, 1, 0, 0, 0}), 8, 0);
    carom_model_free(fixed);
    carom_model_free(model);
    free(path);
    support_remove_directory(directory);
}

static void test_roots_that_cannot_be_freed(void **state) {
    (void)state;
    assert_load_refused(
        "<mujoco><worldbody>" ARM("") "<body name='second'><body><joint/><geom size='1'/></body></body></worldbody></mujoco>", true, NULL,
        "only one root can be freed, but there are 2: 'trunk', 'second'");
    assert_load_refused("<mujoco><worldbody>" ARM("<joint name='rail' type='slide'/>") "</worldbody></mujoco>", true, NULL,
                        "the root 'trunk' cannot be freed: it has a joint of its own, 'rail'");
    assert_load_refused("<mujoco><worldbody/></mujoco>", true, NULL, "there is no body");
    assert_load_refused("<mujoco><worldbody>" ARM("") "</worldbody><keyframe><key qpos='1 2'/></keyframe></mujoco>", true, NULL,
                        "a keyframe has 2 numbers in qpos, but the model needs 1 without its free root");
    // Things that move beside the robot are no roots of it.
    fixture f = load_text("<mujoco><worldbody><body name='ball'><freejoint/><geom size='1'/></body>" ARM(
        "") "</worldbody>"
            "<keyframe><key name='k' qpos='1 2 3 0 1 0 0  0.5' qvel='1 2 3 4 5 6 7'/></keyframe></mujoco>");
    carom_model *pair = load(f.path, true, NULL);
    carom_error error;
    assert_int_equal(carom_model_nv(pair), 13);
    assert_ok(carom_model_set_keyframe(pair, "k", &error), error);
    assert_all_close(carom_model_qpos(pair), ((double[]){1, 2, 3, 0, 1, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0.5}), 15, 0);
    assert_all_close(carom_model_qvel(pair), ((double[]){1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 7}), 13, 0);
    assert_int_equal(carom_model_warnings(pair), 0);
    carom_model_free(pair);
    free_fixture(&f);
    // A root that is free already is what was asked for.
    char *directory = support_make_directory();
    char *path = support_write_file(directory, "model.xml", "<mujoco><worldbody>" ARM("<freejoint/>") "</worldbody></mujoco>");
    carom_model *model = load(path, true, NULL);
    assert_int_equal(carom_model_nv(model), 7);
    assert_true(warns(model, "the root 'trunk' is free already"));
    carom_model_free(model);
    free(path);
    support_remove_directory(directory);
}

// No default class changes the floor, and what collides with nothing but itself stands on it, too.
static void test_ground_of_mjcf(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *path =
        support_write_file(directory, "model.xml",
                           "<mujoco><default><geom contype='2' conaffinity='4' friction='0.3' margin='0.1' type='capsule'/></default>"
                           "<worldbody><body name='ball' pos='0.5 0 1'><freejoint/><geom name='ground' type='sphere' "
                           "size='0.1'/></body></worldbody></mujoco>");
    carom_error error;
    double shift;
    carom_model *model = load(path, false, &flat);
    assert_ok(carom_model_lower(model, NULL, &shift, &error), error);
    assert_close(shift, 0.9, 1e-11);
    carom_impact *impact = detect(model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_close(carom_impact_get_data(impact)->friction[0], 1, 0);
    carom_impact_free(impact);
    carom_model_free(model);

    // A floor that falls towards +x, with a friction that holds whatever the ball has.
    const carom_ground slope = {.height = 0.25, .slope = 30, .friction = 0.125};
    model = load(path, false, &slope);
    assert_ok(carom_model_lower(model, NULL, &shift, &error), error);
    const double angle = 30 * 3.14159265358979323846 / 180;
    assert_close(shift, 1 - (0.25 - 0.5 * tan(angle) + 0.1 / cos(angle)), 1e-11);
    impact = detect(model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_close(data->friction[0], 0.125, 0);
    assert_all_close(data->normal, ((double[]){sin(angle), 0, cos(angle), 0, 0, 0}), 3, 1e-12);
    carom_impact_free(impact);
    carom_model_free(model);
    free(path);
    support_remove_directory(directory);
}

static void test_a_floor_that_is_there_stays(void **state) {
    (void)state;
    static const char text[] =
        "<mujoco><worldbody><geom name='lawn' type='plane' size='1 1 1'/>" ARM("<freejoint/>") "</worldbody></mujoco>";
    assert_load_refused(text, false, &(carom_ground){.height = 1, .friction = 1}, "the model has a floor already, 'lawn'");
    fixture f = load_text(text);
    carom_model *model = load(f.path, false, &flat);
    assert_true(warns(model, "the model has a floor already, 'lawn': none is added"));
    carom_model_free(model);
    free_fixture(&f);
    // A ceiling and a decoration are no floors.
    f = load_text("<mujoco><worldbody><geom name='lawn' type='plane' size='1 1 1' contype='0' conaffinity='0'/>"
                  "<geom type='plane' size='1 1 1' pos='0 0 4' euler='180 0 0'/>" ARM("<freejoint/>") "</worldbody></mujoco>");
    model = load(f.path, false, &flat);
    carom_error error;
    double shift;
    assert_ok(carom_model_lower(model, NULL, &shift, &error), error);
    assert_close(shift, 1.9, 1e-11);
    assert_int_equal(carom_model_warnings(model), 0);
    carom_model_free(model);
    free_fixture(&f);
    assert_load_refused(text, false, &(carom_ground){.height = (double)INFINITY}, "a ground has a finite height");
    assert_load_refused("<mujoco><worldbody><body name='a<b'/></worldbody></mujoco>", false, &flat, "is not well-formed XML");
}

#define LINK(name, size)                                                                                                                   \
    "<link name='" name "'><inertial><origin xyz='0.01 0 0.02'/><mass value='1.3'/>"                                                       \
    "<inertia ixx='0.01' iyy='0.02' izz='0.015' ixy='0.001' ixz='0' iyz='0'/></inertial>"                                                  \
    "<collision><geometry><sphere radius='" size "'/></geometry></collision></link>"
#define ROBOT(more)                                                                                                                        \
    "<robot name='r'>" LINK("base", "0.2") LINK(                                                                                           \
        "leg",                                                                                                                             \
        "0.1") "<joint name='root' type='revolute'><parent link='base'/><child link='leg'/><origin xyz='0 0 -0.5'/><axis xyz='0 1 0'/>"    \
               "<limit lower='-2' upper='2' effort='1' velocity='1'/></joint>" more "</robot>"
#define WORLD_JOINT(type) "<link name='world'/><joint name='hold' type='" type "'><parent link='world'/><child link='base'/></joint>"

// A URDF's root is the child of the world by a floating joint, or stays welded; its floor is a plane like any other.
static void test_urdf(void **state) {
    (void)state;
    static const char *const texts[] = {ROBOT(""), ROBOT(WORLD_JOINT("fixed"))};
    for (int i = 0; i < 2; i++) {
        char *directory = support_make_directory(), *path = support_write_file(directory, "model.urdf", texts[i]);
        carom_error error;
        double shift;
        carom_model *model = load(path, true, &flat);
        assert_int_equal(carom_model_nv(model), 7);
        assert_int_equal(carom_model_warnings(model), 0);
        assert_ok(carom_model_lower(model, NULL, &shift, &error), error);
        assert_close(shift, -0.6, 1e-11);
        carom_impact *impact = detect(model);
        assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
        assert_all_close(carom_impact_get_data(impact)->normal, ((double[]){0, 0, 1, 0, 0, 0, 0}), 7, 1e-12);
        carom_impact_free(impact);
        // Far from the origin the floor is the same.
        assert_ok(carom_model_set_state(model, (double[]){50000, 3, 7, 1, 0, 0, 0, 0}, 8, NULL, 0, &error), error);
        assert_ok(carom_model_lower(model, NULL, &shift, &error), error);
        assert_close(shift, 6.4, 1e-10);
        impact = detect(model);
        carom_impact_free(impact);
        carom_model_free(model);

        // Without a free root the robot stays as it is, to the bit.
        model = load(path, false, &(carom_ground){.height = -0.6, .slope = 0, .friction = 0.5});
        carom_model *plain = load(path, false, NULL);
        assert_int_equal(carom_model_nv(model), 1);
        const carom_model_contact contact = {.places = 1,
                                             .place = {{.kind = CAROM_PLACE_BODY_POINT, .name = "leg", .point = {0, 0, -0.1}}},
                                             .normal = {1, 0, 0},
                                             .friction = 1};
        carom_impact *first = freeze(model, &contact, 1), *second = freeze(plain, &contact, 1);
        assert_true(carom_impact_get_data(first)->mass[0] == carom_impact_get_data(second)->mass[0]);
        carom_impact_free(first);
        carom_impact_free(second);
        carom_model_free(model);
        carom_model_free(plain);
        free(path);
        support_remove_directory(directory);
    }
    assert_load_refused(ROBOT(LINK("stray", "1")), true, NULL,
                        "only one root link can be joined to the world, but there are 2: 'base', 'stray'");
    assert_load_refused(ROBOT(WORLD_JOINT("prismatic")), true, NULL, "the joint 'hold' of type 'prismatic' holds it");
    char *directory = support_make_directory(), *path = support_write_file(directory, "model.urdf", ROBOT(WORLD_JOINT("floating")));
    carom_model *model = load(path, true, NULL);
    assert_true(warns(model, "the root is free already, by the joint 'hold'"));
    carom_model_free(model);
    free(path);
    support_remove_directory(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_root_of_mjcf),
        cmocka_unit_test(test_roots_that_cannot_be_freed),
        cmocka_unit_test(test_ground_of_mjcf),
        cmocka_unit_test(test_a_floor_that_is_there_stays),
        cmocka_unit_test(test_urdf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
