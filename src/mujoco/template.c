// SPDX-License-Identifier: Apache-2.0
// Model files with parameters: every ${formula} of the text is replaced by its value before MuJoCo reads it.
// Values are written with all their digits, so that a model with formulas is the same as one with the numbers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/expression.h"
#include "mujoco/mujoco_internal.h"

enum { NUMBER_SIZE = 32 };

carom_status model_expand(const char *text, const carom_model_parameters *parameters, char **expanded, carom_error *error) {
    *expanded = NULL;
    size_t size;
    FILE *output = open_memstream(expanded, &size);
    if (!output) return carom_fail_memory(error, "model");
    carom_status status = CAROM_OK;
    while (!status && *text) {
        // Copy the text before the next formula, then its value.
        const char *mark = strstr(text, "${"), *end = mark ? strchr(mark, '}') : NULL;
        fwrite(text, 1, mark ? (size_t)(mark - text) : strlen(text), output);
        if (!mark) break;
        if (!end) {
            status = carom_fail(error, CAROM_BAD_INPUT, "a formula that starts with ${ has no end");
            break;
        }
        double value;
        const size_t length = (size_t)(end - mark - 2);
        status = carom_expression_evaluate(mark + 2, length, parameters->names, parameters->values, parameters->count, &value, error);
        if (status) break;
        char number[NUMBER_SIZE];
        carom_print_number(value, number, sizeof number);
        fputs(number, output);
        text = end + 1;
    }
    const bool written = !ferror(output);
    if ((fclose(output) || !written) && !status) status = carom_fail_memory(error, "model");
    if (status) {
        free(*expanded);
        *expanded = NULL;
    }
    return status;
}
