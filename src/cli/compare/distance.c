// SPDX-License-Identifier: Apache-2.0
// How far the outcomes of laws are from the exact set, and the set from them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/compare/compare.h"

// The law whose pieces are certified to be the whole set, and were kept: where memory is short, a law is asked without keeping them.
const cli_run *cli_find_exact(const cli_comparison *comparison) {
    for (int i = 0; i < comparison->count; i++) {
        const carom_answer *answer = &comparison->runs[i].answer;
        const int column = carom_table_find(answer->result, "certificate");
        const bool kept = answer->outcomes && carom_table_rows(answer->outcomes) == comparison->runs[i].points->count;
        if (column >= 0 && !strcmp(carom_table_text(answer->result, column, 0), "exact") && kept) return &comparison->runs[i];
    }
    return NULL;
}

const cli_run *cli_find_whole(const cli_comparison *comparison) {
    for (int i = 0; i < comparison->count; i++)
        if (comparison->uncertainty && cli_takes_all(comparison->runs[i].law)) return &comparison->runs[i];
    return NULL;
}

bool cli_is_outer(const cli_run *run) {
    const int column = carom_table_find(run->answer.result, "certificate");
    return column >= 0 && !strcmp(carom_table_text(run->answer.result, column, 0), "outer");
}

carom_status cli_make_exact_set(const cli_run *run, carom_set **set, carom_error *error) {
    const cli_points *points = run->points;
    // Rows with the same index are the vertices of one piece.
    const int64_t *piece = carom_table_integer_column(run->answer.outcomes, CAROM_OUTCOME_COLUMNS + CAROM_PIECE_INDEX);
    int64_t *starts = malloc(((size_t)points->count + 1) * sizeof *starts), pieces = 0;
    if (!starts) return carom_fail_memory(error, "exact set");
    for (int64_t i = 0; i < points->count; i++)
        if (i == 0 || piece[i] != piece[i - 1]) starts[pieces++] = i;
    starts[pieces] = points->count;
    const carom_status status = carom_set_create(points->n, pieces, starts, points->u, set, error);
    free(starts);
    return status;
}

// ----------------------------------------------------------------------------------------------------------- distances

// Both one-sided Hausdorff distances of each law's outcomes and the exact set, except for the exact law itself.
carom_status cli_measure_distances(cli_comparison *comparison, const carom_control *control, carom_error *error) {
    const cli_run *run = cli_find_exact(comparison);
    if (!run || run->points->dropped) return CAROM_OK;
    carom_set *exact = NULL;
    const carom_cover_options options = carom_cover_defaults();
    comparison->distances = calloc((size_t)comparison->count, sizeof *comparison->distances);
    carom_status status = comparison->distances ? cli_make_exact_set(run, &exact, error) : carom_fail_memory(error, "distances");
    for (int i = 0; i < comparison->count && !status; i++) {
        const cli_points *points = comparison->runs[i].points;
        cli_distance *distance = &comparison->distances[i];
        if (&comparison->runs[i] == run || points->dropped || !points->count) continue;
        carom_set *outcomes = NULL;
        distance->worst = calloc((size_t)points->n, sizeof *distance->worst);
        // Both searches report their worst point in the same place, the second one last: the point of the set that outcomes miss.
        carom_cover outside = {.point = distance->worst}, missed = {.point = distance->worst};
        if (!distance->worst) status = carom_fail_memory(error, "distances");
        if (!status) status = carom_set_create(points->n, points->count, NULL, points->u, &outcomes, error);
        if (!status) status = carom_set_cover(outcomes, exact, &options, control, &outside, error);
        if (!status) status = carom_set_cover(exact, outcomes, &options, control, &missed, error);
        if (!status) {
            distance->outside = outside.radius;
            distance->coverage = missed.radius;
            distance->gap = fmax(outside.bound - outside.radius, missed.bound - missed.radius);
            distance->known = !outside.interrupted && !missed.interrupted;
        }
        carom_set_free(outcomes);
    }
    carom_set_free(exact);
    return status;
}

void cli_release_distances(cli_comparison *comparison) {
    for (int i = 0; comparison->distances && i < comparison->count; i++) free(comparison->distances[i].worst);
    free(comparison->distances);
    comparison->distances = NULL;
}

bool cli_distance_known(const cli_comparison *comparison, int run) { return comparison->distances && comparison->distances[run].known; }

bool cli_any_distance_known(const cli_comparison *comparison) {
    for (int i = 0; i < comparison->count; i++)
        if (cli_distance_known(comparison, i)) return true;
    return false;
}

// The Hausdorff distance is the larger of the two one-sided ones.
json_t *cli_distance_json(const cli_comparison *comparison, int run) {
    if (!cli_distance_known(comparison, run)) return json_null();
    const cli_distance *distance = &comparison->distances[run];
    json_t *worst = json_object();
    cli_add_contact_velocity(worst, comparison->impact, distance->worst);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "outside", carom_json_real(distance->outside), "coverage",
                     carom_json_real(distance->coverage), "hausdorff", carom_json_real(fmax(distance->outside, distance->coverage)), "gap",
                     carom_json_real(distance->gap), "worst_point", worst);
}
