// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures of curves and areas in space, over a floor with two axes and a third one upwards. In libcarom-io.
#ifndef CAROM_SPACE_H
#define CAROM_SPACE_H

#include "carom/plot.h"

CAROM_API_BEGIN

/// Something in space.
typedef struct carom_space_series {
    const char *label;  ///< in the key; "" for none
    /// CAROM_PLOT_CONE: convex hulls in the colour of friction cones; CAROM_PLOT_AREAS: convex hulls in the look's colour; CAROM_PLOT_LINE;
    /// CAROM_PLOT_GUIDE: a dashed line in that colour; CAROM_PLOT_TRACES: a thin grey line; CAROM_PLOT_MARKS; CAROM_PLOT_ARROWS: the heads
    /// of arrows.
    carom_plot_style style;
    int look;  ///< its place in carom_plot_looks
    int count;
    const double *point;  ///< [count x 3]; a NaN separates hulls, lines and arrows
} carom_space_series;

/// A picture. Everything is borrowed.
typedef struct carom_space_plot {
    const char *title, *label[3];  ///< of the axes
    const carom_space_series *series;
    int series_count;      ///< later ones lie over earlier ones
    carom_plot_size size;  ///< all zero: a page of 174 x 150 mm
} carom_space_plot;

/// Draws a picture in a parallel projection from above, whose first axis goes to the right and the second one backwards. Its box holds
/// everything; the two axes of the floor have one scale, the one upwards has its own.
/// @return as carom_plot_write; CAROM_BAD_INPUT where nothing is there to be drawn, or a series has another style
carom_status carom_space_write(const carom_space_plot *plot, const char *path, carom_error *error);

CAROM_API_END

#endif
