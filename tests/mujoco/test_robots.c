// SPDX-License-Identifier: Apache-2.0
// Robots: detected contacts, equality constraints, joints at their stops, generated models of every kind, and the shipped robot scenes.
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------ helpers

static carom_impact *detect(carom_model *model) {
    carom_error error;
    carom_impact *impact;
    assert_ok(carom_model_detect(model, NULL, &impact, &error), error);
    return impact;
}

static void set_velocity(carom_model *model, const double *qvel) {
    carom_error error;
    assert_ok(carom_model_set_state(model, NULL, 0, qvel, carom_model_nv(model), &error), error);
}

static void assert_detection_refused(carom_model *model, const char *message) {
    carom_error error;
    carom_impact *impact = (carom_impact *)&error;
    assert_refused(carom_model_detect(model, NULL, &impact, &error), CAROM_BAD_INPUT, error, message);
    assert_null(impact);
}

// The model loads, but detecting its contacts is refused with this message.
static void assert_text_refused(const char *text, const char *message) {
    fixture f = load_text(text);
    assert_detection_refused(f.model, message);
    free_fixture(&f);
}

// Some warning of the model contains the text.
static bool warns(const carom_model *model, const char *text) {
    for (int i = 0; i < carom_model_warnings(model); i++) {
        if (strstr(carom_model_warning(model, i), text)) return true;
    }
    return false;
}

static carom_model_contact site_contact(const char *name, const char *site) {
    return (carom_model_contact){
        .name = name, .places = 1, .place = {{.kind = CAROM_PLACE_SITE, .name = site}}, .normal = {0, 0, 1}, .friction = 0.5};
}

// v+ of the one outcome of a law, [nv], freed by the caller.
static double *resolve(const carom_impact *impact) {
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_stepper_options options;
    const carom_step_choice choice = carom_step_choice_defaults();
    assert_ok(carom_step_choice_resolve(&choice, CAROM_STEP_SIMULTANEOUS, registry, &options, &error), error);
    carom_stepper *stepper;
    assert_ok(carom_stepper_create(impact, &options, &stepper, &error), error);
    double *v_plus = malloc((size_t)carom_impact_sizes(impact).nv * sizeof *v_plus);
    double *impulse = malloc((size_t)carom_impact_contact_size(impact) * sizeof *impulse);
    carom_step_info info;
    carom_stepper_solve(stepper, carom_impact_get_data(impact)->velocity, NULL, v_plus, impulse, &info);
    assert_int_equal(info.verdict, CAROM_COMPLETE);
    free(impulse);
    carom_stepper_free(stepper);
    carom_registry_free(registry);
    return v_plus;
}

// ---------------------------------------------------------------------------------------------------- detected contacts

#define FLOOR "<geom name='floor' type='plane' size='5 5 1'/>"
#define CUBE(attributes)                                                                                                                   \
    "<body name='cube' pos='0 0 0.5'><freejoint/><geom name='cube' type='box' size='0.5 0.5 0.5' mass='1' " attributes "/>"                \
    "<site name='pp' pos='0.5 0.5 -0.5'/><site name='mp' pos='-0.5 0.5 -0.5'/><site name='pm' pos='0.5 -0.5 -0.5'/>"                       \
    "<site name='mm' pos='-0.5 -0.5 -0.5'/></body>"

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

// ------------------------------------------------------------------------------------------------- equality constraints

// Two equal bars in the plane, hinged at their tops and welded together by a constraint, and the same as one body.
#define BAR(name, x) "<body name='" name "' pos='" x " 0 1'>" PLANE_JOINTS "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/>"
#define PLANE_JOINTS "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 -1 0'/>"

static const char welded_bars[] = "<mujoco><worldbody>" BAR("left", "-1") "<site name='a' pos='-0.5 0 -1'/></body>" BAR(
    "right",
    "1") "<site name='b' pos='0.5 0 -1'/></body></worldbody><equality><weld name='glue' body1='left' body2='right'/></equality></mujoco>";
static const char one_bar[] =
    "<mujoco><worldbody><body name='left' pos='0 0 1'>" PLANE_JOINTS "<inertial pos='0 0 0' mass='2' diaginertia='2.2 2.2 2.2'/>"
    "<site name='a' pos='-1.5 0 -1'/><site name='b' pos='1.5 0 -1'/></body></worldbody></mujoco>";

