// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step after another of an ordinary differential equation, to a tolerance. Shared by carom's own libraries, not installed.
#ifndef CAROM_ODE_H
#define CAROM_ODE_H

#include "carom/arena.h"

CAROM_API_BEGIN

/// dy/ds = rate(s, y), written into `dy`.
typedef void (*carom_ode_rate)(void *user, double s, const double *y, double *dy);

/// The pair of order 5 and 4 of Dormand & Prince (1980), RK5(4)7M: where the stages are, their rows, the last of which is the solution of
/// order 5, and the weights of order 5 less those of order 4, which estimate the error.
enum { CAROM_ODE_STAGES = 7 };
extern const double carom_ode_nodes[CAROM_ODE_STAGES], carom_ode_tableau[CAROM_ODE_STAGES][CAROM_ODE_STAGES - 1],
    carom_ode_difference[CAROM_ODE_STAGES];

/// Steps of that pair. Created by carom_ode_create, whose caller fills `rate`, `user` and `tolerance`,
/// and sets `s`, `y` and `length` before the first step.
typedef struct carom_ode {
    int n;
    carom_ode_rate rate;
    void *user;
    const double *tolerance;          ///< [n] largest error of a step in each component, > 0
    double s;                         ///< where the present step begins
    double *y;                        ///< [n] there
    double length;                    ///< of the step that was taken, and before a step the length to try
    double next;                      ///< the length that the next step may have
    double *end;                      ///< [n] y at s + length
    double *stage[CAROM_ODE_STAGES];  ///< [n] each
    double *trial;                    ///< [n]
} carom_ode;

/// Takes the arrays from the arena, which owns them.
void carom_ode_create(carom_arena *arena, int n, carom_ode *ode);

/// Tries `length`, and shorter steps until the error is within the tolerance. False where no step is short enough.
bool carom_ode_step(carom_ode *ode);

/// Moves the end of the step to s + length', 0 < length' <= length, by a step of that length.
void carom_ode_shorten(carom_ode *ode, double length);

/// The end becomes the beginning of the next step, which tries the length that the error of the last one allows.
void carom_ode_advance(carom_ode *ode);

CAROM_API_END

#endif
