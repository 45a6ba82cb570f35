// SPDX-License-Identifier: Apache-2.0
// Rivals: cones that overlap and have different velocities there, as training steps show.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "step/cones/build.h"

// Training steps at which cones are compared: some ten milliseconds for a thousand cones.
enum { COMPARED_STEPS = 1024 };

void carom_cone_velocity(const carom_cones *cones, const double *delassus, int cone, const double *x, double *velocity) {
    const int n = cones->n;
    const double *map = cones->maps + (size_t)cone * (size_t)cones->inputs * cones->map_rows;
    double impulse[CAROM_MOST_MAPPED];
    for (int r = 0; r < n; r++) {
        impulse[r] = 0;
        for (int j = 0; j < cones->inputs; j++) impulse[r] += map[(size_t)j * cones->map_rows + (size_t)r] * x[j];
    }
    for (int r = 0; r < n; r++) velocity[r] = x[r] + carom_dot(n, delassus + r * n, impulse);
}

bool carom_cone_same_velocity(int n, const double *x, const double *a, const double *b) {
    double largest = 0, difference = 0;
    for (int r = 0; r < n; r++) {
        largest = fmax(fmax(fabs(x[r]), fabs(a[r])), largest);
        difference = fmax(fabs(a[r] - b[r]), difference);
    }
    return difference <= CAROM_CONE_SAME_VELOCITY * largest;
}

carom_status carom_cones_find_rivals(carom_cones *cones, const double *delassus, const carom_cone_training *training, carom_error *error) {
    const size_t count = (size_t)cones->count, width = (size_t)cones->inputs + 1;
    bool *is_rival = calloc(count * count + 1, sizeof *is_rival);
    cones->first_rival = calloc(count + 1, sizeof *cones->first_rival);
    cones->rivals = NULL;
    int total = 0;
    const int steps = training->count < COMPARED_STEPS ? training->count : COMPARED_STEPS;
    for (int k = 0; k < steps && is_rival; k++) {
        const double *x = training->states + (size_t)((int64_t)k * training->count / steps) * (size_t)cones->inputs;
        const double size = carom_cone_input_size(cones->inputs, cones->per_unit, x);
        double velocity[CAROM_MOST_MAPPED], other[CAROM_MOST_MAPPED];
        size_t first = count;
        // Against the first cone that has the step, as a lookup finds it.
        for (size_t i = 0; i < count; i++) {
            const int from = cones->first_row[i];
            if (!carom_cone_rows_hold(cones->inputs, cones->rows + (size_t)from * width, cones->first_row[i + 1] - from, x, size)) continue;
            carom_cone_velocity(cones, delassus, (int)i, x, first == count ? velocity : other);
            if (first == count) {
                first = i;
            } else if (!is_rival[first * count + i] && !carom_cone_same_velocity(cones->n, x, velocity, other)) {
                is_rival[first * count + i] = true;
                total++;
            }
        }
    }
    cones->rivals = malloc(((size_t)total + 1) * sizeof *cones->rivals);
    if (!is_rival || !cones->first_rival || !cones->rivals) {
        free(is_rival);
        return carom_fail_memory(error, "cone map");
    }
    for (size_t i = 0, at = 0; i < count; i++) {
        for (size_t other = 0; other < count; other++)
            if (is_rival[i * count + other]) cones->rivals[at++] = (int32_t)other;
        cones->first_rival[i + 1] = (int)at;
    }
    free(is_rival);
    return CAROM_OK;
}
