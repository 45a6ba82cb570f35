// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `carom bench` prints of growth and performance profiles: JSON, tables in Markdown, pictures.
#ifndef CAROM_CLI_BENCH_BENCH_H
#define CAROM_CLI_BENCH_BENCH_H

#include "benchmarks/harness/harness.h"
#include "cli/cli_internal.h"

json_t *cli_growth_json(const bench_growth *growth);
void cli_growth_print(const bench_growth *growth, FILE *file);
/// Can the pictures of cli_growth_plot be drawn? Asked before minutes of measuring.
carom_status cli_growth_check(const char *prefix, carom_error *error);
/// Log-log pictures `PREFIX-contacts.png`, `PREFIX-velocities.png` and `PREFIX-samples.png`.
carom_status cli_growth_plot(const bench_growth *growth, const char *prefix, carom_error *error);

json_t *cli_profile_json(const bench_profile *profile);
void cli_profile_print(const bench_profile *profile, FILE *file);
/// Can the picture of cli_profile_plot be drawn?
carom_status cli_profile_check(const char *prefix, carom_error *error);
/// The picture `PREFIX-profiles.png`.
carom_status cli_profile_plot(const bench_profile *profile, const char *prefix, carom_error *error);

#endif
