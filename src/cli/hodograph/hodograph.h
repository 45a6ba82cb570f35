// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `carom hodograph` computes and draws: the process of one contact, and of the same contact with other initial slips.
#ifndef CAROM_CLI_HODOGRAPH_HODOGRAPH_H
#define CAROM_CLI_HODOGRAPH_HODOGRAPH_H

#include "cli/cli_internal.h"

/// One process with its answer.
typedef struct hodograph_curve {
    carom_contact_problem problem;
    carom_contact_result result;
    carom_contact_state *states;
    int count, capacity;
    bool out_of_memory;
} hodograph_curve;

typedef struct hodograph {
    const carom_scene *scene;
    const char *contact;  ///< its name
    int tangent_dim;
    hodograph_curve curve;  ///< of the scene
    hodograph_curve *fan;   ///< [fan_count], with slips of the scene's speed in equally spaced directions
    int fan_count;
    carom_invariant_ray rays[CAROM_MOST_RAYS];
    int ray_count;
    carom_plot_size size;  ///< of the pictures on paper; all zero: none
} hodograph;

/// What an event's letter stands for.
const char *hodograph_event_name(char event);
/// The state of a curve at one of its events.
const carom_contact_state *hodograph_event_state(const hodograph_curve *curve, int event);

/// Draws the pictures into a directory, PNG and SVG, and appends their paths to `files`: hodograph, impulses over their clock and in space
/// of a spatial contact, the impulse plane of a planar one.
carom_status hodograph_draw(const hodograph *h, const char *directory, json_t *files, carom_error *error);

#endif
