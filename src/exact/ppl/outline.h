// SPDX-License-Identifier: Apache-2.0
/// @file
/// What doubles can say of rational polyhedra. Most questions about two of them have the answer no, and doubles prove it sooner.
#ifndef CAROM_EXACT_PPL_OUTLINE_H
#define CAROM_EXACT_PPL_OUTLINE_H

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>

/// The minimal vertices and constraints of a polyhedron, rounded: every number is within 2^-50 of its size.
typedef struct exact_outline {
    int dimension;
    int vertices, vertex_room;
    int rows, row_room;
    bool bounded;    ///< there are no rays and lines, so that the vertices say it all
    double *vertex;  ///< [vertices x dimension]
    double *row;     ///< [rows x (dimension + 1)] a_1 ... a_d b with a.y + b >= 0, or = 0; the largest of each is between 1/2 and 1
    bool *equality;  ///< [rows]
    int64_t bits;    ///< of the longest number of a vertex, its divisor included
} exact_outline;

void exact_outline_free(exact_outline *outline);
/// Adds the vertex numerators / divisor. False without memory.
bool exact_outline_add_vertex(exact_outline *outline, mpz_t *numerators, const mpz_t divisor);
/// Adds row . y + constant >= 0, or = 0: the row, then the constant. False without memory.
bool exact_outline_add_row(exact_outline *outline, mpz_t *row, bool equality);

/// True proves that some vertex of `other` is not in the polyhedron.
bool exact_outline_lacks(const exact_outline *outline, const exact_outline *other);
/// True proves that the polytope and `other` have no common point.
bool exact_outline_misses(const exact_outline *polytope, const exact_outline *other);
/// True proves that the union of two polytopes is not convex: a segment between a vertex of one and a vertex of the other leaves both.
/// Such a segment exists wherever the union is not convex (Bemporad, Fukuda & Torrisi 2001).
bool exact_outline_parts(const exact_outline *first, const exact_outline *second);

#endif
