// SPDX-License-Identifier: Apache-2.0
// Pictures by gnuplot. Script and data go through its standard input, the picture comes through its standard output: no shell, and no file
// name that gnuplot could take for a command.
#include <errno.h>
#include <locale.h>
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
     {"a PNG picture", "\x89PNG\r\n\x1a\n"},
     png_end,
     8,
     PNG_DOTS,
     true},
    {".svg",
     "svg noenhanced size 1200,900 font 'Sans,18' background rgb 'white'",
     {"an SVG picture that begins with <?xml", "<?xml"},
     svg_end,
     6,
     SVG_DOTS,
     false},
};

static const picture_format *find_format(const char *path) {
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (!strcasecmp(ending, formats[i].ending)) return &formats[i];
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------- what is shown

// Colours that people with any colour vision tell apart (Okabe & Ito 2008), strongest first.
static const unsigned palette[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000};

// Open shapes of different sizes, so that marks on the same point stay visible.
typedef struct mark {
    int shape;
    double size;
} mark;

enum { CIRCLE = 6, SQUARE = 4, TRIANGLE = 8, DIAMOND = 12, TIP_DOWN = 10, CROSS = 2, PLUS = 1 };

static const mark marks[] = {{CIRCLE, 3.4}, {SQUARE, 3}, {TRIANGLE, 2.4}, {DIAMOND, 1.9}, {TIP_DOWN, 2}, {CROSS, 1.8}, {PLUS, 1.8}};

enum { COLOURS = sizeof palette / sizeof *palette, MARKS = sizeof marks / sizeof *marks, KEY_COLUMNS = 2 };
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

static bool is_path(const carom_plot_series *series) { return series->style == CAROM_PLOT_PATH || series->style == CAROM_PLOT_TRACES; }

// The ranges of everything that is visible; false when nothing is.
static bool find_ranges(const carom_plot *plot, range *x, range *y) {
    *x = *y = (range){INFINITY, -INFINITY};
    for (int s = 0; s < plot->series_count; s++) {
        const carom_plot_series *series = &plot->series[s];
        if (plot->focus && is_path(series)) continue;
        for (int64_t i = 0; i < series->count; i++) {
            if (!is_visible(series, i)) continue;
            widen(x, series->x[i]);
            widen(y, series->y[i]);
        }
    }
    return x->least <= x->most;
}

static double extent_of(range covered) { return covered.most - covered.least; }

static double largest_of(range covered) { return fmax(fabs(covered.least), fabs(covered.most)); }

// Adds a margin. A range without extent of its own gets one: gnuplot cannot draw an empty range, and rounding must not fill the picture.
static range pad(range inner, range other) {
    double margin = 0.08 * extent_of(inner);
    if (extent_of(inner) <= 1e-9 * fmax(largest_of(inner), extent_of(other))) margin = 0.25 * extent_of(other);
    if (margin <= 1e-9 * largest_of(inner)) margin = 0.1 * fmax(largest_of(inner), largest_of(other));
    if (margin <= 0) margin = 1;
    return (range){inner.least - margin, inner.most + margin};
}

// ------------------------------------------------------------------------------------------------------------- the script

// Characters that every machine with gnuplot can draw. For one that no font has, gnuplot paints black bars over the whole PNG.
static bool is_drawable(unsigned long code) {
    const bool letters = code >= 0xa0 && code < 0x530;     // Latin, Greek, Cyrillic
    const bool symbols = code >= 0x1e00 && code < 0x2300;  // punctuation, indices, arrows, mathematics
    return code < 0x7f || letters || symbols;
}

// Any text in single quotes, those inside doubled: gnuplot runs what stands in backquotes within double quotes. Quotes at the very start
// are joined on, because gnuplot takes two of them for an empty text.
static void print_quoted(FILE *script, const char *text, const picture_format *format) {
    for (; *text == '\''; text++) fputs("\"'\".", script);
    fputc('\'', script);
    while (*text) {
        unsigned long code;
        const int length = carom_utf8_decode(text, &code);
        const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        if (!length || (format->drawn_here && !is_drawable(code) && !control))
            fputc('?', script);
        else if (control)
            fputc(' ', script);
        else
            fprintf(script, "%s%.*s", code == '\'' ? "'" : "", length, text);
        text += length ? length : 1;
    }
    fputc('\'', script);
}

static void print_labelled(FILE *script, const char *command, const char *text, const char *options, const picture_format *format) {
    fprintf(script, "%s ", command);
    print_quoted(script, text, format);
    fprintf(script, " %s\n", options);
}

static void print_axes(FILE *script, const carom_plot *plot, const picture_format *format, range x, range y) {
    const range padded_x = pad(x, y), padded_y = pad(y, x);
    print_labelled(script, "set title", plot->title, "noenhanced font ',18' offset 0,0.3", format);
    print_labelled(script, "set xlabel", plot->x_label, "noenhanced", format);
    print_labelled(script, "set ylabel", plot->y_label, "noenhanced", format);
    fprintf(script, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", padded_x.least, padded_x.most, padded_y.least, padded_y.most);
    fputs("set grid lt 1 lw 1 lc rgb '#e6e6e6'\n"
          "set xzeroaxis lt 1 lw 1 lc rgb '#a0a0a0'\n"
          "set yzeroaxis lt 1 lw 1 lc rgb '#a0a0a0'\n"
          "set border 3 lw 1 lc rgb '#606060'\n"
          "set tics nomirror out textcolor rgb '#202020'\n"
          "set clip two\n"
          "set lmargin 12\nset rmargin 4\n",
          script);
    if (plot->equal) fputs("set size ratio -1\n", script);
}

// The key stands below the picture, in two columns where they fit; the margin grows with it.
static void print_key(FILE *script, const carom_plot *plot) {
    int entries = 0, columns = KEY_COLUMNS;
    for (int s = 0; s < plot->series_count; s++) {
        if (!plot->series[s].count || !*plot->series[s].label) continue;
        entries++;
        if (strlen(plot->series[s].label) > KEY_LABEL) columns = 1;
    }
    const int rows = (entries + columns - 1) / columns;
    fprintf(
        script,
        "set key at screen 0.5,0.012 bottom center vertical maxrows %d Left reverse noenhanced samplen 2 spacing 1.3 width 2 font ',13'\n"
        "set bmargin %g\n",
        rows ? rows : 1, 4.2 + 1.25 * rows);
}

// Lines of which an empty line ends one and begins another.
static bool is_broken_by_gaps(const carom_plot_series *series) {
    return series->style == CAROM_PLOT_TRACES || series->style == CAROM_PLOT_LINE || series->style == CAROM_PLOT_GUIDE ||
           series->style == CAROM_PLOT_AREAS;
}

// One point; those of paths become arrows: start and difference.
static void print_point(FILE *script, const carom_plot_series *series, int64_t i) {
    // An empty line ends one trace or area.
    if (!is_visible(series, i) && is_broken_by_gaps(series)) fputc('\n', script);
    if (!is_visible(series, i)) return;
    fprintf(script, "%.17g %.17g", series->x[i], series->y[i]);
    const bool path = series->style == CAROM_PLOT_PATH, arrow = path && i + 1 < series->count && is_visible(series, i + 1);
    if (arrow)
        fprintf(script, " %.17g %.17g", series->x[i + 1] - series->x[i], series->y[i + 1] - series->y[i]);
    else if (path)
        fputs(" 0 0", script);
    fputc('\n', script);
}

// The points of one series; every `stride`-th of dots, and of a line what shows.
static void print_data(FILE *script, const carom_plot_series *series, int index, int64_t stride, range x) {
    fprintf(script, "$s%d << EOD\n", index);
    const bool line = series->style == CAROM_PLOT_LINE || series->style == CAROM_PLOT_TRACES;
    for (int64_t i = 0; i < series->count;) {
        int64_t kept[CAROM_PLOT_KEPT] = {i}, next = i + (series->style == CAROM_PLOT_DOTS ? stride : 1);
        int count = 1;
        if (line) next = carom_plot_take_run(series, i, x.least, x.most, kept, &count);
        for (int k = 0; k < count; k++) print_point(script, series, kept[k]);
        i = next;
    }
    // A hull is closed.
    if (series->style == CAROM_PLOT_DASHES && series->count) fprintf(script, "%.17g %.17g\n", series->x[0], series->y[0]);
    fputs("EOD\n", script);
}

// Dots shrink and fade as they become many, so that the density of a set shows.
static void print_dots(FILE *script, int index, unsigned colour, int64_t dots) {
    const double size = dots > 20000 ? 0.25 : dots > 2000 ? 0.4 : dots > 100 ? 0.6 : 0.9;
    const unsigned transparency = dots > 20000 ? 0xb0 : dots > 2000 ? 0x90 : dots > 100 ? 0x60 : 0x20;
    fprintf(script, "$s%d using 1:2 with points pt 7 ps %g lc rgb '#%02x%06x' notitle, NaN with points pt 7 ps 1 lc rgb '#%06x'", index,
            size, transparency, colour, colour);
}

static void print_path(FILE *script, int index, unsigned colour) {
    fprintf(script, "$s%d using 1:2 with points pt 7 ps 0.6 lc rgb '#%06x' notitle, ", index, colour);
    fprintf(script, "$s%d using 1:2:3:4 with vectors head filled size graph 0.012,18 lw 1.5 lc rgb '#%06x'", index, colour);
}

// Filled, then outlined with a dot on each vertex, so that segments and points show too.
static void print_areas(FILE *script, int index, unsigned colour) {
    fprintf(script, "$s%d using 1:2 with filledcurves closed fs solid noborder lc rgb '#b0%06x' notitle, ", index, colour);
    fprintf(script, "$s%d using 1:2 with linespoints pt 7 ps 0.7 lw 2.5 lc rgb '#%06x'", index, colour);
}

static void print_series(FILE *script, const carom_plot_series *series, int index, int colour_index, int64_t dots,
                         const picture_format *format) {
    const unsigned colour = palette[colour_index % COLOURS];
    const mark sign = marks[colour_index % MARKS];
    switch (series->style) {
    case CAROM_PLOT_DOTS: print_dots(script, index, colour, dots); break;
    case CAROM_PLOT_MARKS:
        fprintf(script, "$s%d using 1:2 with points pt %d ps %g lw 2.5 lc rgb '#%06x'", index, sign.shape, sign.size, colour);
        break;
    case CAROM_PLOT_PATH: print_path(script, index, colour); break;
    case CAROM_PLOT_DASHES: fprintf(script, "$s%d using 1:2 with lines dt (8,6) lw 1.5 lc rgb '#505050'", index); break;
    case CAROM_PLOT_AREAS: print_areas(script, index, colour); break;
    case CAROM_PLOT_TRACES: fprintf(script, "$s%d using 1:2 with lines lw 1.2 lc rgb '#40404040'", index); break;
    case CAROM_PLOT_LINE: fprintf(script, "$s%d using 1:2 with lines lw 2.5 lc rgb '#%06x'", index, colour); break;
    case CAROM_PLOT_GUIDE: fprintf(script, "$s%d using 1:2 with lines dt (7,6) lw 1.8 lc rgb '#707070'", index); break;
    }
    if (!*series->label) {
        fputs(" notitle", script);
        return;
    }
    fputs(" title ", script);
    print_quoted(script, series->label, format);
}

// Hulls, traces and guides are grey.
static bool is_coloured(const carom_plot_series *series) {
    return series->style != CAROM_PLOT_DASHES && series->style != CAROM_PLOT_TRACES && series->style != CAROM_PLOT_GUIDE;
}

// Either the marks or everything else. Labelled series get a colour each; one without a label belongs to the series before it.
static void print_layer(FILE *script, const carom_plot *plot, bool of_marks, int64_t dots, int *printed, const picture_format *format) {
    int colour = -1;
    for (int s = 0; s < plot->series_count; s++) {
        const carom_plot_series *series = &plot->series[s];
        if (is_coloured(series) && (*series->label || colour < 0)) colour++;
        if (!series->count || (series->style == CAROM_PLOT_MARKS) != of_marks) continue;
        if ((*printed)++) fputs(", ", script);
        print_series(script, series, s, colour < 0 ? 0 : colour, dots, format);
    }
}

static int64_t count_dots(const carom_plot *plot) {
    int64_t dots = 0;
    for (int s = 0; s < plot->series_count; s++)
        if (plot->series[s].style == CAROM_PLOT_DOTS) dots += plot->series[s].count;
    return dots;
}

static void print_script(FILE *script, const carom_plot *plot, const picture_format *format, range x, range y) {
    const int64_t dots = count_dots(plot), stride = (dots + format->dots - 1) / format->dots;
    fprintf(script, "set terminal %s\nset encoding utf8\n", format->terminal);
    print_axes(script, plot, format, x, y);
    print_key(script, plot);
    for (int s = 0; s < plot->series_count; s++) print_data(script, &plot->series[s], s, stride > 1 ? stride : 1, x);
    fputs("plot ", script);
    int printed = 0;
    print_layer(script, plot, false, dots, &printed, format);
    print_layer(script, plot, true, dots, &printed, format);
    fputs("\n", script);
}

// The host program may have a locale with a decimal comma.
static carom_status write_script(FILE *script, const carom_plot *plot, const picture_format *format, range x, range y, carom_error *error) {
    const locale_t neutral = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!neutral) return carom_fail_memory(error, "picture");
    const locale_t callers = uselocale(neutral);
    print_script(script, plot, format, x, y);
    uselocale(callers);
    freelocale(neutral);
    if (fflush(script) || ferror(script))
        return carom_fail(error, CAROM_IO_FAILED, "the temporary script of the picture: %s", strerror(errno));
    rewind(script);
    return CAROM_OK;
}

// --------------------------------------------------------------------------------------------------------- running gnuplot

extern char **environ;

// Runs `gnuplot -d` (no settings of the user's) with the three standard streams given, and waits. False when it could not be started.
static bool run_gnuplot(FILE *script, int picture, FILE *messages) {
    char program[] = "gnuplot", defaults[] = "-d";
    char *const arguments[] = {program, defaults, NULL};
    posix_spawn_file_actions_t streams;
    if (posix_spawn_file_actions_init(&streams)) return false;
    posix_spawn_file_actions_adddup2(&streams, fileno(script), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&streams, picture, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&streams, fileno(messages), STDERR_FILENO);
    pid_t child;
    const bool started = !posix_spawnp(&child, program, &streams, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&streams);
    int outcome = 0;
    while (started && waitpid(child, &outcome, 0) < 0 && errno == EINTR) continue;
    // 127 is the other way to learn that there is no such program (POSIX, posix_spawn). Otherwise the status says nothing: gnuplot ends
    // with 0 even when it could not write.
    return started && !(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 127);
}

static bool file_has(int descriptor, off_t offset, const char *bytes, size_t size) {
    char found[16];
    return offset >= 0 && pread(descriptor, found, size, offset) == (ssize_t)size && !memcmp(found, bytes, size);
}

// A failed plot leaves an empty or a cut file.
static bool is_whole(int picture, const picture_format *format) {
    struct stat about;
    if (fstat(picture, &about) || !file_has(picture, 0, format->kind.start, strlen(format->kind.start))) return false;
    for (off_t back = (off_t)format->end_size; back < (off_t)format->end_size + 4; back++)
        if (file_has(picture, about.st_size - back, format->end, format->end_size)) return true;
    return false;
}

static carom_status fail_gnuplot(FILE *messages, const char *path, carom_error *error) {
    char text[CAROM_MESSAGE_SIZE / 2];
    rewind(messages);
    const size_t size = fread(text, 1, sizeof text - 1, messages);
    text[size] = '\0';
    return carom_fail(error, CAROM_IO_FAILED, "%s: gnuplot could not write the picture: %s", path,
                      size ? text : "it said nothing (disk full?)");
}

static carom_status draw(FILE *script, int picture, const picture_format *format, const char *path, carom_error *error) {
    FILE *messages = tmpfile();
    if (!messages) return carom_fail(error, CAROM_IO_FAILED, "%s: no temporary file: %s", path, strerror(errno));
    carom_status status = CAROM_OK;
    if (!run_gnuplot(script, picture, messages))
        status = carom_fail(error, CAROM_UNSUPPORTED, "%s: pictures are drawn by gnuplot, which was not found", path);
    else if (!is_whole(picture, format))
        status = fail_gnuplot(messages, path, error);
    fclose(messages);
    return status;
}

carom_status carom_plot_write(const carom_plot *plot, const char *path, carom_error *error) {
    const picture_format *format = find_format(path);
    if (!format) return carom_fail(error, CAROM_BAD_INPUT, "%s: a picture's name must end in .png or .svg", path);
    range x, y;
    if (!find_ranges(plot, &x, &y)) return carom_fail(error, CAROM_BAD_INPUT, "%s: there is nothing to draw", path);

    carom_temporary temporary;
    int picture;
    carom_status status = carom_temporary_create(path, &format->kind, &temporary, &picture, error);
    if (status) return status;
    FILE *script = tmpfile();
    if (!script) status = carom_fail(error, CAROM_IO_FAILED, "%s: no temporary file: %s", path, strerror(errno));
    if (!status) status = write_script(script, plot, format, x, y, error);
    if (!status) status = draw(script, picture, format, path, error);
    if (close(picture) && !status) status = carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", path, strerror(errno));
    if (!status) status = carom_temporary_commit(&temporary, error);
    if (script) fclose(script);
    carom_temporary_discard(&temporary);
    return status;
}
