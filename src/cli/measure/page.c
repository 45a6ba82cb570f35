// SPDX-License-Identifier: Apache-2.0
// The page: tables of every part, the worst impacts, the figures, and how it was made.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measure/measure.h"

const carom_file_kind measure_page_kind = {"the page of an earlier run",
                                           "<!doctype html><!-- made by carom measure; the next one replaces it -->", false, ".html"};

// Impacts in a table of the worst ones.
enum { WORST = 8, MOST_VELOCITIES = 12 };

static const char style[] =
    "body{font:16px/1.5 sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#202020}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}"
    "td:first-child,th:first-child{text-align:left}figure{margin:2rem 0}img{max-width:100%}figcaption{font-size:.9rem;color:#505050}"
    "code{background:#f3f3f3;padding:0 .2rem}";

// Text in which nothing is markup.
static void put_text(FILE *file, const char *text) {
    for (const char *c = text; *c; c++) switch (*c) {
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '&': fputs("&amp;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc((unsigned char)*c < 0x20 ? ' ' : *c, file);
        }
}

static void put_cell(FILE *file, double value, const char *format) {
    fputs("<td>", file);
    if (isfinite(value)) fprintf(file, format, value);
    fputs("</td>", file);
}

// A number, or two, with their errors where these are known.
static void put_range(FILE *file, carom_interval range, double least_error, double most_error) {
    fputs("<td>", file);
    if (!isnan(range.least)) fprintf(file, "%.3f", range.least);
    if (!isnan(range.least) && !isnan(least_error)) fprintf(file, " ± %.3f", least_error);
    if (range.least < range.most) fprintf(file, " to %.3f", range.most);
    if (range.least < range.most && !isnan(most_error)) fprintf(file, " ± %.3f", most_error);
    fputs("</td>", file);
}

// What is known without a law, then a row for each law.
static void put_part(FILE *file, const measure_run *run, int part) {
    measure_ground ground;
    measure_describe_ground(run, part, &ground);
    const char *silence = measure_silence(run, part);
    fputs("<h2>", file);
    put_text(file, run->parts[part].name);
    if (silence) {
        fprintf(file, "</h2>\n<p>%d impacts, none evaluated: %s.</p>\n", run->parts[part].count, silence);
        return;
    }
    fprintf(file, "</h2>\n<p>%d impacts, %d evaluated.", run->parts[part].count, ground.evaluated);
    if (!isnan(ground.lever))
        fprintf(file, " Lever test: median &chi;&sup2; per degree of freedom %.2f, %.1f&nbsp;%% of the impacts fail at 1&nbsp;%%.",
                ground.lever, 100 * ground.lever_failed);
    fprintf(file,
            "</p>\n<table><tr><th>law</th><th>outcomes</th><th>mu</th><th>e</th><th>median error</th><th>95&nbsp;%% of errors</th>"
            "<th>within %.3g&nbsp;%%</th><th>&chi;&sup2;/dof</th><th>in 95&nbsp;%% region</th><th>radius</th><th>energy score</th></tr>\n",
            100 * run->tolerance);
    fprintf(file, "<tr><td><i>floor: any impulse</i></td><td></td><td></td><td></td><td>%.4f</td><td colspan=6></td></tr>\n", ground.floor);
    fprintf(file, "<tr><td><i>floor: within the cones</i></td><td></td><td></td><td></td><td>%.4f</td><td colspan=6></td></tr>\n",
            ground.floor_cone);
    for (int i = 0; i < run->law_count; i++) {
        const carom_measure_fit *fit = &run->fits[part * run->law_count + i];
        measure_summary one;
        carom_interval friction, restitution;
        measure_summarise(run, part, i, &one);
        if (!one.count) continue;
        measure_parameters(run, part, i, &friction, &restitution);
        fprintf(file, "<tr><td>%s%s</td><td>%d of %d</td>", run->laws[i]->name, one.approximate ? CLI_OUTSIDE : "",
                one.count - one.unanswered, one.count);
        const carom_measure_interval *interval = &run->intervals[part * run->law_count + i];
        const bool spread = interval->finished && !isnan(interval->least_error);
        put_range(file, friction, fit->friction_error, fit->friction_error);
        put_range(file, restitution, spread ? interval->least_error : fit->restitution_error,
                  spread ? interval->most_error : fit->restitution_error);
        put_cell(file, one.median, "%.4f");
        put_cell(file, one.p95, "%.4f");
        put_cell(file, 100 * one.within, "%.0f&nbsp;%%");
        put_cell(file, one.freedom > 0 ? one.chi2 / one.freedom : (double)NAN, "%.3g");
        put_cell(file, 100 * one.contained, "%.0f&nbsp;%%");
        put_cell(file, one.radius, "%.4f");
        put_cell(file, one.score, "%.4f");
        fputs("</tr>\n", file);
    }
    if (!isnan(ground.null)) {
        fprintf(file, "<tr><td><i>null set</i></td><td></td><td></td><td></td><td>%.4f</td><td colspan=4></td>", ground.null);
        put_cell(file, ground.null_radius, "%.4f");
        put_cell(file, ground.null_score, "%.4f");
        fputs("</tr>\n", file);
    }
    fputs("</table>\n", file);
    for (int i = 0; i < run->law_count; i++) {
        char fitted[MEASURE_SENTENCE];
        measure_describe_interval(run, part, i, fitted, sizeof fitted);
        if (*fitted) fprintf(file, "<p><code>%s</code>: %s.</p>\n", run->laws[i]->name, fitted);
    }
}

static void put_velocity(FILE *file, const double *v, int nv) {
    fputs("<td>", file);
    for (int k = 0; k < nv && k < MOST_VELOCITIES; k++) fprintf(file, "%s%.3g", k ? ", " : "", v[k]);
    fputs(nv > MOST_VELOCITIES ? ", ...</td>" : "</td>", file);
}

// The impacts that the best law of a part explains worst.
static void put_worst(FILE *file, const measure_run *run, int part, int *ranked) {
    const int law = measure_best_law(run, part), count = law < 0 ? 0 : measure_rank(run, part, law, ranked);
    if (!count) return;
    const carom_table *rows = run->rows[law];
    const int width = carom_table_sizes(rows)->nv;
    fputs("<h3>", file);
    put_text(file, run->parts[part].name);
    fprintf(file, ": <code>%s</code></h3>\n", run->laws[law]->name);
    fputs("<table><tr><th>impact</th><th>group</th><th>speed [m/s]</th><th>error</th><th>floor</th><th>&chi;&sup2;</th>"
          "<th>lever test &chi;&sup2;</th><th>v+ measured</th><th>v+ of the law</th></tr>\n",
          file);
    for (int k = 0; k < count && k < WORST; k++) {
        const int i = ranked[k], nv = carom_impact_get_data(run->measurements.list[i].impact)->nv;
        fprintf(file, "<tr><td>%d</td><td>%d</td>", i, run->measurements.list[i].group);
        put_cell(file, carom_table_real_column(run->impacts, CAROM_MEASURE_SPEED)[i], "%.3f");
        put_cell(file, carom_table_real_column(rows, CAROM_MEASURE_ERROR)[i], "%.4f");
        put_cell(file, carom_table_real_column(run->impacts, CAROM_MEASURE_FLOOR_CONE)[i], "%.4f");
        put_cell(file, carom_table_real_column(rows, CAROM_MEASURE_CHI2)[i], "%.3g");
        put_cell(file, carom_table_real_column(run->impacts, CAROM_MEASURE_LEVER_CHI2)[i], "%.3g");
        put_velocity(file, run->measurements.list[i].after, nv);
        put_velocity(file, carom_table_real_column(rows, CAROM_MEASURE_NEAREST) + i * width, nv);
        fputs("</tr>\n", file);
    }
    fputs("</table>\n", file);
}

typedef struct content {
    const measure_run *run;
    const measure_figures *figures;
} content;

static carom_status put_page(FILE *file, const void *user, carom_error *error) {
    const content *shown = user;
    const measure_run *run = shown->run;
    int *ranked = malloc(((size_t)run->measurements.count + 1) * sizeof *ranked);
    if (!ranked) return carom_fail_memory(error, MEASURE_PAGE);
    fprintf(file, "%s\n<html lang=en><meta charset=utf-8><title>Measured impacts</title>\n<style>%s</style>\n<h1>Measured impacts: ",
            measure_page_kind.start, style);
    put_text(file, run->arguments->operand);
    fprintf(
        file,
        "</h1>\n<p>%d impacts in %d groups, of which %d were finished. Errors are |x &minus; v+|<sub>M</sub> / |v&minus;|<sub>M</sub>%s.",
        run->measurements.count, run->measurements.groups, (int)carom_table_rows(run->impacts),
        run->held_out && run->measurements.groups > 1 ? ", of the half of the groups that no parameter was fitted to" : "");
    fputs(" <i>Radius</i>: the largest distance of a member from the mean of the set, in the same unit. <i>Energy score</i>: strictly "
          "proper, less is better, also than that of the "
          "null set; a set that is large contains much and scores badly. <i>Outcomes</i>: impacts for which the law has one, to which all "
          "numbers of the row belong.</p>\n",
          file);
    if (run->common.finished)
        fprintf(file,
                "<p>Friction of the %d impacts without <code>mu</code>, fitted to single contacts by <code>stronge</code>: %.3f (with e "
                "%.3f%s).</p>\n",
                run->lacking, run->common.friction, run->common.restitution,
                measure_takes_friction_only(run)
                    ? ", which the laws do not take: <code>--fit e</code> or <code>--restitution</code> sets theirs"
                    : "");
    const carom_measure_identification *found = &run->identified;
    if (run->identify)
        fprintf(file, "<p>Identified inertia (%.4g, %.4g, %.4g) kg m&sup2;", found->inertia[0], found->inertia[1], found->inertia[2]);
    if (run->identify_com) fprintf(file, ", centre of mass (%.2g, %.2g, %.2g) m", found->com[0], found->com[1], found->com[2]);
    if (run->identify) fprintf(file, ", from %d impacts.</p>\n", found->impacts);
    for (int part = 0; part < run->part_count; part++) put_part(file, run, part);
    char caveat[CAROM_CAVEAT_SIZE];
    if (measure_caveat(run, caveat)) {
        fputs("<p>" CLI_OUTSIDE " ", file);
        put_text(file, caveat);
        fputs(".</p>\n", file);
    }
    fputs("<h2>Figures</h2>\n", file);
    for (int i = 0; i < shown->figures->count; i++) {
        const measure_figure *figure = &shown->figures->list[i];
        // A line for each file, by which the next run finds it.
        fprintf(file, "<figure>\n<img src=\"%s.png\" alt=\"\">\n<figcaption>", figure->name);
        put_text(file, figure->caption);
        fprintf(file, " <a href=\n\"%s.svg\">as SVG</a></figcaption></figure>\n", figure->name);
    }
    fputs("<h2>The worst impacts</h2>\n<p>Of each part, by the law that comes nearest in the median.</p>\n", file);
    for (int part = 0; part < run->part_count; part++) put_worst(file, run, part, ranked);
    fputs("<h2>How this page was made</h2>\n<p>carom " CAROM_VERSION "; all numbers: <a href=measure.h5>measure.h5</a>, "
          "<a href=measure.json>measure.json</a>. SHA-256 of the impacts: <code>",
          file);
    fprintf(file, "%s</code>.</p>\n<p><code>carom measure ", run->measurements.hash);
    put_text(file, run->arguments->operand);
    for (int i = 0; i < run->arguments->count; i++) {
        const cli_setting *setting = &run->arguments->settings[i];
        if (!setting->value || !strcmp(setting->name, "output") || !strcmp(setting->name, "threads")) continue;
        fputs(" --", file);
        for (const char *letter = setting->name; *letter; letter++) fputc(*letter == '_' ? '-' : *letter, file);
        fputc(' ', file);
        put_text(file, setting->value);
    }
    fputs(" -o DIR</code></p>\n</html>\n", file);
    free(ranked);
    return CAROM_OK;
}

carom_status measure_write_page(const measure_run *run, const measure_figures *figures, const char *folder, carom_error *error) {
    char *path = cli_join_path(folder, MEASURE_PAGE);
    const content shown = {run, figures};
    const carom_status status =
        path ? carom_text_write(path, &measure_page_kind, put_page, &shown, error) : carom_fail_memory(error, MEASURE_PAGE);
    if (!status) json_array_append_new(run->files, carom_json_text(path));
    free(path);
    return status;
}
