// SPDX-License-Identifier: Apache-2.0
/// @file
/// The command: arguments, one file per subcommand, and what they share.
#ifndef CAROM_CLI_INTERNAL_H
#define CAROM_CLI_INTERNAL_H

#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "carom/carom.h"

/// Exit statuses of the command.
enum { EXIT_DONE = 0, EXIT_INCOMPLETE = 1, EXIT_BAD_INPUT = 2 };

// ----------------------------------------------------------------------------------------------------------- arguments

/// An option of a command that is not an option of a law.
typedef struct cli_flag {
    const char *name;   ///< without dashes, as in `json`
    const char *value;  ///< what stands for its value in `--help`; NULL for a switch
    const char *doc;
} cli_flag;

typedef struct cli_setting {
    const char *name;   ///< of a flag, or of a law's option in scene spelling (`max_steps`)
    const char *value;  ///< NULL for a switch
} cli_setting;

typedef struct cli_command cli_command;

/// A command line that was understood. Texts are borrowed from argv.
typedef struct cli_arguments {
    const cli_command *command;
    const carom_registry *registry;
    const char *operand;  ///< NULL when left out
    cli_setting *settings;
    int count;
} cli_arguments;

/// Whose options a command takes.
typedef enum cli_law_options { CLI_NO_LAWS, CLI_ONE_LAW, CLI_ALL_LAWS, CLI_INTEGRATORS } cli_law_options;

/// A law or an integrator, with the options that a command line may set.
typedef struct cli_owner {
    const char *kind, *name, *summary;
    const carom_option *options;
    int option_count;
} cli_owner;

struct cli_command {
    const char *name, *summary;
    const char *operand;          ///< "SCENE", "FILE", "RESULT"
    const char *optional_switch;  ///< a switch that makes the operand unnecessary, or NULL
    const char *operand_flag;     ///< flag that operands, any number of them, are values of; NULL: there is one operand
    const cli_flag *flags;
    int flag_count;
    cli_law_options laws;
    const char *law;           ///< the one law, NULL where `--law` or the scene says it
    const carom_law *own_law;  ///< instead: one that no registry has, because it needs more than an impact
    bool shared;               ///< runs on every rank of an MPI run; other commands run on the first
    int (*run)(const cli_arguments *arguments);
};

/// Understands argv behind the command's name.
carom_status cli_parse(const cli_command *command, const carom_registry *registry, int argc, char **argv, cli_arguments *arguments,
                       carom_error *error);
void cli_release(cli_arguments *arguments);
/// The value of a flag, "" for a switch that is given; NULL when it is not. The last one wins.
const char *cli_value(const cli_arguments *arguments, const char *name);
bool cli_given(const cli_arguments *arguments, const char *name);

/// Laws, or integrators and then laws, whose options the command takes.
int cli_owners(const cli_command *command, const carom_registry *registry);
cli_owner cli_owner_at(const cli_command *command, const carom_registry *registry, int index);

/// The settings that are options of the owner, or all others. Released by the caller, in every case.
carom_status cli_select(const cli_arguments *arguments, const cli_owner *owner, bool owned, cli_arguments *selected, carom_error *error);
/// Sets the options that the command line gives among the owner's rows. Options that none of this command has were refused by cli_parse.
carom_status cli_apply_owner(const cli_arguments *arguments, const cli_owner *owner, bool strict, void *options, carom_error *error);
/// The same for a law. Options that no law of this command has were refused by cli_parse.
/// @param strict  refuse those that this law does not have
carom_status cli_apply(const cli_arguments *arguments, const carom_law *law, bool strict, void *options, carom_error *error);

/// "step: -1 is not ..." of the library, whose option this is, becomes "--step: -1 is not ...".
carom_status cli_pass_on(const carom_option *row, const carom_error *inner, carom_error *error);

enum { CLI_NAME_SIZE = 64 };
/// The flag of a law's option without dashes: `max-steps` for `max_steps`.
void cli_spell_flag(const carom_option *row, char flag[CLI_NAME_SIZE]);
/// What stands for an option's value in help: N, X, NAME, or its choices with | between them, for which `word` has room; NULL for a switch.
const char *cli_value_word(const carom_option *row, char *word, size_t size);

/// Prints usage, flags and the options of laws.
void cli_help(const cli_command *command, const carom_registry *registry);

// ------------------------------------------------------------------------------------------------------------ messages

/// Prints `carom: MESSAGE` on stderr, of several ranks on the first, and returns the exit status that the error means.
int cli_report(const carom_error *error);
/// Prints the scene's warnings on stderr: for an answer only, since a refusal is one line.
void cli_warn(const carom_scene *scene);
/// A contact velocity as tables for people show it: round-off of the pre-impact velocities is zero. JSON and files keep every digit.
double cli_shown(const carom_impact *impact, double velocity);
/// Joins a directory and a name. To be freed.
/// @return NULL when out of memory
char *cli_join_path(const char *directory, const char *name);
/// Makes a directory that is not there yet.
carom_status cli_make_directory(const char *path, bool *made, carom_error *error);
/// Prints a document on stdout and frees it; `status` unless that fails.
int cli_print_json(json_t *document, int status);

