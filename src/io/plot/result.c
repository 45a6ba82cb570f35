// SPDX-License-Identifier: Apache-2.0
// Pictures of result files: what each law's outcomes are drawn as, on which axes, into which files. Several files of the same contacts may
// share a picture.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "carom/sets.h"
#include "io/plot/axes.h"
#include "io/result/file.h"

enum {
    MANY_OUTCOMES = 50,  // a law with more is drawn as dots
    LABEL_SIZE = 256,
    SERIES_PER_LAW = 4,  // outcomes, hull, areas, paths
};

// Points in the plane of a picture.
typedef struct points {
    double *x, *y;
    int64_t count;
} points;

// One result file.
typedef struct source {
    carom_result *result;
    const char *path;
} source;

// The outcomes of one law, and what is drawn of them.
typedef struct law_data {
    const source *file;
    int index;                 // of the law in its file
    double *normal, *tangent;  // [rows x contacts], [rows x tangents]
    int64_t rows;
    bool sampled;    // an inner approximation of a set
    double *states;  // contact velocities after each impact, [.. x contact space], one path behind the other
    int64_t *starts, paths;
    carom_polyhedra *pieces;  // of an exact set; NULL for other laws
    char certificate[CAROM_CERTIFICATE_SIZE];
    points outcomes, hull, areas, path;
    char label[LABEL_SIZE], path_label[LABEL_SIZE];
} law_data;

typedef struct picture {
    source *files;  // the one asked for, then those laid over it
    int file_count;
    carom_axes axes;
    int chosen[2];
    bool focus;  // on the outcomes: where the paths begin is not shown
    law_data *laws;
    int law_count;
    points start;  // where the paths begin
} picture;

// -------------------------------------------------------------------------------------------------------------- reading

// Files in one picture have the same axes.
static bool same_contacts(const carom_result *first, const carom_result *second) {
    const int contacts = carom_result_contacts(first);
    if (carom_result_contacts(second) != contacts || carom_result_tangent_dim(second) != carom_result_tangent_dim(first)) return false;
    for (int i = 0; i < contacts; i++)
        if (strcmp(carom_result_contact_name(first, i), carom_result_contact_name(second, i)) != 0) return false;
    return true;
}

static carom_status open_file(picture *drawn, const char *path, carom_error *error) {
    source *opened = &drawn->files[drawn->file_count];
    opened->path = path;
    const carom_status status = carom_result_open(path, &opened->result, error);
    if (status) return status;
    drawn->file_count++;
    if (same_contacts(drawn->files->result, opened->result)) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: its contacts are not those of %s", path, drawn->files->path);
}

static carom_status open_files(picture *drawn, const char *path, const char *const *overlays, carom_error *error) {
    size_t count = 1;
    for (const char *const *overlay = overlays; overlay && *overlay; overlay++) count++;
    drawn->files = calloc(count, sizeof *drawn->files);
    if (!drawn->files) return carom_fail_memory(error, path);
    carom_status status = open_file(drawn, path, error);
    for (const char *const *overlay = overlays; overlay && *overlay && !status; overlay++) status = open_file(drawn, *overlay, error);
    return status;
}

static const char *law_name(const law_data *law) { return carom_result_law_name(law->file->result, law->index); }

static carom_status read_velocities(law_data *law, carom_error *error) {
    carom_result *result = law->file->result;
    int64_t tangent_rows = 0;
    int width = 0, tangent_width = 0;
    carom_status status = carom_result_read_reals(result, law->index, "normal_velocity", &law->normal, &law->rows, &width, error);
    if (!status)
        status = carom_result_read_reals(result, law->index, "tangent_velocity", &law->tangent, &tangent_rows, &tangent_width, error);
    if (status) return status;
    const int contacts = carom_result_contacts(result);
    if (width == contacts && tangent_width == contacts * carom_result_tangent_dim(result) && tangent_rows == law->rows) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "%s: not a carom result file: the velocities of %s do not fit its contacts", law->file->path,
                      law_name(law));
}

