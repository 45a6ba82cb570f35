// SPDX-License-Identifier: Apache-2.0
// Cells of contact space. The inclusion's right-hand side is M^-1 conv { n_i' - mu_i (d.t_i)' : n_i v <= 0, d maximises d.t_i v } over the
// corners d of a polygon (Halm & Posa, 2023; in the plane d = 1 and d = -1), so that the signs of n_i and of the differences (d - d').t_i
// decide it. n_i = 0 needs no cell of its own: more contacts are active there than on either side.
//
// With Poisson's restitution a contact owes the normal impulse R_i: dR_i = e_i lambda_i where n_i < 0, dR_i = -lambda_i where n_i > 0 and
// R_i > 0, and anything between at n_i = 0, which the cells of both sides give one after the other. Active are contacts with n_i <= 0 or
// R_i > 0, and R_i >= 0 bounds all cones.
#include "exact/ppl/cells.h"

#include <stdlib.h>

// Rows of C: separation speed and slip of a contact.
static mpq_t *normal_row(const exact_data *data, int contact) { return data->contact_rows + data->stride * contact * data->width; }
static mpq_t *tangent_row(const exact_data *data, int contact, int k) {
    return data->contact_rows + (data->stride * contact + 1 + k) * data->width;
}

// No friction acts: one active state is then enough, whatever the slip.
static bool is_frictionless(const exact_data *data, int contact) {
    if (!mpq_sgn(data->friction[2 * contact + 1])) return true;
    for (int i = 0; i < (data->stride - 1) * data->width; i++)
        if (mpq_sgn(tangent_row(data, contact, 0)[i])) return false;
    return true;
}

static bool is_corner(const exact_state *state, int corner) { return state->corners >> corner & 1; }
// More than one corner: slip is on a ray or zero.
static bool is_shared(const exact_state *state) { return (state->corners & (state->corners - 1)) != 0; }

// Only contacts that may owe something restore, and only the others are inactive. Without friction there is one state of the slip.
static bool is_possible(const exact_data *data, int contact, const exact_state *state) {
    const bool bounces = data->owed[contact] >= 0;
    if (!state->active) return !bounces;
    return (bounces || !state->restores) && (state->corners == 1 || !is_frictionless(data, contact));
}

