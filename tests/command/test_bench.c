// SPDX-License-Identifier: Apache-2.0
// `carom bench`: the shape of its document and files. Nothing here depends on how long anything takes.
#define _XOPEN_SOURCE 700
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { LINE_SIZE = 4096 };

static const char tiny_scene[] = "matrices:\n"
                                 "  M: [[1, 0], [0, 1]]\n"
                                 "  Jn: [[0, 1]]\n"
                                 "  Jt: [[1, 0]]\n"
                                 "  mu: [0.5]\n"
                                 "  v: [1, -1]\n";
static const char space_scene[] = "matrices: {M: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], Jn: [[0, 0, 1]], Jt: [[1, 0, 0], [0, 1, 0]],\n"
                                  "  mu: [0.5], v: [1, 0, -1]}\n";
static const char parting_scene[] = "matrices: {M: [[1]], Jn: [[1]], Jt: [[0]], mu: [0], v: [1]}\n";

typedef struct fixture {
    char *directory, *scene;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    f->directory = support_make_directory();
    f->scene = support_write_file(f->directory, "tiny.yaml", tiny_scene);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    support_remove_directory(f->directory);
    free(f->scene);
    free(f);
    return 0;
}

static void read_file(const fixture *f, const char *name, char *text, size_t size) {
    char path[LINE_SIZE];
    snprintf(path, sizeof path, "%s/%s", f->directory, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

// Runs `carom bench ARGUMENTS` and gives its exit status; both streams go to files of the directory.
static int run_bench(const fixture *f, const char *arguments) {
    const char *build = getenv("CAROM_BUILD");
    char line[LINE_SIZE];
    const int length = snprintf(line, sizeof line, "%s/carom bench %s >'%s/out' 2>'%s/err' </dev/null", build && *build ? build : "build",
                                arguments, f->directory, f->directory);
    assert_in_range(length, 1, sizeof line - 1);
    const int status = system(line);
    assert_true(WIFEXITED(status));
    char said[LINE_SIZE];
    read_file(f, "err", said, sizeof said);
    support_skip_missing(said);
    return WEXITSTATUS(status);
}

static json_t *measure(const fixture *f, const char *more) {
    char arguments[LINE_SIZE], path[LINE_SIZE];
    snprintf(arguments, sizeof arguments, "'%s' --repetitions 2 --milliseconds 0.1 --json %s", f->scene, more);
    assert_int_equal(run_bench(f, arguments), 0);
    snprintf(path, sizeof path, "%s/out", f->directory);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "carom.bench/1");
    return document;
}

static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) fail_msg("%s is not a number", key);
    return json_number_value(value);
}

// The first case of a path with this many threads.
static const json_t *find_case(const json_t *document, const char *path, int threads) {
    size_t index;
    const json_t *item;
    json_array_foreach(json_object_get(document, "cases"), index, item) {
        const char *name = json_string_value(json_object_get(item, "path"));
        if (name && !strcmp(name, path) && (int)number(item, "threads") == threads) return item;
    }
    fail_msg("there is no case of %s with %d threads", path, threads);
    return NULL;
}

static void every_case_is_complete(void **state) {
    json_t *document = measure(*state, "--threads 2");
    const json_t *cases = json_object_get(document, "cases");
    assert_true(json_array_size(cases) >= 7);
    size_t index;
    const json_t *item;
    json_array_foreach(cases, index, item) {
        assert_string_equal(json_string_value(json_object_get(item, "scene")), "tiny");
        assert_true(json_is_string(json_object_get(item, "path")));
        assert_true(json_is_string(json_object_get(item, "selection")));
        assert_int_equal((int)number(item, "contacts"), 1);
        assert_int_equal((int)number(item, "nv"), 2);
        // m (k + 3)
        assert_int_equal((int)number(item, "lcp_size"), 5);
        assert_true(number(item, "ns_per_lcp") > 0);
        assert_true(number(item, "ns_per_sample") > 0);
        if (support_has("SICONOS")) assert_true(number(item, "ratio_to_siconos") > 0);
        assert_true(number(item, "samples") >= 1);
        assert_true(number(item, "unsolved") >= 0);
        assert_true(number(item, "max_residual") <= CAROM_LCP_TOLERANCE);
    }
    assert_true(strlen(json_string_value(json_object_get(document, "machine"))) > 0);
    assert_string_equal(json_string_value(json_object_get(document, "version")), CAROM_VERSION);
    json_decref(document);
}

