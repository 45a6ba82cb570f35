// SPDX-License-Identifier: Apache-2.0
// `carom simulate`: a motion in time, by an integrator of the table.
#include "cli/simulate/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/json.h"

// Impacts that the table on the terminal shows; JSON and files have them all.
enum { SHOWN_IMPACTS = 20, MOST_MEMBERS = 1000000, MOST_HALVINGS = 20 };

// Size of an ensemble's perturbations where the command line does not say [m, rad].
#define DEFAULT_PERTURBATION 1e-8

static const cli_flag flags[] = {
    {"integrator", "NAME", "the integrator (default: the scene's)"},
    {"list", NULL, "print the integrators, one a line"},
    {"output", "FILE", "write states, impacts and results to an HDF5 file"},
    {"vtk", "FILE", "write the states of many bodies for ParaView: FILE.vtk or FILE.vtp, and one file a state; also `--output FILE.vtk`"},
    {"figures", "PREFIX",
     "draw a body's PREFIX-energy.png, -energy-error.png, -snapshots.png and, with an ensemble, -sensitivity.png; of many bodies "
     "-momentum.png and -frames.png instead, and -convergence.png; of inclusion -time.png, -impulse.png, -rates.png, -phase.png and "
     "-bundle.png; of propagative -energy.png, -coordinates.png, -paths.png of balls in a plane and, with --orders, -orders.png"},
    {"ensemble", "N", "run N more times: bodies from perturbed starts, systems with other draws"},
    {"perturb", "D", "size of perturbations of the starts [m, rad] (default 1e-8; 0 for systems)"},
    {"convergence", "N", "run many bodies with N steps as well, each half of the one before, and show errors and orders"},
    {"perturbed", "both|position|attitude", "what is perturbed (default both)"},
    {"orders", NULL, "also run with the orders argmin and argmax of impacts, and show how far their momenta part"},
    {"design", NULL, "with --orders: the same for the solution of the scene's `design`"},
    {"threads", "N", "threads of an ensemble and of many bodies (default: one a core); results do not depend on it"},
    {"json", NULL, "print one JSON document"},
};

static int print_list(const carom_registry *registry) {
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_INTEGRATORS); i++) {
        const carom_integrator *one = carom_registry_entry(registry, CAROM_REGISTRY_INTEGRATORS, i);
        printf("%-16s  %s\n", one->name, one->summary);
    }
    return EXIT_DONE;
}

// ------------------------------------------------------------------------------------------------------------- options

static carom_status find_integrator(cli_motion *motion, carom_error *error) {
    const char *name = cli_value(motion->arguments, "integrator");
    if (!name) name = carom_scene_integrator(motion->scene);
    if (!name)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "--integrator is missing, and the scene names none under 'simulate'; `carom simulate --list` prints them");
    motion->integrator = carom_integrator_find(motion->arguments->registry, name);
    if (motion->integrator) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "--integrator: there is no integrator '%.60s'; `carom simulate --list` prints them", name);
}

// An integrator that asks a law leaves to it what it does not know itself. Names that both have are the integrator's.
static carom_status apply_arguments(cli_motion *motion, carom_error *error) {
    const carom_integrator *one = motion->integrator;
    const cli_owner owner = {"integrator", one->name, one->summary, one->options, one->option_count};
    if (carom_option_find(one->options, one->option_count, "law") < 0)
        return cli_apply_owner(motion->arguments, &owner, true, motion->options, error);
    cli_arguments own = {0};
    carom_status status = cli_select(motion->arguments, &owner, true, &own, error);
    if (!status) status = cli_apply_owner(&own, &owner, true, motion->options, error);
    if (!status) status = cli_select(motion->arguments, &owner, false, &motion->law_arguments, error);
    cli_release(&own);
    return status;
}

