// SPDX-License-Identifier: Apache-2.0
// The deepest vertex of a convex polyhedron with many vertices: from vertex to vertex along the edges, downwards. On a convex surface a
// vertex without a lower neighbour is the lowest of all. The way begins at the deepest vertex for a direction nearby, from a table.
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies_internal.h"
#include "carom/vector3.h"

// Cells of the table along each edge of the cube on which directions are told apart.
enum { CELLS = 12, TABLE = 6 * CELLS * CELLS };

static int descend(const carom_climb *climb, const double *vertex, int at, const double u[3]) {
    double least = carom_dot3(u, vertex + 3 * at);
    for (int from = -1; from != at;) {
        from = at;
        for (int k = climb->first[from]; k < climb->first[from + 1]; k++) {
            const double depth = carom_dot3(u, vertex + 3 * climb->neighbour[k]);
            if (depth < least) least = depth, at = climb->neighbour[k];
        }
    }
    return at;
}

int carom_climb_deepest(const carom_climb *climb, const double *vertex, const double u[3]) {
    // The side of the cube that u leaves through, and the cell there.
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(u[i]) > fabs(u[axis])) axis = i;
    int cell = 2 * axis + (u[axis] < 0);
    for (int k = 1; k < 3; k++) {
        const int place = (int)(0.5 * CELLS * (1 + u[(axis + k) % 3] / fabs(u[axis])));
        cell = CELLS * cell + (place < 0 ? 0 : place < CELLS ? place : CELLS - 1);
    }
    return descend(climb, vertex, climb->start[cell], u);
}

carom_status carom_climb_create(const carom_hull *hull, carom_climb *climb, carom_error *error) {
    const size_t vertices = (size_t)hull->vertices, corners = 3 * (size_t)hull->triangles;
    *climb = (carom_climb){.first = calloc(vertices + 2, sizeof *climb->first),
                           .neighbour = malloc((corners + 1) * sizeof *climb->neighbour),
                           .start = malloc(TABLE * sizeof *climb->start)};
    if (!climb->first || !climb->neighbour || !climb->start) return carom_fail_memory(error, "vertices");
    // Each edge has its end as a neighbour of its beginning; the triangle on the other side has it in the other direction.
    int *next = climb->first + 2;
    for (size_t k = 0; k < corners; k++)
        if (hull->triangle[k] + 1 < hull->vertices) next[hull->triangle[k]]++;
    for (size_t i = 2; i <= vertices; i++) climb->first[i] += climb->first[i - 1];
    for (size_t k = 0; k < corners; k++) climb->neighbour[climb->first[hull->triangle[k] + 1]++] = hull->triangle[k / 3 * 3 + (k + 1) % 3];
    // The table, from cell to cell.
    for (int cell = 0, at = 0; cell < TABLE; cell++) {
        const int axis = cell / (2 * CELLS * CELLS), places[] = {cell / CELLS % CELLS, cell % CELLS};
        double u[3];
        u[axis] = cell / (CELLS * CELLS) % 2 ? -1 : 1;
        for (int k = 1; k < 3; k++) u[(axis + k) % 3] = (2 * places[k - 1] + 1.0) / CELLS - 1;
        climb->start[cell] = at = descend(climb, hull->vertex, at, u);
    }
    return CAROM_OK;
}

void carom_climb_release(carom_climb *climb) {
    free(climb->first);
    free(climb->neighbour);
    free(climb->start);
    *climb = (carom_climb){0};
}
