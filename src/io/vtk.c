// SPDX-License-Identifier: Apache-2.0
// Points with data for ParaView: legacy VTK (.vtk) or XML PolyData (.vtp), both as text, and the list of a series in time.
#include <string.h>
#include <strings.h>

#include "carom/io.h"
#include "carom/temporary.h"

// Only files that begin like these are replaced.
static const carom_file_kind legacy_kind = {"a legacy VTK file", "# vtk DataFile", true, ".vtk"};
static const carom_file_kind xml_kind = {"an XML VTK file", "<?xml", true, ".vtp"};
static const carom_file_kind series_kind = {"a list of a VTK series", "{\"file-series-version\"", false, NULL};

// Endings count in either case.
static bool ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && !strcasecmp(path + length - tail, ending);
}

bool carom_vtk_is_name(const char *path) { return ends_with(path, ".vtk") || ends_with(path, ".vtp"); }

// Rows of numbers in 17 digits, which bring back the same doubles.
static void print_values(FILE *file, const double *values, int64_t rows, int columns) {
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) fprintf(file, "%.17g%c", values[i * columns + k], k + 1 < columns ? ' ' : '\n');
}

// The legacy format: time, points, a cell for each, and the data of the points.
static carom_status print_legacy(FILE *file, const void *content, carom_error *error) {
    (void)error;
    const carom_vtk_points *points = content;
    const long long count = (long long)points->count;
    // The title is one line of at most 255 characters.
    fprintf(file, "# vtk DataFile Version 3.0\n%.200s\nASCII\nDATASET POLYDATA\n", points->title);
    fprintf(file, "FIELD FieldData 1\nTimeValue 1 1 double\n%.17g\n", points->time);
    // Where the points are, and a cell with one vertex for each.
    fprintf(file, "POINTS %lld double\n", count);
    print_values(file, points->positions, points->count, 3);
    fprintf(file, "VERTICES %lld %lld\n", count, 2 * count);
    for (long long i = 0; i < count; i++) fprintf(file, "1 %lld\n", i);
    // Their data, one array after the other.
    fprintf(file, "POINT_DATA %lld\nFIELD FieldData %d\n", count, points->array_count);
    for (int a = 0; a < points->array_count; a++) {
        const carom_vtk_array *array = &points->arrays[a];
        fprintf(file, "%s %d %lld double\n", array->name, array->components, count);
        print_values(file, array->values, points->count, array->components);
    }
    return CAROM_OK;
}

static void print_array(FILE *file, const char *name, int components, const double *values, int64_t rows) {
    fprintf(file, "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n", name, components);
    print_values(file, values, rows, components);
    fputs("</DataArray>\n", file);
}

// PolyData in XML: time, then the data of the points, the points, and their cells.
static carom_status print_xml(FILE *file, const void *content, carom_error *error) {
    (void)error;
    const carom_vtk_points *points = content;
    const long long count = (long long)points->count;
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\">\n<PolyData>\n<FieldData>\n", file);
    fprintf(file,
            "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">\n%.17g\n</DataArray>\n</FieldData>\n",
            points->time);
    fprintf(file, "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\">\n<PointData>\n", count, count);
    for (int a = 0; a < points->array_count; a++)
        print_array(file, points->arrays[a].name, points->arrays[a].components, points->arrays[a].values, points->count);
    fputs("</PointData>\n<Points>\n", file);
    print_array(file, "Points", 3, points->positions, points->count);
    // Every point is a vertex cell of its own.
    fputs("</Points>\n<Verts>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n", file);
    for (long long i = 0; i < count; i++) fprintf(file, "%lld\n", i);
    fputs("</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n", file);
    for (long long i = 0; i < count; i++) fprintf(file, "%lld\n", i + 1);
    fputs("</DataArray>\n</Verts>\n</Piece>\n</PolyData>\n</VTKFile>\n", file);
    return CAROM_OK;
}

carom_status carom_vtk_write(const char *path, const carom_vtk_points *points, carom_error *error) {
    if (!carom_vtk_is_name(path)) return carom_fail(error, CAROM_BAD_INPUT, "%s: the name must end in .vtk or .vtp", path);
    const bool xml = ends_with(path, ".vtp");
    return carom_text_write(path, xml ? &xml_kind : &legacy_kind, xml ? print_xml : print_legacy, points, error);
}

// ---------------------------------------------------------------------------------------------------------------- series

// The list of a series: names of files and their times, as ParaView reads them.
typedef struct series {
    const carom_vtk_step *steps;
    int64_t count;
} series;

static carom_status print_series(FILE *file, const void *content, carom_error *error) {
    (void)error;
    const series *list = content;
    fputs("{\"file-series-version\": \"1.0\", \"files\": [\n", file);
    for (int64_t i = 0; i < list->count; i++)
        fprintf(file, "{\"name\": \"%s\", \"time\": %.17g}%s\n", list->steps[i].name, list->steps[i].time, i + 1 < list->count ? "," : "");
    fputs("]}\n", file);
    return CAROM_OK;
}

carom_status carom_vtk_write_series(const char *path, const carom_vtk_step *steps, int64_t count, carom_error *error) {
    return carom_text_write(path, &series_kind, print_series, &(series){steps, count}, error);
}