// A weld makes one body of two: same Delassus operator, same contact velocities, same outcome, and v+ keeps the weld.
static void test_weld_is_one_body(void **state) {
    (void)state;
    const carom_model_contact contacts[2] = {site_contact("A", "a"), site_contact("B", "b")};
    fixture two = load_text(welded_bars), one = load_text(one_bar);
    // The middle moves with (0.3, -1) and turns at 0.4: the bars' centres are at -1 and 1 on it.
    set_velocity(two.model, (double[]){0.3, -1.4, 0.4, 0.3, -0.6, 0.4});
    set_velocity(one.model, (double[]){0.3, -1, 0.4});
    carom_impact *constrained = freeze(two.model, contacts, 2), *body = freeze(one.model, contacts, 2);
    assert_int_equal(carom_impact_get_data(constrained)->nv, 6);
    assert_int_equal(carom_impact_get_data(constrained)->tangent_dim, 1);
    assert_all_close(carom_impact_delassus(constrained), carom_impact_delassus(body), 16, 1e-12);
    double *v = resolve(constrained), *w = resolve(body), u[4], x[4];
    carom_impact_contact_velocity(constrained, v, u);
    carom_impact_contact_velocity(body, w, x);
    assert_all_close(u, x, 4, 1e-12);
    assert_close(v[2], v[5], 1e-12);
    assert_close(v[0], v[3], 1e-12);
    assert_close(v[4] - v[1], 2 * v[2], 1e-12);
    assert_close(v[2], w[2], 1e-12);
    assert_close(carom_impact_kinetic_energy(constrained, v), carom_impact_kinetic_energy(body, w), 1e-12);
    free(v);
    free(w);
    carom_impact_free(constrained);
    carom_impact_free(body);
    free_fixture(&two);
    free_fixture(&one);
}

static void test_velocities_that_break_constraints_are_refused(void **state) {
    (void)state;
    fixture f = load_text(welded_bars);
    const carom_model_contact contact = site_contact("A", "a");
    set_velocity(f.model, (double[]){0.3, -1.4, 0.4, 0.3, -0.6, 0.5});
    carom_error error;
    carom_impact *impact;
    assert_refused(carom_model_freeze(f.model, &contact, 1, &impact, &error), CAROM_BAD_INPUT, error,
                   "the velocity breaks equality constraint 'glue'");
    assert_null(impact);

    // What people round is projected.
    set_velocity(f.model, (double[]){0.3, -1.4, 0.4, 0.3, -0.6, 0.4000001});
    impact = freeze(f.model, &contact, 1);
    const double *v = carom_impact_get_data(impact)->velocity;
    assert_close(v[4] - v[1], 2 * v[2], 1e-14);
    assert_close(v[2], v[5], 1e-14);
    assert_close(v[2], 0.4, 1e-7);
    carom_impact_free(impact);
    free_fixture(&f);
}

