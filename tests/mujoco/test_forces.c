// SPDX-License-Identifier: Apache-2.0
// Bounded forces: impacts leave them out and say so, MuJoCo's solver runs without them, and motions keep or refuse them.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robot_support.h"

// A leg that lands: slides, a hinge, a foot on the floor, with what a test adds to both joints, and to the model.
#define LEG(joint, in_model)                                                                                                               \
    "<mujoco><worldbody>" FLOOR "<body name='hip' pos='0 0 1'><joint type='slide' axis='1 0 0'/>"                                          \
    "<joint name='rail' type='slide' axis='0 0 1' " joint                                                                                  \
    "/><geom name='hip' size='0.1' mass='3'/><body><joint name='knee' axis='0 1 0' armature='0.2' " joint "/>"                             \
    "<geom name='shank' type='capsule' fromto='0.1 0 0 0.5 0 -0.9' size='0.1' mass='1'/></body></body></worldbody>" in_model "</mujoco>"
#define BELT(attributes) "<tendon><fixed name='belt' " attributes "><joint joint='knee' coef='0.3'/></fixed></tendon>"
#define MOTORS           "<actuator><motor joint='knee'/><position joint='rail' kp='500'/></actuator>"
#define FLUID            "<option density='1000' viscosity='2' wind='3 0 1'/>"
#define LEFT_OUT(kinds)  "left out: " kinds "; the impulse of a bounded force vanishes with the duration of an impact"
#define ALL_JOINT        "frictionloss='2' damping='5' stiffness='400' springref='0.3'"
#define WITH_ALL_FORCES  LEG(ALL_JOINT, BELT("frictionloss='1' damping='4' stiffness='30'") MOTORS FLUID)

static const double landing[] = {0.5, -2, 0.7};

static void assert_same_bits(const double *a, const double *b, size_t count) { assert_memory_equal(a, b, count * sizeof *a); }

// ----------------------------------------------------------------------------------------------------------- left out

// The impact of a model with every bounded force is that of the model without, bit by bit.
static void test_impacts_are_the_same(void **state) {
    (void)state;
    fixture plain = load_text(LEG("", "")), full = load_text(WITH_ALL_FORCES);
    set_velocity(plain.model, landing);
    set_velocity(full.model, landing);
    carom_impact *impact = detect(plain.model), *other = detect(full.model);
    const carom_impact_data *a = carom_impact_get_data(impact), *b = carom_impact_get_data(other);
    assert_int_equal(a->contacts, 1);
    assert_int_equal(b->contacts, 1);
    assert_same_bits(a->mass, b->mass, 9);
    assert_same_bits(a->normal, b->normal, 3);
    assert_same_bits(a->tangent, b->tangent, 3);
    assert_same_bits(a->velocity, b->velocity, 3);
    assert_same_bits(a->friction, b->friction, 1);
    carom_impact_free(impact);
    carom_impact_free(other);
    free_fixture(&plain);
    free_fixture(&full);
}

// One warning names what the model has of them.
static void test_forces_are_warned_of_once(void **state) {
    (void)state;
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {WITH_ALL_FORCES, LEFT_OUT("frictionloss, damping, springs and actuators")},
        {LEG("frictionloss='0.1'", ""), LEFT_OUT("frictionloss")},
        {LEG("", BELT("frictionloss='0.1'")), LEFT_OUT("frictionloss")},
        {LEG("damping='1'", MOTORS), LEFT_OUT("damping and actuators")},
        {LEG("", BELT("damping='1' stiffness='3'")), LEFT_OUT("damping and springs")},
        {LEG("", MOTORS), LEFT_OUT("actuators")},
        {LEG("", BELT("")), NULL},
        {LEG("frictionloss='0.1'", MOTORS "<option><flag frictionloss='disable' actuation='disable'/></option>"), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = load_text(cases[i].text);
        carom_impact_free(detect(f.model));
        // A second time does not warn twice.
        carom_impact_free(detect(f.model));
        assert_int_equal(carom_model_warnings(f.model), cases[i].warning != NULL);
        if (cases[i].warning) assert_string_equal(carom_model_warning(f.model, 0), cases[i].warning);
        free_fixture(&f);
    }
}

// ------------------------------------------------------------------------------------------------------- MuJoCo's solver

// What remains of the energy after MuJoCo's own impact, and the velocity at its end.
static double simulate(const char *text, double timestep, double v[3]) {
    fixture f = load_text(text);
    set_velocity(f.model, landing);
    carom_impact *impact = detect(f.model);
    carom_error error;
    carom_model_simulator *simulator;
    assert_ok(carom_model_simulator_create(f.model, impact, &simulator, &error), error);
    double *u = malloc((size_t)carom_impact_contact_size(impact) * sizeof *u);
    carom_model_end end = {.velocity = v, .contact = u};
    const carom_model_run run = {
        .timestep = timestep, .solref = {0.02, 1}, .solimp = {0.9, 0.95, 0.001}, .approach_limit = -1e-9, .horizon = 1};
    assert_ok(carom_model_simulator_run(simulator, &run, &end, &error), error);
    assert_true(end.ended && end.time > 0);
    const double kept = carom_impact_kinetic_energy(impact, v) / carom_impact_initial_energy(impact);
    free(u);
    carom_model_simulator_free(simulator);
    carom_impact_free(impact);
    free_fixture(&f);
    return kept;
}

