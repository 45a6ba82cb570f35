// SPDX-License-Identifier: Apache-2.0
// Finding joint contact modes: from the exact set where it is inelastic and finishes, otherwise from samples.
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/modes/modes.h"

carom_status cli_mode_finder_create(const cli_arguments *arguments, const carom_scene *scene, const carom_control *control,
                                    cli_mode_finder *finder, carom_error *error) {
    finder->arguments = arguments;
    finder->control = control;
    const cli_question sampled = {.arguments = arguments, .scene = scene, .law = &carom_law_halm_posa, .strict = true};
    carom_status status = cli_prepare_options(&sampled, NULL, &finder->sampling, error);
    if (status) return status;
    const bool fits = carom_exact_law.applies(carom_scene_impact(scene)) && !carom_law_bounces(&carom_law_halm_posa, finder->sampling);
    if (cli_given(arguments, "sampled") || !fits) return cli_announce_need(arguments, scene, true, carom_control_workers(control), error);

    // The scene's budgets; always the set itself, inelastic.
    const cli_question exact = {.arguments = arguments, .scene = scene, .law = &carom_exact_law};
    void *options = NULL;
    const char *seconds = cli_value(arguments, "seconds");
    status = cli_prepare_options(&exact, NULL, &options, error);
    finder->exact = options;
    if (!status && seconds) status = carom_law_set(&carom_exact_law, options, "seconds", seconds, error);
    if (status) {
        cli_place_error(arguments, scene, carom_exact_law.options, carom_exact_law.option_count, error);
        return status;
    }
    finder->exact->mode = CAROM_EXACT_UNION;
    finder->exact->hypothesis = CAROM_EXACT_INELASTIC;
    return CAROM_OK;
}

void cli_mode_finder_free(cli_mode_finder *finder) {
    free(finder->sampling);
    free(finder->exact);
}

// The modes of the exact set; none when it did not finish.
static carom_status find_exact(const cli_mode_finder *finder, const carom_impact *impact, cli_found_modes *found, carom_error *error) {
    carom_exact_options options = *finder->exact;
    carom_exact_set *set = NULL;
    carom_status status = carom_joint_modes_create(impact, &found->modes, error);
    options.modes = found->modes;
    if (!status) status = carom_exact_solve(impact, &options, finder->control, &set, error);
    if (!status) {
        snprintf(found->reason, sizeof found->reason, "%s", set->reason);
        found->certified = carom_exact_set_complete(set);
        found->unique = carom_exact_set_unique(set);
        found->outer = !strcmp(set->certificate, "outer");
    }
    carom_exact_set_free(set);
    if (!status && found->certified) return CAROM_OK;
    carom_joint_modes_free(found->modes);
    found->modes = NULL;
    return status;
}

carom_status cli_find_modes(const cli_mode_finder *finder, const carom_impact *impact, cli_found_modes *found, carom_error *error) {
    *found = (cli_found_modes){0};
    carom_status status = finder->exact ? find_exact(finder, impact, found, error) : CAROM_OK;
    if (status || found->certified) return status;

    status = carom_joint_modes_create(impact, &found->modes, error);
    if (status) return status;
    const carom_sink sink = carom_joint_modes_sink(found->modes);
    const carom_law_call call = {impact, finder->sampling, finder->arguments->registry, finder->control, &sink, NULL};
    status = carom_law_resolve(&carom_law_halm_posa, &call, &found->samples, error);
    cli_end_progress();
    return status;
}

void cli_found_modes_release(cli_found_modes *found) {
    carom_joint_modes_free(found->modes);
    carom_answer_free(&found->samples);
    *found = (cli_found_modes){0};
}

// ---------------------------------------------------------------------------------------------------------------- JSON

json_t *cli_motions_json(const carom_impact *impact, const carom_joint_mode *mode) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    json_t *contacts = json_object();
    for (int i = 0; i < data->contacts; i++)
        json_object_set_new(contacts, data->names[i], json_string(carom_contact_motion_name((carom_contact_motion)mode->motions[i])));
    return contacts;
}

static json_t *ranges_json(const double *ranges, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, carom_json_reals(ranges + 2 * i, 2));
    return list;
}

json_t *cli_modes_json(const carom_impact *impact, const carom_joint_modes *modes) {
    json_t *list = json_array();
    for (int i = 0; i < modes->count; i++) {
        const carom_joint_mode *mode = modes->modes + i;
        json_t *entry = json_pack("{s:o, s:I, s:o, s:o}", "contacts", cli_motions_json(impact, mode), "count", (json_int_t)mode->count,
                                  "normal_velocity", ranges_json(mode->normal, modes->sizes.contacts), "tangent_velocity",
                                  ranges_json(mode->tangent, modes->sizes.tangents));
        json_object_set_new(entry, "may_lie_outside", json_integer((json_int_t)mode->approximate));
        // In contact space there are no generalised velocities.
        json_object_set_new(entry, "witness",
                            carom_impact_has_system(impact) ? carom_json_reals(mode->witness, modes->sizes.nv) : json_null());
        json_array_append_new(list, entry);
    }
    return list;
}
