// SPDX-License-Identifier: Apache-2.0
// Formulas by recursive descent:
//     sum = product {(+|-) product},  product = signed {(*|/) signed},  signed = [-] power,  power = atom [^ signed]
#include "carom/expression.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

// Parentheses, signs and powers inside each other: bounds the recursion.
enum { MOST_DEPTH = 64, NUMBER_SIZE = 64 };

typedef struct parser {
    const char *at, *end, *text;  // the next character, the end and the start of the formula
    size_t length;
    const char *const *names;  // [count] of the parameters
    const double *values;
    int count, depth;     // depth of the recursion
    carom_status status;  // of the first refusal
    carom_error *error;
} parser;

static double parse_sum(parser *p);
static double parse_signed(parser *p);

// Ends the formula, so that every caller returns; the first refusal stays.
static double refuse(parser *p, const char *why) {
    if (!p->status)
        p->status = carom_fail(p->error, CAROM_BAD_INPUT, "the formula '%.*s' %s", (int)(p->length > 200 ? 200 : p->length), p->text, why);
    p->at = p->end;
    return NAN;
}

// Skips blanks, and the wanted character where it comes next.
static bool accept(parser *p, char wanted) {
    while (p->at < p->end && isspace((unsigned char)*p->at)) p->at++;
    if (p->at == p->end || *p->at != wanted) return false;
    p->at++;
    return true;
}

// A number (digits, point, exponent), a name, a root, or a sum in parentheses.
static double parse_atom(parser *p) {
    if (accept(p, '(')) {
        const double value = parse_sum(p);
        return accept(p, ')') ? value : refuse(p, "lacks a closing parenthesis");
    }
    if (p->at == p->end) return refuse(p, "ends too early");
    const char *start = p->at;
    if (isdigit((unsigned char)*start) || *start == '.') {
        char number[NUMBER_SIZE];
        size_t size = 0;
        for (; p->at < p->end && size + 1 < sizeof number; number[size++] = *p->at++) {
            const bool sign = (*p->at == '+' || *p->at == '-') && size && (number[size - 1] == 'e' || number[size - 1] == 'E');
            if (!sign && !isdigit((unsigned char)*p->at) && *p->at != '.' && *p->at != 'e' && *p->at != 'E') break;
        }
        number[size] = '\0';
        double value;
        return carom_parse_number(number, &value) ? value : refuse(p, "has a number that is not understood");
    }
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_')) p->at++;
    const size_t size = (size_t)(p->at - start);
    if (!size) return refuse(p, "has a character that is not understood");
    // Parameters first: they may be called like a function.
    for (int i = 0; i < p->count; i++)
        if (strlen(p->names[i]) == size && !memcmp(p->names[i], start, size)) return p->values[i];
    if (size == 2 && !memcmp(start, "pi", size)) return acos(-1.0);
    if (size != 4 || memcmp(start, "sqrt", size) != 0 || !accept(p, '(')) return refuse(p, "has a name that is no parameter");
    const double value = parse_sum(p);
    return accept(p, ')') ? sqrt(value) : refuse(p, "lacks a closing parenthesis");
}

static double parse_signed(parser *p) {
    if (p->depth == MOST_DEPTH) return refuse(p, "is nested too deeply");
    // A sign binds weaker than a power, -x^2 = -(x^2), and powers bind to the right.
    p->depth++;
    double value;
    if (accept(p, '-')) {
        value = -parse_signed(p);
    } else {
        value = parse_atom(p);
        if (accept(p, '^')) value = pow(value, parse_signed(p));
    }
    p->depth--;
    return value;
}

static double parse_product(parser *p) {
    double value = parse_signed(p);
    for (;;) {
        if (accept(p, '*'))
            value *= parse_signed(p);
        else if (accept(p, '/'))
            value /= parse_signed(p);
        else
            return value;
    }
}

static double parse_sum(parser *p) {
    double value = parse_product(p);
    for (;;) {
        if (accept(p, '+'))
            value += parse_product(p);
        else if (accept(p, '-'))
            value -= parse_product(p);
        else
            return value;
    }
}

carom_status carom_expression_evaluate(const char *text, size_t length, const char *const *names, const double *values, int count,
                                       double *value, carom_error *error) {
    // Ends with the value, or with the first refusal.
    parser p = {
        .at = text, .end = text + length, .text = text, .length = length, .names = names, .values = values, .count = count, .error = error};
    *value = parse_sum(&p);
    // Only blanks may follow.
    accept(&p, '\0');
    if (!p.status && p.at != p.end) refuse(&p, "goes on after its end");
    if (!p.status && !isfinite(*value)) refuse(&p, "has no finite value");
    return p.status;
}
