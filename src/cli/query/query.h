// SPDX-License-Identifier: Apache-2.0
/// @file
/// `carom query`: linear functionals and axes as users write them.
#ifndef CAROM_CLI_QUERY_QUERY_H
#define CAROM_CLI_QUERY_QUERY_H

#include "carom/io.h"

/// A linear functional of an outcome: a sum of terms c*Jn.NAME, c*Jt.NAME, c*Jt.NAME.2, c*v.I.
typedef struct query_functional {
    double *contact;   ///< [n] coefficients of contact velocities, contact-major
    double *velocity;  ///< [nv] coefficients of generalised velocities, v.1 first
} query_functional;

/// @param nv  0 where there are no generalised velocities
/// @return CAROM_BAD_INPUT with what is wrong and the names that are valid
carom_status query_functional_parse(const carom_result *result, int nv, const char *text, query_functional *functional, carom_error *error);
void query_functional_release(query_functional *functional);

/// Places in contact space of at least two contact velocities with commas between them, as in "Jn.A,Jt.B.2".
/// @param places  [n]
carom_status query_axes_parse(const carom_result *result, const char *text, int *places, int *count, carom_error *error);

#endif
