// SPDX-License-Identifier: Apache-2.0
// Impacts: all closed contacts at one configuration and velocity, by a law of the toolkit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/stepping/stepping.h"

// The impact of the chosen contacts with the frozen mass matrix. Where equations hold, contact space knows them.
static carom_status freeze_impact(stepping *run, carom_impact **impact, carom_error *error) {
    const size_t n = run->n;
    const stepping_problem *problem = &run->problem;
    int dim = 1;
    for (int i = 0; i < problem->contacts; i++) dim = problem->contact[i].tangents == 2 ? 2 : dim;
    for (int i = 0; i < problem->contacts; i++) {
        const stepping_contact *contact = &problem->contact[i];
        run->friction[i] = contact->touch.friction;
        run->restitution[i] = contact->touch.restitution;
        memcpy(run->rows_normal + (size_t)i * n, problem->J + (size_t)contact->row * n, n * sizeof *problem->J);
        for (int k = 0; k < dim; k++) {
            double *tangent = run->rows_tangent + (size_t)(i * dim + k) * n;
            if (k < contact->tangents)
                memcpy(tangent, problem->J + (size_t)(contact->row + 1 + k) * n, n * sizeof *tangent);
            else
                memset(tangent, 0, n * sizeof *tangent);
        }
    }
    if (!run->equations) {
        const carom_impact_data data = {.nv = run->nv,
                                        .contacts = problem->contacts,
                                        .tangent_dim = dim,
                                        .mass = run->frozen.mass,
                                        .normal = run->rows_normal,
                                        .tangent = run->rows_tangent,
                                        .friction = run->friction,
                                        .restitution = run->restitution,
                                        .velocity = run->v};
        return carom_impact_create(&data, impact, error);
    }
    // Contact-major, with zero rows for tangents that a contact lacks.
    const int width = 1 + dim, rows = width * problem->contacts;
    double *W = calloc((size_t)(rows * rows + rows), sizeof *W), *u = W + (size_t)(rows * rows);
    if (!W) return carom_fail_memory(error, "impact");
    for (int i = 0; i < problem->contacts; i++)
        for (int a = 0; a <= problem->contact[i].tangents; a++) {
            const int from = problem->contact[i].row + a, row = i * width + a;
            u[row] = carom_dot(run->nv, problem->J + (size_t)from * n, run->v);
            for (int j = 0; j < problem->contacts; j++)
                for (int b = 0; b <= problem->contact[j].tangents; b++)
                    W[row * rows + j * width + b] =
                        problem->W[(size_t)from * (size_t)problem->rows + (size_t)(problem->contact[j].row + b)];
        }
    const carom_delassus_data data = {problem->contacts, dim, W, u, run->friction, run->restitution, NULL};
    const carom_status status = carom_impact_create_delassus(&data, impact, error);
    free(W);
    return status;
}

carom_status stepping_collide(stepping *run, double t, const double *q, carom_error *error) {
    const size_t n = run->n;
    const stepping_problem *problem = &run->problem;
    // M at the impact, and the contacts with it.
    run->mechanism->evaluate(run->workspace, t, q, run->v, &run->frozen);
    memcpy(run->work_square, run->frozen.mass, n * n * sizeof *run->work_square);
    if (!carom_all_finite(n * n, run->work_square) || carom_cholesky_factor(run->nv, run->work_square)) {
        run->verdict = CAROM_NO_CONVERGENCE;
        return CAROM_OK;
    }
    stepping_freeze(run, run->work_square, NULL);
    carom_impact *impact = NULL;
    carom_status status = freeze_impact(run, &impact, error);
    if (status) return status;
    // Impact k of seed s draws from streams of its own, so that a run that is taken up again draws the same.
    const int64_t seed = run->options->seed + run->call->motion->member;
    carom_stream choices;
    carom_stream_start_use(&choices, (uint64_t)seed, (uint64_t)run->impacts, CAROM_STREAM_SELECTION);
    double *velocity = run->equations ? run->problem.after : run->next;
    carom_motion_outcome outcome = {.velocity = velocity, .normal = run->normal_impulse, .tangent = run->tangent_impulse};
    carom_error inner;
    status = carom_motion_draw(run->call, &run->law, impact, seed, run->impacts, &choices, &outcome, &inner);
    const int dim = carom_impact_get_data(impact)->tangent_dim;
    carom_impact_free(impact);
    if (status == CAROM_BAD_INPUT || status == CAROM_UNSUPPORTED)
        return carom_fail(error, status, "law: %s does not decide the impact of %d contact%s at %g s: %s", run->law.law->name,
                          problem->contacts, problem->contacts == 1 ? "" : "s", t, inner.message);
    if (status) return carom_fail(error, status, "%s", inner.message);
    run->impacts++;
    memcpy(run->before, run->v, n * sizeof *run->v);
    if (outcome.index >= 0 && !run->equations) {
        memcpy(run->v, run->next, n * sizeof *run->v);
    } else if (outcome.index >= 0) {
        // v+ = v + L^-T (half rows)' p.
        if (!carom_all_finite((size_t)problem->contacts, outcome.normal) ||
            !carom_all_finite((size_t)(problem->contacts * dim), outcome.tangent))
            return carom_fail(error, CAROM_UNSUPPORTED, "law: '%s' leaves impulses open, which a mechanism with equality constraints needs",
                              run->law.law->name);
        memset(run->next, 0, n * sizeof *run->next);
        for (int i = 0; i < problem->contacts; i++)
            for (int a = 0; a <= problem->contact[i].tangents; a++) {
                const double p = a ? outcome.tangent[i * dim + a - 1] : outcome.normal[i];
                const double *half = problem->half + (size_t)(problem->contact[i].row + a) * n;
                for (size_t k = 0; k < n; k++) run->next[k] += p * half[k];
            }
        carom_cholesky_backward(run->nv, run->work_square, run->next);
        for (size_t k = 0; k < n; k++) run->v[k] += run->next[k];
    } else {
        // The law found nothing: the contact problem of the step goes on, as an inelastic impact.
        run->failures++;
    }
    run->failures += outcome.index >= 0 && !outcome.complete;
    // What the impact took: K(v+) - K(v).
    double change = 0;
    for (size_t i = 0; i < n; i++)
        change += 0.5 * (run->v[i] - run->before[i]) *
                  (carom_dot(run->nv, run->frozen.mass + i * n, run->v) + carom_dot(run->nv, run->frozen.mass + i * n, run->before));
    run->work.impact += change;
    run->gain = fmax(run->gain, change);
    run->balance.added += fmax(change, 0);
    status = stepping_record_impact(run, t, q, &outcome, error);
    // Contacts that stay are closed from now on; those that leave may come back and hit.
    run->closed_count = 0;
    for (int i = 0; i < problem->contacts; i++) {
        const stepping_contact *contact = &problem->contact[i];
        if (carom_dot(run->nv, problem->J + (size_t)contact->row * n, run->v) <= run->impact_speed)
            run->closed[run->closed_count++] = stepping_key_of(&contact->touch);
    }
    run->fresh = false;
    return status;
}
