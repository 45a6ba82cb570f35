// SPDX-License-Identifier: Apache-2.0
// Exact sets in files and pictures, as a law, and by the command; what is said without PPL.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exact_support.h"

static int run_command(const char *arguments) {
    const char *build = getenv("CAROM_BUILD");
    char command[2048];
    snprintf(command, sizeof command, "%s/carom %s", build ? build : "build", arguments);
    return system(command);
}

static void a_file_gives_the_pieces_back(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *scene = support_write_file(directory, "block.json",
                                     "{\"matrices\": {\"M\": [[1,0,0],[0,1,0],[0,0,\"5/12\"]], \"Jn\": [[0,1,\"-1/2\"],[0,1,\"1/2\"]],"
                                     " \"Jt\": [[1,0,1],[1,0,1]], \"mu\": [1,1], \"v\": [0,-0.4429,0]}}");
    char arguments[1024], path[512];
    snprintf(path, sizeof path, "%s/set.h5", directory);
    snprintf(arguments, sizeof arguments, "exact %s -o %s --export %s/set.txt --json > %s/set.json", scene, path, directory, directory);
    assert_int_equal(run_command(arguments), 0);
    carom_result *result;
    carom_error error;
    assert_ok(carom_result_open(path, &result, &error), error);
    carom_polyhedra *pieces;
    char certificate[CAROM_CERTIFICATE_SIZE];
    assert_ok(carom_result_read_polyhedra(result, 0, &pieces, certificate, &error), error);
    carom_result_close(result);
    assert_non_null(pieces);
    assert_string_equal(certificate, "exact");
    carom_exact_set *set = solve_scene(&block);
    assert_int_equal(pieces->count, 2);
    assert_same_set(pieces, set->pieces, 1e-15);
    carom_exact_set_free(set);
    carom_polyhedra_free(pieces);
    free(scene);
    support_remove_directory(directory);
}

// What is uncertain in a scene: the file has the set of the box, and intervals of friction make it an outer one. Other uncertain numbers
// are refused in one line.
static void uncertain_scenes(void **state) {
    (void)state;
    static const char *const uncertain[] = {
        "\"velocity\": {\"box\": [0.05, 0, 0.05]}",
        "\"velocity\": {\"vertices\": [[0, -0.4, 0], [0.1, -0.5, 0]]}, \"friction\": {\"c1\": [0.5, 1]}",
        "\"mass\": {\"scale\": [0.9, 1.1]}"};
    static const char *const certificates[] = {"exact", "outer", "exact"};
    char *directory = support_make_directory();
    for (int i = 0; i < 3; i++) {
        char text[1024], arguments[1024], path[512], certificate[CAROM_CERTIFICATE_SIZE];
        snprintf(text, sizeof text,
                 "{\"matrices\": {\"M\": [[1,0,0],[0,1,0],[0,0,\"5/12\"]], \"Jn\": [[0,1,\"-1/2\"],[0,1,\"1/2\"]],"
                 " \"Jt\": [[1,0,1],[1,0,1]], \"mu\": [1,1], \"v\": [0,-0.4429,0], \"names\": [\"c1\", \"c2\"]},"
                 " \"uncertain\": {%s}}",
                 uncertain[i]);
        char *scene = support_write_file(directory, "uncertain.json", text);
        snprintf(path, sizeof path, "%s/set%d.h5", directory, i);
        snprintf(arguments, sizeof arguments, "exact %s -o %s > /dev/null", scene, path);
        assert_int_equal(run_command(arguments), 0);
        carom_result *result;
        carom_error error;
        carom_polyhedra *pieces;
        assert_ok(carom_result_open(path, &result, &error), error);
        assert_ok(carom_result_read_polyhedra(result, 0, &pieces, certificate, &error), error);
        carom_result_close(result);
        assert_string_equal(certificate, certificates[i]);
        carom_exact_set *point = solve_scene(&block);
        if (i != 1) assert_true(worst_excess(point->pieces, pieces) <= 1e-12);
        if (i == 2) assert_same_set(pieces, point->pieces, 1e-15);
        carom_exact_set_free(point);
        carom_polyhedra_free(pieces);
        if (carom_bound_glpk_version()) {
            snprintf(arguments, sizeof arguments, "bound %s --max Jn.c1 --walks 10 --json > %s/bound.json", scene, directory);
            assert_int_equal(run_command(arguments), 0);
        }
        free(scene);
    }
    // The pose of a model.
    size_t size;
    char *block_scene = support_read_file("scenes/block.yaml", &size), *model = support_read_file("scenes/block.xml", &size);
    char *copy = malloc(strlen(block_scene) + 100), errors[2048], arguments[1024];
    sprintf(copy, "%s\nuncertain: {qpos: {box: [0.01, 0, 0]}}\n", block_scene);
    char *scene = support_write_file(directory, "pose.yaml", copy), *xml = support_write_file(directory, "block.xml", model);
    snprintf(arguments, sizeof arguments, "exact %s", scene);
    assert_int_equal(support_run_command(arguments, true, errors, sizeof errors), 2);
    assert_non_null(strstr(errors, "uncertain.qpos"));
    assert_non_null(strstr(errors, "carom sample"));
    free(block_scene);
    free(model);
    free(copy);
    free(scene);
    free(xml);
    support_remove_directory(directory);
}

