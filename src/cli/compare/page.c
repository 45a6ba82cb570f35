// SPDX-License-Identifier: Apache-2.0
// The page of a comparison, as Markdown: the table of laws, the figures, and how to make them again.
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/json.h"
#include "carom/temporary.h"
#include "cli/compare/compare.h"
#include "cli/compare/simulator.h"

// The first line, by which a page is known as ours.
static const carom_file_kind page_kind = {"the page of an earlier comparison",
                                          "<!-- made by carom compare; the next one replaces it -->\n"};

// Contacts with rows in the table.
enum { MOST_ROWS = 16 };

typedef struct page {
    FILE *file;
    const cli_comparison *c;
    const carom_impact_data *data;
    bool approaches;  // some outcome has not terminated: a column for it
} page;

// ---------------------------------------------------------------------------------------------------------------- texts

// Text that Markdown shows as it is, in a paragraph, a heading or a table.
static void put_text(FILE *file, const char *text) {
    static const char special[] = "\\`*_[]<>|~&#$";
    for (const char *c = text; *c; c++) {
        // An underscore within a word and an ampersand before a blank mean nothing.
        const bool plain =
            (*c == '_' && c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1])) || (*c == '&' && c[1] == ' ');
        if (strchr(special, *c) && !plain) fputc('\\', file);
        fputc((unsigned char)*c < 0x20 ? ' ' : *c, file);
    }
}

// A word of a shell's command line.
static void put_word(FILE *file, const char *word) {
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
    snprintf(first, sizeof first, "%.5g", least);
    snprintf(last, sizeof last, "%.5g", most);
    fputs(first, file);
    if (strcmp(first, last)) fprintf(file, " to %s", last);
}

static void put_velocities(const page *p, const double *ranges, int first, int count) {
    for (int i = first; i < first + count; i++) {
        if (i > first) fputs("; ", p->file);
        put_range(p->file, cli_show_velocity(p->c, ranges[2 * i]), cli_show_velocity(p->c, ranges[2 * i + 1]));
    }
}

// ------------------------------------------------------------------------------------------------------------- the table

static int modes_shown(const page *p) { return CAROM_CONTACT_MODES - !p->approaches; }

static int rows_shown(const page *p) { return p->data->contacts < MOST_ROWS ? p->data->contacts : MOST_ROWS; }

static void put_table_head(const page *p) {
    fprintf(p->file, "| law | outcomes | energy after / before | contact | normal velocity [m/s] | tangential velocit%s [m/s] |",
            p->data->tangent_dim == 1 ? "y" : "ies");
    for (int mode = 0; mode < modes_shown(p); mode++) fprintf(p->file, " %s |", carom_contact_mode_name((carom_contact_mode)mode));
    fputs("\n|---|---:|---|---|---|---|", p->file);
    for (int mode = 0; mode < modes_shown(p); mode++) fputs("---:|", p->file);
    fputc('\n', p->file);
}

// Contact velocities before the impact, as ranges of one value.
static void put_before(const page *p, const double *u) {
    const int dim = p->data->tangent_dim;
    for (int i = 0; i < rows_shown(p); i++) {
        const double *part = u + i * (1 + dim);
        const double tangent[] = {part[1], part[1], part[dim], part[dim]}, normal[] = {part[0], part[0]};
        fputs(i ? "| | | | " : "| *before the impact* | | | ", p->file);
        put_text(p->file, p->data->names[i]);
        fputs(" | ", p->file);
        put_velocities(p, normal, 0, 1);
        fputs(" | ", p->file);
        put_velocities(p, tangent, 0, dim);
        fputs(" |", p->file);
        for (int mode = 0; mode < modes_shown(p); mode++) fputs(" |", p->file);
        fputc('\n', p->file);
    }
}

static bool is_sampled(const carom_law *law) {
    for (int i = 0; i < law->outcome_column_count; i++)
        if (!strcmp(law->outcome_columns[i].name, carom_sample_columns[0].name)) return true;
    return false;
}

// Round-off of the energy before the impact is zero.
static double shown_ratio(double ratio) { return ratio <= DBL_EPSILON ? 0 : ratio; }

