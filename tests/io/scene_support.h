// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of the scene reader share: two laws with options, texts of good scenes, and reading a text as a scene file.
#ifndef CAROM_TESTS_SCENE_SUPPORT_H
#define CAROM_TESTS_SCENE_SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

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

static inline void fake_defaults(void *options) {
    *(fake_options *)options = (fake_options){.step = NAN, .max_steps = 10, .solver = "lemke"};
}

static const carom_law FIRST = {
    .name = "first", .options = FIRST_OPTIONS, .option_count = 4, .options_size = sizeof(fake_options), .defaults = fake_defaults};
static const carom_law SECOND = {
    .name = "second", .options = SECOND_OPTIONS, .option_count = 3, .options_size = sizeof(fake_options), .defaults = fake_defaults};

/// A block whose mass matrix is written as text and numbers; z, theta as in Halm & Posa, section 5.4.1.
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

static inline int set_up(void **state) {
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

static inline int tear_down(void **state) {
    fixture *it = *state;
    support_remove_directory(it->directory);
    carom_registry_free(it->registry);
    free(it);
    return 0;
}

static inline char *write_bytes(const fixture *it, const char *name, const char *bytes, size_t size) {
    char *path = support_write_file(it->directory, name, "");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

/// Reads `size` bytes as a scene file. A failure must have its status and a message; a success must have an impact.
static inline carom_status read_bytes(const fixture *it, const char *bytes, size_t size, carom_scene **scene, carom_error *error) {
    char *path = write_bytes(it, "scene.yaml", bytes, size);
    *error = (carom_error){0};
    const carom_status status = carom_scene_read(path, it->registry, scene, error);
    if (status) {
        assert_null(*scene);
        assert_int_equal(error->status, status);
        // every message begins with "FILE:LINE: "
        assert_memory_equal(error->message, path, strlen(path));
        assert_true(strtol(error->message + strlen(path) + 1, NULL, 10) >= 1);
        assert_true(strlen(error->message) > strlen(path) + 4);
    } else {
        assert_non_null(carom_scene_impact(*scene));
    }
    free(path);
    return status;
}

#endif
