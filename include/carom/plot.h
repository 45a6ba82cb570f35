// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures by gnuplot. In libcarom-io.
#ifndef CAROM_PLOT_H
#define CAROM_PLOT_H

#include "carom/picture.h"

CAROM_API_BEGIN

/// Open shapes of marks.
typedef enum carom_plot_shape {
    CAROM_PLOT_CIRCLE,
    CAROM_PLOT_SQUARE,
    CAROM_PLOT_TRIANGLE,
    CAROM_PLOT_DIAMOND,
    CAROM_PLOT_TRIANGLE_DOWN,
    CAROM_PLOT_CROSS,
    CAROM_PLOT_PLUS,
    CAROM_PLOT_PENTAGON,
    CAROM_PLOT_STAR,
} carom_plot_shape;

/// How a series is drawn: its colour, and the mark of single outcomes.
typedef struct carom_plot_look {
    unsigned colour;  ///< 0xRRGGBB
    carom_plot_shape shape;
    double size;  ///< of a mark, in units of a dot; all differ, so that marks on one point stay visible
} carom_plot_look;

enum { CAROM_PLOT_LOOKS = 9 };
/// The looks that there are, strongest first.
extern const carom_plot_look carom_plot_looks[CAROM_PLOT_LOOKS];
/// "circle", "square", "triangle", "diamond", "triangle-down", "cross", "plus", "pentagon" or "star".
const char *carom_plot_shape_name(carom_plot_shape shape);

/// The looks of laws in one picture, as places in carom_plot_looks: every law has its own, the same in all pictures. One that stands there
/// again gets the first free look, and so does a name that is of no law; when none is free, looks are used again.
/// @param laws   [count] names; NULL stands for what is of no law
/// @param looks  receives [count]
void carom_plot_assign_looks(int count, const char *const *laws, int *looks);

/// The two contact velocities of a picture that show most, in their order: of those with an extent the widest, normal ones first.
/// @param contacts  the first of the contact velocities are normal ones, as in carom_axes
/// @param count     of contact velocities, at least 2
/// @param ranges    [count x 2] least and largest values of each [m/s]; least above largest, or NaN, where there are none
/// @param chosen    [2] receives their places, ascending
void carom_plot_choose_axes(int contacts, int count, const double *ranges, int chosen[2]);

/// Limits of sizes [mm].
enum { CAROM_PLOT_LEAST_SIZE = 40, CAROM_PLOT_MOST_SIZE = 1000 };
/// Reads a size: "column" (84 x 63 mm), "page" (174 x 120), "slide" (254 x 143), or WIDTHxHEIGHT in millimetres, such as "100x80". Fonts
/// have 8 points or more then, PNGs 300 dots per inch.
/// @return CAROM_BAD_INPUT, naming the text
carom_status carom_plot_parse_size(const char *text, carom_plot_size *size, carom_error *error);

/// Draws with gnuplot into `path`, PNG, SVG or PDF by its ending; written under a temporary name and renamed.
/// @return CAROM_UNSUPPORTED when gnuplot is missing, CAROM_BAD_INPUT for another ending, nothing to draw, or when `path` exists and is not
///         such a picture, CAROM_IO_FAILED
carom_status carom_plot_write(const carom_plot *plot, const char *path, carom_error *error);
/// As carom_plot_write, with looks of the caller's choice.
/// @param looks  [series_count] places in carom_plot_looks
carom_status carom_plot_write_looks(const carom_plot *plot, const int *looks, const char *path, carom_error *error);
/// Can a picture be drawn into `path`? Draws one and throws it away: for those who compute for minutes before they draw.
/// @return as carom_plot_write
carom_status carom_plot_check(const char *path, carom_error *error);

/// An animation by ffmpeg, to which pictures are added one after the other.
typedef struct carom_animation carom_animation;

/// Begins an animation, GIF or MP4 by the ending of the name. Its pictures wait in a temporary folder beside it.
/// @return CAROM_BAD_INPUT for another ending, or when `path` exists and is no such file; CAROM_UNSUPPORTED when ffmpeg or gnuplot is
///         missing; CAROM_IO_FAILED
carom_status carom_animation_create(const char *path, carom_animation **animation, carom_error *error);
/// Draws the next picture. As carom_plot_write_looks; pictures should cover the same ranges.
carom_status carom_animation_add(carom_animation *animation, const carom_plot *plot, const int *looks, carom_error *error);
/// Makes the animation of all pictures, at least one, and gives it its name.
/// @param rate  pictures in a second
carom_status carom_animation_finish(carom_animation *animation, int rate, carom_error *error);
/// Removes the folder, and frees. NULL is allowed.
void carom_animation_free(carom_animation *animation);

/// Pictures of a result file: one for each pair of axes, all laws overlaid.
typedef struct carom_plot_request {
    const char *axes;  ///< "Jn.A,Jn.B"; NULL: chosen, see docs/plots.md
    /// Name of the picture when it ends in .png, .svg or .pdf, or `axes` are given; otherwise a prefix that "-Jn.A-Jn.B.png" is added to,
    /// with _ for what file names may not hold. NULL: the name of the result file without its ending is the prefix.
    const char *output;
    bool svg;    ///< write an SVG beside every PNG
    bool focus;  ///< the axes show the outcomes; paths run out of the picture
    /// Further result files of the same contacts, drawn into the same pictures; ends with NULL. NULL: none.
    const char *const *overlays;
    bool apart;  ///< files are read as by carom_result_open_apart
    carom_plot_size size;
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
