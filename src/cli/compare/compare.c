// SPDX-License-Identifier: Apache-2.0
// `carom compare`: every law on one scene, as a table, and as a page with pictures of all of them.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/compare/compare.h"
#include "cli/compare/simulator.h"
#include "cli/compare/stage.h"

// Contacts that the table on the terminal shows; the page and JSON have more.
enum { SHOWN_CONTACTS = 4 };

// Draws of an uncertain impact, unless the scene or the command line says how many.
enum { DRAWS = 64 };

static const cli_flag flags[] = {
    {"threads", "N", "threads of sampled laws (default: one per core)"},
    {"output", "DIR",
     "write DIR/index.html and index.md, a page with pictures and tables, and DIR/compare.h5; DIR is made if it is missing"},
    {"svg", NULL, "write an SVG beside every PNG"},
    {"laws", "A,B", "ask these laws only (carom resolve --list prints all)"},
    {"without", "A,B", "do not ask these"},
    {"zoom", "set|all", CLI_ZOOM_HELP},
    {"focus", "LAW", "fit the axes to this law, and draw all others pale"},
    {"dark", NULL, "pictures with light lines and letters on dark paper"},
    {"search", "N",
     "also search both ways along each axis of contact velocities, with N walks each, and say what the samples miss at least"},
    {"simulator", "mujoco", "also run the scene's model with MuJoCo's own contact solver, and say how much of the set it shows"},
    {"perturbations", "N", "perturbed starts of the simulator, besides the scene's own (default 10; --seed draws others)"},
    {"perturb", "D", "size of the perturbations: of coordinates in m and rad, of velocities relative to the largest (default 0.001)"},
    {"horizon", "T", "longest time that the simulator may take for an impact, in s (default 0.1)"},
    {"json", NULL, "print one JSON document"},
};