// The least face of the polygon with all corners of two of them.
static uint64_t join(const exact_data *data, uint64_t first, uint64_t second) {
    const uint64_t both = first | second, all = data->edges == 64 ? UINT64_MAX : (UINT64_C(1) << data->edges) - 1;
    if (both == first || both == second) return both;
    // Of two different corners, the side between neighbours.
    for (int k = 0; k < data->edges; k++)
        if (both == (UINT64_C(1) << k | UINT64_C(1) << (k + 1) % data->edges)) return both;
    return all;
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

// (d - d').t_i >= 0, or = 0, for two corners d, d'.
// @param margin  wider by this; NULL: by nothing
static void constrain_slip(exact_session *session, exact_polyhedron cone, const exact_data *data, int contact, const int corners[2],
                           const mpq_t *margin, bool equality) {
    const int tangents = data->stride - 1;
    mpq_t row[EXACT_MOST_COORDINATES], apart, scratch;
    mpq_inits(apart, scratch, NULL);
    for (int k = 0; k < data->width; k++) mpq_init(row[k]);
    for (int j = 0; j < tangents; j++) {
        mpq_sub(apart, data->edge[corners[0] * tangents + j], data->edge[corners[1] * tangents + j]);
        for (int k = 0; k < data->width; k++) exact_rational_add_product(row[k], tangent_row(data, contact, j)[k], apart, scratch);
    }
    exact_polyhedron_constrain(session, cone, row, 1, margin, equality);
    for (int k = 0; k < data->width; k++) mpq_clear(row[k]);
    mpq_clears(apart, scratch, NULL);
}

// Slip at which the corners of a state, and no others, maximise d.t: its corners are equal, and no neighbour of one of them is larger. That
// is enough, as d.t has no other maxima around a polygon.
static void constrain_sector(exact_session *session, exact_polyhedron cone, const exact_data *data, int contact, const exact_state *state) {
    for (int k = 0; k < data->edges; k++) {
        const int next = (k + 1) % data->edges;
        if (is_corner(state, k) && is_corner(state, next))
            constrain_slip(session, cone, data, contact, (const int[]){k, next}, NULL, true);
        else if (is_corner(state, k))
            constrain_slip(session, cone, data, contact, (const int[]){k, next}, NULL, false);
        else if (is_corner(state, next))
            constrain_slip(session, cone, data, contact, (const int[]){next, k}, NULL, false);
    }
}

// The hull of the speeds under a unit normal impulse of an active contact and friction -mu d along its tangents: W_B (n - mu d.t), with
// what the contact comes to owe, or pays. NULL where no speed is left.
// @param keeps_slip  only speeds that leave slip on its ray, or zero
static exact_polyhedron make_flow(exact_session *session, const exact_cells *cells, const exact_cell *cell, bool keeps_slip) {
    const exact_data *data = cells->data;
    const int tangents = data->stride - 1;
    exact_polyhedron flow = exact_polyhedron_empty(session);
    // One point for each corner d that the contact's state allows.
    mpq_t speed[EXACT_MOST_COORDINATES], slide, scratch;
    mpq_inits(slide, scratch, NULL);
    for (int k = 0; k < data->width; k++) mpq_init(speed[k]);
    for (int i = 0; i < data->contacts; i++) {
        const exact_state *state = &cells->states[cell->states[i]];
        mpq_t *debt = data->owed[i] < 0 ? NULL : &speed[data->owed[i]];
        if (debt && state->restores) mpq_set_si(*debt, -1, 1);
        if (debt && !state->restores) mpq_set(*debt, data->restitution[i]);
        // Of an interval of mu both ends count: those between them are in the hull.
        const int ends = mpq_equal(data->friction[2 * i], data->friction[2 * i + 1]) ? 1 : 2;
        for (int choice = 0; choice < data->edges * ends; choice++) {
            const int corner = choice % data->edges;
            if (!is_corner(state, corner)) continue;
            for (int k = 0; k < data->dimension; k++) {
                mpq_t *row = data->response + k * data->n + data->stride * i;
                mpq_set_ui(slide, 0, 1);
                for (int j = 0; j < tangents; j++)
                    exact_rational_add_product(slide, row[1 + j], data->edge[corner * tangents + j], scratch);
                mpq_mul(slide, slide, data->friction[2 * i + choice / data->edges]);
                mpq_sub(speed[k], row[0], slide);
            }
            exact_polyhedron_add_point(session, flow, speed);
        }
        // The next contact changes its own debt alone.
        if (debt) mpq_set_ui(*debt, 0, 1);
    }
    for (int k = 0; k < data->width; k++) mpq_clear(speed[k]);
    mpq_clears(slide, scratch, NULL);
    // (d - d').t' = 0 under the speed.
    for (int i = 0; i < data->contacts && keeps_slip; i++)
        for (int k = 0; k < data->edges; k++) {
            const int next = (k + 1) % data->edges;
            const exact_state *state = &cells->states[cell->states[i]];
            if (is_corner(state, k) && is_corner(state, next)) constrain_slip(session, flow, data, i, (const int[]){k, next}, NULL, true);
        }
    flow = exact_polyhedron_settle(session, flow);
    if (!exact_polyhedron_is_empty(session, flow)) return flow;
    exact_polyhedron_free(flow);
    return NULL;
}

exact_polyhedron exact_cells_all_speeds(exact_session *session, const exact_cells *cells) {
    exact_cell all = {.code = 0};
    for (int i = 0; i < cells->data->contacts; i++) all.states[i] = cells->slipless;
    return make_flow(session, cells, &all, false);
}

// Adds the signs of n_i, t_i and R_i of a contact in a state; wider by `width` where that is not zero.
static void constrain_state(exact_session *session, exact_polyhedron cone, const exact_data *data, int contact, const exact_state *state,
                            const mpq_t width) {
    const mpq_t *margin = mpq_sgn(width) ? (const mpq_t *)width : NULL;
    // Inactive contacts do not approach and owe nothing: n_i >= 0, whatever the slip. Restoring ones open as well.
    const bool opens = !state->active || state->restores;
    exact_polyhedron_constrain(session, cone, normal_row(data, contact), opens ? 1 : -1, opens ? NULL : margin, false);
    constrain_owed(session, cone, data, contact, !state->active);
    if (!state->active || is_frictionless(data, contact)) return;
    if (!margin || !is_shared(state)) {
        constrain_sector(session, cone, data, contact, state);
        return;
    }
    // |t| <= width, in the plane.
    for (int sign = -1; sign <= 1; sign += 2) exact_polyhedron_constrain(session, cone, tangent_row(data, contact, 0), sign, margin, false);
}

// The states that contacts may have: inactive, the corners of the polygon, its sides and itself, and where something is owed the same again
// restoring.
static void list_states(exact_session *session, exact_cells *cells) {
    const int edges = cells->data->edges, sides = edges > 2 ? edges : 0, faces = edges + sides + 1;
    const int active = exact_data_is_inelastic(cells->data) ? faces : 2 * faces;
    cells->states = calloc((size_t)(1 + active), sizeof *cells->states);
    if (!cells->states) {
        exact_session_halt(session, EXACT_OUT_OF_MEMORY);
        return;
    }
    cells->state_count = 1 + active;
    cells->slipless = faces;
    for (int k = 0; k < active; k++) {
        const int face = k % faces;
        exact_state *state = &cells->states[1 + k];
        state->active = true;
        state->restores = k >= faces;
        if (face < edges)
            state->corners = UINT64_C(1) << face;
        else if (face < edges + sides)
            state->corners = UINT64_C(1) << (face - edges) | UINT64_C(1) << (face - edges + 1) % edges;
        else
            state->corners = edges == 64 ? UINT64_MAX : (UINT64_C(1) << edges) - 1;
    }
}

int exact_cells_neighbour(const exact_cells *cells, int cell, int contact, int state) {
    int place = 1;
    for (int i = 0; i < contact; i++) place *= cells->state_count;
    const exact_cell *from = &cells->cells[cell];
    return cells->index[from->code + (state - from->states[contact]) * place];
}

int exact_cells_door(const exact_cells *cells, int cell, int contact, int state) {
    const int own = cells->cells[cell].states[contact];
    const exact_state *from = &cells->states[own], *to = &cells->states[state];
    // Sectors of two faces meet in that of the least face with both. Overlapping ones meet in more.
    if (!from->active || !to->active || cells->overlapping) return state;
    const uint64_t corners = join(cells->data, from->corners, to->corners);
    if (from->restores == to->restores && corners == from->corners) return own;
    int door = state;
    for (int k = 1; k < cells->state_count; k++)
        if (cells->states[k].restores == to->restores && cells->states[k].corners == corners) door = k;
    return door;
}

void exact_cells_create(exact_session *session, const exact_data *data, const mpq_t width, exact_cells *cells) {
    *cells = (exact_cells){.data = data, .overlapping = mpq_sgn(width) > 0};
    list_states(session, cells);
    int codes = 1;
    for (int i = 0; i < data->contacts; i++) codes *= cells->state_count;
    cells->cells = calloc((size_t)codes, sizeof *cells->cells);
    cells->index = calloc((size_t)codes, sizeof *cells->index);
    cells->regions = calloc((size_t)(data->contacts * cells->state_count), sizeof *cells->regions);
    if (!cells->cells || !cells->index || !cells->regions) exact_session_halt(session, EXACT_OUT_OF_MEMORY);

    // T, where nothing is active, the half-spaces in which a contact approaches, and the regions of its states.
    cells->terminal = exact_polyhedron_universe(session);
    for (int i = 0; i < data->contacts && !session->stop; i++) {
        constrain_state(session, cells->terminal, data, i, &cells->states[0], width);
        cells->approaching[i] = exact_polyhedron_universe(session);
        exact_polyhedron_constrain(session, cells->approaching[i], normal_row(data, i), -1, NULL, false);
        cells->approaching[i] = exact_polyhedron_settle(session, cells->approaching[i]);
        for (int state = 0; state < cells->state_count && !session->stop; state++) {
            if (!is_possible(data, i, &cells->states[state])) continue;
            exact_polyhedron *region = &cells->regions[i * cells->state_count + state];
            *region = exact_polyhedron_universe(session);
            constrain_state(session, *region, data, i, &cells->states[state], width);
            *region = exact_polyhedron_settle(session, *region);
        }
    }
    cells->terminal = exact_polyhedron_settle(session, cells->terminal);

    // A cell for each code, whose digits are the states of the contacts. Code 0 is T.
    if (!session->stop) cells->index[0] = -1;
    for (int code = 1; code < codes && exact_session_continue(session); code++) {
        exact_cell *cell = &cells->cells[cells->count];
        *cell = (exact_cell){.code = code};
        cells->index[code] = -1;
        bool exists = true;
        for (int i = 0, digits = code; i < data->contacts; i++, digits /= cells->state_count) {
            cell->states[i] = digits % cells->state_count;
            exists = exists && is_possible(data, i, &cells->states[cell->states[i]]);
        }
        // A cell within T is not needed: solutions end there.
        if (!exists) continue;
        cell->cone = exact_polyhedron_universe(session);
        for (int i = 0; i < data->contacts; i++) constrain_state(session, cell->cone, data, i, &cells->states[cell->states[i]], width);
        cell->cone = exact_polyhedron_settle(session, cell->cone);
        if (session->stop || exact_polyhedron_contains(session, cells->terminal, cell->cone)) {
            exact_polyhedron_free(cell->cone);
            continue;
        }
        cell->flow = make_flow(session, cells, cell, !mpq_sgn(width));
        cells->index[code] = cells->count++;
    }
    cells->complete = !session->stop;
}

void exact_cells_free(exact_cells *cells) {
    for (int i = 0; i < cells->count; i++) {
        exact_polyhedron_free(cells->cells[i].cone);
        exact_polyhedron_free(cells->cells[i].flow);
    }
    free(cells->cells);
    free(cells->index);
    for (int i = 0; cells->regions && i < cells->data->contacts * cells->state_count; i++) exact_polyhedron_free(cells->regions[i]);
    free(cells->regions);
    free(cells->states);
    exact_polyhedron_free(cells->terminal);
    for (int i = 0; i < EXACT_MOST_CONTACTS; i++) exact_polyhedron_free(cells->approaching[i]);
    *cells = (exact_cells){0};
}
