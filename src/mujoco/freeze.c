// SPDX-License-Identifier: Apache-2.0
// From a model at its state to an impact: mass matrix M, contact Jacobians J and velocity v-.
//
// A row of J is d.(J_second - J_first) P for a direction d of the contact: the velocity of its second place minus that of the first, and P
// the projection on what the equality constraints allow (project.c). Rows that stay zero mean that no motion changes the contact.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// MODEL_ZERO_TOLERANCE for rows that equality constraints have taken most of: differences of larger numbers.
#define PROJECTED_ZERO_TOLERANCE 1e-10
// Rows of two contacts of a planar scene that differ by no more than this, relative to their largest entry, are equal.
#define EQUAL_TOLERANCE 1e-12

// The impact under construction.
typedef struct frozen {
    carom_model *model;
    carom_arena arena;
    int nv, count, tangent_dim;      // contacts so far
    double *mass;                    // [nv x nv]
    double *velocity;                // [nv]
    double *normal;                  // [room x nv]
    double *tangent;                 // [(room*tangent_dim) x nv]
    double *first, *second;          // [3 x nv] Jacobians of the two places of one contact
    double *friction, *restitution;  // [room]
    const char **names;              // [room]
    const model_touch **touches;     // [room]; NULL for joints and tendons at their limits
    model_limit *limits;             // [limit_count] of those, the ones that are contacts
    int limit_count;
    model_projector projector;
} frozen;

// --------------------------------------------------------------------------------------------------------------- rows

// One row of the contact's Jacobian: direction . (J of the second place - J of the first).
static void fill_row(const frozen *f, const double direction[3], double *row) {
    for (int j = 0; j < f->nv; j++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += direction[k] * (f->second[k * f->nv + j] - f->first[k * f->nv + j]);
        row[j] = sum;
    }
}

// Restricts a row to the motions that the equality constraints leave. False when nothing is left of it, measured by `scale`.
static bool restrict_row(const frozen *f, double scale, double *row) {
    if (f->projector.rank) model_project_row(&f->projector, row);
    const bool moves = carom_max_abs((size_t)f->nv, row) > (f->projector.rank ? PROJECTED_ZERO_TOLERANCE : MODEL_ZERO_TOLERANCE) * scale;
    if (!moves && f->projector.rank) mju_zero(row, f->nv);
    return moves;
}

// Fills the next rows with those of a contact.
static carom_status add_touch(frozen *f, const model_touch *touch, int index, model_idle_rule rule, carom_error *error) {
    char label[MODEL_LABEL_SIZE];
    model_label_contact(label, touch->name, index);
    const mjModel *compiled = f->model->compiled;
    mj_jac(compiled, f->model->data, f->first, NULL, touch->point[0], touch->body[0]);
    mj_jac(compiled, f->model->data, f->second, NULL, touch->point[1], touch->body[1]);
    // MuJoCo only warns about a NaN in a model file, and goes on with it.
    const size_t nv = (size_t)f->nv;
    if (!carom_all_finite(3 * nv, f->first) || !carom_all_finite(3 * nv, f->second))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: its Jacobian is not finite; are all numbers of the model?", label);

    // The normal row decides whether there is a contact at all; tangents may be idle, as in a planar scene.
    const double scale = fmax(carom_max_abs(3 * nv, f->first), carom_max_abs(3 * nv, f->second));
    double *normal = f->normal + (size_t)f->count * nv;
    fill_row(f, touch->normal, normal);
    if (!restrict_row(f, scale, normal)) {
        if (rule == MODEL_REFUSE_IDLE)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: no joint of the model changes its distance along the normal", label);
        return model_warn(f->model, error, "%s is left out: no motion of the model changes its distance along the normal", label);
    }
    for (int k = 0; k < f->tangent_dim; k++) {
        double *tangent = f->tangent + (size_t)(f->count * f->tangent_dim + k) * nv;
        fill_row(f, touch->tangent[k], tangent);
        restrict_row(f, scale, tangent);
    }
    f->friction[f->count] = touch->friction;
    f->restitution[f->count] = touch->restitution;
    f->touches[f->count] = touch;
    f->names[f->count++] = touch->name;
    return CAROM_OK;
}

