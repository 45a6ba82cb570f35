// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files: scenes in, result files and pictures out. In libcarom-io.
#ifndef CAROM_IO_H
#define CAROM_IO_H

#include "carom/dynamics.h"
#include "carom/model.h"
#include "carom/polyhedra.h"

CAROM_API_BEGIN

// -------------------------------------------------------------------------------------------------------------- scenes

/// A scene file, read, checked and turned into an impact.
typedef struct carom_scene carom_scene;

/// Reads a YAML or JSON scene that holds an impact. All keys are checked; keys under `impact` must be `law` or an option of some law in
/// `registry`.
/// @return CAROM_BAD_INPUT with "FILE:LINE: KEY: rule", CAROM_IO_FAILED when the file cannot be read
carom_status carom_scene_read(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error);
/// Reads a scene of any form for an integrator; keys under `simulate` must be `integrator` or an option of some integrator in `registry`.
carom_status carom_scene_read_motion(const char *path, const carom_registry *registry, carom_scene **scene, carom_error *error);
void carom_scene_free(carom_scene *scene);

const char *carom_scene_path(const carom_scene *scene);
/// The `name` key; the file's stem when left out.
const char *carom_scene_name(const carom_scene *scene);
/// SHA-256 of the scene's bytes and, where it names one, of its model file's bytes.
const char *carom_scene_hash(const carom_scene *scene);
/// NULL for a form without impact, which carom_scene_read does not give.
const carom_impact *carom_scene_impact(const carom_scene *scene);
/// The scene as integrators take it.
const carom_motion *carom_scene_motion(const carom_scene *scene);
/// The model of a scene with `model`, at the scene's state; NULL for other forms. Not to be shared between threads.
carom_model *carom_scene_model(const carom_scene *scene);
/// The mechanism of a scene with `model` and a list of contacts that was read by carom_scene_read_motion.
/// @return CAROM_UNSUPPORTED with what the mechanism has that systems do not, CAROM_BAD_INPUT for scenes of another form
carom_status carom_scene_system(const carom_scene *scene, const carom_system **system, carom_error *error);
/// `impact: law`, NULL when left out.
const char *carom_scene_law(const carom_scene *scene);
/// `simulate: integrator`, NULL when left out.
const char *carom_scene_integrator(const carom_scene *scene);
/// Warnings for the user (asymmetric W, skewed tangents, ...), each one sentence.
int carom_scene_warnings(const carom_scene *scene);
const char *carom_scene_warning(const carom_scene *scene, int index);

/// Sets the options that the scene's `impact` gives among `rows`; keys of other laws are skipped.
/// @return CAROM_BAD_INPUT with file, line, key and rule
carom_status carom_scene_apply(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error);
/// The same for `simulate`, of integrators.
carom_status carom_scene_apply_simulate(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error);

/// The same for `compliant`, all of whose keys must be among `rows`.
carom_status carom_scene_apply_compliant(const carom_scene *scene, const carom_option *rows, int count, void *options, carom_error *error);

/// Says in `error`, whose message begins with "KEY: ", where the scene's `impact` gives this option: for rules that only a law can check.
/// @return false, and nothing is changed, when the scene does not give it
bool carom_scene_place_error(const carom_scene *scene, const char *key, carom_error *error);
/// The same for `simulate`.
bool carom_scene_place_simulate_error(const carom_scene *scene, const char *key, carom_error *error);
/// The same for a key of the scene itself, written with dots: "initial.attitude"; as much of it as the scene has.
void carom_scene_place_key_error(const carom_scene *scene, carom_error *error);

// ------------------------------------------------------------------------------------------------------------ families

/// A scene as a function of named numbers: coordinates and parameters. For scenes with `model`, coordinates are its slide and hinge joints,
/// parameters those of the scene; for `balls`, x1, y1, x2, ... and the masses m1, m2, ...
typedef struct carom_family carom_family;

