// SPDX-License-Identifier: Apache-2.0
// Law `anitescu-potra`: all contacts at once, inelastic, with Coulomb friction (Anitescu & Potra 1997; Halm & Posa, eq. 31-33).
#include <stdlib.h>

#include "laws/laws_internal.h"

typedef struct anitescu_potra_options {
    carom_step_choice method;
} anitescu_potra_options;

static void defaults(void *options) { *(anitescu_potra_options *)options = (anitescu_potra_options){carom_step_choice_defaults()}; }

static carom_status emit_step(const carom_law_call *call, const double *v, const double *impulse, carom_error *error) {
    carom_table *outcomes;
    carom_status status = carom_outcomes_create(call->impact, NULL, 0, &outcomes, error);
    if (status) return status;
    status = carom_outcomes_add(outcomes, call->impact, v, impulse, 1, 0, error);
    if (!status) status = carom_law_emit(call, outcomes, error);
    carom_table_free(outcomes);
    return status;
}

// One step from v-, with the Lemke solution.
static carom_status solve(const carom_law_call *call, carom_stepper *stepper, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    double *work = malloc((size_t)(data->nv + carom_impact_contact_size(call->impact)) * sizeof *work);
    if (!work) return carom_fail_memory(error, "anitescu-potra");
    carom_step_info info;
    carom_stepper_solve(stepper, data->velocity, NULL, work, work + data->nv, &info);
    carom_status status = info.verdict == CAROM_COMPLETE ? emit_step(call, work, work + data->nv, error) : CAROM_OK;
    if (!status) status = carom_law_conclude(call, info.verdict, carom_stepper_selection(stepper), error);
    free(work);
    return status;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const anitescu_potra_options *options = call->options;
    carom_stepper_options stepper_options;
    carom_stepper *stepper = NULL;
    carom_status status = carom_step_choice_resolve(&options->method, CAROM_STEP_SIMULTANEOUS, call->registry, &stepper_options, error);
    if (!status) status = carom_stepper_create(call->impact, &stepper_options, &stepper, error);
    if (!status) status = solve(call, stepper, error);
    carom_stepper_free(stepper);
    return status;
}

static const carom_option options[] = {CAROM_STEP_CHOICE_ROWS(anitescu_potra_options, method)};

const carom_law carom_law_anitescu_potra = {
    .name = "anitescu-potra",
    .summary = "all contacts at once, inelastic, one LCP",
    .source = "Anitescu & Potra 1997; Halm & Posa 2023, eq. (31)-(33)",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .options_size = sizeof(anitescu_potra_options),
    .defaults = defaults,
    .resolve = resolve,
};
