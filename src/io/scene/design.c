// SPDX-License-Identifier: Apache-2.0
// The key `design` of a scene: which pairs of contacts shall meet at which cosine, and what may change.
#include <math.h>

#include "io/io_internal.h"

enum { PAIRS, VARIABLES, LENGTHS };

// Pairs of contacts, the names of what may change with the scale of each, and the cosine that the pairs shall have.
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

// Names are only collected: whether the scene has such contacts and coordinates is known when a family is made of it.
carom_status carom_scene_read_design(carom_scene *scene, const carom_node *design, carom_error *error) {
    design_fields fields = {0};
    carom_length lengths[LENGTHS] = {
        [PAIRS] = {.least = 1, .most = CAROM_MAX_CONTACTS}, [VARIABLES] = {.least = 1, .most = CAROM_MAX_VELOCITIES}};
    carom_status status = carom_fields_read(scene->document, design, CAROM_FIELD_ROWS(DESIGN), lengths, &fields, error);
    if (status) return status;
    const char **contacts = carom_document_allocate(scene->document, 2 * (size_t)fields.pairs->count * sizeof *contacts);
    if (!contacts) return carom_fail_memory(error, carom_scene_path(scene));
    for (const carom_node *pair = fields.pairs->first; pair; pair = pair->next) {
        if (pair->kind != CAROM_NODE_LIST || pair->count != 2)
            return carom_document_refuse(scene->document, pair, error, "must be a list of the names of two contacts");
        for (const carom_node *entry = pair->first; !status && entry; entry = entry->next) {
            status = carom_text_check(scene->document, entry, error);
            contacts[2 * pair->index + entry->index] = entry->text;
        }
        if (status) return status;
    }
    scene->design = (carom_scene_design){.node = design,
                                         .pairs = fields.pairs->count,
                                         .variables = lengths[VARIABLES].value,
                                         .contacts = contacts,
                                         .free = fields.free,
                                         .scale = fields.scale,
                                         .target = fields.target};
    return CAROM_OK;
}
