// SPDX-License-Identifier: Apache-2.0
/// @file
/// Questions about outcome sets, sampled or exact: worst cases, distances, hulls, and how well samples cover a set. In libcarom-sets.
///
/// A set here is a finite union of convex hulls of points: a sampled set is a union of points, an exact one of polytopes. Points stand in
/// coordinates of which the plain Euclidean distance is meant; carom_metric_create makes them from contact velocities.
#ifndef CAROM_SETS_H
#define CAROM_SETS_H

#include "carom/impact.h"

CAROM_API_BEGIN

// --------------------------------------------------------------------------------------------------------------------------------- metrics

/// How the distance of two velocities is measured.
typedef enum carom_metric_kind {
    CAROM_METRIC_EUCLIDEAN,  ///< ||u - u'||_2 over all contact velocities [m/s]
    CAROM_METRIC_KINETIC,    ///< sqrt((v - v')'M(v - v')), whose half square is an energy [sqrt(J)]
} carom_metric_kind;

/// Names of the metrics, NULL-terminated.
extern const char *const carom_metric_names[];

/// Coordinates x = T (u - u0) of contact velocities u, in which a metric is Euclidean. u0 is the pre-impact contact velocity.
typedef struct carom_metric carom_metric;

/// Kinetic: T = (W^+)^(1/2) by the eigenvectors of W; velocities that an impact can reach differ by range(M^-1 J'), on which
/// u'W^+u = v'Mv. Eigenvalues below 1e-12 of the largest count as zero.
carom_status carom_metric_create(const carom_impact *impact, carom_metric_kind kind, carom_metric **metric, carom_error *error);
void carom_metric_free(carom_metric *metric);
/// x = T (u - u0); both [n], and distinct.
void carom_metric_map(const carom_metric *metric, const double *u, double *x);
/// The u of a point x of the image, contact-major.
void carom_metric_unmap(const carom_metric *metric, const double *x, double *u);

/// The generalised velocity with contact velocity u that an impact can reach, v- + M^-1 J' W^+ (u - u0).
/// @param v  [nv]
void carom_metric_velocity(const carom_metric *metric, const double *u, double *v);
/// The kinetic length of the part of v - v- that no contact impulse can bring about [sqrt(J)]. 0 for an impact in contact space, where it
/// is the distance of u - u0 from the range of W [m/s].
double carom_metric_unreachable(const carom_metric *metric, const double *v);

// ------------------------------------------------------------------------------------------------------------------------------------ sets

typedef struct carom_set carom_set;

enum { CAROM_SET_MOST_DIMENSIONS = 64 };

/// The union of the convex hulls of points starts[i] .. starts[i+1]-1, for i in 0..pieces-1. Copies the points.
/// @param dimension  of the points' space, 1 to CAROM_SET_MOST_DIMENSIONS
/// @param starts     [pieces + 1], ascending from 0, every piece with a point; NULL: every one of `pieces` points is a piece
/// @param points     [starts[pieces] x dimension]
/// @return CAROM_BAD_INPUT for sizes out of range, an empty set, or a coordinate that is not finite
/// Cost: O(points log(points)), a tree of boxes for nearest neighbours.
carom_status carom_set_create(int dimension, int64_t pieces, const int64_t *starts, const double *points, carom_set **set,
                              carom_error *error);
void carom_set_free(carom_set *set);
/// Largest distance of a coordinate from its mean over the set's box: the scale of rounding.
double carom_set_extent(const carom_set *set);

/// Support function max { a.x : x in set }, attained at one of the points.
/// @param point  receives the index of the first maximiser
double carom_set_support(const carom_set *set, const double *direction, int64_t *point);

/// Distance of x from the set, 0 inside up to rounding (some 1e-15 of the extent).
/// @param nearest  [dimension] receives the nearest point of the set; may be NULL
/// Cost: O(log(points)) for sampled sets. Thread-safe.
double carom_set_distance(const carom_set *set, const double *x, double *nearest);

/// How far a search for the worst point goes.
typedef struct carom_cover_options {
    double relative_gap;  ///< of pieces of dimension above 2: the search ends when bound - radius is within this share of the radius
    int64_t most_cells;   ///< evaluations of one search
} carom_cover_options;

/// 1 %, two million cells.
carom_cover_options carom_cover_defaults(void);

