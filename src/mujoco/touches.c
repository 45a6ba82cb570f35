// SPDX-License-Identifier: Apache-2.0
// A model in motion: the contacts, stops and equality constraints at a position.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mechanism.h"

// Contacts of the same two bodies whose Jacobians differ by less than this, relative to the largest entry, are one: corners that pairs of
// geoms share, and in a planar scene points that differ across the plane.
#define EQUAL_TOLERANCE 1e-9

carom_status model_make_touch_room(mechanism_work *work, int touches, carom_error *error) {
    if (touches <= work->touch_room) return CAROM_OK;
    // Half as much again, so that a growing pile does not allocate at every step.
    const size_t nv = (size_t)work->mechanism->base.nv, room = (size_t)touches + (size_t)touches / 2, count = (size_t)work->count;
    carom_arena grown = {0};
    carom_touch *list = carom_arena_take(&grown, room, sizeof *list);
    carom_touch *idle = carom_arena_take(&grown, room, sizeof *idle);
    int(*bodies)[2] = carom_arena_take(&grown, room, sizeof *bodies);
    double *normal = carom_arena_take(&grown, room * nv, sizeof *normal);
    double *tangent = carom_arena_take(&grown, 2 * room * nv, sizeof *tangent);
    work->order = carom_arena_take(&grown, room, sizeof *work->order);
    work->rows = carom_arena_take(&grown, 3 * nv, sizeof *work->rows);
    work->first = carom_arena_take(&grown, 3 * nv, sizeof *work->first);
    work->second = carom_arena_take(&grown, 3 * nv, sizeof *work->second);
    if (work->idle_count && !grown.failed) memcpy(idle, work->idle, (size_t)work->idle_count * sizeof *idle);
    work->idle = idle;
    if (count && !grown.failed) {
        memcpy(list, work->touches, count * sizeof *list);
        memcpy(bodies, work->bodies, count * sizeof *bodies);
        memcpy(normal, work->normal, count * nv * sizeof *normal);
        memcpy(tangent, work->tangent, 2 * count * nv * sizeof *tangent);
    }
    work->touches = list;
    work->bodies = bodies;
    work->normal = normal;
    work->tangent = tangent;
    carom_arena_free(&work->arena);
    work->arena = grown;
    work->touch_room = grown.failed ? 0 : (int)room;
    return grown.failed ? carom_fail_memory(error, work->mechanism->model->path) : CAROM_OK;
}

// A guarded call: positions, and the rows of the equality constraints. Stops and dry friction are switched off in this copy of the model.
static void find_equations(void *argument) {
    mechanism_work *work = argument;
    for (int i = 0; i < mjNWARNING; i++) work->data->warning[i].number = 1;
    model_compute_motion(work);
    if (work->compiled->neq) mj_makeConstraint(work->compiled, work->data);
}

// A guarded call: contacts closer than the margin.
static void find_contacts(void *argument) {
    mechanism_work *work = argument;
    model_set_margins(work->compiled, work->margin);
    mj_collision(work->compiled, work->data);
    model_tidy_contacts(work->compiled, work->data);
    model_complete_faces(work->mechanism->model, work->compiled, work->data, work->margin);
}

// Copies the rows that MuJoCo has written, which share their memory with contacts.
static carom_status take_equations(mechanism_work *work, carom_error *error) {
    mjData *data = work->data;
    const int nv = work->mechanism->base.nv;
    const size_t rows = (size_t)data->nefc;
    if (data->nefc > work->equation_room) {
        carom_arena_free(&work->equation_arena);
        work->residual = carom_arena_take(&work->equation_arena, rows, sizeof *work->residual);
        work->equation = carom_arena_take(&work->equation_arena, rows * (size_t)nv, sizeof *work->equation);
        work->equation_room = work->equation_arena.failed ? 0 : data->nefc;
        if (work->equation_arena.failed) return carom_fail_memory(error, work->mechanism->model->path);
    }
    const int *columns = mj_isSparse(work->compiled) ? data->efc_J_colind : NULL;
    work->equations = data->nefc;
    for (int i = 0; i < work->equations; i++) {
        work->residual[i] = data->efc_pos[i];
        model_copy_row(nv, data->efc_J, i, data->efc_J_rownnz, data->efc_J_rowadr, columns, work->equation + i * nv);
    }
    data->nefc = 0;
    return CAROM_OK;
}

