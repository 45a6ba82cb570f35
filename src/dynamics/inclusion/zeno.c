// SPDX-License-Identifier: Apache-2.0
// Infinitely many impacts in finite time: recognised by the ratio of intervals between impacts, and replaced by their limit.
//
// Where motion near the limit is that of constant accelerations, intervals and velocities after every P-th impact form geometric
// sequences in the limit (Halm & Posa 2023, section 4.3: ratio 0.7 of the rocking block). Aitken's extrapolation then gives the limit, with
// an error that falls like the square of what is left.
#include <math.h>
#include <string.h>

#include "dynamics/inclusion/inclusion.h"

// Two extrapolations that are a period apart agree this well, relative to the duration of the run, the system's length and its fastest
// speed. The latter has an error that is smaller by the square of the ratio ...
#define AGREEMENT 1e-10
// ... or so little time is left that the error cannot matter.
#define NOTHING_LEFT 1e-9
// Intervals that shrink more slowly than this are not taken for a geometric sequence.
#define SLOWEST_RATIO 0.9999

void inclusion_remember(inclusion *run, uint64_t contacts) {
    inclusion_record *record = &run->records[run->record_count++ % INCLUSION_RECORDS];
    record->t = run->t;
    record->s = run->y[2 * run->nv];
    record->work = run->y[2 * run->nv + 1];
    record->contacts = contacts;
    memcpy(record->state, run->y, 2 * (size_t)run->nv * sizeof *record->state);
}

static const inclusion_record *record_back(const inclusion *run, int64_t back) {
    return &run->records[(run->record_count - 1 - back) % INCLUSION_RECORDS];
}

// The limit of x0 (latest), x1, ... with differences that shrink by `ratio`. The ratio of the time intervals serves all quantities:
// velocities change in proportion to time, and so do positions up to second order.
static void extrapolate(size_t n, const double *x0, const double *x1, double ratio, double *limit) {
    for (size_t i = 0; i < n; i++) limit[i] = x0[i] + (x0[i] - x1[i]) * ratio / (1 - ratio);
}

// The ratio of the last two intervals of `period` impacts that end `back` impacts ago.
static double interval_ratio(const inclusion *run, int period, int back) {
    const double t0 = record_back(run, back)->t, t1 = record_back(run, back + period)->t, t2 = record_back(run, back + 2 * period)->t;
    return (t0 - t1) / (t1 - t2);
}

// Do the limits of coordinates or velocities (`offset` 0 or nv in a state) that follow from the last and from the next to last period
// agree?
static bool limits_agree(const inclusion *run, int period, int offset, double scale) {
    const double *x[3];
    double *limit = run->trial, *earlier = run->error;
    for (int i = 0; i < 3; i++) x[i] = record_back(run, i * period)->state + offset;
    extrapolate((size_t)run->nv, x[0], x[1], interval_ratio(run, period, 0), limit);
    extrapolate((size_t)run->nv, x[1], x[2], interval_ratio(run, period, period), earlier);
    for (int j = 0; j < run->nv; j++)
        if (!(fabs(limit[j] - earlier[j]) <= AGREEMENT * scale)) return false;
    return true;
}

// Is the limit known with impacts that repeat themselves after `period`?
static bool has_limit(const inclusion *run, int period) {
    if (run->record_count < 3 * period + 1) return false;
    const inclusion_record *x[] = {record_back(run, 0), record_back(run, period), record_back(run, 2 * period)};
    const double ratio = interval_ratio(run, period, 0), ratio_before = interval_ratio(run, period, period);
    if (!(ratio > 0 && ratio < SLOWEST_RATIO && ratio_before < SLOWEST_RATIO)) return false;
    // Between walls that close in, intervals shrink while the velocity does not settle.
    const double *v[] = {x[0]->state + run->nv, x[1]->state + run->nv, x[2]->state + run->nv};
    double last = 0, before = 0;
    for (int i = 0; i < run->nv; i++) {
        last += (v[0][i] - v[1][i]) * (v[0][i] - v[1][i]);
        before += (v[1][i] - v[2][i]) * (v[1][i] - v[2][i]);
    }
    if (!(last < before)) return false;
    double limit, earlier;
    extrapolate(1, &x[0]->t, &x[1]->t, ratio, &limit);
    extrapolate(1, &x[1]->t, &x[2]->t, ratio_before, &earlier);
    // The skipped impacts must lie within one grid step and before the end of the run.
    if (!(limit - x[0]->t <= run->options->step) || limit > run->options->duration) return false;
    if (limit - x[0]->t <= NOTHING_LEFT * x[0]->t) return true;
    return fabs(limit - earlier) <= AGREEMENT * run->options->duration && limits_agree(run, period, 0, run->system->length) &&
           limits_agree(run, period, run->nv, run->fastest);
}

bool inclusion_pass_accumulation(inclusion *run, uint64_t *contacts) {
    // Alternating corners repeat themselves after two impacts; patterns of more contacts take multiples.
    int period = 2;
    while (period <= INCLUSION_LONGEST_PERIOD && !has_limit(run, period)) period += 2;
    if (period > INCLUSION_LONGEST_PERIOD) return false;
    const inclusion_record *x0 = record_back(run, 0), *x1 = record_back(run, period);
    const double ratio = interval_ratio(run, period, 0);
    extrapolate(1, &x0->t, &x1->t, ratio, &run->t);
    extrapolate(1, &x0->s, &x1->s, ratio, &run->y[2 * run->nv]);
    extrapolate(1, &x0->work, &x1->work, ratio, &run->y[2 * run->nv + 1]);
    extrapolate(2 * (size_t)run->nv, x0->state, x1->state, ratio, run->y);
    *contacts = 0;
    for (int i = 0; i < period; i++) *contacts |= record_back(run, i)->contacts;
    run->record_count = 0;
    return true;
}
