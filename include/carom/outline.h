// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is seen of solids from afar: outlines, inner edges, and which solid hides which. In libcarom-dynamics.
#ifndef CAROM_OUTLINE_H
#define CAROM_OUTLINE_H

#include "carom/solid.h"

CAROM_API_BEGIN

/// A parallel projection: a point p of space is seen at (right.p, up.p), and at the depth toward.p, which is larger nearer to the eye.
typedef struct carom_view {
    const char *name;
    double right[3], up[3], toward[3];  ///< a right-handed orthonormal frame
} carom_view;

enum { CAROM_VIEWS = 4 };
/// "side": x to the right, z up. "front": y to the right, z up, as seen from +x. "top": x to the right, y up. "3d": from the front and the
/// right and from above, z up.
extern const carom_view carom_views[CAROM_VIEWS];
/// NULL for a name that none has.
const carom_view *carom_view_find(const char *name);
/// The view along the normal of a plane: one of those above where one looks along it, from either side, else one with z up, or with y up
/// where the plane is horizontal.
/// @param normal  unit
carom_view carom_view_of_plane(const double normal[3]);

/// Where a point is seen.
void carom_view_project(const carom_view *view, const double point[3], double seen[2]);

/// The outline of one solid. Points belong to the arena of the call.
typedef struct carom_outline {
    int corners;
    double *corner;  ///< [corners x 2] of a convex polygon, counter-clockwise [m]; 2 of a segment, 1 of a point, 0 of a surface
    int points;
    double *line;  ///< [points x 2] lines inside it: edges that are seen; NaN after each line [m]
} carom_outline;

/// Points of the outline of a curved solid.
enum { CAROM_OUTLINE_POINTS = 96 };

/// The outline of a solid that is no plane. Curved parts are polygons through points of the true outline, whose normals are
/// 2 pi/CAROM_OUTLINE_POINTS apart; those of bodies with flat faces are exact.
/// Inner lines: edges of boxes and hulls at which two visible faces meet at more than 15 degrees; the rim of a cylinder's visible end;
/// lines of a grid of heights, at most 24 along each side.
/// @param solid  a hull gets its surface (carom_solid_find_surface) where it has none
/// @return CAROM_BAD_INPUT for a plane
/// Cost: the projected vertices of a hull, and its triangles
carom_status carom_solid_outline(carom_solid *solid, const carom_view *view, carom_arena *arena, carom_outline *outline,
                                 carom_error *error);

/// Gives a hull its triangles, by Qhull, and leaves vertices inside out. Vertices in one plane have none, nor has any hull in a build
/// without Qhull.
carom_status carom_solid_find_surface(carom_solid *solid, carom_arena *arena, carom_error *error);

/// The surface of one solid, in the world. Arrays belong to the arena of the call.
typedef struct carom_mesh {
    int points;
    const double *point;  ///< [points x 3] [m]
    int triangles;
    const int *triangle;  ///< [triangles x 3] points, counter-clockwise as seen from outside
} carom_mesh;

/// Triangles of a solid's surface: exact for boxes, sharp hulls and grids of heights; of curved solids and rounded hulls of points of the
/// surface, 24 around z. Of a point, a segment, and a hull that has no surface (vertices in one
/// plane) only the points. Boxes and cylinders have no rounding.
/// @param solid      as for carom_solid_outline
/// @param unbounded  half the side of a square that shows a plane without an edge [m]
/// Cost: the vertices of a rounded hull some 300 times, and a hull
carom_status carom_solid_mesh(carom_solid *solid, double unbounded, carom_arena *arena, carom_mesh *mesh, carom_error *error);

/// Where the ray from + t along is within the solid: interval[0] <= t <= interval[1].
/// @return false where it misses; always for planes, heights, and hulls without triangles. Roundings of ellipsoids and hulls are as if
///         they lengthened the semi-axes and moved the faces
bool carom_solid_ray(const carom_solid *solid, const double from[3], const double along[3], double interval[2]);

/// The order in which solids are drawn so that later ones hide earlier ones: the painter's. Of two whose outlines meet the one that is
/// nearer to the eye over most of their common places comes later; where that goes round in a circle, the one whose frame is farther away
/// comes first.
/// @param outlines  [count] of the solids
/// @param order     [count] receives their indices
/// Cost: for each pair whose outlines' boxes meet, 81 rays
carom_status carom_solids_order(int count, const carom_solid *solids, const carom_outline *outlines, const carom_view *view, int *order,
                                carom_error *error);

CAROM_API_END

#endif
