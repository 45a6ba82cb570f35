// SPDX-License-Identifier: Apache-2.0
// `carom simulate`: motions of every integrator, their files and figures, ensembles and studies.
#include "command_support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------------------------------- one
// body

static void check_size(const char *path, const char *dataset, const size_t expected[2]) {
    size_t size[2];
    read_size(path, dataset, size);
    assert_int_equal(size[0], expected[0]);
    assert_int_equal(size[1], expected[1]);
}

static void check_figures(const char *directory, const json_t *answer, size_t count) {
    assert_int_equal(length(answer, "figures"), count);
    for (size_t i = 0; i < count; i++) {
        char place[32], path[PATH_SIZE];
        snprintf(place, sizeof place, "figures.%zu", i);
        assert_true(is_png(join(path, directory, text(answer, place))));
    }
}

// The trajectory on the grid, the impacts and what they came from are in the file; figures stand beside it.
static void motions_go_to_json_and_files(void **state) {
    char scene[PATH_SIZE], path[PATH_SIZE];
    json_t *answer = ask(*state, "simulate", motion_path("ellipsoid", scene), "--duration", "6", "-o", "e.h5", "--figures", "e");
    assert_string_equal(text(answer, "schema"), "carom.simulate/1");
    assert_string_equal(text(answer, "integrator"), "lgvci");
    assert_true(is_true(answer, "complete"));
    assert_close(number(answer, "steps"), 600, 0);
    assert_int_equal(length(answer, "impacts"), 3);
    assert_close(number(answer, "impacts.0.time"), 2.64913234317539, 1e-10);
    assert_close(number(answer, "impacts.0.normal_impulse"), 27.586410197743056, 1e-9);
    check_numbers(answer, "impacts.0.momentum_after", (double[]){2, 2, 11.607296504542049}, 3, 1e-8);
    assert_int_equal(length(answer, "impacts.0.attitude"), 3);
    assert_int_equal(length(answer, "final.attitude.2"), 3);
    assert_close(number(answer, "final.time"), 6, 1e-15);
    assert_true(number(answer, "max_relative_energy_error") < 1e-13);
    assert_true(number(answer, "max_orthogonality_error") < 1e-12);
    check_figures(*state, answer, 5);
    assert_int_equal(read_complete(join(path, *state, "e.h5")), 1);
    const char *const sets[] = {"lgvci/states/attitude", "lgvci/impacts/momentum_after", "lgvci/final/time"};
    const size_t sizes[][2] = {{601, 9}, {3, 3}, {1, 0}};
    for (int i = 0; i < 3; i++) check_size(path, sets[i], sizes[i]);
    json_decref(answer);
}

static void motions_print_a_table(void **state) {
    char scene[PATH_SIZE];
    report r = run(*state, "simulate", motion_path("bouncing-box", scene), "--duration", "4");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "box on a plane, integrator lgvci: 400 steps, 4 s, 2 impacts, complete"));
    assert_non_null(strstr(r.out, "2.60887287"));
    release(&r);
    r = run(*state, "simulate", motion_path("zeno-block", scene));
    assert_non_null(strstr(r.out, "1 accumulation of impacts, the first at t = 2.6714213"));
    assert_non_null(strstr(r.out, "collision"));
    release(&r);
    write_text(*state, "rest.yaml", BALL_AT "1]}\nsimulate: {integrator: lgvci}\n");
    r = run(*state, "simulate", "rest.yaml");
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.out, "\npersistent-contact: a body touches without approaching"));
    release(&r);
    r = run(*state, "simulate", "--list");
    assert_non_null(strstr(r.out, "lgvci "));
    release(&r);
}

// Members are the same for any number of threads, and drift away from the reference from impact to impact.
static void ensembles_do_not_depend_on_threads(void **state) {
    char scene[PATH_SIZE];
    motion_path("bouncing-box", scene);
    json_t *one = ask(*state, "simulate", scene, "--ensemble", "6", "--perturb", "1e-8", "--threads", "1");
    json_t *many = ask(*state, "simulate", scene, "--ensemble", "6", "--perturb", "1e-8", "--threads", "4");
    assert_int_equal(length(one, "ensemble.members"), 6);
    assert_true(json_equal(at(one, "ensemble"), at(many, "ensemble")));
    const double first = number(one, "ensemble.members.0.distances.0"), last = number(one, "ensemble.members.0.distances.5");
    assert_true(first > 1e-9 && first < 1e-6 && last > 100 * first);
    json_decref(one);
    json_decref(many);
}

