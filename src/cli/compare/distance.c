// SPDX-License-Identifier: Apache-2.0
// How far the outcomes of laws are from the exact set, and the set from them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/json.h"
#include "cli/compare/compare.h"

// ------------------------------------------------------------------------------------------------------------- the sets

// Its pieces are certified to be the whole set.
const cli_run *cli_find_exact(const cli_comparison *c) {
    for (int i = 0; i < c->count; i++) {
        const carom_table *result = c->runs[i].answer.result;
        const int column = carom_table_find(result, "certificate");
        if (column >= 0 && !strcmp(carom_table_text(result, column, 0), "exact") && c->runs[i].answer.outcomes) return &c->runs[i];
    }
    return NULL;
}

// A piece is what rows with the same index have as vertices.
carom_status cli_make_exact_set(const cli_run *run, carom_set **set, carom_error *error) {
    const cli_points *points = run->points;
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

static carom_status measure_both(const carom_set *exact, const carom_set *outcomes, const carom_control *control, cli_distance *distance,
                                 double *point, carom_error *error) {
    const carom_cover_options options = carom_cover_defaults();
    carom_cover outside = {.point = point}, missed = {.point = point};
    carom_status status = carom_set_cover(outcomes, exact, &options, control, &outside, error);
    if (!status) status = carom_set_cover(exact, outcomes, &options, control, &missed, error);
    if (status) return status;
    distance->outside = outside.radius;
    distance->coverage = missed.radius;
    distance->gap = fmax(outside.bound - outside.radius, missed.bound - missed.radius);
    distance->known = !outside.interrupted && !missed.interrupted;
    return CAROM_OK;
}

static carom_status measure(const carom_set *exact, const cli_points *points, const carom_control *control, cli_distance *distance,
                            carom_error *error) {
    if (points->dropped || !points->count) return CAROM_OK;
    carom_set *outcomes = NULL;
    distance->worst = calloc((size_t)points->n, sizeof *distance->worst);
    carom_status status = distance->worst ? carom_set_create(points->n, points->count, NULL, points->u, &outcomes, error)
                                          : carom_fail_memory(error, "distances");
    if (!status) status = measure_both(exact, outcomes, control, distance, distance->worst, error);
    carom_set_free(outcomes);
    return status;
}

carom_status cli_measure_distances(cli_comparison *c, const carom_control *control, carom_error *error) {
    const cli_run *run = cli_find_exact(c);
    if (!run || run->points->dropped) return CAROM_OK;
    carom_set *exact = NULL;
    c->distances = calloc((size_t)c->count, sizeof *c->distances);
    carom_status status = c->distances ? cli_make_exact_set(run, &exact, error) : carom_fail_memory(error, "distances");
    for (int i = 0; i < c->count && !status; i++)
        if (&c->runs[i] != run) status = measure(exact, c->runs[i].points, control, &c->distances[i], error);
    carom_set_free(exact);
    return status;
}

void cli_release_distances(cli_comparison *c) {
    for (int i = 0; c->distances && i < c->count; i++) free(c->distances[i].worst);
    free(c->distances);
    c->distances = NULL;
}

bool cli_distance_known(const cli_comparison *c, int run) { return c->distances && c->distances[run].known; }

bool cli_any_distance_known(const cli_comparison *c) {
    for (int i = 0; i < c->count; i++)
        if (cli_distance_known(c, i)) return true;
    return false;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

json_t *cli_distance_json(const cli_comparison *c, int run) {
    if (!cli_distance_known(c, run)) return json_null();
    const cli_distance *d = &c->distances[run];
    json_t *worst = json_object();
    cli_add_contact_velocity(worst, c->impact, d->worst);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "outside", carom_json_real(d->outside), "coverage", carom_json_real(d->coverage),
                     "hausdorff", carom_json_real(fmax(d->outside, d->coverage)), "gap", carom_json_real(d->gap), "worst_point", worst);
}
