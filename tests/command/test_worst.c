// SPDX-License-Identifier: Apache-2.0
// `carom worst` and `carom replay`: documents, witnesses that give their bits again, scenes that have changed, and what is refused.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command_support.h"

static void values_stand_beside_certified_ones(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *answer = ask(*state, "worst", "block.yaml", "--max", "Jn.A", "--min", "Jn.A - Jt.B", "--max", "v.2 + Pn.A", "--evaluations",
                         "2048", "-o", "w.json");
    assert_string_equal(text(answer, "schema"), "carom.worst/1");
    assert_string_equal(text(answer, "file"), "w.json");
    assert_true(is_true(answer, "reproducible"));
    assert_int_equal(length(answer, "worst"), 3);
    assert_close(number(answer, "worst.0.value"), 0.21 * 0.442944694807002, 1e-9);
    assert_int_equal(length(answer, "worst.0.v_plus"), 3);
    assert_true(is_true(answer, "worst.0.verified"));
    assert_true(number(answer, "worst.0.value") >= number(answer, "worst.0.samples_value"));
    assert_true(number(answer, "worst.1.value") <= number(answer, "worst.1.samples_value"));
    assert_true(number(answer, "worst.0.evaluations") >= 2048);
    if (carom_exact_available()) {
        assert_string_equal(text(answer, "worst.0.method"), "exact");
        assert_true(is_true(answer, "worst.0.exact"));
        assert_close(number(answer, "worst.0.upper"), number(answer, "worst.0.value"), 1e-9);
        assert_true(number(answer, "worst.1.lower") <= number(answer, "worst.1.value") + 1e-9);
    }
    // Impulses have no certified bound.
    assert_true(json_is_null(at(answer, "worst.2.upper")));

    // The witnesses give the same numbers again.
    json_t *again = ask(*state, "replay", "w.json");
    assert_string_equal(text(again, "schema"), "carom.replay/1");
    assert_int_equal(length(again, "witnesses"), 3);
    for (int i = 0; i < 3; i++) {
        char value[64], before[64], v[64];
        for (int k = 0; k < 3; k++) {
            snprintf(v, sizeof v, "witnesses.%d.v_plus.%d", i, k);
            snprintf(before, sizeof before, "worst.%d.v_plus.%d", i, k);
            assert_true(number(again, v) == number(answer, before));
        }
        snprintf(value, sizeof value, "witnesses.%d.value", i);
        snprintf(before, sizeof before, "worst.%d.value", i);
        assert_true(number(again, value) == number(answer, before));
    }
    assert_true(number(again, "value") == number(answer, "worst.0.value"));
    assert_true(is_true(again, "reproduced"));
    json_decref(again);
    again = ask(*state, "replay", "w.json", "--index", "1");
    assert_true(number(again, "value") == number(answer, "worst.1.value"));
    json_decref(again);
    json_decref(answer);
    report r = run(*state, "replay", "w.json", "--path", "--index", "0");
    assert_int_equal(r.status, 0);
    check_text(r.out, "as the file has it");
    check_text(r.out, "normal impulses [N s]");
    release(&r);
}

// No contact point of RAMone slides back: what the search finds below 0 is round-off, and not shown as found.
static void round_off_passes_no_certificate(void **state) {
    if (!carom_exact_available()) skip();
    char path[PATH_SIZE];
    json_t *answer = ask(*state, "worst", motion_path("ramone", path), "--min", "Jt.A", "--evaluations", "20000");
    assert_true(is_true(answer, "worst.0.exact"));
    const double passed_by = number(answer, "worst.0.passed_by");
    assert_true(passed_by >= 0 && passed_by == 0 - number(answer, "worst.0.value"));
    assert_true(number(answer, "worst.0.lower") == 0 && number(answer, "worst.0.upper") == 0);
    json_decref(answer);
    report r = run(*state, "worst", path, "--min", "Jt.A", "--evaluations", "20000");
    assert_int_equal(r.status, 0);
    check_text(r.out, "min Jt.A                     0               0               0  exact");
    if (passed_by > 1e-10) check_text(r.out, " of round-off, which is not shown");
    release(&r);
}

