// SPDX-License-Identifier: Apache-2.0
// Patches of contacts that MuJoCo found: their corners stand for all.
#include <math.h>

#include "mujoco/mujoco_internal.h"

// Normals that differ by less than this angle are one [rad]: far above the round-off of collision detection, far below a shape's edges.
#define SAME_NORMAL 1e-3

carom_status model_merge_patches(const carom_model *model, model_touch *touches, int *count, double distance, carom_error *error) {
    const size_t room = (size_t)*count;
    carom_arena arena = {0};
    bool *placed = carom_arena_take(&arena, room, sizeof *placed), *kept = carom_arena_take(&arena, room, sizeof *kept);
    bool *corners = carom_arena_take(&arena, room, sizeof *corners);
    int *patch = carom_arena_take(&arena, room, sizeof *patch);
    double *points = carom_arena_take(&arena, 2 * room, sizeof *points);
    carom_status status = arena.failed ? carom_fail_memory(error, "patches of contacts") : CAROM_OK;
    for (int first = 0; !status && first < *count; first++) {
        if (placed[first]) continue;
        // The patch of this point: the same two bodies, normal and friction, at the same height along the normal.
        const model_touch *base = &touches[first];
        int members = 0;
        for (int i = first; i < *count; i++) {
            const int sign = model_compare_bodies(model, base, &touches[i]);
            double arm[3], turn[3];
            mju_sub3(arm, touches[i].point[0], base->point[0]);
            mju_addScl3(turn, base->normal, touches[i].normal, -sign);
            if (placed[i] || !sign || !(mju_norm3(turn) < SAME_NORMAL) || !(fabs(mju_dot3(arm, base->normal)) <= distance) ||
                touches[i].friction != base->friction || touches[i].restitution != base->restitution)
                continue;
            placed[i] = true;
            points[2 * members] = mju_dot3(arm, base->tangent[0]);
            points[2 * members + 1] = mju_dot3(arm, base->tangent[1]);
            patch[members++] = i;
        }
        status = carom_patch_corners(members, points, distance, corners, error);
        for (int k = 0; k < members && !status; k++) kept[patch[k]] = corners[k];
    }
    int left = 0;
    for (int i = 0; !status && i < *count; i++)
        if (kept[i]) touches[left++] = touches[i];
    if (!status) *count = left;
    carom_arena_free(&arena);
    return status;
}
