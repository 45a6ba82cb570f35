// SPDX-License-Identifier: Apache-2.0
// Equality constraints C v = 0 that hold during the impact: contact forces are projected so that no velocity leaves them.
//
// P = 1 - M^-1 C'(C M^-1 C')^-1 C keeps the velocities with C v = 0 and takes away what breaks them. Rows J P in place of J make
// v+ = v + M^-1 (JP)' lambda satisfy C v+ = C v + C M^-1 P' J' lambda = 0, because C M^-1 P' = C M^-1 - C M^-1 C'(C M^-1 C')^-1 C M^-1 = 0,
// and JP M^-1 (JP)' = J M^-1 J' - J M^-1 C'(C M^-1 C')^-1 C M^-1 J' is the Delassus operator of the constrained system. On the constraint
// JP v = J v. Hence M, nv and v+ stay those of the model.
//
// With M = L L' and rows q_i that span those of C L^-T orthonormally:
//   P = 1 - sum_i motion_i' force_i,  motion_i = L^-T q_i,  force_i = L q_i.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// A constraint row whose part that is independent of the rows before it is shorter than this share of its length says nothing new.
#define RANK_TOLERANCE 1e-9
// A velocity may break the constraints by this share (square root of kinetic energies), the precision of numbers typed by hand.
#define VELOCITY_TOLERANCE 1e-6
// Open loops and the like beyond this [m, rad] are worth a warning.
#define RESIDUAL_TOLERANCE 1e-4

// The rows of the active equality constraints alone, of which alone there must be room: MuJoCo puts every constraint into one buffer.
static void compute_rows(void *argument) {
    const carom_model *model = argument;
    model->data->ncon = 0;
    model->data->warning[mjWARN_CNSTRFULL].number = 0;
    mj_makeConstraint(model->compiled, model->data);
}

// Fills the rows C of the active equality constraints, and warns of each that the position breaks.
static carom_status find_rows(carom_model *model, carom_error *error) {
    mjOption *option = &model->compiled->opt;
    const mjData *data = model->data;
    const mjOption original = *option;
    option->disableflags |= mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_CONTACT;
    carom_status status = model_guard_call(compute_rows, model, error);
    *option = original;
    if (status) return status;
    if (data->warning[mjWARN_CNSTRFULL].number) {
        char room[MODEL_ROOM_SIZE];
        model_describe_room(model->compiled, "njmax", room);
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the equality constraints need more rows than %s", model->path, room);
    }
    for (int i = 0, next; !status && i < data->nefc; i = next) {
        double residual = 0;
        for (next = i; next < data->nefc && data->efc_id[next] == data->efc_id[i]; next++)
            residual = fmax(residual, fabs(data->efc_pos[next]));
        if (residual <= RESIDUAL_TOLERANCE) continue;
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_EQUALITY, data->efc_id[i], "number ", name, sizeof name);
        status =
            model_warn(model, error, "the position breaks equality constraint '%s' by %.3g m or rad; it is taken to hold", name, residual);
    }
    return status;
}

// x = x - sum_i (x . along_i) away_i, twice against round-off (Kahan).
static void project(int nv, int rank, const double *along, const double *away, double *x) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < rank; i++) {
            const size_t row = (size_t)i * (size_t)nv;
            const double component = carom_dot(nv, along + row, x);
            for (int j = 0; j < nv; j++) x[j] -= component * away[row + (size_t)j];
        }
    }
}

// The words of an impact's own gate, which comes later.
static carom_status refuse_mass(const carom_model *model, const double *mass, carom_error *error) {
    const size_t nv = (size_t)carom_model_nv(model);
    carom_arena arena = {0};
    model_velocity_name *texts = carom_arena_take(&arena, nv, sizeof *texts);
    const char **names = carom_arena_take(&arena, nv, sizeof *names);
    bool *turns = carom_arena_take(&arena, nv, sizeof *turns);
    if (!arena.failed) model_name_velocities(model, texts, turns);
    for (size_t i = 0; i < nv && !arena.failed; i++) names[i] = texts[i];
    carom_status status = arena.failed ? carom_fail_memory(error, "mass matrix") : carom_mass_check((int)nv, mass, names, error);
    if (!status) status = carom_fail(error, CAROM_BAD_INPUT, "%s: M is not positive definite", model->path);
    carom_arena_free(&arena);
    return status;
}

