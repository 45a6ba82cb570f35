// SPDX-License-Identifier: Apache-2.0
// The solids of models: every type of geom at its place, what stands for bodies without geoms, meshes as hulls, and motions.
#include "models.h"

#include <math.h>
#include <string.h>

static const carom_solid *find_solid(const carom_solids *solids, const char *name) {
    for (int i = 0; i < solids->count; i++)
        if (!strcmp(solids->solid[i].name, name)) return &solids->solid[i];
    fail_msg("there is no solid '%s'", name);
    return NULL;
}

static carom_solids take_solids(const carom_model *model, const double *velocity, double time, carom_arena *arena) {
    carom_solids solids;
    carom_error error;
    assert_ok(carom_model_solids(model, velocity, time, arena, &solids, &error), error);
    return solids;
}

// A model with one geom of every type.
static const char all_types[] = "<mujoco><asset><mesh name='tetra' vertex='0 0 0  1 0 0  0 1 0  0 0 1  0.2 0.2 0.2'/>"
                                "<hfield name='hills' nrow='2' ncol='3' size='2 1 0.5 0.1'/></asset><worldbody>"
                                "<geom name='floor' type='plane' size='4 0 1' pos='0 0 -1'/>"
                                "<geom name='ground' type='hfield' hfield='hills' pos='0 0 -3'/>"
                                "<body name='part' pos='1 2 3' euler='0 0 90'><freejoint/>"
                                "<geom name='ball' type='sphere' size='0.1'/>"
                                "<geom name='pill' type='capsule' size='0.1 0.3' pos='0.5 0 0'/>"
                                "<geom name='drum' type='cylinder' size='0.2 0.4'/>"
                                "<geom name='egg' type='ellipsoid' size='0.1 0.2 0.3'/>"
                                "<geom name='brick' type='box' size='0.3 0.2 0.1'/>"
                                "<geom name='hidden' type='box' size='1 1 1' group='3'/>"
                                "<geom name='glass' type='sphere' size='1' rgba='1 1 1 0'/>"
                                "<geom name='solid' type='mesh' mesh='tetra'/></body></worldbody></mujoco>";

static void test_every_type(void **state) {
    (void)state;
    fixture f = load_text(all_types);
    carom_arena arena = {0};
    const carom_solids solids = take_solids(f.model, NULL, 0, &arena);
    // What the viewer does not show is not among them, because the body has other geoms.
    assert_int_equal(solids.count, 8);
    static const struct {
        const char *name;
        carom_solid_kind kind;
        double size[3];
    } expected[] = {{"floor", CAROM_SOLID_PLANE, {4, 0, 1}},       {"ground", CAROM_SOLID_HEIGHTS, {2, 1, 0}},
                    {"ball", CAROM_SOLID_SPHERE, {0.1, 0, 0}},     {"pill", CAROM_SOLID_CAPSULE, {0.1, 0.3, 0}},
                    {"drum", CAROM_SOLID_CYLINDER, {0.2, 0.4, 0}}, {"egg", CAROM_SOLID_ELLIPSOID, {0.1, 0.2, 0.3}},
                    {"brick", CAROM_SOLID_BOX, {0.3, 0.2, 0.1}}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const carom_solid *solid = find_solid(&solids, expected[i].name);
        assert_int_equal(solid->kind, expected[i].kind);
        for (int k = 0; k < 3; k++) assert_close(solid->size[k], expected[i].size[k], 1e-15);
        assert_int_equal(solid->fixed, i < 2);
        assert_string_equal(solid->body, i < 2 ? "world" : "part");
    }
    // A quarter turn about z takes x to y.
    const carom_solid *pill = find_solid(&solids, "pill");
    const double place[3] = {1, 2.5, 3}, turn[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
    for (int k = 0; k < 3; k++) assert_close(pill->position[k], place[k], 1e-14);
    for (int k = 0; k < 9; k++) assert_close(pill->rotation[k], turn[k], 1e-14);

    // The mesh is its hull of four points and four triangles, whose corners are those of the file; the point inside is none.
    const carom_solid *hull = find_solid(&solids, "solid");
    assert_int_equal(hull->kind, CAROM_SOLID_HULL);
    assert_int_equal(hull->vertices, 4);
    assert_int_equal(hull->triangles, 4);
    double sum[3] = {0};
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 3; r++) {
            sum[r] += hull->position[r];
            for (int c = 0; c < 3; c++) sum[r] += hull->rotation[3 * r + c] * hull->vertex[3 * i + c];
        }
    const double corners[3] = {4 * 1 - 1, 4 * 2 + 1, 4 * 3 + 1};
    for (int k = 0; k < 3; k++) assert_close(sum[k], corners[k], 1e-6);  // MuJoCo's vertices are floats
    // Its triangles are seen counter-clockwise from outside: six times the volume about a corner is 1.
    double volume = 0;
    for (int i = 0; i < hull->triangles; i++) {
        const double *a = hull->vertex + 3 * hull->triangle[3 * i], *b = hull->vertex + 3 * hull->triangle[3 * i + 1],
                     *c = hull->vertex + 3 * hull->triangle[3 * i + 2];
        volume += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    assert_close(volume, 1, 1e-6);
    carom_arena_free(&arena);
    free_fixture(&f);
}

// A body without geoms is drawn by segments to its sites, its children and its centre of mass; one where all of these coincide by a point.
static void test_skeletons(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body name='hip' pos='0 0 1'><joint type='slide'/><inertial pos='0 0 0' mass='1' "
                          "diaginertia='1 1 1'/><site pos='0 0 -0.5'/>"
                          "<body name='leg' pos='0.3 0 0.4'><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"
                          "</body></worldbody></mujoco>");
    carom_arena arena = {0};
    const carom_solids solids = take_solids(f.model, NULL, 0, &arena);
    assert_int_equal(solids.count, 3);
    const carom_solid *segment = &solids.solid[1], *point = &solids.solid[2];
    // From (0, 0, 1) to the leg at (0.3, 0, 1.4): half a length of 0.5, with the frame's z along it.
    assert_int_equal(segment->kind, CAROM_SOLID_CAPSULE);
    assert_close(segment->size[0], 0, 0);
    assert_close(segment->size[1], 0.25, 1e-14);
    const double middle[3] = {0.15, 0, 1.2}, along[3] = {0.6, 0, 0.8};
    for (int k = 0; k < 3; k++) assert_close(segment->position[k], middle[k], 1e-14);
    for (int k = 0; k < 3; k++) assert_close(segment->rotation[3 * k + 2], along[k], 1e-14);
    assert_int_equal(point->kind, CAROM_SOLID_SPHERE);
    assert_close(point->size[0], 0, 0);
    assert_string_equal(point->body, "leg");
    carom_arena_free(&arena);
    free_fixture(&f);
}

