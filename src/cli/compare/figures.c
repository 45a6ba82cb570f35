// SPDX-License-Identifier: Apache-2.0
// The figures of a comparison: which planes of contact velocities are worth one, and drawing them.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/json.h"
#include "cli/compare/compare.h"

enum { NAME_PART = 40 };  // characters of a contact's name in a file's name

// ------------------------------------------------------------------------------------------------------------- extents

// How far apart the outcomes of all laws are in one contact velocity; zero where that is less than what counts as motion.
static double extent_of(const cli_comparison *c, bool normal, int column) {
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < c->count; i++) {
        const double *range = (normal ? c->runs[i].extent->normal : c->runs[i].extent->tangent) + 2 * column;
        least = fmin(least, range[0]);
        most = fmax(most, range[1]);
    }
    return most - least > -carom_impact_approach_limit(c->impact) ? most - least : 0;
}

static double normal_extent(const cli_comparison *c, int contact) { return extent_of(c, true, contact); }

static double tangent_extent(const cli_comparison *c, int contact, int tangent) {
    return extent_of(c, false, contact * carom_impact_get_data(c->impact)->tangent_dim + tangent);
}

static double largest_extent(const cli_comparison *c, int contact) {
    double largest = normal_extent(c, contact);
    for (int k = 0; k < carom_impact_get_data(c->impact)->tangent_dim; k++) largest = fmax(largest, tangent_extent(c, contact, k));
    return largest;
}

// The contacts that get figures, in the scene's order; returns their number.
static int choose_contacts(const cli_comparison *c, int chosen[CLI_MOST_FIGURE_CONTACTS]) {
    const int contacts = carom_impact_get_data(c->impact)->contacts;
    int count = 0;
    for (int i = 0; i < contacts; i++) {
        int larger = 0;
        for (int k = 0; k < contacts && contacts > CLI_MOST_FIGURE_CONTACTS; k++) {
            const double mine = largest_extent(c, i), other = largest_extent(c, k);
            larger += other > mine || (other == mine && k < i);
        }
        if (larger < CLI_MOST_FIGURE_CONTACTS) chosen[count++] = i;
    }
    return count;
}

// --------------------------------------------------------------------------------------------------------------- texts

// A contact's name as part of a file's name, which a page links to as it is.
static void file_part(const char *name, char part[NAME_PART + 1]) {
    int i = 0;
    for (; name[i] && i < NAME_PART; i++) part[i] = isalnum((unsigned char)name[i]) || strchr("._-", name[i]) ? name[i] : '_';
    part[i] = '\0';
}

// Texts of a figure; `number` makes the file's name unique.
static carom_status name_figure(const cli_comparison *c, cli_figure *f, int number, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(c->impact);
    const char *first = data->names[f->contacts[0]], *second = data->names[f->contacts[1]];
    const char *which = data->tangent_dim == 1 ? "" : f->tangent ? " second" : " first", *suffix = f->tangent ? ".2" : "";
    const size_t size = strlen(first) + strlen(second) + 128;
    f->axes = malloc(size);
    f->caption = malloc(size);
    f->name = malloc(size);
    if (!f->axes || !f->caption || !f->name) return carom_fail_memory(error, "figures");
    char a[NAME_PART + 1], b[NAME_PART + 1];
    file_part(first, a);
    file_part(second, b);
    switch (f->plane) {
    case CLI_PLANE_NORMALS:
        snprintf(f->axes, size, "Jn.%s,Jn.%s", first, second);
        snprintf(f->caption, size, "%s and %s: normal velocities", first, second);
        snprintf(f->name, size, "figure-%d-Jn.%s-Jn.%s", number, a, b);
        break;
    case CLI_PLANE_NORMAL_TANGENT:
        snprintf(f->axes, size, "Jt.%s%s,Jn.%s", first, suffix, first);
        snprintf(f->caption, size, "%s:%s tangential and normal velocity", first, which);
        snprintf(f->name, size, "figure-%d-Jt.%s%s-Jn.%s", number, a, suffix, a);
        break;
    case CLI_PLANE_TANGENTS:
        snprintf(f->axes, size, "Jt.%s,Jt.%s.2", first, first);
        snprintf(f->caption, size, "%s: tangential velocities", first);
        snprintf(f->name, size, "figure-%d-Jt.%s-Jt.%s.2", number, a, a);
        break;
    }
    return CAROM_OK;
}

// ------------------------------------------------------------------------------------------------------------ choosing

// Room for every pair and three planes of every contact.
enum { MOST_FIGURES = CLI_MOST_FIGURE_CONTACTS * (CLI_MOST_FIGURE_CONTACTS - 1) / 2 + 3 * CLI_MOST_FIGURE_CONTACTS };

