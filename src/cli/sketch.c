// SPDX-License-Identifier: Apache-2.0
// From a scene, and outcomes of laws, to a picture of its mechanism.
#include "cli/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/json.h"
#include "carom/vector3.h"

// How far the fastest point moves until the poses that are shown after the impact, as a share of the mechanism's extent.
#define SHOWN_MOTION 0.1
// Speeds after the impact below this share of those before it are round-off.
#define AT_REST 1e-9
// Planes whose normals and places differ by less, relative to the mechanism's extent, are one.
#define SAME_PLANE 1e-6

enum { LABEL_SIZE = 96 };

// ------------------------------------------------------------------------------------------------------------- contacts

// A vector of contact space, n u[0] + t1 u[1] + t2 u[2], in space.
static void combine(const carom_scene_places *places, int dim, int contact, double normal, const double *tangent, double vector[3]) {
    for (int k = 0; k < 3; k++) vector[k] = normal * places->normals[3 * contact + k];
    for (int t = 0; t < dim; t++) carom_add3(tangent[t], places->tangents + 3 * (contact * dim + t), vector);
}

static carom_status take_contacts(cli_sketch *sketch, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(sketch->scene);
    const carom_impact_data *data = impact ? carom_impact_get_data(impact) : NULL;
    carom_scene_places places;
    const carom_status status = carom_scene_contacts(sketch->scene, &sketch->arena, &places, error);
    if (status || !data) return status;
    const int dim = data->tangent_dim;
    double *u = carom_arena_take(&sketch->arena, (size_t)carom_impact_contact_size(impact), sizeof *u);
    carom_stage_contact *contacts = carom_arena_take(&sketch->arena, (size_t)data->contacts, sizeof *contacts);
    if (sketch->arena.failed) return carom_fail_memory(error, "contacts");
    carom_impact_contact_velocity(impact, data->velocity, u);
    for (int i = 0; i < data->contacts; i++) {
        carom_stage_contact *contact = &contacts[i];
        contact->name = data->names[i];
        contact->friction = data->friction[i];
        memcpy(contact->point, places.points + 3 * i, sizeof contact->point);
        memcpy(contact->normal, places.normals + 3 * i, sizeof contact->normal);
        memcpy(contact->tangent, places.tangents + 3 * i * dim, sizeof contact->tangent);
        combine(&places, dim, i, u[i * (1 + dim)], u + i * (1 + dim) + 1, contact->velocity);
    }
    sketch->stage.contacts = data->contacts;
    sketch->stage.contact = contacts;
    sketch->stage.planar = dim == 1;
    return CAROM_OK;
}

