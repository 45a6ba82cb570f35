// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of bodies share: hulls, moments and support points of shapes.
#ifndef CAROM_BODIES_INTERNAL_H
#define CAROM_BODIES_INTERNAL_H

#include "carom/bodies.h"

/// A closed surface of triangles, counter-clockwise as seen from outside.
typedef struct carom_hull {
    int vertices, triangles;
    double *vertex;  ///< [vertices x 3], in the order in which they were given; points inside are left out
    int *triangle;   ///< [triangles x 3]
    double *normal;  ///< [triangles x 3], outward, unit
} carom_hull;

/// The convex hull of `count` points, by Qhull.
/// @return CAROM_BAD_INPUT "vertices: ..." when they lie in a plane
carom_status carom_hull_create(const double *points, int count, carom_hull *hull, carom_error *error);
void carom_hull_release(carom_hull *hull);

/// The shape of a body, about its centre of mass, with all centers given and a hull's vertices only.
const carom_shape_data *carom_body_shape(const carom_body *body);

/// Moments of a solid: of 1, rho and rho rho' over its volume. [1 + 3 + 9]
typedef struct carom_moments {
    double volume, first[3], second[9];
} carom_moments;

/// Of the hull rounded by `rounding`.
carom_status carom_hull_moments(const carom_hull *hull, double rounding, carom_moments *moments, carom_error *error);
/// Of ellipsoids, united or intersected, without rounding.
carom_status carom_ellipsoids_moments(const carom_shape_data *shape, carom_moments *moments, carom_error *error);

/// Support of the intersection of two ellipsoids whose interiors meet: the minimum of u.rho, and where it is.
double carom_intersection_support(const carom_shape_data *shape, const double u[3], double rho[3]);
/// Do the interiors of two ellipsoids meet?
bool carom_intersection_exists(const carom_shape_data *shape);

/// One ellipsoid's support: rho = center - E^2 u / |E u|.
double carom_ellipsoid_support(const double semiaxes[3], const double center[3], const double u[3], double rho[3]);

#endif
