// SPDX-License-Identifier: Apache-2.0
// Pictures of numbers over numbers, as scripts for gnuplot.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/io.h"
#include "io/plot/gnuplot.h"
#include "io/plot/key.h"
#include "io/plot/thin.h"

// ---------------------------------------------------------------------------------------------------------- what is shown

// gnuplot's numbers of open shapes.
static const int gnuplot_shapes[] = {[CAROM_PLOT_CIRCLE] = 6,   [CAROM_PLOT_SQUARE] = 4,         [CAROM_PLOT_TRIANGLE] = 8,
                                     [CAROM_PLOT_DIAMOND] = 12, [CAROM_PLOT_TRIANGLE_DOWN] = 10, [CAROM_PLOT_CROSS] = 2,
                                     [CAROM_PLOT_PLUS] = 1,     [CAROM_PLOT_PENTAGON] = 14,      [CAROM_PLOT_STAR] = 3};

enum { KEY_COLUMNS = 2 };
// Of two columns of the key with longer labels, gnuplot drops one at the pictures' width and font.
enum { KEY_LABEL = 50 };
// Characters that fit into a line of a picture of dots; longer texts have several.
enum { TITLE_LINE = 85, X_LINE = 100, Y_LINE = 55 };

// On paper [mm]: the sample of an entry of the key, margins beside the plot without the label on the left, a line of a label.
#define SAMPLE       8.0
#define LEFT_MARGIN  15.0
#define RIGHT_MARGIN 5.0
#define LABEL_ROW    4.6
// Height of what is between the axes at least, as a share of the width.
#define LEAST_PLOT 0.4
// A number at an axis and the space to the next one [mm].
#define TICK_ROOM 7.0
enum { PAPER_FONT = 9, PAPER_TITLE = 10 };

static bool is_visible(const carom_plot_series *series, int64_t i) { return isfinite(series->x[i]) && isfinite(series->y[i]); }

typedef struct range {
    double least, most;
} range;

static void widen(range *covered, double value) {
    covered->least = fmin(covered->least, value);
    covered->most = fmax(covered->most, value);
}

// Adds a margin. A range without extent of its own gets one: gnuplot cannot draw an empty range, and rounding must not fill the picture.
static range pad(range inner, range other) {
    const double extent = inner.most - inner.least, other_extent = other.most - other.least;
    const double largest = fmax(fabs(inner.least), fabs(inner.most)), other_largest = fmax(fabs(other.least), fabs(other.most));
    // 8 % of the extent; a quarter of the other one for a line; a tenth of the distance from zero for a point.
    double margin = 0.08 * extent;
    if (extent <= 1e-9 * fmax(largest, other_extent)) margin = 0.25 * other_extent;
    if (margin <= 1e-9 * largest) margin = 0.1 * fmax(largest, other_largest);
    if (margin <= 0) margin = 1;
    return (range){inner.least - margin, inner.most + margin};
}

// ------------------------------------------------------------------------------------------------------------- the script

// A command with a quoted text in lines of so many characters.
static void print_labelled(FILE *script, const char *command, const char *text, int columns, const carom_gnuplot_format *format) {
    fprintf(script, "%s ", command);
    carom_gnuplot_print_text(script, text, columns, format);
    fputs(" noenhanced", script);
}

