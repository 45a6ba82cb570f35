// SPDX-License-Identifier: Apache-2.0
// Large contact problems: block Gauss-Seidel over contacts (Jean & Moreau 1992), from the impulses of the step before, and the semismooth
// Newton method on the conditions of contact and friction (Alart & Curnier 1991), which gives the digits that sweeps are slow to find.
#include <math.h>
#include <string.h>

#include "dynamics/stepping/solver.h"

// Sweeps in all; sweeps between looks at the residual; repetitions within a contact; steps of Newton's method.
enum { MOST_SWEEPS = 2000, SWEEPS_A_LOOK = 20, LOCAL_SWEEPS = 4, MOST_NEWTON = 8 };
// Newton's method starts when sweeps are as near.
#define NEAR_RESIDUAL 1e-2
// Ends the search: verified solutions need CAROM_LCP_TOLERANCE.
#define GOAL 1e-11
// Where contacts depend on each other, impulses are not unique: Newton's steps keep to the last ones by this share of the largest of W.
#define PROXIMITY 1e-9
// A point this near to a corner of a friction cone's section, relative to its radius, is there.
#define ACTIVE_CORNER 1e-12

// The largest eigenvalue of a contact's tangential block of W.
static double find_stiffness(const stepping_problem *problem, const stepping_contact *contact) {
    const size_t all = (size_t)(problem->rows + problem->dry), first = (size_t)contact->row + 1;
    const double *block = problem->W + first * all + first;
    if (contact->tangents < 2) return contact->tangents ? block[0] : 0;
    return 0.5 * (block[0] + block[all + 1]) + hypot(0.5 * (block[0] - block[all + 1]), block[1]);
}

// ------------------------------------------------------------------------------------------------------------- sweeping

// One contact, with the impulses of all others as they are: its normal impulse, then its friction, in turn.
static void sweep_contact(const stepping_solver *solver, stepping_problem *problem, const stepping_contact *contact) {
    const int all = problem->rows + problem->dry, width = 1 + contact->tangents;
    const double *W = problem->W + (size_t)contact->row * (size_t)all + (size_t)contact->row;
    double *p = problem->impulse + contact->row, u[3] = {0};
    for (int a = 0; a < width; a++)
        u[a] = problem->free[contact->row + a] + carom_dot(all, problem->W + (size_t)(contact->row + a) * (size_t)all, problem->impulse);
    const double stiffness = find_stiffness(problem, contact);
    for (int k = 0; k < (contact->edges ? LOCAL_SWEEPS : 1); k++) {
        double change[3] = {W[0] > 0 ? fmax(p[0] - u[0] / W[0], 0) - p[0] : 0, 0, 0}, point[2] = {0}, nearest[2] = {0};
        for (int r = 0; r < width; r++) u[r] += W[r * all] * change[0];
        p[0] += change[0];
        if (!contact->edges || !(stiffness > 0)) continue;
        for (int r = 0; r < contact->tangents; r++) point[r] = p[1 + r] - u[1 + r] / stiffness;
        stepping_project_friction(stepping_directions(solver, contact), contact->edges, contact->tangents, contact->touch.friction * p[0],
                                  point, nearest);
        for (int r = 0; r < contact->tangents; r++) {
            change[1 + r] = nearest[r] - p[1 + r];
            p[1 + r] = nearest[r];
        }
        for (int r = 0; r < width; r++)
            for (int q = 1; q < width; q++) u[r] += W[r * all + q] * change[q];
    }
}

static void sweep(const stepping_solver *solver, stepping_problem *problem) {
    const int all = problem->rows + problem->dry;
    for (int i = 0; i < problem->contacts; i++) sweep_contact(solver, problem, &problem->contact[i]);
    for (int r = problem->rows; r < all; r++) {
        const double *row = problem->W + (size_t)r * (size_t)all, bound = problem->bound[r - problem->rows];
        if (!(row[r] > 0)) continue;
        const double u = problem->free[r] + carom_dot(all, row, problem->impulse);
        problem->impulse[r] = fmin(fmax(problem->impulse[r] - u / row[r], -bound), bound);
    }
}

// -------------------------------------------------------------------------------------------------------------- Newton

// Row r of the equations: velocity r vanishes.
static void stop_row(const stepping_solver *solver, const stepping_problem *problem, int r, double proximity) {
    const size_t all = (size_t)(problem->rows + problem->dry);
    double *row = solver->newton + (size_t)r * all;
    memcpy(row, problem->W + (size_t)r * all, all * sizeof *row);
    row[r] += proximity;
    solver->right[r] = proximity * problem->impulse[r] - problem->free[r];
}

