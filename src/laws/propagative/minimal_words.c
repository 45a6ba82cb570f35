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
typedef struct level {
    int count, capacity, length;
    int *letters;          // [count x length]
    double *momenta;       // [count x n]
    bool *marginal;        // [count]
    size_t *offset;        // [count + 1], of the subsequences of each word, in momenta
    double *subsequences;  // [offset[count] x n], momenta
    size_t subsequence_capacity;
} level;

// One outcome.
typedef struct ending {
    double *momentum;  // [n]
    int *witness;      // [min_length]
    int64_t count;
    int min_length, max_length;
    bool marginal;
} ending;

typedef struct keyed {
    double key;
    int index;
} keyed;

typedef struct search {
    const carom_propagative *p;
    carom_word_set set;
    const carom_word_limits *limits;
    size_t n;  // rank, the size of a momentum
    level now, next;
    ending *endings;
    int ending_count;
    double *fresh, *candidates;  // [n], [candidate_capacity x n]
    keyed *keys;
    size_t candidate_capacity;
    int64_t reflected;  // momenta of subsequences so far
    carom_verdict verdict;
} search;

// ------------------------------------------------------------------------------------------------- momenta of subsequences

static int compare_keys(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Appends the candidates that differ to the momenta of the level; equal ones have keys that differ by at most one.
static carom_status append_distinct(search *s, level *l, size_t candidates, carom_error *error) {
    const size_t first = l->offset[l->count];
    l->offset[l->count + 1] = first;
    if (candidates == 0) return CAROM_OK;
    if ((first + candidates) * s->n > MOST_LEVEL_NUMBERS) {
        s->verdict = CAROM_INCOMPLETE;
        return CAROM_OK;
    }
    if (first + candidates > l->subsequence_capacity) {
        const size_t capacity = 2 * (first + candidates);
        const carom_status status = propagative_resize((void **)&l->subsequences, capacity * s->n, sizeof *l->subsequences, error);
        if (status) return status;
        l->subsequence_capacity = capacity;
    }
    for (size_t c = 0; c < candidates; c++) s->keys[c] = (keyed){propagative_key(s->p, s->candidates + c * s->n), (int)c};
    qsort(s->keys, candidates, sizeof *s->keys, compare_keys);
    size_t end = first;
    for (size_t c = 0, oldest = 0; c < candidates; c++) {
        const double *momentum = s->candidates + (size_t)s->keys[c].index * s->n;
        while (s->keys[oldest].key < s->keys[c].key - 1) oldest++;
        bool known = false;
        for (size_t k = oldest; k < c && !known; k++)
            known = propagative_same(s->p, s->candidates + (size_t)s->keys[k].index * s->n, momentum);
        if (!known) memcpy(l->subsequences + end++ * s->n, momentum, s->n * sizeof *momentum);
    }
    l->offset[l->count + 1] = end;
    return CAROM_OK;
}

// Collects what the word w of the current level and the letter have as proper subsequences. `*minimal` is false when one is feasible.
static carom_status collect(search *s, int w, int letter, size_t *count, bool *minimal, carom_error *error) {
    const size_t first = s->now.offset[w], old = s->now.offset[w + 1] - first;
    const size_t needed = 2 * old + 1;
    if (needed > s->candidate_capacity) {
        carom_status status = propagative_resize((void **)&s->candidates, 2 * needed * s->n, sizeof *s->candidates, error);
        if (!status) status = propagative_resize((void **)&s->keys, 2 * needed, sizeof *s->keys, error);
        if (status) return status;
        s->candidate_capacity = 2 * needed;
    }
    if (old) memcpy(s->candidates, s->now.subsequences + first * s->n, old * s->n * sizeof *s->candidates);
    memcpy(s->candidates + old * s->n, s->now.momenta + (size_t)w * s->n, s->n * sizeof *s->candidates);
    *minimal = true;
    for (size_t k = 0; k < old && *minimal; k++) {
        double *reflected = s->candidates + (old + 1 + k) * s->n;
        memcpy(reflected, s->candidates + k * s->n, s->n * sizeof *reflected);
        propagative_reflect(s->p, reflected, letter);
        *minimal = !propagative_is_feasible(s->p, reflected);
    }
    *count = needed;
    s->reflected += (int64_t)needed;
    if (s->reflected > MOST_MOMENTA) s->verdict = CAROM_INCOMPLETE;
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- words

static carom_status record_ending(search *s, const int *letters, int length, int last, const double *momentum, bool marginal,
                                  carom_error *error) {
    for (int e = 0; e < s->ending_count; e++) {
        ending *known = &s->endings[e];
        if (!propagative_same(s->p, known->momentum, momentum)) continue;
        known->count++;
        known->max_length = length + (last >= 0);
        known->marginal = known->marginal || marginal;
        return CAROM_OK;
    }
    const carom_status status = propagative_resize((void **)&s->endings, (size_t)s->ending_count + 1, sizeof *s->endings, error);
    if (status) return status;
    ending *new = &s->endings[s->ending_count++];
    *new = (ending){.momentum = malloc(s->n * sizeof *momentum),
                    .witness = malloc(((size_t)length + 1) * sizeof *letters),
                    .count = 1,
                    .min_length = length + (last >= 0),
                    .max_length = length + (last >= 0),
                    .marginal = marginal};
    if (!new->momentum || !new->witness) return carom_fail_memory(error, "minimal words");
    memcpy(new->momentum, momentum, s->n * sizeof *momentum);
    if (length) memcpy(new->witness, letters, (size_t)length * sizeof *letters);
    new->witness[length] = last;
    return CAROM_OK;
}

// Adds a live word with the momenta of its subsequences to the level.
static carom_status append_live(search *s, level *l, const int *letters, int last, const double *momentum, bool marginal, size_t candidates,
                                carom_error *error) {
    if (l->count >= s->limits->max_states) {
        s->verdict = CAROM_INCOMPLETE;
        return CAROM_OK;
    }
    carom_status status = CAROM_OK;
    if (l->count == l->capacity) {
        const size_t room = 2 * (size_t)l->capacity + 16;
        status = propagative_resize((void **)&l->letters, room * (size_t)l->length, sizeof *l->letters, error);
        if (!status) status = propagative_resize((void **)&l->momenta, room * s->n, sizeof *l->momenta, error);
        if (!status) status = propagative_resize((void **)&l->marginal, room, sizeof *l->marginal, error);
        if (!status) status = propagative_resize((void **)&l->offset, room + 1, sizeof *l->offset, error);
        if (status) return status;
        l->capacity = (int)room;
    }
    if (l->count == 0) l->offset[0] = 0;
    status = append_distinct(s, l, candidates, error);
    if (status) return status;
    if (l->length) {
        int *word = l->letters + (size_t)l->count * (size_t)l->length;
        if (l->length > 1) memcpy(word, letters, (size_t)(l->length - 1) * sizeof *word);
        word[l->length - 1] = last;
    }
    memcpy(l->momenta + (size_t)l->count * s->n, momentum, s->n * sizeof *momentum);
    l->marginal[l->count++] = marginal;
    return CAROM_OK;
}

static carom_status extend(search *s, int w, int letter, carom_error *error) {
    const int *letters = s->now.letters + (size_t)w * (size_t)s->now.length;
    const double *momentum = s->now.momenta + (size_t)w * s->n;
    if (s->set == CAROM_WORDS_MINIMAL && !propagative_approaches(s->p, momentum, letter)) return CAROM_OK;
    if (s->now.length > 0 && letters[s->now.length - 1] == letter) return CAROM_OK;
    size_t candidates;
    bool minimal;
    const carom_status status = collect(s, w, letter, &candidates, &minimal, error);
    if (status || !minimal) return status;
    memcpy(s->fresh, momentum, s->n * sizeof *momentum);
    propagative_reflect(s->p, s->fresh, letter);
    const bool marginal = s->now.marginal[w] || propagative_is_marginal(s->p, s->fresh);
    if (propagative_is_feasible(s->p, s->fresh)) return record_ending(s, letters, s->now.length, letter, s->fresh, marginal, error);
    return append_live(s, &s->next, letters, letter, s->fresh, marginal, candidates, error);
}

static carom_status start(search *s, carom_error *error) {
    const bool marginal = propagative_is_marginal(s->p, s->p->momentum);
    if (propagative_is_feasible(s->p, s->p->momentum)) return record_ending(s, NULL, 0, -1, s->p->momentum, marginal, error);
    return append_live(s, &s->now, NULL, -1, s->p->momentum, marginal, 0, error);
}

// All words with one letter more.
static carom_status lengthen(search *s, const carom_control *control, carom_error *error) {
    carom_status status = CAROM_OK;
    s->next.length = s->now.length + 1;
    s->next.count = 0;
    for (int w = 0; w < s->now.count && !status; w++) {
        if (w % POLL_INTERVAL == 0 && carom_control_cancelled(control)) s->verdict = CAROM_INTERRUPTED;
        for (int letter = 0; letter < s->p->mirrors && !status && s->verdict == CAROM_COMPLETE; letter++)
            status = extend(s, w, letter, error);
    }
    const level spare = s->now;
    s->now = s->next;
    s->next = spare;
    // The arrays of letters have room by words of the length before: forgetting it lets them grow.
    s->next.capacity = 0;
    return status;
}

// ------------------------------------------------------------------------------------------------------------ outcomes

static carom_status hand_on(const search *s, const ending *end, double *work, carom_elastic_visit visit, void *user, carom_error *error) {
    double *impulse = work, *velocity = impulse + s->p->contacts;
    propagative_spell(s->p, end->witness, end->min_length);
    propagative_replay(s->p, end->witness, end->min_length, velocity, impulse);
    const carom_elastic_outcome outcome = {impulse, end->count, end->min_length, end->max_length, end->witness, end->marginal};
    return visit(user, &outcome, error);
}

static carom_status report(const search *s, carom_elastic_visit visit, void *user, carom_error *error) {
    double *work = malloc(propagative_replay_size(s->p) * sizeof *work);
    if (!work) return carom_fail_memory(error, "minimal words");
    carom_status status = CAROM_OK;
    for (int e = 0; e < s->ending_count && !status; e++) status = hand_on(s, &s->endings[e], work, visit, user, error);
    free(work);
    return status;
}

static void release_level(level *l) {
    free(l->letters);
    free(l->momenta);
    free(l->marginal);
    free(l->offset);
    free(l->subsequences);
}

static void release(search *s) {
    release_level(&s->now);
    release_level(&s->next);
    for (int e = 0; e < s->ending_count; e++) {
        free(s->endings[e].momentum);
        free(s->endings[e].witness);
    }
    free(s->endings);
    free(s->fresh);
    free(s->candidates);
    free(s->keys);
}

carom_status propagative_enumerate_minimal(const carom_propagative *p, carom_word_set set, const carom_word_limits *limits,
                                           const carom_control *control, carom_elastic_visit visit, void *user, carom_verdict *verdict,
                                           carom_error *error) {
    search s = {.p = p, .set = set, .limits = limits, .n = (size_t)p->rank, .verdict = CAROM_COMPLETE};
    s.fresh = malloc(s.n * sizeof *s.fresh);
    carom_status status = s.fresh ? start(&s, error) : carom_fail_memory(error, "minimal words");
    while (!status && s.now.count > 0 && s.verdict == CAROM_COMPLETE) status = lengthen(&s, control, error);
    if (!status) status = report(&s, visit, user, error);
    *verdict = s.verdict;
    release(&s);
    return status;
}
