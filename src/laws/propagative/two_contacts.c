// SPDX-License-Identifier: Apache-2.0
// Two contacts in closed form. Unfolding the wedge of angle alpha between the mirrors turns every word into a straight line (Seghete &
// Murphey, Theorem 1, with the tight bound ceil(pi / alpha) instead of ceil(2 pi / alpha)).
#include <math.h>

#include "laws/propagative/propagative_internal.h"

// Cosines closer to -1 and 1 are of opposed and of equal normals.
#define LEAST_WEDGE 1e-12
// A direction this close to the end of a wedge, in wedges, is in it: round-off of the angle.
#define WEDGE_ROUND_OFF 1e-9

static int64_t count_wedges(double turns) { return turns > WEDGE_ROUND_OFF ? (int64_t)ceil(turns - WEDGE_ROUND_OFF) : 0; }

// The direction after `letters` reflections; the word that starts with the second contact turns towards smaller angles.
static double final_direction(double theta, double wedge, int64_t letters, int first) {
    const double unfolded = first ? theta - (double)letters * wedge : theta + (double)letters * wedge;
    return letters % 2 ? -unfolded : unfolded;
}

carom_status carom_two_contacts_solve(double cosine, const double rates[2], carom_two_contacts *result, carom_error *error) {
    *result = (carom_two_contacts){.cosine = cosine, .difference_bound = NAN};
    if (!(fabs(cosine) < 1 - LEAST_WEDGE))
        return carom_fail(error, CAROM_BAD_INPUT, "two normals with the cosine %.17g are parallel: their mirrors form no wedge", cosine);
    const double wedge = acos(-cosine), gamma = 0.5 * wedge, a = rates[0], b = rates[1];
    result->wedge_angle = wedge;
    result->bound = count_wedges(PI / wedge);

    // The angle from the bisector of the normals; the first normal is at pi/2 - gamma, and |theta| <= gamma is feasible.
    const double theta = atan2((a - b) / (2 * cos(gamma)), (a + b) / (2 * sin(gamma)));
    const bool approaches[2] = {a < -CAROM_WORD_RATE_TOLERANCE, b < -CAROM_WORD_RATE_TOLERANCE};
    const int near = theta >= 0 ? 1 : 0;
    if (approaches[near]) result->length[near] = count_wedges((fabs(theta) - gamma) / wedge);
    if (approaches[1 - near]) result->length[1 - near] = count_wedges((2 * PI - fabs(theta) - gamma) / wedge);
    // With one word there is one outcome.
    if (!approaches[0] || !approaches[1]) return CAROM_OK;

    // |p_N|, the part of p in the plane of the normals: (a^2 + b^2 - 2abc)/(1 - c^2) without cancellation.
    const double part = sqrt(0.5 * ((a + b) * (a + b) / (1 + cosine) + (a - b) * (a - b) / (1 - cosine)));
    const double turn = final_direction(theta, wedge, result->length[0], 0) - final_direction(theta, wedge, result->length[1], 1);
    result->difference = 2 * part * fabs(sin(0.5 * turn));
    if (result->length[0] == result->length[1]) result->difference_bound = 2 * fabs(sin((double)result->length[0] * wedge));
    return CAROM_OK;
}
