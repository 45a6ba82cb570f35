// SPDX-License-Identifier: Apache-2.0
// What an impact can say about itself besides its numbers: names of velocities, and where the contacts are.
#include <string.h>

#include "binding.h"

bool binding_take_some(PyObject *tuple, const char *name, Py_ssize_t count, const char ***names) {
    if (tuple == Py_None) return true;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        binding_refuse("%s: %zd texts are needed", name, count);
        return false;
    }
    *names = PyMem_Calloc((size_t)count + 1, sizeof **names);
    if (!*names) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *text = PyTuple_GetItem(tuple, i);
        if (text == Py_None) continue;
        Py_ssize_t size;
        (*names)[i] = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
        if ((*names)[i] && (size_t)size == strlen((*names)[i])) continue;
        if (PyErr_Occurred())
            binding_refuse_value();
        else
            binding_refuse("%s: texts without zero bytes, or None, are needed", name);
        return false;
    }
    return true;
}

// The angular velocities of a tuple of truth values.
static bool take_turns(PyObject *tuple, int nv, bool **turns) {
    if (tuple == Py_None) return true;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != nv) {
        binding_refuse("velocity_turns: %d truth values are needed, one for each velocity", nv);
        return false;
    }
    *turns = PyMem_Calloc((size_t)nv, sizeof **turns);
    if (!*turns) {
        PyErr_NoMemory();
        return false;
    }
    for (int i = 0; i < nv; i++) {
        const int truth = PyObject_IsTrue(PyTuple_GetItem(tuple, i));
        if (truth < 0) return false;
        (*turns)[i] = truth;
    }
    return true;
}

bool binding_take_place(PyObject *tuple, carom_impact_data *data, binding_place *place) {
    *place = (binding_place){0};
    if (tuple == Py_None) return true;
    PyObject *names, *turns, *given[6], *bodies, *geoms;
    int nq;
    if (!binding_parse(tuple, "OOOOOOOiOOO", &names, &turns, &given[0], &given[1], &given[2], &bodies, &geoms, &nq, &given[3], &given[4],
                       &given[5]))
        return false;
    const Py_ssize_t m = data->contacts, tangents = m * data->tangent_dim;
    if (!binding_take_some(names, "velocity_names", data->nv, &place->velocity_names) || !take_turns(turns, data->nv, &place->turns))
        return false;
    data->velocity_names = place->velocity_names;
    data->velocity_turns = place->turns;
    if (given[0] == Py_None) return true;
    if (!binding_take_reals(given[0], "geometry.points", 3 * (size_t)m, false, &place->arrays[0]) ||
        !binding_take_reals(given[1], "geometry.normals", 3 * (size_t)m, false, &place->arrays[1]) ||
        !binding_take_reals(given[2], "geometry.tangents", 3 * (size_t)tangents, false, &place->arrays[2]) ||
        !binding_take_optional_reals(given[3], "geometry.qpos", (size_t)nq, &place->arrays[3]) ||
        !binding_take_optional_reals(given[4], "geometry.gaps", (size_t)m, &place->arrays[4]) ||
        !binding_take_optional_reals(given[5], "geometry.joints", (size_t)m, &place->arrays[5]) ||
        !binding_take_some(bodies, "geometry.bodies", 2 * m, &place->bodies) ||
        !binding_take_some(geoms, "geometry.geoms", 2 * m, &place->geoms))
        return false;
    // Whole numbers come as an array of doubles, as all arrays do.
    const double *joints = place->arrays[5].values;
    place->joints = joints ? PyMem_Calloc((size_t)m, sizeof *place->joints) : NULL;
    if (joints && !place->joints) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; joints && i < m; i++)
        place->joints[i] = joints[i] >= 0 && joints[i] <= CAROM_MAX_VELOCITIES ? (int)joints[i] : 0;
    place->geometry = (carom_contact_geometry){.points = place->arrays[0].values,
                                               .normals = place->arrays[1].values,
                                               .tangents = place->arrays[2].values,
                                               .bodies = place->bodies,
                                               .geoms = place->geoms,
                                               .gaps = place->arrays[4].values,
                                               .joints = place->joints,
                                               .nq = place->arrays[3].values ? nq : 0,
                                               .qpos = place->arrays[3].values};
    data->geometry = &place->geometry;
    return true;
}

