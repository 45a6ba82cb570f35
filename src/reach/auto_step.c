// SPDX-License-Identifier: Apache-2.0
// The step that `auto` stands for: the sum of the Anitescu-Potra outcome's normal impulses.
#include <math.h>
#include <stdlib.h>

#include "carom/reach.h"

carom_status carom_reach_auto_step(const carom_impact *impact, int64_t cone_edges, double *step, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact), nv = (size_t)data->nv, stride = 1 + (size_t)data->tangent_dim;
    *step = NAN;
    carom_stepper_options options = carom_stepper_defaults();
    int edges;
    carom_status status = carom_impact_cone_edges(impact, cone_edges, &edges, error);
    options.cone_edges = (int)cone_edges;
    carom_stepper *stepper = NULL;
    if (!status) status = carom_stepper_create(impact, &options, &stepper, error);
    if (status) return status;
    double *v_next = malloc((nv + n) * sizeof *v_next);
    if (v_next) {
        double *impulse = v_next + nv;
        carom_step_info info;
        carom_stepper_solve(stepper, data->velocity, NULL, v_next, impulse, &info);
        double sum = 0, largest = 0;
        for (size_t c = 0; c < n; c += stride) sum += impulse[c];
        *step = sum;
        // Without an impulse: the one that stops the contact with the least mass, max |J v| / max W_ii, or else anything.
        for (size_t c = 0; c < n; c++) largest = fmax(largest, carom_impact_delassus(impact)[c * n + c]);
        if (!(*step > 0)) *step = carom_impact_velocity_scale(impact) / largest;
        if (!(*step > 0)) *step = 1;
    } else {
        status = carom_fail_memory(error, "automatic step");
    }
    free(v_next);
    carom_stepper_free(stepper);
    return status;
}
