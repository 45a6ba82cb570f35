// SPDX-License-Identifier: Apache-2.0
// Handles of impacts: made from arrays, and read.
#include <string.h>

#include "binding.h"

static const char impact_capsule[] = "carom.impact";

// The context of the capsule keeps whoever owns the impact; without one the capsule owns it.
static void free_impact(PyObject *capsule) {
    PyObject *keeper = PyCapsule_GetContext(capsule);
    if (keeper)
        Py_DECREF(keeper);
    else
        carom_impact_free(PyCapsule_GetPointer(capsule, impact_capsule));
}

const carom_impact *binding_impact(PyObject *handle) { return PyCapsule_GetPointer(handle, impact_capsule); }

PyObject *binding_wrap_impact(const carom_impact *impact, PyObject *keeper) {
    PyObject *capsule = PyCapsule_New((void *)(uintptr_t)impact, impact_capsule, free_impact);
    if (capsule && keeper) PyCapsule_SetContext(capsule, Py_NewRef(keeper));
    if (!capsule && !keeper) carom_impact_free((carom_impact *)(uintptr_t)impact);
    return capsule;
}

// --------------------------------------------------------------------------------------------------------------- making

// The numbers of an impact as texts: a tuple of six, in which None stands for arrays without texts, and in these for numbers without.
static bool take_texts(PyObject *tuple, const size_t counts[6], const char **texts[6]) {
    if (tuple == Py_None) return true;
    PyObject *given[6];
    if (!PyTuple_Check(tuple)) PyErr_SetString(PyExc_TypeError, "texts are a tuple");
    if (PyErr_Occurred() || !binding_parse(tuple, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5])) return false;
    bool taken = true;
    for (int i = 0; i < 6 && taken; i++) taken = binding_take_some(given[i], "texts", (Py_ssize_t)counts[i], &texts[i]);
    return taken;
}

// impact_create(nv, contacts, tangent_dim, mass, normal, tangent, friction, restitution, velocity, names, place, texts): `texts` are those
// of mass, normal, tangent, friction, velocity and restitution, or None
static PyObject *create(PyObject *module, PyObject *arguments) {
    (void)module;
    carom_impact_data data = {0};
    PyObject *given[6], *names, *place, *written;
    if (!binding_parse(arguments, "iiiOOOOOOOOO", &data.nv, &data.contacts, &data.tangent_dim, &given[0], &given[1], &given[2], &given[3],
                       &given[4], &given[5], &names, &place, &written))
        return NULL;
    if (data.nv < 1 || data.contacts < 1 || data.tangent_dim < 1 || data.tangent_dim > 2)
        return binding_refuse("an impact has at least one velocity and one contact, and one or two tangents");
    const size_t nv = (size_t)data.nv, m = (size_t)data.contacts, tangents = m * (size_t)data.tangent_dim;
    binding_reals arrays[6] = {0};
    bool failed = !binding_take_reals(given[0], "mass", nv * nv, false, &arrays[0]) ||
                  !binding_take_reals(given[1], "normal", m * nv, false, &arrays[1]) ||
                  !binding_take_optional_reals(given[2], "tangent", tangents * nv, &arrays[2]) ||
                  !binding_take_optional_reals(given[3], "friction", m, &arrays[3]) ||
                  !binding_take_optional_reals(given[4], "restitution", m, &arrays[4]) ||
                  !binding_take_reals(given[5], "velocity", nv, false, &arrays[5]);
    const char **texts = failed ? NULL : binding_texts(names, "names", data.contacts, &failed);
    binding_place placed = {0};
    if (!failed) failed = !binding_take_place(place, &data, &placed);
    const char **exact[6] = {0};
    if (!failed) failed = !take_texts(written, (const size_t[]){nv * nv, m * nv, tangents * nv, m, nv, m}, exact);
    carom_impact *impact = NULL;
    if (!failed) {
        const carom_impact_texts texts_of = {
            .mass = exact[0], .normal = exact[1], .tangent = exact[2], .friction = exact[3], .velocity = exact[4], .restitution = exact[5]};
        data.mass = arrays[0].values;
        data.normal = arrays[1].values;
        data.tangent = arrays[2].values;
        data.friction = arrays[3].values;
        data.restitution = arrays[4].values;
        data.velocity = arrays[5].values;
        data.names = texts;
        carom_error error;
        carom_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = carom_impact_create_exact(&data, &texts_of, &impact, &error);
        Py_END_ALLOW_THREADS;
        if (status) binding_fail(&error);
    }
    binding_give_back(arrays, 6);
    binding_give_back_place(&placed);
    for (int i = 0; i < 6; i++) PyMem_Free(exact[i]);
    PyMem_Free(texts);
    return impact ? binding_wrap_impact(impact, NULL) : NULL;
}