// Constraints that say the same twice, or are switched off, or do not hold at the position.
static void test_constraint_corner_cases(void **state) {
    (void)state;
#define TWO_SLIDERS(equalities, flags)                                                                                                     \
    "<mujoco>" flags "<worldbody>" FLOOR "<body pos='0 0 0.1'><joint name='p' type='slide' axis='0 0 1'/><geom name='p' size='0.1' "       \
    "mass='1'/></body><body pos='1 0 0.1'><joint name='q' type='slide' axis='0 0 1'/><geom name='q' size='0.1' mass='3'/></body>"          \
    "</worldbody><equality>" equalities "</equality></mujoco>"
    static const struct {
        const char *text;
        double delassus;
    } cases[] = {
        {TWO_SLIDERS("<joint joint1='p' joint2='q'/><joint joint1='q' joint2='p'/>", ""), 0.25},
        {TWO_SLIDERS("<joint joint1='p' joint2='q' polycoef='0 2 0 0 0'/>", ""), 4 / 7.0},
        {TWO_SLIDERS("<joint joint1='p' joint2='q' active='false'/>", ""), 1},
        {TWO_SLIDERS("<joint joint1='p' joint2='q'/>", "<option><flag equality='disable'/></option>"), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = load_text(cases[i].text);
        carom_impact *impact = detect(f.model);
        assert_int_equal(carom_model_warnings(f.model), 0);
        assert_close(carom_impact_delassus(impact)[0], cases[i].delassus, 1e-14);
        carom_impact_free(impact);
        free_fixture(&f);
    }

    assert_text_refused(TWO_SLIDERS("<joint joint1='p' joint2='q'/><joint joint1='q' joint2='p'/>", "<size njmax='1'/>"),
                        "the equality constraints need more than njmax = 1 rows");

    // Both held: no contact is left. A joint that is off its constraint: a warning.
    assert_text_refused(TWO_SLIDERS("<joint joint1='p'/><joint joint1='q'/>", ""), "none of the 2 contacts found");
    fixture f = load_text(TWO_SLIDERS("<joint name='pair' joint1='p' joint2='q' polycoef='0.5 1 0 0 0'/>", ""));
    carom_impact_free(detect(f.model));
    assert_true(warns(f.model, "the position breaks equality constraint 'pair' by 0.5"));
    free_fixture(&f);
#undef TWO_SLIDERS
}

// -------------------------------------------------------------------------------------------------------- joint limits

// A pendulum at its stop: a contact without friction with the unit row, opening away from the stop.
static void test_joints_at_their_stops(void **state) {
    (void)state;
    fixture f =
        load_text("<mujoco><compiler angle='radian'/><worldbody><body><joint name='knee' axis='0 1 0' limited='true' range='-0.5 1'/>"
                  "<inertial pos='0 0 -1' mass='2' diaginertia='0.1 0.1 0.1'/><site name='foot' pos='1 0 -1'/>"
                  "<body><joint name='hip' type='ball' limited='true' range='0 0.75'/>"
                  "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></body></worldbody></mujoco>");
    carom_error error;
    const carom_model_contact contact = site_contact("A", "foot");
    const double upright[5] = {0.2, 1, 0, 0, 0}, at_stop[5] = {1, cos(0.4), 0, sin(0.4), 0}, below[5] = {-0.6, 1, 0, 0, 0};
    assert_ok(carom_model_set_state(f.model, upright, 5, NULL, 0, &error), error);
    carom_impact *impact = freeze(f.model, &contact, 1);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_int_equal(carom_model_warnings(f.model), 0);
    carom_impact_free(impact);

    assert_ok(carom_model_set_state(f.model, at_stop, 5, (double[]){0.5, 0, 2, 0}, 4, &error), error);
    impact = freeze(f.model, &contact, 1);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 3);
    assert_string_equal(data->names[1], "LIMIT:knee");
    assert_string_equal(data->names[2], "LIMIT:hip");
    assert_true(warns(f.model, "joints at their stops are contacts without friction: LIMIT:knee, LIMIT:hip"));
    assert_all_close(data->normal + 4, ((double[]){-1, 0, 0, 0, 0, 0, -1, 0}), 8, 1e-15);
    assert_close(data->friction[1], 0, 0);
    carom_impact_free(impact);

    assert_ok(carom_model_set_state(f.model, below, 5, NULL, 0, &error), error);
    impact = freeze(f.model, &contact, 1);
    assert_close(carom_impact_get_data(impact)->normal[4], 1, 0);
    carom_impact_free(impact);

    // Contacts without names stay without; stops alone are an impact, too.
    carom_model_contact unnamed = contact;
    unnamed.name = NULL;
    impact = freeze(f.model, &unnamed, 1);
    assert_string_equal(carom_impact_get_data(impact)->names[1], "B");
    carom_impact_free(impact);
    impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_true(warns(f.model, "no geoms touch"));
    carom_impact_free(impact);
    free_fixture(&f);
}

