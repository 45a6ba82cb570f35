// SPDX-License-Identifier: Apache-2.0
// The shipped scenes: every one loads, those of Halm & Posa have the published matrices, counts of LCPs and sets.
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static carom_registry *registry;

static int create_registry(void **state) {
    (void)state;
    carom_error error;
    return (int)carom_registry_create(&registry, &error) || (int)carom_dynamics_register(registry, &error);
}

static int free_registry(void **state) {
    (void)state;
    carom_registry_free(registry);
    return 0;
}

static carom_scene *read_scene(const char *stem) {
    char path[256];
    snprintf(path, sizeof path, "scenes/%s.yaml", stem);
    carom_error error;
    carom_scene *scene = NULL;
    assert_ok(carom_scene_read(path, registry, &scene, &error), error);
    return scene;
}

// Reads any form. Models that no integrator moves are read for their impact.
static carom_scene *read_scene_for_motion(const char *stem) {
    char path[256];
    snprintf(path, sizeof path, "scenes/%s.yaml", stem);
    carom_error error;
    carom_scene *scene = NULL;
    const carom_status status = carom_scene_read_motion(path, registry, &scene, &error);
    if (status == CAROM_UNSUPPORTED) support_skip_missing(error.message);
    if (status == CAROM_UNSUPPORTED) return read_scene(stem);
    assert_ok(status, error);
    return scene;
}

// -------------------------------------------------------------------------------------------------------- all of them

static void every_scene_loads_without_warning(void **state) {
    (void)state;
    int scenes = 0;
    DIR *directory = opendir("scenes");
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *ending = strrchr(entry->d_name, '.');
        if (entry->d_name[0] == '.' || !ending || strcmp(ending, ".yaml") != 0) continue;
        char stem[128];
        snprintf(stem, sizeof stem, "%.*s", (int)(ending - entry->d_name), entry->d_name);
        carom_scene *scene = read_scene_for_motion(stem);
        if (carom_scene_warnings(scene)) print_error("%s: %s\n", entry->d_name, carom_scene_warning(scene, 0));
        assert_int_equal(carom_scene_warnings(scene), 0);
        carom_scene_free(scene);
        scenes++;
    }
    closedir(directory);
    assert_in_range(scenes, 10, 1000);
}

// ----------------------------------------------------------------------------------------------------------- matrices

// Every entry has its own scale; where the published one is 0, round-off of the matrix' largest entry is allowed.
static void assert_entries(const char *what, const double *actual, const double *expected, int count) {
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(expected[i]));
    for (int i = 0; i < count; i++) {
        const double allowed = expected[i] != 0 ? 1e-12 * fabs(expected[i]) : 1e-14 * largest;
        if (fabs(actual[i] - expected[i]) <= allowed) continue;
        print_error("%s, entry %d: %.17g is not %.17g\n", what, i, actual[i], expected[i]);
        fail();
    }
}

static void assert_published(const char *stem, const carom_impact_data *expected) {
    carom_scene *scene = read_scene(stem);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    const int nv = expected->nv, contacts = expected->contacts;
    assert_int_equal(data->nv, nv);
    assert_int_equal(data->contacts, contacts);
    assert_int_equal(data->tangent_dim, expected->tangent_dim);
    assert_entries("M", data->mass, expected->mass, nv * nv);
    assert_entries("Jn", data->normal, expected->normal, contacts * nv);
    assert_entries("Jt", data->tangent, expected->tangent, contacts * expected->tangent_dim * nv);
    assert_entries("mu", data->friction, expected->friction, contacts);
    assert_entries("v", data->velocity, expected->velocity, nv);
    for (int i = 0; i < contacts; i++) assert_string_equal(data->names[i], ((char[]){(char)('A' + i), '\0'}));
    assert_string_equal(carom_scene_law(scene), "halm-posa");
    carom_scene_free(scene);
}

static void scenes_of_the_paper_have_its_matrices(void **state) {
    (void)state;
    assert_published("block", &reference_block);
    assert_published("block-matrices", &reference_block);
    assert_published("boxwall", &reference_boxwall);
    assert_published("compass", &reference_compass);
    assert_published("ramone", &reference_ramone);
    assert_published("disks", &reference_disks);
}

// Halm & Posa's published code: five times the mass, and tangents (n_y, n_x) instead of (n_y, -n_x).
static void disk_variants_differ_as_they_say(void **state) {
    (void)state;
    double mass[81];
    for (int i = 0; i < 81; i++) mass[i] = 5 * reference_disks.mass[i];
    carom_impact_data expected = reference_disks;
    expected.mass = mass;
    assert_published("disks-5kg", &expected);

    // A contact's row is the velocity of its point on the second body minus that on the first, along the tangent.
    static const struct {
        int first, second;  // 0 top, 1 left, 2 right, -1 the floor
    } pairs[] = {{-1, 1}, {-1, 2}, {1, 0}, {2, 0}, {1, 2}};
    double tangent[5 * 9] = {0};
    for (int i = 0; i < 5; i++) {
        const int first = pairs[i].first, second = pairs[i].second;
        const double *normal = reference_disks.normal + 9 * i + 3 * second, t[2] = {normal[1], normal[0]};
        // A disk turning at 1 rad/s moves its point at r with (-r_y, r_x); r is -n on the second disk and n on the first.
        const double turn = normal[1] * t[0] - normal[0] * t[1];
        memcpy(tangent + 9 * i + 3 * second, (double[]){t[0], t[1], turn}, 3 * sizeof(double));
        if (first >= 0) memcpy(tangent + 9 * i + 3 * first, (double[]){-t[0], -t[1], turn}, 3 * sizeof(double));
    }
    expected.tangent = tangent;
    assert_published("disks-5kg-skewed", &expected);
}

