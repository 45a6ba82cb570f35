// SPDX-License-Identifier: Apache-2.0
// Pictures of measured impacts: errors by law, parameters over speed, sets with the measured outcome.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/many.h"
#include "cli/canvas.h"
#include "cli/measure/measure.h"

// A distribution needs some impacts, and a page has its limits.
enum { LEAST_IMPACTS = 3, MOST_PARTS = 8, ELLIPSE_POINTS = 97, SHOWN_SETS = 2 };
#define FULL_TURN 6.283185307179586
// Errors below this are drawn here, which the caption says.
#define LEAST_ERROR 1e-4

static carom_status finish(const measure_run *run, cli_canvas *c, carom_plot plot, const char *folder, const char *name,
                           const char *caption, measure_figures *figures, carom_error *error) {
    measure_figure *figure = &figures->list[figures->count];
    snprintf(figure->name, sizeof figure->name, "figure-%d-", figures->count + 1);
    // Letters and digits, with a dash for whatever stands between them.
    size_t used = strlen(figure->name);
    for (const char *letter = name; *letter && used + 1 < sizeof figure->name; letter++) {
        if (isalnum((unsigned char)*letter))
            figure->name[used++] = *letter;
        else if (figure->name[used - 1] != '-')
            figure->name[used++] = '-';
    }
    figure->name[used] = '\0';
    snprintf(figure->caption, sizeof figure->caption, "%s", caption);
    const carom_status status = cli_canvas_write(c, plot, folder, figure->name, run->files, error);
    if (!status) figures->count++;
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- errors

// The distribution of a column over the evaluated impacts of a part: the share of impacts with an error of at most x.
// @return how many of them are below LEAST_ERROR, and drawn there
static int add_distribution(const measure_run *run, cli_canvas *c, int part, const carom_table *rows, int column, const char *label,
                            carom_plot_style style) {
    const double *values = carom_table_real_column(rows, column);
    double *found = malloc(((size_t)run->measurements.count + 1) * sizeof *found);
    int count = 0, below = 0;
    for (int i = 0; found && i < carom_table_rows(rows); i++)
        if (run->part[i] == part && measure_evaluated(run, i) && !isnan(values[i])) found[count++] = values[i];
    if (count >= LEAST_IMPACTS && c->count < CLI_MOST_SERIES) {
        carom_sort(count, found);
        cli_canvas_series(c, label, style, 2 * (int64_t)count);
        for (int i = 0; i < count; i++) {
            below += found[i] < LEAST_ERROR;
            const double x = log10(100 * fmax(found[i], LEAST_ERROR));
            cli_canvas_point(c, x, 100.0 * i / count);
            cli_canvas_point(c, x, 100.0 * (i + 1) / count);
        }
    }
    free(found);
    return below;
}

static carom_status draw_errors(const measure_run *run, int part, const char *folder, measure_figures *figures, carom_error *error) {
    cli_canvas c = {0};
    char title[2 * MEASURE_NAME], caption[4 * MEASURE_NAME];
    int below = 0;
    for (int i = 0; i < run->law_count; i++) {
        const int before = c.count;
        below += add_distribution(run, &c, part, run->rows[i], CAROM_MEASURE_ERROR, run->laws[i]->name, CAROM_PLOT_LINE);
        if (c.count > before) cli_canvas_law(&c, run->laws[i]->name);
    }
    below += add_distribution(run, &c, part, run->impacts, CAROM_MEASURE_FLOOR_CONE, "floor: any impulse within the friction cones",
                              CAROM_PLOT_GUIDE);
    below += add_distribution(run, &c, part, run->impacts, CAROM_MEASURE_NULL_ERROR, "null set: nearest point", CAROM_PLOT_TRACES);
    if (!c.count) return CAROM_OK;
    snprintf(title, sizeof title, "Errors: %s", run->parts[part].name);
    const int used = snprintf(caption, sizeof caption, "%s", title);
    if (below)
        snprintf(caption + used, sizeof caption - (size_t)used, "; those below %g %% stand at %g %%", 100 * LEAST_ERROR, 100 * LEAST_ERROR);
    const carom_plot plot = {.title = title,
                             .x_label = below ? "error, relative to |v-| [%], 0.01 % or less at the left" : "error, relative to |v-| [%]",
                             .y_label = "impacts with at most this error [%]",
                             .log_x = true};
    return finish(run, &c, plot, folder, title, caption, figures, error);
}

// ------------------------------------------------------------------------------------------------------------ parameters

// Restitution and friction that the best impulse of each single contact has, over the speed of its approach.
static carom_status draw_parameters(const measure_run *run, const char *folder, measure_figures *figures, carom_error *error) {
    static const int columns[2] = {CAROM_MEASURE_BEST_RESTITUTION, CAROM_MEASURE_BEST_FRICTION};
    static const char *const labels[2] = {"restitution: -(normal velocity after) / before", "friction: tangential over normal impulse"};
    const carom_table *rows = run->impacts;
    const double *speed = carom_table_real_column(rows, CAROM_MEASURE_SPEED);
    const int64_t count = carom_table_rows(rows);
    cli_canvas c = {0};
    for (int k = 0; k < 2; k++) {
        const double *values = carom_table_real_column(rows, columns[k]);
        int64_t known = 0;
        for (int64_t i = 0; i < count; i++) known += !isnan(values[i]);
        if (known < LEAST_IMPACTS) continue;
        cli_canvas_series(&c, labels[k], CAROM_PLOT_DOTS, count);
        for (int64_t i = 0; i < count; i++)
            if (!isnan(values[i])) cli_canvas_point(&c, speed[i], values[i]);
    }
    if (!c.count) return CAROM_OK;
    const carom_plot plot = {.title = "Single contacts: restitution and friction of each impact",
                             .x_label = "speed of the approach [m/s]",
                             .y_label = "coefficient"};
    return finish(run, &c, plot, folder, "parameters", "Restitution and friction of single contacts over the speed of approach", figures,
                  error);
}

// ------------------------------------------------------------------------------------------------------------------ sets

// The two rows of contact velocities of a picture: of a single contact its first tangential and its normal velocity, otherwise two normal
// velocities.
typedef struct plane {
    const double *row[2];
    char label[2][MEASURE_NAME];
} plane;

static plane choose_plane(const carom_impact_data *data) {
    plane p = {.row = {data->contacts > 1 ? data->normal : data->tangent, data->contacts > 1 ? data->normal + data->nv : data->normal}};
    snprintf(p.label[0], MEASURE_NAME, data->contacts > 1 ? "normal velocity of %.60s [m/s]" : "tangential velocity of %.60s [m/s]",
             data->names[0]);
    snprintf(p.label[1], MEASURE_NAME, "normal velocity of %.60s [m/s]", data->names[data->contacts > 1]);
    return p;
}

static double project(const double *row, const double *v, int nv) {
    double sum = 0;
    for (int k = 0; k < nv; k++) sum += row[k] * v[k];
    return sum;
}

// The ellipse of two standard deviations of v+ around the measured outcome: center + 2 C (cos t, sin t), C C' the covariance in the plane.
static void add_ellipse(cli_canvas *c, const carom_measurement *one, const plane *p) {
    const int nv = carom_impact_get_data(one->impact)->nv;
    double S[3] = {0};
    for (int i = 0; i < nv; i++)
        for (int k = 0; k < nv; k++) {
            const double entry = one->covariance[(nv + i) * 2 * nv + nv + k];
            S[0] += p->row[0][i] * entry * p->row[0][k];
            S[1] += p->row[1][i] * entry * p->row[0][k];
            S[2] += p->row[1][i] * entry * p->row[1][k];
        }
    const double a = sqrt(fmax(S[0], 0)), b = a > 0 ? S[1] / a : 0, d = sqrt(fmax(S[2] - b * b, 0));
    const double x = project(p->row[0], one->after, nv), y = project(p->row[1], one->after, nv);
    cli_canvas_series(c, "two standard deviations", CAROM_PLOT_TRACES, ELLIPSE_POINTS);
    for (int i = 0; i < ELLIPSE_POINTS; i++) {
        const double angle = FULL_TURN * i / (ELLIPSE_POINTS - 1);
        cli_canvas_point(c, x + 2 * a * cos(angle), y + 2 * (b * cos(angle) + d * sin(angle)));
    }
}

// The outline of the null set's points. The set is convex, and so is what is seen of it.
static carom_status add_null_set(const measure_run *run, cli_canvas *c, int impact, const plane *p, carom_error *error) {
    const carom_measurement *one = &run->measurements.list[impact];
    const int nv = carom_impact_get_data(one->impact)->nv;
    const size_t room = (size_t)run->null_points;
    carom_arena arena = {0};
    double *points = carom_arena_take(&arena, room * (size_t)nv, sizeof *points), *x = carom_arena_take(&arena, room, sizeof *x),
           *y = carom_arena_take(&arena, room, sizeof *y);
    int64_t *hull = carom_arena_take(&arena, room, sizeof *hull), found = 0, corners = 0;
    carom_status status = arena.failed ? carom_fail_memory(error, "figures") : CAROM_OK;
    if (!status)
        status = carom_measure_null_set(one, run->parts[run->part[impact]].friction, MEASURE_EDGES, carom_many_seed(0, impact),
                                        run->null_points, points, &found, error);
    for (int64_t i = 0; i < found && !status; i++) {
        x[i] = project(p->row[0], points + i * nv, nv);
        y[i] = project(p->row[1], points + i * nv, nv);
    }
    if (!status && found) status = carom_hull_plane(x, y, found, hull, &corners, error);
    if (!status && corners) {
        cli_canvas_series(c, "null set: hull of its points", CAROM_PLOT_DASHES, corners);
        for (int64_t i = 0; i < corners; i++) cli_canvas_point(c, x[hull[i]], y[hull[i]]);
    }
    carom_arena_free(&arena);
    return status;
}

// All laws on one impact, asked once more.
static carom_status draw_set(const measure_run *run, int impact, double shown_error, const char *folder, measure_figures *figures,
                             carom_error *error) {
    const carom_measurement *one = &run->measurements.list[impact];
    const carom_impact_data *data = carom_impact_get_data(one->impact);
    const plane p = choose_plane(data);
    const int part = run->part[impact];
    cli_canvas c = {0};
    carom_status status = CAROM_OK;
    for (int i = 0; i < run->law_count && !status; i++) {
        const carom_measure_law *law = &run->asked[part * run->law_count + i];
        carom_measure_set set = {0};
        if (!carom_measure_applies(law, one)) continue;
        status = carom_measure_ask(law, one, impact, NULL, &run->control, &set, error);
        if (!status && set.count && c.count < CLI_MOST_SERIES - 3) {
            // Many draws of a set are dots.
            const bool draws = run->laws[i]->samples && set.count > 1;
            cli_canvas_series(&c, run->laws[i]->name, draws ? CAROM_PLOT_DOTS : CAROM_PLOT_MARKS, set.count);
            cli_canvas_law(&c, run->laws[i]->name);
            for (int64_t k = 0; k < set.count; k++)
                cli_canvas_point(&c, project(p.row[0], set.members + k * set.nv, set.nv),
                                 project(p.row[1], set.members + k * set.nv, set.nv));
        }
        carom_measure_set_free(&set);
    }
    if (!status && one->covariance) add_ellipse(&c, one, &p);
    if (!status && run->null_points) status = add_null_set(run, &c, impact, &p, error);
    cli_canvas_series(&c, "measured", CAROM_PLOT_MEASURED, 1);
    cli_canvas_point(&c, project(p.row[0], one->after, data->nv), project(p.row[1], one->after, data->nv));
    char title[2 * MEASURE_NAME], name[MEASURE_NAME], caption[4 * MEASURE_NAME];
    snprintf(title, sizeof title, "Impact %d, %s", impact, run->parts[part].name);
    snprintf(name, sizeof name, "impact-%d", impact);
    snprintf(caption, sizeof caption, "Impact %d (%s): what the laws allow, and what was measured; error of the best law %.3f", impact,
             run->parts[part].name, shown_error);
    const carom_plot plot = {.title = title, .x_label = p.label[0], .y_label = p.label[1]};
    if (status) {
        carom_arena_free(&c.arena);
        return status;
    }
    return finish(run, &c, plot, folder, name, caption, figures, error);
}

int measure_best_law(const measure_run *run, int part) {
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < run->law_count; i++) {
        measure_summary one;
        measure_summarise(run, part, i, &one);
        if (!(one.median < least)) continue;
        least = one.median;
        best = i;
    }
    return best;
}