// One thread or three: the same bytes, witness included.
static void threads_write_the_same_bytes(void **state) {
    char path[PATH_SIZE];
    motion_path("compass", path);
    char *files[2];
    for (int i = 0; i < 2; i++) {
        json_t *answer = ask(*state, "worst", path, "--max", "Jn.A", "--min", "Jt.B", "--evaluations", "4096", "--bound-seconds", "0",
                             "--threads", i ? "3" : "1", "-o", "w.json");
        assert_true(json_is_null(at(answer, "worst.0.upper")));
        json_decref(answer);
        files[i] = read_file(*state, "w.json");
    }
    assert_string_equal(files[0], files[1]);
    free(files[0]);
    free(files[1]);
}

static void restitution_has_witnesses(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *answer = ask(*state, "worst", "block.yaml", "--max", "Jn.A", "--hypothesis", "stronge", "--restitution", "0.2:0.6",
                         "--evaluations", "1024", "-o", "w.json");
    assert_string_equal(text(answer, "worst.0.method"), "energy");
    assert_true(number(answer, "worst.0.upper") >= number(answer, "worst.0.value"));
    json_t *again = ask(*state, "replay", "w.json");
    assert_true(number(again, "value") == number(answer, "worst.0.value"));
    json_decref(again);
    json_decref(answer);
}

// Laws with a list of outcomes: the largest value of the list, as `resolve` has it, and its witness. Of one outcome that is said.
static void lists_of_outcomes_are_looked_through(void **state) {
    static const struct {
        const char *law, *listing;
        int members;
    } cases[] = {{"anitescu-potra", "--selection=all", 3}, {"sequential", "--orders=all", 2}, {"moreau", "--solver=lemke", 1}};
    char path[PATH_SIZE], name[64];
    motion_path("compass", path);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        json_t *answer = ask(*state, "worst", path, "--law", cases[k].law, "--max", "Jt.B", "--min", "Pn.A", "-o", "w.json");
        json_t *list = ask(*state, "resolve", path, "--law", cases[k].law, cases[k].listing);
        double most = -INFINITY, least = INFINITY;
        for (size_t i = 0; i < length(list, "outcomes"); i++) {
            snprintf(name, sizeof name, "outcomes.%zu.tangent_velocity.1", i);
            most = fmax(most, number(list, name));
            snprintf(name, sizeof name, "outcomes.%zu.normal_impulse.0", i);
            least = fmin(least, number(list, name));
        }
        assert_true(number(answer, "worst.0.value") == most && number(answer, "worst.0.certified") == most);
        assert_true(number(answer, "worst.1.value") == least);
        assert_string_equal(text(answer, "worst.0.method"), "list");
        assert_string_equal(text(answer, "members"), "list");
        assert_int_equal(number(answer, "worst.0.members"), cases[k].members);
        assert_true(is_true(answer, "worst.0.complete") && is_true(answer, "worst.0.verified"));
        json_t *again = ask(*state, "replay", "w.json");
        assert_true(is_true(again, "reproduced") && number(again, "witnesses.1.value") == least);
        if (!strcmp(cases[k].law, "sequential")) assert_string_equal(text(again, "word.0"), text(answer, "worst.0.word.0"));
        json_decref(again);
        json_decref(list);
        json_decref(answer);
    }
    report r = run(*state, "worst", path, "--law", "moreau", "--max", "Jn.A");
    assert_int_equal(r.status, 0);
    check_text(r.out, "outcomes of the law moreau, which has one");
    release(&r);
    // A list that stops early is not all there is.
    r = run(*state, "worst", motion_path("disks", path), "--law", "propagative", "--max-states", "3", "--max", "Jn.A", "--json");
    assert_int_equal(r.status, 1);
    check_text(r.out, "\"complete\": false, \"approximate\"");
    release(&r);
}

