// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of the room share: measurements in kinetic coordinates.
#ifndef CAROM_MEASURE_INTERNAL_H
#define CAROM_MEASURE_INTERNAL_H

#include "carom/dense.h"
#include "carom/measure.h"

/// Directions that stand out of the others by less than this share of the longest are rounding: contacts are redundant in them.
#define MEASURE_RANK 1e-9

/// A measurement in kinetic coordinates y = L'v with M = LL', or another metric in the place of M, in which |v|_M is a length.
typedef struct measure_frame {
    int nv;
    double *factor;          ///< L [nv x nv], lower triangle
    double *before, *after;  ///< [nv] of v- and v+
    double scale;            ///< |v-|_M
    carom_arena arena;
} measure_frame;

/// @param metric  [nv x nv]; NULL: M
carom_status measure_frame_make(const carom_measurement *measurement, const double *metric, measure_frame *frame, carom_error *error);
/// y = L'v.
void measure_whiten(const measure_frame *frame, const double *v, double *y);
/// v = L^-T y, in place allowed.
void measure_unwhiten(const measure_frame *frame, const double *y, double *v);

/// An orthonormal basis of the span of `count` rows [count x nv], which are overwritten, by Gram & Schmidt with exchanges.
/// @param basis  [min(count, nv) x nv]
/// @return the rank
int measure_basis(int count, int nv, double *rows, double *basis);
/// Completes an orthonormal basis of `rank` rows to one of the whole space [nv x nv].
void measure_complete_basis(int rank, int nv, double *basis);

/// What unit impulses along the rows of J do, in kinetic coordinates: rows L' M^-1 J_c' [n x nv].
void measure_responses(const carom_measurement *measurement, const measure_frame *frame, double *rows);
/// The edges of the friction cones in kinetic coordinates: row k is L' M^-1 (Jn_i + mu_i sum_j d_j Jt_ij)' for one of the directions d of
/// the linearised cone. A contact without friction has one.
/// @param responses  of measure_responses
/// @param rows  [contacts * edges x nv]
/// @return their number
int measure_cone_edges(const carom_measurement *measurement, const double *responses, double friction, int edges, double *rows);

/// The end of the walk that is sample `sample` of a law of walks, from another velocity before the impact.
/// @param law    with one value of friction
/// @param found  false for a law whose samples are no walks, and for a walk that did not end
carom_status measure_walk_again(const carom_measure_law *law, const carom_measurement *measurement, int index, int64_t sample,
                                const double *before, double *after, bool *found, carom_error *error);

#endif
