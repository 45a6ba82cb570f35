// SPDX-License-Identifier: Apache-2.0
// Scene files: the keys of the top level, and what a scene gives back.
#include "io/io_internal.h"

#include <math.h>
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

// Of a body in a scene that does not say [m/s^2].
#define STANDARD_GRAVITY 9.80665

// Lengths of the top level, all of which belong to `two_bodies`.
enum { BODIES, AXES, TANGENTS, LENGTHS };

typedef struct scene_fields {
    const char *name, *model;
    const carom_node *matrices, *delassus, *balls, *state, *contacts, *parameters, *design, *impact, *simulate, *compliant;
    carom_scene_pair pair;
    carom_scene_body_fields body;
    carom_scene_bodies_fields many;
} scene_fields;

#define FORMS "'model', 'matrices', 'delassus', 'two_bodies', 'balls', 'body' and 'bodies'"

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
    {"compliant", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, compliant)},
    {"simulate", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, simulate)},
    {"body", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, body.body)},
    {"gravity", CAROM_FIELD_NUMBER, .offset = offsetof(scene_fields, body.gravity), .least = 0, .most = HUGE_VAL},
    {"plane", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, body.plane)},
    {"initial", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, body.initial)},
    {"bodies", CAROM_FIELD_NODE, .offset = offsetof(scene_fields, many.bodies)},
    {"potentials", CAROM_FIELD_NODE, .offset = offsetof(scene_fields, many.potentials)},
    {"walls", CAROM_FIELD_NODE, .offset = offsetof(scene_fields, many.walls)},
    {"collisions", CAROM_FIELD_MAP, .offset = offsetof(scene_fields, many.collisions)},
    {"two_bodies", CAROM_FIELD_LIST, .offset = offsetof(scene_fields, pair.bodies), .rows = BODIES},
    {"normal", CAROM_FIELD_VECTOR, .offset = offsetof(scene_fields, pair.normal), .rows = AXES},
    {"tangents", CAROM_FIELD_MATRIX, .offset = offsetof(scene_fields, pair.tangents), .rows = TANGENTS, .columns = AXES},
    {"friction", CAROM_FIELD_NUMBER, .offset = offsetof(scene_fields, pair.friction), .least = 0, .most = HUGE_VAL},
    {"restitution", CAROM_FIELD_NUMBER, .offset = offsetof(scene_fields, pair.restitution), .least = 0, .most = 1},
};

static const char *const FORM_KEYS[] = {"model", "matrices", "delassus", "two_bodies", "balls", "body", "bodies"};

static const struct {
    const char *key, *form;
} BELONGINGS[] = {
    {"state", "model"},         {"contacts", "model"},         {"parameters", "model"},  {"gravity", "body"},
    {"plane", "body"},          {"initial", "body"},           {"normal", "two_bodies"}, {"tangents", "two_bodies"},
    {"friction", "two_bodies"}, {"restitution", "two_bodies"}, {"potentials", "bodies"}, {"walls", "bodies"},
    {"collisions", "bodies"},
};

/// A key of one form in a scene of another.
static carom_status check_strays(const carom_scene *scene, carom_error *error) {
    const carom_node *root = carom_document_root(scene->document);
    for (size_t i = 0; i < sizeof BELONGINGS / sizeof *BELONGINGS; i++) {
        const carom_node *stray = carom_node_find(root, BELONGINGS[i].key);
        if (stray && !carom_node_find(root, BELONGINGS[i].form))
            return carom_document_refuse(scene->document, stray, error, "belongs to a scene with '%s'", BELONGINGS[i].form);
    }
    return CAROM_OK;
}

/// Exactly one of the forms, with the keys that belong to it.
static carom_status check_form(const carom_scene *scene, carom_error *error) {
    const carom_node *root = carom_document_root(scene->document);
    int forms = 0;
    for (size_t i = 0; i < sizeof FORM_KEYS / sizeof *FORM_KEYS; i++) forms += carom_node_find(root, FORM_KEYS[i]) != NULL;
    if (forms == 0) return carom_document_refuse(scene->document, root, error, "one of the keys " FORMS " is needed");
    if (forms > 1) return carom_document_refuse(scene->document, root, error, "only one of the keys " FORMS " is allowed");
    return check_strays(scene, error);
}

