// SPDX-License-Identifier: Apache-2.0
// Sampled sets: many samples by time stepping (Algorithms 1 and 2 of Halm & Posa), by walks or by both, in parallel blocks delivered in
// order.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "reach/batch.h"
#include "reach/reach_internal.h"

// Fixed, so that an interrupted run ends at a boundary that does not depend on the number of threads.
enum { BLOCK_SAMPLES = 256 };

// The 97.5 % quantile of the normal distribution.
#define CONFIDENCE_95 1.959963984540054

enum { COLUMN_SAMPLE, COLUMN_SAMPLER, COLUMN_PATH, COLUMN_BOUNCES };

// Where a sample is from: the samplers but for `auto`, which mixes them.
static const char *const sampler_names[] = {[CAROM_SAMPLER_LCP] = "lcp", [CAROM_SAMPLER_WALK] = "walk", NULL};

// In the order of CAROM_REBOUND_FIELDS.
static const char *const bounce_fields[] = {"stored", "restored", "compressions", "restitution", NULL};

const carom_column carom_sample_columns[CAROM_SAMPLE_COLUMNS] = {
    [COLUMN_SAMPLE] = {"sample", CAROM_COLUMN_INTEGER, 1, "", "index of the sample", NULL},
    [COLUMN_SAMPLER] = {"sampler", CAROM_COLUMN_CHOICE, 1, "", "where the sample is from: time stepping (lcp) or a walk", sampler_names},
    [COLUMN_PATH] = {"path", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "m/s",
                     "contact velocities (per contact normal, tangents) before the impact and after every step, where they were kept",
                     NULL},
    [COLUMN_BOUNCES] =
        {"bounces", CAROM_COLUMN_SERIES, CAROM_REBOUND_FIELDS, "J, J, 1, 1",
         "with a hypothesis of restitution, for each contact: work that its compressions stored, work that it gave back, the number of "
         "compressions, and the coefficient that was drawn",
         bounce_fields},
};

// What one piece of work leaves: samples side by side, delivered in order.
typedef struct block {
    carom_table *outcomes;  // NULL where nobody receives outcomes
    double *velocities;     // [rows x nv] v_plus for the digest, there
    int64_t rows;
    carom_sample_counts counts[CAROM_SAMPLER_AUTO];  // by the sampler
    bool cut;                                        // the caller stopped the block: it holds its first samples only
} block;

// Rows of one block that wait for the others: whole columns cost less than one row after the other.
typedef struct waiting {
    int64_t count;
    double *v_plus, *impulse;     // [nv x BLOCK_SAMPLES], [n x BLOCK_SAMPLES]
    double *bounces;              // [BLOCK_SAMPLES x CAROM_REBOUND_FIELDS * contacts]
    int64_t *steps, *flags;       // [BLOCK_SAMPLES]
    int64_t *samples, *samplers;  // [BLOCK_SAMPLES]
} waiting;

// What one thread works with.
typedef struct worker {
    // Where it is uncertain, the impact of the last draw; otherwise the one that is sampled.
    const carom_impact *impact;
    carom_impact *drawn;  // the same, to be freed
    int64_t draw;         // -1 for none
    double *uniforms, *values;
    carom_walker *walker;           // NULL where no sample is a walk
    carom_time_stepping *stepping;  // of samples one by one, and of closing steps; NULL where all are walks
    carom_batch *batch;             // NULL where samples are simulated one by one
    double *v, *impulse;
    waiting waiting;  // outcomes of walks, and of samples between them
    carom_arena arena;
} worker;

typedef struct sampling {
    const carom_impact *impact;
    const carom_sample_options *options;
    const carom_sink *sink;
    const carom_control *control;
    const carom_uncertainty *uncertainty;  // NULL: there is one impact
    int64_t samples_of_draw;
    carom_column *columns;  // of the outcomes
    int column_count;
    carom_time_stepping *typical;  // that nobody runs, of the impact that is given: it says what steppers are like
    bool steps, walks;             // which samplers there are; both: even samples are stepped, odd ones walk
    carom_sample_method method;    // of time stepping
    double closing_cap;            // NaN without a closing step
    int bounces;                   // numbers of an outcome in the column `bounces`
    carom_batch_plan *plan;        // of the workers' batches
    worker *workers;
    block *blocks;
    int worker_count, slot_count;
    carom_sample_counts total[CAROM_SAMPLER_AUTO];  // by the sampler
    bool receives;                                  // outcomes are wanted, not only statistics
    bool cut;                                       // a cut block was delivered: what follows it is dropped
    carom_digest *digest;
} sampling;

