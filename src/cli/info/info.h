// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of `carom info` share.
#ifndef CAROM_CLI_INFO_INFO_H
#define CAROM_CLI_INFO_INFO_H

#include "cli/cli_internal.h"

/// Adds joints, contact points, normals, tangents, bodies, geoms and qpos to a document; null where they are not known.
void cli_add_mechanism(json_t *document, const carom_impact_data *data);
/// A table of the contacts: bodies, points, friction, velocities.
void cli_print_contacts(const carom_impact *impact, bool full);
/// M, Jn, Jt and v under the names of their columns, or W.
void cli_print_matrices(const carom_impact *impact);

/// Is the velocity after the impact unique, in the inelastic inclusion?
typedef struct cli_outcome {
    enum { CLI_OUTCOME_UNDECIDED, CLI_OUTCOME_ONE, CLI_OUTCOME_SEVERAL } verdict;
    char by[128];  ///< how that is known, or why it is not
} cli_outcome;

carom_status cli_info_outcome(const carom_impact *impact, cli_outcome *outcome, carom_error *error);
json_t *cli_outcome_json(const cli_outcome *outcome);
void cli_print_outcome(const cli_outcome *outcome);

/// Whether the first step of the impact has one velocity.
json_t *cli_first_step_json(const carom_first_step *first);
void cli_print_first_step(const carom_first_step *first);

/// The uniqueness analysis of frictionless elastic words, within limits that keep it quick.
carom_status cli_info_uniqueness(const carom_impact *impact, carom_uniqueness **uniqueness, carom_error *error);
json_t *cli_uniqueness_json(const carom_uniqueness *uniqueness);
/// Its matrices, for which the JSON object has null.
/// @param field     of the object in its document
/// @param matrices  [3]
/// @return how many there are
int cli_uniqueness_matrices(const carom_uniqueness *uniqueness, const char *field, carom_json_large *matrices);
/// @param full  list many pairs of contacts
void cli_print_uniqueness(const carom_uniqueness *uniqueness, const char *const *contact_names, bool full);

#endif