carom_status model_projector_create(carom_model *model, const double *mass, carom_arena *arena, model_projector *projector,
                                    carom_error *error) {
    const int nv = carom_model_nv(model);
    *projector = (model_projector){.nv = nv};
    if (!model->compiled->neq) return CAROM_OK;
    const carom_status status = find_rows(model, error);
    const mjData *data = model->data;
    if (status || !data->nefc) return status;
    const size_t size = (size_t)nv, most = (size_t)(data->nefc < nv ? data->nefc : nv);
    projector->force = carom_arena_take(arena, most * size, sizeof *projector->force);
    // One row more than the rank can be, for the row that is tried.
    projector->motion = carom_arena_take(arena, (most + 1) * size, sizeof *projector->motion);
    projector->constraint = carom_arena_take(arena, most, sizeof *projector->constraint);
    double *factor = carom_arena_take(arena, size * size, sizeof *factor);
    if (arena->failed) return carom_fail_memory(error, "equality constraints");
    memcpy(factor, mass, size * size * sizeof *factor);
    if (carom_cholesky_factor(nv, factor)) return refuse_mass(model, mass, error);

    const int *columns = mj_isSparse(model->compiled) ? data->efc_J_colind : NULL;
    // Orthonormal rows q_i that span those of C L^-T; rows that depend on others are left out.
    for (int i = 0; i < data->nefc && projector->rank < nv; i++) {
        double *q = projector->motion + (size_t)projector->rank * size;
        model_copy_row(nv, data->efc_J, i, data->efc_J_rownnz, data->efc_J_rowadr, columns, q);
        if (!carom_all_finite(size, q))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: the Jacobian of the equality constraints is not finite", model->path);
        carom_cholesky_forward(nv, factor, q);
        const double length = sqrt(carom_dot(nv, q, q));
        project(nv, projector->rank, projector->motion, projector->motion, q);
        const double rest = sqrt(carom_dot(nv, q, q));
        if (!(rest > RANK_TOLERANCE * length)) continue;
        for (int j = 0; j < nv; j++) q[j] /= rest;
        projector->constraint[projector->rank++] = data->efc_id[i];
    }
    // force_i = L q_i, motion_i = L^-T q_i.
    for (int i = 0; i < projector->rank; i++) {
        double *q = projector->motion + (size_t)i * size, *force = projector->force + (size_t)i * size;
        for (int j = 0; j < nv; j++) force[j] = carom_dot(j + 1, factor + (size_t)j * size, q);
        carom_cholesky_backward(nv, factor, q);
    }
    return CAROM_OK;
}

void model_project_row(const model_projector *projector, double *row) {
    project(projector->nv, projector->rank, projector->motion, projector->force, row);
}

carom_status model_project_velocity(const carom_model *model, const model_projector *projector, const double *mass, double *v,
                                    carom_error *error) {
    const int nv = projector->nv;
    // The part of v that the constraints forbid has the kinetic energy sum_i (force_i . v)^2.
    double energy = 0, broken = 0, worst = 0;
    int constraint = 0;
    for (int i = 0; i < nv; i++) energy += v[i] * carom_dot(nv, mass + (size_t)i * (size_t)nv, v);
    for (int i = 0; i < projector->rank; i++) {
        const double component = fabs(carom_dot(nv, projector->force + (size_t)i * (size_t)nv, v));
        broken += component * component;
        if (component > worst) constraint = projector->constraint[i];
        worst = fmax(worst, component);
    }
    if (!(sqrt(broken) <= VELOCITY_TOLERANCE * sqrt(energy))) {
        char name[MODEL_LABEL_SIZE];
        model_write_name(model, mjOBJ_EQUALITY, constraint, "number ", name, sizeof name);
        return carom_fail(error, CAROM_BAD_INPUT,
                          "the velocity breaks equality constraint '%s': %.3g of the kinetic energy is in motion that the equality "
                          "constraints forbid, more than %g",
                          name, broken / energy, VELOCITY_TOLERANCE * VELOCITY_TOLERANCE);
    }
    project(nv, projector->rank, projector->force, projector->motion, v);
    return CAROM_OK;
}
