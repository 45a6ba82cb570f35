// SPDX-License-Identifier: Apache-2.0
// A sheet of paper. gnuplot serves as a canvas whose unit is a millimetre.
#include "io/plot/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CIRCLE = 24, BASE_FONT = 8 };

carom_mark *carom_paper_add(carom_paper *p, int points) {
    if (p->marks == p->capacity) {
        const int capacity = 2 * p->capacity + 64;
        carom_mark *grown = realloc(p->mark, (size_t)capacity * sizeof *grown);
        if (!grown) p->failed = true;
        if (grown) p->mark = grown;
        if (grown) p->capacity = capacity;
    }
    carom_mark *made = p->failed ? &p->spare : &p->mark[p->marks++];
    *made = (carom_mark){
        .point = carom_arena_take(&p->arena, 2 * (size_t)points, sizeof(double)), .fill = CAROM_NO_COLOUR, .line = CAROM_NO_COLOUR};
    p->failed = p->failed || p->arena.failed;
    made->points = p->failed ? 0 : points;
    return made;
}

void carom_paper_shape(carom_paper *p, int points, const double *at, int64_t fill, int64_t line, double width) {
    carom_mark *made = carom_paper_add(p, points);
    made->closed = true;
    if (made->points) memcpy(made->point, at, 2 * (size_t)points * sizeof *at);
    made->fill = fill;
    made->line = line;
    made->width = width;
}

void carom_paper_line(carom_paper *p, double x0, double y0, double x1, double y1, int64_t colour, double width) {
    carom_paper_shape(p, 2, (const double[4]){x0, y0, x1, y1}, CAROM_NO_COLOUR, colour, width);
    if (!p->failed) p->mark[p->marks - 1].closed = false;
}

void carom_paper_dot(carom_paper *p, double x, double y, double radius, int64_t fill, int64_t line, double width) {
    double circle[2 * CIRCLE];
    for (int i = 0; i < CIRCLE; i++) {
        circle[2 * i] = x + radius * cos(6.283185307179586 * i / CIRCLE);
        circle[2 * i + 1] = y + radius * sin(6.283185307179586 * i / CIRCLE);
    }
    carom_paper_shape(p, CIRCLE, circle, fill, line, width);
}

void carom_paper_text(carom_paper *p, double x, double y, int align, double font, const char *text) {
    carom_mark *made = carom_paper_add(p, 1);
    char *copy = carom_arena_take(&p->arena, strlen(text) + 1, 1);
    if (!copy || !made->points) return;
    memcpy(copy, text, strlen(text) + 1);
    made->point[0] = x;
    made->point[1] = y;
    made->text = copy;
    made->align = align;
    made->font = font;
}

void carom_paper_arrow(carom_paper *p, const double from[2], const double to[2], int64_t colour, double width) {
    const double length = hypot(to[0] - from[0], to[1] - from[1]);
    if (!(length > 0)) return;
    const double x = (to[0] - from[0]) / length, y = (to[1] - from[1]) / length;
    const double head = fmin(1.6 + 0.25 * width, 0.8 * length), half = 0.38 * head,
                 thick = fmin(0.25 * CAROM_PAPER_POINT * width, 0.6 * half);
    // Counter-clockwise: along the arrow, and to its left.
    const double along[7] = {0, length - head, length - head, length, length - head, length - head, 0};
    const double left[7] = {-thick, -thick, -half, 0, half, thick, thick};
    double corners[14];
    for (int i = 0; i < 7; i++) {
        corners[2 * i] = from[0] + along[i] * x - left[i] * y;
        corners[2 * i + 1] = from[1] + along[i] * y + left[i] * x;
    }
    carom_paper_shape(p, 7, corners, colour, CAROM_NO_COLOUR, 0);
}

// What is printed, and how.
typedef struct printed_paper {
    const carom_paper *paper;
    const carom_gnuplot_format *format;
} printed_paper;

// A carom_text_printer of the marks.
static carom_status print_marks(FILE *script, const void *content, carom_error *error) {
    (void)error;
    const printed_paper *printed = content;
    const carom_paper *p = printed->paper;
    const carom_gnuplot_format *format = printed->format;
    carom_gnuplot_print_terminal(script, format, &(carom_gnuplot_sheet){.size = p->size, .font = BASE_FONT});
    fprintf(script,
            "unset border\nunset tics\nunset key\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
            "set xrange [0:%.6g]\nset yrange [0:%.6g]\n",
            p->size.width, p->size.height);
    for (int i = 0; i < p->marks; i++) {
        const carom_mark *m = &p->mark[i];
        if (m->text) {
            static const char *const sides[] = {"left", "center", "right"};
            fputs("set label ", script);
            carom_gnuplot_print_text(script, m->text, 0, format);
            fprintf(script, " at %.6g,%.6g %s font ',%g' noenhanced front\n", m->point[0], m->point[1], sides[m->align + 1], m->font);
            continue;
        }
        fprintf(script, "$m%d << EOD\n", i);
        for (int k = 0; k < m->points; k++) {
            const double *at = m->point + 2 * k;
            if (isfinite(at[0]))
                fprintf(script, "%.6g %.6g\n", at[0], at[1]);
            else
                fputc('\n', script);
        }
        if (m->closed && m->points) fprintf(script, "%.6g %.6g\n", m->point[0], m->point[1]);
        fputs("EOD\n", script);
    }
    const char *separator = "plot ";
    for (int i = 0; i < p->marks; i++) {
        const carom_mark *m = &p->mark[i];
        if (m->text || !m->points) continue;
        if (m->fill != CAROM_NO_COLOUR) {
            fprintf(script, "%s$m%d using 1:2 with filledcurves closed fs solid noborder lc rgb '#%08llx' notitle", separator, i,
                    (unsigned long long)m->fill);
            separator = ", ";
        }
        if (m->line != CAROM_NO_COLOUR) {
            fprintf(script, "%s$m%d using 1:2 with lines%s lw %g lc rgb '#%08llx' notitle", separator, i, m->dashed ? " dt (7,5)" : "",
                    m->width, (unsigned long long)m->line);
            separator = ", ";
        }
    }
    fputs("\n", script);
    return CAROM_OK;
}

carom_status carom_paper_write(const carom_paper *paper, const char *path, carom_error *error) {
    printed_paper printed = {.paper = paper};
    const carom_status status = carom_gnuplot_find(path, &printed.format, error);
    if (status) return status;
    if (paper->failed || paper->arena.failed) return carom_fail_memory(error, "a picture");
    const carom_gnuplot_sheet sheet = {.size = paper->size, .font = BASE_FONT};
    return carom_gnuplot_draw(path, printed.format, &sheet, print_marks, &printed, true, error);
}

void carom_paper_free(carom_paper *paper) {
    carom_arena_free(&paper->arena);
    free(paper->mark);
    *paper = (carom_paper){0};
}