void binding_give_back_place(binding_place *place) {
    binding_give_back(place->arrays, 6);
    PyMem_Free(place->joints);
    PyMem_Free(place->velocity_names);
    PyMem_Free(place->turns);
    PyMem_Free(place->bodies);
    PyMem_Free(place->geoms);
}

// impact_names(impact) -> (names of velocities, angular ones) where somebody gave them, otherwise None in their place
static PyObject *names(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_impact_data *data = carom_impact_get_data(impact);
    PyObject *texts = data->velocity_names ? PyTuple_New(data->nv) : Py_NewRef(Py_None);
    PyObject *turns = data->velocity_turns ? PyTuple_New(data->nv) : Py_NewRef(Py_None);
    for (int i = 0; i < data->nv && texts && turns; i++) {
        PyObject *text = data->velocity_names ? binding_text(data->velocity_names[i]) : NULL;
        if (data->velocity_names && (!text || PyTuple_SetItem(texts, i, text))) Py_CLEAR(texts);
        if (data->velocity_turns && PyTuple_SetItem(turns, i, PyBool_FromLong(data->velocity_turns[i]))) Py_CLEAR(turns);
    }
    if (texts && turns) return Py_BuildValue("NN", texts, turns);
    Py_XDECREF(texts);
    Py_XDECREF(turns);
    return NULL;
}

// impact_position(impact) -> a view of qpos, None where nobody gave it
static PyObject *position(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_contact_geometry *geometry = carom_impact_get_data(impact)->geometry;
    if (!geometry || !geometry->nq) Py_RETURN_NONE;
    const Py_ssize_t shape[] = {geometry->nq};
    return binding_view(handle, geometry->qpos, "d", 1, shape);
}

// default_tangents(normal, out): the two tangents, [2 x 3], that belong to a unit normal
static PyObject *default_tangents(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *given[2];
    if (!binding_parse(arguments, "OO", &given[0], &given[1])) return NULL;
    binding_reals arrays[2] = {0};
    const bool taken =
        binding_take_reals(given[0], "normal", 3, false, &arrays[0]) && binding_take_reals(given[1], "out", 6, true, &arrays[1]);
    if (taken) {
        double tangents[2][3];
        carom_impact_default_tangents(arrays[0].values, tangents);
        memcpy(arrays[1].values, tangents, sizeof tangents);
    }
    binding_give_back(arrays, 2);
    return taken ? Py_NewRef(Py_None) : NULL;
}

// patch_corners(points, count, distance) -> places of those points of a flat patch, [count x 2], that stand for all
static PyObject *patch_corners(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *given;
    int count;
    double distance;
    if (!binding_parse(arguments, "Oid", &given, &count, &distance)) return NULL;
    if (count < 1) return binding_refuse("a patch has at least one point");
    binding_reals points;
    if (!binding_take_reals(given, "points", 2 * (size_t)count, false, &points)) return NULL;
    bool *kept = PyMem_Calloc((size_t)count, sizeof *kept);
    PyObject *list = kept ? PyList_New(0) : PyErr_NoMemory();
    carom_error error;
    if (list && carom_patch_corners(count, points.values, distance, kept, &error)) {
        binding_fail(&error);
        Py_CLEAR(list);
    }
    for (int i = 0; i < count && list; i++) {
        PyObject *place = kept[i] ? PyLong_FromLong(i) : NULL;
        if (kept[i] && (!place || PyList_Append(list, place))) Py_CLEAR(list);
        Py_XDECREF(place);
    }
    PyMem_Free(kept);
    binding_give_back(&points, 1);
    return list;
}

PyMethodDef binding_place_methods[] = {{"impact_names", names, METH_O, NULL},
                                       {"impact_position", position, METH_O, NULL},
                                       {"default_tangents", default_tangents, METH_VARARGS, NULL},
                                       {"patch_corners", patch_corners, METH_VARARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
