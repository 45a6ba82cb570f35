// SPDX-License-Identifier: Apache-2.0
/// @file
/// Steps with corners, in the plane: contacts that close or change their slip on the way. Eight contacts at once, the same code for several
/// instruction sets, with the same bits. Not installed.
#ifndef CAROM_REACH_CORNERS_H
#define CAROM_REACH_CORNERS_H

#include "carom/box.h"
#include "carom/impact.h"
#include "carom/step.h"

/// One impact, with workspace. Vectors of contact space hold the normal components of all contacts, then the tangential ones.
typedef struct carom_corners {
    const carom_impact *impact;
    int contacts, filled;    ///< contacts, and up to a whole number of CAROM_STEP_LANES
    double rest;             ///< velocities up to this are zero
    double regularisation;   ///< added to W_tt, so that equal tangents have a solution
    const double *nothing;   ///< [contacts] normal impulse that moves no velocity by more than `rest`
    double *u, *end, *du;    ///< [2 filled] contact velocity on the way, at the end of the step, and its rate
    double *left, *weight;   ///< [filled] normal impulse that is still to come, and of that, of contacts that press
    double *mu;              ///< [filled]
    double *response;        ///< [2 filled x 2 filled] W by columns
    double *shares;          ///< [2 filled] of the components with an impulse
    int *columns, *resting;  ///< [2 filled] these components; [contacts] that press at slip zero
    carom_box *friction;     ///< of resting contacts
    double *factor;          ///< [2^contacts x contacts x contacts] Cholesky factors of their W_tt, by their set; NULL with many contacts
    bool *has_factor;        ///< [2^contacts]
} carom_corners;

/// Friction of the resting contacts under the rates c->friction->b that the others give them; bit i of `set`: contact i of the first eight.
bool carom_corners_hold(carom_corners *c, size_t set);

/// The solution of the inclusion in which every contact spends the step's normal impulse, evenly over the step, but not before it has
/// closed: does it end where the step ends? It is followed from one change of slip or closure to the next.
typedef bool carom_corners_follow(carom_corners *c, const double *u, const double *impulse, size_t stride);
extern carom_corners_follow carom_corners_follow_scalar, carom_corners_follow_portable;
#if defined(__x86_64__)
extern carom_corners_follow carom_corners_follow_avx2, carom_corners_follow_avx512;
#endif

#endif
