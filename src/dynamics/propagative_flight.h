// SPDX-License-Identifier: Apache-2.0
/// @file
/// Between impacts: one midpoint step with held contacts.
#ifndef CAROM_DYNAMICS_PROPAGATIVE_FLIGHT_H
#define CAROM_DYNAMICS_PROPAGATIVE_FLIGHT_H

#include "dynamics/propagative_motion.h"

typedef struct propagative_flight propagative_flight;

carom_status propagative_flight_create(const carom_motion_system *system, propagative_flight **flight, carom_error *error);
void propagative_flight_free(propagative_flight *flight);

/// x = M^-1 x.
void propagative_flight_solve_mass(const propagative_flight *flight, double *x);

/// From (q0, p0) over the time h to (q1, p1): p0 + D1 L_d = 0 with the held contacts' gaps zero at q1, then p1 = D2 L_d, projected on the
/// velocities that hold them.
/// @param held        [contacts]
/// @param multiplier  [contacts], impulses of the held contacts; 0 for others
/// @return false when the iteration does not converge
bool propagative_flight_advance(propagative_flight *flight, const double *q0, const double *p0, double h, const bool *held, double *q1,
                                double *p1, double *multiplier);

#endif
