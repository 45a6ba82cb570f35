// SPDX-License-Identifier: Apache-2.0
/// @file
/// The design of a scene, for other commands.
#ifndef CAROM_CLI_DESIGN_H
#define CAROM_CLI_DESIGN_H

#include "cli/cli_internal.h"

/// Solves the design of the scene that the command names, and writes the new scene to `file`.
/// @return CAROM_BAD_INPUT also when there is no solution
carom_status cli_design_scene(const cli_arguments *arguments, const char *file, carom_error *error);

#endif
