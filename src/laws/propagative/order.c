// SPDX-License-Identifier: Apache-2.0
// One admissible word by an order rule (Seghete & Murphey, section VII-B: most and least violated constraint first).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/propagative/propagative_internal.h"

enum { FIRST_CAPACITY = 64, POLL_INTERVAL = 1024 };

typedef struct walk {
    const carom_propagative *p;
    const carom_word_order *order;
    double *momentum;  // [rank]
    carom_stream stream;
    int64_t position;  // in a given order
    int *word;
    int64_t length, capacity;
    bool marginal;
} walk;

// The extreme rate among approaching letters; `sign` 1 for the smallest, -1 for the largest. The first letter wins ties.
static int extreme_letter(const walk *w, double sign) {
    int best = -1;
    double extreme = INFINITY;
    for (int i = 0; i < w->p->mirrors; i++) {
        const double rate = sign * propagative_rate(w->p, w->momentum, i);
        if (!(rate < extreme) || !propagative_approaches(w->p, w->momentum, i)) continue;
        extreme = rate;
        best = i;
    }
    return best;
}

static int random_letter(walk *w) {
    int approaching = 0;
    for (int i = 0; i < w->p->mirrors; i++) approaching += propagative_approaches(w->p, w->momentum, i);
    if (!approaching) return -1;
    int skipped = (int)(carom_stream_uniform(&w->stream) * approaching);
    for (int i = 0; i < w->p->mirrors; i++)
        if (propagative_approaches(w->p, w->momentum, i) && skipped-- == 0) return i;
    return -1;
}

// The next contact of the list that approaches; -1 after a round without one.
static int given_letter(walk *w) {
    for (int tried = 0; tried < w->order->count; tried++) {
        const int letter = w->p->mirror_of[w->order->list[w->position++ % w->order->count]];
        if (propagative_approaches(w->p, w->momentum, letter)) return letter;
    }
    return -1;
}

static int choose_letter(walk *w) {
    switch (w->order->kind) {
    case CAROM_ORDER_ARGMIN: return extreme_letter(w, 1);
    case CAROM_ORDER_ARGMAX: return extreme_letter(w, -1);
    case CAROM_ORDER_RANDOM: return random_letter(w);
    case CAROM_ORDER_GIVEN: return given_letter(w);
    }
    return -1;
}

static carom_status append(walk *w, int letter, carom_error *error) {
    if (w->length == w->capacity) {
        const int64_t capacity = w->capacity ? 2 * w->capacity : FIRST_CAPACITY;
        int *word = realloc(w->word, (size_t)capacity * sizeof *word);
        if (!word) return carom_fail_memory(error, "word");
        w->word = word;
        w->capacity = capacity;
    }
    w->word[w->length++] = letter;
    return CAROM_OK;
}

static carom_status run(walk *w, const carom_word_limits *limits, const carom_control *control, carom_verdict *verdict,
                        carom_error *error) {
    carom_status status = CAROM_OK;
    w->marginal = propagative_is_marginal(w->p, w->momentum);
    int letter;
    while (!status && (letter = choose_letter(w)) >= 0) {
        if (w->length == limits->max_length) {
            *verdict = CAROM_BUDGET_SPENT;
            return CAROM_OK;
        }
        if (w->length % POLL_INTERVAL == 0 && carom_control_cancelled(control)) {
            *verdict = CAROM_INTERRUPTED;
            return CAROM_OK;
        }
        propagative_reflect(w->p, w->momentum, letter);
        w->marginal = w->marginal || propagative_is_marginal(w->p, w->momentum);
        status = append(w, letter, error);
    }
    *verdict = propagative_is_feasible(w->p, w->momentum) ? CAROM_COMPLETE : CAROM_INCOMPLETE;
    return status;
}

static carom_status hand_on(const walk *w, carom_elastic_visit visit, void *user, carom_error *error) {
    double *impulse = malloc(propagative_replay_size(w->p) * sizeof *impulse);
    if (!impulse) return carom_fail_memory(error, "word");
    propagative_spell(w->p, w->word, w->length);
    propagative_replay(w->p, w->word, w->length, impulse + w->p->contacts, impulse);
    const carom_elastic_outcome outcome = {impulse, 1, w->length, w->length, w->word, w->marginal};
    const carom_status status = visit(user, &outcome, error);
    free(impulse);
    return status;
}

carom_status carom_propagative_follow(const carom_propagative *p, const carom_word_order *order, const carom_word_limits *limits,
                                      const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                      carom_error *error) {
    *verdict = CAROM_INCOMPLETE;
    for (int i = 0; i < order->count; i++)
        if (order->list[i] < 0 || order->list[i] >= p->contacts)
            return carom_fail(error, CAROM_BAD_INPUT, "order: contact number %d does not exist", order->list[i]);
    walk w = {.p = p, .order = order, .momentum = malloc((size_t)p->rank * sizeof(double))};
    carom_status status = w.momentum ? CAROM_OK : carom_fail_memory(error, "word");
    if (!status) {
        memcpy(w.momentum, p->momentum, (size_t)p->rank * sizeof *w.momentum);
        carom_stream_start(&w.stream, order->seed, order->index);
        status = run(&w, limits, control, verdict, error);
    }
    if (!status) status = hand_on(&w, visit, user, error);
    free(w.momentum);
    free(w.word);
    return status;
}
