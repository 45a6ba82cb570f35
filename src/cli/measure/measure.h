// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `carom measure` computes and shows: laws against measured impacts, by parts of the impacts.
#ifndef CAROM_CLI_MEASURE_MEASURE_H
#define CAROM_CLI_MEASURE_MEASURE_H

#include "carom/temporary.h"
#include "cli/cli_internal.h"
#include "cli/compare/stage.h"

enum {
    MEASURE_NAME = 96,
    MEASURE_SENTENCE = 256,
    MEASURE_EDGES = 32,  // of the cones of floor and null set in space
};

/// Impacts that are reported together: of one kind, or of one range of speeds.
typedef struct measure_part {
    char name[MEASURE_NAME];
    int *members;  ///< [count] indices of impacts
    int count;
    double friction;  ///< of floor and null set; NaN: each impact's own
} measure_part;

/// The whole run.
typedef struct measure_run {
    const cli_arguments *arguments;
    carom_control control;
    carom_measurements measurements;

    int law_count;
    const carom_law **laws;    ///< [law_count]
    void **options;            ///< [law_count] their option structs
    carom_measure_law *asked;  ///< [parts x law_count]
    carom_measure_fit *fits;   ///< [parts x law_count]; not finished: nothing was fitted
    /// [parts x law_count] intervals of restitution of sampled sets; not finished, or NaN: nothing was fitted
    carom_measure_interval *intervals;
    json_t *left_out, *reasons;  ///< laws that take no part, and why

    measure_part *parts;
    int part_count;
    int *part;                                     ///< [impacts]
    carom_interval friction;                       ///< of all contacts; NaN: each impact's own
    carom_measure_fit common;                      ///< the fit of friction to single contacts; not finished: there was none
    int lacking;                                   ///< impacts without a friction of their own, which have that of the fit
    bool fit_friction, fit_restitution, held_out;  ///< held out: only odd groups are evaluated
    double tolerance, share;  ///< within which an outcome is explained; what a fitted interval of restitution is to hold
    int64_t draws, null_points;
    bool identify, identify_com;
    carom_measure_identification identified;

    carom_table *impacts, **rows;  ///< rows [law_count]
    json_t *files;
    carom_arena arena;
} measure_run;

/// Numbers of one law in one part.
typedef struct measure_summary {
    int count, unanswered;                 ///< impacts that were evaluated; those without an outcome
    double median, p95, within_5, within;  ///< of the errors; shares within 5 % and within the tolerance
    double radius, score;                  ///< median radius, mean energy score
    double chi2, freedom;                  ///< sums; freedom less the fitted parameters; NaN without covariance
    double contained;                      ///< share of impacts within the 95 % region; NaN without covariance
    int64_t members, approximate;          ///< outcomes in all, and those of them that may lie outside the set
} measure_summary;

/// Numbers of one part without a law: medians, but for the mean score and the share of failed lever tests.
typedef struct measure_ground {
    int evaluated;
    double floor, floor_cone, null, null_score, null_radius, lever, lever_failed;
} measure_ground;

/// Chooses laws and their options, from `--law` and the command line.
carom_status measure_choose_laws(measure_run *run, carom_error *error);
/// Says on stderr which laws take no part because of a value of the command line, and what --fit asked for in vain.
void measure_note(const measure_run *run);
/// Divides the impacts, by `--by`.
carom_status measure_divide(measure_run *run, carom_error *error);
/// Finds the friction where nobody gives it, and what `--fit` asks for.
carom_status measure_fit(measure_run *run, carom_error *error);

/// Is this impact evaluated? The training half is not, where anything was fitted.
bool measure_evaluated(const measure_run *run, int impact);
void measure_summarise(const measure_run *run, int part, int law, measure_summary *summary);
void measure_describe_ground(const measure_run *run, int part, measure_ground *ground);
/// Friction and restitution of a law in a part as ranges [least, most], equal where it is one number; NaN where each impact has its own, or
/// the law has none.
void measure_parameters(const measure_run *run, int part, int law, carom_interval *friction, carom_interval *restitution);
/// What was fitted as an interval of restitution, in one sentence; an empty text where nothing was.
void measure_describe_interval(const measure_run *run, int part, int law, char *text, size_t size);
/// What is to be said of outcomes that may lie outside their sets, of all laws that have such; an empty text where none may.
bool measure_caveat(const measure_run *run, char caveat[CAROM_CAVEAT_SIZE]);
/// Why a part has no numbers; NULL where it has.
const char *measure_silence(const measure_run *run, int part);
/// Was friction fitted together with a restitution that the laws do not take?
bool measure_takes_friction_only(const measure_run *run);

/// The page's file name, and the first line, by which a page is known as ours.
#define MEASURE_PAGE "index.html"
extern const carom_file_kind measure_page_kind;

/// A picture, and what stands below it on the page.
typedef struct measure_figure {
    char name[2 * MEASURE_NAME];     ///< of the file without its ending
    char caption[4 * MEASURE_NAME];  ///< plain text
} measure_figure;

enum { MEASURE_MOST_FIGURES = 48 };

typedef struct measure_figures {
    measure_figure list[MEASURE_MOST_FIGURES];
    int count;
} measure_figures;

/// The law with the least median error in a part; -1 where none has an outcome.
int measure_best_law(const measure_run *run, int part);
/// Impacts of a part that are evaluated, by their errors under a law, the largest first.
/// @param ranked  [measurements.count]
/// @return their number
int measure_rank(const measure_run *run, int part, int law, int *ranked);

/// Draws errors, parameters over speed, and sets with measured outcomes. An interruption leaves fewer of them, and is no error.
carom_status measure_draw(const measure_run *run, const char *folder, measure_figures *figures, carom_error *error);
/// Makes the directory and the folder in it, before anything is computed: whether files may be written is known then.
/// @param stage  to be freed, also after a failure
carom_status measure_begin_files(const char *directory, cli_stage *stage, carom_error *error);
/// Writes tables and results: measure.h5, measure.json, the figures and the page.
carom_status measure_write(measure_run *run, bool complete, cli_stage *stage, carom_error *error);
/// Writes the page into a folder and notes the file.
carom_status measure_write_page(const measure_run *run, const measure_figures *figures, const char *folder, carom_error *error);

json_t *measure_json(const measure_run *run, bool complete);
void measure_print(const measure_run *run);

#endif
