// SPDX-License-Identifier: Apache-2.0
// What samples miss, for every scene: members of the set that a directed search finds beyond them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/compare/compare.h"

struct cli_search {
    int64_t evaluations;   // for each direction
    int directions, axes;  // both ways along each axis of contact velocities
    double *extent;        // [axes x 2] what the search reaches [m/s]
    double missed;         // distance of the member that is farthest from the samples; NaN without samples
    double *point;         // [axes] that member
};

typedef struct effort {
    int64_t evaluations;
} effort;

static const carom_option effort_rows[] = {
    {"search", CAROM_OPTION_INTEGER, offsetof(effort, evaluations), 1, 1e12, "", "none", "walks for each direction", NULL},
};

// The options of walks are those of the sampled law.
static carom_status read_options(const cli_comparison *comparison, carom_worst_options *options, carom_error *error) {
    const cli_question question = {.arguments = comparison->arguments,
                                   .scene = comparison->scene,
                                   .law = carom_law_find(comparison->arguments->registry, "halm-posa")};
    void *sampled = NULL;
    const carom_status status = cli_prepare_options(&question, NULL, &sampled, error);
    const carom_sample_options *sample = sampled;
    if (!status) {
        options->seed = sample->seed;
        options->walker.weights = sample->weights;
        options->walker.rebound = sample->rebound;
        options->walker.tolerance = sample->tolerance;
        options->uncertainty = comparison->uncertainty;
    }
    free(sampled);
    return status;
}

// The farthest of what was found from the points of the samples.
static carom_status measure(const cli_comparison *comparison, const carom_worst_options *options, const carom_worst *found,
                            cli_search *search, carom_error *error) {
    carom_set *samples = NULL;
    carom_status status = CAROM_OK;
    search->missed = NAN;
    for (int i = 0; i < comparison->count && !status; i++) {
        const cli_points *points = comparison->runs[i].points;
        if (!strcmp(comparison->runs[i].law->name, "halm-posa") && points->count)
            status = carom_set_create(points->n, points->count, NULL, points->u, &samples, error);
    }
    for (int f = 0; f < search->directions && !status; f++) {
        if (isinf(found[f].value)) continue;
        const double sign = f % 2 ? -1 : 1;
        search->extent[f / 2 * 2 + (f % 2 ? 0 : 1)] = sign * found[f].value;
        carom_witness member;
        status = carom_witness_create(comparison->impact, options, &found[f].tape, &member, error);
        if (status) break;
        const double distance = samples ? carom_set_distance(samples, member.u_plus, NULL) : NAN;
        if (!isnan(distance) && !(distance <= search->missed)) {
            search->missed = distance;
            memcpy(search->point, member.u_plus, (size_t)search->axes * sizeof *search->point);
        }
        carom_witness_release(&member);
    }
    carom_set_free(samples);
    return status;
}

carom_status cli_search_run(cli_comparison *comparison, const carom_control *control, carom_error *error) {
    effort asked = {0};
    carom_worst_options options = carom_worst_defaults();
    carom_status status = cli_apply_rows(comparison->arguments, effort_rows, 1, &asked, error);
    if (status || !asked.evaluations) return status;
    status = read_options(comparison, &options, error);
    if (status) return status;
    options.evaluations = asked.evaluations;
    const int n = carom_impact_contact_size(comparison->impact), directions = 2 * n;
    cli_search *search = comparison->search = calloc(1, sizeof *search);
    carom_functional *functionals = calloc((size_t)directions, sizeof *functionals);
    carom_worst *found = calloc((size_t)directions, sizeof *found);
    double *factors = calloc((size_t)directions * (size_t)n, sizeof *factors), *impulses = calloc((size_t)n, sizeof *impulses);
    const bool room = search && functionals && found && factors && impulses;
    if (room) {
        *search = (cli_search){.evaluations = asked.evaluations, .directions = directions, .axes = n};
        search->extent = calloc(2 * (size_t)n, sizeof *search->extent);
        search->point = calloc((size_t)n, sizeof *search->point);
    }
    if (!room || !search->extent || !search->point) status = carom_fail_memory(error, "search");
    for (int i = 0; !status && i < 2 * n; i++) search->extent[i] = NAN;
    for (int f = 0; f < directions && !status; f++) {
        factors[f * n + f / 2] = f % 2 ? -1 : 1;
        functionals[f] = (carom_functional){.n = n, .contact = factors + f * n, .impulse = impulses, .unit = "m/s"};
    }
    carom_verdict verdict = CAROM_COMPLETE;
    if (!status) status = carom_worst_search(comparison->impact, functionals, directions, &options, control, found, &verdict, error);
    cli_end_progress();
    if (verdict == CAROM_INTERRUPTED) comparison->interrupted = true;
    if (!status) status = measure(comparison, &options, found, search, error);
    for (int f = 0; found && f < directions; f++) carom_worst_release(&found[f]);
    free(functionals);
    free(found);
    free(factors);
    free(impulses);
    return status;
}

void cli_search_free(cli_search *search) {
    if (!search) return;
    free(search->extent);
    free(search->point);
    free(search);
}

// -------------------------------------------------------------------------------------------------------------- output

json_t *cli_search_json(const cli_comparison *comparison) {
    const cli_search *search = comparison->search;
    if (!search) return json_null();
    const int stride = 1 + carom_impact_get_data(comparison->impact)->tangent_dim;
    json_t *normal = json_array(), *tangent = json_array(), *point = json_object();
    for (int c = 0; c < search->axes; c++)
        json_array_append_new(c % stride ? tangent : normal,
                              json_pack("[o, o]", carom_json_real(search->extent[2 * c]), carom_json_real(search->extent[2 * c + 1])));
    cli_add_contact_velocity(point, comparison->impact, search->point);
    return json_pack("{s:I, s:i, s:{s:o, s:o}, s:o, s:o}", "evaluations", (json_int_t)search->evaluations, "directions", search->directions,
                     "extent", "normal", normal, "tangent", tangent, "missed", carom_json_real(search->missed), "point", point);
}

void cli_search_print(const cli_comparison *comparison) {
    const cli_search *search = comparison->search;
    const carom_impact_data *data = carom_impact_get_data(comparison->impact);
    const int stride = 1 + data->tangent_dim;
    printf("%-16s %9d  %18s ", "reached by search", search->directions, "");
    for (int i = 0; i < data->contacts; i++)
        printf("  %s [%.5g, %.5g]", data->names[i], cli_shown(comparison->impact, search->extent[2 * stride * i]),
               cli_shown(comparison->impact, search->extent[2 * stride * i + 1]));
    putchar('\n');
    if (!isnan(search->missed))
        printf("the samples of halm-posa miss more than %.3g m/s: so far is a member from the nearest of them\n",
               cli_shown(comparison->impact, search->missed));
}
