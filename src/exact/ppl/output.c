// SPDX-License-Identifier: Apache-2.0
// Pieces as the caller sees them: vertices in contact velocities and in generalised ones, exact texts, and both kinds of constraints.
#include "exact/ppl/output.h"

#include <stdlib.h>
#include <string.h>

typedef struct piece_writer {
    const exact_data *data;
    carom_piece *piece;                // NULL: constraints are only counted
    int vertex, equality, inequality;  // numbers written or counted so far
    bool out_of_memory;
} piece_writer;

// value += sum_k row[k] y[k]
static void add_product(mpq_t value, mpq_t *row, mpq_t *y, int dimension) {
    mpq_t scratch;
    mpq_init(scratch);
    for (int k = 0; k < dimension; k++) exact_rational_add_product(value, row[k], y[k], scratch);
    mpq_clear(scratch);
}

// The vertex (y, z) as u = C y, in doubles and as text, and as v = rest + lift y + shift z.
static void write_vertex(void *user, mpq_t *y) {
    piece_writer *writer = user;
    const exact_data *data = writer->data;
    const int d = data->dimension, vertex = writer->vertex++;
    mpq_t value;
    mpq_init(value);
    for (int i = 0; i < data->n; i++) {
        mpq_set_ui(value, 0, 1);
        add_product(value, data->contact_rows + i * data->width, y, d);
        writer->piece->contact_velocity[vertex * data->n + i] = exact_rational_double(value);
        // In memory from malloc, whatever allocator GMP uses for its own texts.
        char *text = malloc(mpz_sizeinbase(mpq_numref(value), 10) + mpz_sizeinbase(mpq_denref(value), 10) + 3);
        writer->piece->exact[vertex * data->n + i] = text ? mpq_get_str(text, 10, value) : NULL;
        writer->out_of_memory |= !text;
    }
    for (int j = 0; j < data->nv; j++) {
        mpq_set(value, data->rest[j]);
        add_product(value, data->lift + j * d, y, d);
        add_product(value, data->shift + j * data->constants, y + d, data->constants);
        writer->piece->velocity[vertex * data->nv + j] = exact_rational_double(value);
    }
    mpq_clear(value);
}

// A constraint on y is one on the contact velocities of the basis. Scaled to a largest coefficient of one.
static void write_constraint(void *user, mpz_t *row, bool equality) {
    piece_writer *writer = user;
    const exact_data *data = writer->data;
    const int d = data->dimension, width = data->n + 1, index = equality ? writer->equality++ : writer->inequality++;
    if (!writer->piece) return;
    double *target = (equality ? writer->piece->equality : writer->piece->inequality) + index * width;
    // The largest |coefficient|, then every one over it.
    mpq_t scale, value;
    mpq_inits(scale, value, NULL);
    for (int k = 0; k < d; k++)
        if (mpz_cmpabs(row[k], mpq_numref(scale)) > 0) mpz_abs(mpq_numref(scale), row[k]);
    for (int k = 0; k <= d && mpq_sgn(scale); k++) {
        mpq_set_z(value, row[k]);
        mpq_div(value, value, scale);
        target[k < d ? data->basis[k] : data->n] = exact_rational_double(value);
    }
    mpq_clears(scale, value, NULL);
}

static carom_status write_piece(exact_session *session, const exact_data *data, exact_polyhedron piece, carom_polyhedra *polyhedra,
                                carom_error *error) {
    // Sizes first. Constraints are those of contact velocities, whatever no impulse changes; the rows of J that are no coordinates add an
    // equality each.
    const int d = data->dimension, vertices = exact_polyhedron_visit_vertices(session, piece, NULL, NULL);
    piece_writer counts = {.data = data, .equality = data->n - d}, writer = {.data = data};
    exact_polyhedron shadow = exact_polyhedron_copy(session, piece);
    exact_polyhedron_project(session, shadow, d);
    exact_polyhedron_visit_constraints(session, shadow, write_constraint, &counts);
    const int dimension = exact_polyhedron_affine_dimension(session, shadow);
    carom_status status = CAROM_OK;
    if (!session->stop)
        status = carom_polyhedra_add(polyhedra, dimension, vertices, counts.equality, counts.inequality, &writer.piece, error);
    // Then the numbers.
    if (!status) exact_polyhedron_visit_vertices(session, piece, write_vertex, &writer);
    if (!status) exact_polyhedron_visit_constraints(session, shadow, write_constraint, &writer);
    exact_polyhedron_free(shadow);
    if (status || session->stop) return status;

    // u_i = C_i y for the rows outside the basis: these equalities hold on every piece.
    for (int i = 0; i < data->n; i++) {
        bool in_basis = false;
        for (int k = 0; k < d; k++) in_basis |= data->basis[k] == i;
        if (in_basis) continue;
        double *target = writer.piece->equality + writer.equality++ * (data->n + 1);
        target[i] = -1;
        for (int k = 0; k < d; k++) target[data->basis[k]] = exact_rational_double(data->contact_rows[i * data->width + k]);
    }
    return writer.out_of_memory ? carom_fail_memory(error, "exact set") : CAROM_OK;
}

carom_status exact_output_create(exact_session *session, const exact_data *data, const exact_pieces *pieces, carom_polyhedra **polyhedra,
                                 carom_error *error) {
    carom_status status = carom_polyhedra_create(data->n, data->nv, polyhedra, error);
    for (int i = 0; i < pieces->count && !status && !session->stop; i++)
        status = write_piece(session, data, pieces->items[i], *polyhedra, error);
    // A list that could not be finished is none.
    if (status) carom_polyhedra_free(*polyhedra);
    if (status) *polyhedra = NULL;
    return status;
}
