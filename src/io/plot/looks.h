// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pictures whose series have looks that their caller chose.
#ifndef CAROM_IO_PLOT_LOOKS_H
#define CAROM_IO_PLOT_LOOKS_H

#include "carom/plot.h"

/// As carom_plot_write.
/// @param looks  [series_count] places in carom_plot_looks
carom_status carom_plot_write_looks(const carom_plot *plot, const int *looks, const char *path, carom_error *error);

#endif
