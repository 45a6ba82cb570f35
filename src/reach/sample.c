// SPDX-License-Identifier: Apache-2.0
// Sampled sets: many samples by time stepping (Algorithms 1 and 2 of Halm & Posa) or by walks, in parallel blocks delivered in order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "reach/batch.h"
#include "reach/reach_internal.h"
#include "reach/walk.h"

// Fixed, so that an interrupted run ends at a boundary that does not depend on the number of threads.
enum { BLOCK_SAMPLES = 256 };

// The 97.5 % quantile of the normal distribution.
#define CONFIDENCE_95 1.959963984540054

enum { COLUMN_SAMPLE, COLUMN_PATH };

const carom_column carom_sample_columns[CAROM_SAMPLE_COLUMNS] = {
    [COLUMN_SAMPLE] = {"sample", CAROM_COLUMN_INTEGER, 1, "", "index of the sample", NULL},
    [COLUMN_PATH] = {"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s",
                     "contact velocities (per contact normal, tangents) before the impact and after every step, where they were kept",
                     NULL},
};

// Sums over the samples of a block, or of all blocks.
typedef struct tally {
    int64_t samples, terminated, unsolved, closed, steps, fallbacks, looked_up;
    double steps_squared;  // whole numbers below 2^53: exact in any order
    double max_residual, max_energy_gain;
} tally;

typedef struct block {
    carom_table *outcomes;  // NULL where nobody receives outcomes
    double *velocities;     // [rows x nv] v_plus for the digest, there
    int64_t rows;
    tally tally;
    bool cut;  // the caller stopped the block: it holds its first samples only
} block;

typedef struct worker {
    carom_walker *walker;        // of walks; the others are NULL then
    carom_simulator *simulator;  // of time stepping
    carom_batch *batch;          // NULL where samples are simulated one by one
    double *v, *impulse;
} worker;

typedef struct sampler {
    const carom_impact *impact;
    const carom_sample_options *options;
    const carom_sink *sink;
    const carom_control *control;
    carom_stepper_options stepper;
    double step;             // h; NaN for walks
    double closing_cap;      // NaN without a closing step
    carom_batch_plan *plan;  // of the workers' batches
    worker *workers;
    block *blocks;
    int worker_count, slot_count;
    tally total;
    bool receives;  // outcomes are wanted, not only statistics
    bool cut;       // a cut block was delivered: what follows it is dropped
    carom_digest *digest;
} sampler;

static bool walks(const sampler *s) { return s->options->sampler == CAROM_SAMPLER_WALK; }

// ------------------------------------------------------------------------------------------------------ one by one

static carom_status record(const worker *own, bool wanted, carom_error *error) {
    return own->walker ? carom_walker_record(own->walker, wanted, error) : carom_simulator_record(own->simulator, wanted, error);
}

static void run(const sampler *s, const worker *own, int64_t index, carom_simulation *result) {
    if (own->walker)
        carom_walker_run(own->walker, s->options->seed, index, own->v, own->impulse, result);
    else
        carom_simulator_run(own->simulator, s->options->seed, index, own->v, own->impulse, result);
}

static const double *path_of(const worker *own, int *rows) {
    return own->walker ? carom_walker_path(own->walker, rows) : carom_simulator_path(own->simulator, rows);
}

static tally tally_of(const carom_simulation *s, bool closed) {
    return (tally){.samples = 1,
                   .terminated = s->terminated,
                   .unsolved = s->unsolved,
                   .closed = closed,
                   .steps = s->steps,
                   .steps_squared = (double)s->steps * (double)s->steps,
                   .fallbacks = s->fallbacks,
                   .max_residual = s->max_residual,
                   .max_energy_gain = s->max_energy_gain};
}

static void merge_tally(tally *total, const tally *part) {
    total->samples += part->samples;
    total->terminated += part->terminated;
    total->unsolved += part->unsolved;
    total->closed += part->closed;
    total->steps += part->steps;
    total->steps_squared += part->steps_squared;
    total->fallbacks += part->fallbacks;
    total->looked_up += part->looked_up;
    total->max_residual = fmax(total->max_residual, part->max_residual);
    total->max_energy_gain = fmax(total->max_energy_gain, part->max_energy_gain);
}

