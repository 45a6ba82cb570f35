// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures by gnuplot. In libcarom-io.
#ifndef CAROM_PLOT_H
#define CAROM_PLOT_H

#include "carom/picture.h"

CAROM_API_BEGIN

/// Shapes of marks, open but for the first, in the order in which they enclose each other.
typedef enum carom_plot_shape {
    CAROM_PLOT_DISC,
    CAROM_PLOT_TRIANGLE,
    CAROM_PLOT_TRIANGLE_DOWN,
    CAROM_PLOT_DIAMOND,
    CAROM_PLOT_SQUARE,
    CAROM_PLOT_PENTAGON,
    CAROM_PLOT_CIRCLE,
    CAROM_PLOT_CROSS,
    CAROM_PLOT_PLUS,
    CAROM_PLOT_STAR,
    CAROM_PLOT_SHAPES
} carom_plot_shape;

/// How a law is drawn in every picture of the command and of the Python package.
typedef struct carom_plot_look {
    const char *law;  ///< its name, which keys call it by
    unsigned colour;  ///< 0xRRGGBB
    carom_plot_shape shape;
    double size;  ///< of a mark, in units of CAROM_PLOT_MARK; all differ
} carom_plot_look;

/// The looks that there are; series of no law use them in this order.
enum { CAROM_PLOT_LOOKS = 10 };
extern const carom_plot_look carom_plot_looks[CAROM_PLOT_LOOKS];
/// On paper [mm]: diameter of a mark of size 1. By how much it grows with each mark that it encloses, as a share.
#define CAROM_PLOT_MARK 2.2
#define CAROM_PLOT_RING 0.55
/// Colour of the paper of dark pictures.
enum { CAROM_PLOT_DARK_PAPER = 0x181c20 };
/// "circle", "square", "triangle", "diamond", "triangle-down", "cross", "plus", "pentagon", "star" or "disc".
const char *carom_plot_shape_name(carom_plot_shape shape);

/// The looks of laws in one picture, as places in carom_plot_looks: every law has its own, the same in all pictures. One that stands there
/// again gets the first free look, and so does a name that is of no law; when none is free, looks are used again.
/// @param laws   [count] names; NULL stands for what is of no law
/// @param looks  receives [count]
void carom_plot_assign_looks(int count, const char *const *laws, int *looks);

/// Which marks enclose others, so that none hides where several lie on one point: the mark of ring k has the size of its look times
/// 1 + k CAROM_PLOT_RING. Depends on places and looks, not on the order. Cost: count^2.
/// @param x, y   [count] places on paper [mm]
/// @param looks  [count] as from carom_plot_assign_looks; -1 of filled dots, which all others enclose
/// @param rings  receives [count], 0 for marks that enclose nothing
void carom_plot_nest(int count, const double *x, const double *y, const int *looks, int *rings);

/// A mixture of two colours 0xRRGGBB, with this share of the other.
unsigned carom_plot_mix(unsigned colour, unsigned other, double share);

/// Least and largest values on both axes; least above largest where there are none.
typedef struct carom_plot_window {
    double x[2], y[2];
} carom_plot_window;

#define CAROM_PLOT_MARGIN      0.08
#define CAROM_PLOT_ZOOM_MARGIN 0.16
/// The window of a picture: sets and the marks near them, with a margin. A mark is far where it is more than half an extent of the sets
/// beyond them. Where the sets have no extent, no mark is far.
/// @param sets    their ranges
/// @param x, y    [count] marks
/// @param margin  on each side, as a share of the extent: CAROM_PLOT_MARGIN, or CAROM_PLOT_ZOOM_MARGIN that has room for arrows
void carom_plot_fit(const carom_plot_window *sets, int64_t count, const double *x, const double *y, double margin,
                    carom_plot_window *shown);

/// A set with more points than this is shaded by its density.
enum { CAROM_PLOT_SHADED = 20000 };
/// What is drawn of very many points: of each cell of a grid over the window the first point, coloured by how many points the cell has.
/// @param cells   across and up, at least 1 each
/// @param points  receives [cells[0] * cells[1]] indices, cells with fewer points first
/// @param counts  receives as many numbers of points
/// @param kept    receives how many cells have points
carom_status carom_plot_shade(int64_t count, const double *x, const double *y, const carom_plot_window *shown, const int cells[2],
                              int64_t *points, int64_t *counts, int64_t *kept, carom_error *error);
/// The colour of a cell, from pale for one point to strong for as many as the fullest cell has, by the logarithm.
unsigned carom_plot_shade_colour(unsigned colour, int64_t count, int64_t most, bool dark);

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
/// The most panels of a picture.
enum { CAROM_PLOT_PANELS = 12 };
/// As carom_plot_write_looks, of several panels side by side and in rows, with letters, and one key: series of one label look alike in all.
/// @param panels  [count] title, size and paper are those of the first
/// @param looks   [count] of each panel; NULL: chosen
/// @return CAROM_BAD_INPUT also for more panels than CAROM_PLOT_PANELS
carom_status carom_plot_write_panels(int count, const carom_plot *panels, const int *const *looks, const char *path, carom_error *error);
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
    /// "Jn.A:Jn.B,Jt.A:Jn.A": the axes of several panels in one picture. NULL: one, of `axes`.
    const char *panels;
    /// Name of the picture when it ends in .png, .svg or .pdf, or `axes` are given; otherwise a prefix that "-Jn.A-Jn.B.png" is added to,
    /// with _ for what file names may not hold. NULL: the name of the result file without its ending is the prefix.
    const char *output;
    bool svg;  ///< write an SVG beside every PNG
    bool all;  ///< the axes fit everything, paths and far laws, too, not the sets that are shown
    /// A law: the axes fit its outcomes, which have their colour, and all others are pale. NULL: none.
    const char *focus;
    bool dark;  ///< light lines and letters on dark paper
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
