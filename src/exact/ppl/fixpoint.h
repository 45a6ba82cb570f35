// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reachability over the cells, to a fixpoint or to the end of a budget; and outer bounds that always come out, by energy and impulses
/// alone.
#ifndef CAROM_EXACT_PPL_FIXPOINT_H
#define CAROM_EXACT_PPL_FIXPOINT_H

#include "exact/ppl/cells.h"

/// Convex pieces; none lies in another.
typedef struct exact_pieces {
    exact_polyhedron *items;
    int count, room;
} exact_pieces;

void exact_pieces_free(exact_pieces *pieces);
/// Moves all pieces of a list to the end of another, without a look at them.
void exact_pieces_append(exact_session *session, exact_pieces *pieces, exact_pieces *moved);
/// Adds `piece`, which becomes the list's: it is dropped when it is empty or one contains it, those that it contains are removed, and pairs
/// with a convex union are merged.
/// @return false when it was dropped or the session stopped
bool exact_pieces_add(exact_session *session, exact_pieces *pieces, exact_polyhedron piece);
/// True when one of the pieces contains `part`.
bool exact_pieces_cover(exact_session *session, const exact_pieces *pieces, exact_polyhedron part);

typedef struct exact_counts {
    int64_t elapses;  ///< items taken from the queue and elapsed
    int64_t limit;    ///< most polyhedra in memory
    double gain;      ///< energy of a piece that is still continued, over that of the start: restitution may gain it without end
} exact_counts;

/// Reaches from the data's start through `cells`, pieces of high energy first; what is terminal goes to `outcomes`.
///
/// In cells of width 0: the closure of what solutions with finitely many switches reach, as a union; when the session stops before the
/// fixpoint, a part of it. In overlapping cells: at the fixpoint, a set that contains every solution's end.
/// @param reached  receives the pieces of all cells, one list after the other; NULL: not wanted
void exact_reach_union(exact_session *session, const exact_cells *cells, exact_counts *counts, exact_pieces *outcomes,
                       exact_pieces *reached);

/// The same with one convex polyhedron a cell, widened when it keeps growing: at the fixpoint an inductive set, which contains what
/// exact_reach_union finds. `outcomes` is complete only when the session did not stop.
/// @param bound  contains all that can be reached: what widening may not leave
void exact_reach_hulls(exact_session *session, const exact_cells *cells, exact_polyhedron bound, exact_counts *counts,
                       exact_pieces *outcomes, exact_pieces *reached);

/// The hull of the vertices of the start.
exact_polyhedron exact_start(exact_session *session, const exact_data *data);
/// Adds the part of the start where no contact approaches: there v+ is v-.
void exact_add_settled_start(exact_session *session, const exact_cells *cells, exact_pieces *outcomes);
/// The box around the ellipsoid of velocities with no more energy than before the impact; what no impulse changes is within its range.
exact_polyhedron exact_energy_box(exact_session *session, const exact_data *data);
/// What the energy allows with no contact approaching and one at rest, the box's part in T; and the part of the start that is there
/// already. Cheap in every dimension that is tried.
void exact_energy_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound);
/// What impulses in the friction cones lead to, without more energy, with no contact approaching and one at rest that had been active; and
/// the part of the start in T.
void exact_impulse_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound);

#endif
