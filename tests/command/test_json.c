// SPDX-License-Identifier: Apache-2.0
// What every answer in JSON keeps: the promised shapes, all digits of numbers, any text.
#include "command_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -----------------------------------------------------------------------------------------------------------------------------------
// shapes

// A promised value: where it stands, its types (number, whole, text, bool, null, list, map, | between them) and, for lists, their lengths.
typedef struct promise {
    const char *path, *types;
    int lengths[2];  // of the list and of its lists; 0: no list, ANY_LENGTH: any
} promise;

enum { ANY_LENGTH = -1 };

static bool has_type(const json_t *value, const char *types) {
    static const char *const names[] = {"number", "whole", "text", "bool", "null", "list", "map"};
    const double real = json_is_number(value) ? json_number_value(value) : NAN;
    const bool is[] = {isfinite(real),      real == floor(real),  json_is_string(value), json_is_boolean(value),
                       json_is_null(value), json_is_array(value), json_is_object(value)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is[i] && strstr(types, names[i])) return true;
    return false;
}

static bool keeps(const json_t *value, const char *types, const int *lengths, int depth) {
    if (strstr(types, "null") && json_is_null(value)) return true;
    if (depth == 2 || lengths[depth] == 0) return has_type(value, types);
    if (!json_is_array(value) || (lengths[depth] != ANY_LENGTH && json_array_size(value) != (size_t)lengths[depth])) return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!keeps(json_array_get(value, i), types, lengths, depth + 1)) return false;
    return true;
}

static void check_promises(const json_t *document, const promise *promises) {
    for (const promise *p = promises; p->path; p++) {
        if (keeps(at(document, p->path), p->types, p->lengths, 0)) continue;
        char *found = json_dumps(at(document, p->path), JSON_ENCODE_ANY);
        print_error("%s is not %s as promised: %s\n", p->path, p->types, found);
        free(found);
        fail();
    }
}

static const promise info_promises[] = {
    {"schema", "text", {0}},
    {"name", "text", {0}},
    {"nv", "whole", {0}},
    {"contacts", "whole", {0}},
    {"tangent_dim", "whole", {0}},
    {"contact_names", "text", {2}},
    {"M", "number", {3, 3}},
    {"Jn", "number", {2, 3}},
    {"Jt", "number", {2, 3}},
    {"mu", "number", {2}},
    {"v", "number", {3}},
    {"kinetic_energy", "number", {0}},
    {"normal_velocity", "number", {2}},
    {"tangent_velocity", "number", {2}},
    {"pointed", "bool", {0}},
    {"pointed_certified", "bool", {0}},
    {"bounds.psi", "number|null", {0}},
    {"bounds.r_norm", "number|null", {0}},
    {"bounds.step_bound_c", "number|null", {0}},
    {"bounds.step_bound", "number|null", {0}},
    {"bounds.step_tail", "number", {0}},
    {"bounds.net", "null", {0}},
    {NULL, NULL, {0}},
};

static const promise resolve_promises[] = {
    {"schema", "text", {0}},           {"law", "text", {0}}, {"selection", "text|null", {0}}, {"complete", "bool", {0}},
    {"outcomes", "map", {ANY_LENGTH}}, {NULL, NULL, {0}},
};

static const promise outcome_promises[] = {
    {"v_plus", "number|null", {3}},
    {"normal_impulse", "number|null", {2}},
    {"tangent_impulse", "number|null", {2}},
    {"normal_velocity", "number", {2}},
    {"tangent_velocity", "number", {2}},
    {"energy_ratio", "number|null", {0}},
    {"word", "text|null", {ANY_LENGTH}},
    {"steps", "whole", {0}},
    {"terminated", "bool", {0}},
    {"flags", "text", {ANY_LENGTH}},
    {NULL, NULL, {0}},
};

static const promise lcp_promises[] = {
    {"schema", "text", {0}},
    {"n", "whole", {0}},
    {"solver", "text", {0}},
    {"complete", "bool", {0}},
    {"solutions.0.z", "number", {2}},
    {"solutions.0.residual", "number", {0}},
    {NULL, NULL, {0}},
};

