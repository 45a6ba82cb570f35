// SPDX-License-Identifier: Apache-2.0
// The `impact` map of a scene: defaults for the options of laws.
#include "io/io_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const carom_law *law_at(const carom_registry *registry, int index) {
    return carom_registry_entry(registry, CAROM_REGISTRY_LAWS, index);
}

static carom_status read_law(carom_scene *scene, const carom_node *node, const carom_registry *registry, carom_error *error) {
    const carom_status status = carom_text_check(scene->document, node, error);
    if (status) return status;
    scene->law = node->text;
    if (carom_registry_find(registry, CAROM_REGISTRY_LAWS, node->text)) return CAROM_OK;

    char names[CAROM_MESSAGE_SIZE / 2] = "";
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", law_at(registry, i)->name);
    }
    return carom_document_refuse(scene->document, node, error, "'%.60s' is not one of: %s", node->text, names);
}

/// The text of a setting as a command line would give it.
static carom_status join_list(carom_scene *scene, const carom_node *list, const char **text, carom_error *error) {
    // names keep their lengths, and one byte for the comma or the end
    size_t size = 1;
    for (const carom_node *entry = list->first; entry; entry = entry->next) {
        const carom_status status = carom_text_check(scene->document, entry, error);
        if (status) return status;
        if (strchr(entry->text, ',')) return carom_document_refuse(scene->document, entry, error, "must not contain a comma");
        size += strlen(entry->text) + 1;
    }
    char *end = carom_document_allocate(scene->document, size);
    if (!end) return carom_fail_memory(error, carom_scene_path(scene));
    *text = end;
    for (const carom_node *entry = list->first; entry; entry = entry->next) {
        const size_t length = strlen(entry->text);
        if (entry->index > 0) *end++ = ',';
        memcpy(end, entry->text, length);
        end += length;
    }
    return CAROM_OK;
}

/// Whether this law takes the text for the option.
static carom_status try_option(const carom_law *law, int row, const char *text, carom_error *error) {
    void *options = calloc(1, law->options_size);
    if (!options) return carom_fail_memory(error, "options");
    law->defaults(options);
    const carom_status status = carom_option_set(&law->options[row], options, text, error);
    free(options);
    return status;
}

/// Passes an error about a setting's value on. Options begin their messages with their own names, which the place has already.
static carom_status refuse_value(const carom_scene *scene, const carom_scene_setting *setting, const carom_error *inner,
                                 carom_error *error) {
    carom_error value = *inner;
    const char *key = setting->node->key, *message = inner->message;
    const size_t length = strlen(key);
    if (!strncmp(message, key, length) && !strncmp(message + length, ": ", 2))
        snprintf(value.message, sizeof value.message, "%s", message + length + 2);
    return carom_document_pass_on(scene->document, setting->node, &value, error);
}

/// A setting is right when some law takes it: which one will be asked is not known yet.
static carom_status check_setting(const carom_scene *scene, const carom_scene_setting *setting, const carom_registry *registry,
                                  carom_error *error) {
    carom_status status = CAROM_OK;
    carom_error inner;
    bool known = false;
    carom_suggestion suggestion = {.wanted = setting->node->key};
    carom_suggestion_offer(&suggestion, "law");
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS); i++) {
        const carom_law *law = law_at(registry, i);
        for (int j = 0; j < law->option_count; j++) carom_suggestion_offer(&suggestion, law->options[j].name);
        const int row = carom_option_find(law->options, law->option_count, setting->node->key);
        if (row < 0) continue;
        known = true;
        status = try_option(law, row, setting->text, &inner);
        if (!status) return CAROM_OK;
    }
    if (!known) return carom_suggestion_refuse(&suggestion, scene->document, setting->node, error);
    return refuse_value(scene, setting, &inner, error);
}

static carom_status read_setting(carom_scene *scene, const carom_node *node, const carom_registry *registry, carom_error *error) {
    carom_scene_setting setting = {.node = node, .text = node->text};
    carom_status status = CAROM_OK;
    if (node->kind == CAROM_NODE_MAP)
        status = carom_document_refuse(scene->document, node, error, "must be a value or a list of values, not a map");
    else if (node->kind == CAROM_NODE_LIST)
        status = join_list(scene, node, &setting.text, error);
    else
        status = carom_text_check(scene->document, node, error);
    if (!status) status = check_setting(scene, &setting, registry, error);
    if (!status) scene->settings[scene->setting_count++] = setting;
    return status;
}

carom_status carom_scene_read_settings(carom_scene *scene, const carom_node *settings, const carom_registry *registry, carom_error *error) {
    if (settings->count == 0) return CAROM_OK;
    scene->settings = calloc((size_t)settings->count, sizeof *scene->settings);
    if (!scene->settings) return carom_fail_memory(error, carom_scene_path(scene));
    carom_status status = CAROM_OK;
    for (const carom_node *entry = settings->first; !status && entry; entry = entry->next)
        status = strcmp(entry->key, "law") == 0 ? read_law(scene, entry, registry, error) : read_setting(scene, entry, registry, error);
    return status;
}

carom_status carom_scene_apply(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error) {
    for (int i = 0; i < scene->setting_count; i++) {
        const carom_scene_setting *setting = &scene->settings[i];
        const int row = carom_option_find(rows, count, setting->node->key);
        // Some law takes the setting, or the scene would not have been read; this one may not have the option, or not the choice.
        if (row < 0 || !carom_option_offers(&rows[row], setting->text)) continue;
        carom_error inner;
        const carom_status status = carom_option_set(&rows[row], options, setting->text, &inner);
        if (status) return refuse_value(scene, setting, &inner, error);
    }
    return CAROM_OK;
}

bool carom_scene_place_error(const carom_scene *scene, const char *key, carom_error *error) {
    for (int i = 0; i < scene->setting_count; i++) {
        const carom_scene_setting *setting = &scene->settings[i];
        if (strcmp(setting->node->key, key) != 0) continue;
        const carom_error inner = *error;
        refuse_value(scene, setting, &inner, error);
        return true;
    }
    return false;
}
