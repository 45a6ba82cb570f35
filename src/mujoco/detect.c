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

enum {
    NAME_SIZE = MODEL_PAIR_NAME_SIZE,
    NAMED_PAIRS = 3,  // that a message names where none touch
};

// The contacts found, with their names.
typedef struct detected {
    carom_model *model;
    const carom_detection *detection;
    model_touch *touches;  // [CAROM_MAX_CONTACTS]
    int count;
    char (*bases)[NAME_SIZE], (*names)[NAME_SIZE];  // [CAROM_MAX_CONTACTS] names without and with their index
    model_fate *fates;                              // [CAROM_MAX_CONTACTS]
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
    model_set_margins(compiled, search->margin);
    compiled->opt.enableflags &= ~mjENBL_OVERRIDE;
    data->warning[mjWARN_CONTACTFULL].number = 0;
    mj_collision(compiled, data);
    model_tidy_contacts(compiled, data);
    model_complete_faces(search->model, compiled, data, search->margin);
}

carom_status model_find_contacts(carom_model *model, double margin, carom_error *error) {
    collision search = {model, margin};
    const carom_status status = model_guard_call(collide, &search, error);
    if (status) return status;
    if (!model->data->warning[mjWARN_CONTACTFULL].number) return CAROM_OK;
    char room[MODEL_ROOM_SIZE];
    model_describe_room(model->compiled, "nconmax", room);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: there are more contacts than %s", model->path, room);
}

// -------------------------------------------------------------------------------------------------------------- names

void model_name_geom(const carom_model *model, int geom, char name[MODEL_GEOM_NAME_SIZE]) {
    const int body = model->compiled->geom_bodyid[geom];
    const char *given = mj_id2name(model->compiled, mjOBJ_GEOM, geom), *bodys = mj_id2name(model->compiled, mjOBJ_BODY, body);
    const bool use_body = !(given && *given) && body && bodys && *bodys;
    model_write_name(model, use_body ? mjOBJ_BODY : mjOBJ_GEOM, use_body ? body : geom, "geom", name, MODEL_GEOM_NAME_SIZE);
}

// ---------------------------------------------------------------------------------------------------------- detection

void model_name_pair(const carom_model *model, const int geoms[2], char name[MODEL_PAIR_NAME_SIZE]) {
    char names[2][MODEL_GEOM_NAME_SIZE];
    bool moves[2];
    for (int side = 0; side < 2; side++) {
        model_name_geom(model, geoms[side], names[side]);
        moves[side] = model_weld(model->compiled, model->compiled->geom_bodyid[geoms[side]]) != 0;
    }
    if (moves[0] == moves[1])
        snprintf(name, MODEL_PAIR_NAME_SIZE, "%s:%s", names[0], names[1]);
    else
        snprintf(name, MODEL_PAIR_NAME_SIZE, "%s", names[moves[1]]);
}

