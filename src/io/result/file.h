// SPDX-License-Identifier: Apache-2.0
/// @file
/// What pictures, polyhedra and sets need to know of a result file beyond the public reader.
#ifndef CAROM_IO_RESULT_FILE_H
#define CAROM_IO_RESULT_FILE_H

#include "carom/io.h"
#include "io/result/stored.h"

CAROM_API_BEGIN

/// CAROM_BAD_INPUT: "PATH: not a carom result file: ", then why.
carom_status carom_result_refuse(const carom_result *result, carom_error *error, const char *format, ...) CAROM_PRINTF(3, 4);

/// Names of the contacts, as many as there are.
const char *const *carom_result_contact_names(const carom_result *result);

/// Has a group this dataset? A law's group has its name and holds the columns of its outcomes; groups in it are called "LAW/NAME".
bool carom_result_has_dataset(const carom_result *result, const char *group, const char *name);
/// Reads a dataset that must be there.
/// @param values  receives [rows x width] entries of 8 bytes, to be freed
carom_status carom_result_read_stored(const carom_result *result, const char *group, const char *name, carom_stored_type type,
                                      void **values, int64_t *rows, int *width, carom_error *error);
/// Reads a real dataset of any group, as carom_result_read_reals does.
carom_status carom_result_read_dataset(const carom_result *result, const char *group, const char *name, double **values, int64_t *rows,
                                       int *width, carom_error *error);
/// Reads where the rows of a list or series begin among its lines.
/// @param offsets  receives [rows + 1], to be freed
carom_status carom_result_read_offsets(const carom_result *result, const char *group, const char *name, int64_t lines, int64_t **offsets,
                                       int64_t *rows, carom_error *error);
/// Reads a dataset of texts of fixed length: `rows` times `width` bytes, padded with zeros.
carom_status carom_result_read_characters(const carom_result *result, const char *group, const char *name, char **characters, int64_t *rows,
                                          int *width, carom_error *error);
/// Reads the contact velocities of a law's outcomes.
/// @param u  receives [rows x n], contact-major, to be freed
carom_status carom_result_read_contact_velocities(const carom_result *result, int law, double **u, int64_t *rows, carom_error *error);
/// The same for their impulses, NaN where the law does not determine them.
carom_status carom_result_read_impulses(const carom_result *result, int law, double **impulses, int64_t *rows, carom_error *error);

/// CAROM_OK unless the child process that reads the file is lost: for the end of reading, after questions that report no error.
carom_status carom_result_check(const carom_result *result, carom_error *error);
/// CAROM_IO_FAILED once the caller asks to stop.
carom_status carom_result_poll(const carom_result *result, carom_error *error);

/// Reads a text of the law's result row, or a number in 17 digits; `text` is left alone and the answer is false when there is none of that
/// name.
bool carom_result_read_attribute(const carom_result *result, int law, const char *name, char *text, size_t size);
/// The same of any group.
bool carom_result_read_group_text(const carom_result *result, const char *group, const char *name, char *text, size_t size);

CAROM_API_END

#endif
