// SPDX-License-Identifier: Apache-2.0
// Pictures of numbers over numbers: panels on a sheet of paper, with one title and one key, as scripts for gnuplot.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/io.h"
#include "io/plot/key.h"
#include "io/plot/panel.h"

// On paper [mm]: the sample of an entry of the key, margins beside a plot without the label on the left, a line of a label, numbers at an
// axis, a bar of colours with its numbers.
#define SAMPLE       8.0
#define LEFT_MARGIN  15.0
#define RIGHT_MARGIN 5.0
#define LABEL_ROW    4.6
#define BELOW_AXIS   4.0
#define COLOUR_BAR   20.0
// Height of a plot at least, as a share of the width of its panel; width of a panel at least [mm], unless it is alone.
#define LEAST_PLOT  0.4
#define LEAST_PANEL 55.0
// A number beside an axis with the space to the next one, and the space between numbers below one [mm].
#define TICK_ROOM  7.0
#define TICK_SPACE 3.0
enum { FONT = 9, TITLE_FONT = 10, TEXT_SIZE = 512, MOST_STEPS = 7 };

// What the script of a picture is printed from.
typedef struct picture {
    carom_panel *panels;
    int count, columns, rows;
    const carom_gnuplot_format *format;
    carom_gnuplot_sheet sheet;
    carom_arena *arena;
} picture;

// The key of all panels.
typedef struct picture_key {
    FILE *script;
    const picture *drawn;
    carom_key_entry *entries;
    const carom_panel **panel;  // of each entry, and its series
    int *series, count;
    double top;  // [mm]
} picture_key;

// ------------------------------------------------------------------------------------------------------------------- key

// "  -> (x, y)" of a far mark, where one panel has one of this series.
static void describe_far(const carom_panel *panel, int index, char *text, size_t size) {
    const carom_plot_series *series = &panel->plot->series[index];
    const carom_plot_window *shown = &panel->shown;
    int64_t far = 0, last = 0;
    for (int64_t i = 0; i < series->count && (series->style == CAROM_PLOT_MARKS || series->style == CAROM_PLOT_START); i++) {
        if (!isfinite(series->x[i]) || !isfinite(series->y[i])) continue;
        if (series->x[i] >= shown->x[0] && series->x[i] <= shown->x[1] && series->y[i] >= shown->y[0] && series->y[i] <= shown->y[1])
            continue;
        far++;
        last = i;
    }
    // U+00A0 is a blank at which no line ends, U+2192 an arrow. What rounding made of zero is zero.
    const double x = far ? series->x[last] : 0, y = far ? series->y[last] : 0, rounding = 1e-9 * fmax(fabs(x), fabs(y));
    if (far == 1)
        snprintf(text, size, " \u2192\u00a0(%.3g,\u00a0%.3g)", fabs(x) < rounding ? 0 : x, fabs(y) < rounding ? 0 : y);
    else if (far)
        snprintf(text, size, " (%lld beyond the edge)", (long long)far);
}

// The entries of the key: those of the first panel, and of others what the panels before them have not.
static carom_status list_key(picture_key *key, carom_error *error) {
    const picture *drawn = key->drawn;
    size_t room = 0;
    for (int k = 0; k < drawn->count; k++) room += (size_t)drawn->panels[k].plot->series_count;
    key->entries = carom_arena_take(drawn->arena, room, sizeof *key->entries);
    key->panel = carom_arena_take(drawn->arena, room, sizeof *key->panel);
    key->series = carom_arena_take(drawn->arena, room, sizeof *key->series);
    char(*texts)[TEXT_SIZE] = carom_arena_take(drawn->arena, room, sizeof *texts);
    if (drawn->arena->failed) return carom_fail_memory(error, "a picture");
    for (int k = 0; k < drawn->count; k++)
        for (int s = 0; s < drawn->panels[k].plot->series_count; s++) {
            const carom_panel *panel = &drawn->panels[k];
            const carom_plot_series *series = &panel->plot->series[s];
            bool known = !series->count || !*carom_series_label(series);
            for (int i = 0; i < key->count && !known; i++)
                known = key->panel[i] != panel &&
                        !strcmp(carom_series_label(&key->panel[i]->plot->series[key->series[i]]), carom_series_label(series));
            if (known) continue;
            char far[64] = "";
            if (drawn->count == 1) describe_far(panel, s, far, sizeof far);
            const char *shades = panel->plot->dark ? "; brighter: more in a dot" : "; darker: more in a dot";
            snprintf(texts[key->count], TEXT_SIZE, "%.400s%s%s", carom_series_label(series), far,
                     carom_panel_is_shaded(panel, s) ? shades : "");
            key->panel[key->count] = panel;
            key->series[key->count] = s;
            key->entries[key->count] = (carom_key_entry){SAMPLE, texts[key->count]};
            key->count++;
        }
    return CAROM_OK;
}

