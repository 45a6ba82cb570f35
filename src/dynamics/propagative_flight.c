// SPDX-License-Identifier: Apache-2.0
// The midpoint rule L_d = h L((q0+q1)/2, (q1-q0)/h) for L = v'Mv/2 - V(q) (Seghete & Murphey, section VI-A):
//     p0 = M (q1 - q0)/h + h/2 grad V(mid) - sum_i lambda_i grad phi_i(q0),      p1 = p0 - h grad V(mid) + sum_i lambda_i grad phi_i(q0).
// The paper has no contacts that stay closed; the multipliers lambda of held ones keep phi_i(q1) = 0.
#include "dynamics/propagative_flight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"

// The iteration for q1 contracts by h^2 |M^-1 V''| / 4; it ends when positions move by round-off alone.
#define ROUND_OFF 1e-15
// Where round-off keeps them moving by more than that, a step that stops shrinking must at least be this small.
#define STALLED 1e-12

enum { MOST_ITERATIONS = 200 };

struct propagative_flight {
    const carom_motion_system *system;
    size_t n, m;
    double *factor;                 // of the mass matrix
    double *middle, *force, *next;  // [n]
    double *normal;                 // [m x n], gradients at q0
    double *response;               // [m x n], M^-1 of them
    double *closing;                // [m x n], gradients at q1
    double *matrix;                 // [m x m]
    double *gap;                    // [m]
    int *list, *exchanges;          // [m]
};

carom_status propagative_flight_create(const carom_motion_system *system, propagative_flight **flight, carom_error *error) {
    *flight = NULL;
    propagative_flight *f = calloc(1, sizeof *f);
    if (!f) return carom_fail_memory(error, "motion");
    const size_t n = f->n = (size_t)system->coordinates, m = f->m = (size_t)system->contacts;
    f->system = system;
    f->factor = calloc(n * n + 3 * n + 3 * m * n + m * m + m + 1, sizeof *f->factor);
    f->list = calloc(2 * m + 1, sizeof *f->list);
    if (!f->factor || !f->list) {
        propagative_flight_free(f);
        return carom_fail_memory(error, "motion");
    }
    f->middle = f->factor + n * n;
    f->force = f->middle + n;
    f->next = f->force + n;
    f->normal = f->next + n;
    f->response = f->normal + m * n;
    f->closing = f->response + m * n;
    f->matrix = f->closing + m * n;
    f->gap = f->matrix + m * m;
    f->exchanges = f->list + m;
    memcpy(f->factor, system->mass, n * n * sizeof *f->factor);
    if (carom_cholesky_factor(system->coordinates, f->factor)) {
        propagative_flight_free(f);
        return carom_fail(error, CAROM_BAD_INPUT, "the mass matrix is not positive definite");
    }
    *flight = f;
    return CAROM_OK;
}

void propagative_flight_free(propagative_flight *f) {
    if (!f) return;
    free(f->factor);
    free(f->list);
    free(f);
}

void propagative_flight_solve_mass(const propagative_flight *f, double *x) {
    carom_cholesky_forward((int)f->n, f->factor, x);
    carom_cholesky_backward((int)f->n, f->factor, x);
}

// Gradients at q0 of the held contacts, and what a unit impulse on them does. Returns their number.
static int open_constraints(propagative_flight *f, const double *q0, const bool *held, double *multiplier) {
    int count = 0;
    for (size_t c = 0; c < f->m; c++) {
        multiplier[c] = 0;
        if (!held[c]) continue;
        double *row = f->normal + (size_t)count * f->n, *response = f->response + (size_t)count * f->n;
        f->system->gap(f->system->user, (int)c, q0, row);
        memcpy(response, row, f->n * sizeof *row);
        propagative_flight_solve_mass(f, response);
        f->list[count++] = (int)c;
    }
    return count;
}

