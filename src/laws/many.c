// SPDX-License-Identifier: Apache-2.0
// One outcome for each of many impacts, in parallel.
#include "carom/many.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Impacts that a thread takes at once: few enough that long ones spread, and that an interruption is soon.
enum { BLOCK_IMPACTS = 16 };

typedef struct many {
    const carom_law *law;
    const carom_many_call *call;
    carom_control alone;                                       // of each law: its thread is one of ours
    const carom_option *seed_row, *edges_row, *selection_row;  // NULL where the law has no such option, or `auto` is not asked for
    char *options;                                             // one option struct for each worker
    carom_many_outcome *outcomes;
} many;

int64_t carom_many_seed(int64_t seed, int64_t index) {
    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_MANY);
    return (int64_t)(carom_stream_bits(&stream) >> 11);
}

static void fill_nan(double *values, int count) {
    for (int i = 0; values && i < count; i++) values[i] = NAN;
}

static void clear_outcome(carom_many_outcome *outcome, int nv, int contacts, int tangents) {
    fill_nan(outcome->velocity, nv);
    fill_nan(outcome->normal_impulse, contacts);
    fill_nan(outcome->tangent_impulse, tangents);
    outcome->energy_ratio = NAN;
    outcome->steps = outcome->flags = 0;
    outcome->verdict = CAROM_INTERRUPTED;
    outcome->finished = false;
}

// One of the terminated rows, each with the same probability; -1 when there is none. The seed of the impact is the first number of its
// stream, which is passed over.
static int64_t choose_row(const carom_table *rows, int64_t seed, int64_t index) {
    const int64_t *terminated = carom_table_integer_column(rows, CAROM_OUTCOME_TERMINATED), count = carom_table_rows(rows);
    int64_t candidates = 0;
    for (int64_t i = 0; i < count; i++) candidates += terminated[i];
    if (!candidates) return -1;
    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)seed, (uint64_t)index, CAROM_STREAM_MANY);
    carom_stream_bits(&stream);
    int64_t chosen = candidates > 1 ? (int64_t)(carom_stream_uniform(&stream) * (double)candidates) : 0;
    for (int64_t i = 0;; i++)
        if (terminated[i] && chosen-- == 0) return i;
}

static void copy_cells(double *into, const carom_table *rows, int column, int64_t row, int width) {
    if (into) memcpy(into, carom_table_real_column(rows, column) + row * width, (size_t)width * sizeof *into);
}

void carom_many_defaults(const carom_law *law, void *options) {
    law->defaults(options);
    if (carom_option_find(law->options, law->option_count, "samples") >= 0) carom_law_set(law, options, "samples", "1", NULL);
}

// The options for one impact: a seed of its own, and what `auto` stands for.
static carom_status adapt(const many *run, const carom_impact *impact, int64_t index, char *options, carom_error *error) {
    if (run->seed_row) *(int64_t *)(void *)(options + run->seed_row->offset) = carom_many_seed(run->call->seed, index);
    if (!run->selection_row) return CAROM_OK;
    carom_selection selection;
    const int64_t edges = *(const int64_t *)(const void *)(options + run->edges_row->offset);
    const carom_status status = carom_step_selection_unproved(impact, edges, CAROM_STEP_CAPPED, &selection, error);
    return status ? status : carom_option_set(run->selection_row, options, carom_selection_name(selection), error);
}