static carom_status read_paths(law_data *law, int width, carom_error *error) {
    const carom_status status =
        carom_result_read_series(law->file->result, law->index, "path", &law->states, &law->starts, &law->paths, error);
    for (int64_t i = 0; i < law->paths && !status; i++)
        if ((law->starts[i + 1] - law->starts[i]) % width)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: not a carom result file: the paths of %s do not fit its contacts",
                              law->file->path, law_name(law));
    return status;
}

static carom_status read_law(picture *drawn, const source *file, int index, carom_error *error) {
    law_data *law = &drawn->laws[drawn->law_count++];
    law->file = file;
    law->index = index;
    law->sampled = carom_result_has_column(file->result, index, carom_sample_columns[0].name);
    carom_status status = read_velocities(law, error);
    if (!status) status = carom_result_read_polyhedra(file->result, index, &law->pieces, law->certificate, error);
    return status ? status : read_paths(law, drawn->axes.count, error);
}

static carom_status read_laws(picture *drawn, carom_error *error) {
    int count = 0;
    for (int f = 0; f < drawn->file_count; f++) count += carom_result_laws(drawn->files[f].result);
    drawn->laws = calloc((size_t)count + 1, sizeof *drawn->laws);
    if (!drawn->laws) return carom_fail_memory(error, drawn->files->path);
    carom_status status = CAROM_OK;
    for (int f = 0; f < drawn->file_count && !status; f++)
        for (int i = 0; i < carom_result_laws(drawn->files[f].result) && !status; i++) status = read_law(drawn, &drawn->files[f], i, error);
    return status;
}

// ----------------------------------------------------------------------------------------------------------------- axes

static double outcome_velocity(const picture *drawn, const law_data *law, int64_t row, int axis) {
    const carom_axis *chosen = &drawn->axes.axes[axis];
    const int64_t contacts = carom_result_contacts(law->file->result), tangents = drawn->axes.count - contacts;
    return chosen->normal ? law->normal[row * contacts + chosen->column] : law->tangent[row * tangents + chosen->column];
}

static void measure_axis(const picture *drawn, int axis, double *least, double *most) {
    *least = INFINITY;
    *most = -INFINITY;
    for (int i = 0; i < drawn->law_count; i++)
        for (int64_t row = 0; row < drawn->laws[i].rows; row++) {
            const double velocity = outcome_velocity(drawn, &drawn->laws[i], row, axis);
            *least = fmin(*least, velocity);
            *most = fmax(*most, velocity);
        }
}

static carom_status choose_axes(picture *drawn, const char *text, carom_error *error) {
    if (text) return carom_axes_parse(&drawn->axes, text, drawn->chosen, error);
    const int count = drawn->axes.count;
    double *least = calloc(2 * (size_t)count, sizeof *least);
    if (!least) return carom_fail_memory(error, "axes");
    double *most = least + count;
    for (int axis = 0; axis < count; axis++) measure_axis(drawn, axis, &least[axis], &most[axis]);
    carom_axes_choose(&drawn->axes, least, most, drawn->chosen);
    free(least);
    return CAROM_OK;
}

// ---------------------------------------------------------------------------------------------------------------- points

static carom_status make_points(points *made, int64_t room, carom_error *error) {
    *made = (points){calloc((size_t)room + 1, sizeof(double)), calloc((size_t)room + 1, sizeof(double)), 0};
    return made->x && made->y ? CAROM_OK : carom_fail_memory(error, "points of the picture");
}

static void free_points(points *unused) {
    free(unused->x);
    free(unused->y);
    *unused = (points){0};
}

static void add_point(points *set, double x, double y) {
    set->x[set->count] = x;
    set->y[set->count++] = y;
}

static carom_status place_outcomes(const picture *drawn, law_data *law, carom_error *error) {
    const carom_status status = make_points(&law->outcomes, law->rows, error);
    for (int64_t row = 0; row < law->rows && !status; row++) {
        const double x = outcome_velocity(drawn, law, row, drawn->chosen[0]), y = outcome_velocity(drawn, law, row, drawn->chosen[1]);
        if (isfinite(x) && isfinite(y)) add_point(&law->outcomes, x, y);
    }
    return status;
}

