// SPDX-License-Identifier: Apache-2.0
// SHA-256 of results, by nettle.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

#include "carom/base.h"

struct carom_digest {
    struct sha256_ctx context;
};

// SHA-256 of nettle in an opaque type: users of the header need no nettle.
carom_status carom_digest_create(carom_digest **digest, carom_error *error) {
    *digest = malloc(sizeof **digest);
    if (!*digest) return carom_fail_memory(error, "digest");
    sha256_init(&(*digest)->context);
    return CAROM_OK;
}

void carom_digest_add_bytes(carom_digest *digest, const void *bytes, size_t size) { sha256_update(&digest->context, size, bytes); }

void carom_digest_add_doubles(carom_digest *digest, const double *values, size_t count) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    sha256_update(&digest->context, count * sizeof *values, (const uint8_t *)values);
#else
    // Big-endian: every number byte by byte, the least first, so that digests agree between machines.
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        uint8_t little[8];
        for (int byte = 0; byte < 8; byte++) little[byte] = (uint8_t)(bits >> (8 * byte));
        sha256_update(&digest->context, sizeof little, little);
    }
#endif
}

void carom_digest_finish(carom_digest *digest, char text[CAROM_DIGEST_TEXT_SIZE]) {
    uint8_t hash[SHA256_DIGEST_SIZE];
    sha256_digest(&digest->context, sizeof hash, hash);
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

void carom_digest_free(carom_digest *digest) { free(digest); }
