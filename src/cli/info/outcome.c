// SPDX-License-Identifier: Apache-2.0
// Is the velocity after this impact unique, in the inelastic impact inclusion? An exact set says it; two solutions that differ deny it.
#include <math.h>

#include "carom/json.h"
#include "cli/info/info.h"

// `info` stays quick: seconds of an exact set, and random solutions, of so many pieces, of impacts with so many contacts.
#define EXACT_SECONDS 2
enum { FIRST_WALKS = 2, MOST_WALKS = 32, MOST_PIECES = 256, MOST_WALKED_CONTACTS = 16 };
// Solutions that differ by less, over the largest contact velocity before the impact, may be one: a hundred times their tolerance.
#define SAME_VELOCITY 1e-6

// By the exact set; undecided where it is not tried, or did not finish.
static carom_status ask_exact_set(const carom_impact *impact, cli_outcome *outcome, carom_error *error) {
    carom_exact_options options = carom_exact_defaults();
    options.seconds = EXACT_SECONDS;
    carom_exact_set *set;
    const carom_status status = carom_exact_solve(impact, &options, NULL, &set, error);
    if (status) return status;
    const int pieces = set->pieces->count;
    if (carom_exact_set_complete(set)) {
        outcome->verdict = carom_exact_set_unique(set) ? CLI_OUTCOME_ONE : CLI_OUTCOME_SEVERAL;
        if (outcome->verdict == CLI_OUTCOME_ONE)
            snprintf(outcome->by, sizeof outcome->by, "the exact set is one velocity");
        else if (pieces == 1)
            snprintf(outcome->by, sizeof outcome->by, "the exact set has one piece, of dimension %d", set->pieces->pieces->dimension);
        else
            snprintf(outcome->by, sizeof outcome->by, "the exact set has %d pieces", pieces);
    }
    carom_exact_set_free(set);
    return CAROM_OK;
}

// By a few random solutions: those that differ deny uniqueness, but equal ones do not prove it.
// @param ended  receives how many of them ended
static carom_status ask_walks(const carom_impact *impact, int walks, cli_outcome *outcome, int64_t *ended, carom_error *error) {
    carom_halm_posa_options options = carom_halm_posa_defaults();
    options.sampler = CAROM_SAMPLER_WALK;
    options.samples = walks;
    options.max_steps = MOST_PIECES;
    const carom_law_call call = {.impact = impact, .options = &options};
    carom_answer answer = {NULL, NULL};
    carom_extent *extent = NULL;
    carom_status status = carom_law_resolve(&carom_law_halm_posa, &call, &answer, error);
    if (!status) status = carom_extent_create(impact, &extent, error);
    if (!status) {
        carom_extent_widen(extent, answer.outcomes);
        *ended = extent->outcomes;
        double widest = 0;
        for (int i = 0; i < extent->sizes.contacts; i++) widest = fmax(widest, extent->normal[2 * i + 1] - extent->normal[2 * i]);
        for (int i = 0; i < extent->sizes.tangents; i++) widest = fmax(widest, extent->tangent[2 * i + 1] - extent->tangent[2 * i]);
        if (widest > SAME_VELOCITY * carom_impact_velocity_scale(impact)) {
            outcome->verdict = CLI_OUTCOME_SEVERAL;
            snprintf(outcome->by, sizeof outcome->by, "two random solutions differ by %.3g m/s at a contact", widest);
        } else {
            snprintf(outcome->by, sizeof outcome->by, "%lld of %d random solutions ended, and agree", (long long)extent->outcomes, walks);
        }
    }
    carom_extent_free(extent);
    carom_answer_free(&answer);
    return status;
}

carom_status cli_info_outcome(const carom_impact *impact, cli_outcome *outcome, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    *outcome = (cli_outcome){.verdict = CLI_OUTCOME_UNDECIDED, .by = "too many contacts to try"};
    carom_status status = carom_exact_law.applies(impact) ? ask_exact_set(impact, outcome, error) : CAROM_OK;
    // Two solutions usually differ if any do; walks of many contacts in space take their time.
    const bool affordable = data->tangent_dim == 1 || data->contacts <= MOST_WALKED_CONTACTS;
    // Where the first ones do not end, more would only take longer.
    int64_t ended = affordable;
    for (int walks = FIRST_WALKS; walks <= MOST_WALKS && ended && outcome->verdict == CLI_OUTCOME_UNDECIDED && !status; walks *= 4)
        status = ask_walks(impact, walks, outcome, &ended, error);
    return status;
}

json_t *cli_outcome_json(const cli_outcome *outcome) {
    json_t *unique = outcome->verdict == CLI_OUTCOME_UNDECIDED ? json_null() : json_boolean(outcome->verdict == CLI_OUTCOME_ONE);
    return json_pack("{s:o, s:s}", "unique", unique, "by", outcome->by);
}

void cli_print_outcome(const cli_outcome *outcome) {
    static const char *const answers[] = {[CLI_OUTCOME_ONE] = "one velocity is possible",
                                          [CLI_OUTCOME_SEVERAL] = "several velocities are possible",
                                          [CLI_OUTCOME_UNDECIDED] = "how many velocities are possible is not decided"};
    printf("after this impact, inelastic with friction: %s\n  %s\n", answers[outcome->verdict], outcome->by);
}
