// SPDX-License-Identifier: Apache-2.0
// What the command does when something fails under it: damaged files, little memory, full disks, kills, pipes.
#define _XOPEN_SOURCE 700  // mkfifo
#include "command_support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // as gcc calls it
#endif
#endif

// --------------------------------------------------------------------------------------------------------- damaged files

// Changes some bytes, most of them in the structure of the file, which is where bytes are not zero; or cuts the file.
static void damage(carom_stream *stream, char *bytes, size_t *size) {
    static const char extremes[] = {0, 1, 2, 4, 8, 16, 32, 64, 127, -1, -128};
    const int changes = 1 + (int)(carom_stream_bits(stream) % 8);
    for (int i = 0; i < changes; i++) {
        size_t place = carom_stream_bits(stream) % *size;
        for (int tries = 0; !bytes[place] && tries < 20; tries++) place = carom_stream_bits(stream) % *size;
        const uint64_t bits = carom_stream_bits(stream);
        if (bits % 2)
            bytes[place] = extremes[bits / 2 % sizeof extremes];
        else
            bytes[place] = (char)(bytes[place] ^ (1 << (bits / 2 % 8)));
    }
    if (carom_stream_bits(stream) % 8 == 0) *size = 1 + carom_stream_bits(stream) % *size;
}

// A damaged file is read, as far as it goes, or refused in one line; nothing crashes, hangs or takes gigabytes.
static void damaged_results_are_read_or_refused(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_decref(ask(*state, "sample", "block.yaml", "--samples", "8", "-o", "samples.h5"));
    json_decref(ask(*state, "resolve", "block.yaml", "--law", "sequential", "-o", "path.h5"));
    static const char *const files[] = {"samples.h5", "path.h5"};
    static const char *const questions[][6] = {{"query", "damaged.h5", "--max", "Jn.A", "--json"},
                                               {"query", "samples.h5", "--distance", "damaged.h5", "--json"},
                                               {"plot", "damaged.h5", "-o", "picture", "--json"}};
    char path[PATH_SIZE];
    carom_stream stream;
    carom_stream_start(&stream, 10, 18);
    const int count = support_count(20, 60, 3000);
    for (int i = 0; i < count; i++) {
        size_t size;
        char *bytes = support_read_file(join(path, *state, files[i % 2]), &size);
        damage(&stream, bytes, &size);
        FILE *file = fopen(join(path, *state, "damaged.h5"), "wb");
        assert_true(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
        free(bytes);
        const request asked = {.directory = *state, .arguments = questions[i % 3]};
        report r = run_request(&asked);
        const bool good = r.status == 0 ? !strncmp(r.out, "{\"schema\"", 9) : is_refusal(&r, "");
        if (!good) {
            show(&asked, &r);
            fail_msg("damaged file %d", i);
        }
        release(&r);
    }
}

// ---------------------------------------------------------------------------------------------------------------- memory

#ifndef __SANITIZE_ADDRESS__  // which takes terabytes of addresses for itself
// Whatever the limit, the command ends by itself: with its answer, with status 1 and an answer that says so, or within the loader of shared
// libraries.
static void little_memory_ends_in_one_line(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "model.yaml",
               "model: point.xml\ncontacts: [{name: A, site: point, normal: [0, 0, 1], friction: 1}]\nimpact: {samples: 64}\n"
               "state: {qpos: [0, 0, 0], qvel: [0, 0, -1]}\n");
    write_text(*state, "point.xml",
               "<mujoco><worldbody><body name=\"ball\"><joint type=\"slide\" axis=\"1 0 0\"/><joint type=\"slide\" axis=\"0 1 0\"/>"
               "<joint type=\"slide\" axis=\"0 0 1\"/><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>"
               "<site name=\"point\"/></body></worldbody></mujoco>");
    // A model of 200 velocities, whose factorisation BLAS would do.
    run_quietly(*state, 0,
                "python3 -c \"n=200; I=[[float(i==j) for j in range(n)] for i in range(n)]; "
                "print('matrices: {M:',I,', Jn:',I[:1],', Jt:',I[1:2],', mu: [1], v:',[-1]+[0]*(n-1),'}')\" > large.yaml");
    json_decref(ask(*state, "sample", "block.yaml", "-o", "set.h5"));
    static const char line[] =
        "for limit in %s; do for words in 'info model.yaml' 'info large.yaml' 'sample block.yaml' 'compare block.yaml' "
        "'exact block.yaml' 'query set.h5 --hull Jn.A,Jn.B'; do\n"
        "  (ulimit -v $((1024 * limit)); timeout -k 1 60 \"$carom\" $words --json >out 2>err); status=$?\n"
        "  case $status in 127) ;; 0) grep -q '^{\"schema' out ;;\n"
        "  1) grep -q '\"verdict\": \"out-of-memory\"' out && [ $(wc -l <err) = 1 ] ;;\n"
        "  *) false ;; esac || { echo \"$limit MB: $words: $status\" $(cat err) ; }\n"
        "done; done";
    char script[sizeof line + 256];
    snprintf(script, sizeof script, line, support_count(1, 1, 0) ? "120 132 150 170 200 240" : "$(seq 60 4 400)");
    char *said = run_line(*state, 0, script);
    support_skip_missing(said);
    assert_string_equal(said, "");
    free(said);
}
#endif

