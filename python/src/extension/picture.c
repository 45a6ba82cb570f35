// SPDX-License-Identifier: Apache-2.0
// What pictures need: looks of laws, axes that show most, windows, marks that enclose each other, shades, hulls in the plane, places of
// contacts, and what each contact does in each outcome.
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

// plot_sizes() -> (diameter of a mark [mm], its growth by a ring, margin, margin of a zoom, points from which sets are shaded)
static PyObject *sizes(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return Py_BuildValue("ddddi", CAROM_PLOT_MARK, CAROM_PLOT_RING, CAROM_PLOT_MARGIN, CAROM_PLOT_ZOOM_MARGIN, (int)CAROM_PLOT_SHADED);
}

// plot_nest(laws, owners, x, y) -> rings of marks at places [mm]: owners [count] are places among the laws, -1 for filled dots
static PyObject *nest(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *laws, *owners, *given[2];
    if (!binding_parse(arguments, "O!O!OO", &PyTuple_Type, &laws, &PyTuple_Type, &owners, &given[0], &given[1])) return NULL;
    const Py_ssize_t count = PyTuple_Size(owners), law_count = PyTuple_Size(laws);
    bool failed;
    const char **names = binding_texts(laws, "laws", law_count, &failed);
    int *places = names ? PyMem_Calloc((size_t)(law_count + 2 * count) + 1, sizeof *places) : NULL;
    binding_reals arrays[2] = {0};
    PyObject *list = NULL;
    if (places && binding_take_reals(given[0], "x", (size_t)count, false, &arrays[0]) &&
        binding_take_reals(given[1], "y", (size_t)count, false, &arrays[1]))
        list = PyList_New(count);
    int *looks = places + law_count, *rings = looks + count;
    if (list) carom_plot_assign_looks((int)law_count, names, places);
    for (Py_ssize_t i = 0; i < count && list; i++) {
        const long owner = PyLong_AsLong(PyTuple_GetItem(owners, i));
        if (owner >= law_count || PyErr_Occurred()) {
            Py_CLEAR(list);
            PyErr_Clear();
            binding_refuse("owners: there are not as many laws");
        } else {
            looks[i] = owner < 0 ? -1 : places[owner];
        }
    }
    if (list) carom_plot_nest((int)count, arrays[0].values, arrays[1].values, looks, rings);
    for (Py_ssize_t i = 0; i < count && list; i++) {
        PyObject *ring = PyLong_FromLong(rings[i]);
        if (!ring || PyList_SetItem(list, i, ring)) Py_CLEAR(list);
    }
    binding_give_back(arrays, 2);
    PyMem_Free(places);
    PyMem_Free(names);
    return list;
}

// plot_fit(sets, x, y, count, margin) -> (x least, x most, y least, y most) shown; sets [4] in the same order
static PyObject *fit(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *given[3];
    Py_ssize_t count;
    double margin;
    if (!binding_parse(arguments, "OOOnd", &given[0], &given[1], &given[2], &count, &margin)) return NULL;
    if (count < 0) return binding_refuse("there are no fewer than no marks");
    binding_reals arrays[3] = {0};
    PyObject *answer = NULL;
    if (binding_take_reals(given[0], "sets", 4, false, &arrays[0]) && binding_take_reals(given[1], "x", (size_t)count, false, &arrays[1]) &&
        binding_take_reals(given[2], "y", (size_t)count, false, &arrays[2])) {
        const double *of = arrays[0].values;
        carom_plot_window shown;
        carom_plot_fit(&(carom_plot_window){{of[0], of[1]}, {of[2], of[3]}}, count, arrays[1].values, arrays[2].values, margin, &shown);
        answer = Py_BuildValue("dddd", shown.x[0], shown.x[1], shown.y[0], shown.y[1]);
    }
    binding_give_back(arrays, 3);
    return answer;
}

// plot_shade(x, y, count, window, across, up, colour) -> [(index of a point, colour as #rrggbb), ...], in the order of drawing
static PyObject *shade(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *given[3];
    Py_ssize_t count;
    int cells[2];
    unsigned colour;
    if (!binding_parse(arguments, "OOnOiiI", &given[0], &given[1], &count, &given[2], &cells[0], &cells[1], &colour)) return NULL;
    if (count < 0 || cells[0] < 1 || cells[1] < 1) return binding_refuse("a grid has cells, and there are no fewer than no points");
    const size_t room = (size_t)cells[0] * (size_t)cells[1];
    binding_reals arrays[3] = {0};
    int64_t *points = PyMem_Calloc(2 * room, sizeof *points), kept;
    PyObject *list = NULL;
    carom_error error;
    if (points && binding_take_reals(given[0], "x", (size_t)count, false, &arrays[0]) &&
        binding_take_reals(given[1], "y", (size_t)count, false, &arrays[1]) &&
        binding_take_reals(given[2], "window", 4, false, &arrays[2])) {
        const double *of = arrays[2].values;
        const carom_plot_window shown = {{of[0], of[1]}, {of[2], of[3]}};
        if (carom_plot_shade(count, arrays[0].values, arrays[1].values, &shown, cells, points, points + room, &kept, &error))
            binding_fail(&error);
        else
            list = PyList_New(kept);
    }
    for (Py_ssize_t k = 0; list && k < kept; k++) {
        char text[16];
        snprintf(text, sizeof text, "#%06x",
                 carom_plot_shade_colour(colour, points[room + (size_t)k], points[room + (size_t)kept - 1], false));
        PyObject *row = Py_BuildValue("Ls", (long long)points[k], text);
        if (!row || PyList_SetItem(list, k, row)) Py_CLEAR(list);
    }
    binding_give_back(arrays, 3);
    PyMem_Free(points);
    return list;
}

// plot_axes(contacts, ranges) -> (x, y): places among the contact velocities, normal ones first; ranges are [n x 2]
static PyObject *axes(PyObject *module, PyObject *arguments) {
    (void)module;
    int contacts, count;
    PyObject *given;
    if (!binding_parse(arguments, "iiO", &contacts, &count, &given)) return NULL;
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
    if (!binding_parse(arguments, "OOn", &given[0], &given[1], &count)) return NULL;
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
    if (!binding_parse(arguments, "OOOn", &handle, &given[0], &given[1], &rows)) return NULL;
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

PyMethodDef binding_picture_methods[] = {
    {"plot_looks", looks, METH_O, NULL},     {"plot_sizes", sizes, METH_NOARGS, NULL},   {"plot_nest", nest, METH_VARARGS, NULL},
    {"plot_fit", fit, METH_VARARGS, NULL},   {"plot_shade", shade, METH_VARARGS, NULL},  {"plot_axes", axes, METH_VARARGS, NULL},
    {"plot_hull", hull, METH_VARARGS, NULL}, {"impact_place", place, METH_O, NULL},      {"impact_velocities", velocities, METH_O, NULL},
    {"impact_rest", rest, METH_O, NULL},     {"table_modes", modes, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
