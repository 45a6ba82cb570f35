// SPDX-License-Identifier: Apache-2.0
// Meshes on their way to MuJoCo: all are read here first, because MuJoCo trusts them; those that it cannot read, STL in words, COLLADA, and
// OBJ of several objects, become binary STL.
//
// Of a COLLADA scene the units and the transforms of its nodes count; its upward axis does not, as in ROS, where URDF files come from.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "carom/file.h"
#include "carom/surface.h"
#include "mujoco/mujoco_internal.h"

// A binary STL file: a header, the number of triangles, and for each its normal, its corners, and two bytes. Normals stay zero, because
// MuJoCo takes the order of the corners.
enum { STL_HEADER = 80, STL_START = STL_HEADER + 4, STL_TRIANGLE = 50, STL_END = 2 };

// Nodes may name each other, in circles and many times over.
enum { MOST_DEPTH = 64, MOST_NODES = 10000 };
enum { MOST_STRIDE = 64 };  // indices of a corner

// Triangles on their way into a file.
typedef struct triangles {
    FILE *output;
    uint32_t count;
    const xmlDoc *document;
    double unit;  // [m]
    int nodes;    // visited so far
} triangles;

static const char zeros[STL_START] = {0};

static void write_triangle(triangles *t, const float corners[9]) {
    fwrite(zeros, 1, 3 * sizeof *corners, t->output);
    fwrite(corners, sizeof *corners, 9, t->output);
    fwrite(zeros, 1, STL_END, t->output);
    t->count++;
}

// ------------------------------------------------------------------------------------------------------------- COLLADA

static bool has_text(const char *a, const char *b) { return a && b && !strcmp(a, b); }

// The element with the id of a reference "#id".
static const xmlNode *find_reference(const triangles *t, const char *reference) {
    if (!reference || *reference != '#') return NULL;
    for (const xmlNode *node = model_xml_first(t->document); node; node = model_xml_next(node))
        if (has_text(model_xml_attribute(node, "id"), reference + 1)) return node;
    return NULL;
}

// The next child of this name, after `last` or from the first.
static const xmlNode *next_child(const xmlNode *parent, const xmlNode *last, const char *name) {
    const xmlNode *child = last ? last->next : parent ? parent->children : NULL;
    while (child && (child->type != XML_ELEMENT_NODE || !model_xml_is(child, name))) child = child->next;
    return child;
}

// The numbers in an element, to be freed; none where it is missing.
static double *read_numbers(const xmlNode *element, size_t *count) {
    *count = 0;
    char *text = element ? (char *)xmlNodeGetContent(element) : NULL;
    double *numbers = text ? malloc((strlen(text) / 2 + 1) * sizeof *numbers) : NULL;
    for (char *at = text; numbers && at;) {
        char *end;
        const double number = strtod(at, &end);
        if (end == at) break;
        numbers[(*count)++] = number;
        at = end;
    }
    xmlFree(text);
    return numbers;
}

static int read_whole(const xmlNode *element, const char *name, int otherwise) {
    const char *text = element ? model_xml_attribute(element, name) : NULL;
    return text ? atoi(text) : otherwise;
}

// The input of a primitive, or of its vertices, with this meaning.
static const xmlNode *find_input(const xmlNode *parent, const char *semantic) {
    const xmlNode *input = next_child(parent, NULL, "input");
    while (input && !has_text(model_xml_attribute(input, "semantic"), semantic)) input = next_child(parent, input, "input");
    return input;
}

