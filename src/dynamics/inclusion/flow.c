// SPDX-License-Identifier: Apache-2.0
// Smooth motion in constant contact modes: accelerations, one step, and the projection that removes the round-off of constraints.
#include <math.h>
#include <string.h>

#include "carom/ode.h"
#include "dynamics/inclusion/inclusion.h"

// Pivots and right-hand sides of a system of modes below this share of the largest count as zero.
#define RANK_TOLERANCE 1e-10
// Sweeps of the projection, which converges geometrically, and the relative residual at which it ends.
enum { MOST_SWEEPS = 200 };
#define SWEEP_TOLERANCE 1e-16
// Keeps quotients finite where the scale is zero.
#define TINY 1e-300

// --------------------------------------------------------------------------------------------------------- acceleration

static const double *jacobian_row(const inclusion *run, int row) {
    return (row % 2 ? run->terms.tangent : run->terms.normal) + (size_t)(row / 2) * (size_t)run->nv;
}

bool inclusion_assemble(inclusion *run, const double *y) {
    const int nv = run->nv, rows = 2 * run->contacts;
    run->system->evaluate(run->workspace, y, y + nv, &run->terms);
    memcpy(run->factor, run->terms.mass, (size_t)nv * (size_t)nv * sizeof *run->factor);
    if (carom_cholesky_factor(nv, run->factor)) return false;
    // Without contact forces: M smooth = -bias.
    for (int j = 0; j < nv; j++) run->smooth[j] = -run->terms.bias[j];
    carom_cholesky_forward(nv, run->factor, run->smooth);
    carom_cholesky_backward(nv, run->factor, run->smooth);
    // Rows of M^-1 J', the contact accelerations without contact forces, and W = J M^-1 J'.
    for (int i = 0; i < rows; i++) {
        double *response = run->response + (size_t)i * (size_t)nv;
        memcpy(response, jacobian_row(run, i), (size_t)nv * sizeof *response);
        carom_cholesky_forward(nv, run->factor, response);
        carom_cholesky_backward(nv, run->factor, response);
        const double drift = (i % 2 ? run->terms.tangent_drift : run->terms.normal_drift)[i / 2];
        run->free[i] = carom_dot(nv, jacobian_row(run, i), run->smooth) + drift;
        for (int k = 0; k <= i; k++)
            run->delassus[i * rows + k] = run->delassus[k * rows + i] = carom_dot(nv, jacobian_row(run, k), response);
    }
    return carom_all_finite((size_t)nv, run->smooth) && carom_all_finite((size_t)rows, run->free);
}

// Tangential over normal force of a contact that does not stick.
static double force_ratio(const inclusion *run, const inclusion_mode *mode, int contact) {
    if (mode[contact] == INCLUSION_SLIPS_FORWARD) return -run->system->friction[contact];
    return mode[contact] == INCLUSION_SLIPS_BACKWARD ? run->system->friction[contact] : 0;
}

bool inclusion_solve_modes(inclusion *run, const inclusion_mode *mode) {
    const int nv = run->nv, rows = 2 * run->contacts;
    // Unknown forces: normal ones of closed contacts, tangential ones of those that stick.
    int list[2 * INCLUSION_MOST_CONTACTS], n = 0;
    for (int i = 0; i < run->contacts; i++) {
        if (mode[i] == INCLUSION_OPEN) continue;
        list[n++] = 2 * i;
        if (mode[i] == INCLUSION_STICKS) list[n++] = 2 * i + 1;
    }
    // Their accelerations vanish: W f = -free in these rows, where the tangential force of slip is a multiple of the normal one.
    double *A = run->work, *b = A + n * n, *null = b + n;
    for (int i = 0; i < n; i++) {
        b[i] = -run->free[list[i]];
        for (int k = 0; k < n; k++) {
            const double *W = run->delassus + list[i] * rows + list[k];
            A[i * n + k] =
                list[k] % 2 ? W[0] : W[0] + (mode[list[k] / 2] == INCLUSION_STICKS ? 0 : force_ratio(run, mode, list[k] / 2) * W[1]);
        }
    }
    // Of least norm: equal supports share a load equally.
    if (n && carom_solve_least_norm(n, A, b, RANK_TOLERANCE, null, run->exchanges) < 0) return false;
    memset(run->force, 0, (size_t)rows * sizeof *run->force);
    for (int i = 0; i < n; i++) run->force[list[i]] = b[i];
    for (int i = 0; i < run->contacts; i++)
        if (mode[i] != INCLUSION_STICKS) run->force[2 * i + 1] = force_ratio(run, mode, i) * run->force[2 * i];
    // q'' = smooth + M^-1 J' f.
    memcpy(run->acceleration, run->smooth, (size_t)nv * sizeof *run->acceleration);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < nv && run->force[i] != 0; j++)
            run->acceleration[j] += run->force[i] * run->response[(size_t)i * (size_t)nv + (size_t)j];
    return carom_all_finite((size_t)nv, run->acceleration);
}

