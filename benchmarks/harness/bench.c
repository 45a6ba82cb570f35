// SPDX-License-Identifier: Apache-2.0
// `carom bench`: how fast each way of computing is on this machine, and how the cost grows.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "benchmarks/harness/bench.h"
#include "carom/json.h"
#include "carom/temporary.h"

static const cli_flag flags[] = {
    {"scene", "NAME", "scene file, or the name of one in scenes/; may be repeated (default: eight shipped scenes)"},
    {"growth", NULL, "measure how the cost grows with contacts, cone edges, velocities and samples, too"},
    {"profiles", NULL, "measure performance profiles of the LCP solvers on random impact steps, too"},
    {"repetitions", "N", "interleaved repetitions of which medians are taken (default 5)"},
    {"milliseconds", "X", "time that one repetition of one path should take (default 60)"},
    {"threads", "N", "most threads that are tried (default: one a core)"},
    {"output", "FILE", "write the tables as Markdown, and with --growth and --profiles pictures beside it"},
    {"json", NULL, "print one JSON document"},
};

enum { MOST_REPETITIONS = 1000, MOST_THREADS = 1024 };

static const carom_option effort_rows[] = {
    {"repetitions", CAROM_OPTION_INTEGER, offsetof(bench_effort, repetitions), 1, MOST_REPETITIONS, "", "5", "", NULL},
    {"milliseconds", CAROM_OPTION_REAL, offsetof(bench_effort, milliseconds), 0, 1e5, "ms", "60", "", NULL},
    {"threads", CAROM_OPTION_INTEGER, offsetof(bench_effort, threads), 1, MOST_THREADS, "", "one a core", "", NULL},
};
enum { EFFORT_ROWS = sizeof effort_rows / sizeof *effort_rows };

static const char *const default_scenes[] = {"block", "boxwall", "compass", "ramone", "disks", "cube-k4", "cube-k8", "quadruped"};
enum { DEFAULT_SCENES = sizeof default_scenes / sizeof *default_scenes };

// What was measured of one scene.
typedef struct scene_report {
    char name[CAROM_MAX_NAME];  // stem of the file
    int contacts, velocities, lcp_size;
    bench_case *cases;
    int count;
} scene_report;

typedef struct bench {
    const cli_arguments *arguments;
    bench_effort effort;
    scene_report *scenes;
    int scene_count;
    bench_growth *growth;    // NULL when not asked for
    bench_profile *profile;  // likewise
} bench;

// -------------------------------------------------------------------------------------------------------------- machine

enum { LINE_SIZE = 256 };

