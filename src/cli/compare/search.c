// SPDX-License-Identifier: Apache-2.0
// What samples miss, for every scene: how far members of the set are from the nearest of them. Members are walks of other kinds than those
// of samples, and what a directed search finds.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/compare/compare.h"

struct cli_search {
    int64_t evaluations;   // for each direction; 0: nobody asked for a search
    int directions, axes;  // both ways along each axis of contact velocities
    double *extent;        // [axes x 2] what the search reaches [m/s]
    carom_set *samples;    // NULL without any
    int64_t members;       // that were compared with them
    double missed;         // distance of the member that is farthest from the samples; NaN: none was compared
    const char *by;        // what found it
    double *point;         // [axes] that member
};

typedef struct effort {
    int64_t evaluations;
} effort;

static const carom_option effort_rows[] = {
    {"search", CAROM_OPTION_INTEGER, offsetof(effort, evaluations), 1, 1e12, "", "none", "walks for each direction", NULL},
};

// Walks of each other kind, as a share of the samples: they cost little beside these.
enum { SAMPLES_FOR_A_WALK = 32 };

static void compare_member(cli_search *search, const double *u, const char *by) {
    if (!search->samples) return;
    const double distance = carom_set_distance(search->samples, u, NULL);
    search->members++;
    if (distance <= search->missed) return;
    search->missed = distance;
    search->by = by;
    memcpy(search->point, u, (size_t)search->axes * sizeof *u);
}

// Walks in which one contact acts at a time, as in sequential laws, and, in the plane, walks that keep one
// proportion: in space some of these take their time.
static carom_status compare_walks(const cli_question *question, const carom_sample_options *options, cli_search *search,
                                  carom_error *error) {
    static const int kinds[] = {CAROM_WEIGHTS_SINGLE, CAROM_WEIGHTS_CONSTANT};
    carom_status status = CAROM_OK;
    const int used = carom_impact_get_data(carom_scene_impact(question->scene))->tangent_dim == 1 ? 2 : 1;
    for (int k = 0; k < used && !status; k++) {
        carom_sample_options walks = *options;
        walks.samples = 1 + options->samples / SAMPLES_FOR_A_WALK;
        walks.paths = walks.nested = walks.max_steps = 0;
        walks.epsilon = NAN;
        walks.sampler = CAROM_SAMPLER_WALK;
        walks.weights = kinds[k];
        cli_run run = {.law = question->law};
        status = cli_ask_law(question, &walks, NULL, &run, error);
        for (int64_t i = 0; !status && i < run.points->count; i++)
            compare_member(search, run.points->u + i * run.points->n, carom_weights_names[kinds[k]]);
        cli_run_release(&run);
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
        status = carom_witness_create(comparison->impact, options, &found[f].tape, &member, error);
        if (status) break;
        compare_member(search, member.u_plus, "search");
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
    for (int i = 0; i < comparison->count; i++)
        if (!strcmp(comparison->runs[i].law->name, "halm-posa") && comparison->runs[i].points->count) points = comparison->runs[i].points;
    if (status || !(asked.evaluations || points)) return status;
    const int n = carom_impact_contact_size(comparison->impact);
    cli_search *search = comparison->search = calloc(1, sizeof *search);
    if (!search) return carom_fail_memory(error, "search");
    *search = (cli_search){.evaluations = asked.evaluations, .directions = 2 * n, .axes = n, .missed = NAN};
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
                                   .uncertainty = comparison->uncertainty};
    void *sampled = NULL;
    if (!status) status = cli_prepare_options(&question, NULL, &sampled, error);
    const carom_sample_options *sample = sampled;
    if (!status && points) status = compare_walks(&question, sample, search, error);
    if (!status && asked.evaluations) {
        carom_worst_options options = carom_worst_defaults();
        options.evaluations = asked.evaluations;
        options.seed = sample->seed;
        options.walker.weights = sample->weights;
        options.walker.rebound = sample->rebound;
        options.walker.tolerance = sample->tolerance;
        options.uncertainty = comparison->uncertainty;
        status = search_axes(comparison, &options, control, error);
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
                strcmp(search->by, "search") ? " weights" : "");
}
