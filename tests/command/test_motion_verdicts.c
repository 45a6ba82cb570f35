// SPDX-License-Identifier: Apache-2.0
// What `carom simulate` says of motions that went wrong, of restitution, of actuators with states and of what is given and not used.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Does one of the caveats have these words?
static bool has_caveat(const json_t *answer, const char *words) {
    for (size_t i = 0; i < (size_t)length(answer, "caveats"); i++)
        if (strstr(json_string_value(json_array_get(at(answer, "caveats"), i)), words)) return true;
    return false;
}

// ---------------------------------------------------------------------------------------------------------------- verdicts

// Two links that are not parent and child overlap by 53.9 mm where the arm stands: their capsules of 0.05 and 0.04 m have their ends
// hypot(0.02, 0.03) m apart.
#define ARM(in_model)                                                                                                                      \
    "<mujoco><worldbody><body name='base'><joint name='j0' axis='0 1 0'/>"                                                                 \
    "<geom name='stem' type='capsule' fromto='0 0 0 0 0 0.1' size='0.05' mass='1'/><body name='mid' pos='0 0 0.1'>"                        \
    "<joint name='j1' axis='0 1 0'/><geom type='sphere' size='0.02' mass='0.1' contype='0' conaffinity='0'/>"                              \
    "<body name='tip' pos='0 0 0.02'><joint name='j2' axis='0 1 0'/><geom name='finger' type='capsule' fromto='0.03 0 0 0.1 0 0' "         \
    "size='0.04' mass='1'/></body></body></body></worldbody>" in_model "</mujoco>"
#define ARM_SCENE(contacts)                                                                                                                \
    "model: arm.xml\nstate: {}\ncontacts: {detect: true" contacts "}\nsimulate: {integrator: stepping, duration: 0.2}\n"

static void links_that_overlap_are_named_with_their_remedy(void **state) {
    write_text(*state, "arm.xml", ARM(""));
    write_text(*state, "arm.yaml", ARM_SCENE(""));
    json_t *answer = ask_for(1, *state, "simulate", "arm.yaml");
    assert_false(is_true(answer, "complete"));
    assert_true(has_caveat(answer, "<contact><exclude body1=\"base\" body2=\"tip\"/></contact>"));
    assert_true(has_caveat(answer, "'stem:finger"));
    assert_true(has_caveat(answer, "by 53.9 mm at the start"));
    check_text(text(answer, "message"), "contacts penetrate");
    assert_true(number(answer, "penetration_work") > 0);
    json_decref(answer);
    // Both remedies.
    write_text(*state, "apart.yaml", ARM_SCENE(", self: false"));
    answer = ask(*state, "simulate", "apart.yaml");
    assert_int_equal(length(answer, "caveats"), 0);
    assert_string_equal(text(answer, "message"), "");
    json_decref(answer);
    write_text(*state, "arm.xml", ARM("<contact><exclude body1='base' body2='tip'/></contact>"));
    answer = ask(*state, "simulate", "arm.yaml");
    assert_string_equal(text(answer, "verdict"), "complete");
    json_decref(answer);
}

// A box of 1 kg, side 0.2 m, whose bottom is at a height above a plane, or below it.
#define BOX(height)                                                                                                                        \
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='box' pos='0 0 " height "'><freejoint name='box'/>"                    \
    "<geom name='box' type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody></mujoco>"
#define BOX_SCENE "model: box.xml\nstate: {}\ncontacts: {detect: true}\nsimulate: {integrator: stepping, duration: 2}\n"

