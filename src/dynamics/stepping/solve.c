// SPDX-License-Identifier: Apache-2.0
// The contact problem of a step as an LCP: contacts as in the impact step of Anitescu & Potra, a normal shift included, and dry friction,
// whose impulse x - c has 0 <= x <= 2 c:
//     0 <= lam_n _|_ u_n >= 0,  0 <= lam_D _|_ D'u_t + gamma >= 0,  0 <= gamma _|_ mu lam_n - sum lam_D >= 0,
//     0 <= x _|_ u + sigma >= 0,  0 <= sigma _|_ 2 c - x >= 0.
// The basis of the step before is tried first, then Lemke's method; large problems are swept contact by contact.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/stepping/solver.h"

// A basis that is still right gives round-off; anything else is solved anew.
#define WARM_RESIDUAL 1e-12
// Size up to which problems are pivoted first.
enum { MOST_PIVOTED = 100 };
// Of sweeps, before the problem is pivoted.
enum { MOST_ATTEMPTS = 4 };

// An array of `room` entries that begins with the first `count` of another.
static void *take_copy(carom_arena *arena, int room, size_t size, const void *kept, int count) {
    void *taken = carom_arena_take(arena, (size_t)room, size);
    if (taken && count) memcpy(taken, kept, (size_t)count * size);
    return taken;
}

// Arrays for impulses of so many rows, and an LCP of this size, which may be 0. The basis and the impulses before stay.
static carom_status reserve(stepping_solver *solver, int rows, int size, carom_error *error) {
    const bool more_rows = rows > solver->row_room, larger = size > solver->room;
    if (!more_rows && !larger) return CAROM_OK;
    if (more_rows) solver->row_room = 2 * rows;
    if (larger) solver->room = 2 * size;
    const size_t n = (size_t)solver->room;
    carom_arena grown = {0};
    solver->previous = take_copy(&grown, solver->row_room, sizeof *solver->previous, solver->previous, solver->previous_rows);
    solver->contact = carom_arena_take(&grown, (size_t)solver->row_room, sizeof *solver->contact);
    solver->basic = take_copy(&grown, solver->room, sizeof *solver->basic, solver->basic, solver->basic_size);
    solver->force = carom_arena_take(&grown, n, sizeof *solver->force);
    solver->W = carom_arena_take(&grown, n * n, sizeof *solver->W);
    solver->w = carom_arena_take(&grown, n, sizeof *solver->w);
    solver->z = carom_arena_take(&grown, n, sizeof *solver->z);
    // It looks at the W that goes.
    carom_lcp_basis_free(solver->basis);
    solver->basis = NULL;
    carom_arena_free(&solver->arena);
    solver->arena = grown;
    if (grown.failed) return carom_fail_memory(error, "contact problem");
    if (!more_rows) return CAROM_OK;
    carom_sweep_room_free(solver->sweeping);
    solver->sweeping = NULL;
    return carom_sweep_room_create(solver->row_room, &solver->sweeping, error);
}

carom_status stepping_solver_create(stepping_solver **solver, int cone_edges, carom_error *error) {
    *solver = calloc(1, sizeof **solver);
    if (!*solver) return carom_fail_memory(error, "contact problem");
    carom_cone_directions(1, 2, (*solver)->planar);
    carom_cone_directions(2, cone_edges, (*solver)->spatial);
    return CAROM_OK;
}

void stepping_solver_free(stepping_solver *solver) {
    if (!solver) return;
    carom_lcp_basis_free(solver->basis);
    carom_arena_free(&solver->arena);
    carom_sweep_room_free(solver->sweeping);
    free(solver);
}

const double *stepping_directions(const stepping_solver *solver, const stepping_contact *contact) {
    return contact->tangents == 1 ? solver->planar : solver->spatial;
}

// ----------------------------------------------------------------------------------------------------------- assembling

// Units in which speeds and entries of W are about one, as powers of two.
static void find_units(stepping_solver *solver, const stepping_problem *problem) {
    const int rows = problem->rows + problem->dry;
    const double largest = carom_max_abs((size_t)rows * (size_t)rows, problem->W), mass = carom_scale_to_one(largest);
    double speed = carom_max_abs((size_t)rows, problem->free);
    for (int d = 0; d < problem->dry; d++) speed = fmax(speed, problem->bound[d] / mass);
    speed = 1 / carom_scale_to_one(speed);
    solver->mass = isnormal(mass * speed) ? mass : 1;
    solver->speed = isnormal(mass * speed) ? speed : 1;
}