// The processor's name as the system gives it.
static void name_processor(char name[LINE_SIZE]) {
    snprintf(name, LINE_SIZE, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[LINE_SIZE];
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

// ---------------------------------------------------------------------------------------------------------------- paths

typedef struct path_list {
    bench_path *paths;
    int count;
} path_list;

static void add_path(path_list *list, const bench_problem *problem, const bench_path *path) {
    if (bench_problem_takes(problem, path)) list->paths[list->count++] = *path;
}

static void add_solver(path_list *list, const bench_problem *problem, const carom_registry *registry, const char *name) {
    bench_path path;
    if (bench_find_path(registry, name, &path)) add_path(list, problem, &path);
}

// Every step method, alone and held to each instruction set. A method that is an LCP solver of the registry is measured as one; the others
// for each selection that they serve, their kernels for the first.
static void add_methods(path_list *list, const bench_problem *problem, const carom_registry *registry) {
    static const carom_selection selections[] = {CAROM_SELECT_LEMKE, CAROM_SELECT_ANY, CAROM_SELECT_RANDOM};
    for (const carom_step_method *const *row = carom_step_methods; *row; row++)
        for (int set = -1; set < CAROM_INSTRUCTIONS; set++) {
            char name[CAROM_MAX_NAME];
            snprintf(name, sizeof name, set < 0 ? "%s" : "%s:%s", (*row)->name, set < 0 ? "" : carom_instructions_names[set]);
            if (carom_registry_find(registry, CAROM_REGISTRY_SOLVERS, name)) {
                add_solver(list, problem, registry, name);
                continue;
            }
            const int before = list->count;
            for (size_t k = 0; k < sizeof selections / sizeof *selections && (set < 0 || list->count == before); k++) {
                const bench_path path = bench_named_path(name, selections[k]);
                const bool kernels = set < 0 || (*row)->batch;
                if (kernels && carom_step_method_serves(*row, selections[k])) add_path(list, problem, &path);
            }
        }
}

// The default way, of which the result says what ran.
static void add_default(path_list *list, const bench_problem *problem, int threads) {
    bench_path path = bench_named_path("auto", CAROM_SELECT_LEMKE);
    path.threads = threads;
    add_path(list, problem, &path);
}

// Every path that the scene takes, in the order of the table.
static carom_status list_paths(const bench *b, const bench_problem *problem, path_list *list, carom_error *error) {
    const carom_registry *registry = b->arguments->registry;
    // Two solvers of Siconos, every method with its selections and kernels, and the default with 1, 2, 4, ... threads and all of them.
    int most = 3 + (int)ceil(log2((double)MOST_THREADS));
    for (const carom_step_method *const *row = carom_step_methods; *row; row++) most += CAROM_SELECT_ALL + CAROM_INSTRUCTIONS;
    *list = (path_list){.paths = calloc((size_t)most, sizeof *list->paths)};
    if (!list->paths) return carom_fail_memory(error, "bench");
    add_solver(list, problem, registry, "siconos-raw");
    add_solver(list, problem, registry, bench_reference);
    add_methods(list, problem, registry);
    const int threads = (int)b->effort.threads;
    for (int t = 1; t < threads; t *= 2) add_default(list, problem, t);
    add_default(list, problem, threads);
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------------- scenes

// A word without slash and dot is a shipped scene.
static void find_scene_file(const char *word, char path[FILENAME_MAX]) {
    snprintf(path, FILENAME_MAX, strpbrk(word, "/.") ? "%s" : "scenes/%s.yaml", word);
}

static void copy_stem(const char *path, char *stem, size_t size) {
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path, *dot = strrchr(start, '.');
    snprintf(stem, size, "%.*s", dot ? (int)(dot - start) : (int)strlen(start), start);
}

static carom_status measure_paths(const bench *b, const bench_problem *problem, scene_report *report, carom_error *error) {
    path_list list;
    carom_status status = list_paths(b, problem, &list, error);
    if (status) return status;
    report->cases = calloc((size_t)list.count, sizeof *report->cases);
    if (!report->cases) status = carom_fail_memory(error, "bench");
    for (int i = 0; i < list.count && !status; i++) report->cases[i].path = list.paths[i];
    if (!status) status = bench_measure(problem, &b->effort, report->cases, list.count, error);
    report->count = list.count;
    free(list.paths);
    return status;
}

// Algorithm 1 with the options of the scene, but for the method, which the paths vary.
static carom_status read_options(const carom_scene *scene, carom_sample_options *options, carom_error *error) {
    *options = carom_sample_defaults();
    const carom_status status = carom_scene_apply(scene, carom_sample_rows, CAROM_SAMPLE_ROWS, options, error);
    options->epsilon = NAN;
    options->paths = 0;
    options->path = carom_sample_defaults().path;
    return status;
}

static carom_status measure_scene(const bench *b, const char *word, scene_report *report, carom_error *error) {
    char path[FILENAME_MAX];
    find_scene_file(word, path);
    carom_scene *scene = NULL;
    bench_problem *problem = NULL;
    carom_sample_options options;
    carom_status status = carom_scene_read(path, b->arguments->registry, &scene, error);
    if (!status) status = read_options(scene, &options, error);
    if (!status) {
        const carom_impact *impact = carom_scene_impact(scene);
        copy_stem(path, report->name, sizeof report->name);
        report->contacts = carom_impact_get_data(impact)->contacts;
        report->velocities = carom_impact_get_data(impact)->nv;
        carom_error inner;
        status = bench_problem_create(impact, &options, b->arguments->registry, &problem, &inner);
        if (status) carom_fail(error, status, "%s: %s", path, inner.message);
    }
    if (!status) {
        report->lcp_size = bench_problem_lcp_size(problem);
        status = measure_paths(b, problem, report, error);
    }
    bench_problem_free(problem);
    carom_scene_free(scene);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- tables

// A table that people read on the terminal and Markdown renders.
static void print_head(FILE *file) {
    fputs(
        "| scene        |  n | selection | path              | threads |    ns/LCP |  ns/sample | LCPs/sample |  ratio | unsolved | "
        "residual |\n"
        "|--------------|---:|-----------|-------------------|--------:|----------:|-----------:|------------:|-------:|---------:|-------"
        "--:|\n",
        file);
}

static void print_scene(const scene_report *report, FILE *file) {
    for (int i = 0; i < report->count; i++) {
        const bench_case *c = &report->cases[i];
        char unsolved[48], name[64];
        // What the default turned out to be, without its kernel.
        const bool chosen = !strcmp(c->path.name, "auto");
        snprintf(name, sizeof name, chosen ? "auto: %.*s" : "%.*s",
                 (int)strcspn(chosen ? c->statistics.path : c->path.name, chosen ? ":" : ""), chosen ? c->statistics.path : c->path.name);
        snprintf(unsolved, sizeof unsolved, "%.2g %%", 100 * (double)c->statistics.counts.unsolved / (double)c->samples);
        fprintf(file, "| %-12s | %2d | %-9s | %-17s | %7d | %9.0f | %10.0f | %11.2f | %6.3g | %8s | %8.1e |\n", report->name,
                report->lcp_size, carom_selection_name(c->path.selection), name, c->path.threads, c->ns_per_lcp, c->ns_per_sample,
                c->statistics.lcps_per_sample, c->ratio_to_siconos, c->statistics.counts.unsolved ? unsolved : "0",
                c->statistics.counts.max_residual);
    }
    fflush(file);
}

static void print_machine(const bench *b, FILE *file) {
    char processor[LINE_SIZE];
    name_processor(processor);
    fprintf(file,
            "%s; %s; carom %s; medians of %" PRId64
            " interleaved repetitions of %g ms. Ratio: time per sample of %s over that of the path; "
            "n = m(k+3).\n\n",
            processor, compiler, CAROM_VERSION, b->effort.repetitions, b->effort.milliseconds, bench_reference);
}

// ------------------------------------------------------------------------------------------------------------- the file

// The first line, by which a file is known as ours.
static const carom_file_kind table_kind = {"the tables of an earlier measurement",
                                           "<!-- made by carom bench; the next one replaces it -->\n"};

// Tables that are measured on request.
static void print_extras(const bench *b, FILE *file) {
    if (b->growth) {
        fputc('\n', file);
        bench_growth_print(b->growth, file);
    }
    if (b->profile) {
        fputc('\n', file);
        bench_profile_print(b->profile, file);
    }
}

static void print_tables(const bench *b, FILE *file) {
    fprintf(file, "%s\n", table_kind.start);
    print_machine(b, file);
    print_head(file);
    for (int i = 0; i < b->scene_count; i++) print_scene(&b->scenes[i], file);
    print_extras(b, file);
}

static carom_status write_tables(const bench *b, const char *path, carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    carom_status status = carom_temporary_create(path, &table_kind, &temporary, &descriptor, error);
    if (status) return status;
    FILE *file = fdopen(descriptor, "w");
    bool written = file != NULL;
    if (file) {
        print_tables(b, file);
        written = !ferror(file);
        written = !fclose(file) && written;
    }
    status = written ? carom_temporary_commit(&temporary, error) : carom_fail(error, CAROM_IO_FAILED, "%s could not be written", path);
    carom_temporary_discard(&temporary);
    return status;
}

static carom_status write_output(const bench *b, const char *path, carom_error *error) {
    carom_status status = write_tables(b, path, error);
    char prefix[FILENAME_MAX];
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    snprintf(prefix, sizeof prefix, "%.*s", dot ? (int)(dot - path) : (int)strlen(path), path);
    if (!status && b->growth) status = bench_growth_plot(b->growth, prefix, error);
    if (!status && b->profile) status = bench_profile_plot(b->profile, prefix, error);
    return status;
}

// Minutes of measuring should not end at a place that cannot be written.
static carom_status check_output(const char *path, carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    const carom_status status = carom_temporary_create(path, &table_kind, &temporary, &descriptor, error);
    if (status) return status;
    close(descriptor);
    carom_temporary_discard(&temporary);
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

static json_t *case_json(const scene_report *report, const bench_case *c) {
    return json_pack("{s:o, s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:i}", "scene", carom_json_text(report->name),
                     "selection", carom_selection_name(c->path.selection), "path", c->path.name, "ran", c->statistics.path, "contacts",
                     report->contacts, "nv", report->velocities, "lcp_size", report->lcp_size, "ns_per_lcp", carom_json_real(c->ns_per_lcp),
                     "ns_per_sample", carom_json_real(c->ns_per_sample), "lcps_per_sample", carom_json_real(c->statistics.lcps_per_sample),
                     "ratio_to_siconos", carom_json_real(c->ratio_to_siconos), "samples", (json_int_t)c->samples, "unsolved",
                     (json_int_t)c->statistics.counts.unsolved, "max_residual", carom_json_real(c->statistics.counts.max_residual),
                     "threads", c->path.threads);
}

static int print_json(const bench *b) {
    char processor[LINE_SIZE];
    name_processor(processor);
    json_t *cases = json_array();
    for (int i = 0; i < b->scene_count; i++)
        for (int k = 0; k < b->scenes[i].count; k++) json_array_append_new(cases, case_json(&b->scenes[i], &b->scenes[i].cases[k]));
    json_t *document =
        json_pack("{s:s, s:o, s:s, s:s, s:I, s:o}", "schema", "carom.bench/1", "machine", carom_json_text(processor), "compiler", compiler,
                  "version", CAROM_VERSION, "repetitions", (json_int_t)b->effort.repetitions, "cases", cases);
    if (b->growth) json_object_set_new(document, "growth", bench_growth_json(b->growth));
    if (b->profile) json_object_set_new(document, "profiles", bench_profile_json(b->profile));
    return cli_print_json(document, EXIT_DONE);
}

// -------------------------------------------------------------------------------------------------------------- command

static carom_status read_effort(const cli_arguments *arguments, bench_effort *effort, carom_error *error) {
    *effort = (bench_effort){.repetitions = 5, .milliseconds = 60, .threads = carom_control_workers(NULL)};
    for (int i = 0; i < EFFORT_ROWS; i++) {
        const char *value = cli_value(arguments, effort_rows[i].name);
        carom_error inner;
        if (value && carom_option_set(&effort_rows[i], effort, value, &inner)) return cli_pass_on(&effort_rows[i], &inner, error);
    }
    const char *output = cli_value(arguments, "output");
    return output ? check_output(output, error) : CAROM_OK;
}

// The scenes of the command line, or the default ones: [count] words, to be freed.
static carom_status list_scenes(const cli_arguments *arguments, const char ***words, int *count, carom_error *error) {
    *words = malloc(((size_t)arguments->count + DEFAULT_SCENES) * sizeof **words);
    if (!*words) return carom_fail_memory(error, "bench");
    *count = 0;
    for (int i = 0; i < arguments->count; i++)
        if (!strcmp(arguments->settings[i].name, "scene")) (*words)[(*count)++] = arguments->settings[i].value;
    if (*count) return CAROM_OK;
    *count = DEFAULT_SCENES;
    memcpy(*words, default_scenes, sizeof default_scenes);
    return CAROM_OK;
}

// Measures everything; tables for people appear scene by scene.
static carom_status measure(bench *b, carom_error *error) {
    const bool talks = !cli_given(b->arguments, "json");
    const char **words = NULL;
    int count = 0;
    carom_status status = list_scenes(b->arguments, &words, &count, error);
    if (status) return status;
    b->scenes = calloc((size_t)count, sizeof *b->scenes);
    if (!b->scenes) status = carom_fail_memory(error, "bench");
    for (int i = 0; i < count && !status; i++) {
        status = measure_scene(b, words[i], &b->scenes[i], error);
        b->scene_count = i + 1;
        if (status || !talks) continue;
        if (i == 0) print_machine(b, stdout);
        if (i == 0) print_head(stdout);
        print_scene(&b->scenes[i], stdout);
    }
    free(words);
    if (!status && cli_given(b->arguments, "growth")) status = bench_growth_create(b->arguments->registry, &b->effort, &b->growth, error);
    if (!status && cli_given(b->arguments, "profiles"))
        status = bench_profile_create(b->arguments->registry, &b->effort, &b->profile, error);
    if (!status && talks) print_extras(b, stdout);
    return status;
}

static void bench_release(bench *b) {
    for (int i = 0; i < b->scene_count; i++) free(b->scenes[i].cases);
    free(b->scenes);
    bench_growth_free(b->growth);
    bench_profile_free(b->profile);
}

static int run_bench(const cli_arguments *arguments) {
    carom_error error;
    bench b = {.arguments = arguments};
    const char *output = cli_value(arguments, "output");
    carom_status status = read_effort(arguments, &b.effort, &error);
    if (!status) status = measure(&b, &error);
    if (!status && output) status = write_output(&b, output, &error);
    int exit_status = EXIT_DONE;
    if (status)
        exit_status = cli_report(&error);
    else if (cli_given(arguments, "json"))
        exit_status = print_json(&b);
    else if (output)
        printf("\nwritten to %s\n", output);
    bench_release(&b);
    return exit_status;
}

const cli_command cli_bench = {
    .name = "bench",
    .summary = "how fast this machine computes: every path, in interleaved repetitions",
    .operand = "SCENE",
    .operand_flag = "scene",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_bench,
};
