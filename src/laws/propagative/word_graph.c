// SPDX-License-Identifier: Apache-2.0
// All admissible words on the graph of distinct momenta. Six equal balls that all approach have 292,864 words over 720 momenta.
//
// Depth first from p-; an edge reflects an approaching contact, momenta that are equal within the tolerance are one state. Where the cone
// has an interior, <p, c> grows along every edge for a c inside it, so that there are no cycles; merging within a tolerance could make one
// of a reflection shorter than that, and therefore never merges with a state on the current branch. In the order of last visits, reversed,
// every state stands before its successors: one sweep counts the words that reach each. Breadth first, letters ascending, finds the
// shortest word of each state that is first in the order of contacts.
#include <stdlib.h>
#include <string.h>

#include "laws/propagative/propagative_internal.h"

enum { POLL_INTERVAL = 1024, NONE = -1 };

typedef struct state {
    bool feasible, marginal;
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
    size_t n;                   // mirrors
    propagative_places places;  // the momenta of the states
    int capacity;
    state *nodes;     // [capacity]
    bool *on_branch;  // [capacity]
    int *successor;   // [capacity x n], NONE where the letter does not approach or was not tried
    frame *branch;    // [capacity], from p- to the current state
    int *finished;    // [capacity], in the order of last visits; later the queue of the breadth-first search
    int finished_count;
    carom_verdict verdict;
} word_graph;

// -------------------------------------------------------------------------------------------------------------- states

// Adds a state at the end of the current branch.
static carom_status add_state(word_graph *graph, const double *momentum, int *index, carom_error *error) {
    carom_status status = propagative_places_add(&graph->places, momentum, index, error);
    if (!status && graph->capacity < graph->places.capacity) {
        const size_t room = (size_t)graph->places.capacity;
        status = propagative_resize((void **)&graph->nodes, room, sizeof *graph->nodes, error);
        if (!status) status = propagative_resize((void **)&graph->on_branch, room, sizeof *graph->on_branch, error);
        if (!status) status = propagative_resize((void **)&graph->successor, room * graph->n, sizeof *graph->successor, error);
        if (!status) status = propagative_resize((void **)&graph->branch, room, sizeof *graph->branch, error);
        if (!status) status = propagative_resize((void **)&graph->finished, room, sizeof *graph->finished, error);
        if (!status) graph->capacity = graph->places.capacity;
    }
    if (status) return status;
    // No edges yet.
    const int s = *index;
    for (size_t i = 0; i < graph->n; i++) graph->successor[(size_t)s * graph->n + i] = NONE;
    graph->on_branch[s] = true;
    graph->nodes[s] = (state){.feasible = propagative_is_feasible(graph->p, momentum),
                              .marginal = propagative_is_marginal(graph->p, momentum),
                              .parent = NONE,
                              .depth = NONE};
    return CAROM_OK;
}

// Leaves the last state of the branch for good.
static void leave_state(word_graph *graph, int index) {
    graph->on_branch[index] = false;
    graph->finished[graph->finished_count++] = index;
}

// Makes the graph, depth first from p-, up to the limits.
// @param scratch  [rank]
static carom_status explore(word_graph *graph, double *scratch, carom_error *error) {
    const carom_propagative *p = graph->p;
    const size_t rank = (size_t)p->rank;
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
        const double *momentum = graph->places.momenta + (size_t)from * rank;
        if (!propagative_approaches(p, momentum, letter)) continue;
        // Follows the edge, to a state that is known or a new one.
        memcpy(scratch, momentum, rank * sizeof *scratch);
        propagative_reflect(p, scratch, letter);
        int to = propagative_places_find(&graph->places, scratch, graph->on_branch);
        if (to == NONE) {
            if (graph->places.count >= graph->limits->max_states || depth - 1 >= graph->limits->max_length) {
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

carom_status propagative_enumerate_graph(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                         carom_elastic_visit visit, void *user, carom_verdict *verdict, carom_error *error) {
    word_graph graph = {.p = p, .limits = limits, .control = control, .n = (size_t)p->mirrors, .places.p = p, .verdict = CAROM_COMPLETE};
    double *scratch = malloc((size_t)p->rank * sizeof *scratch + 1);
    carom_status status = scratch ? explore(&graph, scratch, error) : carom_fail_memory(error, "words");

    // Feasible states, in the order of their witnesses. The impulses are those of the witness itself: other words to the same momentum
    // share them only where the normals are independent. A graph that stopped at a limit has the words of one corner, those that begin
    // with the first contacts, and hands none of them on.
    int *word = NULL;
    const int reached = status || graph.verdict == CAROM_INCOMPLETE ? 0 : number_words(&graph);
    if (!status) status = propagative_resize((void **)&word, (size_t)graph.places.count, sizeof *word, error);
    for (int k = 0; !status && k < reached; k++) {
        const state *end = &graph.nodes[graph.finished[k]];
        if (!end->feasible) continue;
        const carom_elastic_outcome outcome = {
            .count = end->count, .min_length = end->depth, .max_length = end->max_length, .marginal = end->marginal};
        const state *at = end;
        for (int letter = end->depth; letter > 0; at = &graph.nodes[at->parent]) word[--letter] = at->letter;
        status = propagative_hand_on(p, outcome, word, visit, user, error);
    }
    *verdict = graph.verdict;
    free(scratch);
    free(word);
    free(graph.nodes);
    free(graph.on_branch);
    free(graph.successor);
    free(graph.branch);
    free(graph.finished);
    propagative_places_free(&graph.places);
    return status;
}
