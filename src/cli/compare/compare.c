// SPDX-License-Identifier: Apache-2.0
// `carom compare`: every law on one scene, as a table, and as a page with pictures of all of them.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/json.h"
#include "cli/compare/compare.h"
#include "cli/compare/simulator.h"

// Contacts that the table on the terminal shows; the page and JSON have more.
enum { SHOWN_CONTACTS = 4 };

static const cli_flag flags[] = {
    {"threads", "N", "threads of sampled laws (default: one a core)"},
    {"output", "DIR", "write DIR/index.md, a page with tables and pictures, and DIR/compare.h5; DIR is made where it is missing"},
    {"simulator", "mujoco", "run the scene's model by MuJoCo's own contact solver, too, and say how much of the set it shows"},
    {"perturbations", "N", "perturbed starts of the simulator besides the scene's (default 10; --seed gives others)"},
    {"perturb", "D", "their size: of coordinates in m and rad, of velocities over the largest of them (default 0.001)"},
    {"horizon", "T", "longest time of an impact of the simulator in s (default 0.1)"},
    {"json", NULL, "print one JSON document"},
};

double cli_show_velocity(const cli_comparison *c, double velocity) {
    return fabs(velocity) <= -carom_impact_approach_limit(c->impact) ? 0 : velocity;
}

// --------------------------------------------------------------------------------------------------------------- modes

void cli_describe_share(int64_t count, int64_t outcomes, char *text, size_t size) {
    const double percent = 100 * (double)count / (double)outcomes;
    if (count == 0 || count == outcomes)
        snprintf(text, size, "%d %%", count ? 100 : 0);
    else if (percent < 0.1)
        snprintf(text, size, "<0.1 %%");
    else
        snprintf(text, size, "%.1f %%", fmin(percent, 99.9));
}

void cli_describe_modes(const carom_extent *extent, int contact, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int mode = 0; mode < CAROM_CONTACT_MODES && used < size; mode++) {
        const int64_t count = extent->modes[contact * CAROM_CONTACT_MODES + mode];
        const char *name = carom_contact_mode_name((carom_contact_mode)mode);
        char share[32];
        cli_describe_share(count, extent->outcomes, share, sizeof share);
        if (count == extent->outcomes)
            snprintf(text, size, "%s", name);
        else if (count)
            used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", name, share);
    }
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// For each mode, how many outcomes have each contact in it.
static json_t *modes_json(const carom_extent *extent) {
    json_t *modes = json_object();
    for (int mode = 0; mode < CAROM_CONTACT_MODES; mode++) {
        json_t *counts = json_array();
        for (int i = 0; i < extent->sizes.contacts; i++)
            json_array_append_new(counts, json_integer((json_int_t)extent->modes[i * CAROM_CONTACT_MODES + mode]));
        json_object_set_new(modes, carom_contact_mode_name((carom_contact_mode)mode), counts);
    }
    return modes;
}

static json_t *law_json(const cli_comparison *c, int index) {
    const cli_run *run = &c->runs[index];
    const carom_extent *extent = run->extent;
    const bool known = extent->outcomes && !isnan(extent->energy_ratio[0]);
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "count", (json_int_t)extent->outcomes, "extent", cli_extent_json(extent),
                     "modes", modes_json(extent), "energy_ratio", known ? carom_json_reals(extent->energy_ratio, 2) : json_null(),
                     "from_exact", cli_distance_json(c, index), "complete", carom_answer_complete(&run->answer), "seconds",
                     carom_json_real(run->seconds));
}

