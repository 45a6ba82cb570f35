// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables as HDF5 datasets, one for each column, that grow by blocks of rows. See docs/results.md for the layout.
#ifndef CAROM_IO_HDF5_COLUMNS_H
#define CAROM_IO_HDF5_COLUMNS_H

#include "io/hdf5/support.h"

/// The open datasets of a table's columns.
typedef struct carom_result_columns carom_result_columns;

/// Creates the datasets in `group`. `first` is the first block of rows, `last` says that it is the only one: chunks then have just its
/// size.
/// @return NULL when a dataset could not be created
carom_result_columns *carom_result_columns_create(hid_t group, const carom_table *first, bool last);
bool carom_result_columns_append(carom_result_columns *columns, const carom_table *rows);
/// Closes the datasets, which writes what HDF5 still holds, and frees. NULL is allowed.
bool carom_result_columns_close(carom_result_columns *columns);

/// Writes one column of a table as a dataset of its own.
bool carom_result_column_write(hid_t group, const carom_table *rows, int index);

/// True for columns that hold a single number or text in each row.
bool carom_result_column_is_scalar(const carom_column *column);

/// Bytes that the rows take, about.
int64_t carom_result_columns_size(const carom_table *rows);

#endif
