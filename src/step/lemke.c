// SPDX-License-Identifier: Apache-2.0
// The step method `lemke`: the step's LCP by our Lemke, or by whatever LCP solver the stepper was given.
#include <math.h>
#include <string.h>

#include "step/step_internal.h"

// A candidate of our Lemke for which W is too coarse, or may be, because it failed.
static bool needs_refinement(const carom_stepper *stepper, const double *impulse, const carom_step_info *info) {
    return isfinite(info->residual) && (info->verdict != CAROM_COMPLETE || carom_step_is_coarse(stepper, impulse)) &&
           carom_lcp_lemke_basic(stepper->lcp);
}

void carom_step_find_by_lcp(carom_stepper *stepper, const double *v, const double *lmax, double *impulse, carom_step_info *info) {
    carom_step_start(stepper, v, lmax);
    carom_step_solve_lcp(stepper, info);
    if (isfinite(info->residual)) carom_step_accept(stepper, v, lmax, impulse, info);
    if (!needs_refinement(stepper, impulse, info)) return;
    carom_step_refine(stepper, lmax, false, impulse, info);
    if (info->verdict == CAROM_COMPLETE) carom_step_judge(stepper, lmax, impulse, info);
}

void carom_step_solve_by_lcp(carom_stepper *stepper, const double *v, const double *lmax, double *v_next, double *impulse,
                             carom_step_info *info) {
    carom_step_find_by_lcp(stepper, v, lmax, impulse, info);
    if (info->verdict == CAROM_COMPLETE)
        memcpy(v_next, stepper->v_next, (size_t)carom_impact_get_data(stepper->impact)->nv * sizeof *v_next);
    else
        carom_step_leave(stepper, v, v_next, impulse, info);
}

void carom_stepper_solve_contact(carom_stepper *stepper, const double *u, const double *lmax, double *u_next, double *impulse,
                                 carom_step_info *info) {
    const int n = carom_impact_contact_size(stepper->impact);
    const double *W = carom_impact_delassus(stepper->impact);
    carom_step_start_contact(stepper, u, lmax);
    carom_step_solve_lcp(stepper, info);
    carom_step_collect_impulse(stepper, stepper->z, impulse);
    stepper->v_next[0] = NAN;
    // u' = u + W impulse, judged as in generalised coordinates.
    for (int r = 0; r < n; r++) {
        stepper->u_next[r] = stepper->u[r];
        for (int c = 0; c < n; c++) stepper->u_next[r] += W[r * n + c] * impulse[c];
    }
    if (info->verdict == CAROM_COMPLETE) carom_step_judge(stepper, lmax, impulse, info);
    if (needs_refinement(stepper, impulse, info)) {
        carom_step_refine(stepper, lmax, true, impulse, info);
        if (info->verdict == CAROM_COMPLETE) carom_step_judge(stepper, lmax, impulse, info);
    }
    // An unsolved step leaves the velocity as it was, without an impulse.
    memcpy(u_next, info->verdict == CAROM_COMPLETE ? stepper->u_next : stepper->u, (size_t)n * sizeof *u_next);
    if (info->verdict != CAROM_COMPLETE) memset(impulse, 0, (size_t)n * sizeof *impulse);
}

// Our Lemke chooses its kernel itself; every other solver is named as it is.
static const char *path(const carom_stepper *stepper) {
    return stepper->solver == &carom_lcp_lemke ? carom_lcp_lemke_path() : stepper->solver->name;
}

const carom_step_method carom_step_lemke = {
    .name = "lemke",
    .summary = "the LCP of each step, by Lemke's method or another LCP solver",
    .has_kernels = true,
    .selections = 1U << CAROM_SELECT_LEMKE | 1U << CAROM_SELECT_ANY | 1U << CAROM_SELECT_SCATTERED,
    .solve = carom_step_solve_by_lcp,
    .path = path,
};
