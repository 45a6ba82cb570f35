// SPDX-License-Identifier: Apache-2.0
// Asking a law about a measured impact, through its table row.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/many.h"
#include "measure/measure_internal.h"

static const carom_option *find_option(const carom_law *law, const char *name) {
    const int row = carom_option_find(law->options, law->option_count, name);
    return row < 0 ? NULL : &law->options[row];
}

bool carom_measure_applies(const carom_measure_law *law, const carom_measurement *measurement) {
    return !law->law->applies || law->law->applies(measurement->impact);
}

bool carom_measure_bounces(const carom_measure_law *law) {
    // A law of single impacts bounces by the rule of these that has a restitution.
    const carom_option *rule = find_option(law->law, "rule");
    const int chosen = rule ? *(const int *)(const void *)((const char *)law->options + rule->offset) : 0;
    return carom_law_bounces(law->law, law->options) && (!rule || strcmp(rule->choices[chosen], "stronge") == 0);
}

// The laws that sample share their table of options.
bool carom_measure_samples(const carom_measure_law *law) {
    const carom_option *row = find_option(law->law, "sampler");
    return row && row->choices == carom_sampler_names && find_option(law->law, "weights");
}

// The impact with another friction or velocity.
static carom_status change_impact(const carom_measurement *measurement, double friction, const double *before, carom_impact **made,
                                  carom_error *error) {
    carom_impact_data data = *carom_impact_get_data(measurement->impact);
    double few[16], *many = NULL, *mu = few;
    if (data.contacts > (int)(sizeof few / sizeof *few) && !(mu = many = malloc((size_t)data.contacts * sizeof *many)))
        return carom_fail_memory(error, "measured impact");
    for (int i = 0; i < data.contacts; i++) mu[i] = isnan(friction) ? data.friction[i] : friction;
    data.friction = mu;
    if (before) data.velocity = before;
    const carom_status status = carom_impact_create(&data, made, error);
    free(many);
    return status;
}

// The law's options for this impact: its seed, a restitution that takes the place of the option, and a share of the samples.
static carom_status adapt_options(const carom_measure_law *law, int index, int shares, void **options, carom_error *error) {
    *options = malloc(law->law->options_size + 1);
    if (!*options) return carom_fail_memory(error, law->law->name);
    char *bytes = memcpy(*options, law->options, law->law->options_size);
    const carom_option *restitution = find_option(law->law, "restitution"), *seed = find_option(law->law, "seed"),
                       *samples = find_option(law->law, "samples");
    if (restitution && !isnan(law->restitution)) {
        double *value = (double *)(void *)(bytes + restitution->offset);
        value[0] = law->restitution;
        if (restitution->type == CAROM_OPTION_INTERVAL) value[1] = law->restitution;
    }
    if (seed) *(int64_t *)(void *)(bytes + seed->offset) = carom_many_seed(law->seed, index);
    if (samples) {
        int64_t *count = (int64_t *)(void *)(bytes + samples->offset);
        *count = (*count + shares - 1) / shares;
    }
    return CAROM_OK;
}

// Adds the velocities of the outcomes that have ended.
static carom_status collect(const carom_table *outcomes, double friction, carom_measure_set *set, carom_error *error) {
    const int64_t rows = carom_table_rows(outcomes), *terminated = carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED);
    const double *velocities = carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY);
    const int column = carom_table_find(outcomes, carom_sample_columns[0].name);
    const size_t room = (size_t)(set->count + rows) + 1, nv = (size_t)set->nv;
    double *members = realloc(set->members, room * nv * sizeof *members);
    if (members) set->members = members;
    int64_t *sample = realloc(set->sample, room * sizeof *sample);
    if (sample) set->sample = sample;
    double *mu = realloc(set->friction, room * sizeof *mu);
    if (mu) set->friction = mu;
    if (!members || !sample || !mu) return carom_fail_memory(error, "outcomes");
    const int64_t *flags = carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS);
    for (int64_t i = 0; i < rows; i++) {
        if (!terminated[i]) continue;
        set->flags &= flags[i];
        memcpy(members + set->count * set->nv, velocities + i * set->nv, nv * sizeof *members);
        sample[set->count] = column < 0 ? -1 : carom_table_integer_column(outcomes, column)[i];
        mu[set->count++] = friction;
    }
    return CAROM_OK;
}

carom_status carom_measure_ask(const carom_measure_law *law, const carom_measurement *measurement, int index, const double *before,
                               const carom_control *control, carom_measure_set *set, carom_error *error) {
    *set = (carom_measure_set){.nv = carom_impact_get_data(measurement->impact)->nv, .flags = ~(int64_t)0};
    const bool spread = law->friction.most > law->friction.least;
    const int values = spread ? CAROM_MEASURE_FRICTIONS : 1;
    // Impacts are shared between threads, not what is done with one of them.
    carom_control alone = {.threads = 1};
    if (control) {
        alone.cancelled = control->cancelled;
        alone.user = control->user;
    }
    void *options = NULL;
    carom_status status = adapt_options(law, index, values, &options, error);
    for (int i = 0; i < values && !status; i++) {
        double friction = law->friction.least;
        if (spread) friction += i * (law->friction.most - law->friction.least) / (values - 1);
        // The impact itself, where nothing is changed.
        carom_impact *changed = NULL;
        if (before || !isnan(friction)) status = change_impact(measurement, friction, before, &changed, error);
        const carom_law_call call = {
            .impact = changed ? changed : measurement->impact, .options = options, .registry = law->registry, .control = &alone};
        carom_answer answer = {0};
        carom_error refusal;
        if (!status) {
            status = carom_law_resolve(law->law, &call, &answer, &refusal);
            if (!status) {
                status = collect(answer.outcomes, friction, set, error);
            } else if (status == CAROM_BAD_INPUT || status == CAROM_UNSUPPORTED) {
                // A law need not have an answer to every impact.
                set->reason = refusal;
                status = CAROM_OK;
            } else if (error) {
                *error = refusal;
            }
        }
        carom_answer_free(&answer);
        carom_impact_free(changed);
    }
    free(options);
    if (status) carom_measure_set_free(set);
    return status;
}

void carom_measure_set_free(carom_measure_set *set) {
    free(set->members);
    free(set->sample);
    free(set->friction);
    *set = (carom_measure_set){0};
}

carom_status measure_walk_again(const carom_measure_law *law, const carom_measurement *measurement, int index, int64_t sample,
                                const double *before, double *after, bool *found, carom_error *error) {
    *found = false;
    void *options = NULL;
    carom_impact *changed = NULL;
    carom_walker *walker = NULL;
    double *impulse = NULL;
    carom_status status = adapt_options(law, index, 1, &options, error);
    const carom_sample_options *walks = options;
    if (!status && (walks->sampler == CAROM_SAMPLER_WALK || walks->rebound.hypothesis != CAROM_HYPOTHESIS_NONE)) {
        const carom_walker_options walking = {carom_sample_max_steps(walks), walks->weights, walks->rebound, walks->tolerance};
        status = change_impact(measurement, law->friction.least, before, &changed, error);
        if (!status) status = carom_walker_create(changed, &walking, &walker, error);
        if (!status) impulse = malloc((size_t)carom_impact_contact_size(changed) * sizeof *impulse);
        if (!status && !impulse) status = carom_fail_memory(error, "walk");
        carom_sample_counts counts = {0};
        if (!status) *found = carom_walker_run(walker, walks->seed, sample, after, impulse, &counts) == CAROM_COMPLETE;
    }
    free(impulse);
    carom_walker_free(walker);
    carom_impact_free(changed);
    free(options);
    return status;
}
