// SPDX-License-Identifier: Apache-2.0
// The midpoint rule L_d = h L((q0+q1)/2, (q1-q0)/h) for L = v'M(q)v/2 - V(q) (Seghete & Murphey, section VI-A), with v = (q1-q0)/h and
// F = grad_q (v'M v)/2 - grad V - D v at the midpoint:
//     p0 = M v - h/2 F - sum_i lambda_i grad phi_i(q0),      p1 = p0 + h F + sum_i lambda_i grad phi_i(q0).
// The paper has no contacts that stay closed; the multipliers lambda of held ones keep phi_i(q1) = 0. Dampers D enter by the discrete
// Lagrange-d'Alembert principle.
#include "dynamics/propagative/flight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"

// The iteration for q1 contracts with the step; it ends when positions move by round-off alone.
#define ROUND_OFF 1e-15
// Where round-off keeps them moving by more, the iteration also ends when its steps stop shrinking and are at most this large.
#define STALLED 1e-12

enum { MOST_ITERATIONS = 200 };

struct propagative_flight {
    const carom_system *system;
    void *workspace;  // of the system
    size_t n, m;      // velocities, contacts
    carom_arena arena;
    carom_system_terms terms;  // at `place`
    double *place;             // [n]
    bool placed, factored;     // the terms, the factor are those of `place`
    double *factor;            // of the mass matrix
    double *zero;              // [n] of zeros
    double *middle, *next;     // [n] the midpoint, and the end that follows from it
    double *v, *force, *drag;  // [n] at the midpoint: velocity, F, and the part of F that takes energy
    double *bent;              // [n] grad_q (v'M v)/2
    double *one, *bias[4];     // [n] scratch
    double *normal, *closing;  // [m x n] gradients of the held contacts' gaps at q0, at q1
    double *response;          // [m x n] M^-1 of them
    double *matrix;            // [m x m]
    double *gap;               // [m]
    int *list, *exchanges;     // [m] the held contacts
};

// ---------------------------------------------------------------------------------------------------------------- life

carom_status propagative_flight_create(const carom_system *system, propagative_flight **flight, carom_error *error) {
    *flight = NULL;
    propagative_flight *f = calloc(1, sizeof *f);
    if (!f) return carom_fail_memory(error, "motion");
    const size_t n = (size_t)system->nv, m = (size_t)system->contacts;
    *f = (propagative_flight){.system = system, .n = n, .m = m};
    carom_system_terms *t = &f->terms;
    double **const of_n[] = {&f->place, &f->zero, &f->middle,  &f->v,       &f->force,   &f->drag,    &f->one,
                             &f->bent,  &f->next, &f->bias[0], &f->bias[1], &f->bias[2], &f->bias[3], &t->bias};
    double **const of_m[] = {&t->gap, &t->normal_drift, &t->tangent_drift, &f->gap};
    double **const of_mn[] = {&t->normal, &t->tangent, &f->normal, &f->response, &f->closing};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++) *of_n[i] = carom_arena_take(&f->arena, n, sizeof(double));
    for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) *of_m[i] = carom_arena_take(&f->arena, m, sizeof(double));
    for (size_t i = 0; i < sizeof of_mn / sizeof *of_mn; i++) *of_mn[i] = carom_arena_take(&f->arena, m * n, sizeof(double));
    t->mass = carom_arena_take(&f->arena, n * n, sizeof(double));
    f->factor = carom_arena_take(&f->arena, n * n, sizeof(double));
    f->matrix = carom_arena_take(&f->arena, m * m, sizeof(double));
    f->list = carom_arena_take(&f->arena, m, sizeof *f->list);
    f->exchanges = carom_arena_take(&f->arena, m, sizeof *f->exchanges);
    const carom_status status = f->arena.failed ? carom_fail_memory(error, "motion") : system->open(system->self, &f->workspace, error);
    if (status)
        propagative_flight_free(f);
    else
        *flight = f;
    return status;
}

void propagative_flight_free(propagative_flight *f) {
    if (!f) return;
    if (f->workspace) f->system->close(f->workspace);
    carom_arena_free(&f->arena);
    free(f);
}

// --------------------------------------------------------------------------------------------------------------- terms

