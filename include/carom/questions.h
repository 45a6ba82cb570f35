// SPDX-License-Identifier: Apache-2.0
/// @file
/// Questions about the outcomes of a law, as `carom query` asks them: worst cases, containment, distances, areas of hulls. In
/// libcarom-sets.
///
/// Outcomes come from an answer in memory (carom_outcome_set_create) or from a result file (carom_result_set_read of carom/result.h); both
/// give the same bits.
#ifndef CAROM_QUESTIONS_H
#define CAROM_QUESTIONS_H

#include "carom/functional.h"
#include "carom/sets.h"

CAROM_API_BEGIN

enum { CAROM_CERTIFICATE_SIZE = 16 };

/// The outcomes of one law as a set: points, or the vertices of convex pieces where the law has an integer column `piece`, whose rows of
/// one piece follow each other.
typedef struct carom_outcome_set {
    int n, nv;        ///< size of contact space; generalised velocities, 0 for an impact in contact space
    int64_t points;   ///< outcomes
    int64_t pieces;   ///< convex pieces; `points` for laws whose outcomes are single velocities
    double *u;        ///< [points x n] contact velocities, contact-major [m/s]
    double *v;        ///< [points x nv] generalised velocities; NULL for an impact in contact space
    int64_t *starts;  ///< [pieces + 1] first point of each piece
    double *impulse;  ///< [points x n] accumulated impulses, contact-major [N s], NaN where not determined; NULL until they are read
    double *energy;   ///< [points] energy ratios; NULL until they are read
    int64_t *flags;   ///< [points] CAROM_FLAG bits
    const char *law;  ///< its name, borrowed
    bool corners;     ///< only corners of the hulls in planes of contact velocities were kept (`--keep hull`)
    /// What it is of the set of outcomes: "exact", "inner", "outer", "none"; "samples" without pieces
    char certificate[CAROM_CERTIFICATE_SIZE];
} carom_outcome_set;

/// The set of an answer in memory, copied.
/// @param outcomes  table of carom_outcomes_create, with the columns of any law
/// @param result    its result row, where an exact law says what the outcomes are of the set
/// @param law       its name, borrowed as long as the set lives
/// @param corners   only the corners of hulls were kept (carom_corners)
/// @return CAROM_BAD_INPUT where there are no outcomes, or outcomes of an impact of other sizes
carom_status carom_outcome_set_create(const carom_impact *impact, const carom_table *outcomes, const carom_table *result, const char *law,
                                      bool corners, carom_outcome_set *set, carom_error *error);
/// Groups rows into pieces: those that follow each other with the same number in `piece`, which has one for each point; NULL: every point
/// is a piece. Sets `pieces` and `starts`. For those who fill a set themselves.
carom_status carom_outcome_set_group(carom_outcome_set *set, const int64_t *piece, carom_error *error);
void carom_outcome_set_release(carom_outcome_set *set);
/// One outcome of the set.
carom_outcome_point carom_outcome_set_point(const carom_outcome_set *set, int64_t index);
/// What is to be said of numbers of these outcomes where some may lie outside the set: carom_outcomes_caveat of the points.
bool carom_outcome_set_caveat(const carom_outcome_set *set, const carom_impact *impact, char text[CAROM_CAVEAT_SIZE]);

/// Other outcomes, which were not kept, may have more of this functional than those of the set: it has corners in contact velocities alone.
bool carom_outcome_set_omits(const carom_outcome_set *set, const carom_functional *functional);

/// A worst case.
typedef struct carom_maximum {
    double value;
    int64_t point;     ///< the first of the outcomes that have it up to round-off (1e-12 of it)
    const char *unit;  ///< "" where there is none
    bool certified;    ///< no outcome of the law has more: the set is exact
    bool approximate;  ///< that outcome may lie outside the set by O(h) (CAROM_FLAG_APPROXIMATE)
    double inner;      ///< the largest value of an outcome that does not, a lower bound; -INFINITY: none is known (carom_worst_raise)
} carom_maximum;

