// SPDX-License-Identifier: Apache-2.0
// The form `model`: scenes that name a model file, a state, and the places where it touches.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

// A steeper floor is a wall [degrees].
#define MOST_SLOPE 85.0

// ------------------------------------------------------------------------------------------------------------ contacts

// What the last load, freeze or detection found worth knowing.
static carom_status pass_warnings_on(carom_scene *scene, const carom_node *node, const carom_model *model, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && i < carom_model_warnings(model); i++)
        status = carom_scene_warn(scene, node, error, "%s", carom_model_warning(model, i));
    return status;
}

// The impact of a system at its start, with all its contacts: stops that no joint is at, too, and both ends of capsules.
static carom_status freeze_system(const carom_system *system, const carom_impact *frozen, carom_impact **impact, carom_error *error) {
    const size_t nv = (size_t)system->nv, contacts = (size_t)system->contacts;
    void *workspace;
    carom_arena arena = {0};
    carom_system_terms terms = {.mass = carom_arena_take(&arena, nv * nv, sizeof(double)),
                                .bias = carom_arena_take(&arena, nv, sizeof(double)),
                                .gap = carom_arena_take(&arena, contacts, sizeof(double)),
                                .normal = carom_arena_take(&arena, contacts * nv, sizeof(double)),
                                .tangent = carom_arena_take(&arena, contacts * nv, sizeof(double)),
                                .normal_drift = carom_arena_take(&arena, contacts, sizeof(double)),
                                .tangent_drift = carom_arena_take(&arena, contacts, sizeof(double))};
    carom_status status = arena.failed ? carom_fail_memory(error, "contacts") : system->open(system->self, &workspace, error);
    if (!status) {
        system->evaluate(workspace, system->position, system->velocity, &terms);
        system->close(workspace);
        status = carom_impact_create(&(carom_impact_data){.nv = system->nv,
                                                          .contacts = system->contacts,
                                                          .tangent_dim = 1,
                                                          .mass = terms.mass,
                                                          .normal = terms.normal,
                                                          .tangent = terms.tangent,
                                                          .friction = system->friction,
                                                          .restitution = system->restitution,
                                                          .velocity = system->velocity,
                                                          .names = system->contact_names,
                                                          .velocity_names = carom_impact_get_data(frozen)->velocity_names,
                                                          .velocity_turns = system->turns},
                                     impact, error);
    }
    carom_arena_free(&arena);
    return status;
}

