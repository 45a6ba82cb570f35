// SPDX-License-Identifier: Apache-2.0
// Bodies: mass properties against closed forms and high-precision quadrature, support points against sampled boundaries, what is refused.
#include <math.h>
#include <string.h>

#include "support.h"

static const double TWO_PI = 6.283185307179586;

static carom_mass_properties mass_of(const carom_shape_data *shape) {
    carom_mass_properties mass;
    carom_error error;
    assert_ok(carom_shape_mass(shape, &mass, &error), error);
    return mass;
}

static void make_box(const double half[3], double vertex[24]) {
    for (int i = 0; i < 24; i++) vertex[i] = (i / 3 >> i % 3 & 1 ? 1 : -1) * half[i % 3];
}

// ---------------------------------------------------------------------------------------------------------------- mass

static void ellipsoids_have_their_closed_form(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4}, center[] = {1, -2, 0.5};
    const carom_mass_properties mass = mass_of(&(carom_shape_data){.ellipsoids = 1, .semiaxes = semiaxes, .centers = center});
    assert_close(mass.volume, 4.0 / 3 * TWO_PI / 2 * 24, 1e-15);
    assert_all_close(mass.centroid, center, 3, 1e-15);
    assert_all_close(mass.inertia, ((double[]){5, 0, 0, 0, 4, 0, 0, 0, 2.6}), 9, 1e-15);
}

// The quadrature, made to do what one ellipsoid's closed form does: a union with an ellipsoid inside, and an intersection with one around.
static void quadrature_agrees_with_the_closed_form(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4, 1, 1, 1}, around[] = {2, 3, 4, 30, 30, 30}, centers[] = {1, -2, 0.5, 1.5, -2, 1};
    const carom_mass_properties one = mass_of(&(carom_shape_data){.ellipsoids = 1, .semiaxes = semiaxes, .centers = centers});
    const carom_shape_data shapes[] = {{.ellipsoids = 2, .semiaxes = semiaxes, .centers = centers},
                                       {.ellipsoids = 2, .semiaxes = around, .centers = centers, .combine = CAROM_COMBINE_INTERSECTION}};
    for (int i = 0; i < 2; i++) {
        const carom_mass_properties mass = mass_of(&shapes[i]);
        assert_close(mass.volume, one.volume, 1e-10);
        assert_all_close(mass.centroid, one.centroid, 3, 1e-10);
        assert_all_close(mass.inertia, one.inertia, 9, 1e-10);
    }
}

// Two overlapping ellipsoids. The lens is the same under exchange of its first and third axes: split there, its integrand over directions
// is smooth, and Gauss quadrature in spherical coordinates gives the references.
static void unions_and_intersections_have_their_mass(void **state) {
    (void)state;
    const double pair[] = {3, 4, 5, 6, 1, 1}, centers[] = {1.5, 0, 0, -4.5, 0, 0}, lens[] = {2, 3, 4, 4, 3, 2};
    carom_mass_properties mass = mass_of(&(carom_shape_data){.ellipsoids = 2, .semiaxes = pair, .centers = centers});
    assert_close(mass.volume, 272.60063657902, 1e-10);
    assert_close(mass.centroid[0], 0.974176151023, 1e-10);
    assert_all_close(mass.inertia, ((double[]){7.593271950363, 0, 0, 0, 9.932277728290, 0, 0, 0, 8.272759576248}), 9, 1e-10);
    mass = mass_of(&(carom_shape_data){.ellipsoids = 2, .semiaxes = lens, .combine = CAROM_COMBINE_INTERSECTION});
    assert_close(mass.volume, 59.3468939521, 1e-11);
    assert_all_close(mass.inertia, ((double[]){2.7647309925, 0, 0, 0, 1.929461985, 0, 0, 0, 2.7647309925}), 9, 1e-10);
}