/// The family over what the scene's `design` calls free. Not to be shared between threads.
/// @param scene  borrowed as long as the family lives
/// @return CAROM_BAD_INPUT where the scene has no `design`, for a name that is no coordinate or parameter, and for scenes of another form;
///         contacts of a model must be listed, each of one place, whose distance from a plane of the world is their gap
carom_status carom_family_create(carom_scene *scene, carom_family **family, carom_error *error);
void carom_family_free(carom_family *family);

int carom_family_variables(const carom_family *family);
const char *carom_family_variable(const carom_family *family, int variable);
/// The scene's own values, [variables].
const double *carom_family_start(const carom_family *family);
/// Units of the variables, [variables]: how far each may move, relative to the others.
const double *carom_family_scale(const carom_family *family);

/// The impact at x with the scene's velocity, and the changes of the gaps against the scene [contacts]. Contacts count as touching.
/// @return CAROM_BAD_INPUT where there is none, as for a mass below zero
carom_status carom_family_evaluate(carom_family *family, const double *x, carom_impact **impact, double *gaps, carom_error *error);

/// What the scene's `design` asks for: pairs of contacts and the cosine between their normals.
int carom_family_pairs(const carom_family *family);
/// Indices of a pair's contacts.
const int *carom_family_pair(const carom_family *family, int pair);
double carom_family_target(const carom_family *family);

/// The position at x: qpos of a model, coordinates of balls; `*count` numbers, valid until the next call.
const double *carom_family_position(carom_family *family, const double *x, int *count);
/// The parameters at x: `*count` of them with their names, valid until the next call.
void carom_family_parameters(carom_family *family, const double *x, const char *const **names, const double **values, int *count);
/// Writes the scene at x as JSON, which is YAML; comments are not kept. Written under a temporary name and renamed.
/// @return CAROM_IO_FAILED, or CAROM_BAD_INPUT when `path` exists and is no scene
carom_status carom_family_write(carom_family *family, const double *x, const char *path, carom_error *error);

// ---------------------------------------------------------------------------------------------------------- LCP files

/// An LCP 0 <= z _|_ W z + w >= 0 read from a file; owns its arrays.
typedef struct carom_lcp_problem {
    int n;
    double *W;      ///< [n x n]
    double *w;      ///< [n]
    char *warning;  ///< one sentence for the user; NULL for none
} carom_lcp_problem;

/// Reads `{W: [[...], ...], w: [...]}` as YAML or JSON, or an FCLIB local problem (HDF5). Of the latter, the LCP is that of the
/// simultaneous impact step: friction cones linearised with 4 edges in space, 2 in the plane, rows as in carom_stepper_lcp_matrix.
/// @return CAROM_BAD_INPUT with file, line, key and rule
carom_status carom_lcp_problem_read(const char *path, carom_lcp_problem *problem, carom_error *error);
void carom_lcp_problem_release(carom_lcp_problem *problem);

// --------------------------------------------------------------------------------------------------------------- FCLIB

/// Writes the problem in contact space as an FCLIB local problem: W in compressed rows, q = the pre-impact contact velocity, mu, spacedim 2
/// or 3. Names and restitution have no place in it. Written under a temporary name and renamed when complete.
/// @param title  of the problem; any text
/// @return CAROM_IO_FAILED when the place cannot be written, CAROM_BAD_INPUT when `path` exists and is neither empty nor an HDF5 file
carom_status carom_fclib_write(const char *path, const char *title, const carom_impact *impact, carom_error *error);

// -------------------------------------------------------------------------------------------------------- result files

/// Writes one HDF5 result file: metadata and matrices at the top, one group per law or integrator.
/// The file is created at once under a temporary name beside `path` and takes its place when committed.
typedef struct carom_result_writer carom_result_writer;

/// @return CAROM_IO_FAILED when the place cannot be written, CAROM_BAD_INPUT when `path` exists and is neither empty nor an HDF5 file
carom_status carom_result_writer_create(const char *path, const carom_scene *scene, carom_result_writer **writer, carom_error *error);
/// Opens the group of `law`, records its options, and returns the sink for its outcomes (valid until the group is closed).
/// A second group of the same law in one file is refused.
carom_status carom_result_writer_open_law(carom_result_writer *writer, const carom_law *law, const void *options, carom_sink *sink,
                                          carom_error *error);
