// SPDX-License-Identifier: Apache-2.0
// The numbers of each part, as a table for people and as JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/json.h"
#include "cli/measure/measure.h"

// A lever test with a smaller probability has failed.
#define FAILED 0.01

// The median of a column over the rows of a part that are evaluated; those without a number take no part.
static double median_of(const measure_run *run, int part, const carom_table *rows, int column) {
    const double *values = carom_table_real_column(rows, column);
    double *found = malloc(((size_t)run->measurements.count + 1) * sizeof *found);
    int count = 0;
    for (int i = 0; found && i < carom_table_rows(rows); i++)
        if (run->part[i] == part && measure_evaluated(run, i) && !isnan(values[i])) found[count++] = values[i];
    if (count) carom_sort(count, found);
    const double median = found ? carom_quantile(count, found, 0.5) : (double)NAN;
    free(found);
    return median;
}

static double mean_of(const measure_run *run, int part, const carom_table *rows, int column) {
    const double *values = carom_table_real_column(rows, column);
    double sum = 0;
    int count = 0;
    for (int i = 0; i < carom_table_rows(rows); i++) {
        if (run->part[i] != part || !measure_evaluated(run, i) || isnan(values[i])) continue;
        sum += values[i];
        count++;
    }
    return count ? sum / count : (double)NAN;
}

void measure_describe_ground(const measure_run *run, int part, measure_ground *ground) {
    const carom_table *rows = run->impacts;
    const double *chi2 = carom_table_real_column(rows, CAROM_MEASURE_LEVER_CHI2);
    const int64_t *freedom = carom_table_integer_column(rows, CAROM_MEASURE_LEVER_FREEDOM);
    *ground = (measure_ground){.floor = median_of(run, part, rows, CAROM_MEASURE_FLOOR),
                               .floor_cone = median_of(run, part, rows, CAROM_MEASURE_FLOOR_CONE),
                               .null = median_of(run, part, rows, CAROM_MEASURE_NULL_ERROR),
                               .null_score = mean_of(run, part, rows, CAROM_MEASURE_NULL_SCORE),
                               .null_radius = median_of(run, part, rows, CAROM_MEASURE_NULL_RADIUS),
                               .lever = NAN,
                               .lever_failed = NAN};
    // The lever test knows no law: all impacts of the part take part.
    double *found = malloc(((size_t)run->measurements.count + 1) * sizeof *found);
    int count = 0, failed = 0;
    for (int i = 0; found && i < carom_table_rows(rows); i++) {
        if (run->part[i] != part) continue;
        ground->evaluated += measure_evaluated(run, i);
        if (isnan(chi2[i])) continue;
        found[count++] = chi2[i] / (double)freedom[i];
        failed += carom_measure_chi_square_tail(chi2[i], (int)freedom[i]) < FAILED;
    }
    if (count) {
        carom_sort(count, found);
        ground->lever = carom_quantile(count, found, 0.5);
        ground->lever_failed = (double)failed / count;
    }
    free(found);
}

