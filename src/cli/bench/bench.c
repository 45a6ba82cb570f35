// SPDX-License-Identifier: Apache-2.0
// `carom bench`: how fast each way of computing is on this machine, and how the cost grows. The harness measures.
#include "cli/bench/bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/json.h"
#include "carom/temporary.h"

static const cli_flag flags[] = {
    {"scene", "NAME", "a scene file, or the name of one in scenes/; may be given several times (default: eight shipped scenes)"},
    {"growth", NULL, "also measure how the cost grows with contacts, cone edges, velocities and samples"},
    {"profiles", NULL, "also measure performance profiles of the LCP solvers on random impact steps"},
    {"repetitions", "N", "interleaved repetitions, whose medians are reported (default 5)"},
    {"milliseconds", "X", "time that one repetition of one path should take (default 60)"},
    {"threads", "N", "the largest number of threads to try (default: one per core)"},
    {"output", "FILE", "write the tables as Markdown; with --growth or --profiles, pictures go beside it"},
    {"json", NULL, "print one JSON document"},
};

enum { MOST_REPETITIONS = 1000, MOST_THREADS = 1024 };

// Flags whose values are numbers: their ranges and where they go.
static const carom_option effort_rows[] = {
    {"repetitions", CAROM_OPTION_INTEGER, offsetof(bench_effort, repetitions), 1, MOST_REPETITIONS, "", "5", "", NULL},
    {"milliseconds", CAROM_OPTION_REAL, offsetof(bench_effort, milliseconds), 0, 1e5, "ms", "60", "", NULL},
    {"threads", CAROM_OPTION_INTEGER, offsetof(bench_effort, threads), 1, MOST_THREADS, "", "one per core", "", NULL},
};
enum { EFFORT_ROWS = sizeof effort_rows / sizeof *effort_rows };

// Small and larger, planar and spatial.
static const char *const default_scenes[] = {"block", "boxwall", "compass", "ramone", "disks", "cube-k4", "cube-k8", "quadruped"};
enum { DEFAULT_SCENES = sizeof default_scenes / sizeof *default_scenes };

// What was measured of one scene.
typedef struct scene_report {
    char name[CAROM_MAX_NAME];  // stem of the file
    int contacts, velocities, lcp_size;
    bench_case *cases;  // the first BENCH_SETS are the set
    int count;
} scene_report;

// Everything that is measured.
typedef struct bench {
    const cli_arguments *arguments;
    bench_effort effort;
    scene_report *scenes;
    int scene_count;
    bench_growth *growth;    // NULL when not asked for
    bench_profile *profile;  // NULL when not asked for
} bench;

enum { LINE_SIZE = 256 };

// The processor's name as the system gives it.
static void name_processor(char name[LINE_SIZE]) {
    snprintf(name, LINE_SIZE, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[LINE_SIZE];
    // The first "model name" line; all cores are taken to be alike.
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) != 0 || !colon) continue;
        snprintf(name, LINE_SIZE, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}

#if defined(__clang__)
static const char compiler[] = __VERSION__;
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

// --------------------------------------------------------------------------------------------------------------- tables

// Tables that people read on the terminal and Markdown renders. The first has a line a scene: what `carom sample` does by default.
static void print_sets_head(FILE *file) {
    fputs("| scene        |  m |  n | path                       | selection |  samples/s |  ratio | stepped ratio | unsolved |\n"
          "|--------------|---:|---:|----------------------------|-----------|-----------:|-------:|--------------:|---------:|\n",
          file);
}

// As text: a share of the samples.
static const char *name_unsolved(const bench_case *c, char text[48]) {
    const int64_t unsolved = c->statistics.counts.unsolved;
    snprintf(text, 48, unsolved ? "%.2g %%" : "0", 100 * (double)unsolved / (double)c->samples);
    return text;
}

static void print_set(const scene_report *report, FILE *file) {
    const bench_case *set = &report->cases[BENCH_SET_WHOLE];
    char unsolved[48];
    fprintf(file, "| %-12s | %2d | %2d | %-26s | %-9s | %10.0f | %6.3g | %13.3g | %8s |\n", report->name, report->contacts,
            report->lcp_size, set->statistics.path, carom_selection_name(set->statistics.selection), 1e9 / set->ns_per_sample,
            set->ratio_to_siconos, report->cases[BENCH_SET_STEPPED].ratio_to_siconos, name_unsolved(set, unsolved));
    fflush(file);
}

