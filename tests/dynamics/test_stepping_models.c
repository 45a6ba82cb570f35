// SPDX-License-Identifier: Apache-2.0
// The integrator `stepping` on models: robots and piles at rest, drops that another integrator knows, and many starts without a failure.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrators.h"

#define GRAVITY 9.81

static carom_scene *read_scene(const char *stem, const char *integrator) {
    char path[100];
    snprintf(path, sizeof path, "scenes/%s.yaml", stem);
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_scene_read_motion_for(path, registry, carom_integrator_find(registry, integrator), &scene, &error), error);
    return scene;
}

// Options of laws: those of the scene.
static carom_status apply_impact(void *user, const carom_law *law, void *options, carom_error *error) {
    return carom_scene_apply(user, law->options, law->option_count, options, error);
}

// Runs a scene by an integrator, with options as name, text pairs, as member `member` displaced by `displacement`.
static carom_motion_answer run(const carom_scene *scene, const char *integrator, const char *const *pairs, int64_t member,
                               double displacement) {
    const carom_integrator *one = carom_integrator_find(registry, integrator);
    void *options = malloc(one->options_size);
    one->defaults(options);
    carom_error error;
    assert_ok(carom_scene_apply_simulate(scene, one->options, one->option_count, options, &error), error);
    for (; *pairs; pairs += 2)
        assert_ok(carom_option_set(&one->options[carom_option_find(one->options, one->option_count, pairs[0])], options, pairs[1], &error),
                  error);
    const carom_law_settings settings = {(void *)scene, apply_impact, carom_scene_law(scene)};
    carom_motion motion = *carom_scene_motion(scene);
    motion.member = member;
    motion.displacement = displacement;
    const carom_motion_request request = {
        .integrator = one, .motion = &motion, .options = options, .registry = registry, .settings = &settings};
    carom_motion_answer answer;
    assert_ok(carom_integrator_run(&request, NULL, &answer, &error), error);
    free(options);
    return answer;
}

static double result(const carom_motion_answer *answer, const char *name) {
    return *carom_table_real_column(answer->result, carom_table_find(answer->result, name));
}

static int64_t failures(const carom_motion_answer *answer) {
    return *carom_table_integer_column(answer->result, carom_table_find(answer->result, "failures"));
}

static const double *final_state(const carom_motion_answer *answer, const char *name) {
    return carom_table_real_column(answer->final, carom_table_find(answer->final, name));
}

// Sums a field of the contact forces at the end.
static double sum_forces(const carom_motion_answer *answer, const char *field) {
    const int column = carom_table_find(answer->final, "contact_forces");
    const carom_column *forces = carom_table_column(answer->final, column);
    int count, k = 0;
    const double *values = carom_table_series(answer->final, column, 0, &count);
    while (strcmp(forces->flags[k], field) != 0) k++;
    double sum = 0;
    for (int i = k; i < count; i += forces->width) sum += values[i];
    return sum;
}