// A state rounded to a few digits misses a stop: the user is told.
static void test_joints_near_their_stops(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><compiler angle='radian'/><worldbody><body><joint name='knee' axis='0 1 0' limited='true' range='-1 1'/>"
                          "<inertial pos='0 0 -1' mass='2' diaginertia='0.1 0.1 0.1'/><site name='foot' pos='1 0 -1'/>"
                          "<body><joint name='rail' type='slide' axis='0 0 1' limited='true' range='0 4'/>"
                          "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
                          "<body><joint name='hip' type='ball' limited='true' range='0 0.75'/>"
                          "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></body></body></worldbody></mujoco>");
    carom_error error;
    const carom_model_contact contact = site_contact("A", "foot");
    const double angle = (0.75 - 5e-4) / 2;
    const double near[6] = {1 - 1e-5, 0.003, cos(angle), 0, sin(angle), 0}, away[6] = {1 - 0.0021, 0.0041, 1, 0, 0, 0};
    assert_ok(carom_model_set_state(f.model, near, 6, NULL, 0, &error), error);
    carom_impact *impact = freeze(f.model, &contact, 1);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_int_equal(carom_model_warnings(f.model), 3);
    assert_true(warns(f.model, "hinge 'knee' is 1e-05 rad from its stop; it counts as free"));
    assert_true(warns(f.model, "slide 'rail' is 0.003 m from its stop; it counts as free"));
    assert_true(warns(f.model, "ball joint 'hip' is 0.0005 rad from its stop; it counts as free"));
    carom_impact_free(impact);

    assert_ok(carom_model_set_state(f.model, away, 6, NULL, 0, &error), error);
    impact = freeze(f.model, &contact, 1);
    assert_int_equal(carom_model_warnings(f.model), 0);
    carom_impact_free(impact);

    // Stops that are switched off are not warned of.
    free_fixture(&f);
    f = load_text("<mujoco><option><flag limit='disable'/></option><worldbody>" FLOOR "<body pos='0 0 0.1'>"
                  "<joint type='slide' axis='0 0 1' limited='true' range='-0.0001 1'/><geom size='0.1'/></body></worldbody></mujoco>");
    carom_impact_free(detect(f.model));
    assert_int_equal(carom_model_warnings(f.model), 0);
    free_fixture(&f);
}

// A leg that swings into its stop stops there.
static void test_stop_is_hit(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body><joint name='door' limited='true' range='0 90'/>"
                          "<inertial pos='1 0 0' mass='2' diaginertia='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    set_velocity(f.model, (double[]){-3});
    carom_impact *impact = detect(f.model);
    double *v = resolve(impact);
    assert_close(v[0], 0, 1e-15);
    free(v);
    carom_impact_free(impact);
    free_fixture(&f);
}

// A constraint that holds a joint at its stop takes the stop out.
static void test_held_stop_is_left_out(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><joint name='z' type='slide' axis='0 0 1'/><geom size='0.1'/>"
                          "<body pos='0 0 1'><joint name='door' limited='true' range='0 90'/><geom size='0.1'/></body></body></worldbody>"
                          "<equality><joint joint1='door'/></equality></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_true(warns(f.model, "joint 'door' is at its stop, where the equality constraints hold it"));
    carom_impact_free(impact);
    free_fixture(&f);
}

// ---------------------------------------------------------------------------------------------------- generated models

// What a model is expected to give with {detect: true} at its initial state and rest.
static void assert_detects(const char *text, int nv, int contacts) {
    fixture f = load_text(text);
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->nv, nv);
    assert_int_equal(carom_impact_get_data(impact)->contacts, contacts);
    carom_impact_free(impact);
    free_fixture(&f);
}

static void test_model_with_free_ball_and_hinge_joints(void **state) {
    (void)state;
    assert_detects("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.2'><freejoint/><geom size='0.2'/><body pos='1 0 0'><joint type='ball'/>"
                   "<geom size='0.2'/><body pos='1 0 0'><joint axis='0 1 0'/><geom size='0.2'/></body></body></body></worldbody></mujoco>",
                   10, 3);
}

// Rotor inertia is part of M: a slider of 2 kg with 3 kg of it takes an impulse like 5 kg.
static void test_model_with_armature(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.2'><joint type='slide' axis='0 0 1' armature='3'/>"
                          "<geom size='0.2' mass='2'/></body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_close(carom_impact_delassus(impact)[0], 0.2, 1e-15);
    carom_impact_free(impact);
    free_fixture(&f);
}

#define TENDON_MODEL(attributes)                                                                                                           \
    "<mujoco><worldbody>" FLOOR "<body pos='0 0 0.2'><joint name='z' type='slide' axis='0 0 1'/><geom size='0.2'/></body></worldbody>"     \
    "<tendon><fixed name='cable' " attributes "><joint joint='z' coef='2'/></fixed></tendon></mujoco>"

static void test_model_with_tendon(void **state) {
    (void)state;
    assert_detects(TENDON_MODEL("stiffness='10' limited='true' range='-1 1'"), 1, 1);
    assert_text_refused(TENDON_MODEL("limited='true' range='0 1'"), "tendon 'cable' is at its limit");
    assert_text_refused(TENDON_MODEL("frictionloss='1'"), "tendon 'cable' has frictionloss");
}

