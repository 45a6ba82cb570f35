// SPDX-License-Identifier: Apache-2.0
// A cue ball hits two balls at rest on their bisector: how much does the order of the two impacts matter, by the angle between the balls?
// Prints for several mass ratios the angle in degrees and xi, the kinetic distance of the two outcomes over |p-| (docs/propagative.md).
#include <carom/propagative.h>
#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

// The ball's velocities are x, y of the two balls, then of the cue ball, which comes in along x.
static carom_status measure_break(double angle, double cue_mass, double *xi, carom_error *error) {
    const double c = cos(angle / 2), s = sin(angle / 2);
    double mass[36] = {0};
    for (int i = 0; i < 6; i++) mass[7 * i] = i < 4 ? 1 : cue_mass;
    const carom_impact_data data = {.nv = 6,
                                    .contacts = 2,
                                    .tangent_dim = 1,
                                    .mass = mass,
                                    .normal = (double[]){c, s, 0, 0, -c, -s, 0, 0, c, -s, -c, s},
                                    .velocity = (double[]){0, 0, 0, 0, 1, 0}};
    const carom_word_limits limits = carom_word_limits_defaults();
    carom_impact *impact = NULL;
    carom_propagative *propagative = NULL;
    carom_uniqueness *uniqueness = NULL;
    carom_status status = carom_impact_create(&data, &impact, error);
    if (!status) status = carom_propagative_create(impact, &propagative, error);
    if (!status) status = carom_propagative_uniqueness(propagative, &limits, NULL, &uniqueness, error);
    if (!status) *xi = uniqueness->difference;
    carom_uniqueness_free(uniqueness);
    carom_propagative_free(propagative);
    carom_impact_free(impact);
    return status;
}

int main(void) {
    // Balls of one density: the cue ball's radius over that of the others gives its mass and the least angle.
    static const double radii[] = {1, 0.5, 2.8637};
    carom_error error;
    for (int r = 0; r < 3; r++) {
        const double cue_mass = pow(radii[r], 3), least = 2 * asin(1 / (1 + radii[r]));
        printf("# mass of the cue ball %.6g\n", cue_mass);
        for (int k = 0; k <= 600; k++) {
            const double angle = least + (PI - least) * k / 600;
            double xi;
            if (measure_break(angle, cue_mass, &xi, &error)) {
                fprintf(stderr, "billiards: %s\n", error.message);
                return 1;
            }
            printf("%.6f %.9f\n", angle * 180 / PI, xi);
        }
        printf("\n\n");
    }
    return 0;
}
