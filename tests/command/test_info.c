// SPDX-License-Identifier: Apache-2.0
// `carom info`: the matrices and bounds published for the scenes of Halm & Posa, and scenes that cannot be read.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void info_gives_the_published_matrices(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        const carom_impact_data *d = p->data;
        json_t *info = ask(*state, "info", scene_path(p, path));
        assert_string_equal(text(info, "schema"), "carom.info/1");
        assert_int_equal(number(info, "nv"), d->nv);
        assert_int_equal(number(info, "contacts"), CONTACTS);
        assert_int_equal(number(info, "tangent_dim"), 1);
        assert_string_equal(text(info, "contact_names.0"), "A");
        assert_string_equal(text(info, "contact_names.1"), "B");
        check_numbers(info, "M", d->mass, d->nv * d->nv, 1e-9);
        check_numbers(info, "Jn", d->normal, CONTACTS * d->nv, 1e-9);
        check_numbers(info, "Jt", d->tangent, CONTACTS * d->nv, 1e-9);
        check_numbers(info, "mu", d->friction, CONTACTS, 1e-9);
        check_numbers(info, "v", d->velocity, d->nv, 1e-9);
        assert_close(number(info, "kinetic_energy"), p->kinetic_energy, 1e-9);
        json_decref(info);
    }
}

// Lemma 1 with Omega = ceil(0.3 * 1 * sqrt(20) / 0.1)^-20 = 14^-20: N is -ln(0.01 Omega) / Omega.
static void info_counts_the_samples_of_a_net(void **state) {
    write_text(*state, "block.yaml", BLOCK_SCENE);
    json_t *info = ask(*state, "info", "block.yaml", "--epsilon", "0.1", "--lipschitz", "1");
    assert_close(number(info, "bounds.net.caps"), 20, 0);
    assert_close(number(info, "bounds.net.log10_samples"), log10(20 * log(14) - log(0.01)) + 20 * log10(14), 1e-9);
    json_decref(info);
}

static void info_gives_the_published_bounds(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        json_t *info = ask(*state, "info", scene_path(p, path));
        assert_true(is_true(info, "pointed") && is_true(info, "pointed_certified"));
        assert_close(number(info, "bounds.r_norm"), p->r_norm, 1e-6);
        assert_close(number(info, "bounds.psi"), p->psi, 1e-6);
        assert_close(number(info, "bounds.step_bound_c"), p->step_bound, 0);
        json_decref(info);
    }
}

// Assumption 6 at the first step: false on compass and RAMone, true on block and box-wall; null where the list would be too long. The
// text says which question each of the two answers is for.
static void info_tests_assumption_6(void **state) {
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        json_t *info = ask(*state, "info", scene_path(p, path));
        const bool several = strstr(path, "compass") || strstr(path, "ramone");
        assert_true(json_is_boolean(at(info, "this_impact.unique")));
        assert_int_equal(is_true(info, "this_impact.unique"), !several);
        assert_non_null(strstr(text(info, "this_impact.by"), several ? "3 velocities" : "one velocity"));
        // Another question: how many velocities are possible after the impact. All these have several.
        assert_true(json_is_false(at(info, "outcome.unique")));
        if (carom_exact_available()) assert_non_null(strstr(text(info, "outcome.by"), "the exact set has"));
        json_decref(info);
    }
    write_text(*state, "cube.yaml", cube_scene);
    json_t *info = ask(*state, "info", "cube.yaml");
    assert_true(json_is_null(at(info, "this_impact.unique")));
    json_decref(info);
}

// A scene with the matrices of `info --json`, which takes its options from `impact`.
static void write_info_as_scene(const char *directory, const char *name, const json_t *info, const published *p) {
    json_t *scene =
        json_pack("{s:s, s:{s:O, s:O, s:O, s:O, s:O, s:O}, s:{s:O, s:f, s:i, s:i}}", "name", "from info", "matrices", "M", at(info, "M"),
                  "Jn", at(info, "Jn"), "Jt", at(info, "Jt"), "mu", at(info, "mu"), "v", at(info, "v"), "names", at(info, "contact_names"),
                  "impact", "step", at(info, "step"), "max_steps", strtod(p->steps, NULL), "samples", 2048, "seed", 7);
    assert_non_null(scene);
    char *content = json_dumps(scene, JSON_REAL_PRECISION(17));
    assert_non_null(content);
    write_text(directory, name, content);
    free(content);
    json_decref(scene);
}

// JSON carries all digits: the matrices give the same bits when they come back as a scene.
static void matrices_of_info_give_the_same_samples(void **state) {
    static const char *const same[] = {"M", "Jn", "Jt", "mu", "v", "W", "normal_velocity", "tangent_velocity", "kinetic_energy", "bounds"};
    for (const published *p = scenes; p < scenes + SCENES; p++) {
        char path[PATH_SIZE];
        json_t *info = ask(*state, "info", scene_path(p, path));
        write_info_as_scene(*state, "from-info.json", info, p);
        json_t *again = ask(*state, "info", "from-info.json");
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_true(json_equal(at(info, same[i]), at(again, same[i])));

        json_t *model = ask(*state, "sample", path, "--step", p->step, "--max-steps", p->steps, "--samples", "2048", "--seed", "7");
        json_t *matrices = ask(*state, "sample", "from-info.json");
        assert_int_equal(strlen(text(model, "digest")), 64);
        assert_string_equal(text(model, "digest"), text(matrices, "digest"));
        assert_true(json_equal(at(model, "extent"), at(matrices, "extent")));
        json_decref(info);
        json_decref(again);
        json_decref(model);
        json_decref(matrices);
    }
}

