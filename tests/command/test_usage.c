// SPDX-License-Identifier: Apache-2.0
// What all commands share: help, plain text, bad usage, exit statuses, and that nothing is left behind when output is lost.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------------------
// messages

// A line of the text that starts with this name.
static bool has_line(const char *lines, const char *name) {
    const size_t size = strlen(name);
    for (const char *line = lines; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, name, size) && (line[size] == ' ' || line[size] == '\n')) return true;
    return false;
}

static void lists_name_laws_and_solvers(void **state) {
    static const char *const laws[] = {"anitescu-potra", "sequential", "routh", "halm-posa", "stronge"};
    report r = run(*state, "resolve", "--list");
    assert_int_equal(r.status, 0);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) assert_true(has_line(r.out, laws[i]));
    release(&r);
    r = run(*state, "lcp", "--list");
    assert_int_equal(r.status, 0);
    assert_true(has_line(r.out, "lemke"));
    assert_int_equal(has_line(r.out, "siconos-lemke"), support_has("SICONOS"));
    assert_false(has_line(r.out, "routh"));
    release(&r);
}

// Lines for people: no number that is none, nothing but text on stdout.
static bool is_text(const report *r) {
    return r->status == 0 && !*r->err && r->out_size >= 10 && r->out[r->out_size - 1] == '\n' && !strstr(r->out, "nan") &&
           !strstr(r->out, "inf ");
}

static void texts_go_to_stdout_alone(void **state) {
    static const char *const commands[][8] = {
        {"info", "block.yaml"},
        {"resolve", "block.yaml", "--law", "anitescu-potra"},
        {"resolve", "block.yaml", "--law", "sequential"},
        {"resolve", "block.yaml", "--law", "halm-posa"},
        {"sample", "block.yaml", "-o", "set.h5"},
        {"sample", "block.yaml", "--max-steps", "1", "--epsilon", "0.1"},
        {"sample", "block.yaml", "--max-steps", "1", "--step", "1e-9"},
        {"compare", "block.yaml"},
        {"compare", "block.yaml", "-o", "out"},
        {"lcp", "lcp.json"},
        {"plot", "set.h5"},
        {"info", "delassus.yaml"},
        {"resolve", "delassus.yaml", "--law", "routh"},
        {"info", "cube.yaml"},
        {"sample", "cube.yaml"},
        {"resolve", "still.yaml", "--law", "sequential"},
        {"sample", "still.yaml"},
        {"compare", "still.yaml"},
        {"--help"},
        {"help"},
        {"--version"},
        {"--version", "--verbose"},
        {"info", "--help"},
        {"resolve", "--help"},
        {"sample", "-h"},
        {"compare", "--help"},
        {"lcp", "--help"},
        {"plot", "--help"},
    };
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "cube.yaml", cube_scene);
    write_text(*state, "still.yaml", STILL_SCENE);
    write_text(*state, "delassus.yaml", "delassus: {W: [[1, 0.2], [0.2, 1]], u: [-1, 0.5], mu: [0.5]}\n");
    write_text(*state, "lcp.json", SMALL_LCP);
    int wrong = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const request asked = {.directory = *state, .arguments = commands[i]};
        report r = run_request(&asked);
        // What is said about a state at rest is no part of the answer.
        if (commands[i][1] && !strcmp(commands[i][1], "still.yaml") && !strncmp(r.err, "carom: note: ", 13)) *r.err = '\0';
        if (!is_text(&r)) show(&asked, &r);
        wrong += !is_text(&r);
        release(&r);
    }
    if (wrong) fail_msg("%d commands do not print plain lines", wrong);
}

static void help_names_every_option(void **state) {
    report r = run(*state, "sample", "--help");
    static const char *const flags[] = {"--samples", "--seed",       "--step",    "--max-steps", "--epsilon", "--selection",
                                        "--solver",  "--cone-edges", "--threads", "-o",          "--json"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) assert_non_null(strstr(r.out, flags[i]));
    release(&r);
    r = run(*state, "--version");
    assert_string_equal(r.out, "carom " CAROM_VERSION "\n");
    release(&r);
}

