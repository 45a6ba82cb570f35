// SPDX-License-Identifier: Apache-2.0
// Bounds in a build without GLPK, or without the rational numbers of exact sets.
#include <stdio.h>

#include "exact/bounding.h"

const char *carom_bound_glpk_version(void) { return NULL; }

carom_status bound_by_fan(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options, double known,
                          const bound_effort *effort, carom_bound *bound, carom_error *error) {
    (void)impact;
    (void)functional;
    (void)options;
    (void)known;
    (void)effort;
    (void)error;
    snprintf(bound->reason, sizeof bound->reason, "%s", WITHOUT_GLPK);
    return CAROM_OK;
}
