// SPDX-License-Identifier: Apache-2.0
// `carom measure`: measured impacts from files.
#include "command_support.h"
#include "io/hdf5/support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A ball in the plane with e 0.4 and a slip that friction 0.2 slows down: v+ = (0.3 - 0.2 * 1.4, 0.4), or with further numbers.
#define BALL  "\"M\": [[1, 0], [0, 1]], \"Jn\": [[0, 1]], \"Jt\": [[1, 0]]"
#define NOISE "\"cov\": [[1e-4, 0, 0, 0], [0, 1e-4, 0, 0], [0, 0, 1e-4, 0], [0, 0, 0, 1e-4]]"

static const char two_balls[] = "{\"mu\": 0.2, \"impacts\": [\n"
                                "{" BALL ", \"vm\": [1, -1], \"vp\": [0.72, 0.4], " NOISE ", \"kind\": \"single\", \"toss\": 0},\n"
                                "{" BALL ", \"vm\": [1, -1], \"vp\": [0.72, 0.4], " NOISE ", \"kind\": \"single\", \"toss\": 1}]}\n";

static const json_t *law_of(const json_t *answer, const char *name) {
    size_t i;
    const json_t *law;
    json_array_foreach(at(answer, "groups.0.laws"), i, law) if (!strcmp(text(law, "law"), name)) return law;
    fail_msg("no law '%s'", name);
    return NULL;
}

static void laws_are_confronted_with_impacts(void **state) {
    write_text(*state, "balls.json", two_balls);
    json_t *answer =
        ask(*state, "measure", "balls.json", "--law", "stronge,anitescu-potra", "--restitution", "0.4", "--null-points", "200");
    assert_string_equal(text(answer, "schema"), "carom.measure/1");
    assert_true(is_true(answer, "complete"));
    assert_int_equal(number(answer, "impacts"), 2);
    assert_int_equal(length(answer, "groups"), 1);
    assert_string_equal(text(answer, "groups.0.kind"), "single");
    assert_int_equal(number(answer, "groups.0.evaluated"), 2);
    assert_close(number(answer, "groups.0.floor"), 0, 1e-12);
    assert_true(number(answer, "groups.0.null") > 0 && number(answer, "groups.0.null_energy_score") > 0);
    const json_t *true_law = law_of(answer, "stronge"), *inelastic = law_of(answer, "anitescu-potra");
    assert_close(number(true_law, "median_error"), 0, 1e-9);
    assert_close(number(true_law, "within_5_percent"), 1, 0);
    assert_close(number(true_law, "contained_95"), 1, 0);
    assert_close(number(true_law, "parameters.mu"), 0.2, 0);
    // v+ = (0.8, 0): |(-0.08, 0.4)| / sqrt(2).
    assert_close(number(inelastic, "median_error"), hypot(0.08, 0.4) / sqrt(2), 1e-9);
    assert_close(number(inelastic, "energy_score"), hypot(0.08, 0.4) / sqrt(2), 1e-9);
    assert_close(number(inelastic, "contained_95"), 0, 0);
    json_decref(answer);
}

// Samples of time stepping in space may lie outside the set: their numbers are marked, in every output; walks never do.
static void numbers_of_samples_outside_are_marked(void **state) {
    write_text(
        *state, "edge.json",
        "{\"mu\": 0.3, \"impacts\": [{\"M\": [[1,0,0,0,0],[0,1,0,0,0],[0,0,1,0,0],[0,0,0,0.05,0],[0,0,0,0,0.05]], \"kind\": \"edge\",\n"
        "\"Jn\": [[0,0,1,0.5,0],[0,0,1,-0.4,0]], \"Jt\": [[1,0,0,0.2,0.1],[0,1,0,0,0.5],[1,0,0,0.2,0.1],[0,1,0,0,-0.4]],\n"
        "\"vm\": [1, 0.1, -1, 1, 2], \"vp\": [0.72, 0, 0, 0, 0]}]}\n");
    static const char said[] = "64 of 64 outcomes may lie outside the set by O(h), and by the edges of their friction cones";
    report r =
        run(*state, "measure", "edge.json", "--law", "halm-posa", "--sampler", "lcp", "--samples", "64", "--output", "page", "--json");
    json_t *answer = parse(&r);
    release(&r);
    assert_int_equal(number(law_of(answer, "halm-posa"), "approximate"), 64);
    assert_int_equal(length(answer, "caveats"), 1);
    assert_non_null(strstr(text(answer, "caveats.0"), said));
    json_decref(answer);
    char *page = read_file(*state, "page/index.html");
    check_text(page, said);
    check_text(page, "halm-posa*");
    free(page);
    r = run(*state, "measure", "edge.json", "--law", "halm-posa", "--sampler", "lcp", "--samples", "64");
    check_text(r.out, said);
    release(&r);
    answer = ask(*state, "measure", "edge.json", "--law", "halm-posa", "--sampler", "walk", "--samples", "64", "--null", "none");
    assert_int_equal(number(law_of(answer, "halm-posa"), "approximate"), 0);
    assert_int_equal(length(answer, "caveats"), 0);
    json_decref(answer);
}