// One line for each library that decides what a build can do: the version that the library itself says, or what to install.
static void version_names_libraries(void **state) {
    report r = run(*state, "--version", "--verbose");
    assert_int_equal(r.status, 0);
    char start[CAROM_MESSAGE_SIZE];
    if (support_has("MUJOCO")) {
        snprintf(start, sizeof start, "\nMUJOCO    %s\n", carom_model_mujoco_version());
        assert_non_null(strstr(r.out, start));
    }
    assert_int_equal(strncmp(r.out, "carom " CAROM_VERSION "\nBLAS      ", strlen("carom " CAROM_VERSION "\nBLAS      ")), 0);
    static const char *const names[] = {"SICONOS", "MUJOCO", "HDF5", "QHULL", "PPL", "GLPK", "SUNDIALS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(start, sizeof start, "\n%-8s  ", names[i]);
        assert_non_null(strstr(r.out, start));
        snprintf(start, sizeof start, "\n%-8s  not in this build", names[i]);
        assert_int_equal(strstr(r.out, start) == NULL, support_has(names[i]));
    }
    // The program that draws pictures is found at run time.
    assert_non_null(strstr(r.out, "\ngnuplot   "));
    assert_int_equal(strstr(r.out, "\ngnuplot   not found") == NULL, !system("command -v gnuplot > /dev/null"));
    assert_int_equal(carom_compliant_available(), support_has("SUNDIALS"));
    assert_int_equal(carom_exact_available(), support_has("PPL"));
    release(&r);
}

// Warnings go to stderr, so that stdout still holds one document.
static void warnings_stay_out_of_json(void **state) {
    write_text(*state, "skewed.yaml", "delassus:\n  W: [[1, 0, 0.001], [0, 1, 0], [0, 0, 1]]\n  u: [-1, 0, 0]\n  mu: [0.5]\n");
    report r = run(*state, "info", "skewed.yaml", "--json");
    assert_int_equal(r.status, 0);
    assert_int_equal(strncmp(r.err, "carom: warning: skewed.yaml:2: delassus.W", 41), 0);
    json_t *info = parse(&r);
    assert_non_null(info);
    json_decref(info);
    release(&r);
}

// -------------------------------------------------------------------------------------------------------------------------------- bad
// usage

