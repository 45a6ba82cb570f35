// SPDX-License-Identifier: Apache-2.0
// Models without a scene: what a file is, and a state in which something collides.
//
// Each way to a state starts from the model's first keyframe, or from its initial position, and the first that lets a contact approach is
// taken: as it is, pushed down, lowered and pushed down, or with some pair of geoms that approaches by the least motion.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

// Speed of approach where the model gives none [m/s].
#define APPROACH_SPEED 1.0
// A contact can approach if the inverse mass along its normal is this share of the largest that a contact has in its directions together.
// Links that turn against each other, as the hulls at an arm's first joint, have next to none, and would need the speed of a bullet.
#define APPROACHING_SHARE 1e-4
// Shifts up to this are round-off of a model that touches as it is [m].
#define SHOWN_SHIFT 1e-9

// -------------------------------------------------------------------------------------------------------------- files

carom_model_file carom_model_recognise(const char *text) {
    static const char mark[] = "\xef\xbb\xbf";  // of UTF-8, which some editors write
    if (!strncmp(text, mark, strlen(mark))) text += strlen(mark);
    // YAML can begin with this, too, but seldom does, and then has no elements.
    if (text[strspn(text, " \t\r\n")] != '<') return CAROM_MODEL_FILE_NONE;
    xmlDoc *document;
    if (model_xml_parse(text, &document, NULL)) return CAROM_MODEL_FILE_NONE;
    const xmlNode *root = model_xml_first(document);
    carom_model_file kind = root ? CAROM_MODEL_FILE_XML : CAROM_MODEL_FILE_NONE;
    // The parser of HTML, for files that are not well-formed, wraps what it finds in elements of its own.
    while (root && (model_xml_is(root, "html") || model_xml_is(root, "body"))) root = model_xml_next(root);
    if (root && (model_xml_is(root, "mujoco") || model_xml_is(root, "robot"))) kind = CAROM_MODEL_FILE_MODEL;
    if (root && model_xml_is(root, "mujocoinclude")) kind = CAROM_MODEL_FILE_PART;
    if (document) xmlFreeDoc(document);
    return kind;
}

// ------------------------------------------------------------------------------------------------------------ attempts

// The state to which every way returns.
typedef struct kept_state {
    double *qpos, *qvel;
} kept_state;

static void put_back(carom_model *model, const kept_state *kept) {
    mju_copy(model->data->qpos, kept->qpos, model_count(model->compiled->nq));
    mju_copy(model->data->qvel, kept->qvel, model_count(model->compiled->nv));
}

static bool approaches(const carom_impact *impact, double *u) {
    carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, u);
    return carom_impact_velocity_scale(impact) != 0 && !carom_impact_terminated(impact, u);
}

// Detects contacts at the present state. Where geoms touch and their impact cannot be had, `reason` gets the first error that says why.
static carom_status detect(carom_model *model, carom_impact **impact, carom_error *reason) {
    carom_error inner;
    model->data->ncon = 0;
    const carom_status status = carom_model_detect(model, NULL, impact, &inner);
    if (status && model->data->ncon > 0 && !reason->status) *reason = inner;
    return status;
}

// The impact at the present state, if something approaches there. `*touches` says whether geoms touch at all.
static carom_impact *try_state(carom_model *model, bool *touches, carom_error *reason) {
    carom_impact *impact = NULL;
    *touches = !detect(model, &impact, reason) && model->touch_count > 0;
    double *u = impact ? malloc((size_t)carom_impact_contact_size(impact) * sizeof *u) : NULL;
    if (u && approaches(impact, u)) {
        free(u);
        return impact;
    }
    free(u);
    carom_impact_free(impact);
    return NULL;
}

// The first of the geoms' contacts that a motion brings together without much effort; -1 where none is.
static int find_approaching(const carom_model *model, const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int rows = 1 + data->tangent_dim, size = carom_impact_contact_size(impact);
    const double *delassus = carom_impact_delassus(impact);
    double largest = 0;
    for (int c = 0; c < data->contacts; c++) {
        double sum = 0;
        for (int k = 0; k < rows; k++) sum += delassus[(c * rows + k) * (size + 1)];
        largest = fmax(largest, sum);
    }
    for (int c = 0; c < data->contacts && c < model->touch_count; c++)
        if (delassus[c * rows * (size + 1)] > APPROACHING_SHARE * largest) return c;
    return -1;
}