void measure_summarise(const measure_run *run, int part, int law, measure_summary *summary) {
    const carom_table *rows = run->rows[law];
    const double *errors = carom_table_real_column(rows, CAROM_MEASURE_ERROR), *chi2 = carom_table_real_column(rows, CAROM_MEASURE_CHI2),
                 *tail = carom_table_real_column(rows, CAROM_MEASURE_TAIL);
    const int64_t *applies = carom_table_integer_column(rows, CAROM_MEASURE_APPLIES),
                  *freedom = carom_table_integer_column(rows, CAROM_MEASURE_FREEDOM),
                  *members = carom_table_integer_column(rows, CAROM_MEASURE_MEMBERS),
                  *approximate = carom_table_integer_column(rows, CAROM_MEASURE_APPROXIMATE);
    *summary = (measure_summary){.radius = median_of(run, part, rows, CAROM_MEASURE_RADIUS),
                                 .score = mean_of(run, part, rows, CAROM_MEASURE_SCORE),
                                 .chi2 = NAN,
                                 .freedom = NAN,
                                 .contained = NAN};
    double *found = malloc(((size_t)run->measurements.count + 1) * sizeof *found), total = 0;
    int count = 0, within_5 = 0, within = 0, weighed = 0, contained = 0;
    int64_t degrees = 0;
    for (int i = 0; found && i < carom_table_rows(rows); i++) {
        if (run->part[i] != part || !measure_evaluated(run, i) || !applies[i]) continue;
        summary->count++;
        summary->unanswered += isnan(errors[i]);
        summary->members += members[i];
        summary->approximate += approximate[i];
        if (isnan(errors[i])) continue;
        found[count++] = errors[i];
        within_5 += errors[i] <= 0.05;
        within += errors[i] <= run->tolerance;
        if (isnan(chi2[i])) continue;
        weighed++;
        total += chi2[i];
        degrees += freedom[i];
        contained += tail[i] >= 0.05;
    }
    if (count) carom_sort(count, found);
    summary->median = carom_quantile(count, found, 0.5);
    summary->p95 = carom_quantile(count, found, 0.95);
    summary->within_5 = count ? (double)within_5 / count : (double)NAN;
    summary->within = count ? (double)within / count : (double)NAN;
    if (weighed) {
        // Parameters were fitted to the other half, if there is one; otherwise they cost degrees of freedom.
        const carom_measure_fit *fit = &run->fits[part * run->law_count + law];
        const carom_interval interval = run->intervals[part * run->law_count + law].restitution;
        const int spent = run->measurements.groups < 2 ? !isnan(fit->friction) + !isnan(fit->restitution) + 2 * !isnan(interval.least) : 0;
        summary->chi2 = total;
        summary->freedom = (double)(degrees - spent);
        summary->contained = (double)contained / weighed;
    }
    free(found);
}

// Takes a value that all contacts share; others make the range unknown.
static void share_value(double value, bool first, carom_interval *range) {
    if (first)
        *range = (carom_interval){value, value};
    else if (range->least != value)
        *range = (carom_interval){NAN, NAN};
}

void measure_parameters(const measure_run *run, int part, int law, carom_interval *friction, carom_interval *restitution) {
    const carom_measure_law *asked = &run->asked[part * run->law_count + law];
    const measure_part *here = &run->parts[part];
    carom_interval own_friction = {NAN, NAN}, own_restitution = {NAN, NAN};
    for (int i = 0; i < here->count; i++) {
        const carom_impact_data *data = carom_impact_get_data(run->measurements.list[here->members[i]].impact);
        for (int k = 0; k < data->contacts; k++) {
            share_value(data->friction[k], i + k == 0, &own_friction);
            share_value(data->restitution[k], i + k == 0, &own_restitution);
        }
    }
    // Fitted or given for all, else the option of the law, else what the impacts have.
    *friction = isnan(asked->friction.least) ? own_friction : asked->friction;
    *restitution = asked->restitution;
    if (!carom_measure_bounces(asked) || !isnan(asked->restitution.least)) return;
    const carom_option *option = &asked->law->options[carom_option_find(asked->law->options, asked->law->option_count, "restitution")];
    const double *value = (const double *)(const void *)((const char *)asked->options + option->offset);
    const bool interval = option->type == CAROM_OPTION_INTERVAL;
    *restitution = isnan(value[0]) ? own_restitution : (carom_interval){value[0], value[interval]};
}

bool measure_takes_friction_only(const measure_run *run) {
    return run->common.finished && !run->fit_restitution && !cli_given(run->arguments, "restitution");
}