// Incomplete when the user stopped it, or when any law ran out of its budget.
static int exit_status_of(const cli_comparison *comparison) {
    if (cli_interrupted() || comparison->interrupted) return EXIT_INCOMPLETE;
    for (int i = 0; i < comparison->count; i++)
        if (!carom_answer_complete(&comparison->runs[i].answer)) return EXIT_INCOMPLETE;
    return EXIT_DONE;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

// How far the outcomes reach that are in the set for certain; null without samples.
static json_t *members_json(const cli_comparison *comparison) {
    const carom_extent *members = comparison->members;
    if (!members || !members->outcomes) return json_null();
    return json_pack("{s:I, s:o, s:o}", "count", (json_int_t)members->outcomes, "extent", cli_extent_json(members), "energy_ratio",
                     isnan(members->energy_ratio[0]) ? json_null() : carom_json_reals(members->energy_ratio, 2));
}

// Every law by its name, with counts, extents, modes and its distance from the exact set.
static int print_json(const cli_comparison *comparison) {
    json_t *laws = json_object();
    for (int i = 0; i < comparison->count; i++) {
        const cli_run *run = &comparison->runs[i];
        const carom_extent *extent = run->extent;
        // The ratio of energies is not known where there was none before the impact.
        const bool has_energy = extent->outcomes && !isnan(extent->energy_ratio[0]);
        // For each mode, how many outcomes have each contact in it.
        json_t *modes = json_object();
        for (int mode = 0; mode < CAROM_CONTACT_MODES; mode++) {
            json_t *counts = json_array();
            for (int contact = 0; contact < extent->sizes.contacts; contact++)
                json_array_append_new(counts, json_integer((json_int_t)extent->modes[contact * CAROM_CONTACT_MODES + mode]));
            json_object_set_new(modes, carom_contact_mode_name((carom_contact_mode)mode), counts);
        }
        json_object_set_new(
            laws, run->law->name,
            json_pack("{s:I, s:s?, s:o, s:o, s:b, s:o, s:o, s:o, s:b, s:o}", "count", (json_int_t)extent->outcomes, "hypothesis",
                      run->hypothesis, "restitution",
                      isnan(run->restitution.least) ? json_null()
                                                    : carom_json_reals((const double[]){run->restitution.least, run->restitution.most}, 2),
                      "extent", cli_extent_json(extent), "extent_may_lie_outside", extent->approximate > 0, "modes", modes, "energy_ratio",
                      has_energy ? carom_json_reals(extent->energy_ratio, 2) : json_null(), "from_exact", cli_distance_json(comparison, i),
                      "complete", carom_answer_complete(&run->answer), "seconds", carom_json_real(run->seconds)));
    }
    const int exit_status = exit_status_of(comparison);
    const bool stopped = cli_interrupted() || comparison->interrupted;
    const carom_verdict verdict = exit_status == EXIT_DONE ? CAROM_COMPLETE : stopped ? CAROM_INTERRUPTED : CAROM_INCOMPLETE;
    json_t *document = json_pack("{s:s, s:b, s:I, s:b, s:s, s:o, s:O, s:o, s:o, s:o, s:o, s:O}", "schema", "carom.compare/1", "uncertain",
                                 comparison->uncertainty != NULL, "draws", (json_int_t)comparison->draws, "complete",
                                 exit_status == EXIT_DONE, "verdict", carom_verdict_name(verdict), "laws", laws, "left_out",
                                 comparison->left_out, "simulator", cli_coverage_json(comparison), "search", cli_search_json(comparison),
                                 "missed", cli_missed_json(comparison), "members", members_json(comparison), "files", comparison->files);
    char caveat[CAROM_CAVEAT_SIZE];
    cli_compare_caveat(comparison, caveat);
    cli_add_caveat(document, caveat);
    return cli_print_json(document, exit_status);
}

// ---------------------------------------------------------------------------------------------------------------- text

// How far normal velocities reach in outcomes that are in the set for certain.
static void print_members(const cli_comparison *comparison) {
    const carom_extent *members = comparison->members;
    if (!members || !members->outcomes) return;
    printf("%" PRId64 " outcomes that are in the set for certain reach normal velocities", members->outcomes);
    for (int i = 0; i < members->sizes.contacts && i < SHOWN_CONTACTS; i++)
        printf("  %s [%.5g, %.5g]", carom_impact_get_data(comparison->impact)->names[i],
               cli_show_velocity(comparison, members->normal[2 * i]), cli_show_velocity(comparison, members->normal[2 * i + 1]));
    printf("; `carom worst` reaches further\n");
}

// A line for each law, then the distances, what the simulator shows, and the files.
static int print_text(const cli_comparison *comparison) {
    const int contacts = carom_impact_get_data(comparison->impact)->contacts;
    printf("%s\n", carom_scene_name(comparison->scene));
    if (comparison->uncertainty) {
        printf("ranges over %" PRId64 " draws of what is uncertain, the same for every law%s", comparison->draws,
               cli_find_whole(comparison) ? ", and of exact sets over all of it" : "");
        cli_print_parameters(comparison->uncertainty);
    }
    // Restitution has a column where there is any.
    const bool bounces = cli_bounces(comparison);
    printf("%-16s %9s  %s%18s   %s\n", "law", "outcomes", bounces ? "restitution        " : "", "energy ratio",
           "normal velocities after the impact [m/s], and what the contact does");
    for (int i = 0; i < comparison->count; i++) {
        const cli_run *run = &comparison->runs[i];
        const carom_extent *extent = run->extent;
        const char *mark = extent->approximate > 0 ? CLI_OUTSIDE : "";
        char bounce[CLI_RESTITUTION_SIZE];
        cli_describe_restitution(run, bounce);
        printf("%-16s %9" PRId64, run->law->name, extent->outcomes);
        if (bounces) printf("  %-17s", bounce);
        if (extent->outcomes && isnan(extent->energy_ratio[0])) printf("  %18s ", "-");
        if (extent->outcomes && !isnan(extent->energy_ratio[0]))
            printf("  %7.4f .. %.4f%-2s", extent->energy_ratio[0], extent->energy_ratio[1], mark);
        for (int contact = 0; extent->outcomes && contact < contacts && contact < SHOWN_CONTACTS; contact++) {
            // "A [0, 0.1] stick 12 %, lift 88 %": the range of a contact's normal velocity and its modes, without shares where all outcomes
            // agree.
            printf("  %s [%.5g, %.5g]%s ", carom_impact_get_data(comparison->impact)->names[contact],
                   cli_show_velocity(comparison, extent->normal[2 * contact]),
                   cli_show_velocity(comparison, extent->normal[2 * contact + 1]), mark);
            const char *separator = "";
            for (int mode = 0; mode < CAROM_CONTACT_MODES; mode++) {
                const int64_t count = extent->modes[contact * CAROM_CONTACT_MODES + mode];
                if (!count) continue;
                char share[32];
                cli_describe_share(count, extent->outcomes, share, sizeof share);
                printf("%s%s", separator, carom_contact_mode_name((carom_contact_mode)mode));
                if (count < extent->outcomes) printf(" %s", share);
                separator = ", ";
            }
        }
        if (extent->outcomes && contacts > SHOWN_CONTACTS) printf("  ... of %d contacts", contacts);
        if (cli_is_outer(run)) printf("  (a certified outer set)");
        if (!carom_answer_complete(&run->answer)) printf("  (%s)", carom_table_text(run->answer.result, CAROM_RESULT_VERDICT, 0));
        putchar('\n');
    }
    char caveat[CAROM_CAVEAT_SIZE];
    if (cli_compare_caveat(comparison, caveat)) {
        printf(CLI_OUTSIDE " %s\n", caveat);
        print_members(comparison);
    }
    cli_search_print(comparison, stdout, "");
    // Distances from the exact set, of the laws that have one.
    if (cli_any_distance_known(comparison))
        printf("\nfrom the exact set [m/s]:   farthest outcome   farthest point of the set that they miss\n");
    for (int i = 0; i < comparison->count; i++) {
        if (!cli_distance_known(comparison, i)) continue;
        const cli_distance *distance = &comparison->distances[i];
        printf("%-27s %-18.3g %.3g", comparison->runs[i].law->name, cli_show_velocity(comparison, distance->outside),
               cli_show_velocity(comparison, distance->coverage));
        if (distance->gap > 0) printf(" (+ %.1g)", distance->gap);
        putchar('\n');
    }
    if (comparison->coverage) cli_coverage_print(comparison, stdout, "  ");
    const size_t files = json_array_size(comparison->files);
    for (size_t i = 0; i < files; i++) printf("written: %s\n", json_string_value(json_array_get(comparison->files, i)));
    if (!files) printf("(-o DIR draws them)\n");
    if (files && cli_interrupted()) printf("(interrupted: neither page nor figures)\n");
    return exit_status_of(comparison);
}

// ------------------------------------------------------------------------------------------------------------- running

// What decides whether and how contacts bounce.
static const char *const bounce_keys[] = {"hypothesis", "restitution"};
enum { BOUNCE_KEYS = sizeof bounce_keys / sizeof *bounce_keys };

// A value that is meant for other laws: one of the command line, or one of the scene without which this law would be asked about another
// impact, an inelastic one. False where there is none.
static bool find_foreign_value(const cli_question *question, const void *options, cli_setting *value) {
    const carom_law *law = question->law;
    const cli_setting *given = cli_not_offered(question->arguments, law->options, law->option_count);
    if (given) *value = *given;
    for (int i = 0; !given && i < carom_scene_settings_count(question->scene); i++) {
        const char *text, *key = carom_scene_get_setting(question->scene, i, &text);
        const int row = carom_option_find(law->options, law->option_count, key);
        bool decides = false;
        for (int k = 0; k < BOUNCE_KEYS; k++) decides |= !strcmp(key, bounce_keys[k]);
        // Coefficients mean nothing to a law with a hypothesis that does not bounce.
        const bool meant = carom_option_find(law->options, law->option_count, "hypothesis") < 0 || carom_law_bounces(law, options);
        if (!strcmp(key, "restitution") && !meant) continue;
        if (row < 0 || !decides || cli_given(question->arguments, key) || carom_option_offers(&law->options[row], text)) continue;
        *value = (cli_setting){key, text};
        return true;
    }
    return given != NULL;
}

// Says in JSON and on the page that a law takes no part.
static void list_left_out(const cli_comparison *comparison, const char *law, const char *reason) {
    json_array_append_new(comparison->left_out, json_string(law));
    json_array_append_new(comparison->reasons, json_string(reason));
}

// The same, with a note.
static void leave_out(const cli_comparison *comparison, const char *law, const char *reason) {
    list_left_out(comparison, law, reason);
    cli_say("note", NULL, "%s is left out: %s", law, reason);
}

// What all laws are asked alike: the draws of what is uncertain are those that sampling is asked for, by its seed. A wrong option of the
// last law is refused before the first law runs, and what takes long or much memory is announced.
static carom_status prepare_question(cli_comparison *comparison, cli_question *question, carom_error *error) {
    const cli_arguments *arguments = comparison->arguments;
    const carom_law *sampled = carom_law_find(arguments->registry, "halm-posa"),
                    *one = carom_law_find(arguments->registry, "anitescu-potra");
    carom_status status = CAROM_OK;
    if (comparison->uncertainty) {
        void *options = NULL;
        question->law = sampled;
        status = cli_prepare_options(question, NULL, &options, error);
        const carom_sample_options *sample = options;
        if (!status) comparison->draws = question->draws = sample->nested ? sample->nested : DRAWS;
        if (!status) question->draw_seed = sample->seed;
        free(options);
    }
    if (!status) status = cli_check_choice(arguments, error);
    for (int i = 0; i < carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS) && !status; i++) {
        void *options = NULL;
        question->law = carom_registry_entry(arguments->registry, CAROM_REGISTRY_LAWS, i);
        status = cli_prepare_options(question, NULL, &options, error);
        free(options);
    }
    // What is not asked needs nothing.
    const bool samples = !cli_needs_too_much(arguments, comparison->scene, sampled);
    if (status || cli_needs_too_much(arguments, comparison->scene, one)) return status;
    return cli_announce_need(arguments, comparison->scene, samples, samples ? carom_control_workers(question->control) : 1, error);
}

