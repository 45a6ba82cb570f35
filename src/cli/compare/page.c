// SPDX-License-Identifier: Apache-2.0
// The page of a comparison, as Markdown: the table of laws, the figures, and how to make them again.
#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "carom/temporary.h"
#include "cli/compare/compare.h"
#include "cli/compare/html.h"
#include "cli/compare/simulator.h"

// The first line, by which a page is known as ours.
static const carom_file_kind page_kind = {"the page of an earlier comparison", "<!-- made by carom compare; the next one replaces it -->\n",
                                          false, ".md"};
static const carom_file_kind html_kind = {"the page of an earlier comparison", "<!-- made by carom compare; the next one replaces it -->\n",
                                          false, ".html"};

// Contacts with rows in the table.
enum { MOST_ROWS = 16 };

// The page under way.
typedef struct page {
    FILE *file;
    const cli_comparison *comparison;
    const carom_impact_data *data;
    int rows;   // contacts in the table
    int modes;  // columns of modes: the last one, approaching, only where some outcome has not terminated
} page;

// ---------------------------------------------------------------------------------------------------------------- texts

// A word of a shell's command line.
static void put_word(FILE *file, const char *word) {
    // Words of these characters alone need no quotes; in the others a quote ends the quoted part, stands escaped, and opens the next.
    bool plain = *word != '\0';
    for (const char *c = word; *c && plain; c++) plain = isalnum((unsigned char)*c) || strchr("_-+=.,:/@%", *c);
    if (plain) {
        fputs(word, file);
        return;
    }
    fputc('\'', file);
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", file);
        else
            fputc(*c, file);
    }
    fputc('\'', file);
}

// "0.1 to 0.2", or one number where both look the same.
static void put_range(FILE *file, double least, double most) {
    char first[32], last[32];
    // Five digits, as in the whole table: ranges that differ only beyond them are one number.
    snprintf(first, sizeof first, "%.5g", least);
    snprintf(last, sizeof last, "%.5g", most);
    fputs(first, file);
    if (strcmp(first, last)) fprintf(file, " to %s", last);
}

// Ranges [least, most] of `count` velocities, each followed by a mark.
static void put_velocities(const page *p, const double *ranges, int count, const char *mark) {
    for (int i = 0; i < count; i++) {
        if (i) fputs("; ", p->file);
        put_range(p->file, cli_show_velocity(p->comparison, ranges[2 * i]), cli_show_velocity(p->comparison, ranges[2 * i + 1]));
        fputs(mark, p->file);
    }
}

// ------------------------------------------------------------------------------------------------------------ the table

// Samples carry the columns of halm-posa: a law whose outcomes have the first of them draws samples.
static bool is_sampled(const carom_law *law) {
    for (int i = 0; i < law->outcome_column_count; i++)
        if (!strcmp(law->outcome_columns[i].name, carom_sample_columns[0].name)) return true;
    return false;
}

// Rows of the contact velocities before the impact, as ranges of one value.
static carom_status put_before(const page *p, carom_error *error) {
    const int dim = p->data->tangent_dim;
    double *u = calloc((size_t)carom_impact_contact_size(p->comparison->impact), sizeof *u);
    if (!u) return carom_fail_memory(error, CLI_PAGE);
    // u = (J_n v, J_t v), contact-major: a normal velocity, then one or two tangential ones.
    carom_impact_contact_velocity(p->comparison->impact, p->data->velocity, u);
    for (int i = 0; i < p->rows; i++) {
        const double *part = u + i * (1 + dim);
        const double tangent[] = {part[1], part[1], part[dim], part[dim]}, normal[] = {part[0], part[0]};
        fputs(i ? "| | | | " : "| *before the impact* | | | ", p->file);
        cli_put_text(p->file, p->data->names[i]);
        fputs(" | ", p->file);
        put_velocities(p, normal, 1, "");
        fputs(" | ", p->file);
        put_velocities(p, tangent, dim, "");
        fputs(" |", p->file);
        for (int mode = 0; mode < p->modes; mode++) fputs(" |", p->file);
        fputc('\n', p->file);
    }
    free(u);
    return CAROM_OK;
}

