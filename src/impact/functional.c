// SPDX-License-Identifier: Apache-2.0
// Contact velocities by name, and functionals of outcomes: sums of multiples of everything that has a name.
#include "carom/functional.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dense.h"
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

// ------------------------------------------------------------------------------------------------------- what is named

carom_quantities carom_impact_quantities(const carom_impact *impact) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    return (carom_quantities){.contacts = data->contacts,
                              .tangent_dim = data->tangent_dim,
                              .contact_names = data->names,
                              .nv = carom_impact_has_system(impact) ? data->nv : 0,
                              .velocity_names = data->velocity_names,
                              .velocity_turns = data->velocity_turns};
}

// The variables of an expression: names, and where the factor of each goes. Several names may stand for one place.
typedef struct variables {
    const char **names;
    int *places;  // among contact velocities, velocities, impulses, energy ratio
    int count;
    carom_arena *memory;
} variables;

static void add_variable(variables *known, int place, const char *format, ...) CAROM_PRINTF(3, 4);
static void add_variable(variables *known, int place, const char *format, ...) {
    va_list arguments;
    char name[CAROM_MAX_NAME + NUMBER_ROOM];
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    char *copy = carom_arena_take(known->memory, strlen(name) + 1, 1);
    if (!copy) return;
    known->names[known->count] = strcpy(copy, name);
    known->places[known->count++] = place;
}

// May a velocity of this name stand in an expression as it is?
static bool stands_alone(const char *name) {
    static const char *const words[] = {"K", "pi", "sqrt"}, *const beginnings[] = {"Jn.", "Jt.", "Pn.", "Pt.", "v."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i])) return false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(name, beginnings[i], strlen(beginnings[i]))) return false;
    return !isdigit((unsigned char)*name) && *name != '.';
}

// The endings of the velocities of a free joint.
static const char *const endings[] = {".x", ".y", ".z", ".wx", ".wy", ".wz"};
enum { FREE = sizeof endings / sizeof *endings };

// The first six velocities that are a free joint's, by their names; -1 where there are none.
static int find_free_joint(const carom_quantities *q) {
    for (int i = 0; i + FREE <= q->nv; i++) {
        const char *first = q->velocity_names[i];
        const size_t length = strlen(first), prefix = length > 2 ? length - 2 : 0;
        bool found = prefix;
        for (int k = 0; k < FREE && found; k++) {
            const char *name = q->velocity_names[i + k];
            found = !strncmp(name, first, prefix) && !strcmp(name + prefix, endings[k]);
        }
        if (found) return i;
    }
    return -1;
}

// Of two equal names the first one counts; the first names are also those that messages list.
static carom_status collect_variables(const carom_quantities *q, const carom_axes *axes, variables *known, carom_error *error) {
    const int n = axes->count, tangents = n - q->contacts;
    const int velocities = n, impulses = n + q->nv, energy = impulses + n;
    const size_t room = 2 * (size_t)(n + tangents) + 3 * (size_t)q->nv + FREE + 1;
    known->names = carom_arena_take(known->memory, room, sizeof *known->names);
    known->places = carom_arena_take(known->memory, room, sizeof *known->places);
    if (known->memory->failed) return carom_fail_memory(error, "names of an expression");
    for (int i = 0; i < n; i++) add_variable(known, axes->places[i], "%s", axes->names[i]);
    for (int i = 0; i < q->nv && q->velocity_names; i++)
        if (stands_alone(q->velocity_names[i])) add_variable(known, velocities + i, "%s", q->velocity_names[i]);
    for (int i = 0; i < n; i++) add_variable(known, impulses + axes->places[i], "P%s", axes->names[i] + 1);
    add_variable(known, energy, "K");
    for (int i = 0; i < q->nv; i++) add_variable(known, velocities + i, "v.%d", i + 1);
    for (int i = 0; i < q->nv && q->velocity_names; i++) add_variable(known, velocities + i, "v.%s", q->velocity_names[i]);
    // Other names of what has one already.
    for (int i = q->contacts; i < n; i += q->tangent_dim) {
        add_variable(known, axes->places[i], "%s.1", axes->names[i]);
        add_variable(known, impulses + axes->places[i], "P%s.1", axes->names[i] + 1);
    }
    const int base = q->velocity_names ? find_free_joint(q) : -1;
    for (int k = 0; k < FREE && base >= 0; k++) add_variable(known, velocities + base + k, "base%s", endings[k]);
    return known->memory->failed ? carom_fail_memory(error, "names of an expression") : CAROM_OK;
}

// -------------------------------------------------------------------------------------------------------- functionals

// The one unit of everything that has a factor; "" for several.
static const char *find_unit(const carom_quantities *q, const carom_functional *f) {
    const char *unit = f->energy != 0 ? "" : NULL;
    for (int i = 0; i < f->n; i++) {
        if (f->contact[i] != 0) unit = !unit || !strcmp(unit, "m/s") ? "m/s" : "";
        if (f->impulse[i] != 0) unit = !unit || !strcmp(unit, "N s") ? "N s" : "";
    }
    for (int i = 0; i < f->nv; i++) {
        const char *own = !q->velocity_turns ? "" : q->velocity_turns[i] ? "rad/s" : "m/s";
        if (f->velocity[i] != 0) unit = !unit || !strcmp(unit, own) ? own : "";
    }
    return unit ? unit : "";
}

