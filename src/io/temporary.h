// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files that appear whole or not at all: written under a temporary name beside their place, then renamed.
#ifndef CAROM_IO_TEMPORARY_H
#define CAROM_IO_TEMPORARY_H

#include "carom/base.h"

typedef struct carom_temporary {
    char *target;  ///< where the file goes; links to existing files are followed
    char *path;    ///< .NAME.XXXXXXXX beside it; NULL when there is no temporary file (any more)
} carom_temporary;

/// Creates the empty temporary file for `target`, with the mode of an ordinary new file, and opens it for reading and writing.
/// @param descriptor  of the open file, to be closed by the caller
/// @return CAROM_BAD_INPUT when the target exists and is not a regular file (renaming over a device destroys it), CAROM_IO_FAILED
carom_status carom_temporary_create(const char *target, carom_temporary *temporary, int *descriptor, carom_error *error);
/// Gives the file its name.
carom_status carom_temporary_commit(carom_temporary *temporary, carom_error *error);
/// Removes the file unless it was committed, and frees the names. All zero is allowed.
void carom_temporary_discard(carom_temporary *temporary);

#endif
