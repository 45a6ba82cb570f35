// SPDX-License-Identifier: Apache-2.0
// Tendons at their limits: taut strings are contacts without friction. Known answers, rows against differences of lengths, tolerances,
// equality constraints, and MuJoCo's own limits in its solver.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdlib.h>
#include <string.h>

#include "robot_support.h"

static void set_position(carom_model *model, const double *qpos) {
    carom_error error;
    assert_ok(carom_model_set_state(model, qpos, carom_model_nq(model), NULL, 0, &error), error);
}

// ------------------------------------------------------------------------------------------------------- known answers

// A mass on a string of 2 m: it moves in the plane, 3-4-5 away from its anchor where the string is taut.
#define PENDULUM(attributes)                                                                                                               \
    "<mujoco><worldbody><site name='anchor'/><body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"                   \
    "<geom name='bob' size='0.1' mass='3'/><site name='bob'/></body></worldbody>"                                                          \
    "<tendon><spatial name='string' " attributes "><site site='anchor'/><site site='bob'/></spatial></tendon></mujoco>"

// A falling mass whose string becomes taut loses the velocity along the string, and nothing else.
static void test_string_becomes_taut(void **state) {
    (void)state;
    fixture f = load_text(PENDULUM("limited='true' range='0 2'"));
    set_position(f.model, (double[]){1.2, -1.6});
    set_velocity(f.model, (double[]){0.5, -3});
    carom_impact *impact = freeze(f.model, NULL, 0);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 1);
    assert_string_equal(data->names[0], "TENDON:string");
    assert_true(warns(f.model, "tendons at their limits are contacts without friction: TENDON:string"));
    assert_int_equal(carom_model_warnings(f.model), 1);
    assert_all_close(data->normal, ((double[]){-0.6, 0.8}), 2, 1e-15);
    assert_close(data->friction[0], 0, 0);
    assert_close(carom_impact_delassus(impact)[0], 1 / 3.0, 1e-15);
    // Outwards along (0.6, -0.8) the mass moves at 2.7 m/s, which is taken away; the energy falls by m 2.7^2 / 2.
    double *v = resolve(impact);
    assert_all_close(v, ((double[]){0.5 - 0.6 * 2.7, -3 + 0.8 * 2.7}), 2, 1e-14);
    assert_close(carom_impact_initial_energy(impact) - carom_impact_kinetic_energy(impact, v), 1.5 * 2.7 * 2.7, 1e-13);
    free(v);
    carom_impact_free(impact);

    // A string that falls slack meanwhile does nothing.
    set_velocity(f.model, (double[]){-0.5, 3});
    impact = freeze(f.model, NULL, 0);
    v = resolve(impact);
    assert_all_close(v, ((double[]){-0.5, 3}), 2, 0);
    free(v);
    carom_impact_free(impact);
    free_fixture(&f);
}

// Two masses that fly apart until their string stops them go on with their common velocity.
static void test_string_between_two_bodies(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body><freejoint/><geom size='0.1' mass='1'/><site name='a'/></body>"
                          "<body pos='0 0 1'><freejoint/><geom size='0.1' mass='2'/><site name='b'/></body></worldbody>"
                          "<tendon><spatial limited='true' range='0 1'><site site='a'/><site site='b'/></spatial></tendon></mujoco>");
    set_velocity(f.model, (double[]){0.3, 0, -1, 0, 0, 0, 0, 0.2, 2, 0, 0, 0});
    carom_impact *impact = detect(f.model);
    assert_string_equal(carom_impact_get_data(impact)->names[0], "TENDON:tendon0");
    assert_true(warns(f.model, "no geoms touch"));
    double *v = resolve(impact);
    assert_all_close(v, ((double[]){0.3, 0, 1, 0, 0, 0, 0, 0.2, 1, 0, 0, 0}), 12, 1e-14);
    free(v);
    carom_impact_free(impact);
    free_fixture(&f);
}

// --------------------------------------------------------------------------------------------------------------- rows

