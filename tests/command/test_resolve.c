// SPDX-License-Identifier: Apache-2.0
// `carom resolve`: outcomes of single laws, with the numbers published for the scenes of Halm & Posa.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void anitescu_potra_gives_the_published_outcomes(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        json_t *answer = ask(*state, "resolve", scene_path(p, path), "--law", "anitescu-potra");
        assert_string_equal(text(answer, "schema"), "carom.resolve/1");
        assert_string_equal(text(answer, "law"), "anitescu-potra");
        assert_string_equal(text(answer, "selection"), "lemke");
        check_velocities(only_outcome(answer), p->simultaneous, p->simultaneous_tolerance);
        json_decref(answer);
    }
}

// The contact velocities of a path row, contact by contact, as an outcome lists them.
static void check_path_end(const json_t *outcome, const double expected[COMPONENTS]) {
    const json_t *path = at(outcome, "path");
    const double by_contact[COMPONENTS] = {expected[0], expected[2], expected[1], expected[3]};
    char last[32];
    assert_int_equal(json_array_size(path), length(outcome, "word") + 1);
    snprintf(last, sizeof last, "%zu", json_array_size(path) - 1);
    check_numbers(path, last, by_contact, COMPONENTS, 1e-10);
}

static void sequential_gives_the_published_outcomes(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        json_t *all = ask(*state, "resolve", scene_path(p, path), "--law", "sequential");
        assert_true(is_true(all, "complete"));
        assert_int_equal(length(all, "outcomes"), CONTACTS);
        static const char *const orders[] = {"A,B", "B,A"}, *const places[] = {"outcomes.0", "outcomes.1"};
        for (int i = 0; i < CONTACTS; i++) {
            const json_t *outcome = at(all, places[i]);
            check_velocities(outcome, p->sequential[i], 1e-10);
            check_path_end(outcome, p->sequential[i]);
            assert_int_equal(number(outcome, "steps"), p->visits[i]);
            assert_true(is_true(outcome, "terminated"));

            // One order alone gives the same.
            json_t *one = ask(*state, "resolve", path, "--law", "sequential", "--order", orders[i]);
            assert_true(json_equal(only_outcome(one), outcome));
            json_decref(one);
        }
        json_decref(all);
    }
}

static void orders_may_stand_in_the_scene(void **state) {
    char content[sizeof BLOCK_SCENE + 64];
    snprintf(content, sizeof content, "%.*s, law: sequential, order: [B, A]}\n", (int)strlen(BLOCK_SCENE) - 2, BLOCK_SCENE);
    write_text(*state, "ordered.yaml", content);
    json_t *scene = ask(*state, "resolve", "ordered.yaml"), *flag = ask(*state, "resolve", "ordered.yaml", "--order", "A,B");
    assert_string_equal(text(scene, "law"), "sequential");
    assert_string_equal(text(only_outcome(scene), "word.0"), "B");
    assert_string_equal(text(only_outcome(flag), "word.0"), "A");
    json_decref(scene);
    json_decref(flag);
}

static void routh_gives_one_seeded_outcome(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        scene_path(p, path);
        // Without --max-steps the scene's limit holds, which one sample in a thousand reaches.
        json_t *first = ask(*state, "resolve", path, "--law", "routh", "--seed", "3", "--max-steps", "100");
        json_t *again = ask(*state, "resolve", path, "--law", "routh", "--seed", "3", "--max-steps", "100");
        json_t *other = ask(*state, "resolve", path, "--law", "routh", "--seed", "4", "--max-steps", "100");
        assert_true(json_equal(only_outcome(first), only_outcome(again)));
        assert_false(json_equal(at(only_outcome(first), "normal_impulse"), at(only_outcome(other), "normal_impulse")));
        json_decref(first);
        json_decref(again);
        json_decref(other);
    }
}

