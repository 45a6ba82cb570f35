// SPDX-License-Identifier: Apache-2.0
// The figures of a comparison: which planes of contact velocities are worth one, and drawing them.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/compare/compare.h"
#include "cli/sketch.h"

enum { NAME_PART = 45 };  // characters of a contact velocity's name in a file's name

// ------------------------------------------------------------------------------------------------------------- extents

// How far apart the outcomes of all laws are in one contact velocity; zero where that is less than what counts as motion.
static double extent_of(const cli_comparison *comparison, bool normal, int column) {
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < comparison->count; i++) {
        const carom_extent *extent = comparison->runs[i].extent;
        const double *range = (normal ? extent->normal : extent->tangent) + 2 * column;
        least = fmin(least, range[0]);
        most = fmax(most, range[1]);
    }
    return most - least > -carom_impact_approach_limit(comparison->impact) ? most - least : 0;
}

static double normal_extent(const cli_comparison *comparison, int contact) { return extent_of(comparison, true, contact); }

static double tangent_extent(const cli_comparison *comparison, int contact, int tangent) {
    return extent_of(comparison, false, contact * carom_impact_get_data(comparison->impact)->tangent_dim + tangent);
}

// The larger of a contact's normal and tangential extents.
static double largest_extent(const cli_comparison *comparison, int contact) {
    double largest = normal_extent(comparison, contact);
    for (int k = 0; k < carom_impact_get_data(comparison->impact)->tangent_dim; k++)
        largest = fmax(largest, tangent_extent(comparison, contact, k));
    return largest;
}

// ------------------------------------------------------------------------------------------------------------ choosing

// Room for every pair and three planes of every contact.
enum { MOST_FIGURES = CLI_MOST_FIGURE_CONTACTS * (CLI_MOST_FIGURE_CONTACTS - 1) / 2 + 3 * CLI_MOST_FIGURE_CONTACTS };

// A figure of the plane of two contact velocities, numbered as in carom_axes.
static void add_figure(cli_figures *figures, int x, int y) { figures->list[figures->count++] = (cli_figure){.axis = {x, y}}; }

// A contact velocity's name as part of a file's name, which a page links to as it is.
static void file_part(const char *name, char part[NAME_PART + 1]) {
    int i = 0;
    for (; name[i] && i < NAME_PART; i++) part[i] = isalnum((unsigned char)name[i]) || strchr("._-", name[i]) ? name[i] : '_';
    part[i] = '\0';
}

carom_status cli_figures_choose(const cli_comparison *comparison, cli_figures *figures, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(comparison->impact);
    // The contacts with the largest extents, in the scene's order; of equal ones the first.
    int chosen[CLI_MOST_FIGURE_CONTACTS], count = 0;
    for (int i = 0; i < data->contacts; i++) {
        int larger = 0;
        for (int k = 0; k < data->contacts && data->contacts > CLI_MOST_FIGURE_CONTACTS; k++) {
            const double mine = largest_extent(comparison, i), other = largest_extent(comparison, k);
            larger += other > mine || (other == mine && k < i);
        }
        if (larger < CLI_MOST_FIGURE_CONTACTS) chosen[count++] = i;
    }
    *figures = (cli_figures){.list = calloc(MOST_FIGURES, sizeof(cli_figure)), .chosen = count < data->contacts};
    if (!figures->list) return carom_fail_memory(error, "figures");

    // Every pair of contacts in which a normal velocity has an extent.
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (normal_extent(comparison, chosen[i]) > 0 || normal_extent(comparison, chosen[k]) > 0)
                add_figure(figures, chosen[i], chosen[k]);

    // Planes with tangential velocities. A single contact has no pair that would show its normal velocity.
    const int dim = data->tangent_dim;
    const bool spatial = dim == 2, single = count == 1;
    bool any_outcomes = false;
    for (int i = 0; i < count; i++) {
        const int contact = chosen[i], tangent = data->contacts + contact * dim;
        const bool normal = normal_extent(comparison, contact) > 0, first = tangent_extent(comparison, contact, 0) > 0;
        const bool second = spatial && tangent_extent(comparison, contact, 1) > 0;
        if (spatial && (first || second)) add_figure(figures, tangent, tangent + 1);
        if (spatial ? single && normal : first || (single && normal)) add_figure(figures, tangent, contact);
        if (single && normal && second) add_figure(figures, tangent + 1, contact);
    }

    // All laws agree: one figure shows where.
    for (int i = 0; i < comparison->count; i++) any_outcomes = any_outcomes || comparison->runs[i].extent->outcomes;
    if (!figures->count && any_outcomes) add_figure(figures, count > 1 ? chosen[0] : data->contacts + chosen[0] * dim, chosen[count > 1]);

    // Captions and file names, which are numbered in the order of the page.
    carom_axes axes;
    carom_status status = carom_axes_create(data->contacts, dim, data->names, &axes, error);
    for (int i = 0; i < figures->count && !status; i++) {
        cli_figure *figure = &figures->list[i];
        const int x = figure->axis[0], y = figure->axis[1], tangent = x - data->contacts;
        const char *contact = data->names[tangent < 0 ? x : tangent / dim];
        const size_t size = strlen(axes.names[x]) + strlen(axes.names[y]) + 64;
        figure->axes = malloc(size);
        figure->caption = malloc(size);
        if (!figure->axes || !figure->caption) {
            status = carom_fail_memory(error, "figures");
            break;
        }
        char a[NAME_PART + 1], b[NAME_PART + 1];
        file_part(axes.names[x], a);
        file_part(axes.names[y], b);
        snprintf(figure->axes, size, "%s,%s", axes.names[x], axes.names[y]);
        snprintf(figure->name, sizeof figure->name, "figure-%d-%s-%s", i + 1, a, b);
        if (tangent < 0)
            snprintf(figure->caption, size, "%s and %s: normal velocities", contact, data->names[y]);
        else if (y >= data->contacts)
            snprintf(figure->caption, size, "%s: tangential velocities", contact);
        else
            snprintf(figure->caption, size, "%s:%s tangential and normal velocity", contact,
                     !spatial             ? ""
                     : tangent % dim == 0 ? " first"
                                          : " second");
    }
    carom_axes_free(&axes);
    // A scene of matrices has no bodies.
    if (!status) {
        carom_arena arena = {0};
        carom_solids solids;
        const carom_status looked = carom_scene_solids(comparison->scene, NULL, 0, &arena, &solids, error);
        figures->mechanism = !looked;
        if (looked != CAROM_UNSUPPORTED) status = looked;
        carom_arena_free(&arena);
    }
    if (status) cli_figures_free(figures);
    return status;
}

