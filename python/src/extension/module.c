// SPDX-License-Identifier: Apache-2.0
// The module carom._carom: the registry of this build, and the functions of all files.
#include <stdlib.h>

#include <omp.h>

#include "binding.h"

enum { KEPT_MEMORY = 16 << 20 };

carom_registry *binding_registry;

// glibc gives free memory at the end of the heap back to the system at once, and asks for it again in the next call, unless a larger block
// has been freed before. That doubles the time of small impacts.
static void keep_free_memory(void) {
    void *volatile block = malloc(KEPT_MEMORY);
    free(block);
}

// All solvers and laws of this build, as the command has them.
static bool fill_registry(void) {
    carom_error error;
    carom_status status = carom_registry_create(&binding_registry, &error);
    if (!status) status = carom_siconos_register(binding_registry, &error);
    if (!status) status = carom_exact_register(binding_registry, &error);
    if (!status) status = carom_dynamics_register(binding_registry, &error);
    if (status) binding_fail(&error);
    return !status;
}

// release_threads(): ends the threads that OpenMP keeps for the calling thread. A fork does not copy them, and the child would wait for
// them for ever.
static PyObject *release_threads(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    Py_BEGIN_ALLOW_THREADS;
    omp_pause_resource_all(omp_pause_soft);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

// verdicts() -> the names of all verdicts, by their numbers
static PyObject *verdicts(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
#define VERDICT_NAME(constant, name, sentence) #constant,
    static const char *const constants[] = {CAROM_VERDICT_LIST(VERDICT_NAME)};
#undef VERDICT_NAME
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < sizeof constants / sizeof *constants && list; i++) {
        PyObject *name = binding_text(carom_verdict_name((carom_verdict)i));
        if (!name || PyList_Append(list, name)) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyMethodDef own_methods[] = {
    {"release_threads", release_threads, METH_NOARGS, NULL}, {"verdicts", verdicts, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

PyMODINIT_FUNC PyInit__carom(void);

PyMODINIT_FUNC PyInit__carom(void) {
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "carom._carom", .m_doc = "The C library under the package carom.",
                                     .m_size = -1};
    PyMethodDef *const methods[] = {own_methods,          binding_impact_methods,  binding_place_methods,    binding_table_methods,
                                    binding_law_methods,  binding_scene_methods,   binding_result_methods,   binding_lcp_methods,
                                    binding_many_methods, binding_picture_methods, binding_question_methods, binding_worst_methods};
    keep_free_memory();
    PyObject *module = PyModule_Create(&definition);
    bool added = module && !PyModule_AddStringConstant(module, "version", CAROM_VERSION) && binding_add_errors(module) &&
                 binding_add_view(module) && (binding_registry || fill_registry());
    for (size_t i = 0; i < sizeof methods / sizeof *methods && added; i++) added = !PyModule_AddFunctions(module, methods[i]);
    if (!added) Py_CLEAR(module);
    return module;
}
