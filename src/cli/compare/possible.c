// SPDX-License-Identifier: Apache-2.0
// What a comparison says in sentences, before figures and tables: what the contacts may do together, the worst cases, and the laws with
// one answer.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"

// Joint modes that get a line.
enum { SHOWN_MODES = 8 };

// Words for what one contact and several do.
typedef const char *const verbs[2];
static verbs joint_verbs[CAROM_MOTIONS] = {
    [CAROM_MOTION_STICK] = {"sticks", "stick"},
    [CAROM_MOTION_FORWARD] = {"slides forward", "slide forward"},
    [CAROM_MOTION_BACKWARD] = {"slides backward", "slide backward"},
    [CAROM_MOTION_SLIDE] = {"slides", "slide"},
    [CAROM_MOTION_LIFT] = {"lifts", "lift"},
};
static verbs single_verbs[CAROM_CONTACT_MODES] = {
    [CAROM_CONTACT_STICKS] = {"sticks", "stick"},
    [CAROM_CONTACT_SLIDES] = {"slides", "slide"},
    [CAROM_CONTACT_LIFTS] = {"lifts", "lift"},
    [CAROM_CONTACT_APPROACHES] = {"still approaches", "still approach"},
};

// "A and C stick; B lifts": every contact once, those that do the same together. `does` has a row of the words for each contact.
static void put_contacts(FILE *file, const cli_comparison *comparison, const unsigned char *does, verbs *words, int kinds) {
    const carom_impact_data *data = carom_impact_get_data(comparison->impact);
    bool first = true;
    for (int kind = 0; kind < kinds; kind++) {
        int count = 0, written = 0;
        for (int i = 0; i < data->contacts; i++) count += does[i] == kind;
        if (!count) continue;
        if (!first) fputs("; ", file);
        first = false;
        const bool all = count == data->contacts && count > 2;
        if (all) fputs("all contacts", file);
        for (int i = 0; i < data->contacts && !all; i++) {
            if (does[i] != kind) continue;
            if (written++) fputs(written == count ? " and " : ", ", file);
            cli_put_text(file, data->names[i]);
        }
        fprintf(file, " %s", words[kind][count > 1]);
    }
}

static int compare_counts(const void *a, const void *b) {
    const carom_joint_mode *const *x = a, *const *y = b;
    return (*x)->count != (*y)->count ? ((*x)->count < (*y)->count ? 1 : -1) : (*x > *y) - (*x < *y);
}

// A line for each joint mode that samples show, those seen most often first.
static carom_status put_modes(FILE *file, const cli_comparison *comparison, carom_error *error) {
    const carom_joint_modes *modes = comparison->modes;
    if (!modes || !modes->count) return CAROM_OK;
    const carom_joint_mode **sorted = malloc((size_t)modes->count * sizeof *sorted);
    if (!sorted) return carom_fail_memory(error, "joint modes");
    int64_t outcomes = modes->unfinished;
    for (int i = 0; i < modes->count; i++) {
        sorted[i] = modes->modes + i;
        outcomes += modes->modes[i].count;
    }
    qsort(sorted, (size_t)modes->count, sizeof *sorted, compare_counts);
    const char *of_set = modes->approximate ? "" : " of the set";
    if (modes->count == 1)
        fprintf(file, "In all %" PRId64 " outcomes%s that were sampled the contacts do the same:\n\n", outcomes, of_set);
    else
        fprintf(file, "What the contacts do together in %" PRId64 " sampled outcomes%s, in %d ways:\n\n", outcomes, of_set, modes->count);
    for (int i = 0; i < modes->count && i < SHOWN_MODES; i++) {
        char share[32];
        cli_describe_share(sorted[i]->count, outcomes, share, sizeof share);
        fputs("- ", file);
        put_contacts(file, comparison, sorted[i]->motions, joint_verbs, CAROM_MOTIONS);
        fprintf(file, ": %s%s\n", share,
                sorted[i]->approximate == sorted[i]->count ? "\\" CLI_OUTSIDE " (in no outcome that is in the set for certain)" : "");
    }
    if (modes->count > SHOWN_MODES) fprintf(file, "- and %d more ways\n", modes->count - SHOWN_MODES);
    fputs("\n`carom modes` lists them all with their velocities, and certifies them where the exact set finishes. Shares are no "
          "probabilities.\n\n",
          file);
    free(sorted);
    return CAROM_OK;
}

// The largest number of a row of ranges [count x 2], by its size; returns its index.
static int find_largest(const double *ranges, int count, double *largest) {
    int found = 0;
    *largest = 0;
    for (int i = 0; i < 2 * count; i++) {
        if (!(fabs(ranges[i]) > fabs(*largest))) continue;
        *largest = ranges[i];
        found = i / 2;
    }
    return found;
}