// The corner at (x, y, -1/2) of a cube moves with v + omega x r.
static void cube_corners_move_with_the_cube(void **state) {
    (void)state;
    static const double corners[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    const double z = -0.5, sixth = 1.0 / 6;
    double normal[4 * 6], tangent[8 * 6], mass[36] = {0};
    for (int i = 0; i < 4; i++) {
        const double x = corners[i][0], y = corners[i][1];
        memcpy(normal + 6 * i, (double[]){0, 0, 1, y, -x, 0}, 6 * sizeof(double));
        memcpy(tangent + 12 * i, (double[]){1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x}, 12 * sizeof(double));
    }
    for (int i = 0; i < 6; i++) mass[7 * i] = i < 3 ? 1 : sixth;
    const carom_impact_data expected = {.nv = 6,
                                        .contacts = 4,
                                        .tangent_dim = 2,
                                        .mass = mass,
                                        .normal = normal,
                                        .tangent = tangent,
                                        .friction = (double[]){0.6, 0.6, 0.6, 0.6},
                                        .velocity = (double[]){0, 0, -1, 0, 0, 0}};
    assert_published("cube-k4", &expected);
    assert_published("cube-k8", &expected);
}

// ----------------------------------------------------------------------------------------------------------- outcomes

// Time stepping by Lemke's method, with the scene's own numbers.
static carom_sample_options options_of(const carom_scene *scene) {
    carom_sample_options options = carom_sample_defaults();
    carom_error error;
    options.sampler = CAROM_SAMPLER_LCP;
    options.method.selection = CAROM_SELECT_LEMKE;
    assert_ok(carom_scene_apply(scene, carom_sample_rows, CAROM_SAMPLE_ROWS, &options, &error), error);
    return options;
}

static carom_sample_statistics sample(const carom_scene *scene, const carom_sample_options *options, const carom_sink *sink) {
    carom_sample_statistics statistics;
    carom_error error;
    assert_ok(carom_reach_sample(carom_scene_impact(scene), options, registry, NULL, sink, &statistics, &error), error);
    assert_int_equal(statistics.counts.unsolved, 0);
    assert_true(statistics.counts.max_residual <= 1e-9);
    assert_true(statistics.max_relative_energy_gain <= 1e-12);
    return statistics;
}

// LCPs per sample with the h and N of docs/paper.md, within `tolerance` or four standard errors of fewer samples.
typedef struct lcp_count {
    const char *stem;
    int selection;
    double lcps, tolerance, deviation;  // deviation: of one sample
} lcp_count;

static void assert_lcp_count(const lcp_count *row, int samples) {
    carom_scene *scene = read_scene(row->stem);
    carom_sample_options options = options_of(scene);
    options.samples = samples;
    options.method.selection = row->selection;
    const carom_sample_statistics statistics = sample(scene, &options, NULL);
    assert_close(statistics.lcps_per_sample / row->lcps, 1, fmax(row->tolerance, 4 * row->deviation / sqrt(samples)) / row->lcps);
    carom_scene_free(scene);
}

static void disks_take_the_reference_number_of_lcps(void **state) {
    (void)state;
    static const lcp_count rows[] = {
        {"disks", CAROM_SELECT_LEMKE, 2.365, 0.02, 0.8},
        {"disks-5kg", CAROM_SELECT_LEMKE, 6.69, 0.05, 1.2},
        {"disks-5kg-skewed", CAROM_SELECT_LEMKE, 8.80, 0.06, 1.1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) assert_lcp_count(&rows[i], support_count(2048, 16384, 65536));
}

static void walkers_take_the_reference_number_of_lcps(void **state) {
    (void)state;
    static const lcp_count compass = {"compass", CAROM_SELECT_RANDOM, 2.252, 0.02, 1};
    static const lcp_count ramone = {"ramone", CAROM_SELECT_LEMKE, 3, 0.02, 1};
    assert_lcp_count(&compass, support_count(4096, 65536, 65536));
    assert_lcp_count(&ramone, support_count(4096, 32768, 65536));
}

// The solution of every step of RAMone depends on the caps, but with `lemke` every sample ends at the same velocity (docs/paper.md).
static void ramone_has_one_outcome_with_lemke(void **state) {
    (void)state;
    carom_error error;
    carom_scene *scene = read_scene("ramone");
    carom_table *outcomes;
    assert_ok(carom_outcomes_create(carom_scene_impact(scene), carom_sample_columns, CAROM_SAMPLE_COLUMNS, &outcomes, &error), error);
    carom_sample_options options = options_of(scene);
    options.samples = support_count(1024, 16384, 65536);
    const carom_sink sink = carom_table_sink(outcomes);
    const carom_sample_statistics statistics = sample(scene, &options, &sink);
    assert_int_equal(statistics.counts.terminated, options.samples);
    const double *normal = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *tangent = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
    for (int64_t row = 0; row < statistics.counts.terminated; row++) {
        assert_all_close(normal + 2 * row, ((double[]){0, 0.00033082304514997496}), 2, 1e-11);
        assert_all_close(tangent + 2 * row, ((double[]){0, -0.027350089620414408}), 2, 1e-11);
    }
    carom_table_free(outcomes);
    carom_scene_free(scene);
}

static double hull_area(const double *x, const double *y, int64_t count) {
    carom_error error;
    int64_t *hull = calloc((size_t)count, sizeof *hull), vertices = 0;
    assert_non_null(hull);
    assert_ok(carom_hull_plane(x, y, count, hull, &vertices, &error), error);
    double twice = 0;
    for (int64_t i = 0; i < vertices; i++) {
        const int64_t a = hull[i], b = hull[(i + 1) % vertices];
        twice += x[a] * y[b] - x[b] * y[a];
    }
    free(hull);
    return twice / 2;
}

// With `random` the set fills the triangle of the three Anitescu-Potra outcomes: (0, 0), (0, -0.0195163), (0.000330823, -0.0273501).
static void ramone_fills_a_triangle_with_random(void **state) {
    (void)state;
    carom_error error;
    carom_scene *scene = read_scene("ramone");
    carom_table *outcomes;
    assert_ok(carom_outcomes_create(carom_scene_impact(scene), carom_sample_columns, CAROM_SAMPLE_COLUMNS, &outcomes, &error), error);
    carom_sample_options options = options_of(scene);
    options.samples = support_count(4096, 16384, 65536);
    options.method.selection = CAROM_SELECT_RANDOM;
    const carom_sink sink = carom_table_sink(outcomes);
    const int64_t count = sample(scene, &options, &sink).counts.terminated;
    double *x = calloc((size_t)count, sizeof *x), *y = calloc((size_t)count, sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    for (int64_t row = 0; row < count; row++) {
        x[row] = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY)[2 * row + 1];
        y[row] = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY)[2 * row + 1];
        assert_true(x[row] >= -1e-8 && x[row] <= 0.000330824);
    }
    assert_close(hull_area(x, y, count) / 3.2282e-6, 1, 0.02);
    free(x);
    free(y);
    carom_table_free(outcomes);
    carom_scene_free(scene);
}

// Anitescu-Potra brings the cube to rest, with cones of either number of edges; samples lift a corner (docs/paper.md).
static void cube_comes_to_rest_or_lifts_a_corner(void **state) {
    (void)state;
    static const char *const stems[] = {"cube-k4", "cube-k8"};
    for (int i = 0; i < 2; i++) {
        carom_error error;
        carom_scene *scene = read_scene(stems[i]);
        carom_answer answer;
        const carom_law *law = carom_law_find(registry, "anitescu-potra");
        assert_ok(carom_law_resolve(law, &(carom_law_call){.impact = carom_scene_impact(scene)}, &answer, &error), error);
        assert_int_equal(carom_table_rows(answer.outcomes), 1);
        assert_all_close(carom_table_real_column(answer.outcomes, CAROM_OUTCOME_VELOCITY), (double[6]){0}, 6, 1e-14);
        carom_answer_free(&answer);

        carom_extent *extent;
        assert_ok(carom_extent_create(carom_scene_impact(scene), &extent, &error), error);
        carom_table *outcomes;
        assert_ok(carom_outcomes_create(carom_scene_impact(scene), carom_sample_columns, CAROM_SAMPLE_COLUMNS, &outcomes, &error), error);
        const carom_sink sink = carom_table_sink(outcomes);
        carom_sample_options options = options_of(scene);
        options.samples = 2048;
        assert_int_equal(options.method.cone_edges, i ? 8 : 4);
        assert_int_equal(sample(scene, &options, &sink).counts.terminated, options.samples);
        carom_extent_widen(extent, outcomes);
        for (int corner = 0; corner < 4; corner++) assert_true(extent->normal[2 * corner + 1] > 0.15);
        carom_table_free(outcomes);
        carom_extent_free(extent);
        carom_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_loads_without_warning),       cmocka_unit_test(scenes_of_the_paper_have_its_matrices),
        cmocka_unit_test(disk_variants_differ_as_they_say),        cmocka_unit_test(cube_corners_move_with_the_cube),
        cmocka_unit_test(disks_take_the_reference_number_of_lcps), cmocka_unit_test(walkers_take_the_reference_number_of_lcps),
        cmocka_unit_test(ramone_has_one_outcome_with_lemke),       cmocka_unit_test(ramone_fills_a_triangle_with_random),
        cmocka_unit_test(cube_comes_to_rest_or_lifts_a_corner),
    };
    return cmocka_run_group_tests(tests, create_registry, free_registry);
}
