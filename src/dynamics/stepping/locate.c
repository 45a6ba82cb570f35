// SPDX-License-Identifier: Apache-2.0
// The time of the first hit within a part of a step.
#include <math.h>
#include <string.h>

#include "dynamics/stepping/stepping.h"

// Detections of one search. The secants of a gap converge in a few; bisection alone would need some 40.
enum { MOST_TRIALS = 60 };

// The least gap of contacts that hit, a time after the start on the path q (+) s (v + (s/2h)(v' - v)); infinite where none is near.
static carom_status find_least_gap(stepping *run, double s, double *least, carom_error *error) {
    const double share = 0.5 * s / run->h;
    for (size_t i = 0; i < run->n; i++) run->work_vector[i] = run->start[i] + share * (run->next[i] - run->start[i]);
    run->mechanism->advance(run->mechanism->self, run->q, run->work_vector, s, run->q_trial);
    *least = INFINITY;
    if (stepping_overflows(run, run->q_trial)) return CAROM_OK;
    const carom_status status = run->mechanism->detect(run->workspace, run->q_trial, run->reach, &run->touches, error);
    if (status) return status;
    for (int i = 0; i < run->touches.count; i++) {
        const carom_touch *touch = &run->touches.touch[i];
        const double *normal = run->touches.normal + (size_t)i * run->n;
        if (touch->gap >= *least || stepping_was_closed(run, touch)) continue;
        const double rate = carom_dot(run->nv, normal, run->start);
        if (rate < -run->impact_speed) *least = touch->gap;
    }
    return CAROM_OK;
}

carom_status stepping_locate(stepping *run, double *time, carom_error *error) {
    // The start is above the surface, or hits at once; the end is below, or there is no hit.
    const double touching = 0.5 * run->tolerance;
    double low = 0, high = run->h, low_gap, high_gap;
    *time = high;
    carom_status status = find_least_gap(run, high, &high_gap, error);
    if (status || !(high_gap <= 0)) return status;
    status = find_least_gap(run, low, &low_gap, error);
    if (status) return status;
    if (low_gap <= touching) high = 0;
    // The secant, and the middle where it does not halve the interval in two trials.
    bool halve = false;
    for (int trial = 0; trial < MOST_TRIALS && high > 0 && high_gap < -touching && high > low; trial++) {
        const double share = low_gap / (low_gap - high_gap), width = high - low;
        const double s = low + width * (halve || !isfinite(low_gap) ? 0.5 : fmin(fmax(share + 1e-3, 1e-3), 1 - 1e-3));
        double gap;
        status = find_least_gap(run, s, &gap, error);
        if (status) return status;
        if (gap <= 0) {
            high = s;
            high_gap = gap;
        } else {
            low = s;
            low_gap = gap;
        }
        halve = high - low > 0.5 * width;
    }
    *time = high;
    return CAROM_OK;
}
