// SPDX-License-Identifier: Apache-2.0
// A scene as a function of named numbers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene/family.h"

static bool has_balls(const carom_family *f) { return f->touching; }

// ------------------------------------------------------------------------------------------------------------- models

static carom_status start_model(carom_family *f, carom_error *error) {
    carom_scene *scene = f->scene;
    f->contact_list = carom_node_find(carom_document_root(scene->document), "contacts");
    if (f->contact_list->kind != CAROM_NODE_LIST)
        return carom_document_refuse(scene->document, f->contact_list, error,
                                     "must be a list of contacts for a design: detection may change");
    carom_status status = carom_scene_list_contacts(scene, f->contact_list, &f->model_contacts, error);
    for (int i = 0; !status && i < f->contact_list->count; i++)
        if (f->model_contacts[i].places != 1)
            status = carom_document_refuse(scene->document, f->contact_list, error,
                                           "contact '%s' is between two bodies: a design moves contacts with the world only",
                                           f->model_contacts[i].name);
    if (!status && f->contact_list->count != f->contacts)
        status = carom_document_refuse(scene->document, f->contact_list, error,
                                       "joints are at their stops: a design moves listed contacts only");
    if (!status) status = carom_scene_load_model(scene, NULL, NULL, &f->model, error);
    if (status) return status;
    f->position_size = carom_model_nq(f->model);
    f->parameter_count = scene->parameters.count;
    f->position = malloc((size_t)f->position_size * sizeof *f->position);
    f->parameters = malloc(2 * ((size_t)f->parameter_count + 1) * sizeof *f->parameters);
    if (!f->position || !f->parameters) return carom_fail_memory(error, "design");
    f->loaded = f->parameters + f->parameter_count;
    memcpy(f->position, carom_model_qpos(f->model), (size_t)f->position_size * sizeof *f->position);
    for (int i = 0; i < f->parameter_count; i++) f->parameters[i] = f->loaded[i] = scene->parameters.values[i];
    return CAROM_OK;
}

// The model of the current parameters: compiled anew only when they changed.
static carom_status load_model(carom_family *f, carom_error *error) {
    const size_t size = (size_t)f->parameter_count * sizeof *f->parameters;
    if (f->model && (!size || !memcmp(f->parameters, f->loaded, size))) return CAROM_OK;
    carom_model_free(f->model);
    f->model = NULL;
    const carom_status status = carom_scene_load_model(f->scene, f->parameters, NULL, &f->model, error);
    if (!status && size) memcpy(f->loaded, f->parameters, size);
    return status;
}

static carom_status evaluate_model(carom_family *f, carom_impact **impact, double *distances, carom_error *error) {
    carom_status status = load_model(f, error);
    if (!status) status = carom_model_set_state(f->model, f->position, f->position_size, NULL, 0, error);
    if (!status) status = carom_model_measure_gaps(f->model, f->model_contacts, f->contacts, distances, error);
    return status ? status : carom_model_freeze(f->model, f->model_contacts, f->contacts, impact, error);
}

static bool find_model_variable(const carom_family *f, const char *name, bool *is_parameter, int *index) {
    for (int i = 0; i < f->parameter_count; i++)
        if (!strcmp(f->scene->parameters.names[i], name)) {
            *is_parameter = true;
            *index = i;
            return true;
        }
    *is_parameter = false;
    *index = carom_model_find_coordinate(f->model, name);
    return *index >= 0;
}

// -------------------------------------------------------------------------------------------------------------- balls