// The caps and selections of time stepping, and how they can be played again.
static void time_stepping_is_searched(void **state) {
    char path[PATH_SIZE], *files[2];
    motion_path("compass", path);
    for (int i = 0; i < 2; i++) {
        json_t *answer = ask(*state, "worst", path, "--sampler", "lcp", "--max", "Jn.B", "--min", "Jt.B + Pn.A", "--evaluations", "2048",
                             "--threads", i ? "3" : "1", "-o", "w.json");
        assert_string_equal(text(answer, "members"), "lcp");
        assert_close(number(answer, "worst.0.value"), 0.0995551492, 1e-6);
        assert_true(number(answer, "worst.1.value") <= number(answer, "worst.1.samples_value"));
        assert_true(is_true(answer, "worst.0.verified") && is_true(answer, "worst.1.verified"));
        json_t *again = ask(*state, "replay", "w.json");
        assert_true(is_true(again, "witnesses.0.reproduced") && is_true(again, "witnesses.1.reproduced"));
        json_decref(again);
        json_decref(answer);
        files[i] = read_file(*state, "w.json");
    }
    assert_string_equal(files[0], files[1]);
    free(files[0]);
    free(files[1]);
    // Both samplers: walks, and the samples that are certified to be solutions.
    json_t *both =
        ask(*state, "worst", path, "--sampler", "auto", "--max", "Jn.B", "--min", "Jt.A", "--evaluations", "4096", "-o", "b.json");
    assert_string_equal(text(both, "members"), "auto");
    assert_close(number(both, "worst.0.value"), 0.0995551492, 1e-6);
    assert_close(number(both, "worst.1.value"), -0.0744905857, 1e-6);
    assert_false(is_true(both, "worst.0.approximate") || is_true(both, "worst.1.approximate"));
    json_t *same = ask(*state, "replay", "b.json");
    assert_true(is_true(same, "witnesses.0.reproduced") && is_true(same, "witnesses.1.verified"));
    json_decref(same);
    json_decref(both);
    // What the law `routh` may choose is the same.
    json_t *routh = ask(*state, "worst", path, "--law", "routh", "--max", "Jn.B", "--evaluations", "512", "-o", "r.json");
    assert_string_equal(text(routh, "members"), "lcp");
    json_t *again = ask(*state, "replay", "r.json");
    assert_true(is_true(again, "reproduced") && number(again, "value") == number(routh, "worst.0.value"));
    json_decref(again);
    json_decref(routh);
}

// Also the points of what is uncertain are searched for the worst outcome of a list: the particle leaves with 1 - mu.
static void lists_of_uncertain_impacts_are_searched(void **state) {
    write_text(*state, "flat.yaml", FLAT_SCENE "uncertain: {friction: {A: [0.1, 0.6]}, velocity: {box: [0.2, 0]}}\n");
    json_t *answer = ask(*state, "worst", "flat.yaml", "--law", "anitescu-potra", "--max", "Jt.A", "--evaluations", "2048", "-o", "w.json");
    assert_close(number(answer, "worst.0.value"), 1.2 - 0.1, 1e-4);
    assert_false(is_true(answer, "worst.0.complete"));
    assert_close(json_number_value(json_object_get(at(answer, "worst.0.parameters"), "mu.A")), 0.1, 1e-4);
    json_t *again = ask(*state, "replay", "w.json");
    assert_true(is_true(again, "reproduced"));
    json_decref(again);
    json_decref(answer);
}

