// SPDX-License-Identifier: Apache-2.0
// One relaxation for the whole impact. Every solution's impulse lies in the sum of the friction cones, its contact-space energy never
// grows, and it ends where the last active contact stops approaching: n_i = 0 for some i.
#include "exact/ppl/fixpoint.h"

exact_polyhedron exact_start(exact_session *session, const exact_data *data) {
    exact_polyhedron start = exact_polyhedron_empty(session);
    for (int s = 0; s < data->starts; s++) exact_polyhedron_add_point(session, start, data->start + s * data->width);
    return exact_polyhedron_settle(session, start);
}

// Both bounds of a coordinate that no impulse changes: what the starts have of it.
static void constrain_constant(exact_session *session, exact_polyhedron box, const exact_data *data, int k) {
    mpq_t row[EXACT_MOST_COORDINATES], bound;
    for (int i = 0; i < data->width; i++) mpq_init(row[i]);
    mpq_init(bound);
    mpq_set_ui(row[k], 1, 1);
    for (int sign = -1; sign <= 1; sign += 2) {
        // sign z - (the least sign z) >= 0
        for (int s = 0; s < data->starts; s++) {
            const mpq_t *z = (const mpq_t *)&data->start[s * data->width + k];
            if (s == 0 || sign * mpq_cmp(*z, bound) < 0) mpq_set(bound, *z);
        }
        if (sign > 0) mpq_neg(bound, bound);
        exact_polyhedron_constrain(session, box, row, sign, (const mpq_t *)&bound, false);
    }
    for (int i = 0; i < data->width; i++) mpq_clear(row[i]);
    mpq_clear(bound);
}

// |u_k| <= sqrt(2 K W_kk), the Cauchy-Schwarz inequality.
exact_polyhedron exact_energy_box(exact_session *session, const exact_data *data) {
    const int d = data->dimension;
    exact_polyhedron box = exact_polyhedron_universe(session);
    mpq_t energy, square, largest, scratch;
    mpq_inits(energy, square, largest, scratch, NULL);
    exact_data_start_energy(data, energy);
    for (int row = 0; row < data->n && !session->stop; row++) {
        // W_kk is row k of C times column k of W_B.
        mpq_set_ui(square, 0, 1);
        for (int k = 0; k < d; k++)
            exact_rational_add_product(square, data->contact_rows[row * data->width + k], data->response[k * data->n + row], scratch);
        mpq_mul(square, square, energy);
        exact_rational_above_root(largest, square);
        for (int sign = -1; sign <= 1; sign += 2)
            exact_polyhedron_constrain(session, box, data->contact_rows + row * data->width, sign, (const mpq_t *)&largest, false);
    }
    mpq_clears(energy, square, largest, scratch, NULL);
    for (int k = d; k < d + data->constants && !session->stop; k++) constrain_constant(session, box, data, k);
    return exact_polyhedron_settle(session, box);
}

// Adds the parts of a convex set in T where some contact is at rest, cut by the box where there is one.
static void add_parts_at_rest(exact_session *session, const exact_cells *cells, exact_polyhedron terminal, exact_polyhedron box,
                              exact_pieces *bound) {
    for (int i = 0; i < cells->data->contacts && !session->stop; i++) {
        exact_polyhedron piece = exact_polyhedron_meet(session, terminal, cells->approaching[i]);
        if (box) exact_polyhedron_replace(&piece, exact_polyhedron_meet(session, piece, box));
        exact_pieces_add(session, bound, piece);
    }
}

void exact_add_settled_start(exact_session *session, const exact_cells *cells, exact_pieces *outcomes) {
    exact_polyhedron start = exact_start(session, cells->data);
    exact_pieces_add(session, outcomes, exact_polyhedron_meet(session, start, cells->terminal));
    exact_polyhedron_free(start);
}

void exact_energy_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound) {
    exact_polyhedron terminal = exact_polyhedron_meet(session, box, cells->terminal);
    add_parts_at_rest(session, cells, terminal, NULL, bound);
    exact_polyhedron_free(terminal);
    exact_add_settled_start(session, cells, bound);
}

void exact_impulse_bound(exact_session *session, const exact_cells *cells, exact_polyhedron box, exact_pieces *bound) {
    exact_polyhedron speeds = exact_cells_all_speeds(session, cells), cone = exact_start(session, cells->data);
    exact_polyhedron_replace(&cone, exact_polyhedron_elapse(session, cone, speeds));
    exact_polyhedron_replace(&cone, exact_polyhedron_meet(session, cone, cells->terminal));
    add_parts_at_rest(session, cells, cone, box, bound);
    exact_polyhedron_free(cone);
    exact_polyhedron_free(speeds);
    exact_add_settled_start(session, cells, bound);
}