const carom_system_terms *propagative_flight_look(propagative_flight *f, const double *q) {
    if (f->placed && !memcmp(q, f->place, f->n * sizeof *q)) return &f->terms;
    memcpy(f->place, q, f->n * sizeof *q);
    f->system->evaluate(f->workspace, q, f->zero, &f->terms);
    f->placed = true;
    f->factored = f->factored && f->system->constant_mass;
    return &f->terms;
}

// Factors M(q).
static bool factor_mass(propagative_flight *f, const double *q) {
    propagative_flight_look(f, q);
    if (f->factored) return true;
    memcpy(f->factor, f->terms.mass, f->n * f->n * sizeof *f->factor);
    f->factored = carom_all_finite(f->n * f->n, f->factor) && !carom_cholesky_factor((int)f->n, f->factor);
    return f->factored;
}

// x = M^-1 x with the last factor.
static void solve_mass(const propagative_flight *f, double *x) {
    carom_cholesky_forward((int)f->n, f->factor, x);
    carom_cholesky_backward((int)f->n, f->factor, x);
}

bool propagative_flight_velocity(propagative_flight *f, const double *q, const double *p, double *v) {
    if (!factor_mass(f, q)) return false;
    memmove(v, p, f->n * sizeof *p);
    solve_mass(f, v);
    return true;
}

double propagative_flight_kinetic_energy(propagative_flight *f, const double *q, const double *p) {
    return propagative_flight_velocity(f, q, p, f->one) ? 0.5 * carom_dot((int)f->n, p, f->one) : NAN;
}

// The bias forces at `place` with another velocity. The other terms stay as they are.
static void find_bias(propagative_flight *f, const double *v, double *bias) {
    double *kept = f->terms.bias;
    f->terms.bias = bias;
    f->system->evaluate(f->workspace, f->place, v, &f->terms);
    f->terms.bias = kept;
}

// F at the midpoint, from the terms there: grad_q (v'M v)/2 and the drag less the gradient of the potential. The bias is
// b(v) = Gamma(v, v) + D v + grad V with Gamma_j(v, w) = Gamma_jik v_i w_k the Christoffel symbols of M, whose sum v_j Gamma_j(e_i, v) is
// half of v'(dM/dq_i)v. Differences of b give both exactly:
//     Gamma(v, e) = (b(v + e) - b(v) - b(e) + b(0))/2,      D v = (b(v) - b(-v))/2.
static void find_force(propagative_flight *f) {
    const size_t n = f->n;
    const double *v = f->v, *still = f->terms.bias, *moving = f->bias[0];
    memset(f->bent, 0, n * sizeof *f->bent);
    memset(f->drag, 0, n * sizeof *f->drag);
    // A unit of the size of the velocity: the differences lose no digits.
    const double unit = f->system->constant_mass ? 0 : carom_max_abs(n, v);
    if (unit > 0) {
        for (size_t k = 0; k < n; k++) f->one[k] = -v[k];
        find_bias(f, v, f->bias[0]);
        find_bias(f, f->one, f->bias[1]);
        for (size_t k = 0; k < n; k++) f->drag[k] = 0.5 * (f->bias[1][k] - moving[k]);
        for (size_t i = 0; i < n; i++) {
            memset(f->one, 0, n * sizeof *f->one);
            f->one[i] = unit;
            find_bias(f, f->one, f->bias[2]);
            for (size_t k = 0; k < n; k++) f->one[k] += v[k];
            find_bias(f, f->one, f->bias[3]);
            double sum = 0;
            for (size_t k = 0; k < n; k++) sum += v[k] * 0.5 * (f->bias[3][k] - moving[k] - f->bias[2][k] + still[k]);
            f->bent[i] = sum / unit;
        }
    }
    for (size_t k = 0; k < n; k++) f->force[k] = f->bent[k] + f->drag[k] - f->terms.bias[k];
}

// -------------------------------------------------------------------------------------------------------- constraints

