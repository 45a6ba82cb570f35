// SPDX-License-Identifier: Apache-2.0
// Pictures: whole PNG and SVG files for any set and any name, and long lines that keep their shape.
#include "plot_support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/plot/thin.h"

// -------------------------------------------------------------------------------------------------------------- pictures

static void pictures_of_any_set(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "set.png");
    const double colours[] = {5, 4, 3, 2, 1}, x[] = {1, 2, 3, NAN, 4}, y[] = {1, 1, 1, 2, NAN}, zero[] = {0, 0, 0, 0, 0},
                 tiny[] = {1, 1 + 1e-16, 1, 1, 1};
    const double *const pairs[][2] = {{x, y}, {y, x}, {zero, zero}, {tiny, zero}, {x, tiny}};
    for (int pair = 0; pair < 5; pair++)
        for (int style = CAROM_PLOT_DOTS; style <= CAROM_PLOT_ARROWS; style++)
            for (int64_t count = 1; count <= 5; count += 4) {
                const carom_plot_series series[] = {
                    {"set", (carom_plot_style)style, count, pairs[pair][0], pairs[pair][1]},
                    {count > 1 ? "" : NULL, CAROM_PLOT_MARKS, 1, pairs[pair][0], pairs[pair][1]},
                };
                carom_plot plot = {
                    .title = "a title", .x_label = "x", .y_label = "y", .series = series, .series_count = 2, .equal = pair % 2};
                // Only coloured dots need numbers.
                if (style == CAROM_PLOT_COLOURED)
                    assert_refused(carom_plot_write(&plot, path, &error), CAROM_BAD_INPUT, error, "coloured by numbers that are missing");
                plot.colours = style == CAROM_PLOT_COLOURED ? colours : NULL;
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
    const carom_plot plot = {.title = weird, .x_label = weird, .y_label = weird, .series = &series, .series_count = 1};
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
    const carom_plot plot = {.title = name, .x_label = name, .y_label = name, .series = &series, .series_count = 1};
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
         *odd = support_join_path(directory, "a.gif");
    const double x[] = {0, NAN};
    const carom_plot_series series = {"", CAROM_PLOT_DOTS, 1, x, x}, nothing = {"", CAROM_PLOT_DOTS, 1, x + 1, x};
    const carom_plot plot = {.title = "", .x_label = "", .y_label = "", .series = &series, .series_count = 1},
                     empty = {.title = "", .x_label = "", .y_label = "", .series = &nothing, .series_count = 1};
    assert_refused(carom_plot_write(&plot, odd, &error), CAROM_BAD_INPUT, error, ".png, .svg or .pdf");
    assert_refused(carom_plot_write(&plot, folder, &error), CAROM_IO_FAILED, error, "missing/a.png");
    char *path = support_join_path(directory, "a.png");
    assert_refused(carom_plot_write(&empty, path, &error), CAROM_BAD_INPUT, error, "nothing to draw");
    assert_int_equal(access(path, F_OK), -1);
    // A file of that name that is no picture is kept
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

// A size on paper is that of the file: 300 dots per inch in a PNG, points in a PDF; a key that needs room makes it higher, not wider.
static void sizes_are_those_on_paper(void **state) {
    (void)state;
    carom_error error = {0};
    static const struct {
        const char *text;
        double width, height;
    } sizes[] = {{"column", 84, 63}, {"page", 174, 120}, {"slide", 254, 143}, {"100x80.5", 100, 80.5}};
    static const char *const bad[] = {"",     "x",   "100",    "39x80",    "80x39",  "1001x80",
                                      "100x", "x80", "nanx80", "100x80x2", "infx80", "columns"};
    carom_plot_size size;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(carom_plot_parse_size(bad[i], &size, &error), CAROM_BAD_INPUT, error, "millimetres");
    char *directory = support_make_directory();
    const double x[] = {0, 1};
    carom_plot_series series[12];
    const carom_plot_series one = {"a label with many words, which does not fit beside others in a column", CAROM_PLOT_LINE, 2, x, x};
    for (int i = 0; i < 12; i++) series[i] = one;
    carom_plot plot = {.title = "a title that is far too long for a column of a page, so that it is broken into lines",
                       .x_label = "x",
                       .y_label = "y",
                       .series = series,
                       .series_count = 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(carom_plot_parse_size(sizes[i].text, &size, &error), error);
        assert_close(size.width, sizes[i].width, 0);
        assert_close(size.height, sizes[i].height, 0);
    }
    if (!draws_pictures()) skip();
    assert_ok(carom_plot_parse_size("column", &plot.size, &error), error);
    char *path = support_join_path(directory, "a.png");
    int heights[2];
    for (int many = 0; many < 2; many++) {
        const carom_plot_series brief = {"a", CAROM_PLOT_LINE, 2, x, x};
        const carom_plot small = {.title = "t", .x_label = "x", .y_label = "y", .series = &brief, .series_count = 1, .size = plot.size};
        plot.series_count = 12;
        assert_ok(carom_plot_write(many ? &plot : &small, path, &error), error);
        size_t bytes;
        char *png = support_read_file(path, &bytes);
        const unsigned char *header = (const unsigned char *)png;
        assert_int_equal(header[18] << 8 | header[19], 992);  // 84 mm of 300 dots per inch
        heights[many] = header[22] << 8 | header[23];
        // The picture says so: 11811 dots a metre, both ways, with the checksum of zlib.
        assert_memory_equal(header + 33, "\0\0\0\x09pHYs\0\0\x2e\x23\0\0\x2e\x23\x01\x78\xa5\x3f\x76", 21);
        assert_true(!memcmp(header + 54 + 4, "bKGD", 4) || !memcmp(header + 54 + 4, "IDAT", 4));
        free(png);
    }
    assert_int_equal(heights[0], 744);  // 63 mm
    assert_true(heights[1] > heights[0] + 300);
    free(path);

    // A PDF is 84 mm wide, that is 238.1 points, and a page where nobody asks for a size.
    path = support_join_path(directory, "a.PDF");
    assert_ok(carom_plot_write(&plot, path, &error), error);
    char *pdf = read_text(path);
    assert_memory_equal(pdf, "%PDF-", 5);
    free(pdf);
    // A PDF is replaced, another file of that name is kept.
    assert_ok(carom_plot_write(&plot, path, &error), error);
    free(support_write_file(directory, "a.PDF", "a text"));
    assert_refused(carom_plot_write(&plot, path, &error), CAROM_BAD_INPUT, error, "is not a PDF file");
    free(path);
    path = support_join_path(directory, "a.svg");
    assert_ok(carom_plot_write(&plot, path, &error), error);
    char *svg = read_text(path);
    assert_non_null(strstr(svg, "width=\"317\""));  // 84 mm of 96 units per inch
    // Every word of the long texts is there, and no letter is smaller than 8 points.
    assert_non_null(strstr(svg, "broken"));
    for (const char *font = svg; (font = strstr(font, "font-size=\"")); font++)
        assert_true(atof(font + strlen("font-size=\"")) >= 8 * 96.0 / 72 - 0.01);
    free(svg);
    free(path);
    support_remove_directory(directory);
}

// Without a size, too, long texts get several lines instead of running out of the picture.
static void long_texts_are_broken(void **state) {
    (void)state;
    carom_error error = {0};
    if (!draws_pictures()) skip();
    char words[400] = "";
    for (int i = 0; i < 60; i++) strcat(words, i ? " word" : "word");
    const double x[] = {0, 1};
    const carom_plot_series series = {"", CAROM_PLOT_LINE, 2, x, x};
    const carom_plot plot = {.title = words, .x_label = words, .y_label = words, .series = &series, .series_count = 1};
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.svg");
    assert_ok(carom_plot_write(&plot, path, &error), error);
    char *svg = read_text(path);
    int found = 0;
    for (const char *text = svg; (text = strstr(text, "<text>")); text += 6) {
        size_t length = strcspn(text + 6, "<");
        assert_true(length <= 100);
        for (; length >= 4; length -= 1, text++) found += !strncmp(text + 6, "word", 4);
    }
    assert_int_equal(found, 3 * 60);
    free(svg);
    free(path);
    support_remove_directory(directory);
}

// Places of gnuplot's marks of one shape and colour in an SVG, in its units.
static int read_marks(const char *svg, int shape, const char *colour, double (*places)[2], int room) {
    char opening[64];
    int count = 0;
    snprintf(opening, sizeof opening, "<use xlink:href='#gpPt%d' transform='translate(", shape);
    for (const char *at = svg; (at = strstr(at, opening)) && count < room; at++) {
        const char *line_end = strchr(at, '\n'), *found = strstr(at, colour);
        if (!found || found > line_end) continue;
        char *rest;
        places[count][0] = strtod(at + strlen(opening), &rest);
        places[count++][1] = strtod(rest + 1, NULL);
    }
    return count;
}

#define ORANGE "rgb(213,  94,   0)"
#define BLUE   "rgb(  0, 114, 178)"
#define GREEN  "rgb(  0, 158, 115)"

// What a picture shows is what the data say: positions are read back from the SVG, whose axes are known by two marks.
static void drawn_points_are_those_of_the_data(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    enum { POINTS = 40, DENSE = 60000 };
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.svg");
    double *x = malloc(2 * DENSE * sizeof *x), *y = x + DENSE, (*found)[2] = malloc(DENSE * sizeof *found);
    carom_stream stream;
    carom_stream_start(&stream, 5, 0);
    for (int i = 0; i < DENSE; i++) {
        x[i] = carom_stream_uniform(&stream);
        y[i] = -2 * x[i] * carom_stream_uniform(&stream);
    }
    // One sample lies alone.
    x[DENSE - 1] = 0.1;
    y[DENSE - 1] = -1.9;
    const double corner_x[] = {0, 1}, corner_y[] = {0, -2}, far_x[] = {30}, far_y[] = {-1};
    const int looks[] = {0, 1, 2};
    for (int dense = 0; dense <= 1; dense++) {
        const int64_t count = dense ? DENSE : POINTS;
        const carom_plot_series series[] = {{"dots", CAROM_PLOT_DOTS, count, x, y},
                                            {"corners", CAROM_PLOT_MARKS, 2, corner_x, corner_y},
                                            {"far", CAROM_PLOT_MARKS, 1, far_x, far_y}};
        const carom_plot plot = {
            .title = "t", .x_label = "x", .y_label = "y", .series = series, .series_count = 3, .zoom = true, .size = {84, 63}};
        assert_ok(carom_plot_write_looks(&plot, looks, path, &error), error);
        char *svg = read_text(path);
        // The key has a mark, too, at its beginning.
        double corner[4][2], far[4][2];
        assert_int_equal(read_marks(svg, 3, ORANGE, corner, 4), 3);
        assert_int_equal(read_marks(svg, 7, GREEN, far, 4), 2);
        const double *origin = corner[1], *end = corner[2];
        const double scale_x = end[0] - origin[0], scale_y = (end[1] - origin[1]) / -2;
        // Its place is near the edge, at the height where the mark is, and the key says where that is.
        assert_true(far[1][0] > end[0] && far[1][0] < 317);
        assert_close((far[1][1] - origin[1]) / scale_y, -1, 1e-3);
        assert_non_null(strstr(svg, "far \u2192\u00a0(30,\u00a0-1)"));
        const int drawn = dense ? read_marks(svg, 6, "rgb(", found, DENSE) : read_marks(svg, 6, BLUE, found, DENSE);
        assert_true(dense ? drawn > 500 && drawn < 20000 : drawn == POINTS + 1);
        bool alone = false;
        for (int k = dense ? 5 : 1; k < drawn; k++) {
            const double at[2] = {(found[k][0] - origin[0]) / scale_x, (found[k][1] - origin[1]) / scale_y};
            int64_t i = k - 1;
            // Of a dense set, dots stand at some of its points.
            for (i = dense ? 0 : i; dense && i < count; i++)
                if (fabs(x[i] - at[0]) < 2e-4 && fabs(y[i] - at[1]) < 4e-4) break;
            assert_true(i < count);
            assert_close(at[0], x[i], 2e-4);
            assert_close(at[1], y[i], 4e-4);
            alone = alone || i == DENSE - 1;
        }
        assert_int_equal(alone, dense);
        assert_int_equal(!strstr(svg, "darker: more in a dot"), !dense);
        // Numbers stand in the middle of their ticks: without a blank in the place of a sign.
        assert_non_null(strstr(svg, "<text>0</text>"));
        free(svg);
    }
    free(found);
    free(x);
    free(path);
    support_remove_directory(directory);
}

// Panels share title and key; letters say which is which; marks on one point enclose each other, and dark paper has light letters.
static void panels_share_a_key(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.svg");
    const double x[] = {0, 1}, y[] = {1, 1}, z[] = {5, 6};
    const carom_plot_series series[] = {
        {"one law", CAROM_PLOT_MARKS, 2, x, y}, {"another", CAROM_PLOT_MARKS, 1, x, y}, {"way", CAROM_PLOT_COLOURED, 2, x, y}};
    carom_plot panels[CAROM_PLOT_PANELS + 1];
    for (int k = 0; k <= CAROM_PLOT_PANELS; k++)
        panels[k] = (carom_plot){.title = "a title",
                                 .x_label = k ? "time" : "speed",
                                 .y_label = "y",
                                 .series = series,
                                 .series_count = 3,
                                 .colours = z,
                                 .colour_label = "ratio",
                                 .dark = true,
                                 .size = {174, 60}};
    const int looks[] = {1, 2, 0}, *each[] = {looks, looks, looks, looks};
    assert_ok(carom_plot_write_panels(4, panels, each, path, &error), error);
    char *svg = read_text(path);
    static const struct {
        const char *text;
        int count;
    } texts[] = {{"a title", 1}, {"one law", 1}, {"another", 1}, {"(a)", 1}, {"(d)", 1},  {"(e)", 0},
                 {"speed", 1},   {"time", 3},    {"way", 1},     {">y<", 4}, {"ratio", 4}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int count = 0;
        for (const char *at = svg; (at = strstr(at, texts[i].text)); at++) count++;
        assert_int_equal(count, texts[i].count);
    }
    assert_non_null(strstr(svg, "width=\"658\""));  // 174 mm of 96 units per inch
    for (const char *font = svg; (font = strstr(font, "font-size=\"")); font++)
        assert_true(atof(font + strlen("font-size=\"")) >= 8 * 96.0 / 72 - 0.01);
    assert_non_null(strstr(svg, "#181c20"));
    assert_null(strstr(svg, "fill=\"rgb(16,16,16)\""));
    // The square encloses the triangle on its point, and is as large as usual elsewhere.
    double first = 0, second = 0;
    const char *at = strstr(svg, "(b)");
    for (at = strstr(at, "#gpPt3' transform"); at; at = strstr(at + 1, "#gpPt3' transform")) {
        first = second;
        second = atof(strstr(at, "scale(") + strlen("scale("));
    }
    assert_close(first / second, 1 + CAROM_PLOT_RING, 0.01);
    free(svg);
    assert_refused(carom_plot_write_panels(CAROM_PLOT_PANELS + 1, panels, NULL, path, &error), CAROM_BAD_INPUT, error, "12 panels at most");
    free(path);
    support_remove_directory(directory);
}

static void a_missing_gnuplot_is_named(void **state) {
    (void)state;
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.png");
    char *search = strdup(getenv("PATH"));
    const double x[] = {0};
    const carom_plot_series series = {"", CAROM_PLOT_DOTS, 1, x, x};
    const carom_plot plot = {.title = "", .x_label = "", .y_label = "", .series = &series, .series_count = 1};
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
    // A gap stays a gap; a short line stays as it is.
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
        cmocka_unit_test(long_lines_keep_their_shape),
        cmocka_unit_test(pictures_of_any_set),
        cmocka_unit_test(names_are_shown_as_they_are),
        cmocka_unit_test(letters_without_a_font_do_no_harm),
        cmocka_unit_test(pictures_replace_only_files),
        cmocka_unit_test(sizes_are_those_on_paper),
        cmocka_unit_test(long_texts_are_broken),
        cmocka_unit_test(a_missing_gnuplot_is_named),
        cmocka_unit_test(drawn_points_are_those_of_the_data),
        cmocka_unit_test(panels_share_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