// What solutions pass through stands beside the set, and holds it and the start; walks keep to it on their way.
static void a_file_has_what_solutions_pass_through(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char arguments[1024], path[512], certificate[CAROM_CERTIFICATE_SIZE];
    snprintf(path, sizeof path, "%s/set.h5", directory);
    snprintf(arguments, sizeof arguments, "exact scenes/compass-matrices.yaml --reached -o %s > /dev/null", path);
    assert_int_equal(run_command(arguments), 0);
    carom_result *result;
    carom_error error;
    carom_polyhedra *set, *reached;
    assert_ok(carom_result_open(path, &result, &error), error);
    assert_int_equal(carom_result_laws(result), 2);
    assert_string_equal(carom_result_law_name(result, 1), CAROM_REACHED_NAME);
    assert_ok(carom_result_read_polyhedra(result, 0, &set, certificate, &error), error);
    assert_ok(carom_result_read_polyhedra(result, 1, &reached, certificate, &error), error);
    carom_result_close(result);
    assert_string_equal(certificate, "exact");
    assert_true(reached->count > set->count);
    assert_true(worst_excess(set, reached) <= 1e-12);
    carom_impact *impact = make_impact(&compass);
    const carom_walker_options options = {.max_steps = 10000};
    carom_walker *walker;
    assert_ok(carom_walker_create(impact, &options, &walker, &error), error);
    assert_ok(carom_walker_record(walker, true, &error), error);
    for (int i = 0; i < 200; i++) {
        double v[4], impulse[4];
        int rows;
        carom_sample_counts counts = {0};
        assert_int_equal(carom_walker_run(walker, 5, i, v, impulse, &counts), CAROM_COMPLETE);
        const double *trace = carom_walker_trace(walker, &rows);
        for (int k = 0; k < rows; k++) assert_true(distance_out(reached, trace + 4 * k) <= 1e-8);
    }
    carom_walker_free(walker);
    carom_impact_free(impact);
    carom_polyhedra_free(set);
    carom_polyhedra_free(reached);
    support_remove_directory(directory);
}

// The file of a run that spent its budget has an inner set, and an outer set as a law of its own.
static void a_file_has_the_outer_set_too(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char arguments[1024], path[512], certificate[CAROM_CERTIFICATE_SIZE];
    snprintf(path, sizeof path, "%s/set.h5", directory);
    snprintf(arguments, sizeof arguments, "exact scenes/compass-matrices.yaml --pieces 30 -o %s > /dev/null", path);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 1);
    carom_result *result;
    carom_error error;
    carom_polyhedra *inner, *outer;
    assert_ok(carom_result_open(path, &result, &error), error);
    assert_int_equal(carom_result_laws(result), 2);
    assert_string_equal(carom_result_law_name(result, 1), carom_exact_outer_law.name);
    assert_ok(carom_result_read_polyhedra(result, 0, &inner, certificate, &error), error);
    assert_string_equal(certificate, "inner");
    assert_ok(carom_result_read_polyhedra(result, 1, &outer, certificate, &error), error);
    assert_string_equal(certificate, "outer");
    carom_result_close(result);
    assert_true(worst_excess(inner, outer) <= 1e-12);
    // and the whole set lies between them
    carom_exact_set *set = solve_scene(&compass);
    assert_true(worst_excess(set->pieces, outer) <= 1e-12);
    assert_true(worst_excess(set->pieces, inner) > 0.01);
    carom_exact_set_free(set);
    carom_polyhedra_free(inner);
    carom_polyhedra_free(outer);
    support_remove_directory(directory);
}

