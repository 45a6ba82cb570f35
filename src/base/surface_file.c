// SPDX-License-Identifier: Apache-2.0
// Surfaces in files: STL, binary or text, the points and faces of Wavefront OBJ, and MuJoCo's MSH. Nothing in the bytes is trusted: sizes,
// counts, indices and numbers are checked before they are used.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "carom/option.h"
#include "carom/surface.h"

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
    if (s->points == CAROM_SURFACE_POINTS)
        return carom_fail(error, CAROM_BAD_INPUT, "the surface has more than %d points", CAROM_SURFACE_POINTS);
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
    if (s->triangles == CAROM_SURFACE_TRIANGLES)
        return carom_fail(error, CAROM_BAD_INPUT, "the surface has more than %d triangles", CAROM_SURFACE_TRIANGLES);
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

enum { BYTE_VALUES = 256, COORDINATE_BYTES = sizeof(double) };

// Sorts the numbers of points, so that points at one place follow each other, in their order. It goes by the bytes of coordinates, which
// takes half the time of comparisons; bytes that are the same everywhere, as most of single precision, are passed over.
// @param spare  [count] work
static void sort_by_place(const double *point, int count, int *order, int *spare) {
    for (int i = 0; i < count; i++) order[i] = i;
    for (int pass = 0; pass < 3 * COORDINATE_BYTES; pass++) {
        const unsigned char *bytes = (const unsigned char *)point + pass;
        const size_t stride = 3 * sizeof *point;
        int starts[BYTE_VALUES + 1] = {0};
        for (int i = 0; i < count; i++) starts[bytes[(size_t)i * stride] + 1]++;
        if (count && starts[bytes[0] + 1] == count) continue;
        for (int value = 0; value < BYTE_VALUES; value++) starts[value + 1] += starts[value];
        for (int i = 0; i < count; i++) spare[starts[bytes[(size_t)order[i] * stride]]++] = order[i];
        memcpy(order, spare, (size_t)count * sizeof *order);
    }
}

