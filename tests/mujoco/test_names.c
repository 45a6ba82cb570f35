// SPDX-License-Identifier: Apache-2.0
// What a frozen model says of itself: a name for each velocity, and where its contacts are.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_support.h"
#include "robot_support.h"

static void assert_names(const carom_impact *impact, int nv, const char *const *names, const char *turns) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->nv, nv);
    for (int i = 0; i < nv; i++) {
        assert_string_equal(data->velocity_names[i], names[i]);
        assert_int_equal(data->velocity_turns[i], turns[i] == 'r');
    }
}

static void test_velocities_are_named_by_their_joints(void **state) {
    (void)state;
    // The free joint has no name, and its body's stands for it; the ball joint and the hinge have numbers.
    fixture f = load_text(spatial_model);
    const carom_model_contact contact = ground_contact("leg", "leg");
    carom_impact *impact = freeze(f.model, &contact, 1);
    assert_names(impact, 10,
                 (const char *[]){"drone.x", "drone.y", "drone.z", "drone.wx", "drone.wy", "drone.wz", "joint1.wx", "joint1.wy",
                                  "joint1.wz", "joint2"},
                 "mmmrrrrrrr");
    carom_impact_free(impact);
    free_fixture(&f);

    fixture planar = load_text(PLANAR_MODEL("", ""));
    const carom_model_contact corner = ground_contact("corner", "corner");
    impact = freeze(planar.model, &corner, 1);
    assert_names(impact, 3, (const char *[]){"x", "z", "turn"}, "mmr");
    carom_impact_free(impact);
    free_fixture(&planar);
}

#define FREE_BALL(body, joint, place)                                                                                                      \
    "<body " body " pos='" place " 0 0.1'><freejoint " joint "/><geom type='sphere' size='0.1' mass='1'/></body>"

// Bodies and joints may share their names, and some have none.
static void test_velocities_have_distinct_names(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR FREE_BALL("", "", "0") FREE_BALL("", "", "1") FREE_BALL("name='ball'", "", "2")
                              FREE_BALL("", "name='ball'", "3") "</worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->nv, 24);
    assert_string_equal(data->velocity_names[0], "base.x");
    assert_string_equal(data->velocity_names[6], "base:2.x");
    assert_string_equal(data->velocity_names[12], "ball.x");
    assert_string_equal(data->velocity_names[23], "ball:2.wz");
    carom_impact_free(impact);
    free_fixture(&f);
}

// Names of any length and with any characters stay distinct and short enough.
static void test_long_names_are_cut(void **state) {
    (void)state;
    char text[2000], name[201];
    memset(name, 'j', 200);
    name[200] = '\0';
    snprintf(text, sizeof text,
             "<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><joint name='%s1' type='slide' axis='0 0 1'/>"
             "<joint name='%s2' type='slide' axis='1 0 0'/><geom type='sphere' size='0.1' mass='1'/></body></worldbody></mujoco>",
             name, name);
    fixture f = load_text(text);
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_true(strlen(data->velocity_names[0]) <= CAROM_MAX_NAME && strlen(data->velocity_names[1]) <= CAROM_MAX_NAME);
    assert_string_not_equal(data->velocity_names[0], data->velocity_names[1]);
    carom_impact_free(impact);
    free_fixture(&f);
}

static void test_detected_contacts_have_places(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body name='rod' pos='0.5 0.25 0.1'><freejoint name='root'/>"
                          "<geom name='foot' type='sphere' size='0.1' mass='1'/></body></worldbody></mujoco>");
    set_velocity(f.model, (double[]){0, 0, -1, 0, 0, 0});
    carom_impact *impact = detect(f.model);
    const carom_contact_geometry *geometry = carom_impact_get_data(impact)->geometry;
    assert_non_null(geometry);
    assert_all_close(geometry->points, ((double[]){0.5, 0.25, 0}), 3, 1e-12);
    assert_all_close(geometry->normals, ((double[]){0, 0, 1}), 3, 0);
    assert_all_close(geometry->tangents, ((double[]){1, 0, 0, 0, 1, 0}), 6, 1e-15);
    assert_string_equal(geometry->bodies[0], "world");
    assert_string_equal(geometry->bodies[1], "rod");
    assert_string_equal(geometry->geoms[0], "floor");
    assert_string_equal(geometry->geoms[1], "foot");
    assert_int_equal(geometry->nq, 7);
    assert_all_close(geometry->qpos, ((double[]){0.5, 0.25, 0.1, 1, 0, 0, 0}), 7, 0);
    carom_impact_free(impact);
    free_fixture(&f);
}

// A site is no geom, and a joint at its stop is nowhere.
static void test_sites_and_stops_have_no_geoms(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body name='arm' pos='0 0 0.3'><joint name='z' type='slide' axis='0 0 1'/>"
                          "<geom size='0.1'/><site name='tip' pos='0 0 -0.3'/><body pos='0 0 1'>"
                          "<joint name='door' limited='true' range='0 90'/><geom size='0.1'/></body></body></worldbody></mujoco>");
    const carom_model_contact contact = site_contact("tip", "tip");
    carom_impact *impact = freeze(f.model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const carom_contact_geometry *geometry = data->geometry;
    assert_int_equal(data->contacts, 2);
    assert_string_equal(data->names[1], "LIMIT:door");
    assert_all_close(geometry->points, ((double[]){0, 0, 0}), 3, 1e-12);
    assert_string_equal(geometry->bodies[1], "arm");
    assert_null(geometry->geoms[0]);
    assert_null(geometry->geoms[1]);
    assert_null(geometry->bodies[2]);
    assert_null(geometry->bodies[3]);
    assert_true(isnan(geometry->points[3]) && isnan(geometry->normals[5]) && isnan(geometry->tangents[3 * data->tangent_dim]));
    carom_impact_free(impact);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_velocities_are_named_by_their_joints),
        cmocka_unit_test(test_velocities_have_distinct_names),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_detected_contacts_have_places),
        cmocka_unit_test(test_sites_and_stops_have_no_geoms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
