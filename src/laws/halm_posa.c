// SPDX-License-Identifier: Apache-2.0
// Law `halm-posa`: the set of post-impact velocities of the impact inclusion, sampled.
#include "laws/laws_internal.h"

// The law's own result columns: what carom_sample_statistics counts.
enum {
    RESULT_SAMPLES,
    RESULT_REQUESTED,
    RESULT_TERMINATED,
    RESULT_UNSOLVED,
    RESULT_CLOSED,
    RESULT_WALKS,
    RESULT_APPROXIMATE,
    RESULT_LCP_SOLVES,
    RESULT_LCPS_PER_SAMPLE,
    RESULT_LCPS_PER_SAMPLE_CI95,
    RESULT_FALLBACKS,
    RESULT_LOOKED_UP,
    RESULT_NONUNIQUE_SHARE,
    RESULT_MAX_RESIDUAL,
    RESULT_MAX_RELATIVE_ENERGY_GAIN,
    RESULT_STEP,
    RESULT_DIGEST,
    RESULT_SOLVER,
    RESULT_PATH,
    RESULT_DRAWS,
    RESULT_OWN_COLUMNS
};

static const carom_column result_columns[RESULT_OWN_COLUMNS] = {
    [RESULT_SAMPLES] = {"samples", CAROM_COLUMN_INTEGER, 1, "", "samples that were finished", NULL},
    [RESULT_REQUESTED] = {"requested", CAROM_COLUMN_INTEGER, 1, "", "samples that were asked for", NULL},
    [RESULT_TERMINATED] = {"terminated", CAROM_COLUMN_INTEGER, 1, "", "samples that ended without approaching contacts", NULL},
    [RESULT_UNSOLVED] = {"unsolved", CAROM_COLUMN_INTEGER, 1, "", "samples that met a step without verified solution", NULL},
    [RESULT_CLOSED] = {"closed", CAROM_COLUMN_INTEGER, 1, "", "samples that terminated only by the closing step of Algorithm 2", NULL},
    [RESULT_WALKS] = {"walks", CAROM_COLUMN_INTEGER, 1, "", "samples that are walks", NULL},
    [RESULT_APPROXIMATE] = {"approximate", CAROM_COLUMN_INTEGER, 1, "",
                            "outcomes that may lie outside the set by O(h): within a step slip reverses, or an open contact presses", NULL},
    [RESULT_LCP_SOLVES] = {"lcp_solves", CAROM_COLUMN_INTEGER, 1, "", "LCPs solved, without closing steps", NULL},
    [RESULT_LCPS_PER_SAMPLE] = {"lcps_per_sample", CAROM_COLUMN_REAL, 1, "", "mean of the impact steps of a time-stepped sample", NULL},
    [RESULT_LCPS_PER_SAMPLE_CI95] = {"lcps_per_sample_ci95", CAROM_COLUMN_REAL, 1, "", "half width of the mean's 95 % confidence interval",
                                     NULL},
    [RESULT_FALLBACKS] = {"fallbacks", CAROM_COLUMN_INTEGER, 1, "", "steps that the solver's first attempt did not solve", NULL},
    [RESULT_LOOKED_UP] = {"looked_up", CAROM_COLUMN_INTEGER, 1, "", "steps that the cone map served", NULL},
    [RESULT_NONUNIQUE_SHARE] = {"nonunique_share", CAROM_COLUMN_REAL, 1, "",
                                "share of steps with several solutions that differ in velocity, where that is known", NULL},
    [RESULT_MAX_RESIDUAL] = {"max_residual", CAROM_COLUMN_REAL, 1, "", "largest LCP residual of a step", NULL},
    [RESULT_MAX_RELATIVE_ENERGY_GAIN] = {"max_relative_energy_gain", CAROM_COLUMN_REAL, 1, "",
                                         "largest energy gain of a step over the initial energy", NULL},
    [RESULT_STEP] = {"step", CAROM_COLUMN_REAL, 1, "N s", "h, largest normal impulse of a contact in one step", NULL},
    [RESULT_DIGEST] = {"digest", CAROM_COLUMN_TEXT, 1, "", "SHA-256 of the outcomes' v_plus as little-endian float64, in sample order",
                       NULL},
    [RESULT_SOLVER] = {"solver", CAROM_COLUMN_TEXT, 1, "", "LCP solver", NULL},
    [RESULT_PATH] = {"path", CAROM_COLUMN_TEXT, 1, "", "way of computing that ran", NULL},
    [RESULT_DRAWS] = {"draws", CAROM_COLUMN_INTEGER, 1, "", "draws of what is uncertain in the impact; 0 where nothing is", NULL},
};

