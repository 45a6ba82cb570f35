// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keys of pictures with a size on paper: entries side by side in rows, and long texts in several.
#ifndef CAROM_IO_KEY_H
#define CAROM_IO_KEY_H

/// Size of the key's letters [points], and what they take on paper [mm]: height of a row, width of a character.
#define CAROM_KEY_FONT      8
#define CAROM_KEY_ROW       4.2
#define CAROM_KEY_CHARACTER 1.48

/// An entry: a sample of this width [mm], 0 for none, and a text.
typedef struct carom_key_entry {
    double sample;
    const char *text;
} carom_key_entry;

/// Receives the sample of an entry (line NULL) at its left end, and each line of its text, [mm] from the left, and the row from 0.
typedef void carom_key_visitor(void *user, int entry, double x, int row, const char *line);

/// Lays entries out between two margins [mm].
/// @param visit  NULL: count rows only
/// @return the number of rows
int carom_key_flow(int count, const carom_key_entry *entries, double left, double right, carom_key_visitor *visit, void *user);

#endif