// The problem as sweeps see it, which judge all impulses.
static void describe(stepping_solver *solver, const stepping_problem *problem) {
    for (int i = 0; i < problem->contacts; i++) {
        const stepping_contact *contact = &problem->contact[i];
        solver->contact[i] = (carom_sweep_contact){.row = contact->row,
                                                   .tangents = contact->tangents,
                                                   .edges = contact->edges,
                                                   .directions = stepping_directions(solver, contact),
                                                   .friction = contact->touch.friction,
                                                   .cap = INFINITY};
    }
    solver->sweeps = (carom_sweep_problem){.contacts = problem->contacts,
                                           .rows = problem->rows,
                                           .dry = problem->dry,
                                           .contact = solver->contact,
                                           .bound = problem->bound,
                                           .W = problem->W,
                                           .free = problem->free,
                                           .mass = solver->mass,
                                           .speed = solver->speed,
                                           .attempts = MOST_ATTEMPTS,
                                           .impulse = problem->impulse,
                                           .after = problem->after};
}

// Forces of the LCP in the order lam_n, lam_D, x: each pushes along a combination of rows of the problem.
static void list_forces(stepping_solver *solver, const stepping_problem *problem) {
    int count = 0, gammas = 0;
    for (int i = 0; i < problem->contacts; i++) solver->force[count++] = (stepping_force){problem->contact[i].row, 1, {1, 0}, -1};
    for (int i = 0; i < problem->contacts; i++) {
        const stepping_contact *contact = &problem->contact[i];
        const double *directions = stepping_directions(solver, contact);
        for (int a = 0; a < contact->edges; a++) {
            stepping_force *force = &solver->force[count++];
            *force = (stepping_force){contact->row + 1, contact->tangents, {directions[a * contact->tangents], 0}, gammas};
            if (contact->tangents == 2) force->along[1] = directions[2 * a + 1];
        }
        gammas += contact->edges > 0;
    }
    for (int d = 0; d < problem->dry; d++) solver->force[count++] = (stepping_force){problem->rows + d, 1, {1, 0}, -1};
    solver->forces = count;
    solver->gammas = gammas;
}

static void assemble(stepping_solver *solver, const stepping_problem *problem) {
    const size_t size = (size_t)solver->size, rows = (size_t)(problem->rows + problem->dry);
    const int first_dry = solver->forces - problem->dry, first_sigma = solver->forces + solver->gammas;
    memset(solver->W, 0, size * size * sizeof *solver->W);
    for (int f = 0; f < solver->forces; f++) {
        const stepping_force *a = &solver->force[f];
        // Dry friction starts at its lower bound.
        double speed = 0;
        for (int p = 0; p < a->width; p++) {
            const double *row = problem->W + (size_t)(a->row + p) * rows;
            double own = problem->free[a->row + p];
            for (int d = 0; d < problem->dry; d++) own -= row[problem->rows + d] * problem->bound[d];
            speed += a->along[p] * own;
        }
        solver->w[f] = speed / solver->speed;
        for (int g = 0; g < solver->forces; g++) {
            const stepping_force *b = &solver->force[g];
            double sum = 0;
            for (int p = 0; p < a->width; p++)
                for (int q = 0; q < b->width; q++)
                    sum += a->along[p] * b->along[q] * problem->W[(size_t)(a->row + p) * rows + (size_t)(b->row + q)];
            solver->W[(size_t)f * size + (size_t)g] = sum * solver->mass;
        }
        if (a->gamma < 0) continue;
        const size_t gamma = (size_t)(solver->forces + a->gamma);
        solver->W[gamma * size + (size_t)f] = -1;
        solver->W[(size_t)f * size + gamma] = 1;
    }
    for (int i = 0, gamma = 0; i < problem->contacts; i++) {
        if (!problem->contact[i].edges) continue;
        solver->w[solver->forces + gamma] = 0;
        solver->W[(size_t)(solver->forces + gamma++) * size + (size_t)i] = problem->contact[i].touch.friction;
    }
    for (int d = 0; d < problem->dry; d++) {
        const size_t x = (size_t)(first_dry + d), sigma = (size_t)(first_sigma + d);
        solver->W[sigma * size + x] = -1;
        solver->W[x * size + sigma] = 1;
        solver->w[sigma] = 2 * problem->bound[d] / (solver->mass * solver->speed);
    }
}

