// SPDX-License-Identifier: Apache-2.0
// Which joint contact modes an exact set meets. A mode is a relatively open cone: n_i > 0 where a contact lifts, otherwise n_i = 0 with
// t_i = 0, > 0 or < 0. A convex piece meets it when its part with n_i = 0 and t_i = 0, >= 0 or <= 0 has, for each strict inequality, a
// vertex where it holds: the mean of the vertices then satisfies them all.
#include <stdlib.h>

#include "exact/ppl/output.h"

typedef struct mode_search {
    exact_session *session;
    const exact_data *data;
    carom_joint_modes *modes;
    unsigned char motions[EXACT_MOST_CONTACTS];  // chosen so far
    carom_status status;
    carom_error *error;
} mode_search;

// The contact's motion holds at some vertex of the part, and so strictly inside it. A double has the sign of the rational it is nearest to.
static bool moves_so(const carom_piece *part, int n, int contact, carom_contact_motion motion) {
    if (motion == CAROM_MOTION_STICK) return true;
    const int row = 2 * contact + (motion != CAROM_MOTION_LIFT), sign = motion == CAROM_MOTION_BACKWARD ? -1 : 1;
    bool strictly = false;
    for (int k = 0; k < part->vertices; k++) strictly |= sign * part->contact_velocity[k * n + row] > 0;
    return strictly;
}

// The part of a piece in the closure of the mode of all motions: does it meet the mode itself? Then its vertices give the ranges.
static void take_part(mode_search *search, exact_polyhedron polytope) {
    const exact_data *data = search->data;
    const int n = data->n, nv = data->nv;
    const exact_pieces alone = {.items = &polytope, .count = 1};
    carom_polyhedra *written;
    search->status = exact_output_create(search->session, data, &alone, &written, search->error);
    if (search->status) return;
    const carom_piece *part = written->pieces;
    bool meets = written->count == 1;
    for (int i = 0; i < data->contacts && meets; i++) meets = moves_so(part, n, i, search->motions[i]);
    // The witness: the mean of the vertices.
    double mean[CAROM_EXACT_MOST_VELOCITIES] = {0}, normal[EXACT_MOST_CONTACTS], tangent[EXACT_MOST_CONTACTS];
    for (int k = 0; meets && k < part->vertices; k++)
        for (int j = 0; j < nv; j++) mean[j] += part->velocity[k * nv + j] / part->vertices;
    carom_joint_mode *mode = NULL;
    for (int k = 0; meets && k < part->vertices && !search->status; k++) {
        for (int i = 0; i < data->contacts; i++) {
            normal[i] = part->contact_velocity[k * n + 2 * i];
            tangent[i] = part->contact_velocity[k * n + 2 * i + 1];
        }
        search->status = carom_joint_modes_widen(search->modes, search->motions, normal, tangent, mean, &mode, search->error);
    }
    if (mode) mode->count++;
    carom_polyhedra_free(written);
}

static exact_polyhedron part_with(mode_search *search, exact_polyhedron whole, int row, int sign, bool equality) {
    exact_polyhedron part = exact_polyhedron_copy(search->session, whole);
    exact_polyhedron_constrain(search->session, part, search->data->contact_rows + row * search->data->width, sign, NULL, equality);
    return exact_polyhedron_settle(search->session, part);
}

// Tries the motions of a contact, and of those after it, on the part of a piece that the motions of those before it leave.
static void try_motions(mode_search *search, exact_polyhedron part, int contact) {
    exact_session *session = search->session;
    if (search->status || !exact_session_continue(session) || exact_polyhedron_is_empty(session, part)) return;
    if (contact == search->data->contacts) {
        take_part(search, part);
        return;
    }
    const int normal = 2 * contact, tangent = normal + 1;
    exact_polyhedron closed = part_with(search, part, normal, 1, true), rest = part_with(search, closed, tangent, 1, true),
                     forward = part_with(search, closed, tangent, 1, false), backward = part_with(search, closed, tangent, -1, false);
    // Nothing of a part moves so that lies in the edge of its motion.
    const struct {
        carom_contact_motion motion;
        exact_polyhedron part, edge;
    } candidates[] = {{CAROM_MOTION_STICK, rest, NULL},
                      {CAROM_MOTION_FORWARD, forward, rest},
                      {CAROM_MOTION_BACKWARD, backward, rest},
                      {CAROM_MOTION_LIFT, part, closed}};
    for (int i = 0; i < 4; i++) {
        if (candidates[i].edge && exact_polyhedron_contains(session, candidates[i].edge, candidates[i].part)) continue;
        search->motions[contact] = (unsigned char)candidates[i].motion;
        try_motions(search, candidates[i].part, contact + 1);
    }
    exact_polyhedron_free(backward);
    exact_polyhedron_free(forward);
    exact_polyhedron_free(rest);
    exact_polyhedron_free(closed);
}

carom_status exact_output_modes(exact_session *session, const exact_data *data, const exact_pieces *pieces, carom_joint_modes *modes,
                                carom_error *error) {
    mode_search search = {.session = session, .data = data, .modes = modes, .error = error};
    for (int i = 0; i < pieces->count; i++) try_motions(&search, pieces->items[i], 0);
    return search.status;
}