// A run that ends early is an answer that says so.
static void early_ends_are_incomplete(void **state) {
    write_text(*state, "rest.yaml", BALL_AT "1]}\nsimulate: {integrator: lgvci}\n");
    json_t *answer = ask_for(1, *state, "simulate", "rest.yaml");
    assert_string_equal(text(answer, "verdict"), "persistent-contact");
    assert_false(is_true(answer, "complete"));
    json_decref(answer);
    write_text(*state, "zeno.yaml", BALL_AT "1.0000001]}\nsimulate: {integrator: lgvci, max_impacts: 3}\n");
    answer = ask_for(1, *state, "simulate", "zeno.yaml");
    assert_string_equal(text(answer, "verdict"), "zeno-limit");
    json_decref(answer);
}

// Options of the law come from `impact`, those of the integrator from `simulate`, and the command line wins.
static void laws_of_motions_come_from_the_scene(void **state) {
    write_text(*state, "law.yaml", BALL_AT "2]}\nsimulate: {integrator: lgvci, law: moreau, duration: 1}\nimpact: {restitution: 0.5}\n");
    json_t *half = ask(*state, "simulate", "law.yaml"), *full = ask(*state, "simulate", "law.yaml", "--restitution", "1");
    const double fall = sqrt(2 * 9.80665);
    assert_close(number(half, "impacts.0.normal_impulse"), 1.5 * fall, 1e-9);
    assert_close(number(full, "impacts.0.normal_impulse"), 2 * fall, 1e-9);
    json_decref(half);
    json_decref(full);
}

// The law may stand under `impact`, and its options on the command line, beside those of the integrator.
static void laws_of_motions_take_options(void **state) {
    write_text(*state, "law.yaml",
               BALL_AT "2], momentum: [3, 0, 0]}\nsimulate: {integrator: lgvci, duration: 1, friction: 0.1}\nimpact: {law: stronge, "
                       "restitution: 0.5}\n");
    json_t *scene = ask(*state, "simulate", "law.yaml"),
           *line = ask(*state, "simulate", "law.yaml", "--hypothesis", "newton", "--tolerance", "1e-9", "--restitution", "0.8");
    const double fall = sqrt(2 * 9.80665);
    assert_string_equal(text(scene, "law"), "stronge");
    assert_close(number(scene, "impacts.0.normal_impulse"), 1.5 * fall, 1e-9);
    assert_close(number(scene, "impacts.0.momentum_after.0"), 3 - 0.1 * 1.5 * fall, 1e-9);
    assert_close(number(line, "impacts.0.normal_impulse"), 1.8 * fall, 1e-9);
    json_decref(scene);
    json_decref(line);
}

// ------------------------------------------------------------------------------------------------------------------------------ many
// bodies

// States at the times asked for, with a list of bodies each; the file has them on the grid.
static void bodies_go_to_json_and_files(void **state) {
    char scene[PATH_SIZE], path[PATH_SIZE];
    json_t *answer = ask(*state, "simulate", motion_path("pendulum", scene), "-o", "p.h5");
    assert_string_equal(text(answer, "integrator"), "rodrigues");
    assert_true(is_true(answer, "complete"));
    assert_close(number(answer, "steps"), 1000, 0);
    assert_int_equal(length(answer, "states"), 4);
    assert_close(number(answer, "states.2.time"), 5, 1e-15);
    assert_int_equal(length(answer, "states.2.bodies"), 1);
    // At h = 0.01 the map `tan` is 6e-5 off.
    check_numbers(answer, "states.2.bodies.0.attitude", (double[]){0.262410843547, 0.145179892492, -0.904275048155, 0.303891403775}, 4,
                  1e-4);
    check_numbers(answer, "states.2.bodies.0.angular_velocity", (double[]){-0.313900216207, -0.022758757365, 0.2}, 3, 1e-4);
    assert_close(number(answer, "max_relative_energy_error") * 0.7471067811865476, 6.249999e-6, 1e-11);
    assert_int_equal(length(answer, "impacts"), 0);
    json_decref(answer);
    assert_int_equal(read_complete(join(path, *state, "p.h5")), 1);
    check_size(path, "rodrigues/states/time", (size_t[]){1001, 0});
    check_size(path, "rodrigues/states/attitude", (size_t[]){1001, 4});
}

