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

// Room for a number with 17 digits.
enum { NUMBER_SIZE = 32 };

const char *carom_option_type_name(carom_option_type type) {
    switch (type) {
    case CAROM_OPTION_INTEGER: return "integer";
    case CAROM_OPTION_REAL: return "real";
    case CAROM_OPTION_INTERVAL: return "interval";
    case CAROM_OPTION_CHOICE: return "choice";
    case CAROM_OPTION_TEXT: return "text";
    case CAROM_OPTION_CONTACTS: return "contacts";
    case CAROM_OPTION_SWITCH: return "switch";
    }
    return "";
}

// Tables are short, and looked up once for each flag.
int carom_option_find(const carom_option *rows, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name)) return i;
    return -1;
}

// Decimal floating-point syntax [sign] digits [. digits] [e [sign] digits]: strtod alone would take hexadecimal, "nan", "inf" and blanks.
static bool is_decimal(const char *text) {
    // Sign, whole part and fraction: at least one digit in all.
    if (*text == '+' || *text == '-') text++;
    size_t digits = 0;
    for (; isdigit((unsigned char)*text); text++) digits++;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++) digits++;
    if (!digits) return false;
    // The exponent has at least one digit of its own.
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

static point_locale enter_point_locale(void) {
    point_locale l = {.ours = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (l.ours) l.callers = uselocale(l.ours);
    return l;
}

// This thread uses the C locale for a while, and then its own again.
static void leave_point_locale(point_locale l) {
    if (!l.ours) return;
    uselocale(l.callers);
    freelocale(l.ours);
}

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

bool carom_parse_whole(const char *text, double *value) {
    // BASE^EXPONENT, in digits. What overflows is infinite, and fails where its range is checked.
    const size_t base = strspn(text, "0123456789"), exponent = text[base] == '^' ? strspn(text + base + 1, "0123456789") : 0;
    if (base && exponent && !text[base + 1 + exponent]) {
        const double b = strtod(text, NULL), e = strtod(text + base + 1, NULL);
        *value = pow(b, e);
        return true;
    }
    return carom_parse_number(text, value) && *value == floor(*value);
}

// 17 significant digits give every double back.
void carom_print_number(double value, char *text, size_t size) {
    const point_locale locale = enter_point_locale();
    snprintf(text, size, "%.17g", value);
    leave_point_locale(locale);
}

// A number within the closed range of the row. The message names the rule in the words of the range.
static carom_status parse_in_range(const carom_option *row, const char *text, double *value, carom_error *error) {
    const bool whole = row->type == CAROM_OPTION_INTEGER;
    if (!(whole && carom_parse_whole(text, value)) && !carom_parse_number(text, value))
        return carom_fail(error, CAROM_BAD_INPUT, "%s: '%.60s' is not a number%s", row->name, text,
                          whole ? ", such as 1000000, 1e6 or 2^20" : "");
    if (*value >= row->least && *value <= row->most) return CAROM_OK;
    // An open lower end reads "greater than 0".
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

carom_status carom_option_set(const carom_option *row, void *options, const char *text, carom_error *error) {
    void *field = (char *)options + row->offset;
    const bool is_initial = row->initial && !strcmp(row->initial, text);
    double number = 0;
    switch (row->type) {
    case CAROM_OPTION_INTEGER: {
        const bool is_word = is_initial && has_word(row);
        const carom_status status = is_word ? CAROM_OK : parse_in_range(row, text, &number, error);
        if (status) return status;
        if (number != floor(number) || fabs(number) >= TOO_LARGE_WHOLE)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: %.60s is not a whole number", row->name, text);
        *(int64_t *)field = (int64_t)number;
        return CAROM_OK;
    }
    case CAROM_OPTION_REAL: {
        // A default that is a word, "auto" or "none", stands for NaN.
        const bool is_word = is_initial && !carom_parse_number(text, &number);
        const carom_status status = is_word ? CAROM_OK : parse_in_range(row, text, &number, error);
        if (!status) *(double *)field = is_word ? NAN : number;
        return status;
    }
    case CAROM_OPTION_INTERVAL: {
        // LO:HI, or one number that is both ends.
        carom_interval interval = {NAN, NAN};
        const char *colon = strchr(text, ':');
        char first[NUMBER_SIZE] = "";
        if (colon && colon - text < NUMBER_SIZE) memcpy(first, text, (size_t)(colon - text));
        const bool is_word = is_initial && !carom_parse_number(text, &number);
        carom_status status = is_word ? CAROM_OK : parse_in_range(row, colon ? first : text, &interval.least, error);
        if (!status && colon) status = parse_in_range(row, colon + 1, &interval.most, error);
        if (!status && colon && interval.least > interval.most)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: %.60s begins above its end", row->name, text);
        if (!status) *(carom_interval *)field = colon ? interval : (carom_interval){interval.least, interval.least};
        return status;
    }
    case CAROM_OPTION_CHOICE: {
        // The names are collected for the message, in case none of them fits.
        char names[256] = "", phrase[CAROM_SUGGESTION_SIZE];
        carom_suggestion suggestion = {.wanted = text};
        for (int i = 0; row->choices[i]; i++) {
            if (!strcmp(row->choices[i], text)) {
                *(int *)field = i;
                return CAROM_OK;
            }
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", row->choices[i]);
            carom_suggestion_offer(&suggestion, row->choices[i]);
        }
        return carom_fail(error, CAROM_BAD_INPUT, "%s: '%.60s' is not one of: %s%s", row->name, text, names,
                          carom_suggestion_phrase(&suggestion, phrase));
    }
    case CAROM_OPTION_TEXT:
    case CAROM_OPTION_CONTACTS:
        if (!*text) return carom_fail(error, CAROM_BAD_INPUT, "%s: an empty text is not allowed", row->name);
        // The text is borrowed.
        *(const char **)field = text;
        return CAROM_OK;
    case CAROM_OPTION_SWITCH:
        // Scenes write the word; a flag without a value means true.
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return carom_fail(error, CAROM_BAD_INPUT, "%s: '%.60s' is neither true nor false", row->name, text);
        *(bool *)field = !strcmp(text, "true");
        return CAROM_OK;
    }
    return carom_fail(error, CAROM_INTERNAL, "%s: an option row of unknown type", row->name);
}

// Laws that share an option may offer different choices of it, or take an interval where another takes a number.
bool carom_option_offers(const carom_option *row, const char *text) {
    if (row->type == CAROM_OPTION_REAL) return !strchr(text, ':');
    if (row->type != CAROM_OPTION_CHOICE) return true;
    for (int i = 0; row->choices[i]; i++)
        if (!strcmp(row->choices[i], text)) return true;
    return false;
}

// The inverse of carom_option_set.
void carom_option_print(const carom_option *row, const void *options, char *text, size_t size) {
    const void *field = (const char *)options + row->offset;
    const char *shown = "";
    char number[2 * NUMBER_SIZE];
    switch (row->type) {
    case CAROM_OPTION_INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)*(const int64_t *)field);
        shown = has_word(row) && *(const int64_t *)field == 0 ? row->initial : number;
        break;
    case CAROM_OPTION_REAL:
        carom_print_number(*(const double *)field, number, sizeof number);
        shown = !isnan(*(const double *)field) ? number : row->initial ? row->initial : "auto";
        break;
    case CAROM_OPTION_INTERVAL: {
        const carom_interval *interval = field;
        carom_print_number(interval->least, number, NUMBER_SIZE);
        const size_t used = strlen(number);
        if (interval->most > interval->least) {
            number[used] = ':';
            carom_print_number(interval->most, number + used + 1, NUMBER_SIZE);
        }
        shown = !isnan(interval->least) ? number : row->initial ? row->initial : "auto";
        break;
    }
    case CAROM_OPTION_CHOICE: shown = row->choices[*(const int *)field]; break;
    case CAROM_OPTION_TEXT:
    case CAROM_OPTION_CONTACTS:
        if (*(const char *const *)field) shown = *(const char *const *)field;
        break;
    case CAROM_OPTION_SWITCH: shown = *(const bool *)field ? "true" : "false"; break;
    }
    snprintf(text, size, "%s", shown);
}