// The worst velocity and friction are found with the walk, and named; another uncertainty is another scene.
static void uncertain_parameters_are_searched(void **state) {
    static const char parts[] = BLOCK_SCENE "uncertain: {velocity: {box: [0.05, 0, 0.05]}, friction: {A: [0.1, %s]}}\n";
    char scene[1024];
    snprintf(scene, sizeof scene, parts, "0.9");
    write_text(*state, "block.yaml", scene);
    json_t *answer = ask(*state, "worst", "block.yaml", "--max", "Jn.A", "--min", "Jt.B", "--evaluations", "4096", "-o", "w.json");
    assert_true(is_true(answer, "uncertain"));
    // Bounds are of all velocities and friction: the outer set of `carom exact`, and the bound of `carom bound`.
    assert_true(number(answer, "worst.0.certified") >= number(answer, "worst.0.value") - 1e-9);
    assert_true(number(answer, "worst.1.certified") <= number(answer, "worst.1.value") + 1e-9);
    if (carom_exact_available()) {
        assert_true(strcmp(text(answer, "worst.0.method"), "exact") != 0);
        assert_true(is_true(answer, "worst.0.exact"));
        json_t *bound = ask(*state, "bound", "block.yaml", "--max", "Jn.A", "--walks", "1");
        assert_true(number(answer, "worst.0.certified") <= number(bound, "bounds.0.certified") + 1e-9);
        json_decref(bound);
    }
    // Sliding to the left with the least friction.
    const json_t *parameters = at(answer, "worst.1.parameters");
    assert_close(json_number_value(json_object_get(parameters, "v0.1")), -0.05, 1e-3);
    assert_close(json_number_value(json_object_get(parameters, "mu.A")), 0.1, 1e-2);
    // Farther than from the velocity of the scene alone.
    assert_true(number(answer, "worst.0.value") > 0.11);
    json_t *again = ask(*state, "replay", "w.json", "--index", "1");
    assert_true(number(again, "value") == number(answer, "worst.1.value"));
    json_decref(again);
    json_decref(answer);
    snprintf(scene, sizeof scene, parts, "0.8");
    write_text(*state, "block.yaml", scene);
    report r = run(*state, "replay", "w.json", "--json");
    assert_true(is_refusal(&r, "has changed"));
    release(&r);
}

// Of uncertain restitution nothing is certified, and the answer says why.
static void what_has_no_bound_is_said(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE "uncertain: {restitution: {A: [0.1, 0.6]}}\n");
    report r = run(*state, "worst", "block.yaml", "--max", "Jn.A", "--hypothesis", "stronge", "--evaluations", "64", "--json");
    assert_int_equal(r.status, 0);
    check_text(r.out, "\"upper\": null");
    check_text(r.out, "\"unbounded\": \"block.yaml: uncertain.restitution: ");
    release(&r);
    r = run(*state, "worst", "block.yaml", "--max", "Jn.A", "--hypothesis", "stronge", "--evaluations", "64");
    assert_int_equal(r.status, 0);
    check_text(r.out, "there are no certified bounds: block.yaml: uncertain.restitution: ");
    release(&r);
    // Without a hypothesis restitution does not count.
    json_t *answer = ask(*state, "worst", "block.yaml", "--max", "Jn.A", "--evaluations", "64");
    assert_true(number(answer, "worst.0.certified") >= number(answer, "worst.0.value") - 1e-9);
    assert_true(json_is_null(at(answer, "unbounded")));
    json_decref(answer);
}

static void changed_scenes_are_refused(void **state) {
    write_text(*state, "flat.yaml", FLAT_SCENE);
    write_text(*state, "other.yaml", "name: renamed\nmatrices: {" FLAT_PARTS "}\n");
    json_decref(ask(*state, "worst", "flat.yaml", "--max", "Jt.A", "--evaluations", "64", "-o", "w.json"));
    // Another name is no change, other numbers are.
    json_decref(ask(*state, "replay", "w.json", "--scene", "other.yaml"));
    write_text(*state, "flat.yaml", "matrices: {M: [[1, 0], [0, 1]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.6], v: [1, -1]}\n");
    report r = run(*state, "replay", "w.json", "--json");
    assert_true(is_refusal(&r, "has changed"));
    release(&r);
}

// What the search of a comparison reaches, and how far that is from the nearest sample.
static void comparisons_say_what_samples_miss(void **state) {
    char path[PATH_SIZE];
    json_t *answer = ask(*state, "compare", motion_path("boxwall", path), "--search", "4096", "--samples", "256");
    assert_int_equal(number(answer, "search.directions"), 8);
    assert_close(number(answer, "search.extent.tangent.0.1"), 0.372097803, 1e-3);
    assert_true(number(answer, "missed.distance") > 0);
    // No member is farther from the samples than the farthest point of the whole set.
    if (carom_exact_available())
        assert_true(number(answer, "missed.distance") <= number(answer, "laws.halm-posa.from_exact.coverage") + 1e-9);
    json_decref(answer);
    report r = run(*state, "compare", path, "--search", "64", "--samples", "64");
    assert_int_equal(r.status, 0);
    check_text(r.out, "\nreached by search ");
    release(&r);
    answer = ask(*state, "compare", path, "--samples", "64");
    assert_true(json_is_null(at(answer, "search")));
    assert_true(number(answer, "missed.distance") > 0);
    assert_true(number(answer, "missed.members") >= 6);
    // All vertices of the exact set are members.
    if (carom_exact_available())
        assert_true(number(answer, "missed.distance") >= number(answer, "laws.halm-posa.from_exact.coverage") - 1e-9);
    json_decref(answer);
    // The footfall has an outcome that no LCP solver finds but the list of all, which is a solution.
    answer = ask(*state, "compare", motion_path("compass", path), "--samples", "1", "--sampler", "lcp", "--selection", "any");
    assert_true(number(answer, "missed.distance") > 0.05);
    json_decref(answer);
}