// One primitive: polygons as fans of triangles, whose corners `matrix` [3 x 4] puts into the mesh's frame.
static void read_primitive(triangles *t, const xmlNode *primitive, const double matrix[12]) {
    // How many indices a corner has, which of them is its vertex, and where the vertices are.
    int stride = 1;
    for (const xmlNode *input = next_child(primitive, NULL, "input"); input; input = next_child(primitive, input, "input")) {
        const int offset = read_whole(input, "offset", 0);
        if (offset >= 0 && offset < MOST_STRIDE && offset + 1 > stride) stride = offset + 1;
    }
    const xmlNode *vertex = find_input(primitive, "VERTEX");
    const int offset = read_whole(vertex, "offset", 0);
    const xmlNode *vertices = vertex ? find_reference(t, model_xml_attribute(vertex, "source")) : NULL;
    const xmlNode *position = find_input(vertices, "POSITION");
    const xmlNode *source = position ? find_reference(t, model_xml_attribute(position, "source")) : NULL;
    const xmlNode *accessor = next_child(next_child(source, NULL, "technique_common"), NULL, "accessor");
    const int step = read_whole(accessor, "stride", 3);
    size_t place_count, size_count;
    double *places = read_numbers(next_child(source, NULL, "float_array"), &place_count);
    double *sizes = read_numbers(next_child(primitive, NULL, "vcount"), &size_count);
    const bool triangular = model_xml_is(primitive, "triangles"), listed = model_xml_is(primitive, "polylist");
    // A transform that mirrors turns triangles inside out.
    const double mirror = matrix[0] * (matrix[5] * matrix[10] - matrix[6] * matrix[9]) -
                          matrix[1] * (matrix[4] * matrix[10] - matrix[6] * matrix[8]) +
                          matrix[2] * (matrix[4] * matrix[9] - matrix[5] * matrix[8]);
    for (const xmlNode *p = next_child(primitive, NULL, "p"); p && places && step >= 3 && offset >= 0 && offset < stride;
         p = next_child(primitive, p, "p")) {
        size_t index_count;
        double *indices = read_numbers(p, &index_count);
        const size_t corners = indices ? index_count / (size_t)stride : 0;
        size_t first = 0;
        for (size_t polygon = 0; first < corners; polygon++) {
            const double given = triangular ? 3 : !listed ? (double)corners : polygon < size_count ? sizes[polygon] : 0;
            if (!(given >= 1) || given > (double)(corners - first)) break;
            const size_t size = (size_t)given;
            for (size_t k = 1; k + 1 < size; k++) {
                const size_t fan[3] = {first, first + (mirror < 0 ? k + 1 : k), first + (mirror < 0 ? k : k + 1)};
                float points[9];
                bool known = true;
                for (int c = 0; c < 3; c++) {
                    const double index = indices[fan[c] * (size_t)stride + (size_t)offset];
                    known = known && index >= 0 && (index + 1) * step <= (double)place_count;
                    const double *place = known ? places + (size_t)index * (size_t)step : matrix;
                    for (int i = 0; i < 3; i++)
                        points[3 * c + i] = (float)(t->unit * (mju_dot3(matrix + 4 * i, place) + matrix[4 * i + 3]));
                }
                if (known) write_triangle(t, points);
            }
            first += size;
        }
        free(indices);
    }
    free(places);
    free(sizes);
}

// result = a b for rows [3 x 4] over (0, 0, 0, 1).
static void compose(double result[12], const double a[12], const double b[12]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            result[4 * i + k] = a[4 * i] * b[k] + a[4 * i + 1] * b[4 + k] + a[4 * i + 2] * b[8 + k] + (k == 3 ? a[4 * i + 3] : 0);
}

// Puts one transform of a node behind those before it.
static void apply_transform(const xmlNode *element, double matrix[12]) {
    static const struct {
        const char *name;
        size_t count;
    } kinds[] = {{"matrix", 16}, {"translate", 3}, {"scale", 3}, {"rotate", 4}};
    size_t kind = 0, count;
    while (kind < 4 && !model_xml_is(element, kinds[kind].name)) kind++;
    if (kind == 4) return;
    double *given = read_numbers(element, &count), own[12] = {[0] = 1, [5] = 1, [10] = 1}, before[12];
    if (given && count == kinds[kind].count) {
        double quaternion[4], rotation[9];
        switch (kind) {
        case 0: memcpy(own, given, sizeof own); break;
        case 1:
            for (int i = 0; i < 3; i++) own[4 * i + 3] = given[i];
            break;
        case 2:
            for (int i = 0; i < 3; i++) own[5 * i] = given[i];
            break;
        default:
            mju_normalize3(given);
            mju_axisAngle2Quat(quaternion, given, given[3] * mjPI / 180);
            mju_quat2Mat(rotation, quaternion);
            for (int i = 0; i < 9; i++) own[4 * (i / 3) + i % 3] = rotation[i];
        }
        memcpy(before, matrix, sizeof before);
        compose(matrix, before, own);
    }
    free(given);
}

// The geometries of a node and of those inside it.
static void read_node(triangles *t, const xmlNode *node, const double outer[12], int depth) {
    double matrix[12];
    memcpy(matrix, outer, sizeof matrix);
    if (depth == MOST_DEPTH || t->nodes++ == MOST_NODES) return;
    for (const xmlNode *child = node->children; child && t->nodes < MOST_NODES; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) continue;
        apply_transform(child, matrix);
        const xmlNode *named = find_reference(t, model_xml_attribute(child, "url"));
        if (model_xml_is(child, "node")) read_node(t, child, matrix, depth + 1);
        if (model_xml_is(child, "instance_node") && named) read_node(t, named, matrix, depth + 1);
        const xmlNode *mesh = model_xml_is(child, "instance_geometry") ? next_child(named, NULL, "mesh") : NULL;
        for (const xmlNode *part = mesh ? mesh->children : NULL; part; part = part->next)
            if (part->type == XML_ELEMENT_NODE &&
                (model_xml_is(part, "triangles") || model_xml_is(part, "polylist") || model_xml_is(part, "polygons")))
                read_primitive(t, part, matrix);
    }
}

