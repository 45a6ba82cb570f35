// SPDX-License-Identifier: Apache-2.0
// Questions about outcomes: worst cases, hulls, containment, distances. Outcomes come as a tuple (impact, law, outcomes, result, corners).
#include <math.h>
#include <string.h>

#include "binding.h"

// The set of a tuple; false with an exception. It belongs to the caller, and its law's name to the tuple.
static bool take_set(PyObject *source, const carom_impact **impact, carom_outcome_set *set) {
    PyObject *handles[3];
    const char *law;
    int corners;
    *set = (carom_outcome_set){0};
    if (!PyTuple_Check(source)) {
        PyErr_SetString(PyExc_TypeError, "outcomes are a tuple");
        return false;
    }
    if (!binding_parse(source, "OsOOp", &handles[0], &law, &handles[1], &handles[2], &corners)) return false;
    *impact = binding_impact(handles[0]);
    const carom_table *outcomes = *impact ? binding_outcomes(handles[1]) : NULL, *result = outcomes ? binding_table(handles[2]) : NULL;
    if (!result) return false;
    carom_error error;
    carom_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = carom_outcome_set_create(*impact, outcomes, result, law, corners, set, &error);
    Py_END_ALLOW_THREADS;
    if (!status) return true;
    binding_fail(&error);
    return false;
}

// The exception for a question in words: `expression: SENTENCE`.
static PyObject *refuse(const char *what, const carom_error *inner) {
    carom_error error;
    carom_fail(&error, inner->status, "%s: %s", what, inner->message);
    return binding_fail(&error);
}

// question_max(outcomes, expression, search) -> (value, row, unit, certified, some may have more, approximate, inner or None, source)
static PyObject *maximum(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *source;
    const char *text;
    const carom_impact *impact;
    carom_outcome_set set;
    int search;
    if (!binding_parse(arguments, "Osp", &source, &text, &search) || !take_set(source, &impact, &set)) return NULL;
    carom_functional functional;
    carom_maximum most = {0};
    carom_error error;
    carom_status status = carom_functional_parse(impact, text, &functional, &error);
    bool omits = false, searched = false, stopped = false;
    if (!status) {
        status = carom_outcome_set_maximum(&set, &functional, &most, &error);
        omits = carom_outcome_set_omits(&set, &functional);
        if (!status && most.approximate && search) {
            binding_watch *watch = binding_watch_start(0, Py_None);
            if (watch) status = carom_worst_raise(impact, &functional, binding_watch_control(watch), &most.inner, &searched, &error);
            stopped = !watch || !binding_watch_end(watch);
        }
        carom_functional_release(&functional);
    }
    const bool samples = !strcmp(set.certificate, "samples");
    carom_outcome_set_release(&set);
    if (stopped) return NULL;
    if (status) return refuse("max", &error);
    const bool none = isinf(most.inner);
    PyObject *inner = none ? Py_NewRef(Py_None) : PyFloat_FromDouble(most.inner);
    const char *from = none ? NULL : searched ? "search" : samples ? "samples" : "exact";
    return Py_BuildValue("dLsNNNNz", most.value, (long long)most.point, most.unit, PyBool_FromLong(most.certified), PyBool_FromLong(omits),
                         PyBool_FromLong(most.approximate), inner, from);
}

// question_hull(outcomes, axes with commas) -> (area or volume, some may have more)
static PyObject *hull(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *source;
    const char *text;
    const carom_impact *impact;
    carom_outcome_set set;
    if (!binding_parse(arguments, "Os", &source, &text) || !take_set(source, &impact, &set)) return NULL;
    const carom_quantities quantities = carom_impact_quantities(impact);
    carom_arena memory = {0};
    carom_functional *axes = carom_arena_take(&memory, (size_t)set.n, sizeof *axes);
    carom_error error;
    carom_status status = axes ? CAROM_OK : carom_fail_memory(&error, "hull");
    int count = 0;
    double volume = 0;
    bool omits = false;
    if (!status) status = carom_functional_read_list(&quantities, text, 2, set.n, axes, NULL, &count, &memory, &error);
    binding_watch *watch = status ? NULL : binding_watch_start(1, Py_None);
    if (watch) status = carom_outcome_set_hull(&set, count, axes, binding_watch_control(watch), &volume, &error);
    const bool raised = !status && !watch, ended = !watch || binding_watch_end(watch);
    for (int i = 0; i < count; i++) {
        omits = omits || carom_outcome_set_omits(&set, &axes[i]);
        carom_functional_release(&axes[i]);
    }
    carom_arena_free(&memory);
    carom_outcome_set_release(&set);
    if (raised || !ended) return NULL;
    return status ? refuse("hull", &error) : Py_BuildValue("dN", volume, PyBool_FromLong(omits));
}

