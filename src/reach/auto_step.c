// SPDX-License-Identifier: Apache-2.0
// The step that `auto` stands for.
#include <math.h>
#include <stdlib.h>

#include "carom/reach.h"

static double total_normal_impulse(const carom_impact *impact, const double *impulse) {
    const int stride = 1 + carom_impact_get_data(impact)->tangent_dim;
    double sum = 0;
    for (int c = 0; c < carom_impact_contact_size(impact); c += stride) sum += impulse[c];
    return sum;
}

static double speed_over_largest_delassus(const carom_impact *impact) {
    const size_t n = (size_t)carom_impact_contact_size(impact);
    double largest = 0;
    for (size_t c = 0; c < n; c++) largest = fmax(largest, carom_impact_delassus(impact)[c * n + c]);
    return carom_impact_velocity_scale(impact) / largest;
}

carom_status carom_reach_auto_step(const carom_impact *impact, int64_t cone_edges, double *step, carom_error *error) {
    *step = NAN;
    carom_stepper_options options = carom_stepper_defaults();
    int edges;
    carom_status status = carom_impact_cone_edges(impact, cone_edges, &edges, error);
    options.cone_edges = (int)cone_edges;
    carom_stepper *stepper = NULL;
    if (!status) status = carom_stepper_create(impact, &options, &stepper, error);
    if (status) return status;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t n = (size_t)carom_impact_contact_size(impact);
    double *work = malloc(((size_t)data->nv + n) * sizeof *work);
    if (work) {
        carom_step_info info;
        carom_stepper_solve(stepper, data->velocity, NULL, work, work + data->nv, &info);
        *step = total_normal_impulse(impact, work + data->nv);
        if (!(*step > 0)) *step = speed_over_largest_delassus(impact);
        if (!(*step > 0)) *step = 1;
    } else {
        status = carom_fail_memory(error, "automatic step");
    }
    free(work);
    carom_stepper_free(stepper);
    return status;
}