// One sample on its way into a block; velocity and impulse are the worker's.
typedef struct sampled {
    int64_t index;
    carom_sampler sampler;
    carom_sample_counts counts;
    const double *trace;  // [rows x n]
    int rows;
    const double *bounces;  // [CAROM_REBOUND_FIELDS * contacts]; NULL without restitution
} sampled;

void carom_sample_counts_add(carom_sample_counts *total, const carom_sample_counts *part) {
    total->samples += part->samples;
    total->terminated += part->terminated;
    total->unsolved += part->unsolved;
    total->closed += part->closed;
    total->approximate += part->approximate;
    total->steps += part->steps;
    total->steps_squared += part->steps_squared;
    total->fallbacks += part->fallbacks;
    total->looked_up += part->looked_up;
    total->listed += part->listed;
    total->several += part->several;
    total->max_residual = fmax(total->max_residual, part->max_residual);
    total->max_energy_gain = fmax(total->max_energy_gain, part->max_energy_gain);
}

// By parity, so that sample i of a longer run is that of a shorter one.
static carom_sampler sampler_of(const sampling *run, int64_t index) {
    return run->walks && (!run->steps || index % 2) ? CAROM_SAMPLER_WALK : CAROM_SAMPLER_LCP;
}

// ------------------------------------------------------------------------------------------------- workers and impacts

// What one sampler needs for the worker's impact.
static carom_status make_walker(const sampling *run, worker *own, carom_error *error) {
    // Beside time stepping, max_steps are its steps, and walks have their own number.
    carom_sample_options walks = *run->options;
    walks.sampler = CAROM_SAMPLER_WALK;
    if (run->steps) walks.max_steps = 0;
    const carom_walker_options walker = {carom_sample_max_steps(&walks), walks.weights, walks.rebound, walks.tolerance};
    const carom_status status = carom_walker_create(own->impact, &walker, &own->walker, error);
    if (!status) carom_walker_watch(own->walker, run->control);
    return status;
}

static carom_status make_stepping(const sampling *run, const carom_impact *impact, carom_time_stepping **stepping, carom_error *error) {
    const carom_status status =
        carom_time_stepping_create(impact, &run->method.stepper, run->method.step, carom_sample_max_steps(run->options),
                                   (carom_draw)run->options->draw, stepping, error);
    if (!status) carom_time_stepping_watch(*stepping, run->control);
    return status;
}

// Brings the worker to the impact of a sample, and what the sample needs. Samples of one draw follow each other.
static carom_status move_to(const sampling *run, worker *own, int64_t index, carom_sampler sampler, carom_error *error) {
    const int64_t draw = index / run->samples_of_draw;
    carom_status status = CAROM_OK;
    if (own->draw != draw) {
        carom_walker_free(own->walker);
        carom_time_stepping_free(own->stepping);
        carom_impact_free(own->drawn);
        own->walker = NULL;
        own->stepping = NULL;
        own->draw = -1;
        carom_uncertainty_draw(run->uncertainty, run->options->seed, draw, own->uniforms);
        carom_uncertainty_values(run->uncertainty, own->uniforms, own->values);
        status = carom_uncertainty_impact(run->uncertainty, own->values, &own->drawn, error);
        own->impact = own->drawn;
        if (status) return status;
        own->draw = draw;
    }
    if (sampler == CAROM_SAMPLER_WALK) return own->walker ? CAROM_OK : make_walker(run, own, error);
    return own->stepping ? CAROM_OK : make_stepping(run, own->impact, &own->stepping, error);
}

// ---------------------------------------------------------------------------------------------------------- one by one

// The v_plus of more rows, with positive zeros as in outcomes.
static void add_velocities(const sampling *run, block *into, const carom_outcome_rows *rows) {
    carom_outcome_velocities(run->impact, rows, into->velocities + into->rows * carom_impact_get_data(run->impact)->nv);
    into->rows += rows->count;
}

