// SPDX-License-Identifier: Apache-2.0
// What no solution passes: the exact set where it is soon there, otherwise a value function or the energy.
#include <math.h>
#include <string.h>

#include "cli/worst/worst.h"

// The largest values of the questions over pieces that hold the whole set.
static void take_vertices(worst_run *run, const carom_polyhedra *pieces, bool exact) {
    for (int q = 0; q < run->count; q++) {
        worst_question *question = &run->questions[q];
        if (question->asked.functional.has_impulse || question->asked.functional.energy != 0) continue;
        double most = -INFINITY;
        for (int i = 0; i < pieces->count; i++)
            for (int k = 0; k < pieces->pieces[i].vertices; k++) {
                const carom_piece *piece = &pieces->pieces[i];
                const carom_outcome_point vertex = {.u = piece->contact_velocity + k * pieces->n, .v = piece->velocity + k * pieces->nv};
                most = fmax(most, carom_functional_value(&question->asked.functional, &vertex));
            }
        if (!isfinite(most)) continue;
        question->upper = most;
        question->method = exact ? "exact" : "outer";
        question->by_exact_set = exact;
    }
}

// The exact set of few planar contacts, with a budget of time. What it cannot serve is no failure.
static carom_status bound_by_set(worst_run *run, double seconds, const carom_exact_start *start, const carom_interval *friction,
                                 const carom_control *control, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(run->scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    const carom_rebound_options *rebound = &run->source.rebound;
    const bool poisson = rebound->hypothesis == CAROM_HYPOTHESIS_POISSON;
    const bool interval = rebound->restitution.least < rebound->restitution.most;
    if (!carom_exact_available() || data->tangent_dim > 1 || data->contacts > CAROM_EXACT_USUAL_CONTACTS) return CAROM_OK;
    if (rebound->hypothesis == CAROM_HYPOTHESIS_STRONGE || (poisson && interval)) return CAROM_OK;
    carom_exact_options options = carom_exact_defaults();
    options.seconds = seconds;
    options.start = start;
    options.friction = friction;
    if (poisson) {
        options.hypothesis = CAROM_EXACT_POISSON;
        options.restitution = rebound->restitution.least;
    }
    carom_exact_set *set = NULL;
    const carom_status status = carom_exact_solve(impact, &options, control, &set, error);
    if (!status && carom_exact_set_complete(set)) take_vertices(run, set->pieces, !strcmp(set->certificate, "exact"));
    if (!status && !carom_exact_set_complete(set) && set->outer) take_vertices(run, set->outer, false);
    carom_exact_set_free(set);
    return status;
}

carom_status worst_bound(worst_run *run, double seconds, const carom_control *control, carom_error *error) {
    // A list that has all its outcomes bounds itself, and what is certified of solutions does not hold for other laws.
    for (int i = 0; i < run->count; i++) {
        if (!run->questions[i].found.complete) continue;
        run->questions[i].upper = run->questions[i].found.value;
        run->questions[i].method = "list";
    }
    if (!run->source.kind->draws || !(seconds > 0)) return CAROM_OK;
    const carom_impact *impact = carom_scene_impact(run->scene);
    const carom_rebound_options *rebound = &run->source.rebound;
    // All velocities and friction that are uncertain. Of other uncertain numbers nothing is known.
    carom_uncertain_support support;
    carom_exact_start uncertain;
    carom_status status = cli_find_support(run->scene, rebound->hypothesis != CAROM_HYPOTHESIS_NONE, &support, &uncertain, error);
    if (status == CAROM_UNSUPPORTED) {
        snprintf(run->unbounded, sizeof run->unbounded, "%s", error->message);
        return CAROM_OK;
    }
    const carom_exact_start *start = support.vertices ? &uncertain : NULL;
    if (!status) status = bound_by_set(run, seconds, start, support.friction, control, error);
    carom_bound_options options = carom_bound_defaults();
    options.seconds = seconds;
    options.hypothesis = rebound->hypothesis == CAROM_HYPOTHESIS_STRONGE ? CAROM_BOUND_STRONGE : CAROM_BOUND_INELASTIC;
    options.restitution = rebound->restitution;
    options.start = start;
    options.friction = support.friction;
    for (int i = 0; i < run->count && !status && rebound->hypothesis != CAROM_HYPOTHESIS_POISSON; i++) {
        worst_question *question = &run->questions[i];
        const carom_functional *f = &question->asked.functional;
        if (f->has_impulse || f->energy != 0 || question->by_exact_set) continue;
        carom_bound bound;
        status = carom_bound_solve(impact, f, &options, question->found.value, control, &bound, error);
        if (status || !isfinite(bound.upper) || (question->method && question->upper <= bound.upper)) continue;
        question->upper = bound.upper;
        question->method = carom_bound_method_name(bound.method);
    }
    carom_uncertain_support_free(&support);
    return status;
}
