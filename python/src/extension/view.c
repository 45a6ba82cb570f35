// SPDX-License-Identifier: Apache-2.0
// Arrays that Python and C share: views of C's memory by the buffer protocol, and buffers that callers lend.
#include <string.h>

#include "binding.h"

typedef struct view {
    PyObject_HEAD PyObject *owner;
    const void *data;
    const char *format;
    int dimensions;
    Py_ssize_t shape[2], strides[2];
} view;

static PyTypeObject *view_type;

static const Py_ssize_t ENTRY_SIZE = 8;  // of doubles and of int64_t

// An array over the memory keeps the view, and the view keeps the owner.
static int get_buffer(PyObject *self, Py_buffer *buffer, int flags) {
    view *from = (view *)self;
    if (flags & PyBUF_WRITABLE) {
        buffer->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "the array belongs to carom and is read-only");
        return -1;
    }
    Py_ssize_t count = 1;
    for (int i = 0; i < from->dimensions; i++) count *= from->shape[i];
    *buffer = (Py_buffer){.buf = (void *)(uintptr_t)from->data,
                          .obj = Py_NewRef(self),
                          .len = count * ENTRY_SIZE,
                          .itemsize = ENTRY_SIZE,
                          .readonly = 1,
                          .ndim = from->dimensions,
                          .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)from->format : NULL,
                          .shape = flags & PyBUF_ND ? from->shape : NULL,
                          .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? from->strides : NULL};
    return 0;
}

static void free_view(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((view *)self)->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

bool binding_add_view(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)(uintptr_t)free_view},
                                  {Py_bf_getbuffer, (void *)(uintptr_t)get_buffer},
                                  {Py_tp_doc, (void *)(uintptr_t) "An array in C's memory; numpy.asarray shares it."},
                                  {0, NULL}};
    static PyType_Spec spec = {"carom._carom.View", (int)sizeof(view), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    PyObject *type = PyType_FromSpec(&spec);
    view_type = (PyTypeObject *)type;
    return type && !PyModule_AddObjectRef(module, "View", type);
}

PyObject *binding_view(PyObject *owner, const void *data, const char *format, int dimensions, const Py_ssize_t *shape) {
    static const double nothing;
    view *made = (view *)PyType_GenericAlloc(view_type, 0);
    if (!made) return NULL;
    made->owner = Py_NewRef(owner);
    // A column without rows may have no memory.
    made->data = data ? data : &nothing;
    made->format = format;
    made->dimensions = dimensions;
    Py_ssize_t stride = ENTRY_SIZE;
    for (int i = dimensions - 1; i >= 0; i--) {
        made->shape[i] = shape[i];
        made->strides[i] = stride;
        stride *= shape[i];
    }
    return (PyObject *)made;
}

// ------------------------------------------------------------------------------------------------------- what callers lend

bool binding_take_reals(PyObject *object, const char *name, size_t count, bool writable, binding_reals *reals) {
    *reals = (binding_reals){0};
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &reals->buffer, flags)) return false;
    reals->held = true;
    reals->values = reals->buffer.buf;
    const bool doubles = reals->buffer.itemsize == (Py_ssize_t)sizeof(double) && reals->buffer.format && !strcmp(reals->buffer.format, "d");
    if (!doubles)
        binding_refuse("%s: an array of float64 is needed", name);
    else if ((size_t)reals->buffer.len != count * sizeof(double))
        binding_refuse("%s: it has %zd numbers, and %zu are needed", name, reals->buffer.len / (Py_ssize_t)sizeof(double), count);
    if (doubles && !PyErr_Occurred()) return true;
    binding_give_back(reals, 1);
    return false;
}

bool binding_take_optional_reals(PyObject *object, const char *name, size_t count, binding_reals *reals) {
    *reals = (binding_reals){0};
    return object == Py_None || binding_take_reals(object, name, count, false, reals);
}

void binding_give_back(binding_reals *reals, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (reals[i].held) PyBuffer_Release(&reals[i].buffer);
        reals[i] = (binding_reals){0};
    }
}

const char **binding_texts(PyObject *tuple, const char *name, Py_ssize_t count, bool *failed) {
    *failed = false;
    if (tuple == Py_None) return NULL;
    *failed = true;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        binding_refuse("%s: %zd texts are needed", name, count);
        return NULL;
    }
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    if (!texts) PyErr_NoMemory();
    *failed = !texts;
    for (Py_ssize_t i = 0; i < count && !*failed; i++) {
        Py_ssize_t size;
        texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &size);
        *failed = !texts[i];
        if (*failed) binding_refuse_value();
        if (texts[i] && (size_t)size != strlen(texts[i])) {
            binding_refuse("%s[%zd] contains a zero byte", name, i);
            *failed = true;
        }
    }
    if (*failed) {
        PyMem_Free(texts);
        texts = NULL;
    }
    return texts;
}

PyObject *binding_text(const char *text) { return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); }
