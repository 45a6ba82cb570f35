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

/// One question to a law about a measured impact.
typedef struct measure_question {
    double friction;             ///< mu of every contact; NaN: each contact's own
    carom_interval restitution;  ///< in place of the option; NaN: that option
    int64_t seed;
    int shares;            ///< among so many questions the samples are divided
    const double *before;  ///< [nv]; NULL: v-
} measure_question;

/// The seed of a law's question `number` about an impact.
int64_t measure_seed(const carom_measure_law *law, int index, int number);
/// The values of mu whose outcomes are united: one, NaN where each contact has its own, or CAROM_MEASURE_FRICTIONS.
int measure_frictions(const carom_measure_law *law, double values[CAROM_MEASURE_FRICTIONS]);
/// Asks, and adds the outcomes to the set.
carom_status measure_ask_once(const carom_measure_law *law, const carom_measurement *measurement, const measure_question *question,
                              const carom_control *control, carom_measure_set *set, carom_error *error);
/// The end of the walk that is sample `sample` of a law of walks.
/// @param found  false for a law whose samples are no walks, and for a walk that did not end
carom_status measure_walk_again(const carom_measure_law *law, const carom_measurement *measurement, const measure_question *question,
                                int64_t sample, double *after, bool *found, carom_error *error);

/// Resamples of the groups that have an impact among chosen ones. Released by freeing the arena.
typedef struct measure_bootstrap {
    const carom_measurements *measurements;
    const int *chosen;  ///< [count]
    int count;
    int *present;  ///< [groups] those with a chosen impact
    int groups;
    double *drawn;  ///< [all groups] how often each was drawn
    carom_arena arena;
} measure_bootstrap;

carom_status measure_bootstrap_begin(measure_bootstrap *bootstrap, const carom_measurements *measurements, const int *chosen, int count,
                                     carom_error *error);
/// Draws as many groups as there are, with replacement.
/// @param weights  [count] receives how often the group of each chosen impact was drawn
void measure_bootstrap_draw(const measure_bootstrap *bootstrap, int64_t seed, int64_t draw, double *weights);

#endif
