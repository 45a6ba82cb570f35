// SPDX-License-Identifier: Apache-2.0
// All admissible words on the graph of distinct momenta. Six equal balls that all approach have 292,864 words over 720 momenta.
//
// Depth first from p-; an edge reflects an approaching contact, momenta that are equal within the tolerance are one state. Where the cone
// has an interior, <p, c> grows along every edge for a c inside it, so that there are no cycles; merging within a tolerance could make one
// of a reflection shorter than that, and therefore never merges with a state on the current branch. In the order of last visits, reversed,
// every state stands before its successors: one sweep counts the words that reach each. Breadth first, letters ascending, finds the
// shortest word of each state that is first in the order of contacts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/propagative/propagative_internal.h"

enum { FIRST_CAPACITY = 64, POLL_INTERVAL = 1024, NONE = -1 };

typedef struct state {
    int64_t cell;  // where equal momenta are looked for
    int chain;     // next state of the same bucket
    bool on_branch, feasible, marginal;
    int64_t count, max_length;  // words from p- to this state
    int parent, letter, depth;  // of the witness
} state;

typedef struct frame {
    int state, letter;  // the letter to be tried next
} frame;

typedef struct word_graph {
    const carom_propagative *p;
    const carom_word_limits *limits;
    const carom_control *control;
    size_t n, rank;  // mirrors, size of a momentum
    int states, capacity, buckets;
    state *nodes;     // [capacity]
    double *momenta;  // [capacity x rank]
    int *successor;   // [capacity x n], NONE where the letter does not approach or was not tried
    int *bucket;      // [buckets], a power of two
    frame *branch;    // [capacity], from p- to the current state
    int *finished;    // [capacity], in the order of last visits; later the queue of the breadth-first search
    int finished_count;
    carom_verdict verdict;
} word_graph;

// -------------------------------------------------------------------------------------------------------------- states

static int64_t cell_of(const word_graph *graph, const double *momentum) { return (int64_t)floor(propagative_key(graph->p, momentum)); }

static int *bucket_of(const word_graph *graph, int64_t cell) {
    // The multiplier of Fibonacci hashing, 2^64 over the golden ratio: neighbouring cells spread over all buckets.
    return &graph->bucket[((uint64_t)cell * 0x9E3779B97F4A7C15u >> 32) & (uint64_t)(graph->buckets - 1)];
}

static void enter_bucket(word_graph *graph, int index) {
    int *head = bucket_of(graph, graph->nodes[index].cell);
    graph->nodes[index].chain = *head;
    *head = index;
}

// The state of this momentum, outside the current branch; or NONE. Equal momenta have keys that differ by at most one: the neighbouring
// cells are searched, too.
static int find_state(const word_graph *graph, const double *momentum) {
    const int64_t cell = cell_of(graph, momentum);
    for (int64_t near = cell - 1; near <= cell + 1; near++)
        for (int s = *bucket_of(graph, near); s != NONE; s = graph->nodes[s].chain)
            if (graph->nodes[s].cell == near && !graph->nodes[s].on_branch &&
                propagative_same(graph->p, graph->momenta + (size_t)s * graph->rank, momentum))
                return s;
    return NONE;
}