static carom_status read_collada(triangles *t, const char *path, const char *text, carom_error *error) {
    static const double identity[12] = {[0] = 1, [5] = 1, [10] = 1};
    xmlDoc *document = NULL;
    const carom_status status = model_xml_parse(text, &document, error);
    if (status) return status;
    t->document = document;
    t->unit = 1;
    const bool whole = document && document->type == XML_DOCUMENT_NODE;
    for (const xmlNode *node = whole ? model_xml_first(document) : NULL; node; node = model_xml_next(node)) {
        const char *meter = model_xml_is(node, "unit") ? model_xml_attribute(node, "meter") : NULL;
        if (meter && atof(meter) > 0) t->unit = atof(meter);
        if (model_xml_is(node, "visual_scene")) read_node(t, node, identity, 0);
    }
    if (document) xmlFreeDoc(document);
    return t->count ? CAROM_OK : carom_fail(error, CAROM_BAD_INPUT, "%s: no triangles are found in this COLLADA file", path);
}

// ----------------------------------------------------------------------------------------------------------- conversion

static bool is_collada(const char *path) {
    const char *ending = strrchr(path, '.');
    return ending && !strcasecmp(ending, ".dae");
}

// Is this an STL file of words? Binary ones may start with "solid", too, but have the size that their number says.
static bool is_text_stl(const char *path) {
    const char *ending = strrchr(path, '.');
    FILE *file;
    if (!ending || strcasecmp(ending, ".stl") || carom_file_open(path, &file, NULL)) return false;
    unsigned char start[STL_START] = {0};
    const bool read = fread(start, 1, sizeof start, file) > 5;
    const bool sized = !fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fclose(file);
    uint32_t count;
    memcpy(&count, start + STL_HEADER, sizeof count);
    return read && sized && !memcmp(start, "solid", 5) && size != STL_START + (long)count * STL_TRIANGLE;
}

// The format that MuJoCo takes a file for.
static carom_surface_format find_format(const char *path, const char *content) {
    static const struct {
        const char *word;
        carom_surface_format format;
    } formats[] = {{"stl", CAROM_SURFACE_STL}, {"obj", CAROM_SURFACE_OBJ}, {"msh", CAROM_SURFACE_MSH}};
    const char *dot = strrchr(path, '.'), *ending = dot ? dot + 1 : "";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (content ? strstr(content, formats[i].word) != NULL : !strcasecmp(ending, formats[i].word)) return formats[i].format;
    return CAROM_SURFACE_BY_CONTENT;
}

// Does an OBJ file have several objects or groups? MuJoCo 2.2.2 reads the first of them only.
static bool is_grouped_obj(const char *path) {
    char *text = NULL;
    if (find_format(path, NULL) != CAROM_SURFACE_OBJ || model_read_text(path, &text, NULL)) {
        free(text);
        return false;
    }
    int groups = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        groups += (*line == 'o' || *line == 'g') && (line[1] == ' ' || line[1] == '\t');
    }
    free(text);
    return groups > 1;
}

bool model_needs_conversion(const char *path) { return is_collada(path) || is_text_stl(path) || is_grouped_obj(path); }

// Writes the triangles of a surface.
static void write_surface(triangles *t, const carom_surface_points *surface) {
    for (int i = 0; i < surface->triangles; i++) {
        float corners[9];
        for (int k = 0; k < 9; k++) corners[k] = (float)surface->point[3 * surface->triangle[3 * i + k / 3] + k % 3];
        write_triangle(t, corners);
    }
}

