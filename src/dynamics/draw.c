// SPDX-License-Identifier: Apache-2.0
// The law of a run's impacts, and the draw of one of its outcomes.
#include <math.h>
#include <string.h>

#include "dynamics/dynamics_internal.h"

// Only one outcome of a sampled set is used; a few more are sampled in case some do not terminate.
enum { DRAWN_SAMPLES = 16 };

// The law's option `restitution`; NaN where it has none, or leaves it to the contacts.
static double get_own_restitution(const carom_law *law, const void *options) {
    const int row = carom_option_find(law->options, law->option_count, "restitution");
    if (row < 0 || law->options[row].type != CAROM_OPTION_REAL) return NAN;
    return *(const double *)((const char *)options + law->options[row].offset);
}

// An option struct of the law with what the scene and the command line say.
static carom_status set_up_law(const carom_motion_call *call, const carom_law *law, carom_arena *arena, void **options,
                               carom_error *error) {
    const carom_law_settings *settings = call->settings;
    *options = carom_arena_take(arena, 1, law->options_size);
    if (!*options) return carom_fail_memory(error, law->name);
    law->defaults(*options);
    return settings ? settings->apply(settings->user, law, *options, error) : CAROM_OK;
}

carom_status carom_motion_find_law(const carom_motion_call *call, const char *name, double restitution, carom_arena *arena,
                                   carom_motion_law *found, carom_error *error) {
    const carom_law_settings *settings = call->settings;
    const bool chosen = strcmp(name, "auto") != 0 || (settings && settings->law);
    if (!strcmp(name, "auto")) name = settings && settings->law ? settings->law : "anitescu-potra";
    // Without a law that is asked for, restitution of the contacts, or the option of that name, chooses one that bounces.
    const carom_law *bouncing = chosen ? NULL : carom_law_find(call->registry, "moreau");
    void *options;
    carom_error inner;
    if (bouncing && !set_up_law(call, bouncing, arena, &options, &inner)) {
        const double own = get_own_restitution(bouncing, options);
        if (!isnan(own)) restitution = own;
        if (restitution > 0) {
            *found = (carom_motion_law){bouncing, options};
            const carom_status status =
                carom_motion_note(call, error,
                                  "impacts are those of the law '%s', because restitution is given (up to %g), which '%s' does not use; "
                                  "--law NAME takes another law",
                                  bouncing->name, restitution, name);
            return status ? status : carom_motion_set_option(bouncing, options, "samples", DRAWN_SAMPLES, error);
        }
    }
    const carom_law *law = found->law = carom_law_find(call->registry, name);
    char phrase[CAROM_SUGGESTION_SIZE];
    if (!law)
        return carom_fail(error, CAROM_BAD_INPUT, "law: there is no law '%.60s'%s", name,
                          carom_registry_suggest(call->registry, CAROM_REGISTRY_LAWS, name, phrase));
    carom_status status = set_up_law(call, law, arena, &found->options, error);
    // A law that is elastic has one coefficient for all contacts, its own.
    const double own = status || !law->elastic ? NAN : get_own_restitution(law, found->options);
    const bool used = !status && (law->elastic ? own == restitution : carom_law_bounces(law, found->options));
    if (!status && restitution > 0 && !used)
        status = carom_motion_note(call, error,
                                   "the restitution of the contacts (up to %g) is not used: the law '%s' has %s; moreau, lzb, stronge, and "
                                   "sequential with --rule stronge use it",
                                   restitution, law->name,
                                   law->elastic ? "one of its own, its option 'restitution'" : "none with these options");
    return status ? status : carom_motion_set_option(law, found->options, "samples", DRAWN_SAMPLES, error);
}

carom_status carom_motion_draw(const carom_motion_call *call, const carom_motion_law *law, const carom_impact *impact, int64_t seed,
                               int64_t index, carom_stream *choices, carom_motion_outcome *outcome, carom_error *error) {
    outcome->index = -1;
    outcome->count = 0;
    // Every impact of every member draws numbers of its own.
    carom_stream stream;
    carom_stream_start(&stream, (uint64_t)seed, (uint64_t)index);
    const double own = (double)(carom_stream_bits(&stream) >> 11);
    carom_status status = carom_motion_set_option(law->law, law->options, "seed", own, error);
    if (status) return status;
    carom_answer answer = {0};
    const carom_law_call question = {impact, law->options, call->registry, call->control, NULL, NULL};
    status = carom_law_resolve(law->law, &question, &answer, error);
    if (status) return status;
    outcome->complete = carom_answer_complete(&answer);
    // One of the outcomes after which nothing approaches, chosen at random where there are several.
    const int64_t *terminated = carom_table_integer_column(answer.outcomes, CAROM_OUTCOME_TERMINATED);
    const int64_t found = carom_table_rows(answer.outcomes);
    for (int64_t i = 0; i < found; i++) outcome->count += terminated[i];
    int64_t left = outcome->count > 1 ? (int64_t)(carom_stream_uniform(choices) * (double)outcome->count) : 0;
    for (int64_t i = 0; i < found && outcome->index < 0; i++)
        if (terminated[i] && left-- == 0) outcome->index = i;
    if (outcome->index >= 0) {
        const carom_sizes *sizes = carom_table_sizes(answer.outcomes);
        const struct {
            int column;
            size_t width;
            double *into;
        } parts[] = {{CAROM_OUTCOME_VELOCITY, (size_t)sizes->nv, outcome->velocity},
                     {CAROM_OUTCOME_NORMAL_IMPULSE, (size_t)sizes->contacts, outcome->normal},
                     {CAROM_OUTCOME_TANGENT_IMPULSE, (size_t)sizes->tangents, outcome->tangent}};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            memcpy(parts[k].into, carom_table_real_column(answer.outcomes, parts[k].column) + (size_t)outcome->index * parts[k].width,
                   parts[k].width * sizeof(double));
    }
    carom_answer_free(&answer);
    return CAROM_OK;
}
