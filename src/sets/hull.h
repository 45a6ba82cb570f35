// SPDX-License-Identifier: Apache-2.0
/// @file
/// Qhull, kept from printing and exiting; triangulations of convex hulls. Shared by carom's own libraries, not installed.
#ifndef CAROM_SETS_HULL_H
#define CAROM_SETS_HULL_H

#include "carom/base.h"

CAROM_API_BEGIN

/// The facets of a full-dimensional convex hull as simplices of `dimension` points each, in Qhull's order.
/// @param points  [count x dimension], of the order of 1: Qhull's tolerances are not relative to the set's place
/// @param facets  receives [facet_count x dimension] indices, to be freed by the caller
/// @return CAROM_INTERNAL when Qhull fails, as on flat sets
carom_status carom_hull_facets(int dimension, int count, const double *points, int **facets, int *facet_count, carom_error *error);

/// Simplices of `size` points each.
typedef struct carom_triangulation {
    int size;      ///< 1 + dimension of the points' affine hull
    int count;     ///< of simplices
    int *corners;  ///< [count x size] indices of points, to be freed by the caller
} carom_triangulation;

/// Simplices that cover the convex hull of points, of the dimension of their affine hull: it is found with tolerance 1e-9 of the extent.
/// @param points  [count x width]
/// @return CAROM_UNSUPPORTED above CAROM_HULL_MOST_DIMENSIONS, CAROM_INTERNAL when Qhull fails
carom_status carom_hull_triangulate(int width, int count, const double *points, carom_triangulation *triangulation, carom_error *error);

CAROM_API_END

#endif
