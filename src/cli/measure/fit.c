// SPDX-License-Identifier: Apache-2.0
// Parameters of the laws: given, fitted to single contacts, or to each part.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measure/measure.h"

// Half of the groups train, the other half is held out, unless there is only one.
static bool trains(const measure_run *run, int impact) {
    return run->measurements.groups < 2 || run->measurements.list[impact].group % 2 == 0;
}

bool measure_evaluated(const measure_run *run, int impact) {
    return !run->held_out || run->measurements.groups < 2 || run->measurements.list[impact].group % 2 == 1;
}

// Does the law take friction into account? What it says of the first impact that it applies to tells.
static carom_status find_friction(const measure_run *run, const carom_measure_law *law, bool *matters, carom_error *error) {
    carom_measure_law rough = *law;
    rough.friction = (carom_interval){1, 1};
    *matters = true;
    for (int i = 0; i < run->measurements.count; i++) {
        carom_measure_set set;
        if (!carom_measure_applies(law, &run->measurements.list[i])) continue;
        const carom_status status = carom_measure_ask(&rough, &run->measurements.list[i], i, NULL, &run->control, &set, error);
        if (status) return status;
        const bool answered = set.count > 0;
        if (answered) *matters = !(set.flags & CAROM_FLAG_FRICTION_IGNORED);
        carom_measure_set_free(&set);
        if (answered) break;
    }
    return CAROM_OK;
}

// Fits a law to those of these impacts that train, and of which it has something to say.
static carom_status fit_law(const measure_run *run, const carom_measure_law *law, const int *members, int count, bool friction,
                            bool restitution, carom_measure_fit *fit, carom_error *error) {
    *fit = (carom_measure_fit){NAN, NAN, NAN, NAN, NAN, false};
    int *chosen = malloc(((size_t)count + 1) * sizeof *chosen), used = 0;
    if (!chosen) return carom_fail_memory(error, "fit");
    for (int i = 0; i < count; i++)
        if (trains(run, members[i]) && carom_measure_applies(law, &run->measurements.list[members[i]])) chosen[used++] = members[i];
    const carom_measure_fit_request request = {.law = law,
                                               .measurements = &run->measurements,
                                               .chosen = chosen,
                                               .count = used,
                                               .friction = friction,
                                               .restitution = restitution,
                                               .draws = run->draws,
                                               .control = &run->control};
    carom_status status = CAROM_OK;
    if (used) status = carom_measure_fit_law(&request, fit, error);
    free(chosen);
    return status;
}

// The friction of single contacts, by the law of a single contact with friction and restitution.
static carom_status fit_common(measure_run *run, const int *all, carom_error *error) {
    carom_stronge_options options = carom_stronge_defaults();
    const carom_measure_law law = {.law = &carom_law_stronge,
                                   .options = &options,
                                   .registry = run->arguments->registry,
                                   .friction = {NAN, NAN},
                                   .restitution = {NAN, NAN}};
    // Those that have none of their own; where none of them trains, all.
    int *members = malloc(((size_t)run->measurements.count + 1) * sizeof *members);
    if (!members) return carom_fail_memory(error, "fit");
    int count = 0;
    for (int i = 0; i < run->measurements.count; i++)
        if (!run->measurements.list[i].friction_known) members[count++] = i;
    carom_status status = fit_law(run, &law, members, count, true, true, &run->common, error);
    free(members);
    if (!status && !run->common.finished && !cli_interrupted())
        status = fit_law(run, &law, all, run->measurements.count, true, true, &run->common, error);
    if (status || cli_interrupted()) return status;
    if (!run->common.finished || isnan(run->common.friction))
        return carom_fail(error, CAROM_BAD_INPUT,
                          "%s: friction is not known: the impacts have no 'mu', no single contact trains a fit, and there is no --friction",
                          run->arguments->operand);
    return carom_measurements_complete_friction(&run->measurements, run->common.friction, error);
}