static const promise sample_promises[] = {
    {"schema", "text", {0}},
    {"samples", "whole", {0}},
    {"requested", "whole", {0}},
    {"terminated", "whole", {0}},
    {"unsolved", "whole", {0}},
    {"closed", "whole", {0}},
    {"lcp_solves", "whole", {0}},
    {"lcps_per_sample", "number", {0}},
    {"lcps_per_sample_ci95", "number", {0}},
    {"max_residual", "number", {0}},
    {"max_relative_energy_gain", "number", {0}},
    {"extent.normal", "number", {2, 2}},
    {"extent.tangent", "number", {2, 2}},
    {"digest", "text", {0}},
    {"selection", "text", {0}},
    {"solver", "text", {0}},
    {"path", "text", {0}},
    {"seconds", "number", {0}},
    {"file", "text|null", {0}},
    {NULL, NULL, {0}},
};

static const promise law_promises[] = {
    {"count", "whole", {0}},
    {"extent.normal", "number", {2, 2}},
    {"extent.tangent", "number", {2, 2}},
    {"energy_ratio", "number|null", {2}},
    {"complete", "bool", {0}},
    {"seconds", "number", {0}},
    {NULL, NULL, {0}},
};

static void check_answer(json_t *document, const char *schema, const promise *promises) {
    assert_string_equal(text(document, "schema"), schema);
    check_promises(document, promises);
    json_decref(document);
}

static void check_outcomes(json_t *answer) {
    check_promises(answer, resolve_promises);
    assert_true(length(answer, "outcomes") > 0);
    for (size_t i = 0; i < length(answer, "outcomes"); i++) check_promises(json_array_get(at(answer, "outcomes"), i), outcome_promises);
    json_decref(answer);
}

static void answers_have_the_promised_shapes(void **state) {
    char model[PATH_SIZE];
    write_text(*state, "block.yaml", BLOCK_SCENE);
    write_text(*state, "lcp.json", SMALL_LCP);
    check_answer(ask(*state, "info", "block.yaml"), "carom.info/1", info_promises);
    check_answer(ask(*state, "info", scene_path(&scenes[0], model)), "carom.info/1", info_promises);
    check_outcomes(ask(*state, "resolve", "block.yaml", "--law", "anitescu-potra", "--selection", "lemke"));
    check_outcomes(ask(*state, "resolve", "block.yaml", "--law", "sequential"));
    check_outcomes(ask(*state, "resolve", "block.yaml", "--law", "routh", "--seed", "3"));
    check_outcomes(ask(*state, "resolve", "block.yaml", "--law", "halm-posa", "--samples", "8"));
    check_answer(ask(*state, "lcp", "lcp.json", "--solver", "lemke"), "carom.lcp/1", lcp_promises);
    check_answer(ask(*state, "sample", "block.yaml"), "carom.sample/1", sample_promises);
    check_answer(ask(*state, "sample", "block.yaml", "--samples", "8", "--epsilon", "0.1"), "carom.sample/1", sample_promises);
    check_answer(ask(*state, "sample", "block.yaml", "--threads", "2", "-o", "out.h5"), "carom.sample/1", sample_promises);
    json_t *compared = ask(*state, "compare", "block.yaml"), *law;
    const char *name;
    assert_string_equal(text(compared, "schema"), "carom.compare/1");
    json_object_foreach(json_object_get(compared, "laws"), name, law) check_promises(law, law_promises);
    json_decref(compared);
}

// ------------------------------------------------------------------------------------------------------------------------ what JSON
// carries

// Decimal texts of 17 digits name doubles uniquely: every number comes back bit by bit.
static void numbers_have_seventeen_digits(void **state) {
    static const double mass[] = {0.1, 0, 0, 1.0 / 3}, velocity[] = {0.30000000000000004, -1e-300}, friction[] = {0.7};
    write_text(*state, "digits.yaml",
               "matrices: {M: [[0.1, 0], [0, \"1/3\"]], Jn: [[0, 1]], Jt: [[1, 0]], mu: [0.7], v: [0.30000000000000004, -1e-300]}\n");
    report r = run(*state, "info", "digits.yaml", "--json");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "0.10000000000000001"));
    assert_non_null(strstr(r.out, "0.33333333333333331"));
    json_t *info = parse(&r);
    check_numbers(info, "M", mass, 4, 0);
    check_numbers(info, "v", velocity, 2, 0);
    check_numbers(info, "mu", friction, 1, 0);
    assert_true(number(info, "v.1") == -1e-300);
    json_decref(info);
    release(&r);
}