// The table: a head, the state before the impact, then every law with a row for each contact.
static carom_status put_table(const page *p, carom_error *error) {
    const int dim = p->data->tangent_dim;
    fprintf(p->file, "| law | outcomes | energy after / before | contact | normal velocity [m/s] | tangential velocit%s [m/s] |",
            dim == 1 ? "y" : "ies");
    // A column for each mode of contacts.
    for (int mode = 0; mode < p->modes; mode++) fprintf(p->file, " %s |", carom_contact_mode_name((carom_contact_mode)mode));
    fputs("\n|---|---:|---|---|---|---|", p->file);
    for (int mode = 0; mode < p->modes; mode++) fputs("---:|", p->file);
    fputc('\n', p->file);
    const carom_status status = put_before(p, error);
    for (int i = 0; i < p->comparison->count; i++)
        for (int contact = 0; contact < p->rows; contact++) {
            const cli_run *run = &p->comparison->runs[i];
            const carom_extent *extent = run->extent;
            const char *mark = cli_outside_mark(run);
            if (contact) {
                fputs("| | | | ", p->file);
            } else {
                // The cells that a law has once: they stand in the row of its first contact.
                fprintf(p->file, "| `%s` | %" PRId64, run->law->name, extent->outcomes);
                // Of the samples that a law draws, the terminated ones are outcomes.
                const int column = is_sampled(run->law) ? carom_table_find(run->answer.result, "samples") : -1;
                const int64_t samples = column < 0 ? extent->outcomes : carom_table_integer_column(run->answer.result, column)[0];
                if (samples != extent->outcomes) fprintf(p->file, " of %" PRId64 " samples", samples);
                if (!carom_answer_complete(&run->answer))
                    fprintf(p->file, " (%s)", carom_table_text(run->answer.result, CAROM_RESULT_VERDICT, 0));
                fputs(" | ", p->file);
                // Round-off of the energy before the impact is zero.
                const double *ratio = extent->energy_ratio;
                if (!isnan(ratio[0])) put_range(p->file, ratio[0] <= DBL_EPSILON ? 0 : ratio[0], ratio[1] <= DBL_EPSILON ? 0 : ratio[1]);
                fprintf(p->file, "%s | ", mark);
            }
            // The cells of one contact: its name, the ranges of its velocities, and how many outcomes have it in each mode.
            cli_put_text(p->file, p->data->names[contact]);
            fputs(" | ", p->file);
            if (extent->outcomes) put_velocities(p, extent->normal + 2 * contact, 1, mark);
            fputs(" | ", p->file);
            if (extent->outcomes) put_velocities(p, extent->tangent + 2 * contact * dim, dim, mark);
            fputs(" |", p->file);
            for (int mode = 0; mode < p->modes; mode++) {
                const int64_t count = extent->modes[contact * CAROM_CONTACT_MODES + mode];
                char share[32];
                cli_describe_share(count, extent->outcomes, share, sizeof share);
                fprintf(p->file, " %s |", count ? share : "");
            }
            fputc('\n', p->file);
        }
    fputc('\n', p->file);
    if (p->rows < p->data->contacts) fprintf(p->file, "The first %d of %d contacts; `--json` has all.\n\n", p->rows, p->data->contacts);
    return status;
}

// How far each law is from the exact set, where a law gives that.
static void put_distances(const page *p) {
    const cli_comparison *comparison = p->comparison;
    if (!cli_any_distance_known(comparison)) return;
    fputs("## From the exact set\n\nDistances in contact velocities. *Outside*: of the farthest outcome from the exact set. *Missed*: of "
          "the farthest point of the\nset from the outcomes, which are an eps-net of the set for no smaller eps.\n\n"
          "| law | outside [m/s] | missed [m/s] | point that is missed (normal; tangential velocities) |\n|---|---:|---:|---|\n",
          p->file);
    const int stride = 1 + p->data->tangent_dim, n = carom_impact_contact_size(comparison->impact);
    for (int i = 0; i < comparison->count; i++) {
        if (!cli_distance_known(comparison, i)) continue;
        const cli_distance *distance = &comparison->distances[i];
        fprintf(p->file, "| `%s` | %.3g | %.3g | ", comparison->runs[i].law->name, cli_show_velocity(comparison, distance->outside),
                cli_show_velocity(comparison, distance->coverage));
        // The point of the set that outcomes miss by most: normal velocities first, then the tangential ones.
        for (int k = 0; k < n; k += stride) fprintf(p->file, "%s%.4g", k ? ", " : "", cli_show_velocity(comparison, distance->worst[k]));
        for (int k = 1; k < n; k++)
            if (k % stride) fprintf(p->file, "%s%.4g", k > 1 ? ", " : "; ", cli_show_velocity(comparison, distance->worst[k]));
        fputs(" |\n", p->file);
    }
    fputc('\n', p->file);
}

