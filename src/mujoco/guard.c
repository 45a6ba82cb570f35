// SPDX-License-Identifier: Apache-2.0
// Calls of MuJoCo that neither print, exit, nor write MUJOCO_LOG.TXT.
//
// MuJoCo reports errors through one handler for the whole process, and expects it not to return. Ours jumps back to where the call began
// (longjmp inside this file only, over frames of MuJoCo). A lock lets one guarded call run at a time, and `running` tells each thread
// whether the call is its own.
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

static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local guarded_call *running;

// Another thread, in code that is not ours, may call MuJoCo while our handlers are in place: it waits until its own are back.
static void wait_for_own_handlers(void) {
    pthread_mutex_lock(&handlers_lock);
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

carom_status model_guard_call(void (*call)(void *argument), void *argument, carom_error *error) {
    pthread_mutex_lock(&handlers_lock);
    void (*const callers_error)(const char *) = mju_user_error;
    void (*const callers_warning)(const char *) = mju_user_warning;
    mju_user_error = leave_call;
    mju_user_warning = drop_warning;

    guarded_call frame = {.message = ""};
    running = &frame;
    const bool finished = call_until_error(call, argument);
    running = NULL;

    mju_user_error = callers_error;
    mju_user_warning = callers_warning;
    pthread_mutex_unlock(&handlers_lock);
    if (finished) return CAROM_OK;
    return carom_fail(error, model_lacks_memory(frame.message) ? CAROM_OUT_OF_MEMORY : CAROM_BAD_INPUT, "MuJoCo: %s", frame.message);
}
