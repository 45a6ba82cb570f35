// SPDX-License-Identifier: Apache-2.0
/// @file
/// UTF-8: names come from files and file systems in any encoding, while JSON, HDF5 readers and gnuplot insist on valid text, and terminals
/// obey what is hidden in names.
#ifndef CAROM_UTF8_H
#define CAROM_UTF8_H

#include "carom/api.h"

CAROM_API_BEGIN

/// Bytes of the valid sequence at `text`, which is not empty, and its code point; 0 when there is none.
int carom_utf8_decode(const char *text, unsigned long *code);

/// May a terminal be shown this code point? Not control characters, with which escape sequences begin (C0, C1, DEL), nor what turns the
/// order of letters or breaks lines without being seen (marks and overrides of direction, separators, tags).
bool carom_utf8_is_shown(unsigned long code);

/// Replaces what is not shown in place: control characters by blanks, other code points and bytes that are no UTF-8 by '?'.
void carom_utf8_make_plain(char *text);

/// A copy of `text` in which each byte that is not part of valid UTF-8 is U+FFFD. To be freed; NULL when out of memory.
char *carom_utf8_repair(const char *text);

CAROM_API_END

#endif