// What is lifted out of the floor has gained m g times the depth; what stands on it nothing.
static void penetration_that_is_taken_back_is_energy(void **state) {
    write_text(*state, "box.xml", BOX("0.02"));
    write_text(*state, "box.yaml", BOX_SCENE);
    json_t *answer = ask_for(1, *state, "simulate", "box.yaml", "--duration", "10");
    assert_string_equal(text(answer, "verdict"), "energy-limit");
    assert_true(has_caveat(answer, "penetrates by 80 mm at the start"));
    assert_close(number(answer, "penetration_work"), 9.81 * 0.08, 0.02);
    assert_close(number(answer, "max_energy_excess"), 9.81 * 0.08, 0.02);
    json_decref(answer);
    // Limits that allow it.
    answer = ask(*state, "simulate", "box.yaml", "--energy-limit", "10", "--penetration-limit", "1");
    json_decref(answer);
    write_text(*state, "box.xml", BOX("0.1"));
    answer = ask(*state, "simulate", "box.yaml");
    assert_string_equal(text(answer, "verdict"), "complete");
    assert_true(number(answer, "penetration_work") < 1e-9);
    assert_int_equal(length(answer, "caveats"), 0);
    json_decref(answer);
    // A millimetre is no reason to doubt a motion.
    write_text(*state, "box.xml", BOX("0.099"));
    answer = ask(*state, "simulate", "box.yaml");
    assert_close(number(answer, "penetration_work"), 9.81 * 0.001, 1e-4);
    json_decref(answer);
}

// A body that tumbles fast gains energy by explicit gyroscopic forces, unless they are those of the middle of a step.
static void energy_that_the_step_adds_is_said(void **state) {
    write_text(*state, "spin.xml",
               "<mujoco><option gravity='0 0 0'/><worldbody><body name='box'><freejoint/>"
               "<geom type='box' size='0.1 0.2 0.4' mass='1'/></body></worldbody></mujoco>");
    write_text(*state, "spin.yaml",
               "model: spin.xml\nstate: {qvel: [0, 0, 0, 20, 30, 10]}\ncontacts: {detect: true}\n"
               "simulate: {integrator: stepping, duration: 5}\n");
    json_t *answer = ask_for(1, *state, "simulate", "spin.yaml");
    assert_string_equal(text(answer, "verdict"), "energy-limit");
    check_text(text(answer, "message"), "the energy grew beyond the work of actuators and damping");
    json_decref(answer);
    answer = ask(*state, "simulate", "spin.yaml", "--gyroscopic", "middle");
    assert_string_equal(text(answer, "verdict"), "complete");
    json_decref(answer);
}

// A motor that lifts a weight adds energy by its work, which is no gain.
static void work_of_actuators_is_no_gain(void **state) {
    write_text(*state, "lift.xml",
               "<mujoco><worldbody><body><joint name='z' type='slide' axis='0 0 1'/><geom size='0.1' mass='1'/></body></worldbody>"
               "<actuator><motor joint='z'/></actuator></mujoco>");
    write_text(*state, "lift.yaml",
               "model: lift.xml\nstate: {}\ncontacts: {detect: true}\ncontrol: [29.81]\nsimulate: {integrator: stepping, duration: 1}\n");
    json_t *answer = ask(*state, "simulate", "lift.yaml");
    assert_close(number(answer, "final.qpos.0"), 10, 0.02);
    assert_close(number(answer, "final.actuator_work"), 298.1, 1);
    json_decref(answer);
}

// --------------------------------------------------------------------------------------------------------------- ensembles

#define BALL(height) "body: {mass: 1, shape: {ellipsoids: [{semiaxes: [1, 1, 1]}]}}\ninitial: {position: [0, 0, " height "]}\n"

// Starts below the plane are refused, and the other members are kept.
static void members_that_fail_leave_the_others(void **state) {
    write_text(*state, "ball.yaml", BALL("3") "simulate: {integrator: lgvci, duration: 1}\n");
    json_t *answer = ask_for(1, *state, "simulate", "ball.yaml", "--ensemble", "12", "--perturb", "2");
    assert_string_equal(text(answer, "verdict"), "incomplete");
    assert_int_equal(length(answer, "ensemble.members"), 12);
    int complete = 0, refused = 0;
    for (size_t i = 0; i < 12; i++) {
        const json_t *member = json_array_get(at(answer, "ensemble.members"), i);
        assert_int_equal(number(member, "index"), i);
        const bool good = !strcmp(text(member, "verdict"), "complete");
        complete += good;
        refused += !good;
        if (!good) check_text(text(member, "message"), "the body penetrates the plane at the start");
    }
    assert_true(complete > 0 && refused > 0);
    assert_int_equal(number(answer, "ensemble.verdicts.complete"), complete);
    assert_int_equal(number(answer, "ensemble.verdicts.incomplete"), refused);
    json_decref(answer);
}

