// SPDX-License-Identifier: Apache-2.0
// Shapes of parts, meshes and tables: mass properties against closed forms, support points against sampled points, what is refused.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/vector3.h"
#include "support.h"

static const double PI = 3.14159265358979323846;
static const double UNTURNED[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, TURNED[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};

// Corners in the order of bits, and the two triangles of each side, outwards.
static const int BOX_TRIANGLES[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};

static void make_box(const double sides[3], const double center[3], double vertex[24]) {
    for (int i = 0; i < 24; i++) vertex[i] = center[i % 3] + (i / 3 >> i % 3 & 1 ? 0.5 : -0.5) * sides[i % 3];
}

static carom_part turned_part(const double *semiaxes, const double *vertex, const double center[3], const double rotation[9]) {
    carom_part part = {.semiaxes = semiaxes, .vertices = vertex ? 8 : 0, .vertex = vertex};
    memcpy(part.center, center, sizeof part.center);
    memcpy(part.rotation, rotation, sizeof part.rotation);
    return part;
}

static carom_mass_properties mass_of(const carom_shape_data *shape) {
    carom_mass_properties mass;
    carom_error error;
    assert_ok(carom_shape_mass(shape, &mass, &error), error);
    assert_true(mass.known);
    return mass;
}

static carom_body *body_of(const carom_shape_data *shape, const double *inertia) {
    carom_body *body;
    carom_error error;
    const carom_body_data data = {.mass = 1, .inertia = inertia, .shape = *shape};
    assert_ok(carom_body_create(&data, &body, &error), error);
    return body;
}

static void random_direction(carom_stream *stream, double u[3]) {
    for (int k = 0; k < 3; k++) u[k] = carom_stream_normal(stream);
    const double length = carom_norm3(u);
    for (int k = 0; k < 3; k++) u[k] /= length;
}

// ---------------------------------------------------------------------------------------------------------------- mass

// Triangles of a box, in either sense; a notched block, which is not convex; and a surface with a hole.
static void meshes_have_volume_integrals(void **state) {
    (void)state;
    const double sides[] = {2, 3, 4}, center[] = {0.5, -1, 2};
    double vertex[24];
    int inwards[36];
    make_box(sides, center, vertex);
    for (int i = 0; i < 36; i++) inwards[i] = BOX_TRIANGLES[i / 3 * 3 + 2 - i % 3];
    const double inertia[9] = {25.0 / 12, 0, 0, 0, 20.0 / 12, 0, 0, 0, 13.0 / 12};
    const int *const senses[] = {BOX_TRIANGLES, inwards};
    for (int i = 0; i < 2; i++) {
        const carom_mass_properties mass =
            mass_of(&(carom_shape_data){.vertices = 8, .vertex = vertex, .triangles = 12, .triangle = senses[i]});
        assert_close(mass.volume, 24, 1e-13);
        assert_all_close(mass.centroid, center, 3, 1e-13);
        assert_all_close(mass.inertia, inertia, 9, 1e-12);
    }
    // Two boxes that meet in a side, each closed: together a step.
    double step[48];
    int triangle[72];
    make_box((double[]){2, 1, 1}, (double[]){0, 0, 0}, step);
    make_box((double[]){1, 1, 1}, (double[]){0.5, 0, 1}, step + 24);
    for (int i = 0; i < 72; i++) triangle[i] = BOX_TRIANGLES[i % 36] + (i < 36 ? 0 : 8);
    const carom_mass_properties mass = mass_of(&(carom_shape_data){.vertices = 16, .vertex = step, .triangles = 24, .triangle = triangle});
    assert_close(mass.volume, 3, 1e-14);
    assert_all_close(mass.centroid, ((double[]){1.0 / 6, 0, 1.0 / 3}), 3, 1e-14);
    // Second moments about the origin: boxes of volume 2 and 1 with centers 0 and (1/2, 0, 1).
    const double xx = (2 * 4.0 / 12 + 1.0 / 12 + 0.25) / 3 - 1.0 / 36, yy = 1.0 / 12, zz = (2.0 / 12 + 1.0 / 12 + 1) / 3 - 1.0 / 9;
    const double xz = 0.5 / 3 - 1.0 / 18;
    assert_all_close(mass.inertia, ((double[]){yy + zz, 0, -xz, 0, xx + zz, 0, -xz, 0, xx + yy}), 9, 1e-14);
    carom_mass_properties unknown;
    carom_error error;
    assert_refused(carom_shape_mass(&(carom_shape_data){.vertices = 8, .vertex = vertex, .triangles = 11, .triangle = BOX_TRIANGLES},
                                    &unknown, &error),
                   CAROM_BAD_INPUT, error, "mesh: its surface is not closed");
    inwards[35] = 8;
    assert_refused(
        carom_shape_mass(&(carom_shape_data){.vertices = 8, .vertex = vertex, .triangles = 12, .triangle = inwards}, &unknown, &error),
        CAROM_BAD_INPUT, error, "mesh: triangle 11 has corner 8");
}

// A turned ellipsoid has the turned inertia. Two boxes that overlap are the box that they fill, in any attitude. Half a ball: V = 2 pi/3
// r^3, centroid 3/8 r, inertia 2/5 r^2 about its axis and 83/320 r^2 across.
static void parts_have_their_mass(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4}, center[] = {1, -2, 0.5}, origin[3] = {0}, radius = 1.5, ball[] = {radius, radius, radius};
    const carom_part ellipsoid = turned_part(semiaxes, NULL, center, TURNED);
    carom_mass_properties mass = mass_of(&(carom_shape_data){.parts = 1, .part = &ellipsoid});
    double expected[9] = {0};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) expected[i] += TURNED[i / 3 * 3 + k] * TURNED[i % 3 * 3 + k] * ((double[]){5, 4, 2.6})[k];
    assert_close(mass.volume, 4.0 / 3 * PI * 24, 1e-10);
    assert_all_close(mass.centroid, center, 3, 1e-10);
    assert_all_close(mass.inertia, expected, 9, 1e-10);

    double left[24], right[24], whole[24], half[24];
    make_box((double[]){2, 1, 1.5}, (double[]){-0.5, 0, 0}, left);
    make_box((double[]){2, 1, 1.5}, (double[]){0.5, 0, 0}, right);
    make_box((double[]){3, 1, 1.5}, origin, whole);
    make_box((double[]){4, 4, 2}, (double[]){0, 0, 1}, half);
    const carom_part boxes[] = {turned_part(NULL, left, center, TURNED), turned_part(NULL, right, center, TURNED)};
    const carom_part box = turned_part(NULL, whole, center, TURNED);
    const carom_mass_properties united = mass_of(&(carom_shape_data){.parts = 2, .part = boxes}),
                                single = mass_of(&(carom_shape_data){.parts = 1, .part = &box});
    assert_close(united.volume, 4.5, 1e-10);
    assert_close(single.volume, 4.5, 1e-14);
    assert_all_close(united.centroid, center, 3, 1e-10);
    assert_all_close(united.inertia, single.inertia, 9, 1e-10);
    const carom_mass_properties common = mass_of(&(carom_shape_data){.parts = 2, .part = boxes, .combine = CAROM_COMBINE_INTERSECTION});
    assert_close(common.volume, 1.5, 1e-13);
    assert_all_close(common.centroid, center, 3, 1e-13);

    const carom_part halves[] = {turned_part(ball, NULL, origin, UNTURNED), turned_part(NULL, half, origin, UNTURNED)};
    mass = mass_of(&(carom_shape_data){.parts = 2, .part = halves, .combine = CAROM_COMBINE_INTERSECTION});
    const double across = 83.0 / 320 * radius * radius, along = 0.4 * radius * radius;
    assert_close(mass.volume, 2.0 / 3 * PI * radius * radius * radius, 1e-10);
    assert_all_close(mass.centroid, ((double[]){0, 0, 3.0 / 8 * radius}), 3, 1e-10);
    assert_all_close(mass.inertia, ((double[]){across, 0, 0, 0, across, 0, 0, 0, along}), 9, 1e-10);
}

