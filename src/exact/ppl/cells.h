// SPDX-License-Identifier: Apache-2.0
/// @file
/// The cells of contact space, with what contacts owe: closed cones in which the set of speeds of the inclusion is one convex set.
#ifndef CAROM_EXACT_PPL_CELLS_H
#define CAROM_EXACT_PPL_CELLS_H

#include "carom/exact.h"
#include "exact/ppl/data.h"
#include "exact/ppl/polyhedron.h"

/// What a contact does in a cell.
///
/// Friction points against the corner d of a polygon of directions that maximises d.t, the segment between the two signs in the plane.
/// Corners that share the maximum are those of one of its faces: a corner, where slip has its sector to itself, a side, where it is on the
/// ray between two sectors, or the whole polygon, where there is no slip.
typedef struct exact_state {
    /// Inactive: n >= 0, no force. Active ones have n <= 0 and friction, and a contact with restitution then owes more.
    bool active;
    /// A contact with restitution pays back what it owes: n >= 0, with friction as above. It is never inactive: without an impulse of its
    /// own it pays nothing, which this allows.
    bool restores;
    uint64_t corners;  ///< of the face, as bits; none where the contact is inactive
} exact_state;

typedef struct exact_cell {
    int states[EXACT_MOST_CONTACTS];  ///< of the contacts, as numbers in exact_cells.states
    int code;                         ///< their digits: sum of states_i * state_count^i
    exact_polyhedron cone;
    exact_polyhedron flow;  ///< speeds dy/ds and dR/ds; NULL where no speed stays in the cell
} exact_cell;

typedef struct exact_cells {
    const exact_data *data;
    exact_state *states;        ///< [state_count] the inactive one, then all faces of the polygon, and all of them restoring
    int state_count, slipless;  ///< `slipless` is the active state without slip
    exact_polyhedron *regions;  ///< [contacts x state_count] where a contact alone is in a state; NULL for states that it never has
    exact_cell *cells;
    int count;
    int *index;  ///< [state_count^contacts] of the cell of a code; -1 for none
    bool overlapping;
    bool complete;                                      ///< none is missing
    exact_polyhedron terminal;                          ///< T: no contact approaches, nothing is owed
    exact_polyhedron approaching[EXACT_MOST_CONTACTS];  ///< n_i <= 0
} exact_cells;

/// The cells that do not lie in T.
/// @param width  0: the closed cones, with speeds that keep a slipless contact slipless. Otherwise half the width by which the cells
///               overlap [m/s], n <= width and |t| <= width; a slipless contact then has all its speeds
/// Stops the session when something fails; what is there is freed by exact_cells_free.
void exact_cells_create(exact_session *session, const exact_data *data, const mpq_t width, exact_cells *cells);
/// The cell in which one contact has another state; -1 for none. Such cells are neighbours: others that touch are reached over these.
int exact_cells_neighbour(const exact_cells *cells, int cell, int contact, int state);
/// The state whose region cuts a cell in the points that it shares with a neighbour; the contact's own state where these are all.
int exact_cells_door(const exact_cells *cells, int cell, int contact, int state);
/// The hull of the speeds of all contacts, under any friction.
exact_polyhedron exact_cells_all_speeds(exact_session *session, const exact_cells *cells);
void exact_cells_free(exact_cells *cells);

#endif