// One Newton step of the multipliers towards phi(next) = 0. False when the contacts' gradients are dependent.
static bool close_gaps(propagative_flight *f, int count, double h, double *multiplier) {
    for (int i = 0; i < count; i++) {
        double *row = f->closing + (size_t)i * f->n;
        f->gap[i] = -f->system->gap(f->system->user, f->list[i], f->next, row);
        for (int j = 0; j < count; j++) f->matrix[i * count + j] = h * carom_dot((int)f->n, row, f->response + (size_t)j * f->n);
    }
    if (!carom_lu_factor(count, f->matrix, f->exchanges)) return false;
    carom_lu_solve(count, f->matrix, f->exchanges, f->gap);
    for (int i = 0; i < count; i++) {
        multiplier[f->list[i]] += f->gap[i];
        for (size_t k = 0; k < f->n; k++) f->next[k] += h * f->gap[i] * f->response[(size_t)i * f->n + k];
    }
    return true;
}

// p1 without the part that opens or closes held contacts.
static bool project(propagative_flight *f, int count, const double *q1, double *p1) {
    for (int i = 0; i < count; i++) {
        double *row = f->normal + (size_t)i * f->n, *response = f->response + (size_t)i * f->n;
        f->system->gap(f->system->user, f->list[i], q1, row);
        memcpy(response, row, f->n * sizeof *row);
        propagative_flight_solve_mass(f, response);
        f->gap[i] = carom_dot((int)f->n, response, p1);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            f->matrix[i * count + j] = carom_dot((int)f->n, f->normal + (size_t)i * f->n, f->response + (size_t)j * f->n);
    if (!carom_lu_factor(count, f->matrix, f->exchanges)) return false;
    carom_lu_solve(count, f->matrix, f->exchanges, f->gap);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < f->n; k++) p1[k] -= f->gap[i] * f->normal[(size_t)i * f->n + k];
    return true;
}

// The position that the current force and multipliers lead to.
static void move(propagative_flight *f, const double *q0, const double *p0, const double *q1, double h, int count,
                 const double *multiplier) {
    for (size_t k = 0; k < f->n; k++) f->middle[k] = 0.5 * (q0[k] + q1[k]);
    memset(f->force, 0, f->n * sizeof *f->force);
    if (f->system->potential) f->system->potential(f->system->user, f->middle, f->force);
    for (size_t k = 0; k < f->n; k++) f->next[k] = p0[k] - 0.5 * h * f->force[k];
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < f->n; k++) f->next[k] += multiplier[f->list[i]] * f->normal[(size_t)i * f->n + k];
    propagative_flight_solve_mass(f, f->next);
    for (size_t k = 0; k < f->n; k++) f->next[k] = q0[k] + h * f->next[k];
}

bool propagative_flight_advance(propagative_flight *f, const double *q0, const double *p0, double h, const bool *held, double *q1,
                                double *p1, double *multiplier) {
    const int count = open_constraints(f, q0, held, multiplier);
    memcpy(q1, q0, f->n * sizeof *q1);
    double last = INFINITY;
    bool converged = false;
    for (int i = 0; i < MOST_ITERATIONS && !converged; i++) {
        move(f, q0, p0, q1, h, count, multiplier);
        if (count && h > 0 && !close_gaps(f, count, h, multiplier)) return false;
        double change = 0;
        for (size_t k = 0; k < f->n; k++) change = fmax(change, fabs(f->next[k] - q1[k]));
        const double scale = fmax(carom_max_abs(f->n, f->next), carom_max_abs(f->n, q0));
        memcpy(q1, f->next, f->n * sizeof *q1);
        if (!isfinite(change)) return false;
        converged = change <= ROUND_OFF * scale || (change >= last && change <= STALLED * scale);
        last = change;
    }
    for (size_t k = 0; k < f->n; k++) p1[k] = p0[k] - h * f->force[k];
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < f->n; k++) p1[k] += multiplier[f->list[i]] * f->normal[(size_t)i * f->n + k];
    return converged && (!count || project(f, count, q1, p1));
}
