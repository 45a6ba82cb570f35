// SPDX-License-Identifier: Apache-2.0
// What pictures need: looks of laws, axes that show most, hulls in the plane, places of contacts, and what each contact does in each
// outcome.
#include <stdio.h>
#include <string.h>

#include "binding.h"

// plot_looks(laws) -> [(colour as #rrggbb, shape, size of a mark), ...], as all pictures of these laws have them
static PyObject *looks(PyObject *module, PyObject *laws) {
    (void)module;
    if (!PyTuple_Check(laws)) return binding_refuse("laws: a tuple of names is needed");
    const Py_ssize_t count = PyTuple_Size(laws);
    bool failed;
    const char **names = binding_texts(laws, "laws", count, &failed);
    int *places = names ? PyMem_Calloc((size_t)count + 1, sizeof *places) : NULL;
    PyObject *list = places ? PyList_New(count) : NULL;
    if (list) carom_plot_assign_looks((int)count, names, places);
    for (Py_ssize_t i = 0; i < count && list; i++) {
        const carom_plot_look *look = &carom_plot_looks[places[i]];
        char colour[16];
        snprintf(colour, sizeof colour, "#%06x", look->colour);
        PyObject *row = Py_BuildValue("ssd", colour, carom_plot_shape_name(look->shape), look->size);
        if (!row || PyList_SetItem(list, i, row)) Py_CLEAR(list);
    }
    PyMem_Free(places);
    PyMem_Free(names);
    return list;
}

// plot_axes(contacts, ranges) -> (x, y): places among the contact velocities, normal ones first; ranges are [n x 2]
static PyObject *axes(PyObject *module, PyObject *arguments) {
    (void)module;
    int contacts, count;
    PyObject *given;
    if (!PyArg_ParseTuple(arguments, "iiO", &contacts, &count, &given)) return NULL;
    if (count < 2) return binding_refuse("a picture needs two contact velocities");
    binding_reals ranges;
    if (!binding_take_reals(given, "ranges", 2 * (size_t)count, false, &ranges)) return NULL;
    int chosen[2];
    carom_plot_choose_axes(contacts, count, ranges.values, chosen);
    binding_give_back(&ranges, 1);
    return Py_BuildValue("ii", chosen[0], chosen[1]);
}

// plot_hull(x, y, count) -> indices of the corners of the convex hull of points in the plane, counter-clockwise; none may be NaN
static PyObject *hull(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *given[2];
    Py_ssize_t count;
    if (!PyArg_ParseTuple(arguments, "OOn", &given[0], &given[1], &count)) return NULL;
    if (count < 0) return binding_refuse("a hull is of no fewer than no points");
    binding_reals arrays[2] = {0};
    const bool taken = binding_take_reals(given[0], "x", (size_t)count, false, &arrays[0]) &&
                       binding_take_reals(given[1], "y", (size_t)count, false, &arrays[1]);
    int64_t corners = 0, *indices = taken ? PyMem_Calloc((size_t)count + 1, sizeof *indices) : NULL;
    PyObject *list = NULL;
    carom_error error;
    if (indices && carom_hull_plane(arrays[0].values, arrays[1].values, count, indices, &corners, &error))
        binding_fail(&error);
    else if (indices)
        list = PyList_New(corners);
    for (int64_t i = 0; i < corners && list; i++) {
        PyObject *index = PyLong_FromLongLong(indices[i]);
        if (!index || PyList_SetItem(list, i, index)) Py_CLEAR(list);
    }
    PyMem_Free(indices);
    binding_give_back(arrays, 2);
    return list;
}

// A tuple of texts, None where there is none.
static PyObject *texts(const char *const *names, Py_ssize_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count && tuple; i++) {
        PyObject *name = names && names[i] ? binding_text(names[i]) : Py_NewRef(Py_None);
        if (!name || PyTuple_SetItem(tuple, i, name)) Py_CLEAR(tuple);
    }
    return tuple;
}

