// SPDX-License-Identifier: Apache-2.0
// The scene reader: every form of scene, its hash and its name, and the options that it gives to laws.
#include "scene_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------ fixtures

static carom_scene *read_text(const fixture *it, const char *text) {
    carom_scene *scene = NULL;
    carom_error error;
    assert_ok(read_bytes(it, text, strlen(text), &scene, &error), error);
    return scene;
}

// --------------------------------------------------------------------------------------------------------- good scenes

static void reads_matrices(void **state) {
    const fixture *it = *state;
    carom_scene *scene = read_text(it, MATRICES);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    assert_string_equal(carom_scene_name(scene), "rocking block");
    assert_string_equal(carom_scene_law(scene), "first");
    assert_int_equal(carom_scene_warnings(scene), 0);
    assert_null(carom_scene_warning(scene, 0));
    assert_int_equal(data->nv, 3);
    assert_int_equal(data->contacts, 2);
    assert_int_equal(data->tangent_dim, 1);
    assert_true(data->mass[8] == 5.0 / 12.0);
    assert_true(data->normal[2] == -0.5 && data->normal[5] == 0.5);
    assert_true(data->tangent[0] == 1 && data->tangent[2] == 1);
    assert_true(data->friction[1] == 0.25 && data->restitution[1] == 0.5);
    assert_true(data->velocity[1] == -0.44294469180700204);
    assert_string_equal(data->names[0], "left");
    assert_string_equal(data->names[1], "right");
    carom_scene_free(scene);
}

// A ball of radius r and inertia j, 1 below 2: the contact velocity is that of the second body minus that of the first.
static void reads_two_bodies(void **state) {
    carom_scene *scene =
        read_text(*state, "two_bodies:\n  - {mass: 2, inertia_world: [[3, 0, 0], [0, 4, 0], [0, 0, 5]], contact_arm: [0, 0, 1], "
                          "velocity: [1, 2, 3], angular_velocity: [4, 5, 6]}\n"
                          "  - {mass: 1, inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], contact_arm: [0.5, 0, -1]}\n"
                          "normal: [0, 0, 2]\nfriction: 0.25\nrestitution: 0.5\n");
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->nv, 12);
    assert_int_equal(data->contacts, 1);
    assert_int_equal(data->tangent_dim, 2);
    assert_true(data->friction[0] == 0.25 && data->restitution[0] == 0.5);
    // -(v1 + omega1 x r1) along z, x, y.
    double u[3];
    carom_impact_contact_velocity(impact, data->velocity, u);
    assert_all_close(u, ((double[]){-3, -(1 + 5), -(2 - 4)}), 3, 1e-15);
    // W = (1/m1 + 1/m2) I - [r1] J1^-1 [r1] - [r2] J2^-1 [r2], order z, x, y.
    const double W[9] = {1.5 + 0.25, 0.5, 0, 0.5, 1.5 + 1. / 4 + 1, 0, 0, 0, 1.5 + 1. / 3 + 1 + 0.25};
    assert_all_close(carom_impact_delassus(impact), W, 9, 1e-15);
    carom_scene_free(scene);
}

// A fixed body has no velocities; with one tangent the contact is planar, and what is left out is zero.
static void reads_a_body_on_a_fixed_one(void **state) {
    carom_scene *scene =
        read_text(*state, "two_bodies: [{mass: 2, inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], contact_arm: [0, 0, 1], "
                          "velocity: [0.5, 0, 1]}, {fixed: true}]\nnormal: [0, 0, 1]\ntangents: [[1, 0, 0]]\n");
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    assert_int_equal(data->nv, 6);
    assert_int_equal(data->tangent_dim, 1);
    assert_true(data->friction[0] == 0 && data->restitution[0] == 0);
    double u[2];
    carom_impact_contact_velocity(impact, data->velocity, u);
    assert_all_close(u, ((double[]){-1, -0.5}), 2, 1e-15);
    carom_scene_free(scene);
}

