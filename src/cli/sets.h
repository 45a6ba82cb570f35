// SPDX-License-Identifier: Apache-2.0
/// @file
/// Exact sets by which a command measures other outcomes.
#ifndef CAROM_CLI_SETS_H
#define CAROM_CLI_SETS_H

#include "cli/cli_internal.h"

/// Solves for the exact set with the options of the scene, with the law's outcomes into `writer` where there is one.
/// @return CAROM_UNSUPPORTED in a build without PPL
carom_status cli_solve_exact(const cli_arguments *arguments, const carom_scene *scene, const carom_control *control,
                             carom_result_writer *writer, carom_exact_set **set, carom_error *error);

/// The union of polytopes in every `stride`-th contact velocity: 1 for all of them, the size of one contact's for the normal ones.
carom_status cli_set_create(const carom_polyhedra *polyhedra, int stride, carom_set **set, carom_error *error);

#endif
