// SPDX-License-Identifier: Apache-2.0
/// @file
/// One plot of a picture: what it shows of the plane, its marks, its points and lines as gnuplot's data and commands.
#ifndef CAROM_IO_PANEL_H
#define CAROM_IO_PANEL_H

#include "carom/arena.h"
#include "io/plot/gnuplot.h"

/// A mark of one point.
typedef struct carom_panel_mark {
    int series;
    double x, y;        ///< on the axes; of a far mark a place near the edge
    bool far;           ///< beyond the edge
    double towards[2];  ///< of a far mark: the end of its arrow, on the axes
    int ring;           ///< as from carom_plot_nest
} carom_panel_mark;

/// A plot of a picture, with its place on paper.
typedef struct carom_panel {
    const carom_plot *plot;
    const int *looks;  ///< NULL: labelled series get one after the other
    carom_plot_window shown;
    double left, bottom, width, height;  ///< of what is between the axes [mm]
    carom_panel_mark *marks;             ///< of series of marks and starts
    int64_t mark_count;
} carom_panel;

/// How lines of a series are drawn.
typedef struct carom_panel_pen {
    unsigned colour;
    double width;
    const char *dashes;  ///< "" for none
} carom_panel_pen;

/// Colours of what is not of a law.
typedef struct carom_panel_inks {
    unsigned paper, letters, border, zero, grid;
} carom_panel_inks;
carom_panel_inks carom_panel_inks_of(bool dark);

/// A panel of a plot, without a place, and the window of it.
/// @return CAROM_BAD_INPUT naming `path` where there is nothing to draw, or numbers of colours are missing
carom_status carom_panel_create(const carom_plot *plot, const int *looks, const char *path, carom_panel *panel, carom_error *error);

/// The look of a series, the colour it has in this picture, and its pen.
const carom_plot_look *carom_panel_look(const carom_panel *panel, int series);
unsigned carom_panel_colour(const carom_panel *panel, int series);
carom_panel_pen carom_panel_pen_of(const carom_panel *panel, int series);
/// gnuplot's number of a shape.
int carom_panel_shape(carom_plot_shape shape);
/// Text of a series in the key: "" where it has none.
const char *carom_series_label(const carom_plot_series *series);
/// Is a series shaded by its density?
bool carom_panel_is_shaded(const carom_panel *panel, int series);

/// Prints data and commands of a panel whose place is known.
/// @param number  of the panel, in names of data
/// @param mark    gnuplot's size of a mark of 1 mm
/// @param paper_width  [mm]
carom_status carom_panel_print(FILE *script, carom_panel *panel, int number, double mark, double paper_width, carom_arena *arena,
                               carom_error *error);

#endif