static const refusal refusals[] = {
    // the command line
    {"", "command", NULL},
    {"explode flat.yaml", "explode", NULL},
    {"--version --verbos", "--version takes no '--verbos'; `carom --version --verbose` names the libraries", NULL},
    {"--version --verbose --json", "--version takes no '--json'", NULL},
    {"--samples", "--samples", NULL},
    {"info", "SCENE is missing", NULL},
    {"sample --json", "SCENE is missing", NULL},
    {"lcp", "FILE is missing", NULL},
    {"plot", "RESULT is missing", NULL},
    {"info flat.yaml block.yaml", "block.yaml", NULL},
    {"info flat.yaml --epsilon 0", "--epsilon: '0' is not a number greater than 0", NULL},
    {"info flat.yaml --epsilon 1 --lipschitz inf", "--lipschitz: 'inf'", NULL},
    {"info flat.yaml --frobnicate", "--frobnicate", NULL},
    {"info flat.yaml -x", "-x", NULL},
    {"info flat.yaml --", "--", NULL},
    {"info flat.yaml --json=yes", "--json takes no value", NULL},
    {"sample flat.yaml --samples", "--samples needs a value", NULL},
    {"sample flat.yaml -o", "-o needs a value", NULL},
    {"info flat.yaml --samples 3", "--samples", NULL},
    {"sample flat.yaml --path cone-map:mmx", "--path: 'cone-map:mmx'", NULL},
    {"sample flat.yaml --path sweeps:avx2", "--path: sweeps has no versions for instruction sets: leave ':avx2' out", NULL},
    {"sample flat.yaml --path modes:scalar", "--path: modes has no versions for instruction sets: leave ':scalar' out", NULL},
    {"sample flat.yaml --path reduced", "--path: 'reduced'", NULL},
    {"sample flat.yaml --path lemke --solver lemke:scalar", "--path: lemke takes no other solver than lemke", NULL},
    {"sample flat.yaml --path cone-map --solver lemke:scalar", "--path: cone-map takes no other solver than lemke", NULL},
    {"sample flat.yaml --sampler walk --path guess", "--path: 'guess'", NULL},
    {"lcp lcp.json --law routh", "--law", NULL},
    {"sample flat.yaml --order A", "--order", NULL},
    {"sample flat.yaml --law routh", "--law", NULL},
    {"resolve flat.yaml --law anitescu-potra --samples 8", "--samples is not an option of law anitescu-potra", NULL},
    {"resolve flat.yaml --law routh --order A", "--order is not an option of law routh", NULL},
    {"resolve flat.yaml", "--law is missing", NULL},
    {"resolve flat.yaml --law guess", "guess", NULL},
    {"resolve flat.yaml --law ''", "--law", NULL},
    {"resolve flat.yaml --law anitescu-potra --selection best", "--selection: 'best'", NULL},
    // where output cannot go
    {"sample flat.yaml -o missing/set.h5", "missing/set.h5", NULL},
    {"sample flat.yaml -o folder", "folder: is a directory", NULL},
    {"sample flat.yaml -o folder/", "folder/", NULL},
    {"sample flat.yaml -o text.txt/set.h5", "text.txt/set.h5", NULL},
    {"sample flat.yaml -o ''", "empty", NULL},
    {"compare flat.yaml -o ''", "an empty text cannot name a directory", NULL},
    {"plot set.h5 -o ''", "an empty text cannot name a picture", NULL},
    {"sample flat.yaml -o /dev/full", "/dev/full: is not a regular file", NULL},
    {"sample flat.yaml -o /dev/null", "/dev/null: is not a regular file", NULL},
    {"resolve flat.yaml --law routh -o folder", "folder: is a directory", NULL},
    {"compare flat.yaml -o text.txt", "text.txt", NULL},
    {"compare flat.yaml -o missing/new", "missing/new", NULL},
    {"plot set.h5 --axes Jn.A,Jt.A -o missing/picture.png", "missing/picture.png", NULL},
    {"plot set.h5 --axes Jn.A,Jt.A -o folder.png", "folder.png: is a directory", NULL},
    {"plot set.h5 --axes Jn.A,Jt.A -o picture.gif", "picture.gif", NULL},
    // what is not of the same kind stays: it may be the scene itself
    {"sample flat.yaml -o flat.yaml", "flat.yaml: is not an HDF5 file", NULL},
    {"resolve block.yaml --law routh -o block.xml", "block.xml: is not an HDF5 file", NULL},
    {"info block.yaml --fclib-out block.xml", "block.xml: is not an HDF5 file", NULL},
    {"plot set.h5 -o text.png", "text.png: is not a PNG picture", NULL},
    {"plot set.h5 -o text.svg", "text.svg: is not an SVG picture", NULL},
    // files that cannot be read
    {"info missing.yaml", "missing.yaml: cannot be opened", NULL},
    {"sample missing.yaml -o new.h5", "missing.yaml: cannot be opened", NULL},
    {"info folder", "folder: cannot be read", NULL},
    {"info ''", "cannot be opened", NULL},
    {"lcp missing.json", "missing.json: cannot be opened", NULL},
    {"lcp folder", "folder: cannot be read", NULL},
    {"plot missing.h5", "missing.h5", NULL},
    {"plot folder", "folder: not a carom result file", NULL},
    {"plot text.txt", "text.txt: not a carom result file", NULL},
    {"plot empty.h5", "empty.h5: not a carom result file", NULL},
    {"plot cut.h5", "cut.h5: not a carom result file", NULL},
    {"plot foreign.h5", "foreign.h5: not a carom result file", NULL},
    {"plot set.h5 --axes Jn.A", "Jn.A", NULL},
    {"plot set.h5 --axes Jn.A,Jn.Z", "Jn.Z", NULL},
    {"plot set.h5 --axes ''", "axes", NULL},
    {"plot set.h5 --axes Jn.A,Jt.A,Jn.A -o picture.png", "axes", NULL},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

// ------------------------------------------------------------------------------------------------------------------------------ lost
// output

// A file that cannot grow is a full disk: one line, and what stood there before is still there.
static void a_full_disk_leaves_nothing(void **state) {
    char path[PATH_SIZE];
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "old.h5", "what was here before\n");
    static const char *const targets[] = {"new.h5", "old.h5"};
    for (int i = 0; i < 2; i++) {
        char *before = snapshot(*state);
        const request asked = {.directory = *state,
                               .arguments = WORDS("sample", "block.yaml", "--samples", "100000", "-o", targets[i], "--json"),
                               .file_limit = 1 << 16};
        report r = run_request(&asked);
        char *after = snapshot(*state);
        if (!is_refusal(&r, targets[i])) show(&asked, &r);
        assert_true(is_refusal(&r, targets[i]));
        assert_string_equal(before, after);
        release(&r);
        free(before);
        free(after);
    }
    char content[64];
    read_start(join(path, *state, "old.h5"), content, sizeof content);
    assert_string_equal(content, "what was here before\n");
}

