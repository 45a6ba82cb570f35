// SPDX-License-Identifier: Apache-2.0
// The paths that are measured of one impact: LCP solvers, the table of step methods with their kernels, and the default.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/harness.h"

const char bench_reference[] = "siconos-lemke";

bool bench_find_path(const carom_registry *registry, const char *name, bench_path *path) {
    const carom_lcp_solver *solver = carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, name);
    *path = (bench_path){.solver = solver, .selection = CAROM_SELECT_LEMKE, .threads = 1};
    snprintf(path->name, sizeof path->name, "%s", name);
    return solver && carom_lcp_available(solver);
}

// A way of computing by its name in --path.
static bench_path named_path(const char *name, carom_selection selection, int threads) {
    bench_path path = {.is_path = true, .solver = &carom_lcp_lemke, .selection = selection, .threads = threads};
    snprintf(path.name, sizeof path.name, "%s", name);
    return path;
}

// Adds a step method, alone (`set` below 0) or held to an instruction set, for the selections that it serves; a method that is an LCP
// solver of the registry as that solver. Kernels of the others are measured for the first selection alone. Returns the new count.
static int add_method(const bench_problem *problem, const carom_registry *registry, const carom_step_method *method, int set,
                      bench_path *list, int count) {
    static const carom_selection selections[] = {CAROM_SELECT_LEMKE, CAROM_SELECT_ANY, CAROM_SELECT_RANDOM};
    const int before = count;
    // Methods for large steps are not for small ones.
    if (bench_problem_lcp_size(problem) < method->least_size) return count;
    char name[CAROM_MAX_NAME];
    snprintf(name, sizeof name, set < 0 ? "%s" : "%s:%s", method->name, set < 0 ? "" : carom_instructions_names[set]);
    if (bench_find_path(registry, name, &list[count])) return count + bench_problem_takes(problem, &list[count]);
    if (set >= 0 && !method->batch) return count;
    for (size_t k = 0; k < sizeof selections / sizeof *selections && (set < 0 || count == before); k++) {
        list[count] = named_path(name, selections[k], 1);
        count += carom_step_method_serves(method, selections[k]) && bench_problem_takes(problem, &list[count]);
    }
    return count;
}

carom_status bench_list_paths(const bench_problem *problem, const carom_registry *registry, int threads, bench_path **paths, int *count,
                              carom_error *error) {
    // Two sets, Siconos twice, every method with its selections and kernels, and the default with 1, 2, 4, ... threads and all of them.
    int most = 7 + (int)ceil(log2((double)threads));
    for (const carom_step_method *const *row = carom_step_methods; *row; row++) most += CAROM_SELECT_ALL + CAROM_INSTRUCTIONS;
    bench_path *list = malloc((size_t)most * sizeof *list), path;
    *paths = list;
    *count = 0;
    if (!list) return carom_fail_memory(error, "bench");
    int n = 0;
    for (; n < BENCH_SETS; n++) {
        list[n] = named_path("auto", CAROM_SELECT_AUTO, 1);
        list[n].is_set = true;
        list[n].sampler = n == BENCH_SET_STEPPED ? CAROM_SAMPLER_LCP : CAROM_SAMPLER_AUTO;
    }

    // Siconos as it is and wrapped safely, then the table of methods.
    if (bench_find_path(registry, "siconos-raw", &path) && bench_problem_takes(problem, &path)) list[n++] = path;
    if (bench_find_path(registry, bench_reference, &path) && bench_problem_takes(problem, &path)) list[n++] = path;
    for (const carom_step_method *const *row = carom_step_methods; *row; row++)
        for (int set = -1; set < CAROM_INSTRUCTIONS; set++) n = add_method(problem, registry, *row, set, list, n);

    // The default way, of which the result says what ran.
    for (int t = 1; t <= threads; t = t < threads && 2 * t > threads ? threads : 2 * t) {
        path = named_path("auto", CAROM_SELECT_LEMKE, t);
        if (bench_problem_takes(problem, &path)) list[n++] = path;
    }
    *count = n;
    return CAROM_OK;
}
