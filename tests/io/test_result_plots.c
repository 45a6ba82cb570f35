// SPDX-License-Identifier: Apache-2.0
// Pictures of result files: all laws of one or several files, axes by name and by default.
#include "plot_support.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const carom_column sample_column[] = {{"sample", CAROM_COLUMN_INTEGER, 1, "", "index of the sample", NULL}};
static const carom_column path_column[] = {{"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s", "velocities", NULL}};
static const carom_column traced_columns[] = {{"sample", CAROM_COLUMN_INTEGER, 1, "", "index of the sample", NULL},
                                              {"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s", "velocities", NULL}};
static const carom_column result_columns[] = {{"verdict", CAROM_COLUMN_TEXT, 1, "", "how far", NULL},
                                              {"approximate", CAROM_COLUMN_INTEGER, 1, "", "outcomes that may lie outside", NULL}};

static const carom_law set_law = {.name = "halm-posa", .summary = "a set", .outcome_columns = sample_column, .outcome_column_count = 1};
static const carom_law path_law = {.name = "sequential", .summary = "paths", .outcome_columns = path_column, .outcome_column_count = 1};
static const carom_column drawn_columns[] = {{"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s", "velocities", NULL},
                                             {"draw", CAROM_COLUMN_INTEGER, 1, "", "number of the draw", NULL}};
static const carom_law drawn_law = {.name = "sequential", .summary = "paths", .outcome_columns = drawn_columns, .outcome_column_count = 2};
static const carom_law traced_law = {.name = "halm-posa", .summary = "a set", .outcome_columns = traced_columns, .outcome_column_count = 2};
static const carom_law point_law = {.name = "anitescu-potra", .summary = "a point"};

typedef struct bench {
    char *directory, *file;
    carom_registry *registry;
    carom_scene *scene;
    carom_result_writer *writer;
} bench;

static const char planar_scene[] = "name: it's a `block`\n"
                                   "matrices: {M: [[1, 0], [0, 1]], Jn: [[1, 0], [0, 1]], Jt: [[0.5, 0], [0, 0]], mu: [1, 1], v: [-1, -1], "
                                   "names: [\"left.foot\", \"B/'x`\"]}\n";

static bench start(const char *scene_text) {
    carom_error error = {0};
    bench b = {.directory = support_make_directory()};
    char *path = support_write_file(b.directory, "scene.yaml", scene_text);
    assert_ok(carom_registry_create_empty(&b.registry, &error), error);
    assert_ok(carom_scene_read(path, b.registry, &b.scene, &error), error);
    free(path);
    b.file = support_join_path(b.directory, "result.h5");
    assert_ok(carom_result_writer_create(b.file, b.scene, &b.writer, &error), error);
    return b;
}

static void close_file(bench *b) {
    carom_error error = {0};
    assert_ok(carom_result_writer_commit(b->writer, &error), error);
    carom_result_writer_free(b->writer);
    b->writer = NULL;
}

static void finish(bench *b) {
    carom_result_writer_free(b->writer);
    carom_scene_free(b->scene);
    carom_registry_free(b->registry);
    free(b->file);
    support_remove_directory(b->directory);
}