// A pyramid that stands on its base: MuJoCo finds up to four corners of a mesh on a plane.
static void test_model_with_mesh(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><asset><mesh name='pyramid' vertex='1 0 0 -1 0.8 0 -1 -0.8 0 0 0 1'/></asset><worldbody>" FLOOR
                          "<body><freejoint/><geom name='rock' type='mesh' mesh='pyramid'/></body></worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const int contacts = carom_impact_get_data(impact)->contacts;
    assert_true(contacts >= 1 && contacts <= 4);
    carom_impact_free(impact);
    free_fixture(&f);
}

static void test_model_with_include(void **state) {
    (void)state;
    char *directory = support_make_directory();
    char *included = support_write_file(directory, "ball.xml",
                                        "<mujoco><worldbody><body pos='0 0 0.2'><freejoint/><geom name='ball' size='0.2'/></body>"
                                        "</worldbody></mujoco>");
    char *path = support_write_file(directory, "model.xml", "<mujoco><worldbody>" FLOOR "</worldbody><include file='ball.xml'/></mujoco>");
    carom_error error;
    carom_model *model;
    assert_ok(carom_model_load(path, &model, &error), error);
    carom_impact *impact = detect(model);
    assert_string_equal(carom_impact_get_data(impact)->names[0], "ball");
    carom_impact_free(impact);
    carom_model_free(model);
    free(included);
    free(path);
    support_remove_directory(directory);
}

// A connect closes the loop of a four-bar linkage: one motion is left, so that the outcome has one degree of freedom.
static void test_model_with_closed_loop(void **state) {
    (void)state;
#define LINK(joint, position, inside)                                                                                                      \
    "<body name='" joint "' pos='" position "'><joint name='" joint "' axis='0 1 0'/><inertial pos='0 0 0.5' mass='1' "                    \
    "diaginertia='0.1 0.1 0.1'/>" inside "</body>"
    fixture f = load_text(
        "<mujoco><worldbody>" LINK("left", "0 0 0",
                                   "<body name='bar' pos='0 0 1'><joint name='bar' axis='0 1 0'/>"
                                   "<inertial pos='0.5 0 0' mass='2' diaginertia='0.1 0.1 0.1'/><site name='tip' pos='1 0 0'/>"
                                   "<site name='side' pos='0.5 0 0'/></body>")
            LINK("right", "1 0 0", "") "</worldbody><equality><connect body1='bar' body2='right' anchor='1 0 0'/></equality></mujoco>");
    carom_model_contact wall = site_contact("wall", "side");
    memcpy(wall.normal, (double[]){1, 0, 0}, sizeof wall.normal);
    // A parallelogram: both bars turn at -2 rad/s while the coupler does not turn; it moves at -2 m/s along x.
    set_velocity(f.model, (double[]){-2, 2, -2});
    carom_impact *impact = freeze(f.model, &wall, 1);
    // Seen from the coupler's motion, the mass is 2 kg and (0.1 + 0.25) kg m^2 / (1 m)^2 for each bar.
    assert_close(carom_impact_delassus(impact)[0], 1 / 2.7, 1e-12);
    double *v = resolve(impact);
    assert_all_close(v, ((double[]){0, 0, 0}), 3, 1e-12);
    free(v);
    carom_impact_free(impact);
    free_fixture(&f);
#undef LINK
}

// A mocap body is moved by the user, not by impulses.
static void test_model_with_mocap(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody><body name='hand' mocap='true'><geom name='palm' type='box' size='0.5 0.5 0.1'/></body>"
                          "<body name='ball' pos='0 0 0.3'><freejoint/><geom name='ball' size='0.2' mass='2'/></body></worldbody>"
                          "<keyframe><key name='away' mpos='0 0 -1' qpos='0 0 0.3 1 0 0 0'/></keyframe></mujoco>");
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 1);
    assert_close(carom_impact_delassus(impact)[0], 0.5, 1e-15);
    assert_string_equal(carom_impact_get_data(impact)->names[0], "ball");
    carom_impact_free(impact);
    carom_error error;
    assert_ok(carom_model_set_keyframe(f.model, "away", &error), error);
    assert_detection_refused(f.model, "are 1 m apart, more than the margin");
    free_fixture(&f);
}

