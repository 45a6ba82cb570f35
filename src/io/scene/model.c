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

enum { TANGENTS };

// One place: under `at`, or flat in the contact.
typedef struct place_fields {
    const char *site, *geom, *body;
    const double *point;
} place_fields;

// A contact: where it is (one of `at`, the flat keys, `sites`, `geoms`), its directions, friction and restitution, and the place of its
// plane along the normal [m].
typedef struct contact_fields {
    const char *name;
    const carom_node *at;
    place_fields flat;
    const char **sites, **geoms;
    const double *normal, *tangents;
    double friction, restitution, offset;
} contact_fields;

static const carom_field PLACE[] = {
    {"site", CAROM_FIELD_TEXT, .offset = offsetof(place_fields, site)},
    {"geom", CAROM_FIELD_TEXT, .offset = offsetof(place_fields, geom)},
    {"body", CAROM_FIELD_TEXT, .offset = offsetof(place_fields, body)},
    {"point", CAROM_FIELD_VECTOR, .offset = offsetof(place_fields, point), .rows = CAROM_EXACTLY(3)},
};

static const carom_field CONTACT[] = {
    {"name", CAROM_FIELD_TEXT, .required = true, .offset = offsetof(contact_fields, name)},
    {"at", CAROM_FIELD_MAP, .offset = offsetof(contact_fields, at)},
    {"site", CAROM_FIELD_TEXT, .offset = offsetof(contact_fields, flat.site)},
    {"geom", CAROM_FIELD_TEXT, .offset = offsetof(contact_fields, flat.geom)},
    {"body", CAROM_FIELD_TEXT, .offset = offsetof(contact_fields, flat.body)},
    {"point", CAROM_FIELD_VECTOR, .offset = offsetof(contact_fields, flat.point), .rows = CAROM_EXACTLY(3)},
    {"sites", CAROM_FIELD_TEXTS, .offset = offsetof(contact_fields, sites), .rows = CAROM_EXACTLY(2)},
    {"geoms", CAROM_FIELD_TEXTS, .offset = offsetof(contact_fields, geoms), .rows = CAROM_EXACTLY(2)},
    {"normal", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(contact_fields, normal), .rows = CAROM_EXACTLY(3)},
    {"tangents", CAROM_FIELD_MATRIX, .offset = offsetof(contact_fields, tangents), .rows = TANGENTS, .columns = CAROM_EXACTLY(3)},
    {"friction", CAROM_FIELD_NUMBER, .required = true, .offset = offsetof(contact_fields, friction), .least = 0, .most = HUGE_VAL},
    {"restitution", CAROM_FIELD_NUMBER, .offset = offsetof(contact_fields, restitution), .least = 0, .most = 1},
    {"offset", CAROM_FIELD_NUMBER, .offset = offsetof(contact_fields, offset)},
};

// The place that exactly one of site, geom and body names.
static carom_status choose_place(const carom_scene *scene, const carom_node *node, const place_fields *fields, carom_place *place,
                                 carom_error *error) {
    if ((fields->site != NULL) + (fields->geom != NULL) + (fields->body != NULL) != 1 || (fields->point && !fields->body))
        return carom_document_refuse(scene->document, node, error, "a place is one of 'site', 'geom', or 'body' with 'point'");
    if (fields->body && !fields->point) return carom_document_refuse(scene->document, node, error, "'body' needs a 'point' in its frame");
    if (fields->site) *place = (carom_place){CAROM_PLACE_SITE, fields->site, {0}};
    if (fields->geom) *place = (carom_place){CAROM_PLACE_GEOM, fields->geom, {0}};
    if (fields->body) *place = (carom_place){CAROM_PLACE_BODY_POINT, fields->body, {fields->point[0], fields->point[1], fields->point[2]}};
    return CAROM_OK;
}

// Where the contact is: exactly one of the forms `at`, flat, `sites` and `geoms`.
static carom_status choose_places(carom_scene *scene, const carom_node *node, const contact_fields *fields, carom_model_contact *contact,
                                  carom_error *error) {
    const bool flat = fields->flat.site || fields->flat.geom || fields->flat.body || fields->flat.point;
    if ((fields->at != NULL) + flat + (fields->sites != NULL) + (fields->geoms != NULL) != 1)
        return carom_document_refuse(scene->document, node, error,
                                     "must say where it is by one of 'site', 'geom', 'body' with 'point', 'at', 'sites' or 'geoms'");
    const char **pair = fields->sites ? fields->sites : fields->geoms;
    contact->places = pair ? 2 : 1;
    for (int i = 0; pair && i < 2; i++)
        contact->place[i] = (carom_place){fields->sites ? CAROM_PLACE_SITE : CAROM_PLACE_GEOM, pair[i], {0}};
    if (pair) return CAROM_OK;
    if (flat) return choose_place(scene, node, &fields->flat, &contact->place[0], error);
    place_fields at = {0};
    const carom_status status = carom_fields_read(scene->document, fields->at, CAROM_FIELD_ROWS(PLACE), NULL, &at, error);
    return status ? status : choose_place(scene, fields->at, &at, &contact->place[0], error);
}

