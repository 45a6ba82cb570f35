// SPDX-License-Identifier: Apache-2.0
// Tapes on the impact that they are for. The impact of a point is made anew only where the point is another one.
#include "reach/player.h"

#include <math.h>
#include <string.h>

carom_status carom_player_create(const carom_impact *impact, const carom_uncertainty *uncertainty, const carom_walker_options *options,
                                 const carom_control *control, carom_player *player, carom_error *error) {
    *player = (carom_player){.impact = impact, .uncertainty = uncertainty, .options = options, .control = control};
    const size_t nv = (size_t)carom_impact_get_data(impact)->nv, n = (size_t)carom_impact_contact_size(impact);
    const size_t dimension = uncertainty ? (size_t)carom_uncertainty_dimension(uncertainty) : 0;
    player->v = carom_arena_take(&player->arena, nv, sizeof(double));
    player->u = carom_arena_take(&player->arena, n, sizeof(double));
    player->impulse = carom_arena_take(&player->arena, n, sizeof(double));
    player->point = carom_arena_take(&player->arena, dimension + 1, sizeof(double));
    player->asked = carom_arena_take(&player->arena, dimension + 1, sizeof(double));
    player->values = carom_arena_take(&player->arena, uncertainty ? (size_t)carom_uncertainty_count(uncertainty) + 1 : 1, sizeof(double));
    if (player->arena.failed) return carom_fail_memory(error, "walks");
    // The walker of an uncertain impact waits for its point.
    player->point[0] = NAN;
    const carom_status status = uncertainty ? CAROM_OK : carom_walker_create(impact, options, &player->walker, error);
    if (!status && player->walker) carom_walker_watch(player->walker, control);
    return status;
}

void carom_player_release(carom_player *player) {
    carom_walker_free(player->walker);
    carom_impact_free(player->drawn);
    carom_tape_release(&player->start);
    carom_arena_free(&player->arena);
}

// Brings the player to the impact of the point that is asked for.
static carom_status move_to_point(carom_player *player, carom_error *error) {
    const size_t size = (size_t)carom_uncertainty_dimension(player->uncertainty) * sizeof(double);
    if (player->walker && !memcmp(player->asked, player->point, size)) return CAROM_OK;
    carom_walker_free(player->walker);
    carom_impact_free(player->drawn);
    player->walker = NULL;
    player->drawn = NULL;
    memcpy(player->point, player->asked, size);
    carom_uncertainty_values(player->uncertainty, player->point, player->values);
    carom_status status = carom_uncertainty_impact(player->uncertainty, player->values, &player->drawn, error);
    if (!status) status = carom_walker_create(player->drawn, player->options, &player->walker, error);
    if (status) return status;
    player->impact = player->drawn;
    carom_walker_watch(player->walker, player->control);
    return CAROM_OK;
}

carom_status carom_player_play(carom_player *player, const carom_tape *played, int64_t seed, int64_t index, carom_tape *recorded,
                               carom_verdict *verdict, carom_error *error) {
    *verdict = CAROM_INCOMPLETE;
    const int dimension = player->uncertainty ? carom_uncertainty_dimension(player->uncertainty) : 0;
    if (dimension) {
        carom_uncertainty_draw(player->uncertainty, seed, index, player->asked);
        for (int64_t k = 0; played && k < played->count && played->numbers[k].piece == CAROM_TAPE_POINT; k++)
            if (played->numbers[k].what < dimension) player->asked[played->numbers[k].what] = played->numbers[k].value;
        const carom_status moved = move_to_point(player, error);
        if (moved) return moved;
    }
    const carom_status status = carom_walker_record(player->walker, player->records, error);
    if (status) return status;
    *verdict = carom_walker_play(player->walker, played, seed, index, player->v, player->impulse, recorded, &player->counts);
    carom_impact_contact_velocity(player->impact, player->v, player->u);
    if (!recorded || !dimension) return CAROM_OK;
    // The point stands before the numbers of the walk.
    player->start.count = 0;
    for (int k = 0; k < dimension; k++) carom_tape_add(&player->start, (carom_tape_number){CAROM_TAPE_POINT, k, player->point[k]});
    for (int64_t k = 0; k < recorded->count; k++) carom_tape_add(&player->start, recorded->numbers[k]);
    const carom_tape whole = player->start;
    player->start = *recorded;
    *recorded = whole;
    return CAROM_OK;
}
