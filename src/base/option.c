// SPDX-License-Identifier: Apache-2.0
// Option tables: text to struct fields and back.
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/base.h"

// 2^53: doubles hold all whole numbers below it, and a text above it may have been rounded to it.
#define TOO_LARGE_WHOLE 9007199254740992.0

// Tables are short: a linear search is enough.
int carom_option_find(const carom_option *rows, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name)) return i;
    return -1;
}

// Decimal floating-point syntax [sign] digits [. digits] [e [sign] digits]: strtod alone would take hexadecimal, "nan", "inf" and blanks.
static bool is_decimal(const char *text) {
    if (*text == '+' || *text == '-') text++;
    size_t digits = 0;
    for (; isdigit((unsigned char)*text); text++) digits++;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++) digits++;
    if (!digits) return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-') text++;
        if (!isdigit((unsigned char)*text)) return false;
        while (isdigit((unsigned char)*text)) text++;
    }
    return !*text;
}

// The program that hosts us may have a locale with a decimal comma: numbers keep their point.
typedef struct point_locale {
    locale_t ours, callers;
} point_locale;

// Numbers have decimal points, whatever the program's locale: this thread uses the C locale for a while ...
static point_locale enter_point_locale(void) {
    point_locale l = {.ours = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (l.ours) l.callers = uselocale(l.ours);
    return l;
}

// ... and then its own again.
static void leave_point_locale(point_locale l) {
    if (!l.ours) return;
    uselocale(l.callers);
    freelocale(l.ours);
}

// strtod also takes hexadecimal, "inf" and "nan", which are no numbers here.
bool carom_parse_number(const char *text, double *value) {
    *value = 0;
    if (!is_decimal(text)) return false;
    const point_locale locale = enter_point_locale();
    const double parsed = strtod(text, NULL);
    leave_point_locale(locale);
    if (!isfinite(parsed)) return false;
    *value = parsed;
    return true;
}

// 17 significant digits give every double back.
void carom_print_number(double value, char *text, size_t size) {
    const point_locale locale = enter_point_locale();
    snprintf(text, size, "%.17g", value);
    leave_point_locale(locale);
}

// A number within the row's closed range.
static carom_status parse_in_range(const carom_option *row, const char *text, double *value, carom_error *error) {
    if (!carom_parse_number(text, value)) return carom_fail(error, CAROM_BAD_INPUT, "%s: '%.60s' is not a number", row->name, text);
    if (*value >= row->least && *value <= row->most) return CAROM_OK;
    if (row->least == CAROM_POSITIVE) {
        if (isinf(row->most)) return carom_fail(error, CAROM_BAD_INPUT, "%s: %.60s is not greater than 0", row->name, text);
        return carom_fail(error, CAROM_BAD_INPUT, "%s: %.60s is not greater than 0 and at most %.17g", row->name, text, row->most);
    }
    if (isinf(row->most)) return carom_fail(error, CAROM_BAD_INPUT, "%s: %.60s is below the least value %g", row->name, text, row->least);
    return carom_fail(error, CAROM_BAD_INPUT, "%s: %.60s is not between %.17g and %.17g", row->name, text, row->least, row->most);
}

// A default that is a word, "auto", stands for 0, which is then below the least value.
static bool has_word(const carom_option *row) {
    double number;
    return row->initial && row->least > 0 && !carom_parse_number(row->initial, &number);
}

// A whole number that a double holds exactly.
static carom_status set_integer(const carom_option *row, int64_t *field, const char *text, carom_error *error) {
    double value;
    if (has_word(row) && !strcmp(row->initial, text)) {
        *field = 0;
        return CAROM_OK;
    }
    const carom_status status = parse_in_range(row, text, &value, error);
    if (status) return status;
    if (value != floor(value) || fabs(value) >= TOO_LARGE_WHOLE)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: %.60s is not a whole number", row->name, text);
    *field = (int64_t)value;
    return CAROM_OK;
}

// NaN stands for a word such as `auto`, where the row's default is one.
static carom_status set_real(const carom_option *row, double *field, const char *text, carom_error *error) {
    double value;
    // A default that is a word, "auto" or "none", stands for NaN.
    if (row->initial && !strcmp(row->initial, text) && !carom_parse_number(text, &value)) {
        *field = NAN;
        return CAROM_OK;
    }
    const carom_status status = parse_in_range(row, text, &value, error);
    if (!status) *field = value;
    return status;
}

// The index of the name; a wrong one is answered with the list of all.
static carom_status set_choice(const carom_option *row, int *field, const char *text, carom_error *error) {
    char names[256] = "";
    for (int i = 0; row->choices[i]; i++) {
        if (!strcmp(row->choices[i], text)) {
            *field = i;
            return CAROM_OK;
        }
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", row->choices[i]);
    }
    return carom_fail(error, CAROM_BAD_INPUT, "%s: '%.60s' is not one of: %s", row->name, text, names);
}

// Scenes write the word; a flag without value means true.
static carom_status set_switch(const carom_option *row, bool *field, const char *text, carom_error *error) {
    const bool on = !strcmp(text, "true");
    if (!on && strcmp(text, "false") != 0)
        return carom_fail(error, CAROM_BAD_INPUT, "%s: '%.60s' is neither true nor false", row->name, text);
    *field = on;
    return CAROM_OK;
}

// The text is borrowed.
static carom_status set_text(const carom_option *row, const char **field, const char *text, carom_error *error) {
    if (!*text) return carom_fail(error, CAROM_BAD_INPUT, "%s: an empty text is not allowed", row->name);
    *field = text;
    return CAROM_OK;
}

// The row says where in the struct the field is, and of which type.
carom_status carom_option_set(const carom_option *row, void *options, const char *text, carom_error *error) {
    void *field = (char *)options + row->offset;
    switch (row->type) {
    case CAROM_OPTION_INTEGER: return set_integer(row, field, text, error);
    case CAROM_OPTION_REAL: return set_real(row, field, text, error);
    case CAROM_OPTION_CHOICE: return set_choice(row, field, text, error);
    case CAROM_OPTION_TEXT:
    case CAROM_OPTION_CONTACTS: return set_text(row, field, text, error);
    case CAROM_OPTION_SWITCH: return set_switch(row, field, text, error);
    }
    return carom_fail(error, CAROM_INTERNAL, "%s: an option row of unknown type", row->name);
}

// Only choices can lack a text that another law has.
bool carom_option_offers(const carom_option *row, const char *text) {
    if (row->type != CAROM_OPTION_CHOICE) return true;
    for (int i = 0; row->choices[i]; i++)
        if (!strcmp(row->choices[i], text)) return true;
    return false;
}

// The inverse of carom_option_set.
void carom_option_print(const carom_option *row, const void *options, char *text, size_t size) {
    const void *field = (const char *)options + row->offset;
    switch (row->type) {
    case CAROM_OPTION_INTEGER: {
        const int64_t value = *(const int64_t *)field;
        if (has_word(row) && value == 0)
            snprintf(text, size, "%s", row->initial);
        else
            snprintf(text, size, "%lld", (long long)value);
        return;
    }
    case CAROM_OPTION_REAL: {
        const double value = *(const double *)field;
        if (isnan(value))
            snprintf(text, size, "%s", row->initial ? row->initial : "auto");
        else
            carom_print_number(value, text, size);
        return;
    }
    case CAROM_OPTION_CHOICE: snprintf(text, size, "%s", row->choices[*(const int *)field]); return;
    case CAROM_OPTION_TEXT:
    case CAROM_OPTION_CONTACTS: {
        const char *value = *(const char *const *)field;
        snprintf(text, size, "%s", value ? value : "");
        return;
    }
    case CAROM_OPTION_SWITCH: snprintf(text, size, "%s", *(const bool *)field ? "true" : "false"); return;
    }
}
