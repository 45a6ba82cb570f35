// SPDX-License-Identifier: Apache-2.0
/// @file
/// Long lines with no more points than a picture can show.
#ifndef CAROM_IO_PLOT_THIN_H
#define CAROM_IO_PLOT_THIN_H

#include "carom/io.h"

enum { CAROM_PLOT_KEPT = 4 };

/// The next points to be drawn of a line in a picture from `least` to `most`: one of a short line; of a long one, those that draw the run
/// of points from `first` in the same column like all of them; one of a gap.
/// @param kept   receives their indices, ascending
/// @param count  receives how many
/// @return where the next run begins
int64_t carom_plot_take_run(const carom_plot_series *line, int64_t first, double least, double most, int64_t kept[CAROM_PLOT_KEPT],
                            int *count);

#endif