static unsigned letters(const picture *drawn) { return carom_panel_inks_of(drawn->sheet.dark).letters; }

// A carom_key_visitor that prints labels: texts, and samples as points or lines.
static void print_entry(void *user, int entry, double x, int row, const char *line) {
    const picture_key *key = user;
    FILE *script = key->script;
    const picture *drawn = key->drawn;
    const carom_plot_size size = drawn->sheet.size;
    const double y = (key->top - CAROM_KEY_ROW * (row + 0.5)) / size.height, left = x / size.width;
    if (line) {
        fputs("set label ", script);
        carom_gnuplot_print_text(script, line, 0, drawn->format);
        fprintf(script, " at screen %.6g,%.6g left font ',%d' noenhanced textcolor rgb '#%06x'\n", left, y, CAROM_KEY_FONT, letters(drawn));
        return;
    }
    const carom_panel *panel = key->panel[entry];
    const int s = key->series[entry];
    const carom_plot_look *look = carom_panel_look(panel, s);
    const carom_panel_pen pen = carom_panel_pen_of(panel, s);
    const double right = (x + SAMPLE) / size.width, middle = 0.5 * (left + right),
                 mark = carom_gnuplot_mark_size(drawn->format, &drawn->sheet);
    const unsigned colour = carom_panel_colour(panel, s);
    switch (panel->plot->series[s].style) {
    case CAROM_PLOT_DOTS: {
        // Of a shaded set dots from pale to strong.
        const int dots = carom_panel_is_shaded(panel, s) ? 5 : 1;
        for (int k = 0; k < dots; k++)
            fprintf(script, "set label '' at screen %.6g,%.6g point pt 7 ps %g lc rgb '#%06x'\n",
                    dots > 1 ? left + (right - left) * (k + 0.5) / dots : middle, y, 1.4 * mark,
                    dots > 1 ? carom_plot_shade_colour(colour, 1 << k, 1 << (dots - 1), panel->plot->dark) : colour);
        return;
    }
    case CAROM_PLOT_MARKS:
    case CAROM_PLOT_START: {
        const bool starts = panel->plot->series[s].style == CAROM_PLOT_START;
        fprintf(script, "set label '' at screen %.6g,%.6g point pt %d ps %g lw 2.4 lc rgb '#%06x'\n", middle, y,
                starts ? 7 : carom_panel_shape(look->shape), mark * CAROM_PLOT_MARK * (starts ? 0.8 : look->size), colour);
        return;
    }
    case CAROM_PLOT_MEASURED:
        fprintf(script, "set label '' at screen %.6g,%.6g point pt 13 ps %g lc rgb '#%06x'\n", middle, y, 1.7 * mark, colour);
        return;
    case CAROM_PLOT_COLOURED:
        // Its colours as in the bar.
        for (int k = 0; k < 5; k++)
            fprintf(script, "set label '' at screen %.6g,%.6g point pt 7 ps %g lc palette frac %g\n", left + (right - left) * (k + 0.5) / 5,
                    y, 1.4 * mark, k / 4.0);
        return;
    default: break;
    }
    fprintf(script, "set arrow from screen %.6g,%.6g to screen %.6g,%.6g %s%s lw %g lc rgb '#%06x'\n", left, y, right, y,
            panel->plot->series[s].style == CAROM_PLOT_PATH ? "head filled size screen 0.012,18" : "nohead", pen.dashes, pen.width,
            pen.colour);
}

