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

bool carom_measure_bounces(const carom_measure_law *law) { return carom_law_bounces(law->law, law->options); }

bool carom_measure_draws_restitution(const carom_measure_law *law) {
    const carom_option *restitution = find_option(law->law, "restitution");
    return law->law->samples && find_option(law->law, "samples") && restitution && restitution->type == CAROM_OPTION_INTERVAL &&
           carom_measure_bounces(law);
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

carom_status carom_measurements_complete_friction(carom_measurements *measurements, double friction, carom_error *error) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < measurements->count && !status; i++) {
        carom_measurement *one = &measurements->list[i];
        if (one->friction_known) continue;
        carom_impact *made;
        status = change_impact(one, friction, NULL, &made, error);
        if (status) break;
        carom_impact_free((carom_impact *)(uintptr_t)one->impact);
        one->impact = made;
    }
    return status;
}

// The law's options for this question: its seed, a restitution that takes the place of the option, and a share of the samples.
static carom_status adapt_options(const carom_measure_law *law, const measure_question *question, void **options, carom_error *error) {
    *options = malloc(law->law->options_size + 1);
    if (!*options) return carom_fail_memory(error, law->law->name);
    char *bytes = memcpy(*options, law->options, law->law->options_size);
    const carom_option *restitution = find_option(law->law, "restitution"), *seed = find_option(law->law, "seed"),
                       *samples = find_option(law->law, "samples");
    if (restitution && !isnan(question->restitution.least)) {
        double *value = (double *)(void *)(bytes + restitution->offset);
        value[0] = question->restitution.least;
        if (restitution->type == CAROM_OPTION_INTERVAL) value[1] = question->restitution.most;
    }
    if (seed) *(int64_t *)(void *)(bytes + seed->offset) = question->seed;
    if (samples) {
        int64_t *count = (int64_t *)(void *)(bytes + samples->offset);
        *count = (*count + question->shares - 1) / question->shares;
    }
    return CAROM_OK;
}

// The least and the largest restitution of the contacts that were compressed: that of the others did nothing. NaN where the law does not
// tell.
static carom_interval find_drawn(const carom_table *outcomes, int column, int64_t row) {
    carom_interval drawn = {NAN, NAN};
    int values = 0;
    const double *record = column < 0 ? NULL : carom_table_series(outcomes, column, row, &values);
    for (int i = 0; i < values; i += CAROM_REBOUND_FIELDS) {
        if (!(record[i + CAROM_REBOUND_COMPRESSIONS] > 0)) continue;
        drawn.least = fmin(drawn.least, record[i + CAROM_REBOUND_RESTITUTION]);
        drawn.most = fmax(drawn.most, record[i + CAROM_REBOUND_RESTITUTION]);
    }
    return drawn;
}

// Adds the velocities of the outcomes that have ended.
static carom_status collect(const carom_table *outcomes, const measure_question *question, carom_measure_set *set, carom_error *error) {
    const int64_t rows = carom_table_rows(outcomes), *terminated = carom_table_integer_column(outcomes, CAROM_OUTCOME_TERMINATED);
    const double *velocities = carom_table_real_column(outcomes, CAROM_OUTCOME_VELOCITY);
    const int column = carom_table_find(outcomes, carom_sample_columns[0].name), bounces = carom_table_find(outcomes, "bounces");
    const size_t room = (size_t)(set->count + rows) + 1, nv = (size_t)set->nv;
    double *members = realloc(set->members, room * nv * sizeof *members);
    if (members) set->members = members;
    carom_measure_origin *origins = realloc(set->origins, room * sizeof *origins);
    if (origins) set->origins = origins;
    if (!members || !origins) return carom_fail_memory(error, "outcomes");
    const int64_t *flags = carom_table_integer_column(outcomes, CAROM_OUTCOME_FLAGS);
    for (int64_t i = 0; i < rows; i++) {
        if (!terminated[i]) continue;
        set->flags &= flags[i];
        set->approximate += (flags[i] & CAROM_FLAG_APPROXIMATE) != 0;
        memcpy(members + set->count * set->nv, velocities + i * set->nv, nv * sizeof *members);
        origins[set->count++] = (carom_measure_origin){.sample = column < 0 ? -1 : carom_table_integer_column(outcomes, column)[i],
                                                       .seed = question->seed,
                                                       .friction = question->friction,
                                                       .restitution = find_drawn(outcomes, bounces, i)};
    }
    return CAROM_OK;
}