void measure_describe_interval(const measure_run *run, int part, int law, char *text, size_t size) {
    const carom_measure_interval *found = &run->intervals[part * run->law_count + law];
    *text = '\0';
    if (!found->finished) return;
    const double tolerance = 100 * run->tolerance, share = 100 * run->share;
    if (isnan(found->restitution.least)) {
        snprintf(text, size, "no e fits: the set with e in [0, 1] holds no outcome of the training half within %.3g %%", tolerance);
        return;
    }
    const int used = snprintf(text, size, "e %.2f:%.2f is the least interval that holds %.3g %% of the training half within %.3g %%",
                              found->restitution.least, found->restitution.most, share, tolerance);
    if (used < 0 || (size_t)used >= size) return;
    if (found->reachable < run->share)
        snprintf(text + used, size - (size_t)used, ", or as much as [0, 1]: %.0f %%; %.0f walks of the fit lie in it",
                 100 * found->reachable, found->members);
    else
        snprintf(text + used, size - (size_t)used, " (it holds %.0f %%, [0, 1] %.0f %%; %.0f walks of the fit lie in it)",
                 100 * found->contained, 100 * found->reachable, found->members);
}

bool measure_caveat(const measure_run *run, char caveat[CAROM_CAVEAT_SIZE]) {
    int64_t outside = 0, members = 0;
    carom_sizes widest = {0};
    for (int k = 0; k < run->part_count * run->law_count; k++) {
        measure_summary one;
        measure_summarise(run, k / run->law_count, k % run->law_count, &one);
        if (one.approximate) members += one.members;
        outside += one.approximate;
    }
    // The sentence is that of impacts in space where some of them are.
    for (int i = 0; i < run->measurements.count; i++) {
        const carom_sizes sizes = carom_impact_sizes(run->measurements.list[i].impact);
        if (sizes.tangents - sizes.contacts >= widest.tangents - widest.contacts) widest = sizes;
    }
    return carom_outcomes_caveat(widest, outside, members, caveat);
}

const char *measure_silence(const measure_run *run, int part) {
    const measure_part *here = &run->parts[part];
    bool finished = false;
    for (int i = 0; i < here->count; i++) {
        if (here->members[i] >= carom_table_rows(run->impacts)) continue;
        finished = true;
        if (measure_evaluated(run, here->members[i])) return NULL;
    }
    return finished ? "all are in the training half" : "the run was interrupted before them";
}

// ------------------------------------------------------------------------------------------------------------------ JSON

static json_t *range_json(carom_interval range) {
    return range.least < range.most ? json_pack("[o, o]", carom_json_real(range.least), carom_json_real(range.most))
                                    : carom_json_real(range.least);
}

// Numbers, [least, most], or null.
static json_t *parameters_json(const measure_run *run, int part, int law) {
    const carom_measure_fit *fit = &run->fits[part * run->law_count + law];
    carom_interval friction, restitution;
    measure_parameters(run, part, law, &friction, &restitution);
    // Of an interval, both ends have an error, and it says how it was fitted.
    const carom_measure_interval *found = &run->intervals[part * run->law_count + law];
    const bool interval = found->finished && !isnan(found->restitution.least);
    json_t *spread = interval ? json_pack("[o, o]", carom_json_real(found->least_error), carom_json_real(found->most_error))
                              : carom_json_real(fit->restitution_error);
    json_t *how = interval ? json_pack("{s:f, s:f, s:f, s:f, s:f}", "share", run->share, "tolerance", run->tolerance, "contained",
                                       found->contained, "reachable", found->reachable, "members", found->members)
                           : json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "mu", range_json(friction), "e", range_json(restitution), "mu_error",
                     carom_json_real(fit->friction_error), "e_error", spread, "e_interval", how);
}

static json_t *group_json(const measure_run *run, int part) {
    measure_ground ground;
    measure_describe_ground(run, part, &ground);
    json_t *laws = json_array();
    for (int i = 0; i < run->law_count; i++) {
        measure_summary one;
        measure_summarise(run, part, i, &one);
        if (!one.count) continue;
        json_array_append_new(
            laws, json_pack("{s:s, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "law", run->laws[i]->name,
                            "parameters", parameters_json(run, part, i), "evaluated", one.count, "unanswered", one.unanswered,
                            "median_error", carom_json_real(one.median), "p95_error", carom_json_real(one.p95), "within_5_percent",
                            carom_json_real(one.within_5), "within_tolerance", carom_json_real(one.within), "contained_95",
                            carom_json_real(one.contained), "chi2", carom_json_real(one.chi2), "freedom", carom_json_real(one.freedom),
                            "radius", carom_json_real(one.radius), "energy_score", carom_json_real(one.score), "members",
                            (json_int_t)one.members, "approximate", (json_int_t)one.approximate));
    }
    const char *silence = measure_silence(run, part);
    return json_pack("{s:o, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", carom_json_text(run->parts[part].name),
                     "count", run->parts[part].count, "reason", silence ? json_string(silence) : json_null(), "evaluated", ground.evaluated,
                     "floor", carom_json_real(ground.floor), "floor_cone", carom_json_real(ground.floor_cone), "null",
                     carom_json_real(ground.null), "null_energy_score", carom_json_real(ground.null_score), "null_radius",
                     carom_json_real(ground.null_radius), "lever_chi2_per_freedom", carom_json_real(ground.lever), "lever_failed",
                     carom_json_real(ground.lever_failed), "laws", laws);
}

