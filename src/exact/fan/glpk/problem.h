// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a fan is made for: the planes at which the right-hand side of the inclusion changes, the speeds between them, and a linear
/// functional of the outcome. In rational numbers, with contacts in an order that does not depend on how they were given.
#ifndef CAROM_EXACT_FAN_PROBLEM_H
#define CAROM_EXACT_FAN_PROBLEM_H

#include <stdint.h>

#include "carom/functional.h"
#include "exact/ppl/data.h"

/// Signs of planes and sets of speeds are bits of 64.
enum { FAN_MOST_PLANES = 64, FAN_MOST_SPEEDS = 64, FAN_MOST_SECTORS = 12, FAN_MOST_DIMENSION = EXACT_MOST_ROWS, FAN_MOST_STARTS = 64 };

/// One side of a plane: signs with which a row of J is a multiple of it.
typedef struct fan_side {
    int plane;
    int sign;  ///< the row is positive where sign * plane is
} fan_side;

/// A closed cone of slips, between at most two planes, with speeds whose hull holds those of the contact for every slip in it: in the plane
/// one speed for each direction. In space the friction of the slips between two directions p and q lies in the triangle of -mu p, -mu q and
/// the point where the circle's tangents at these meet.
typedef struct fan_sector {
    int side_count;
    fan_side sides[2];  ///< sign * plane >= 0
    uint64_t speeds;    ///< of the contact while its slip is in the sector
} fan_sector;

typedef struct fan_contact {
    fan_side normal;
    int sector_count;
    fan_sector sectors[FAN_MOST_SECTORS];
} fan_contact;

/// Vectors and functionals of the contact space with coordinates y (exact/ppl/data.h).
typedef struct fan_problem {
    int stride;  ///< rows of a contact: 2 in the plane, 3 in space
    int dimension, contacts, plane_count, speed_count;
    fan_contact contact[EXACT_MOST_CONTACTS];
    mpq_t *planes;  ///< [FAN_MOST_PLANES x dimension] normals first
    mpq_t *speeds;  ///< [FAN_MOST_SPEEDS x dimension] dy/ds under a unit normal impulse of one contact and its friction
    int starts;     ///< vertices of the polytope of velocities before the impact; 1: a point
    mpq_t *start;   ///< [starts x dimension] y before the impact
    mpq_t *target;  ///< [dimension] c, the functional of y
    mpq_t *offset;  ///< [starts] of the functional of v at y = 0, where no impulse changes it
    // In doubles
    double *delassus;                      ///< W_BB [dimension x dimension]
    double unit[FAN_MOST_DIMENSION];       ///< sqrt(W_kk) of a coordinate
    double speed_factor[FAN_MOST_SPEEDS];  ///< makes the largest coordinate of a speed about one, over its unit; 0 for a speed of zero
    double extra[FAN_MOST_STARTS];         ///< the offset of a start over that of the first, rounded up
    double energy_radius;                  ///< R >= sqrt(y'(W_BB^-1)y) of all starts, rounded up
    double target_norm;                    ///< about |c|_W = sqrt(c'(W_BB)c); 0 where c is zero, only
    exact_rationals rationals;
} fan_problem;

/// Contacts up to which slips in space have twelve sectors; more contacts have four.
enum { FAN_FINE_CONTACTS = 2 };

/// @param functional  of contact velocities and velocities
carom_status fan_problem_create(const exact_data *data, const carom_functional *functional, fan_problem **problem, carom_error *error);
void fan_problem_free(fan_problem *problem);

/// sum_k functional_k vector_k over the coordinates.
void fan_product(int dimension, mpq_t *functional, mpq_t *vector, mpq_t value, mpq_t scratch);

/// The speeds of the inclusion where the planes have these signs: of each contact that does not open, those of all sectors that hold the
/// slip. 0 where every contact opens or rests: an impact ends there.
uint64_t fan_active_speeds(const fan_problem *problem, uint64_t positive, uint64_t negative);

/// No contact approaches: here impacts end, and starts remain what they are.
bool fan_is_end(const fan_problem *problem, uint64_t positive, uint64_t negative);

#endif
