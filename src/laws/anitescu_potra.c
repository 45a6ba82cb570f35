// SPDX-License-Identifier: Apache-2.0
// Law `anitescu-potra`: all contacts at once, inelastic, with Coulomb friction (Anitescu & Potra 1997; Halm & Posa, eq. 31-33).
#include "carom/arena.h"
#include "laws/laws_internal.h"

carom_anitescu_potra_options carom_anitescu_potra_defaults(void) {
    return (carom_anitescu_potra_options){.method = carom_step_choice_defaults()};
}

static void defaults(void *options) { *(carom_anitescu_potra_options *)options = carom_anitescu_potra_defaults(); }

static const carom_option option_rows[] = {
    {"seed", CAROM_OPTION_INTEGER, offsetof(carom_anitescu_potra_options, seed), 0, CAROM_MOST_SEED, "", "0",
     "seed of the selection `random`, whose random numbers are the same for every impact of one seed", NULL},
    CAROM_STEP_CHOICE_ROWS(carom_anitescu_potra_options, method, carom_selection_names, "lemke"),
};

// Where solutions go.
typedef struct collection {
    const carom_law_call *call;
    carom_table *outcomes;
} collection;

static carom_status collect(void *user, const double *v, const double *impulse, const carom_step_info *info, carom_error *error) {
    (void)info;
    const collection *found = user;
    return carom_outcomes_add(found->outcomes, found->call->impact, v, impulse, 1, 0, error);
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    const carom_anitescu_potra_options *options = call->options;
    const carom_impact_data *data = carom_impact_get_data(call->impact);
    carom_arena arena = {0};
    double *v = carom_arena_take(&arena, (size_t)data->nv, sizeof *v);
    double *impulse = carom_arena_take(&arena, (size_t)carom_impact_contact_size(call->impact), sizeof *impulse);
    carom_status status = arena.failed ? carom_fail_memory(error, "anitescu-potra") : CAROM_OK;

    // The step of all contacts at once, and a table for its solutions.
    carom_stepper_options stepper_options;
    carom_stepper *stepper = NULL;
    collection found = {.call = call};
    if (!status) status = carom_step_choice_resolve(&options->method, CAROM_STEP_SIMULTANEOUS, call->registry, &stepper_options, error);
    // `auto` leaves out no solution: here it lists them.
    if (!status && stepper_options.selection == CAROM_SELECT_AUTO) stepper_options.selection = CAROM_SELECT_ALL;
    if (!status) status = carom_stepper_create(call->impact, &stepper_options, &stepper, error);
    if (!status) status = carom_outcomes_create(call->impact, NULL, 0, &found.outcomes, error);

    carom_verdict verdict = CAROM_COMPLETE;
    if (!status && carom_stepper_selection(stepper) == CAROM_SELECT_ALL) {
        // Every distinct solution of the LCP. None at all is no answer: the LCP has one.
        bool complete;
        carom_stepper_watch(stepper, call->control);
        status = carom_stepper_enumerate(stepper, data->velocity, NULL, collect, &found, &complete, error);
        verdict = complete && carom_table_rows(found.outcomes) > 0 ? CAROM_COMPLETE : CAROM_INCOMPLETE;
        if (carom_control_cancelled(call->control)) verdict = CAROM_INTERRUPTED;
    } else if (!status) {
        // One solution: Lemke's, or a random one by the seed.
        carom_stream stream;
        carom_step_info info;
        carom_stream_start_use(&stream, (uint64_t)options->seed, 0, CAROM_STREAM_SELECTION);
        carom_stepper_set_stream(stepper, &stream);
        carom_stepper_watch(stepper, call->control);
        carom_stepper_solve(stepper, data->velocity, NULL, v, impulse, &info);
        verdict = info.verdict;
        if (verdict == CAROM_COMPLETE) status = collect(&found, v, impulse, &info, error);
    }
    if (!status) status = carom_law_emit(call, found.outcomes, error);
    if (!status) status = carom_law_conclude(call, verdict, carom_stepper_selection(stepper), error);
    carom_table_free(found.outcomes);
    carom_stepper_free(stepper);
    carom_arena_free(&arena);
    return status;
}

// A comparison shows every solution.
static const char *const thorough[] = {"selection", "all", NULL};

const carom_law carom_law_anitescu_potra = {
    .name = "anitescu-potra",
    .summary = "all contacts at once, inelastic, one LCP",
    .source = "Anitescu & Potra 1997; Halm & Posa 2023, eq. (31)-(33)",
    CAROM_OPTION_TABLE(carom_anitescu_potra_options, option_rows),
    .defaults = defaults,
    .thorough = thorough,
    .resolve = resolve,
};