// One Newton step of the multipliers towards phi(next) = 0. False when the contacts' gradients are dependent.
static bool close_gaps(propagative_flight *f, int count, double h, double *multiplier) {
    // What unit impulses on the held contacts do, with the last factor of the mass.
    memcpy(f->response, f->normal, (size_t)count * f->n * sizeof *f->response);
    for (int i = 0; i < count; i++) solve_mass(f, f->response + (size_t)i * f->n);
    const carom_system_terms *terms = propagative_flight_look(f, f->next);
    for (int i = 0; i < count; i++) {
        const double *row = terms->normal + (size_t)f->list[i] * f->n;
        f->gap[i] = -terms->gap[f->list[i]];
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

// p1 without the part that opens or closes held contacts: p1 -= sum_i x_i grad phi_i(q1) with J M^-1 J' x = J M^-1 p1.
static bool project(propagative_flight *f, int count, const double *q1, double *p1) {
    if (!factor_mass(f, q1)) return false;
    for (int i = 0; i < count; i++)
        memcpy(f->closing + (size_t)i * f->n, f->terms.normal + (size_t)f->list[i] * f->n, f->n * sizeof *f->closing);
    memcpy(f->response, f->closing, (size_t)count * f->n * sizeof *f->response);
    for (int i = 0; i < count; i++) {
        solve_mass(f, f->response + (size_t)i * f->n);
        f->gap[i] = carom_dot((int)f->n, f->response + (size_t)i * f->n, p1);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            f->matrix[i * count + j] = carom_dot((int)f->n, f->closing + (size_t)i * f->n, f->response + (size_t)j * f->n);
    if (!carom_lu_factor(count, f->matrix, f->exchanges)) return false;
    carom_lu_solve(count, f->matrix, f->exchanges, f->gap);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < f->n; k++) p1[k] -= f->gap[i] * f->closing[(size_t)i * f->n + k];
    return true;
}

static void add_multipliers(const propagative_flight *f, int count, const double *multiplier, double *p) {
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < f->n; k++) p[k] += multiplier[f->list[i]] * f->normal[(size_t)i * f->n + k];
}

// -------------------------------------------------------------------------------------------------------------- a step

bool propagative_flight_advance(propagative_flight *f, const double *q0, const double *p0, double h, const bool *held, double *q1,
                                double *p1, double *multiplier, double *work) {
    const size_t n = f->n;
    // Gradients of the held contacts' gaps at the start.
    const carom_system_terms *terms = propagative_flight_look(f, q0);
    int count = 0;
    for (size_t c = 0; c < f->m; c++) {
        multiplier[c] = 0;
        if (!held[c]) continue;
        memcpy(f->normal + (size_t)count * n, terms->normal + c * n, n * sizeof *f->normal);
        f->list[count++] = (int)c;
    }
    memcpy(q1, q0, n * sizeof *q1);
    if (!propagative_flight_velocity(f, q0, p0, f->v)) return false;
    double last = INFINITY, scale = carom_max_abs(n, q0);
    bool converged = false;
    for (int i = 0; i < MOST_ITERATIONS && !converged; i++) {
        // The end that force and multipliers at the midpoint lead to: M v = p0 + h/2 F + sum_i lambda_i grad phi_i(q0).
        for (size_t k = 0; k < n; k++) f->middle[k] = 0.5 * (q0[k] + q1[k]);
        if (!factor_mass(f, f->middle)) return false;
        find_force(f);
        for (size_t k = 0; k < n; k++) f->v[k] = p0[k] + 0.5 * h * f->force[k];
        add_multipliers(f, count, multiplier, f->v);
        solve_mass(f, f->v);
        for (size_t k = 0; k < n; k++) f->next[k] = q0[k] + h * f->v[k];
        // Before multipliers act, in the first round: the path that they take back where contacts hold a body at the origin.
        if (i == 0)
            for (size_t k = 0; k < n; k++) scale = fmax(scale, h * fabs(f->v[k]));
        if (count && h > 0 && !close_gaps(f, count, h, multiplier)) return false;
        if (!carom_all_finite(n, f->next)) return false;
        double change = 0;
        for (size_t k = 0; k < n; k++) change = fmax(change, fabs(f->next[k] - q1[k]));
        scale = fmax(scale, carom_max_abs(n, f->next));
        memcpy(q1, f->next, n * sizeof *q1);
        converged = change <= ROUND_OFF * scale || (change >= last && change <= STALLED * scale);
        last = change;
    }
    for (size_t k = 0; k < n; k++) p1[k] = p0[k] + h * f->force[k];
    add_multipliers(f, count, multiplier, p1);
    *work = h * carom_dot((int)n, f->drag, f->v);
    return converged && (!count || project(f, count, q1, p1));
}
