// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measurements of `carom bench`: one impact computed along several paths, in interleaved repetitions.
#ifndef CAROM_BENCHMARKS_HARNESS_BENCH_H
#define CAROM_BENCHMARKS_HARNESS_BENCH_H

#include "cli/cli_internal.h"

/// A way to compute: what solves the steps, which of their solutions is taken, and on how many threads.
typedef struct bench_path {
    char name[CAROM_MAX_NAME];  ///< the LCP solver's, or as in --path
    bool is_path;               ///< as in --path; otherwise the LCP solver alone
    const carom_lcp_solver *solver;
    carom_selection selection;
    int threads;
} bench_path;

/// The path that ratios refer to.
extern const char bench_reference[];

/// How much is measured.
typedef struct bench_effort {
    int64_t repetitions;  ///< of every measurement; medians are reported
    double milliseconds;  ///< that a repetition should take, >= 0
    int64_t threads;      ///< most threads that are tried
} bench_effort;

/// One path's measurement; `path` is set by the caller.
typedef struct bench_case {
    bench_path path;
    int64_t samples;    ///< of one repetition
    double ns_per_lcp;  ///< one LCP alone on one thread, verified; of modes, one step; of the cone map, the samples' time over their steps
    double ns_per_sample;                ///< the whole loop: draw, solve, verify, update, collect, digest
    double ratio_to_siconos;             ///< time per sample of `siconos-lemke` over this path's; NaN when it was not measured
    carom_sample_statistics statistics;  ///< of the last repetition; paths that take other solutions need other numbers of steps
} bench_case;

/// An impact with steps of its samples on record.
typedef struct bench_problem bench_problem;

/// @param options  of the samples; a step that is `auto` is computed here
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

/// Wall-clock seconds of one run of carom_reach_sample without a sink.
/// @param statistics  of the run; may be NULL
carom_status bench_time_run(const carom_impact *impact, const carom_sample_options *options, const carom_registry *registry, int threads,
                            double *seconds, carom_sample_statistics *statistics, carom_error *error);

/// A way to compute as in --path, one thread.
bench_path bench_named_path(const char *name, carom_selection selection);
/// Sets a path by its solver's name, one thread, selection `lemke`; false when the registry or the machine lacks the solver.
bool bench_find_path(const carom_registry *registry, const char *name, bench_path *path);

/// The median of `count` values, which are sorted.
double bench_median(double *values, int count);

// ------------------------------------------------------------------------------------------------------ random impacts

/// How a random impact is degenerate: not at all; the second half of the contacts repeats the first; J and v in {-1, 0, 1}; mu = 0.
typedef enum bench_family { BENCH_PLAIN, BENCH_DUPLICATED, BENCH_INTEGER, BENCH_FRICTIONLESS, BENCH_FAMILIES } bench_family;

/// M = I + AA'/nv, well conditioned at every size; J and v standard normal, mu = 0.5, every contact approaching; changed by the family.
carom_status bench_random_impact(carom_stream *stream, int contacts, int velocities, int tangent_dim, bench_family family,
                                 carom_impact **impact, carom_error *error);

// -------------------------------------------------------------------------------------------------------------- growth

/// How the cost grows with the sizes of random impacts.
typedef struct bench_growth bench_growth;

carom_status bench_growth_create(const carom_registry *registry, const bench_effort *effort, bench_growth **growth, carom_error *error);
void bench_growth_free(bench_growth *growth);
json_t *bench_growth_json(const bench_growth *growth);
/// Tables in Markdown.
void bench_growth_print(const bench_growth *growth, FILE *file);
/// Log-log pictures `PREFIX-contacts.png`, `PREFIX-velocities.png` and `PREFIX-samples.png`.
carom_status bench_growth_plot(const bench_growth *growth, const char *prefix, carom_error *error);

// ------------------------------------------------------------------------------------------------ performance profiles

/// Performance profiles of the LCP solvers (Dolan & More 2002): how often each is within a factor of the fastest.
typedef struct bench_profile bench_profile;

carom_status bench_profile_create(const carom_registry *registry, const bench_effort *effort, bench_profile **profile, carom_error *error);
void bench_profile_free(bench_profile *profile);
json_t *bench_profile_json(const bench_profile *profile);
/// A table in Markdown.
void bench_profile_print(const bench_profile *profile, FILE *file);
/// The picture `PREFIX-profiles.png`.
carom_status bench_profile_plot(const bench_profile *profile, const char *prefix, carom_error *error);

#endif
