// SPDX-License-Identifier: Apache-2.0
// Where the admissible words are too many to enumerate: both greedy orders and random ones, each of which ends at an outcome of the set.
// What they do not reach is not known, so that all of it is a lower bound.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "laws/propagative/propagative_internal.h"

// Operations that all pairs of outcomes may cost; beyond, a few long ways from one to the farthest of the others are a lower bound.
#define MOST_PAIR_OPERATIONS 1e8
enum { FARTHEST_TRIED = 32 };

// An outcome: how many orders end there, and its witness, the shortest word among them, the first in the order of contacts.
typedef struct ending {
    int64_t count, min_length, max_length;
    int *word;
    bool marginal;
    int place;
} ending;

static bool word_precedes(const int *a, int64_t a_length, const int *b, int64_t b_length) {
    if (a_length != b_length) return a_length < b_length;
    for (int64_t k = 0; k < a_length; k++)
        if (a[k] != b[k]) return a[k] < b[k];
    return false;
}

static int compare_endings(const void *a, const void *b) {
    const ending *x = a, *y = b;
    if (word_precedes(x->word, x->min_length, y->word, y->min_length)) return -1;
    return word_precedes(y->word, y->min_length, x->word, x->min_length);
}

carom_status propagative_sample_orders(const carom_propagative *p, const carom_word_limits *limits, const carom_control *control,
                                       carom_elastic_visit visit, void *user, carom_verdict *verdict, carom_error *error) {
    propagative_places places = {.p = p};
    ending *endings = NULL;
    int capacity = 0;
    double *momentum = malloc((size_t)p->rank * sizeof *momentum + 1);
    carom_status status = momentum ? CAROM_OK : carom_fail_memory(error, "words");
    *verdict = CAROM_INCOMPLETE;
    for (int64_t draw = -2; !status && draw < limits->draws; draw++) {
        // The greedy orders come first; a random one draws from its own stream. Words that do not end tell nothing.
        const carom_word_order order = {.kind = draw == -2   ? CAROM_ORDER_ARGMIN
                                                : draw == -1 ? CAROM_ORDER_ARGMAX
                                                             : CAROM_ORDER_RANDOM,
                                        .seed = limits->seed,
                                        .index = draw < 0 ? 0 : (uint64_t)draw};
        carom_elastic_outcome outcome;
        int *word, place;
        carom_verdict ended;
        status = propagative_spell(p, &order, limits, control, &outcome, &word, &ended, error);
        if (ended == CAROM_INTERRUPTED) *verdict = CAROM_INTERRUPTED;
        if (status || ended != CAROM_COMPLETE) {
            free(word);
            if (*verdict == CAROM_INTERRUPTED) break;
            continue;
        }
        memcpy(momentum, p->momentum, (size_t)p->rank * sizeof *momentum);
        for (int64_t k = 0; k < outcome.min_length; k++) propagative_reflect(p, momentum, word[k]);

        // A new outcome, or one that is known, which keeps the first of its shortest words.
        place = propagative_places_find(&places, momentum, NULL);
        if (place < 0) {
            status = propagative_places_add(&places, momentum, &place, error);
            if (!status && places.capacity > capacity) {
                capacity = places.capacity;
                status = propagative_resize((void **)&endings, (size_t)capacity, sizeof *endings, error);
            }
            if (!status)
                endings[place] = (ending){.min_length = outcome.min_length, .max_length = outcome.max_length, .word = word, .place = place};
            else
                free(word);
        } else if (word_precedes(word, outcome.min_length, endings[place].word, endings[place].min_length)) {
            free(endings[place].word);
            endings[place].word = word;
            endings[place].min_length = outcome.min_length;
        } else {
            free(word);
        }
        if (status) break;
        ending *end = &endings[place];
        end->count++;
        if (outcome.max_length > end->max_length) end->max_length = outcome.max_length;
        end->marginal = end->marginal || outcome.marginal;
    }

    // In the order of their witnesses, whatever the draws were.
    const int count = endings ? places.count : 0;
    if (count && !status) qsort(endings, (size_t)count, sizeof *endings, compare_endings);
    for (int e = 0; e < count; e++) {
        const carom_elastic_outcome outcome = {.count = endings[e].count,
                                               .min_length = endings[e].min_length,
                                               .max_length = endings[e].max_length,
                                               .marginal = endings[e].marginal};
        if (!status) status = propagative_hand_on(p, outcome, endings[e].word, visit, user, error);
        free(endings[e].word);
    }
    free(endings);
    free(momentum);
    propagative_places_free(&places);
    return status;
}

// ------------------------------------------------------------------------------------------------------------------ xi

// Distance of momentum `from` to the farthest of the momenta from `first` on, and which that is. Distances of momenta are kinetic ones.
static double farthest(const propagative_places *places, int from, int first, int *which) {
    const size_t rank = (size_t)places->p->rank;
    const double *origin = places->momenta + (size_t)from * rank;
    double largest = 0;
    for (int i = first; i < places->count; i++) {
        double sum = 0;
        for (size_t k = 0; k < rank; k++) {
            const double apart = places->momenta[(size_t)i * rank + k] - origin[k];
            sum += apart * apart;
        }
        if (sum <= largest) continue;
        largest = sum;
        *which = i;
    }
    return sqrt(largest);
}

double propagative_spread(const propagative_places *places) {
    const double count = places->count;
    double largest = 0;
    int end = 0;
    if (count * count * places->p->rank <= MOST_PAIR_OPERATIONS) {
        for (int i = 0; i < places->count; i++) largest = fmax(largest, farthest(places, i, i + 1, &end));
    } else {
        for (int tried = 0; tried < FARTHEST_TRIED; tried++) {
            // From one to the farthest, and from there on; starts are spread evenly over all.
            const int start = (int)(count / FARTHEST_TRIED * tried);
            farthest(places, start, 0, &end);
            largest = fmax(largest, farthest(places, end, 0, &end));
        }
    }
    return places->p->scale > 0 ? largest / places->p->scale : 0;
}