void cli_figures_free(cli_figures *figures) {
    for (int i = 0; i < figures->count; i++) {
        free(figures->list[i].axes);
        free(figures->list[i].caption);
    }
    free(figures->list);
    *figures = (cli_figures){0};
}

// ------------------------------------------------------------------------------------------------------------- drawing

// The mechanism at its impact, as `carom draw` shows it.
static carom_status draw_mechanism(const cli_comparison *comparison, const char *directory, json_t *drawn, carom_error *error) {
    static const char *const names[] = {CLI_MECHANISM_FIGURE ".png", CLI_MECHANISM_FIGURE ".svg"};
    // So wide that letters are read beside the page's sentences.
    cli_sketch sketch = {.stage.size = {120, 90}};
    carom_status status = cli_sketch_start(&sketch, comparison->scene, error);
    const int formats = cli_given(comparison->arguments, "svg") ? 2 : 1;
    for (int i = 0; i < formats && !status; i++) {
        char *path = cli_join_path(directory, names[i]);
        status = path ? carom_stage_write(&sketch.stage, path, error) : carom_fail_memory(error, "figures");
        if (!status) cli_note_file(drawn, path);
        free(path);
    }
    cli_sketch_free(&sketch);
    return status;
}

carom_status cli_figures_draw(const cli_comparison *comparison, const cli_figures *figures, const char *directory, const char *result,
                              carom_error *error) {
    json_t *drawn = json_array();
    carom_status status = drawn ? CAROM_OK : carom_fail_memory(error, "figures");
    if (!status && figures->mechanism && !cli_interrupted()) status = draw_mechanism(comparison, directory, drawn, error);
    bool all = false;
    if (!status) status = cli_read_zoom(comparison->arguments, &all, error);
    for (int i = 0; i < figures->count && !status && !cli_interrupted(); i++) {
        char name[CLI_FIGURE_NAME_SIZE + 4];
        snprintf(name, sizeof name, "%s.png", figures->list[i].name);
        char *path = cli_join_path(directory, name);
        const carom_plot_request request = {.axes = figures->list[i].axes,
                                            .output = path,
                                            .svg = cli_given(comparison->arguments, "svg"),
                                            .all = all,
                                            .focus = cli_value(comparison->arguments, "focus"),
                                            .dark = cli_given(comparison->arguments, "dark")};
        status = path ? carom_plot_result(result, &request, cli_note_file, drawn, error) : carom_fail_memory(error, "figures");
        free(path);
    }
    // Ctrl-C reaches gnuplot, too: a failure that it causes is no error.
    if (cli_interrupted()) status = CAROM_OK;
    // All of them or none.
    if (!status && !cli_interrupted())
        json_array_extend(comparison->files, drawn);
    else
        for (size_t i = 0; i < json_array_size(drawn); i++) unlink(json_string_value(json_array_get(drawn, i)));
    json_decref(drawn);
    return status;
}
