// SPDX-License-Identifier: Apache-2.0
// The same impact with other numbers.
#include "carom/vary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Room for a double in 17 digits, the fewest that name every one.
enum { TEXT_SIZE = 32 };

// A contact by its name, after `mu.` or `restitution.`; false for another beginning.
static bool find_of_contact(const carom_impact *impact, const char *kind, const char *name, int *index) {
    const size_t length = strlen(kind);
    if (strncmp(name, kind, length) != 0 || (name[length] && name[length] != '.')) return false;
    *index = name[length] ? carom_impact_find_contact(impact, name + length + 1) : -1;
    return !name[length] || *index >= 0;
}

carom_status carom_parameter_find(const carom_impact *impact, const char *name, carom_parameter *parameter, carom_error *error) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    *parameter = (carom_parameter){.kind = CAROM_PARAMETER_FRICTION, .index = -1};
    if (find_of_contact(impact, "mu", name, &parameter->index)) return CAROM_OK;
    parameter->kind = CAROM_PARAMETER_RESTITUTION;
    if (find_of_contact(impact, "restitution", name, &parameter->index)) return CAROM_OK;
    parameter->kind = CAROM_PARAMETER_MASS;
    if (!strcmp(name, "mass")) return CAROM_OK;
    // A velocity: by its number, from 1, or by its name.
    parameter->kind = CAROM_PARAMETER_VELOCITY;
    char *end;
    const long number = strncmp(name, "v.", 2) ? 0 : strtol(name + 2, &end, 10);
    if (number >= 1 && number <= data->nv && !*end) {
        parameter->index = (int)number - 1;
        return CAROM_OK;
    }
    for (int i = 0; i < data->nv && data->velocity_names; i++)
        if (!strcmp(data->velocity_names[i], name)) {
            parameter->index = i;
            return CAROM_OK;
        }

    // What was perhaps meant. Suggestions borrow the names that they are offered.
    carom_suggestion suggestion = {.wanted = name};
    char phrase[CAROM_SUGGESTION_SIZE];
    carom_arena arena = {0};
    static const char *const words[] = {"mu", "restitution", "mass"};
    for (int i = 0; i < 3; i++) carom_suggestion_offer(&suggestion, words[i]);
    for (int i = 0; i < 2 * data->contacts; i++) {
        char *of_contact = carom_arena_take(&arena, CAROM_MAX_NAME + TEXT_SIZE, 1);
        if (!of_contact) break;
        snprintf(of_contact, CAROM_MAX_NAME + TEXT_SIZE, "%s.%s", words[i % 2], data->names[i / 2]);
        carom_suggestion_offer(&suggestion, of_contact);
    }
    for (int i = 0; i < data->nv && data->velocity_names; i++) carom_suggestion_offer(&suggestion, data->velocity_names[i]);
    carom_fail(
        error, CAROM_BAD_INPUT,
        "'%.80s' is none of mu, mu.CONTACT, restitution, restitution.CONTACT, mass, v.I with I up to %d, or the name of a velocity%s", name,
        data->nv, carom_suggestion_phrase(&suggestion, phrase));
    carom_arena_free(&arena);
    return CAROM_BAD_INPUT;
}

// Numbers that may be changed, with their texts.
typedef struct numbers {
    int count;
    double *values;
    const char **texts;  // entries NULL where there is none
    char (*written)[TEXT_SIZE];
} numbers;

// @param texts  NULL: there are none
static numbers take_numbers(carom_arena *arena, int count, const double *values, const char *const *texts) {
    const size_t size = (size_t)count;
    numbers taken = {.count = count,
                     .values = carom_arena_take(arena, size, sizeof(double)),
                     .texts = carom_arena_take(arena, size, sizeof(char *)),
                     .written = carom_arena_take(arena, size, TEXT_SIZE)};
    for (int i = 0; i < count && !arena->failed; i++) {
        taken.values[i] = values[i];
        taken.texts[i] = texts ? texts[i] : NULL;
    }
    return taken;
}