// Samples that were drawn, of which the terminated ones are outcomes; the number of outcomes where a law draws none.
static int64_t drawn_samples(const cli_run *run) {
    const int column = is_sampled(run->law) ? carom_table_find(run->answer.result, "samples") : -1;
    return column < 0 ? run->extent->outcomes : carom_table_integer_column(run->answer.result, column)[0];
}

// The cells that a law has once: they stand in the row of its first contact.
static void put_law_cells(const page *p, const cli_run *run) {
    fprintf(p->file, "| `%s` | %" PRId64, run->law->name, run->extent->outcomes);
    if (drawn_samples(run) != run->extent->outcomes) fprintf(p->file, " of %" PRId64 " samples", drawn_samples(run));
    if (!carom_answer_complete(&run->answer)) fprintf(p->file, " (%s)", carom_table_text(run->answer.result, CAROM_RESULT_VERDICT, 0));
    fputs(" | ", p->file);
    const double *ratio = run->extent->energy_ratio;
    if (!isnan(ratio[0])) put_range(p->file, shown_ratio(ratio[0]), shown_ratio(ratio[1]));
    fputs(" | ", p->file);
}

static void put_contact_cells(const page *p, const carom_extent *extent, int contact) {
    const int dim = p->data->tangent_dim;
    put_text(p->file, p->data->names[contact]);
    fputs(" | ", p->file);
    if (extent->outcomes) put_velocities(p, extent->normal, contact, 1);
    fputs(" | ", p->file);
    if (extent->outcomes) put_velocities(p, extent->tangent, contact * dim, dim);
    fputs(" |", p->file);
    for (int mode = 0; mode < modes_shown(p); mode++) {
        const int64_t count = extent->modes[contact * CAROM_CONTACT_MODES + mode];
        char share[32];
        cli_describe_share(count, extent->outcomes, share, sizeof share);
        fprintf(p->file, " %s |", count ? share : "");
    }
    fputc('\n', p->file);
}

static void put_table(const page *p, const double *u) {
    put_table_head(p);
    put_before(p, u);
    for (int i = 0; i < p->c->count; i++)
        for (int contact = 0; contact < rows_shown(p); contact++) {
            if (contact)
                fputs("| | | | ", p->file);
            else
                put_law_cells(p, &p->c->runs[i]);
            put_contact_cells(p, p->c->runs[i].extent, contact);
        }
    fputc('\n', p->file);
    if (rows_shown(p) < p->data->contacts)
        fprintf(p->file, "The first %d of %d contacts; `--json` has all.\n\n", rows_shown(p), p->data->contacts);
}

// Contact velocities of a point, normal ones first.
static void put_point(const page *p, const double *u) {
    const int stride = 1 + p->data->tangent_dim, n = carom_impact_contact_size(p->c->impact);
    for (int i = 0; i < n; i += stride) fprintf(p->file, "%s%.4g", i ? ", " : "", cli_show_velocity(p->c, u[i]));
    for (int i = 1; i < n; i++)
        if (i % stride) fprintf(p->file, "%s%.4g", i > 1 ? ", " : "; ", cli_show_velocity(p->c, u[i]));
}

static void put_distances(const page *p) {
    if (!cli_any_distance_known(p->c)) return;
    fputs("## From the exact set\n\nDistances in contact velocities. *Outside*: of the farthest outcome from the exact set. *Missed*: of "
          "the farthest point of the\nset from the outcomes, which are an eps-net of the set for no smaller eps.\n\n"
          "| law | outside [m/s] | missed [m/s] | point that is missed (normal; tangential velocities) |\n|---|---:|---:|---|\n",
          p->file);
    for (int i = 0; i < p->c->count; i++) {
        if (!cli_distance_known(p->c, i)) continue;
        const cli_distance *d = &p->c->distances[i];
        fprintf(p->file, "| `%s` | %.3g | %.3g | ", p->c->runs[i].law->name, cli_show_velocity(p->c, d->outside),
                cli_show_velocity(p->c, d->coverage));
        put_point(p, d->worst);
        fputs(" |\n", p->file);
    }
    fputc('\n', p->file);
}

