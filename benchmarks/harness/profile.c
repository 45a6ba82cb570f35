// SPDX-License-Identifier: Apache-2.0
// Performance profiles of the LCP solvers on random impact steps (Dolan & More, Math. Program. 91, 2002).
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "benchmarks/harness/bench.h"
#include "carom/json.h"

enum {
    PROBLEMS = 96,  // matrices W, of every family, planar and spatial
    VECTORS = 16,   // w of each, in one sample's way
    MOST_SOLVERS = 16,
    MOST_CONTACTS = 6,
    SPATIAL_CONTACTS = 4,
    PROFILE_SEED = 11,
    // Methods that try all bases are out of place beyond this size.
    MOST_UNLIMITED = 24,
};

static const double factors[] = {1, 2, 5, 10, 100};
enum { FACTORS = sizeof factors / sizeof *factors };

struct bench_profile {
    const carom_lcp_solver *solvers[MOST_SOLVERS];
    int solver_count;
    double seconds[MOST_SOLVERS][PROBLEMS];  // one LCP, its share of the set-up included; infinite where one failed
    int64_t solved[MOST_SOLVERS], asked[MOST_SOLVERS];
};

// One W with its w.
typedef struct problem {
    int n;
    double *W;
    double *vectors;  // [VECTORS x n]
    double *z;
} problem;

// ------------------------------------------------------------------------------------------------------------- problems

static void problem_release(problem *p) {
    free(p->W);
    free(p->vectors);
    free(p->z);
}

// The steps of a sample, and of the next one when it has ended.
static carom_status record(problem *p, const carom_impact *impact, carom_stepper *stepper, carom_stream *stream, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t nv = (size_t)data->nv, n = (size_t)carom_impact_contact_size(impact);
    double *v = malloc((nv + 2 * n + (size_t)data->contacts) * sizeof *v);
    if (!v) return carom_fail_memory(error, "bench");
    double *u = v + nv, *impulse = u + n, *caps = impulse + n;
    memcpy(v, data->velocity, nv * sizeof *v);
    for (int k = 0; k < VECTORS; k++) {
        for (int i = 0; i < data->contacts; i++) caps[i] = carom_stream_uniform(stream);
        carom_stepper_lcp_vector(stepper, v, caps, p->vectors + (size_t)k * (size_t)p->n);
        carom_step_info info;
        carom_stepper_solve(stepper, v, caps, v, impulse, &info);
        carom_impact_contact_velocity(impact, v, u);
        if (carom_impact_terminated(impact, u)) memcpy(v, data->velocity, nv * sizeof *v);
    }
    free(v);
    return CAROM_OK;
}

static carom_status problem_fill(problem *p, const carom_impact *impact, carom_stepper *stepper, carom_stream *stream, carom_error *error) {
    p->n = carom_stepper_lcp_size(stepper);
    const size_t n = (size_t)p->n;
    p->W = malloc(n * n * sizeof *p->W);
    p->vectors = malloc(VECTORS * n * sizeof *p->vectors);
    p->z = malloc(n * sizeof *p->z);
    if (!p->W || !p->vectors || !p->z) return carom_fail_memory(error, "bench");
    memcpy(p->W, carom_stepper_lcp_matrix(stepper), n * n * sizeof *p->W);
    return record(p, impact, stepper, stream, error);
}

static carom_status problem_create(int index, problem *p, carom_error *error) {
    *p = (problem){0};
    const int tangent_dim = 1 + index % 2, most = tangent_dim == 1 ? MOST_CONTACTS : SPATIAL_CONTACTS;
    carom_stream stream;
    carom_stream_start(&stream, PROFILE_SEED, (uint64_t)index);
    const int contacts = 1 + (int)(most * carom_stream_uniform(&stream));
    const int velocities = 1 + (int)(3 * contacts * carom_stream_uniform(&stream));
    carom_impact *impact = NULL;
    carom_stepper *stepper = NULL;
    carom_stepper_options options = carom_stepper_defaults();
    options.kind = CAROM_STEP_CAPPED;
    carom_status status =
        bench_random_impact(&stream, contacts, velocities, tangent_dim, (bench_family)(index / 2 % BENCH_FAMILIES), &impact, error);
    if (!status) status = carom_stepper_create(impact, &options, &stepper, error);
    if (!status) status = problem_fill(p, impact, stepper, &stream, error);
    carom_stepper_free(stepper);
    carom_impact_free(impact);
    return status;
}

// ---------------------------------------------------------------------------------------------------------- measurement

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Every LCP of a problem, on a fresh handle: times include the set-up, as a program pays it that has so many vectors. A solver that refuses
// W solves none.
static carom_status solve_all(const carom_lcp_solver *solver, const problem *p, double *seconds, int *solved, carom_error *error) {
    carom_lcp *lcp = NULL;
    *solved = 0;
    const double start = now();
    const carom_status status = carom_lcp_create(solver, p->n, p->W, &lcp, error);
    for (int k = 0; !status && k < VECTORS; k++) {
        carom_lcp_info info;
        carom_lcp_solve(lcp, p->vectors + (size_t)k * (size_t)p->n, p->z, &info);
        *solved += info.verdict == CAROM_COMPLETE;
    }
    *seconds = (now() - start) / VECTORS;
    carom_lcp_free(lcp);
    return status == CAROM_OUT_OF_MEMORY ? status : CAROM_OK;
}

static bool takes(const carom_lcp_solver *solver, int n) { return n <= (solver->max_size ? solver->max_size : CAROM_MAX_LCP); }