// Whether the law of a question takes part. Laws that have nothing to say of this impact are passed over, unless they were named; what
// else is left out is told with the reason. An exact set is that of all that is uncertain at once, where it knows how: `support` holds it.
static carom_status choose_law(const cli_comparison *comparison, cli_question *question, carom_uncertain_support *support,
                               carom_exact_start *start, bool *chosen, carom_error *error) {
    const cli_arguments *arguments = comparison->arguments;
    const carom_law *law = question->law;
    *chosen = false;
    if (!cli_is_chosen(arguments, law->name)) return CAROM_OK;
    if (law->applies && !law->applies(comparison->impact)) {
        if (cli_given(arguments, "laws")) leave_out(comparison, law->name, "it is for impacts of another kind");
        return CAROM_OK;
    }
    if (cli_is_beside_the_question(arguments, comparison->scene, law)) {
        // Nobody misses it: no note.
        list_left_out(
            comparison, law->name,
            "its impacts are elastic, and no contact bounces here; `--laws` asks it by its name, and `--restitution` with another "
            "coefficient");
        return CAROM_OK;
    }
    void *options = NULL;
    const carom_status status = cli_prepare_options(question, NULL, &options, error);
    if (status) return status;
    cli_setting foreign;
    carom_error unknown;
    char reason[CAROM_MESSAGE_SIZE] = "";
    question->support = NULL;
    carom_uncertain_support_free(support);
    if (comparison->uncertainty && cli_takes_all(law) && cli_ask_for_all(question, options, support, start, &unknown))
        snprintf(reason, sizeof reason, "%s", unknown.message);
    if (find_foreign_value(question, options, &foreign)) snprintf(reason, sizeof reason, "it has no %s %.60s", foreign.name, foreign.value);
    if (!*reason && cli_needs_too_much(arguments, comparison->scene, law))
        snprintf(reason, sizeof reason, "its steps are too large for a comparison (carom resolve --law %s asks it)", law->name);
    free(options);
    *chosen = !*reason;
    if (*reason) leave_out(comparison, law->name, reason);
    return CAROM_OK;
}