static void bodies_are_drawn(void **state) {
    char scene[PATH_SIZE];
    json_t *answer = ask(*state, "simulate", motion_path("torus", scene), "--duration", "0.2", "--figures", "t", "--convergence", "2");
    check_figures(*state, answer, 8);
    assert_int_equal(length(answer, "convergence"), 2);
    assert_close(number(answer, "convergence.1.step"), 0.0005, 1e-18);
    const double order = log2(number(answer, "convergence.0.position") / number(answer, "convergence.1.position"));
    assert_true(order > 1.5 && order < 2.5);
    json_decref(answer);
    report r = run(*state, "simulate", motion_path("pendulum", scene), "--step", "0.1", "--convergence", "3");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "norm_measure"));
    assert_non_null(strstr(r.out, "0.001345   1.99"));
    release(&r);
}

// One file a state, a list of them, and the last state under the name itself; in both kinds.
static void bodies_go_to_vtk(void **state) {
    char scene[PATH_SIZE], path[PATH_SIZE], bytes[64];
    motion_path("rough-ball", scene);
    json_decref(ask(*state, "simulate", scene, "--duration", "0.02", "--vtk", "b.vtk"));
    json_decref(ask(*state, "simulate", scene, "--duration", "0.02", "-o", "b.vtp"));
    const char *const names[] = {"b.vtk", "b-000002.vtk", "b.vtp", "b-000000.vtp", "b.vtk.series", "b.vtp.series"};
    const char *const starts[] = {"# vtk DataFile", "# vtk DataFile", "<?xml", "<?xml", "{\"file-series", "{\"file-series"};
    for (int i = 0; i < 6; i++) {
        read_start(join(path, *state, names[i]), bytes, sizeof bytes);
        assert_memory_equal(bytes, starts[i], strlen(starts[i]));
    }
    json_error_t problem;
    json_t *list = json_load_file(join(path, *state, "b.vtk.series"), 0, &problem);
    assert_non_null(list);
    assert_int_equal(length(list, "files"), 3);
    assert_string_equal(text(list, "files.2.name"), "b-000002.vtk");
    assert_close(number(list, "files.2.time"), 0.02, 1e-15);
    json_decref(list);
}

// A step beyond the stiffness is found out, named, and kept apart from an answer.
static void unstable_steps_are_incomplete(void **state) {
    char scene[PATH_SIZE];
    json_t *answer = ask_for(1, *state, "simulate", motion_path("torus", scene), "--step", "0.01");
    assert_string_equal(text(answer, "verdict"), "energy-limit");
    assert_non_null(strstr(text(answer, "message"), "the step times the stiffest frequency is"));
    json_decref(answer);
    answer = ask_for(1, *state, "simulate", motion_path("pendulum", scene), "--map", "sin", "--step", "1");
    assert_string_equal(text(answer, "verdict"), "step-too-large");
    json_decref(answer);
}

// A thousand spheres, to the same bits with any number of threads.
static void boxes_of_spheres_do_not_depend_on_threads(void **state) {
    char scene[PATH_SIZE];
    motion_path("box-of-spheres", scene);
    json_t *one = ask(*state, "simulate", scene, "--duration", "0.1", "--threads", "1");
    json_t *many = ask(*state, "simulate", scene, "--duration", "0.1", "--threads", "3");
    assert_int_equal(length(one, "final.bodies"), 1000);
    assert_true(json_equal(at(one, "final"), at(many, "final")));
    assert_true(json_equal(at(one, "impacts"), at(many, "impacts")));
    assert_true(length(one, "impacts") > 300);
    assert_true(number(one, "max_relative_energy_error") < 1e-13);
    json_decref(one);
    json_decref(many);
}

// ------------------------------------------------------------------------------------------------------------------------ systems and
// balls

