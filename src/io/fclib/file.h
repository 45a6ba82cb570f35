// SPDX-License-Identifier: Apache-2.0
/// @file
/// FCLIB local problems: W (sparse), q, mu. The reader is our own, because FCLIB's exits when a file lacks something.
#ifndef CAROM_IO_FCLIB_FILE_H
#define CAROM_IO_FCLIB_FILE_H

#include "carom/impact.h"

/// FCLIB's marks of storage in `nz`; a triplet matrix has its number of entries there.
enum { CAROM_FCLIB_COMPRESSED_COLUMNS = -1, CAROM_FCLIB_COMPRESSED_ROWS = -2 };

/// What a file holds, in its order: per contact the normal, then the tangents. n = contacts (1 + tangent_dim).
typedef struct carom_fclib_problem {
    int contacts, tangent_dim;
    double *delassus;  ///< W [n x n], as it is written: often not quite symmetric
    double *velocity;  ///< q [n]
    double *friction;  ///< mu [contacts]
} carom_fclib_problem;

/// The bytes start as an HDF5 file does.
bool carom_fclib_is_hdf5(const char *bytes, size_t size);

/// Reads the local problem of an HDF5 file in memory. Shapes and indices are checked; numbers are left to the impact. A child process tries
/// the file first: libhdf5 crashes on some damaged ones.
/// @param path  named in errors
/// @return CAROM_BAD_INPUT with the path
carom_status carom_fclib_parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error);
/// Frees the arrays. All zero is allowed.
void carom_fclib_problem_release(carom_fclib_problem *problem);

#endif
