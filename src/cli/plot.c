// SPDX-License-Identifier: Apache-2.0
// `carom plot`: pictures of a result file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

static const cli_flag flags[] = {
    {"axes", "X,Y", "contact velocities to draw, as Jn.A,Jt.B or Jt.B.2 (default: those with the largest extent)"},
    {"overlay", "FILE,FILE,...", "further result files of the same contacts, drawn into the same pictures"},
    {"focus", NULL, "axes that show the outcomes; paths run out of the picture"},
    {"output", "FILE", "PNG or SVG file with --axes, otherwise the start of the names (default: the result's name and the axes)"},
    {"svg", NULL, "write an SVG beside every PNG"},
    {"json", NULL, "print one JSON document"},
};

static void note_file(void *user, const char *path) { json_array_append_new(user, carom_json_text(path)); }

enum { MAX_OVERLAYS = 16 };

// The files that a text names, with commas between them; the text is cut.
static carom_status split_overlays(char *text, const char *overlays[MAX_OVERLAYS + 1], carom_error *error) {
    int count = 0;
    char *rest = NULL;
    for (char *path = strtok_r(text, ",", &rest); path; path = strtok_r(NULL, ",", &rest)) {
        if (count == MAX_OVERLAYS) return carom_fail(error, CAROM_BAD_INPUT, "--overlay: more than %d files", MAX_OVERLAYS);
        overlays[count++] = path;
    }
    overlays[count] = NULL;
    return CAROM_OK;
}

static carom_status draw(const cli_arguments *arguments, json_t *files, carom_error *error) {
    const char *given = cli_value(arguments, "overlay"), *overlays[MAX_OVERLAYS + 1] = {NULL};
    char *text = strdup(given ? given : "");
    if (!text) return carom_fail_memory(error, "plot");
    carom_status status = split_overlays(text, overlays, error);
    const carom_plot_request request = {.axes = cli_value(arguments, "axes"),
                                        .output = cli_value(arguments, "output"),
                                        .svg = cli_given(arguments, "svg"),
                                        .focus = cli_given(arguments, "focus"),
                                        .overlays = overlays};
    if (!status) status = carom_plot_result(arguments->operand, &request, note_file, files, error);
    free(text);
    return status;
}

static int run_plot(const cli_arguments *arguments) {
    carom_error error;
    json_t *files = json_array();
    const carom_status status = draw(arguments, files, &error);
    int exit_status = EXIT_DONE;
    if (status)
        exit_status = cli_report(&error);
    else if (cli_given(arguments, "json"))
        exit_status = cli_print_json(json_pack("{s:s, s:O}", "schema", "carom.plot/1", "files", files), EXIT_DONE);
    else
        for (size_t i = 0; i < json_array_size(files); i++) printf("%s\n", json_string_value(json_array_get(files, i)));
    json_decref(files);
    return exit_status;
}

const cli_command cli_plot = {
    .name = "plot",
    .summary = "pictures of a result file",
    .operand = "RESULT",
    .flags = flags,
    .flag_count = sizeof flags / sizeof *flags,
    .run = run_plot,
};
