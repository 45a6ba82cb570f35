// SPDX-License-Identifier: Apache-2.0
// The reachable set as a union of convex pieces. Within a cell, what a convex P reaches is exactly (P elapse flow) meet cone: the mean
// speed of a solution that stays there lies in the flow, which is convex, and the chord stays in the cone. Terminal pieces are not
// continued.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/ppl/fixpoint.h"

// Energies that differ by less than this share are equal: the order then does not hang on the rounding of doubles, and the older piece,
// which has fewer switches, often contains what comes of the younger one.
#define EQUAL_ENERGIES 1e-6

// More states than a contact can have: without force, and all corners and sides of a polygon and itself, twice.
enum { MOST_STATES = 2 + 4 * CAROM_MAX_CONE_EDGES + 1 };

// A piece on its way into a cell.
typedef struct item {
    exact_polyhedron piece;
    double energy;  // largest of its vertices
    int cell;
} item;

typedef struct union_search {
    exact_session *session;
    const exact_cells *cells;
    exact_counts *counts;
    exact_pieces *outcomes;  // terminal pieces
    exact_pieces *reached;   // [cells]
    item *queue;             // [queued], oldest first
    int queued, room;
    double most;                                       // energy of a piece that is continued
    bool gains;                                        // some piece was not, because of it
    double metric[EXACT_MOST_ROWS * EXACT_MOST_ROWS];  // [d x d], for energies
} union_search;

// The energy y' (metric) y.
static double energy_at(const union_search *search, const double *y) {
    const int d = search->cells->data->dimension;
    double energy = 0;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) energy += y[i] * search->metric[i * d + j] * y[j];
    return energy;
}

// The largest of a piece, which has it at a vertex. Doubles are exact enough: the energy only orders the queue.
static double largest_energy(const union_search *search, exact_polyhedron piece) {
    const exact_outline *outline = exact_polyhedron_outline(search->session, piece);
    double largest = 0;
    for (int k = 0; outline && k < outline->vertices; k++)
        largest = fmax(largest, energy_at(search, outline->vertex + k * outline->dimension));
    return largest;
}

static void remove_item(union_search *search, int i) {
    search->queued--;
    memmove(search->queue + i, search->queue + i + 1, (size_t)(search->queued - i) * sizeof *search->queue);
}

// Queues the piece, which becomes the queue's, unless it is empty, terminal or known. Those that wait for the same cell and have a convex
// union with it come along: one elapse then does for all of them, which matters where the start is a polytope that the cells cut.
static void offer(union_search *search, int cell, exact_polyhedron piece) {
    exact_session *session = search->session;
    // A piece within another one that waits for the same cell is known, too.
    bool known = session->stop || exact_polyhedron_is_empty(session, piece) ||
                 exact_polyhedron_contains(session, search->cells->terminal, piece) ||
                 exact_pieces_cover(session, &search->reached[cell], piece);
    for (int i = 0; i < search->queued && !known && exact_session_continue(session); i++)
        known = search->queue[i].cell == cell && exact_polyhedron_contains(session, search->queue[i].piece, piece);
    for (int i = 0; i < search->queued && !known && exact_session_continue(session); i++) {
        exact_polyhedron merged = search->queue[i].cell == cell ? exact_polyhedron_merge(session, piece, search->queue[i].piece) : NULL;
        if (!merged) continue;
        exact_polyhedron_replace(&piece, merged);
        exact_polyhedron_free(search->queue[i].piece);
        remove_item(search, i);
        i = -1;
    }
    if (!known && !session->stop && search->queued == search->room) {
        const int room = 2 * search->room + 16;
        item *queue = realloc(search->queue, (size_t)room * sizeof *queue);
        if (queue) {
            search->queue = queue;
            search->room = room;
        } else {
            exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        }
    }
    if (known || session->stop) {
        exact_polyhedron_free(piece);
        return;
    }
    const double energy = largest_energy(search, piece);
    if (energy > search->most) {
        search->gains = true;
        exact_polyhedron_free(piece);
        return;
    }
    search->queue[search->queued++] = (item){piece, energy, cell};
}

// Queues the part of a piece in a cell, which becomes the queue's.
static void enter_cell(union_search *search, int cell, exact_polyhedron part) {
    const exact_cells *cells = search->cells;
    if (!cells->overlapping) {
        offer(search, cell, part);
        return;
    }
    // Overlapping cells reach beyond n_i = 0: a solution goes on only where some active contact approaches, one convex part for each.
    for (int i = 0; i < cells->data->contacts; i++)
        if (cells->states[cells->cells[cell].states[i]].active)
            offer(search, cell, exact_polyhedron_meet(search->session, part, cells->approaching[i]));
    exact_polyhedron_free(part);
}