// Closed form of a box with half sides x, y, z rounded by e: the integral of x^2 dV; the others by exchanging the axes.
static double second_moment(double x, double y, double z, double e) {
    const double pi = TWO_PI / 2, e2 = e * e, e3 = e2 * e;
    return 8 * x * y * z * x * x / 3 + 8 * y * z * (pow(x + e, 3) - x * x * x) / 3 + (4 * e * z + 4 * e * y) * (2 * x * x * x / 3) +
           2 * pi * e2 * x * x * x / 3 + 8 * (y + z) * (pi * e2 * x * x / 4 + 2 * e3 * x / 3 + pi * e2 * e2 / 16) +
           8 * (pi * e3 * x * x / 6 + pi * e2 * e2 * x / 8 + pi * e3 * e2 / 30);
}

static void rounded_boxes_have_their_closed_form(void **state) {
    (void)state;
    const double half[] = {1, 1.5, 0.8}, e = 0.4;
    double vertex[24];
    make_box(half, vertex);
    const carom_mass_properties mass = mass_of(&(carom_shape_data){.vertices = 8, .vertex = vertex, .rounding = e});
    assert_close(mass.volume, 24.385604415297156, 1e-13);
    assert_all_close(mass.centroid, ((double[]){0, 0, 0}), 3, 1e-13);
    double squares[3];
    for (int i = 0; i < 3; i++) squares[i] = second_moment(half[i], half[(i + 1) % 3], half[(i + 2) % 3], e) / mass.volume;
    for (int i = 0; i < 3; i++) assert_close(mass.inertia[4 * i], squares[(i + 1) % 3] + squares[(i + 2) % 3], 1e-12);
    assert_close(mass.inertia[0], 1.6044910982, 1e-10);
}

// A polyhedron's mass does not depend on points inside or on its faces, and moves with it.
static void hulls_ignore_points_inside(void **state) {
    (void)state;
    const double half[] = {1, 1.5, 0.8}, shift[] = {3, -1, 2};
    double vertex[30] = {0};
    make_box(half, vertex);
    vertex[27] = 1;  // in the middle of a face
    const carom_mass_properties plain = mass_of(&(carom_shape_data){.vertices = 8, .vertex = vertex});
    for (int i = 0; i < 30; i++) vertex[i] += shift[i % 3];
    const carom_mass_properties moved = mass_of(&(carom_shape_data){.vertices = 10, .vertex = vertex});
    assert_close(plain.volume, 9.6, 1e-14);
    assert_close(moved.volume, 9.6, 1e-13);
    assert_all_close(moved.centroid, shift, 3, 1e-13);
    assert_all_close(moved.inertia, plain.inertia, 9, 1e-12);
    const double wanted[] = {(1.5 * 1.5 + 0.8 * 0.8) / 3, (1 + 0.8 * 0.8) / 3, (1 + 1.5 * 1.5) / 3};
    for (int i = 0; i < 3; i++) assert_close(plain.inertia[4 * i], wanted[i], 1e-14);
}

// A rounded random polyhedron: its volume is a polynomial of the radius, V + A e + ..., so third differences are those of the ball.
static void rounding_follows_steiners_formula(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 11, 0);
    double vertex[36], volume[4];
    for (int i = 0; i < 36; i++) vertex[i] = carom_stream_normal(&stream);
    for (int k = 0; k < 4; k++) volume[k] = mass_of(&(carom_shape_data){.vertices = 12, .vertex = vertex, .rounding = 0.5 * k}).volume;
    const double third = volume[3] - 3 * volume[2] + 3 * volume[1] - volume[0];
    assert_close(third, 4.0 / 3 * TWO_PI / 2 * 6 * 0.125, 1e-9);
}

// ------------------------------------------------------------------------------------------------------------- support

static carom_body *create_body(const carom_shape_data *shape) {
    static const double inertia[] = {2, 0.1, 0, 0.1, 2.5, 0.2, 0, 0.2, 3};
    carom_body *body;
    carom_error error;
    const carom_body_data data = {.mass = 1.5, .inertia = inertia, .shape = *shape};
    assert_ok(carom_body_create(&data, &body, &error), error);
    return body;
}

static void draw_direction(carom_stream *stream, double u[3]) {
    double size = 0;
    for (int i = 0; i < 3; i++) u[i] = carom_stream_normal(stream);
    for (int i = 0; i < 3; i++) size += u[i] * u[i];
    for (int i = 0; i < 3; i++) u[i] /= sqrt(size);
}

