// SPDX-License-Identifier: Apache-2.0
/// @file
/// Frictional contact problems of other programs: FCLIB's HDF5 files, local (W, q, mu) and global (M, H, f, w, mu), and Siconos' texts. The
/// readers are our own, because those of the programs exit when a file lacks something.
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

/// A global problem: M v = H r + f, u = H'v + b.
typedef struct carom_fclib_global {
    int nv;
    const double *mass;        ///< M [nv x nv]
    const double *directions;  ///< H [nv x n]
    const double *force;       ///< f [nv]
    const double *shift;       ///< b [n], which FCLIB calls w
} carom_fclib_global;

/// Makes W = H' M^-1 H and q = H' M^-1 f + b; sizes and friction of the problem are there.
/// @param path  named in errors
/// @return CAROM_BAD_INPUT for M that is not positive definite
carom_status carom_fclib_reduce(const char *path, const carom_fclib_global *global, carom_fclib_problem *problem, carom_error *error);

/// Reads a problem of any kind: the first bytes tell.
/// @param bytes  NUL follows them
carom_status carom_contact_file_parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error);

/// The text starts with a number, as those of Siconos do.
bool carom_siconos_is_text(const char *text);
/// Reads a text that Siconos wrote of a friction-contact problem, local or global, with dense or block matrices.
carom_status carom_siconos_parse(const char *path, const char *text, carom_fclib_problem *problem, carom_error *error);
/// Reads such a text of a linear complementarity problem; W [n x n] and w [n] are the caller's to free, also where this fails.
carom_status carom_siconos_parse_lcp(const char *path, const char *text, int *n, double **W, double **w, carom_error *error);
/// The text is of a linear complementarity problem: its size stands before its matrix, and no dimension.
bool carom_siconos_is_lcp(const char *text);

/// The bytes start as an HDF5 file does.
bool carom_fclib_is_hdf5(const char *bytes, size_t size);

/// Reads the problem of an HDF5 file in memory, and makes a global one local. Shapes and indices are checked; numbers are left to the
/// impact. A child process tries the file first: libhdf5 crashes on some damaged ones.
/// @param path  named in errors
/// @return CAROM_BAD_INPUT with the path
carom_status carom_fclib_parse(const char *path, const char *bytes, size_t size, carom_fclib_problem *problem, carom_error *error);
/// Frees the arrays. All zero is allowed.
void carom_fclib_problem_release(carom_fclib_problem *problem);

#endif