// Lets a contact of an impact approach by a velocity in the direction M^-1 n', which has the least kinetic energy.
static carom_status add_approach(carom_model *model, const carom_impact *impact, int contact, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    double *zero = calloc((size_t)data->nv, sizeof *zero), *direction = calloc((size_t)data->nv, sizeof *direction);
    double *impulse = calloc((size_t)carom_impact_contact_size(impact), sizeof *impulse);
    carom_status status = zero && direction && impulse ? CAROM_OK : carom_fail_memory(error, "approach velocity");
    if (!status) {
        const double *normal = data->normal + (size_t)contact * (size_t)data->nv;
        impulse[contact * (1 + data->tangent_dim)] = 1;
        carom_impact_apply(impact, zero, impulse, direction);
        const double speed = mju_dot(normal, data->velocity, data->nv), gain = mju_dot(normal, direction, data->nv);
        mju_copy(model->data->qvel, data->velocity, data->nv);
        mju_addToScl(model->data->qvel, direction, -(APPROACH_SPEED + speed) / gain, data->nv);
    }
    free(zero);
    free(direction);
    free(impulse);
    return status;
}

// What a model forbids to collide, while every pair of geoms may.
typedef struct allowance {
    int *contype, *conaffinity;  // [ngeom]
    int flags;
} allowance;

static carom_status allow_all(carom_model *model, allowance *before, carom_error *error) {
    mjModel *compiled = model->compiled;
    const size_t count = (size_t)compiled->ngeom;
    *before = (allowance){calloc(count + 1, sizeof(int)), calloc(count + 1, sizeof(int)), compiled->opt.disableflags};
    if (!before->contype || !before->conaffinity) return carom_fail_memory(error, model->path);
    memcpy(before->contype, compiled->geom_contype, count * sizeof(int));
    memcpy(before->conaffinity, compiled->geom_conaffinity, count * sizeof(int));
    for (size_t i = 0; i < count; i++) compiled->geom_contype[i] = compiled->geom_conaffinity[i] = 1;
    model_gather_bits(compiled);
    compiled->opt.disableflags &= ~(mjDSBL_CONTACT | mjDSBL_CONSTRAINT);
    return CAROM_OK;
}

static void forbid_again(carom_model *model, allowance *before) {
    mjModel *compiled = model->compiled;
    const size_t count = (size_t)compiled->ngeom;
    if (before->contype && before->conaffinity) {
        memcpy(compiled->geom_contype, before->contype, count * sizeof(int));
        memcpy(compiled->geom_conaffinity, before->conaffinity, count * sizeof(int));
        model_gather_bits(compiled);
        compiled->opt.disableflags = before->flags;
    }
    free(before->contype);
    free(before->conaffinity);
}

// The impact of the contacts in the data as if they touched, one of them approaching.
static carom_impact *try_pair(carom_model *model) {
    const carom_detection detection = carom_detection_defaults();
    carom_impact *impact = NULL, *moving = NULL;
    for (int pass = 0; pass < 2; pass++) {
        model_clear_warnings(model);
        if (model_prepare_freeze(model, NULL) || model_freeze_found(model, &detection, pass ? &moving : &impact, NULL)) break;
        // Of a contact that no motion changes nothing is left but joints at their stops.
        if (!model->touch_count) break;
        const int contact = pass ? 0 : find_approaching(model, impact);
        if (contact < 0 || (!pass && add_approach(model, impact, contact, NULL))) break;
    }
    carom_impact_free(impact);
    return moving;
}

// Are these two geoms on two moving links of one robot? Its neighbours are often close, and their approach says nothing about the robot.
static bool are_links(const carom_model *model, const mjContact *pair) {
    const mjModel *compiled = model->compiled;
    const int bodies[2] = {compiled->geom_bodyid[pair->geom1], compiled->geom_bodyid[pair->geom2]};
    return model_weld(compiled, bodies[0]) && model_weld(compiled, bodies[1]) &&
           compiled->body_rootid[bodies[0]] == compiled->body_rootid[bodies[1]];
}

// The nearest pair that some motion brings together, of those that may collide, or else of all that are apart.
// @param reason  what else is wrong where none does
static carom_status approach_nearest(carom_model *model, char *story, size_t size, carom_impact **impact, const carom_error *reason,
                                     carom_error *error) {
    for (int all = 0; all < 2 && !*impact; all++) {
        mjContact nearest[MODEL_NEAREST];
        int count = 1;
        for (int i = 0; i < count && !*impact; i++) {
            allowance before = {0};
            carom_status status = model_prepare_freeze(model, error);
            if (!status && all) status = allow_all(model, &before, error);
            if (!status && i == 0) count = model_find_nearest(model, NULL, all ? 0 : -HUGE_VAL, nearest);
            const bool found = !status && i < count && model_narrow_to_pair(model, &nearest[i]);
            if (all) forbid_again(model, &before);
            if (status) return status;
            if (found) *impact = try_pair(model);
            if (!*impact) continue;
            char names[2][MODEL_GEOM_NAME_SIZE];
            model_name_geom(model, nearest[i].geom1, names[0]);
            model_name_geom(model, nearest[i].geom2, names[1]);
            if (are_links(model, &nearest[i])) {
                carom_impact_free(*impact);
                *impact = NULL;
                return carom_fail(
                    error, CAROM_BAD_INPUT,
                    "%s: nothing that this model could run into is near: the nearest geoms that can approach are those of two "
                    "of its own links, '%s' and '%s', %.4g m apart; write a scene that says where it touches: its 'state' and "
                    "its 'contacts', with 'ground' where it needs a floor",
                    model->path, names[0], names[1], nearest[i].dist);
            }
            snprintf(story, size, ", where '%s' and '%s', %.4g m apart, count as touching and approach at %g m/s%s", names[0], names[1],
                     nearest[i].dist, APPROACH_SPEED, all ? " (the model itself lets nothing collide)" : "");
        }
    }
    if (*impact) return CAROM_OK;
    if (reason->status) return carom_fail(error, reason->status, "%s", reason->message);
    return carom_fail(
        error, CAROM_BAD_INPUT,
        "%s: nothing collides in this model: nothing can be lowered, and no two of its geoms can approach each other; a scene "
        "file says where it touches, and 'root: free' in it lets a robot move that is welded to the world",
        model->path);
}

