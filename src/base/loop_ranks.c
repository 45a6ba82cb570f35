// SPDX-License-Identifier: Apache-2.0
// The parallel loop over several ranks. It runs in waves: each rank computes one run of blocks of a wave, and rank 0 delivers its own run,
// then the runs of the others as they arrive, in order. What is delivered thus depends neither on the number of ranks nor on timing.
// After each wave rank 0 says whether to go on; the others compute the next wave before they listen, so that nobody waits for a delivery.
#include "base/loop.h"
#include "base/ranks.h"

// One rank's part in the loop.
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
static int64_t wave_end(const party *p, int64_t first) { return least(p->run->loop->blocks, first + p->most * p->ranks->count); }

// A wave is dealt evenly, the last one, which is short, too.
static share share_of(const party *p, int64_t first, int rank) {
    const int64_t wave = wave_end(p, first) - first, even = (wave + p->ranks->count - 1) / p->ranks->count;
    const int64_t begin = least(rank * even, wave), end = least(begin + even, wave);
    return (share){first + begin, (int)(end - begin)};
}

// ---------------------------------------------------------------------------------------------------- messages: a run

// Why the run ends early, as the header of its message says it; CAROM_OK for the end of the run or a cancelled block.
static carom_error failure_behind(const party *p, share own, int64_t finished) {
    const carom_slot_outcome *next = finished < own.count ? &p->run->outcomes[finished] : NULL;
    if (!next || !next->finished) return (carom_error){.status = CAROM_OK};
    carom_error failure = next->error;
    failure.status = next->status;
    return failure;
}

// Starts a message anew: how many blocks it holds, and why they are not more.
static carom_status put_header(const party *p, int64_t finished, const carom_error *failure, carom_error *error) {
    carom_bytes_clear(p->message);
    const carom_status status = carom_bytes_put(p->message, &finished, sizeof finished, error);
    return status ? status : carom_bytes_put(p->message, failure, sizeof *failure, error);
}

// The finished blocks of a run. A run that cannot be packed becomes a failure with no blocks.
static carom_status pack_share(const party *p, share own, carom_error *error) {
    const carom_loop *loop = p->run->loop;
    const carom_slot_outcome *outcomes = p->run->outcomes;
    int64_t finished = 0;
    while (finished < own.count && outcomes[finished].finished && !outcomes[finished].status) finished++;
    const carom_error failure = failure_behind(p, own, finished);
    carom_status status = put_header(p, finished, &failure, error);
    carom_error lost;
    for (int slot = 0; slot < finished && !status; slot++) status = loop->pack(loop->user, slot, p->message, &lost);
    return status ? put_header(p, 0, &lost, error) : CAROM_OK;
}

// Delivers the blocks of a message through slot 0, which is free once the run of rank 0 is delivered.
static carom_status deliver_message(const party *p, share theirs, int64_t *delivered, carom_error *error) {
    const carom_loop *loop = p->run->loop;
    int64_t finished = 0;
    carom_error failure = {.status = CAROM_OK};
    carom_status status = carom_bytes_take(p->message, &finished, sizeof finished, error);
    if (!status) status = carom_bytes_take(p->message, &failure, sizeof failure, error);
    for (int64_t i = 0; i < finished && !status; i++) {
        status = loop->unpack(loop->user, 0, p->message, error);
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

// Rank 0 tells the others what it decided ...
static carom_status announce(const party *p, const decision *made, carom_error *error) {
    carom_bytes_clear(p->message);
    carom_status status = carom_bytes_put(p->message, made, sizeof *made, error);
    for (int rank = 1; rank < p->ranks->count && !status; rank++) status = p->ranks->send(p->ranks->user, rank, p->message, error);
    return status;
}

// ... and they hear it.
static carom_status listen(const party *p, decision *made, carom_bytes *message, carom_error *error) {
    const carom_status status = p->ranks->receive(p->ranks->user, 0, message, error);
    return status ? status : carom_bytes_take(message, made, sizeof *made, error);
}

// Rank 0, one wave. The messages of a wave are all received, so that the ranks stay in step. Returns a failure of the transport only.
static carom_status collect_wave(const party *p, decision *made, carom_error *error) {
    const int64_t first = made->delivered;
    const share own = share_of(p, first, 0);
    carom_loop_compute(p->run, own.first, own.count);
    made->error.status = carom_loop_deliver(p->run, own.first, own.count, &made->delivered, &made->error);
    made->stop = made->error.status || made->delivered < own.first + own.count;
    for (int rank = 1; rank < p->ranks->count; rank++) {
        const carom_status status = p->ranks->receive(p->ranks->user, rank, p->message, error);
        if (status) return status;
        if (made->stop) continue;
        const share theirs = share_of(p, first, rank);
        made->error.status = deliver_message(p, theirs, &made->delivered, &made->error);
        made->stop = made->error.status || made->delivered < theirs.first + theirs.count;
    }
    return CAROM_OK;
}

// Rank 0: wave after wave, until something failed, was cancelled, or all is delivered.
static carom_status collect(const party *p, decision *made, carom_error *error) {
    carom_status status = CAROM_OK;
    while (!status && !made->stop && made->delivered < p->run->loop->blocks) {
        status = collect_wave(p, made, error);
        if (!status && !made->error.status) carom_loop_report(p->run, made->delivered);
        if (!status) status = announce(p, made, error);
    }
    return status;
}

// Any other rank: one wave ahead of what rank 0 has decided on.
static carom_status contribute(const party *p, decision *made, carom_bytes *heard, carom_error *error) {
    carom_status status = CAROM_OK;
    bool sent = false;
    for (int64_t first = 0; !status && !made->stop && (sent || first < p->run->loop->blocks); first = wave_end(p, first)) {
        const share own = share_of(p, first, p->ranks->rank);
        const bool more = first < p->run->loop->blocks;
        if (more) {
            carom_loop_compute(p->run, own.first, own.count);
            status = pack_share(p, own, error);
        }
        if (sent && !status) status = listen(p, made, heard, error);
        sent = more && !status && !made->stop;
        if (sent) status = p->ranks->send(p->ranks->user, 0, p->message, error);
    }
    return status;
}

// All ranks enter together and leave with the same count and status.
carom_status carom_loop_run_shared(const carom_loop_run_state *run, carom_ranks *ranks, int64_t *delivered, carom_error *error) {
    party p = {.run = run, .ranks = ranks, .most = run->slots};
    carom_bytes *heard = NULL;
    carom_error own;
    carom_status status = run->outcomes ? carom_bytes_create(&p.message, &own) : carom_fail_memory(&own, "parallel loop");
    if (!status) status = carom_bytes_create(&heard, &own);
    // Ranks with fewer threads set the pace, or the others would wait for them.
    status = carom_ranks_agree_least(ranks, status, &p.most, &own);
    decision made = {0};
    if (!status) {
        status = ranks->rank ? contribute(&p, &made, heard, &own) : collect(&p, &made, &own);
        if (!status && made.error.status) own = made.error;
        if (!status) status = made.error.status;
        ranks->ended = status != CAROM_OK;
    }
    *delivered = made.delivered;
    carom_bytes_free(p.message);
    carom_bytes_free(heard);
    if (status && error) *error = own;
    return status;
}