// ------------------------------------------------------------------------------------------------------------- support

// No point inside all parts lies deeper than the support point, which lies inside all of them itself: so it is the deepest.
static void intersections_touch_with_their_deepest_point(void **state) {
    (void)state;
    enum { SAMPLES = 20000 };
    const int count = support_count(4, 20, 100);
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    int rims = 0;
    for (int round = 0; round < count; round++) {
        // Two ellipsoids and a box, turned at random about places nearby.
        double semiaxes[2][3], sides[3], vertex[24], turned[3][9];
        carom_part parts[3];
        for (int p = 0; p < 3; p++) {
            double axis[3], center[3], frame[6];
            random_direction(&stream, axis);
            carom_complete_frame3(axis, frame);
            for (int k = 0; k < 3; k++) {
                turned[p][3 * k] = axis[k];
                turned[p][3 * k + 1] = frame[k];
                turned[p][3 * k + 2] = frame[3 + k];
                center[k] = 0.3 * carom_stream_normal(&stream);
                *(p < 2 ? &semiaxes[p][k] : &sides[k]) = (p < 2 ? 1 : 1.6) * (0.8 + carom_stream_uniform(&stream));
            }
            if (p == 2) make_box(sides, (double[]){0, 0, 0}, vertex);
            parts[p] = turned_part(p < 2 ? semiaxes[p] : NULL, p < 2 ? NULL : vertex, center, turned[p]);
        }
        carom_body *body = body_of(&(carom_shape_data){.parts = 3, .part = parts, .combine = CAROM_COMBINE_INTERSECTION}, UNTURNED);
        double directions[20][3], least[20];
        for (int d = 0; d < 20; d++) {
            double rho[3];
            random_direction(&stream, directions[d]);
            least[d] = carom_body_support(body, directions[d], rho);
            assert_close(carom_dot3(directions[d], rho), least[d], 1e-14);
            int touched = 0;
            for (int p = 0; p < 3; p++) {
                double apart[3], local[3], level = 0;
                for (int k = 0; k < 3; k++) apart[k] = rho[k] - parts[p].center[k];
                carom_multiply3_transposed(turned[p], apart, local);
                for (int k = 0; k < 3; k++)
                    level = p < 2 ? level + local[k] * local[k] / (semiaxes[p][k] * semiaxes[p][k])
                                  : fmax(level, fabs(2 * local[k] / sides[k]));
                assert_true(level <= 1 + 1e-12);
                touched += level >= 1 - 1e-12;
            }
            assert_true(touched >= 1);
            rims += touched > 1;
        }
        for (int s = 0; s < SAMPLES; s++) {
            double x[3];
            bool inside = true;
            for (int k = 0; k < 3; k++) x[k] = 4 * carom_stream_uniform(&stream) - 2;
            for (int p = 0; p < 3 && inside; p++) {
                double apart[3], local[3], level = 0;
                for (int k = 0; k < 3; k++) apart[k] = x[k] - parts[p].center[k];
                carom_multiply3_transposed(turned[p], apart, local);
                for (int k = 0; k < 3; k++)
                    level = p < 2 ? level + local[k] * local[k] / (semiaxes[p][k] * semiaxes[p][k])
                                  : fmax(level, fabs(2 * local[k] / sides[k]));
                inside = level <= 1;
            }
            for (int d = 0; d < 20 && inside; d++) assert_true(carom_dot3(directions[d], x) >= least[d] - 1e-12);
        }
        carom_body_free(body);
    }
    assert_true(rims >= 10 * count);
}

