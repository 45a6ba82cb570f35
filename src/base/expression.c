// SPDX-License-Identifier: Apache-2.0
// Arithmetic in texts by recursive descent. Formulas over numbers and linear sums of variables are one language:
//     sum = product {(+|-) product},  product = signed {(*|/) signed},  signed = {+|-} power,  power = atom [^ signed],
//     atom = number | name | pi | sqrt(sum) | (sum)
#include "carom/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/dense.h"
#include "carom/suggest.h"

// Parentheses, signs and powers inside each other: bounds the recursion.
enum { MOST_DEPTH = 64, NUMBER_SIZE = 64, SHOWN_TEXT = 200, SHOWN_REST = 60 };
// Bytes of the list of names where the nearest one is known.
enum { SHORT_LIST = 200 };

// A number, plus the sum of factors[i] * variable i where there are factors.
typedef struct term {
    double number;
    double *factors;  // [count]; NULL for a number alone
} term;

typedef struct parser {
    const char *at, *end, *text;
    const char *subject;  // what the text is, for messages
    const char *const *names;
    const double *values;  // of the names; NULL: they are variables
    int count, depth;
    carom_arena memory;  // of factors
    carom_status status;
    carom_error *error;
} parser;

static term parse_sum(parser *p);

// Bytes of a text that a message shows.
static int shown(const char *from, const char *end, int most) { return end - from > most ? most : (int)(end - from); }

// Keeps the first refusal and skips the rest of the text.
static term refuse(parser *p, const char *why) {
    if (!p->status)
        p->status = carom_fail(p->error, CAROM_BAD_INPUT, "%s'%.*s' %s", p->subject, shown(p->text, p->end, SHOWN_TEXT), p->text, why);
    p->at = p->end;
    return (term){NAN, NULL};
}

// Takes one character, after blanks, where it stands next.
static bool accept(parser *p, char wanted) {
    while (p->at < p->end && isspace((unsigned char)*p->at)) p->at++;
    if (p->at == p->end || *p->at != wanted) return false;
    p->at++;
    return true;
}

// Linear in the names, of which there are a few dozen at most.
int carom_expression_match(const char *text, const char *end, const char *const *names, int count, const char *enders, size_t *size) {
    int best = -1;
    *size = 0;
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        if (length <= *size || length > (size_t)(end - text) || memcmp(text, names[i], length) != 0) continue;
        const char *next = text + length;
        while (next < end && isspace((unsigned char)*next)) next++;
        if (next < end && !strchr(enders, *next)) continue;
        best = i;
        *size = length;
    }
    return best;
}

static term parse_atom(parser *p) {
    if (accept(p, '(')) {
        const term inner = parse_sum(p);
        return accept(p, ')') ? inner : refuse(p, "lacks a closing parenthesis");
    }
    if (p->at == p->end) return refuse(p, "ends too early");
    char why[CAROM_MESSAGE_SIZE];
    size_t size = 0;

    // A number: digits, point, exponent. A sign belongs to it only after the e.
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        char number[NUMBER_SIZE];
        double parsed;
        while (p->at < p->end && size + 1 < sizeof number) {
            const bool sign = (*p->at == '+' || *p->at == '-') && size && (number[size - 1] == 'e' || number[size - 1] == 'E');
            if (!sign && !isdigit((unsigned char)*p->at) && *p->at != '.' && *p->at != 'e' && *p->at != 'E') break;
            number[size++] = *p->at++;
        }
        number[size] = '\0';
        if (carom_parse_number(number, &parsed)) return (term){parsed, NULL};
        snprintf(why, sizeof why, "has '%s', which is not a finite number", number);
        return refuse(p, why);
    }

    // A name: its value, or the variable that it stands for.
    const int name = carom_expression_match(p->at, p->end, p->names, p->count, "+-*/^)", &size);
    if (name >= 0) {
        p->at += size;
        if (p->values) return (term){p->values[name], NULL};
        double *factors = carom_arena_take(&p->memory, (size_t)p->count, sizeof *factors);
        if (factors) factors[name] = 1;
        return factors ? (term){0, factors} : refuse(p, "needs more memory than there is");
    }

    // The words of the language itself.
    static const char *const known[] = {"pi", "sqrt"};
    const int word = carom_expression_match(p->at, p->end, known, 2, "+-*/^()", &size);
    p->at += size;
    if (word == 0) return (term){acos(-1.0), NULL};
    if (word == 1 && accept(p, '(')) {
        const term of = parse_sum(p);
        if (of.factors) return refuse(p, "is not linear: it has the root of a variable");
        return accept(p, ')') ? (term){sqrt(of.number), NULL} : refuse(p, "lacks a closing parenthesis");
    }
    // No name: the list of all, and the nearest one to what stands up to a blank or an operator.
    char word_text[CAROM_SUGGESTION_SIZE], phrase[CAROM_SUGGESTION_SIZE], list[CAROM_MESSAGE_SIZE / 2];
    size_t length = 0;
    while (p->at + length < p->end && length + 1 < sizeof word_text && !strchr("+*/^() \t", p->at[length])) length++;
    snprintf(word_text, sizeof word_text, "%.*s", (int)length, p->at);
    carom_suggest(word_text, p->names, p->count, phrase);
    carom_expression_list(p->names, p->count, list, *phrase ? SHORT_LIST : sizeof list);
    const char * or = p->count ? " or one of " : "";
    if (p->at == p->text)
        snprintf(why, sizeof why, "does not begin with a number%s%s%s", or, list, phrase);
    else
        snprintf(why, sizeof why, "has '%.*s', which does not begin with a number%s%s%s", shown(p->at, p->end, SHOWN_REST), p->at, or, list,
                 phrase);
    return refuse(p, why);
}

