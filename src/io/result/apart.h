// SPDX-License-Identifier: Apache-2.0
/// @file
/// A result file that a child process reads with libhdf5, within limits of memory and time: a damaged or hostile file can end the child,
/// and nothing else. The questions and answers are those of stored.h.
#ifndef CAROM_IO_RESULT_APART_H
#define CAROM_IO_RESULT_APART_H

#include "io/result/stored.h"

typedef struct carom_stored_apart carom_stored_apart;

/// @param control  polled while the child is waited for, until the file is closed; may be NULL
/// @return as carom_stored_open; also where the child crashes
carom_status carom_stored_apart_open(const char *path, int64_t file_size, const carom_control *control, carom_stored_apart **apart,
                                     carom_stored_top *top, carom_error *error);
/// Ends the child. NULL is allowed.
void carom_stored_apart_close(carom_stored_apart *apart);
bool carom_stored_apart_has(carom_stored_apart *apart, const char *group, const char *name);
carom_stored_found carom_stored_apart_read(carom_stored_apart *apart, const char *group, const char *name, carom_stored_type type,
                                           void **values, carom_stored_extent *extent);
bool carom_stored_apart_text(carom_stored_apart *apart, const char *group, const char *name, char text[CAROM_STORED_TEXT]);
/// CAROM_OK as long as the child is there, otherwise "PATH: not a carom result file: it is damaged, and libhdf5 crashes on it"; or
/// CAROM_IO_FAILED when the caller asked to stop.
carom_status carom_stored_apart_explain(const carom_stored_apart *apart, carom_error *error);

#endif
