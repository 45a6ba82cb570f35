// SPDX-License-Identifier: Apache-2.0
// Compliant contact: the published sweeps of the block, derivatives against differences, symmetry, energy, bad input, and `carom compliant`
// end to end.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "compliant/compliant.h"
#include "support.h"

enum { POINTS = 51, MIDDLE = 25, TEXT_SIZE = 1 << 16, MOST_STATES = 16 };

// Spread of the outcomes over the tolerances of the integration, with some room [m/s].
#define ACCURACY 5e-9

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

static carom_scene *read_scene(const char *path) {
    carom_scene *scene;
    carom_error error;
    assert_ok(carom_scene_read_motion(path, registry, &scene, &error), error);
    return scene;
}

static const carom_system *system_of(const carom_scene *scene) {
    const carom_system *system;
    carom_error error;
    assert_ok(carom_scene_system(scene, &system, &error), error);
    return system;
}

static carom_compliant_options options_of(const carom_scene *scene, int sweep) {
    carom_compliant_options options = carom_compliant_defaults();
    options.sweep = sweep;
    options.system = system_of(scene);
    return options;
}

static carom_answer resolve(const carom_scene *scene, const carom_compliant_options *options, int threads) {
    carom_answer answer;
    carom_error error;
    const carom_control control = {.threads = threads};
    assert_ok(carom_law_resolve(&carom_compliant_law,
                                &(carom_law_call){.impact = carom_scene_impact(scene), .options = options, .control = &control}, &answer,
                                &error),
              error);
    assert_true(carom_answer_complete(&answer));
    return answer;
}

static const double *normals(const carom_answer *answer) {
    return carom_table_real_column(answer->outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
}

// --------------------------------------------------------------------------------------------------- published numbers

// The same equations by a Radau method of three stages in another program: good for about 1e-9.
static void stiffness_sweep_has_known_velocities(void **state) {
    (void)state;
    static const struct {
        int exponent;
        double lift;
    } known[] = {{0, -1e-9}, {1, 0.0385453474}, {3, 0.0829914871}, {5, 0.0918912894}};
    carom_scene *scene = read_scene("scenes/block-compliant.yaml");
    const carom_compliant_options options = options_of(scene, CAROM_SWEEP_STIFFNESS);
    carom_answer answer = resolve(scene, &options, 0);
    assert_int_equal(carom_table_rows(answer.outcomes), POINTS);
    const double *parameter = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_PARAMETER);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int above = MIDDLE + 5 * known[i].exponent, below = MIDDLE - 5 * known[i].exponent;
        assert_close(parameter[above], known[i].exponent, 1e-15);
        assert_close(normals(&answer)[2 * above], known[i].lift, ACCURACY);
        assert_close(normals(&answer)[2 * below + 1], known[i].lift, ACCURACY);
    }
    for (int i = 0; i < POINTS; i++) {
        assert_true(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_SETTLED)[i]);
        assert_true(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED)[i]);
        // One corner stays down, as in the rigid set: it ends at the speed of rest, 1e-9 m/s.
        assert_close(fmin(normals(&answer)[2 * i], normals(&answer)[2 * i + 1]), -1e-9, 1e-11);
    }
    carom_answer_free(&answer);
    carom_scene_free(scene);
}

static void angle_sweep_has_known_velocities(void **state) {
    (void)state;
    carom_scene *scene = read_scene("scenes/block-compliant.yaml");
    const carom_compliant_options options = options_of(scene, CAROM_SWEEP_ANGLE);
    carom_answer answer = resolve(scene, &options, 0);
    const double *u = normals(&answer), a = 0.21 * 0.44294469180700204;
    assert_close(u[2 * (POINTS - 1)], 0.0947203057, ACCURACY);
    assert_close(u[2 * (MIDDLE + 5)], 0.0535036691, ACCURACY);
    assert_close(100 * (u[2 * (POINTS - 1)] / a - 1), 1.83, 0.005);
    // A mirror image, and monotone.
    for (int i = 0; i < POINTS; i++) assert_close(u[2 * i], u[2 * (POINTS - 1 - i) + 1], ACCURACY);
    for (int i = MIDDLE; i < POINTS - 1; i++) assert_true(u[2 * i] < u[2 * (i + 1)]);
    const int column = CAROM_RESULT_COLUMNS + CAROM_COMPLIANT_FIRST_FRACTION;
    assert_close(*carom_table_real_column(answer.result, column), 0.999992, 5e-7);
    carom_answer_free(&answer);
    carom_scene_free(scene);
}