// Names say formats: a result that is called a picture, a directory that is called a file, and a picture of no known kind are refused
// before anything is made. Other endings mean nothing, and the text names the format.
static void names_with_the_ending_of_another_format_are_refused(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "flat.yaml", FLAT_SCENE);
    json_decref(ask(*state, "sample", "block.yaml", "--samples", "3", "-o", "set.h5"));
    static const struct {
        const char *arguments[10], *says;
    } refused[] = {
        {{"sample", "block.yaml", "-o", "a.png"}, "HDF5 file, whose name cannot end in .png, but in .h5 or .hdf5"},
        {{"resolve", "block.yaml", "--law", "sequential", "-o", "a.JSON"}, "HDF5"},
        {{"info", "block.yaml", "--fclib-out", "a.yaml"}, "HDF5"},
        {{"exact", "block.yaml", "--export", "a.h5"}, "cannot end in .h5, but in .txt"},
        {{"compare", "block.yaml", "-o", "a.md"}, "a directory"},
        {{"hodograph", "flat.yaml", "-o", "a.svg"}, "a directory"},
        {{"plot", "set.h5", "-o", "a.gif"}, "a picture"},
        {{"plot", "set.h5", "--axes", "Jn.A,Jn.B", "-o", "a.xyz"}, "must end in .png, .svg or .pdf"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *before = snapshot(*state);
        const request asked = {.directory = *state, .arguments = refused[i].arguments};
        report r = run_request(&asked);
        char *after = snapshot(*state);
        if (!is_refusal(&r, refused[i].says)) show(&asked, &r);
        assert_true(is_refusal(&r, refused[i].says));
        assert_string_equal(before, after);
        release(&r);
        free(before);
        free(after);
    }
    const request asked = {.directory = *state,
                           .arguments = (const char *[]){"sample", "block.yaml", "--samples", "2^6", "-o", "a.xyz", NULL}};
    report r = run_request(&asked);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "64 of 64 samples"));
    assert_non_null(strstr(r.out, "a.xyz (HDF5)"));
    release(&r);
}

// A file of an extent alone is whole: who asks for its outcomes learns where they are.
static void files_without_outcomes_say_why(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_decref(ask(*state, "sample", "block.yaml", "--samples", "3", "--keep", "extent", "-o", "extent.h5"));
    static const refusal asked[] = {
        {"plot extent.h5", "extent.h5: there is nothing to draw: it holds no outcomes (`--keep extent`", NULL},
        {"query extent.h5 --max Jn.A", "extent.h5: halm-posa has no outcomes there (`--keep extent`", NULL},
    };
    check_refusals(*state, asked, sizeof asked / sizeof *asked);
}

// Even the first bytes may not fit.
static void a_disk_without_room_leaves_nothing(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_decref(ask(*state, "sample", "block.yaml", "--samples", "3", "-o", "set.h5"));
    static const char *const commands[][8] = {
        {"sample", "block.yaml", "-o", "new.h5"},
        {"resolve", "block.yaml", "--law", "sequential", "-o", "new.h5"},
        {"compare", "block.yaml", "-o", "."},
        {"plot", "set.h5", "-o", "picture"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *before = snapshot(*state);
        const request asked = {.directory = *state, .arguments = commands[i], .file_limit = 100};
        report r = run_request(&asked);
        char *after = snapshot(*state);
        if (!is_refusal(&r, "")) show(&asked, &r);
        assert_true(is_refusal(&r, ""));
        assert_string_equal(before, after);
        release(&r);
        free(before);
        free(after);
    }
}

// True for an answer that could not be written: one line says so. A reader that went away is told nothing, and the answer is not done.
static bool is_lost(const report *r, bool broken_pipe) { return broken_pipe ? r->status == 1 && !*r->err : is_refusal(r, "written"); }

// Neither a hang, nor a crash, nor success where the disk is full.
static void lost_answers_are_reported(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "lcp.json", SMALL_LCP);
    static const char *const commands[][6] = {
        {"info", "block.yaml", "--json"},
        {"sample", "block.yaml", "--json"},
        {"resolve", "block.yaml", "--law", "halm-posa", "--json"},
        {"compare", "block.yaml", "--json"},
        {"lcp", "lcp.json", "--json"},
        {"info", "block.yaml"},
        {"sample", "block.yaml"},
        {"resolve", "block.yaml", "--law", "halm-posa"},
        {"compare", "block.yaml"},
        {"lcp", "lcp.json"},
        {"resolve", "--list"},
        {"sample", "--help"},
        {"--help"},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const request cases[] = {
            {.directory = *state, .arguments = commands[i], .output = "/dev/full"},
            {.directory = *state, .arguments = commands[i], .broken_pipe = true},
        };
        for (int k = 0; k < 2; k++) {
            report r = run_request(&cases[k]);
            const bool right = is_lost(&r, cases[k].broken_pipe);
            if (!right) show(&cases[k], &r);
            wrong += !right;
            release(&r);
        }
    }
    if (wrong) fail_msg("%d lost answers are not reported", wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_name_laws_and_solvers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_go_to_stdout_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(help_names_every_option, set_up, tear_down),
        cmocka_unit_test_setup_teardown(version_names_libraries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(warnings_stay_out_of_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_with_the_ending_of_another_format_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_without_outcomes_say_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_disk_without_room_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_answers_are_reported, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
