// SPDX-License-Identifier: Apache-2.0
// MuJoCo models: places, names, states, constraints and files that are refused; URDF, threads, handlers, silence.
#include "model_support.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mujoco/mujoco_internal.h"

// ------------------------------------------------------------------------------------------------------------ helpers

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

static void assert_freezes(const char *text) {
    fixture f = load_text(text);
    carom_model_contact contact = ground_contact("A", "corner");
    carom_impact_free(freeze(f.model, &contact, 1));
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

// ------------------------------------------------------------------------------------------------------------ bad files

static void test_bad_models_are_refused(void **state) {
    (void)state;
    assert_text_refused("", "XML");
    assert_text_refused("<mujoco><worldbody>", "XML");
    assert_text_refused("<mujoco><worldbody><body><joint/><geom size='1'", "XML");
    assert_text_refused("<mujoco><worldbody><body><joint speed='3'/><geom size='1'/></body></worldbody></mujoco>", "speed");
    assert_text_refused(
        "<mujoco><asset><mesh file='nowhere.stl'/></asset><worldbody><body name='b'><joint/><geom type='mesh' mesh='nowhere'/></body>"
        "</worldbody></mujoco>",
        "the file 'nowhere.stl' of the mesh 'nowhere' was not found, in the folder of the model or where its <compiler> says; a geom of "
        "the "
        "body 'b' collides with it");
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

// A number that is none is named with its element, whether MuJoCo would find no contact or no mass.
static void test_bad_numbers_are_named(void **state) {
    (void)state;
#define BOX(plane, body, geom)                                                                                                             \
    "<mujoco><worldbody><geom type='plane' size='5 5 1' " plane "/><body name='b' " body                                                   \
    "><freejoint/><geom type='box' size='0.1 0.1 0.1' " geom "/></body></worldbody></mujoco>"
    const struct {
        const char *text, *message;
    } cases[] = {
        {BOX("friction='nan 0 0'", "", ""), "model.xml:1: <geom friction=\"nan 0 0\">: must be finite numbers of 0 or more"},
        {BOX("", "", "friction='-1'"), "<geom friction=\"-1\">: must be finite numbers of 0 or more"},
        {BOX("", "", "friction='inf'"), "<geom friction=\"inf\">"},
        {BOX("", "", "friction='1 nan'"), "<geom friction=\"1 nan\">"},
        {BOX("", "", "pos='0 nan 0'"), "<geom pos=\"0 nan 0\">: must be finite numbers"},
        {BOX("", "", "mass='nan'"), "<geom mass=\"nan\">"},
        {BOX("", "pos='0 0 -inf'", ""), "<body pos=\"0 0 -inf\">"},
        {"<mujoco><worldbody><body><joint name='x' range='-1 nan'/></body></worldbody></mujoco>",
         "<joint range=\"-1 nan\">: must be numbers"},
        {"<mujoco><compiler boundmass='nan'/></mujoco>", "<compiler boundmass=\"nan\">"},
        {"<mujoco><default><geom friction='NaN'/></default></mujoco>", "<geom friction=\"NaN\">"},
        {"<robot><link><collision><geometry><box size='nan 1 1'/></geometry></collision></link></robot>", "<box size=\"nan 1 1\">"},
    };
#undef BOX
    char *directory = support_make_directory();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = support_write_file(directory, "model.xml", cases[i].text);
        carom_error error;
        carom_model *model;
        assert_refused(carom_model_load(path, &model, &error), CAROM_BAD_INPUT, error, cases[i].message);
        assert_null(model);
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

// Threads may load models at the same time: loading takes turns, and the handlers are back afterwards.
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
    // An error while its data are made.
#if mjVERSION_HEADER < 300
    assert_text_refused("<mujoco><size njmax='100000'/><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>", "mjData");
#else
    assert_text_refused("<mujoco><size memory='100'/><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>", "memory");
#endif
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
        cmocka_unit_test(test_missing_places_are_named),
        cmocka_unit_test(test_idle_contacts_are_refused),
        cmocka_unit_test(test_contact_names),
        cmocka_unit_test(test_states_are_checked),
        cmocka_unit_test(test_keyframes),
        cmocka_unit_test(test_bad_models_are_refused),
        cmocka_unit_test(test_nan_in_a_model_is_refused),
        cmocka_unit_test(test_bad_numbers_are_named),
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
