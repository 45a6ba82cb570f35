// SPDX-License-Identifier: Apache-2.0
// What a URDF says besides its meshes: mimic joints, inertia, friction tags, and what is refused. Every version of MuJoCo gives these
// values.
#include "robot_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INERTIA(mass, xx, yy, zz) "<mass value='" mass "'/><inertia ixx='" xx "' iyy='" yy "' izz='" zz "' ixy='0' ixz='0' iyz='0'/>"
#define BASE                      "<link name='world'/><link name='base'><inertial>" INERTIA("5", "0.05", "0.05", "0.05") "</inertial></link>"
#define FLOATS                    "<joint name='root' type='floating'><parent link='world'/><child link='base'/></joint>"
#define BALL(r)                   "<collision><origin xyz='0 0 -0.2'/><geometry><sphere radius='" r "'/></geometry></collision>"
#define LINK(name, inside, more)  "<link name='" name "'><inertial><origin xyz='0 0 -0.1'/>" inside "</inertial>" more "</link>"
#define JOINT(name, type, parent, child, more)                                                                                             \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/><origin xyz='0.1 0 -0.05'/>"               \
    "<axis xyz='0 1 0'/><limit lower='-2' upper='2' effort='1' velocity='1'/>" more "</joint>"
#define ROBOT(inside) "<robot name='r'>" inside "</robot>"
#define LEG(more)     LINK("leg", INERTIA("0.5", "2e-4", "2e-4", "3e-4"), more)
#define HIP           JOINT("hip", "revolute", "base", "leg", "")

static void assert_urdf_refused(const char *text, const char *message) {
    char *directory = support_make_directory(), *path = support_write_file(directory, "model.urdf", text);
    carom_model *model;
    carom_error error;
    assert_refused(carom_model_load(path, &model, &error), CAROM_BAD_INPUT, error, message);
    assert_non_null(strstr(error.message, "model.urdf:1: "));
    assert_null(model);
    free(path);
    support_remove_directory(directory);
}

// M of a model, by a contact at a link's origin.
static carom_impact *freeze_link(carom_model *model, const char *link) {
    const carom_model_contact contact = {.places = 1,
                                         .place = {{.kind = CAROM_PLACE_BODY_POINT, .name = link, .point = {0.03, 0.02, -0.2}}},
                                         .normal = {0.6, 0, 0.8},
                                         .friction = 1};
    return freeze(model, &contact, 1);
}

// The moment of inertia about the hinge of a robot's one leg.
static double moment_of(carom_model *model) {
    carom_impact *impact = freeze_link(model, "leg");
    const int nv = carom_model_nv(model);
    const double moment = carom_impact_get_data(impact)->mass[nv * nv - 1];
    carom_impact_free(impact);
    return moment;
}

static void assert_moment(const char *text, double moment, const char *warning) {
    fixture f = load_text(text);
    assert_true(!warning || warns(f.model, warning));
    assert_int_equal(carom_model_warnings(f.model), warning != NULL);
    assert_close(moment_of(f.model), moment, 1e-13);
    free_fixture(&f);
}

// ---------------------------------------------------------------------------------------------------------------- mimic

#define FINGER(name)          LINK(name, INERTIA("0.1", "1e-4", "1e-4", "2e-4"), "")
#define MIMIC(joint, factors) "<mimic joint='" joint "' " factors "/>"