carom_status model_convert_mesh(const char *path, char **bytes, size_t *size, carom_error *error) {
    *bytes = NULL;
    *size = 0;
    char *text = NULL, *binary = NULL;
    size_t length = 0;
    carom_arena arena = {0};
    carom_surface_points surface;
    carom_status status = model_read_bytes(path, &text, &length, error);
    triangles t = {.output = status ? NULL : open_memstream(&binary, size)};
    if (!status && !t.output) status = carom_fail_memory(error, path);
    if (!status) {
        fwrite(zeros, 1, sizeof zeros, t.output);
        if (is_collada(path))
            status = read_collada(&t, path, text, error);
        else if (!(status = carom_surface_parse(path, text, length, find_format(path, NULL), &arena, &surface, error)))
            write_surface(&t, &surface);
        const bool written = !ferror(t.output);
        if ((fclose(t.output) || !written) && !status) status = carom_fail_memory(error, path);
    }
    carom_arena_free(&arena);
    free(text);
    if (!status) memcpy(binary + STL_HEADER, &t.count, sizeof t.count);
    if (status)
        free(binary);
    else
        *bytes = binary;
    return status;
}

// ------------------------------------------------------------------------------------------------- names, scales, checks

const char *model_last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void model_parse_scale(const char *text, double scale[3]) {
    for (int k = 0; k < 3; k++) {
        char *end = NULL;
        scale[k] = text ? strtod(text, &end) : 1;
        if (text && end == text) scale[k] = 1;
        text = end;
    }
}

// Coordinates beyond this are refused [m]: MuJoCo's bound for STL.
#define MOST_COORDINATE 1073741824.0
// Points thinner than this share of their largest distance lie in one plane: far above the round-off of Qhull, below that of floats.
#define FLAT_TOLERANCE 1e-10

// Do scaled points lie in one plane? A point, the farthest from it, the farthest from their line, and the farthest from their plane tell.
static bool is_flat(int count, const double *points, const double scale[3]) {
    double chosen[4][3] = {{0}}, along[3] = {0}, normal[3] = {0}, length = 0, farthest = 0;
    for (int step = 0; step < 4; step++) {
        farthest = 0;
        for (int i = 0; i < count; i++) {
            double point[3], apart[3], moment[3];
            for (int k = 0; k < 3; k++) point[k] = scale[k] * points[3 * i + k];
            mju_sub3(apart, point, chosen[0]);
            mju_cross(moment, along, apart);
            const double distance = step == 1 ? mju_norm3(apart) : step == 2 ? mju_norm3(moment) : fabs(mju_dot3(normal, apart));
            if (step > 0 && !(distance > farthest)) continue;
            farthest = distance;
            mju_copy3(chosen[step], point);
            if (step == 0) break;
        }
        if (step == 1) length = farthest;
        if (step > 0 && !(farthest > FLAT_TOLERANCE * length)) return true;
        if (step == 1) {
            mju_sub3(along, chosen[1], chosen[0]);
            mju_normalize3(along);
        }
        if (step == 2) {
            double side[3];
            mju_sub3(side, chosen[2], chosen[0]);
            mju_cross(normal, along, side);
            mju_normalize3(normal);
        }
    }
    return false;
}

carom_status model_check_points(const char *name, int count, const double *points, const double scale[3], bool hull, carom_error *error) {
    for (int i = 0; i < 3 * count; i++)
        if (!(fabs(scale[i % 3] * points[i]) <= MOST_COORDINATE))
            return carom_fail(error, CAROM_BAD_INPUT, "%s: point %d of the mesh is not finite, or farther away than 1e9 m", name, i / 3);
    if (!hull || !is_flat(count, points, scale)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT,
                      "%s: the mesh is flat, all its points lie in one plane, so that it has no hull that could collide: use a thin box or "
                      "give the mesh a thickness",
                      name);
}

carom_status model_check_mesh(const char *path, const char *content, const double scale[3], bool hull, model_points *kept,
                              carom_error *error) {
    const bool collada = is_collada(path);
    const carom_surface_format format = collada ? CAROM_SURFACE_STL : find_format(path, content);
    if (format == CAROM_SURFACE_BY_CONTENT) return model_check_regular(path, error);
    char *bytes = NULL;
    size_t size;
    carom_arena arena = {0};
    carom_surface_points surface;
    carom_status status = collada ? model_convert_mesh(path, &bytes, &size, error) : model_read_bytes(path, &bytes, &size, error);
    if (!status) status = carom_surface_parse(path, bytes, size, format, &arena, &surface, error);
    if (!status) status = model_check_points(path, surface.points, surface.point, scale, hull, error);
    if (!status && kept) {
        *kept = (model_points){surface.points, malloc(3 * (size_t)surface.points * sizeof *kept->point)};
        for (int i = 0; kept->point && i < 3 * surface.points; i++) kept->point[i] = scale[i % 3] * surface.point[i];
        if (!kept->point) status = carom_fail_memory(error, path);
    }
    carom_arena_free(&arena);
    free(bytes);
    return status;
}
