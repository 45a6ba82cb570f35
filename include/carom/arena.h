// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory for the many arrays of one object, freed at once.
#ifndef CAROM_ARENA_H
#define CAROM_ARENA_H

#include "carom/api.h"

CAROM_API_BEGIN

/// Bytes to which arrays are aligned: a cache line, so that kernels load whole vectors.
enum { CAROM_ARENA_ALIGNMENT = 64 };

/// All zero is an empty arena. Not to be shared between threads.
typedef struct carom_arena {
    struct carom_arena_block *last;  ///< of the blocks taken so far, each of which knows the one before
    bool failed;                     ///< some array could not be allocated: ask once, after taking them all
} carom_arena;

/// An array of `count` elements of `size` bytes, all zero, aligned to CAROM_ARENA_ALIGNMENT. NULL, and the arena has failed, when
/// there is no memory or count * size overflows. A count of 0 gives an array that must not be touched.
void *carom_arena_take(carom_arena *arena, size_t count, size_t size);

/// Frees every array and leaves an empty arena.
void carom_arena_free(carom_arena *arena);

CAROM_API_END

#endif
