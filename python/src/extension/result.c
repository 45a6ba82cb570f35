// SPDX-License-Identifier: Apache-2.0
// Result files: outcomes written and read, without the interpreter's lock. The package has a lock of its own for them, because libhdf5 need
// not be made for several threads (files.py).
#include <stdlib.h>
#include <string.h>

#include "binding.h"

enum {
    OPTION_TEXT_SIZE = 1 << 14,
    PART_ROWS = 1 << 14,  // written between two looks at signals
};

// An extent from what binding_extent gives; NULL with an exception.
static carom_extent *take_extent(const carom_impact *impact, PyObject *tuple) {
    long long outcomes, approximate;
    const char *data[4];
    Py_ssize_t sizes[4];
    if (!PyTuple_Check(tuple)) PyErr_SetString(PyExc_TypeError, "an extent is a tuple");
    if (PyErr_Occurred() || !binding_parse(tuple, "Ly#y#y#y#L", &outcomes, &data[0], &sizes[0], &data[1], &sizes[1], &data[2], &sizes[2],
                                           &data[3], &sizes[3], &approximate))
        return NULL;
    carom_extent *extent;
    carom_error error;
    if (carom_extent_create(impact, &extent, &error)) {
        binding_fail(&error);
        return NULL;
    }
    extent->outcomes = outcomes;
    extent->approximate = approximate;
    void *const into[] = {extent->normal, extent->tangent, extent->energy_ratio, extent->modes};
    const int contacts = extent->sizes.contacts, counts[] = {2 * contacts, 2 * extent->sizes.tangents, 2, contacts * CAROM_CONTACT_MODES};
    bool fits = true;
    for (int i = 0; i < 4 && fits; i++) {
        // Doubles and whole numbers of 64 bits.
        fits = sizes[i] == counts[i] * (Py_ssize_t)sizeof(double);
        if (fits) memcpy(into[i], data[i], (size_t)sizes[i]);
    }
    if (fits) return extent;
    carom_extent_free(extent);
    binding_refuse("the extent is of another impact");
    return NULL;
}

// The outcomes of one law, part by part, and its result row.
static carom_status write_law(carom_result_writer *writer, const carom_law *law, const void *options, const carom_table *outcomes,
                              const carom_table *row, const char *keep, const carom_extent *extent, const carom_control *control,
                              carom_error *error) {
    carom_sink sink;
    carom_table *part = NULL;
    // The columns are those of the outcomes: there may be more than the law's own.
    carom_law as_it_is = *law;
    const int count = carom_table_columns(outcomes) - CAROM_OUTCOME_COLUMNS;
    carom_column *columns = malloc((size_t)count * sizeof *columns + 1);
    if (!columns) return carom_fail_memory(error, law->name);
    for (int i = 0; i < count; i++) columns[i] = *carom_table_column(outcomes, CAROM_OUTCOME_COLUMNS + i);
    as_it_is.outcome_columns = columns;
    as_it_is.outcome_column_count = count;
    carom_status status = carom_result_writer_open_law(writer, &as_it_is, options, &sink, error);
    if (!status) status = carom_table_create_like(outcomes, &part, error);
    const int64_t rows = carom_table_rows(outcomes);
    for (int64_t first = 0; first < rows && !status && !carom_control_cancelled(control); first += PART_ROWS) {
        carom_table_clear(part);
        status = carom_table_append_rows(part, outcomes, first, rows - first < PART_ROWS ? rows - first : PART_ROWS, error);
        if (!status) status = sink.receive(sink.user, part, error);
    }
    if (!status && extent) status = carom_result_writer_put_extent(writer, keep, extent, error);
    if (!status) status = carom_result_writer_close_law(writer, row, error);
    carom_table_free(part);
    free(columns);
    return status;
}

