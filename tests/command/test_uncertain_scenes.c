// SPDX-License-Identifier: Apache-2.0
// Scenes with `uncertain`, from the file to answers about the parameters.
#include "command_support.h"

#include <math.h>
#include <string.h>

#include "carom/exact.h"

#define UNCERTAIN(keys) FLAT_SCENE "uncertain:\n  " keys "\n"

// Of an answer; its name has a point.
static double parameter(const json_t *answer, const char *name) {
    const json_t *value = json_object_get(at(answer, "parameters"), name);
    assert_non_null(value);
    return json_number_value(value);
}

// The particle slides away with the velocity 1 - mu.
static void samples_and_their_parameters(void **state) {
    write_text(*state, "case.yaml", UNCERTAIN("friction: {A: [0.1, 0.6]}\n  velocity: {box: [0, 0.1]}"));
    json_t *sampled = ask(*state, "sample", "case.yaml", "--samples", "400", "-o", "out.h5");
    assert_true(is_true(sampled, "uncertain"));
    assert_int_equal(length(sampled, "parameters"), 2);
    assert_string_equal(text(sampled, "parameters.0"), "v0.2");
    assert_string_equal(text(sampled, "parameters.1"), "mu.A");
    assert_int_equal(number(sampled, "draws"), 400);
    char path[PATH_SIZE];
    size_t size[2];
    read_size(join(path, *state, "out.h5"), "halm-posa/friction", size);
    assert_int_equal(size[0], 400);
    json_decref(sampled);

    // Conditions, and what explains the slip: 1 + mu v_n.
    json_t *most = ask(*state, "query", "out.h5", "--max", "Jt.A", "--sensitivity");
    assert_close(number(most, "maximum"), 1 + parameter(most, "mu.A") * parameter(most, "v0.2"), 1e-12);
    assert_int_equal(length(most, "sensitivity"), 2);
    assert_string_equal(text(most, "sensitivity.1.parameter"), "mu.A");
    assert_true(number(most, "sensitivity.1.first_order") > .9 && number(most, "sensitivity.1.rank_correlation") < -.9);
    assert_true(number(most, "sensitivity.0.first_order") < .2);
    assert_close(number(most, "sensitivity.0.bias"), 19. / 399, 1e-12);
    json_t *some = ask(*state, "query", "out.h5", "--max", "Jt.A", "--where", "mu.A > 0.4 and v0.2 < -1");
    assert_true(number(some, "maximum") <= .6 && number(some, "maximum") > .5);
    assert_true(parameter(some, "mu.A") > .4 && parameter(some, "v0.2") < -1);
    json_decref(most);
    json_decref(some);

    char *wrong = run_line(*state, 2, "$carom query out.h5 --max Jt.A --where 'mu.A <' 2>&1");
    check_text(wrong, "--where: 'mu.A <' must have an expression on both sides of '<'");
    free(wrong);
    // Each name once, also where velocities have numbers only.
    wrong = run_line(*state, 2, "$carom query out.h5 --max Jt.A --where 'v.9 > 0' 2>&1");
    check_text(wrong, "one of v0.1, v0.2, mu.A, Jn.A, Jt.A, Pn.A, Pt.A, v.1, v.2, K");
    free(wrong);

    // An interval of what the scene has is no uncertainty: the exact set stays one.
    write_text(*state, "one.yaml", UNCERTAIN("friction: {A: [0.5, 0.5]}"));
    json_t *worst = ask(*state, "worst", "one.yaml", "--max", "Jt.A", "--evaluations", "64");
    assert_false(is_true(worst, "uncertain"));
    assert_close(number(worst, "worst.0.value"), 0.5, 1e-9);
    json_decref(worst);
    if (carom_exact_available()) {
        json_t *one = ask(*state, "exact", "one.yaml");
        assert_string_equal(text(one, "certificate"), "exact");
        assert_false(is_true(one, "uncertain"));
        json_decref(one);
    }

    // Without the key nothing is uncertain, and nothing changes.
    write_text(*state, "known.yaml", FLAT_SCENE);
    json_t *known = ask(*state, "sample", "known.yaml", "--samples", "16", "-o", "known.h5");
    assert_false(is_true(known, "uncertain"));
    assert_int_equal(number(known, "draws"), 0);
    json_decref(known);
    wrong = run_line(*state, 2, "$carom query known.h5 --max Jt.A --sensitivity 2>&1");
    check_text(wrong, "carom: --sensitivity: nothing was uncertain");
    free(wrong);
    char *said = run_line(*state, 0, "$carom query out.h5 --distance known.h5 2>&1");
    check_text(said, "out.h5 has draws of an uncertain impact, a union of sets, and known.h5 has none");
    free(said);
    said = run_line(*state, 0, "$carom info case.yaml");
    check_text(said, "uncertain, and here as the scene has it: v0.2, mu.A");
    free(said);
    // Uncertain restitution is some.
    write_text(*state, "bounces.yaml", UNCERTAIN("restitution: {A: [0.1, 0.6]}"));
    said = run_line(*state, 0, "$carom sample bounces.yaml --hypothesis stronge --samples 16 2>&1");
    assert_null(strstr(said, "nothing bounces"));
    free(said);
    said = run_line(*state, 0, "$carom resolve case.yaml --law moreau 2>&1");
    check_text(said, "carom: note: case.yaml: 'uncertain' is not used here");
    free(said);
}

