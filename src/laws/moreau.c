// SPDX-License-Identifier: Apache-2.0
// Law `moreau`: Newton restitution for simultaneous impacts. 0 <= lam_n _|_ Jn v+ + e Jn v- >= 0, friction as in `anitescu-potra`
// (Moreau 1988, section 13; the impact law of most nonsmooth time-stepping codes).
#include <math.h>
#include <stdlib.h>

#include "laws/laws_internal.h"

typedef struct moreau_options {
    double restitution;  // of all contacts; NaN: each contact's own
    carom_step_choice method;
} moreau_options;

static void defaults(void *options) {
    *(moreau_options *)options = (moreau_options){.restitution = NAN, .method = carom_step_choice_defaults()};
}

// Newton's law may add energy where there is friction: that is reported, not refused.
static carom_status emit_step(const carom_law_call *call, const double *v, const double *impulse, const carom_step_info *info,
                              carom_error *error) {
    const bool gains = info->energy_change > CAROM_ENERGY_GAIN_FLAGGED * carom_impact_initial_energy(call->impact);
    carom_table *outcomes;
    carom_status status = carom_outcomes_create(call->impact, NULL, 0, &outcomes, error);
    if (status) return status;
    status = carom_outcomes_add(outcomes, call->impact, v, impulse, 1, gains ? CAROM_FLAG_ENERGY_GAIN : 0, error);
    if (!status) status = carom_law_emit(call, outcomes, error);
    carom_table_free(outcomes);
    return status;
}

static carom_status solve(const carom_law_call *call, carom_stepper *stepper, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    double *work = malloc((size_t)(data->nv + carom_impact_contact_size(call->impact)) * sizeof *work);
    if (!work) return carom_fail_memory(error, "moreau");
    carom_step_info info;
    carom_stepper_solve(stepper, data->velocity, NULL, work, work + data->nv, &info);
    carom_status status = info.verdict == CAROM_COMPLETE ? emit_step(call, work, work + data->nv, &info, error) : CAROM_OK;
    if (!status) status = carom_law_conclude(call, info.verdict, carom_stepper_selection(stepper), error);
    free(work);
    return status;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const moreau_options *options = call->options;
    const int contacts = carom_impact_get_data(call->impact)->contacts;
    carom_stepper_options stepper_options;
    carom_stepper *stepper = NULL;
    double *restitution = malloc((size_t)contacts * sizeof *restitution);
    if (!restitution) return carom_fail_memory(error, "moreau");
    for (int i = 0; i < contacts; i++) restitution[i] = options->restitution;
    carom_status status = carom_step_choice_resolve(&options->method, CAROM_STEP_NEWTON, call->registry, &stepper_options, error);
    if (!isnan(options->restitution)) stepper_options.restitution = restitution;
    if (!status) status = carom_stepper_create(call->impact, &stepper_options, &stepper, error);
    if (!status) status = solve(call, stepper, error);
    carom_stepper_free(stepper);
    free(restitution);
    return status;
}

static const carom_option option_rows[] = {
    {"restitution", CAROM_OPTION_REAL, offsetof(moreau_options, restitution), 0, 1, "", "scene",
     "coefficient of Newton restitution of all contacts, instead of the scene's", NULL},
    CAROM_STEP_CHOICE_ROWS(moreau_options, method, carom_selection_names_solver),
};

const carom_law carom_law_moreau = {
    .name = "moreau",
    .summary = "all contacts at once with Newton restitution, one LCP",
    .source = "Moreau 1988, section 13",
    .options = option_rows,
    .option_count = sizeof option_rows / sizeof *option_rows,
    .options_size = sizeof(moreau_options),
    .defaults = defaults,
    .resolve = resolve,
};
