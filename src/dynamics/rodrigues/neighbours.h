// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pairs of spheres that are near each other: a list with a skin, made with cells of a hash table, at a cost linear in their number.
#ifndef CAROM_DYNAMICS_RODRIGUES_NEIGHBOURS_H
#define CAROM_DYNAMICS_RODRIGUES_NEIGHBOURS_H

#include "carom/arena.h"
#include "carom/base.h"

/// All zero is an empty list. Pairs of body i are second[start[i]] .. second[start[i + 1] - 1], all above i, in ascending order.
typedef struct rodrigues_neighbours {
    int bodies;
    double skin;         // the list holds every pair whose surfaces were nearer than this
    double *built;       // positions at that time [bodies x 3]
    int64_t *start;      // [bodies + 1]
    int *second;         // [start[bodies]], grown as pairs are found
    int64_t capacity;    // of `second`
    int64_t generation;  // counts the lists made
    int64_t *cell;       // [bodies x 3]
    int buckets;         // of the hash table: a power of two
    int *bucket;         // bucket b holds bodies sorted[bucket[b]] .. sorted[bucket[b + 1] - 1]
    int *sorted;
    int *bucket_of;      // [bodies]
    carom_arena memory;  // of all arrays but `second`
} rodrigues_neighbours;

carom_status rodrigues_neighbours_create(int bodies, rodrigues_neighbours *list, carom_error *error);
void rodrigues_neighbours_release(rodrigues_neighbours *list);

/// Makes sure that every pair which could touch while no body moves by more than `reach` is in the list.
/// @return false when memory is missing
bool rodrigues_neighbours_update(rodrigues_neighbours *list, const double *positions, const double *radii, double reach);

#endif