// Tendons of every kind on joints of every kind: over a sphere and a cylinder that move, through a pulley, straight, and over joints.
#define MUSCLES(jacobian, range)                                                                                                           \
    "<mujoco><option jacobian='" jacobian "'/><worldbody><site name='wall' pos='-1 0.2 1'/>"                                               \
    "<body name='trunk' pos='0 0 1'><freejoint/><geom name='trunk' type='sphere' size='0.2' mass='2'/>"                                    \
    "<site name='back' pos='0 0.4 0.3'/><site name='side' pos='0.1 0.5 0'/>"                                                               \
    "<body pos='0 0 -0.5'><joint type='ball'/><geom name='hip' type='cylinder' size='0.25 0.3' mass='1'/>"                                 \
    "<site name='thigh' pos='0.3 0.25 -0.1'/>"                                                                                             \
    "<body pos='0 0 -0.6'><joint name='knee' axis='0.1 1 0'/><joint name='rail' type='slide' axis='0 0.2 1'/>"                             \
    "<geom size='0.1' mass='0.5'/><site name='foot' pos='0.4 -0.3 -0.1'/></body></body></body></worldbody><tendon>"                        \
    "<spatial name='sphere' " range "><site site='back'/><geom geom='trunk' sidesite='side'/><site site='foot'/></spatial>"                \
    "<spatial name='cylinder' " range "><site site='wall'/><geom geom='hip'/><site site='foot'/></spatial>"                                \
    "<spatial name='pulley' " range "><site site='wall'/><site site='thigh'/><pulley divisor='2'/><site site='back'/>"                     \
    "<site site='foot'/></spatial>"                                                                                                        \
    "<spatial name='string' " range "><site site='wall'/><site site='foot'/></spatial>"                                                    \
    "<fixed name='belt' " range "><joint joint='knee' coef='0.7'/><joint joint='rail' coef='-2'/></fixed></tendon></mujoco>"

// The length of a tendon where one velocity has acted for `time`.
static double measure_length(const mjModel *m, mjData *d, const double *qpos, int tendon, int dof, double time) {
    double v[64] = {0};
    v[dof] = 1;
    memcpy(d->qpos, qpos, (size_t)m->nq * sizeof *qpos);
    mj_integratePos(m, d->qpos, v, time);
    mj_kinematics(m, d);
    mj_comPos(m, d);
    mj_tendon(m, d);
    return d->ten_length[tendon];
}

static void check_rows(const char *text, double sign) {
    fixture f = load_text(text);
    char message[512];
    mjModel *m = mj_loadXML(f.path, NULL, message, sizeof message);
    assert_non_null(m);
    mjData *d = mj_makeData(m);
    const double qpos[] = {0.1, -0.2, 1.1, 0.9, 0.1, -0.3, 0.2, 0.8, -0.2, 0.4, 0.3, 0.6, -0.15};
    set_position(f.model, qpos);
    carom_impact *impact = freeze(f.model, NULL, 0);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, m->ntendon);
    const double *start = carom_model_qpos(f.model), step = 1e-5;
    for (int i = 0; i < m->ntendon; i++)
        for (int j = 0; j < m->nv; j++) {
            const double rate = (measure_length(m, d, start, i, j, step) - measure_length(m, d, start, i, j, -step)) / (2 * step);
            assert_close(data->normal[i * m->nv + j], sign * rate, 1e-9);
        }
    // The first two bend over their geoms: their paths have two points more than sites.
    assert_int_equal(d->ten_wrapnum[0], 4);
    assert_int_equal(d->ten_wrapnum[1], 4);
    mj_deleteData(d);
    mj_deleteModel(m);
    carom_impact_free(impact);
    free_fixture(&f);
}

// At the upper limit the length may not grow, at the lower one not shrink; a sparse Jacobian is the same as a dense one.
static void test_rows_are_rates_of_lengths(void **state) {
    (void)state;
    check_rows(MUSCLES("dense", "limited='true' range='-9 -8'"), -1);
    check_rows(MUSCLES("dense", "limited='true' range='8 9'"), 1);
    check_rows(MUSCLES("sparse", "limited='true' range='-9 -8'"), -1);
}

// ------------------------------------------------------------------------------------------------------ tolerances, rules

#define RAIL(attributes, in_model)                                                                                                         \
    "<mujoco>" in_model "<worldbody>" FLOOR "<body pos='0 0 0.2'><joint name='z' type='slide' axis='0 0 1'/><geom size='0.2'/></body>"     \
    "<body pos='0 0 3'><joint name='door'/><geom size='0.1' pos='1 0 0'/></body></worldbody>"                                              \
    "<tendon><fixed name='cable' " attributes "><joint joint='z' coef='2'/></fixed></tendon></mujoco>"