// ----------------------------------------------------------------------------------------------------------- one step

enum { STAGES = CAROM_ODE_STAGES };

bool inclusion_advance(inclusion *run, double h, double *y, double *error) {
    const int nv = run->nv, size = inclusion_size(run);
    for (int stage = 0; stage < STAGES; stage++) {
        memcpy(y, run->y, (size_t)size * sizeof *y);
        for (int k = 0; k < stage; k++)
            for (int j = 0; j < size; j++) y[j] += h * carom_ode_tableau[stage][k] * run->stages[k * size + j];
        // The last stage is the derivative at the end, which only the estimate needs.
        if (stage == STAGES - 1 && !error) return carom_all_finite((size_t)size, y);
        // (q, v, s, w)' = (v, q'', 1 + |lambda_n|_1, power of the forces that neither inertia, potential nor contacts have).
        double *rate = run->stages + stage * size;
        if (!inclusion_assemble(run, y) || !inclusion_solve_modes(run, run->mode)) return false;
        memcpy(rate, y + nv, (size_t)nv * sizeof *rate);
        memcpy(rate + nv, run->acceleration, (size_t)nv * sizeof *rate);
        rate[2 * nv] = 1;
        for (int i = 0; i < run->contacts; i++) rate[2 * nv] += run->force[2 * i];
        rate[2 * nv + 1] = carom_dot(nv, run->terms.actuation, y + nv) + carom_dot(nv, run->terms.resistance, y + nv);
    }
    for (int j = 0; j < size; j++) {
        error[j] = 0;
        for (int k = 0; k < STAGES; k++) error[j] += h * carom_ode_difference[k] * run->stages[k * size + j];
    }
    return carom_all_finite((size_t)size, y);
}

double inclusion_error_ratio(const inclusion *run, double h, const double *y, const double *error) {
    const size_t nv = (size_t)run->nv;
    const double velocity = fmax(carom_max_abs(nv, run->y + nv), carom_max_abs(nv, y + nv));
    const double position = carom_max_abs(nv, run->y) + run->system->length + h * velocity;
    const double speed = velocity + run->fastest + h * carom_max_abs(nv, run->acceleration);
    // Positions, velocities and s each on a scale of their own.
    const double worst = fmax(carom_max_abs(nv, error) / (position + TINY), carom_max_abs(nv, error + nv) / (speed + TINY));
    return fmax(worst, fabs(error[2 * nv]) / (fabs(y[2 * nv]) + 1)) / run->options->tolerance;
}

// ----------------------------------------------------------------------------------------------------------- projection

// x -= M^-1 r' (r.x - wanted) / (r.M^-1 r') in turn for the given rows: the nearest x in the kinetic metric, in the limit.
static void sweep(inclusion *run, const bool *held, double scale, const double *offset, double *x) {
    const int nv = run->nv, rows = 2 * run->contacts;
    for (int round = 0; round < MOST_SWEEPS; round++) {
        double worst = 0;
        for (int i = 0; i < rows; i++) {
            if (!held[i] || !(run->delassus[i * rows + i] > 0)) continue;
            const double left = carom_dot(nv, jacobian_row(run, i), x) + (offset ? offset[i] : 0);
            worst = fmax(worst, fabs(left));
            for (int j = 0; j < nv; j++) x[j] -= left / run->delassus[i * rows + i] * run->response[(size_t)i * (size_t)nv + (size_t)j];
        }
        if (worst <= SWEEP_TOLERANCE * scale) return;
    }
}

bool inclusion_project(inclusion *run, double *y) {
    const int nv = run->nv;
    if (!run->closed) return true;
    bool held[2 * INCLUSION_MOST_CONTACTS];
    double gap[2 * INCLUSION_MOST_CONTACTS], *shift = run->work;
    // Positions: the gaps of closed contacts vanish.
    if (!inclusion_assemble(run, y)) return false;
    for (int i = 0; i < run->contacts; i++) {
        held[2 * i] = run->closed & inclusion_bit(i);
        held[2 * i + 1] = false;
        gap[2 * i] = run->terms.gap[i];
        gap[2 * i + 1] = 0;
    }
    memset(shift, 0, (size_t)nv * sizeof *shift);
    sweep(run, held, run->system->length, gap, shift);
    for (int j = 0; j < nv; j++) y[j] += shift[j];
    // Velocities: normal speeds of closed contacts vanish, and so does the slip of those that stick.
    for (int i = 0; i < run->contacts; i++) held[2 * i + 1] = held[2 * i] && run->mode[i] == INCLUSION_STICKS;
    if (!inclusion_assemble(run, y)) return false;
    sweep(run, held, run->fastest, NULL, y + nv);
    return true;
}

double inclusion_energy(const inclusion *run, const double *v) {
    double twice = 0;
    for (int i = 0; i < run->nv; i++) twice += v[i] * carom_dot(run->nv, run->terms.mass + (size_t)i * (size_t)run->nv, v);
    return twice / 2 + run->terms.potential;
}
