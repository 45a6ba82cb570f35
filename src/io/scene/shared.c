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

// The sentence gets the place of an error, and is kept in the document's memory.
carom_status carom_scene_warn(carom_scene *scene, const carom_node *node, carom_error *error, const char *format, ...) {
    carom_error sentence = {.status = CAROM_OK}, placed;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence.message, sizeof sentence.message, format, arguments);
    va_end(arguments);
    carom_document_pass_on(scene->document, node, &sentence, &placed);

    const char **warnings = realloc(scene->warnings, (size_t)(scene->warning_count + 1) * sizeof *warnings);
    if (warnings) scene->warnings = warnings;
    char *text = carom_document_allocate(scene->document, strlen(placed.message) + 1);
    if (!warnings || !text) return carom_fail_memory(error, carom_scene_path(scene));
    scene->warnings[scene->warning_count++] = strcpy(text, placed.message);
    return CAROM_OK;
}
