// SPDX-License-Identifier: Apache-2.0
// Lists of near pairs of spheres, remade only when some body has moved through half of the skin.
#include "dynamics/rodrigues/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/vector3.h"

// Skin of a list that is made for contacts alone, relative to the largest radius: with more the list holds more pairs, with less it is made
// more often.
#define LEAST_SKIN 0.6
// For bodies on the move the skin is so wide that a list lasts for about this many moves.
#define MOVES_PER_LIST 4
// Coordinates of cells are clipped to this size, so that they stay whole numbers in a double.
#define FURTHEST_CELL 4503599627370496.0

carom_status rodrigues_neighbours_create(int bodies, rodrigues_neighbours *list, carom_error *error) {
    const size_t n = (size_t)bodies;
    *list = (rodrigues_neighbours){.bodies = bodies, .buckets = 1};
    while (list->buckets < bodies) list->buckets *= 2;
    list->built = carom_arena_take(&list->memory, 3 * n, sizeof *list->built);
    list->start = carom_arena_take(&list->memory, n + 1, sizeof *list->start);
    list->cell = carom_arena_take(&list->memory, 3 * n, sizeof *list->cell);
    list->bucket = carom_arena_take(&list->memory, (size_t)list->buckets + 1, sizeof *list->bucket);
    list->sorted = carom_arena_take(&list->memory, n, sizeof *list->sorted);
    list->bucket_of = carom_arena_take(&list->memory, n, sizeof *list->bucket_of);
    return list->memory.failed ? carom_fail_memory(error, "neighbours") : CAROM_OK;
}

void rodrigues_neighbours_release(rodrigues_neighbours *list) {
    free(list->second);
    carom_arena_free(&list->memory);
    *list = (rodrigues_neighbours){0};
}

// The bucket of a cell, with the multipliers of Teschner et al. 2003.
static int hash(const rodrigues_neighbours *list, const int64_t cell[3]) {
    const uint64_t mixed = (uint64_t)cell[0] * 73856093u ^ (uint64_t)cell[1] * 19349663u ^ (uint64_t)cell[2] * 83492791u;
    return (int)((mixed ^ mixed >> 17) & (uint64_t)(list->buckets - 1));
}

// Sorts bodies by buckets, in the order of their indices within each: a counting sort.
static void sort_into_cells(rodrigues_neighbours *list, const double *positions, double size) {
    // bucket[b + 1] counts the bodies of bucket b, then holds the end of its bodies.
    memset(list->bucket, 0, ((size_t)list->buckets + 1) * sizeof *list->bucket);
    for (int i = 0; i < list->bodies; i++) {
        for (int k = 0; k < 3; k++)
            list->cell[3 * i + k] = (int64_t)fmax(-FURTHEST_CELL, fmin(FURTHEST_CELL, floor(positions[3 * i + k] / size)));
        list->bucket_of[i] = hash(list, list->cell + 3 * i);
        list->bucket[list->bucket_of[i] + 1]++;
    }
    for (int b = 0; b < list->buckets; b++) list->bucket[b + 1] += list->bucket[b];
    // Filling each bucket from its end leaves bucket[b + 1] at the start of its bodies.
    for (int i = list->bodies - 1; i >= 0; i--) list->sorted[--list->bucket[list->bucket_of[i] + 1]] = i;
    for (int b = 0; b < list->buckets; b++) list->bucket[b] = list->bucket[b + 1];
    list->bucket[list->buckets] = list->bodies;
}

bool rodrigues_neighbours_update(rodrigues_neighbours *list, const double *positions, const double *radii, double reach) {
    // The list still serves while twice the furthest move is within the skin: two bodies may each have moved that far.
    double furthest = 0, largest = 0;
    for (int i = 0; i < list->bodies && list->generation; i++) {
        const double *from = list->built + 3 * i, *to = positions + 3 * i;
        const double moved[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
        furthest = fmax(furthest, carom_dot3(moved, moved));
    }
    if (list->generation && 2 * (sqrt(furthest) + reach) <= list->skin) return true;

    for (int i = 0; i < list->bodies; i++) largest = fmax(largest, radii[i]);
    list->skin = fmax(LEAST_SKIN * largest, 2 * MOVES_PER_LIST * reach);
    // Bodies without size and motion never meet.
    if (!(2 * largest + list->skin > 0)) list->skin = 1;
    // A cell is as wide as the largest range of a pair: the partners of a body are in its own cell and the 26 around it.
    sort_into_cells(list, positions, 2 * largest + list->skin);
    int64_t pairs = 0;
    for (int i = 0; i < list->bodies; i++) {
        list->start[i] = pairs;
        for (int near = 0; near < 27; near++) {
            const int64_t *own = list->cell + 3 * i;
            const int64_t cell[3] = {own[0] + near % 3 - 1, own[1] + near / 3 % 3 - 1, own[2] + near / 9 - 1};
            const int b = hash(list, cell);
            for (int k = list->bucket[b]; k < list->bucket[b + 1]; k++) {
                // Every pair is found once, from its lower index; other cells may share the bucket.
                const int j = list->sorted[k];
                if (j <= i || memcmp(list->cell + 3 * j, cell, sizeof cell) != 0) continue;
                double between[3];
                for (int d = 0; d < 3; d++) between[d] = positions[3 * i + d] - positions[3 * j + d];
                const double range = radii[i] + radii[j] + list->skin;
                if (!(carom_dot3(between, between) < range * range)) continue;
                if (pairs == list->capacity) {
                    const int64_t capacity = 2 * list->capacity + 8 * (int64_t)list->bodies;
                    int *grown = realloc(list->second, (size_t)capacity * sizeof *grown);
                    if (!grown) return false;
                    list->second = grown;
                    list->capacity = capacity;
                }
                // In order: sums of forces then depend neither on cells nor on when the list was made.
                int64_t place = pairs++;
                for (; place > list->start[i] && list->second[place - 1] > j; place--) list->second[place] = list->second[place - 1];
                list->second[place] = j;
            }
        }
    }
    list->start[list->bodies] = pairs;
    list->generation++;
    memcpy(list->built, positions, 3 * (size_t)list->bodies * sizeof *positions);
    return true;
}
