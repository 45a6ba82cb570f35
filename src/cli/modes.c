// SPDX-License-Identifier: Apache-2.0
// `carom modes`: which combinations of stick, slide and lift are possible after the impact, and with which velocities.
#include <inttypes.h>
#include <stdlib.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

static const char sampled_law[] = "halm-posa", exact_law[] = "halm-posa-exact";

// Modes that the terminal shows; JSON has them all.
enum { SHOWN_MODES = 40 };

static const cli_flag flags[] = {
    {"sampled", NULL, "sample the set, also where the exact one could be computed"},
    {"seconds", "S", "budget of time of the exact set (default 30)"},
    {"threads", "N", "threads of the samples (default: one per core)"},
    {"json", NULL, "print one JSON document"},
};

// What was found, and how.
typedef struct findings {
    carom_joint_modes *modes;
    bool certified;                   // the list is that of the whole set
    char reason[CAROM_MESSAGE_SIZE];  // why not; "" where nothing was tried
    cli_run run;                      // of the samples
} findings;

// -------------------------------------------------------------------------------------------------------------- finding

// The modes of the exact set, where it is inelastic and usually finishes.
static carom_status find_exact(const cli_arguments *arguments, const carom_scene *scene, const carom_control *control, findings *found,
                               carom_error *error) {
    const carom_impact *impact = carom_scene_impact(scene);
    const cli_question question = {
        .arguments = arguments, .scene = scene, .law = carom_law_find(arguments->registry, exact_law), .control = control};
    if (!question.law->applies(impact)) return CAROM_OK;
    void *options = NULL;
    carom_exact_set *set = NULL;
    carom_answer answer = {NULL, NULL};
    carom_status status = carom_joint_modes_create(impact, &found->modes, error);
    if (!status) status = cli_prepare_options(&question, NULL, &options, error);
    const char *seconds = cli_value(arguments, "seconds");
    if (!status && seconds) status = carom_law_set(question.law, options, "seconds", seconds, error);
    if (!status) {
        carom_exact_options *exact = options;
        exact->mode = CAROM_EXACT_UNION;
        exact->hypothesis = CAROM_EXACT_INELASTIC;
        exact->set = &set;
        exact->modes = found->modes;
        status = cli_resolve_law(&question, options, &answer, error);
    }
    if (!status) {
        // Nothing collides: the one outcome is the velocity itself.
        if (set->status == CAROM_EXACT_TERMINAL_START) status = carom_joint_modes_see(found->modes, answer.outcomes, error);
        found->certified = carom_answer_complete(&answer);
        snprintf(found->reason, sizeof found->reason, "%s", set->reason);
    } else {
        cli_place_error(arguments, scene, question.law->options, question.law->option_count, error);
    }
    carom_answer_free(&answer);
    carom_exact_set_free(set);
    free(options);
    if (!status && found->certified) return CAROM_OK;
    carom_joint_modes_free(found->modes);
    found->modes = NULL;
    return status;
}

// The modes that samples are seen in.
static carom_status find_sampled(const cli_question *question, const void *options, findings *found, carom_error *error) {
    carom_status status = carom_joint_modes_create(carom_scene_impact(question->scene), &found->modes, error);
    const carom_sink sink = carom_joint_modes_sink(found->modes);
    found->run = (cli_run){.law = question->law};
    if (!status) status = cli_ask_law(question, options, &sink, &found->run, error);
    if (status) cli_place_error(question->arguments, question->scene, question->law->options, question->law->option_count, error);
    return status;
}

static carom_status find(const cli_arguments *arguments, const carom_scene *scene, findings *found, carom_error *error) {
    carom_control control;
    carom_status status = cli_start_control(arguments, &control, error);
    const cli_question question = {.arguments = arguments,
                                   .scene = scene,
                                   .law = carom_law_find(arguments->registry, sampled_law),
                                   .control = &control,
                                   .strict = true,
                                   .threads = status ? 1 : carom_control_workers(&control)};
    void *options = NULL;
    if (!status) status = cli_prepare_options(&question, NULL, &options, error);
    // A set with restitution has no exact modes.
    if (!status && !cli_given(arguments, "sampled") && !carom_law_bounces(question.law, options))
        status = find_exact(arguments, scene, &control, found, error);
    if (!status && !found->certified) status = find_sampled(&question, options, found, error);
    free(options);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- printing

// The modes that were seen most often first; otherwise in their order.
static int compare_counts(const void *a, const void *b) {
    const carom_joint_mode *const *x = a, *const *y = b;
    return (*x)->count != (*y)->count ? ((*x)->count < (*y)->count ? 1 : -1) : (*x > *y) - (*x < *y);
}

// "A stick | B lift 0 to 0.093": what each contact does, with the range of the velocity that its motion leaves free.
static void print_mode(const carom_impact *impact, const carom_joint_mode *mode, const char *counted) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    printf("%10" PRId64 " %s%s", mode->count, counted, mode->count == 1 ? " " : "s");
    for (int i = 0; i < data->contacts; i++) {
        const carom_contact_motion motion = (carom_contact_motion)mode->motions[i];
        printf("%s%s %s", i ? " | " : "  ", data->names[i], carom_contact_motion_name(motion));
        // Slip in space has two components, which the terminal leaves out.
        const double *range = motion == CAROM_MOTION_LIFT                                         ? mode->normal + 2 * i
                              : motion == CAROM_MOTION_FORWARD || motion == CAROM_MOTION_BACKWARD ? mode->tangent + 2 * i
                                                                                                  : NULL;
        if (range && range[0] == range[1])
            printf(" %.6g", cli_shown(impact, range[0]));
        else if (range)
            printf(" %.6g to %.6g", cli_shown(impact, range[0]), cli_shown(impact, range[1]));
    }
    putchar('\n');
}

