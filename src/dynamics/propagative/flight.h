// SPDX-License-Identifier: Apache-2.0
/// @file
/// Between propagative impacts: one midpoint step of a system, with held contacts.
#ifndef CAROM_DYNAMICS_PROPAGATIVE_FLIGHT_H
#define CAROM_DYNAMICS_PROPAGATIVE_FLIGHT_H

#include "dynamics/dynamics_internal.h"

/// A system with what a step computes with. One thread uses it.
typedef struct propagative_flight propagative_flight;

carom_status propagative_flight_create(const carom_system *system, propagative_flight **flight, carom_error *error);
void propagative_flight_free(propagative_flight *flight);

/// Mass matrix, gaps, normals, tangents and the potential at q, valid until the next call of the flight.
const carom_system_terms *propagative_flight_look(propagative_flight *flight, const double *q);

/// v = M(q)^-1 p.
/// @return false when M(q) is not positive definite or not finite
bool propagative_flight_velocity(propagative_flight *flight, const double *q, const double *p, double *v);

/// p'M(q)^-1 p / 2; NaN where M(q) is no mass matrix.
double propagative_flight_kinetic_energy(propagative_flight *flight, const double *q, const double *p);

/// From (q0, p0) over the time h to (q1, p1): p0 + D1 L_d + P0 = 0, then p1 = D2 L_d + P1, where P0 and P1 are impulses of the held
/// contacts, with friction: P0 brings their gaps at q1 to zero, P1 their rates there, and both only push.
/// @param held        [contacts]
/// @param multiplier  [contacts], normal impulses in P0; 0 for others. Below zero only where contacts are too many to be told apart
/// @param released    [contacts], held contacts that P0 lets open
/// @param work        of actuators, dampers, fluids and friction during the step [J]
/// @return false when the iteration does not converge, or where the laws of contact have no solution
bool propagative_flight_advance(propagative_flight *flight, const double *q0, const double *p0, double h, const bool *held, double *q1,
                                double *p1, double *multiplier, bool *released, double *work);

#endif
