// SPDX-License-Identifier: Apache-2.0
// Measured impacts of a model: a position and two velocities each, frozen with the contacts that touch there.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/measurements/measurements.h"

// Positions come first, then velocities, twice as many rows of the covariance.
enum { POSITIONS, VELOCITIES, BOTH, LENGTHS };

typedef struct model_fields {
    const double *qpos, *vm, *v_minus, *vp, *v_plus, *cov, *covariance;
    const carom_node *contacts;
    const char *kind, *toss, *group;
} model_fields;

static const carom_field IMPACT[] = {
    {"qpos", CAROM_FIELD_VECTOR, .required = true, .offset = offsetof(model_fields, qpos), .rows = POSITIONS},
    {"vm", CAROM_FIELD_VECTOR, .offset = offsetof(model_fields, vm), .rows = VELOCITIES},
    {"v_minus", CAROM_FIELD_VECTOR, .offset = offsetof(model_fields, v_minus), .rows = VELOCITIES},
    {"vp", CAROM_FIELD_VECTOR, .offset = offsetof(model_fields, vp), .rows = VELOCITIES},
    {"v_plus", CAROM_FIELD_VECTOR, .offset = offsetof(model_fields, v_plus), .rows = VELOCITIES},
    {"cov", CAROM_FIELD_MATRIX, .offset = offsetof(model_fields, cov), .rows = BOTH, .columns = BOTH},
    {"covariance", CAROM_FIELD_MATRIX, .offset = offsetof(model_fields, covariance), .rows = BOTH, .columns = BOTH},
    {"contacts", CAROM_FIELD_NODE, .offset = offsetof(model_fields, contacts)},
    {"kind", CAROM_FIELD_TEXT, .offset = offsetof(model_fields, kind)},
    {"toss", CAROM_FIELD_TEXT, .offset = offsetof(model_fields, toss)},
    {"group", CAROM_FIELD_TEXT, .offset = offsetof(model_fields, group)},
};

// The impact of the model at its state: contacts as a scene gives them, or those that MuJoCo detects.
static carom_status freeze(carom_scene *scene, const carom_node *impact, const carom_node *contacts, carom_error *error) {
    if (contacts && contacts->kind == CAROM_NODE_MAP) return carom_scene_detect_contacts(scene, contacts, error);
    carom_model_contact *listed = NULL;
    carom_error inner;
    int touching = 0;
    carom_status status = contacts ? carom_scene_list_contacts(scene, contacts, &listed, &touching, error) : CAROM_OK;
    if (status) return status;
    status = contacts ? carom_model_freeze(scene->model, listed, touching, &scene->impact, &inner)
                      : carom_model_detect(scene->model, NULL, &scene->impact, &inner);
    free(listed);
    return status ? carom_document_pass_on(scene->document, contacts ? contacts : impact, &inner, error) : CAROM_OK;
}

static carom_status read_impact(carom_scene *scene, const carom_node *node, const carom_node *contacts, measured_file *file,
                                carom_error *error) {
    carom_document *document = scene->document;
    const int nq = carom_model_nq(scene->model), nv = carom_model_nv(scene->model);
    model_fields fields = {.contacts = contacts};
    carom_length lengths[LENGTHS] = {[POSITIONS] = {.value = nq}, [VELOCITIES] = {.value = nv}, [BOTH] = {.value = 2 * nv}};
    if (node->kind != CAROM_NODE_MAP) return carom_document_refuse(document, node, error, "must be a map with the keys of an impact");
    carom_status status = carom_fields_take(document, node, CAROM_FIELD_ROWS(IMPACT), lengths, &fields, error);
    if (status) return status;
    measured_numbers numbers = {.nv = nv,
                                .kind = fields.kind,
                                .group = fields.group ? fields.group : fields.toss,
                                .covariance = fields.cov ? fields.cov : fields.covariance,
                                .body_mass = NAN};
    status = measured_choose(document, node, fields.vm, fields.v_minus, "'vm' and 'v_minus'", &numbers.before, error);
    if (!status) status = measured_choose(document, node, fields.vp, fields.v_plus, "'vp' and 'v_plus'", &numbers.after, error);
    if (!status) status = measured_refuse_both(document, node, fields.cov, fields.covariance, "'cov' and 'covariance'", error);
    if (!status) status = measured_refuse_both(document, node, fields.group, fields.toss, "'group' and 'toss'", error);
    carom_error inner;
    if (!status && (status = carom_model_set_state(scene->model, fields.qpos, nq, numbers.before, nv, &inner)))
        carom_document_pass_on(document, node, &inner, error);
    if (!status) status = freeze(scene, node, fields.contacts, error);
    if (status) return status;
    // The file owns the impact from here on.
    carom_impact *made = scene->impact;
    scene->impact = NULL;
    status = measured_file_add_impact(file, made, true, &numbers, &inner);
    return status ? carom_document_pass_on(document, node, &inner, error) : CAROM_OK;
}

carom_status measured_read_model(carom_document *document, const carom_node *impacts, measured_file *file, carom_error *error) {
    const carom_node *root = carom_document_root(document), *model = carom_node_find(root, "model");
    // What freezing needs of a scene: its document and its model.
    carom_scene scene = {.document = document};
    carom_status status = carom_text_check(document, model, error);
    if (status) return status;
    if (file->options->inertia)
        return carom_document_refuse(document, model, error, "the inertia is that of the model: there is no --inertia beside it");
    char *path = carom_scene_join_path(&scene, model->text);
    if (!path) return carom_fail_memory(error, carom_document_path(document));
    carom_error inner;
    if ((status = carom_model_load_with(path, &scene.model_options, &scene.model, &inner)))
        carom_document_pass_on(document, model, &inner, error);
    const carom_node *contacts = carom_node_find(root, "contacts");
    for (const carom_node *entry = impacts->first; entry && !status; entry = entry->next)
        status = read_impact(&scene, entry, contacts, file, error);
    carom_impact_free(scene.impact);
    carom_model_free(scene.model);
    free(scene.warnings);
    free(path);
    return status;
}