// What `carom sample` does by default comes first, in a line a scene: half of the planar samples are walks.
static void the_default_set_is_measured(void **state) {
    const fixture *f = *state;
    char *space = support_write_file(f->directory, "space.yaml", space_scene), more[LINE_SIZE];
    snprintf(more, sizeof more, "--threads 1 --scene '%s'", space);
    json_t *document = measure(f, more);
    static const char *const names[] = {"tiny", "space"}, *const samplers[] = {"+walk", ""};
    const json_t *sets = json_object_get(document, "sets");
    assert_int_equal(json_array_size(sets), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *set = json_array_get(sets, i);
        assert_string_equal(json_string_value(json_object_get(set, "scene")), names[i]);
        const char *ran = json_string_value(json_object_get(set, "ran")), *plus = strchr(ran, '+');
        assert_string_equal(plus ? plus : "", samplers[i]);
        assert_close(number(set, "samples_per_second") * number(set, "ns_per_sample"), 1e9, 1);
        assert_int_equal((int)number(set, "unsolved"), 0);
        assert_true(number(set, "max_residual") <= CAROM_LCP_TOLERANCE);
        if (!support_has("SICONOS")) continue;
        assert_true(number(set, "ratio_to_siconos") > 0);
        assert_true(number(set, "stepped_ratio_to_siconos") > 0);
    }
    json_decref(document);
    // On the terminal, both lines stand before the table of paths.
    char arguments[LINE_SIZE], text[4 * LINE_SIZE];
    snprintf(arguments, sizeof arguments, "--scene '%s' --scene '%s' --threads 1 --repetitions 1 --milliseconds 0", f->scene, space);
    assert_int_equal(run_bench(f, arguments), 0);
    read_file(f, "out", text, sizeof text);
    const char *first = strstr(text, "| tiny "), *last_set = strstr(text, "| space "), *paths = strstr(text, "ns/LCP");
    assert_non_null(first);
    assert_non_null(last_set);
    assert_non_null(paths);
    assert_true(first < last_set && last_set < paths);
    free(space);
}

static void every_path_is_measured(void **state) {
    json_t *document = measure(*state, "--threads 4");
    static const char *const paths[] = {"siconos-raw", "siconos-lemke",   "lemke", "lemke:scalar", "lemke:portable",
                                        "cone-map",    "cone-map:scalar", "auto",  "modes"};
    // The first two are Siconos'.
    for (size_t i = support_has("SICONOS") ? 0 : 2; i < sizeof paths / sizeof *paths; i++) find_case(document, paths[i], 1);
    find_case(document, "auto", 2);
    find_case(document, "auto", 4);
    assert_int_equal((int)number(find_case(document, "lemke", 1), "unsolved"), 0);
    if (support_has("SICONOS")) {
        assert_close(number(find_case(document, "siconos-lemke", 1), "ratio_to_siconos"), 1, 0);
        assert_int_equal((int)number(find_case(document, "siconos-lemke", 1), "unsolved"), 0);
    }
    assert_string_equal(json_string_value(json_object_get(find_case(document, "modes", 1), "selection")), "random");
    json_decref(document);
}

static void scenes_are_given_by_name_or_file(void **state) {
    char more[LINE_SIZE];
    const fixture *f = *state;
    snprintf(more, sizeof more, "--threads 1 --scene block");
    json_t *document = measure(f, more);
    const json_t *cases = json_object_get(document, "cases");
    const size_t count = json_array_size(cases);
    assert_string_equal(json_string_value(json_object_get(json_array_get(cases, 0), "scene")), "tiny");
    assert_string_equal(json_string_value(json_object_get(json_array_get(cases, count - 1), "scene")), "block");
    assert_int_equal((int)number(json_array_get(cases, count - 1), "lcp_size"), 10);
    json_decref(document);
}

