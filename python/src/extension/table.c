// SPDX-License-Identifier: Apache-2.0
// Handles of tables: outcomes and result rows. Columns of numbers are views; texts and lists are copied when they are asked for.
#include <string.h>

#include "binding.h"

static const char table_capsule[] = "carom.table";

// A table, and its columns where they do not belong to a law but to a tuple of Python.
typedef struct held_table {
    carom_table *table;
    carom_column *columns;
    const char ***names;  // [columns] of the bits, numbers or fields of each
    Py_ssize_t count;
    PyObject *rows;  // the tuple, whose texts the columns borrow
} held_table;

static void free_table(held_table *one) {
    carom_table_free(one->table);
    for (Py_ssize_t i = 0; i < one->count && one->names; i++) PyMem_Free(one->names[i]);
    PyMem_Free(one->names);
    PyMem_Free(one->columns);
    Py_XDECREF(one->rows);
    PyMem_Free(one);
}

static void free_capsule(PyObject *capsule) { free_table(PyCapsule_GetPointer(capsule, table_capsule)); }

const carom_table *binding_table(PyObject *handle) {
    const held_table *one = PyCapsule_GetPointer(handle, table_capsule);
    return one ? one->table : NULL;
}

// The columns that every law's outcomes have come first; the functions of C that take outcomes rely on it.
const carom_table *binding_outcomes(PyObject *handle) {
    const carom_table *outcomes = binding_table(handle);
    const carom_column *common = carom_outcome_columns();
    for (int i = 0; i < CAROM_OUTCOME_COLUMNS && outcomes; i++) {
        const carom_column *column = i < carom_table_columns(outcomes) ? carom_table_column(outcomes, i) : NULL;
        if (column && column->type == common[i].type && column->width == common[i].width) continue;
        binding_refuse("the table has no outcomes");
        return NULL;
    }
    return outcomes;
}

static PyObject *wrap(held_table *one) {
    PyObject *capsule = PyCapsule_New(one, table_capsule, free_capsule);
    if (!capsule) free_table(one);
    return capsule;
}

PyObject *binding_wrap_table_with(carom_table *made, carom_column *columns) {
    held_table *one = PyMem_Calloc(1, sizeof *one);
    if (!one) {
        carom_table_free(made);
        PyMem_Free(columns);
        return PyErr_NoMemory();
    }
    one->table = made;
    one->columns = columns;
    return wrap(one);
}

PyObject *binding_wrap_table(carom_table *made) { return binding_wrap_table_with(made, NULL); }

// -------------------------------------------------------------------------------------------------------------- reading

static PyObject *list_names(const char *const *names) {
    Py_ssize_t count = 0;
    while (names && names[count]) count++;
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count && tuple; i++) {
        PyObject *name = binding_text(names[i]);
        if (!name || PyTuple_SetItem(tuple, i, name)) Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *binding_column(const carom_column *column) {
    return Py_BuildValue("ssissN", column->name, carom_column_type_name(column->type), column->width, column->unit, column->doc,
                         list_names(column->flags));
}

// table_columns(table) -> ((name, type, width, unit, doc, names), ...)
static PyObject *columns(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_table *table = binding_table(handle);
    if (!table) return NULL;
    PyObject *tuple = PyTuple_New(carom_table_columns(table));
    for (int i = 0; i < carom_table_columns(table) && tuple; i++) {
        PyObject *column = binding_column(carom_table_column(table, i));
        if (!column || PyTuple_SetItem(tuple, i, column)) Py_CLEAR(tuple);
    }
    return tuple;
}

// table_about(table) -> (rows, nv, contacts, tangents)
static PyObject *about(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_table *table = binding_table(handle);
    if (!table) return NULL;
    const carom_sizes *sizes = carom_table_sizes(table);
    return Py_BuildValue("Liii", (long long)carom_table_rows(table), sizes->nv, sizes->contacts, sizes->tangents);
}

// A cell of texts, lists or series: str, a tuple of indices or None, or the bytes of its doubles.
static PyObject *cell(const carom_table *table, int column, int64_t row) {
    int count;
    const carom_column_type type = carom_table_column(table, column)->type;
    if (type == CAROM_COLUMN_TEXT) return binding_text(carom_table_text(table, column, row));
    if (type == CAROM_COLUMN_SERIES) {
        const double *series = carom_table_series(table, column, row, &count);
        return PyBytes_FromStringAndSize((const char *)series, (Py_ssize_t)sizeof *series * count);
    }
    const int *list = carom_table_list(table, column, row, &count);
    if (!list) return Py_NewRef(Py_None);
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; i < count && tuple; i++) {
        PyObject *contact = PyLong_FromLong(list[i]);
        if (!contact || PyTuple_SetItem(tuple, i, contact)) Py_CLEAR(tuple);
    }
    return tuple;
}

