// SPDX-License-Identifier: Apache-2.0
// Linear functionals as users write them: 2*Jn.A - Jt.B.2 + 0.5*v.3. Names of contacts may hold any character, so that at every place the
// longest name that fits and ends there counts.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/query/query.h"
#include "io/plot/axes.h"

enum { NUMBER_SIZE = 64 };

typedef struct parser {
    const carom_axes *axes;
    const char *option;  // for messages
    const char *text;    // the whole
    const char *rest;
    int nv;
} parser;

static void skip_blanks(parser *p) { p->rest += strspn(p->rest, " \t"); }

static void list_names(const carom_axes *axes, char *list, size_t size) {
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < axes->count && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "", axes->axes[i].name);
}

static carom_status refuse(const parser *p, carom_error *error) {
    char valid[CAROM_MESSAGE_SIZE / 2];
    list_names(p->axes, valid, sizeof valid);
    return carom_fail(error, CAROM_BAD_INPUT, "--%s: '%.100s': '%.60s' does not begin with one of %s%s", p->option, p->text, p->rest, valid,
                      p->nv ? ", v.1, v.2, ..." : "");
}

// Does a term end here?
static bool ends(const char *text, const char *separators) {
    text += strspn(text, " \t");
    return !*text || strchr(separators, *text);
}

// The longest axis that stands here; -1 for none.
static int take_axis(parser *p, const char *separators) {
    int best = -1;
    size_t longest = 0;
    for (int i = 0; i < p->axes->count; i++) {
        const char *name = p->axes->axes[i].name;
        const size_t length = strlen(name);
        if (length <= longest || strncmp(p->rest, name, length) || !ends(p->rest + length, separators)) continue;
        best = i;
        longest = length;
    }
    p->rest += longest;
    return best;
}

// The index of v.I, from 0; -1 for none.
static int take_velocity(parser *p) {
    if (strncmp(p->rest, "v.", 2) || !isdigit((unsigned char)p->rest[2])) return -1;
    char *end;
    const long index = strtol(p->rest + 2, &end, 10);
    if (index < 1 || index > p->nv || !ends(end, "+-")) return -1;
    p->rest = end;
    return (int)index - 1;
}

// The factor in front of a name: a sign, a number with a star, both or neither.
static carom_status take_factor(parser *p, bool first, double *factor, carom_error *error) {
    skip_blanks(p);
    *factor = *p->rest == '-' ? -1 : 1;
    if (*p->rest == '-' || *p->rest == '+')
        p->rest++;
    else if (!first)
        return refuse(p, error);
    skip_blanks(p);
    const char *star = strchr(p->rest, '*');
    const size_t length = strspn(p->rest, "0123456789.eE+-");
    if (!star || !length || p->rest + length + strspn(p->rest + length, " \t") != star) return CAROM_OK;
    char number[NUMBER_SIZE];
    snprintf(number, sizeof number, "%.*s", (int)length, p->rest);
    double value;
    if (length >= sizeof number || !carom_parse_number(number, &value))
        return carom_fail(error, CAROM_BAD_INPUT, "--%s: '%.60s' is not a finite number", p->option, number);
    *factor *= value;
    p->rest = star + 1;
    skip_blanks(p);
    return CAROM_OK;
}

static carom_status take_term(parser *p, bool first, query_functional *functional, carom_error *error) {
    double factor;
    const carom_status status = take_factor(p, first, &factor, error);
    if (status) return status;
    const int axis = take_axis(p, "+-"), velocity = axis < 0 ? take_velocity(p) : -1;
    if (axis < 0 && velocity < 0) return refuse(p, error);
    if (axis >= 0)
        functional->contact[p->axes->axes[axis].place] += factor;
    else
        functional->velocity[velocity] += factor;
    skip_blanks(p);
    return CAROM_OK;
}

carom_status query_functional_parse(const carom_result *result, int nv, const char *text, query_functional *functional,
                                    carom_error *error) {
    *functional = (query_functional){0};
    carom_axes axes;
    carom_status status = carom_axes_create(result, &axes, error);
    if (status) return status;
    functional->contact = calloc((size_t)(axes.count + nv), sizeof(double));
    if (!functional->contact) status = carom_fail_memory(error, "query");
    functional->velocity = functional->contact ? functional->contact + axes.count : NULL;
    parser p = {.axes = &axes, .option = "max", .text = text, .rest = text, .nv = nv};
    if (!status) status = take_term(&p, true, functional, error);
    while (!status && *p.rest) status = take_term(&p, false, functional, error);
    if (status) query_functional_release(functional);
    carom_axes_free(&axes);
    return status;
}

void query_functional_release(query_functional *functional) {
    free(functional->contact);
    *functional = (query_functional){0};
}

carom_status query_axes_parse(const carom_result *result, const char *text, int *places, int *count, carom_error *error) {
    *count = 0;
    carom_axes axes;
    carom_status status = carom_axes_create(result, &axes, error);
    if (status) return status;
    parser p = {.axes = &axes, .option = "hull", .text = text, .rest = text};
    for (bool more = true; more && !status;) {
        skip_blanks(&p);
        const int axis = *count < axes.count ? take_axis(&p, ",") : -1;
        if (axis < 0) status = refuse(&p, error);
        if (!status) places[(*count)++] = axes.axes[axis].place;
        skip_blanks(&p);
        more = *p.rest == ',';
        p.rest += more;
    }
    if (!status && *count < 2) status = carom_fail(error, CAROM_BAD_INPUT, "--hull: '%.100s' is only one contact velocity", text);
    carom_axes_free(&axes);
    return status;
}
