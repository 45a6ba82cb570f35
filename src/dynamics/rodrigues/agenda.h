// SPDX-License-Identifier: Apache-2.0
/// @file
/// Impacts of bodies that only a uniform field pulls at: between impacts each follows its own parabola, whatever the others do. So an
/// impact moves only its bodies, and only they look for their next impacts, in the cells around them: its cost does not grow with the
/// number of bodies, but for the logarithm of the queue (after Alder & Wainwright 1959, Lubachevsky 1991).
#ifndef CAROM_DYNAMICS_RODRIGUES_AGENDA_H
#define CAROM_DYNAMICS_RODRIGUES_AGENDA_H

#include "carom/arena.h"
#include "carom/base.h"

/// A body on its parabola, and what it does next: all that a neighbour asks for, in two lines of the cache. Times are from the last grid
/// point.
typedef struct rodrigues_errand {
    double position[3], velocity[3];  // at the time `since`
    double since, radius;
    double time;               // of the next event, infinite for none
    double leaves;             // when the body leaves its cell
    int64_t cell[3];           // bodies that touch are in the same or in adjacent cells
    int following, preceding;  // bodies in the chain of the cell's bucket, -1 for none
    int partner;          // what the next event is: an impact with a body, with wall -1 - partner, or the way through a side of the cell
    int partner_impacts;  // those of the partner when this was found: when it has had more since, this is out of date
    int impacts;          // of the body so far
    int place;            // in the queue
} rodrigues_errand;

/// What all bodies do next.
typedef struct rodrigues_agenda {
    bool serves;               // false: the motion is not of this kind
    double acceleration[3];    // of the uniform field
    double now;                // the time of the last impact
    double width;              // of a cell
    int64_t changes;           // of cells by bodies since the width was chosen
    rodrigues_errand *errand;  // [n]
    int *queue;                // [n] a heap of bodies: those with earlier events are above later ones
    int buckets;               // of a hash table of cells: a power of two
    int *bucket;               // [buckets] the first body of a chain, -1 for none
    carom_arena memory;
} rodrigues_agenda;

#endif
