// SPDX-License-Identifier: Apache-2.0
// Contact velocities by name, and linear functionals of outcomes.
#include "carom/functional.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/expression.h"

// Room for the letters and numbers around a contact's name.
enum { NUMBER_ROOM = 16, SHOWN_TEXT = 100, SHOWN_REST = 60 };

// Normal velocities of all contacts come first, then tangential ones, as people read them.
carom_status carom_axes_create(int contacts, int tangent_dim, const char *const *names, carom_axes *axes, carom_error *error) {
    *axes = (carom_axes){.contacts = contacts, .count = contacts * (1 + tangent_dim)};
    const char **made = carom_arena_take(&axes->memory, (size_t)axes->count, sizeof *made);
    int *places = carom_arena_take(&axes->memory, (size_t)axes->count, sizeof *places);
    // Part 0 of a contact is its normal, parts 1 and 2 are its tangents, of which the first goes without a number.
    for (int i = 0; i < axes->count && !axes->memory.failed; i++) {
        const int contact = i < contacts ? i : (i - contacts) / tangent_dim, part = i < contacts ? 0 : 1 + (i - contacts) % tangent_dim;
        const size_t size = strlen(names[contact]) + NUMBER_ROOM;
        char *name = carom_arena_take(&axes->memory, size, 1);
        if (name) snprintf(name, size, part > 1 ? "J%c.%s.%d" : "J%c.%s", part ? 't' : 'n', names[contact], part);
        made[i] = name;
        places[i] = contact * (1 + tangent_dim) + part;
    }
    axes->names = made;
    axes->places = places;
    if (!axes->memory.failed) return CAROM_OK;
    carom_axes_free(axes);
    return carom_fail_memory(error, "axes");
}

void carom_axes_free(carom_axes *axes) {
    carom_arena_free(&axes->memory);
    *axes = (carom_axes){0};
}

// Names may hold any character but a comma, so that each is matched as a whole.
carom_status carom_axes_parse(const carom_axes *axes, const char *text, int least, int most, int *chosen, int *count, carom_error *error) {
    const char *rest = text, *end = text + strlen(text);
    *count = 0;
    // One name after the other, with commas between them.
    for (bool more = true; more;) {
        size_t size;
        while (isspace((unsigned char)*rest)) rest++;
        const int axis = *count < most ? carom_expression_match(rest, end, axes->names, axes->count, ",", &size) : -1;
        if (axis < 0) {
            char list[CAROM_MESSAGE_SIZE / 2];
            carom_expression_list(axes->names, axes->count, list, sizeof list);
            return carom_fail(error, CAROM_BAD_INPUT, "'%.*s': '%.*s' %s %s", SHOWN_TEXT, text, SHOWN_REST, rest,
                              *count == most && *rest ? "is one contact velocity too many of" : "does not begin with one of", list);
        }
        chosen[(*count)++] = axis;
        rest += size;
        while (isspace((unsigned char)*rest)) rest++;
        more = *rest == ',';
        rest += more;
    }
    // What may follow a name is checked; how many there are is not yet.
    if (*count >= least) return CAROM_OK;
    char list[CAROM_MESSAGE_SIZE / 2];
    carom_expression_list(axes->names, axes->count, list, sizeof list);
    return carom_fail(error, CAROM_BAD_INPUT, "'%.*s' is only one contact velocity, of %s", SHOWN_TEXT, text, list);
}

// The expression must be linear in contact velocities and generalised velocities.
carom_status carom_functional_parse(const carom_impact *impact, const char *text, carom_functional *functional, carom_error *error) {
    *functional = (carom_functional){0};
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int nv = carom_impact_has_system(impact) ? data->nv : 0;
    carom_axes axes;
    carom_status status = carom_axes_create(data->contacts, data->tangent_dim, data->names, &axes, error);
    if (status) return status;

    // The variables: contact velocities, then v.1, v.2, ...
    const int variables = axes.count + nv;
    const char **names = carom_arena_take(&axes.memory, (size_t)variables, sizeof *names);
    double *factors = carom_arena_take(&axes.memory, (size_t)variables, sizeof *factors);
    for (int i = 0; i < variables && !axes.memory.failed; i++) {
        char *name = i < axes.count ? NULL : carom_arena_take(&axes.memory, NUMBER_ROOM, 1);
        if (name) snprintf(name, NUMBER_ROOM, "v.%d", i - axes.count + 1);
        names[i] = i < axes.count ? axes.names[i] : name;
    }
    // One block for both arrays; zeros for the generalised velocities of an impact that has none.
    functional->contact = calloc((size_t)(axes.count + data->nv) + 1, sizeof(double));
    if (axes.memory.failed || !functional->contact) status = carom_fail_memory(error, "functional");
    if (!status) status = carom_expression_linear(text, names, variables, factors, error);
    // The axes are in an order of their own; the factors go to the places of contact space.
    if (!status) {
        functional->velocity = functional->contact + axes.count;
        for (int i = 0; i < axes.count; i++) functional->contact[axes.places[i]] = factors[i];
        for (int i = 0; i < nv; i++) functional->velocity[i] = factors[axes.count + i];
    } else {
        carom_functional_release(functional);
    }
    carom_axes_free(&axes);
    return status;
}

void carom_functional_release(carom_functional *functional) {
    free(functional->contact);
    *functional = (carom_functional){0};
}