static carom_status place_hull(law_data *law, carom_error *error) {
    const points *set = &law->outcomes;
    int64_t *hull = calloc((size_t)set->count + 1, sizeof *hull), vertices = 0;
    if (!hull) return carom_fail_memory(error, "convex hull");
    carom_status status = carom_hull_plane(set->x, set->y, set->count, hull, &vertices, error);
    if (!status) status = make_points(&law->hull, vertices, error);
    for (int64_t i = 0; i < vertices && !status; i++) add_point(&law->hull, set->x[hull[i]], set->y[hull[i]]);
    free(hull);
    return status;
}

// Appends the outline of a piece's projection, closed, and a NaN.
static carom_status place_area(const picture *drawn, law_data *law, const carom_piece *piece, points *corners, int64_t *hull,
                               carom_error *error) {
    const int n = law->pieces->n, x = drawn->axes.axes[drawn->chosen[0]].place, y = drawn->axes.axes[drawn->chosen[1]].place;
    int64_t count;
    corners->count = 0;
    for (int k = 0; k < piece->vertices; k++) add_point(corners, piece->contact_velocity[k * n + x], piece->contact_velocity[k * n + y]);
    const carom_status status = carom_hull_plane(corners->x, corners->y, corners->count, hull, &count, error);
    for (int64_t i = 0; i <= count && !status; i++) add_point(&law->areas, corners->x[hull[i % count]], corners->y[hull[i % count]]);
    add_point(&law->areas, NAN, NAN);
    return status;
}

static carom_status place_areas(const picture *drawn, law_data *law, carom_error *error) {
    if (!law->pieces) return CAROM_OK;
    // An outline has at most all vertices, the first of them again, and a NaN.
    int64_t vertices = 0, most = 0;
    for (int i = 0; i < law->pieces->count; i++) {
        vertices += law->pieces->pieces[i].vertices + 2;
        most = law->pieces->pieces[i].vertices > most ? law->pieces->pieces[i].vertices : most;
    }
    points corners = {0};
    int64_t *hull = calloc((size_t)most + 1, sizeof *hull);
    carom_status status = hull ? make_points(&law->areas, vertices, error) : carom_fail_memory(error, "areas of the picture");
    if (!status) status = make_points(&corners, most, error);
    for (int i = 0; i < law->pieces->count && !status; i++) status = place_area(drawn, law, &law->pieces->pieces[i], &corners, hull, error);
    free_points(&corners);
    free(hull);
    return status;
}

// All paths in one series, with a NaN between them.
static carom_status place_paths(picture *drawn, law_data *law, carom_error *error) {
    if (!law->paths) return CAROM_OK;
    const int width = drawn->axes.count;
    const int x = drawn->axes.axes[drawn->chosen[0]].place, y = drawn->axes.axes[drawn->chosen[1]].place;
    const carom_status status = make_points(&law->path, law->starts[law->paths] / width + law->paths, error);
    if (status) return status;
    for (int64_t i = 0; i < law->paths; i++) {
        const double *state = law->states + law->starts[i], *end = law->states + law->starts[i + 1];
        if (state == end) continue;
        if (!drawn->start.count) add_point(&drawn->start, state[x], state[y]);
        for (; state < end; state += width) add_point(&law->path, state[x], state[y]);
        add_point(&law->path, NAN, NAN);
    }
    return CAROM_OK;
}

static carom_status place_law(picture *drawn, law_data *law, carom_error *error) {
    carom_status status = place_outcomes(drawn, law, error);
    if (!status && law->sampled) status = place_hull(law, error);
    if (!status) status = place_areas(drawn, law, error);
    if (!status) status = place_paths(drawn, law, error);
    return status;
}

// --------------------------------------------------------------------------------------------------------------- series

// Samples may have been taken with paths or without, and only the first of them have one.
static long long count_paths(const law_data *law) {
    long long count = 0;
    for (int64_t i = 0; i < law->paths; i++) count += law->starts[i + 1] > law->starts[i];
    return count;
}