static void add_figure(cli_figures *figures, cli_figure_plane plane, int first, int second, int tangent) {
    figures->list[figures->count++] = (cli_figure){.plane = plane, .contacts = {first, second}, .tangent = tangent};
}

static void add_pairs(const cli_comparison *c, const int *chosen, int count, cli_figures *figures) {
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            if (normal_extent(c, chosen[i]) > 0 || normal_extent(c, chosen[k]) > 0)
                add_figure(figures, CLI_PLANE_NORMALS, chosen[i], chosen[k], 0);
}

// A single contact has no pair that would show its normal velocity.
static void add_planes(const cli_comparison *c, int contact, bool single, cli_figures *figures) {
    const bool spatial = carom_impact_get_data(c->impact)->tangent_dim == 2;
    const bool normal = normal_extent(c, contact) > 0, first = tangent_extent(c, contact, 0) > 0;
    const bool second = spatial && tangent_extent(c, contact, 1) > 0;
    if (spatial && (first || second)) add_figure(figures, CLI_PLANE_TANGENTS, contact, contact, 0);
    if (spatial ? single && normal : first || (single && normal)) add_figure(figures, CLI_PLANE_NORMAL_TANGENT, contact, contact, 0);
    if (single && normal && second) add_figure(figures, CLI_PLANE_NORMAL_TANGENT, contact, contact, 1);
}

static bool has_outcomes(const cli_comparison *c) {
    for (int i = 0; i < c->count; i++)
        if (c->runs[i].extent->outcomes) return true;
    return false;
}

carom_status cli_figures_choose(const cli_comparison *c, cli_figures *figures, carom_error *error) {
    int chosen[CLI_MOST_FIGURE_CONTACTS];
    const int count = choose_contacts(c, chosen);
    *figures = (cli_figures){calloc(MOST_FIGURES, sizeof(cli_figure)), 0, count < carom_impact_get_data(c->impact)->contacts};
    if (!figures->list) return carom_fail_memory(error, "figures");
    add_pairs(c, chosen, count, figures);
    for (int i = 0; i < count; i++) add_planes(c, chosen[i], count == 1, figures);

    // All laws agree: one figure shows where.
    if (!figures->count && has_outcomes(c))
        add_figure(figures, count > 1 ? CLI_PLANE_NORMALS : CLI_PLANE_NORMAL_TANGENT, chosen[0], chosen[count > 1], 0);
    carom_status status = CAROM_OK;
    for (int i = 0; i < figures->count && !status; i++) status = name_figure(c, &figures->list[i], i + 1, error);
    if (status) cli_figures_free(figures);
    return status;
}

void cli_figures_free(cli_figures *figures) {
    for (int i = 0; i < figures->count; i++) {
        free(figures->list[i].axes);
        free(figures->list[i].caption);
        free(figures->list[i].name);
    }
    free(figures->list);
    *figures = (cli_figures){0};
}

// ------------------------------------------------------------------------------------------------------------- drawing

static void note_file(void *user, const char *path) { json_array_append_new(user, carom_json_text(path)); }

static carom_status draw_figure(const cli_figure *figure, const char *directory, const char *result, json_t *drawn, carom_error *error) {
    char *stem = cli_join_path(directory, figure->name), *path = stem ? malloc(strlen(stem) + sizeof ".png") : NULL;
    carom_status status = path ? CAROM_OK : carom_fail_memory(error, "figures");
    if (!status) {
        snprintf(path, strlen(stem) + sizeof ".png", "%s.png", stem);
        status =
            carom_plot_result(result, &(carom_plot_request){.axes = figure->axes, .output = path, .svg = true}, note_file, drawn, error);
    }
    free(stem);
    free(path);
    return status;
}

carom_status cli_figures_draw(const cli_comparison *c, const cli_figures *figures, const char *directory, const char *result,
                              carom_error *error) {
    json_t *drawn = json_array();
    carom_status status = drawn ? CAROM_OK : carom_fail_memory(error, "figures");
    for (int i = 0; i < figures->count && !status && !cli_interrupted(); i++)
        status = draw_figure(&figures->list[i], directory, result, drawn, error);
    // Ctrl-C reaches gnuplot too: its failure is then none of its own.
    if (cli_interrupted()) status = CAROM_OK;
    if (!status && !cli_interrupted())
        json_array_extend(c->files, drawn);
    else
        for (size_t i = 0; i < json_array_size(drawn); i++) unlink(json_string_value(json_array_get(drawn, i)));
    json_decref(drawn);
    return status;
}