// condim 1 and friction 0 both mean none, although MuJoCo raises the latter to its least coefficient.
static void test_frictionless_model(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><default><geom friction='0'/></default><worldbody>" FLOOR "<body pos='0 0 0.2'><freejoint/>"
                          "<geom name='a' size='0.2'/></body><body pos='9 0 0.2'><freejoint/><geom name='b' size='0.2' condim='1'/></body>"
                          "</worldbody></mujoco>");
    carom_impact *impact = detect(f.model);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->contacts, 2);
    for (int i = 0; i < 2; i++) assert_close(data->friction[i], 0, 0);
    carom_impact_free(impact);
    free_fixture(&f);

    f = load_text("<mujoco><default><geom condim='1'/></default><worldbody>" FLOOR
                  "<body pos='0 0 0.2'><freejoint/><geom size='0.2'/></body>"
                  "</worldbody></mujoco>");
    impact = detect(f.model);
    assert_close(carom_impact_get_data(impact)->friction[0], 0, 0);
    carom_impact_free(impact);
    free_fixture(&f);
}

static void test_model_with_joint_friction(void **state) {
    (void)state;
    assert_text_refused("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.2'><joint name='rail' type='slide' axis='0 0 1' frictionloss='2'/>"
                        "<geom size='0.2'/></body></worldbody></mujoco>",
                        "joint 'rail' has frictionloss");
}

// 200 balls on the floor, with MuJoCo's own room for contacts and with enough of it.
static char *write_many_balls(const char *size) {
    enum { BALLS = 200, ROOM = 1 << 16 };
    char *text = malloc(ROOM);
    int used = snprintf(text, ROOM, "<mujoco>%s<worldbody>" FLOOR "<body pos='0 0 0.1'><freejoint/>", size);
    for (int i = 0; i < BALLS; i++)
        used += snprintf(text + used, (size_t)(ROOM - used), "<geom size='0.1' pos='%d %d 0' mass='1'/>", i % 20, i / 20);
    snprintf(text + used, (size_t)(ROOM - used), "</body></worldbody></mujoco>");
    return text;
}

static void test_model_with_200_contacts(void **state) {
    (void)state;
    char *few = write_many_balls("<size nconmax='100'/>"), *enough = write_many_balls("<size nconmax='300'/>");
    assert_text_refused(few, "there are more contacts than nconmax = 100");
    fixture f = load_text(enough);
    carom_impact *impact = detect(f.model);
    assert_int_equal(carom_impact_get_data(impact)->contacts, 200);
    assert_true(carom_impact_find_contact(impact, "geom200:200") < 0);
    assert_true(carom_impact_find_contact(impact, "geom200") >= 0);
    carom_impact_free(impact);
    free_fixture(&f);
    free(few);
    free(enough);
}

// ------------------------------------------------------------------------------------------------------ URDF and scenes

#define INERTIAL        "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define URDF(root, end) "<robot name='arm'>" root "<link name='base'>" INERTIAL "</link>" end "</robot>"
#define ARM                                                                                                                                \
    "<link name='arm'>" INERTIAL "</link><joint name='turn' type='continuous'><parent link='base'/><child link='arm'/>"                    \
    "<axis xyz='0 1 0'/></joint>"

static void test_welded_urdf_root_is_told(void **state) {
    (void)state;
    fixture f = load_text(URDF("", ARM));
    assert_int_equal(carom_model_nv(f.model), 1);
    assert_true(warns(f.model, "the root link 'base' is welded to the world; to let it move add <link name=\"world\"/>"));
    assert_true(warns(f.model, "<parent link=\"world\"/><child link=\"base\"/></joint>"));
    free_fixture(&f);

    // A robot need not have a name, and the text before it does not matter.
    f = load_text("<?xml version='1.0'?>\n<!DOCTYPE robot>\n<!-- <mujoco> -->\n<robot><link name='base'>" INERTIAL "</link>" ARM
                  "</robot>");
    assert_true(warns(f.model, "the root link 'base' is welded to the world"));
    free_fixture(&f);

    // The advice works, and so does saying that the weld is meant.
#define ADVICE(type) "<link name='world'/><joint name='root' type='" type "'><parent link='world'/><child link='base'/></joint>"
    f = load_text(URDF(ADVICE("floating"), ARM));
    assert_int_equal(carom_model_nv(f.model), 7);
    assert_int_equal(carom_model_warnings(f.model), 0);
    free_fixture(&f);
    f = load_text(URDF(ADVICE("fixed"), ARM));
    assert_int_equal(carom_model_nv(f.model), 1);
    assert_int_equal(carom_model_warnings(f.model), 0);
    free_fixture(&f);
#undef ADVICE

    char *directory = support_make_directory(), *path = support_write_file(directory, "model.xml", URDF("", ""));
    carom_error error;
    carom_model *model;
    assert_refused(carom_model_load(path, &model, &error), CAROM_BAD_INPUT, error, "nothing can move; the root link 'base' is welded");
    free(path);
    support_remove_directory(directory);
}