static carom_status prepare_options(cli_motion *motion, carom_error *error) {
    const carom_integrator *one = motion->integrator;
    motion->options = calloc(1, one->options_size);
    if (!motion->options) return carom_fail_memory(error, one->name);
    one->defaults(motion->options);
    const carom_status status = carom_scene_apply_simulate(motion->scene, one->options, one->option_count, motion->options, error);
    return status ? status : apply_arguments(motion, error);
}

static carom_status parse_perturbed(cli_motion *motion, carom_error *error) {
    const char *what = cli_value(motion->arguments, "perturbed");
    for (int i = 0; what && carom_perturbed_names[i]; i++) {
        if (strcmp(what, carom_perturbed_names[i]) != 0) continue;
        motion->perturbed = (carom_perturbed)i;
        return CAROM_OK;
    }
    return what ? carom_fail(error, CAROM_BAD_INPUT, "--perturbed: '%.60s' is not one of: both, position, attitude", what) : CAROM_OK;
}

static carom_status parse_convergence(cli_motion *motion, carom_error *error) {
    const char *runs = cli_value(motion->arguments, "convergence");
    double count = 0;
    if (runs && (!carom_parse_number(runs, &count) || count < 1 || count > MOST_HALVINGS || count != floor(count)))
        return carom_fail(error, CAROM_BAD_INPUT, "--convergence: '%.60s' is not a whole number between 1 and %d", runs, MOST_HALVINGS);
    motion->halvings = (int)count;
    return CAROM_OK;
}

static carom_status parse_ensemble(cli_motion *motion, carom_error *error) {
    static const char *const followers[] = {"perturb", "perturbed"};
    const char *members = cli_value(motion->arguments, "ensemble"), *size = cli_value(motion->arguments, "perturb");
    double count = 0;
    // Members of a system differ by what is drawn for them; a perturbation would end the symmetry of contacts that touch at once.
    motion->perturbation = carom_scene_motion(motion->scene)->system ? 0 : DEFAULT_PERTURBATION;
    if (members && (!carom_parse_number(members, &count) || count < 1 || count > MOST_MEMBERS || count != floor(count)))
        return carom_fail(error, CAROM_BAD_INPUT, "--ensemble: '%.60s' is not a whole number between 1 and %d", members, MOST_MEMBERS);
    if (size && (!carom_parse_number(size, &motion->perturbation) || motion->perturbation < 0))
        return carom_fail(error, CAROM_BAD_INPUT, "--perturb: '%.60s' is not a number of at least 0", size);
    for (size_t i = 0; i < sizeof followers / sizeof *followers && !members; i++)
        if (cli_given(motion->arguments, followers[i]))
            return carom_fail(error, CAROM_BAD_INPUT, "--%s belongs to --ensemble", followers[i]);
    if (cli_given(motion->arguments, "design") && !cli_given(motion->arguments, "orders"))
        return carom_fail(error, CAROM_BAD_INPUT, "--design belongs to --orders");
    motion->members = (int64_t)count;
    return parse_perturbed(motion, error);
}

// Says where a value came from that the integrator refuses: the command line, `simulate`, or another key of the scene.
static void place_error(const cli_motion *motion, carom_error *error) {
    const carom_integrator *one = motion->integrator;
    for (int i = 0; i < one->option_count; i++) {
        const carom_option *row = &one->options[i];
        if (!cli_is_about(error, row)) continue;
        const carom_error inner = *error;
        if (cli_given(motion->arguments, row->name))
            cli_pass_on(row, &inner, error);
        else
            carom_scene_place_simulate_error(motion->scene, row->name, error);
        return;
    }
    if (error->status == CAROM_BAD_INPUT) carom_scene_place_key_error(motion->scene, error);
}

static carom_status apply_law_settings(void *user, const carom_law *law, void *options, carom_error *error) {
    const cli_motion *motion = user;
    const carom_status status = carom_scene_apply(motion->scene, law->options, law->option_count, options, error);
    if (status) return status;
    // What neither of the two knows.
    char kind[2 * CLI_NAME_SIZE];
    snprintf(kind, sizeof kind, "integrator %s or law", motion->integrator->name);
    const cli_owner owner = {kind, law->name, law->summary, law->options, law->option_count};
    return cli_apply_owner(&motion->law_arguments, &owner, true, options, error);
}

