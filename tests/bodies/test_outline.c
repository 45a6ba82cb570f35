// SPDX-License-Identifier: Apache-2.0
// Outlines of solids against closed forms, rays against outlines, and the painter's order.
#include <math.h>
#include <string.h>

#include "carom/outline.h"
#include "carom/vector3.h"
#include "support.h"

static const double PI = 3.14159265358979323846;

static carom_outline outline_of(carom_solid *solid, const char *view, carom_arena *arena) {
    carom_outline outline;
    carom_error error;
    assert_ok(carom_solid_outline(solid, carom_view_find(view), arena, &outline, &error), error);
    return outline;
}

static double area_of(const carom_outline *outline) {
    double area = 0;
    for (int i = 0; i < outline->corners; i++) {
        const double *a = outline->corner + 2 * i, *b = outline->corner + 2 * ((i + 1) % outline->corners);
        area += 0.5 * (a[0] * b[1] - a[1] * b[0]);
    }
    return area;
}

static carom_solid solid_of(carom_solid_kind kind, double a, double b, double c) {
    return (carom_solid){.kind = kind, .name = "", .body = "", .size = {a, b, c}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

// A rotation by an angle about an axis, by Rodrigues' formula.
static void turn(carom_solid *solid, const double axis[3], double angle) {
    const double length = carom_norm3(axis), x = axis[0] / length, y = axis[1] / length, z = axis[2] / length, c = cos(angle),
                 s = sin(angle);
    const double rotation[9] = {c + x * x * (1 - c),     x * y * (1 - c) - z * s, x * z * (1 - c) + y * s,
                                y * x * (1 - c) + z * s, c + y * y * (1 - c),     y * z * (1 - c) - x * s,
                                z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)};
    memcpy(solid->rotation, rotation, sizeof rotation);
}

// --------------------------------------------------------------------------------------------------------------- views

static void views_are_right_handed_frames(void **state) {
    (void)state;
    const double slope[3] = {0.6, 0, 0.8}, across[3] = {1 / sqrt(2), -1 / sqrt(2), 0};
    const carom_view views[] = {
        carom_views[0], carom_views[1], carom_views[2], carom_views[3], carom_view_of_plane(slope), carom_view_of_plane(across)};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        double toward[3];
        carom_cross3(views[i].right, views[i].up, toward);
        assert_all_close(toward, views[i].toward, 3, 1e-15);
        assert_close(carom_norm3(views[i].right), 1, 1e-15);
        assert_close(carom_norm3(views[i].up), 1, 1e-15);
        assert_close(carom_dot3(views[i].right, views[i].up), 0, 1e-15);
        // z is up, but from the top.
        if (i != 2) assert_true(views[i].up[2] > 0);
    }
    // The plane of x and z is seen from the side, whichever way its normal points.
    for (int sign = -1; sign <= 1; sign += 2) {
        const double normal[3] = {0, sign, 0};
        assert_string_equal(carom_view_of_plane(normal).name, "side");
    }
    assert_close(fabs(carom_dot3(carom_view_of_plane(slope).toward, slope)), 1, 1e-15);
    assert_null(carom_view_find("below"));
}

// ------------------------------------------------------------------------------------------------------------ outlines

// Of a sphere every corner lies on the circle, and neighbours are as far apart as they say.
static void sphere_is_a_circle(void **state) {
    (void)state;
    carom_arena arena = {0};
    carom_solid sphere = solid_of(CAROM_SOLID_SPHERE, 0.5, 0, 0);
    sphere.position[0] = 1;
    sphere.position[2] = 2;
    const carom_outline outline = outline_of(&sphere, "side", &arena);
    assert_int_equal(outline.corners, CAROM_OUTLINE_POINTS);
    for (int i = 0; i < outline.corners; i++) assert_close(hypot(outline.corner[2 * i] - 1, outline.corner[2 * i + 1] - 2), 0.5, 1e-14);
    assert_close(area_of(&outline), 0.125 * CAROM_OUTLINE_POINTS * sin(2 * PI / CAROM_OUTLINE_POINTS), 1e-13);
    assert_int_equal(outline.points, 0);
    carom_arena_free(&arena);
}

