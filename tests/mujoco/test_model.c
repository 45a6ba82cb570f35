// SPDX-License-Identifier: Apache-2.0
// MuJoCo models: the shipped scenes against the published matrices, contact Jacobians, and what is refused.
#include "models.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mujoco/mujoco_internal.h"

// ------------------------------------------------------------------------------------------------------------ helpers

#define PI 3.14159265358979323846

// A body that slides in x and z and turns about y, with what a test adds to its body, and to the model.
#define PLANAR_MODEL(in_body, in_model)                                                                                                    \
    "<mujoco><worldbody><body name='box' pos='0 0 1'><joint name='x' type='slide' axis='1 0 0'/>"                                          \
    "<joint name='z' type='slide' axis='0 0 1'/><joint name='turn' type='hinge' axis='0 1 0'/>"                                            \
    "<inertial pos='0.1 0 0' mass='2' diaginertia='0.3 0.2 0.25'/><site name='corner' pos='0.5 0 -0.5'/>" in_body "</body>"                \
    "</worldbody>" in_model "</mujoco>"

// Two bodies, free in space and with a ball joint, and an arm on the second.
static const char spatial_model[] =
    "<mujoco><worldbody>"
    "<body name='drone' pos='0 0 2'><freejoint/><inertial pos='0.1 0.2 -0.1' mass='1.5' diaginertia='0.3 0.2 0.25'/>"
    "<site name='leg' pos='0.3 -0.2 -0.4'/></body>"
    "<body name='pendulum' pos='1 0 3'><joint type='ball'/><inertial pos='0 0 -0.5' mass='0.7' diaginertia='0.1 0.12 0.08'/>"
    "<body name='arm' pos='0 0 -1'><joint type='hinge' axis='1 2 0'/><inertial pos='0 0.3 0' mass='0.4' diaginertia='0.02 0.03 0.04'/>"
    "<site name='hand' pos='0.1 0.5 -0.2'/></body></body>"
    "</worldbody></mujoco>";

static void assert_text_refused(const char *text, const char *message) {
    char *directory = support_make_directory();
    char *path = support_write_file(directory, "model.xml", text);
    carom_error error;
    carom_model *model = (carom_model *)&error;
    assert_refused(carom_model_load(path, &model, &error), CAROM_BAD_INPUT, error, message);
    assert_null(model);
    assert_non_null(strstr(error.message, path));
    free(path);
    support_remove_directory(directory);
}

// A contact of a site with the ground.
static carom_model_contact ground_contact(const char *name, const char *site) {
    return (carom_model_contact){
        .name = name, .places = 1, .place = {{.kind = CAROM_PLACE_SITE, .name = site}}, .normal = {0, 0, 1}, .friction = 0.5};
}

static void assert_contact_refused(carom_model *model, carom_model_contact contact, const char *message) {
    carom_error error;
    carom_impact *impact = (carom_impact *)&error;
    assert_refused(carom_model_freeze(model, &contact, 1, &impact, &error), CAROM_BAD_INPUT, error, message);
    assert_null(impact);
}

// The model loads, but a contact at its site "corner" is refused with this message.
static void assert_freeze_refused(const char *text, const char *message) {
    fixture f = load_text(text);
    assert_contact_refused(f.model, ground_contact("A", "corner"), message);
    free_fixture(&f);
}

static void assert_freezes(const char *text) {
    fixture f = load_text(text);
    carom_model_contact contact = ground_contact("A", "corner");
    carom_impact_free(freeze(f.model, &contact, 1));
    free_fixture(&f);
}

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

