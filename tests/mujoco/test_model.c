// SPDX-License-Identifier: Apache-2.0
// MuJoCo models: the shipped scenes against the published matrices, contact Jacobians, normals and tangents.
#include "model_support.h"

#include <math.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// ------------------------------------------------------------------------------------------------------ shipped scenes

static void assert_same_data(const carom_impact_data *actual, const carom_impact_data *expected) {
    assert_int_equal(actual->nv, expected->nv);
    assert_int_equal(actual->contacts, expected->contacts);
    assert_int_equal(actual->tangent_dim, expected->tangent_dim);
    const int nv = expected->nv, rows = expected->contacts * expected->tangent_dim;
    assert_all_close(actual->mass, expected->mass, nv * nv, 1e-13);
    assert_all_close(actual->normal, expected->normal, expected->contacts * nv, 1e-13);
    assert_all_close(actual->tangent, expected->tangent, rows * nv, 1e-13);
    assert_all_close(actual->velocity, expected->velocity, nv, 0);
    assert_all_close(actual->friction, expected->friction, expected->contacts, 0);
}

// The model of a shipped scene at the published state has the matrices of Appendix A.
static void check_shipped_model(const char *path, const double *qpos, const char *const sites[2], const double normals[2][3],
                                const carom_impact_data *expected) {
    carom_error error;
    carom_model *model;
    assert_ok(carom_model_load(path, &model, &error), error);
    assert_int_equal(carom_model_nq(model), expected->nv);
    assert_int_equal(carom_model_nv(model), expected->nv);
    assert_ok(carom_model_set_state(model, qpos, expected->nv, expected->velocity, expected->nv, &error), error);
    carom_model_contact contacts[2];
    for (int i = 0; i < 2; i++) {
        contacts[i] = ground_contact(i ? "B" : "A", sites[i]);
        memcpy(contacts[i].normal, normals[i], sizeof contacts[i].normal);
        contacts[i].friction = expected->friction[i];
    }
    carom_impact *impact = freeze(model, contacts, 2);
    assert_same_data(carom_impact_get_data(impact), expected);
    carom_impact_free(impact);
    carom_model_free(model);
}

static const double floor_floor[2][3] = {{0, 0, 1}, {0, 0, 1}};
static const double floor_wall[2][3] = {{0, 0, 1}, {-1, 0, 0}};

static void test_block_model(void **state) {
    (void)state;
    check_shipped_model("scenes/block.xml", (double[]){0, 1, 0}, (const char *[]){"left_corner", "right_corner"}, floor_floor,
                        &reference_block);
}

static void test_boxwall_model(void **state) {
    (void)state;
    check_shipped_model("scenes/boxwall.xml", (double[]){-0.57922796533956922, 0.57922796533956922, 1.3962634015954636},
                        (const char *[]){"floor_corner", "wall_corner"}, floor_wall, &reference_boxwall);
}

static void test_compass_model(void **state) {
    (void)state;
    check_shipped_model("scenes/compass.xml", (double[]){-0.9781476007338058, 0.20791169081775948, -1.3613568165555769, 1.3613568165555769},
                        (const char *[]){"leading_foot", "trailing_foot"}, floor_floor, &reference_compass);
}

// The scene files themselves: model, state, contacts and names give the published problem.
static void check_shipped_scene(const char *path, const carom_impact_data *expected) {
    carom_error error;
    carom_registry *registry;
    carom_scene *scene;
    assert_ok(carom_registry_create(&registry, &error), error);
    assert_ok(carom_scene_read(path, registry, &scene, &error), error);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    assert_same_data(data, expected);
    assert_string_equal(data->names[0], "A");
    assert_string_equal(data->names[1], "B");
    assert_string_equal(carom_scene_law(scene), "halm-posa");
    assert_int_equal(carom_scene_warnings(scene), 0);
    carom_scene_free(scene);
    carom_registry_free(registry);
}

static void test_shipped_scenes(void **state) {
    (void)state;
    check_shipped_scene("scenes/block.yaml", &reference_block);
    check_shipped_scene("scenes/block-matrices.yaml", &reference_block);
    check_shipped_scene("scenes/boxwall.yaml", &reference_boxwall);
    check_shipped_scene("scenes/compass.yaml", &reference_compass);
}

