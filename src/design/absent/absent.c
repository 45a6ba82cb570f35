// SPDX-License-Identifier: Apache-2.0
// Design in a build that found no KINSOL.
#include "carom/design.h"

#include <math.h>
#include <string.h>

carom_status carom_design_solve(const carom_design_problem *problem, const carom_control *control, double *x, carom_design_result *result,
                                carom_error *error) {
    (void)control;
    memcpy(x, problem->start, (size_t)problem->variables * sizeof *x);
    *result = (carom_design_result){.verdict = CAROM_INCOMPLETE, .residual = NAN};
    return carom_fail(error, CAROM_UNSUPPORTED, "design: " WITHOUT_SUNDIALS);
}
