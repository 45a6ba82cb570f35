// SPDX-License-Identifier: Apache-2.0
// The parallel loop: blocks computed on any thread, delivered in order.
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/loop.h"

// Blocks in flight for each worker. More hide uneven blocks better, fewer save memory.
enum { SLOTS_PER_WORKER = 4, MOST_WORKERS = 1024 };

// As many threads as were asked for, or as OpenMP offers.
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

// Hands the finished block in a slot on, or says why it failed.
static carom_status deliver_slot(const carom_loop_run_state *run, int slot, int64_t block, carom_error *error) {
    const carom_slot_outcome *outcome = &run->outcomes[slot];
    if (!outcome->status) return run->loop->deliver(run->loop->user, slot, block, error);
    if (error) *error = outcome->error;
    return outcome->status;
}

// In order, up to the first slot that is not finished.
carom_status carom_loop_deliver(const carom_loop_run_state *run, int64_t first, int count, int64_t *delivered, carom_error *error) {
    for (int slot = 0; slot < count && run->outcomes[slot].finished; slot++) {
        const carom_status status = deliver_slot(run, slot, first + slot, error);
        if (status) return status;
        ++*delivered;
    }
    return CAROM_OK;
}

// Progress is reported in blocks of the whole loop.
void carom_loop_report(const carom_loop_run_state *run, int64_t delivered) {
    const carom_control *control = run->control;
    if (control && control->progress) control->progress(control->user, delivered, run->loop->blocks);
}

// ------------------------------------------------------------------------------------------------------------ one rank

// Threads take blocks in order, as far ahead of the delivery as there are slots. The calling thread delivers whatever is next, and computes
// while nothing is: digests and files then cost no time of the others.
typedef struct pipeline {
    const carom_loop_run_state *run;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t taken, delivered;
    bool stop;
} pipeline;

// Slots are used in turn.
static int slot_of(const pipeline *p, int64_t block) { return (int)(block % p->run->slots); }

// Is there a block left, and a free slot for it?
static bool may_take(const pipeline *p) { return !p->stop && p->taken < p->run->loop->blocks && p->taken < p->delivered + p->run->slots; }

// Is the next block in order finished?
static bool is_deliverable(const pipeline *p) { return p->delivered < p->taken && p->run->outcomes[slot_of(p, p->delivered)].finished; }

// Everything that will be taken has been.
static bool is_exhausted(const pipeline *p) { return p->stop || p->taken == p->run->loop->blocks; }

// Takes the next block and computes it, or stops when the caller asks. The lock is held at both ends.
static void compute_next(pipeline *p, int worker) {
    pthread_mutex_unlock(&p->lock);
    const bool cancelled = carom_control_cancelled(p->run->control);
    pthread_mutex_lock(&p->lock);
    if (cancelled) p->stop = true;
    if (may_take(p)) {
        const int64_t block = p->taken++;
        carom_slot_outcome *outcome = &p->run->outcomes[slot_of(p, block)];
        outcome->finished = false;
        pthread_mutex_unlock(&p->lock);
        outcome->status = p->run->loop->compute(p->run->loop->user, worker, slot_of(p, block), block, &outcome->error);
        pthread_mutex_lock(&p->lock);
        outcome->finished = true;
        if (outcome->status) p->stop = true;
    }
    pthread_cond_broadcast(&p->changed);
}

// Delivers the next block in order. The lock is held at both ends, but not while the caller's function runs.
static carom_status deliver_next(pipeline *p, carom_error *error) {
    const int64_t block = p->delivered;
    pthread_mutex_unlock(&p->lock);
    const carom_status status = deliver_slot(p->run, slot_of(p, block), block, error);
    if (!status) carom_loop_report(p->run, block + 1);
    pthread_mutex_lock(&p->lock);
    if (status)
        p->stop = true;
    else
        p->delivered++;
    pthread_cond_broadcast(&p->changed);
    return status;
}

// What a thread other than the calling one does.
static void work(pipeline *p, int worker) {
    pthread_mutex_lock(&p->lock);
    while (!is_exhausted(p)) {
        if (may_take(p))
            compute_next(p, worker);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

// The calling thread: delivery comes first, computing next, waiting last.
static carom_status work_and_deliver(pipeline *p, carom_error *error) {
    carom_status status = CAROM_OK;
    pthread_mutex_lock(&p->lock);
    while (!status && !(is_exhausted(p) && p->delivered == p->taken)) {
        if (is_deliverable(p))
            status = deliver_next(p, error);
        else if (may_take(p))
            compute_next(p, 0);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

// All threads of this process, thread 0 being the calling one.
static carom_status run_alone(const carom_loop_run_state *run, int64_t *delivered, carom_error *error) {
    if (!run->outcomes) return carom_fail_memory(error, "parallel loop");
    pipeline p = {.run = run};
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    carom_status status = CAROM_OK;
#pragma omp parallel num_threads(run->workers)
    {
        const int worker = omp_get_thread_num();
        if (worker == 0)
            status = work_and_deliver(&p, error);
        else
            work(&p, worker);
    }
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    *delivered = p.delivered;
    return status;
}

// A loop that cannot pack its blocks runs on every rank for itself.
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
