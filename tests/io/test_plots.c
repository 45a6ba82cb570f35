// SPDX-License-Identifier: Apache-2.0
// Pictures: hulls against brute force, whole PNG and SVG files for any set and any name, axes by name and by default.
#include "support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/plot/thin.h"

// ----------------------------------------------------------------------------------------------------------------- hulls

static double turn(const double *x, const double *y, int64_t a, int64_t b, int64_t c) {
    return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]);
}

// A whole-numbered point is a vertex when some other point sees it with nothing on the right, and nothing farther along the ray.
static bool is_vertex(const double *x, const double *y, int64_t count, int64_t p) {
    for (int64_t q = 0; q < count; q++) {
        if (x[q] == x[p] && y[q] == y[p]) continue;
        bool edge = true;
        for (int64_t r = 0; r < count && edge; r++) {
            const double side = turn(x, y, p, q, r);
            const double along = (x[r] - x[p]) * (x[q] - x[p]) + (y[r] - y[p]) * (y[q] - y[p]);
            edge = side > 0 || (side == 0 && along >= 0);
        }
        if (edge) return true;
    }
    return false;
}

static int64_t count_distinct_vertices(const double *x, const double *y, int64_t count) {
    int64_t vertices = 0;
    for (int64_t p = 0; p < count; p++) {
        bool repeated = false;
        for (int64_t q = 0; q < p && !repeated; q++) repeated = x[q] == x[p] && y[q] == y[p];
        if (!repeated && is_vertex(x, y, count, p)) vertices++;
    }
    return vertices;
}

static void hulls_agree_with_brute_force(void **state) {
    (void)state;
    carom_error error = {0};
    carom_stream stream;
    enum { MOST = 40 };
    double x[MOST], y[MOST];
    int64_t hull[MOST], vertices;
    const int trials = support_count(100, 1500, 20000);
    for (int trial = 0; trial < trials; trial++) {
        carom_stream_start(&stream, 5, (uint64_t)trial);
        const int count = support_random_integer(&stream, 1, MOST), reach = support_random_integer(&stream, 1, 12);
        for (int i = 0; i < count; i++) {
            x[i] = support_random_integer(&stream, -reach, reach);
            y[i] = support_random_integer(&stream, -reach, reach);
        }
        assert_ok(carom_hull_plane(x, y, count, hull, &vertices, &error), error);
        const int64_t expected = count_distinct_vertices(x, y, count);
        assert_int_equal(vertices, expected ? expected : 1);
        for (int64_t i = 0; i < vertices && vertices > 1; i++) assert_true(is_vertex(x, y, count, hull[i]));
        for (int64_t i = 0; i < vertices && vertices > 2; i++)
            assert_true(turn(x, y, hull[i], hull[(i + 1) % vertices], hull[(i + 2) % vertices]) > 0);
    }
}

static void check_hull(const double *x, const double *y, int64_t count, int64_t expected) {
    carom_error error = {0};
    int64_t hull[64], vertices;
    assert_ok(carom_hull_plane(x, y, count, hull, &vertices, &error), error);
    assert_int_equal(vertices, expected);
}

static void hulls_of_thin_sets(void **state) {
    (void)state;
    const double square_x[] = {0, 1, 1, 0, 0.5}, square_y[] = {0, 0, 1, 1, 1};
    check_hull(square_x, square_y, 0, 0);
    check_hull(square_x, square_y, 1, 1);
    check_hull(square_x, square_y, 2, 2);
    check_hull(square_x, square_y, 5, 4);
    // Equal points, up to rounding
    const double same_x[] = {0.1 + 0.2, 0.3, 0.3}, same_y[] = {5, 5, 5};
    check_hull(same_x, same_y, 3, 1);
    // A line, up to 1e-13 of its length; the same set with visible breadth
    double line_x[50], line_y[50], broad_y[50];
    for (int i = 0; i < 50; i++) {
        line_x[i] = 0.1 * i;
        line_y[i] = 0.3 * i + (i % 2 ? 4e-13 : 0);
        broad_y[i] = 0.3 * i + (i == 25 ? 1e-6 : 0);
    }
    check_hull(line_x, line_y, 50, 2);
    check_hull(line_x, broad_y, 50, 3);
    // Far from the origin, tiny, and huge
    double x[5], y[5];
    const double scales[] = {1e-200, 1e-9, 1, 1e200}, shifts[] = {0, 1, 1e4, 0};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 5; i++) {
            x[i] = scales[k] * square_x[i] + shifts[k];
            y[i] = scales[k] * square_y[i] - shifts[k];
        }
        check_hull(x, y, 5, 4);
    }
}

