// SPDX-License-Identifier: Apache-2.0
// Scene files: the keys of the top level, and what a scene gives back.
#include "io/io_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/utf8.h"

// ------------------------------------------------------------------------------------------------------------ warnings

carom_status carom_scene_warn(carom_scene *scene, const carom_node *node, carom_error *error, const char *format, ...) {
    carom_error sentence, placed;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence.message, sizeof sentence.message, format, arguments);
    va_end(arguments);
    sentence.status = CAROM_OK;
    carom_document_pass_on(scene->document, node, &sentence, &placed);

    const char **warnings = realloc(scene->warnings, (size_t)(scene->warning_count + 1) * sizeof *warnings);
    if (warnings) scene->warnings = warnings;
    char *text = carom_document_allocate(scene->document, strlen(placed.message) + 1);
    if (!warnings || !text) return carom_fail_memory(error, carom_scene_path(scene));
    scene->warnings[scene->warning_count++] = strcpy(text, placed.message);
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------------- top level

enum { OTHER_COMMANDS = 2 };

typedef struct scene_fields {
    const char *name, *model;
    const carom_node *matrices, *delassus, *balls, *state, *contacts, *parameters, *design, *impact;
    const carom_node *others[OTHER_COMMANDS];  ///< settings of other commands, which do not change the impact
} scene_fields;

#define OTHER_FORM "this version does not read scenes of this form; it reads 'model', 'matrices', 'delassus' and 'balls'"

static const carom_field SCENE[] = {
    {"name", CAROM_FIELD_TEXT, .offset = offsetof(scene_fields, name)},
    {"model", CAROM_FIELD_TEXT, .offset = offsetof(scene_fields, model)},
    {"state", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, state)},
    {"contacts", CAROM_FIELD_NODE, .offset = offsetof(scene_fields, contacts)},
    {"matrices", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, matrices)},
    {"delassus", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, delassus)},
    {"balls", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, balls)},
    {"impact", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, impact)},
    {"parameters", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, parameters)},
    {"design", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, design)},
    {"compliant", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, others[0])},
    {"simulate", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, others[1])},
    {"body", CAROM_FIELD_REFUSED, .doc = OTHER_FORM},
    {"bodies", CAROM_FIELD_REFUSED, .doc = OTHER_FORM},
    {"two_bodies", CAROM_FIELD_REFUSED, .doc = OTHER_FORM},
    {"gravity", CAROM_FIELD_REFUSED, .doc = "belongs to 'body', which this version does not read"},
    {"plane", CAROM_FIELD_REFUSED, .doc = "belongs to 'body', which this version does not read"},
    {"initial", CAROM_FIELD_REFUSED, .doc = "belongs to 'body', which this version does not read"},
    {"potentials", CAROM_FIELD_REFUSED, .doc = "belongs to 'bodies', which this version does not read"},
    {"walls", CAROM_FIELD_REFUSED, .doc = "belongs to 'bodies', which this version does not read"},
    {"normal", CAROM_FIELD_REFUSED, .doc = "belongs to 'two_bodies', which this version does not read"},
    {"friction", CAROM_FIELD_REFUSED, .doc = "belongs to 'two_bodies', which this version does not read"},
    {"restitution", CAROM_FIELD_REFUSED, .doc = "belongs to 'two_bodies', which this version does not read"},
};

static carom_status warn_of_other_commands(carom_scene *scene, const scene_fields *fields, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < OTHER_COMMANDS; i++)
        if (fields->others[i]) status = carom_scene_warn(scene, fields->others[i], error, "is ignored: this version has no such command");
    return status;
}

/// Exactly one of the forms, with the keys that belong to it.
static carom_status check_form(const carom_scene *scene, const scene_fields *fields, carom_error *error) {
    const carom_node *root = carom_document_root(scene->document);
    const int forms = (fields->model != NULL) + (fields->matrices != NULL) + (fields->delassus != NULL) + (fields->balls != NULL);
    if (forms == 0)
        return carom_document_refuse(scene->document, root, error, "one of the keys 'model', 'matrices', 'delassus' and 'balls' is needed");
    if (forms > 1)
        return carom_document_refuse(scene->document, root, error,
                                     "only one of the keys 'model', 'matrices', 'delassus' and 'balls' is allowed");
    const carom_node *stray = fields->state ? fields->state : fields->contacts ? fields->contacts : fields->parameters;
    if (!fields->model && stray) return carom_document_refuse(scene->document, stray, error, "belongs to a scene with 'model'");
    return CAROM_OK;
}

