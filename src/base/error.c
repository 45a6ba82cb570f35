// SPDX-License-Identifier: Apache-2.0
// Statuses, verdicts, and the one way to report an error.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "carom/base.h"
#include "carom/utf8.h"

#define NAME(constant, name, sentence)     name,
#define SENTENCE(constant, name, sentence) sentence,

static const char *const status_names[] = {CAROM_STATUS_LIST(NAME)};
static const char *const status_sentences[] = {CAROM_STATUS_LIST(SENTENCE)};
static const char *const verdict_names[] = {CAROM_VERDICT_LIST(NAME)};
static const char *const verdict_sentences[] = {CAROM_VERDICT_LIST(SENTENCE)};

enum { STATUSES = sizeof status_names / sizeof *status_names, VERDICTS = sizeof verdict_names / sizeof *verdict_names };

// Enumerations may be signed or not: as unsigned numbers, values out of range are too large.
const char *carom_status_name(carom_status status) { return (unsigned)status < STATUSES ? status_names[status] : "unknown"; }
const char *carom_status_sentence(carom_status status) {
    return (unsigned)status < STATUSES ? status_sentences[status] : "an unknown status";
}

const char *carom_verdict_name(carom_verdict verdict) { return (unsigned)verdict < VERDICTS ? verdict_names[verdict] : "unknown"; }
const char *carom_verdict_sentence(carom_verdict verdict) {
    return (unsigned)verdict < VERDICTS ? verdict_sentences[verdict] : "an unknown verdict";
}

// Fills in an error. Messages of dependencies have several lines, and names come from files: a message stays one printable line.
static void fill_error(carom_error *error, carom_status status, int system_error, const char *format, va_list arguments) {
    error->status = status;
    error->system_error = system_error;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0) error->message[0] = '\0';
    const size_t length = strlen(error->message);
    if (system_error) snprintf(error->message + length, sizeof error->message - length, ": %s", strerror(system_error));
    carom_utf8_make_plain(error->message);
}

carom_status carom_fail(carom_error *error, carom_status status, const char *format, ...) {
    // A caller that wants no message passes NULL.
    if (!error) return status;
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, status, 0, format, arguments);
    va_end(arguments);
    return status;
}

carom_status carom_fail_system(carom_error *error, int system_error, const char *format, ...) {
    if (!error) return CAROM_IO_FAILED;
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, CAROM_IO_FAILED, system_error, format, arguments);
    va_end(arguments);
    return CAROM_IO_FAILED;
}

carom_status carom_fail_memory(carom_error *error, const char *what) {
    return carom_fail(error, CAROM_OUT_OF_MEMORY, "%s: not enough memory", what);
}