// ------------------------------------------------------------------------------------------------- contact Jacobians

// A site and the same point given in its body's frame are the same contact.
static void test_body_point_is_site(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    carom_error error;
    const double qpos[] = {0.1, 0.2, 1.5, 0.5, -0.3, 0.2, 0.7, 0.9, 0.1, -0.2, 0.4, 0.6};
    assert_ok(carom_model_set_state(f.model, qpos, 12, NULL, 0, &error), error);
    carom_model_contact site = ground_contact("A", "hand"), point = site;
    point.place[0] = (carom_place){.kind = CAROM_PLACE_BODY_POINT, .name = "arm", .point = {0.1, 0.5, -0.2}};
    carom_impact *first = freeze(f.model, &site, 1), *second = freeze(f.model, &point, 1);
    const carom_impact_data *a = carom_impact_get_data(first), *b = carom_impact_get_data(second);
    assert_int_equal(a->tangent_dim, 2);
    assert_all_close(a->normal, b->normal, a->nv, 1e-15);
    assert_all_close(a->tangent, b->tangent, 2 * a->nv, 1e-15);
    carom_impact_free(first);
    carom_impact_free(second);
    free_fixture(&f);
}

// The contact of two places is the difference of their contacts with the world.
static void test_two_places_are_a_difference(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    carom_model_contact pair = ground_contact("A", "leg"), leg = pair, hand = ground_contact("A", "hand");
    pair.places = 2;
    pair.place[1] = hand.place[0];
    const double normal[3] = {0.3, -0.5, 0.8};
    memcpy(pair.normal, normal, sizeof normal);
    memcpy(leg.normal, normal, sizeof normal);
    memcpy(hand.normal, normal, sizeof normal);
    carom_impact *both = freeze(f.model, &pair, 1), *first = freeze(f.model, &leg, 1), *second = freeze(f.model, &hand, 1);
    const carom_impact_data *d = carom_impact_get_data(both), *a = carom_impact_get_data(first), *b = carom_impact_get_data(second);
    for (int j = 0; j < d->nv; j++) {
        assert_close(d->normal[j], b->normal[j] - a->normal[j], 1e-15);
        for (int k = 0; k < 2; k++) {
            const int at = k * d->nv + j;
            assert_close(d->tangent[at], b->tangent[at] - a->tangent[at], 1e-15);
        }
    }
    carom_impact_free(both);
    carom_impact_free(first);
    carom_impact_free(second);
    free_fixture(&f);
}

static const char two_balls[] = "<mujoco><worldbody>"
                                "<body name='a' pos='0 0 1'><freejoint/><geom name='ball_a' size='0.3' mass='2'/></body>"
                                "<body name='b' pos='0.3 0 1.4'><freejoint/><geom name='ball_b' size='0.2' mass='1'/></body>"
                                "<geom name='floor' type='plane' size='1 1 1'/></worldbody></mujoco>";

static carom_model_contact ball_contact(double x, double y, double z) {
    return (carom_model_contact){.name = "AB",
                                 .places = 2,
                                 .place = {{.kind = CAROM_PLACE_GEOM, .name = "ball_a"}, {.kind = CAROM_PLACE_GEOM, .name = "ball_b"}},
                                 .normal = {x, y, z}};
}

// Newton's third law: an impulse between two touching free balls keeps their linear and angular momentum, and normal > 0 opens.
static void test_pair_keeps_momentum(void **state) {
    (void)state;
    fixture f = load_text(two_balls);
    carom_model_contact contact = ball_contact(0.3, 0, 0.4);
    carom_impact *impact = freeze(f.model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->tangent_dim, 2);
    assert_int_equal(data->nv, 12);
    // Free joints: linear velocity of the body's origin in world axes, then the angular one, here in axes parallel to the world's.
    const double position[2][3] = {{0, 0, 1}, {0.3, 0, 1.4}};
    const double *rows[3] = {data->normal, data->tangent, data->tangent + 12};
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < 3; i++) {
            assert_close(rows[r][i] + rows[r][6 + i], 0, 1e-15);
            double moment = rows[r][3 + i] + rows[r][9 + i];
            for (int b = 0; b < 2; b++) {
                const double *force = rows[r] + 6 * b, *p = position[b];
                const int j = (i + 1) % 3, k = (i + 2) % 3;
                moment += p[j] * force[k] - p[k] * force[j];
            }
            assert_close(moment, 0, 1e-14);
        }
    }
    // A sphere hit along its line of centres is not turned, and the second body moves away along the normal.
    for (int i = 0; i < 3; i++) assert_close(data->normal[3 + i], 0, 1e-15);
    assert_close(data->normal[6], 0.6, 1e-15);
    assert_close(data->normal[8], 0.8, 1e-15);
    carom_impact_free(impact);
    free_fixture(&f);
}