// Members that gain energy make an ensemble incomplete, although all got to the end.
static void members_that_gain_energy_count(void **state) {
    write_text(*state, "box.xml", BOX("0.02"));
    write_text(*state, "box.yaml", BOX_SCENE);
    json_t *answer = ask_for(1, *state, "simulate", "box.yaml", "--ensemble", "2");
    assert_int_equal(number(answer, "ensemble.verdicts.energy-limit"), 2);
    check_text(text(answer, "ensemble.members.0.message"), "penetrate");
    json_decref(answer);
}

// -------------------------------------------------------------------------------------------------------------- restitution

// A ball of 1 kg between walls 1.8 m apart, without gravity; it is 0.1 m in radius, so it has 0.8 m to each side, then 1.6 m.
#define BETWEEN                                                                                                                            \
    "<mujoco><option gravity='0 0 0'/><worldbody><geom name='lw' type='box' size='0.1 1 1' pos='-1 0 0'/>"                                 \
    "<geom name='rw' type='box' size='0.1 1 1' pos='1 0 0'/>"                                                                              \
    "<body name='ball'><freejoint/><geom name='ball' type='sphere' size='0.1' mass='1'/></body></worldbody></mujoco>"
#define BETWEEN_SCENE(restitution, impact)                                                                                                 \
    "model: between.xml\nstate: {qvel: [20, 0, 0, 0, 0, 0]}\ncontacts: {detect: true, restitution: " restitution                           \
    ", friction: 0}\nsimulate: {integrator: stepping, step: 0.001, duration: 1}\n" impact

static void restitution_bounces_by_default(void **state) {
    write_text(*state, "between.xml", BETWEEN);
    write_text(*state, "between.yaml", BETWEEN_SCENE("1", ""));
    // At 0.04 s, then every 0.08 s.
    json_t *answer = ask(*state, "simulate", "between.yaml");
    assert_string_equal(text(answer, "law"), "moreau");
    assert_true(has_caveat(answer, "'moreau', because restitution is given (up to 1)"));
    assert_int_equal(length(answer, "impacts"), 12);
    assert_close(number(answer, "final.kinetic_energy"), 200, 1e-9);
    json_decref(answer);
    // Half the speed is lost at each wall.
    write_text(*state, "half.yaml", BETWEEN_SCENE("0.5", ""));
    answer = ask(*state, "simulate", "half.yaml", "--duration", "0.1");
    assert_close(number(answer, "final.qvel.0"), -10, 1e-9);
    json_decref(answer);
    // Of pairs alone: all of it at the right wall, none at the left one.
    write_text(*state, "pairs.yaml", BETWEEN_SCENE("0, pairs: [{between: [rw, ball], restitution: 1}]", ""));
    answer = ask(*state, "simulate", "pairs.yaml", "--duration", "0.1");
    assert_true(has_caveat(answer, "'moreau', because restitution is given (up to 1)"));
    assert_close(number(answer, "final.qvel.0"), -20, 1e-9);
    json_decref(answer);
    answer = ask(*state, "simulate", "pairs.yaml");
    assert_close(number(answer, "final.qvel.0"), 0, 1e-9);
    assert_int_equal(length(answer, "impacts"), 2);
    json_decref(answer);
    // The user's law wins, and says so; nothing is said where there is no restitution.
    answer = ask(*state, "simulate", "between.yaml", "--law", "anitescu-potra");
    assert_true(has_caveat(answer, "the restitution of the contacts (up to 1) is not used: the law 'anitescu-potra'"));
    assert_int_equal(length(answer, "impacts"), 1);
    json_decref(answer);
    write_text(*state, "named.yaml", BETWEEN_SCENE("1", "impact: {law: routh}\n"));
    answer = ask(*state, "simulate", "named.yaml");
    assert_string_equal(text(answer, "law"), "routh");
    assert_true(has_caveat(answer, "is not used: the law 'routh'"));
    json_decref(answer);
    write_text(*state, "none.yaml", BETWEEN_SCENE("0", ""));
    answer = ask(*state, "simulate", "none.yaml");
    assert_string_equal(text(answer, "law"), "anitescu-potra");
    assert_int_equal(length(answer, "caveats"), 0);
    json_decref(answer);
    // The option of the law, without any of the contacts.
    answer = ask(*state, "simulate", "none.yaml", "--restitution", "1");
    assert_int_equal(length(answer, "impacts"), 12);
    json_decref(answer);
    // Laws that use it say nothing.
    const char *const laws[] = {"moreau", "stronge", "lzb"};
    for (int i = 0; i < 3; i++) {
        answer = ask(*state, "simulate", "between.yaml", "--law", laws[i]);
        assert_int_equal(length(answer, "impacts"), 12);
        assert_int_equal(length(answer, "caveats"), 0);
        json_decref(answer);
    }
}

