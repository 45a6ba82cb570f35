// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step of a curved piece of a walk in space as power series. Not installed.
#ifndef CAROM_REACH_SERIES_H
#define CAROM_REACH_SERIES_H

#include "reach/balance.h"

/// Terms of the series of velocities, of rates, and of normal work.
enum { CAROM_SERIES_TERMS = 13, CAROM_SERIES_RATES = CAROM_SERIES_TERMS - 1, CAROM_WORK_TERMS = CAROM_SERIES_TERMS + CAROM_SERIES_RATES };

/// Series in a clock x that begins at 0. Rates of impulses that vary, friction and the weights of held contacts, have a column each; the
/// other weights are constant. Term k of a quantity is the k-th row of its array.
typedef struct carom_series {
    const double *delassus, *friction;  ///< of the impact
    int contacts, n;
    const carom_balance *balance;      ///< of the present step
    const double *weights;             ///< [n] rates at its start, of which the constant weights are used
    int slowest;                       ///< the contact whose slip ds/dx is proportional to, -1 for none
    bool lands;                        ///< its slip is to vanish at x = 1
    double clock[CAROM_SERIES_RATES];  ///< ds/dx
    double times[CAROM_SERIES_TERMS];  ///< s
    double *velocities;                ///< [CAROM_SERIES_TERMS x n]
    int width, *rows, *column_of;      ///< columns; [width] the rate of each, [n] the column of each rate, -1 for none
    double *columns;                   ///< [1 + width x n] accelerations: under the constant weights, and of W
    double *rates;                     ///< [CAROM_SERIES_RATES x width] over s
    double *impulses;                  ///< [CAROM_SERIES_TERMS x width] since the step began
    double *speeds;                    ///< [CAROM_SERIES_RATES x contacts] slip, and of those that slide off from rest slip over x
    double *directions;                ///< [CAROM_SERIES_RATES x 2 contacts] of sliding friction
    double *works;                     ///< [contacts x CAROM_WORK_TERMS] integrals of the normal velocities over s
    double *load;                      ///< [1 + n]
    int size, *unknown, *exchanges;    ///< rates that equations determine at each order
    double *matrix, *change;           ///< [n x n], [n]
} carom_series;

/// Takes the arrays from the arena, which owns them.
void carom_series_create(const carom_impact *impact, carom_arena *arena, carom_series *series);

/// Expands the motion from the velocities u [n] and the rates p [n], which the balance has found: contacts slide, stick, or slide off from
/// rest, and held ones stay closed. `guess`: a length in s of the clock where slip has none. False where the rates are not determined.
bool carom_series_expand(carom_series *series, const carom_balance *balance, const double *u, const double *p, double guess);

/// An x up to which the last terms of the velocities are within the tolerance [m/s]; 1 at most where slip is to vanish there.
double carom_series_reach(const carom_series *series, double tolerance);

/// sum_k x^k terms[k] of `count` terms of `width` numbers, into `sum` [width].
void carom_series_sum(int count, int width, const double *terms, double x, double *sum);

/// The first x in (0, end] where offset + sign * sum_k x^k terms[k * stride], above zero just after 0, falls to zero; infinite where it
/// does not.
double carom_series_root(int count, int stride, const double *terms, double offset, double sign, double end);

#endif
