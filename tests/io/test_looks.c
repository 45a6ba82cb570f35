// SPDX-License-Identifier: Apache-2.0
// Colours, marks and axes of pictures: every law has a look of its own, whatever it is drawn with.
#include <math.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_has_a_look_of_its_own), cmocka_unit_test(what_has_no_look_takes_a_free_one),
        cmocka_unit_test(marks_on_one_point_stay_visible), cmocka_unit_test(the_axes_are_those_that_show_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
