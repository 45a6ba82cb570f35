// SPDX-License-Identifier: Apache-2.0
// `contacts: {detect: ...}`: contacts that MuJoCo's collision detection finds, and which of them a scene takes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

// The keys beside `detect: true`, or inside `detect: {...}`. Lengths are in m; friction and restitution are those of every contact.
typedef struct detect_fields {
    double margin, friction, restitution, merge;
    const carom_node *only, *exclude, *pairs;
    const char *self, *stops;
} detect_fields;

// An entry of `pairs`: two names of bodies or geoms, and what their contacts have.
typedef struct pair_fields {
    const char **between;
    double friction, restitution;
} pair_fields;

static const carom_field PAIR[] = {
    {"between", CAROM_FIELD_TEXTS, .required = true, .offset = offsetof(pair_fields, between), .rows = CAROM_EXACTLY(2)},
    {"friction", CAROM_FIELD_NUMBER, .offset = offsetof(pair_fields, friction), .least = 0, .most = HUGE_VAL},
    {"restitution", CAROM_FIELD_NUMBER, .offset = offsetof(pair_fields, restitution), .least = 0, .most = 1},
};

static const carom_field OPTIONS[] = {
    {"margin", CAROM_FIELD_NUMBER, .offset = offsetof(detect_fields, margin), .least = 0, .most = HUGE_VAL},
    {"friction", CAROM_FIELD_NUMBER, .offset = offsetof(detect_fields, friction), .least = 0, .most = HUGE_VAL},
    {"restitution", CAROM_FIELD_NUMBER, .offset = offsetof(detect_fields, restitution), .least = 0, .most = 1},
    {"only", CAROM_FIELD_NODE, .offset = offsetof(detect_fields, only)},
    {"exclude", CAROM_FIELD_NODE, .offset = offsetof(detect_fields, exclude)},
    {"pairs", CAROM_FIELD_NODE, .offset = offsetof(detect_fields, pairs)},
    {"self", CAROM_FIELD_TEXT, .offset = offsetof(detect_fields, self)},
    {"stops", CAROM_FIELD_TEXT, .offset = offsetof(detect_fields, stops)},
    {"merge", CAROM_FIELD_NUMBER, .offset = offsetof(detect_fields, merge), .least = 0, .most = HUGE_VAL},
};

static const carom_field DETECT[] = {{"detect", CAROM_FIELD_NODE, .required = true}};

// One pattern, or a list of them.
static carom_status read_patterns(carom_scene *scene, const carom_node *node, const char *const **patterns, int *count,
                                  carom_error *error) {
    if (!node) return CAROM_OK;
    const bool list = node->kind == CAROM_NODE_LIST;
    if (node->kind == CAROM_NODE_MAP || (list && !node->count))
        return carom_document_refuse(scene->document, node, error,
                                     "must be a list of names of bodies, geoms or contacts, which may have wildcards: \"foot*\"");
    const char **texts = carom_document_allocate(scene->document, (size_t)(list ? node->count : 1) * sizeof *texts);
    if (!texts) return carom_fail_memory(error, carom_scene_path(scene));
    *count = 0;
    for (const carom_node *entry = list ? node->first : node; entry; entry = list ? entry->next : NULL) {
        const carom_status status = carom_text_check(scene->document, entry, error);
        if (status) return status;
        texts[(*count)++] = entry->text;
    }
    *patterns = texts;
    return CAROM_OK;
}

// `pairs`: friction and restitution by two names. Of two entries for the same names only the first could count.
static carom_status read_pairs(carom_scene *scene, const carom_node *list, carom_detection *detection, carom_error *error) {
    if (!list) return CAROM_OK;
    if (list->kind != CAROM_NODE_LIST || !list->count)
        return carom_document_refuse(scene->document, list, error, "must be a list such as [{between: [foot, floor], friction: 0.8}]");
    carom_contact_pair *pairs = carom_document_allocate(scene->document, (size_t)list->count * sizeof *pairs);
    if (!pairs) return carom_fail_memory(error, carom_scene_path(scene));
    for (const carom_node *entry = list->first; entry; entry = entry->next) {
        pair_fields fields = {.friction = (double)NAN, .restitution = (double)NAN};
        carom_status status = carom_fields_read(scene->document, entry, CAROM_FIELD_ROWS(PAIR), NULL, &fields, error);
        if (status) return status;
        if (isnan(fields.friction) && isnan(fields.restitution))
            return carom_document_refuse(scene->document, entry, error, "gives neither 'friction' nor 'restitution'");
        const carom_node *between = carom_node_find(entry, "between");
        for (int side = 0; side < 2; side++) {
            carom_error inner;
            status = carom_model_check_pattern(scene->model, fields.between[side], &inner);
            if (status) return carom_document_pass_on(scene->document, between, &inner, error);
        }
        for (int i = 0; i < entry->index; i++)
            for (int side = 0; side < 2; side++)
                if (!strcmp(pairs[i].between[0], fields.between[side]) && !strcmp(pairs[i].between[1], fields.between[!side]))
                    return carom_document_refuse(scene->document, between, error, "names the same two as pairs[%d]", i);
        pairs[entry->index] = (carom_contact_pair){{fields.between[0], fields.between[1]}, fields.friction, fields.restitution};
    }
    detection->pairs = pairs;
    detection->pair_count = list->count;
    return CAROM_OK;
}