// Parameters are fitted to one half of the groups, and tested on the other.
static void parameters_are_fitted_to_half_of_the_groups(void **state) {
    write_text(*state, "balls.json", two_balls);
    json_t *answer = ask(*state, "measure", "balls.json", "--law", "stronge", "--fit", "mu,e", "--null", "none", "--draws", "5");
    assert_true(is_true(answer, "held_out"));
    assert_int_equal(number(answer, "groups.0.evaluated"), 1);
    const json_t *law = law_of(answer, "stronge");
    assert_close(number(law, "parameters.mu"), 0.2, 2e-3);
    assert_close(number(law, "parameters.e"), 0.4, 2e-3);
    assert_true(number(law, "median_error") < 1e-3);
    json_decref(answer);

    // Without friction anywhere it comes from the single contacts.
    char *unknown = strdup(two_balls);
    memcpy(strstr(unknown, "\"mu\""), "\"no\"", 4);
    write_text(*state, "unknown.json", unknown);
    free(unknown);
    answer = ask(*state, "measure", "unknown.json", "--law", "anitescu-potra", "--null", "none", "--draws", "0");
    assert_close(number(answer, "single_contacts.mu"), 0.2, 2e-3);
    assert_close(number(law_of(answer, "anitescu-potra"), "parameters.mu"), 0.2, 2e-3);
    json_decref(answer);
}

// An impact keeps its own friction; only those without one have that of the fit.
static void friction_is_fitted_where_it_is_not_known(void **state) {
    char *some = strdup(two_balls), *known = strstr(some, "\"kind\"");
    memcpy(strstr(some, "\"mu\""), "\"no\"", 4);
    // Of the second ball alone, 0.5 in place of the 0.2 that fits.
    known = strstr(known + 1, "\"kind\"");
    memcpy(known, "\"mu\": 0.5        ", strlen("\"kind\": \"single\""));
    write_text(*state, "some.json", some);
    free(some);
    json_t *answer = ask(*state, "measure", "some.json", "--law", "anitescu-potra", "--null", "none", "--draws", "0");
    assert_int_equal(number(answer, "single_contacts.impacts"), 1);
    assert_close(number(answer, "single_contacts.mu"), 0.2, 2e-3);
    // The first ball trains and is not evaluated; its part says so.
    assert_int_equal(length(answer, "groups"), 2);
    assert_int_equal(number(answer, "groups.0.evaluated"), 0);
    assert_string_equal(text(answer, "groups.0.reason"), "all are in the training half");
    assert_true(json_is_null(at(answer, "groups.1.reason")));
    assert_close(number(answer, "groups.1.laws.0.parameters.mu"), 0.5, 0);
    json_decref(answer);
    report r = run(*state, "measure", "some.json", "--law", "anitescu-potra", "--null", "none", "--draws", "0");
    check_text(r.out, "friction of the 1 impacts without mu");
    check_text(r.out, "single: 1 impacts, none evaluated: all are in the training half");
    release(&r);
}