static void test_limits_and_ranges(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double row;  // 0: no contact
        const char *warning;
    } cases[] = {
        {RAIL("limited='true' range='0 1'", ""), 2, "TENDON:cable"},
        {RAIL("limited='true' range='-1 0'", ""), -2, "TENDON:cable"},
        {RAIL("limited='true' range='0.5 1'", ""), 2, "TENDON:cable"},
        {RAIL("limited='true' range='-1e-10 1'", ""), 2, "TENDON:cable"},
        {RAIL("limited='true' range='-1e-4 1'", ""), 0, "tendon 'cable' is 0.0001 from its limit; it counts as free"},
        {RAIL("limited='true' range='-1 1'", ""), 0, NULL},
        {RAIL("limited='false' range='0 1'", ""), 0, NULL},
        {RAIL("limited='true' range='0 1'", "<option><flag limit='disable'/></option>"), 0, NULL},
        // MuJoCo lets a limit act from its margin on.
        {RAIL("limited='true' range='-1 3' margin='1.5'", ""), 2, "TENDON:cable"},
        {RAIL("limited='true' range='-3 1' margin='1.5'", ""), -2, "TENDON:cable"},
        // What is held is left out.
        {RAIL("limited='true' range='0 1'", "<equality><tendon tendon1='cable'/><joint joint1='door'/></equality>"), 0,
         "tendon 'cable' is at its limit, but no motion changes its length"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = load_text(cases[i].text);
        if (strstr(cases[i].text, "equality")) {
            // Only the string could be a contact, and is none.
            assert_detection_refused(f.model, "none of the");
            assert_true(warns(f.model, cases[i].warning));
            free_fixture(&f);
            continue;
        }
        carom_impact *impact = detect(f.model);
        const carom_impact_data *data = carom_impact_get_data(impact);
        assert_int_equal(data->contacts, cases[i].row != 0 ? 2 : 1);
        if (cases[i].row != 0) assert_all_close(data->normal + 2, ((double[]){cases[i].row, 0}), 2, 1e-15);
        if (cases[i].warning) assert_true(warns(f.model, cases[i].warning));
        assert_int_equal(carom_model_warnings(f.model), cases[i].warning != NULL);
        carom_impact_free(impact);
        free_fixture(&f);
    }
}

// Tendons at their limits are chosen as stops of joints are: by name, or not at all.
static void test_strings_are_chosen(void **state) {
    (void)state;
    static const char *const strings[] = {"TENDON:*"}, *const cable[] = {"TENDON:cable"}, *const unknown[] = {"TENDON:rope"};
    carom_detection cases[3];
    for (int i = 0; i < 3; i++) cases[i] = carom_detection_defaults();
    cases[0].exclude = strings;
    cases[0].exclude_count = 1;
    cases[1].drop_stops = true;
    cases[2].only = cable;
    cases[2].only_count = 1;
    fixture f = load_text(RAIL("limited='true' range='0 1'", ""));
    for (int i = 0; i < 3; i++) {
        carom_error error;
        carom_impact *impact;
        assert_ok(carom_model_detect(f.model, &cases[i], &impact, &error), error);
        const carom_impact_data *data = carom_impact_get_data(impact);
        assert_int_equal(data->contacts, 1);
        assert_true((strcmp(data->names[0], "TENDON:cable") == 0) == (i == 2));
        carom_impact_free(impact);
    }
    carom_error error;
    carom_impact *impact;
    cases[0].exclude = unknown;
    assert_refused(carom_model_detect(f.model, &cases[0], &impact, &error), CAROM_BAD_INPUT, error, "'TENDON:cable'");
    free_fixture(&f);
}

// The stop of a joint has a margin as well.
static void test_stops_have_margins(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><compiler angle='radian'/><worldbody><body><joint name='knee' limited='true' range='-1 1' margin='0.3'/>"
                          "<geom size='0.1' pos='1 0 0'/></body></worldbody></mujoco>");
    set_position(f.model, (double[]){0.8});
    carom_impact *impact = detect(f.model);
    assert_string_equal(carom_impact_get_data(impact)->names[0], "LIMIT:knee");
    assert_close(carom_impact_get_data(impact)->normal[0], -1, 0);
    carom_impact_free(impact);
    set_position(f.model, (double[]){0.6});
    assert_detection_refused(f.model, "no joint is at its stop");
    free_fixture(&f);
}