// A thousand times the width of regularised slip moves outcomes by some 1e-8 m/s.
static void regularisation_hardly_matters(void **state) {
    (void)state;
    carom_scene *scene = read_scene("scenes/block-compliant.yaml");
    carom_compliant_options options = options_of(scene, CAROM_SWEEP_STIFFNESS);
    options.slip_regularisation = 1e-7;
    carom_answer answer = resolve(scene, &options, 0);
    const double change = fabs(normals(&answer)[2 * (MIDDLE + 15)] - 0.0829914871);
    assert_true(change > 1e-10 && change < 1e-7);
    carom_answer_free(&answer);
    carom_scene_free(scene);
}

static void threads_do_not_change_bits(void **state) {
    (void)state;
    carom_scene *scene = read_scene("scenes/block-compliant.yaml");
    carom_compliant_options options = options_of(scene, CAROM_SWEEP_ANGLE);
    options.points = 7;
    carom_answer one = resolve(scene, &options, 1), three = resolve(scene, &options, 3);
    assert_memory_equal(normals(&one), normals(&three), 14 * sizeof(double));
    const size_t size = 21 * sizeof(double);
    assert_memory_equal(carom_table_real_column(one.outcomes, CAROM_OUTCOME_VELOCITY),
                        carom_table_real_column(three.outcomes, CAROM_OUTCOME_VELOCITY), size);
    carom_answer_free(&one);
    carom_answer_free(&three);
    carom_scene_free(scene);
}

// Dampers and friction take energy, springs keep it, gravity gives what the block sinks by, about 1e-4 m g h.
static void impacts_lose_energy(void **state) {
    (void)state;
    static const char *const scenes[] = {"scenes/block-compliant.yaml", "scenes/boxwall.yaml"};
    for (size_t k = 0; k < 2; k++) {
        carom_scene *scene = read_scene(scenes[k]);
        carom_compliant_options options = options_of(scene, CAROM_SWEEP_STIFFNESS);
        options.points = 11;
        carom_answer answer = resolve(scene, &options, 0);
        const double *ratio = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_ENERGY_RATIO);
        for (int i = 0; i < 11; i++) assert_true(ratio[i] >= 0 && ratio[i] < 0.2);
        carom_answer_free(&answer);
        carom_scene_free(scene);
    }
}

// ---------------------------------------------------------------------------------------------------------- derivatives

// A random state with all contacts closed, in which each does what it does there.
static void draw_state(compliant_motion *motion, carom_stream *stream, double *y) {
    for (int i = 0; i < motion->states; i++) y[i] = 1e-2 * carom_stream_normal(stream);
    for (int i = 0; i < motion->contacts; i++) {
        motion->stiffness[i] = 1e3 * (1 + carom_stream_uniform(stream));
        motion->damping[i] = 10 * carom_stream_uniform(stream);
    }
    compliant_evaluate(motion, y);
    for (int i = 0; i < motion->contacts; i++) motion->mode[i] = compliant_closed_mode(motion, y, i);
}

// Largest difference of the analytic Jacobian from central differences, over its largest entry.
static double jacobian_error(compliant_motion *motion, double *y) {
    const double step = 1e-7;
    double jacobian[MOST_STATES][MOST_STATES], *columns[MOST_STATES], above[MOST_STATES], below[MOST_STATES], error = 0, scale = 0;
    for (int j = 0; j < motion->states; j++) columns[j] = jacobian[j];
    compliant_linearise(motion, y, columns);
    for (int j = 0; j < motion->states; j++) {
        const double kept = y[j];
        y[j] = kept + step;
        compliant_derive(motion, y, above);
        y[j] = kept - step;
        compliant_derive(motion, y, below);
        y[j] = kept;
        for (int i = 0; i < motion->states; i++) {
            error = fmax(error, fabs((above[i] - below[i]) / (2 * step) - jacobian[j][i]));
            scale = fmax(scale, fabs(jacobian[j][i]));
        }
    }
    return error / scale;
}

