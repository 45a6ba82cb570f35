// SPDX-License-Identifier: Apache-2.0
// What all contacts do together: modes in the order of their motions, each with its ranges.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/joint_modes.h"

const char *carom_contact_motion_name(carom_contact_motion motion) {
    static const char *const names[CAROM_MOTIONS] = {
        [CAROM_MOTION_STICK] = "stick", [CAROM_MOTION_FORWARD] = "forward", [CAROM_MOTION_BACKWARD] = "backward",
        [CAROM_MOTION_SLIDE] = "slide", [CAROM_MOTION_LIFT] = "lift",
    };
    return names[motion];
}

carom_status carom_joint_modes_create(const carom_impact *impact, carom_joint_modes **modes, carom_error *error) {
    *modes = calloc(1, sizeof **modes);
    if (!*modes) return carom_fail_memory(error, "joint modes");
    (*modes)->sizes = carom_impact_sizes(impact);
    (*modes)->tolerance = -carom_impact_approach_limit(impact);
    return CAROM_OK;
}

void carom_joint_modes_free(carom_joint_modes *modes) {
    if (!modes) return;
    carom_arena_free(&modes->arena);
    free(modes->modes);
    free(modes);
}

// Puts a mode without outcomes at its place.
static carom_status insert(carom_joint_modes *modes, int place, const unsigned char *motions, const double *velocity, carom_error *error) {
    const size_t contacts = (size_t)modes->sizes.contacts, tangents = (size_t)modes->sizes.tangents, nv = (size_t)modes->sizes.nv;
    if (modes->count == modes->room) {
        const int room = 2 * modes->room + 8;
        carom_joint_mode *grown = realloc(modes->modes, (size_t)room * sizeof *grown);
        if (!grown) return carom_fail_memory(error, "joint modes");
        modes->modes = grown;
        modes->room = room;
    }
    carom_joint_mode made = {.motions = carom_arena_take(&modes->arena, contacts, 1),
                             .normal = carom_arena_take(&modes->arena, 2 * contacts, sizeof(double)),
                             .tangent = carom_arena_take(&modes->arena, 2 * tangents, sizeof(double)),
                             .witness = carom_arena_take(&modes->arena, nv, sizeof(double))};
    if (modes->arena.failed) return carom_fail_memory(error, "joint modes");
    memcpy(made.motions, motions, contacts);
    memcpy(made.witness, velocity, nv * sizeof(double));
    // Empty ranges, which any number widens.
    for (size_t i = 0; i < contacts; i++) made.normal[2 * i] = INFINITY, made.normal[2 * i + 1] = -INFINITY;
    for (size_t i = 0; i < tangents; i++) made.tangent[2 * i] = INFINITY, made.tangent[2 * i + 1] = -INFINITY;
    carom_joint_mode *target = modes->modes + place;
    memmove(target + 1, target, (size_t)(modes->count - place) * sizeof *target);
    *target = made;
    modes->count++;
    return CAROM_OK;
}

carom_status carom_joint_modes_widen(carom_joint_modes *modes, const unsigned char *motions, const double *normal, const double *tangent,
                                     const double *velocity, carom_joint_mode **mode, carom_error *error) {
    // By bisection: where the motions are, or would have to be.
    const size_t contacts = (size_t)modes->sizes.contacts;
    int first = 0, last = modes->count;
    while (first < last) {
        const int middle = (first + last) / 2;
        if (memcmp(modes->modes[middle].motions, motions, contacts) < 0)
            first = middle + 1;
        else
            last = middle;
    }
    if (first == modes->count || memcmp(modes->modes[first].motions, motions, contacts) != 0) {
        const carom_status status = insert(modes, first, motions, velocity, error);
        if (status) return status;
    }
    carom_joint_mode *found = modes->modes + first;
    for (int i = 0; i < modes->sizes.contacts; i++) {
        found->normal[2 * i] = fmin(found->normal[2 * i], normal[i]);
        found->normal[2 * i + 1] = fmax(found->normal[2 * i + 1], normal[i]);
    }
    for (int i = 0; i < modes->sizes.tangents; i++) {
        found->tangent[2 * i] = fmin(found->tangent[2 * i], tangent[i]);
        found->tangent[2 * i + 1] = fmax(found->tangent[2 * i + 1], tangent[i]);
    }
    if (mode) *mode = found;
    return CAROM_OK;
}

// What a contact does, by velocities in doubles. CAROM_MOTIONS: it approaches still.
static carom_contact_motion motion_of(double normal, const double *tangent, int tangent_dim, double tolerance) {
    switch (carom_contact_mode_of(normal, tangent, tangent_dim, tolerance)) {
    case CAROM_CONTACT_STICKS: return CAROM_MOTION_STICK;
    case CAROM_CONTACT_SLIDES: return tangent_dim == 2 ? CAROM_MOTION_SLIDE : *tangent > 0 ? CAROM_MOTION_FORWARD : CAROM_MOTION_BACKWARD;
    case CAROM_CONTACT_LIFTS: return CAROM_MOTION_LIFT;
    default: return CAROM_MOTIONS;
    }
}

carom_status carom_joint_modes_see(carom_joint_modes *modes, const carom_table *outcomes, carom_error *error) {
    const int contacts = modes->sizes.contacts, tangents = modes->sizes.tangents, dim = tangents / contacts;
    const double *normals = carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY);
    const double *slips = carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY);
    const double *velocities = carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY);
    const int64_t *flags = carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS);
    unsigned char *motions = malloc((size_t)contacts);
    if (!motions) return carom_fail_memory(error, "joint modes");
    carom_status status = CAROM_OK;
    for (int64_t row = 0; row < carom_table_rows(outcomes) && !status; row++) {
        const double *normal = normals + row * contacts, *tangent = slips + row * tangents;
        bool finished = true;
        for (int i = 0; i < contacts; i++) {
            motions[i] = (unsigned char)motion_of(normal[i], tangent + i * dim, dim, modes->tolerance);
            finished &= motions[i] < CAROM_MOTIONS;
        }
        if (!finished) {
            modes->unfinished++;
            continue;
        }
        carom_joint_mode *mode;
        status = carom_joint_modes_widen(modes, motions, normal, tangent, velocities + row * modes->sizes.nv, &mode, error);
        if (status) break;
        const bool approximate = flags[row] & CAROM_FLAG_APPROXIMATE;
        mode->count++;
        mode->approximate += approximate;
        modes->seen++;
        modes->approximate += approximate;
    }
    free(motions);
    return status;
}

static carom_status receive(void *user, const carom_table *outcomes, carom_error *error) {
    return carom_joint_modes_see(user, outcomes, error);
}

carom_sink carom_joint_modes_sink(carom_joint_modes *modes) { return (carom_sink){.receive = receive, .user = modes}; }