// The v_plus of more rows, with positive zeros as in outcomes.
static void add_velocities(const sampler *s, block *into, const carom_outcome_rows *rows) {
    carom_outcome_velocities(s->impact, rows, into->velocities + into->rows * carom_impact_get_data(s->impact)->nv);
    into->rows += rows->count;
}

// The outcome in own->v and own->impulse, with its velocity path of `rows` rows.
static carom_status add_outcome(const sampler *s, const worker *own, block *into, int64_t index, const carom_simulation *result,
                                const double *path, int rows, carom_error *error) {
    if (!s->receives) {
        add_velocities(s, into, &(carom_outcome_rows){.count = 1, .stride = 1, .v_plus = own->v});
        return CAROM_OK;
    }
    const bool gained = result->max_energy_gain > CAROM_ENERGY_GAIN_FLAGGED * carom_impact_initial_energy(s->impact);
    const int64_t flags = (result->unsolved ? CAROM_FLAG_UNSOLVED : 0) | (gained ? CAROM_FLAG_ENERGY_GAIN : 0);
    carom_status status = carom_outcomes_add(into->outcomes, s->impact, own->v, own->impulse, result->steps, flags, error);
    if (status) return status;
    *carom_table_integers(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_SAMPLE) = index;
    const int values = rows * carom_impact_contact_size(s->impact);
    return values ? carom_table_set_series(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_PATH, path, values, error) : CAROM_OK;
}

static carom_status sample_one(sampler *s, worker *own, block *into, int64_t index, carom_error *error) {
    const carom_status status = record(own, index < s->options->paths, error);
    if (status) return status;
    carom_simulation result;
    run(s, own, index, &result);
    into->cut = result.interrupted;
    if (into->cut) return CAROM_OK;
    const bool finished = result.terminated;
    if (!isnan(s->closing_cap) && !result.unsolved) carom_simulator_close(own->simulator, s->closing_cap, own->v, own->impulse, &result);
    const tally one = tally_of(&result, result.terminated && !finished);
    merge_tally(&into->tally, &one);
    if (!result.terminated) return CAROM_OK;
    int rows;
    const double *path = path_of(own, &rows);
    return add_outcome(s, own, into, index, &result, path, rows, error);
}

static carom_status sample_each(sampler *s, worker *own, block *into, int64_t first, int64_t count, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < count && !status && !into->cut; i++) status = sample_one(s, own, into, first + i, error);
    return status;
}

// -------------------------------------------------------------------------------------------------- many at once

static tally tally_of_batch(const carom_batch_result *r, int64_t samples) {
    return (tally){.samples = samples,
                   .terminated = r->terminated,
                   .unsolved = r->unsolved,
                   .steps = r->steps,
                   .steps_squared = r->steps_squared,
                   .fallbacks = r->fallbacks,
                   .looked_up = r->looked_up,
                   .max_residual = r->max_residual,
                   .max_energy_gain = r->max_energy_gain};
}

// The closing step of a batch's sample, which stands in own->v and own->impulse.
static carom_status close_row(const sampler *s, const worker *own, block *into, int64_t row, carom_simulation *one, carom_error *error) {
    const carom_simulation before = *one;
    if (isnan(s->closing_cap) || one->unsolved) return CAROM_OK;
    carom_simulator_close(own->simulator, s->closing_cap, own->v, own->impulse, one);
    const tally change = {.terminated = one->terminated - before.terminated,
                          .unsolved = one->unsolved,
                          .closed = one->terminated && !before.terminated,
                          .fallbacks = one->fallbacks,
                          .max_residual = one->max_residual,
                          .max_energy_gain = one->max_energy_gain};
    merge_tally(&into->tally, &change);
    return carom_batch_record(own->batch, row, own->v, error);
}