static void contact_space_has_no_velocities(void **state) {
    write_text(*state, "delassus.yaml", "delassus: {W: [[1, 0.2], [0.2, 1]], u: [-1, 0.5], mu: [0.5], names: [A]}\n");
    json_t *info = ask(*state, "info", "delassus.yaml");
    static const double delassus[] = {1, 0.2, 0.2, 1};
    static const char *const absent[] = {"nv", "M", "Jn", "Jt", "v"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) assert_true(json_is_null(at(info, absent[i])));
    assert_int_equal(number(info, "contacts"), 1);
    assert_int_equal(number(info, "tangent_dim"), 1);
    check_numbers(info, "W", delassus, 4, 0);

    json_t *answer = ask(*state, "resolve", "delassus.yaml", "--law", "anitescu-potra");
    const json_t *outcome = only_outcome(answer);
    assert_true(json_is_null(at(outcome, "v_plus")));
    // Sticking would need |lam_t| = 0.64 lam_n: the contact slides, lam_t = -lam_n / 2, and 0 = -1 + (1 - 0.1) lam_n.
    static const double impulse[] = {1 / 0.9}, slip[] = {0.5 + (0.2 - 0.5) / 0.9}, closed[] = {0};
    check_numbers(outcome, "normal_velocity", closed, 1, 1e-12);
    check_numbers(outcome, "normal_impulse", impulse, 1, 1e-12);
    check_numbers(outcome, "tangent_velocity", slip, 1, 1e-12);

    json_t *sampled = ask(*state, "sample", "delassus.yaml", "--samples", "100", "-o", "delassus.h5");
    assert_int_equal(number(sampled, "terminated"), 100);
    assert_true(exists(*state, "delassus.h5"));
    json_decref(info);
    json_decref(answer);
    json_decref(sampled);
}

static void friction_may_be_left_out(void **state) {
    write_text(*state, "cradle.yaml", "matrices: {M: [[4, 0, 0], [0, 1, 0], [0, 0, 4]], Jn: [[-1, 1, 0], [0, -1, 1]], v: [1, 0, -1]}\n");
    json_t *info = ask(*state, "info", "cradle.yaml"), *answer = ask(*state, "resolve", "cradle.yaml", "--law", "anitescu-potra");
    json_t *sampled = ask(*state, "sample", "cradle.yaml", "--samples", "200");
    static const double zeros[6] = {0};
    assert_int_equal(number(info, "tangent_dim"), 1);
    check_numbers(info, "Jt", zeros, 6, 0);
    check_numbers(info, "mu", zeros, 2, 0);
    check_velocities(only_outcome(answer), zeros, 1e-12);
    assert_int_equal(number(sampled, "terminated"), 200);
    json_decref(info);
    json_decref(answer);
    json_decref(sampled);
}

static void spatial_scenes_take_cone_edges(void **state) {
    write_text(*state, "cube.yaml", cube_scene);
    json_t *four = ask(*state, "info", "cube.yaml"), *eight = ask(*state, "info", "cube.yaml", "--cone-edges", "8");
    assert_int_equal(number(four, "tangent_dim"), 2);
    assert_true(is_true(eight, "pointed"));
    assert_true(number(eight, "bounds.psi") > number(four, "bounds.psi"));

    static const double rest[8] = {0};
    json_t *answer = ask(*state, "resolve", "cube.yaml", "--law", "anitescu-potra", "--cone-edges", "8");
    check_numbers(only_outcome(answer), "normal_velocity", rest, 4, 1e-12);
    check_numbers(only_outcome(answer), "tangent_velocity", rest, 8, 1e-12);

    json_t *usual = ask(*state, "sample", "cube.yaml"), *octagon = ask(*state, "sample", "cube.yaml", "--cone-edges", "8", "-o", "cube.h5");
    assert_int_equal(number(octagon, "unsolved"), 0);
    assert_true(number(octagon, "terminated") > 500);
    assert_true(number(octagon, "max_residual") <= 1e-9);
    assert_int_equal(length(octagon, "extent.normal"), 4);
    assert_int_equal(length(octagon, "extent.tangent"), 8);
    assert_string_not_equal(text(usual, "digest"), text(octagon, "digest"));

    json_t *drawn = ask(*state, "plot", "cube.h5", "--axes", "Jn.A,Jt.B.2");
    check_pictures(*state, drawn, 1);
    json_t *documents[] = {four, eight, answer, usual, octagon, drawn};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) json_decref(documents[i]);
}

