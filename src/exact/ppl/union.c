// SPDX-License-Identifier: Apache-2.0
// The reachable set as a union of convex pieces. Within a cell, what a convex P reaches is exactly (P elapse flow) meet cone: the mean
// speed of a solution that stays there lies in the flow, which is convex, and the chord stays in the cone. Terminal pieces are not
// continued.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/ppl/fixpoint.h"

// A piece on its way into a cell.
typedef struct item {
    exact_polyhedron piece;
    double energy;  // largest of its vertices
    int cell;
} item;

typedef struct search {
    exact_session *session;
    const exact_cells *cells;
    exact_counts *counts;
    exact_pieces *outcomes;
    exact_pieces *reached;  // [cells]
    item *queue;
    int queued, room;
    double *metric;  // [d x d], for energies
    double *point;   // [d]
} search;

// -------------------------------------------------------------------------------------------------------------- energy

typedef struct energy_visit {
    const search *search;
    double largest;
} energy_visit;

static void take_energy(void *user, mpq_t *vertex) {
    energy_visit *visit = user;
    const int d = visit->search->session->dimension;
    double *y = visit->search->point, energy = 0;
    for (int i = 0; i < d; i++) y[i] = mpq_get_d(vertex[i]);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) energy += y[i] * visit->search->metric[i * d + j] * y[j];
    visit->largest = fmax(visit->largest, energy);
}

// Only the order of the queue depends on it: doubles will do.
static double energy_of(const search *s, exact_polyhedron piece) {
    energy_visit visit = {s, 0};
    exact_polyhedron_visit_vertices(s->session, piece, take_energy, &visit);
    return visit.largest;
}

// --------------------------------------------------------------------------------------------------------------- queue

static bool is_queued(const search *s, int cell, exact_polyhedron piece) {
    for (int i = 0; i < s->queued && exact_session_continue(s->session); i++)
        if (s->queue[i].cell == cell && exact_polyhedron_contains(s->session, s->queue[i].piece, piece)) return true;
    return false;
}

static void push_item(search *s, int cell, exact_polyhedron piece) {
    if (s->queued == s->room) {
        const int room = 2 * s->room + 16;
        item *queue = realloc(s->queue, (size_t)room * sizeof *queue);
        if (!queue) {
            exact_session_halt(s->session, EXACT_OUT_OF_MEMORY);
            exact_polyhedron_free(piece);
            return;
        }
        s->queue = queue;
        s->room = room;
    }
    s->queue[s->queued++] = (item){piece, energy_of(s, piece), cell};
}

// The oldest of those with the highest energy: what is left of the energy bounds what is missing.
static item pop_item(search *s) {
    int best = 0;
    for (int i = 1; i < s->queued; i++)
        if (s->queue[i].energy > s->queue[best].energy) best = i;
    const item popped = s->queue[best];
    s->queued--;
    memmove(s->queue + best, s->queue + best + 1, (size_t)(s->queued - best) * sizeof *s->queue);
    return popped;
}

// Queues the piece, which becomes the queue's, unless it is empty, terminal or known.
static void offer(search *s, int cell, exact_polyhedron piece) {
    exact_session *session = s->session;
    const bool known = session->stop || exact_polyhedron_is_empty(session, piece) ||
                       exact_polyhedron_contains(session, s->cells->terminal, piece) ||
                       exact_pieces_cover(session, &s->reached[cell], piece) || is_queued(s, cell, piece);
    if (known || session->stop)
        exact_polyhedron_free(piece);
    else
        push_item(s, cell, piece);
}

// Overlapping cells reach beyond n_i = 0: a solution goes on only where some active contact approaches, one convex part for each.
static void offer_parts(search *s, int cell, exact_polyhedron piece) {
    const exact_cell *target = &s->cells->cells[cell];
    for (int i = 0; i < s->cells->data->contacts; i++)
        if (target->states[i] != EXACT_INACTIVE) offer(s, cell, exact_polyhedron_meet(s->session, piece, s->cells->approaching[i]));
    exact_polyhedron_free(piece);
}