json_t *measure_json(const measure_run *run, bool complete) {
    json_t *groups = json_array(), *identified = json_null();
    for (int k = 0; k < run->part_count; k++) json_array_append_new(groups, group_json(run, k));
    if (run->identify) {
        const carom_measure_identification *found = &run->identified;
        identified = json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "inertia", carom_json_reals(found->inertia, 3), "com",
                               run->identify_com ? carom_json_reals(found->com, 3) : json_null(), "inertia_error",
                               carom_json_reals(found->inertia_error, 3), "com_error",
                               run->identify_com ? carom_json_reals(found->com_error, 3) : json_null(), "tensor",
                               carom_json_matrix(found->tensor, 3, 3), "impacts", found->impacts);
    }
    json_t *friction =
        !run->common.finished
            ? json_null()
            : json_pack("{s:i, s:o, s:o, s:o, s:o}", "impacts", run->lacking, "mu", carom_json_real(run->common.friction), "e",
                        carom_json_real(run->common.restitution), "mu_error", carom_json_real(run->common.friction_error), "e_error",
                        carom_json_real(run->common.restitution_error));
    const carom_verdict verdict = complete ? CAROM_COMPLETE : CAROM_INTERRUPTED;
    json_t *document =
        json_pack("{s:s, s:b, s:s, s:i, s:I, s:b, s:o, s:o, s:o, s:O, s:O}", "schema", "carom.measure/1", "complete", complete, "verdict",
                  carom_verdict_name(verdict), "impacts", run->measurements.count, "finished", (json_int_t)carom_table_rows(run->impacts),
                  "held_out", run->held_out && run->measurements.groups > 1, "groups", groups, "single_contacts", friction, "identified",
                  identified, "left_out", run->left_out, "files", run->files);
    char caveat[CAROM_CAVEAT_SIZE];
    measure_caveat(run, caveat);
    cli_add_caveat(document, caveat);
    return document;
}

// ------------------------------------------------------------------------------------------------------------------ text

static void print_number(double value, int width, int digits) {
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, value);
}

// One number, or two with a colon.
static void print_range(carom_interval range) {
    char text[32];
    snprintf(text, sizeof text, "%.3g:%.3g", range.least, range.most);
    if (range.least < range.most)
        printf(" %9s", text);
    else
        print_number(range.least, 9, 3);
}

// Three numbers, and their errors where a bootstrap found them.
static void print_triple(const double value[3], const double deviation[3], int digits, const char *unit) {
    printf(" (%.*g, %.*g, %.*g)", digits, value[0], digits, value[1], digits, value[2]);
    if (!isnan(deviation[0])) printf(" +- (%.1g, %.1g, %.1g)", deviation[0], deviation[1], deviation[2]);
    printf(" %s,", unit);
}