// Adds the rows that wait.
static carom_status add_waiting(const sampling *run, worker *own, block *into, carom_error *error) {
    waiting *all = &own->waiting;
    const int64_t count = all->count;
    all->count = 0;
    if (!count) return CAROM_OK;
    const carom_outcome_rows rows = {count, BLOCK_SAMPLES, all->v_plus, all->impulse, all->steps, all->flags};
    const carom_status status = carom_outcomes_add_rows(into->outcomes, own->impact, &rows, error);
    if (status) return status;
    const size_t size = (size_t)count * sizeof(int64_t);
    memcpy(carom_table_integers(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_SAMPLE) - (count - 1), all->samples, size);
    memcpy(carom_table_integers(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_SAMPLER) - (count - 1), all->samplers, size);
    if (!run->bounces) return CAROM_OK;
    return carom_table_set_series_rows(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_BOUNCES, count, all->bounces, run->bounces, error);
}

// Lets an outcome of the worker's v and impulse wait.
static void let_wait(const sampling *run, worker *own, const sampled *one, int64_t flags) {
    waiting *all = &own->waiting;
    const size_t at = (size_t)all->count++;
    for (int k = 0; k < carom_impact_get_data(run->impact)->nv; k++) all->v_plus[(size_t)k * BLOCK_SAMPLES + at] = own->v[k];
    for (int c = 0; c < carom_impact_contact_size(run->impact); c++) all->impulse[(size_t)c * BLOCK_SAMPLES + at] = own->impulse[c];
    all->steps[at] = one->counts.steps;
    all->flags[at] = flags;
    all->samples[at] = one->index;
    all->samplers[at] = one->sampler;
    if (run->bounces) memcpy(all->bounces + at * (size_t)run->bounces, one->bounces, (size_t)run->bounces * sizeof(double));
}

static carom_status add_outcome(const sampling *run, worker *own, block *into, const sampled *one, carom_error *error) {
    if (!run->receives) {
        add_velocities(run, into, &(carom_outcome_rows){.count = 1, .stride = 1, .v_plus = own->v});
        return CAROM_OK;
    }
    const bool gained = one->counts.max_energy_gain > CAROM_ENERGY_GAIN_FLAGGED * carom_impact_initial_energy(own->impact);
    const int64_t flags = (one->counts.unsolved ? CAROM_FLAG_UNSOLVED : 0) | (gained ? CAROM_FLAG_ENERGY_GAIN : 0) |
                          (one->counts.approximate ? CAROM_FLAG_APPROXIMATE : 0);
    let_wait(run, own, one, flags);
    // A path, and the numbers of an uncertain impact, belong to the last row.
    if (!one->rows && !run->uncertainty) return CAROM_OK;
    carom_status status = add_waiting(run, own, into, error);
    if (status) return status;
    const int values = one->rows * carom_impact_contact_size(run->impact);
    if (values) status = carom_table_set_series(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_PATH, one->trace, values, error);
    if (run->uncertainty)
        carom_uncertainty_fill(run->uncertainty, own->draw, own->values, into->outcomes, CAROM_OUTCOME_COLUMNS + CAROM_SAMPLE_COLUMNS);
    return status;
}

static carom_status sample_one(const sampling *run, worker *own, block *into, int64_t index, carom_error *error) {
    // The first samples keep their traces.
    const bool wanted = index < run->options->paths;
    sampled one = {.index = index, .sampler = sampler_of(run, index)};
    const bool walks = one.sampler == CAROM_SAMPLER_WALK;
    carom_status status = run->uncertainty ? move_to(run, own, index, one.sampler, error) : CAROM_OK;
    if (!status)
        status = walks ? carom_walker_record(own->walker, wanted, error) : carom_time_stepping_record(own->stepping, wanted, error);
    if (status) return status;
    const carom_verdict verdict =
        walks ? carom_walker_run(own->walker, run->options->seed, index, own->v, own->impulse, &one.counts)
              : carom_time_stepping_run(own->stepping, run->options->seed, index, own->v, own->impulse, &one.counts);
    into->cut = verdict == CAROM_INTERRUPTED;
    if (into->cut) return CAROM_OK;
    if (!walks && !isnan(run->closing_cap) && !one.counts.unsolved)
        carom_time_stepping_close(own->stepping, run->closing_cap, own->v, own->impulse, &one.counts);
    if (!one.counts.terminated) one.counts.approximate = 0;
    carom_sample_counts_add(&into->counts[one.sampler], &one.counts);
    if (!one.counts.terminated) return CAROM_OK;
    one.trace = walks ? carom_walker_trace(own->walker, &one.rows) : carom_time_stepping_trace(own->stepping, &one.rows);
    if (wanted && !one.rows) return carom_fail_memory(error, "path of a sample");
    if (walks) one.bounces = carom_walker_bounces(own->walker);
    return add_outcome(run, own, into, &one, error);
}