// Position of the site in the world, found through the normal rows of contacts would be circular: MuJoCo's own kinematics tell it.
static void site_position(const char *path, const double *qpos, const char *site, double position[3]) {
    char message[500];
    mjModel *compiled = mj_loadXML(path, NULL, message, sizeof message);
    assert_non_null(compiled);
    mjData *data = mj_makeData(compiled);
    mju_copy(data->qpos, qpos, compiled->nq);
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

// One tangent given for one contact is the planar rule for all of them.
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

// --------------------------------------------------------------------------------------------------- places and names

static void test_missing_places_are_named(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    carom_model_contact contact = ground_contact("foot", "nowhere");
    assert_contact_refused(f.model, contact, "contact 'foot': there is no site called 'nowhere'");
    contact.place[0].kind = CAROM_PLACE_GEOM;
    assert_contact_refused(f.model, contact, "contact 'foot': there is no geom called 'nowhere'");
    contact.place[0].kind = CAROM_PLACE_BODY_POINT;
    assert_contact_refused(f.model, contact, "contact 'foot': there is no body called 'nowhere'");
    contact.place[0].name = NULL;
    assert_contact_refused(f.model, contact, "there is no body called ''");
    contact.place[0] = (carom_place){CAROM_PLACE_BODY_POINT, "arm", {0, (double)NAN, 0}};
    assert_contact_refused(f.model, contact, "point[1] is not finite");
    contact.name = NULL;
    assert_contact_refused(f.model, contact, "contact number 1: point[1]");
    contact.places = 3;
    assert_contact_refused(f.model, contact, "one place or two, not 3");
    free_fixture(&f);
}

// Contacts that no motion opens or closes are mistakes: on the world, on one body, or across the only direction of motion.
static void test_idle_contacts_are_refused(void **state) {
    (void)state;
    fixture f = load_text(PLANAR_MODEL("<site name='other' pos='0.5 0 0.5'/>", ""));
    carom_model_contact contact = ground_contact("A", "corner");
    contact.place[0] = (carom_place){.kind = CAROM_PLACE_BODY_POINT, .name = "world"};
    assert_contact_refused(f.model, contact, "no joint of the model changes its distance");
    contact.places = 2;
    contact.place[0] = (carom_place){.kind = CAROM_PLACE_SITE, .name = "corner"};
    contact.place[1] = (carom_place){.kind = CAROM_PLACE_SITE, .name = "other"};
    assert_contact_refused(f.model, contact, "no joint of the model changes its distance");
    contact.places = 1;
    memcpy(contact.normal, (double[]){0, 1, 0}, sizeof contact.normal);
    assert_contact_refused(f.model, contact, "no joint of the model changes its distance");
    free_fixture(&f);
}

static void test_contact_names(void **state) {
    (void)state;
    fixture f = load_text(PLANAR_MODEL("<site name='other' pos='-0.5 0 -0.5'/>", ""));
    carom_error error;
    carom_impact *impact;
    carom_model_contact contacts[2] = {ground_contact(NULL, "corner"), ground_contact(NULL, "other")};
    contacts[0].restitution = 0.25;
    impact = freeze(f.model, contacts, 2);
    assert_string_equal(carom_impact_get_data(impact)->names[1], "B");
    assert_close(carom_impact_get_data(impact)->restitution[0], 0.25, 0);
    carom_impact_free(impact);
    contacts[1].name = "toe";
    assert_refused(carom_model_freeze(f.model, contacts, 2, &impact, &error), CAROM_BAD_INPUT, error, "contact number 1 has no name");
    contacts[0].name = "toe";
    assert_int_equal(carom_model_freeze(f.model, contacts, 2, &impact, &error), CAROM_BAD_INPUT);
    contacts[0].name = "heel";
    contacts[0].friction = -1;
    assert_int_equal(carom_model_freeze(f.model, contacts, 2, &impact, &error), CAROM_BAD_INPUT);
    assert_refused(carom_model_freeze(f.model, contacts, 0, &impact, &error), CAROM_BAD_INPUT, error, "an impact needs 1 to");
    free_fixture(&f);
}

// -------------------------------------------------------------------------------------------------------------- states

static void test_states_are_checked(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    carom_error error;
    double qpos[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}, qvel[10] = {0};
    assert_refused(carom_model_set_state(f.model, qpos, 11, qvel, 10, &error), CAROM_BAD_INPUT, error, "qpos has 11 numbers");
    assert_refused(carom_model_set_state(f.model, qpos, 12, qvel, 12, &error), CAROM_BAD_INPUT, error, "qvel has 12 numbers");
    qvel[7] = (double)NAN;
    assert_refused(carom_model_set_state(f.model, NULL, 0, qvel, 10, &error), CAROM_BAD_INPUT, error, "qvel[7] is not finite");
    qpos[2] = (double)INFINITY;
    assert_refused(carom_model_set_state(f.model, qpos, 12, NULL, 0, &error), CAROM_BAD_INPUT, error, "qpos[2] is not finite");
    qpos[2] = 0;
    qpos[7] = 0;
    assert_refused(carom_model_set_state(f.model, qpos, 12, NULL, 0, &error), CAROM_BAD_INPUT, error, "qpos[7..10] is a quaternion");
    qpos[7] = 1e200;
    assert_refused(carom_model_set_state(f.model, qpos, 12, NULL, 0, &error), CAROM_BAD_INPUT, error, "qpos[7..10] is a quaternion");
    assert_int_equal(carom_model_set_state(f.model, qpos, 1, NULL, 0, NULL), CAROM_BAD_INPUT);
    free_fixture(&f);
}

static void test_keyframes(void **state) {
    (void)state;
    fixture f = load_text(PLANAR_MODEL("", "<keyframe><key name='rest' qpos='0 0 0'/><key name='fall' qpos='0 0 1.5707963267948966' "
                                           "qvel='1 2 3'/></keyframe>"));
    carom_error error;
    carom_model_contact contact = ground_contact("A", "corner");
    assert_ok(carom_model_set_keyframe(f.model, "fall", &error), error);
    carom_impact *impact = freeze(f.model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_all_close(data->velocity, ((double[]){1, 2, 3}), 3, 0);
    // A quarter turn about y takes the corner (0.5, -0.5) to (-0.5, -0.5), whose height grows with the angle.
    assert_close(data->normal[2], 0.5, 1e-15);
    carom_impact_free(impact);

    // The velocity may be replaced and the position kept.
    assert_ok(carom_model_set_state(f.model, NULL, 0, (double[]){0, -1, 0}, 3, &error), error);
    impact = freeze(f.model, &contact, 1);
    assert_close(carom_impact_get_data(impact)->velocity[1], -1, 0);
    assert_close(carom_impact_get_data(impact)->normal[2], 0.5, 1e-15);
    carom_impact_free(impact);

    assert_refused(carom_model_set_keyframe(f.model, "jump", &error), CAROM_BAD_INPUT, error, "there is no keyframe called 'jump'");
    assert_int_equal(carom_model_set_keyframe(f.model, "", &error), CAROM_BAD_INPUT);
    assert_int_equal(carom_model_set_keyframe(f.model, NULL, &error), CAROM_BAD_INPUT);
    free_fixture(&f);
}

// ---------------------------------------------------------------------------------------------------------- constraints

static void test_dry_friction_is_refused(void **state) {
    (void)state;
#define WITH_LEG(attributes)                                                                                                               \
    PLANAR_MODEL("<body><joint name='knee' " attributes "/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>", "")
    assert_freeze_refused(WITH_LEG("frictionloss='0.1'"), "joint 'knee' has frictionloss");
    assert_freezes(WITH_LEG("damping='0.1' stiffness='3' armature='0.2'"));
#undef WITH_LEG
}

static void test_tendons_are_refused_when_they_act(void **state) {
    (void)state;
#define WITH_TENDON(attributes) PLANAR_MODEL("", "<tendon><fixed name='cable' " attributes "><joint joint='x' coef='2'/></fixed></tendon>")
    assert_freeze_refused(WITH_TENDON("limited='true' range='0 1'"), "tendon 'cable' is at its limit");
    assert_freeze_refused(WITH_TENDON("frictionloss='1'"), "tendon 'cable' has frictionloss");
    assert_freezes(WITH_TENDON("limited='true' range='-1 1'"));
    assert_freezes(WITH_TENDON("stiffness='10'"));
#undef WITH_TENDON
}

// ------------------------------------------------------------------------------------------------------------ bad files

static void test_bad_models_are_refused(void **state) {
    (void)state;
    assert_text_refused("", "XML");
    assert_text_refused("<mujoco><worldbody>", "XML");
    assert_text_refused("<mujoco><worldbody><body><joint/><geom size='1'", "XML");
    assert_text_refused("<mujoco><worldbody><body><joint speed='3'/><geom size='1'/></body></worldbody></mujoco>", "speed");
    assert_text_refused(
        "<mujoco><asset><mesh file='nowhere.stl'/></asset><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>",
        "nowhere.stl");
    assert_text_refused("<mujoco><include file='nowhere.xml'/></mujoco>", "nowhere.xml");
    assert_text_refused("<mujoco><include file='model.xml'/></mujoco>", "model.xml");
    assert_text_refused("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>", "has no joints");
    assert_text_refused("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "mass");
    carom_error error;
    carom_model *model;
    assert_refused(carom_model_load("scenes/nowhere.xml", &model, &error), CAROM_IO_FAILED, error, "scenes/nowhere.xml");
    assert_refused(carom_model_load("scenes", &model, &error), CAROM_IO_FAILED, error, "scenes");
    assert_int_equal(carom_model_load("/dev/zero", &model, &error), CAROM_BAD_INPUT);
    assert_int_equal(carom_model_load("", &model, &error), CAROM_BAD_INPUT);
    assert_int_equal(carom_model_load(NULL, &model, NULL), CAROM_BAD_INPUT);
}

// MuJoCo only warns about a NaN in an attribute.
static void test_nan_in_a_model_is_refused(void **state) {
    (void)state;
    char *directory = support_make_directory();
    static const char *const texts[] = {
        "<mujoco><worldbody><body><joint name='x' type='slide' axis='0 0 1'/><inertial pos='0 0 0' mass='nan' diaginertia='1 1 1'/>"
        "<site name='corner'/></body></worldbody></mujoco>",
        "<mujoco><worldbody><body><joint name='x' type='hinge' axis='0 1 0'/><inertial pos='nan 0 0' mass='1' diaginertia='1 1 1'/>"
        "<site name='corner'/></body></worldbody></mujoco>",
        "<mujoco><worldbody><body><joint name='x' type='hinge' axis='0 1 0'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
        "<site name='corner' pos='nan 0 0'/></body></worldbody></mujoco>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *path = support_write_file(directory, "model.xml", texts[i]);
        carom_error error;
        carom_model *model;
        carom_impact *impact = NULL;
        carom_model_contact contact = ground_contact("A", "corner");
        carom_status status = carom_model_load(path, &model, &error);
        if (!status) status = carom_model_freeze(model, &contact, 1, &impact, &error);
        assert_int_equal(status, CAROM_BAD_INPUT);
        assert_null(impact);
        carom_model_free(model);
        free(path);
    }
    support_remove_directory(directory);
}

// Sizes that make MuJoCo throw std::bad_alloc through C are refused before it sees them.
static void test_absurd_sizes_are_refused(void **state) {
    (void)state;
    assert_text_refused(PLANAR_MODEL("", "<size nuser_body='2000000000'/>"), "<size nuser_body>: 2000000000");
    assert_text_refused(PLANAR_MODEL("", "<!-- a -- comment --><size\n\tnjmax = '10' nuser_sensor\n=\"1000000000\"/>"),
                        "<size nuser_sensor>");
    assert_text_refused(PLANAR_MODEL("", "<size nuser_geom='1&#48;00000000'/>"), "<size nuser_geom>");
    assert_text_refused(PLANAR_MODEL("", "<size nkey='2000000000'/>"), "<size nkey>");
    assert_text_refused(PLANAR_MODEL("", "<size nuserdata='2000000000'/>"), "<size nuserdata>");
    assert_text_refused(PLANAR_MODEL("<composite type='particle' count='4000 4000 1' spacing='1'><geom size='1'/></composite>", ""),
                        "<composite count>");
    assert_text_refused(PLANAR_MODEL("", "<asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>"), "<hfield nrow>");
    assert_freezes(PLANAR_MODEL("", "<!-- <size nuser_body='2000000000'/> --><size nuser_body='3' nkey='2' njmax='500' nconmax='100'/>"));
}

// Entities are not expanded, no other file is read, and files that are no XML but that MuJoCo accepts are checked all the same.
static void test_absurd_sizes_in_odd_files(void **state) {
    (void)state;
#define ENTITIES(name)                                                                                                                     \
    "<!DOCTYPE mujoco SYSTEM 'http://127.0.0.1:9/mujoco.dtd' [<!ENTITY e0 '1000000000'><!ENTITY e1 '&e0;&e0;&e0;&e0;&e0;&e0;&e0;&e0;'>"    \
    "<!ENTITY e2 '&e1;&e1;&e1;&e1;&e1;&e1;&e1;&e1;'><!ENTITY e3 '&e2;&e2;&e2;&e2;&e2;&e2;&e2;&e2;'>"                                       \
    "<!ENTITY e4 '&e3;&e3;&e3;&e3;&e3;&e3;&e3;&e3;'><!ENTITY e5 '&e4;&e4;&e4;&e4;&e4;&e4;&e4;&e4;'>]>"                                     \
    "<mujoco model='&" name ";'><size nkey='&" name ";'/></mujoco>"
    static const char *const texts[] = {
        ENTITIES("e0"),
        "<mujoco model='a < b'><size nkey='2000000000'/></mujoco>",
        "<mujoco model='a & b'><size nkey='2000000000'/></mujoco>",
        "<mujoco model='\001'><!-- \002 --><size nkey='2000000000'/></mujoco>",
        "<mujoco><!-- \xff\xfe --><body><body><size nkey='2000000000'/></mujoco>",
        "text <mujoco><size nkey='2000000000'/></mujoco>",
        "<mujoco/><mujoco><size nkey='2000000000'/></mujoco>",
        "<mujoco><body></mujoco><size nkey='2000000000'/>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_text_refused(texts[i], "<size nkey>");
    // These MuJoCo refuses itself: it knows no entities.
    assert_text_refused(ENTITIES("e5"), "nkey");
    assert_text_refused(ENTITIES("undefined"), "nkey");
#undef ENTITIES
    assert_freezes(PLANAR_MODEL("", "<custom><text name='a < b' data='a & b \002'/></custom>"));
}

static void test_absurd_sizes_in_included_files(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *included = support_write_file(directory, "sizes.xml", "<mujoco><size nuser_body='2000000000'/></mujoco>");
    char *path = support_write_file(directory, "model.xml", PLANAR_MODEL("", "<include file='sizes.xml'/>"));
    carom_error error;
    carom_model *model;
    assert_refused(carom_model_load(path, &model, &error), CAROM_BAD_INPUT, error, "sizes.xml: <size nuser_body>");
    free(path);
    free(included);
    support_remove_directory(directory);
}

// --------------------------------------------------------------------------------------------- URDF, handlers, silence

// A URDF robot's root is welded to the world; contacts are points of its links.
static void test_urdf_loads(void **state) {
    (void)state;
    fixture f = load_text("<robot name='swing'><link name='base'><inertial><mass value='1'/>"
                          "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                          "<link name='leg'><inertial><origin xyz='0 0 -0.5'/><mass value='2'/>"
                          "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                          "<joint name='hip' type='continuous'><parent link='base'/><child link='leg'/><origin xyz='0 0 1'/>"
                          "<axis xyz='0 1 0'/></joint></robot>");
    carom_error error;
    assert_int_equal(carom_model_nv(f.model), 1);
    assert_ok(carom_model_set_state(f.model, (double[]){-PI / 6}, 1, (double[]){2}, 1, &error), error);
    carom_model_contact contact = ground_contact("A", NULL);
    contact.place[0] = (carom_place){CAROM_PLACE_BODY_POINT, "leg", {0, 0, -1}};
    carom_impact *impact = freeze(f.model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_close(data->mass[0], 0.1 + 2 * 0.25, 1e-15);
    // The foot stands at x = 0.5, z = 1 - cos 30 degrees.
    assert_close(data->normal[0], -0.5, 1e-15);
    assert_close(data->tangent[0], -cos(PI / 6), 1e-15);
    carom_impact_free(impact);
    free_fixture(&f);
}

// Models of different threads do not meet: loading takes turns, and the handlers are back afterwards.
static void test_threads_load_models(void **state) {
    (void)state;
    fixture f = load_text(spatial_model);
    int failures = 0;
#pragma omp parallel for num_threads(4) reduction(+ : failures)
    for (int i = 0; i < 16; i++) {
        const carom_model_contact contact = ground_contact("A", i % 2 ? "leg" : "nowhere");
        carom_model *model = NULL;
        carom_impact *impact = NULL;
        carom_status status = carom_model_load(f.path, &model, NULL);
        if (!status) status = carom_model_freeze(model, &contact, 1, &impact, NULL);
        failures += status != (i % 2 ? CAROM_OK : CAROM_BAD_INPUT);
        carom_impact_free(impact);
        carom_model_free(model);
    }
    assert_int_equal(failures, 0);
    assert_null(mju_user_error);
    assert_null(mju_user_warning);
    free_fixture(&f);
}

static int foreign_warnings;
static void count_warning(const char *message) {
    (void)message;
    foreign_warnings++;
}

// The caller's handlers are neither called for our models nor lost.
static void test_handlers_are_restored(void **state) {
    (void)state;
    mju_user_warning = count_warning;
    foreign_warnings = 0;
    assert_freezes(PLANAR_MODEL("<geom size='1' user='nan'/>", "<size nuser_geom='1'/>"));
    assert_text_refused("<mujoco><size njmax='100000'/><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>", "mjData");
    assert_int_equal(foreign_warnings, 0);
    assert_ptr_equal(mju_user_warning, count_warning);
    assert_null(mju_user_error);
    mju_warning("test");
    assert_int_equal(foreign_warnings, 1);
    mju_user_warning = NULL;
}

static void raise_error(void *finished) {
    mju_warning("a warning that nobody sees");
    mju_error("first line\nsecond line");
    *(bool *)finished = true;
}

// A run-time error of MuJoCo ends the call, which returns its message in one line, without the handler of the caller.
static void test_runtime_errors_are_returned(void **state) {
    (void)state;
    carom_error error;
    bool finished = false;
    mju_user_error = count_warning;
    foreign_warnings = 0;
    const carom_status status = model_guard_call(raise_error, &finished, &error);
    assert_ptr_equal(mju_user_error, count_warning);
    mju_user_error = NULL;
    assert_refused(status, CAROM_BAD_INPUT, error, "MuJoCo: first line second line");
    assert_false(finished);
    assert_int_equal(foreign_warnings, 0);
}

// Runs `call` with stdout and stderr in a file, and returns how many bytes it printed.
static long count_printed_bytes(void (*call)(void **), const char *directory) {
    char *path = support_write_file(directory, "printed", "");
    fflush(stdout);
    fflush(stderr);
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), file = open(path, O_RDWR);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    call(NULL);
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    const long bytes = (long)lseek(file, 0, SEEK_END);
    close(out);
    close(err);
    close(file);
    free(path);
    return bytes;
}

// Neither good nor bad models print, and MuJoCo's log file does not appear in the working directory.
static void test_nothing_is_printed(void **state) {
    (void)state;
    void (*const calls[])(void **) = {test_bad_models_are_refused,
                                      test_nan_in_a_model_is_refused,
                                      test_absurd_sizes_are_refused,
                                      test_absurd_sizes_in_odd_files,
                                      test_urdf_loads,
                                      test_runtime_errors_are_returned};
    char *directory = support_make_directory();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) assert_int_equal(count_printed_bytes(calls[i], directory), 0);
    assert_int_not_equal(access("MUJOCO_LOG.TXT", F_OK), 0);
    support_remove_directory(directory);
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
        cmocka_unit_test(test_missing_places_are_named),
        cmocka_unit_test(test_idle_contacts_are_refused),
        cmocka_unit_test(test_contact_names),
        cmocka_unit_test(test_states_are_checked),
        cmocka_unit_test(test_keyframes),
        cmocka_unit_test(test_dry_friction_is_refused),
        cmocka_unit_test(test_tendons_are_refused_when_they_act),
        cmocka_unit_test(test_bad_models_are_refused),
        cmocka_unit_test(test_nan_in_a_model_is_refused),
        cmocka_unit_test(test_absurd_sizes_are_refused),
        cmocka_unit_test(test_absurd_sizes_in_odd_files),
        cmocka_unit_test(test_absurd_sizes_in_included_files),
        cmocka_unit_test(test_urdf_loads),
        cmocka_unit_test(test_threads_load_models),
        cmocka_unit_test(test_handlers_are_restored),
        cmocka_unit_test(test_runtime_errors_are_returned),
        cmocka_unit_test(test_nothing_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
