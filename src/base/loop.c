// SPDX-License-Identifier: Apache-2.0
// The parallel loop: blocks computed on any thread, delivered in order.
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/loop.h"

// Blocks in flight for each worker. More hide uneven blocks better, fewer save memory.
enum { SLOTS_PER_WORKER = 4, MOST_WORKERS = 1024 };

int carom_control_workers(const carom_control *control) {
    const int asked = control && control->threads > 0 ? control->threads : omp_get_max_threads();
    if (asked < 1) return 1;
    return asked < MOST_WORKERS ? asked : MOST_WORKERS;
}

int carom_loop_slots(int workers) { return SLOTS_PER_WORKER * workers; }

bool carom_control_cancelled(const carom_control *control) { return control && control->cancelled && control->cancelled(control->user); }

// Each worker takes the next free block; a cancelled or failed wave leaves later slots unfinished.
void carom_loop_compute(const carom_loop_run_state *run, int64_t first, int count) {
    const carom_loop *loop = run->loop;
    atomic_int next = 0;
    atomic_bool stop = false;
    for (int slot = 0; slot < count; slot++) run->outcomes[slot].finished = false;
#pragma omp parallel num_threads(run->workers)
    {
        const int worker = omp_get_thread_num();
        // A slot that is taken is computed: those before a failed or cancelled one are never missing.
        while (!atomic_load(&stop) && !carom_control_cancelled(run->control)) {
            const int slot = atomic_fetch_add(&next, 1);
            if (slot >= count) break;
            carom_slot_outcome *outcome = &run->outcomes[slot];
            outcome->status = loop->compute(loop->user, worker, slot, first + slot, &outcome->error);
            outcome->finished = true;
            if (outcome->status) atomic_store(&stop, true);
        }
    }
}

carom_status carom_loop_deliver(const carom_loop_run_state *run, int64_t first, int count, int64_t *delivered, carom_error *error) {
    for (int slot = 0; slot < count && run->outcomes[slot].finished; slot++) {
        if (run->outcomes[slot].status) {
            if (error) *error = run->outcomes[slot].error;
            return run->outcomes[slot].status;
        }
        const carom_status status = run->loop->deliver(run->loop->user, slot, first + slot, error);
        if (status) return status;
        ++*delivered;
    }
    return CAROM_OK;
}

void carom_loop_report(const carom_loop_run_state *run, int64_t delivered) {
    const carom_control *control = run->control;
    if (control && control->progress) control->progress(control->user, delivered, run->loop->blocks);
}

static carom_status run_alone(const carom_loop_run_state *run, int64_t *delivered, carom_error *error) {
    if (!run->outcomes) return carom_fail_memory(error, "parallel loop");
    const int64_t blocks = run->loop->blocks;
    carom_status status = CAROM_OK;
    while (!status && *delivered < blocks) {
        const int64_t first = *delivered;
        const int count = blocks - first < run->slots ? (int)(blocks - first) : run->slots;
        carom_loop_compute(run, first, count);
        status = carom_loop_deliver(run, first, count, delivered, error);
        if (!status) carom_loop_report(run, *delivered);
        if (*delivered < first + count) break;
    }
    return status;
}

carom_status carom_loop_run(const carom_loop *loop, const carom_control *control, int workers, int64_t *delivered, carom_error *error) {
    *delivered = 0;
    const int slots = carom_loop_slots(workers);
    carom_slot_outcome *outcomes = malloc((size_t)slots * sizeof *outcomes);
    const carom_loop_run_state run = {loop, control, workers, slots, outcomes};
    carom_ranks *ranks = loop->pack && control ? control->ranks : NULL;
    const bool shared = ranks && ranks->count > 1;
    const carom_status status = shared ? carom_loop_run_shared(&run, ranks, delivered, error) : run_alone(&run, delivered, error);
    free(outcomes);
    return status;
}