/// The largest value of a functional. A convex piece attains that of a linear one, and of the energy ratio with a factor of at least 0, at
/// a vertex. Values that are not determined are never the largest.
/// @return CAROM_BAD_INPUT where pieces say nothing about the functional, where the law does not determine it, and for factors that are too
///         large
carom_status carom_outcome_set_maximum(const carom_outcome_set *set, const carom_functional *functional, carom_maximum *maximum,
                                       carom_error *error);

/// Area or volume of the convex hull in the coordinates of `count` linear functionals, 2 to CAROM_HULL_MOST_DIMENSIONS.
/// @param control  polled; may be NULL
/// @param volume   NaN when the caller asked to stop
/// @return as carom_outcome_set_maximum and carom_hull_volume
carom_status carom_outcome_set_hull(const carom_outcome_set *set, int count, const carom_functional *axes, const carom_control *control,
                                    double *volume, carom_error *error);

/// The unit of distances in a metric: "m/s" or "sqrt(J)".
const char *carom_metric_unit(carom_metric_kind kind);
/// That of carom_metric_unreachable for this impact.
const char *carom_metric_unreachable_unit(const carom_impact *impact);

/// A velocity within this share of the impact's speed is in the set: results are read back from text.
#define CAROM_CONTAINED 1e-9

/// Is a velocity in the set, and how far is it from it?
typedef struct carom_containment {
    bool contained;      ///< both lengths are within the tolerance
    double distance;     ///< from the set, in the metric
    double unreachable;  ///< length of the part of v that no contact impulse brings about
    double *u, *v;       ///< [n], [nv of the impact's data], supplied by the caller: the nearest point, and the velocity that has it
} carom_containment;

/// Answers for `count` velocities. In the kinetic metric `distance` has both parts of the distance.
/// @param tolerance  share of the impact's speed before it, in the metric; CAROM_CONTAINED
/// @param v          [count x nv] generalised velocities, or contact velocities in contact space
/// @param control    threads, on which no answer depends; may be NULL
/// @param answers    [count]
/// @param answered   receives the number of velocities, from the first on, that have answers: fewer when the caller asked to stop
/// @return CAROM_BAD_INPUT for velocities that are not finite or too far away, with its index where there are several
/// Cost: of carom_set_create once, and of carom_set_distance for each.
carom_status carom_outcome_set_contain(const carom_outcome_set *set, const carom_impact *impact, carom_metric_kind kind, double tolerance,
                                       int64_t count, const double *v, const carom_control *control, carom_containment *answers,
                                       int64_t *answered, carom_error *error);

/// One-sided Hausdorff distances of two sets a and b, both ways.
typedef struct carom_set_distances {
    double a_to_b, b_to_a;  ///< sup { d(x, b) : x in a }, and the reverse
    double hausdorff;       ///< the larger one
    double gap;             ///< the suprema exceed these values by no more
    bool complete;          ///< false: the caller asked to stop
    /// [n], [nv of the impact's data], supplied by the caller: the point of a farthest from b, that of b farthest from a, and the
    /// velocities that have them.
    double *u[2], *v[2];
} carom_set_distances;

/// In the metric of `impact`, which is that of `a`. Numbers are NaN when the caller asked to stop before the search began.
/// @return CAROM_BAD_INPUT when the contacts differ
carom_status carom_outcome_set_distances(const carom_outcome_set *a, const carom_outcome_set *b, const carom_impact *impact,
                                         carom_metric_kind kind, const carom_cover_options *options, const carom_control *control,
                                         carom_set_distances *distances, carom_error *error);

/// Are two impacts alike, so that their sets are of the same law's answers to the same question? Contacts have the same names, and Delassus
/// operators, contact velocities before the impact, friction and restitution agree within 1e-9 of the largest entry of each.
carom_status carom_impact_resembles(const carom_impact *impact, const carom_impact *other, bool *resembles, carom_error *error);

CAROM_API_END

#endif