carom_status model_read_contact(const carom_model *model, const carom_detection *detection, const mjContact *contact, model_touch *touch,
                                carom_error *error) {
    const mjModel *compiled = model->compiled;
    if (model_touches_flex(contact))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: a deformable body (flex) touches something at this state: impacts are of rigid bodies only", model->path);
    if (model_touches_belt(compiled, contact))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: a geom with a surface velocity touches something at this state: surfaces of impacts are at rest on their "
                          "bodies",
                          model->path);
    const int geoms[2] = {contact->geom1, contact->geom2};
    *touch = (model_touch){.body = {compiled->geom_bodyid[geoms[0]], compiled->geom_bodyid[geoms[1]]},
                           .geom = {geoms[0], geoms[1]},
                           .friction = detection->friction,
                           .restitution = detection->restitution,
                           .gap = contact->dist};
    const int rubs = model_find_pair(model, detection, geoms, MODEL_FRICTION),
              bounces = model_find_pair(model, detection, geoms, MODEL_RESTITUTION);
    if (rubs >= 0) touch->friction = detection->pairs[rubs].friction;
    if (bounces >= 0) touch->restitution = detection->pairs[bounces].restitution;
    mju_copy3(touch->point[0], contact->pos);
    mju_copy3(touch->point[1], contact->pos);
    mju_copy3(touch->meeting, contact->pos);
    if (isnan(touch->friction)) {
        // The geoms' friction. MuJoCo raises every coefficient to its least one, which stands for none.
        touch->friction = contact->dim == 1 || contact->friction[0] <= mjMINMU ? 0 : contact->friction[0];
        if (contact->dim != 1 && contact->friction[0] != contact->friction[1])
            return carom_fail(
                error, CAROM_BAD_INPUT,
                "%s: a contact pair has different friction along its two tangents, %g and %g: friction cones are isotropic here; "
                "give 'friction' for all contacts, or for this one in 'pairs'",
                model->path, contact->friction[0], contact->friction[1]);
    }
    if (!model_normalise(contact->frame, touch->normal))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: MuJoCo gives a contact without a normal", model->path);
    carom_impact_default_tangents(touch->normal, touch->tangent);
    return CAROM_OK;
}

