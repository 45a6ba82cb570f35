// SPDX-License-Identifier: Apache-2.0
// Curved parts of the hodograph of a single impact, by Taylor series in the clock tau, d tau = d Iz / |gamma|:
//
//   gamma_tau = -mu B gamma + |gamma| d,   It_tau = -mu gamma,   Iz_tau = |gamma|,   vz_tau = w |gamma| - mu d.gamma,   N_tau = vz |gamma|
//
// N is the work of the normal impulse. In this clock zero slip is no singularity: |gamma|^2 is analytic, and so is |gamma| away from zero.
// A step's polynomials are its dense output, on which events are found. Only +, *, / and square roots: the bits are those of any machine.
#include <float.h>
#include <math.h>

#include "laws/stronge/contact.h"

enum { COEFFICIENTS = CONTACT_MOST_ORDER + 1, TRACED_POINTS = 12 };

// Taylor coefficients at the start of a step, from which impulses and works count.
typedef struct series {
    int order;
    double x[COEFFICIENTS], y[COEFFICIENTS], speed[COEFFICIENTS];
    double normal[COEFFICIENTS], impulse[COEFFICIENTS], work[COEFFICIENTS], friction[COEFFICIENTS];
    double tangential[2][COEFFICIENTS];
} series;

static const double reciprocals[COEFFICIENTS + 1] = {0,        1.0 / 1,  1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,
                                                     1.0 / 8,  1.0 / 9,  1.0 / 10, 1. / 11,  1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15,
                                                     1.0 / 16, 1.0 / 17, 1.0 / 18, 1.0 / 19, 1.0 / 20, 1.0 / 21};

static void expand(const contact_process *process, series *s) {
    const contact_frame *frame = process->frame;
    const double mu = frame->mu, bx = mu * frame->lambda[0], by = mu * frame->lambda[1], cx = mu * frame->d[0], cy = mu * frame->d[1];
    // A unit of tau that keeps the coefficients of high order within range for any friction; a power of two, which rounds nothing.
    int exponent;
    frexp(mu, &exponent);
    const double unit = exponent > 0 ? ldexp(1, -exponent) : 1;
    s->order = process->order;
    s->x[0] = process->slip[0];
    s->y[0] = process->slip[1];
    s->normal[0] = process->normal;
    double square = s->x[0] * s->x[0] + s->y[0] * s->y[0];
    s->speed[0] = sqrt(square);
    s->impulse[0] = s->work[0] = s->friction[0] = s->tangential[0][0] = s->tangential[1][0] = 0;
    for (int n = 0; n < s->order; n++) {
        // Coefficient n + 1 of everything but |gamma|, by the equations at the top; that of N by the product of vz and |gamma|.
        const double x = s->x[n], y = s->y[n], speed = s->speed[n], scale = reciprocals[n + 1] * unit;
        double power = 0;
        for (int k = 0; k <= n; k++) power += s->normal[k] * s->speed[n - k];
        s->x[n + 1] = (frame->d[0] * speed - bx * x) * scale;
        s->y[n + 1] = (frame->d[1] * speed - by * y) * scale;
        s->normal[n + 1] = (frame->w * speed - cx * x - cy * y) * scale;
        s->impulse[n + 1] = speed * scale;
        s->work[n + 1] = power * scale;
        s->friction[n + 1] = mu * square * scale;
        s->tangential[0][n + 1] = -mu * x * scale;
        s->tangential[1][n + 1] = -mu * y * scale;

        // Coefficient m = n + 1 of |gamma| by |gamma|^2 = x^2 + y^2, and of that square.
        const int m = n + 1;
        double cross = 0, squares = 0;
        for (int k = 1; 2 * k < m; k++) {
            cross += s->x[k] * s->x[m - k] + s->y[k] * s->y[m - k];
            squares += s->speed[k] * s->speed[m - k];
        }
        cross += s->x[0] * s->x[m] + s->y[0] * s->y[m];
        double half_square = cross, inner = squares;
        if (m % 2 == 0) {
            half_square += 0.5 * (s->x[m / 2] * s->x[m / 2] + s->y[m / 2] * s->y[m / 2]);
            inner += 0.5 * s->speed[m / 2] * s->speed[m / 2];
        }
        s->speed[m] = (half_square - inner) / s->speed[0];
        square = 2 * half_square;
    }
}

static double evaluate(const double *coefficients, int order, double t) {
    double value = coefficients[order];
    for (int n = order - 1; n >= 0; n--) value = value * t + coefficients[n];
    return value;
}

// --------------------------------------------------------------------------------------------------------- step length

// The step at which the last two terms reach the tolerance. They are relative to |v-|, not to the slip: distances of hodographs never
// grow, so that an error made near zero slip stays as small as it is.
static double step_length(const series *s, double tolerance) {
    double length = INFINITY;
    for (int n = s->order - 1; n <= s->order; n++) {
        const double velocity = fmax(fmax(fabs(s->x[n]), fabs(s->y[n])), fabs(s->normal[n]));
        const double largest = fmax(fmax(velocity, fabs(s->impulse[n])), fmax(fabs(s->work[n]), fabs(s->friction[n])));
        // A series that ends earlier is exact at any length; the quotient must stay finite.
        const double quotient = tolerance / fmax(largest, DBL_MIN);
        // A lower estimate of its root of order n, at most a few per cent below, from exponents and products only:
        // log2(1 + f) >= f and 2^f >= 1 + 0.65 f + 0.34 f^2 on [0, 1].
        int exponent;
        const double mantissa = frexp(quotient, &exponent);
        const double logarithm = (exponent - 1 + (2 * mantissa - 1)) / n;
        const double whole = floor(logarithm), rest = logarithm - whole;
        length = fmin(length, ldexp(1 + rest * (0.65 + 0.34 * rest), (int)whole));
    }
    return length;
}

