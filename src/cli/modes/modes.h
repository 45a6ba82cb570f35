// SPDX-License-Identifier: Apache-2.0
/// @file
/// The joint contact modes of an impact, for the commands `modes` and `sweep`.
#ifndef CAROM_CLI_MODES_H
#define CAROM_CLI_MODES_H

#include "cli/cli_internal.h"

/// Flags that both commands have.
#define CLI_MODE_FLAGS                                                                                                                     \
    {"sampled", NULL, "sample the set, also where the exact one could be computed"},                                                       \
        {"seconds", "S", "budget of time of an exact set (default 30)"}, {                                                                 \
        "threads", "N", "threads of the samples (default: one per core)"                                                                   \
    }

/// How modes are found: by the options of scene and command line.
typedef struct cli_mode_finder {
    const cli_arguments *arguments;
    const carom_control *control;
    void *sampling;              ///< options of halm-posa
    carom_exact_options *exact;  ///< of the exact set; NULL: it has restitution, is too large, or is not wanted
} cli_mode_finder;

/// Zero the finder first; free it also after a failure.
carom_status cli_mode_finder_create(const cli_arguments *arguments, const carom_scene *scene, const carom_control *control,
                                    cli_mode_finder *finder, carom_error *error);
void cli_mode_finder_free(cli_mode_finder *finder);

/// The modes of one impact.
typedef struct cli_found_modes {
    carom_joint_modes *modes;
    bool certified;                   ///< the list is that of the whole set
    bool unique;                      ///< and the set is one velocity
    bool outer;                       ///< the set contains all that is possible, but maybe more
    char reason[CAROM_MESSAGE_SIZE];  ///< why the exact set did not finish; "" where it did or was not tried
    carom_answer samples;             ///< statistics, where modes were seen in samples
} cli_found_modes;

/// @param found  to be released, also after a failure
carom_status cli_find_modes(const cli_mode_finder *finder, const carom_impact *impact, cli_found_modes *found, carom_error *error);
void cli_found_modes_release(cli_found_modes *found);

/// {NAME: "stick", ...}
json_t *cli_motions_json(const carom_impact *impact, const carom_joint_mode *mode);
/// The list of modes with counts, ranges and witnesses.
json_t *cli_modes_json(const carom_impact *impact, const carom_joint_modes *modes);

#endif
