// SPDX-License-Identifier: Apache-2.0
// Minimal words: no proper subsequence ends at a feasible momentum (Seghete & Murphey, Definition 1). Breadth first. A word is *live* when
// neither it nor a subsequence is feasible; the momenta of its subsequences are kept, merged. Those of the word w with one letter more are
// the ones of w, w itself, and the reflections of the ones of w: when a reflection is feasible, nothing that starts this way is minimal.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/propagative/propagative_internal.h"

// Numbers in the momenta of all subsequences of one level, 32 MiB: their number doubles with each letter unless momenta are equal.
enum { MOST_LEVEL_NUMBERS = 1 << 22, POLL_INTERVAL = 64 };
// Momenta of subsequences in the whole search, a second or two: some literal words go on for very long without growing in number.
enum { MOST_MOMENTA = 1 << 23 };

// Live words of one length.
typedef struct word_level {
    int count, capacity, length;
    int *letters;          // [count x length]
    double *momenta;       // [count x n]
    bool *marginal;        // [count]
    size_t *offset;        // [count + 1], of the subsequences of each word, in momenta
    double *subsequences;  // [offset[count] x n], momenta
    size_t subsequence_capacity;
} word_level;

// One outcome.
typedef struct ending {
    double *momentum;  // [n]
    int *witness;      // [min_length]
    int64_t count;
    int min_length, max_length;
    bool marginal;
} ending;

// A candidate with its key, for sorting.
typedef struct keyed {
    double key;
    int index;
} keyed;

typedef struct word_search {
    const carom_propagative *p;
    carom_word_set set;
    const carom_word_limits *limits;
    size_t n;  // rank, the size of a momentum
    word_level now, next;
    ending *endings;  // in the order in which they are found
    int ending_count;
    double *fresh, *candidates;  // [n], [candidate_capacity x n]
    keyed *keys;
    size_t candidate_capacity;
    int64_t reflected;  // momenta of subsequences so far
    carom_verdict verdict;
} word_search;

// --------------------------------------------------------------------------------------------------------------- words

