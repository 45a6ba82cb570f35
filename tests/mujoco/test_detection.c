// SPDX-License-Identifier: Apache-2.0
// Detected contacts: their options, names and friction, those that are one or none, and planar models.
#include "robot_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------- detected contacts

static const double cube_velocity[6] = {0.6, 0.2, -1, 0.4, -0.3, 0.5};

// The cube on the floor has its four corners, and the same outcome as the scene that lists them.
static void test_detected_cube_is_the_listed_one(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR CUBE("friction='0.7'") "</worldbody></mujoco>");
    set_velocity(f.model, cube_velocity);
    carom_impact *found = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(found);
    assert_int_equal(data->contacts, 4);
    assert_int_equal(data->tangent_dim, 2);
    assert_string_equal(data->names[0], "cube:1");
    assert_string_equal(data->names[3], "cube:4");

    // Sites in the order of the contacts found: Jn = (0, 0, 1, y, -x, 0) tells which corner it is.
    carom_model_contact listed[4];
    for (int i = 0; i < 4; i++) {
        const double *row = data->normal + 6 * i;
        listed[i] = site_contact(data->names[i], row[3] > 0 ? (row[4] < 0 ? "pp" : "mp") : (row[4] < 0 ? "pm" : "mm"));
        listed[i].friction = 1;
        assert_close(data->friction[i], 1, 0);  // the larger of cube and floor, MuJoCo's rule
    }
    carom_impact *explicit = freeze(f.model, listed, 4);
    const carom_impact_data *other = carom_impact_get_data(explicit);
    assert_all_close(data->normal, other->normal, 4 * 6, 1e-12);
    assert_all_close(data->tangent, other->tangent, 8 * 6, 1e-12);
    double *first = resolve(found), *second = resolve(explicit);
    assert_all_close(first, second, 6, 1e-9);
    assert_true(fabs(first[2] - cube_velocity[2]) > 0.1);
    free(first);
    free(second);
    carom_impact_free(found);
    carom_impact_free(explicit);
    free_fixture(&f);
}

static void test_detection_options(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR CUBE("friction='0.7' margin='0.1' gap='0.1'") "</worldbody></mujoco>");
    carom_error error;
    carom_impact *impact;
    carom_detection detection = carom_detection_defaults();
    detection.friction = 0.25;
    detection.restitution = 0.5;
    assert_ok(carom_model_detect(f.model, &detection, &impact, &error), error);
    assert_close(carom_impact_get_data(impact)->friction[2], 0.25, 0);
    assert_close(carom_impact_get_data(impact)->restitution[2], 0.5, 0);
    carom_impact_free(impact);

    // 5 mm above the floor: inside a margin of 1 cm, outside one of 1 mm; the margins of the model do not count.
    assert_ok(carom_model_set_state(f.model, (double[]){0, 0, 0.505, 1, 0, 0, 0}, 7, NULL, 0, &error), error);
    assert_detection_refused(f.model,
                             "no geoms touch: the nearest, 'floor' and 'cube', are 0.005 m apart, more than the margin of 0.001 m");
    detection.margin = 0.01;
    assert_ok(carom_model_detect(f.model, &detection, &impact, &error), error);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 4);
    carom_impact_free(impact);
    detection.margin = -1;
    assert_refused(carom_model_detect(f.model, &detection, &impact, &error), CAROM_BAD_INPUT, error, "margin is -1");
    detection = carom_detection_defaults();
    detection.margin = 0.01;
    detection.friction = -1;
    assert_int_equal(carom_model_detect(f.model, &detection, &impact, &error), CAROM_BAD_INPUT);
    free_fixture(&f);
}

