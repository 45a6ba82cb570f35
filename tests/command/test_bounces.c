// SPDX-License-Identifier: Apache-2.0
// Laws that bounce, end to end: comparisons, questions about bouncing sets, pictures, motions, and what is refused where.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The rocking block, dropped flat; `more` are keys of `impact`.
#define DROPPED(more)                                                                                                                      \
    "name: block\n"                                                                                                                        \
    "matrices: {M: [[1, 0, 0], [0, 1, 0], [0, 0, \"5/12\"]], Jn: [[0, 1, -0.5], [0, 1, 0.5]], Jt: [[1, 0, 1], [1, 0, 1]],\n"               \
    "           mu: [1, 1], v: [0, -0.44294469180700202, 0], names: [A, B]}\n"                                                             \
    "impact: {" more "}\n"

// A block that falls by 1 cm onto both corners.
static void write_falling_block(const char *directory, const char *impact) {
    char text[PATH_SIZE + 1024];
    const int size = snprintf(text, sizeof text,
                              "model: %s/block.xml\nstate: {qpos: [0, 1.01, 0], qvel: [0, 0, 0]}\ncontacts:\n"
                              "  - {name: A, site: left_corner, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1, offset: 0}\n"
                              "  - {name: B, site: right_corner, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1, offset: 0}\n"
                              "impact: {%s}\nsimulate: {integrator: inclusion, step: 0.001, duration: 0.1}\n",
                              scenes_path, impact);
    assert_true(size > 0 && (size_t)size < sizeof text);
    write_text(directory, "falling.yaml", text);
}

// A box that falls onto an edge or a corner.
#define BOX                                                                                                                                \
    "body: {mass: 1, shape: {box: [1, 1, 1], rounding: 1e-13}}\ngravity: 9.81\n"                                                           \
    "initial: {position: [0, 0, 2], momentum: [0.3, 0, 0], angular_momentum: [0.2, -0.1, 0.05]}\n"                                         \
    "simulate: {integrator: lgvci, step: 0.01, duration: 0.6, friction: 0.3, law: routh, seed: 3}\n"

// ---------------------------------------------------------------------------------------------------------- comparison

// Energies and outcomes of laws that bounce, side by side: one spring each, one LCP, springs in space of time, the energetic set around
// them.
static void a_comparison_of_bouncing_laws(void **state) {
    write_text(*state, "block.yaml", DROPPED("samples: 4096"));
    const request asked = {.directory = *state,
                           .arguments = WORDS("compare", "block.yaml", "--hypothesis", "stronge", "--restitution", "0.5", "--json")};
    report r = run_request(&asked);
    assert_int_equal(r.status, 0);
    if (carom_exact_available()) check_text(r.err, "note: halm-posa-exact is left out: it has no hypothesis stronge");
    json_t *compared = json_loads(r.out, 0, NULL);
    assert_non_null(compared);
    static const char *const flat[] = {"moreau", "lzb"};
    char place[64];
    for (int i = 0; i < 2; i++)
        for (int end = 0; end < 2; end++) {
            snprintf(place, sizeof place, "laws.%s.energy_ratio.%d", flat[i], end);
            assert_close(number(compared, place), 0.25, 1e-7);
        }
    assert_close(number(compared, "laws.halm-posa.energy_ratio.0"), 0.25, 1e-4);
    assert_close(number(compared, "laws.halm-posa.energy_ratio.1"), 0.3625, 1e-3);
    assert_true(number(compared, "laws.routh.energy_ratio.0") >= 0.25 - 1e-12 &&
                number(compared, "laws.routh.energy_ratio.1") <= 0.3625 + 1e-9);
    json_decref(compared);
    release(&r);
}

