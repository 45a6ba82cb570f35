// SPDX-License-Identifier: Apache-2.0
// Robots: generated models of every kind, URDF, scenes that detect their contacts, and the shipped robot scenes.
#include "robot_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/compatible.h"

// ---------------------------------------------------------------------------------------------------- generated models

// What a model is expected to give with {detect: true} at its initial state and rest.
static void assert_detects(const char *text, int nv, int contacts) {
    fixture f = load_text(text);
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->nv, nv);
    assert_int_equal(carom_impact_get_data(impact)->contacts, contacts);
    carom_impact_free(impact);
    free_fixture(&f);
}

static void test_model_with_free_ball_and_hinge_joints(void **state) {
    (void)state;
    assert_detects("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.2'><freejoint/><geom size='0.2'/><body pos='1 0 0'><joint type='ball'/>"
                   "<geom size='0.2'/><body pos='1 0 0'><joint axis='0 1 0'/><geom size='0.2'/></body></body></body></worldbody></mujoco>",
                   10, 3);
}

// Rotor inertia is part of M: a slider of 2 kg with 3 kg of it takes an impulse like 5 kg.
static void test_model_with_armature(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.2'><joint type='slide' axis='0 0 1' armature='3'/>"
                          "<geom size='0.2' mass='2'/></body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_close(carom_impact_delassus(impact)[0], 0.2, 1e-15);
    carom_impact_free(impact);
    free_fixture(&f);
}

// A pyramid that stands on its base: MuJoCo finds up to four corners of a mesh on a plane.
static void test_model_with_mesh(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><asset><mesh name='pyramid' vertex='1 0 0 -1 0.8 0 -1 -0.8 0 0 0 1'/></asset><worldbody>" FLOOR
                          "<body><freejoint/><geom name='rock' type='mesh' mesh='pyramid'/></body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const int contacts = carom_impact_get_data(impact)->contacts;
    assert_true(contacts >= 1 && contacts <= 4);
    carom_impact_free(impact);
    free_fixture(&f);
}

static void test_model_with_include(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *included = support_write_file(directory, "ball.xml",
                                        "<mujoco><worldbody><body pos='0 0 0.2'><freejoint/><geom name='ball' size='0.2'/></body>"
                                        "</worldbody></mujoco>");
    char *path = support_write_file(directory, "model.xml", "<mujoco><worldbody>" FLOOR "</worldbody><include file='ball.xml'/></mujoco>");
    carom_error error;
    carom_model *model;
    assert_ok(carom_model_load(path, &model, &error), error);
    carom_impact *impact = detect(model);
    assert_string_equal(carom_impact_get_data(impact)->names[0], "ball");
    carom_impact_free(impact);
    carom_model_free(model);
    free(included);
    free(path);
    support_remove_directory(directory);
}

// A connect constraint closes the loop of a four-bar linkage: one motion is left, so that the outcome has one degree of freedom.
static void test_model_with_closed_loop(void **state) {
    (void)state;
#define LINK(joint, position, inside)                                                                                                      \
    "<body name='" joint "' pos='" position "'><joint name='" joint "' axis='0 1 0'/><inertial pos='0 0 0.5' mass='1' "                    \
    "diaginertia='0.1 0.1 0.1'/>" inside "</body>"
    fixture f = load_text(
        "<mujoco><worldbody>" LINK("left", "0 0 0",
                                   "<body name='bar' pos='0 0 1'><joint name='bar' axis='0 1 0'/>"
                                   "<inertial pos='0.5 0 0' mass='2' diaginertia='0.1 0.1 0.1'/><site name='tip' pos='1 0 0'/>"
                                   "<site name='side' pos='0.5 0 0'/></body>")
            LINK("right", "1 0 0", "") "</worldbody><equality><connect body1='bar' body2='right' anchor='1 0 0'/></equality></mujoco>");
    carom_model_contact wall = site_contact("wall", "side");
    memcpy(wall.normal, (double[]){1, 0, 0}, sizeof wall.normal);
    // A parallelogram: both bars turn at -2 rad/s while the coupler does not turn; it moves at -2 m/s along x.
    set_velocity(f.model, (double[]){-2, 2, -2});
    carom_impact *impact = freeze(f.model, &wall, 1);
    // Seen from the coupler's motion, the mass is 2 kg and (0.1 + 0.25) kg m^2 / (1 m)^2 for each bar.
    assert_close(carom_impact_delassus(impact)[0], 1 / 2.7, 1e-12);
    double *v = resolve(impact);
    assert_all_close(v, ((double[]){0, 0, 0}), 3, 1e-12);
    free(v);
    carom_impact_free(impact);
    free_fixture(&f);
#undef LINK
}