// Queues a piece of a cell in all neighbours that it touches. Those behind the same door receive the same part of it.
static void enter_neighbours(union_search *search, int cell, exact_polyhedron piece) {
    exact_session *session = search->session;
    const exact_cells *cells = search->cells;
    exact_polyhedron parts[MOST_STATES];
    for (int i = 0; i < cells->data->contacts && !session->stop; i++) {
        const int own = cells->cells[cell].states[i];
        memset(parts, 0, sizeof parts);
        for (int state = 0; state < cells->state_count && !session->stop; state++) {
            const int neighbour = state == own ? -1 : exact_cells_neighbour(cells, cell, i, state);
            if (neighbour < 0) continue;
            const int door = exact_cells_door(cells, cell, i, state);
            if (!parts[door])
                parts[door] = door == own ? exact_polyhedron_share(piece)
                                          : exact_polyhedron_meet(session, piece, cells->regions[i * cells->state_count + door]);
            enter_cell(search, neighbour, exact_polyhedron_share(parts[door]));
        }
        for (int state = 0; state < cells->state_count; state++) exact_polyhedron_free(parts[state]);
    }
}

// Elapses one item within its cell and queues where it goes on.
static void advance(union_search *search, const item *popped) {
    exact_session *session = search->session;
    const exact_cell *cell = &search->cells->cells[popped->cell];
    if (exact_pieces_cover(session, &search->reached[popped->cell], popped->piece)) return;
    // (P elapse flow) meet cone; without a flow the piece stays what it is.
    exact_polyhedron piece = exact_polyhedron_share(popped->piece);
    if (cell->flow) exact_polyhedron_replace(&piece, exact_polyhedron_elapse(session, piece, cell->flow));
    exact_polyhedron_replace(&piece, exact_polyhedron_meet(session, piece, cell->cone));
    search->counts->elapses++;
    if (exact_pieces_add(session, &search->reached[popped->cell], exact_polyhedron_share(piece))) {
        exact_pieces_add(session, search->outcomes, exact_polyhedron_meet(session, piece, search->cells->terminal));
        enter_neighbours(search, popped->cell, piece);
    }
    exact_polyhedron_free(piece);

    // The budget of polyhedra in memory.
    int64_t stored = search->queued + search->outcomes->count;
    for (int i = 0; i < search->cells->count; i++) stored += search->reached[i].count;
    if (stored > search->counts->limit) exact_session_halt(session, EXACT_OUT_OF_PIECES);
}

void exact_reach_union(exact_session *session, const exact_cells *cells, exact_counts *counts, exact_pieces *outcomes,
                       exact_pieces *reached) {
    union_search search = {.session = session, .cells = cells, .counts = counts, .outcomes = outcomes};
    search.reached = calloc((size_t)cells->count + 1, sizeof *search.reached);
    if (!search.reached) {
        exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        return;
    }
    const int d = cells->data->dimension;
    for (int k = 0; k < d * d; k++) search.metric[k] = mpq_get_d(cells->data->metric[k]);

    // The start enters every cell in which it lies; what is terminal already stays.
    exact_add_settled_start(session, cells, outcomes);
    exact_polyhedron start = exact_start(session, cells->data);
    search.most = counts->gain * largest_energy(&search, start);
    for (int i = 0; i < cells->count && !session->stop; i++)
        enter_cell(&search, i, exact_polyhedron_meet(session, start, cells->cells[i].cone));
    exact_polyhedron_free(start);
    const bool inelastic = exact_data_is_inelastic(cells->data);
    while (search.queued && exact_session_continue(session)) {
        // The oldest of those with the highest energy: the energy that is left bounds what is missing. With restitution it bounds nothing,
        // and the oldest of all, with the fewest switches, leads to outcomes before the budget is spent.
        int best = 0;
        for (int i = 1; i < search.queued && inelastic; i++)
            if (search.queue[i].energy > (1 + EQUAL_ENERGIES) * search.queue[best].energy) best = i;
        const item popped = search.queue[best];
        remove_item(&search, best);
        advance(&search, &popped);
        exact_polyhedron_free(popped.piece);
    }

    if (search.gains) exact_session_halt(session, EXACT_OUT_OF_ENERGY);
    for (int i = 0; i < search.queued; i++) exact_polyhedron_free(search.queue[i].piece);
    for (int i = 0; i < cells->count; i++) {
        if (reached) exact_pieces_append(session, reached, &search.reached[i]);
        exact_pieces_free(&search.reached[i]);
    }
    free(search.queue);
    free(search.reached);
}
