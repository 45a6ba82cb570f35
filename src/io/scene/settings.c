// SPDX-License-Identifier: Apache-2.0
// The maps `impact` and `simulate` of a scene: defaults for the options of laws and integrators.
#include "io/io_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLER_SIZE = 64 };  // of the name of a sampler

// What a law or an integrator takes.
typedef struct option_rows {
    const char *name;
    const carom_option *rows;
    int count;
    size_t size;
    void (*defaults)(void *options);
} option_rows;

// Laws and integrators have their option rows in the same fields.
static option_rows rows_at(const carom_registry *registry, carom_registry_kind kind, int index) {
    const void *entry = carom_registry_entry(registry, kind, index);
    if (kind == CAROM_REGISTRY_INTEGRATORS) {
        const carom_integrator *one = entry;
        return (option_rows){one->name, one->options, one->option_count, one->options_size, one->defaults};
    }
    const carom_law *one = entry;
    return (option_rows){one->name, one->options, one->option_count, one->options_size, one->defaults};
}

// The key that names the law or integrator.
static const char *chooser_of(carom_registry_kind kind) { return kind == CAROM_REGISTRY_INTEGRATORS ? "integrator" : "law"; }

// Passes an error about a setting's value on. Options begin their messages with their own names, which the place has already.
static carom_status refuse_value(const carom_scene *scene, const carom_scene_setting *setting, const carom_error *inner,
                                 carom_error *error) {
    carom_error value = *inner;
    const char *key = setting->node->key, *message = inner->message;
    const size_t length = strlen(key);
    if (!strncmp(message, key, length) && !strncmp(message + length, ": ", 2))
        snprintf(value.message, sizeof value.message, "%s", message + length + 2);
    return carom_document_pass_on(scene->document, setting->node, &value, error);
}

// The text of a setting as a command line would give it: entries of a list have commas between them.
static carom_status read_text(carom_scene *scene, const carom_node *node, const char **text, carom_error *error) {
    *text = node->text;
    if (node->kind == CAROM_NODE_MAP)
        return carom_document_refuse(scene->document, node, error, "must be a value or a list of values, not a map");
    if (node->kind == CAROM_NODE_SCALAR) return carom_text_check(scene->document, node, error);

    // Entries keep their lengths, and each needs one byte for the comma or the end.
    size_t size = 1;
    for (const carom_node *entry = node->first; entry; entry = entry->next) {
        const carom_status status = carom_text_check(scene->document, entry, error);
        if (status) return status;
        if (strchr(entry->text, ',')) return carom_document_refuse(scene->document, entry, error, "must not contain a comma");
        size += strlen(entry->text) + 1;
    }
    char *end = carom_document_allocate(scene->document, size);
    if (!end) return carom_fail_memory(error, carom_scene_path(scene));
    *text = end;
    for (const carom_node *entry = node->first; entry; entry = entry->next) {
        const size_t length = strlen(entry->text);
        if (entry->index > 0) *end++ = ',';
        memcpy(end, entry->text, length);
        end += length;
    }
    return CAROM_OK;
}

// A setting is right when some law or integrator takes it: which one will be asked is not known yet.
static carom_status check_setting(const carom_scene *scene, const carom_scene_setting *setting, carom_registry_kind kind,
                                  const carom_registry *registry, carom_error *error) {
    carom_error inner;
    bool known = false;
    carom_suggestion suggestion = {.wanted = setting->node->key};
    carom_suggestion_offer(&suggestion, chooser_of(kind));
    for (int i = 0; i < carom_registry_count(registry, kind); i++) {
        const option_rows one = rows_at(registry, kind, i);
        for (int j = 0; j < one.count; j++) carom_suggestion_offer(&suggestion, one.rows[j].name);
        const int row = carom_option_find(one.rows, one.count, setting->node->key);
        if (row < 0) continue;
        known = true;
        void *options = calloc(1, one.size);
        if (!options) return carom_fail_memory(error, "options");
        one.defaults(options);
        const carom_status status = carom_option_set(&one.rows[row], options, setting->text, &inner);
        free(options);
        if (!status) return CAROM_OK;
    }
    if (!known) return carom_suggestion_refuse(&suggestion, scene->document, setting->node, error);
    return refuse_value(scene, setting, &inner, error);
}