// Asks a law for all that it can give, kept in memory until it is there, as there may be too many solutions to enumerate; otherwise for
// what it gives by default.
static carom_status ask_thoroughly(const cli_question *question, cli_run *run, carom_result_writer *writer, carom_error *error) {
    cli_question asked = *question;
    carom_status status = CAROM_OK;
    bool found = false;
    if (question->law->thorough) {
        void *options = NULL;
        carom_sink file;
        carom_error unfinished;
        asked.keep_outcomes = true;
        *run = (cli_run){.law = question->law};
        found = !cli_prepare_options(question, question->law->thorough, &options, &unfinished) &&
                !cli_ask_law(&asked, options, NULL, run, &unfinished);
        // What cannot be filed is no reason to ask again.
        if (found && writer) status = carom_result_writer_open_law(writer, question->law, options, &file, error);
        if (found && writer && !status) status = file.receive(file.user, run->answer.outcomes, error);
        if (found && writer && !status) status = carom_result_writer_close_law(writer, run->answer.result, error);
        free(options);
        if (!found || status) cli_run_release(run);
    }
    asked.keep_outcomes = !question->law->samples;
    return found ? status : cli_run_law(&asked, run, error);
}

// Runs every law that applies, then the simulator, and measures distances from the exact set.
static carom_status run_laws(cli_comparison *comparison, carom_result_writer *writer, carom_error *error) {
    const cli_arguments *arguments = comparison->arguments;
    carom_control control;
    carom_status status = cli_start_control(arguments, &control, error);
    if (status) return status;
    cli_question question = {.arguments = arguments,
                             .scene = comparison->scene,
                             .control = &control,
                             .writer = writer,
                             .collect_points = true,
                             .uncertainty = comparison->uncertainty};
    carom_uncertain_support support = {0};
    carom_exact_start start;
    status = prepare_question(comparison, &question, error);
    for (int i = 0; i < carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS) && !status; i++) {
        const carom_law *law = question.law = carom_registry_entry(arguments->registry, CAROM_REGISTRY_LAWS, i);
        bool chosen;
        status = choose_law(comparison, &question, &support, &start, &chosen, error);
        const char *focus = cli_value(arguments, "focus");
        if (!status && !chosen && focus && !strcmp(focus, law->name))
            status = carom_fail(error, CAROM_BAD_INPUT, "--focus: %s does not take part in a comparison of this scene", focus);
        if (status || !chosen) continue;
        if (comparison->uncertainty && !cli_takes_all(law)) {
            // Its outcomes have the drawn parameters, too.
            carom_law *wide = &comparison->drawn_laws[comparison->count];
            carom_column *columns;
            *wide = *law;
            status = carom_uncertainty_extend(comparison->uncertainty, law->outcome_columns, law->outcome_column_count, &columns,
                                              &wide->outcome_column_count, error);
            wide->outcome_columns = columns;
            question.law = wide;
        }
        // Joint modes are those of the sampled set.
        const bool sampled = !strcmp(law->name, "halm-posa");
        if (sampled && !status) {
            carom_joint_modes_free(comparison->modes);
            carom_extent_free(comparison->members);
            comparison->members = NULL;
            status = carom_joint_modes_create(comparison->impact, &comparison->modes, error);
            if (!status) status = carom_extent_create(comparison->impact, &comparison->members, error);
        }
        question.modes = sampled ? comparison->modes : NULL;
        question.members = sampled ? comparison->members : NULL;
        if (!status) status = ask_thoroughly(&question, &comparison->runs[comparison->count], writer, error);
        if (!status) comparison->count++;
    }
    carom_uncertain_support_free(&support);
    if (!status && cli_given(arguments, "simulator")) status = cli_simulate_impact(comparison, &control, writer, error);
    if (!status) status = cli_search_run(comparison, &control, error);
    if (!status) status = cli_measure_distances(comparison, &control, error);
    // Later searches may have been cut short, too.
    comparison->interrupted = carom_control_cancelled(&control);
    return status;
}

