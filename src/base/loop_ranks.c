// SPDX-License-Identifier: Apache-2.0
// The parallel loop over several ranks. It runs in waves: each rank computes one run of blocks of a wave, and rank 0 delivers its own run,
// then the runs of the others as they arrive, in order. What is delivered thus depends neither on the number of ranks nor on timing.
// After each wave rank 0 says whether to go on; the others compute the next wave before they listen, so that nobody waits for a delivery.
#include <omp.h>
#include <stdatomic.h>

#include "base/loop.h"
#include "base/ranks.h"

typedef struct party {
    const carom_loop_run_state *run;
    carom_ranks *ranks;
    int64_t most;  // blocks that each rank can take in a wave
    carom_bytes *message;
} party;

// Blocks first .. first+count-1 of one rank.
typedef struct share {
    int64_t first;
    int count;
} share;

// What rank 0 says after a wave.
typedef struct decision {
    int64_t delivered;
    bool stop;
    carom_error error;  // its status: CAROM_OK when nothing failed
} decision;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// The first block after the wave that begins with block `first`.
static int64_t wave_end(const party *all, int64_t first) { return least(all->run->loop->blocks, first + all->most * all->ranks->count); }

// Every wave is dealt evenly, the last one too, which is short.
static share share_of(const party *all, int64_t first, int rank) {
    const int64_t wave = wave_end(all, first) - first, even = (wave + all->ranks->count - 1) / all->ranks->count;
    const int64_t begin = least(rank * even, wave), end = least(begin + even, wave);
    return (share){first + begin, (int)(end - begin)};
}

// Computes a share into the slots: each worker takes the next free block. Returns how many blocks are finished and may be delivered; a
// cancelled or failed share leaves later slots unfinished, never earlier ones.
static int64_t compute_share(const party *all, share own) {
    const carom_loop_run_state *run = all->run;
    const carom_loop *loop = run->loop;
    atomic_int next = 0;
    atomic_bool stop = false;
    for (int slot = 0; slot < own.count; slot++) run->outcomes[slot].finished = false;
#pragma omp parallel num_threads(run->workers)
    {
        const int worker = omp_get_thread_num();
        // A slot that is taken is computed.
        while (!atomic_load(&stop) && !carom_control_cancelled(run->control)) {
            const int slot = atomic_fetch_add(&next, 1);
            if (slot >= own.count) break;
            carom_slot_outcome *outcome = &run->outcomes[slot];
            outcome->status = loop->compute(loop->user, worker, slot, own.first + slot, &outcome->error);
            outcome->finished = true;
            if (outcome->status) atomic_store(&stop, true);
        }
    }
    // The finished prefix: it ends at the first block that failed or was not computed.
    int64_t finished = 0;
    while (finished < own.count && run->outcomes[finished].finished && !run->outcomes[finished].status) finished++;
    return finished;
}

// ---------------------------------------------------------------------------------------------------- messages: a run

// A message starts with the number of finished blocks in it, and why the run ends early: CAROM_OK at its end or at a cancelled block.
static carom_status put_header(const party *all, int64_t finished, const carom_error *failure, carom_error *error) {
    carom_bytes_clear(all->message);
    const carom_status status = carom_bytes_put(all->message, &finished, sizeof finished, error);
    return status ? status : carom_bytes_put(all->message, failure, sizeof *failure, error);
}

// The finished blocks of a run. A run that cannot be packed becomes a failure with no blocks.
static carom_status pack_share(const party *all, share own, int64_t finished, carom_error *error) {
    const carom_loop *loop = all->run->loop;
    const carom_slot_outcome *next = finished < own.count ? &all->run->outcomes[finished] : NULL;
    carom_error failure = {.status = CAROM_OK};
    if (next && next->finished) {
        failure = next->error;
        failure.status = next->status;
    }
    carom_status status = put_header(all, finished, &failure, error);
    carom_error lost;
    for (int slot = 0; slot < finished && !status; slot++) status = loop->pack(loop->user, slot, all->message, &lost);
    return status ? put_header(all, 0, &lost, error) : CAROM_OK;
}