void measure_print(const measure_run *run) {
    printf("%s: %d impacts in %d groups", run->arguments->operand, run->measurements.count, run->measurements.groups);
    if (carom_table_rows(run->impacts) < run->measurements.count) printf(", %d of them finished", (int)carom_table_rows(run->impacts));
    putchar('\n');
    if (run->common.finished) {
        printf("friction of the %d impacts without mu, fitted to single contacts by stronge on the training half: mu %.3f", run->lacking,
               run->common.friction);
        if (!isnan(run->common.friction_error)) printf(" +- %.3f", run->common.friction_error);
        printf(" (e %.3f", run->common.restitution);
        if (!isnan(run->common.restitution_error)) printf(" +- %.3f", run->common.restitution_error);
        puts(measure_takes_friction_only(run) ? "); the laws take mu, not e, which --fit e or --restitution sets" : ")");
    }
    if (run->identify) {
        printf("inertia");
        print_triple(run->identified.inertia, run->identified.inertia_error, 4, "kg m^2");
        if (run->identify_com) printf(" centre of mass");
        if (run->identify_com) print_triple(run->identified.com, run->identified.com_error, 2, "m");
        printf(" from %d impacts\n", run->identified.impacts);
    }
    printf("errors |x - v+|_M / |v-|_M%s\n", run->held_out && run->measurements.groups > 1 ? " of the held-out half" : "");
    for (int part = 0; part < run->part_count; part++) {
        measure_ground ground;
        measure_describe_ground(run, part, &ground);
        const char *silence = measure_silence(run, part);
        if (silence) {
            printf("\n%s: %d impacts, none evaluated: %s\n", run->parts[part].name, run->parts[part].count, silence);
            continue;
        }
        printf("\n%s: %d impacts, %d evaluated\n", run->parts[part].name, run->parts[part].count, ground.evaluated);
        char within[32];
        snprintf(within, sizeof within, "<= %.3g %%", 100 * run->tolerance);
        printf("  %-16s %9s %9s %7s %7s %7s %9s %7s %7s %7s\n", "law", "mu", "e", "median", "95 %", within, "chi2/dof", "in 95 %", "radius",
               "score");
        printf("  %-16s %9s %9s", "floor", "", "");
        print_number(ground.floor, 7, 4);
        printf("   (within the cones %.4f", ground.floor_cone);
        if (!isnan(ground.lever)) printf("; lever test chi2/dof %.2f, %.0f %% failed", ground.lever, 100 * ground.lever_failed);
        puts(")");
        for (int i = 0; i < run->law_count; i++) {
            measure_summary one;
            measure_summarise(run, part, i, &one);
            if (!one.count) continue;
            carom_interval friction, restitution;
            measure_parameters(run, part, i, &friction, &restitution);
            printf("  %-16s", run->laws[i]->name);
            print_range(friction);
            print_range(restitution);
            print_number(one.median, 7, 4);
            print_number(one.p95, 7, 4);
            print_number(100 * one.within, 6, 0);
            printf("%%");
            print_number(one.freedom > 0 ? one.chi2 / one.freedom : (double)NAN, 9, 2);
            print_number(100 * one.contained, 6, 0);
            printf("%c", isnan(one.contained) ? ' ' : '%');
            print_number(one.radius, 7, 4);
            print_number(one.score, 7, 4);
            fputs(one.approximate ? CLI_OUTSIDE : "", stdout);
            if (one.unanswered) printf("   (of %d; %d of %d have no outcome)", one.count - one.unanswered, one.unanswered, one.count);
            putchar('\n');
            char fitted[MEASURE_SENTENCE];
            measure_describe_interval(run, part, i, fitted, sizeof fitted);
            if (*fitted) printf("    %s\n", fitted);
        }
        if (isnan(ground.null)) continue;
        printf("  %-16s %9s %9s", "null set", "", "");
        print_number(ground.null, 7, 4);
        printf(" %7s %7s %9s %7s", "", "", "", "");
        print_number(ground.null_radius, 8, 4);
        print_number(ground.null_score, 7, 4);
        putchar('\n');
    }
    char caveat[CAROM_CAVEAT_SIZE];
    if (measure_caveat(run, caveat)) printf(CLI_OUTSIDE " %s\n", caveat);
    const size_t files = json_array_size(run->files);
    for (size_t i = 0; i < files; i++) printf("written: %s\n", json_string_value(json_array_get(run->files, i)));
    if (carom_table_rows(run->impacts) < run->measurements.count) printf("(interrupted)\n");
}
