// SPDX-License-Identifier: Apache-2.0
// Cells of contact space. The inclusion's right-hand side is M^-1 conv { n_i' - mu_i e t_i' : n_i v <= 0, e in Sgn(t_i v) } (Halm & Posa,
// 2023), so that the signs of n_i and t_i decide it. n_i = 0 needs no cell of its own: more contacts are active there than on either
// side.
#include "exact/ppl/cells.h"

#include <stdlib.h>

// Rows of C: separation speed and slip of a contact.
static mpq_t *normal_row(const exact_data *data, int contact) { return data->contact_rows + 2 * contact * data->dimension; }
static mpq_t *tangent_row(const exact_data *data, int contact) { return data->contact_rows + (2 * contact + 1) * data->dimension; }

// Does friction act at all? Otherwise one active state is enough, whatever the slip.
static bool is_frictionless(const exact_data *data, int contact) {
    if (!mpq_sgn(data->friction[contact])) return true;
    for (int k = 0; k < data->dimension; k++)
        if (mpq_sgn(tangent_row(data, contact)[k])) return false;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- flows

// The speed under a unit normal impulse of this contact and friction -mu e along its tangent.
static void add_speed(exact_session *session, const exact_data *data, exact_polyhedron flow, int contact, int e) {
    const int d = data->dimension;
    mpq_t *speed = exact_rationals_create((size_t)d);
    if (!speed) {
        exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        return;
    }
    for (int k = 0; k < d; k++) {
        mpq_t *row = data->response + k * data->n;
        mpq_mul(speed[k], data->friction[contact], row[2 * contact + 1]);
        if (e > 0) mpq_neg(speed[k], speed[k]);
        mpq_add(speed[k], speed[k], row[2 * contact]);
    }
    exact_polyhedron_add_point(session, flow, speed);
    exact_rationals_free(speed, (size_t)d);
}

static exact_polyhedron make_flow(exact_session *session, const exact_data *data, const exact_cell *cell, bool keeps_slipless) {
    exact_polyhedron flow = exact_polyhedron_empty(session);
    for (int i = 0; i < data->contacts; i++) {
        const exact_state state = cell->states[i];
        if (state == EXACT_FORWARD || state == EXACT_SLIPLESS) add_speed(session, data, flow, i, 1);
        if (state == EXACT_BACKWARD || state == EXACT_SLIPLESS) add_speed(session, data, flow, i, -1);
    }
    for (int i = 0; i < data->contacts && keeps_slipless; i++)
        if (cell->states[i] == EXACT_SLIPLESS) exact_polyhedron_constrain(session, flow, tangent_row(data, i), 1, NULL, true);
    flow = exact_polyhedron_settle(session, flow);
    if (!exact_polyhedron_is_empty(session, flow)) return flow;
    exact_polyhedron_free(flow);
    return NULL;
}

exact_polyhedron exact_cells_all_speeds(exact_session *session, const exact_data *data) {
    exact_cell all = {.neighbour_count = 0};
    for (int i = 0; i < data->contacts; i++) all.states[i] = EXACT_SLIPLESS;
    return make_flow(session, data, &all, false);
}

// ---------------------------------------------------------------------------------------------------------------- cones

static void confine_contact(exact_session *session, const exact_data *data, exact_polyhedron cone, int contact, exact_state state,
                            const mpq_t width) {
    mpq_t *normal = normal_row(data, contact), *tangent = tangent_row(data, contact);
    const mpq_t *margin = mpq_sgn(width) ? (const mpq_t *)width : NULL;
    if (state == EXACT_INACTIVE) {
        exact_polyhedron_constrain(session, cone, normal, 1, NULL, false);
        return;
    }
    exact_polyhedron_constrain(session, cone, normal, -1, margin, false);
    if (is_frictionless(data, contact)) return;
    if (state == EXACT_FORWARD) exact_polyhedron_constrain(session, cone, tangent, 1, NULL, false);
    if (state == EXACT_BACKWARD) exact_polyhedron_constrain(session, cone, tangent, -1, NULL, false);
    if (state != EXACT_SLIPLESS) return;
    exact_polyhedron_constrain(session, cone, tangent, 1, margin, !margin);
    if (margin) exact_polyhedron_constrain(session, cone, tangent, -1, margin, false);
}

static exact_polyhedron make_cone(exact_session *session, const exact_data *data, const exact_cell *cell, const mpq_t width) {
    exact_polyhedron cone = exact_polyhedron_universe(session);
    for (int i = 0; i < data->contacts; i++) confine_contact(session, data, cone, i, cell->states[i], width);
    return exact_polyhedron_settle(session, cone);
}

static void make_terminal(exact_session *session, exact_cells *cells) {
    cells->terminal = exact_polyhedron_universe(session);
    for (int i = 0; i < cells->data->contacts; i++) {
        exact_polyhedron_constrain(session, cells->terminal, normal_row(cells->data, i), 1, NULL, false);
        cells->approaching[i] = exact_polyhedron_universe(session);
        exact_polyhedron_constrain(session, cells->approaching[i], normal_row(cells->data, i), -1, NULL, false);
        cells->approaching[i] = exact_polyhedron_settle(session, cells->approaching[i]);
    }
    cells->terminal = exact_polyhedron_settle(session, cells->terminal);
}

// ---------------------------------------------------------------------------------------------------------------- cells

// The states that the digits of `code` name. False for states that a contact does not have.
static bool decode_states(const exact_data *data, int code, exact_cell *cell) {
    for (int i = 0; i < data->contacts; i++, code /= EXACT_STATES) {
        cell->states[i] = (exact_state)(code % EXACT_STATES);
        if (cell->states[i] > EXACT_FORWARD && is_frictionless(data, i)) return false;
    }
    return true;
}

static void free_cell(exact_cell *cell) {
    exact_polyhedron_free(cell->cone);
    exact_polyhedron_free(cell->flow);
}

// Adds the cell of this code unless it lies in T; returns its index, or -1.
static int add_cell(exact_session *session, exact_cells *cells, int code, const mpq_t width) {
    exact_cell *cell = &cells->cells[cells->count];
    *cell = (exact_cell){.neighbour_count = 0};
    if (!decode_states(cells->data, code, cell)) return -1;
    cell->cone = make_cone(session, cells->data, cell, width);
    if (session->stop || exact_polyhedron_contains(session, cells->terminal, cell->cone)) {
        free_cell(cell);
        return -1;
    }
    cell->flow = make_flow(session, cells->data, cell, !mpq_sgn(width));
    return cells->count++;
}

// Cells that differ in one digit of their codes.
static void link_neighbours(exact_cells *cells, const int *index_of, int codes) {
    for (int code = 0; code < codes; code++) {
        if (index_of[code] < 0) continue;
        exact_cell *cell = &cells->cells[index_of[code]];
        for (int i = 0, place = 1; i < cells->data->contacts; i++, place *= EXACT_STATES) {
            const int others = code - (int)cell->states[i] * place;
            for (int state = 0; state < EXACT_STATES; state++) {
                const int neighbour = index_of[others + state * place];
                if (state != (int)cell->states[i] && neighbour >= 0) cell->neighbours[cell->neighbour_count++] = neighbour;
            }
        }
    }
}

void exact_cells_create(exact_session *session, const exact_data *data, const mpq_t width, exact_cells *cells) {
    *cells = (exact_cells){.data = data, .overlapping = mpq_sgn(width) > 0};
    int codes = 1;
    for (int i = 0; i < data->contacts; i++) codes *= EXACT_STATES;
    cells->cells = calloc((size_t)codes, sizeof *cells->cells);
    int *index_of = calloc((size_t)codes, sizeof *index_of);
    if (!cells->cells || !index_of) exact_session_halt(session, EXACT_OUT_OF_MEMORY);
    make_terminal(session, cells);
    if (!session->stop) {
        // Code 0 is the cone where nothing is active: T.
        index_of[0] = -1;
        for (int code = 1; code < codes && exact_session_continue(session); code++) index_of[code] = add_cell(session, cells, code, width);
        cells->complete = !session->stop;
        if (cells->complete) link_neighbours(cells, index_of, codes);
    }
    free(index_of);
}

void exact_cells_free(exact_cells *cells) {
    for (int i = 0; i < cells->count; i++) free_cell(&cells->cells[i]);
    free(cells->cells);
    exact_polyhedron_free(cells->terminal);
    for (int i = 0; i < EXACT_MOST_CONTACTS; i++) exact_polyhedron_free(cells->approaching[i]);
    *cells = (exact_cells){0};
}