static void jacobians_are_those_of_differences(void **state) {
    (void)state;
    static const char *const scenes[] = {"scenes/block.yaml", "scenes/boxwall.yaml"};
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    int sticks = 0, slides = 0, released = 0;
    for (size_t k = 0; k < 2; k++) {
        carom_scene *scene = read_scene(scenes[k]);
        compliant_motion motion;
        carom_error error;
        assert_ok(compliant_motion_create(system_of(scene), 1e-2, &motion, &error), error);
        for (int trial = 0; trial < 100; trial++) {
            double y[MOST_STATES];
            draw_state(&motion, &stream, y);
            assert_true(jacobian_error(&motion, y) < 1e-6);
            for (int i = 0; i < motion.contacts; i++) {
                sticks += motion.mode[i] == COMPLIANT_STICKS;
                slides += motion.mode[i] > COMPLIANT_STICKS;
                released += motion.mode[i] == COMPLIANT_RELEASED;
            }
        }
        compliant_motion_release(&motion);
        carom_scene_free(scene);
    }
    assert_true(sticks > 20 && slides > 20 && released > 20);
}

// Second derivatives of a chain of links against differences of the contact Jacobians, and v' H v against the drift.
static void curvatures_are_those_of_differences(void **state) {
    (void)state;
    carom_scene *scene = read_scene("scenes/compass.yaml");
    const carom_system *system = system_of(scene);
    compliant_motion motion;
    carom_error error;
    assert_ok(compliant_motion_create(system, 1, &motion, &error), error);
    const int nv = motion.nv;
    const double step = 1e-6;
    double y[MOST_STATES], normal[MOST_STATES], tangent[MOST_STATES], plus[2][MOST_STATES];
    carom_stream stream;
    carom_stream_start(&stream, 6, 0);
    for (int trial = 0; trial < 20; trial++) {
        for (int j = 0; j < motion.states; j++) y[j] = carom_stream_normal(&stream);
        for (int i = 0; i < motion.contacts; i++) {
            compliant_evaluate(&motion, y);
            system->curve(motion.opened, i, normal, tangent);
            double drift = 0;
            for (int j = 0; j < nv; j++) drift += y[nv + j] * carom_dot(nv, normal + j * nv, y + nv);
            assert_close(drift, motion.terms.normal_drift[i], 1e-12);
            for (int j = 0; j < nv; j++) {
                for (int side = 0; side < 2; side++) {
                    double moved[MOST_STATES];
                    memcpy(moved, y, sizeof moved);
                    moved[j] += side ? step : -step;
                    compliant_evaluate(&motion, moved);
                    memcpy(plus[side], motion.terms.tangent + i * nv, (size_t)nv * sizeof(double));
                }
                for (int l = 0; l < nv; l++) assert_close((plus[1][l] - plus[0][l]) / (2 * step), tangent[j * nv + l], 1e-8);
            }
        }
    }
    compliant_motion_release(&motion);
    carom_scene_free(scene);
}

// ------------------------------------------------------------------------------------------------------------ bad input

static void sweeps_that_cannot_be_are_refused(void **state) {
    (void)state;
    carom_scene *boxwall = read_scene("scenes/boxwall.yaml"), *compass = read_scene("scenes/compass.yaml");
    const struct {
        const carom_scene *scene;
        carom_compliant_options options;
        carom_status status;
        const char *text;
    } rows[] = {
        {boxwall, options_of(boxwall, CAROM_SWEEP_ANGLE), CAROM_UNSUPPORTED, "one normal that all contacts have"},
        {compass, options_of(compass, CAROM_SWEEP_ANGLE), CAROM_UNSUPPORTED, "the model has 2"},
        {boxwall, carom_compliant_defaults(), CAROM_BAD_INPUT, "needs a system"},
        {boxwall, options_of(compass, CAROM_SWEEP_STIFFNESS), CAROM_BAD_INPUT, "not those of the impact"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        carom_answer answer;
        carom_error error;
        assert_refused(carom_law_resolve(&carom_compliant_law,
                                         &(carom_law_call){.impact = carom_scene_impact(rows[i].scene), .options = &rows[i].options},
                                         &answer, &error),
                       rows[i].status, error, rows[i].text);
    }
    carom_scene_free(boxwall);
    carom_scene_free(compass);
}

// Without dampers both springs of a block that falls flat push from zero on: x'' = g - w^2 x until x' = 0.
static void undamped_springs_push(void **state) {
    (void)state;
    const double stiffness = 1e6, gravity = 9.81, mass = 1, frequency = sqrt(2 * stiffness / mass);
    carom_scene *scene = read_scene("scenes/block.yaml");
    carom_compliant_options options = options_of(scene, CAROM_SWEEP_STIFFNESS);
    options.points = 1;
    options.damping_ratio = 0;
    options.min_stiffness = stiffness;
    carom_answer answer = resolve(scene, &options, 1);
    const double speed = -system_of(scene)->velocity[1], pi = acos(-1);
    const double time = (pi - atan(speed * frequency / gravity)) / frequency;
    assert_true(carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_SETTLED)[0]);
    assert_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_COMPLIANT_TIME)[0], time, 1e-9);
    const double *impulse = carom_table_real_column(answer.outcomes, CAROM_OUTCOME_NORMAL_IMPULSE);
    for (int i = 0; i < 2; i++) assert_close(impulse[i], mass * (speed + gravity * time) / 2, ACCURACY);
    carom_answer_free(&answer);
    carom_scene_free(scene);
}

