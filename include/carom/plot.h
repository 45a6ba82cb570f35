// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures by gnuplot. In libcarom-io.
#ifndef CAROM_PLOT_H
#define CAROM_PLOT_H

#include "carom/picture.h"

CAROM_API_BEGIN

/// Draws with gnuplot into `path`, PNG or SVG by its ending; written under a temporary name and renamed.
/// @return CAROM_UNSUPPORTED when gnuplot is missing, CAROM_BAD_INPUT for another ending, nothing to draw, or when `path` exists and is not
///         such a picture, CAROM_IO_FAILED
carom_status carom_plot_write(const carom_plot *plot, const char *path, carom_error *error);
/// Can a picture be drawn into `path`? Draws one and throws it away: for those who compute for minutes before they draw.
/// @return as carom_plot_write
carom_status carom_plot_check(const char *path, carom_error *error);

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
    bool apart;  ///< files are read as by carom_result_open_apart
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
