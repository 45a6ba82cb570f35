// SPDX-License-Identifier: Apache-2.0
/// @file
/// Result files: HDF5 out and in. In libcarom-io.
#ifndef CAROM_RESULT_H
#define CAROM_RESULT_H

#include "carom/polyhedra.h"
#include "carom/questions.h"
#include "carom/scene.h"

CAROM_API_BEGIN

/// Writes one HDF5 result file: metadata and matrices at the top, one group per law or integrator.
/// The file is created at once under a temporary name beside `path` and takes its place when committed.
typedef struct carom_result_writer carom_result_writer;

/// @return CAROM_IO_FAILED when the place cannot be written, CAROM_BAD_INPUT when `path` exists and is neither empty nor an HDF5 file
carom_status carom_result_writer_create(const char *path, const carom_scene *scene, carom_result_writer **writer, carom_error *error);
/// The same for an impact that is of no scene: the file's scene_file is empty, and scene_hash is that of the impact's numbers.
/// @param name  of the impact, any text
carom_status carom_result_writer_create_impact(const char *path, const char *name, const carom_impact *impact, carom_result_writer **writer,
                                               carom_error *error);
/// The same for results that are of many impacts, or of none: the file has no contacts and no group `impact`.
/// @param name, source, hash  what they are called, the file that they are from, and its SHA-256
carom_status carom_result_writer_create_tables(const char *path, const char *name, const char *source, const char *hash,
                                               carom_result_writer **writer, carom_error *error);
/// Writes a table as a group of its own, a dataset for each column.
carom_status carom_result_writer_put_table(carom_result_writer *writer, const char *group, const carom_table *table, carom_error *error);
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
/// Writes impacts, final state, an ensemble's members and their states (NULL: none) and the result row, and closes the group.
carom_status carom_result_writer_close_motion(carom_result_writer *writer, const carom_motion_answer *answer, const carom_table *ensemble,
                                              const carom_table *ensemble_states, carom_error *error);
/// The file's `complete` will be 0, whatever its laws and integrators say: part of what was asked for is missing.
void carom_result_writer_mark_incomplete(carom_result_writer *writer);
/// Closes the file and renames it to `path`.
carom_status carom_result_writer_commit(carom_result_writer *writer, carom_error *error);
/// Frees the writer; a file that was not committed is removed. NULL is allowed.
void carom_result_writer_free(carom_result_writer *writer);

/// A result file, open for reading.
typedef struct carom_result carom_result;

/// Opens a file for reading by libhdf5 in this process. Types, sizes and offsets are checked; but a file that was damaged on purpose can
/// still end the process within libhdf5: see carom_result_open_apart.
carom_status carom_result_open(const char *path, carom_result **result, carom_error *error);
/// The same in a child process (`fork`) with limits of memory and time, which answers the reading functions through a socket until the
/// result is closed: a file on which libhdf5 crashes or never ends is refused like any other. For files of unknown origin, and for
/// programs that may fork: before they start threads of their own.
/// @param control  polled by the reading functions, too, until the result is closed; may be NULL
/// @return CAROM_IO_FAILED, from the reading functions, too, when the caller asked to stop
carom_status carom_result_open_apart(const char *path, const carom_control *control, carom_result **result, carom_error *error);
void carom_result_close(carom_result *result);
const char *carom_result_scene_name(const carom_result *result);
int carom_result_contacts(const carom_result *result);
int carom_result_tangent_dim(const carom_result *result);
const char *carom_result_contact_name(const carom_result *result, int contact);
int carom_result_laws(const carom_result *result);
const char *carom_result_law_name(const carom_result *result, int law);
/// Has a law's group this column?
bool carom_result_has_column(const carom_result *result, int law, const char *column);
/// The columns of what was uncertain in the impact that a law's group has; none where everything was known.
/// @param columns  receives `*count` rows, with texts that live as long as the program
carom_status carom_result_read_draw_columns(const carom_result *result, int law, carom_column columns[CAROM_UNCERTAIN_COLUMNS], int *count,
                                            carom_error *error);
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
/// Reads all that the file holds of one law's answer: its outcomes and the result row, with the columns that the law has in this version.
/// What the file lacks of them is "not determined".
/// @param index   of the law in the file
/// @param law     the law of that name
/// @param answer  to be freed by carom_answer_free
carom_status carom_result_read_answer(const carom_result *result, int index, const carom_impact *impact, const carom_law *law,
                                      carom_answer *answer, carom_error *error);
/// Reads what of a law's outcomes the file keeps, and for files that do not hold every outcome the extent of them all, as
/// carom_result_writer_put_extent wrote it; NULL for others. Files of older versions have neither the number of all outcomes,
/// which is CAROM_NO_INTEGER there, nor the modes of contacts, which are 0.
/// @param keep    receives "all", "extent" or "hull"
/// @param extent  to be freed by carom_extent_free
carom_status carom_result_read_extent(const carom_result *result, int law, const carom_impact *impact, char keep[CAROM_CERTIFICATE_SIZE],
                                      carom_extent **extent, carom_error *error);
/// Reads the text of an option that a law was asked with, as carom_option_set takes it, or "" for a text that was not given.
/// @return false when the file does not have it
bool carom_result_read_option(const carom_result *result, int law, const char *name, char *text, size_t size);
/// What the quantities of its impact are called, in texts of the result; files of older versions have no names of velocities.
carom_quantities carom_result_quantities(const carom_result *result);
/// The impact that the file's results belong to, made from its matrices; bit for bit that of the scene, with its names and places.
carom_status carom_result_read_impact(const carom_result *result, carom_impact **impact, carom_error *error);

/// The convex pieces of a law that has them, `halm-posa-exact`, without exact texts; `*polyhedra` is NULL for other laws.
/// @param certificate  receives what they are of the set, "exact", "inner", "outer" or "none"; may be NULL
carom_status carom_result_read_polyhedra(const carom_result *result, int law, carom_polyhedra **polyhedra,
                                         char certificate[CAROM_CERTIFICATE_SIZE], carom_error *error);

/// The outcomes of one law as a set, without impulses and energy ratios. Its law's name belongs to the result.
/// @param law  index of the law
/// @return CAROM_BAD_INPUT when the law has no outcomes
carom_status carom_result_set_read(const carom_result *result, int law, const carom_impact *impact, carom_outcome_set *set,
                                   carom_error *error);
/// Reads impulses and energy ratios of the set's outcomes, too, where the functional has them.
carom_status carom_result_set_read_for(const carom_result *result, int law, const carom_functional *functional, carom_outcome_set *set,
                                       carom_error *error);

CAROM_API_END

#endif