// table_column(table, name) -> a view of [rows] or [rows x width] numbers, or a list of cells
static PyObject *column(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle;
    const char *name;
    if (!binding_parse(arguments, "Os", &handle, &name)) return NULL;
    const carom_table *table = binding_table(handle);
    if (!table) return NULL;
    const int index = carom_table_find(table, name);
    if (index < 0) return binding_refuse("there is no column '%.60s'", name);
    const carom_column *column = carom_table_column(table, index);
    const int64_t rows = carom_table_rows(table);
    const int width = carom_column_width(column, carom_table_sizes(table));
    // Columns that are declared one wide have one dimension, as in files.
    const Py_ssize_t shape[] = {rows, width};
    switch (column->type) {
    case CAROM_COLUMN_REAL:
    case CAROM_COLUMN_SQUARE: return binding_view(handle, carom_table_real_column(table, index), "d", column->width == 1 ? 1 : 2, shape);
    case CAROM_COLUMN_INTEGER:
    case CAROM_COLUMN_BOOLEAN:
    case CAROM_COLUMN_FLAGS:
    case CAROM_COLUMN_CHOICE: return binding_view(handle, carom_table_integer_column(table, index), "q", column->width == 1 ? 1 : 2, shape);
    case CAROM_COLUMN_TEXT:
    case CAROM_COLUMN_CONTACTS:
    case CAROM_COLUMN_SERIES: break;
    }
    PyObject *list = PyList_New(rows);
    for (int64_t row = 0; row < rows && list; row++) {
        PyObject *value = cell(table, index, row);
        if (!value || PyList_SetItem(list, row, value)) Py_CLEAR(list);
    }
    return list;
}

// ------------------------------------------------------------------------------------------------------------- pickling

// Tables travel in parts of so many rows: between two of them signals are looked at.
enum { PART_ROWS = 1 << 14 };

// The rows of a table from `first` on as bytes, at most PART_ROWS of them.
static PyObject *pack_part(const carom_table *table, int64_t first) {
    const int64_t left = carom_table_rows(table) - first;
    carom_bytes *bytes = NULL;
    carom_table *part = NULL;
    carom_error error;
    carom_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = carom_table_create_like(table, &part, &error);
    if (!status) status = carom_table_append_rows(part, table, first, left < PART_ROWS ? left : PART_ROWS, &error);
    if (!status) status = carom_bytes_create(&bytes, &error);
    if (!status) status = carom_table_pack(part, bytes, &error);
    Py_END_ALLOW_THREADS;
    size_t size = 0;
    const void *data = status ? NULL : carom_bytes_data(bytes, &size);
    PyObject *packed = status ? binding_fail(&error) : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    carom_table_free(part);
    carom_bytes_free(bytes);
    return packed;
}

// table_pack(table) -> bytes of its parts, a tuple
static PyObject *pack(PyObject *module, PyObject *handle) {
    (void)module;
    const carom_table *table = binding_table(handle);
    if (!table) return NULL;
    const Py_ssize_t count = (carom_table_rows(table) + PART_ROWS - 1) / PART_ROWS;
    PyObject *parts = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count && parts; i++) {
        PyObject *part = PyErr_CheckSignals() ? NULL : pack_part(table, (int64_t)i * PART_ROWS);
        if (!part || PyTuple_SetItem(parts, i, part)) Py_CLEAR(parts);
    }
    return parts;
}

// Appends the rows of one part, by way of a table that holds them alone; false with an exception.
static bool unpack_part(carom_table *table, PyObject *part) {
    char *data;
    Py_ssize_t size;
    if (PyErr_CheckSignals() || PyBytes_AsStringAndSize(part, &data, &size)) return false;
    carom_bytes *bytes = NULL;
    carom_table *rows = NULL;
    carom_error error;
    carom_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = carom_table_create_like(table, &rows, &error);
    if (!status) status = carom_bytes_create(&bytes, &error);
    if (!status) status = carom_bytes_put(bytes, data, (size_t)size, &error);
    if (!status) status = carom_table_unpack(rows, bytes, &error);
    if (!status) status = carom_table_append(table, rows, &error);
    Py_END_ALLOW_THREADS;
    // What a file holds is input: its damage is no failure of ours.
    if (status == CAROM_INTERNAL)
        binding_refuse("the packed table is cut short or damaged");
    else if (status)
        binding_fail(&error);
    carom_table_free(rows);
    carom_bytes_free(bytes);
    return !status;
}