int64_t measure_seed(const carom_measure_law *law, int index, int number) {
    const int64_t seed = carom_many_seed(law->seed, index);
    return number ? carom_many_seed(seed, number) : seed;
}

carom_status measure_ask_once(const carom_measure_law *law, const carom_measurement *measurement, const measure_question *question,
                              const carom_control *control, carom_measure_set *set, carom_error *error) {
    // Impacts are shared between threads, not what is done with one of them.
    carom_control alone = {.threads = 1};
    if (control) {
        alone.cancelled = control->cancelled;
        alone.user = control->user;
    }
    void *options = NULL;
    // The impact itself, where nothing is changed.
    carom_impact *changed = NULL;
    carom_status status = adapt_options(law, question, &options, error);
    if (!status && (question->before || !isnan(question->friction)))
        status = change_impact(measurement, question->friction, question->before, &changed, error);
    const carom_law_call call = {
        .impact = changed ? changed : measurement->impact, .options = options, .registry = law->registry, .control = &alone};
    carom_answer answer = {0};
    carom_error refusal;
    if (!status) {
        status = carom_law_resolve(law->law, &call, &answer, &refusal);
        if (!status) {
            status = collect(answer.outcomes, question, set, error);
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
    free(options);
    return status;
}

int measure_frictions(const carom_measure_law *law, double values[CAROM_MEASURE_FRICTIONS]) {
    const bool spread = law->friction.most > law->friction.least;
    const int count = spread ? CAROM_MEASURE_FRICTIONS : 1;
    values[0] = law->friction.least;
    for (int i = 1; i < count; i++)
        values[i] = law->friction.least + i * (law->friction.most - law->friction.least) / (CAROM_MEASURE_FRICTIONS - 1);
    return count;
}

carom_status carom_measure_ask(const carom_measure_law *law, const carom_measurement *measurement, int index, const double *before,
                               const carom_control *control, carom_measure_set *set, carom_error *error) {
    *set = (carom_measure_set){.nv = carom_impact_get_data(measurement->impact)->nv, .flags = ~(int64_t)0};
    double friction[CAROM_MEASURE_FRICTIONS];
    const int values = measure_frictions(law, friction);
    carom_status status = CAROM_OK;
    for (int i = 0; i < values && !status; i++) {
        const measure_question question = {.friction = friction[i],
                                           .restitution = law->restitution,
                                           .seed = measure_seed(law, index, i),
                                           .shares = values,
                                           .before = before};
        status = measure_ask_once(law, measurement, &question, control, set, error);
    }
    if (status) carom_measure_set_free(set);
    return status;
}

void carom_measure_set_free(carom_measure_set *set) {
    free(set->members);
    free(set->origins);
    *set = (carom_measure_set){0};
}

carom_status measure_walk_again(const carom_measure_law *law, const carom_measurement *measurement, const measure_question *question,
                                int64_t sample, double *after, bool *found, carom_error *error) {
    *found = false;
    void *options = NULL;
    carom_impact *changed = NULL;
    carom_walker *walker = NULL;
    double *impulse = NULL;
    carom_status status = adapt_options(law, question, &options, error);
    const carom_sample_options *walks = options;
    if (!status && (walks->sampler == CAROM_SAMPLER_WALK || walks->rebound.hypothesis != CAROM_HYPOTHESIS_NONE)) {
        const carom_walker_options walking = {carom_sample_max_steps(walks), walks->weights, walks->rebound, walks->tolerance};
        status = change_impact(measurement, question->friction, question->before, &changed, error);
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
