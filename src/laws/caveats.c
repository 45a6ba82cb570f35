// SPDX-License-Identifier: Apache-2.0
// What is given and not used: which coefficients a law leaves aside, and the sentences that say so beside its answer.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "carom/dense.h"
#include "laws/laws_internal.h"

const char *const carom_law_by_hypothesis[] = {"hypothesis", "poisson", "stronge", NULL};

enum { SHOWN_NAMES = 6 };  // of contacts in a sentence

// The field of an option by its name; NULL where the law has none.
static const void *find_field(const carom_law *law, const void *options, const char *name, const carom_option **row) {
    const int index = carom_option_find(law->options, law->option_count, name);
    *row = index < 0 ? NULL : &law->options[index];
    return *row ? (const char *)options + (*row)->offset : NULL;
}

// The law's own option `restitution`: of a number or an interval, NaN where it leaves each contact its own.
static carom_interval read_restitution(const carom_law *law, const void *options, bool *changed) {
    const carom_option *row;
    const void *field = find_field(law, options, "restitution", &row);
    *changed = false;
    if (!field) return (carom_interval){(double)NAN, (double)NAN};
    carom_interval value = {*(const double *)field, *(const double *)field};
    if (row->type == CAROM_OPTION_INTERVAL) value = *(const carom_interval *)field;
    double initial;
    *changed = !isnan(value.least) && !(carom_parse_number(row->initial, &initial) && initial == value.least && initial == value.most);
    return value;
}

bool carom_law_bounces(const carom_law *law, const void *options) {
    const carom_option *row;
    if (!find_field(law, options, "restitution", &row)) return false;
    if (!law->bouncing) return true;
    const void *field = find_field(law, options, law->bouncing[0], &row);
    for (const char *const *choice = law->bouncing + 1; field && *choice; choice++)
        if (!strcmp(row->choices[*(const int *)field], *choice)) return true;
    return false;
}

const char *carom_law_hypothesis(const carom_law *law, const void *options) {
    const carom_option *row;
    const void *field = find_field(law, options, law->bouncing ? law->bouncing[0] : "hypothesis", &row);
    return field && carom_law_bounces(law, options) ? row->choices[*(const int *)field] : NULL;
}

bool carom_law_restitution(const carom_law *law, const void *options, const carom_impact *impact, carom_interval *range) {
    const carom_impact_data *data = carom_impact_get_data(impact);
    bool changed;
    *range = read_restitution(law, options, &changed);
    if (!carom_law_bounces(law, options)) *range = (carom_interval){(double)NAN, (double)NAN};
    if (!carom_law_bounces(law, options) || !isnan(range->least)) return carom_law_bounces(law, options);
    *range = (carom_interval){data->restitution[0], data->restitution[0]};
    for (int i = 1; i < data->contacts; i++)
        *range = (carom_interval){fmin(range->least, data->restitution[i]), fmax(range->most, data->restitution[i])};
    return true;
}

int carom_law_unused(const carom_law *law, const void *options, const carom_given *given) {
    const carom_impact_data *data = carom_impact_get_data(given->impact);
    const size_t contacts = (size_t)data->contacts;
    bool changed;
    const carom_interval own = read_restitution(law, options, &changed);
    const bool of_contacts =
        carom_max_abs(contacts, data->restitution) > 0 || (given->uncertainty && carom_uncertainty_bounces(given->uncertainty));
    int unused = 0;
    if (!carom_law_bounces(law, options)) {
        if (of_contacts || given->restitution || (changed && own.most > 0)) unused |= CAROM_UNUSED_RESTITUTION;
    } else if (law->elastic) {
        // One coefficient stands for all contacts: that is meant where somebody gives it.
        if (of_contacts && !changed && !given->restitution) unused |= CAROM_UNUSED_RESTITUTION;
    } else if (law->bouncing && !of_contacts && isnan(own.least)) {
        unused |= CAROM_UNUSED_HYPOTHESIS;
    }
    const bool rubs = carom_max_abs(contacts, data->friction) > 0 || (given->uncertainty && carom_uncertainty_rubs(given->uncertainty));
    if (law->frictionless && rubs) unused |= CAROM_UNUSED_FRICTION;
    return unused;
}

// ----------------------------------------------------------------------------------------------------------- sentences

// A text that grows up to its size.
typedef struct sentence {
    char *text;
    size_t size;
} sentence;

CAROM_PRINTF(2, 3) static void add(sentence *to, const char *format, ...) {
    const size_t used = strlen(to->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to->text + used, to->size - used, format, arguments);
    va_end(arguments);
}

// "A, B and C" goes on: what stands before the next of `count` names.
static const char *separator(int index, int count) { return !index ? "" : index + 1 < count ? ", " : " and "; }

// An option with a value as the reader writes it.
static void add_setting(sentence *to, carom_spelling spelling, const char *name, const char *value) {
    if (spelling == CAROM_SPELL_FLAGS)
        add(to, "--%s %s", name, value);
    else
        add(to, "%s=\"%s\"", name, value);
}

