// SPDX-License-Identifier: Apache-2.0
// One admissible word by an order rule (Seghete & Murphey, section VII-B: most and least violated constraint first).
#include <stdlib.h>
#include <string.h>

#include "propagative/propagative_internal.h"

enum { FIRST_CAPACITY = 64, POLL_INTERVAL = 1024 };

typedef struct walk {
    const carom_propagative *p;
    const carom_word_order *order;
    double *rates, *impulse;  // [mirrors]
    carom_stream stream;
    int64_t position;  // in a given order
    int *word;
    int64_t length, capacity;
    bool marginal;
} walk;

// The extreme rate among approaching letters; `sign` 1 for the smallest, -1 for the largest. The first letter wins ties.
static int extreme_letter(const walk *w, double sign) {
    int best = -1;
    for (int i = 0; i < w->p->mirrors; i++)
        if (propagative_approaches(w->p, w->rates, i) && (best < 0 || sign * w->rates[i] < sign * w->rates[best])) best = i;
    return best;
}

static int random_letter(walk *w) {
    int approaching = 0;
    for (int i = 0; i < w->p->mirrors; i++) approaching += propagative_approaches(w->p, w->rates, i);
    if (!approaching) return -1;
    int skipped = (int)(carom_stream_uniform(&w->stream) * approaching);
    for (int i = 0; i < w->p->mirrors; i++)
        if (propagative_approaches(w->p, w->rates, i) && skipped-- == 0) return i;
    return -1;
}

// The next contact of the list that approaches; -1 after a round without one.
static int given_letter(walk *w) {
    for (int tried = 0; tried < w->order->count; tried++) {
        const int letter = w->p->mirror_of[w->order->list[w->position++ % w->order->count]];
        if (propagative_approaches(w->p, w->rates, letter)) return letter;
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
    w->marginal = propagative_is_marginal(w->p, w->rates);
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
        w->impulse[letter] += propagative_reflect(w->p, w->rates, letter);
        w->marginal = w->marginal || propagative_is_marginal(w->p, w->rates);
        status = append(w, letter, error);
    }
    *verdict = propagative_is_feasible(w->p, w->rates) ? CAROM_COMPLETE : CAROM_INCOMPLETE;
    return status;
}

static carom_status hand_on(walk *w, carom_elastic_visit visit, void *user, carom_error *error) {
    double *impulse = malloc((size_t)w->p->contacts * sizeof *impulse);
    if (!impulse) return carom_fail_memory(error, "word");
    propagative_spread(w->p, w->impulse, impulse);
    propagative_spell(w->p, w->word, w->length);
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
    const size_t n = (size_t)p->mirrors;
    walk w = {.p = p, .order = order, .rates = malloc(n * sizeof(double)), .impulse = calloc(n, sizeof(double))};
    carom_status status = w.rates && w.impulse ? CAROM_OK : carom_fail_memory(error, "word");
    if (!status) {
        memcpy(w.rates, p->start, n * sizeof *w.rates);
        carom_stream_start(&w.stream, order->seed, 0);
        status = run(&w, limits, control, verdict, error);
    }
    if (!status) status = hand_on(&w, visit, user, error);
    free(w.rates);
    free(w.impulse);
    free(w.word);
    return status;
}
