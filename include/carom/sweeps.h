// SPDX-License-Identifier: Apache-2.0
/// @file
/// Contact problems with many contacts, by sweeps over them and Newton's method; shared by carom's own libraries, not installed.
///
/// With contact velocities u = free + W p: 0 <= p_n <= cap; p_n > 0 only where u_n <= 0, p_n < cap only where u_n >= 0; p_t is the impulse
/// of largest dissipation in mu p_n conv D, the section of a linearised friction cone. Rows of dry friction, |p| <= bound, follow those of
/// contacts.
#ifndef CAROM_SWEEPS_H
#define CAROM_SWEEPS_H

#include "carom/arena.h"
#include "carom/loop.h"

CAROM_API_BEGIN

typedef struct carom_sweep_contact {
    int row;                   ///< of its normal; its tangents follow
    int tangents, edges;       ///< directions in which it can slip; edges of its friction cone, 0: no friction
    const double *directions;  ///< [edges x tangents]
    double friction, cap;      ///< mu; the largest p_n, which may be infinite
} carom_sweep_contact;

typedef struct carom_sweep_problem {
    int contacts, rows;            ///< rows: of contacts
    int dry;                       ///< rows of dry friction
    carom_sweep_contact *contact;  ///< [contacts]
    const double *bound;           ///< [dry]
    const double *W, *free;        ///< [all x all], [all] with all = rows + dry
    int attempts;                  ///< at most, to go on with Newton's steps where sweeps go round in circles
    double mass, speed;            ///< units in which 1/W and velocities are about one, powers of two
    double *impulse;               ///< [all] where to start, and what was found
    double *after;                 ///< [all] velocities
    const carom_control *control;  ///< polled between some sweeps, and between Newton's steps, so that the search ends early; may be NULL
} carom_sweep_problem;

/// Scratch for problems of so many rows.
typedef struct carom_sweep_room carom_sweep_room;

carom_status carom_sweep_room_create(int all, carom_sweep_room **room, carom_error *error);
void carom_sweep_room_free(carom_sweep_room *room);

/// The one verifier of impulses, whatever found them: the largest violation over 1 + max |free|, in the problem's units. Fills `after`.
double carom_sweep_residual(carom_sweep_problem *problem);

/// Sweeps over the contacts from the present impulses (Jean & Moreau 1992), and Newton's method from there (Alart & Curnier 1991). Impulses
/// stay in their cones where no solution is found.
/// @return the residual: solutions have round-off, or 1e-11
double carom_sweep(carom_sweep_problem *problem, carom_sweep_room *room);

CAROM_API_END

#endif