// A thousand contacts fit into a few kilobytes: what they take is said before it is taken.
static void what_many_contacts_take_is_said(void **state) {
    run_quietly(*state, 0,
                "n=600; "
                "one=$(printf '[1],%.0s' $(seq $n)) zero=$(printf '[0],%.0s' $(seq $n)) mu=$(printf '0,%.0s' $(seq $n)); "
                "echo \"matrices: {M: [[1]], Jn: [${one%,}], Jt: [${zero%,}], mu: [${mu%,}], v: [-1]}\" > many.yaml");
    const request asked = {.directory = *state, .arguments = WORDS("resolve", "many.yaml", "--law", "anitescu-potra", "--json")};
    report r = run_request(&asked);
    check_text(r.err, "carom: note: 600 contacts make steps of 3000 LCP variables, which take about 0.36 GB with 1 thread");
    release(&r);
    // A refusal stays one line: what is refused takes nothing.
    static const refusal refusals[] = {
        {"info many.yaml --cone-edges 3", "--cone-edges: 3 is not between", NULL},
        {"info many.yaml --epsilon -1", "--epsilon: '-1'", NULL},
        {"sample many.yaml --step -1", "--step: -1 is not greater than 0", NULL},
        {"sample many.yaml -o /dev/null", "/dev/null: is not a regular file", NULL},
        {"resolve many.yaml --law moreau -o /dev/null", "/dev/null: is not a regular file", NULL},
        {"compare many.yaml --samples 0", "--samples: 0 is not between", NULL},
    };
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
}