// Impact, and for an integrator the mechanism, of the contacts that the scene lists.
static carom_status freeze_listed(carom_scene *scene, const carom_node *node, carom_model *model, carom_error *error) {
    carom_model_contact *contacts;
    int touching;
    carom_status status = carom_scene_list_contacts(scene, node, &contacts, &touching, error);
    if (status) return status;
    carom_error inner;
    status = carom_model_freeze(model, contacts, touching, &scene->impact, &inner);
    if (!status && scene->moves) {
        status = carom_model_create_system(model, contacts, node->count, &scene->system, &inner);
        // A model that carom cannot move in time has impacts all the same: that is an error only for integrators.
        if (status == CAROM_UNSUPPORTED) {
            scene->obstacle = inner;
            scene->motion.obstacle = scene->obstacle.message;
            status = CAROM_OK;
        }
        if (scene->system && scene->system->contacts != carom_impact_get_data(scene->impact)->contacts)
            status = freeze_system(scene->system, scene->impact, &scene->whole, &inner);
    }
    free(contacts);
    return status ? carom_document_pass_on(scene->document, node, &inner, error) : CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- model

// `stops: {restitution: E}` of joints at the ends of their ranges, and `strings`, of tendons at their limits.
static carom_status read_limits(carom_scene *scene, carom_model *model, carom_error *error) {
    static const char *const keys[] = {"stops", "strings"};
    static const carom_field restitution = {"restitution", CAROM_FIELD_NUMBER, .required = true, .least = 0, .most = 1};
    double values[2] = {0};
    carom_status status = CAROM_OK;
    for (int k = 0; k < 2 && !status; k++) {
        const carom_node *node = carom_node_find(carom_document_root(scene->document), keys[k]);
        if (node) status = carom_fields_read(scene->document, node, &restitution, 1, NULL, &values[k], error);
    }
    return status ? status : carom_model_set_limit_restitution(model, values[0], values[1], error);
}

// Loads the model, and puts it into the scene's state.
carom_status carom_scene_load_model(carom_scene *scene, const double *parameters, carom_digest *digest, carom_model **model,
                                    carom_error *error) {
    const carom_node *root = carom_document_root(scene->document), *node = carom_node_find(root, "model"),
                     *state = carom_node_find(root, "state");
    char *path = carom_scene_join_path(scene, node->text), *bytes = NULL;
    if (!path) return carom_fail_memory(error, carom_scene_path(scene));
    carom_model_parameters values = scene->parameters;
    if (parameters) values.values = parameters;

    carom_error inner;
    carom_status status = CAROM_OK;
    size_t size = 0;
    if (digest) status = carom_file_read(path, CAROM_MAX_FILE_SIZE, &bytes, &size, &inner);
    if (digest && !status) carom_digest_add_bytes(digest, bytes, size);
    free(bytes);
    carom_model_options options = scene->model_options;
    if (values.count) options.parameters = &values;
    if (!status) status = carom_model_load_with(path, &options, model, &inner);
    free(path);
    if (status) return carom_document_pass_on(scene->document, node, &inner, error);
    status = read_limits(scene, *model, error);
    if (!status && state) status = carom_scene_read_state(scene, state, *model, error);
    if (status) {
        carom_model_free(*model);
        *model = NULL;
    }
    return status;
}

// `parameters`: a map of names, which are words as formulas have them, and numbers.
static carom_status read_parameters(carom_scene *scene, const carom_node *parameters, carom_error *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const size_t count = (size_t)parameters->count;
    carom_field *fields = calloc(count + 1, sizeof *fields);
    const char **names = carom_document_allocate(scene->document, (count + 1) * sizeof *names);
    double *values = carom_document_allocate(scene->document, (count + 1) * sizeof *values);
    carom_status status = fields && names && values ? CAROM_OK : carom_fail_memory(error, carom_scene_path(scene));
    for (const carom_node *entry = parameters->first; !status && entry; entry = entry->next) {
        const char *key = entry->key;
        if (!*key || strchr("0123456789", *key) || key[strspn(key, letters)])
            status =
                carom_document_refuse(scene->document, entry, error, "a parameter's name has letters, digits and _ only, a letter first");
        names[entry->index] = key;
        fields[entry->index] = (carom_field){key, CAROM_FIELD_NUMBER, .required = true, .offset = (size_t)entry->index * sizeof *values};
    }
    if (!status) status = carom_fields_read(scene->document, parameters, fields, (int)count, NULL, values, error);
    scene->parameters = (carom_model_parameters){(int)count, names, values};
    free(fields);
    return status;
}

static const carom_field GROUND[] = {
    {"height", CAROM_FIELD_NUMBER, .offset = offsetof(carom_ground, height)},
    {"slope", CAROM_FIELD_NUMBER, .offset = offsetof(carom_ground, slope), .least = -MOST_SLOPE, .most = MOST_SLOPE},
    {"friction", CAROM_FIELD_NUMBER, .offset = offsetof(carom_ground, friction), .least = 0, .most = HUGE_VAL},
};

// `root: free`, and `ground: true` or a map of what is not as usual.
static carom_status read_changes(carom_scene *scene, const carom_node *root, const carom_node *ground, carom_error *error) {
    scene->ground = (carom_ground){.friction = (double)NAN};
    if (root && (root->kind != CAROM_NODE_SCALAR || strcmp(root->text, "free") != 0))
        return carom_document_refuse(scene->document, root, error, "must be 'free', which lets a root move that is welded to the world");
    scene->model_options.free_root = root != NULL;
    if (!ground) return CAROM_OK;
    carom_status status = CAROM_OK;
    if (ground->kind == CAROM_NODE_MAP) {
        status = carom_fields_read(scene->document, ground, CAROM_FIELD_ROWS(GROUND), NULL, &scene->ground, error);
    } else {
        scene->ground.optional = ground->kind == CAROM_NODE_SCALAR && !strcmp(ground->text, "true");
        const bool none = ground->kind == CAROM_NODE_SCALAR && !strcmp(ground->text, "false");
        if (none) return CAROM_OK;
        if (!scene->ground.optional)
            status = carom_document_refuse(scene->document, ground, error, "must be true, false, or a map of height, slope and friction");
    }
    scene->model_options.ground = &scene->ground;
    return status;
}

// The keys of the top level.
typedef struct model_fields {
    const char *model;
    const carom_node *state, *contacts, *control, *parameters, *root, *ground, *stops, *strings;
} model_fields;

static const carom_field KEYS[] = {
    {"model", CAROM_FIELD_TEXT, .offset = offsetof(model_fields, model)},
    {"state", CAROM_FIELD_MAP, .offset = offsetof(model_fields, state)},
    {"contacts", CAROM_FIELD_NODE, .offset = offsetof(model_fields, contacts)},
    {"control", CAROM_FIELD_NODE, .offset = offsetof(model_fields, control)},
    {"parameters", CAROM_FIELD_MAP, .offset = offsetof(model_fields, parameters)},
    {"root", CAROM_FIELD_NODE, .offset = offsetof(model_fields, root)},
    {"ground", CAROM_FIELD_NODE, .offset = offsetof(model_fields, ground)},
    {"stops", CAROM_FIELD_MAP, .offset = offsetof(model_fields, stops)},
    {"strings", CAROM_FIELD_MAP, .offset = offsetof(model_fields, strings)},
};

// The model, its state, and then its contacts, each with what the model warns of.
static carom_status read_model(carom_scene *scene, const carom_node *root, carom_digest *digest, carom_error *error) {
    model_fields fields = {0};
    carom_status status = carom_fields_take(scene->document, root, CAROM_FIELD_ROWS(KEYS), NULL, &fields, error);
    if (!status && fields.parameters) status = read_parameters(scene, fields.parameters, error);
    if (!status) status = read_changes(scene, fields.root, fields.ground, error);
    if (status) return status;
    const carom_node *contacts = fields.contacts;
    if (!contacts) return carom_document_refuse(scene->document, root, error, "the key 'contacts' is missing beside 'model'");
    status = carom_scene_load_model(scene, NULL, digest, &scene->model, error);
    if (!status) status = pass_warnings_on(scene, carom_node_find(root, "model"), scene->model, error);
    if (!status && carom_scene_is_mechanism(scene))
        status = carom_scene_create_mechanism(scene, contacts, fields.control, error);
    else if (!status)
        status = contacts->kind == CAROM_NODE_MAP ? carom_scene_detect_contacts(scene, contacts, error)
                                                  : freeze_listed(scene, contacts, scene->model, error);
    if (!status && fields.control && scene->moves && !scene->mechanism)
        status = carom_scene_warn(scene, fields.control, error,
                                  "has no effect: with this integrator actuators get the controls of the keyframe in 'state', or 0");
    // What a motion leaves out is the model's.
    const carom_node *place = scene->mechanism ? carom_node_find(root, "model") : contacts;
    if (!status) status = pass_warnings_on(scene, place, scene->model, error);
    if (scene->system) {
        scene->motion.form = CAROM_MOTION_SYSTEM;
        scene->motion.system = scene->system;
    }
    return status;
}

const carom_scene_form carom_scene_form_model = {"model", CAROM_FIELD_TABLE(KEYS), .read = read_model};
