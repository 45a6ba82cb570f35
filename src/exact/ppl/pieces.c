// SPDX-License-Identifier: Apache-2.0
// Lists of convex pieces that contain no superfluous ones.
#include <stdlib.h>
#include <string.h>

#include "exact/ppl/fixpoint.h"

void exact_pieces_free(exact_pieces *pieces) {
    for (int i = 0; i < pieces->count; i++) exact_polyhedron_free(pieces->items[i]);
    free(pieces->items);
    *pieces = (exact_pieces){0};
}

bool exact_pieces_cover(exact_session *session, const exact_pieces *pieces, exact_polyhedron part) {
    for (int i = 0; i < pieces->count && exact_session_continue(session); i++)
        if (exact_polyhedron_contains(session, pieces->items[i], part)) return true;
    return false;
}

// Removes the pieces that this one contains.
static void remove_covered(exact_session *session, exact_pieces *pieces, exact_polyhedron piece) {
    for (int i = pieces->count - 1; i >= 0 && !session->stop; i--) {
        if (!exact_polyhedron_contains(session, piece, pieces->items[i])) continue;
        exact_polyhedron_free(pieces->items[i]);
        pieces->count--;
        memmove(pieces->items + i, pieces->items + i + 1, (size_t)(pieces->count - i) * sizeof *pieces->items);
    }
}

// The piece is bounded, with coefficients within the budget.
static bool is_affordable(exact_session *session, exact_polyhedron piece) { return exact_polyhedron_outline(session, piece) != NULL; }

// Room for one more piece.
static bool make_room(exact_session *session, exact_pieces *pieces) {
    if (pieces->count < pieces->room) return true;
    const int room = 2 * pieces->room + 8;
    exact_polyhedron *items = realloc(pieces->items, (size_t)room * sizeof *items);
    if (!items) {
        exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        return false;
    }
    pieces->items = items;
    pieces->room = room;
    return true;
}

void exact_pieces_append(exact_session *session, exact_pieces *pieces, exact_pieces *moved) {
    while (moved->count && make_room(session, pieces)) pieces->items[pieces->count++] = moved->items[--moved->count];
    exact_pieces_free(moved);
}

bool exact_pieces_add(exact_session *session, exact_pieces *pieces, exact_polyhedron piece) {
    // Is it worth adding, and is there room?
    bool adds = !session->stop && !exact_polyhedron_is_empty(session, piece) && !exact_pieces_cover(session, pieces, piece) &&
                is_affordable(session, piece);
    adds = adds && make_room(session, pieces);
    if (!adds) {
        exact_polyhedron_free(piece);
        return false;
    }
    // From here on the piece is sound and will be added, so that what it covers may go even when the session stops in between.
    remove_covered(session, pieces, piece);
    // Merged with one of the list whose union with it is convex, and again, as long as there is one.
    for (int i = 0; i < pieces->count && exact_session_continue(session); i++) {
        exact_polyhedron merged = exact_polyhedron_merge(session, piece, pieces->items[i]);
        if (!merged) continue;
        // A merged piece that is too long for the budget is not used.
        if (!is_affordable(session, merged)) {
            exact_polyhedron_free(merged);
            break;
        }
        exact_polyhedron_replace(&piece, merged);
        remove_covered(session, pieces, piece);
        i = -1;
    }
    pieces->items[pieces->count++] = piece;
    return true;
}
