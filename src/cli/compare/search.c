// SPDX-License-Identifier: Apache-2.0
// What samples miss, for every scene: how far members of the set are from the nearest of them. Members are walks of other kinds than those
// of samples, outcomes of other laws that are certified to be members, and what a directed search finds.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "carom/json.h"
#include "cli/compare/compare.h"

struct cli_search {
    carom_extent *reached;  // the comparison's, of members
    int64_t evaluations;    // for each direction; 0: nobody asked for a search
    int directions, axes;   // both ways along each axis of contact velocities
    double *extent;         // [axes x 2] what the search reaches [m/s]
    carom_set *samples;     // NULL without any
    int64_t members;        // that were compared with them
    double missed;          // distance of the member that is farthest from the samples; NaN: none was compared
    const char *by;         // what found it: weights of walks, a law, or "search"
    bool walked;            // by is the weights of a walk
    double *point;          // [axes] that member
};

typedef struct effort {
    int64_t evaluations;
} effort;

static const carom_option effort_rows[] = {
    {"search", CAROM_OPTION_INTEGER, offsetof(effort, evaluations), 1, 1e12, "", "none", "walks for each direction", NULL},
};

// Walks of each other kind, as a share of the samples: they cost little beside these.
enum { SAMPLES_FOR_A_WALK = 32 };

static void compare_member(cli_search *search, const double *u, const char *by, bool walked) {
    const int contacts = search->reached->sizes.contacts, stride = search->axes / contacts;
    for (int c = 0; c < search->axes; c++) {
        const int contact = c / stride, k = c % stride - 1;
        double *range = k < 0 ? search->reached->normal + 2 * contact : search->reached->tangent + 2 * (contact * (stride - 1) + k);
        range[0] = fmin(range[0], u[c]);
        range[1] = fmax(range[1], u[c]);
    }
    if (!search->samples) return;
    const double distance = carom_set_distance(search->samples, u, NULL);
    search->members++;
    if (distance <= search->missed) return;
    search->missed = distance;
    search->by = by;
    search->walked = walked;
    memcpy(search->point, u, (size_t)search->axes * sizeof *u);
}

// Walks in which one contact acts at a time, as in sequential laws, and, in the plane, walks that keep one
// proportion: in space some of these take their time. Where samples may lie outside the set, also walks of all weights.
static carom_status compare_walks(const cli_question *question, const carom_sample_options *options, bool outside, cli_search *search,
                                  carom_error *error) {
    static const int kinds[] = {CAROM_WEIGHTS_SINGLE, CAROM_WEIGHTS_CONSTANT, CAROM_WEIGHTS_MIXED};
    carom_status status = CAROM_OK;
    const bool planar = carom_impact_get_data(carom_scene_impact(question->scene))->tangent_dim == 1;
    for (int k = 0; k < 3 && !status; k++) {
        if (kinds[k] == CAROM_WEIGHTS_CONSTANT ? !planar : kinds[k] == CAROM_WEIGHTS_MIXED && !outside) continue;
        carom_sample_options walks = *options;
        walks.samples = 1 + options->samples / SAMPLES_FOR_A_WALK;
        walks.paths = walks.nested = walks.max_steps = 0;
        walks.epsilon = NAN;
        walks.sampler = CAROM_SAMPLER_WALK;
        walks.weights = kinds[k];
        cli_run run = {.law = question->law};
        status = cli_ask_law(question, &walks, NULL, &run, error);
        for (int64_t i = 0; !status && i < run.points->count; i++)
            compare_member(search, run.points->u + i * run.points->n, carom_weights_names[kinds[k]], true);
        cli_run_release(&run);
    }
    return status;
}

