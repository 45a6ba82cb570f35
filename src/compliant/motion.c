// SPDX-License-Identifier: Apache-2.0
// Equations of motion of a planar mechanism with springs, dampers and regularised friction at its contacts (Halm & Posa 2023, section
// 5.4.1), and their derivatives:
//   x' = v,  M v' = -bias + sum_i Jn_i' lambda_n,i + Jt_i' lambda_t,i,  Lambda_i' = lambda_n,i
// with lambda_n = -k phi - c phi' while the contact pushes, and lambda_t = -mu lambda_n r / max(|r|, eps) for its slip r = Jt v.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "compliant/compliant.h"

carom_status compliant_motion_create(const carom_system *system, double slip_regularisation, compliant_motion *motion, carom_error *error) {
    const size_t nv = (size_t)system->nv, contacts = (size_t)system->contacts;
    *motion = (compliant_motion){.system = system,
                                 .nv = system->nv,
                                 .contacts = system->contacts,
                                 .states = 2 * system->nv + system->contacts,
                                 .slip_regularisation = slip_regularisation};
    carom_arena *arena = &motion->arena;
    motion->mode = carom_arena_take(arena, contacts, sizeof *motion->mode);
    struct {
        double **array;
        size_t count;
    } arrays[] = {
        {&motion->stiffness, contacts},
        {&motion->damping, contacts},
        {&motion->push, contacts},
        {&motion->slip, contacts},
        {&motion->position, nv},
        {&motion->normal_curvature, nv * nv},
        {&motion->tangent_curvature, nv * nv},
        {&motion->normal_row, 2 * nv},
        {&motion->tangent_row, 2 * nv},
        {&motion->terms.mass, nv * nv},
        {&motion->terms.bias, nv},
        {&motion->terms.gap, contacts},
        {&motion->terms.normal, contacts * nv},
        {&motion->terms.tangent, contacts * nv},
        {&motion->terms.normal_drift, contacts},
        {&motion->terms.tangent_drift, contacts},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i].array = carom_arena_take(arena, arrays[i].count, sizeof(double));
    if (arena->failed) return carom_fail_memory(error, "compliant contact");
    return system->open(system->self, &motion->opened, error);
}

void compliant_motion_release(compliant_motion *motion) {
    if (motion->opened) motion->system->close(motion->opened);
    carom_arena_free(&motion->arena);
    *motion = (compliant_motion){0};
}

double compliant_gap_rate(const compliant_motion *motion, const double *y, int contact) {
    return carom_dot(motion->nv, motion->terms.normal + contact * motion->nv, y + motion->nv);
}

void compliant_evaluate(compliant_motion *motion, const double *y) {
    const int nv = motion->nv;
    for (int j = 0; j < nv; j++) motion->position[j] = motion->system->position[j] + y[j];
    motion->system->evaluate(motion->opened, motion->position, y + nv, &motion->terms);
    // A mass matrix that is not positive definite was refused with the impact.
    carom_cholesky_factor(nv, motion->terms.mass);
    for (int i = 0; i < motion->contacts; i++) {
        // push = -k phi - c phi', slip r = Jt v.
        motion->push[i] = -motion->stiffness[i] * motion->terms.gap[i] - motion->damping[i] * compliant_gap_rate(motion, y, i);
        motion->slip[i] = carom_dot(nv, motion->terms.tangent + i * nv, y + nv);
    }
}

bool compliant_pushes(const compliant_motion *motion, int contact) { return motion->mode[contact] >= COMPLIANT_STICKS; }

bool compliant_is_closed(const compliant_motion *motion, int contact) { return motion->mode[contact] != COMPLIANT_OPEN; }

compliant_mode compliant_closed_mode(const compliant_motion *motion, const double *y, int contact) {
    // Without a damper the push of a contact that just touches is zero, and rises: that it leaves zero is no root.
    const bool rises = motion->push[contact] == 0 && compliant_gap_rate(motion, y, contact) < 0;
    if (!(motion->push[contact] > 0) && !rises) return COMPLIANT_RELEASED;
    if (fabs(motion->slip[contact]) <= motion->slip_regularisation) return COMPLIANT_STICKS;
    return motion->slip[contact] > 0 ? COMPLIANT_SLIDES_UP : COMPLIANT_SLIDES_DOWN;
}

