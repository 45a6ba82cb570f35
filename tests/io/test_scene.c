// SPDX-License-Identifier: Apache-2.0
// The scene reader: every form of scene, every rule it states, and files that are no scenes at all.
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/number.h"

// ------------------------------------------------------------------------------------------------------------ fixtures

typedef struct fake_options {
    double step, restitution;
    int64_t max_steps;
    int selection;
    const char *order, *solver;
} fake_options;

static const char *const SELECTIONS[] = {"lemke", "any", NULL};

static const carom_option FIRST_OPTIONS[] = {
    {"step", CAROM_OPTION_REAL, offsetof(fake_options, step), 1e-9, 1e9, "N s", "auto", "", NULL},
    {"max_steps", CAROM_OPTION_INTEGER, offsetof(fake_options, max_steps), 1, 1e6, "", "10", "", NULL},
    {"selection", CAROM_OPTION_CHOICE, offsetof(fake_options, selection), 0, 0, "", "lemke", "", SELECTIONS},
    {"order", CAROM_OPTION_CONTACTS, offsetof(fake_options, order), 0, 0, "", "", "", NULL},
};
static const carom_option SECOND_OPTIONS[] = {
    {"step", CAROM_OPTION_REAL, offsetof(fake_options, step), 1, 2, "N s", "1", "", NULL},
    {"restitution", CAROM_OPTION_REAL, offsetof(fake_options, restitution), 0, 1, "", "0", "", NULL},
    {"solver", CAROM_OPTION_TEXT, offsetof(fake_options, solver), 0, 0, "", "lemke", "", NULL},
};

static void fake_defaults(void *options) { *(fake_options *)options = (fake_options){.step = NAN, .max_steps = 10, .solver = "lemke"}; }

static const carom_law FIRST = {
    .name = "first", .options = FIRST_OPTIONS, .option_count = 4, .options_size = sizeof(fake_options), .defaults = fake_defaults};
static const carom_law SECOND = {
    .name = "second", .options = SECOND_OPTIONS, .option_count = 3, .options_size = sizeof(fake_options), .defaults = fake_defaults};

// A block whose mass matrix is written as text and numbers; z, theta as in Halm & Posa, section 5.4.1.
static const char MATRICES[] = "# a rocking block\n"
                               "name: rocking block\n"
                               "matrices:\n"
                               "  M: [[1, 0, 0], [0, \"1\", 0], [0, 0, 5/12]]\n"
                               "  Jn: [[0, 1, '-1/2'], [0, 1, 0.5]]\n"
                               "  Jt: [[1, 0, 1], [1, 0, 1]]\n"
                               "  mu: [1, 0.25]\n"
                               "  v: [0, -0.44294469180700204, 0]\n"
                               "  names: [left, \"right\"]\n"
                               "  restitution: [0, 0.5]\n"
                               "impact: {law: first, step: 0.3, max_steps: 1e3, selection: any, order: [right, left], restitution: 0.5}\n";

static const char JSON[] = "{\n\t\"delassus\": {\"W\": [[1, 0.2], [0.2, 1]], \"u\": [-1, 0.5], \"mu\": [0.5], \"names\": [\"A\"]},\n"
                           "\t\"impact\": {\"step\": \"auto\"}\n}\n";

static const char BLOCK[] =
    "<mujoco model='block'><option gravity='0 0 -9.81'/><worldbody><body name='block'>"
    "<joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
    "<joint name='theta' type='hinge' axis='0 -1 0'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='0.4 0.4 0.4'/><geom name='box' type='box' size='0.5 0.5 1' contype='0' conaffinity='0'/>"
    "<site name='left' pos='-0.5 0 -1'/><site name='right' pos='0.5 0 -1'/></body></worldbody>"
    "<keyframe><key name='down' qpos='0 1 0' qvel='0 -2 0'/></keyframe></mujoco>";

#define STATE "model: block.xml\nstate: {qpos: [0, 1, 0], qvel: [0, -0.5, 0]}\n"
static const char MODEL[] =
    STATE "contacts:\n"
          "  - {name: A, site: left, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 1}\n"
          "  - {name: B, site: right, normal: [0, 0, 1], tangents: [[1, 0, 0]], friction: 0.5, restitution: 0.25}\n";

