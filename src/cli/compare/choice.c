// SPDX-License-Identifier: Apache-2.0
// Which laws a comparison asks: all, or those of --laws and --without; which one its figures are about; and without a word of the user none
// that answers another question.
#include <string.h>

#include "cli/compare/compare.h"

// Is this one of the names in a list with commas between them?
static bool is_listed(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *part = list; part; part = strchr(part, ',')) {
        part += *part == ',';
        if (strcspn(part, ",") == length && !strncmp(part, name, length)) return true;
    }
    return false;
}

carom_status cli_check_choice(const cli_arguments *arguments, carom_error *error) {
    static const char *const lists[] = {"laws", "without", "focus"};
    for (int k = 0; k < 3; k++) {
        const char *list = cli_value(arguments, lists[k]);
        for (const char *part = list; part; part = strchr(part, ',')) {
            part += *part == ',';
            const int length = (int)strcspn(part, ",");
            bool known = false;
            for (int i = 0; i < carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS) && !known; i++) {
                const carom_law *law = carom_registry_entry(arguments->registry, CAROM_REGISTRY_LAWS, i);
                known = (int)strlen(law->name) == length && !strncmp(part, law->name, (size_t)length);
            }
            if (!known)
                return carom_fail(error, CAROM_BAD_INPUT, "--%s: '%.*s' is not one of the laws that carom resolve --list prints", lists[k],
                                  length, part);
        }
    }
    bool all;
    const carom_status status = cli_read_zoom(arguments, &all, error);
    if (status) return status;
    const char *focus = cli_value(arguments, "focus");
    if (focus && (strchr(focus, ',') || !cli_is_chosen(arguments, focus)))
        return carom_fail(error, CAROM_BAD_INPUT, "--focus: '%.60s' is not one of the laws that are asked", focus);
    for (int i = 0; i < carom_registry_count(arguments->registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = carom_registry_entry(arguments->registry, CAROM_REGISTRY_LAWS, i);
        if (cli_is_chosen(arguments, law->name)) return CAROM_OK;
    }
    return carom_fail(error, CAROM_BAD_INPUT, "--without: takes away all that --laws leaves");
}

bool cli_is_chosen(const cli_arguments *arguments, const char *law) {
    const char *with = cli_value(arguments, "laws"), *without = cli_value(arguments, "without");
    return (!with || is_listed(with, law)) && !(without && is_listed(without, law));
}

bool cli_is_beside_the_question(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law) {
    const char *focus = cli_value(arguments, "focus");
    const bool named = cli_given(arguments, "laws") || (focus && !strcmp(focus, law->name));
    if (!law->elastic || named || cli_given(arguments, "restitution")) return false;
    const carom_impact_data *data = carom_impact_get_data(carom_scene_impact(scene));
    for (int i = 0; data->restitution && i < data->contacts; i++)
        if (data->restitution[i] > 0) return false;
    const char *value;
    for (int i = 0; i < carom_scene_settings_count(scene); i++) {
        const char *key = carom_scene_get_setting(scene, i, &value);
        if (!strcmp(key, "restitution")) return false;
    }
    const char *own = carom_scene_law(scene);
    if (own && !strcmp(own, law->name)) return false;
    const carom_uncertainty *uncertainty = carom_scene_uncertainty(scene);
    return !uncertainty || !carom_uncertainty_bounces(uncertainty);
}
