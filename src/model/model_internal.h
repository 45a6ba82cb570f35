// SPDX-License-Identifier: Apache-2.0
// What the files of this room share: the model, guarded calls of MuJoCo, and the check of sizes before a model is compiled.
#ifndef CAROM_MODEL_INTERNAL_H
#define CAROM_MODEL_INTERNAL_H

#include <mujoco/mujoco.h>

#include "carom/model.h"

struct carom_model {
    mjModel *compiled;
    mjData *data;
    char *path;  // for messages
};

// Calls `call(argument)` with MuJoCo's error and warning handlers under our control: warnings are dropped, an error ends the call.
// Handlers are global to the process, so that one guarded call runs at a time; the caller's handlers are back when this returns.
// CAROM_BAD_INPUT with MuJoCo's message when it raised an error; what the call had allocated until then is lost.
carom_status model_guard_call(void (*call)(void *argument), void *argument, carom_error *error);

// Refuses a model file, or a file that it includes, whose sizes would make MuJoCo abort the process for lack of memory.
// CAROM_IO_FAILED when `path` cannot be read. Malformed XML is left to MuJoCo, whose messages are better.
carom_status model_check_sizes(const char *path, carom_error *error);

// Refuses a state at which something besides contacts takes part in an impact: active equality constraints, joints and tendons
// at their limits or with dry friction. Needs the tendon lengths of the current state.
carom_status model_check_constraints(const carom_model *model, carom_error *error);

#endif