// ---------------------------------------------------------------------------------------- figures and how they were made

// The figures, each under its caption, with a link to the SVG where there is one.
static void put_figures(const page *p, const cli_figures *figures) {
    if (!figures->count) return;
    fputs("## Figures\n\nAll laws in each figure. A dashed convex hull encloses the samples; it is not the set.\n", p->file);
    if (figures->chosen)
        fprintf(p->file, "Of %d contacts, the %d whose velocities differ most have figures.\n", p->data->contacts,
                CLI_MOST_FIGURE_CONTACTS);
    for (int i = 0; i < figures->count; i++) {
        const cli_figure *figure = &figures->list[i];
        fputs("\n### ", p->file);
        cli_put_text(p->file, figure->caption);
        fputs("\n\n![", p->file);
        cli_put_text(p->file, figure->caption);
        fprintf(p->file, "](%s.png)\n", figure->name);
        if (cli_given(p->comparison->arguments, "svg")) fprintf(p->file, "\n[as SVG](%s.svg)\n", figure->name);
    }
    fputc('\n', p->file);
}

// What a reader needs to make the page again: scene, hash, version, and the commands.
static carom_status put_making(const page *p, const cli_figures *figures, const char *directory, carom_error *error) {
    const cli_comparison *comparison = p->comparison;
    const cli_arguments *arguments = comparison->arguments;
    FILE *file = p->file;
    fputs("## How this page was made\n\n| | |\n|---|---|\n| scene | ", file);
    cli_put_text(file, carom_scene_name(comparison->scene));
    fputs(", ", file);
    cli_put_text(file, carom_scene_path(comparison->scene));
    fprintf(file, " |\n| SHA-256 of the scene and its model | `%s` |\n", carom_scene_hash(comparison->scene));
    fputs("| version | carom " CAROM_VERSION " |\n| all numbers | [compare.h5](compare.h5) |\n\n", file);

    // The command line of this comparison, without what does not change it.
    fputs("This page again, and pictures like its own:\n\n```sh\ncarom compare ", file);
    put_word(file, arguments->operand);
    for (int i = 0; i < arguments->count; i++) {
        const cli_setting *setting = &arguments->settings[i];
        const bool kept = strcmp(setting->name, "output") && strcmp(setting->name, "threads") && strcmp(setting->name, "json");
        if (!kept) continue;
        fputs(" --", file);
        for (const char *letter = setting->name; *letter; letter++) fputc(*letter == '_' ? '-' : *letter, file);
        if (!setting->value) continue;
        fputc(' ', file);
        put_word(file, setting->value);
    }
    fputs(" -o ", file);
    put_word(file, directory);
    fputc('\n', file);
    // The first figure stands for all of them: the others differ only in their axes.
    if (figures->count) {
        char *result = cli_join_path(directory, "compare.h5");
        if (!result) return carom_fail_memory(error, CLI_PAGE);
        fputs("carom plot ", file);
        put_word(file, result);
        fputs(" --axes ", file);
        put_word(file, figures->list[0].axes);
        // Options of figures are those of `carom plot`.
        static const char *const options[] = {"zoom", "focus"};
        for (int i = 0; i < 2; i++)
            if (cli_given(comparison->arguments, options[i]))
                fprintf(file, " --%s %s", options[i], cli_value(comparison->arguments, options[i]));
        if (cli_given(comparison->arguments, "dark")) fputs(" --dark", file);
        fprintf(file, " -o %s.png\n", figures->list[0].name);
        free(result);
    }
    // The mechanism with what one law makes of its impact, which the page does not show.
    if (figures->mechanism) {
        fputs("carom draw ", file);
        put_word(file, arguments->operand);
        fprintf(file, " --outcome %s -o mechanism.png\n", comparison->runs[0].law->name);
    }
    fputs("```\n", file);
    return CAROM_OK;
}

