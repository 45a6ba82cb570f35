// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `carom compare` computes and shows: the answers of all laws, the figures, and the page with both.
#ifndef CAROM_CLI_COMPARE_COMPARE_H
#define CAROM_CLI_COMPARE_COMPARE_H

#include "cli/cli_internal.h"

/// How far the outcomes of a law and the exact set are from each other, in contact velocities [m/s].
typedef struct cli_distance {
    bool known;
    double outside;   ///< of the farthest outcome from the set
    double coverage;  ///< of the farthest point of the set from the outcomes: they are an eps-net of the set for no smaller eps
    double gap;       ///< how far above its number either may lie; 0 for sets of dimension up to 2
    double *worst;    ///< [n] the point of the set that is that far from the outcomes
} cli_distance;

/// What a simulator shows of the set, see simulator.h.
typedef struct cli_coverage cli_coverage;
/// What a directed search reaches, and samples miss.
typedef struct cli_search cli_search;

/// The answers of all laws to one scene.
typedef struct cli_comparison {
    const cli_arguments *arguments;
    const carom_scene *scene;
    const carom_impact *impact;            ///< of the scene
    const carom_uncertainty *uncertainty;  ///< of the impact; NULL: everything is known
    int64_t draws;                         ///< of it, the same for every law
    carom_law *drawn_laws;                 ///< the laws with the columns of what is drawn; NULL: everything is known
    cli_run *runs;                         ///< one for each law, and one for a simulator
    int count;
    carom_joint_modes *modes;  ///< that the samples of the set show; NULL: there are none
    /// Of the outcomes that are in the set for certain: samples without the flag `approximate`, walks, and what else the search for what
    /// samples miss finds; NULL without samples.
    carom_extent *members;
    cli_distance *distances;  ///< [count]; NULL where there is no exact set
    cli_coverage *coverage;   ///< NULL without a simulator
    cli_search *search;       ///< NULL without samples, where it is not asked for either
    bool interrupted;         ///< the user asked to stop: something may be missing
    json_t *left_out;         ///< names of laws that take no part
    json_t *reasons;          ///< why, in the same order
    json_t *files;            ///< paths that were written
} cli_comparison;

/// A contact velocity as it is shown: zero when it counts as rest, which the modes do too. JSON and files keep every digit.
double cli_show_velocity(const cli_comparison *comparison, double velocity);
/// The share of `count` outcomes: "12.5 %". "0 %" and "100 %" stand for none and all of them only.
void cli_describe_share(int64_t count, int64_t outcomes, char *text, size_t size);
/// Does some law use a coefficient of restitution that is not 0, or leave it unused?
bool cli_bounces(const cli_comparison *comparison);
enum { CLI_RESTITUTION_SIZE = 64 };
/// The coefficients of restitution that a law uses and what they mean to it, "poisson 0.5 to 0.8"; "-" where it uses none.
void cli_describe_restitution(const cli_run *run, char text[CLI_RESTITUTION_SIZE]);

// -------------------------------------------------------------------------------------------------------------- choice

/// @return CAROM_BAD_INPUT where --laws or --without names no law, or the two leave none
carom_status cli_check_choice(const cli_arguments *arguments, carom_error *error);
/// Do --laws and --without leave this law?
bool cli_is_chosen(const cli_arguments *arguments, const char *law);
/// Is the law's answer elastic, of an impact in which nothing bounces, and nobody asked for it or for restitution?
bool cli_is_beside_the_question(const cli_arguments *arguments, const carom_scene *scene, const carom_law *law);

// ----------------------------------------------------------------------------------------------------------- distances

/// The law that gives the exact set, NULL where none does; and that set, from its points, which must not have been dropped.
const cli_run *cli_find_exact(const cli_comparison *comparison);
/// The law that answers for all that is uncertain at once; NULL where none does, or nothing is uncertain.
const cli_run *cli_find_whole(const cli_comparison *comparison);
/// Is the answer a certified outer set, as that of an interval of friction is?
bool cli_is_outer(const cli_run *run);
carom_status cli_make_exact_set(const cli_run *run, carom_set **set, carom_error *error);
/// Measures the distances of all laws from the exact set, where a law gives it.
carom_status cli_measure_distances(cli_comparison *comparison, const carom_control *control, carom_error *error);
void cli_release_distances(cli_comparison *comparison);
/// Is the distance of this law known? Not for the exact set itself, nor for more than CLI_MOST_POINTS outcomes.
bool cli_distance_known(const cli_comparison *comparison, int run);
bool cli_any_distance_known(const cli_comparison *comparison);
/// {outside, coverage, hausdorff, gap, worst_point}; null where it is not known.
json_t *cli_distance_json(const cli_comparison *comparison, int run);

