// SPDX-License-Identifier: Apache-2.0
// Motions, and running an integrator on one.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/rotation.h"
#include "carom/vector3.h"
#include "dynamics/dynamics_internal.h"

static const carom_column result_columns[CAROM_MOTION_RESULT_COLUMNS] = {
    [CAROM_MOTION_VERDICT] = {"verdict", CAROM_COLUMN_TEXT, 1, "", "how far the run got", NULL},
    [CAROM_MOTION_STEPS] = {"steps", CAROM_COLUMN_INTEGER, 1, "", "grid steps done", NULL},
    [CAROM_MOTION_TIME] = {"time", CAROM_COLUMN_REAL, 1, "s", "time reached", NULL},
    [CAROM_MOTION_ENERGY_ERROR] = {"max_relative_energy_error", CAROM_COLUMN_REAL, 1, "",
                                   "largest error of the energy, which impacts with "
                                   "restitution below 1 or a law may lower, relative to the initial energy",
                                   NULL},
    [CAROM_MOTION_MESSAGE] = {"message", CAROM_COLUMN_TEXT, 1, "", "why the motion is not complete; empty where the verdict says it all",
                              NULL},
};

static const carom_column name_columns[] = {
    [CAROM_MOTION_NAME] = {"name", CAROM_COLUMN_TEXT, 1, "", "of a constraint that was closed", NULL},
};

static const carom_column note_columns[] = {
    [CAROM_MOTION_NOTE] = {"note", CAROM_COLUMN_TEXT, 1, "", "a sentence about the motion", NULL},
};

// How scenes give each form.
static const char *const form_names[] = {[CAROM_MOTION_NONE] = "an impact",
                                         [CAROM_MOTION_BODY] = "a scene with 'body'",
                                         [CAROM_MOTION_BODIES] = "a scene with 'bodies'",
                                         [CAROM_MOTION_SYSTEM] = "a scene with 'balls' or 'model' and listed contacts",
                                         [CAROM_MOTION_MECHANISM] = "a scene with 'model'"};

// ------------------------------------------------------------------------------------------------------------- running

// Widths of columns: those of the mechanism, or else of the impact, where the problem has one.
static carom_sizes sizes_of(const carom_motion *motion) {
    if (motion->form == CAROM_MOTION_MECHANISM) return (carom_sizes){.nv = motion->mechanism->nv, .positions = motion->mechanism->nq};
    return motion->impact ? carom_impact_sizes(motion->impact) : (carom_sizes){0};
}

carom_status carom_motion_create_states(const carom_integrator *integrator, const carom_motion *motion, carom_table **states,
                                        carom_error *error) {
    const carom_sizes sizes = sizes_of(motion);
    return carom_table_create(integrator->state_columns, integrator->state_column_count, NULL, 0, &sizes, states, error);
}

carom_status carom_motion_create_saved(const carom_integrator *integrator, const carom_motion *motion, carom_table **saved,
                                       carom_error *error) {
    *saved = NULL;
    if (!integrator->saved_columns)
        return carom_fail(error, CAROM_UNSUPPORTED, "the integrator '%s' does not save states to go on from", integrator->name);
    const carom_sizes sizes = sizes_of(motion);
    return carom_table_create(integrator->saved_columns, integrator->saved_column_count, NULL, 0, &sizes, saved, error);
}

void *carom_motion_copy_options(const carom_motion_request *request) {
    void *options = malloc(request->integrator->options_size);
    if (options && request->options) memcpy(options, request->options, request->integrator->options_size);
    if (options && !request->options) request->integrator->defaults(options);
    return options;
}

void carom_motion_answer_free(carom_motion_answer *answer) {
    carom_table_free(answer->impacts);
    carom_table_free(answer->names);
    carom_table_free(answer->notes);
    carom_table_free(answer->saved);
    carom_table_free(answer->recorded);
    carom_table_free(answer->final);
    carom_table_free(answer->result);
    *answer = (carom_motion_answer){0};
}

