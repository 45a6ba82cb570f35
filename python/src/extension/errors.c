// SPDX-License-Identifier: Apache-2.0
// Statuses of C as exceptions of Python.
#include <stdarg.h>
#include <stdio.h>

#include "binding.h"

PyObject *binding_input_error, *binding_unsupported_error, *binding_internal_error;

PyObject *binding_fail(const carom_error *error) {
    PyObject *kind = binding_internal_error;
    switch (error->status) {
    case CAROM_BAD_INPUT: kind = binding_input_error; break;
    case CAROM_UNSUPPORTED: kind = binding_unsupported_error; break;
    case CAROM_OUT_OF_MEMORY: kind = PyExc_MemoryError; break;
    case CAROM_IO_FAILED: kind = PyExc_OSError; break;
    case CAROM_OK:
    case CAROM_INTERNAL: break;
    }
    PyObject *message = binding_text(error->message);
    // With the number, Python raises the kind of OSError that belongs to it: FileNotFoundError, PermissionError, ...
    PyObject *values = message && error->system_error ? Py_BuildValue("iO", error->system_error, message) : Py_XNewRef(message);
    if (values) PyErr_SetObject(kind, values);
    Py_XDECREF(values);
    Py_XDECREF(message);
    return NULL;
}

PyObject *binding_refuse(const char *format, ...) {
    carom_error error = {.status = CAROM_BAD_INPUT};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    return binding_fail(&error);
}

bool binding_refuse_value(void) {
    const bool text = PyErr_ExceptionMatches(PyExc_ValueError), number = PyErr_ExceptionMatches(PyExc_OverflowError);
    if ((!text && !number) || PyErr_ExceptionMatches(binding_input_error)) return false;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    // The text in question, as Python writes it: in ASCII.
    PyObject *object = value ? PyObject_GetAttrString(value, "object") : NULL;
    PyErr_Clear();
    PyObject *shown = object ? PyObject_ASCII(object) : value ? PyObject_ASCII(value) : NULL;
    PyErr_Clear();
    PyObject *bytes = shown ? PyUnicode_AsASCIIString(shown) : NULL;
    PyErr_Clear();
    const char *said = bytes ? PyBytes_AsString(bytes) : "";
    if (number)
        binding_refuse("a whole number is too large: %.200s", said);
    else if (object)
        binding_refuse("the text %.200s has a lone surrogate, which UTF-8 does not have", said);
    else
        binding_refuse("a text cannot be taken: %.200s", said);
    Py_XDECREF(object);
    Py_XDECREF(shown);
    Py_XDECREF(bytes);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return false;
}

bool binding_add_errors(PyObject *module) {
    binding_input_error = PyErr_NewExceptionWithDoc("carom.InputError",
                                                    "Bad input: an array, option or file breaks a rule. The message names it and the rule.",
                                                    PyExc_ValueError, NULL);
    binding_unsupported_error = PyErr_NewExceptionWithDoc(
        "carom.UnsupportedError", "This build, or the method that was asked for, does not offer it.", PyExc_RuntimeError, NULL);
    binding_internal_error =
        PyErr_NewExceptionWithDoc("carom.InternalError", "An internal check of carom failed; please report it.", PyExc_RuntimeError, NULL);
    return binding_input_error && binding_unsupported_error && binding_internal_error &&
           !PyModule_AddObjectRef(module, "InputError", binding_input_error) &&
           !PyModule_AddObjectRef(module, "UnsupportedError", binding_unsupported_error) &&
           !PyModule_AddObjectRef(module, "InternalError", binding_internal_error);
}