// A mocap body is moved by the user, not by impulses.
static void test_model_with_mocap(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body name='hand' mocap='true'><geom name='palm' type='box' size='0.5 0.5 0.1'/></body>"
                          "<body name='ball' pos='0 0 0.3'><freejoint/><geom name='ball' size='0.2' mass='2'/></body></worldbody>"
                          "<keyframe><key name='away' mpos='0 0 -1' qpos='0 0 0.3 1 0 0 0'/></keyframe></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_close(carom_impact_delassus(impact)[0], 0.5, 1e-15);
    assert_string_equal(carom_impact_get_data(impact)->names[0], "ball");
    carom_impact_free(impact);
    carom_error error;
    assert_ok(carom_model_set_keyframe(f.model, "away", &error), error);
    assert_detection_refused(f.model, "are 1 m apart, more than the margin");
    free_fixture(&f);
}

// condim 1 and friction 0 both mean no friction, although MuJoCo raises the latter to its least coefficient.
static void test_frictionless_model(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><default><geom friction='0'/></default><worldbody>" FLOOR "<body pos='0 0 0.2'><freejoint/>"
                          "<geom name='a' size='0.2'/></body><body pos='9 0 0.2'><freejoint/><geom name='b' size='0.2' condim='1'/></body>"
                          "</worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 2);
    for (int i = 0; i < 2; i++) assert_close(data->friction[i], 0, 0);
    carom_impact_free(impact);
    free_fixture(&f);

    f = load_text("<mujoco><default><geom condim='1'/></default><worldbody>" FLOOR
                  "<body pos='0 0 0.2'><freejoint/><geom size='0.2'/></body>"
                  "</worldbody></mujoco>");
    impact = detect(f.model);
    assert_close(carom_impact_get_data(impact)->friction[0], 0, 0);
    carom_impact_free(impact);
    free_fixture(&f);
}

// 200 balls on the floor. A limit of the number of contacts gives way; since 3.0 a memory for all holds them, which the model may make too
// small.
#if mjVERSION_HEADER < 300
#define ENOUGH_ROOM "<size nconmax='100'/>"
#else
#define ENOUGH_ROOM "<size memory='1M'/>"
#endif
static char *write_many_balls(const char *size) {
    enum { BALLS = 200, ROOM = 1 << 16 };
    char *text = malloc(ROOM);
    int used = snprintf(text, ROOM, "<mujoco>%s<worldbody>" FLOOR "<body pos='0 0 0.1'><freejoint/>", size);
    for (int i = 0; i < BALLS; i++)
        used += snprintf(text + used, (size_t)(ROOM - used), "<geom size='0.1' pos='%d %d 0' mass='1'/>", i % 20, i / 20);
    snprintf(text + used, (size_t)(ROOM - used), "</body></worldbody></mujoco>");
    return text;
}

static void test_model_with_200_contacts(void **state) {
    (void)state;
    char *enough = write_many_balls(ENOUGH_ROOM);
#if mjVERSION_HEADER >= 300
    char *few = write_many_balls("<size memory='100K'/>");
    assert_text_refused(few, "there are more contacts than the model's memory of 102400 bytes holds; add <size memory=");
    free(few);
#endif
    fixture f = load_text(enough);
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 200);
    assert_true(carom_impact_find_contact(impact, "geom200:200") < 0);
    assert_true(carom_impact_find_contact(impact, "geom200") >= 0);
    carom_impact_free(impact);
    free_fixture(&f);
    free(enough);
}

// What a bare model lacks is said, where its geoms touch: not that nothing collides.
static void test_bare_model_says_the_true_error(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><freejoint/><geom name='ball' size='0.1'/></body></worldbody>"
                          "<contact><pair geom1='floor' geom2='ball' friction='1 0.5 0.1 0.1 0.1'/></contact></mujoco>");
    carom_model_start start;
    carom_impact *impact;
    carom_error error;
    assert_refused(carom_model_freeze_bare(f.model, true, &start, &impact, &error), CAROM_BAD_INPUT, error,
                   "a contact pair has different friction along its two tangents, 1 and 0.5");
    free_fixture(&f);
}

// ----------------------------------------------------------------------------------------------------- URDF and scenes

#define INERTIAL        "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define URDF(root, end) "<robot name='arm'>" root "<link name='base'>" INERTIAL "</link>" end "</robot>"
#define ARM                                                                                                                                \
    "<link name='arm'>" INERTIAL "</link><joint name='turn' type='continuous'><parent link='base'/><child link='arm'/>"                    \
    "<axis xyz='0 1 0'/></joint>"

