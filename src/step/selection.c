// SPDX-License-Identifier: Apache-2.0
// Names of selections: which solution of a step is taken where it has several.
#include "carom/step.h"

const char *const carom_selection_names[] = {
    [CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", [CAROM_SELECT_RANDOM] = "random", [CAROM_SELECT_ALL] = "all", NULL};
// Laws that return one outcome at a time: `all` would have no place for the others.
const char *const carom_selection_names_one[] = {
    [CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", [CAROM_SELECT_RANDOM] = "random", NULL};

// Laws whose steps are not enumerated.
const char *const carom_selection_names_solver[] = {[CAROM_SELECT_LEMKE] = "lemke", [CAROM_SELECT_ANY] = "any", NULL};

const char *carom_selection_name(carom_selection selection) { return carom_selection_names[selection]; }
