// SPDX-License-Identifier: Apache-2.0
// One plot of a picture, as commands of gnuplot.
#include "io/plot/panel.h"

#include <math.h>
#include <string.h>

#include "carom/io.h"
#include "io/plot/paper.h"
#include "io/plot/thin.h"

// On paper [mm]: cells of shaded sets are no smaller; far marks stand so far inside the edge, and have arrows
// of this length with such heads.
#define LEAST_CELL 0.4
#define INSET      2.4
#define ARROW      4.4
#define HEAD       1.6
// So many cells make files of 2 MB at most.
enum { MOST_CELLS = 20000 };
// More marks than this are not told apart where they lie on one point.
enum { MOST_NESTED = 2000 };
// Traces that are drawn with full strength, and the least opacity of each where there are many.
enum { FEW_TRACES = 20 };
#define LEAST_OPACITY 0.03
// More states of paths than this are drawn thin.
enum { MANY_ARROWS = 40 };
// Of more than so many, states that are closer than this share of the picture are not told apart.
enum { VERY_MANY_ARROWS = 10000 };
#define TOLD_APART 1e-3

static bool is_visible(const carom_plot_series *series, int64_t i) { return isfinite(series->x[i]) && isfinite(series->y[i]); }

static bool is_marks(carom_plot_style style) { return style == CAROM_PLOT_MARKS || style == CAROM_PLOT_START; }

static bool is_set(carom_plot_style style) {
    return style == CAROM_PLOT_DOTS || style == CAROM_PLOT_AREAS || style == CAROM_PLOT_GROUND || style == CAROM_PLOT_DASHES ||
           style == CAROM_PLOT_COLOURED;
}

static bool is_pale(const carom_panel *panel, int series) { return panel->plot->pale && panel->plot->pale[series]; }

// -------------------------------------------------------------------------------------------------------- colours and pens

carom_panel_inks carom_panel_inks_of(bool dark) {
    return dark ? (carom_panel_inks){CAROM_PLOT_DARK_PAPER, 0xe8e8e8, 0xa0a0a0, 0x787878, 0x33383d}
                : (carom_panel_inks){0xffffff, 0x101010, 0x606060, 0xa0a0a0, 0xe6e6e6};
}

int carom_panel_shape(carom_plot_shape shape) {
    static const int shapes[] = {
        [CAROM_PLOT_CIRCLE] = 6,         [CAROM_PLOT_SQUARE] = 4, [CAROM_PLOT_TRIANGLE] = 8, [CAROM_PLOT_DIAMOND] = 12,
        [CAROM_PLOT_TRIANGLE_DOWN] = 10, [CAROM_PLOT_CROSS] = 2,  [CAROM_PLOT_PLUS] = 1,     [CAROM_PLOT_PENTAGON] = 14,
        [CAROM_PLOT_STAR] = 3,           [CAROM_PLOT_DISC] = 7};
    return shapes[shape];
}

const carom_plot_look *carom_panel_look(const carom_panel *panel, int series) {
    if (panel->looks) return &carom_plot_looks[panel->looks[series]];
    // Where nobody says otherwise, labelled series get a look each, except hulls, traces, guides and what else is grey or black; one
    // without a label belongs to the series before it.
    int place = -1;
    for (int s = 0; s <= series; s++) {
        const carom_plot_style style = panel->plot->series[s].style;
        const bool grey = style == CAROM_PLOT_DASHES || style == CAROM_PLOT_TRACES || style == CAROM_PLOT_GUIDE ||
                          style == CAROM_PLOT_MEASURED || style == CAROM_PLOT_GROUND || style == CAROM_PLOT_START ||
                          style == CAROM_PLOT_COLOURED || style == CAROM_PLOT_CONE;
        if (!grey && (*carom_series_label(&panel->plot->series[s]) || place < 0)) place++;
    }
    return &carom_plot_looks[place < 0 ? 0 : place % CAROM_PLOT_LOOKS];
}

