// SPDX-License-Identifier: Apache-2.0
// Equations of motion of a planar mechanism with springs, dampers and regularised friction at its contacts (Halm & Posa 2023, section
// 5.4.1), and their derivatives.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "dynamics/compliant/compliant.h"

carom_status compliant_motion_create(const carom_system *system, double slip_regularisation, compliant_motion *motion, carom_error *error) {
    const size_t nv = (size_t)system->nv, contacts = (size_t)system->contacts;
    *motion = (compliant_motion){.system = system,
                                 .nv = system->nv,
                                 .contacts = system->contacts,
                                 .states = 2 * system->nv + system->contacts,
                                 .slip_regularisation = slip_regularisation};
    motion->mode = calloc(contacts, sizeof *motion->mode);
    motion->block = calloc(3 * nv * nv + 6 * nv + 7 * contacts + 2 * contacts * nv, sizeof *motion->block);
    if (!motion->mode || !motion->block) return carom_fail_memory(error, "compliant contact");
    double *next = motion->block;
    motion->terms.mass = next;
    motion->normal_curvature = next += nv * nv;
    motion->tangent_curvature = next += nv * nv;
    motion->terms.bias = next += nv * nv;
    motion->position = next += nv;
    motion->normal_row = next += nv;
    motion->tangent_row = next += 2 * nv;
    motion->terms.normal = next += 2 * nv;
    motion->terms.tangent = next += contacts * nv;
    motion->terms.gap = next += contacts * nv;
    motion->terms.normal_drift = next += contacts;
    motion->terms.tangent_drift = next += contacts;
    motion->push = next += contacts;
    motion->slip = next += contacts;
    motion->stiffness = next += contacts;
    motion->damping = next + contacts;
    return system->open(system->self, &motion->opened, error);
}

void compliant_motion_release(compliant_motion *motion) {
    if (motion->opened) motion->system->close(motion->opened);
    free(motion->mode);
    free(motion->block);
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

// Friction force over the normal one, and its derivative with respect to the slip velocity.
static double friction_ratio(const compliant_motion *motion, int contact, double *slope) {
    const double friction = motion->system->friction[contact];
    const bool sticks = motion->mode[contact] == COMPLIANT_STICKS;
    *slope = sticks ? -friction / motion->slip_regularisation : 0;
    if (sticks) return *slope * motion->slip[contact];
    return motion->mode[contact] == COMPLIANT_SLIDES_UP ? -friction : friction;
}

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

// d(rate of a direction's displacement)/dx = v' curvature.
static double turning(const compliant_motion *motion, const double *curvature, const double *v, int j) {
    return carom_dot(motion->nv, curvature + j * motion->nv, v);
}

// Adds what one pushing contact contributes: rows d lambda_n/d(x, v) and d lambda_t/d(x, v), and the turning of the forces' directions.
static void linearise_contact(compliant_motion *motion, const double *y, int i, double *const *jacobian) {
    const int nv = motion->nv;
    const double *normal = motion->terms.normal + i * nv, *tangent = motion->terms.tangent + i * nv, *v = y + nv;
    double slope;
    const double force = motion->push[i], ratio = friction_ratio(motion, i, &slope);
    motion->system->curve(motion->opened, i, motion->normal_curvature, motion->tangent_curvature);
    for (int j = 0; j < nv; j++) {
        motion->normal_row[j] = -motion->stiffness[i] * normal[j] - motion->damping[i] * turning(motion, motion->normal_curvature, v, j);
        motion->normal_row[nv + j] = -motion->damping[i] * normal[j];
        motion->tangent_row[j] = ratio * motion->normal_row[j] + force * slope * turning(motion, motion->tangent_curvature, v, j);
        motion->tangent_row[nv + j] = ratio * motion->normal_row[nv + j] + force * slope * tangent[j];
    }
    for (int column = 0; column < 2 * nv; column++) {
        double *acceleration = jacobian[column] + nv;
        for (int j = 0; j < nv; j++) {
            acceleration[j] += normal[j] * motion->normal_row[column] + tangent[j] * motion->tangent_row[column];
            if (column < nv)
                acceleration[j] += force * (motion->normal_curvature[j * nv + column] + ratio * motion->tangent_curvature[j * nv + column]);
        }
        jacobian[column][2 * nv + i] = motion->normal_row[column];
    }
}

void compliant_linearise(compliant_motion *motion, const double *y, double *const *jacobian) {
    const int nv = motion->nv;
    compliant_evaluate(motion, y);
    for (int column = 0; column < motion->states; column++) memset(jacobian[column], 0, (size_t)motion->states * sizeof *jacobian[column]);
    for (int j = 0; j < nv; j++) jacobian[nv + j][j] = 1;
    for (int i = 0; i < motion->contacts; i++)
        if (compliant_pushes(motion, i)) linearise_contact(motion, y, i, jacobian);
    for (int column = 0; column < 2 * nv; column++) solve_mass(motion, jacobian[column] + nv);
}