// Adds a state at the end of the current branch.
static carom_status add_state(word_graph *graph, const double *momentum, int *index, carom_error *error) {
    if (graph->states == graph->capacity) {
        const int capacity = graph->capacity ? 2 * graph->capacity : FIRST_CAPACITY;
        const size_t room = (size_t)capacity;
        carom_status status = propagative_resize((void **)&graph->nodes, room, sizeof *graph->nodes, error);
        if (!status) status = propagative_resize((void **)&graph->momenta, room * graph->rank, sizeof *graph->momenta, error);
        if (!status) status = propagative_resize((void **)&graph->successor, room * graph->n, sizeof *graph->successor, error);
        if (!status) status = propagative_resize((void **)&graph->branch, room, sizeof *graph->branch, error);
        if (!status) status = propagative_resize((void **)&graph->finished, room, sizeof *graph->finished, error);
        if (!status) status = propagative_resize((void **)&graph->bucket, room, sizeof *graph->bucket, error);
        if (status) return status;
        graph->capacity = graph->buckets = capacity;
        for (int b = 0; b < graph->buckets; b++) graph->bucket[b] = NONE;
        for (int s = 0; s < graph->states; s++) enter_bucket(graph, s);
    }
    // No edges yet.
    const int s = *index = graph->states++;
    memcpy(graph->momenta + (size_t)s * graph->rank, momentum, graph->rank * sizeof *momentum);
    for (size_t i = 0; i < graph->n; i++) graph->successor[(size_t)s * graph->n + i] = NONE;
    graph->nodes[s] = (state){.cell = cell_of(graph, momentum),
                              .on_branch = true,
                              .feasible = propagative_is_feasible(graph->p, momentum),
                              .marginal = propagative_is_marginal(graph->p, momentum),
                              .parent = NONE,
                              .depth = NONE};
    enter_bucket(graph, s);
    return CAROM_OK;
}

// Leaves the last state of the branch for good.
static void leave_state(word_graph *graph, int index) {
    graph->nodes[index].on_branch = false;
    graph->finished[graph->finished_count++] = index;
}

