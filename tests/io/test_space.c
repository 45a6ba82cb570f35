// SPDX-License-Identifier: Apache-2.0
// Pictures in space: a parallel projection that keeps lines, ratios and directions; every mark; refusals.
#include "plot_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/space.h"

// The first path of an SVG in this colour: its points, [most x 2]. Returns their number.
static int read_path(const char *svg, const char *colour, double *points, int most) {
    char start[64];
    snprintf(start, sizeof start, "<path stroke='%s'", colour);
    const char *text = strstr(svg, start);
    assert_non_null(text);
    text = strstr(text, " d='") + 4;
    int count = 0, used = 0;
    while (count < most && sscanf(text, "%*1[ML]%lf,%lf %n", &points[2 * count], &points[2 * count + 1], &used) == 2) {
        text += used;
        count++;
    }
    return count;
}

// From the origin along the three axes, and to the middle of the first edge. One more line ends on that middle.
static void axes_have_their_directions(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.svg");
    const double edges[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 5, NAN, NAN, NAN}, middle[] = {0, 0, 0, 0.5, 0, 0};
    const carom_space_series series[] = {{"edges", CAROM_PLOT_LINE, 0, 5, edges}, {"half", CAROM_PLOT_LINE, 1, 2, middle}};
    const carom_space_plot plot = {.title = "a title", .label = {"first", "second", "third"}, .series = series, .series_count = 2};
    assert_ok(carom_space_write(&plot, path, &error), error);
    char *svg = read_text(path);
    for (int i = 0; i < 3; i++) assert_non_null(strstr(svg, plot.label[i]));
    assert_non_null(strstr(svg, "edges"));
    double at[8], half[4];
    assert_int_equal(read_path(svg, "rgb(  0, 114, 178)", at, 4), 4);
    assert_int_equal(read_path(svg, "rgb(213,  94,   0)", half, 2), 2);
    // y of an SVG grows downwards: the first axis comes to the right and nearer, the second goes to the right and back, the third up.
    assert_true(at[2] > at[0] && at[3] > at[1]);
    assert_true(at[4] > at[2] && at[5] < at[3]);
    assert_close(at[6], at[4], 1e-4);
    assert_true(at[7] < at[5] - 100);
    for (int k = 0; k < 2; k++) assert_close(half[2 + k], 0.5 * (at[k] + at[2 + k]), 1e-4);
    free(svg);

    // A hull is what is seen of a body: of a box, and a point inside, six corners.
    double box[27] = {0.5, 0.5, 0.5};
    for (int i = 0; i < 24; i++) box[3 + i] = i / 3 >> (i % 3) & 1;
    const carom_space_series hull = {"box", CAROM_PLOT_AREAS, 1, 9, box};
    const carom_space_plot solid = {.title = "", .label = {"", "", ""}, .series = &hull, .series_count = 1};
    assert_ok(carom_space_write(&solid, path, &error), error);
    svg = read_text(path);
    double outline[2 * 12];
    assert_int_equal(read_path(svg, "rgb(213,  94,   0)", outline, 12), 7);  // the first again closes it
    free(svg);
    free(path);
    support_remove_directory(directory);
}

// Whatever there is to draw, at every size: marks of every look, single points, flat boxes.
static void pictures_of_any_points(void **state) {
    (void)state;
    if (!draws_pictures()) skip();
    carom_error error = {0};
    char *directory = support_make_directory(), *path = support_join_path(directory, "a.svg");
    const double points[] = {1e-9, 2e-9, 0, 1e-9, 3e-9, 0, NAN, NAN, NAN, 1e-9, 2e-9, 4};
    carom_space_series series[CAROM_PLOT_LOOKS + 1];
    for (int i = 0; i < CAROM_PLOT_LOOKS; i++) series[i] = (carom_space_series){"mark", CAROM_PLOT_MARKS, i, 1, points};
    series[CAROM_PLOT_LOOKS] = (carom_space_series){"", CAROM_PLOT_ARROWS, 0, 2, points};
    carom_space_plot plot = {.title = "", .label = {"x", "y", "z"}, .series = series, .series_count = CAROM_PLOT_LOOKS + 1};
    for (int i = 0; i < 3; i++) {
        plot.size = (carom_plot_size){i ? 40 * i : 0, i ? 40 : 0};
        assert_ok(carom_space_write(&plot, path, &error), error);
        assert_int_equal(unlink(path), 0);
    }
    for (int style = CAROM_PLOT_TRACES; style <= CAROM_PLOT_AREAS; style++)
        for (int count = 1; count <= 4; count++) {
            series[0] = (carom_space_series){"", (carom_plot_style)style, 2, count, points};
            plot.series_count = 1;
            assert_ok(carom_space_write(&plot, path, &error), error);
        }

    series[0].style = CAROM_PLOT_DASHES;
    series[0].label = "hull";
    assert_refused(carom_space_write(&plot, path, &error), CAROM_BAD_INPUT, error, "'hull' has a style");
    plot.series_count = 0;
    assert_refused(carom_space_write(&plot, path, &error), CAROM_BAD_INPUT, error, "nothing to draw");
    assert_refused(carom_space_write(&plot, "a.bmp", &error), CAROM_BAD_INPUT, error, ".png, .svg or .pdf");
    free(path);
    support_remove_directory(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes_have_their_directions), cmocka_unit_test(pictures_of_any_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
