// SPDX-License-Identifier: Apache-2.0
// What a run of many contacts will need, said before it takes it.
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

// A gigabyte is worth a word, and so are LCPs of this size: Lemke's method takes a minute for a few of them, as measured.
#define MUCH_MEMORY 1e9
enum { LARGE_LCP = 2500, NEED_SIZE = 256 };

// Memory that this process may have: that of the machine, or what its limits leave.
static double most_memory(void) {
    double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct rlimit space;
    if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY && (double)space.rlim_cur < most) most = (double)space.rlim_cur;
    return most;
}

bool cli_step_is_large(const carom_impact *impact, int edges, double *variables) {
    *variables = (double)carom_impact_get_data(impact)->contacts * (edges + 3);
    return *variables >= LARGE_LCP;
}

carom_status cli_announce_need(const carom_scene *scene, int matrices, int threads, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(scene);
    carom_sample_options options = carom_sample_defaults();
    int edges;
    carom_status status = carom_scene_apply(scene, carom_sample_rows, CAROM_SAMPLE_ROWS, &options, error);
    if (!status) status = carom_impact_cone_edges(impact, options.method.cone_edges, &edges, error);
    // What is wrong with the scene's options is said by those who use them.
    if (status) return CAROM_OK;
    double variables;
    const int contacts = carom_impact_get_data(impact)->contacts;
    const bool large = cli_step_is_large(impact, edges, &variables);
    const double bytes = (double)matrices * threads * variables * variables * sizeof(double);
    char need[NEED_SIZE];
    snprintf(need, sizeof need, "%d contacts make steps of %.0f LCP variables, which take about %.2g GB with %d thread%s", contacts,
             variables, 1e-9 * bytes, threads, threads == 1 ? "" : "s");
    const double most = most_memory();
    if (bytes > most) return carom_fail(error, CAROM_OUT_OF_MEMORY, "%s: there are %.2g GB", need, 1e-9 * most);
    if ((bytes > MUCH_MEMORY || large) && cli_ranks_is_first()) fprintf(stderr, "carom: note: %s; this may take minutes\n", need);
    return CAROM_OK;
}
