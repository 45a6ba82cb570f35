// SPDX-License-Identifier: Apache-2.0
// Surfaces of solids: closed, turned outwards, of the right volume, where the solid is.
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/outline.h"
#include "carom/vector3.h"

static const double turned[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};

static const double cube[24] = {-1, -2, -3, 1, -2, -3, -1, 2, -3, 1, 2, -3, -1, -2, 3, 1, -2, 3, -1, 2, 3, 1, 2, 3};

// Volume by the divergence theorem, about a point that is not special.
static double volume_of(const carom_mesh *mesh) {
    double sum = 0;
    for (int t = 0; t < mesh->triangles; t++) {
        double corner[3][3], normal[3];
        for (int k = 0; k < 9; k++) corner[k / 3][k % 3] = mesh->point[3 * mesh->triangle[3 * t + k / 3] + k % 3] - 0.3 * (k % 3);
        carom_cross3(corner[1], corner[2], normal);
        sum += carom_dot3(corner[0], normal) / 6;
    }
    return sum;
}

// Every edge belongs to two triangles that go along it in opposite directions.
static void check_closed(const carom_mesh *mesh) {
    const size_t points = (size_t)mesh->points;
    signed char *edges = calloc(points * points, 1);
    for (int t = 0; t < mesh->triangles; t++)
        for (int k = 0; k < 3; k++) {
            const int from = mesh->triangle[3 * t + k], to = mesh->triangle[3 * t + (k + 1) % 3];
            assert_true(from >= 0 && from < mesh->points && from != to);
            edges[(size_t)from * points + (size_t)to]++;
        }
    for (size_t i = 0; i < points; i++)
        for (size_t j = 0; j < points; j++) {
            assert_true(edges[i * points + j] <= 1);
            assert_int_equal(edges[i * points + j], edges[j * points + i]);
        }
    free(edges);
}

static void surfaces_are_closed_and_have_the_volume(void **state) {
    (void)state;
    const double pi = 3.141592653589793;
    const struct {
        carom_solid solid;
        double volume, share;  // that the mesh lacks at most
    } cases[] = {
        {{.kind = CAROM_SOLID_SPHERE, .size = {2}}, 32 * pi / 3, 0.04},
        {{.kind = CAROM_SOLID_ELLIPSOID, .size = {1, 2, 3}}, 8 * pi, 0.04},
        {{.kind = CAROM_SOLID_ELLIPSOID, .size = {1, 1, 1}, .rounding = 1}, 32 * pi / 3, 0.04},
        {{.kind = CAROM_SOLID_CAPSULE, .size = {0.5, 2}}, pi * (1 + 0.5 / 3), 0.04},
        {{.kind = CAROM_SOLID_CYLINDER, .size = {0.5, 2}}, pi, 0.02},
        {{.kind = CAROM_SOLID_BOX, .size = {1, 2, 3}}, 48, 1e-14},
        {{.kind = CAROM_SOLID_HULL, .vertices = 8, .vertex = cube}, 48, 1e-14},
        // Box, slabs on its faces, quarters of cylinders along 48 m of edges, and a ball in its corners.
        {{.kind = CAROM_SOLID_HULL, .vertices = 8, .vertex = cube, .rounding = 0.5}, 48 + 88 * 0.5 + 48 * pi / 16 + pi / 6, 0.005},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_solid solid = cases[i].solid;
        const double position[] = {3, -1, 7};
        memcpy(solid.position, position, sizeof position);
        memcpy(solid.rotation, turned, sizeof turned);
        carom_arena arena = {0};
        carom_mesh mesh;
        carom_error error;
        assert_ok(carom_solid_mesh(&solid, 1, &arena, &mesh, &error), error);
        // A build without Qhull knows no surface of a hull.
        if (mesh.triangles || solid.kind != CAROM_SOLID_HULL) {
            check_closed(&mesh);
            const double volume = volume_of(&mesh);
            if (!(volume <= cases[i].volume * (1 + 1e-12) && volume >= cases[i].volume * (1 - cases[i].share)))
                fail_msg("case %zu: the volume is %.17g, not %.17g", i, volume, cases[i].volume);
        }
        // Points lie on both sides of the centre, at most as far as the solid reaches.
        double mean[3] = {0};
        for (int k = 0; k < 3 * mesh.points; k++) mean[k % 3] += mesh.point[k] / mesh.points;
        for (int k = 0; k < 3; k++) assert_close(mean[k], position[k], 1e-12);
        carom_arena_free(&arena);
    }
}

static void flat_and_thin_solids_have_points(void **state) {
    (void)state;
    static const double heights[] = {0, 1, 2, 3, 4, 5};
    const struct {
        carom_solid solid;
        int points, triangles;
    } cases[] = {
        {{.kind = CAROM_SOLID_SPHERE}, 1, 0},
        {{.kind = CAROM_SOLID_CAPSULE, .size = {0, 1}}, 2, 0},
        {{.kind = CAROM_SOLID_PLANE}, 4, 2},
        {{.kind = CAROM_SOLID_HULL, .vertices = 2, .vertex = cube}, 2, 0},
        {{.kind = CAROM_SOLID_HEIGHTS, .size = {1, 2}, .rows = 2, .columns = 3, .height = heights}, 6, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_solid solid = cases[i].solid;
        memcpy(solid.rotation, CAROM_IDENTITY3, sizeof solid.rotation);
        carom_arena arena = {0};
        carom_mesh mesh;
        carom_error error;
        assert_ok(carom_solid_mesh(&solid, 5, &arena, &mesh, &error), error);
        assert_int_equal(mesh.points, cases[i].points);
        assert_int_equal(mesh.triangles, cases[i].triangles);
        if (solid.kind == CAROM_SOLID_PLANE) assert_true(fabs(mesh.point[0]) == 5 && fabs(mesh.point[1]) == 5 && mesh.point[2] == 0);
        // Both grids are seen from above.
        for (int t = 0; t < mesh.triangles; t++) {
            const double *a = mesh.point + 3 * mesh.triangle[3 * t], *b = mesh.point + 3 * mesh.triangle[3 * t + 1],
                         *c = mesh.point + 3 * mesh.triangle[3 * t + 2];
            assert_true((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0);
        }
        carom_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_are_closed_and_have_the_volume),
        cmocka_unit_test(flat_and_thin_solids_have_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