static void test_geoms_touch_where_they_are_extreme(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
                          "<body name='rod' pos='0 0 1'><joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 1 0'/>"
                          "<geom name='rod' type='capsule' size='0.1 0.5' euler='0 30 0'/><geom name='box' type='box' size='1 1 1'/>"
                          "<geom name='egg' type='ellipsoid' size='0.5 0.3 0.2' euler='0 30 0'/></body></worldbody></mujoco>");
    carom_model_contact contact = ground_contact("A", "rod");
    contact.place[0].kind = CAROM_PLACE_GEOM;

    // The lower end sphere of the capsule: x = -0.5 sin 30 degrees; a turn by +1 about y moves it up by -x.
    carom_impact *impact = freeze(f.model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_close(data->normal[0], 1, 1e-15);
    assert_close(data->normal[1], 0.25, 1e-14);
    assert_close(data->tangent[1], -0.5 * cos(PI / 6) - 0.1, 1e-14);
    carom_impact_free(impact);

    // The same against the floor geom as the first place.
    carom_model_contact pair = contact;
    pair.places = 2;
    pair.place[1] = contact.place[0];
    pair.place[0].name = "floor";
    impact = freeze(f.model, &pair, 1);
    assert_close(carom_impact_get_data(impact)->normal[1], 0.25, 1e-14);
    carom_impact_free(impact);

    // The ellipsoid's depth below its centre is h = sqrt((a sin)^2 + (c cos)^2); the point's x offset is (c^2 - a^2) sin cos / h.
    contact.place[0].name = "egg";
    impact = freeze(f.model, &contact, 1);
    const double s = 0.5, c = cos(PI / 6), h = sqrt(0.25 * s * s + 0.04 * c * c);
    assert_close(carom_impact_get_data(impact)->normal[1], (0.04 - 0.25) * s * c / h, 1e-14);
    assert_close(carom_impact_get_data(impact)->tangent[1], -h, 1e-14);
    carom_impact_free(impact);

    contact.place[0].name = "box";
    assert_contact_refused(f.model, contact, "geom 'box' is no sphere, capsule or ellipsoid");
    free_fixture(&f);
}

static void test_spheres_need_their_line_of_centres(void **state) {
    (void)state;
    fixture f = load_text(two_balls);
    assert_contact_refused(f.model, ball_contact(0, 0, 1), "do not touch with this normal");
    free_fixture(&f);
}

// Position of the site in the world by MuJoCo's own kinematics, because the rows of contacts are what is tested.
static void site_position(const char *path, const double *qpos, const char *site, double position[3]) {
    char message[500];
    mjModel *compiled = mj_loadXML(path, NULL, message, sizeof message);
    assert_non_null(compiled);
    mjData *data = mj_makeData(compiled);
    mju_copy(data->qpos, qpos, model_count(compiled->nq));
    mj_kinematics(compiled, data);
    mju_copy3(position, data->site_xpos + 3 * mj_name2id(compiled, mjOBJ_SITE, site));
    mj_deleteData(data);
    mj_deleteModel(compiled);
}

// qpos moved along velocity coordinate j by `step`: the conventions of free, ball and hinge joints of `spatial_model`.
static void move_along(const double *qpos, int j, double step, double *moved) {
    memcpy(moved, qpos, 12 * sizeof *moved);
    if (j < 3)
        moved[j] += step;
    else if (j == 9)
        moved[11] += step;
    else {
        double turn[3] = {0};
        turn[(j - 3) % 3] = 1;
        mju_quatIntegrate(moved + (j < 6 ? 3 : 7), turn, step);
    }
}