static carom_status ask(many *run, char *options, int64_t index, carom_error *error) {
    const carom_many_call *call = run->call;
    carom_impact *made = NULL;
    carom_status status = call->impacts ? CAROM_OK : carom_impact_create(&call->data[index], &made, error);
    const carom_impact *impact = call->impacts ? call->impacts[index] : made;
    if (!status) status = adapt(run, impact, index, options, error);
    const carom_law_call one = {.impact = impact, .options = options, .registry = call->registry, .control = &run->alone};
    carom_answer answer = {0};
    if (!status) status = carom_law_resolve(run->law, &one, &answer, error);
    if (!status) {
        const carom_sizes sizes = carom_impact_sizes(impact);
        const carom_table *rows = answer.outcomes;
        carom_many_outcome *outcome = &run->outcomes[index];
        outcome->verdict = carom_answer_verdict(&answer);
        const int64_t row = choose_row(rows, call->seed, index);
        outcome->finished = row >= 0;
        if (row >= 0) {
            copy_cells(outcome->velocity, rows, CAROM_OUTCOME_VELOCITY, row, sizes.nv);
            copy_cells(outcome->normal_impulse, rows, CAROM_OUTCOME_NORMAL_IMPULSE, row, sizes.contacts);
            copy_cells(outcome->tangent_impulse, rows, CAROM_OUTCOME_TANGENT_IMPULSE, row, sizes.tangents);
            outcome->energy_ratio = carom_table_real_column(rows, CAROM_OUTCOME_ENERGY_RATIO)[row];
            outcome->steps = carom_table_integer_column(rows, CAROM_OUTCOME_STEPS)[row];
            outcome->flags = carom_table_integer_column(rows, CAROM_OUTCOME_FLAGS)[row];
        }
    }
    carom_answer_free(&answer);
    carom_impact_free(made);
    if (!status || !error) return status;
    const carom_error inner = *error;
    return carom_fail(error, status, "impact %lld: %s", (long long)index, inner.message);
}

static carom_status compute(void *user, int worker, int slot, int64_t block, carom_error *error) {
    (void)slot;
    many *run = user;
    char *options = run->options + (size_t)worker * run->law->options_size;
    const int64_t first = block * BLOCK_IMPACTS, end = first + BLOCK_IMPACTS;
    carom_status status = CAROM_OK;
    for (int64_t i = first; i < end && i < run->call->count && !status; i++) {
        if (carom_control_cancelled(&run->alone)) break;
        status = ask(run, options, i, error);
    }
    return status;
}

// Outcomes stand in their places already.
static carom_status deliver(void *user, int slot, int64_t block, carom_error *error) {
    (void)user, (void)slot, (void)block, (void)error;
    return CAROM_OK;
}

static const carom_option *find_option(const carom_law *law, const char *name) {
    const int row = carom_option_find(law->options, law->option_count, name);
    return row < 0 ? NULL : &law->options[row];
}

carom_status carom_law_sample_many(const carom_law *law, const carom_many_call *call, carom_many_outcome *outcomes, carom_error *error) {
    if (call->count < 0 || (!call->data == !call->impacts && call->count))
        return carom_fail(error, CAROM_BAD_INPUT, "many impacts: either data or impacts are needed, and their number is not negative");
    if (call->seed < 0 || (double)call->seed > CAROM_MOST_SEED)
        return carom_fail(error, CAROM_BAD_INPUT, "seed: %lld is not between 0 and 2^53 - 1", (long long)call->seed);
    for (int64_t i = 0; i < call->count; i++) {
        const carom_impact_data *data = call->data ? &call->data[i] : carom_impact_get_data(call->impacts[i]);
        clear_outcome(&outcomes[i], data->nv, data->contacts, data->contacts * data->tangent_dim);
    }
    const int workers = carom_control_workers(call->control);
    many run = {.law = law,
                .call = call,
                .alone = {.threads = 1},
                .seed_row = find_option(law, "seed"),
                .edges_row = find_option(law, "cone_edges"),
                .selection_row = find_option(law, "selection"),
                .options = calloc((size_t)workers, law->options_size + 1),
                .outcomes = outcomes};
    if (!run.options) return carom_fail_memory(error, "many impacts");
    if (call->control) {
        run.alone.cancelled = call->control->cancelled;
        run.alone.user = call->control->user;
    }
    for (int i = 0; i < workers; i++) {
        char *options = run.options + (size_t)i * law->options_size;
        if (call->options)
            memcpy(options, call->options, law->options_size);
        else
            carom_many_defaults(law, options);
    }
    // Only `auto` depends on the impact.
    if (run.selection_row) {
        char chosen[16];
        carom_option_print(run.selection_row, run.options, chosen, sizeof chosen);
        if (!run.edges_row || strcmp(chosen, carom_selection_name(CAROM_SELECT_AUTO)) != 0) run.selection_row = NULL;
    }
    const carom_loop loop = {
        .blocks = (call->count + BLOCK_IMPACTS - 1) / BLOCK_IMPACTS, .user = &run, .compute = compute, .deliver = deliver};
    int64_t delivered;
    const carom_status status = carom_loop_run(&loop, call->control, workers, &delivered, error);
    free(run.options);
    return status;
}