// MuJoCo's impact takes 20 ms and more, in which each of these forces would do its work: without them it is the same, bit by bit.
static void test_simulator_runs_without_forces(void **state) {
    (void)state;
    static const char *const texts[] = {
        WITH_ALL_FORCES,
        LEG("damping='50'", ""),
        LEG("frictionloss='20'", ""),
        LEG("stiffness='4000'", ""),
        LEG("", BELT("frictionloss='20' damping='50' stiffness='3000'")),
        LEG("", MOTORS "<keyframe><key ctrl='10 1'/></keyframe>"),
        LEG("", FLUID),
        LEG("", "<option gravity='0 0 -90'/>"),
    };
    for (int step = 0; step < 2; step++) {
        const double timestep = step ? 1e-4 : 2e-3;
        double v[3], expected[3];
        const double kept = simulate(LEG("", ""), timestep, expected);
        assert_true(kept > 0.01 && kept < 1);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            assert_true(simulate(texts[i], timestep, v) == kept);
            assert_same_bits(v, expected, 3);
        }
    }
}

static void test_comparison_says_what_is_off(void **state) {
    (void)state;
    enum { TEXT_SIZE = 1 << 15 };
    static char text[TEXT_SIZE];
    static const char sentence[] =
        "switched off, as an impact has none of them: gravity, springs, damping, frictionloss, actuators, fluid forces\n";
    const char *arguments = "compare scenes/block.yaml --simulator mujoco --samples 64 --perturbations 0";
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    assert_non_null(strstr(text, sentence));
    arguments = "compare scenes/block.yaml --simulator mujoco --samples 64 --perturbations 0 --json";
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    const char *list = strstr(text, "\"switched_off\"");
    assert_non_null(list);
    assert_non_null(strstr(list, "\"frictionloss\""));
}

// ------------------------------------------------------------------------------------------------------------- motions

// Springs, dampers and actuators act in a motion, whose warnings do not say otherwise; frictionloss and limits of tendons would be missed.
static void test_motions(void **state) {
    (void)state;
    static const struct {
        const char *text, *refusal;  // NULL: accepted
    } cases[] = {
        {LEG("damping='1' stiffness='3'", MOTORS), NULL},
        {LEG("frictionloss='1'", ""), "joint 'rail' has frictionloss"},
        {LEG("", BELT("frictionloss='1'")), "tendon 'belt' has frictionloss"},
        {LEG("", BELT("limited='true' range='-1 1'")), "tendon 'belt' has limits"},
    };
    const carom_model_contact point = {.name = "A",
                                       .places = 1,
                                       .place = {{.kind = CAROM_PLACE_BODY_POINT, .name = "hip"}},
                                       .normal = {0, 0, 1},
                                       .tangents = 1,
                                       .tangent = {{1, 0, 0}},
                                       .offset = 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = load_text(cases[i].text);
        carom_error error;
        carom_system *system;
        const carom_status status = carom_model_create_system(f.model, &point, 1, &system, &error);
        if (cases[i].refusal) {
            assert_refused(status, CAROM_UNSUPPORTED, error, cases[i].refusal);
            assert_null(system);
        } else {
            assert_ok(status, error);
            assert_int_equal(carom_model_warnings(f.model), 0);
            carom_model_free_system(system);
        }
        free_fixture(&f);
    }
}

#if mjVERSION_HEADER >= 3011000
// A belt that runs on a body at rest drags what touches it, which rows of bodies do not know.
static void test_belts_are_refused(void **state) {
    (void)state;
    assert_text_refused("<mujoco><worldbody><geom type='plane' size='5 5 1' surfacevel='1 0 0 0 0 0'/><body pos='0 0 0.1'><freejoint/>"
                        "<geom size='0.1'/></body></worldbody></mujoco>",
                        "a geom with a surface velocity touches something");
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impacts_are_the_same),
        cmocka_unit_test(test_forces_are_warned_of_once),
        cmocka_unit_test(test_simulator_runs_without_forces),
        cmocka_unit_test(test_comparison_says_what_is_off),
        cmocka_unit_test(test_motions),
#if mjVERSION_HEADER >= 3011000
        cmocka_unit_test(test_belts_are_refused),
#endif
    };
    return cmocka_run_group_tests_name("forces", tests, NULL, NULL);
}
