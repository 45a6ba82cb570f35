// SPDX-License-Identifier: Apache-2.0
/// @file
/// Statuses of calls, verdicts on answers, and the one way to report an error.
#ifndef CAROM_STATUS_H
#define CAROM_STATUS_H

#include "carom/api.h"

CAROM_API_BEGIN

/// Call errors: what was wrong with a call. X(constant, name, sentence)
#define CAROM_STATUS_LIST(X)                                                                                                               \
    X(CAROM_OK, "ok", "the call did what was asked")                                                                                       \
    X(CAROM_BAD_INPUT, "bad-input", "an argument, key or file breaks a rule")                                                              \
    X(CAROM_UNSUPPORTED, "unsupported", "this build or library does not offer it")                                                         \
    X(CAROM_OUT_OF_MEMORY, "out-of-memory", "memory could not be allocated")                                                               \
    X(CAROM_IO_FAILED, "io-failed", "a file could not be read or written")                                                                 \
    X(CAROM_INTERNAL, "internal", "an internal check failed; please report it")

/// Mathematical statuses: how far the answer of a correct call got. X(constant, name, sentence)
#define CAROM_VERDICT_LIST(X)                                                                                                              \
    X(CAROM_COMPLETE, "complete", "what was asked for was computed")                                                                       \
    X(CAROM_INTERRUPTED, "interrupted", "the caller stopped the computation; the finished part is kept")                                   \
    X(CAROM_INCOMPLETE, "incomplete", "part of what was asked for is missing")                                                             \
    X(CAROM_RAY, "ray", "a pivoting method ended on a secondary ray")                                                                      \
    X(CAROM_BUDGET_SPENT, "budget-spent", "the iteration limit was reached")                                                               \
    X(CAROM_UNVERIFIED, "unverified", "a solution was returned that fails the independent check")                                          \
    X(CAROM_PERSISTENT_CONTACT, "persistent-contact", "a body touches without approaching and does not leave: free flight ends there")     \
    X(CAROM_ZENO_LIMIT, "zeno-limit", "the limit of impacts was reached")                                                                  \
    X(CAROM_STEP_TOO_LARGE, "step-too-large", "the step is too large for the speed of rotation")                                           \
    X(CAROM_NO_CONVERGENCE, "no-convergence", "an equation of a step could not be solved")                                                 \
    X(CAROM_ENERGY_LIMIT, "energy-limit", "the energy left its limits: the step is probably too large")                                    \
    X(CAROM_DEEP_PENETRATION, "deep-penetration", "bodies overlap by more than contacts may")                                              \
    X(CAROM_NO_FORCE, "no-force", "a force is not finite, or the centers of two bodies that interact coincide")

#define CAROM_ENUM_ENTRY(constant, name, sentence) constant,
typedef enum carom_status { CAROM_STATUS_LIST(CAROM_ENUM_ENTRY) } carom_status;
typedef enum carom_verdict { CAROM_VERDICT_LIST(CAROM_ENUM_ENTRY) } carom_verdict;
#undef CAROM_ENUM_ENTRY

const char *carom_status_name(carom_status status);
const char *carom_status_sentence(carom_status status);
const char *carom_verdict_name(carom_verdict verdict);
const char *carom_verdict_sentence(carom_verdict verdict);

enum { CAROM_MESSAGE_SIZE = 1024 };

/// Why a call failed: one sentence, one line, naming the offending input and the rule it broke.
typedef struct carom_error {
    carom_status status;
    int system_error;  ///< the `errno` behind CAROM_IO_FAILED, 0 where there is none
    char message[CAROM_MESSAGE_SIZE];
} carom_error;

/// Fills `error` (when not NULL) and returns `status`, so that a function can `return carom_fail(...)`.
/// Control characters of the formatted text, newlines included, become spaces; a text that is too long is cut.
carom_status carom_fail(carom_error *error, carom_status status, const char *format, ...) CAROM_PRINTF(3, 4);

/// `carom_fail(error, CAROM_IO_FAILED, ...)` with ": " and what the system says of this `errno`, which is kept, at the end.
carom_status carom_fail_system(carom_error *error, int system_error, const char *format, ...) CAROM_PRINTF(3, 4);

/// `carom_fail(error, CAROM_OUT_OF_MEMORY, ...)` with a uniform sentence about `what`.
carom_status carom_fail_memory(carom_error *error, const char *what);

CAROM_API_END

#endif