// Adds a contact that MuJoCo found, unless it repeats one.
static carom_status add_contact(detected *found, const mjContact *contact, carom_error *error) {
    const mjModel *compiled = found->model->compiled;
    model_touch touch;
    const carom_status status = model_read_contact(found->model, found->detection, contact, &touch, error);
    if (status) return status;
    const int *geoms = touch.geom;
    if (contact->dim > 3) found->ignores_torsion = true;

    // Of contacts that are one, the first stands for all, with the largest friction, whose cone holds the sums of their forces, and the
    // largest restitution. Which of two bodies comes first depends on the geoms' types. Planes have no radius.
    const model_fate fate = model_judge_pair(found->model, found->detection, geoms);
    const double first = compiled->geom_rbound[geoms[0]], second = compiled->geom_rbound[geoms[1]];
    const double radius = first > 0 && (first < second || !(second > 0)) ? first : second;
    for (int i = 0; i < found->count; i++) {
        model_touch *other = &found->touches[i];
        const int sign = model_compare_bodies(found->model, other, &touch);
        double apart[3], turn[3];
        mju_sub3(apart, other->point[0], touch.point[0]);
        mju_addScl3(turn, other->normal, touch.normal, -sign);
        if (!sign || !(mju_norm3(apart) < MERGE_TOLERANCE * radius) || !(mju_norm3(turn) < MERGE_TOLERANCE)) continue;
        // One that is left out gives way to one that stays.
        if (fate == found->fates[i]) {
            other->friction = fmax(other->friction, touch.friction);
            other->restitution = fmax(other->restitution, touch.restitution);
        }
        if (fate < found->fates[i]) {
            other->friction = touch.friction;
            other->restitution = touch.restitution;
            found->fates[i] = fate;
            model_name_pair(found->model, geoms, found->bases[i]);
        }
        return CAROM_OK;
    }
    if (found->count == CAROM_MAX_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: more than %d contacts touch at this state", found->model->path, CAROM_MAX_CONTACTS);

    model_name_pair(found->model, geoms, found->bases[found->count]);
    found->fates[found->count] = fate;
    found->touches[found->count++] = touch;
    return CAROM_OK;
}

// Says how far the nearest geoms are apart, which is what the user has to correct when none touch, or that the model lets none touch.
static void describe_gap(carom_model *model, const carom_detection *detection, char text[CAROM_MESSAGE_SIZE]) {
    if (!model_is_enabled(model, mjDSBL_CONTACT)) {
        const bool all = !model_is_enabled(model, 0);
        snprintf(text, CAROM_MESSAGE_SIZE, "no geoms touch: the model disables %s by <flag %s=\"disable\"/>",
                 all ? "all constraints, contacts included," : "contacts", all ? "constraint" : "contact");
        return;
    }
    mjContact nearest[MODEL_NEAREST];
    int count = model_find_nearest(model, detection, -HUGE_VAL, nearest);
    if (!count) {
        snprintf(text, CAROM_MESSAGE_SIZE, "no geoms touch: none that may collide are anywhere near each other");
        return;
    }
    if (count > NAMED_PAIRS) count = NAMED_PAIRS;
    size_t used = 0;
    for (int i = 0; i < count && used < CAROM_MESSAGE_SIZE; i++) {
        char first[MODEL_GEOM_NAME_SIZE], second[MODEL_GEOM_NAME_SIZE];
        model_name_geom(model, nearest[i].geom1, first);
        model_name_geom(model, nearest[i].geom2, second);
        if (i == 0)
            used += (size_t)snprintf(text, CAROM_MESSAGE_SIZE,
                                     "no geoms touch: the nearest, '%s' and '%s', are %.6g m apart, more than the margin of %g m", first,
                                     second, nearest[i].dist, detection->margin);
        else
            used += (size_t)snprintf(text + used, CAROM_MESSAGE_SIZE - used, "%s '%s' and '%s' %.6g m", i > 1 ? "," : "; then", first,
                                     second, nearest[i].dist);
    }
}

// Contacts whose geoms have the same names are numbered from 1.
static void number_names(detected *found) {
    for (int i = 0; i < found->count; i++) {
        int same = 0, index = 0;
        for (int k = 0; k < found->count; k++) {
            const bool shares = !strcmp(found->bases[k], found->bases[i]);
            same += shares;
            index += shares && k <= i;
        }
        bool numbered = same > 1;
        for (bool taken = true; taken; numbered = true) {
            if (numbered)
                snprintf(found->names[i], NAME_SIZE, "%.100s:%d", found->bases[i], index++);
            else
                snprintf(found->names[i], NAME_SIZE, "%s", found->bases[i]);
            taken = false;
            for (int k = 0; k < i; k++) taken = taken || !strcmp(found->names[k], found->names[i]);
        }
        found->touches[i].name = found->names[i];
    }
}

// Leaves the contacts that the caller chose. Joints at their stops may then be the only ones; where there are none either, says why.
static carom_status choose_contacts(detected *found, carom_arena *arena, carom_error *error) {
    carom_model *model = found->model;
    const carom_detection *detection = found->detection;
    const char **names = carom_arena_take(arena, (size_t)found->count, sizeof *names);
    const int limit_count = model_find_limits(model, NULL);
    model_limit *limits = carom_arena_take(arena, (size_t)limit_count, sizeof *limits);
    if (arena->failed) return carom_fail_memory(error, "detected contacts");
    for (int i = 0; i < found->count; i++) names[i] = found->names[i];
    const carom_status status = model_check_patterns(model, detection, names, found->count, error);
    if (status) return status;

    int fates[MODEL_FATES] = {0}, kept = 0;
    for (int i = 0; i < found->count; i++) {
        const model_fate fate = model_judge_name(detection, found->fates[i], found->names[i]);
        fates[fate]++;
        if (fate == MODEL_KEPT) found->touches[kept++] = found->touches[i];
    }
    const int all = found->count;
    found->count = kept;
    if (kept) return CAROM_OK;
    char text[CAROM_MESSAGE_SIZE];
    if (all) {
        static const char *const keys[MODEL_FATES] = {
            [MODEL_UNWANTED] = "only", [MODEL_EXCLUDED] = "exclude", [MODEL_OF_SELF] = "self: false"};
        size_t used = (size_t)snprintf(text, sizeof text, "none of the %d contacts found is left:", all);
        for (int i = MODEL_UNWANTED, left = all; i < MODEL_FATES; left -= fates[i++])
            if (fates[i])
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, "%s '%s' leaves out %d", left < all ? "," : "", keys[i], fates[i]);
    } else {
        describe_gap(model, detection, text);
    }
    model_find_limits(model, limits);
    if (model_choose_limits(model, detection, limits, limit_count)) return model_warn(model, error, "%s", text);
    if (limit_count) return carom_fail(error, CAROM_BAD_INPUT, "%s; what is at its limit is left out, too", text);
    return carom_fail(error, CAROM_BAD_INPUT, "%s; no joint is at its stop either%s", text,
                      model->compiled->ntendon ? ", and no tendon at its limit" : "");
}

