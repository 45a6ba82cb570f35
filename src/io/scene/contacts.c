// SPDX-License-Identifier: Apache-2.0
// The list `contacts` of a scene with `model`: where bodies touch, in which directions, with which friction and restitution.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

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
    const carom_node *open;
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
    {"open", CAROM_FIELD_NODE, .offset = offsetof(contact_fields, open)},
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

// An offset matters to motions alone, and so do contacts that are open.
static carom_status read_contact(carom_scene *scene, const carom_node *node, carom_model_contact *contact, bool *open, carom_error *error) {
    contact_fields fields = {.offset = NAN};
    carom_length lengths[] = {[TANGENTS] = {.least = 1, .most = 2}};
    carom_status status = carom_fields_read(scene->document, node, CAROM_FIELD_ROWS(CONTACT), lengths, &fields, error);
    if (!status) status = choose_places(scene, node, &fields, contact, error);
    *open = fields.open && fields.open->kind == CAROM_NODE_SCALAR && !strcmp(fields.open->text, "true");
    if (!status && fields.open && !*open && (fields.open->kind != CAROM_NODE_SCALAR || strcmp(fields.open->text, "false") != 0))
        status = carom_document_refuse(scene->document, fields.open, error, "must be true or false");
    if (!status && *open && isnan(fields.offset))
        status = carom_document_refuse(scene->document, node, error, "a contact that is open needs the 'offset' of its plane");
    if (!status && !isnan(fields.offset) && !scene->moves && !*open)
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
carom_status carom_scene_list_contacts(carom_scene *scene, const carom_node *list, carom_model_contact **contacts, int *touching,
                                       carom_error *error) {
    *contacts = NULL;
    // An empty list stands for the joints at their stops, which the model knows.
    if (list->kind != CAROM_NODE_LIST || list->count > CAROM_MAX_CONTACTS)
        return carom_document_refuse(scene->document, list, error, "must be a list of 1 to %d contacts, or {detect: true}",
                                     CAROM_MAX_CONTACTS);
    carom_model_contact *listed = calloc((size_t)list->count + 1, sizeof *listed);
    if (!listed) return carom_fail_memory(error, carom_scene_path(scene));
    carom_status status = CAROM_OK;
    bool open = false;
    *touching = 0;
    for (const carom_node *entry = list->first; !status && entry; entry = entry->next) {
        const bool before = open;
        status = read_contact(scene, entry, &listed[entry->index], &open, error);
        if (!status && before && !open)
            status = carom_document_refuse(scene->document, entry, error, "touches: contacts that are open stand after those that touch");
        *touching += !open;
    }
    if (status)
        free(listed);
    else
        *contacts = listed;
    return status;
}
