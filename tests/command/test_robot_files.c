// SPDX-License-Identifier: Apache-2.0
// Robots as files from elsewhere: a free root, a floor, a state by names, and what the command says of bad keys.
#include "command_support.h"

#include <stdlib.h>
#include <string.h>

static const char dog[] =
    "<robot name='dog'><link name='trunk'><inertial><mass value='5'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/>"
    "</inertial><visual><geometry><mesh filename='package://dog/missing.dae'/></geometry></visual>"
    "<collision><geometry><box size='0.4 0.2 0.1'/></geometry></collision></link>"
    "<link name='leg'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0 0 -0.3'/><geometry><sphere radius='0.05'/></geometry></collision></link>"
    "<joint name='knee' type='revolute'><parent link='trunk'/><child link='leg'/><axis xyz='0 1 0'/>"
    "<limit lower='-2' upper='2' effort='1' velocity='1'/></joint></robot>";

#define SCENE(keys, state)                                                                                                                 \
    "model: dog.urdf\n" keys "\nstate:\n  " state "\ncontacts: {detect: true, friction: 0.5}\nimpact: {samples: 64}\n"

// A welded URDF becomes a robot that falls on a floor, in every command.
static void robots_land_on_a_floor(void **state) {
    write_text(*state, "dog.urdf", dog);
    write_text(*state, "scene.yaml", SCENE("root: free\nground: true", "{base: {velocity: [0, 0, -1]}, rates: {knee: 2}, place: ground}"));
    json_t *info = ask(*state, "info", "scene.yaml");
    assert_int_equal(number(info, "nv"), 7);
    assert_int_equal(number(info, "contacts"), 1);
    check_numbers(info, "v", (double[]){0, 0, -1, 0, 0, 0, 2}, 7, 0);
    check_numbers(info, "Jn", (double[]){0, 0, 1, 0, 0, 0, 0}, 7, 1e-12);
    json_decref(info);
    json_t *set = ask(*state, "sample", "scene.yaml");
    assert_string_equal(text(set, "verdict"), "complete");
    json_decref(set);
    // On a slope of 30 degrees that falls towards +x, the leg turned until it is upright against it.
    write_text(*state, "scene.yaml",
               SCENE("root: free\nground: {slope: 30, height: 0.5, friction: 0.25}",
                     "{base: {velocity: [0, 0, -1]}, joints: {knee: 0.5235987755982988}, place: ground}"));
    info = ask(*state, "info", "scene.yaml");
    check_numbers(info, "v", (double[]){0, 0, -1, 0, 0, 0, 0}, 7, 0);
    json_decref(info);
}

static const refusal refusals[] = {
    {"info case.yaml", "case.yaml:2: root: must be 'free'", SCENE("root: floating", "{place: ground}")},
    {"info case.yaml", "case.yaml:2: ground: must be true, false, or a map", SCENE("ground: yes", "{place: ground}")},
    {"info case.yaml", "case.yaml:2: ground.slop: unknown key; did you mean 'slope'?", SCENE("ground: {slop: 1}", "{place: ground}")},
    {"info case.yaml", "case.yaml:2: ground.slope: ", SCENE("ground: {slope: 90}", "{place: ground}")},
    {"info case.yaml", "case.yaml:2: ground.friction: ", SCENE("ground: {friction: -1}", "{place: ground}")},
    {"info case.yaml", "case.yaml:4: state.place: ", SCENE("root: free", "{place: ground}")},
    {"info case.yaml", "there is no ground", SCENE("root: free", "{place: ground}")},
    {"info case.yaml", "nothing can be lowered", SCENE("ground: true", "{place: ground}")},
    {"info case.yaml", "state.base: the model has no free joint", SCENE("ground: true", "{base: {velocity: [0, 0, -1]}}")},
    {"info case.yaml", "case.yaml:5: state.joints.kneee: the model has no joint called 'kneee'; did you mean 'knee'?",
     SCENE("root: free\nground: true", "{joints: {kneee: 1}}")},
    {"info case.yaml", "case.yaml:2: ground: belongs to a scene with 'model'", "matrices: {" FLAT_PARTS "}\nground: true\n"},
};

static void bad_keys_are_refused(void **state) {
    write_text(*state, "dog.urdf", dog);
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(robots_land_on_a_floor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_keys_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