static void bad_questions_are_refused(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "empty.json", "{}");
    write_text(*state, "broken.json", "{");
    write_text(*state, "foreign.json", "{\"schema\": \"carom.worst/1\"}");
    write_text(*state, "none.json", "{\"schema\": \"carom.witness/1\", \"scene\": \"block.yaml\", \"digest\": \"\", \"witnesses\": []}");
    write_text(
        *state, "odd.json",
        "{\"schema\": \"carom.witness/1\", \"scene\": \"block.yaml\", \"digest\": \"\", \"witnesses\": [1], \"law\": \"halm-posa\"}");
    write_text(*state, "lawless.json",
               "{\"schema\": \"carom.witness/1\", \"scene\": \"block.yaml\", \"digest\": \"\", \"witnesses\": [1], \"law\": \"x\"}");
    static const refusal cases[] = {
        {"worst block.yaml", "ask for an extreme with --max EXPR or --min EXPR", NULL},
        {"worst block.yaml --max Jn.AB", "did you mean 'Jn.A'?", NULL},
        {"worst block.yaml --max Jn.A --evaluations 0", "--evaluations: ", NULL},
        {"worst block.yaml --max Jn.A --seconds 0", "--seconds: ", NULL},
        {"worst block.yaml --max Jn.A --seconds 1 --evaluations 64", "--seconds: give either", NULL},
        {"worst block.yaml --max Jn.A --bound-seconds -1", "--bound-seconds: ", NULL},
        {"worst block.yaml --max Jn.A --restitution 0.5", "--restitution: has no meaning without", NULL},
        {"worst block.yaml --max Jn.A --evaluations 64 -o block.yaml", "block.yaml: ", NULL},
        {"worst block.yaml --max Jn.A --evaluations 64 -o nowhere/w.json", "nowhere", NULL},
        {"replay .", ".: cannot be read: Is a directory", NULL},
        {"replay absent.json", "absent.json: ", NULL},
        {"replay empty.json", "schema: ", NULL},
        {"replay broken.json", "broken.json:", NULL},
        {"replay foreign.json", "schema: ", NULL},
        {"replay none.json", "witnesses: there is none", NULL},
        {"replay odd.json", "options: ", NULL},
        {"replay lawless.json", "law: ", NULL},
        {"worst block.yaml --max Jn.A --law sequentail", "did you mean 'sequential'?", NULL},
        {"worst block.yaml --max Jn.A --law stronge", "this law takes one", NULL},
        {"worst block.yaml --max Jn.A --law moreau --weights single", "--weights is not an option of law moreau", NULL},
        {"worst block.yaml --max Jn.A --samples 64", "--samples: has no meaning for a search", NULL},
        {"worst block.yaml --max Jn.A --sampler lcp --hypothesis stronge --restitution 0.5", "sampler: ", NULL},
        {"replay odd.json --index x", "--index: ", NULL},
    };
    check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

