// SPDX-License-Identifier: Apache-2.0
// Exact sets in a build without the Parma Polyhedra Library.
#include "carom/exact.h"

bool carom_exact_available(void) { return false; }

const char *carom_exact_ppl_version(void) { return NULL; }

carom_status carom_exact_solve(const carom_impact *impact, const carom_exact_options *options, const carom_control *control,
                               carom_exact_set **set, carom_error *error) {
    (void)impact;
    (void)options;
    (void)control;
    *set = NULL;
    return carom_fail(error, CAROM_UNSUPPORTED, WITHOUT_PPL);
}
