// SPDX-License-Identifier: Apache-2.0
// Arenas: every array is an allocation of its own, so that sanitizers see its ends, and a list remembers them all.
#include "carom/arena.h"

#include <stdlib.h>
#include <string.h>

// A cache line stands before each array; it holds the link and keeps the array aligned.
struct carom_arena_block {
    struct carom_arena_block *before;
};

// The header of a block says which block came before.
void *carom_arena_take(carom_arena *arena, size_t count, size_t size) {
    void *block = NULL;
    // count * size and the line before it must not overflow.
    const bool fits = size == 0 || count <= (SIZE_MAX - CAROM_ARENA_ALIGNMENT) / size;
    if (!fits || posix_memalign(&block, CAROM_ARENA_ALIGNMENT, CAROM_ARENA_ALIGNMENT + count * size)) {
        arena->failed = true;
        return NULL;
    }
    memset(block, 0, CAROM_ARENA_ALIGNMENT + count * size);
    ((struct carom_arena_block *)block)->before = arena->last;
    arena->last = block;
    return (char *)block + CAROM_ARENA_ALIGNMENT;
}

// The last block is freed first.
void carom_arena_free(carom_arena *arena) {
    while (arena->last) {
        struct carom_arena_block *block = arena->last;
        arena->last = block->before;
        free(block);
    }
    arena->failed = false;
}