// A key that is true unless the scene says false.
static carom_status read_switch(carom_scene *scene, const carom_node *map, const char *key, const char *text, bool *off,
                                carom_error *error) {
    *off = text && !strcmp(text, "false");
    if (!text || *off || !strcmp(text, "true")) return CAROM_OK;
    return carom_document_refuse(scene->document, carom_node_find(map, key), error, "'%.60s' is neither true nor false", text);
}

carom_status carom_scene_read_detection(carom_scene *scene, const carom_node *contacts, carom_detection *detection, carom_error *error) {
    const carom_node *detect = carom_node_find(contacts, "detect");
    const bool inside = detect && detect->kind == CAROM_NODE_MAP;
    if (detect && !inside && (detect->kind != CAROM_NODE_SCALAR || strcmp(detect->text, "true") != 0))
        return carom_document_refuse(scene->document, detect, error,
                                     "must be true, or a map of what it takes; contacts that are not detected stand in a list");
    // The options stand in one of the two maps.
    *detection = carom_detection_defaults();
    detect_fields fields = {.margin = detection->margin, .friction = detection->friction, .restitution = detection->restitution};
    const carom_field_table tables[] = {CAROM_FIELD_TABLE(DETECT), CAROM_FIELD_TABLE(OPTIONS)};
    const carom_node *map = inside ? detect : contacts;
    carom_status status = carom_fields_check(scene->document, contacts, tables, 2, error);
    for (const carom_node *entry = inside ? contacts->first : NULL; entry && !status; entry = entry->next)
        if (entry != detect)
            status = carom_document_refuse(scene->document, entry, error, "belongs into the map 'detect', beside its other keys");
    if (!status) status = carom_fields_take(scene->document, contacts, CAROM_FIELD_ROWS(DETECT), NULL, &(const carom_node *){NULL}, error);
    if (!status && inside) status = carom_fields_check(scene->document, detect, tables + 1, 1, error);
    if (!status) status = carom_fields_take(scene->document, map, CAROM_FIELD_ROWS(OPTIONS), NULL, &fields, error);
    if (!status) status = read_patterns(scene, fields.only, &detection->only, &detection->only_count, error);
    if (!status) status = read_patterns(scene, fields.exclude, &detection->exclude, &detection->exclude_count, error);
    if (!status) status = read_pairs(scene, fields.pairs, detection, error);
    if (!status) status = read_switch(scene, map, "self", fields.self, &detection->drop_self, error);
    if (!status) status = read_switch(scene, map, "stops", fields.stops, &detection->drop_stops, error);
    if (!status && carom_node_find(map, "merge") && carom_scene_is_mechanism(scene))
        status = carom_scene_warn(scene, carom_node_find(map, "merge"), error, "has no effect: a motion keeps all points of a patch");
    detection->margin = fields.margin;
    detection->friction = fields.friction;
    detection->restitution = fields.restitution;
    detection->merge = fields.merge;
    return status;
}

carom_status carom_scene_detect_contacts(carom_scene *scene, const carom_node *contacts, carom_error *error) {
    carom_detection detection;
    carom_error inner;
    carom_status status = carom_scene_read_detection(scene, contacts, &detection, error);
    if (status) return status;
    status = carom_model_detect(scene->model, &detection, &scene->impact, &inner);
    if (!status) return CAROM_OK;
    // A motion may start in the air, where there is no impact yet.
    const carom_node *root = carom_document_root(scene->document);
    if (status == CAROM_BAD_INPUT && !scene->moves && carom_node_find(root, "simulate")) {
        char *model = carom_scene_join_path(scene, carom_node_find(root, "model")->text);
        const carom_error found = inner;
        carom_fail(
            &inner, status,
            "%s; this scene is a motion, which `carom simulate` follows to its impacts: an impact needs a state that touches, or the "
            "bare model %s, which is set on the ground",
            found.message, model ? model : "");
        free(model);
    }
    return carom_document_pass_on(scene->document, contacts, &inner, error);
}
