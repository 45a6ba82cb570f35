// SPDX-License-Identifier: Apache-2.0
// Free flight: the parabola of the center of mass, and the rotation, second order as published or with the preprocessed inertia of fourth
// order (Hairer & Vilmart 2006).
#include <string.h>

#include "carom/dense.h"
#include "carom/rotation.h"
#include "dynamics/lgvci/lgvci.h"

// The rotation has a solution for all directions while h |Pi| is below the least principal moment; this share of it is used.
#define SOLVABLE_SHARE 0.9

void lgvci_start(lgvci *run, const carom_body_motion *motion, bool fourth_order) {
    *run = (lgvci){.body = motion->body, .gravity = motion->gravity, .fourth_order = fourth_order, .prepared_step = NAN};
    run->mass = carom_body_mass(motion->body);
    run->radius = carom_body_radius(motion->body);
    // By the largest entry first: squares of normals of any length neither overflow nor vanish.
    const double *n = motion->plane_normal, largest = fmax(fmax(fabs(n[0]), fabs(n[1])), fabs(n[2]));
    for (int i = 0; i < 3; i++) run->normal[i] = n[i] / largest;
    const double length = carom_norm3(run->normal);
    for (int i = 0; i < 3; i++) run->normal[i] /= length;
    run->offset = motion->plane_offset / largest / length;

    // Invariants of the inertia, from which each flight has the coefficients of order 4.
    double vectors[9], moments[3];
    memcpy(run->inertia, carom_body_inertia(motion->body), sizeof run->inertia);
    memcpy(vectors, run->inertia, sizeof vectors);
    carom_symmetric_eigen(3, vectors, moments, NULL);  // Jacobi's method for so small a matrix cannot fail
    run->least_moment = moments[0];
    run->determinant = carom_invert3(run->inertia, run->inverse);
    run->trace = run->inertia[0] + run->inertia[4] + run->inertia[8];
    run->inverse_trace = run->inverse[0] + run->inverse[4] + run->inverse[8];
    lgvci_launch(run, &motion->initial);
}

static double rotational_energy(const lgvci *run, const double Pi[3]) {
    double Omega[3];
    carom_multiply3(run->inverse, Pi, Omega);
    return 0.5 * carom_dot3(Pi, Omega);
}

void lgvci_launch(lgvci *run, const carom_body_state *state) {
    if (state != &run->base) run->base = *state;
    run->elapsed = 0;
    memcpy(run->x0, state->position, sizeof run->x0);
    memcpy(run->gamma0, state->momentum, sizeof run->gamma0);
    // T and C are constants of the flight, and with them J_h^-1 = (1 + h^2 scaling) J^-1 + h^2 shift I.
    const double *Pi = state->angular_momentum, T = rotational_energy(run, Pi), C = 0.5 * carom_dot3(Pi, Pi);
    run->scaling = -run->inverse_trace * T / 3 + run->trace * C / (6 * run->determinant);
    run->shift = run->trace * T / (6 * run->determinant) - C / (3 * run->determinant);
    run->prepared_step = NAN;
    // No point accelerates by more than r (|Omega|^2 + |dOmega/dt|), |dOmega/dt| = |J^-1 (Pi x Omega)|, both bounded by the least moment.
    const double size = carom_norm3(Pi), fastest = sqrt(2 * T / run->least_moment);
    run->spin = size / run->least_moment;
    run->longest = SOLVABLE_SHARE / run->spin;
    run->acceleration = run->radius * (fastest * fastest + run->spin * fastest);
}

bool lgvci_advance(lgvci *run, double s, carom_body_state *next, double c[3]) {
    // The parabola, from where the flight began.
    const carom_body_state *base = &run->base;
    const double t = run->elapsed + s;
    for (int i = 0; i < 3; i++) next->position[i] = run->x0[i] + t * run->gamma0[i] / run->mass;
    next->position[2] -= 0.5 * run->gravity * t * t;
    memcpy(next->momentum, run->gamma0, sizeof next->momentum);
    next->momentum[2] -= run->mass * run->gravity * t;

    // The inertia that rotates by a step of this length, and its inverse. Steps of the grid all have the same.
    const double *inertia = run->inertia, *inverse = run->inverse;
    if (run->fourth_order) {
        if (s != run->prepared_step) {
            for (int i = 0; i < 9; i++)
                run->prepared_inverse[i] = (1 + s * s * run->scaling) * run->inverse[i] + (i % 4 == 0 ? s * s * run->shift : 0);
            carom_invert3(run->prepared_inverse, run->prepared);
            run->prepared_step = s;
        }
        inertia = run->prepared;
        inverse = run->prepared_inverse;
    }

    // F from s S(Pi) = F Jd - Jd F'; then R' = R F, Pi' = F'Pi.
    const double a[3] = {s * base->angular_momentum[0], s * base->angular_momentum[1], s * base->angular_momentum[2]};
    double F[9];
    if (!carom_rotation_solve(inertia, inverse, a, c)) return false;
    carom_rotation_matrix(c, F);
    carom_product3(base->attitude, F, next->attitude);
    carom_multiply3_transposed(F, base->angular_momentum, next->angular_momentum);
    return true;
}

double lgvci_energy(const lgvci *run, const carom_body_state *state, double terms[3]) {
    terms[0] = 0.5 * carom_dot3(state->momentum, state->momentum) / run->mass;
    terms[1] = rotational_energy(run, state->angular_momentum);
    terms[2] = run->mass * run->gravity * state->position[2];
    return terms[0] + terms[1] + terms[2];
}

double lgvci_speed_scale(const lgvci *run, const carom_body_state *state) {
    const double turning = sqrt(2 * rotational_energy(run, state->angular_momentum) / run->least_moment);
    return carom_norm3(state->momentum) / run->mass + run->radius * turning + sqrt(run->gravity * run->radius);
}
