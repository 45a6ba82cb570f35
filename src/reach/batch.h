// SPDX-License-Identifier: Apache-2.0
/// @file
/// Algorithm 1 for many samples at once, by a step method that takes batches. Not installed.
#ifndef CAROM_REACH_BATCH_H
#define CAROM_REACH_BATCH_H

#include "carom/reach.h"

/// What all threads share: what the method has learnt, and how samples run.
typedef struct carom_batch_plan carom_batch_plan;

/// What a plan is made for.
typedef struct carom_batch_options {
    const carom_impact *impact;
    const carom_stepper_options *stepper;  ///< of the capped steps
    double step;                           ///< h
    int64_t max_steps;
    carom_draw draw;
    const char *path;              ///< as in `--path`
    const carom_control *control;  ///< polled while the method learns, which then ends early; may be NULL
} carom_batch_options;

/// Has the method of the path learn from samples: the same ones whatever the seed, the number of samples and of threads.
/// @param plan  NULL where samples are to be simulated one by one: for a path without batches, for `auto` where this is expected to be
///              faster, and for another solver than our Lemke
/// @return CAROM_UNSUPPORTED where a path that was asked for can't be served
carom_status carom_batch_plan_create(const carom_batch_options *options, carom_batch_plan **plan, carom_error *error);
void carom_batch_plan_free(carom_batch_plan *plan);
/// The selection that is served: `any` where the path was asked for and `lemke` can't be.
carom_selection carom_batch_plan_selection(const carom_batch_plan *plan);
const carom_step_method *carom_batch_plan_method(const carom_batch_plan *plan);
/// What runs: "cone-map:avx512", ...
const char *carom_batch_plan_path(const carom_batch_plan *plan);

/// One thread's samples.
typedef struct carom_batch carom_batch;

/// @param capacity  most samples of a run, 1 to CAROM_STEP_MOST_BATCHED
carom_status carom_batch_create(const carom_batch_plan *plan, int capacity, carom_batch **batch, carom_error *error);
void carom_batch_free(carom_batch *batch);

/// Samples first, first + every, ..., `count` of them.
typedef struct carom_batch_request {
    int64_t seed, first, every;
    int count;
    int64_t recorded;              ///< samples below this index keep their traces
    bool all;                      ///< rows for every sample, not only for those that terminated
    const carom_control *control;  ///< polled before every step; NULL: never
} carom_batch_request;

/// What a run did: sums over its samples, and their outcomes in order. Valid until the next run.
typedef struct carom_batch_result {
    bool interrupted;  ///< nothing else is defined
    carom_sample_counts counts;
    carom_outcome_rows rows;    ///< those that were asked for
    const int64_t *samples;     ///< [rows.count] index
    const bool *is_terminated;  ///< [rows.count]
} carom_batch_result;

carom_status carom_batch_run(carom_batch *batch, const carom_batch_request *request, carom_batch_result *result, carom_error *error);

/// Adds the contact velocity J v to the trace of a row's sample, where there is one.
carom_status carom_batch_record(carom_batch *batch, int64_t row, const double *v, carom_error *error);
/// Contact velocities of a row's sample, [rows x n]: before the impact, then after every step. NULL where they were not recorded.
const double *carom_batch_trace(const carom_batch *batch, int64_t row, int *rows);

#endif
