// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the readers of measured impacts share: the numbers of one impact as a file gives them, and their way into a measurement.
#ifndef CAROM_IO_MEASUREMENTS_H
#define CAROM_IO_MEASUREMENTS_H

#include "io/io_internal.h"

/// One impact. Arrays are borrowed; NULL: the file does not give it.
typedef struct measured_numbers {
    int nv, contacts, tangents;  ///< lengths of v-, rows of Jn and of Jt
    const double *mass, *normal, *tangent, *friction, *restitution, *before, *after, *covariance;
    const double *attitude;  ///< [9]
    const double *inertia;   ///< [3] principal moments in body axes, for a free body without `mass`, or in its place
    double body_mass;        ///< [kg]; NaN
    const char *kind, *group;
} measured_numbers;

/// Measurements under way.
typedef struct measured_file {
    const carom_measurements_options *options;
    carom_measurements *into;
    const char **groups;  ///< [count] as the file calls them; NULL entries: it does not
} measured_file;

/// Room for `count` impacts.
carom_status measured_file_begin(measured_file *file, const carom_measurements_options *options, int count, carom_measurements *into,
                                 carom_error *error);
/// Checks the numbers and adds the impact.
/// @return CAROM_BAD_INPUT with "KEY: rule"
carom_status measured_file_add(measured_file *file, const measured_numbers *numbers, carom_error *error);
/// Adds an impact that is made already, which belongs to the file from then on. `numbers` needs what the impact does not hold.
carom_status measured_file_add_impact(measured_file *file, carom_impact *impact, bool friction_known, const measured_numbers *numbers,
                                      carom_error *error);
/// Ranks the groups.
carom_status measured_file_end(measured_file *file, carom_error *error);

/// Refuses a key that stands there under both of its names; values are NULL where it does not.
carom_status measured_refuse_both(const carom_document *document, const carom_node *node, const void *first, const void *second,
                                  const char *names, carom_error *error);
/// A key with two names, of which exactly one is needed.
carom_status measured_choose(const carom_document *document, const carom_node *node, const double *first, const double *second,
                             const char *names, const double **value, carom_error *error);
/// Reads the impacts of a file that names a model: a position and two velocities each.
carom_status measured_read_model(carom_document *document, const carom_node *impacts, measured_file *file, carom_error *error);
/// Reads a table of states of the options' model; the `size` bytes end with NUL, and are changed.
carom_status carom_measurements_read_csv(const char *path, char *bytes, size_t size, measured_file *file,
                                         const carom_measurements_options *options, carom_measurements *into, carom_error *error);
/// Reads the same from an HDF5 file of `size` bytes.
carom_status carom_measurements_read_hdf5(const char *path, size_t size, measured_file *file, const carom_measurements_options *options,
                                          carom_measurements *into, carom_error *error);

#endif