// For a set with restitution the least interval is fitted, and everything says how.
static void an_interval_is_fitted_to_a_set(void **state) {
    write_text(*state, "balls.json", two_balls);
    json_t *answer = ask(*state, "measure", "balls.json", "--law", "stronge,halm-posa,routh", "--hypothesis", "stronge", "--fit", "e",
                         "--samples", "100", "--null", "none", "--draws", "10", "--share", "0.8", "-o", "out");
    const json_t *set = law_of(answer, "halm-posa"), *law = law_of(answer, "stronge"), *one = law_of(answer, "routh");
    assert_true(number(set, "parameters.e.0") <= 0.43 && number(set, "parameters.e.1") >= 0.37);
    assert_true(number(set, "parameters.e.1") - number(set, "parameters.e.0") <= 0.02);
    assert_int_equal(length(set, "parameters.e_error"), 2);
    assert_close(number(set, "parameters.e_interval.share"), 0.8, 0);
    assert_close(number(set, "parameters.e_interval.tolerance"), 0.05, 0);
    assert_close(number(set, "parameters.e_interval.contained"), 1, 0);
    assert_true(number(set, "parameters.e_interval.members") > 0);
    assert_close(number(law, "parameters.e"), 0.4, 2e-3);
    assert_true(json_is_null(at(law, "parameters.e_interval")));
    // One draw of a set is not fitted: the impacts' own.
    assert_close(number(one, "parameters.e"), 0, 0);
    json_decref(answer);
    char *page = read_file(*state, "out/index.html"), path[PATH_SIZE];
    check_text(page, "is the least interval that holds 80 % of the training half within 5 %");
    check_text(page, "<td>1 of 1</td>");
    free(page);
    join(path, *state, "out/measure.h5");
    assert_int_equal(count_rows(path, "fits/law"), 2);
    assert_int_equal(count_rows(path, "fits/e_most"), 2);
    report r = run(*state, "measure", "balls.json", "--law", "halm-posa", "--fit", "e", "--null", "none");
    check_text(r.err, "sets take one with --hypothesis");
    release(&r);
    // Options that the command's own hide are not listed.
    r = run(*state, "measure", "--help");
    assert_int_equal(count_text(r.out, "--draws "), 1);
    assert_int_equal(count_text(r.out, "--tolerance "), 1);
    release(&r);
}

// All laws, with sets by walks; the same document for any number of threads.
static void answers_do_not_depend_on_threads(void **state) {
    write_text(*state, "balls.json", two_balls);
    json_t *one = ask(*state, "measure", "balls.json", "--samples", "50", "--null-points", "50", "--threads", "1", "--restitution", "0.4");
    json_t *three =
        ask(*state, "measure", "balls.json", "--samples", "50", "--null-points", "50", "--threads", "3", "--restitution", "0.4");
    assert_true(json_equal(one, three));
    assert_true(length(one, "groups.0.laws") >= 5);
    json_decref(one);
    json_decref(three);
}

static void impacts_are_divided_by_speed(void **state) {
    char content[4096] = "{\"mu\": 0.2, \"impacts\": [";
    for (int i = 0; i < 8; i++) {
        const size_t used = strlen(content);
        snprintf(content + used, sizeof content - used, "%s{" BALL ", \"v_minus\": [0, -%d], \"v_plus\": [0, %d]}", i ? ", " : "", i + 1,
                 i / 2);
    }
    strcat(content, "]}");
    write_text(*state, "speeds.json", content);
    json_t *answer = ask(*state, "measure", "speeds.json", "--law", "moreau", "--by", "speed", "--null", "none");
    assert_int_equal(length(answer, "groups"), 4);
    for (int k = 0; k < 4; k++) {
        char place[32];
        snprintf(place, sizeof place, "groups.%d.count", k);
        assert_int_equal(number(answer, place), 2);
    }
    // Without covariance nothing is known of chi2.
    assert_true(json_is_null(at(answer, "groups.0.laws.0.contained_95")));
    json_decref(answer);
}

