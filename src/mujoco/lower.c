// SPDX-License-Identifier: Apache-2.0
// Lowering a robot along gravity until it touches.
//
// Only the joint that carries the robot moves, so that every geom of the robot keeps its direction and shifts by s u, where u points down
// and s counts from the state. The distance of two convex geoms is a convex function of s that falls by at most 1 for each unit of s: steps
// of a lower bound of the distance never pass the first touch (conservative advancement). Distances come from MuJoCo's own collision
// functions, pair by pair, so that what touches here touches in a detection, too.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/suggest.h"
#include "mujoco/mujoco_internal.h"

// A touch is found to this share of the size of the two geoms and of their places: round-off of MuJoCo's coordinates is a little less.
#define TOUCH_TOLERANCE 1e-12
// A slide whose direction is along gravity to this carries the robot up and down [rad]; axes in files are rounded.
#define ALONG_GRAVITY 1e-3

enum {
    MOST_STEPS = 100000,     // of one pair of geoms that graze each other; others take some ten
    COLLISION_STEPS = 1000,  // of MuJoCo's convex collision: far more than polyhedra need, because its tolerance is tightened here
    NAME_SIZE = 64,
};

// What is lowered, and how far.
typedef struct lowering {
    const carom_model *model;
    mjModel *compiled;
    mjData *data;
    int joint;       // that carries the robot
    int root;        // its body
    int geom, site;  // the target; both -1: every geom of the robot
    double down[3];  // unit vector along which the joint moves the robot down
    double shift;    // the answer [m]; infinite where nothing is below
    int candidates;  // geoms that the target may touch
    int nearest[2];  // the closest pair of them by their bounding spheres
    double gap;      // and its distance
} lowering;

// ------------------------------------------------------------------------------------------------------ what is lowered

// Is `body` the root of what is lowered, or carried by it?
static bool is_carried(const lowering *l, int body) {
    while (body > l->root) body = l->compiled->body_parentid[body];
    return body == l->root;
}

// Does this joint move its whole tree up and down? The direction is written into `down`.
static bool carries_tree(const carom_model *model, int joint, const double gravity[3], double down[3]) {
    const mjModel *compiled = model->compiled;
    for (int body = compiled->body_parentid[compiled->jnt_bodyid[joint]]; body; body = compiled->body_parentid[body])
        if (compiled->body_jntnum[body]) return false;
    mju_copy3(down, gravity);
    if (compiled->jnt_type[joint] != mjJNT_SLIDE) return compiled->jnt_type[joint] == mjJNT_FREE;
    const double *axis = model->data->xaxis + 3 * joint;
    const double cosine = mju_dot3(axis, gravity);
    mju_scl3(down, axis, cosine < 0 ? -1 : 1);
    double across[3];
    mju_addScl3(across, axis, gravity, -cosine);
    return mju_norm3(across) < ALONG_GRAVITY;
}

static void offer_names(const carom_model *model, int type, int count, carom_suggestion *suggestion) {
    for (int i = 0; i < count; i++) {
        const char *name = mj_id2name(model->compiled, type, i);
        if (name && *name) carom_suggestion_offer(suggestion, name);
    }
}

// The joint that carries the target; without one the first free joint, or else the first slide.
static carom_status find_root(const carom_model *model, const char *target, lowering *l, carom_error *error) {
    const mjModel *compiled = model->compiled;
    double gravity[3];
    if (!model_normalise(compiled->opt.gravity, gravity))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the model has no gravity, so that nothing says which way is down", model->path);
    l->geom = target ? mj_name2id(compiled, mjOBJ_GEOM, target) : -1;
    l->site = target && l->geom < 0 ? mj_name2id(compiled, mjOBJ_SITE, target) : -1;
    if (target && l->geom < 0 && l->site < 0) {
        carom_suggestion near = {.wanted = target};
        char phrase[CAROM_SUGGESTION_SIZE];
        carom_suggestion_offer(&near, "ground");
        offer_names(model, mjOBJ_GEOM, model_count(compiled->ngeom), &near);
        offer_names(model, mjOBJ_SITE, model_count(compiled->nsite), &near);
        return carom_fail(error, CAROM_BAD_INPUT, "there is neither a geom nor a site called '%s' in %s%s", target, model->path,
                          carom_suggestion_phrase(&near, phrase));
    }
    const int body = l->geom >= 0 ? compiled->geom_bodyid[l->geom] : l->site >= 0 ? compiled->site_bodyid[l->site] : 0;

    static const int types[] = {mjJNT_FREE, mjJNT_SLIDE};
    for (int i = 0; i < 2; i++)
        for (l->joint = 0; l->joint < compiled->njnt; l->joint++) {
            l->root = compiled->jnt_bodyid[l->joint];
            if (compiled->jnt_type[l->joint] == types[i] && carries_tree(model, l->joint, gravity, l->down) &&
                (!target || is_carried(l, body)))
                return CAROM_OK;
        }
    if (target)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: '%s' cannot be lowered: no free joint, nor a slide along gravity, carries it",
                          model->path, target);
    return carom_fail(
        error, CAROM_BAD_INPUT,
        "%s: nothing can be lowered: the model has neither a free joint nor a slide along gravity at its root; a scene's 'root: "
        "free' gives it a free joint",
        model->path);
}