// Friction force over the normal one, -mu r / max(|r|, eps), and its derivative with respect to the slip velocity r.
static double friction_ratio(const compliant_motion *motion, int contact, double *slope) {
    const double friction = motion->system->friction[contact];
    const bool sticks = motion->mode[contact] == COMPLIANT_STICKS;
    *slope = sticks ? -friction / motion->slip_regularisation : 0;
    if (sticks) return *slope * motion->slip[contact];
    return motion->mode[contact] == COMPLIANT_SLIDES_UP ? -friction : friction;
}

// x = M^-1 x.
static void solve_mass(const compliant_motion *motion, double *x) {
    carom_cholesky_forward(motion->nv, motion->terms.mass, x);
    carom_cholesky_backward(motion->nv, motion->terms.mass, x);
}

void compliant_derive(compliant_motion *motion, const double *y, double *rate) {
    const int nv = motion->nv;
    compliant_evaluate(motion, y);
    memcpy(rate, y + nv, (size_t)nv * sizeof *rate);
    double *acceleration = rate + nv;
    for (int j = 0; j < nv; j++) acceleration[j] = -motion->terms.bias[j];
    for (int i = 0; i < motion->contacts; i++) rate[2 * nv + i] = 0;
    for (int i = 0; i < motion->contacts; i++) {
        if (!compliant_pushes(motion, i)) continue;
        double slope;
        const double normal = motion->push[i], tangent = normal * friction_ratio(motion, i, &slope);
        rate[2 * nv + i] = normal;
        for (int j = 0; j < nv; j++)
            acceleration[j] += normal * motion->terms.normal[i * nv + j] + tangent * motion->terms.tangent[i * nv + j];
    }
    solve_mass(motion, acceleration);
}

// v' curvature_j: the derivative of a direction's rate J v with respect to coordinate j.
static double turning(const compliant_motion *motion, const double *curvature, const double *v, int j) {
    return carom_dot(motion->nv, curvature + j * motion->nv, v);
}

void compliant_linearise(compliant_motion *motion, const double *y, double *const *jacobian) {
    const int nv = motion->nv;
    const double *v = y + nv;
    compliant_evaluate(motion, y);
    for (int column = 0; column < motion->states; column++) memset(jacobian[column], 0, (size_t)motion->states * sizeof *jacobian[column]);
    for (int j = 0; j < nv; j++) jacobian[nv + j][j] = 1;  // x' = v
    for (int i = 0; i < motion->contacts; i++) {
        if (!compliant_pushes(motion, i)) continue;
        // Rows of the forces' derivatives with respect to (x, v): d lambda_n = -k Jn dx - c (v' Kn dx + Jn dv), with the curvature Kn of
        // the gap, and d lambda_t = ratio d lambda_n + lambda_n slope (v' Kt dx + Jt dv).
        const double *normal = motion->terms.normal + i * nv, *tangent = motion->terms.tangent + i * nv;
        double slope;
        const double force = motion->push[i], ratio = friction_ratio(motion, i, &slope);
        motion->system->curve(motion->opened, i, motion->normal_curvature, motion->tangent_curvature);
        for (int j = 0; j < nv; j++) {
            motion->normal_row[j] =
                -motion->stiffness[i] * normal[j] - motion->damping[i] * turning(motion, motion->normal_curvature, v, j);
            motion->normal_row[nv + j] = -motion->damping[i] * normal[j];
            motion->tangent_row[j] = ratio * motion->normal_row[j] + force * slope * turning(motion, motion->tangent_curvature, v, j);
            motion->tangent_row[nv + j] = ratio * motion->normal_row[nv + j] + force * slope * tangent[j];
        }
        // What they do to v', and how the forces' directions turn: (Kn lambda_n + Kt lambda_t) dx.
        for (int column = 0; column < 2 * nv; column++) {
            double *acceleration = jacobian[column] + nv;
            for (int j = 0; j < nv; j++) {
                acceleration[j] += normal[j] * motion->normal_row[column] + tangent[j] * motion->tangent_row[column];
                if (column < nv)
                    acceleration[j] +=
                        force * (motion->normal_curvature[j * nv + column] + ratio * motion->tangent_curvature[j * nv + column]);
            }
            jacobian[column][2 * nv + i] = motion->normal_row[column];
        }
    }
    // From M v' to v', with the factors of M: its own derivatives are left out (see the header).
    for (int column = 0; column < 2 * nv; column++) solve_mass(motion, jacobian[column] + nv);
}
