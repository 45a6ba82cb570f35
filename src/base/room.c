// SPDX-License-Identifier: Apache-2.0
// Room in the address space, by a mapping that is undone at once.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "base/room.h"

#include <sys/mman.h>

bool carom_has_room(size_t size) {
    void *const room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room != MAP_FAILED && !munmap(room, size);
}
