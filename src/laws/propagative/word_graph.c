// SPDX-License-Identifier: Apache-2.0
// All admissible words on the graph of distinct momenta. Six equal balls that all approach have 292,864 words over 720 momenta.
//
// Depth first from p-; an edge reflects an approaching contact, momenta that are equal within the tolerance are one state. Where the cone
// has an interior, <p, c> grows along every edge for a c inside it, so that there are no cycles; merging within a tolerance could make one
// of a reflection shorter than that, and therefore never merges with a state on the current path. In the order of last visits, reversed,
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
    bool on_path, feasible, marginal;
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
    frame *path;      // [capacity]
    int *finished;    // [capacity], in the order of last visits; later the queue of the breadth-first search
    int finished_count;
    double *scratch;  // [rank]
    carom_verdict verdict;
} word_graph;

// -------------------------------------------------------------------------------------------------------------- states

static int *bucket_of(const word_graph *g, int64_t cell) {
    // The multiplier of Fibonacci hashing, 2^64 over the golden ratio: neighbouring cells spread over all buckets.
    return &g->bucket[((uint64_t)cell * 0x9E3779B97F4A7C15u >> 32) & (uint64_t)(g->buckets - 1)];
}

static void enter_bucket(word_graph *g, int index) {
    int *head = bucket_of(g, g->nodes[index].cell);
    g->nodes[index].chain = *head;
    *head = index;
}

static carom_status grow(word_graph *g, carom_error *error) {
    const int capacity = g->capacity ? 2 * g->capacity : FIRST_CAPACITY;
    const size_t room = (size_t)capacity;
    carom_status status = propagative_resize((void **)&g->nodes, room, sizeof *g->nodes, error);
    if (!status) status = propagative_resize((void **)&g->momenta, room * g->rank, sizeof *g->momenta, error);
    if (!status) status = propagative_resize((void **)&g->successor, room * g->n, sizeof *g->successor, error);
    if (!status) status = propagative_resize((void **)&g->path, room, sizeof *g->path, error);
    if (!status) status = propagative_resize((void **)&g->finished, room, sizeof *g->finished, error);
    if (!status) status = propagative_resize((void **)&g->bucket, room, sizeof *g->bucket, error);
    if (status) return status;
    g->capacity = g->buckets = capacity;
    for (int b = 0; b < g->buckets; b++) g->bucket[b] = NONE;
    for (int s = 0; s < g->states; s++) enter_bucket(g, s);
    return CAROM_OK;
}

// Equal momenta have keys that differ by at most one: the neighbouring cells are searched, too.
static int find_state(const word_graph *g, const double *momentum) {
    const int64_t cell = (int64_t)floor(propagative_key(g->p, momentum));
    for (int64_t near = cell - 1; near <= cell + 1; near++)
        for (int s = *bucket_of(g, near); s != NONE; s = g->nodes[s].chain)
            if (g->nodes[s].cell == near && !g->nodes[s].on_path && propagative_same(g->p, g->momenta + (size_t)s * g->rank, momentum))
                return s;
    return NONE;
}

