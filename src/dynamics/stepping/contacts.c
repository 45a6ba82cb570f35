// SPDX-License-Identifier: Apache-2.0
// Contacts: what detection finds, which of them are closed over a part of a step, and their problem in contact space.
#include <math.h>
#include <string.h>

#include "dynamics/stepping/stepping.h"

// Rounds of adding contacts that the solution of the others would drive in.
enum { MOST_ROUNDS = 4 };
// A tangential direction in which a contact cannot move, as the second one of a planar mechanism: its inverse mass is below this share of
// the contact's largest. Round-off is below, and a mass ratio as large is beyond double precision.
#define NO_MOTION 1e-12
// An equation that depends on others: less than this share of its row is left without them.
#define DEPENDENT 1e-8

bool stepping_overflows(stepping *run, const double *q) {
    if (carom_all_finite((size_t)run->nq, q)) return false;
    run->verdict = CAROM_NO_FORCE;
    return true;
}

carom_status stepping_detect(stepping *run, const double *q, double margin, carom_error *error) {
    run->touches.count = run->touches.equations = run->touches.idle_count = 0;
    if (stepping_overflows(run, q)) return CAROM_OK;
    carom_status status = run->mechanism->detect(run->workspace, q, margin, &run->touches, error);
    if (!status) status = stepping_reserve(run, run->touches.count, run->touches.equations, error);
    if (!status) carom_multiply(run->touches.count, run->nv, run->touches.normal, run->v, run->rate);
    return status;
}

bool stepping_choose(stepping *run, bool strikes) {
    bool found = false;
    for (int i = 0; i < run->touches.count; i++) {
        const carom_touch *touch = &run->touches.touch[i];
        const double *normal = run->touches.normal + (size_t)i * run->n;
        run->predicted[i] = run->rate[i] + carom_dot(run->nv, normal, run->change);
        const bool touching = touch->gap <= run->tolerance || touch->gap + 0.5 * run->h * run->rate[i] <= 0;
        if (run->rate[i] < -run->impact_speed && !stepping_was_closed(run, touch)) {
            // It hits, now or later.
            run->chosen[i] = strikes && touching;
            found = found || touching || !strikes;
        } else {
            // Slow ones are stopped at their surface.
            run->chosen[i] = touching || touch->gap + run->h * run->predicted[i] <= 0;
        }
    }
    return found;
}

// --------------------------------------------------------------------------------------------------- the frozen problem

// Orthonormal rows of L^-1 G', and the same combinations of G and of the velocities that take a share of the residual back.
static void freeze_equations(stepping *run, const double *factor) {
    const size_t n = run->n;
    const carom_touches *touches = &run->touches;
    run->equations = 0;
    for (int k = 0; k < touches->equations; k++) {
        double *half = run->half_equation + (size_t)run->equations * n, *row = run->equation + (size_t)run->equations * n;
        double *target = &run->target[run->equations];
        memcpy(row, touches->equation + (size_t)k * n, n * sizeof *row);
        memcpy(half, row, n * sizeof *half);
        carom_cholesky_forward(run->nv, factor, half);
        *target = -run->options->stabilisation * touches->residual[k] / run->options->step;
        const double whole = sqrt(carom_dot(run->nv, half, half));
        // Twice is enough (Gram-Schmidt with one repetition).
        for (int j = 0; j < 2 * run->equations; j++) {
            const size_t other = (size_t)(j % run->equations);
            const double share = carom_dot(run->nv, half, run->half_equation + other * n);
            for (size_t i = 0; i < n; i++) {
                half[i] -= share * run->half_equation[other * n + i];
                row[i] -= share * run->equation[other * n + i];
            }
            *target -= share * run->target[other];
        }
        const double left = sqrt(carom_dot(run->nv, half, half));
        if (!(left > DEPENDENT * whole)) continue;
        for (size_t i = 0; i < n; i++) {
            half[i] /= left;
            row[i] /= left;
        }
        *target /= left;
        run->equations++;
    }
}

// Row L^-1 J_r' without what the equations take.
static void freeze_row(const stepping *run, const double *factor, int r) {
    const size_t n = run->n;
    double *half = run->problem.half + (size_t)r * n;
    memcpy(half, run->problem.J + (size_t)r * n, n * sizeof *half);
    carom_cholesky_forward(run->nv, factor, half);
    for (int k = 0; k < run->equations; k++) {
        const double *equation = run->half_equation + (size_t)k * n, share = carom_dot(run->nv, equation, half);
        for (size_t i = 0; i < n; i++) half[i] -= share * equation[i];
    }
}

// Turns the two tangents of a contact, in the rows that follow its normal, into directions in which it moves: in a planar mechanism one,
// at a stop none.
static void turn_tangents(const stepping *run, stepping_contact *contact) {
    const size_t n = run->n;
    double *J = run->problem.J + (size_t)(contact->row + 1) * n, *half = run->problem.half + (size_t)(contact->row + 1) * n;
    const double a = carom_dot(run->nv, half, half), b = carom_dot(run->nv, half, half + n), c = carom_dot(run->nv, half + n, half + n);
    const double normal = carom_dot(run->nv, half - n, half - n), middle = 0.5 * (a + c), off = hypot(0.5 * (a - c), b);
    const double limit = NO_MOTION * fmax(middle + off, normal);
    memcpy(contact->turn, (double[2][2]){{1, 0}, {0, 1}}, sizeof contact->turn);
    contact->tangents = middle - off > limit ? 2 : middle + off > limit ? 1 : 0;
    if (contact->tangents != 1) return;
    // The eigenvector of the block [a b; b c] that has all of it.
    const double x = a >= c ? a : b, y = a >= c ? b : c, length = hypot(x, y);
    contact->turn[0][0] = x / length;
    contact->turn[0][1] = y / length;
    for (size_t i = 0; i < n; i++) {
        J[i] = contact->turn[0][0] * J[i] + contact->turn[0][1] * J[n + i];
        half[i] = contact->turn[0][0] * half[i] + contact->turn[0][1] * half[n + i];
    }
}