static void tables_are_written_as_markdown(void **state) {
    const fixture *f = *state;
    char arguments[LINE_SIZE], text[LINE_SIZE];
    snprintf(arguments, sizeof arguments, "--scene '%s' --threads 1 --repetitions 1 --milliseconds 0 -o '%s/table.md'", f->scene,
             f->directory);
    // The second one replaces the first.
    for (int i = 0; i < 2; i++) assert_int_equal(run_bench(f, arguments), 0);
    read_file(f, "table.md", text, sizeof text);
    assert_non_null(strstr(text, "| scene "));
    assert_non_null(strstr(text, "| tiny "));
    assert_non_null(strstr(text, "carom " CAROM_VERSION));
}

static void bad_input_is_refused(void **state) {
    const fixture *f = *state;
    static const char *const refused[][2] = {
        {"--scene no-such-scene", "no-such-scene"},
        {"--repetitions 0", "--repetitions"},
        {"--milliseconds -1", "--milliseconds"},
        {"--threads 1.5", "--threads"},
        {"--fast", "--fast"},
        {"-o /no/such/place.md", "/no/such/place.md"},
    };
    char text[LINE_SIZE];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(run_bench(f, refused[i][0]), 2);
        read_file(f, "err", text, sizeof text);
        assert_non_null(strstr(text, refused[i][1]));
        read_file(f, "out", text, sizeof text);
        assert_string_equal(text, "");
    }
}

static void what_somebody_wrote_is_not_replaced(void **state) {
    const fixture *f = *state;
    char arguments[LINE_SIZE], text[LINE_SIZE];
    snprintf(arguments, sizeof arguments, "--scene '%s' --repetitions 1 --milliseconds 0 -o '%s'", f->scene, f->scene);
    assert_int_equal(run_bench(f, arguments), 2);
    read_file(f, "tiny.yaml", text, sizeof text);
    assert_string_equal(text, tiny_scene);
}

static void an_impact_without_approach_is_refused(void **state) {
    const fixture *f = *state;
    char *scene = support_write_file(f->directory, "parting.yaml", parting_scene);
    char arguments[LINE_SIZE], text[LINE_SIZE];
    snprintf(arguments, sizeof arguments, "'%s'", scene);
    assert_int_equal(run_bench(f, arguments), 2);
    read_file(f, "err", text, sizeof text);
    assert_non_null(strstr(text, "no contact approaches"));
    free(scene);
}

// Shares of solved problems grow with the factor, and our Lemke solves every LCP of the family.
static void test_profiles(void **state) {
    const fixture *f = *state;
    json_t *document = measure(f, "--profiles --repetitions 1");
    const json_t *profiles = json_object_get(document, "profiles");
    assert_int_equal(json_array_size(profiles) >= 2, support_has("SICONOS"));
    assert_true(json_array_size(profiles) >= 1);
    for (size_t i = 0; i < json_array_size(profiles); i++) {
        const json_t *profile = json_array_get(profiles, i), *within = json_object_get(profile, "within");
        double last = 0;
        for (size_t k = 0; k < json_array_size(within); k++) {
            const double share = number(json_array_get(within, k), "share");
            assert_true(share >= last && share <= 1);
            last = share;
        }
        const double rate = number(profile, "success_rate");
        assert_true(rate >= 0 && rate <= 1);
        if (!strcmp(json_string_value(json_object_get(profile, "solver")), "lemke")) assert_true(rate == 1);
    }
    json_decref(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_profiles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_case_is_complete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_default_set_is_measured, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_path_is_measured, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scenes_are_given_by_name_or_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_are_written_as_markdown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_somebody_wrote_is_not_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_impact_without_approach_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
