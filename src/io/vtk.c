// SPDX-License-Identifier: Apache-2.0
// Points with data for ParaView: legacy VTK (.vtk) or XML PolyData (.vtp), both as text, and the list of a series in time.
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "carom/io.h"
#include "carom/temporary.h"

static const carom_file_kind legacy_kind = {"a legacy VTK file", "# vtk DataFile"};
static const carom_file_kind xml_kind = {"an XML VTK file", "<?xml"};
static const carom_file_kind series_kind = {"a list of a VTK series", "{\"file-series-version\""};

static bool ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && !strcasecmp(path + length - tail, ending);
}

bool carom_vtk_is_name(const char *path) { return ends_with(path, ".vtk") || ends_with(path, ".vtp"); }

static void print_values(FILE *file, const double *values, int64_t rows, int columns) {
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) fprintf(file, "%.17g%c", values[i * columns + k], k + 1 < columns ? ' ' : '\n');
}

// -------------------------------------------------------------------------------------------------------------- legacy

// The title is one line of at most 255 characters.
static void print_legacy(FILE *file, const carom_vtk_points *points) {
    const long long count = (long long)points->count;
    fprintf(file, "# vtk DataFile Version 3.0\n%.200s\nASCII\nDATASET POLYDATA\n", points->title);
    fprintf(file, "FIELD FieldData 1\nTimeValue 1 1 double\n%.17g\n", points->time);
    fprintf(file, "POINTS %lld double\n", count);
    print_values(file, points->positions, points->count, 3);
    fprintf(file, "VERTICES %lld %lld\n", count, 2 * count);
    for (long long i = 0; i < count; i++) fprintf(file, "1 %lld\n", i);
    fprintf(file, "POINT_DATA %lld\nFIELD FieldData %d\n", count, points->array_count);
    for (int a = 0; a < points->array_count; a++) {
        const carom_vtk_array *array = &points->arrays[a];
        fprintf(file, "%s %d %lld double\n", array->name, array->components, count);
        print_values(file, array->values, points->count, array->components);
    }
}

// ----------------------------------------------------------------------------------------------------------------- XML

static void print_array(FILE *file, const char *name, int components, const double *values, int64_t rows) {
    fprintf(file, "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n", name, components);
    print_values(file, values, rows, components);
    fputs("</DataArray>\n", file);
}

// Every point is a vertex cell of its own.
static void print_vertices(FILE *file, int64_t count) {
    fputs("<Verts>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n", file);
    for (int64_t i = 0; i < count; i++) fprintf(file, "%lld\n", (long long)i);
    fputs("</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n", file);
    for (int64_t i = 0; i < count; i++) fprintf(file, "%lld\n", (long long)i + 1);
    fputs("</DataArray>\n</Verts>\n", file);
}

static void print_xml(FILE *file, const carom_vtk_points *points) {
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\">\n<PolyData>\n<FieldData>\n", file);
    fprintf(file,
            "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">\n%.17g\n</DataArray>\n</FieldData>\n",
            points->time);
    fprintf(file, "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\">\n<PointData>\n", (long long)points->count,
            (long long)points->count);
    for (int a = 0; a < points->array_count; a++)
        print_array(file, points->arrays[a].name, points->arrays[a].components, points->arrays[a].values, points->count);
    fputs("</PointData>\n<Points>\n", file);
    print_array(file, "Points", 3, points->positions, points->count);
    fputs("</Points>\n", file);
    print_vertices(file, points->count);
    fputs("</Piece>\n</PolyData>\n</VTKFile>\n", file);
}

// --------------------------------------------------------------------------------------------------------------- files

typedef struct vtk_content {
    const carom_vtk_points *points;  // NULL: a series
    const carom_vtk_step *steps;
    int64_t step_count;
} vtk_content;

static void print_series(FILE *file, const vtk_content *content) {
    fputs("{\"file-series-version\": \"1.0\", \"files\": [\n", file);
    for (int64_t i = 0; i < content->step_count; i++)
        fprintf(file, "{\"name\": \"%s\", \"time\": %.17g}%s\n", content->steps[i].name, content->steps[i].time,
                i + 1 < content->step_count ? "," : "");
    fputs("]}\n", file);
}

// The host program may have a locale with a decimal comma.
static bool print_content(FILE *file, const vtk_content *content, bool xml) {
    const locale_t neutral = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!neutral) return false;
    const locale_t callers = uselocale(neutral);
    if (!content->points)
        print_series(file, content);
    else if (xml)
        print_xml(file, content->points);
    else
        print_legacy(file, content->points);
    uselocale(callers);
    freelocale(neutral);
    return !fflush(file) && !ferror(file);
}

static carom_status write_file(const char *path, const carom_file_kind *kind, const vtk_content *content, carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    carom_status status = carom_temporary_create(path, kind, &temporary, &descriptor, error);
    if (status) return status;
    FILE *file = fdopen(descriptor, "w");
    if (!file) close(descriptor);
    const bool printed = file && print_content(file, content, kind == &xml_kind);
    if (file && fclose(file)) status = carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", path, strerror(errno));
    if (!printed && !status) status = carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", path, strerror(errno));
    if (!status) status = carom_temporary_commit(&temporary, error);
    carom_temporary_discard(&temporary);
    return status;
}

carom_status carom_vtk_write(const char *path, const carom_vtk_points *points, carom_error *error) {
    const vtk_content content = {.points = points};
    if (!carom_vtk_is_name(path)) return carom_fail(error, CAROM_BAD_INPUT, "%s: the name must end in .vtk or .vtp", path);
    return write_file(path, ends_with(path, ".vtp") ? &xml_kind : &legacy_kind, &content, error);
}

carom_status carom_vtk_write_series(const char *path, const carom_vtk_step *steps, int64_t count, carom_error *error) {
    const vtk_content content = {.steps = steps, .step_count = count};
    return write_file(path, &series_kind, &content, error);
}
