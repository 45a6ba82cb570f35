// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parts of the parallel loop that its forms for one rank and for several share.
#ifndef CAROM_BASE_LOOP_H
#define CAROM_BASE_LOOP_H

#include "carom/base.h"

/// What became of the block in a slot.
typedef struct carom_slot_outcome {
    carom_status status;
    bool finished;
    carom_error error;
} carom_slot_outcome;

/// A run of a loop on one rank.
typedef struct carom_loop_run_state {
    const carom_loop *loop;
    const carom_control *control;
    int workers, slots;
    carom_slot_outcome *outcomes;  ///< [slots]
} carom_loop_run_state;

/// Hands the finished block in a slot on, or says why it failed.
carom_status carom_loop_deliver_slot(const carom_loop_run_state *run, int slot, int64_t block, carom_error *error);
/// Reports to the caller how many blocks are done.
void carom_loop_report(const carom_loop_run_state *run, int64_t delivered);

/// The whole loop, shared between ranks. The outcomes may be NULL where there was no memory for them: all ranks then fail.
carom_status carom_loop_run_shared(const carom_loop_run_state *run, carom_ranks *ranks, int64_t *delivered, carom_error *error);

#endif