// With Poisson's hypothesis the exact set is among them: samples end in it, and so do the laws without slip.
static void a_comparison_with_the_exact_set_that_bounces(void **state) {
    if (!carom_exact_available()) skip();
    write_text(*state, "block.yaml", DROPPED("samples: 2048"));
    json_t *compared = ask(*state, "compare", "block.yaml", "--hypothesis", "poisson", "--restitution", "0.5", "-o", "page");
    assert_close(number(compared, "laws.halm-posa-exact.energy_ratio.1"), 4583.0 / 8000, 1e-9);
    assert_close(number(compared, "laws.halm-posa.energy_ratio.1"), 4583.0 / 8000, 0.02);
    assert_true(exists(*state, "page/index.md"));
    json_decref(compared);
    char *page = read_file(*state, "page/index.md");
    check_text(page, "`halm-posa-exact`");
    check_text(page, "; restitution not used\n- `moreau`");
    check_text(page, " do not use it: --rule stronge (sequential)");
    check_text(page, "; restitution poisson 0.5\n");
    free(page);
}

// ----------------------------------------------------------------------------------------------------------- questions

// The largest velocity and energy of a sampled set that bounces, the area around it, its distance from the exact one, and pictures of both.
static void questions_about_sets_that_bounce(void **state) {
    write_text(*state, "block.yaml", DROPPED("samples: 8192, hypothesis: stronge, restitution: 0.5"));
    json_t *sampled = ask(*state, "sample", "block.yaml", "-o", "bouncing.h5");
    json_t *fastest = ask(*state, "query", "bouncing.h5", "--max", "Jn.A"), *energy = ask(*state, "query", "bouncing.h5", "--max", "K");
    json_t *area = ask(*state, "query", "bouncing.h5", "--hull", "Jn.A,Jn.B");
    assert_close(number(fastest, "maximum"), 0.267, 0.003);
    assert_false(is_true(fastest, "certified"));
    assert_close(number(energy, "maximum"), 0.3625, 1e-3);
    // Between (0.0221, 0.2215) and its mirror image, bulging to 0.267.
    assert_true(number(area, "area") > 0.025 && number(area, "area") < 0.04);
    json_t *drawn = ask(*state, "plot", "bouncing.h5", "--axes", "Jn.A,Jn.B", "-o", "bouncing.png");
    char path[PATH_SIZE];
    assert_true(is_png(join(path, *state, "bouncing.png")));
    if (carom_exact_available()) {
        json_t *exact = ask(*state, "exact", "block.yaml", "--hypothesis", "poisson", "--restitution", "0.5", "-o", "exact.h5");
        json_t *kinetic = ask(*state, "sample", "block.yaml", "--hypothesis", "poisson", "-o", "kinetic.h5");
        json_t *distance = ask(*state, "query", "exact.h5", "--distance", "kinetic.h5");
        assert_true(number(distance, "b_to_a") <= 1e-9 && number(distance, "a_to_b") <= 0.02);
        json_t *contained = ask(*state, "query", "exact.h5", "--max", "Jn.A");
        assert_close(number(contained, "maximum"), 0.815 * 0.44294469180700202, 1e-9);
        assert_true(is_true(contained, "certified"));
        json_t *both = ask(*state, "plot", "exact.h5", "--overlay", "kinetic.h5,bouncing.h5", "--axes", "Jn.A,Jn.B", "-o", "both.png");
        assert_true(is_png(join(path, *state, "both.png")));
        json_decref(exact);
        json_decref(kinetic);
        json_decref(distance);
        json_decref(contained);
        json_decref(both);
    }
    json_decref(sampled);
    json_decref(fastest);
    json_decref(energy);
    json_decref(area);
    json_decref(drawn);
}

// ------------------------------------------------------------------------------------------------------------- motions