// A free body that moves and turns is where it would be after the time, its tree tells its centre of mass, and the model's state stays.
static void test_motion(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body name='brick' pos='0 0 1'><freejoint/><geom name='a' type='box' size='1 2 3' mass='1'/>"
                          "<geom name='b' type='sphere' size='1' pos='4 0 0' mass='3'/></body></worldbody></mujoco>");
    carom_arena arena = {0};
    const double half_turn = 3.14159265358979323846 / 2, velocity[6] = {1, 2, 3, 0, 0, half_turn};
    const carom_solids before = take_solids(f.model, NULL, 0, &arena), after = take_solids(f.model, velocity, 2, &arena),
                       again = take_solids(f.model, NULL, 0, &arena);
    const carom_solid *ball = find_solid(&after, "b");
    const double place[3] = {2 - 4, 4, 7};
    for (int k = 0; k < 3; k++) assert_close(ball->position[k], place[k], 1e-12);
    assert_int_equal(before.trees, 1);
    assert_string_equal(before.tree[0].name, "brick");
    const double center[3] = {3, 0, 1};
    for (int k = 0; k < 3; k++) assert_close(before.tree[0].center[k], center[k], 1e-12);
    for (int k = 0; k < 3; k++) assert_close(again.solid[1].position[k], before.solid[1].position[k], 0);
    for (int k = 0; k < 3; k++) assert_close(before.tree[0].velocity[k], 0, 0);

    // The velocity of the centre of mass at the state: that of the body, and pi/2 about z times 3 m along x.
    const carom_solids moving = take_solids(f.model, velocity, 0, &arena);
    const double speed[3] = {1, 2 + 3 * half_turn, 3};
    for (int k = 0; k < 3; k++) assert_close(moving.tree[0].velocity[k], speed[k], 1e-12);

    carom_solids refused;
    carom_error error;
    const double unknown[6] = {NAN};
    assert_refused(carom_model_solids(f.model, unknown, 0, &arena, &refused, &error), CAROM_BAD_INPUT, error, "not finite");
    assert_refused(carom_model_solids(f.model, NULL, INFINITY, &arena, &refused, &error), CAROM_BAD_INPUT, error, "not finite");
    assert_int_equal(refused.count, 0);
    carom_arena_free(&arena);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_skeletons),
        cmocka_unit_test(test_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