/// Records, for files that do not hold every outcome, what of them is kept (attribute `keep` of the law's group) and the extent of them
/// all (group `extent` in it).
carom_status carom_result_writer_put_extent(carom_result_writer *writer, const char *keep, const carom_extent *extent, carom_error *error);
/// Writes the law's result row (attributes of the group) and closes it.
carom_status carom_result_writer_close_law(carom_result_writer *writer, const carom_table *result, carom_error *error);
/// Opens the group of an integrator, records its options, and returns the sink for its states (valid until the group is closed).
carom_status carom_result_writer_open_motion(carom_result_writer *writer, const carom_integrator *integrator, const void *options,
                                             carom_sink *states, carom_error *error);
/// Writes impacts, final state, a table of an ensemble's members (NULL: none) and the result row, and closes the group.
carom_status carom_result_writer_close_motion(carom_result_writer *writer, const carom_motion_answer *answer, const carom_table *ensemble,
                                              carom_error *error);
/// The file's `complete` will be 0, whatever its laws and integrators say: part of what was asked for is missing.
void carom_result_writer_mark_incomplete(carom_result_writer *writer);
/// Closes the file and renames it to `path`.
carom_status carom_result_writer_commit(carom_result_writer *writer, carom_error *error);
/// Frees the writer; a file that was not committed is removed. NULL is allowed.
void carom_result_writer_free(carom_result_writer *writer);

/// A result file, open for reading.
typedef struct carom_result carom_result;

carom_status carom_result_open(const char *path, carom_result **result, carom_error *error);
void carom_result_close(carom_result *result);
const char *carom_result_scene_name(const carom_result *result);
int carom_result_contacts(const carom_result *result);
int carom_result_tangent_dim(const carom_result *result);
const char *carom_result_contact_name(const carom_result *result, int contact);
int carom_result_laws(const carom_result *result);
const char *carom_result_law_name(const carom_result *result, int law);
/// Reads a real column of one law: `*values` [rows x width], to be freed by the caller with `free`.
carom_status carom_result_read_reals(const carom_result *result, int law, const char *column, double **values, int64_t *rows, int *width,
                                     carom_error *error);
/// The same for an integer column.
carom_status carom_result_read_integers(const carom_result *result, int law, const char *column, int64_t **values, int64_t *rows,
                                        int *width, carom_error *error);
/// Reads a series column of one law: row i is `(*values)[(*offsets)[i] .. (*offsets)[i+1])`; both freed by the caller. No such column: rows
/// 0.
carom_status carom_result_read_series(const carom_result *result, int law, const char *column, double **values, int64_t **offsets,
                                      int64_t *rows, carom_error *error);
/// The impact that the file's results belong to, made from its matrices; bit for bit that of the scene.
carom_status carom_result_read_impact(const carom_result *result, carom_impact **impact, carom_error *error);

enum { CAROM_CERTIFICATE_SIZE = 16 };

/// The convex pieces of a law that has them, `halm-posa-exact`, without exact texts; `*polyhedra` is NULL for other laws.
/// @param certificate  receives what they are of the set, "exact", "inner", "outer" or "none"; may be NULL
carom_status carom_result_read_polyhedra(const carom_result *result, int law, carom_polyhedra **polyhedra,
                                         char certificate[CAROM_CERTIFICATE_SIZE], carom_error *error);

