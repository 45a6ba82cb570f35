// SPDX-License-Identifier: Apache-2.0
// Bounds by value functions: from the impact to a certificate that is checked.
#include <float.h>
#include <glpk.h>
#include <math.h>
#include <stdio.h>

#include "exact/bounding.h"
#include "exact/fan/glpk/refine.h"

// Cuts of the slope: fewer than ten are usual.
enum { MOST_ROUNDS = 60 };
// Refinement ends where a member of the set is as near to the bound as this share of |c|_W R.
#define CLOSE_ENOUGH 1e-9

const char *carom_bound_glpk_version(void) { return glp_version(); }

// No contact approaches at any start: the velocity stays.
static bool starts_at_end(const fan_problem *problem) {
    bool ends = true;
    mpq_t value, scratch;
    mpq_inits(value, scratch, NULL);
    for (int s = 0; s < problem->starts; s++) {
        uint64_t positive = 0, negative = 0;
        for (int p = 0; p < problem->plane_count; p++) {
            fan_product(problem->dimension, problem->planes + p * problem->dimension, problem->start + s * problem->dimension, value,
                        scratch);
            positive |= (uint64_t)(mpq_sgn(value) > 0) << p;
            negative |= (uint64_t)(mpq_sgn(value) < 0) << p;
        }
        ends = ends && fan_is_end(problem, positive, negative);
    }
    mpq_clears(value, scratch, NULL);
    return ends;
}

// f at the start where it is largest, rounded up.
static double value_above(const fan_problem *problem) {
    double above = -INFINITY;
    mpq_t value, scratch;
    mpq_inits(value, scratch, NULL);
    for (int s = 0; s < problem->starts; s++) {
        fan_product(problem->dimension, problem->target, problem->start + s * problem->dimension, value, scratch);
        mpq_add(value, value, problem->offset[s]);
        above = fmax(above, nextafter(mpq_get_d(value), INFINITY));
    }
    mpq_clears(value, scratch, NULL);
    return above;
}

// Solves on a fan, and keeps what it proves where that is less.
static carom_status improve(const fan *on, slope_cuts *cuts, double path_length, double offset, const bound_effort *effort,
                            value_function **function, carom_bound *bound, carom_error *error) {
    bool solved;
    carom_status status = value_function_create(on, function, error);
    if (!status) status = value_function_solve(*function, cuts, MOST_ROUNDS, effort, &solved, error);
    if (status) return status;
    const double proved = offset + value_function_verify(*function, path_length),
                 upper = proved + 2 * DBL_EPSILON * (fabs(proved) + fabs(offset));
    if (upper < bound->upper) {
        bound->upper = upper;
        bound->method = CAROM_BOUND_FAN;
    }
    return CAROM_OK;
}

// The bound of a problem whose start is not an end.
static carom_status refine(const fan_problem *problem, int64_t planes, double known, const bound_effort *effort, carom_bound *bound,
                           carom_error *error) {
    const double offset = mpq_get_d(problem->offset[0]), enough = known + CLOSE_ENOUGH * problem->target_norm * problem->energy_radius;
    fan_certificate certificate = {0};
    slope_cuts cuts = {0};
    plane_list list = {0};
    double path_length = INFINITY;
    carom_status status = fan_path_length(problem, effort, &path_length, error);
    if (!status && isinf(path_length)) {
        snprintf(bound->reason, sizeof bound->reason,
                 "the forces of some contacts cancel, or nearly: the friction cones are not pointed, and only the energy bounds solutions");
        return CAROM_OK;
    }
    if (!status) status = slope_cuts_create(problem, &cuts, error);
    if (!status) status = fan_create(problem, &certificate.on, error);
    if (!status && certificate.on->too_large) {
        snprintf(bound->reason, sizeof bound->reason, "the fan would have more than %d simplices: too many contacts", FAN_MOST_SIMPLICES);
        fan_free(certificate.on);
        slope_cuts_release(&cuts);
        return CAROM_OK;
    }
    if (!status) status = improve(certificate.on, &cuts, path_length, offset, effort, &certificate.function, bound, error);
    if (!status) bound->simplices = certificate.on->simplex_count;
    if (!status && planes > 0 && bound->upper > enough) status = refine_list_planes(problem, effort, &list, error);
    while (!status && bound->planes < planes && bound->upper > enough) {
        int chosen;
        status = refine_choose(&certificate, &list, &cuts, effort, &chosen, error);
        if (status || chosen < 0) break;
        const fan_plane plane = {list.planes + chosen * problem->dimension, list.reals + chosen * problem->dimension};
        status = fan_insert(certificate.on, &plane, error);
        if (status || certificate.on->too_large) break;
        value_function_free(certificate.function);
        certificate.function = NULL;
        status = improve(certificate.on, &cuts, path_length, offset, effort, &certificate.function, bound, error);
        bound->planes++;
        bound->simplices = certificate.on->simplex_count;
    }
    if (!status && bound->method == CAROM_BOUND_ENERGY)
        snprintf(bound->reason, sizeof bound->reason, "the value function on a fan of %d simplices proves no less", bound->simplices);
    refine_release_planes(&list);
    slope_cuts_release(&cuts);
    fan_certificate_release(&certificate);
    return status;
}

carom_status bound_by_fan(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options, double known,
                          const bound_effort *effort, carom_bound *bound, carom_error *error) {
    const carom_impact_data *source = carom_impact_get_data(impact);
    carom_exact_options numbers = carom_exact_defaults();
    numbers.start = options->start;
    numbers.friction = options->friction;
    exact_data *data = NULL;
    fan_problem *problem = NULL;
    const char *fault = NULL;
    if (source->contacts > CAROM_EXACT_MOST_CONTACTS || source->nv > CAROM_EXACT_MOST_VELOCITIES) {
        snprintf(bound->reason, sizeof bound->reason, "value functions are for at most %d contacts and %d velocities",
                 CAROM_EXACT_MOST_CONTACTS, CAROM_EXACT_MOST_VELOCITIES);
        return CAROM_OK;
    }
    if (options->start && options->start->count > FAN_MOST_STARTS) {
        snprintf(bound->reason, sizeof bound->reason, "value functions are for polytopes of at most %d vertices", FAN_MOST_STARTS);
        return CAROM_OK;
    }
    carom_status status = exact_data_create(impact, &numbers, &data, &fault, error);
    if (!status && fault) snprintf(bound->reason, sizeof bound->reason, "%s", fault);
    if (!status && !fault) status = fan_problem_create(data, functional, &problem, error);
    if (problem && (starts_at_end(problem) || !(problem->target_norm > 0))) {
        // Or the functional is of what no impulse changes.
        bound->upper = fmin(bound->upper, value_above(problem));
        bound->method = starts_at_end(problem) ? CAROM_BOUND_START : CAROM_BOUND_FAN;
    } else if (problem) {
        status = refine(problem, options->planes, known, effort, bound, error);
    }
    fan_problem_free(problem);
    exact_data_free(data);
    if (status != CAROM_INTERNAL) return status;
    // Numbers were too far apart for doubles: what was proved before holds.
    if (bound->method == CAROM_BOUND_ENERGY) snprintf(bound->reason, sizeof bound->reason, "%s", error->message);
    return CAROM_OK;
}
