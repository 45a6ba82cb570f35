// SPDX-License-Identifier: Apache-2.0
/// @file
/// Running gnuplot: formats and sizes of pictures, texts in its scripts, and the file that it fills.
#ifndef CAROM_IO_GNUPLOT_H
#define CAROM_IO_GNUPLOT_H

#include "carom/plot.h"
#include "carom/temporary.h"

/// Formats of pictures.
typedef enum carom_gnuplot_kind { CAROM_GNUPLOT_PNG, CAROM_GNUPLOT_SVG, CAROM_GNUPLOT_PDF } carom_gnuplot_kind;

/// A format: by what a whole file is known.
typedef struct carom_gnuplot_format {
    carom_gnuplot_kind kind;
    const char *ending;
    carom_file_kind file;
    const char *end;  ///< of a whole file
    size_t end_size;
    bool drawn_here;  ///< with the fonts of this machine
} carom_gnuplot_format;

/// By the ending of a name.
/// @return CAROM_BAD_INPUT for another ending
carom_status carom_gnuplot_find(const char *path, const carom_gnuplot_format **format, carom_error *error);

/// A sheet to draw on.
typedef struct carom_gnuplot_sheet {
    carom_plot_size size;  ///< [mm]
    bool screen;           ///< 150 dots to the inch, not the 300 of paper
    bool dark;
    double font;  ///< [points]
} carom_gnuplot_sheet;

/// Prints `set terminal`: a point of a font is one on paper, a line of width 1 has 0.5 points.
void carom_gnuplot_print_terminal(FILE *script, const carom_gnuplot_format *format, const carom_gnuplot_sheet *sheet);
/// gnuplot's size of a mark with a diameter of 1 mm.
double carom_gnuplot_mark_size(const carom_gnuplot_format *format, const carom_gnuplot_sheet *sheet);

/// Prints any text in single quotes, broken into lines of at most `columns` characters where it has blanks.
/// @param columns  0: one line
void carom_gnuplot_print_text(FILE *script, const char *text, int columns, const carom_gnuplot_format *format);

/// Runs a script and gives the picture its place.
/// @param keeps  false: throws it away
/// @return as carom_plot_write
carom_status carom_gnuplot_draw(const char *path, const carom_gnuplot_format *format, const carom_gnuplot_sheet *sheet,
                                carom_text_printer *print, const void *content, bool keeps, carom_error *error);

#endif
