// SPDX-License-Identifier: Apache-2.0
// Scene files: the table of forms, the keys that all forms share, and what a scene gives back.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/pose.h"
#include "carom/utf8.h"
#include "io/io_internal.h"

// The only place that lists the forms.
static const carom_scene_form *const FORMS[] = {
    &carom_scene_form_model, &carom_scene_form_matrices, &carom_scene_form_delassus, &carom_scene_form_two_bodies,
    &carom_scene_form_balls, &carom_scene_form_body,     &carom_scene_form_bodies,
};
enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };

// ----------------------------------------------------------------------------------------------------------- top level

// Keys that a scene of any form may have.
typedef struct scene_fields {
    const char *name;
    const carom_node *design, *impact, *simulate, *compliant, *uncertain;
} scene_fields;

static const carom_field COMMON[] = {
    {"name", CAROM_FIELD_TEXT, .offset = offsetof(scene_fields, name)},
    {"impact", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, impact)},
    {"design", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, design)},
    {"compliant", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, compliant)},
    {"simulate", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, simulate)},
    {"uncertain", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, uncertain)},
};

// Does a key belong to this form? Forms may share keys.
static bool has_key(const carom_scene_form *form, const char *key) {
    for (int i = 0; i < form->keys.count; i++)
        if (strcmp(form->keys.rows[i].key, key) == 0) return true;
    return false;
}

// The one form that a scene has. Keys that belong to other forms alone are refused.
static carom_status find_form(const carom_scene *scene, const carom_scene_form **form, carom_error *error) {
    const carom_node *root = carom_document_root(scene->document);
    int found = 0;
    char names[CAROM_MESSAGE_SIZE / 2] = "";
    for (int i = 0; i < FORM_COUNT; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s'%s'", i == 0 ? "" : i + 1 < FORM_COUNT ? ", " : " and ", FORMS[i]->key);
        if (!carom_node_find(root, FORMS[i]->key)) continue;
        found++;
        *form = FORMS[i];
    }
    if (found == 0) return carom_document_refuse(scene->document, root, error, "one of the keys %s is needed", names);
    if (found > 1) return carom_document_refuse(scene->document, root, error, "only one of the keys %s is allowed", names);

    for (const carom_node *entry = root->first; entry; entry = entry->next)
        for (int i = 0; i < FORM_COUNT; i++)
            if (has_key(FORMS[i], entry->key) && !has_key(*form, entry->key))
                return carom_document_refuse(scene->document, entry, error, "belongs to a scene with '%s'", FORMS[i]->key);
    return CAROM_OK;
}

// Reads the parsed document of a scene file. Commands that ask about an impact need one, and leave `simulate` alone.
static carom_status read_document(carom_scene *scene, const carom_registry *registry, carom_digest *digest, carom_error *error) {
    const carom_node *root = carom_document_root(scene->document);
    const carom_scene_form *form = NULL;
    scene_fields fields = {0};
    carom_field_table tables[1 + FORM_COUNT] = {CAROM_FIELD_TABLE(COMMON)};
    for (int i = 0; i < FORM_COUNT; i++) tables[1 + i] = FORMS[i]->keys;
    carom_status status = carom_fields_check(scene->document, root, tables, 1 + FORM_COUNT, error);
    if (!status) status = carom_fields_take(scene->document, root, CAROM_FIELD_ROWS(COMMON), NULL, &fields, error);
    if (!status) status = find_form(scene, &form, error);
    if (status) return status;
    if (form->motion_only && !scene->moves)
        return carom_document_refuse(scene->document, carom_node_find(root, form->key), error,
                                     "a scene of this form describes a motion in time, which `carom simulate` runs");

    scene->compliant = fields.compliant;
    if (fields.simulate && scene->moves) status = carom_scene_read_settings(scene, &scene->simulate, fields.simulate, registry, error);
    if (!status && !scene->integrator && scene->simulate.chosen)
        scene->integrator = carom_integrator_find(registry, scene->simulate.chosen);
    if (!status && fields.impact) status = carom_scene_read_settings(scene, &scene->impact_settings, fields.impact, registry, error);
    if (!status && fields.design) status = carom_scene_read_design(scene, fields.design, error);
    if (!status) status = form->read(scene, root, digest, error);
    if (!status && fields.uncertain && !scene->mechanism) status = carom_scene_read_uncertain(scene, fields.uncertain, error);
    scene->name = fields.name;
    return status;
}

