// SPDX-License-Identifier: Apache-2.0
// Compliant contact in a build without SUNDIALS.
#include "compliant/compliant.h"

bool carom_compliant_available(void) { return false; }

const char *carom_compliant_sundials_version(void) { return NULL; }

carom_status compliant_solver_create(const carom_system *system, const carom_compliant_options *options, compliant_solver **solver,
                                     carom_error *error) {
    (void)system;
    (void)options;
    *solver = NULL;
    return carom_fail(error, CAROM_UNSUPPORTED, "compliant contact: " WITHOUT_SUNDIALS);
}

void compliant_solver_free(compliant_solver *solver) { (void)solver; }

carom_status compliant_solver_run(compliant_solver *solver, const compliant_start *start, compliant_end *end, carom_error *error) {
    (void)solver;
    (void)start;
    (void)end;
    return carom_fail(error, CAROM_UNSUPPORTED, "compliant contact: " WITHOUT_SUNDIALS);
}