// Draws are the same on any number of threads, and each nested one has its share of the samples.
static void draws_of_a_model(void **state) {
    char path[PATH_SIZE];
    const char *scene = join(path, scenes_path, "block-uncertain.yaml");
    json_t *one = ask(*state, "sample", scene, "--samples", "600", "--nested", "6", "--threads", "1");
    json_t *two = ask(*state, "sample", scene, "--samples", "600", "--nested", "6", "--threads", "2");
    assert_string_equal(text(one, "digest"), text(two, "digest"));
    assert_int_equal(number(one, "draws"), 6);
    json_decref(one);
    json_decref(two);
    // Every law over the same draws; the exact set is that of all that is uncertain at once, an outer one as friction is.
    report r = run(*state, "compare", scene, "--samples", "100", "--nested", "5", "-o", "page", "--json");
    assert_int_equal(r.status, 0);
    json_t *laws = parse(&r);
    assert_int_equal(number(laws, "draws"), 5);
    assert_int_equal(number(laws, "laws.anitescu-potra.count"), 5);
    assert_true(number(laws, "laws.halm-posa.count") > 50);
    if (carom_exact_available()) {
        json_t *exact = ask(*state, "exact", scene);
        assert_string_equal(text(exact, "certificate"), "outer");
        assert_close(number(laws, "laws.halm-posa-exact.extent.normal.0.1"), 0.11961838, 1e-8);
        assert_true(number(laws, "laws.halm-posa-exact.extent.normal.0.1") > number(laws, "laws.halm-posa.extent.normal.0.1"));
        json_decref(exact);
    }
    release(&r);
    json_decref(laws);
    char *page = read_file(*state, "page/index.md");
    check_text(page, "over 5 draws, the same for every law, of v0.x, v0.z, v0.theta, mu.A, mu.B");
    if (carom_exact_available()) check_text(page, "`halm-posa-exact` is of all that is uncertain at once, an outer set");
    free(page);
    char *same =
        run_line(*state, 0,
                 "for law in halm-posa moreau; do $carom query page/compare.h5 --law $law --max K --json | "
                 "grep -o '\"parameters.*'; $carom query page/compare.h5 --law $law --max v.1 --where 'v0.1 > 0' >/dev/null; done");
    check_text(same, "\"mu.A\"");
    free(same);

    // A pose: the contacts count as touching, and outcomes have the contact velocities of their own.
    char line[2 * PATH_SIZE];
    snprintf(line, sizeof line,
             "cp '%s'/block.* . && printf 'uncertain: {qpos: {box: [0, 0, 0.05]}}\\n' >> block.yaml && echo 'v: [0, 0, 0]' > v.yaml",
             scenes_path);
    run_quietly(*state, 0, line);
    json_t *posed = ask(*state, "sample", "block.yaml", "--samples", "200", "-o", "pose.h5", "--threads", "1");
    json_t *again = ask(*state, "sample", "block.yaml", "--samples", "200", "--threads", "3");
    assert_string_equal(text(posed, "digest"), text(again, "digest"));
    assert_string_equal(text(posed, "parameters.0"), "qpos.3");
    json_decref(posed);
    json_decref(again);
    char *refused = run_line(*state, 0, "$carom query pose.h5 --contains v.yaml 2>&1 || true");
    check_text(refused, "carom: --contains: the pose was uncertain");
    free(refused);
}

