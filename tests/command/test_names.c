// SPDX-License-Identifier: Apache-2.0
// Results that speak of the mechanism: `carom info` of a robot, and questions by the names of joints and contacts.
#include "carom/utf8.h"
#include "command_support.h"

#include <stdlib.h>
#include <string.h>

enum { SCREEN_LINES = 24, SCREEN_COLUMNS = 110, JOINTS = 18, FEET = 4 };

static void info_names_joints_and_contacts(void **state) {
    char path[PATH_SIZE];
    json_t *info = ask(*state, "info", motion_path("quadruped", path));
    assert_int_equal(length(info, "joints"), JOINTS);
    assert_string_equal(text(info, "joints.2"), "root.z");
    assert_string_equal(text(info, "joint_units.2"), "m/s");
    assert_string_equal(text(info, "joints.3"), "root.wx");
    assert_string_equal(text(info, "joint_units.3"), "rad/s");
    assert_string_equal(text(info, "joints.7"), "front_left_hip");
    assert_int_equal(length(info, "qpos"), JOINTS + 1);
    assert_int_equal(length(info, "contact_points"), FEET);
    assert_close(number(info, "contact_points.0.2"), 0, 1e-12);
    assert_close(number(info, "contact_normals.3.2"), 1, 1e-12);
    assert_int_equal(length(info, "contact_tangents"), 2 * FEET);
    assert_string_equal(text(info, "contact_bodies.1.1"), "front_right_shank");
    assert_string_equal(text(info, "contact_geoms.1.0"), "floor");
    json_decref(info);

    // Where nothing is known of a mechanism, all of this is null.
    static const char *const known[] = {"joints",          "joint_units",      "qpos",           "contact_points",
                                        "contact_normals", "contact_tangents", "contact_bodies", "contact_geoms"};
    write_text(*state, "flat.yaml", FLAT_SCENE);
    info = ask(*state, "info", "flat.yaml");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_true(json_is_null(at(info, known[i])));
    json_decref(info);
}

static void info_of_a_robot_is_one_screen(void **state) {
    char path[PATH_SIZE];
    report r = run(*state, "info", motion_path("quadruped", path));
    int lines = 0;
    for (const char *line = r.out; *line; line = strchr(line, '\n') + 1, lines++) assert_true(strcspn(line, "\n") <= SCREEN_COLUMNS);
    assert_true(lines <= SCREEN_LINES);
    check_text(r.out, "front_left_knee 0.200747");
    assert_null(strstr(r.out, "\nJn "));
    release(&r);
    // --full has the matrices under the names of their columns.
    r = run(*state, "info", path, "--full");
    check_text(r.out, "\nJn ");
    check_text(r.out, "front_left_hip");
    release(&r);
}