// What a reader must know to read the table, each where it applies.
static void put_notes(const page *p) {
    bool sampled = false, many = false;
    for (int i = 0; i < p->c->count; i++) {
        sampled = sampled || is_sampled(p->c->runs[i].law);
        many = many || p->c->runs[i].extent->outcomes > 1;
    }
    fprintf(p->file,
            "A contact that is closed (normal velocity within %.2g m/s of zero) *sticks* when its tangential speed is below that too, "
            "otherwise it *slides*; one that opens *lifts*.",
            -carom_impact_approach_limit(p->c->impact));
    if (p->approaches) fputs(" One that *approaches* belongs to an outcome that has not terminated.", p->file);
    if (p->data->tangent_dim == 2) fputs("\nTangential velocities are those along the first; along the second tangent.", p->file);
    if (many) fputs("\nVelocities are the least and the largest of all outcomes; shares count outcomes and are no probabilities.", p->file);
    if (sampled)
        fputs("\nA sampled set is an inner approximation: the set that the law allows contains it and may reach further.", p->file);
    fputs("\n\n", p->file);
}

static void put_laws(const page *p) {
    for (int i = 0; i < p->c->count; i++) {
        const cli_run *run = &p->c->runs[i];
        const char *selection = carom_table_text(run->answer.result, CAROM_RESULT_SELECTION, 0);
        fprintf(p->file, "- `%s`: ", run->law->name);
        put_text(p->file, run->law->summary);
        fputs(" (", p->file);
        put_text(p->file, run->law->source);
        fputs(")", p->file);
        if (*selection) fprintf(p->file, "; selection `%s`", selection);
        fputc('\n', p->file);
    }
    fputc('\n', p->file);
}

// ---------------------------------------------------------------------------------------------- figures and their making

static void put_figures(const page *p, const cli_figures *figures) {
    if (!figures->count) return;
    fputs("## Figures\n\nAll laws in each figure. A dashed convex hull encloses the samples; it is not the set.\n", p->file);
    if (figures->chosen)
        fprintf(p->file, "Of %d contacts, the %d whose velocities differ most have figures.\n", p->data->contacts,
                CLI_MOST_FIGURE_CONTACTS);
    for (int i = 0; i < figures->count; i++) {
        const cli_figure *f = &figures->list[i];
        fputs("\n### ", p->file);
        put_text(p->file, f->caption);
        fputs("\n\n![", p->file);
        put_text(p->file, f->caption);
        fprintf(p->file, "](%s.png)\n\n[as SVG](%s.svg)\n", f->name, f->name);
    }
    fputc('\n', p->file);
}

// The command line of this comparison, without what does not change it.
static void put_command(const page *p, const char *directory) {
    const cli_arguments *arguments = p->c->arguments;
    fputs("carom compare ", p->file);
    put_word(p->file, arguments->operand);
    for (int i = 0; i < arguments->count; i++) {
        const cli_setting *setting = &arguments->settings[i];
        if (!setting->value || !strcmp(setting->name, "output") || !strcmp(setting->name, "threads")) continue;
        fputs(" --", p->file);
        for (const char *letter = setting->name; *letter; letter++) fputc(*letter == '_' ? '-' : *letter, p->file);
        fputc(' ', p->file);
        put_word(p->file, setting->value);
    }
    fputs(" -o ", p->file);
    put_word(p->file, directory);
    fputc('\n', p->file);
}

static void put_plot_command(const page *p, const cli_figure *figure, const char *directory) {
    char *result = cli_join_path(directory, "compare.h5");
    if (!result) return;
    fputs("carom plot ", p->file);
    put_word(p->file, result);
    fputs(" --axes ", p->file);
    put_word(p->file, figure->axes);
    fprintf(p->file, " -o %s.png\n", figure->name);
    free(result);
}

