// SPDX-License-Identifier: Apache-2.0
// Tapes on the impact that they are for. The impact of a point is made anew only where the point is another one.
#include "reach/player.h"

#include <math.h>
#include <string.h>

carom_status carom_player_create(const carom_impact *impact, const carom_uncertainty *uncertainty, const carom_member_source *source,
                                 bool records, const carom_control *control, carom_player *player, carom_error *error) {
    // Of what is known there is one impact.
    if (uncertainty && !carom_uncertainty_dimension(uncertainty)) uncertainty = NULL;
    *player = (carom_player){.impact = impact, .uncertainty = uncertainty, .source = source, .control = control, .records = records};
    const size_t dimension = uncertainty ? (size_t)carom_uncertainty_dimension(uncertainty) : 0;
    player->point = carom_arena_take(&player->arena, dimension + 1, sizeof(double));
    player->asked = carom_arena_take(&player->arena, dimension + 1, sizeof(double));
    player->values = carom_arena_take(&player->arena, uncertainty ? (size_t)carom_uncertainty_count(uncertainty) + 1 : 1, sizeof(double));
    if (player->arena.failed) return carom_fail_memory(error, "worst cases");
    // The maker of an uncertain impact waits for its point.
    player->point[0] = NAN;
    const carom_status status = uncertainty ? CAROM_OK : source->kind->create(source->user, impact, records, &player->maker, error);
    carom_player_watch(player, control);
    return status;
}

void carom_player_release(carom_player *player) {
    if (player->maker) player->source->kind->free(player->maker);
    carom_impact_free(player->drawn);
    carom_tape_release(&player->start);
    carom_arena_free(&player->arena);
}

void carom_player_watch(carom_player *player, const carom_control *control) {
    player->control = control;
    if (player->maker) player->source->kind->watch(player->maker, control);
}

// Brings the player to the impact of the point that is asked for.
static carom_status move_to_point(carom_player *player, carom_error *error) {
    const size_t size = (size_t)carom_uncertainty_dimension(player->uncertainty) * sizeof(double);
    if (player->maker && !memcmp(player->asked, player->point, size)) return CAROM_OK;
    const carom_member_kind *kind = player->source->kind;
    if (player->maker) kind->free(player->maker);
    carom_impact_free(player->drawn);
    player->maker = NULL;
    player->drawn = NULL;
    memcpy(player->point, player->asked, size);
    carom_uncertainty_values(player->uncertainty, player->point, player->values);
    carom_status status = carom_uncertainty_impact(player->uncertainty, player->values, &player->drawn, error);
    if (!status) status = kind->create(player->source->user, player->drawn, player->records, &player->maker, error);
    if (status) return status;
    player->impact = player->drawn;
    carom_player_watch(player, player->control);
    return CAROM_OK;
}

carom_status carom_player_play(carom_player *player, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded,
                               carom_error *error) {
    player->members = (carom_members){.verdict = CAROM_INCOMPLETE};
    const int dimension = player->uncertainty ? carom_uncertainty_dimension(player->uncertainty) : 0;
    carom_status status = CAROM_OK;
    if (dimension) {
        carom_uncertainty_draw(player->uncertainty, seed, index, player->asked);
        for (int64_t k = 0; played && k < played->count && played->numbers[k].piece == CAROM_TAPE_POINT; k++)
            if (played->numbers[k].what < dimension) player->asked[played->numbers[k].what] = played->numbers[k].value;
        status = move_to_point(player, error);
    }
    if (!status) status = player->source->kind->play(player->maker, played, seed, index, recorded, &player->members, error);
    if (status || !recorded || !dimension) return status;
    // The point stands before the numbers of the member.
    player->start.count = 0;
    for (int k = 0; k < dimension; k++) carom_tape_add(&player->start, (carom_tape_number){CAROM_TAPE_POINT, k, player->point[k]});
    for (int64_t k = 0; k < recorded->count; k++) carom_tape_add(&player->start, recorded->numbers[k]);
    const carom_tape whole = player->start;
    player->start = *recorded;
    *recorded = whole;
    return CAROM_OK;
}

double carom_player_value(const carom_player *player, const carom_functional *functional, int64_t *member) {
    const carom_members *members = &player->members;
    const int64_t nv = carom_impact_get_data(player->impact)->nv, n = carom_impact_contact_size(player->impact);
    const double before = carom_impact_initial_energy(player->impact);
    double most = -INFINITY;
    for (int64_t i = 0; i < members->count; i++) {
        const double *v = members->v + i * nv;
        const double ratio = functional->energy != 0 ? carom_impact_kinetic_energy(player->impact, v) / before : NAN;
        const carom_outcome_point point = {members->u + i * n, v, members->impulse + i * n, ratio};
        const double value = carom_functional_value(functional, &point);
        if (!(value > most)) continue;
        most = value;
        if (member) *member = i;
    }
    return most;
}