// result_write(path, name, scene, impact, law, settings, outcomes, result, keep, extent or None, outer or None): `outer` holds outcomes and
// result of a certified outer set.
static PyObject *write_result(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path, *name, *law_name, *keep;
    PyObject *scene_handle, *impact_handle, *settings, *outcomes_handle, *row_handle, *extent_tuple, *outer;
    bool failed;
    if (!binding_parse(arguments, "ssOOsOOOsOO", &path, &name, &scene_handle, &impact_handle, &law_name, &settings, &outcomes_handle,
                       &row_handle, &keep, &extent_tuple, &outer))
        return NULL;
    const carom_law *law = binding_law(law_name);
    const carom_impact *impact = law ? binding_impact(impact_handle) : NULL;
    const carom_scene *scene = impact ? binding_optional_scene(scene_handle, &failed) : NULL;
    if (!impact || failed) return NULL;
    const carom_table *outcomes = binding_outcomes(outcomes_handle), *row = outcomes ? binding_table(row_handle) : NULL;
    if (!row) return NULL;
    const carom_table *outer_outcomes = NULL, *outer_row = NULL;
    if (outer != Py_None) {
        PyObject *handles[2];
        if (!binding_parse(outer, "OO", &handles[0], &handles[1])) return NULL;
        outer_outcomes = binding_outcomes(handles[0]);
        outer_row = outer_outcomes ? binding_table(handles[1]) : NULL;
        if (!outer_row) return NULL;
    }
    carom_extent *extent = extent_tuple == Py_None ? NULL : take_extent(impact, extent_tuple);
    void *options = PyErr_Occurred() ? NULL : binding_options(law, scene, settings);
    binding_watch *watch = options ? binding_watch_start(1, Py_None) : NULL;
    if (!watch) {
        PyMem_Free(options);
        carom_extent_free(extent);
        return NULL;
    }
    const carom_control *control = binding_watch_control(watch);
    carom_result_writer *writer;
    carom_error error;
    carom_status status = scene ? carom_result_writer_create(path, scene, &writer, &error)
                                : carom_result_writer_create_impact(path, name, impact, &writer, &error);
    if (!status) status = write_law(writer, law, options, outcomes, row, keep, extent, control, &error);
    if (!status && outer_row)
        status = write_law(writer, &carom_exact_outer_law, options, outer_outcomes, outer_row, keep, NULL, control, &error);
    // A file that is given up on is never seen under its name.
    if (!status && !carom_control_cancelled(control)) status = carom_result_writer_commit(writer, &error);
    carom_result_writer_free(writer);
    carom_extent_free(extent);
    // Python's memory is freed by those alone who hold its lock.
    const bool undisturbed = binding_watch_end(watch);
    PyMem_Free(options);
    if (!undisturbed) return NULL;
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

// The answer of one law in a file.
typedef struct law_read {
    const carom_law *law;
    PyObject *settings;
    carom_answer answer;
    char keep[CAROM_CERTIFICATE_SIZE];
    carom_extent *extent;
    carom_column *columns;  // of the outcomes, of PyMem_Malloc: the law's own, and those of what was drawn
} law_read;

// It as (law, outcomes, result, settings, keep, extent or None); the answer's tables belong to it, also after a failure.
static PyObject *wrap_law(law_read *read) {
    PyObject *outcomes = binding_wrap_table_with(read->answer.outcomes, read->columns), *row = binding_wrap_table(read->answer.result);
    PyObject *extent = read->extent ? binding_extent(read->extent) : Py_NewRef(Py_None);
    read->answer = (carom_answer){0};
    read->columns = NULL;
    return Py_BuildValue("sNNOsN", read->law->name, outcomes, row, read->settings, read->keep, extent);
}

// result_read(path) -> (name, impact, [(law, outcomes, result, settings, keep, extent), ...])
static PyObject *read_result(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path;
    if (!binding_parse(arguments, "s", &path)) return NULL;
    binding_watch *watch = binding_watch_create();
    if (!watch) return NULL;
    // The child process is made under the lock: it must not find libhdf5 in the middle of another thread's call.
    carom_result *result;
    carom_impact *impact = NULL;
    carom_error error;
    carom_status status = carom_result_open_apart(path, binding_watch_control(watch), &result, &error);
    const int count = status ? 0 : carom_result_laws(result);
    law_read *read = PyMem_Calloc((size_t)count + 1, sizeof *read);
    bool raised = !read;
    if (raised) PyErr_NoMemory();
    for (int i = 0; i < count && !raised; i++) {
        // Certified outer sets, and what solutions pass through, stand beside the law whose run found them, and are in no registry.
        const char *name = carom_result_law_name(result, i);
        const bool outer = !strcmp(name, carom_exact_outer_law.name), reached = !strcmp(name, carom_exact_reached_law.name);
        read[i].law = outer ? &carom_exact_outer_law : reached ? &carom_exact_reached_law : binding_law(name);
        // Read while there is a watch: the file asks it.
        if (read[i].law) read[i].settings = read_settings(result, i, read[i].law);
        if (read[i].law)
            read[i].columns = PyMem_Malloc((size_t)(read[i].law->outcome_column_count + CAROM_UNCERTAIN_COLUMNS) * sizeof *read[i].columns);
        raised = !read[i].settings || !read[i].columns;
        if (read[i].settings && !read[i].columns) PyErr_NoMemory();
    }
    binding_watch_release(watch);
    if (!status && !raised) status = carom_result_read_impact(result, &impact, &error);
    for (int i = 0; i < count && !raised && !status; i++) {
        if (!read[i].law) continue;
        // Of an uncertain impact outcomes have the columns of what was drawn, too.
        carom_law law = *read[i].law;
        carom_column drawn[CAROM_UNCERTAIN_COLUMNS];
        int more, own = law.outcome_column_count;
        status = carom_result_read_draw_columns(result, i, drawn, &more, &error);
        for (int k = 0; !status && k < own + more; k++) read[i].columns[k] = k < own ? law.outcome_columns[k] : drawn[k - own];
        law.outcome_columns = read[i].columns;
        if (!status) law.outcome_column_count = own + more;
        if (!status) status = carom_result_read_answer(result, i, impact, &law, &read[i].answer, &error);
        if (!status) status = carom_result_read_extent(result, i, impact, read[i].keep, &read[i].extent, &error);
    }
    binding_watch_retake(watch);
    const bool stopped = carom_control_cancelled(binding_watch_control(watch));
    if (status && !stopped && !raised) binding_fail(&error);
    const bool sound = !status && !stopped && !raised;
    PyObject *list = sound ? PyList_New(0) : NULL, *handle = sound ? binding_wrap_impact(impact, NULL) : NULL;
    for (int i = 0; i < count && list; i++) {
        PyObject *law = read[i].law ? wrap_law(&read[i]) : NULL;
        if (read[i].law && (!law || PyList_Append(list, law))) Py_CLEAR(list);
        Py_XDECREF(law);
    }
    PyObject *answer = list && handle ? Py_BuildValue("NOO", binding_text(carom_result_scene_name(result)), handle, list) : NULL;
    for (int i = 0; i < count && read; i++) {
        Py_XDECREF(read[i].settings);
        carom_answer_free(&read[i].answer);
        carom_extent_free(read[i].extent);
        PyMem_Free(read[i].columns);
    }
    if (!sound) carom_impact_free(impact);
    Py_XDECREF(handle);
    Py_XDECREF(list);
    PyMem_Free(read);
    carom_result_close(result);
    // The settings were read under the lock, which can be interrupted, too.
    if (!binding_watch_end(watch)) Py_CLEAR(answer);
    return answer;
}

PyMethodDef binding_result_methods[] = {
    {"result_write", write_result, METH_VARARGS, NULL}, {"result_read", read_result, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