static void reads_spatial_matrices(void **state) {
    carom_scene *scene = read_text(*state, "matrices: {M: [[2, 0, 0], [0, 1, 0], [0, 0, 1]], Jn: [[0, 0.3, 1]], Jt: [[1, 0, 0.1], [0, 1, "
                                           "0.2]], mu: [0.4], v: [0.5, 0.2, -1]}\n");
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    assert_int_equal(data->tangent_dim, 2);
    assert_true(data->tangent[5] == 0.2);
    assert_string_equal(data->names[0], "A");
    assert_string_equal(carom_scene_name(scene), "scene");
    assert_null(carom_scene_law(scene));
    carom_scene_free(scene);
}

static void frictionless_matrices_get_zero_tangents(void **state) {
    static const char *const texts[] = {"matrices: {M: [[4, 0], [0, 1]], Jn: [[-1, 1], [1, 0]], v: [1, 0]}\n",
                                        "matrices: {M: [[4, 0], [0, 1]], Jn: [[-1, 1], [1, 0]], v: [1, 0], mu: [0, 0]}\n"};
    for (size_t i = 0; i < 2; i++) {
        carom_scene *scene = read_text(*state, texts[i]);
        const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
        assert_int_equal(data->tangent_dim, 1);
        for (int j = 0; j < 4; j++) assert_true(data->tangent[j] == 0);
        assert_true(data->friction[0] == 0 && data->friction[1] == 0);
        assert_int_equal(carom_scene_warnings(scene), 0);
        carom_scene_free(scene);
    }
}

static void tangents_without_friction_are_warned_of(void **state) {
    carom_scene *scene = read_text(*state, "# first line\nmatrices: {M: [[1]], Jn: [[1]], Jt: [[0]], v: [-1]}\n");
    assert_int_equal(carom_scene_warnings(scene), 1);
    assert_non_null(strstr(carom_scene_warning(scene, 0), "scene.yaml:2: matrices: 'mu' is left out"));
    carom_scene_free(scene);
}

static void reads_delassus_from_json(void **state) {
    carom_scene *scene = read_text(*state, JSON);
    const carom_impact *impact = carom_scene_impact(scene);
    assert_false(carom_impact_has_system(impact));
    assert_int_equal(carom_impact_get_data(impact)->tangent_dim, 1);
    assert_close(carom_impact_delassus(impact)[1], 0.2, 1e-15);
    carom_scene_free(scene);
}

static void reads_compact_json(void **state) {
    carom_scene *scene =
        read_text(*state, "{\"name\":\"a\\u00e9\\/b\",\"matrices\":{\"M\":[[1,0],[0,\"5/12\"]],\"Jn\":[[0,1]],\"v\":[0,-1e-3]}}");
    assert_string_equal(carom_scene_name(scene), "a\xc3\xa9/b");
    assert_true(carom_impact_get_data(carom_scene_impact(scene))->velocity[1] == -1e-3);
    carom_scene_free(scene);
}

static void reads_spatial_delassus(void **state) {
    carom_scene *scene = read_text(*state, "delassus:\n  W: [[1, 0, 0.001], [0, 1, 0], [0, 0, 1]]\n  u: [-1, 0, 0]\n  mu: [0.5]\n");
    assert_int_equal(carom_impact_get_data(carom_scene_impact(scene))->tangent_dim, 2);
    // files of other programs are asymmetric by as much as 9e-3
    assert_int_equal(carom_scene_warnings(scene), 1);
    assert_non_null(strstr(carom_scene_warning(scene, 0), ":2: delassus.W: is not symmetric (by 0.001"));
    carom_scene_free(scene);
}

static void assert_same_impact(const carom_scene *left, const carom_scene *right) {
    const carom_impact *a = carom_scene_impact(left), *b = carom_scene_impact(right);
    const int size = carom_impact_contact_size(a);
    assert_int_equal(size, carom_impact_contact_size(b));
    assert_all_close(carom_impact_delassus(a), carom_impact_delassus(b), size * size, 1e-12);
    assert_all_close(carom_impact_get_data(a)->velocity, carom_impact_get_data(b)->velocity, carom_impact_get_data(a)->nv, 1e-15);
}