// The pencil of two ellipsoids and the general search find the same points.
static void the_lens_is_the_lens(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4, 4, 3, 2}, centers[] = {0.2, 0, 0, 0, 0.5, 0};
    const carom_part parts[] = {turned_part(semiaxes, NULL, centers, UNTURNED), turned_part(semiaxes + 3, NULL, centers + 3, UNTURNED)};
    carom_body *lens = body_of(
        &(carom_shape_data){.ellipsoids = 2, .semiaxes = semiaxes, .centers = centers, .combine = CAROM_COMBINE_INTERSECTION}, UNTURNED);
    carom_body *met = body_of(&(carom_shape_data){.parts = 2, .part = parts, .combine = CAROM_COMBINE_INTERSECTION}, UNTURNED);
    carom_stream stream;
    carom_stream_start(&stream, 12, 0);
    for (int i = 0; i < 500; i++) {
        double u[3], first[3], second[3];
        random_direction(&stream, u);
        assert_close(carom_body_support(lens, u, first), carom_body_support(met, u, second), 1e-13);
        for (int k = 0; k < 3; k++) assert_true(fabs(first[k] - second[k]) <= 1e-7);
    }
    carom_body_free(lens);
    carom_body_free(met);
}

// The way down along edges ends at the vertex that going through all of them finds.
static void many_vertices_are_descended(void **state) {
    (void)state;
    enum { POINTS = 6000 };
    double *points = malloc(3 * POINTS * sizeof *points);
    assert_non_null(points);
    carom_stream stream;
    carom_stream_start(&stream, 13, 0);
    for (int i = 0; i < POINTS; i++) {
        random_direction(&stream, points + 3 * i);
        for (int k = 0; k < 3; k++) points[3 * i + k] *= 1 + k;
    }
    carom_body *body = body_of(&(carom_shape_data){.vertices = POINTS, .vertex = points}, UNTURNED);
    assert_int_equal(carom_body_features(body), POINTS);
    for (int i = 0; i < 2000; i++) {
        double u[3], rho[3], least = INFINITY;
        random_direction(&stream, u);
        if (i < 6) memcpy(u, (double[]){0, 0, 0}, sizeof u), u[i / 2] = i % 2 ? -1 : 1;
        for (int p = 0; p < POINTS; p++) least = fmin(least, carom_dot3(u, points + 3 * p));
        assert_close(carom_body_support(body, u, rho), least, 1e-15);
    }
    carom_body_free(body);
    free(points);
}