typedef struct fixture {
    char *directory;
    carom_registry *registry;
} fixture;

static int set_up(void **state) {
    fixture *it = calloc(1, sizeof *it);
    assert_non_null(it);
    carom_error error;
    it->directory = support_make_directory();
    assert_ok(carom_registry_create_empty(&it->registry, &error), error);
    assert_ok(carom_registry_add(it->registry, CAROM_REGISTRY_LAWS, FIRST.name, &FIRST, &error), error);
    assert_ok(carom_registry_add(it->registry, CAROM_REGISTRY_LAWS, SECOND.name, &SECOND, &error), error);
    free(support_write_file(it->directory, "block.xml", BLOCK));
    *state = it;
    return 0;
}

static int tear_down(void **state) {
    fixture *it = *state;
    support_remove_directory(it->directory);
    carom_registry_free(it->registry);
    free(it);
    return 0;
}

static char *write_bytes(const fixture *it, const char *name, const char *bytes, size_t size) {
    char *path = support_write_file(it->directory, name, "");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

/// Reads `size` bytes as a scene file. A failure must have its status and a message; a success must have an impact.
static carom_status read_bytes(const fixture *it, const char *bytes, size_t size, carom_scene **scene, carom_error *error) {
    char *path = write_bytes(it, "scene.yaml", bytes, size);
    *error = (carom_error){0};
    const carom_status status = carom_scene_read(path, it->registry, scene, error);
    if (status) {
        assert_null(*scene);
        assert_int_equal(error->status, status);
        // "FILE:LINE: " in front of every rule
        assert_memory_equal(error->message, path, strlen(path));
        assert_true(strtol(error->message + strlen(path) + 1, NULL, 10) >= 1);
        assert_true(strlen(error->message) > strlen(path) + 4);
    } else {
        assert_non_null(carom_scene_impact(*scene));
    }
    free(path);
    return status;
}

static carom_scene *read_text(const fixture *it, const char *text) {
    carom_scene *scene = NULL;
    carom_error error;
    assert_ok(read_bytes(it, text, strlen(text), &scene, &error), error);
    return scene;
}

static void assert_text_refused(const fixture *it, const char *text, const char *fragment) {
    carom_scene *scene = NULL;
    carom_error error;
    assert_refused(read_bytes(it, text, strlen(text), &scene, &error), CAROM_BAD_INPUT, error, fragment);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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

    // the same places in the other ways to write them
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

// What only a law can refuse is said of the place that gives it.
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

    // the other law's range of `step` is 1 to 2: what some law takes, another may refuse
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

// ------------------------------------------------------------------------------------------------------------- numbers

static void fractions_are_rounded_correctly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1/3", 1.0 / 3.0},
        {"-5/12", -5.0 / 12.0},
        {"+7/1", 7},
        {"0/5", 0},
        {"00010/0004", 2.5},
        {"9007199254740993/1", 9007199254740992.0},  // halfway, to even
        {"9007199254740995/1", 9007199254740996.0},
        {"18014398509481987/2", 9007199254740994.0},                                 // 2^53 + 1.5
        {"90071992547409930000000000000001/10000000000000000", 9007199254740994.0},  // just above halfway
        {"90071992547409929999999999999999/10000000000000000", 9007199254740992.0},  // just below
        {"1/1000000000000000000000000000000", 1e-30},
        {"123456789012345678901234567890/1", 123456789012345678901234567890.0},
        {"0.1", 0.1},
        {"1e3", 1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        assert_true(carom_number_read(cases[i].text, &value));
        if (value != cases[i].value) fail_msg("%s is read as %.17g, not %.17g", cases[i].text, value, cases[i].value);
    }
    static const char *const wrong[] = {"1/0", "1/",   "/2",  "1/2/3", "1 /2",  "1/-2", "1.5/2", "--1/2",
                                        "a/b", "1/00", "nan", "",      "1e999", "0x10", "/"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value;
        if (carom_number_read(wrong[i], &value)) fail_msg("'%s' is read as a number", wrong[i]);
    }
}

/// The quotient of two whole doubles is rounded correctly by the machine.
static void fractions_agree_with_division(void **state) {
    (void)state;
    carom_stream stream;
    carom_stream_start(&stream, 1, 0);
    for (int i = 0; i < support_count(200, 20000, 200000); i++) {
        const int shift = support_random_integer(&stream, 11, 63);
        const unsigned long long p = carom_stream_bits(&stream) >> shift, q = (carom_stream_bits(&stream) >> 11) + 1;
        char text[64];
        snprintf(text, sizeof text, "%llu/%llu", p, q);
        double value = NAN;
        assert_true(carom_number_read(text, &value));
        if (value != (double)p / (double)q) fail_msg("%s is read as %.17g", text, value);
    }
}

// ----------------------------------------------------------------------------------------------------------- bad input

#define BALL  "{mass: 1, inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], contact_arm: [0, 0, -1]}"
#define BODY  "M: [[1, 0], [0, 1]], Jn: [[1, 0]], v: [-1, 0]"
#define FRAME "name: A, normal: [0, 0, 1], friction: 1"

static void bad_scenes_are_refused(void **state) {
    static const struct {
        const char *text, *fragment;
    } cases[] = {
        // the file
        {"", ":1: the file is empty"},
        {"# only a comment\n", ":1: the file is empty"},
        {"---\n", ":2: must be a map, not empty"},
        {"just text\n", ":1: must be a map, not a single value"},
        {"[1, 2]\n", ":1: must be a map, not a list"},
        {"name: a\nname: b\n", ":2: name: the key stands twice, first in line 1"},
        {"matrices: {" BODY ",\n  mu: [0],\n  mu: [1]}\n", ":3: matrices.mu: the key stands twice, first in line 2"},
        {"name: a\n---\nname: b\n", ":2: a second document starts here"},
        {"name: a\n? [1, 2]\n: 3\n", ":2: a key must be text"},
        {"name: &x a\nmodel: *x\n", ":2: aliases"},
        {"impact: &y [*y]\n", ":1: aliases"},
        {"name: !!str a\n", ":1: tags"},
        {"name: \"a\\0b\"\n", ":1: a text contains a NUL character"},
        {"\"a\\0b\": 1\n", ":1: a key contains a NUL character"},
        {"name: a\nmatrices: [1, 2\n", ":3: not valid YAML"},
        {"name: a\n\tmatrices: 1\n", ":2: not valid YAML"},
        {"name: a\nbad: \xff\xfe\n", ":2: not valid YAML"},
        {"name: a\x01\n", ":1: not valid YAML"},
        // keys of the top level
        {"name: a\n", ":1: one of the keys 'model', 'matrices', 'delassus', 'two_bodies', 'balls', 'body' and 'bodies' is needed"},
        {"name: a\nmatrixes: {}\n", ":2: matrixes: unknown key; did you mean 'matrices'?"},
        {"name: a\nsomething: {}\n", ":2: something: unknown key"},
        {"name: [a]\n", ":1: name: must be text, not a list"},
        {"name:\n", ":1: name: must be text, not empty"},
        {"name: ''\n", ":1: name: must not be empty"},
        {"name: \"a\\nb\"\n", ":1: name: must not contain control characters"},
        {"matrices: {" BODY "}\ndelassus: {}\n", ":1: only one of the keys"},
        {"matrices: {" BODY "}\nmodel: block.xml\n", ":1: only one of the keys"},
        {"matrices: {" BODY "}\ncontacts: []\n", ":2: contacts: belongs to a scene with 'model'"},
        {"matrices: {" BODY "}\nstate: {qpos: [1]}\n", ":2: state: belongs to a scene with 'model'"},
        {"matrices: {" BODY "}\ngravity: 9.81\n", ":2: gravity: belongs to a scene with 'body'"},
        {"simulate: {}\nbody: {}\n", ":2: body: a scene of this form describes a motion in time"},
        {"simulate: {}\nbodies: []\npotentials: []\n", ":2: bodies: a scene of this form describes a motion in time"},
        {"matrices: {" BODY "}\nwalls: []\n", ":2: walls: belongs to a scene with 'bodies'"},
        {"matrices: {" BODY "}\nnormal: [0, 0, 1]\n", ":2: normal: belongs to a scene with 'two_bodies'"},
        {"balls: {}\n", ":1: balls: the key 'masses' is missing"},
        // two bodies
        {"two_bodies: []\nnormal: [0, 0, 1]\n", ":1: two_bodies: has 0 items, must have 2"},
        {"two_bodies: [{fixed: true}, " BALL "]\n", ":1: the key 'normal' is missing beside 'two_bodies'"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 0]\n", ":2: normal: needs a finite length"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 1]\n", ":2: normal: has 2 numbers, must have 3"},
        {"two_bodies: [{fixed: true}, {fixed: true}]\nnormal: [0, 0, 1]\n", ":1: two_bodies: one of the two bodies must be free"},
        {"two_bodies: [{fixed: true, mass: 1}, " BALL "]\nnormal: [0, 0, 1]\n", ":1: two_bodies[0]: a fixed body is {fixed: true}"},
        {"two_bodies: [{fixed: true}, {mass: 1}]\nnormal: [0, 0, 1]\n", ":1: two_bodies[1]: the key 'inertia_world' is missing"},
        {"two_bodies: [{fixed: true}, {inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}]\nnormal: [0, 0, 1]\n",
         ":1: two_bodies[1]: the key 'mass' is missing"},
        {"two_bodies: [{fixed: true}, {mass: -1, inertia_world: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], contact_arm: [0, 0, 1]}]\nnormal: [0, "
         "0, 1]\n",
         ":1: two_bodies: M is not positive definite"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 1]\ntangents: [[1, 0, 1]]\n", ":3: tangents: tangent 1 needs a length"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 1]\nfriction: -1\n", ":3: friction: -1 is below"},
        {"two_bodies: [{fixed: true}, " BALL "]\nnormal: [0, 0, 1]\nrestitution: 2\n", ":3: restitution: 2 is not between"},
        // matrices
        {"matrices: 3\n", ":1: matrices: must be a map, not a single value"},
        {"matrices: null\n", ":1: matrices: must be a map, not empty"},
        {"name: a\nmatrices: {Jn: [[1]], v: [1]}\n", ":2: matrices: the key 'M' is missing"},
        {"matrices:\n  M: [[1, 0], [0, 1]]\n  Jn: [[1, 0],\n       [1]]\n  v: [-1, 0]\n",
         ":4: matrices.Jn[1]: has 1 number, must have 2 to fit 'v'"},
        {"matrices: {M: [[1, 0]], Jn: [[1, 0]], v: [-1, 0]}\n", ":1: matrices.M: has 1 row, must have 2 to fit 'v'"},
        {"matrices: {M: [1, 0], Jn: [[1, 0]], v: [-1, 0]}\n", ":1: matrices.M[0]: must be a list, not a single value"},
        {"matrices: {" BODY ", v: []}\n", ":1: matrices.v: the key stands twice"},
        {"matrices: {M: [[1]], Jn: [[1]], v: []}\n", ":1: matrices.v: has 0 numbers, must have 1 to 4096"},
        {"matrices: {M: [[1]], Jn: [], v: [1]}\n", ":1: matrices.Jn: has 0 rows, must have 1 to 1024"},
        {"matrices:\n  " BODY "\n", ":2: not valid YAML"},
        {"matrices: {" BODY ",\n  Jt: [[1, 0], [0, 1], [1, 1]], mu: [1]}\n",
         ":2: matrices.Jt: the number of rows is 3, must be 1 (planar) or 2 (spatial)"},
        {"matrices: {" BODY ", mu: [1]}\n", ":1: matrices: the key 'Jt' is missing: friction needs tangents"},
        {"matrices: {" BODY ", mu: [1, 1]}\n", ":1: matrices.mu: has 2 numbers, must have 1 to fit 'Jn'"},
        {"matrices: {" BODY ", Jt: [[0, 1]], mu: [-1]}\n", ":1: matrices.mu[0]: -1 is below the least value 0"},
        {"matrices: {" BODY ", restitution: [2]}\n", ":1: matrices.restitution[0]: 2 is not between 0 and 1"},
        {"matrices: {" BODY ", names: [A, B]}\n", ":1: matrices.names: has 2 items, must have 1 to fit 'Jn'"},
        {"matrices: {" BODY ", names: [[A]]}\n", ":1: matrices.names[0]: must be text, not a list"},
        {"matrices: {" BODY ", nanes: [A]}\n", ":1: matrices.nanes: unknown key; did you mean 'names'?"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [1abc]}\n", ":1: matrices.v[0]: '1abc' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [nan]}\n", ":1: matrices.v[0]: 'nan' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [.inf]}\n", ":1: matrices.v[0]: '.inf' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [1e999]}\n", ":1: matrices.v[0]: '1e999' is not a finite number"},
        {"matrices: {M: [[1/0]], Jn: [[1]], v: [1]}\n", ":1: matrices.M[0][0]: '1/0' is not a finite number"},
        {"matrices: {M: [[1]], Jn: [[0x1]], v: [1]}\n", ":1: matrices.Jn[0][0]: '0x1' is not"},
        {"matrices: {M: [[1]], Jn: [[~]], v: [1]}\n", ":1: matrices.Jn[0][0]: must be a number, not empty"},
        {"matrices: {M: [[1]], Jn: [[{}]], v: [1]}\n", ":1: matrices.Jn[0][0]: must be a number, not a map"},
        {"name: a\nmatrices:\n  {M: [[1, 2], [0, 1]], Jn: [[1, 0]], v: [-1, 0]}\n", ":2: matrices: M is not symmetric: M[1][0]"},
        {"matrices: {M: [[-1]], Jn: [[1]], v: [1]}\n", ":1: matrices: M is not positive definite"},
        {"matrices: {M: [[1]], Jn: [[0]], v: [1]}\n", ":1: matrices: Jn[0] is zero"},
        {"matrices: {M: [[1]], Jn: [[1], [-1]], v: [1], names: [A, A]}\n", ":1: matrices: names[0] and names[1] are both 'A'"},
        // delassus
        {"delassus: {W: [[1]], u: [-1], mu: [0]}\n", ":1: delassus.u: the length is 1, must be 2 (planar) or 3 (spatial)"},
        {"delassus: {W: [[1, 0], [0, 1]], u: [-1, 0, 0], mu: [0]}\n", ":1: delassus.W: has 2 rows, must have 3 to fit 'u'"},
        {"delassus: {W: [[1, 0], [0, 1]], u: [-1, 0]}\n", ":1: delassus: the key 'mu' is missing"},
        {"name: a\ndelassus: {file: x.hdf5, u: [1]}\n", ":2: delassus.u: is read from 'file'"},
        {"delassus: {W: [[1, 0.5], [0, 1]], u: [-1, 0], mu: [0]}\n", ":1: delassus: W is not symmetric"},
        // impact
        {"matrices: {" BODY "}\nimpact: {law: third}\n", ":2: impact.law: 'third' is not one of: first, second"},
        {"matrices: {" BODY "}\nimpact: {law: [first]}\n", ":2: impact.law: must be text"},
        {"matrices: {" BODY "}\nimpact:\n  law: first\n  stepp: 1\n", ":4: impact.stepp: unknown key; did you mean 'step'?"},
        {"matrices: {" BODY "}\nimpact: {max_steps: 0}\n", ":2: impact.max_steps: 0 is"},
        {"matrices: {" BODY "}\nimpact: {max_steps: 1.5}\n", ":2: impact.max_steps: "},
        {"matrices: {" BODY "}\nimpact: {step: much}\n", ":2: impact.step: "},
        {"matrices: {" BODY "}\nimpact: {selection: none}\n", ":2: impact.selection: "},
        {"matrices: {" BODY "}\nimpact: {step: {a: 1}}\n", ":2: impact.step: must be a value or a list of values"},
        {"matrices: {" BODY "}\nimpact: {order: [A, \"B,C\"]}\n", ":2: impact.order[1]: must not contain a comma"},
        {"matrices: {" BODY "}\nimpact: {order: [A, [B]]}\n", ":2: impact.order[1]: must be text, not a list"},
        {"matrices: {" BODY "}\nimpact: 3\n", ":2: impact: must be a map"},
        // model, state
        {"model: [a]\n", ":1: model: must be text"},
        {"model: block.xml\ncontacts: []\n", ":2: contacts: an impact needs 1 to 1024 contacts, not 0; no joint is at its stop"},
        {"model: block.xml\nstate: {key: down}\n", ":1: the key 'contacts' is missing"},
        {"model: block.xml\nstate: {}\ncontacts: []\n", ":3: contacts: an impact needs 1 to 1024 contacts, not 0"},
        {"model: block.xml\nstate: {key: down, qpos: [0, 0, 0]}\ncontacts: []\n", ":2: state: 'key' and 'qpos' both"},
        {"model: block.xml\nstate: {key: up}\ncontacts: []\n", ":2: state: "},
        {"model: block.xml\nstate: {qpos: [0, 0]}\ncontacts: []\n", ":2: state: "},
        {"model: block.xml\nstate: {qpos: [0, 0, 0], qvel: [0, x, 0]}\ncontacts: []\n", ":2: state.qvel[1]: 'x' is not a finite number"},
        {"model: block.xml\nstate: {pos: [0]}\ncontacts: []\n", ":2: state.pos: unknown key; did you mean 'qpos'?"},
        {"model: scene.yaml\nstate: {key: down}\ncontacts: []\n", ":1: model: "},
        // contacts
        {STATE "contacts: []\n", ":3: contacts: an impact needs 1 to 1024 contacts, not 0"},
        {STATE "contacts: 3\n", ":3: contacts: must be a list"},
        {STATE "contacts: {detect: true}\n", ":3: contacts: no geoms touch"},
        {STATE "contacts: [A]\n", ":3: contacts[0]: must be a map"},
        {STATE "contacts: [{" FRAME "}]\n", ":3: contacts[0]: must say where it is"},
        {STATE "contacts: [{" FRAME ", site: left, sites: [left, right]}]\n", ":3: contacts[0]: must say where it is"},
        {STATE "contacts: [{" FRAME ", site: left, geom: box}]\n", ":3: contacts[0]: a place is one of"},
        {STATE "contacts: [{" FRAME ", site: left, point: [0, 0, 0]}]\n", ":3: contacts[0]: a place is one of"},
        {STATE "contacts: [{" FRAME ", body: block}]\n", ":3: contacts[0]: 'body' needs a 'point'"},
        {STATE "contacts: [{" FRAME ", at: {body: block, point: [0, 0]}}]\n", ":3: contacts[0].at.point: has 2 numbers, must have 3"},
        {STATE "contacts: [{" FRAME ", at: {}}]\n", ":3: contacts[0].at: a place is one of"},
        {STATE "contacts: [{" FRAME ", at: left}]\n", ":3: contacts[0].at: must be a map"},
        {STATE "contacts: [{" FRAME ", sites: [left]}]\n", ":3: contacts[0].sites: has 1 item, must have 2"},
        {STATE "contacts:\n  - {" FRAME ", site: left}\n  - {" FRAME ", site: nowhere}\n", ":3: contacts: "},
        {STATE "contacts: [{name: A, site: left, friction: 1}]\n", ":3: contacts[0]: the key 'normal' is missing"},
        {STATE "contacts: [{name: A, site: left, normal: [0, 0, 1]}]\n", ":3: contacts[0]: the key 'friction' is missing"},
        {STATE "contacts: [{name: A, site: left, normal: [0, 0, 0], friction: 1}]\n", ":3: contacts: "},
        {STATE "contacts: [{" FRAME ", site: left, tangents: [[1, 0]]}]\n", ":3: contacts[0].tangents[0]: has 2 numbers, must have 3"},
        {STATE "contacts: [{" FRAME ", site: left, tangents: [[1, 0, 0], [0, 1, 0], [0, 1, 0]]}]\n",
         ":3: contacts[0].tangents: has 3 rows, must have 1 to 2"},
        {STATE "contacts: [{" FRAME ", site: left, restitution: 1.5}]\n", ":3: contacts[0].restitution: 1.5 is not between 0 and 1"},
        {STATE "contacts: [{" FRAME ", site: left, frictoin: 1}]\n", ":3: contacts[0].frictoin: unknown key; did you mean 'friction'?"},
    };
    // all of them, so that one change of a sentence shows everything it breaks
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        carom_scene *scene = NULL;
        carom_error error;
        const carom_status status = read_bytes(*state, cases[i].text, strlen(cases[i].text), &scene, &error);
        if (status == CAROM_BAD_INPUT && strstr(error.message, cases[i].fragment)) continue;
        print_error("expected '%s', found '%s' for:\n%s", cases[i].fragment, error.message, cases[i].text);
        carom_scene_free(scene);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/// A list of `count` equal entries behind `head`.