// The kind of a metric by its name; false with an exception.
static bool find_metric(const char *name, carom_metric_kind *kind) {
    *kind = 0;
    while (carom_metric_names[*kind] && strcmp(carom_metric_names[*kind], name) != 0) ++*kind;
    if (!carom_metric_names[*kind]) binding_refuse("metric: '%.60s' is not one of euclidean, kinetic", name);
    return carom_metric_names[*kind];
}

// question_contain(outcomes, metric, tolerance, count, v, distance, unreachable, u, velocity) -> ((contained, ...), unit, unit of the
// unreachable part); the last four arrays receive numbers of each velocity
static PyObject *contain(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *source, *given[5];
    const char *name;
    double tolerance;
    Py_ssize_t count;
    const carom_impact *impact;
    carom_metric_kind kind;
    carom_outcome_set set;
    if (!binding_parse(arguments, "OsdnOOOOO", &source, &name, &tolerance, &count, &given[0], &given[1], &given[2], &given[3], &given[4]))
        return NULL;
    if (count < 0 || count > PY_SSIZE_T_MAX / 4096) return binding_refuse("v: the number of velocities is out of range");
    if (!(tolerance >= 0)) return binding_refuse("tolerance: %g is not a number that is at least 0", tolerance);
    if (!find_metric(name, &kind) || !take_set(source, &impact, &set)) return NULL;
    const size_t rows = (size_t)count, n = (size_t)set.n, nv = (size_t)carom_impact_get_data(impact)->nv;
    binding_reals arrays[5] = {0};
    PyObject *contained = NULL;
    carom_containment *answers = PyMem_Calloc(rows + 1, sizeof *answers);
    if (!answers) PyErr_NoMemory();
    if (answers && binding_take_reals(given[0], "v", rows * nv, false, &arrays[0]) &&
        binding_take_reals(given[1], "distance", rows, true, &arrays[1]) &&
        binding_take_reals(given[2], "unreachable", rows, true, &arrays[2]) &&
        binding_take_reals(given[3], "u", rows * n, true, &arrays[3]) &&
        binding_take_reals(given[4], "velocity", rows * nv, true, &arrays[4])) {
        for (size_t i = 0; i < rows; i++) {
            answers[i].u = arrays[3].values + i * n;
            answers[i].v = arrays[4].values + i * nv;
        }
        carom_error error;
        int64_t answered;
        binding_watch *watch = binding_watch_start(0, Py_None);
        if (watch) {
            const carom_status status = carom_outcome_set_contain(&set, impact, kind, tolerance, count, arrays[0].values,
                                                                  binding_watch_control(watch), answers, &answered, &error);
            if (binding_watch_end(watch)) contained = status ? binding_fail(&error) : PyTuple_New(count);
        }
    }
    for (Py_ssize_t i = 0; i < count && contained; i++) {
        arrays[1].values[i] = answers[i].distance;
        arrays[2].values[i] = answers[i].unreachable;
        if (PyTuple_SetItem(contained, i, PyBool_FromLong(answers[i].contained))) Py_CLEAR(contained);
    }
    binding_give_back(arrays, 5);
    PyMem_Free(answers);
    carom_outcome_set_release(&set);
    return contained ? Py_BuildValue("Nss", contained, carom_metric_unit(kind), carom_metric_unreachable_unit(impact)) : NULL;
}