// -------------------------------------------------------------------------------------------------------- many at once

// One row of a batch whose samples are closed, have traces, or stand between walks.
static carom_status add_batch_row(const sampling *run, worker *own, block *into, const carom_batch_result *from, int64_t row,
                                  carom_error *error) {
    const size_t stride = from->rows.stride, at = (size_t)row;
    const int64_t flags = from->rows.flags[row];
    sampled one = {.index = from->samples[row],
                   .sampler = CAROM_SAMPLER_LCP,
                   .counts = {.steps = from->rows.steps[row],
                              .terminated = from->is_terminated[row],
                              .unsolved = (flags & CAROM_FLAG_UNSOLVED) != 0,
                              .approximate = (flags & CAROM_FLAG_APPROXIMATE) != 0,
                              .max_energy_gain = flags & CAROM_FLAG_ENERGY_GAIN ? from->counts.max_energy_gain : 0}};
    for (int k = 0; k < carom_impact_get_data(run->impact)->nv; k++) own->v[k] = from->rows.v_plus[(size_t)k * stride + at];
    for (int c = 0; c < carom_impact_contact_size(run->impact); c++) own->impulse[c] = from->rows.impulse[(size_t)c * stride + at];
    if (!isnan(run->closing_cap) && !one.counts.unsolved && !one.counts.terminated) {
        carom_time_stepping_close(own->stepping, run->closing_cap, own->v, own->impulse, &one.counts);
        // The batch has counted the sample; what the closing step has changed is added.
        carom_sample_counts change = one.counts;
        change.steps = 0;
        if (!change.terminated) change.approximate = 0;
        carom_sample_counts_add(&into->counts[CAROM_SAMPLER_LCP], &change);
        const carom_status status = carom_batch_record(own->batch, row, own->v, error);
        if (status) return status;
    }
    if (!one.counts.terminated) return CAROM_OK;
    one.trace = carom_batch_trace(own->batch, row, &one.rows);
    return add_outcome(run, own, into, &one, error);
}

// All rows of a batch as whole columns.
static carom_status add_batch_rows(const sampling *run, block *into, const carom_batch_result *from, carom_error *error) {
    if (!run->receives) {
        add_velocities(run, into, &from->rows);
        return CAROM_OK;
    }
    const carom_status status = carom_outcomes_add_rows(into->outcomes, run->impact, &from->rows, error);
    if (status || !from->rows.count) return status;
    // The sampler of added rows is 0, which is time stepping.
    int64_t *samples = carom_table_integers(into->outcomes, CAROM_OUTCOME_COLUMNS + COLUMN_SAMPLE) - (from->rows.count - 1);
    memcpy(samples, from->samples, (size_t)from->rows.count * sizeof *samples);
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------- blocks in order

static void clear_block(block *into) {
    if (into->outcomes) carom_table_clear(into->outcomes);
    memset(into->counts, 0, sizeof into->counts);
    into->rows = 0;
    into->cut = false;
}

// The time-stepped samples of a block, all at once, and the walks between them.
static carom_status sample_batch(const sampling *run, worker *own, block *into, int64_t first, int64_t count, carom_error *error) {
    const bool closes = !isnan(run->closing_cap);
    const int64_t every = run->walks ? 2 : 1;
    const carom_batch_request request = {.seed = run->options->seed,
                                         .first = first,
                                         .every = every,
                                         .count = (int)((count + every - 1) / every),
                                         .recorded = run->options->paths,
                                         .all = closes,
                                         .control = run->control};
    carom_batch_result result;
    carom_status status = carom_batch_run(own->batch, &request, &result, error);
    into->cut = result.interrupted;
    if (status || into->cut) return status;
    into->counts[CAROM_SAMPLER_LCP] = result.counts;
    // Samples that are closed, have traces or stand between walks go one by one, the others as whole columns.
    if (!closes && !run->walks && first >= run->options->paths) return add_batch_rows(run, into, &result, error);
    int64_t row = 0;
    for (int64_t index = first; index < first + count && !status && !into->cut; index++) {
        if (sampler_of(run, index) == CAROM_SAMPLER_WALK)
            status = sample_one(run, own, into, index, error);
        else if (row < result.rows.count && result.samples[row] == index)
            status = add_batch_row(run, own, into, &result, row++, error);
    }
    // The batch has counted all its samples: of a block that is cut, none is kept.
    if (into->cut) {
        clear_block(into);
        into->cut = true;
        own->waiting.count = 0;
    }
    return status ? status : add_waiting(run, own, into, error);
}

static carom_status compute_block(void *user, int worker_index, int slot, int64_t block_index, carom_error *error) {
    sampling *run = user;
    block *into = &run->blocks[slot];
    clear_block(into);
    // The last block may be shorter.
    const int64_t first = block_index * BLOCK_SAMPLES, left = run->options->samples - first;
    const int64_t count = left < BLOCK_SAMPLES ? left : BLOCK_SAMPLES;
    worker *own = &run->workers[worker_index];
    own->waiting.count = 0;
    if (own->batch) return sample_batch(run, own, into, first, count, error);
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < count && !status && !into->cut; i++) status = sample_one(run, own, into, first + i, error);
    return status ? status : add_waiting(run, own, into, error);
}