// Corners of STL stand in each of their triangles: those at the same place become one, the first. Triangles without area, two of whose
// corners are one, are left out.
static carom_status weld(surface *s, carom_error *error) {
    const int corners = s->points;
    int *sorted = malloc(((size_t)corners + 1) * sizeof *sorted), *place = malloc(((size_t)corners + 1) * sizeof *place);
    const bool there = sorted && place;
    // Zeros have one sign.
    for (int i = 0; i < 3 * corners; i++) s->point[i] += 0.0;
    if (there) sort_by_place(s->point, corners, sorted, place);
    for (int i = 0, first = 0; there && i < corners; i++) {
        if (memcmp(s->point + 3 * sorted[i], s->point + 3 * sorted[first], 3 * sizeof *s->point) != 0) first = i;
        place[sorted[i]] = sorted[first];
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

// What a corner of a face names: a point, a texture coordinate and a normal, of which those that are not there have no index.
enum { OBJ_PARTS = 3 };

// The largest index of each part, with the line that has it: a face may come before what it names.
typedef struct obj_range {
    int count[OBJ_PARTS], largest[OBJ_PARTS], line[OBJ_PARTS];
} obj_range;

// A corner of a face: "7", "7/1/3" or "-1", the last one so far. False for what is no index.
static bool read_corner(const scanner *scan, obj_range *range, int *point) {
    const char *at = scan->word;
    for (int part = 0; part < OBJ_PARTS; part++) {
        char number[TOKEN_SIZE];
        const size_t length = strcspn(at, "/");
        memcpy(number, at, length);
        number[length] = 0;
        double value = 0;
        const bool given = length > 0;
        if (given ? !carom_parse_number(number, &value) || value != floor(value) || value == 0 || value < -range->count[part] ||
                        value > CAROM_SURFACE_POINTS
                  : part == 0)
            return false;
        const int index = value < 0 ? range->count[part] + (int)value + 1 : (int)value;
        if (given && index > range->largest[part]) {
            range->largest[part] = index;
            range->line[part] = scan->line;
        }
        if (part == 0) *point = index - 1;
        if (!at[length]) return true;
        at += length + 1;
    }
    return false;
}

// Points and faces; a face of more than three corners is a fan about its first one. Everything else is left alone.
static carom_status read_obj(const char *path, scanner *scan, surface *s, carom_error *error) {
    static const char *const lists[OBJ_PARTS] = {"v", "vt", "vn"};
    static const char *const names[OBJ_PARTS] = {"point", "texture coordinate", "normal"};
    obj_range range = {{0}, {0}, {0}};
    carom_status status = CAROM_OK;
    for (bool more = next_word(scan); more && !status;) {
        const bool starts = scan->fresh;
        int list = 0;
        while (list < OBJ_PARTS && strcmp(scan->word, lists[list]) != 0) list++;
        if (starts && list < OBJ_PARTS) {
            range.count[list]++;
            if (list == 0) {
                double x[3];
                for (int k = 0; k < 3; k++)
                    if (!next_number(scan, &x[k])) return refuse(path, scan, "'v' needs three numbers", error);
                status = add_point(s, x, error);
            }
            more = next_word(scan);
        } else if (starts && !strcmp(scan->word, "f")) {
            int corners = 0, first = 0, last = 0, point;
            while ((more = next_word(scan)) && !scan->fresh && !status) {
                if (!read_corner(scan, &range, &point)) return refuse(path, scan, "'f' names a point that is not there", error);
                if (++corners == 1) first = point;
                if (corners > 2 && first != last && last != point && point != first) status = add_triangle(s, first, last, point, error);
                last = point;
            }
            if (!status && corners < 3) return refuse(path, scan, "'f' needs three corners", error);
        } else {
            more = next_word(scan);
        }
    }
    // Texture coordinates and normals may be missing as a whole.
    for (int part = 0; part < OBJ_PARTS && !status; part++)
        if (range.largest[part] > range.count[part] && (part == 0 || range.count[part]))
            return carom_fail(error, CAROM_BAD_INPUT, "%s:%d: 'f' names a %s that is not there ('%d')", path, range.line[part], names[part],
                              range.largest[part]);
    return status;
}

// ----------------------------------------------------------------------------------------------------------------- MSH

// Counts of points, normals, texture coordinates and triangles, then these arrays, of 4-byte numbers.
enum { MSH_HEADER = 16, MSH_COUNTS = 4 };

static int32_t msh_whole(const unsigned char *bytes) {
    const uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static carom_status read_msh(const char *path, const char *bytes, size_t size, surface *s, carom_error *error) {
    static const int widths[MSH_COUNTS] = {3, 3, 2, 3};
    const unsigned char *at = (const unsigned char *)bytes;
    int64_t counts[MSH_COUNTS], total = MSH_HEADER;
    if (size < MSH_HEADER) return carom_fail(error, CAROM_BAD_INPUT, "%s: ends before its four counts", path);
    for (int i = 0; i < MSH_COUNTS; i++) {
        counts[i] = msh_whole(at + 4 * i);
        if (counts[i] < 0) return carom_fail(error, CAROM_BAD_INPUT, "%s: has a negative count", path);
        total += 4 * widths[i] * counts[i];
    }
    if ((uint64_t)total != size)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: has %zu bytes, but its counts say %lld", path, size, (long long)total);
    at += MSH_HEADER;
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < counts[0] && !status; i++, at += 12) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = stl_number(at + 4 * k);
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: point %lld is not finite", path, (long long)i);
        status = add_point(s, x, error);
    }
    at += 4 * (3 * counts[1] + 2 * counts[2]);
    for (int64_t i = 0; i < counts[3] && !status; i++, at += 12) {
        int32_t corners[3];
        for (int k = 0; k < 3; k++) corners[k] = msh_whole(at + 4 * k);
        for (int k = 0; k < 3; k++)
            if (corners[k] < 0 || corners[k] >= s->points)
                return carom_fail(error, CAROM_BAD_INPUT, "%s: triangle %lld names the point %d, but there are %d, numbered from 0", path,
                                  (long long)i, corners[k], s->points);
        status = add_triangle(s, corners[0], corners[1], corners[2], error);
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------------- surface

carom_status carom_surface_parse(const char *path, const char *bytes, size_t size, carom_surface_format format, carom_arena *arena,
                                 carom_surface_points *read, carom_error *error) {
    *read = (carom_surface_points){0};
    surface s = {0};
    scanner scan = {.at = bytes, .end = bytes + size};
    // A binary STL file tells by its length; texts begin with "solid" or are OBJ.
    size_t binary = 0;
    for (size_t k = 4; k > 0 && size >= STL_START; k--) binary = binary << 8 | (unsigned char)bytes[STL_HEADER + k - 1];
    const bool is_binary = size >= STL_START && binary > 0 && size == STL_START + STL_TRIANGLE * binary;
    const bool is_text = size >= 5 && !memcmp(bytes, "solid", 5);
    if (format == CAROM_SURFACE_BY_CONTENT) format = is_binary || is_text ? CAROM_SURFACE_STL : CAROM_SURFACE_OBJ;
    carom_status status;
    if (format == CAROM_SURFACE_MSH)
        status = read_msh(path, bytes, size, &s, error);
    else if (format == CAROM_SURFACE_OBJ)
        status = read_obj(path, &scan, &s, error);
    else if (is_binary)
        status = read_binary_stl(path, bytes, size, &s, error);
    else if (is_text)
        status = read_text_stl(path, &scan, &s, error);
    else
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: is no STL file: it has %zu bytes, which its number of triangles does not give",
                            path, size);
    if (!status && s.points < 4)
        status = carom_fail(error, CAROM_BAD_INPUT, "%s: %shas fewer than 4 points", path,
                            format == CAROM_SURFACE_OBJ ? "is neither STL nor OBJ, or " : "");
    double *point = status ? NULL : carom_arena_take(arena, 3 * (size_t)s.points, sizeof *point);
    int *triangle = status ? NULL : carom_arena_take(arena, 3 * (size_t)s.triangles + 1, sizeof *triangle);
    if (!status && arena->failed) status = carom_fail_memory(error, path);
    if (!status) {
        memcpy(point, s.point, 3 * (size_t)s.points * sizeof *point);
        if (s.triangles) memcpy(triangle, s.triangle, 3 * (size_t)s.triangles * sizeof *triangle);
        *read = (carom_surface_points){.points = s.points, .point = point, .triangles = s.triangles, .triangle = triangle};
    }
    free(s.point);
    free(s.triangle);
    return status;
}