// The Jacobian is the derivative of the contact point's position along the model's velocity coordinates.
static void test_jacobian_against_differences(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    carom_error error;
    double qpos[] = {0.1, 0.2, 1.5, 0.5, -0.3, 0.2, 0.7, 0.9, 0.1, -0.2, 0.4, 0.6};
    mju_normalize4(qpos + 3);
    mju_normalize4(qpos + 7);
    assert_ok(carom_model_set_state(f.model, qpos, 12, NULL, 0, &error), error);
    const char *const sites[2] = {"leg", "hand"};
    carom_model_contact contacts[2] = {ground_contact("A", "leg"), ground_contact("B", "hand")};
    carom_impact *impact = freeze(f.model, contacts, 2);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->nv, 10);
    const double step = 1e-5;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 10; j++) {
            double moved[12], above[3], below[3];
            move_along(qpos, j, step, moved);
            site_position(f.path, moved, sites[i], above);
            move_along(qpos, j, -step, moved);
            site_position(f.path, moved, sites[i], below);
            // Default tangents for the normal z: x, then y.
            assert_close(data->normal[i * 10 + j], (above[2] - below[2]) / (2 * step), 1e-9);
            assert_close(data->tangent[(2 * i) * 10 + j], (above[0] - below[0]) / (2 * step), 1e-9);
            assert_close(data->tangent[(2 * i + 1) * 10 + j], (above[1] - below[1]) / (2 * step), 1e-9);
        }
    }
    carom_impact_free(impact);
    free_fixture(&f);
}

// Quaternions of any length mean the same attitude.
static void test_quaternions_are_normalised(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    carom_error error;
    const double unit[] = {0, 0, 1, 0.5, 0.5, -0.5, 0.5, 0.6, 0, 0.8, 0, 0.3};
    const double scaled[] = {0, 0, 1, 2, 2, -2, 2, 0.06, 0, 0.08, 0, 0.3};
    carom_model_contact contact = ground_contact("A", "hand");
    assert_ok(carom_model_set_state(f.model, unit, 12, NULL, 0, &error), error);
    carom_impact *first = freeze(f.model, &contact, 1);
    assert_ok(carom_model_set_state(f.model, scaled, 12, NULL, 0, &error), error);
    carom_impact *second = freeze(f.model, &contact, 1);
    assert_all_close(carom_impact_get_data(second)->mass, carom_impact_get_data(first)->mass, 100, 1e-14);
    assert_all_close(carom_impact_get_data(second)->normal, carom_impact_get_data(first)->normal, 10, 1e-14);
    carom_impact_free(first);
    carom_impact_free(second);
    free_fixture(&f);
}

// ------------------------------------------------------------------------------------------------- normals and tangents

// The default tangents of a contact, read off a body that is free in space: rows 0..2 of its linear velocity.
static void read_default_tangents(carom_model *model, const double normal[3], double t1[3], double t2[3]) {
    carom_model_contact contact = ground_contact("A", "leg");
    memcpy(contact.normal, normal, sizeof contact.normal);
    carom_impact *impact = freeze(model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->tangent_dim, 2);
    memcpy(t1, data->tangent, 3 * sizeof *t1);
    memcpy(t2, data->tangent + data->nv, 3 * sizeof *t2);
    carom_impact_free(impact);
}

// t1 = y x n, or x for n parallel to y; t2 = n x t1; the length of n does not matter.
static void test_default_tangents(void **state) {
    (void)state;
    static const double cases[][9] = {
        {0, 0, 7, 1, 0, 0, 0, 1, 0},      {-0.1, 0, 0, 0, 0, 1, 0, 1, 0},       {0, 2, 0, 1, 0, 0, 0, 0, -1},
        {0, -2, 0, 1, 0, 0, 0, 0, 1},     {0.6, 0, 0.8, 0.8, 0, -0.6, 0, 1, 0}, {0, 0.6, 0.8, 1, 0, 0, 0, 0.8, -0.6},
        {0, 0, 1e-200, 1, 0, 0, 0, 1, 0},
    };
    fixture f = load_text(spatial_model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double t1[3], t2[3];
        read_default_tangents(f.model, cases[i], t1, t2);
        assert_all_close(t1, cases[i] + 3, 3, 1e-15);
        assert_all_close(t2, cases[i] + 6, 3, 1e-15);
    }
    free_fixture(&f);
}

