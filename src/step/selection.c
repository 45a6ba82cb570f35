// SPDX-License-Identifier: Apache-2.0
// Which solution of a step is taken where it has several: names of selections, and what `auto` stands for.
#include <math.h>

#include "step/cones/map.h"
#include "step/step_internal.h"

const char *const carom_selection_names[] = {[CAROM_SELECT_LEMKE] = "lemke",
                                             [CAROM_SELECT_ANY] = "any",
                                             [CAROM_SELECT_RANDOM] = "random",
                                             [CAROM_SELECT_SCATTERED] = "scattered",
                                             [CAROM_SELECT_AUTO] = "auto",
                                             [CAROM_SELECT_ALL] = "all",
                                             NULL};
// Laws that return one outcome at a time: `all` would have no place for the others.
const char *const carom_selection_names_one[] = {
    [CAROM_SELECT_LEMKE] = "lemke",         [CAROM_SELECT_ANY] = "any",   [CAROM_SELECT_RANDOM] = "random",
    [CAROM_SELECT_SCATTERED] = "scattered", [CAROM_SELECT_AUTO] = "auto", NULL};

// Laws whose steps are not enumerated.
const char *const carom_selection_names_solver[] = {[CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", NULL};

const char *carom_selection_name(carom_selection selection) { return carom_selection_names[selection]; }

carom_status carom_step_selection_unproved(const carom_impact *impact, int64_t cone_edges, carom_step_kind kind, carom_selection *selection,
                                           carom_error *error) {
    *selection = CAROM_SELECT_SCATTERED;
    const carom_impact_data *data = carom_impact_get_data(impact);
    int edges;
    const carom_status status = carom_impact_cone_edges(impact, cone_edges, &edges, error);
    if (status) return status;
    // Contact modes: open, or stopped or capped, each with a friction mode.
    const int contacts = kind == CAROM_STEP_ONE_CONTACT ? 1 : data->contacts;
    const int modes = 1 + (kind == CAROM_STEP_CAPPED ? 2 : 1) * carom_step_friction_modes(data->tangent_dim, edges);
    if (pow(modes, contacts) <= CAROM_MOST_LISTED) *selection = CAROM_SELECT_RANDOM;
    return CAROM_OK;
}

carom_status carom_step_selection_auto(const carom_impact *impact, const carom_stepper_options *options, carom_selection *selection,
                                       carom_error *error) {
    carom_status status = carom_step_selection_unproved(impact, options->cone_edges, options->kind, selection, error);
    bool unique = false;
    if (!status) status = carom_step_prove_unique(impact, options->cone_edges, &unique, error);
    if (unique) *selection = CAROM_SELECT_ANY;
    return status;
}
