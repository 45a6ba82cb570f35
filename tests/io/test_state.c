// SPDX-License-Identifier: Apache-2.0
// The key `state` of a scene: joints by names, the base, keyframes below them, and where the robot stands.
#include "carom/model.h"
#include "scene_support.h"

static const char ROBOT[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1'/>"
    "<body name='trunk' pos='0 0 2'><freejoint/><geom name='trunk' size='0.2'/><site name='nose' pos='0.3 0 0'/>"
    "<body name='leg'><joint name='knee_left' type='hinge' axis='0 1 0'/><geom name='shin' type='capsule' size='0.05' fromto='0 0 0 0 0 "
    "-1'/>"
    "<body name='tip' pos='0 0 -1'><joint name='ankle' type='ball'/><geom name='toe' size='0.1'/></body></body>"
    "<body name='arm' pos='0 0.5 0'><joint name='slider' type='slide' axis='0 0 1'/><geom name='hand' size='0.05'/></body></body>"
    "<body name='ball' pos='3 0 1'><freejoint/><geom name='ball' size='0.1'/></body></worldbody>"
    "<keyframe><key name='crouch' qpos='1 0 3 1 0 0 0  0.5  1 0 0 0  0.1  3 0 1 1 0 0 0' "
    "qvel='0 0 -1 0 0 0  0.25  0 0 0  0.125  0 0 0 0 0 0'/></keyframe></mujoco>";

// A scene of the robot with this state, whose only contact does not matter.
static void write_scene(char *text, size_t size, const char *state) {
    snprintf(text, size, "model: robot.xml\nstate:\n  %s\ncontacts: [{name: A, geom: toe, normal: [0, 0, 1], friction: 1}]\n", state);
}

static carom_scene *read_state(const fixture *it, const char *state) {
    char text[2048];
    write_scene(text, sizeof text, state);
    carom_scene *scene = NULL;
    carom_error error;
    free(support_write_file(it->directory, "robot.xml", ROBOT));
    assert_ok(read_bytes(it, text, strlen(text), &scene, &error), error);
    return scene;
}

static void assert_state_refused(const fixture *it, const char *state, const char *fragment) {
    char text[2048];
    write_scene(text, sizeof text, state);
    carom_scene *scene = NULL;
    carom_error error;
    free(support_write_file(it->directory, "robot.xml", ROBOT));
    assert_refused(read_bytes(it, text, strlen(text), &scene, &error), CAROM_BAD_INPUT, error, fragment);
}

static void assert_positions(const fixture *it, const char *state, const double *expected) {
    carom_scene *scene = read_state(it, state);
    assert_all_close(carom_model_qpos(carom_scene_model(scene)), expected, 20, 1e-11);
    carom_scene_free(scene);
}

static void assert_velocities(const fixture *it, const char *state, const double *expected) {
    carom_scene *scene = read_state(it, state);
    assert_all_close(carom_impact_get_data(carom_scene_impact(scene))->velocity, expected, 17, 1e-15);
    carom_scene_free(scene);
}

#define BALL_AT     3, 0, 1, 1, 0, 0, 0
#define NO_ROTATION 1, 0, 0, 0

static void joints_have_names(void **state) {
    // A quaternion need not have unit length.
    assert_positions(*state, "joints: {knee_left: -0.5, ankle: [0, 2, 0, 0], slider: 0.25}",
                     (double[]){0, 0, 2, NO_ROTATION, -0.5, 0, 1, 0, 0, 0.25, BALL_AT});
    assert_velocities(*state, "rates: {slider: 0.5, knee_left: -3, ankle: [1, 2, 3]}",
                      (double[]){0, 0, 0, 0, 0, 0, -3, 1, 2, 3, 0.5, 0, 0, 0, 0, 0, 0});
    // A second free body is a joint that has the name of its body.
    assert_positions(*state, "joints: {ball: [1, 2, 3, 1, 0, 0, 0]}",
                     (double[]){0, 0, 2, NO_ROTATION, 0, NO_ROTATION, 0, 1, 2, 3, NO_ROTATION});
}

static void the_base_is_the_first_free_joint(void **state) {
    assert_positions(*state, "base: {position: [1, 2, 3], quaternion: [0, 0, 0, 1]}",
                     (double[]){1, 2, 3, 0, 0, 0, 1, 0, NO_ROTATION, 0, BALL_AT});
    assert_velocities(*state, "base: {velocity: [1, 2, 3], angular_velocity: [4, 5, 6]}",
                      (double[]){1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

// Key, then vectors, then names, then the place: each changes what it names.
static void parts_of_a_state_combine(void **state) {
    assert_positions(*state, "{key: crouch, joints: {slider: 0.5}, base: {position: [0, 0, 4]}}",
                     (double[]){0, 0, 4, NO_ROTATION, 0.5, NO_ROTATION, 0.5, BALL_AT});
    assert_velocities(*state, "{key: crouch, rates: {knee_left: 1}, base: {velocity: [0, 0, -2]}}",
                      (double[]){0, 0, -2, 0, 0, 0, 1, 0, 0, 0, 0.125, 0, 0, 0, 0, 0, 0});
    assert_velocities(*state, "{key: crouch, qvel: [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], rates: {slider: 7}}",
                      (double[]){9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0});
}

static void robots_are_placed(void **state) {
    assert_positions(*state, "place: ground", (double[]){0, 0, 1.1, NO_ROTATION, 0, NO_ROTATION, 0, BALL_AT});
    assert_positions(*state, "{joints: {knee_left: 1.5707963267948966}, place: ground}",
                     (double[]){0, 0, 0.2, NO_ROTATION, 1.5707963267948966, NO_ROTATION, 0, BALL_AT});
    assert_positions(*state, "{key: crouch, joints: {knee_left: 0}, place: nose}",
                     (double[]){1, 0, 0, NO_ROTATION, 0, NO_ROTATION, 0.1, BALL_AT});
    assert_positions(*state, "place: hand", (double[]){0, 0, 0.05, NO_ROTATION, 0, NO_ROTATION, 0, BALL_AT});
    // The ball falls alone.
    assert_positions(*state, "place: ball", (double[]){0, 0, 2, NO_ROTATION, 0, NO_ROTATION, 0, 3, 0, 0.1, NO_ROTATION});
}

static void bad_states_are_refused(void **state) {
    static const char *const cases[][2] = {
        {"joints: {knee_lef: 1}", ":3: state.joints.knee_lef: the model has no joint called 'knee_lef'; did you mean 'knee_left'?"},
        {"rates: {elbow: 1}", ":3: state.rates.elbow: the model has no joint called 'elbow'; its joints are trunk, knee_left, ankle"},
        {"joints: {knee_left: [1, 2]}", ":3: state.joints.knee_left: must be a number"},
        {"joints: {ankle: 1}", ":3: state.joints.ankle: must be a list"},
        {"joints: {ankle: [1, 2, 3]}", ":3: state.joints.ankle: has 3 numbers, must have 4"},
        {"rates: {ankle: [1, 2, 3, 4]}", ":3: state.rates.ankle: has 4 numbers, must have 3"},
        {"joints: {ankle: [0, 0, 0, 0]}", ":3: state.joints.ankle: a quaternion [w, x, y, z] needs a finite length"},
        {"joints: {knee_left: x}", ":3: state.joints.knee_left: "},
        {"joints: 3", ":3: state.joints: must be a map"},
        {"base: {position: [1, 2]}", ":3: state.base.position: has 2 numbers, must have 3"},
        {"base: {positon: [1, 2, 3]}", ":3: state.base.positon: unknown key; did you mean 'position'?"},
        {"base: {quaternion: [0, 0, 0, 0]}", ":3: state.base.quaternion: a quaternion [w, x, y, z] needs"},
        {"{key: crouch, qpos: [1]}", "'key' and 'qpos' both give the position"},
        {"place: noze", ":3: state.place: there is neither a geom nor a site called 'noze'"},
        {"place: grund", "did you mean 'ground'?"},
        {"place: floor", ":3: state.place: "},
        {"plase: ground", ":3: state.plase: unknown key; did you mean 'place'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_state_refused(*state, cases[i][0], cases[i][1]);

    // A model without a free joint has no base.
    const fixture *it = *state;
    const char *text = "model: block.xml\nstate: {base: {velocity: [0, 0, 1]}}\n"
                       "contacts: [{name: A, site: left, normal: [0, 0, 1], friction: 1}]\n";
    carom_scene *scene = NULL;
    carom_error error;
    assert_refused(read_bytes(it, text, strlen(text), &scene, &error), CAROM_BAD_INPUT, error,
                   ":2: state.base: the model has no free joint");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(joints_have_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_base_is_the_first_free_joint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_of_a_state_combine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(robots_are_placed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_states_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
