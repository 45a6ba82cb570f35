// SPDX-License-Identifier: Apache-2.0
/// @file
/// The command: its command line, and what several of its subcommands share. Every subcommand has a file or a folder of its own.
#ifndef CAROM_CLI_INTERNAL_H
#define CAROM_CLI_INTERNAL_H

#include <jansson.h>
#include <stdio.h>

#include "carom/carom.h"
#include "carom/clock.h"
#include "carom/json.h"

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
    const char *name;   ///< of a flag, or of a law's option as scenes spell it (`max_steps`)
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
    bool models;                  ///< a SCENE may be a bare model
    const char *optional_switch;  ///< a switch that makes the operand unnecessary, or NULL
    const char *operand_flag;     ///< the flag whose values the operands are, any number of them; NULL: there is one operand
    const cli_flag *flags;
    int flag_count;
    cli_law_options laws;
    const char *law;           ///< the one law, NULL where `--law` or the scene says it
    const carom_law *own_law;  ///< instead: a law that no registry has, because it needs more than an impact
    bool shared;               ///< runs on every rank of an MPI run; other commands run on the first
    int (*run)(const cli_arguments *arguments);
};

/// Understands the words after the command's name.
carom_status cli_parse(const cli_command *command, const carom_registry *registry, int argc, char **argv, cli_arguments *arguments,
                       carom_error *error);
void cli_release(cli_arguments *arguments);
/// The value of a flag, "" for a switch that is given; NULL when it is not. The last one wins.
const char *cli_value(const cli_arguments *arguments, const char *name);
bool cli_given(const cli_arguments *arguments, const char *name);

/// Laws, or integrators and then laws, whose options the command takes.
int cli_owners(const cli_command *command, const carom_registry *registry);
cli_owner cli_owner_at(const cli_command *command, const carom_registry *registry, int index);

/// The settings that are options of the owner, or all others. To be released by the caller, also after a failure.
carom_status cli_select(const cli_arguments *arguments, const cli_owner *owner, bool owned, cli_arguments *selected, carom_error *error);
/// Sets the options that the command line gives among the owner's rows. cli_parse has refused options that no owner has.
/// @param strict  refuse those that this owner does not have, instead of passing over them
carom_status cli_apply_owner(const cli_arguments *arguments, const cli_owner *owner, bool strict, void *options, carom_error *error);
/// The first setting of the command line that an owner of these options [count] knows, but whose value is meant for others; NULL where
/// there is none.
const cli_setting *cli_not_offered(const cli_arguments *arguments, const carom_option *rows, int count);
/// Sets options by flags of the command itself whose values the rows describe.
carom_status cli_apply_rows(const cli_arguments *arguments, const carom_option *rows, int count, void *options, carom_error *error);

/// The library's "step: -1 is not ..." about this option becomes "--step: -1 is not ...".
carom_status cli_pass_on(const carom_option *row, const carom_error *inner, carom_error *error);

enum { CLI_NAME_SIZE = 64 };
/// The flag of a law's option without dashes: `max-steps` for `max_steps`.
void cli_spell_flag(const carom_option *row, char flag[CLI_NAME_SIZE]);
/// What stands for an option's value in help: N, X, NAME, or its choices with | between them, for which `word` has room; NULL for a switch.
const char *cli_value_word(const carom_option *row, char *word, size_t size);

/// Prints usage, flags and the options of laws.
void cli_help(const cli_command *command, const carom_registry *registry);

// ------------------------------------------------------------------------------------------------------------ messages

/// From here on cli_report prints, where the answer is JSON, a document {schema, complete: false, verdict} for a command that could not
/// finish.
void cli_expect_answer(const cli_command *command, bool json);
/// Prints `carom: MESSAGE` on stderr, on the first of several ranks, and returns the exit status that the error means.
int cli_report(const carom_error *error);

