// SPDX-License-Identifier: Apache-2.0
// Bare models: every command takes an MJCF or URDF file in place of a scene, and says what state it chose.
#include "bare_models.h"
#include "command_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_model(const char *directory, const bare_model *model) {
    write_text(directory, model->name, model->text);
    if (model->other_name) write_text(directory, model->other_name, model->other_text);
}

// Each kind of model gives a set without an unsolved sample, and says how its state came about.
static void every_kind_of_model_gives_a_set(void **state) {
    for (const bare_model *model = bare_models; model < bare_models + BARE_MODELS; model++) {
        write_model(*state, model);
        report r = run(*state, "sample", model->name, "--samples", "32", "--json");
        if (r.status || !strstr(r.err, model->story)) fprintf(stderr, "%s: status %d\n%s", model->name, r.status, r.err);
        assert_int_equal(r.status, 0);
        check_text(r.err, model->story);
        check_text(r.err, "carom: note: ");
        json_t *document = parse(&r);
        assert_int_equal(number(document, "samples"), 32);
        assert_int_equal(number(document, "terminated"), 32);
        assert_int_equal(number(document, "unsolved"), 0);
        json_decref(document);
        release(&r);
    }
}

// The nearest contact approaches at 1 m/s; the velocity is the one of least kinetic energy, 1 / (2 n M^-1 n').
static void the_nearest_pair_approaches_at_one_metre_per_second(void **state) {
    write_text(*state, "arm.xml",
               "<mujoco><worldbody>" GROUND ARM("") "</worldbody><contact><exclude body1='base' body2='upper'/></contact></mujoco>");
    report r = run(*state, "info", "arm.xml", "--json");
    assert_int_equal(r.status, 0);
    json_t *info = parse(&r);
    assert_close(number(info, "normal_velocity.0"), -1, 1e-12);
    assert_close(number(info, "kinetic_energy"), 0.5 / number(info, "W.0.0"), 1e-12);
    json_decref(info);
    release(&r);
}

// A wheel that turns against a post that it touches comes no nearer, but for round-off of its place: the hand behind it is what approaches.
static void links_that_turn_against_each_other_do_not_approach(void **state) {
    write_text(*state, "wheel.xml",
               "<mujoco><worldbody><geom name='post' size='0.05' pos='0.05 0 0'/><geom name='table' type='box' size='0.1 0.1 0.05' "
               "pos='0.5 0 -0.1'/><body name='wheel'><joint name='turn' axis='0 0 1'/><geom name='rim' size='0.05' pos='0.15 1e-8 0'/>"
               "<body name='arm' pos='0.15 0 0'><joint name='bend' axis='0 1 0'/><geom name='hand' size='0.05' pos='0.35 0 0'/></body>"
               "</body></worldbody></mujoco>");
    report r = run(*state, "info", "wheel.xml", "--json");
    assert_int_equal(r.status, 0);
    check_text(r.err, "where 'hand' approaches at 1 m/s");
    json_t *info = parse(&r);
    assert_string_equal(text(info, "contact_names.0"), "rim");
    assert_close(number(info, "normal_velocity.1"), -1, 1e-12);
    assert_close(number(info, "kinetic_energy"), 0.5 / number(info, "W.3.3"), 1e-12);
    json_decref(info);
    release(&r);
}

// Text of `info` says it, too, and every command that needs an impact takes the model; its name is that of the file.
static void every_command_takes_a_model(void **state) {
    static const char *const lines[] = {
        "$carom info free_base.xml",
        "$carom resolve free_base.xml --law routh",
        "$carom compare keyframe.xml --samples 64",
        "$carom exact planar_root.xml --seconds 20",
        "$carom sample keyframe.xml --samples 64 -o set.h5 && $carom query set.h5 --max Jn.geom1",
        "$carom hodograph keyframe.xml",
    };
    for (const bare_model *model = bare_models; model < bare_models + BARE_MODELS; model++) write_model(*state, model);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[1024];
        snprintf(line, sizeof line, "{ %s; } 2> err.txt || { cat err.txt >&2; exit 2; }", lines[i]);
        char *out = run_line(*state, 0, line), *err = read_file(*state, "err.txt");
        check_text(err, "the state is the model's ");
        if (i == 0) check_text(err, "the state is the model's initial position, lowered by 0.27 m until it touches, with 1 m/s downwards");
        if (i == 0) check_text(out, "free_base: 4 contacts");
        if (i == 0) assert_null(strstr(out, "the state is"));
        free(out);
        free(err);
    }
}

