// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of FCLIB files share: a directory with one file, and the scene that reads it.
#ifndef CAROM_TESTS_FCLIB_SUPPORT_H
#define CAROM_TESTS_FCLIB_SUPPORT_H

#include <stdlib.h>
#include <unistd.h>

#include "support.h"

typedef struct bench {
    char *directory, *file;  // in the format of FCLIB
    carom_registry *registry;
} bench;

static inline bench start(void) {
    carom_error error = {0};
    bench b = {.directory = support_make_directory()};
    assert_ok(carom_registry_create(&b.registry, &error), error);
    b.file = support_write_file(b.directory, "problem.hdf5", "");
    assert_int_equal(unlink(b.file), 0);
    return b;
}

static inline void finish(bench *b) {
    carom_registry_free(b->registry);
    free(b->file);
    support_remove_directory(b->directory);
}

static inline carom_status read_scene(const bench *b, const char *text, carom_scene **scene, carom_error *error) {
    char *path = support_write_file(b->directory, "scene.yaml", text);
    const carom_status status = carom_scene_read(path, b->registry, scene, error);
    assert_int_equal(unlink(path), 0);
    free(path);
    return status;
}

static inline carom_scene *good_scene(const bench *b, const char *text) {
    carom_error error = {0};
    carom_scene *scene;
    assert_ok(read_scene(b, text, &scene, &error), error);
    return scene;
}

#define FILE_SCENE "delassus: {file: problem.hdf5}\n"

#endif