static carom_scene *read_scene(const char *path, carom_registry *registry) {
    carom_error error;
    carom_scene *scene;
    assert_ok(carom_scene_read(path, registry, &scene, &error), error);
    return scene;
}

static void assert_scene_refused(const char *directory, const carom_registry *registry, const char *text, const char *message) {
    char *path = support_write_file(directory, "scene.yaml", text);
    carom_error error;
    carom_scene *scene;
    assert_refused(carom_scene_read(path, registry, &scene, &error), CAROM_BAD_INPUT, error, message);
    free(path);
}

// The keyframe's position with a velocity of the scene's own, and every key of detected contacts.
static void test_detecting_scenes(void **state) {
    (void)state;
    fixture f =
        load_text("<mujoco><worldbody>" FLOOR CUBE("") "</worldbody><keyframe><key name='down' qpos='0 0 0.5 1 0 0 0' qvel='0 0 -9 0 0 "
                                                       "0'/><key name='up' qpos='0 0 0.51 1 0 0 0'/></keyframe></mujoco>");
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
#define SCENE(key, contacts) "model: model.xml\nstate: {key: " key ", qvel: [0.1, 0, -1, 0, 0, 0]}\ncontacts: " contacts "\n"
    char *path = support_write_file(f.directory, "scene.yaml", SCENE("up", "{detect: true, margin: 0.02, friction: 0.25, restitution: 1}"));
    carom_scene *scene = read_scene(path, registry);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    assert_int_equal(data->contacts, 4);
    assert_all_close(data->velocity, ((double[]){0.1, 0, -1, 0, 0, 0}), 6, 0);
    assert_close(data->friction[3], 0.25, 0);
    assert_close(data->restitution[3], 1, 0);
    carom_scene_free(scene);
    free(path);

    assert_scene_refused(f.directory, registry, SCENE("up", "{detect: true}"), "scene.yaml:3: contacts: no geoms touch");
    assert_scene_refused(f.directory, registry, SCENE("down", "{detect: false}"), "contacts.detect: must be true");
    assert_scene_refused(f.directory, registry, SCENE("down", "{margin: 1}"), "detect");
    assert_scene_refused(f.directory, registry, SCENE("down", "{detect: true, margin: -1}"), "contacts.margin");
    assert_scene_refused(f.directory, registry, SCENE("down", "{detect: true, frition: 1}"), "did you mean 'friction'");
    assert_scene_refused(f.directory, registry, SCENE("down", "3"), "or {detect: true}");
#undef SCENE
    carom_registry_free(registry);
    free_fixture(&f);
}