// The same impacts in HDF5 have the same answer; damaged files are refused.
static void hdf5_files_are_read(void **state) {
    const double M[] = {1, 0, 0, 1}, Jn[] = {0, 1}, Jt[] = {1, 0}, vm[] = {1, -1}, vp[] = {0.72, 0.4}, mu[] = {0.2};
    const double noise[] = {1e-4, 0, 0, 0, 0, 1e-4, 0, 0, 0, 0, 1e-4, 0, 0, 0, 0, 1e-4};
    const carom_hdf5_matrix arrays[] = {{"M", "", "", 2, 2, M},   {"Jn", "", "", 1, 2, Jn}, {"Jt", "", "", 1, 2, Jt},
                                        {"vm", "", "", 2, 0, vm}, {"vp", "", "", 2, 0, vp}, {"cov", "", "", 4, 4, noise}};
    char path[PATH_SIZE];
    join(path, *state, "balls.h5");
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), impacts = carom_hdf5_create_group(file, "impacts");
    assert_true(carom_hdf5_put_matrices(file, 1, &(carom_hdf5_matrix){"mu", "", "", 1, 0, mu}));
    for (int i = 0; i < 2; i++) {
        const hid_t group = carom_hdf5_create_group(impacts, i ? "1" : "0");
        assert_true(carom_hdf5_put_matrices(group, sizeof arrays / sizeof *arrays, arrays));
        assert_true(carom_hdf5_put_text(group, "kind", "single") && carom_hdf5_put_integer(group, "toss", i));
        H5Gclose(group);
    }
    H5Gclose(impacts);
    H5Fclose(file);
    write_text(*state, "balls.json", two_balls);
    const char *const files[] = {"balls.json", "balls.h5"};
    json_t *answers[2];
    for (int i = 0; i < 2; i++)
        answers[i] = ask(*state, "measure", files[i], "--law", "stronge,moreau", "--restitution", "0.4", "--null-points", "20");
    assert_true(json_equal(answers[0], answers[1]));
    json_decref(answers[1]);

    // Long names, and whole numbers.
    const int64_t whole[] = {1, -1};
    const hsize_t two = 2;
    const hid_t renamed = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), first = H5Gopen2(renamed, "impacts/0", H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &two, NULL),
                speeds = H5Dcreate2(first, "v_minus", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(speeds, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, whole) >= 0);
    assert_true(H5Ldelete(first, "vm", H5P_DEFAULT) >= 0 && H5Arename(first, "toss", "group") >= 0);
    assert_true(H5Lmove(first, "vp", first, "v_plus", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Lmove(first, "cov", first, "covariance", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Dclose(speeds);
    H5Sclose(space);
    H5Gclose(first);
    H5Fclose(renamed);
    json_t *again = ask(*state, "measure", "balls.h5", "--law", "stronge,moreau", "--restitution", "0.4", "--null-points", "20");
    assert_true(json_equal(answers[0], again));
    json_decref(again);
    json_decref(answers[0]);

    // An impact behind a gap would be lost.
    const hid_t gap = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Gclose(carom_hdf5_create_group(gap, "impacts/7"));
    H5Fclose(gap);
    report r = run(*state, "measure", "balls.h5");
    assert_true(is_refusal(&r, "balls.h5: impacts: has a group '7', but no group '2'"));
    release(&r);

    // Half of it.
    size_t size;
    char *bytes = support_read_file(path, &size);
    FILE *half = fopen(path, "wb");
    assert_non_null(half);
    assert_int_equal(fwrite(bytes, 1, size / 2, half), size / 2);
    fclose(half);
    free(bytes);
    r = run(*state, "measure", "balls.h5");
    assert_true(is_refusal(&r, "balls.h5: "));
    release(&r);
}

// Positions and velocities of a model, with contacts of the file or of each impact.
static void impacts_of_a_model_are_frozen(void **state) {
    write_text(*state, "ball.xml",
               "<mujoco><worldbody><geom type='plane' size='5 5 1' friction='0.4'/><body pos='0 0 1'><freejoint/>"
               "<geom type='sphere' size='1' mass='1' friction='0.4'/><site name='bottom' pos='0 0 -1'/></body></worldbody></mujoco>\n");
    write_text(*state, "model.json",
               "{\"model\": \"ball.xml\", \"impacts\": [\n"
               "{\"qpos\": [0, 0, 1, 1, 0, 0, 0], \"v_minus\": [0, 0, -1, 0, 0, 0], \"v_plus\": [0, 0, 0.5, 0, 0, 0]},\n"
               "{\"qpos\": [0, 0, 1, 1, 0, 0, 0], \"v_minus\": [0, 0, -1, 0, 0, 0], \"v_plus\": [0, 0, 0.5, 0, 0, 0],\n"
               " \"contacts\": [{\"name\": \"foot\", \"site\": \"bottom\", \"normal\": [0, 0, 1], \"friction\": 0.4}]}]}\n");
    json_t *answer = ask(*state, "measure", "model.json", "--law", "stronge", "--restitution", "0.5", "--null", "none");
    assert_string_equal(text(answer, "groups.0.kind"), "1 contact");
    assert_int_equal(number(answer, "groups.0.count"), 2);
    assert_close(number(law_of(answer, "stronge"), "p95_error"), 0, 1e-9);
    assert_close(number(law_of(answer, "stronge"), "parameters.mu"), 0.4, 1e-12);
    json_decref(answer);

    // As a table with a mark of UTF-8, noise, a column that nobody knows, and blank lines.
    char table[] = "\xEF\xBB\xBF frame, qpos.1,qpos.2,qpos.3,qpos.4,qpos.5,qpos.6,qpos.7, "
                   "v_minus.1,v_minus.2,v_minus.3,v_minus.4,v_minus.5,v_minus.6, "
                   "v_plus.1,v_plus.2,v_plus.3,v_plus.4,v_plus.5,v_plus.6, "
                   "std.1,std.2,std.3,std.4,std.5,std.6,std.7,std.8,std.9,std.10,std.11,std.12, "
                   "kind, toss\n"
                   "7, 0,0,1,1,0,0,0, 0,0,-1,0,0,0, 0,0,0.5,0,0,0, 1e-2,1e-2,1e-2,1,1,1,1e-2,1e-2,1e-2,1,1,1, ball, 4\r\n\n"
                   "9, 0,0,1,1,0,0,0, 0,0,-1,0,0,0, 0,0,0.5,0,0,0, 1e-2,1e-2,1e-2,1,1,1,1e-2,1e-2,1e-2,1,1,1, ball, 5";
    write_text(*state, "model.csv", table);
    answer = ask(*state, "measure", "model.csv", "--model", "ball.xml", "--law", "stronge", "--restitution", "0.5", "--null", "none");
    assert_string_equal(text(answer, "groups.0.kind"), "ball");
    assert_int_equal(number(answer, "groups.0.count"), 2);
    assert_close(number(law_of(answer, "stronge"), "contained_95"), 1, 0);
    json_decref(answer);
    const char *const damaged[][2] = {{"qpos.1\n1\n", "bad.csv:1: there are 1 columns qpos.1"},
                                      {"qpos.1, qpos.1\n1\n", "bad.csv:1: the column 'qpos.1' stands twice"},
                                      {"qpos.1, group, toss\n1\n", "bad.csv:1: only one of the columns 'group' and 'toss' is allowed"},
                                      {"", "bad.csv:1: there are 0 columns qpos.1"}};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_text(*state, "bad.csv", damaged[i][0]);
        report r = run(*state, "measure", "bad.csv", "--model", "ball.xml");
        assert_true(is_refusal(&r, damaged[i][1]));
        release(&r);
    }
    const char *const changed[][3] = {{"1e-2", "-0.1", "bad.csv:2: std.1: '-0.1' is below 0"},
                                      {"ball", "b\033[m", "bad.csv:2: kind: has a control character (byte 27)"}};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        char *place = strstr(table, changed[i][0]);
        memcpy(place, changed[i][1], 4);
        write_text(*state, "bad.csv", table);
        memcpy(place, changed[i][0], 4);
        report r = run(*state, "measure", "bad.csv", "--model", "ball.xml");
        assert_true(is_refusal(&r, changed[i][2]));
        release(&r);
    }
    // Lines behind a NUL would be lost.
    char path[PATH_SIZE];
    join(path, *state, "nul.csv");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(table, 1, sizeof table, file), sizeof table);
    fclose(file);
    report r = run(*state, "measure", "nul.csv", "--model", "ball.xml");
    assert_true(is_refusal(&r, "nul.csv: has a NUL byte"));
    release(&r);
}