// Adds a contact with its rows, directions (J2 - J1), unless no motion changes its gap, or it repeats one.
static void add_contact(mechanism_work *work, const carom_touch *found, const int bodies[2]) {
    const mjModel *compiled = work->compiled;
    const mjData *data = work->data;
    const int nv = work->mechanism->base.nv;
    const size_t columns = (size_t)nv;
    mj_jac(compiled, data, work->first, NULL, found->point, bodies[0]);
    mj_jac(compiled, data, work->second, NULL, found->point, bodies[1]);
    const double scale = fmax(carom_max_abs(3 * columns, work->first), carom_max_abs(3 * columns, work->second));
    mju_subFrom(work->second, work->first, 3 * nv);
    mju_mulMatMat(work->rows, found->axes[0], work->second, 3, 3, nv);
    for (int k = 0; k < 3; k++) {
        double *row = work->rows + k * nv;
        const bool moves = carom_max_abs(columns, row) > MODEL_ZERO_TOLERANCE * scale;
        if (!moves && k == 0 && found->gap < 0) work->idle[work->idle_count++] = *found;
        if (!moves && k == 0) return;
        if (!moves) mju_zero(row, nv);
    }
    // Of contacts that are one, the first stands for all, with the least gap and the largest friction.
    int ordinal = 0;
    const double limit = EQUAL_TOLERANCE * carom_max_abs(3 * columns, work->rows);
    for (int i = 0; i < work->count; i++) {
        carom_touch *other = &work->touches[i];
        if (other->first == found->first && other->second == found->second) ordinal = other->ordinal + 1;
        if (work->bodies[i][0] != bodies[0] || work->bodies[i][1] != bodies[1]) continue;
        const double *parts[2] = {work->normal + (size_t)i * columns, work->tangent + 2 * (size_t)i * columns};
        bool equal = true;
        for (int j = 0; j < nv && equal; j++) equal = fabs(parts[0][j] - work->rows[j]) <= limit;
        for (int j = 0; j < 2 * nv && equal; j++) equal = fabs(parts[1][j] - work->rows[nv + j]) <= limit;
        if (!equal) continue;
        other->gap = fmin(other->gap, found->gap);
        other->friction = fmax(other->friction, found->friction);
        other->restitution = fmax(other->restitution, found->restitution);
        return;
    }
    const size_t at = (size_t)work->count++;
    work->touches[at] = *found;
    work->touches[at].ordinal = ordinal;
    work->bodies[at][0] = bodies[0];
    work->bodies[at][1] = bodies[1];
    mju_copy(work->normal + at * columns, work->rows, nv);
    mju_copy(work->tangent + 2 * at * columns, work->rows + nv, 2 * nv);
}

void model_name_touch(const void *self, const carom_touch *touch, char *name, size_t size) {
    const model_mechanism *mechanism = self;
    const carom_model *model = mechanism->model;
    if (touch->kind == CAROM_TOUCH_LIMIT) {
        const int joints = model_count(model->compiled->njnt);
        const bool tendon = touch->first >= joints;
        char label[MODEL_LABEL_SIZE];
        model_name_limit(model, &(model_limit){tendon ? mjOBJ_TENDON : mjOBJ_JOINT, tendon ? touch->first - joints : touch->first, 1},
                         label);
        snprintf(name, size, "%s", label);
        return;
    }
    char base[MODEL_PAIR_NAME_SIZE];
    if (touch->first < 0) {
        snprintf(name, size, "%s", mechanism->listed.names[touch->second]);
        return;
    }
    // Two geoms touch at one point where one of them is round on all sides; otherwise their points are numbered.
    model_name_pair(model, (const int[]){touch->first, touch->second}, base);
    const int types[2] = {model->compiled->geom_type[touch->first], model->compiled->geom_type[touch->second]};
    bool round = false;
    for (int side = 0; side < 2; side++) round = round || types[side] == mjGEOM_SPHERE || types[side] == mjGEOM_ELLIPSOID;
    if (round && !touch->ordinal)
        snprintf(name, size, "%s", base);
    else
        snprintf(name, size, "%s:%d", base, touch->ordinal + 1);
}

void model_advise_on_overlap(const void *self, const carom_touch *touch, char *text, size_t size) {
    const model_mechanism *mechanism = self;
    const mjModel *compiled = mechanism->model->compiled;
    char names[2][MODEL_LABEL_SIZE];
    *text = '\0';
    if (touch->first < 0) return;
    const int bodies[2] = {compiled->geom_bodyid[touch->first], compiled->geom_bodyid[touch->second]};
    const int root = compiled->body_rootid[bodies[0]];
    if (!root || root != compiled->body_rootid[bodies[1]]) return;
    bool unnamed = false;
    for (int side = 0; side < 2; side++) {
        const char *given = mj_id2name(compiled, mjOBJ_BODY, bodies[side]);
        unnamed = unnamed || !given || !*given;
        model_write_name(mechanism->model, mjOBJ_BODY, bodies[side], "body", names[side], sizeof names[side]);
    }
    snprintf(text, size,
             "links '%s' and '%s' of one robot overlap there; if they are meant to, exclude the pair in the model: "
             "<contact><exclude body1=\"%s\" body2=\"%s\"/></contact>%s, or all contacts of the robot with itself in the scene: "
             "contacts: {detect: true, self: false}",
             names[0], names[1], names[0], names[1], unnamed ? " (once these bodies have these names)" : "");
}

