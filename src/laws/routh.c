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

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_routh_options *options = call->options;
    carom_arena arena = {0};
    carom_time_stepping *stepping = NULL;
    double *v = carom_arena_take(&arena, (size_t)carom_impact_get_data(call->impact)->nv, sizeof *v);
    double *impulse = carom_arena_take(&arena, (size_t)carom_impact_contact_size(call->impact), sizeof *impulse);
    carom_status status = arena.failed ? carom_fail_memory(error, "routh") : CAROM_OK;

    // The discretised inclusion, with a step of its own where none is given: time stepping, whatever a set is sampled by.
    carom_sample_method method;
    if (!status) status = carom_sample_resolve_method(call->impact, options, call->registry, &method, error);
    if (!status)
        status = carom_time_stepping_create(call->impact, &method.stepper, method.step, carom_sample_max_steps(options),
                                            (carom_draw)options->draw, &stepping, error);

    if (!status) {
        // Sample 0 of the seed. Running out of steps is a verdict; the velocity reached so far is the outcome.
        carom_sample_counts counts;
        carom_time_stepping_watch(stepping, call->control);
        const carom_verdict verdict = carom_time_stepping_run(stepping, options->seed, 0, v, impulse, &counts);
        const int64_t flags = (counts.unsolved ? CAROM_FLAG_UNSOLVED : 0) | (counts.approximate ? CAROM_FLAG_APPROXIMATE : 0);
        status = carom_law_emit_one(call, v, impulse, counts.steps, flags, error);
        if (!status) status = carom_law_conclude(call, verdict, carom_stepper_selection(carom_time_stepping_stepper(stepping)), error);
    }
    carom_time_stepping_free(stepping);
    carom_arena_free(&arena);
    return status;
}

const carom_law carom_law_routh = {
    .name = "routh",
    .summary = "one seeded solution of the impact inclusion",
    .source = "Halm & Posa 2023, Algorithm 1; Routh 1860 for one contact",
    .options = carom_sample_rows + CAROM_SAMPLE_SET_ROWS,
    .option_count = CAROM_SAMPLE_ROWS - CAROM_SAMPLE_SET_ROWS,
    .options_size = sizeof(carom_routh_options),
    .defaults = defaults,
    .resolve = resolve,
};