// Outcomes of one law: `velocity` gives v+ of each, and every one has a path of two impacts where the law has paths. Of samples only the
// first three have, and they may lie outside the set.
static void write_law(bench *b, const carom_law *law, int64_t count, void (*velocity)(int64_t i, double v[2])) {
    carom_error error = {0};
    const carom_impact *impact = carom_scene_impact(b->scene);
    const carom_sizes sizes = carom_impact_sizes(impact);
    carom_table *rows, *result;
    carom_sink sink;
    assert_ok(carom_outcomes_create(impact, law->outcome_columns, law->outcome_column_count, &rows, &error), error);
    for (int64_t i = 0; i < count; i++) {
        double v[2];
        velocity(i, v);
        assert_ok(carom_outcomes_add(rows, impact, v, NULL, 0, 0, &error), error);
        const double path[] = {-1, 0, -1, 0, v[0], 0, -1, 0, v[0], 0, v[1], 0};
        if (law == &path_law || law == &drawn_law) assert_ok(carom_table_set_series(rows, CAROM_OUTCOME_COLUMNS, path, 12, &error), error);
        if (law == &traced_law && i < 3) assert_ok(carom_table_set_series(rows, CAROM_OUTCOME_COLUMNS + 1, path, 12, &error), error);
    }
    assert_ok(carom_result_writer_open_law(b->writer, law, NULL, &sink, &error), error);
    assert_ok(sink.receive(sink.user, rows, &error), error);
    // Only samples say how many of them may lie outside.
    assert_ok(carom_table_create(result_columns, 1 + (law == &set_law || law == &traced_law), NULL, 0, &sizes, &result, &error), error);
    assert_ok(carom_table_add_row(result, &error), error);
    assert_ok(carom_table_set_text(result, 0, "complete", &error), error);
    if (law == &set_law || law == &traced_law) *carom_table_integers(result, 1) = law == &traced_law ? 3 : 0;
    assert_ok(carom_result_writer_close_law(b->writer, result, &error), error);
    carom_table_free(rows);
    carom_table_free(result);
}

// Uniform in a triangle.
static void in_triangle(int64_t i, double v[2]) {
    carom_stream stream;
    carom_stream_start(&stream, 3, (uint64_t)i);
    v[0] = carom_stream_uniform(&stream);
    v[1] = (1 - v[0]) * carom_stream_uniform(&stream);
}

static void on_a_line(int64_t i, double v[2]) {
    v[0] = 0.25;
    v[1] = (double)i / 10;
}

static void in_a_point(int64_t i, double v[2]) {
    (void)i;
    v[0] = v[1] = 0.3;
}

// A file with the outcomes of one law.
static bench start_with(const char *scene, const carom_law *law, int64_t count, void (*velocity)(int64_t i, double v[2])) {
    bench b = start(scene);
    write_law(&b, law, count, velocity);
    close_file(&b);
    return b;
}

typedef struct reported {
    int count;
    char last[512];
} reported;

static void remember(void *user, const char *path) {
    reported *seen = user;
    seen->count++;
    snprintf(seen->last, sizeof seen->last, "%s", path);
    assert_int_equal(access(path, R_OK), 0);
}

static void all_laws_in_one_picture(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    bench b = start(planar_scene);
    carom_error error = {0};
    write_law(&b, &set_law, 5000, in_triangle);
    write_law(&b, &path_law, 2, on_a_line);
    write_law(&b, &point_law, 1, in_a_point);
    close_file(&b);
    char *prefix = support_join_path(b.directory, "plot");
    reported seen = {0};
    const carom_plot_request request = {.output = prefix, .svg = true};
    assert_ok(carom_plot_result(b.file, &request, remember, &seen, &error), error);
    assert_int_equal(seen.count, 2);
    // Normal velocities first; a slash in a contact's name is none in a file's
    assert_non_null(strstr(seen.last, "plot-Jn.left.foot-Jn.B_'x`.svg"));
    char *svg = read_text(seen.last);
    const char *const shown[] = {"halm-posa (inner approximation, 5000 samples)",
                                 "convex hull, not the set",
                                 "sequential (2 outcomes",
                                 "anitescu-potra",
                                 "before the impact",
                                 "`block`"};
    for (int i = 0; i < 6; i++) assert_non_null(strstr(svg, shown[i]));
    free(svg);
    free(prefix);
    finish(&b);
}