// The area of a box's shadow is the sum over its axes of |axis . toward| times the face's area; its inner lines are three edges at a
// corner.
static void box_casts_its_shadow(void **state) {
    (void)state;
    carom_arena arena = {0};
    carom_solid box = solid_of(CAROM_SOLID_BOX, 0.5, 0.7, 1.1);
    const double axis[3] = {1, 2, -0.5};
    turn(&box, axis, 0.8);
    const carom_view *view = carom_view_find("3d");
    double local[3];
    carom_multiply3_transposed(box.rotation, view->toward, local);
    const double expected = 4 * (fabs(local[0]) * 0.7 * 1.1 + fabs(local[1]) * 0.5 * 1.1 + fabs(local[2]) * 0.5 * 0.7);
    const carom_outline outline = outline_of(&box, "3d", &arena);
    assert_int_equal(outline.corners, 6);
    assert_close(area_of(&outline), expected, 1e-13);
    assert_int_equal(outline.points, 3 * 3);
    // The three edges meet at the corner that is nearest to the eye.
    double corner[3], nearest[3], seen[2];
    for (int k = 0; k < 3; k++) corner[k] = copysign(box.size[k], local[k]);
    carom_multiply3(box.rotation, corner, nearest);
    carom_view_project(view, nearest, seen);
    for (int i = 0; i < 3; i++) {
        const double *line = outline.line + 6 * i;
        assert_true(fmin(hypot(line[0] - seen[0], line[1] - seen[1]), hypot(line[2] - seen[0], line[3] - seen[1])) < 1e-13);
        assert_true(isnan(line[4]));
    }
    // A box seen along its axes is a rectangle without inner lines.
    carom_solid plain = solid_of(CAROM_SOLID_BOX, 0.5, 0.25, 1);
    const carom_outline face = outline_of(&plain, "side", &arena);
    assert_int_equal(face.corners, 4);
    assert_int_equal(face.points, 0);
    for (int i = 0; i < 4; i++) {
        assert_close(fabs(face.corner[2 * i]), 0.5, 0);
        assert_close(fabs(face.corner[2 * i + 1]), 1, 0);
    }
    carom_arena_free(&arena);
}

// A cylinder seen from the side is a rectangle, however it is turned about its axis; along its axis a circle; and else two half ellipses
// with straight sides: 2 r 2 h sin a + pi r^2 cos a, where its axis makes the angle a with the line of sight.
static void cylinder_has_its_closed_form(void **state) {
    (void)state;
    carom_arena arena = {0};
    const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    carom_solid cylinder = solid_of(CAROM_SOLID_CYLINDER, 0.3, 0.8, 0);
    turn(&cylinder, z, 0.0123);
    const carom_outline side = outline_of(&cylinder, "side", &arena), top = outline_of(&cylinder, "top", &arena);
    assert_int_equal(side.corners, 4);
    assert_close(area_of(&side), 4 * 0.3 * 0.8, 1e-14);
    assert_int_equal(side.points, 0);
    for (int i = 0; i < top.corners; i++) assert_close(hypot(top.corner[2 * i], top.corner[2 * i + 1]), 0.3, 1e-14);
    turn(&cylinder, x, 1.1);
    const double angle = acos(fabs(cylinder.rotation[5]));
    const carom_outline tilted = outline_of(&cylinder, "side", &arena);
    // The polygon misses a share of (2 pi/N)^2/6 of the ellipse.
    assert_close(area_of(&tilted), 4 * 0.3 * 0.8 * sin(angle) + PI * 0.09 * cos(angle), 5e-4);
    assert_true(area_of(&tilted) < 4 * 0.3 * 0.8 * sin(angle) + PI * 0.09 * cos(angle));
    assert_int_equal(tilted.points, CAROM_OUTLINE_POINTS + 2);
    carom_arena_free(&arena);
}