// Minus the number and all factors.
static term negate(const parser *p, term of) {
    for (int i = 0; of.factors && i < p->count; i++) of.factors[i] = -of.factors[i];
    return (term){-of.number, of.factors};
}

// Signs and powers; -2^2 is -(2^2).
static term parse_signed(parser *p) {
    // Every nesting passes here.
    if (p->depth == MOST_DEPTH) return refuse(p, "is nested too deeply");
    p->depth++;
    term result;
    if (accept(p, '-')) {
        result = negate(p, parse_signed(p));
    } else if (accept(p, '+')) {
        result = parse_signed(p);
    } else {
        result = parse_atom(p);
        if (accept(p, '^')) {
            const term exponent = parse_signed(p);
            if (result.factors || exponent.factors) result = refuse(p, "is not linear: it has the power of a variable");
            result.number = pow(result.number, exponent.number);
        }
    }
    p->depth--;
    return result;
}

// Products are linear where one side is a number, quotients where the divisor is.
static term parse_product(parser *p) {
    term result = parse_signed(p);
    for (;;) {
        const bool times = accept(p, '*');
        if (!times && !accept(p, '/')) return result;
        term by = parse_signed(p);
        if (by.factors && (result.factors || !times)) return refuse(p, "is not linear: it has a product or quotient of variables");
        // From here on `by` is a number.
        if (by.factors) {
            const term swapped = result;
            result = by;
            by = swapped;
        }
        for (int i = 0; result.factors && i < p->count; i++)
            result.factors[i] = times ? result.factors[i] * by.number : result.factors[i] / by.number;
        result.number = times ? result.number * by.number : result.number / by.number;
    }
}

static term parse_sum(parser *p) {
    // Terms are added from left to right.
    term result = parse_product(p);
    for (;;) {
        const bool plus = accept(p, '+');
        if (!plus && !accept(p, '-')) return result;
        term more = parse_product(p);
        if (!plus) more = negate(p, more);
        result.number += more.number;
        // If one side has factors, the sum takes them over; if both have, they are added on the left.
        for (int i = 0; result.factors && more.factors && i < p->count; i++) result.factors[i] += more.factors[i];
        if (!result.factors) result.factors = more.factors;
    }
}

// The whole text; only blanks may follow the sum.
static term parse(parser *p) {
    const term result = parse_sum(p);
    accept(p, '\0');
    if (p->status || p->at == p->end) return result;
    char why[CAROM_MESSAGE_SIZE];
    snprintf(why, sizeof why, "has '%.*s' where an operator or the end is expected", shown(p->at, p->end, SHOWN_REST), p->at);
    return refuse(p, why);
}

carom_status carom_expression_evaluate(const char *text, size_t length, const char *const *names, const double *values, int count,
                                       double *value, carom_error *error) {
    // Without names there are no values either; NULL would mean variables.
    static const double none[1] = {0};
    parser p = {.at = text, .end = text + length, .text = text, .subject = "the formula ", .names = names, .count = count, .error = error};
    p.values = values ? values : none;
    *value = parse(&p).number;
    if (!p.status && !isfinite(*value)) refuse(&p, "has no finite value");
    return p.status;
}

carom_status carom_expression_linear(const char *text, const char *const *names, int count, double *factors, carom_error *error) {
    parser p = {.at = text, .end = text + strlen(text), .text = text, .subject = "", .names = names, .count = count, .error = error};
    // A linear functional has no constant term.
    const term sum = parse(&p);
    if (!p.status && !isfinite(sum.number)) refuse(&p, "has no finite value");
    if (!p.status && (!sum.factors || sum.number != 0)) refuse(&p, "is not a sum of multiples of variables");
    if (!p.status && !carom_all_finite((size_t)count, sum.factors)) refuse(&p, "has factors that are too large for double precision");
    if (!p.status) memcpy(factors, sum.factors, (size_t)count * sizeof *factors);
    carom_arena_free(&p.memory);
    return p.status;
}

carom_status carom_expression_affine(const char *text, size_t length, const char *const *names, int count, double *factors, double *number,
                                     carom_error *error) {
    parser p = {.at = text, .end = text + length, .text = text, .subject = "", .names = names, .count = count, .error = error};
    const term sum = parse(&p);
    *number = sum.number;
    for (int i = 0; i < count && !p.status; i++) factors[i] = sum.factors ? sum.factors[i] : 0;
    if (!p.status && !(isfinite(sum.number) && carom_all_finite((size_t)count, factors)))
        refuse(&p, "has numbers that are too large for double precision");
    carom_arena_free(&p.memory);
    return p.status;
}

void carom_expression_list(const char *const *names, int count, char *list, size_t size) {
    // A list that is too long ends in an ellipsis.
    static const char more[] = ", ...";
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < count; i++) {
        const size_t wanted = strlen(names[i]) + 2, left = i + 1 < count ? sizeof more : 1;
        const bool fits = used + wanted + left <= size;
        used += (size_t)snprintf(list + used, size - used, "%s%s", i && fits ? ", " : "", fits ? names[i] : more);
        if (!fits) return;
    }
}
