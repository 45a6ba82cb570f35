// SPDX-License-Identifier: Apache-2.0
// The step method `sweeps`, for many contacts: impulses by sweeps over the contacts and Newton's method (sweeps.c), judged by the LCP's
// verifier and the physical checks as those of every method. Where they are no solution, the LCP is pivoted.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/sweeps.h"
#include "step/step_internal.h"

// Variables of the LCP from which sweeps take less time than pivots.
enum { LEAST_SIZE = 512 };
// Where so many attempts find no solution, Lemke's method seldom does, and takes longer.
enum { MOST_ATTEMPTS = 60 };

typedef struct sweeping {
    carom_sweep_problem problem;
    carom_sweep_room *room;
    double *free;  // [n]
    carom_arena arena;
} sweeping;

static void destroy(void *state) {
    sweeping *made = state;
    if (!made) return;
    carom_sweep_room_free(made->room);
    carom_arena_free(&made->arena);
    free(made);
}

static carom_status create(const carom_stepper *stepper, void **state, carom_error *error) {
    *state = NULL;
    const carom_impact_data *data = carom_impact_get_data(stepper->impact);
    if (stepper->count < data->contacts) return carom_fail(error, CAROM_UNSUPPORTED, "path: sweeps take steps of all contacts, not of one");
    const int n = carom_impact_contact_size(stepper->impact);
    sweeping *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "sweeps");
    carom_sweep_problem *problem = &made->problem;
    *problem = (carom_sweep_problem){
        .contacts = stepper->count, .rows = n, .W = carom_impact_delassus(stepper->impact), .attempts = MOST_ATTEMPTS};
    problem->contact = carom_arena_take(&made->arena, (size_t)stepper->count, sizeof *problem->contact);
    problem->free = made->free = carom_arena_take(&made->arena, (size_t)n, sizeof *made->free);
    problem->impulse = carom_arena_take(&made->arena, (size_t)n, sizeof *problem->impulse);
    problem->after = carom_arena_take(&made->arena, (size_t)n, sizeof *problem->after);
    // The natural units of the LCP: y of normals are speeds, z impulses.
    problem->speed = stepper->y_natural[stepper->normal];
    problem->mass = stepper->z_natural[stepper->normal] / problem->speed;
    const carom_status status = made->arena.failed ? carom_fail_memory(error, "sweeps") : carom_sweep_room_create(n, &made->room, error);
    for (int i = 0; i < stepper->count && !status; i++)
        problem->contact[i] = (carom_sweep_contact){.row = carom_step_contact_row(stepper, i),
                                                    .tangents = stepper->dim,
                                                    .edges = stepper->edges,
                                                    .directions = stepper->directions,
                                                    .friction = data->friction[i],
                                                    .cap = INFINITY};
    if (status)
        destroy(made);
    else
        *state = made;
    return status;
}

// z of the LCP: weights on the cone edges, and the multipliers beta = max(0, -u_n) at caps and gamma, the sliding speed.
static void fill_solution(carom_stepper *stepper, const carom_sweep_problem *problem) {
    double *z = stepper->z;
    memset(z, 0, (size_t)stepper->size * sizeof *z);
    for (int i = 0; i < stepper->count; i++) {
        const int row = carom_step_contact_row(stepper, i);
        const double *p = problem->impulse + row, *u = problem->after + row;
        z[stepper->normal + i] = p[0];
        carom_step_split_on_edges(stepper, p + 1, z + carom_step_force_index(stepper, i, 1));
        z[stepper->gamma + i] = fmax(0, carom_step_sliding_speed(stepper, u + 1));
        if (stepper->beta >= 0) z[stepper->beta + i] = fmax(0, -u[0]);
    }
}

static void solve(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse, carom_step_info *info) {
    sweeping *own = stepper->state;
    carom_sweep_problem *problem = &own->problem;
    carom_step_start(stepper, v, lmax);
    // Velocities without impulses, with what Newton's law of restitution adds; every step starts from rest, so that none depends on others.
    memcpy(own->free, stepper->u, (size_t)problem->rows * sizeof *own->free);
    memset(problem->impulse, 0, (size_t)problem->rows * sizeof *problem->impulse);
    for (int i = 0; i < problem->contacts; i++) {
        own->free[problem->contact[i].row] = stepper->w[stepper->normal + i];
        if (stepper->beta >= 0) problem->contact[i].cap = lmax[i];
    }
    *info = (carom_step_info){.verdict = CAROM_COMPLETE};
    problem->control = stepper->control;
    carom_sweep(problem, own->room);
    fill_solution(stepper, problem);
    if (carom_step_verify(stepper, &info->residual))
        carom_step_accept(stepper, v, lmax, impulse, info);
    else
        info->verdict = CAROM_UNVERIFIED;
    if (info->verdict == CAROM_COMPLETE)
        memcpy(v_next, stepper->v_next, (size_t)carom_impact_get_data(stepper->impact)->nv * sizeof *v_next);
    else
        carom_step_solve_by_lcp(stepper, v, lmax, v_next, impulse, info);
}

static const char *path(const carom_stepper *stepper) {
    (void)stepper;
    return carom_step_sweeps.name;
}

const carom_step_method carom_step_sweeps = {
    .name = "sweeps",
    .summary = "sweeps over many contacts, and Newton's method",
    .selections = 1U << CAROM_SELECT_ANY,
    .least_size = LEAST_SIZE,
    .create = create,
    .free = destroy,
    .solve = solve,
    .path = path,
};