static void an_outer_set_is_not_made_up(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    carom_registry *registry;
    carom_error error;
    carom_answer answer;
    carom_exact_options options = carom_exact_defaults();
    carom_exact_set *set = solve(impact, &options);
    assert_ok(carom_registry_create(&registry, &error), error);
    options.set = &set;
    assert_refused(carom_law_resolve(&carom_exact_outer_law, &(carom_law_call){.impact = impact, .options = &options}, &answer, &error),
                   CAROM_BAD_INPUT, error, "no outer set");
    carom_exact_set_free(set);
    carom_registry_free(registry);
    carom_impact_free(impact);
}

static bool file_contains(const char *path, const char *text) {
    char content[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[size] = '\0';
    return strstr(content, text);
}

// A picture shows samples over the set; a comparison includes the set where it can be computed.
static void pictures_and_comparisons_show_the_set(void **state) {
    (void)state;
    if (!support_has("MUJOCO") || !support_has("QHULL")) skip();
    char *directory = support_make_directory();
    char arguments[1024], path[512];
    snprintf(arguments, sizeof arguments, "exact scenes/boxwall.yaml -o %s/set.h5 > /dev/null", directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "sample scenes/boxwall.yaml --samples 64 -o %s/samples.h5 > /dev/null", directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "sample scenes/boxwall.yaml --sampler walk --samples 32 -o %s/walks.h5 > /dev/null", directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "plot %s/set.h5 --overlay %s/samples.h5,%s/walks.h5 --axes Jt.A,Jn.B -o %s/set.svg > /dev/null",
             directory, directory, directory, directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(path, sizeof path, "%s/set.svg", directory);
    assert_true(file_contains(path, "halm-posa-exact (the set, 1 piece)"));
    assert_true(file_contains(path, "inner approximation, 64 samples"));
    assert_true(file_contains(path, "inner approximation, 32 walks"));
    snprintf(path, sizeof path, "%s/compare.json", directory);
    snprintf(arguments, sizeof arguments, "compare scenes/boxwall.yaml --samples 64 --json > %s", path);
    assert_int_equal(run_command(arguments), 0);
    assert_true(file_contains(path, "halm-posa-exact"));
    snprintf(arguments, sizeof arguments, "compare scenes/cube-k4.yaml --samples 64 --json > %s", path);
    assert_int_equal(run_command(arguments), 0);
    assert_false(file_contains(path, "halm-posa-exact"));
    support_remove_directory(directory);
}

static void the_command_reports(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *scene =
        support_write_file(directory, "compass.json", "{\"delassus\": {\"W\": [[1, 0.2], [0.2, 1]], \"u\": [-1, 0.5], \"mu\": [0.5]}}");
    char arguments[1024];
    snprintf(arguments, sizeof arguments, "exact %s --json > %s/out.json", scene, directory);
    assert_int_equal(run_command(arguments), 0);
    snprintf(arguments, sizeof arguments, "exact %s --pieces 1 > %s/out.txt", scene, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 1);
    snprintf(arguments, sizeof arguments, "exact %s --mode wrong 2> %s/err.txt", scene, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 2);
    // two outputs need two files
    snprintf(arguments, sizeof arguments, "exact %s -o %s/both --export %s/both 2> %s/err.txt", scene, directory, directory, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 2);
    snprintf(arguments, sizeof arguments, "%s/both", directory);
    assert_int_equal(access(arguments, F_OK), -1);
    // a scene is not replaced by an export
    snprintf(arguments, sizeof arguments, "exact %s --export %s 2> %s/err.txt", scene, scene, directory);
    assert_int_equal(WEXITSTATUS(run_command(arguments)), 2);
    free(scene);
    support_remove_directory(directory);
}

static void absence_is_said(void **state) {
    (void)state;
    carom_impact *impact = make_impact(&block);
    const carom_exact_options options = carom_exact_defaults();
    carom_exact_set *set;
    carom_error error;
    assert_refused(carom_exact_solve(impact, &options, NULL, &set, &error), CAROM_UNSUPPORTED, error, "libppl-dev");
    carom_impact_free(impact);
    assert_int_equal(WEXITSTATUS(run_command("resolve --list > /dev/null")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_the_pieces_back),
        cmocka_unit_test(a_file_has_the_outer_set_too),
        cmocka_unit_test(uncertain_scenes),
        cmocka_unit_test(a_file_has_what_solutions_pass_through),
        cmocka_unit_test(an_outer_set_is_not_made_up),
        cmocka_unit_test(pictures_and_comparisons_show_the_set),
        cmocka_unit_test(the_command_reports),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(absence_is_said)};
    return carom_exact_available() ? cmocka_run_group_tests(tests, NULL, NULL) : cmocka_run_group_tests(without, NULL, NULL);
}