void stepping_freeze(stepping *run, const double *factor, const double *dry_friction) {
    const size_t n = run->n;
    const carom_touches *touches = &run->touches;
    stepping_problem *problem = &run->problem;
    freeze_equations(run, factor);
    problem->contacts = problem->rows = problem->dry = 0;
    for (int i = 0; i < touches->count; i++) {
        if (!run->chosen[i]) continue;
        stepping_contact *contact = &problem->contact[problem->contacts++];
        *contact = (stepping_contact){.touch = touches->touch[i], .row = problem->rows, .rate = run->rate[i]};
        // A closed contact may close what is left of its gap until the next middle of a step; one that penetrates is pushed apart.
        const double gap = touches->touch[i].gap, step = run->options->step;
        contact->shift = gap > 0 ? gap / run->h : fmax(run->options->stabilisation * gap / step, -0.5 * run->impact_speed);
        memcpy(problem->J + (size_t)contact->row * n, touches->normal + (size_t)i * n, n * sizeof *problem->J);
        memcpy(problem->J + (size_t)(contact->row + 1) * n, touches->tangent + 2 * (size_t)i * n, 2 * n * sizeof *problem->J);
        for (int r = 0; r < 3; r++) freeze_row(run, factor, contact->row + r);
        turn_tangents(run, contact);
        const bool slides = contact->touch.friction > 0;
        contact->edges = !slides || !contact->tangents ? 0 : contact->tangents == 1 ? 2 : (int)run->options->cone_edges;
        problem->rows += 1 + contact->tangents;
    }
    int rows = problem->rows;
    for (int i = 0; dry_friction && i < run->nv; i++) {
        if (!(dry_friction[i] > 0)) continue;
        problem->dry_coordinate[problem->dry] = i;
        problem->bound[problem->dry++] = run->h * dry_friction[i];
        memset(problem->J + (size_t)rows * n, 0, n * sizeof *problem->J);
        problem->J[(size_t)rows * n + (size_t)i] = 1;
        freeze_row(run, factor, rows++);
    }
    carom_gram(rows, run->nv, problem->half, problem->W);
}

// --------------------------------------------------------------------------------------------------------------- solving

// v' = v + change + what equations and impulses of the problem add.
static void add_impulses(stepping *run) {
    const size_t n = run->n;
    const stepping_problem *problem = &run->problem;
    double *sum = run->work_vector;
    memset(sum, 0, n * sizeof *sum);
    for (int r = 0; r < problem->rows + problem->dry; r++)
        for (size_t i = 0; i < n && problem->impulse[r] != 0; i++) sum[i] += problem->impulse[r] * problem->half[(size_t)r * n + i];
    carom_cholesky_backward(run->nv, run->factor, sum);
    for (size_t i = 0; i < n; i++) run->next[i] += sum[i];
}

// The velocity that smooth forces and equations alone lead to.
static void find_free(stepping *run) {
    const size_t n = run->n;
    double *sum = run->work_vector;
    for (size_t i = 0; i < n; i++) run->next[i] = run->v[i] + run->change[i];
    memset(sum, 0, n * sizeof *sum);
    for (int k = 0; k < run->equations; k++) {
        const double missing = run->target[k] - carom_dot(run->nv, run->equation + (size_t)k * n, run->next);
        for (size_t i = 0; i < n; i++) sum[i] += missing * run->half_equation[(size_t)k * n + i];
    }
    carom_cholesky_backward(run->nv, run->factor, sum);
    for (size_t i = 0; i < n; i++) run->next[i] += sum[i];
}

// Would the solved velocity drive a contact below its surface that was left open, and does not hit?
static bool add_driven(stepping *run) {
    bool added = false;
    for (int i = 0; i < run->touches.count; i++) {
        const carom_touch *touch = &run->touches.touch[i];
        if (run->chosen[i] || (run->rate[i] < -run->impact_speed && !stepping_was_closed(run, touch))) continue;
        const double rate = carom_dot(run->nv, run->touches.normal + (size_t)i * run->n, run->next);
        if (touch->gap + run->h * rate >= -run->tolerance) continue;
        run->chosen[i] = added = true;
    }
    return added;
}

carom_status stepping_solve(stepping *run, carom_error *error) {
    stepping_problem *problem = &run->problem;
    stepping_solution solution = {.solved = true};
    int round = 0;
    do {
        stepping_freeze(run, run->factor, run->terms.dry_friction);
        find_free(run);
        const int rows = problem->rows + problem->dry;
        carom_multiply(rows, run->nv, problem->J, run->next, problem->free);
        for (int i = 0; i < problem->contacts; i++) problem->free[problem->contact[i].row] += problem->contact[i].shift;
        if (!rows) continue;
        const carom_status status = stepping_solver_solve(run->solver, problem, &run->pivots, &solution, error);
        if (status) return status;
        run->solves++;
        add_impulses(run);
    } while (++round < MOST_ROUNDS && add_driven(run));
    if (!solution.solved) run->failures++;
    run->residual = fmax(run->residual, solution.residual);
    // The solution dissipates in the metric of A: p'(u + u')/2 <= 0, shifts included. What is above is an error.
    double gain = 0;
    for (int r = 0; r < problem->rows + problem->dry; r++) gain += 0.5 * problem->impulse[r] * (problem->free[r] + problem->after[r]);
    run->gain = fmax(run->gain, gain);
    run->balance.added += fmax(gain, 0);
    return CAROM_OK;
}
