// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files that appear whole or not at all: written under a temporary name beside their place, then renamed.
#ifndef CAROM_TEMPORARY_H
#define CAROM_TEMPORARY_H

#include <dirent.h>
#include <stdio.h>

#include "carom/base.h"

/// What a file that is replaced must be, because any other may be what somebody wrote by hand: the scene that is being read, for one.
typedef struct carom_file_kind {
    const char *name;     ///< "an HDF5 file"
    const char *start;    ///< its first bytes
    bool many;            ///< one of a series, which are not brought to the disk one by one
    const char *endings;  ///< of its names, with blanks between them, as carom_check_ending takes them; NULL: any
} carom_file_kind;

extern const carom_file_kind carom_file_hdf5;

typedef struct carom_temporary {
    char *target;                 ///< where the file goes; links are followed, also one to a file that is not there yet
    char *path;                   ///< .NAME.XXXXXXXX beside it; NULL when there is no temporary file (any more)
    const carom_file_kind *kind;  ///< of the file at the target, if there is one
    int held;                     ///< the file, locked as long as this process writes it
} carom_temporary;

/// Refuses a name with the ending of another format, such as `set.png` for an HDF5 file. Endings that no format here has are free.
/// @param endings  of the format, with blanks between them: ".h5 .hdf5"; "" for what has none, such as a directory
/// @param what     would be written: "an HDF5 file"
carom_status carom_check_ending(const char *name, const char *endings, const char *what, carom_error *error);
/// Says whether a file may be written at `target`: nothing is there, or an empty file, or one of this kind; and whether the name suits it.
/// @return as carom_temporary_create
carom_status carom_temporary_check(const char *target, const carom_file_kind *kind, carom_error *error);
/// Creates the empty temporary file for `target`, with the mode of an ordinary new file, and opens it for reading and writing. Temporary
/// files for the same target that a killed process left behind are removed: those that nobody holds a lock on.
/// @param kind        borrowed until the file is committed
/// @param descriptor  of the open file, to be closed by the caller
/// @return CAROM_BAD_INPUT when the target exists and is not a regular file (renaming over a device destroys it), or neither empty nor of
///         this kind; CAROM_IO_FAILED
carom_status carom_temporary_create(const char *target, const carom_file_kind *kind, carom_temporary *temporary, int *descriptor,
                                    carom_error *error);
/// Brings the file to the disk and gives it its name.
carom_status carom_temporary_commit(carom_temporary *temporary, carom_error *error);
/// Removes the file unless it was committed, and frees the names. All zero is allowed.
void carom_temporary_discard(carom_temporary *temporary);

/// A folder for files that are to take their places together.
typedef struct carom_temporary_folder {
    char *path;    ///< DIRECTORY/.NAME.XXXXXXXX; NULL when there is none (any more)
    DIR *listing;  ///< the folder, locked as long as this process uses it
} carom_temporary_folder;

/// Creates an empty folder in a directory. Folders of the same name that a killed process left behind are removed with what is in them.
carom_status carom_temporary_folder_create(const char *directory, const char *name, carom_temporary_folder *folder, carom_error *error);
/// Removes it with the files in it, also where there is no memory or descriptor left. All zero is allowed.
void carom_temporary_folder_remove(carom_temporary_folder *folder);

/// Prints the content of a text file. What the stream cannot write is found by the caller.
typedef carom_status carom_text_printer(FILE *file, const void *content, carom_error *error);

/// Prints into an open file and flushes it. Numbers have a decimal point, whatever the locale of the host program.
/// @param name  of the file, for messages
/// @return CAROM_IO_FAILED, or as `print`
carom_status carom_text_print(FILE *file, const char *name, carom_text_printer *print, const void *content, carom_error *error);
/// Writes a whole text file in the place of `target`.
/// @return as carom_temporary_create and carom_text_print
carom_status carom_text_write(const char *target, const carom_file_kind *kind, carom_text_printer *print, const void *content,
                              carom_error *error);

#endif