static bool inside(const carom_shape_data *shape, int part, const double p[3], double level) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double t = (p[i] - (shape->centers ? shape->centers[3 * part + i] : 0)) / shape->semiaxes[3 * part + i];
        sum += t * t;
    }
    return sum <= level;
}

// The support is attained by a point of the body, and no sampled point of it lies deeper.
static void supports_beat_sampled_points(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4, 4, 3, 2}, centers[] = {0.5, 0, 0, -0.4, 0.3, 0.2};
    carom_stream stream;
    carom_stream_start(&stream, 12, 0);
    for (int combine = 0; combine < 2; combine++) {
        const carom_shape_data shape = {.ellipsoids = 2, .semiaxes = semiaxes, .centers = centers, .combine = (carom_combine)combine};
        carom_body *body = create_body(&shape);
        int rim = 0;
        for (int k = 0; k < 40; k++) {
            double u[3], rho[3];
            draw_direction(&stream, u);
            const double depth = carom_body_support(body, u, rho);
            assert_close(depth, u[0] * rho[0] + u[1] * rho[1] + u[2] * rho[2], 1e-13);
            const bool in[] = {inside(&shape, 0, rho, 1 + 1e-12), inside(&shape, 1, rho, 1 + 1e-12)};
            assert_true(combine ? in[0] && in[1] : in[0] || in[1]);
            rim += !inside(&shape, 0, rho, 1 - 1e-9) && !inside(&shape, 1, rho, 1 - 1e-9);
            for (int i = 0; i < 250; i++) {
                double p[3];
                for (int j = 0; j < 3; j++) p[j] = 5 * (2 * carom_stream_uniform(&stream) - 1);
                const bool first = inside(&shape, 0, p, 1), second = inside(&shape, 1, p, 1);
                if (combine ? first && second : first || second) assert_true(u[0] * p[0] + u[1] * p[1] + u[2] * p[2] >= depth - 1e-13);
            }
        }
        // an intersection is touched at its rim from an open set of directions
        if (combine) assert_true(rim > 5);
        carom_body_free(body);
    }
}

// The support is homogeneous and concave, and its gradient is the support point.
static void support_points_are_gradients(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4, 4, 3, 2}, centers[] = {0.5, 0, 0, -0.4, 0.3, 0.2};
    carom_stream stream;
    carom_stream_start(&stream, 13, 0);
    double vertex[30];
    for (int i = 0; i < 30; i++) vertex[i] = carom_stream_normal(&stream);
    const carom_shape_data shapes[] = {{.ellipsoids = 1, .semiaxes = semiaxes},
                                       {.ellipsoids = 2, .semiaxes = semiaxes, .centers = centers, .combine = CAROM_COMBINE_INTERSECTION},
                                       {.vertices = 10, .vertex = vertex}};
    for (int s = 0; s < 3; s++) {
        carom_body *body = create_body(&shapes[s]);
        for (int k = 0; k < 30; k++) {
            double u[3], v[3], rho[3], unused[3];
            draw_direction(&stream, u);
            draw_direction(&stream, v);
            const double depth = carom_body_support(body, u, rho), other = carom_body_support(body, v, unused), h = 1e-5;
            for (int i = 0; i < 3; i++) {
                double up[] = {u[0], u[1], u[2]}, down[] = {u[0], u[1], u[2]};
                up[i] += h;
                down[i] -= h;
                const double slope = (carom_body_support(body, up, unused) - carom_body_support(body, down, unused)) / (2 * h);
                assert_close(slope, rho[i], 1e-8);
            }
            const double twice[] = {2 * u[0], 2 * u[1], 2 * u[2]}, sum[] = {u[0] + v[0], u[1] + v[1], u[2] + v[2]};
            assert_close(carom_body_support(body, twice, unused), 2 * depth, 1e-14);
            assert_true(carom_body_support(body, sum, unused) >= depth + other - 1e-13);
        }
        carom_body_free(body);
    }
}