// Fills the columns of a table from a tuple as table_columns gives it.
static bool fill_columns(held_table *into) {
    for (Py_ssize_t i = 0; i < into->count; i++) {
        carom_column *column = &into->columns[i];
        PyObject *names;
        const char *type;
        if (!binding_parse(PyTuple_GetItem(into->rows, i), "ssissO!", &column->name, &type, &column->width, &column->unit, &column->doc,
                           &PyTuple_Type, &names))
            return false;
        while (*carom_column_type_name(column->type) && strcmp(type, carom_column_type_name(column->type)) != 0) column->type++;
        if (!*carom_column_type_name(column->type) || column->width < CAROM_WIDTH_CONTACT_SPACE) {
            binding_refuse("%.60s: not a column of carom", column->name);
            return false;
        }
        bool failed;
        into->names[i] = binding_texts(names, column->name, PyTuple_Size(names), &failed);
        if (failed) return false;
        column->flags = PyTuple_Size(names) ? into->names[i] : NULL;
    }
    return true;
}

// table_unpack(columns, (nv, contacts, tangents), parts) -> a table
static PyObject *unpack(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *rows, *parts;
    carom_sizes sizes;
    if (!binding_parse(arguments, "O!(iii)O!", &PyTuple_Type, &rows, &sizes.nv, &sizes.contacts, &sizes.tangents, &PyTuple_Type, &parts))
        return NULL;
    if (sizes.nv < 0 || sizes.contacts < 0 || sizes.tangents < 0) return binding_refuse("sizes of a table are not negative");
    held_table *made = PyMem_Calloc(1, sizeof *made);
    if (!made) return PyErr_NoMemory();
    made->rows = Py_NewRef(rows);
    made->count = PyTuple_Size(rows);
    made->columns = PyMem_Calloc((size_t)made->count + 1, sizeof *made->columns);
    made->names = PyMem_Calloc((size_t)made->count + 1, sizeof *made->names);
    bool sound = made->columns && made->names;
    if (!sound) PyErr_NoMemory();
    sound = sound && fill_columns(made);
    carom_error error;
    if (sound && carom_table_create(made->columns, (int)made->count, NULL, 0, &sizes, &made->table, &error)) {
        binding_fail(&error);
        sound = false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(parts) && sound; i++) sound = unpack_part(made->table, PyTuple_GetItem(parts, i));
    if (sound) return wrap(made);
    free_table(made);
    return NULL;
}

// --------------------------------------------------------------------------------------------------------------- extents

// table_extent(impact, table) -> (outcomes, normal, tangent, energy_ratio, modes as bytes, those that may lie outside the set)
static PyObject *extent(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *impact_handle, *table_handle;
    if (!binding_parse(arguments, "OO", &impact_handle, &table_handle)) return NULL;
    const carom_impact *impact = binding_impact(impact_handle);
    const carom_table *table = impact ? binding_outcomes(table_handle) : NULL;
    if (!table) return NULL;
    const carom_sizes sizes = carom_impact_sizes(impact), *of_table = carom_table_sizes(table);
    if (sizes.nv != of_table->nv || sizes.contacts != of_table->contacts || sizes.tangents != of_table->tangents)
        return binding_refuse("the outcomes are of another impact");
    carom_extent *made;
    carom_error error;
    if (carom_extent_create(impact, &made, &error)) return binding_fail(&error);
    carom_extent_widen(made, table);
    PyObject *answer = binding_extent(made);
    carom_extent_free(made);
    return answer;
}

PyObject *binding_extent(const carom_extent *extent) {
    const Py_ssize_t real = sizeof(double), contacts = extent->sizes.contacts, tangents = extent->sizes.tangents;
    return Py_BuildValue("Ly#y#y#y#L", (long long)extent->outcomes, (const char *)extent->normal, 2 * contacts * real,
                         (const char *)extent->tangent, 2 * tangents * real, (const char *)extent->energy_ratio, 2 * real,
                         (const char *)extent->modes, contacts * CAROM_CONTACT_MODES * real, (long long)extent->approximate);
}

// outcomes_caveat(impact, approximate, outcomes) -> what is to be said of outcomes that may lie outside the set; "" where none may
static PyObject *caveat(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle;
    long long approximate, outcomes;
    char text[CAROM_CAVEAT_SIZE];
    if (!PyArg_ParseTuple(arguments, "OLL", &handle, &approximate, &outcomes)) return NULL;
    const carom_impact *impact = binding_impact(handle);
    if (!impact) return NULL;
    carom_outcomes_caveat(carom_impact_sizes(impact), approximate, outcomes, text);
    return PyUnicode_FromString(text);
}

PyMethodDef binding_table_methods[] = {{"table_columns", columns, METH_O, NULL},        {"table_about", about, METH_O, NULL},
                                       {"table_column", column, METH_VARARGS, NULL},    {"table_pack", pack, METH_O, NULL},
                                       {"table_unpack", unpack, METH_VARARGS, NULL},    {"table_extent", extent, METH_VARARGS, NULL},
                                       {"outcomes_caveat", caveat, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
