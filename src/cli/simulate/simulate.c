// SPDX-License-Identifier: Apache-2.0
// `carom simulate`: a motion in time, by an integrator of the table, and studies of it.
#include "cli/simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/temporary.h"

enum { MOST_MEMBERS = 1000000, MOST_HALVINGS = 20 };

static const cli_flag flags[] = {
    {"integrator", "NAME", "the integrator (default: the scene's)"},
    {"list", NULL, "print the integrators, one per line"},
    {"output", "FILE", "write states, impacts and results to an HDF5 file"},
    {"vtk", "PLACE",
     "write every state for ParaView: a directory, or FILE.vtk or FILE.vtp with one file a state; also `--output FILE.vtk`"},
    {"mujoco", "FILE", "write times, qpos and qvel of a model's states for MuJoCo: FILE.npz for NumPy, or FILE.csv (docs/simulate.md)"},
    {"figures", "PREFIX", "draw the motion, and the studies asked for, into PREFIX-NAME.png: the integrator's pictures (docs/simulate.md)"},
    {"times", "T,T,...", "with --figures: when frames and snapshots show the motion [s]; the nearest recorded states"},
    {"window", "A:B", "with --figures or --animate: draw what is recorded from A to B [s]"},
    {"views", "NAME,...", "with --figures: snapshots of the bodies from the side, front, top or 3d; with --animate: the view"},
    {"coordinates", "NAME,...",
     "with --figures: draw these coordinates of a mechanism, each alone; NAME.tilt is the angle of a free joint's z axis to the vertical"},
    {"size", "SIZE", "with --figures: column, page, slide, or WIDTHxHEIGHT [mm]"},
    {"animate", "FILE", "make an animation, FILE.gif or FILE.mp4, with ffmpeg"},
    {"ensemble", "N", "run N more times: bodies from perturbed starts, systems with other draws"},
    {"perturb", "D", "size of perturbations of the starts [m, rad] (default 1e-8; 0 for systems)"},
    {"record-members", NULL, "with --ensemble and --output: also write the states of every member, which are kept in memory until then"},
    {"convergence", "N", "run many bodies with N steps as well, each half of the one before, and show errors and orders"},
    {"perturbed", "both|position|attitude", "what is perturbed (default both)"},
    {"orders", NULL, "also run with the orders argmin and argmax of impacts, and show how far their momenta part"},
    {"design", NULL, "with --orders: the same for the solution of the scene's `design`"},
    {"save-state", "FILE", "write the end as a state from which a later run goes on, bit by bit (stepping, rodrigues; JSON)"},
    {"resume", "FILE", "go on from such a state, until the duration from the first start is over"},
    {"threads", "N", "threads of an ensemble and of many bodies (default: one per core); results do not depend on it"},
    {"json", NULL, "print one JSON document"},
};

// ------------------------------------------------------------------------------------------------------------- options

// A flag's whole number from 1 to `most`; 0 when it is not given.
static carom_status parse_count(const cli_motion *motion, const char *flag, int most, int *count, carom_error *error) {
    const char *text = cli_value(motion->arguments, flag);
    double value = 0;
    if (text && (!carom_parse_whole(text, &value) || value < 1 || value > most))
        return carom_fail(error, CAROM_BAD_INPUT, "--%s: '%.60s' is not a whole number between 1 and %d", flag, text, most);
    *count = (int)value;
    return CAROM_OK;
}