// ---------------------------------------------------------------------------------------------------------- bare models

// The first keyframe, or the initial position.
static carom_status take_first_state(carom_model *model, char *story, size_t size, carom_error *error) {
    const mjModel *compiled = model->compiled;
    char name[MODEL_LABEL_SIZE];
    if (compiled->nkey) model_write_name(model, mjOBJ_KEY, 0, "number ", name, sizeof name);
    if (!compiled->nkey) snprintf(story, size, "the state is the model's initial position");
    if (compiled->nkey) snprintf(story, size, "the state is the model's first keyframe, '%s'", name);
    return compiled->nkey ? model_set_keyframe(model, 0, error) : CAROM_OK;
}

// Lowers and pushes. Something that touches in a keyframe stays where it is.
static carom_impact *try_below(carom_model *model, bool touches, const kept_state *kept, char *story, size_t size, bool *lacks_ground,
                               carom_error *reason) {
    carom_impact *impact = NULL;
    if (model_push_down(model, APPROACH_SPEED, NULL)) return NULL;
    if (touches && (impact = try_state(model, &touches, reason))) {
        snprintf(story, size, ", with %g m/s downwards", APPROACH_SPEED);
        return impact;
    }
    double shift;
    *lacks_ground = carom_model_lower(model, NULL, &shift, NULL) != CAROM_OK;
    if (!*lacks_ground) impact = try_state(model, &touches, reason);
    if (impact) {
        char moved[MODEL_LABEL_SIZE] = "";
        if (fabs(shift) > SHOWN_SHIFT)
            snprintf(moved, sizeof moved, ", %s by %.4g m until it touches", shift < 0 ? "raised" : "lowered", fabs(shift));
        snprintf(story, size, "%s, with %g m/s downwards", moved, APPROACH_SPEED);
    } else
        put_back(model, kept);
    return impact;
}

carom_status carom_model_freeze_bare(carom_model *model, bool any, carom_model_start *start, carom_impact **impact, carom_error *error) {
    *impact = NULL;
    *start = (carom_model_start){.lacks_ground = false};
    char *story = start->story;
    carom_status status = take_first_state(model, story, sizeof start->story, error);
    if (status) return status;
    const size_t nq = (size_t)model->compiled->nq, nv = (size_t)model->compiled->nv;
    carom_arena arena = {0};
    const kept_state kept = {carom_arena_take(&arena, nq, sizeof(double)), carom_arena_take(&arena, nv, sizeof(double))};
    if (arena.failed) return carom_fail_memory(error, model->path);
    mju_copy(kept.qpos, model->data->qpos, (int)nq);
    mju_copy(kept.qvel, model->data->qvel, (int)nv);

    const size_t used = strlen(story), left = sizeof start->story - used;
    bool touches = false;
    carom_error reason = {.status = CAROM_OK};
    if (model->compiled->nkey) *impact = try_state(model, &touches, &reason);
    if (!*impact) *impact = try_below(model, touches, &kept, story + used, left, &start->lacks_ground, &reason);
    start->lacks_ground = start->lacks_ground && !*impact && !any;
    if (!*impact && !start->lacks_ground) {
        // What touches approaches, or else what is nearest.
        carom_impact *still = NULL;
        const int contact = detect(model, &still, &reason) ? -1 : find_approaching(model, still);
        if (contact >= 0 && !add_approach(model, still, contact, NULL)) {
            snprintf(story + used, left, ", where '%s' approaches at %g m/s", carom_impact_get_data(still)->names[contact], APPROACH_SPEED);
            status = carom_model_detect(model, NULL, impact, error);
        } else {
            status = approach_nearest(model, story + used, left, impact, &reason, error);
        }
        carom_impact_free(still);
    }
    carom_arena_free(&arena);
    return status;
}