// -------------------------------------------------------------------------------------------------------------- search

/// Measures how far the farthest of some other members of the set is from the samples: a lower bound of what they miss, with or without an
/// exact set. Members are walks with single and with constant weights and, where the command line asks for it, what a search finds both
/// ways along each axis of contact velocities.
carom_status cli_search_run(cli_comparison *comparison, const carom_control *control, carom_error *error);
void cli_search_free(cli_search *search);
/// {evaluations, directions, extent}; null where nobody asked.
json_t *cli_search_json(const cli_comparison *comparison);
/// {distance, by, members, point}; null without samples.
json_t *cli_missed_json(const cli_comparison *comparison);
void cli_search_print(const cli_comparison *comparison, FILE *file, const char *line_start);

// ------------------------------------------------------------------------------------------------------------- figures

enum { CLI_FIGURE_NAME_SIZE = 128 };

/// One figure: a plane of contact velocities with the outcomes of all laws.
typedef struct cli_figure {
    int axis[2];                      ///< contact velocities, numbered as in carom_axes: two normal, two tangential, or one of each
    char *axes;                       ///< as `carom plot --axes` takes them
    char *caption;                    ///< plain text
    char name[CLI_FIGURE_NAME_SIZE];  ///< of the file without its ending: letters, digits, '.', '_' and '-' only
} cli_figure;

/// The name of the mechanism's figure, without ending.
#define CLI_MECHANISM_FIGURE "figure-mechanism"

/// Contacts with figures; of more, those with the largest extents.
enum { CLI_MOST_FIGURE_CONTACTS = 5 };

/// The figures of a comparison, in the order of the page.
typedef struct cli_figures {
    cli_figure *list;
    int count;
    bool chosen;     ///< there are more contacts than get figures
    bool mechanism;  ///< a figure shows it: the scene has bodies
} cli_figures;

/// Chooses: every pair of contacts in which a normal velocity has an extent, then the planes of single contacts whose tangential velocity
/// has one. One figure where nothing has any extent, none where there are no outcomes.
carom_status cli_figures_choose(const cli_comparison *comparison, cli_figures *figures, carom_error *error);
void cli_figures_free(cli_figures *figures);
/// Draws all as PNG, with --svg also as SVG, and notes the files. When one fails, or the command is interrupted, none of them is left; the
/// latter is no error.
carom_status cli_figures_draw(const cli_comparison *comparison, const cli_figures *figures, const char *directory, const char *result,
                              carom_error *error);

// ---------------------------------------------------------------------------------------------------------------- page

/// The page's file names.
#define CLI_PAGE      "index.md"
#define CLI_HTML_PAGE "index.html"

/// Makes sure that DIRECTORY/index.md is ours to write: that it is missing, or the page of an earlier comparison.
carom_status cli_page_check(const char *directory, carom_error *error);
/// What is to be said of outcomes that may lie outside the set, of all laws together.
/// @return whether some may
bool cli_compare_caveat(const cli_comparison *comparison, char caveat[CAROM_CAVEAT_SIZE]);
/// What is given and laws of the comparison do not use, all in one sentence of each kind.
void cli_compare_unused(const cli_comparison *comparison, carom_caveats *caveats);
/// Stands in Markdown behind a number of an outcome that may lie outside the set: CLI_OUTSIDE or nothing.
const char *cli_outside_mark(const cli_run *run);
/// Writes text that Markdown shows as it is, in a paragraph, a heading or a table.
void cli_put_text(FILE *file, const char *text);
/// Writes the page's first part, in sentences: joint contact modes, the extremes of the set, and the laws with one answer.
carom_status cli_put_possible(FILE *file, const cli_comparison *comparison, carom_error *error);
/// Writes the page into a folder, as Markdown and as HTML with its pictures in it, and notes the files.
/// @param directory  that it is for, which it names
carom_status cli_page_write(const cli_comparison *comparison, const cli_figures *figures, const char *folder, const char *directory,
                            carom_error *error);

#endif