static carom_status read_form(carom_scene *scene, const scene_fields *fields, carom_digest *digest, carom_error *error) {
    if (fields->matrices) return carom_scene_read_matrices(scene, fields->matrices, error);
    if (fields->delassus) return carom_scene_read_delassus(scene, fields->delassus, digest, error);
    if (fields->balls) return carom_scene_read_balls(scene, fields->balls, error);
    return carom_scene_read_model(scene, carom_document_root(scene->document), digest, error);
}

// ---------------------------------------------------------------------------------------------------------------- name

/// The file's name without folders and ending. A file system takes any bytes in it; a name is one line of UTF-8.
static carom_status name_after_file(carom_scene *scene, carom_error *error) {
    const char *path = carom_scene_path(scene), *slash = strrchr(path, '/');
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

// ------------------------------------------------------------------------------------------------------------- reading

char *carom_scene_join_path(const carom_scene *scene, const char *path) {
    const char *scene_path = carom_scene_path(scene), *slash = strrchr(scene_path, '/');
    const size_t folder = slash && *path != '/' ? (size_t)(slash + 1 - scene_path) : 0, length = strlen(path) + 1;
    char *joined = malloc(folder + length);
    if (!joined) return NULL;
    memcpy(joined, scene_path, folder);
    memcpy(joined + folder, path, length);
    return joined;
}

/// A motion in which nothing collides is an answer of its own, but seldom what was meant. Rest needs no warning.
static carom_status warn_of_separation(carom_scene *scene, carom_error *error) {
    const carom_impact *impact = scene->impact;
    double *u = malloc((size_t)carom_impact_contact_size(impact) * sizeof *u);
    if (!u) return carom_fail_memory(error, carom_scene_path(scene));
    carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
    const bool separates = carom_impact_terminated(impact, u);
    free(u);
    if (!separates || carom_impact_velocity_scale(impact) == 0) return CAROM_OK;
    return carom_scene_warn(scene, carom_document_root(scene->document), error, "no contact approaches: nothing collides in this state");
}

static carom_status read_document(carom_scene *scene, const carom_registry *registry, carom_digest *digest, carom_error *error) {
    scene_fields fields = {0};
    const carom_node *root = carom_document_root(scene->document);
    carom_status status = carom_fields_read(scene->document, root, CAROM_FIELD_ROWS(SCENE), NULL, &fields, error);
    if (!status) status = check_form(scene, &fields, error);
    if (!status) status = warn_of_other_commands(scene, &fields, error);
    if (!status && fields.impact) status = carom_scene_read_settings(scene, fields.impact, registry, error);
    if (!status && fields.parameters) status = carom_scene_read_parameters(scene, fields.parameters, error);
    if (!status && fields.design) status = carom_scene_read_design(scene, fields.design, error);
    if (!status) status = read_form(scene, &fields, digest, error);
    if (!status) status = warn_of_separation(scene, error);
    if (status) return status;
    scene->name = fields.name;
    return fields.name ? CAROM_OK : name_after_file(scene, error);
}

/// Parses the file and starts the digest of all that the scene is made of with its bytes.
static carom_status parse(carom_scene *scene, const char *path, carom_digest *digest, carom_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    carom_status status = carom_file_read(path, &bytes, &size, error);
    if (status) return status;
    carom_digest_add_bytes(digest, bytes, size);
    status = carom_document_parse(path, bytes, size, &scene->document, error);
    free(bytes);
    return status;
}

carom_status carom_scene_read(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error) {
    *scene = NULL;
    carom_digest *digest = NULL;
    carom_scene *fresh = calloc(1, sizeof *fresh);
    carom_status status = fresh ? carom_digest_create(&digest, error) : carom_fail_memory(error, path);
    if (!status) status = parse(fresh, path, digest, error);
    if (!status) status = read_document(fresh, registry, digest, error);
    if (!status) carom_digest_finish(digest, fresh->hash);
    carom_digest_free(digest);
    if (status)
        carom_scene_free(fresh);
    else
        *scene = fresh;
    return status;
}

void carom_scene_free(carom_scene *scene) {
    if (!scene) return;
    carom_impact_free(scene->impact);
    free(scene->settings);
    free(scene->warnings);
    carom_document_free(scene->document);
    free(scene);
}

// ------------------------------------------------------------------------------------------------------------- getters

const char *carom_scene_path(const carom_scene *scene) { return carom_document_path(scene->document); }
const char *carom_scene_name(const carom_scene *scene) { return scene->name; }
const char *carom_scene_hash(const carom_scene *scene) { return scene->hash; }
const carom_impact *carom_scene_impact(const carom_scene *scene) { return scene->impact; }
const char *carom_scene_law(const carom_scene *scene) { return scene->law; }
int carom_scene_warnings(const carom_scene *scene) { return scene->warning_count; }
const char *carom_scene_warning(const carom_scene *scene, int index) {
    return index >= 0 && index < scene->warning_count ? scene->warnings[index] : NULL;
}