// -------------------------------------------------------------------------------------------------------------------------------- bad
// input

#define MATRICES(M, Jn, Jt, mu, v)   "matrices: {M: " M ", Jn: " Jn ", Jt: " Jt ", mu: " mu ", v: " v "}\n"
#define UNIT                         "[[1, 0], [0, 1]]"
#define MODEL(file, state, contacts) "model: " file "\nstate: " state "\ncontacts: " contacts "\n"
#define AT_REST                      "{qpos: [0, 1, 0], qvel: [0, -1, 0]}"
#define CORNER(more)                 "[{name: A, site: left_corner, friction: 1, normal: [0, 0, 1]" more "}]"
#define DELASSUS(W, u, mu)           "delassus: {W: " W ", u: " u ", mu: " mu "}\n"

static const refusal refusals[] = {
    // values
    {"info cube.yaml --cone-edges 5", "even", NULL},
    // files that are no scene
    {"info case.yaml", "case.yaml:1: the file is empty", ""},
    {"info case.yaml", "case.yaml:1: the file is empty", "# nothing\n"},
    {"info case.yaml", "case.yaml:1", "42\n"},
    {"info case.yaml", "case.yaml:1", "[1, 2]\n"},
    {"info case.yaml", "case.yaml:", "matrices: {M: [[1, 0], [0, 1"},
    {"info case.yaml", "case.yaml:", "{\"matrices\": {\"M\": [[1"},
    {"info case.yaml", "case.yaml:", "\x01\x02\xfe\xff\x7f\x80 binary"},
    {"info case.yaml", "case.yaml:", "name: \xff\xfe\n"},
    {"info case.yaml", "case.yaml:", "matrices: {" FLAT_PARTS "}\n---\nname: second\n"},
    {"info case.yaml", "case.yaml:1", "name: &again [*again]\n"},
    {"info deep.yaml", "deep.yaml:1", NULL},
    {"info noise.yaml", "noise.yaml", NULL},
    {"info long.yaml", "long.yaml", NULL},
    {"info case.yaml", "'model', 'matrices', 'delassus', 'two_bodies', 'balls', 'body' and 'bodies'", "name: nothing\n"},
    {"info case.yaml", "'model', 'matrices', 'delassus', 'two_bodies', 'balls', 'body' and 'bodies'",
     "matrices: {" FLAT_PARTS "}\ndelassus: {W: [[1]], u: [1], mu: []}\n"},
    {"info case.yaml", "case.yaml:2: matrixes", "matrices: {" FLAT_PARTS "}\nmatrixes: {}\n"},
    {"info case.yaml", "case.yaml:2: name", "name: a\nname: b\nmatrices: {" FLAT_PARTS "}\n"},
    {"info case.yaml", "case.yaml:1: matrices", "matrices: 3\n"},
    {"info case.yaml", "matrices", "matrices: {M: [[1]], Jn: [[1]]}\n"},
    {"info case.yaml", "matrices.mass", "matrices: {" FLAT_PARTS ", mass: [[1]]}\n"},
    // matrices
    {"info case.yaml", "matrices.M", MATRICES("[[1, 0]]", "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "matrices.M", MATRICES("[[1, 0], [0]]", "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "matrices.Jn", MATRICES(UNIT, "[[0, 1, 0]]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "matrices.Jn", MATRICES(UNIT, "[0, 1]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "matrices.Jn", MATRICES(UNIT, "[]", "[]", "[]", "[1, -1]")},
    {"info case.yaml", "matrices.Jt", MATRICES(UNIT, "[[0, 1]]", "[[1, 0], [0, 1], [1, 1]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "matrices.mu", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5, 0.5]", "[1, -1]")},
    {"info case.yaml", "matrices.mu[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[-0.5]", "[1, -1]")},
    {"info case.yaml", "matrices.mu[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[rough]", "[1, -1]")},
    {"info case.yaml", "matrices.v[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5]", "[nan, -1]")},
    {"info case.yaml", "matrices.v[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5]", "[.nan, -1]")},
    {"info case.yaml", "matrices.v[1]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1, -.inf]")},
    {"info case.yaml", "matrices.v[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1abc, -1]")},
    {"info case.yaml", "matrices.v[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1e999, -1]")},
    {"info case.yaml", "matrices.v[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5]", "[\"1/0\", -1]")},
    {"info case.yaml", "matrices.v[0]", MATRICES(UNIT, "[[0, 1]]", "[[1, 0]]", "[0.5]", "[null, -1]")},
    {"info case.yaml", "positive definite", MATRICES("[[1, 0], [0, -1]]", "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "positive definite", MATRICES("[[1, 1], [1, 1]]", "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "symmetric", MATRICES("[[1, 0.5], [0, 1]]", "[[0, 1]]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "Jn[0] is zero", MATRICES(UNIT, "[[0, 0]]", "[[1, 0]]", "[0.5]", "[1, -1]")},
    {"info case.yaml", "restitution", "matrices: {" FLAT_PARTS ", restitution: [2]}\n"},
    {"info case.yaml", "names", "matrices: {" FLAT_PARTS ", names: [A, B]}\n"},
    {"info case.yaml", "name", "matrices: {" FLAT_PARTS ", names: ['']}\n"},
    {"info case.yaml", "both 'B'", MATRICES(UNIT, "[[0, 1], [0, 1]]", "[[1, 0], [1, 0]]", "[0, 0]", "[1, -1], names: [B, B]")},
    // contact space
    {"info case.yaml", "delassus.W", DELASSUS("[[1, 0]]", "[-1, 0]", "[0.5]")},
    {"info case.yaml", "delassus.u", DELASSUS("[[1]]", "[-1]", "[0.5]")},
    {"info case.yaml", "symmetric", DELASSUS("[[1, 0.9], [0, 1]]", "[-1, 0]", "[0.5]")},
    {"info case.yaml", "W is not positive semidefinite", DELASSUS("[[1, 2], [2, 1]]", "[-1, 0]", "[0.5]")},
    {"info case.yaml", "delassus.mu", DELASSUS(UNIT, "[-1, 0]", "[-1]")},
    {"info case.yaml", "delassus.file", "delassus: {file: problem.hdf5}\n"},
    // models
    {"info case.yaml", "missing.xml", MODEL("missing.xml", AT_REST, CORNER(""))},
    {"info case.yaml", "folder", MODEL("folder", AT_REST, CORNER(""))},
    {"info case.yaml", "cut.xml", MODEL("cut.xml", AT_REST, CORNER(""))},
    {"info case.yaml", "text.txt", MODEL("text.txt", AT_REST, CORNER(""))},
    {"info case.yaml", "empty.h5", MODEL("empty.h5", AT_REST, CORNER(""))},
    {"info case.yaml", "huge.xml", MODEL("huge.xml", AT_REST, CORNER(""))},
    {"info case.yaml", "nan.xml", MODEL("nan.xml", AT_REST, CORNER(""))},
    {"info case.yaml", "contacts", MODEL("block.xml", AT_REST, "[]")},
    {"info case.yaml", "contacts", MODEL("block.xml", AT_REST, "{detect: true}")},
    {"info case.yaml", "no_such_corner", MODEL("block.xml", AT_REST, "[{name: A, site: no_such_corner, friction: 1, normal: [0, 0, 1]}]")},
    {"info case.yaml", "no_such_geom", MODEL("block.xml", AT_REST, "[{name: A, geom: no_such_geom, friction: 1, normal: [0, 0, 1]}]")},
    {"info case.yaml", "contacts[0]", MODEL("block.xml", AT_REST, "[{name: A, friction: 1, normal: [0, 0, 1]}]")},
    {"info case.yaml", "contacts[0]", MODEL("block.xml", AT_REST, CORNER(", geom: block"))},
    {"info case.yaml", "normal", MODEL("block.xml", AT_REST, "[{name: A, site: left_corner, friction: 1, normal: [0, 0, 0]}]")},
    {"info case.yaml", "friction", MODEL("block.xml", AT_REST, "[{name: A, site: left_corner, friction: -1, normal: [0, 0, 1]}]")},
    {"info case.yaml", "tangent", MODEL("block.xml", AT_REST, CORNER(", tangents: [[0, 0, 1]]"))},
    {"info case.yaml", "tangents", MODEL("block.xml", AT_REST, CORNER(", tangents: [[1, 0]]"))},
    {"info case.yaml", "colour", MODEL("block.xml", AT_REST, CORNER(", colour: red"))},
    {"info case.yaml", "qpos", MODEL("block.xml", "{qpos: [0, 1], qvel: [0, -1, 0]}", CORNER(""))},
    {"info case.yaml", "no_such_key", MODEL("block.xml", "{key: no_such_key}", CORNER(""))},
    {"info case.yaml", "contacts", "model: block.xml\nstate: " AT_REST "\n"},
    // options in scenes
    {"info cube.yaml --cone-edges 5", "carom: --cone-edges: 5 is", NULL},
    // LCPs
    {"info lcp.json", "lcp.json", NULL},
};

static void bad_input_is_refused_in_one_line(void **state) { check_refusals(*state, refusals, sizeof refusals / sizeof *refusals); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(info_gives_the_published_matrices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(info_tests_assumption_6, set_up, tear_down),
        cmocka_unit_test_setup_teardown(info_gives_the_published_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(info_counts_the_samples_of_a_net, set_up, tear_down),
        cmocka_unit_test_setup_teardown(matrices_of_info_give_the_same_samples, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused_in_one_line, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
