// SPDX-License-Identifier: Apache-2.0
// One relaxation for the whole impact. Every solution's impulse lies in the sum of the friction cones, its contact-space energy never
// grows, and it ends where the last active contact stops approaching: n_i = 0 for some i.
#include "exact/ppl/bound.h"

// 2 K = y' (metric) y before the impact.
static void start_energy(const exact_data *data, mpq_t energy) {
    mpq_t product, scratch;
    mpq_inits(product, scratch, NULL);
    for (int i = 0; i < data->dimension; i++)
        for (int j = 0; j < data->dimension; j++) {
            mpq_mul(product, data->start[i], data->start[j]);
            exact_rational_add_product(energy, product, data->metric[i * data->dimension + j], scratch);
        }
    mpq_clears(product, scratch, NULL);
}

// Diagonal entry of W: C_k times the column k of W_B.
static void inverse_mass(const exact_data *data, int row, mpq_t value, mpq_t scratch) {
    for (int k = 0; k < data->dimension; k++)
        exact_rational_add_product(value, data->contact_rows[row * data->dimension + k], data->response[k * data->n + row], scratch);
}

// |u_k| <= sqrt(2 K W_kk), the Cauchy-Schwarz inequality.
exact_polyhedron exact_energy_box(exact_session *session, const exact_data *data) {
    exact_polyhedron box = exact_polyhedron_universe(session);
    mpq_t energy, square, largest, scratch;
    mpq_inits(energy, square, largest, scratch, NULL);
    start_energy(data, energy);
    for (int row = 0; row < data->n && !session->stop; row++) {
        mpq_set_ui(square, 0, 1);
        inverse_mass(data, row, square, scratch);
        mpq_mul(square, square, energy);
        exact_rational_above_root(largest, square);
        for (int sign = -1; sign <= 1; sign += 2)
            exact_polyhedron_constrain(session, box, data->contact_rows + row * data->dimension, sign, (const mpq_t *)&largest, false);
    }
    mpq_clears(energy, square, largest, scratch, NULL);
    return exact_polyhedron_settle(session, box);
}

// Adds the parts of a convex set in T where some contact is at rest.
static void add_parts_at_rest(exact_session *session, const exact_cells *cells, exact_polyhedron terminal, exact_polyhedron box,
                              exact_pieces *bound) {
    for (int i = 0; i < cells->data->contacts && !session->stop; i++) {
        exact_polyhedron piece = exact_polyhedron_meet(session, terminal, cells->approaching[i]);
        if (box) exact_polyhedron_replace(&piece, exact_polyhedron_meet(session, piece, box));
        if (exact_polyhedron_is_empty(session, piece))
            exact_polyhedron_free(piece);
        else
            exact_pieces_add(session, bound, piece);
    }
}

void exact_energy_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound) {
    exact_polyhedron terminal = exact_polyhedron_meet(session, box, cells->terminal);
    add_parts_at_rest(session, cells, terminal, NULL, bound);
    exact_polyhedron_free(terminal);
}

void exact_impulse_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound) {
    exact_polyhedron speeds = exact_cells_all_speeds(session, cells->data), cone = exact_polyhedron_at(session, cells->data->start);
    exact_polyhedron_replace(&cone, exact_polyhedron_elapse(session, cone, speeds));
    exact_polyhedron_replace(&cone, exact_polyhedron_meet(session, cone, cells->terminal));
    add_parts_at_rest(session, cells, cone, box, bound);
    exact_polyhedron_free(cone);
    exact_polyhedron_free(speeds);
}