// The least interval of restitution for a sampled set, fitted to those of these impacts that train.
static carom_status fit_interval(const measure_run *run, const carom_measure_law *law, const int *members, int count,
                                 carom_measure_interval *found, carom_error *error) {
    int *chosen = malloc(((size_t)count + 1) * sizeof *chosen), used = 0;
    if (!chosen) return carom_fail_memory(error, "fit");
    for (int i = 0; i < count; i++)
        if (trains(run, members[i]) && carom_measure_applies(law, &run->measurements.list[members[i]])) chosen[used++] = members[i];
    const carom_measure_interval_request request = {.law = law,
                                                    .measurements = &run->measurements,
                                                    .chosen = chosen,
                                                    .count = used,
                                                    .share = run->share,
                                                    .tolerance = run->tolerance,
                                                    .draws = run->draws,
                                                    .control = &run->control};
    carom_status status = CAROM_OK;
    if (used) status = carom_measure_fit_interval(&request, found, error);
    free(chosen);
    return status;
}

carom_status measure_fit(measure_run *run, carom_error *error) {
    const size_t cells = (size_t)run->part_count * (size_t)run->law_count;
    run->asked = carom_arena_take(&run->arena, cells + 1, sizeof *run->asked);
    run->fits = carom_arena_take(&run->arena, cells + 1, sizeof *run->fits);
    run->intervals = carom_arena_take(&run->arena, cells + 1, sizeof *run->intervals);
    int *all = carom_arena_take(&run->arena, (size_t)run->measurements.count, sizeof *all);
    if (run->arena.failed) return carom_fail_memory(error, "fit");
    for (int i = 0; i < run->measurements.count; i++) all[i] = i;
    int lacking = 0;
    for (int i = 0; i < run->measurements.count; i++) lacking += !run->measurements.list[i].friction_known;
    carom_status status = CAROM_OK;
    run->held_out = run->fit_friction || run->fit_restitution;
    if (isnan(run->friction.least) && lacking) {
        run->held_out = true;
        run->lacking = lacking;
        status = fit_common(run, all, error);
    }
    for (int part = 0; part < run->part_count && !status; part++) {
        const measure_part *here = &run->parts[part];
        run->parts[part].friction = run->friction.most;
        for (int i = 0; i < run->law_count && !status; i++) {
            carom_measure_law *law = &run->asked[part * run->law_count + i];
            carom_measure_fit *fit = &run->fits[part * run->law_count + i];
            carom_measure_interval *interval = &run->intervals[part * run->law_count + i];
            *law = (carom_measure_law){.law = run->laws[i],
                                       .options = run->options[i],
                                       .registry = run->arguments->registry,
                                       .friction = run->friction,
                                       .restitution = {NAN, NAN}};
            *fit = (carom_measure_fit){NAN, NAN, NAN, NAN, NAN, false};
            *interval = (carom_measure_interval){.restitution = {NAN, NAN}};
            // Draws of a set take the friction that they are given. Of a set with restitution an interval is fitted; of one draw nothing
            // is.
            if (run->laws[i]->samples) {
                if (!run->fit_restitution || !carom_measure_draws_restitution(law)) continue;
                status = fit_interval(run, law, here->members, here->count, interval, error);
                if (!status && !interval->finished && !cli_interrupted())
                    status = fit_interval(run, law, all, run->measurements.count, interval, error);
                if (!status && interval->finished) law->restitution = interval->restitution;
                continue;
            }
            bool friction = run->fit_friction;
            const bool restitution = run->fit_restitution && carom_measure_bounces(law);
            if (friction) status = find_friction(run, law, &friction, error);
            if (status || (!friction && !restitution)) continue;
            status = fit_law(run, law, here->members, here->count, friction, restitution, fit, error);
            // Where none of the part trains, those of all parts do.
            if (!status && !fit->finished && !cli_interrupted())
                status = fit_law(run, law, all, run->measurements.count, friction, restitution, fit, error);
            if (status || !fit->finished) continue;
            if (friction) law->friction = (carom_interval){fit->friction, fit->friction};
            law->restitution = (carom_interval){fit->restitution, fit->restitution};
        }
    }
    return status;
}