// Both corners of a block hit the floor at once, inelastically or not: the rest of the motion has the energy that a member of the set
// leaves.
static void mechanisms_bounce(void **state) {
    static const char *const laws[] = {"law: routh, hypothesis: stronge, restitution: 0.5",
                                       "law: halm-posa, hypothesis: stronge, restitution: 0.5", "law: lzb, restitution: 0.5"};
    for (int i = 0; i < 3; i++) {
        write_falling_block(*state, laws[i]);
        json_t *motion = ask(*state, "simulate", "falling.yaml");
        // Before: 9.81 m/s^2 times 1 cm. The block turns little during the first impact.
        double after = 0;
        const double inertia[] = {1, 1, 5.0 / 12};
        char place[64];
        for (int k = 0; k < 3; k++) {
            snprintf(place, sizeof place, "impacts.0.qvel_after.%d", k);
            after += inertia[k] * pow(number(motion, place), 2) / 2;
        }
        const double ratio = after / (9.81 * 0.01);
        assert_true(length(motion, "impacts") > 0 && ratio >= 0.25 - 1e-4 && ratio <= 0.3625 + 1e-4);
        json_decref(motion);
    }
}

// A box in space: an impact with e = 0.8 leaves more than one with e = 0.2, and never more than there was.
static void bodies_bounce(void **state) {
    write_text(*state, "box.yaml", BOX);
    json_t *plain = ask(*state, "simulate", "box.yaml", "--hypothesis", "stronge", "--restitution", "0.2");
    json_t *bouncing = ask(*state, "simulate", "box.yaml", "--hypothesis", "stronge", "--restitution", "0.8");
    const double lost = number(plain, "impacts.0.energy_change"), less = number(bouncing, "impacts.0.energy_change");
    assert_true(lost < less && less < 0);
    assert_true(number(bouncing, "impacts.0.normal_impulse") > number(plain, "impacts.0.normal_impulse"));
    json_decref(plain);
    json_decref(bouncing);
}

// ------------------------------------------------------------------------------------------------------------- refusals

// What a law cannot take is an error on its own command line and in a scene that names it; other laws pass a scene's value over.
static const refusal refusals[] = {
    {"resolve block.yaml --law halm-posa --hypothesis newton", "--hypothesis: 'newton' is not one of: none, stronge, poisson", NULL},
    {"resolve block.yaml --law lzb --restitution 0.2:0.5", "--restitution: '0.2:0.5' is not a number", NULL},
    {"resolve block.yaml --law moreau --restitution 0.2:0.5", "--restitution: '0.2:0.5' is not a number", NULL},
    {"resolve case.yaml", "case.yaml:4: impact.restitution: '0.2:0.5' is not a number", DROPPED("law: lzb, restitution: 0.2:0.5")},
    {"resolve case.yaml", "case.yaml:4: impact.hypothesis: 'newton' is not one of", DROPPED("law: halm-posa, hypothesis: newton")},
    {"sample case.yaml", "case.yaml:4: impact.hypothesis: 'newton' is not one of", DROPPED("law: halm-posa, hypothesis: newton")},
    {"sample block.yaml --hypothesis none --restitution 0.5", "--restitution: has no meaning without --hypothesis", NULL},
    {"resolve block.yaml --law routh --restitution 0.5", "--restitution: has no meaning without --hypothesis", NULL},
    {"simulate falling.yaml --law routh --restitution 0.5", "--restitution: has no meaning without --hypothesis", NULL},
    {"simulate falling.yaml --law lzb --restitution 0.2:0.5", "--restitution: '0.2:0.5' is not a number", NULL},
    {"simulate falling.yaml --law routh --hypothesis newton", "--hypothesis: 'newton' is not one of: none, stronge, poisson", NULL},
    {"simulate falling.yaml --law moreau --hypothesis stronge", "--hypothesis is not an option of integrator inclusion or law moreau",
     NULL},
    {"simulate case.yaml --restitution 0.8", "--restitution: law routh has none, its impacts are inelastic", BOX},
    {"exact cube.yaml --hypothesis poisson --restitution 0.5", "exact sets are those of planar contacts", NULL},
};

static void what_a_law_cannot_take_is_refused(void **state) {
    write_text(*state, "block.yaml", DROPPED("samples: 64"));
    write_text(*state, "cube.yaml", cube_scene);
    write_falling_block(*state, "law: routh");
    // Without PPL there is no exact set at all.
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals - !carom_exact_available());
}