// Fills the next rows with those of joints and tendons at their limits, contacts without friction whose names stand in `names`; one
// warning tells of all. What the equality constraints, or the place of a tendon, let not change is left out.
static carom_status add_limits(frozen *f, int count, char (*names)[MODEL_LABEL_SIZE], carom_error *error) {
    const mjModel *compiled = f->model->compiled;
    const size_t nv = (size_t)f->nv;
    bool has[2] = {false, false};
    char list[CAROM_MESSAGE_SIZE / 2] = "";
    size_t used = 0;
    carom_status status = CAROM_OK;
    for (int i = 0; i < count && !status; i++) {
        const model_limit limit = f->limits[i];
        const bool tendon = limit.type == mjOBJ_TENDON;
        char name[MODEL_LABEL_SIZE - 8];
        model_write_name(f->model, limit.type, limit.id, tendon ? "tendon" : "joint", name, sizeof name);
        double *normal = f->normal + (size_t)f->count * nv;
        model_fill_limit_row(compiled, f->model->data, &limit, normal);
        if (!carom_all_finite(nv, normal))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: the Jacobian of tendon '%s' is not finite", f->model->path, name);
        if (!restrict_row(f, model_scale_limit_row(compiled, f->model->data, &limit, f->first), normal)) {
            status = model_warn(f->model, error,
                                tendon ? "tendon '%s' is at its limit, but no motion changes its length; the limit is left out"
                                       : "joint '%s' is at its stop, where the equality constraints hold it; the stop is left out",
                                name);
            continue;
        }
        model_name_limit(f->model, &limit, names[f->limit_count]);
        mju_zero(f->tangent + (size_t)(f->count * f->tangent_dim) * nv, f->tangent_dim * f->nv);
        f->restitution[f->count] = f->model->limit_restitution[tendon];
        f->limits[f->limit_count] = limit;
        f->names[f->count++] = names[f->limit_count];
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", f->limit_count ? ", " : "", names[f->limit_count]);
        f->limit_count++;
        has[tendon] = true;
    }
    if (status || !f->limit_count) return status;
    return model_warn(f->model, error, "%s%s%s are contacts without friction: %s%s", has[0] ? "joints at their stops" : "",
                      has[0] && has[1] ? " and " : "", has[1] ? "tendons at their limits" : "", list, used < sizeof list ? "" : "...");
}

// ------------------------------------------------------------------------------------------------------- planar scenes

// Leaves second tangents out when nothing can move along any of them: the scene is planar.
static void drop_idle_tangents(frozen *f) {
    const size_t nv = (size_t)f->nv, rows = (size_t)f->count;
    if (f->tangent_dim != 2) return;
    const double scale = fmax(carom_max_abs(rows * nv, f->normal), carom_max_abs(2 * rows * nv, f->tangent));
    for (size_t i = 0; i < rows; i++)
        if (carom_max_abs(nv, f->tangent + (2 * i + 1) * nv) > MODEL_ZERO_TOLERANCE * scale) return;
    for (size_t i = 0; i < rows; i++) mju_copy(f->tangent + i * nv, f->tangent + 2 * i * nv, f->nv);
    f->tangent_dim = 1;
}

// In a planar scene, points that differ across the plane only are one contact: the first stands for all, with the largest friction.
static carom_status merge_across_plane(frozen *f, carom_error *error) {
    const size_t nv = (size_t)f->nv;
    char list[CAROM_MESSAGE_SIZE / 2] = "";
    size_t used = 0;
    int kept = 0;
    for (int i = 0; i < f->count; i++) {
        // Does it repeat one that is kept, between the same bodies and with equal rows?
        const double *normal = f->normal + (size_t)i * nv, *tangent = f->tangent + (size_t)i * nv;
        bool equal = false;
        int same = 0;
        for (; same < kept; same++) {
            const double *n = f->normal + (size_t)same * nv, *t = f->tangent + (size_t)same * nv;
            const double limit = EQUAL_TOLERANCE * fmax(carom_max_abs(nv, n), carom_max_abs(nv, t));
            equal = f->touches[same] && f->touches[i] && model_compare_bodies(f->model, f->touches[same], f->touches[i]);
            for (size_t k = 0; k < nv && equal; k++) equal = fabs(n[k] - normal[k]) <= limit && fabs(t[k] - tangent[k]) <= limit;
            if (equal) break;
        }
        if (equal) {
            f->friction[same] = fmax(f->friction[same], f->friction[i]);
            f->restitution[same] = fmax(f->restitution[same], f->restitution[i]);
            if (used < sizeof list)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%s into %s", used ? ", " : "", f->names[i], f->names[same]);
            continue;
        }
        if (kept < i) {
            mju_copy(f->normal + (size_t)kept * nv, normal, f->nv);
            mju_copy(f->tangent + (size_t)kept * nv, tangent, f->nv);
            f->friction[kept] = f->friction[i];
            f->restitution[kept] = f->restitution[i];
            f->touches[kept] = f->touches[i];
            f->names[kept] = f->names[i];
        }
        kept++;
    }
    if (kept == f->count) return CAROM_OK;
    f->count = kept;
    return model_warn(f->model, error, "the scene is planar, where contacts that differ across its plane only are one: %s%s", list,
                      used < sizeof list ? "" : "...");
}