static carom_status deliver_block(void *user, int slot, int64_t block_index, carom_error *error) {
    (void)block_index;
    sampling *run = user;
    const block *from = &run->blocks[slot];
    if (run->cut) return CAROM_OK;
    run->cut = from->cut;
    // Counts, then the digest of v_plus, then the outcomes: in the order of the blocks.
    for (int i = 0; i < CAROM_SAMPLER_AUTO; i++) carom_sample_counts_add(&run->total[i], &from->counts[i]);
    const int64_t rows = run->receives ? carom_table_rows(from->outcomes) : from->rows;
    if (!rows) return CAROM_OK;
    const double *velocities = run->receives ? carom_table_real_column(from->outcomes, CAROM_OUTCOME_VELOCITY) : from->velocities;
    carom_digest_add_doubles(run->digest, velocities, (size_t)rows * (size_t)carom_impact_get_data(run->impact)->nv);
    return run->sink ? run->sink->receive(run->sink->user, from->outcomes, error) : CAROM_OK;
}

static carom_status pack_block(void *user, int slot, carom_bytes *into, carom_error *error) {
    const sampling *run = user;
    const block *from = &run->blocks[slot];
    carom_status status = carom_bytes_put(into, from->counts, sizeof from->counts, error);
    if (!status) status = carom_bytes_put(into, &from->cut, sizeof from->cut, error);
    return status ? status : carom_table_pack(from->outcomes, into, error);
}

static carom_status unpack_block(void *user, int slot, carom_bytes *from, carom_error *error) {
    sampling *run = user;
    block *into = &run->blocks[slot];
    carom_status status = carom_bytes_take(from, into->counts, sizeof into->counts, error);
    if (!status) status = carom_bytes_take(from, &into->cut, sizeof into->cut, error);
    return status ? status : carom_table_unpack(into->outcomes, from, error);
}

// ------------------------------------------------------------------------------------------------------------ lifetime

static carom_status make_worker(const sampling *run, worker *own, carom_error *error) {
    own->impact = run->impact;
    own->draw = -1;
    const size_t nv = (size_t)carom_impact_get_data(run->impact)->nv, n = (size_t)carom_impact_contact_size(run->impact);
    own->v = carom_arena_take(&own->arena, nv, sizeof(double));
    own->impulse = carom_arena_take(&own->arena, n, sizeof(double));
    own->waiting.v_plus = carom_arena_take(&own->arena, nv * BLOCK_SAMPLES, sizeof(double));
    own->waiting.impulse = carom_arena_take(&own->arena, n * BLOCK_SAMPLES, sizeof(double));
    own->waiting.bounces = carom_arena_take(&own->arena, (size_t)run->bounces * BLOCK_SAMPLES, sizeof(double));
    int64_t **const columns[] = {&own->waiting.steps, &own->waiting.flags, &own->waiting.samples, &own->waiting.samplers};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        *columns[k] = carom_arena_take(&own->arena, BLOCK_SAMPLES, sizeof(int64_t));
    if (run->uncertainty) {
        own->uniforms = carom_arena_take(&own->arena, (size_t)carom_uncertainty_dimension(run->uncertainty) + 1, sizeof(double));
        own->values = carom_arena_take(&own->arena, (size_t)carom_uncertainty_count(run->uncertainty) + 1, sizeof(double));
    }
    if (own->arena.failed) return carom_fail_memory(error, "sampling");
    // Uncertain impacts are made on the way.
    if (run->uncertainty) return CAROM_OK;
    carom_status status = run->walks ? make_walker(run, own, error) : CAROM_OK;
    // Time stepping is there for closing steps, too, where batches do the sampling.
    if (!status && run->steps) status = make_stepping(run, run->impact, &own->stepping, error);
    return !status && run->plan ? carom_batch_create(run->plan, BLOCK_SAMPLES, &own->batch, error) : status;
}