static void halm_posa_gives_an_outcome_for_each_terminated_sample(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *answer = ask(*state, "resolve", "block.yaml", "--law", "halm-posa"), *sampled = ask(*state, "sample", "block.yaml");
    assert_int_equal(number(answer, "samples"), 64);
    assert_int_equal(length(answer, "outcomes"), number(answer, "terminated"));
    assert_string_equal(text(answer, "digest"), text(sampled, "digest"));
    for (size_t i = 0; i < length(answer, "outcomes"); i++) {
        const json_t *outcome = json_array_get(at(answer, "outcomes"), i);
        assert_true(is_true(outcome, "terminated"));
        assert_true(number(outcome, "energy_ratio") <= 1);
        assert_true(number(outcome, "normal_velocity.0") >= -1e-8 && number(outcome, "normal_velocity.1") >= -1e-8);
    }
    json_decref(answer);
    json_decref(sampled);
}

// A switch takes no value on the command line, and true or false in a scene.
static void tangential_impacts_wait_to_be_asked_for(void **state) {
    // A second contact that approaches: a scene in which nothing does has a warning.
    static const char content[] = "delassus: {W: [[1.5, 1.5, 0, 0], [1.5, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], u: [0, 1, -1, 0],\n"
                                  "  mu: [1.2, 0], restitution: [0.5, 0]}\n";
    char asked[512];
    write_text(*state, "still.yaml", content);
    snprintf(asked, sizeof asked, "%simpact: {allow_tangential: true}\n", content);
    write_text(*state, "asked.yaml", asked);
    json_t *still = ask(*state, "resolve", "still.yaml", "--law", "stronge", "--contact", "A");
    json_t *flag = ask(*state, "resolve", "still.yaml", "--law", "stronge", "--contact", "A", "--allow-tangential");
    json_t *scene = ask(*state, "resolve", "asked.yaml", "--law", "stronge", "--contact", "A");
    assert_string_equal(text(still, "outcomes.0.status"), "tangential");
    assert_true(number(still, "outcomes.0.normal_impulse.0") == 0);
    assert_string_equal(text(flag, "outcomes.0.status"), "impact");
    assert_true(number(flag, "outcomes.0.normal_impulse.0") > 0.1);
    assert_true(json_equal(at(flag, "outcomes"), at(scene, "outcomes")));
    json_decref(still);
    json_decref(flag);
    json_decref(scene);
}

// Nine equal balls have more orders than are counted, and one outcome: complete, with the length of its words and no count. Four take
// ABCABA.
static void one_word_is_the_answer_of_many(void **state) {
    write_text(*state, "nine.yaml",
               "balls: {masses: [1, 1, 1, 1, 1, 1, 1, 1, 1], radius: 0.5, positions: [0, 1, 2, 3, 4, 5, 6, 7, 8],\n"
               "  velocities: [9, 8, 7, 6, 5, 4, 3, 2, 1]}\n");
    write_text(*state, "four.yaml", "balls: {masses: [1, 1, 1, 1], radius: 0.5, positions: [0, 1, 2, 3], velocities: [4, 3, 2, 1]}\n");
    json_t *nine = ask(*state, "resolve", "nine.yaml", "--law", "propagative");
    assert_true(is_true(nine, "complete"));
    assert_int_equal(json_array_size(at(nine, "outcomes")), 1);
    assert_true(json_is_null(at(nine, "outcomes.0.count")));
    assert_int_equal(number(nine, "outcomes.0.min_length"), 36);
    assert_int_equal(number(nine, "outcomes.0.max_length"), 36);
    json_t *four = ask(*state, "resolve", "four.yaml", "--law", "propagative", "--order", "argmin");
    static const char *const word[] = {"1:2", "2:3", "3:4", "1:2", "2:3", "1:2"};
    assert_int_equal(json_array_size(at(four, "outcomes.0.word")), 6);
    for (size_t k = 0; k < 6; k++) assert_string_equal(json_string_value(json_array_get(at(four, "outcomes.0.word"), k)), word[k]);
    json_decref(nine);
    json_decref(four);
}