// ---------------------------------------------------------------------------------------------------------- freezing

// Positions, tendon lengths and the mass matrix at the current state: neither collisions nor forces.
static void compute_positions(void *argument) {
    const carom_model *model = argument;
    mj_kinematics(model->compiled, model->data);
    mj_comPos(model->compiled, model->data);
    model_compute_inertia(model->compiled, model->data);
}

carom_status model_prepare_freeze(carom_model *model, carom_error *error) { return model_guard_call(compute_positions, model, error); }

// The model remembers the contacts of the impact, for a simulator.
static carom_status remember(const frozen *f, carom_error *error) {
    carom_model *model = f->model;
    model_touch *touches = calloc((size_t)f->count + 1, sizeof *touches);
    model_limit *limits = calloc((size_t)f->limit_count + 1, sizeof *limits);
    if (!touches || !limits) {
        free(touches);
        free(limits);
        return carom_fail_memory(error, "contacts");
    }
    free(model->touches);
    free(model->limits);
    model->touches = touches;
    model->limits = limits;
    model->touch_count = f->count - f->limit_count;
    model->limit_count = f->limit_count;
    for (int i = 0; i < model->touch_count; i++) {
        touches[i] = *f->touches[i];
        touches[i].name = NULL;
    }
    for (int i = 0; i < f->limit_count; i++) limits[i] = f->limits[i];
    return CAROM_OK;
}

carom_status model_freeze_touches(carom_model *model, const model_touch *touches, int count, int tangent_dim, model_idle_rule rule,
                                  const carom_detection *detection, carom_impact **impact, carom_error *error) {
    const mjModel *compiled = model->compiled;
    frozen f = {.model = model, .nv = carom_model_nv(model), .tangent_dim = tangent_dim};
    carom_arena *arena = &f.arena;
    int limit_count = model_find_limits(model, NULL);
    const size_t nv = (size_t)f.nv, room = (size_t)count + (size_t)limit_count;
    f.limits = carom_arena_take(arena, (size_t)limit_count, sizeof *f.limits);
    char(*limit_names)[MODEL_LABEL_SIZE] = carom_arena_take(arena, (size_t)limit_count, sizeof *limit_names);
    f.mass = carom_arena_take(arena, nv * nv, sizeof *f.mass);
    f.velocity = carom_arena_take(arena, nv, sizeof *f.velocity);
    f.normal = carom_arena_take(arena, room * nv, sizeof *f.normal);
    f.tangent = carom_arena_take(arena, 2 * room * nv, sizeof *f.tangent);
    f.first = carom_arena_take(arena, 3 * nv, sizeof *f.first);
    f.second = carom_arena_take(arena, 3 * nv, sizeof *f.second);
    f.friction = carom_arena_take(arena, room, sizeof *f.friction);
    f.restitution = carom_arena_take(arena, room, sizeof *f.restitution);
    f.names = carom_arena_take(arena, room + 1, sizeof *f.names);
    f.touches = carom_arena_take(arena, room, sizeof *f.touches);
    carom_status status = arena->failed ? carom_fail_memory(error, "contact Jacobians") : CAROM_OK;

    // Mass matrix, velocity, and what the equality constraints leave of the velocity.
    if (!status) {
        model_fill_mass(compiled, model->data, f.mass);
        mju_copy(f.velocity, model->data->qvel, f.nv);
        status = model_projector_create(model, f.mass, arena, &f.projector, error);
    }
    if (!status && f.projector.rank) status = model_project_velocity(model, &f.projector, f.mass, f.velocity, error);

    // The contacts: those that the caller found, then joints and tendons at their limits.
    if (!status) limit_count = model_choose_limits(model, detection, f.limits, model_find_limits(model, f.limits));
    model->drops_limits = !status && limit_count < model_find_limits(model, NULL);
    for (int i = 0; !status && i < count; i++) status = add_touch(&f, &touches[i], i, rule, error);
    if (!status) status = add_limits(&f, limit_count, limit_names, error);
    if (!status && !(detection && detection->drop_stops)) status = model_warn_of_near_limits(model, error);
    if (!status) status = model_warn_of_forces(model, error);
    if (!status && !f.count)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: none of the %d contacts found can be changed by a motion of the model",
                            model->path, count + limit_count);
    if (!status) drop_idle_tangents(&f);
    // A contact that is listed twice is meant twice; but detection finds all corners of a box, whatever the box can do.
    if (!status && rule == MODEL_DROP_IDLE && f.tangent_dim == 1) status = merge_across_plane(&f, error);

    if (!status) status = remember(&f, error);
    // What the parts are called and where the contacts are.
    model_velocity_name *velocity_texts = carom_arena_take(arena, nv, sizeof *velocity_texts);
    const char **velocity_names = carom_arena_take(arena, nv, sizeof *velocity_names);
    bool *turns = carom_arena_take(arena, nv, sizeof *turns);
    carom_contact_geometry geometry = {0};
    if (!status) model_describe_touches(model, f.touches, f.count, f.tangent_dim, arena, &geometry);
    if (!status && arena->failed) status = carom_fail_memory(error, "names of contacts");
    if (!status) model_name_velocities(model, velocity_texts, turns);
    for (size_t i = 0; i < nv && !status; i++) velocity_names[i] = velocity_texts[i];
    // Named all or none, but for joints and tendons at their limits, which then have default names as well.
    if (!status)
        status = carom_impact_create(&(carom_impact_data){.nv = f.nv,
                                                          .contacts = f.count,
                                                          .tangent_dim = f.tangent_dim,
                                                          .mass = f.mass,
                                                          .normal = f.normal,
                                                          .tangent = f.tangent,
                                                          .friction = f.friction,
                                                          .restitution = f.restitution,
                                                          .velocity = f.velocity,
                                                          .names = f.names[0] ? f.names : NULL,
                                                          .velocity_names = velocity_names,
                                                          .velocity_turns = turns,
                                                          .geometry = &geometry},
                                     impact, error);
    carom_arena_free(arena);
    return status;
}