// Two geoms of one body that touch at one point are one contact, with the larger friction; two bodies are two.
static void test_duplicates_are_merged(void **state) {
    (void)state;
#define BALL(name, x, friction) "<geom name='" name "' size='0.1' pos='" x " 0 0.1' friction='" friction "'/>"
#define SLIPPERY                "<geom name='floor' type='plane' size='5 5 1' friction='0.1'/>"
    fixture f = load_text("<mujoco><worldbody>" SLIPPERY "<body><freejoint/>" BALL("a", "0", "0.3") BALL("b", "0", "0.6")
                              BALL("c", "0.001", "0.9") "</body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 2);
    assert_close(data->friction[0], 0.6, 0);
    assert_close(data->friction[1], 0.9, 0);
    assert_string_equal(data->names[0], "a");
    assert_string_equal(data->names[1], "c");
    carom_impact_free(impact);
    free_fixture(&f);

    f = load_text("<mujoco><worldbody>" SLIPPERY "<body><freejoint/>" BALL("a", "0", "0.3") "</body><body><freejoint/>" BALL(
        "b", "0.2", "0.3") "</body></worldbody></mujoco>");
    impact = detect(f.model);
    data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 3);
    assert_true(carom_impact_find_contact(impact, "a:b") >= 0);
    // From the first geom to the second: moving b away opens the contact.
    assert_close(data->normal[12 * carom_impact_find_contact(impact, "a:b") + 6], 1, 1e-12);
    carom_impact_free(impact);
    free_fixture(&f);
#undef BALL
#undef SLIPPERY
}

// How deep contacts are, and how many joints stand between a link and one that carries it.
static void test_depths_and_neighbours(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body name='trunk' pos='0 0 1'><freejoint/><geom name='trunk' size='0.1'/>"
                          "<body pos='0.2 0 0'><joint axis='0 1 0'/><geom name='upper' size='0.05'/>"
                          "<body pos='-0.06 0 0.03'><joint axis='0 1 0'/><geom name='lower' size='0.05'/></body></body></body>"
                          "<body name='foot' pos='3 0 0.042'><freejoint/><geom name='foot' size='0.1'/></body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int foot = carom_impact_find_contact(impact, "foot"), near = carom_impact_find_contact(impact, "trunk:lower");
    assert_true(foot >= 0 && near >= 0);
    assert_close(data->geometry->gaps[foot], -0.058, 1e-12);
    assert_close(data->geometry->gaps[near], hypot(0.14, 0.03) - 0.15, 1e-12);
    assert_int_equal(data->geometry->joints[foot], 0);
    assert_int_equal(data->geometry->joints[near], 2);
    carom_impact_free(impact);
    free_fixture(&f);
}

