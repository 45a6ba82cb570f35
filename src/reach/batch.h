// SPDX-License-Identifier: Apache-2.0
/// @file
/// Algorithm 1 for many samples at once, by the cone map of step_cones.h. Not installed.
#ifndef CAROM_REACH_BATCH_H
#define CAROM_REACH_BATCH_H

#include "carom/reach.h"

/// What all threads share: the trained map, and how samples run.
typedef struct carom_batch_plan carom_batch_plan;

/// What a plan is made for.
typedef struct carom_batch_options {
    const carom_impact *impact;
    const carom_stepper_options *stepper;  ///< of the capped steps
    double step;                           ///< h
    int64_t max_steps;
    carom_draw draw;
    const char *path;  ///< "cone-map" or one of its kernels; "auto": where it is expected to win
} carom_batch_options;

/// Trains the map: the same one whatever the seed, the number of samples and of threads.
/// @param plan  NULL where the path is `auto` and another way is expected to be faster
/// @return CAROM_UNSUPPORTED where a path that was asked for can't be served
carom_status carom_batch_plan_create(const carom_batch_options *options, carom_batch_plan **plan, carom_error *error);
/// The plan for these options of sampling, with the stepper options and the step that they mean; NULL where there is to be none.
/// @return CAROM_BAD_INPUT when the path is asked for with another solver than our Lemke
carom_status carom_batch_plan_choose(const carom_impact *impact, const carom_sample_options *sample, const carom_stepper_options *stepper,
                                     double step, carom_batch_plan **plan, carom_error *error);
void carom_batch_plan_free(carom_batch_plan *plan);
/// The selection that is served: `any` where the path was asked for and `lemke` can't be.
carom_selection carom_batch_plan_selection(const carom_batch_plan *plan);
/// The path that runs: "cone-map:avx512", ...
const char *carom_batch_plan_path(const carom_batch_plan *plan);
/// Does a path name the cone map?
bool carom_batch_is_path(const char *path);

/// One thread's samples.
typedef struct carom_batch carom_batch;

/// @param capacity  most samples of a run, 1 to CAROM_CONE_MOST_SAMPLES
carom_status carom_batch_create(const carom_batch_plan *plan, int capacity, carom_batch **batch, carom_error *error);
void carom_batch_free(carom_batch *batch);

/// What a run did: sums over its samples, and their outcomes in order. Valid until the next run.
typedef struct carom_batch_result {
    bool interrupted;  ///< nothing else is defined
    int64_t terminated, unsolved, steps, fallbacks, looked_up;
    double steps_squared;  ///< sum of squares: whole numbers below 2^53
    double max_residual, max_energy_gain;
    carom_outcome_rows rows;    ///< those that were asked for
    const int64_t *samples;     ///< [rows.count] index
    const bool *is_terminated;  ///< [rows.count]
} carom_batch_result;

/// Samples first .. first + count - 1.
/// @param recorded  samples below this index keep their contact velocities
/// @param all       rows for every sample, not only for those that terminated
carom_status carom_batch_run(carom_batch *batch, int64_t seed, int64_t first, int count, int64_t recorded, bool all,
                             const carom_control *control, carom_batch_result *result, carom_error *error);

/// Adds the contact velocity J v to the record of a row's sample, where there is one.
carom_status carom_batch_record(carom_batch *batch, int64_t row, const double *v, carom_error *error);
/// Contact velocities of a row's sample, [rows x n]: before the impact, then after every step. NULL where they were not recorded.
const double *carom_batch_path(const carom_batch *batch, int64_t row, int *rows);

#endif
