// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a result file stores, by libhdf5. Everything the reader knows of a file comes through these few questions, so that a child process
/// can answer them as well (apart.h).
#ifndef CAROM_IO_RESULT_STORED_H
#define CAROM_IO_RESULT_STORED_H

#include "carom/base.h"

enum { CAROM_STORED_NAME = 256, CAROM_STORED_TEXT = 1024, CAROM_STORED_MOST_LAWS = 1024 };

/// The top of a file: its attributes, and the laws whose outcomes it holds.
typedef struct carom_stored_top {
    char **scene_name;  ///< one text
    char **contacts;    ///< [contact_count]
    char **laws;        ///< [law_count]
    int contact_count, tangent_dim, law_count;
    bool has_motion;
} carom_stored_top;

void carom_stored_top_release(carom_stored_top *top);

/// What a dataset is read as: 8 bytes an entry; or texts of fixed or of variable length, whose lines are the texts and whose entries are
/// bytes. The latter end with a zero byte.
typedef enum carom_stored_type { CAROM_STORED_REALS, CAROM_STORED_INTEGERS, CAROM_STORED_CHARACTERS, CAROM_STORED_TEXTS } carom_stored_type;

/// Bytes of an entry.
static inline int64_t carom_stored_entry(carom_stored_type type) {
    return type == CAROM_STORED_CHARACTERS || type == CAROM_STORED_TEXTS ? 1 : 8;
}

typedef struct carom_stored_extent {
    int64_t lines;
    int width;
} carom_stored_extent;

/// How a question about a dataset ended. LOST: the child process that reads the file is gone.
typedef enum carom_stored_found {
    CAROM_STORED_READ,
    CAROM_STORED_MISSING,
    CAROM_STORED_DAMAGED,
    CAROM_STORED_NO_MEMORY,
    CAROM_STORED_LOST,
} carom_stored_found;

typedef struct carom_stored carom_stored;

/// Opens a regular file of this size, and reads its top.
/// @return CAROM_BAD_INPUT: "PATH: not a carom result file: ", then why
carom_status carom_stored_open(const char *path, int64_t file_size, carom_stored **stored, carom_stored_top *top, carom_error *error);
/// NULL is allowed.
void carom_stored_close(carom_stored *stored);
/// Has a group this dataset? Groups stand at the top, or within one there: "LAW/result".
bool carom_stored_has(const carom_stored *stored, const char *group, const char *name);
/// Reads a dataset of a group.
/// @param values  receives [lines x width], to be freed
carom_stored_found carom_stored_read(const carom_stored *stored, const char *group, const char *name, carom_stored_type type, void **values,
                                     carom_stored_extent *extent);
/// Reads a text attribute of a group, cut where it is too long, or a number in 17 digits; false where there is none.
bool carom_stored_text(const carom_stored *stored, const char *group, const char *name, char text[CAROM_STORED_TEXT]);

#endif
