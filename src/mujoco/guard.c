// SPDX-License-Identifier: Apache-2.0
// Calls of MuJoCo that neither print, exit, nor write MUJOCO_LOG.TXT.
//
// MuJoCo reports errors through one handler for the whole process, and expects it not to return. Ours jumps back to where the call began
// (longjmp inside this file only, over frames of MuJoCo). Guarded calls may run at once: the first one puts our handlers in place, the last
// one puts the caller's back, and `running` tells each thread whether it is in a call. Loading a model is alone, because MuJoCo's compiler
// has handlers of its own in their place for a while.
#define _GNU_SOURCE  // strcasestr
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "mujoco/mujoco_internal.h"

bool model_lacks_memory(const char *message) { return strcasestr(message, "could not allocate") != NULL; }

// The call that this thread is in.
typedef struct guarded_call {
    jmp_buf escape;
    char message[CAROM_MESSAGE_SIZE];
} guarded_call;

// Guarded calls that run, and the handlers that the first of them found, under `handlers_lock`.
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t loading_lock = PTHREAD_RWLOCK_INITIALIZER;  // written by loads, read by other calls
static pthread_cond_t handlers_returned = PTHREAD_COND_INITIALIZER;
static int calls;
static void (*callers_error)(const char *), (*callers_warning)(const char *);
static _Thread_local guarded_call *running;

// Another thread, in code that is not ours, may call MuJoCo while our handlers are in place: it waits until its own are back.
static void wait_for_own_handlers(void) {
    pthread_mutex_lock(&handlers_lock);
    while (calls) pthread_cond_wait(&handlers_returned, &handlers_lock);
    pthread_mutex_unlock(&handlers_lock);
}

// Receives an error of MuJoCo, which must not return: leaves the guarded call.
static void leave_call(const char *message) {
    if (!running) {
        wait_for_own_handlers();
        model_repeat_error(message);
        return;
    }
    snprintf(running->message, sizeof running->message, "%s", message);
    longjmp(running->escape, 1);
}

// Drops warnings of guarded calls; others go where they would go without us.
static void drop_warning(const char *message) {
    if (running) return;
    wait_for_own_handlers();
    model_repeat_warning(message);
}

// The only frame that an error's longjmp returns to.
static bool call_until_error(void (*call)(void *argument), void *argument) {
    if (setjmp(running->escape)) return false;
    call(argument);
    return true;
}

static carom_status guard(void (*call)(void *argument), void *argument, carom_error *error) {
    pthread_mutex_lock(&handlers_lock);
    if (!calls++) {
        callers_error = mju_user_error;
        callers_warning = mju_user_warning;
        mju_user_error = leave_call;
        mju_user_warning = drop_warning;
    }
    pthread_mutex_unlock(&handlers_lock);

    guarded_call frame = {.message = ""};
    running = &frame;
    const bool finished = call_until_error(call, argument);
    running = NULL;

    pthread_mutex_lock(&handlers_lock);
    if (!--calls) {
        mju_user_error = callers_error;
        mju_user_warning = callers_warning;
        pthread_cond_broadcast(&handlers_returned);
    }
    pthread_mutex_unlock(&handlers_lock);
    if (finished) return CAROM_OK;
    return carom_fail(error, model_lacks_memory(frame.message) ? CAROM_OUT_OF_MEMORY : CAROM_BAD_INPUT, "MuJoCo: %s", frame.message);
}

carom_status model_guard_call(void (*call)(void *argument), void *argument, carom_error *error) {
    pthread_rwlock_rdlock(&loading_lock);
    const carom_status status = guard(call, argument, error);
    pthread_rwlock_unlock(&loading_lock);
    return status;
}

carom_status model_guard_load(void (*call)(void *argument), void *argument, carom_error *error) {
    pthread_rwlock_wrlock(&loading_lock);
    const carom_status status = guard(call, argument, error);
    pthread_rwlock_unlock(&loading_lock);
    return status;
}