static void hulls_refuse_what_is_not_finite(void **state) {
    (void)state;
    carom_error error = {0};
    const double x[] = {0, 1, NAN}, y[] = {0, INFINITY, 1}, far[] = {-1.7e308, 1.7e308};
    int64_t hull[3], vertices = 7;
    assert_refused(carom_hull_plane(x, x, 3, hull, &vertices, &error), CAROM_BAD_INPUT, error, "not finite");
    assert_int_equal(vertices, 0);
    assert_refused(carom_hull_plane(x, y, 2, hull, &vertices, &error), CAROM_BAD_INPUT, error, "not finite");
    assert_refused(carom_hull_plane(far, far, 2, hull, &vertices, &error), CAROM_BAD_INPUT, error, "too far apart");
}

static void hull_of_many_points(void **state) {
    (void)state;
    carom_error error = {0};
    const int64_t count = support_count(2000, 100000, 1000000);
    double *x = calloc((size_t)count, sizeof *x), *y = calloc((size_t)count, sizeof *y);
    int64_t *hull = calloc((size_t)count, sizeof *hull), vertices;
    carom_stream stream;
    carom_stream_start(&stream, 1, 1);
    for (int64_t i = 0; i < count; i++) {
        x[i] = carom_stream_uniform(&stream);
        y[i] = carom_stream_uniform(&stream);
    }
    assert_ok(carom_hull_plane(x, y, count, hull, &vertices, &error), error);
    assert_true(vertices > 10 && vertices < 200);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < vertices; k++) assert_true(turn(x, y, hull[k], hull[(k + 1) % vertices], i) > -1e-11);
    free(x);
    free(y);
    free(hull);
}

// -------------------------------------------------------------------------------------------------------------- pictures

static char *read_text(const char *path) {
    size_t size;
    return support_read_file(path, &size);
}

static bool draws_pictures(void) { return !system("command -v gnuplot > /dev/null"); }

// Width and height stand in the header of a PNG.
static void assert_png(const char *path) {
    unsigned char header[24];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    fclose(file);
    assert_memory_equal(header, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(header[18] << 8 | header[19], 1200);
    assert_int_equal(header[22] << 8 | header[23], 900);
}

static void pictures_of_any_set(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "set.png");
    const double x[] = {1, 2, 3, NAN, 4}, y[] = {1, 1, 1, 2, NAN}, zero[] = {0, 0, 0, 0, 0}, tiny[] = {1, 1 + 1e-16, 1, 1, 1};
    const double *const pairs[][2] = {{x, y}, {y, x}, {zero, zero}, {tiny, zero}, {x, tiny}};
    for (int pair = 0; pair < 5; pair++)
        for (int style = CAROM_PLOT_DOTS; style <= CAROM_PLOT_GUIDE; style++)
            for (int64_t count = 1; count <= 5; count += 4) {
                const carom_plot_series series[] = {
                    {"set", (carom_plot_style)style, count, pairs[pair][0], pairs[pair][1]},
                    {"", CAROM_PLOT_MARKS, 1, pairs[pair][0], pairs[pair][1]},
                };
                const carom_plot plot = {"a title", "x", "y", series, 2, false, pair % 2};
                assert_ok(carom_plot_write(&plot, path, &error), error);
                assert_png(path);
                assert_int_equal(unlink(path), 0);
            }
    free(path);
    support_remove_directory(directory);
}

static void names_are_shown_as_they_are(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "it's `touch bad` |x \xc3\xa9.svg");
    char weird[256], proof[160];
    snprintf(proof, sizeof proof, "%.140s/proof", directory);
    snprintf(weird, sizeof weird, "'`touch %s`\" {/Symbol a}_b^c $s0 @m \\n\n\x01 \xff \xe6\xb5\xb7 EOD", proof);
    const double x[] = {0, 1};
    const carom_plot_series series = {weird, CAROM_PLOT_MARKS, 2, x, x};
    const carom_plot plot = {weird, weird, weird, &series, 1, false, false};
    assert_ok(carom_plot_write(&plot, path, &error), error);
    assert_int_equal(access(proof, F_OK), -1);
    char *svg = read_text(path);
    assert_memory_equal(svg, "<?xml", 5);
    assert_non_null(strstr(svg, "{/Symbol a}_b^c $s0 @m \\n"));
    assert_non_null(strstr(svg, "\xe6\xb5\xb7 EOD"));
    free(svg);
    free(path);
    support_remove_directory(directory);
}