carom_law_settings cli_motion_settings(const cli_motion *motion) {
    // The motion is only read; the callback's user is of no type.
    return (carom_law_settings){(void *)motion, apply_law_settings, carom_scene_law(motion->scene)};
}

// ------------------------------------------------------------------------------------------------------------- running

// Where a block of states goes: into the file and into memory, where wanted.
typedef struct splitter {
    const carom_sink *file, *vtk;
    carom_table *kept;
} splitter;

static carom_status split(void *user, const carom_table *rows, carom_error *error) {
    const splitter *s = user;
    carom_status status = s->file ? s->file->receive(s->file->user, rows, error) : CAROM_OK;
    if (!status && s->vtk) status = s->vtk->receive(s->vtk->user, rows, error);
    if (!status && s->kept) status = carom_table_append(s->kept, rows, error);
    return status;
}

static carom_status integrate(cli_motion *motion, const carom_sink *file, cli_vtk *vtk, carom_error *error) {
    const carom_integrator *one = motion->integrator;
    const carom_motion *problem = carom_scene_motion(motion->scene);
    const carom_sizes sizes = problem->impact ? carom_impact_sizes(problem->impact) : (carom_sizes){0};
    carom_status status = CAROM_OK;
    if (cli_given(motion->arguments, "figures"))
        status = carom_table_create(one->state_columns, one->state_column_count, NULL, 0, &sizes, &motion->states, error);
    if (status) return status;
    const carom_sink pictures = cli_vtk_sink(vtk);
    splitter way = {file, vtk ? &pictures : NULL, motion->states};
    const carom_sink sink = {&way, split};
    const carom_law_settings settings = cli_motion_settings(motion);
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    status = carom_integrator_run(one, problem, motion->options, motion->arguments->registry, &settings, &motion->control,
                                  file || vtk || motion->states ? &sink : NULL, &motion->answer, error);
    motion->seconds = cli_seconds_since(&start);
    cli_end_progress();
    if (status) place_error(motion, error);
    if (!status && vtk) status = cli_vtk_finish(vtk, motion->answer.final, error);
    if (!status && motion->members) status = cli_run_ensemble(motion, error);
    if (!status && cli_given(motion->arguments, "orders")) status = cli_run_orders(motion, cli_given(motion->arguments, "design"), error);
    if (!status && motion->halvings) status = cli_run_convergence(motion, error);
    cli_end_progress();
    return status;
}

// An interrupted ensemble has the first of its members.
static bool has_all_members(const cli_motion *motion) { return !motion->ensemble || carom_table_rows(motion->ensemble) == motion->members; }

static carom_status run_into_file(cli_motion *motion, const char *path, cli_vtk *vtk, carom_error *error) {
    carom_result_writer *writer = NULL;
    carom_sink file;
    carom_status status = carom_result_writer_create(path, motion->scene, &writer, error);
    if (!status) status = carom_result_writer_open_motion(writer, motion->integrator, motion->options, &file, error);
    if (!status) status = integrate(motion, &file, vtk, error);
    if (!status && !has_all_members(motion)) carom_result_writer_mark_incomplete(writer);
    if (!status) status = carom_result_writer_close_motion(writer, &motion->answer, motion->ensemble, error);
    if (!status) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    return status;
}

// A name that ends in .vtk or .vtp is for ParaView, any other for HDF5.
static carom_status run_into_files(cli_motion *motion, const char *path, carom_error *error) {
    const bool is_vtk = path && carom_vtk_is_name(path);
    const char *vtk_path = is_vtk ? path : cli_value(motion->arguments, "vtk");
    cli_vtk *vtk = NULL;
    carom_status status = vtk_path ? cli_vtk_create(vtk_path, motion->scene, &vtk, error) : CAROM_OK;
    if (!status) status = path && !is_vtk ? run_into_file(motion, path, vtk, error) : integrate(motion, NULL, vtk, error);
    cli_vtk_free(vtk);
    return status;
}

