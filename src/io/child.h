// SPDX-License-Identifier: Apache-2.0
/// @file
/// Child processes: other programs, and those in which libhdf5 reads what may be damaged or hostile: it can end the child, and nothing
/// else.
#ifndef CAROM_IO_CHILD_H
#define CAROM_IO_CHILD_H

#include <stdbool.h>
#include <stdint.h>

/// Limits of the calling process, a child: no more memory than a file of this size can need, no core, no handlers of crashes, and
/// nothing on stderr.
void carom_child_limit(int64_t file_size);

/// Does a child survive this? It runs `rehearsed(user)` within the limits above and some seconds of processor time, and ends. True, too,
/// where no child can be made.
bool carom_child_survives(int64_t file_size, void (*rehearsed)(void *user), void *user);

/// Runs a program of the search path without a shell, and waits.
/// @param words    its name and arguments, NULL-terminated
/// @param streams  [3] descriptors that become its input, output and messages
/// @param status   receives its exit status, or -1 for a crash
/// @return false where there is no such program
bool carom_child_run(const char *const words[], const int streams[3], int *status);

#endif