// Second tangents along which nothing moves make the scene planar, also where both are given.
static void test_planar_models_have_one_tangent(void **state) {
    (void)state;
    fixture f = load_text(PLANAR_MODEL("", ""));
    carom_model_contact contact = ground_contact("A", "corner");
    for (int tangents = 0; tangents <= 2; tangents++) {
        contact.tangents = tangents;
        memcpy(contact.tangent, (double[2][3]){{-3, 0, 0}, {0, 1, 0}}, sizeof contact.tangent);
        carom_impact *impact = freeze(f.model, &contact, 1);
        const carom_impact_data *data = carom_impact_get_data(impact);
        assert_int_equal(data->tangent_dim, 1);
        assert_close(data->tangent[0], tangents ? -1 : 1, 1e-15);
        assert_close(data->tangent[2], tangents ? 0.5 : -0.5, 1e-15);
        carom_impact_free(impact);
    }
    free_fixture(&f);
}

// One tangent given for one contact makes all of them planar.
static void test_given_tangents_decide_for_all(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    carom_model_contact contacts[2] = {ground_contact("A", "leg"), ground_contact("B", "hand")};
    contacts[1].tangents = 1;
    contacts[1].tangent[0][1] = 1;
    carom_impact *impact = freeze(f.model, contacts, 2);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->tangent_dim, 1);
    assert_close(data->tangent[0], 1, 1e-15);
    carom_impact_free(impact);

    contacts[0].tangents = 2;
    carom_error error;
    assert_refused(carom_model_freeze(f.model, contacts, 2, &impact, &error), CAROM_BAD_INPUT, error, "contact 'B': 1 tangents");
    contacts[0].tangents = 3;
    assert_refused(carom_model_freeze(f.model, contacts, 2, &impact, &error), CAROM_BAD_INPUT, error, "up to two tangents");
    free_fixture(&f);
}

static void test_directions_are_checked(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    const carom_model_contact good = ground_contact("A", "leg");
    carom_model_contact bad = good;
    bad.normal[2] = 0;
    assert_contact_refused(f.model, bad, "contact 'A': the normal needs a finite length");
    bad.normal[0] = (double)NAN;
    assert_contact_refused(f.model, bad, "contact 'A': the normal needs a finite length");
    bad.normal[0] = (double)INFINITY;
    assert_contact_refused(f.model, bad, "contact 'A': the normal needs a finite length");

    bad = good;
    bad.tangents = 2;
    memcpy(bad.tangent, (double[2][3]){{1, 0, 1e-5}, {0, 1, 0}}, sizeof bad.tangent);
    assert_contact_refused(f.model, bad, "tangent 1 is not orthogonal to the normal");
    memcpy(bad.tangent, (double[2][3]){{1, 0, 0}, {1, 1, 0}}, sizeof bad.tangent);
    assert_contact_refused(f.model, bad, "the two tangents are not orthogonal");
    memcpy(bad.tangent, (double[2][3]){{1, 0, 0}, {0, 0, 0}}, sizeof bad.tangent);
    assert_contact_refused(f.model, bad, "tangent 2 needs a finite length");
    memcpy(bad.tangent, (double[2][3]){{1, 0, 1e-7}, {0, 2, 0}}, sizeof bad.tangent);
    carom_impact *impact = freeze(f.model, &bad, 1);
    assert_close(carom_impact_get_data(impact)->tangent[carom_model_nv(f.model) + 1], 1, 1e-15);
    carom_impact_free(impact);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_model),
        cmocka_unit_test(test_boxwall_model),
        cmocka_unit_test(test_compass_model),
        cmocka_unit_test(test_shipped_scenes),
        cmocka_unit_test(test_body_point_is_site),
        cmocka_unit_test(test_two_places_are_a_difference),
        cmocka_unit_test(test_pair_keeps_momentum),
        cmocka_unit_test(test_geoms_touch_where_they_are_extreme),
        cmocka_unit_test(test_spheres_need_their_line_of_centres),
        cmocka_unit_test(test_jacobian_against_differences),
        cmocka_unit_test(test_quaternions_are_normalised),
        cmocka_unit_test(test_default_tangents),
        cmocka_unit_test(test_planar_models_have_one_tangent),
        cmocka_unit_test(test_given_tangents_decide_for_all),
        cmocka_unit_test(test_directions_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