static void outcomes_are_filed_and_drawn(void **state) {
    char path[PATH_SIZE];
    json_t *answer = ask(*state, "resolve", scene_path(&scenes[0], path), "--law", "sequential", "-o", "orders.h5");
    assert_string_equal(text(answer, "file"), "orders.h5");
    assert_int_equal(read_complete(join(path, *state, "orders.h5")), 1);
    assert_int_equal(count_rows(path, "sequential/v_plus"), CONTACTS);
    json_t *drawn = ask(*state, "plot", "orders.h5");
    check_pictures(*state, drawn, 1);
    json_decref(answer);
    json_decref(drawn);
}

// -------------------------------------------------------------------------------------------------------------------------------- bad
// input

static const refusal refusals[] = {
    // values
    {"resolve flat.yaml --law routh --step -1", "--step: -1", NULL},
    {"resolve cube.yaml --law anitescu-potra --cone-edges 5", "even", NULL},
    {"resolve block.yaml --law sequential --order A,C", "names a contact that the scene does not have", NULL},
    {"resolve block.yaml --law sequential --order A,A", "names a contact twice", NULL},
    {"resolve block.yaml --law sequential --order A,B,A", "names a contact twice", NULL},
    {"resolve block.yaml --law sequential --order A -o new.h5", "does not name every contact", NULL},
    {"resolve block.yaml --law sequential --order A,,B", "order", NULL},
    {"resolve block.yaml --law sequential --order ''", "--order", NULL},
    {"resolve block.yaml --law sequential --rule guess", "--rule: 'guess'", NULL},
    {"resolve block.yaml --law sequential --max-impacts 0", "--max-impacts: 0", NULL},
    // one contact
    {"resolve case.yaml --law stronge --tolerance 1", "--tolerance: 1 is not between",
     "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
    {"resolve case.yaml --law stronge --allow-tangential=maybe", "--allow-tangential: 'maybe' is neither",
     "delassus: {W: [[1, 0], [0, 1]], u: [-1, 1], mu: [1]}\n"},
    {"resolve case.yaml --law stronge", "not positive definite", "delassus: {W: [[1, 1], [1, 1]], u: [-1, -1], mu: [1]}\n"},
    {"resolve case.yaml", "case.yaml:1: delassus: u is not in the range of W: no velocity",
     "delassus: {W: [[1, 1], [1, 1]], u: [-1, 1], mu: [1]}\n"},
    {"resolve case.yaml --law stronge", "the scene has 2 contacts",
     "delassus: {W: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], u: [-1, 1, -1, 1], mu: [1, 1]}\n"},
    // options in scenes
    {"resolve case.yaml", "impact.law", "matrices: {" FLAT_PARTS "}\nimpact: {law: guess}\n"},
    {"resolve case.yaml", "case.yaml:2: impact.order: 'Z' names", "matrices: {" FLAT_PARTS "}\nimpact: {law: sequential, order: [Z]}\n"},
    {"resolve case.yaml --law routh", "case.yaml:2: impact.solver: there is no", "matrices: {" FLAT_PARTS "}\nimpact: {solver: guess}\n"},
    {"resolve cube.yaml --law routh --cone-edges 5", "carom: --cone-edges: 5 is", NULL},
    // one line, even where the scene deserves a warning
    {"resolve case.yaml --law guess", "guess", "matrices: {" FLAT_PARTS "}\ncompliant: {points: 3}\n"},
    // motions
    {"resolve case.yaml --law routh", "`carom simulate` runs", BALL_AT "3]}\n"},
    {"resolve case.yaml --law routh", "case.yaml:2: bodies: a scene of this form describes a motion in time", BODIES("")},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(anitescu_potra_gives_the_published_outcomes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sequential_gives_the_published_outcomes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(orders_may_stand_in_the_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(routh_gives_one_seeded_outcome, set_up, tear_down),
        cmocka_unit_test_setup_teardown(halm_posa_gives_an_outcome_for_each_terminated_sample, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tangential_impacts_wait_to_be_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_word_is_the_answer_of_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outcomes_are_filed_and_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
