// SPDX-License-Identifier: Apache-2.0
/// @file
/// Other ways to integrate the hodograph of a single contact, for comparison. All share frame, phases and closed forms with carom's own, so
/// that only the integration differs.
#ifndef CAROM_BENCHMARKS_PEERS_STRONGE_PEERS_H
#define CAROM_BENCHMARKS_PEERS_STRONGE_PEERS_H

#include "laws/stronge/contact.h"

/// Integrators of SUNDIALS with root finding, on the regularised equations.
typedef struct peer_sundials peer_sundials;

typedef enum peer_method {
    PEER_ADAMS,        ///< CVODE: Adams, fixed-point iteration
    PEER_RUNGE_KUTTA,  ///< ARKODE: Fehlberg 13(7)8
} peer_method;

/// NULL when SUNDIALS fails.
peer_sundials *peer_sundials_create(peer_method method);
void peer_sundials_free(peer_sundials *peer);
/// @param tolerance  relative and absolute tolerance, in the contact's own units
/// @return false when SUNDIALS fails
bool peer_sundials_solve(peer_sundials *peer, const carom_contact_problem *problem, double tolerance, carom_contact_result *result);

/// The explicit Euler schemes of Jia & Wang 2017: h = share h1 / |gamma'| + (1 - share) h2 / (|kappa| |gamma'|), or a fixed step.
typedef struct peer_euler {
    double step;       ///< of the normal impulse [N s]; 0: by the formula
    double share;      ///< eps
    double length;     ///< h1, arc length of a step [m/s]
    double turn;       ///< h2, turn of a step [rad]
    double collinear;  ///< angle to an invariant direction at which the closed form takes over [rad]
} peer_euler;

bool peer_euler_solve(const peer_euler *scheme, const carom_contact_problem *problem, carom_contact_result *result);

#endif