// Without a state, the model is at its initial position and at rest; without contacts, its joints at their stops are all there is.
static void test_scenes_that_leave_out(void **state) {
    (void)state;
    fixture f = load_text("<mujoco><worldbody>" FLOOR "<body pos='0 0 0.1'><joint type='slide' axis='0 0 1' limited='true' range='0 1'/>"
                          "<geom name='ball' size='0.1'/></body></worldbody></mujoco>");
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    static const struct {
        const char *text;
        int contacts;
        double velocity;
    } cases[] = {
        {"model: model.xml\ncontacts: {detect: true}\n", 2, 0},
        {"model: model.xml\nstate: {}\ncontacts: {detect: true}\n", 2, 0},
        {"model: model.xml\nstate: {qvel: [-2]}\ncontacts: []\n", 1, -2},
        {"model: model.xml\ncontacts: []\n", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = support_write_file(f.directory, "scene.yaml", cases[i].text);
        carom_scene *scene = read_scene(path, registry);
        const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
        assert_int_equal(data->contacts, cases[i].contacts);
        assert_close(data->velocity[0], cases[i].velocity, 0);
        assert_string_equal(data->names[data->contacts - 1], "LIMIT:joint0");
        carom_scene_free(scene);
        free(path);
    }
    // The ball at 0.5 m is at no stop.
    assert_scene_refused(f.directory, registry, "model: model.xml\nstate: {qpos: [0.5]}\ncontacts: []\n",
                         "scene.yaml:3: contacts: an impact needs 1 to 1024 contacts, not 0; no joint is at its stop");
    carom_registry_free(registry);
    free_fixture(&f);
}

// A warning of the model is one of the scene, with file, line and key.
static void test_scenes_pass_warnings_on(void **state) {
    (void)state;
    fixture f = load_text(URDF("", ARM));
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    char *path =
        support_write_file(f.directory, "scene.yaml",
                           "model: model.xml\nstate: {qvel: [1]}\ncontacts: [{name: A, body: arm, point: [1, 0, 0], normal: [0, 0, 1], "
                           "friction: 0}]\n");
    carom_scene *scene = read_scene(path, registry);
    assert_int_equal(carom_scene_warnings(scene), 1);
    assert_non_null(strstr(carom_scene_warning(scene, 0), "scene.yaml:1: model: the root link 'base' is welded to the world"));
    carom_scene_free(scene);
    carom_registry_free(registry);
    free(path);
    free_fixture(&f);
}

// A shipped robot: contacts by name, no warning, and sampling with the scene's settings that always ends.
static void check_shipped_robot(const char *path, int nv, int tangent_dim, int contacts, const char *const *names) {
    carom_error error;
    carom_registry *registry;
    assert_ok(carom_registry_create(&registry, &error), error);
    carom_scene *scene = read_scene(path, registry);
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(carom_scene_warnings(scene), 0);
    assert_int_equal(data->nv, nv);
    assert_int_equal(data->tangent_dim, tangent_dim);
    assert_int_equal(data->contacts, contacts);
    for (int i = 0; i < contacts; i++) assert_true(carom_impact_find_contact(impact, names[i]) >= 0);

    carom_sample_options options = carom_sample_defaults();
    options.samples = 500;
    options.step = 1;
    carom_sample_statistics statistics;
    assert_ok(carom_reach_sample(impact, &options, registry, NULL, NULL, &statistics, &error), error);
    assert_int_equal(statistics.counts.unsolved, 0);
    assert_true(statistics.counts.terminated >= 495);
    assert_true(statistics.max_relative_energy_gain <= 1e-12);
    carom_scene_free(scene);
    carom_registry_free(registry);
}

static void test_shipped_robots(void **state) {
    (void)state;
    check_shipped_robot("scenes/quadruped.yaml", 18, 2, 4, (const char *[]){"front_left", "front_right", "hind_left", "hind_right"});
    check_shipped_robot("scenes/biped.yaml", 9, 1, 4, (const char *[]){"left_heel", "left_toe", "right_heel", "right_toe"});
    check_shipped_robot(
        "scenes/box-on-box.yaml", 12, 2, 8,
        (const char *[]){"lower:1", "lower:2", "lower:3", "lower:4", "lower:upper:1", "lower:upper:2", "lower:upper:3", "lower:upper:4"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detected_cube_is_the_listed_one),
        cmocka_unit_test(test_detection_options),
        cmocka_unit_test(test_duplicates_are_merged),
        cmocka_unit_test(test_detected_names),
        cmocka_unit_test(test_idle_detected_contacts_are_dropped),
        cmocka_unit_test(test_what_friction_cannot_be),
        cmocka_unit_test(test_planar_box_has_two_corners),
        cmocka_unit_test(test_planar_merge),
        cmocka_unit_test(test_weld_is_one_body),
        cmocka_unit_test(test_velocities_that_break_constraints_are_refused),
        cmocka_unit_test(test_constraint_corner_cases),
        cmocka_unit_test(test_joints_at_their_stops),
        cmocka_unit_test(test_joints_near_their_stops),
        cmocka_unit_test(test_stop_is_hit),
        cmocka_unit_test(test_held_stop_is_left_out),
        cmocka_unit_test(test_model_with_free_ball_and_hinge_joints),
        cmocka_unit_test(test_model_with_armature),
        cmocka_unit_test(test_model_with_tendon),
        cmocka_unit_test(test_model_with_mesh),
        cmocka_unit_test(test_model_with_include),
        cmocka_unit_test(test_model_with_closed_loop),
        cmocka_unit_test(test_model_with_mocap),
        cmocka_unit_test(test_frictionless_model),
        cmocka_unit_test(test_model_with_joint_friction),
        cmocka_unit_test(test_model_with_200_contacts),
        cmocka_unit_test(test_welded_urdf_root_is_told),
        cmocka_unit_test(test_detecting_scenes),
        cmocka_unit_test(test_scenes_that_leave_out),
        cmocka_unit_test(test_scenes_pass_warnings_on),
        cmocka_unit_test(test_shipped_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
