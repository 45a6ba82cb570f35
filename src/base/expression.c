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
    const char *at, *end, *text;
    size_t length;
    const char *const *names;
    const double *values;
    int count, depth;
    carom_status status;
    carom_error *error;
} parser;

static double parse_sum(parser *p);
static double parse_signed(parser *p);

static double refuse(parser *p, const char *why) {
    if (!p->status)
        p->status = carom_fail(p->error, CAROM_BAD_INPUT, "the formula '%.*s' %s", (int)(p->length > 200 ? 200 : p->length), p->text, why);
    p->at = p->end;
    return NAN;
}

static bool accept(parser *p, char wanted) {
    while (p->at < p->end && isspace((unsigned char)*p->at)) p->at++;
    if (p->at == p->end || *p->at != wanted) return false;
    p->at++;
    return true;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

// A number: digits, point, exponent.
static double parse_number(parser *p) {
    char number[NUMBER_SIZE];
    size_t size = 0;
    while (p->at < p->end && size + 1 < sizeof number) {
        const bool sign = (*p->at == '+' || *p->at == '-') && size && (number[size - 1] == 'e' || number[size - 1] == 'E');
        if (!sign && !isdigit((unsigned char)*p->at) && *p->at != '.' && *p->at != 'e' && *p->at != 'E') break;
        number[size++] = *p->at++;
    }
    number[size] = '\0';
    double value;
    return carom_parse_number(number, &value) ? value : refuse(p, "has a number that is not understood");
}

static double parse_name(parser *p) {
    const char *start = p->at;
    while (p->at < p->end && is_name(*p->at)) p->at++;
    const size_t size = (size_t)(p->at - start);
    for (int i = 0; i < p->count; i++)
        if (strlen(p->names[i]) == size && !memcmp(p->names[i], start, size)) return p->values[i];
    if (size == 2 && !memcmp(start, "pi", size)) return acos(-1.0);
    if (size != 4 || memcmp(start, "sqrt", size) != 0 || !accept(p, '(')) return refuse(p, "has a name that is no parameter");
    const double value = parse_sum(p);
    return accept(p, ')') ? sqrt(value) : refuse(p, "lacks a closing parenthesis");
}

static double parse_atom(parser *p) {
    if (accept(p, '(')) {
        const double value = parse_sum(p);
        return accept(p, ')') ? value : refuse(p, "lacks a closing parenthesis");
    }
    if (p->at == p->end) return refuse(p, "ends too early");
    if (isdigit((unsigned char)*p->at) || *p->at == '.') return parse_number(p);
    return is_name(*p->at) ? parse_name(p) : refuse(p, "has a character that is not understood");
}

static double parse_signed(parser *p) {
    if (p->depth == MOST_DEPTH) return refuse(p, "is nested too deeply");
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
    parser p = {
        .at = text, .end = text + length, .text = text, .length = length, .names = names, .values = values, .count = count, .error = error};
    *value = parse_sum(&p);
    // Only blanks may follow.
    accept(&p, '\0');
    if (!p.status && p.at != p.end) refuse(&p, "goes on after its end");
    if (!p.status && !isfinite(*value)) refuse(&p, "has no finite value");
    return p.status;
}
