// SPDX-License-Identifier: Apache-2.0
/// @file
/// UTF-8: names come from files and file systems in any encoding, while JSON, HDF5 readers and gnuplot insist on valid text.
#ifndef CAROM_IO_UTF8_H
#define CAROM_IO_UTF8_H

/// Bytes of the valid sequence at `text`, which is not empty, and its code point; 0 when there is none.
int carom_utf8_decode(const char *text, unsigned long *code);

/// A copy of `text` in which each byte that is not part of valid UTF-8 is U+FFFD. To be freed; NULL when out of memory.
char *carom_utf8_repair(const char *text);

#endif
