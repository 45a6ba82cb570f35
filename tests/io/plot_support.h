// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of pictures share: whether there is gnuplot, and what it wrote.
#ifndef CAROM_TESTS_PLOT_SUPPORT_H
#define CAROM_TESTS_PLOT_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static inline char *read_text(const char *path) {
    size_t size;
    return support_read_file(path, &size);
}

static inline bool draws_pictures(void) { return !system("command -v gnuplot > /dev/null"); }

/// Width and height stand in the header of a PNG.
static inline void assert_png(const char *path) {
    unsigned char header[24];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    fclose(file);
    assert_memory_equal(header, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(header[18] << 8 | header[19], 1200);
    assert_int_equal(header[22] << 8 | header[23], 900);
}

#endif