// The path of an outcome: velocities and accumulated impulses. Contacts that acted one at a time have the impulses by which their own
// velocities have changed; without such a path there are start and end. Returns the number of rows; 0 where the impulses are not known.
static int trace_outcome(const carom_impact *impact, const cli_run *run, int64_t row, carom_arena *arena, double **u, double **impulse) {
    const carom_table *outcomes = run->answer.outcomes;
    const carom_sizes sizes = carom_impact_sizes(impact);
    const int n = carom_impact_contact_size(impact), stride = n / sizes.contacts;
    const double *W = carom_impact_delassus(impact);
    const int path = carom_table_find(outcomes, "path");
    int acted = 0, numbers = 0;
    const int *word = carom_table_list(outcomes, CAROM_OUTCOME_WORD, row, &acted);
    const double *rows = path >= 0 ? carom_table_series(outcomes, path, row, &numbers) : NULL;
    const bool single = acted > 0 && numbers == (acted + 1) * n;
    const int count = single ? acted + 1 : 2;
    *u = carom_arena_take(arena, (size_t)count * (size_t)n, sizeof **u);
    *impulse = carom_arena_take(arena, (size_t)count * (size_t)n, sizeof **impulse);
    if (arena->failed) return 0;
    if (!single) {
        carom_impact_contact_velocity(impact, carom_impact_get_data(impact)->velocity, *u);
        for (int c = 0; c < n; c++) {
            const int contact = c / stride, k = c % stride - 1;
            const int64_t normal = row * sizes.contacts + contact, tangent = row * sizes.tangents + contact * (stride - 1) + k;
            (*u)[n + c] = k < 0 ? carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_VELOCITY)[normal]
                                : carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_VELOCITY)[tangent];
            (*impulse)[n + c] = k < 0 ? carom_table_real_column(outcomes, CAROM_OUTCOME_NORMAL_IMPULSE)[normal]
                                      : carom_table_real_column(outcomes, CAROM_OUTCOME_TANGENT_IMPULSE)[tangent];
        }
        return isnan((*impulse)[n]) ? 0 : count;
    }
    memcpy(*u, rows, (size_t)numbers * sizeof **u);
    for (int k = 0; k < acted; k++) {
        double block[9], change[3], *before = *impulse + k * n, *after = before + n;
        int exchanges[3];
        const int first = word[k] * stride;
        for (int i = 0; i < stride * stride; i++) block[i] = W[(first + i / stride) * n + first + i % stride];
        for (int i = 0; i < stride; i++) change[i] = rows[(k + 1) * n + first + i] - rows[k * n + first + i];
        if (!carom_lu_factor(stride, block, exchanges)) return 0;
        carom_lu_solve(stride, block, exchanges, change);
        memcpy(after, before, (size_t)n * sizeof *after);
        for (int i = 0; i < stride; i++) after[first + i] += change[i];
    }
    return count;
}

// Vertices of the exact set, and outcomes of other laws of one known impact that are certified to be members.
static carom_status compare_laws(const cli_comparison *comparison, cli_search *search, carom_error *error) {
    carom_status status = CAROM_OK;
    const cli_run *exact = cli_find_exact(comparison);
    for (int64_t i = 0; exact && i < exact->points->count; i++)
        compare_member(search, exact->points->u + i * exact->points->n, exact->law->name, false);
    for (int i = 0; i < comparison->count && !comparison->uncertainty; i++) {
        const cli_run *run = &comparison->runs[i];
        const carom_table *outcomes = run->law->samples ? NULL : run->answer.outcomes;
        for (int64_t row = 0; !status && outcomes && row < carom_table_rows(outcomes); row++) {
            carom_arena arena = {0};
            double *u, *impulse;
            bool certain = false;
            const int rows = trace_outcome(comparison->impact, run, row, &arena, &u, &impulse);
            if (arena.failed) status = carom_fail_memory(error, "search");
            if (rows) status = carom_reach_certify_path(comparison->impact, rows, u, impulse, &certain, error);
            if (certain) compare_member(search, u + (rows - 1) * search->axes, run->law->name, false);
            carom_arena_free(&arena);
        }
    }
    return status;
}

// Both ways along each axis of contact velocities.
static carom_status search_axes(cli_comparison *comparison, const carom_worst_options *options, const carom_control *control,
                                carom_error *error) {
    cli_search *search = comparison->search;
    const int n = search->axes, directions = search->directions;
    carom_functional *functionals = calloc((size_t)directions, sizeof *functionals);
    carom_worst *found = calloc((size_t)directions, sizeof *found);
    double *factors = calloc((size_t)directions * (size_t)n, sizeof *factors), *impulses = calloc((size_t)n, sizeof *impulses);
    carom_status status = functionals && found && factors && impulses ? CAROM_OK : carom_fail_memory(error, "search");
    for (int f = 0; f < directions && !status; f++) {
        factors[f * n + f / 2] = f % 2 ? -1 : 1;
        functionals[f] = (carom_functional){.n = n, .contact = factors + f * n, .impulse = impulses, .unit = "m/s"};
    }
    carom_verdict verdict = CAROM_COMPLETE;
    if (!status) status = carom_worst_search(comparison->impact, functionals, directions, options, control, found, &verdict, error);
    cli_end_progress();
    if (verdict == CAROM_INTERRUPTED) comparison->interrupted = true;
    for (int f = 0; f < directions && !status; f++) {
        if (isinf(found[f].value)) continue;
        search->extent[f / 2 * 2 + (f % 2 ? 0 : 1)] = f % 2 ? -found[f].value : found[f].value;
        carom_witness member;
        status = carom_witness_create(comparison->impact, options, &found[f].tape, found[f].member, &member, error);
        if (status) break;
        compare_member(search, member.u_plus, "search", false);
        carom_witness_release(&member);
    }
    for (int f = 0; found && f < directions; f++) carom_worst_release(&found[f]);
    free(functionals);
    free(found);
    free(factors);
    free(impulses);
    return status;
}

