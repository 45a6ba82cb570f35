// SPDX-License-Identifier: Apache-2.0
// An outer set with one convex polyhedron a cell. At the fixpoint it is inductive: no solution with finitely many switches leaves it.
#include <stdlib.h>

#include "exact/ppl/fixpoint.h"

// Updates of a cell before it is widened: enough for sets that settle, few enough for coefficients that explode.
enum { UPDATES_BEFORE_WIDENING = 6 };

typedef struct state {
    exact_polyhedron reached;  // NULL before the first visit
    exact_polyhedron request;  // hull of what waits to enter; NULL for nothing
    int updates;
} state;

typedef struct search {
    exact_session *session;
    const exact_cells *cells;
    state *states;
    exact_polyhedron bound;
} search;

// Adds what enters this cell to its request.
static void enter_cell(search *s, int cell, exact_polyhedron from) {
    exact_session *session = s->session;
    state *entered = &s->states[cell];
    exact_polyhedron piece = exact_polyhedron_meet(session, from, s->cells->cells[cell].cone);
    const bool known = session->stop || exact_polyhedron_is_empty(session, piece) ||
                       exact_polyhedron_contains(session, s->cells->terminal, piece) ||
                       (entered->reached && exact_polyhedron_contains(session, entered->reached, piece));
    if (!known && !entered->request) {
        entered->request = piece;
        return;
    }
    if (!known) exact_polyhedron_replace(&entered->request, exact_polyhedron_hull(session, entered->request, piece));
    exact_polyhedron_free(piece);
}

// ((reached hull request) elapse flow) meet cone, widened when the cell has been updated often.
static exact_polyhedron grow(search *s, int cell) {
    exact_session *session = s->session;
    const exact_cell *place = &s->cells->cells[cell];
    state *grown = &s->states[cell];
    exact_polyhedron next = exact_polyhedron_copy(session, grown->request);
    if (grown->reached) exact_polyhedron_replace(&next, exact_polyhedron_hull(session, next, grown->reached));
    if (place->flow) exact_polyhedron_replace(&next, exact_polyhedron_elapse(session, next, place->flow));
    exact_polyhedron_replace(&next, exact_polyhedron_meet(session, next, place->cone));
    if (grown->reached && ++grown->updates > UPDATES_BEFORE_WIDENING) {
        exact_polyhedron_replace(&next, exact_polyhedron_widen(session, next, grown->reached));
        exact_polyhedron_replace(&next, exact_polyhedron_meet(session, next, place->cone));
        exact_polyhedron_replace(&next, exact_polyhedron_meet(session, next, s->bound));
    }
    // Checks the bits of its coordinates.
    exact_polyhedron_visit_vertices(session, next, NULL, NULL);
    return next;
}

static void advance(search *s, int cell, exact_counts *counts) {
    exact_session *session = s->session;
    state *grown = &s->states[cell];
    const bool known = grown->reached && exact_polyhedron_contains(session, grown->reached, grown->request);
    if (!known) {
        exact_polyhedron next = grow(s, cell);
        exact_polyhedron_free(grown->reached);
        grown->reached = next;
        counts->elapses++;
    }
    exact_polyhedron_free(grown->request);
    grown->request = NULL;
    const exact_cell *place = &s->cells->cells[cell];
    for (int i = 0; !known && i < place->neighbour_count && !session->stop; i++) enter_cell(s, place->neighbours[i], grown->reached);
}

// Cells take turns, so that none is widened before the others had theirs.
static int next_request(const search *s, int after) {
    for (int i = 1; i <= s->cells->count; i++) {
        const int cell = (after + i) % s->cells->count;
        if (s->states[cell].request) return cell;
    }
    return -1;
}

static void collect_outcomes(search *s, exact_pieces *outcomes) {
    for (int i = 0; i < s->cells->count && !s->session->stop; i++) {
        if (!s->states[i].reached) continue;
        exact_polyhedron piece = exact_polyhedron_meet(s->session, s->states[i].reached, s->cells->terminal);
        if (exact_polyhedron_is_empty(s->session, piece))
            exact_polyhedron_free(piece);
        else
            exact_pieces_add(s->session, outcomes, piece);
    }
}

static void iterate(search *s, mpq_t *start, exact_counts *counts) {
    exact_polyhedron point = exact_polyhedron_at(s->session, start);
    for (int i = 0; i < s->cells->count && !s->session->stop; i++) enter_cell(s, i, point);
    exact_polyhedron_free(point);
    for (int cell = -1; exact_session_continue(s->session) && (cell = next_request(s, cell)) >= 0;) advance(s, cell, counts);
}

void exact_reach_hulls(exact_session *session, const exact_cells *cells, mpq_t *start, exact_polyhedron bound, exact_counts *counts,
                       exact_pieces *outcomes) {
    search s = {.session = session, .cells = cells, .bound = bound};
    s.states = calloc((size_t)cells->count + 1, sizeof *s.states);
    if (!s.states) {
        exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        return;
    }
    iterate(&s, start, counts);
    collect_outcomes(&s, outcomes);
    for (int i = 0; i < cells->count; i++) {
        exact_polyhedron_free(s.states[i].reached);
        exact_polyhedron_free(s.states[i].request);
    }
    free(s.states);
}
