// SPDX-License-Identifier: Apache-2.0
/// @file
/// What reading and writing HDF5 files share. Functions return false, or a negative identifier, when HDF5 fails; they print nothing
/// as long as the calling thread is muted. Nothing that is written carries a time, so that a rerun gives the same bytes.
#ifndef CAROM_IO_HDF5_SUPPORT_H
#define CAROM_IO_HDF5_SUPPORT_H

#include <hdf5.h>

#include "carom/base.h"
#include "carom/impact.h"

/// How the calling thread's HDF5 errors are reported. HDF5 prints them by default, and keeps the setting for each thread.
typedef struct carom_hdf5_reporting {
    H5E_auto2_t report;
    void *data;
} carom_hdf5_reporting;

/// Switches printing off and returns how it was; the thread that muted unmutes, before it returns to its caller.
carom_hdf5_reporting carom_hdf5_mute(void);
void carom_hdf5_unmute(carom_hdf5_reporting before);

// ------------------------------------------------------------------------------------------------------------- writing

/// Is there as much memory as one of the operations below may take? libhdf5 crashes in many places where it gets none: when it starts, when
/// it makes a file's metadata cache of half a megabyte, when it creates a dataset, and when it writes a dataset's first chunk. The
/// functions below ask this themselves; whoever creates a file asks before anything else of libhdf5.
bool carom_hdf5_has_memory(void);

hid_t carom_hdf5_create_group(hid_t parent, const char *name);

/// Room for an attribute: libhdf5 takes less than 64 KB in the object that it belongs to.
enum { CAROM_HDF5_ATTRIBUTE_BYTES = 60000 };

/// Attributes. Texts are UTF-8 of fixed length, repaired where they are not valid; a single one that is too long is cut.
bool carom_hdf5_put_text(hid_t object, const char *name, const char *text);
bool carom_hdf5_put_texts(hid_t object, const char *name, const char *const *texts, int count);
bool carom_hdf5_put_real(hid_t object, const char *name, double value);
bool carom_hdf5_put_integer(hid_t object, const char *name, int64_t value);

/// A dataset of fixed size with `rows` x `columns` doubles, and its unit and doc; a vector where `columns` is 0.
typedef struct carom_hdf5_matrix {
    const char *name, *unit, *doc;
    int rows, columns;
    const double *values;
} carom_hdf5_matrix;

bool carom_hdf5_put_matrices(hid_t parent, size_t count, const carom_hdf5_matrix *matrices);
/// The same for one of `rows` x `columns` whole numbers, which count something.
bool carom_hdf5_put_counts(hid_t parent, const char *name, const char *doc, int rows, int columns, const int64_t *counts);

/// The same for texts of fixed length, that of the longest.
typedef struct carom_hdf5_texts {
    const char *name, *unit, *doc;
    int rows, columns;
    const char *const *texts;  ///< NULL entries are empty
} carom_hdf5_texts;

bool carom_hdf5_put_text_dataset(hid_t parent, const carom_hdf5_texts *texts);

/// Datasets without unit and doc, as other programs want them: a vector of 32-bit whole numbers, and a text of fixed length.
bool carom_hdf5_put_integers(hid_t parent, const char *name, int count, const int *values);
bool carom_hdf5_put_fixed_text(hid_t parent, const char *name, const char *text);

/// The attributes `unit` and `doc` of a dataset.
bool carom_hdf5_describe(hid_t dataset, const char *unit, const char *doc);

/// Shape of one entry of a dataset whose first dimension grows.
typedef struct carom_hdf5_layout {
    hid_t type;     ///< in the file
    hsize_t width;  ///< entries in a line; 0: the dataset has one dimension
    hsize_t chunk;  ///< lines that are stored together
} carom_hdf5_layout;

hid_t carom_hdf5_create_dataset(hid_t parent, const char *name, const carom_hdf5_layout *layout);
/// Adds lines at the end. `memory_type` describes `values`.
bool carom_hdf5_append(hid_t dataset, hid_t memory_type, hsize_t lines, const void *values);
/// The same for texts, repaired as above.
bool carom_hdf5_append_texts(hid_t dataset, const char *const *texts, hsize_t count);

/// The type of texts in datasets, of variable length; to be closed with H5Tclose.
hid_t carom_hdf5_text_type(void);

// ------------------------------------------------------------------------------------------------------------- reading

/// Reads an attribute that holds `least` to `most` texts of fixed length. `*texts` is freed by carom_hdf5_free_texts.
bool carom_hdf5_get_texts(hid_t object, const char *name, int least, int most, char ***texts, int *count);
void carom_hdf5_free_texts(char **texts, int count);
/// Is the attribute a text of variable length? Those are not read.
bool carom_hdf5_has_variable_text(hid_t object, const char *name);
bool carom_hdf5_get_integer(hid_t object, const char *name, int64_t *value);
bool carom_hdf5_get_real(hid_t object, const char *name, double *value);

/// Opens the group or dataset of a hard link: soft and external links could lead out of the file.
hid_t carom_hdf5_open(hid_t parent, const char *name, H5I_type_t kind);

/// A dataset's size: lines of `width` (1 where there is one dimension only).
typedef struct carom_hdf5_extent {
    int64_t lines;
    int width;
} carom_hdf5_extent;

/// Reads a whole dataset of one or two dimensions as `memory_type` (8 bytes an entry) into `*values`, to be freed with `free`.
/// False too when its class of type is another, when it claims to be larger than `file_size`, or has filters or parts elsewhere.
bool carom_hdf5_get_dataset(hid_t dataset, hid_t memory_type, hsize_t file_size, void **values, carom_hdf5_extent *extent);
/// The same for texts of fixed length: as many lines as there are texts, each `width` bytes padded with zeros.
bool carom_hdf5_get_characters(hid_t dataset, hsize_t file_size, void **values, carom_hdf5_extent *extent);
/// The same for texts of variable length: `width` is that of the longest with its final zero.
bool carom_hdf5_get_texts_dataset(hid_t dataset, hsize_t file_size, void **values, carom_hdf5_extent *extent);

/// What a result file says of its impact beside the matrices (io/result/description.h), into the group of the impact.
bool carom_result_put_description(hid_t group, const carom_impact_data *data);

#endif
