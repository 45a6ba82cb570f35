// SPDX-License-Identifier: Apache-2.0
/// @file
/// SHA-256 digests of results.
#ifndef CAROM_DIGEST_H
#define CAROM_DIGEST_H

#include "carom/status.h"

CAROM_API_BEGIN

enum { CAROM_DIGEST_TEXT_SIZE = 65 };  ///< 64 hexadecimal digits and the end

/// SHA-256 over a sequence of values, little-endian on every machine.
typedef struct carom_digest carom_digest;

carom_status carom_digest_create(carom_digest **digest, carom_error *error);
void carom_digest_add_doubles(carom_digest *digest, const double *values, size_t count);
void carom_digest_add_bytes(carom_digest *digest, const void *bytes, size_t size);
/// Writes the digest of all that was added and starts anew.
void carom_digest_finish(carom_digest *digest, char text[CAROM_DIGEST_TEXT_SIZE]);
void carom_digest_free(carom_digest *digest);

CAROM_API_END

#endif