// One row of a batch whose samples are closed, or have paths.
static carom_status add_batch_row(const sampler *s, const worker *own, block *into, const carom_batch_result *r, int64_t row,
                                  carom_error *error) {
    const bool unsolved = r->rows.flags[row] & CAROM_FLAG_UNSOLVED, gained = r->rows.flags[row] & CAROM_FLAG_ENERGY_GAIN;
    carom_simulation one = {.steps = r->rows.steps[row],
                            .terminated = r->is_terminated[row],
                            .unsolved = unsolved,
                            .max_energy_gain = gained ? r->max_energy_gain : 0};
    for (int k = 0; k < carom_impact_get_data(s->impact)->nv; k++) own->v[k] = r->rows.v_plus[(size_t)k * r->rows.stride + (size_t)row];
    for (int c = 0; c < carom_impact_contact_size(s->impact); c++)
        own->impulse[c] = r->rows.impulse[(size_t)c * r->rows.stride + (size_t)row];
    const carom_status status = close_row(s, own, into, row, &one, error);
    if (status || !one.terminated) return status;
    int rows;
    const double *path = carom_batch_path(own->batch, row, &rows);
    return add_outcome(s, own, into, r->samples[row], &one, path, rows, error);
}

static carom_status add_batch_rows(block *into, const sampler *s, const carom_batch_result *r, carom_error *error) {
    if (!s->receives) {
        add_velocities(s, into, &r->rows);
        return CAROM_OK;
    }
    const carom_status status = carom_outcomes_add_rows(into->outcomes, s->impact, &r->rows, error);
    if (status || !r->rows.count) return status;
    int64_t *samples = carom_table_integers(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_SAMPLE) - (r->rows.count - 1);
    memcpy(samples, r->samples, (size_t)r->rows.count * sizeof *samples);
    return CAROM_OK;
}

static carom_status sample_batch(const sampler *s, const worker *own, block *into, int64_t first, int64_t count, carom_error *error) {
    const bool closes = !isnan(s->closing_cap);
    carom_batch_result r;
    carom_status status =
        carom_batch_run(own->batch, s->options->seed, first, (int)count, s->options->paths, closes, s->control, &r, error);
    into->cut = r.interrupted;
    if (status || into->cut) return status;
    const tally all = tally_of_batch(&r, count);
    merge_tally(&into->tally, &all);
    if (!closes && first >= s->options->paths) return add_batch_rows(into, s, &r, error);
    for (int64_t row = 0; row < r.rows.count && !status; row++) status = add_batch_row(s, own, into, &r, row, error);
    return status;
}

static carom_status compute_block(void *user, int worker_index, int slot, int64_t block_index, carom_error *error) {
    sampler *s = user;
    block *into = &s->blocks[slot];
    if (into->outcomes) carom_table_clear(into->outcomes);
    into->tally = (tally){0};
    into->rows = 0;
    into->cut = false;
    const int64_t first = block_index * BLOCK_SAMPLES, left = s->options->samples - first;
    const int64_t count = left < BLOCK_SAMPLES ? left : BLOCK_SAMPLES;
    worker *own = &s->workers[worker_index];
    return own->batch ? sample_batch(s, own, into, first, count, error) : sample_each(s, own, into, first, count, error);
}

// ------------------------------------------------------------------------------------------------- blocks in order

static carom_status deliver_block(void *user, int slot, int64_t block_index, carom_error *error) {
    (void)block_index;
    sampler *s = user;
    const block *from = &s->blocks[slot];
    if (s->cut) return CAROM_OK;
    s->cut = from->cut;
    merge_tally(&s->total, &from->tally);
    const int64_t rows = s->receives ? carom_table_rows(from->outcomes) : from->rows;
    if (!rows) return CAROM_OK;
    const double *velocities = s->receives ? carom_table_real_column(from->outcomes, CAROM_OUTCOME_VELOCITY) : from->velocities;
    carom_digest_add_doubles(s->digest, velocities, (size_t)rows * (size_t)carom_impact_get_data(s->impact)->nv);
    return s->sink ? s->sink->receive(s->sink->user, from->outcomes, error) : CAROM_OK;
}

static carom_status pack_block(void *user, int slot, carom_bytes *into, carom_error *error) {
    const sampler *s = user;
    const block *from = &s->blocks[slot];
    carom_status status = carom_bytes_put(into, &from->tally, sizeof from->tally, error);
    if (!status) status = carom_bytes_put(into, &from->cut, sizeof from->cut, error);
    return status ? status : carom_table_pack(from->outcomes, into, error);
}