// The points of one series as a data block: every `stride`-th of dots, and those of a line that show.
static void print_data(FILE *script, const carom_plot_series *series, int index, int64_t stride, range x) {
    const carom_plot_style style = series->style;
    const bool thinned = style == CAROM_PLOT_LINE || style == CAROM_PLOT_TRACES;
    const bool broken_by_gaps = thinned || style == CAROM_PLOT_GUIDE || style == CAROM_PLOT_AREAS || style == CAROM_PLOT_GROUND;
    fprintf(script, "$s%d << EOD\n", index);
    for (int64_t start = 0; start < series->count;) {
        int64_t kept[CAROM_PLOT_KEPT] = {start}, next = start + (style == CAROM_PLOT_DOTS ? stride : 1);
        int count = 1;
        if (thinned) next = carom_plot_take_run(series, start, x.least, x.most, kept, &count);
        for (int k = 0; k < count; k++) {
            const int64_t i = kept[k];
            // An empty line ends one trace or area.
            if (!is_visible(series, i) && broken_by_gaps) fputc('\n', script);
            if (!is_visible(series, i)) continue;
            fprintf(script, "%.17g %.17g", series->x[i], series->y[i]);
            // Points of a path become arrows: start and difference.
            const bool arrow = style == CAROM_PLOT_PATH && i + 1 < series->count && is_visible(series, i + 1);
            if (arrow)
                fprintf(script, " %.17g %.17g", series->x[i + 1] - series->x[i], series->y[i + 1] - series->y[i]);
            else if (style == CAROM_PLOT_PATH)
                fputs(" 0 0", script);
            fputc('\n', script);
        }
        start = next;
    }
    // A hull is closed.
    if (style == CAROM_PLOT_DASHES && series->count) fprintf(script, "%.17g %.17g\n", series->x[0], series->y[0]);
    fputs("EOD\n", script);
}

// How one series is drawn, and its entry in the key. `dots` there are in the whole picture.
static void print_series(FILE *script, const carom_plot_series *series, int index, carom_plot_look look, int64_t dots,
                         const carom_gnuplot_format *format) {
    const unsigned colour = look.colour;
    fprintf(script, "$s%d using 1:2 with ", index);
    switch (series->style) {
    case CAROM_PLOT_DOTS: {
        // Dots shrink and fade as they become many, so that the density of a set shows; the key has one of full size.
        const double size = dots > 20000 ? 0.25 : dots > 2000 ? 0.4 : dots > 100 ? 0.6 : 0.9;
        const unsigned transparency = dots > 20000 ? 0xb0 : dots > 2000 ? 0x90 : dots > 100 ? 0x60 : 0x20;
        fprintf(script, "points pt 7 ps %g lc rgb '#%02x%06x' notitle, NaN with points pt 7 ps 1 lc rgb '#%06x'", size, transparency,
                colour, colour);
        break;
    }
    case CAROM_PLOT_MARKS:
        fprintf(script, "points pt %d ps %g lw 2.5 lc rgb '#%06x'", gnuplot_shapes[look.shape], look.size, colour);
        break;
    case CAROM_PLOT_PATH:
        fprintf(script, "points pt 7 ps 0.6 lc rgb '#%06x' notitle, ", colour);
        fprintf(script, "$s%d using 1:2:3:4 with vectors head filled size graph 0.012,18 lw 1.5 lc rgb '#%06x'", index, colour);
        break;
    case CAROM_PLOT_DASHES: fputs("lines dt (8,6) lw 1.5 lc rgb '#505050'", script); break;
    case CAROM_PLOT_AREAS:
        // Filled, then outlined with a dot on each vertex, so that segments and points show too.
        fprintf(script, "filledcurves closed fs solid noborder lc rgb '#b0%06x' notitle, ", colour);
        fprintf(script, "$s%d using 1:2 with linespoints pt 7 ps 0.7 lw 2.5 lc rgb '#%06x'", index, colour);
        break;
    case CAROM_PLOT_GROUND:
        fputs("filledcurves closed fs solid noborder lc rgb '#c8c8c8' notitle, ", script);
        fprintf(script, "$s%d using 1:2 with lines lw 1.2 lc rgb '#a0a0a0'", index);
        break;
    case CAROM_PLOT_TRACES: fputs("lines lw 1.2 lc rgb '#40404040'", script); break;
    case CAROM_PLOT_LINE: fprintf(script, "lines lw 2.5 lc rgb '#%06x'", colour); break;
    case CAROM_PLOT_GUIDE: fputs("lines dt (7,6) lw 1.8 lc rgb '#707070'", script); break;
    case CAROM_PLOT_MEASURED:
        fprintf(script, "points pt 13 ps 2.6 lc rgb 'white' notitle, $s%d using 1:2 with points pt 13 ps 1.9 lc rgb 'black'", index);
        break;
    }
    fputs(*series->label ? " title " : " notitle", script);
    if (*series->label) carom_gnuplot_print_text(script, series->label, 0, format);
}

