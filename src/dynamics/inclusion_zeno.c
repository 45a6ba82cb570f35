// SPDX-License-Identifier: Apache-2.0
// Infinitely many impacts in finite time: found by what intervals between impacts have in common, and passed to their limit.
//
// Where motion near the limit is that of constant accelerations, intervals and velocities behind every P-th impact form geometric
// sequences in the limit (Halm & Posa 2023, section 4.3: ratio 0.7 of the rocking block). Aitken's extrapolation then gives the limit, with
// an error that falls like the square of what is left.
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "dynamics/inclusion.h"

// Two extrapolations that are a period apart agree this well, relative to the duration of the run ...
#define AGREEMENT 1e-11
// ... or so little is left that the error cannot matter.
#define NOTHING_LEFT 1e-9
// Intervals that shrink more slowly than this are not taken for a geometric sequence.
#define SLOWEST_RATIO 0.9999

void inclusion_remember(inclusion *run, uint64_t contacts) {
    inclusion_record *record = &run->records[run->record_count++ % INCLUSION_RECORDS];
    record->t = run->t;
    record->s = run->y[2 * run->nv];
    record->contacts = contacts;
    memcpy(record->state, run->y, 2 * (size_t)run->nv * sizeof *record->state);
}

static const inclusion_record *record_back(const inclusion *run, int64_t back) {
    return &run->records[(run->record_count - 1 - back) % INCLUSION_RECORDS];
}

// The limit of x0 (latest), x1, x2 with differences that shrink geometrically, by the ratio of their lengths.
static void extrapolate(size_t n, const double *x0, const double *x1, const double *x2, double *limit) {
    double last = 0, before = 0;
    for (size_t i = 0; i < n; i++) {
        last += (x0[i] - x1[i]) * (x0[i] - x1[i]);
        before += (x1[i] - x2[i]) * (x1[i] - x2[i]);
    }
    // Round-off does not shrink: what it is left of is at its limit.
    const double ratio = last < before ? sqrt(last / before) : 0;
    for (size_t i = 0; i < n; i++) limit[i] = x0[i] + (x0[i] - x1[i]) * ratio / (1 - ratio);
}

// Does the velocity settle, too? Between walls that close in, intervals shrink while it does not.
static bool velocities_settle(const inclusion *run, int period) {
    const double *v0 = record_back(run, 0)->state + run->nv, *v1 = record_back(run, period)->state + run->nv;
    const double *v2 = record_back(run, 2 * period)->state + run->nv;
    double last = 0, before = 0;
    for (int i = 0; i < run->nv; i++) {
        last += (v0[i] - v1[i]) * (v0[i] - v1[i]);
        before += (v1[i] - v2[i]) * (v1[i] - v2[i]);
    }
    return last < before;
}

// Is the limit of the time known with impacts that repeat themselves after `period`?
static bool has_limit(const inclusion *run, int period) {
    if (run->record_count < 3 * period + 1) return false;
    const double t0 = record_back(run, 0)->t, t1 = record_back(run, period)->t, t2 = record_back(run, 2 * period)->t;
    const double t3 = record_back(run, 3 * period)->t, last = t0 - t1, middle = t1 - t2, first = t2 - t3;
    if (!(last > 0 && last < SLOWEST_RATIO * middle && middle < SLOWEST_RATIO * first)) return false;
    const double limit = t0 + last * last / (middle - last), earlier = t1 + middle * middle / (first - middle);
    // No impact that the grid could show is left out.
    if (!(limit - t0 <= run->options->step) || limit > run->options->duration || !velocities_settle(run, period)) return false;
    return fabs(limit - earlier) <= AGREEMENT * run->options->duration || limit - t0 <= NOTHING_LEFT * t0;
}

static void move_to_limit(inclusion *run, int period, uint64_t *contacts) {
    const inclusion_record *x0 = record_back(run, 0), *x1 = record_back(run, period), *x2 = record_back(run, 2 * period);
    extrapolate(1, &x0->t, &x1->t, &x2->t, &run->t);
    extrapolate(1, &x0->s, &x1->s, &x2->s, &run->y[2 * run->nv]);
    extrapolate((size_t)run->nv, x0->state, x1->state, x2->state, run->y);
    extrapolate((size_t)run->nv, x0->state + run->nv, x1->state + run->nv, x2->state + run->nv, run->y + run->nv);
    *contacts = 0;
    for (int i = 0; i < period; i++) *contacts |= record_back(run, i)->contacts;
    run->record_count = 0;
}

bool inclusion_pass_accumulation(inclusion *run, uint64_t *contacts) {
    // Alternating corners repeat themselves after two impacts; patterns of more contacts take multiples.
    for (int period = 2; period <= INCLUSION_LONGEST_PERIOD; period += 2) {
        if (!has_limit(run, period)) continue;
        move_to_limit(run, period, contacts);
        return true;
    }
    return false;
}