bool carom_motion_answer_complete(const carom_motion_answer *answer) {
    return !strcmp(carom_table_text(answer->result, CAROM_MOTION_VERDICT, 0), carom_verdict_name(CAROM_COMPLETE));
}

carom_status carom_integrator_run(const carom_motion_request *request, const carom_sink *states, carom_motion_answer *answer,
                                  carom_error *error) {
    const carom_integrator *integrator = request->integrator;
    const carom_motion *motion = request->motion;
    const carom_sizes sizes = sizes_of(motion);
    *answer = (carom_motion_answer){0};
    // A model that is not a system says why; any other problem says what the integrator needs.
    if (motion->form != integrator->form || !motion->problem) {
        if (motion->obstacle && integrator->form == CAROM_MOTION_SYSTEM)
            return carom_fail(error, CAROM_UNSUPPORTED, "%s", motion->obstacle);
        return carom_fail(error, CAROM_BAD_INPUT, "integrator: %s needs %s", integrator->name, form_names[integrator->form]);
    }
    // Tables of what will be found, with one row for the end and one for the results.
    void *options = carom_motion_copy_options(request);
    carom_status status = options ? CAROM_OK : carom_fail_memory(error, integrator->name);
    if (!status)
        status = carom_table_create(integrator->impact_columns, integrator->impact_column_count, NULL, 0, &sizes, &answer->impacts, error);
    if (!status && motion->form == CAROM_MOTION_MECHANISM)
        status = carom_table_create(name_columns, 1, NULL, 0, &sizes, &answer->names, error);
    if (!status) status = carom_table_create(note_columns, 1, NULL, 0, &sizes, &answer->notes, error);
    if (!status && integrator->saved_columns) status = carom_motion_create_saved(integrator, motion, &answer->saved, error);
    if (!status) status = carom_motion_create_states(integrator, motion, &answer->final, error);
    if (!status) status = carom_motion_create_states(integrator, motion, &answer->recorded, error);
    if (!status)
        status = carom_table_create(result_columns, CAROM_MOTION_RESULT_COLUMNS, integrator->result_columns,
                                    integrator->result_column_count, &sizes, &answer->result, error);
    if (!status) status = carom_table_add_row(answer->final, error);
    if (!status) status = carom_table_add_row(answer->result, error);
    if (!status) {
        const carom_motion_call call = {.motion = motion,
                                        .options = options,
                                        .registry = request->registry,
                                        .settings = request->settings,
                                        .control = request->control,
                                        .states = states,
                                        .impacts = answer->impacts,
                                        .names = answer->names,
                                        .notes = answer->notes,
                                        .saved = answer->saved,
                                        .resume = request->resume,
                                        .recorded = answer->recorded,
                                        .final = answer->final,
                                        .result = answer->result};
        status = integrator->run(&call, error);
    }
    free(options);
    if (status) carom_motion_answer_free(answer);
    return status;
}

// ------------------------------------------------------------------------------------------- what integrators share

void carom_motion_place(const carom_motion *motion, double *position) {
    const carom_system *system = motion->system;
    memcpy(position, system->position, (size_t)system->nv * sizeof *position);
    if (!(motion->displacement > 0)) return;
    carom_stream stream;
    carom_stream_start(&stream, 0, (uint64_t)motion->member);
    for (int k = 0; k < system->nv; k++) position[k] += motion->displacement * carom_stream_normal(&stream);
}

carom_status carom_motion_conclude(const carom_motion_call *call, carom_verdict verdict, int64_t steps, double time, double energy_error,
                                   double initial_energy, carom_error *error) {
    *carom_table_integers(call->result, CAROM_MOTION_STEPS) = steps;
    *carom_table_reals(call->result, CAROM_MOTION_TIME) = time;
    *carom_table_reals(call->result, CAROM_MOTION_ENERGY_ERROR) = initial_energy != 0 ? energy_error / fabs(initial_energy) : NAN;
    return carom_table_set_text(call->result, CAROM_MOTION_VERDICT, carom_verdict_name(verdict), error);
}