// The figures and the page, beside the file of results. The page comes last, when everything that it shows is there.
static carom_status draw(cli_comparison *comparison, const cli_stage *stage, const char *result, carom_error *error) {
    cli_figures figures;
    carom_status status = cli_figures_choose(comparison, &figures, error);
    if (status) return status;
    status = cli_figures_draw(comparison, &figures, stage->folder.path, result, error);
    if (!status && !cli_interrupted()) status = cli_page_write(comparison, &figures, stage->folder.path, stage->directory, error);
    cli_figures_free(&figures);
    return status;
}

// What fails in a folder of its own is said of the place that a file would have had.
static void name_place(const cli_stage *stage, carom_error *error) {
    const char *folder = stage->folder.path;
    const carom_error inner = *error;
    const char *found = folder && *folder ? strstr(inner.message, folder) : NULL;
    if (found)
        carom_fail(error, inner.status, "%.*s%s%s", (int)(found - inner.message), inner.message, stage->directory, found + strlen(folder));
}

// The same into a directory: compare.h5, the figures and the page. They are made in a folder of their own.
static carom_status write_directory(cli_comparison *comparison, const char *directory, carom_error *error) {
    carom_result_writer *writer = NULL;
    cli_stage stage;
    static const char *const pages[] = {CLI_PAGE, CLI_HTML_PAGE, NULL};
    carom_status status = cli_stage_create(directory, "compare", pages, &stage, error);
    if (status) return status;
    char *result = cli_join_path(stage.folder.path, "compare.h5"), *place = cli_join_path(directory, "compare.h5");
    if (!result || !place) status = carom_fail_memory(error, directory);
    if (!status) status = cli_page_check(directory, error);
    if (!status) status = carom_temporary_check(place, &carom_file_hdf5, error);
    if (!status) status = carom_result_writer_create(result, comparison->scene, &writer, error);
    if (!status) status = run_laws(comparison, writer, error);
    if (!status) status = carom_result_writer_commit(writer, error);
    carom_result_writer_free(writer);
    if (!status) {
        // Results are kept, also where they cannot be drawn.
        json_array_append_new(comparison->files, carom_json_text(result));
        carom_error inner;
        status = draw(comparison, &stage, result, error);
        const carom_status placed = cli_stage_commit(&stage, comparison->files, status ? &inner : error);
        if (!status) status = placed;
    }
    if (status) name_place(&stage, error);
    cli_stage_free(&stage);
    free(result);
    free(place);
    return status;
}

