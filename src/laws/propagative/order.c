// SPDX-License-Identifier: Apache-2.0
// One admissible word by an order rule (Seghete & Murphey, section VII-B: most and least violated constraint first).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "laws/propagative/propagative_internal.h"

enum { FIRST_CAPACITY = 64, POLL_INTERVAL = 1024, NONE = -1 };

// The approaching letter whose turn it is; NONE when no letter approaches, or none of a given list.
// @param stream    of a random order
// @param position  in a given list, moved on
// @param rates     [mirrors], scratch
static int choose_letter(const carom_propagative *p, const carom_word_order *order, const double *momentum, carom_stream *stream,
                         int64_t *position, double *rates) {
    int approaching = 0;
    switch (order->kind) {
    case CAROM_ORDER_ARGMIN:
    case CAROM_ORDER_ARGMAX:
        // The extreme rate among approaching letters. Momenta within the merge tolerance are one, so the rates of one momentum that differ
        // by no more are equal: the first letter among them comes first.
        for (int i = 0; i < p->mirrors; i++) {
            const double rate = propagative_rate(p, momentum, i);
            rates[i] = !propagative_approaches(p, momentum, i) ? INFINITY : order->kind == CAROM_ORDER_ARGMIN ? rate : -rate;
        }
        return carom_first_least(p->mirrors, rates, CAROM_WORD_MERGE_TOLERANCE * p->scale);
    case CAROM_ORDER_FIRST:
        for (int i = 0; i < p->mirrors; i++)
            if (propagative_approaches(p, momentum, i)) return i;
        return NONE;
    case CAROM_ORDER_RANDOM:
        for (int i = 0; i < p->mirrors; i++) approaching += propagative_approaches(p, momentum, i);
        // Each of them as likely, by how many are skipped.
        if (!approaching) return NONE;
        for (int i = 0, skipped = (int)(carom_stream_uniform(stream) * approaching); i < p->mirrors; i++)
            if (propagative_approaches(p, momentum, i) && skipped-- == 0) return i;
        return NONE;
    case CAROM_ORDER_GIVEN:
        // One round through the list at most.
        for (int tried = 0; tried < order->count; tried++) {
            const int letter = p->mirror_of[order->list[(*position)++ % order->count]];
            if (propagative_approaches(p, momentum, letter)) return letter;
        }
        return NONE;
    }
    return NONE;
}

carom_status propagative_spell(const carom_propagative *p, const carom_word_order *order, const carom_word_limits *limits,
                               const carom_control *control, carom_elastic_outcome *outcome, int **word, carom_verdict *verdict,
                               carom_error *error) {
    *verdict = CAROM_INCOMPLETE;
    *word = NULL;
    // A list names contacts that exist.
    for (int i = 0; i < order->count; i++)
        if (order->list[i] < 0 || order->list[i] >= p->contacts)
            return carom_fail(error, CAROM_BAD_INPUT, "order: contact number %d does not exist", order->list[i]);
    carom_arena arena = {0};
    double *momentum = carom_arena_take(&arena, (size_t)p->rank, sizeof *momentum);
    double *rates = carom_arena_take(&arena, (size_t)p->mirrors, sizeof *rates);
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "word");
    }
    memcpy(momentum, p->momentum, (size_t)p->rank * sizeof *momentum);
    carom_stream stream;
    carom_stream_start(&stream, order->seed, order->index);

    // Letter after letter, until none is left, or a limit is reached.
    carom_status status = CAROM_OK;
    bool marginal = propagative_is_marginal(p, momentum), stopped = false;
    int64_t length = 0, capacity = 0, position = 0;
    for (int letter; !status && (letter = choose_letter(p, order, momentum, &stream, &position, rates)) != NONE;) {
        stopped = length == limits->max_length || (length % POLL_INTERVAL == 0 && carom_control_cancelled(control));
        if (stopped) break;
        propagative_reflect(p, momentum, letter);
        marginal = marginal || propagative_is_marginal(p, momentum);
        if (length == capacity) {
            capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
            status = propagative_resize((void **)word, (size_t)capacity, sizeof **word, error);
        }
        if (!status) (*word)[length++] = letter;
    }
    if (stopped)
        *verdict = length == limits->max_length ? CAROM_BUDGET_SPENT : CAROM_INTERRUPTED;
    else if (propagative_is_feasible(p, momentum))
        *verdict = CAROM_COMPLETE;
    *outcome = (carom_elastic_outcome){.count = 1, .min_length = length, .max_length = length, .marginal = marginal};
    carom_arena_free(&arena);
    return status;
}

carom_status carom_propagative_follow(const carom_propagative *p, const carom_word_order *order, const carom_word_limits *limits,
                                      const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                      carom_error *error) {
    carom_elastic_outcome outcome;
    int *word;
    // The word so far is handed on in any case.
    carom_status status = propagative_spell(p, order, limits, control, &outcome, &word, verdict, error);
    if (!status) status = propagative_hand_on(p, outcome, word, visit, user, error);
    free(word);
    return status;
}