/// `carom --version [--verbose]`.
int cli_version(int argc, char **argv);
/// Says a sentence beside an answer: on stderr, on the first of several ranks, and in the document's `caveats`. Not beside a refusal, which
/// is one line.
/// @param kind  "note" or "warning"
/// @param path  that it is about, or NULL
void cli_say(const char *kind, const char *path, const char *format, ...) CAROM_PRINTF(3, 4);
/// Says the scene's notes and warnings.
void cli_warn(const carom_scene *scene);
/// The same for commands that take what is uncertain in the scene; cli_warn says that it is not used.
void cli_warn_uncertain(const carom_scene *scene);
/// What scene and command line give for laws to use.
carom_given cli_given_by(const cli_arguments *arguments, const carom_scene *scene);
/// Says what is given and these laws do not use, and that nothing collides where all contacts are at rest.
/// @param unused  [count] bits of carom_law_unused
void cli_say_unused(const cli_arguments *arguments, const carom_scene *scene, const carom_law *const *laws, const int *unused, int count);
/// The same of one law with these options.
void cli_say_unused_by(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, const void *options);
/// A contact velocity as tables for people show it: round-off of the pre-impact velocities is zero. JSON and files keep every digit.
double cli_shown(const carom_impact *impact, double velocity);
/// The same for a value of a functional, by its largest factor of a velocity.
double cli_shown_of(const carom_impact *impact, const carom_functional *functional, double value);
/// Joins a directory and a name. To be freed.
/// @return NULL when out of memory
char *cli_join_path(const char *directory, const char *name);
/// Makes a directory that is not there yet.
carom_status cli_make_directory(const char *path, bool *made, carom_error *error);
/// Prints a document on stdout, with a `verdict` that follows from the exit status where it has none, and frees it; `status` unless that
/// fails.
int cli_print_json(json_t *document, int status);
/// Reads a JSON file, to be released by json_decref.
/// @return as carom_file_read, CAROM_BAD_INPUT with file and line
carom_status cli_read_json(const char *path, json_t **document, carom_error *error);
/// Prints the name of a file as one word of a shell, for hints that may be pasted.
void cli_print_word(const char *text);

/// Replaces stdout and stderr by streams that keep what terminals obey, and is hidden in names, from them.
void cli_guard_terminal(void);
/// Puts the streams back as they were before that: a program may call the command as a function.
void cli_release_terminal(void);
/// The errno of the write to stdout that failed; 0: none did.
int cli_output_failure(void);
/// Does stdout get what is printed as it is from here on, a JSON document?
void cli_print_whole(bool whole);
/// The same with large matrices where the document has null.
int cli_print_large_json(json_t *document, const carom_json_large *matrices, int count, int status);
/// Reads --zoom, set or all, of a command that has it; set where it is not given.
/// @param all  receives whether it is `all`
carom_status cli_read_zoom(const cli_arguments *arguments, bool *all, carom_error *error);
#define CLI_ZOOM_HELP                                                                                                                      \
    "the axes fit the sets, and arrows at the edge point to laws and starts beyond it (set, the default), or everything (all)"
/// A carom_plot_report that appends the path of a picture to a JSON list.
void cli_note_file(void *files, const char *path);
/// The name and summary of a law, integrator or solver; false for a solver that this build does not have.
bool cli_describe_entry(const carom_registry *registry, carom_registry_kind kind, int index, const char **name, const char **summary);
/// Prints them all, one a line, and returns EXIT_DONE.
int cli_list(const carom_registry *registry, carom_registry_kind kind);

/// Extent {normal: [[min, max]...], tangent: [[min, max]...]}, null without outcomes.
json_t *cli_extent_json(const carom_extent *extent);
/// Adds a sentence to the list `caveats` of a document, which is there from then on; nothing for an empty one.
/// @return whether there is a sentence
bool cli_add_caveat(json_t *document, const char *sentence);
/// Stands after a number of an outcome that may lie outside the set, where carom_outcomes_caveat says why.
#define CLI_OUTSIDE "*"
/// Adds `normal_velocity` and `tangent_velocity` of a contact velocity, contact-major, to an object.
void cli_add_contact_velocity(json_t *object, const carom_impact *impact, const double *u);
/// Prints generalised velocities [nv] by the names of their joints, in a few lines unless they are to be `full`.
void cli_print_velocities(const char *label, const carom_impact_data *data, const double *v, bool full);
/// The names of the velocities, null where they have none.
json_t *cli_joints_json(const carom_impact_data *data);
/// Where velocity and friction of the scene's impact may be, for exact sets and bounds; nothing where nothing is uncertain.
/// @param start  its vertices; they belong to the support
/// @return CAROM_UNSUPPORTED where the pose is uncertain, or restitution with `bounces`
carom_status cli_find_support(const carom_scene *scene, bool bounces, carom_uncertain_support *support, carom_exact_start *start,
                              carom_error *error);