static carom_status start_balls(carom_family *f, const carom_node *node, carom_error *error) {
    f->touching = malloc(sizeof *f->touching);
    if (!f->touching) return carom_fail_memory(error, "design");
    carom_status status = carom_scene_read_ball_data(f->scene, node, &f->balls, error);
    if (!status) status = carom_scene_pair_balls(f->scene, node, &f->balls, f->touching, error);
    if (status) return status;
    const size_t balls = (size_t)f->balls.count, size = balls * (size_t)f->balls.dim;
    f->position_size = (int)size;
    f->parameter_count = (int)balls;
    f->position = malloc(size * sizeof *f->position);
    f->parameters = malloc(balls * sizeof *f->parameters);
    f->mass_texts = malloc(balls * sizeof *f->mass_texts);
    f->mass_names = malloc(balls * sizeof *f->mass_names);
    if (!f->position || !f->parameters || !f->mass_texts || !f->mass_names) return carom_fail_memory(error, "design");
    memcpy(f->position, f->balls.positions, size * sizeof *f->position);
    memcpy(f->parameters, f->balls.masses, balls * sizeof *f->parameters);
    f->balls.positions = f->position;
    f->balls.masses = f->parameters;
    for (size_t i = 0; i < balls; i++) {
        snprintf(f->mass_texts[i], sizeof f->mass_texts[i], "m%d", (int)i + 1);
        f->mass_names[i] = f->mass_texts[i];
    }
    return CAROM_OK;
}

static carom_status evaluate_balls(const carom_family *f, carom_impact **impact, double *distances, carom_error *error) {
    for (int c = 0; c < f->contacts; c++) distances[c] = carom_ball_distance(&f->balls, f->touching->pair[c][0], f->touching->pair[c][1]);
    return carom_ball_freeze(&f->balls, f->touching, impact, error);
}

// x3, y3: coordinates of the third ball; m3: its mass.
static bool find_ball_variable(const carom_family *f, const char *name, bool *is_parameter, int *index) {
    static const char kinds[] = "xym";
    const char *kind = *name ? strchr(kinds, *name) : NULL;
    double number;
    if (!kind || !carom_parse_number(name + 1, &number) || !(number >= 1 && number <= f->balls.count) || number != floor(number))
        return false;
    *is_parameter = *kind == 'm';
    *index = *is_parameter ? (int)number - 1 : ((int)number - 1) * f->balls.dim + (int)(kind - kinds);
    return *is_parameter || kind - kinds < f->balls.dim;
}

// ------------------------------------------------------------------------------------------------------------ together

void carom_family_place(carom_family *f, const double *x) {
    for (int i = 0; i < f->variables; i++) (f->is_parameter[i] ? f->parameters : f->position)[f->index[i]] = x[i];
}

// The impact at x, and distances that are the gaps but for constants.
static carom_status measure(carom_family *f, const double *x, carom_impact **impact, double *distances, carom_error *error) {
    *impact = NULL;
    carom_family_place(f, x);
    return has_balls(f) ? evaluate_balls(f, impact, distances, error) : evaluate_model(f, impact, distances, error);
}

carom_status carom_family_evaluate(carom_family *f, const double *x, carom_impact **impact, double *gaps, carom_error *error) {
    const carom_status status = measure(f, x, impact, gaps, error);
    for (int c = 0; c < f->contacts; c++) gaps[c] -= f->reference[c];
    return status;
}

static carom_status find_variables(carom_family *f, carom_error *error) {
    const carom_scene_design *design = &f->scene->design;
    for (int i = 0; i < f->variables; i++) {
        const bool found = has_balls(f) ? find_ball_variable(f, design->free[i], &f->is_parameter[i], &f->index[i])
                                        : find_model_variable(f, design->free[i], &f->is_parameter[i], &f->index[i]);
        if (!found)
            return carom_document_refuse(f->scene->document, carom_node_find(design->node, "free"), error,
                                         "'%.60s' is no coordinate and no parameter: %s", design->free[i],
                                         has_balls(f) ? "balls have x1, y1, m1, x2, ..." : "slide and hinge joints, and 'parameters'");
        for (int k = 0; k < i; k++)
            if (f->is_parameter[k] == f->is_parameter[i] && f->index[k] == f->index[i])
                return carom_document_refuse(f->scene->document, carom_node_find(design->node, "free"), error, "'%.60s' stands twice",
                                             design->free[i]);
        f->start[i] = (f->is_parameter[i] ? f->parameters : f->position)[f->index[i]];
        f->scale[i] = design->scale ? design->scale[i] : 1;
    }
    return CAROM_OK;
}