// A thousand contacts in four kilobytes: `info` computes in the one velocity that they have, within little memory, and leaves the step to
// those who need it; `compare` leaves out the laws that solve such steps.
static void a_thousand_contacts_are_no_burden(void **state) {
    run_quietly(*state, 0,
                "echo \"matrices: {M: [[4]], Jn: [$(printf '[1],%.0s' $(seq 999))[2]], v: [-1]}\" > many.yaml; "
                "[ $(wc -c <many.yaml) -lt 4096 ]");
#ifndef __SANITIZE_ADDRESS__
    // Of 1.1 GB and more some 100 MB are left, beside the libraries.
    run_quietly(*state, 0, "(ulimit -v 1000000; \"$carom\" info many.yaml --json >info.json)");
#else
    run_quietly(*state, 0, "\"$carom\" info many.yaml --json >info.json");
#endif
    char *text_of = run_line(*state, 0, "cat info.json");
    json_t *info = json_loads(text_of, 0, NULL);
    assert_non_null(info);
    free(text_of);
    // r.M^-1 f >= 1 for f = 1 and 2; psi = sqrt(999 + 4) / 4 * 1000 + 1.
    assert_true(is_true(info, "pointed"));
    assert_close(number(info, "bounds.r_norm"), 4, 1e-12);
    assert_close(number(info, "bounds.psi") / (250 * sqrt(1003) + 1), 1, 1e-12);
    assert_true(json_is_null(at(info, "step")) && json_is_null(at(info, "bounds.step_bound_c")));
    assert_int_equal(json_array_size(at(info, "W")), 2000);
    assert_int_equal(json_array_size(at(info, "uniqueness.cosines")), 1000);
    json_decref(info);
    const request asked = {.directory = *state, .arguments = WORDS("compare", "many.yaml", "--json")};
    report r = run_request(&asked);
    check_text(r.err, "halm-posa is left out: its steps are too large for a comparison");
    check_text(r.out, "\"left_out\": [\"anitescu-potra\"");
    release(&r);
    run_quietly(*state, 0,
                "\"$carom\" compare many.yaml -o page >text.txt && grep -q '^- `anitescu-potra` is left out: its steps' page/*.md");
    // Time counts, too: 120 contacts fit into memory. In the foreground `timeout` sends its signal once, not to the whole group, too.
    run_quietly(*state, 0, "echo \"matrices: {M: [[4]], Jn: [$(printf '[1],%.0s' $(seq 119))[2]], v: [-1]}\" > many.yaml");
    char *said = run_line(
        *state, 1,
        "timeout --foreground --preserve-status -s INT 2 \"$carom\" sample many.yaml --threads 1 --samples 1000000 --json 2>&1 >out.json");
    check_text(said, "1000000 samples may take");
    free(said);
}

// ----------------------------------------------------------------------------------------------------------------- disks

// What cannot be filed is a full disk, not a law that was asked twice.
static void a_full_disk_is_called_by_its_name(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    for (unsigned long limit = 1 << 12; limit <= 1 << 16; limit *= 2) {
        const request asked = {.directory = *state, .arguments = WORDS("compare", "block.yaml", "-o", "out"), .file_limit = limit};
        report r = run_request(&asked);
        // The file has the name that it would have had, not that of its temporary folder.
        if (!is_refusal(&r, "carom: out/compare.h5: the file could not be written (disk full?)")) show(&asked, &r);
        assert_true(is_refusal(&r, "carom: out/compare.h5: the file could not be written (disk full?)") && !exists(*state, "out"));
        release(&r);
    }
    write_text(*state, "balls.yaml",
               "balls: {masses: [1, 1, 1], radius: 0.5, positions: [[0.8, 0.6], [0.8, -0.6], [0, 0]], "
               "velocities: [[0, 0], [0, 0], [1, 0]]}\n"
               "design: {pairs: [[1:3, 2:3]], target: 0, free: [x1, y1, x2, y2]}\n");
    const request design = {.directory = *state, .arguments = WORDS("design", "balls.yaml", "-o", "new.json"), .file_limit = 16};
    report r = run_request(&design);
    if (!is_refusal(&r, "carom: new.json: the file cannot be written")) show(&design, &r);
    assert_true(is_refusal(&r, "carom: new.json: the file cannot be written"));
    release(&r);
}