// A mesh of 24,000 faces and a ball: the point inside all faces is found, and poles and corners are where they must be.
static void many_faces_meet_a_ball(void **state) {
    (void)state;
    enum { POINTS = 12002 };
    double *points = malloc(3 * POINTS * sizeof *points);
    assert_non_null(points);
    carom_stream stream;
    carom_stream_start(&stream, 14, 0);
    for (int i = 0; i < POINTS; i++) {
        random_direction(&stream, points + 3 * i);
        if (i < 2) memcpy(points + 3 * i, (const double[]){0, 0, i ? 1 : -1}, 3 * sizeof *points);
        points[3 * i] *= 1.2;
    }
    const double radii[] = {1.05, 1.05, 1.05}, origin[3] = {0};
    carom_part parts[] = {turned_part(NULL, points, origin, UNTURNED), turned_part(radii, NULL, origin, UNTURNED)};
    parts[0].vertices = POINTS;
    carom_body *body = body_of(&(carom_shape_data){.parts = 2, .part = parts, .combine = CAROM_COMBINE_INTERSECTION}, UNTURNED);
    double rho[3];
    for (int sign = -1; sign <= 1; sign += 2) {
        assert_close(carom_body_support(body, (const double[]){sign, 0, 0}, rho), -1.05, 1e-13);
        assert_close(carom_body_support(body, (const double[]){0, 0, sign}, rho), -1, 1e-13);
        // On the rim between them, near that of the ball and the smooth ellipsoid.
        const double x = sqrt(0.1025 / (1 - 1 / 1.44)), u[] = {0.48 * sign, 0, sqrt(1 - 0.48 * 0.48)};
        assert_close(carom_body_support(body, u, rho), -0.48 * x - u[2] * sqrt(1.05 * 1.05 - x * x), 3e-3);
        assert_close(carom_norm3(rho), 1.05, 1e-12);
    }
    carom_body_free(body);
    free(points);
}