// Number of times that a text has a part.
static int count_text(const char *whole, const char *part) {
    int count = 0;
    for (const char *at = whole; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

// The colour of the law `sequential`.
enum { SEQUENTIAL = 0x009e73 };

// Where a colour is seen last in a picture.
static const char *find_last(const char *svg, unsigned colour) {
    char text[32];
    snprintf(text, sizeof text, "rgb(%3u, %3u, %3u)", colour >> 16, colour >> 8 & 0xff, colour & 0xff);
    const char *last = NULL;
    for (const char *at = svg; (at = strstr(at, text)); at++) last = at;
    assert_non_null(last);
    return last;
}

// Outcomes that are too many for marks lie on their paths, which are paler.
static void many_outcomes_are_on_top_of_their_paths(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    bench b = start_with(planar_scene, &path_law, 60, on_a_line);
    carom_error error = {0};
    char *picture = support_join_path(b.directory, "many.svg");
    const carom_plot_request request = {.output = picture};
    assert_ok(carom_plot_result(b.file, &request, NULL, NULL, &error), error);
    char *svg = read_text(picture);
    assert_true(find_last(svg, carom_plot_mix(SEQUENTIAL, 0xffffff, 0.4)) < find_last(svg, SEQUENTIAL));
    free(svg);
    free(picture);
    finish(&b);
}

// Paths of many draws would hide everything: the start of the first is all that is shown of them.
static void draws_have_no_arrows(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    int lines[2];
    for (int uncertain = 0; uncertain < 2; uncertain++) {
        bench b = start_with(planar_scene, uncertain ? &drawn_law : &path_law, 30, on_a_line);
        carom_error error = {0};
        char *picture = support_join_path(b.directory, "drawn.svg");
        const carom_plot_request request = {.output = picture};
        assert_ok(carom_plot_result(b.file, &request, NULL, NULL, &error), error);
        char *svg = read_text(picture);
        assert_non_null(
            strstr(svg, uncertain ? "sequential (uncertain impact: 30 outcomes)" : "sequential (30 outcomes, impact by impact)"));
        assert_non_null(strstr(svg, uncertain ? "before the impact, in the first draw" : "before the impact"));
        lines[uncertain] = count_text(svg, "<path");
        free(svg);
        free(picture);
        finish(&b);
    }
    assert_true(lines[1] + 30 <= lines[0]);
}

// Laws from several files in one picture; thin lines for the paths of samples; axes that fit the set, with an arrow to where paths begin,
// or everything.
static void files_are_laid_over_each_other(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    bench set = start_with(planar_scene, &traced_law, 50, in_triangle), point = start_with(planar_scene, &point_law, 1, in_a_point);
    char *picture = support_join_path(set.directory, "both.svg");
    const char *const overlays[] = {point.file, NULL};
    carom_plot_request request = {.axes = "Jn.left.foot,Jn.B/'x`", .output = picture, .overlays = overlays};
    for (int all = 0; all <= 1; all++) {
        request.all = all;
        assert_ok(carom_plot_result(set.file, &request, NULL, NULL, &error), error);
        char *svg = read_text(picture);
        assert_non_null(strstr(svg, "halm-posa (50 samples, 3 may lie outside)"));
        assert_non_null(strstr(svg, "3 of the samples, step by step"));
        assert_non_null(strstr(svg, "anitescu-potra"));
        // Paths begin at (-1, -1).
        assert_non_null(strstr(svg, "before the impact"));
        assert_int_equal(!strstr(svg, "before the impact \u2192\u00a0(-1,\u00a0-1)"), all);
        assert_int_equal(!strstr(svg, "<text>-1</text>"), !all);
        free(svg);
    }
    free(picture);
    finish(&set);
    finish(&point);
}

// Several planes in one picture, and one law that the picture is about.
static void panels_and_a_focus_are_named(void **state) {
    (void)state;
    carom_error error = {0};
    bench b = start(planar_scene);
    write_law(&b, &set_law, 50, in_triangle);
    write_law(&b, &point_law, 1, in_a_point);
    close_file(&b);
    static const struct {
        const char *panels, *axes, *focus, *words;
    } bad[] = {{"Jn.left.foot", NULL, NULL, "panels: 'Jn.left.foot' is not of the form X:Y"},
               {"Jn.left.foot:", NULL, NULL, "panels: 'Jn.left.foot:' is not of the form X:Y"},
               {"Jn.left.foot:Jn.C", NULL, NULL, "panels: "},
               {"Jn.left.foot:K,", NULL, NULL, "panels: '' is not of the form"},
               {"K:K", "K,K", NULL, "panels have their own axes"},
               {"K:K,K:K,K:K,K:K,K:K,K:K,K:K,K:K,K:K,K:K,K:K,K:K,K:K", NULL, NULL, "panels: a picture has 12 at most, not 13"},
               {NULL, NULL, "moreau", "holds no outcomes of 'moreau'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const carom_plot_request request = {.panels = bad[i].panels, .axes = bad[i].axes, .focus = bad[i].focus};
        assert_refused(carom_plot_result(b.file, &request, NULL, NULL, &error), CAROM_BAD_INPUT, error, bad[i].words);
    }
    if (draws_pictures()) {
        char *prefix = support_join_path(b.directory, "p");
        reported seen = {0};
        const carom_plot_request request = {
            .panels = "Jn.left.foot:Jn.B/'x`,Jt.left.foot:v.1", .output = prefix, .svg = true, .focus = "anitescu-potra", .dark = true};
        assert_ok(carom_plot_result(b.file, &request, remember, &seen, &error), error);
        assert_non_null(strstr(seen.last, "/p-panels.svg"));
        char *svg = read_text(seen.last);
        const char *const shown[] = {"(a)", "(b)", ">Jt.left.foot  [m/s]<", "halm-posa (inner approximation, 50 samples)"};
        for (int i = 0; i < 4; i++) assert_int_equal(count_text(svg, shown[i]), 1);
        free(svg);
        free(prefix);
    }
    finish(&b);
}

static void only_files_of_the_same_contacts_are_laid_over(void **state) {
    (void)state;
    carom_error error = {0};
    const char *unnamed = "matrices: {M: [[1, 0], [0, 1]], Jn: [[1, 0], [0, 1]], Jt: [[0.5, 0], [0, 0]], mu: [1, 1], v: [-1, -1]}\n";
    bench first = start_with(planar_scene, &point_law, 1, in_a_point), other = start_with(unnamed, &point_law, 1, in_a_point);
    const char *overlays[] = {other.file, NULL};
    carom_plot_request request = {.output = first.directory, .overlays = overlays};
    assert_refused(carom_plot_result(first.file, &request, NULL, NULL, &error), CAROM_BAD_INPUT, error, "its contacts are not those of");
    overlays[0] = first.directory;
    assert_int_not_equal(carom_plot_result(first.file, &request, NULL, NULL, &error), CAROM_OK);
    finish(&first);
    finish(&other);
}

static void axes_are_named(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    bench b = start_with(planar_scene, &point_law, 1, in_a_point);
    carom_error error = {0};
    char *png = support_join_path(b.directory, "chosen.png");
    reported seen = {0};
    carom_plot_request request = {.axes = "Jn.left.foot, Jt.B/'x`", .output = png};
    assert_ok(carom_plot_result(b.file, &request, remember, &seen, &error), error);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.last, png);
    assert_png(png);
    const char *const bad[] = {"", "Jn.left.foot", "Jn.C,Jn.left.foot", "Jn.left.foot;Jn.B/'x`", "Jn.left.foot,Jt.left.foot.2"};
    for (int i = 0; i < 5; i++) {
        request.axes = bad[i];
        assert_refused(carom_plot_result(b.file, &request, NULL, NULL, &error), CAROM_BAD_INPUT, error,
                       "Jn.left.foot, Jn.B/'x`, Jt.left.foot");
    }
    free(png);
    finish(&b);
}

// A picture that the user does not name has the same name whether its axes are given or chosen.
static void names_come_from_the_axes(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    bench b = start_with(planar_scene, &point_law, 1, in_a_point);
    carom_error error = {0};
    char *expected = support_join_path(b.directory, "result-Jn.left.foot-Jn.B_'x`.png");
    const char *const axes[] = {NULL, "Jn.left.foot,Jn.B/'x`"};
    for (int i = 0; i < 2; i++) {
        reported seen = {0};
        const carom_plot_request request = {.axes = axes[i]};
        assert_ok(carom_plot_result(b.file, &request, remember, &seen, &error), error);
        assert_string_equal(seen.last, expected);
        assert_png(expected);
    }
    free(expected);
    finish(&b);
}

// The name of the picture tells which axes were chosen.
static void check_default_axes(const char *scene, void (*velocity)(int64_t i, double v[2]), const char *expected) {
    bench b = start_with(scene, &set_law, 20, velocity);
    carom_error error = {0};
    char *prefix = support_join_path(b.directory, "p");
    reported seen = {0};
    const carom_plot_request request = {.output = prefix};
    assert_ok(carom_plot_result(b.file, &request, remember, &seen, &error), error);
    assert_string_equal(seen.last + strlen(prefix), expected);
    free(prefix);
    finish(&b);
}

static void default_axes_have_extent(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    // Normal velocities with extent, the one normal and a tangent, a normal velocity without extent where there is no better one
    check_default_axes("matrices: {M: [[1, 0], [0, 1]], Jn: [[1, 0], [0, 1]], Jt: [[9, 0], [0, 0]], mu: [1, 1], v: [-1, -1]}\n",
                       in_triangle, "-Jn.A-Jn.B.png");
    check_default_axes("matrices: {M: [[1, 0], [0, 1]], Jn: [[1, 0], [0, 1]], Jt: [[0, 9], [0, 1]], mu: [1, 1], v: [-1, -1]}\n", on_a_line,
                       "-Jn.B-Jt.A.png");
    check_default_axes("matrices: {M: [[1, 0], [0, 1]], Jn: [[1, 0], [0, 1]], Jt: [[0, 0], [0, 0]], mu: [1, 1], v: [-1, -1]}\n", on_a_line,
                       "-Jn.A-Jn.B.png");
    check_default_axes("matrices: {M: [[1, 0], [0, 1]], Jn: [[1, 0]], Jt: [[0, 0], [0, 1]], mu: [1], v: [-1, -1]}\n", on_a_line,
                       "-Jn.A-Jt.A.2.png");
}

static void empty_sets_are_said_to_be_empty(void **state) {
    (void)state;
    bench b = start_with(planar_scene, &set_law, 0, in_triangle);
    carom_error error = {0};
    char *prefix = support_join_path(b.directory, "p");
    const carom_plot_request request = {.output = prefix};
    assert_refused(carom_plot_result(b.file, &request, NULL, NULL, &error), CAROM_BAD_INPUT, error, "nothing to draw");
    assert_refused(carom_plot_result(prefix, &request, NULL, NULL, &error), CAROM_IO_FAILED, error, "cannot be read");
    free(prefix);
    finish(&b);
}

int main(void) {
    // A decimal comma in the caller's locale must not reach gnuplot; where there is no such locale, nothing is lost.
    setlocale(LC_ALL, "de_DE.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_laws_in_one_picture),
        cmocka_unit_test(many_outcomes_are_on_top_of_their_paths),
        cmocka_unit_test(draws_have_no_arrows),
        cmocka_unit_test(files_are_laid_over_each_other),
        cmocka_unit_test(panels_and_a_focus_are_named),
        cmocka_unit_test(only_files_of_the_same_contacts_are_laid_over),
        cmocka_unit_test(axes_are_named),
        cmocka_unit_test(names_come_from_the_axes),
        cmocka_unit_test(default_axes_have_extent),
        cmocka_unit_test(empty_sets_are_said_to_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