// What is drawn of an exact computation may be the set, a part of it, or more than it.
static void label_pieces(law_data *law) {
    const char *claim = !strcmp(law->certificate, "exact")   ? "the set"
                        : !strcmp(law->certificate, "inner") ? "certified inner set"
                                                             : "certified outer set";
    const int count = law->pieces->count;
    snprintf(law->label, sizeof law->label, "%s (%s, %d piece%s)", law_name(law), claim, count, count == 1 ? "" : "s");
}

// What the outcomes of a sampled set are.
static const char *sample_noun(const law_data *law) {
    char solver[LABEL_SIZE];
    const char *walk = carom_sampler_names[CAROM_SAMPLER_WALK];
    return carom_result_read_attribute(law->file->result, law->index, "solver", solver, sizeof solver) && !strcmp(solver, walk) ? walk
                                                                                                                                : "sample";
}

static void label_law(law_data *law) {
    const char *name = law_name(law);
    const long long count = law->rows, paths = count_paths(law);
    const char *plural = count == 1 ? "" : "s";
    if (law->pieces)
        label_pieces(law);
    else if (law->sampled)
        snprintf(law->label, sizeof law->label, "%s (inner approximation, %lld %s%s)", name, count, sample_noun(law), plural);
    else if (paths)
        snprintf(law->label, sizeof law->label, "%s (%lld outcome%s, impact by impact)", name, count, plural);
    else if (count != 1)
        snprintf(law->label, sizeof law->label, "%s (%lld outcomes)", name, count);
    else
        snprintf(law->label, sizeof law->label, "%s", name);
    if (law->sampled) snprintf(law->path_label, sizeof law->path_label, "%lld of the samples, step by step", paths);
}

static void add_series(carom_plot *plot, carom_plot_series *room, const char *label, carom_plot_style style, const points *set) {
    if (set->count) room[plot->series_count++] = (carom_plot_series){label, style, set->count, set->x, set->y};
}

static bool drawn_as_dots(const law_data *law) { return !law->pieces && (law->sampled || law->rows > MANY_OUTCOMES); }
static bool drawn_as_marks(const law_data *law) { return !law->pieces && !drawn_as_dots(law); }

// Exact sets first, samples over them, the paths and hulls of samples over them, single outcomes and their paths on top.
static void collect_series(const picture *drawn, carom_plot *plot, carom_plot_series *room) {
    // The first on top: an outer set follows the inner one that it encloses.
    for (int i = drawn->law_count; i-- > 0;) add_series(plot, room, drawn->laws[i].label, CAROM_PLOT_AREAS, &drawn->laws[i].areas);
    for (int i = 0; i < drawn->law_count; i++)
        if (drawn_as_dots(&drawn->laws[i])) add_series(plot, room, drawn->laws[i].label, CAROM_PLOT_DOTS, &drawn->laws[i].outcomes);
    for (int i = 0; i < drawn->law_count; i++)
        if (drawn->laws[i].sampled) add_series(plot, room, drawn->laws[i].path_label, CAROM_PLOT_TRACES, &drawn->laws[i].path);
    bool labelled = false;
    for (int i = 0; i < drawn->law_count; i++) {
        add_series(plot, room, labelled ? "" : "convex hull, not the set", CAROM_PLOT_DASHES, &drawn->laws[i].hull);
        labelled = labelled || drawn->laws[i].hull.count;
    }
    for (int i = 0; i < drawn->law_count; i++) {
        if (drawn_as_marks(&drawn->laws[i])) add_series(plot, room, drawn->laws[i].label, CAROM_PLOT_MARKS, &drawn->laws[i].outcomes);
        if (!drawn->laws[i].sampled) add_series(plot, room, "", CAROM_PLOT_PATH, &drawn->laws[i].path);
    }
    if (!drawn->focus) add_series(plot, room, "before the impact", CAROM_PLOT_MARKS, &drawn->start);
}

// ---------------------------------------------------------------------------------------------------------------- files

static bool ends_with(const char *text, const char *ending) {
    const size_t size = strlen(text), wanted = strlen(ending);
    return size >= wanted && !strcasecmp(text + size - wanted, ending);
}

// Bytes of a path without its ending.
static size_t stem_size(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && dot > path && !strchr(dot, '/') ? (size_t)(dot - path) : strlen(path);
}