static void enter_cell(search *s, int cell, exact_polyhedron from) {
    exact_polyhedron piece = exact_polyhedron_meet(s->session, from, s->cells->cells[cell].cone);
    if (s->cells->overlapping)
        offer_parts(s, cell, piece);
    else
        offer(s, cell, piece);
}

// ------------------------------------------------------------------------------------------------------------- reaching

static void record_outcomes(search *s, exact_polyhedron piece) {
    exact_polyhedron outcomes = exact_polyhedron_meet(s->session, piece, s->cells->terminal);
    if (exact_polyhedron_is_empty(s->session, outcomes))
        exact_polyhedron_free(outcomes);
    else
        exact_pieces_add(s->session, s->outcomes, outcomes);
}

static void count_stored(search *s) {
    int64_t stored = s->queued + s->outcomes->count;
    for (int i = 0; i < s->cells->count; i++) stored += s->reached[i].count;
    s->counts->stored = stored;
    if (stored > s->counts->limit) exact_session_halt(s->session, EXACT_OUT_OF_PIECES);
}

// Elapses one item within its cell and queues where it goes on.
static void advance(search *s, const item *popped) {
    exact_session *session = s->session;
    const exact_cell *cell = &s->cells->cells[popped->cell];
    if (exact_pieces_cover(session, &s->reached[popped->cell], popped->piece)) return;
    exact_polyhedron piece = exact_polyhedron_copy(session, popped->piece);
    if (cell->flow) exact_polyhedron_replace(&piece, exact_polyhedron_elapse(session, piece, cell->flow));
    exact_polyhedron_replace(&piece, exact_polyhedron_meet(session, piece, cell->cone));
    s->counts->elapses++;
    // The list may merge what it takes.
    exact_polyhedron added = exact_polyhedron_copy(session, piece);
    if (exact_pieces_add(session, &s->reached[popped->cell], added)) {
        record_outcomes(s, piece);
        for (int i = 0; i < cell->neighbour_count && !session->stop; i++) enter_cell(s, cell->neighbours[i], piece);
    }
    exact_polyhedron_free(piece);
    count_stored(s);
}

static bool open_search(search *s) {
    const exact_data *data = s->cells->data;
    const size_t d = (size_t)data->dimension;
    s->reached = calloc((size_t)s->cells->count + 1, sizeof *s->reached);
    s->metric = calloc(d * d + 1, sizeof *s->metric);
    s->point = calloc(d + 1, sizeof *s->point);
    if (!s->reached || !s->metric || !s->point) {
        exact_session_halt(s->session, EXACT_OUT_OF_MEMORY);
        return false;
    }
    for (size_t k = 0; k < d * d; k++) s->metric[k] = mpq_get_d(data->metric[k]);
    return true;
}

static void close_search(search *s) {
    for (int i = 0; i < s->queued; i++) exact_polyhedron_free(s->queue[i].piece);
    for (int i = 0; s->reached && i < s->cells->count; i++) exact_pieces_free(&s->reached[i]);
    free(s->queue);
    free(s->reached);
    free(s->metric);
    free(s->point);
}

void exact_reach_union(exact_session *session, const exact_cells *cells, mpq_t *start, exact_counts *counts, exact_pieces *outcomes) {
    search s = {.session = session, .cells = cells, .counts = counts, .outcomes = outcomes};
    if (!open_search(&s)) {
        close_search(&s);
        return;
    }
    exact_polyhedron point = exact_polyhedron_at(session, start);
    for (int i = 0; i < cells->count && !session->stop; i++) enter_cell(&s, i, point);
    exact_polyhedron_free(point);
    while (s.queued && exact_session_continue(session)) {
        const item popped = pop_item(&s);
        advance(&s, &popped);
        exact_polyhedron_free(popped.piece);
    }
    close_search(&s);
}
