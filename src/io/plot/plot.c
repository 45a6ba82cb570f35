// SPDX-License-Identifier: Apache-2.0
// Pictures by gnuplot. Script and data go through its standard input, the picture comes through its standard output: no shell, and no file
// name that gnuplot could take for a command.
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carom/io.h"
#include "carom/temporary.h"
#include "io/plot/thin.h"
#include "io/utf8.h"

enum {
    PNG_DOTS = 200000,  // more dots than this in one picture are thinned
    SVG_DOTS = 20000,   // every dot of an SVG costs a hundred bytes
};

// A format of pictures: how gnuplot is told to make it, and by what a whole file is known.
typedef struct picture_format {
    const char *ending, *terminal;
    carom_file_kind kind;
    const char *end;  // of a whole file
    size_t end_size;
    int64_t dots;
    bool drawn_here;  // with the fonts of this machine
} picture_format;

// The last chunk of a PNG, and the last tag of an SVG.
static const char png_end[] = "IEND\xae\x42\x60\x82", svg_end[] = "</svg>\n\n";

static const picture_format formats[] = {
    {".png",
     "pngcairo noenhanced size 1200,900 font 'Sans,14' background rgb 'white'",
     {"a PNG picture", "\x89PNG\r\n\x1a\n", false, ".png"},
     png_end,
     8,
     PNG_DOTS,
     true},
    {".svg",
     "svg noenhanced size 1200,900 font 'Sans,18' background rgb 'white'",
     {"an SVG picture that begins with <?xml", "<?xml", false, ".svg"},
     svg_end,
     6,
     SVG_DOTS,
     false},
};

// ---------------------------------------------------------------------------------------------------------- what is shown

// gnuplot's numbers of open shapes.
static const int gnuplot_shapes[] = {[CAROM_PLOT_CIRCLE] = 6,   [CAROM_PLOT_SQUARE] = 4,         [CAROM_PLOT_TRIANGLE] = 8,
                                     [CAROM_PLOT_DIAMOND] = 12, [CAROM_PLOT_TRIANGLE_DOWN] = 10, [CAROM_PLOT_CROSS] = 2,
                                     [CAROM_PLOT_PLUS] = 1,     [CAROM_PLOT_PENTAGON] = 14,      [CAROM_PLOT_STAR] = 3};

enum { KEY_COLUMNS = 2 };
// Of two columns of the key with longer labels, gnuplot drops one at the pictures' width and font.
enum { KEY_LABEL = 50 };

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

// Any text in single quotes, those inside doubled: gnuplot runs what stands in backquotes within double quotes. Quotes at the very start
// are joined on, because gnuplot takes two of them for an empty text.
static void print_quoted(FILE *script, const char *text, const picture_format *format) {
    for (; *text == '\''; text++) fputs("\"'\".", script);
    fputc('\'', script);
    while (*text) {
        unsigned long code;
        const int length = carom_utf8_decode(text, &code);
        // For a character that no font of the machine has, gnuplot paints black bars over the whole PNG. Every machine with gnuplot can
        // draw ASCII; Latin, Greek, Cyrillic; punctuation, indices, arrows and mathematics.
        const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        const bool drawable = code < 0x7f || (code >= 0xa0 && code < 0x530) || (code >= 0x1e00 && code < 0x2300);
        if (!length || (format->drawn_here && !drawable && !control))
            fputc('?', script);
        else if (control)
            fputc(' ', script);
        else
            fprintf(script, "%s%.*s", code == '\'' ? "'" : "", length, text);
        text += length ? length : 1;
    }
    fputc('\'', script);
}

// A command with a quoted text and options.
static void print_labelled(FILE *script, const char *command, const char *text, const char *options, const picture_format *format) {
    fprintf(script, "%s ", command);
    print_quoted(script, text, format);
    fprintf(script, " %s\n", options);
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
                         const picture_format *format) {
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
    if (*series->label) print_quoted(script, series->label, format);
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
    const picture_format *format;
    range x, y;
} picture;