/// The outcomes of one law as a set: points, or the vertices of convex pieces where the law has an integer column `piece`, whose rows of
/// one piece follow each other.
typedef struct carom_result_set {
    int n, nv;        ///< size of contact space; generalised velocities, 0 for an impact in contact space
    int64_t points;   ///< outcomes
    int64_t pieces;   ///< convex pieces; `points` for laws whose outcomes are single velocities
    double *u;        ///< [points x n] contact velocities, contact-major [m/s]
    double *v;        ///< [points x nv] generalised velocities; NULL for an impact in contact space
    int64_t *starts;  ///< [pieces + 1] first point of each piece
    /// What it is of the set of outcomes: "exact", "inner", "outer", "none"; "samples" without pieces
    char certificate[CAROM_CERTIFICATE_SIZE];
} carom_result_set;

/// @param law  index of the law
/// @return CAROM_BAD_INPUT when the law has no outcomes
carom_status carom_result_set_read(const carom_result *result, int law, const carom_impact *impact, carom_result_set *set,
                                   carom_error *error);
void carom_result_set_release(carom_result_set *set);

// --------------------------------------------------------------------------------------------------------- velocities

/// Reads `{v: [...]}` as YAML or JSON: one generalised velocity.
/// @param v  [nv]
/// @return CAROM_BAD_INPUT with file, line, key and rule
carom_status carom_velocity_read(const char *path, int nv, double *v, carom_error *error);

// ------------------------------------------------------------------------------------------------- corners of a stream

/// Keeps of a stream of outcomes those that are corners of its convex hull in at least one of the planes of two contact velocities, which
/// are the planes of pictures: the hulls drawn of what is kept are those of the whole stream, to 1e-9 of their extents.
/// Depends on the outcomes and their order alone, not on how they are cut into blocks. Memory grows with the corners: for a set with smooth
/// edges as the cube root of the number of outcomes, and never beyond about 1e5 for each plane.
/// Cost: each outcome, n(n-1)/2 planes times the corners of a hull. Not to be shared between threads.
typedef struct carom_hull_filter carom_hull_filter;

enum { CAROM_MOST_HULL_AXES = 64 };  ///< contact velocities, normal and tangential

/// For outcomes with `own_count` columns behind the common ones; impact and columns are borrowed.
/// @return CAROM_UNSUPPORTED beyond CAROM_MOST_HULL_AXES
carom_status carom_hull_filter_create(const carom_impact *impact, const carom_column *own, int own_count, carom_hull_filter **filter,
                                      carom_error *error);
void carom_hull_filter_free(carom_hull_filter *filter);
/// Receives the stream.
carom_sink carom_hull_filter_sink(carom_hull_filter *filter);
/// What is kept of the stream so far, in the order in which it came; valid until more is received.
carom_status carom_hull_filter_outcomes(carom_hull_filter *filter, const carom_table **outcomes, carom_error *error);

// ----------------------------------------------------------------------------------------------------------- polyhedra

/// May text be written at `path`: is nothing there, or an empty file, or one of these? As carom_polyhedra_write.
carom_status carom_polyhedra_check(const char *path, carom_error *error);
/// Writes sets of contact velocities as text, by constraints and by vertices (docs/exact.md has the format). Written under a temporary name
/// and renamed.
/// @param outer  a second set that contains the first; may be NULL
/// @return CAROM_IO_FAILED when the place cannot be written, CAROM_BAD_INPUT when `path` exists and is neither empty nor such a file
carom_status carom_polyhedra_write(const char *path, const carom_scene *scene, const carom_polyhedra *set, const carom_polyhedra *outer,
                                   carom_error *error);

// ----------------------------------------------------------------------------------------------------------------- VTK

typedef struct carom_vtk_array {
    const char *name;  ///< without blanks
    int components;
    const double *values;  ///< [points x components]
} carom_vtk_array;

/// Points with data, at one time.
typedef struct carom_vtk_points {
    const char *title;  ///< one line
    double time;
    int64_t count;
    const double *positions;  ///< [count x 3]
    const carom_vtk_array *arrays;
    int array_count;
} carom_vtk_points;

/// One file of a series: its name, beside the list, and its time.
typedef struct carom_vtk_step {
    char *name;
    double time;
} carom_vtk_step;

