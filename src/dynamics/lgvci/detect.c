// SPDX-License-Identifier: Apache-2.0
// Finding impacts. In free flight no point of the body accelerates towards the plane by more than a known B. Between two times w apart at
// which the gap is p and q, the gap is therefore at least the chord minus B s (w - s) / 2: where that is not negative nothing was missed,
// whatever the shape and whichever of its points is the deepest; elsewhere the interval is halved.
#include <float.h>
#include <string.h>

#include "carom/bracket.h"
#include "dynamics/lgvci/lgvci.h"

// Rounding of a gap, in units of the sums that it comes from.
#define GAP_ROUNDING (8 * DBL_EPSILON)
// Width of the bracket of an impact time, relative to the interval that was searched.
#define TIME_TOLERANCE 1e-15
// A gap at an impact, relative to the body's radius, that is no rounding: the body is so fast that times cannot tell where it touches.
#define MISSED_GAP 1e-6
// Halvings of an interval, and evaluations of the gap for one impact time: the first is the resolution of double.
enum { DEEPEST = 60, MOST_EVALUATIONS = 200 };

double lgvci_gap_resolution(const lgvci *run, const carom_body_state *state) {
    const double *x = state->position;
    return GAP_ROUNDING * (fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + fabs(run->offset) + run->radius);
}

double lgvci_gap(const lgvci *run, const carom_body_state *state) {
    double u[3], rho[3];
    carom_multiply3_transposed(state->attitude, run->normal, u);
    return carom_dot3(run->normal, state->position) + run->offset + carom_body_support(run->body, u, rho);
}

typedef struct search {
    lgvci *run;
    double bound, noise;
    bool unsolved;
    carom_body_state state;  // of the last evaluation
    double c[3];
} search;

typedef struct instant {
    double time, gap;
} instant;

static instant look(search *s, double time) {
    const bool moved = lgvci_advance(s->run, time, &s->state, s->c);
    const instant at = {time, moved ? lgvci_gap(s->run, &s->state) : NAN};
    // Also where numbers overflow; no comparison below would hold.
    if (!isfinite(at.gap)) s->unsolved = true;
    return at;
}

// A touching gap is zero, whatever its rounding.
static double positive_gap(instant at) { return at.gap > 0 ? at.gap : 0; }

// The least value between two times of the chord minus B s (w - s) / 2.
static double lower_bound(const search *s, instant from, instant to) {
    const double w = to.time - from.time, p = positive_gap(from), q = positive_gap(to);
    const double lowest = 0.5 * w - (q - p) / (s->bound * w);
    if (!(lowest > 0)) return p;
    if (lowest >= w) return q;
    return p + (q - p) * lowest / w - 0.5 * s->bound * lowest * (w - lowest);
}

// Looks for a time with a negative gap between two that have none; the earlier half first.
static bool dips(search *s, instant from, instant to, int depth, instant *found) {
    if (lower_bound(s, from, to) >= -s->noise || depth == DEEPEST || s->unsolved) return false;
    const instant middle = look(s, 0.5 * (from.time + to.time));
    if (middle.gap < -s->noise) {
        *found = middle;
        return true;
    }
    return dips(s, from, middle, depth + 1, found) || dips(s, middle, to, depth + 1, found);
}

// Moves the left end of a bracket that starts at a touch to where the gap is clear of zero: that touch is not the root. Where it never is,
// a hop too low to be seen or another point that comes down at once, to where the gap becomes negative; false then.
static bool leave_touch(search *s, instant *left, instant *right, double width) {
    for (double limit = right->time; left->gap <= s->noise && limit - left->time > width && !s->unsolved;) {
        const instant middle = look(s, 0.5 * (left->time + limit));
        limit = middle.time;
        if (middle.gap < -s->noise) *right = middle;
        if (middle.gap > s->noise) *left = middle;
    }
    while (left->gap <= s->noise && right->time - left->time > width && !s->unsolved) {
        const instant middle = look(s, 0.5 * (left->time + right->time));
        *(middle.gap < -s->noise ? right : left) = middle;
    }
    return left->gap > s->noise;
}

// The zero of the gap in a bracket, at its left end, where the gap is not negative.
static instant locate(search *s, instant left, instant right, double width) {
    if (!leave_touch(s, &left, &right, width)) return left;
    carom_bracket b = {left.time, right.time, left.gap, right.gap, 0, 0};
    for (int i = 0; i < MOST_EVALUATIONS && b.high - b.low > width && !s->unsolved; i++) {
        const double guess = carom_bracket_guess(&b);
        if (guess <= b.low || guess >= b.high) break;
        const instant middle = look(s, guess);
        if (middle.gap >= 0) left = middle;
        carom_bracket_update(&b, middle.time, middle.gap);
    }
    return left;
}

// Discrete steps turn faster than the flow does: for a round body sin(angle) = x, x = length times spin, whose second derivative is
// (1 - x^2)^-3/2 times that of the flow.
static double step_bound(const lgvci *run, double length) {
    const double x = length * run->spin, left = 1 - x * x;
    return run->gravity * run->normal[2] + run->acceleration / (left * sqrt(left));
}

lgvci_search lgvci_find_hit(lgvci *run, double length, double *s, carom_body_state *next, double c[3]) {
    search look_for = {.run = run, .bound = step_bound(run, length)};
    const instant start = {0, lgvci_gap(run, &run->base)};
    const instant end = look(&look_for, length);
    *s = length;
    *next = look_for.state;
    memcpy(c, look_for.c, sizeof look_for.c);
    // A start that lies below the plane by the tolerance of a touch is a touch.
    look_for.noise = lgvci_gap_resolution(run, &run->base) + fmax(0, -start.gap);
    instant found = end;
    bool hit = end.gap < -look_for.noise || dips(&look_for, start, end, 0, &found);
    if (look_for.unsolved) return LGVCI_UNSOLVED;
    if (!hit) return LGVCI_FREE;
    instant at = start;
    while (hit && !look_for.unsolved) {
        at = locate(&look_for, start, found, TIME_TOLERANCE * length);
        hit = dips(&look_for, start, at, 0, &found);
    }
    at = look(&look_for, at.time);
    if (look_for.unsolved || at.gap > look_for.noise + MISSED_GAP * run->radius) return LGVCI_UNSOLVED;
    *s = at.time;
    *next = look_for.state;
    memcpy(c, look_for.c, sizeof look_for.c);
    return LGVCI_HIT;
}