static void rounding_moves_the_support_by_a_constant(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4}, u[] = {0.6, 0, 0.8};
    carom_body *plain = create_body(&(carom_shape_data){.ellipsoids = 1, .semiaxes = semiaxes});
    carom_body *rounded = create_body(&(carom_shape_data){.ellipsoids = 1, .semiaxes = semiaxes, .rounding = 0.3});
    double p[3], q[3];
    assert_close(carom_body_support(rounded, u, q), carom_body_support(plain, u, p) - 0.3, 1e-15);
    for (int i = 0; i < 3; i++) assert_close(q[i], p[i] - 0.3 * u[i], 1e-15);
    carom_body_free(plain);
    carom_body_free(rounded);
}

static void centers_outside_are_seen(void **state) {
    (void)state;
    const double semiaxes[] = {1, 1, 1, 1, 1, 1}, apart[] = {3, 0, 0, -3, 0, 0}, aside[] = {3, 0, 0, 5, 0.5, 0};
    carom_body *body = create_body(&(carom_shape_data){.ellipsoids = 2, .semiaxes = semiaxes, .centers = apart});
    assert_true(carom_body_holds_center(body));
    carom_body_free(body);
    body = create_body(&(carom_shape_data){.ellipsoids = 2, .semiaxes = semiaxes, .centers = aside});
    assert_false(carom_body_holds_center(body));
    carom_body_free(body);
}

// Without an inertia the shape is moved until its centroid is the origin.
static void uniform_bodies_are_centered(void **state) {
    (void)state;
    const double semiaxes[] = {3, 4, 5, 6, 1, 1}, centers[] = {1.5, 0, 0, -4.5, 0, 0}, u[] = {1, 0, 0};
    const carom_body_data data = {.mass = 2, .shape = {.ellipsoids = 2, .semiaxes = semiaxes, .centers = centers}};
    carom_body *body;
    carom_error error;
    assert_ok(carom_body_create(&data, &body, &error), error);
    double rho[3];
    assert_close(carom_body_support(body, u, rho), -10.5 - 0.974176151023, 1e-10);
    assert_close(carom_body_inertia(body)[0], 2 * 7.593271950363, 1e-10);
    carom_body_free(body);
}

// ---------------------------------------------------------------------------------------------------------- two bodies

// Two equal spheres, the second above the first: W along the normal is 2/m, along tangents 2/m + 2 r^2/J, and the contact velocity is that
// of the second body minus that of the first. A fixed body leaves half of W and no velocities.
static void two_bodies_freeze_into_an_impact(void **state) {
    (void)state;
    const double mass = 2, radius = 0.5, moment = 0.2, inertia[] = {moment, 0, 0, 0, moment, 0, 0, 0, moment};
    const double up[] = {0, 0, radius}, down[] = {0, 0, -radius}, fall[] = {0.1, 0, -3}, spin[] = {0, 4, 0};
    carom_two_bodies_data data = {
        .body = {{.mass = mass, .inertia = inertia, .arm = up, .angular_velocity = spin},
                 {.mass = mass, .inertia = inertia, .arm = down, .velocity = fall}},
        .tangent_dim = 2,
        .directions = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
    };
    for (int fixed = 0; fixed < 2; fixed++) {
        carom_impact *impact;
        carom_error error;
        data.body[0].fixed = fixed;
        assert_ok(carom_two_bodies_create_impact(&data, &impact, &error), error);
        const carom_impact_data *frozen = carom_impact_get_data(impact);
        const double bodies = fixed ? 1 : 2, along = bodies / mass, across = along + bodies * radius * radius / moment;
        assert_int_equal(frozen->nv, fixed ? 6 : 12);
        assert_all_close(carom_impact_delassus(impact), ((double[]){along, 0, 0, 0, across, 0, 0, 0, across}), 9, 1e-14);
        double u[3];
        carom_impact_contact_velocity(impact, frozen->velocity, u);
        assert_all_close(u, ((double[]){-3, fixed ? 0.1 : 0.1 - 4 * radius, 0}), 3, 1e-14);
        carom_impact_free(impact);
    }
    data.body[1].fixed = true;
    carom_impact *impact;
    carom_error error;
    assert_refused(carom_two_bodies_create_impact(&data, &impact, &error), CAROM_BAD_INPUT, error, "must be free");
    assert_null(impact);
}

// ------------------------------------------------------------------------------------------------------------ refusals