static void reads_models(void **state) {
    const fixture *it = *state;
    carom_scene *scene = read_text(it, MODEL);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    const double mass[] = {1, 0, 0, 0, 1, 0, 0, 0, 0.4}, normal[] = {0, 1, -0.5, 0, 1, 0.5};
    assert_int_equal(data->contacts, 2);
    assert_int_equal(data->tangent_dim, 1);
    assert_all_close(data->mass, mass, 9, 1e-12);
    assert_all_close(data->normal, normal, 6, 1e-12);
    assert_true(data->velocity[1] == -0.5 && data->friction[1] == 0.5 && data->restitution[1] == 0.25);
    assert_string_equal(data->names[1], "B");

    // the same places, written in the other ways
    static const char *const same[] = {
        STATE "contacts: [{name: A, at: {site: left}, normal: [0, 0, 2], tangents: [[1, 0, 0]], friction: 1},\n"
              "  {name: B, at: {body: block, point: [0.5, 0, -1]}, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0.5}]\n",
        STATE "contacts: [{name: A, body: block, point: [-1/2, 0, -1], normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1},\n"
              "  {name: B, site: right, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0.5}]\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        carom_scene *other = read_text(it, same[i]);
        assert_same_impact(scene, other);
        carom_scene_free(other);
    }
    carom_scene_free(scene);
}

static void reads_keyframes(void **state) {
    static const char contact[] = "contacts: [{name: A, site: left, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1}]\n";
    char text[512];
    snprintf(text, sizeof text, "model: block.xml\nstate: {key: down}\n%s", contact);
    carom_scene *scene = read_text(*state, text);
    assert_true(carom_impact_get_data(carom_scene_impact(scene))->velocity[1] == -2);
    carom_scene_free(scene);
    snprintf(text, sizeof text, "model: block.xml\nstate: {key: down, qvel: [1, -3, 0]}\n%s", contact);
    scene = read_text(*state, text);
    assert_true(carom_impact_get_data(carom_scene_impact(scene))->velocity[1] == -3);
    carom_scene_free(scene);
}

static void offsets_are_warned_of(void **state) {
    carom_scene *scene = read_text(*state, STATE "contacts: [{name: A, site: left, normal: [0, 0, 1], friction: 1, offset: 0.5}]\n");
    assert_int_equal(carom_scene_warnings(scene), 1);
    assert_non_null(strstr(carom_scene_warning(scene, 0), ":3: contacts[0].offset: has no effect"));
    carom_scene_free(scene);
}

// ------------------------------------------------------------------------------------------------------- hash and name

static void the_hash_covers_scene_and_model(void **state) {
    const fixture *it = *state;
    char expected[CAROM_DIGEST_TEXT_SIZE];
    carom_error error;
    carom_digest *digest = NULL;
    assert_ok(carom_digest_create(&digest, &error), error);
    carom_digest_add_bytes(digest, MODEL, strlen(MODEL));
    carom_digest_add_bytes(digest, BLOCK, strlen(BLOCK));
    carom_digest_finish(digest, expected);
    carom_scene *scene = read_text(it, MODEL);
    assert_string_equal(carom_scene_hash(scene), expected);
    carom_scene_free(scene);

    carom_digest_add_bytes(digest, MATRICES, strlen(MATRICES));
    carom_digest_finish(digest, expected);
    scene = read_text(it, MATRICES);
    assert_string_equal(carom_scene_hash(scene), expected);
    carom_scene_free(scene);
    carom_digest_free(digest);
}

