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

/// Mass matrix, gaps, normals and the potential with its gradient (as `bias`) at q, valid until the next call of the flight.
const carom_system_terms *propagative_flight_look(propagative_flight *flight, const double *q);

/// v = M(q)^-1 p.
/// @return false when M(q) is not positive definite or not finite
bool propagative_flight_velocity(propagative_flight *flight, const double *q, const double *p, double *v);

/// p'M(q)^-1 p / 2; NaN where M(q) is no mass matrix.
double propagative_flight_kinetic_energy(propagative_flight *flight, const double *q, const double *p);

/// From (q0, p0) over the time h to (q1, p1): p0 + D1 L_d = 0 with the held contacts' gaps zero at q1, then p1 = D2 L_d, projected on the
/// velocities that hold them.
/// @param held        [contacts]
/// @param multiplier  [contacts], impulses of the held contacts; 0 for others
/// @param work        of dampers during the step [J], not above 0
/// @return false when the iteration does not converge
bool propagative_flight_advance(propagative_flight *flight, const double *q0, const double *p0, double h, const bool *held, double *q1,
                                double *p1, double *multiplier, double *work);

#endif