// The humanoid comes to rest under its servos: the floor carries its weight, and nothing sinks in.
static void test_humanoid_rests(void **state) {
    (void)state;
    carom_scene *scene = read_scene("humanoid-drop", "stepping");
    carom_motion_answer answer = run(scene, "stepping", (const char *const[]){"duration", "8", NULL}, 0, 0);
    const double weight = GRAVITY * carom_scene_motion(scene)->mechanism->mass;
    assert_int_equal(failures(&answer), 0);
    assert_close(sum_forces(&answer, "fz") / weight, 1, 1e-6);
    assert_true(fabs(sum_forces(&answer, "fx")) < 1e-3 * weight);
    assert_true(result(&answer, "max_penetration") < 1e-4);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

// Ten boxes on each other stay where they are, and their energy does not grow.
static void test_stack_rests(void **state) {
    (void)state;
    carom_scene *scene = read_scene("box-stack", "stepping");
    const carom_mechanism *mechanism = carom_scene_motion(scene)->mechanism;
    char duration[20];
    snprintf(duration, sizeof duration, "0.%02d", support_count(5, 10, 99));
    carom_motion_answer answer = run(scene, "stepping", (const char *const[]){"duration", duration, NULL}, 0, 0);
    assert_int_equal(failures(&answer), 0);
    assert_all_close(final_state(&answer, "qpos"), mechanism->position, mechanism->nq, 1e-9);
    for (int i = 0; i < mechanism->nv; i++) assert_true(fabs(final_state(&answer, "qvel")[i]) < 1e-9);
    assert_true(result(&answer, "max_penetration") < 1e-4);
    assert_true(result(&answer, "max_energy_gain") < 1e-9);
    // The floor carries ten boxes, the first box nine, and so on.
    assert_close(sum_forces(&answer, "fz"), 55 * GRAVITY, 1e-6);
    carom_motion_answer_free(&answer);
    carom_scene_free(scene);
}

// The rocking block of Halm & Posa falls flat. With the same draws it moves as by `inclusion`, which locates its events, until it touches
// again: but for touches slower than the impact speed of 0.02 m/s, which a step of 1 ms stops. With other draws the shares of what it does
// next are the same within three standard errors.
static void test_dropped_block_is_that_of_inclusion(void **state) {
    (void)state;
    enum { LEFT, FLAT, RIGHT, KINDS };
    static const char *const options[] = {"law", "halm-posa", "duration", "0.07", NULL};
    const int members = support_count(3, 6, 400);
    carom_scene *exact = read_scene("dropped-block", "inclusion"), *stepped = read_scene("dropped-block", "stepping");
    int counts[2][KINDS] = {{0}};
    for (int i = 0; i < members; i++) {
        carom_motion_answer first = run(exact, "inclusion", options, i, 0), second = run(stepped, "stepping", options, i, 0);
        assert_all_close(final_state(&second, "qpos"), final_state(&first, "qpos"), 3, 4e-5);
        carom_motion_answer_free(&second);
        second = run(stepped, "stepping", options, members + i, 0);
        assert_int_equal(failures(&second), 0);
        const double angles[] = {final_state(&first, "qpos")[2], final_state(&second, "qpos")[2]};
        for (int k = 0; k < 2; k++) counts[k][angles[k] > 1e-4 ? LEFT : angles[k] < -1e-4 ? RIGHT : FLAT]++;
        carom_motion_answer_free(&first);
        carom_motion_answer_free(&second);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        const double one = (double)counts[0][kind] / members, other = (double)counts[1][kind] / members, mean = (one + other) / 2;
        assert_true(fabs(one - other) <= 3 * sqrt(2 * mean * (1 - mean) / members) + 1e-12);
    }
    carom_scene_free(exact);
    carom_scene_free(stepped);
}

// Robots from many starts, also from within the floor: no contact problem without a solution, no energy from nowhere.
static void test_many_starts(void **state) {
    (void)state;
    static const char *const stems[] = {"quadruped-drop", "humanoid-drop", "hopper", "biped", "quadruped"};
    const int members = support_count(1, 3, 100);
    // Many of these starts lie in the floor or beyond a stop, which the verdict would say.
    const char *const options[] = {"law",
                                   "anitescu-potra",
                                   "duration",
                                   support_count(0, 0, 1) ? "2" : "0.4",
                                   "step",
                                   "0.001",
                                   "penetration_limit",
                                   "1e3",
                                   "energy_limit",
                                   "1e3",
                                   NULL};
    for (size_t k = 0; k < sizeof stems / sizeof *stems; k++) {
        carom_scene *scene = read_scene(stems[k], "stepping");
        const carom_mechanism *mechanism = carom_scene_motion(scene)->mechanism;
        for (int i = 1; i <= members; i++) {
            carom_motion_answer answer = run(scene, "stepping", options, i, 0.1);
            assert_true(carom_motion_answer_complete(&answer));
            assert_int_equal(failures(&answer), 0);
            // No impact and no contact problem adds more than round-off to the energies that take part.
            const double energies = fabs(*final_state(&answer, "energy")) + fabs(*final_state(&answer, "impact_work"));
            assert_true(result(&answer, "max_energy_gain") <= 1e-12 * energies);
            const double *position = final_state(&answer, "qpos"), *velocity = final_state(&answer, "qvel");
            for (int j = 0; j < mechanism->nq; j++) assert_true(isfinite(position[j]));
            for (int j = 0; j < mechanism->nv; j++) assert_true(fabs(velocity[j]) < 1000);
            carom_motion_answer_free(&answer);
        }
        carom_scene_free(scene);
    }
}

// Two boxes whose edges pass each other at a distance of 9 cm do not touch, although MuJoCo 2.2.2 has points there that are 35 cm deep.
static void test_passing_edges_do_not_touch(void **state) {
    (void)state;
    static const char xml[] = "<mujoco><option gravity='0 0 0'/><worldbody>"
                              "<body><freejoint/><geom type='box' size='0.1 0.08 0.06' density='500'/></body>"
                              "<body><freejoint/><geom type='box' size='0.1 0.08 0.06' density='500'/></body></worldbody></mujoco>";
    static const char scene[] = "model: model.xml\ncontacts: {detect: true}\nsimulate: {integrator: stepping}\n"
                                "state:\n"
                                "  qpos: [0, 0, 0.06, 0.999, 0, 0, 0.0451, 0.0553, -0.1438, 0.34, 0.3662, 0.2793, 0.8419, 0.2812]\n"
                                "  qvel: [0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0]\n";
    carom_motion_answer answer = run_model(xml, scene, "stepping", (const char *const[]){"duration", "0.003", "margin", "1", NULL});
    assert_close(*final_state(&answer, "contact_work"), 0, 0);
    assert_close(result(&answer, "max_penetration"), 0, 0);
    assert_close(final_state(&answer, "qvel")[7], -1, 1e-12);
    carom_motion_answer_free(&answer);
}

// A body that turns too fast for the step ends the run with a verdict, not with an error, whatever overflows first.
static void test_overflow_is_a_verdict(void **state) {
    (void)state;
    static const char xml[] = "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 1'><joint type='hinge' axis='0 1 0'/>"
                              "<geom type='capsule' fromto='0 0 0 0.4 0 0' size='0.03'/><body pos='0.4 0 0'><joint type='ball'/>"
                              "<geom type='capsule' fromto='0 0 0 0.4 0 0' size='0.03'/></body></body></worldbody></mujoco>";
    for (int i = 0; i < 8; i++) {
        char scene[200];
        snprintf(scene, sizeof scene,
                 "model: model.xml\ncontacts: {detect: true}\nsimulate: {integrator: stepping}\nstate: {qvel: [0, %g, 100, 0]}\n",
                 1000 * pow(3, i));
        for (int locate = 0; locate < 2; locate++) {
            const char *const options[] = {"duration", "0.5", "locate", locate ? "true" : "false", NULL};
            carom_motion_answer answer = run_model_until("no-force", xml, scene, "stepping", options);
            carom_motion_answer_free(&answer);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_humanoid_rests),
        cmocka_unit_test(test_stack_rests),
        cmocka_unit_test(test_dropped_block_is_that_of_inclusion),
        cmocka_unit_test(test_many_starts),
        cmocka_unit_test(test_passing_edges_do_not_touch),
        cmocka_unit_test(test_overflow_is_a_verdict),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
