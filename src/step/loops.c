// SPDX-License-Identifier: Apache-2.0
// Loops over the samples of a batch in lanes, compiled once for every instruction set: the build defines KERNEL.
#include "carom/lanes.h"
#include "carom/step.h"

#ifndef KERNEL
#define KERNEL carom_step_loops_portable
#endif

_Static_assert((int)LANES == (int)CAROM_STEP_LANES, "columns are padded to lanes");

static double largest_gain(const carom_step_batch *batch, int count) {
    lanes largest = spread(0);
    double gain = 0;
    int i = 0;
    // Whole groups, then the lanes of a ragged last one.
    for (; i + LANES <= count; i += LANES) largest = larger(load(batch->gain + i), largest);
    if (i < count) largest = choose((1U << (count - i)) - 1, larger(load(batch->gain + i), largest), largest);
    raise_to(&gain, largest);
    return gain;
}

// The lanes whose bits are set, from place i of some columns to place `at` of others. In place, they never overwrite what is still to come.
static INLINE void move(const double *from, int columns, size_t stride, size_t i, unsigned bits, double *to, size_t at) {
    for (int c = 0; c < columns; c++) pack(to + (size_t)c * stride + at, load(from + (size_t)c * stride + i), bits);
}

static INLINE void advance_shape(int contacts, int dim, carom_step_batch *batch, carom_step_samples *samples, double limit,
                                 const unsigned char *stopped) {
    const int n = contacts * (1 + dim), groups = (samples->live + LANES - 1) / LANES, ragged = samples->live % LANES;
    const size_t stride = batch->stride;
    size_t live = 0, done = (size_t)samples->done;
    for (int g = 0; g < groups; g++) {
        const size_t i = (size_t)g * LANES;
        const unsigned here = g == groups - 1 && ragged ? (1U << ragged) - 1 : ALL_LANES;
        // Samples stay while a contact approaches.
        lanes least = load(batch->u_next + i);
        for (int c = 1; c < contacts; c++) least = lesser(load(batch->u_next + (size_t)(c * (1 + dim)) * stride + i), least);
        const unsigned approaching = ALL_LANES & ~at_least(least, spread(limit));
        const unsigned stay = here & approaching & ~(stopped ? stopped[g] : 0U), leave = here & ~stay;
        for (size_t c = i; c < (size_t)n * stride; c += stride)
            store(samples->total + c, add(load(samples->total + c), load(batch->impulse + c)));
        // Those that leave are appended to the samples that are done; those that stay close the gaps.
        if (leave) {
            move(samples->total, n, stride, i, leave, samples->done_total, done);
            move(samples->slot, 1, stride, i, leave, samples->done_slot, done);
            done += (size_t)__builtin_popcount(leave);
        }
        move(batch->u_next, n, stride, i, stay, batch->x, live);
        move(samples->total, n, stride, i, stay, samples->total, live);
        move(samples->slot, 1, stride, i, stay, samples->slot, live);
        move(samples->ahead, samples->ahead_count, stride, i, stay, samples->ahead, live);
        live += (size_t)__builtin_popcount(stay);
    }
    samples->live = (int)live;
    samples->done = (int)done;
}

static void advance(const carom_impact *impact, carom_step_batch *batch, carom_step_samples *samples, const unsigned char *stopped) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double limit = carom_impact_approach_limit(impact);
    // Bounds of loops are constants for two planar contacts, which matter most.
    if (data->contacts == 2 && data->tangent_dim == 1)
        advance_shape(2, 1, batch, samples, limit, stopped);
    else
        advance_shape(data->contacts, data->tangent_dim, batch, samples, limit, stopped);
}

static void velocities(const carom_impact *impact, const double *impulse, size_t stride, int count, double *v) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const double *response = carom_impact_response(impact);
    const int n = carom_impact_contact_size(impact);
    for (int k = 0; k < data->nv; k++)
        for (size_t i = 0; i < (size_t)count; i += LANES) {
            lanes sum = spread(data->velocity[k]);
            for (int c = 0; c < n; c++)
                sum = add(sum, multiply(load(impulse + (size_t)c * stride + i), spread(response[c * data->nv + k])));
            store(v + (size_t)k * stride + i, sum);
        }
}

const carom_step_loops KERNEL = {.largest_gain = largest_gain, .advance = advance, .velocities = velocities};
