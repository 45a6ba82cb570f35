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

/// The way to the deepest vertex of a hull with many vertices. Immutable.
typedef struct carom_climb {
    int *first;      ///< [vertices + 1], of the neighbours of each vertex
    int *neighbour;  ///< [first[vertices]]
    int *start;      ///< a vertex for each cell of directions
} carom_climb;

carom_status carom_climb_create(const carom_hull *hull, carom_climb *climb, carom_error *error);
void carom_climb_release(carom_climb *climb);
/// The vertex of the least u.rho.
int carom_climb_deepest(const carom_climb *climb, const double *vertex, const double u[3]);

/// A convex part in the frame of the body: an ellipsoid (rho - center)' quadric (rho - center) <= 1, or a hull.
typedef struct carom_convex {
    bool round;
    double semiaxes[3], center[3], rotation[9];
    double spread[9], quadric[9];  ///< S = R E^2 R', and its inverse
    carom_hull hull;
    carom_climb climb;  ///< of many vertices
} carom_convex;

/// An ellipsoid in the frame of the body.
void carom_convex_set_round(carom_convex *part);
int carom_convex_deepest_vertex(const carom_convex *part, const double u[3]);

/// Convex parts, united or intersected.
typedef struct carom_compound {
    carom_combine combine;
    int parts;
    carom_convex *part;  ///< [parts]; an intersection of polyhedra has become one
    double size;         ///< the largest extent of a part
    int faces;
    double *face;        ///< [faces x 4] of the polyhedra of an intersection: outward normal, distance
    int conditions;      ///< ellipsoids and faces of an intersection
    double interior[3];  ///< a point inside all of them
} carom_compound;

/// The corners of the polyhedron of these faces, normal.rho <= distance.
/// @param size  of the body, which lengths compare with
carom_status carom_faces_corners(const double *face, int faces, double size, carom_arena *arena, int *corners, const double **corner,
                                 carom_error *error);

/// @return CAROM_BAD_INPUT "parts: ..." or "vertices: ..."
carom_status carom_compound_create(const carom_shape_data *shape, carom_compound **compound, carom_error *error);
void carom_compound_free(carom_compound *compound);
void carom_compound_move(carom_compound *compound, const double by[3]);
/// It touches with rims, too: an intersection with an ellipsoid.
bool carom_compound_is_rimmed(const carom_compound *compound);
double carom_compound_support(const carom_compound *compound, const double u[3], double rho[3]);
double carom_compound_part_support(const carom_compound *compound, int part, const double u[3], double rho[3]);
int carom_compound_features(const carom_compound *compound);
double carom_compound_feature_support(const carom_compound *compound, int feature, const double u[3], double rho[3]);

/// The shape of a body, about its centre of mass, with all centers given and a hull's vertices only; its parts are those of the compound.
const carom_shape_data *carom_body_shape(const carom_body *body);
const carom_compound *carom_body_compound(const carom_body *body);

/// Moments of a solid: of 1, rho and rho rho' over its volume. [1 + 3 + 9]
typedef struct carom_moments {
    double volume, first[3], second[9];
} carom_moments;

/// Of the solid that closed triangles bound, whichever way they are turned, and of any form.
/// @return CAROM_BAD_INPUT "mesh: ..." when they do not close, or bound no volume
carom_status carom_surface_moments(const carom_shape_data *shape, carom_moments *moments, carom_error *error);
/// Of the hull rounded by `rounding`.
carom_status carom_hull_moments(const carom_hull *hull, double rounding, carom_moments *moments, carom_error *error);
/// Of convex parts, united or intersected, without rounding.
carom_status carom_convex_moments(const carom_convex *part, int parts, carom_combine combine, carom_moments *moments, carom_error *error);

/// Support of the intersection of two ellipsoids whose interiors meet: the minimum of u.rho, and where it is.
double carom_intersection_support(const carom_shape_data *shape, const double u[3], double rho[3]);
/// Do the interiors of two ellipsoids meet?
bool carom_intersection_exists(const carom_shape_data *shape);

/// One ellipsoid's support: rho = center - E^2 u / |E u|.
double carom_ellipsoid_support(const double semiaxes[3], const double center[3], const double u[3], double rho[3]);

#endif