unsigned carom_panel_colour(const carom_panel *panel, int series) {
    const carom_panel_inks inks = carom_panel_inks_of(panel->plot->dark);
    const carom_plot_style style = panel->plot->series[series].style;
    unsigned colour = style == CAROM_PLOT_START || style == CAROM_PLOT_MEASURED ? inks.letters : carom_panel_look(panel, series)->colour;
    // On dark paper, colours are lighter, and black is white.
    if (panel->plot->dark && colour != inks.letters) colour = colour ? carom_plot_mix(colour, 0xffffff, 0.35) : inks.letters;
    return is_pale(panel, series) ? carom_plot_mix(colour, inks.paper, 0.75) : colour;
}

carom_panel_pen carom_panel_pen_of(const carom_panel *panel, int series) {
    const bool dark = panel->plot->dark;
    switch (panel->plot->series[series].style) {
    case CAROM_PLOT_DASHES: return (carom_panel_pen){dark ? 0xb0b0b0 : 0x505050, 1.5, " dt (8,6)"};
    case CAROM_PLOT_GUIDE: return (carom_panel_pen){dark ? 0x989898 : 0x707070, 1.8, " dt (7,6)"};
    case CAROM_PLOT_TRACES: return (carom_panel_pen){dark ? 0xc0c0c0 : 0x404040, 0.9, ""};
    case CAROM_PLOT_GROUND: return (carom_panel_pen){dark ? 0x4c5258 : 0xc8c8c8, 5, ""};
    case CAROM_PLOT_AREAS: return (carom_panel_pen){carom_panel_colour(panel, series), 6.5, ""};
    // As opaque as it looks on paper.
    case CAROM_PLOT_CONE: return (carom_panel_pen){dark ? 0x78643a : 0xf0d078, 5, ""};
    case CAROM_PLOT_ARROWS:
    case CAROM_PLOT_PATH: return (carom_panel_pen){carom_panel_colour(panel, series), 1.5, ""};
    case CAROM_PLOT_LINE: {
        // Lines that are of no law are told apart in grey, and where they lie on each other, by their dashes.
        static const char *const dashes[] = {"", " dt (14,6)", " dt (5,5)", " dt (14,5,4,5)", " dt (24,6)"};
        const int place = panel->looks ? 0 : (int)(carom_panel_look(panel, series) - carom_plot_looks);
        return (carom_panel_pen){carom_panel_colour(panel, series), 2.2, dashes[place % (int)(sizeof dashes / sizeof *dashes)]};
    }
    default: return (carom_panel_pen){carom_panel_colour(panel, series), 2.5, ""};
    }
}

const char *carom_series_label(const carom_plot_series *series) { return series->label ? series->label : ""; }

bool carom_panel_is_shaded(const carom_panel *panel, int series) {
    return panel->plot->series[series].style == CAROM_PLOT_DOTS && panel->plot->series[series].count > CAROM_PLOT_SHADED;
}

// --------------------------------------------------------------------------------------------------------------- windows

static void widen(carom_plot_window *window, double x, double y) {
    window->x[0] = fmin(window->x[0], x);
    window->x[1] = fmax(window->x[1], x);
    window->y[0] = fmin(window->y[0], y);
    window->y[1] = fmax(window->y[1], y);
}