// Names have no comma and are distinct, whatever the model calls its geoms.
static void test_detected_names(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body name='leg'><freejoint/><geom size='0.1' pos='0 0 0.1'/>"
                          "<geom name='leg:1' size='0.1' pos='1 0 0.1'/><geom name='toe, left' size='0.1' pos='2 0 0.1'/>"
                          "<geom size='0.1' pos='3 0 0.1'/><geom name='toe__left' size='0.1' pos='4 0 0.1'/></body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    static const char *const names[] = {"leg:1", "leg:1:1", "toe__left:1", "leg:2", "toe__left:2"};
    assert_int_equal(data->contacts, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(data->names[i], names[i]);
    carom_impact_free(impact);
    free_fixture(&f);
}

// A ball that slides along x only, between the floor and a wall: the floor's distance never changes.
static void test_idle_detected_contacts_are_dropped(void **state) {
    (void)state;
    fixture f =
        load_text("<mujoco><worldbody>" FLOOR "<geom name='wall' type='plane' size='1 1 1' pos='-0.1 0 0' zaxis='1 0 0'/>"
                  "<body pos='0 0 0.1'><joint type='slide' axis='1 0 0'/><geom name='ball' size='0.1'/></body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_close(carom_impact_get_data(impact)->normal[0], 1, 1e-15);
    assert_int_equal(carom_model_warnings(f.model), 1);
    assert_true(warns(f.model, "contact 'ball:1' is left out"));
    assert_null(carom_model_warning(f.model, 1));
    carom_impact_free(impact);

    // Warnings are of the last call.
    carom_error error;
    assert_ok(carom_model_set_state(f.model, (double[]){0.5}, 1, NULL, 0, &error), error);
    assert_detection_refused(f.model, "none of the 1 contacts found");
    free_fixture(&f);
}

static void test_what_friction_cannot_be(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR CUBE("condim='6'") "</worldbody></mujoco>");
    carom_impact_free(detect(f.model));
    assert_true(warns(f.model, "torsional and rolling friction"));
    free_fixture(&f);
    assert_text_refused("<mujoco><worldbody>" FLOOR CUBE("") "</worldbody><contact><pair geom1='cube' geom2='floor' "
                                                             "friction='1 0.5 0.1 0.1 0.1'/></contact></mujoco>",
                        "different friction along its two tangents, 1 and 0.5");
    assert_text_refused("<mujoco><option><flag contact='disable'/></option><worldbody>" FLOOR CUBE("") "</worldbody></mujoco>",
                        "no geoms touch: the model disables contacts by <flag contact=\"disable\"/>");
    assert_text_refused("<mujoco><option><flag constraint='disable'/></option><worldbody>" FLOOR CUBE("") "</worldbody></mujoco>",
                        "no geoms touch: the model disables all constraints, contacts included, by <flag constraint=\"disable\"/>");
    assert_text_refused("<mujoco><worldbody>" FLOOR CUBE("contype='0' conaffinity='0'") "</worldbody></mujoco>",
                        "no geoms touch: none that may collide");
}

// ------------------------------------------------------------------------------------------------------- planar models

#define PLANAR_BOX(joints, attributes)                                                                                                     \
    "<mujoco><worldbody>" FLOOR "<body pos='0 0 0.5'>" joints "<geom name='box' type='box' size='0.5 0.25 0.5' " attributes                \
    "/></body></worldbody></mujoco>"
#define PLANE "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 -1 0'/>"

// Corners that differ across the plane only are one contact: two of four are left, each with its own rows.
static void test_planar_box_has_two_corners(void **state) {
    (void)state;
    fixture f = load_text(PLANAR_BOX(PLANE, ""));
    set_velocity(f.model, (double[]){0.3, -1, 0.4});
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->tangent_dim, 1);
    assert_int_equal(data->contacts, 2);
    assert_int_equal(carom_model_warnings(f.model), 1);
    assert_true(warns(f.model, "the scene is planar, where contacts that differ across its plane only are one: box:"));
    // Rows are (0, 1, x) and (1, 0, 1/2), with the corners at x = 1/2 and -1/2.
    assert_close(data->normal[2] * data->normal[5], -0.25, 1e-12);
    assert_all_close(data->tangent, ((double[]){1, 0, 0.5, 1, 0, 0.5}), 6, 1e-12);
    carom_impact_free(impact);
    free_fixture(&f);

    // The same box in space has four, and so has one that may turn about the vertical.
    f = load_text(PLANAR_BOX("<freejoint/>", ""));
    impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 4);
    assert_int_equal(carom_model_warnings(f.model), 0);
    carom_impact_free(impact);
    free_fixture(&f);
    f = load_text(PLANAR_BOX("<joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 0 1'/>", ""));
    impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 4);
    carom_impact_free(impact);
    free_fixture(&f);
}