static carom_status read_form(carom_scene *scene, const scene_fields *fields, carom_digest *digest, carom_error *error) {
    if (fields->body.body) return carom_scene_read_body(scene, &fields->body, error);
    if (fields->many.bodies) return carom_scene_read_bodies(scene, &fields->many, error);
    if (fields->matrices) return carom_scene_read_matrices(scene, fields->matrices, error);
    if (fields->delassus) return carom_scene_read_delassus(scene, fields->delassus, digest, error);
    if (fields->pair.bodies) return carom_scene_read_two_bodies(scene, &fields->pair, error);
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

/// What a scene is read for.
typedef enum scene_purpose { FOR_IMPACT, FOR_MOTION } scene_purpose;

/// Commands that ask about an impact need one, and leave `simulate` alone.
static carom_status check_purpose(carom_scene *scene, const scene_fields *fields, scene_purpose purpose, const carom_registry *registry,
                                  carom_error *error) {
    const carom_node *motion = fields->body.body ? fields->body.body : fields->many.bodies;
    if (purpose == FOR_IMPACT && motion)
        return carom_document_refuse(scene->document, motion, error,
                                     "a scene of this form describes a motion in time, which `carom simulate` runs");
    if (purpose == FOR_IMPACT || !fields->simulate) return CAROM_OK;
    return carom_scene_read_settings(scene, &scene->simulate, fields->simulate, registry, error);
}

static carom_status read_document(carom_scene *scene, scene_purpose purpose, const carom_registry *registry, carom_digest *digest,
                                  carom_error *error) {
    scene_fields fields = {.body = {.gravity = STANDARD_GRAVITY}};
    carom_length lengths[LENGTHS] = {
        [BODIES] = {.least = 2, .most = 2, .value = 2}, [AXES] = {.least = 3, .most = 3, .value = 3}, [TANGENTS] = {.least = 1, .most = 2}};
    const carom_node *root = carom_document_root(scene->document);
    carom_status status = carom_fields_read(scene->document, root, CAROM_FIELD_ROWS(SCENE), lengths, &fields, error);
    fields.pair.tangent_count = lengths[TANGENTS].value;
    if (!status) status = check_form(scene, error);
    if (!status) status = check_purpose(scene, &fields, purpose, registry, error);
    if (!status && fields.impact) status = carom_scene_read_settings(scene, &scene->impact_settings, fields.impact, registry, error);
    if (!status && fields.parameters) status = carom_scene_read_parameters(scene, fields.parameters, error);
    if (!status && fields.design) status = carom_scene_read_design(scene, fields.design, error);
    if (!status) status = read_form(scene, &fields, digest, error);
    if (!status && scene->impact && purpose == FOR_IMPACT) status = warn_of_separation(scene, error);
    if (status) return status;
    scene->motion.impact = scene->impact;
    scene->compliant = fields.compliant;
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

static carom_status read_scene(const char *path, scene_purpose purpose, const carom_registry *registry, carom_scene **scene,
                               carom_error *error) {
    *scene = NULL;
    carom_digest *digest = NULL;
    carom_scene *fresh = calloc(1, sizeof *fresh);
    carom_status status = fresh ? carom_digest_create(&digest, error) : carom_fail_memory(error, path);
    if (!status) status = parse(fresh, path, digest, error);
    if (fresh) {
        fresh->impact_settings.kind = CAROM_REGISTRY_LAWS;
        fresh->simulate.kind = CAROM_REGISTRY_INTEGRATORS;
        fresh->moves = purpose == FOR_MOTION;
    }
    if (!status) status = read_document(fresh, purpose, registry, digest, error);
    if (!status) carom_digest_finish(digest, fresh->hash);
    carom_digest_free(digest);
    if (status)
        carom_scene_free(fresh);
    else
        *scene = fresh;
    return status;
}

carom_status carom_scene_read(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error) {
    return read_scene(path, FOR_IMPACT, registry, scene, error);
}

carom_status carom_scene_read_motion(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error) {
    return read_scene(path, FOR_MOTION, registry, scene, error);
}

void carom_scene_free(carom_scene *scene) {
    if (!scene) return;
    carom_impact_free(scene->impact);
    carom_body_free(scene->body);
    carom_model_free_system(scene->system);
    carom_ball_free_system(scene->balls);
    carom_model_free(scene->model);
    free(scene->impact_settings.items);
    free(scene->simulate.items);
    free(scene->warnings);
    carom_document_free(scene->document);
    free(scene);
}

// -------------------------------------------------------------------------------------------------------------- places

/// The node that a message "a.b: ..." is about, and where its sentence starts.
static const carom_node *find_place(const carom_scene *scene, const char *message, const char **sentence) {
    const carom_node *node = carom_document_root(scene->document);
    const char *colon = strstr(message, ": ");
    *sentence = message;
    for (const char *word = message; colon && word < colon;) {
        const size_t length = strcspn(word, ".:[");
        const carom_node *inner = node->kind == CAROM_NODE_MAP ? node->first : NULL;
        while (inner && (strlen(inner->key) != length || strncmp(inner->key, word, length) != 0)) inner = inner->next;
        if (!inner) break;
        node = inner;
        // Bodies are numbered as they move, not as the scene's list has them: its line must do.
        if (word[length] == '[') break;
        word += length + 1;
        *sentence = word > colon ? colon + 2 : word;
    }
    return node;
}

void carom_scene_place_key_error(const carom_scene *scene, carom_error *error) {
    carom_error inner = *error;
    const char *sentence;
    const carom_node *node = find_place(scene, error->message, &sentence);
    if (!node->parent) return;
    snprintf(inner.message, sizeof inner.message, "%s", sentence);
    carom_document_pass_on(scene->document, node, &inner, error);
}

// ------------------------------------------------------------------------------------------------------------- getters

const char *carom_scene_path(const carom_scene *scene) { return carom_document_path(scene->document); }
const char *carom_scene_name(const carom_scene *scene) { return scene->name; }
const char *carom_scene_hash(const carom_scene *scene) { return scene->hash; }
const carom_impact *carom_scene_impact(const carom_scene *scene) { return scene->impact; }
const carom_motion *carom_scene_motion(const carom_scene *scene) { return &scene->motion; }
carom_model *carom_scene_model(const carom_scene *scene) { return scene->model; }
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
const char *carom_scene_warning(const carom_scene *scene, int index) {
    return index >= 0 && index < scene->warning_count ? scene->warnings[index] : NULL;
}