carom_status carom_motion_note(const carom_motion_call *call, carom_error *error, const char *format, ...) {
    char text[CAROM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const carom_status status = carom_table_add_row(call->notes, error);
    return status ? status : carom_table_set_text(call->notes, CAROM_MOTION_NOTE, text, error);
}

carom_status carom_motion_explain(const carom_motion_call *call, carom_error *error, const char *format, ...) {
    char text[CAROM_MESSAGE_SIZE];
    int length = snprintf(text, sizeof text, "%s", carom_table_text(call->result, CAROM_MOTION_MESSAGE, 0));
    if (length) length += snprintf(text + length, sizeof text - (size_t)length, "; ");
    if ((size_t)length >= sizeof text) return CAROM_OK;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    return carom_table_set_text(call->result, CAROM_MOTION_MESSAGE, text, error);
}

// An integrator that conserves energy, or loses it where impacts say so, errs by much less than this share of it.
#define MOST_ENERGY_ERROR 0.01

carom_status carom_motion_limit_energy(const carom_motion_call *call, double energy_error, double initial, double kinetic, double time,
                                       carom_verdict *verdict, carom_error *error) {
    const carom_system *system = call->motion->form == CAROM_MOTION_SYSTEM ? call->motion->system : NULL;
    double scale = fmax(fabs(initial), kinetic);
    if (system && time > 0) scale = fmax(scale, 0.5 * system->mass * system->length * system->length / (time * time));
    if (*verdict != CAROM_COMPLETE || energy_error <= MOST_ENERGY_ERROR * scale) return CAROM_OK;
    *verdict = CAROM_ENERGY_LIMIT;
    return carom_motion_explain(call, error,
                                "the energy is wrong by up to %.3g J, more than %g of its scale of %.3g J (the initial energy, or the "
                                "largest kinetic one): the step is too long, or the law of impacts adds energy",
                                energy_error, MOST_ENERGY_ERROR, scale);
}

carom_status carom_motion_flush(const carom_motion_call *call, carom_table *states, carom_error *error) {
    if (!states || !carom_table_rows(states)) return CAROM_OK;
    const carom_status status = call->states->receive(call->states->user, states, error);
    carom_table_clear(states);
    return status;
}

// A fast step takes a microsecond: these take eleven days.
#define MOST_STEPS 1e12

carom_status carom_motion_check_step(double duration, double step, carom_error *error) {
    if (duration / step <= MOST_STEPS) return CAROM_OK;
    return carom_fail(error, CAROM_BAD_INPUT, "step: %g s are too small for %g s: a run may have at most %g steps", step, duration,
                      MOST_STEPS);
}

carom_status carom_motion_count_steps(double duration, double step, int64_t *steps, carom_error *error) {
    const carom_status status = carom_motion_check_step(duration, step, error);
    if (status) return status;
    if (duration > 0 && duration < 0.5 * step)
        return carom_fail(error, CAROM_BAD_INPUT, "step: %g s are too long for %g s, which would have no step at all", step, duration);
    *steps = (int64_t)(duration / step + 0.5);
    return CAROM_OK;
}

// A time to be recorded may exceed the end of the run by this share of a step, which is rounding.
#define RECORD_TOLERANCE 1e-6

// Times that are recorded at most.
#define MOST_RECORDED 1e6

// The times FROM, FROM + STEP, ..., TO of a word "FROM:TO:STEP", or the one time that it is. False for anything else, and for too many.
static bool parse_range(char *word, double range[3]) {
    int parts = 0;
    char *rest = NULL;
    for (char *part = strtok_r(word, ":", &rest); part; part = strtok_r(NULL, ":", &rest))
        if (parts == 3 || !carom_parse_number(part, &range[parts++])) return false;
    if (parts == 1) {
        range[1] = range[0];
        range[2] = 1;
    }
    const bool ordered = parts != 0 && parts != 2 && range[0] >= 0 && range[1] >= range[0] && range[2] > 0;
    return ordered && (range[1] - range[0]) / range[2] < MOST_RECORDED;
}

carom_status carom_motion_parse_times(const char *text, double step, int64_t steps, carom_arena *arena, int64_t **records, int *count,
                                      carom_error *error) {
    const size_t length = strlen(text);
    *records = NULL;
    *count = 0;
    // The first pass counts, the second lists.
    for (int pass = 0; pass < 2; pass++) {
        char *copy = carom_arena_take(arena, length + 1, 1), *rest = NULL;
        if (pass) *records = carom_arena_take(arena, (size_t)*count, sizeof **records);
        if (arena->failed) return carom_fail_memory(error, "record");
        memcpy(copy, text, length);
        *count = 0;
        for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
            char shown[61];
            double range[3];
            snprintf(shown, sizeof shown, "%s", word);
            if (!parse_range(word, range))
                return carom_fail(error, CAROM_BAD_INPUT, "record: '%s' is not a time of 0 or more, or FROM:TO:STEP with up to %g times",
                                  shown, MOST_RECORDED);
            const int64_t times = (int64_t)((range[1] - range[0]) / range[2] + RECORD_TOLERANCE) + 1;
            for (int64_t k = 0; k < times; k++) {
                const double time = range[0] + (double)k * range[2];
                if (time > ((double)steps + RECORD_TOLERANCE) * step) break;
                if (pass) (*records)[*count] = (int64_t)(time / step + 0.5);
                ++*count;
            }
        }
    }
    return CAROM_OK;
}

