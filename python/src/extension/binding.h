// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the files of the Python extension share: handles, views of C's memory, errors, and computations without the interpreter's lock.
///
/// The extension is a thin layer under the classes of the package: it takes contiguous arrays and texts, and gives back handles (capsules)
/// and views. It uses carom's public headers, CPython's limited API and the buffer protocol, so that one build serves Python 3.11 and
/// later with any numpy.
#ifndef CAROM_PYTHON_BINDING_H
#define CAROM_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "carom/carom.h"

// --------------------------------------------------------------------------------------------------------------- errors

/// Exceptions of the package: created with the module, and never released.
extern PyObject *binding_input_error, *binding_unsupported_error, *binding_internal_error;

/// Sets the exception that a status stands for, with C's own sentence.
/// @return NULL
PyObject *binding_fail(const carom_error *error);
/// Sets the same exception as bad input does.
/// @return NULL
PyObject *binding_refuse(const char *format, ...);
/// Sets that exception in the place of Python's own for a text without UTF-8 (a lone surrogate) or with a zero byte, or a whole number that
/// C has no type for; other exceptions stay.
/// @return false
bool binding_refuse_value(void);
/// PyArg_ParseTuple, with such values refused as any other bad input is.
#define binding_parse(...) (PyArg_ParseTuple(__VA_ARGS__) || binding_refuse_value())
/// Creates the exceptions and adds them to the module; false when Python fails.
bool binding_add_errors(PyObject *module);

// -------------------------------------------------------------------------------------------------------------- handles

/// All solvers and laws of this build; filled when the module is loaded, and not changed after that.
extern carom_registry *binding_registry;

/// The objects behind handles; NULL with an exception for anything that is not such a handle.
const carom_impact *binding_impact(PyObject *handle);
const carom_table *binding_table(PyObject *handle);
/// The same for a table of outcomes: its first columns are those that every law's outcomes have.
const carom_table *binding_outcomes(PyObject *handle);
const carom_scene *binding_scene(PyObject *handle);
/// NULL, without an exception, for None.
const carom_scene *binding_optional_scene(PyObject *handle, bool *failed);

/// A handle that owns the impact, also after a failure.
/// @param keeper  owns the impact instead, and is kept alive; NULL: none
PyObject *binding_wrap_impact(const carom_impact *impact, PyObject *keeper);
/// A handle that owns the table, also after a failure.
PyObject *binding_wrap_table(carom_table *table);
/// The same with columns that nobody else keeps, of PyMem_Malloc, which it takes; NULL: those of a law.
PyObject *binding_wrap_table_with(carom_table *table, carom_column *columns);
/// A column as (name, type, width, unit, doc, names).
PyObject *binding_column(const carom_column *column);
/// An extent as (outcomes, normal, tangent, energy ratio, modes), the latter four as bytes of their arrays.
PyObject *binding_extent(const carom_extent *extent);

// ---------------------------------------------------------------------------------------------------------------- views

/// An array in memory that `owner` keeps, without a copy: numpy.asarray(view) shares it. Read-only.
/// @param format  of the struct module: "d" or "q"
/// @param shape   [dimensions], 1 or 2
PyObject *binding_view(PyObject *owner, const void *data, const char *format, int dimensions, const Py_ssize_t *shape);
bool binding_add_view(PyObject *module);

/// A buffer of doubles, C-contiguous, that a caller lends.
typedef struct binding_reals {
    Py_buffer buffer;
    double *values;  ///< NULL for None
    bool held;
} binding_reals;

/// @param count     of numbers that it must have
/// @param writable  it is to receive numbers
/// @return false with an exception
bool binding_take_reals(PyObject *object, const char *name, size_t count, bool writable, binding_reals *reals);
/// The same, and None is allowed.
bool binding_take_optional_reals(PyObject *object, const char *name, size_t count, binding_reals *reals);
void binding_give_back(binding_reals *reals, size_t count);

/// Texts of a tuple of str, borrowed from it, or NULL for None; to be freed with PyMem_Free.
/// @param failed  true, with an exception, when anything else is there, or not as many
const char **binding_texts(PyObject *tuple, const char *name, Py_ssize_t count, bool *failed);
/// The same, where None also stands for a single text that is not known; NULL there.
/// @param texts  receives them, also after a failure; NULL for None
/// @return false with an exception
bool binding_take_some(PyObject *tuple, const char *name, Py_ssize_t count, const char ***texts);
/// A str of UTF-8 that need not be valid.
PyObject *binding_text(const char *text);

// --------------------------------------------------------------------------------------------------------------- places

/// Names of velocities and where the contacts are, borrowed from Python's objects.
typedef struct binding_place {
    binding_reals arrays[6];
    int *joints;
    const char **velocity_names, **bodies, **geoms;
    bool *turns;
    carom_contact_geometry geometry;
} binding_place;

/// Puts them into `data`, whose sizes are known.
/// @param tuple  (velocity names, angular velocities, points, normals, tangents, bodies, geoms, nq, qpos, gaps,
///               joints); each, or the whole, may be None,
///               and without points there are no places
/// @return false with an exception; `place` is to be given back in any case
bool binding_take_place(PyObject *tuple, carom_impact_data *data, binding_place *place);
void binding_give_back_place(binding_place *place);

// --------------------------------------------------------------------------------------------------------- computations

/// A computation without the interpreter's lock: its control polls for signals, so that Ctrl-C stops it, and calls `progress`.
typedef struct binding_watch binding_watch;

/// Gives the lock back. Until binding_watch_end nothing of Python may be used.
/// @param progress  called with (done, total), or None
binding_watch *binding_watch_start(int threads, PyObject *progress);
/// The same for one thread without progress, which keeps the lock until binding_watch_release gives it back.
binding_watch *binding_watch_create(void);
void binding_watch_release(binding_watch *watch);
/// Takes the lock again before the end.
void binding_watch_retake(binding_watch *watch);
const carom_control *binding_watch_control(const binding_watch *watch);
/// Takes the lock again and frees the watch.
/// @return false when a signal handler or `progress` raised an exception, which is set
bool binding_watch_end(binding_watch *watch);

/// The option struct of a law: its defaults, what the scene gives (NULL: none), then pairs of texts (name, value).
/// @return NULL with an exception; to be freed with PyMem_Free. Texts are borrowed from `settings`.
void *binding_options(const carom_law *law, const carom_scene *scene, PyObject *settings);
/// NULL with an exception that lists the laws.
const carom_law *binding_law(const char *name);

// -------------------------------------------------------------------------------------------------------------- methods

/// Each file's functions for the module, ended by an entry without name.
extern PyMethodDef binding_impact_methods[], binding_place_methods[], binding_table_methods[], binding_law_methods[],
    binding_scene_methods[], binding_result_methods[], binding_lcp_methods[], binding_many_methods[], binding_picture_methods[],
    binding_question_methods[], binding_worst_methods[];

#endif