// A mechanism over time and accumulated impulse (Halm & Posa 2023, Figure 8), with the limit of its impacts.
static void systems_move_through_their_accumulation(void **state) {
    char scene[PATH_SIZE], path[PATH_SIZE];
    json_t *answer = ask(*state, "simulate", motion_path("zeno-block", scene), "-o", "z.h5", "--figures", "z");
    assert_string_equal(text(answer, "integrator"), "inclusion");
    assert_true(is_true(answer, "complete"));
    assert_close(number(answer, "accumulation.t"), 2.671421398374244, 1e-8);
    assert_close(number(answer, "accumulation.s"), 28.378065316425578, 1e-8);
    assert_string_equal(text(answer, "impacts.0.contacts.1"), "B");
    assert_close(number(answer, "impacts.0.s"), 9.673013597085593, 1e-9);
    assert_close(number(answer, "impacts.0.outcome"), 0, 0);
    check_numbers(answer, "final.qpos", (double[]){0, 1, 0}, 3, 1e-9);
    check_numbers(answer, "final.qvel", (double[]){0, 0, 0}, 3, 1e-12);
    assert_close(number(answer, "final.t"), 4, 1e-12);
    assert_int_equal(length(answer, "figures"), 8);
    assert_true(is_png(join(path, *state, text(answer, "figures.6"))));
    assert_int_equal(read_complete(join(path, *state, "z.h5")), 1);
    json_decref(answer);
    answer = ask(*state, "simulate", motion_path("painleve-rod", scene), "--duration", "0.01");
    assert_true(json_is_null(at(answer, "accumulation")));
    assert_string_equal(text(answer, "impacts.0.kind"), "without-collision");
    json_decref(answer);
}

// Members draw among the outcomes of a flat drop, whatever threads there are.
static void bundles_do_not_depend_on_threads(void **state) {
    char scene[PATH_SIZE], path[PATH_SIZE];
    motion_path("dropped-block", scene);
    json_t *one = ask(*state, "simulate", scene, "--ensemble", "8", "--threads", "1", "--figures", "b");
    json_t *many = ask(*state, "simulate", scene, "--ensemble", "8", "--threads", "4");
    assert_int_equal(length(one, "ensemble.members"), 8);
    assert_true(json_equal(at(one, "ensemble"), at(many, "ensemble")));
    assert_int_equal(length(one, "ensemble.members.7.final_state"), 6);
    assert_true(number(one, "ensemble.members.0.impact_count") != number(one, "ensemble.members.3.impact_count"));
    assert_int_equal(length(one, "figures"), 9);
    assert_true(is_png(join(path, *state, text(one, "figures.8"))));
    json_decref(one);
    json_decref(many);
}

// Members that did not get to the end are counted.
static void members_that_end_early_are_reported(void **state) {
    char scene[PATH_SIZE], line[2 * PATH_SIZE];
    snprintf(line, sizeof line, "$carom simulate %s --ensemble 3 --max-impacts 3", motion_path("zeno-block", scene));
    char *said = run_line(*state, 1, line);
    check_text(said, "3 of 3 members are not complete: zeno-limit 3; --json says why");
    free(said);
}

// The restitution of a motion through propagative impacts comes from `impact`, too; contacts that stay closed have their names.
static void balls_move(void **state) {
    write_text(*state, "balls.yaml", TWO_BALLS "impact: {restitution: 0.5}\nsimulate: {integrator: propagative, duration: 2, step: 0.1}\n");
    json_t *answer = ask(*state, "simulate", "balls.yaml", "-o", "b.h5", "--figures", "b");
    assert_int_equal(length(answer, "impacts"), 1);
    assert_close(number(answer, "impacts.0.time"), 1, 1e-14);
    assert_string_equal(text(answer, "impacts.0.word.0"), "1:2");
    assert_string_equal(text(answer, "impacts.0.kind"), "inelastic");
    assert_close(number(answer, "impacts.0.energy_ratio"), 0.625, 1e-14);
    check_numbers(answer, "final.qvel", (double[]){0.25, 0.75}, 2, 1e-14);
    assert_true(json_is_null(at(answer, "zeno_time")));
    assert_int_equal(length(answer, "figures"), 3);
    char path[PATH_SIZE];
    assert_int_equal(read_complete(join(path, *state, "b.h5")), 1);
    json_decref(answer);
    answer = ask(*state, "simulate", "balls.yaml", "--restitution", "0");
    assert_string_equal(text(answer, "impacts.0.kind"), "plastic");
    assert_true(json_is_null(at(answer, "impacts.0.word")));
    assert_string_equal(text(answer, "final.held.0"), "1:2");
    json_decref(answer);
    // Two steps that cannot be solved: springs are too stiff for them.
    write_text(*state, "stiff.yaml",
               "balls: {masses: [1, 1], radius: 0.5, positions: [-2, 0], velocities: [1, 0], stiffness: 1e6, rest: [-2, 0]}\n"
               "simulate: {integrator: propagative, duration: 2, step: 0.1}\n");
    answer = ask_for(1, *state, "simulate", "stiff.yaml");
    assert_string_equal(text(answer, "verdict"), "no-convergence");
    assert_close(number(answer, "steps"), 0, 0);
    json_decref(answer);
}

