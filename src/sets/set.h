// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of this room share: the tree of boxes over the pieces of a set, distances from one piece, triangulations.
#ifndef CAROM_SETS_SET_H
#define CAROM_SETS_SET_H

#include "carom/sets.h"

/// A box around the pieces order[first] .. order[first + count - 1]. Children stand at `child` and `child + 1`; leaves have none.
typedef struct carom_set_node {
    int64_t first, count;
    int64_t child;  ///< 0: a leaf
} carom_set_node;

struct carom_set {
    int dimension;
    int64_t pieces, points;
    carom_arena arena;    ///< holds the arrays
    int64_t *starts;      ///< [pieces + 1]
    double *coordinates;  ///< [points x dimension]
    int leaf_size;        ///< most pieces in a leaf
    double extent;
    int64_t *order;         ///< [pieces], the tree's
    double *sorted;         ///< [pieces x dimension] the first point of each piece, in the tree's order
    carom_set_node *nodes;  ///< [node_count]
    double *boxes;          ///< [node_count x 2 x dimension], least then largest coordinates
    int64_t node_count;
};

/// carom_set_create under a control: CAROM_OK without a set when the caller asked to stop.
carom_status carom_set_create_watched(int dimension, int64_t pieces, const int64_t *starts, const double *points,
                                      const carom_control *control, carom_set **set, carom_error *error);

/// Distance of x from the convex hull of `count` points, by Wolfe's algorithm for the point of least norm (1976).
/// @param x, nearest  [dimension]; nearest may be NULL
double carom_convex_distance(int dimension, int64_t count, const double *points, const double *x, double *nearest);

/// The nearest piece of x and its distance; `nearest` may be NULL.
double carom_set_nearest_piece(const carom_set *set, const double *x, int64_t *piece, double *nearest);

/// The distance of x from the set where it is more than `enough`, otherwise that of any piece within `enough`: far cheaper where a search
/// for the farthest point has a far one already.
double carom_set_distance_beyond(const carom_set *set, const double *x, double enough);

/// Distance of x from one piece.
double carom_set_piece_distance(const carom_set *set, int64_t piece, const double *x, double *nearest);

/// Simplices of `size` points each.
typedef struct carom_triangulation {
    int size;          ///< 1 + dimension of the points' affine hull
    int count;         ///< of simplices
    int *corners;      ///< [count x size] indices of points
    bool interrupted;  ///< the caller asked to stop: they cover the hull of some of the points
} carom_triangulation;

/// Simplices that cover the convex hull of points. The dimension of their affine hull is found with tolerance 1e-9 of the extent.
/// @param points  [count x width]
/// @param control  polled; may be NULL
/// @param arena   receives the corners and what is needed to find them
/// @return CAROM_UNSUPPORTED above CAROM_HULL_MOST_DIMENSIONS, CAROM_INTERNAL when Qhull fails
carom_status carom_hull_triangulate(int width, int count, const double *points, const carom_control *control, carom_arena *arena,
                                    carom_triangulation *triangulation, carom_error *error);

#endif