// Flags of the studies.
static carom_status parse_studies(cli_motion *motion, carom_error *error) {
    const cli_arguments *arguments = motion->arguments;
    carom_ensemble *ensemble = &motion->ensemble;
    int members = 0;
    const carom_status status = parse_count(motion, "ensemble", MOST_MEMBERS, &members, error);
    if (status) return status;
    ensemble->requested = members;
    ensemble->traced = cli_given(arguments, "figures");
    ensemble->perturbation = carom_ensemble_default_perturbation(motion->request.motion);
    // What is perturbed, and by how much: only for ensembles.
    const char *size = cli_value(arguments, "perturb"), *what = cli_value(arguments, "perturbed");
    if (size && (!carom_parse_number(size, &ensemble->perturbation) || ensemble->perturbation < 0))
        return carom_fail(error, CAROM_BAD_INPUT, "--perturb: '%.60s' is not a number of at least 0", size);
    if (!members && (size || what)) return carom_fail(error, CAROM_BAD_INPUT, "--%s belongs to --ensemble", size ? "perturb" : "perturbed");
    ensemble->recorded = cli_given(arguments, "record-members");
    const char *path = cli_value(arguments, "output");
    if (ensemble->recorded && (!members || !path || carom_vtk_is_name(path)))
        return carom_fail(error, CAROM_BAD_INPUT, "--record-members needs --ensemble N, and --output FILE for HDF5");
    if (cli_given(arguments, "design") && !cli_given(arguments, "orders"))
        return carom_fail(error, CAROM_BAD_INPUT, "--design belongs to --orders");
    int k = 0;
    char phrase[CAROM_SUGGESTION_SIZE];
    while (what && carom_perturbed_names[k] && strcmp(what, carom_perturbed_names[k]) != 0) k++;
    if (!carom_perturbed_names[k])
        return carom_fail(error, CAROM_BAD_INPUT, "--perturbed: '%.60s' is not one of: both, position, attitude%s", what,
                          carom_suggest(what, carom_perturbed_names, k, phrase));
    ensemble->perturbed = (carom_perturbed)k;
    return parse_count(motion, "convergence", MOST_HALVINGS, &motion->halvings, error);
}

// Options of an impact law: what the scene's `impact` says, then the command line; refuses what neither integrator nor law knows.
static carom_status apply_law_settings(void *user, const carom_law *law, void *options, carom_error *error) {
    const cli_motion *motion = user;
    carom_status status = carom_scene_apply(motion->scene, law->options, law->option_count, options, error);
    if (status) return status;
    char kind[2 * CLI_NAME_SIZE];
    snprintf(kind, sizeof kind, "integrator %s or law", motion->request.integrator->name);
    const cli_owner owner = {kind, law->name, law->summary, law->options, law->option_count};
    status = cli_apply_owner(&motion->law_arguments, &owner, true, options, error);
    return status ? status : cli_check_law_options(&motion->law_arguments, motion->scene, law, options, error);
}

// ------------------------------------------------------------------------------------------------------------- running

// Where a block of states goes: into the file and into memory, where wanted.
typedef struct splitter {
    const carom_sink *file, *vtk;
    carom_table *kept;
} splitter;

// Receives a block of states and passes it on in all directions.
static carom_status split(void *user, const carom_table *rows, carom_error *error) {
    const splitter *way = user;
    carom_status status = way->file ? way->file->receive(way->file->user, rows, error) : CAROM_OK;
    if (!status && way->vtk) status = way->vtk->receive(way->vtk->user, rows, error);
    if (!status && way->kept) status = carom_table_append(way->kept, rows, error);
    return status;
}

// A failure of a study is one of the flag that asked for it.
static carom_status blame(carom_status status, const char *flag, carom_error *error) {
    if (!status) return CAROM_OK;
    const carom_error inner = *error;
    return carom_fail(error, status, "--%s: %s", flag, inner.message);
}

