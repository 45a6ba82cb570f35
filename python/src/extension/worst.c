// SPDX-License-Identifier: Apache-2.0
// Worst cases: the search, and its witnesses.
#include <math.h>

#include "binding.h"

// What one expression was found.
typedef struct answered {
    carom_functional functional;
    carom_worst found;
    carom_witness witness;
} answered;

static PyObject *reals(const double *values, size_t count) {
    return PyBytes_FromStringAndSize((const char *)values, (Py_ssize_t)(count * sizeof *values));
}

// [(evaluations, value), ...]
static PyObject *growth_of(const carom_worst *found) {
    PyObject *list = PyList_New(found->grown);
    for (int i = 0; i < found->grown && list; i++) {
        PyObject *one = Py_BuildValue("Ld", (long long)found->growth[i].evaluations, found->growth[i].value);
        if (PyList_SetItem(list, i, one)) Py_CLEAR(list);
    }
    return list;
}

// [(name, value), ...] of what is uncertain
static PyObject *parameters_of(const carom_uncertainty *uncertainty, const carom_witness *witness) {
    const int count = uncertainty && witness->parameters ? carom_uncertainty_count(uncertainty) : 0;
    PyObject *list = PyList_New(count);
    for (int i = 0; i < count && list; i++) {
        PyObject *name = binding_text(carom_uncertainty_parameters(uncertainty)[i].name);
        PyObject *one = name ? Py_BuildValue("Nd", name, witness->parameters[i]) : NULL;
        if (PyList_SetItem(list, i, one)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *word_of(const carom_witness *witness) {
    PyObject *list = PyList_New(witness->word_length);
    for (int i = 0; i < witness->word_length && list; i++)
        if (PyList_SetItem(list, i, PyLong_FromLong(witness->word[i]))) Py_CLEAR(list);
    return list;
}

static PyObject *describe(const carom_impact *impact, const carom_uncertainty *uncertainty, const answered *one) {
    const carom_witness *w = &one->witness;
    const size_t n = (size_t)w->n, nv = (size_t)carom_impact_get_data(impact)->nv, rows = (size_t)w->rows;
    const carom_worst *f = &one->found;
    // Without a member there is no witness.
    if (!w->rows)
        return Py_BuildValue("dsLLN", f->value, one->functional.unit, (long long)f->evaluations, (long long)f->samples, growth_of(f));
    return Py_BuildValue("dsLLNdLNNNNNNNNdNN", f->value, one->functional.unit, (long long)f->evaluations, (long long)f->samples,
                         growth_of(f), f->samples_value, (long long)f->members, PyBool_FromLong(f->complete), reals(w->v, nv),
                         reals(w->u_plus, n), reals(w->total, n), reals(w->u, rows * n), reals(w->impulse, rows * n),
                         parameters_of(uncertainty, w), word_of(w), w->energy_ratio, PyBool_FromLong(w->approximate),
                         PyBool_FromLong(w->verified));
}

// Parses, searches and plays the witnesses again, without the interpreter's lock.
static carom_status search(const carom_law *law, const carom_law_call *call, const char *const *texts, int count,
                           carom_worst_options *options, answered *answers, carom_verdict *verdict, carom_error *error) {
    carom_member_source source = {0};
    carom_arena arena = {0};
    carom_functional *functionals = carom_arena_take(&arena, (size_t)count, sizeof *functionals);
    carom_worst *found = carom_arena_take(&arena, (size_t)count, sizeof *found);
    carom_status status = arena.failed ? carom_fail_memory(error, "worst cases") : CAROM_OK;
    for (int i = 0; i < count && !status; i++) {
        carom_error inner;
        status = carom_functional_parse(call->impact, texts[i], &answers[i].functional, &inner);
        if (status) carom_fail(error, status, "worst: %s", inner.message);
        functionals[i] = answers[i].functional;
    }
    if (!status) status = carom_law_members(law, call, &source, error);
    options->source = &source;
    if (!status) status = carom_worst_search(call->impact, functionals, count, options, call->control, found, verdict, error);
    for (int i = 0; i < count && found; i++) answers[i].found = found[i];
    for (int i = 0; i < count && !status; i++) {
        if (isinf(found[i].value)) continue;
        status = carom_witness_create(call->impact, options, &found[i].tape, found[i].member, &answers[i].witness, error);
    }
    carom_member_source_release(&source);
    carom_arena_free(&arena);
    return status;
}

// worst_search(law, impact, scene, settings, expressions, evaluations or 0, seconds or NaN, seed, threads, progress) -> [(value, unit,
// evaluations, samples, growth[, value of samples, members, complete, v, u, impulse, velocities of the path, its impulses, parameters,
// contacts that acted, energy ratio, approximate, verified]), ...]
static PyObject *worst(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name;
    PyObject *impact_handle, *scene_handle, *settings, *expressions, *progress;
    long long evaluations, seed;
    int threads;
    bool failed;
    carom_worst_options options = carom_worst_defaults();
    if (!binding_parse(arguments, "sOOOOLdLiO", &name, &impact_handle, &scene_handle, &settings, &expressions, &evaluations,
                       &options.seconds, &seed, &threads, &progress))
        return NULL;
    const carom_law *law = binding_law(name);
    const carom_impact *impact = law ? binding_impact(impact_handle) : NULL;
    const carom_scene *scene = impact ? binding_optional_scene(scene_handle, &failed) : NULL;
    if (!impact || failed) return NULL;
    const Py_ssize_t count = PyTuple_Check(expressions) ? PyTuple_Size(expressions) : 0;
    const char **texts = binding_texts(expressions, "expressions", count, &failed);
    if (failed) return NULL;
    options.evaluations = evaluations;
    options.seed = seed;
    options.uncertainty = scene && carom_scene_impact(scene) == impact ? carom_scene_uncertainty(scene) : NULL;
    void *law_options = binding_options(law, scene, settings);
    // What a sampled law draws from is searched.
    if (law_options && options.uncertainty && carom_option_find(law->options, law->option_count, "nested") >= 0)
        ((carom_sample_options *)law_options)->uncertainty = options.uncertainty;
    answered *answers = PyMem_Calloc((size_t)count + 1, sizeof *answers);
    if (!answers) PyErr_NoMemory();
    binding_watch *watch = law_options && answers ? binding_watch_start(threads, progress) : NULL;
    PyObject *list = NULL;
    if (watch) {
        const carom_law_call call = {
            .impact = impact, .options = law_options, .registry = binding_registry, .control = binding_watch_control(watch)};
        carom_verdict verdict;
        carom_error error;
        const carom_status status = search(law, &call, texts, (int)count, &options, answers, &verdict, &error);
        const bool undisturbed = binding_watch_end(watch);
        if (status && undisturbed) binding_fail(&error);
        list = status || !undisturbed ? NULL : PyList_New(count);
        for (Py_ssize_t i = 0; i < count && list; i++)
            if (PyList_SetItem(list, i, describe(impact, options.uncertainty, &answers[i]))) Py_CLEAR(list);
    }
    for (Py_ssize_t i = 0; i < count && answers; i++) {
        carom_functional_release(&answers[i].functional);
        carom_worst_release(&answers[i].found);
        carom_witness_release(&answers[i].witness);
    }
    PyMem_Free(answers);
    PyMem_Free(law_options);
    PyMem_Free(texts);
    return list;
}

PyMethodDef binding_worst_methods[] = {{"worst_search", worst, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
