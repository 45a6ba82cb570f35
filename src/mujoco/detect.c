// SPDX-License-Identifier: Apache-2.0
// Contacts that MuJoCo's collision detection finds at the state of a model.
//
// MuJoCo reports several points of a pair of geoms, some of them twice when pairs share a corner. What is left after
// merging is what an impact needs: one contact for a point and a normal.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// Contacts of the same two bodies are one when their points are closer than this share of the smaller geom's radius
// and their normals differ by less than this angle [rad].
#define MERGE_TOLERANCE 1e-6
// How far an error message looks for the nearest pair of geoms [m].
#define SEARCH_MARGIN 1.0

enum { NAME_SIZE = 120, GEOM_NAME_SIZE = 48 };

// The contacts found, with their names.
typedef struct detected {
    carom_model *model;
    const carom_detection *detection;
    model_touch *touches;  // [CAROM_MAX_CONTACTS]
    int count;
    char (*bases)[NAME_SIZE], (*names)[NAME_SIZE];  // [CAROM_MAX_CONTACTS] names without and with their index
    bool ignores_torsion;
} detected;

carom_detection carom_detection_defaults(void) { return (carom_detection){.margin = 1e-3, .friction = (double)NAN}; }

// ------------------------------------------------------------------------------------------------------------ collision

// Arguments of the guarded collision detection.
typedef struct collision {
    carom_model *model;
    double margin;
} collision;

// A guarded call: lets MuJoCo find contacts.
static void collide(void *argument) {
    const collision *search = argument;
    mjModel *compiled = search->model->compiled;
    mjData *data = search->model->data;
    // The margin of the caller stands for all of the model's, an override of them included.
    for (int i = 0; i < compiled->ngeom; i++) compiled->geom_margin[i] = search->margin;
    for (int i = 0; i < compiled->npair; i++) compiled->pair_margin[i] = search->margin;
    mju_zero(compiled->geom_gap, compiled->ngeom);
    mju_zero(compiled->pair_gap, compiled->npair);
    compiled->opt.enableflags &= ~mjENBL_OVERRIDE;
    data->warning[mjWARN_CONTACTFULL].number = 0;
    mj_collision(compiled, data);
}

// Fills the data's contacts with those closer than the margin.
static carom_status find_contacts(carom_model *model, double margin, carom_error *error) {
    collision search = {model, margin};
    const carom_status status = model_guard_call(collide, &search, error);
    if (status) return status;
    if (!model->data->warning[mjWARN_CONTACTFULL].number) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s: there are more contacts than nconmax = %d, the room that the model gives; add <size nconmax=\"...\"/> to it",
                      model->path, model->compiled->nconmax);
}

// --------------------------------------------------------------------------------------------------------------- merge

// -------------------------------------------------------------------------------------------------------------- names

// A geom's name, or that of its body.
static void write_geom_name(const carom_model *model, int geom, char name[GEOM_NAME_SIZE]) {
    const int body = model->compiled->geom_bodyid[geom];
    const char *given = mj_id2name(model->compiled, mjOBJ_GEOM, geom), *bodys = mj_id2name(model->compiled, mjOBJ_BODY, body);
    const bool use_body = !(given && *given) && body && bodys && *bodys;
    model_write_name(model, use_body ? mjOBJ_BODY : mjOBJ_GEOM, use_body ? body : geom, "geom", name, GEOM_NAME_SIZE);
}

// ---------------------------------------------------------------------------------------------------------- detection