// An angle whose potential energy is more than the block has.
static void too_large_an_angle_is_refused(void **state) {
    (void)state;
    carom_scene *scene = read_scene("scenes/block.yaml");
    carom_compliant_options options = options_of(scene, CAROM_SWEEP_ANGLE);
    options.angle = 10;
    carom_answer answer;
    carom_error error;
    assert_refused(carom_law_resolve(&carom_compliant_law, &(carom_law_call){.impact = carom_scene_impact(scene), .options = &options},
                                     &answer, &error),
                   CAROM_BAD_INPUT, error, "angle: ");
    carom_scene_free(scene);
}

// ----------------------------------------------------------------------------------------------------------- the command

static json_t *ask(const char *arguments) {
    static char text[TEXT_SIZE];
    assert_int_equal(support_run_command(arguments, false, text, TEXT_SIZE), 0);
    json_t *answer = json_loads(text, 0, NULL);
    assert_non_null(answer);
    return answer;
}

static int count_contained(const json_t *answer) {
    size_t i;
    json_t *point;
    int count = 0;
    json_array_foreach(json_object_get(answer, "points"), i, point) count += json_is_true(json_object_get(point, "contained"));
    return count;
}

// All of the stiffness sweep is in the exact set; large angles leave it.
static void command_lays_sweeps_over_the_set(void **state) {
    (void)state;
    if (!carom_exact_available()) skip();
    json_t *answer = ask("compliant scenes/block-compliant.yaml --json");
    assert_string_equal(json_string_value(json_object_get(answer, "schema")), "carom.compliant/1");
    assert_int_equal(json_array_size(json_object_get(answer, "points")), POINTS);
    assert_int_equal(count_contained(answer), POINTS);
    assert_true(json_is_null(json_object_get(answer, "first_corner_fraction")));
    json_decref(answer);

    answer = ask("compliant scenes/block-compliant.yaml --sweep angle --json");
    assert_int_equal(count_contained(answer), 27);
    const json_t *excess = json_object_get(answer, "excess");
    for (size_t i = 0; i < 2; i++) assert_close(json_number_value(json_array_get(excess, i)), 0.0183, 5e-5);
    assert_close(json_number_value(json_object_get(answer, "first_corner_fraction")), 0.999992, 5e-7);
    json_decref(answer);
}

static void command_says_what_is_missing(void **state) {
    (void)state;
    static char text[TEXT_SIZE];
    // A set that was not computed because nothing approaches has its reason.
    assert_int_equal(support_run_command("compliant scenes/dropped-block.yaml --points 1", false, text, TEXT_SIZE), 1);
    assert_non_null(strstr(text, carom_exact_available() ? "lay it over: no contact approaches" : "lay it over: this build has none"));
    if (!carom_exact_available()) skip();
    // Impacts that the horizon cuts off show no excess.
    assert_int_equal(
        support_run_command("compliant scenes/block.yaml --points 3 --horizon 1e-5 --threads 1 --json", false, text, TEXT_SIZE), 0);
    json_t *answer = json_loads(text, 0, NULL);
    for (size_t i = 0; i < 2; i++) assert_true(json_is_null(json_array_get(json_object_get(answer, "excess"), i)));
    json_decref(answer);
    assert_int_equal(support_run_command("compliant scenes/block.yaml --points 3 --horizon 1e-5 --threads 2", false, text, TEXT_SIZE), 0);
    assert_non_null(strstr(text, "0 of 3 settled"));
    assert_null(strstr(text, "largest value"));
}

