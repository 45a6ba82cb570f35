// SPDX-License-Identifier: Apache-2.0
// The paths that are measured of one impact: LCP solvers, named ways of computing with their kernels, modes, and the default.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/harness.h"

const char bench_reference[] = "siconos-lemke";

// Paths other than LCP solvers; their kernels are measured for the first selection that they serve.
static const char *const named_paths[] = {"reduced", "cone-map"};
static const char *const kernel_paths[] = {"reduced:scalar",  "reduced:portable",  "reduced:avx2",  "reduced:avx512",
                                           "cone-map:scalar", "cone-map:portable", "cone-map:avx2", "cone-map:avx512"};
static const carom_selection selections[] = {CAROM_SELECT_LEMKE, CAROM_SELECT_ANY};
enum {
    NAMED_PATHS = sizeof named_paths / sizeof *named_paths,
    KERNEL_PATHS = sizeof kernel_paths / sizeof *kernel_paths,
    SELECTIONS = sizeof selections / sizeof *selections,
};

bool bench_find_path(const carom_registry *registry, const char *name, bench_path *path) {
    const carom_lcp_solver *solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, name);
    *path = (bench_path){name, NULL, solver, CAROM_SELECT_LEMKE, 1};
    return solver && carom_lcp_available(solver);
}

// A way of computing by its name in --path.
static bench_path named_path(const char *name, carom_selection selection, int threads) {
    return (bench_path){name, name, &carom_lcp_lemke, selection, threads};
}

carom_status bench_list_paths(const bench_problem *problem, const carom_registry *registry, int threads, bench_path **paths, int *count,
                              carom_error *error) {
    // The solvers, modes, named paths, and the default with 1, 2, 4, ... threads and all of them.
    const int solvers = carom_registry_count(registry, CAROM_REGISTRY_SOLVERS);
    const int most = 2 + solvers + SELECTIONS * (NAMED_PATHS + KERNEL_PATHS) + 2 + (int)ceil(log2((double)threads));
    bench_path *list = malloc((size_t)most * sizeof *list), path;
    *paths = list;
    *count = 0;
    if (!list) return carom_fail_memory(error, "bench");
    int n = 0;

    // Siconos as it is and wrapped safely, then `lemke` with its kernels.
    if (bench_find_path(registry, "siconos-raw", &path) && bench_problem_takes(problem, &path)) list[n++] = path;
    if (bench_find_path(registry, bench_reference, &path) && bench_problem_takes(problem, &path)) list[n++] = path;
    for (int i = 0; i < solvers; i++) {
        const carom_lcp_solver *solver = carom_registry_entry(registry, CAROM_REGISTRY_SOLVERS, i);
        if (strncmp(solver->name, carom_lcp_lemke.name, strlen(carom_lcp_lemke.name)) != 0) continue;
        if (bench_find_path(registry, solver->name, &path) && bench_problem_takes(problem, &path)) list[n++] = path;
    }

    for (int i = 0; i < NAMED_PATHS; i++)
        for (int k = 0; k < SELECTIONS; k++) {
            path = named_path(named_paths[i], selections[k], 1);
            if (bench_problem_takes(problem, &path)) list[n++] = path;
        }
    for (int i = 0; i < KERNEL_PATHS; i++)
        for (int k = 0; k < SELECTIONS; k++) {
            path = named_path(kernel_paths[i], selections[k], 1);
            if (!bench_problem_takes(problem, &path)) continue;
            list[n++] = path;
            break;
        }

    path = (bench_path){"modes", NULL, &carom_lcp_lemke, CAROM_SELECT_RANDOM, 1};
    if (bench_problem_takes(problem, &path)) list[n++] = path;

    // The default way, of which the result says what ran.
    for (int t = 1; t <= threads; t = t < threads && 2 * t > threads ? threads : 2 * t) {
        path = named_path("auto", CAROM_SELECT_LEMKE, t);
        if (bench_problem_takes(problem, &path)) list[n++] = path;
    }
    *count = n;
    return CAROM_OK;
}