static void a_series_on_a_full_disk_leaves_nothing(void **state) {
    write_text(*state, "two.yaml",
               "simulate: {integrator: rodrigues, duration: 0.5, step: 0.01}\n"
               "bodies: [{mass: 1, inertia: 1, position: [0, 0, 0]}, {mass: 1, inertia: 1, position: [3, 0, 0]}]\n");
    run_quietly(*state, 0, "\"$carom\" simulate two.yaml --vtk two.vtk && ls two.vtk two-000050.vtk two.vtk.series && rm two*.vtk*");
    // Files of the series fit, their list does not.
    const request asked = {.directory = *state, .arguments = WORDS("simulate", "two.yaml", "--vtk", "two.vtk"), .file_limit = 1300};
    char *before = snapshot(*state);
    report r = run_request(&asked);
    char *after = snapshot(*state);
    if (!is_refusal(&r, "two.vtk.series")) show(&asked, &r);
    assert_true(is_refusal(&r, "two.vtk.series"));
    assert_string_equal(before, after);
    release(&r);
    free(before);
    free(after);
}

// ----------------------------------------------------------------------------------------------------------------- kills

#define OTHER_SCENE                                                                                                                        \
    "name: other\nmatrices: {M: [[1, 0], [0, 1]], Jn: [[0, 1], [0.1, 1]], Jt: [[1, 0], [1, 0]], mu: [0.5, 0.5], v: [1, -1], names: [L, "   \
    "R]}\n"

// Whenever a comparison is killed, the directory holds one comparison: the old one, whole, or the new one.
static void a_killed_comparison_leaves_the_last_one(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "other.yaml", OTHER_SCENE "impact: {samples: 64}\n");
    write_text(*state, "long.yaml", OTHER_SCENE "impact: {samples: 1073741824}\n");
    run_quietly(*state, 0, "\"$carom\" compare block.yaml -o out && echo mine > out/notes && cp -r out before");
    run_quietly(*state, 0,
                "for seconds in 0.05 0.2 0.6; do timeout -s KILL $seconds \"$carom\" compare long.yaml -o out;"
                " diff -r -x '.compare.*' before out || exit 1; done 2>&1");
    // The next one takes its place, and what was left behind is gone; files of others stay.
    json_t *made = ask(*state, "compare", "other.yaml", "-o", "out");
    assert_true(is_true(made, "complete"));
    assert_string_equal(text(made, "verdict"), "complete");
    char *left = run_line(*state, 0, "ls -A out | sort | tr '\\n' ' '"), *page = run_line(*state, 0, "cat out/index.md");
    assert_null(strstr(left, ".compare"));
    assert_null(strstr(left, "Jn.A"));
    check_text(left, "figure-1-Jn.L-Jn.R.png");
    check_text(left, "notes");
    check_text(page, "carom compare other.yaml -o out");
    assert_null(strstr(page, ".compare."));
    free(left);
    free(page);
    json_decref(made);
    // An interrupted one leaves its file, and no figure of the last one.
    made = stop(&(request){.directory = *state, .arguments = WORDS("compare", "long.yaml", "-o", "out", "--json")}, SIGINT);
    assert_string_equal(text(made, "verdict"), "interrupted");
    assert_false(is_true(made, "complete"));
    json_decref(made);
    left = run_line(*state, 0, "ls -A out | sort | tr '\\n' ' '");
    assert_string_equal(left, "compare.h5 notes ");
    free(left);
}

// ----------------------------------------------------------------------------------------------------------------- pipes

