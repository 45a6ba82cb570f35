// SPDX-License-Identifier: Apache-2.0
/// @file
/// `carom query`: the set that is asked, and what the outcomes were drawn with.
#ifndef CAROM_CLI_QUERY_H
#define CAROM_CLI_QUERY_H

#include "cli/cli_internal.h"

/// A set read from a file.
typedef struct query_source {
    carom_result *result;
    carom_impact *impact;
    carom_outcome_set set;
    int law;
} query_source;

/// The parameters of an uncertain impact that the outcomes in a file were drawn with.
typedef struct query_parameters {
    int count;           ///< 0 where nothing was uncertain
    const char **names;  ///< [count] as carom_uncertainty_parameters has them; those that were known, too
    double *values;      ///< [rows x count]
    int velocities;      ///< the first ones are the velocities before the impact; 0 where these were known
    int64_t draws;       ///< different ones
    int64_t *rows;       ///< [set.points] the row of each outcome in the file; NULL: all of them
    carom_arena memory;
} query_parameters;

carom_status query_read_parameters(const query_source *from, query_parameters *parameters, carom_error *error);
/// Leaves those outcomes in the set for which the condition holds (carom/condition.h), over parameters and everything that --max may have.
/// Impulses and energy ratios are read.
/// @return CAROM_BAD_INPUT where none is left, and for the pieces of exact sets
carom_status query_keep_where(query_source *from, query_parameters *parameters, const char *text, carom_error *error);

/// A velocity is compared with outcomes by the contact velocities that the impact in the file gives it.
/// @return CAROM_BAD_INPUT where the pose was uncertain, so that outcomes have others
carom_status query_check_pose(const query_source *from, carom_error *error);
/// Whether impulses can bring a velocity about is asked from the velocity before the impact.
/// @return CAROM_BAD_INPUT where that was uncertain and impulses do not reach every velocity
carom_status query_check_reach(const query_source *from, carom_error *error);

/// Adds to a maximum the parameters of its outcome.
void query_add_parameters(json_t *document, const query_parameters *parameters, int64_t point);
/// Adds what each parameter that is not the same for all outcomes says about the functional.
carom_status query_add_sensitivity(json_t *document, const query_source *from, const query_parameters *parameters,
                                   const carom_functional *functional, carom_error *error);

#endif
