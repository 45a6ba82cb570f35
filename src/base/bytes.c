// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, as bytes.
#include <stdlib.h>
#include <string.h>

#include "carom/base.h"

struct carom_bytes {
    char *data;
    size_t size, capacity;
    size_t taken;  // from the front
};

// Reserved at the start, so that reporting a lack of memory needs no memory.
enum { LEAST_CAPACITY = 4096 };

carom_status carom_bytes_create(carom_bytes **bytes, carom_error *error) {
    *bytes = calloc(1, sizeof **bytes);
    if (*bytes) (*bytes)->data = malloc(LEAST_CAPACITY);
    if (!*bytes || !(*bytes)->data) {
        free(*bytes);
        *bytes = NULL;
        return carom_fail_memory(error, "message");
    }
    (*bytes)->capacity = LEAST_CAPACITY;
    return CAROM_OK;
}

void carom_bytes_free(carom_bytes *bytes) {
    if (!bytes) return;
    free(bytes->data);
    free(bytes);
}

void carom_bytes_clear(carom_bytes *bytes) { bytes->size = bytes->taken = 0; }

// Room for `size` bytes in all, doubled until it is enough. False, with the contents unchanged, when there is no memory.
static bool reserve(carom_bytes *bytes, size_t size) {
    size_t capacity = bytes->capacity;
    while (capacity < size) capacity *= 2;
    if (capacity == bytes->capacity) return true;
    char *moved = realloc(bytes->data, capacity);
    if (!moved) return false;
    bytes->data = moved;
    bytes->capacity = capacity;
    return true;
}

// Bytes are copied as they stand in memory: both sides run the same program on like machines.
carom_status carom_bytes_put(carom_bytes *bytes, const void *values, size_t size, carom_error *error) {
    if (!size) return CAROM_OK;
    if (!reserve(bytes, bytes->size + size)) return carom_fail_memory(error, "message");
    memcpy(bytes->data + bytes->size, values, size);
    bytes->size += size;
    return CAROM_OK;
}

carom_status carom_bytes_take(carom_bytes *bytes, void *values, size_t size, carom_error *error) {
    if (size > bytes->size - bytes->taken) return carom_fail(error, CAROM_INTERNAL, "a message between ranks is too short");
    if (size) memcpy(values, bytes->data + bytes->taken, size);
    bytes->taken += size;
    return CAROM_OK;
}

size_t carom_bytes_left(const carom_bytes *bytes) { return bytes->size - bytes->taken; }

const void *carom_bytes_data(const carom_bytes *bytes, size_t *size) {
    *size = bytes->size;
    return bytes->data;
}

void *carom_bytes_renew(carom_bytes *bytes, size_t size) {
    // What was written before is gone; the caller writes all of the new contents.
    carom_bytes_clear(bytes);
    if (!reserve(bytes, size)) return NULL;
    bytes->size = size;
    return bytes->data;
}
