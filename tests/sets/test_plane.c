// SPDX-License-Identifier: Apache-2.0
// Hulls in the plane: against brute force, of thin sets, and of many points.
#include "support.h"

#include <math.h>
#include <stdlib.h>

static double turn(const double *x, const double *y, int64_t a, int64_t b, int64_t c) {
    return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]);
}

// A point with whole coordinates is a vertex when, seen from it towards some other point, no point is to the right or straight behind.
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_agree_with_brute_force),
        cmocka_unit_test(hulls_of_thin_sets),
        cmocka_unit_test(hulls_refuse_what_is_not_finite),
        cmocka_unit_test(hull_of_many_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
