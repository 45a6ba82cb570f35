// SPDX-License-Identifier: Apache-2.0
// Surfaces of bodies: STL, binary or text, and the points and faces of Wavefront OBJ.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_internal.h"

enum { STL_HEADER = 80, STL_START = 84, STL_TRIANGLE = 50, TOKEN_SIZE = 64 };

// Words of a text, and the line that the last one is on.
typedef struct scanner {
    const char *at, *end;
    int line;
    bool fresh;  // the last word began its line
    char word[TOKEN_SIZE];
} scanner;

// The next word; comments of OBJ end their line. False at the end.
static bool next_word(scanner *scan) {
    scan->fresh = scan->line == 0;
    if (scan->fresh) scan->line = 1;
    while (scan->at < scan->end && (strchr(" \t\r\n\\", *scan->at) || *scan->at == '#')) {
        if (*scan->at == '#')
            while (scan->at + 1 < scan->end && scan->at[1] != '\n') scan->at++;
        // A backslash before the end of a line goes on with it.
        if (*scan->at == '\n' && !(scan->at > scan->end - 1)) scan->line++, scan->fresh = true;
        if (*scan->at == '\\' && scan->at + 1 < scan->end && scan->at[1] == '\n') scan->line++, scan->at++;
        scan->at++;
    }
    size_t length = 0;
    while (scan->at < scan->end && !strchr(" \t\r\n\\", *scan->at) && length + 1 < TOKEN_SIZE) scan->word[length++] = *scan->at++;
    scan->word[length] = 0;
    return length > 0;
}

static carom_status refuse(const char *path, const scanner *scan, const char *what, carom_error *error) {
    return carom_fail(error, CAROM_BAD_INPUT, "%s:%d: %s ('%.20s')", path, scan->line, what, scan->word);
}

static bool next_number(scanner *scan, double *value) {
    return next_word(scan) && carom_parse_number(scan->word, value) && isfinite(*value);
}

// Arrays that grow, of the caller's arena in the end.
typedef struct surface {
    double *point;
    int *triangle;
    int points, triangles;
    size_t point_room, triangle_room;
} surface;

static carom_status add_point(surface *s, const double x[3], carom_error *error) {
    if (s->points == CAROM_MAX_VERTICES)
        return carom_fail(error, CAROM_BAD_INPUT, "the surface has more than %d points", CAROM_MAX_VERTICES);
    if ((size_t)s->points == s->point_room) {
        s->point_room = 2 * s->point_room + 64;
        double *grown = realloc(s->point, 3 * s->point_room * sizeof *grown);
        if (!grown) return carom_fail_memory(error, "surface");
        s->point = grown;
    }
    for (int k = 0; k < 3; k++) s->point[3 * s->points + k] = x[k] + 0.0;
    s->points++;
    return CAROM_OK;
}

static carom_status add_triangle(surface *s, int a, int b, int c, carom_error *error) {
    if (s->triangles == CAROM_MAX_TRIANGLES)
        return carom_fail(error, CAROM_BAD_INPUT, "the surface has more than %d triangles", CAROM_MAX_TRIANGLES);
    if ((size_t)s->triangles == s->triangle_room) {
        s->triangle_room = 2 * s->triangle_room + 64;
        int *grown = realloc(s->triangle, 3 * s->triangle_room * sizeof *grown);
        if (!grown) return carom_fail_memory(error, "surface");
        s->triangle = grown;
    }
    const int corners[] = {a, b, c};
    memcpy(s->triangle + 3 * s->triangles++, corners, sizeof corners);
    return CAROM_OK;
}

// ----------------------------------------------------------------------------------------------------------------- STL

typedef struct corner {
    double x[3];
    int index;
} corner;

static int compare_corners(const void *first, const void *second) {
    const corner *a = first, *b = second;
    for (int k = 0; k < 3; k++)
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k] ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

// Corners of STL stand in each of their triangles: those at the same place become one, the first. Triangles without area, two of whose
// corners are one, are left out.
static carom_status weld(surface *s, carom_error *error) {
    const int corners = s->points;
    corner *sorted = malloc(((size_t)corners + 1) * sizeof *sorted);
    int *place = malloc(((size_t)corners + 1) * sizeof *place);
    const bool there = sorted && place;
    for (int i = 0; there && i < corners; i++) {
        memcpy(sorted[i].x, s->point + 3 * i, sizeof sorted[i].x);
        sorted[i].index = i;
    }
    if (there) qsort(sorted, (size_t)corners, sizeof *sorted, compare_corners);
    for (int i = 0, first = 0; there && i < corners; i++) {
        if (memcmp(sorted[i].x, sorted[first].x, sizeof sorted[i].x) != 0) first = i;
        place[sorted[i].index] = sorted[first].index;
    }
    // Points keep the order in which they came first.
    int points = 0;
    for (int i = 0; there && i < corners; i++) {
        if (place[i] == i) memmove(s->point + 3 * points, s->point + 3 * i, 3 * sizeof *s->point);
        place[i] = place[i] == i ? points++ : place[place[i]];
    }
    for (int t = 0; there && t < corners / 3; t++) {
        const int a = place[3 * t], b = place[3 * t + 1], c = place[3 * t + 2];
        if (a == b || b == c || c == a) continue;
        s->points = points;
        const carom_status status = add_triangle(s, a, b, c, error);
        if (status) {
            free(sorted);
            free(place);
            return status;
        }
    }
    s->points = points;
    free(sorted);
    free(place);
    return there ? CAROM_OK : carom_fail_memory(error, "surface");
}

