// SPDX-License-Identifier: Apache-2.0
// Impacts in which no contact approaches, and contacts at rest that friction may press together: an impact without collision.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/impact.h"

// Friction presses a contact in where a unit of normal impulse, with the friction that it allows against the slip, changes the normal
// velocity by less than this share of W_nn.
#define ROUND_OFF 1e-9

// Does the contact rest in its normal direction and slide? Then `*presses` says whether friction presses it in.
static bool slides_at_rest(const carom_impact *impact, const double *u, int contact, bool *presses) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int dim = data->tangent_dim, n = carom_impact_contact_size(impact), first = contact * (1 + dim);
    const double limit = -carom_impact_approach_limit(impact), *row = carom_impact_delassus(impact) + (size_t)first * (size_t)n + first;
    const double slip = dim == 1 ? fabs(u[first + 1]) : hypot(u[first + 1], u[first + 2]);
    *presses = false;
    if (fabs(u[first]) > limit || !(slip > limit) || !(data->friction[contact] > 0)) return false;
    double rate = row[0];
    for (int k = 1; k <= dim; k++) rate -= data->friction[contact] * row[k] * u[first + k] / slip;
    *presses = rate < -ROUND_OFF * row[0];
    return true;
}

carom_status carom_impact_describe_rest(const carom_impact *impact, char text[CAROM_MESSAGE_SIZE], carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const bool still = carom_impact_velocity_scale(impact) == 0;
    *text = '\0';
    if (still) {
        snprintf(text, CAROM_MESSAGE_SIZE, "no contact approaches: every contact is at rest, and the velocity stays as it is");
        return CAROM_OK;
    }
    double *u = malloc((size_t)carom_impact_contact_size(impact) * sizeof *u);
    if (!u) return carom_fail_memory(error, "contact velocities");
    carom_impact_contact_velocity(impact, data->velocity, u);
    const bool terminated = carom_impact_terminated(impact, u);
    const char *pressed = NULL, *sliding = NULL;
    for (int i = data->contacts - 1; i >= 0; i--) {
        bool presses;
        const bool slides = slides_at_rest(impact, u, i, &presses);
        if (slides && presses) pressed = data->names[i];
        if (slides) sliding = data->names[i];
    }
    free(u);
    if (terminated)
        snprintf(text, CAROM_MESSAGE_SIZE, "no contact approaches: nothing collides in this state, and the velocity stays as it is");
    size_t used = strlen(text);
    if (pressed)
        snprintf(
            text + used, CAROM_MESSAGE_SIZE - used,
            "%scontact %s rests and slides, and friction would press it in: an impact without collision may begin there, which stronge "
            "with allow_tangential computes, anitescu-potra with selection all lists, and other laws leave out",
            used ? "; but " : "", pressed);
    else if (terminated && sliding)
        snprintf(text + used, CAROM_MESSAGE_SIZE - used,
                 "; friction of contact %s, which rests and slides, is a force over time, not an impulse (carom simulate)", sliding);
    return CAROM_OK;
}