// --------------------------------------------------------------------------------------------------------------- pairs

// May MuJoCo let these two geoms collide? It takes listed pairs, and others by their bits unless their bodies are excluded. Its rule for
// bodies and their parents needs no look here: one of the two is not carried by the root.
static bool may_touch(const mjModel *compiled, int first, int second) {
    for (int i = 0; i < compiled->npair; i++) {
        const int a = compiled->pair_geom1[i], b = compiled->pair_geom2[i];
        if ((a == first && b == second) || (a == second && b == first)) return true;
    }
#if mjVERSION_HEADER < 300
    if (compiled->opt.collision == mjCOL_PAIR) return false;
#endif
    for (int i = 0; i < compiled->nexclude; i++)
        if (model_excludes(compiled, i, compiled->geom_bodyid[first], compiled->geom_bodyid[second])) return false;
    return (compiled->geom_contype[first] & compiled->geom_conaffinity[second]) ||
           (compiled->geom_contype[second] & compiled->geom_conaffinity[first]);
}

// Signed distance of two geoms after a shift, below zero where they penetrate; infinite where it is at least `margin`.
static double measure(lowering *l, int mover, int obstacle, double shift, double margin) {
    const bool faces = l->compiled->geom_type[mover] == mjGEOM_MESH && l->compiled->geom_type[obstacle] == mjGEOM_PLANE;
    double *place = l->data->geom_xpos + 3 * mover, home[3];
    mju_copy3(home, place);
    mju_addToScl3(place, l->down, shift);
    const double distance = faces ? model_measure_mesh(l->model, l->data, obstacle, mover)
                                  : model_measure_distance(l->compiled, l->data, mover, obstacle, margin);
    mju_copy3(place, home);
    return distance < margin ? distance : HUGE_VAL;
}

// The first shift in [from, to] at which two geoms, apart at `from`, touch; infinite where they pass each other.
static double trace(lowering *l, int mover, int obstacle, double from, double to, double tolerance) {
    double shift = from, margin = fmax(to - from, tolerance);
    for (int i = 0; i < MOST_STEPS && shift <= to; i++) {
        const double distance = measure(l, mover, obstacle, shift, margin);
        if (distance >= margin && distance > tolerance) {
            shift += margin;
            margin *= 2;
        } else if (distance > tolerance) {
            shift += distance;
        } else if (margin > tolerance) {
            // At this margin the bound is too weak, or the geoms touch.
            margin = fmax(margin / 4, tolerance);
        } else {
            return shift;
        }
    }
    return shift <= to ? shift : HUGE_VAL;
}

// The shifts between which the bounding spheres of two geoms overlap; false where they never do.
static bool find_overlap(const lowering *l, int mover, int obstacle, double *from, double *to) {
    // |w + s u| = r
    double w[3];
    mju_sub3(w, l->data->geom_xpos + 3 * mover, l->data->geom_xpos + 3 * obstacle);
    const double r = l->compiled->geom_rbound[mover] + l->compiled->geom_rbound[obstacle], along = mju_dot3(w, l->down);
    double across[3];
    mju_addScl3(across, w, l->down, -along);
    const double gap = mju_norm3(across) - r;
    if (gap > 0) return false;
    const double half = sqrt(-gap * (mju_norm3(across) + r));
    *from = -along - half;
    *to = -along + half;
    return true;
}

static double pair_tolerance(const lowering *l, int mover, int obstacle) {
    return TOUCH_TOLERANCE * (l->compiled->geom_rbound[mover] + l->compiled->geom_rbound[obstacle] +
                              mju_norm3(l->data->geom_xpos + 3 * mover) + mju_norm3(l->data->geom_xpos + 3 * obstacle));
}

// The shift at which a geom touches the upper side of a plane; infinite where moving down does not lead to that side.
static double reach_plane(lowering *l, int mover, int plane) {
    const double *matrix = l->data->geom_xmat + 9 * plane, normal[3] = {matrix[2], matrix[5], matrix[8]};
    const double slope = -mju_dot3(normal, l->down);
    double w[3];
    mju_sub3(w, l->data->geom_xpos + 3 * mover, l->data->geom_xpos + 3 * plane);
    const double margin = 2 * (mju_norm3(w) + l->compiled->geom_rbound[mover]) + 1;
    // Gravity that is parallel to a wall leads past it.
    return slope > ALONG_GRAVITY ? measure(l, mover, plane, 0, margin) / slope : HUGE_VAL;
}

