// SPDX-License-Identifier: Apache-2.0
/// @file
/// `carom compare --simulator`: the runs of MuJoCo's contact solver, and how much of a set they show.
#ifndef CAROM_CLI_COMPARE_SIMULATOR_H
#define CAROM_CLI_COMPARE_SIMULATOR_H

#include "cli/compare/compare.h"

/// How much of the set of possible outcomes the simulator's runs show. Distances over all contact velocities [m/s].
struct cli_coverage {
    const char *set;      ///< the law whose outcomes are the set; NULL where there is none to measure by
    int64_t runs, ended;  ///< runs, and those in which no contact approaches in the end
    int64_t unperturbed;  ///< runs from the scene's own state, the first ones
    int64_t inside;       ///< outcomes within CLI_COVERAGE_SHARE of the impact's speed from the set
    double outside;       ///< largest distance of an outcome from the set
    double uncovered[3];  ///< largest distance of a point of the set from the outcome of the default run, of unperturbed runs, of all runs;
                          ///< NaN where the measuring was interrupted
    double *shown;        ///< [contacts] share of the set's range of normal velocities that the runs span; NaN where it has none
};

/// An outcome this close to the set, over the impact's largest contact velocity, counts as in it.
#define CLI_COVERAGE_SHARE 0.01

/// Refuses what the command line asks of simulators and cannot have, before anything is computed.
carom_status cli_check_simulator(const cli_comparison *c, carom_error *error);
/// Asks MuJoCo, appends its run to the comparison's, and measures its coverage by their points.
carom_status cli_simulate_impact(cli_comparison *c, const carom_control *control, carom_result_writer *writer, carom_error *error);
/// Fills in the comparison's coverage by a run of the simulator, which follows the runs of the laws.
carom_status cli_coverage_measure(cli_comparison *c, const cli_run *run, const carom_control *control, carom_error *error);
void cli_coverage_free(cli_coverage *coverage);
/// Object for JSON, null without a simulator; and lines for people.
json_t *cli_coverage_json(const cli_comparison *c);
void cli_coverage_print(const cli_comparison *c, FILE *file, const char *line_start);

#endif