// -------------------------------------------------------------------------------------------------------- computations

/// Threads, Ctrl-C and the progress bar of one computation. Signals are caught from the first call on.
carom_status cli_start_control(const cli_arguments *arguments, carom_control *control, carom_error *error);
/// Was the computation stopped by Ctrl-C or a signal to end?
bool cli_interrupted(void);
/// Removes the progress bar.
void cli_end_progress(void);

/// More contact velocities than these are not collected: 2^22 are some hundred megabytes.
enum { CLI_MOST_POINTS = 1 << 22 };

/// Contact velocities of outcomes.
typedef struct cli_points {
    const carom_impact *impact;
    int n;  ///< size of contact space
    int64_t count, capacity;
    double *u;     ///< [count x n] contact-major
    bool dropped;  ///< there were too many, and there are none now
} cli_points;

carom_status cli_points_create(const carom_impact *impact, cli_points **points, carom_error *error);
void cli_points_free(cli_points *points);
carom_status cli_points_add(cli_points *points, const carom_table *outcomes, carom_error *error);

/// One law's answer with what came along.
typedef struct cli_run {
    const carom_law *law;
    carom_answer answer;   ///< outcomes only where they were kept
    carom_extent *extent;  ///< of all outcomes
    cli_points *points;    ///< of all outcomes; NULL where they were not asked for
    int64_t written;       ///< outcomes in the file
    double seconds;
} cli_run;

/// Which outcomes go into the file.
typedef enum cli_keep {
    CLI_KEEP_ALL,
    CLI_KEEP_EXTENT,  ///< none, but their extent
    CLI_KEEP_HULL,    ///< those of carom_corners, and the extent of all
} cli_keep;

/// Their names, NULL-terminated.
extern const char *const cli_keep_names[];

/// How outcomes are treated on their way.
typedef struct cli_run_options {
    cli_keep keep;
    bool keep_outcomes;
    bool collect_points;
    bool thorough;                ///< ask for what the law's row calls thorough, where it can be had
    bool strict;                  ///< as in cli_apply
    carom_result_writer *writer;  ///< NULL: no file
} cli_run_options;

/// The options of a law: its defaults, then a preset (option, value, ..., NULL; may be NULL), the scene, the command line. To be freed,
/// also after a failure.
/// @param strict  as in cli_apply
carom_status cli_prepare_options(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, bool strict,
                                 const char *const *preset, void **options, carom_error *error);

/// Asks a law with the options of scene and command line.
carom_status cli_run_law(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, const carom_control *control,
                         const cli_run_options *options, cli_run *run, carom_error *error);
/// Asks the law of `run` with options that are made already.
/// @param file  the open group of a result file, or NULL
carom_status cli_ask_law(const cli_arguments *arguments, const carom_scene *scene, const void *law_options, const carom_control *control,
                         const cli_run_options *options, const carom_sink *file, cli_run *run, carom_error *error);
void cli_run_release(cli_run *run);

/// Extent {normal: [[min, max]...], tangent: [[min, max]...]}, null without outcomes.
json_t *cli_extent_json(const carom_extent *extent);
/// Is the message about this option? It begins with "NAME: " then.
bool cli_is_about(const carom_error *error, const carom_option *row);
/// By the monotonic clock.
double cli_seconds_since(const struct timespec *start);
/// Says where a value came from that the library refuses: the command line or the scene. Other errors are left alone.
/// @param rows  [count] options that were set
void cli_place_error(const cli_arguments *arguments, const carom_scene *scene, const carom_option *rows, int count, carom_error *error);
/// Adds `normal_velocity` and `tangent_velocity` of a contact velocity, contact-major, to an object.
void cli_add_contact_velocity(json_t *object, const carom_impact *impact, const double *u);
/// Adds the columns of the result row, the verdict included, to an object.
void cli_add_result(json_t *document, const carom_table *result);

/// Prints what a result row says by yes or no, from a column on, where it is yes.
void cli_print_findings(const carom_table *result, int first);

// ------------------------------------------------------------------------------------------------------------ commands

/// All of them, NULL-terminated.
extern const cli_command *const cli_commands[];

extern const cli_command cli_info, cli_resolve, cli_sample, cli_exact, cli_compare, cli_query, cli_hodograph, cli_simulate, cli_compliant,
    cli_lcp, cli_plot, cli_bench, cli_design, cli_docs;

/// Rows of solvers that this machine's libraries lack are there to say so when asked for by name.
bool cli_solver_is_available(const carom_lcp_solver *solver);

#endif
