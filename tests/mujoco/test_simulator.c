// SPDX-License-Identifier: Apache-2.0
// MuJoCo's own contact solver on the contacts of an impact: against MuJoCo's own steps with geoms, symmetry, energy, bad input, and
// `carom compare --simulator` end to end.
#include <jansson.h>
#include <math.h>
#include <mujoco/mujoco.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support.h"

enum { TEXT_SIZE = 1 << 16, ROOM = 32 };

static carom_registry *registry;

static int start(void **state) {
    (void)state;
    carom_error error;
    return carom_registry_create(&registry, &error) || carom_exact_register(registry, &error) || carom_dynamics_register(registry, &error);
}

static int stop(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

typedef struct fixture {
    carom_scene *scene;
    carom_model_simulator *simulator;
} fixture;

static fixture open_scene(const char *path) {
    fixture f;
    carom_error error;
    assert_ok(carom_scene_read(path, registry, &f.scene, &error), error);
    assert_ok(carom_model_simulator_create(carom_scene_model(f.scene), carom_scene_impact(f.scene), &f.simulator, &error), error);
    return f;
}

static void close_scene(fixture *f) {
    carom_model_simulator_free(f->simulator);
    carom_scene_free(f->scene);
}

// MuJoCo's defaults.
static carom_model_run default_run(void) {
    return (carom_model_run){.timestep = 2e-3, .solref = {0.02, 1}, .solimp = {0.9, 0.95, 0.001}, .approach_limit = -1e-9, .horizon = 1};
}

// ------------------------------------------------------------------------------------------------------ MuJoCo's own steps

// A ball that slides without turning, by mj_step with collision detection, and by contacts at places. A contact of MuJoCo begins below
// distance zero, which the tiny penetration at the start is for.
static void steps_are_those_of_mujoco(void **state) {
    (void)state;
    static const char model[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><geom name='floor' type='plane' size='1 1 1' friction='0.3'/>"
        "<body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide' axis='0 0 1'/>"
        "<geom name='ball' size='0.1' mass='2' friction='0.3'/></body></worldbody></mujoco>";
    static const char scene[] = "model: ball.xml\nstate: {qpos: [0, 0, 0.0999999999999], qvel: [1, -0.5, -1]}\n"
                                "contacts: [{name: A, geom: ball, normal: [0, 0, 1], friction: 0.3}]\n";
    char *directory = support_make_directory();
    char *model_path = support_write_file(directory, "ball.xml", model), *path = support_write_file(directory, "ball.yaml", scene);
    fixture f = open_scene(path);
    for (int cone = 0; cone < 2; cone++) {
        double v[ROOM], u[ROOM];
        carom_model_run run = default_run();
        run.elliptic = cone;
        carom_model_end end = {.velocity = v, .contact = u};
        carom_error error;
        assert_ok(carom_model_simulator_run(f.simulator, &run, &end, &error), error);
        assert_true(end.ended && end.time > 2 * run.timestep);

        char message[512];
        mjModel *m = mj_loadXML(model_path, NULL, message, sizeof message);
        assert_non_null(m);
        m->opt.timestep = run.timestep;
        m->opt.cone = cone ? mjCONE_ELLIPTIC : mjCONE_PYRAMIDAL;
        mjData *d = mj_makeData(m);
        const double qpos[] = {0, 0, 0.0999999999999}, qvel[] = {1, -0.5, -1};
        mju_copy(d->qpos, qpos, 3);
        mju_copy(d->qvel, qvel, 3);
        while (d->time < end.time - run.timestep / 2) mj_step(m, d);
        assert_all_close(v, d->qvel, 3, 1e-8);
        assert_close(u[0], d->qvel[2], 1e-8);
        mj_deleteData(d);
        mj_deleteModel(m);
    }
    close_scene(&f);
    free(model_path);
    free(path);
    support_remove_directory(directory);
}

// -------------------------------------------------------------------------------------------------------------- properties

// A joint that turns into its stop while a ball falls beside it: the stop holds it, unless the impact leaves stops out.
static void stops_that_are_left_out_do_not_act(void **state) {
    (void)state;
    static const char model[] =
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body pos='0 0 0.1'><joint type='slide' axis='0 0 1'/>"
        "<geom name='ball' size='0.1' mass='2'/></body><body pos='3 0 3'><joint name='arm' axis='0 1 0' limited='true' range='0 90'/>"
        "<geom size='0.1' pos='0 0 -1' mass='1'/></body></worldbody></mujoco>";
    char *directory = support_make_directory(), *model_path = support_write_file(directory, "two.xml", model);
    for (int stops = 0; stops < 2; stops++) {
        char scene[256];
        snprintf(scene, sizeof scene, "model: two.xml\nstate: {qvel: [-1, -2]}\ncontacts: {detect: {stops: %s}}\n",
                 stops ? "true" : "false");
        char *path = support_write_file(directory, "two.yaml", scene);
        fixture f = open_scene(path);
        double v[ROOM], u[ROOM];
        carom_model_run run = default_run();
        carom_model_end end = {.velocity = v, .contact = u};
        carom_error error;
        assert_ok(carom_model_simulator_run(f.simulator, &run, &end, &error), error);
        assert_true(end.ended && v[0] > -1e-6);
        if (stops)
            assert_true(v[1] > -1e-6);
        else
            assert_close(v[1], -2, 1e-9);
        close_scene(&f);
        free(path);
    }
    free(model_path);
    support_remove_directory(directory);
}

// What is mirrored stays mirrored: a wrong body, point or frame of one of five contacts would show.
static void disks_stay_mirrored(void **state) {
    (void)state;
    fixture f = open_scene("scenes/disks.yaml");
    double v[ROOM], u[ROOM];
    for (int cone = 0; cone < 2; cone++) {
        carom_model_run run = default_run();
        run.elliptic = cone;
        carom_model_end end = {.velocity = v, .contact = u};
        carom_error error;
        assert_ok(carom_model_simulator_run(f.simulator, &run, &end, &error), error);
        assert_close(v[0], 0, 1e-6);
        assert_close(v[3], -v[6], 1e-6);
        assert_close(v[4], v[7], 1e-6);
        assert_close(v[5], -v[8], 1e-6);
    }
    close_scene(&f);
}

static void impacts_end_and_lose_energy(void **state) {
    (void)state;
    static const char *const scenes[] = {"scenes/block.yaml", "scenes/boxwall.yaml", "scenes/biped.yaml"};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        fixture f = open_scene(scenes[k]);
        const carom_impact *impact = carom_scene_impact(f.scene);
        double v[ROOM], u[ROOM];
        carom_model_end end = {.velocity = v, .contact = u};
        carom_error error;
        const carom_model_run run = default_run();
        assert_ok(carom_model_simulator_run(f.simulator, &run, &end, &error), error);
        assert_true(end.ended && end.time > 0 && carom_impact_min_normal(impact, u) >= run.approach_limit);
        assert_true(carom_impact_kinetic_energy(impact, v) < carom_impact_initial_energy(impact));
        // Again, with the same bits.
        const double first = v[0];
        assert_ok(carom_model_simulator_run(f.simulator, &run, &end, &error), error);
        assert_true(v[0] == first);
        close_scene(&f);
    }
}

// A displaced start touches with its lowest corner: A turns into the ground, B is above it, and A's impact comes first.
static void displaced_starts_touch(void **state) {
    (void)state;
    fixture f = open_scene("scenes/block.yaml");
    const double displacement[] = {0, 0, 1e-2}, kick[] = {0, 1, 0};
    double v[ROOM], u[ROOM];
    carom_model_run run = default_run();
    run.timestep = 1e-4;
    run.solref[0] = 2e-3;
    run.displacement = displacement;
    carom_model_end end = {.velocity = v, .contact = u};
    carom_error error;
    assert_ok(carom_model_simulator_run(f.simulator, &run, &end, &error), error);
    // The sequential outcome, softened.
    assert_true(u[0] > 0.07 && fabs(u[1]) < 0.02);
    // Thrown up, nothing approaches.
    run.kick = kick;
    assert_ok(carom_model_simulator_run(f.simulator, &run, &end, &error), error);
    assert_true(end.ended && end.time == 0);
    assert_close(v[1], 1 - 0.44294469180700204, 1e-15);
    close_scene(&f);
}

static void bad_runs_are_refused(void **state) {
    (void)state;
    fixture f = open_scene("scenes/block.yaml");
    carom_model_run zero = default_run(), rigid = default_run(), backwards = default_run(), up = default_run();
    zero.timestep = 0;
    rigid.solimp[1] = 1.5;
    backwards.horizon = NAN;
    up.approach_limit = 1;
    const struct {
        const carom_model_run *run;
        const char *text;
    } rows[] = {{&zero, "timestep"}, {&rigid, "solimp[1]"}, {&backwards, "horizon"}, {&up, "approach_limit"}};
    double v[ROOM], u[ROOM];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_model_end end = {.velocity = v, .contact = u};
        carom_error error;
        assert_refused(carom_model_simulator_run(f.simulator, rows[i].run, &end, &error), CAROM_BAD_INPUT, error, rows[i].text);
    }
    close_scene(&f);
}