// Files take their places together, and a second run replaces them.
static void reports_are_written(void **state) {
    write_text(*state, "balls.json", two_balls);
    for (int i = 0; i < 2; i++) {
        json_t *answer = ask(*state, "measure", "balls.json", "--law", i ? "moreau,halm-posa" : "stronge,halm-posa", "--samples", "30",
                             "--null-points", "30", "-o", "out");
        const size_t files = length(answer, "files");
        // Two files of results, the page, and pairs of pictures: errors need three impacts, a picture of a set does not.
        assert_int_equal(files, 3 + 4);
        json_decref(answer);
    }
    char path[PATH_SIZE];
    join(path, *state, "out/measure.h5");
    assert_int_equal(read_complete(path), 1);
    assert_int_equal(count_rows(path, "impacts/floor"), 2);
    assert_int_equal(count_rows(path, "moreau/error"), 2);
    char *page = read_file(*state, "out/index.html"), *document = read_file(*state, "out/measure.json"), *all = snapshot(*state);
    check_text(page, "measured");
    check_text(page, "single");
    check_text(document, "carom.measure/1");
    // Each run has pictures of the same two impacts; nothing else is left.
    assert_int_equal(count_text(all, ".png"), 2);
    free(page);
    free(document);
    free(all);
}

// The table says what its numbers are: the tolerance that was asked for, nothing that was not identified, and what --fit found nothing for.
static void tables_say_what_they_show(void **state) {
    char path[PATH_SIZE];
    join(path, scenes_path, "../examples/cube-impacts.json");
    report r = run(*state, "measure", path, "--law", "stronge", "--null", "none", "--draws", "0", "--identify", "inertia", "--tolerance",
                   "0.2", "-o", "out");
    assert_int_equal(r.status, 0);
    check_text(r.out, "<= 20 %");
    check_text(r.out, "the laws take mu, not e");
    check_text(r.out, "kg m^2, from ");
    assert_null(strstr(r.out, "nan"));
    assert_null(strstr(r.out, "centre of mass"));
    release(&r);
    // The axis of errors shows per cent, not logarithms.
    char *errors = read_file(*state, "out/figure-1-Errors-single.svg");
    check_text(errors, ">1</text>");
    check_text(errors, ">10</text>");
    free(errors);
    char *page = read_file(*state, "out/index.html");
    check_text(page, "within 20&nbsp;%");
    assert_null(strstr(page, "centre of mass"));
    free(page);
    write_text(*state, "balls.json", two_balls);
    r = run(*state, "measure", "balls.json", "--law", "anitescu-potra", "--null", "none", "--fit", "e");
    assert_int_equal(r.status, 0);
    check_text(r.err, "--fit e: no law takes a restitution that could be fitted");
    release(&r);
}

