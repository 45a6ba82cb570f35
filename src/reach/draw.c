// SPDX-License-Identifier: Apache-2.0
// Draws of the caps lmax. Every draw in [0,h]^m is legal (Halm & Posa, Algorithm 1): they differ in which corners of the set they reach.
#include "reach/reach_internal.h"

// Caps of the other contacts in a near-single-contact draw, as a share of h. Exactly zero would keep redundant contacts from terminating.
#define NEARLY_NOTHING 1e-3
// Probability that a correlated draw keeps its direction for one more step: four steps on average.
#define HOLD 0.75
// Probability that a new direction is near a single contact.
#define SINGLE 0.5

const char *const carom_draw_names[] = {
    [CAROM_DRAW_UNIFORM] = "uniform", [CAROM_DRAW_CORRELATED] = "correlated", [CAROM_DRAW_SINGLE] = "single", NULL};

// The paper's draw: independent caps, uniform in [0, h].
static void draw_uniform(carom_draw_state *state, int contacts, double h, double *lmax) {
    for (int i = 0; i < contacts; i++) lmax[i] = h * carom_stream_uniform(&state->stream);
}

// One contact takes nearly all.
static void choose_single(carom_draw_state *state, int contacts, double *direction) {
    // Every contact is as likely; the others keep a little.
    const int chosen = (int)(contacts * carom_stream_uniform(&state->stream));
    for (int i = 0; i < contacts; i++) direction[i] = i == chosen ? 1 : NEARLY_NOTHING * carom_stream_uniform(&state->stream);
}

static void draw_single(carom_draw_state *state, int contacts, double h, double *lmax) {
    choose_single(state, contacts, state->direction);
    const double size = h * carom_stream_uniform(&state->stream);
    for (int i = 0; i < contacts; i++) lmax[i] = size * state->direction[i];
}

// Holds a direction for several steps, so that the impulses of many small steps need not average to one direction.
static void draw_correlated(carom_draw_state *state, int contacts, double h, double *lmax) {
    if (!state->has_direction || carom_stream_uniform(&state->stream) >= HOLD) {
        if (carom_stream_uniform(&state->stream) < SINGLE)
            choose_single(state, contacts, state->direction);
        else
            draw_uniform(state, contacts, 1, state->direction);
        state->has_direction = true;
    }
    const double size = h * carom_stream_uniform(&state->stream);
    for (int i = 0; i < contacts; i++) lmax[i] = size * state->direction[i];
}

carom_draw_caps carom_draw_function(carom_draw draw) {
    static const carom_draw_caps functions[] = {
        [CAROM_DRAW_UNIFORM] = draw_uniform, [CAROM_DRAW_CORRELATED] = draw_correlated, [CAROM_DRAW_SINGLE] = draw_single};
    return functions[draw];
}