// impact_create_delassus(contacts, tangent_dim, delassus, velocity, friction, restitution, names)
static PyObject *create_delassus(PyObject *module, PyObject *arguments) {
    (void)module;
    carom_delassus_data data = {0};
    PyObject *given[4], *names;
    if (!binding_parse(arguments, "iiOOOOO", &data.contacts, &data.tangent_dim, &given[0], &given[1], &given[2], &given[3], &names))
        return NULL;
    if (data.contacts < 1 || data.tangent_dim < 1 || data.tangent_dim > 2)
        return binding_refuse("an impact has at least one contact, and one or two tangents");
    const size_t m = (size_t)data.contacts, n = m * (size_t)(1 + data.tangent_dim);
    binding_reals arrays[4] = {0};
    bool failed = !binding_take_reals(given[0], "delassus", n * n, false, &arrays[0]) ||
                  !binding_take_reals(given[1], "velocity", n, false, &arrays[1]) ||
                  !binding_take_optional_reals(given[2], "friction", m, &arrays[2]) ||
                  !binding_take_optional_reals(given[3], "restitution", m, &arrays[3]);
    const char **texts = failed ? NULL : binding_texts(names, "names", data.contacts, &failed);
    carom_impact *impact = NULL;
    if (!failed) {
        data.delassus = arrays[0].values;
        data.velocity = arrays[1].values;
        data.friction = arrays[2].values;
        data.restitution = arrays[3].values;
        data.names = texts;
        carom_error error;
        carom_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = carom_impact_create_delassus(&data, &impact, &error);
        Py_END_ALLOW_THREADS;
        if (status) binding_fail(&error);
    }
    binding_give_back(arrays, 4);
    PyMem_Free(texts);
    return impact ? binding_wrap_impact(impact, NULL) : NULL;
}

// Adds a sentence to a list of Python.
static carom_status keep_sentence(void *list, const char *sentence, carom_error *error) {
    PyObject *text = binding_text(sentence);
    const bool kept = text && !PyList_Append(list, text);
    Py_XDECREF(text);
    return kept ? CAROM_OK : carom_fail_memory(error, "impact");
}

// impact_review(impact) -> sentences about an impact that was hardly meant
static PyObject *review(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    PyObject *list = impact ? PyList_New(0) : NULL;
    carom_error error;
    if (!list || !carom_impact_review(impact, keep_sentence, list, &error)) return list;
    Py_DECREF(list);
    return PyErr_Occurred() ? NULL : binding_fail(&error);
}

// mass_check(mass, nv, names): refuses a mass matrix that is not positive definite
static PyObject *check_mass(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *given, *names;
    int nv;
    if (!PyArg_ParseTuple(arguments, "OiO", &given, &nv, &names)) return NULL;
    if (nv < 1 || nv > CAROM_MAX_VELOCITIES) return binding_refuse("%d velocities: 1 to %d are supported", nv, CAROM_MAX_VELOCITIES);
    binding_reals mass;
    if (!binding_take_reals(given, "mass", (size_t)nv * (size_t)nv, false, &mass)) return NULL;
    bool failed = false;
    const char **texts = binding_texts(names, "names", nv, &failed);
    carom_error error;
    if (!failed && carom_mass_check(nv, mass.values, texts, &error)) {
        failed = true;
        binding_fail(&error);
    }
    PyMem_Free(texts);
    binding_give_back(&mass, 1);
    return failed ? NULL : Py_NewRef(Py_None);
}

// -------------------------------------------------------------------------------------------------------------- reading

// impact_about(impact) -> (nv, contacts, tangent_dim, has_system, names, velocity_scale, initial_energy)
static PyObject *about(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_impact_data *data = carom_impact_get_data(impact);
    PyObject *names = PyTuple_New(data->contacts);
    for (int i = 0; i < data->contacts && names; i++) {
        PyObject *name = binding_text(data->names[i]);
        if (!name || PyTuple_SetItem(names, i, name)) Py_CLEAR(names);
    }
    if (!names) return NULL;
    return Py_BuildValue("iiiONdd", data->nv, data->contacts, data->tangent_dim, carom_impact_has_system(impact) ? Py_True : Py_False,
                         names, carom_impact_velocity_scale(impact), carom_impact_initial_energy(impact));
}