// Merging changes no outcome, keeps the larger friction, and moves the rows of all that stands behind.
static void test_planar_merge(void **state) {
    (void)state;
#define FOOT(name, y, friction) "<geom name='" name "' size='0.1' pos='0 " y " 0.1' friction='" friction "'/>"
    static const char head[] = "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1' friction='0.1'/><body>" PLANE;
    static const char stop[] =
        "<geom name='heel' size='0.1' pos='-1 0 0.1' friction='0.4'/>"
        "<body pos='0 0 1'><joint name='arm' axis='0 1 0' limited='true' range='0 90'/><geom size='0.1' pos='0 0 1'/>"
        "</body></body><body pos='3 0 0'>" PLANE FOOT("other", "0", "0.2") "</body></worldbody></mujoco>";
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", head, FOOT("left", "-1", "0.3") FOOT("right", "1", "0.9"), stop);
    fixture f = load_text(text);
    set_velocity(f.model, (double[]){0.5, -1, 0.3, -0.2, 0.4, -0.7, 0.1});
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    static const char *const names[] = {"left", "heel", "other", "LIMIT:arm"};
    assert_int_equal(data->contacts, 4);
    for (int i = 0; i < 4; i++) assert_string_equal(data->names[i], names[i]);
    assert_all_close(data->friction, ((double[]){0.9, 0.4, 0.2, 0}), 4, 0);
    assert_true(warns(f.model, "are one: right into left"));
    carom_impact_free(impact);
    free_fixture(&f);

    // The rows are those of the model that has one foot.
    fixture one;
    snprintf(text, sizeof text, "%s%s%s", head, FOOT("left", "0", "0.9"), stop);
    one = load_text(text);
    snprintf(text, sizeof text, "%s%s%s", head, FOOT("left", "-1", "0.3") FOOT("right", "1", "0.9"), stop);
    f = load_text(text);
    carom_impact *merged = detect(f.model), *single = detect(one.model);
    const size_t rows = (size_t)(4 * carom_model_nv(f.model));
    assert_int_equal(carom_impact_get_data(single)->contacts, 4);
    assert_all_close(carom_impact_get_data(merged)->normal, carom_impact_get_data(single)->normal, rows, 1e-12);
    assert_all_close(carom_impact_get_data(merged)->tangent, carom_impact_get_data(single)->tangent, rows, 1e-12);
    carom_impact_free(merged);
    carom_impact_free(single);
    free_fixture(&f);
    free_fixture(&one);
#undef FOOT
}

// --------------------------------------------------------------------------------------------------------------- meshes

enum { MOST_SIDES = 64 };

// Appends the vertices of a prism of `sides` sides, whose top is wider than its sole at z = 0, and which stands at x.
static void append_prism(char *text, int sides, double x, double turn) {
    for (int i = 0; i < 2 * sides; i++) {
        const double angle = 2 * acos(-1) * (i % sides) / sides + turn, radius = i < sides ? 0.1 : 0.15;
        sprintf(text + strlen(text), "%.9f %.9f %.9f ", x + radius * cos(angle), radius * sin(angle), i < sides ? 0 : 0.05);
    }
}

// Two mesh feet on a plane have all corners of their soles, in the order of their pair and names, whatever the sole's shape.
static void test_mesh_feet_have_all_corners(void **state) {
    (void)state;
    static const int sides[] = {3, 4, 5, 6, 8, 12, 31};
    for (size_t c = 0; c < sizeof sides / sizeof *sides; c++) {
        const int n = sides[c];
        char text[16384] = "<mujoco><asset><mesh name='l' vertex='";
        append_prism(text, n, -1, 0.1);
        strcat(text, "'/><mesh name='r' vertex='");
        append_prism(text, n, 1, 0.4);
        strcat(text, "'/></asset><worldbody><geom type='plane' size='5 5 1'/><body><freejoint/>"
                     "<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/><geom name='left' type='mesh' mesh='l'/>"
                     "<geom name='right' type='mesh' mesh='r'/></body></worldbody></mujoco>");
        fixture f = load_text(text);
        set_velocity(f.model, cube_velocity);
        carom_impact *found = detect(f.model);
        const carom_impact_data *data = carom_impact_get_data(found);
        assert_int_equal(data->contacts, 2 * n);
        for (int i = 0; i < 2 * n; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s:%d", i < n ? "left" : "right", i % n + 1);
            assert_string_equal(data->names[i], name);
            // Jn = (0, 0, 1, y, -x, 0): exactly one corner of the sole is there.
            const double x = -data->normal[6 * i + 4], y = data->normal[6 * i + 3];
            int near = 0;
            for (int k = 0; k < n; k++) {
                const double angle = 2 * acos(-1) * k / n + (i < n ? 0.1 : 0.4);
                near += hypot(x - (i < n ? -1 : 1) - 0.1 * cos(angle), y - 0.1 * sin(angle)) < 1e-6;
            }
            assert_int_equal(near, 1);
            for (int k = 0; k < i; k++) assert_true(hypot(x + data->normal[6 * k + 4], y - data->normal[6 * k + 3]) > 1e-3);
        }
        carom_impact_free(found);
        free_fixture(&f);
    }
}

