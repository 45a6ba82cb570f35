// SPDX-License-Identifier: Apache-2.0
/// @file
/// The folder in which a report is made before its files take their places, so that files of two reports never stand side by side.
#ifndef CAROM_CLI_COMPARE_STAGE_H
#define CAROM_CLI_COMPARE_STAGE_H

#include "carom/temporary.h"
#include "cli/cli_internal.h"

typedef struct cli_stage {
    const char *directory;          ///< that the files are for
    const char *const *pages;       ///< names of the report's pages, NULL-terminated
    bool made;                      ///< it was not there before
    carom_temporary_folder folder;  ///< DIRECTORY/.COMMAND.XXXXXXXX
} cli_stage;

/// Makes the directory and the folder in it.
/// @param command  its name
/// @param pages    names of its pages, NULL-terminated; borrowed
carom_status cli_stage_create(const char *directory, const char *command, const char *const *pages, cli_stage *stage, carom_error *error);
/// Takes the figures and the pages of the last report away, and gives the new files their places: what a kill at any instant leaves
/// belongs to one report. Nothing is touched when a new file would replace one of another kind.
/// @param files  paths in the folder, in the order in which they are to appear; become those in the directory
carom_status cli_stage_commit(cli_stage *stage, json_t *files, carom_error *error);
/// Removes the folder with what is in it, and the directory where nothing is in that. All zero is allowed.
void cli_stage_free(cli_stage *stage);

#endif
