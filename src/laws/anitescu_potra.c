// SPDX-License-Identifier: Apache-2.0
// Law `anitescu-potra`: all contacts at once, inelastic, with Coulomb friction (Anitescu & Potra 1997; Halm & Posa, eq. 31-33).
#include <stdlib.h>

#include "laws/laws_internal.h"

typedef struct anitescu_potra_options {
    int64_t seed;
    carom_step_choice method;
} anitescu_potra_options;

static void defaults(void *options) {
    *(anitescu_potra_options *)options = (anitescu_potra_options){.method = carom_step_choice_defaults()};
}

typedef struct collection {
    const carom_law_call *call;
    carom_table *outcomes;
} collection;

static carom_status collect(void *user, const double *v, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)info;
    const collection *c = user;
    return carom_outcomes_add(c->outcomes, c->call->impact, v, impulse, 1, 0, error);
}

// One solution: Lemke's, or a random one.
static carom_status solve_one(collection *c, carom_stepper *stepper, int64_t seed, carom_verdict *verdict, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(c->call->impact);
    double *work = malloc((size_t)(data->nv + carom_impact_contact_size(c->call->impact)) * sizeof *work);
    if (!work) return carom_fail_memory(error, "anitescu-potra");
    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)seed, 0, CAROM_STREAM_SELECTION);
    carom_stepper_set_stream(stepper, &stream);
    carom_step_info info;
    carom_stepper_solve(stepper, data->velocity, NULL, work, work + data->nv, &info);
    *verdict = info.verdict;
    const carom_status status = info.verdict == CAROM_COMPLETE ? collect(c, work, work + data->nv, &info, error) : CAROM_OK;
    free(work);
    return status;
}

static carom_status solve_all(collection *c, carom_stepper *stepper, carom_verdict *verdict, carom_error *error) {
    bool complete;
    const double *velocity = carom_impact_get_data(c->call->impact)->velocity;
    const carom_status status = carom_stepper_enumerate(stepper, velocity, NULL, collect, c, &complete, error);
    *verdict = complete && carom_table_rows(c->outcomes) > 0 ? CAROM_COMPLETE : CAROM_INCOMPLETE;
    if (carom_control_cancelled(c->call->control)) *verdict = CAROM_INTERRUPTED;
    return status;
}

static carom_status answer(const carom_law_call *call, carom_stepper *stepper, carom_error *error) {
    const anitescu_potra_options *options = call->options;
    collection c = {.call = call};
    carom_verdict verdict = CAROM_COMPLETE;
    carom_status status = carom_outcomes_create(call->impact, NULL, 0, &c.outcomes, error);
    if (status) return status;
    carom_stepper_watch(stepper, call->control);
    if (carom_stepper_selection(stepper) == CAROM_SELECT_ALL)
        status = solve_all(&c, stepper, &verdict, error);
    else
        status = solve_one(&c, stepper, options->seed, &verdict, error);
    if (!status) status = carom_law_emit(call, c.outcomes, error);
    if (!status) status = carom_law_conclude(call, verdict, carom_stepper_selection(stepper), error);
    carom_table_free(c.outcomes);
    return status;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const anitescu_potra_options *options = call->options;
    carom_stepper_options stepper_options;
    carom_stepper *stepper = NULL;
    carom_status status = carom_step_choice_resolve(&options->method, CAROM_STEP_SIMULTANEOUS, call->registry, &stepper_options, error);
    if (!status) status = carom_stepper_create(call->impact, &stepper_options, &stepper, error);
    if (!status) status = answer(call, stepper, error);
    carom_stepper_free(stepper);
    return status;
}

static const carom_option option_rows[] = {
    {"seed", CAROM_OPTION_INTEGER, offsetof(anitescu_potra_options, seed), 0, CAROM_MOST_SEED, "", "0", "seed of the selection `random`",
     NULL},
    CAROM_STEP_CHOICE_ROWS(anitescu_potra_options, method, carom_selection_names),
};

static const char *const thorough[] = {"selection", "all", NULL};

const carom_law carom_law_anitescu_potra = {
    .name = "anitescu-potra",
    .summary = "all contacts at once, inelastic, one LCP",
    .source = "Anitescu & Potra 1997; Halm & Posa 2023, eq. (31)-(33)",
    .options = option_rows,
    .option_count = sizeof option_rows / sizeof *option_rows,
    .options_size = sizeof(anitescu_potra_options),
    .defaults = defaults,
    .thorough = thorough,
    .resolve = resolve,
};