static void set_number(numbers *in, int index, double value) {
    in->values[index] = value;
    snprintf(in->written[index], TEXT_SIZE, "%.17g", value);
    in->texts[index] = in->written[index];
}

// Texts stand for all numbers of an array, or for none.
static const char *const *whole_texts(const numbers *of) {
    for (int i = 0; i < of->count; i++)
        if (!of->texts[i]) return NULL;
    return of->texts;
}

// Whether a contact has a value of its own, which goes before that of all contacts.
static bool has_own(int count, const carom_parameter *parameters, const carom_parameter *of_all, int contact) {
    for (int k = 0; k < count; k++)
        if (parameters[k].kind == of_all->kind && parameters[k].index == contact) return true;
    return false;
}

carom_status carom_impact_vary(const carom_impact *impact, int count, const carom_parameter *parameters, const double *values,
                               carom_impact **varied, carom_error *error) {
    *varied = NULL;
    carom_impact_data data = *carom_impact_get_data(impact);
    carom_impact_texts texts = *carom_impact_get_texts(impact);
    carom_arena arena = {0};
    numbers friction = take_numbers(&arena, data.contacts, data.friction, texts.friction),
            restitution = take_numbers(&arena, data.contacts, data.restitution, texts.restitution),
            velocity = take_numbers(&arena, data.nv, data.velocity, texts.velocity);
    double factor = 1;
    for (int k = 0; k < count && !arena.failed; k++) {
        numbers *of_contacts = parameters[k].kind == CAROM_PARAMETER_FRICTION ? &friction : &restitution;
        switch (parameters[k].kind) {
        case CAROM_PARAMETER_FRICTION:
        case CAROM_PARAMETER_RESTITUTION:
            for (int i = 0; i < data.contacts; i++)
                if (parameters[k].index == i || (parameters[k].index < 0 && !has_own(count, parameters, &parameters[k], i)))
                    set_number(of_contacts, i, values[k]);
            break;
        case CAROM_PARAMETER_VELOCITY: set_number(&velocity, parameters[k].index, values[k]); break;
        case CAROM_PARAMETER_MASS: factor *= values[k]; break;
        }
    }
    // Masses as they are, or M times the factor; in contact space W over it.
    const bool has_system = carom_impact_has_system(impact);
    const int n = carom_impact_contact_size(impact);
    const size_t entries = has_system ? (size_t)data.nv * (size_t)data.nv : (size_t)n * (size_t)n;
    const double *matrix = has_system ? data.mass : carom_impact_delassus(impact);
    double *scaled = factor == 1 ? NULL : carom_arena_take(&arena, entries, sizeof *scaled);
    carom_status status = arena.failed ? carom_fail_memory(error, "impact") : CAROM_OK;
    for (size_t i = 0; i < entries && scaled && !status; i++) scaled[i] = has_system ? matrix[i] * factor : matrix[i] / factor;
    if (scaled) {
        matrix = scaled;
        texts.mass = NULL;
    }
    data.mass = matrix;
    data.friction = friction.values;
    data.restitution = restitution.values;
    data.velocity = velocity.values;
    if (!status) {
        texts.friction = whole_texts(&friction);
        texts.restitution = whole_texts(&restitution);
        texts.velocity = whole_texts(&velocity);
    }
    const carom_delassus_data reduced = {.contacts = data.contacts,
                                         .tangent_dim = data.tangent_dim,
                                         .delassus = matrix,
                                         .velocity = data.velocity,
                                         .friction = data.friction,
                                         .restitution = data.restitution,
                                         .names = data.names};
    if (!status)
        status =
            has_system ? carom_impact_create_exact(&data, &texts, varied, error) : carom_impact_create_delassus(&reduced, varied, error);
    carom_arena_free(&arena);
    return status;
}