static int compare_keys(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Counts a word that ends at a feasible momentum: its letters, and the last one unless that is -1.
static carom_status record_ending(word_search *search, const int *letters, int length, int last, const double *momentum, bool marginal,
                                  carom_error *error) {
    // An outcome that is known has one word more, which is not shorter than those before.
    const int whole = length + (last >= 0);
    for (int e = 0; e < search->ending_count; e++) {
        ending *known = &search->endings[e];
        if (!propagative_same(search->p, known->momentum, momentum)) continue;
        known->count++;
        known->max_length = whole;
        known->marginal = known->marginal || marginal;
        return CAROM_OK;
    }
    // A new outcome with its witness.
    const size_t room = (size_t)search->ending_count + 1;
    const carom_status status = propagative_resize((void **)&search->endings, room, sizeof *search->endings, error);
    if (status) return status;
    ending *new = &search->endings[search->ending_count++];
    *new = (ending){.momentum = malloc(search->n * sizeof *momentum),
                    .witness = malloc(((size_t)length + 1) * sizeof *letters),
                    .count = 1,
                    .min_length = whole,
                    .max_length = whole,
                    .marginal = marginal};
    if (!new->momentum || !new->witness) return carom_fail_memory(error, "minimal words");
    memcpy(new->momentum, momentum, search->n * sizeof *momentum);
    if (length) memcpy(new->witness, letters, (size_t)length * sizeof *letters);
    new->witness[length] = last;
    return CAROM_OK;
}

// Adds a live word, the letters and the last one, with those of the candidates that differ as the momenta of its subsequences.
static carom_status append_live(word_search *search, word_level *level, const int *letters, int last, const double *momentum, bool marginal,
                                size_t candidates, carom_error *error) {
    const size_t n = search->n, first = level->count ? level->offset[level->count] : 0;
    if (level->count >= search->limits->max_states || (first + candidates) * n > MOST_LEVEL_NUMBERS) {
        search->verdict = CAROM_INCOMPLETE;
        return CAROM_OK;
    }
    carom_status status = CAROM_OK;
    if (level->count == level->capacity) {
        const size_t room = 2 * (size_t)level->capacity + 16;
        status = propagative_resize((void **)&level->letters, room * (size_t)level->length, sizeof *level->letters, error);
        if (!status) status = propagative_resize((void **)&level->momenta, room * n, sizeof *level->momenta, error);
        if (!status) status = propagative_resize((void **)&level->marginal, room, sizeof *level->marginal, error);
        if (!status) status = propagative_resize((void **)&level->offset, room + 1, sizeof *level->offset, error);
        if (status) return status;
        level->capacity = (int)room;
    }
    if (first + candidates > level->subsequence_capacity) {
        const size_t capacity = 2 * (first + candidates);
        status = propagative_resize((void **)&level->subsequences, capacity * n, sizeof *level->subsequences, error);
        if (status) return status;
        level->subsequence_capacity = capacity;
    }

    // Candidates by ascending keys: equal ones have keys that differ by at most one.
    for (size_t c = 0; c < candidates; c++) search->keys[c] = (keyed){propagative_key(search->p, search->candidates + c * n), (int)c};
    if (candidates) qsort(search->keys, candidates, sizeof *search->keys, compare_keys);
    size_t end = first;
    for (size_t c = 0, oldest = 0; c < candidates; c++) {
        const double *candidate = search->candidates + (size_t)search->keys[c].index * n;
        while (search->keys[oldest].key < search->keys[c].key - 1) oldest++;
        bool known = false;
        for (size_t k = oldest; k < c && !known; k++)
            known = propagative_same(search->p, search->candidates + (size_t)search->keys[k].index * n, candidate);
        if (!known) memcpy(level->subsequences + end++ * n, candidate, n * sizeof *candidate);
    }
    level->offset[level->count] = first;
    level->offset[level->count + 1] = end;

    // The word itself, with its momentum.
    if (level->length) {
        int *word = level->letters + (size_t)level->count * (size_t)level->length;
        if (letters && level->length > 1) memcpy(word, letters, (size_t)(level->length - 1) * sizeof *word);
        word[level->length - 1] = last;
    }
    memcpy(level->momenta + (size_t)level->count * n, momentum, n * sizeof *momentum);
    level->marginal[level->count++] = marginal;
    return CAROM_OK;
}

// The word w of the current level with one letter more: an ending, a live word of the next level, or not minimal.
static carom_status extend(word_search *search, int w, int letter, carom_error *error) {
    const carom_propagative *p = search->p;
    const word_level *now = &search->now;
    const size_t n = search->n;
    const int *letters = now->length ? now->letters + (size_t)w * (size_t)now->length : NULL;
    const double *momentum = now->momenta + (size_t)w * n;
    if (search->set == CAROM_WORDS_MINIMAL && !propagative_approaches(p, momentum, letter)) return CAROM_OK;
    if (now->length > 0 && letters[now->length - 1] == letter) return CAROM_OK;

    // Its proper subsequences: those of w, w itself, and those of w with the letter. None may be feasible.
    const size_t first = now->offset[w], old = now->offset[w + 1] - first, candidates = 2 * old + 1;
    if (candidates > search->candidate_capacity) {
        carom_status status = propagative_resize((void **)&search->candidates, 2 * candidates * n, sizeof *search->candidates, error);
        if (!status) status = propagative_resize((void **)&search->keys, 2 * candidates, sizeof *search->keys, error);
        if (status) return status;
        search->candidate_capacity = 2 * candidates;
    }
    if (old) memcpy(search->candidates, now->subsequences + first * n, old * n * sizeof *search->candidates);
    memcpy(search->candidates + old * n, momentum, n * sizeof *search->candidates);
    bool minimal = true;
    for (size_t k = 0; k < old && minimal; k++) {
        double *reflected = search->candidates + (old + 1 + k) * n;
        memcpy(reflected, search->candidates + k * n, n * sizeof *reflected);
        propagative_reflect(p, reflected, letter);
        minimal = !propagative_is_feasible(p, reflected);
    }
    search->reflected += (int64_t)candidates;
    if (search->reflected > MOST_MOMENTA) search->verdict = CAROM_INCOMPLETE;
    if (!minimal) return CAROM_OK;

    // The word's own momentum decides.
    memcpy(search->fresh, momentum, n * sizeof *momentum);
    propagative_reflect(p, search->fresh, letter);
    const bool marginal = now->marginal[w] || propagative_is_marginal(p, search->fresh);
    if (propagative_is_feasible(p, search->fresh))
        return record_ending(search, letters, now->length, letter, search->fresh, marginal, error);
    return append_live(search, &search->next, letters, letter, search->fresh, marginal, candidates, error);
}

static void free_level(word_level *level) {
    free(level->letters);
    free(level->momenta);
    free(level->marginal);
    free(level->offset);
    free(level->subsequences);
}

carom_status propagative_enumerate_minimal(const carom_propagative *p, carom_word_set set, const carom_word_limits *limits,
                                           const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                           carom_error *error) {
    word_search search = {.p = p, .set = set, .limits = limits, .n = (size_t)p->rank, .verdict = CAROM_COMPLETE};
    carom_arena arena = {0};
    search.fresh = carom_arena_take(&arena, search.n, sizeof *search.fresh);
    carom_status status = arena.failed ? carom_fail_memory(error, "minimal words") : CAROM_OK;

    // The empty word, then all words of one length after those of the length before.
    const bool marginal = propagative_is_marginal(p, p->momentum);
    if (!status && propagative_is_feasible(p, p->momentum))
        status = record_ending(&search, NULL, 0, -1, p->momentum, marginal, error);
    else if (!status)
        status = append_live(&search, &search.now, NULL, -1, p->momentum, marginal, 0, error);
    while (!status && search.now.count > 0 && search.verdict == CAROM_COMPLETE) {
        search.next.length = search.now.length + 1;
        search.next.count = 0;
        for (int w = 0; w < search.now.count && !status; w++) {
            if (w % POLL_INTERVAL == 0 && carom_control_cancelled(control)) search.verdict = CAROM_INTERRUPTED;
            for (int letter = 0; letter < p->mirrors && !status && search.verdict == CAROM_COMPLETE; letter++)
                status = extend(&search, w, letter, error);
        }
        const word_level spare = search.now;
        search.now = search.next;
        search.next = spare;
        // The array of letters has room for words of the length before: forgetting the capacity lets it grow.
        search.next.capacity = 0;
    }

    // Endings were found shorter words first, and those by contacts: in the order of their witnesses.
    const bool one_word_suffices = p->unique && search.verdict == CAROM_INCOMPLETE;
    for (int e = 0; e < search.ending_count; e++) {
        ending *end = &search.endings[e];
        const carom_elastic_outcome outcome = {
            .count = end->count, .min_length = end->min_length, .max_length = end->max_length, .marginal = end->marginal};
        if (!status && !one_word_suffices) status = propagative_hand_on(p, outcome, end->witness, visit, user, error);
        free(end->momentum);
        free(end->witness);
    }
    *verdict = search.verdict;
    free_level(&search.now);
    free_level(&search.next);
    free(search.endings);
    free(search.candidates);
    free(search.keys);
    carom_arena_free(&arena);
    return status;
}