// The same values beside another law in the scene, and overridden by the command line: they are ignored.
static void values_for_other_laws_are_ignored(void **state) {
    write_text(*state, "ignored.yaml", DROPPED("law: moreau, hypothesis: newton, restitution: 0.5, samples: 64"));
    write_text(*state, "plain.yaml", DROPPED("samples: 64"));
    write_text(*state, "own.yaml", DROPPED("law: halm-posa, hypothesis: newton, restitution: 0.5, samples: 64"));
    json_t *ignored = ask(*state, "sample", "ignored.yaml"), *plain = ask(*state, "sample", "plain.yaml");
    json_t *overridden = ask(*state, "sample", "own.yaml", "--hypothesis", "stronge"), *law = ask(*state, "resolve", "ignored.yaml");
    assert_string_equal(text(ignored, "digest"), text(plain, "digest"));
    assert_int_equal(number(overridden, "walks"), 64);
    assert_close(number(law, "outcomes.0.energy_ratio"), 0.25, 1e-9);
    json_decref(ignored);
    json_decref(plain);
    json_decref(overridden);
    json_decref(law);
}

// A hypothesis without any restitution is inelastic, and the command says so; where something bounces it says nothing.
static void a_hypothesis_without_restitution_is_told(void **state) {
    write_text(*state, "block.yaml", DROPPED("samples: 16"));
    write_text(*state, "bouncing.yaml", DROPPED("samples: 16, restitution: 0.5"));
    static const char *const commands[] = {"sample", "compare"};
    for (int i = 0; i < 2; i++) {
        report r = run(*state, commands[i], "block.yaml", "--hypothesis", "stronge");
        assert_int_equal(r.status, 0);
        check_text(r.err, "note: block.yaml: nothing bounces: all coefficients of restitution are 0");
        release(&r);
    }
    report r = run(*state, "sample", "bouncing.yaml", "--hypothesis", "stronge");
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    release(&r);
    // A sweep over restitution without a hypothesis changes nothing.
    r = run(*state, "sweep", "block.yaml", "--sampled", "--vary", "restitution=0:1:1");
    assert_int_equal(r.status, 0);
    check_text(r.err, "note: --vary: restitution has no effect on an inelastic set");
    release(&r);
    r = run(*state, "sweep", "block.yaml", "--hypothesis", "stronge", "--vary", "restitution=0.5:1:0.5");
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.err, "no effect"));
    release(&r);
}