static void command_writes_files(void **state) {
    (void)state;
    // Without the set to lay over, the status says so.
    if (!carom_exact_available()) skip();
    char *directory = support_make_directory(), arguments[1024], path[512];
    snprintf(arguments, sizeof arguments, "compliant scenes/block.yaml --points 3 --json -o %s/r.h5 --figure %s/r.png", directory,
             directory);
    json_decref(ask(arguments));
    // The sweep is a set like others.
    snprintf(arguments, sizeof arguments, "query %s/r.h5 --law compliant --max Jn.A --json", directory);
    json_t *answer = ask(arguments);
    assert_close(json_number_value(json_object_get(answer, "maximum")), 0.0918912894, ACCURACY);
    json_decref(answer);
    snprintf(path, sizeof path, "%s/r.png", directory);
    FILE *picture = fopen(path, "rb");
    assert_non_null(picture);
    assert_int_equal(fgetc(picture), 0x89);
    fclose(picture);
    support_remove_directory(directory);
}

static void command_refuses(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *text;
    } rows[] = {
        {"compliant scenes/block-matrices.yaml", "a mechanism needs a scene with 'model'"},
        {"compliant scenes/cube-k4.yaml", "slide and hinge joints only"},
        {"compliant scenes/boxwall.yaml --sweep angle", "carom: --sweep: angle needs slides"},
        {"compliant scenes/block.yaml --sweep mass", "--sweep: "},
        {"compliant scenes/block.yaml --points 0", "--points: "},
        {"compliant scenes/block.yaml --horizon 1e-300", "--horizon: "},
        {"compliant scenes/block.yaml --threads 0", "--threads: "},
        {"compliant scenes/dropped-block.yaml --sweep angle", "angle: the system rests"},
        {"compliant scenes/block.yaml --damping-ratio nan", "--damping-ratio: "},
        {"compliant %s/bad.yaml", "bad.yaml:4: compliant.stiffnes: "},
    };
    char *directory = support_make_directory(), text[TEXT_SIZE], arguments[1024];
    char *path = support_write_file(directory, "bad.yaml",
                                    "model: block.xml\nstate: {qpos: [0, 1, 0], qvel: [0, -1, 0]}\n"
                                    "contacts: [{name: A, site: left, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1}]\n"
                                    "compliant: {stiffnes: 1e6}\n");
    char *model = support_write_file(directory, "block.xml",
                                     "<mujoco><worldbody><body><joint type='slide' axis='0 0 1'/><joint type='slide' axis='1 0 0'/>"
                                     "<joint type='hinge' axis='0 1 0'/><geom size='1'/><site name='left'/></body></worldbody></mujoco>");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(arguments, sizeof arguments, rows[i].arguments, directory);
        assert_int_equal(support_run_command(arguments, true, text, TEXT_SIZE), 2);
        assert_non_null(strstr(text, rows[i].text));
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    }
    free(path);
    free(model);
    support_remove_directory(directory);
}

static void builds_without_sundials_say_so(void **state) {
    (void)state;
    if (carom_compliant_available() || !support_has("MUJOCO")) skip();
    static char text[TEXT_SIZE];
    assert_int_equal(support_run_command("compliant scenes/block.yaml", true, text, TEXT_SIZE), 2);
    assert_non_null(strstr(text, "libsundials-dev"));
}

int main(void) {
    const struct CMUnitTest with_sundials[] = {
        cmocka_unit_test(stiffness_sweep_has_known_velocities),
        cmocka_unit_test(angle_sweep_has_known_velocities),
        cmocka_unit_test(regularisation_hardly_matters),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(impacts_lose_energy),
        cmocka_unit_test(sweeps_that_cannot_be_are_refused),
        cmocka_unit_test(undamped_springs_push),
        cmocka_unit_test(too_large_an_angle_is_refused),
        cmocka_unit_test(command_lays_sweeps_over_the_set),
        cmocka_unit_test(command_says_what_is_missing),
        cmocka_unit_test(command_writes_files),
        cmocka_unit_test(command_refuses),
    };
    const struct CMUnitTest everywhere[] = {
        cmocka_unit_test(jacobians_are_those_of_differences),
        cmocka_unit_test(curvatures_are_those_of_differences),
        cmocka_unit_test(builds_without_sundials_say_so),
    };
    int failed = cmocka_run_group_tests_name("compliant motion", everywhere, start, stop);
    if (carom_compliant_available()) failed += cmocka_run_group_tests_name("compliant", with_sundials, start, stop);
    return failed;
}
