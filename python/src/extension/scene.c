// SPDX-License-Identifier: Apache-2.0
// Handles of scenes: files that hold an impact and options for laws.
#include "binding.h"

static const char scene_capsule[] = "carom.scene";

static void free_scene(PyObject *capsule) { carom_scene_free(PyCapsule_GetPointer(capsule, scene_capsule)); }

const carom_scene *binding_scene(PyObject *handle) { return PyCapsule_GetPointer(handle, scene_capsule); }

const carom_scene *binding_optional_scene(PyObject *handle, bool *failed) {
    *failed = false;
    if (handle == Py_None) return NULL;
    const carom_scene *scene = binding_scene(handle);
    *failed = !scene;
    return scene;
}

// scene_read(path) -> a scene
static PyObject *read_scene(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path;
    if (!binding_parse(arguments, "s", &path)) return NULL;
    carom_scene *scene;
    carom_error error;
    carom_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = carom_scene_read(path, binding_registry, &scene, &error);
    Py_END_ALLOW_THREADS;
    if (status) return binding_fail(&error);
    PyObject *capsule = PyCapsule_New(scene, scene_capsule, free_scene);
    if (!capsule) carom_scene_free(scene);
    return capsule;
}

// scene_about(scene) -> (path, name, hash, law or None, warnings)
static PyObject *about(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_scene *scene = binding_scene(handle);
    if (!scene) return NULL;
    PyObject *warnings = PyTuple_New(carom_scene_warnings(scene));
    for (int i = 0; i < carom_scene_warnings(scene) && warnings; i++) {
        PyObject *warning = binding_text(carom_scene_warning(scene, i));
        if (!warning || PyTuple_SetItem(warnings, i, warning)) Py_CLEAR(warnings);
    }
    if (!warnings) return NULL;
    return Py_BuildValue("NNszN", binding_text(carom_scene_path(scene)), binding_text(carom_scene_name(scene)), carom_scene_hash(scene),
                         carom_scene_law(scene), warnings);
}

// scene_settings(scene) -> [(name, value as text), ...] of its map `impact`
static PyObject *settings(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_scene *scene = binding_scene(handle);
    PyObject *list = scene ? PyList_New(0) : NULL;
    for (int i = 0; list && i < carom_scene_settings_count(scene); i++) {
        const char *text, *name = carom_scene_get_setting(scene, i, &text);
        PyObject *pair = Py_BuildValue("NN", binding_text(name), binding_text(text));
        if (!pair || PyList_Append(list, pair)) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

// scene_impact(scene) -> its impact, which keeps the scene
static PyObject *impact(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_scene *scene = binding_scene(handle);
    return scene ? binding_wrap_impact(carom_scene_impact(scene), handle) : NULL;
}

PyMethodDef binding_scene_methods[] = {{"scene_read", read_scene, METH_VARARGS, NULL},
                                       {"scene_about", about, METH_O, NULL},
                                       {"scene_settings", settings, METH_O, NULL},
                                       {"scene_impact", impact, METH_O, NULL},
                                       {NULL, NULL, 0, NULL}};