// Impulses of a solution z, inside their cones.
static void read_out(const stepping_solver *solver, stepping_problem *problem) {
    memset(problem->impulse, 0, (size_t)(problem->rows + problem->dry) * sizeof *problem->impulse);
    for (int f = 0; f < solver->forces; f++)
        for (int p = 0; p < solver->force[f].width; p++)
            problem->impulse[solver->force[f].row + p] +=
                fmax(solver->z[f], 0) * solver->force[f].along[p] * (solver->mass * solver->speed);
    for (int d = 0; d < problem->dry; d++) {
        double *impulse = &problem->impulse[problem->rows + d];
        *impulse = fmin(*impulse, 2 * problem->bound[d]) - problem->bound[d];
    }
}

// -------------------------------------------------------------------------------------------------------------- solving

// The equations of the last basis, for the present problem.
static double try_basis(stepping_solver *solver, stepping_problem *problem, carom_error *error) {
    if (solver->basic_size != solver->size) return INFINITY;
    if (solver->basis_size != solver->size || !solver->basis) {
        carom_lcp_basis_free(solver->basis);
        solver->basis = NULL;
        if (carom_lcp_basis_create(solver->size, solver->W, &solver->basis, error)) return INFINITY;
        solver->basis_size = solver->size;
    }
    if (!carom_lcp_basis_solve(solver->basis, solver->basic, solver->w, solver->z)) return INFINITY;
    read_out(solver, problem);
    return carom_sweep_residual(&solver->sweeps);
}

static carom_status try_lemke(stepping_solver *solver, stepping_problem *problem, int64_t *pivots, double *residual, carom_error *error) {
    carom_lcp *lcp;
    const carom_status status = carom_lcp_create(&carom_lcp_lemke, solver->size, solver->W, &lcp, error);
    if (status) return status;
    carom_lcp_info info;
    carom_lcp_solve(lcp, solver->w, solver->z, &info);
    *pivots += info.pivots;
    memcpy(solver->basic, carom_lcp_lemke_basic(lcp), (size_t)solver->size * sizeof *solver->basic);
    solver->basic_size = solver->size;
    carom_lcp_free(lcp);
    read_out(solver, problem);
    *residual = carom_sweep_residual(&solver->sweeps);
    return CAROM_OK;
}

// Pivoting: the basis of the problem before, then Lemke's method.
static carom_status pivot(stepping_solver *solver, stepping_problem *problem, int64_t *pivots, double *residual, carom_error *error) {
    list_forces(solver, problem);
    assemble(solver, problem);
    *residual = try_basis(solver, problem, error);
    return *residual <= WARM_RESIDUAL ? CAROM_OK : try_lemke(solver, problem, pivots, residual, error);
}

carom_status stepping_solver_solve(stepping_solver *solver, stepping_problem *problem, int64_t *pivots, stepping_solution *solution,
                                   carom_error *error) {
    const int rows = problem->rows + problem->dry;
    solver->size = problem->contacts + 2 * problem->dry;
    for (int i = 0; i < problem->contacts; i++) solver->size += problem->contact[i].edges + (problem->contact[i].edges > 0);
    carom_status status = reserve(solver, rows, solver->size <= STEPPING_MOST_PIVOTED ? solver->size : 0, error);
    if (status) return status;
    find_units(solver, problem);
    describe(solver, problem);
    double residual = INFINITY;
    if (solver->size <= MOST_PIVOTED) status = pivot(solver, problem, pivots, &residual, error);
    if (!status && residual > CAROM_LCP_TOLERANCE) {
        // Sweeps start from the impulses of the step before.
        if (solver->previous_rows == rows)
            memcpy(problem->impulse, solver->previous, (size_t)rows * sizeof *problem->impulse);
        else
            memset(problem->impulse, 0, (size_t)rows * sizeof *problem->impulse);
        residual = carom_sweep(&solver->sweeps, solver->sweeping);
        if (residual > CAROM_LCP_TOLERANCE && solver->size > MOST_PIVOTED && solver->size <= STEPPING_MOST_PIVOTED)
            status = pivot(solver, problem, pivots, &residual, error);
    }
    if (status) return status;
    memcpy(solver->previous, problem->impulse, (size_t)rows * sizeof *problem->impulse);
    solver->previous_rows = rows;
    *solution = (stepping_solution){residual <= CAROM_LCP_TOLERANCE, residual};
    return CAROM_OK;
}

carom_status stepping_solver_set_start(stepping_solver *solver, const double *basis, int size, const double *impulse, int rows,
                                       carom_error *error) {
    const carom_status status = reserve(solver, rows, size, error);
    if (status) return status;
    for (int i = 0; i < size; i++) solver->basic[i] = basis[i] != 0;
    if (rows) memcpy(solver->previous, impulse, (size_t)rows * sizeof *impulse);
    solver->basic_size = size;
    solver->previous_rows = rows;
    return CAROM_OK;
}
