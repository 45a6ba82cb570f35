// SPDX-License-Identifier: Apache-2.0
/// @file
/// Friction of spatial contacts without slip, and the weights that hold contacts, for given weights of the others. Not installed.
#ifndef CAROM_REACH_BALANCE_H
#define CAROM_REACH_BALANCE_H

#include "carom/arena.h"
#include "carom/impact.h"

/// What friction does at a contact.
typedef enum carom_slip {
    CAROM_SLIP_NONE,      ///< none: no impulse, no friction, or no motion along the tangents
    CAROM_SLIP_SLIDING,   ///< f = mu lambda d, against its slip
    CAROM_SLIP_STICKING,  ///< at zero slip, |f| <= mu lambda and no acceleration
    CAROM_SLIP_ROLLING,   ///< at zero slip, |f| = mu lambda: it slides off against f
} carom_slip;

/// The convex problem over disks of the contacts at zero slip: the rates x_i of their frictional impulses minimise x'W_tt x/2 + b'x over
/// |x_i| <= mu_i lambda_i, and held contacts have the weight under which n_i' = 0. The caller fills slip, direction and held. Created by
/// carom_balance_create.
typedef struct carom_balance {
    const carom_impact *impact;
    int contacts, n;
    double regularisation;  ///< added to the diagonal of W_tt [1/kg]: equal tangent rows then share friction evenly
    carom_slip *slip;       ///< [contacts]
    double *direction;      ///< [contacts x 2] d of those that slide, |d| = 1
    double *offset;         ///< [contacts x 2] acceleration that friction at rest has to bring about beside its own [m/s per s]
    bool *held;             ///< [contacts]
    bool leaves;            ///< held contacts whose weight would not be positive are let go, with weight 0
    double *margin;         ///< [contacts] of those at zero slip: negative by what friction has left [N s], positive by what it lacks
    bool *bounded;          ///< [contacts] of those at zero slip: friction is at its bound
    double *omega;          ///< [contacts] mass along the tangents [kg]; 0 where nothing moves along them
    double *centre, *pull;  ///< [n] shares that friction is pulled to, [contacts] and how strongly [1/kg]
    int size, *unknown, *exchanges;              ///< [n] rows that are unknown
    double *residual, *slope, *matrix, *change;  ///< [n], [n] rows of W p, [n x n], [n]
} carom_balance;

/// Takes the arrays from the arena, which owns them.
void carom_balance_create(const carom_impact *impact, carom_arena *arena, carom_balance *balance);

/// Completes the rates of impulses p [n] by friction and held weights; those in p are the first guess. Verified: false where no solution
/// is found within 1e-9 of the largest weight, mostly 1e-11.
bool carom_balance_solve(carom_balance *balance, double *p);

#endif
