// SPDX-License-Identifier: Apache-2.0
// A scene as a function of named numbers: coordinates and parameters of a model, or positions and masses of balls.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene/family.h"

// The other kind of family is that of a model.
static bool has_balls(const carom_family *family) { return family->touching; }

// ------------------------------------------------------------------------------------------------------------ creation

// The model at the scene's state. Its contacts must be listed, each between a place and the world: other gaps are not known as functions.
static carom_status start_model(carom_family *family, carom_error *error) {
    carom_scene *scene = family->scene;
    const carom_node *list = carom_node_find(carom_document_root(scene->document), "contacts");
    if (list->kind != CAROM_NODE_LIST)
        return carom_document_refuse(scene->document, list, error, "must be a list of contacts for a design: detection may change");
    int touching;
    carom_status status = carom_scene_list_contacts(scene, list, &family->model_contacts, &touching, error);
    for (int i = 0; !status && i < touching; i++)
        if (family->model_contacts[i].places != 1)
            status = carom_document_refuse(scene->document, list, error,
                                           "contact '%s' is between two bodies: a design moves contacts with the world only",
                                           family->model_contacts[i].name);
    if (!status && touching != family->contacts)
        status = carom_document_refuse(scene->document, list, error,
                                       "joints or tendons are at their limits: a design moves listed contacts only");
    if (!status) status = carom_scene_load_model(scene, NULL, NULL, &family->model, error);
    if (status) return status;

    family->position_size = carom_model_nq(family->model);
    family->parameter_count = scene->parameters.count;
    const size_t positions = (size_t)family->position_size, parameters = (size_t)family->parameter_count;
    family->position = carom_arena_take(&family->arena, positions, sizeof *family->position);
    family->parameters = carom_arena_take(&family->arena, parameters, sizeof *family->parameters);
    family->loaded = carom_arena_take(&family->arena, parameters, sizeof *family->loaded);
    if (family->arena.failed) return carom_fail_memory(error, "design");
    memcpy(family->position, carom_model_qpos(family->model), positions * sizeof *family->position);
    for (size_t i = 0; i < parameters; i++) family->parameters[i] = family->loaded[i] = scene->parameters.values[i];
    return CAROM_OK;
}

// Balls whose positions and masses are those of the family from now on. Pairs are those that touch in the scene.
static carom_status start_balls(carom_family *family, const carom_node *node, carom_error *error) {
    carom_ball_data *balls = &family->balls;
    family->touching = carom_arena_take(&family->arena, 1, sizeof *family->touching);
    if (!family->touching) return carom_fail_memory(error, "design");
    carom_status status = carom_scene_read_ball_data(family->scene, node, balls, error);
    if (!status) status = carom_scene_pair_balls(family->scene, node, balls, false, family->touching, error);
    if (status) return status;

    const size_t count = (size_t)balls->count, size = count * (size_t)balls->dim;
    family->position_size = (int)size;
    family->parameter_count = (int)count;
    family->position = carom_arena_take(&family->arena, size, sizeof *family->position);
    family->parameters = carom_arena_take(&family->arena, count, sizeof *family->parameters);
    family->mass_texts = carom_arena_take(&family->arena, count, sizeof *family->mass_texts);
    family->mass_names = carom_arena_take(&family->arena, count, sizeof *family->mass_names);
    if (family->arena.failed) return carom_fail_memory(error, "design");
    memcpy(family->position, balls->positions, size * sizeof *family->position);
    memcpy(family->parameters, balls->masses, count * sizeof *family->parameters);
    balls->positions = family->position;
    balls->masses = family->parameters;
    for (size_t i = 0; i < count; i++) {
        snprintf(family->mass_texts[i], sizeof family->mass_texts[i], "m%d", (int)i + 1);
        family->mass_names[i] = family->mass_texts[i];
    }
    return CAROM_OK;
}

