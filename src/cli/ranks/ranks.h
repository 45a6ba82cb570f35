// SPDX-License-Identifier: Apache-2.0
/// @file
/// The processes that run one command together under mpirun. One of ranks_mpi.c (`make MPI=1`) and ranks_single.c is built.
#ifndef CAROM_CLI_RANKS_RANKS_H
#define CAROM_CLI_RANKS_RANKS_H

#include "carom/base.h"

/// Joins the other ranks where a launcher started this process as one of several. Call it first.
/// @return CAROM_UNSUPPORTED in a build without MPI
carom_status cli_ranks_start(carom_error *error);
/// NULL where this process runs alone.
carom_ranks *cli_ranks(void);
/// Does this process print and write? True for one of the ranks, the first, or for a process that runs alone.
bool cli_ranks_is_first(void);
/// Leaves, and returns the exit status of rank 0 on every rank. Call it last; the output must have reached its place.
int cli_ranks_finish(int status);

#endif