// An offset matters to motions alone.
static carom_status read_contact(carom_scene *scene, const carom_node *node, carom_model_contact *contact, carom_error *error) {
    contact_fields fields = {.offset = NAN};
    carom_length lengths[] = {[TANGENTS] = {.least = 1, .most = 2}};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(CONTACT), lengths, &fields, error);
    if (!status) status = choose_places(scene, node, &fields, contact, error);
    if (!status && !isnan(fields.offset) && !scene->moves)
        status = carom_scene_warn(scene, carom_node_find(node, "offset"), error, "has no effect: every contact listed counts as touching");
    if (status) return status;

    contact->name = fields.name;
    contact->friction = fields.friction;
    contact->restitution = fields.restitution;
    contact->offset = fields.offset;
    memcpy(contact->normal, fields.normal, sizeof contact->normal);
    contact->tangents = lengths[TANGENTS].value;
    if (fields.tangents) memcpy(contact->tangent, fields.tangents, (size_t)contact->tangents * sizeof contact->tangent[0]);
    return CAROM_OK;
}

// The list may be empty: joints at their stops, which the model knows, are contacts too.
carom_status carom_scene_list_contacts(carom_scene *scene, const carom_node *list, carom_model_contact **contacts, carom_error *error) {
    *contacts = NULL;
    // An empty list stands for the joints at their stops, which the model knows.
    if (list->kind != CAROM_NODE_LIST || list->count > CAROM_MAX_CONTACTS)
        return carom_document_refuse(scene->document, list, error, "must be a list of 1 to %d contacts, or {detect: true}",
                                     CAROM_MAX_CONTACTS);
    carom_model_contact *listed = calloc((size_t)list->count + 1, sizeof *listed);
    if (!listed) return carom_fail_memory(error, carom_scene_path(scene));
    carom_status status = CAROM_OK;
    for (const carom_node *entry = list->first; !status && entry; entry = entry->next)
        status = read_contact(scene, entry, &listed[entry->index], error);
    if (status)
        free(listed);
    else
        *contacts = listed;
    return status;
}

// Impact, and for an integrator the mechanism, of the contacts that the scene lists.
static carom_status freeze_listed(carom_scene *scene, const carom_node *node, carom_model *model, carom_error *error) {
    carom_model_contact *contacts;
    carom_status status = carom_scene_list_contacts(scene, node, &contacts, error);
    if (status) return status;
    carom_error inner;
    status = carom_model_freeze(model, contacts, node->count, &scene->impact, &inner);
    if (!status && scene->moves) {
        status = carom_model_create_system(model, contacts, node->count, &scene->system, &inner);
        // A model that carom cannot move in time has impacts all the same: that is an error only for integrators.
        if (status == CAROM_UNSUPPORTED) {
            scene->obstacle = inner;
            scene->motion.obstacle = scene->obstacle.message;
            status = CAROM_OK;
        }
    }
    free(contacts);
    return status ? carom_document_pass_on(scene->document, node, &inner, error) : CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- model

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
    if (digest) status = carom_file_read(path, &bytes, &size, &inner);
    if (digest && !status) carom_digest_add_bytes(digest, bytes, size);
    free(bytes);
    carom_model_options options = scene->model_options;
    if (values.count) options.parameters = &values;
    if (!status) status = carom_model_load_with(path, &options, model, &inner);
    free(path);
    if (status) return carom_document_pass_on(scene->document, node, &inner, error);
    if (state) status = carom_scene_read_state(scene, state, *model, error);
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
    const carom_node *state, *contacts, *parameters, *root, *ground;
} model_fields;

static const carom_field KEYS[] = {
    {"model", CAROM_FIELD_TEXT, .offset = offsetof(model_fields, model)},
    {"state", CAROM_FIELD_MAP, .offset = offsetof(model_fields, state)},
    {"contacts", CAROM_FIELD_NODE, .offset = offsetof(model_fields, contacts)},
    {"parameters", CAROM_FIELD_MAP, .offset = offsetof(model_fields, parameters)},
    {"root", CAROM_FIELD_NODE, .offset = offsetof(model_fields, root)},
    {"ground", CAROM_FIELD_NODE, .offset = offsetof(model_fields, ground)},
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
    if (!status)
        status = contacts->kind == CAROM_NODE_MAP ? carom_scene_detect_contacts(scene, contacts, error)
                                                  : freeze_listed(scene, contacts, scene->model, error);
    if (!status) status = pass_warnings_on(scene, contacts, scene->model, error);
    if (scene->system) {
        scene->motion.form = CAROM_MOTION_SYSTEM;
        scene->motion.system = scene->system;
    }
    return status;
}

const carom_scene_form carom_scene_form_model = {"model", CAROM_FIELD_TABLE(KEYS), .read = read_model};