// Where the variable called `name` is: among the parameters, or in the position.
static bool find_variable(const carom_family *family, const char *name, bool *is_parameter, int *index) {
    if (has_balls(family)) {
        // x3, y3: coordinates of the third ball; m3: its mass.
        static const char kinds[] = "xym";
        const char *kind = *name ? strchr(kinds, *name) : NULL;
        double number;
        if (!kind || !carom_parse_number(name + 1, &number) || !(number >= 1 && number <= family->balls.count) || number != floor(number))
            return false;
        *is_parameter = *kind == 'm';
        *index = *is_parameter ? (int)number - 1 : ((int)number - 1) * family->balls.dim + (int)(kind - kinds);
        return *is_parameter || kind - kinds < family->balls.dim;
    }
    for (int i = 0; i < family->parameter_count; i++)
        if (!strcmp(family->scene->parameters.names[i], name)) {
            *is_parameter = true;
            *index = i;
            return true;
        }
    *is_parameter = false;
    *index = carom_model_find_coordinate(family->model, name);
    return *index >= 0;
}

// The variables and pairs that the scene's `design` names.
static carom_status find_names(carom_family *family, carom_error *error) {
    const carom_scene_design *design = &family->scene->design;
    const carom_document *document = family->scene->document;
    for (int i = 0; i < family->variables; i++) {
        const carom_node *node = carom_node_find(design->node, "free");
        const carom_impact_data *data = carom_impact_get_data(family->scene->impact);
        char phrase[CAROM_SUGGESTION_SIZE];
        if (!find_variable(family, design->free[i], &family->is_parameter[i], &family->index[i]))
            return carom_document_refuse(
                document, node, error, "'%.60s' is no coordinate and no parameter: %s%s", design->free[i],
                has_balls(family) ? "balls have x1, y1, m1, x2, ..." : "slide and hinge joints, and 'parameters'",
                carom_suggest(design->free[i], data->velocity_names, has_balls(family) || !data->velocity_names ? 0 : data->nv, phrase));
        for (int k = 0; k < i; k++)
            if (family->is_parameter[k] == family->is_parameter[i] && family->index[k] == family->index[i])
                return carom_document_refuse(document, node, error, "'%.60s' stands twice", design->free[i]);
        family->start[i] = (family->is_parameter[i] ? family->parameters : family->position)[family->index[i]];
        family->scale[i] = design->scale ? design->scale[i] : 1;
    }
    for (int i = 0; i < 2 * design->pairs; i++) {
        char phrase[CAROM_SUGGESTION_SIZE];
        family->pairs[i] = carom_impact_find_contact(family->scene->impact, design->contacts[i]);
        if (family->pairs[i] < 0 || (i % 2 && family->pairs[i] == family->pairs[i - 1]))
            return carom_document_refuse(
                document, carom_node_find(design->node, "pairs"), error, "'%.60s' is no contact of the scene, or paired with itself%s",
                design->contacts[i],
                family->pairs[i] < 0 ? carom_impact_suggest_contact(family->scene->impact, design->contacts[i], phrase) : "");
    }
    return CAROM_OK;
}

// The scene's own values are the start, and the gaps there the reference.
carom_status carom_family_create(carom_scene *scene, carom_family **family, carom_error *error) {
    *family = NULL;
    const carom_scene_design *design = &scene->design;
    const carom_node *root = carom_document_root(scene->document), *balls = carom_node_find(root, "balls");
    if (!design->node) return carom_document_refuse(scene->document, root, error, "the key 'design' is missing");
    if (!balls && !carom_node_find(root, "model"))
        return carom_document_refuse(scene->document, design->node, error, "needs a scene with 'model' or 'balls'");

    carom_family *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "design");
    made->scene = scene;
    made->variables = design->variables;
    made->contacts = carom_impact_get_data(scene->impact)->contacts;
    const size_t variables = (size_t)design->variables;
    made->is_parameter = carom_arena_take(&made->arena, variables, sizeof *made->is_parameter);
    made->index = carom_arena_take(&made->arena, variables, sizeof *made->index);
    made->start = carom_arena_take(&made->arena, variables, sizeof *made->start);
    made->scale = carom_arena_take(&made->arena, variables, sizeof *made->scale);
    made->pairs = carom_arena_take(&made->arena, 2 * (size_t)design->pairs, sizeof *made->pairs);
    made->reference = carom_arena_take(&made->arena, (size_t)made->contacts, sizeof *made->reference);
    carom_status status = made->arena.failed ? carom_fail_memory(error, "design") : CAROM_OK;
    if (!status) status = balls ? start_balls(made, balls, error) : start_model(made, error);
    if (!status) status = find_names(made, error);

    // Gaps are relative to those of the scene, which are zero so far: this evaluation gives them.
    carom_impact *impact = NULL;
    double *gaps = status ? NULL : carom_arena_take(&made->arena, (size_t)made->contacts, sizeof *gaps);
    if (!status) status = gaps ? carom_family_evaluate(made, made->start, &impact, gaps, error) : carom_fail_memory(error, "design");
    carom_impact_free(impact);
    if (status) {
        carom_family_free(made);
        return status;
    }
    memcpy(made->reference, gaps, (size_t)made->contacts * sizeof *gaps);
    *family = made;
    return CAROM_OK;
}