static void other_solids_have_their_areas(void **state) {
    (void)state;
    carom_arena arena = {0};
    const double axis[3] = {-1, 0.3, 2};
    // A capsule across the line of sight; an ellipsoid, whose shadow along s has the area pi a b c |E^-1 s|.
    carom_solid capsule = solid_of(CAROM_SOLID_CAPSULE, 0.2, 0.5, 0), egg = solid_of(CAROM_SOLID_ELLIPSOID, 0.3, 0.6, 1.2);
    const carom_outline pill = outline_of(&capsule, "front", &arena);
    assert_close(area_of(&pill), 4 * 0.2 * 0.5 + PI * 0.04, 1e-3);
    for (int i = 0; i < pill.corners; i++) {
        const double beyond = fmax(0, fabs(pill.corner[2 * i + 1]) - 0.5);
        assert_close(hypot(pill.corner[2 * i], beyond), 0.2, 1e-14);
    }
    turn(&egg, axis, 1);
    const carom_view *view = carom_view_find("3d");
    double local[3];
    carom_multiply3_transposed(egg.rotation, view->toward, local);
    for (int k = 0; k < 3; k++) local[k] /= egg.size[k];
    const carom_outline shadow = outline_of(&egg, "3d", &arena);
    const double share = area_of(&shadow) / (PI * 0.3 * 0.6 * 1.2 * carom_norm3(local));
    assert_true(share < 1 && share > 0.995);
    // A hull of a cube's corners is the cube; rounded by r, its square of side a has the area a^2 + 4 a r + pi r^2.
    double vertex[24];
    for (int i = 0; i < 24; i++) vertex[i] = (i / 3 >> i % 3 & 1) - 0.5;
    carom_solid cube = solid_of(CAROM_SOLID_HULL, 0, 0, 0);
    cube.vertices = 8;
    cube.vertex = vertex;
    carom_solid rounded = cube;
    rounded.rounding = 0.1;
    const carom_outline sharp = outline_of(&cube, "3d", &arena), round = outline_of(&rounded, "side", &arena);
    const bool has_surface = support_has("QHULL");
    assert_int_equal(cube.triangles, has_surface ? 12 : 0);
    assert_int_equal(sharp.corners, 6);
    assert_int_equal(sharp.points, has_surface ? 9 : 0);
    assert_close(area_of(&round), 1 + 0.4 + PI * 0.01, 1e-4);
    // Points and segments have no area; a grid of heights has lines only; a plane is refused.
    carom_solid point = solid_of(CAROM_SOLID_SPHERE, 0, 0, 0), segment = solid_of(CAROM_SOLID_CAPSULE, 0, 0.5, 0);
    assert_int_equal(outline_of(&point, "side", &arena).corners, 1);
    assert_int_equal(outline_of(&segment, "side", &arena).corners, 2);
    const double heights[6] = {0, 1, 0, 0, 1, 0};
    carom_solid hills = solid_of(CAROM_SOLID_HEIGHTS, 2, 1, 0);
    hills.rows = 2;
    hills.columns = 3;
    hills.height = heights;
    const carom_outline grid = outline_of(&hills, "3d", &arena);
    assert_int_equal(grid.corners, 0);
    assert_int_equal(grid.points, 2 * (3 + 1) + 3 * (2 + 1));
    carom_solid plane = solid_of(CAROM_SOLID_PLANE, 1, 1, 0);
    carom_outline none;
    carom_error error;
    assert_refused(carom_solid_outline(&plane, view, &arena, &none, &error), CAROM_BAD_INPUT, error, "plane");
    carom_arena_free(&arena);
}

// ---------------------------------------------------------------------------------------------------------------- rays

// A ray meets a solid where, and only where, its outline is; and the ends of its interval are on the surface, which rays across agree on.
static void rays_agree_with_outlines(void **state) {
    (void)state;
    carom_arena arena = {0};
    double vertex[24];
    for (int i = 0; i < 24; i++) vertex[i] = ((i / 3 >> i % 3 & 1) - 0.5) * (1 + 0.3 * (i % 3));
    carom_solid solids[] = {solid_of(CAROM_SOLID_SPHERE, 0.5, 0, 0),     solid_of(CAROM_SOLID_CAPSULE, 0.2, 0.5, 0),
                            solid_of(CAROM_SOLID_CYLINDER, 0.4, 0.3, 0), solid_of(CAROM_SOLID_ELLIPSOID, 0.3, 0.6, 0.9),
                            solid_of(CAROM_SOLID_BOX, 0.3, 0.5, 0.7),    solid_of(CAROM_SOLID_HULL, 0, 0, 0)};
    const double axis[3] = {0.5, -1, 0.7};
    const carom_view *view = carom_view_find("3d");
    for (size_t s = 0; s < sizeof solids / sizeof *solids; s++) {
        carom_solid *solid = &solids[s];
        if (solid->kind == CAROM_SOLID_HULL) {
            if (!support_has("QHULL")) continue;
            solid->vertices = 8;
            solid->vertex = vertex;
        }
        turn(solid, axis, 0.9);
        solid->position[1] = 0.3;
        const carom_outline outline = outline_of(solid, "3d", &arena);
        int hits = 0;
        for (int i = 0; i < 900; i++) {
            const double x = -1.5 + (i % 30 + 0.5) / 10, y = -1.5 + (i / 30 + 0.5) / 10;
            // Inside the polygon by the least distance from its sides.
            double inside = INFINITY;
            for (int k = 0; k < outline.corners; k++) {
                const double *a = outline.corner + 2 * k, *b = outline.corner + 2 * ((k + 1) % outline.corners);
                const double length = hypot(b[0] - a[0], b[1] - a[1]);
                inside = fmin(inside, ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / length);
            }
            double from[3], interval[2];
            for (int k = 0; k < 3; k++) from[k] = x * view->right[k] + y * view->up[k];
            const bool hit = carom_solid_ray(solid, from, view->toward, interval);
            hits += hit;
            if (fabs(inside) > 1e-3) assert_int_equal(hit, inside > 0);
            if (!hit) continue;
            // A ray from its nearer end, across the line of sight, leaves the solid there or passes through it, but does not miss it.
            double end[3], across[2];
            for (int k = 0; k < 3; k++) end[k] = from[k] + (interval[1] - 1e-9) * view->toward[k];
            assert_true(carom_solid_ray(solid, end, view->right, across));
            assert_true(across[0] <= 1e-6 && across[1] >= -1e-6);
        }
        assert_true(hits > 20);
    }
    carom_arena_free(&arena);
}