// What a reader must know to read the table, each where it applies.
static void put_legend(const page *p) {
    FILE *file = p->file;
    const cli_comparison *comparison = p->comparison;
    const carom_impact_data *data = p->data;
    bool sampled = false, many = false;
    for (int i = 0; i < comparison->count; i++) {
        sampled = sampled || is_sampled(comparison->runs[i].law);
        many = many || comparison->runs[i].extent->outcomes > 1;
    }
    fprintf(file,
            "A contact that is closed (normal velocity within %.2g m/s of zero) *sticks* when its tangential speed is below that too, "
            "otherwise it *slides*; one that opens *lifts*.",
            -carom_impact_approach_limit(comparison->impact));
    if (p->modes == CAROM_CONTACT_MODES) fputs(" One that *approaches* belongs to an outcome that has not terminated.", file);
    if (data->tangent_dim == 2) fputs("\nTangential velocities are those along the first; along the second tangent.", file);
    if (many) fputs("\nVelocities are the least and the largest of all outcomes; shares count outcomes and are no probabilities.", file);
    char caveat[CAROM_CAVEAT_SIZE];
    if (cli_compare_caveat(comparison, caveat))
        fprintf(file, "\n\\" CLI_OUTSIDE " %s. The set contains the others, and may reach further.", caveat);
    else if (sampled)
        fprintf(file, "\nA sampled set is an inner approximation: the %s that the law allows contains it and may reach further.",
                comparison->uncertainty ? "union of the sets" : "set");
    fputs("\n\n", file);
}

// ----------------------------------------------------------------------------------------------------------------- page

// What the page is made from.
typedef struct page_content {
    const cli_comparison *comparison;
    const cli_figures *figures;
    const char *directory;
} page_content;