// -------------------------------------------------------------------------------------------------------------- events

// The point of [low, high] where a polynomial takes the value, which lies between those at the ends: Newton's method from the chord, with
// bisection. Accurate relative to the point, because events may come early in a long step.
static double find_root(const double *c, int order, double value, double low, double high) {
    enum { MOST_ITERATIONS = 200 };
    const double accuracy = 4e-16, first = evaluate(c, order, low) - value, last = evaluate(c, order, high) - value;
    const bool rises = last > first;
    double t = low + (high - low) * (first / (first - last));
    if (!(t > low && t < high)) t = 0.5 * (low + high);
    for (int i = 0; i < MOST_ITERATIONS && high - low > accuracy * high; i++) {
        double error = c[order], slope = 0;
        for (int n = order - 1; n >= 0; n--) {
            slope = slope * t + error;
            error = error * t + c[n];
        }
        error -= value;
        if (error == 0) return t;
        if ((error > 0) == rises)
            high = t;
        else
            low = t;
        const double newton = t - error / slope;
        const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
        if (fabs(next - t) <= accuracy * next) return next;
        t = next;
    }
    return t;
}

typedef enum step_event { STEP_PASSES, STEP_COMPRESSED, STEP_RECOMPRESSES, STEP_ENDS } step_event;

// The first event on [low, high], where the normal velocity is monotone; returns its place, `high` where there is none.
static double find_event(const series *s, const contact_process *process, double low, double high, step_event *event) {
    // In compression vz < 0, and its zero ends it.
    const double last = evaluate(s->normal, s->order, high);
    *event = STEP_PASSES;
    if (!process->restituting) {
        if (last < 0) return high;
        *event = STEP_COMPRESSED;
        return find_root(s->normal, s->order, 0, low, high);
    }
    // In restitution vz > 0. A zero of vz starts another compression, unless restitution ends before it.
    double until = high;
    if (last < 0) {
        *event = STEP_RECOMPRESSES;
        until = find_root(s->normal, s->order, 0, low, high);
    }
    const carom_restitution hypothesis = process->options->hypothesis;
    const double *progress = hypothesis == CAROM_RESTITUTION_STRONGE   ? s->work
                             : hypothesis == CAROM_RESTITUTION_POISSON ? s->impulse
                                                                       : s->normal;
    const double wanted = progress[0] + contact_remaining_restitution(process);
    if (evaluate(progress, s->order, until) < wanted) return until;
    *event = STEP_ENDS;
    return find_root(progress, s->order, wanted, low, until);
}

// Adds the interior point of the last piece where the polynomial changes its sign, if it does.
static int split(const double *c, int order, double *ends, int count) {
    const double low = ends[count - 1], high = ends[count];
    if (evaluate(c, order, low) * evaluate(c, order, high) >= 0) return count;
    ends[count + 1] = high;
    ends[count] = find_root(c, order, 0, low, high);
    return count + 1;
}

// Pieces of [0, length] on which the normal velocity is monotone: vz' = w - mu |d| cos(angle between slip and d) has an extremum in tau
// where the slip passes d, and a zero on either side of it at most. Returns their number; piece i is [ends[i], ends[i + 1]].
static int find_pieces(const series *s, const contact_frame *frame, double length, double ends[5]) {
    ends[0] = 0;
    ends[1] = length;
    if (!frame->may_jam) return 1;
    double across[COEFFICIENTS] = {0}, slope[COEFFICIENTS] = {0};
    for (int n = 0; n <= s->order; n++) across[n] = frame->d[0] * s->y[n] - frame->d[1] * s->x[n];
    for (int n = 0; n < s->order; n++) slope[n] = (n + 1) * s->normal[n + 1];
    const int order = s->order - 1;
    double passes[3] = {0, length, length};
    const int halves = split(across, s->order, passes, 1);
    int count = 0;
    for (int i = 0; i < halves; i++) {
        ends[count + 1] = passes[i + 1];
        count = split(slope, order, ends, count + 1);
    }
    return count;
}

// ---------------------------------------------------------------------------------------------------------------- step

// Moves the process to the point t of the step.
static void move(contact_process *process, const series *s, double t) {
    contact_add(process, &(contact_part){.tangential = {evaluate(s->tangential[0], s->order, t), evaluate(s->tangential[1], s->order, t)},
                                         .impulse = evaluate(s->impulse, s->order, t),
                                         .work = evaluate(s->work, s->order, t),
                                         .friction_work = evaluate(s->friction, s->order, t)});
    process->slip[0] = evaluate(s->x, s->order, t);
    process->slip[1] = evaluate(s->y, s->order, t);
    process->normal = evaluate(s->normal, s->order, t);
}

void contact_step(contact_process *process) {
    series s;
    double ends[5];
    step_event event = STEP_PASSES;
    expand(process, &s);
    const int pieces = find_pieces(&s, process->frame, step_length(&s, process->options->tolerance), ends);
    double length = 0;
    for (int i = 0; i < pieces && event == STEP_PASSES; i++) length = find_event(&s, process, ends[i], ends[i + 1], &event);
    // Points between the ends of the step.
    for (int i = 1; process->options->trace && i < TRACED_POINTS; i++) {
        contact_process between = *process;
        move(&between, &s, length * i / TRACED_POINTS);
        contact_trace(&between);
    }
    move(process, &s, length);
    process->result->steps++;
    if (event == STEP_COMPRESSED) contact_end_compression(process);
    if (event == STEP_RECOMPRESSES) contact_start_recompression(process);
    if (event == STEP_ENDS) contact_end(process);
    contact_trace(process);
}
