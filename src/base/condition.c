// SPDX-License-Identifier: Apache-2.0
// Conditions in texts: comparisons of linear sums, joined by `and` and `or`.
#include "carom/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/arena.h"
#include "carom/expression.h"

enum { SHOWN_TEXT = 120 };

typedef enum relation { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, UNEQUAL, RELATIONS } relation;
static const char *const SIGNS[RELATIONS] = {"<", "<=", ">", ">=", "==", "!="};

// The sum of factors[i] * variable i, plus a number, against zero.
typedef struct comparison {
    relation relation;
    bool begins;  // after an `or`, or first of all
    double *factors, number;
} comparison;

struct carom_condition {
    carom_arena arena;
    int count, comparisons;
    comparison *list;
};

// Does this word stand here, between blanks?
static bool stands(const char *text, const char *at, const char *word) {
    const size_t length = strlen(word);
    return at > text && isspace((unsigned char)at[-1]) && !strncmp(at, word, length) && isspace((unsigned char)at[length]);
}

// One comparison [from, to).
static carom_status read_comparison(carom_condition *condition, const char *from, const char *to, const char *const *names,
                                    comparison *into, carom_error *error) {
    const char *sign = NULL;
    int signs = 0;
    size_t length = 0;
    for (const char *at = from; at < to; at++) {
        int found = -1;
        // Of two signs that fit the longer one is meant.
        for (int k = 0; k < RELATIONS; k++)
            if ((size_t)(to - at) >= strlen(SIGNS[k]) && !strncmp(at, SIGNS[k], strlen(SIGNS[k])) &&
                (found < 0 || strlen(SIGNS[k]) > strlen(SIGNS[found])))
                found = k;
        if (found < 0) continue;
        sign = at;
        signs++;
        into->relation = (relation)found;
        length = strlen(SIGNS[found]);
        at += length - 1;
    }
    const int shown = to - from > SHOWN_TEXT ? SHOWN_TEXT : (int)(to - from);
    if (signs != 1) return carom_fail(error, CAROM_BAD_INPUT, "'%.*s' must have one comparison: <, <=, >, >=, == or !=", shown, from);
    // Blanks before the comparison are skipped already; those after the sign may be all that is there.
    const char *right_start = sign + length;
    while (right_start < to && isspace((unsigned char)*right_start)) right_start++;
    if (sign == from || right_start == to)
        return carom_fail(error, CAROM_BAD_INPUT, "'%.*s' must have an expression on both sides of '%s'", shown, from,
                          SIGNS[into->relation]);
    double *right = carom_arena_take(&condition->arena, (size_t)condition->count, sizeof *right), number = 0;
    into->factors = carom_arena_take(&condition->arena, (size_t)condition->count, sizeof *right);
    if (condition->arena.failed) return carom_fail_memory(error, "condition");
    carom_status status =
        carom_expression_affine(from, (size_t)(sign - from), names, condition->count, into->factors, &into->number, error);
    if (!status)
        status = carom_expression_affine(sign + length, (size_t)(to - sign) - length, names, condition->count, right, &number, error);
    for (int i = 0; i < condition->count && !status; i++) into->factors[i] -= right[i];
    into->number -= number;
    return status;
}

carom_status carom_condition_create(const char *text, const char *const *names, int count, carom_condition **condition,
                                    carom_error *error) {
    *condition = NULL;
    carom_condition *made = calloc(1, sizeof *made);
    if (!made) return carom_fail_memory(error, "condition");
    made->count = count;
    // No more comparisons than words that join them, and one.
    made->list = carom_arena_take(&made->arena, strlen(text) / 2 + 1, sizeof *made->list);
    carom_status status = made->arena.failed ? carom_fail_memory(error, "condition") : CAROM_OK;
    bool begins = true;
    for (const char *from = text; from && !status;) {
        while (isspace((unsigned char)*from)) from++;
        const char *to = from;
        while (*to && !stands(text, to, "and") && !stands(text, to, "or")) to++;
        comparison *next = &made->list[made->comparisons++];
        next->begins = begins;
        status = read_comparison(made, from, to, names, next, error);
        begins = *to == 'o';
        from = *to ? to + (begins ? strlen("or") : strlen("and")) : NULL;
    }
    if (status)
        carom_condition_free(made);
    else
        *condition = made;
    return status;
}

void carom_condition_free(carom_condition *condition) {
    if (!condition) return;
    carom_arena_free(&condition->arena);
    free(condition);
}

bool carom_condition_holds(const carom_condition *condition, const double *values) {
    bool holds = false;
    for (int k = 0; k < condition->comparisons; k++) {
        const comparison *one = &condition->list[k];
        if (one->begins && holds) return true;
        if (!one->begins && !holds) continue;
        // Variables that do not take part may have no value.
        double difference = one->number;
        for (int i = 0; i < condition->count; i++)
            if (one->factors[i] != 0) difference += one->factors[i] * values[i];
        switch (one->relation) {
        case LESS: holds = difference < 0; break;
        case LESS_EQUAL: holds = difference <= 0; break;
        case GREATER: holds = difference > 0; break;
        case GREATER_EQUAL: holds = difference >= 0; break;
        case EQUAL: holds = difference == 0; break;
        case UNEQUAL: holds = !isnan(difference) && difference != 0; break;
        case RELATIONS: holds = false; break;
        }
    }
    return holds;
}