// Half the thickness of a geom; infinite for planes and height fields, which are thick.
static double find_half_thickness(const mjModel *compiled, int geom) {
    const double *size = compiled->geom_size + 3 * geom;
    switch (compiled->geom_type[geom]) {
    case mjGEOM_SPHERE:
    case mjGEOM_CAPSULE: return size[0];
    case mjGEOM_CYLINDER: return fmin(size[0], size[1]);
    case mjGEOM_BOX:
    case mjGEOM_ELLIPSOID:
    case mjGEOM_MESH: return fmin(size[0], fmin(size[1], size[2]));
    default: return HUGE_VAL;
    }
}

// Does the scene's choice of contacts leave out the one that was added last?
static bool is_left_out(const mechanism_work *work) {
    const model_mechanism *mechanism = work->mechanism;
    const carom_touch *touch = &work->touches[work->count - 1];
    char name[2 * MODEL_LABEL_SIZE];
    model_name_touch(mechanism, touch, name, sizeof name);
    const model_fate fate = model_judge_pair(mechanism->model, &mechanism->detection, (const int[]){touch->first, touch->second});
    return model_judge_name(&mechanism->detection, fate, name) != MODEL_KEPT;
}

static bool touches_field(const mjModel *compiled, const mjContact *contact) {
    return !model_touches_flex(contact) &&
           (compiled->geom_type[contact->geom1] == mjGEOM_HFIELD || compiled->geom_type[contact->geom2] == mjGEOM_HFIELD);
}

// Contacts that MuJoCo found, by their geoms, those with height fields or the others; points of a pair stay in their order.
static carom_status add_detected(mechanism_work *work, bool with_fields, carom_error *error) {
    const model_mechanism *mechanism = work->mechanism;
    const mjContact *contacts = work->data->contact;
    const int found = work->data->ncon;
    for (int i = 0; i < found; i++) {
        int place = i;
        for (; place > 0; place--) {
            const mjContact *before = &contacts[work->order[place - 1]];
            const bool after =
                before->geom1 > contacts[i].geom1 || (before->geom1 == contacts[i].geom1 && before->geom2 > contacts[i].geom2);
            if (!after) break;
            work->order[place] = work->order[place - 1];
        }
        work->order[place] = i;
    }
    for (int i = 0; i < found; i++) {
        const mjContact *contact = &contacts[work->order[i]];
        if (mechanism->has_fields && touches_field(work->compiled, contact) != with_fields) continue;
        model_touch touch;
        const carom_status status = model_read_contact(mechanism->model, &mechanism->detection, contact, &touch, error);
        if (status) return status;
        carom_touch added = {
            .kind = CAROM_TOUCH_CONTACT,
            .first = touch.geom[0],
            .second = touch.geom[1],
            .gap = contact->dist,
            .friction = touch.friction,
            .restitution = touch.restitution,
            .size = fmin(find_half_thickness(work->compiled, touch.geom[0]), find_half_thickness(work->compiled, touch.geom[1]))};
        if (isinf(added.size)) added.size = 0;
        mju_copy3(added.point, touch.meeting);
        mju_copy3(added.axes[0], touch.normal);
        for (int k = 0; k < 2; k++) mju_copy3(added.axes[1 + k], touch.tangent[k]);
        const int before = work->count;
        add_contact(work, &added, touch.body);
        if (mechanism->filters && work->count > before && is_left_out(work)) work->count--;
    }
    return CAROM_OK;
}

static void add_listed(mechanism_work *work) {
    const model_mechanism *mechanism = work->mechanism;
    for (int i = 0; i < mechanism->listed.count; i++) {
        const model_plane_contact *contact = &mechanism->listed.contact[i];
        carom_touch added = {.kind = CAROM_TOUCH_CONTACT,
                             .first = -1,
                             .second = i,
                             .friction = mechanism->listed.friction[i],
                             .restitution = mechanism->listed.restitution[i],
                             .size = contact->radius};
        mju_rotVecMat(added.point, contact->point, work->data->xmat + 9 * contact->body);
        mju_addTo3(added.point, work->data->xpos + 3 * contact->body);
        mju_addToScl3(added.point, contact->normal, -contact->radius);
        added.gap = mju_dot3(contact->normal, added.point) - contact->offset;
        if (!(added.gap < work->margin)) continue;
        mju_copy3(added.axes[0], contact->normal);
        for (int k = 0; k < 2; k++) mju_copy3(added.axes[1 + k], contact->tangent[k]);
        add_contact(work, &added, (const int[]){0, contact->body});
    }
}

