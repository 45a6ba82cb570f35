// SPDX-License-Identifier: Apache-2.0
// Law `routh`: one seeded solution of the impact inclusion, the first sample of Algorithm 1 (Halm & Posa, section 5).
#include <math.h>

#include "carom/arena.h"
#include "laws/laws_internal.h"

// The options of sampling; the rows leave out those that make sense for several samples alone.
carom_routh_options carom_routh_defaults(void) {
    carom_routh_options one = carom_sample_defaults();
    one.samples = 1;
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

    // The discretised inclusion, with a step of its own where none is given.
    carom_stepper_options stepper;
    double step = options->step;
    if (!status) status = carom_sample_resolve_method(options, call->registry, &stepper, error);
    if (!status && isnan(step)) status = carom_reach_auto_step(call->impact, options->method.cone_edges, &step, error);
    if (!status)
        status = carom_time_stepping_create(call->impact, &stepper, step, carom_sample_max_steps(options), (carom_draw)options->draw,
                                            &stepping, error);

    if (!status) {
        // Sample 0 of the seed. Running out of steps is a verdict; the velocity reached so far is the outcome.
        carom_sample_counts counts;
        carom_time_stepping_watch(stepping, call->control);
        const carom_verdict verdict = carom_time_stepping_run(stepping, options->seed, 0, v, impulse, &counts);
        status = carom_law_emit_one(call, v, impulse, counts.steps, counts.unsolved ? CAROM_FLAG_UNSOLVED : 0, error);
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