// The file of an exact set has the polytope that it began with. Where contacts do not feel all of a
// velocity, it has no distance from such a set.
static void exact_sets_keep_their_start(void **state) {
    if (!carom_exact_available()) skip();
    write_text(*state, "known.yaml", FLAT_SCENE);
    write_text(*state, "box.yaml", UNCERTAIN("velocity: {box: [0.5, 0]}"));
    json_t *boxed = ask(*state, "exact", "box.yaml", "-o", "box.h5"), *known = ask(*state, "exact", "known.yaml", "-o", "known.h5");
    assert_int_equal(length(boxed, "start"), 2);
    assert_int_equal(length(known, "start"), 0);
    json_decref(boxed);
    json_decref(known);
    // Modes are those of all velocities in the box: the particle slides on at 1 - mu from 1, and rests from 0.5.
    json_t *modes = ask(*state, "modes", "box.yaml");
    assert_true(is_true(modes, "certified") && is_true(modes, "uncertain"));
    assert_int_equal(length(modes, "modes"), 2);
    json_decref(modes);
    json_t *single = ask(*state, "modes", "known.yaml");
    assert_true(is_true(single, "certified") && !is_true(single, "uncertain"));
    assert_int_equal(length(single, "modes"), 1);
    json_decref(single);
    // So does the law, also beside others: the samples of five draws miss what other velocities of the box lead to.
    json_t *resolved = ask(*state, "resolve", "box.yaml", "--law", "halm-posa-exact");
    assert_int_equal(length(resolved, "outcomes"), 2);
    json_decref(resolved);
    json_t *laws = ask(*state, "compare", "box.yaml", "--samples", "100", "--nested", "5");
    assert_close(number(laws, "laws.halm-posa-exact.extent.tangent.0.1"), 1, 1e-12);
    assert_close(number(laws, "laws.halm-posa.from_exact.outside"), 0, 1e-12);
    assert_true(number(laws, "laws.halm-posa.from_exact.coverage") > 1e-3);
    assert_string_equal(text(laws, "missed.by"), "halm-posa-exact");
    json_decref(laws);
    // RAMone has seven velocities, and its two feet feel four.
    char line[2 * PATH_SIZE];
    snprintf(line, sizeof line, "cp '%s'/ramone.* . && printf 'uncertain: {velocity: {box: [0, 0, 0, 0.001, 0, 0, 0]}}\\n' >> ramone.yaml",
             scenes_path);
    run_quietly(*state, 0, line);
    char *refused = run_line(*state, 0,
                             "echo 'v: [0, 0, 0, 0, 0, 0, 0]' > v.yaml && $carom exact ramone.yaml -o feet.h5 >/dev/null && "
                             "{ $carom query feet.h5 --contains v.yaml 2>&1 || true; }");
    check_text(refused, "carom: --contains: the velocity before the impact was uncertain");
    free(refused);
    char *contained = run_line(*state, 0, "echo 'v: [0, 0]' > v.yaml && $carom query box.h5 --contains v.yaml --json");
    check_text(contained, "\"contained\"");
    free(contained);
}