// The other one has all paths of time stepping.
static void print_paths_head(FILE *file) {
    fputs(
        "| scene        |  n | selection | path              | threads |    ns/LCP |  ns/sample | LCPs/sample |  ratio | unsolved | "
        "residual |\n"
        "|--------------|---:|-----------|-------------------|--------:|----------:|-----------:|------------:|-------:|---------:|-------"
        "--:|\n",
        file);
}

// The rows of one scene.
static void print_paths(const scene_report *report, FILE *file) {
    for (int i = BENCH_SETS; i < report->count; i++) {
        const bench_case *c = &report->cases[i];
        char unsolved[48], name[64];
        // What the default turned out to be, without its kernel.
        const bool chosen = !strcmp(c->path.name, "auto");
        snprintf(name, sizeof name, chosen ? "auto: %.*s" : "%.*s",
                 (int)strcspn(chosen ? c->statistics.path : c->path.name, chosen ? ":" : ""), chosen ? c->statistics.path : c->path.name);
        fprintf(file, "| %-12s | %2d | %-9s | %-17s | %7d | %9.0f | %10.0f | %11.2f | %6.3g | %8s | %8.1e |\n", report->name,
                report->lcp_size, carom_selection_name(c->path.selection), name, c->path.threads, c->ns_per_lcp, c->ns_per_sample,
                c->statistics.lcps_per_sample, c->ratio_to_siconos, name_unsolved(c, unsolved), c->statistics.counts.max_residual);
    }
}

// What the numbers depend on: processor, compiler, version, and the effort.
static void print_machine(const bench_effort *effort, FILE *file) {
    char processor[LINE_SIZE];
    name_processor(processor);
    fprintf(file,
            "%s; %s; carom %s; medians of %" PRId64
            " interleaved repetitions of %g ms. Ratio: time per sample of %s over that of the path, where "
            "stepped without walks; n = m(k+3).\n\n",
            processor, compiler, CAROM_VERSION, effort->repetitions, effort->milliseconds, bench_reference);
}

// What follows the first table: all paths, and tables that are measured on request.
static void print_details(const bench *b, FILE *file) {
    fputc('\n', file);
    print_paths_head(file);
    for (int i = 0; i < b->scene_count; i++) print_paths(&b->scenes[i], file);
    if (b->growth) {
        fputc('\n', file);
        cli_growth_print(b->growth, file);
    }
    if (b->profile) {
        fputc('\n', file);
        cli_profile_print(b->profile, file);
    }
}

// The first line, by which a file is known as ours.
static const carom_file_kind table_kind = {"the tables of an earlier measurement",
                                           "<!-- made by carom bench; the next one replaces it -->\n", false, ".md"};