// A model is one by what it holds, not by its name.
static void models_are_recognised_by_content(void **state) {
    write_text(*state, "robot",
               "\n <?xml version='1.0'?>\n<!-- a ball --> <mujoco><worldbody>" GROUND
               "<body pos='0 0 1'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>\n");
    report r = run(*state, "sample", "robot", "--samples", "8");
    assert_int_equal(r.status, 0);
    check_text(r.out, "robot: 8 of 8 samples");
    release(&r);
    write_text(*state, "part.xml", "<mujocoinclude><worldbody/></mujocoinclude>");
    write_text(*state, "page.yaml", "<html><p>404</p></html>");
    write_text(*state, "world.sdf", "<sdf version='1.6'><model name='a'/></sdf>");
    write_text(*state, "broken.xml", "<mujoco><worldbody><body>");
    write_text(*state, "still.xml", "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>");
    write_text(*state, "alone.xml",
               "<mujoco><worldbody><body><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody>"
               "</mujoco>");
    // Links of an arm that are close say nothing about it; a state that cannot be an impact says why.
    write_text(*state, "wrist.xml",
               "<mujoco><option gravity='0 0 0'/><worldbody><body><joint axis='0 1 0'/><geom name='upper' type='capsule' size='0.05' "
               "fromto='0 0 0 0.4 0 0'/><body pos='0.5 0 0'><joint axis='0 1 0'/><geom type='capsule' size='0.03' fromto='0 0 0 0.1 0 0'/>"
               "<body pos='0.1 0 0'><joint axis='0 1 0'/><geom name='hand' size='0.03' pos='0 0 0.1'/></body></body></body></worldbody>"
               "</mujoco>");
    write_text(*state, "strange.xml",
               "<mujoco><worldbody>" GROUND "<body pos='0 0 0.1'><joint axis='1 0 0'/><geom name='foot' size='0.1' pos='0 0.1 0'/></body>"
               "</worldbody><contact><pair geom1='floor' geom2='foot' friction='1 2 0.1 0.1 0.1'/></contact></mujoco>");
    static const refusal refusals[] = {
        {"info wrist.xml", "0.1436 m apart; write a scene", NULL},
        {"info wrist.xml", "write a scene that says where it touches", NULL},
        {"info strange.xml", "a contact pair has different friction along its two tangents, 1 and 2", NULL},
        {"sample part.xml", "is a part of a model (root element 'mujocoinclude') that other files include", NULL},
        {"info page.yaml", "is XML, but no model", NULL},
        {"info world.sdf", "world.sdf: is XML, but no model: the root element of MJCF is 'mujoco', of URDF 'robot'", NULL},
        {"sample broken.xml", "broken.xml: XML", NULL},
        {"sample still.xml", "still.xml: the model has no joints", NULL},
        {"sample alone.xml", "says where it touches, and 'root: free' in it lets a robot move", NULL},
    };
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
}

// A set of a model is that of the scene with its state and contacts, and names its file.
static void a_model_is_its_scene(void **state) {
    write_text(*state, "ball.xml",
               "<mujoco><worldbody>" GROUND "<body pos='0 0 0.1'><freejoint/><geom size='0.1'/></body></worldbody>"
               "<keyframe><key name='k' qpos='0 0 0.1 1 0 0 0' qvel='0.3 0.1 -0.7 1 2 0'/></keyframe></mujoco>");
    write_text(*state, "ball.yaml", "model: ball.xml\nstate: {key: k}\ncontacts: {detect: true}\n");
    report bare = run(*state, "sample", "ball.xml", "--samples", "256", "--json");
    report told = run(*state, "sample", "ball.yaml", "--samples", "256", "--json");
    json_t *scene = parse(&told), *model = parse(&bare);
    assert_string_equal(text(model, "digest"), text(scene, "digest"));
    json_decref(scene);
    json_decref(model);
    release(&bare);
    release(&told);
}

// Where nothing approaches, the commands that ask for outcomes say so: at rest, and where everything separates.
static void states_in_which_nothing_approaches_are_named(void **state) {
    write_text(*state, "rest.yaml", STILL_SCENE);
    write_text(*state, "apart.yaml", "matrices: {M: [[1, 0], [0, 1]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.5], v: [0, 1]}\n");
    static const char *const commands[][3] = {{"sample"}, {"resolve", "--law", "routh"}, {"compare"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        report rest = run(*state, commands[i][0], "rest.yaml", "--json", commands[i][1], commands[i][2]);
        report apart = run(*state, commands[i][0], "apart.yaml", "--json", commands[i][1], commands[i][2]);
        assert_int_equal(count_text(rest.err, "no contact approaches"), 1);
        check_text(rest.err, "every contact is at rest, and the velocity stays as it is");
        assert_int_equal(count_text(apart.err, "no contact approaches"), 1);
        check_text(apart.err, "nothing collides in this state, and the velocity stays as it is");
        release(&rest);
        release(&apart);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_of_model_gives_a_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_nearest_pair_approaches_at_one_metre_per_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_that_turn_against_each_other_do_not_approach, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_command_takes_a_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(models_are_recognised_by_content, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_model_is_its_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_in_which_nothing_approaches_are_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