/// One-sided Hausdorff distance sup { d(x, net) : x in set }: the least eps for which `net` is an eps-net of `set`.
typedef struct carom_cover {
    double radius;     ///< attained at `point`
    double bound;      ///< the supremum is at most this; equal to the radius when it was found exactly, up to rounding
    double *point;     ///< [dimension] of the set, supplied by the caller: the worst covered one
    bool interrupted;  ///< the caller asked to stop; radius and bound hold nevertheless
    int64_t cells;     ///< evaluated
} carom_cover;

/// Branch and bound over simplices of the pieces, bisected at their longest edges. On a simplex the distance from *one* convex piece of the
/// net is largest at a vertex, which bounds the distance from the net from above; its center and vertices bound the supremum from below.
/// Sampled sets and pieces of dimension up to 2 are searched until the bounds agree within 1e-12 of the extent; others as the options say.
/// @return CAROM_BAD_INPUT when the dimensions differ
carom_status carom_set_cover(const carom_set *set, const carom_set *net, const carom_cover_options *options, const carom_control *control,
                             carom_cover *cover, carom_error *error);

// ----------------------------------------------------------------------------------------------------------------------------------- hulls

/// Hulls of many points in more dimensions take Qhull hours.
enum { CAROM_HULL_MOST_DIMENSIONS = 6 };

/// The boundary of a convex hull as simplices of `dimension` points each, in Qhull's order.
typedef struct carom_facets {
    int dimension, count;
    int *corners;      ///< [count x dimension] indices of points
    double *normals;   ///< [count x dimension] outward, of length 1
    bool *mirrored;    ///< [count] its corners have the opposite orientation of those of a facet that is not marked
    bool interrupted;  ///< the caller asked to stop: they are those of the hull of some of the points
} carom_facets;

/// Facets of the convex hull of points that span their space.
/// @param points  [count x dimension], of the order of 1 where flatness matters: Qhull's tolerances do not scale with the set
/// @param control  polled; may be NULL
/// @param arena   receives the arrays of `facets`
/// @return CAROM_INTERNAL when Qhull fails, as on flat sets
carom_status carom_hull_facets(int dimension, int count, const double *points, const carom_control *control, carom_arena *arena,
                               carom_facets *facets, carom_error *error);

/// Volume of the convex hull of points in `dimension` coordinates: length, area, volume, ...; 0 for a flat set.
/// @param dimension  1 to CAROM_HULL_MOST_DIMENSIONS
/// @param points     [count x dimension]
/// @param control    polled; may be NULL
/// @param volume     NaN when the caller asked to stop
/// @return CAROM_BAD_INPUT for sizes out of range or a coordinate that is not finite, CAROM_INTERNAL when Qhull fails
carom_status carom_hull_volume(int dimension, int64_t count, const double *points, const carom_control *control, double *volume,
                               carom_error *error);

/// Vertices of the convex hull of `count` points in the plane, counter-clockwise; `hull` receives indices, room for `count`.
/// Flat sets give their two end points, single points one. Coordinates within 1e-12 of the extent count as equal.
carom_status carom_hull_plane(const double *x, const double *y, int64_t count, int64_t *hull, int64_t *vertices, carom_error *error);

// --------------------------------------------------------------------------------------------------------------------- corners of a stream

/// Keeps those outcomes of a stream that are corners of its convex hull in at least one plane of two contact velocities. These are the
/// planes of pictures: the hulls of the kept outcomes are those of the whole stream, to 1e-9 of their extents.
/// Depends on the outcomes and their order alone, not on how they are cut into blocks. Memory grows with the corners: for a set with smooth
/// edges as the cube root of the number of outcomes, and never beyond about 1e5 for each plane.
/// Cost: each outcome, n(n-1)/2 planes times the corners of a hull. Not to be shared between threads.
typedef struct carom_corners carom_corners;

enum { CAROM_CORNERS_MOST_AXES = 64 };  ///< contact velocities, normal and tangential

/// For outcomes with `own_count` columns after the common ones; impact and columns are borrowed.
/// @return CAROM_UNSUPPORTED beyond CAROM_CORNERS_MOST_AXES
carom_status carom_corners_create(const carom_impact *impact, const carom_column *own, int own_count, carom_corners **corners,
                                  carom_error *error);
void carom_corners_free(carom_corners *corners);
/// Receives the stream.
carom_sink carom_corners_sink(carom_corners *corners);
/// What is kept of the stream so far, in the order in which it came; valid until more is received.
carom_status carom_corners_outcomes(carom_corners *corners, const carom_table **outcomes, carom_error *error);

CAROM_API_END

#endif