// Rates follow each other through a chain, whatever the order of joints in the file.
static void test_mimic(void **state) {
    (void)state;
    fixture f = load_text(ROBOT(
        BASE FLOATS FINGER("a") FINGER("b") FINGER("c") FINGER("d") JOINT("jc", "prismatic", "base", "c", MIMIC("jb", "multiplier='0.5'"))
            JOINT("ja", "revolute", "base", "a", "") JOINT("jb", "continuous", "base", "b", MIMIC("ja", "multiplier='-2' offset='0'"))
                JOINT("jd", "revolute", "base", "d", "")));
    const int nv = carom_model_nv(f.model);
    assert_int_equal(nv, 10);
    carom_error error;
    // Velocities in the order of the bodies: c, a, b, d.
    assert_ok(carom_model_set_state(f.model, (double[]){0, 0, 0, 1, 0, 0, 0, -0.3, 0.3, -0.6, 0.1}, 11,
                                    (double[]){0.3, 0, -1, 0, 0, 0, 0, 0, 0, 0}, nv, &error),
              error);
    static const char *const links[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        carom_impact *impact = freeze_link(f.model, links[i]);
        double *v = resolve(impact);
        assert_true(fabs(v[7]) > 1e-2);
        assert_close(v[8], -2 * v[7], 1e-11);
        assert_close(v[6], 0.5 * v[8], 1e-11);
        free(v);
        carom_impact_free(impact);
    }
    // The constraint has the name of its joint.
    assert_ok(carom_model_set_state(f.model, (double[]){0, 0, 0, 1, 0, 0, 0, 0, 0, 0.25, 0}, 11, NULL, 0, &error), error);
    carom_impact_free(freeze_link(f.model, "a"));
    assert_true(warns(f.model, "the position breaks equality constraint 'jb' by 0.25"));
    assert_true(warns(f.model, "the position breaks equality constraint 'jc' by 0.125"));
    free_fixture(&f);
    // A model starts where its constraints hold.
    f = load_text(ROBOT(BASE FLOATS FINGER("a") FINGER("b") FINGER("c") JOINT("jc", "revolute", "base", "c", MIMIC("jb", "multiplier='2'"))
                            JOINT("jb", "revolute", "base", "b", MIMIC("ja", "offset='0.3'")) JOINT("ja", "revolute", "base", "a", "")));
    assert_all_close(carom_model_qpos(f.model) + 7, ((double[]){0.6, 0.3, 0}), 3, 0);
    carom_impact_free(freeze_link(f.model, "a"));
    assert_false(warns(f.model, "breaks"));
    free_fixture(&f);
    // One of a fixed joint is held, one at a fixed joint says nothing.
    f = load_text(ROBOT(BASE FINGER("a") FINGER("b") FINGER("c") JOINT("ja", "fixed", "base", "a", MIMIC("jb", "")) JOINT(
        "jb", "revolute", "base", "b", MIMIC("ja", "")) JOINT("jc", "revolute", "b", "c", "") JOINT("root", "fixed", "world", "base", "")));
    assert_true(warns(f.model, "the joint 'ja' is fixed: its <mimic> is left out"));
    assert_true(warns(f.model, "the joint 'jb' mimics 'ja', which is fixed: it is held"));
    assert_ok(carom_model_set_state(f.model, NULL, 0, (double[]){0, 1}, 2, &error), error);
    carom_impact *impact = freeze_link(f.model, "c");
    double *v = resolve(impact);
    assert_close(v[0], 0, 1e-13);
    free(v);
    carom_impact_free(impact);
    free_fixture(&f);
}

#define PAIR(type, first, second)                                                                                                          \
    ROBOT(BASE FLOATS FINGER("a") FINGER("b") JOINT("ja", type, "base", "a", first) JOINT("jb", "revolute", "base", "b", second))
static void test_mimic_that_is_refused(void **state) {
    (void)state;
    fixture f = load_text(PAIR("revolute", "", MIMIC("jx", "")));
    assert_true(warns(f.model, "the joint 'jb' mimics 'jx', which is not there: it moves by itself"));
    free_fixture(&f);
    assert_urdf_refused(PAIR("revolute", "", "<mimic multiplier='2'/>"), "<mimic> of the joint 'jb' needs the name of a joint");
    assert_urdf_refused(PAIR("revolute", "", MIMIC("jb", "")), "the joint 'jb' mimics itself");
    assert_urdf_refused(PAIR("revolute", MIMIC("jb", ""), MIMIC("ja", "")), "the joint 'ja' mimics itself, by way of 'jb'");
    assert_urdf_refused(PAIR("planar", "", MIMIC("ja", "")), "the joint 'ja' is planar, and only joints of one coordinate mimic others");
    assert_urdf_refused(PAIR("revolute", "", MIMIC("ja", "multiplier='nan'")), "<mimic multiplier=\"nan\">: must be 1 finite number");
}