void cli_compare_unused(const cli_comparison *comparison, carom_caveats *caveats) {
    const carom_law **laws = calloc((size_t)comparison->count + 1, sizeof *laws);
    int *unused = calloc((size_t)comparison->count + 1, sizeof *unused);
    for (int i = 0; i < comparison->count && laws && unused; i++) {
        laws[i] = comparison->runs[i].law;
        unused[i] = comparison->runs[i].unused;
    }
    const carom_given given = cli_given_by(comparison->arguments, comparison->scene);
    caveats->count = 0;
    if (laws && unused) carom_law_caveats(&given, laws, unused, comparison->count, CAROM_SPELL_FLAGS, caveats);
    free(laws);
    free(unused);
}

static void say_unused(const cli_comparison *comparison) {
    carom_caveats caveats;
    cli_compare_unused(comparison, &caveats);
    // That nothing approaches is said first.
    cli_say_unused(comparison->arguments, comparison->scene, NULL, NULL, 0);
    for (int i = 0; i < caveats.count; i++) cli_say("note", carom_scene_path(comparison->scene), "%s", caveats.text[i]);
}

static int run_compare(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    const char *directory = cli_value(arguments, "output");
    // A run for each law, and one for a simulator.
    const size_t runs = (size_t)carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS) + 1;
    cli_comparison comparison = {.arguments = arguments,
                                 .runs = calloc(runs, sizeof(cli_run)),
                                 .drawn_laws = calloc(runs, sizeof(carom_law)),
                                 .files = json_array(),
                                 .left_out = json_array(),
                                 .reasons = json_array()};
    carom_status status = comparison.runs && comparison.drawn_laws && comparison.files && comparison.left_out && comparison.reasons
                              ? CAROM_OK
                              : carom_fail_memory(&error, "compare");
    if (!status) status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) {
        comparison.scene = scene;
        comparison.impact = carom_scene_impact(scene);
        comparison.uncertainty = carom_scene_uncertainty(scene);
        status = cli_check_simulator(&comparison, &error);
        if (!status && comparison.uncertainty && cli_given(arguments, "simulator"))
            status = carom_fail(&error, CAROM_BAD_INPUT, "--simulator: runs one impact, and that of %s is uncertain", arguments->operand);
        if (!status && comparison.uncertainty && carom_uncertainty_bounces(comparison.uncertainty) && cli_given(arguments, "restitution"))
            status = carom_fail(&error, CAROM_BAD_INPUT, "--restitution: would replace the uncertain coefficients of %s: leave either out",
                                arguments->operand);
    }
    if (!status) status = directory ? write_directory(&comparison, directory, &error) : run_laws(&comparison, NULL, &error);
    int exit_status;
    if (status) {
        exit_status = cli_report(&error);
    } else {
        cli_warn_uncertain(scene);
        say_unused(&comparison);
        double samples;
        if (comparison.uncertainty && cli_given(arguments, "samples") && carom_parse_whole(cli_value(arguments, "samples"), &samples) &&
            fmod(samples, (double)comparison.draws) != 0)
            cli_say("note", NULL, "--samples: each of %" PRId64 " draws has as many, %.0f in all", comparison.draws,
                    (double)comparison.draws * ceil(samples / (double)comparison.draws));
        exit_status = cli_given(arguments, "json") ? print_json(&comparison) : print_text(&comparison);
    }
    carom_joint_modes_free(comparison.modes);
    carom_extent_free(comparison.members);
    cli_release_distances(&comparison);
    for (int i = 0; i < comparison.count; i++) cli_run_release(&comparison.runs[i]);
    cli_coverage_free(comparison.coverage);
    cli_search_free(comparison.search);
    // A law that was asked has columns of its own here.
    for (size_t i = 0; comparison.drawn_laws && i < runs; i++) free((carom_column *)comparison.drawn_laws[i].outcome_columns);
    free(comparison.drawn_laws);
    free(comparison.runs);
    json_decref(comparison.files);
    json_decref(comparison.left_out);
    json_decref(comparison.reasons);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "every law on one scene: a table, and a page with pictures",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ALL_LAWS,
    .run = run_compare,
};
