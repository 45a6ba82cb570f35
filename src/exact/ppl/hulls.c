// SPDX-License-Identifier: Apache-2.0
// An outer set with one convex polyhedron a cell. At the fixpoint it is inductive: no solution with finitely many switches leaves it.
#include <stdlib.h>

#include "exact/ppl/fixpoint.h"

// Updates of a cell before it is widened: enough for sets that settle, few enough for coefficients that explode.
enum { UPDATES_BEFORE_WIDENING = 6 };

// How far a cell has come.
typedef struct progress {
    exact_polyhedron reached;  // NULL before the first visit
    exact_polyhedron request;  // hull of what waits to enter; NULL for nothing
    int updates;
} progress;

// Adds the part of `from` in this cell to what waits to enter it.
static void enter_cell(exact_session *session, const exact_cells *cells, progress *all, int cell, exact_polyhedron from) {
    progress *entered = &all[cell];
    exact_polyhedron piece = exact_polyhedron_meet(session, from, cells->cells[cell].cone);
    const bool known = session->stop || exact_polyhedron_is_empty(session, piece) ||
                       exact_polyhedron_contains(session, cells->terminal, piece) ||
                       (entered->reached && exact_polyhedron_contains(session, entered->reached, piece));
    if (!known && !entered->request) {
        entered->request = piece;
        return;
    }
    if (!known) exact_polyhedron_replace(&entered->request, exact_polyhedron_hull(session, entered->request, piece));
    exact_polyhedron_free(piece);
}

// next = ((reached hull request) elapse flow) meet cone, widened within the bound when the cell has been updated often.
static exact_polyhedron grow(exact_session *session, const exact_cell *cell, progress *grown, exact_polyhedron bound) {
    exact_polyhedron next = exact_polyhedron_copy(session, grown->request);
    if (grown->reached) exact_polyhedron_replace(&next, exact_polyhedron_hull(session, next, grown->reached));
    if (cell->flow) exact_polyhedron_replace(&next, exact_polyhedron_elapse(session, next, cell->flow));
    exact_polyhedron_replace(&next, exact_polyhedron_meet(session, next, cell->cone));
    if (grown->reached && ++grown->updates > UPDATES_BEFORE_WIDENING) {
        exact_polyhedron_replace(&next, exact_polyhedron_widen(session, next, grown->reached));
        exact_polyhedron_replace(&next, exact_polyhedron_meet(session, next, cell->cone));
        exact_polyhedron_replace(&next, exact_polyhedron_meet(session, next, bound));
    }
    // Checks the bits of its coordinates.
    exact_polyhedron_outline(session, next);
    return next;
}

void exact_reach_hulls(exact_session *session, const exact_cells *cells, exact_polyhedron bound, exact_counts *counts,
                       exact_pieces *outcomes, exact_pieces *reached) {
    progress *all = calloc((size_t)cells->count + 1, sizeof *all);
    if (!all) {
        exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        return;
    }
    // The start enters every cell in which it lies.
    exact_polyhedron start = exact_start(session, cells->data);
    for (int i = 0; i < cells->count && !session->stop; i++) enter_cell(session, cells, all, i, start);
    exact_polyhedron_free(start);

    // Cells with a request take turns, so that none is widened before the others had theirs. `idle` counts those without one in a row.
    for (int cell = 0, idle = 0; idle < cells->count; cell = (cell + 1) % cells->count) {
        progress *grown = &all[cell];
        if (!grown->request) {
            idle++;
            continue;
        }
        if (!exact_session_continue(session)) break;
        idle = 0;
        const exact_cell *place = &cells->cells[cell];
        // What the cell has reached already needs no growth.
        const bool known = grown->reached && exact_polyhedron_contains(session, grown->reached, grown->request);
        if (!known) {
            exact_polyhedron_replace(&grown->reached, grow(session, place, grown, bound));
            counts->elapses++;
        }
        exact_polyhedron_replace(&grown->request, NULL);
        for (int i = 0; !known && i < cells->data->contacts * cells->state_count && !session->stop; i++) {
            const int contact = i / cells->state_count, state = i % cells->state_count;
            const int neighbour = state == place->states[contact] ? -1 : exact_cells_neighbour(cells, cell, contact, state);
            if (neighbour >= 0) enter_cell(session, cells, all, neighbour, grown->reached);
        }
    }
    exact_session_continue(session);

    // The terminal parts are the outcomes.
    exact_add_settled_start(session, cells, outcomes);
    for (int i = 0; i < cells->count && !session->stop; i++)
        if (all[i].reached) exact_pieces_add(session, outcomes, exact_polyhedron_meet(session, all[i].reached, cells->terminal));
    for (int i = 0; i < cells->count; i++) {
        if (reached && all[i].reached) exact_pieces_add(session, reached, exact_polyhedron_copy(session, all[i].reached));
        exact_polyhedron_free(all[i].reached);
        exact_polyhedron_free(all[i].request);
    }
    free(all);
}
