// SPDX-License-Identifier: Apache-2.0
// Sets of walks: many random solutions of the inclusion, in parallel blocks delivered in order.
#include <math.h>
#include <stdlib.h>

#include "reach/walk.h"

// Fixed, so that an interrupted run ends at a boundary that does not depend on the number of threads.
enum { BLOCK_WALKS = 256 };

// Sums over the walks of a block, or of all blocks.
typedef struct tally {
    int64_t walks, terminated;
    double max_energy_gain;
} tally;

typedef struct block {
    carom_table *outcomes;
    tally tally;
    bool cut;  // the caller stopped the block: it holds its first walks only
} block;

typedef struct worker {
    carom_walker *walker;
    double *v, *impulse;
} worker;

typedef struct walks {
    const carom_impact *impact;
    const carom_sample_options *options;
    const carom_sink *sink;
    worker *workers;
    block *blocks;
    int worker_count, slot_count;
    tally total;
    bool cut;  // a cut block was delivered: what follows it is dropped
    carom_digest *digest;
} walks;

static void merge_tally(tally *total, const tally *part) {
    total->walks += part->walks;
    total->terminated += part->terminated;
    total->max_energy_gain = fmax(total->max_energy_gain, part->max_energy_gain);
}

static carom_status add_outcome(const walks *s, const worker *own, block *into, int64_t index, const carom_simulation *result,
                                carom_error *error) {
    const bool gained = result->max_energy_gain > CAROM_ENERGY_GAIN_FLAGGED * carom_impact_initial_energy(s->impact);
    const carom_status status =
        carom_outcomes_add(into->outcomes, s->impact, own->v, own->impulse, result->steps, gained ? CAROM_FLAG_ENERGY_GAIN : 0, error);
    if (status) return status;
    *carom_table_integers(into->outcomes, carom_table_find(into->outcomes, "sample")) = index;
    int rows;
    const double *path = carom_walker_path(own->walker, &rows);
    const int values = rows * carom_impact_contact_size(s->impact);
    return values ? carom_table_set_series(into->outcomes, carom_table_find(into->outcomes, "path"), path, values, error) : CAROM_OK;
}

static carom_status walk_one(walks *s, worker *own, block *into, int64_t index, carom_error *error) {
    const carom_status status = carom_walker_record(own->walker, index < s->options->paths, error);
    if (status) return status;
    carom_simulation result;
    carom_walker_run(own->walker, s->options->seed, index, own->v, own->impulse, &result);
    into->cut = result.interrupted;
    if (into->cut) return CAROM_OK;
    const tally one = {1, result.terminated, result.max_energy_gain};
    merge_tally(&into->tally, &one);
    return result.terminated ? add_outcome(s, own, into, index, &result, error) : CAROM_OK;
}

static carom_status compute_block(void *user, int worker_index, int slot, int64_t block_index, carom_error *error) {
    walks *s = user;
    block *into = &s->blocks[slot];
    carom_table_clear(into->outcomes);
    into->tally = (tally){0};
    into->cut = false;
    const int64_t first = block_index * BLOCK_WALKS, left = s->options->samples - first;
    const int64_t count = left < BLOCK_WALKS ? left : BLOCK_WALKS;
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < count && !status && !into->cut; i++) status = walk_one(s, &s->workers[worker_index], into, first + i, error);
    return status;
}

static carom_status deliver_block(void *user, int slot, int64_t block_index, carom_error *error) {
    (void)block_index;
    walks *s = user;
    const block *from = &s->blocks[slot];
    if (s->cut) return CAROM_OK;
    s->cut = from->cut;
    merge_tally(&s->total, &from->tally);
    const int64_t rows = carom_table_rows(from->outcomes);
    if (!rows) return CAROM_OK;
    const size_t values = (size_t)rows * (size_t)carom_impact_get_data(s->impact)->nv;
    carom_digest_add_doubles(s->digest, carom_table_real_column(from->outcomes, CAROM_OUTCOME_VELOCITY), values);
    return s->sink ? s->sink->receive(s->sink->user, from->outcomes, error) : CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ set-up

static void release(walks *s) {
    for (int i = 0; s->workers && i < s->worker_count; i++) {
        carom_walker_free(s->workers[i].walker);
        free(s->workers[i].v);
        free(s->workers[i].impulse);
    }
    for (int i = 0; s->blocks && i < s->slot_count; i++) carom_table_free(s->blocks[i].outcomes);
    free(s->workers);
    free(s->blocks);
    carom_digest_free(s->digest);
}

static carom_status make_worker(const walks *s, const carom_control *control, worker *own, carom_error *error) {
    own->v = malloc((size_t)carom_impact_get_data(s->impact)->nv * sizeof(double));
    own->impulse = malloc((size_t)carom_impact_contact_size(s->impact) * sizeof(double));
    if (!own->v || !own->impulse) return carom_fail_memory(error, "walks");
    const carom_status status = carom_walker_create(s->impact, carom_sample_max_steps(s->options), &own->walker, error);
    if (!status) carom_walker_watch(own->walker, control);
    return status;
}

static carom_status prepare(walks *s, const carom_control *control, carom_error *error) {
    s->slot_count = carom_loop_slots(s->worker_count);
    s->workers = calloc((size_t)s->worker_count, sizeof *s->workers);
    s->blocks = calloc((size_t)s->slot_count, sizeof *s->blocks);
    carom_status status = s->workers && s->blocks ? carom_digest_create(&s->digest, error) : carom_fail_memory(error, "walks");
    for (int i = 0; i < s->worker_count && !status; i++) status = make_worker(s, control, &s->workers[i], error);
    for (int i = 0; i < s->slot_count && !status; i++)
        status = carom_outcomes_create(s->impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &s->blocks[i].outcomes, error);
    return status;
}

static void summarise(const walks *s, carom_sample_statistics *statistics) {
    const double energy = carom_impact_initial_energy(s->impact);
    statistics->samples = s->total.walks;
    statistics->terminated = s->total.terminated;
    statistics->max_relative_energy_gain = energy > 0 ? s->total.max_energy_gain / energy : s->total.max_energy_gain;
    carom_digest_finish(s->digest, statistics->digest);
}

carom_status carom_reach_walk(const carom_impact *impact, const carom_sample_options *options, const carom_control *control,
                              const carom_sink *sink, carom_sample_statistics *statistics, carom_error *error) {
    *statistics = (carom_sample_statistics){.verdict = CAROM_INCOMPLETE,
                                            .requested = options->samples,
                                            .step = NAN,
                                            .selection = CAROM_SELECT_ANY,
                                            .solver = carom_sampler_names[CAROM_SAMPLER_WALK],
                                            .path = carom_sampler_names[CAROM_SAMPLER_WALK]};
    walks s = {.impact = impact, .options = options, .sink = sink, .worker_count = carom_control_workers(control)};
    carom_status status = prepare(&s, control, error);
    if (!status) {
        const int64_t blocks = (options->samples + BLOCK_WALKS - 1) / BLOCK_WALKS;
        const carom_loop loop = {.blocks = blocks, .user = &s, .compute = compute_block, .deliver = deliver_block};
        int64_t delivered;
        status = carom_loop_run(&loop, control, s.worker_count, &delivered, error);
        summarise(&s, statistics);
        statistics->verdict = delivered < blocks || s.cut ? CAROM_INTERRUPTED : CAROM_COMPLETE;
    }
    release(&s);
    return status;
}