// The first touch of a pair: from the start on, or from above where the two penetrate after a shift of `start`.
static double find_touch(lowering *l, int mover, int obstacle, double start, bool above) {
    if (l->compiled->geom_type[obstacle] == mjGEOM_PLANE) {
        const double touch = reach_plane(l, mover, obstacle);
        return above || touch >= start - pair_tolerance(l, mover, obstacle) ? touch : HUGE_VAL;
    }
    double from, to;
    if (!find_overlap(l, mover, obstacle, &from, &to)) return HUGE_VAL;
    if (!above) from = fmax(from, start);
    return from <= to ? trace(l, mover, obstacle, from, to, pair_tolerance(l, mover, obstacle)) : HUGE_VAL;
}

// --------------------------------------------------------------------------------------------------------------- search

// Is this pair one of a geom that is lowered and one that stays, which MuJoCo lets collide?
static bool is_pair(const lowering *l, int mover, int obstacle) {
    const mjModel *compiled = l->compiled;
    if (l->geom >= 0 && mover != l->geom) return false;
    if (!is_carried(l, compiled->geom_bodyid[mover]) || is_carried(l, compiled->geom_bodyid[obstacle])) return false;
    const int types[2] = {compiled->geom_type[mover], compiled->geom_type[obstacle]};
    return types[0] != mjGEOM_PLANE && model_can_collide(types[0], types[1]) && may_touch(compiled, mover, obstacle);
}

static void note_nearest(lowering *l, int mover, int obstacle) {
    double w[3];
    mju_sub3(w, l->data->geom_xpos + 3 * mover, l->data->geom_xpos + 3 * obstacle);
    const double gap = mju_norm3(w) - l->compiled->geom_rbound[mover] - l->compiled->geom_rbound[obstacle];
    if (!l->candidates++ || gap < l->gap) {
        l->gap = gap;
        l->nearest[0] = mover;
        l->nearest[1] = obstacle;
    }
}

// Raises the robot out of what it penetrates, or else lowers it to the first touch.
static void find_shift_of_geoms(lowering *l) {
    const int count = model_count(l->compiled->ngeom);
    // Out of one obstacle may be into the next: until no pair penetrates. Each pass leaves at least one pair for good.
    double shift = 0;
    bool penetrates = true, raised = false;
    for (int pass = 0; penetrates && pass < count; pass++) {
        penetrates = false;
        for (int mover = 0; mover < count; mover++)
            for (int obstacle = 0; obstacle < count; obstacle++) {
                if (!is_pair(l, mover, obstacle)) continue;
                if (!pass) note_nearest(l, mover, obstacle);
                const double tolerance = pair_tolerance(l, mover, obstacle);
                if (measure(l, mover, obstacle, shift, tolerance) >= -2 * tolerance) continue;
                const double touch = find_touch(l, mover, obstacle, shift, true);
                penetrates = penetrates || touch < shift;
                shift = fmin(shift, touch);
            }
        raised = raised || penetrates;
    }
    l->shift = raised ? shift : HUGE_VAL;
    for (int mover = 0; !raised && mover < count; mover++)
        for (int obstacle = 0; obstacle < count; obstacle++)
            if (is_pair(l, mover, obstacle)) l->shift = fmin(l->shift, find_touch(l, mover, obstacle, 0, false));
}

// Distance from a point to a geom along a ray; below zero where the ray misses it.
static double cast_ray(const lowering *l, int geom, const double from[3], const double along[3]) {
    if (l->compiled->geom_type[geom] != mjGEOM_PLANE) return model_cast_ray(l->compiled, l->data, geom, from, along);
    // Planes have no edge here, as in collisions, and are seen from both sides.
    const double *rotation = l->data->geom_xmat + 9 * geom, normal[3] = {rotation[2], rotation[5], rotation[8]};
    double w[3];
    mju_sub3(w, l->data->geom_xpos + 3 * geom, from);
    return fabs(mju_dot3(normal, along)) > ALONG_GRAVITY ? mju_dot3(w, normal) / mju_dot3(along, normal) : -1;
}

