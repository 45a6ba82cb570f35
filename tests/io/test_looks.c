// SPDX-License-Identifier: Apache-2.0
// Colours, marks and axes of pictures: every law has a look of its own, whatever it is drawn with.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"
#include "support.h"

enum { MOST_LAWS = 32 };

static void every_law_has_a_look_of_its_own(void **state) {
    (void)state;
    carom_error error = {0};
    carom_registry *registry = NULL;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_exact_register(registry, &error), error);
    const int count = carom_registry_count(registry, CAROM_REGISTRY_LAWS);
    assert_in_range(count, 2, CAROM_PLOT_LOOKS);
    const char *names[MOST_LAWS];
    int together[MOST_LAWS], alone, taken[CAROM_PLOT_LOOKS] = {0};
    for (int i = 0; i < count; i++) names[i] = ((const carom_law *)carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i))->name;
    carom_plot_assign_looks(count, names, together);
    for (int i = 0; i < count; i++) {
        carom_plot_assign_looks(1, names + i, &alone);
        assert_int_equal(alone, together[i]);
        assert_int_equal(taken[together[i]]++, 0);
    }
    carom_registry_free(registry);
}

static void what_has_no_look_takes_a_free_one(void **state) {
    (void)state;
    // A law that stands there twice, a law that nobody knows, and what is of no law.
    const char *const names[] = {NULL, "anitescu-potra", "halm-posa", "halm-posa", "new-law"};
    int looks[5], taken[CAROM_PLOT_LOOKS] = {0};
    carom_plot_assign_looks(5, names, looks);
    assert_int_equal(looks[1], 1);
    assert_int_equal(looks[2], 0);
    for (int i = 0; i < 5; i++) assert_int_equal(taken[looks[i]]++, 0);
    // More than there are looks: all are looks that there are.
    const char *many[MOST_LAWS] = {NULL};
    int used[MOST_LAWS];
    carom_plot_assign_looks(MOST_LAWS, many, used);
    for (int i = 0; i < MOST_LAWS; i++) assert_in_range(used[i], 0, CAROM_PLOT_LOOKS - 1);
}

static void marks_on_one_point_stay_visible(void **state) {
    (void)state;
    for (int i = 0; i < CAROM_PLOT_LOOKS; i++)
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(carom_plot_looks[i].colour, carom_plot_looks[k].colour);
            assert_string_not_equal(carom_plot_shape_name(carom_plot_looks[i].shape), carom_plot_shape_name(carom_plot_looks[k].shape));
            assert_true(carom_plot_looks[i].size != carom_plot_looks[k].size);
        }
}

static void the_axes_are_those_that_show_most(void **state) {
    (void)state;
    int chosen[2];
    // Normal velocities before wider tangential ones; of normal ones the widest.
    const double wide[] = {0, 1, 0, 3, 0, 2, -9, 9};
    carom_plot_choose_axes(3, 4, wide, chosen);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 2);
    // One without extent, whatever rounding makes of it, comes after a tangential one with extent.
    const double narrow[] = {0, 1e-15, 0, 1, NAN, NAN, 0, 2};
    carom_plot_choose_axes(3, 4, narrow, chosen);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 3);
}

// Marks on one point enclose each other, each in a ring of its own; marks apart stay as they are; their order means nothing.
static void marks_on_one_point_enclose_each_other(void **state) {
    (void)state;
    enum { COUNT = CAROM_PLOT_LOOKS + 3 };
    double x[COUNT] = {0}, y[COUNT] = {0}, back_x[COUNT], back_y[COUNT];
    int looks[COUNT], rings[COUNT], back[COUNT], back_rings[COUNT], taken[COUNT] = {0};
    for (int i = 0; i < COUNT; i++) looks[i] = i < CAROM_PLOT_LOOKS ? i : 1;
    // A second mark of a law on the same point, one a hair beside it, and one far away; a start is inside all of them.
    x[COUNT - 2] = 0.4 * CAROM_PLOT_MARK;
    x[COUNT - 1] = 9;
    looks[COUNT - 3] = -1;
    carom_plot_nest(COUNT, x, y, looks, rings);
    for (int i = 0; i < CAROM_PLOT_LOOKS; i++) assert_int_equal(taken[rings[i]]++, 0);
    assert_int_equal(rings[COUNT - 3], 0);
    assert_int_equal(taken[0], 0);
    assert_int_equal(rings[COUNT - 2], rings[1]);
    assert_int_equal(rings[COUNT - 1], 0);
    for (int i = 0; i < COUNT; i++) {
        back_x[i] = x[COUNT - 1 - i];
        back_y[i] = y[COUNT - 1 - i];
        back[i] = looks[COUNT - 1 - i];
    }
    carom_plot_nest(COUNT, back_x, back_y, back, back_rings);
    for (int i = 0; i < COUNT; i++) assert_int_equal(back_rings[COUNT - 1 - i], rings[i]);
}