carom_halm_posa_options carom_halm_posa_defaults(void) { return carom_sample_defaults(); }

static void defaults(void *options) { *(carom_halm_posa_options *)options = carom_halm_posa_defaults(); }

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    carom_sample_statistics statistics;
    carom_status status = carom_reach_sample(call->impact, call->options, call->registry, call->control, call->sink, &statistics, error);
    if (status) return status;

    // The law's own result columns follow the common ones.
    const int first = CAROM_RESULT_COLUMNS;
    carom_table *result = call->result;
    *carom_table_integers(result, first + RESULT_SAMPLES) = statistics.counts.samples;
    *carom_table_integers(result, first + RESULT_REQUESTED) = statistics.requested;
    *carom_table_integers(result, first + RESULT_TERMINATED) = statistics.counts.terminated;
    *carom_table_integers(result, first + RESULT_UNSOLVED) = statistics.counts.unsolved;
    *carom_table_integers(result, first + RESULT_CLOSED) = statistics.counts.closed;
    *carom_table_integers(result, first + RESULT_WALKS) = statistics.walks;
    *carom_table_integers(result, first + RESULT_APPROXIMATE) = statistics.counts.approximate;
    *carom_table_integers(result, first + RESULT_LCP_SOLVES) = statistics.lcp_solves;
    *carom_table_reals(result, first + RESULT_LCPS_PER_SAMPLE) = statistics.lcps_per_sample;
    *carom_table_reals(result, first + RESULT_LCPS_PER_SAMPLE_CI95) = statistics.lcps_per_sample_ci95;
    *carom_table_integers(result, first + RESULT_FALLBACKS) = statistics.counts.fallbacks;
    *carom_table_integers(result, first + RESULT_LOOKED_UP) = statistics.counts.looked_up;
    *carom_table_reals(result, first + RESULT_NONUNIQUE_SHARE) = statistics.nonunique_share;
    *carom_table_reals(result, first + RESULT_MAX_RESIDUAL) = statistics.counts.max_residual;
    *carom_table_reals(result, first + RESULT_MAX_RELATIVE_ENERGY_GAIN) = statistics.max_relative_energy_gain;
    *carom_table_reals(result, first + RESULT_STEP) = statistics.step;
    *carom_table_integers(result, first + RESULT_DRAWS) = statistics.draws;
    status = carom_table_set_text(result, first + RESULT_DIGEST, statistics.digest, error);
    if (!status) status = carom_table_set_text(result, first + RESULT_SOLVER, statistics.solver, error);
    if (!status) status = carom_table_set_text(result, first + RESULT_PATH, statistics.path, error);
    return status ? status : carom_law_conclude(call, statistics.verdict, statistics.selection, error);
}

static carom_status members(const carom_law_call *call, carom_member_source *source, carom_error *error) {
    return carom_sample_members(call->impact, call->options, call->registry, source, error);
}

const carom_law carom_law_halm_posa = {
    .name = "halm-posa",
    .summary = "the set of possible outcomes, sampled",
    .source = "Halm & Posa 2023, Algorithms 1 and 2",
    CAROM_OPTION_TABLE(carom_halm_posa_options, carom_sample_rows),
    .defaults = defaults,
    .members = members,
    .samples = true,
    .bouncing = carom_law_by_hypothesis,
    CAROM_COLUMN_TABLE(outcome, carom_sample_columns),
    CAROM_COLUMN_TABLE(result, result_columns),
    .resolve = resolve,
};