// A rack's break depends on the order, and so does each member with an order of its own; for any number of threads.
static void racks_break_in_random_orders(void **state) {
    char scene[PATH_SIZE];
    motion_path("rack", scene);
    json_t *one =
        ask(*state, "simulate", scene, "--order", "random", "--ensemble", "4", "--duration", "1", "--threads", "1", "--figures", "r");
    json_t *many = ask(*state, "simulate", scene, "--order", "random", "--ensemble", "4", "--duration", "1", "--threads", "3");
    assert_string_equal(text(one, "impacts.0.uniqueness"), "multiple");
    assert_true(number(one, "impacts.0.xi") > 0.5);
    assert_int_equal(length(one, "ensemble.members"), 4);
    assert_true(json_equal(at(one, "ensemble"), at(many, "ensemble")));
    assert_int_equal(length(one, "figures"), 3);
    json_decref(one);
    json_decref(many);
}

// Two copies of the biped part at its first impact by xi; those of the designed one stay together (Figure 8 of Seghete & Murphey).
static void orders_part_as_given_and_not_as_designed(void **state) {
    char scene[PATH_SIZE], path[PATH_SIZE];
    motion_path("tailed-biped", scene);
    json_t *answer = ask(*state, "simulate", scene, "--orders", "--duration", "0.05", "--figures", "o");
    assert_int_equal(length(answer, "orders"), 1);
    assert_string_equal(text(answer, "orders.0.scene"), "as given");
    assert_close(number(answer, "orders.0.distances.0"), 0, 0);
    assert_true(fabs(number(answer, "impacts.0.xi") - 2.252007e-4) < 1e-9);
    assert_true(number(answer, "orders.0.distances.1") > 2e-4 && number(answer, "orders.0.distances.1") < 2.252e-4);
    assert_int_equal(length(answer, "orders.0.times"), 101);
    assert_true(is_png(join(path, *state, "o-orders.png")));
    json_decref(answer);
    report r = run(*state, "simulate", scene, "--orders", "--design", "--duration", "0.05", "--json");
    // A build without KINSOL says so.
    if (r.status == 2) {
        assert_non_null(strstr(r.err, "KINSOL"));
    } else {
        assert_int_equal(r.status, 0);
        answer = parse(&r);
        assert_string_equal(text(answer, "orders.1.scene"), "designed");
        assert_true(number(answer, "orders.1.largest_distance") <= 1e-9);
        json_decref(answer);
    }
    // With straight legs they are of other motions at once.
    motion_path("tailed-biped-straight", scene);
    answer = ask(*state, "simulate", scene, "--orders", "--duration", "0.05");
    assert_close(number(answer, "impacts.0.xi"), 0.283680806, 1e-8);
    assert_true(number(answer, "orders.0.largest_distance") > 0.1);
    json_decref(answer);
    release(&r);
}

// What stands on the terminal, and how the command ends.
static void check_said(void *directory, int status, const char *const words[], const char *part) {
    report r = run_request(&(request){.directory = directory, .arguments = words});
    assert_int_equal(r.status, status);
    assert_non_null(strstr(status == 2 ? r.err : r.out, part));
    release(&r);
}

static void texts_of_propagative_impacts_say_what_matters(void **state) {
    char wedge[PATH_SIZE], cradle[PATH_SIZE];
    motion_path("bouncing-wedge", wedge);
    motion_path("swinging-cradle", cradle);
    write_text(*state, "slide.yaml",
               "matrices: {M: [[1, 0], [0, 1]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.5], v: [1, -1]}\nimpact: {law: propagative}\n");
    write_text(*state, "stiff.yaml",
               "balls: {masses: [1, 1], radius: 0.5, positions: [-2, 0], velocities: [1, 0], stiffness: 1e6, rest: [-2, 0]}\n"
               "simulate: {integrator: propagative, duration: 2, step: 0.1}\n");
    check_said(*state, 0, WORDS("resolve", "slide.yaml"), "(friction-ignored)");
    check_said(*state, 0, WORDS("simulate", wedge, "--restitution", "0.8", "--duration", "6"), "complete");
    check_said(*state, 0, WORDS("simulate", cradle, "--orders", "-o", "c.h5"), "as given: the same motion\n");
    check_said(*state, 1, WORDS("simulate", "stiff.yaml"), "an equation of a step could not be solved");
    check_said(*state, 2, WORDS("plot", "c.h5"), "it holds a motion and no outcomes");
}