/// The names of what is uncertain; for people the end of a line with them.
json_t *cli_parameters_json(const carom_uncertainty *uncertainty);
void cli_print_parameters(const carom_uncertainty *uncertainty);
/// Adds the columns of the result row, the verdict included, to an object.
void cli_add_result(json_t *document, const carom_table *result);
/// Prints the doc of every yes-or-no column of a result row, from a column on, that says yes.
void cli_print_findings(const carom_table *result, int first);

// -------------------------------------------------------------------------------------------------------- computations

/// Threads, Ctrl-C and the progress bar of one computation. Signals are caught from the first call on.
carom_status cli_start_control(const cli_arguments *arguments, carom_control *control, carom_error *error);
/// Was the computation stopped by Ctrl-C or a signal to end?
bool cli_interrupted(void);
/// Removes the progress bar.
void cli_end_progress(void);

/// A law to be asked, and how its outcomes are treated on their way.
typedef struct cli_question {
    const cli_arguments *arguments;
    const carom_scene *scene;
    const carom_law *law;
    const carom_control *control;
    carom_result_writer *writer;  ///< of the file that the outcomes go into; NULL: no file
    bool strict;                  ///< as in cli_apply_owner
    bool keep_outcomes;           ///< in the answer
    bool collect_points;
    carom_extent *members;                 ///< that takes in those outcomes that are in the set for certain; NULL: none does
    carom_joint_modes *modes;              ///< that take the outcomes in; NULL: none do
    const carom_uncertainty *uncertainty;  ///< of the impact; then the law has its columns, too. NULL: everything is known
    int64_t draws;      ///< of an uncertain impact, the same for every law; 0: as the options of sampling say, the only law that may ask so
    int64_t draw_seed;  ///< of these draws
    /// Where velocity and friction may be, for a law that answers for all of it at once (cli_takes_all); NULL: of the scene's own numbers.
    const carom_uncertain_support *support;
    const carom_exact_start *start;  ///< its vertices
    int threads;                     ///< of the law's steps, whose need is announced when its options have been accepted; 0: no word
} cli_question;

/// At most so many contact velocities are collected: 2^22 are some hundred megabytes.
enum { CLI_MOST_POINTS = 1 << 22 };

/// Contact velocities of outcomes.
typedef struct cli_points {
    const carom_impact *impact;
    int n;  ///< size of contact space
    int64_t count, capacity;
    double *u;     ///< [count x n] contact-major
    bool dropped;  ///< there were too many, and there are none now
} cli_points;

/// One law's answer with what came along.
typedef struct cli_run {
    const carom_law *law;
    carom_answer answer;   ///< outcomes only where they were kept
    carom_extent *extent;  ///< of all outcomes
    cli_points *points;    ///< of all outcomes; NULL where they were not asked for
    double seconds;
    int unused;                  ///< of what is given, as carom_law_unused
    const char *hypothesis;      ///< carom_law_hypothesis; NULL: none
    carom_interval restitution;  ///< carom_law_restitution; NaN where the law uses none
} cli_run;

/// What a law that is asked by name would pass over in silence: restitution on the command line that has no meaning, and values of the
/// scene that the law cannot take although the scene names it.
/// @param options  the law's, as they are in the end
carom_status cli_check_law_options(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law, void *options,
                                   carom_error *error);