static carom_status prepare(sampling *run, carom_error *error) {
    run->slot_count = carom_loop_slots(run->worker_count);
    run->workers = calloc((size_t)run->worker_count, sizeof *run->workers);
    run->blocks = calloc((size_t)run->slot_count, sizeof *run->blocks);
    carom_status status = run->workers && run->blocks ? carom_digest_create(&run->digest, error) : carom_fail_memory(error, "sampling");
    for (int i = 0; i < run->worker_count && !status; i++) status = make_worker(run, &run->workers[i], error);
    for (int i = 0; i < run->slot_count && !status; i++) {
        block *made = &run->blocks[i];
        if (run->receives) {
            status = carom_outcomes_create(run->impact, run->columns, run->column_count, &made->outcomes, error);
        } else {
            made->velocities = malloc(BLOCK_SAMPLES * (size_t)carom_impact_get_data(run->impact)->nv * sizeof *made->velocities);
            if (!made->velocities) status = carom_fail_memory(error, "sampling");
        }
    }
    return status;
}

// Which samplers there are, the cap of the closing step and the plan of batches. Walks need none of these, but a method that does not exist
// is a mistake all the same.
static carom_status choose_method(sampling *run, const carom_registry *registry, carom_error *error) {
    const carom_sample_options *options = run->options;
    const bool planar = carom_impact_get_data(run->impact)->tangent_dim == 1;
    run->steps = options->sampler != CAROM_SAMPLER_WALK;
    run->walks = options->sampler == CAROM_SAMPLER_WALK || (options->sampler == CAROM_SAMPLER_AUTO && planar);
    carom_status status = carom_sample_resolve_method(run->impact, options, registry, &run->method, error);
    if (status || !run->steps) return status;
    const double step = run->method.step;
    if (!isnan(options->epsilon)) {
        if (!(options->epsilon > 0 && options->epsilon < step))
            return carom_fail(error, CAROM_BAD_INPUT, "epsilon: %g is not between 0 and the step h = %g, as Algorithm 2 asks for",
                              options->epsilon, step);
        // eps/(3 psi), the cap of the closing step.
        int edges;
        double psi = NAN;
        status = carom_impact_cone_edges(run->impact, options->method.cone_edges, &edges, error);
        if (!status) status = carom_reach_psi(run->impact, edges, &psi, error);
        run->closing_cap = options->epsilon / (3 * psi);
    }
    const carom_batch_options batches = {.impact = run->impact,
                                         .stepper = &run->method.stepper,
                                         .step = step,
                                         .max_steps = carom_sample_max_steps(options),
                                         .draw = (carom_draw)options->draw,
                                         .path = options->path,
                                         .control = run->control};
    if (status) return status;
    return run->uncertainty ? make_stepping(run, run->impact, &run->typical, error) : carom_batch_plan_create(&batches, &run->plan, error);
}

// ---------------------------------------------------------------------------------------------------------- statistics