// All settings are checked now, and applied when a law or integrator asks for them.
carom_status carom_scene_read_settings(carom_scene *scene, carom_scene_settings *settings, const carom_node *map,
                                       const carom_registry *registry, carom_error *error) {
    if (map->count == 0) return CAROM_OK;
    settings->items = calloc((size_t)map->count, sizeof *settings->items);
    if (!settings->items) return carom_fail_memory(error, carom_scene_path(scene));
    carom_status status = CAROM_OK;
    for (const carom_node *entry = map->first; !status && entry; entry = entry->next) {
        if (!strcmp(entry->key, chooser_of(settings->kind))) {
            // A name of the registry, or an error that lists the names.
            status = carom_text_check(scene->document, entry, error);
            settings->chosen = entry->text;
            if (status || carom_registry_find(registry, settings->kind, entry->text)) continue;
            char names[CAROM_MESSAGE_SIZE / 2] = "", phrase[CAROM_SUGGESTION_SIZE];
            for (int i = 0; i < carom_registry_count(registry, settings->kind); i++) {
                const size_t used = strlen(names);
                snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", rows_at(registry, settings->kind, i).name);
            }
            status = carom_document_refuse(scene->document, entry, error, "'%.60s' is not one of: %s%s", entry->text, names,
                                           carom_registry_suggest(registry, settings->kind, entry->text, phrase));
            continue;
        }
        carom_scene_setting *setting = &settings->items[settings->count++];
        setting->node = entry;
        status = read_text(scene, entry, &setting->text, error);
        if (!status) status = check_setting(scene, setting, settings->kind, registry, error);
    }
    return status;
}

// Sets those options among `rows` that the scene gives.
static carom_status apply(const carom_scene *scene, const carom_scene_settings *settings, const carom_option *rows, int count,
                          void *options, carom_error *error) {
    for (int i = 0; i < settings->count; i++) {
        const carom_scene_setting *setting = &settings->items[i];
        const int row = carom_option_find(rows, count, setting->node->key);
        // Some law takes the setting, or the scene would not have been read; this one may not have the option, or not the choice.
        if (row < 0 || !carom_option_offers(&rows[row], setting->text)) continue;
        carom_error inner;
        const carom_status status = carom_option_set(&rows[row], options, setting->text, &inner);
        if (status) return refuse_value(scene, setting, &inner, error);
    }
    return CAROM_OK;
}

int carom_scene_settings_count(const carom_scene *scene) { return scene->impact_settings.count; }

const char *carom_scene_get_setting(const carom_scene *scene, int index, const char **text) {
    *text = scene->impact_settings.items[index].text;
    return scene->impact_settings.items[index].node->key;
}

carom_status carom_scene_apply(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error) {
    return apply(scene, &scene->impact_settings, rows, count, options, error);
}

carom_status carom_scene_apply_law(const carom_scene *scene, const carom_law *law, const char *sampler, void *options, carom_error *error) {
    const carom_status status = carom_scene_apply(scene, law->options, law->option_count, options, error);
    const int kind = carom_option_find(law->options, law->option_count, "sampler");
    const int steps = carom_option_find(law->options, law->option_count, "max_steps");
    if (status || kind < 0 || steps < 0 || !sampler) return status;
    // Walks count their pieces, all other samplers their steps.
    const char *walk = carom_sampler_names[CAROM_SAMPLER_WALK];
    char of_scene[SAMPLER_SIZE];
    carom_option_print(&law->options[kind], options, of_scene, sizeof of_scene);
    if (!strcmp(sampler, walk) != !strcmp(of_scene, walk))
        carom_option_set(&law->options[steps], options, law->options[steps].initial, NULL);
    return CAROM_OK;
}

carom_status carom_scene_apply_simulate(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error) {
    return apply(scene, &scene->simulate, rows, count, options, error);
}

// The map `compliant` belongs to one command, so that every key must be one of its rows.
carom_status carom_scene_apply_compliant(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error) {
    carom_status status = CAROM_OK;
    for (const carom_node *node = scene->compliant ? scene->compliant->first : NULL; node && !status; node = node->next) {
        const carom_scene_setting setting = {node, node->text};
        carom_suggestion suggestion = {.wanted = node->key};
        for (int i = 0; i < count; i++) carom_suggestion_offer(&suggestion, rows[i].name);
        const int row = carom_option_find(rows, count, node->key);
        carom_error inner;
        if (row < 0) return carom_suggestion_refuse(&suggestion, scene->document, node, error);
        if (!node->text) return carom_document_refuse(scene->document, node, error, "must be a value");
        status = carom_option_set(&rows[row], options, node->text, &inner);
        if (status) refuse_value(scene, &setting, &inner, error);
    }
    return status;
}

// Puts the place of this key before the error, if the scene gives it.
static bool place_error(const carom_scene *scene, const carom_scene_settings *settings, const char *key, carom_error *error) {
    for (int i = 0; i < settings->count; i++) {
        const carom_scene_setting *setting = &settings->items[i];
        if (strcmp(setting->node->key, key) != 0) continue;
        const carom_error inner = *error;
        refuse_value(scene, setting, &inner, error);
        return true;
    }
    return false;
}

bool carom_scene_place_error(const carom_scene *scene, const char *key, carom_error *error) {
    return place_error(scene, &scene->impact_settings, key, error);
}

bool carom_scene_place_simulate_error(const carom_scene *scene, const char *key, carom_error *error) {
    return place_error(scene, &scene->simulate, key, error);
}