// A name and an index ask the same question; impulses and energies are those of the outcomes.
static void questions_take_names(void **state) {
    char path[PATH_SIZE];
    json_t *sampled = ask(*state, "sample", motion_path("quadruped", path), "--sampler", "walk", "--samples", "64", "-o", "robot.h5");
    json_decref(sampled);
    static const char *const same[][2] = {{"base.z", "v.3"},
                                          {"root.z", "v.3"},
                                          {"front_left_knee", "v.9"},
                                          {"2*v.front_left_knee - base.wy", "2*v.9 - v.5"},
                                          {"Pt.front_left", "Pt.front_left.1"},
                                          {"Jt.front_left - K", "Jt.front_left.1 - 1*K"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        json_t *first = ask(*state, "query", "robot.h5", "--max", same[i][0]),
               *second = ask(*state, "query", "robot.h5", "--max", same[i][1]);
        assert_true(json_equal(at(first, "maximum"), at(second, "maximum")));
        assert_true(json_equal(at(first, "v_plus"), at(second, "v_plus")));
        json_decref(first);
        json_decref(second);
    }
    // No kinetic energy is gained, feet push, and friction is at most mu times the push.
    json_t *energy = ask(*state, "query", "robot.h5", "--max", "K"), *pull = ask(*state, "query", "robot.h5", "--max", "-1*Pn.hind_left");
    json_t *cone = ask(*state, "query", "robot.h5", "--max", "Pt.hind_left.2 - 0.8*Pn.hind_left");
    assert_true(number(energy, "maximum") > 0 && number(energy, "maximum") <= 1 && json_is_null(at(energy, "unit")));
    assert_true(number(pull, "maximum") <= 0);
    assert_string_equal(text(pull, "unit"), "N s");
    assert_true(number(cone, "maximum") <= 1e-12);
    json_decref(energy);
    json_decref(pull);
    json_decref(cone);
    json_t *hull = ask(*state, "query", "robot.h5", "--hull", "base.z,Pn.hind_left");
    assert_true(number(hull, "area") > 0);
    json_decref(hull);
    // Axes of pictures are named as they were asked for, with their units.
    run_quietly(*state, 0, "$carom plot robot.h5 --axes 'base.wy,2*Pn.hind_left' -o axes.svg");
    char *picture = read_file(*state, "axes.svg");
    check_text(picture, "base.wy  [rad/s]");
    check_text(picture, "2*Pn.hind_left  [N s]");
    free(picture);
    report r = run(*state, "query", "robot.h5", "--max", "base.z");
    check_text(r.out, "\n  root.z  ");
    release(&r);
}

// Largest energies are at vertices, least ones are not, and exact sets have no impulses.
static void exact_sets_have_energies_and_no_impulses(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *exact = ask(*state, "exact", "block.yaml", "-o", "pieces.h5");
    json_decref(exact);
    json_t *energy = ask(*state, "query", "pieces.h5", "--max", "K + 1e-3*Jn.A");
    assert_true(is_true(energy, "certified") && number(energy, "maximum") > 0);
    json_decref(energy);
    static const refusal cases[] = {
        {"query pieces.h5 --max -1*K", "--max: the least energy of a convex piece is not at one of its vertices", NULL},
        {"query pieces.h5 --max Pn.A", "--max: halm-posa-exact determines no impulses", NULL},
        {"query pieces.h5 --hull Jn.A,K", "--hull: K is quadratic", NULL},
        {"plot pieces.h5 --axes Jn.A,Pn.A -o p.png", "axes: halm-posa-exact is a set of velocities", NULL},
        {"query pieces.h5 --max Jn.AB", "did you mean 'Jn.A'?", NULL},
        {"query pieces.h5 --max v.4", "does not begin with a number", NULL},
        {"query pieces.h5 --max Jn.A*K", "not linear", NULL},
        {"query pieces.h5 --law halm-posa-exat --max K", "did you mean 'halm-posa-exact'?", NULL},
    };
    check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

#define NAMED "matrices: {" FLAT_PARTS ", velocities: "

static void matrices_may_name_their_velocities(void **state) {
    write_text(*state, "named.yaml", NAMED "[slider, K]}\n");
    json_t *info = ask(*state, "info", "named.yaml");
    assert_string_equal(text(info, "joints.1"), "K");
    assert_true(json_is_null(at(info, "joint_units")));
    json_decref(info);
    json_t *resolved = ask(*state, "resolve", "named.yaml", "--law", "anitescu-potra", "-o", "one.h5");
    json_t *speed = ask(*state, "query", "one.h5", "--max", "slider"), *fall = ask(*state, "query", "one.h5", "--max", "v.K");
    assert_close(number(speed, "maximum"), number(resolved, "outcomes.0.v_plus.0"), 0);
    assert_close(number(fall, "maximum"), number(resolved, "outcomes.0.v_plus.1"), 0);
    json_decref(resolved);
    json_decref(speed);
    json_decref(fall);
    static const refusal cases[] = {
        {"info case.yaml", "case.yaml:1: matrices.velocities: has 1 item, must have 2", NAMED "[slider]}\n"},
        {"info case.yaml", "velocities[0] and velocities[1] are both 'x'", NAMED "[x, x]}\n"},
        {"info case.yaml", "velocities[0] contains a comma", NAMED "['x,y', z]}\n"},
        {"info case.yaml", "matrices.velocites: unknown key; did you mean 'velocities'?",
         "matrices: {" FLAT_PARTS ", velocites: [x, y]}\n"},
    };
    check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

// The nearest name, of whatever the command line misspells.
static void misspelt_words_get_the_nearest(void **state) {
    static const refusal cases[] = {
        {"sampl flat.yaml", "did you mean 'sample'?", NULL},
        {"sample flat.yaml --sampels 3", "--sampels is not an option of `carom sample`; did you mean '--samples'?", NULL},
        {"sample flat.yaml --max-step 3", "did you mean '--max-steps'?", NULL},
        {"info flat.yaml --jsn", "did you mean '--json'?", NULL},
        {"sample flat.yaml --keep hul", "did you mean 'hull'?", NULL},
        {"sample flat.yaml --selection lemk", "did you mean 'lemke'?", NULL},
        {"resolve flat.yaml --law halmposa", "did you mean 'halm-posa'?", NULL},
        {"resolve flat.yaml --law stronge --contact AB", "did you mean 'A'?", NULL},
        {"resolve flat.yaml --law sequential --order AB", "did you mean 'A'?", NULL},
        {"lcp flat.yaml --solver lemk", "did you mean 'lemke'?", NULL},
        {"resolve case.yaml", "impact.law: 'moreu' is not one of", "matrices: {" FLAT_PARTS "}\nimpact: {law: moreu}\n"},
        {"resolve case.yaml", "did you mean 'moreau'?", "matrices: {" FLAT_PARTS "}\nimpact: {law: moreu}\n"},
        {"info case.yaml", "did you mean 'left_corner'?",
         "model: block.xml\nstate: {qpos: [0, 1, 0]}\ncontacts: [{name: A, site: left_corer, friction: 1, normal: [0, 0, 1]}]\n"},
    };
    write_text(*state, "flat.yaml", FLAT_SCENE);
    check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

// Names that hold escape sequences, marks of direction or bytes that are no text: terminals are not told, JSON is. Hints can be pasted.
static void terminals_are_shown_plain_names(void **state) {
    static const char file[] = "it's \x1b[31m\xe2\x80\xae\xff.yaml";
    write_text(*state, file,
               "matrices:\n  M: [[1, 0], [0, 1]]\n  Jn: [[0, 1], [0.1, 1]]\n  Jt: [[1, 0], [1, 0]]\n  mu: [0.5, 0.5]\n  v: [0.1, -1]\n"
               "  names: [\"A\\u202e\", \"B\\u2066\\u00fc\"]\n");
    static const char *const commands[][6] = {{"info", file, "--full"},
                                              {"sample", file, "--samples", "16", "-o", "it's \x1b[31m.h5"},
                                              {"resolve", file, "--law", "moreau"},
                                              {"compare", file, "--laws", "moreau,routh"},
                                              {"modes", file},
                                              {"info", "none\x1b[31m\xc2\x9b.yaml"},
                                              {"info", file, "--\x1b[31m"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *words[7] = {NULL};
        for (int k = 0; k < 6; k++) words[k] = commands[i][k];
        report r = run_request(&(request){.directory = *state, .arguments = words});
        const char *const both[] = {r.out, r.err};
        for (int k = 0; k < 2; k++)
            for (const char *c = both[k]; *c;) {
                unsigned long code;
                const int length = carom_utf8_decode(c, &code);
                assert_true(length > 0 && (carom_utf8_is_shown(code) || code == '\n' || code == '\t'));
                c += length;
            }
        release(&r);
    }
    json_t *info = ask(*state, "info", file);
    assert_string_equal(text(info, "contact_names.0"), "A\xe2\x80\xae");
    assert_string_equal(text(info, "contact_names.1"), "B\xe2\x81\xa6\xc3\xbc");
    json_decref(info);
    // The name in a hint is one word, which the shell reads as it was.
    static const char *const outputs[] = {"it's $HOME.h5", "it's \x1b[31m\\.h5", "plain.h5"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        report r = run(*state, "sample", file, "--samples", "16", "-o", outputs[i]);
        const char *hint = strstr(r.out, "`carom plot "), *end = hint ? strrchr(hint, '`') : NULL;
        assert_non_null(end);
        char line[PATH_SIZE];
        snprintf(line, sizeof line, "printf %%s %.*s", (int)(end - hint - 12), hint + 12);
        char *name = run_line(*state, 0, line);
        assert_string_equal(name, outputs[i]);
        free(name);
        release(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(info_names_joints_and_contacts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(info_of_a_robot_is_one_screen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(questions_take_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exact_sets_have_energies_and_no_impulses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(matrices_may_name_their_velocities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(misspelt_words_get_the_nearest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(terminals_are_shown_plain_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
