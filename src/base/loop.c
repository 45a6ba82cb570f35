// SPDX-License-Identifier: Apache-2.0
// The parallel loop: blocks computed on any thread, delivered in order.
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "carom/base.h"

// Blocks in flight for each worker. More hide uneven blocks better, fewer save memory.
enum { SLOTS_PER_WORKER = 4, MOST_WORKERS = 1024 };

int carom_control_workers(const carom_control *control) {
    const int asked = control && control->threads > 0 ? control->threads : omp_get_max_threads();
    if (asked < 1) return 1;
    return asked < MOST_WORKERS ? asked : MOST_WORKERS;
}

int carom_loop_slots(int workers) { return SLOTS_PER_WORKER * workers; }

typedef struct slot_outcome {
    carom_status status;
    bool finished;
    carom_error error;
} slot_outcome;

bool carom_control_cancelled(const carom_control *control) { return control && control->cancelled && control->cancelled(control->user); }

// Computes blocks first .. first+count-1. Each worker takes the next free one; a cancelled or failed wave leaves later slots unfinished.
static void compute_wave(const carom_loop *loop, const carom_control *control, int workers, int64_t first, int count,
                         slot_outcome *outcomes) {
    atomic_int next = 0;
    atomic_bool stop = false;
#pragma omp parallel num_threads(workers)
    {
        const int worker = omp_get_thread_num();
        // A slot that is taken is computed: those before a failed or cancelled one are never missing.
        while (!atomic_load(&stop) && !carom_control_cancelled(control)) {
            const int slot = atomic_fetch_add(&next, 1);
            if (slot >= count) break;
            slot_outcome *outcome = &outcomes[slot];
            outcome->status = loop->compute(loop->user, worker, slot, first + slot, &outcome->error);
            outcome->finished = true;
            if (outcome->status) atomic_store(&stop, true);
        }
    }
}

// Delivers the finished prefix of a wave. `*delivered` counts blocks of the whole loop.
static carom_status deliver_wave(const carom_loop *loop, const carom_control *control, int64_t first, int count,
                                 const slot_outcome *outcomes, int64_t *delivered, carom_error *error) {
    for (int slot = 0; slot < count && outcomes[slot].finished; slot++) {
        if (outcomes[slot].status) {
            if (error) *error = outcomes[slot].error;
            return outcomes[slot].status;
        }
        const carom_status status = loop->deliver(loop->user, slot, first + slot, error);
        if (status) return status;
        ++*delivered;
    }
    if (control && control->progress) control->progress(control->user, *delivered, loop->blocks);
    return CAROM_OK;
}

carom_status carom_loop_run(const carom_loop *loop, const carom_control *control, int workers, int64_t *delivered, carom_error *error) {
    *delivered = 0;
    const int slots = carom_loop_slots(workers);
    slot_outcome *outcomes = malloc((size_t)slots * sizeof *outcomes);
    if (!outcomes) return carom_fail_memory(error, "parallel loop");
    carom_status status = CAROM_OK;
    while (!status && *delivered < loop->blocks) {
        const int64_t first = *delivered;
        const int count = loop->blocks - first < slots ? (int)(loop->blocks - first) : slots;
        for (int slot = 0; slot < count; slot++) outcomes[slot].finished = false;
        compute_wave(loop, control, workers, first, count, outcomes);
        status = deliver_wave(loop, control, first, count, outcomes, delivered, error);
        if (*delivered < first + count) break;
    }
    free(outcomes);
    return status;
}