static void describe(const sampling *run, carom_sample_statistics *statistics) {
    const double energy = carom_impact_initial_energy(run->impact);
    const carom_sample_counts *stepped = &run->total[CAROM_SAMPLER_LCP], *walked = &run->total[CAROM_SAMPLER_WALK];
    statistics->counts = *stepped;
    carom_sample_counts_add(&statistics->counts, walked);
    const double gain = statistics->counts.max_energy_gain;
    statistics->max_relative_energy_gain = energy > 0 ? gain / energy : gain;
    statistics->walks = walked->samples;
    if (run->uncertainty) statistics->draws = (statistics->counts.samples + run->samples_of_draw - 1) / run->samples_of_draw;
    carom_digest_finish(run->digest, statistics->digest);
    const char *const walk = carom_sampler_names[CAROM_SAMPLER_WALK];
    if (!run->steps) {
        statistics->selection = CAROM_SELECT_ANY;
        statistics->solver = walk;
        snprintf(statistics->path, sizeof statistics->path, "%s", walk);
        return;
    }
    statistics->step = run->method.step;
    // Mean number of steps, with the half width of its confidence interval.
    statistics->lcp_solves = stepped->steps;
    if (stepped->samples) {
        const double count = (double)stepped->samples;
        statistics->lcps_per_sample = (double)stepped->steps / count;
        const double variance = stepped->steps_squared / count - statistics->lcps_per_sample * statistics->lcps_per_sample;
        statistics->lcps_per_sample_ci95 = CONFIDENCE_95 * sqrt(fmax(variance, 0) / count);
    }
    const carom_stepper *stepper = carom_time_stepping_stepper(run->typical ? run->typical : run->workers[0].stepping);
    statistics->solver = run->method.stepper.solver->name;
    statistics->selection = run->plan ? carom_batch_plan_selection(run->plan) : carom_stepper_selection(stepper);
    // Known where solutions are listed or proved to be single; the cones that `scattered` has learnt may not be all.
    if (run->method.unique) statistics->nonunique_share = 0;
    if (stepped->listed && statistics->selection == CAROM_SELECT_RANDOM)
        statistics->nonunique_share = (double)stepped->several / (double)stepped->listed;
    statistics->method = run->plan ? carom_batch_plan_method(run->plan) : carom_stepper_method(stepper);
    snprintf(statistics->path, sizeof statistics->path, "%s%s%s",
             run->plan ? carom_batch_plan_path(run->plan) : carom_stepper_path(stepper), run->walks ? "+" : "", run->walks ? walk : "");
}

carom_status carom_reach_sample(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                const carom_control *control, const carom_sink *sink, carom_sample_statistics *statistics,
                                carom_error *error) {
    *statistics =
        (carom_sample_statistics){.verdict = CAROM_INCOMPLETE, .requested = options->samples, .step = NAN, .nonunique_share = NAN};
    const carom_sample_options served = carom_sample_serve(options);
    sampling run = {
        .impact = impact,
        .options = &served,
        .sink = sink,
        .control = control,
        .uncertainty = served.uncertainty,
        .samples_of_draw = served.nested ? served.samples / served.nested : 1,
        .closing_cap = NAN,
        .bounces = served.rebound.hypothesis == CAROM_HYPOTHESIS_NONE ? 0 : CAROM_REBOUND_FIELDS * carom_impact_get_data(impact)->contacts,
        .worker_count = carom_control_workers(control),
        // With several ranks only rank 0 has the sink, but all make outcomes.
        .receives = sink || (control && control->ranks)};
    carom_status status = carom_sample_check(options, error);
    if (!status) status = choose_method(&run, registry, error);
    if (!status)
        status = carom_uncertainty_extend(served.uncertainty, carom_sample_columns, CAROM_SAMPLE_COLUMNS, &run.columns, &run.column_count,
                                          error);
    if (!status) status = prepare(&run, error);
    if (!status) {
        const int64_t blocks = (options->samples + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES;
        const carom_loop loop = {blocks, &run, compute_block, deliver_block, pack_block, unpack_block};
        int64_t delivered;
        status = carom_loop_run(&loop, control, run.worker_count, &delivered, error);
        describe(&run, statistics);
        const bool interrupted = delivered < blocks || run.cut;
        statistics->verdict = interrupted ? CAROM_INTERRUPTED : statistics->counts.unsolved ? CAROM_INCOMPLETE : CAROM_COMPLETE;
    }
    for (int i = 0; run.workers && i < run.worker_count; i++) {
        carom_walker_free(run.workers[i].walker);
        carom_time_stepping_free(run.workers[i].stepping);
        carom_batch_free(run.workers[i].batch);
        carom_impact_free(run.workers[i].drawn);
        carom_arena_free(&run.workers[i].arena);
    }
    for (int i = 0; run.blocks && i < run.slot_count; i++) {
        carom_table_free(run.blocks[i].outcomes);
        free(run.blocks[i].velocities);
    }
    free(run.workers);
    free(run.blocks);
    free(run.columns);
    carom_time_stepping_free(run.typical);
    carom_digest_free(run.digest);
    carom_batch_plan_free(run.plan);
    return status;
}
