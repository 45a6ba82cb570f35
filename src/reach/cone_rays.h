// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rays of the friction cones in velocity space, and the shortest vector on their positive side. Not installed.
#ifndef CAROM_REACH_CONE_RAYS_H
#define CAROM_REACH_CONE_RAYS_H

#include "carom/arena.h"
#include "carom/impact.h"
#include "carom/quad.h"

/// Twice the unit round-off of quadruple precision, 2^-113. It holds every product of two doubles exactly, and that of four without
/// overflow.
#define CAROM_QUAD_ROUNDING 0x1p-112

/// The generators of the cones. The ray of edge j of contact i is row i (1 + dim) plus mu_i times the rows after it along d_j.
typedef struct carom_cone_rays {
    const carom_impact *impact;
    const carom_impact_data *data;
    int edges, rays;           ///< rays = contacts * edges
    const double *directions;  ///< [edges x tangent_dim]
    const double *rows;        ///< [n x nv], contact-major
    const double *scale;       ///< [nv] powers of two: of the coordinates in which the rays are compared; 0 where all rows vanish
} carom_cone_rays;

/// Forces: rows of J for an impact with a system, and of W in contact space, where the impulses themselves have no coordinates of velocity.
/// The largest entry of each coordinate is scaled to about 1.
carom_status carom_cone_rays_of_forces(const carom_impact *impact, int edges, carom_arena *arena, carom_cone_rays *rays,
                                       carom_error *error);
/// Their responses: rows of M^-1 J', in units of velocity per impulse.
carom_status carom_cone_rays_of_responses(const carom_impact *impact, int edges, carom_arena *arena, carom_cone_rays *rays,
                                          carom_error *error);

/// Entry k of a ray; `magnitude` receives the sum of its terms' sizes.
carom_quad carom_cone_ray_entry(const carom_cone_rays *rays, int ray, int k, carom_quad *magnitude);

/// What the search for the shortest vector ends with.
typedef struct carom_shortest {
    bool found;   ///< x is that vector; else the rays in `weights` cancel, or nothing was found
    double *x;    ///< [nv], with the scale of coordinates: x.f is what it says
    double norm;  ///< ||x|| in scaled coordinates
    double
        *weights;  ///< [rays] where not found: weights >= 0 of rays whose sum is 0 up to round-off; all 0 where there are none. May be NULL
} carom_shortest;

/// The shortest x, in scaled coordinates, with x.f >= 1 for every ray f, or with x.f >= ||f|| where `unit` says so: then x has the widest
/// angle to all of them. Cost: O(n nv) for each of some nv rays that are taken one by one, in quadruple precision; memory O(nv^2 + rays).
carom_status carom_cone_shortest(const carom_cone_rays *rays, bool unit, carom_arena *arena, carom_shortest *shortest, carom_error *error);

#endif
