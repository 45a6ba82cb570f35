// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parallel loop, its control, and ranks: processes that share a computation.
#ifndef CAROM_LOOP_H
#define CAROM_LOOP_H

#include "carom/status.h"

CAROM_API_BEGIN

// ----------------------------------------------------------------------------------------------------------------------------------- ranks

/// Bytes that travel between processes: written at the end, read from the front. Both sides run the same program on like machines.
typedef struct carom_bytes carom_bytes;

carom_status carom_bytes_create(carom_bytes **bytes, carom_error *error);
void carom_bytes_free(carom_bytes *bytes);
/// Forgets what was written and keeps the memory.
void carom_bytes_clear(carom_bytes *bytes);
carom_status carom_bytes_put(carom_bytes *bytes, const void *values, size_t size, carom_error *error);
/// @return CAROM_INTERNAL when fewer than `size` bytes are left to be read
carom_status carom_bytes_take(carom_bytes *bytes, void *values, size_t size, carom_error *error);
/// Bytes that were not read yet.
size_t carom_bytes_left(const carom_bytes *bytes);
/// All that was written. `*size` bytes.
const void *carom_bytes_data(const carom_bytes *bytes, size_t *size);
/// Replaces the contents by `size` bytes that the caller fills in; NULL when there is no memory for them.
void *carom_bytes_renew(carom_bytes *bytes, size_t size);

/// Processes that share a computation. Every rank makes the same calls; rank 0 alone receives what they lead to.
/// How messages travel is the caller's: libcarom knows no MPI.
typedef struct carom_ranks {
    int rank, count;
    void *user;
    /// Returns when `message` may be changed; messages between two ranks keep their order. Called from the calling thread only.
    carom_status (*send)(void *user, int to, const carom_bytes *message, carom_error *error);
    /// Waits for the next message of a rank and replaces the contents of `message` by it.
    carom_status (*receive)(void *user, int from, carom_bytes *message, carom_error *error);
    bool ended;  ///< a failure was agreed on: no rank sends any more. False at first
} carom_ranks;

/// Makes a failure on one rank a failure of all: returns the status, and fills in the error, of the lowest rank that failed.
/// A rank that fails alone calls it where the others come to their next agreement, whichever that is. NULL: one rank.
carom_status carom_ranks_agree(carom_ranks *ranks, carom_status status, carom_error *error);

// --------------------------------------------------------------------------------------------------------------------------- parallel loop

/// How a long computation runs, is watched, and is stopped. All zero is valid: one thread for each core, never cancelled, silent.
typedef struct carom_control {
    int threads;                                                ///< 0: as many as OpenMP offers
    bool (*cancelled)(void *user);                              ///< polled between blocks from any thread; may be NULL
    void (*progress)(void *user, int64_t done, int64_t total);  ///< called from the calling thread; may be NULL
    void *user;
    carom_ranks *ranks;  ///< NULL: this process computes alone
} carom_control;

/// Has the caller asked to stop? False for NULL. Long computations of laws poll it between steps.
bool carom_control_cancelled(const carom_control *control);

/// A loop over blocks 0..count-1: `compute` runs on any thread, `deliver` on the calling thread in block order.
typedef struct carom_loop {
    int64_t blocks;
    void *user;
    /// Computes one block into `slot`, with the scratch memory of `worker`; both are small dense indices.
    carom_status (*compute)(void *user, int worker, int slot, int64_t block, carom_error *error);
    /// Hands the finished block in `slot` on.
    carom_status (*deliver)(void *user, int slot, int64_t block, carom_error *error);
    /// How a finished block travels to rank 0: out of a slot, and into one. NULL: every rank runs the whole loop for itself.
    carom_status (*pack)(void *user, int slot, carom_bytes *into, carom_error *error);
    carom_status (*unpack)(void *user, int slot, carom_bytes *from, carom_error *error);
} carom_loop;

/// Workers that `carom_loop_run` uses under this control: at least 1.
int carom_control_workers(const carom_control *control);

/// Slots that `carom_loop_run` uses for that many workers. A caller allocates this many block buffers.
int carom_loop_slots(int workers);

/// Runs the loop with `workers` threads. Results depend on neither their number nor timing, because blocks are delivered in order.
/// When cancelled, a prefix of the blocks has been delivered and `*delivered` is less than `blocks`.
/// With ranks the blocks are dealt to them in runs, and all are delivered on rank 0; `*delivered` and the status are the same on every
/// rank.
/// @return CAROM_OK, also when cancelled; otherwise the error of the first block in order that failed
carom_status carom_loop_run(const carom_loop *loop, const carom_control *control, int workers, int64_t *delivered, carom_error *error);

CAROM_API_END

#endif