// ----------------------------------------------------------------------------------------------------------- the command

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static void comparison_says_how_much_is_shown(void **state) {
    (void)state;
    static char text[TEXT_SIZE];
    assert_int_equal(
        support_run_command("compare scenes/block.yaml --simulator mujoco --samples 512 --perturbations 3 --json", false, text, TEXT_SIZE),
        0);
    json_t *answer = json_loads(text, 0, NULL);
    const json_t *simulator = json_object_get(answer, "simulator");
    assert_string_equal(json_string_value(json_object_get(simulator, "set")), carom_exact_available() ? "halm-posa-exact" : "halm-posa");
    assert_int_equal(number(simulator, "runs"), 160);
    assert_int_equal(number(simulator, "unperturbed"), 40);
    assert_int_equal(number(simulator, "ended"), 160);
    assert_int_equal(number(json_object_get(json_object_get(answer, "laws"), "mujoco"), "count"), 160);
    // The default run comes to rest nearly: the far ends of both segments, 0.0930 m/s away, are not shown. More runs show more.
    const double one = number(simulator, "uncovered_by_default_run"), own = number(simulator, "uncovered_by_unperturbed_runs");
    const double all = number(simulator, "uncovered_by_all_runs");
    assert_true(one > 0.08 && one < 0.095 && own <= one && all < own);
    assert_true(number(simulator, "inside") > 40 && number(simulator, "outside") < 0.1);
    json_decref(answer);
    assert_int_equal(support_run_command("compare scenes/block.yaml --samples 8 --json", false, text, TEXT_SIZE), 0);
    answer = json_loads(text, 0, NULL);
    assert_true(json_is_null(json_object_get(answer, "simulator")));
    json_decref(answer);
}