static carom_status print_text(const carom_scene *scene, const findings *found, carom_error *error) {
    const carom_joint_modes *modes = found->modes;
    const carom_joint_mode **sorted = malloc(((size_t)modes->count + 1) * sizeof *sorted);
    if (!sorted) return carom_fail_memory(error, "joint modes");
    for (int i = 0; i < modes->count; i++) sorted[i] = modes->modes + i;
    if (!found->certified) qsort(sorted, (size_t)modes->count, sizeof *sorted, compare_counts);

    printf("%s: %d joint mode%s (velocities in m/s), %s\n", carom_scene_name(scene), modes->count, modes->count == 1 ? "" : "s",
           found->certified ? "certified: the exact set meets each of them, and no other" : "seen in samples: there may be more");
    if (*found->reason) printf("  the exact set did not finish: %s\n", found->reason);
    if (modes->unfinished)
        printf("  outcomes in which a contact approaches still, and which are in no mode: %" PRId64 "\n", modes->unfinished);
    for (int i = 0; i < modes->count && i < SHOWN_MODES; i++)
        print_mode(carom_scene_impact(scene), sorted[i], found->certified ? "piece" : "outcome");
    if (modes->count > SHOWN_MODES) printf("... and %d more; --json gives them all\n", modes->count - SHOWN_MODES);
    free(sorted);
    return CAROM_OK;
}

static json_t *ranges_json(const double *ranges, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, carom_json_reals(ranges + 2 * i, 2));
    return list;
}

static json_t *make_document(const carom_scene *scene, const findings *found) {
    const carom_impact *impact = carom_scene_impact(scene);
    const carom_impact_data *data = carom_impact_get_data(impact);
    json_t *list = json_array(), *document = json_pack("{s:s, s:b}", "schema", "carom.modes/1", "certified", found->certified);
    for (int i = 0; i < found->modes->count; i++) {
        const carom_joint_mode *mode = found->modes->modes + i;
        json_t *contacts = json_object();
        for (int k = 0; k < data->contacts; k++)
            json_object_set_new(contacts, data->names[k], json_string(carom_contact_motion_name((carom_contact_motion)mode->motions[k])));
        json_t *entry = json_pack("{s:o, s:I, s:o, s:o}", "contacts", contacts, "count", (json_int_t)mode->count, "normal_velocity",
                                  ranges_json(mode->normal, data->contacts), "tangent_velocity",
                                  ranges_json(mode->tangent, data->contacts * data->tangent_dim));
        // In contact space there are no generalised velocities.
        json_object_set_new(entry, "witness", carom_impact_has_system(impact) ? carom_json_reals(mode->witness, data->nv) : json_null());
        json_array_append_new(list, entry);
    }
    if (found->run.answer.result) cli_add_result(document, found->run.answer.result);
    json_object_set_new(document, "reason", carom_json_text(*found->reason ? found->reason : NULL));
    json_object_set_new(document, "unfinished", json_integer(found->modes->unfinished));
    json_object_set_new(document, "modes", list);
    return document;
}

static int run_modes(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    findings found = {0};
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) status = find(arguments, scene, &found, &error);
    int exit_status = EXIT_DONE;
    if (!status) cli_warn(scene);
    if (!status) cli_note_rest(scene);
    if (status) {
        exit_status = cli_report(&error);
    } else {
        if (!found.certified) exit_status = cli_exit_status(&found.run.answer);
        if (cli_given(arguments, "json"))
            exit_status = cli_print_json(make_document(scene, &found), exit_status);
        else if (print_text(scene, &found, &error))
            exit_status = cli_report(&error);
    }
    cli_run_release(&found.run);
    carom_joint_modes_free(found.modes);
    carom_scene_free(scene);
    return exit_status;
}

const cli_command cli_modes = {
    .name = "modes",
    .summary = "which combinations of stick, slide and lift are possible, with their velocities",
    .operand = "SCENE",
    .models = true,
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .laws = CLI_ONE_LAW,
    .law = sampled_law,
    .run = run_modes,
};
