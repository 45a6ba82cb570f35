// SPDX-License-Identifier: Apache-2.0
// Law `routh`: one seeded solution of the impact inclusion, the first sample of Algorithm 1 (Halm & Posa, section 5).
#include <math.h>
#include <stdlib.h>

#include "laws/laws_internal.h"

static void defaults(void *options) {
    carom_sample_options *one = options;
    *one = carom_sample_defaults();
    one->samples = 1;
}

static carom_status run(const carom_law_call *call, carom_time_stepping *stepping, int64_t seed, carom_error *error) {
    const int nv = carom_impact_get_data(call->impact)->nv;
    double *work = malloc((size_t)(nv + carom_impact_contact_size(call->impact)) * sizeof *work);
    if (!work) return carom_fail_memory(error, "routh");
    carom_sample_counts counts;
    carom_time_stepping_watch(stepping, call->control);
    const carom_verdict verdict = carom_time_stepping_run(stepping, seed, 0, work, work + nv, &counts);
    carom_table *outcomes;
    carom_status status = carom_outcomes_create(call->impact, NULL, 0, &outcomes, error);
    if (!status) {
        const int64_t flags = counts.unsolved ? CAROM_FLAG_UNSOLVED : 0;
        status = carom_outcomes_add(outcomes, call->impact, work, work + nv, counts.steps, flags, error);
        if (!status) status = carom_law_emit(call, outcomes, error);
        carom_table_free(outcomes);
    }
    if (!status) status = carom_law_conclude(call, verdict, carom_stepper_selection(carom_time_stepping_stepper(stepping)), error);
    free(work);
    return status;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_sample_options *options = call->options;
    carom_stepper_options stepper;
    carom_time_stepping *stepping = NULL;
    double step = options->step;
    carom_status status = carom_sample_resolve_method(options, call->registry, &stepper, error);
    if (!status && isnan(step)) status = carom_reach_auto_step(call->impact, options->method.cone_edges, &step, error);
    if (!status)
        status = carom_time_stepping_create(call->impact, &stepper, step, carom_sample_max_steps(options), (carom_draw)options->draw,
                                            &stepping, error);
    if (!status) status = run(call, stepping, options->seed, error);
    carom_time_stepping_free(stepping);
    return status;
}

const carom_law carom_law_routh = {
    .name = "routh",
    .summary = "one seeded solution of the impact inclusion",
    .source = "Halm & Posa 2023, Algorithm 1; Routh 1860 for one contact",
    .options = carom_sample_rows + CAROM_SAMPLE_SET_ROWS,
    .option_count = CAROM_SAMPLE_ROWS - CAROM_SAMPLE_SET_ROWS,
    .options_size = sizeof(carom_sample_options),
    .defaults = defaults,
    .resolve = resolve,
};
