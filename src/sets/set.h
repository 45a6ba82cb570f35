// SPDX-License-Identifier: Apache-2.0
/// @file
/// Inside sets of convex pieces: the tree of boxes over them, and distances from one piece. Not installed.
#ifndef CAROM_SETS_SET_H
#define CAROM_SETS_SET_H

#include "carom/sets.h"

enum { CAROM_SET_MOST_DIMENSIONS = 64 };

/// A box around the pieces order[first] .. order[first + count - 1]. Children stand at `child` and `child + 1`; leaves have none.
typedef struct carom_set_node {
    int64_t first, count;
    int64_t child;  ///< 0: a leaf
} carom_set_node;

struct carom_set {
    int dimension;
    int64_t pieces, points;
    int64_t *starts;      // [pieces + 1]
    double *coordinates;  // [points x dimension]
    int most_points;      // of a piece
    double extent;
    int64_t *order;  // [pieces], the tree's
    carom_set_node *nodes;
    double *boxes;  // [nodes x 2 x dimension], least then largest coordinates
    int64_t node_count;
};

/// Builds the tree of a set whose pieces are there.
carom_status carom_set_build_tree(carom_set *set, carom_error *error);

/// Distance of x from the convex hull of `count` points, by Wolfe's algorithm for the point of least norm (1976).
/// @param x, nearest  [dimension]; nearest may be NULL
double carom_convex_distance(int dimension, int64_t count, const double *points, const double *x, double *nearest);

/// The nearest piece of x and its distance; `nearest` may be NULL.
double carom_set_nearest_piece(const carom_set *set, const double *x, int64_t *piece, double *nearest);

/// Distance of x from one piece.
double carom_set_piece_distance(const carom_set *set, int64_t piece, const double *x, double *nearest);

#endif
