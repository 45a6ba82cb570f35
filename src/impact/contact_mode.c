// SPDX-License-Identifier: Apache-2.0
// What a contact does after the impact: sticks, slides, lifts, or approaches still.
#include <math.h>

#include "carom/impact.h"

const char *carom_contact_mode_name(carom_contact_mode mode) {
    static const char *const names[CAROM_CONTACT_MODES] = {
        [CAROM_CONTACT_STICKS] = "stick",
        [CAROM_CONTACT_SLIDES] = "slide",
        [CAROM_CONTACT_LIFTS] = "lift",
        [CAROM_CONTACT_APPROACHES] = "approach",
    };
    return names[mode];
}

carom_contact_mode carom_contact_mode_of(double normal, const double *tangent, int tangent_dim, double tolerance) {
    // The normal velocity first: only a contact that stays closed sticks or slides.
    if (normal > tolerance) return CAROM_CONTACT_LIFTS;
    if (normal < -tolerance) return CAROM_CONTACT_APPROACHES;
    const double speed = tangent_dim == 1 ? fabs(tangent[0]) : hypot(tangent[0], tangent[1]);
    return speed <= tolerance ? CAROM_CONTACT_STICKS : CAROM_CONTACT_SLIDES;
}