void carom_family_free(carom_family *family) {
    if (!family) return;
    carom_model_free(family->model);
    free(family->model_contacts);
    carom_arena_free(&family->arena);
    free(family);
}

// ---------------------------------------------------------------------------------------------------------- evaluation

void carom_family_place(carom_family *family, const double *x) {
    for (int i = 0; i < family->variables; i++) (family->is_parameter[i] ? family->parameters : family->position)[family->index[i]] = x[i];
}

// Gaps are differences from those of the scene, so that constants of a contact's plane do not matter.
carom_status carom_family_evaluate(carom_family *family, const double *x, carom_impact **impact, double *gaps, carom_error *error) {
    *impact = NULL;
    carom_family_place(family, x);
    carom_status status = CAROM_OK;
    if (has_balls(family)) {
        for (int c = 0; c < family->contacts; c++)
            gaps[c] = carom_ball_distance(&family->balls, family->touching->pair[c][0], family->touching->pair[c][1]);
        status = carom_ball_freeze(&family->balls, family->touching, impact, error);
    } else {
        // The model is compiled anew only where parameters changed.
        const size_t size = (size_t)family->parameter_count * sizeof *family->parameters;
        if (!family->model || (size && memcmp(family->parameters, family->loaded, size))) {
            carom_model_free(family->model);
            family->model = NULL;
            status = carom_scene_load_model(family->scene, family->parameters, NULL, &family->model, error);
            if (!status && size) memcpy(family->loaded, family->parameters, size);
        }
        if (!status) status = carom_model_set_state(family->model, family->position, family->position_size, NULL, 0, error);
        if (!status) status = carom_model_measure_gaps(family->model, family->model_contacts, family->contacts, gaps, error);
        if (!status) status = carom_model_freeze(family->model, family->model_contacts, family->contacts, impact, error);
    }
    for (int c = 0; c < family->contacts; c++) gaps[c] -= family->reference[c];
    return status;
}

// ------------------------------------------------------------------------------------------------------------- getters

int carom_family_variables(const carom_family *family) { return family->variables; }
const char *carom_family_variable(const carom_family *family, int variable) { return family->scene->design.free[variable]; }
const double *carom_family_start(const carom_family *family) { return family->start; }
const double *carom_family_scale(const carom_family *family) { return family->scale; }
int carom_family_pairs(const carom_family *family) { return family->scene->design.pairs; }
const int *carom_family_pair(const carom_family *family, int pair) { return family->pairs + 2 * pair; }
double carom_family_target(const carom_family *family) { return family->scene->design.target; }

const double *carom_family_position(carom_family *family, const double *x, int *count) {
    carom_family_place(family, x);
    *count = family->position_size;
    return family->position;
}

void carom_family_parameters(carom_family *family, const double *x, const char *const **names, const double **values, int *count) {
    carom_family_place(family, x);
    *names = has_balls(family) ? (const char *const *)family->mass_names : family->scene->parameters.names;
    *values = family->parameters;
    *count = family->parameter_count;
}