// -------------------------------------------------------------------------------------------------------------- inertia

#define HINGED(inside) ROBOT(BASE FLOATS "<link name='leg'><inertial>" inside "</inertial></link>" HIP)

static void test_inertia_that_a_body_can_have(void **state) {
    (void)state;
    assert_moment(HINGED("<origin xyz='0 0 -0.1'/>" INERTIA("0.5", "1.2e-4", "1.2e-4", "2.4e-4")), 1.2e-4 + 0.5 * 0.01, NULL);
    // A rod, and a plate with its digits.
    assert_moment(
        HINGED("<origin xyz='0 0 -0.1'/>" INERTIA("0.5", "1.2e-4", "1.2e-4", "0")), 5.12e-3,
        "the link 'leg' gets the least mass of 1e-12 kg and the least principal moments of inertia of 1e-14 kg m^2 where it has less");
    assert_moment(HINGED(INERTIA("0.5", "1e-3", "2.0000000001e-3", "1e-3")), 2e-3, NULL);
    assert_moment(HINGED(INERTIA("0.5", "1e-3", "2.001e-3", "1e-3")), 2e-3,
                  "the link 'leg' has moments of inertia that break A + B >= C or A >= 0 by up to 0.1 %");
    // A rod in any direction: R = Rz(y) Ry(p) Rx(r), of which the row of the hinge's axis counts.
    const double r = 0.3, p = -0.5, y = 0.7, moments[] = {0, 2e-4, 2e-4};
    const double row[] = {sin(y) * cos(p), sin(y) * sin(p) * sin(r) + cos(y) * cos(r), sin(y) * sin(p) * cos(r) - cos(y) * sin(r)};
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += moments[i] * row[i] * row[i];
    assert_moment(HINGED("<origin rpy='0.3 -0.5 0.7'/>" INERTIA("0.5", "0", "2e-4", "2e-4")), sum, "the link 'leg' gets the least mass");
    // A point.
    assert_moment(HINGED("<origin xyz='0 0 -0.1'/>" INERTIA("0.5", "0", "0", "0")), 0.005, "the link 'leg' gets the least mass");
    assert_moment(HINGED("<origin xyz='0 0 -0.1'/><mass value='0.5'/>"), 0.005, "the link 'leg' gets the least mass");
}

static void test_inertia_that_no_body_can_have(void **state) {
    (void)state;
    assert_moment(HINGED(INERTIA("0.5", "1e-3", "1e-3", "5e-3")), 7e-3 / 3,
                  "the link 'leg' has moments of inertia that no body can have (A + B >= C is broken): each becomes the mean of the three");
    assert_moment(HINGED(INERTIA("0.5", "-1e-3", "4e-3", "3e-3")), 2e-3, "the link 'leg' has moments of inertia that no body can have");
    assert_urdf_refused(HINGED(INERTIA("0.5", "-1e-3", "1e-4", "1e-4")), "the link 'leg' has moments of inertia of which one is negative");
    assert_urdf_refused(HINGED(INERTIA("-0.5", "1e-3", "1e-3", "1e-3")), "the link 'leg' has the mass -0.5 kg, but no mass is negative");
    assert_urdf_refused(HINGED(INERTIA("inf", "1e-3", "1e-3", "1e-3")), "<mass value=\"inf\">: must be 1 finite number");
    assert_urdf_refused(HINGED("<origin xyz='0 nan 0'/>" INERTIA("1", "1e-3", "1e-3", "1e-3")),
                        "<origin xyz=\"0 nan 0\">: must be 3 finite numbers");
    assert_urdf_refused(HINGED("<mass value='1'/><inertia ixx='1' iyy='1'/>"), "<inertia> needs a value for 'izz'");
}

