// SPDX-License-Identifier: Apache-2.0
// The same motion with halved steps, against one that is much more exact: errors at the end.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dynamics/dynamics_internal.h"

// Halvings between the finest step and the reference's: at second order its error is a 64th.
enum { REFERENCE_HALVINGS = 3 };

static const carom_column step_column = {"step", CAROM_COLUMN_REAL, 1, "s", "grid step", NULL};

// A run with another step; one that does not reach the end has no error there.
static carom_status run_with(const carom_motion_request *request, double step, bool reference, carom_motion_answer *answer,
                             carom_error *error) {
    const carom_integrator *integrator = request->integrator;
    void *options = carom_motion_copy_options(request);
    if (!options) return carom_fail_memory(error, "convergence");
    char text[32];
    snprintf(text, sizeof text, "%.17g", step);
    carom_status status = carom_motion_set(integrator, options, "step", text, error);
    if (!status) status = integrator->convergence->prepare(request->motion, reference, options, error);
    carom_motion_request changed = *request;
    changed.options = options;
    if (!status) status = carom_integrator_run(&changed, NULL, answer, error);
    free(options);
    if (status || carom_motion_answer_complete(answer)) return status;
    status = carom_fail(error, CAROM_BAD_INPUT, "the run with step %g s ended early (%s)", step,
                        carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0));
    carom_motion_answer_free(answer);
    return status;
}

carom_status carom_convergence_run(const carom_motion_request *request, int runs, carom_table **table, carom_error *error) {
    const carom_integrator *integrator = request->integrator;
    const carom_convergence_hooks *hooks = integrator->convergence;
    const carom_sizes none = {0};
    *table = NULL;
    if (!hooks) return carom_fail(error, CAROM_UNSUPPORTED, "the integrator '%s' has no study of convergence", integrator->name);
    // The motion's own step, by the option's row.
    void *options = carom_motion_copy_options(request);
    if (!options) return carom_fail_memory(error, "convergence");
    char text[64];
    double step = NAN;
    const int row = carom_option_find(integrator->options, integrator->option_count, "step");
    if (row >= 0) carom_option_print(&integrator->options[row], options, text, sizeof text);
    if (row < 0 || !carom_parse_number(text, &step)) step = NAN;
    free(options);
    carom_motion_answer reference = {0};
    carom_status status = carom_table_create(&step_column, 1, hooks->errors, hooks->count, &none, table, error);
    if (!status) status = run_with(request, ldexp(step, -(runs - 1 + REFERENCE_HALVINGS)), true, &reference, error);
    double *errors = malloc((size_t)hooks->count * sizeof *errors + 1);
    if (!status && !errors) status = carom_fail_memory(error, "convergence");
    // Steps of h, h/2, h/4, ...
    for (int k = 0; !status && k < runs; k++) {
        carom_motion_answer one = {0};
        status = run_with(request, ldexp(step, -k), false, &one, error);
        if (!status) status = carom_table_add_row(*table, error);
        if (!status) {
            *carom_table_reals(*table, 0) = ldexp(step, -k);
            hooks->measure(&one, &reference, errors);
            for (int c = 0; c < hooks->count; c++) *carom_table_reals(*table, c + 1) = errors[c];
        }
        carom_motion_answer_free(&one);
    }
    free(errors);
    carom_motion_answer_free(&reference);
    // The rows so far stay when the rest is interrupted.
    return carom_control_cancelled(request->control) ? CAROM_OK : status;
}