static carom_status add_state(word_graph *g, const double *momentum, int *index, carom_error *error) {
    const carom_status status = g->states == g->capacity ? grow(g, error) : CAROM_OK;
    if (status) return status;
    const int s = *index = g->states++;
    memcpy(g->momenta + (size_t)s * g->rank, momentum, g->rank * sizeof *momentum);
    for (size_t i = 0; i < g->n; i++) g->successor[(size_t)s * g->n + i] = NONE;
    g->nodes[s] = (state){.cell = (int64_t)floor(propagative_key(g->p, momentum)),
                          .on_path = true,
                          .feasible = propagative_is_feasible(g->p, momentum),
                          .marginal = propagative_is_marginal(g->p, momentum),
                          .parent = NONE,
                          .depth = NONE};
    enter_bucket(g, s);
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------- depth first

// Follows one edge. `*entered` is the state behind it when that is new, else NONE.
static carom_status follow_edge(word_graph *g, int from, int letter, int64_t depth, int *entered, carom_error *error) {
    *entered = NONE;
    memcpy(g->scratch, g->momenta + (size_t)from * g->rank, g->rank * sizeof *g->scratch);
    propagative_reflect(g->p, g->scratch, letter);
    int to = find_state(g, g->scratch);
    if (to == NONE && (g->states >= g->limits->max_states || depth >= g->limits->max_length)) {
        g->verdict = CAROM_INCOMPLETE;
        return CAROM_OK;
    }
    carom_status status = CAROM_OK;
    if (to == NONE) {
        status = add_state(g, g->scratch, &to, error);
        *entered = to;
    }
    if (!status) g->successor[(size_t)from * g->n + (size_t)letter] = to;
    return status;
}

static void leave_state(word_graph *g, int index) {
    g->nodes[index].on_path = false;
    g->finished[g->finished_count++] = index;
}

static carom_status explore(word_graph *g, carom_error *error) {
    int entered;
    carom_status status = add_state(g, g->p->momentum, &entered, error);
    int depth = 0;
    if (!status) g->path[depth++] = (frame){entered, 0};
    for (int64_t step = 0; !status && depth > 0; step++) {
        if (step % POLL_INTERVAL == 0 && carom_control_cancelled(g->control)) {
            g->verdict = CAROM_INTERRUPTED;
            break;
        }
        frame *top = &g->path[depth - 1];
        const int letter = top->letter++;
        if (letter == g->p->mirrors) {
            leave_state(g, g->path[--depth].state);
        } else if (propagative_approaches(g->p, g->momenta + (size_t)top->state * g->rank, letter)) {
            status = follow_edge(g, top->state, letter, depth - 1, &entered, error);
            if (!status && entered != NONE) g->path[depth++] = (frame){entered, 0};
        }
    }
    while (depth > 0) leave_state(g, g->path[--depth].state);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ counting

static int64_t saturating_sum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

static void count_words(word_graph *g) {
    g->nodes[0].count = 1;
    for (int k = g->finished_count - 1; k >= 0; k--) {
        const state *from = &g->nodes[g->finished[k]];
        for (size_t i = 0; i < g->n; i++) {
            const int s = g->successor[(size_t)g->finished[k] * g->n + i];
            if (s == NONE) continue;
            state *to = &g->nodes[s];
            to->count = saturating_sum(to->count, from->count);
            if (from->max_length + 1 > to->max_length) to->max_length = from->max_length + 1;
            to->marginal = to->marginal || from->marginal;
        }
    }
}

// Leaves the states that were reached in the queue, by their witnesses. Returns their number.
static int find_witnesses(word_graph *g) {
    int *queue = g->finished, tail = 0;
    g->nodes[0].depth = 0;
    queue[tail++] = 0;
    for (int head = 0; head < tail; head++)
        for (size_t i = 0; i < g->n; i++) {
            const int s = g->successor[(size_t)queue[head] * g->n + i];
            if (s == NONE || g->nodes[s].depth != NONE) continue;
            g->nodes[s].parent = queue[head];
            g->nodes[s].letter = (int)i;
            g->nodes[s].depth = g->nodes[queue[head]].depth + 1;
            queue[tail++] = s;
        }
    return tail;
}

// ------------------------------------------------------------------------------------------------------------ outcomes

static carom_status hand_on(const word_graph *g, int index, int *word, double *work, carom_elastic_visit visit, void *user,
                            carom_error *error) {
    const state *end = &g->nodes[index];
    double *impulse = work, *velocity = impulse + g->p->contacts;
    for (int s = index, k = end->depth; k > 0; s = g->nodes[s].parent) word[--k] = g->nodes[s].letter;
    propagative_spell(g->p, word, end->depth);
    // Of the witness itself: other words to the same momentum share its impulses only where the normals are independent.
    propagative_replay(g->p, word, end->depth, velocity, impulse);
    const carom_elastic_outcome outcome = {impulse, end->count, end->depth, end->max_length, word, end->marginal};
    return visit(user, &outcome, error);
}

// Passes a greedy outcome on unless the graph has it, or it was passed on before.
typedef struct latecomer {
    const word_graph *g;
    carom_elastic_visit visit;
    void *user;
    double *last, *momentum;  // [rank]; `last` is of the previous one
    bool has_last;
} latecomer;

static carom_status pass_on_if_new(void *user, const carom_elastic_outcome *outcome, carom_error *error) {
    latecomer *late = user;
    const carom_propagative *p = late->g->p;
    memcpy(late->momentum, p->momentum, late->g->rank * sizeof *late->momentum);
    for (size_t i = 0; i < late->g->n; i++) {
        const double impulse = outcome->impulse[p->contact_of[i]] * p->length[i];
        for (size_t k = 0; k < late->g->rank; k++) late->momentum[k] += impulse * p->unit[i * late->g->rank + k];
    }
    const bool known = find_state(late->g, late->momentum) != NONE || (late->has_last && propagative_same(p, late->last, late->momentum));
    memcpy(late->last, late->momentum, late->g->rank * sizeof *late->last);
    late->has_last = true;
    return known || !propagative_is_feasible(p, late->momentum) ? CAROM_OK : late->visit(late->user, outcome, error);
}

// An enumeration that stopped at a limit still has the outcomes of both greedy orders.
static carom_status add_greedy(const word_graph *g, carom_elastic_visit visit, void *user, carom_error *error) {
    double *work = malloc(2 * g->rank * sizeof *work);
    if (!work) return carom_fail_memory(error, "words");
    latecomer late = {.g = g, .visit = visit, .user = user, .last = work, .momentum = work + g->rank};
    carom_verdict verdict;
    const carom_word_order argmin = {.kind = CAROM_ORDER_ARGMIN}, argmax = {.kind = CAROM_ORDER_ARGMAX};
    carom_status status = carom_propagative_follow(g->p, &argmin, g->limits, g->control, pass_on_if_new, &late, &verdict, error);
    if (!status) status = carom_propagative_follow(g->p, &argmax, g->limits, g->control, pass_on_if_new, &late, &verdict, error);
    free(work);
    return status;
}

static carom_status report(word_graph *g, carom_elastic_visit visit, void *user, carom_error *error) {
    count_words(g);
    const int reached = find_witnesses(g);
    int *word = malloc((size_t)g->states * sizeof *word);
    double *work = malloc(propagative_replay_size(g->p) * sizeof *work);
    carom_status status = word && work ? CAROM_OK : carom_fail_memory(error, "words");
    for (int k = 0; !status && k < reached; k++)
        if (g->nodes[g->finished[k]].feasible) status = hand_on(g, g->finished[k], word, work, visit, user, error);
    if (!status && g->verdict == CAROM_INCOMPLETE) status = add_greedy(g, visit, user, error);
    free(word);
    free(work);
    return status;
}

carom_status propagative_enumerate_graph(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                         carom_elastic_visit visit, void *user, carom_verdict *verdict, carom_error *error) {
    word_graph g = {
        .p = p, .limits = limits, .control = control, .n = (size_t)p->mirrors, .rank = (size_t)p->rank, .verdict = CAROM_COMPLETE};
    g.scratch = malloc(g.rank * sizeof *g.scratch);
    carom_status status = g.scratch ? explore(&g, error) : carom_fail_memory(error, "words");
    if (!status) status = report(&g, visit, user, error);
    *verdict = g.verdict;
    free(g.nodes);
    free(g.momenta);
    free(g.successor);
    free(g.path);
    free(g.finished);
    free(g.bucket);
    free(g.scratch);
    return status;
}