// A carom_text_printer of all tables.
static carom_status print_tables(FILE *file, const void *content, carom_error *error) {
    (void)error;
    const bench *b = content;
    fprintf(file, "%s\n", table_kind.start);
    print_machine(&b->effort, file);
    print_sets_head(file);
    for (int i = 0; i < b->scene_count; i++) print_set(&b->scenes[i], file);
    print_details(b, file);
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// The set and the cases of all scenes, and what else was measured.
static int print_json(const bench *b) {
    char processor[LINE_SIZE];
    name_processor(processor);
    json_t *sets = json_array(), *cases = json_array();
    for (int i = 0; i < b->scene_count; i++) {
        const scene_report *report = &b->scenes[i];
        const bench_case *set = &report->cases[BENCH_SET_WHOLE];
        json_array_append_new(sets, json_pack("{s:o, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "scene",
                                              carom_json_text(report->name), "selection", carom_selection_name(set->statistics.selection),
                                              "ran", set->statistics.path, "contacts", report->contacts, "nv", report->velocities,
                                              "lcp_size", report->lcp_size, "ns_per_sample", carom_json_real(set->ns_per_sample),
                                              "samples_per_second", carom_json_real(1e9 / set->ns_per_sample), "ratio_to_siconos",
                                              carom_json_real(set->ratio_to_siconos), "stepped_ratio_to_siconos",
                                              carom_json_real(report->cases[BENCH_SET_STEPPED].ratio_to_siconos), "samples",
                                              (json_int_t)set->samples, "unsolved", (json_int_t)set->statistics.counts.unsolved,
                                              "max_residual", carom_json_real(set->statistics.counts.max_residual)));
        for (int k = BENCH_SETS; k < report->count; k++) {
            // One path.
            const bench_case *c = &report->cases[k];
            const carom_sample_statistics *found = &c->statistics;
            json_array_append_new(cases,
                                  json_pack("{s:o, s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:i}", "scene",
                                            carom_json_text(report->name), "selection", carom_selection_name(c->path.selection), "path",
                                            c->path.name, "ran", found->path, "contacts", report->contacts, "nv", report->velocities,
                                            "lcp_size", report->lcp_size, "ns_per_lcp", carom_json_real(c->ns_per_lcp), "ns_per_sample",
                                            carom_json_real(c->ns_per_sample), "lcps_per_sample", carom_json_real(found->lcps_per_sample),
                                            "ratio_to_siconos", carom_json_real(c->ratio_to_siconos), "samples", (json_int_t)c->samples,
                                            "unsolved", (json_int_t)found->counts.unsolved, "max_residual",
                                            carom_json_real(found->counts.max_residual), "threads", c->path.threads));
        }
    }
    json_t *document =
        json_pack("{s:s, s:o, s:s, s:s, s:I, s:o, s:o}", "schema", "carom.bench/1", "machine", carom_json_text(processor), "compiler",
                  compiler, "version", CAROM_VERSION, "repetitions", (json_int_t)b->effort.repetitions, "sets", sets, "cases", cases);
    if (b->growth) json_object_set_new(document, "growth", cli_growth_json(b->growth));
    if (b->profile) json_object_set_new(document, "profiles", cli_profile_json(b->profile));
    return cli_print_json(document, EXIT_DONE);
}

// ----------------------------------------------------------------------------------------------------------- measuring

// One scene ready to be measured.
typedef struct prepared {
    carom_scene *scene;
    bench_problem *problem;
    bench_path *paths;
} prepared;

static void release(prepared *ready) {
    free(ready->paths);
    bench_problem_free(ready->problem);
    carom_scene_free(ready->scene);
    *ready = (prepared){0};
}

// Reads a scene and lists the paths that its impact takes; what is known before measuring goes into the report. To be released, also after
// a failure.
static carom_status prepare(const bench *b, const char *word, scene_report *report, prepared *ready, carom_error *error) {
    const carom_registry *registry = b->arguments->registry;
    *ready = (prepared){0};
    // A word without slash and dot is a shipped scene.
    char path[FILENAME_MAX];
    snprintf(path, sizeof path, strpbrk(word, "/.") ? "%s" : "scenes/%s.yaml", word);
    // Scenes are reported by the stem of their file.
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path, *dot = strrchr(stem, '.');
    snprintf(report->name, sizeof report->name, "%.*s", dot ? (int)(dot - stem) : (int)strlen(stem), stem);

    // The set with the options of the scene; the other paths vary the method of Algorithm 1.
    carom_sample_options options = carom_sample_defaults();
    carom_status status = carom_scene_read(path, registry, &ready->scene, error);
    if (!status) status = carom_scene_apply(ready->scene, carom_sample_rows, CAROM_SAMPLE_ROWS, &options, error);
    options.epsilon = NAN;
    options.paths = 0;
    options.path = carom_sample_defaults().path;
    if (!status) {
        const carom_impact *impact = carom_scene_impact(ready->scene);
        report->contacts = carom_impact_get_data(impact)->contacts;
        report->velocities = carom_impact_get_data(impact)->nv;
        // The harness knows no files: say which scene it could not measure.
        carom_error inner;
        status = bench_problem_create(impact, &options, registry, &ready->problem, &inner);
        if (status) carom_fail(error, status, "%s: %s", path, inner.message);
    }
    if (!status) status = bench_list_paths(ready->problem, registry, (int)b->effort.threads, &ready->paths, &report->count, error);
    if (!status) report->lcp_size = bench_problem_lcp_size(ready->problem);
    return status;
}

// Measures all paths on one scene, as cases of one measurement.
static carom_status measure_scene(const bench *b, const char *word, scene_report *report, carom_error *error) {
    prepared ready;
    carom_status status = prepare(b, word, report, &ready, error);
    if (!status) report->cases = calloc((size_t)report->count, sizeof *report->cases);
    if (!status && !report->cases) status = carom_fail_memory(error, "bench");
    for (int i = 0; i < report->count && !status; i++) report->cases[i].path = ready.paths[i];
    if (!status) status = bench_measure(ready.problem, &b->effort, report->cases, report->count, error);
    release(&ready);
    return status;
}

// The i-th scene of the command line, each of which is a setting of the flag `scene`; without any, of the default ones. NULL after the
// last.
static const char *find_scene(const cli_arguments *arguments, int index) {
    int given = 0;
    for (int i = 0; i < arguments->count; i++)
        if (!strcmp(arguments->settings[i].name, "scene") && given++ == index) return arguments->settings[i].value;
    return !given && index < DEFAULT_SCENES ? default_scenes[index] : NULL;
}

// Minutes of measuring should not end at the last of several scenes, nor at a place that cannot be written.
static carom_status check_all(const bench *b, const char *output, const char *prefix, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; !status && find_scene(b->arguments, i); i++) {
        scene_report report;
        prepared ready;
        status = prepare(b, find_scene(b->arguments, i), &report, &ready, error);
        release(&ready);
    }
    if (status || !output) return status;
    carom_temporary temporary;
    int descriptor;
    status = carom_temporary_create(output, &table_kind, &temporary, &descriptor, error);
    if (status) return status;
    close(descriptor);
    carom_temporary_discard(&temporary);
    if (cli_given(b->arguments, "growth")) status = cli_growth_check(prefix, error);
    if (!status && cli_given(b->arguments, "profiles")) status = cli_profile_check(prefix, error);
    return status;
}

