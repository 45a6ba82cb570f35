// SPDX-License-Identifier: Apache-2.0
// The keys `parameters` and `design` of a scene.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

// ---------------------------------------------------------------------------------------------------------- parameters

/// Letters, digits and _, and no digit in front: what formulas call a name.
static bool is_parameter_name(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text && !strchr("0123456789", *text) && text[strspn(text, letters)] == '\0';
}

carom_status carom_scene_read_parameters(carom_scene *scene, const carom_node *parameters, carom_error *error) {
    const size_t count = (size_t)parameters->count;
    carom_field *fields = calloc(count + 1, sizeof *fields);
    const char **names = carom_document_allocate(scene->document, (count + 1) * sizeof *names);
    double *values = carom_document_allocate(scene->document, (count + 1) * sizeof *values);
    carom_status status = fields && names && values ? CAROM_OK : carom_fail_memory(error, carom_scene_path(scene));
    for (const carom_node *entry = parameters->first; !status && entry; entry = entry->next) {
        if (!is_parameter_name(entry->key))
            status =
                carom_document_refuse(scene->document, entry, error, "a parameter's name has letters, digits and _ only, a letter first");
        names[entry->index] = entry->key;
        fields[entry->index] =
            (carom_field){entry->key, CAROM_FIELD_NUMBER, .required = true, .offset = (size_t)entry->index * sizeof *values};
    }
    if (!status) status = carom_fields_read(scene->document, parameters, fields, (int)count, NULL, values, error);
    scene->parameters = (carom_model_parameters){(int)count, names, values};
    free(fields);
    return status;
}

// -------------------------------------------------------------------------------------------------------------- design

enum { PAIRS, PAIR, VARIABLES, LENGTHS };

typedef struct design_fields {
    const carom_node *pairs;
    const char **free;
    const double *scale;
    double target;
} design_fields;

static const carom_field DESIGN[] = {
    {"pairs", CAROM_FIELD_LIST, .required = true, .offset = offsetof(design_fields, pairs), .rows = PAIRS},
    {"free", CAROM_FIELD_TEXTS, .required = true, .offset = offsetof(design_fields, free), .rows = VARIABLES},
    {"scale", CAROM_FIELD_VECTOR, .offset = offsetof(design_fields, scale), .rows = VARIABLES, .least = CAROM_POSITIVE, .most = HUGE_VAL},
    {"target", CAROM_FIELD_NUMBER, .offset = offsetof(design_fields, target), .least = -1, .most = 1},
};

static carom_status read_pair(carom_scene *scene, const carom_node *pair, const char **names, carom_error *error) {
    if (pair->kind != CAROM_NODE_LIST || pair->count != 2)
        return carom_document_refuse(scene->document, pair, error, "must be a list of the names of two contacts");
    carom_status status = CAROM_OK;
    for (const carom_node *entry = pair->first; !status && entry; entry = entry->next) {
        status = carom_text_check(scene->document, entry, error);
        names[entry->index] = entry->text;
    }
    return status;
}

carom_status carom_scene_read_design(carom_scene *scene, const carom_node *design, carom_error *error) {
    design_fields fields = {0};
    carom_length lengths[LENGTHS] = {
        [PAIRS] = {.least = 1, .most = CAROM_MAX_CONTACTS}, [VARIABLES] = {.least = 1, .most = CAROM_MAX_VELOCITIES}};
    carom_status status = carom_fields_read(scene->document, design, CAROM_FIELD_ROWS(DESIGN), lengths, &fields, error);
    if (status) return status;
    const char **contacts = carom_document_allocate(scene->document, 2 * (size_t)fields.pairs->count * sizeof *contacts);
    if (!contacts) return carom_fail_memory(error, carom_scene_path(scene));
    for (const carom_node *pair = fields.pairs->first; !status && pair; pair = pair->next)
        status = read_pair(scene, pair, contacts + 2 * pair->index, error);
    scene->design = (carom_scene_design){.node = design,
                                         .pairs = fields.pairs->count,
                                         .variables = lengths[VARIABLES].value,
                                         .contacts = contacts,
                                         .free = fields.free,
                                         .scale = fields.scale,
                                         .target = fields.target};
    return status;
}