carom_status cli_search_run(cli_comparison *comparison, const carom_control *control, carom_error *error) {
    effort asked = {0};
    carom_status status = cli_apply_rows(comparison->arguments, effort_rows, 1, &asked, error);
    const cli_points *points = NULL;
    bool outside = false;
    for (int i = 0; i < comparison->count; i++) {
        const cli_run *run = &comparison->runs[i];
        if (strcmp(run->law->name, "halm-posa") != 0 || !run->points->count) continue;
        points = run->points;
        outside = run->extent->approximate > 0;
    }
    // Distances are not measured in more dimensions.
    if (points && points->n > CAROM_SET_MOST_DIMENSIONS) points = NULL;
    if (status || !(asked.evaluations || points)) return status;
    const int n = carom_impact_contact_size(comparison->impact);
    cli_search *search = comparison->search = calloc(1, sizeof *search);
    if (!search) return carom_fail_memory(error, "search");
    *search = (cli_search){.evaluations = asked.evaluations, .directions = 2 * n, .axes = n, .missed = NAN};
    if (!comparison->members) status = carom_extent_create(comparison->impact, &comparison->members, error);
    if (status) return status;
    search->reached = comparison->members;
    search->extent = calloc(2 * (size_t)n, sizeof *search->extent);
    search->point = calloc((size_t)n, sizeof *search->point);
    if (!search->extent || !search->point) return carom_fail_memory(error, "search");
    for (int i = 0; i < 2 * n; i++) search->extent[i] = NAN;
    if (points) status = carom_set_create(points->n, points->count, NULL, points->u, &search->samples, error);
    // Walks go as those of the sampled law.
    const cli_question question = {.arguments = comparison->arguments,
                                   .scene = comparison->scene,
                                   .law = carom_law_find(comparison->arguments->registry, "halm-posa"),
                                   .control = control,
                                   .collect_points = true,
                                   .members = comparison->members,
                                   .uncertainty = comparison->uncertainty};
    void *sampled = NULL;
    if (!status) status = cli_prepare_options(&question, NULL, &sampled, error);
    const carom_sample_options *sample = sampled;
    if (!status && points) status = compare_walks(&question, sample, outside, search, error);
    // What is certified is inelastic.
    if (!status && points && sample->rebound.hypothesis == CAROM_HYPOTHESIS_NONE) status = compare_laws(comparison, search, error);
    if (!status && asked.evaluations) {
        carom_worst_options options = carom_worst_defaults();
        options.evaluations = asked.evaluations;
        options.seed = sample->seed;
        carom_member_source walks;
        const carom_sample_options usual = {.sampler = CAROM_SAMPLER_WALK};
        const carom_walker_options how = {carom_sample_max_steps(&usual), sample->weights, sample->rebound, sample->tolerance};
        status = carom_walk_members(&how, &walks, error);
        options.source = &walks;
        options.uncertainty = comparison->uncertainty;
        if (!status) status = search_axes(comparison, &options, control, error);
        carom_member_source_release(&walks);
    }
    free(sampled);
    return status;
}

void cli_search_free(cli_search *search) {
    if (!search) return;
    carom_set_free(search->samples);
    free(search->extent);
    free(search->point);
    free(search);
}

// -------------------------------------------------------------------------------------------------------------- output

json_t *cli_search_json(const cli_comparison *comparison) {
    const cli_search *search = comparison->search;
    if (!search || !search->evaluations) return json_null();
    const int stride = 1 + carom_impact_get_data(comparison->impact)->tangent_dim;
    json_t *normal = json_array(), *tangent = json_array();
    for (int c = 0; c < search->axes; c++)
        json_array_append_new(c % stride ? tangent : normal,
                              json_pack("[o, o]", carom_json_real(search->extent[2 * c]), carom_json_real(search->extent[2 * c + 1])));
    return json_pack("{s:I, s:i, s:{s:o, s:o}}", "evaluations", (json_int_t)search->evaluations, "directions", search->directions, "extent",
                     "normal", normal, "tangent", tangent);
}

json_t *cli_missed_json(const cli_comparison *comparison) {
    const cli_search *search = comparison->search;
    if (!search || isnan(search->missed)) return json_null();
    json_t *point = json_object();
    cli_add_contact_velocity(point, comparison->impact, search->point);
    return json_pack("{s:o, s:s, s:I, s:o}", "distance", carom_json_real(search->missed), "by", search->by, "members",
                     (json_int_t)search->members, "point", point);
}

void cli_search_print(const cli_comparison *comparison, FILE *file, const char *line_start) {
    const cli_search *search = comparison->search;
    const carom_impact_data *data = carom_impact_get_data(comparison->impact);
    const int stride = 1 + data->tangent_dim;
    if (!search) return;
    if (search->evaluations) {
        fprintf(file, "%sreached by search in %d directions, %lld walks each: normal velocities", line_start, search->directions,
                (long long)search->evaluations);
        for (int i = 0; i < data->contacts; i++)
            fprintf(file, "  %s [%.5g, %.5g]", data->names[i], cli_shown(comparison->impact, search->extent[2 * stride * i]),
                    cli_shown(comparison->impact, search->extent[2 * stride * i + 1]));
        fputc('\n', file);
    }
    if (!isnan(search->missed))
        fprintf(file,
                "%sthe samples of halm-posa miss at least %.3g m/s: so far is the farthest of %lld other members (%s%s) from the nearest\n",
                line_start, cli_shown(comparison->impact, search->missed), (long long)search->members, search->by,
                search->walked ? " weights" : "");
}