int measure_rank(const measure_run *run, int part, int law, int *ranked) {
    const double *errors = carom_table_real_column(run->rows[law], CAROM_MEASURE_ERROR);
    int count = 0;
    for (int i = 0; i < carom_table_rows(run->rows[law]); i++) {
        if (run->part[i] != part || !measure_evaluated(run, i) || isnan(errors[i])) continue;
        int place = count++;
        for (; place > 0 && errors[ranked[place - 1]] < errors[i]; place--) ranked[place] = ranked[place - 1];
        ranked[place] = i;
    }
    return count;
}

carom_status measure_draw(const measure_run *run, const char *folder, measure_figures *figures, carom_error *error) {
    carom_status status = CAROM_OK;
    const int parts = run->part_count < MOST_PARTS ? run->part_count : MOST_PARTS;
    for (int part = 0; part < parts && !status && !cli_interrupted(); part++) status = draw_errors(run, part, folder, figures, error);
    if (!status && !cli_interrupted()) status = draw_parameters(run, folder, figures, error);
    int *ranked = malloc(((size_t)run->measurements.count + 1) * sizeof *ranked);
    if (!status && !ranked) status = carom_fail_memory(error, "figures");
    for (int part = 0; part < parts && !status; part++) {
        const int law = measure_best_law(run, part), count = law < 0 ? 0 : measure_rank(run, part, law, ranked);
        // The impact in the middle, and the worst one.
        const int shown[SHOWN_SETS] = {count / 2, 0};
        for (int k = 0; k < SHOWN_SETS && k < count && !status && !cli_interrupted(); k++)
            status = draw_set(run, ranked[shown[k]], carom_table_real_column(run->rows[law], CAROM_MEASURE_ERROR)[ranked[shown[k]]], folder,
                              figures, error);
    }
    free(ranked);
    // Ctrl-C reaches gnuplot, too: a failure that it causes is no error.
    return cli_interrupted() ? CAROM_OK : status;
}
