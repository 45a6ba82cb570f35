// SPDX-License-Identifier: Apache-2.0
// A block falls flat on its two corners: with which normal velocities can they leave the ground?
#include <carom/laws.h>
#include <stdio.h>

int main(void) {
    const carom_impact_data block = {
        .nv = 3,
        .contacts = 2,
        .tangent_dim = 1,  // velocities x, z, theta; planar
        .mass = (double[]){1, 0, 0, 0, 1, 0, 0, 0, 5.0 / 12},
        .normal = (double[]){0, 1, -0.5, 0, 1, 0.5},
        .tangent = (double[]){1, 0, 1, 1, 0, 1},
        .friction = (double[]){1, 1},
        .velocity = (double[]){0, -0.443, 0},
    };
    carom_impact *impact = NULL;
    carom_answer answer = {NULL, NULL};
    carom_extent *extent = NULL;
    carom_error error;
    carom_status status = carom_impact_create(&block, &impact, &error);
    const carom_law_call call = {.impact = impact};  // options, threads, sink: by default
    if (!status) status = carom_law_resolve(&carom_law_halm_posa, &call, &answer, &error);
    if (!status) status = carom_extent_create(impact, &extent, &error);
    if (status) {
        fprintf(stderr, "impact: %s\n", error.message);
    } else {
        carom_extent_widen(extent, answer.outcomes);
        printf("%lld outcomes; corners leave at up to %.3f and %.3f m/s\n", (long long)extent->outcomes, extent->normal[1],
               extent->normal[3]);
    }
    carom_extent_free(extent);
    carom_answer_free(&answer);
    carom_impact_free(impact);
    return (int)status;
}
