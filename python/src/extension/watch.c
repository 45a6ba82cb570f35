// SPDX-License-Identifier: Apache-2.0
// Computations without the interpreter's lock: Ctrl-C and progress.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <omp.h>

#include "binding.h"

// Polls come every few microseconds, and each look at signals takes the interpreter's lock.
#define SECONDS_BETWEEN_LOOKS 0.05

struct binding_watch {
    carom_control control;
    PyThreadState *state;  // of the calling thread, as long as it does not hold the lock; otherwise NULL
    pthread_t caller;
    double last;  // look at signals, by the calling thread
    PyObject *progress;
    atomic_bool stopped;
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Any thread may poll, but only the calling one may look at signals: it has a state of the interpreter.
static bool is_cancelled(void *user) {
    binding_watch *watch = user;
    if (atomic_load(&watch->stopped)) return true;
    if (!pthread_equal(pthread_self(), watch->caller)) return false;
    const double now = seconds_now();
    if (now - watch->last < SECONDS_BETWEEN_LOOKS) return false;
    const bool locked = !watch->state;
    if (!locked) PyEval_RestoreThread(watch->state);
    if (PyErr_CheckSignals()) atomic_store(&watch->stopped, true);
    if (!locked) watch->state = PyEval_SaveThread();
    watch->last = seconds_now();
    return atomic_load(&watch->stopped);
}

// Called from the calling thread. An exception of the caller's function stops the computation.
static void report(void *user, int64_t done, int64_t total) {
    binding_watch *watch = user;
    if (atomic_load(&watch->stopped)) return;
    PyEval_RestoreThread(watch->state);
    PyObject *answer = PyObject_CallFunction(watch->progress, "LL", (long long)done, (long long)total);
    if (!answer) atomic_store(&watch->stopped, true);
    Py_XDECREF(answer);
    watch->state = PyEval_SaveThread();
}

binding_watch *binding_watch_create(void) {
    binding_watch *watch = PyMem_Calloc(1, sizeof *watch);
    if (!watch) {
        PyErr_NoMemory();
        return NULL;
    }
    watch->control = (carom_control){.threads = 1, .cancelled = is_cancelled, .user = watch};
    watch->caller = pthread_self();
    watch->last = seconds_now();
    return watch;
}

void binding_watch_release(binding_watch *watch) { watch->state = PyEval_SaveThread(); }

void binding_watch_retake(binding_watch *watch) {
    PyEval_RestoreThread(watch->state);
    watch->state = NULL;
}

binding_watch *binding_watch_start(int threads, PyObject *progress) {
    binding_watch *watch = binding_watch_create();
    if (!watch) return NULL;
    watch->control.threads = threads;
    if (progress != Py_None) {
        watch->progress = progress;
        watch->control.progress = report;
    }
    binding_watch_release(watch);
    return watch;
}

const carom_control *binding_watch_control(const binding_watch *watch) { return &watch->control; }

bool binding_watch_end(binding_watch *watch) {
    if (watch->state) PyEval_RestoreThread(watch->state);
    const bool stopped = atomic_load(&watch->stopped);
    // Whoever interrupts wants the threads gone, too: OpenMP keeps them for the next loop.
    if (stopped) omp_pause_resource_all(omp_pause_soft);
    PyMem_Free(watch);
    return !stopped;
}