// Ticks of an axis that shows 10^x: powers of ten with labels, and what lies between them; on less than two decades 2 and 5 have labels,
// too.
static void print_decades(FILE *script, range x) {
    const bool few = x.most - x.least < 2;
    const char *separator = "set xtics (";
    for (int power = (int)floor(x.least); power <= (int)floor(x.most); power++)
        for (int digit = 1; digit < 10; digit++) {
            const double place = power + log10(digit);
            if (place < x.least || place > x.most) continue;
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

// What the script of a picture is printed from.
typedef struct picture {
    const carom_plot *plot;
    const int *looks;  // NULL: labelled series get one after the other
    const carom_gnuplot_format *format;
    range x, y;
} picture;

// The place of a series' look. Where the picture does not say otherwise, labelled series get a colour each, except hulls, traces and
// guides, which are grey; one without a label belongs to the series before it.
static int find_look(const picture *drawn, int index) {
    if (drawn->looks) return drawn->looks[index];
    int colour = -1;
    for (int s = 0; s <= index; s++) {
        const carom_plot_style style = drawn->plot->series[s].style;
        const bool grey = style == CAROM_PLOT_DASHES || style == CAROM_PLOT_TRACES || style == CAROM_PLOT_GUIDE ||
                          style == CAROM_PLOT_MEASURED || style == CAROM_PLOT_GROUND;
        if (!grey && (*drawn->plot->series[s].label || colour < 0)) colour++;
    }
    return colour < 0 ? 0 : colour % CAROM_PLOT_LOOKS;
}

// Terminal, texts and key of a picture of dots. The key stands below the picture, in two columns where they fit; the margin grows with it.
static void print_screen(FILE *script, const picture *drawn) {
    const carom_plot *plot = drawn->plot;
    const carom_gnuplot_format *format = drawn->format;
    carom_gnuplot_print_terminal(script, format, NULL, PAPER_FONT);
    print_labelled(script, "set title", plot->title, TITLE_LINE, format);
    fputs(" font ',18' offset 0,0.3", script);
    print_labelled(script, "\nset xlabel", plot->x_label, X_LINE, format);
    print_labelled(script, "\nset ylabel", plot->y_label, Y_LINE, format);
    // Further lines of the label stand to the right of the first: it moves to the left.
    const int y_more = (int)(strlen(plot->y_label) / Y_LINE);
    if (y_more) fprintf(script, " offset %d,0", -2 * y_more);
    fprintf(script, "\nset lmargin %d\nset rmargin 4\n", 12 + 3 * y_more);
    int entries = 0, columns = KEY_COLUMNS, more = (int)(strlen(plot->x_label) / X_LINE);
    for (int s = 0; s < plot->series_count; s++) {
        const carom_plot_series *series = &plot->series[s];
        entries += series->count && *series->label;
        if (series->count && strlen(series->label) > KEY_LABEL) columns = 1;
    }
    const int rows = (entries + columns - 1) / columns;
    fprintf(
        script,
        "set key at screen 0.5,0.012 bottom center vertical maxrows %d Left reverse noenhanced samplen 2 spacing 1.3 width 2 font ',13'\n"
        "set bmargin %g\n",
        rows ? rows : 1, 4.2 + 1.25 * (rows + more));
}

// Where the key of a picture on paper is printed.
typedef struct paper_key {
    FILE *script;
    const picture *drawn;
    const int *series;  // of each entry
    carom_plot_size size;
    double top;  // [mm]
} paper_key;

// A carom_key_visitor that prints labels: texts, and samples as points or lines.
static void print_entry(void *user, int entry, double x, int row, const char *line) {
    const paper_key *key = user;
    FILE *script = key->script;
    const double y = (key->top - CAROM_KEY_ROW * (row + 0.5)) / key->size.height, left = x / key->size.width;
    if (line) {
        fputs("set label ", script);
        carom_gnuplot_print_text(script, line, 0, key->drawn->format);
        fprintf(script, " at screen %.6g,%.6g left font ',%d' noenhanced\n", left, y, CAROM_KEY_FONT);
        return;
    }
    const carom_plot_series *series = &key->drawn->plot->series[key->series[entry]];
    const carom_plot_look look = carom_plot_looks[find_look(key->drawn, key->series[entry])];
    const double right = (x + SAMPLE) / key->size.width, middle = 0.5 * (left + right);
    const char *pen = "lw 2.5";
    unsigned colour = look.colour;
    switch (series->style) {
    case CAROM_PLOT_DOTS: fprintf(script, "set label '' at screen %.6g,%.6g point pt 7 ps 1 lc rgb '#%06x'\n", middle, y, colour); return;
    case CAROM_PLOT_MARKS:
        fprintf(script, "set label '' at screen %.6g,%.6g point pt %d ps %g lw 2 lc rgb '#%06x'\n", middle, y, gnuplot_shapes[look.shape],
                0.7 * look.size, colour);
        return;
    case CAROM_PLOT_MEASURED: fprintf(script, "set label '' at screen %.6g,%.6g point pt 13 ps 1.5 lc rgb 'black'\n", middle, y); return;
    case CAROM_PLOT_DASHES:
        pen = "dt (8,6) lw 1.5";
        colour = 0x505050;
        break;
    case CAROM_PLOT_GUIDE:
        pen = "dt (7,6) lw 1.8";
        colour = 0x707070;
        break;
    case CAROM_PLOT_TRACES:
        pen = "lw 1.2";
        colour = 0x404040;
        break;
    case CAROM_PLOT_GROUND:
        pen = "lw 5";
        colour = 0xc8c8c8;
        break;
    case CAROM_PLOT_PATH:
    case CAROM_PLOT_LINE:
    case CAROM_PLOT_AREAS: break;
    }
    fprintf(script, "set arrow from screen %.6g,%.6g to screen %.6g,%.6g %s %s lc rgb '#%06x'\n", left, y, right, y,
            series->style == CAROM_PLOT_PATH ? "head filled size screen 0.012,18" : "nohead", pen, colour);
}

// A carom_key_visitor that prints the title in the middle of the paper; its letters are wider than those of the key.
static void print_title(void *user, int entry, double x, int row, const char *line) {
    (void)entry, (void)x;
    const paper_key *key = user;
    if (!line) return;
    fputs("set label ", key->script);
    carom_gnuplot_print_text(key->script, line, 0, key->drawn->format);
    fprintf(key->script, " at screen 0.5,%.6g center font ',%d' noenhanced\n", 1 - (1.5 + LABEL_ROW * (row + 0.5)) / key->size.height,
            PAPER_TITLE);
}

// The same of a picture with a size on paper, which is higher where its texts need room: long labels have several lines.
static carom_status print_paper(FILE *script, const picture *drawn, carom_error *error) {
    const carom_plot *plot = drawn->plot;
    const carom_gnuplot_format *format = drawn->format;
    carom_arena arena = {0};
    carom_key_entry *entries = carom_arena_take(&arena, (size_t)plot->series_count, sizeof *entries);
    int *series = carom_arena_take(&arena, (size_t)plot->series_count, sizeof *series), count = 0;
    if (arena.failed) {
        carom_arena_free(&arena);
        return carom_fail_memory(error, "a picture");
    }
    for (int s = 0; s < plot->series_count; s++) {
        if (!plot->series[s].count || !*plot->series[s].label) continue;
        series[count] = s;
        entries[count++] = (carom_key_entry){SAMPLE, plot->series[s].label};
    }
    // How many characters a line of each label takes, and what its lines take.
    carom_plot_size size = plot->size;
    const double character = CAROM_KEY_CHARACTER / CAROM_KEY_FONT, inner = size.width - LEFT_MARGIN - RIGHT_MARGIN;
    const int x_columns = (int)(inner / (PAPER_FONT * character));
    const int x_lines = 1 + (int)strlen(plot->x_label) / x_columns;
    const int y_columns = (int)(LEAST_PLOT * size.width / (PAPER_FONT * character)), y_lines = 1 + (int)strlen(plot->y_label) / y_columns;
    const double key = CAROM_KEY_ROW * carom_key_flow(count, entries, RIGHT_MARGIN, size.width - RIGHT_MARGIN, NULL, NULL) + 2;
    const double title_width = (size.width - 2 * RIGHT_MARGIN) * CAROM_KEY_FONT / PAPER_TITLE;
    const double title = LABEL_ROW * carom_key_flow(1, &(carom_key_entry){0, plot->title}, 0, title_width, NULL, NULL) + 4;
    const double below = key + LABEL_ROW * (x_lines + 1) + 4;
    size.height = fmax(size.height, title + below + LEAST_PLOT * size.width);
    carom_gnuplot_print_terminal(script, format, &size, PAPER_FONT);
    const carom_key_entry title_entry = {0, plot->title};
    paper_key printed = {script, drawn, series, size, key - 1};
    carom_key_flow(1, &title_entry, 0, title_width, print_title, &printed);
    print_labelled(script, "set xlabel", plot->x_label, x_columns, format);
    print_labelled(script, "\nset ylabel", plot->y_label, y_columns, format);
    fprintf(script,
            "\nunset key\nset lmargin at screen %.6g\nset rmargin at screen %.6g\nset tmargin at screen %.6g\nset bmargin at screen %.6g\n",
            (LEFT_MARGIN + LABEL_ROW * y_lines) / size.width, 1 - RIGHT_MARGIN / size.width, 1 - title / size.height, below / size.height);
    carom_key_flow(count, entries, RIGHT_MARGIN, size.width - RIGHT_MARGIN, print_entry, &printed);
    carom_arena_free(&arena);
    return CAROM_OK;
}

// A carom_text_printer of the whole script: settings, key, series, data.
static carom_status print_script(FILE *script, const void *content, carom_error *error) {
    const picture *drawn = content;
    const carom_plot *plot = drawn->plot;
    const carom_gnuplot_format *format = drawn->format;
    const range x = pad(drawn->x, drawn->y), y = pad(drawn->y, drawn->x);
    if (plot->size.width > 0) {
        const carom_status status = print_paper(script, drawn, error);
        if (status) return status;
    } else {
        print_screen(script, drawn);
    }
    // Ranges with margins; grid, zero lines and borders in quiet colours.
    fprintf(script, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", x.least, x.most, y.least, y.most);
    if (plot->equal && plot->size.width > 0) {
        // gnuplot chooses steps between ticks by the paper, of which a picture with equal units may be a narrow part: 1, 2 or 5 times a
        // power of ten, and room for a number at each.
        const double least_scale =
            fmin((plot->size.width - LEFT_MARGIN - RIGHT_MARGIN) / (x.most - x.least), LEAST_PLOT * plot->size.width / (y.most - y.least));
        const double wanted = TICK_ROOM / least_scale, decade = pow(10, floor(log10(wanted)));
        const double step = decade * (wanted <= 2 * decade ? 2 : wanted <= 5 * decade ? 5 : 10);
        fprintf(script, "set xtics %.17g\nset ytics %.17g\n", step, step);
    }
    fputs("set grid lt 1 lw 1 lc rgb '#e6e6e6'\n"
          "set xzeroaxis lt 1 lw 1 lc rgb '#a0a0a0'\n"
          "set yzeroaxis lt 1 lw 1 lc rgb '#a0a0a0'\n"
          "set border 3 lw 1 lc rgb '#606060'\n"
          "set tics nomirror out textcolor rgb '#202020'\n"
          "set clip two\n",
          script);
    // 1, whose logarithm is 0, is no origin.
    if (plot->log_x) fputs("unset yzeroaxis\n", script);
    if (plot->log_x) print_decades(script, x);
    if (plot->equal) fputs("set size ratio -1\n", script);
    int64_t dots = 0;
    for (int s = 0; s < plot->series_count; s++)
        if (plot->series[s].style == CAROM_PLOT_DOTS) dots += plot->series[s].count;

    // Of too many dots, every `stride`-th is drawn.
    const int64_t stride = (dots + format->dots - 1) / format->dots;
    for (int s = 0; s < plot->series_count; s++) print_data(script, &plot->series[s], s, stride > 1 ? stride : 1, drawn->x);

    // Marks come after everything else, and measurements after them.
    const char *separator = "plot ";
    for (int layer = 0; layer <= 2; layer++)
        for (int s = 0; s < plot->series_count; s++) {
            const carom_plot_series *series = &plot->series[s];
            const int its_layer = series->style == CAROM_PLOT_MEASURED ? 2 : series->style == CAROM_PLOT_MARKS;
            if (!series->count || its_layer != layer) continue;
            fputs(separator, script);
            separator = ", ";
            print_series(script, series, s, carom_plot_looks[find_look(drawn, s)], dots, format);
        }
    fputs("\n", script);
    return CAROM_OK;
}

// Draws a picture, and gives it its place or throws it away.
static carom_status draw(const carom_plot *plot, const int *looks, const char *path, bool keeps, carom_error *error) {
    carom_plot sized = *plot;
    picture drawn = {.plot = &sized, .looks = looks, .x = {INFINITY, -INFINITY}, .y = {INFINITY, -INFINITY}};
    const carom_status status = carom_gnuplot_find(path, &drawn.format, error);
    if (status) return status;
    if (drawn.format->kind == CAROM_GNUPLOT_PDF && sized.size.width <= 0) sized.size = (carom_plot_size){174, 130.5};

    // The ranges of everything that is visible. With a focus, paths and traces may run out of the picture.
    for (int s = 0; s < plot->series_count; s++) {
        const carom_plot_series *series = &plot->series[s];
        if (plot->focus && (series->style == CAROM_PLOT_PATH || series->style == CAROM_PLOT_TRACES)) continue;
        for (int64_t i = 0; i < series->count; i++) {
            if (!is_visible(series, i)) continue;
            widen(&drawn.x, series->x[i]);
            widen(&drawn.y, series->y[i]);
        }
    }
    if (drawn.x.least > drawn.x.most) return carom_fail(error, CAROM_BAD_INPUT, "%s: there is nothing to draw", path);

    return carom_gnuplot_draw(path, drawn.format, print_script, &drawn, keeps, error);
}

carom_status carom_plot_write(const carom_plot *plot, const char *path, carom_error *error) { return draw(plot, NULL, path, true, error); }

carom_status carom_plot_write_looks(const carom_plot *plot, const int *looks, const char *path, carom_error *error) {
    return draw(plot, looks, path, true, error);
}

carom_status carom_plot_check(const char *path, carom_error *error) {
    // The smallest picture.
    static const double corner[] = {0, 1};
    const carom_plot_series line = {"", CAROM_PLOT_LINE, 2, corner, corner};
    const carom_plot plot = {.title = "", .x_label = "", .y_label = "", .series = &line, .series_count = 1};
    return draw(&plot, NULL, path, false, error);
}
