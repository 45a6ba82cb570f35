// SPDX-License-Identifier: Apache-2.0
/// @file
/// A complete fan of simplicial cones in contact space that respects all planes of a problem, and planes that are added later.
#ifndef CAROM_EXACT_FAN_FAN_H
#define CAROM_EXACT_FAN_FAN_H

#include "carom/arena.h"
#include "exact/fan/glpk/problem.h"

typedef struct fan_ray {
    mpq_t *y;                     ///< [dimension] at most one, over the units of the coordinates; NULL in a rough fan
    double *real;                 ///< the same in doubles, each within a rounding
    uint64_t positive, negative;  ///< planes of the problem on whose side it lies
} fan_ray;

/// A cone { sum_i w_i ray_i : w >= 0 } of `dimension` independent rays. It knows the weights w of every speed, and of the
/// vertices of the start.
typedef struct fan_simplex {
    int rays[FAN_MOST_DIMENSION];
    mpq_t *weights;  ///< [(speeds + starts) x dimension]; NULL in a rough fan
    double *real;    ///< the same in doubles, each within a rounding
} fan_simplex;

/// A plane through zero.
typedef struct fan_plane {
    mpq_t *h;            ///< [dimension]
    const double *real;  ///< [dimension] of any length
} fan_plane;

/// A rough fan has doubles alone: enough to try a plane, and no proof of anything.
typedef struct fan {
    const fan_problem *problem;
    bool rough;
    int ray_count, ray_capacity, simplex_count, simplex_capacity;
    fan_ray *rays;
    fan_simplex *simplices;
    exact_rationals rationals;
    carom_arena reals;
    bool too_large;  ///< there would be more than its limit of simplices; no more is to be done with it
} fan;

/// Largest number of simplices of a fan: linear programs grow with it.
enum { FAN_MOST_SIMPLICES = 3000 };

/// The fan of all planes of the problem: the orthants of independent planes, with coordinates beside them where the planes do not span, cut
/// by the others in turn. May end as too large.
carom_status fan_create(const fan_problem *problem, fan **made, carom_error *error);
/// A rough copy.
carom_status fan_copy_roughly(const fan *source, fan **copy, carom_error *error);
void fan_free(fan *freed);

/// Cuts every simplex that the plane crosses: the edges that cross it are divided there one by one, each in all simplices that have it.
carom_status fan_insert(fan *cut, const fan_plane *plane, carom_error *error);

/// On which side of a plane each ray lies: signs [rays].
/// @param rough  decide in doubles, where values that are round-off of their terms are zero
void fan_find_sides(const fan *of, const fan_plane *plane, bool rough, signed char *signs);

/// The signs on the inside of a face: those of its rays together.
/// @param mask  bits of the simplex' rays
void fan_face_signs(const fan *of, const fan_simplex *simplex, uint32_t mask, uint64_t *positive, uint64_t *negative);

/// What a simplex has of the start.
typedef enum fan_share {
    FAN_NOTHING,  ///< certainly nothing: some weight is negative at all vertices
    FAN_PART,     ///< perhaps a part
    FAN_ALL,      ///< all of it: no weight of a vertex is negative
} fan_share;
fan_share fan_start_share(const fan *of, const fan_simplex *simplex);

#endif