// A carom_key_visitor that prints the title in the middle of the paper; its letters are wider than those of the key.
static void print_title(void *user, int entry, double x, int row, const char *line) {
    (void)entry, (void)x;
    const picture_key *key = user;
    if (!line) return;
    fputs("set label ", key->script);
    carom_gnuplot_print_text(key->script, line, 0, key->drawn->format);
    fprintf(key->script, " at screen 0.5,%.6g center font ',%d' noenhanced textcolor rgb '#%06x'\n",
            1 - (1.5 + LABEL_ROW * (row + 0.5)) / key->drawn->sheet.size.height, TITLE_FONT, letters(key->drawn));
}

// ---------------------------------------------------------------------------------------------------------------- script

// The least step between ticks, 1, 2 or 5 times a power of ten, at which the numbers of an axis have room beside each other; with seven
// steps at most.
static double tick_step(const double range[2], double length, bool upright) {
    const double extent = range[1] - range[0];
    double step = pow(10, floor(log10(extent / MOST_STEPS)));
    for (int k = 0; k < 12; k++, step *= k % 3 == 2 ? 2.5 : 2) {
        char least[32], most[32];
        snprintf(least, sizeof least, "%.6g", step * ceil(range[0] / step));
        snprintf(most, sizeof most, "%.6g", step * floor(range[1] / step));
        const double longest = (double)fmax((double)strlen(least), (double)strlen(most));
        const double room = upright ? TICK_ROOM : FONT * CAROM_KEY_CHARACTER / CAROM_KEY_FONT * longest + TICK_SPACE;
        if (step * MOST_STEPS >= extent && step * length / extent >= room) break;
    }
    return step;
}

// Ticks with room for their numbers; the same on both axes of a picture with equal units.
static void print_ticks(FILE *script, const carom_panel *panel) {
    const carom_plot_window *shown = &panel->shown;
    const double wide = shown->x[1] - shown->x[0], high = shown->y[1] - shown->y[0];
    const double scale = fmin(panel->width / wide, panel->height / high);
    double x = tick_step(shown->x, panel->plot->equal ? scale * wide : panel->width, false);
    double y = tick_step(shown->y, panel->plot->equal ? scale * high : panel->height, true);
    if (panel->plot->equal) x = y = fmax(x, y);
    if (panel->plot->rows) y = 1;
    fprintf(script, "set xtics %.17g\nset ytics %.17g\n", x, y);
}

// Everything of one panel: labels, letter, place, bar of colours, plot.
static carom_status print_panel(FILE *script, const picture *drawn, int index, int x_columns, int y_columns, carom_error *error) {
    carom_panel *panel = &drawn->panels[index];
    const carom_plot *plot = panel->plot;
    const carom_plot_size size = drawn->sheet.size;
    const unsigned ink = letters(drawn);
    fputs("set xlabel ", script);
    carom_gnuplot_print_text(script, plot->x_label, x_columns, drawn->format);
    fprintf(script, " noenhanced textcolor rgb '#%06x'\nset ylabel ", ink);
    carom_gnuplot_print_text(script, plot->y_label, y_columns, drawn->format);
    // Further lines of the label stand to the right of the first: it moves to the left.
    fprintf(script, " offset %g,0 noenhanced textcolor rgb '#%06x'\n", -1.2 * ((int)strlen(plot->y_label) / y_columns), ink);
    const double top = panel->bottom + panel->height;
    fprintf(script, "set lmargin at screen %.6g\nset rmargin at screen %.6g\nset tmargin at screen %.6g\nset bmargin at screen %.6g\n",
            panel->left / size.width, (panel->left + panel->width) / size.width, top / size.height, panel->bottom / size.height);
    if (drawn->count > 1)
        fprintf(script, "set label '(%c)' at screen %.6g,%.6g left font ',%d' noenhanced textcolor rgb '#%06x'\n", 'a' + index,
                (panel->left - LEFT_MARGIN + 1) / size.width, (top + 0.5 * LABEL_ROW + 1) / size.height, TITLE_FONT, ink);
    fprintf(script,
            "set xtics autofreq nomirror out scale 0.5 textcolor rgb '#%06x'\nset ytics autofreq nomirror out scale 0.5 textcolor rgb "
            "'#%06x'\n",
            ink, ink);
    print_ticks(script, panel);
    if (plot->colours) {
        fprintf(script, "set colorbox vertical user origin screen %.6g,%.6g size screen %.6g,%.6g noborder\nset cblabel ",
                (panel->left + panel->width + 3) / size.width, panel->bottom / size.height, 3 / size.width, panel->height / size.height);
        carom_gnuplot_print_text(script, plot->colour_label ? plot->colour_label : "", y_columns, drawn->format);
        fprintf(script, " noenhanced textcolor rgb '#%06x'\nset cbtics textcolor rgb '#%06x'\n", ink, ink);
    }
    const carom_status status =
        carom_panel_print(script, panel, index, carom_gnuplot_mark_size(drawn->format, &drawn->sheet), size.width, drawn->arena, error);
    fputs("unset label\nunset arrow\n", script);
    return status;
}