static carom_status unpack_block(void *user, int slot, carom_bytes *from, carom_error *error) {
    sampler *s = user;
    block *into = &s->blocks[slot];
    carom_status status = carom_bytes_take(from, &into->tally, sizeof into->tally, error);
    if (!status) status = carom_bytes_take(from, &into->cut, sizeof into->cut, error);
    return status ? status : carom_table_unpack(into->outcomes, from, error);
}

// ------------------------------------------------------------------------------------------------------------ set-up

static void release(sampler *s) {
    for (int i = 0; s->workers && i < s->worker_count; i++) {
        carom_walker_free(s->workers[i].walker);
        carom_simulator_free(s->workers[i].simulator);
        carom_batch_free(s->workers[i].batch);
        free(s->workers[i].v);
        free(s->workers[i].impulse);
    }
    for (int i = 0; s->blocks && i < s->slot_count; i++) {
        carom_table_free(s->blocks[i].outcomes);
        free(s->blocks[i].velocities);
    }
    free(s->workers);
    free(s->blocks);
    carom_digest_free(s->digest);
    carom_batch_plan_free(s->plan);
}

static carom_status make_walker(const sampler *s, worker *own, carom_error *error) {
    const carom_status status = carom_walker_create(s->impact, carom_sample_max_steps(s->options), &own->walker, error);
    if (!status) carom_walker_watch(own->walker, s->control);
    return status;
}

static carom_status make_simulator(const sampler *s, worker *own, carom_error *error) {
    const carom_status status = carom_simulator_create(s->impact, &s->stepper, s->step, carom_sample_max_steps(s->options),
                                                       (carom_draw)s->options->draw, &own->simulator, error);
    if (status) return status;
    carom_simulator_watch(own->simulator, s->control);
    return s->plan ? carom_batch_create(s->plan, BLOCK_SAMPLES, &own->batch, error) : CAROM_OK;
}

static carom_status make_worker(const sampler *s, worker *own, carom_error *error) {
    own->v = malloc((size_t)carom_impact_get_data(s->impact)->nv * sizeof(double));
    own->impulse = malloc((size_t)carom_impact_contact_size(s->impact) * sizeof(double));
    if (!own->v || !own->impulse) return carom_fail_memory(error, "sampling");
    return walks(s) ? make_walker(s, own, error) : make_simulator(s, own, error);
}

static carom_status make_block(const sampler *s, block *made, carom_error *error) {
    if (s->receives) return carom_outcomes_create(s->impact, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &made->outcomes, error);
    made->velocities = malloc(BLOCK_SAMPLES * (size_t)carom_impact_get_data(s->impact)->nv * sizeof *made->velocities);
    return made->velocities ? CAROM_OK : carom_fail_memory(error, "sampling");
}

static carom_status prepare(sampler *s, carom_error *error) {
    s->slot_count = carom_loop_slots(s->worker_count);
    s->workers = calloc((size_t)s->worker_count, sizeof *s->workers);
    s->blocks = calloc((size_t)s->slot_count, sizeof *s->blocks);
    carom_status status = s->workers && s->blocks ? carom_digest_create(&s->digest, error) : carom_fail_memory(error, "sampling");
    for (int i = 0; i < s->worker_count && !status; i++) status = make_worker(s, &s->workers[i], error);
    for (int i = 0; i < s->slot_count && !status; i++) status = make_block(s, &s->blocks[i], error);
    return status;
}

// eps/(3 psi), the cap of the closing step.
static carom_status find_closing_cap(sampler *s, carom_error *error) {
    const carom_sample_options *options = s->options;
    if (isnan(options->epsilon)) return CAROM_OK;
    if (!(options->epsilon > 0 && options->epsilon < s->step))
        return carom_fail(error, CAROM_BAD_INPUT, "epsilon: %g is not between 0 and the step h = %g, as Algorithm 2 asks for",
                          options->epsilon, s->step);
    int edges;
    double psi = NAN;
    carom_status status = carom_impact_cone_edges(s->impact, options->method.cone_edges, &edges, error);
    if (!status) status = carom_reach_psi(s->impact, edges, &psi, error);
    if (!status) s->closing_cap = options->epsilon / (3 * psi);
    return status;
}

