// SPDX-License-Identifier: Apache-2.0
/// @file
/// Inside `carom sweep`: its points and changes, and their picture.
#ifndef CAROM_CLI_SWEEP_H
#define CAROM_CLI_SWEEP_H

#include "carom/pose.h"
#include "carom/vary.h"
#include "cli/modes/modes.h"

enum { SWEEP_MOST_PARAMETERS = 2, SWEEP_MOST_POINTS = 100000 };

/// NAME=FROM:TO:STEP
typedef struct sweep_axis {
    char name[CAROM_MAX_NAME + 32];
    carom_parameter parameter;
    int coordinate;  ///< of the pose, instead; -1: it is no coordinate
    double from, step;
    int count;
} sweep_axis;

/// The modes at one point.
typedef struct sweep_point {
    double values[SWEEP_MOST_PARAMETERS];
    cli_found_modes found;
    int list;  ///< number of its list of modes, in the order in which lists first appear
} sweep_point;

/// Between two values of the first parameter, closer than the resolution, the list of modes changes.
typedef struct sweep_change {
    double value;               ///< of the first parameter, in their middle
    double other;               ///< of the second
    sweep_point before, after;  ///< at the two values
} sweep_change;

/// A law that is asked at each point.
typedef struct sweep_law {
    const carom_law *law;
    void *options;
    carom_column *columns;  ///< of its outcomes, and the point
    carom_table *outcomes;
    char **refusals;  ///< [points] why it has no answer at a point; NULL: it has one, or the array: it has one everywhere
    int refusal_count;
} sweep_law;

typedef struct sweep {
    const cli_arguments *arguments;
    carom_scene *scene;
    const carom_impact *impact;
    carom_scene_pose *pose;  ///< NULL where no coordinate of it varies
    cli_mode_finder finder;
    sweep_axis axes[SWEEP_MOST_PARAMETERS];
    int axis_count;
    sweep_point *points;  ///< [count] the first parameter runs fastest
    int count;
    sweep_change *changes;  ///< [change_count]
    int change_count, change_room;
    sweep_law *laws;  ///< [law_count] that are asked at each point
    int law_count;
    bool unfinished;     ///< a law has no answer at some point, or none that is complete
    bool finished;       ///< no point and no answer of a law is missing
    const char *figure;  ///< where the picture or the file is; NULL: none
} sweep;

/// "a" to "z", then "27", ...
enum { SWEEP_LETTER_SIZE = 16 };
const char *sweep_letter(int list, char letter[SWEEP_LETTER_SIZE]);
/// Do two certified lists hold the same modes?
bool sweep_same_modes(const carom_joint_modes *a, const carom_joint_modes *b);
/// Writes what the contacts do: "A stick | B lift".
void sweep_put_motions(FILE *file, const carom_impact *impact, const carom_joint_mode *mode);
/// Least and largest velocity of all modes, of a contact's normal or of a tangent; NaN without modes.
void sweep_extent(const carom_joint_modes *modes, int index, bool tangent, double range[2]);

/// The laws that the command line names, with the options of the scene.
carom_status sweep_read_laws(sweep *s, carom_error *error);
/// Asks them about the impact of a point. A law that refuses it is left out there, with its reason.
carom_status sweep_ask_laws(sweep *s, const carom_impact *impact, int point, carom_error *error);
/// Their outcomes at a point, by their names.
json_t *sweep_laws_json(const sweep *s, int point);
/// Of the laws that have no answer at a point, why.
json_t *sweep_refusals_json(const sweep *s, int point);
/// May an outcome of a law lie outside the set?
bool sweep_lies_outside(const carom_table *outcomes, int64_t row);
void sweep_print_laws(const sweep *s, int point);
void sweep_release_laws(sweep *s);

/// Does the name end as that of an HDF5 file?
bool sweep_is_table(const char *path);
/// Writes points, changes and outcomes of laws as tables, and commits the file.
carom_status sweep_write_tables(const sweep *s, carom_result_writer *writer, bool finished, carom_error *error);

/// Draws the extents over one parameter, with --map the modes, or the map of lists of modes over two.
carom_status sweep_write_figure(const sweep *s, const char *path, carom_error *error);

#endif
