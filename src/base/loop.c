// SPDX-License-Identifier: Apache-2.0
// The parallel loop: blocks computed on any thread, delivered in order.
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/loop.h"
#include "base/room.h"

// Blocks in flight for each worker. More hide uneven blocks better, fewer save memory.
enum { SLOTS_PER_WORKER = 4, MOST_WORKERS = 1024 };

// Between polls of the calling thread while it has nothing to do.
#define NANOSECONDS_BETWEEN_POLLS 50000000

// Room of a thread beside its stack: what the C library and OpenMP keep for it.
#define THREAD_ROOM ((size_t)1 << 20)

// As many of the wanted threads as have room for their stacks. OpenMP ends the process when it cannot start one.
static int startable_threads(int wanted) {
    struct rlimit space, stack;
    if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur == RLIM_INFINITY || getrlimit(RLIMIT_STACK, &stack)) return wanted;
    const size_t unlimited = (size_t)8 << 20, each = (stack.rlim_cur == RLIM_INFINITY ? unlimited : (size_t)stack.rlim_cur) + THREAD_ROOM;
    int threads = wanted;
    while (threads > 1 && !carom_has_room((size_t)(threads - 1) * each)) threads--;
    return threads;
}

int carom_control_workers(const carom_control *control) {
    // 0 threads, or no control, means what OpenMP offers.
    const int asked = control && control->threads > 0 ? control->threads : omp_get_max_threads();
    if (asked < 1) return 1;
    return startable_threads(asked < MOST_WORKERS ? asked : MOST_WORKERS);
}

int carom_loop_slots(int workers) { return SLOTS_PER_WORKER * workers; }

bool carom_control_cancelled(const carom_control *control) { return control && control->cancelled && control->cancelled(control->user); }

carom_status carom_loop_deliver_slot(const carom_loop_run_state *run, int slot, int64_t block, carom_error *error) {
    const carom_slot_outcome *outcome = &run->outcomes[slot];
    if (!outcome->status) return run->loop->deliver(run->loop->user, slot, block, error);
    if (error) *error = outcome->error;
    return outcome->status;
}

void carom_loop_report(const carom_loop_run_state *run, int64_t delivered) {
    const carom_control *control = run->control;
    if (control && control->progress) control->progress(control->user, delivered, run->loop->blocks);
}

// ------------------------------------------------------------------------------------------------------------ one rank

// Threads take blocks in order, as far ahead of the delivery as there are slots. The calling thread delivers the next block in order, and
// computes while nothing is: digests and files then cost no time of the others.
typedef struct pipeline {
    const carom_loop_run_state *run;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t taken, delivered;
    bool stop;
} pipeline;

// Slots are used in turn: a block is delivered before the block that is `slots` later takes its place.
static int slot_of(const pipeline *line, int64_t block) { return (int)(block % line->run->slots); }

// Computes until nothing will be taken any more; worker 0, the calling thread, until all that was taken is delivered.
static carom_status work(pipeline *line, int worker, carom_error *error) {
    const carom_loop_run_state *run = line->run;
    const carom_loop *loop = run->loop;
    carom_status status = CAROM_OK;
    pthread_mutex_lock(&line->lock);
    while (!status) {
        const bool exhausted = line->stop || line->taken == loop->blocks;
        if (exhausted && (worker || line->delivered == line->taken)) break;
        if (!worker && line->delivered < line->taken && run->outcomes[slot_of(line, line->delivered)].finished) {
            // The next block in order is there: deliver it.
            const int64_t block = line->delivered;
            pthread_mutex_unlock(&line->lock);
            status = carom_loop_deliver_slot(run, slot_of(line, block), block, error);
            if (!status) carom_loop_report(run, block + 1);
            pthread_mutex_lock(&line->lock);
            if (status)
                line->stop = true;
            else
                line->delivered++;
        } else if (!exhausted && line->taken < line->delivered + run->slots) {
            // A slot is free: take the next block and compute it, unless the caller asks to stop or another thread was faster.
            pthread_mutex_unlock(&line->lock);
            const bool cancelled = carom_control_cancelled(run->control);
            pthread_mutex_lock(&line->lock);
            if (cancelled) line->stop = true;
            if (!line->stop && line->taken < loop->blocks && line->taken < line->delivered + run->slots) {
                const int64_t block = line->taken++;
                carom_slot_outcome *outcome = &run->outcomes[slot_of(line, block)];
                outcome->finished = false;
                pthread_mutex_unlock(&line->lock);
                outcome->status = loop->compute(loop->user, worker, slot_of(line, block), block, &outcome->error);
                pthread_mutex_lock(&line->lock);
                outcome->finished = true;
                if (outcome->status) line->stop = true;
            }
        } else if (worker || line->stop) {
            pthread_cond_wait(&line->changed, &line->lock);
            continue;
        } else {
            // The caller may only be able to ask from its own thread, which therefore does not wait for long blocks of others in one piece.
            struct timespec end;
            clock_gettime(CLOCK_REALTIME, &end);
            end.tv_nsec += NANOSECONDS_BETWEEN_POLLS;
            end.tv_sec += end.tv_nsec / 1000000000;
            end.tv_nsec %= 1000000000;
            if (!pthread_cond_timedwait(&line->changed, &line->lock, &end)) continue;
            pthread_mutex_unlock(&line->lock);
            const bool cancelled = carom_control_cancelled(run->control);
            pthread_mutex_lock(&line->lock);
            if (!cancelled) continue;
            line->stop = true;
        }
        pthread_cond_broadcast(&line->changed);
    }
    pthread_mutex_unlock(&line->lock);
    return status;
}

static carom_status run_alone(const carom_loop_run_state *run, int64_t *delivered, carom_error *error) {
    if (!run->outcomes) return carom_fail_memory(error, "parallel loop");
    // Delivered blocks are always a prefix of the loop, however many threads work.
    pipeline line = {.run = run};
    pthread_mutex_init(&line.lock, NULL);
    pthread_cond_init(&line.changed, NULL);
    carom_status status = CAROM_OK;
    const int threads = startable_threads(run->workers);
// The calling thread is worker 0.
#pragma omp parallel num_threads(threads)
    {
        const int worker = omp_get_thread_num();
        if (worker == 0)
            status = work(&line, 0, error);
        else
            work(&line, worker, NULL);
    }
    pthread_cond_destroy(&line.changed);
    pthread_mutex_destroy(&line.lock);
    *delivered = line.delivered;
    return status;
}

carom_status carom_loop_run(const carom_loop *loop, const carom_control *control, int workers, int64_t *delivered, carom_error *error) {
    *delivered = 0;
    // Blocks are dealt to ranks where there are several and a block can travel; otherwise every rank runs the whole loop.
    const int slots = carom_loop_slots(workers);
    carom_slot_outcome *outcomes = malloc((size_t)slots * sizeof *outcomes);
    const carom_loop_run_state run = {loop, control, workers, slots, outcomes};
    carom_ranks *ranks = loop->pack && control ? control->ranks : NULL;
    const bool shared = ranks && ranks->count > 1;
    const carom_status status = shared ? carom_loop_run_shared(&run, ranks, delivered, error) : run_alone(&run, delivered, error);
    free(outcomes);
    return status;
}
