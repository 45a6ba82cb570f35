// SPDX-License-Identifier: Apache-2.0
// Equality constraints C v = 0 that hold during the impact: contact forces are projected so that no velocity leaves them.
//
// P = 1 - M^-1 C'(C M^-1 C')^-1 C keeps the velocities with C v = 0 and takes away what breaks them. Rows J P in place of J make
// v+ = v + M^-1 (JP)' lambda satisfy C v+ = C v + C M^-1 P' J' lambda = 0, because C M^-1 P' = C M^-1 - C M^-1 C'(C M^-1 C')^-1 C M^-1 = 0,
// and JP M^-1 (JP)' = J M^-1 J' - J M^-1 C'(C M^-1 C')^-1 C M^-1 J' is the Delassus operator of the constrained system. On the constraint
// JP v = J v. Hence M, nv and v+ stay those of the model.
//
// With M = L L' and rows q_i that span those of C L^-T orthonormally: P = 1 - sum_i motion_i' force_i, motion_i = L^-T q_i, force_i = L
// q_i.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "mujoco/mujoco_internal.h"

// Of a constraint row, what is left beside the rows before it, relative to its length: less means that it says nothing new.
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

static carom_status find_rows(carom_model *model, carom_error *error) {
    mjOption *option = &model->compiled->opt;
    const mjOption original = *option;
    option->jacobian = mjJAC_DENSE;
    option->disableflags |= mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_CONTACT;
    const carom_status status = model_guard_call(compute_rows, model, error);
    *option = original;
    if (status) return status;
    if (model->data->warning[mjWARN_CNSTRFULL].number) {
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: the equality constraints need more than njmax = %d rows; add <size njmax=\"...\"/> to the model",
                          model->path, model->compiled->njmax);
    }
    if (!carom_all_finite((size_t)model->data->nefc * (size_t)model->compiled->nv, model->data->efc_J))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: the Jacobian of the equality constraints is not finite", model->path);
    return CAROM_OK;
}

// One warning for each constraint that the position breaks.
static carom_status warn_of_residuals(carom_model *model, carom_error *error) {
    const mjData *data = model->data;
    carom_status status = CAROM_OK;
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

// Takes the components along the first `rank` rows of Q out of x. Twice is enough (Kahan).
static void remove_components(int nv, int rank, const double *Q, double *x) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < rank; i++) {
            const double *q = Q + (size_t)i * (size_t)nv, along = carom_dot(nv, q, x);
            for (int j = 0; j < nv; j++) x[j] -= along * q[j];
        }
    }
}

// Orthonormal rows Q that span those of C L^-T, into projector->motion; rows that depend on others are left out.
static void orthonormalise(const mjData *data, const double *factor, model_projector *projector) {
    const int nv = projector->nv;
    for (int i = 0; i < data->nefc && projector->rank < nv; i++) {
        double *q = projector->motion + (size_t)projector->rank * (size_t)nv;
        memcpy(q, data->efc_J + (size_t)i * (size_t)nv, (size_t)nv * sizeof *q);
        carom_cholesky_forward(nv, factor, q);
        const double length = sqrt(carom_dot(nv, q, q));
        remove_components(nv, projector->rank, projector->motion, q);
        const double rest = sqrt(carom_dot(nv, q, q));
        if (!(rest > RANK_TOLERANCE * length)) continue;
        for (int j = 0; j < nv; j++) q[j] /= rest;
        projector->constraint[projector->rank++] = data->efc_id[i];
    }
}

// From Q in projector->motion to both forms of its rows.
static void scale_rows(const double *factor, model_projector *projector) {
    const int nv = projector->nv;
    for (int i = 0; i < projector->rank; i++) {
        double *q = projector->motion + (size_t)i * (size_t)nv, *force = projector->force + (size_t)i * (size_t)nv;
        for (int j = 0; j < nv; j++) force[j] = carom_dot(j + 1, factor + (size_t)j * (size_t)nv, q);
        carom_cholesky_backward(nv, factor, q);
    }
}

static carom_status fill_projector(carom_model *model, const double *mass, model_projector *projector, carom_error *error) {
    const size_t nv = (size_t)projector->nv, most = (size_t)(model->data->nefc < projector->nv ? model->data->nefc : projector->nv);
    projector->force = malloc(most * nv * sizeof *projector->force);
    // one row more than the rank can be, for the row that is tried
    projector->motion = malloc((most + 1) * nv * sizeof *projector->motion);
    projector->constraint = malloc(most * sizeof *projector->constraint);
    double *factor = malloc(nv * nv * sizeof *factor);
    carom_status status = CAROM_OK;
    if (!projector->force || !projector->motion || !projector->constraint || !factor)
        status = carom_fail_memory(error, "equality constraints");
    if (!status) {
        memcpy(factor, mass, nv * nv * sizeof *factor);
        if (carom_cholesky_factor(projector->nv, factor))
            status = carom_fail(error, CAROM_BAD_INPUT, "%s: the mass matrix is not positive definite", model->path);
    }
    if (!status) {
        orthonormalise(model->data, factor, projector);
        scale_rows(factor, projector);
    }
    free(factor);
    return status;
}

carom_status model_projector_create(carom_model *model, const double *mass, model_projector *projector, carom_error *error) {
    *projector = (model_projector){.nv = model->compiled->nv};
    if (!model->compiled->neq) return CAROM_OK;
    carom_status status = find_rows(model, error);
    if (!status) status = warn_of_residuals(model, error);
    if (!status && model->data->nefc) status = fill_projector(model, mass, projector, error);
    return status;
}

void model_projector_free(model_projector *projector) {
    free(projector->force);
    free(projector->motion);
    free(projector->constraint);
}

// x = x - sum_i (x . along_i) away_i, twice against round-off.
static void project(const model_projector *projector, const double *along, const double *away, double *x) {
    const int nv = projector->nv;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < projector->rank; i++) {
            const size_t row = (size_t)i * (size_t)nv;
            const double component = carom_dot(nv, along + row, x);
            for (int j = 0; j < nv; j++) x[j] -= component * away[row + (size_t)j];
        }
    }
}

void model_project_row(const model_projector *projector, double *row) { project(projector, projector->motion, projector->force, row); }

carom_status model_project_velocity(const carom_model *model, const model_projector *projector, const double *mass, double *v,
                                    carom_error *error) {
    const int nv = projector->nv;
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
    project(projector, projector->force, projector->motion, v);
    return CAROM_OK;
}
