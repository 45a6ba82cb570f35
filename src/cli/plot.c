// SPDX-License-Identifier: Apache-2.0
// `carom plot`: pictures of a result file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/cli_internal.h"

static const cli_flag flags[] = {
    {"axes", "X,Y",
     "quantities to draw, as Jn.A,Jt.B.2 or base.z,knee (velocities by joints), Pn.A (impulses), K (energy ratio), sums of them (default: "
     "the "
     "contact velocities with the largest extent)"},
    {"overlay", "FILE,FILE,...", "more result files of the same contacts, to be drawn into the same pictures"},
    {"panels", "X:Y,X:Y", "several planes in one picture, with letters and one key"},
    {"zoom", "set|all", CLI_ZOOM_HELP},
    {"focus", "LAW", "fit the axes to this law, and draw all others pale"},
    {"output", "FILE", "with --axes, the PNG, SVG or PDF file; otherwise what the file names start with (default: the result's name)"},
    {"svg", NULL, "write an SVG beside every PNG"},
    {"size", "SIZE", "of the pictures on paper: column (84 x 63 mm), page (174 x 120), slide (254 x 143), or WxH in millimetres"},
    {"dark", NULL, "light lines and letters on dark paper"},
    {"json", NULL, "print one JSON document"},
};

enum { MAX_OVERLAYS = 16 };

static int run_plot(const cli_arguments *arguments) {
    carom_error error;
    json_t *files = json_array();
    // The names of --overlay stand between commas: cut a copy at them.
    const char *given = cli_value(arguments, "overlay"), *overlays[MAX_OVERLAYS + 1] = {NULL};
    char *names = strdup(given ? given : ""), *rest = NULL;
    carom_status status = names ? CAROM_OK : carom_fail_memory(&error, "plot");
    int count = 0;
    for (char *name = status ? NULL : strtok_r(names, ",", &rest); name && !status; name = strtok_r(NULL, ",", &rest)) {
        if (count == MAX_OVERLAYS)
            status = carom_fail(&error, CAROM_BAD_INPUT, "--overlay: more than %d files", MAX_OVERLAYS);
        else
            overlays[count++] = name;
    }
    carom_plot_size size = {0};
    carom_error inner;
    if (!status && cli_given(arguments, "size") && carom_plot_parse_size(cli_value(arguments, "size"), &size, &inner))
        status = carom_fail(&error, CAROM_BAD_INPUT, "--size: %s", inner.message);
    bool all = false;
    if (!status) status = cli_read_zoom(arguments, &all, &error);
    // Axes and names that are not given are chosen by the library.
    const carom_plot_request request = {.axes = cli_value(arguments, "axes"),
                                        .output = cli_value(arguments, "output"),
                                        .svg = cli_given(arguments, "svg"),
                                        .panels = cli_value(arguments, "panels"),
                                        .all = all,
                                        .focus = cli_value(arguments, "focus"),
                                        .dark = cli_given(arguments, "dark"),
                                        .overlays = overlays,
                                        .apart = true,
                                        .size = size};
    if (!status) status = carom_plot_result(arguments->operand, &request, cli_note_file, files, &error);
    free(names);
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
