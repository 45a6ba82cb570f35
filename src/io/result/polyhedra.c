// SPDX-License-Identifier: Apache-2.0
// The convex pieces of a result file: the vertices that have the same `piece`, and the constraints on the first of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/result/file.h"

// A series column: row i is values[starts[i]] to values[starts[i + 1] - 1].
typedef struct series {
    double *values;
    int64_t *starts;
} series;

// Constraints a.u + b = 0 or >= 0 as they are stored: a series of the normals a, and one of the offsets b.
typedef struct constraints {
    series normals, offsets;
} constraints;

// The columns of a law with pieces.
typedef struct columns {
    int64_t rows, *piece, *dimension;
    double *v, *u;  // [rows x nv], [rows x n]
    int nv, n;
    constraints planes, facets;
} columns;

// In the order in which the series are read.
static const carom_piece_column series_columns[] = {CAROM_PIECE_PLANES, CAROM_PIECE_PLANE_OFFSETS, CAROM_PIECE_FACETS,
                                                    CAROM_PIECE_FACET_OFFSETS};

static carom_status refuse(const carom_result *result, int law, carom_error *error) {
    return carom_result_refuse(result, error, "the pieces of %s do not fit together", carom_result_law_name(result, law));
}

// Reads every column; all have as many rows.
static carom_status read_columns(const carom_result *result, int law, columns *c, carom_error *error) {
    int64_t rows[4] = {0};
    int width = 0, dimension_width = 0;
    // The contact velocities say how many rows there are.
    carom_status status = carom_result_read_contact_velocities(result, law, &c->u, &c->rows, error);
    const char *piece = carom_piece_columns[CAROM_PIECE_INDEX].name, *dimension = carom_piece_columns[CAROM_PIECE_DIMENSION].name;
    if (!status) status = carom_result_read_integers(result, law, piece, &c->piece, &rows[0], &width, error);
    if (!status) status = carom_result_read_integers(result, law, dimension, &c->dimension, &rows[1], &dimension_width, error);
    if (!status)
        status = carom_result_read_reals(result, law, carom_outcome_columns()[CAROM_OUTCOME_VELOCITY].name, &c->v, &rows[2], &c->nv, error);
    if (!status && (width != 1 || dimension_width != 1 || rows[0] != c->rows || rows[1] != c->rows || rows[2] != c->rows))
        status = refuse(result, law, error);
    // The constraints stand on the first row of a piece, and the lists of its other rows are empty.
    series *const all[] = {&c->planes.normals, &c->planes.offsets, &c->facets.normals, &c->facets.offsets};
    for (int i = 0; i < 4 && !status; i++) {
        const char *name = carom_piece_columns[series_columns[i]].name;
        status = carom_result_read_series(result, law, name, &all[i]->values, &all[i]->starts, &rows[3], error);
        if (!status && rows[3] != c->rows) status = refuse(result, law, error);
    }
    return status;
}

// Rows a_1 ... a_n b of a matrix from the constraints in a row of the file. False when normals and offsets do not match.
static bool join(const constraints *from, int64_t row, int count, int n, double *rows) {
    const int64_t start = from->normals.starts[row], offsets = from->offsets.starts[row];
    if (from->normals.starts[row + 1] - start != (int64_t)count * n) return false;
    for (int i = 0; i < count; i++) {
        memcpy(rows + i * (n + 1), from->normals.values + start + (int64_t)i * n, (size_t)n * sizeof *rows);
        rows[i * (n + 1) + n] = from->offsets.values[offsets + i];
    }
    return true;
}

carom_status carom_result_read_polyhedra(const carom_result *result, int law, carom_polyhedra **polyhedra,
                                         char certificate[CAROM_CERTIFICATE_SIZE], carom_error *error) {
    const char *name = carom_result_law_name(result, law);
    // Laws without pieces have none of these columns.
    *polyhedra = NULL;
    if (certificate) snprintf(certificate, CAROM_CERTIFICATE_SIZE, "none");
    if (!carom_result_has_dataset(result, name, carom_piece_columns[CAROM_PIECE_INDEX].name)) return CAROM_OK;
    if (certificate) carom_result_read_attribute(result, law, "certificate", certificate, CAROM_CERTIFICATE_SIZE);
    columns c = {.n = carom_result_contacts(result) * (1 + carom_result_tangent_dim(result))};
    carom_polyhedra *made = NULL;
    carom_status status = read_columns(result, law, &c, error);
    if (!status) status = carom_polyhedra_create(c.n, c.nv, &made, error);
    for (int64_t row = 0, next; row < c.rows && !status; row = next) {
        // A piece: consecutive rows with one index are its vertices, and the first of them has its constraints.
        const int n = c.n;
        for (next = row + 1; next < c.rows && c.piece[next] == c.piece[row];) next++;
        const int64_t planes = c.planes.offsets.starts[row + 1] - c.planes.offsets.starts[row];
        const int64_t facets = c.facets.offsets.starts[row + 1] - c.facets.offsets.starts[row];
        const int64_t vertices = next - row, dimension = c.dimension[row], limit = INT32_MAX / (n + 1);
        if (dimension < 0 || dimension > n || vertices > limit || planes > limit || facets > limit) {
            status = refuse(result, law, error);
            break;
        }
        carom_piece *piece;
        status = carom_polyhedra_add(made, (int)dimension, (int)vertices, (int)planes, (int)facets, &piece, error);
        if (status) break;
        memcpy(piece->contact_velocity, c.u + row * n, (size_t)(vertices * n) * sizeof *c.u);
        memcpy(piece->velocity, c.v + row * c.nv, (size_t)(vertices * c.nv) * sizeof *c.v);
        if (!join(&c.planes, row, (int)planes, n, piece->equality) || !join(&c.facets, row, (int)facets, n, piece->inequality))
            status = refuse(result, law, error);
    }
    if (status)
        carom_polyhedra_free(made);
    else
        *polyhedra = made;
    // Everything read is copied by now.
    const constraints *const both[] = {&c.planes, &c.facets};
    for (int i = 0; i < 2; i++) {
        free(both[i]->normals.values);
        free(both[i]->normals.starts);
        free(both[i]->offsets.values);
        free(both[i]->offsets.starts);
    }
    free(c.piece);
    free(c.dimension);
    free(c.v);
    free(c.u);
    return status;
}