static void test_welded_urdf_root_is_told(void **state) {
    (void)state;
    fixture f = load_text(URDF("", ARM));
    assert_int_equal(carom_model_nv(f.model), 1);
    assert_true(
        warns(f.model,
              "the root link 'base' is welded to the world; to let it move say 'root: free' in the scene, or add <link name=\"world\"/>"));
    assert_true(warns(f.model, "<parent link=\"world\"/><child link=\"base\"/></joint>"));
    free_fixture(&f);

    // A robot need not have a name, and the text before it does not matter.
    f = load_text("<?xml version='1.0'?>\n<!DOCTYPE robot>\n<!-- <mujoco> -->\n<robot><link name='base'>" INERTIAL "</link>" ARM
                  "</robot>");
    assert_true(warns(f.model, "the root link 'base' is welded to the world"));
    free_fixture(&f);

    // The advice works, and so does saying that the weld is meant.
#define ADVICE(type) "<link name='world'/><joint name='root' type='" type "'><parent link='world'/><child link='base'/></joint>"
    f = load_text(URDF(ADVICE("floating"), ARM));
    assert_int_equal(carom_model_nv(f.model), 7);
    assert_int_equal(carom_model_warnings(f.model), 0);
    free_fixture(&f);
    f = load_text(URDF(ADVICE("fixed"), ARM));
    assert_int_equal(carom_model_nv(f.model), 1);
    assert_int_equal(carom_model_warnings(f.model), 0);
    free_fixture(&f);
#undef ADVICE

    char *directory = support_make_directory(), *path = support_write_file(directory, "model.xml", URDF("", ""));
    carom_error error;
    carom_model *model;
    assert_refused(carom_model_load(path, &model, &error), CAROM_BAD_INPUT, error, "nothing can move; the root link 'base' is welded");
    free(path);
    support_remove_directory(directory);
}

static carom_scene *read_scene(const char *path, carom_registry *registry) {
    carom_error error;
    carom_scene *scene;
    assert_ok(carom_scene_read(path, registry, &scene, &error), error);
    return scene;
}

static void assert_scene_refused(const char *directory, const carom_registry *registry, const char *text, const char *message) {
    char *path = support_write_file(directory, "scene.yaml", text);
    carom_error error;
    carom_scene *scene;
    assert_refused(carom_scene_read(path, registry, &scene, &error), CAROM_BAD_INPUT, error, message);
    free(path);
}

// Scenes that take the position of a keyframe and their own velocity, with every key of detected contacts.
static void test_detecting_scenes(void **state) {
    (void)state;
    fixture f =
        load_text("<mujoco><worldbody>" FLOOR CUBE("") "</worldbody><keyframe><key name='down' qpos='0 0 0.5 1 0 0 0' qvel='0 0 -9 0 0 "
                                                       "0'/><key name='up' qpos='0 0 0.51 1 0 0 0'/></keyframe></mujoco>");
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
#define SCENE(key, contacts) "model: model.xml\nstate: {key: " key ", qvel: [0.1, 0, -1, 0, 0, 0]}\ncontacts: " contacts "\n"
    char *path = support_write_file(f.directory, "scene.yaml", SCENE("up", "{detect: true, margin: 0.02, friction: 0.25, restitution: 1}"));
    carom_scene *scene = read_scene(path, registry);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    assert_int_equal(data->contacts, 4);
    assert_all_close(data->velocity, ((double[]){0.1, 0, -1, 0, 0, 0}), 6, 0);
    assert_close(data->friction[3], 0.25, 0);
    assert_close(data->restitution[3], 1, 0);
    carom_scene_free(scene);
    free(path);

    assert_scene_refused(f.directory, registry, SCENE("up", "{detect: true}"), "scene.yaml:3: contacts: no geoms touch");
    assert_scene_refused(f.directory, registry, SCENE("down", "{detect: false}"), "contacts.detect: must be true");
    assert_scene_refused(f.directory, registry, SCENE("down", "{margin: 1}"), "detect");
    assert_scene_refused(f.directory, registry, SCENE("down", "{detect: true, margin: -1}"), "contacts.margin");
    assert_scene_refused(f.directory, registry, SCENE("down", "{detect: true, frition: 1}"), "did you mean 'friction'");
    assert_scene_refused(f.directory, registry, SCENE("down", "3"), "or {detect: true}");
#undef SCENE
    carom_registry_free(registry);
    free_fixture(&f);
}

