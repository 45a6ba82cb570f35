// SPDX-License-Identifier: Apache-2.0
// Law `routh`: one seeded solution of the impact inclusion, the first sample of Algorithm 1 (Halm & Posa, section 5).
#include <math.h>
#include <stdlib.h>

#include "laws/laws_internal.h"
#include "reach/batch.h"

static void defaults(void *options) {
    carom_sample_options *one = options;
    *one = carom_sample_defaults();
    one->samples = 1;
}

// How the one solution ended, as a verdict.
static carom_verdict judge(const carom_simulation *result) {
    if (result->interrupted) return CAROM_INTERRUPTED;
    if (result->unsolved) return CAROM_UNVERIFIED;
    return result->terminated ? CAROM_COMPLETE : CAROM_BUDGET_SPENT;
}

// One sample's end.
typedef struct ending {
    carom_simulation simulation;
    carom_selection selection;
    double *v, *impulse;  // [nv], [n]
} ending;

static carom_status simulate(const carom_law_call *call, const carom_stepper_options *stepper, double step, ending *end,
                             carom_error *error) {
    const carom_sample_options *options = call->options;
    carom_simulator *simulator;
    const carom_status status =
        carom_simulator_create(call->impact, stepper, step, options->max_steps, (carom_draw)options->draw, &simulator, error);
    if (status) return status;
    carom_simulator_watch(simulator, call->control);
    carom_simulator_run(simulator, options->seed, 0, end->v, end->impulse, &end->simulation);
    end->selection = carom_simulator_selection(simulator);
    carom_simulator_free(simulator);
    return CAROM_OK;
}

// As sampling does it where it looks steps up: otherwise this would not be the first sample.
static carom_status look_up(const carom_law_call *call, const carom_batch_plan *plan, ending *end, carom_error *error) {
    const carom_sample_options *options = call->options;
    carom_batch *batch;
    carom_batch_result result;
    carom_status status = carom_batch_create(plan, 1, &batch, error);
    if (!status) status = carom_batch_run(batch, options->seed, 0, 1, 0, true, call->control, &result, error);
    if (!status) {
        end->selection = carom_batch_plan_selection(plan);
        end->simulation = (carom_simulation){
            .steps = result.steps, .terminated = result.terminated > 0, .unsolved = result.unsolved > 0, .interrupted = result.interrupted};
        for (int k = 0; k < carom_impact_get_data(call->impact)->nv; k++)
            end->v[k] = result.interrupted ? 0 : result.rows.v_plus[(size_t)k * result.rows.stride];
        for (int c = 0; c < carom_impact_contact_size(call->impact); c++)
            end->impulse[c] = result.interrupted ? 0 : result.rows.impulse[(size_t)c * result.rows.stride];
    }
    carom_batch_free(batch);
    return status;
}

static carom_status emit(const carom_law_call *call, const ending *end, carom_error *error) {
    carom_table *outcomes;
    carom_status status = carom_outcomes_create(call->impact, NULL, 0, &outcomes, error);
    if (status) return status;
    const int64_t flags = end->simulation.unsolved ? CAROM_FLAG_UNSOLVED : 0;
    status = carom_outcomes_add(outcomes, call->impact, end->v, end->impulse, end->simulation.steps, flags, error);
    if (!status) status = carom_law_emit(call, outcomes, error);
    carom_table_free(outcomes);
    return status ? status : carom_law_conclude(call, judge(&end->simulation), end->selection, error);
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_sample_options *options = call->options;
    const int nv = carom_impact_get_data(call->impact)->nv;
    carom_stepper_options stepper;
    carom_batch_plan *plan = NULL;
    double step = options->step, *work = calloc((size_t)(nv + carom_impact_contact_size(call->impact)), sizeof *work);
    if (!work) return carom_fail_memory(error, "routh");
    ending end = {.v = work, .impulse = work + nv};
    carom_status status = carom_sample_resolve_method(options, call->registry, &stepper, error);
    if (!status && isnan(step)) status = carom_reach_auto_step(call->impact, options->method.cone_edges, &step, error);
    if (!status && step > 0 && options->max_steps >= 1)
        status = carom_batch_plan_choose(call->impact, options, &stepper, step, &plan, error);
    if (!status) status = plan ? look_up(call, plan, &end, error) : simulate(call, &stepper, step, &end, error);
    if (!status) status = emit(call, &end, error);
    carom_batch_plan_free(plan);
    free(work);
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
