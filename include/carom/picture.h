// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures as plain data: whoever has something to show fills them in and needs no program that draws.
#ifndef CAROM_PICTURE_H
#define CAROM_PICTURE_H

#include "carom/status.h"

CAROM_API_BEGIN

typedef enum carom_plot_style {
    CAROM_PLOT_DOTS,      ///< a sampled set
    CAROM_PLOT_MARKS,     ///< single outcomes
    CAROM_PLOT_PATH,      ///< line with small marks: a velocity path
    CAROM_PLOT_DASHES,    ///< closed dashed line: a convex hull
    CAROM_PLOT_TRACES,    ///< thin lines: velocity paths of single samples
    CAROM_PLOT_LINE,      ///< line: a function of time, an outline
    CAROM_PLOT_GUIDE,     ///< dashed line: what a picture is read by
    CAROM_PLOT_AREAS,     ///< filled polygons with outlines, a NaN between them; segments and points have only an outline
    CAROM_PLOT_GROUND,    ///< the same in grey, without marks: what lies under a set
    CAROM_PLOT_MEASURED,  ///< filled black diamonds with a white rim, on top of everything: what was measured
    CAROM_PLOT_START,     ///< filled dots in the colour of the letters: where something begins
    CAROM_PLOT_COLOURED,  ///< dots joined by a thin line, coloured by a number each, with a bar of colours beside the plot
    CAROM_PLOT_CONE,      ///< filled polygons in the colour of friction cones
    CAROM_PLOT_ARROWS,    ///< heads of arrows, each from a point towards the next one, where it ends; a NaN between them
} carom_plot_style;

typedef struct carom_plot_series {
    const char *label;  ///< in the key; "" or NULL for none
    carom_plot_style style;
    int64_t count;
    const double *x, *y;  ///< [count]; a NaN breaks a path, trace, line or outline, or separates areas
} carom_plot_series;

/// Of a picture on paper [mm]. All zero: 1200 x 900 dots, 150 to the inch, and as PDF 174 x 130.5 mm.
typedef struct carom_plot_size {
    double width, height;
} carom_plot_size;

typedef struct carom_plot {
    const char *title, *x_label, *y_label;  ///< any UTF-8 text; shown as it is
    const carom_plot_series *series;
    int series_count;
    /// The axes fit sets (dots, areas, ground, hulls) and the marks near them: lines run out of the picture, and arrows at its edge point
    /// to marks beyond it. False: they fit everything.
    bool zoom;
    bool log_x;  ///< x holds logarithms to base 10; the axis shows the numbers themselves
    bool equal;  ///< one unit is as long on both axes
    bool rows;   ///< y numbers rows: ticks at whole numbers only
    bool dark;   ///< light lines and letters on dark paper
    /// Of the one series of style CAROM_PLOT_COLOURED, if there is one: a number for each point, and what stands beside the bar of colours.
    const double *colours;
    const char *colour_label;
    const bool *pale;  ///< [series_count] what a picture is not about; NULL: nothing
    carom_plot_size size;
} carom_plot;

CAROM_API_END

#endif