// Warns of pairs that give no contact of this state a coefficient.
static carom_status warn_of_idle_pairs(const detected *found, carom_error *error) {
    const carom_detection *detection = found->detection;
    carom_status status = CAROM_OK;
    for (int i = 0; i < detection->pair_count && !status; i++) {
        bool used = false;
        for (int k = 0; k < found->count; k++)
            for (int coefficient = MODEL_FRICTION; coefficient <= MODEL_RESTITUTION; coefficient++)
                used = used || model_find_pair(found->model, detection, found->touches[k].geom, (model_coefficient)coefficient) == i;
        if (!used)
            status = model_warn(found->model, error, "pairs[%d], between '%.60s' and '%.60s', is not used: %s", i,
                                detection->pairs[i].between[0], detection->pairs[i].between[1],
                                "no contact of this state takes a coefficient from it");
    }
    return status;
}

carom_status model_freeze_found(carom_model *model, const carom_detection *detection, carom_impact **impact, carom_error *error) {
    detected found = {.model = model, .detection = detection};
    carom_arena arena = {0};
    found.touches = carom_arena_take(&arena, CAROM_MAX_CONTACTS, sizeof *found.touches);
    found.bases = carom_arena_take(&arena, CAROM_MAX_CONTACTS, sizeof *found.bases);
    found.names = carom_arena_take(&arena, CAROM_MAX_CONTACTS, sizeof *found.names);
    found.fates = carom_arena_take(&arena, CAROM_MAX_CONTACTS, sizeof *found.fates);
    carom_status status = arena.failed ? carom_fail_memory(error, "detected contacts") : CAROM_OK;
    for (int i = 0; !status && i < model->data->ncon; i++) status = add_contact(&found, &model->data->contact[i], error);
    if (!status) number_names(&found);
    if (!status) status = choose_contacts(&found, &arena, error);
    if (!status) status = warn_of_idle_pairs(&found, error);
    if (!status) status = model_warn_of_faces(model, found.touches, found.count, error);
    if (!status && detection->merge > 0) status = model_merge_patches(model, found.touches, &found.count, detection->merge, error);
    if (!status && found.ignores_torsion)
        status = model_warn(model, error,
                            "torsional and rolling friction of geoms (condim above 3) is left out: contacts have sliding friction only");
    if (!status) status = model_freeze_touches(model, found.touches, found.count, 2, MODEL_DROP_IDLE, detection, impact, error);
    carom_arena_free(&arena);
    return status;
}

carom_status carom_model_detect(carom_model *model, const carom_detection *detection, carom_impact **impact, carom_error *error) {
    if (!impact) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_detect: impact is NULL");
    *impact = NULL;
    const carom_detection defaults = carom_detection_defaults();
    if (!detection) detection = &defaults;
    const struct {
        const char *name;
        double length;
    } lengths[] = {{"margin", detection->margin}, {"merge", detection->merge}};
    for (int i = 0; i < 2; i++)
        if (!(lengths[i].length >= 0) || isinf(lengths[i].length))
            return carom_fail(error, CAROM_BAD_INPUT, "%s is %g: it is a finite length >= 0", lengths[i].name, lengths[i].length);
    model_clear_warnings(model);
    carom_status status = model_prepare_freeze(model, error);
    if (!status) status = model_find_contacts(model, detection->margin, error);
    return status ? status : model_freeze_found(model, detection, impact, error);
}
