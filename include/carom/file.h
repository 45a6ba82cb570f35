// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files that are read: one way of opening them.
#ifndef CAROM_FILE_H
#define CAROM_FILE_H

#include <stdio.h>

#include "carom/status.h"

CAROM_API_BEGIN

/// More than any text that a person or a program writes for carom [bytes].
enum { CAROM_MAX_FILE_SIZE = 64 << 20 };

/// Opens a regular file, or under /dev and /proc a device or a pipe of the shell, as /dev/stdin. Does not wait for anything else.
/// @return CAROM_IO_FAILED, also for a directory; CAROM_BAD_INPUT for what is not a regular file
carom_status carom_file_open(const char *path, FILE **file, carom_error *error);

/// Reads a whole file of at most `most` bytes, and puts NUL after them; `*bytes` is freed by the caller.
/// @return as carom_file_open; CAROM_BAD_INPUT when it is too large
carom_status carom_file_read(const char *path, size_t most, char **bytes, size_t *size, carom_error *error);

CAROM_API_END

#endif