// Links that fixed joints weld together become one body: M is the one of MuJoCo's bodies that are kept apart.
static void test_welded_links(void **state) {
    (void)state;
#define TURNED(name, parent, child)                                                                                                        \
    "<joint name='" name "' type='fixed'><parent link='" parent "'/><child link='" child "'/><origin xyz='0.1 -0.2 0.3' "                  \
    "rpy='0.4 -0.5 0.6'/></joint>"
#define MEMBER(name)                                                                                                                       \
    "<link name='" name "'><inertial><origin xyz='0.1 0.2 -0.1' rpy='-0.3 0.2 0.1'/><mass value='0.7'/><inertia ixx='0.01' iyy='0.02' "    \
    "izz='0.015' ixy='0.001' ixz='-0.002' iyz='0.003'/></inertial>" BALL("0.02") "</link>"
#define CHAIN                                                                                                                              \
    BASE FLOATS LEG("") HIP MEMBER("shin") MEMBER("plate") MEMBER("toe") TURNED("a", "leg", "shin") TURNED("b", "shin", "plate")           \
        JOINT("ankle", "revolute", "plate", "toe", "")
    fixture one = load_text(ROBOT(CHAIN)), apart = load_text(ROBOT("<mujoco><compiler fusestatic='false'/></mujoco>" CHAIN));
    carom_error error;
    const int nv = carom_model_nv(one.model);
    assert_int_equal(nv, 8);
    const double position[] = {0.1, 0.2, 0.3, 0.5, 0.5, -0.5, 0.5, 0.3, -0.7};
    assert_ok(carom_model_set_state(one.model, position, 9, NULL, 0, &error), error);
    assert_ok(carom_model_set_state(apart.model, position, 9, NULL, 0, &error), error);
    carom_impact *first = freeze_link(one.model, "toe"), *second = freeze_link(apart.model, "toe");
    assert_all_close(carom_impact_get_data(first)->mass, carom_impact_get_data(second)->mass, nv * nv, 1e-14);
    assert_all_close(carom_impact_get_data(first)->normal, carom_impact_get_data(second)->normal, nv, 1e-14);
    carom_impact_free(first);
    carom_impact_free(second);
    free_fixture(&one);
    free_fixture(&apart);
}

// Links without <inertial> have no mass. They may move what has mass, but not themselves alone.
static void test_massless_links(void **state) {
    (void)state;
    // Sleds along y, and along x through the place of 'leg', which has 0.5 kg.
    fixture f = load_text(ROBOT("<link name='world'/><link name='sled'>" BALL("0.1") "</link>" LEG("") JOINT(
        "y", "prismatic", "world", "sled", "") "<joint name='x' type='prismatic'><parent link='sled'/><child link='leg'/></joint>"));
    assert_true(warns(f.model, "without <inertial>, or with zeros in it, the link 'sled' is massless"));
    assert_true(warns(f.model, "the link 'sled' gets the least mass"));
    carom_impact *impact = freeze_link(f.model, "leg");
    assert_all_close(carom_impact_get_data(impact)->mass, ((double[]){0.5, 0, 0, 0.5}), 4, 2e-12);
    carom_impact_free(impact);
    free_fixture(&f);
    assert_urdf_refused(ROBOT(BASE FLOATS "<link name='leg'>" BALL("0.02") "</link>" HIP),
                        "the joint 'hip' moves the link 'leg' and nothing that has mass");
    assert_urdf_refused(
        ROBOT(BASE FLOATS "<link name='leg'/><link name='foot'>" BALL("0.02") "</link>" HIP JOINT("sole", "fixed", "leg", "foot", "")),
        "the joint 'hip' moves the link 'leg' and nothing that has mass");
    // Welded to what has mass it adds nothing, and needs nothing.
    f = load_text(ROBOT(BASE FLOATS LEG("") "<link name='foot'>" BALL("0.02") "</link>" HIP JOINT("sole", "fixed", "leg", "foot", "")));
    assert_int_equal(carom_model_warnings(f.model), 1);
    assert_true(warns(f.model, "the link 'foot' is massless, as the format says"));
    assert_close(moment_of(f.model), 2e-4 + 0.005, 1e-15);
    free_fixture(&f);
}