carom_status carom_panel_create(const carom_plot *plot, const int *looks, const char *path, carom_panel *panel, carom_error *error) {
    *panel = (carom_panel){.plot = plot, .looks = looks};
    const carom_plot_window nothing = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    carom_plot_window all = nothing;
    int64_t room = 0;
    for (int s = 0; s < plot->series_count; s++) {
        const carom_plot_series *series = &plot->series[s];
        if (series->style == CAROM_PLOT_COLOURED && !plot->colours)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: series '%.60s' is coloured by numbers that are missing", path,
                              carom_series_label(series));
        for (int64_t i = 0; i < series->count; i++)
            if (is_visible(series, i)) widen(&all, series->x[i], series->y[i]);
        room += series->style == CAROM_PLOT_MARKS ? series->count : 0;
    }
    if (all.x[0] > all.x[1]) return carom_fail(error, CAROM_BAD_INPUT, "%s: there is nothing to draw", path);
    if (!plot->zoom) {
        carom_plot_fit(&all, 0, NULL, NULL, CAROM_PLOT_MARGIN, &panel->shown);
        return CAROM_OK;
    }

    // With a zoom, sets come first, and marks near them. What is pale counts only where the rest is one point. Starts are no outcomes: they
    // widen no window, unless there is nothing else.
    carom_arena arena = {0};
    double *x = carom_arena_take(&arena, (size_t)room, sizeof *x), *y = carom_arena_take(&arena, (size_t)room, sizeof *y);
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "a picture");
    }
    bool extended = false;
    for (int with_pale = 0; with_pale <= 1 && !extended; with_pale++) {
        carom_plot_window sets = nothing, shown = nothing;
        int64_t count = 0;
        for (int s = 0; s < plot->series_count; s++) {
            const carom_plot_series *series = &plot->series[s];
            if (!with_pale && is_pale(panel, s)) continue;
            for (int64_t i = 0; i < series->count && (is_set(series->style) || series->style == CAROM_PLOT_MARKS); i++) {
                if (!is_visible(series, i)) continue;
                widen(&shown, series->x[i], series->y[i]);
                if (is_set(series->style)) {
                    widen(&sets, series->x[i], series->y[i]);
                } else {
                    x[count] = series->x[i];
                    y[count++] = series->y[i];
                }
            }
        }
        extended = shown.x[1] > shown.x[0] || shown.y[1] > shown.y[0];
        carom_plot_fit(shown.x[0] <= shown.x[1] ? &sets : &all, count, x, y, CAROM_PLOT_ZOOM_MARGIN, &panel->shown);
    }
    carom_arena_free(&arena);
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------------------- marks

// Millimetres on paper of one unit of each axis.
static void find_scales(const carom_panel *panel, double scale[2]) {
    const carom_plot_window *shown = &panel->shown;
    scale[0] = panel->width / (shown->x[1] - shown->x[0]);
    scale[1] = panel->height / (shown->y[1] - shown->y[0]);
    if (panel->plot->equal) scale[0] = scale[1] = fmin(scale[0], scale[1]);
}