// Makes the graph, depth first from p-, up to the limits.
// @param scratch  [rank]
static carom_status explore(word_graph *graph, double *scratch, carom_error *error) {
    const carom_propagative *p = graph->p;
    int entered, depth = 0;
    carom_status status = add_state(graph, p->momentum, &entered, error);
    if (!status) graph->branch[depth++] = (frame){entered, 0};
    for (int64_t step = 0; !status && depth > 0; step++) {
        if (step % POLL_INTERVAL == 0 && carom_control_cancelled(graph->control)) {
            graph->verdict = CAROM_INTERRUPTED;
            break;
        }
        const int from = graph->branch[depth - 1].state, letter = graph->branch[depth - 1].letter++;
        if (letter == p->mirrors) {
            leave_state(graph, graph->branch[--depth].state);
            continue;
        }
        const double *momentum = graph->momenta + (size_t)from * graph->rank;
        if (!propagative_approaches(p, momentum, letter)) continue;
        // Follows the edge, to a state that is known or a new one.
        memcpy(scratch, momentum, graph->rank * sizeof *scratch);
        propagative_reflect(p, scratch, letter);
        int to = find_state(graph, scratch);
        if (to == NONE) {
            if (graph->states >= graph->limits->max_states || depth - 1 >= graph->limits->max_length) {
                graph->verdict = CAROM_INCOMPLETE;
                continue;
            }
            status = add_state(graph, scratch, &to, error);
            if (status) break;
            graph->branch[depth++] = (frame){to, 0};
        }
        graph->successor[(size_t)from * graph->n + (size_t)letter] = to;
    }
    while (depth > 0) leave_state(graph, graph->branch[--depth].state);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ outcomes

// Counts the words to each state and finds their witnesses. The queue, `finished`, then holds the states in the order of their witnesses.
// @return how many there are
static int number_words(word_graph *graph) {
    // In reversed order of last visits, a state's count is final before it is passed on to its successors.
    graph->nodes[0].count = 1;
    for (int k = graph->finished_count - 1; k >= 0; k--) {
        const state *from = &graph->nodes[graph->finished[k]];
        for (size_t i = 0; i < graph->n; i++) {
            const int s = graph->successor[(size_t)graph->finished[k] * graph->n + i];
            if (s == NONE) continue;
            state *to = &graph->nodes[s];
            to->count = to->count > INT64_MAX - from->count ? INT64_MAX : to->count + from->count;
            if (from->max_length + 1 > to->max_length) to->max_length = from->max_length + 1;
            to->marginal = to->marginal || from->marginal;
        }
    }
    // Breadth first, letters ascending: the first edge that reaches a state is the last letter of its witness.
    int *queue = graph->finished, tail = 0;
    graph->nodes[0].depth = 0;
    queue[tail++] = 0;
    for (int head = 0; head < tail; head++)
        for (size_t i = 0; i < graph->n; i++) {
            const int s = graph->successor[(size_t)queue[head] * graph->n + i];
            if (s == NONE || graph->nodes[s].depth != NONE) continue;
            graph->nodes[s].parent = queue[head];
            graph->nodes[s].letter = (int)i;
            graph->nodes[s].depth = graph->nodes[queue[head]].depth + 1;
            queue[tail++] = s;
        }
    return tail;
}

// Passes a greedy outcome on unless the graph has it, or it was passed on before.
typedef struct latecomer {
    const word_graph *graph;
    carom_elastic_visit visit;
    void *user;
    double *last, *momentum;  // [rank]; `last` is of the previous one
    bool has_last;
} latecomer;

static carom_status pass_on_if_new(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    latecomer *late = user;
    const word_graph *graph = late->graph;
    const carom_propagative *p = graph->p;
    // y = y- + sum_i l_i u_i from the impulses.
    memcpy(late->momentum, p->momentum, graph->rank * sizeof *late->momentum);
    for (size_t i = 0; i < graph->n; i++) {
        const double impulse = outcome->impulse[p->contact_of[i]] * p->length[i];
        for (size_t k = 0; k < graph->rank; k++) late->momentum[k] += impulse * p->unit[i * graph->rank + k];
    }
    const bool known = find_state(graph, late->momentum) != NONE || (late->has_last && propagative_same(p, late->last, late->momentum));
    memcpy(late->last, late->momentum, graph->rank * sizeof *late->last);
    late->has_last = true;
    return known || !propagative_is_feasible(p, late->momentum) ? CAROM_OK : late->visit(late->user, outcome, error);
}

carom_status propagative_enumerate_graph(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                         carom_elastic_visit visit, void *user, carom_verdict *verdict, carom_error *error) {
    word_graph graph = {
        .p = p, .limits = limits, .control = control, .n = (size_t)p->mirrors, .rank = (size_t)p->rank, .verdict = CAROM_COMPLETE};
    carom_arena arena = {0};
    double *scratch = carom_arena_take(&arena, graph.rank, sizeof *scratch), *last = carom_arena_take(&arena, graph.rank, sizeof *last);
    carom_status status = arena.failed ? carom_fail_memory(error, "words") : explore(&graph, scratch, error);

    // Feasible states, in the order of their witnesses. The impulses are those of the witness itself: other words to the same momentum
    // share them only where the normals are independent.
    int *word = NULL;
    const bool one_word_suffices = p->unique && graph.verdict == CAROM_INCOMPLETE;
    const int reached = status || one_word_suffices ? 0 : number_words(&graph);
    if (!status) status = propagative_resize((void **)&word, (size_t)graph.states, sizeof *word, error);
    for (int k = 0; !status && k < reached; k++) {
        const state *end = &graph.nodes[graph.finished[k]];
        if (!end->feasible) continue;
        const carom_elastic_outcome outcome = {
            .count = end->count, .min_length = end->depth, .max_length = end->max_length, .marginal = end->marginal};
        const state *at = end;
        for (int letter = end->depth; letter > 0; at = &graph.nodes[at->parent]) word[--letter] = at->letter;
        status = propagative_hand_on(p, outcome, word, visit, user, error);
    }

    // An enumeration that stopped at a limit still has the outcomes of both greedy orders.
    if (!status && graph.verdict == CAROM_INCOMPLETE && !one_word_suffices) {
        latecomer late = {.graph = &graph, .visit = visit, .user = user, .last = last, .momentum = scratch};
        carom_verdict ignored;
        for (int greedy = 0; greedy < 2 && !status; greedy++) {
            const carom_word_order order = {.kind = greedy == 0 ? CAROM_ORDER_ARGMIN : CAROM_ORDER_ARGMAX};
            status = carom_propagative_follow(p, &order, limits, control, pass_on_if_new, &late, &ignored, error);
        }
    }
    *verdict = graph.verdict;
    free(word);
    free(graph.nodes);
    free(graph.momenta);
    free(graph.successor);
    free(graph.branch);
    free(graph.finished);
    free(graph.bucket);
    carom_arena_free(&arena);
    return status;
}
