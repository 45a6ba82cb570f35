// SPDX-License-Identifier: Apache-2.0
/// @file
/// A sheet of paper: areas, lines, arrows and texts at places in millimetres, which gnuplot draws.
#ifndef CAROM_IO_PAPER_H
#define CAROM_IO_PAPER_H

#include "carom/arena.h"
#include "io/plot/gnuplot.h"

/// Colours are 0xAARRGGBB, with AA the transparency.
enum { CAROM_NO_COLOUR = -1 };

/// A friction cone and its rim.
#define CAROM_CONE_FILL 0x90f0c040
#define CAROM_CONE_RIM  0x40a07810

/// A point of a font [mm].
#define CAROM_PAPER_POINT 0.3528

/// Something on the paper: an area, a line, or a text.
typedef struct carom_mark {
    double *point;  ///< [points x 2] [mm]; a NaN lifts the pen
    int points;
    int64_t fill, line;
    bool closed;       ///< a polygon
    bool dashed;       ///< the line
    double width;      ///< of the line [0.5 points]
    const char *text;  ///< at the first point; NULL: none
    double font;       ///< [points]
    int align;         ///< of a text: -1 begins at the point, 0 is around it, 1 ends at it
} carom_mark;

/// All zero is an empty sheet. A failure of memory is found at the end.
typedef struct carom_paper {
    carom_arena arena;  ///< of the marks' points and texts, and for the caller
    carom_mark *mark;
    int marks, capacity;
    bool failed;
    carom_mark spare;      ///< that marks become after a failure
    carom_plot_size size;  ///< [mm]
} carom_paper;

/// A new mark with room for points, over those before it; to be filled in by the caller, with all of its points where there are any.
carom_mark *carom_paper_add(carom_paper *paper, int points);
/// A polygon.
/// @param at  [points x 2]
void carom_paper_shape(carom_paper *paper, int points, const double *at, int64_t fill, int64_t line, double width);
void carom_paper_line(carom_paper *paper, double x0, double y0, double x1, double y1, int64_t colour, double width);
void carom_paper_dot(carom_paper *paper, double x, double y, double radius, int64_t fill, int64_t line, double width);
void carom_paper_text(carom_paper *paper, double x, double y, int align, double font, const char *text);
/// A shaft of this width [0.5 points] and a filled head, which a short arrow is nearly all of.
void carom_paper_arrow(carom_paper *paper, const double from[2], const double to[2], int64_t colour, double width);

/// Draws the sheet into a file.
/// @return as carom_plot_write
carom_status carom_paper_write(const carom_paper *paper, const char *path, carom_error *error);
void carom_paper_free(carom_paper *paper);

#endif
