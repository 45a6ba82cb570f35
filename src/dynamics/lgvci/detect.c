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

// The step that is searched.
typedef struct searched {
    lgvci *run;
    double bound, noise;     // B; gaps below -noise are negative
    bool unsolved;           // some state could not be computed
    carom_body_state state;  // of the last evaluation
    double c[3];
} searched;

typedef struct instant {
    double time, gap;
} instant;

static instant look(searched *step, double time) {
    const bool moved = lgvci_advance(step->run, time, &step->state, step->c);
    const instant at = {time, moved ? lgvci_gap(step->run, &step->state) : NAN};
    // After an overflow no comparison below would hold.
    if (!isfinite(at.gap)) step->unsolved = true;
    return at;
}

// Looks for a time with a negative gap between two that have none; the earlier half first.
static bool dips(searched *step, instant from, instant to, int depth, instant *found) {
    // The least value of the chord minus B s (w - s) / 2, for 0 <= s <= w. A touching gap counts as zero, whatever its rounding.
    const double w = to.time - from.time, p = from.gap > 0 ? from.gap : 0, q = to.gap > 0 ? to.gap : 0;
    const double s = 0.5 * w - (q - p) / (step->bound * w);
    const double least = !(s > 0) ? p : s >= w ? q : p + (q - p) * s / w - 0.5 * step->bound * s * (w - s);
    if (least >= -step->noise || depth == DEEPEST || step->unsolved) return false;
    const instant middle = look(step, 0.5 * (from.time + to.time));
    if (middle.gap < -step->noise) {
        *found = middle;
        return true;
    }
    return dips(step, from, middle, depth + 1, found) || dips(step, middle, to, depth + 1, found);
}

// The zero of the gap in a bracket, at its left end, where the gap is not negative.
static instant locate(searched *step, instant left, instant right, double width) {
    // A bracket that starts at a touch: its left end moves to where the gap is clear of zero, as that touch is not the root.
    for (double limit = right.time; left.gap <= step->noise && limit - left.time > width && !step->unsolved;) {
        const instant middle = look(step, 0.5 * (left.time + limit));
        limit = middle.time;
        if (middle.gap < -step->noise) right = middle;
        if (middle.gap > step->noise) left = middle;
    }
    // Where it never is clear, at a hop too low to be seen or as another point comes down at once, to where the gap becomes negative.
    while (left.gap <= step->noise && right.time - left.time > width && !step->unsolved) {
        const instant middle = look(step, 0.5 * (left.time + right.time));
        *(middle.gap < -step->noise ? &right : &left) = middle;
    }
    if (!(left.gap > step->noise)) return left;
    carom_bracket b = {left.time, right.time, left.gap, right.gap, 0, 0};
    for (int i = 0; i < MOST_EVALUATIONS && b.high - b.low > width && !step->unsolved; i++) {
        const double guess = carom_bracket_guess(&b);
        if (guess <= b.low || guess >= b.high) break;
        const instant middle = look(step, guess);
        if (middle.gap >= 0) left = middle;
        carom_bracket_update(&b, middle.time, middle.gap);
    }
    return left;
}

lgvci_search lgvci_find_hit(lgvci *run, double length, double *s, carom_body_state *next, double c[3]) {
    // Discrete steps turn faster than the flow does: for a round body sin(angle) = x, x = length times spin, whose second derivative is
    // (1 - x^2)^-3/2 times that of the flow.
    const double x = length * run->spin, left = 1 - x * x;
    searched step = {.run = run, .bound = run->gravity * run->normal[2] + run->acceleration / (left * sqrt(left))};
    const instant start = {0, lgvci_gap(run, &run->base)};
    const instant end = look(&step, length);
    *s = length;
    *next = step.state;
    memcpy(c, step.c, sizeof step.c);
    // A start that lies below the plane by the tolerance of a touch is a touch.
    step.noise = lgvci_gap_resolution(run, &run->base) + fmax(0, -start.gap);
    instant found = end;
    bool hit = end.gap < -step.noise || dips(&step, start, end, 0, &found);
    if (step.unsolved) return LGVCI_UNSOLVED;
    if (!hit) return LGVCI_FREE;
    // Each zero that is found may have another one before it.
    instant at = start;
    while (hit && !step.unsolved) {
        at = locate(&step, start, found, TIME_TOLERANCE * length);
        hit = dips(&step, start, at, 0, &found);
    }
    at = look(&step, at.time);
    if (step.unsolved || at.gap > step.noise + MISSED_GAP * run->radius) return LGVCI_UNSOLVED;
    *s = at.time;
    *next = step.state;
    memcpy(c, step.c, sizeof step.c);
    return LGVCI_HIT;
}