// The motion itself, then its studies.
static carom_status integrate(cli_motion *motion, const carom_sink *file, cli_vtk *vtk, carom_error *error) {
    carom_status status = CAROM_OK;
    if (cli_given(motion->arguments, "figures") || cli_given(motion->arguments, "mujoco") || motion->pictures.animation)
        status = carom_motion_create_states(motion->request.integrator, motion->request.motion, &motion->states, error);
    if (status) return status;
    // States are recorded only for a file, a VTK series, arrays or figures.
    const carom_sink pictures = cli_vtk_sink(vtk);
    splitter way = {file, vtk ? &pictures : NULL, motion->states};
    const carom_sink sink = {&way, split};
    const double start = carom_clock_seconds();
    status = carom_integrator_run(&motion->request, file || vtk || motion->states ? &sink : NULL, &motion->answer, error);
    motion->seconds = carom_clock_seconds() - start;
    cli_end_progress();
    // Where a value came from that the integrator refuses: the command line, `simulate`, or another key of the scene.
    if (status == CAROM_BAD_INPUT) {
        const carom_integrator *one = motion->request.integrator;
        const carom_option *row = cli_blame(motion->arguments, one->options, one->option_count, error);
        if (row)
            carom_scene_place_simulate_error(motion->scene, row->name, error);
        else
            carom_scene_place_key_error(motion->scene, error);
    }
    if (!status && vtk) status = cli_vtk_finish(vtk, motion->answer.final, error);
    if (!status && cli_given(motion->arguments, "mujoco")) status = cli_mujoco_write(motion, error);
    // Studies, each by the same request.
    if (!status && motion->ensemble.requested)
        status = blame(carom_ensemble_run(&motion->request, &motion->answer, &motion->ensemble, error), "ensemble", error);
    if (!status && cli_given(motion->arguments, "orders"))
        status = blame(carom_orders_run(&motion->request, "as given", &motion->orders, error), "orders", error);
    if (!status && cli_given(motion->arguments, "design") && !carom_control_cancelled(&motion->control))
        status = cli_compare_designed(motion, error);
    if (!status && motion->halvings)
        status = blame(carom_convergence_run(&motion->request, motion->halvings, &motion->convergence, error), "convergence", error);
    cli_end_progress();
    return status;
}

// Everything that is asked, into the motion and the files.
static carom_status find_answer(cli_motion *motion, const char *path, carom_error *error) {
    const cli_arguments *arguments = motion->arguments;
    const char *name = cli_value(arguments, "integrator");
    if (!name) name = carom_scene_integrator(motion->scene);
    if (!name)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "--integrator is missing, and the scene names none under 'simulate'; `carom simulate --list` prints them");
    char phrase[CAROM_SUGGESTION_SIZE];
    const carom_integrator *one = motion->request.integrator = carom_integrator_find(arguments->registry, name);
    if (!one)
        return carom_fail(error, CAROM_BAD_INPUT, "--integrator: there is no integrator '%.60s'; `carom simulate --list` prints them%s",
                          name, carom_registry_suggest(arguments->registry, CAROM_REGISTRY_INTEGRATORS, name, phrase));
    const bool draws = cli_given(arguments, "figures");
    carom_status status = cli_pictures_parse(motion, error);
    if (status) return status;
    // The integrator's options: defaults, then the scene, then the command line. An integrator that asks a law leaves to it what it does
    // not know itself; names that both have are the integrator's.
    motion->request.options = motion->options = calloc(1, one->options_size);
    if (!motion->options) return carom_fail_memory(error, one->name);
    one->defaults(motion->options);
    const cli_owner owner = {"integrator", one->name, one->summary, one->options, one->option_count};
    const bool asks_law = carom_option_find(one->options, one->option_count, "law") >= 0;
    cli_arguments own = {0};
    status = carom_scene_apply_simulate(motion->scene, one->options, one->option_count, motion->options, error);
    if (!status && asks_law) status = cli_select(arguments, &owner, true, &own, error);
    if (!status) status = cli_apply_owner(asks_law ? &own : arguments, &owner, true, motion->options, error);
    if (!status && asks_law) status = cli_select(arguments, &owner, false, &motion->law_arguments, error);
    cli_release(&own);
    if (!status) status = parse_studies(motion, error);
    const char *saves = cli_value(arguments, "save-state"), *resumes = cli_value(arguments, "resume");
    if (!status && saves && !one->saved_columns)
        status = carom_fail(error, CAROM_UNSUPPORTED, "--save-state: the integrator '%s' has no states to go on from", one->name);
    if (!status && saves) status = cli_check_state(saves, error);
    if (!status && resumes) status = cli_read_state(resumes, &motion->request, &motion->resume, error);
    motion->request.resume = motion->resume;
    if (!status) status = cli_start_control(arguments, &motion->control, error);
    // A name that ends in .vtk or .vtp is for ParaView, any other for HDF5.
    const bool is_vtk = path && carom_vtk_is_name(path);
    const char *vtk_path = is_vtk ? path : cli_value(arguments, "vtk");
    cli_vtk *vtk = NULL;
    if (!status && cli_given(arguments, "mujoco")) status = cli_mujoco_check(motion, error);
    if (!status && vtk_path) status = cli_vtk_create(vtk_path, one, motion->scene, &vtk, error);
    // The HDF5 file is there before the run starts, and gets its name when all is in it.
    carom_result_writer *writer = NULL;
    carom_sink file;
    if (!status && path && !is_vtk) status = carom_result_writer_create(path, motion->scene, &writer, error);
    if (!status && writer) status = carom_result_writer_open_motion(writer, one, motion->options, &file, error);
    if (!status) status = integrate(motion, writer ? &file : NULL, vtk, error);
    // An interrupted ensemble has the first of its members.
    const carom_table *members = motion->ensemble.members;
    if (!status && writer && members && carom_table_rows(members) < motion->ensemble.requested) carom_result_writer_mark_incomplete(writer);
    if (!status && writer) status = carom_result_writer_close_motion(writer, &motion->answer, members, motion->ensemble.states, error);
    // Tubes and ends stand in the motion's group.
    const struct {
        const char *name;
        const carom_table *table;
    } found[] = {{"tubes", motion->ensemble.tubes}, {"ends", motion->ensemble.ends}};
    for (size_t i = 0; i < sizeof found / sizeof *found && !status && writer && found[i].table; i++) {
        char group[2 * CLI_NAME_SIZE];
        snprintf(group, sizeof group, "%s/%s", one->name, found[i].name);
        status = carom_result_writer_put_table(writer, group, found[i].table, error);
    }
    if (!status && writer) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    cli_vtk_free(vtk);
    // A run that failed, or ended within a step, has no state to go on from.
    const bool saved = !status && saves && carom_table_rows(motion->answer.saved);
    if (saved) status = cli_write_state(saves, motion, error);
    if (!status && saves && !saved)
        cli_say("warning", saves, "not written: the run did not end between two steps, where another one could go on");
    return status || (!draws && !motion->pictures.animation) ? status : cli_pictures_draw(motion, error);
}