// Strings near their limit, a string that no motion changes, and stops beside strings.
static void test_strings_with_warnings(void **state) {
    (void)state;
    fixture f = load_text(PENDULUM("limited='true' range='0 2'"));
    set_position(f.model, (double[]){1.2, -1.599});
    carom_error error;
    carom_impact *impact;
    assert_refused(carom_model_freeze(f.model, NULL, 0, &impact, &error), CAROM_BAD_INPUT, error,
                   "no joint is at its stop, and no tendon at its limit");
    const carom_model_contact contact = site_contact("A", "bob");
    impact = freeze(f.model, &contact, 1);
    assert_true(warns(f.model, "tendon 'string' is 0.0008 m from its limit; it counts as free"));
    carom_impact_free(impact);
    free_fixture(&f);

    f = load_text("<mujoco><worldbody><body><joint name='lift' type='slide' axis='0 0 1' limited='true' range='0 1'/>"
                  "<geom size='0.1'/><site name='a'/><site name='b' pos='0.3 0.1 -0.7'/></body><site name='c' pos='0 0 -1'/></worldbody>"
                  "<tendon><spatial name='strut' limited='true' range='0 0.5'><site site='a'/><site site='b'/></spatial>"
                  "<spatial name='rope' limited='true' range='0 1'><site site='c'/><site site='a'/></spatial></tendon></mujoco>");
    impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 2);
    assert_true(warns(f.model, "tendon 'strut' is at its limit, but no motion changes its length; the limit is left out"));
    assert_true(warns(f.model, "joints at their stops and tendons at their limits are contacts without friction: LIMIT:lift, TENDON:rope"));
    carom_impact_free(impact);
    free_fixture(&f);
}

// Equality constraints restrict the rows of strings; constraints of tendons are the same with sparse Jacobians.
static void test_strings_and_equality_constraints(void **state) {
    (void)state;
#define COUPLED(jacobian)                                                                                                                  \
    "<mujoco><option jacobian='" jacobian "'/><worldbody><body><joint name='p' type='slide' axis='0 0 1'/><geom size='0.1' mass='1'/>"     \
    "</body><body pos='1 0 0'><joint name='q' type='slide' axis='0 0 1'/><geom size='0.1' mass='3'/></body></worldbody>"                   \
    "<tendon><fixed name='a'><joint joint='q' coef='1'/></fixed><fixed name='b' limited='true' range='0 1'><joint joint='p' coef='1'/>"    \
    "</fixed></tendon><equality><tendon tendon1='a' tendon2='b'/></equality></mujoco>"
    static const char *const texts[] = {COUPLED("dense"), COUPLED("sparse")};
    for (int i = 0; i < 2; i++) {
        fixture f = load_text(texts[i]);
        set_velocity(f.model, (double[]){-1, -1});
        carom_impact *impact = freeze(f.model, NULL, 0);
        assert_all_close(carom_impact_get_data(impact)->normal, ((double[]){0.25, 0.75}), 2, 1e-15);
        double *v = resolve(impact);
        assert_all_close(v, ((double[]){0, 0}), 2, 1e-15);
        free(v);
        carom_impact_free(impact);
        free_fixture(&f);
    }
#undef COUPLED
}

// ---------------------------------------------------------------------------------------------------- MuJoCo's own limits

// In MuJoCo's solver its own limits act: the string stops the mass, and lets it swing.
static void test_simulator_has_strings(void **state) {
    (void)state;
    fixture f = load_text(PENDULUM("limited='true' range='0 2' solreflimit='0.002 1' solimplimit='0.99 0.999 0.0001'"));
    set_position(f.model, (double[]){1.2, -1.6});
    set_velocity(f.model, (double[]){0.5, -3});
    carom_impact *impact = freeze(f.model, NULL, 0);
    carom_error error;
    carom_model_simulator *simulator;
    assert_ok(carom_model_simulator_create(f.model, impact, &simulator, &error), error);
    double v[2], u[2];
    carom_model_end end = {.velocity = v, .contact = u};
    const carom_model_run run = {
        .timestep = 1e-4, .solref = {0.02, 1}, .solimp = {0.9, 0.95, 0.001}, .approach_limit = -1e-9, .horizon = 1};
    assert_ok(carom_model_simulator_run(simulator, &run, &end, &error), error);
    assert_true(end.ended && end.time > 0 && u[0] >= -1e-9);
    assert_all_close(v, ((double[]){0.5 - 0.6 * 2.7, -3 + 0.8 * 2.7}), 2, 0.05);
    carom_model_simulator_free(simulator);
    carom_impact_free(impact);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_string_becomes_taut),       cmocka_unit_test(test_string_between_two_bodies),
        cmocka_unit_test(test_rows_are_rates_of_lengths), cmocka_unit_test(test_limits_and_ranges),
        cmocka_unit_test(test_strings_are_chosen),        cmocka_unit_test(test_stops_have_margins),
        cmocka_unit_test(test_strings_with_warnings),     cmocka_unit_test(test_strings_and_equality_constraints),
        cmocka_unit_test(test_simulator_has_strings),
    };
    return cmocka_run_group_tests_name("tendons", tests, NULL, NULL);
}
