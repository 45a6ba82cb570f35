// SPDX-License-Identifier: Apache-2.0
/// @file
/// What pictures, polyhedra and queries need to know of a result file beyond the public reader.
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

/// Reads a text of the law's result row. False when there is none of that name.
bool carom_result_read_attribute(const carom_result *result, int law, const char *name, char *text, size_t size);

CAROM_API_END

#endif
