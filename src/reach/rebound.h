// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the contacts of a solution have stored in compression and give back: restitution of the impact inclusion. Not installed.
#ifndef CAROM_REACH_REBOUND_H
#define CAROM_REACH_REBOUND_H

#include "carom/arena.h"
#include "reach/numbers.h"

/// The state of restitution on the way of one solution. s is the clock of the impulses.
///
///     stronge: E_i [J],    dE_i/ds = -lambda_i n_i where n_i < 0,     -lambda_i n_i / e_i^2 where n_i > 0, and 0 at n_i = 0;
///     poisson: R_i [N s],  dR_i/ds = e_i lambda_i where n_i < 0,      -lambda_i where n_i > 0, and any value between at n_i = 0.
///
/// A contact is active while n_i <= 0 or something is stored; the impact ends at the first s with n >= 0 and nothing stored.
typedef struct carom_rebound {
    carom_hypothesis hypothesis;
    int contacts, stride;  ///< the normal velocity of contact i is u[stride * i], its rate du[stride * i], its weight p[stride * i]
    const carom_impact *impact;
    carom_interval interval;  ///< of the coefficients; NaN: the impact's
    double *restitution;      ///< [contacts] e_i of this solution
    bool elastic;             ///< some e_i > 0
    double *stored;           ///< [contacts] E_i or R_i; 0 for e_i = 0
    double *rate;             ///< [contacts] of R_i on the present piece
    double *spent;            ///< [contacts] length of the piece after which nothing is stored; infinite where that does not happen
    double *record;           ///< [3 * contacts] for each contact: work stored and restored [J], number of compressions
    bool *compressing;        ///< [contacts] the contact's last impulse compressed it
    carom_arena arena;
} carom_rebound;

carom_status carom_rebound_create(const carom_impact *impact, const carom_rebound_options *options, carom_rebound **rebound,
                                  carom_error *error);
void carom_rebound_free(carom_rebound *rebound);

/// A new solution: nothing is stored, and coefficients of an interval are drawn.
void carom_rebound_begin(carom_rebound *rebound, carom_numbers *numbers);

/// The length of a piece with the rates du and the weights p after which the first contact has given back what it stored; infinite where
/// none does. Draws the rates of Poisson's contacts at n_i = 0. For walks with a hypothesis.
double carom_rebound_event(carom_rebound *rebound, const double *u, const double *du, const double *p, carom_numbers *numbers);

/// Stores and gives back along a piece with these mean normal velocities [contacts] and weights, after carom_rebound_event. Returns the
/// change of sum e_i^2 E_i [J]; with Poisson's hypothesis, which has no such sum, 0.
double carom_rebound_advance(carom_rebound *rebound, const double *mean, const double *p, double length);

#endif