// -----------------------------------------------------------------------------------------------------------------------------------
// Ctrl-C

// The members of an ensemble that were on their way say nothing; those before them are all there, on a slow machine none.
static void an_interrupted_ensemble_keeps_its_finished_members(void **state) {
    char scene[PATH_SIZE];
    json_t *stopped = stop(&(request){.directory = *state,
                                      .arguments = WORDS("simulate", motion_path("zeno-block", scene), "--ensemble", "1000000", "--json")},
                           SIGINT);
    const json_t *members = at(stopped, "ensemble.members");
    assert_true(json_is_array(members));
    assert_false(is_true(stopped, "complete"));
    assert_string_equal(text(stopped, "verdict"), "interrupted");
    for (size_t i = 0; i < json_array_size(members); i++) {
        assert_string_equal(text(json_array_get(members, i), "verdict"), "complete");
        assert_int_equal(number(json_array_get(members, i), "index"), i);
    }
    json_decref(stopped);
}

// What comes after a motion, its convergence or other orders, may be cut short: the motion stays.
static void interrupted_studies_leave_the_motion(void **state) {
    char pendulum[PATH_SIZE], biped[PATH_SIZE];
    motion_path("pendulum", pendulum);
    motion_path("tailed-biped", biped);
    json_t *stopped =
        stop(&(request){.directory = *state, .arguments = WORDS("simulate", pendulum, "--step", "1e-3", "--convergence", "20", "--json")},
             SIGINT);
    assert_false(is_true(stopped, "complete"));
    assert_string_equal(text(stopped, "verdict"), "interrupted");
    assert_close(number(stopped, "time"), 10, 1e-9);
    assert_int_equal(length(stopped, "convergence"), 0);
    json_decref(stopped);
    stopped =
        stop(&(request){.directory = *state, .arguments = WORDS("simulate", biped, "--orders", "--design", "--duration", "1e4", "--json")},
             SIGINT);
    assert_string_equal(text(stopped, "verdict"), "interrupted");
    assert_true(number(stopped, "time") > 0);
    assert_int_equal(length(stopped, "orders"), 1);
    assert_false(is_true(stopped, "orders.0.complete"));
    json_decref(stopped);
}

// -------------------------------------------------------------------------------------------------------------------------------- bad
// input