static int exit_status_of(const cli_comparison *c) {
    if (cli_interrupted()) return EXIT_INCOMPLETE;
    for (int i = 0; i < c->count; i++)
        if (!carom_answer_complete(&c->runs[i].answer)) return EXIT_INCOMPLETE;
    return c->interrupted ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int print_json(const cli_comparison *c) {
    json_t *laws = json_object();
    for (int i = 0; i < c->count; i++) json_object_set_new(laws, c->runs[i].law->name, law_json(c, i));
    return cli_print_json(
        json_pack("{s:s, s:o, s:o, s:O}", "schema", "carom.compare/1", "laws", laws, "simulator", cli_coverage_json(c), "files", c->files),
        exit_status_of(c));
}

// ---------------------------------------------------------------------------------------------------------------- text

static void print_contact(const cli_comparison *c, const carom_extent *extent, int contact) {
    char modes[128];
    cli_describe_modes(extent, contact, modes, sizeof modes);
    printf("  %s [%.5g, %.5g] %s", carom_impact_get_data(c->impact)->names[contact], cli_show_velocity(c, extent->normal[2 * contact]),
           cli_show_velocity(c, extent->normal[2 * contact + 1]), modes);
}

static void print_law(const cli_comparison *c, const cli_run *run) {
    const int contacts = carom_impact_get_data(c->impact)->contacts;
    const carom_extent *extent = run->extent;
    printf("%-16s %9" PRId64, run->law->name, extent->outcomes);
    if (extent->outcomes) {
        if (isnan(extent->energy_ratio[0]))
            printf("  %18s ", "-");
        else
            printf("  %7.4f .. %-7.4f ", extent->energy_ratio[0], extent->energy_ratio[1]);
        for (int i = 0; i < contacts && i < SHOWN_CONTACTS; i++) print_contact(c, extent, i);
        if (contacts > SHOWN_CONTACTS) printf("  ... of %d contacts", contacts);
    }
    if (!carom_answer_complete(&run->answer)) printf("  (%s)", carom_table_text(run->answer.result, CAROM_RESULT_VERDICT, 0));
    putchar('\n');
}

static void print_distances(const cli_comparison *c) {
    if (!cli_any_distance_known(c)) return;
    printf("\nfrom the exact set [m/s]:   farthest outcome   farthest point of the set that they miss\n");
    for (int i = 0; i < c->count; i++) {
        if (!cli_distance_known(c, i)) continue;
        const cli_distance *d = &c->distances[i];
        printf("%-27s %-18.3g %.3g", c->runs[i].law->name, cli_show_velocity(c, d->outside), cli_show_velocity(c, d->coverage));
        if (d->gap > 0) printf(" (+ %.1g)", d->gap);
        putchar('\n');
    }
}

static int print_text(const cli_comparison *c) {
    printf("%s\n%-16s %9s  %18s   %s\n", carom_scene_name(c->scene), "law", "outcomes", "energy ratio",
           "normal velocities after the impact [m/s], and what the contact does");
    for (int i = 0; i < c->count; i++) print_law(c, &c->runs[i]);
    print_distances(c);
    if (c->coverage) cli_coverage_print(c, stdout, "  ");
    for (size_t i = 0; i < json_array_size(c->files); i++) printf("written: %s\n", json_string_value(json_array_get(c->files, i)));
    if (!json_array_size(c->files)) printf("(-o DIR draws them)\n");
    if (json_array_size(c->files) && cli_interrupted()) printf("(interrupted: neither page nor figures)\n");
    return exit_status_of(c);
}

// ------------------------------------------------------------------------------------------------------------- running

static carom_status run_laws(cli_comparison *c, carom_result_writer *writer, carom_error *error) {
    const cli_arguments *arguments = c->arguments;
    carom_control control;
    carom_status status = cli_start_control(arguments, &control, error);
    const bool simulate = cli_given(arguments, "simulator");
    const cli_run_options options = {.collect_points = true, .thorough = true, .writer = writer};
    const int laws = carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS);
    for (int i = 0; i < laws && !status; i++) {
        const carom_law *law = carom_registry_entry(arguments->registry, CAROM_REGISTRY_LAWS, i);
        if (law->applies && !law->applies(c->impact)) continue;
        status = cli_run_law(arguments, c->scene, law, &control, &options, &c->runs[c->count], error);
        if (!status) c->count++;
    }
    if (!status && simulate) status = cli_simulate_impact(c, &control, writer, error);
    if (!status) status = cli_measure_distances(c, &control, error);
    c->interrupted = carom_control_cancelled(&control);
    return status;
}

// The page comes last, when all that it shows is there; the page of an earlier comparison goes first.
static carom_status show(cli_comparison *c, const char *directory, const char *result, carom_error *error) {
    cli_figures figures;
    cli_page_remove(directory);
    carom_status status = cli_figures_choose(c, &figures, error);
    if (status) return status;
    status = cli_figures_draw(c, &figures, directory, result, error);
    if (!status && !cli_interrupted()) status = cli_page_write(c, &figures, directory, error);
    cli_figures_free(&figures);
    return status;
}

static carom_status write_directory(cli_comparison *c, const char *directory, carom_error *error) {
    carom_result_writer *writer = NULL;
    bool made = false;
    char *result = cli_join_path(directory, "compare.h5");
    carom_status status = result ? cli_make_directory(directory, &made, error) : carom_fail_memory(error, directory);
    if (!status) status = cli_page_check(directory, error);
    if (!status) status = carom_result_writer_create(result, c->scene, &writer, error);
    if (!status) status = run_laws(c, writer, error);
    if (!status) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    if (!status) {
        json_array_append_new(c->files, carom_json_text(result));
        status = show(c, directory, result, error);
    }
    // Nothing is left behind; a directory with a result in it stays.
    if (status && made) rmdir(directory);
    free(result);
    return status;
}

static carom_status compare(cli_comparison *c, carom_scene **scene, carom_error *error) {
    const carom_status status = carom_scene_read(c->arguments->operand, c->arguments->registry, scene, error);
    if (status) return status;
    c->scene = *scene;
    c->impact = carom_scene_impact(*scene);
    const char *directory = cli_value(c->arguments, "output");
    if (cli_check_simulator(c, error)) return error->status;
    return directory ? write_directory(c, directory, error) : run_laws(c, NULL, error);
}

static int run_compare(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    const size_t laws = (size_t)carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS);
    cli_comparison c = {.arguments = arguments, .runs = calloc(laws + 1, sizeof(cli_run)), .files = json_array()};
    carom_status status = c.runs && c.files ? CAROM_OK : carom_fail_memory(&error, "compare");
    if (!status) status = compare(&c, &scene, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = cli_given(arguments, "json") ? print_json(&c) : print_text(&c);
    }
    cli_release_distances(&c);
    for (int i = 0; i < c.count; i++) cli_run_release(&c.runs[i]);
    cli_coverage_free(c.coverage);
    free(c.runs);
    json_decref(c.files);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "every law on one scene: a table, and a page with pictures",
    .operand = "SCENE",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ALL_LAWS,
    .run = run_compare,
};