static void a_scene_is_named_after_its_file(void **state) {
    const fixture *it = *state;
    static const char *const names[][2] = {
        {"two.disks.yaml", "two.disks"}, {".hidden", ".hidden"}, {"plain", "plain"}, {"bad\xff\x01.yaml", "bad\xef\xbf\xbd_"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = write_bytes(it, names[i][0], JSON, strlen(JSON));
        carom_scene *scene = NULL;
        carom_error error;
        assert_ok(carom_scene_read(path, it->registry, &scene, &error), error);
        assert_string_equal(carom_scene_name(scene), names[i][1]);
        assert_string_equal(carom_scene_path(scene), path);
        carom_scene_free(scene);
        free(path);
    }
}

static void files_that_cannot_be_read_are_io_failures(void **state) {
    const fixture *it = *state;
    carom_scene *scene = NULL;
    carom_error error;
    assert_refused(carom_scene_read("/nonexistent/scene.yaml", it->registry, &scene, &error), CAROM_IO_FAILED, error,
                   "/nonexistent/scene.yaml: cannot be opened");
    assert_refused(carom_scene_read(it->directory, it->registry, &scene, &error), CAROM_IO_FAILED, error, "cannot be read");
    static const char text[] = "name: x\nmodel: missing.xml\nstate: {qpos: [0]}\ncontacts: []\n";
    assert_refused(read_bytes(it, text, strlen(text), &scene, &error), CAROM_IO_FAILED, error, "scene.yaml:2: model: ");
    assert_int_equal(carom_scene_read("/nonexistent", it->registry, &scene, NULL), CAROM_IO_FAILED);
    assert_null(scene);
}

static void a_file_without_end_is_refused(void **state) {
    const fixture *it = *state;
    carom_scene *scene = NULL;
    carom_error error;
    assert_refused(carom_scene_read("/dev/zero", it->registry, &scene, &error), CAROM_BAD_INPUT, error, "larger than 64 MiB");
}

// ------------------------------------------------------------------------------------------------------------- options

// An error that only a law can find names the line and key of the scene that caused it.
static void errors_of_laws_have_a_place(void **state) {
    carom_scene *scene = read_text(*state, MATRICES);
    carom_error error;
    carom_fail(&error, CAROM_BAD_INPUT, "step: it is too long");
    assert_true(carom_scene_place_error(scene, "step", &error));
    assert_int_equal(error.status, CAROM_BAD_INPUT);
    assert_non_null(strstr(error.message, "scene.yaml:11: impact.step: it is too long"));

    carom_fail(&error, CAROM_BAD_INPUT, "epsilon: it is too large");
    assert_false(carom_scene_place_error(scene, "epsilon", &error));
    assert_string_equal(error.message, "epsilon: it is too large");
    carom_scene_free(scene);
}

static void options_are_applied_where_they_exist(void **state) {
    carom_scene *scene = read_text(*state, MATRICES);
    carom_error error;
    fake_options options;
    fake_defaults(&options);
    assert_ok(carom_scene_apply(scene, FIRST_OPTIONS, 4, &options, &error), error);
    assert_true(options.step == 0.3);
    assert_int_equal(options.max_steps, 1000);
    assert_int_equal(options.selection, 1);
    assert_string_equal(options.order, "right,left");

    // the other law's range of `step` is 1 to 2: what one law takes, another may refuse
    fake_defaults(&options);
    assert_refused(carom_scene_apply(scene, SECOND_OPTIONS, 3, &options, &error), CAROM_BAD_INPUT, error,
                   "scene.yaml:11: impact.step: 0.3");
    assert_ok(carom_scene_apply(scene, SECOND_OPTIONS + 1, 2, &options, &error), error);
    assert_true(options.restitution == 0.5);
    assert_string_equal(options.solver, "lemke");
    carom_scene_free(scene);

    scene = read_text(*state, JSON);
    options.step = 7;
    assert_ok(carom_scene_apply(scene, FIRST_OPTIONS, 4, &options, &error), error);
    assert_true(isnan(options.step));
    carom_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_matrices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_spatial_matrices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_two_bodies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_a_body_on_a_fixed_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frictionless_matrices_get_zero_tangents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tangents_without_friction_are_warned_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_delassus_from_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_compact_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_spatial_delassus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_keyframes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(offsets_are_warned_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_hash_covers_scene_and_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scene_is_named_after_its_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_cannot_be_read_are_io_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_without_end_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(options_are_applied_where_they_exist, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_of_laws_have_a_place, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
