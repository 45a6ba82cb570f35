// SPDX-License-Identifier: Apache-2.0
// Which laws are confronted with the measurements, and with which options.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
#include "cli/measure/measure.h"

// Sets by walks with the round cone, linearised cones that are nearly round, and single impacts that may bounce.
static const char *const presets[][2] = {{"sampler", "walk"}, {"samples", "2000"}, {"cone_edges", "32"}, {"rule", "stronge"}};

// Defaults, what suits measurements, and the command line.
static carom_status prepare(const cli_arguments *arguments, const carom_law *law, bool strict, void *options, carom_error *error) {
    law->defaults(options);
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < sizeof presets / sizeof *presets && !status; i++)
        if (carom_option_find(law->options, law->option_count, presets[i][0]) >= 0)
            status = carom_law_set(law, options, presets[i][0], presets[i][1], error);
    const cli_setting *lacking = strict ? cli_not_offered(arguments, law->options, law->option_count) : NULL;
    const char *reason = lacking ? carom_law_refusal(law, lacking->name, lacking->value) : NULL;
    if (!status && reason) status = carom_fail(error, CAROM_BAD_INPUT, "--%s: %s", lacking->name, reason);
    const cli_owner owner = {"law", law->name, law->summary, law->options, law->option_count};
    if (!status) status = cli_apply_owner(arguments, &owner, strict, options, error);
    if (!status && strict && cli_given(arguments, "restitution") && !carom_law_bounces(law, options))
        status = cli_refuse_restitution(law, error);
    return status;
}

// Said beside the answer, not before a refusal.
static void leave_out(measure_run *run, const carom_law *law, const char *reason) {
    json_array_append_new(run->left_out, json_string(law->name));
    json_array_append_new(run->reasons, json_string(reason));
}

static carom_status add_law(measure_run *run, const carom_law *law, bool strict, carom_error *error) {
    void *options = carom_arena_take(&run->arena, 1, law->options_size);
    if (!options) return carom_fail_memory(error, law->name);
    for (int i = 0; i < run->law_count; i++)
        if (run->laws[i] == law) return carom_fail(error, CAROM_BAD_INPUT, "--law: '%s' stands twice", law->name);
    // A law that is named among others must not pass over a value in silence.
    const cli_setting *lacking = strict ? NULL : cli_not_offered(run->arguments, law->options, law->option_count);
    if (lacking) return carom_fail(error, CAROM_BAD_INPUT, "--%s: the law '%s' has no '%.60s'", lacking->name, law->name, lacking->value);
    const carom_status status = prepare(run->arguments, law, strict, options, error);
    if (status) return status;
    run->laws[run->law_count] = law;
    run->options[run->law_count++] = options;
    return CAROM_OK;
}

// All laws of the registry that have something to say of some impact. Those with a limit of time may need it for each impact.
static carom_status choose_all(measure_run *run, carom_error *error) {
    const carom_registry *registry = run->arguments->registry;
    carom_status status = CAROM_OK;
    for (int i = 0; i < carom_registry_count(registry, CAROM_REGISTRY_LAWS) && !status; i++) {
        const carom_law *law = carom_registry_entry(registry, CAROM_REGISTRY_LAWS, i);
        bool applies = !law->applies;
        for (int k = 0; k < run->measurements.count && !applies; k++) applies = law->applies(run->measurements.list[k].impact);
        const cli_setting *lacking = cli_not_offered(run->arguments, law->options, law->option_count);
        char reason[2 * CLI_NAME_SIZE];
        if (lacking) {
            snprintf(reason, sizeof reason, "it has no %s %.60s", lacking->name, lacking->value);
            leave_out(run, law, reason);
        } else if (carom_option_find(law->options, law->option_count, "seconds") >= 0) {
            leave_out(run, law, "it may take long for each impact (--law asks it)");
        } else if (applies) {
            status = add_law(run, law, false, error);
        }
    }
    return status;
}

carom_status measure_choose_laws(measure_run *run, carom_error *error) {
    const carom_registry *registry = run->arguments->registry;
    const size_t most = (size_t)carom_registry_count(registry, CAROM_REGISTRY_LAWS);
    run->laws = carom_arena_take(&run->arena, most, sizeof *run->laws);
    run->options = carom_arena_take(&run->arena, most, sizeof *run->options);
    if (run->arena.failed) return carom_fail_memory(error, "laws");
    const char *names = cli_value(run->arguments, "law");
    if (!names) return choose_all(run, error);
    const bool strict = !strchr(names, ',');
    carom_status status = CAROM_OK;
    for (const char *name = names; name && !status;) {
        char copy[CLI_NAME_SIZE] = {0}, phrase[CAROM_SUGGESTION_SIZE];
        const size_t length = strcspn(name, ",");
        if (length < sizeof copy) memcpy(copy, name, length);
        const carom_law *law = carom_law_find(registry, copy);
        status = law ? add_law(run, law, strict, error)
                     : carom_fail(error, CAROM_BAD_INPUT, "--law: there is no law '%.60s'%s", copy,
                                  carom_registry_suggest(registry, CAROM_REGISTRY_LAWS, copy, phrase));
        name = name[length] ? name + length + 1 : NULL;
    }
    return status;
}

