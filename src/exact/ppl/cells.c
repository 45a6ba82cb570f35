// SPDX-License-Identifier: Apache-2.0
// Cells of contact space. The inclusion's right-hand side is M^-1 conv { n_i' - mu_i e t_i' : n_i v <= 0, e in Sgn(t_i v) } (Halm & Posa,
// 2023), so that the signs of n_i and t_i decide it. n_i = 0 needs no cell of its own: more contacts are active there than on either
// side.
//
// With Poisson's restitution a contact owes the normal impulse R_i: dR_i = e_i lambda_i where n_i < 0, dR_i = -lambda_i where n_i > 0 and
// R_i > 0, and anything between at n_i = 0, which the cells of both sides give one after the other. Active are contacts with n_i <= 0 or
// R_i > 0, and R_i >= 0 bounds all cones.
#include "exact/ppl/cells.h"

#include <stdlib.h>

// Rows of C: separation speed and slip of a contact.
static mpq_t *normal_row(const exact_data *data, int contact) { return data->contact_rows + 2 * contact * data->width; }
static mpq_t *tangent_row(const exact_data *data, int contact) { return data->contact_rows + (2 * contact + 1) * data->width; }

// No friction acts: one active state is then enough, whatever the slip.
static bool is_frictionless(const exact_data *data, int contact) {
    if (!mpq_sgn(data->friction[2 * contact + 1])) return true;
    for (int k = 0; k < data->dimension; k++)
        if (mpq_sgn(tangent_row(data, contact)[k])) return false;
    return true;
}

static bool is_restoring(exact_state state) { return state >= EXACT_RESTORING_FORWARD; }

// The state of the slip, whether the contact is compressed or restores.
static exact_state slip_state(exact_state state) { return is_restoring(state) ? state - EXACT_RESTORING_FORWARD + EXACT_FORWARD : state; }

// Only contacts that may owe something restore, and only the others are inactive. Without friction there is one state of the slip.
static bool is_possible(const exact_data *data, int contact, exact_state state) {
    const bool bounces = data->owed[contact] >= 0;
    if (state == EXACT_INACTIVE) return !bounces;
    return (bounces || !is_restoring(state)) && (slip_state(state) == EXACT_FORWARD || !is_frictionless(data, contact));
}

// R_i >= 0, or R_i = 0, where the contact has restitution.
static void constrain_owed(exact_session *session, exact_polyhedron cone, const exact_data *data, int contact, bool equality) {
    if (data->owed[contact] < 0) return;
    mpq_t row[EXACT_MOST_COORDINATES];
    for (int k = 0; k < data->width; k++) mpq_init(row[k]);
    mpq_set_ui(row[data->owed[contact]], 1, 1);
    exact_polyhedron_constrain(session, cone, row, 1, NULL, equality);
    for (int k = 0; k < data->width; k++) mpq_clear(row[k]);
}

