// SPDX-License-Identifier: Apache-2.0
/// @file
/// The cells of contact space, with what contacts owe: closed cones in which the set of speeds of the inclusion is one convex set.
#ifndef CAROM_EXACT_PPL_CELLS_H
#define CAROM_EXACT_PPL_CELLS_H

#include "carom/exact.h"
#include "exact/ppl/data.h"
#include "exact/ppl/polyhedron.h"

/// What a contact does in a cell.
typedef enum exact_state {
    EXACT_INACTIVE,  ///< n >= 0: no force
    EXACT_FORWARD,   ///< n <= 0, t >= 0: friction backwards
    EXACT_BACKWARD,  ///< n <= 0, t <= 0
    EXACT_SLIPLESS,  ///< n <= 0, t = 0: any friction that keeps t = 0
    // A contact with restitution pays back what it owes, n >= 0, with friction as above. Above it is compressed, and owes more. It is
    // never inactive: without an impulse of its own it pays nothing, which these states allow.
    EXACT_RESTORING_FORWARD,
    EXACT_RESTORING_BACKWARD,
    EXACT_RESTORING_SLIPLESS,
    EXACT_STATES
} exact_state;

typedef struct exact_cell {
    exact_state states[EXACT_MOST_CONTACTS];
    exact_polyhedron cone;
    exact_polyhedron flow;  ///< speeds dy/ds and dR/ds; NULL where no speed stays in the cell
    int neighbours[(EXACT_STATES - 1) * EXACT_MOST_CONTACTS];
    int neighbour_count;
} exact_cell;

typedef struct exact_cells {
    const exact_data *data;
    exact_cell *cells;
    int count;
    bool overlapping;
    bool complete;                                      ///< none is missing
    exact_polyhedron terminal;                          ///< T: no contact approaches, nothing is owed
    exact_polyhedron approaching[EXACT_MOST_CONTACTS];  ///< n_i <= 0
} exact_cells;

/// The cells that do not lie in T. Two are neighbours when one contact's state differs: others that touch are reached over these.
/// @param width  0: the closed cones, with speeds that keep a slipless contact slipless. Otherwise half the width by which the cells
///               overlap [m/s], n <= width and |t| <= width; a slipless contact then has all its speeds
/// Stops the session when something fails; what is there is freed by exact_cells_free.
void exact_cells_create(exact_session *session, const exact_data *data, const mpq_t width, exact_cells *cells);
/// The hull of the speeds of all contacts, under any friction.
exact_polyhedron exact_cells_all_speeds(exact_session *session, const exact_data *data);
void exact_cells_free(exact_cells *cells);

#endif