/// Does the name end in .vtk or .vtp?
bool carom_vtk_is_name(const char *path);
/// Writes points as text that ParaView reads: legacy VTK, or XML PolyData where the name ends in .vtp.
/// @return CAROM_IO_FAILED; CAROM_BAD_INPUT for another ending, or when `path` exists and is not such a file
carom_status carom_vtk_write(const char *path, const carom_vtk_points *points, carom_error *error);
/// Writes the list of a series (`NAME.vtk.series`), which ParaView opens as an animation.
carom_status carom_vtk_write_series(const char *path, const carom_vtk_step *steps, int64_t count, carom_error *error);

// ------------------------------------------------------------------------------------------------------------ pictures

typedef enum carom_plot_style {
    CAROM_PLOT_DOTS,    ///< a sampled set
    CAROM_PLOT_MARKS,   ///< single outcomes
    CAROM_PLOT_PATH,    ///< line with small marks: a velocity path
    CAROM_PLOT_DASHES,  ///< closed dashed line: a convex hull
    CAROM_PLOT_TRACES,  ///< thin lines: velocity paths of single samples
    CAROM_PLOT_LINE,    ///< line: a function of time, an outline
    CAROM_PLOT_GUIDE,   ///< dashed line: what a picture is read by
    CAROM_PLOT_AREAS,   ///< filled polygons with outlines, a NaN between them; segments and points have only an outline
} carom_plot_style;

typedef struct carom_plot_series {
    const char *label;  ///< in the key; "" for none
    carom_plot_style style;
    int64_t count;
    const double *x, *y;  ///< [count]; a NaN breaks a path, trace, line or outline, or separates areas
} carom_plot_series;

typedef struct carom_plot {
    const char *title, *x_label, *y_label;  ///< any UTF-8 text; shown as it is
    const carom_plot_series *series;
    int series_count;
    bool focus;  ///< the ranges of the axes leave paths and traces out, which then run out of the picture
    bool equal;  ///< one unit is as long on both axes
} carom_plot;

/// Draws with gnuplot into `path`, PNG or SVG by its ending; written under a temporary name and renamed.
/// @return CAROM_UNSUPPORTED when gnuplot is missing, CAROM_BAD_INPUT for another ending, nothing to draw, or when `path` exists and is not
///         such a picture, CAROM_IO_FAILED
carom_status carom_plot_write(const carom_plot *plot, const char *path, carom_error *error);

/// Vertices of the convex hull of `count` points in the plane, counter-clockwise; `hull` receives indices, room for `count`.
/// Flat sets give their two end points, single points one. Coordinates within 1e-12 of the extent count as equal.
carom_status carom_plot_hull(const double *x, const double *y, int64_t count, int64_t *hull, int64_t *vertices, carom_error *error);

/// Pictures of a result file: one for each pair of axes, all laws overlaid.
typedef struct carom_plot_request {
    const char *axes;  ///< "Jn.A,Jn.B"; NULL: chosen, see docs/plots.md
    /// Name of the picture when it ends in .png or .svg, or `axes` are given; otherwise a prefix that "-Jn.A-Jn.B.png" is added to, with _
    /// for what file names may not hold. NULL: the name of the result file without its ending is the prefix.
    const char *output;
    bool svg;    ///< write an SVG beside every PNG
    bool focus;  ///< the axes show the outcomes; paths run out of the picture
    /// Further result files of the same contacts, drawn into the same pictures; ends with NULL. NULL: none.
    const char *const *overlays;
} carom_plot_request;

/// Receives the path of each picture written.
typedef void (*carom_plot_report)(void *user, const char *path);

/// Draws exact sets as filled polygons, the projections of their pieces, under sampled sets as dots with a dashed *convex hull, not the
/// set*, single outcomes as marks, sequential paths as arrows, paths of
/// samples as thin lines.
/// Default axes: the pair of contact velocities with the largest extent, among normal velocities first.
carom_status carom_plot_result(const char *result_path, const carom_plot_request *request, carom_plot_report report, void *user,
                               carom_error *error);

CAROM_API_END

#endif