void measure_note(const measure_run *run) {
    // What --fit asks for, and no law has.
    bool friction = false, restitution = false;
    for (int k = 0; k < run->part_count * run->law_count; k++) {
        friction = friction || !isnan(run->fits[k].friction);
        restitution = restitution || !isnan(run->fits[k].restitution) || run->intervals[k].finished;
    }
    if (run->fit_friction && !friction && !cli_interrupted())
        cli_say("note", NULL, "--fit mu: no law takes a friction that could be fitted");
    if (run->fit_restitution && !restitution && !cli_interrupted())
        cli_say("note", NULL, "--fit e: no law takes a restitution that could be fitted (sets take one with --hypothesis)");
    size_t i;
    json_t *name;
    json_array_foreach(run->left_out, i, name) {
        const carom_law *law = carom_law_find(run->arguments->registry, json_string_value(name));
        if (cli_not_offered(run->arguments, law->options, law->option_count))
            cli_say("note", NULL, "%s is left out: %s", law->name, json_string_value(json_array_get(run->reasons, i)));
    }
}

// ----------------------------------------------------------------------------------------------------------------- parts

static double speed_of(const carom_measurement *one) {
    const carom_impact_data *data = carom_impact_get_data(one->impact);
    double speed = 0;
    for (int i = 0; i < data->contacts; i++) {
        double approach = 0;
        for (int k = 0; k < data->nv; k++) approach -= data->normal[i * data->nv + k] * data->velocity[k];
        speed = fmax(speed, approach);
    }
    return speed;
}

// As many impacts in each range of speeds.
enum { SPEED_PARTS = 4 };

static carom_status divide_by_speed(measure_run *run, carom_error *error) {
    const int count = run->measurements.count;
    double *speeds = carom_arena_take(&run->arena, (size_t)count, sizeof *speeds), limits[SPEED_PARTS + 1];
    if (!speeds) return carom_fail_memory(error, "speeds");
    for (int i = 0; i < count; i++) speeds[i] = speed_of(&run->measurements.list[i]);
    carom_sort(count, speeds);
    for (int k = 0; k <= SPEED_PARTS; k++) limits[k] = carom_quantile(count, speeds, (double)k / SPEED_PARTS);
    run->part_count = SPEED_PARTS;
    for (int k = 0; k < SPEED_PARTS; k++) snprintf(run->parts[k].name, MEASURE_NAME, "%.3g to %.3g m/s", limits[k], limits[k + 1]);
    for (int i = 0; i < count; i++) {
        const double speed = speed_of(&run->measurements.list[i]);
        int k = 0;
        while (k < SPEED_PARTS - 1 && speed > limits[k + 1]) k++;
        run->part[i] = k;
    }
    return CAROM_OK;
}

carom_status measure_divide(measure_run *run, carom_error *error) {
    const size_t count = (size_t)run->measurements.count;
    const char *by = cli_value(run->arguments, "by");
    const bool by_speed = by && !strcmp(by, "speed");
    if (by && !by_speed && strcmp(by, "kind") != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "--by: '%.60s' is not one of kind, speed", by);
    run->parts = carom_arena_take(&run->arena, count + SPEED_PARTS, sizeof *run->parts);
    run->part = carom_arena_take(&run->arena, count, sizeof *run->part);
    int *members = carom_arena_take(&run->arena, count, sizeof *members);
    if (run->arena.failed) return carom_fail_memory(error, "measured impacts");
    carom_status status = by_speed ? divide_by_speed(run, error) : CAROM_OK;
    // Kinds in the order of the file.
    for (int i = 0; i < run->measurements.count && !by_speed; i++) {
        char name[MEASURE_NAME];
        snprintf(name, sizeof name, "%s", run->measurements.list[i].kind);
        int k = 0;
        while (k < run->part_count && strcmp(run->parts[k].name, name) != 0) k++;
        if (k == run->part_count) strcpy(run->parts[run->part_count++].name, name);
        run->part[i] = k;
    }
    // All parts share one array, one after the other.
    for (int k = 0; k < run->part_count && !status; k++) {
        measure_part *part = &run->parts[k];
        part->friction = NAN;
        part->members = members;
        for (int i = 0; i < run->measurements.count; i++)
            if (run->part[i] == k) part->members[part->count++] = i;
        members += part->count;
    }
    return status;
}
