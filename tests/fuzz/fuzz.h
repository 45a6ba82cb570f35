// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fuzzing: a harness takes any bytes, hands them to one reader or to the whole command, and ends the process when an answer breaks a rule.
/// libfuzzer.c runs harnesses under libFuzzer, test_seeds.c replays what was kept.
#ifndef CAROM_TESTS_FUZZ_H
#define CAROM_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carom/carom.h"

/// What the harness takes: it decides how inputs are mutated.
typedef enum fuzz_form {
    FUZZ_BYTES,     ///< a binary file
    FUZZ_TEXT,      ///< YAML, JSON, XML or one line
    FUZZ_COMMANDS,  ///< command lines, and files, each after a line `--- NAME`
} fuzz_form;

typedef struct fuzz_harness {
    const char *name;
    fuzz_form form;
    void (*run)(const uint8_t *bytes, size_t size);
} fuzz_harness;

/// All harnesses; the last one has no name.
extern const fuzz_harness fuzz_harnesses[];
const fuzz_harness *fuzz_find(const char *name);

/// Makes a fresh directory, with the models of the scenes and a gnuplot that draws nothing, and moves into it. It is removed at exit.
void fuzz_enter(const char *scenes);
/// Says which rule was broken, and ends the process by a signal.
_Noreturn void fuzz_fail(const char *format, ...) CAROM_PRINTF(1, 2);
/// May a run write a file of this name? Not in place of what stays from run to run.
bool fuzz_may_write(const char *name);
/// Writes a file into the directory.
void fuzz_write(const char *name, const void *bytes, size_t size);
/// The bytes as a text that ends; to be freed.
char *fuzz_text(const uint8_t *bytes, size_t size);
/// Removes what a run left, and fails where that is a temporary file.
void fuzz_sweep(void);
/// Laws, solvers and integrators. Made once.
const carom_registry *fuzz_registry(void);

/// One run of the command in this process.
typedef struct fuzz_report {
    int status;
    char *out, *err;  ///< to be freed
    size_t out_size, err_size;
} fuzz_report;
fuzz_report fuzz_call(int argc, char **argv);

/// Makes numbers that decide how long a computation takes small enough: `samples: 65536` becomes `samples: 64`. In place.
void fuzz_bound_numbers(char *text);
/// The least of these bounds for an option, as text; NULL: it has none.
const char *fuzz_bound_of(const char *option);

void fuzz_command(const uint8_t *bytes, size_t size);
void fuzz_scene(const uint8_t *bytes, size_t size);
void fuzz_model(const uint8_t *bytes, size_t size);
void fuzz_mesh(const uint8_t *bytes, size_t size);
void fuzz_surface(const uint8_t *bytes, size_t size);
void fuzz_table(const uint8_t *bytes, size_t size);
void fuzz_measurements(const uint8_t *bytes, size_t size);
void fuzz_lcp(const uint8_t *bytes, size_t size);
void fuzz_fclib(const uint8_t *bytes, size_t size);
void fuzz_result(const uint8_t *bytes, size_t size);
void fuzz_velocity(const uint8_t *bytes, size_t size);
void fuzz_expression(const uint8_t *bytes, size_t size);
void fuzz_number(const uint8_t *bytes, size_t size);
void fuzz_option(const uint8_t *bytes, size_t size);

#endif