// A bead slides without gravity between stops at 0.1 m to both sides, at 1 m/s: the first is met at 0.1 s, then one every 0.2 s.
#define BEAD                                                                                                                               \
    "<mujoco><option gravity='0 0 0'/><compiler autolimits='true'/><worldbody><body name='bead'><joint name='x' type='slide' "             \
    "axis='1 0 0' limited='true' range='-0.1 0.1'/><geom size='0.01' mass='1'/><site name='bead'/></body>"                                 \
    "</worldbody></mujoco>"
// A bead on a string of 0.1 m at most, fixed 1 m to the side: it comes back at x = 0.1 where sqrt(1 + x^2) is the length.
// The same with a slide upwards, for contacts that a list has.
#define RISING                                                                                                                             \
    "<mujoco><option gravity='0 0 0'/><worldbody><body name='bead'><joint name='x' type='slide' axis='1 0 0' limited='true' "              \
    "range='-0.1 0.1'/><joint name='z' type='slide' axis='0 0 1'/><geom size='0.01' mass='1'/><site name='bead'/></body>"                  \
    "</worldbody></mujoco>"
#define TETHER                                                                                                                             \
    "<mujoco><option gravity='0 0 0'/><worldbody><site name='post' pos='-1 0 0'/><body name='bead'><joint name='x' type='slide' "          \
    "axis='1 0 0'/><geom size='0.01' mass='1'/><site name='bead'/></body></worldbody><tendon><spatial name='rope' limited='true' "         \
    "range='0 1.1'><site site='post'/><site site='bead'/></spatial></tendon></mujoco>"