// A site is a point: it falls along a ray. Where a ray back up and one down both meet a geom, the point is inside.
static void find_shift_of_site(lowering *l) {
    const double *point = l->data->site_xpos + 3 * l->site;
    double up[3], deepest = 0;
    mju_scl3(up, l->down, -1);
    l->shift = HUGE_VAL;
    for (int geom = 0; geom < l->compiled->ngeom; geom++) {
        const bool collides = l->compiled->geom_contype[geom] || l->compiled->geom_conaffinity[geom];
        if (!collides || is_carried(l, l->compiled->geom_bodyid[geom])) continue;
        l->candidates++;
        const double below = cast_ray(l, geom, point, l->down), above = cast_ray(l, geom, point, up);
        const bool half_space = l->compiled->geom_type[geom] == mjGEOM_PLANE;
        const double *rotation = l->data->geom_xmat + 9 * geom, normal[3] = {rotation[2], rotation[5], rotation[8]};
        if (half_space && mju_dot3(normal, l->down) >= 0) continue;
        if (above > 0 && (half_space || below >= 0)) deepest = fmax(deepest, above);
        if (below >= 0) l->shift = fmin(l->shift, below);
    }
    if (deepest > 0) l->shift = -deepest;
}

// A guarded call.
static void find_shift(void *argument) {
    lowering *l = argument;
    if (l->site >= 0)
        find_shift_of_site(l);
    else
        find_shift_of_geoms(l);
}

// MuJoCo's convex collision stops at a tolerance of its own, a micrometre: a finer one while geoms are lowered.
static carom_status find_shift_finely(lowering *l, carom_error *error) {
    const model_precision own = model_set_precision(l->compiled, (model_precision){TOUCH_TOLERANCE, COLLISION_STEPS});
    const carom_status status = model_guard_call(find_shift, l, error);
    model_set_precision(l->compiled, own);
    return status;
}

// A guarded call: where everything is at the state.
static void compute_places(void *argument) {
    const carom_model *model = argument;
    mj_kinematics(model->compiled, model->data);
}

carom_status carom_model_lower(carom_model *model, const char *target, double *shift, carom_error *error) {
    if (shift) *shift = 0;
    if (!model) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_lower: model is NULL");
    lowering l = {.model = model, .compiled = model->compiled, .data = model->data};
    carom_status status = model_guard_call(compute_places, model, error);
    if (!status) status = find_root(model, target, &l, error);
    if (!status) status = find_shift_finely(&l, error);
    if (status) return status;

    char what[NAME_SIZE];
    model_write_name(model, mjOBJ_BODY, l.root, "body", what, sizeof what);
    if (target) snprintf(what, sizeof what, "%s", target);
    bool collides = l.site >= 0;
    for (int geom = 0; geom < model_count(l.compiled->ngeom) && !collides; geom++)
        collides = (l.geom < 0 || l.geom == geom) && is_carried(&l, l.compiled->geom_bodyid[geom]) &&
                   (l.compiled->geom_contype[geom] || l.compiled->geom_conaffinity[geom]);
    if (!l.candidates && !collides)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: '%s' can touch nothing: it has no geom that collides (by contype and conaffinity)",
                          model->path, what);
    if (!l.candidates)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: there is no ground: no geom of the model can touch '%s'; a scene's 'ground: true' adds a floor", model->path,
                          what);
    if (isinf(l.shift) && l.site >= 0)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: there is no geom below '%s'; a scene's 'ground: true' adds a floor", model->path,
                          what);
    if (isinf(l.shift)) {
        char names[2][NAME_SIZE];
        for (int i = 0; i < 2; i++) model_write_name(model, mjOBJ_GEOM, l.nearest[i], "geom", names[i], sizeof names[i]);
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: there is nothing below '%s' that it can touch: the nearest, '%s', is not in its way; a "
                          "scene's 'ground: true' adds a floor",
                          model->path, what, names[1]);
    }
    // A free joint has its position in world axes; a slide has a length along its axis.
    double *position = model->data->qpos + model->compiled->jnt_qposadr[l.joint];
    if (model->compiled->jnt_type[l.joint] == mjJNT_FREE)
        mju_addToScl3(position, l.down, l.shift);
    else
        *position += l.shift * mju_dot3(model->data->xaxis + 3 * l.joint, l.down);
    if (shift) *shift = l.shift;
    return CAROM_OK;
}

carom_status model_push_down(carom_model *model, double speed, carom_error *error) {
    lowering l = {.model = model, .compiled = model->compiled, .data = model->data};
    carom_status status = model_guard_call(compute_places, model, error);
    if (!status) status = find_root(model, NULL, &l, error);
    if (status) return status;
    double *velocity = model->data->qvel + model->compiled->jnt_dofadr[l.joint];
    if (model->compiled->jnt_type[l.joint] == mjJNT_FREE)
        mju_addToScl3(velocity, l.down, speed);
    else
        *velocity += speed * mju_dot3(model->data->xaxis + 3 * l.joint, l.down);
    return CAROM_OK;
}