// Kinds that differ in their last letters only are two, and files take their names, however long.
static void long_kinds_are_kept_apart(void **state) {
    const char *const start = "a corner, then an edge, then the face beside it, then the edge again, then another corner, n";
    char content[2048];
    snprintf(content, sizeof content,
             "{\"mu\": 0.2, \"impacts\": [{" BALL ", \"vm\": [1, -1], \"vp\": [0.72, 0.4], \"kind\": \"%so1\"},\n"
             "{" BALL ", \"vm\": [1, -1], \"vp\": [0.72, 0.4], \"kind\": \"%so2\"}]}\n",
             start, start);
    write_text(*state, "long.json", content);
    json_t *answer = ask(*state, "measure", "long.json", "--law", "stronge", "--null", "none", "-o", "out");
    assert_int_equal(length(answer, "groups"), 2);
    // Results and the page, and a picture of the set of each part, twice.
    assert_int_equal(length(answer, "files"), 3 + 4);
    json_decref(answer);
}

// Ctrl-C keeps the impacts that were finished, and says so; where there are none, it keeps the result of an earlier run.
static void interruptions_keep_what_is_finished(void **state) {
    write_text(*state, "balls.json", two_balls);
    json_decref(ask(*state, "measure", "balls.json", "--law", "stronge", "--null", "none", "-o", "out"));
    json_t *answer = stop(&(request){.directory = *state,
                                     .arguments = WORDS("measure", "balls.json", "--law", "halm-posa", "--samples", "100000000",
                                                        "--null-points", "10", "-o", "out", "--json")},
                          SIGINT);
    assert_false(is_true(answer, "complete"));
    assert_string_equal(text(answer, "verdict"), "interrupted");
    const bool earlier = number(answer, "finished") == 0;
    assert_true(number(answer, "finished") < 2);
    assert_int_equal(length(answer, "files") > 0, !earlier);
    char path[PATH_SIZE];
    join(path, *state, "out/measure.h5");
    assert_int_equal(read_complete(path), earlier);
    char *page = read_file(*state, "out/index.html");
    assert_int_equal(strstr(page, "stronge") != NULL, earlier);
    free(page);
    json_decref(answer);
}

// The measured impacts of the examples: what a first look at real data says, and no law is much better than that.
static void a_tossed_cube_is_explained(void **state) {
    char path[PATH_SIZE];
    join(path, scenes_path, "../examples/cube-impacts.json");
    json_t *answer = ask(*state, "measure", path, "--law", "stronge,anitescu-potra", "--fit", "mu,e", "--identify", "inertia,com", "--null",
                         "none", "--draws", "0");
    assert_int_equal(number(answer, "impacts"), 60);
    assert_string_equal(text(answer, "groups.0.kind"), "single");
    // The contacts are right, and any impulse at them explains all but one per cent.
    assert_true(number(answer, "groups.0.floor") < 0.01);
    assert_true(fabs(number(answer, "groups.0.lever_chi2_per_freedom") - 1) < 0.3);
    // The law with restitution comes within a few per cent, the inelastic one does not.
    const json_t *law = law_of(answer, "stronge");
    assert_close(number(law, "parameters.mu"), 0.174, 0.01);
    assert_close(number(law, "parameters.e"), 0.271, 0.01);
    assert_true(number(law, "median_error") < 0.03);
    assert_true(number(law_of(answer, "anitescu-potra"), "median_error") > 0.15);
    const double inertia[] = {1.1e-3, 1.1e-3, 1.03e-3};
    check_numbers(answer, "identified.inertia", inertia, 3, 0.05);
    for (int k = 0; k < 3; k++) assert_true(fabs(json_number_value(json_array_get(at(answer, "identified.com"), (size_t)k))) < 5e-4);
    json_decref(answer);

    // With an inertia that is a quarter less the levers are wrong, and so is the law.
    answer = ask(*state, "measure", path, "--law", "stronge", "--friction", "0.174", "--restitution", "0.271", "--null", "none",
                 "--inertia", "0.81e-3");
    assert_true(number(answer, "groups.0.lever_chi2_per_freedom") > 5);
    assert_true(number(law_of(answer, "stronge"), "median_error") > 0.05);
    json_decref(answer);

    // Sets of edges: restitution per contact explains most of them within 5 %, none of the inelastic sets does.
    answer = ask(*state, "measure", path, "--law", "halm-posa", "--friction", "0.164", "--samples", "40", "--null", "none");
    json_t *bounces = ask(*state, "measure", path, "--law", "halm-posa", "--friction", "0.164", "--samples", "40", "--null", "none",
                          "--hypothesis", "stronge", "--restitution", "0.2:0.5");
    for (int k = 0; k < 5; k++) {
        char place[PATH_SIZE];
        snprintf(place, sizeof place, "groups.%d.laws.0.within_5_percent", k);
        assert_close(number(answer, place), 0, 0);
        snprintf(place, sizeof place, "groups.%d.laws.0.median_error", k);
        assert_true(number(bounces, place) < 0.08 && number(bounces, place) < 0.5 * number(answer, place));
    }
    json_decref(answer);
    json_decref(bounces);
}

