// SPDX-License-Identifier: Apache-2.0
// What a run of many contacts will need, said before it takes it.
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "cli/ranks/ranks.h"

// A gigabyte and a minute are worth a word. A sample of many contacts takes about this time for the cube of its LCP variables, as measured
// from 300 to 625 of them; smaller steps are looked up. Large LCPs take a minute for a few of them.
#define MUCH_MEMORY    1e9
#define MUCH_TIME      60.0
#define SAMPLE_SECONDS 5e-10
enum { MEASURED_LCP = 100, LARGE_LCP = 2500, NEED_SIZE = 256 };

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

static double step_bytes(double variables, int threads) {
    return (double)CLI_SAMPLE_MATRICES * threads * variables * variables * sizeof(double);
}

// The options of sampling that scene and command line give. What is wrong with them is said by those who use them: false here.
static bool find_options(const cli_arguments *arguments, const carom_scene *scene, carom_sample_options *options, int *edges) {
    carom_error error;
    *options = carom_sample_defaults();
    return !carom_scene_apply(scene, carom_sample_rows, CAROM_SAMPLE_ROWS, options, &error) &&
           !cli_apply_rows(arguments, carom_sample_rows, CAROM_SAMPLE_ROWS, options, &error) &&
           !carom_impact_cone_edges(carom_scene_impact(scene), options->method.cone_edges, edges, &error);
}

carom_status cli_announce_need(const cli_arguments *arguments, const carom_scene *scene, bool sampled, int threads, carom_error *error) {
    const carom_impact *impact = carom_scene_impact(scene);
    carom_sample_options options;
    int edges;
    double variables;
    if (!find_options(arguments, scene, &options, &edges)) return CAROM_OK;
    const bool large = cli_step_is_large(impact, edges, &variables);
    const double bytes = step_bytes(variables, threads), most = most_memory();
    const double cube = sampled && variables >= MEASURED_LCP ? variables * variables * variables : 0,
                 seconds = (double)options.samples * SAMPLE_SECONDS * cube / threads;
    char need[NEED_SIZE], time[NEED_SIZE] = "; this may take minutes";
    snprintf(need, sizeof need, "%d contacts make steps of %.0f LCP variables, which take about %.2g GB with %d thread%s",
             carom_impact_get_data(impact)->contacts, variables, 1e-9 * bytes, threads, threads == 1 ? "" : "s");
    if (bytes > most) return carom_fail(error, CAROM_OUT_OF_MEMORY, "%s: there are %.2g GB", need, 1e-9 * most);
    if (seconds > MUCH_TIME)
        snprintf(time, sizeof time, "; %lld samples may take %.0f %s", (long long)options.samples, seconds / (seconds < 7200 ? 60 : 3600),
                 seconds < 7200 ? "minutes" : "hours");
    if (bytes >= MUCH_MEMORY || seconds > MUCH_TIME || large) cli_say("note", NULL, "%s%s", need, time);
    return CAROM_OK;
}

bool cli_needs_too_much(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law) {
    carom_sample_options options;
    int edges;
    double variables;
    if (!find_options(arguments, scene, &options, &edges)) return false;
    // Laws of steps have cone edges.
    const bool large = cli_step_is_large(carom_scene_impact(scene), edges, &variables),
               steps = carom_option_find(law->options, law->option_count, "cone_edges") >= 0,
               sampled = carom_option_find(law->options, law->option_count, "samples") >= 0;
    return (steps && step_bytes(variables, 1) >= MUCH_MEMORY) || (sampled && large);
}