// question_distance(outcomes, others, metric, gap, u, velocity) -> (a_to_b, b_to_a, hausdorff, gap, unit, the impacts are alike); the
// arrays [2 x n] and [2 x nv] receive the worst points of both
static PyObject *distance(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *sources[2], *given[2];
    const char *name;
    carom_cover_options options = carom_cover_defaults();
    const carom_impact *impact, *other;
    carom_metric_kind kind;
    carom_outcome_set sets[2] = {{0}};
    if (!binding_parse(arguments, "OOsdOO", &sources[0], &sources[1], &name, &options.relative_gap, &given[0], &given[1])) return NULL;
    if (!(options.relative_gap >= 0)) return binding_refuse("gap: %g is not a number that is at least 0", options.relative_gap);
    if (!find_metric(name, &kind)) return NULL;
    binding_reals arrays[2] = {0};
    PyObject *answer = NULL;
    if (take_set(sources[0], &impact, &sets[0]) && take_set(sources[1], &other, &sets[1]) &&
        binding_take_reals(given[0], "u", 2 * (size_t)sets[0].n, true, &arrays[0]) &&
        binding_take_reals(given[1], "velocity", 2 * (size_t)carom_impact_get_data(impact)->nv, true, &arrays[1])) {
        const size_t n = (size_t)sets[0].n, nv = (size_t)carom_impact_get_data(impact)->nv;
        carom_set_distances found = {.u = {arrays[0].values, arrays[0].values + n}, .v = {arrays[1].values, arrays[1].values + nv}};
        carom_error error;
        binding_watch *watch = binding_watch_start(1, Py_None);
        if (watch) {
            carom_status status =
                carom_outcome_set_distances(&sets[0], &sets[1], impact, kind, &options, binding_watch_control(watch), &found, &error);
            bool alike = false;
            if (!status) status = carom_impact_resembles(impact, other, &alike, &error);
            if (binding_watch_end(watch))
                answer = status ? binding_fail(&error)
                                : Py_BuildValue("ddddsN", found.a_to_b, found.b_to_a, found.hausdorff, found.gap, carom_metric_unit(kind),
                                                PyBool_FromLong(alike));
        }
    }
    binding_give_back(arrays, 2);
    for (int i = 0; i < 2; i++) carom_outcome_set_release(&sets[i]);
    return answer;
}

// question_bound(impact, expression, planes, seconds, vertices, starts or None, friction or None) -> (bound, method, energy, planes,
// simplices, unit, reason)
static PyObject *bound(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle, *arrays[2];
    const char *text;
    carom_bound_options options = carom_bound_defaults();
    carom_exact_start start = {0};
    long long planes;
    if (!binding_parse(arguments, "OsLdiOO", &handle, &text, &planes, &options.seconds, &start.count, &arrays[0], &arrays[1])) return NULL;
    options.planes = planes;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    const carom_impact_data *data = carom_impact_get_data(impact);
    const size_t contacts = (size_t)data->contacts;
    const size_t sizes[2] = {start.count > 0 ? (size_t)start.count * (size_t)data->nv : 0, 2 * contacts};
    binding_reals reals[2] = {0};
    carom_interval *friction = PyMem_Calloc(contacts, sizeof *friction);
    bool taken = friction || PyErr_NoMemory();
    taken = taken && binding_take_optional_reals(arrays[0], "start", sizes[0], &reals[0]) &&
            binding_take_optional_reals(arrays[1], "friction", sizes[1], &reals[1]);
    PyObject *answer = NULL;
    binding_watch *watch = NULL;
    if (taken) {
        start.vertices = reals[0].values;
        if (reals[0].values) options.start = &start;
        for (size_t i = 0; i < contacts && reals[1].values; i++)
            friction[i] = (carom_interval){reals[1].values[2 * i], reals[1].values[2 * i + 1]};
        if (reals[1].values) options.friction = friction;
        watch = binding_watch_start(1, Py_None);
    }
    if (watch) {
        carom_functional functional;
        carom_bound found;
        carom_error error;
        const carom_status parsed = carom_functional_parse(impact, text, &functional, &error);
        carom_status status = parsed;
        if (!status) status = carom_bound_solve(impact, &functional, &options, -INFINITY, binding_watch_control(watch), &found, &error);
        if (binding_watch_end(watch))
            answer = parsed   ? refuse("bound", &error)
                     : status ? binding_fail(&error)
                              : Py_BuildValue("dsdiiss", found.upper, carom_bound_method_name(found.method), found.energy, found.planes,
                                              found.simplices, functional.unit, found.reason);
        if (!parsed) carom_functional_release(&functional);
    }
    binding_give_back(reals, 2);
    PyMem_Free(friction);
    return answer;
}

PyMethodDef binding_question_methods[] = {
    {"question_max", maximum, METH_VARARGS, NULL},     {"question_hull", hull, METH_VARARGS, NULL},
    {"question_contain", contain, METH_VARARGS, NULL}, {"question_distance", distance, METH_VARARGS, NULL},
    {"question_bound", bound, METH_VARARGS, NULL},     {NULL, NULL, 0, NULL}};
