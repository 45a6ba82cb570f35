// SPDX-License-Identifier: Apache-2.0
// Momenta by number, found again within the merge tolerance: a hash table of cells.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws/propagative/propagative_internal.h"

enum { FIRST_CAPACITY = 64, NONE = -1 };

static int64_t cell_of(const propagative_places *places, const double *momentum) {
    return (int64_t)floor(propagative_key(places->p, momentum));
}

static int *bucket_of(const propagative_places *places, int64_t cell) {
    // The multiplier of Fibonacci hashing, 2^64 over the golden ratio: neighbouring cells spread over all buckets.
    return &places->bucket[((uint64_t)cell * 0x9E3779B97F4A7C15u >> 32) & (uint64_t)(places->capacity - 1)];
}

static void enter_bucket(propagative_places *places, int index) {
    int *head = bucket_of(places, places->cell[index]);
    places->chain[index] = *head;
    *head = index;
}

int propagative_places_find(const propagative_places *places, const double *momentum, const bool *hidden) {
    if (places->count == 0) return NONE;
    // Equal momenta have keys that differ by at most one: the neighbouring cells are searched, too.
    const int64_t cell = cell_of(places, momentum);
    for (int64_t near = cell - 1; near <= cell + 1; near++)
        for (int s = *bucket_of(places, near); s != NONE; s = places->chain[s])
            if (places->cell[s] == near && !(hidden && hidden[s]) &&
                propagative_same(places->p, places->momenta + (size_t)s * (size_t)places->p->rank, momentum))
                return s;
    return NONE;
}

carom_status propagative_places_add(propagative_places *places, const double *momentum, int *index, carom_error *error) {
    const size_t rank = (size_t)places->p->rank;
    if (places->count == places->capacity) {
        const int capacity = places->capacity ? 2 * places->capacity : FIRST_CAPACITY;
        const size_t room = (size_t)capacity;
        carom_status status = propagative_resize((void **)&places->momenta, room * rank, sizeof *places->momenta, error);
        if (!status) status = propagative_resize((void **)&places->cell, room, sizeof *places->cell, error);
        if (!status) status = propagative_resize((void **)&places->chain, room, sizeof *places->chain, error);
        if (!status) status = propagative_resize((void **)&places->bucket, room, sizeof *places->bucket, error);
        if (status) return status;
        places->capacity = capacity;
        for (int b = 0; b < capacity; b++) places->bucket[b] = NONE;
        for (int s = 0; s < places->count; s++) enter_bucket(places, s);
    }
    const int s = *index = places->count++;
    memcpy(places->momenta + (size_t)s * rank, momentum, rank * sizeof *momentum);
    places->cell[s] = cell_of(places, momentum);
    enter_bucket(places, s);
    return CAROM_OK;
}

void propagative_places_free(propagative_places *places) {
    free(places->momenta);
    free(places->cell);
    free(places->chain);
    free(places->bucket);
}