// A mesh that stands flat on a box has four contacts, or a warning of the version that finds one; on its edge it has none.
static void test_faces_with_one_contact_are_said(void **state) {
    (void)state;
    for (int tilted = 0; tilted < 2; tilted++) {
        char text[4096] = "<mujoco><asset><mesh name='m' vertex='";
        append_prism(text, 4, 0, acos(-1) / 4);
        sprintf(
            text + strlen(text),
            "'/></asset><worldbody><geom name='stone' type='box' size='1 1 0.5' pos='0 0 -0.5'/><body><freejoint/>"
            "<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/><geom type='mesh' mesh='m' euler='0 %d 0'/></body></worldbody></mujoco>",
            tilted ? 10 : 0);
        fixture f = load_text(text);
        carom_detection detection = carom_detection_defaults();
        detection.margin = 0.02;
        carom_impact *found = NULL;
        carom_error error;
        assert_ok(carom_model_detect(f.model, &detection, &found, &error), error);
        bool said = false;
        for (int i = 0; i < carom_model_warnings(f.model); i++)
            said = said || strstr(carom_model_warning(f.model, i), "two flat faces meet in");
        if (tilted)
            assert_false(said);
        else
            assert_true(said == (carom_impact_get_data(found)->contacts == 1));
        carom_impact_free(found);
        free_fixture(&f);
    }
}