// A carom_text_printer of the whole page.
static carom_status put_page(FILE *file, const void *user, carom_error *error) {
    const page_content *content = user;
    const cli_comparison *comparison = content->comparison;
    const carom_impact_data *data = carom_impact_get_data(comparison->impact);
    // The column of the mode "approach" is worth its place only where some contact is in it.
    bool approaches = false;
    for (int i = 0; i < comparison->count; i++)
        for (int contact = 0; contact < data->contacts; contact++)
            approaches |= comparison->runs[i].extent->modes[contact * CAROM_CONTACT_MODES + CAROM_CONTACT_APPROACHES] > 0;
    const page p = {file, comparison, data, data->contacts < MOST_ROWS ? data->contacts : MOST_ROWS, CAROM_CONTACT_MODES - !approaches};
    fprintf(file, "%s\n# ", page_kind.start);
    cli_put_text(file, carom_scene_name(comparison->scene));
    fprintf(file, "\n\nWhat %d impact laws say of %s: %d %s contact%s, kinetic energy %.6g J before it.\n\n", comparison->count,
            comparison->uncertainty ? "an impact of which some numbers are uncertain" : "one impact", data->contacts,
            data->tangent_dim == 1 ? "planar" : "spatial", data->contacts == 1 ? "" : "s", carom_impact_initial_energy(comparison->impact));
    carom_caveats caveats;
    cli_compare_unused(comparison, &caveats);
    for (int i = 0; i < caveats.count; i++) {
        cli_put_text(file, caveats.text[i]);
        fputs(".\n\n", file);
    }
    if (comparison->uncertainty) {
        fprintf(file, "What follows is over %" PRId64 " draws, the same for every law, of", comparison->draws);
        for (int i = 0; i < carom_uncertainty_count(comparison->uncertainty); i++) {
            fputs(i ? ", " : " ", file);
            cli_put_text(file, carom_uncertainty_parameters(comparison->uncertainty)[i].name);
        }
        fputs(". Energy and velocity before the impact are those that the scene names.", file);
        const cli_run *whole = cli_find_whole(comparison);
        if (whole) {
            fprintf(file, " `%s` is of all that is uncertain at once", whole->law->name);
            if (cli_is_outer(whole)) fputs(", an outer set: friction may also change during the impact", file);
            fputc('.', file);
        }
        fputs("\n\n", file);
    }
    if (content->figures->mechanism) {
        fputs("![The mechanism at the impact: contacts, friction cones, and velocities before it](" CLI_MECHANISM_FIGURE ".png)\n\n", file);
        if (cli_given(comparison->arguments, "svg")) fputs("[as SVG](" CLI_MECHANISM_FIGURE ".svg)\n\n", file);
    }
    // The parts in their order; each of them is empty where it has nothing to say.
    carom_status status = cli_put_possible(file, comparison, error);
    put_figures(&p, content->figures);
    fputs("## All laws\n\n", file);
    if (!status) status = put_table(&p, error);
    put_legend(&p);
    // A list that says what each law is, where it is published, and which solutions it took.
    for (int i = 0; i < comparison->count; i++) {
        const cli_run *run = &comparison->runs[i];
        const char *selection = carom_table_text(run->answer.result, CAROM_RESULT_SELECTION, 0);
        fprintf(file, "- `%s`: ", run->law->name);
        cli_put_text(file, run->law->summary);
        fputs(" (", file);
        cli_put_text(file, run->law->source);
        fputs(")", file);
        if (*selection) fprintf(file, "; selection `%s`", selection);
        const int rule = carom_table_find(run->answer.result, "rule");
        if (rule >= 0)
            fprintf(file, "; rule `%s`",
                    carom_table_column(run->answer.result, rule)->flags[*carom_table_integer_column(run->answer.result, rule)]);
        char restitution[CLI_RESTITUTION_SIZE];
        cli_describe_restitution(run, restitution);
        if (cli_bounces(comparison)) fprintf(file, "; restitution %s", isnan(run->restitution.least) ? "not used" : restitution);
        fputc('\n', file);
    }
    size_t index;
    json_t *name;
    json_array_foreach(comparison->left_out, index, name)
        fprintf(file, "- `%s` is left out: %s\n", json_string_value(name), json_string_value(json_array_get(comparison->reasons, index)));
    fputc('\n', file);
    put_distances(&p);
    if (comparison->coverage) {
        fputs("## What the simulator shows\n\n", file);
        cli_coverage_print(comparison, file, "- ");
        fputc('\n', file);
    }
    if (comparison->search) {
        fputs("## What samples miss\n\n", file);
        cli_search_print(comparison, file, "- ");
        fputc('\n', file);
    }
    return status ? status : put_making(&p, content->figures, content->directory, error);
}

// What the page as HTML is made from.
typedef struct html_source {
    const char *markdown, *folder;
} html_source;

// A carom_text_printer of the page as HTML.
static carom_status put_html(FILE *file, const void *user, carom_error *error) {
    const html_source *source = user;
    return cli_html_from_markdown(source->markdown, source->folder, html_kind.start, file, error);
}

carom_status cli_page_write(const cli_comparison *comparison, const cli_figures *figures, const char *folder, const char *directory,
                            carom_error *error) {
    char *path = cli_join_path(folder, CLI_PAGE);
    const page_content content = {comparison, figures, directory};
    carom_status status = path ? carom_text_write(path, &page_kind, put_page, &content, error) : carom_fail_memory(error, CLI_PAGE);
    if (!status) json_array_append_new(comparison->files, carom_json_text(path));
    // The page that people open stands for the others: it is made last.
    char *html = cli_join_path(folder, CLI_HTML_PAGE);
    const html_source source = {path, folder};
    if (!status) status = html ? carom_text_write(html, &html_kind, put_html, &source, error) : carom_fail_memory(error, CLI_HTML_PAGE);
    if (!status) json_array_append_new(comparison->files, carom_json_text(html));
    free(html);
    free(path);
    return status;
}

carom_status cli_page_check(const char *directory, carom_error *error) {
    char *path = cli_join_path(directory, CLI_PAGE), *html = cli_join_path(directory, CLI_HTML_PAGE);
    carom_status status = path && html ? carom_temporary_check(path, &page_kind, error) : carom_fail_memory(error, CLI_PAGE);
    if (!status) status = carom_temporary_check(html, &html_kind, error);
    free(path);
    free(html);
    return status;
}