static const refusal refusals[] = {
    // motions
    {"simulate block.yaml", "--integrator is missing", NULL},
    {"simulate case.yaml --integrator guess", "there is no integrator 'guess'", BALL_AT "3]}\n"},
    {"simulate case.yaml --integrator propagative", "propagative needs a scene with 'balls'", "matrices: {" FLAT_PARTS "}\n"},
    {"simulate case.yaml --integrator propagative --order 4", "--order: '4' is not one of: auto, argmin", TWO_BALLS},
    {"simulate case.yaml --integrator propagative", "order: that of 'impact'", TWO_BALLS "impact: {order: ['1:2']}\n"},
    {"simulate case.yaml --integrator propagative --design", "--design belongs to --orders", TWO_BALLS},
    {"simulate case.yaml --integrator propagative --orders --design", "'design' is missing",
     "balls: {masses: [1, 1], radius: 0.5, positions: [-1, 0], velocities: [1, 0]}\n"},
    {"simulate case.yaml --integrator lgvci --orders", "lgvci needs a scene with 'body'", TWO_BALLS},
    {"simulate case.yaml --integrator propagative --perturbed position --ensemble 2", "all coordinates", TWO_BALLS},
    {"simulate case.yaml --integrator lgvci", "lgvci needs a scene with 'body'", "matrices: {" FLAT_PARTS "}\n"},
    {"simulate case.yaml", "case.yaml:3: simulate.integrator: 'guess' is not one of: lgvci",
     BALL_AT "3]}\nsimulate: {integrator: guess}\n"},
    {"simulate case.yaml", "case.yaml:3: simulate.stepp: unknown key; did you mean 'step'?", BALL_AT "3]}\nsimulate: {stepp: 1}\n"},
    {"simulate case.yaml", "case.yaml:2: initial: the body penetrates the plane", BALL_AT "0.5]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml", "case.yaml:3: simulate.jump: the discrete energy",
     BALL_AT "3]}\nsimulate: {integrator: lgvci, jump: discrete}\n"},
    {"simulate case.yaml --jump discrete", "carom: --jump: the discrete energy", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --law guess", "carom: --law: there is no law 'guess'", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --friction 1", "carom: --friction: without a law the plane is smooth",
     BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --law routh --restitution 0.5", "carom: --restitution: law routh has none",
     BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --law stronge --cone-edges 8", "--cone-edges is not an option of integrator lgvci or law stronge",
     BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --law stronge --hypothesis guess", "--hypothesis: 'guess' is not one of: stronge, poisson, newton",
     BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --hypothesis newton", "--hypothesis is not an option of integrator lgvci or law moreau",
     BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml", "case.yaml:3: plane.normal: its third component must be positive",
     BALL_AT "3]}\nplane: {normal: [1, 0, 0]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml", "case.yaml:2: initial.attitude: it is not a rotation",
     BALL_AT "3], attitude: [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml", "case.yaml:2: initial.attitude[1]: has 2 numbers, must have 3",
     BALL_AT "3], attitude: [[1, 0, 0], [0, 1], [0, 0, 1]]}\n"},
    {"simulate case.yaml", "case.yaml:1: body: inertia: no mass distribution",
     "body: {mass: 1, inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 3]], shape: {box: [1, 1, 1]}}\ninitial: {position: [0, 0, 9]}\n"},
    {"simulate case.yaml", "case.yaml:1: body.shape: needs one of the keys",
     "body: {mass: 1, shape: {}}\ninitial: {position: [0, 0, 9]}\n"},
    {"simulate case.yaml", "case.yaml:1: body.shape.combine: 'hull' is not one of",
     "body: {mass: 1, shape: {ellipsoids: [{semiaxes: [1, 1, 1]}], combine: hull}}\ninitial: {position: [0, 0, 9]}\n"},
    {"simulate case.yaml", "case.yaml:1: body.mass: 0 is not greater than 0",
     "body: {mass: 0, shape: {box: [1, 1, 1]}}\ninitial: {position: [0, 0, 9]}\n"},
    {"simulate case.yaml", "the key 'initial' is missing", "body: {mass: 1, shape: {box: [1, 1, 1]}}\n"},
    {"simulate case.yaml", "case.yaml:2: gravity: belongs to a scene with 'body'", "matrices: {" FLAT_PARTS "}\ngravity: 1\n"},
    {"simulate case.yaml --integrator inclusion", "inclusion needs a scene with 'balls' or 'model'", "matrices: {" FLAT_PARTS "}\n"},
    {"simulate block.yaml --integrator inclusion --step 0", "--step", NULL},
    {"simulate block.yaml --integrator inclusion --duration nan", "--duration", NULL},
    {"simulate block.yaml --integrator inclusion --law guess", "--law: there is no law 'guess'", NULL},
    {"simulate block.yaml --integrator inclusion --ensemble 2 --perturbed position", "all coordinates", NULL},
    {"simulate block.yaml --integrator inclusion --duration 1 --step 3", "--step: 3 s are too long for 1 s", NULL},
    {"simulate block.yaml --integrator inclusion --jump energy", "--jump is not an option of integrator inclusion or law", NULL},
    {"simulate case.yaml --ensemble 2 --perturb -1", "--perturb: '-1'", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --ensemble 9 --perturb 1e300", "--ensemble: member 0", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --perturbed position", "--perturbed belongs to --ensemble", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --perturb 1", "--perturb belongs to --ensemble", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --ensemble 0", "--ensemble: '0'", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --ensemble 2 --perturbed all", "--perturbed: 'all'", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --duration 0.1 -o case.yaml", "case.yaml", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
    {"simulate case.yaml --integrator lgvci", "lgvci needs a scene with 'body'", BODIES("")},
    {"simulate case.yaml --integrator rodrigues", "rodrigues needs a scene with 'bodies'", BALL_AT "3]}\n"},
    {"simulate case.yaml", "case.yaml:2: bodies[0]: the key 'inertia' is missing",
     "simulate: {integrator: rodrigues}\nbodies: [{mass: 1}]\n"},
    {"simulate case.yaml", "case.yaml:2: bodies[0].mass: 0 is not greater than 0",
     "simulate: {integrator: rodrigues}\nbodies: [{mass: 0, inertia: 1}]\n"},
    {"simulate case.yaml", "case.yaml:2: bodies: must not be empty", "simulate: {integrator: rodrigues}\nbodies: []\n"},
    {"simulate case.yaml", "no mass distribution has the moments 1, 1, 3",
     "simulate: {integrator: rodrigues, map: splitting}\nbodies: [{mass: 1, inertia: [1, 1, 3]}]\n"},
    {"simulate case.yaml", "case.yaml:2: bodies: bodies[0].attitude: the quaternion has length 2", BODIES(", attitude: [2, 0, 0, 0]")},
    {"simulate case.yaml", "the moments 1, 2, 3 differ", "simulate: {integrator: rodrigues}\nbodies: [{mass: 1, inertia: [1, 2, 3]}]\n"},
    {"simulate case.yaml", "case.yaml:2: bodies[0].repeat: needs one of the keys 'ring' and 'grid'", BODIES(", repeat: {speed: 1}")},
    {"simulate case.yaml", "case.yaml:2: bodies[0].repeat: the key 'diameter' is missing", BODIES(", repeat: {ring: 4}")},
    {"simulate case.yaml", "case.yaml:3: potentials[0].type: 'glue' is not one of: gravity", BODIES("") "potentials: [{type: glue}]\n"},
    {"simulate case.yaml", "case.yaml:3: potentials[0].Ka: unknown key", BODIES("") "potentials: [{type: hertz, Ka: 1}]\n"},
    {"simulate case.yaml", "case.yaml:3: potentials[0].pairs[0][1]: must be a whole number from 0 to 0",
     BODIES("") "potentials: [{type: bonds, pairs: [[0, 1]]}]\n"},
    {"simulate case.yaml", "case.yaml:3: potentials[0].pairs: a ring needs three bodies",
     BODIES("") "potentials: [{type: bonds, pairs: ring}]\n"},
    {"simulate case.yaml", "case.yaml:3: walls[0].surface: 'sticky' is not one of",
     BODIES("") "walls: [{normal: [0, 0, 1], surface: sticky}]\n"},
    {"simulate case.yaml", "case.yaml:3: walls[0].friction: belongs to 'surface: coulomb'",
     BODIES("") "walls: [{normal: [0, 0, 1], friction: 1}]\n"},
    {"simulate case.yaml", "case.yaml:3: walls[0].normal: must not be zero", BODIES("") "walls: [{normal: [0, 0, 0]}]\n"},
    {"simulate case.yaml", "case.yaml:3: walls[0].restitution: 2 is not between 0 and 1",
     BODIES("") "walls: [{normal: [0, 0, 1], restitution: 2}]\n"},
    {"simulate case.yaml", "bodies[0].radius: bodies that collide need one", BODIES("") "collisions: {restitution: 1}\n"},
    {"simulate case.yaml", "case.yaml:1: simulate.record: 'soon' is not a time",
     "simulate: {integrator: rodrigues, record: [1, soon]}\nbodies: [{mass: 1, inertia: 1}]\n"},
    {"simulate case.yaml --ensemble 2", "only scenes with 'body' or 'model' can be perturbed", BODIES("")},
    {"simulate case.yaml --convergence 0", "--convergence: '0'", BODIES("")},
    {"simulate case.yaml --convergence 2", "--convergence: the integrator 'lgvci' has no study of convergence",
     BALL_AT "3]}\nsimulate: {integrator: lgvci, duration: 0.1}\n"},
    {"simulate case.yaml --vtk case.txt", "--vtk: case.txt: this would be a directory", BODIES("")},
    {"simulate case.yaml --vtk case.yaml", "--vtk: case.yaml: this would be a directory", BALL_AT "3]}\nsimulate: {integrator: lgvci}\n"},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(motions_go_to_json_and_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(motions_print_a_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ensembles_do_not_depend_on_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(early_ends_are_incomplete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws_of_motions_come_from_the_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laws_of_motions_take_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bodies_go_to_json_and_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bodies_are_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bodies_go_to_vtk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unstable_steps_are_incomplete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boxes_of_spheres_do_not_depend_on_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(systems_move_through_their_accumulation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bundles_do_not_depend_on_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_that_end_early_are_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(balls_move, set_up, tear_down),
        cmocka_unit_test_setup_teardown(racks_break_in_random_orders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_of_propagative_impacts_say_what_matters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(orders_part_as_given_and_not_as_designed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupted_ensemble_keeps_its_finished_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(interrupted_studies_leave_the_motion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