// Places of all marks: far ones stand near the edge, with the direction to where they are; those on one point enclose each other.
static carom_status place_marks(carom_panel *panel, carom_arena *arena, carom_error *error) {
    const carom_plot *plot = panel->plot;
    const carom_plot_window *shown = &panel->shown;
    double scale[2];
    find_scales(panel, scale);
    int64_t room = 0;
    for (int s = 0; s < plot->series_count; s++) room += is_marks(plot->series[s].style) ? plot->series[s].count : 0;
    panel->mark_count = 0;
    panel->marks = carom_arena_take(arena, (size_t)room, sizeof *panel->marks);
    double *x = carom_arena_take(arena, (size_t)room, sizeof *x), *y = carom_arena_take(arena, (size_t)room, sizeof *y);
    int *looks = carom_arena_take(arena, (size_t)room, sizeof *looks), *rings = carom_arena_take(arena, (size_t)room, sizeof *rings);
    if (arena->failed) return carom_fail_memory(error, "a picture");
    for (int s = 0; s < plot->series_count; s++)
        for (int64_t i = 0; i < plot->series[s].count && is_marks(plot->series[s].style); i++) {
            if (!is_visible(&plot->series[s], i)) continue;
            carom_panel_mark *made = &panel->marks[panel->mark_count];
            *made = (carom_panel_mark){.series = s, .x = plot->series[s].x[i], .y = plot->series[s].y[i]};
            // A far mark stands inside the nearest point of the edge, and its arrow leads over it.
            const double edge_x = fmax(shown->x[0], fmin(shown->x[1], made->x)), edge_y = fmax(shown->y[0], fmin(shown->y[1], made->y));
            const double across = (made->x - edge_x) * scale[0], up = (made->y - edge_y) * scale[1], length = hypot(across, up);
            made->far = length > 0;
            if (made->far) {
                const double inset_x = INSET / scale[0], inset_y = INSET / scale[1];
                made->x = fmax(shown->x[0] + inset_x, fmin(shown->x[1] - inset_x, made->x));
                made->y = fmax(shown->y[0] + inset_y, fmin(shown->y[1] - inset_y, made->y));
                made->towards[0] = made->x + ARROW / scale[0] * across / length;
                made->towards[1] = made->y + ARROW / scale[1] * up / length;
            }
            x[panel->mark_count] = made->x * scale[0];
            y[panel->mark_count] = made->y * scale[1];
            // Starts are filled: everything encloses them.
            const bool starts = plot->series[s].style == CAROM_PLOT_START;
            looks[panel->mark_count] = starts ? -1 : (int)(carom_panel_look(panel, s) - carom_plot_looks);
            rings[panel->mark_count++] = 0;
        }
    if (panel->mark_count <= MOST_NESTED) carom_plot_nest((int)panel->mark_count, x, y, looks, rings);
    for (int64_t i = 0; i < panel->mark_count; i++) panel->marks[i].ring = rings[i];
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------------ data

// The points of one series as a data block: those of a line that show, and of shaded sets one of each cell.
static carom_status print_data(FILE *script, const carom_panel *panel, int index, const char *name, double mark, carom_arena *arena,
                               carom_error *error) {
    const carom_plot_series *series = &panel->plot->series[index];
    const carom_plot_style style = series->style;
    fprintf(script, "%s << EOD\n", name);
    if (is_marks(style)) {
        const double size = style == CAROM_PLOT_START ? 0.8 : carom_panel_look(panel, index)->size;
        for (int64_t i = 0; i < panel->mark_count; i++)
            if (panel->marks[i].series == index)
                fprintf(script, "%.17g %.17g %.6g\n", panel->marks[i].x, panel->marks[i].y,
                        mark * CAROM_PLOT_MARK * size * (1 + CAROM_PLOT_RING * panel->marks[i].ring));
        fputs("EOD\n", script);
        return CAROM_OK;
    }
    if (carom_panel_is_shaded(panel, index)) {
        const double cell = fmax(LEAST_CELL, sqrt(panel->width * panel->height / MOST_CELLS));
        const int cells[2] = {(int)ceil(panel->width / cell), (int)ceil(panel->height / cell)};
        const size_t room = (size_t)cells[0] * (size_t)cells[1];
        int64_t *points = carom_arena_take(arena, room, sizeof *points), *counts = carom_arena_take(arena, room, sizeof *counts), kept;
        if (arena->failed) return carom_fail_memory(error, "a picture");
        const carom_status status =
            carom_plot_shade(series->count, series->x, series->y, &panel->shown, cells, points, counts, &kept, error);
        if (status) return status;
        // Cells overlap a little, so that a full set has no gaps.
        for (int64_t k = 0; k < kept; k++)
            fprintf(script, "%.17g %.17g %.6g %u\n", series->x[points[k]], series->y[points[k]], mark * 1.8 * cell,
                    carom_plot_shade_colour(carom_panel_colour(panel, index), counts[k], counts[kept - 1], panel->plot->dark));
        fputs("EOD\n", script);
        return CAROM_OK;
    }
    const bool thinned = style == CAROM_PLOT_LINE || style == CAROM_PLOT_TRACES;
    const bool broken_by_gaps =
        thinned || style == CAROM_PLOT_GUIDE || style == CAROM_PLOT_AREAS || style == CAROM_PLOT_GROUND || style == CAROM_PLOT_CONE;
    const bool of_arrows = style == CAROM_PLOT_PATH || style == CAROM_PLOT_ARROWS;
    const double tiny[2] = {TOLD_APART * (panel->shown.x[1] - panel->shown.x[0]), TOLD_APART * (panel->shown.y[1] - panel->shown.y[0])};
    for (int64_t start = 0; start < series->count;) {
        int64_t kept[CAROM_PLOT_KEPT] = {start}, next = start + 1;
        int count = 1;
        if (thinned) next = carom_plot_take_run(series, start, panel->shown.x[0], panel->shown.x[1], kept, &count);
        for (int k = 0; k < count; k++) {
            const int64_t i = kept[k];
            // An empty line ends one trace or area.
            if (!is_visible(series, i) && broken_by_gaps) fputc('\n', script);
            if (!is_visible(series, i)) continue;
            // Points of a path become arrows: start and difference. Very many go on to the first point that is told apart.
            int64_t to = i + 1;
            while (of_arrows && series->count > VERY_MANY_ARROWS && to + 1 < series->count && is_visible(series, to + 1) &&
                   fabs(series->x[to] - series->x[i]) < tiny[0] && fabs(series->y[to] - series->y[i]) < tiny[1])
                to++;
            const bool arrow = of_arrows && to < series->count && is_visible(series, to);
            if (arrow) next = to;
            if (style == CAROM_PLOT_ARROWS && !arrow) continue;
            fprintf(script, "%.17g %.17g", series->x[i], series->y[i]);
            if (arrow)
                fprintf(script, " %.17g %.17g", series->x[to] - series->x[i], series->y[to] - series->y[i]);
            else if (style == CAROM_PLOT_PATH)
                fputs(" 0 0", script);
            else if (style == CAROM_PLOT_COLOURED)
                fprintf(script, " %.17g", panel->plot->colours[i]);
            fputc('\n', script);
        }
        start = next;
    }
    // A hull is closed.
    if (style == CAROM_PLOT_DASHES && series->count) fprintf(script, "%.17g %.17g\n", series->x[0], series->y[0]);
    fputs("EOD\n", script);
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------- commands

// How one series is drawn.
static void print_series(FILE *script, const carom_panel *panel, int index, const char *name, double mark) {
    const carom_plot_series *series = &panel->plot->series[index];
    const carom_panel_inks inks = carom_panel_inks_of(panel->plot->dark);
    const carom_panel_pen pen = carom_panel_pen_of(panel, index);
    const unsigned colour = pen.colour;
    fprintf(script, "%s using 1:2", name);
    switch (series->style) {
    case CAROM_PLOT_DOTS: {
        // Dots shrink and fade as they become many; very many are shaded by their density.
        const int64_t dots = series->count;
        const double size = dots > 8000 ? 0.35 : dots > 2000 ? 0.45 : dots > 200 ? 0.65 : 1.3;
        const unsigned transparency = dots > 2000 ? 0x80 : dots > 200 ? 0x50 : 0x20;
        if (carom_panel_is_shaded(panel, index))
            fputs(":3:4 with points pt 7 ps variable lc rgb variable", script);
        else
            fprintf(script, " with points pt 7 ps %g lc rgb '#%02x%06x'", mark * size, transparency, colour);
        break;
    }
    case CAROM_PLOT_MARKS: {
        // A rim in the colour of the paper keeps marks apart from what they lie on.
        const int shape = carom_panel_shape(carom_panel_look(panel, index)->shape);
        fprintf(script, ":3 with points pt %d ps variable lw 4.2 lc rgb '#%06x' notitle, ", shape, inks.paper);
        fprintf(script, "%s using 1:2:3 with points pt %d ps variable lw 2.4 lc rgb '#%06x'", name, shape, colour);
        break;
    }
    case CAROM_PLOT_START:
        fprintf(script, ":(1.4*$3) with points pt 7 ps variable lc rgb '#%06x' notitle, ", inks.paper);
        fprintf(script, "%s using 1:2:3 with points pt 7 ps variable lc rgb '#%06x'", name, colour);
        break;
    case CAROM_PLOT_PATH: {
        // Many arrows are thin and paler than the outcomes to which they lead, and let what is below shine through.
        const bool many = series->count > MANY_ARROWS;
        const unsigned transparency = many ? 0x78 : 0, ink = many ? carom_plot_mix(colour, inks.paper, 0.4) : colour;
        fprintf(script, " with points pt 7 ps %g lc rgb '#%02x%06x' notitle, ", (many ? 0.4 : 0.6) * mark, transparency, ink);
        fprintf(script, "%s using 1:2:3:4 with vectors head filled size graph %g,18 lw %g lc rgb '#%02x%06x'", name, many ? 0.015 : 0.02,
                many ? 0.9 : 1.5, transparency, ink);
        break;
    }
    case CAROM_PLOT_ARROWS:
        // All of one size, however short the arrows are.
        fprintf(script, ":3:4 with vectors head filled size graph 0.018,18 fixed lw %g lc rgb '#%06x'", pen.width, colour);
        break;
    case CAROM_PLOT_CONE:
        fprintf(script, " with lines lw 1 lc rgb '#%08x' notitle, %s using 1:2 with filledcurves closed fs solid noborder lc rgb '#%08x'",
                CAROM_CONE_RIM, name, CAROM_CONE_FILL);
        break;
    case CAROM_PLOT_AREAS:
        // Filled, then outlined with a dot on each vertex, so that segments and points show too: wide enough to be seen on both sides of
        // samples that lie on a segment.
        fprintf(script, " with filledcurves closed fs solid noborder lc rgb '#b0%06x' notitle, ", colour);
        fprintf(script, "%s using 1:2 with linespoints pt 7 ps %g lw %g lc rgb '#%06x'", name, 1.8 * mark, pen.width, colour);
        break;
    case CAROM_PLOT_GROUND:
        fprintf(script, " with filledcurves closed fs solid noborder lc rgb '#%06x' notitle, ", colour);
        fprintf(script, "%s using 1:2 with lines lw 1.2 lc rgb '#%06x'", name, panel->plot->dark ? 0x687078 : 0xa0a0a0);
        break;
    case CAROM_PLOT_TRACES: {
        // Many paths fade, so that their density shows where they have reached.
        int64_t traces = 1;
        for (int64_t i = 0; i < series->count; i++) traces += !is_visible(series, i);
        const double opacity = fmax(LEAST_OPACITY, 0.75 * fmin(1, sqrt((double)FEW_TRACES / (double)traces)));
        fprintf(script, " with lines lw %g lc rgb '#%02x%06x'", pen.width, (unsigned)(255 * (1 - opacity)), colour);
        break;
    }
    case CAROM_PLOT_COLOURED:
        fprintf(script, " with lines lw 1 lc rgb '#%06x' notitle, %s using 1:2 with points pt 7 ps %g lc rgb '#%06x' notitle, ",
                inks.border, name, 1.7 * mark, inks.border);
        fprintf(script, "%s using 1:2:3 with points pt 7 ps %g lc palette", name, 1.4 * mark);
        break;
    case CAROM_PLOT_DASHES:
    case CAROM_PLOT_GUIDE:
    case CAROM_PLOT_LINE: fprintf(script, " with lines%s lw %g lc rgb '#%06x'", pen.dashes, pen.width, colour); break;
    case CAROM_PLOT_MEASURED:
        fprintf(script, " with points pt 13 ps %g lc rgb '#%06x' notitle, %s using 1:2 with points pt 13 ps %g lc rgb '#%06x'", 2.3 * mark,
                inks.paper, name, 1.7 * mark, colour);
        break;
    }
    fputs(" notitle", script);
}

// Which series are drawn after which.
enum { COLOURED_LAYER = 1, MARKS_LAYER, START_LAYER = MARKS_LAYER + CAROM_PLOT_SHAPES, MEASURED_LAYER, LAYERS };

static int layer_of(const carom_panel *panel, int series) {
    switch (panel->plot->series[series].style) {
    case CAROM_PLOT_MARKS: return START_LAYER - 1 - (int)carom_panel_look(panel, series)->shape;
    case CAROM_PLOT_START: return START_LAYER;
    case CAROM_PLOT_COLOURED: return COLOURED_LAYER;
    case CAROM_PLOT_MEASURED: return MEASURED_LAYER;
    default: return 0;
    }
}

// Ticks of an axis that shows 10^x: powers of ten with labels, and what lies between them; on less than two decades 2 and 5 have labels,
// too.
static void print_decades(FILE *script, const double x[2]) {
    const bool few = x[1] - x[0] < 2;
    const char *separator = "set xtics (";
    for (int power = (int)floor(x[0]); power <= (int)floor(x[1]); power++)
        for (int digit = 1; digit < 10; digit++) {
            const double place = power + log10(digit);
            if (place < x[0] || place > x[1]) continue;
            const bool labelled = digit == 1 || (few && (digit == 2 || digit == 5));
            fputs(separator, script);
            if (labelled)
                fprintf(script, "'%g' %.17g", digit * pow(10, power), place);
            else
                fprintf(script, "'' %.17g 1", place);
            separator = ", ";
        }
    if (*separator == ',') fputs(")\n", script);
}

carom_status carom_panel_print(FILE *script, carom_panel *panel, int number, double mark, double paper_width, carom_arena *arena,
                               carom_error *error) {
    const carom_plot *plot = panel->plot;
    carom_status status = place_marks(panel, arena, error);
    char name[32];
    for (int s = 0; s < plot->series_count && !status; s++) {
        snprintf(name, sizeof name, "$s%d_%d", number, s);
        status = print_data(script, panel, s, name, mark, arena, error);
    }
    if (status) return status;

    // Ranges; grid, zero lines and borders in quiet colours.
    const carom_plot_window *shown = &panel->shown;
    const carom_panel_inks inks = carom_panel_inks_of(plot->dark);
    fprintf(script, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", shown->x[0], shown->x[1], shown->y[0], shown->y[1]);
    fprintf(script,
            "set grid lt 1 lw 1 lc rgb '#%06x'\nset xzeroaxis lt 1 lw 1 lc rgb '#%06x'\nset yzeroaxis lt 1 lw 1 lc rgb '#%06x'\n"
            "set border 3 lw 1 lc rgb '#%06x'\nset clip two\n",
            inks.grid, inks.zero, inks.zero, inks.border);
    // 1, whose logarithm is 0, is no origin.
    if (plot->log_x) fputs("unset yzeroaxis\n", script);
    if (plot->log_x) print_decades(script, shown->x);
    // Nor is row 0.
    if (plot->rows) fputs("unset xzeroaxis\n", script);
    fputs(plot->equal ? "set size ratio -1\n" : "set size noratio\n", script);
    for (int64_t i = 0; i < panel->mark_count; i++) {
        const carom_panel_mark *far = &panel->marks[i];
        if (far->far)
            fprintf(script,
                    "set arrow from first %.17g,%.17g to first %.17g,%.17g head filled size screen %.6g,20 lw 2 lc rgb '#%06x' front\n",
                    far->x, far->y, far->towards[0], far->towards[1], HEAD / paper_width, carom_panel_colour(panel, far->series));
    }

    // Pale series first; marks come after everything else, those that enclose others before these, and measurements after them.
    const char *separator = "plot ";
    for (int pale = 1; pale >= 0; pale--)
        for (int layer = 0; layer < LAYERS; layer++)
            for (int s = 0; s < plot->series_count; s++) {
                if (!plot->series[s].count || is_pale(panel, s) != pale || layer_of(panel, s) != layer) continue;
                fputs(separator, script);
                separator = ", ";
                snprintf(name, sizeof name, "$s%d_%d", number, s);
                print_series(script, panel, s, name, mark);
            }
    fputs("\n", script);
    return CAROM_OK;
}