static char *long_list(const char *head, const char *entry, size_t count, const char *tail) {
    char *text = malloc(strlen(head) + count * strlen(entry) + strlen(tail) + 1);
    assert_non_null(text);
    char *end = text + sprintf(text, "%s", head);
    for (size_t i = 0; i < count; i++) {
        memcpy(end, entry, strlen(entry));
        end += strlen(entry);
    }
    strcpy(end, tail);
    return text;
}

static void absurd_sizes_are_refused_at_once(void **state) {
    static const struct {
        const char *head, *entry, *tail, *fragment;
    } cases[] = {
        {"name: ", "[", "", ":1: lists and maps are nested more than 64 deep"},
        {"name: ", "{a: ", "", ":1: lists and maps are nested more than 64 deep"},
        {"", "- ", "", ":1: lists and maps are nested more than 64 deep"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [1", ",1", "]}\n", ":1: matrices.v: has 100001 numbers, must have 1 to 4096"},
        {"matrices: {M: [[1]], v: [1], Jn: [[1]", ",[1]", "]}\n", ":1: matrices.Jn: has 100001 rows, must have 1 to 1024"},
        {"delassus: {W: [[1]], u: [1], mu: [1", ",1", "]}\n", ":1: delassus.mu: has 100001 numbers"},
        {STATE "contacts: [a", ",a", "]\n", ":3: contacts: must be a list of 1 to 1024"},
        {"matrices: {M: [[1]], v: [1], Jn: [[1]]}\nimpact: {order: [A", ",A", "]}\nnam: 1\n", ":3: nam: unknown key; did you mean 'name'?"},
        {"impact: {k: 1", ", k: 1", "}\n", ":1: impact.k: the key stands twice"},
        {"\"", "\\t", "\": 1\n", ":1: not valid YAML"},
        {"name: ", "a", "\nnam: 1\n", ":2: nam: unknown key"},
        {"matrices: {M: [[1]], Jn: [[1]], v: [", "x", "]}\n", ":1: matrices.v[0]: 'xxx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = long_list(cases[i].head, cases[i].entry, 100000, cases[i].tail);
        const double start = seconds();
        assert_text_refused(*state, text, cases[i].fragment);
        // a quadratic parser takes 20 s
        assert_true(seconds() - start < 5);
        free(text);
    }
}

// --------------------------------------------------------------------------------------------------------- broken files

static const char *const GOOD[] = {MATRICES, JSON, MODEL};

/// Whatever the bytes are: a scene, or a message.
static void try_bytes(const fixture *it, const char *bytes, size_t size) {
    carom_scene *scene = NULL;
    carom_error error;
    if (read_bytes(it, bytes, size, &scene, &error)) return;
    assert_int_equal(strlen(carom_scene_hash(scene)), 64);
    carom_scene_free(scene);
}

static void every_prefix_reads_or_fails(void **state) {
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        for (size_t size = 0; size <= strlen(GOOD[i]); size++) try_bytes(*state, GOOD[i], size);
}

static void flipped_bytes_read_or_fail(void **state) {
    carom_stream stream;
    carom_stream_start(&stream, 2, 0);
    for (int trial = 0; trial < support_count(300, 3000, 30000); trial++) {
        const char *good = GOOD[trial % 3];
        const int size = (int)strlen(good), flips = support_random_integer(&stream, 1, 4);
        char *bytes = strdup(good);
        assert_non_null(bytes);
        for (int i = 0; i < flips; i++)
            bytes[support_random_integer(&stream, 0, size - 1)] ^= (char)(1 << support_random_integer(&stream, 0, 7));
        try_bytes(*state, bytes, (size_t)size);
        free(bytes);
    }
}

static void random_bytes_fail(void **state) {
    carom_stream stream;
    carom_stream_start(&stream, 3, 0);
    for (int trial = 0; trial < 300; trial++) {
        char bytes[256];
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)carom_stream_bits(&stream);
        try_bytes(*state, bytes, sizeof bytes);
    }
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
        cmocka_unit_test(fractions_are_rounded_correctly),
        cmocka_unit_test(fractions_agree_with_division),
        cmocka_unit_test_setup_teardown(bad_scenes_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absurd_sizes_are_refused_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_prefix_reads_or_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flipped_bytes_read_or_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_bytes_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