static void bad_scenes_are_refused_in_one_line(void **state) {
    static const refusal refusals[] = {
        {"sample case.yaml", "case.yaml:4: uncertain.friction.B: no contact is called so", UNCERTAIN("friction: {B: [0, 1]}")},
        {"sample case.yaml", "case.yaml:4: uncertain.friction.A: 1, the first number, is above 0.5", UNCERTAIN("friction: {A: [1, 0.5]}")},
        {"sample case.yaml", "uncertain.friction.A[0]: -1 is below the least value 0", UNCERTAIN("friction: {A: [-1, 0.5]}")},
        {"sample case.yaml", "uncertain.friction.A: has 1 number, must have 2", UNCERTAIN("friction: {A: [1]}")},
        {"sample case.yaml", "uncertain.friction.A: must be an interval", UNCERTAIN("friction: {A: 0.5}")},
        {"sample case.yaml", "uncertain.friction.A.std: -1 is below", UNCERTAIN("friction: {A: {std: -1}}")},
        {"sample case.yaml", "uncertain.restitution.A[1]: 2 is not between 0 and 1", UNCERTAIN("restitution: {A: [0, 2]}")},
        {"sample case.yaml", "uncertain.velocity.box: has 3 numbers, must have 2", UNCERTAIN("velocity: {box: [0, 0, 0]}")},
        {"sample case.yaml", "uncertain.velocity.box[1]: '.nan' is not a finite number", UNCERTAIN("velocity: {box: [0, .nan]}")},
        {"sample case.yaml", "uncertain.velocity.std[0]: -1 is below", UNCERTAIN("velocity: {std: [-1, 0]}")},
        {"sample case.yaml", "uncertain.velocity: must have only one of the keys", UNCERTAIN("velocity: {box: [0, 0], std: [0, 0]}")},
        {"sample case.yaml", "uncertain.velocity.vertices[0]: has 1 number", UNCERTAIN("velocity: {vertices: [[1]]}")},
        {"sample case.yaml", "uncertain.velocity.covariance: entry [0][1] is larger than the variances allow",
         UNCERTAIN("velocity: {covariance: [[1, 2], [2, 1]]}")},
        {"sample case.yaml", "uncertain.velocity.covariance: entries [0][1] and [1][0] differ",
         UNCERTAIN("velocity: {covariance: [[1, 0], [0.5, 1]]}")},
        {"sample case.yaml", "uncertain.qpos: only a scene with 'model'", UNCERTAIN("qpos: {box: [1]}")},
        {"sample case.yaml",
         "case.yaml:3: uncertain: of a point that was drawn, the contact velocities or the kinetic energy of v overflow",
         UNCERTAIN("velocity: {box: [0, 1e300]}")},
        {"sample case.yaml", "uncertain.mass.scale[0]: 0 is not greater than 0", UNCERTAIN("mass: {scale: [0, 1]}")},
        {"sample case.yaml", "uncertain.frictions: unknown key; did you mean 'friction'?", UNCERTAIN("frictions: {A: [0, 1]}")},
        {"sample case.yaml --samples 10 --nested 3", "--nested: 3 draws do not divide 10 samples", UNCERTAIN("friction: {A: [0, 1]}")},
        {"sample case.yaml --epsilon 0.01", "--epsilon: the closing step", UNCERTAIN("friction: {A: [0, 1]}")},
        {"sample case.yaml --path cone-map", "--path: cone-map learns", UNCERTAIN("friction: {A: [0, 1]}")},
        {"sample case.yaml --nested 2", "--nested: nothing is uncertain", FLAT_SCENE},
        {"sample case.yaml --samples 50", "case.yaml:4: uncertain.qpos: at a pose that was drawn there are other contacts",
         "model: arm.xml\nstate: {qpos: [0, 0.99], qvel: [-1, 0]}\n"
         "contacts: [{name: A, site: tip, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0.5}]\n"
         "uncertain: {qpos: {box: [0, 0.05]}}\n"},
        {"compare case.yaml --simulator mujoco", "--simulator: ", UNCERTAIN("friction: {A: [0, 1]}")},
        {"sample case.yaml --hypothesis stronge --restitution 0.9", "--restitution: it would replace the uncertain coefficients",
         UNCERTAIN("restitution: {A: [0.1, 0.6]}")},
        {"worst case.yaml --max Jn.A --hypothesis poisson --restitution 0.9", "--restitution: it would replace the uncertain coefficients",
         UNCERTAIN("restitution: {A: [0.1, 0.6]}")},
        {"compare case.yaml --hypothesis stronge --restitution 0.9", "--restitution: would replace the uncertain coefficients",
         UNCERTAIN("restitution: {A: [0.1, 0.6]}")},
        {"sample case.yaml --hypothesis stronge", "case.yaml:5: impact.restitution: it would replace the uncertain coefficients",
         UNCERTAIN("restitution: {A: [0.1, 0.6]}") "impact: {restitution: 0.5}\n"},
    };
    // A pose at which a hinge is at its stop has another contact.
    write_text(*state, "arm.xml",
               "<mujoco><compiler angle=\"radian\" autolimits=\"true\"/><worldbody><body pos=\"0 0 1\"><joint name=\"z\" type=\"slide\" "
               "axis=\"0 0 1\"/><joint name=\"h\" type=\"hinge\" axis=\"0 1 0\" range=\"-1 1\"/><geom type=\"sphere\" size=\"0.1\" "
               "mass=\"1\" pos=\"0.3 0 0\"/><site name=\"tip\" pos=\"0.5 0 0\"/></body></worldbody></mujoco>");
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_and_their_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(draws_of_a_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exact_sets_keep_their_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_scenes_are_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
