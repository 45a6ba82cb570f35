// SPDX-License-Identifier: Apache-2.0
// Law `routh`: one seeded solution of the impact inclusion, the first sample of Algorithm 1 (Halm & Posa, section 5).
#include "carom/arena.h"
#include "laws/laws_internal.h"

// The options of sampling; the rows leave out those that make sense for several samples alone.
carom_routh_options carom_routh_defaults(void) {
    carom_routh_options one = carom_sample_defaults();
    one.samples = 1;
    one.sampler = CAROM_SAMPLER_LCP;
    return one;
}

static void defaults(void *options) { *(carom_routh_options *)options = carom_routh_defaults(); }

// Where one solution ends.
typedef struct solution {
    double *v, *impulse;
    carom_sample_counts counts;
    carom_verdict verdict;
    carom_selection selection;
} solution;

// Sample 0 of time stepping, with a step of its own where none is given.
static carom_status step_in_time(const carom_law_call *call, const carom_routh_options *options, solution *one, carom_error *error) {
    carom_time_stepping *stepping = NULL;
    carom_sample_method method;
    carom_status status = carom_sample_resolve_method(call->impact, options, call->registry, &method, error);
    if (!status)
        status = carom_time_stepping_create(call->impact, &method.stepper, method.step, carom_sample_max_steps(options),
                                            (carom_draw)options->draw, &stepping, error);
    if (status) return status;
    carom_time_stepping_watch(stepping, call->control);
    one->verdict = carom_time_stepping_run(stepping, options->seed, 0, one->v, one->impulse, &one->counts);
    one->selection = carom_stepper_selection(carom_time_stepping_stepper(stepping));
    carom_time_stepping_free(stepping);
    return CAROM_OK;
}

// Walks, which restitution needs; max_steps counts the steps of time stepping.
static carom_routh_options as_walks(const carom_routh_options *options) {
    carom_routh_options walks = *options;
    walks.sampler = CAROM_SAMPLER_WALK;
    walks.max_steps = 0;
    return walks;
}

// Walk 0.
static carom_status walk(const carom_law_call *call, const carom_routh_options *options, solution *one, carom_error *error) {
    const carom_routh_options walks = as_walks(options);
    carom_walker *walker;
    const carom_walker_options how = {carom_sample_max_steps(&walks), walks.weights, walks.rebound, walks.tolerance};
    const carom_status status = carom_walker_create(call->impact, &how, &walker, error);
    if (status) return status;
    carom_walker_watch(walker, call->control);
    one->verdict = carom_walker_run(walker, options->seed, 0, one->v, one->impulse, &one->counts);
    one->selection = CAROM_SELECT_ANY;
    carom_walker_free(walker);
    return CAROM_OK;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_routh_options *options = call->options;
    carom_arena arena = {0};
    solution one = {.v = carom_arena_take(&arena, (size_t)carom_impact_get_data(call->impact)->nv, sizeof(double)),
                    .impulse = carom_arena_take(&arena, (size_t)carom_impact_contact_size(call->impact), sizeof(double))};
    carom_status status = arena.failed ? carom_fail_memory(error, "routh") : CAROM_OK;
    const bool bounces = options->rebound.hypothesis != CAROM_HYPOTHESIS_NONE;
    if (!status) status = bounces ? walk(call, options, &one, error) : step_in_time(call, options, &one, error);
    if (!status) {
        // Running out of steps is a verdict; the velocity reached so far is the outcome.
        const int64_t flags = (one.counts.unsolved ? CAROM_FLAG_UNSOLVED : 0) | (one.counts.approximate ? CAROM_FLAG_APPROXIMATE : 0);
        status = carom_law_emit_one(call, one.v, one.impulse, one.counts.steps, flags, error);
        if (!status) status = carom_law_conclude(call, one.verdict, one.selection, error);
    }
    carom_arena_free(&arena);
    return status;
}

// The solutions that other seeds give.
static carom_status members(const carom_law_call *call, carom_member_source *source, carom_error *error) {
    const carom_routh_options *options = call->options, walks = as_walks(options);
    const bool bounces = options->rebound.hypothesis != CAROM_HYPOTHESIS_NONE;
    return carom_sample_members(call->impact, bounces ? &walks : options, call->registry, source, error);
}

const carom_law carom_law_routh = {
    .name = "routh",
    .summary = "one seeded solution of the impact inclusion",
    .source = "Halm & Posa 2023, Algorithm 1; Routh 1860 for one contact",
    .options = carom_sample_rows + CAROM_SAMPLE_SET_ROWS,
    .option_count = CAROM_SAMPLE_ROWS - CAROM_SAMPLE_SET_ROWS,
    .options_size = sizeof(carom_routh_options),
    .defaults = defaults,
    .members = members,
    .samples = true,
    .bouncing = carom_law_by_hypothesis,
    .resolve = resolve,
};
