// SPDX-License-Identifier: Apache-2.0
// Arenas: every array is an allocation of its own, so that sanitizers see its ends, and a list remembers them all.
#include "carom/arena.h"

#include <stdalign.h>
#include <stdlib.h>

struct carom_arena_block {
    struct carom_arena_block *before;
    alignas(max_align_t) unsigned char bytes[];
};

void *carom_arena_take(carom_arena *arena, size_t count, size_t size) {
    const size_t header = sizeof(struct carom_arena_block);
    const bool fits = size == 0 || count <= (SIZE_MAX - header) / size;
    struct carom_arena_block *block = fits ? calloc(1, header + count * size) : NULL;
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    block->before = arena->last;
    arena->last = block;
    return block->bytes;
}

void carom_arena_free(carom_arena *arena) {
    while (arena->last) {
        struct carom_arena_block *block = arena->last;
        arena->last = block->before;
        free(block);
    }
    arena->failed = false;
}