carom_status carom_functional_read(const carom_quantities *quantities, const char *text, carom_functional *functional, carom_error *error) {
    *functional = (carom_functional){.unit = ""};
    const carom_quantities *q = quantities;
    carom_axes axes;
    carom_status status = carom_axes_create(q->contacts, q->tangent_dim, q->contact_names, &axes, error);
    if (status) return status;
    variables known = {.memory = &axes.memory};
    status = collect_variables(q, &axes, &known, error);
    double *factors = carom_arena_take(&axes.memory, (size_t)known.count, sizeof *factors);
    // One block for all arrays.
    const size_t n = (size_t)axes.count, nv = (size_t)q->nv;
    double *block = calloc(2 * n + nv + 1, sizeof *block);
    if (!status && (!factors || !block)) status = carom_fail_memory(error, "functional");
    if (!status) status = carom_expression_linear(text, known.names, known.count, factors, error);
    if (status) {
        free(block);
    } else {
        // The order of the places is that of the block.
        for (int i = 0; i < known.count; i++)
            if (factors[i] != 0) block[known.places[i]] += factors[i];
        *functional = (carom_functional){
            .n = axes.count, .nv = q->nv, .contact = block, .velocity = block + n, .impulse = block + n + nv, .energy = block[2 * n + nv]};
        for (size_t i = 0; i < nv; i++) functional->has_velocity = functional->has_velocity || functional->velocity[i] != 0;
        for (size_t i = 0; i < n; i++) functional->has_impulse = functional->has_impulse || functional->impulse[i] != 0;
        functional->unit = find_unit(q, functional);
    }
    carom_axes_free(&axes);
    return status;
}

carom_status carom_functional_parse(const carom_impact *impact, const char *text, carom_functional *functional, carom_error *error) {
    const carom_quantities quantities = carom_impact_quantities(impact);
    return carom_functional_read(&quantities, text, functional, error);
}

void carom_functional_release(carom_functional *functional) {
    free(functional->contact);
    *functional = (carom_functional){.unit = ""};
}

// Refuses a list and says which contact velocities could stand in it.
static carom_status refuse_list(const carom_quantities *q, const char *text, const char *why, carom_error *error) {
    char list[CAROM_MESSAGE_SIZE / 2];
    carom_axes axes;
    const carom_status status = carom_axes_create(q->contacts, q->tangent_dim, q->contact_names, &axes, error);
    if (status) return status;
    carom_expression_list(axes.names, axes.count, list, sizeof list);
    carom_axes_free(&axes);
    return carom_fail(error, CAROM_BAD_INPUT, "'%.*s' %s of %s and other quantities", SHOWN_TEXT, text, why, list);
}

// Names have no commas.
carom_status carom_functional_read_list(const carom_quantities *quantities, const char *text, int least, int most, carom_functional *chosen,
                                        const char **texts, int *count, carom_arena *memory, carom_error *error) {
    carom_status status = CAROM_OK;
    const char *rest = text;
    *count = 0;
    for (bool more = true; more && !status;) {
        while (isspace((unsigned char)*rest)) rest++;
        const size_t length = strcspn(rest, ",");
        size_t size = length;
        while (size && isspace((unsigned char)rest[size - 1])) size--;
        char *one = carom_arena_take(memory, size + 1, 1);
        if (!one) status = carom_fail_memory(error, "axes");
        if (!status && *count == most)
            status = carom_fail(error, CAROM_BAD_INPUT, "'%.*s': '%.*s' is one too many: there are %d at most", SHOWN_TEXT, text,
                                SHOWN_REST, rest, most);
        if (!status && !size) status = refuse_list(quantities, text, "has an entry that does not begin with one", error);
        if (!status) memcpy(one, rest, size);
        if (!status) status = carom_functional_read(quantities, one, &chosen[*count], error);
        if (!status && texts) texts[*count] = one;
        *count += !status;
        more = rest[length] == ',';
        rest += length + more;
    }
    if (!status && *count < least) status = refuse_list(quantities, text, "is only one", error);
    while (status && *count > 0) carom_functional_release(&chosen[--*count]);
    return status;
}

double carom_functional_value(const carom_functional *functional, const carom_outcome_point *point) {
    const carom_functional *f = functional;
    double value = carom_dot(f->n, f->contact, point->u);
    if (f->has_velocity) value += point->v ? carom_dot(f->nv, f->velocity, point->v) : (double)NAN;
    if (f->has_impulse) value += point->impulse ? carom_dot(f->n, f->impulse, point->impulse) : (double)NAN;
    if (f->energy != 0) value += f->energy * point->energy_ratio;
    return value;
}