// Measures everything; the first table for people appears scene by scene.
static carom_status measure(bench *b, carom_error *error) {
    const cli_arguments *arguments = b->arguments;
    const bool talks = !cli_given(arguments, "json");
    int count = 0;
    while (find_scene(arguments, count)) count++;
    b->scenes = calloc((size_t)count, sizeof *b->scenes);
    if (!b->scenes) return carom_fail_memory(error, "bench");
    carom_status status = CAROM_OK;
    for (; b->scene_count < count && !status; b->scene_count++) {
        scene_report *report = &b->scenes[b->scene_count];
        status = measure_scene(b, find_scene(arguments, b->scene_count), report, error);
        if (status || !talks) continue;
        // The head of the table waits for the first scene, so that a scene that is refused prints nothing.
        if (b->scene_count == 0) print_machine(&b->effort, stdout);
        if (b->scene_count == 0) print_sets_head(stdout);
        print_set(report, stdout);
    }
    // What is measured on request comes after the scenes.
    if (!status && cli_given(arguments, "growth")) {
        b->growth = malloc(sizeof *b->growth);
        status = b->growth ? bench_growth_measure(arguments->registry, &b->effort, b->growth, error) : carom_fail_memory(error, "bench");
    }
    if (!status && cli_given(arguments, "profiles")) {
        b->profile = malloc(sizeof *b->profile);
        status = b->profile ? bench_profile_measure(arguments->registry, &b->effort, b->profile, error) : carom_fail_memory(error, "bench");
    }
    if (!status && talks) print_details(b, stdout);
    return status;
}

static int run_bench(const cli_arguments *arguments) {
    carom_error error;
    bench b = {.arguments = arguments, .effort = {5, 60, carom_control_workers(NULL)}};
    const char *output = cli_value(arguments, "output");
    carom_status status = cli_apply_rows(arguments, effort_rows, EFFORT_ROWS, &b.effort, &error);
    // Pictures are named after the file, without its ending.
    char prefix[FILENAME_MAX] = "";
    const char *slash = output ? strrchr(output, '/') : NULL, *dot = output ? strrchr(slash ? slash : output, '.') : NULL;
    if (output) snprintf(prefix, sizeof prefix, "%.*s", dot ? (int)(dot - output) : (int)strlen(output), output);
    if (!status) status = check_all(&b, output, prefix, &error);
    if (!status) status = measure(&b, &error);
    if (!status && output) {
        status = carom_text_write(output, &table_kind, print_tables, &b, &error);
        if (!status && b.growth) status = cli_growth_plot(b.growth, prefix, &error);
        if (!status && b.profile) status = cli_profile_plot(b.profile, prefix, &error);
    }
    int exit_status = EXIT_DONE;
    if (status)
        exit_status = cli_report(&error);
    else if (cli_given(arguments, "json"))
        exit_status = print_json(&b);
    else if (output)
        printf("\nwritten to %s\n", output);
    for (int i = 0; i < b.scene_count; i++) free(b.scenes[i].cases);
    free(b.scenes);
    free(b.growth);
    free(b.profile);
    return exit_status;
}

const cli_command cli_bench = {
    .name = "bench",
    .summary = "how fast this machine computes: the default set and every path, in interleaved repetitions",
    .operand = "SCENE",
    .operand_flag = "scene",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_bench,
};