carom_status carom_motion_set_option(const carom_law *law, void *options, const char *name, double value, carom_error *error) {
    const int row = carom_option_find(law->options, law->option_count, name);
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return row < 0 ? CAROM_OK : carom_option_set(&law->options[row], options, text, error);
}

carom_status carom_motion_set(const carom_integrator *integrator, void *options, const char *name, const char *text, carom_error *error) {
    const int row = carom_option_find(integrator->options, integrator->option_count, name);
    if (row >= 0) return carom_option_set(&integrator->options[row], options, text, error);
    return carom_fail(error, CAROM_UNSUPPORTED, "the integrator '%s' has no option '%s'", integrator->name, name);
}

// -------------------------------------------------------------------------------------------------------- perturbation

const char *const carom_perturbed_names[] = {"both", "position", "attitude", NULL};

carom_status carom_motion_perturb(const carom_motion *motion, carom_perturbed what, double size, int64_t seed, int64_t index,
                                  carom_motion_room *room, carom_motion *perturbed, carom_error *error) {
    *perturbed = *motion;
    // A system or a mechanism is displaced by its integrator, from the stream of the member.
    if (motion->form == CAROM_MOTION_SYSTEM || motion->form == CAROM_MOTION_MECHANISM) {
        if (what != CAROM_PERTURB_BOTH)
            return carom_fail(error, CAROM_UNSUPPORTED, "all coordinates of a scene with 'model' are perturbed, not one kind of them");
        perturbed->member = index + 1;
        perturbed->displacement = size;
        return CAROM_OK;
    }
    if (motion->form != CAROM_MOTION_BODY)
        return carom_fail(error, CAROM_UNSUPPORTED, "only scenes with 'body' or 'model' can be perturbed");
    carom_stream stream;
    carom_stream_start(&stream, (uint64_t)seed, (uint64_t)index);
    room->body = *motion->body;
    perturbed->body = &room->body;
    // All numbers are drawn, whatever is perturbed: the same index moves a body in the same way.
    carom_body_state *state = &room->body.initial;
    const double shift = what == CAROM_PERTURB_ATTITUDE ? 0 : size, turn = what == CAROM_PERTURB_POSITION ? 0 : size;
    double vector[3], F[9], turned[9];
    for (int i = 0; i < 3; i++) state->position[i] += shift * carom_stream_normal(&stream);
    for (int i = 0; i < 3; i++) vector[i] = turn * carom_stream_normal(&stream);
    // The Cayley vector of a rotation has the tangent of half its angle as length.
    const double angle = carom_norm3(vector);
    for (int i = 0; i < 3 && angle > 0; i++) vector[i] *= tan(0.5 * angle) / angle;
    carom_rotation_matrix(vector, F);
    carom_product3(state->attitude, F, turned);
    memcpy(state->attitude, turned, sizeof turned);
    return CAROM_OK;
}