// The ground that the contacts with the world tell of, in a scene where nothing is fixed: a plane through each of them.
static carom_status add_ground(cli_sketch *sketch, carom_error *error) {
    carom_stage *stage = &sketch->stage;
    const carom_impact *impact = carom_scene_impact(sketch->scene);
    const carom_contact_geometry *geometry = impact ? carom_impact_get_data(impact)->geometry : NULL;
    if (!geometry || !geometry->bodies) return CAROM_OK;
    double extent = 0;
    for (int i = 0; i < stage->solids.count; i++) {
        if (stage->solids.solid[i].fixed) return CAROM_OK;
        for (int k = 0; k < 3; k++) extent = fmax(extent, fabs(stage->solids.solid[i].position[k]));
    }
    carom_solid *solids = carom_arena_take(&sketch->arena, (size_t)stage->solids.count + (size_t)stage->contacts, sizeof *solids);
    if (!solids) return carom_fail_memory(error, "solids");
    int count = stage->solids.count;
    memcpy(solids, stage->solids.solid, (size_t)count * sizeof *solids);
    for (int i = 0; i < stage->contacts; i++) {
        const carom_stage_contact *contact = &stage->contact[i];
        const char *first = geometry->bodies[2 * i];
        bool known = !first || strcmp(first, "world") != 0 || !isfinite(contact->point[0]);
        for (int k = stage->solids.count; k < count && !known; k++) {
            const double normal[3] = {solids[k].rotation[2], solids[k].rotation[5], solids[k].rotation[8]};
            double away[3];
            for (int c = 0; c < 3; c++) away[c] = contact->point[c] - solids[k].position[c];
            known = carom_dot3(normal, contact->normal) > 1 - SAME_PLANE &&
                    fabs(carom_dot3(away, normal)) <= SAME_PLANE * fmax(extent, carom_norm3(away));
        }
        if (known) continue;
        carom_solid *plane = &solids[count++];
        *plane = (carom_solid){.kind = CAROM_SOLID_PLANE, .name = "", .body = "world", .fixed = true};
        double tangents[6];
        carom_complete_frame3(contact->normal, tangents);
        for (int k = 0; k < 3; k++) {
            plane->position[k] = contact->point[k];
            plane->rotation[3 * k] = tangents[k];
            plane->rotation[3 * k + 1] = tangents[3 + k];
            plane->rotation[3 * k + 2] = contact->normal[k];
        }
    }
    stage->solids.solid = solids;
    stage->solids.count = count;
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- views

carom_status cli_sketch_views(cli_sketch *sketch, const char *names, carom_error *error) {
    sketch->stage.views = 0;
    for (const char *name = names; name; name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL) {
        char one[32];
        const size_t length = strcspn(name, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, name);
        const carom_view *view = length < sizeof one ? carom_view_find(one) : NULL;
        carom_suggestion suggestion = {.wanted = one};
        char phrase[CAROM_SUGGESTION_SIZE];
        for (int i = 0; i < CAROM_VIEWS; i++) carom_suggestion_offer(&suggestion, carom_views[i].name);
        if (!view)
            return carom_fail(error, CAROM_BAD_INPUT, "--view: there is no view '%.*s'; there are side, front, top and 3d%s",
                              (int)(length < 60 ? length : 60), name, carom_suggestion_phrase(&suggestion, phrase));
        if (sketch->stage.views == CAROM_STAGE_VIEWS)
            return carom_fail(error, CAROM_BAD_INPUT, "--view: a picture has at most %d views", CAROM_STAGE_VIEWS);
        sketch->stage.view[sketch->stage.views++] = *view;
    }
    return CAROM_OK;
}

// A planar scene in the plane of a contact that has a place.
static bool choose_plane(cli_sketch *sketch) {
    carom_stage *stage = &sketch->stage;
    for (int i = 0; i < stage->contacts && stage->planar; i++) {
        double across[3];
        carom_cross3(stage->contact[i].normal, stage->contact[i].tangent, across);
        if (!(fabs(carom_norm3(across) - 1) < SAME_PLANE)) continue;
        stage->views = 1;
        stage->view[0] = carom_view_of_plane(across);
        return true;
    }
    return false;
}

carom_status cli_sketch_start(cli_sketch *sketch, const carom_scene *scene, carom_error *error) {
    sketch->scene = scene;
    sketch->stage.title = carom_scene_name(scene);
    carom_status status = carom_scene_solids(scene, NULL, 0, &sketch->arena, &sketch->stage.solids, error);
    if (!status) status = take_contacts(sketch, error);
    if (!status) status = add_ground(sketch, error);
    if (!status && !choose_plane(sketch)) status = cli_sketch_views(sketch, "side,3d", error);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- outcomes

carom_status cli_sketch_add(cli_sketch *sketch, const carom_law *law, const carom_table *outcomes, int64_t row, carom_error *error) {
    carom_stage *stage = &sketch->stage;
    if (stage->outcomes == CAROM_STAGE_OUTCOMES)
        return carom_fail(error, CAROM_BAD_INPUT, "--outcome: a picture shows at most %d outcomes", CAROM_STAGE_OUTCOMES);
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(sketch->scene));
    const int dim = data->tangent_dim, contacts = data->contacts, index = stage->outcomes;
    carom_scene_places places;
    const carom_status status = carom_scene_contacts(sketch->scene, &sketch->arena, &places, error);
    if (status) return status;
    double *impulse = carom_arena_take(&sketch->arena, 3 * (size_t)contacts, sizeof *impulse);
    double *velocity = carom_arena_take(&sketch->arena, 3 * (size_t)contacts, sizeof *velocity);
    double *after = carom_arena_take(&sketch->arena, (size_t)data->nv, sizeof *after);
    char *label = carom_arena_take(&sketch->arena, LABEL_SIZE, 1);
    if (sketch->arena.failed) return carom_fail_memory(error, "an outcome");

    const double *columns[4];
    static const int wanted[4] = {CAROM_OUTCOME_NORMAL_IMPULSE, CAROM_OUTCOME_TANGENT_IMPULSE, CAROM_OUTCOME_NORMAL_VELOCITY,
                                  CAROM_OUTCOME_TANGENT_VELOCITY};
    for (int k = 0; k < 4; k++) columns[k] = carom_table_real_column(outcomes, wanted[k]) + row * contacts * (k % 2 ? dim : 1);
    for (int i = 0; i < contacts; i++) {
        combine(&places, dim, i, columns[0][i], columns[1] + i * dim, impulse + 3 * i);
        combine(&places, dim, i, columns[2][i], columns[3] + i * dim, velocity + 3 * i);
    }
    memcpy(after, carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY) + row * data->nv, (size_t)data->nv * sizeof *after);
    const int64_t rows = carom_table_rows(outcomes);
    if (rows > 1)
        snprintf(label, LABEL_SIZE, "%s %lld of %lld", law->name, (long long)row + 1, (long long)rows);
    else
        snprintf(label, LABEL_SIZE, "%s", law->name);
    sketch->after[index] = after;
    sketch->law[index] = law->name;
    sketch->number[index] = row + 1;
    sketch->of[index] = rows;
    stage->outcome[index] = (carom_stage_outcome){.label = label, .impulse = impulse, .velocity = velocity};
    carom_plot_assign_looks(1, &law->name, &stage->outcome[index].look);
    for (int k = 0; k < index; k++) stage->outcome[index].dashed |= sketch->law[k] == law->name;
    stage->outcomes++;
    return CAROM_OK;
}