// A carom_text_printer of the whole script: settings, key, series, data.
static carom_status print_script(FILE *script, const void *content, carom_error *error) {
    (void)error;
    const picture *drawn = content;
    const carom_plot *plot = drawn->plot;
    const picture_format *format = drawn->format;
    const range x = pad(drawn->x, drawn->y), y = pad(drawn->y, drawn->x);
    fprintf(script, "set terminal %s\nset encoding utf8\n", format->terminal);
    print_labelled(script, "set title", plot->title, "noenhanced font ',18' offset 0,0.3", format);
    print_labelled(script, "set xlabel", plot->x_label, "noenhanced", format);
    print_labelled(script, "set ylabel", plot->y_label, "noenhanced", format);
    // Ranges with margins; grid, zero lines and borders in quiet colours.
    fprintf(script, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", x.least, x.most, y.least, y.most);
    fputs("set grid lt 1 lw 1 lc rgb '#e6e6e6'\n"
          "set xzeroaxis lt 1 lw 1 lc rgb '#a0a0a0'\n"
          "set yzeroaxis lt 1 lw 1 lc rgb '#a0a0a0'\n"
          "set border 3 lw 1 lc rgb '#606060'\n"
          "set tics nomirror out textcolor rgb '#202020'\n"
          "set clip two\n"
          "set lmargin 12\nset rmargin 4\n",
          script);
    // 1, whose logarithm is 0, is no origin.
    if (plot->log_x) fputs("unset yzeroaxis\n", script);
    if (plot->log_x) print_decades(script, x);
    if (plot->equal) fputs("set size ratio -1\n", script);

    // The key stands below the picture, in two columns where they fit; the margin grows with it.
    int entries = 0, columns = KEY_COLUMNS;
    int64_t dots = 0;
    for (int s = 0; s < plot->series_count; s++) {
        const carom_plot_series *series = &plot->series[s];
        if (series->style == CAROM_PLOT_DOTS) dots += series->count;
        entries += series->count && *series->label;
        if (series->count && strlen(series->label) > KEY_LABEL) columns = 1;
    }
    const int rows = (entries + columns - 1) / columns;
    fprintf(
        script,
        "set key at screen 0.5,0.012 bottom center vertical maxrows %d Left reverse noenhanced samplen 2 spacing 1.3 width 2 font ',13'\n"
        "set bmargin %g\n",
        rows ? rows : 1, 4.2 + 1.25 * rows);

    // Of too many dots, every `stride`-th is drawn.
    const int64_t stride = (dots + format->dots - 1) / format->dots;
    for (int s = 0; s < plot->series_count; s++) print_data(script, &plot->series[s], s, stride > 1 ? stride : 1, drawn->x);

    // Marks come after everything else, and measurements after them. Where the picture does not say otherwise, labelled series get a colour
    // each, except hulls, traces and guides, which are grey; one without a label belongs to the series before it.
    const char *separator = "plot ";
    for (int layer = 0; layer <= 2; layer++)
        for (int s = 0, colour = -1; s < plot->series_count; s++) {
            const carom_plot_series *series = &plot->series[s];
            const carom_plot_style style = series->style;
            const bool grey = style == CAROM_PLOT_DASHES || style == CAROM_PLOT_TRACES || style == CAROM_PLOT_GUIDE ||
                              style == CAROM_PLOT_MEASURED || style == CAROM_PLOT_GROUND;
            if (!grey && (*series->label || colour < 0)) colour++;
            const int its_layer = style == CAROM_PLOT_MEASURED ? 2 : style == CAROM_PLOT_MARKS;
            if (!series->count || its_layer != layer) continue;
            fputs(separator, script);
            separator = ", ";
            const int look = drawn->looks ? drawn->looks[s] : colour < 0 ? 0 : colour % CAROM_PLOT_LOOKS;
            print_series(script, series, s, carom_plot_looks[look], dots, format);
        }
    fputs("\n", script);
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------- running gnuplot

extern char **environ;

// Are these bytes at this place of the file?
static bool file_has(int descriptor, off_t offset, const char *bytes, size_t size) {
    // Longer than any beginning or end of a picture.
    char found[16];
    return offset >= 0 && pread(descriptor, found, size, offset) == (ssize_t)size && !memcmp(found, bytes, size);
}

// Runs `gnuplot -d` (without the settings of the user) on a script, and waits. The picture must be whole then.
static carom_status run_gnuplot(FILE *script, const picture_format *format, int output, const char *path, carom_error *error) {
    FILE *messages = tmpfile();
    if (!messages) return carom_fail_system(error, errno, "%s: no temporary file", path);
    // posix_spawn wants arguments that could be written to. There is no shell in between.
    char program[] = "gnuplot", defaults[] = "-d";
    char *const arguments[] = {program, defaults, NULL};
    posix_spawn_file_actions_t streams;
    pid_t child;
    bool started = !posix_spawn_file_actions_init(&streams);
    if (started) {
        posix_spawn_file_actions_adddup2(&streams, fileno(script), STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&streams, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&streams, fileno(messages), STDERR_FILENO);
        started = !posix_spawnp(&child, program, &streams, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&streams);
    }
    int outcome = 0;
    while (started && waitpid(child, &outcome, 0) < 0 && errno == EINTR) continue;

    // gnuplot ends with 0 even when it could not write, and leaves an empty or a cut file. Up to three bytes may follow the end of a whole
    // one.
    struct stat about;
    bool whole = false;
    if (started && !fstat(output, &about) && file_has(output, 0, format->kind.start, strlen(format->kind.start)))
        for (int extra = 0; extra < 4 && !whole; extra++)
            whole = file_has(output, about.st_size - (off_t)format->end_size - extra, format->end, format->end_size);

    // 127 is the other way to learn that there is no such program (POSIX, posix_spawn).
    carom_status status = CAROM_OK;
    if (!started || (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 127)) {
        status = carom_fail(error, CAROM_UNSUPPORTED, "%s: pictures are drawn by gnuplot, which was not found", path);
    } else if (!whole) {
        char said[CAROM_MESSAGE_SIZE / 2];
        rewind(messages);
        const size_t size = fread(said, 1, sizeof said - 1, messages);
        said[size] = '\0';
        status = carom_fail(error, CAROM_IO_FAILED, "%s: gnuplot could not write the picture: %s", path,
                            size ? said : "it said nothing (disk full?)");
    }
    fclose(messages);
    return status;
}

// Draws a picture, and gives it its place or throws it away.
static carom_status draw(const carom_plot *plot, const int *looks, const char *path, bool keeps, carom_error *error) {
    if (!*path) return carom_fail(error, CAROM_BAD_INPUT, "an empty text cannot name a picture");
    // The format by the ending of the name.
    picture drawn = {.plot = plot, .looks = looks, .x = {INFINITY, -INFINITY}, .y = {INFINITY, -INFINITY}};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (!strcasecmp(ending, formats[i].ending)) drawn.format = &formats[i];
    if (!drawn.format) return carom_fail(error, CAROM_BAD_INPUT, "%s: a picture's name must end in .png or .svg", path);

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

    carom_temporary temporary;
    int descriptor;
    carom_status status = carom_temporary_create(path, &drawn.format->kind, &temporary, &descriptor, error);
    if (status) return status;
    FILE *script = tmpfile();
    if (!script) status = carom_fail_system(error, errno, "%s: no temporary file", path);
    if (!status) status = carom_text_print(script, "the temporary script of the picture", print_script, &drawn, error);
    if (!status) rewind(script);
    if (!status) status = run_gnuplot(script, drawn.format, descriptor, path, error);
    if (close(descriptor) && !status) status = carom_fail_system(error, errno, "%s: the file cannot be written", path);
    if (!status && keeps) status = carom_temporary_commit(&temporary, error);
    if (script) fclose(script);
    carom_temporary_discard(&temporary);
    return status;
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