// Delivers the blocks of a message through slot 0, which is free once the run of rank 0 is delivered.
static carom_status deliver_message(const party *all, share theirs, int64_t *delivered, carom_error *error) {
    const carom_loop *loop = all->run->loop;
    int64_t finished = 0;
    carom_error failure = {.status = CAROM_OK};
    carom_status status = carom_bytes_take(all->message, &finished, sizeof finished, error);
    if (!status) status = carom_bytes_take(all->message, &failure, sizeof failure, error);
    for (int64_t i = 0; i < finished && !status; i++) {
        status = loop->unpack(loop->user, 0, all->message, error);
        if (!status) status = loop->deliver(loop->user, 0, theirs.first + i, error);
        if (!status) ++*delivered;
    }
    if (!status && failure.status) {
        *error = failure;
        return failure.status;
    }
    return status;
}

// ------------------------------------------------------------------------------------------------ the two kinds of rank

// Rank 0, one wave. The messages of a wave are all received, so that the ranks stay in step. Returns a failure of the transport only.
static carom_status collect_wave(const party *all, decision *made, carom_error *error) {
    const int64_t first = made->delivered;
    const share own = share_of(all, first, 0);
    compute_share(all, own);
    carom_status failed = CAROM_OK;
    for (int slot = 0; slot < own.count && all->run->outcomes[slot].finished && !failed; slot++) {
        failed = carom_loop_deliver_slot(all->run, slot, own.first + slot, &made->error);
        if (!failed) made->delivered++;
    }
    made->error.status = failed;
    made->stop = failed || made->delivered < own.first + own.count;
    for (int rank = 1; rank < all->ranks->count; rank++) {
        const carom_status status = all->ranks->receive(all->ranks->user, rank, all->message, error);
        if (status) return status;
        // A run after a failed or cancelled one is heard, and dropped.
        if (made->stop) continue;
        const share theirs = share_of(all, first, rank);
        made->error.status = deliver_message(all, theirs, &made->delivered, &made->error);
        made->stop = made->error.status || made->delivered < theirs.first + theirs.count;
    }
    return CAROM_OK;
}

static carom_status collect(const party *all, decision *made, carom_error *error) {
    carom_status status = CAROM_OK;
    while (!status && !made->stop && made->delivered < all->run->loop->blocks) {
        status = collect_wave(all, made, error);
        if (!status && !made->error.status) carom_loop_report(all->run, made->delivered);
        // Tell every rank what was decided.
        carom_bytes_clear(all->message);
        if (!status) status = carom_bytes_put(all->message, made, sizeof *made, error);
        for (int rank = 1; rank < all->ranks->count && !status; rank++)
            status = all->ranks->send(all->ranks->user, rank, all->message, error);
    }
    return status;
}

// Any other rank: one wave ahead of what rank 0 has decided on.
static carom_status contribute(const party *all, decision *made, carom_bytes *heard, carom_error *error) {
    const carom_ranks *ranks = all->ranks;
    carom_status status = CAROM_OK;
    bool sent = false;
    for (int64_t first = 0; !status && !made->stop && (sent || first < all->run->loop->blocks); first = wave_end(all, first)) {
        const share own = share_of(all, first, ranks->rank);
        const bool more = first < all->run->loop->blocks;
        if (more) status = pack_share(all, own, compute_share(all, own), error);
        // Listen to the decision on the wave before.
        if (sent && !status) status = ranks->receive(ranks->user, 0, heard, error);
        if (sent && !status) status = carom_bytes_take(heard, made, sizeof *made, error);
        sent = more && !status && !made->stop;
        if (sent) status = ranks->send(ranks->user, 0, all->message, error);
    }
    return status;
}

// All ranks enter together and leave with the same count and status.
carom_status carom_loop_run_shared(const carom_loop_run_state *run, carom_ranks *ranks, int64_t *delivered, carom_error *error) {
    party all = {.run = run, .ranks = ranks, .most = run->slots};
    carom_bytes *heard = NULL;
    carom_error own;
    carom_status status = run->outcomes ? carom_bytes_create(&all.message, &own) : carom_fail_memory(&own, "parallel loop");
    if (!status) status = carom_bytes_create(&heard, &own);
    // Ranks with fewer threads set the pace, or the others would wait for them.
    status = carom_ranks_agree_least(ranks, status, &all.most, &own);
    // All ranks are ready, or all fail here: from now on the messages of a wave keep them in step.
    decision made = {0};
    if (!status) {
        status = ranks->rank ? contribute(&all, &made, heard, &own) : collect(&all, &made, &own);
        if (!status && made.error.status) own = made.error;
        if (!status) status = made.error.status;
        ranks->ended = status != CAROM_OK;
    }
    *delivered = made.delivered;
    carom_bytes_free(all.message);
    carom_bytes_free(heard);
    if (status && error) *error = own;
    return status;
}
