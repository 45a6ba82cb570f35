// SPDX-License-Identifier: Apache-2.0
/// @file
/// Solids as plain data: the shapes of bodies at their places in space, for those who draw or export them.
#ifndef CAROM_SOLID_H
#define CAROM_SOLID_H

#include "carom/arena.h"
#include "carom/base.h"

CAROM_API_BEGIN

/// Shapes in a frame of their own, with x, y, z its axes.
typedef enum carom_solid_kind {
    CAROM_SOLID_SPHERE,     ///< size: radius; 0 is a point
    CAROM_SOLID_CAPSULE,    ///< along z. size: radius, half the length between the centres of its ends; radius 0 is a segment
    CAROM_SOLID_CYLINDER,   ///< along z. size: radius, half the length
    CAROM_SOLID_ELLIPSOID,  ///< size: semi-axes
    CAROM_SOLID_BOX,        ///< size: half the lengths of its edges
    CAROM_SOLID_PLANE,      ///< everything at z <= 0. size: half the lengths of what is shown along x and y; 0: without an edge
    CAROM_SOLID_HULL,       ///< the convex hull of vertices
    CAROM_SOLID_HEIGHTS,    ///< a surface over a grid in x and y. size: half its lengths
} carom_solid_kind;

/// Names of these, NULL-terminated.
extern const char *const carom_solid_kind_names[];

/// A solid at its place. Arrays belong to whoever made it.
typedef struct carom_solid {
    carom_solid_kind kind;
    const char *name;      ///< of the geom or part; "" for none
    const char *body;      ///< that it is a part of
    int body_index;        ///< solids of one body have the same
    bool fixed;            ///< nothing moves it
    double size[3];        ///< [m], as the kind says
    double rounding;       ///< the solid is everything within this distance of the above, >= 0 [m]
    double position[3];    ///< of its frame [m]
    double rotation[9];    ///< its frame to the world, [3 x 3]
    int vertices;          ///< of a hull
    const double *vertex;  ///< [vertices x 3] in its frame [m]
    int triangles;         ///< the surface of a hull; 0: not known yet, see carom_solid_find_surface
    const int *triangle;   ///< [triangles x 3] vertices, counter-clockwise as seen from outside
    int rows, columns;     ///< of a grid of heights: rows along y, columns along x
    const double *height;  ///< [rows x columns] z over the grid, from -size to +size [m]
} carom_solid;

/// Bodies that move as one tree of joints: its centre of mass.
typedef struct carom_solid_tree {
    const char *name;    ///< of its root
    double center[3];    ///< [m]
    double velocity[3];  ///< [m/s]
} carom_solid_tree;

/// All solids of a mechanism at one position.
typedef struct carom_solids {
    int count;
    carom_solid *solid;  ///< [count]
    int trees;
    carom_solid_tree *tree;  ///< [trees]
    int left_out;            ///< parts that are no solids: skins, deformable bodies
} carom_solids;

CAROM_API_END

#endif
