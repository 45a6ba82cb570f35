// SPDX-License-Identifier: Apache-2.0
// Friction cones: numbers of edges, and their directions.
#include <math.h>
#include <stdio.h>

#include "impact_support.h"

static void test_numbers_of_cone_edges(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 36, 0);
    carom_impact *planar = support_random_impact(&stream, FAMILY_PLAIN, 3, 1, 1);
    carom_impact *spatial = support_random_impact(&stream, FAMILY_PLAIN, 3, 2, 1);
    const int64_t refused[] = {-4, 0, 2, 3, 5, 63, 65, 66, 4294967300, INT64_MIN, INT64_MAX};
    carom_error error;
    int edges;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char fragment[64];
        snprintf(fragment, sizeof fragment, "cone_edges: %lld is not an even number between 4 and 64", (long long)refused[i]);
        assert_refused(carom_impact_cone_edges(spatial, refused[i], &edges, &error), CAROM_BAD_INPUT, error, fragment);
        assert_ok(carom_impact_cone_edges(planar, refused[i], &edges, &error), error);
        assert_int_equal(edges, 2);
    }
    for (int64_t asked = CAROM_MIN_CONE_EDGES; asked <= CAROM_MAX_CONE_EDGES; asked += 2) {
        assert_ok(carom_impact_cone_edges(spatial, asked, &edges, &error), error);
        assert_int_equal(edges, asked);
    }
    carom_impact_free(planar);
    carom_impact_free(spatial);
}

static void test_cone_directions(void **state) {
    (void)state;
    double d[2 * CAROM_MAX_CONE_EDGES];
    carom_cone_directions(1, 2, d);
    assert_true(d[0] == 1 && d[1] == -1);
    // Four edges are the tangents themselves.
    const double axes[] = {1, 0, 0, 1, -1, 0, 0, -1};
    carom_cone_directions(2, 4, d);
    assert_true(same_bits(d, axes, 8));
    for (int edges = CAROM_MIN_CONE_EDGES; edges <= CAROM_MAX_CONE_EDGES; edges += 2) {
        carom_cone_directions(2, edges, d);
        assert_no_negative_zeros(d, 2 * edges);
        for (int j = 0; j < edges; j++) {
            const double angle = 2 * acos(-1) * j / edges;
            assert_close(d[2 * j], cos(angle), 1e-15);
            assert_close(d[2 * j + 1], sin(angle), 1e-15);
            assert_close(hypot(d[2 * j], d[2 * j + 1]), 1, 4e-16);
            for (int axis = 0; axis < 2; axis++) assert_true(d[2 * j + axis] == -d[2 * ((j + edges / 2) % edges) + axis]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_cone_edges),
        cmocka_unit_test(test_cone_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
