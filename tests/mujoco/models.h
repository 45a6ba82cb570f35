// SPDX-License-Identifier: Apache-2.0
/// @file
/// Models of tests: a text in a file of its own, loaded, and what is frozen from it.
#ifndef TESTS_MUJOCO_MODELS_H
#define TESTS_MUJOCO_MODELS_H

#include <stdlib.h>

#include "support.h"

typedef struct fixture {
    char *directory, *path;
    carom_model *model;
} fixture;

static inline fixture load_text(const char *text) {
    fixture f = {.directory = support_make_directory()};
    f.path = support_write_file(f.directory, "model.xml", text);
    carom_error error;
    assert_ok(carom_model_load(f.path, &f.model, &error), error);
    return f;
}

static inline void free_fixture(fixture *f) {
    carom_model_free(f->model);
    free(f->path);
    support_remove_directory(f->directory);
}

static inline carom_impact *freeze(carom_model *model, const carom_model_contact *contacts, int count) {
    carom_error error;
    carom_impact *impact;
    assert_ok(carom_model_freeze(model, contacts, count, &impact, &error), error);
    return impact;
}

#endif
