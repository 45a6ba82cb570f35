// SPDX-License-Identifier: Apache-2.0
// Directions in the tangent plane of a contact: linearised friction cones, and the tangents themselves.
#include <math.h>

#include "carom/impact.h"

static const double TWO_PI = 6.283185307179586476925286766559;

// Planar contacts have two directions of slip, whatever is asked for.
carom_status carom_impact_cone_edges(const carom_impact *impact, int64_t cone_edges, int *edges, carom_error *error) {
    *edges = 2;
    if (carom_impact_get_data(impact)->tangent_dim == 1) return CAROM_OK;
    if (cone_edges < CAROM_MIN_CONE_EDGES || cone_edges > CAROM_MAX_CONE_EDGES || cone_edges % 2)
        return carom_fail(error, CAROM_BAD_INPUT, "cone_edges: %lld is not an even number between %d and %d", (long long)cone_edges,
                          CAROM_MIN_CONE_EDGES, CAROM_MAX_CONE_EDGES);
    *edges = (int)cone_edges;
    return CAROM_OK;
}

void carom_cone_directions(int tangent_dim, int edges, double *directions) {
    if (tangent_dim == 1) {
        directions[0] = 1;
        directions[1] = -1;
        return;
    }
    // cos and sin of 2 pi j/k for one half, exact on the axes, so that four edges give the tangents themselves. The other half is its exact
    // negative: opposite edges cancel to the bit.
    const int half = edges / 2;
    for (int j = 0; j < half; j++) {
        double *edge = directions + 2 * j, *opposite = directions + 2 * (j + half);
        edge[0] = 4 * j == edges ? 0 : cos(TWO_PI * j / edges);
        edge[1] = j == 0 ? 0 : sin(TWO_PI * j / edges);
        for (int axis = 0; axis < 2; axis++) opposite[axis] = 0 - edge[axis];
    }
}

// Normals closer to the y axis than this (sine of the angle) take x as their first tangent.
#define PARALLEL_TOLERANCE 1e-9

// A rule that depends on the normal alone.
void carom_impact_default_tangents(const double n[3], double tangent[2][3]) {
    // t1 = y x n / |y x n|, with y x n = (n_z, 0, -n_x); t2 = n x t1.
    const double across = hypot(n[0], n[2]);
    const bool parallel = across <= PARALLEL_TOLERANCE;
    const double *t = tangent[0];
    tangent[0][0] = parallel ? 1 : n[2] / across;
    tangent[0][1] = 0;
    tangent[0][2] = parallel ? 0 : -n[0] / across;
    tangent[1][0] = n[1] * t[2] - n[2] * t[1];
    tangent[1][1] = n[2] * t[0] - n[0] * t[2];
    tangent[1][2] = n[0] * t[1] - n[1] * t[0];
}