// "restitution of contacts left, right": those whose coefficient is not zero.
static void add_coefficients(sentence *to, const char *what, const carom_impact_data *data, const double *coefficients) {
    int count = 0, shown = 0;
    for (int i = 0; i < data->contacts; i++) count += coefficients[i] > 0;
    if (!count || count > SHOWN_NAMES) {
        add(to, count ? "%s of %d contacts" : "%s", what, count);
        return;
    }
    add(to, "%s of contact%s ", what, count == 1 ? "" : "s");
    for (int i = 0; i < data->contacts; i++)
        if (coefficients[i] > 0) add(to, "%s%s", shown++ ? ", " : "", data->names[i]);
}

// The laws with a bit, and how many they are.
static int add_laws(sentence *to, const carom_law *const *laws, const int *unused, int count, int bit) {
    int some = 0, shown = 0;
    for (int i = 0; i < count; i++) some += (unused[i] & bit) != 0;
    for (int i = 0; i < count; i++)
        if (unused[i] & bit) add(to, "%s%s", separator(shown++, some), laws[i]->name);
    return some;
}

// Is this the first of the laws with the bit that bounce by the same option?
static bool is_first(const carom_law *const *laws, const int *unused, int index) {
    for (int i = 0; i < index; i++)
        if ((unused[i] & CAROM_UNUSED_RESTITUTION) && laws[i]->bouncing && !strcmp(laws[i]->bouncing[0], laws[index]->bouncing[0]))
            return false;
    return true;
}

// What makes these laws use the coefficients: a setting of each, or other laws.
static void add_remedy(sentence *to, const carom_given *given, const carom_law *const *laws, const int *unused, int count,
                       carom_spelling spelling) {
    bool found = false, elastic = false;
    for (int i = 0; i < count; i++) {
        const carom_law *law = laws[i];
        if (!(unused[i] & CAROM_UNUSED_RESTITUTION) || (!law->bouncing && !law->elastic)) continue;
        if (law->bouncing && !is_first(laws, unused, i)) continue;
        add(to, "%s", found ? ", " : ": ");
        found = true;
        elastic = law->elastic;
        if (law->elastic)
            add(to, spelling == CAROM_SPELL_FLAGS ? "--restitution E" : "restitution=E");
        else
            add_setting(to, spelling, law->bouncing[0], law->bouncing[1]);
        if (count == 1) continue;
        // Laws that share a setting.
        add(to, " (%s", law->name);
        for (int k = i + 1; k < count && law->bouncing; k++)
            if ((unused[k] & CAROM_UNUSED_RESTITUTION) && laws[k]->bouncing && !strcmp(laws[k]->bouncing[0], law->bouncing[0]))
                add(to, ", %s", laws[k]->name);
        add(to, ")");
    }
    if (!found)
        add(to, ": moreau%s do", carom_impact_get_data(given->impact)->contacts == 1 ? ", lzb and stronge" : " and lzb");
    else
        add(to, count > 1 ? " let them bounce" : elastic ? " gives one for all contacts" : " makes it bounce");
}

void carom_law_caveats(const carom_given *given, const carom_law *const *laws, const int *unused, int count, carom_spelling spelling,
                       carom_caveats *caveats) {
    const carom_impact_data *data = carom_impact_get_data(given->impact);
    int all = 0;
    for (int i = 0; i < count; i++) all |= unused[i];
    caveats->count = 0;
    if (all & CAROM_UNUSED_RESTITUTION) {
        sentence to = {caveats->text[caveats->count++], CAROM_MESSAGE_SIZE};
        *to.text = '\0';
        add_coefficients(&to, "restitution", data, data->restitution);
        add(&to, " is given, and ");
        const int some = add_laws(&to, laws, unused, count, CAROM_UNUSED_RESTITUTION);
        add(&to, " do%s not use it", some == 1 ? "es" : "");
        add_remedy(&to, given, laws, unused, count, spelling);
    }
    if (all & CAROM_UNUSED_FRICTION) {
        sentence to = {caveats->text[caveats->count++], CAROM_MESSAGE_SIZE};
        *to.text = '\0';
        add_coefficients(&to, "friction", data, data->friction);
        add(&to, " is given, and ");
        const int some = add_laws(&to, laws, unused, count, CAROM_UNUSED_FRICTION);
        add(&to, " ha%s none: impacts are along the normals alone", some == 1 ? "s" : "ve");
    }
    if (all & CAROM_UNUSED_HYPOTHESIS) {
        sentence to = {caveats->text[caveats->count++], CAROM_MESSAGE_SIZE};
        snprintf(to.text, to.size, "nothing bounces: all coefficients of restitution are 0, and %s gives others",
                 spelling == CAROM_SPELL_FLAGS ? "--restitution" : "`restitution`");
    }
}
