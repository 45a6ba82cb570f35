// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texts about the command that are made from its tables: the manual page and the completion of bash.
#ifndef CAROM_CLI_DOCS_DOCS_H
#define CAROM_CLI_DOCS_DOCS_H

#include "cli/cli_internal.h"

/// Prints the manual page as roff with the macros of man(7).
void cli_print_manual(const cli_command *const *commands, const carom_registry *registry);

/// Prints a script for bash that completes commands, flags, names of laws and solvers, choices and file names.
void cli_print_completion(const cli_command *const *commands, const carom_registry *registry);

#endif