// Without a state, the model is at its initial position and at rest; without contacts, its joints at their stops are all there is.
static void test_scenes_that_leave_out(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><joint type='slide' axis='0 0 1' limited='true' range='0 1'/>"
                          "<geom name='ball' size='0.1'/></body></worldbody></mujoco>");
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    static const struct {
        const char *text;
        int contacts;
        double velocity;
    } cases[] = {
        {"model: model.xml\ncontacts: {detect: true}\n", 2, 0},
        {"model: model.xml\nstate: {}\ncontacts: {detect: true}\n", 2, 0},
        {"model: model.xml\nstate: {qvel: [-2]}\ncontacts: []\n", 1, -2},
        {"model: model.xml\ncontacts: []\n", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = support_write_file(f.directory, "scene.yaml", cases[i].text);
        carom_scene *scene = read_scene(path, registry);
        const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
        assert_int_equal(data->contacts, cases[i].contacts);
        assert_close(data->velocity[0], cases[i].velocity, 0);
        assert_string_equal(data->names[data->contacts - 1], "LIMIT:joint0");
        carom_scene_free(scene);
        free(path);
    }
    // The ball at 0.5 m is at no stop.
    assert_scene_refused(f.directory, registry, "model: model.xml\nstate: {qpos: [0.5]}\ncontacts: []\n",
                         "scene.yaml:3: contacts: an impact needs 1 to 1024 contacts, not 0; no joint is at its stop");
    carom_registry_free(registry);
    free_fixture(&f);
}

// Warnings of the model become warnings of the scene, with file, line and key.
static void test_scenes_pass_warnings_on(void **state) {
    (void)state;
    fixture f = load_text(URDF("", ARM));
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    char *path =
        support_write_file(f.directory, "scene.yaml",
                           "model: model.xml\nstate: {qvel: [1]}\ncontacts: [{name: A, body: arm, point: [1, 0, 0], normal: [0, 0, 1], "
                           "friction: 0}]\n");
    carom_scene *scene = read_scene(path, registry);
    assert_int_equal(carom_scene_warnings(scene), 1);
    assert_non_null(strstr(carom_scene_warning(scene, 0), "scene.yaml:1: model: the root link 'base' is welded to the world"));
    carom_scene_free(scene);
    carom_registry_free(registry);
    free(path);
    free_fixture(&f);
}

// A shipped robot: contacts by name, no warning, and sampling with the scene's settings that always ends.
static void check_shipped_robot(const char *path, int nv, int tangent_dim, int contacts, const char *const *names) {
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_scene *scene = read_scene(path, registry);
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(carom_scene_warnings(scene), 0);
    assert_int_equal(data->nv, nv);
    assert_int_equal(data->tangent_dim, tangent_dim);
    assert_int_equal(data->contacts, contacts);
    for (int i = 0; i < contacts; i++) assert_true(carom_impact_find_contact(impact, names[i]) >= 0);

    carom_sample_options options = carom_sample_defaults();
    options.samples = 500;
    options.step = 1;
    carom_sample_statistics statistics;
    assert_ok(carom_reach_sample(impact, &options, registry, NULL, NULL, &statistics, &error), error);
    assert_int_equal(statistics.counts.unsolved, 0);
    assert_true(statistics.counts.terminated >= 495);
    assert_true(statistics.max_relative_energy_gain <= 1e-12);
    carom_scene_free(scene);
    carom_registry_free(registry);
}

static void test_shipped_robots(void **state) {
    (void)state;
    check_shipped_robot("scenes/quadruped.yaml", 18, 2, 4, (const char *[]){"front_left", "front_right", "hind_left", "hind_right"});
    check_shipped_robot("scenes/biped.yaml", 9, 1, 4, (const char *[]){"left_heel", "left_toe", "right_heel", "right_toe"});
    check_shipped_robot(
        "scenes/box-on-box.yaml", 12, 2, 8,
        (const char *[]){"lower:1", "lower:2", "lower:3", "lower:4", "lower:upper:1", "lower:upper:2", "lower:upper:3", "lower:upper:4"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_with_free_ball_and_hinge_joints),
        cmocka_unit_test(test_model_with_armature),
        cmocka_unit_test(test_model_with_mesh),
        cmocka_unit_test(test_model_with_include),
        cmocka_unit_test(test_model_with_closed_loop),
        cmocka_unit_test(test_model_with_mocap),
        cmocka_unit_test(test_frictionless_model),
        cmocka_unit_test(test_model_with_200_contacts),
        cmocka_unit_test(test_bare_model_says_the_true_error),
        cmocka_unit_test(test_welded_urdf_root_is_told),
        cmocka_unit_test(test_detecting_scenes),
        cmocka_unit_test(test_scenes_that_leave_out),
        cmocka_unit_test(test_scenes_pass_warnings_on),
        cmocka_unit_test(test_shipped_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
