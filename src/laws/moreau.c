// SPDX-License-Identifier: Apache-2.0
// Law `moreau`: Newton restitution for simultaneous impacts. 0 <= lam_n _|_ Jn v+ + e Jn v- >= 0, friction as in `anitescu-potra`
// (Moreau 1988, section 13; the impact law of most nonsmooth time-stepping codes).
#include <math.h>

#include "carom/arena.h"
#include "laws/laws_internal.h"

carom_moreau_options carom_moreau_defaults(void) {
    return (carom_moreau_options){.restitution = NAN, .method = carom_step_choice_defaults()};
}

static void defaults(void *options) { *(carom_moreau_options *)options = carom_moreau_defaults(); }

static const carom_option option_rows[] = {
    {"restitution", CAROM_OPTION_REAL, offsetof(carom_moreau_options, restitution), 0, 1, "", "scene",
     "coefficient of Newton restitution of all contacts, instead of the scene's", NULL},
    CAROM_STEP_CHOICE_ROWS(carom_moreau_options, method, carom_selection_names_solver, "lemke"),
};

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_moreau_options *options = call->options;
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    carom_arena arena = {0};
    carom_stepper *stepper = NULL;
    double *restitution = carom_arena_take(&arena, (size_t)data->contacts, sizeof *restitution);
    double *v = carom_arena_take(&arena, (size_t)data->nv, sizeof *v);
    double *impulse = carom_arena_take(&arena, (size_t)carom_impact_contact_size(call->impact), sizeof *impulse);
    carom_status status = arena.failed ? carom_fail_memory(error, "moreau") : CAROM_OK;

    // The step, with one coefficient for all contacts where the options have it.
    carom_stepper_options stepper_options;
    for (int i = 0; !status && i < data->contacts; i++) restitution[i] = options->restitution;
    if (!status) status = carom_step_choice_resolve(&options->method, CAROM_STEP_NEWTON, call->registry, &stepper_options, error);
    if (!status && !isnan(options->restitution)) stepper_options.restitution = restitution;
    if (!status) status = carom_stepper_create(call->impact, &stepper_options, &stepper, error);

    if (!status) {
        carom_step_info info;
        carom_stepper_solve(stepper, data->velocity, NULL, v, impulse, &info);
        // Newton's law may add energy where there is friction: the outcome is flagged, not refused.
        const bool gains = info.energy_change > CAROM_ENERGY_GAIN_FLAGGED * carom_impact_initial_energy(call->impact);
        if (info.verdict == CAROM_COMPLETE) status = carom_law_emit_one(call, v, impulse, 1, gains ? CAROM_FLAG_ENERGY_GAIN : 0, error);
        if (!status) status = carom_law_conclude(call, info.verdict, carom_stepper_selection(stepper), error);
    }
    carom_stepper_free(stepper);
    carom_arena_free(&arena);
    return status;
}

const carom_law carom_law_moreau = {
    .name = "moreau",
    .summary = "all contacts at once with Newton restitution, one LCP",
    .source = "Moreau 1988, section 13",
    CAROM_OPTION_TABLE(carom_moreau_options, option_rows),
    .defaults = defaults,
    .resolve = resolve,
};