// -------------------------------------------------------------------------------------------------------------- tables

// A ball by its signed distance: closed, outwards, and its errors fall with the square of the spacing.
static void tables_of_distance_are_surfaces(void **state) {
    (void)state;
    double lack[2];
    for (int fine = 0; fine < 2; fine++) {
        const int n = fine ? 41 : 21;
        double *values = malloc((size_t)(n * n * n) * sizeof *values);
        assert_non_null(values);
        const double spacing = 2.5 / (n - 1), center[] = {0.1, 0, -0.05};
        carom_level_table table = {
            .counts = {n, n, n}, .origin = {-1.25, -1.25, -1.25}, .spacing = {spacing, spacing, spacing}, .values = values};
        for (int i = 0; i < n * n * n; i++) {
            const double x[] = {i % n * spacing - 1.25 - center[0], i / n % n * spacing - 1.25 - center[1],
                                i / n / n * spacing - 1.25 - center[2]};
            values[i] = carom_norm3(x) - 1;
        }
        carom_arena arena = {0};
        carom_shape_data shape;
        carom_error error;
        assert_ok(carom_level_surface(&table, &arena, &shape, &error), error);
        const carom_mass_properties mass = mass_of(&shape);
        lack[fine] = 4.0 / 3 * PI - mass.volume;
        assert_true(lack[fine] > 0);
        assert_true(fabs(mass.centroid[0] - 0.1) < 1e-3 && fabs(mass.inertia[0] - 0.4) < 0.02);
        carom_arena_free(&arena);
        // The sphere must stay inside the table, and be there.
        table.counts[0] = n / 2;
        assert_refused(carom_level_surface(&table, &arena, &shape, &error), CAROM_BAD_INPUT, error, "reaches the edge of the table");
        table.counts[0] = table.counts[1] = table.counts[2] = 3;
        assert_refused(carom_level_surface(&table, &arena, &shape, &error), CAROM_BAD_INPUT, error, "no value of the table is negative");
        carom_arena_free(&arena);
        free(values);
    }
    assert_true(lack[0] / lack[1] > 3.5 && lack[0] / lack[1] < 4.5);
}

// A ball of radius 2 without one of the same size, one radius higher: what is left has the volume of the ball minus that of the lens
// between them, pi (4 r + d) (2 r - d)^2/12.
static void differences_are_tables(void **state) {
    (void)state;
    const double ball[] = {2, 2, 2};
    const carom_part parts[] = {turned_part(ball, NULL, (double[]){0, 0, 0}, UNTURNED),
                                turned_part(ball, NULL, (double[]){0, 0, 2}, UNTURNED)};
    carom_arena arena = {0};
    carom_shape_data shape;
    carom_error error;
    assert_ok(carom_shape_subtract(&(carom_shape_data){.parts = 2, .part = parts}, 64, &arena, &shape, &error), error);
    const carom_mass_properties mass = mass_of(&shape);
    assert_close(mass.volume, 32.0 / 3 * PI - PI * 10 * 4 / 12, 2e-3);
    assert_refused(carom_shape_subtract(&(carom_shape_data){.parts = 1, .part = parts}, 64, &arena, &shape, &error), CAROM_BAD_INPUT, error,
                   "a difference needs");
    assert_refused(carom_shape_subtract(&(carom_shape_data){.parts = 2, .part = parts}, 3, &arena, &shape, &error), CAROM_BAD_INPUT, error,
                   "resolution: 3");
    carom_arena_free(&arena);
}

