// SPDX-License-Identifier: Apache-2.0
// Certified bounds: which proof serves which impact.
#include "carom/bound.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "carom/clock.h"
#include "exact/bounding.h"
#include "exact/exact_internal.h"

// Refinement beyond eight planes seldom helps: fans double with each of them.
enum { DEFAULT_PLANES = 8, MOST_PLANES = 64 };
#define DEFAULT_SECONDS 10

static const char *const method_names[] = {[CAROM_BOUND_START] = "start", [CAROM_BOUND_FAN] = "fan", [CAROM_BOUND_ENERGY] = "energy"};
static const char *const hypothesis_names[] = {
    [CAROM_BOUND_INELASTIC] = "none", [CAROM_BOUND_STRONGE] = "stronge", [CAROM_BOUND_POISSON] = "poisson", NULL};

const char *carom_bound_method_name(carom_bound_method method) { return method_names[method]; }

carom_bound_options carom_bound_defaults(void) {
    return (carom_bound_options){.planes = DEFAULT_PLANES, .seconds = DEFAULT_SECONDS, .restitution = {NAN, NAN}};
}

const carom_option carom_bound_rows[CAROM_BOUND_ROWS] = {
    {"planes", CAROM_OPTION_INTEGER, offsetof(carom_bound_options, planes), 0, MOST_PLANES, "", "8",
     "most planes that refine the fan of each bound; alone, without a budget of time, so that the answer does not depend on the machine",
     NULL},
    {"seconds", CAROM_OPTION_REAL, offsetof(carom_bound_options, seconds), CAROM_POSITIVE, 1e9, "s", "10", "budget of time of each bound",
     NULL},
    {"hypothesis", CAROM_OPTION_CHOICE, offsetof(carom_bound_options, hypothesis), 0, 0, "", "none",
     "what restitution means: none, which is inelastic, or energetic (stronge), where only the bound by energy holds", hypothesis_names},
    {"restitution", CAROM_OPTION_INTERVAL, offsetof(carom_bound_options, restitution), 0, 1, "", "scene",
     "coefficient of restitution of all contacts, or an interval LO:HI; only whether it is 0 counts", NULL},
};

bool bound_effort_spent(const bound_effort *effort) {
    return carom_clock_seconds() >= effort->deadline || carom_control_cancelled(effort->control);
}

// A contact gives something back.
static bool bounces(const carom_impact_data *data, const carom_bound_options *options) {
    if (options->hypothesis == CAROM_BOUND_INELASTIC) return false;
    if (!isnan(options->restitution.most)) return options->restitution.most > 0;
    bool any = false;
    for (int i = 0; i < data->contacts; i++) any = any || data->restitution[i] > 0;
    return any;
}

// The functional times 2^exponent, whose largest factor is between 1 and 2: linear programs judge numbers near 1. The arena owns its
// factors.
static carom_status scale(const carom_functional *functional, carom_arena *arena, carom_functional *scaled, int *exponent,
                          carom_error *error) {
    const int counts[2] = {functional->n, functional->nv};
    const double *factors[2] = {functional->contact, functional->velocity};
    double largest = 0;
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < counts[part]; i++) largest = fmax(largest, fabs(factors[part][i]));
    *exponent = largest > 0 ? -ilogb(largest) : 0;
    *scaled = *functional;
    scaled->contact = carom_arena_take(arena, (size_t)functional->n + 1, sizeof(double));
    scaled->velocity = carom_arena_take(arena, (size_t)functional->nv + 1, sizeof(double));
    if (arena->failed) return carom_fail_memory(error, "bound");
    double *const changed[2] = {scaled->contact, scaled->velocity};
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < counts[part]; i++) {
            changed[part][i] = ldexp(factors[part][i], *exponent);
            if (factors[part][i] != 0 && fabs(changed[part][i]) < DBL_MIN)
                return carom_fail(error, CAROM_BAD_INPUT, "the factors %g and %g of a sum are too far apart", largest, factors[part][i]);
        }
    return CAROM_OK;
}

carom_status carom_bound_solve(const carom_impact *impact, const carom_functional *functional, const carom_bound_options *options,
                               double known, const carom_control *control, carom_bound *bound, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    *bound = (carom_bound){.upper = INFINITY, .energy = INFINITY, .method = CAROM_BOUND_ENERGY};
    if (options->planes < 0 || options->planes > MOST_PLANES)
        return carom_fail(error, CAROM_BAD_INPUT, "planes: %lld is not between 0 and %d", (long long)options->planes, MOST_PLANES);
    if (!isnan(options->seconds) && !(options->seconds > 0))
        return carom_fail(error, CAROM_BAD_INPUT, "seconds: %g is not positive", options->seconds);
    if (options->hypothesis < CAROM_BOUND_INELASTIC || options->hypothesis > CAROM_BOUND_POISSON)
        return carom_fail(error, CAROM_BAD_INPUT, "hypothesis: %d is none of carom_bound_hypothesis", options->hypothesis);
    const carom_interval e = options->restitution;
    if (!(isnan(e.least) && isnan(e.most)) && !(0 <= e.least && e.least <= e.most && e.most <= 1))
        return carom_fail(error, CAROM_BAD_INPUT, "restitution: %g:%g is not within 0 and 1", e.least, e.most);
    if (functional->has_impulse || functional->energy != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "bounds are of sums of velocities (Jn, Jt, v and joints): impulses and K are not");
    carom_status status = exact_check_uncertain(data, options->start, options->friction, error);
    if (status) return status;
    const bool rebound = bounces(data, options);
    if (rebound && options->hypothesis == CAROM_BOUND_POISSON)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "hypothesis: poisson's restitution may gain energy, and no bound is known: use stronge, or `carom exact`");

    const double start = carom_clock_seconds();
    const bound_effort effort = {isnan(options->seconds) ? INFINITY : start + options->seconds, control};
    carom_functional scaled;
    carom_arena arena = {0};
    int exponent;
    status = scale(functional, &arena, &scaled, &exponent, error);
    if (!status) status = bound_by_energy(impact, &scaled, options, &bound->energy, error);
    bound->upper = bound->energy;
    if (!status && rebound)
        snprintf(bound->reason, sizeof bound->reason, "with restitution only the bound by energy holds");
    else if (!status)
        status = bound_by_fan(impact, &scaled, options, ldexp(known, exponent), &effort, bound, error);
    const bool finite = isfinite(bound->upper);
    bound->upper = ldexp(bound->upper, -exponent);
    bound->energy = ldexp(bound->energy, -exponent);
    if (!status && finite && isinf(bound->upper))
        status = carom_fail(error, CAROM_BAD_INPUT, "a bound of the sum is beyond the range of numbers: its factors are too large");
    bound->interrupted = carom_control_cancelled(control);
    bound->seconds = carom_clock_seconds() - start;
    carom_arena_free(&arena);
    return status;
}
