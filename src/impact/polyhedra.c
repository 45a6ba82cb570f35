// SPDX-License-Identifier: Apache-2.0
// Unions of convex polytopes in the space of contact velocities: memory, and their columns.
#include "carom/polyhedra.h"

#include <stdlib.h>

// A piece owns its texts, also those that a caller put there.
static void release_piece(const carom_polyhedra *polyhedra, carom_piece *piece) {
    if (piece->exact)
        for (int i = 0; i < piece->vertices * polyhedra->n; i++) free(piece->exact[i]);
    free(piece->exact);
    free(piece->contact_velocity);
    free(piece->velocity);
    free(piece->equality);
    free(piece->inequality);
}

// An empty union.
carom_status carom_polyhedra_create(int n, int nv, carom_polyhedra **polyhedra, carom_error *error) {
    *polyhedra = NULL;
    if (n < 1 || nv < 1) return carom_fail(error, CAROM_BAD_INPUT, "polyhedra: sizes must be positive, not %d and %d", n, nv);
    *polyhedra = calloc(1, sizeof **polyhedra);
    if (!*polyhedra) return carom_fail_memory(error, "polyhedra");
    **polyhedra = (carom_polyhedra){.n = n, .nv = nv};
    return CAROM_OK;
}

void carom_polyhedra_free(carom_polyhedra *polyhedra) {
    if (!polyhedra) return;
    for (int i = 0; i < polyhedra->count; i++) release_piece(polyhedra, &polyhedra->pieces[i]);
    free(polyhedra->pieces);
    free(polyhedra);
}

// Zeroed room for `rows` x `width` values; not NULL when there are no rows.
static void *make_room(int rows, int width, size_t size) { return calloc((size_t)rows * (size_t)width + 1, size); }

carom_status carom_polyhedra_add(carom_polyhedra *polyhedra, int dimension, int vertices, int equalities, int inequalities,
                                 carom_piece **piece, carom_error *error) {
    *piece = NULL;
    if (dimension < 0 || dimension > polyhedra->n || vertices < 1 || equalities < 0 || inequalities < 0)
        return carom_fail(error, CAROM_BAD_INPUT, "polyhedra: a piece of dimension %d with %d vertices is not a polytope", dimension,
                          vertices);
    // Unions have few pieces: room for one more each time.
    carom_piece *pieces = realloc(polyhedra->pieces, ((size_t)polyhedra->count + 1) * sizeof *pieces);
    if (!pieces) return carom_fail_memory(error, "polyhedra");
    polyhedra->pieces = pieces;
    carom_piece *added = &pieces[polyhedra->count];
    // The piece counts only once all of its arrays are there.
    *added = (carom_piece){.dimension = dimension, .vertices = vertices, .equalities = equalities, .inequalities = inequalities};
    added->contact_velocity = make_room(vertices, polyhedra->n, sizeof *added->contact_velocity);
    added->velocity = make_room(vertices, polyhedra->nv, sizeof *added->velocity);
    added->exact = make_room(vertices, polyhedra->n, sizeof *added->exact);
    added->equality = make_room(equalities, polyhedra->n + 1, sizeof *added->equality);
    added->inequality = make_room(inequalities, polyhedra->n + 1, sizeof *added->inequality);
    if (!added->contact_velocity || !added->velocity || !added->exact || !added->equality || !added->inequality) {
        release_piece(polyhedra, added);
        return carom_fail_memory(error, "polyhedra");
    }
    polyhedra->count++;
    *piece = added;
    return CAROM_OK;
}

// How a union is written into an outcome set: one row for each vertex, faces on the first vertex of their piece.
const carom_column carom_piece_columns[CAROM_PIECE_COLUMNS] = {
    [CAROM_PIECE_INDEX] = {"piece", CAROM_COLUMN_INTEGER, 1, "", "index of the convex piece that this outcome is a vertex of", NULL},
    [CAROM_PIECE_DIMENSION] = {"piece_dimension", CAROM_COLUMN_INTEGER, 1, "", "of the piece's affine hull", NULL},
    [CAROM_PIECE_EXACT] = {"exact", CAROM_COLUMN_TEXT, 1, "m/s",
                           "contact velocities as fractions, per contact the normal, then the tangent; blanks between them", NULL},
    [CAROM_PIECE_PLANES] = {"planes", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "",
                            "a of each equality a.u + b = 0 of the piece, on its first vertex", NULL},
    [CAROM_PIECE_PLANE_OFFSETS] = {"plane_offsets", CAROM_COLUMN_SERIES, 1, "m/s", "b of the same", NULL},
    [CAROM_PIECE_FACETS] = {"facets", CAROM_COLUMN_SERIES, CAROM_WIDTH_CONTACT_SPACE, "",
                            "a of each facet a.u + b >= 0 of the piece, on its first vertex", NULL},
    [CAROM_PIECE_FACET_OFFSETS] = {"facet_offsets", CAROM_COLUMN_SERIES, 1, "m/s", "b of the same", NULL},
};
