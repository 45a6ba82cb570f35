// SPDX-License-Identifier: Apache-2.0
// What parameters say about a number: rank correlations and first-order indices.
#include "carom/sensitivity.h"

#include <math.h>

#include "support.h"

enum { COUNT = 20000 };
static double x[3][COUNT], y[COUNT];

static carom_sensitivity measure(int64_t count, const double *parameter) {
    carom_sensitivity found;
    carom_error error;
    assert_ok(carom_sensitivity_measure(count, parameter, y, &found, &error), error);
    return found;
}

// y = 4 x1 + 3 x2 + 0 x3 with uniform x: the shares of the variance are 16/25, 9/25 and 0.
static void a_sum_of_uniform_numbers(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 7, 0);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 3; k++) x[k][i] = carom_stream_uniform(&stream);
        y[i] = 4 * x[0][i] + 3 * x[1][i];
    }
    const carom_sensitivity first = measure(COUNT, x[0]), second = measure(COUNT, x[1]), third = measure(COUNT, x[2]);
    assert_int_equal(first.bins, 20);
    assert_close(first.bias, 19. / (COUNT - 1), 1e-12);
    // The bins themselves leave 1/400 of the variance that x explains inside them.
    assert_close(first.first_order, 16. / 25, .02);
    assert_close(second.first_order, 9. / 25, .02);
    assert_true(third.first_order > 0 && third.first_order < 3 * third.bias);
    assert_true(first.rank_correlation > .77 && first.rank_correlation < .81);
    assert_true(fabs(third.rank_correlation) < 5 / sqrt(COUNT));
}

// Ranks see every monotonous function alike, and equal numbers share theirs.
static void ranks(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        x[0][i] = i;
        x[1][i] = -i;
        x[2][i] = i / 50;
        y[i] = exp(i / 10.);
    }
    assert_close(measure(100, x[0]).rank_correlation, 1, 1e-14);
    assert_close(measure(100, x[1]).rank_correlation, -1, 1e-14);
    // Two groups of 50 equal numbers: the correlation of ranks is sqrt(3)/2 * 100 / sqrt(100^2 - 1).
    const carom_sensitivity grouped = measure(100, x[2]);
    assert_close(grouped.rank_correlation, sqrt(3) / 2 * 100 / sqrt(9999), 1e-12);
    assert_int_equal(grouped.bins, 2);
    assert_close(grouped.bias, 1, 0);

    // What is constant says nothing.
    for (int i = 0; i < 100; i++) x[0][i] = 3;
    const carom_sensitivity constant = measure(100, x[0]);
    assert_true(isnan(constant.rank_correlation) && isnan(constant.bias));
    assert_close(constant.first_order, 0, 1e-14);
    for (int i = 0; i < 100; i++) y[i] = -2;
    assert_true(isnan(measure(100, x[1]).first_order) && isnan(measure(100, x[1]).rank_correlation));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sum_of_uniform_numbers), cmocka_unit_test(ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