// A carom_text_printer of the whole script. The picture is higher where its texts and rows need room: long labels have several lines.
static carom_status print_script(FILE *script, const void *content, carom_error *error) {
    picture drawn = *(const picture *)content;
    const carom_plot *first = drawn.panels->plot;
    picture_key key = {.script = script, .drawn = &drawn};
    const carom_status listed = list_key(&key, error);
    if (listed) return listed;
    carom_plot_size *size = &drawn.sheet.size;

    // What is beside, below and above the plots: lines of the longest labels, numbers, letters.
    bool coloured = false;
    size_t x_length = 0, y_length = 0;
    for (int k = 0; k < drawn.count; k++) {
        const carom_plot *plot = drawn.panels[k].plot;
        coloured = coloured || plot->colours;
        x_length = strlen(plot->x_label) > x_length ? strlen(plot->x_label) : x_length;
        y_length = strlen(plot->y_label) > y_length ? strlen(plot->y_label) : y_length;
    }
    const double character = CAROM_KEY_CHARACTER / CAROM_KEY_FONT, share = size->width / drawn.columns;
    const double right = RIGHT_MARGIN + (coloured ? COLOUR_BAR : 0);
    // A label on the left may be a little longer than the plot is high.
    const int y_columns = (int)(1.25 * LEAST_PLOT * share / (FONT * character)), y_lines = 1 + (int)y_length / y_columns;
    const double left = LEFT_MARGIN + LABEL_ROW * y_lines, width = share - left - right;
    const int x_columns = (int)(width / (FONT * character)), x_lines = 1 + (int)x_length / x_columns;
    const double below = LABEL_ROW * (x_lines + 1) + BELOW_AXIS, above = drawn.count > 1 ? LABEL_ROW + 2 : 0;
    const double key_height =
        CAROM_KEY_ROW * carom_key_flow(key.count, key.entries, RIGHT_MARGIN, size->width - RIGHT_MARGIN, NULL, NULL) + 2;
    const carom_key_entry title = {0, first->title};
    const double title_width = (size->width - 3 * RIGHT_MARGIN) * CAROM_KEY_FONT / TITLE_FONT;
    const double title_height = *first->title ? LABEL_ROW * carom_key_flow(1, &title, 0, title_width, NULL, NULL) + 4 : 3;
    const double fixed = title_height + key_height + drawn.rows * (below + above);
    size->height = fmax(size->height, fixed + drawn.rows * LEAST_PLOT * share);
    const double height = (size->height - fixed) / drawn.rows;
    for (int k = 0; k < drawn.count; k++) {
        carom_panel *panel = &drawn.panels[k];
        panel->left = share * (k % drawn.columns) + left;
        panel->bottom = key_height + below + (drawn.rows - 1 - k / drawn.columns) * (height + below + above);
        panel->width = width;
        panel->height = height;
        if (!panel->plot->equal) continue;
        // Equal units take the part that they need, in the middle.
        const double wide = panel->shown.x[1] - panel->shown.x[0], high = panel->shown.y[1] - panel->shown.y[0];
        const double scale = fmin(width / wide, height / high);
        panel->left += 0.5 * (width - scale * wide);
        panel->bottom += 0.5 * (height - scale * high);
        panel->width = scale * wide;
        panel->height = scale * high;
    }

    // The script. Colours of numbers go from dark blue to yellow, which is from dark to bright in grey, too (Nunez et al. 2018, "cividis").
    carom_gnuplot_print_terminal(script, drawn.format, &drawn.sheet);
    fputs("unset key\nset palette defined (0 '#00224e', 0.25 '#43506d', 0.5 '#7d7c78', 0.75 '#bcaf6f', 1 '#fee838')\nset format '%h'\nset "
          "multiplot\n",
          script);
    key.top = key_height - 1;
    if (*first->title) carom_key_flow(1, &title, 0, title_width, print_title, &key);
    carom_key_flow(key.count, key.entries, RIGHT_MARGIN, size->width - RIGHT_MARGIN, print_entry, &key);
    carom_status status = CAROM_OK;
    for (int k = 0; k < drawn.count && !status; k++) status = print_panel(script, &drawn, k, x_columns, y_columns, error);
    fputs("unset multiplot\n", script);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- drawing

// Draws a picture, and gives it its place or throws it away.
static carom_status draw(int count, const carom_plot *plots, const int *const *looks, const char *path, bool keeps, carom_error *error) {
    carom_arena arena = {0};
    picture drawn = {.count = count, .arena = &arena, .sheet = {.size = plots->size, .font = FONT, .dark = plots->dark}};
    carom_status status = carom_gnuplot_find(path, &drawn.format, error);
    if (!status && count > CAROM_PLOT_PANELS)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: a picture has %d panels at most", path, CAROM_PLOT_PANELS);
    if (!status && !(drawn.panels = carom_arena_take(&arena, (size_t)count, sizeof *drawn.panels)))
        status = carom_fail_memory(error, "a picture");
    for (int k = 0; k < count && !status; k++)
        status = carom_panel_create(&plots[k], looks ? looks[k] : NULL, path, &drawn.panels[k], error);
    if (!status) {
        const bool pdf = drawn.format->kind == CAROM_GNUPLOT_PDF;
        drawn.sheet.screen = plots->size.width <= 0 && !pdf;
        if (plots->size.width <= 0) drawn.sheet.size = pdf ? (carom_plot_size){174, 130.5} : (carom_plot_size){203.2, 152.4};
        // As many panels beside each other as have room, in rows of equal length.
        const int most = (int)fmax(1, floor(drawn.sheet.size.width / LEAST_PANEL));
        drawn.rows = (count + most - 1) / most;
        drawn.columns = (count + drawn.rows - 1) / drawn.rows;
        status = carom_gnuplot_draw(path, drawn.format, &drawn.sheet, print_script, &drawn, keeps, error);
    }
    carom_arena_free(&arena);
    return status;
}

carom_status carom_plot_write(const carom_plot *plot, const char *path, carom_error *error) {
    return draw(1, plot, NULL, path, true, error);
}

carom_status carom_plot_write_looks(const carom_plot *plot, const int *looks, const char *path, carom_error *error) {
    return draw(1, plot, &looks, path, true, error);
}

carom_status carom_plot_write_panels(int count, const carom_plot *panels, const int *const *looks, const char *path, carom_error *error) {
    return draw(count, panels, looks, path, true, error);
}

carom_status carom_plot_check(const char *path, carom_error *error) {
    // The smallest picture.
    static const double corner[] = {0, 1};
    const carom_plot_series line = {"", CAROM_PLOT_LINE, 2, corner, corner};
    const carom_plot plot = {.title = "", .x_label = "", .y_label = "", .series = &line, .series_count = 1};
    return draw(1, &plot, NULL, path, false, error);
}