// Where a scene says what its impact is; NULL in one that is a model.
static const carom_node *find_impact(const carom_scene *scene) {
    static const char *const keys[] = {"contacts", "matrices", "delassus", "two_bodies", "balls"};
    const carom_node *node = NULL;
    for (size_t i = 0; !node && i < sizeof keys / sizeof *keys; i++) node = carom_node_find(carom_document_root(scene->document), keys[i]);
    return node;
}

// A sentence about the scene's impact.
static carom_status warn_of_impact(void *user, const char *sentence, carom_error *error) {
    carom_scene *scene = user;
    return carom_scene_warn(scene, find_impact(scene), error, "%s", sentence);
}

// What a scene of any form has besides: a name, a look at its impact, and a warning where nothing happens in it.
static carom_status finish(carom_scene *scene, carom_error *error) {
    const char *path = carom_scene_path(scene);
    carom_status status = CAROM_OK;
    scene->motion.impact = scene->whole ? scene->whole : scene->impact;
    if (scene->impact) {
        carom_error inner;
        status = carom_impact_review(scene->impact, warn_of_impact, scene, &inner);
        if (status) return carom_document_pass_on(scene->document, find_impact(scene), &inner, error);
    }

    // A state in which nothing collides is an answer of its own, but seldom what was meant. Rest needs no warning.
    if (scene->impact && !scene->moves && carom_impact_velocity_scale(scene->impact) != 0) {
        char text[CAROM_MESSAGE_SIZE];
        status = carom_impact_describe_rest(scene->impact, text, error);
        if (!status && *text) status = carom_scene_warn(scene, carom_document_root(scene->document), error, "%s", text);
    }

    // A scene without a name is called like its file, without folders and ending. A file system takes any bytes in it; a scene's name is
    // one line of UTF-8.
    if (status || scene->name) return status;
    const char *slash = strrchr(path, '/');
    char *stem = strdup(slash ? slash + 1 : path);
    if (!stem) return carom_fail_memory(error, path);
    char *dot = strrchr(stem, '.');
    if (dot && dot > stem) *dot = '\0';
    for (size_t i = 0; stem[i += carom_text_span(stem + i)];) stem[i] = '_';
    char *repaired = carom_utf8_repair(stem);
    char *name = repaired ? carom_document_allocate(scene->document, strlen(repaired) + 1) : NULL;
    if (name) scene->name = strcpy(name, repaired);
    free(stem);
    free(repaired);
    return name ? CAROM_OK : carom_fail_memory(error, path);
}

// The digest is of all that the scene is made of: its own bytes, and those of files that it names.
static carom_status read_scene(const char *path, bool moves, const carom_registry *registry, const carom_integrator *integrator,
                               carom_scene **scene, carom_error *error) {
    *scene = NULL;
    char *bytes = NULL;
    size_t size = 0;
    carom_digest *digest = NULL;
    bool bare = false;
    carom_scene *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return carom_fail_memory(error, path);
    fresh->impact_settings.kind = CAROM_REGISTRY_LAWS;
    fresh->simulate.kind = CAROM_REGISTRY_INTEGRATORS;
    fresh->moves = moves;
    fresh->integrator = integrator;

    carom_status status = carom_digest_create(&digest, error);
    if (!status) status = carom_file_read(path, CAROM_MAX_FILE_SIZE, &bytes, &size, error);
    if (!status) {
        carom_digest_add_bytes(digest, bytes, size);
        status = carom_scene_recognise(path, bytes, &bare, error);
        // A bare model is a scene without keys.
        if (!status) status = carom_document_parse(path, bare ? "{}" : bytes, bare ? 2 : size, &fresh->document, error);
    }
    free(bytes);
    if (!status) status = bare ? carom_scene_read_bare(fresh, error) : read_document(fresh, registry, digest, error);
    if (!status) status = finish(fresh, error);
    if (!status) carom_digest_finish(digest, fresh->hash);
    carom_digest_free(digest);
    if (status)
        carom_scene_free(fresh);
    else
        *scene = fresh;
    return status;
}