// impact_texts(impact) -> its numbers as texts, as impact_create takes them; None for an impact of doubles alone
static PyObject *texts(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const carom_impact_texts *written = carom_impact_get_texts(impact);
    const Py_ssize_t nv = data->nv, m = data->contacts;
    const struct {
        const char *const *texts;
        Py_ssize_t count;
    } arrays[] = {{written->mass, nv * nv}, {written->normal, m * nv}, {written->tangent, m * data->tangent_dim * nv},
                  {written->friction, m},   {written->velocity, nv},   {written->restitution, m}};
    bool any = false;
    PyObject *all = PyTuple_New(6);
    for (Py_ssize_t i = 0; i < 6 && all; i++) {
        any = any || arrays[i].texts;
        PyObject *one = arrays[i].texts ? PyTuple_New(arrays[i].count) : Py_NewRef(Py_None);
        for (Py_ssize_t k = 0; arrays[i].texts && k < arrays[i].count && one; k++) {
            PyObject *text = arrays[i].texts[k] ? binding_text(arrays[i].texts[k]) : Py_NewRef(Py_None);
            if (!text || PyTuple_SetItem(one, k, text)) Py_CLEAR(one);
        }
        if (!one || PyTuple_SetItem(all, i, one)) Py_CLEAR(all);
    }
    if (any || !all) return all;
    Py_DECREF(all);
    Py_RETURN_NONE;
}

// impact_array(impact, name) -> a view, None where the impact has no such array
static PyObject *array(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle;
    const char *name;
    if (!binding_parse(arguments, "Os", &handle, &name)) return NULL;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const int m = data->contacts, nv = data->nv, n = carom_impact_contact_size(impact);
    const struct {
        const char *name;
        const double *values;
        int rows, columns;
    } arrays[] = {{"mass", data->mass, nv, nv},
                  {"normal", data->normal, m, nv},
                  {"tangent", data->tangent, m * data->tangent_dim, nv},
                  {"friction", data->friction, m, 0},
                  {"restitution", data->restitution, m, 0},
                  {"velocity", data->velocity, nv, 0},
                  {"delassus", carom_impact_delassus(impact), n, n},
                  {"response", carom_impact_response(impact), n, nv}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (strcmp(arrays[i].name, name) != 0) continue;
        const Py_ssize_t shape[] = {arrays[i].rows, arrays[i].columns};
        if (!arrays[i].values) Py_RETURN_NONE;
        return binding_view(handle, arrays[i].values, "d", arrays[i].columns ? 2 : 1, shape);
    }
    return binding_refuse("an impact has no array '%.60s'", name);
}

// impact_contact_velocity(impact, v, u): u = J v
static PyObject *contact_velocity(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle, *given[2];
    if (!binding_parse(arguments, "OOO", &handle, &given[0], &given[1])) return NULL;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    binding_reals arrays[2] = {0};
    const bool taken = binding_take_reals(given[0], "velocity", (size_t)carom_impact_get_data(impact)->nv, false, &arrays[0]) &&
                       binding_take_reals(given[1], "out", (size_t)carom_impact_contact_size(impact), true, &arrays[1]);
    if (taken) carom_impact_contact_velocity(impact, arrays[0].values, arrays[1].values);
    binding_give_back(arrays, 2);
    return taken ? Py_NewRef(Py_None) : NULL;
}

// impact_kinetic_energy(impact, v) -> v'Mv/2
static PyObject *kinetic_energy(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle, *given;
    if (!binding_parse(arguments, "OO", &handle, &given)) return NULL;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    binding_reals v;
    if (!binding_take_reals(given, "velocity", (size_t)carom_impact_get_data(impact)->nv, false, &v)) return NULL;
    const double energy = carom_impact_kinetic_energy(impact, v.values);
    binding_give_back(&v, 1);
    return PyFloat_FromDouble(energy);
}

PyMethodDef binding_impact_methods[] = {{"impact_create", create, METH_VARARGS, NULL},
                                        {"impact_create_delassus", create_delassus, METH_VARARGS, NULL},
                                        {"impact_review", review, METH_O, NULL},
                                        {"mass_check", check_mass, METH_VARARGS, NULL},
                                        {"impact_about", about, METH_O, NULL},
                                        {"impact_texts", texts, METH_O, NULL},
                                        {"impact_array", array, METH_VARARGS, NULL},
                                        {"impact_contact_velocity", contact_velocity, METH_VARARGS, NULL},
                                        {"impact_kinetic_energy", kinetic_energy, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
