// SPDX-License-Identifier: Apache-2.0
/// @file
/// What pictures and polyhedra need to know of a result file beyond the public reader.
#ifndef CAROM_IO_RESULT_FILE_H
#define CAROM_IO_RESULT_FILE_H

#include "carom/io.h"

/// True when the outcomes of this law have the column.
bool carom_result_has_column(const carom_result *result, int law, const char *column);

/// Reads a text of the law's result row. False when there is none of that name.
bool carom_result_read_attribute(const carom_result *result, int law, const char *name, char *text, size_t size);

#endif
