// SPDX-License-Identifier: Apache-2.0
// Resamples of the groups of measured impacts, with replacement: what a fit would be with other tosses.
#include <string.h>

#include "carom/stream.h"
#include "measure/measure_internal.h"

carom_status measure_bootstrap_begin(measure_bootstrap *b, const carom_measurements *measurements, const int *chosen, int count,
                                     carom_error *error) {
    *b = (measure_bootstrap){.measurements = measurements, .chosen = chosen, .count = count};
    const size_t groups = (size_t)measurements->groups + 1;
    b->present = carom_arena_take(&b->arena, groups, sizeof *b->present);
    b->drawn = carom_arena_take(&b->arena, groups, sizeof *b->drawn);
    if (b->arena.failed) return carom_fail_memory(error, "bootstrap");
    for (int i = 0; i < count; i++) b->drawn[measurements->list[chosen[i]].group] = 1;
    for (size_t g = 0; g < groups; g++)
        if (b->drawn[g] > 0) b->present[b->groups++] = (int)g;
    return CAROM_OK;
}

void measure_bootstrap_draw(const measure_bootstrap *b, int64_t seed, int64_t draw, double *weights) {
    carom_stream stream;
    carom_stream_start_use(&stream, (uint64_t)seed, (uint64_t)draw + 1, CAROM_STREAM_MEASURE);
    memset(b->drawn, 0, ((size_t)b->measurements->groups + 1) * sizeof *b->drawn);
    for (int i = 0; i < b->groups; i++) b->drawn[b->present[(int)(carom_stream_uniform(&stream) * b->groups)]] += 1;
    for (int i = 0; i < b->count; i++) weights[i] = b->drawn[b->measurements->list[b->chosen[i]].group];
}