static void stops_and_strings_bounce(void **state) {
    write_text(*state, "bead.xml", BEAD);
    write_text(*state, "bead.yaml",
               "model: bead.xml\nstate: {qvel: [1]}\ncontacts: {detect: true}\nstops: {restitution: 1}\n"
               "simulate: {integrator: stepping, duration: 1}\n");
    json_t *answer = ask(*state, "simulate", "bead.yaml");
    assert_int_equal(length(answer, "impacts"), 5);
    assert_close(number(answer, "impacts.0.t"), 0.1, 1e-6);
    assert_close(fabs(number(answer, "final.qvel.0")), 1, 1e-9);
    json_decref(answer);
    // Without it the bead stays.
    write_text(*state, "dead.yaml",
               "model: bead.xml\nstate: {qvel: [1]}\ncontacts: {detect: true}\nsimulate: {integrator: stepping, duration: 1}\n");
    answer = ask(*state, "simulate", "dead.yaml");
    assert_close(number(answer, "final.qvel.0"), 0, 1e-9);
    json_decref(answer);
    // inclusion, with a listed contact that is far away.
    write_text(*state, "rising.xml", RISING);
    write_text(*state, "listed.yaml",
               "model: rising.xml\nstate: {qvel: [1, 0]}\n"
               "contacts: [{name: far, site: bead, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0, offset: -5}]\n"
               "stops: {restitution: 0.5}\nsimulate: {integrator: inclusion, duration: 0.2}\n");
    answer = ask(*state, "simulate", "listed.yaml");
    assert_close(number(answer, "final.qvel.0"), -0.5, 1e-9);
    assert_true(has_caveat(answer, "'moreau', because restitution is given (up to 0.5)"));
    json_decref(answer);
    // A string that becomes taut at x = 0.1 throws the bead back with half its speed.
    write_text(*state, "tether.xml", TETHER);
    write_text(*state, "tether.yaml",
               "model: tether.xml\nstate: {qvel: [1]}\ncontacts: {detect: true}\nstrings: {restitution: 0.5}\n"
               "simulate: {integrator: stepping, duration: 0.2}\n");
    answer = ask(*state, "simulate", "tether.yaml");
    assert_close(number(answer, "impacts.0.t"), 0.1, 1e-6);
    assert_string_equal(text(answer, "impacts.0.contacts.0"), "TENDON:rope");
    assert_close(number(answer, "final.qvel.0"), -0.5, 1e-9);
    json_decref(answer);
}

// One impact of a bead at its stop uses the same numbers.
static void stops_bounce_in_one_impact(void **state) {
    write_text(*state, "bead.xml", BEAD);
    write_text(*state, "at.yaml",
               "model: bead.xml\nstate: {qpos: [0.1], qvel: [1]}\ncontacts: []\nstops: {restitution: 0.25}\nimpact: {law: moreau}\n");
    report r = run(*state, "resolve", "at.yaml", "--law", "moreau", "--json");
    assert_int_equal(r.status, 0);
    check_text(r.out, "\"v_plus\": [-0.25]");
    release(&r);
}

// Integrators that have impacts of their own say what they leave.
static void what_integrators_do_not_use_is_said(void **state) {
    write_text(*state, "rising.xml", RISING);
    write_text(*state, "slide.yaml",
               "model: rising.xml\nstate: {qvel: [1, 0]}\n"
               "contacts: [{name: far, site: bead, normal: [0, 0, 1], friction: 0, restitution: 0.5, offset: -5}]\n"
               "impact: {law: routh}\nsimulate: {integrator: propagative, duration: 0.2}\n");
    json_t *answer = ask(*state, "simulate", "slide.yaml");
    assert_true(has_caveat(answer, "the restitution of the contacts (up to 0.5) is not used: impacts have R = 1"));
    assert_true(has_caveat(answer, "the law 'routh' of 'impact' is not used"));
    json_decref(answer);
    write_text(*state, "bodies.yaml",
               "bodies: [{mass: 1, inertia: 1}]\nimpact: {law: stronge}\nsimulate: {integrator: rodrigues, duration: 0.1}\n");
    answer = ask(*state, "simulate", "bodies.yaml");
    assert_true(has_caveat(answer, "the law 'stronge' of 'impact' is not used"));
    json_decref(answer);
}

// A pendulum in space, whose energy is wrong by 0.3 % of its largest kinetic one with steps of 0.3 s, by 3 % with 0.9 s.
static void rodrigues_obeys_the_rule_of_energy(void **state) {
    char path[PATH_SIZE];
    report r = run(*state, "simulate", motion_path("pendulum", path), "--step", "0.3");
    assert_int_equal(r.status, 0);
    release(&r);
    r = run(*state, "simulate", path, "--step", "0.9", "--json");
    assert_int_equal(r.status, 1);
    json_t *answer = parse(&r);
    assert_string_equal(text(answer, "verdict"), "energy-limit");
    check_text(text(answer, "message"), "the energy is wrong by up to");
    json_decref(answer);
    release(&r);
}

