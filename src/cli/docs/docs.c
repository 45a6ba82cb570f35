// SPDX-License-Identifier: Apache-2.0
// `carom docs`: the manual page and the shell completion, made from the tables of commands, laws and solvers.
#include "cli/docs/docs.h"

#include <string.h>

static const char man[] = "man", bash[] = "bash";

static int run_docs(const cli_arguments *arguments) {
    if (!strcmp(arguments->operand, man)) {
        cli_print_manual(cli_commands, arguments->registry);
        return EXIT_DONE;
    }
    if (!strcmp(arguments->operand, bash)) {
        cli_print_completion(cli_commands, arguments->registry);
        return EXIT_DONE;
    }
    carom_error error;
    carom_fail(&error, CAROM_BAD_INPUT, "'%.60s' is neither man nor bash", arguments->operand);
    return cli_report(&error);
}

const cli_command cli_docs = {
    .name = "docs",
    .summary = "this manual as a man page, or the completion script of bash",
    .operand = "man|bash",
    .run = run_docs,
};