// Files that were damaged: refused where `carom worst` cannot have written them, otherwise not reproduced.
static void damaged_witnesses_are_not_believed(void **state) {
    static const struct {
        const char *part, *key, *value, *message;  // message NULL: the file can be read, and does not agree
    } cases[] = {
        {"witnesses.0.tape", "0", "[1.5, 6, 0.5]", "witnesses[0].tape[0]: "},
        {"witnesses.0.tape", "0", "[1e18, 6, 0.5]", "witnesses[0].tape[0]: "},
        {"witnesses.0.tape", "0", "[1, 2.5, 0.5]", "witnesses[0].tape[0]: "},
        {"witnesses.0.tape", "0", "[-1, 0, 0.5]", "witnesses[0].tape[0]: "},
        {"witnesses.0.tape", "0", "[1, 6, 0.5, 0]", "witnesses[0].tape[0]: "},
        {"witnesses.0.tape", "0", "[1, 6, true]", "witnesses[0].tape[0]: "},
        {"witnesses.0", "v_plus", "[0, 0, \"x\"]", "witnesses[0].v_plus: "},
        {"witnesses.0", "v_plus", "[0, 0]", "witnesses[0].v_plus: "},
        {"witnesses.0", "path", "null", "witnesses[0]: path"},
        {"options", "restitution", "\"x\"", "options: "},
        {"options", "restitution", "[0.5]", "options: "},
        {"options", "max_steps", "1e3", "options: "},
        {NULL, "seed", "\"zz\"", "seed"},
        {NULL, "version", "9.9", "version"},
        {NULL, "version", "\"9.9\"", ""},
        {"witnesses.0", "path", "[]", NULL},
        {"witnesses.0.path.0.normal_impulse", "0", "1.5", NULL},
        {"witnesses.0", "parameters", "{\"v0.1\": 0.1}", NULL},
    };
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *answer = ask(*state, "worst", "block.yaml", "--max", "Jn.A", "--evaluations", "64", "--bound-seconds", "0", "-o", "w.json");
    json_decref(answer);
    char *whole = read_file(*state, "w.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *file = json_loads(whole, 0, NULL), *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
        json_t *part = cases[i].part ? (json_t *)(uintptr_t)at(file, cases[i].part) : file;
        assert_int_equal(json_is_array(part) ? json_array_set_new(part, (size_t)atoi(cases[i].key), value)
                                             : json_object_set_new(part, cases[i].key, value),
                         0);
        char *damaged = json_dumps(file, JSON_REAL_PRECISION(17));
        write_text(*state, "damaged.json", damaged);
        report r = run(*state, "replay", "damaged.json", "--json");
        if (cases[i].message && *cases[i].message)
            assert_true(is_refusal(&r, cases[i].message));
        else
            check_text(r.out, cases[i].message ? "\"reproduced\": true" : "\"reproduced\": false");
        release(&r);
        free(damaged);
        json_decref(file);
    }
    free(whole);
}

// Where no walk ends there is no witness, and none is said to have passed a check.
static void without_a_member_no_witness_is_praised(void **state) {
    char path[PATH_SIZE];
    report r = run(*state, "worst", motion_path("disks", path), "--max", "Jn.A", "--evaluations", "64", "--max-steps", "1",
                   "--bound-seconds", "0");
    assert_int_equal(r.status, 1);
    check_text(r.out, "No solution was found.");
    assert_null(strstr(r.out, "witness"));
    release(&r);
}

static void an_interruption_keeps_what_was_found(void **state) {
    char path[PATH_SIZE];
    json_t *answer = stop(&(request){.directory = *state,
                                     .arguments = WORDS("worst", motion_path("compass", path), "--max", "Jn.A", "--evaluations", "1e9",
                                                        "--bound-seconds", "0", "-o", "w.json", "--json")},
                          SIGINT);
    assert_string_equal(text(answer, "verdict"), "interrupted");
    assert_true(number(answer, "worst.0.value") >= number(answer, "worst.0.samples_value"));
    json_t *again = ask(*state, "replay", "w.json");
    assert_true(number(again, "value") == number(answer, "worst.0.value"));
    json_decref(again);
    json_decref(answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_stand_beside_certified_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(round_off_passes_no_certificate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_write_the_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(restitution_has_witnesses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_of_outcomes_are_looked_through, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_stepping_is_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_of_uncertain_impacts_are_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uncertain_parameters_are_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_no_bound_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_scenes_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comparisons_say_what_samples_miss, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_questions_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_witnesses_are_not_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_member_no_witness_is_praised, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interruption_keeps_what_was_found, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