static carom_status answer(cli_motion *motion, const char *path, carom_error *error) {
    carom_status status = find_integrator(motion, error);
    if (!status) status = prepare_options(motion, error);
    if (!status) status = parse_ensemble(motion, error);
    if (!status) status = parse_convergence(motion, error);
    if (!status) status = cli_start_control(motion->arguments, &motion->control, error);
    if (!status) status = run_into_files(motion, path, error);
    const char *prefix = cli_value(motion->arguments, "figures");
    if (!status && prefix) status = cli_draw_motion(motion, prefix, error);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// Names of the scene's contacts, which lists of contacts in a table need; NULL for a scene that has none.
static const char *const *contact_names(const cli_motion *motion) {
    const carom_impact *impact = carom_scene_impact(motion->scene);
    return impact ? carom_impact_get_data(impact)->names : NULL;
}

static json_t *rows_json(const cli_motion *motion, const carom_table *table) {
    json_t *list = json_array();
    for (int64_t row = 0; row < carom_table_rows(table); row++)
        json_array_append_new(list, carom_json_row(table, row, contact_names(motion)));
    return list;
}

// Entry `body` of each series, under the columns' names.
static json_t *body_json(const carom_table *table, int64_t row, int64_t body) {
    json_t *object = json_object();
    for (int i = 0; i < carom_table_columns(table); i++) {
        const carom_column *column = carom_table_column(table, i);
        int count;
        if (column->type != CAROM_COLUMN_SERIES) continue;
        const double *values = carom_table_series(table, i, row, &count);
        json_object_set_new(object, column->name, carom_json_reals(values + body * column->width, column->width));
    }
    return object;
}

// A state: series of the table become a list of bodies.
static json_t *state_json(const cli_motion *motion, const carom_table *table, int64_t row) {
    json_t *object = carom_json_row(table, row, contact_names(motion)), *bodies = NULL;
    for (int i = 0; object && i < carom_table_columns(table); i++) {
        const carom_column *column = carom_table_column(table, i);
        int count;
        if (column->type != CAROM_COLUMN_SERIES) continue;
        json_object_del(object, column->name);
        carom_table_series(table, i, row, &count);
        if (!bodies) bodies = json_array();
        for (int64_t body = (int64_t)json_array_size(bodies); body < count / column->width; body++)
            json_array_append_new(bodies, body_json(table, row, body));
    }
    if (bodies) json_object_set_new(object, "bodies", bodies);
    return object;
}

static json_t *states_json(const cli_motion *motion) {
    const carom_table *table = motion->answer.recorded;
    json_t *list = json_array();
    for (int64_t row = 0; row < carom_table_rows(table); row++) json_array_append_new(list, state_json(motion, table, row));
    return list;
}

static json_t *ensemble_json(const cli_motion *motion) {
    if (!motion->ensemble) return json_null();
    return json_pack("{s:I, s:o, s:o}", "requested", (json_int_t)motion->members, "perturbation", carom_json_real(motion->perturbation),
                     "members", rows_json(motion, motion->ensemble));
}

static int exit_status_of(const cli_motion *motion) {
    const bool complete = has_all_members(motion) && (!motion->orders || cli_orders_complete(motion)) &&
                          (!motion->convergence || carom_table_rows(motion->convergence) == motion->halvings);
    return complete && carom_motion_answer_complete(&motion->answer) ? EXIT_DONE : EXIT_INCOMPLETE;
}

// The first accumulation as one object, where the integrator reports one.
static void add_accumulation(json_t *document) {
    json_t *t = json_object_get(document, "accumulation_t"), *s = json_object_get(document, "accumulation_s");
    if (!t || !s) return;
    json_object_set_new(document, "accumulation", json_is_null(t) ? json_null() : json_pack("{s:O, s:O}", "t", t, "s", s));
    json_object_del(document, "accumulation_t");
    json_object_del(document, "accumulation_s");
}

static int print_json(const cli_motion *motion, const char *file) {
    json_t *document = json_pack("{s:s, s:s, s:b}", "schema", "carom.simulate/1", "integrator", motion->integrator->name, "complete",
                                 carom_motion_answer_complete(&motion->answer));
    cli_add_result(document, motion->answer.result);
    add_accumulation(document);
    json_object_set_new(document, "seconds", carom_json_real(motion->seconds));
    json_object_set_new(document, "impacts", rows_json(motion, motion->answer.impacts));
    json_object_set_new(document, "states", states_json(motion));
    json_object_set_new(document, "final", state_json(motion, motion->answer.final, 0));
    json_object_set_new(document, "ensemble", ensemble_json(motion));
    if (motion->orders) json_object_set_new(document, "orders", rows_json(motion, motion->orders));
    if (motion->convergence) json_object_set_new(document, "convergence", rows_json(motion, motion->convergence));
    json_object_set_new(document, "file", carom_json_text(file));
    json_object_set(document, "figures", motion->files);
    return cli_print_json(document, exit_status_of(motion));
}

// ---------------------------------------------------------------------------------------------------------------- text

// One value of a column that holds one a row; others are left out, in the heading, too.
static void print_value(const carom_table *table, int index, int64_t row) {
    const carom_column *column = carom_table_column(table, index);
    if (column->type == CAROM_COLUMN_REAL && column->width == 1) printf("  %16.9g", carom_table_real_column(table, index)[row]);
    if (column->type == CAROM_COLUMN_INTEGER && column->width == 1) printf("  %8" PRId64, carom_table_integer_column(table, index)[row]);
    if (column->type == CAROM_COLUMN_TEXT) printf("  %17s", carom_table_text(table, index, row));
}

static void print_heading(const carom_column *column) {
    if (column->type == CAROM_COLUMN_REAL && column->width == 1) printf("  %16s", column->name);
    if (column->type == CAROM_COLUMN_INTEGER && column->width == 1) printf("  %8s", column->name);
    if (column->type == CAROM_COLUMN_TEXT) printf("  %17s", column->name);
}

static void print_impacts(const carom_table *impacts) {
    const int64_t rows = carom_table_rows(impacts), shown = rows < SHOWN_IMPACTS ? rows : SHOWN_IMPACTS;
    if (!rows) return;
    printf("%5s", "");
    for (int i = 0; i < carom_table_columns(impacts); i++) print_heading(carom_table_column(impacts, i));
    putchar('\n');
    for (int64_t row = 0; row < shown; row++) {
        printf("%5" PRId64, row + 1);
        for (int i = 0; i < carom_table_columns(impacts); i++) print_value(impacts, i, row);
        putchar('\n');
    }
    if (shown < rows) printf("... and %" PRId64 " more; --json and -o FILE give them all\n", rows - shown);
}

static void print_ensemble(const cli_motion *motion) {
    const carom_table *members = motion->ensemble;
    const int64_t rows = carom_table_rows(members), *impacts = carom_table_integer_column(members, CLI_MEMBER_IMPACTS);
    int64_t least = INT64_MAX, most = 0, sum = 0;
    for (int64_t i = 0; i < rows; i++) {
        least = impacts[i] < least ? impacts[i] : least;
        most = impacts[i] > most ? impacts[i] : most;
        sum += impacts[i];
    }
    if (!rows) least = 0;
    printf("ensemble: %" PRId64 " of %" PRId64 " members, starts perturbed by %g, impacts %" PRId64 " to %" PRId64 ", mean %.1f\n", rows,
           motion->members, motion->perturbation, least, most, rows ? (double)sum / (double)rows : 0);
}

// Why a run ended before its time.
static void print_end(const carom_table *result) {
    const char *name = carom_table_text(result, CAROM_MOTION_VERDICT, 0);
    unsigned verdict = CAROM_COMPLETE;
    if (!strcmp(name, carom_verdict_name(verdict))) return;
    // Some integrators know more than the verdict says.
    const int message = carom_table_find(result, "message");
    if (message >= 0 && *carom_table_text(result, message, 0)) {
        printf("%s\n", carom_table_text(result, message, 0));
        return;
    }
    // Results name verdicts of the list only.
    while (strcmp(name, carom_verdict_name(verdict)) != 0) verdict++;
    printf("%s: %s\n", name, carom_verdict_sentence(verdict));
}

// The first accumulation, where the integrator reports one.
static void print_accumulation(const carom_table *result) {
    const int t = carom_table_find(result, "accumulation_t"), s = carom_table_find(result, "accumulation_s");
    if (t < 0 || s < 0 || isnan(carom_table_real_column(result, t)[0])) return;
    const int64_t count = carom_table_integer_column(result, carom_table_find(result, "accumulation_count"))[0];
    printf("%" PRId64 " accumulation%s of impacts, the first at t = %.12g s, s = %.12g\n", count, count == 1 ? "" : "s",
           carom_table_real_column(result, t)[0], carom_table_real_column(result, s)[0]);
}

static int print_text(const cli_motion *motion, const char *file) {
    const carom_table *result = motion->answer.result;
    const int64_t steps = carom_table_integer_column(result, CAROM_MOTION_STEPS)[0], impacts = carom_table_rows(motion->answer.impacts);
    printf("%s, integrator %s: %" PRId64 " steps, %.9g s, %" PRId64 " impact%s, %s\n", carom_scene_name(motion->scene),
           motion->integrator->name, steps, carom_table_real_column(result, CAROM_MOTION_TIME)[0], impacts, impacts == 1 ? "" : "s",
           carom_table_text(result, CAROM_MOTION_VERDICT, 0));
    print_end(result);
    const double error = carom_table_real_column(result, CAROM_MOTION_ENERGY_ERROR)[0];
    if (!isnan(error)) printf("largest relative energy error %.3g\n", error);
    print_accumulation(result);
    cli_print_findings(result, CAROM_MOTION_RESULT_COLUMNS);
    print_impacts(motion->answer.impacts);
    if (motion->ensemble) print_ensemble(motion);
    if (motion->orders) cli_print_orders(motion->orders);
    if (motion->convergence) cli_print_convergence(motion->convergence);
    printf("%.3g s, %.3g steps/s\n", motion->seconds, (double)steps / fmax(motion->seconds, 1e-9));
    if (file) printf("written to %s\n", file);
    for (size_t i = 0; i < json_array_size(motion->files); i++) printf("%s\n", json_string_value(json_array_get(motion->files, i)));
    return exit_status_of(motion);
}

static void release(cli_motion *motion) {
    carom_motion_answer_free(&motion->answer);
    carom_table_free(motion->states);
    carom_table_free(motion->ensemble);
    carom_table_free(motion->orders);
    carom_table_free(motion->convergence);
    json_decref(motion->files);
    cli_release(&motion->law_arguments);
    free(motion->bundle);
    free(motion->options);
}

static int run_simulate(const cli_arguments *arguments) {
    if (cli_given(arguments, "list")) return print_list(arguments->registry);
    carom_error error;
    carom_scene *scene = NULL;
    const char *file = cli_value(arguments, "output");
    carom_status status = carom_scene_read_motion(arguments->operand, arguments->registry, &scene, &error);
    if (status) return cli_report(&error);
    cli_motion motion = {.arguments = arguments, .scene = scene, .files = json_array()};
    status = answer(&motion, file, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        exit_status = cli_given(arguments, "json") ? print_json(&motion, file) : print_text(&motion, file);
    }
    release(&motion);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_simulate = {
    .name = "simulate",
    .summary = "a motion in time, from impact to impact",
    .operand = "SCENE",
    .optional_switch = "list",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_INTEGRATORS,
    .run = run_simulate,
};
