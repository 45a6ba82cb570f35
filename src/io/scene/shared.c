// SPDX-License-Identifier: Apache-2.0
// What every form of scene calls: warnings with their place, and paths relative to the scene.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

const char *carom_scene_path(const carom_scene *scene) { return carom_document_path(scene->document); }

char *carom_scene_join_path(const carom_scene *scene, const char *path) {
    const char *scene_path = carom_scene_path(scene), *slash = strrchr(scene_path, '/');
    const size_t folder = slash && *path != '/' ? (size_t)(slash + 1 - scene_path) : 0, length = strlen(path) + 1;
    char *joined = malloc(folder + length);
    if (!joined) return NULL;
    memcpy(joined, scene_path, folder);
    memcpy(joined + folder, path, length);
    return joined;
}

// Adds a copy of a text, kept in the document's memory, to a list.
static carom_status keep(carom_scene *scene, const char *text, const char ***list, int *count, carom_error *error) {
    const char **grown = realloc(*list, (size_t)(*count + 1) * sizeof *grown);
    if (grown) *list = grown;
    char *copy = carom_document_allocate(scene->document, strlen(text) + 1);
    if (!grown || !copy) return carom_fail_memory(error, carom_scene_path(scene));
    grown[(*count)++] = strcpy(copy, text);
    return CAROM_OK;
}

// The sentence gets the place of an error.
carom_status carom_scene_warn(carom_scene *scene, const carom_node *node, carom_error *error, const char *format, ...) {
    carom_error sentence = {.status = CAROM_OK}, placed;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence.message, sizeof sentence.message, format, arguments);
    va_end(arguments);
    if (node)
        carom_document_pass_on(scene->document, node, &sentence, &placed);
    else
        carom_fail(&placed, CAROM_OK, "%s: %s", carom_scene_path(scene), sentence.message);
    return keep(scene, placed.message, &scene->warnings, &scene->warning_count, error);
}

carom_status carom_scene_note(carom_scene *scene, carom_error *error, const char *format, ...) {
    char sentence[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return keep(scene, sentence, &scene->notes, &scene->note_count, error);
}