// The greatest distance between the same points of two poses: of frames, and of the ends of their axes.
static double measure_motion(const carom_solids *before, const carom_solids *after, double reach) {
    double most = 0;
    for (int i = 0; i < before->count && i < after->count; i++) {
        const carom_solid *a = &before->solid[i], *b = &after->solid[i];
        for (int axis = 0; axis < 4; axis++) {
            double moved[3];
            const double length = fmin(reach, a->size[0] + a->size[1] + a->size[2]);
            for (int k = 0; k < 3; k++) {
                moved[k] = b->position[k] - a->position[k];
                if (axis < 3) moved[k] += length * (b->rotation[3 * k + axis] - a->rotation[3 * k + axis]);
            }
            most = fmax(most, carom_norm3(moved));
        }
    }
    return most;
}

carom_status cli_sketch_finish(cli_sketch *sketch, carom_error *error) {
    carom_stage *stage = &sketch->stage;
    carom_stage_drawing drawing;
    carom_status status = stage->outcomes ? carom_stage_draw(stage, 0, &sketch->arena, &drawing, error) : CAROM_OK;
    if (status || !stage->outcomes) return status;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < stage->solids.count; i++)
        for (int c = 0; c < 2 * drawing.outline[i].corners; c++) {
            low[c % 2] = fmin(low[c % 2], drawing.outline[i].corner[c]);
            high[c % 2] = fmax(high[c % 2], drawing.outline[i].corner[c]);
        }
    const double extent = fmax(high[0] - low[0], high[1] - low[1]);
    // How fast anything moves after the impact, by a motion so short that it is straight.
    double fastest = 0, before = 0;
    for (int i = 0; i < stage->solids.trees; i++) before = fmax(before, carom_norm3(stage->solids.tree[i].velocity));
    for (int i = 0; i < stage->contacts; i++)
        if (isfinite(stage->contact[i].point[0])) before = fmax(before, carom_norm3(stage->contact[i].velocity));
    for (int k = 0; k < stage->outcomes && !status; k++) {
        const carom_solids *at_impact = &stage->solids;
        carom_solids moved;
        double speed = 0;
        for (int i = 0; i < stage->contacts; i++) {
            const double *after = stage->outcome[k].velocity + 3 * i;
            if (isfinite(carom_norm3(after))) speed = fmax(speed, carom_norm3(after));
        }
        status = carom_scene_solids(sketch->scene, sketch->after[k], 0, &sketch->arena, &moved, error);
        for (int i = 0; i < moved.trees && !status; i++) speed = fmax(speed, carom_norm3(moved.tree[i].velocity));
        const double instant = speed > 0 ? 1e-3 * extent / speed : 0;
        if (!status && instant > 0) status = carom_scene_solids(sketch->scene, sketch->after[k], instant, &sketch->arena, &moved, error);
        if (!status && instant > 0) fastest = fmax(fastest, measure_motion(at_impact, &moved, extent) / instant);
    }
    // Round-off is no motion.
    if (status || !(fastest > AT_REST * before) || !(extent > 0)) return status;
    const double shown = carom_round_down(SHOWN_MOTION * extent / fastest);
    for (int k = 0; k < stage->outcomes && !status; k++) {
        stage->outcome[k].time = shown;
        status = carom_scene_solids(sketch->scene, sketch->after[k], shown, &sketch->arena, &stage->outcome[k].ghost, error);
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------------------- JSON

static json_t *rows_json(const double *values, int rows, int columns) {
    json_t *list = json_array();
    for (int i = 0; i < rows; i++) json_array_append_new(list, carom_json_reals(values + columns * i, columns));
    return list;
}

static json_t *solids_json(const carom_solids *solids) {
    json_t *list = json_array();
    for (int i = 0; i < solids->count; i++) {
        const carom_solid *solid = &solids->solid[i];
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o}", "name", carom_json_text(solid->name), "body",
                                        carom_json_text(solid->body), "kind", carom_solid_kind_names[solid->kind], "fixed", solid->fixed,
                                        "size", carom_json_reals(solid->size, 3), "rounding", carom_json_real(solid->rounding), "position",
                                        carom_json_reals(solid->position, 3), "rotation", rows_json(solid->rotation, 3, 3)));
    }
    return list;
}