// A cube by its supports along the axes, and with its corners cut at sums of two.
static void tables_of_supports_are_polyhedra(void **state) {
    (void)state;
    const double rows[14 * 4] = {1, 0, 0,  1, -2, 0,  0, 2, 0, 1,  0,  1, 0,  -1, 0, 1, 0,  0, 1,  1, 0,  0,  -1, 1, 1,  1,  1,  2,
                                 1, 1, -1, 2, 1,  -1, 1, 2, 1, -1, -1, 2, -1, 1,  1, 2, -1, 1, -1, 2, -1, -1, 1,  2, -1, -1, -1, 2};
    carom_arena arena = {0};
    carom_shape_data shape;
    carom_error error;
    assert_ok(carom_support_shape(6, rows, &arena, &shape, &error), error);
    assert_int_equal(shape.vertices, 8);
    assert_close(mass_of(&shape).volume, 8, 1e-13);
    // Eight corners are cut off, tetrahedra with three edges of length 1 at a right angle.
    assert_ok(carom_support_shape(14, rows, &arena, &shape, &error), error);
    assert_int_equal(shape.vertices, 12);
    assert_close(mass_of(&shape).volume, 8 - 8.0 / 6, 1e-12);
    assert_refused(carom_support_shape(5, rows, &arena, &shape, &error), CAROM_BAD_INPUT, error, "the faces");
    const double empty[] = {1, 0, 0, -1, -1, 0, 0, -1, 0, 1, 0, 1, 0, -1, 0, 1, 0, 0, 1, 1, 0, 0, -1, 1};
    assert_refused(carom_support_shape(6, empty, &arena, &shape, &error), CAROM_BAD_INPUT, error, "leave no volume");
    carom_arena_free(&arena);
}

static void impossible_parts_are_refused(void **state) {
    (void)state;
    const double ball[] = {1, 1, 1}, flat[] = {1, 0, 1}, origin[3] = {0}, far[] = {5, 0, 0}, mirror[] = {-1, 0, 0, 0, 1, 0, 0, 0, 1};
    const carom_part apart[] = {turned_part(ball, NULL, origin, UNTURNED), turned_part(ball, NULL, far, UNTURNED)};
    const carom_part thin = turned_part(flat, NULL, origin, UNTURNED), mirrored = turned_part(ball, NULL, origin, mirror);
    const struct {
        carom_shape_data shape;
        const char *message;
    } cases[] = {
        {{.parts = 2, .part = apart, .combine = CAROM_COMBINE_INTERSECTION}, "parts: their intersection is empty"},
        {{.parts = 1, .part = &thin}, "semiaxes: 0 of part 0"},
        {{.parts = 1, .part = &mirrored}, "rotation: that of part 0"},
        {{.parts = CAROM_MAX_PARTS + 1, .part = apart}, "parts: 65 are more than 64"},
        {{.parts = 1, .part = apart, .rounding = 0.1}, "inertia: it is not computed for rounded ellipsoids and parts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_body *body;
        carom_error error;
        const carom_body_data data = {.mass = 1, .shape = cases[i].shape};
        assert_refused(carom_body_create(&data, &body, &error), CAROM_BAD_INPUT, error, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_have_volume_integrals),
        cmocka_unit_test(parts_have_their_mass),
        cmocka_unit_test(intersections_touch_with_their_deepest_point),
        cmocka_unit_test(the_lens_is_the_lens),
        cmocka_unit_test(many_vertices_are_descended),
        cmocka_unit_test(many_faces_meet_a_ball),
        cmocka_unit_test(tables_of_distance_are_surfaces),
        cmocka_unit_test(differences_are_tables),
        cmocka_unit_test(tables_of_supports_are_polyhedra),
        cmocka_unit_test(impossible_parts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
