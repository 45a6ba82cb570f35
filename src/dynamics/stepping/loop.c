// SPDX-License-Identifier: Apache-2.0
// The course of a run: grid steps, and in each the parts between located hits.
#include <math.h>
#include <string.h>

#include "dynamics/stepping/stepping.h"

// Impacts at one instant, or located in one step. What hits beyond is stopped by the contact problem, as by an inelastic impact.
enum { MOST_IMPACTS = 4 };
// Parts of a step shorter than this share of it are left out.
#define LEAST_PART 1e-9

// Detection looks as far as the part of the step may carry anything.
static double find_reach(const stepping *run, double h) {
    double linear = 0, angular = 0;
    for (int i = 0; i < run->nv; i++) *(run->mechanism->turns[i] ? &angular : &linear) += run->v[i] * run->v[i];
    return fmax(run->margin, h * (sqrt(linear) + run->mechanism->length * sqrt(angular)));
}

static carom_status detect_at_middle(stepping *run, carom_error *error) {
    run->mechanism->advance(run->mechanism->self, run->q, run->start, 0.5 * run->h, run->q_middle);
    return stepping_detect(run, run->q_middle, run->reach, error);
}

// The work of forces over the part of the step, by the mean velocity.
static void add_work(stepping *run) {
    const size_t n = run->n;
    const carom_mechanism_terms *terms = &run->terms;
    const stepping_problem *problem = &run->problem;
    const double h = run->h;
    for (size_t i = 0; i < n; i++) {
        const double mean = 0.5 * (run->v[i] + run->next[i]);
        // What the implicit terms h D (v' - v) + h^2 K v' add counts as resistance.
        double implicit = 0;
        for (size_t j = 0; j < n; j++)
            implicit += terms->damping[i * n + j] * (run->next[j] - run->v[j]) + h * terms->stiffness[i * n + j] * run->next[j];
        run->work.actuators += h * terms->actuation[i] * mean;
        run->work.resistance += h * (terms->resistance[i] - implicit) * mean;
        run->balance.implicit -= h * implicit * mean;
    }
    for (int r = 0, i = 0; r < problem->rows + problem->dry; r++) {
        const double *J = problem->J + (size_t)r * n;
        const double work = 0.5 * problem->impulse[r] * (carom_dot(run->nv, J, run->v) + carom_dot(run->nv, J, run->next));
        const bool normal = i < problem->contacts && problem->contact[i].row == r;
        *(normal ? &run->work.contact : &run->work.friction) += work;
        // What pushes two bodies apart that penetrate each other adds energy.
        if (normal && problem->contact[i].touch.gap < 0) run->balance.taken_back += fmax(work, 0);
        i += normal;
    }
}

// Takes the solved part of the step.
static void move(stepping *run) {
    const size_t n = run->n;
    const carom_mechanism *mechanism = run->mechanism;
    add_work(run);
    for (size_t i = 0; i < n; i++) run->work_vector[i] = 0.5 * (run->start[i] + run->next[i]);
    mechanism->advance(mechanism->self, run->q, run->work_vector, run->h, run->q);
    if (mechanism->activations) mechanism->advance_activation(run->workspace, run->h, run->activation);
    memcpy(run->v, run->next, n * sizeof *run->v);
    run->closed_count = 0;
    for (int i = 0; i < run->problem.contacts; i++) {
        run->closed[run->closed_count++] = stepping_key_of(&run->problem.contact[i].touch);
        run->penetration = fmax(run->penetration, -run->problem.contact[i].touch.gap);
        run->balance.depth = fmax(run->balance.depth, stepping_depth(run, &run->problem.contact[i].touch));
    }
    run->fresh = false;
}

// The impact at (q, v) of contacts that touch there, if one of them hits.
static carom_status strike(stepping *run, double t, carom_error *error) {
    carom_status status = stepping_detect(run, run->q, run->margin, error);
    bool hits = false;
    for (int i = 0; !status && i < run->touches.count; i++) {
        const bool was = stepping_was_closed(run, &run->touches.touch[i]);
        run->chosen[i] = run->touches.touch[i].gap <= run->tolerance || (was && run->rate[i] <= run->impact_speed);
        hits = hits || (run->chosen[i] && !was && run->rate[i] < -run->impact_speed);
    }
    return status || !hits ? status : stepping_collide(run, t, run->q, error);
}

// A part of the step up to the first hit, and its impact. Where nothing hits, the whole part.
static carom_status step_to_hit(stepping *run, double t, double *length, carom_error *error) {
    carom_status status = stepping_solve(run, error);
    if (!status) status = stepping_locate(run, length, error);
    if (status || run->verdict != CAROM_COMPLETE) return status;
    const bool hits = *length < run->h;
    if (hits && *length > LEAST_PART * run->options->step) {
        if (!stepping_prepare(run, *length)) return CAROM_OK;
        status = detect_at_middle(run, error);
        if (status || run->verdict != CAROM_COMPLETE) return status;
        stepping_choose(run, false);
        status = stepping_solve(run, error);
        if (status) return status;
    }
    if (!hits || *length > LEAST_PART * run->options->step) move(run);
    return hits ? strike(run, t + *length, error) : CAROM_OK;
}

// A part of the step with impacts at its middle.
static carom_status step_over_hits(stepping *run, double t, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int k = 0; !status && run->verdict == CAROM_COMPLETE; k++) {
        // What hits after the last impact is stopped.
        if (!stepping_choose(run, true) || k == MOST_IMPACTS) break;
        status = stepping_collide(run, t + 0.5 * run->h, run->q_middle, error);
        if (!status) carom_multiply(run->touches.count, run->nv, run->touches.normal, run->v, run->rate);
    }
    if (!status && run->verdict == CAROM_COMPLETE) status = stepping_solve(run, error);
    if (!status && run->verdict == CAROM_COMPLETE) move(run);
    return status;
}

carom_status stepping_take_step(stepping *run, carom_error *error) {
    const double start = run->t, step = run->options->step;
    double rest = step;
    carom_status status = CAROM_OK;
    for (int located = 0; !status && run->verdict == CAROM_COMPLETE && rest > LEAST_PART * step; located++) {
        const double t = start + (step - rest);
        run->t = t;
        if (!stepping_prepare(run, rest)) return CAROM_OK;
        run->reach = find_reach(run, rest);
        status = detect_at_middle(run, error);
        if (status || run->verdict != CAROM_COMPLETE) return status;
        double length = rest;
        const bool locates = run->options->locate && located < MOST_IMPACTS;
        if (locates && stepping_choose(run, false))
            status = step_to_hit(run, t, &length, error);
        else
            status = step_over_hits(run, t, error);
        rest -= length;
    }
    return status;
}
