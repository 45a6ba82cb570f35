// SPDX-License-Identifier: Apache-2.0
// Law `halm-posa`: the set of post-impact velocities of the impact inclusion, sampled (an inner approximation).
#include "laws/laws_internal.h"

typedef enum result_column {
    RESULT_SAMPLES,
    RESULT_REQUESTED,
    RESULT_TERMINATED,
    RESULT_UNSOLVED,
    RESULT_CLOSED,
    RESULT_LCP_SOLVES,
    RESULT_LCPS_PER_SAMPLE,
    RESULT_LCPS_PER_SAMPLE_CI95,
    RESULT_FALLBACKS,
    RESULT_LOOKED_UP,
    RESULT_MAX_RESIDUAL,
    RESULT_MAX_RELATIVE_ENERGY_GAIN,
    RESULT_STEP,
    RESULT_DIGEST,
    RESULT_SOLVER,
    RESULT_PATH,
    RESULT_OWN_COLUMNS
} result_column;

static const carom_column result_columns[RESULT_OWN_COLUMNS] = {
    [RESULT_SAMPLES] = {"samples", CAROM_COLUMN_INTEGER, 1, "", "samples that were finished", NULL},
    [RESULT_REQUESTED] = {"requested", CAROM_COLUMN_INTEGER, 1, "", "samples that were asked for", NULL},
    [RESULT_TERMINATED] = {"terminated", CAROM_COLUMN_INTEGER, 1, "", "samples that ended without approaching contacts", NULL},
    [RESULT_UNSOLVED] = {"unsolved", CAROM_COLUMN_INTEGER, 1, "", "samples that met a step without verified solution", NULL},
    [RESULT_CLOSED] = {"closed", CAROM_COLUMN_INTEGER, 1, "", "samples that terminated only by the closing step of Algorithm 2", NULL},
    [RESULT_LCP_SOLVES] = {"lcp_solves", CAROM_COLUMN_INTEGER, 1, "", "LCPs solved, without closing steps", NULL},
    [RESULT_LCPS_PER_SAMPLE] = {"lcps_per_sample", CAROM_COLUMN_REAL, 1, "", "mean of the impact steps of a sample", NULL},
    [RESULT_LCPS_PER_SAMPLE_CI95] = {"lcps_per_sample_ci95", CAROM_COLUMN_REAL, 1, "", "half width of the mean's 95 % confidence interval",
                                     NULL},
    [RESULT_FALLBACKS] = {"fallbacks", CAROM_COLUMN_INTEGER, 1, "", "steps that the solver's first attempt did not solve", NULL},
    [RESULT_LOOKED_UP] = {"looked_up", CAROM_COLUMN_INTEGER, 1, "", "steps that the cone map served", NULL},
    [RESULT_MAX_RESIDUAL] = {"max_residual", CAROM_COLUMN_REAL, 1, "", "largest LCP residual of a step", NULL},
    [RESULT_MAX_RELATIVE_ENERGY_GAIN] = {"max_relative_energy_gain", CAROM_COLUMN_REAL, 1, "",
                                         "largest energy gain of a step over the initial energy", NULL},
    [RESULT_STEP] = {"step", CAROM_COLUMN_REAL, 1, "N s", "h, largest normal impulse of a contact in one step", NULL},
    [RESULT_DIGEST] = {"digest", CAROM_COLUMN_TEXT, 1, "", "SHA-256 of the outcomes' v_plus as little-endian float64, in sample order",
                       NULL},
    [RESULT_SOLVER] = {"solver", CAROM_COLUMN_TEXT, 1, "", "LCP solver", NULL},
    [RESULT_PATH] = {"path", CAROM_COLUMN_TEXT, 1, "", "way of computing that ran", NULL},
};

static void defaults(void *options) { *(carom_sample_options *)options = carom_sample_defaults(); }

// The cells of the row of results that stand behind the common ones.
static void set_integer(carom_table *result, result_column column, int64_t value) {
    *carom_table_integers(result, CAROM_RESULT_COLUMNS + (int)column) = value;
}

static void set_real(carom_table *result, result_column column, double value) {
    *carom_table_reals(result, CAROM_RESULT_COLUMNS + (int)column) = value;
}

static carom_status set_text(carom_table *result, result_column column, const char *text, carom_error *error) {
    return carom_table_set_text(result, CAROM_RESULT_COLUMNS + (int)column, text, error);
}

static carom_status report(carom_table *result, const carom_sample_statistics *s, carom_error *error) {
    set_integer(result, RESULT_SAMPLES, s->counts.samples);
    set_integer(result, RESULT_REQUESTED, s->requested);
    set_integer(result, RESULT_TERMINATED, s->counts.terminated);
    set_integer(result, RESULT_UNSOLVED, s->counts.unsolved);
    set_integer(result, RESULT_CLOSED, s->counts.closed);
    set_integer(result, RESULT_LCP_SOLVES, s->lcp_solves);
    set_real(result, RESULT_LCPS_PER_SAMPLE, s->lcps_per_sample);
    set_real(result, RESULT_LCPS_PER_SAMPLE_CI95, s->lcps_per_sample_ci95);
    set_integer(result, RESULT_FALLBACKS, s->counts.fallbacks);
    set_integer(result, RESULT_LOOKED_UP, s->counts.looked_up);
    set_real(result, RESULT_MAX_RESIDUAL, s->counts.max_residual);
    set_real(result, RESULT_MAX_RELATIVE_ENERGY_GAIN, s->max_relative_energy_gain);
    set_real(result, RESULT_STEP, s->step);
    carom_status status = set_text(result, RESULT_DIGEST, s->digest, error);
    if (!status) status = set_text(result, RESULT_SOLVER, s->solver, error);
    if (!status) status = set_text(result, RESULT_PATH, s->path, error);
    return status;
}

static carom_status resolve(const carom_law_call *call, carom_error *error) {
    carom_sample_statistics statistics;
    carom_status status =
        carom_reach_sample(call->impact, call->options, call->registry, call->control, call->outcomes, &statistics, error);
    if (!status) status = report(call->result, &statistics, error);
    if (!status) status = carom_law_conclude(call, statistics.verdict, statistics.selection, error);
    return status;
}

const carom_law carom_law_halm_posa = {
    .name = "halm-posa",
    .summary = "the set of possible outcomes, sampled (an inner approximation)",
    .source = "Halm & Posa 2023, Algorithms 1 and 2",
    .options = carom_sample_rows,
    .option_count = CAROM_SAMPLE_ROWS,
    .options_size = sizeof(carom_sample_options),
    .defaults = defaults,
    .outcome_columns = carom_sample_columns,
    .outcome_column_count = CAROM_SAMPLE_COLUMNS,
    .result_columns = result_columns,
    .result_column_count = RESULT_OWN_COLUMNS,
    .resolve = resolve,
};
