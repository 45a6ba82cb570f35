// SPDX-License-Identifier: Apache-2.0
// Performance profiles of the LCP solvers on random impact steps (Dolan & More, Math. Program. 91, 2002).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/harness.h"
#include "carom/clock.h"

enum {
    VECTORS = 16,  // w of each W, from the steps of one sample after another
    MOST_CONTACTS = 6,
    SPATIAL_CONTACTS = 4,
    PROFILE_SEED = 11,
    // Methods that try all bases are out of place: those that take no larger problems than this.
    MOST_LIMITED = 24,
};

// One W with its w.
typedef struct problem {
    carom_arena arena;
    int n;
    double *W;
    double *vectors;  // [VECTORS x n]
    double *z;
} problem;

// Problem number `index`: a random impact of its own sizes and degeneracy, and the LCPs of its steps.
static carom_status make_problem(int index, problem *p, carom_error *error) {
    const int tangent_dim = 1 + index % 2, most = tangent_dim == 1 ? MOST_CONTACTS : SPATIAL_CONTACTS;
    carom_stream stream;
    carom_stream_start(&stream, PROFILE_SEED, (uint64_t)index);
    // 1 to `most` contacts and 1 to 3m velocities, so that some W are singular.
    const int contacts = 1 + (int)(most * carom_stream_uniform(&stream));
    const int velocities = 1 + (int)(3 * contacts * carom_stream_uniform(&stream));
    const bench_random kind = {contacts, velocities, tangent_dim, (bench_degeneracy)(index / 2 % BENCH_DEGENERACIES), BENCH_MOST_FRICTION,
                               true};
    carom_impact *impact = NULL;
    carom_stepper *stepper = NULL;
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    *p = (problem){0};
    carom_status status = bench_random_impact(&stream, &kind, &impact, error);
    if (!status) status = carom_stepper_create(impact, &options, &stepper, error);
    if (!status) {
        const size_t nv = (size_t)velocities, contact_size = (size_t)carom_impact_contact_size(impact);
        p->n = carom_stepper_lcp_size(stepper);
        const size_t n = (size_t)p->n;
        p->W = carom_arena_take(&p->arena, n * n, sizeof *p->W);
        p->vectors = carom_arena_take(&p->arena, VECTORS * n, sizeof *p->vectors);
        p->z = carom_arena_take(&p->arena, n, sizeof *p->z);
        double *v = carom_arena_take(&p->arena, nv, sizeof *v), *u = carom_arena_take(&p->arena, contact_size, sizeof *u);
        double *impulse = carom_arena_take(&p->arena, contact_size, sizeof *impulse);
        double *caps = carom_arena_take(&p->arena, (size_t)contacts, sizeof *caps);
        if (p->arena.failed) status = carom_fail_memory(error, "bench");
        // The steps of a sample with caps U, uniform in [0, 1), and of the next sample when it has ended.
        const double *start = carom_impact_get_data(impact)->velocity;
        if (!status) memcpy(p->W, carom_stepper_lcp_matrix(stepper), n * n * sizeof *p->W);
        if (!status) memcpy(v, start, nv * sizeof *v);
        for (size_t k = 0; k < VECTORS && !status; k++) {
            for (int i = 0; i < contacts; i++) caps[i] = carom_stream_uniform(&stream);
            carom_stepper_lcp_vector(stepper, v, caps, p->vectors + k * n);
            carom_step_info info;
            carom_stepper_solve(stepper, v, caps, v, impulse, &info);
            carom_impact_contact_velocity(impact, v, u);
            if (carom_impact_terminated(impact, u)) memcpy(v, start, nv * sizeof *v);
        }
    }
    carom_stepper_free(stepper);
    carom_impact_free(impact);
    return status;
}

// Every LCP of a problem, on a fresh handle: the time for one includes its share of the set-up, as a program pays it that has so many
// vectors. A solver that refuses W solves none.
static carom_status solve_all(const carom_lcp_solver *solver, const problem *p, double *seconds, int *solved, carom_error *error) {
    carom_lcp *lcp = NULL;
    *solved = 0;
    const double start = carom_clock_seconds();
    const carom_status status = carom_lcp_create(solver, p->n, p->W, &lcp, error);
    for (int k = 0; !status && k < VECTORS; k++) {
        carom_lcp_info info;
        carom_lcp_solve(lcp, p->vectors + (size_t)k * (size_t)p->n, p->z, &info);
        *solved += info.verdict == CAROM_COMPLETE;
    }
    *seconds = (carom_clock_seconds() - start) / VECTORS;
    carom_lcp_free(lcp);
    return status == CAROM_OUT_OF_MEMORY ? status : CAROM_OK;
}

carom_status bench_profile_measure(const carom_registry *registry, const bench_effort *effort, bench_profile *profile, carom_error *error) {
    *profile = (bench_profile){0};
    // Solvers with a name of their own: kernels of one method would only meet each other.
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS) && profile->solver_count < BENCH_PROFILE_SOLVERS; i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        const bool limited = solver->max_size && solver->max_size <= MOST_LIMITED;
        if (!strchr(solver->name, ':') && !limited && carom_lcp_available(solver)) profile->solvers[profile->solver_count++] = solver;
    }
    double *times = malloc((size_t)effort->repetitions * sizeof *times);
    carom_status status = times ? CAROM_OK : carom_fail_memory(error, "bench");
    for (int index = 0; index < BENCH_PROFILE_PROBLEMS && !status; index++) {
        problem p;
        status = make_problem(index, &p, error);
        for (int s = 0; !status && s < profile->solver_count; s++) {
            const carom_lcp_solver *solver = profile->solvers[s];
            // A solver that cannot take the size counts as one that fails.
            const bool fits = p.n <= (solver->max_size ? solver->max_size : CAROM_MAX_LCP);
            int solved = 0;
            for (int k = 0; fits && k < (int)effort->repetitions && !status; k++) status = solve_all(solver, &p, &times[k], &solved, error);
            profile->asked[s] += VECTORS;
            profile->solved[s] += solved;
            profile->seconds[s][index] = solved == VECTORS && !status ? bench_median(times, (int)effort->repetitions) : INFINITY;
        }
        carom_arena_free(&p.arena);
    }
    free(times);
    return status;
}

double bench_profile_share(const bench_profile *profile, int solver, double factor) {
    int count = 0;
    for (int i = 0; i < BENCH_PROFILE_PROBLEMS; i++) {
        // The fastest of all solvers on this problem.
        double fastest = INFINITY;
        for (int s = 0; s < profile->solver_count; s++) fastest = fmin(fastest, profile->seconds[s][i]);
        count += isfinite(profile->seconds[solver][i]) && profile->seconds[solver][i] <= factor * fastest;
    }
    return (double)count / BENCH_PROFILE_PROBLEMS;
}

double bench_profile_success(const bench_profile *profile, int solver) {
    return (double)profile->solved[solver] / (double)profile->asked[solver];
}
