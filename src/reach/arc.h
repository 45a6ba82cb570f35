// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pieces of walks in space, where sliding contacts turn. Not installed.
#ifndef CAROM_REACH_ARC_H
#define CAROM_REACH_ARC_H

#include "carom/reach.h"

typedef struct carom_arc carom_arc;

/// @param tolerance  of velocities on a piece, relative to the velocity scale of the impact
carom_status carom_arc_create(const carom_impact *impact, double tolerance, carom_arc **arc, carom_error *error);
void carom_arc_free(carom_arc *arc);

/// A carom_walk_hold.
bool carom_arc_hold(carom_walker *walker);

/// The length after which the slip of a contact vanishes, if rates stay; infinite where none does. `*straight`: they do stay.
double carom_arc_event(const carom_walker *walker, bool *straight);

/// The length of a piece on which impulses would be so large that what they change is round-off: the forces cancel.
double carom_arc_longest(const carom_walker *walker);

/// Goes along a curved piece up to the first event, or the length `limit`, where `first` is a guess of the length. Makes p and du of the
/// walker, and the mean normal velocities, those of the whole piece. Returns its length; 0 where the integration fails at once.
double carom_arc_go(carom_walker *walker, double first, double limit);

#endif