// The output where it names a picture, otherwise PREFIX-Jn.A-Jn.B.png. Contact names may hold what file names may not.
static char *picture_path(const picture *drawn, const carom_plot_request *request) {
    const char *output = request->output;
    if (output && (request->axes || ends_with(output, ".png") || ends_with(output, ".svg"))) return strdup(output);
    const char *x = drawn->axes.axes[drawn->chosen[0]].name, *y = drawn->axes.axes[drawn->chosen[1]].name;
    const char *start = output ? output : drawn->files->path;
    const size_t prefix = output ? strlen(output) : stem_size(start), size = prefix + strlen(x) + strlen(y) + sizeof "--.png";
    char *path = malloc(size);
    if (!path) return NULL;
    snprintf(path, size, "%.*s-%s-%s.png", (int)prefix, start, x, y);
    for (char *c = path + prefix; *c; c++)
        if (*c == '/' || (unsigned char)*c < 0x20) *c = '_';
    return path;
}

static carom_status write_picture(const carom_plot *plot, char *path, bool svg, carom_plot_report report, void *user, carom_error *error) {
    const bool both = svg && ends_with(path, ".png");
    for (int i = 0; i <= both; i++) {
        if (i) memcpy(path + strlen(path) - 4, ".svg", 4);
        const carom_status status = carom_plot_write(plot, path, error);
        if (status) return status;
        if (report) report(user, path);
    }
    return CAROM_OK;
}

static carom_status draw_picture(const picture *drawn, const carom_plot_request *request, carom_plot_report report, void *user,
                                 carom_error *error) {
    char title[LABEL_SIZE], x_label[LABEL_SIZE], y_label[LABEL_SIZE];
    snprintf(title, sizeof title, "%s: contact velocities after the impact", carom_result_scene_name(drawn->files->result));
    snprintf(x_label, sizeof x_label, "%s  [m/s]", drawn->axes.axes[drawn->chosen[0]].name);
    snprintf(y_label, sizeof y_label, "%s  [m/s]", drawn->axes.axes[drawn->chosen[1]].name);
    carom_plot_series *room = calloc((size_t)drawn->law_count * SERIES_PER_LAW + 1, sizeof *room);
    char *path = picture_path(drawn, request);
    carom_status status = room && path ? CAROM_OK : carom_fail_memory(error, "picture");
    if (!status) {
        carom_plot plot = {.title = title, .x_label = x_label, .y_label = y_label, .series = room, .focus = drawn->focus};
        collect_series(drawn, &plot, room);
        status = write_picture(&plot, path, request->svg, report, user, error);
    }
    free(room);
    free(path);
    return status;
}

static void free_law(law_data *law) {
    free(law->normal);
    free(law->tangent);
    free(law->states);
    free(law->starts);
    free_points(&law->outcomes);
    free_points(&law->hull);
    free_points(&law->areas);
    carom_polyhedra_free(law->pieces);
    free_points(&law->path);
}

static void free_picture(picture *drawn) {
    for (int i = 0; drawn->laws && i < drawn->law_count; i++) free_law(&drawn->laws[i]);
    free(drawn->laws);
    free_points(&drawn->start);
    carom_axes_free(&drawn->axes);
    for (int f = 0; f < drawn->file_count; f++) carom_result_close(drawn->files[f].result);
    free(drawn->files);
}

carom_status carom_plot_result(const char *result_path, const carom_plot_request *request, carom_plot_report report, void *user,
                               carom_error *error) {
    picture drawn = {.focus = request->focus};
    carom_status status = open_files(&drawn, result_path, request->overlays, error);
    if (!status) status = carom_axes_create(drawn.files->result, &drawn.axes, error);
    if (!status) status = read_laws(&drawn, error);
    if (!status) status = choose_axes(&drawn, request->axes, error);
    if (!status) status = make_points(&drawn.start, 1, error);
    for (int i = 0; i < drawn.law_count && !status; i++) {
        label_law(&drawn.laws[i]);
        status = place_law(&drawn, &drawn.laws[i], error);
    }
    if (!status) status = draw_picture(&drawn, request, report, user, error);
    free_picture(&drawn);
    return status;
}