// What time stepping needs beside the impact; walks need nothing.
static carom_status choose_method(sampler *s, const carom_registry *registry, carom_error *error) {
    const carom_sample_options *options = s->options;
    carom_status status = carom_sample_resolve_method(options, registry, &s->stepper, error);
    // Walks take no steps, but a method that does not exist is a mistake all the same.
    if (status || walks(s)) return status;
    s->step = options->step;
    if (isnan(s->step)) status = carom_reach_auto_step(s->impact, options->method.cone_edges, &s->step, error);
    if (!status) status = find_closing_cap(s, error);
    return status ? status : carom_batch_plan_choose(s->impact, options, &s->stepper, s->step, &s->plan, error);
}

// -------------------------------------------------------------------------------------------------------- statistics

static const char *path_name(const sampler *s, carom_selection selection) {
    if (s->plan) return carom_batch_plan_path(s->plan);
    if (selection == CAROM_SELECT_RANDOM) return "modes";
    return strcmp(s->stepper.solver->name, carom_lcp_lemke.name) ? s->stepper.solver->name : carom_lcp_lemke_path();
}

static void describe_method(const sampler *s, carom_sample_statistics *statistics) {
    statistics->step = s->step;
    if (walks(s)) {
        statistics->selection = CAROM_SELECT_ANY;
        statistics->solver = statistics->path = carom_sampler_names[CAROM_SAMPLER_WALK];
        return;
    }
    statistics->selection = s->plan ? carom_batch_plan_selection(s->plan) : carom_simulator_selection(s->workers[0].simulator);
    statistics->solver = s->stepper.solver->name;
    statistics->path = path_name(s, statistics->selection);
}

// A walk's steps are straight pieces, which solve no LCP.
static void summarise_steps(const tally *t, carom_sample_statistics *statistics) {
    const double count = (double)t->samples;
    statistics->lcp_solves = t->steps;
    if (!t->samples) return;
    statistics->lcps_per_sample = (double)t->steps / count;
    const double variance = t->steps_squared / count - statistics->lcps_per_sample * statistics->lcps_per_sample;
    statistics->lcps_per_sample_ci95 = CONFIDENCE_95 * sqrt(fmax(variance, 0) / count);
}

static void summarise(const sampler *s, carom_sample_statistics *statistics) {
    const tally *t = &s->total;
    const double energy = carom_impact_initial_energy(s->impact);
    statistics->samples = t->samples;
    statistics->terminated = t->terminated;
    statistics->unsolved = t->unsolved;
    statistics->closed = t->closed;
    statistics->fallbacks = t->fallbacks;
    statistics->looked_up = t->looked_up;
    statistics->max_residual = t->max_residual;
    statistics->max_relative_energy_gain = energy > 0 ? t->max_energy_gain / energy : t->max_energy_gain;
    if (!walks(s)) summarise_steps(t, statistics);
    carom_digest_finish(s->digest, statistics->digest);
}

static carom_status run_blocks(sampler *s, carom_sample_statistics *statistics, carom_error *error) {
    const int64_t blocks = (s->options->samples + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES;
    const carom_loop loop = {blocks, s, compute_block, deliver_block, pack_block, unpack_block};
    int64_t delivered;
    const carom_status status = carom_loop_run(&loop, s->control, s->worker_count, &delivered, error);
    summarise(s, statistics);
    describe_method(s, statistics);
    statistics->verdict = delivered < blocks || s->cut ? CAROM_INTERRUPTED : s->total.unsolved ? CAROM_INCOMPLETE : CAROM_COMPLETE;
    return status;
}

carom_status carom_reach_sample(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                const carom_control *control, const carom_sink *sink, carom_sample_statistics *statistics,
                                carom_error *error) {
    *statistics = (carom_sample_statistics){.verdict = CAROM_INCOMPLETE, .requested = options->samples, .step = options->step};
    sampler s = {.impact = impact,
                 .options = options,
                 .sink = sink,
                 .control = control,
                 .step = NAN,
                 .closing_cap = NAN,
                 .worker_count = carom_control_workers(control),
                 // Of several ranks one has the sink.
                 .receives = sink || (control && control->ranks)};
    carom_status status = carom_sample_check(options, error);
    if (!status) status = choose_method(&s, registry, error);
    if (!status) status = prepare(&s, error);
    if (!status) status = run_blocks(&s, statistics, error);
    release(&s);
    return status;
}