static void axes_fit_sets_and_the_marks_near_them(void **state) {
    (void)state;
    const carom_plot_window sets = {{0, 2}, {1, 2}};
    const double x[] = {2.9, 4, 1}, y[] = {1.5, 1.5, 0.4};
    carom_plot_window shown;
    // A mark within half an extent widens the window, one beyond does not; the margin is a share of the extent.
    carom_plot_fit(&sets, 3, x, y, 0.1, &shown);
    assert_close(shown.x[0], -0.29, 1e-12);
    assert_close(shown.x[1], 3.19, 1e-12);
    assert_close(shown.y[0], 0.9, 1e-12);
    assert_close(shown.y[1], 2.1, 1e-12);
    // Where the sets are one point or there are none, all marks count; an axis along which they are flat has as far a reach as the other.
    const carom_plot_window point = {{1, 1}, {1, 1 + 1e-14}}, none = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}},
                            flat = {{0, 2}, {1, 1}};
    carom_plot_fit(&point, 3, x, y, 0.1, &shown);
    assert_close(shown.x[1], 4.3, 1e-12);
    carom_plot_fit(&none, 3, x, y, 0.1, &shown);
    assert_close(shown.y[0], 0.29, 1e-12);
    carom_plot_fit(&flat, 3, x, y, 0.1, &shown);
    assert_close(shown.y[0], 0.29, 1e-12);
    assert_close(shown.x[1], 3.19, 1e-12);
    // Nothing has no extent: rounding does not fill the picture.
    carom_plot_fit(&point, 0, x, y, 0.1, &shown);
    assert_true(shown.x[0] < 1 && shown.x[1] > 1 && shown.y[1] - shown.y[0] > 0.1);
}

// Of very many points each cell that has any has one, and says how many there are.
static void dense_sets_are_shaded(void **state) {
    (void)state;
    enum { POINTS = 50000, ACROSS = 30, UP = 20 };
    carom_error error = {0};
    double *x = malloc(2 * POINTS * sizeof *x), *y = x + POINTS;
    static int64_t points[ACROSS * UP], counts[ACROSS * UP];
    int64_t kept, inside = 0, total = 0;
    int first[ACROSS][UP];
    memset(first, -1, sizeof first);
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    const carom_plot_window shown = {{0, 1}, {-1, 1}};
    for (int i = 0; i < POINTS; i++) {
        x[i] = carom_stream_normal(&stream);
        y[i] = i == 7 ? (double)NAN : carom_stream_normal(&stream);
        if (!(x[i] >= 0 && x[i] < 1 && y[i] >= -1 && y[i] < 1)) continue;
        inside++;
        int *cell = &first[(int)(ACROSS * x[i])][(int)(UP * (y[i] + 1) / 2)];
        if (*cell < 0) *cell = i;
    }
    assert_ok(carom_plot_shade(POINTS, x, y, &shown, (const int[]){ACROSS, UP}, points, counts, &kept, &error), error);
    for (int64_t k = 0; k < kept; k++) {
        total += counts[k];
        assert_true(!k || counts[k] >= counts[k - 1]);
        int *cell = &first[(int)(ACROSS * x[points[k]])][(int)(UP * (y[points[k]] + 1) / 2)];
        assert_int_equal(*cell, points[k]);
        *cell = -1;
    }
    assert_int_equal(total, inside);
    for (int i = 0; i < ACROSS * UP; i++) assert_int_equal(first[i / UP][i % UP], -1);
    // From pale to strong, in grey, too; the other way on dark paper.
    for (int64_t count = 1; count < 1024; count *= 2)
        for (int dark = 0; dark <= 1; dark++) {
            const unsigned less = carom_plot_shade_colour(0x0072b2, count, 1024, dark),
                           more = carom_plot_shade_colour(0x0072b2, 2 * count, 1024, dark);
            const int brighter = (int)(more & 0xff) + (int)(more >> 8 & 0xff) - (int)(less & 0xff) - (int)(less >> 8 & 0xff);
            assert_true(dark ? brighter > 0 : brighter < 0);
        }
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_law_has_a_look_of_its_own),
                                       cmocka_unit_test(what_has_no_look_takes_a_free_one),
                                       cmocka_unit_test(marks_on_one_point_stay_visible),
                                       cmocka_unit_test(the_axes_are_those_that_show_most),
                                       cmocka_unit_test(marks_on_one_point_enclose_each_other),
                                       cmocka_unit_test(axes_fit_sets_and_the_marks_near_them),
                                       cmocka_unit_test(dense_sets_are_shaded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
