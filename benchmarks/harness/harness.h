// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measuring how fast impacts are computed: one impact along several paths, in interleaved repetitions; sweeps over sizes; performance
/// profiles of the LCP solvers. The harness measures; `carom bench` says what, and prints.
#ifndef CAROM_BENCHMARKS_HARNESS_HARNESS_H
#define CAROM_BENCHMARKS_HARNESS_HARNESS_H

#include "carom/laws.h"

/// How much is measured.
typedef struct bench_effort {
    int64_t repetitions;  ///< of every measurement; medians are reported
    double milliseconds;  ///< that a repetition should take, >= 0
    int64_t threads;      ///< most threads that are tried
} bench_effort;

// --------------------------------------------------------------------------------------------------------------- paths

/// A way to compute: what solves the steps, which of their solutions is taken, and on how many threads.
typedef struct bench_path {
    char name[CAROM_MAX_NAME];  ///< the LCP solver's, or as in --path
    bool is_path;               ///< as in --path; otherwise the LCP solver alone
    bool is_set;                ///< as `carom sample` takes the impact, with the selection of its options
    carom_sampler sampler;      ///< of a set: time stepping alone, or CAROM_SAMPLER_AUTO for that of the options
    const carom_lcp_solver *solver;
    carom_selection selection;
    int threads;
} bench_path;

/// The path that ratios refer to.
extern const char bench_reference[];

/// The first paths of every problem.
enum { BENCH_SET_WHOLE, BENCH_SET_STEPPED, BENCH_SETS };

/// An impact with steps of its samples on record.
typedef struct bench_problem bench_problem;

/// The set, whole and by time stepping alone, and then every path of time stepping that the problem takes, in the order of tables; the
/// default path with 1, 2, 4, ... and `threads` threads.
/// @param paths  [count], to be freed by the caller
carom_status bench_list_paths(const bench_problem *problem, const carom_registry *registry, int threads, bench_path **paths, int *count,
                              carom_error *error);
/// Sets a path by its solver's name, one thread, selection `lemke`; false when the registry or the machine lacks the solver.
bool bench_find_path(const carom_registry *registry, const char *name, bench_path *path);

// ----------------------------------------------------------------------------------------------------------- one impact

/// One path's measurement; `path` is set by the caller.
typedef struct bench_case {
    bench_path path;
    int64_t samples;  ///< of one repetition
    /// One LCP alone on one thread, verified; of modes, one step; of the cone map, the samples' time over their steps; NaN of the set.
    double ns_per_lcp;
    double ns_per_sample;                ///< the whole loop: draw, solve, verify, update, collect, digest
    double ratio_to_siconos;             ///< time per sample of `siconos-lemke` over this path's; NaN when it was not measured
    carom_sample_statistics statistics;  ///< of the last repetition; paths that take other solutions need other numbers of steps
} bench_case;

/// @param options  of the samples, which are those of the set; a step that is `auto` is computed here
/// @return CAROM_BAD_INPUT when no contact approaches
carom_status bench_problem_create(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry,
                                  bench_problem **problem, carom_error *error);
void bench_problem_free(bench_problem *problem);
/// m(k+3), the size of the step's LCP.
int bench_problem_lcp_size(const bench_problem *problem);
/// False for an enumeration of too many contact modes, for a path that the problem or the machine does not take, and for one that serves
/// another selection than it is asked for.
bool bench_problem_takes(const bench_problem *problem, const bench_path *path);

/// Calibrates, then measures all cases one after the other in every repetition, so that a disturbance of the machine meets all of them.
carom_status bench_measure(const bench_problem *problem, const bench_effort *effort, bench_case *cases, int count, carom_error *error);

/// One run of carom_reach_sample without a sink.
typedef struct bench_run {
    double seconds;  ///< on the wall clock
    carom_sample_statistics statistics;
} bench_run;

carom_status bench_time_run(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry, int threads,
                            bench_run *run, carom_error *error);

/// The median of `count` values, which are sorted.
double bench_median(double *values, int count);

// ------------------------------------------------------------------------------------------------------ random impacts

/// How a random impact is degenerate: not at all; some contacts repeat earlier ones; A, J and v are -1, 0 or 1; mu = 0.
typedef enum bench_degeneracy { BENCH_PLAIN, BENCH_DUPLICATED, BENCH_INTEGER, BENCH_FRICTIONLESS, BENCH_DEGENERACIES } bench_degeneracy;

/// Largest friction coefficient of the impacts that are measured.
#define BENCH_MOST_FRICTION 1.0

/// What a random impact is like.
typedef struct bench_random {
    int contacts, velocities, tangent_dim;
    bench_degeneracy degeneracy;
    double most_friction;  ///< mu is uniform between 0 and this
    bool approaching;      ///< normals are turned around until every contact approaches
} bench_random;

/// M = A A' + 0.1 I; A, J and v standard normal; changed by the degeneracy.
carom_status bench_random_impact(carom_stream *stream, const bench_random *kind, carom_impact **impact, carom_error *error);

// -------------------------------------------------------------------------------------------------------------- growth

/// The size that a sweep over random impacts changes.
typedef enum bench_sweep { BENCH_SWEEP_CONTACTS, BENCH_SWEEP_VELOCITIES, BENCH_SWEEP_SAMPLES, BENCH_SWEEPS } bench_sweep;

/// One path at one size.
typedef struct bench_growth_row {
    bench_sweep sweep;
    int contacts, velocities, edges;  ///< m, nv, k: edges of the friction cone, 2 for planar contacts
    int64_t samples;
    const char *path;
    double ns_per_lcp;  ///< NaN where it was not measured
    double ns_per_sample;
} bench_growth_row;

enum { BENCH_GROWTH_ROWS = 128 };

/// How the cost grows with the sizes of random impacts.
typedef struct bench_growth {
    bench_growth_row rows[BENCH_GROWTH_ROWS];
    int count;
} bench_growth;

carom_status bench_growth_measure(const carom_registry *registry, const bench_effort *effort, bench_growth *growth, carom_error *error);

// ------------------------------------------------------------------------------------------------ performance profiles

enum {
    BENCH_PROFILE_PROBLEMS = 96,  ///< matrices W, of every degeneracy, planar and spatial
    BENCH_PROFILE_SOLVERS = 16,
};

/// Performance profiles of the LCP solvers (Dolan & More, Math. Program. 91, 2002): how often each is within a factor of the fastest.
typedef struct bench_profile {
    const carom_lcp_solver *solvers[BENCH_PROFILE_SOLVERS];
    int solver_count;
    /// One LCP, its share of the set-up included; infinite where one of a problem's LCPs failed.
    double seconds[BENCH_PROFILE_SOLVERS][BENCH_PROFILE_PROBLEMS];
    int64_t solved[BENCH_PROFILE_SOLVERS], asked[BENCH_PROFILE_SOLVERS];
} bench_profile;

carom_status bench_profile_measure(const carom_registry *registry, const bench_effort *effort, bench_profile *profile, carom_error *error);
/// Share of the problems that a solver solves within `factor` of the fastest solver's time.
double bench_profile_share(const bench_profile *profile, int solver, double factor);
/// Share of all LCPs that a solver solves.
double bench_profile_success(const bench_profile *profile, int solver);

#endif