// --------------------------------------------------------------------------------------------------------------- actuators

#define DRIVEN(actuator)                                                                                                                   \
    "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='x' type='slide' axis='1 0 0'/><geom size='0.1' mass='2'/>"             \
    "</body></worldbody><actuator>" actuator "</actuator></mujoco>"
#define DRIVEN_SCENE                                                                                                                       \
    "model: driven.xml\nstate: {}\ncontacts: {detect: true}\ncontrol: [3]\nsimulate: {integrator: stepping, step: 0.0005, duration: "      \
    "0.5}\n"

static void activations_are_integrated(void **state) {
    // a' = (u - a)/T, m v' = a: v = (u/m)(t - T (1 - exp(-t/T))).
    write_text(*state, "driven.xml", DRIVEN("<general joint='x' dyntype='filter' dynprm='0.1'/>"));
    write_text(*state, "driven.yaml", DRIVEN_SCENE);
    json_t *whole = ask(*state, "simulate", "driven.yaml");
    assert_close(number(whole, "final.qvel.0"), 1.5 * (0.5 - 0.1 * (1 - exp(-5))), 1e-3);
    // A run that is taken up again is the same.
    json_t *half = ask(*state, "simulate", "driven.yaml", "--duration", "0.2", "--save-state", "half.json");
    json_t *rest = ask(*state, "simulate", "driven.yaml", "--resume", "half.json");
    assert_true(json_equal(at(whole, "final"), at(rest, "final")));
    json_decref(whole);
    json_decref(half);
    json_decref(rest);
    // a' = u: m v' = u t.
    write_text(*state, "driven.xml", DRIVEN("<general joint='x' dyntype='integrator'/>"));
    json_t *answer = ask(*state, "simulate", "driven.yaml");
    assert_close(number(answer, "final.qvel.0"), 1.5 * 0.125, 1e-3);
    json_decref(answer);
    // A muscle pulls.
    write_text(*state, "driven.xml", DRIVEN("<muscle joint='x' force='10' lengthrange='-1 1'/>"));
    answer = ask(*state, "simulate", "driven.yaml", "--duration", "0.1");
    assert_true(number(answer, "final.qvel.0") < -0.01);
    json_decref(answer);
}

// Where activations are held, a warning says so: m v' = a, with the keyframe's a.
static void held_activations_are_said(void **state) {
    write_text(*state, "held.xml",
               "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='x' type='slide' axis='1 0 0'/><geom size='0.1' mass='2'/>"
               "<site name='front' pos='0.1 0 0'/></body></worldbody><actuator><general name='slow' joint='x' dyntype='filter' "
               "dynprm='0.1'/></actuator><keyframe><key name='pushed' act='3'/></keyframe></mujoco>");
    write_text(*state, "held.yaml",
               "model: held.xml\nstate: {key: pushed}\n"
               "contacts: [{name: wall, site: front, normal: [-1, 0, 0], tangents: [[0, 0, 1]], friction: 0, offset: -9}]\n"
               "simulate: {integrator: inclusion, duration: 0.5}\n");
    report r = run(*state, "simulate", "held.yaml", "--json");
    assert_int_equal(r.status, 0);
    check_text(r.err, "actuator 'slow' keeps the activation that it has at the start");
    json_t *answer = json_loads(r.out, 0, NULL);
    assert_close(number(answer, "final.qvel.0"), 0.75, 1e-9);
    json_decref(answer);
    release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_that_overlap_are_named_with_their_remedy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(penetration_that_is_taken_back_is_energy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rodrigues_obeys_the_rule_of_energy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_that_the_step_adds_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_of_actuators_is_no_gain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_that_fail_leave_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_that_gain_energy_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(restitution_bounces_by_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_and_strings_bounce, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_bounce_in_one_impact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_integrators_do_not_use_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(activations_are_integrated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(held_activations_are_said, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