// The extremes of the set: by the exact set where there is one, otherwise as far as samples go.
static void put_extremes(FILE *file, const cli_comparison *comparison) {
    const cli_run *exact = cli_find_exact(comparison), *set = exact;
    for (int i = 0; i < comparison->count && !set; i++)
        if (comparison->runs[i].law->samples && comparison->runs[i].extent->outcomes > 1) set = &comparison->runs[i];
    if (!set || !set->extent->outcomes) return;
    const carom_impact_data *data = carom_impact_get_data(comparison->impact);
    const char *known = exact ? "at most" : "at least";
    // Samples that may lie outside the set claim nothing of it: their numbers stand beside those of outcomes that are in it for certain.
    const bool outside = set->extent->approximate > 0;
    const carom_extent *extent = outside ? comparison->members : set->extent;
    if (!extent || isnan(extent->normal[0])) {
        fputs("No sampled outcome is in the set for certain (`carom worst` finds some).\n\n", file);
        return;
    }
    double lift, slip, sampled;
    const int lifts = find_largest(extent->normal, data->contacts, &lift);
    const int slips = find_largest(extent->tangent, data->contacts * data->tangent_dim, &slip);
    fprintf(file, "The extremes of the set%s:\n\n",
            exact     ? ", which is exact"
            : outside ? ", as far as outcomes reach that are in it for certain (`carom worst` reaches further)"
                      : ", as far as samples reach (`carom worst` reaches further)");
    if (cli_show_velocity(comparison, lift) > 0) {
        fputs("- the contact that may lift fastest is ", file);
        cli_put_text(file, data->names[lifts]);
        fprintf(file, ", with %s %.4g m/s", known, lift);
    } else {
        fputs("- no contact lifts", file);
    }
    find_largest(set->extent->normal, data->contacts, &sampled);
    if (outside) fprintf(file, " (%.4g m/s\\" CLI_OUTSIDE " in samples)", cli_show_velocity(comparison, sampled));
    fputc('\n', file);
    if (cli_show_velocity(comparison, fabs(slip)) > 0) {
        fputs("- the contact that may slide or swing fastest along its surface is ", file);
        cli_put_text(file, data->names[slips / data->tangent_dim]);
        fprintf(file, ", with %s %.4g m/s%s", known, fabs(slip), data->tangent_dim == 2 ? " along one tangent" : "");
    } else {
        fputs("- no contact moves along its surface", file);
    }
    find_largest(set->extent->tangent, data->contacts * data->tangent_dim, &sampled);
    if (outside) fprintf(file, " (%.4g m/s\\" CLI_OUTSIDE " in samples)", fabs(cli_show_velocity(comparison, sampled)));
    fputc('\n', file);
    const double *ratio = extent->energy_ratio;
    if (!isnan(ratio[0])) {
        const double least = 100 * fmax(ratio[0], 0), most = 100 * ratio[1];
        if (least < 0.05 && most >= 0.05)
            fprintf(file, "- of the kinetic energy %s %.3g %% may remain, and nearly nothing may\n\n", known, most);
        else if (most < 0.05)
            fputs("- no kinetic energy remains\n\n", file);
        else
            fprintf(file, "- of the kinetic energy between %.3g and %.3g %% remains\n\n", least, most);
    }
}

// Do two laws with one outcome each give the same contact velocities?
static bool say_the_same(const cli_comparison *comparison, const cli_run *a, const cli_run *b) {
    const carom_impact_data *data = carom_impact_get_data(comparison->impact);
    for (int i = 0; i < data->contacts; i++)
        if (cli_show_velocity(comparison, a->extent->normal[2 * i] - b->extent->normal[2 * i]) != 0) return false;
    for (int i = 0; i < data->contacts * data->tangent_dim; i++)
        if (cli_show_velocity(comparison, a->extent->tangent[2 * i] - b->extent->tangent[2 * i]) != 0) return false;
    return true;
}

// The laws with one outcome, those that agree in one line with what the contacts do.
static carom_status put_single_answers(FILE *file, const cli_comparison *comparison, carom_error *error) {
    const int contacts = carom_impact_get_data(comparison->impact)->contacts;
    unsigned char *does = calloc((size_t)contacts, 1);
    bool *told = calloc((size_t)comparison->count + 1, sizeof *told), begun = false;
    const carom_status status = does && told ? CAROM_OK : carom_fail_memory(error, "laws");
    for (int i = 0; i < comparison->count && !status; i++) {
        const cli_run *run = &comparison->runs[i];
        if (told[i] || run->extent->outcomes != 1 || !carom_answer_complete(&run->answer)) continue;
        fprintf(file, "%s- `%s`", begun ? "" : "Laws with one answer, those that agree together:\n\n", run->law->name);
        begun = true;
        for (int k = i + 1; k < comparison->count; k++) {
            const cli_run *other = &comparison->runs[k];
            if (other->extent->outcomes != 1 || !carom_answer_complete(&other->answer) || !say_the_same(comparison, run, other)) continue;
            fprintf(file, ", `%s`", other->law->name);
            told[k] = true;
        }
        // Of the one outcome each contact is in one mode.
        for (int c = 0; c < contacts; c++)
            for (unsigned char mode = 0; mode < CAROM_CONTACT_MODES; mode++)
                if (run->extent->modes[c * CAROM_CONTACT_MODES + mode]) does[c] = mode;
        fputs(": ", file);
        put_contacts(file, comparison, does, single_verbs, CAROM_CONTACT_MODES);
        fputc('\n', file);
    }
    if (begun) fputc('\n', file);
    free(does);
    free(told);
    return status;
}

carom_status cli_put_possible(FILE *file, const cli_comparison *comparison, carom_error *error) {
    fputs("## What is possible\n\n", file);
    const carom_status status = put_modes(file, comparison, error);
    if (status) return status;
    put_extremes(file, comparison);
    // Of an uncertain impact every law has an outcome for each draw.
    return comparison->uncertainty ? CAROM_OK : put_single_answers(file, comparison, error);
}