/// `--restitution` for a law that does not bounce with its other options.
carom_status cli_refuse_restitution(const carom_law *law, carom_error *error);
/// The options of a question's law: its defaults, then a preset (option, value, ..., NULL; may be NULL), the scene, the command line.
/// @param options  to be freed, also after a failure
carom_status cli_prepare_options(const cli_question *question, const char *const *preset, void **options, carom_error *error);
/// Does the law give one set for all that is uncertain, in place of answers for draws?
bool cli_takes_all(const carom_law *law);
/// Makes a question about such a law one for all that is uncertain in the scene.
/// @param options  the law's, which say whether contacts bounce
/// @param support, start  to which the question points afterwards; the support is to be freed, also after a failure
/// @return CAROM_UNSUPPORTED as cli_find_support
carom_status cli_ask_for_all(cli_question *question, const void *options, carom_uncertain_support *support, carom_exact_start *start,
                             carom_error *error);
/// Asks with options that are made already. Outcomes go into a group of the writer's file or, without a writer, into the answer.
carom_status cli_resolve_law(const cli_question *question, const void *options, carom_answer *answer, carom_error *error);
/// The same, with extent, time and what else the question wants of the outcomes. Their file is the caller's, who writes the result row.
/// @param file  receives the outcomes, too, or NULL
/// @param run   all zero but for the law
carom_status cli_ask_law(const cli_question *question, const void *options, const carom_sink *file, cli_run *run, carom_error *error);
/// Asks a law with the options of scene and command line, and files its outcomes.
carom_status cli_run_law(const cli_question *question, cli_run *run, carom_error *error);
void cli_run_release(cli_run *run);

/// What --max EXPR or --min EXPR asks for: a functional, with its sign turned for a minimum, so that all are maxima.
typedef struct cli_objective {
    const char *expression;
    bool minimum;
    carom_functional functional;
} cli_objective;

/// The objectives of the command line, in its order, to be released one by one, also after a failure.
/// @param objectives  [arguments->count + 1]
/// @return CAROM_BAD_INPUT for an expression that is not understood, and where there is none
carom_status cli_read_objectives(const cli_arguments *arguments, const carom_impact *impact, cli_objective *objectives, int *count,
                                 carom_error *error);
/// One of them.
carom_status cli_read_objective(const carom_impact *impact, const char *expression, bool minimum, cli_objective *objective,
                                carom_error *error);

/// Says on stderr what a run will need before it takes a gigabyte or a minute: the matrices of its steps, and the time of its samples.
/// @param sampled  it takes samples
/// @return CAROM_OUT_OF_MEMORY when that is more than there is
carom_status cli_announce_need(const cli_arguments *arguments, const carom_scene *scene, bool sampled, int threads, carom_error *error);
/// Would this law need gigabytes or hours on this scene, which a comparison with others does not ask for?
bool cli_needs_too_much(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law);
enum { CLI_SAMPLE_MATRICES = 5 };  ///< dense LCP matrices that each thread holds at once, as measured
/// Do steps of this impact have so many LCP variables that one may take a minute? They are contacts (edges + 3).
bool cli_step_is_large(const carom_impact *impact, int edges, double *variables);
/// The exit status that an answer means.
int cli_exit_status(const carom_answer *answer);
/// Finds the option that a refusal is about, whose message then begins with "NAME: ". When the command line gives that option, the message
/// becomes one about its flag, and the answer is NULL: only an option of the scene is still to be placed.
const carom_option *cli_blame(const cli_arguments *arguments, const carom_option *rows, int count, carom_error *error);
/// Adds to the library's refusal of an option's value where the value came from: the command line or the scene. Other errors stay as
/// they are.
/// @param rows  [count] options that were set
void cli_place_error(const cli_arguments *arguments, const carom_scene *scene, const carom_option *rows, int count, carom_error *error);

// ------------------------------------------------------------------------------------------------------------ commands

extern const cli_command cli_info, cli_resolve, cli_sample, cli_exact, cli_bound, cli_compare, cli_query, cli_hodograph, cli_simulate,
    cli_compliant, cli_lcp, cli_measure, cli_draw, cli_plot, cli_explore, cli_bench, cli_design, cli_docs, cli_modes, cli_sweep, cli_worst,
    cli_replay;
/// All of them, NULL-terminated.
extern const cli_command *const cli_commands[];

#endif
