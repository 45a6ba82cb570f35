// SPDX-License-Identifier: Apache-2.0
// `carom modes`: which combinations of stick, slide and lift are possible after the impact, and with which velocities.
#include <inttypes.h>
#include <stdlib.h>

#include "carom/json.h"
#include "cli/modes/modes.h"

// Modes that the terminal shows; JSON has them all.
enum { SHOWN_MODES = 40 };

static const cli_flag flags[] = {CLI_MODE_FLAGS, {"json", NULL, "print one JSON document"}};

// The modes that were seen most often first; otherwise in their order.
static int compare_counts(const void *a, const void *b) {
    const carom_joint_mode *const *x = a, *const *y = b;
    return (*x)->count != (*y)->count ? ((*x)->count < (*y)->count ? 1 : -1) : (*x > *y) - (*x < *y);
}

// "A stick | B lift 0 to 0.093": what each contact does, with the range of the velocity that its motion leaves free.
static void print_mode(const carom_impact *impact, const carom_joint_mode *mode, const char *counted) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    printf("%10" PRId64 " %s%s", mode->count, counted, mode->count == 1 ? " " : "s");
    const char *mark = mode->approximate ? CLI_OUTSIDE : "";
    for (int i = 0; i < data->contacts; i++) {
        const carom_contact_motion motion = (carom_contact_motion)mode->motions[i];
        printf("%s%s %s", i ? " | " : "  ", data->names[i], carom_contact_motion_name(motion));
        // Slip in space has two components, which the terminal leaves out.
        const double *range = motion == CAROM_MOTION_LIFT                                         ? mode->normal + 2 * i
                              : motion == CAROM_MOTION_FORWARD || motion == CAROM_MOTION_BACKWARD ? mode->tangent + 2 * i
                                                                                                  : NULL;
        if (range && range[0] == range[1])
            printf(" %.6g%s", cli_shown(impact, range[0]), mark);
        else if (range)
            printf(" %.6g to %.6g%s", cli_shown(impact, range[0]), cli_shown(impact, range[1]), mark);
    }
    if (mode->approximate == mode->count && mode->approximate) printf("  (" CLI_OUTSIDE " in no outcome that is in the set for certain)");
    putchar('\n');
}

static carom_status print_text(const carom_scene *scene, const cli_found_modes *found, const char *proof, carom_error *error) {
    const carom_joint_modes *modes = found->modes;
    const carom_joint_mode **sorted = malloc(((size_t)modes->count + 1) * sizeof *sorted);
    if (!sorted) return carom_fail_memory(error, "joint modes");
    for (int i = 0; i < modes->count; i++) sorted[i] = modes->modes + i;
    if (!found->certified) qsort(sorted, (size_t)modes->count, sizeof *sorted, compare_counts);

    printf("%s: %d joint mode%s (velocities in m/s), %s\n", carom_scene_name(scene), modes->count, modes->count == 1 ? "" : "s",
           found->certified ? proof : "seen in samples: there may be more");
    if (*found->reason) printf("  the exact set did not finish: %s\n", found->reason);
    char caveat[CAROM_CAVEAT_SIZE];
    if (carom_outcomes_caveat(modes->sizes, modes->approximate, modes->seen, caveat)) printf("  " CLI_OUTSIDE " %s\n", caveat);
    if (modes->unfinished)
        printf("  outcomes in which a contact approaches still, and which are in no mode: %" PRId64 "\n", modes->unfinished);
    for (int i = 0; i < modes->count && i < SHOWN_MODES; i++)
        print_mode(carom_scene_impact(scene), sorted[i], found->certified ? "piece" : "outcome");
    if (modes->count > SHOWN_MODES) printf("... and %d more; --json gives them all\n", modes->count - SHOWN_MODES);
    free(sorted);
    return CAROM_OK;
}

static int run_modes(const cli_arguments *arguments) {
    carom_error error;
    carom_scene *scene = NULL;
    carom_control control;
    cli_mode_finder finder = {0};
    cli_found_modes found = {0};
    carom_uncertain_support support = {0};
    carom_exact_start start;
    carom_status status = carom_scene_read(arguments->operand, arguments->registry, &scene, &error);
    if (!status) status = cli_start_control(arguments, &control, &error);
    if (!status) status = cli_mode_finder_create(arguments, scene, &control, &finder, &error);
    const carom_impact *impact = status ? NULL : carom_scene_impact(scene);
    // Exact sets are of all that is uncertain, but for the pose; samples are of the scene's numbers.
    const carom_uncertainty *uncertainty = status || !finder.exact ? NULL : carom_scene_uncertainty(scene);
    if (uncertainty && !carom_uncertainty_moves(uncertainty)) {
        status = cli_find_support(scene, false, &support, &start, &error);
        if (support.vertices) finder.exact->start = &start;
        finder.exact->friction = support.friction;
    }
    if (!status) status = cli_find_modes(&finder, impact, &found, &error);
    const bool all = found.certified && (support.vertices || support.friction);
    const char *proof = !all          ? "certified: the exact set meets each of them, and no other"
                        : found.outer ? "certified: whatever of the uncertain is the case, there is no other"
                                      : "certified: all that is uncertain leads to each of them, and to no other";
    int exit_status = EXIT_DONE;
    if (!status && all) cli_warn_uncertain(scene);
    if (!status && !all) cli_warn(scene);
    if (!status) cli_say_unused_by(arguments, scene, &carom_law_halm_posa, finder.sampling);
    if (status) {
        cli_place_error(arguments, scene, carom_law_halm_posa.options, carom_law_halm_posa.option_count, &error);
        exit_status = cli_report(&error);
    } else {
        if (!found.certified) exit_status = cli_exit_status(&found.samples);
        if (cli_given(arguments, "json")) {
            json_t *document = json_pack("{s:s, s:b, s:b}", "schema", "carom.modes/1", "certified", found.certified, "uncertain", all);
            if (!found.certified) cli_add_result(document, found.samples.result);
            json_object_set_new(document, "reason", carom_json_text(*found.reason ? found.reason : NULL));
            json_object_set_new(document, "unfinished", json_integer(found.modes->unfinished));
            json_object_set_new(document, "modes", cli_modes_json(impact, found.modes));
            char caveat[CAROM_CAVEAT_SIZE];
            carom_outcomes_caveat(found.modes->sizes, found.modes->approximate, found.modes->seen, caveat);
            cli_add_caveat(document, caveat);
            exit_status = cli_print_json(document, exit_status);
        } else if (print_text(scene, &found, proof, &error)) {
            exit_status = cli_report(&error);
        }
    }
    cli_found_modes_release(&found);
    cli_mode_finder_free(&finder);
    carom_uncertain_support_free(&support);
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
    .law = "halm-posa",
    .run = run_modes,
};