// Nobody fills them, and nobody waits for them.
static void pipes_are_refused(void **state) {
    char path[PATH_SIZE];
    assert_int_equal(mkfifo(join(path, *state, "pipe"), 0600), 0);
    write_text(*state, "model.yaml", "model: pipe\ncontacts: [{name: A, site: point, normal: [0, 0, 1], friction: 1}]\n");
    write_text(*state, "mesh.yaml", "model: mesh.xml\ncontacts: [{name: A, site: point, normal: [0, 0, 1], friction: 1}]\n");
    write_text(*state, "mesh.xml",
               "<mujoco><compiler meshdir=\"./\"/><asset><mesh name=\"m\" file=\"pipe\"/></asset><worldbody><body><freejoint/>"
               "<geom type=\"mesh\" mesh=\"m\"/><site name=\"point\"/></body></worldbody></mujoco>");
    write_text(*state, "include.yaml", "model: include.xml\ncontacts: [{name: A, site: point, normal: [0, 0, 1], friction: 1}]\n");
    write_text(*state, "include.xml", "<mujoco><include file=\"pipe\"/></mujoco>");
    write_text(*state, "fclib.yaml", "delassus: {file: pipe}\n");
    char rack[PATH_SIZE];
    motion_path("rack", rack);
    const char *const commands[][5] = {{"info", "pipe"},         {"info", "model.yaml"}, {"info", "mesh.yaml"},
                                       {"info", "include.yaml"}, {"info", "fclib.yaml"}, {"lcp", "pipe"},
                                       {"plot", "pipe"},         {"replay", "pipe"},     {"simulate", rack, "--resume", "pipe"},
                                       {"measure", "pipe"},      {"query", "pipe"},      {"measure", "pipe", "--model", "mesh.xml"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const request asked = {.directory = *state, .arguments = commands[i]};
        report r = run_request(&asked);
        if (!is_refusal(&r, "not a regular file")) show(&asked, &r);
        assert_true(is_refusal(&r, "not a regular file"));
        release(&r);
    }
    // Directories are said to be some, by whatever reads them.
    const char *const others[][5] = {{"info", "."}, {"lcp", "."}, {"replay", "."}, {"simulate", rack, "--resume", "."}, {"measure", "."}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const request asked = {.directory = *state, .arguments = others[i]};
        report r = run_request(&asked);
        if (!is_refusal(&r, ".: cannot be read: Is a directory")) show(&asked, &r);
        assert_true(is_refusal(&r, ".: cannot be read: Is a directory"));
        release(&r);
    }
    // The pipe of a shell is filled.
    write_text(*state, "flat.yaml", FLAT_SCENE);
    run_quietly(*state, 0, "\"$carom\" info <(cat flat.yaml) && cat flat.yaml | \"$carom\" info /dev/stdin");
}

// -------------------------------------------------------------------------------------------------------------- requests

// What cannot be is said before anything is measured, or computed for days.
static void impossible_requests_are_refused_at_once(void **state) {
    static const refusal refusals[] = {
        {"bench flat.yaml missing.yaml --milliseconds 100000", "missing.yaml: cannot be opened", NULL},
        {"bench flat.yaml --milliseconds 100000 --growth -o missing/table.md", "missing/table.md", NULL},
        {"bench flat.yaml --milliseconds 100000 --profiles -o text.txt", "text.txt: is not the tables", NULL},
        {"simulate case.yaml --step 1e-14", "--step: 1e-14 s are too small for 1 s: a run may have at most 1e+12 steps",
         BALL_AT "5]}\nsimulate: {integrator: lgvci, duration: 1}\n"},
        {"simulate case.yaml", "simulate.step: 1e-14 s are too small for 0.1 s",
         "simulate: {integrator: rodrigues, duration: 0.1, step: 1e-14}\nbodies: [{mass: 1, inertia: 1}]\n"},
    };
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
    // A place for the tables, and none for the pictures.
    run_quietly(*state, 0, "mkdir table-contacts.png");
    const request asked = {.directory = *state,
                           .arguments = WORDS("bench", "flat.yaml", "--milliseconds", "100000", "--growth", "-o", "table.md")};
    report r = run_request(&asked);
    assert_true(is_refusal(&r, "table-contacts.png: is a directory"));
    release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_results_are_read_or_refused, set_up, tear_down),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test_setup_teardown(little_memory_ends_in_one_line, set_up, tear_down),
#endif
        cmocka_unit_test_setup_teardown(what_many_contacts_take_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_thousand_contacts_are_no_burden, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_is_called_by_its_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_series_on_a_full_disk_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_killed_comparison_leaves_the_last_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pipes_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impossible_requests_are_refused_at_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
