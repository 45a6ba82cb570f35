// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures by gnuplot. In libcarom-io.
#ifndef CAROM_PLOT_H
#define CAROM_PLOT_H

#include "carom/status.h"

CAROM_API_BEGIN

typedef enum carom_plot_style {
    CAROM_PLOT_DOTS,    ///< a sampled set
    CAROM_PLOT_MARKS,   ///< single outcomes
    CAROM_PLOT_PATH,    ///< line with small marks: a velocity path
    CAROM_PLOT_DASHES,  ///< closed dashed line: a convex hull
    CAROM_PLOT_TRACES,  ///< thin lines: velocity paths of single samples
    CAROM_PLOT_LINE,    ///< line: a function of time, an outline
    CAROM_PLOT_GUIDE,   ///< dashed line: what a picture is read by
    CAROM_PLOT_AREAS,   ///< filled polygons with outlines, a NaN between them; segments and points have only an outline
} carom_plot_style;

typedef struct carom_plot_series {
    const char *label;  ///< in the key; "" for none
    carom_plot_style style;
    int64_t count;
    const double *x, *y;  ///< [count]; a NaN breaks a path, trace, line or outline, or separates areas
} carom_plot_series;

typedef struct carom_plot {
    const char *title, *x_label, *y_label;  ///< any UTF-8 text; shown as it is
    const carom_plot_series *series;
    int series_count;
    bool focus;  ///< the ranges of the axes leave paths and traces out, which then run out of the picture
    bool equal;  ///< one unit is as long on both axes
} carom_plot;

/// Draws with gnuplot into `path`, PNG or SVG by its ending; written under a temporary name and renamed.
/// @return CAROM_UNSUPPORTED when gnuplot is missing, CAROM_BAD_INPUT for another ending, nothing to draw, or when `path` exists and is not
///         such a picture, CAROM_IO_FAILED
carom_status carom_plot_write(const carom_plot *plot, const char *path, carom_error *error);

/// Pictures of a result file: one for each pair of axes, all laws overlaid.
typedef struct carom_plot_request {
    const char *axes;  ///< "Jn.A,Jn.B"; NULL: chosen, see docs/plots.md
    /// Name of the picture when it ends in .png or .svg, or `axes` are given; otherwise a prefix that "-Jn.A-Jn.B.png" is added to, with _
    /// for what file names may not hold. NULL: the name of the result file without its ending is the prefix.
    const char *output;
    bool svg;    ///< write an SVG beside every PNG
    bool focus;  ///< the axes show the outcomes; paths run out of the picture
    /// Further result files of the same contacts, drawn into the same pictures; ends with NULL. NULL: none.
    const char *const *overlays;
} carom_plot_request;

/// Receives the path of each picture written.
typedef void (*carom_plot_report)(void *user, const char *path);

/// Draws exact sets as filled polygons, the projections of their pieces, under sampled sets as dots with a dashed *convex hull, not the
/// set*, single outcomes as marks, sequential paths as arrows, paths of
/// samples as thin lines.
/// Default axes: the pair of contact velocities with the largest extent, among normal velocities first.
carom_status carom_plot_result(const char *result_path, const carom_plot_request *request, carom_plot_report report, void *user,
                               carom_error *error);

CAROM_API_END

#endif