// ------------------------------------------------------------------------------------------------------------- friction

static double friction_on(const char *text, const carom_ground *ground) {
    char *directory = support_make_directory(), *path = support_write_file(directory, "model.urdf", text);
    carom_model *model;
    carom_error error;
    assert_ok(carom_model_load_with(path, &(carom_model_options){.ground = ground}, &model, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    carom_impact *impact = detect(model);
    const double friction = carom_impact_get_data(impact)->friction[0];
    carom_impact_free(impact);
    carom_model_free(model);
    free(path);
    support_remove_directory(directory);
    return friction;
}

#define TAGGED(in_collision, in_link, in_robot)                                                                                            \
    ROBOT(BASE FLOATS LEG("<collision><origin xyz='0 0 -0.2'/><geometry><sphere radius='0.02'/></geometry>" in_collision                   \
                          "</collision>" in_link) HIP in_robot)
#define DRAKE(mu)                                                                                                                          \
    "<drake:proximity_properties><drake:mu_static value='0.9'/><drake:mu_dynamic value='" mu "'/></drake:proximity_properties>"
#define GAZEBO(mu) "<gazebo reference='leg'><mu1>" mu "</mu1><mu2>0.7</mu2></gazebo>"
#define BULLET     "<contact><lateral_friction value='0.6'/></contact>"

static void test_friction_tags(void **state) {
    (void)state;
    const carom_ground floor = {.friction = (double)NAN}, rough = {.friction = 0.5}, smooth = {.friction = 0};
    assert_close(friction_on(TAGGED("", "", ""), &floor), 1, 0);
    assert_close(friction_on(TAGGED(DRAKE("0.3"), "", ""), &floor), 0.3, 0);
    assert_close(friction_on(TAGGED("", "", GAZEBO(" 0.4 ")), &floor), 0.4, 0);
    assert_close(friction_on(TAGGED("", BULLET, ""), &floor), 0.6, 0);
    assert_close(friction_on(TAGGED(DRAKE("0"), BULLET, GAZEBO("0.4")), &floor), 0, 0);
    // A floor with a friction of its own is the scene's word.
    assert_close(friction_on(TAGGED(DRAKE("0.3"), "", ""), &rough), 0.5, 0);
    assert_close(friction_on(TAGGED(DRAKE("0.3"), "", ""), &smooth), 0, 0);
    assert_urdf_refused(TAGGED(DRAKE("-0.3"), "", ""), "of the link 'leg' is '-0.3', but friction is a finite number of 0 or more");
    assert_urdf_refused(TAGGED(DRAKE("nan"), "", ""), "of the link 'leg' is 'nan', but friction");
    assert_urdf_refused(TAGGED("", "", GAZEBO("")), "<mu1> of the link 'leg' is '', but friction");
}

// ---------------------------------------------------------------------------------------------------- geometry and words

// A sphere of radius zero is a point, at any turn of the leg.
static void test_points(void **state) {
    (void)state;
    fixture f = load_text(ROBOT(BASE FLOATS LEG(BALL("0")) HIP));
    char *path = support_join_path(f.directory, "model.xml");
    carom_model *model;
    carom_error error;
    const carom_ground ground = {.friction = 1};
    assert_ok(carom_model_load_with(path, &(carom_model_options){.ground = &ground}, &model, &error), error);
    assert_ok(carom_model_set_state(model, (double[]){0, 0, 0, 1, 0, 0, 0, 0.4}, 8, NULL, 0, &error), error);
    assert_ok(carom_model_lower(model, NULL, NULL, &error), error);
    assert_close(carom_model_qpos(model)[2], 0.05 + 0.2 * cos(0.4), 1e-10);
    carom_impact *impact = detect(model);
    // The rate of the point's height: -x for wy, and the leg's own -0.2 sin(0.4)... at x = 0.1 - 0.2 sin 0.4.
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_close(carom_impact_get_data(impact)->normal[4], -(0.1 - 0.2 * sin(0.4)), 1e-10);
    assert_close(carom_impact_get_data(impact)->normal[6], 0.2 * sin(0.4), 1e-10);
    carom_impact_free(impact);
    carom_model_free(model);
    free(path);
    free_fixture(&f);
    assert_urdf_refused(ROBOT(BASE FLOATS LEG(BALL("-1")) HIP), "<sphere> of the link 'leg' has the size -1, but no size is negative");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG(BALL("nan")) HIP), "<sphere radius=\"nan\">: must be 1 finite number");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG("<collision><geometry><cone/></geometry></collision>") HIP),
                        "<collision> of the link 'leg' needs a <geometry>");
}