// Little-endian, as the format has it.
static double stl_number(const unsigned char *bytes) {
    const uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static carom_status read_binary_stl(const char *path, const char *bytes, size_t size, surface *s, carom_error *error) {
    carom_status status = CAROM_OK;
    for (size_t at = STL_START; at < size && !status; at += STL_TRIANGLE)
        for (size_t k = 0; k < 3 && !status; k++) {
            double x[3];
            for (size_t i = 0; i < 3; i++) x[i] = stl_number((const unsigned char *)bytes + at + 12 * (k + 1) + 4 * i);
            if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
                return carom_fail(error, CAROM_BAD_INPUT, "%s: a corner of triangle %zu is not finite", path,
                                  (at - STL_START) / STL_TRIANGLE);
            status = add_point(s, x, error);
        }
    return status ? status : weld(s, error);
}

// Only the vertices count: three in each facet.
static carom_status read_text_stl(const char *path, scanner *scan, surface *s, carom_error *error) {
    while (next_word(scan)) {
        if (strcmp(scan->word, "vertex") != 0) continue;
        double x[3];
        for (int k = 0; k < 3; k++)
            if (!next_number(scan, &x[k])) return refuse(path, scan, "'vertex' needs three numbers", error);
        const carom_status status = add_point(s, x, error);
        if (status) return status;
    }
    if (s->points == 0)
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: is an STL file without triangles, or a binary one that does not have its full length", path);
    if (s->points % 3) return carom_fail(error, CAROM_BAD_INPUT, "%s: %d vertices are no whole triangles", path, s->points);
    return weld(s, error);
}

// ----------------------------------------------------------------------------------------------------------------- OBJ

// A corner of a face: "7", "7/1/3" or "-1", the last point so far.
static bool read_corner(const scanner *scan, const surface *s, int *point) {
    char number[TOKEN_SIZE];
    size_t length = strcspn(scan->word, "/");
    memcpy(number, scan->word, length);
    number[length] = 0;
    double value;
    if (!carom_parse_number(number, &value) || value != floor(value) || fabs(value) > s->points || value == 0) return false;
    *point = value > 0 ? (int)value - 1 : s->points + (int)value;
    return true;
}

// Points and faces; a face of more than three corners is a fan about its first one. Everything else is left alone.
static carom_status read_obj(const char *path, scanner *scan, surface *s, carom_error *error) {
    carom_status status = CAROM_OK;
    for (bool more = next_word(scan); more && !status;) {
        const bool starts = scan->fresh;
        if (starts && !strcmp(scan->word, "v")) {
            double x[3];
            for (int k = 0; k < 3; k++)
                if (!next_number(scan, &x[k])) return refuse(path, scan, "'v' needs three numbers", error);
            status = add_point(s, x, error);
            more = next_word(scan);
        } else if (starts && !strcmp(scan->word, "f")) {
            int corners = 0, first = 0, last = 0, point;
            while ((more = next_word(scan)) && !scan->fresh && !status) {
                if (!read_corner(scan, s, &point)) return refuse(path, scan, "'f' names a point that is not there", error);
                if (++corners == 1) first = point;
                if (corners > 2 && first != last && last != point && point != first) status = add_triangle(s, first, last, point, error);
                last = point;
            }
            if (!status && corners < 3) return refuse(path, scan, "'f' needs three corners", error);
        } else {
            more = next_word(scan);
        }
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------------- surface

carom_status carom_surface_parse(const char *path, const char *bytes, size_t size, carom_arena *arena, carom_shape_data *shape,
                                 carom_error *error) {
    *shape = (carom_shape_data){0};
    surface s = {0};
    scanner scan = {.at = bytes, .end = bytes + size};
    // A binary STL file tells by its length; texts begin with "solid" or are OBJ.
    size_t binary = 0;
    for (size_t k = 4; k > 0 && size >= STL_START; k--) binary = binary << 8 | (unsigned char)bytes[STL_HEADER + k - 1];
    carom_status status;
    if (size >= STL_START && binary > 0 && size == STL_START + STL_TRIANGLE * binary)
        status = read_binary_stl(path, bytes, size, &s, error);
    else if (size >= 5 && !memcmp(bytes, "solid", 5))
        status = read_text_stl(path, &scan, &s, error);
    else
        status = read_obj(path, &scan, &s, error);
    if (!status && s.points < 4)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: is neither STL nor OBJ, or has fewer than 4 points", path);
    double *point = status ? NULL : carom_arena_take(arena, 3 * (size_t)s.points, sizeof *point);
    int *triangle = status ? NULL : carom_arena_take(arena, 3 * (size_t)s.triangles + 1, sizeof *triangle);
    if (!status && arena->failed) status = carom_fail_memory(error, path);
    if (!status) {
        memcpy(point, s.point, 3 * (size_t)s.points * sizeof *point);
        if (s.triangles) memcpy(triangle, s.triangle, 3 * (size_t)s.triangles * sizeof *triangle);
        *shape = (carom_shape_data){.vertices = s.points, .vertex = point, .triangles = s.triangles, .triangle = triangle};
    }
    free(s.point);
    free(s.triangle);
    return status;
}