// Adds a contact that MuJoCo found, unless it repeats one.
static carom_status add_contact(detected *found, const mjContact *contact, carom_error *error) {
    const mjModel *compiled = found->model->compiled;
    const int geoms[2] = {contact->geom1, contact->geom2};
    const int bodies[2] = {compiled->geom_bodyid[geoms[0]], compiled->geom_bodyid[geoms[1]]};
    model_touch touch = {.body = {bodies[0], bodies[1]},
                         .geom = {geoms[0], geoms[1]},
                         .friction = found->detection->friction,
                         .restitution = found->detection->restitution};
    mju_copy3(touch.point[0], contact->pos);
    mju_copy3(touch.point[1], contact->pos);
    mju_copy3(touch.meeting, contact->pos);
    if (contact->dim > 3) found->ignores_torsion = true;
    if (isnan(touch.friction)) {
        // The geoms' friction. MuJoCo raises every coefficient to its least one, which stands for none.
        touch.friction = contact->dim == 1 || contact->friction[0] <= mjMINMU ? 0 : contact->friction[0];
        if (contact->dim != 1 && contact->friction[0] != contact->friction[1])
            return carom_fail(
                error, CAROM_BAD_INPUT,
                "%s: a contact pair has different friction along its two tangents, %g and %g: friction cones are isotropic here; "
                "give 'friction' for all contacts",
                found->model->path, contact->friction[0], contact->friction[1]);
    }
    if (!model_normalise(contact->frame, touch.normal))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: MuJoCo gives a contact without a normal", found->model->path);
    carom_impact_default_tangents(touch.normal, touch.tangent);

    // Of contacts that are one, the first stands for all, with the largest friction: its cone holds the sums of their forces. Which of two
    // bodies comes first depends on the geoms' types. Planes have no radius.
    const double first = compiled->geom_rbound[geoms[0]], second = compiled->geom_rbound[geoms[1]];
    const double radius = first > 0 && (first < second || !(second > 0)) ? first : second;
    for (int i = 0; i < found->count; i++) {
        model_touch *other = &found->touches[i];
        const int sign = model_compare_bodies(found->model, other, &touch);
        double apart[3], turn[3];
        mju_sub3(apart, other->point[0], touch.point[0]);
        mju_addScl3(turn, other->normal, touch.normal, -sign);
        if (!sign || !(mju_norm3(apart) < MERGE_TOLERANCE * radius) || !(mju_norm3(turn) < MERGE_TOLERANCE)) continue;
        other->friction = fmax(other->friction, touch.friction);
        return CAROM_OK;
    }
    if (found->count == CAROM_MAX_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: more than %d contacts touch at this state", found->model->path, CAROM_MAX_CONTACTS);

    // Named after the geoms of the bodies that can move, with a colon between two of them.
    char names[2][GEOM_NAME_SIZE], *base = found->bases[found->count];
    for (int side = 0; side < 2; side++) write_geom_name(found->model, geoms[side], names[side]);
    const bool first_moves = compiled->body_weldid[bodies[0]] != 0, second_moves = compiled->body_weldid[bodies[1]] != 0;
    if (first_moves == second_moves)
        snprintf(base, NAME_SIZE, "%s:%s", names[0], names[1]);
    else
        snprintf(base, NAME_SIZE, "%s", names[second_moves]);
    found->touches[found->count++] = touch;
    return CAROM_OK;
}

// Says how far the nearest geoms are apart, which is what the user has to correct when none touch, or that the model lets none touch.
static void describe_gap(carom_model *model, double margin, char text[CAROM_MESSAGE_SIZE]) {
    if (!model_is_enabled(model, mjDSBL_CONTACT)) {
        const bool all = !model_is_enabled(model, 0);
        snprintf(text, CAROM_MESSAGE_SIZE, "no geoms touch: the model disables %s by <flag %s=\"disable\"/>",
                 all ? "all constraints, contacts included," : "contacts", all ? "constraint" : "contact");
        return;
    }
    if (find_contacts(model, SEARCH_MARGIN, NULL)) {
        snprintf(text, CAROM_MESSAGE_SIZE, "no geoms touch: none are closer than the margin of %g m", margin);
        return;
    }
    // Within a wider margin, which pair is the nearest?
    const mjContact *nearest = NULL;
    for (int i = 0; i < model->data->ncon; i++) {
        if (!nearest || model->data->contact[i].dist < nearest->dist) nearest = &model->data->contact[i];
    }
    if (!nearest) {
        snprintf(text, CAROM_MESSAGE_SIZE, "no geoms touch: none that may collide are within %g m of each other", SEARCH_MARGIN);
        return;
    }
    char first[GEOM_NAME_SIZE], second[GEOM_NAME_SIZE];
    write_geom_name(model, nearest->geom1, first);
    write_geom_name(model, nearest->geom2, second);
    snprintf(text, CAROM_MESSAGE_SIZE, "no geoms touch: the nearest, '%s' and '%s', are %.6g m apart, more than the margin of %g m", first,
             second, nearest->dist, margin);
}

carom_status carom_model_detect(carom_model *model, const carom_detection *detection, carom_impact **impact, carom_error *error) {
    if (!impact) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_detect: impact is NULL");
    *impact = NULL;
    const carom_detection defaults = carom_detection_defaults();
    detected found = {.model = model, .detection = detection ? detection : &defaults};
    const double margin = found.detection->margin;
    if (!(margin >= 0) || isinf(margin)) return carom_fail(error, CAROM_BAD_INPUT, "margin is %g: it is a finite length >= 0", margin);
    carom_arena arena = {0};
    found.touches = carom_arena_take(&arena, CAROM_MAX_CONTACTS, sizeof *found.touches);
    found.bases = carom_arena_take(&arena, CAROM_MAX_CONTACTS, sizeof *found.bases);
    found.names = carom_arena_take(&arena, CAROM_MAX_CONTACTS, sizeof *found.names);
    carom_status status = arena.failed ? carom_fail_memory(error, "detected contacts") : CAROM_OK;
    if (!status) status = model_prepare_freeze(model, error);
    if (!status) status = find_contacts(model, margin, error);
    for (int i = 0; !status && i < model->data->ncon; i++) status = add_contact(&found, &model->data->contact[i], error);
    if (!status && !found.count) {
        // Joints at their stops are then the only contacts, if there are any.
        char text[CAROM_MESSAGE_SIZE];
        describe_gap(model, margin, text);
        status = model_find_limits(model, NULL) ? model_warn(model, error, "%s", text)
                                                : carom_fail(error, CAROM_BAD_INPUT, "%s; no joint is at its stop either", text);
    }
    // Contacts whose geoms have the same names are numbered from 1.
    for (int i = 0; !status && i < found.count; i++) {
        int same = 0, index = 0;
        for (int k = 0; k < found.count; k++) {
            const bool shares = !strcmp(found.bases[k], found.bases[i]);
            same += shares;
            index += shares && k <= i;
        }
        bool numbered = same > 1;
        for (bool taken = true; taken; numbered = true) {
            if (numbered)
                snprintf(found.names[i], NAME_SIZE, "%.100s:%d", found.bases[i], index++);
            else
                snprintf(found.names[i], NAME_SIZE, "%s", found.bases[i]);
            taken = false;
            for (int k = 0; k < i; k++) taken = taken || !strcmp(found.names[k], found.names[i]);
        }
        found.touches[i].name = found.names[i];
    }
    if (!status && found.ignores_torsion)
        status = model_warn(model, error,
                            "torsional and rolling friction of geoms (condim above 3) is left out: contacts have sliding friction only");
    if (!status) status = model_freeze_touches(model, found.touches, found.count, 2, MODEL_DROP_IDLE, impact, error);
    carom_arena_free(&arena);
    return status;
}