// ------------------------------------------------------------------------------------------------------------- bad files

#define ONE(more) "{\"impacts\": [{" BALL more "}]}\n"
#define LETTERS   "abcdefghijklmnopqrstuvwxyzabcdef"
#define SPEEDS    ", \"vm\": [1, -1], \"vp\": [0.72, 0.4]"

static const refusal refusals[] = {
    {"measure none.json", "none.json", NULL},
    {"measure case.yaml", "case.yaml:1: the key 'impacts' is missing", "{}\n"},
    {"measure case.yaml", "impacts: must be a list", "{\"impacts\": []}\n"},
    {"measure case.yaml", "impacts[0]: one of the keys 'vm' and 'v_minus' is needed", ONE("")},
    {"measure case.yaml", "impacts[0].vp: has 3 numbers, must have 2", ONE(", \"vm\": [1, -1], \"vp\": [1, 0, 0]")},
    {"measure case.yaml", "impacts[0].vm[1]: 'nan' is not a finite number", ONE(", \"vm\": [1, nan], \"vp\": [1, 0]")},
    {"measure case.yaml", "impacts[0].M[0][0]", "{\"impacts\": [{\"M\": [[.inf]], \"Jn\": [[1]], \"vm\": [-1], \"vp\": [0]}]}\n"},
    {"measure case.yaml", "impacts[0]: M is not positive definite",
     "{\"impacts\": [{\"M\": [[-1]], \"Jn\": [[1]], \"vm\": [-1], \"vp\": [0]}]}\n"},
    {"measure case.yaml", "impacts[0]: the key 'Jn' is missing", "{\"impacts\": [{\"M\": [[1]], \"vm\": [-1], \"vp\": [0]}]}\n"},
    {"measure case.yaml", "impacts[0].Jn: has 0 rows", "{\"impacts\": [{\"M\": [[1]], \"Jn\": [], \"vm\": [-1], \"vp\": [0]}]}\n"},
    {"measure case.yaml", "impacts[0].cov: has 1 row, must have 4", ONE(SPEEDS ", \"cov\": [[1]]")},
    {"measure case.yaml", "impacts[0]: cov: the variance [1][1] is -1",
     ONE(SPEEDS ", \"cov\": [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")},
    {"measure case.yaml", "impacts[0]: cov: is not symmetric",
     ONE(SPEEDS ", \"cov\": [[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")},
    {"measure case.yaml", "impacts[0]: cov: is not positive semidefinite",
     ONE(SPEEDS ", \"cov\": [[1, 2, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")},
    {"measure case.yaml", "impacts[1]: cov: is missing", "{\"impacts\": [{" BALL SPEEDS ", " NOISE "}, {" BALL SPEEDS "}]}\n"},
    {"measure case.yaml", "impacts[1]: group: is missing", "{\"impacts\": [{" BALL SPEEDS ", \"toss\": 1}, {" BALL SPEEDS "}]}\n"},
    {"measure case.yaml", "impacts[0]: vp: has more kinetic energy than vm", ONE(", \"vm\": [1, -1], \"vp\": [1, 2]")},
    // Where squares overflow, no test of inf against inf decides.
    {"measure case.yaml", "impacts[0]: vp: has a kinetic energy of inf J", ONE(", \"vm\": [1, -1], \"vp\": [1e160, 0.4]")},
    {"measure case.yaml", "impacts[0]: vp: has a kinetic energy of inf J", ONE(", \"vm\": [1, -1], \"vp\": [-1e308, 1e308]")},
    {"measure case.yaml", "out of range (energies up to 1e+200 J): choose other units", ONE(", \"vm\": [1e160, -1], \"vp\": [1e160, 0.4]")},
    {"measure case.yaml", "out of range (energies up to 1e+200 J): choose other units", ONE(", \"vm\": [1e120, -1], \"vp\": [1e120, 0.4]")},
    {"measure case.yaml", "impacts[0]: cov: has the variance 1e+250, out of range",
     ONE(SPEEDS ", \"cov\": [[1e250, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")},
    {"measure case.yaml", "impacts[0]: vm: is zero", ONE(", \"vm\": [0, 0], \"vp\": [0, 0]")},
    {"measure case.yaml", "impacts[0]: kind: has 96 bytes, at most 95", ONE(SPEEDS ", \"kind\": \"" LETTERS LETTERS LETTERS "\"")},
    {"measure case.yaml", "impacts[0].mu: -1 is below", ONE(SPEEDS ", \"mu\": -1")},
    {"measure case.yaml", "impacts[0]: R: its rows are not orthonormal", ONE(SPEEDS ", \"R\": [[1, 0, 0], [0, 1, 0], [0, 1, 0]]")},
    {"measure case.yaml", "impacts[0]: R: is a reflection", ONE(SPEEDS ", \"R\": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]")},
    {"measure case.yaml", "impacts[0]: cov: is zero", ONE(SPEEDS ", \"cov\": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]")},
    {"measure case.yaml", "impacts[0]: only one of the keys 'group' and 'toss' is allowed", ONE(SPEEDS ", \"group\": 1, \"toss\": 2")},
    {"measure case.yaml", "impacts[0]: only one of the keys 'cov' and 'covariance' is allowed",
     ONE(SPEEDS ", " NOISE ", \"covariance\": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")},
    {"measure case.yaml", "friction is not known",
     "{\"impacts\": [{\"M\": [[1, 0], [0, 1]], \"Jn\": [[0, 1], [1, 0]], \"vm\": [-1, -1], \"vp\": [0, 0]}]}\n"},
    {"measure case.yaml", "case.yaml:1: model: none.xml", "{\"model\": \"none.xml\", \"impacts\": [{}]}\n"},
    {"measure balls.json --law guess", "--law: there is no law 'guess'", NULL},
    {"measure balls.json --law moreau,moreau", "--law: 'moreau' stands twice", NULL},
    {"measure balls.json --law moreau,halm-posa --restitution 0.2:0.5", "--restitution: the law 'moreau' has no '0.2:0.5'", NULL},
    {"measure balls.json --fit speed", "--fit: 'speed' is not one of mu, e", NULL},
    {"measure balls.json --fit mu --friction 0.1", "--friction: it is fitted", NULL},
    {"measure balls.json --fit e --restitution 0.4", "--restitution: it is fitted", NULL},
    {"measure balls.json --share 1.5", "--share: ", NULL},
    {"measure case.yaml", "impacts[0]: vm: no contact approaches", ONE(", \"vm\": [1, 0.1], \"vp\": [1, 0.1]")},
    {"measure balls.json --friction -1", "--friction: ", NULL},
    {"measure balls.json --by size", "--by: 'size'", NULL},
    {"measure balls.json --null sphere", "--null: 'sphere'", NULL},
    {"measure balls.json --identify mass", "--identify: 'mass'", NULL},
    {"measure balls.json --identify inertia",
     "--identify: 0 impacts at single contacts of a free body with 'R' do not determine its inertia", NULL},
    {"measure balls.json -o balls.json", "balls.json", NULL},
    {"measure balls.json --inertia 1,2", "--inertia: one number is needed, or three", NULL},
    {"measure balls.json --inertia 1,1,9", "--inertia: 9 is larger than the sum", NULL},
    {"measure balls.json --inertia 1", "only a free body in space", NULL},
    {"measure balls.json --law halm-posa --restitution 0.2:0.5", "--restitution: has no meaning", NULL},
};

static void bad_files_are_refused(void **state) {
    write_text(*state, "balls.json", two_balls);
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(laws_are_confronted_with_impacts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_of_samples_outside_are_marked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parameters_are_fitted_to_half_of_the_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(friction_is_fitted_where_it_is_not_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interval_is_fitted_to_a_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_do_not_depend_on_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impacts_are_divided_by_speed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hdf5_files_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impacts_of_a_model_are_frozen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reports_are_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_say_what_they_show, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_kinds_are_kept_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(interruptions_keep_what_is_finished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tossed_cube_is_explained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_files_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
