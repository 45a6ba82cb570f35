// SPDX-License-Identifier: Apache-2.0
// Scenes with `model` that are read for an integrator of mechanisms: their contacts, `control`, and what is refused.
#include "scene_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A sled with a hand on two servos, above the floor.
static const char model[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1'/><body name='sled' pos='0 0 1'><freejoint/>"
    "<geom name='sled' type='box' size='0.1 0.1 0.1'/><site name='keel' pos='0 0 -0.1'/>"
    "<body pos='0 0 0.5'><joint name='arm' axis='0 1 0'/><joint name='reach' type='slide' axis='0 0 1'/>"
    "<geom name='hand' size='0.1' condim='4'/></body></body></worldbody>"
    "<actuator><position name='arm' joint='arm' kp='10' ctrllimited='true' ctrlrange='-1 1'/><motor name='reach' joint='reach'/></actuator>"
    "<keyframe><key name='home' ctrl='0.5 3'/></keyframe></mujoco>";

#define DETECTED "contacts: {detect: true}\nsimulate: {integrator: stepping}\n"

static carom_status read_motion(const fixture *it, const char *keys, const carom_integrator *integrator, carom_scene **scene,
                                carom_error *error) {
    char text[1024];
    snprintf(text, sizeof text, "model: sled.xml\n%s\n", keys);
    free(write_bytes(it, "sled.xml", model, strlen(model)));
    char *path = write_bytes(it, "scene.yaml", text, strlen(text));
    const carom_status status = carom_scene_read_motion_for(path, it->registry, integrator, scene, error);
    free(path);
    return status;
}

static int add_integrators(void **state) {
    if (set_up(state)) return 1;
    const fixture *it = *state;
    carom_error error;
    return (int)carom_dynamics_register(it->registry, &error);
}

// The force of the actuators of a scene's motion at a time.
static void assert_actuation(const carom_mechanism *mechanism, double time, double arm, double reach) {
    enum { NV = 8 };
    double mass[NV * NV], damping[NV * NV], stiffness[NV * NV], force[NV], actuation[NV], resistance[NV], friction[NV];
    carom_mechanism_terms terms = {mass, force, actuation, resistance, damping, stiffness, friction, 0, 0};
    void *work;
    carom_error error;
    assert_int_equal(mechanism->nv, NV);
    assert_ok(mechanism->open(mechanism->self, &work, &error), error);
    mechanism->evaluate(work, time, mechanism->position, mechanism->velocity, &terms);
    assert_close(actuation[6], arm, 1e-14);
    assert_close(actuation[7], reach, 1e-14);
    mechanism->close(work);
}

// A keyframe, one list, or rows of a time and the controls.
static void controls_are_read(void **state) {
    static const struct {
        const char *control;
        double time, arm, reach;
    } cases[] = {
        {"control: home", 1, 5, 3},
        {"control: [0.2, -7]", 0, 2, -7},
        {"control: [[0, 0.2, -7], [2, 0.4, 1]]", 0.5, 2.5, -5},
        {"control: [[0, 0.2, -7], [2, 0.4, 1]]", 3, 4, 1},
        {"", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[256];
        snprintf(keys, sizeof keys, DETECTED "%s", cases[i].control);
        carom_scene *scene;
        carom_error error;
        assert_ok(read_motion(*state, keys, NULL, &scene, &error), error);
        const carom_motion *motion = carom_scene_motion(scene);
        assert_int_equal(motion->form, CAROM_MOTION_MECHANISM);
        assert_null(carom_scene_impact(scene));
        assert_actuation(motion->mechanism, cases[i].time, cases[i].arm, cases[i].reach);
        // What the motion leaves out is said, and a control that is not given.
        assert_int_equal(carom_scene_warnings(scene), *cases[i].control ? 1 : 2);
        assert_non_null(strstr(carom_scene_warning(scene, 0), "torsional and rolling friction"));
        carom_scene_free(scene);
    }
}

// Nothing touches at the start, and points may be listed.
static void contacts_follow_the_integrator(void **state) {
    const fixture *it = *state;
    carom_scene *scene;
    carom_error error;
    static const char listed[] = "contacts: [{name: keel, site: keel, normal: [0, 0, 1], friction: 1, offset: 0}]\n";
    assert_ok(read_motion(it, listed, carom_integrator_find(it->registry, "stepping"), &scene, &error), error);
    const carom_mechanism *mechanism = carom_scene_motion(scene)->mechanism;
    void *work;
    carom_touches touches;
    assert_ok(mechanism->open(mechanism->self, &work, &error), error);
    assert_ok(mechanism->detect(work, mechanism->position, 2, &touches, &error), error);
    assert_int_equal(touches.count, 1);
    assert_close(touches.touch[0].gap, 0.9, 1e-15);
    mechanism->close(work);
    carom_scene_free(scene);
    // Another integrator than the scene names needs an impact, and leaves controls out.
    const carom_integrator *inclusion = carom_integrator_find(it->registry, "inclusion");
    assert_refused(read_motion(it, DETECTED, inclusion, &scene, &error), CAROM_BAD_INPUT, error, ":2: contacts: no geoms touch");
    char keys[256];
    snprintf(keys, sizeof keys, "%scontrol: nothing", listed);
    assert_ok(read_motion(it, keys, inclusion, &scene, &error), error);
    bool warned = false;
    for (int i = 0; i < carom_scene_warnings(scene); i++)
        warned = warned || strstr(carom_scene_warning(scene, i), "control: has no effect");
    assert_true(warned);
    carom_scene_free(scene);
}

// Detected contacts of a motion have the coefficients of their pair of names.
static void pairs_of_a_motion_have_their_own_coefficients(void **state) {
    const fixture *it = *state;
    carom_scene *scene;
    carom_error error;
    static const char keys[] =
        "contacts: {detect: true, restitution: 0.1, pairs: [{between: [floor, hand], restitution: 0.5}, {between: [sled, floor], "
        "friction: 0.2}]}\nsimulate: {integrator: stepping}\n";
    assert_ok(read_motion(it, keys, NULL, &scene, &error), error);
    const carom_mechanism *mechanism = carom_scene_motion(scene)->mechanism;
    void *work;
    carom_touches touches;
    assert_ok(mechanism->open(mechanism->self, &work, &error), error);
    assert_ok(mechanism->detect(work, mechanism->position, 2, &touches, &error), error);
    int seen[2] = {0};
    for (int i = 0; i < touches.count; i++) {
        char name[CAROM_MAX_NAME + 1];
        mechanism->name(mechanism->self, &touches.touch[i], name, sizeof name);
        const int hand = !strncmp(name, "hand", 4);
        if (strchr(name, ':') && !strncmp(strchr(name, ':'), ":hand", 5)) continue;
        seen[hand]++;
        assert_close(touches.touch[i].restitution, hand ? 0.5 : 0.1, 0);
        assert_close(touches.touch[i].friction, hand ? 1 : 0.2, 0);
    }
    assert_true(seen[0] >= 4 && seen[1] == 1);
    mechanism->close(work);
    carom_scene_free(scene);
    assert_refused(
        read_motion(it, "contacts: {detect: true, pairs: [{between: [flor, hand], friction: 1}]}\nsimulate: {integrator: stepping}\n", NULL,
                    &scene, &error),
        CAROM_BAD_INPUT, error, ":2: contacts.pairs[0].between: 'flor' is no body or geom of the model; near names: 'floor'");
}

static void bad_keys_are_refused(void **state) {
    static const struct {
        const char *keys, *message;
    } cases[] = {
        {DETECTED "control: [1]", ":4: control: has 1 number, must have 2"},
        {DETECTED "control: [2, 0]", ":4: control: 'arm' gets 2, outside its range from -1 to 1"},
        {DETECTED "control: [[0, 0, 0], [0, 0, 0]]", ":4: control: the times of its rows do not increase: row 2 has 0 s"},
        {DETECTED "control: [[0, 0, 0], [1, 0]]", ":4: control[1]: has 2 numbers, must have 3"},
        {DETECTED "control: [[0, 0, 0], 1]", ":4: control[1]: must be a list"},
        {DETECTED "control: [.inf, 0]", ":4: control[0]: '.inf' is not a finite number"},
        {DETECTED "control: {arm: 1}", ":4: control: must be the name of a keyframe, a list of the 2 controls, or a list of rows"},
        {DETECTED "control: []", ":4: control: must be the name of a keyframe"},
        {DETECTED "control: hom", ":4: control: there is no keyframe called 'hom'"},
        {"contacts: {detect: true, exclude: hnd}\nsimulate: {integrator: stepping}", ":2: contacts: exclude: 'hnd' is no body, geom"},
        {"contacts: [{name: A, geoms: [floor, hand], normal: [0, 0, 1], friction: 1}]\nsimulate: {integrator: stepping}",
         ":2: contacts: contact 'A': contacts of a motion are points of one body"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_scene *scene;
        carom_error error;
        const carom_status status = read_motion(*state, cases[i].keys, NULL, &scene, &error);
        assert_refused(status, status == CAROM_UNSUPPORTED ? CAROM_UNSUPPORTED : CAROM_BAD_INPUT, error, cases[i].message);
        assert_null(scene);
    }
}

// A bare model moves from the state that it is given for an impact.
static void bare_models_move(void **state) {
    const fixture *it = *state;
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_scene_read_motion_for("scenes/quadruped-servos.xml", it->registry, carom_integrator_find(it->registry, "stepping"),
                                          &scene, &error),
              error);
    const carom_mechanism *mechanism = carom_scene_motion(scene)->mechanism;
    assert_int_equal(carom_scene_motion(scene)->form, CAROM_MOTION_MECHANISM);
    assert_close(mechanism->velocity[2], -1, 0);
    carom_scene_free(scene);
    // One that touches nothing hangs where its file has it.
    static const char pendulum[] =
        "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='0.1' pos='1 0 0'/></body></worldbody></mujoco>";
    char *path = write_bytes(it, "pendulum.xml", pendulum, strlen(pendulum));
    assert_ok(carom_scene_read_motion_for(path, it->registry, carom_integrator_find(it->registry, "stepping"), &scene, &error), error);
    assert_close(carom_scene_motion(scene)->mechanism->velocity[0], 0, 0);
    assert_string_equal(carom_scene_get_note(scene, carom_scene_notes(scene) - 1), "the state is the model's initial position, at rest");
    carom_scene_free(scene);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(controls_are_read, add_integrators, tear_down),
        cmocka_unit_test_setup_teardown(contacts_follow_the_integrator, add_integrators, tear_down),
        cmocka_unit_test_setup_teardown(pairs_of_a_motion_have_their_own_coefficients, add_integrators, tear_down),
        cmocka_unit_test_setup_teardown(bad_keys_are_refused, add_integrators, tear_down),
        cmocka_unit_test_setup_teardown(bare_models_move, add_integrators, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