static int run_simulate(const cli_arguments *arguments) {
    if (cli_given(arguments, "list")) return cli_list(arguments->registry, CAROM_REGISTRY_INTEGRATORS);
    carom_error error;
    carom_scene *scene = NULL;
    const char *file = cli_value(arguments, "output");
    // An unknown integrator is refused when the answer is asked for.
    const char *integrator = cli_value(arguments, "integrator");
    carom_status status =
        carom_scene_read_motion_for(arguments->operand, arguments->registry,
                                    integrator ? carom_integrator_find(arguments->registry, integrator) : NULL, &scene, &error);
    if (status) return cli_report(&error);
    cli_motion motion = {.arguments = arguments, .scene = scene, .files = json_array()};
    motion.settings = (carom_law_settings){&motion, apply_law_settings, carom_scene_law(scene)};
    motion.request.motion = carom_scene_motion(scene);
    motion.request.registry = arguments->registry;
    motion.request.settings = &motion.settings;
    motion.request.control = &motion.control;
    status = find_answer(&motion, file, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn(scene);
        for (int64_t row = 0; row < carom_table_rows(motion.answer.notes); row++)
            cli_say("note", carom_scene_path(scene), "%s", carom_table_text(motion.answer.notes, CAROM_MOTION_NOTE, row));
        exit_status = cli_given(arguments, "json") ? cli_print_motion_json(&motion, file) : cli_print_motion_text(&motion, file);
    }
    carom_motion_answer_free(&motion.answer);
    carom_ensemble_free(&motion.ensemble);
    carom_table_free(motion.resume);
    carom_table_free(motion.states);
    carom_table_free(motion.orders);
    carom_table_free(motion.convergence);
    json_decref(motion.files);
    cli_pictures_free(&motion.pictures);
    cli_release(&motion.law_arguments);
    free(motion.options);
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
