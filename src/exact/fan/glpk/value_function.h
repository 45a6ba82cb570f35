// SPDX-License-Identifier: Apache-2.0
/// @file
/// Functions that are linear on every simplex of a fan and do not grow along solutions: the best one for a start, by a linear program, and
/// what it proves.
#ifndef CAROM_EXACT_FAN_VALUE_FUNCTION_H
#define CAROM_EXACT_FAN_VALUE_FUNCTION_H

#include "exact/bounding.h"
#include "exact/fan/glpk/fan.h"

/// A face on which speeds must not raise V: a simplex, or a face at which more speeds are active than on the faces that it bounds. There
/// V continues linearly beyond the face, by free values at the other rays of the simplex.
typedef struct fan_piece {
    int simplex;
    uint32_t mask;    ///< bits of the simplex' rays that span the face
    uint64_t speeds;  ///< active on its inside
    int first_free;   ///< of the free values
    bool binds;       ///< `hope` depends on its rows
} fan_piece;

/// Half-spaces that hold all slopes with |slope|_W <= rho: normal . (slope in units) <= rho.
typedef struct slope_cuts {
    int count, capacity;
    int fixed;        ///< the first of them follow from the problem alone: each linear program begins with these
    double *normals;  ///< [count x dimension]
} slope_cuts;

/// The fixed cuts: along what impulses do at each plane, the start, and what changes the functional most, and between these.
/// @return CAROM_INTERNAL, and why only the energy bounds solutions, where W_BB has no factor in doubles; CAROM_OUT_OF_MEMORY
carom_status slope_cuts_create(const fan_problem *problem, slope_cuts *cuts, carom_error *error);
void slope_cuts_release(slope_cuts *cuts);

/// A certificate: V at the rays, free values of the pieces, and the slope c2 that the energy takes over, c.y = (c - c2).y + c2.y. The bound
/// is V(start) + |c2|_W R, if V does not grow along solutions, and V >= (c - c2).y where impacts end.
typedef struct value_function {
    const fan *on;
    int piece_count, free_count;
    fan_piece *pieces;
    double *values;  ///< [rays]
    double *free;    ///< [free_count]
    /// Where the start is a polytope, a linear function above V on each simplex that may hold a part of it: [simplices x dimension] by its
    /// values at the rays; its largest value at a vertex bounds V on the part.
    double *above;
    double slope[FAN_MOST_DIMENSION];
    double estimate;  ///< of the bound, which proves nothing
    double hope;      ///< the linear program's value, with rho for |slope|_W: no more cuts make the estimate less than that
} value_function;

/// Finds the pieces. Values are zero and the slope is c: the bound by energy alone.
carom_status value_function_create(const fan *on, value_function **made, carom_error *error);
void value_function_free(value_function *freed);

/// Finds the best certificate by linear programs: the first one with the fixed cuts, each further one with a cut more than the one before,
/// until |slope|_W <= rho holds nearly.
/// @param rounds  most linear programs; one is tried in any case
/// @param solved  false where the solver gave up: the certificate is that of the energy alone
/// @return CAROM_OUT_OF_MEMORY
carom_status value_function_solve(value_function *function, slope_cuts *cuts, int rounds, const bound_effort *effort, bool *solved,
                                  carom_error *error);

/// An upper bound of c.y after the impact that the certificate proves: residuals of all its rows count at what they may cost, and every sum
/// is bounded together with its rounding. Terminal values are raised first where they are too low.
/// @param path_length  most that the scaled speeds of a solution can add up to (fan_path_length)
double value_function_verify(value_function *function, double path_length);

/// A bound of the length of every solution when each speed has length one over the units: with p.g >= 1 for all scaled speeds g that is
/// p.(end - start) <= 2 R |p|_W. Infinity where no such p was found: forces may cancel.
carom_status fan_path_length(const fan_problem *problem, const bound_effort *effort, double *path_length, carom_error *error);

#endif