// --------------------------------------------------------------------------------------------------- listed contacts

carom_status carom_model_freeze(carom_model *model, const carom_model_contact *contacts, int count, carom_impact **impact,
                                carom_error *error) {
    if (!impact) return carom_fail(error, CAROM_BAD_INPUT, "carom_model_freeze: impact is NULL");
    *impact = NULL;
    model_clear_warnings(model);
    // Which tendons are at their limits is known at positions only.
    carom_status status = model_prepare_freeze(model, error);
    if (status) return status;
    const int least = model_find_limits(model, NULL) ? 0 : 1;
    if ((!contacts && count) || count < least || count > CAROM_MAX_CONTACTS)
        return carom_fail(error, CAROM_BAD_INPUT, "an impact needs %d to %d contacts, not %d%s", least, CAROM_MAX_CONTACTS, count,
                          !least                     ? ""
                          : model->compiled->ntendon ? "; no joint is at its stop, and no tendon at its limit"
                                                     : "; no joint is at its stop");
    for (int i = 1; i < count; i++)
        if (!contacts[i].name != !contacts[0].name)
            return carom_fail(error, CAROM_BAD_INPUT, "contact number %d has no name while others have one", contacts[i].name ? 1 : i + 1);

    // Tangents: as many as the contacts give, which must agree; two where none gives any.
    int tangent_dim = 0;
    for (int i = 0; i < count; i++) {
        char label[MODEL_LABEL_SIZE];
        model_label_contact(label, contacts[i].name, i);
        const int given = contacts[i].tangents;
        if (given < 0 || given > 2) return carom_fail(error, CAROM_BAD_INPUT, "%s: a contact has up to two tangents, not %d", label, given);
        if (given && tangent_dim && given != tangent_dim)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: %d tangents, but contacts before it have %d; all need the same number", label,
                              given, tangent_dim);
        if (given) tangent_dim = given;
    }
    model_touch *touches = calloc((size_t)count + 1, sizeof *touches);
    if (!touches) return carom_fail_memory(error, "contacts");
    for (int i = 0; !status && i < count; i++) status = model_locate_contact(model, &contacts[i], i, &touches[i], error);
    if (!status)
        status = model_freeze_touches(model, touches, count, tangent_dim ? tangent_dim : 2, MODEL_REFUSE_IDLE, NULL, impact, error);
    free(touches);
    return status;
}