static size_t read_png(const char *name, const char *path, char *bytes, size_t size) {
    carom_error error = {0};
    const double x[] = {0, 1};
    const carom_plot_series series = {name, CAROM_PLOT_MARKS, 2, x, x};
    const carom_plot plot = {name, name, name, &series, 1, false, false};
    assert_ok(carom_plot_write(&plot, path, &error), error);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

// gnuplot draws characters that no font has as bars over the whole picture.
static void letters_without_a_font_do_no_harm(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.png");
    static char strange[1 << 18], plain[1 << 18];
    const size_t strange_size = read_png("a\xe6\xb5\xb7\xff\xf0\x9f\x98\x80\xc2\x85z", path, strange, sizeof strange);
    assert_int_equal(strange_size, read_png("a??? z", path, plain, sizeof plain));
    assert_memory_equal(strange, plain, strange_size);
    free(path);
    support_remove_directory(directory);
}

static void pictures_replace_only_files(void **state) {
    (void)state;
    carom_error error = {0};
    char *directory = support_make_directory(), *folder = support_join_path(directory, "missing/a.png"),
         *odd = support_join_path(directory, "a.pdf");
    const double x[] = {0, NAN};
    const carom_plot_series series = {"", CAROM_PLOT_DOTS, 1, x, x}, nothing = {"", CAROM_PLOT_DOTS, 1, x + 1, x};
    const carom_plot plot = {"", "", "", &series, 1, false, false}, empty = {"", "", "", &nothing, 1, false, false};
    assert_refused(carom_plot_write(&plot, odd, &error), CAROM_BAD_INPUT, error, ".png or .svg");
    assert_refused(carom_plot_write(&plot, folder, &error), CAROM_IO_FAILED, error, "missing/a.png");
    char *path = support_join_path(directory, "a.png");
    assert_refused(carom_plot_write(&empty, path, &error), CAROM_BAD_INPUT, error, "nothing to draw");
    assert_int_equal(access(path, F_OK), -1);
    // A text of that name is somebody's work
    free(support_write_file(directory, "a.png", "a text"));
    assert_refused(carom_plot_write(&plot, path, &error), CAROM_BAD_INPUT, error, "a.png: is not a PNG picture");
    char *left = read_text(path);
    assert_string_equal(left, "a text");
    free(left);
    free(path);
    free(folder);
    free(odd);
    support_remove_directory(directory);
}

static void a_missing_gnuplot_is_named(void **state) {
    (void)state;
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.png");
    char *search = strdup(getenv("PATH"));
    const double x[] = {0};
    const carom_plot_series series = {"", CAROM_PLOT_DOTS, 1, x, x};
    const carom_plot plot = {"", "", "", &series, 1, false, false};
    setenv("PATH", directory, 1);
    assert_refused(carom_plot_write(&plot, path, &error), CAROM_UNSUPPORTED, error, "gnuplot");
    // Another program of that name: what it says is part of the message
    char *fake = support_write_file(directory, "gnuplot", "#!/bin/sh\necho no fonts today >&2\n");
    assert_int_equal(chmod(fake, 0755), 0);
    assert_refused(carom_plot_write(&plot, path, &error), CAROM_IO_FAILED, error, "no fonts today");
    setenv("PATH", search, 1);
    assert_int_equal(access(path, F_OK), -1);
    free(search);
    free(fake);
    free(path);
    support_remove_directory(directory);
}

// --------------------------------------------------------------------------------------------------------- result files

static const carom_column sample_column[] = {{"sample", CAROM_COLUMN_INTEGER, 1, "", "index of the sample", NULL}};
static const carom_column path_column[] = {{"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s", "velocities", NULL}};
static const carom_column traced_columns[] = {{"sample", CAROM_COLUMN_INTEGER, 1, "", "index of the sample", NULL},
                                              {"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s", "velocities", NULL}};
static const carom_column verdict_column[] = {{"verdict", CAROM_COLUMN_TEXT, 1, "", "how far", NULL}};

static const carom_law set_law = {.name = "halm-posa", .summary = "a set", .outcome_columns = sample_column, .outcome_column_count = 1};
static const carom_law path_law = {.name = "sequential", .summary = "paths", .outcome_columns = path_column, .outcome_column_count = 1};
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
// first three have.
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
        if (law == &path_law) assert_ok(carom_table_set_series(rows, CAROM_OUTCOME_COLUMNS, path, 12, &error), error);
        if (law == &traced_law && i < 3) assert_ok(carom_table_set_series(rows, CAROM_OUTCOME_COLUMNS + 1, path, 12, &error), error);
    }
    assert_ok(carom_result_writer_open_law(b->writer, law, NULL, &sink, &error), error);
    assert_ok(sink.receive(sink.user, rows, &error), error);
    assert_ok(carom_table_create(verdict_column, 1, NULL, 0, &sizes, &result, &error), error);
    assert_ok(carom_table_add_row(result, &error), error);
    assert_ok(carom_table_set_text(result, 0, "complete", &error), error);
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

