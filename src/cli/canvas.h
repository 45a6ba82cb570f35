// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures that commands make of their own numbers.
#ifndef CAROM_CLI_CANVAS_H
#define CAROM_CLI_CANVAS_H

#include "cli/cli_internal.h"

enum { CLI_MOST_SERIES = 32 };

/// A picture under way: its series, and the arena of their points. All zero is an empty one.
typedef struct cli_canvas {
    carom_arena arena;
    carom_plot_series series[CLI_MOST_SERIES];
    double *x[CLI_MOST_SERIES], *y[CLI_MOST_SERIES];  ///< [capacity]
    int64_t capacity[CLI_MOST_SERIES];
    const char *laws[CLI_MOST_SERIES];  ///< whose look a series has; NULL: of no law
    int chosen[CLI_MOST_SERIES];        ///< a look of its own, counted from 1; 0: none
    int count;
} cli_canvas;

/// Begins a series with room for `capacity` points.
void cli_canvas_series(cli_canvas *c, const char *label, carom_plot_style style, int64_t capacity);
/// The series that was added last shows this law, in its colour and mark of all pictures.
void cli_canvas_law(cli_canvas *c, const char *law);
/// The series that was added last has this look, a place in carom_plot_looks.
void cli_canvas_look(cli_canvas *c, int look);
/// A point of the series that was added last.
void cli_canvas_point(cli_canvas *c, double x, double y);
/// A segment of that series, with a gap after it.
void cli_canvas_segment(cli_canvas *c, double x0, double y0, double x1, double y1);
/// Writes DIRECTORY/NAME.png and .svg with the labels of `plot`, notes the files, and frees the canvas.
carom_status cli_canvas_write(cli_canvas *c, carom_plot plot, const char *directory, const char *name, json_t *files, carom_error *error);

#endif
