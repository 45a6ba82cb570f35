// SPDX-License-Identifier: Apache-2.0
// Model files with parameters: every ${formula} of the text is replaced by its value before MuJoCo reads it.
#include <stdlib.h>
#include <string.h>

#include "carom/expression.h"
#include "mujoco/mujoco_internal.h"

enum { NUMBER_SIZE = 32 };

// A text that grows.
typedef struct builder {
    char *text;
    size_t size, room;
} builder;

static carom_status append(builder *b, const char *piece, size_t length, carom_error *error) {
    if (b->size + length + 1 > b->room) {
        const size_t room = 2 * (b->size + length + 1);
        char *grown = realloc(b->text, room);
        if (!grown) return carom_fail_memory(error, "model");
        b->text = grown;
        b->room = room;
    }
    memcpy(b->text + b->size, piece, length);
    b->size += length;
    b->text[b->size] = '\0';
    return CAROM_OK;
}

static carom_status append_value(builder *b, const char *formula, size_t length, const carom_model_parameters *parameters,
                                 carom_error *error) {
    double value;
    carom_status status =
        carom_expression_evaluate(formula, length, parameters->names, parameters->values, parameters->count, &value, error);
    if (status) return status;
    char number[NUMBER_SIZE];
    carom_print_number(value, number, sizeof number);
    return append(b, number, strlen(number), error);
}

carom_status model_expand(const char *text, const carom_model_parameters *parameters, char **expanded, carom_error *error) {
    builder b = {0};
    carom_status status = append(&b, "", 0, error);
    while (!status && *text) {
        const char *mark = strstr(text, "${");
        const size_t plain = mark ? (size_t)(mark - text) : strlen(text);
        status = append(&b, text, plain, error);
        if (status || !mark) break;
        const char *end = strchr(mark, '}');
        if (!end) {
            status = carom_fail(error, CAROM_BAD_INPUT, "a formula that starts with ${ has no end");
            break;
        }
        status = append_value(&b, mark + 2, (size_t)(end - mark - 2), parameters, error);
        text = end + 1;
    }
    if (status) {
        free(b.text);
        b.text = NULL;
    }
    *expanded = b.text;
    return status;
}