// Laws from several files in one picture, thin lines for the paths of samples, and axes that leave the paths out.
static void files_are_laid_over_each_other(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    bench set = start_with(planar_scene, &traced_law, 50, in_triangle), point = start_with(planar_scene, &point_law, 1, in_a_point);
    char *picture = support_join_path(set.directory, "both.svg");
    const char *const overlays[] = {point.file, NULL};
    carom_plot_request request = {.axes = "Jn.left.foot,Jn.B/'x`", .output = picture, .overlays = overlays};
    for (int focus = 0; focus <= 1; focus++) {
        request.focus = focus;
        assert_ok(carom_plot_result(set.file, &request, NULL, NULL, &error), error);
        char *svg = read_text(picture);
        assert_non_null(strstr(svg, "halm-posa (inner approximation, 50 samples)"));
        assert_non_null(strstr(svg, "3 of the samples, step by step"));
        assert_non_null(strstr(svg, "anitescu-potra"));
        // Paths begin at (-1, -1).
        assert_int_equal(!strstr(svg, "before the impact"), focus);
        assert_int_equal(!strstr(svg, "<text>-1</text>"), focus);
        free(svg);
    }
    free(picture);
    finish(&set);
    finish(&point);
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

// The same name with axes and without, where the user gives none.
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

// What the default axes are, by the name of the picture.
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
    // Normal velocities with extent, the one normal and a tangent, a normal velocity without extent for want of better
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

// -------------------------------------------------------------------------------------------------------------- long lines

// The indices that are drawn of a line between 0 and 1.
static int64_t thin(const carom_plot_series *line, int64_t *drawn) {
    int64_t total = 0;
    for (int64_t i = 0; i < line->count;) {
        int count;
        i = carom_plot_take_run(line, i, 0, 1, drawn + total, &count);
        total += count;
    }
    return total;
}

// The extremes of a line's heights within one of 2400 columns, over all points or over those that are drawn.
static void find_extremes(const carom_plot_series *line, const int64_t *drawn, int64_t count, int column, double extremes[2]) {
    extremes[0] = INFINITY, extremes[1] = -INFINITY;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = drawn ? drawn[k] : k;
        if (floor(line->x[i] / (1. / 2400)) != column) continue;
        extremes[0] = fmin(extremes[0], line->y[i]);
        extremes[1] = fmax(extremes[1], line->y[i]);
    }
}

static void long_lines_keep_their_shape(void **state) {
    (void)state;
    enum { POINTS = 60000, GAP = 30000 };
    double *x = malloc(2 * POINTS * sizeof *x), *y = x + POINTS;
    int64_t *drawn = malloc(POINTS * sizeof *drawn);
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int i = 0; i < POINTS; i++) {
        x[i] = (double)i / POINTS;
        y[i] = (i ? y[i - 1] : 0) + carom_stream_normal(&stream);
    }
    const carom_plot_series line = {"", CAROM_PLOT_LINE, POINTS, x, y};
    const int64_t count = thin(&line, drawn);
    assert_true(count <= 4 * 2400);
    assert_int_equal(drawn[0], 0);
    assert_int_equal(drawn[count - 1], POINTS - 1);
    for (int64_t k = 1; k < count; k++) assert_true(drawn[k] > drawn[k - 1]);
    for (int column = 0; column < 2400; column += 97) {
        double all[2], kept[2];
        find_extremes(&line, NULL, POINTS, column, all);
        find_extremes(&line, drawn, count, column, kept);
        assert_memory_equal(all, kept, sizeof all);
    }
    // A gap stays one; a short line stays as it is.
    y[GAP] = NAN;
    const int64_t broken = thin(&line, drawn);
    int64_t gaps = 0;
    for (int64_t k = 0; k < broken; k++) gaps += drawn[k] == GAP;
    assert_int_equal(gaps, 1);
    const carom_plot_series brief = {"", CAROM_PLOT_LINE, 9000, x, y};
    assert_int_equal(thin(&brief, drawn), 9000);
    free(drawn);
    free(x);
}

int main(void) {
    // A decimal comma in the caller's locale must not reach gnuplot; where there is no such locale, nothing is lost.
    setlocale(LC_ALL, "de_DE.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_agree_with_brute_force),
        cmocka_unit_test(hulls_of_thin_sets),
        cmocka_unit_test(hulls_refuse_what_is_not_finite),
        cmocka_unit_test(hull_of_many_points),
        cmocka_unit_test(long_lines_keep_their_shape),
        cmocka_unit_test(pictures_of_any_set),
        cmocka_unit_test(names_are_shown_as_they_are),
        cmocka_unit_test(letters_without_a_font_do_no_harm),
        cmocka_unit_test(pictures_replace_only_files),
        cmocka_unit_test(a_missing_gnuplot_is_named),
        cmocka_unit_test(all_laws_in_one_picture),
        cmocka_unit_test(files_are_laid_over_each_other),
        cmocka_unit_test(only_files_of_the_same_contacts_are_laid_over),
        cmocka_unit_test(axes_are_named),
        cmocka_unit_test(names_come_from_the_axes),
        cmocka_unit_test(default_axes_have_extent),
        cmocka_unit_test(empty_sets_are_said_to_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