json_t *cli_sketch_json(cli_sketch *sketch, carom_error *error) {
    carom_stage *stage = &sketch->stage;
    json_t *views = json_array(), *contacts = json_array(), *trees = json_array(), *outcomes = json_array();
    carom_status status = CAROM_OK;
    for (int i = 0; i < stage->views && !status; i++) {
        const carom_view *view = &stage->view[i];
        carom_stage_drawing drawing;
        status = carom_stage_draw(stage, i, &sketch->arena, &drawing, error);
        json_t *order = json_array(), *outlines = json_array();
        for (int k = 0; k < stage->solids.count && !status; k++) {
            json_array_append_new(order, json_integer(drawing.order[k]));
            json_array_append_new(outlines, rows_json(drawing.outline[k].corner, drawing.outline[k].corners, 2));
        }
        json_array_append_new(views, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", view->name, "right",
                                               carom_json_reals(view->right, 3), "up", carom_json_reals(view->up, 3), "toward",
                                               carom_json_reals(view->toward, 3), "order", order, "outlines", outlines));
    }
    for (int i = 0; i < stage->contacts; i++) {
        const carom_stage_contact *contact = &stage->contact[i];
        json_array_append_new(contacts,
                              json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", carom_json_text(contact->name), "point",
                                        carom_json_reals(contact->point, 3), "normal", carom_json_reals(contact->normal, 3), "friction",
                                        carom_json_real(contact->friction), "velocity", carom_json_reals(contact->velocity, 3)));
    }
    for (int i = 0; i < stage->solids.trees; i++) {
        const carom_solid_tree *tree = &stage->solids.tree[i];
        json_array_append_new(trees, json_pack("{s:o, s:o, s:o}", "name", carom_json_text(tree->name), "center",
                                               carom_json_reals(tree->center, 3), "velocity", carom_json_reals(tree->velocity, 3)));
    }
    for (int i = 0; i < stage->outcomes; i++) {
        const carom_stage_outcome *outcome = &stage->outcome[i];
        json_array_append_new(outcomes, json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "law", sketch->law[i], "number",
                                                  (json_int_t)sketch->number[i], "of", (json_int_t)sketch->of[i], "impulses",
                                                  rows_json(outcome->impulse, stage->contacts, 3), "velocities",
                                                  rows_json(outcome->velocity, stage->contacts, 3), "time", carom_json_real(outcome->time),
                                                  "solids", solids_json(&outcome->ghost)));
    }
    json_t *document = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "schema", "carom.draw/1", "name",
                                 carom_json_text(stage->title), "views", views, "solids", solids_json(&stage->solids), "trees", trees,
                                 "contacts", contacts, "left_out", stage->solids.left_out, "outcomes", outcomes);
    if (!status && !document) status = carom_fail_memory(error, "draw");
    if (!status) return document;
    json_decref(document);
    return NULL;
}

void cli_sketch_free(cli_sketch *sketch) { carom_arena_free(&sketch->arena); }