// Points inside the sole and on its edges are no contacts; of a round sole the most that one mesh may have are, spread around it; a tilt
// within the margin changes nothing, and one beyond it leaves an edge, as for a box.
static void test_mesh_soles_of_many_points(void **state) {
    (void)state;
    char text[32768] = "<mujoco><asset><mesh name='m' vertex='";
    for (int i = 0; i < 242; i++)
        sprintf(text + strlen(text), "%.4f %.4f %.4f ", 0.02 * (i % 11 - 5), 0.01 * (i / 11 % 11 - 5), i < 121 ? 0 : 0.04);
    strcat(text, "'/></asset><worldbody><geom type='plane' size='5 5 1'/><body><freejoint/><inertial mass='1' pos='0 0 0' diaginertia='1 1 "
                 "1'/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>");
    fixture f = load_text(text);
    static const struct {
        double tilt;
        int contacts;
    } cases[] = {{0, 4}, {1e-7, 4}, {1e-5, 4}, {1e-3, 4}, {0.02, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double turn = cases[c].tilt / 2, qpos[7] = {0, 0, 0.1 * sin(cases[c].tilt), cos(turn), 0, sin(turn), 0};
        carom_error error;
        assert_ok(carom_model_set_state(f.model, qpos, 7, NULL, 0, &error), error);
        carom_impact *found = detect(f.model);
        assert_int_equal(carom_impact_get_data(found)->contacts, cases[c].contacts);
        carom_impact_free(found);
    }
    free_fixture(&f);

    snprintf(text, sizeof text, "<mujoco><asset><mesh name='m' vertex='");
    append_prism(text, MOST_SIDES, 0, 0);
    strcat(text, "'/></asset><worldbody><geom type='plane' size='5 5 1'/><body><freejoint/><inertial mass='1' pos='0 0 0' diaginertia='1 1 "
                 "1'/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>");
    f = load_text(text);
    carom_impact *found = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(found);
    assert_in_range(data->contacts, 16, 32);
    // No corner is farther from a contact than three sides of the sole.
    for (int k = 0; k < MOST_SIDES; k++) {
        const double angle = 2 * acos(-1) * k / MOST_SIDES;
        double nearest = 1;
        for (int i = 0; i < data->contacts; i++)
            nearest = fmin(nearest, hypot(-data->normal[6 * i + 4] - 0.1 * cos(angle), data->normal[6 * i + 3] - 0.1 * sin(angle)));
        assert_true(nearest < 0.03);
    }
    carom_impact_free(found);
    free_fixture(&f);
}

// A square sole, 0.1 from its middle to its corners, on the faces of a box: it has its corners, and where it leans over edges of the box
// those of what is above the box.
static void check_sole_on_box(const char *box, double turn, const double corners[4][2]) {
    char text[8192] = "<mujoco><compiler angle='radian'/><asset><mesh name='m' vertex='";
    append_prism(text, 4, 0, turn);
    strcat(text, "'/></asset><worldbody><geom type='box' ");
    strcat(text, box);
    strcat(text, "/><body><freejoint/><inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/><geom type='mesh' mesh='m'/></body></worldbody>"
                 "</mujoco>");
    fixture f = load_text(text);
    set_velocity(f.model, cube_velocity);
    carom_impact *found = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(found);
    assert_int_equal(data->contacts, 4);
    for (int i = 0; i < 4; i++) {
        assert_close(data->normal[6 * i + 2], 1, 1e-12);
        const double x = -data->normal[6 * i + 4], y = data->normal[6 * i + 3];
        int near = 0;
        for (int k = 0; k < 4; k++) near += hypot(x - corners[k][0], y - corners[k][1]) < 1e-6;
        assert_int_equal(near, 1);
        for (int k = 0; k < i; k++) assert_true(hypot(x + data->normal[6 * k + 4], y - data->normal[6 * k + 3]) > 1e-3);
    }
    carom_impact_free(found);
    free_fixture(&f);
}

static void test_mesh_soles_on_boxes(void **state) {
    (void)state;
    static const double diamond[4][2] = {{0.1, 0}, {0, 0.1}, {-0.1, 0}, {0, -0.1}};
    check_sole_on_box("size='1 1 0.5' pos='0 0 -0.5'", 0, diamond);
    check_sole_on_box("size='1 0.5 1' pos='0.2 0 -0.5' euler='1.5707963267948966 0 0'", 0, diamond);
    check_sole_on_box("size='0.5 1 1' pos='0 0.3 -0.5' euler='0 -1.5707963267948966 0'", 0, diamond);
    // Along the edge x = 0, and on a bar that is narrower than the sole.
    const double s = 0.1 * sqrt(0.5);
    check_sole_on_box("size='1 1 0.5' pos='1 0 -0.5'", acos(-1) / 4, (const double[4][2]){{0, s}, {0, -s}, {s, s}, {s, -s}});
    check_sole_on_box("size='0.03 1 0.5' pos='0 0 -0.5'", acos(-1) / 4,
                      (const double[4][2]){{-0.03, s}, {-0.03, -s}, {0.03, s}, {0.03, -s}});
}

// Of a mirrored patch of more corners than are wanted the same ones stay, whatever round-off does to their places.
static void test_patches_of_equal_distances(void **state) {
    (void)state;
    enum { CORNERS = 12 };
    bool first[CORNERS];
    for (int trial = 0; trial < 64; trial++) {
        double points[2 * CORNERS];
        for (int i = 0; i < CORNERS; i++) {
            const double angle = acos(-1) * (i + 0.5) / (CORNERS / 2);
            // The last bits differ from trial to trial.
            points[2 * i] = 0.1 * cos(angle) + 1e-17 * ((trial * (i + 3)) % 7 - 3);
            points[2 * i + 1] = 0.1 * sin(angle) + 1e-17 * ((trial * (i + 5)) % 11 - 5);
        }
        bool kept[CORNERS];
        carom_error error;
        assert_ok(carom_patch_corners(CORNERS, points, 0.09, kept, &error), error);
        if (trial == 0) memcpy(first, kept, sizeof kept);
        assert_memory_equal(kept, first, sizeof kept);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detected_cube_is_the_listed_one),
        cmocka_unit_test(test_detection_options),
        cmocka_unit_test(test_duplicates_are_merged),
        cmocka_unit_test(test_depths_and_neighbours),
        cmocka_unit_test(test_detected_names),
        cmocka_unit_test(test_idle_detected_contacts_are_dropped),
        cmocka_unit_test(test_what_friction_cannot_be),
        cmocka_unit_test(test_planar_box_has_two_corners),
        cmocka_unit_test(test_planar_merge),
        cmocka_unit_test(test_mesh_feet_have_all_corners),
        cmocka_unit_test(test_faces_with_one_contact_are_said),
        cmocka_unit_test(test_mesh_soles_of_many_points),
        cmocka_unit_test(test_mesh_soles_on_boxes),
        cmocka_unit_test(test_patches_of_equal_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