// Joints, then tendons near an end of their range.
static void add_limits(mechanism_work *work) {
    const model_mechanism *mechanism = work->mechanism;
    const mjModel *compiled = work->compiled;
    const int joints = model_count(compiled->njnt), tendons = model_count(compiled->ntendon);
    const size_t nv = (size_t)mechanism->base.nv;
    for (int i = 0; i < joints + tendons; i++) {
        if (!mechanism->takes_limit[i]) continue;
        for (int end = 0; end < 2; end++) {
            const bool tendon = i >= joints;
            const model_limit limit = {tendon ? mjOBJ_TENDON : mjOBJ_JOINT, tendon ? i - joints : i, end ? -1 : 1};
            const model_limit_end measured = model_measure_limit(compiled, work->data, &limit);
            if (!measured.exists || !(measured.distance < work->margin)) continue;
            const size_t at = (size_t)work->count;
            double *row = work->normal + at * nv;
            model_fill_limit_row(compiled, work->data, &limit, row);
            // No motion changes the length of a tendon between points that do not move, or that is straight at its shortest.
            if (!(carom_max_abs(nv, row) > MODEL_ZERO_TOLERANCE * model_scale_limit_row(compiled, work->data, &limit, work->first)))
                continue;
            mju_zero(work->tangent + 2 * at * nv, 2 * (int)nv);
            work->touches[at] = (carom_touch){.kind = CAROM_TOUCH_LIMIT,
                                              .first = i,
                                              .second = end,
                                              .gap = measured.distance,
                                              .restitution = mechanism->model->limit_restitution[tendon],
                                              .size = 0.5 * measured.width};
            work->count++;
        }
    }
}

// MuJoCo leaves out what it has no room for, with a warning.
static carom_status check_room(const mechanism_work *work, carom_error *error) {
    const mjWarningStat *warnings = work->data->warning;
    const bool full = warnings[mjWARN_CONTACTFULL].number > 1;
    if (!full && warnings[mjWARN_CNSTRFULL].number <= 1) return CAROM_OK;
    char room[MODEL_ROOM_SIZE];
    model_describe_room(work->compiled, full ? "nconmax" : "njmax", room);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: there are more %s than %s", work->mechanism->model->path,
                      full ? "contacts" : "constraints", room);
}

carom_status model_detect_touches(void *opened, const double *position, double margin, carom_touches *touches, carom_error *error) {
    mechanism_work *work = opened;
    const model_mechanism *mechanism = work->mechanism;
    const mjModel *compiled = work->compiled;
    mjData *data = work->data;
    *touches = (carom_touches){0};
    if (!carom_all_finite((size_t)mechanism->base.nq, position))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the position is not finite", mechanism->model->path);
    mju_copy(data->qpos, position, mechanism->base.nq);
    work->margin = margin;
    work->count = work->idle_count = 0;
    carom_status status = model_guard_call(find_equations, work, error);
    if (!status) status = take_equations(work, error);
    if (!status) status = check_room(work, error);
    if (status) return status;
    const int limits = 2 * (model_count(compiled->njnt) + model_count(compiled->ntendon));
    status = model_make_touch_room(work, mechanism->listed.count + limits, error);
    if (!status && mechanism->is_listed) add_listed(work);
    // MuJoCo lifts a height field by the margin and measures from there, so its contacts are found without one, when they touch.
    for (int pass = 0; pass < (mechanism->is_listed ? 0 : mechanism->has_fields ? 2 : 1) && !status; pass++) {
        work->margin = pass ? 0 : margin;
        status = model_guard_call(find_contacts, work, error);
        if (!status) status = check_room(work, error);
        if (!status) status = model_make_touch_room(work, work->count + work->idle_count + data->ncon + limits, error);
        if (!status) status = add_detected(work, pass, error);
    }
    work->margin = margin;
    if (status) return status;
    add_limits(work);
    // MuJoCo only warns about a NaN in a model file, and goes on with it.
    const size_t nv = (size_t)mechanism->base.nv, equations = (size_t)work->equations;
    bool finite = carom_all_finite((size_t)work->count * nv, work->normal) && carom_all_finite(equations, work->residual) &&
                  carom_all_finite(equations * nv, work->equation);
    for (int i = 0; i < work->count; i++) finite = finite && isfinite(work->touches[i].gap);
    if (!finite)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: a distance or a Jacobian is not finite at this state", mechanism->model->path);
    *touches = (carom_touches){.count = work->count,
                               .touch = work->touches,
                               .normal = work->normal,
                               .tangent = work->tangent,
                               .equations = work->equations,
                               .residual = work->residual,
                               .equation = work->equation,
                               .idle_count = work->idle_count,
                               .idle = work->idle};
    return CAROM_OK;
}
