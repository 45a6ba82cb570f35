// SPDX-License-Identifier: Apache-2.0
/// @file
/// Contact velocities as axes of pictures: Jn.CONTACT, Jt.CONTACT, and Jt.CONTACT.2 for the second tangent.
#ifndef CAROM_IO_PLOT_AXES_H
#define CAROM_IO_PLOT_AXES_H

#include "carom/io.h"

typedef struct carom_axis {
    char *name;
    bool normal;  ///< a column of normal_velocity, otherwise of tangent_velocity
    int column;
    int place;  ///< in contact space: per contact the normal, then the tangents
} carom_axis;

/// All contact velocities of a problem: the normal ones, then the tangential ones.
typedef struct carom_axes {
    carom_axis *axes;
    int count;
} carom_axes;

carom_status carom_axes_create(const carom_result *result, carom_axes *axes, carom_error *error);
void carom_axes_free(carom_axes *axes);

/// The two axes that a text like "Jn.A,Jt.B" names. Contact names may hold commas and dots.
/// @return CAROM_BAD_INPUT with the names that are valid
carom_status carom_axes_parse(const carom_axes *axes, const char *text, int chosen[2], carom_error *error);

/// The two axes with the largest extents, normal velocities first; those without extent come last. In the order of the axes.
/// @param least, most  [count], smallest and largest outcome; least > most where there is none
void carom_axes_choose(const carom_axes *axes, const double *least, const double *most, int chosen[2]);

#endif