static void names_may_be_any_text(void **state) {
    static const char name[] = "Bock \"kippt\" \\ 'schräg' 日本", left[] = "links 'A' \"1\" `touch x`", right[] = "B $HOME %s ü";
    json_t *scene = json_pack("{s:s, s:{s:[[i,i],[i,i]], s:[[i,i],[i,i]], s:[i,i], s:[s,s]}}", "name", name, "matrices", "M", 1, 0, 0, 1,
                              "Jn", 1, 0, 0, 1, "v", -1, -2, "names", left, right);
    char *content = json_dumps(scene, 0), order[256];
    write_text(*state, "n a m e s é.json", content);
    free(content);
    json_decref(scene);
    json_t *info = ask(*state, "info", "n a m e s é.json");
    assert_string_equal(text(info, "name"), name);
    assert_string_equal(text(info, "contact_names.0"), left);
    assert_string_equal(text(info, "contact_names.1"), right);

    snprintf(order, sizeof order, "%s,%s", right, left);
    json_t *answer = ask(*state, "resolve", "n a m e s é.json", "--law", "sequential", "--order", order);
    assert_string_equal(text(only_outcome(answer), "word.0"), right);
    assert_string_equal(text(only_outcome(answer), "word.1"), left);

    json_t *sampled = ask(*state, "sample", "n a m e s é.json", "--samples", "50", "-o", "s é t '.h5");
    json_t *drawn = ask(*state, "plot", "s é t '.h5");
    assert_string_equal(text(sampled, "file"), "s é t '.h5");
    check_pictures(*state, drawn, 1);
    assert_false(exists(*state, "x"));
    json_decref(info);
    json_decref(answer);
    json_decref(sampled);
    json_decref(drawn);
}

// File names are bytes, JSON is UTF-8.
static void file_names_that_are_not_text_keep_json_valid(void **state) {
    write_text(*state, "flat.yaml", FLAT_SCENE);
    json_t *sampled = ask(*state, "sample", "flat.yaml", "--samples", "10", "-o", "set\xff.h5");
    assert_non_null(strstr(text(sampled, "file"), "\xef\xbf\xbd"));
    assert_true(exists(*state, "set\xff.h5"));
    json_decref(sampled);
}

static void energy_ratios_at_rest_are_null(void **state) {
    write_text(*state, "still.yaml", STILL_SCENE);
    report runs[] = {run(*state, "resolve", "still.yaml", "--law", "anitescu-potra", "--json"),
                     run(*state, "compare", "still.yaml", "--json")};
    json_t *answer = parse(&runs[0]), *compared = parse(&runs[1]);
    assert_true(json_is_null(at(answer, "outcomes.0.energy_ratio")));
    assert_true(json_is_null(at(compared, "laws.halm-posa.energy_ratio")));
    assert_int_equal(number(compared, "laws.halm-posa.count"), 64);
    json_decref(answer);
    json_decref(compared);
    // Rest is said.
    for (int i = 0; i < 2; i++) {
        assert_int_equal(runs[i].status, 0);
        check_text(runs[i].err, "no contact approaches");
        release(&runs[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_have_the_promised_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_have_seventeen_digits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(contact_space_has_no_velocities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(friction_may_be_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spatial_scenes_take_cone_edges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_may_be_any_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_names_that_are_not_text_keep_json_valid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_ratios_at_rest_are_null, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, find_command, NULL);
}
