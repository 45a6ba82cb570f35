// SPDX-License-Identifier: Apache-2.0
// Points and surfaces with data for ParaView: legacy VTK (.vtk) or XML PolyData (.vtp), both as text, and the list of a series in time.
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

// The sections of cells in both formats, in their order: cells of one, two and three points.
enum { CELLS = 3 };
static const char *const legacy_cells[CELLS] = {"VERTICES", "LINES", "POLYGONS"}, *const xml_cells[CELLS] = {"Verts", "Lines", "Polys"};

// Cells of a size; every point is a vertex where nobody says which cells there are.
static carom_vtk_cells cells_of(const carom_vtk_points *points, int kind) {
    if (points->cells) return points->cells[kind];
    return (carom_vtk_cells){.count = kind ? 0 : points->count};
}

// The points of cell `i`, each after a blank.
static void print_cell(FILE *file, const carom_vtk_cells *cells, int size, int64_t i) {
    for (int k = 0; k < size; k++) fprintf(file, " %lld", (long long)(cells->points ? cells->points[i * size + k] : i));
    fputc('\n', file);
}

// The legacy format: time, points, cells, and the data of both.
static carom_status print_legacy(FILE *file, const void *content, carom_error *error) {
    (void)error;
    const carom_vtk_points *points = content;
    const long long count = (long long)points->count;
    // The title is one line of at most 255 characters.
    fprintf(file, "# vtk DataFile Version 3.0\n%.200s\nASCII\nDATASET POLYDATA\n", points->title);
    fprintf(file, "FIELD FieldData 1\nTimeValue 1 1 double\n%.17g\n", points->time);
    // Where the points are, and the cells, each after the number of its points.
    fprintf(file, "POINTS %lld double\n", count);
    print_values(file, points->positions, points->count, 3);
    long long all = 0;
    for (int kind = 0; kind < CELLS; kind++) {
        const carom_vtk_cells cells = cells_of(points, kind);
        all += (long long)cells.count;
        if (cells.count) fprintf(file, "%s %lld %lld\n", legacy_cells[kind], (long long)cells.count, (long long)cells.count * (kind + 2));
        for (int64_t i = 0; i < cells.count; i++) {
            fprintf(file, "%d", kind + 1);
            print_cell(file, &cells, kind + 1, i);
        }
    }
    // Their data, one array after the other.
    if (points->cells) fprintf(file, "CELL_DATA %lld\nFIELD FieldData 1\nbody 1 %lld double\n", all, all);
    for (int kind = 0; kind < CELLS && points->cells; kind++) print_values(file, points->cells[kind].body, points->cells[kind].count, 1);
    if (points->array_count) fprintf(file, "POINT_DATA %lld\nFIELD FieldData %d\n", count, points->array_count);
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

// PolyData in XML: time, then the data of the points and of the cells, the points, and the cells.
static carom_status print_xml(FILE *file, const void *content, carom_error *error) {
    (void)error;
    const carom_vtk_points *points = content;
    carom_vtk_cells cells[CELLS];
    for (int kind = 0; kind < CELLS; kind++) cells[kind] = cells_of(points, kind);
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\">\n<PolyData>\n<FieldData>\n", file);
    fprintf(file,
            "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">\n%.17g\n</DataArray>\n</FieldData>\n",
            points->time);
    fprintf(file, "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"%lld\" NumberOfPolys=\"%lld\">\n<PointData>\n",
            (long long)points->count, (long long)cells[0].count, (long long)cells[1].count, (long long)cells[2].count);
    for (int a = 0; a < points->array_count; a++)
        print_array(file, points->arrays[a].name, points->arrays[a].components, points->arrays[a].values, points->count);
    fputs("</PointData>\n<CellData>\n", file);
    if (points->cells) fputs("<DataArray type=\"Float64\" Name=\"body\" format=\"ascii\">\n", file);
    for (int kind = 0; kind < CELLS && points->cells; kind++) print_values(file, cells[kind].body, cells[kind].count, 1);
    if (points->cells) fputs("</DataArray>\n", file);
    fputs("</CellData>\n<Points>\n", file);
    print_array(file, "Points", 3, points->positions, points->count);
    fputs("</Points>\n", file);
    for (int kind = 0; kind < CELLS; kind++) {
        if (!cells[kind].count) continue;
        fprintf(file, "<%s>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n", xml_cells[kind]);
        for (int64_t i = 0; i < cells[kind].count; i++) print_cell(file, &cells[kind], kind + 1, i);
        fputs("</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n", file);
        for (int64_t i = 0; i < cells[kind].count; i++) fprintf(file, "%lld\n", (long long)(i + 1) * (kind + 1));
        fprintf(file, "</DataArray>\n</%s>\n", xml_cells[kind]);
    }
    fputs("</Piece>\n</PolyData>\n</VTKFile>\n", file);
    return CAROM_OK;
}

carom_status carom_vtk_check(const char *path, carom_error *error) {
    if (!carom_vtk_is_name(path)) return carom_fail(error, CAROM_BAD_INPUT, "%s: the name must end in .vtk or .vtp", path);
    return carom_temporary_check(path, ends_with(path, ".vtp") ? &xml_kind : &legacy_kind, error);
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