static carom_status find_pairs(carom_family *f, carom_error *error) {
    const carom_scene_design *design = &f->scene->design;
    for (int i = 0; i < 2 * design->pairs; i++) {
        f->pairs[i] = carom_impact_find_contact(f->scene->impact, design->contacts[i]);
        if (f->pairs[i] < 0 || (i % 2 && f->pairs[i] == f->pairs[i - 1]))
            return carom_document_refuse(f->scene->document, carom_node_find(design->node, "pairs"), error,
                                         "'%.60s' is no contact of the scene, or paired with itself", design->contacts[i]);
    }
    return CAROM_OK;
}

static carom_status start(carom_family *f, carom_error *error) {
    const carom_scene_design *design = &f->scene->design;
    const carom_node *root = carom_document_root(f->scene->document), *balls = carom_node_find(root, "balls");
    if (!design->node) return carom_document_refuse(f->scene->document, root, error, "the key 'design' is missing");
    if (!balls && !carom_node_find(root, "model"))
        return carom_document_refuse(f->scene->document, design->node, error, "needs a scene with 'model' or 'balls'");
    const size_t variables = (size_t)design->variables;
    f->variables = design->variables;
    f->contacts = carom_impact_get_data(f->scene->impact)->contacts;
    f->is_parameter = malloc(variables * sizeof *f->is_parameter);
    f->index = malloc(variables * sizeof *f->index);
    f->start = malloc(variables * sizeof *f->start);
    f->scale = malloc(variables * sizeof *f->scale);
    f->pairs = malloc(2 * (size_t)design->pairs * sizeof *f->pairs);
    f->reference = calloc((size_t)f->contacts, sizeof *f->reference);
    if (!f->is_parameter || !f->index || !f->start || !f->scale || !f->pairs || !f->reference) return carom_fail_memory(error, "design");
    carom_status status = balls ? start_balls(f, balls, error) : start_model(f, error);
    if (!status) status = find_variables(f, error);
    if (!status) status = find_pairs(f, error);
    if (status) return status;
    carom_impact *impact;
    status = measure(f, f->start, &impact, f->reference, error);
    carom_impact_free(impact);
    return status;
}

carom_status carom_family_create(carom_scene *scene, carom_family **family, carom_error *error) {
    *family = NULL;
    carom_family *f = calloc(1, sizeof *f);
    if (!f) return carom_fail_memory(error, "design");
    f->scene = scene;
    const carom_status status = start(f, error);
    if (status)
        carom_family_free(f);
    else
        *family = f;
    return status;
}

void carom_family_free(carom_family *f) {
    if (!f) return;
    carom_model_free(f->model);
    void *arrays[] = {f->is_parameter, f->index,     f->start,          f->scale,    f->pairs,      f->position,
                      f->parameters,   f->reference, f->model_contacts, f->touching, f->mass_texts, f->mass_names};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(f);
}

// ------------------------------------------------------------------------------------------------------------- getters

int carom_family_variables(const carom_family *f) { return f->variables; }
const char *carom_family_variable(const carom_family *f, int variable) { return f->scene->design.free[variable]; }
const double *carom_family_start(const carom_family *f) { return f->start; }
const double *carom_family_scale(const carom_family *f) { return f->scale; }
int carom_family_pairs(const carom_family *f) { return f->scene->design.pairs; }
const int *carom_family_pair(const carom_family *f, int pair) { return f->pairs + 2 * pair; }
double carom_family_target(const carom_family *f) { return f->scene->design.target; }

const double *carom_family_position(carom_family *f, const double *x, int *count) {
    carom_family_place(f, x);
    *count = f->position_size;
    return f->position;
}

void carom_family_parameters(carom_family *f, const double *x, const char *const **names, const double **values, int *count) {
    carom_family_place(f, x);
    *names = has_balls(f) ? (const char *const *)f->mass_names : f->scene->parameters.names;
    *values = f->parameters;
    *count = f->parameter_count;
}
