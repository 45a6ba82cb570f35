// SPDX-License-Identifier: Apache-2.0
// Smooth motion: terms of the mechanism, the implicit matrix A = M + h D + h^2 K, and the change of velocity that forces make.
#include <math.h>
#include <string.h>

#include "dynamics/stepping/stepping.h"

bool stepping_was_closed(const stepping *run, const carom_touch *touch) {
    for (int i = 0; i < run->closed_count; i++) {
        const stepping_key *key = &run->closed[i];
        if (key->kind == (int)touch->kind && key->first == touch->first && key->second == touch->second && key->ordinal == touch->ordinal)
            return true;
    }
    return false;
}

carom_status stepping_reserve(stepping *run, int touches, int equations, carom_error *error) {
    if (touches <= run->touch_room && equations <= run->equation_room && run->rows.last) return CAROM_OK;
    while (run->touch_room < touches) run->touch_room = run->touch_room ? 2 * run->touch_room : 8;
    if (run->equation_room < equations) run->equation_room = equations;
    const size_t m = (size_t)run->touch_room, e = (size_t)run->equation_room, n = run->n, rows = 3 * m + n;
    stepping_problem *problem = &run->problem;
    carom_arena grown = {0};
    stepping_key *closed = carom_arena_take(&grown, m, sizeof *closed);
    if (closed && run->closed_count) memcpy(closed, run->closed, (size_t)run->closed_count * sizeof *closed);
    problem->contact = carom_arena_take(&grown, m, sizeof *problem->contact);
    problem->dry_coordinate = carom_arena_take(&grown, n, sizeof *problem->dry_coordinate);
    run->chosen = carom_arena_take(&grown, m, sizeof *run->chosen);
    const struct {
        size_t size;
        double **arrays[8];
    } rooms[] = {{n, {&problem->bound}},
                 {rows * n, {&problem->J, &problem->half}},
                 {rows * rows, {&problem->W}},
                 {rows, {&problem->free, &problem->after, &problem->impulse}},
                 {m, {&run->rate, &run->predicted, &run->normal_impulse, &run->friction, &run->restitution}},
                 {2 * m, {&run->tangent_impulse}},
                 {m * n, {&run->rows_normal}},
                 {2 * m * n, {&run->rows_tangent}},
                 {e, {&run->target}},
                 {e * n, {&run->equation, &run->half_equation}}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        for (double **const *array = rooms[i].arrays; *array; array++) **array = carom_arena_take(&grown, rooms[i].size, sizeof(double));
    run->closed = closed;
    carom_arena_free(&run->rows);
    run->rows = grown;
    return grown.failed ? carom_fail_memory(error, "contacts") : CAROM_OK;
}

void stepping_look(stepping *run) {
    if (!run->fresh) run->mechanism->evaluate(run->workspace, run->t, run->q, run->v, &run->terms);
    run->fresh = true;
}

bool stepping_prepare(stepping *run, double h) {
    const size_t n = run->n;
    const carom_mechanism_terms *terms = &run->terms;
    stepping_look(run);
    run->h = h;
    memcpy(run->start, run->v, n * sizeof *run->v);
    // A, and the right-hand side h f - h^2 K v: springs are those at q + h v'.
    for (size_t i = 0; i < n * n; i++) run->factor[i] = terms->mass[i] + h * (terms->damping[i] + h * terms->stiffness[i]);
    carom_multiply(run->nv, run->nv, terms->stiffness, run->v, run->spring);
    for (size_t i = 0; i < n; i++) run->change[i] = h * (terms->force[i] - h * run->spring[i]);
    if (!carom_all_finite(n, run->change) || !carom_all_finite(n * n, run->factor)) {
        run->verdict = CAROM_NO_FORCE;
        return false;
    }
    if (carom_cholesky_factor(run->nv, run->factor)) {
        run->verdict = CAROM_NO_CONVERGENCE;
        return false;
    }
    carom_cholesky_forward(run->nv, run->factor, run->change);
    carom_cholesky_backward(run->nv, run->factor, run->change);
    if (run->options->gyroscopic != STEPPING_MIDDLE) return true;
    // Forces at the velocity of the middle of the step. What dampers have there is in A already: f(v_m) + D (v_m - v).
    for (size_t i = 0; i < n; i++) run->work_vector[i] = run->v[i] + 0.5 * run->change[i];
    run->mechanism->evaluate(run->workspace, run->t, run->q, run->work_vector, &run->frozen);
    for (size_t i = 0; i < n; i++)
        run->work_vector[i] = run->frozen.force[i] + 0.5 * carom_dot(run->nv, terms->damping + i * n, run->change);
    for (size_t i = 0; i < n; i++) run->change[i] = h * (run->work_vector[i] - h * run->spring[i]);
    if (!carom_all_finite(n, run->change)) {
        run->verdict = CAROM_NO_FORCE;
        return false;
    }
    carom_cholesky_forward(run->nv, run->factor, run->change);
    carom_cholesky_backward(run->nv, run->factor, run->change);
    return true;
}
