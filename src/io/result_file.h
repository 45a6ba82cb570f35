// SPDX-License-Identifier: Apache-2.0
/// @file
/// What pictures and queries need to know of a result file beyond the public reader.
#ifndef CAROM_IO_RESULT_FILE_H
#define CAROM_IO_RESULT_FILE_H

#include "carom/io.h"

CAROM_API_BEGIN

/// True when the outcomes of this law have the column.
bool carom_result_has_column(const carom_result *result, int law, const char *column);

/// The same of any group at the top.
bool carom_result_has_dataset(const carom_result *result, const char *group, const char *name);
/// Reads a real dataset of any group at the top, as carom_result_read_reals does.
carom_status carom_result_read_dataset(const carom_result *result, const char *group, const char *name, double **values, int64_t *rows,
                                       int *width, carom_error *error);

/// True when the law's group, or the group `inner` in it (may be NULL), has the attribute `name` with this text.
bool carom_result_text_is(const carom_result *result, int law, const char *inner, const char *name, const char *text);

CAROM_API_END

#endif
