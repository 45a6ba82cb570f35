// SPDX-License-Identifier: Apache-2.0
// Explicit Runge-Kutta steps with an error estimate: Dormand & Prince 1980.
#include "carom/ode.h"

#include <math.h>
#include <string.h>

enum { STAGES = CAROM_ODE_STAGES };

const double carom_ode_nodes[STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
const double carom_ode_tableau[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
const double carom_ode_difference[STAGES] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

// A step grows and shrinks by these factors at most, and aims a little below the tolerance.
#define MOST_GROWTH  5.0
#define LEAST_GROWTH 0.2
#define SAFETY       0.9

// Steps that are refused one after the other: each may shrink fivefold, so that doubles are exhausted before.
enum { MOST_TRIALS = 60 };

void carom_ode_create(carom_arena *arena, int n, carom_ode *ode) {
    *ode = (carom_ode){.n = n};
    ode->y = carom_arena_take(arena, (size_t)n, sizeof(double));
    ode->end = carom_arena_take(arena, (size_t)n, sizeof(double));
    ode->trial = carom_arena_take(arena, (size_t)n, sizeof(double));
    for (int i = 0; i < STAGES; i++) ode->stage[i] = carom_arena_take(arena, (size_t)n, sizeof(double));
}

// All stages of a step of this length, and its end; the last stage is the rate there.
static void take_stages(carom_ode *ode, double length) {
    ode->rate(ode->user, ode->s, ode->y, ode->stage[0]);
    for (int i = 1; i < STAGES; i++) {
        double *y = i == STAGES - 1 ? ode->end : ode->trial;
        for (int k = 0; k < ode->n; k++) {
            double sum = 0;
            for (int j = 0; j < i; j++) sum += carom_ode_tableau[i][j] * ode->stage[j][k];
            y[k] = ode->y[k] + length * sum;
        }
        ode->rate(ode->user, ode->s + carom_ode_nodes[i] * length, y, ode->stage[i]);
    }
}

bool carom_ode_step(carom_ode *ode) {
    double length = ode->length;
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        take_stages(ode, length);
        double error = 0;
        for (int k = 0; k < ode->n; k++) {
            double difference = 0;
            for (int j = 0; j < STAGES; j++) difference += carom_ode_difference[j] * ode->stage[j][k];
            error = fmax(error, fabs(length * difference) / ode->tolerance[k]);
        }
        // The error grows with the fifth power of the length.
        const double growth = error > 0 ? SAFETY * pow(error, -0.2) : MOST_GROWTH;
        if (error <= 1) {
            ode->length = length;
            ode->next = length * fmin(fmax(growth, LEAST_GROWTH), MOST_GROWTH);
            return true;
        }
        // Also where the error is not a number.
        length *= growth > LEAST_GROWTH ? fmin(growth, SAFETY) : LEAST_GROWTH;
    }
    return false;
}

void carom_ode_shorten(carom_ode *ode, double length) {
    take_stages(ode, length);
    ode->length = length;
}

void carom_ode_advance(carom_ode *ode) {
    ode->s += ode->length;
    memcpy(ode->y, ode->end, (size_t)ode->n * sizeof *ode->y);
    ode->length = ode->next;
}