static carom_status measure_problem(bench_profile *profile, int index, const bench_effort *effort, double *times, carom_error *error) {
    problem p;
    carom_status status = problem_create(index, &p, error);
    for (int s = 0; !status && s < profile->solver_count; s++) {
        profile->seconds[s][index] = INFINITY;
        profile->asked[s] += VECTORS;
        int solved = 0;
        const int repetitions = takes(profile->solvers[s], p.n) ? (int)effort->repetitions : 0;
        for (int k = 0; k < repetitions && !status; k++) status = solve_all(profile->solvers[s], &p, &times[k], &solved, error);
        profile->solved[s] += solved;
        if (!status && solved == VECTORS) profile->seconds[s][index] = bench_median(times, repetitions);
    }
    problem_release(&p);
    return status;
}

// Solvers under a name of their own: kernels of one method would only meet themselves.
static void list_solvers(bench_profile *profile, const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_SOLVERS) && profile->solver_count < MOST_SOLVERS; i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        const bool limited = solver->max_size && solver->max_size <= MOST_UNLIMITED;
        if (!strchr(solver->name, ':') && !limited && cli_solver_is_available(solver)) profile->solvers[profile->solver_count++] = solver;
    }
}

carom_status bench_profile_create(const carom_registry *registry, const bench_effort *effort, bench_profile **profile, carom_error *error) {
    *profile = NULL;
    bench_profile *made = calloc(1, sizeof *made);
    double *times = malloc((size_t)effort->repetitions * sizeof *times);
    carom_status status = made && times ? CAROM_OK : carom_fail_memory(error, "bench");
    if (!status) list_solvers(made, registry);
    for (int i = 0; i < PROBLEMS && !status; i++) status = measure_problem(made, i, effort, times, error);
    free(times);
    if (status)
        free(made);
    else
        *profile = made;
    return status;
}

void bench_profile_free(bench_profile *profile) { free(profile); }

// -------------------------------------------------------------------------------------------------------------- profile

static double fastest(const bench_profile *profile, int index) {
    double least = INFINITY;
    for (int s = 0; s < profile->solver_count; s++) least = fmin(least, profile->seconds[s][index]);
    return least;
}

// Share of the problems that solver s solves within `factor` of the fastest solver's time.
static double share_within(const bench_profile *profile, int s, double factor) {
    int count = 0;
    for (int i = 0; i < PROBLEMS; i++) count += isfinite(profile->seconds[s][i]) && profile->seconds[s][i] <= factor * fastest(profile, i);
    return (double)count / PROBLEMS;
}

static double success_rate(const bench_profile *profile, int s) { return (double)profile->solved[s] / (double)profile->asked[s]; }

// --------------------------------------------------------------------------------------------------------------- output

json_t *bench_profile_json(const bench_profile *profile) {
    json_t *list = json_array();
    for (int s = 0; s < profile->solver_count; s++) {
        json_t *shares = json_array();
        for (int k = 0; k < FACTORS; k++)
            json_array_append_new(shares, json_pack("{s:f, s:f}", "factor", factors[k], "share", share_within(profile, s, factors[k])));
        json_array_append_new(list, json_pack("{s:s, s:f, s:o}", "solver", profile->solvers[s]->name, "success_rate",
                                              success_rate(profile, s), "within", shares));
    }
    return list;
}

void bench_profile_print(const bench_profile *profile, FILE *file) {
    fprintf(file, "| solver %-20s | LCPs solved |", "");
    for (int k = 0; k < FACTORS; k++) fprintf(file, " within %3.0fx |", factors[k]);
    fputs("\n|-----------------------------|------------:|", file);
    for (int k = 0; k < FACTORS; k++) fputs("------------:|", file);
    fputc('\n', file);
    for (int s = 0; s < profile->solver_count; s++) {
        fprintf(file, "| %-27s | %9.2f %% |", profile->solvers[s]->name, 100 * success_rate(profile, s));
        for (int k = 0; k < FACTORS; k++) fprintf(file, " %9.0f %% |", 100 * share_within(profile, s, factors[k]));
        fputc('\n', file);
    }
}

// The picture reaches factors of 10^3, and leaves out solvers that hardly solve a problem: the table has them.
enum { POINTS = 121, DECADES = 3 };
#define LEAST_SUCCESS 0.1

carom_status bench_profile_plot(const bench_profile *profile, const char *prefix, carom_error *error) {
    char name[FILENAME_MAX];
    if (snprintf(name, sizeof name, "%s-profiles.png", prefix) >= (int)sizeof name)
        return carom_fail(error, CAROM_BAD_INPUT, "--output: the name is too long");
    double *points = malloc((1 + MOST_SOLVERS) * POINTS * sizeof *points);
    if (!points) return carom_fail_memory(error, "bench");
    carom_plot_series series[MOST_SOLVERS];
    for (int i = 0; i < POINTS; i++) points[i] = (double)(DECADES * i) / (POINTS - 1);
    int count = 0;
    for (int s = 0; s < profile->solver_count; s++) {
        if (success_rate(profile, s) < LEAST_SUCCESS) continue;
        double *shares = points + (size_t)(1 + count) * POINTS;
        for (int i = 0; i < POINTS; i++) shares[i] = share_within(profile, s, pow(10, points[i]));
        series[count++] = (carom_plot_series){profile->solvers[s]->name, CAROM_PLOT_LINE, POINTS, points, shares};
    }
    const carom_plot plot = {.title = "Performance profiles of LCP solvers",
                             .x_label = "log10 of the factor over the fastest",
                             .y_label = "share of the problems solved",
                             .series = series,
                             .series_count = count};
    const carom_status status = carom_plot_write(&plot, name, error);
    free(points);
    return status;
}