// Rows of the friction of a contact that presses: it sticks, or its friction is a corner of its section of the cone, or on a side of it.
static void friction_rows(const stepping_solver *solver, const stepping_problem *problem, const stepping_contact *contact,
                          double proximity) {
    const size_t all = (size_t)(problem->rows + problem->dry), first = (size_t)contact->row + 1;
    const double mu = contact->touch.friction, stiffness = find_stiffness(problem, contact), *p = problem->impulse + contact->row;
    const double *directions = stepping_directions(solver, contact);
    double point[2] = {0}, nearest[2] = {0}, *rows[2] = {solver->newton + first * all, solver->newton + (first + 1) * all};
    for (int r = 0; r < contact->tangents; r++) point[r] = p[1 + r] - problem->after[contact->row + 1 + r] / stiffness;
    stepping_project_friction(directions, contact->edges, contact->tangents, mu * fmax(p[0], 0), point, nearest);
    for (int r = 0; r < contact->tangents; r++) stop_row(solver, problem, (int)first + r, proximity);
    if (!memcmp(point, nearest, sizeof point)) return;
    if (contact->tangents == 1) {
        // p_t = +-mu p_n.
        memset(rows[0], 0, all * sizeof **rows);
        rows[0][first] = 1;
        rows[0][first - 1] = nearest[0] < 0 ? mu : -mu;
        solver->right[first] = 0;
        return;
    }
    // The corner that is nearest, and the side that starts there or ends there.
    int corner = 0;
    double best = INFINITY;
    const double radius = mu * p[0];
    for (int e = 0; e < contact->edges; e++) {
        const double off = hypot(nearest[0] - radius * directions[2 * e], nearest[1] - radius * directions[2 * e + 1]);
        if (off < best) {
            best = off;
            corner = e;
        }
    }
    const double *d = directions + 2 * corner, along = d[0] * nearest[1] - d[1] * nearest[0];
    const double *other = directions + 2 * ((corner + (along > 0 ? 1 : contact->edges - 1)) % contact->edges);
    const double side[2] = {other[0] - d[0], other[1] - d[1]}, outward[2] = {other[0] + d[0], other[1] + d[1]};
    const bool at_corner = best <= ACTIVE_CORNER * radius;
    for (size_t j = 0; j < all; j++) rows[1][j] = at_corner ? 0 : side[0] * rows[0][j] + side[1] * rows[1][j];
    solver->right[first + 1] = at_corner ? 0 : side[0] * solver->right[first] + side[1] * solver->right[first + 1];
    memset(rows[0], 0, all * sizeof **rows);
    solver->right[first] = 0;
    if (at_corner) {
        // p_t = mu p_n d.
        for (int r = 0; r < 2; r++) {
            rows[r][first + (size_t)r] = 1;
            rows[r][first - 1] = -mu * d[r];
        }
        return;
    }
    // On the side: outward.(p_t - mu p_n d) = 0.
    for (int r = 0; r < 2; r++) rows[0][first + (size_t)r] = outward[r];
    rows[0][first - 1] = -mu * (outward[0] * d[0] + outward[1] * d[1]);
}

// One step: the linear equations of what each contact does at the present impulses. False when they are singular.
static bool newton_step(const stepping_solver *solver, stepping_problem *problem, double proximity) {
    const size_t all = (size_t)(problem->rows + problem->dry);
    memset(solver->newton, 0, all * all * sizeof *solver->newton);
    memset(solver->right, 0, all * sizeof *solver->right);
    for (int i = 0; i < problem->contacts; i++) {
        const stepping_contact *contact = &problem->contact[i];
        const size_t n = (size_t)contact->row;
        const double inverse = problem->W[n * all + n];
        const bool presses = inverse * problem->impulse[n] > problem->after[n];
        for (size_t r = n; r <= n + (size_t)contact->tangents; r++) solver->newton[r * all + r] = 1;
        if (presses) stop_row(solver, problem, contact->row, proximity);
        if (presses && contact->edges) friction_rows(solver, problem, contact, proximity);
    }
    for (size_t r = (size_t)problem->rows; r < all; r++) {
        const double bound = problem->bound[r - (size_t)problem->rows];
        const double point = problem->W[r * all + r] * problem->impulse[r] - problem->after[r], limit = problem->W[r * all + r] * bound;
        if (fabs(point) <= limit)
            stop_row(solver, problem, (int)r, proximity);
        else {
            solver->newton[r * all + r] = 1;
            solver->right[r] = point > 0 ? bound : -bound;
        }
    }
    if (!carom_lu_factor((int)all, solver->newton, solver->exchanges)) return false;
    carom_lu_solve((int)all, solver->newton, solver->exchanges, solver->right);
    if (!carom_all_finite(all, solver->right)) return false;
    memcpy(problem->impulse, solver->right, all * sizeof *problem->impulse);
    return true;
}

// Newton's method from the present impulses, which come back when it does not get to a solution.
static double polish(const stepping_solver *solver, stepping_problem *problem, double residual) {
    const size_t all = (size_t)(problem->rows + problem->dry);
    const double proximity = PROXIMITY / solver->mass;
    memcpy(solver->kept, problem->impulse, all * sizeof *problem->impulse);
    double best = residual;
    for (int k = 0; k < MOST_NEWTON && best > GOAL && newton_step(solver, problem, proximity); k++) {
        const double now = stepping_residual(solver, problem);
        if (!(now < best)) continue;
        best = now;
        memcpy(solver->kept, problem->impulse, all * sizeof *problem->impulse);
    }
    memcpy(problem->impulse, solver->kept, all * sizeof *problem->impulse);
    return stepping_residual(solver, problem);
}

double stepping_sweep(const stepping_solver *solver, stepping_problem *problem) {
    double residual = stepping_residual(solver, problem), tried = INFINITY;
    for (int sweeps = 0; residual > GOAL && sweeps < MOST_SWEEPS; sweeps += SWEEPS_A_LOOK) {
        // Again only from a point that is nearer than the last one.
        if (residual <= fmin(NEAR_RESIDUAL, 0.5 * tried)) {
            tried = residual;
            residual = polish(solver, problem, residual);
        }
        if (residual <= GOAL) break;
        for (int k = 0; k < SWEEPS_A_LOOK; k++) sweep(solver, problem);
        residual = stepping_residual(solver, problem);
    }
    return residual;
}
