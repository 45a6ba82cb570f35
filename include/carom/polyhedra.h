// SPDX-License-Identifier: Apache-2.0
/// @file
/// Unions of convex polytopes in the space of contact velocities: exact sets of outcomes, and certified bounds of them.
#ifndef CAROM_POLYHEDRA_H
#define CAROM_POLYHEDRA_H

#include "carom/impact.h"

CAROM_API_BEGIN

/// One convex polytope, as the hull of its vertices and as the intersection of half-spaces. Each form describes it alone.
/// Contact velocities u are contact-major (normal, then tangents), n of them.
typedef struct carom_piece {
    int dimension;             ///< of the affine hull: 0 a point, 1 a segment, ...
    int vertices;              ///< at least 1, all of them extreme
    int equalities;            ///< number of rows of `equality`: n - dimension
    int inequalities;          ///< number of rows of `inequality`: one a facet
    double *contact_velocity;  ///< [vertices x n] [m/s]
    double *velocity;          ///< [vertices x nv] the generalised velocities of the same points
    char **exact;              ///< [vertices x n] the contact velocities as "p/q" or "p"; NULL where they were read from a file
    double *equality;          ///< [equalities x (n + 1)] a_1 ... a_n b with a.u + b = 0
    double *inequality;        ///< [inequalities x (n + 1)] a_1 ... a_n b with a.u + b >= 0
} carom_piece;

/// A union of pieces. They may overlap and touch; none lies in another.
typedef struct carom_polyhedra {
    int n;   ///< size of contact space, contacts * (1 + tangent_dim)
    int nv;  ///< generalised velocities
    int count;
    carom_piece *pieces;  ///< [count]
} carom_polyhedra;

carom_status carom_polyhedra_create(int n, int nv, carom_polyhedra **polyhedra, carom_error *error);
/// Frees the pieces with everything in them. NULL is allowed.
void carom_polyhedra_free(carom_polyhedra *polyhedra);

/// Appends a piece of these numbers, zero everywhere, with NULL for each exact text, to be filled by the caller. Texts that the caller
/// puts there come from malloc and belong to the piece.
/// @param piece  valid until the next call
carom_status carom_polyhedra_add(carom_polyhedra *polyhedra, int dimension, int vertices, int equalities, int inequalities,
                                 carom_piece **piece, carom_error *error);

/// In result files, the name of what solutions pass through on their way to an exact set (carom_exact_reached_law).
#define CAROM_REACHED_NAME "halm-posa-exact-reached"

/// Columns of outcomes that are vertices of pieces; they follow the common columns.
typedef enum carom_piece_column {
    CAROM_PIECE_INDEX,          ///< of the piece; its vertices stand together
    CAROM_PIECE_DIMENSION,      ///< of its affine hull
    CAROM_PIECE_EXACT,          ///< the contact velocities as fractions, contact-major, with blanks between them
    CAROM_PIECE_PLANES,         ///< a of a.u + b = 0, for each equality of the piece; on its first vertex
    CAROM_PIECE_PLANE_OFFSETS,  ///< b of the same
    CAROM_PIECE_FACETS,         ///< a of a.u + b >= 0, for each facet of the piece; on its first vertex
    CAROM_PIECE_FACET_OFFSETS,  ///< b of the same
    CAROM_PIECE_COLUMNS
} carom_piece_column;
extern const carom_column carom_piece_columns[CAROM_PIECE_COLUMNS];

CAROM_API_END

#endif
