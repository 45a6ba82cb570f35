// SPDX-License-Identifier: Apache-2.0
// Result files: outcomes written and read. The interpreter's lock is kept, because libhdf5 is not made for several threads, and other
// packages may use it.
#include <string.h>

#include "binding.h"

enum { OPTION_TEXT_SIZE = 1 << 14 };

// result_write(path, name, scene, impact, law, settings, outcomes, result)
static PyObject *write_result(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path, *name, *law_name;
    PyObject *scene_handle, *impact_handle, *settings, *outcomes_handle, *row_handle;
    bool failed;
    if (!PyArg_ParseTuple(arguments, "ssOOsOOO", &path, &name, &scene_handle, &impact_handle, &law_name, &settings, &outcomes_handle,
                          &row_handle))
        return NULL;
    const carom_law *law = binding_law(law_name);
    const carom_impact *impact = law ? binding_impact(impact_handle) : NULL;
    const carom_scene *scene = impact ? binding_optional_scene(scene_handle, &failed) : NULL;
    if (!impact || failed) return NULL;
    const carom_table *outcomes = binding_table(outcomes_handle), *row = outcomes ? binding_table(row_handle) : NULL;
    if (!row) return NULL;
    void *options = binding_options(law, scene, settings);
    if (!options) return NULL;
    carom_result_writer *writer;
    carom_sink sink;
    carom_error error;
    carom_status status = scene ? carom_result_writer_create(path, scene, &writer, &error)
                                : carom_result_writer_create_impact(path, name, impact, &writer, &error);
    if (!status) status = carom_result_writer_open_law(writer, law, options, &sink, &error);
    if (!status) status = sink.receive(sink.user, outcomes, &error);
    if (!status) status = carom_result_writer_close_law(writer, row, &error);
    if (!status) status = carom_result_writer_commit(writer, &error);
    carom_result_writer_free(writer);
    PyMem_Free(options);
    return status ? binding_fail(&error) : Py_NewRef(Py_None);
}

// The options of a law in a file, as pairs of texts. Texts that were not given are left out.
static PyObject *read_settings(const carom_result *result, int index, const carom_law *law) {
    PyObject *list = PyList_New(0);
    char *text = PyMem_Malloc(OPTION_TEXT_SIZE);
    for (int i = 0; i < law->option_count && list && text; i++) {
        const char *name = law->options[i].name;
        if (!carom_result_read_option(result, index, name, text, OPTION_TEXT_SIZE) || !*text) continue;
        PyObject *value = binding_text(text), *pair = value ? Py_BuildValue("sN", name, value) : NULL;
        if (!pair || PyList_Append(list, pair)) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    PyMem_Free(text);
    PyObject *settings = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return settings;
}

// The answer of one law in a file: (law, outcomes, result, settings).
static PyObject *read_law(const carom_result *result, int index, const carom_impact *impact) {
    const carom_law *law = binding_law(carom_result_law_name(result, index));
    if (!law) return NULL;
    carom_answer answer;
    carom_error error;
    if (carom_result_read_answer(result, index, impact, law, &answer, &error)) return binding_fail(&error);
    PyObject *outcomes = binding_wrap_table(answer.outcomes), *row = binding_wrap_table(answer.result);
    return Py_BuildValue("sNNN", law->name, outcomes, row, read_settings(result, index, law));
}

// result_read(path) -> (name, impact, [(law, outcomes, result, settings), ...])
static PyObject *read_result(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path;
    if (!PyArg_ParseTuple(arguments, "s", &path)) return NULL;
    carom_result *result;
    carom_impact *impact = NULL;
    carom_error error;
    carom_status status = carom_result_open_apart(path, &result, &error);
    if (!status) status = carom_result_read_impact(result, &impact, &error);
    if (status) {
        carom_result_close(result);
        return binding_fail(&error);
    }
    PyObject *list = PyList_New(0);
    for (int i = 0; i < carom_result_laws(result) && list; i++) {
        // Certified outer sets stand beside the law whose run found them.
        if (!strcmp(carom_result_law_name(result, i), carom_exact_outer_law.name)) continue;
        PyObject *law = read_law(result, i, impact);
        if (!law || PyList_Append(list, law)) Py_CLEAR(list);
        Py_XDECREF(law);
    }
    PyObject *handle = binding_wrap_impact(impact, NULL);
    PyObject *read = list && handle ? Py_BuildValue("NOO", binding_text(carom_result_scene_name(result)), handle, list) : NULL;
    Py_XDECREF(handle);
    Py_XDECREF(list);
    carom_result_close(result);
    return read;
}

PyMethodDef binding_result_methods[] = {
    {"result_write", write_result, METH_VARARGS, NULL}, {"result_read", read_result, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
