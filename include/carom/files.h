// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files in other formats: LCPs, FCLIB problems, velocities, polyhedra as text, arrays, VTK. In libcarom-io.
#ifndef CAROM_FILES_H
#define CAROM_FILES_H

#include "carom/measure.h"
#include "carom/polyhedra.h"
#include "carom/scene.h"

CAROM_API_BEGIN

// ------------------------------------------------------------------------------------------------------------------------------- LCP files

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

// ----------------------------------------------------------------------------------------------------------------------------------- FCLIB

/// Writes the problem in contact space as an FCLIB local problem: W in compressed rows, q = the pre-impact contact velocity, mu, spacedim 2
/// or 3. Names and restitution have no place in it. Written under a temporary name and renamed when complete.
/// @param title  of the problem; any text
/// @return CAROM_IO_FAILED when the place cannot be written, CAROM_BAD_INPUT when `path` exists and is neither empty nor an HDF5 file
carom_status carom_fclib_write(const char *path, const char *title, const carom_impact *impact, carom_error *error);

// -------------------------------------------------------------------------------------------------------------------------- the HDF5
// library

enum { CAROM_HDF5_VERSION = 64 };
/// The version of HDF5 that the program runs with, in `text`; NULL in a build without HDF5.
const char *carom_hdf5_version(char text[CAROM_HDF5_VERSION]);
/// Keeps libhdf5 from cleaning up at the process's exit, where it prints if memory is short. Before anything else of libhdf5, and only for
/// a program that closes every file.
void carom_hdf5_prepare(void);

// ------------------------------------------------------------------------------------------------------------------------------ velocities

/// Reads `{v: [...]}` as YAML or JSON: one generalised velocity.
/// @param v  [nv]
/// @return CAROM_BAD_INPUT with file, line, key and rule
carom_status carom_velocity_read(const char *path, int nv, double *v, carom_error *error);

// ------------------------------------------------------------------------------------------------------------------------ measured impacts

/// How measured impacts are read. Zero: as they are.
typedef struct carom_measurements_options {
    const double *inertia;  ///< [3] principal moments in body axes [kg m^2], in place of those of the file; NULL: the file's
    const char *model;      ///< path of an MJCF or URDF model: the file is a table of its states (CSV); NULL: it is not
} carom_measurements_options;

/// Reads measured impacts (docs/measured.md has the format) from YAML, JSON or HDF5: frozen matrices, or states of a model; or from CSV,
/// states of the options' model.
/// @param measurements  to be freed by carom_measurements_free
/// @return CAROM_BAD_INPUT with file, line, impact, key and rule
carom_status carom_measurements_read(const char *path, const carom_measurements_options *options, carom_measurements *measurements,
                                     carom_error *error);

// ------------------------------------------------------------------------------------------------------------------------------- polyhedra

/// May text be written at `path`: is nothing there, or an empty file, or one of these? As carom_polyhedra_write.
carom_status carom_polyhedra_check(const char *path, carom_error *error);
/// Writes sets of contact velocities as text, by constraints and by vertices (docs/exact.md has the format). Written under a temporary name
/// and renamed.
/// @param outer  a second set that contains the first; may be NULL
/// @return CAROM_IO_FAILED when the place cannot be written, CAROM_BAD_INPUT when `path` exists and is neither empty nor such a file
carom_status carom_polyhedra_write(const char *path, const carom_scene *scene, const carom_polyhedra *set, const carom_polyhedra *outer,
                                   carom_error *error);

// ---------------------------------------------------------------------------------------------------------------------------------- arrays

/// Numbers with a name.
typedef struct carom_named_array {
    const char *name;  ///< a word; of the first array of a .csv file "t"
    int64_t rows;
    int columns;           ///< of a matrix; 0: a vector
    const double *values;  ///< [rows x columns], or [rows]
} carom_named_array;

/// May arrays be written at `path`: does the name end in .npz or .csv, and is nothing there, or such a file?
carom_status carom_arrays_check(const char *path, carom_error *error);
/// Writes arrays as numpy.load reads them (.npz, not compressed), or as a table (.csv) with a line of names, in which the columns of a
/// matrix are NAME.1, NAME.2, ... Written under a temporary name and renamed.
/// @param count  1 to 16
/// @return as carom_arrays_check; CAROM_BAD_INPUT when columns of a table differ in length, CAROM_UNSUPPORTED for an archive of more than
///         4 GB, CAROM_IO_FAILED
carom_status carom_arrays_write(const char *path, const carom_named_array *array, int count, carom_error *error);

// ------------------------------------------------------------------------------------------------------------------------------------- VTK

typedef struct carom_vtk_array {
    const char *name;  ///< without blanks
    int components;
    const double *values;  ///< [points x components]
} carom_vtk_array;

/// Cells of up to three points.
typedef struct carom_vtk_cells {
    int64_t count;
    const int64_t *points;  ///< [count x 1, 2 or 3] indices
    const double *body;     ///< [count] which body they belong to
} carom_vtk_cells;

/// Points with data and cells, at one time.
typedef struct carom_vtk_points {
    const char *title;  ///< one line
    double time;
    int64_t count;
    const double *positions;  ///< [count x 3]
    const carom_vtk_array *arrays;
    int array_count;
    /// Vertices, lines and triangles, with the data `body` of cells; NULL: each point is a vertex, and cells have no data.
    const carom_vtk_cells *cells;
} carom_vtk_points;

/// One file of a series: its name, beside the list, and its time.
typedef struct carom_vtk_step {
    char *name;
    double time;
} carom_vtk_step;

/// Does the name end in .vtk or .vtp?
bool carom_vtk_is_name(const char *path);
/// May such a file be written at `path`: is nothing there, or a file of this kind?
/// @return as carom_vtk_write
carom_status carom_vtk_check(const char *path, carom_error *error);
/// Writes points as text that ParaView reads: legacy VTK, or XML PolyData where the name ends in .vtp.
/// @return CAROM_IO_FAILED; CAROM_BAD_INPUT for another ending, or when `path` exists and is not such a file
carom_status carom_vtk_write(const char *path, const carom_vtk_points *points, carom_error *error);
/// Writes the list of a series (`NAME.vtk.series`), which ParaView opens as an animation.
carom_status carom_vtk_write_series(const char *path, const carom_vtk_step *steps, int64_t count, carom_error *error);

CAROM_API_END

#endif