static void test_templates_are_refused(void **state) {
    (void)state;
    static const char *const inside[] = {"<xacro:leg n='1'/>", "<link name='${n}_foot'/>", "<gazebo file='$(find dog)/dog.xml'/>",
                                         "<x:macro xmlns:x='http://ros.org/wiki/xacro' name='leg'/>",
                                         "<link name='leg'><collision><geometry><mesh filename='$(find dog)/leg.stl'/></geometry>"
                                         "</collision></link>"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        char text[4096];
        snprintf(text, sizeof text, "<robot xmlns:xacro='http://ros.org/wiki/xacro'>%s</robot>", inside[i]);
        assert_urdf_refused(text, "this is xacro: run xacro first");
    }
    // What xacro leaves behind.
    fixture f = load_text("<robot xmlns:xacro='http://ros.org/wiki/xacro'>" BASE FLOATS "</robot>");
    assert_int_equal(carom_model_nv(f.model), 6);
    free_fixture(&f);
}

static void test_words_for_mistakes(void **state) {
    (void)state;
    assert_urdf_refused(ROBOT(BASE FLOATS "<mujoco><compiler/></mujoco><gazebo><mujoco><compiler/></mujoco></gazebo>"),
                        "<mujoco> counts once, directly in <robot>");
    assert_urdf_refused(ROBOT(BASE FLOATS "<compiler fusestatic='false'/>"), "move its attributes to <robot><mujoco><compiler/>");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG("") JOINT("hip", "floating", "base", "leg", "")),
                        "the floating joint 'hip' starts at the link 'base', but a body can float in the world only");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG("") JOINT("hip", "screw", "base", "leg", "")), "the joint 'hip' has the type 'screw'");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG("") JOINT("hip", "revolute", "bass", "leg", "")),
                        "the parent of the joint 'hip' is the link 'bass', which is not there");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG("") HIP JOINT("knee", "revolute", "base", "leg", "")),
                        "the link 'leg' is the child of two joints, 'hip' and 'knee'");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG("") LINK("toe", INERTIA("1", "1", "1", "1"), "") JOINT("one", "revolute", "toe", "leg", "")
                                  JOINT("two", "revolute", "leg", "toe", "")),
                        "the link 'leg' is in a loop of joints");
    assert_urdf_refused(ROBOT(BASE FLOATS LEG("") LEG("")), "there are two links called 'leg'");
    // MuJoCo's words for the compiler and the options count, others are named.
    fixture f = load_text(ROBOT("<mujoco><compiler boundmass='9'/><option gravity='0 0 -1'/><actuator/></mujoco>" BASE FLOATS));
    assert_true(warns(f.model, "<mujoco> of a URDF may hold compiler, option and size: <actuator> is left out"));
    carom_impact *impact = freeze_link(f.model, "base");
    assert_close(carom_impact_get_data(impact)->mass[0], 9, 0);
    carom_impact_free(impact);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mimic),
        cmocka_unit_test(test_mimic_that_is_refused),
        cmocka_unit_test(test_inertia_that_a_body_can_have),
        cmocka_unit_test(test_inertia_that_no_body_can_have),
        cmocka_unit_test(test_welded_links),
        cmocka_unit_test(test_massless_links),
        cmocka_unit_test(test_friction_tags),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_templates_are_refused),
        cmocka_unit_test(test_words_for_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