static void put_making(const page *p, const cli_figures *figures, const char *directory) {
    fputs("## How this page was made\n\n| | |\n|---|---|\n| scene | ", p->file);
    put_text(p->file, carom_scene_name(p->c->scene));
    fputs(", ", p->file);
    put_text(p->file, carom_scene_path(p->c->scene));
    fprintf(p->file, " |\n| SHA-256 of the scene and its model | `%s` |\n", carom_scene_hash(p->c->scene));
    fputs("| version | carom " CAROM_VERSION " |\n| all numbers | [compare.h5](compare.h5) |\n\n", p->file);
    fputs("This page again, and one figure of it:\n\n```sh\n", p->file);
    put_command(p, directory);
    if (figures->count) put_plot_command(p, &figures->list[0], directory);
    fputs("```\n", p->file);
}

// ----------------------------------------------------------------------------------------------------------------- page

static bool approaches_somewhere(const cli_comparison *c) {
    for (int i = 0; i < c->count; i++)
        for (int contact = 0; contact < c->runs[i].extent->sizes.contacts; contact++)
            if (c->runs[i].extent->modes[contact * CAROM_CONTACT_MODES + CAROM_CONTACT_APPROACHES]) return true;
    return false;
}

static carom_status put_page(FILE *file, const cli_comparison *c, const cli_figures *figures, const char *directory, carom_error *error) {
    const page p = {file, c, carom_impact_get_data(c->impact), approaches_somewhere(c)};
    double *u = calloc((size_t)carom_impact_contact_size(c->impact), sizeof *u);
    if (!u) return carom_fail_memory(error, CLI_PAGE);
    carom_impact_contact_velocity(c->impact, p.data->velocity, u);
    fprintf(file, "%s\n# ", page_kind.start);
    put_text(file, carom_scene_name(c->scene));
    fprintf(file, "\n\nWhat %d impact laws say of one impact: %d %s contact%s, kinetic energy %.6g J before it.\n\n", c->count,
            p.data->contacts, p.data->tangent_dim == 1 ? "planar" : "spatial", p.data->contacts == 1 ? "" : "s",
            carom_impact_initial_energy(c->impact));
    put_table(&p, u);
    put_notes(&p);
    put_laws(&p);
    put_distances(&p);
    if (c->coverage) {
        fputs("## What the simulator shows\n\n", file);
        cli_coverage_print(c, file, "- ");
        fputc('\n', file);
    }
    put_figures(&p, figures);
    put_making(&p, figures, directory);
    free(u);
    return CAROM_OK;
}

static carom_status refuse_page(const char *path, carom_error *error) {
    return carom_fail(error, CAROM_IO_FAILED, "%s: the file cannot be written: %s", path, strerror(errno));
}

static carom_status write_whole(const char *path, const cli_comparison *c, const cli_figures *figures, const char *directory,
                                carom_error *error) {
    carom_temporary temporary;
    int descriptor;
    carom_status status = carom_temporary_create(path, &page_kind, &temporary, &descriptor, error);
    if (status) return status;
    FILE *file = fdopen(descriptor, "w");
    if (file) {
        status = put_page(file, c, figures, directory, error);
        const bool written = !ferror(file);
        if ((fclose(file) || !written) && !status) status = refuse_page(path, error);
    } else {
        status = refuse_page(path, error);
        close(descriptor);
    }
    if (!status) status = carom_temporary_commit(&temporary, error);
    carom_temporary_discard(&temporary);
    return status;
}

carom_status cli_page_write(const cli_comparison *c, const cli_figures *figures, const char *directory, carom_error *error) {
    char *path = cli_join_path(directory, CLI_PAGE);
    if (!path) return carom_fail_memory(error, CLI_PAGE);
    const carom_status status = write_whole(path, c, figures, directory, error);
    if (!status) json_array_append_new(c->files, carom_json_text(path));
    free(path);
    return status;
}

carom_status cli_page_check(const char *directory, carom_error *error) {
    char *path = cli_join_path(directory, CLI_PAGE);
    if (!path) return carom_fail_memory(error, CLI_PAGE);
    const carom_status status = carom_temporary_check(path, &page_kind, error);
    free(path);
    return status;
}

void cli_page_remove(const char *directory) {
    char *path = cli_join_path(directory, CLI_PAGE);
    if (path) unlink(path);
    free(path);
}
