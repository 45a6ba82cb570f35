// SPDX-License-Identifier: Apache-2.0
// The convex pieces of a result file: the vertices that have the same `piece`, and the constraints on the first of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/result/file.h"

// The columns of a law with pieces. Every array belongs to it.
typedef struct columns {
    int64_t rows;
    int64_t *piece, *dimension;
    double *velocity, *normal, *tangent;
    int nv, contacts, tangents;
    double *planes, *plane_offsets, *facets, *facet_offsets;
    int64_t *plane_starts, *plane_offset_starts, *facet_starts, *facet_offset_starts;
} columns;

static const char *name_of(carom_piece_column column) { return carom_piece_columns[column].name; }

static void release(columns *c) {
    void *arrays[] = {c->piece,        c->dimension,    c->velocity,           c->normal,        c->tangent,
                      c->planes,       c->facets,       c->plane_offsets,      c->facet_offsets, c->plane_offset_starts,
                      c->plane_starts, c->facet_starts, c->facet_offset_starts};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static carom_status refuse(const carom_result *result, int law, carom_error *error) {
    return carom_fail(error, CAROM_BAD_INPUT, "not a carom result file: the pieces of %s do not fit together",
                      carom_result_law_name(result, law));
}

// Columns of as many rows as there are pieces' indices.
static carom_status read_integers(const carom_result *result, int law, carom_piece_column column, int64_t **values, columns *c,
                                  carom_error *error) {
    int64_t rows;
    int width;
    const carom_status status = carom_result_read_integers(result, law, name_of(column), values, &rows, &width, error);
    if (status) return status;
    if (column == CAROM_PIECE_INDEX) c->rows = rows;
    return width == 1 && rows == c->rows ? CAROM_OK : refuse(result, law, error);
}

static carom_status read_reals(const carom_result *result, int law, const char *name, double **values, int *width, const columns *c,
                               carom_error *error) {
    int64_t rows;
    const carom_status status = carom_result_read_reals(result, law, name, values, &rows, width, error);
    return !status && rows != c->rows ? refuse(result, law, error) : status;
}

static carom_status read_series(const carom_result *result, int law, carom_piece_column column, double **values, int64_t **starts,
                                const columns *c, carom_error *error) {
    int64_t rows;
    const carom_status status = carom_result_read_series(result, law, name_of(column), values, starts, &rows, error);
    return !status && rows != c->rows ? refuse(result, law, error) : status;
}

static carom_status read_columns(const carom_result *result, int law, columns *c, carom_error *error) {
    const carom_column *common = carom_outcome_columns();
    carom_status status = read_integers(result, law, CAROM_PIECE_INDEX, &c->piece, c, error);
    if (!status) status = read_integers(result, law, CAROM_PIECE_DIMENSION, &c->dimension, c, error);
    if (!status) status = read_reals(result, law, common[CAROM_OUTCOME_VELOCITY].name, &c->velocity, &c->nv, c, error);
    if (!status) status = read_reals(result, law, common[CAROM_OUTCOME_NORMAL_VELOCITY].name, &c->normal, &c->contacts, c, error);
    if (!status) status = read_reals(result, law, common[CAROM_OUTCOME_TANGENT_VELOCITY].name, &c->tangent, &c->tangents, c, error);
    if (!status) status = read_series(result, law, CAROM_PIECE_PLANES, &c->planes, &c->plane_starts, c, error);
    if (!status) status = read_series(result, law, CAROM_PIECE_PLANE_OFFSETS, &c->plane_offsets, &c->plane_offset_starts, c, error);
    if (!status) status = read_series(result, law, CAROM_PIECE_FACETS, &c->facets, &c->facet_starts, c, error);
    if (!status) status = read_series(result, law, CAROM_PIECE_FACET_OFFSETS, &c->facet_offsets, &c->facet_offset_starts, c, error);
    if (status) return status;
    const int contacts = carom_result_contacts(result);
    const bool fits = c->contacts == contacts && c->tangents == contacts * carom_result_tangent_dim(result);
    return fits ? CAROM_OK : refuse(result, law, error);
}

// Rows a_1 ... a_n b out of a series of the a and one of the b. False when they do not match.
static bool join_rows(double *rows, int count, int n, const double *a, const int64_t *a_starts, const double *b, const int64_t *b_starts,
                      int64_t row) {
    if (a_starts[row + 1] - a_starts[row] != (int64_t)count * n || b_starts[row + 1] - b_starts[row] != count) return false;
    for (int i = 0; i < count; i++) {
        memcpy(rows + i * (n + 1), a + a_starts[row] + (int64_t)i * n, (size_t)n * sizeof *rows);
        rows[i * (n + 1) + n] = b[b_starts[row] + i];
    }
    return true;
}

static void copy_vertex(const columns *c, int64_t row, int n, int vertex, carom_piece *piece) {
    const int dim = c->tangents / c->contacts;
    double *u = piece->contact_velocity + vertex * n;
    for (int i = 0; i < c->contacts; i++) {
        *u++ = c->normal[row * c->contacts + i];
        for (int p = 0; p < dim; p++) *u++ = c->tangent[row * c->tangents + i * dim + p];
    }
    memcpy(piece->velocity + vertex * c->nv, c->velocity + row * c->nv, (size_t)c->nv * sizeof(double));
}

// Takes the piece whose vertices begin at `row`; `*next` is the row behind them.
static carom_status take_piece(const carom_result *result, int law, const columns *c, int64_t row, int64_t *next, carom_polyhedra *made,
                               carom_error *error) {
    const int n = made->n;
    for (*next = row + 1; *next < c->rows && c->piece[*next] == c->piece[row];) ++*next;
    const int64_t planes = c->plane_offset_starts[row + 1] - c->plane_offset_starts[row];
    const int64_t facets = c->facet_offset_starts[row + 1] - c->facet_offset_starts[row];
    const int64_t limit = INT32_MAX / (n + 1);
    if (c->dimension[row] < 0 || c->dimension[row] > n || *next - row > limit || planes > limit || facets > limit)
        return refuse(result, law, error);
    carom_piece *piece;
    const carom_status status =
        carom_polyhedra_add(made, (int)c->dimension[row], (int)(*next - row), (int)planes, (int)facets, &piece, error);
    if (status) return status;
    for (int k = 0; k < piece->vertices; k++) copy_vertex(c, row + k, n, k, piece);
    const bool joined =
        join_rows(piece->equality, (int)planes, n, c->planes, c->plane_starts, c->plane_offsets, c->plane_offset_starts, row) &&
        join_rows(piece->inequality, (int)facets, n, c->facets, c->facet_starts, c->facet_offsets, c->facet_offset_starts, row);
    return joined ? CAROM_OK : refuse(result, law, error);
}

carom_status carom_result_read_polyhedra(const carom_result *result, int law, carom_polyhedra **polyhedra,
                                         char certificate[CAROM_CERTIFICATE_SIZE], carom_error *error) {
    *polyhedra = NULL;
    if (certificate) snprintf(certificate, CAROM_CERTIFICATE_SIZE, "none");
    if (!carom_result_has_column(result, law, name_of(CAROM_PIECE_INDEX))) return CAROM_OK;
    if (certificate) carom_result_read_attribute(result, law, "certificate", certificate, CAROM_CERTIFICATE_SIZE);
    columns c = {0};
    carom_polyhedra *made = NULL;
    carom_status status = read_columns(result, law, &c, error);
    if (!status) status = carom_polyhedra_create(c.contacts + c.tangents, c.nv, &made, error);
    for (int64_t row = 0, next; row < c.rows && !status; row = next) status = take_piece(result, law, &c, row, &next, made, error);
    release(&c);
    if (status)
        carom_polyhedra_free(made);
    else
        *polyhedra = made;
    return status;
}
