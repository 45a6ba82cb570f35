// SPDX-License-Identifier: Apache-2.0
// A model in motion: masses, forces and energies, and how its position moves.
#include <math.h>

#include "carom/dense.h"
#include "mujoco/mechanism.h"

// matrix += scale row row'.
static void add_square(int nv, double scale, const double *row, double *matrix) {
    for (int i = 0; i < nv; i++) {
        if (row[i] == 0) continue;
        for (int j = 0; j < nv; j++) matrix[i * nv + j] += scale * row[i] * row[j];
    }
}

// D and K of the dampers and springs of joints and tendons, and of servos, whose force is a linear function of their length and its rate.
// What pushes away from rest is left out, so that both stay positive semidefinite.
static void fill_implicit(const mechanism_work *work, carom_mechanism_terms *terms) {
    const mjModel *compiled = work->compiled;
    const mjData *data = work->data;
    const int nv = work->mechanism->base.nv;
    const bool dampers = model_has_dampers(compiled), springs = model_has_springs(compiled);
    double *row = work->rows;
    mju_zero(terms->damping, nv * nv);
    mju_zero(terms->stiffness, nv * nv);
    for (int i = 0; i < nv; i++) {
        const double stiffness = compiled->jnt_stiffness[compiled->dof_jntid[i]];
        if (dampers) terms->damping[i * nv + i] = fmax(compiled->dof_damping[i], 0);
        if (springs) terms->stiffness[i * nv + i] = fmax(stiffness, 0);
    }
    for (int i = 0; i < compiled->ntendon; i++) {
        const double damping = dampers ? compiled->tendon_damping[i] : 0;
        const double stiffness = springs && model_is_tendon_stretched(compiled, data, i) ? compiled->tendon_stiffness[i] : 0;
        if (!(damping > 0) && !(stiffness > 0)) continue;
        model_fill_tendon_row(compiled, data, i, row);
        add_square(nv, fmax(damping, 0), row, terms->damping);
        add_square(nv, fmax(stiffness, 0), row, terms->stiffness);
    }
    if (compiled->opt.disableflags & mjDSBL_ACTUATION) return;
    for (int i = 0; i < model_count_actuators(compiled); i++) {
        // force = (g0 + g1 length + g2 rate) control + b0 + b1 length + b2 rate, as long as it is inside its range.
        const double *gain = compiled->actuator_gainprm + mjNGAIN * i, *bias = compiled->actuator_biasprm + mjNBIAS * i;
        const int control = model_find_control(compiled, i);
        double input = control >= 0 ? data->ctrl[control] : 0, by_length = 0, by_rate = 0, force;
        if (control >= 0 && compiled->actuator_ctrllimited[control] && !(compiled->opt.disableflags & mjDSBL_CLAMPCTRL)) {
            const double *range = compiled->actuator_ctrlrange + 2 * control;
            input = fmin(fmax(input, range[0]), range[1]);
        }
        const int activation = model_find_activation(compiled, i);
        if (activation >= 0) input = data->act[activation];
        if (compiled->actuator_gaintype[i] == mjGAIN_AFFINE) {
            by_length += gain[1] * input;
            by_rate += gain[2] * input;
        }
        if (compiled->actuator_biastype[i] == mjBIAS_AFFINE) {
            by_length += bias[1];
            by_rate += bias[2];
        }
        if (!(by_length < 0) && !(by_rate < 0)) continue;
        if (!model_get_actuator(compiled, data, i, &force, row)) continue;
        const double *range = compiled->actuator_forcerange + 2 * i;
        if (compiled->actuator_forcelimited[i] && !(force > range[0] && force < range[1])) continue;
        add_square(nv, fmax(-by_rate, 0), row, terms->damping);
        add_square(nv, fmax(-by_length, 0), row, terms->stiffness);
    }
}

void model_compute_motion(mechanism_work *work) {
    work->data->ncon = work->data->nefc = 0;
    mj_kinematics(work->compiled, work->data);
    mj_comPos(work->compiled, work->data);
    model_compute_inertia(work->compiled, work->data);
    mj_transmission(work->compiled, work->data);
}

void model_evaluate_terms(void *opened, double time, const double *position, const double *velocity, carom_mechanism_terms *terms) {
    mechanism_work *work = opened;
    const model_mechanism *mechanism = work->mechanism;
    const mjModel *compiled = work->compiled;
    mjData *data = work->data;
    const int nq = mechanism->base.nq, nv = mechanism->base.nv;
    mju_copy(data->qpos, position, nq);
    model_set_controls(work, time);
    model_compute_motion(work);
    mj_energyPos(compiled, data);
    model_fill_mass(compiled, data, terms->mass);
    terms->potential = data->energy[0];

    // Springs alone, without dampers and drag: the passive forces at rest.
    mju_zero(data->qvel, nv);
    mju_zero(data->cvel, 6 * model_count(compiled->nbody));
    mju_zero(data->ten_velocity, model_count(compiled->ntendon));
    mj_passive(compiled, data);
    mju_scl(terms->resistance, data->qfrc_passive, -1, nv);

    // All forces at the velocity.
    mju_copy(data->qvel, velocity, nv);
    mj_fwdVelocity(compiled, data);
    mj_fwdActuation(compiled, data);
    mju_addTo(terms->resistance, data->qfrc_passive, nv);
    mju_copy(terms->actuation, data->qfrc_actuator, nv);
    mju_sub(terms->force, data->qfrc_passive, data->qfrc_bias, nv);
    mju_addTo(terms->force, data->qfrc_actuator, nv);
    fill_implicit(work, terms);
    if (model_is_enabled(mechanism->model, mjDSBL_FRICTIONLOSS))
        mju_copy(terms->dry_friction, compiled->dof_frictionloss, nv);
    else
        mju_zero(terms->dry_friction, nv);
    terms->kinetic = 0;
    for (int i = 0; i < nv; i++) terms->kinetic += velocity[i] * carom_dot(nv, terms->mass + (size_t)i * (size_t)nv, velocity) / 2;
}

void model_activate(void *opened, const double *activation) {
    const mechanism_work *work = opened;
    mju_copy(work->data->act, activation, model_count(work->compiled->na));
}

void model_advance_activation(void *opened, double duration, double *activation) {
    const mechanism_work *work = opened;
    model_advance_activations(work->compiled, work->data, duration);
    mju_copy(activation, work->data->act, model_count(work->compiled->na));
}

void model_advance_position(const void *self, const double *position, const double *velocity, double duration, double *moved) {
    const model_mechanism *mechanism = self;
    const mjModel *compiled = mechanism->model->compiled;
    if (moved != position) mju_copy(moved, position, mechanism->base.nq);
    mj_integratePos(compiled, moved, velocity, duration);
    mj_normalizeQuat(compiled, moved);
}