static void comparison_writes_a_page(void **state) {
    (void)state;
    static char text[TEXT_SIZE];
    char *directory = support_make_directory(), arguments[1024];
    snprintf(arguments, sizeof arguments, "compare scenes/block.yaml --simulator mujoco --samples 64 --perturbations 0 -o %s", directory);
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    assert_non_null(strstr(text, "40 runs of MuJoCo"));
    snprintf(arguments, sizeof arguments, "%s/index.md", directory);
    FILE *page = fopen(arguments, "r");
    assert_non_null(page);
    text[fread(text, 1, TEXT_SIZE - 1, page)] = '\0';
    fclose(page);
    assert_non_null(strstr(text, "## What the simulator shows"));
    assert_non_null(strstr(text, "| `mujoco` | 40 |"));
    assert_non_null(strstr(text, "--simulator mujoco"));
    support_remove_directory(directory);
}

// The exit status of a comparison that is stopped some seconds after its start.
static int stop_comparison(int seconds, char *text) {
    const char *build = getenv("CAROM_BUILD");
    char command[4096];
    snprintf(command, sizeof command,
             "timeout --foreground --preserve-status -s INT %d %s/carom compare scenes/disks.yaml --simulator mujoco --samples 100000000 "
             "2>/dev/null",
             seconds, build && *build ? build : "build");
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, TEXT_SIZE - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// Stopped while the samples are drawn: no run of the simulator is there to be counted. A process that has not begun when the signal comes,
// as on a busy machine, just dies of it, and is given more time.
static void interrupted_comparison_has_no_runs(void **state) {
    (void)state;
    static char text[TEXT_SIZE];
    enum { DIED_OF_SIGNAL = 128 + SIGINT };
    int seconds = 1, status = stop_comparison(seconds, text);
    for (; status == DIED_OF_SIGNAL && seconds < 16; status = stop_comparison(seconds, text)) seconds *= 2;
    assert_int_equal(status, 1);
    assert_non_null(strstr(text, "no run of MuJoCo: interrupted"));
}

static void comparison_refuses(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *text;
    } rows[] = {
        {"compare scenes/block-matrices.yaml --simulator mujoco", "--simulator: scenes/block-matrices.yaml has no 'model'"},
        {"compare scenes/block.yaml --simulator bullet", "--simulator: 'bullet' is not a simulator"},
        {"compare scenes/block.yaml --perturb 1", "--perturb belongs to --simulator"},
        {"compare scenes/block.yaml --simulator mujoco --perturb x", "--perturb: "},
        {"compare scenes/block.yaml --simulator mujoco --horizon 0", "--horizon: "},
    };
    static char text[TEXT_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(support_run_command(rows[i].arguments, true, text, TEXT_SIZE), 2);
        assert_non_null(strstr(text, rows[i].text));
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_mujoco),
        cmocka_unit_test(disks_stay_mirrored),
        cmocka_unit_test(stops_that_are_left_out_do_not_act),
        cmocka_unit_test(impacts_end_and_lose_energy),
        cmocka_unit_test(displaced_starts_touch),
        cmocka_unit_test(bad_runs_are_refused),
        cmocka_unit_test(comparison_says_how_much_is_shown),
        cmocka_unit_test(comparison_writes_a_page),
        cmocka_unit_test(interrupted_comparison_has_no_runs),
        cmocka_unit_test(comparison_refuses),
    };
    return cmocka_run_group_tests_name("simulator", tests, start, stop);
}
