// SPDX-License-Identifier: Apache-2.0
// Linear complementarity problems.
#include <string.h>

#include "binding.h"

// Takes W [n x n] and w [n]; false with an exception.
static bool take_problem(PyObject *const given[2], int n, binding_reals arrays[2]) {
    if (n < 1) {
        binding_refuse("an LCP has at least one variable");
        return false;
    }
    return binding_take_reals(given[0], "W", (size_t)n * (size_t)n, false, &arrays[0]) &&
           binding_take_reals(given[1], "w", (size_t)n, false, &arrays[1]);
}

static const carom_lcp_solver *find_solver(const char *name) {
    const carom_lcp_solver *solver = carom_registry_find(binding_registry, CAROM_REGISTRY_SOLVERS, name);
    if (!solver) binding_refuse("solver: there is no '%.60s'; carom.solvers() lists them", name);
    return solver;
}

// lcp_solvers() -> [(name, summary), ...] of this build
static PyObject *solvers(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    PyObject *list = PyList_New(0);
    for (int i = 0; i < carom_registry_count(binding_registry, CAROM_REGISTRY_SOLVERS) && list; i++) {
        const carom_lcp_solver *solver = carom_registry_entry(binding_registry, CAROM_REGISTRY_SOLVERS, i);
        if (!carom_lcp_available(solver)) continue;
        PyObject *row = Py_BuildValue("ss", solver->name, solver->summary);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

// lcp_solve(n, W, w, solver, z) -> (verdict, residual, pivots, fallbacks); z receives the candidate
static PyObject *solve(PyObject *module, PyObject *arguments) {
    (void)module;
    int n;
    PyObject *given[2], *into;
    const char *name;
    if (!binding_parse(arguments, "iOOsO", &n, &given[0], &given[1], &name, &into)) return NULL;
    const carom_lcp_solver *solver = find_solver(name);
    binding_reals arrays[3] = {0};
    PyObject *answer = NULL;
    if (solver && take_problem(given, n, arrays) && binding_take_reals(into, "z", (size_t)n, true, &arrays[2])) {
        carom_lcp *lcp = NULL;
        carom_lcp_info info = {0};
        carom_error error;
        carom_status status = CAROM_OK;
        binding_watch *watch = binding_watch_start(1, Py_None);
        if (watch) {
            status = carom_lcp_create(solver, n, arrays[0].values, &lcp, &error);
            if (!status) {
                carom_lcp_watch(lcp, binding_watch_control(watch));
                carom_lcp_solve(lcp, arrays[1].values, arrays[2].values, &info);
            }
            carom_lcp_free(lcp);
        }
        const bool undisturbed = watch && binding_watch_end(watch);
        if (undisturbed && status)
            binding_fail(&error);
        else if (undisturbed)
            answer = Py_BuildValue("sdLi", carom_verdict_name(info.verdict), info.residual, (long long)info.pivots, info.fallbacks);
    }
    binding_give_back(arrays, 3);
    return answer;
}

// Solutions as they come, without the interpreter's lock.
typedef struct solutions {
    carom_bytes *z, *residuals;
    size_t n;
} solutions;

static carom_status visit(void *user, const double *z, double residual, carom_error *error) {
    const solutions *found = user;
    const carom_status status = carom_bytes_put(found->z, z, found->n * sizeof *z, error);
    return status ? status : carom_bytes_put(found->residuals, &residual, sizeof residual, error);
}

static PyObject *as_bytes(const carom_bytes *bytes) {
    size_t size;
    const void *data = carom_bytes_data(bytes, &size);
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

// lcp_enumerate(n, W, w) -> (z of all solutions, residuals, complete), the former two as bytes
static PyObject *enumerate(PyObject *module, PyObject *arguments) {
    (void)module;
    int n;
    PyObject *given[2];
    if (!binding_parse(arguments, "iOO", &n, &given[0], &given[1])) return NULL;
    binding_reals arrays[2] = {0};
    PyObject *answer = NULL;
    if (take_problem(given, n, arrays)) {
        solutions found = {.n = (size_t)n};
        carom_error error;
        carom_status status = carom_bytes_create(&found.z, &error);
        if (!status) status = carom_bytes_create(&found.residuals, &error);
        bool complete = false, undisturbed = true;
        binding_watch *watch = status ? NULL : binding_watch_start(1, Py_None);
        if (watch) {
            status = carom_lcp_enumerate_watched(n, arrays[0].values, arrays[1].values, binding_watch_control(watch), visit, &found,
                                                 &complete, &error);
            undisturbed = binding_watch_end(watch);
        }
        if (status)
            binding_fail(&error);
        else if (watch && undisturbed)
            answer = Py_BuildValue("NNN", as_bytes(found.z), as_bytes(found.residuals), PyBool_FromLong(complete));
        carom_bytes_free(found.z);
        carom_bytes_free(found.residuals);
    }
    binding_give_back(arrays, 2);
    return answer;
}

PyMethodDef binding_lcp_methods[] = {{"lcp_solvers", solvers, METH_NOARGS, NULL},
                                     {"lcp_solve", solve, METH_VARARGS, NULL},
                                     {"lcp_enumerate", enumerate, METH_VARARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
