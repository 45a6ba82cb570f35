// SPDX-License-Identifier: Apache-2.0
// Pieces as the caller sees them: vertices in contact velocities and in generalised ones, exact texts, and both kinds of constraints.
#include "exact/ppl/output.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const exact_data *data;
    carom_piece *piece;
    int vertex, equality, inequality;  // how many were written
    bool out_of_memory;
} writer;

// sum_k row[k] y[k] + offset
static void evaluate(mpq_t value, mpq_t *row, mpq_t *y, int dimension, const mpq_t *offset) {
    mpq_t scratch;
    mpq_init(scratch);
    if (offset)
        mpq_set(value, *offset);
    else
        mpq_set_ui(value, 0, 1);
    for (int k = 0; k < dimension; k++) exact_rational_add_product(value, row[k], y[k], scratch);
    mpq_clear(scratch);
}

// ------------------------------------------------------------------------------------------------------------ vertices

// With malloc, whatever allocator GMP uses for its own texts.
static char *print_rational(const mpq_t value) {
    const size_t size = mpz_sizeinbase(mpq_numref(value), 10) + mpz_sizeinbase(mpq_denref(value), 10) + 3;
    char *text = malloc(size);
    return text ? mpq_get_str(text, 10, value) : NULL;
}

static void write_vertex(void *user, mpq_t *y) {
    writer *w = user;
    const exact_data *data = w->data;
    const int d = data->dimension, vertex = w->vertex++;
    mpq_t value;
    mpq_init(value);
    for (int i = 0; i < data->n; i++) {
        evaluate(value, data->contact_rows + i * d, y, d, NULL);
        w->piece->contact_velocity[vertex * data->n + i] = exact_rational_double(value);
        w->piece->exact[vertex * data->n + i] = print_rational(value);
        w->out_of_memory |= !w->piece->exact[vertex * data->n + i];
    }
    for (int j = 0; j < data->nv; j++) {
        evaluate(value, data->lift + j * d, y, d, (const mpq_t *)&data->rest[j]);
        w->piece->velocity[vertex * data->nv + j] = exact_rational_double(value);
    }
    mpq_clear(value);
}

// --------------------------------------------------------------------------------------------------------- constraints

static bool is_basis_row(const exact_data *data, int row) {
    for (int k = 0; k < data->dimension; k++)
        if (data->basis[k] == row) return true;
    return false;
}

typedef struct constraint_counts {
    int equalities, inequalities;
} constraint_counts;

static void count_constraint(void *user, mpz_t *row, bool equality) {
    (void)row;
    constraint_counts *counts = user;
    if (equality)
        counts->equalities++;
    else
        counts->inequalities++;
}

// A constraint on y is one on the contact velocities of the basis. Scaled to a largest coefficient of one.
static void write_constraint(void *user, mpz_t *row, bool equality) {
    writer *w = user;
    const exact_data *data = w->data;
    const int d = data->dimension, width = data->n + 1;
    double *target = equality ? w->piece->equality + w->equality++ * width : w->piece->inequality + w->inequality++ * width;
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

// u_i = C_i y for the rows that are no coordinates: they hold on every piece.
static void write_dependent_rows(writer *w) {
    const exact_data *data = w->data;
    const int d = data->dimension;
    for (int i = 0; i < data->n; i++) {
        if (is_basis_row(data, i)) continue;
        double *target = w->piece->equality + w->equality++ * (data->n + 1);
        target[i] = -1;
        for (int k = 0; k < d; k++) target[data->basis[k]] = exact_rational_double(data->contact_rows[i * d + k]);
    }
}

static carom_status write_piece(exact_session *session, const exact_data *data, exact_polyhedron piece, carom_polyhedra *polyhedra,
                                carom_error *error) {
    constraint_counts counts = {data->n - data->dimension, 0};
    const int vertices = exact_polyhedron_visit_vertices(session, piece, NULL, NULL);
    exact_polyhedron_visit_constraints(session, piece, count_constraint, &counts);
    const int dimension = exact_polyhedron_affine_dimension(session, piece);
    if (session->stop) return CAROM_OK;
    writer w = {.data = data};
    const carom_status status =
        carom_polyhedra_add(polyhedra, dimension, vertices, counts.equalities, counts.inequalities, &w.piece, error);
    if (status) return status;
    exact_polyhedron_visit_vertices(session, piece, write_vertex, &w);
    exact_polyhedron_visit_constraints(session, piece, write_constraint, &w);
    write_dependent_rows(&w);
    return w.out_of_memory ? carom_fail_memory(error, "exact set") : CAROM_OK;
}

carom_status exact_output_create(exact_session *session, const exact_data *data, const exact_pieces *pieces, carom_polyhedra **polyhedra,
                                 carom_error *error) {
    carom_status status = carom_polyhedra_create(data->n, data->nv, polyhedra, error);
    for (int i = 0; i < pieces->count && !status && !session->stop; i++)
        status = write_piece(session, data, pieces->items[i], *polyhedra, error);
    if (!status) return CAROM_OK;
    carom_polyhedra_free(*polyhedra);
    *polyhedra = NULL;
    return status;
}

carom_status exact_output_start(const exact_data *data, carom_polyhedra **polyhedra, carom_error *error) {
    writer w = {.data = data};
    carom_status status = carom_polyhedra_create(data->n, data->nv, polyhedra, error);
    if (!status) status = carom_polyhedra_add(*polyhedra, 0, 1, data->n, 0, &w.piece, error);
    if (!status) {
        write_vertex(&w, data->start);
        // A point: each contact velocity is given.
        for (int i = 0; i < data->n; i++) {
            w.piece->equality[i * (data->n + 1) + i] = 1;
            w.piece->equality[i * (data->n + 1) + data->n] = -w.piece->contact_velocity[i];
        }
        if (w.out_of_memory) status = carom_fail_memory(error, "exact set");
    }
    if (!status) return CAROM_OK;
    carom_polyhedra_free(*polyhedra);
    *polyhedra = NULL;
    return status;
}