carom_status carom_scene_read(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error) {
    return read_scene(path, false, registry, NULL, scene, error);
}

carom_status carom_scene_read_motion(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error) {
    return carom_scene_read_motion_for(path, registry, NULL, scene, error);
}

carom_status carom_scene_read_motion_for(const char *path, const carom_registry *registry, const carom_integrator *integrator,
                                         carom_scene **scene, carom_error *error) {
    return read_scene(path, true, registry, integrator, scene, error);
}

void carom_scene_free(carom_scene *scene) {
    if (!scene) return;
    carom_uncertainty_free(scene->uncertainty);
    carom_scene_pose_free(scene->pose);
    carom_impact_free(scene->impact);
    carom_impact_free(scene->whole);
    carom_body_free(scene->body);
    carom_model_free_system(scene->system);
    carom_model_free_mechanism(scene->mechanism);
    carom_ball_free_system(scene->balls);
    carom_model_free(scene->model);
    free(scene->impact_settings.items);
    free(scene->simulate.items);
    free(scene->warnings);
    free(scene->notes);
    carom_document_free(scene->document);
    free(scene);
}

// -------------------------------------------------------------------------------------------------------------- places

void carom_scene_place_key_error(const carom_scene *scene, carom_error *error) {
    // Follow the keys of "a.b: sentence" down the scene as far as it has them.
    const carom_node *node = carom_document_root(scene->document);
    const char *message = error->message, *colon = strstr(message, ": "), *sentence = message;
    for (const char *word = message; colon && word < colon;) {
        const size_t length = strcspn(word, ".:[");
        const carom_node *inner = node->kind == CAROM_NODE_MAP ? node->first : NULL;
        while (inner && (strlen(inner->key) != length || strncmp(inner->key, word, length) != 0)) inner = inner->next;
        if (!inner) break;
        node = inner;
        // Bodies are numbered as they move, not as the scene's list has them: the line of the list must do.
        if (word[length] == '[') break;
        word += length + 1;
        sentence = word > colon ? colon + 2 : word;
    }
    if (!node->parent) return;
    carom_error inner = {.status = error->status};
    snprintf(inner.message, sizeof inner.message, "%s", sentence);
    carom_document_pass_on(scene->document, node, &inner, error);
}

// ------------------------------------------------------------------------------------------------------------- getters

const char *carom_scene_name(const carom_scene *scene) { return scene->name; }
const char *carom_scene_hash(const carom_scene *scene) { return scene->hash; }
const carom_impact *carom_scene_impact(const carom_scene *scene) { return scene->impact; }
const carom_uncertainty *carom_scene_uncertainty(const carom_scene *scene) { return scene->uncertainty; }
const carom_motion *carom_scene_motion(const carom_scene *scene) { return &scene->motion; }
carom_model *carom_scene_model(const carom_scene *scene) { return scene->model; }
// Why a model has no system was found when the scene was read; it is said now, at the list of contacts.
carom_status carom_scene_system(const carom_scene *scene, const carom_system **system, carom_error *error) {
    *system = scene->system;
    if (scene->system) return CAROM_OK;
    if (scene->motion.obstacle)
        return carom_document_pass_on(scene->document, carom_node_find(carom_document_root(scene->document), "contacts"), &scene->obstacle,
                                      error);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: a mechanism needs a scene with 'model' and a list of contacts", carom_scene_path(scene));
}
const char *carom_scene_law(const carom_scene *scene) { return scene->impact_settings.chosen; }
const char *carom_scene_integrator(const carom_scene *scene) { return scene->simulate.chosen; }
int carom_scene_warnings(const carom_scene *scene) { return scene->warning_count; }
int carom_scene_notes(const carom_scene *scene) { return scene->note_count; }
const char *carom_scene_get_note(const carom_scene *scene, int index) {
    return index >= 0 && index < scene->note_count ? scene->notes[index] : NULL;
}
const char *carom_scene_warning(const carom_scene *scene, int index) {
    return index >= 0 && index < scene->warning_count ? scene->warnings[index] : NULL;
}