static void impossible_bodies_are_refused(void **state) {
    (void)state;
    const double good[] = {2, 3, 4}, apart[] = {2, 3, 4, 1, 1, 1}, far[] = {0, 0, 0, 9, 0, 0}, flat[] = {2, 0, 4}, bad[] = {1, NAN, 1};
    const double square[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, thin[] = {1, 0, 0, 0, 1, 0, 0, 0, 3},
                 skew[] = {2, 1, 0, 0, 2, 0, 0, 0, 2};
    const double negative[] = {1, 0, 0, 0, 1, 0, 0, 0, -1};
    const carom_shape_data ellipsoid = {.ellipsoids = 1, .semiaxes = good};
    double many[3 * 17];
    for (int i = 0; i < 3 * 17; i++) many[i] = 1;
    const struct {
        carom_body_data data;
        const char *message;
    } cases[] = {
        {{.mass = 0, .shape = ellipsoid}, "mass: "},
        {{.mass = NAN, .shape = ellipsoid}, "mass: "},
        {{.mass = 1, .inertia = thin, .shape = ellipsoid}, "inertia: no mass distribution"},
        {{.mass = 1, .inertia = skew, .shape = ellipsoid}, "inertia: it is not symmetric"},
        {{.mass = 1, .inertia = negative, .shape = ellipsoid}, "inertia: it is not positive definite"},
        {{.mass = 1, .shape = {.ellipsoids = 1, .semiaxes = flat}}, "semiaxes: "},
        {{.mass = 1, .shape = {.ellipsoids = 1, .semiaxes = bad}}, "semiaxes: "},
        {{.mass = 1, .shape = {.ellipsoids = 2, .semiaxes = apart, .centers = far, .combine = CAROM_COMBINE_INTERSECTION}}, "empty"},
        {{.mass = 1, .shape = {.ellipsoids = 1, .semiaxes = good, .rounding = -1}}, "rounding: "},
        {{.mass = 1, .shape = {.ellipsoids = 1, .semiaxes = good, .rounding = 1}}, "inertia: it is not computed for rounded ellipsoids"},
        {{.mass = 1, .shape = {.ellipsoids = 17, .semiaxes = many}}, "nor for more than 16 ellipsoids"},
        {{.mass = 1, .shape = {.vertices = 3, .vertex = square}}, "vertices: there are 3"},
        {{.mass = 1, .shape = {.vertices = 4, .vertex = square}}, "vertices: they lie in one plane"},
        {{.mass = 1, .shape = {0}}, "shape: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_body *body;
        carom_error error;
        assert_refused(carom_body_create(&cases[i].data, &body, &error), CAROM_BAD_INPUT, error, cases[i].message);
        assert_null(body);
    }
}

// A flat body's principal moments meet the bound with equality, which is allowed.
static void flat_inertias_are_allowed(void **state) {
    (void)state;
    const double semiaxes[] = {2, 3, 4}, flat[] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    const carom_body_data data = {.mass = 1, .inertia = flat, .shape = {.ellipsoids = 1, .semiaxes = semiaxes}};
    carom_body *body;
    carom_error error;
    assert_ok(carom_body_create(&data, &body, &error), error);
    carom_body_free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ellipsoids_have_their_closed_form),
        cmocka_unit_test(quadrature_agrees_with_the_closed_form),
        cmocka_unit_test(unions_and_intersections_have_their_mass),
        cmocka_unit_test(rounded_boxes_have_their_closed_form),
        cmocka_unit_test(hulls_ignore_points_inside),
        cmocka_unit_test(rounding_follows_steiners_formula),
        cmocka_unit_test(supports_beat_sampled_points),
        cmocka_unit_test(support_points_are_gradients),
        cmocka_unit_test(rounding_moves_the_support_by_a_constant),
        cmocka_unit_test(centers_outside_are_seen),
        cmocka_unit_test(uniform_bodies_are_centered),
        cmocka_unit_test(two_bodies_freeze_into_an_impact),
        cmocka_unit_test(impossible_bodies_are_refused),
        cmocka_unit_test(flat_inertias_are_allowed),
    };
    return cmocka_run_group_tests_name("bodies", tests, NULL, NULL);
}