// impact_place(impact) -> (points, normals, tangents, bodies, geoms), or None where nobody said where the contacts are
static PyObject *place(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const carom_contact_geometry *geometry = data->geometry;
    if (!geometry) Py_RETURN_NONE;
    const Py_ssize_t rows[] = {data->contacts, 3}, tangents[] = {(Py_ssize_t)data->contacts * data->tangent_dim, 3};
    return Py_BuildValue("NNNNN", binding_view(handle, geometry->points, "d", 2, rows),
                         binding_view(handle, geometry->normals, "d", 2, rows), binding_view(handle, geometry->tangents, "d", 2, tangents),
                         texts(geometry->bodies, 2 * (Py_ssize_t)data->contacts), texts(geometry->geoms, 2 * (Py_ssize_t)data->contacts));
}

// impact_velocities(impact) -> (names, units) of the generalised velocities; v.1, v.2, ... and "" where nobody gave them
static PyObject *velocities(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_impact_data *data = carom_impact_get_data(impact);
    PyObject *names = PyTuple_New(data->nv), *units = PyTuple_New(data->nv);
    for (int i = 0; i < data->nv && names && units; i++) {
        char number[24];
        snprintf(number, sizeof number, "v.%d", i + 1);
        PyObject *name = binding_text(data->velocity_names ? data->velocity_names[i] : number);
        PyObject *unit = binding_text(!data->velocity_turns ? "" : data->velocity_turns[i] ? "rad/s" : "m/s");
        if (!name || PyTuple_SetItem(names, i, name)) Py_CLEAR(names);
        if (!unit || PyTuple_SetItem(units, i, unit)) Py_CLEAR(units);
    }
    return Py_BuildValue("NN", names, units);
}

// impact_rest(impact) -> the speed up to which contacts count as at rest [m/s]
static PyObject *rest(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    return impact ? PyFloat_FromDouble(-carom_impact_approach_limit(impact)) : NULL;
}

// table_modes(impact, normal_velocity, tangent_velocity, rows) -> bytes [rows x contacts], each a carom_contact_mode
static PyObject *modes(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle, *given[2];
    Py_ssize_t rows;
    if (!PyArg_ParseTuple(arguments, "OOOn", &handle, &given[0], &given[1], &rows)) return NULL;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    if (rows < 0) return binding_refuse("there are no fewer than no rows");
    const int m = carom_impact_get_data(impact)->contacts, dim = carom_impact_get_data(impact)->tangent_dim;
    binding_reals arrays[2] = {0};
    const bool taken = binding_take_reals(given[0], "normal_velocity", (size_t)rows * (size_t)m, false, &arrays[0]) &&
                       binding_take_reals(given[1], "tangent_velocity", (size_t)rows * (size_t)m * (size_t)dim, false, &arrays[1]);
    PyObject *answer = taken ? PyBytes_FromStringAndSize(NULL, rows * m) : NULL;
    char *mode = answer ? PyBytes_AsString(answer) : NULL;
    const double tolerance = -carom_impact_approach_limit(impact);
    for (Py_ssize_t i = 0; i < rows * m && mode; i++)
        mode[i] = (char)carom_contact_mode_of(arrays[0].values[i], arrays[1].values + i * dim, dim, tolerance);
    binding_give_back(arrays, 2);
    return answer;
}

PyMethodDef binding_picture_methods[] = {{"plot_looks", looks, METH_O, NULL},
                                         {"plot_axes", axes, METH_VARARGS, NULL},
                                         {"plot_hull", hull, METH_VARARGS, NULL},
                                         {"impact_place", place, METH_O, NULL},
                                         {"impact_velocities", velocities, METH_O, NULL},
                                         {"impact_rest", rest, METH_O, NULL},
                                         {"table_modes", modes, METH_VARARGS, NULL},
                                         {NULL, NULL, 0, NULL}};
