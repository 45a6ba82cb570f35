// SPDX-License-Identifier: Apache-2.0
// Recorded paths of samples and walks, which grow with their steps.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reach/reach_internal.h"

static bool grow(double **values, size_t count) {
    double *grown = realloc(*values, count * sizeof *grown);
    if (grown) *values = grown;
    return grown != NULL;
}

void carom_trace_append(carom_trace *trace, int n, const double *u, size_t stride, const double *impulse) {
    if (trace->lost) return;
    if (trace->rows == trace->capacity) {
        const int capacity = 2 * trace->capacity + 64;
        // Numbers of a path are counted by int, too.
        trace->lost = trace->rows > INT_MAX / 4 / n || !grow(&trace->u, (size_t)capacity * (size_t)n) ||
                      (impulse && !grow(&trace->impulse, (size_t)capacity * (size_t)n));
        if (trace->lost) return;
        trace->capacity = capacity;
    }
    const size_t at = (size_t)trace->rows++ * (size_t)n;
    for (size_t c = 0; c < (size_t)n; c++) trace->u[at + c] = u[c * stride];
    if (impulse) memcpy(trace->impulse + at, impulse, (size_t)n * sizeof *impulse);
}

carom_status carom_trace_check(const carom_trace *trace, carom_error *error) {
    return trace->lost ? carom_fail_memory(error, "path of a sample") : CAROM_OK;
}

void carom_trace_release(carom_trace *trace) {
    free(trace->u);
    free(trace->impulse);
    *trace = (carom_trace){0};
}