// The hull of the speeds under a unit normal impulse of an active contact and friction -mu u along its tangent: W_B (n - mu u t), with
// what the contact comes to owe, or pays. NULL where no speed is left.
// @param keeps_slipless  only speeds that leave slipless contacts slipless
static exact_polyhedron make_flow(exact_session *session, const exact_data *data, const exact_cell *cell, bool keeps_slipless) {
    exact_polyhedron flow = exact_polyhedron_empty(session);
    // One point for each sign u that the contact's state allows.
    mpq_t speed[EXACT_MOST_COORDINATES];
    for (int k = 0; k < data->width; k++) mpq_init(speed[k]);
    for (int i = 0; i < data->contacts; i++) {
        const exact_state state = slip_state(cell->states[i]);
        mpq_t *debt = data->owed[i] < 0 ? NULL : &speed[data->owed[i]];
        if (debt && is_restoring(cell->states[i])) mpq_set_si(*debt, -1, 1);
        if (debt && !is_restoring(cell->states[i])) mpq_set(*debt, data->restitution[i]);
        // Of an interval of mu both ends count: those between them are in the hull.
        const int ends = mpq_equal(data->friction[2 * i], data->friction[2 * i + 1]) ? 1 : 2;
        for (int choice = 0; choice < 2 * ends; choice++) {
            const int u = choice % 2 ? -1 : 1;
            if (state != EXACT_SLIPLESS && state != (u > 0 ? EXACT_FORWARD : EXACT_BACKWARD)) continue;
            for (int k = 0; k < data->dimension; k++) {
                mpq_t *row = data->response + k * data->n;
                mpq_mul(speed[k], data->friction[2 * i + choice / 2], row[2 * i + 1]);
                if (u > 0) mpq_neg(speed[k], speed[k]);
                mpq_add(speed[k], speed[k], row[2 * i]);
            }
            exact_polyhedron_add_point(session, flow, speed);
        }
        // The next contact changes its own debt alone.
        if (debt) mpq_set_ui(*debt, 0, 1);
    }
    for (int k = 0; k < data->width; k++) mpq_clear(speed[k]);
    // t' = 0 under the speed.
    for (int i = 0; i < data->contacts && keeps_slipless; i++)
        if (slip_state(cell->states[i]) == EXACT_SLIPLESS) exact_polyhedron_constrain(session, flow, tangent_row(data, i), 1, NULL, true);
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

// The cone in which every contact is in its state, by the signs of n_i, t_i and R_i; wider by `width` where that is not zero.
static exact_polyhedron make_cone(exact_session *session, const exact_data *data, const exact_cell *cell, const mpq_t width) {
    const mpq_t *margin = mpq_sgn(width) ? (const mpq_t *)width : NULL;
    exact_polyhedron cone = exact_polyhedron_universe(session);
    for (int i = 0; i < data->contacts; i++) {
        const exact_state state = slip_state(cell->states[i]);
        mpq_t *normal = normal_row(data, i), *tangent = tangent_row(data, i);
        // Inactive contacts do not approach and owe nothing: n_i >= 0, whatever the slip. Restoring ones open as well.
        const bool opens = state == EXACT_INACTIVE || is_restoring(cell->states[i]);
        exact_polyhedron_constrain(session, cone, normal, opens ? 1 : -1, opens ? NULL : margin, false);
        constrain_owed(session, cone, data, i, state == EXACT_INACTIVE);
        if (state == EXACT_INACTIVE || is_frictionless(data, i)) continue;
        if (state == EXACT_FORWARD) exact_polyhedron_constrain(session, cone, tangent, 1, NULL, false);
        if (state == EXACT_BACKWARD) exact_polyhedron_constrain(session, cone, tangent, -1, NULL, false);
        if (state == EXACT_SLIPLESS) exact_polyhedron_constrain(session, cone, tangent, 1, margin, !margin);
        if (state == EXACT_SLIPLESS && margin) exact_polyhedron_constrain(session, cone, tangent, -1, margin, false);
    }
    return exact_polyhedron_settle(session, cone);
}

// Links the cells that differ in one digit of their codes.
static void link_neighbours(exact_cells *cells, const int *index_of, int codes) {
    for (int code = 0; code < codes; code++) {
        if (index_of[code] < 0) continue;
        exact_cell *cell = &cells->cells[index_of[code]];
        // A digit is worth `place`; every other value of it is a neighbour, where there is such a cell.
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

    // T, where nothing is active, and the half-spaces in which a contact approaches.
    cells->terminal = make_cone(session, data, &(exact_cell){.states = {EXACT_INACTIVE}}, width);
    for (int i = 0; i < data->contacts; i++) {
        cells->approaching[i] = exact_polyhedron_universe(session);
        exact_polyhedron_constrain(session, cells->approaching[i], normal_row(data, i), -1, NULL, false);
        cells->approaching[i] = exact_polyhedron_settle(session, cells->approaching[i]);
    }

    // A cell for each code, whose digits are the states of the contacts. Code 0 is T.
    if (!session->stop) index_of[0] = -1;
    for (int code = 1; code < codes && exact_session_continue(session); code++) {
        exact_cell *cell = &cells->cells[cells->count];
        *cell = (exact_cell){.neighbour_count = 0};
        index_of[code] = -1;
        bool exists = true;
        for (int i = 0, digits = code; i < data->contacts; i++, digits /= EXACT_STATES) {
            cell->states[i] = (exact_state)(digits % EXACT_STATES);
            exists = exists && is_possible(data, i, cell->states[i]);
        }
        // A cell within T is not needed: solutions end there.
        if (!exists) continue;
        cell->cone = make_cone(session, data, cell, width);
        if (session->stop || exact_polyhedron_contains(session, cells->terminal, cell->cone)) {
            exact_polyhedron_free(cell->cone);
            continue;
        }
        cell->flow = make_flow(session, data, cell, !mpq_sgn(width));
        index_of[code] = cells->count++;
    }
    cells->complete = !session->stop;
    if (cells->complete) link_neighbours(cells, index_of, codes);
    free(index_of);
}

void exact_cells_free(exact_cells *cells) {
    for (int i = 0; i < cells->count; i++) {
        exact_polyhedron_free(cells->cells[i].cone);
        exact_polyhedron_free(cells->cells[i].flow);
    }
    free(cells->cells);
    exact_polyhedron_free(cells->terminal);
    for (int i = 0; i < EXACT_MOST_CONTACTS; i++) exact_polyhedron_free(cells->approaching[i]);
    *cells = (exact_cells){0};
}