// Coefficients that a law does not use are said once, on stderr and in JSON, by every command that asks it; where they are used there is
// nothing to say. Comparisons name what each law uses.
static void restitution_that_is_not_used_is_said(void **state) {
    static const char elastic[] =
        "matrices: {M: [[1, 0, 0], [0, 1, 0], [0, 0, \"5/12\"]], Jn: [[0, 1, -0.5], [0, 1, 0.5]], Jt: [[1, 0, 1], [1, 0, 1]],\n"
        "           mu: [1, 1], v: [0, -1, 0], names: [left, right], restitution: [0.5, 1]}\n";
    write_text(*state, "elastic.yaml", elastic);
    json_t *answers[] = {ask(*state, "info", "elastic.yaml"),
                         ask(*state, "resolve", "elastic.yaml", "--law", "anitescu-potra"),
                         ask(*state, "resolve", "elastic.yaml", "--law", "sequential"),
                         ask(*state, "resolve", "elastic.yaml", "--law", "propagative"),
                         ask(*state, "sample", "elastic.yaml", "--samples", "16"),
                         ask(*state, "modes", "elastic.yaml", "--samples", "16"),
                         ask(*state, "worst", "elastic.yaml", "--max", "Jn.left", "--evaluations", "16"),
                         ask(*state, "bound", "elastic.yaml", "--max", "Jn.left", "--walks", "16"),
                         ask(*state, "compare", "elastic.yaml", "--samples", "16")};
    static const char *const said[] = {
        "halm-posa does not use it: --hypothesis poisson makes it bounce",
        "anitescu-potra does not use it: moreau and lzb do",
        "sequential does not use it: --rule stronge makes it bounce",
        "propagative does not use it: --restitution E gives one for all contacts",
        "halm-posa does not use it: --hypothesis poisson makes it bounce",
        "halm-posa does not use it: --hypothesis poisson makes it bounce",
        "halm-posa does not use it: --hypothesis poisson makes it bounce",
        "bound does not use it: --hypothesis stronge makes it bounce",
        "do not use it: --rule stronge (sequential), --restitution E (propagative), --hypothesis poisson (routh"};
    enum { ANSWERS = sizeof answers / sizeof *answers };
    for (int i = 0; i < ANSWERS; i++) {
        // Friction is another matter, which `propagative` lacks.
        const bool frictionless = strstr(said[i], "propagative") != NULL;
        assert_int_equal(length(answers[i], "caveats"), 1 + frictionless);
        if (frictionless) check_text(text(answers[i], "caveats.1"), "friction of contacts left, right is given, and propagative has none");
        check_text(text(answers[i], "caveats.0"), "restitution of contacts left, right is given, and ");
        check_text(text(answers[i], "caveats.0"), said[i]);
    }
    const json_t *compared = answers[ANSWERS - 1];
    assert_close(number(answers[0], "restitution.0"), 0.5, 0);
    assert_close(number(compared, "laws.moreau.restitution.0"), 0.5, 0);
    assert_close(number(compared, "laws.moreau.restitution.1"), 1, 0);
    assert_close(number(compared, "laws.propagative.restitution.0"), 1, 0);
    assert_true(json_is_null(at(compared, "laws.halm-posa.restitution")) && json_is_null(at(compared, "laws.halm-posa.hypothesis")));
    for (int i = 0; i < ANSWERS; i++) json_decref(answers[i]);

    json_t *used[] = {ask(*state, "resolve", "elastic.yaml", "--law", "moreau"),
                      ask(*state, "resolve", "elastic.yaml", "--law", "sequential", "--rule", "stronge"),
                      ask(*state, "sample", "elastic.yaml", "--samples", "16", "--hypothesis", "poisson"),
                      ask(*state, "compare", "elastic.yaml", "--laws", "halm-posa,moreau", "--hypothesis", "stronge", "--samples", "16")};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) assert_int_equal(length(used[i], "caveats"), 0);
    assert_string_equal(text(used[3], "laws.halm-posa.hypothesis"), "stronge");
    assert_close(number(used[3], "laws.halm-posa.restitution.0"), 0.5, 0);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) json_decref(used[i]);
    // On a screen: columns of restitution where there is any.
    char *shown =
        run_line(*state, 0, "\"$carom\" info elastic.yaml 2>err.txt; cat err.txt >&2; \"$carom\" compare elastic.yaml --samples 16");
    check_text(shown, "contact  friction  restitution  normal [m/s]");
    check_text(shown, "law               outcomes  restitution ");
    check_text(shown, "  0.5 to 1  ");
    free(shown);
    shown = run_line(*state, 2, "\"$carom\" resolve elastic.yaml --law sequential --restitution 0.5 2>&1");
    assert_string_equal(shown, "carom: --restitution: has no meaning without --rule stronge\n");
    free(shown);
}

// Several contacts in space with Poisson's hypothesis are walked.
static void poissons_cube_is_sampled(void **state) {
    write_text(*state, "cube.yaml", cube_scene);
    json_t *sampled = ask(*state, "sample", "cube.yaml", "--hypothesis", "poisson", "--restitution", "0.5", "--samples", "64");
    assert_int_equal(number(sampled, "terminated"), 64);
    assert_int_equal(number(sampled, "walks"), 64);
    json_decref(sampled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_comparison_of_bouncing_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_comparison_with_the_exact_set_that_bounces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(questions_about_sets_that_bounce, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mechanisms_bounce, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bodies_bounce, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_law_cannot_take_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_for_other_laws_are_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hypothesis_without_restitution_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(restitution_that_is_not_used_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(poissons_cube_is_sampled, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