// --------------------------------------------------------------------------------------------------------------- order

static void nearer_solids_come_later(void **state) {
    (void)state;
    carom_arena arena = {0};
    const carom_view *view = carom_view_find("side");
    // A large plate whose middle is farther away than the ball, but that leans towards the eye: the ball, below it, is behind it.
    carom_solid solids[3] = {solid_of(CAROM_SOLID_SPHERE, 0.3, 0, 0), solid_of(CAROM_SOLID_BOX, 3, 3, 0.01),
                             solid_of(CAROM_SOLID_SPHERE, 0.2, 0, 0)};
    const double x[3] = {1, 0, 0};
    turn(&solids[1], x, PI / 4);
    // The plate is y = z; the eye looks along +y. The first ball is behind it there, the second in front.
    solids[0].position[1] = -1.2;
    solids[0].position[2] = -1.8;
    solids[2].position[1] = 1;
    solids[2].position[2] = 1.5;
    carom_outline outlines[3];
    for (int i = 0; i < 3; i++) outlines[i] = outline_of(&solids[i], "side", &arena);
    int order[3];
    carom_error error;
    assert_ok(carom_solids_order(3, solids, outlines, view, order, &error), error);
    int place[3];
    for (int i = 0; i < 3; i++) place[order[i]] = i;
    assert_true(place[0] < place[1]);
    assert_true(place[1] < place[2]);
    // Apart in the picture, the farther one comes first.
    solids[1] = solid_of(CAROM_SOLID_SPHERE, 0.1, 0, 0);
    solids[1].position[1] = 5;
    outlines[1] = outline_of(&solids[1], "side", &arena);
    assert_ok(carom_solids_order(3, solids, outlines, view, order, &error), error);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[2], 0);
    carom_arena_free(&arena);
}

// -------------------------------------------------------------------------------------------------------------- bodies

static void bodies_become_solids(void **state) {
    (void)state;
    carom_arena arena = {0};
    carom_error error;
    const double semiaxes[6] = {1, 1, 1, 1, 1, 1}, centers[6] = {0, 0, -0.5, 0, 0, 0.5}, position[3] = {1, 2, 3};
    const double turned[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};  // z becomes -y
    carom_body_data data = {.mass = 1, .shape = {.ellipsoids = 2, .semiaxes = semiaxes, .centers = centers}};
    for (int lens = 0; lens < 2; lens++) {
        data.shape.combine = lens ? CAROM_COMBINE_INTERSECTION : CAROM_COMBINE_UNION;
        carom_body *body;
        carom_solids solids;
        assert_ok(carom_body_create(&data, &body, &error), error);
        assert_ok(carom_body_solids(body, position, turned, &arena, &solids, &error), error);
        assert_int_equal(solids.count, lens ? 1 : 2);
        if (!lens) {
            const double expected[3] = {1, 2 + 0.5, 3};
            assert_all_close(solids.solid[0].position, expected, 3, 1e-15);
            assert_int_equal(solids.solid[0].kind, CAROM_SOLID_ELLIPSOID);
        } else {
            // Seen along its axis, a lens of two unit balls one radius apart is a circle of radius sqrt(3)/2.
            const carom_outline outline = outline_of(&solids.solid[0], "side", &arena);
            for (int i = 0; i < outline.corners; i++)
                assert_close(hypot(outline.corner[2 * i] - 1, outline.corner[2 * i + 1] - 3), sqrt(0.75), 1e-9);
            assert_close(area_of(&outline), 0.75 * PI, 0.01);
        }
        carom_body_free(body);
    }
    carom_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_right_handed_frames), cmocka_unit_test(sphere_is_a_circle),
        cmocka_unit_test(box_casts_its_shadow),          cmocka_unit_test(cylinder_has_its_closed_form),
        cmocka_unit_test(other_solids_have_their_areas), cmocka_unit_test(rays_agree_with_outlines),
        cmocka_unit_test(nearer_solids_come_later),      cmocka_unit_test(bodies_become_solids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
